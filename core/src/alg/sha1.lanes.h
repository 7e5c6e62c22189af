/* sha1.lanes.h: the block function of SHA-1 (FIPS 180-4 section 6.1.2), once, over lane words.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by alg/kernels.inc.h with a vocabulary (lv32_*) in scope. With 32 registers W[t] is computed three rounds
 * before its own, so that schedule and rounds overlap and no round waits for its word. All 80 rounds are then written
 * out: the compiler knows every index, and W[t] takes the register of W[t - 16]. A block function leaves the whole
 * schedule in w, as the search for attacks needs it (sha1dc.lanes.h).
 */
#define lv     lv32
#define LV(op) lv32_##op
#define NAMED  sha1
#define NSTATE 5
#define ORDER  1

/* The newest word comes last. */
#define SCHEDULE(t) lv32_rol(lv32_xor3(lv32_xor(w[(t) - 16], w[(t) - 14]), w[(t) - 8], w[(t) - 3]), 1)

/* Computes W[t] unless it is in the block, or beyond the last. */
#define COMPUTE(t) ((t) >= 16 && (t) < 80 ? (void)(w[t] = SCHEDULE(t)) : (void)0)

/* T = ROTL5(a) + f(b, c, d) + e + K + W, then the five variables move on by one name: T stays in e, b becomes
 * ROTL30(b). f is Ch, Parity (three-way xor) or Maj. Terms that do not wait for the round before are added first.
 * ROTL30 is taken before f, so that f's one vpternlogd may overwrite b. */
#define ROUND(f, wk, a, b, c, d, e) \
    do { \
        e = lv32_add(e, wk); \
        const lv32 b30 = lv32_rol(b, 30); \
        e = lv32_add(lv32_add(e, f(b, c, d)), lv32_rol(a, 5)); \
        b = b30; \
    } while (0)

/* WK(t, k): W[t] + K; the including function defines it. */
#define ROUNDS5(f, WK, k, t) \
    do { \
        ROUND(f, WK((t), k), a, b, c, d, e); \
        ROUND(f, WK((t) + 1, k), e, a, b, c, d); \
        ROUND(f, WK((t) + 2, k), d, e, a, b, c); \
        ROUND(f, WK((t) + 3, k), c, d, e, a, b); \
        ROUND(f, WK((t) + 4, k), b, c, d, e, a); \
    } while (0)

#define ROUNDS20(f, WK, k, t) \
    do { \
        ROUNDS5(f, WK, k, (t)); \
        ROUNDS5(f, WK, k, (t) + 5); \
        ROUNDS5(f, WK, k, (t) + 10); \
        ROUNDS5(f, WK, k, (t) + 15); \
    } while (0)

/* Zen 4, ns a block, the schedule 0 and 3 rounds ahead, gcc 12 and clang 14: over AVX-512 138.6 -> 133.2,
 * 142.6 -> 136.1, over AVX2 128.4 -> 113.1, 119.5 -> 115.5. */
#define COMPUTED(t, k) (COMPUTE((t) + 3), lv32_add(w[t], lv32_splat(k)))
#define GIVEN(t, k)    lv32_splat(schedule[t])
#define STAGE(part)    LV_STAGE(lv32, 64, part, 1)

#define LOAD_STATE() \
    lv32 a = lv32_load(s), b = lv32_load(s + LV32_LANES), c = lv32_load(s + 2 * LV32_LANES), \
         d = lv32_load(s + 3 * LV32_LANES), e = lv32_load(s + 4 * LV32_LANES)
#define ADD_TO_STATE() \
    do { \
        lv32_store(s, lv32_add(lv32_load(s), a)); \
        lv32_store(s + LV32_LANES, lv32_add(lv32_load(s + LV32_LANES), b)); \
        lv32_store(s + 2 * LV32_LANES, lv32_add(lv32_load(s + 2 * LV32_LANES), c)); \
        lv32_store(s + 3 * LV32_LANES, lv32_add(lv32_load(s + 3 * LV32_LANES), d)); \
        lv32_store(s + 4 * LV32_LANES, lv32_add(lv32_load(s + 4 * LV32_LANES), e)); \
    } while (0)

