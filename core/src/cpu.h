/* cpu.h: the CPU's features as bits, and the result of looking for them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_CPU_H
#define HLI_CPU_H

#include "core.h"

enum {
#define FEATURE(name, ...) HLI_FEATURE_##name,
#include "features.def"
#undef FEATURE
    HLI_FEATURE_COUNT
};
#define HLI_F(name) (UINT32_C(1) << HLI_FEATURE_##name)

/* The column of costs in registry.def that holds for this CPU. The head of that file describes the columns of each
 * family. */
enum { HLI_TUNE_INTEL, HLI_TUNE_AMD, HLI_TUNE_ZEN5, HLI_TUNE_COUNT };
enum { HLI_TUNE_TWO_PIPES, HLI_TUNE_FOUR_PIPES };
enum { HLI_TUNE_ONLY };

/* The cost of a kernel that is never chosen for one message there, as a plainer one is faster. */
#define HLI_NEVER UINT16_MAX

struct hli_machine {
    uint32_t features; /* HLI_F bits */
    unsigned tune;
};
HLI_HIDDEN struct hli_machine hli_detect(void);

/* The instruction sets that a machine with these features can run (registry.c). */
HLI_HIDDEN hl_isas hli_isas_with(uint32_t features);

#endif
