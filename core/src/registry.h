/* registry.h: the table of kernels, as registry.c has it and plan.c weighs it.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_REGISTRY_H
#define HLI_REGISTRY_H

#include "algorithms.h"
#include "cpu.h"

/* A row of registry.def; its head describes the figures. */
struct hli_row {
    hl_kernel kernel;
    uint16_t cost[HLI_TUNE_COUNT], beside;
    hli_whole_fn *whole;
    hli_words_fn *words;
};
extern const struct hli_row hli_rows[] HLI_HIDDEN;

enum {
#define BESIDE(name, ns) HLI_BESIDE_##name = (ns),
#include "registry.def"
};

/* The bits of the instruction sets. */
enum {
#define ISA(name, needs) ISA_##name,
#include "registry.def"
    ISA_COUNT
};

enum {
#define BODY(body, name) HLI_BODY_##body,
#include "registry.def"
    HLI_NBODIES
};
/* The first row of each body, and the number of all rows. */
extern const uint8_t hli_first_row[HLI_NBODIES + 1] HLI_HIDDEN;

/* The choice word: the allowed instruction sets, the machine's, the column of costs, and a bit: all these are known. */
#define CHOICE_AVAILABLE 11
#define CHOICE_TUNE      28 /* the column's place: 3 bits */
#define CHOICE_KNOWN     (UINT32_C(1) << 31)
#define ISA_MASK         ((UINT32_C(1) << CHOICE_AVAILABLE) - 1)

/* The choice word at this moment. */
HLI_HIDDEN uint32_t hli_choice(void);
/* The best kernel for nmessages messages under that choice; NULL if the choice leaves none. call_cost is the time of a
 * call besides its blocks, in the unit of the table: 0 for long messages. is_searched: for HL_SHA1DC. */
HLI_HIDDEN const hl_kernel *hli_choose(uint32_t choice, hl_body body, size_t nmessages, uint32_t call_cost,
                                       int is_searched);
/* The kernel whose function for whole messages is best for many short ones; NULL if a kernel without such a function
 * takes less time. call_cost: of those kernels. */
HLI_HIDDEN const hl_kernel *hli_choose_whole(uint32_t choice, hl_body body, uint32_t call_cost);
/* The most blocks, padding included, of a message for a function for whole messages: under a choice, or of a kernel. */
HLI_HIDDEN unsigned hli_whole_nblocks(hl_isas isas, const hl_alg_info *alg);
enum { HLI_WHOLE_NBLOCKS = 6 }; /* of any */
/* The kernel's function for whole messages; NULL if it has none. */
HLI_HIDDEN hli_whole_fn *hli_whole_of(const hl_kernel *kernel);
/* A kernel that has a function for blocks in its own layout, and that function; NULL if there is none. */
HLI_HIDDEN const hl_kernel *hli_choose_words(uint32_t choice, hl_body body, hli_words_fn **words);
/* The kernel's function for chains; NULL if it has none. */
HLI_HIDDEN hli_chain_fn *hli_chain_of(const hl_kernel *kernel);
extern const struct hli_detector hli_detectors[] HLI_HIDDEN;
/* The detector of the kernel's instruction set and lanes, or else the best for that number of blocks. */
HLI_HIDDEN const struct hli_detector *hli_choose_detector(uint32_t choice, const hl_kernel *kernel, size_t nblocks);
/* Whether the detector's blocks() stands for the kernel's. */
HLI_INLINE int hli_searches(const hl_kernel *kernel, const struct hli_detector *detector)
{
    return detector->isas == kernel->isas && detector->nlanes == kernel->nlanes;
}
/* Writes zeros into this machine's vector registers, as far as callees may change them. */
HLI_HIDDEN void hli_clear_vectors(void);
/* The functions that begin and end messages under that choice. */
HLI_HIDDEN struct hli_edges hli_choose_edges(uint32_t choice);
/* schedule = the schedule that a kernel's scheduled() takes for this block. */
HLI_HIDDEN void hli_schedule(hl_body body, const uint8_t block[], void *schedule);

HLI_INLINE unsigned hli_tune_of(uint32_t word)
{
    return word >> CHOICE_TUNE & 7;
}

/* Whether vectors of 512 bits are allowed, and slow the clock down. */
HLI_INLINE int hli_has_price(uint32_t word)
{
#if HLI_X86
    return hli_tune_of(word) == HLI_TUNE_INTEL_PLAIN && (word >> ISA_avx512 & 1) != 0;
#else
    (void)word;
    return 0;
#endif
}

HLI_INLINE uint32_t hli_without_price(uint32_t word)
{
#if HLI_X86
    return word & ~(UINT32_C(1) << ISA_avx512);
#else
    return word;
#endif
}

/* A kernel of the table is the first member of its row. */
HLI_INLINE const struct hli_row *hli_row_of(const hl_kernel *kernel)
{
    return (const struct hli_row *)kernel;
}

/* The kernel's cost in the column of that choice. */
HLI_INLINE uint32_t hli_cost(uint32_t word, const hl_kernel *kernel)
{
    return hli_row_of(kernel)->cost[hli_tune_of(word)];
}

/* The fastest allowed kernel of one lane: the last such row. NULL if there is none, or if the word is not known yet. */
HLI_INLINE const hl_kernel *hli_single(uint32_t word, hl_body body)
{
    const struct hli_row *const all = hli_rows, *row = all + hli_first_row[body + 1] - 1;
    const unsigned tune = hli_tune_of(word);

    do
        if ((row->kernel.isas & word) != 0 && row->cost[tune] != HLI_NEVER)
            return &row->kernel;
    while (row > all + hli_first_row[body] && (--row)->kernel.nlanes == 1);
    return NULL;
}

/* Whether a kernel of one lane makes the message schedules of two blocks at once. */
HLI_INLINE int hli_makes_pairs(const hl_kernel *kernel)
{
#if HLI_X86
    return (kernel->isas & ((hl_isas)1 << ISA_avx2 | (hl_isas)1 << ISA_avx512vl)) != 0;
#else
    (void)kernel;
    return 0;
#endif
}

/* Whether the kernel's function for whole messages takes chunks of BLAKE3 with their numbers (hli_whole). */
HLI_INLINE int hli_takes_chunks(const hl_kernel *kernel)
{
#if HLI_X86_64
    return (kernel->isas & ((hl_isas)1 << ISA_avx2 | (hl_isas)1 << ISA_avx512)) != 0 && hli_whole_of(kernel) != NULL;
#else
    (void)kernel;
    return 0;
#endif
}

/* Upper bound of the stack that a call of the kernel takes. Measured: up to 4,800 bytes; with one lane up to 1,500
 * (32-bit words) and 2,900 (64-bit); over the SHA instructions up to 850, with one lane 650 by clang, 150 by gcc (gcc
 * 12.2 and clang 14; x86, i686 and aarch64). test/stack.c measures each kernel; test/remains.c searches for secrets
 * left below. */
HLI_INLINE size_t hli_stack_of(const hl_kernel *kernel)
{
#if HLI_X86 || HLI_ARM64
    if (kernel->isas == (hl_isas)1 << ISA_sha)
        return kernel->nlanes == 1 ? 768 : 1536;
#endif
    return kernel->nlanes > 1 ? HL_KERNEL_STACK_NBYTES : kernel->body == HL_BODY_SHA512 ? 3072 : 1536;
}

#endif
