/* pshufb.inc.h: operations of 128-bit registers that are faster as a shuffle of bytes than by shifts: byte swaps, and
 * rotations by whole bytes, one operation instead of three.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by lanes/ssse3.h and avx.h after they define LV_TARGET.
 */
LV_TARGET HLI_INLINE __m128i swap_bytes32(__m128i x)
{
    return _mm_shuffle_epi8(x, _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
}
LV_TARGET HLI_INLINE __m128i swap_bytes64(__m128i x)
{
    return _mm_shuffle_epi8(x, _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
}

LV_TARGET HLI_INLINE __m128i rol8_32(__m128i x)
{
    return _mm_shuffle_epi8(x, _mm_setr_epi8(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14));
}
LV_TARGET HLI_INLINE __m128i ror8_64(__m128i x)
{
    return _mm_shuffle_epi8(x, _mm_setr_epi8(1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8));
}
/* RIPEMD-160 rotates by 8 bits to the left, SHA-512 by 8 to the right. */
#define lv32_rol(x, n) \
    ((n) == 8 ? rol8_32(x) : _mm_or_si128(_mm_slli_epi32(x, n), _mm_srli_epi32(x, 32 - (n))))
#define lv64_rol(x, n) \
    ((n) == 56 ? ror8_64(x) : _mm_or_si128(_mm_slli_epi64(x, n), _mm_srli_epi64(x, 64 - (n))))
