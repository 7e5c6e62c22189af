/* sha1dc.lanes.h: which disturbance vectors a block leaves possible (Stevens and Shumow 2017, section 4), and whether
 * it is the block of an attack by one of them, over lane words.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by alg/kernels.inc.h. The conditions (sha1dc.def) look at the message schedule alone, not at the state:
 * the blocks of all lanes may be those of one message. Those of many messages are searched as they are hashed. Vectors
 * that differ in k have the same conditions, k words on. A plane gathers one bit of all words, word after word; one
 * operation on planes then is a condition of all vectors of a kind.
 */
#ifdef lv32_and
#  define COPIES                 LV32_LANES /* of a constant, which then is an operand in memory */
#  define CONSTANT(c)            lv32_load(c)
#  define PICKED(p, x, m)        lv32_xor(p, lv32_and(x, m)) /* the plane has no such bit yet */
#  define KEPT(x, y, m, differ)  lv32_andn(differ ? lv32_andn(lv32_xor(x, y), m) : lv32_and(lv32_xor(x, y), m), kept)
#else
#  define COPIES                 1
#  define CONSTANT(c)            lv32_splat(*(c))
#  define PICKED(p, x, m)        lv32_ch(m, x, p)
#  ifndef lv32_and_orn
#    define lv32_and_orn(x, y, z) lv32_ch(x, lv32_orn_xor(y, z, lv32_splat(0)), lv32_splat(0))
#  endif
#  define KEPT(x, y, m, differ) \
      lv32_and_orn(kept, differ ? lv32_xor(x, y) : lv32_xor3(x, y, lv32_splat(UINT32_MAX)), m)
#endif
#define EACH(c) {[0 ... COPIES - 1] = (c)}
#define ROTATED(x, n) (((n) & 31) == 0 ? (x) : lv32_rol(x, ((n) & 31) == 0 ? 1 : (n) & 31))

/* Bit i of word t becomes bit AT(i, t) of plane i. */
#define AT(i, t) (((i) + (t) - 34) & 31)
#define WORD(t)   (LV_NAME(sha1dc_gather)(plane, lv32_rol(w[t], (t) - 34), t, bits))
#define WORDS5(t) WORD(t), WORD((t) + 1), WORD((t) + 2), WORD((t) + 3), WORD((t) + 4)

/* The bits that conditions need of word t, a literal, which was rotated for it. */
LV_FN void LV_NAME(sha1dc_gather)(lv32 plane[31], lv32 word, unsigned t, const uint32_t (*bits)[COPIES])
{
#define BITS(i, first, last) \
    if (t >= (first) && t <= (last)) \
        plane[i] = PICKED(plane[i], word, CONSTANT(bits[AT(i, t)]));
#include "../sha1dc.def"
}

/* possible[l] = the vectors that the message schedule in lane l leaves possible. Words 35 to 64 of it are read. */
LV_FN void LV_NAME(sha1dc_find)(const lv32 w[], uint32_t *possible)
{
    enum {
#define KIND(kind, bit) kind = bit,
#include "../sha1dc.def"
    };
    /* By how much the plane of i is rotated for a condition: bit i of word k + t then is the bit of the kind's k. */
#define TURN(kind, i, t) (((kind) - AT(i, t)) & 31)
    __extension__ static const uint32_t all_masks[][COPIES] __attribute__((aligned(4 * COPIES))) = {
#define CONDITION(kind, t, i, u, j, differ, vectors) \
    EACH(UINT32_C(vectors) >> TURN(kind, i, t) | (uint32_t)(UINT64_C(vectors) << (32 - TURN(kind, i, t)))),
#include "../sha1dc.def"
    };
#define BITS4(i) EACH(UINT32_C(1) << (i)), EACH(UINT32_C(2) << (i)), EACH(UINT32_C(4) << (i)), EACH(UINT32_C(8) << (i))
    __extension__ static const uint32_t all_bits[32][COPIES] __attribute__((aligned(4 * COPIES))) = {
        BITS4(0), BITS4(4), BITS4(8), BITS4(12), BITS4(16), BITS4(20), BITS4(24), BITS4(28)};
#undef BITS4
    const uint32_t (*mask)[COPIES] = all_masks, (*bits)[COPIES] = all_bits;
    lv32 plane[31], kept = lv32_splat(UINT32_MAX);

    if (LV32_LANES > 1) { /* a vector of one word is a load; a constant would take a general register first */
        HLI_NEW_POINTER(bits);
        HLI_NEW_POINTER(mask);
    }
    LV_UNROLL(31)
    for (unsigned i = 0; i < 31; i++)
        plane[i] = lv32_splat(0);
    WORDS5(35), WORDS5(40), WORDS5(45), WORDS5(50), WORDS5(55), WORDS5(60);
    /* The plane of i stays where it is, and what is kept is rotated from condition to condition. */
#define ROTATE(n) kept = lv32_rol(kept, n);
#define OTHER(i, t, j, u) ROTATED(plane[j], AT(i, t) - AT(j, u))
#define CONDITION(kind, t, i, u, j, differ, vectors) \
    kept = KEPT(plane[i], OTHER(i, t, j, u), CONSTANT(*mask), differ); \
    mask++;
#include "../sha1dc.def"
    lv32_store(possible, kept);
}

#define NEXT_WORD(a, b, c, d) lv32_rol(lv32_xor(lv32_xor3(a, b, c), d), 1)

