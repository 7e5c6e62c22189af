/* registry.c: the table of kernels, the part of it that this machine can run, and the choice of a kernel.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Between calls only one word is remembered: the instruction sets that may be chosen and the column of costs. The word
 * is found on first use. Two threads that find it at once find the same, and never overwrite a choice of hl_restrict.
 */
#include <stdatomic.h>

#include "algorithms.h"
#include "cpu.h"
#include "kernels.h"
#include "lanes.h"

enum {
#define ISA(name, needs) ISA_##name,
#include "registry.def"
    ISA_COUNT
};

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
    _Static_assert(HLI_ALG_##name == 1 << HL_BODY_##body, "parts.h has the block functions in another order");
#define ISA(name, needs) _Static_assert(HLI_ISA_##name >= 0, "parts.h lacks an instruction set");
#include "registry.def"
#ifdef HL_ALGORITHMS
_Static_assert(HLI_BITS(HLI_ALG_, HL_ALGORITHMS) != 0, "HL_ALGORITHMS leaves no algorithm");
#endif
#ifdef HL_ISAS
_Static_assert(HLI_BITS(HLI_ISA_, HL_ISAS) >= 0, "HL_ISAS has a name that no instruction set has");
#endif

static const struct row {
    hl_kernel kernel;
    uint16_t cost[HLI_TUNE_COUNT], beside;
    hli_whole_fn *whole;
    hli_words_fn *words;
} rows[] = {
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
#define KERNEL2(body, function, scheduled, isa, nlanes, ...) \
    ROW(body, #function, hli_##function, BUILT(body, isa, hli_##scheduled), 0, 0, 0, isa, nlanes, __VA_ARGS__)
#define KERNEL3(body, function, scheduled, whole, isa, nlanes, beside, ...) \
    ROW(body, #function, hli_##function, BUILT(body, isa, hli_##scheduled), BUILT(body, isa, hli_##whole), 0, \
        beside, isa, nlanes, __VA_ARGS__)
#define KERNEL_WHOLE(body, function, whole, isa, nlanes, beside, ...) \
    ROW(body, #function, hli_##function, 0, BUILT(body, isa, hli_##whole), 0, beside, isa, nlanes, __VA_ARGS__)
#include "registry.def"
};

/* The lane driver has room for this number of states. */
#define FITS(body, nlanes) \
    _Static_assert((nlanes) * WORD_NBYTES_##body <= 64 && \
                   (nlanes) * WORD_NBYTES_##body * NWORDS_##body <= sizeof(union hli_lane_states), "too many lanes");
#define LANES(body, name, isa, nlanes, ...)      FITS(body, nlanes)
#define KERNEL(body, function, isa, nlanes, ...) FITS(body, nlanes)
#include "registry.def"

/* The first row of each body. A body is no row itself, so its second enumerator takes the number back. */
enum {
#define BODY(body, name) FIRST_##body, FIRST_##body##_again = FIRST_##body - 1,
#define LANES(body, name, isa, nlanes, ...) ROW_##name##_##isa,
#define KERNEL(body, function, isa, nlanes, ...) ROW_##function,
#include "registry.def"
    ROW_COUNT
};
static const uint8_t first_row[] = {
#define BODY(body, name) [HL_BODY_##body] = FIRST_##body,
#include "registry.def"
    ROW_COUNT};

/* The rows that have a function for whole messages, those of one body after those of the one before. */
static const uint8_t whole_rows[] = {
#define LANES(body, name, isa, nlanes, ...)
#define LANES2(body, name, isa, nlanes, beside, ...)                        ROW_##name##_##isa,
#define KERNEL3(body, function, scheduled, whole, isa, nlanes, beside, ...) ROW_##function,
#define KERNEL_WHOLE(body, function, whole, isa, nlanes, beside, ...)       ROW_##function,
#include "registry.def"
    ROW_COUNT};
enum {
#define BODY(body, name) FIRST_WHOLE_##body, FIRST_WHOLE_##body##_again = FIRST_WHOLE_##body - 1,
#define LANES2(body, name, isa, nlanes, beside, ...)                        WHOLE_ROW_##name##_##isa,
#define KERNEL3(body, function, scheduled, whole, isa, nlanes, beside, ...) WHOLE_ROW_##function,
#define KERNEL_WHOLE(body, function, whole, isa, nlanes, beside, ...)       WHOLE_ROW_##function,
#include "registry.def"
    WHOLE_ROW_COUNT
};
static const uint8_t first_whole[] = {
#define BODY(body, name) [HL_BODY_##body] = FIRST_WHOLE_##body,
#include "registry.def"
    WHOLE_ROW_COUNT};

/* The choice word: the allowed instruction sets, those of the machine, the column of costs, and a bit that is set once
 * these are known. */
#define CHOICE_AVAILABLE 11
#define CHOICE_KNOWN     (UINT32_C(1) << 31)
#define ISA_MASK         ((UINT32_C(1) << CHOICE_AVAILABLE) - 1)
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
    for (size_t body = 0; body + 1 < sizeof first_row; body++)
        if (hli_choose(allowed, (hl_body)body, 1, 0) == NULL && hli_choose(available, (hl_body)body, 1, 0) != NULL)
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
    return i < ROW_COUNT ? &rows[i].kernel : NULL;
}

static const struct row *row_of(const hl_kernel *kernel)
{
    return (const struct row *)kernel; /* its first member */
}

uint32_t hli_cost(uint32_t word, const hl_kernel *kernel)
{
    return row_of(kernel)->cost[word >> CHOICE_TUNE & 7];
}

/* Kernels of one lane are the last rows, the fastest at the end: the first allowed one from there is right. */
static const hl_kernel *single(uint32_t word, hl_body body)
{
    const struct row *const all = rows, *row = all + first_row[body + 1] - 1;
    const unsigned tune = word >> CHOICE_TUNE & 7;

    do
        if ((row->kernel.isas & word) != 0 && row->cost[tune] != HLI_NEVER)
            return &row->kernel;
    while (row > all + first_row[body] && (--row)->kernel.nlanes == 1);
    return NULL;
}

/* The best kernel, of those of several lanes and `alone`, which may be NULL. */
static const hl_kernel *cheapest(uint32_t word, hl_body body, const hl_kernel *alone, size_t nmessages,
                                 uint32_t call_cost)
{
    const unsigned tune = word >> CHOICE_TUNE & 7;
    /* For more messages than any kernel's lanes, the least cost per message is right: the kernel for the rest at the
     * end is chosen again. n is then a number that 1, 2, 3, 4, 8 and 16 lanes divide. */
    const uint32_t n = nmessages <= HL_LANES_MAX ? (uint32_t)nmessages : 3 * HL_LANES_MAX;
    const hl_kernel *best = alone;
    uint32_t best_cost = alone == NULL ? UINT32_MAX : n * (row_of(alone)->cost[tune] + call_cost);

    for (const struct row *row = rows + first_row[body]; row->kernel.nlanes > 1; row++) {
        if ((row->kernel.isas & word) == 0)
            continue;
        const uint32_t nlanes = row->kernel.nlanes; /* 3, or a power of two: a division takes as long as ten rows */
        const uint32_t ncalls = n <= nlanes ? 1 : nlanes == 3 ? (n + 2) / 3 : (n + nlanes - 1) >> hli_ctz32(nlanes);
        const uint32_t cost = ncalls * (row->cost[tune] + call_cost);
        if (cost < best_cost) {
            best = &row->kernel;
            best_cost = cost;
        }
    }
    return best;
}

/* Many programs hash one message a call, and weighing all rows would take a third of that time (64 bytes: 20 to 30 ns
 * of 90). One message never goes to lanes, as the driver adds the time of some blocks (RIPEMD-160 of 64 bytes: 480 ns
 * instead of 250). */
const hl_kernel *hli_choose_one(uint32_t word, hl_body body)
{
    const hl_kernel *alone = single(word, body);

    return alone != NULL ? alone : cheapest(word, body, NULL, 1, 0);
}

/* Not inlined, so that the next call needs no frame. */
static HLI_NOINLINE const hl_kernel *choose_otherwise(hl_body body)
{
    return hli_choose_one(hli_choice(), body);
}

const hl_kernel *hli_choose_now(hl_body body)
{
    const uint32_t word = atomic_load_explicit(&choice, memory_order_relaxed);
    const hl_kernel *alone = single(word, body); /* NULL while the word is not known */

    return __builtin_expect(alone != NULL, 1) ? alone : choose_otherwise(body);
}

const hl_kernel *hli_choose(uint32_t word, hl_body body, size_t nmessages, uint32_t call_cost)
{
    const hl_kernel *alone = single(word, body);

    return nmessages == 1 && alone != NULL ? alone : cheapest(word, body, alone, nmessages, call_cost);
}

const hl_kernel *hli_choose_whole(uint32_t word, hl_body body, uint32_t call_cost)
{
    const struct row *const all = rows;
    const unsigned tune = word >> CHOICE_TUNE & 7;
    const hl_kernel *best = hli_choose(word, body, SIZE_MAX, call_cost), *whole = NULL;
    uint32_t nlanes = best->nlanes, cost = row_of(best)->cost[tune] + call_cost;

    for (const struct row *row = all + first_row[body]; row < all + first_row[body + 1]; row++)
        if (row->whole != NULL && (row->kernel.isas & word) != 0 &&
            row->cost[tune] * nlanes < cost * row->kernel.nlanes) {
            whole = &row->kernel;
            nlanes = whole->nlanes;
            cost = row->cost[tune];
        }
    return whole;
}

int hli_has_whole(uint32_t word, hl_body body, size_t nmessages)
{
    for (size_t i = first_whole[body]; i < first_whole[body + 1]; i++) {
        const hl_kernel *kernel = &rows[whole_rows[i]].kernel;
        if ((kernel->isas & word) != 0 && kernel->nlanes <= nmessages + nmessages / 2)
            return 1;
    }
    return 0;
}

/* Kernels of AVX-512 load each block while they hash the one before; functions for whole messages do not. For messages
 * of more blocks what such a function saves is little beside them. */
enum { WHOLE_NBLOCKS = 6 };

unsigned hli_whole_nblocks(hl_isas isas)
{
#if HLI_X86
    return (isas & ((hl_isas)1 << ISA_avx512 | (hl_isas)1 << ISA_sha_avx512vl)) != 0 ? 2 : WHOLE_NBLOCKS;
#else
    (void)isas;
    return WHOLE_NBLOCKS;
#endif
}

/* The first call of the plan that takes the least time for nmessages (1 .. HLI_SHORT), if some were hashed before.
 * *is_apart: whether these take less time one by one if they are all. */
static HLI_NOINLINE const hl_kernel *plan_few(uint32_t word, hl_body body, uint32_t nmessages, uint32_t nblocks,
                                              int is_known, int may_be_whole, hli_whole_fn **whole, int *is_apart)
{
    /* The table's costs are those of long messages. Beside them, in ns: a function for whole messages takes what the
     * table says; any other kernel of lanes, which is called twice between copies, ABREAST, and ABREAST_LANE a lane;
     * one message a ONE_SHARE-th of a block, and ONE, or LEFT if others went before it. A known schedule saves a
     * KNOWN_SHARE-th of a block. GROUPS: what a call takes to make groups. */
    enum { ABREAST = 10, ABREAST_LANE = 20, ONE_SHARE = 8, ONE = 9, LEFT = 17, KNOWN_SHARE = 3, GROUPS = 35 };
    const struct row *const all = rows;
    const unsigned tune = word >> CHOICE_TUNE & 7;
    const hl_kernel *const alone = single(word, body);
    uint32_t times[HLI_SHORT + 1] = {0};               /* of the best plan for each number of messages */
    const struct row *first[HLI_SHORT + 1] = {NULL}; /* of that plan; one by one only if all go so */

    for (uint32_t n = 1; n <= nmessages; n++) {
        times[n] = UINT32_MAX;
        for (const struct row *row = all + first_row[body]; row < all + first_row[body + 1]; row++) {
            const uint32_t lanes = row->kernel.nlanes, left = n > lanes ? times[n - lanes] : 0, cost = row->cost[tune];
            const uint32_t saved = is_known && row->kernel.scheduled != NULL ? cost / KNOWN_SHARE : 0;
            const uint32_t blocks = nblocks * cost - saved;
            const int is_whole = lanes > 1 && row->whole != NULL && may_be_whole;
            const uint32_t beside = lanes == 1 ? cost / ONE_SHARE + LEFT
                                    : is_whole ? row->beside
                                               : ABREAST + ABREAST_LANE * lanes;
            const int may_be = lanes == 1 ? &row->kernel == alone : is_whole || n <= HLI_FEW || alone == NULL;
            if (!may_be || (row->kernel.isas & word) == 0 || (n == 1 && lanes > 1 && alone != NULL) ||
                blocks + beside + left >= times[n])
                continue;
            times[n] = blocks + beside + left;
            first[n] = lanes == 1 && n > 1 ? first[n - 1] : row;
        }
    }
    *whole = first[nmessages]->kernel.nlanes > 1 && may_be_whole ? first[nmessages]->whole : NULL;
    *is_apart = alone != NULL && nmessages * (times[1] + ONE - LEFT) <= times[nmessages] + GROUPS;
    return &first[nmessages]->kernel;
}

/* What plan_few said before, for messages of 1 .. WHOLE_NBLOCKS blocks that may be whole or not, of two blocks with a
 * known schedule, and of 8, 16 and 32, which stand for all others; and what hli_is_pair_apart said. An answer is one
 * word: the row, whether its function for whole messages is meant, whether all go one by one, and the bits of the choice
 * word that it follows from. For other bits it is none. */
#define FEW_ROW   CHOICE_AVAILABLE
#define FEW_WHOLE (UINT32_C(1) << 19)
#define FEW_APART (UINT32_C(1) << 20)
#define FEW_FROM  (ISA_MASK | UINT32_C(7) << CHOICE_TUNE | CHOICE_KNOWN)
enum { FEW_KNOWN = 2 * WHOLE_NBLOCKS, FEW_LONG = FEW_KNOWN + 2, FEW_PAIR = FEW_LONG + 3, FEW_SHAPES };
_Static_assert(ROW_COUNT <= 1 << (19 - FEW_ROW), "a row's number needs more bits");
static _Atomic uint32_t few[sizeof first_row - 1][HLI_SHORT][FEW_SHAPES];

const hl_kernel *hli_choose_few(uint32_t word, hl_body body, size_t nmessages, size_t nblocks, int is_known,
                                int may_be_whole, int is_first, hli_whole_fn **whole)
{
    const struct row *const all = rows;
    const size_t may = may_be_whole && nblocks <= hli_whole_nblocks(word), known = is_known && nblocks == 2;
    uint32_t each = (uint32_t)nblocks;
    size_t shape = known ? FEW_KNOWN + may : 2 * (nblocks - 1) + may;

    if (nblocks > WHOLE_NBLOCKS) {
        shape = FEW_LONG + (nblocks >= 16) + (nblocks >= 32);
        each = 8u << (shape - FEW_LONG);
    }
    _Atomic uint32_t *const at = &few[body][nmessages - 1][shape];
    uint32_t found = atomic_load_explicit(at, memory_order_relaxed);
    if (__builtin_expect(((found ^ word) & FEW_FROM) != 0, 0)) {
        int is_apart;
        const hl_kernel *const kernel =
            plan_few(word, body, (uint32_t)nmessages, each, (int)known, (int)may, whole, &is_apart);
        found = (word & FEW_FROM) | (uint32_t)(row_of(kernel) - all) << FEW_ROW | (*whole != NULL ? FEW_WHOLE : 0) |
                (is_apart ? FEW_APART : 0);
        atomic_store_explicit(at, found, memory_order_relaxed);
    }
    *whole = NULL;
    if (is_first && (found & FEW_APART) != 0)
        return single(word, body);
    const struct row *const row = &all[found >> FEW_ROW & 0xff];
    if ((found & FEW_WHOLE) != 0)
        *whole = row->whole;
    return &row->kernel;
}

static HLI_NOINLINE uint32_t plan_pair(uint32_t word, hl_body body)
{
    const hl_kernel *kernel = hli_choose_one(word, body);
    /* Two blocks, if the message has 64 bytes (hli_known_schedule). */
    const int has_known = body == HL_BODY_SHA1 || body == HL_BODY_SHA256;
    hli_whole_fn *whole;

    for (unsigned nblocks = 1; nblocks <= HLI_PAIR_NBLOCKS && kernel != NULL && kernel->nlanes == 1; nblocks++) {
        kernel = hli_choose_few(word, body, 2, nblocks, 0, 1, 1, &whole);
        if (kernel->nlanes == 1)
            kernel = hli_choose_few(word, body, 2, nblocks, has_known && nblocks == 2, 1, 1, &whole);
    }
    const uint32_t found = (word & FEW_FROM) | (kernel != NULL && kernel->nlanes == 1 ? FEW_APART : 0);
    atomic_store_explicit(&few[body][1][FEW_PAIR], found, memory_order_relaxed);
    return found;
}

int hli_is_pair_apart(uint32_t word, hl_body body)
{
    uint32_t found = atomic_load_explicit(&few[body][1][FEW_PAIR], memory_order_relaxed);

    if (__builtin_expect(((found ^ word) & FEW_FROM) != 0, 0))
        found = plan_pair(word, body);
    return (found & FEW_APART) != 0;
}

hli_whole_fn *hli_whole_of(const hl_kernel *kernel)
{
    return row_of(kernel)->whole;
}

const hl_kernel *hli_choose_words(uint32_t word, hl_body body, hli_words_fn **words)
{
    const struct row *const all = rows;

    for (const struct row *row = all + first_row[body + 1]; row-- > all + first_row[body];)
        if (row->words != NULL && (row->kernel.isas & word) != 0) {
            *words = row->words;
            return &row->kernel;
        }
    *words = NULL;
    return NULL;
}

struct hli_edges hli_choose_edges(uint32_t word)
{
    struct hli_edges best = {hli_pad_scalar, hli_digests_scalar};

#define EDGES(isa) \
    if (HLI_ISA(isa) && (word >> ISA_##isa & 1) != 0) \
        best = (struct hli_edges){hli_pad_##isa, hli_digests_##isa};
#include "registry.def"
    (void)word;
    return best;
}

int hli_makes_pairs(const hl_kernel *kernel)
{
#if HLI_X86
    return (kernel->isas & ((hl_isas)1 << ISA_avx2 | (hl_isas)1 << ISA_avx512vl)) != 0;
#else
    (void)kernel;
    return 0;
#endif
}

/* Stack of kernels: up to 4,800 bytes; with one lane up to 1,500 (32-bit words) and 2,900 (64-bit); over the SHA
 * instructions up to 850, with one lane 650 by clang, 150 by gcc (gcc 12.2 and clang 14; x86, i686 and aarch64).
 * test/stack.c measures each kernel; test/remains.c searches for secrets left below. */
size_t hli_stack_of(const hl_kernel *kernel)
{
#if HLI_X86 || HLI_ARM64
    if (kernel->isas == (hl_isas)1 << ISA_sha)
        return kernel->nlanes == 1 ? 768 : 1536;
#endif
    return kernel->nlanes > 1 ? HL_KERNEL_STACK_NBYTES : kernel->body == HL_BODY_SHA512 ? 3072 : 1536;
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
#define SPONGE_BODY(body, name) \
    case HL_BODY_##body: break;
#define BODY(body, name) \
    case HL_BODY_##body: \
        if (HAS_##body) \
            hli_##name##_schedule_scalar(block, schedule); \
        break;
#include "registry.def"
    }
}
