/* md5.lanes.h: the block function of MD5 (RFC 1321 section 3.4), once, over lane words.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by alg/kernels.inc.h with a vocabulary (lv32_*) in scope, and if MD5_PAIR is 1 once more with words of two
 * registers (alg/pair.inc.h). The 64 steps are one chain of six operations each, and each waits for the step before:
 * twice the messages take hardly more time. The message's words are used unchanged, apart from the addition of a
 * constant. Words are little-endian.
 */
#if MD5_PAIR
#  define lv     pair32
#  define LV(op) pair32_##op
#  define LANES  PAIR32_LANES
#  define NAMED  md5_pair
#else
#  define lv     lv32
#  define LV(op) lv32_##op
#  define LANES  LV32_LANES
#  define NAMED  md5
#endif
#define ROOM   16
#define NSTATE 4
#define ORDER  0

#define NAME(what) LV_NAME(LV_PASTE(NAMED, what))

/* Each adds its function to a. F2 is the sum of two terms without a common bit, of which only one waits for x. */
#define F1(a, x, y, z) a = LV(add)(a, LV(ch)(x, y, z))
#ifdef lv32_and
#  define F2(a, x, y, z) a = LV(add)(LV(add)(a, LV(andn)(z, y)), LV(and)(x, z))
#  define F3(a, x, y, z) a = LV(add)(a, LV(xor3)(y, z, x))
#else
#  define F2(a, x, y, z) a = LV(add)(a, LV(ch)(z, x, y))
#  define F3(a, x, y, z) a = LV(add)(a, LV(xor3)(x, y, z))
#endif
#define F4(a, x, y, z) a = LV(add)(a, LV(orn_xor)(x, z, y))

/* a = b + ROTL_s(f(a + X[k] + T[t], b, c, d)), where f adds its function. Terms that do not wait for b come first. */
#define STEP(a, b, c, d, f, xt, s) \
    do { \
        a = LV(add)(a, xt); \
        LV_SETTLE(a); \
        f(a, b, c, d); \
        a = LV(add)(LV(rol)(a, s), b); \
    } while (0)

/* Four steps from step t on. K(t): index of the message word that step t takes. XT(k, t): that word plus T[t]; the
 * including function defines it. */
#define STEPS4(f, K, t, s0, s1, s2, s3) \
    do { \
        STEP(a, b, c, d, f, XT(K(t), t), s0); \
        STEP(d, a, b, c, f, XT(K((t) + 1), (t) + 1), s1); \
        STEP(c, d, a, b, f, XT(K((t) + 2), (t) + 2), s2); \
        STEP(b, c, d, a, f, XT(K((t) + 3), (t) + 3), s3); \
    } while (0)
#define WRITTEN_OUT(f, K, t, s0, s1, s2, s3) \
    do { \
        STEPS4(f, K, (t), s0, s1, s2, s3); \
        STEPS4(f, K, (t) + 4, s0, s1, s2, s3); \
        STEPS4(f, K, (t) + 8, s0, s1, s2, s3); \
        STEPS4(f, K, (t) + 12, s0, s1, s2, s3); \
    } while (0)
#define IN_LOOP(f, K, first, s0, s1, s2, s3) \
    LV_LOOP \
    for (unsigned t = first; t < (first) + 16; t += 4) \
        STEPS4(f, K, t, s0, s1, s2, s3)
#define K1(t) ((t) & 15)
#define K2(t) ((5 * (t) + 1) & 15)
#define K3(t) ((3 * (t) + 5) & 15)
#define K4(t) (7 * (t) & 15)

/* ROUND: WRITTEN_OUT or IN_LOOP. BETWEEN(i): other work to interleave, in four parts. */
#define STEPS64(ROUND, BETWEEN) \
    do { \
        BETWEEN(0); \
        ROUND(F1, K1, 0, 7, 12, 17, 22); \
        BETWEEN(1); \
        ROUND(F2, K2, 16, 5, 9, 14, 20); \
        BETWEEN(2); \
        ROUND(F3, K3, 32, 4, 11, 16, 23); \
        BETWEEN(3); \
        ROUND(F4, K4, 48, 6, 10, 15, 21); \
    } while (0)

#define LOAD_STATE() \
    lv a = LV(load)(s), b = LV(load)(s + LANES), c = LV(load)(s + 2 * LANES), \
         d = LV(load)(s + 3 * LANES)
#define ADD_TO_STATE() \
    do { \
        LV(store)(s, LV(add)(LV(load)(s), a)); \
        LV(store)(s + LANES, LV(add)(LV(load)(s + LANES), b)); \
        LV(store)(s + 2 * LANES, LV(add)(LV(load)(s + 2 * LANES), c)); \
        LV(store)(s + 3 * LANES, LV(add)(LV(load)(s + 3 * LANES), d)); \
    } while (0)

/* A block in a loop is in memory, which 32 registers need not be. Over AVX2 a pair takes 5% longer in a loop. */
#if HLI_SMALL && !LV_STAGES && !(MD5_PAIR && defined(LV_WHOLES))
#  define BLOCK_ROUND IN_LOOP
#else
#  define BLOCK_ROUND WRITTEN_OUT
#endif
#define STAGE(part)   LV_STAGE(lv, 64, part, 0)
#define NOTHING(part) (void)0

/* In each kernel a copy of its own: a call shows in so few steps (Xeon, AVX2, 16 blocks: 4,392 cycles, 4,513). */
#if HLI_SMALL
LV_BLOCK_FN
#else
LV_FN
#endif
void LV_PASTE(NAMED, block)(LV_BLOCK_ARGS(lv))
{
    uint32_t *s = state;
    const uint32_t *constants = hli_md5_t;
    LOAD_STATE();

    LV_RELOAD(constants);
#define XT(k, t) LV(add)(w[k], LV(splat)(constants[t]))
    STEPS64(BLOCK_ROUND, STAGE);
#undef XT
    ADD_TO_STATE();
}

#include "blocks.inc.h"

/* The schedule: word t is for step t. */
LV_KERNEL void NAME(scheduled)(void *state, const void *given)
{
    uint32_t *s = state;
    const uint32_t *schedule = given;
    LOAD_STATE();

#define XT(k, t) LV(splat)(schedule[t])
    STEPS64(IN_LOOP, NOTHING);
#undef XT
    ADD_TO_STATE();
}

#if MD5_PAIR || !defined(LV_PAIRS) || HLI_SMALL /* whole messages take the kernel of most lanes */
#  include "whole.inc.h"
#endif

#if LANES == 1
void NAME(schedule)(const uint8_t block[], void *schedule)
{
    uint32_t x[16], *xt = schedule;

    LV(load_block)(x, &block, 0, 0);
    for (unsigned t = 0; t < 64; t++)
        xt[t] = x[t < 16 ? K1(t) : t < 32 ? K2(t) : t < 48 ? K3(t) : K4(t)] + hli_md5_t[t];
}
#endif

#undef lv
#undef LV
#undef LANES
#undef NAMED
#undef ROOM
#undef NSTATE
#undef ORDER
#undef F1
#undef F2
#undef F3
#undef F4
#undef STEP
#undef STAGE
#undef LOAD_STATE
#undef ADD_TO_STATE
#undef NAME
#undef STEPS4
#undef WRITTEN_OUT
#undef IN_LOOP
#undef BLOCK_ROUND
#undef K1
#undef K2
#undef K3
#undef K4
#undef STEPS64
#undef NOTHING
