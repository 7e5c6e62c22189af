/* ripemd160.lanes.h: the block function of RIPEMD-160 (Dobbertin, Bosselaers, Preneel 1996, appendix A), once, over
 * lane words.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by alg/kernels.inc.h with a vocabulary (lv32_*) in scope. Two lines of 80 steps run over the same 16 words
 * and are added at the end. Each line is a chain in which every step waits for the step before. The steps of both lines
 * therefore alternate: while one line waits, the other works, and both use the same words in registers. Words are
 * little-endian.
 */
#define lv     lv32
#define LV(op) lv32_##op
#define NAMED  ripemd160
#define ROOM   16
#define NSTATE 5
#define ORDER  0

/* 1 if side and round have a function, F3 or F5, whose complement is subtracted: a + f = a - ~f - 1, and the round's
 * constant is less by 1. ~F3(x, y, z) = (~x & y) ^ z and ~F5(x, y, z) = (~y & z) ^ x take one operation less than the
 * functions, if there is an instruction for ~x & y. */
#if defined(lv32_and) && LV32_LANES > 1
#  define IS_LESS(side, j) ((j) == 2 || (j) == 4 - (side) * 4)
#else
#  define IS_LESS(side, j) 0
#endif

/* A step of the left line (message word rl, rotation sl) and one of the right: T = ROTL_s(a + f(b, c, d) + X + K) + e;
 * c = ROTL_10(c); then the five variables move on by one name. Both go operation by operation: neither line waits while
 * the other works. XK(side, j, t): word t plus the constant of round j; the including function defines it. */
#if defined(LV_RIPEMD160_STEP)
#  define STEP LV_RIPEMD160_STEP
#else
/* Each adds its function to a. x is ready last. F4 is the sum of two terms without a common bit, of which only one
 * waits for x. */
