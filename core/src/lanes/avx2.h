/* lanes/avx2.h: the vocabulary of AVX2: eight lanes of 32 bits.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <immintrin.h>

#define LV_ISA    avx2
#define LV_TARGET __attribute__((target("avx2")))
#define LV_KERNEL LV_TARGET
#define LV_FN     LV_TARGET HLI_INLINE

typedef __m256i lv32;
#define LV32_LANES 8

LV_FN lv32 lv32_load(const uint32_t *p) { return _mm256_load_si256((const __m256i *)p); }
LV_FN void lv32_store(uint32_t *p, lv32 x) { _mm256_store_si256((__m256i *)p, x); }
LV_FN lv32 lv32_splat(uint32_t c) { return _mm256_set1_epi32((int)c); }
LV_FN lv32 lv32_add(lv32 x, lv32 y) { return _mm256_add_epi32(x, y); }
LV_FN lv32 lv32_xor(lv32 x, lv32 y) { return _mm256_xor_si256(x, y); }
LV_FN lv32 lv32_xor3(lv32 x, lv32 y, lv32 z) { return _mm256_xor_si256(_mm256_xor_si256(x, y), z); }
LV_FN lv32 lv32_ch(lv32 x, lv32 y, lv32 z)
{
    return _mm256_xor_si256(z, _mm256_and_si256(x, _mm256_xor_si256(y, z)));
}
LV_FN lv32 lv32_maj(lv32 x, lv32 y, lv32 z)
{
    return _mm256_or_si256(_mm256_and_si256(x, y), _mm256_and_si256(z, _mm256_or_si256(x, y)));
}
#define lv32_shr(x, n) _mm256_srli_epi32(x, n)
#define lv32_rol(x, n) _mm256_or_si256(_mm256_slli_epi32(x, n), _mm256_srli_epi32(x, 32 - (n)))

/* Messages i and i + 4 share a register, so that four 4 x 4 transpositions within 128-bit halves do: the halves are put
 * together by the loads (vinserti128 from memory), not by shuffles across them. */
LV_FN void lv32_load_block_be(lv32 w[16], const uint8_t *const msg[], size_t offset)
{
    const __m256i swap = _mm256_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 3, 2, 1, 0, 7, 6, 5, 4,
                                          11, 10, 9, 8, 15, 14, 13, 12);
    for (unsigned i = 0; i < 4; i++) {
        __m256i r[4];
        for (unsigned j = 0; j < 4; j++)
            r[j] = _mm256_inserti128_si256(
                _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(msg[j] + offset + 16 * i))),
                _mm_loadu_si128((const __m128i *)(msg[j + 4] + offset + 16 * i)), 1);
        const __m256i t0 = _mm256_unpacklo_epi32(r[0], r[1]), t1 = _mm256_unpackhi_epi32(r[0], r[1]);
        const __m256i t2 = _mm256_unpacklo_epi32(r[2], r[3]), t3 = _mm256_unpackhi_epi32(r[2], r[3]);
        w[4 * i + 0] = _mm256_shuffle_epi8(_mm256_unpacklo_epi64(t0, t2), swap);
        w[4 * i + 1] = _mm256_shuffle_epi8(_mm256_unpackhi_epi64(t0, t2), swap);
        w[4 * i + 2] = _mm256_shuffle_epi8(_mm256_unpacklo_epi64(t1, t3), swap);
        w[4 * i + 3] = _mm256_shuffle_epi8(_mm256_unpackhi_epi64(t1, t3), swap);
    }
}
