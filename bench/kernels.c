/* kernels.c: the cost of every kernel.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *   kernels [instruction set]
 *                    nanoseconds (the costs of registry.def) and cycles of each kernel's call that advances its lanes
 *                    by one block
 *
 * All kernels take turns in one process pinned to one CPU; a figure is the least time. Data are random bytes.
 */
#define _GNU_SOURCE
#include <hashloom.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "kernels: %s\n", what);
    exit(2);
}

/* The present duration of a CPU cycle. A 64-bit multiplication waits three cycles for the one before, on every x86-64
 * CPU since 2008. 0 elsewhere. */
static double time_cycle(void)
{
#if defined(__x86_64__)
    double least = 1;
    for (unsigned turn = 0; turn < 3; turn++) {
        unsigned long x = 1;
        const double start = now();
        for (unsigned i = 0; i < 1000; i++)
            __asm__ volatile("imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0" : "+r"(x));
        const double t = (now() - start) / 15000;
        least = t < least ? t : least;
    }
    return least;
#else
    return 0;
#endif
}

/* The algorithm for which kernels of this body are timed. */
static const hl_alg_info *alg_of(hl_body body)
{
    const hl_alg_info *found = NULL;
    for (size_t i = 0; i < hl_alg_count(); i++) {
        const hl_alg_info *alg = hl_alg_at(i);
        if (alg->body == body && (found == NULL || alg->alg == HL_SHA512 || alg->alg == HL_SHA3_256))
            found = alg;
    }
    return found;
}

/* Cost of one call per block of depth. All kernels take turns, so that a slow moment strikes all alike. */
static void time_kernels(hl_isas wanted)
{
    enum { NBLOCKS = 64, CALLS = 50, TURNS = 150 };
    static uint8_t data[HL_LANES_MAX * (NBLOCKS * HL_BLOCK_MAX_NBYTES + 64)] __attribute__((aligned(4096)));
    double *best = calloc(hl_kernel_count(), sizeof *best), *cycle = calloc(hl_kernel_count(), sizeof *cycle);
    if (best == NULL || cycle == NULL)
        die("out of memory");
    uint64_t x = 0x9e3779b97f4a7c15;
    for (size_t i = 0; i < sizeof data; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        data[i] = (uint8_t)x;
    }
    for (unsigned r = 0; r < TURNS; r++)
        for (size_t i = 0; i < hl_kernel_count(); i++) {
            const hl_kernel *k = hl_kernel_at(i);
            static uint64_t state[HL_STATE_MAX_NBYTES / 16 * HL_LANES_MAX] __attribute__((aligned(64)));
            const uint8_t *msg[HL_LANES_MAX];
            if ((k->isas & wanted & hl_isas_available()) == 0)
                continue;
            for (unsigned l = 0; l < k->nlanes; l++)
                msg[l] = data + l * (NBLOCKS * HL_BLOCK_MAX_NBYTES + 64);
            const double start = now();
            for (unsigned c = 0; c < CALLS; c++)
                k->blocks(state, msg, NBLOCKS, alg_of(k->body)->block_nbytes);
            const double t = (now() - start) / (CALLS * NBLOCKS), c = time_cycle();
            if (r == 0 || t < best[i])
                best[i] = t;
            if (r == 0 || c < cycle[i])
                cycle[i] = c;
        }
    printf("| kernel | lanes | ns a call | GB/s | million blocks/s | cycles a call |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < hl_kernel_count(); i++) {
        const hl_kernel *k = hl_kernel_at(i);
        const hl_alg_info *alg = alg_of(k->body);
        if ((k->isas & wanted) == 0)
            continue;
        if ((k->isas & hl_isas_available()) == 0)
            printf("| %-31s | %2u | not on this machine | | | |\n", k->name, k->nlanes);
        else
            printf("| %-31s | %2u | %6.1f | %5.2f | %6.1f | %5.0f |\n", k->name, k->nlanes, best[i] * 1e9,
                   k->nlanes * alg->block_nbytes / best[i] * 1e-9, k->nlanes / best[i] * 1e-6,
                   cycle[i] > 0 ? best[i] / cycle[i] : 0);
    }
    free(best), free(cycle);
}

int main(int argc, char **argv)
{
    const hl_isas wanted = argc == 1 ? ~(hl_isas)0 : hl_isa_named(argv[1]);
    cpu_set_t set;

    if (argc > 2 || wanted == 0)
        die("usage: kernels [instruction set]");
    CPU_ZERO(&set);
    CPU_SET((unsigned)sched_getcpu(), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        perror("kernels: not pinned to one CPU");
    time_kernels(wanted);
    return 0;
}
