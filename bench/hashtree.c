/* hashtree.c: nanoseconds for each node of 64 bytes, by whichever hashtree_hash is linked; layers of 1 to 65,536 nodes,
 * the best of 25 rounds.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *   cc -O2 bench/hashtree.c HASHTREE/build/lib/libhashtree.a -o build/theirs && build/theirs
 *   cc -O2 -Dmain=example -Icore/include -c core/examples/shapes.c -o build/shapes.o
 *   cc -O2 bench/hashtree.c build/shapes.o -lhashloom -o build/ours && build/ours
 */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 25, NODES = 1 << 16, MOST_TIMES = 4000 };

void hashtree_hash(unsigned char *output, const unsigned char *input, uint64_t count);

static unsigned char input[NODES * 64], output[NODES * 32];

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(void)
{
    static const uint64_t counts[] = {1, 2, 4, 8, 16, 64, 1024, NODES};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const uint64_t count = counts[i], times = NODES / count < MOST_TIMES ? NODES / count : MOST_TIMES;
        double best = 1e18;
        for (int round = 0; round < ROUNDS; round++) {
            const double begin = now();
            for (uint64_t t = 0; t < times; t++)
                hashtree_hash(output, input, count);
            const double each = (now() - begin) / (double)(times * count);
            best = each < best ? each : best;
        }
        printf("%6llu nodes %6.1f ns each\n", (unsigned long long)count, best);
    }
    return 0;
}
