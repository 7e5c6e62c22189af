/* kernels.c: the cost of every kernel, and whether the best one is chosen.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *   kernels [instruction set,...]
 *                    nanoseconds (the costs of registry.def) and cycles of each kernel's call that advances its lanes
 *                    by one block
 *   kernels --choice [instruction set,...]
 *                    the numbers and lengths of messages for which hl_hash_many, restricted to these instruction sets,
 *                    takes more than 5% longer than the best kernel alone, or than hl_hash for each message; all
 *                    digests are compared
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

static void die(const char *what, const char *of)
{
    fprintf(stderr, "kernels: %s%s\n", what, of);
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

enum { NBLOCKS = 64 };
static uint8_t data[HL_LANES_MAX * (NBLOCKS * HL_BLOCK_MAX_NBYTES + 64)] __attribute__((aligned(4096)));

/* Cost of one call per block of depth. All kernels take turns, so that a slow moment strikes all alike. */
static void time_kernels(hl_isas wanted)
{
    enum { CALLS = 50, TURNS = 150 };
    double *best = calloc(hl_kernel_count(), sizeof *best), *cycle = calloc(hl_kernel_count(), sizeof *cycle);
    if (best == NULL || cycle == NULL)
        die("out of memory", "");
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

enum { COUNT_MAX = 40, LENGTH_MAX = 4096, WAYS_MAX = 64, SWEEPS = 9 };

/* hl_hash_many, the kernel alone, or hl_hash for each message; how much longer hl_hash_many took in each sweep. */
struct way {
    const char *name;
    const hl_kernel *kernel;
    int is_each;
    double ratios[SWEEPS];
};
static hl_slice messages[COUNT_MAX];
static uint8_t digests[2][COUNT_MAX * HL_DIGEST_MAX_NBYTES];

static void hash(const struct way *way, const hl_alg_info *alg, size_t n, uint8_t *out)
{
    hl_status status = HL_OK;
    if (way->kernel != NULL)
        status = hl_hash_many_with(way->kernel, alg->alg, messages, n, out);
    else if (!way->is_each)
        status = hl_hash_many(alg->alg, messages, n, out);
    else
        for (size_t i = 0; i < n && status == HL_OK; i++)
            status = hl_hash(alg->alg, messages[i].data, messages[i].nbytes, out + i * alg->digest_nbytes);
    if (status != HL_OK)
        die("refused: ", way->name);
}

/* Seconds of a call. They count from SETTLED on: vectors of 512 bits slow some CPUs down for 0.7 ms
 * (core/src/plan.c). */
static double time_way(const struct way *way, const hl_alg_info *alg, size_t n)
{
    const double SETTLED = 0.0008, SLOT = 0.00002, began = now();
    double least = 1;
    for (unsigned ncalls = 1, nslots = 0; nslots < 8;) {
        const double start = now();
        for (unsigned c = 0; c < ncalls; c++)
            hash(way, alg, n, digests[1]);
        const double t = now() - start;
        if (t < SLOT)
            ncalls *= 2;
        else if (start - began > SETTLED && ++nslots > 0 && t / ncalls < least)
            least = t / ncalls;
    }
    return least;
}

static int compare_ratios(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The best way beside hl_hash_many, the first one. The clock drifts by more than 5%, so the middle ratio of all sweeps
 * counts; a way that is far behind in the first one is left alone. */
static const struct way *race_ways(struct way *ways, size_t nways, const hl_alg_info *alg, size_t n, double *chosen)
{
    const struct way *best = &ways[1];
    for (size_t w = 0; w < nways; w++) {
        hash(&ways[w], alg, n, digests[w > 0]);
        if (memcmp(digests[0], digests[w > 0], n * alg->digest_nbytes) != 0)
            die("other digests than hl_hash_many: ", ways[w].name);
    }
    *chosen = 1;
    for (unsigned sweep = 0; sweep < SWEEPS; sweep++) {
        const double t = time_way(ways, alg, n);
        *chosen = t < *chosen ? t : *chosen;
        for (size_t w = 1; w < nways; w++)
            if (sweep == 0 || ways[w].ratios[0] > 0.7)
                ways[w].ratios[sweep] = t / time_way(&ways[w], alg, n);
    }
    for (size_t w = 1; w < nways; w++) {
        qsort(ways[w].ratios, SWEEPS, sizeof(double), compare_ratios);
        if (ways[w].ratios[SWEEPS / 2] > best->ratios[SWEEPS / 2])
            best = &ways[w];
    }
    return best;
}

static void compare_choice(void)
{
    static const size_t counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 24, 32, 33, COUNT_MAX};
    static const size_t lengths[] = {8, 55, 64, 119, 200, 1024, LENGTH_MAX};
    unsigned ncells = 0, nslow = 0, nslower = 0;
    printf("| chosen / best | algorithm | messages | bytes | chosen, ns of a message | best |\n"
           "|---|---|---|---|---|---|\n");
    for (hl_body body = 0; alg_of(body) != NULL; body++)
        for (size_t cell = 0; cell < sizeof counts / sizeof *counts * (sizeof lengths / sizeof *lengths); cell++) {
            const hl_alg_info *alg = alg_of(body);
            const size_t n = counts[cell % (sizeof counts / sizeof *counts)];
            const size_t nbytes = lengths[cell / (sizeof counts / sizeof *counts)];
            struct way ways[WAYS_MAX] = {{"hl_hash_many", NULL, 0, {0}}, {"hl_hash", NULL, 1, {0}}};
            size_t nways = 2;
            for (size_t i = 0; i < hl_kernel_count(); i++) {
                const hl_kernel *k = hl_kernel_at(i);
                if (k->body == body && (k->isas & hl_isas_allowed()) != 0 && (n > 1 || k->nlanes == 1))
                    ways[nways++] = (struct way){k->name, k, 0, {0}};
            }
            for (size_t i = 0; i < n; i++)
                messages[i] = (hl_slice){data + i * (nbytes + 64), nbytes};
            double chosen;
            const struct way *best = race_ways(ways, nways, alg, n, &chosen);
            const double ratio = best->ratios[SWEEPS / 2];
            ncells++, nslow += ratio > 1.05, nslower += ratio > 1.1;
            if (ratio > 1.05)
                printf("| %.2f | %s | %zu | %zu | %.1f | %s |\n", ratio, alg->name, n, nbytes,
                       chosen * 1e9 / (double)n, best->name);
        }
    printf("\n%u of %u cells above 1.05, %u above 1.10; allowed:", nslow, ncells, nslower);
    for (size_t i = 0; i < hl_isa_count(); i++)
        if ((hl_isas_allowed() >> i & 1) != 0)
            printf(" %s", hl_isa_name(i));
    putchar('\n');
}

int main(int argc, char **argv)
{
    const int is_choice = argc > 1 && strcmp(argv[1], "--choice") == 0;
    char *names = argc > 1 + is_choice ? argv[1 + is_choice] : NULL;
    hl_isas wanted = names == NULL ? ~(hl_isas)0 : 0;
    uint64_t x = 0x9e3779b97f4a7c15;
    cpu_set_t set;

    for (char *name = names ? strtok(names, ",") : NULL; name != NULL; name = strtok(NULL, ","))
        if (hl_isa_named(name) == 0)
            die("no such instruction set: ", name);
        else
            wanted |= hl_isa_named(name);
    if (argc > 2 + is_choice || wanted == 0)
        die("usage: kernels [--choice] [instruction set,...]", "");
    for (size_t i = 0; i < sizeof data; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        data[i] = (uint8_t)x;
    }
    CPU_ZERO(&set);
    CPU_SET((unsigned)sched_getcpu(), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        perror("kernels: not pinned to one CPU");
    if (is_choice && names != NULL && hl_restrict(wanted) != HL_OK)
        die("not all of these instruction sets are here", "");
    is_choice ? compare_choice() : time_kernels(wanted);
    return 0;
}
