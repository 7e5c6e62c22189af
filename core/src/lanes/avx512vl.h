/* lanes/avx512vl.h: the vocabulary of AVX-512 in 256-bit registers.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Half the lanes of lanes/avx512.h, for half the messages: 256-bit operations issue three a cycle, 512-bit ones two.
 */
#include <immintrin.h>

#include "../x86/padded.h"

#define LV_ISA    avx512vl
#define LV_TARGET PADDED_TARGET

#define X86_BITS 256
#define X86_TERNARY
#include "x86.inc.h"

/* 16 bytes of a message of which `left` bytes are left, its suffix, and zeros. */
LV_FN __m128i suffixed16(const uint8_t *data, size_t at, ptrdiff_t left, __m128i suffix)
{
    const __mmask16 kept = (__mmask16)PADDED_KEPT_OF_LONG(left), upto = (__mmask16)PADDED_KEPT_OF_LONG(left + 1);

    return _mm_mask_mov_epi8(padded16(data, at, kept, _mm_setzero_si128()), kept ^ upto, suffix);
}

#define LV_SPONGE_WHOLES
LV_FN void lv64_load_padded_words(lv64 w[LV64_GROUP], const struct hli_whole *whole, const uint8_t *const data[],
                                  const size_t nbytes[], unsigned b, unsigned i)
{
    const __m128i suffix = _mm_set1_epi8((char)whole->suffix);
    const size_t at = b * (size_t)whole->block_nbytes + 8 * i;
    __m128i r[4];

    for (unsigned l = 0; l < 4; l++)
        r[l] = suffixed16(data[l], at, (ptrdiff_t)(nbytes[l] - at), suffix);
    const __m256i r0 = _mm256_inserti128_si256(_mm256_castsi128_si256(r[0]), r[2], 1);
    const __m256i r1 = _mm256_inserti128_si256(_mm256_castsi128_si256(r[1]), r[3], 1);
    w[0] = _mm256_unpacklo_epi64(r0, r1);
    w[1] = _mm256_unpackhi_epi64(r0, r1);
}
