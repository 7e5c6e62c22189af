/* words/neon_x2.h: eight lanes of 32 bits in two registers of NEON: the operations of RIPEMD-160.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <arm_neon.h>

#define LV_ISA    two_registers
#define LV_KERNEL HLI_INLINE
#define LV_FN     HLI_INLINE

typedef struct {
    uint32x4_t low, high; /* messages 0 to 3, and 4 to 7 */
} lv32;
#define LV32_LANES 8

#include "neon_load.inc.h"

LV_FN lv32 lv32_load(const uint32_t *p) { return (lv32){vld1q_u32(p), vld1q_u32(p + 4)}; }
LV_FN void lv32_store(uint32_t *p, lv32 x)
{
    vst1q_u32(p, x.low);
    vst1q_u32(p + 4, x.high);
}
LV_FN lv32 lv32_splat(uint32_t c) { return (lv32){vdupq_n_u32(c), vdupq_n_u32(c)}; }
LV_FN lv32 lv32_add(lv32 x, lv32 y) { return (lv32){vaddq_u32(x.low, y.low), vaddq_u32(x.high, y.high)}; }
LV_FN lv32 lv32_xor(lv32 x, lv32 y) { return (lv32){veorq_u32(x.low, y.low), veorq_u32(x.high, y.high)}; }
LV_FN lv32 lv32_xor3(lv32 x, lv32 y, lv32 z) { return lv32_xor(lv32_xor(x, y), z); }
LV_FN lv32 lv32_ch(lv32 x, lv32 y, lv32 z)
{
    return (lv32){vbslq_u32(x.low, y.low, z.low), vbslq_u32(x.high, y.high, z.high)};
}
LV_FN lv32 lv32_orn_xor(lv32 x, lv32 y, lv32 z)
{
    return lv32_xor((lv32){vornq_u32(x.low, y.low), vornq_u32(x.high, y.high)}, z);
}
#define lv32_rol(x, n) \
    __extension__({ \
        const lv32 whole_ = (x); \
        (lv32){vsriq_n_u32(vshlq_n_u32(whole_.low, n), whole_.low, 32 - (n)), \
               vsriq_n_u32(vshlq_n_u32(whole_.high, n), whole_.high, 32 - (n))}; \
    })

LV_FN void lv32_load_block(lv32 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned i = 0; i < 16; i += 4) {
        uint32x4_t low[4], high[4];
        load_4x4(low, msg, offset + 4 * i, big_endian);
        load_4x4(high, msg + 4, offset + 4 * i, big_endian);
        for (unsigned j = 0; j < 4; j++)
            w[i + j] = (lv32){low[j], high[j]};
    }
}
