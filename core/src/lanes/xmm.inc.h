/* xmm.inc.h: the part of a vocabulary that SSE2, SSSE3 and AVX share: four lanes of 32 bits, two of 64.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by lanes/sse2.h, ssse3.h and avx.h after they define LV_TARGET, swap_bytes32() and swap_bytes64().
 */
#define LV_KERNEL LV_TARGET
#define LV_SHARED LV_TARGET HLI_NOINLINE __attribute__((unused)) static
#define LV_FN     LV_TARGET HLI_INLINE

typedef __m128i lv32, lv64;
#define LV32_LANES 4
#define LV64_LANES 2

LV_FN lv32 lv32_load(const uint32_t *p) { return _mm_load_si128((const __m128i *)p); }
LV_FN void lv32_store(uint32_t *p, lv32 x) { _mm_store_si128((__m128i *)p, x); }
LV_FN lv32 lv32_splat(uint32_t c) { return _mm_set1_epi32((int)c); }
LV_FN lv32 lv32_add(lv32 x, lv32 y) { return _mm_add_epi32(x, y); }
LV_FN lv32 lv32_xor(lv32 x, lv32 y) { return _mm_xor_si128(x, y); }
LV_FN lv32 lv32_xor3(lv32 x, lv32 y, lv32 z) { return _mm_xor_si128(_mm_xor_si128(x, y), z); }
LV_FN lv32 lv32_ch(lv32 x, lv32 y, lv32 z)
{
    return _mm_xor_si128(z, _mm_and_si128(x, _mm_xor_si128(y, z)));
}
LV_FN lv32 lv32_maj(lv32 x, lv32 y, lv32 z)
{
    return _mm_or_si128(_mm_and_si128(x, y), _mm_and_si128(z, _mm_or_si128(x, y)));
}
#define lv32_sub(x, y) _mm_sub_epi32(x, y)
#define lv32_and(x, y) _mm_and_si128(x, y)
#define lv32_andn(x, y) _mm_andnot_si128(x, y)
#define lv64_and(x, y) _mm_and_si128(x, y)
#define lv64_xor(x, y) _mm_xor_si128(x, y)
LV_FN lv32 lv32_orn_xor(lv32 x, lv32 y, lv32 z)
{
    return _mm_xor_si128(_mm_or_si128(x, _mm_xor_si128(y, _mm_set1_epi32(-1))), z);
}
#define lv32_shr(x, n) _mm_srli_epi32(x, n)

LV_FN lv64 lv64_load(const uint64_t *p) { return _mm_load_si128((const __m128i *)p); }
LV_FN void lv64_store(uint64_t *p, lv64 x) { _mm_store_si128((__m128i *)p, x); }
LV_FN lv64 lv64_splat(uint64_t c) { return _mm_set1_epi64x((long long)c); }
LV_FN lv64 lv64_add(lv64 x, lv64 y) { return _mm_add_epi64(x, y); }
#define lv64_xor3(x, y, z) lv32_xor3(x, y, z)
#define lv64_ch(x, y, z)   lv32_ch(x, y, z)
#define lv64_maj(x, y, z)  lv32_maj(x, y, z)
#define lv64_shr(x, n)     _mm_srli_epi64(x, n)

/* Four 4 x 4 transpositions, 16 bytes of each message at a time. */
LV_FN void lv32_load_block(lv32 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned i = 0; i < 16; i += 4) {
        const size_t at = offset + 4 * i;
        const __m128i r0 = _mm_loadu_si128((const __m128i *)(msg[0] + at));
        const __m128i r1 = _mm_loadu_si128((const __m128i *)(msg[1] + at));
        const __m128i r2 = _mm_loadu_si128((const __m128i *)(msg[2] + at));
        const __m128i r3 = _mm_loadu_si128((const __m128i *)(msg[3] + at));
        const __m128i t0 = _mm_unpacklo_epi32(r0, r1), t1 = _mm_unpackhi_epi32(r0, r1);
        const __m128i t2 = _mm_unpacklo_epi32(r2, r3), t3 = _mm_unpackhi_epi32(r2, r3);
        w[i + 0] = _mm_unpacklo_epi64(t0, t2);
        w[i + 1] = _mm_unpackhi_epi64(t0, t2);
        w[i + 2] = _mm_unpacklo_epi64(t1, t3);
        w[i + 3] = _mm_unpackhi_epi64(t1, t3);
        for (unsigned j = i; big_endian && j < i + 4; j++)
            w[j] = swap_bytes32(w[j]);
    }
}

#define lv64_chi(x, y, z) _mm_xor_si128(x, _mm_andnot_si128(y, z))
#define LV64_GROUP 2
LV_FN void lv64_load_words(lv64 w[LV64_GROUP], const uint8_t *const msg[], size_t offset, unsigned n)
{
    if (n == 1) {
        w[0] = _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)(msg[0] + offset)),
                                  _mm_loadl_epi64((const __m128i *)(msg[1] + offset)));
        return;
    }
    const __m128i r0 = _mm_loadu_si128((const __m128i *)(msg[0] + offset));
    const __m128i r1 = _mm_loadu_si128((const __m128i *)(msg[1] + offset));
    w[0] = _mm_unpacklo_epi64(r0, r1);
    w[1] = _mm_unpackhi_epi64(r0, r1);
}

LV_FN void lv64_load_block(lv64 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned i = 0; i < 16; i += 2) {
        const __m128i r0 = _mm_loadu_si128((const __m128i *)(msg[0] + offset + 8 * i));
        const __m128i r1 = _mm_loadu_si128((const __m128i *)(msg[1] + offset + 8 * i));
        w[i + 0] = _mm_unpacklo_epi64(r0, r1);
        w[i + 1] = _mm_unpackhi_epi64(r0, r1);
        for (unsigned j = i; big_endian && j < i + 2; j++)
            w[j] = swap_bytes64(w[j]);
    }
}
