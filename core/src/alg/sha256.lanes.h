/* sha256.lanes.h: the block function of SHA-224 and SHA-256 (FIPS 180-4 section 6.2.2), once, over lane words.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by lanes/kernels.inc.h with a vocabulary (lv32_*) in scope. The message schedule is a ring of 16 words:
 * W[t] replaces W[t - 16] in the round that first uses it. Sixteen rounds are written out and run four times: the
 * eight variables are back under their own names after eight rounds, the ring after sixteen.
 */
/* FIPS 180-4 section 4.1.2 */
#define BIG_SIGMA0(x)   lv32_xor3(lv32_ror(x, 2), lv32_ror(x, 13), lv32_ror(x, 22))
#define BIG_SIGMA1(x)   lv32_xor3(lv32_ror(x, 6), lv32_ror(x, 11), lv32_ror(x, 25))
#define SMALL_SIGMA0(x) lv32_xor3(lv32_ror(x, 7), lv32_ror(x, 18), lv32_shr(x, 3))
#define SMALL_SIGMA1(x) lv32_xor3(lv32_ror(x, 17), lv32_ror(x, 19), lv32_shr(x, 10))

#define SCHEDULE(t) \
    w[(t) & 15] = lv32_add(lv32_add(w[(t) & 15], SMALL_SIGMA0(w[((t) + 1) & 15])), \
                           lv32_add(w[((t) + 9) & 15], SMALL_SIGMA1(w[((t) + 14) & 15])))

#define ROUND(a, b, c, d, e, f, g, h, t) \
    do { \
        if (t0 > 0) \
            SCHEDULE(t); \
        h = lv32_add(lv32_add(lv32_add(h, lv32_add(w[t], lv32_splat(k[t]))), lv32_ch(e, f, g)), BIG_SIGMA1(e)); \
        d = lv32_add(d, h); \
        h = lv32_add(lv32_add(h, lv32_maj(a, b, c)), BIG_SIGMA0(a)); \
    } while (0)

#define ROUNDS8(t) \
    do { \
        ROUND(a, b, c, d, e, f, g, h, (t)); \
        ROUND(h, a, b, c, d, e, f, g, (t) + 1); \
        ROUND(g, h, a, b, c, d, e, f, (t) + 2); \
        ROUND(f, g, h, a, b, c, d, e, (t) + 3); \
        ROUND(e, f, g, h, a, b, c, d, (t) + 4); \
        ROUND(d, e, f, g, h, a, b, c, (t) + 5); \
        ROUND(c, d, e, f, g, h, a, b, (t) + 6); \
        ROUND(b, c, d, e, f, g, h, a, (t) + 7); \
    } while (0)

LV_KERNEL void LV_NAME(sha256_blocks)(void *state, const uint8_t *const msg[], size_t nblocks)
{
    uint32_t *s = state;

    for (size_t offset = 0; nblocks > 0; nblocks--, offset += 64) {
        lv32 w[16], a = lv32_load(s), b = lv32_load(s + LV32_LANES), c = lv32_load(s + 2 * LV32_LANES),
                    d = lv32_load(s + 3 * LV32_LANES), e = lv32_load(s + 4 * LV32_LANES),
                    f = lv32_load(s + 5 * LV32_LANES), g = lv32_load(s + 6 * LV32_LANES),
                    h = lv32_load(s + 7 * LV32_LANES);

        lv32_load_block_be(w, msg, offset);
        LV_UNROLL(4)
        for (unsigned t0 = 0; t0 < 64; t0 += 16) {
            const uint32_t *k = hli_sha256_k + t0;
            ROUNDS8(0);
            ROUNDS8(8);
        }
        /* The state stays in memory between blocks: eight more live registers would spill. */
        lv32_store(s, lv32_add(lv32_load(s), a));
        lv32_store(s + LV32_LANES, lv32_add(lv32_load(s + LV32_LANES), b));
        lv32_store(s + 2 * LV32_LANES, lv32_add(lv32_load(s + 2 * LV32_LANES), c));
        lv32_store(s + 3 * LV32_LANES, lv32_add(lv32_load(s + 3 * LV32_LANES), d));
        lv32_store(s + 4 * LV32_LANES, lv32_add(lv32_load(s + 4 * LV32_LANES), e));
        lv32_store(s + 5 * LV32_LANES, lv32_add(lv32_load(s + 5 * LV32_LANES), f));
        lv32_store(s + 6 * LV32_LANES, lv32_add(lv32_load(s + 6 * LV32_LANES), g));
        lv32_store(s + 7 * LV32_LANES, lv32_add(lv32_load(s + 7 * LV32_LANES), h));
    }
}

#undef BIG_SIGMA0
#undef BIG_SIGMA1
#undef SMALL_SIGMA0
#undef SMALL_SIGMA1
#undef SCHEDULE
#undef ROUND
#undef ROUNDS8
