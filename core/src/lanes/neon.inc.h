/* neon.inc.h: what lanes/neon.h and lanes/sha3.h share: everything but the operations that FEAT_SHA3 has better.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by both, which have defined LV_FN. Little-endian only, as HLI_ARM64 says.
 */
typedef uint32x4_t lv32;
typedef uint64x2_t lv64;
#define LV32_LANES 4
#define LV64_LANES 2

LV_FN lv32 lv32_load(const uint32_t *p) { return vld1q_u32(p); }
LV_FN void lv32_store(uint32_t *p, lv32 x) { vst1q_u32(p, x); }
LV_FN lv32 lv32_splat(uint32_t c) { return vdupq_n_u32(c); }
LV_FN lv32 lv32_add(lv32 x, lv32 y) { return vaddq_u32(x, y); }
LV_FN lv32 lv32_xor(lv32 x, lv32 y) { return veorq_u32(x, y); }
LV_FN lv32 lv32_ch(lv32 x, lv32 y, lv32 z) { return vbslq_u32(x, y, z); }
/* Where x and y differ z decides, and where they do not either will do. */
LV_FN lv32 lv32_maj(lv32 x, lv32 y, lv32 z) { return vbslq_u32(veorq_u32(x, y), z, y); }
LV_FN lv32 lv32_orn_xor(lv32 x, lv32 y, lv32 z) { return veorq_u32(vornq_u32(x, y), z); }
#define lv32_shr(x, n) vshrq_n_u32(x, n)
/* The second shift inserts: it leaves the bits that the first has put there. */
#define lv32_rol(x, n) vsriq_n_u32(vshlq_n_u32(x, n), x, 32 - (n))

LV_FN lv64 lv64_load(const uint64_t *p) { return vld1q_u64(p); }
LV_FN void lv64_store(uint64_t *p, lv64 x) { vst1q_u64(p, x); }
LV_FN lv64 lv64_splat(uint64_t c) { return vdupq_n_u64(c); }
LV_FN lv64 lv64_add(lv64 x, lv64 y) { return vaddq_u64(x, y); }
LV_FN lv64 lv64_ch(lv64 x, lv64 y, lv64 z) { return vbslq_u64(x, y, z); }
LV_FN lv64 lv64_maj(lv64 x, lv64 y, lv64 z) { return vbslq_u64(veorq_u64(x, y), z, y); }
#define lv64_shr(x, n) vshrq_n_u64(x, n)

/* Sixteen bytes of a message as words. */
LV_FN lv32 words32_at(const uint8_t *p, int big_endian)
{
    return vreinterpretq_u32_u8(big_endian ? vrev32q_u8(vld1q_u8(p)) : vld1q_u8(p));
}
LV_FN lv64 words64_at(const uint8_t *p, int big_endian)
{
    return vreinterpretq_u64_u8(big_endian ? vrev64q_u8(vld1q_u8(p)) : vld1q_u8(p));
}
LV_FN lv64 as64(lv32 x) { return vreinterpretq_u64_u32(x); }
LV_FN lv32 as32(lv64 x) { return vreinterpretq_u32_u64(x); }

/* Four 4 x 4 transpositions, 16 bytes of each message at a time. */
LV_FN void lv32_load_block(lv32 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned i = 0; i < 16; i += 4) {
        const size_t at = offset + 4 * i;
        const lv32 r0 = words32_at(msg[0] + at, big_endian), r1 = words32_at(msg[1] + at, big_endian);
        const lv32 r2 = words32_at(msg[2] + at, big_endian), r3 = words32_at(msg[3] + at, big_endian);
        const lv64 even01 = as64(vtrn1q_u32(r0, r1)), odd01 = as64(vtrn2q_u32(r0, r1));
        const lv64 even23 = as64(vtrn1q_u32(r2, r3)), odd23 = as64(vtrn2q_u32(r2, r3));
        w[i + 0] = as32(vtrn1q_u64(even01, even23));
        w[i + 1] = as32(vtrn1q_u64(odd01, odd23));
        w[i + 2] = as32(vtrn2q_u64(even01, even23));
        w[i + 3] = as32(vtrn2q_u64(odd01, odd23));
    }
}

LV_FN void lv64_load_block(lv64 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned i = 0; i < 16; i += 2) {
        const lv64 r0 = words64_at(msg[0] + offset + 8 * i, big_endian);
        const lv64 r1 = words64_at(msg[1] + offset + 8 * i, big_endian);
        w[i + 0] = vtrn1q_u64(r0, r1);
        w[i + 1] = vtrn2q_u64(r0, r1);
    }
}
