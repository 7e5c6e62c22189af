/* sha2.lanes.h: the block functions of SHA-2, once, over lane words: SHA-224 and SHA-256 (FIPS 180-4 section 6.2.2) on
 * words of 32 bits; SHA-384, SHA-512 and SHA-512/t (section 6.4.2) on words of 64.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included twice by lanes/kernels.inc.h, with SHA2_WORD 32 and 64 and a vocabulary (lv32_*, lv64_*) in scope. Both
 * functions differ in the word, the rotations and the number of rounds. The message schedule is a ring of 16 words:
 * W[t] replaces W[t - 16] some rounds before its own, so that no round waits for its word. Sixteen rounds are written
 * out and run four or five times: the eight variables have their own names again after eight rounds, the ring after
 * sixteen.
 */
#if SHA2_WORD == 32
#  define lv          lv32
#  define LV(op)      lv32_##op
#  define LANES       LV32_LANES
#  define WORD        uint32_t
#  define NAMED       sha256
#  define NROUNDS     64
#  define K           hli_sha256_k
/* FIPS 180-4 section 4.1.2 */
#  define BIG_SIGMA0(x)   lv32_xor3(lv32_ror(x, 2), lv32_ror(x, 13), lv32_ror(x, 22))
#  define BIG_SIGMA1(x)   lv32_xor3(lv32_ror(x, 6), lv32_ror(x, 11), lv32_ror(x, 25))
#  define SMALL_SIGMA0(x) lv32_xor3(lv32_ror(x, 7), lv32_ror(x, 18), lv32_shr(x, 3))
#  define SMALL_SIGMA1(x) lv32_xor3(lv32_ror(x, 17), lv32_ror(x, 19), lv32_shr(x, 10))
#else
#  define lv          lv64
#  define LV(op)      lv64_##op
#  define LANES       LV64_LANES
#  define WORD        uint64_t
#  define NAMED       sha512
#  define NROUNDS     80
#  define K           hli_sha512_k
/* FIPS 180-4 section 4.1.3 */
#  define BIG_SIGMA0(x)   lv64_xor3(lv64_ror(x, 28), lv64_ror(x, 34), lv64_ror(x, 39))
#  define BIG_SIGMA1(x)   lv64_xor3(lv64_ror(x, 14), lv64_ror(x, 18), lv64_ror(x, 41))
#  define SMALL_SIGMA0(x) lv64_xor3(lv64_ror(x, 1), lv64_ror(x, 8), lv64_shr(x, 7))
#  define SMALL_SIGMA1(x) lv64_xor3(lv64_ror(x, 19), lv64_ror(x, 61), lv64_shr(x, 6))
#endif

#define NAME(what) LV_NAME(LV_PASTE(NAMED, what))

#define SCHEDULE(t) \
    LV(add)(LV(add)(w[(t) & 15], SMALL_SIGMA0(w[((t) + 1) & 15])), \
             LV(add)(w[((t) + 9) & 15], SMALL_SIGMA1(w[((t) + 14) & 15])))

/* Computes W[t0 + t] unless it is in the block, or beyond the last. */
#define COMPUTE(t) (t0 + (t) >= 16 && t0 + (t) < NROUNDS ? (void)(w[(t) & 15] = SCHEDULE(t)) : (void)0)

#define ROUND(wk, a, b, c, d, e, f, g, h) \
    do { \
        h = LV(add)(LV(add)(LV(add)(h, wk), LV(ch)(e, f, g)), BIG_SIGMA1(e)); \
        d = LV(add)(d, h); \
        h = LV(add)(LV(add)(h, LV(maj)(a, b, c)), BIG_SIGMA0(a)); \
    } while (0)

/* WK(t): W[t0 + t] + K[t0 + t]; the including function defines it. */
#define ROUNDS8(WK, t) \
    do { \
        ROUND(WK((t)), a, b, c, d, e, f, g, h); \
        ROUND(WK((t) + 1), h, a, b, c, d, e, f, g); \
        ROUND(WK((t) + 2), g, h, a, b, c, d, e, f); \
        ROUND(WK((t) + 3), f, g, h, a, b, c, d, e); \
        ROUND(WK((t) + 4), e, f, g, h, a, b, c, d); \
        ROUND(WK((t) + 5), d, e, f, g, h, a, b, c); \
        ROUND(WK((t) + 6), c, d, e, f, g, h, a, b); \
        ROUND(WK((t) + 7), b, c, d, e, f, g, h, a); \
    } while (0)

