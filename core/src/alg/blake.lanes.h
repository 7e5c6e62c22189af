/* blake.lanes.h: the block functions of BLAKE2 and BLAKE3, once, over lane words: BLAKE2s and BLAKE3 on words of 32
 * bits, BLAKE2b on words of 64 (RFC 7693 section 3.2; BLAKE3, 2020, section 2.2).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by alg/kernels.inc.h with BLAKE 22 (BLAKE2s), 23 (BLAKE2b) and 3, and a vocabulary in scope. The functions
 * differ in the word, the rotations, the rounds, and in what goes in beside the block: words behind the eight of the
 * chaining value. They are little-endian.
 *
 *   BLAKE2  the counter of bytes (one word of 64 bits, or two of 32), which the function advances; the mark of the last
 *           block; the length of the digest, which it does not read
 *   BLAKE3  the number of the chunk (two words), the bytes in the block, the flags of the block, from which the
 *           function takes CHUNK_START for the next one, and those of the last block beside, which it does not read
 *
 * Four columns, or four diagonals, go side by side, operation by operation. BLAKE3's chaining values stay in registers
 * from block to block, for which its blocks are copied where the others are staged.
 */
#if BLAKE == 3 || BLAKE == 22
#  define lv      lv32
#  define LV(op)  lv32_##op
#  define LANES   LV32_LANES
#  define WORD    uint32_t
#  define IV      hli_sha256_iv
#  define R1      16
#  define R2      12
#  define R3      8
#  define R4      7
#  define NBYTES  64
#  define NSTATE  (BLAKE == 3 ? 13 : 12)
#else
#  define lv      lv64
#  define LV(op)  lv64_##op
#  define LANES   LV64_LANES
#  define WORD    uint64_t
#  define IV      hli_sha512_iv
#  define R1      32
#  define R2      24
#  define R3      16
#  define R4      63
#  define NBYTES  128
#  define NSTATE  11
#endif
#if BLAKE == 3
#  define NAMED blake3
#elif BLAKE == 22
#  define NAMED blake2s
#else
#  define NAMED blake2b
#endif
#define ROOM  16
#define ORDER LV_COUNTED

/* Each of these is one operation of the four mixing functions. */
#define MIX_ADD(a0, a1, a2, a3, x0, x1, x2, x3) \
    (a0 = LV(add)(a0, x0), a1 = LV(add)(a1, x1), a2 = LV(add)(a2, x2), a3 = LV(add)(a3, x3))
#define MIX_ROR(a0, a1, a2, a3, x0, x1, x2, x3, n) \
    do { \
        a0 = LV(xor)(a0, x0), a1 = LV(xor)(a1, x1), a2 = LV(xor)(a2, x2), a3 = LV(xor)(a3, x3); \
        a0 = LV(ror)(a0, n), a1 = LV(ror)(a1, n), a2 = LV(ror)(a2, n), a3 = LV(ror)(a3, n); \
    } while (0)
#define MIX(a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3, x0, y0, x1, y1, x2, y2, x3, y3) \
    do { \
        MIX_ADD(a0, a1, a2, a3, w[x0], w[x1], w[x2], w[x3]); \
        MIX_ADD(a0, a1, a2, a3, b0, b1, b2, b3); \
        MIX_ROR(d0, d1, d2, d3, a0, a1, a2, a3, R1); \
        MIX_ADD(c0, c1, c2, c3, d0, d1, d2, d3); \
        MIX_ROR(b0, b1, b2, b3, c0, c1, c2, c3, R2); \
        MIX_ADD(a0, a1, a2, a3, w[y0], w[y1], w[y2], w[y3]); \
        MIX_ADD(a0, a1, a2, a3, b0, b1, b2, b3); \
        MIX_ROR(d0, d1, d2, d3, a0, a1, a2, a3, R3); \
        MIX_ADD(c0, c1, c2, c3, d0, d1, d2, d3); \
        MIX_ROR(b0, b1, b2, b3, c0, c1, c2, c3, R4); \
    } while (0)
