/* provider.c: the OpenSSL provider hashloom beside the default provider: digests, HMAC and PBKDF2 through EVP.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *   OPENSSL_MODULES=build/drop-ins bench/provider       (make bench-provider)
 *
 * The providers take turns in many short runs, and the least time of each counts.
 */
#define _POSIX_C_SOURCE 200809L
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 1000, LONGEST = 16384 };
static const char *const queries[2] = {"provider=default", "provider=hashloom"};
static const char *const wishes[2] = {"?provider=default", "?provider=hashloom"};
static unsigned char message[LONGEST];

struct work {
    EVP_MD *md;
    EVP_MAC_CTX *mac; /* NULL: a digest */
    size_t nbytes;    /* of the message; of PBKDF2 with 1000 iterations the key, of one digest or two */
    int is_pbkdf2;
};

static void must(int ok)
{
    if (!ok) {
        fputs("bench/provider: OpenSSL reports an error; run `make drop-ins`, and set OPENSSL_MODULES\n", stderr);
        exit(2);
    }
}

static void once(const struct work *work)
{
    unsigned char out[2 * EVP_MAX_MD_SIZE];
    size_t nbytes;

    if (work->is_pbkdf2)
        must(PKCS5_PBKDF2_HMAC("password", 8, message, 16, 1000, work->md, (int)work->nbytes, out));
    else if (work->mac == NULL)
        must(EVP_Digest(message, work->nbytes, out, NULL, work->md, NULL));
    else
        must(EVP_MAC_init(work->mac, NULL, 0, NULL) && EVP_MAC_update(work->mac, message, work->nbytes) &&
             EVP_MAC_final(work->mac, out, &nbytes, sizeof out));
}

static double nanoseconds(const struct work *work, int times)
{
    struct timespec begin, end;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < times; i++)
        once(work);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / times;
}

static void row(const char *what, const char *digest, const struct work work[2])
{
    const int times = work->is_pbkdf2 ? 1 : work->nbytes < 2000 ? 64 : 4, runs = work->is_pbkdf2 ? 50 : RUNS;
    double least[2] = {1e18, 1e18};

    for (int run = 0; run < runs; run++)
        for (int p = 0; p < 2; p++) {
            /* PBKDF2 and its digest are asked for anew, by their names. */
            must(!work->is_pbkdf2 || EVP_set_default_properties(NULL, wishes[p]));
            const double time = nanoseconds(&work[p], times);
            least[p] = time < least[p] ? time : least[p];
        }
    printf("%-7s %-10s %6zu  default %9.1f ns  hashloom %9.1f ns  ratio %.2f\n", what, digest, work->nbytes,
           least[0], least[1], least[0] / least[1]);
}

int main(void)
{
    static const char *const digests[] = {"SHA1", "SHA256", "SHA512", "SHA3-256", "RIPEMD160", "MD5"};
    static const size_t lengths[] = {16, 64, 1024, LONGEST};
    struct work work[2] = {{0}};

    must(OSSL_PROVIDER_load(NULL, "default") != NULL && OSSL_PROVIDER_load(NULL, "hashloom") != NULL);
    for (size_t d = 0; d < sizeof digests / sizeof *digests; d++) {
        for (int p = 0; p < 2; p++)
            must((work[p].md = EVP_MD_fetch(NULL, digests[d], queries[p])) != NULL);
        for (int is_mac = 0; is_mac < 2; is_mac++) {
            for (int p = 0; is_mac && p < 2; p++) {
                OSSL_PARAM params[2] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
                                                                         (char *)(size_t)digests[d], 0),
                                        OSSL_PARAM_construct_end()};
                EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", queries[p]);
                must((work[p].mac = EVP_MAC_CTX_new(mac)) != NULL && EVP_MAC_init(work[p].mac, message, 16, params));
                EVP_MAC_free(mac);
            }
            for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
                work[0].nbytes = work[1].nbytes = lengths[l];
                row(is_mac ? "HMAC" : "digest", digests[d], work);
            }
        }
        work[0].is_pbkdf2 = work[1].is_pbkdf2 = 1;
        for (size_t n = 1; n <= 2; n++) {
            work[0].nbytes = work[1].nbytes = n * (size_t)EVP_MD_get_size(work[0].md);
            row("PBKDF2", digests[d], work);
        }
        /* The default provider's HMAC takes its digest from where this says. */
        must(EVP_set_default_properties(NULL, wishes[0]));
        for (int p = 0; p < 2; p++) {
            EVP_MAC_CTX_free(work[p].mac);
            EVP_MD_free(work[p].md);
            work[p] = (struct work){0};
        }
    }
    return 0;
}
