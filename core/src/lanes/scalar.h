/* lanes/scalar.h: the vocabulary of plain C: a vector is one word, and a lane kernel becomes the portable kernel.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define LV_ISA    scalar
#define LV_KERNEL

typedef uint32_t lv32;
#define LV32_LANES 1

#include "operators.inc.h"

HLI_INLINE void lv32_load_block_be(lv32 w[16], const uint8_t *const msg[], size_t offset)
{
    for (unsigned i = 0; i < 16; i++)
        w[i] = hli_load_be32(msg[0] + offset + 4 * i);
}
