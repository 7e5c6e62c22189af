/* sm3.lanes.h: the block function of SM3 (GB/T 32905-2016 section 5.3), once, over lane words.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by alg/kernels.inc.h with a vocabulary (lv32_*) in scope. After four rounds the eight variables have their
 * own names again. Round j takes W[j] and W'[j] = W[j] ^ W[j + 4]. Words are big-endian, and the new state is xored to
 * the old one.
 */
#define lv     lv32
#define LV(op) lv32_##op
#define NAMED  sm3
#define NSTATE 8
#define ORDER  1

/* Section 4.4 */
#define P0(x) lv32_xor3(x, lv32_rol(x, 9), lv32_rol(x, 17))
LV_FN lv32 sm3_p1(lv32 x)
{
    return lv32_xor3(x, lv32_rol(x, 15), lv32_rol(x, 23));
}

/* W[j] from W[j - 16], W[j - 13], W[j - 9], W[j - 6], W[j - 3]. */
#define SCHEDULE(w16, w13, w9, w6, w3) \
    lv32_xor3(sm3_p1(lv32_xor3(w16, w9, lv32_rol(w3, 15))), lv32_rol(w13, 7), w6)

/* Section 4.3: FF and GG of the first 16 rounds, and of all others. */
#define XOR3(x, y, z) lv32_xor3(x, y, z)
#define MAJ(x, y, z)  lv32_maj(x, y, z)
#define CH(x, y, z)   lv32_ch(x, y, z)

/* w: W[j]; x: W'[j]; k: T rotated by j. */
#define ROUND(FF, GG, w, x, k, a, b, c, d, e, f, g, h) \
    do { \
        const lv32 a12 = lv32_rol(a, 12), sum = lv32_add(lv32_add(a12, e), k), ss1 = lv32_rol(sum, 7); \
        d = lv32_add(lv32_add(FF(a, b, c), d), lv32_add(lv32_xor(ss1, a12), x)); \
        h = lv32_add(lv32_add(GG(e, f, g), h), lv32_add(ss1, w)); \
        b = lv32_rol(b, 9); \
        f = lv32_rol(f, 19); \
        h = P0(h); \
    } while (0)
#define ROUNDS4(FF, GG, W, X, K, t) \
    do { \
        ROUND(FF, GG, W((t)), X((t)), K((t)), a, b, c, d, e, f, g, h); \
        ROUND(FF, GG, W((t) + 1), X((t) + 1), K((t) + 1), d, a, b, c, h, e, f, g); \
        ROUND(FF, GG, W((t) + 2), X((t) + 2), K((t) + 2), c, d, a, b, g, h, e, f); \
        ROUND(FF, GG, W((t) + 3), X((t) + 3), K((t) + 3), b, c, d, a, f, g, h, e); \
    } while (0)

#define LOAD_STATE() \
    lv32 a = lv32_load(s), b = lv32_load(s + LV32_LANES), c = lv32_load(s + 2 * LV32_LANES), \
         d = lv32_load(s + 3 * LV32_LANES), e = lv32_load(s + 4 * LV32_LANES), f = lv32_load(s + 5 * LV32_LANES), \
         g = lv32_load(s + 6 * LV32_LANES), h = lv32_load(s + 7 * LV32_LANES)
#define XOR_TO(i, x) lv32_store(s + (i) * LV32_LANES, lv32_xor(lv32_load(s + (i) * LV32_LANES), x))
#define XOR_TO_STATE() \
    do { \
        XOR_TO(0, a), XOR_TO(1, b), XOR_TO(2, c), XOR_TO(3, d); \
        XOR_TO(4, e), XOR_TO(5, f), XOR_TO(6, g), XOR_TO(7, h); \
    } while (0)

#define KEPT(t)  w[t]
#define K(t)     lv32_splat(hli_sm3_k[t0 + (t)])
/* With few registers the schedule is an array in memory, and four rounds are a loop, as in sha2.lanes.h: 0.86 of the
 * time of a ring over SSE2, 0.91 over AVX2, 0.92 in plain C (Zen 1, gcc 12.2). Elsewhere it is a ring of 16 words, four
 * rounds ahead, and 16 rounds are a loop: 1.00 of the time over AVX-512, 1.02 over AVX-512VL (Emerald Rapids). */
#ifndef LV_FEW_REGISTERS
#  define ROOM 16
#  define W_AFTER(t) \
    (w[((t) + 4) & 15] = SCHEDULE(w[((t) + 4) & 15], w[((t) + 7) & 15], w[((t) + 11) & 15], w[((t) + 14) & 15], \
                                  w[((t) + 1) & 15]))
