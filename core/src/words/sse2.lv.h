/* words/sse2.lv.h: the vocabulary of SSE2.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <emmintrin.h>

#define LV_ISA    sse2
#if HLI_X86_64
#  define LV_NO_64
#endif
#define LV_TARGET __attribute__((target("sse2")))
#define LV_PAIRS

/* SSE2 has no byte shuffle: exchange the 16-bit parts of each word, then the bytes of each part. */
#define X86_NO_PSHUFB
LV_TARGET HLI_INLINE __m128i swap_bytes_of_parts(__m128i x)
{
    return _mm_or_si128(_mm_slli_epi16(x, 8), _mm_srli_epi16(x, 8));
}
LV_TARGET HLI_INLINE __m128i swap32(__m128i x)
{
    return swap_bytes_of_parts(_mm_shufflehi_epi16(_mm_shufflelo_epi16(x, 0xb1), 0xb1));
}
LV_TARGET HLI_INLINE __m128i swap64(__m128i x)
{
    return swap_bytes_of_parts(_mm_shufflehi_epi16(_mm_shufflelo_epi16(x, 0x1b), 0x1b));
}

#define X86_BITS 128
#include "x86.inc.h"
