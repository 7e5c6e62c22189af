/* lanes/sse2.h: the vocabulary of SSE2.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <emmintrin.h>

#define LV_ISA    sse2
#define LV_TARGET __attribute__((target("sse2")))
#define LV_PAIRS

/* SSE2 has no byte shuffle: exchange the 16-bit parts of each word, then the bytes of each part. */
LV_TARGET HLI_INLINE __m128i swap_bytes_of_parts(__m128i x)
{
    return _mm_or_si128(_mm_slli_epi16(x, 8), _mm_srli_epi16(x, 8));
}
LV_TARGET HLI_INLINE __m128i swap_bytes32(__m128i x)
{
    return swap_bytes_of_parts(_mm_shufflehi_epi16(_mm_shufflelo_epi16(x, 0xb1), 0xb1));
}
LV_TARGET HLI_INLINE __m128i swap_bytes64(__m128i x)
{
    return swap_bytes_of_parts(_mm_shufflehi_epi16(_mm_shufflelo_epi16(x, 0x1b), 0x1b));
}

#define lv32_rol(x, n) _mm_or_si128(_mm_slli_epi32(x, n), _mm_srli_epi32(x, 32 - (n)))
#define lv64_rol(x, n) _mm_or_si128(_mm_slli_epi64(x, n), _mm_srli_epi64(x, 64 - (n)))

#include "xmm.inc.h"
