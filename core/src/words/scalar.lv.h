/* words/scalar.lv.h: the vocabulary of plain C: a vector is one word, and a lane kernel becomes the portable kernel.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef LV_ISA /* also for instructions that a compiler finds itself (x86/single_keccak.c) */
#  define LV_ISA    scalar
#  define LV_KERNEL
/* At 32 bits a word takes two registers, and the state is copied in any case. (V8 11.3, Emerald Rapids, SHA3-256 of 16
 * KB: 56.4 -> 49.3 us.) */
#  if HLI_X86_64 || defined(__wasm__)
#    define LV_NO_ANDN
#  endif
#endif
#define LV_FN HLI_INLINE
#if HLI_X86
#  define LV_FEW_REGISTERS
#endif
/* WebAssembly has no registers to lack, and V8 11.3 finds its own better so (clang 19, Zen 4: SHA-256 214 -> 195 ns,
 * SHA-512 283 -> 257). With vectors, wasm/single.c takes less. */
#if defined(__wasm__) && !HLI_WASM
#  define LV_WRITTEN_OUT
#  define LV_RELOAD(pointer) HLI_NEW_POINTER(pointer)
#endif

typedef uint32_t lv32;
typedef uint64_t lv64;
#define LV32_LANES 1
#define LV64_LANES 1

#include "operators.inc.h"

HLI_INLINE void lv32_load_block(lv32 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned i = 0; i < 16; i++)
        w[i] = hli_load32(msg[0] + offset + 4 * i, big_endian);
}

#define LV64_GROUP 1
HLI_INLINE void lv64_load_words(lv64 w[LV64_GROUP], const uint8_t *const msg[], size_t offset, unsigned n)
{
    (void)n;
    w[0] = hli_load64(msg[0] + offset, 0);
}

HLI_INLINE void lv64_load_block(lv64 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned i = 0; i < 16; i++)
        w[i] = hli_load64(msg[0] + offset + 8 * i, big_endian);
}
