/* words/avx2.lv.h: the vocabulary of AVX2.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <immintrin.h>

#include "../edges.h"

#define LV_ISA    avx2
#define LV_TARGET __attribute__((target("avx2")))
#define LV_PAIRS
#define LV_WHOLES
#if HLI_X86_64 /* 16 registers */
#  define LV_BLAKE_ROUNDS
#endif

#define X86_BITS 256
#include "x86.inc.h"

/* lv32_load_block of little-endian words by blends, which any port does, where vinserti128 has one on AMD. On Zen 3
 * BLAKE3 takes 0.99 of the time; SHA-1 and MD5 would take 1.01. */
LV_FN __m256i blended(const uint8_t *const msg[], unsigned l, size_t at)
{
    return _mm256_blend_epi32(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(msg[l] + at))),
                              _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(msg[l + 4] + at))), 0xf0);
}
LV_FN void lv32_load_blended(lv32 w[16], const uint8_t *const msg[], size_t offset)
{
    for (size_t i = 0, at = offset; i < 16; i += 4, at += 16)
        transpose32(w + i, blended(msg, 0, at), blended(msg, 1, at), blended(msg, 2, at), blended(msg, 3, at));
}

/* A table has the bytes behind the end: the load begins where the one bit falls right behind the message. */
LV_FN __m128i ended16(const uint8_t *data, size_t nbytes, size_t at, unsigned after)
{
    const ptrdiff_t left = (ptrdiff_t)(nbytes - at);

    if (left >= 16)
        return _mm_loadu_si128((const __m128i *)(data + at));
    __m128i behind = _mm_loadu_si128((const __m128i *)(hli_one_bit + HLI_ONE_BIT_AT - left));
    if (after != 0x80)
        behind = _mm_and_si128(_mm_cmpeq_epi8(behind, _mm_set1_epi8((char)0x80)), _mm_set1_epi8((char)after));
    if (left <= 0)
        return behind;
    if (nbytes >= 16) { /* the last 16 bytes, moved down */
        const __m128i from = _mm_loadu_si128((const __m128i *)(hli_last_first + 16 - left));
        return _mm_or_si128(behind, _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(data + nbytes - 16)), from));
    }
    return _mm_or_si128(behind, (__m128i)hli_load_short(data, nbytes));
}

#include "whole256.inc.h"
