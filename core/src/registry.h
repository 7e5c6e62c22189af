/* registry.h: the table of kernels, as registry.c has it and plan.c weighs it.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_REGISTRY_H
#define HLI_REGISTRY_H

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
#define CHOICE_KNOWN     (UINT32_C(1) << 31)
#define ISA_MASK         ((UINT32_C(1) << CHOICE_AVAILABLE) - 1)

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

/* The most blocks of a message of that pass for a function for whole messages; 0: none can do it. */
HLI_INLINE size_t hli_whole_most(hl_isas isas, const struct hli_pass *pass)
{
    return hli_may_be_whole(pass) ? hli_whole_nblocks(isas, pass->alg) : 0;
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