#define ROUND(s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15) \
    do { \
        MIX(v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, s0, s1, s2, s3, s4, s5, s6, s7); \
        MIX(v0, v1, v2, v3, v5, v6, v7, v4, v10, v11, v8, v9, v15, v12, v13, v14, s8, s9, s10, s11, s12, s13, s14, \
            s15); \
    } while (0)

#define SET(i, x)   LV(store)(s + (i) * LANES, x)
#define GET(i)      LV(load)(s + (i) * LANES)
#define SET_CHAIN(v) /* no loop, which would keep v in memory */ \
    (SET(0, v[0]), SET(1, v[1]), SET(2, v[2]), SET(3, v[3]), SET(4, v[4]), SET(5, v[5]), SET(6, v[6]), SET(7, v[7]))
#define CHAIN(i, x, y) SET(i, LV(xor3)(GET(i), x, y))
#define COPY(part)  (more ? LV(copy)(staging, msg, offset + NBYTES, part) : (void)0)
#define STAGE(part) LV_STAGE(lv, NBYTES, part, 0)

#if BLAKE != 3
/* Advances the counter. x = v12 to v15. */
LV_FN void LV_PASTE(NAMED, count)(WORD *s, lv x[4])
{
    const lv before = GET(8), count = LV(add)(before, LV(splat)(NBYTES));
    x[0] = LV(xor)(LV(splat)(IV[4]), count);
    SET(8, count);
#  if BLAKE == 22
    /* The carry is the upper bit of a majority, as in an adder, that is, the lowest bit of it after a shift. */
    const lv carry = LV(shr)(LV(maj)(before, LV(splat)(NBYTES), LV(xor)(count, LV(splat)(UINT32_MAX))), 31);
    const lv high = LV(add)(GET(9), carry);
    SET(9, high);
    x[1] = LV(xor)(LV(splat)(IV[5]), high), x[2] = LV(xor)(LV(splat)(IV[6]), GET(10)), x[3] = LV(splat)(IV[7]);
#  else
    x[1] = LV(splat)(IV[5]), x[2] = LV(xor)(LV(splat)(IV[6]), GET(9)), x[3] = LV(splat)(IV[7]);
#  endif
}
#endif

#if defined(LV_BLAKE_ROUNDS) && BLAKE != 23
#  include "../words/blake_rounds.inc.h"
#endif
#define CHAIN_IN {GET(0), GET(1), GET(2), GET(3), GET(4), GET(5), GET(6), GET(7)}
#if BLAKE == 3
/* v, the chaining value, becomes that after the block w. */
LV_FN void blake3_one(LV_BLOCK_ARGS(lv), lv v[8])
{
    WORD *s = state;
    (void)msg, (void)offset, (void)staging, (void)more;
#  ifdef LV_BLAKE_ROUNDS
    blake3_rounds(v, s, s + 8 * LANES, w);
    SET(11, LV(maj)(GET(11), LV(splat)(~UINT32_C(1)), LV(splat)(0)));
#  else
    lv v0 = v[0], v1 = v[1], v2 = v[2], v3 = v[3], v4 = v[4], v5 = v[5], v6 = v[6], v7 = v[7];
    lv v8 = LV(splat)(IV[0]), v9 = LV(splat)(IV[1]), v10 = LV(splat)(IV[2]), v11 = LV(splat)(IV[3]);
    lv v12 = GET(8), v13 = GET(9), v14 = GET(10), v15 = GET(11);

    SET(11, LV(maj)(v15, LV(splat)(~UINT32_C(1)), LV(splat)(0))); /* without CHUNK_START */
    ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    COPY(0);
    ROUND(2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8);
    COPY(1);
    ROUND(3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1);
    COPY(2);
    ROUND(10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6);
    COPY(3);
    ROUND(12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4);
    ROUND(9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7);
    ROUND(11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13);
    v[0] = LV(xor)(v0, v8), v[1] = LV(xor)(v1, v9), v[2] = LV(xor)(v2, v10), v[3] = LV(xor)(v3, v11);
    v[4] = LV(xor)(v4, v12), v[5] = LV(xor)(v5, v13), v[6] = LV(xor)(v6, v14), v[7] = LV(xor)(v7, v15);
#  endif
}
#endif

