/* sha2.lanes.h: the block functions of SHA-2, once, over lane words: SHA-224 and SHA-256 (FIPS 180-4 section 6.2.2) on
 * words of 32 bits; SHA-384, SHA-512 and SHA-512/t (section 6.4.2) on words of 64.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included twice by alg/kernels.inc.h, with SHA2_WORD 32 and 64 and a vocabulary (lv32_*, lv64_*) in scope. Both
 * functions differ in the word, the rotations and the number of rounds. Eight rounds are written out, after which the
 * eight variables have their own names again. No round waits for its word of the message schedule:
 *
 * - With 16 registers and less, the schedule is an array in memory, computed sixteen rounds ahead, and the eight rounds
 *   are a loop. All rounds written out do not fit the CPU's cache of decoded instructions (1,536 operations from
 *   Haswell to Skylake, 4,096 on Zen 2 and 3); the two loops of a block have 510 and 310. Zen 4, cycles for a block
 *   of all lanes, all written out and in loops, gcc 12 and clang 14: SHA-256 over AVX2 1,556 -> 1,231, 1,297 -> 1,222,
 *   over SSE2 2,327 -> 1,309, 1,754 -> 1,292; SHA-512 over AVX2 1,862 -> 1,501, 1,594 -> 1,487.
 * - Over AVX-512, whose blocks are staged between the rounds, and NEON, it is a ring of 16 words in registers: W[t]
 *   replaces W[t - 16] three rounds before its own. (In loops SHA-256 over NEON takes 1,549 cycles instead of 1,429,
 *   over SHA3's instructions 1,489 instead of 1,199: llvm-mca 14's model of the Neoverse N1, gcc 12.)
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
#define NSTATE 8
#define ORDER  1

#define NAME(what) LV_NAME(LV_PASTE(NAMED, what))

/* W[t] of the message schedule, from W[t - 16], W[t - 15], W[t - 7] and W[t - 2]. */
#define SCHEDULE(w16, w15, w7, w2) \
    LV(add)(LV(add)(w16, SMALL_SIGMA0(w15)), LV(add)(w7, SMALL_SIGMA1(w2)))

/* Maj(a, b, c) = b ^ ((a ^ b) & (b ^ c)), and b ^ c is the a ^ b of the round before. */
#ifdef lv32_and
LV_FN lv LV_PASTE(NAMED, maj)(lv a, lv b, lv *bc)
{
    const lv ab = LV(xor)(a, b), maj = LV(xor)(b, LV(and)(ab, *bc));

    *bc = ab;
    return maj;
}
#  define MAJ(a, b, c) LV_PASTE(NAMED, maj)(a, b, &bc)
#  define LOAD_BC      lv bc = LV(xor)(b, c)
#else
#  define MAJ(a, b, c) LV(maj)(a, b, c)
#  define LOAD_BC      (void)0
#endif

#define ROUND(wk, a, b, c, d, e, f, g, h) \
    do { \
        h = LV(add)(h, wk); \
        h = LV(add)(h, LV(ch)(e, f, g)); \
        h = LV(add)(h, BIG_SIGMA1(e)); \
        d = LV(add)(d, h); \
        h = LV(add)(h, MAJ(a, b, c)); \
        h = LV(add)(h, BIG_SIGMA0(a)); \
    } while (0)

/* WK(t): W + K of round t of the present eight; the including function defines it. */
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

/* A loop repeats this number of rounds. */
#ifdef LV_TWO_ROUNDS
#  define AT_ONCE 2
#  define ROUNDS(WK) \
      do { \
          ROUND(WK(0), a, b, c, d, e, f, g, h); \
          ROUND(WK(1), h, a, b, c, d, e, f, g); \
          const lv first = g, second = h; \
          h = f, g = e, f = d, e = c, d = b, c = a, b = second, a = first; \
      } while (0)
#else
#  define AT_ONCE    8
#  define ROUNDS(WK) ROUNDS8(WK, 0)
#endif

