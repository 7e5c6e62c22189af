/* registry.c: the table of kernels, and the part of it that this machine can run.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Between calls only one word is remembered: the instruction sets that may be chosen and the column of costs. The word
 * is found on first use. Two threads that find it at once find the same, and never overwrite a choice of hl_restrict.
 */
#include <stdatomic.h>

#include "kernels.h"
#include "registry.h"

#ifndef HLI_HAS_PLAIN
#  define HLI_HAS_PLAIN 1 /* 0: every CPU of this build has a better row in each table */
#endif

/* The instruction sets and block functions that this build has. */
enum {
    BUILT_ISAS = 0
#define ISA(name, needs) | HLI_ISA(name) << ISA_##name
#include "registry.def"
};
enum {
#define BODY(body, name) HAS_##body = HLI_ALG(name),
#include "registry.def"
};

static const struct {
    const char *name;
    uint32_t needs;
} isas[] = {
#define ISA(name, needs) {#name, needs},
#include "registry.def"
};

#define BODY(body, name) \
    _Static_assert(HLI_ALG_##name == 1 << HL_BODY_##body, "parts.h has the block functions in another order"); \
    _Static_assert((int)HLI_BODY_##body == (int)HL_BODY_##body, "registry.def has a body in another order");
#define ISA(name, needs) _Static_assert(HLI_ISA_##name >= 0, "parts.h lacks an instruction set");
#include "registry.def"
#ifdef HL_ALGORITHMS
_Static_assert(HLI_IN_ANY != 0 && HLI_BITS(HLI_ALG_, HL_ALGORITHMS) != 0, "HL_ALGORITHMS leaves no algorithm");
#endif
#ifdef HL_ISAS
_Static_assert(HLI_BITS(HLI_ISA_, HL_ISAS) >= 0, "HL_ISAS has a name that no instruction set has");
#endif

const struct hli_row hli_rows[] = {
/* A function of a kernel. 0, a null pointer, if this build leaves the kernel out. */
#define BUILT(body, isa, function) (HAS_##body && HLI_ISA(isa) ? (function) : 0)
#define ROW(body, text, function, scheduled, whole, words, beside, isa, nlanes, ...) \
    {{text, #isa, HL_BODY_##body, nlanes, HAS_##body ? (hl_isas)1 << ISA_##isa : 0, BUILT(body, isa, function), \
      scheduled}, \
     {__VA_ARGS__}, beside, whole, words},
#define LANES(body, name, isa, nlanes, ...) \
    ROW(body, #name "_blocks_" #isa, hli_##name##_blocks_##isa, BUILT(body, isa, hli_##name##_scheduled_##isa), 0, 0, \
        0, isa, nlanes, __VA_ARGS__)
#define LANES2(body, name, isa, nlanes, beside, ...) \
    ROW(body, #name "_blocks_" #isa, hli_##name##_blocks_##isa, BUILT(body, isa, hli_##name##_scheduled_##isa), \
        BUILT(body, isa, hli_##name##_whole_##isa), BUILT(body, isa, hli_##name##_words_##isa), beside, isa, \
        nlanes, __VA_ARGS__)
#define KERNEL(body, function, isa, nlanes, ...) \
    ROW(body, #function, hli_##function, 0, 0, 0, 0, isa, nlanes, __VA_ARGS__)
#define hli_no_scheduled (hl_scheduled_fn *)0
#define hli_no_whole     (hli_whole_fn *)0
#define KERNEL2(body, function, scheduled, whole, isa, nlanes, beside, ...) \
    ROW(body, #function, hli_##function, BUILT(body, isa, hli_##scheduled), BUILT(body, isa, hli_##whole), 0, \
        beside, isa, nlanes, __VA_ARGS__)
#include "registry.def"
};

/* The first row of each body. A body is no row: its second enumerator subtracts the 1 that the first has added. */
enum {
#define BODY(body, name) FIRST_##body, FIRST_##body##_again = FIRST_##body - 1,
#define LANES(body, name, isa, nlanes, ...) ROW_##name##_##isa,
#define KERNEL(body, function, isa, nlanes, ...) ROW_##function,
#include "registry.def"
    ROW_COUNT
};
_Static_assert(ROW_COUNT <= 256, "a row's number needs more than a byte");
const uint8_t hli_first_row[HLI_NBODIES + 1] = {
#define BODY(body, name) [HL_BODY_##body] = FIRST_##body,
#include "registry.def"
    ROW_COUNT};

_Static_assert(ISA_COUNT <= CHOICE_AVAILABLE && 2 * CHOICE_AVAILABLE <= CHOICE_TUNE,
               "an instruction set has no bit in the choice word");

static _Atomic uint32_t choice;

hl_isas hli_isas_with(uint32_t features)
{
    hl_isas with = 0;

    for (size_t i = 0; i < ISA_COUNT; i++)
        if ((isas[i].needs & ~features) == 0)
            with |= (hl_isas)1 << i;
    return with;
}

/* On aarch64 a compiler turns an atomic exchange into a call of its own runtime library, to use the instructions of
 * FEAT_LSE where the CPU has them. The core makes one exchange in a process, and does without that library.
 * noinline: inlining would lose the attribute. */
#if defined(__aarch64__)
#  define INLINE_ATOMICS __attribute__((target("no-outline-atomics"), noinline))
#else
#  define INLINE_ATOMICS
#endif

INLINE_ATOMICS uint32_t hli_choice(void)
{
    uint32_t word = atomic_load_explicit(&choice, memory_order_relaxed);

    if (__builtin_expect(word == 0, 0)) {
        const struct hli_machine machine = hli_detect();
        const uint32_t available = hli_isas_with(machine.features);
        const uint32_t found = CHOICE_KNOWN | (uint32_t)machine.tune << CHOICE_TUNE |
                               available << CHOICE_AVAILABLE | (available & BUILT_ISAS);
        /* On failure, word becomes the value that another thread has stored. */
        if (atomic_compare_exchange_strong_explicit(&choice, &word, found, memory_order_relaxed,
                                                    memory_order_relaxed))
            word = found;
    }
    return word;
}

size_t hl_isa_count(void)
{
    return ISA_COUNT;
}

const char *hl_isa_name(size_t i)
{
    return i < ISA_COUNT ? isas[i].name : NULL;
}

hl_isas hl_isa_named(const char *name)
{
    for (size_t i = 0; name != NULL && i < ISA_COUNT; i++)
        if (hli_same_text(isas[i].name, name))
            return (hl_isas)1 << i;
    return 0;
}

hl_isas hl_isas_available(void)
{
    return hli_choice() >> CHOICE_AVAILABLE & BUILT_ISAS;
}

hl_isas hl_isas_allowed(void)
{
    return hli_choice() & ISA_MASK;
}

hl_status hl_restrict(hl_isas wanted)
{
    const uint32_t word = hli_choice(), available = word >> CHOICE_AVAILABLE & BUILT_ISAS;
    hl_isas allowed = wanted == 0 ? available : wanted;

    if ((wanted & ~available) != 0)
        return HL_EISA;
    for (size_t body = 0; body < HLI_NBODIES; body++)
        if (hli_choose(allowed, (hl_body)body, 1, 0, 0) == NULL &&
            hli_choose(available, (hl_body)body, 1, 0, 0) != NULL)
            allowed |= (hl_isas)1 << ISA_scalar;
    /* The bits that do not follow from `allowed` never change, so a store by another thread in between does no harm. */
    atomic_store_explicit(&choice, (word & ~ISA_MASK) | allowed, memory_order_relaxed);
    return HL_OK;
}

size_t hl_kernel_count(void)
{
    return ROW_COUNT;
}

const hl_kernel *hl_kernel_at(size_t i)
{
    return i < ROW_COUNT ? &hli_rows[i].kernel : NULL;
}

/* ---- Choices ----------------------------------------------------------------------------------------------------- */

/* What the search adds to a call for one block of all lanes. */
static uint32_t search_cost(uint32_t word, const hl_kernel *kernel, int is_searched)
{
    const struct hli_detector *const row = is_searched ? hli_choose_detector(word, kernel, SIZE_MAX) : NULL;

    return row == NULL ? 0 : kernel->nlanes * (hli_searches(kernel, row) ? row->with : row->apart);
}

const hl_kernel *hli_choose(uint32_t word, hl_body body, size_t nmessages, uint32_t call_cost, int is_searched)
{
    const hl_kernel *const alone = hli_single(word, body), *best = alone;
    const unsigned tune = hli_tune_of(word);
    /* For more messages than any kernel has lanes, the least cost per message decides: the rest at the end gets a
     * choice of its own. All numbers of lanes, 1, 2, 3, 4, 8 and 16, divide n then. */
    const uint32_t n = nmessages <= HL_LANES_MAX ? (uint32_t)nmessages : 3 * HL_LANES_MAX;

    if (alone != NULL && n == 1)
        return alone;
    uint32_t best_cost = UINT32_MAX;
    if (alone != NULL)
        best_cost = n * (hli_cost(word, alone) + call_cost + search_cost(word, alone, is_searched));
    for (const struct hli_row *row = hli_rows + hli_first_row[body]; row->kernel.nlanes > 1; row++) {
        if ((row->kernel.isas & word) == 0)
            continue;
        const uint32_t nlanes = row->kernel.nlanes; /* 3, or a power of two: a division costs ten rows */
        const uint32_t ncalls = n <= nlanes ? 1 : nlanes == 3 ? (n + 2) / 3 : (n + nlanes - 1) >> hli_ctz32(nlanes);
        const uint32_t cost = ncalls * (row->cost[tune] + call_cost + search_cost(word, &row->kernel, is_searched));
        if (cost < best_cost) {
            best = &row->kernel;
            best_cost = cost;
        }
    }
    return best;
}

const hl_kernel *hli_choose_whole(uint32_t word, hl_body body, uint32_t call_cost)
{
    const struct hli_row *const all = hli_rows;
    const unsigned tune = hli_tune_of(word);
    const hl_kernel *best = hli_choose(word, body, SIZE_MAX, call_cost, 0), *whole = NULL;
    uint32_t nlanes = best->nlanes, cost = hli_cost(word, best) + call_cost;

    for (const struct hli_row *row = all + hli_first_row[body]; row < all + hli_first_row[body + 1]; row++)
        if (row->whole != NULL && (row->kernel.isas & word) != 0 &&
            row->cost[tune] * nlanes < cost * row->kernel.nlanes) {
            whole = &row->kernel;
            nlanes = whole->nlanes;
            cost = row->cost[tune];
        }
    return whole;
}

hli_whole_fn *hli_whole_of(const hl_kernel *kernel)
{
    return hli_row_of(kernel)->whole;
}

/* Kernels of AVX-512 load each block while they hash the one before. Functions for whole messages do not, and their
 * tables of masks reach 256 bytes. Longer messages would gain little by such a function. */
unsigned hli_whole_nblocks(hl_isas isas, const hl_alg_info *alg)
{
#if HLI_X86
    if ((isas & ((hl_isas)1 << ISA_avx512 | (hl_isas)1 << ISA_sha_avx512vl)) != 0)
        return hli_block_nbytes(alg) == 64 ? 4 : 2;
#else
    (void)isas, (void)alg;
#endif
    return HLI_WHOLE_NBLOCKS;
}

const hl_kernel *hli_choose_words(uint32_t word, hl_body body, hli_words_fn **words)
{
    const struct hli_row *const all = hli_rows;

    for (const struct hli_row *row = all + hli_first_row[body + 1]; row-- > all + hli_first_row[body];)
        if (row->words != NULL && (row->kernel.isas & word) != 0) {
            *words = row->words;
            return &row->kernel;
        }
    *words = NULL;
    return NULL;
}

hli_chain_fn *hli_chain_of(const hl_kernel *kernel)
{
    static hli_chain_fn *const chains[ROW_COUNT] = {
#define CHAIN(body, row, function, isa) [ROW_##row] = HLI_ALG(slh) ? BUILT(body, isa, hli_##function) : 0,
#include "registry.def"
    };
    const struct hli_row *const rows = hli_rows;

    return HLI_ALG(slh) ? chains[hli_row_of(kernel) - rows] : NULL;
}

struct hli_edges hli_choose_edges(uint32_t word)
{
    struct hli_edges best = {hli_pad_scalar, hli_digests_scalar};

#define EDGES(isa, pad, digests) \
    if (HLI_ISA(isa) && (word >> ISA_##isa & 1) != 0) \
        best = (struct hli_edges){hli_pad_##pad, hli_digests_##digests};
#include "registry.def"
    (void)word;
    return best;
}

const struct hli_detector hli_detectors[] = {
#define SEARCH(is_there, function)  (is_there) ? hli_sha1dc_##function : 0
#define DETECTOR(is_there, isa) \
    SEARCH(is_there, possible_##isa), SEARCH(is_there, differ_##isa), SEARCH(is_there, blocks_##isa)
    {DETECTOR(HLI_SHA1DC && HLI_HAS_PLAIN, scalar), 1, 1, (hl_isas)1 << ISA_scalar, 0, 0},
#define DETECT(isa, nlanes, from, apart, with) \
    {DETECTOR(HLI_SHA1DC && HLI_ISA(isa), isa), nlanes, from, (hl_isas)1 << ISA_##isa, apart, with},
#include "registry.def"
};

const struct hli_detector *hli_choose_detector(uint32_t word, const hl_kernel *kernel, size_t nblocks)
{
    const struct hli_detector *const all = hli_detectors, *best = all;

    for (const struct hli_detector *row = all + 1; row < all + sizeof hli_detectors / sizeof hli_detectors[0]; row++)
        if (row->isas == kernel->isas && row->nlanes == kernel->nlanes)
            return row;
        else if (row->possible != NULL && (word & row->isas) != 0 && (nblocks >= row->from || best->possible == NULL))
            best = row;
    return best;
}

void hli_clear_vectors(void)
{
    const uint32_t available = hli_choice() >> CHOICE_AVAILABLE; /* also those that this build leaves out */
    void (*clear)(void) = NULL;

#define CLEAR(isa) \
    if ((available >> ISA_##isa & 1) != 0) \
        clear = hli_clear_##isa;
#include "registry.def"
    (void)available;
    if (clear != NULL)
        clear();
}

void hli_schedule(hl_body body, const uint8_t block[], void *schedule)
{
    switch (body) {
#define BLOCK_BODY(body, name) \
    case HL_BODY_##body: break;
#define BODY(body, name) \
    case HL_BODY_##body: \
        if (HAS_##body) \
            hli_##name##_schedule_scalar(block, schedule); \
        break;
#include "registry.def"
    }
}