/* The number of rounds that the schedule is ahead. Zen 4, ns a block, 0 and 3 rounds, gcc 12 and clang 14: SHA-256 over
 * AVX-512 278 -> 265, 280 -> 271, over AVX2 329 -> 316, 289 -> 282; SHA-512 over AVX-512 356 -> 339, 349 -> 337. Three
 * rounds lose where registers are few: SHA-512 over AVX2 432 -> 461, 364 -> 368, SHA-256 in plain C 174 -> 175,
 * 190 -> 203. */
#define AHEAD       (LANES == 1 || (SHA2_WORD == 64 && !LV_STAGES) ? 0 : 3)
#define COMPUTED(t) (COMPUTE((t) + AHEAD), LV(add)(w[t], LV(splat)(k[t0 + (t)])))
#define GIVEN(t)    LV(splat)(schedule[t0 + (t)])

/* The state stays in memory from block to block: eight more live registers would spill. */
#define LOAD_STATE() \
    lv a = LV(load)(s), b = LV(load)(s + LANES), c = LV(load)(s + 2 * LANES), \
         d = LV(load)(s + 3 * LANES), e = LV(load)(s + 4 * LANES), f = LV(load)(s + 5 * LANES), \
         g = LV(load)(s + 6 * LANES), h = LV(load)(s + 7 * LANES)
#define ADD_TO_STATE() \
    do { \
        LV(store)(s, LV(add)(LV(load)(s), a)); \
        LV(store)(s + LANES, LV(add)(LV(load)(s + LANES), b)); \
        LV(store)(s + 2 * LANES, LV(add)(LV(load)(s + 2 * LANES), c)); \
        LV(store)(s + 3 * LANES, LV(add)(LV(load)(s + 3 * LANES), d)); \
        LV(store)(s + 4 * LANES, LV(add)(LV(load)(s + 4 * LANES), e)); \
        LV(store)(s + 5 * LANES, LV(add)(LV(load)(s + 5 * LANES), f)); \
        LV(store)(s + 6 * LANES, LV(add)(LV(load)(s + 6 * LANES), g)); \
        LV(store)(s + 7 * LANES, LV(add)(LV(load)(s + 7 * LANES), h)); \
    } while (0)

LV_FN void LV_PASTE(NAMED, block)(LV_BLOCK_ARGS(lv))
{
    WORD *s = state;
    const WORD *k = K;
    LV_RELOAD(k);
    LOAD_STATE();

    LV_UNROLL(5)
    for (unsigned t0 = 0; t0 < NROUNDS; t0 += 16) {
        if (t0 < 64)
            LV_STAGE(lv, 16 * sizeof(WORD), t0 / 16, 1);
        ROUNDS8(COMPUTED, 0);
        ROUNDS8(COMPUTED, 8);
    }
    ADD_TO_STATE();
}

LV_BLOCKS(lv, NAMED, 1)

LV_KERNEL void NAME(scheduled)(void *state, const void *given)
{
    WORD *s = state;
    const WORD *schedule = given;
    LOAD_STATE();

    for (unsigned t0 = 0; t0 < NROUNDS; t0 += 16) {
        ROUNDS8(GIVEN, 0);
        ROUNDS8(GIVEN, 8);
    }
    ADD_TO_STATE();
}

LV_WHOLE(lv, NAMED, 8, 1)

#if LANES == 1
void NAME(schedule)(const uint8_t block[], void *schedule)
{
    WORD w[16], *wk = schedule;

    LV(load_block)(w, &block, 0, 1);
    for (unsigned t = 0; t < NROUNDS; t++) {
        if (t >= 16)
            w[t & 15] = SCHEDULE(t);
        wk[t] = w[t & 15] + K[t];
    }
}
#endif

#undef lv
#undef LV
#undef LANES
#undef WORD
#undef NAMED
#undef NAME
#undef NROUNDS
#undef K
#undef BIG_SIGMA0
#undef BIG_SIGMA1
#undef SMALL_SIGMA0
#undef SMALL_SIGMA1
#undef SCHEDULE
#undef COMPUTE
#undef ROUND
#undef ROUNDS8
#undef AHEAD
#undef COMPUTED
#undef GIVEN
#undef LOAD_STATE
#undef ADD_TO_STATE
