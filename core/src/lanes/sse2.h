/* lanes/sse2.h: the vocabulary of SSE2: four lanes of 32 bits.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <emmintrin.h>

#define LV_ISA    sse2
#define LV_TARGET __attribute__((target("sse2")))
#define LV_KERNEL LV_TARGET
#define LV_FN     LV_TARGET HLI_INLINE

typedef __m128i lv32;
#define LV32_LANES 4

LV_FN lv32 lv32_load(const uint32_t *p) { return _mm_load_si128((const __m128i *)p); }
LV_FN void lv32_store(uint32_t *p, lv32 x) { _mm_store_si128((__m128i *)p, x); }
LV_FN lv32 lv32_splat(uint32_t c) { return _mm_set1_epi32((int)c); }
LV_FN lv32 lv32_add(lv32 x, lv32 y) { return _mm_add_epi32(x, y); }
LV_FN lv32 lv32_xor(lv32 x, lv32 y) { return _mm_xor_si128(x, y); }
LV_FN lv32 lv32_xor3(lv32 x, lv32 y, lv32 z) { return _mm_xor_si128(_mm_xor_si128(x, y), z); }
LV_FN lv32 lv32_ch(lv32 x, lv32 y, lv32 z) { return _mm_xor_si128(z, _mm_and_si128(x, _mm_xor_si128(y, z))); }
LV_FN lv32 lv32_maj(lv32 x, lv32 y, lv32 z)
{
    return _mm_or_si128(_mm_and_si128(x, y), _mm_and_si128(z, _mm_or_si128(x, y)));
}
#define lv32_shr(x, n) _mm_srli_epi32(x, n)
#define lv32_rol(x, n) _mm_or_si128(_mm_slli_epi32(x, n), _mm_srli_epi32(x, 32 - (n)))

/* Without a byte shuffle: exchange the 16-bit halves of each word, then the bytes of each half. */
LV_FN __m128i swap_bytes_of_words(__m128i x)
{
    x = _mm_shufflehi_epi16(_mm_shufflelo_epi16(x, 0xb1), 0xb1);
    return _mm_or_si128(_mm_slli_epi16(x, 8), _mm_srli_epi16(x, 8));
}

/* Four 4 x 4 transpositions, 16 bytes of each message at a time. */
LV_FN void lv32_load_block_be(lv32 w[16], const uint8_t *const msg[], size_t offset)
{
    for (unsigned i = 0; i < 4; i++) {
        const size_t at = offset + 16 * i;
        const __m128i r0 = _mm_loadu_si128((const __m128i *)(msg[0] + at));
        const __m128i r1 = _mm_loadu_si128((const __m128i *)(msg[1] + at));
        const __m128i r2 = _mm_loadu_si128((const __m128i *)(msg[2] + at));
        const __m128i r3 = _mm_loadu_si128((const __m128i *)(msg[3] + at));
        const __m128i t0 = _mm_unpacklo_epi32(r0, r1), t1 = _mm_unpackhi_epi32(r0, r1);
        const __m128i t2 = _mm_unpacklo_epi32(r2, r3), t3 = _mm_unpackhi_epi32(r2, r3);
        w[4 * i + 0] = swap_bytes_of_words(_mm_unpacklo_epi64(t0, t2));
        w[4 * i + 1] = swap_bytes_of_words(_mm_unpackhi_epi64(t0, t2));
        w[4 * i + 2] = swap_bytes_of_words(_mm_unpacklo_epi64(t1, t3));
        w[4 * i + 3] = swap_bytes_of_words(_mm_unpackhi_epi64(t1, t3));
    }
}
