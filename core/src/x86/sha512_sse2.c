/* sha512_sse2.c: SHA-512 of one message over SSE2, for 32-bit x86, where a general register holds only half a word.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A round with its share of the schedule is 36 vector operations, 12 cycles on three ports. On Redwood Cove with gcc
 * 12.2 that is 2.0 to 2.3 times as fast as plain C at 32 bits. At 64 bits it would be slower than plain C (0.8), so it
 * is not compiled there.
 */
#include "../kernels.h"
#if HLI_X86 && !HLI_X86_64 && HLI_ISA(sse2) && HLI_ALG(sha512)
#  include "../words/sse2.lv.h"

#  define PAIRS_TARGET LV_KERNEL
#  define PAIRS_FN     LV_FN
#  define PAIRS_NAME   hli_sha512_blocks_sse2_x1

/* Two rotations of one word by one shift. Put a word's halves side by side as high:low and low:high, and shift both
 * right by n < 32: the lower 32 bits of the results are the halves of its rotation by n, or, exchanged, by n + 32. The
 * six rotations therefore take six shifts, not twelve, and the final shuffles bring those of a and e together. */
PAIRS_FN __m128i big_sigmas(__m128i ae)
{
    const __m128i a = _mm_shuffle_epi32(ae, _MM_SHUFFLE(2, 3, 3, 2));
    const __m128i e = _mm_shuffle_epi32(ae, _MM_SHUFFLE(0, 1, 1, 0));
    const __m128 a28 = _mm_castsi128_ps(_mm_srli_epi64(a, 28));
    const __m128 e14_18 = _mm_castsi128_ps(_mm_xor_si128(_mm_srli_epi64(e, 14), _mm_srli_epi64(e, 18)));
    const __m128 a34_39 = _mm_castsi128_ps(_mm_xor_si128(_mm_srli_epi64(a, 34 - 32), _mm_srli_epi64(a, 39 - 32)));
    const __m128 e41 = _mm_castsi128_ps(_mm_srli_epi64(e, 41 - 32));

    return _mm_castps_si128(_mm_xor_ps(_mm_shuffle_ps(e14_18, a28, _MM_SHUFFLE(2, 0, 2, 0)),
                                       _mm_shuffle_ps(e41, a34_39, _MM_SHUFFLE(0, 2, 0, 2))));
}

PAIRS_FN __m128i maj_ch(__m128i ae, __m128i bf, __m128i cg)
{
    const __m128i low = _mm_set_epi64x(0, -1);

    return _mm_xor_si128(_mm_and_si128(cg, _mm_or_si128(bf, low)), _mm_and_si128(ae, _mm_xor_si128(bf, cg)));
}

PAIRS_FN __m128i low_plus(__m128i dh, const uint64_t *p)
{
    return _mm_move_epi64(_mm_add_epi64(dh, _mm_loadl_epi64((const __m128i *)p)));
}

/* x >>> 1 ^ x >>> 8 ^ x >> 7, and x >>> 19 ^ x >>> 61 ^ x >> 6, with the shifts to one side nested. */
PAIRS_FN __m128i small_sigma0(__m128i x)
{
    const __m128i right = lv32_xor3(_mm_srli_epi64(x, 1), _mm_srli_epi64(x, 7), _mm_srli_epi64(x, 8));

    return lv32_xor3(right, _mm_slli_epi64(x, 63), _mm_slli_epi64(x, 56));
}

PAIRS_FN __m128i small_sigma1(__m128i x)
{
    const __m128i right = lv32_xor3(_mm_srli_epi64(x, 6), _mm_srli_epi64(x, 19), _mm_srli_epi64(x, 61));

    return lv32_xor3(right, _mm_slli_epi64(x, 45), _mm_slli_epi64(x, 3));
}

#  include "sha512_pairs.inc.h"
#endif
