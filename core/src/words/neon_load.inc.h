/* neon_load.inc.h: words of several messages in one register. For the vocabularies of NEON, which define LV_FN first.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
LV_FN uint32x4_t words32_at(const uint8_t *p, int big_endian)
{
    return vreinterpretq_u32_u8(big_endian ? vrev32q_u8(vld1q_u8(p)) : vld1q_u8(p));
}
LV_FN uint64x2_t words64_at(const uint8_t *p, int big_endian)
{
    return vreinterpretq_u64_u8(big_endian ? vrev64q_u8(vld1q_u8(p)) : vld1q_u8(p));
}
LV_FN uint64x2_t as64(uint32x4_t x) { return vreinterpretq_u64_u32(x); }
LV_FN uint32x4_t as32(uint64x2_t x) { return vreinterpretq_u32_u64(x); }

/* Lane l of w[i] = the 32-bit word at msg[l] + at + 4 * i. */
LV_FN void load_4x4(uint32x4_t w[4], const uint8_t *const msg[], size_t at, int big_endian)
{
    const uint32x4_t r0 = words32_at(msg[0] + at, big_endian), r1 = words32_at(msg[1] + at, big_endian);
    const uint32x4_t r2 = words32_at(msg[2] + at, big_endian), r3 = words32_at(msg[3] + at, big_endian);
    const uint64x2_t even01 = as64(vtrn1q_u32(r0, r1)), odd01 = as64(vtrn2q_u32(r0, r1));
    const uint64x2_t even23 = as64(vtrn1q_u32(r2, r3)), odd23 = as64(vtrn2q_u32(r2, r3));

    w[0] = as32(vtrn1q_u64(even01, even23));
    w[1] = as32(vtrn1q_u64(odd01, odd23));
    w[2] = as32(vtrn2q_u64(even01, even23));
    w[3] = as32(vtrn2q_u64(odd01, odd23));
}

/* Likewise the 64-bit word at msg[l] + at + 8 * i. */
LV_FN void load_2x2(uint64x2_t w[2], const uint8_t *const msg[], size_t at, int big_endian)
{
    const uint64x2_t r0 = words64_at(msg[0] + at, big_endian), r1 = words64_at(msg[1] + at, big_endian);

    w[0] = vtrn1q_u64(r0, r1);
    w[1] = vtrn2q_u64(r0, r1);
}
