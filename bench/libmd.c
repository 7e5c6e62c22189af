/* libmd.c: nanoseconds of calls of libmd, whichever libmd.so.0 is loaded: the best of 15 rounds.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *   cc -O2 bench/libmd.c -o build/bench-libmd -lmd        with Debian's libmd-dev
 *   build/bench-libmd
 *   LD_LIBRARY_PATH=/usr/local/lib/hashloom-md build/bench-libmd
 */
#define _POSIX_C_SOURCE 200809L
#include <md2.h>
#include <md4.h>
#include <md5.h>
#include <rmd160.h>
#include <sha1.h>
#include <sha2.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 15, MOST_NBYTES = 1 << 20 };

static uint8_t data[MOST_NBYTES];

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define TIME(WHAT, TIMES, CALLS) \
    do { \
        double best = 1e18; \
        for (int round = 0; round < ROUNDS; round++) { \
            const double begin = now(); \
            for (int i = 0; i < (TIMES); i++) { \
                CALLS; \
            } \
            const double each = (now() - begin) / (TIMES); \
            best = each < best ? each : best; \
        } \
        printf("%-28s %10.1f ns\n", WHAT, best); \
    } while (0)

#define ALGORITHM(NAME, CTX) \
    do { \
        CTX c; \
        uint8_t digest[NAME##_DIGEST_LENGTH]; \
        char hex[NAME##_DIGEST_STRING_LENGTH]; \
        TIME(#NAME ", 64 bytes", 20000, NAME##Init(&c); NAME##Update(&c, data, 64); NAME##Final(digest, &c)); \
        NAME##Init(&c); \
        TIME(#NAME "Update, 10 bytes", 20000, NAME##Update(&c, data, 10)); \
        TIME(#NAME "Update, 100 bytes", 20000, NAME##Update(&c, data, 100)); \
        TIME(#NAME "Update, 1000 bytes", 5000, NAME##Update(&c, data, 1000)); \
        TIME(#NAME "Update, 1 MiB", 5, NAME##Update(&c, data, MOST_NBYTES)); \
        TIME(#NAME "Data, 200 bytes", 10000, NAME##Data(data, 200, hex)); \
    } while (0)

int main(void)
{
    MD2_CTX md2;

    ALGORITHM(MD4, MD4_CTX);
    ALGORITHM(MD5, MD5_CTX);
    ALGORITHM(SHA1, SHA1_CTX);
    ALGORITHM(RMD160, RMD160_CTX);
    ALGORITHM(SHA256, SHA2_CTX);
    ALGORITHM(SHA384, SHA2_CTX);
    ALGORITHM(SHA512, SHA2_CTX);
    MD2Init(&md2);
    TIME("MD2Update, 16 KiB", 5, MD2Update(&md2, data, 1 << 14));
    return 0;
}