LV_BLOCK_FN void LV_PASTE(NAMED, block)(LV_BLOCK_ARGS(lv))
{
    WORD *s = state;
#if BLAKE == 3
    lv v[8] = CHAIN_IN;
    blake3_one(state, w, msg, offset, staging, more, v);
    SET_CHAIN(v);
#else
    lv x[4];
    LV_PASTE(NAMED, count)(s, x);
#  if defined(LV_BLAKE_ROUNDS) && BLAKE == 22
    lv v[8] = CHAIN_IN;
    (void)msg, (void)offset, (void)staging, (void)more;
    blake2s_rounds(v, s, (const WORD *)x, w);
    SET_CHAIN(v);
#  else
    lv v0 = GET(0), v1 = GET(1), v2 = GET(2), v3 = GET(3), v4 = GET(4), v5 = GET(5), v6 = GET(6), v7 = GET(7);
    lv v8 = LV(splat)(IV[0]), v9 = LV(splat)(IV[1]), v10 = LV(splat)(IV[2]), v11 = LV(splat)(IV[3]);
    lv v12 = x[0], v13 = x[1], v14 = x[2], v15 = x[3];

    STAGE(0);
    ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    ROUND(14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3);
    STAGE(1);
    ROUND(11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4);
    ROUND(7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8);
    ROUND(9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13);
    STAGE(2);
    ROUND(2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9);
    ROUND(12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11);
    STAGE(3);
    ROUND(13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10);
    ROUND(6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5);
    ROUND(10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0);
#    if BLAKE == 23
    ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    ROUND(14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3);
#    endif
    CHAIN(0, v0, v8), CHAIN(1, v1, v9), CHAIN(2, v2, v10), CHAIN(3, v3, v11);
    CHAIN(4, v4, v12), CHAIN(5, v5, v13), CHAIN(6, v6, v14), CHAIN(7, v7, v15);
#  endif
#endif
}

#if BLAKE == 3
/* The chaining value stays in registers from block to block. The one that `last` blocks are left at ends chunks or
 * nodes: 1, or 0, which none is. */
LV_SHARED void blake3_run(WORD *s, const uint8_t *const msg[], size_t nblocks, size_t last, const struct given *given)
{
    LV(staging) staging;
    lv v[8] = CHAIN_IN;

    (void)given;
    for (size_t offset = 0; nblocks > 0; nblocks--, offset += NBYTES) {
        lv w[16];
#  if LV_STAGES
        if (offset > 0)
            LV(copied)(w, &staging);
        else if (given == NULL)
            LV(load_block)(w, msg, 0, 0);
        else
            LV(load_padded)(w, given->whole, msg, given->nbytes, given->b, LV_COUNTED);
#  elif defined(LV_BLAKE_ROUNDS)
        LV(load_blended)(w, msg, offset);
#  else
        LV(load_block)(w, msg, offset, 0);
#  endif
        /* No branch, for each of whose ways gcc would write the rounds out. */
        const lv ends = LV(maj)(GET(12), LV(splat)(nblocks == last ? UINT32_MAX : 0), LV(splat)(0));
        SET(11, LV(maj)(GET(11), ends, LV(splat)(UINT32_MAX)));
        blake3_one(s, w, msg, offset, &staging, nblocks > 1, v);
    }
    SET_CHAIN(v);
}

LV_KERNEL void LV_NAME(blake3_blocks)(HLI_BLOCKS_ARGS)
{
    blake3_run(state, msg, nblocks, 0, NULL);
}
#else
#  include "blocks.inc.h"
#endif
#include "whole.inc.h"

#undef lv
#undef LV
#undef LANES
#undef WORD
#undef NAMED
#undef IV
#undef R1
#undef R2
#undef R3
#undef R4
#undef NBYTES
#undef NSTATE
#undef ROOM
#undef ORDER
#undef MIX_ADD
#undef MIX_ROR
#undef MIX
#undef ROUND
#undef SET
#undef GET
#undef CHAIN
#undef SET_CHAIN
#undef CHAIN_IN
#undef STAGE
#undef COPY
