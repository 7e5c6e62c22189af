/* verify_image.c: hashes a file in pieces of 256 KiB, like a client that checks a torrent, and prints the seconds.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *   verify_image FILE [ALGORITHM]
 *
 * A plain program that shows what a debug build costs: run.sh builds it at -O2, and at -O0 with AddressSanitizer. It
 * prints the seconds from the first read to the last digest, and the digest of all digests.
 */
#define _POSIX_C_SOURCE 200809L
#include <hashloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIECE_NBYTES = 256 << 10, PIECES = 16 }; /* read together */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    const hl_alg_info *alg;
    FILE *file = argc >= 2 ? fopen(argv[1], "rb") : NULL;
    uint8_t *buffer = malloc((size_t)PIECES * PIECE_NBYTES), digests[PIECES * HL_DIGEST_MAX_NBYTES];
    uint8_t digest[HL_DIGEST_MAX_NBYTES];
    hl_ctx all;
    size_t nbytes, i = 0;

    while ((alg = hl_alg_at(i++)) != NULL && strcmp(alg->name, argc == 3 ? argv[2] : "sha1") != 0)
        continue;
    if (alg == NULL || file == NULL || buffer == NULL) {
        fprintf(stderr, "usage: %s FILE [ALGORITHM]\n", argv[0]);
        return 2;
    }
    setvbuf(file, NULL, _IONBF, 0);
    hl_init(&all, alg->alg);
    const double begin = now();
    while ((nbytes = fread(buffer, 1, (size_t)PIECES * PIECE_NBYTES, file)) > 0) {
        const size_t npieces = nbytes / PIECE_NBYTES, nrest = nbytes % PIECE_NBYTES;
        if (hl_hash_rows(alg->alg, buffer, PIECE_NBYTES, PIECE_NBYTES, npieces, digests) != HL_OK ||
            hl_update(&all, digests, npieces * alg->digest_nbytes) != HL_OK)
            return 1;
        if (nrest > 0 && (hl_hash(alg->alg, buffer + npieces * PIECE_NBYTES, nrest, digests) != HL_OK ||
                          hl_update(&all, digests, alg->digest_nbytes) != HL_OK))
            return 1;
    }
    hl_final(&all, digest);
    printf("%.6f ", now() - begin);
    for (unsigned i = 0; i < alg->digest_nbytes; i++)
        printf("%02x", digest[i]);
    printf("\n");
    fclose(file);
    free(buffer);
    return 0;
}
