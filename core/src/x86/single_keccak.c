/* single_keccak.c: Keccak of one message: in general registers with BMI1 and BMI2, and in five vectors of AVX-512.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Compilers find andn and rorx themselves: a round of 25 words takes 130 operations instead of 180. Zen 4, cycles a
 * block, gcc 12 and clang 14: 933 and 961, in plain C 1,108 and 1,155.
 */
#include "../kernels.h"
#if HLI_X86_64 && HLI_ISA(avx2) && HLI_ALG(keccak) /* at 32 bits a word takes two registers */
#  define LV_ISA    avx2_x1
#  define LV_KERNEL __attribute__((target("bmi,bmi2")))
#  define LV_ONLY LV_KECCAK
#  include "../words/scalar.lv.h"
#  include "../alg/kernels.inc.h"
#endif

#if HLI_X86_64 && HLI_ISA(avx512) && HLI_ALG(keccak) /* 16 vectors are in use */
#  include <immintrin.h>

#  include "../words/padded.h"

/* A row y of the state, A[0, y] to A[4, y], is a vector. A round of FIPS 202 section 3.2 moves each word once across
 * vectors and once within one:
 *
 * - theta takes the parity of each column from the rows. While that sum, and its two rotations, are on their way, moves
 *   under a mask gather diagonals: lane x of diagonal d is A[x, 2 d + x mod 5], all of which pi moves to row d.
 * - theta's second half and rho work on diagonals as on rows. Lane x has column 2 d + x of the result then, so that chi
 *   is one operation on three permutations of the diagonal, of which two or three are not the identity.
 *
 * A round has 53 operations, 14 of them permutations, which only one port of Intel's cores executes. On Emerald Rapids
 * this kernel is 1.14 (gcc 12) and 1.08 (clang 14) times as fast as gcc 12's code in general registers; XKCP's code for
 * AVX-512 is 1.05 times as fast as the latter. (Chi across the vectors, and a transposition of its result, take 39
 * operations, but 19 of them wait for that port: 0.95.)
 */
static const uint64_t rho[5][8] __attribute__((aligned(64))) = {
    {0, 44, 43, 21, 14}, {3, 45, 61, 28, 20}, {18, 1, 6, 25, 8}, {36, 10, 15, 56, 27}, {41, 2, 62, 55, 39}};

/* Keeps the order of what makes x and what is below: clang puts theta's sum, which all waits for, behind the moves. */
#  define IN_ORDER(x) __asm__ volatile("" : "+v"(x))
#  define XOR3(x, y, z) _mm512_ternarylogic_epi64(x, y, z, 0x96)
#  define CHI(x, y, z)  _mm512_ternarylogic_epi64(x, y, z, 0xd2)
#  define LANES_FROM(n) _mm512_setr_epi64((n) % 5, ((n) + 1) % 5, ((n) + 2) % 5, ((n) + 3) % 5, ((n) + 4) % 5, 5, 6, 7)
#  define UNROLLED      _Pragma("GCC unroll 5")

PADDED_TARGET void hli_keccak_blocks_avx512_x1(void *state, const uint8_t *const msg[], size_t nblocks,
                                               unsigned block_nbytes)
{
    const __m512i from[5] = {LANES_FROM(0), LANES_FROM(1), LANES_FROM(2), LANES_FROM(3), LANES_FROM(4)};
    const __mmask64 words = lowest(block_nbytes / 8);
    const uint8_t *block = msg[0];
    uint64_t *s = state;
    __m512i a[5], b[5];

    UNROLLED
    for (unsigned y = 0; y < 5; y++)
        a[y] = _mm512_maskz_loadu_epi64(0x1f, s + 5 * y);
    for (; nblocks > 0; nblocks--, block += block_nbytes) {
        UNROLLED
        for (unsigned y = 0; y < 5; y++) /* masked words are not read */
            a[y] = _mm512_xor_si512(a[y], _mm512_maskz_loadu_epi64((__mmask8)(words >> 5 * y & 0x1f),
                                                                   (const void *)((uintptr_t)block + 40 * y)));
        for (const uint64_t *rc = hli_keccak_rc; rc < hli_keccak_rc + 24; rc++) {
            __m512i sum = XOR3(XOR3(a[0], a[1], a[2]), a[3], a[4]);
            IN_ORDER(sum);
            __m512i left = _mm512_permutexvar_epi64(from[4], sum);
            __m512i right = _mm512_rol_epi64(_mm512_permutexvar_epi64(from[1], sum), 1);
            IN_ORDER(left);
            IN_ORDER(right);
            UNROLLED
            for (unsigned d = 0; d < 5; d++)
                b[d] = a[0];
            UNROLLED
            for (unsigned y = 1; y < 5; y++) {
                UNROLLED
                for (unsigned d = 0; d < 5; d++) {
                    b[d] = _mm512_mask_mov_epi64(b[d], (__mmask8)(1 << (y + 3 * d) % 5), a[y]);
                    IN_ORDER(b[d]);
                }
            }
            UNROLLED
            for (unsigned d = 0; d < 5; d++)
                b[d] = _mm512_rolv_epi64(XOR3(b[d], left, right), _mm512_load_si512(rho[d]));
            UNROLLED
            for (unsigned y = 0; y < 5; y++) {
                __m512i x[3];
                UNROLLED
                for (unsigned i = 0; i < 3; i++)
                    x[i] = (i + 3 * y) % 5 == 0 ? b[y] : _mm512_permutexvar_epi64(from[(i + 3 * y) % 5], b[y]);
                if (y == 0)
                    x[0] = _mm512_xor_si512(x[0], _mm512_zextsi128_si512(_mm_loadl_epi64((const __m128i *)rc)));
                a[y] = CHI(x[0], x[1], x[2]);
                IN_ORDER(a[y]);
            }
        }
    }
    UNROLLED
    for (unsigned y = 0; y < 5; y++)
        _mm512_mask_storeu_epi64(s + 5 * y, 0x1f, a[y]);
}
#endif
