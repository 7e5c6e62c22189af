/* kernels.h: the declarations of all kernels, made from the table, so that a definition that does not match is an
 * error.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The function of the kernel sha256_blocks_avx2 is hli_sha256_blocks_avx2: the prefix is needed because a program
 * linked with the static library sees all of its global names.
 */
#include "core.h"
#include "parts.h"

/* gcc's own order of the instructions is worse than the source's. Reassociation adds the operands that are ready last
 * first, which lengthens the chain from round to round. The second scheduling pass moves loads of constants and blocks
 * until registers spill. Measured with gcc 12.2 on Granite Rapids, 16 lanes: SHA-1 7.96 -> 8.85 GB/s, SHA-256 4.45 ->
 * 4.58. Kernels are optimised even in a build that is not. */
#if !defined(__clang__)
#  if defined(__powerpc64__)
/* -O3 turns this option on, -O2 does not. The pragma below turns it on for only some of the functions after it, and gcc
 * 12 then refuses to inline one of the others: "target specific option mismatch". */
#    pragma GCC target("no-power8-fusion-sign")
#  endif
#  pragma GCC optimize("O3", "no-tree-reassoc", "no-schedule-insns2")
#  if __GNUC__ >= 13 && (defined(__x86_64__) || defined(__i386__))
/* Below -O2, "O3" turns on -munroll-only-small-loops in functions with an array as a parameter, and not in the others,
 * which are then not inlined: the same error. A choice of the target makes all alike. */
#    pragma GCC target("tune=generic")
#  endif
#endif

/* A 32-bit caller's stack may be aligned to only 4 bytes (-mpreferred-stack-boundary=2, Windows, older binaries).
 * Compilers assume 16, as the ABI of Linux says, and keep vectors there. */
#if defined(__i386__)
#  define HLI_ANY_STACK __attribute__((force_align_arg_pointer))
#else
#  define HLI_ANY_STACK
#endif

#define BLOCK_BODY(body, name)
#define BODY(body, name) HLI_HIDDEN void hli_##name##_schedule_scalar(const uint8_t block[], void *schedule);
#define LANES(body, name, isa, nlanes, ...) \
    HLI_HIDDEN HLI_ANY_STACK hl_blocks_fn hli_##name##_blocks_##isa; \
    HLI_HIDDEN HLI_ANY_STACK hl_scheduled_fn hli_##name##_scheduled_##isa;
#define LANES2(body, name, isa, nlanes, beside, ...) \
    LANES(body, name, isa, nlanes, __VA_ARGS__) \
    HLI_HIDDEN HLI_ANY_STACK hli_whole_fn hli_##name##_whole_##isa; \
    HLI_HIDDEN HLI_ANY_STACK hli_words_fn hli_##name##_words_##isa;
#define KERNEL(body, function, isa, nlanes, ...) HLI_HIDDEN HLI_ANY_STACK hl_blocks_fn hli_##function;
#define KERNEL2(body, function, scheduled, whole, isa, nlanes, beside, ...) \
    HLI_HIDDEN HLI_ANY_STACK hl_blocks_fn hli_##function; \
    HLI_HIDDEN HLI_ANY_STACK hl_scheduled_fn hli_##scheduled; \
    HLI_HIDDEN HLI_ANY_STACK hli_whole_fn hli_##whole;
#define CHAIN(body, row, function, isa) HLI_HIDDEN HLI_ANY_STACK hli_chain_fn hli_##function;
#define EDGES(isa, pad, digests) \
    HLI_HIDDEN HLI_ANY_STACK hli_pad_fn hli_pad_##pad; \
    HLI_HIDDEN HLI_ANY_STACK hli_digests_fn hli_digests_##digests;
#define DETECT(isa, ...) \
    HLI_HIDDEN HLI_ANY_STACK hli_possible_fn hli_sha1dc_possible_##isa; \
    HLI_HIDDEN HLI_ANY_STACK hli_differ_fn hli_sha1dc_differ_##isa; \
    HLI_HIDDEN HLI_ANY_STACK hl_blocks_fn hli_sha1dc_blocks_##isa;
DETECT(scalar, 1)
#define CLEAR(isa) HLI_HIDDEN void hli_clear_##isa(void);
#include "registry.def"
