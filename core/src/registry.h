/* registry.h: the table of kernels, as registry.c has it and plan.c weighs it.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_REGISTRY_H
#define HLI_REGISTRY_H

#include "cpu.h"

/* A row of registry.def, whose head says what the figures are. */
struct hli_row {
    hl_kernel kernel;
    uint16_t cost[HLI_TUNE_COUNT], beside;
    hli_whole_fn *whole;
    hli_words_fn *words;
};
extern const struct hli_row hli_rows[] HLI_HIDDEN;

enum {
#define BODY(body, name) HLI_BODY_##body,
#include "registry.def"
    HLI_NBODIES
};
/* The first row of each body, and the number of all rows. */
extern const uint8_t hli_first_row[HLI_NBODIES + 1] HLI_HIDDEN;

/* The choice word: the allowed instruction sets, those of the machine, the column of costs, and a bit that is set once
 * these are known. */
#define CHOICE_AVAILABLE 11
#define CHOICE_KNOWN     (UINT32_C(1) << 31)
#define ISA_MASK         ((UINT32_C(1) << CHOICE_AVAILABLE) - 1)

HLI_INLINE unsigned hli_tune_of(uint32_t word)
{
    return word >> CHOICE_TUNE & 7;
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

/* Kernels of one lane are the last rows, the fastest at the end: the first allowed one from there is right. NULL if
 * there is none, also while the word is not known. */
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

#endif