/* W'[t] of the first 16 rounds, and of all others: W[t + 4] is made where it is first needed. */
#  define PRIMED(t)       lv32_xor(w[t], (t) < 12 ? w[((t) + 4) & 15] : W_AFTER(t))
#  define LATER_PRIMED(t) lv32_xor(w[t], W_AFTER(t))
LV_BLOCK_FN void sm3_block(LV_BLOCK_ARGS(lv32))
{
    uint32_t *s = state;
    LOAD_STATE();

    unsigned t0 = 0;
    LV_STAGE(lv32, 64, 0, 1);
    ROUNDS4(XOR3, XOR3, KEPT, PRIMED, K, 0);
    ROUNDS4(XOR3, XOR3, KEPT, PRIMED, K, 4);
    ROUNDS4(XOR3, XOR3, KEPT, PRIMED, K, 8);
    ROUNDS4(XOR3, XOR3, KEPT, PRIMED, K, 12);
    LV_UNROLL(1)
    for (t0 = 16; t0 < 64; t0 += 16) {
        LV_STAGE(lv32, 64, t0 / 16, 1);
        ROUNDS4(MAJ, CH, KEPT, LATER_PRIMED, K, 0);
        ROUNDS4(MAJ, CH, KEPT, LATER_PRIMED, K, 4);
        ROUNDS4(MAJ, CH, KEPT, LATER_PRIMED, K, 8);
        ROUNDS4(MAJ, CH, KEPT, LATER_PRIMED, K, 12);
    }
    XOR_TO_STATE();
}
#else
#  define ROOM 68
#  define STORED(t) lv32_xor(w[t], w[(t) + 4])
#  define COMPUTING(t) \
      __extension__({ \
          HLI_NEW_POINTER(w); \
          w[(t) + 16] = SCHEDULE(w[t], w[(t) + 3], w[(t) + 7], w[(t) + 10], w[(t) + 13]); \
          w[t]; \
      })
LV_BLOCK_FN void sm3_block(LV_BLOCK_ARGS(lv32))
{
    uint32_t *s = state;
    LOAD_STATE();

    (void)msg, (void)offset, (void)staging, (void)more;
    unsigned t0 = 0;
    for (; t0 < 16; t0 += 4, w += 4)
        ROUNDS4(XOR3, XOR3, COMPUTING, STORED, K, 0);
    for (; t0 < 52; t0 += 4, w += 4)
        ROUNDS4(MAJ, CH, COMPUTING, STORED, K, 0);
    for (; t0 < 64; t0 += 4, w += 4)
        ROUNDS4(MAJ, CH, KEPT, STORED, K, 0);
    XOR_TO_STATE();
}
#endif

#include "blocks.inc.h"

/* The schedule: W[j] of the 64 rounds, then W'[j]. */
#define GIVEN(t)  lv32_splat(schedule[t0 + (t)])
#define GIVEN2(t) lv32_splat(schedule[64 + t0 + (t)])
LV_KERNEL void LV_NAME(sm3_scheduled)(void *state, const void *given)
{
    uint32_t *s = state;
    const uint32_t *schedule = given;
    LOAD_STATE();

    for (unsigned t0 = 0; t0 < 16; t0 += 4)
        ROUNDS4(XOR3, XOR3, GIVEN, GIVEN2, K, 0);
    for (unsigned t0 = 16; t0 < 64; t0 += 4)
        ROUNDS4(MAJ, CH, GIVEN, GIVEN2, K, 0);
    XOR_TO_STATE();
}

#include "whole.inc.h"

#if LV32_LANES == 1
void LV_NAME(sm3_schedule)(const uint8_t block[], void *schedule)
{
    uint32_t w[68], *words = schedule;

    lv32_load_block(w, &block, 0, 1);
    for (unsigned t = 16; t < 68; t++) {
        uint32_t *at = w + t;
        HLI_NEW_POINTER(at); /* two words at once, as gcc 12 makes them, take 15% longer (Emerald Rapids) */
        at[0] = SCHEDULE(at[-16], at[-13], at[-9], at[-6], at[-3]);
    }
    for (unsigned t = 0; t < 64; t++) {
        words[t] = w[t];
        words[64 + t] = w[t] ^ w[t + 4];
    }
}
#endif

#undef lv
#undef LV
#undef NAMED
#undef ROOM
#undef NSTATE
#undef ORDER
#undef P0
#undef SCHEDULE
#undef XOR3
#undef MAJ
#undef CH
#undef ROUND
#undef ROUNDS4
#undef LOAD_STATE
#undef XOR_TO
#undef XOR_TO_STATE
#undef KEPT
#undef K
#undef W_AFTER
#undef PRIMED
#undef LATER_PRIMED
#undef STORED
#undef COMPUTING
#undef GIVEN
#undef GIVEN2
