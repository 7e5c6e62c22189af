/* words/avx512vl.lv.h: the vocabulary of AVX-512 in 256-bit registers.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Half the lanes of words/avx512.lv.h, for half the messages: 256-bit operations issue three a cycle, 512-bit ones two.
 */
#include <immintrin.h>

#include "padded.h"

#define LV_ISA    avx512vl
#define LV_TARGET PADDED_TARGET
#define LV_WHOLES

#define X86_BITS 256
#define X86_TERNARY
#include "x86.inc.h"

LV_FN __m128i ended16(const uint8_t *data, size_t nbytes, size_t at, unsigned after)
{
    const ptrdiff_t left = (ptrdiff_t)(nbytes - at);
    const __mmask16 kept = (__mmask16)PADDED_KEPT_OF_LONG(left), upto = (__mmask16)PADDED_KEPT_OF_LONG(left + 1);

    if (after == 0x80) /* a literal */
        return padded16(data, at, kept, _mm_loadu_si128(PADDED_BEHIND(left)));
    return _mm_mask_mov_epi8(padded16(data, at, kept, _mm_setzero_si128()), kept ^ upto, _mm_set1_epi8((char)after));
}

#include "whole256.inc.h"
