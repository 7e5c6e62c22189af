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
    lv32_add(lv32_add(w[(t) & 15], SMALL_SIGMA0(w[((t) + 1) & 15])), \
             lv32_add(w[((t) + 9) & 15], SMALL_SIGMA1(w[((t) + 14) & 15])))

#define ROUND(wk, a, b, c, d, e, f, g, h) \
    do { \
        h = lv32_add(lv32_add(lv32_add(h, wk), lv32_ch(e, f, g)), BIG_SIGMA1(e)); \
        d = lv32_add(d, h); \
        h = lv32_add(lv32_add(h, lv32_maj(a, b, c)), BIG_SIGMA0(a)); \
    } while (0)

/* WK(t): W[t0 + t] + K[t0 + t], from the schedule that the including function has. */
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

#define COMPUTED(t) lv32_add(t0 == 0 ? w[t] : (w[t] = SCHEDULE(t)), lv32_splat(hli_sha256_k[t0 + (t)]))
#define GIVEN(t)    lv32_splat(schedule[t0 + (t)])

/* The state stays in memory from block to block: eight more live registers would spill. */
#define LOAD_STATE() \
    lv32 a = lv32_load(s), b = lv32_load(s + LV32_LANES), c = lv32_load(s + 2 * LV32_LANES), \
         d = lv32_load(s + 3 * LV32_LANES), e = lv32_load(s + 4 * LV32_LANES), f = lv32_load(s + 5 * LV32_LANES), \
         g = lv32_load(s + 6 * LV32_LANES), h = lv32_load(s + 7 * LV32_LANES)
#define ADD_TO_STATE() \
    do { \
        lv32_store(s, lv32_add(lv32_load(s), a)); \
        lv32_store(s + LV32_LANES, lv32_add(lv32_load(s + LV32_LANES), b)); \
        lv32_store(s + 2 * LV32_LANES, lv32_add(lv32_load(s + 2 * LV32_LANES), c)); \
        lv32_store(s + 3 * LV32_LANES, lv32_add(lv32_load(s + 3 * LV32_LANES), d)); \
        lv32_store(s + 4 * LV32_LANES, lv32_add(lv32_load(s + 4 * LV32_LANES), e)); \
        lv32_store(s + 5 * LV32_LANES, lv32_add(lv32_load(s + 5 * LV32_LANES), f)); \
        lv32_store(s + 6 * LV32_LANES, lv32_add(lv32_load(s + 6 * LV32_LANES), g)); \
        lv32_store(s + 7 * LV32_LANES, lv32_add(lv32_load(s + 7 * LV32_LANES), h)); \
    } while (0)

LV_KERNEL void LV_NAME(sha256_blocks)(void *state, const uint8_t *const msg[], size_t nblocks)
{
    uint32_t *s = state;

    for (size_t offset = 0; nblocks > 0; nblocks--, offset += 64) {
        lv32 w[16];
        LOAD_STATE();

        lv32_load_block_be(w, msg, offset);
        LV_UNROLL(4)
        for (unsigned t0 = 0; t0 < 64; t0 += 16) {
            ROUNDS8(COMPUTED, 0);
            ROUNDS8(COMPUTED, 8);
        }
        ADD_TO_STATE();
    }
}

LV_KERNEL void LV_NAME(sha256_scheduled)(void *state, const void *given)
{
    uint32_t *s = state;
    const uint32_t *schedule = given;
    LOAD_STATE();

    for (unsigned t0 = 0; t0 < 64; t0 += 16) {
        ROUNDS8(GIVEN, 0);
        ROUNDS8(GIVEN, 8);
    }
    ADD_TO_STATE();
}

#if LV32_LANES == 1
void LV_NAME(sha256_schedule)(const uint8_t block[], void *schedule)
{
    uint32_t w[16], *wk = schedule;

    lv32_load_block_be(w, &block, 0);
    for (unsigned t = 0; t < 64; t++) {
        if (t >= 16)
            w[t & 15] = SCHEDULE(t);
        wk[t] = w[t & 15] + hli_sha256_k[t];
    }
}
#endif

#undef BIG_SIGMA0
#undef BIG_SIGMA1
#undef SMALL_SIGMA0
#undef SMALL_SIGMA1
#undef SCHEDULE
#undef ROUND
#undef ROUNDS8
#undef COMPUTED
#undef GIVEN
#undef LOAD_STATE
#undef ADD_TO_STATE
