/* lanes/avx2.h: the vocabulary of AVX2.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <immintrin.h>

#define LV_ISA    avx2
#define LV_TARGET __attribute__((target("avx2")))
#define LV_PAIRS

#include "ymm.inc.h"

LV_FN lv32 lv32_xor3(lv32 x, lv32 y, lv32 z) { return _mm256_xor_si256(_mm256_xor_si256(x, y), z); }
LV_FN lv32 lv32_ch(lv32 x, lv32 y, lv32 z)
{
    return _mm256_xor_si256(z, _mm256_and_si256(x, _mm256_xor_si256(y, z)));
}
LV_FN lv32 lv32_maj(lv32 x, lv32 y, lv32 z)
{
    return _mm256_or_si256(_mm256_and_si256(x, y), _mm256_and_si256(z, _mm256_or_si256(x, y)));
}
#define lv32_and(x, y) _mm256_and_si256(x, y)
#define lv32_andn(x, y) _mm256_andnot_si256(x, y)
#define lv64_and(x, y) _mm256_and_si256(x, y)
#define lv64_xor(x, y) _mm256_xor_si256(x, y)
LV_FN lv32 lv32_orn_xor(lv32 x, lv32 y, lv32 z)
{
    return _mm256_xor_si256(_mm256_or_si256(x, _mm256_xor_si256(y, _mm256_set1_epi32(-1))), z);
}

/* A rotation by whole bytes is one shuffle: 8 bits left are in RIPEMD-160, 8 right in SHA-512. */
LV_FN __m256i rol8_32(__m256i x)
{
    return _mm256_shuffle_epi8(x, _mm256_setr_epi8(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14,
                                                   3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14));
}
LV_FN __m256i ror8_64(__m256i x)
{
    return _mm256_shuffle_epi8(x, _mm256_setr_epi8(1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8,
                                                   1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8));
}
#define lv32_rol(x, n) \
    ((n) == 8 ? rol8_32(x) : _mm256_or_si256(_mm256_slli_epi32(x, n), _mm256_srli_epi32(x, 32 - (n))))
#define lv64_rol(x, n) \
    ((n) == 56 ? ror8_64(x) : _mm256_or_si256(_mm256_slli_epi64(x, n), _mm256_srli_epi64(x, 64 - (n))))