LV_KERNEL void LV_NAME(sha1dc_possible)(const uint8_t *const msg[], uint32_t *possible)
{
    lv32 w[65];

    lv32_load_block(w, msg, 0, 1);
    LV_UNROLL(49) /* a word that waited for the one three before it to get to memory and back would be late */
    for (unsigned t = 16; t < 65; t++)
        w[t] = NEXT_WORD(w[t - 16], w[t - 14], w[t - 8], w[t - 3]);
    LV_NAME(sha1dc_find)(w, possible);
}

/* The kernel that hashes and searches (hli_detector). */
LV_KERNEL void LV_NAME(sha1dc_blocks)(HLI_BLOCKS_ARGS)
{
    uint32_t *s = state;
    lv32_staging staging;

    for (size_t offset = 0; nblocks > 0; nblocks--, offset += 64) {
        lv32 w[81];
#if LV_STAGES
        if (offset > 0)
            lv32_staged(w, &staging);
        else
#endif
            lv32_load_block(w, msg, offset, 1);
        for (unsigned i = 0; i < 5; i++)
            lv32_store(s + (6 + i) * LV32_LANES, lv32_load(s + i * LV32_LANES));
        s += 6 * LV32_LANES;
        sha1_block(s, w, msg, offset, &staging, nblocks > 1);
        LV_NAME(sha1dc_find)(w, s + 5 * LV32_LANES);
    }
}

/* f of FIPS 180-4 section 4.1.1, for a literal quarter. */
#define FUNCTION(quarter, b, c, d) \
    ((quarter) == 0 ? lv32_ch(b, c, d) : (quarter) == 2 ? lv32_maj(b, c, d) : lv32_xor3(b, c, d))

/* Steps of one quarter, from `from` on, up to `to`; or taken back, from `from` down to `to`. Five of them leave each
 * word in its register. */
LV_FN void LV_NAME(sha1dc_steps)(unsigned quarter, lv32 s[5], const lv32 w[], unsigned from, unsigned to)
{
    const lv32 k = lv32_splat(hli_sha1_k[quarter]);

    LV_UNROLL(5)
    for (unsigned t = from; t < to; t++) {
        const lv32 x = lv32_add(lv32_add(s[4], lv32_add(w[t], k)),
                                lv32_add(FUNCTION(quarter, s[1], s[2], s[3]), lv32_rol(s[0], 5)));
        s[4] = s[3], s[3] = s[2], s[2] = lv32_rol(s[1], 30), s[1] = s[0], s[0] = x;
    }
}
LV_FN void LV_NAME(sha1dc_back)(unsigned quarter, lv32 s[5], const lv32 w[], unsigned from, unsigned to)
{
    const lv32 k = lv32_splat(hli_sha1_k[quarter]);

    LV_UNROLL(5)
    for (unsigned t = from; t > to; t--) {
        const lv32 x = s[0];
        s[0] = s[1], s[1] = lv32_rol(s[2], 2), s[2] = s[3], s[3] = s[4];
        s[4] = lv32_sub(lv32_sub(lv32_sub(x, lv32_rol(s[0], 5)), lv32_add(w[t - 1], k)),
                        FUNCTION(quarter, s[1], s[2], s[3]));
    }
}

/* Whether the other block leads from the same state in the middle to the same chaining value. The state after step 65
 * is the same where `late` has ones, otherwise the one after step 58. */
LV_KERNEL void LV_NAME(sha1dc_differ)(const struct hli_tries *tries, uint32_t *differ)
{
    lv32 w[16], other[80], last[22], begin[5], end[5], all = lv32_splat(0);
    const lv32 late = lv32_load(tries->late), rotated = lv32_load(tries->rotated);

    lv32_load_block(w, tries->blocks, 0, 1);
    lv32_load_block(other, tries->differences, 0, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    for (unsigned t = 0; t < 16; t++)
        other[t] = lv32_xor(w[t], lv32_ch(rotated, lv32_rol(other[t], 2), other[t]));
    for (unsigned t = 16; t < 80; t++) { /* the two beside each other; of the first all words would take 5 KiB more */
        last[t < 58 ? 0 : t - 58] = w[t % 16] =
            NEXT_WORD(w[t % 16], w[(t + 2) % 16], w[(t + 8) % 16], w[(t + 13) % 16]);
        other[t] = NEXT_WORD(other[t - 16], other[t - 14], other[t - 8], other[t - 3]);
    }
    for (unsigned t = 58; t < 65; t++)
        last[t - 58] = lv32_ch(late, other[t], last[t - 58]);
    for (unsigned i = 0; i < 5; i++)
        end[i] = lv32_load(tries->ends + LV32_LANES * i);
    LV_NAME(sha1dc_back)(3, end, last, 22, 2);
    LV_NAME(sha1dc_back)(2, end, last, 2, 0);
    for (unsigned i = 0; i < 5; i++)
        begin[i] = end[i];
    LV_NAME(sha1dc_steps)(2, end, other, 58, 60);
    LV_NAME(sha1dc_steps)(3, end, other, 60, 80);
    LV_NAME(sha1dc_back)(2, begin, other, 58, 40);
    LV_NAME(sha1dc_back)(1, begin, other, 40, 20);
    LV_NAME(sha1dc_back)(0, begin, other, 20, 0);
    for (unsigned i = 0; i < 5; i++) {
        const lv32 x = lv32_xor(lv32_add(begin[i], end[i]), lv32_load(tries->after + LV32_LANES * i));
        all = lv32_orn_xor(x, lv32_xor(all, lv32_splat(UINT32_MAX)), lv32_splat(0));
    }
    lv32_store(differ, all);
}

#undef COPIES
#undef CONSTANT
#undef PICKED
#undef KEPT
#undef EACH
#undef ROTATED
#undef AT
#undef WORD
#undef WORDS5
#undef TURN
#undef OTHER
#undef FUNCTION
#undef NEXT_WORD