/* The state stays in memory from block to block: eight more live registers would spill. */
#define LOAD_STATE() \
    lv a = LV(load)(s), b = LV(load)(s + LANES), c = LV(load)(s + 2 * LANES), \
         d = LV(load)(s + 3 * LANES), e = LV(load)(s + 4 * LANES), f = LV(load)(s + 5 * LANES), \
         g = LV(load)(s + 6 * LANES), h = LV(load)(s + 7 * LANES); \
    LOAD_BC
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

#if LV_STAGES || defined(LV_WRITTEN_OUT)
/* Zen 4, ns a block, the schedule 0 and 3 rounds ahead, gcc 12 and clang 14: SHA-256 278 -> 265, 280 -> 271; SHA-512
 * 356 -> 339, 349 -> 337. */
#  define COMPUTE(t) \
      (t0 + (t) < 16 || t0 + (t) >= NROUNDS ? (void)0 \
                                            : (void)(w[(t) & 15] = SCHEDULE(w[(t) & 15], w[((t) + 1) & 15], \
                                                                            w[((t) + 9) & 15], w[((t) + 14) & 15])))
#  define COMPUTED(t) (COMPUTE((t) + 3), LV(add)(w[t], LV(splat)(k[t0 + (t)])))
/* W[t] + K, and W[t + 16] in its place: SHA-512 over AVX-512 is a loop, half of the code in the same time (Xeon, gcc
 * 12, 16 blocks: 11,738 and 11,710 cycles). SHA-256 takes 4% more in such a loop. */
#  define READY(t) LV(add)(w[t], LV(splat)(k[t]))
#  define REPLACED(t) \
      __extension__({ \
          const lv wk = READY(t); \
          w[t] = SCHEDULE(w[t], w[((t) + 1) & 15], w[((t) + 9) & 15], w[((t) + 14) & 15]); \
          wk; \
      })

#  if (LV_STAGES && SHA2_WORD == 64) || (!LV_STAGES && HLI_SMALL)
#    define RING_IN_LOOP 1
#  else
#    define RING_IN_LOOP 0
#  endif
LV_FN void LV_PASTE(NAMED, block)(LV_BLOCK_ARGS(lv))
{
    WORD *s = state;
    const WORD *k = K;
    LV_RELOAD(k);
    LOAD_STATE();

#  if RING_IN_LOOP
    LV_UNROLL(1)
    for (unsigned part = 0; part < NROUNDS / 16 - 1; part++, k += 16) {
        LV_STAGE(lv, 16 * sizeof(WORD), part, 1);
        ROUNDS8(REPLACED, 0);
        ROUNDS8(REPLACED, 8);
    }
    ROUNDS8(READY, 0);
    ROUNDS8(READY, 8);
#  else
    LV_UNROLL(5)
    for (unsigned t0 = 0; t0 < NROUNDS; t0 += 16) {
        if (t0 < 64)
            LV_STAGE(lv, 16 * sizeof(WORD), t0 / 16, 1);
        ROUNDS8(COMPUTED, 0);
        ROUNDS8(COMPUTED, 8);
    }
#  endif
    ADD_TO_STATE();
}

#  define ROOM 16
#else
#  define COMPUTED(t)  LV(add)(w[t], LV(splat)(k[t]))
/* Words are loaded again for each use: gcc keeps them in registers that it lacks, and spills. */
#  define COMPUTING(t) \
      __extension__({ \
          HLI_NEW_POINTER(w); \
          w[(t) + 16] = SCHEDULE(w[t], w[(t) + 1], w[(t) + 9], w[(t) + 14]); \
          COMPUTED(t); \
      })

/* Of SHA-512 gcc may make a function with two arguments: with all six it spills one vector more, and over AVX2 takes 6%
 * longer (Zen 3, gcc 12). */
#  if SHA2_WORD == 64 && defined(LV_WHOLES)
LV_KERNEL HLI_NOINLINE static
#  else
LV_BLOCK_FN
#  endif
void LV_PASTE(NAMED, block)(LV_BLOCK_ARGS(lv))
{
    WORD *s = state;
    const WORD *k = K, *const last = K + NROUNDS - 16, *const end = K + NROUNDS;
    LOAD_STATE();

    (void)msg, (void)offset, (void)staging, (void)more;
    for (; k < last; k += AT_ONCE, w += AT_ONCE)
        ROUNDS(COMPUTING);
    for (; k < end; k += AT_ONCE, w += AT_ONCE)
        ROUNDS(COMPUTED);
    ADD_TO_STATE();
}

