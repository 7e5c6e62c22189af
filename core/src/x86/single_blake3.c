/* single_blake3.c: BLAKE3 of one message over AVX: a row of the state is a register.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The four columns are the lanes (BLAKE3, 2020, section 5.3). For the diagonals the rows a, c and d turn, as b is the
 * one that a round waits for. m[0] to m[3] are the words that a round adds, in its order; between rounds they change
 * places. Zen 3, gcc 12.2, beside plain C: 225 of 240 cycles for a block of a long message; a message of 64 bytes takes
 * 0.65 of the time, one of 256 bytes 0.77.
 */
#include "../kernels.h"
#if HLI_X86_64 && HLI_ISA(avx) && HLI_ALG(blake3)
#  include <smmintrin.h> /* in the encoding of AVX */

#  include "../lanes/avx.h"

#  define WORDS(x, i, j, k, l) _mm_shuffle_epi32(x, _MM_SHUFFLE(l, k, j, i))
#  define TWO_OF_EACH(x, y, i, j, k, l) \
      _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(x), _mm_castsi128_ps(y), _MM_SHUFFLE(l, k, j, i)))
#  define REPLACED(x, y, words) /* the words of y where there is a bit */ \
      _mm_castps_si128(_mm_blend_ps(_mm_castsi128_ps(x), _mm_castsi128_ps(y), words))
#  define LOAD(p)     _mm_loadu_si128((const __m128i *)(p))
#  define STORE(p, x) _mm_storeu_si128((__m128i *)(p), x)

/* Half of a round's mixing functions, for R1 and R2 or R3 and R4. */
#  define MIX(m, turn_d, turn_b) \
      do { \
          a = lv32_add(lv32_add(a, m), b); \
          d = lv32_rol(lv32_xor(d, a), 32 - turn_d); \
          c = lv32_add(c, d); \
          b = lv32_rol(lv32_xor(b, c), 32 - turn_b); \
      } while (0)

LV_KERNEL void hli_blake3_blocks_avx_x1(HLI_BLOCKS_ARGS)
{
    uint32_t *const s = state;
    lv32 front = LOAD(s), back = LOAD(s + 4);

    for (const uint8_t *block = msg[0]; nblocks > 0; nblocks--, block += 64) {
        lv32 a = front, b = back, c = LOAD(hli_sha256_iv), d = LOAD(s + 8), m[4];
        STORE(s + 8, _mm_and_si128(d, _mm_setr_epi32(-1, -1, -1, ~1))); /* without CHUNK_START */
        m[0] = TWO_OF_EACH(LOAD(block), LOAD(block + 16), 0, 2, 0, 2);
        m[1] = TWO_OF_EACH(LOAD(block), LOAD(block + 16), 1, 3, 1, 3);
        m[2] = WORDS(TWO_OF_EACH(LOAD(block + 32), LOAD(block + 48), 0, 2, 0, 2), 3, 0, 1, 2);
        m[3] = WORDS(TWO_OF_EACH(LOAD(block + 32), LOAD(block + 48), 1, 3, 1, 3), 3, 0, 1, 2);
        _Pragma("GCC unroll 7")
        for (unsigned round = 0; round < 7; round++) {
            if (round > 0) { /* words 0 2 4 6, 1 3 5 7, 14 8 10 12, 15 9 11 13 of the permuted block */
                const lv32 m0 = WORDS(TWO_OF_EACH(m[0], m[1], 1, 2, 1, 3), 0, 2, 3, 1);
                const lv32 m1 = REPLACED(WORDS(m[0], 3, 3, 0, 0), WORDS(REPLACED(m[2], m[3], 8), 2, 2, 3, 3), 10);
                const lv32 m2 = WORDS(REPLACED(_mm_unpacklo_epi32(m[3], m[1]), m[2], 8), 0, 1, 3, 2);
                m[3] = WORDS(_mm_unpacklo_epi64(m[2], _mm_unpackhi_epi32(m[3], m[1])), 1, 2, 3, 0);
                m[0] = m0, m[1] = m1, m[2] = m2;
            }
            MIX(m[0], 16, 12);
            MIX(m[1], 8, 7);
            a = WORDS(a, 3, 0, 1, 2), c = WORDS(c, 1, 2, 3, 0), d = WORDS(d, 2, 3, 0, 1);
            MIX(m[2], 16, 12);
            MIX(m[3], 8, 7);
            a = WORDS(a, 1, 2, 3, 0), c = WORDS(c, 3, 0, 1, 2), d = WORDS(d, 2, 3, 0, 1);
        }
        front = lv32_xor(a, c);
        back = lv32_xor(b, d);
        STORE(s, front); /* after each block: the proof wants a state that goes on */
        STORE(s + 4, back);
    }
}
#endif
