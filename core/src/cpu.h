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
enum { HLI_TUNE_INTEL, HLI_TUNE_AMD, HLI_TUNE_ZEN5, HLI_TUNE_INTEL_PLAIN, HLI_TUNE_ZEN1, HLI_TUNE_COUNT };
enum { HLI_TUNE_TWO_PIPES, HLI_TUNE_FOUR_PIPES };
enum { HLI_TUNE_ONLY };

/* The cost of a kernel that is never chosen for one message there, as a plainer one is faster. */
#define HLI_NEVER UINT16_MAX

/* The costs of a kernel that nobody has measured, from the operations of one block: instructions, without moves from
 * register to register. A vector of 512 bits occupies two ports of some CPUs (HLI_UNMEASURED_512). The rates are those
 * of RIPEMD-160, MD5 and SHA-1 in lanes, within a third of each (bench/results/2026-11-26-costs.md). */
#if HLI_X86
#  define HLI_UNMEASURED(noperations) \
      (noperations) / 12, (noperations) / 12, (noperations) / 9, (noperations) / 8, (noperations) / 4
#  define HLI_UNMEASURED_512(noperations) \
      (noperations) / 8, (noperations) / 6, (noperations) / 7, (noperations) / 5, (noperations) / 2
#elif HLI_ARM64
#  define HLI_UNMEASURED(noperations) (noperations) / 2, (noperations) * 2 / 5
#else
#  define HLI_UNMEASURED(noperations) (noperations) / 12
#endif

struct hli_machine {
    uint32_t features; /* HLI_F bits */
    unsigned tune;
};
HLI_HIDDEN struct hli_machine hli_detect(void);

/* The instruction sets that a machine with these features can run (registry.c). */
HLI_HIDDEN hl_isas hli_isas_with(uint32_t features);

#endif