/* With few registers the schedule is an array in memory, computed sixteen rounds ahead, and five rounds are a loop, as
 * in sha2.lanes.h: 0.96 of the time of all written out over SSE2, 0.99 over AVX2, 0.94 in plain C (Zen 1, gcc 12.2). */
#ifndef LV_FEW_REGISTERS
#  define ROOM 80
LV_BLOCK_FN void sha1_block(LV_BLOCK_ARGS(lv32))
{
    uint32_t *s = state;
    LOAD_STATE();

    STAGE(0);
    ROUNDS20(lv32_ch, COMPUTED, hli_sha1_k[0], 0);
    STAGE(1);
    ROUNDS20(lv32_xor3, COMPUTED, hli_sha1_k[1], 20);
    STAGE(2);
    ROUNDS20(lv32_maj, COMPUTED, hli_sha1_k[2], 40);
    STAGE(3);
    ROUNDS20(lv32_xor3, COMPUTED, hli_sha1_k[3], 60);
    ADD_TO_STATE();
}
#else
#  define ROOM 81
#  define COMPUTING(t, k) \
      __extension__({ \
          HLI_NEW_POINTER(w); \
          w[(t) + 16] = SCHEDULE((t) + 16); \
          KEPT(t, k); \
      })
#  define KEPT(t, k) lv32_add(w[t], lv32_splat(k))
LV_BLOCK_FN void sha1_block(LV_BLOCK_ARGS(lv32))
{
    uint32_t *s = state;
    const lv32 *const begin = w;
    LOAD_STATE();

    (void)msg, (void)offset, (void)staging, (void)more;
    LV_LOOP
    for (; w < begin + 20; w += 5)
        ROUNDS5(lv32_ch, COMPUTING, hli_sha1_k[0], 0);
    LV_LOOP
    for (; w < begin + 40; w += 5)
        ROUNDS5(lv32_xor3, COMPUTING, hli_sha1_k[1], 0);
    LV_LOOP
    for (; w < begin + 60; w += 5)
        ROUNDS5(lv32_maj, COMPUTING, hli_sha1_k[2], 0);
    ROUNDS5(lv32_xor3, COMPUTING, hli_sha1_k[3], 0);
    w += 5;
    LV_LOOP
    for (; w < begin + 80; w += 5)
        ROUNDS5(lv32_xor3, KEPT, hli_sha1_k[3], 0);
    ADD_TO_STATE();
}
#endif

#include "blocks.inc.h"

LV_KERNEL void LV_NAME(sha1_scheduled)(void *state, const void *given)
{
    uint32_t *s = state;
    const uint32_t *schedule = given, *const end = schedule + 80;
    LOAD_STATE();

    LV_LOOP
    for (; schedule < end - 60; schedule += 5)
        ROUNDS5(lv32_ch, GIVEN, 0, 0);
    LV_LOOP
    for (; schedule < end - 40; schedule += 5)
        ROUNDS5(lv32_xor3, GIVEN, 0, 0);
    LV_LOOP
    for (; schedule < end - 20; schedule += 5)
        ROUNDS5(lv32_maj, GIVEN, 0, 0);
    LV_LOOP
    for (; schedule < end; schedule += 5)
        ROUNDS5(lv32_xor3, GIVEN, 0, 0);
    ADD_TO_STATE();
}

#include "whole.inc.h"

#if LV32_LANES == 1
void LV_NAME(sha1_schedule)(const uint8_t block[], void *schedule)
{
    uint32_t w[80], *wk = schedule;

    lv32_load_block(w, &block, 0, 1);
    for (unsigned t = 0; t < 80; t++) {
        COMPUTE(t);
        wk[t] = w[t] + hli_sha1_k[t / 20];
    }
}
#endif

#undef lv
#undef LV
#undef NAMED
#undef ROOM
#undef NSTATE
#undef ORDER
#undef SCHEDULE
#undef COMPUTE
#undef ROUND
#undef COMPUTED
#undef COMPUTING
#undef KEPT
#undef GIVEN
#undef STAGE
#undef LOAD_STATE
#undef ADD_TO_STATE
#undef ROUNDS5
#undef ROUNDS20
