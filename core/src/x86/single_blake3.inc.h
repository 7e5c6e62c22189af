/* single_blake3.inc.h: BLAKE3 of one message, of two or of four, with a row of the state in a register.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included after a vocabulary (words/<isa>.h), with NAME the kernel's name and VECTORS. The four columns are the lanes
 * (BLAKE3, 2020, section 5.3). For the diagonals the rows a, c and d turn, as b is the one that a round waits for. m[0]
 * to m[3] are the words that a round adds, in its order; between rounds they change places. 256 bits have a row of each
 * of two messages, and two vectors, VECTORS 2, those of four. Zen 3, gcc 12.2, beside plain C: 225 of 240 cycles for a
 * block of a long message; a message of 64 bytes takes 0.65 of the time, one of 256 bytes 0.77. A step of four messages
 * takes 0.78 of that of eight in lanes.
 */
#if LV32_LANES == 4
#  define AS_FLOATS(x)   _mm_castsi128_ps(x)
#  define AS_WORDS(x)    _mm_castps_si128(x)
#  define GET_ROW(x, r)  (x[0] = _mm_loadu_si128((const __m128i *)(s + 4 * (r))))
#  define SET_ROW(r, x)  _mm_storeu_si128((__m128i *)(s + 4 * (r)), x[0])
#  define SAME(p)        _mm_loadu_si128((const __m128i *)(p))
#  define PART(at)       _mm_loadu_si128((const __m128i *)(msg[0] + offset + (at)))
#else
#  define AS_FLOATS(x)   _mm256_castsi256_ps(x)
#  define AS_WORDS(x)    _mm256_castps_si256(x)
/* Two words of each message, beside those of the other: 0 2 4 6 1 3 5 7 of a row of two messages. */
#  define PLACE(r, i)    ((__m256i *)(s + 8 * (VECTORS * (r) + (i))))
#  define OUT            _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7)
#  define IN             _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)
#  define ROW_PART(r, i, order) _mm256_permutevar8x32_epi32(_mm256_loadu_si256(PLACE(r, i)), order)
#  define SET_PART(r, i, x, order) _mm256_storeu_si256(PLACE(r, i), _mm256_permutevar8x32_epi32(x, order))
#  if VECTORS == 1
#    define GET_ROW(x, r) (x[0] = ROW_PART(r, 0, OUT))
#    define SET_ROW(r, x) SET_PART(r, 0, x[0], IN)
#  else
#    define GET_ROW(x, r) \
        do { \
            const lv32 low = ROW_PART(r, 0, IN), high = ROW_PART(r, 1, IN); \
            x[0] = V(unpacklo_epi64)(low, high), x[1] = V(unpackhi_epi64)(low, high); \
        } while (0)
#    define SET_ROW(r, x) \
        do { \
            SET_PART(r, 0, V(unpacklo_epi64)(x[0], x[1]), OUT); \
            SET_PART(r, 1, V(unpackhi_epi64)(x[0], x[1]), OUT); \
        } while (0)
#  endif
#  define SAME(p)        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(p)))
#  define PART(at)       load_pair(msg[v] + offset + (at), msg[v + VECTORS] + offset + (at))
#endif
#define EACH(...) \
    _Pragma("GCC unroll 2") for (unsigned v = 0; v < VECTORS; v++) \
    { \
        __VA_ARGS__; \
    }
#define WORDS(x, i, j, k, l) V(shuffle_epi32)(x, _MM_SHUFFLE(l, k, j, i))
#define TWO_OF_EACH(x, y, i, j, k, l) \
    AS_WORDS(V(shuffle_ps)(AS_FLOATS(x), AS_FLOATS(y), _MM_SHUFFLE(l, k, j, i)))
#define REPLACED(x, y, words) /* the words of y where there is a bit */ \
    AS_WORDS(V(blend_ps)(AS_FLOATS(x), AS_FLOATS(y), LV32_LANES == 4 ? (words) : (words) * 0x11))

/* Half of a round's mixing functions, for R1 and R2 or R3 and R4; of all vectors, each a mixing function of its own. */
#define ROWS(v, m, turn_d, turn_b) \
    do { \
        a[v] = lv32_add(lv32_add(a[v], m), b[v]); \
        d[v] = lv32_rol(lv32_xor(d[v], a[v]), 32 - turn_d); \
        c[v] = lv32_add(c[v], d[v]); \
        b[v] = lv32_rol(lv32_xor(b[v], c[v]), 32 - turn_b); \
    } while (0)
#define ALL_ROWS(m0, m1, turn_d, turn_b) \
    do { \
        a[0] = lv32_add(a[0], m0); \
        if (VECTORS == 2) \
            a[1] = lv32_add(a[1], m1); \
        EACH(a[v] = lv32_add(a[v], b[v])); \
        EACH(d[v] = lv32_rol(lv32_xor(d[v], a[v]), 32 - turn_d)); \
        EACH(c[v] = lv32_add(c[v], d[v])); \
        EACH(b[v] = lv32_rol(lv32_xor(b[v], c[v]), 32 - turn_b)); \
    } while (0)