#  define ROOM NROUNDS
#endif
#include "blocks.inc.h"

#define GIVEN(t) LV(splat)(schedule[t])

LV_KERNEL void NAME(scheduled)(void *state, const void *given)
{
    WORD *s = state;
    const WORD *schedule = given, *const end = schedule + NROUNDS;
    LOAD_STATE();

    for (; schedule < end; schedule += AT_ONCE)
        ROUNDS(GIVEN);
    ADD_TO_STATE();
}

#include "whole.inc.h"

#if SHA2_WORD == 32 && LANES > 1 && HLI_ALG(slh)
/* Rounds 4 to 63 of the block w behind the first four, which have left `fourth`, and the sum with the state `begin`. w
 * has room for LINKED_ROOM words; all behind the 16 first ones are written, or, in a ring, these. */
LV_FN void sha256_linked(const uint32_t *begin, const uint32_t *fourth, uint32_t *s, lv32 *w)
{
    const uint32_t *k = hli_sha256_k;
    lv32 a = lv32_load(fourth), b = lv32_load(fourth + LANES), c = lv32_load(fourth + 2 * LANES),
         d = lv32_load(fourth + 3 * LANES), e = lv32_load(fourth + 4 * LANES), f = lv32_load(fourth + 5 * LANES),
         g = lv32_load(fourth + 6 * LANES), h = lv32_load(fourth + 7 * LANES);
#  ifdef lv32_and
    lv32 bc = lv32_xor(f, g);
#  endif
#  define ROUNDS4(WK) \
      do { \
          ROUND(WK(4), e, f, g, h, a, b, c, d); \
          ROUND(WK(5), d, e, f, g, h, a, b, c); \
          ROUND(WK(6), c, d, e, f, g, h, a, b); \
          ROUND(WK(7), b, c, d, e, f, g, h, a); \
      } while (0)
#  if LV_STAGES || defined(LV_WRITTEN_OUT)
#    define LINKED_ROOM 16
    LV_RELOAD(k);
#    if RING_IN_LOOP
    for (unsigned t = 0; t < 4; t++)
        (void)REPLACED(t);
    ROUNDS4(REPLACED);
    ROUNDS8(REPLACED, 8);
    k += 16;
    HLI_NEW_POINTER(k); /* else gcc writes both turns out */
    for (; k < hli_sha256_k + NROUNDS - 16; k += 16) {
        ROUNDS8(REPLACED, 0);
        ROUNDS8(REPLACED, 8);
    }
    ROUNDS8(READY, 0);
    ROUNDS8(READY, 8);
#    else
    LV_UNROLL(5)
    for (unsigned t0 = 0; t0 < NROUNDS; t0 += 16) {
        if (t0 == 0)
            ROUNDS4(COMPUTED);
        else
            ROUNDS8(COMPUTED, 0);
        ROUNDS8(COMPUTED, 8);
    }
#    endif
#  else
#    define LINKED_ROOM NROUNDS
    const uint32_t *const last = k + NROUNDS - 16, *const end = k + NROUNDS;
    for (unsigned t = 0; t < 4; t++)
        w[t + 16] = SCHEDULE(w[t], w[t + 1], w[t + 9], w[t + 14]);
    ROUNDS4(COMPUTING);
    for (k += 8, w += 8; k < last; k += AT_ONCE, w += AT_ONCE)
        ROUNDS(COMPUTING);
    for (; k < end; k += AT_ONCE, w += AT_ONCE)
        ROUNDS(COMPUTED);
#  endif
#  undef ROUNDS4
#  define ADD(i, x) lv32_store(s + (i) * LANES, lv32_add(lv32_load(begin + (i) * LANES), x))
    ADD(0, a), ADD(1, b), ADD(2, c), ADD(3, d), ADD(4, e), ADD(5, f), ADD(6, g), ADD(7, h);
#  undef ADD
}

