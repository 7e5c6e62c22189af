/* main.h: runs a fuzz target without libFuzzer: replays inputs, or makes random ones. Included by a target that has
 * LLVMFuzzerTestOneInput and INPUT_MAX_NBYTES.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *   TARGET FILE ...                               replays inputs
 *   TARGET [--seconds N | --runs N] [--seed N]    random inputs; prints the seed, and leaves a failing input in
 *                                                 fuzz-failed.bin
 */
#ifndef LIBFUZZER
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
    static uint8_t bytes[INPUT_MAX_NBYTES];
    unsigned long long seconds = 5, runs = 0, seed = (unsigned long long)time(NULL), done = 0;

    for (int i = 1; i < argc; i++) {
        unsigned long long *const number = strcmp(argv[i], "--seconds") == 0 ? &seconds
                                           : strcmp(argv[i], "--runs") == 0  ? &runs
                                           : strcmp(argv[i], "--seed") == 0  ? &seed
                                                                             : NULL;
        FILE *const file = number == NULL ? fopen(argv[i], "rb") : NULL;
        if (number != NULL && i + 1 < argc) {
            *number = strtoull(argv[++i], NULL, 0);
        } else if (file != NULL) {
            LLVMFuzzerTestOneInput(bytes, fread(bytes, 1, sizeof bytes, file));
            fclose(file);
            printf("%s: ok\n", argv[i]);
            done++;
        } else {
            fprintf(stderr, "usage: %s [--seconds N | --runs N] [--seed N] | FILE ...\n", argv[0]);
            return 2;
        }
    }
    if (done > 0)
        return 0;

    const time_t end = time(NULL) + (time_t)seconds;
    printf("%s: seed %llu\n", argv[0], seed);
    fflush(stdout);
    for (; runs != 0 ? done < runs : time(NULL) < end; done++) {
        const size_t nbytes = (size_t)(seed >> 33) % sizeof bytes + 1;
        for (size_t i = 0; i < nbytes; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (uint8_t)(seed >> 40);
        }
        /* The input is written first, as a crash leaves no time; a good end removes it. */
        FILE *file = fopen("fuzz-failed.bin", "wb");
        if (file != NULL) {
            fwrite(bytes, 1, nbytes, file);
            fclose(file);
        }
        LLVMFuzzerTestOneInput(bytes, nbytes);
    }
    remove("fuzz-failed.bin");
    printf("%s: %llu inputs, all right\n1 passed, 0 failed, 0 skipped\n", argv[0], done);
    return 0;
}
#endif
