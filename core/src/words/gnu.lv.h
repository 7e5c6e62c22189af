/* words/gnu.lv.h: the vocabulary over the vector types of gcc and clang: four lanes of 32 bits or two
 * of 64, on targets without a vocabulary of their own that have such vectors in their baseline (HLI_VECTORS).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The compiler maps the operators to what the target's baseline has (VX, VSX).
 */
#define LV_ISA    gnu
#define LV_KERNEL
#define LV_FN     HLI_INLINE

typedef uint32_t lv32 __attribute__((vector_size(16)));
typedef uint64_t lv64 __attribute__((vector_size(16)));
#define LV32_LANES 4
#define LV64_LANES 2

#include "operators.inc.h"

HLI_INLINE void lv32_load_block(lv32 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned i = 0; i < 16; i++) {
        const size_t at = offset + 4 * i;
        w[i] = (lv32){hli_load32(msg[0] + at, big_endian), hli_load32(msg[1] + at, big_endian),
                      hli_load32(msg[2] + at, big_endian), hli_load32(msg[3] + at, big_endian)};
    }
}

#define LV64_GROUP 1
HLI_INLINE void lv64_load_words(lv64 w[LV64_GROUP], const uint8_t *const msg[], size_t offset, unsigned n)
{
    (void)n;
    w[0] = (lv64){hli_load64(msg[0] + offset, 0), hli_load64(msg[1] + offset, 0)};
}

HLI_INLINE void lv64_load_block(lv64 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned i = 0; i < 16; i++)
        w[i] = (lv64){hli_load64(msg[0] + offset + 8 * i, big_endian), hli_load64(msg[1] + offset + 8 * i, big_endian)};
}