#  define F2(a, x, y, z) a = lv32_add(a, lv32_ch(x, y, z))
#  ifdef lv32_and
#    define F1(a, x, y, z) a = lv32_add(a, lv32_xor3(y, z, x))
#    define F4(a, x, y, z) a = lv32_add(lv32_add(a, lv32_andn(z, y)), lv32_and(x, z))
#  else
#    define F1(a, x, y, z) a = lv32_add(a, lv32_xor3(x, y, z))
#    define F4(a, x, y, z) a = lv32_add(a, lv32_ch(z, x, y))
#  endif
#  if IS_LESS(0, 2)
#    define F3(a, x, y, z) a = lv32_sub(a, lv32_xor(lv32_andn(x, y), z))
#    define F5(a, x, y, z) a = lv32_sub(a, lv32_xor(lv32_andn(y, z), x))
#  else
#    define F3(a, x, y, z) a = lv32_add(a, lv32_orn_xor(x, y, z))
#    define F5(a, x, y, z) a = lv32_add(a, lv32_orn_xor(y, z, x))
#  endif
#  define STEP(a, b, c, d, e, j, fl, rl, sl, fr, rr, sr) \
      do { \
          a##l = lv32_add(a##l, XK(0, j, rl)); \
          a##r = lv32_add(a##r, XK(1, j, rr)); \
          fl(a##l, b##l, c##l, d##l); \
          fr(a##r, b##r, c##r, d##r); \
          a##l = lv32_rol(a##l, sl); \
          a##r = lv32_rol(a##r, sr); \
          c##l = lv32_rol(c##l, 10); \
          c##r = lv32_rol(c##r, 10); \
          a##l = lv32_add(a##l, e##l); \
          a##r = lv32_add(a##r, e##r); \
      } while (0)
#endif

/* BETWEEN(i): other work to interleave, in four parts. */
#define STEPS80(BETWEEN) \
    do { \
        BETWEEN(0); \
        STEP(a, b, c, d, e, 0, F1, 0, 11, F5, 5, 8); \
        STEP(e, a, b, c, d, 0, F1, 1, 14, F5, 14, 9); \
        STEP(d, e, a, b, c, 0, F1, 2, 15, F5, 7, 9); \
        STEP(c, d, e, a, b, 0, F1, 3, 12, F5, 0, 11); \
        STEP(b, c, d, e, a, 0, F1, 4, 5, F5, 9, 13); \
        STEP(a, b, c, d, e, 0, F1, 5, 8, F5, 2, 15); \
        STEP(e, a, b, c, d, 0, F1, 6, 7, F5, 11, 15); \
        STEP(d, e, a, b, c, 0, F1, 7, 9, F5, 4, 5); \
        STEP(c, d, e, a, b, 0, F1, 8, 11, F5, 13, 7); \
        STEP(b, c, d, e, a, 0, F1, 9, 13, F5, 6, 7); \
        STEP(a, b, c, d, e, 0, F1, 10, 14, F5, 15, 8); \
        STEP(e, a, b, c, d, 0, F1, 11, 15, F5, 8, 11); \
        STEP(d, e, a, b, c, 0, F1, 12, 6, F5, 1, 14); \
        STEP(c, d, e, a, b, 0, F1, 13, 7, F5, 10, 14); \
        STEP(b, c, d, e, a, 0, F1, 14, 9, F5, 3, 12); \
        STEP(a, b, c, d, e, 0, F1, 15, 8, F5, 12, 6); \
        BETWEEN(1); \
        STEP(e, a, b, c, d, 1, F2, 7, 7, F4, 6, 9); \
        STEP(d, e, a, b, c, 1, F2, 4, 6, F4, 11, 13); \
        STEP(c, d, e, a, b, 1, F2, 13, 8, F4, 3, 15); \
        STEP(b, c, d, e, a, 1, F2, 1, 13, F4, 7, 7); \
        STEP(a, b, c, d, e, 1, F2, 10, 11, F4, 0, 12); \
        STEP(e, a, b, c, d, 1, F2, 6, 9, F4, 13, 8); \
        STEP(d, e, a, b, c, 1, F2, 15, 7, F4, 5, 9); \
        STEP(c, d, e, a, b, 1, F2, 3, 15, F4, 10, 11); \
        STEP(b, c, d, e, a, 1, F2, 12, 7, F4, 14, 7); \
        STEP(a, b, c, d, e, 1, F2, 0, 12, F4, 15, 7); \
        STEP(e, a, b, c, d, 1, F2, 9, 15, F4, 8, 12); \
        STEP(d, e, a, b, c, 1, F2, 5, 9, F4, 12, 7); \
        STEP(c, d, e, a, b, 1, F2, 2, 11, F4, 4, 6); \
        STEP(b, c, d, e, a, 1, F2, 14, 7, F4, 9, 15); \
        STEP(a, b, c, d, e, 1, F2, 11, 13, F4, 1, 13); \
        STEP(e, a, b, c, d, 1, F2, 8, 12, F4, 2, 11); \
        BETWEEN(2); \
        STEP(d, e, a, b, c, 2, F3, 3, 11, F3, 15, 9); \
        STEP(c, d, e, a, b, 2, F3, 10, 13, F3, 5, 7); \
        STEP(b, c, d, e, a, 2, F3, 14, 6, F3, 1, 15); \
        STEP(a, b, c, d, e, 2, F3, 4, 7, F3, 3, 11); \
        STEP(e, a, b, c, d, 2, F3, 9, 14, F3, 7, 8); \
        STEP(d, e, a, b, c, 2, F3, 15, 9, F3, 14, 6); \
        STEP(c, d, e, a, b, 2, F3, 8, 13, F3, 6, 6); \
        STEP(b, c, d, e, a, 2, F3, 1, 15, F3, 9, 14); \
        STEP(a, b, c, d, e, 2, F3, 2, 14, F3, 11, 12); \
        STEP(e, a, b, c, d, 2, F3, 7, 8, F3, 8, 13); \
        STEP(d, e, a, b, c, 2, F3, 0, 13, F3, 12, 5); \
        STEP(c, d, e, a, b, 2, F3, 6, 6, F3, 2, 14); \
        STEP(b, c, d, e, a, 2, F3, 13, 5, F3, 10, 13); \
        STEP(a, b, c, d, e, 2, F3, 11, 12, F3, 0, 13); \
        STEP(e, a, b, c, d, 2, F3, 5, 7, F3, 4, 7); \
        STEP(d, e, a, b, c, 2, F3, 12, 5, F3, 13, 5); \
        BETWEEN(3); \
        STEP(c, d, e, a, b, 3, F4, 1, 11, F2, 8, 15); \
        STEP(b, c, d, e, a, 3, F4, 9, 12, F2, 6, 5); \
        STEP(a, b, c, d, e, 3, F4, 11, 14, F2, 4, 8); \
        STEP(e, a, b, c, d, 3, F4, 10, 15, F2, 1, 11); \
        STEP(d, e, a, b, c, 3, F4, 0, 14, F2, 3, 14); \
        STEP(c, d, e, a, b, 3, F4, 8, 15, F2, 11, 14); \
        STEP(b, c, d, e, a, 3, F4, 12, 9, F2, 15, 6); \
        STEP(a, b, c, d, e, 3, F4, 4, 8, F2, 0, 14); \
        STEP(e, a, b, c, d, 3, F4, 13, 9, F2, 5, 6); \
        STEP(d, e, a, b, c, 3, F4, 3, 14, F2, 12, 9); \
        STEP(c, d, e, a, b, 3, F4, 7, 5, F2, 2, 12); \
        STEP(b, c, d, e, a, 3, F4, 15, 6, F2, 13, 9); \
        STEP(a, b, c, d, e, 3, F4, 14, 8, F2, 9, 12); \
        STEP(e, a, b, c, d, 3, F4, 5, 6, F2, 7, 5); \
        STEP(d, e, a, b, c, 3, F4, 6, 5, F2, 10, 15); \
        STEP(c, d, e, a, b, 3, F4, 2, 12, F2, 14, 8); \
        STEP(b, c, d, e, a, 4, F5, 4, 9, F1, 12, 8); \
        STEP(a, b, c, d, e, 4, F5, 0, 15, F1, 15, 5); \
        STEP(e, a, b, c, d, 4, F5, 5, 5, F1, 10, 12); \
        STEP(d, e, a, b, c, 4, F5, 9, 11, F1, 4, 9); \
        STEP(c, d, e, a, b, 4, F5, 7, 6, F1, 1, 12); \
        STEP(b, c, d, e, a, 4, F5, 12, 8, F1, 5, 5); \
        STEP(a, b, c, d, e, 4, F5, 2, 13, F1, 8, 14); \
        STEP(e, a, b, c, d, 4, F5, 10, 12, F1, 7, 6); \
        STEP(d, e, a, b, c, 4, F5, 14, 5, F1, 6, 8); \
        STEP(c, d, e, a, b, 4, F5, 1, 12, F1, 2, 13); \
        STEP(b, c, d, e, a, 4, F5, 3, 13, F1, 13, 6); \
        STEP(a, b, c, d, e, 4, F5, 8, 14, F1, 14, 5); \
        STEP(e, a, b, c, d, 4, F5, 11, 11, F1, 0, 15); \
        STEP(d, e, a, b, c, 4, F5, 6, 8, F1, 3, 13); \
        STEP(c, d, e, a, b, 4, F5, 15, 5, F1, 9, 11); \
        STEP(b, c, d, e, a, 4, F5, 13, 6, F1, 11, 11); \
    } while (0)

#define LOAD_STATE() \
    lv32 al = lv32_load(s), bl = lv32_load(s + LV32_LANES), cl = lv32_load(s + 2 * LV32_LANES), \
         dl = lv32_load(s + 3 * LV32_LANES), el = lv32_load(s + 4 * LV32_LANES), ar = al, br = bl, cr = cl, dr = dl, \
         er = el
#define ADD_TO_STATE() \
    do { \
        const lv32 t = lv32_add(lv32_add(lv32_load(s + LV32_LANES), cl), dr); \
        lv32_store(s + LV32_LANES, lv32_add(lv32_add(lv32_load(s + 2 * LV32_LANES), dl), er)); \
        lv32_store(s + 2 * LV32_LANES, lv32_add(lv32_add(lv32_load(s + 3 * LV32_LANES), el), ar)); \
        lv32_store(s + 3 * LV32_LANES, lv32_add(lv32_add(lv32_load(s + 4 * LV32_LANES), al), br)); \
        lv32_store(s + 4 * LV32_LANES, lv32_add(lv32_add(lv32_load(s), bl), cr)); \
        lv32_store(s, t); \
    } while (0)

#define STAGE(part)   LV_STAGE(lv32, 64, part, 0)

#if LV_STAGES || LV_ONLY
LV_FN
#else
LV_SHARED
#endif
void ripemd160_block(LV_BLOCK_ARGS(lv32))
{
    uint32_t *s = state;
    LOAD_STATE();

#define K(side, j)     (hli_ripemd160_k[side][j] - IS_LESS(side, j))
#define XK(side, j, r) ((side) * 4 == (j) ? w[r] : lv32_add(w[r], lv32_splat(K(side, j))))
    STEPS80(STAGE);
#undef K
#undef XK
    ADD_TO_STATE();
}

#include "blocks.inc.h"

#if !defined(LV_RIPEMD160_STEP)
/* The schedule: the 16 words with each of the ten constants added, left rounds first. The first constant is 0, so that
 * the block itself stands in front. */
LV_KERNEL void LV_NAME(ripemd160_scheduled)(void *state, const void *given)
{
    lv32 w[16];

    for (unsigned i = 0; i < 16; i++)
        w[i] = lv32_splat(((const uint32_t *)given)[i]);
#  if LV_STAGES
    ripemd160_run(state, NULL, 1, &(struct given){NULL, NULL, 0, w});
#  else
    ripemd160_block(state, w, NULL, 0, NULL, 0);
#  endif
}

#  include "whole.inc.h"

#  if LV32_LANES == 1
void LV_NAME(ripemd160_schedule)(const uint8_t block[], void *schedule)
{
    uint32_t x[16], *xk = schedule;

    lv32_load_block(x, &block, 0, 0);
    for (unsigned i = 0; i < 160; i++)
        xk[i] = x[i % 16] + hli_ripemd160_k[i / 80][i / 16 % 5];
}
#  endif
#endif

#undef lv
#undef LV
#undef NAMED
#undef ROOM
#undef NSTATE
#undef ORDER
#undef IS_LESS
#undef STEP
#undef F2
#undef F1
#undef F4
#undef F3
#undef F5
#undef STEPS80
#undef LOAD_STATE
#undef ADD_TO_STATE
#undef STAGE
