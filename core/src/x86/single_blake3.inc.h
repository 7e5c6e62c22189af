/* single_blake3.inc.h: BLAKE3 of one message, or of two, with a row of the state in a register.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included after a vocabulary (lanes/<isa>.h), with NAME the kernel's name. The four columns are the lanes (BLAKE3,
 * 2020, section 5.3). For the diagonals the rows a, c and d turn, as b is the one that a round waits for. m[0] to m[3]
 * are the words that a round adds, in its order; between rounds they change places. 256 bits have a row of each of two
 * messages. Zen 3, gcc 12.2, beside plain C: 225 of 240 cycles for a block of a long message; a message of 64 bytes
 * takes 0.65 of the time, one of 256 bytes 0.77.
 */
#if LV32_LANES == 4
#  define AS_FLOATS(x)   _mm_castsi128_ps(x)
#  define AS_WORDS(x)    _mm_castps_si128(x)
#  define ROW(r)         _mm_loadu_si128((const __m128i *)(s + 4 * (r)))
#  define SET_ROW(r, x)  _mm_storeu_si128((__m128i *)(s + 4 * (r)), x)
#  define SAME(p)        _mm_loadu_si128((const __m128i *)(p))
#  define PART(at)       _mm_loadu_si128((const __m128i *)(msg[0] + offset + (at)))
#else
#  define AS_FLOATS(x)   _mm256_castsi256_ps(x)
#  define AS_WORDS(x)    _mm256_castps_si256(x)
#  define ROW(r) \
      _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)(s + 8 * (r))), \
                                  _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7))
#  define SET_ROW(r, x) \
      _mm256_storeu_si256((__m256i *)(s + 8 * (r)), \
                          _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)))
#  define SAME(p)        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(p)))
#  define PART(at)       load_pair(msg[0] + offset + (at), msg[1] + offset + (at))
#endif
#define WORDS(x, i, j, k, l) V(shuffle_epi32)(x, _MM_SHUFFLE(l, k, j, i))
#define TWO_OF_EACH(x, y, i, j, k, l) \
    AS_WORDS(V(shuffle_ps)(AS_FLOATS(x), AS_FLOATS(y), _MM_SHUFFLE(l, k, j, i)))
#define REPLACED(x, y, words) /* the words of y where there is a bit */ \
    AS_WORDS(V(blend_ps)(AS_FLOATS(x), AS_FLOATS(y), LV32_LANES == 4 ? (words) : (words) * 0x11))

/* Half of a round's mixing functions, for R1 and R2 or R3 and R4. */
#define MIX(m, turn_d, turn_b) \
    do { \
        a = lv32_add(lv32_add(a, m), b); \
        d = lv32_rol(lv32_xor(d, a), 32 - turn_d); \
        c = lv32_add(c, d); \
        b = lv32_rol(lv32_xor(b, c), 32 - turn_b); \
    } while (0)

LV_KERNEL void NAME(HLI_BLOCKS_ARGS)
{
    static const uint32_t but_start[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, ~UINT32_C(1)}; /* CHUNK_START */
    uint32_t *const s = state;
    lv32 front = ROW(0), back = ROW(1);

    for (size_t offset = 0; nblocks > 0; nblocks--, offset += 64) {
        lv32 a = front, b = back, c = SAME(hli_sha256_iv), d = ROW(2), m[4];
        SET_ROW(2, V_ALL(and)(d, SAME(but_start)));
        m[0] = TWO_OF_EACH(PART(0), PART(16), 0, 2, 0, 2);
        m[1] = TWO_OF_EACH(PART(0), PART(16), 1, 3, 1, 3);
        m[2] = WORDS(TWO_OF_EACH(PART(32), PART(48), 0, 2, 0, 2), 3, 0, 1, 2);
        m[3] = WORDS(TWO_OF_EACH(PART(32), PART(48), 1, 3, 1, 3), 3, 0, 1, 2);
        _Pragma("GCC unroll 7")
        for (unsigned round = 0; round < 7; round++) {
            if (round > 0) { /* words 0 2 4 6, 1 3 5 7, 14 8 10 12, 15 9 11 13 of the permuted block */
                const lv32 m0 = WORDS(TWO_OF_EACH(m[0], m[1], 1, 2, 1, 3), 0, 2, 3, 1);
                const lv32 m1 = REPLACED(WORDS(m[0], 3, 3, 0, 0), WORDS(REPLACED(m[2], m[3], 8), 2, 2, 3, 3), 10);
                const lv32 m2 = WORDS(REPLACED(V(unpacklo_epi32)(m[3], m[1]), m[2], 8), 0, 1, 3, 2);
                m[3] = WORDS(V(unpacklo_epi64)(m[2], V(unpackhi_epi32)(m[3], m[1])), 1, 2, 3, 0);
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
        SET_ROW(0, front); /* after each block: the proof wants a state that goes on */
        SET_ROW(1, back);
    }
}
