/* neon.inc.h: shared by words/neon.lv.h and words/sha3.lv.h: all operations that FEAT_SHA3 does not improve.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by both after they define LV_FN. Little-endian only, as HLI_ARM64 says.
 */
typedef uint32x4_t lv32;
typedef uint64x2_t lv64;
#define LV32_LANES 4
#define LV64_LANES 2
#define LV_WRITTEN_OUT

#include "neon_load.inc.h"

LV_FN lv32 lv32_load(const uint32_t *p) { return vld1q_u32(p); }
LV_FN void lv32_store(uint32_t *p, lv32 x) { vst1q_u32(p, x); }
LV_FN lv32 lv32_splat(uint32_t c) { return vdupq_n_u32(c); }
LV_FN lv32 lv32_add(lv32 x, lv32 y) { return vaddq_u32(x, y); }
LV_FN lv32 lv32_xor(lv32 x, lv32 y) { return veorq_u32(x, y); }
LV_FN lv32 lv32_ch(lv32 x, lv32 y, lv32 z) { return vbslq_u32(x, y, z); }
/* Bits in which x and y differ are those of z; where x and y agree, either will do. */
LV_FN lv32 lv32_maj(lv32 x, lv32 y, lv32 z) { return vbslq_u32(veorq_u32(x, y), z, y); }
LV_FN lv32 lv32_orn_xor(lv32 x, lv32 y, lv32 z) { return veorq_u32(vornq_u32(x, y), z); }
#define lv32_sub(x, y) vsubq_u32(x, y)
#define lv32_shr(x, n) vshrq_n_u32(x, n)
/* The second shift inserts: it keeps the bits of the first. */
#define lv32_rol(x, n) vsriq_n_u32(vshlq_n_u32(x, n), x, 32 - (n))

LV_FN lv64 lv64_load(const uint64_t *p) { return vld1q_u64(p); }
LV_FN void lv64_store(uint64_t *p, lv64 x) { vst1q_u64(p, x); }
LV_FN lv64 lv64_splat(uint64_t c) { return vdupq_n_u64(c); }
LV_FN lv64 lv64_add(lv64 x, lv64 y) { return vaddq_u64(x, y); }
LV_FN lv64 lv64_ch(lv64 x, lv64 y, lv64 z) { return vbslq_u64(x, y, z); }
LV_FN lv64 lv64_maj(lv64 x, lv64 y, lv64 z) { return vbslq_u64(veorq_u64(x, y), z, y); }
LV_FN lv64 lv64_xor(lv64 x, lv64 y) { return veorq_u64(x, y); }
#define lv64_shr(x, n) vshrq_n_u64(x, n)

/* Four 4 x 4 transpositions, 16 bytes of each message at a time. */
LV_FN void lv32_load_block(lv32 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned i = 0; i < 16; i += 4)
        load_4x4(w + i, msg, offset + 4 * i, big_endian);
}

#define LV64_GROUP 2
LV_FN void lv64_load_words(lv64 w[LV64_GROUP], const uint8_t *const msg[], size_t offset, unsigned n)
{
    if (n == 1)
        w[0] = vreinterpretq_u64_u8(vcombine_u8(vld1_u8(msg[0] + offset), vld1_u8(msg[1] + offset)));
    else
        load_2x2(w, msg, offset, 0);
}

LV_FN void lv64_load_block(lv64 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned i = 0; i < 16; i += 2)
        load_2x2(w + i, msg, offset + 8 * i, big_endian);
}