#  define LOWER_HALF(x) lv32_shr(lv32_rol(x, 16), 16)
#  define FIRST(t) lv32_add(w[t], lv32_splat(k[t]))
/* The first four words stay from step to step, and the rounds with them. The digest begins in the middle of a word, as
 * in SLH-DSA (FIPS 205 section 11.2). */
LV_KERNEL int NAME(chain)(const struct hli_links *links, const void *states, void *state, const uint8_t *const msg[])
{
    const unsigned i = links->at / 4, n = links->nbytes / 4;
    const uint32_t *const begin = states, *k = hli_sha256_k;
    uint32_t fourth[8 * LANES] __attribute__((aligned(64))), *s = (uint32_t *)(uintptr_t)begin;
    lv32 w[LINKED_ROOM];

    if (links->nbytes % 4 != 0 || links->at < 16 || links->at % 4 != 2 || links->count_at < 16)
        return 0;
    lv32_load_block(w, msg, 0, 1);
    {
        LOAD_STATE();
        ROUND(FIRST(0), a, b, c, d, e, f, g, h);
        ROUND(FIRST(1), h, a, b, c, d, e, f, g);
        ROUND(FIRST(2), g, h, a, b, c, d, e, f);
        ROUND(FIRST(3), f, g, h, a, b, c, d, e);
        const lv32 all[8] = {a, b, c, d, e, f, g, h};
        for (unsigned j = 0; j < 8; j++)
            lv32_store(fourth + j * LANES, all[j]);
    }
    s = state;
    for (unsigned left = links->nsteps;; left--) {
#  if LINKED_ROOM == 16
        lv32 ring[16];
        for (unsigned j = 0; j < 16; j++)
            ring[j] = w[j];
        sha256_linked(begin, fourth, s, ring);
#  else
        sha256_linked(begin, fourth, s, w);
#  endif
        if (left == 1)
            return 1;
        if (links->count_at < 64)
            w[links->count_at / 4] = lv32_add(w[links->count_at / 4],
                                              lv32_splat(UINT32_C(0x1000000) >> 8 * (links->count_at % 4)));
        /* The bytes before and behind stay. */
        lv32 before = lv32_xor(w[i], LOWER_HALF(w[i]));
        LV_LOOP
        for (unsigned j = 0; j < n; j++) {
            const lv32 x = lv32_load(s + j * LANES), moved = lv32_shr(x, 16);
            w[i + j] = lv32_xor(before, moved);
            before = lv32_xor(lv32_ror(x, 16), moved);
        }
        w[i + n] = lv32_xor(before, LOWER_HALF(w[i + n]));
    }
}
#  undef LOWER_HALF
#  undef FIRST
#  undef LINKED_ROOM
#endif

#if LANES == 1
void NAME(schedule)(const uint8_t block[], void *schedule)
{
    WORD w[NROUNDS], *wk = schedule;

    LV(load_block)(w, &block, 0, 1);
    for (unsigned t = 16; t < NROUNDS; t++)
        w[t] = SCHEDULE(w[t - 16], w[t - 15], w[t - 7], w[t - 2]);
    for (unsigned t = 0; t < NROUNDS; t++)
        wk[t] = w[t] + K[t];
}
#endif

#undef lv
#undef LV
#undef LANES
#undef WORD
#undef NAMED
#undef ROOM
#undef NSTATE
#undef ORDER
#undef NROUNDS
#undef K
#undef BIG_SIGMA0
#undef BIG_SIGMA1
#undef SMALL_SIGMA0
#undef SMALL_SIGMA1
#undef ROUND
#undef LOAD_STATE
#undef ADD_TO_STATE
#undef NAME
#undef SCHEDULE
#undef MAJ
#undef LOAD_BC
#undef ROUNDS8
#undef AT_ONCE
#undef ROUNDS
#undef COMPUTE
#undef COMPUTED
#undef READY
#undef RING_IN_LOOP
#undef REPLACED
#undef COMPUTING
#undef GIVEN
