/* sha512_avx512vl.c: SHA-512 of one message over AVX-512VL, for 32-bit x86. A rotation of both halves by different
 * counts is one instruction, as is any function of three bits. In 64-bit code the rounds of single_sha2.inc.h are 7%
 * faster (134 ns a block against 143).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86 && !HLI_X86_64 && HLI_ISA(avx512vl) && HLI_ALG(sha512)
#  include <immintrin.h>

#  define PAIRS_TARGET __attribute__((target("avx512f,avx512bw,avx512vl")))
#  define PAIRS_FN     PAIRS_TARGET HLI_INLINE
#  define PAIRS_NAME   hli_sha512_blocks_avx512vl_pairs_x1

#  define XOR3(x, y, z) _mm_ternarylogic_epi64(x, y, z, 0x96)

PAIRS_FN __m128i big_sigmas(__m128i ae)
{
    return XOR3(_mm_rorv_epi64(ae, _mm_set_epi64x(28, 14)), _mm_rorv_epi64(ae, _mm_set_epi64x(34, 18)),
                _mm_rorv_epi64(ae, _mm_set_epi64x(39, 41)));
}

/* The bits of ae choose between [b | c|f] and [b & c|g], which are both ready before ae is. (Two operations instead of
 * three, with ae ^ [c|0] choosing between bf and cg, lengthen the chain from round to round: 5% slower with gcc 12.) */
PAIRS_FN __m128i maj_ch(__m128i ae, __m128i bf, __m128i cg)
{
    const __m128i high = _mm_set_epi64x(-1, 0);
    const __m128i ones = _mm_ternarylogic_epi64(bf, cg, high, 0xf8), zeros = _mm_ternarylogic_epi64(bf, cg, high, 0xc4);

    return _mm_ternarylogic_epi64(ae, ones, zeros, 0xca);
}

PAIRS_FN __m128i low_plus(__m128i dh, const uint64_t *p)
{
    return _mm_maskz_add_epi64(1, dh, _mm_set1_epi64x((long long)*p));
}

PAIRS_FN __m128i small_sigma0(__m128i x)
{
    return XOR3(_mm_ror_epi64(x, 1), _mm_ror_epi64(x, 8), _mm_srli_epi64(x, 7));
}

PAIRS_FN __m128i small_sigma1(__m128i x)
{
    return XOR3(_mm_ror_epi64(x, 19), _mm_ror_epi64(x, 61), _mm_srli_epi64(x, 6));
}

PAIRS_FN __m128i swap64(__m128i x)
{
    return _mm_shuffle_epi8(x, _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
}

#  include "sha512_pairs.inc.h"
#endif