/* Of the permuted block: words 0 2 4 6, 1 3 5 7, 14 8 10 12, 15 9 11 13. */
#define PERMUTE(v) \
    do { \
        const lv32 m0 = WORDS(TWO_OF_EACH(m[0][v], m[1][v], 1, 2, 1, 3), 0, 2, 3, 1); \
        const lv32 m1 = \
            REPLACED(WORDS(m[0][v], 3, 3, 0, 0), WORDS(REPLACED(m[2][v], m[3][v], 8), 2, 2, 3, 3), 10); \
        const lv32 m2 = WORDS(REPLACED(V(unpacklo_epi32)(m[3][v], m[1][v]), m[2][v], 8), 0, 1, 3, 2); \
        m[3][v] = WORDS(V(unpacklo_epi64)(m[2][v], V(unpackhi_epi32)(m[3][v], m[1][v])), 1, 2, 3, 0); \
        m[0][v] = m0, m[1][v] = m1, m[2][v] = m2; \
    } while (0)
#define TO_DIAGONALS(v) \
    (a[v] = WORDS(a[v], 3, 0, 1, 2), c[v] = WORDS(c[v], 1, 2, 3, 0), d[v] = WORDS(d[v], 2, 3, 0, 1))
#define TO_COLUMNS(v) \
    (a[v] = WORDS(a[v], 1, 2, 3, 0), c[v] = WORDS(c[v], 3, 0, 1, 2), d[v] = WORDS(d[v], 2, 3, 0, 1))

LV_KERNEL void NAME(HLI_BLOCKS_ARGS)
{
    static const uint32_t but_start[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, ~UINT32_C(1)}; /* CHUNK_START */
    uint32_t *const s = state;
    lv32 front[VECTORS], back[VECTORS];
    GET_ROW(front, 0);
    GET_ROW(back, 1);

    for (size_t offset = 0; nblocks > 0; nblocks--, offset += 64) {
        lv32 a[2], b[2], c[2], d[2], m[4][2];
        GET_ROW(d, 2);
        EACH(a[v] = V_ALL(and)(d[v], SAME(but_start)));
        SET_ROW(2, a);
        EACH(a[v] = front[v]; b[v] = back[v]; c[v] = SAME(hli_sha256_iv));
        EACH(m[0][v] = TWO_OF_EACH(PART(0), PART(16), 0, 2, 0, 2));
        EACH(m[1][v] = TWO_OF_EACH(PART(0), PART(16), 1, 3, 1, 3));
        EACH(m[2][v] = WORDS(TWO_OF_EACH(PART(32), PART(48), 0, 2, 0, 2), 3, 0, 1, 2));
        EACH(m[3][v] = WORDS(TWO_OF_EACH(PART(32), PART(48), 1, 3, 1, 3), 3, 0, 1, 2));
        /* The second vector is half a round behind, so that the words of one move while the other adds. */
        ROWS(0, m[0][0], 16, 12);
        ROWS(0, m[1][0], 8, 7);
        TO_DIAGONALS(0);
        _Pragma("GCC unroll 7")
        for (unsigned round = 0; round < 7; round++) {
            ALL_ROWS(m[2][0], m[0][1], 16, 12);
            ALL_ROWS(m[3][0], m[1][1], 8, 7);
            TO_COLUMNS(0);
            if (VECTORS == 2)
                TO_DIAGONALS(1);
            if (round == 6)
                break;
            PERMUTE(0);
            ALL_ROWS(m[0][0], m[2][1], 16, 12);
            ALL_ROWS(m[1][0], m[3][1], 8, 7);
            TO_DIAGONALS(0);
            if (VECTORS == 2) {
                TO_COLUMNS(1);
                PERMUTE(1);
            }
        }
        if (VECTORS == 2) {
            ROWS(1, m[2][1], 16, 12);
            ROWS(1, m[3][1], 8, 7);
            TO_COLUMNS(1);
        }
        EACH(front[v] = lv32_xor(a[v], c[v]); back[v] = lv32_xor(b[v], d[v]));
        SET_ROW(0, front); /* after each block: the proof wants a state that goes on */
        SET_ROW(1, back);
    }
}

#undef NAME
#undef VECTORS
#undef AS_FLOATS
#undef AS_WORDS
#undef PLACE
#undef OUT
#undef IN
#undef ROW_PART
#undef SET_PART
#undef GET_ROW
#undef SET_ROW
#undef SAME
#undef PART
#undef EACH
#undef WORDS
#undef TWO_OF_EACH
#undef REPLACED
#undef ROWS
#undef ALL_ROWS
#undef PERMUTE
#undef TO_DIAGONALS
#undef TO_COLUMNS
