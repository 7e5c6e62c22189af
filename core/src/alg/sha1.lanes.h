/* sha1.lanes.h: the block function of SHA-1 (FIPS 180-4 section 6.1.2), once, over lane words.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by lanes/kernels.inc.h with a vocabulary (lv32_*) in scope. The message schedule is kept as a ring of 16
 * words: W[t] replaces W[t - 16] in the round that first uses it, so that schedule and rounds overlap. All 80 rounds
 * are written out, so that every index and every exchange of variables is known to the compiler.
 */
#define CH(x, y, z)     lv32_ch(x, y, z)
#define PARITY(x, y, z) lv32_xor3(x, y, z)
#define MAJ(x, y, z)    lv32_maj(x, y, z)

#define SCHEDULE(t) \
    w[(t) & 15] = lv32_rol(lv32_xor(lv32_xor3(w[((t) - 3) & 15], w[((t) - 8) & 15], w[((t) - 14) & 15]), \
                                    w[(t) & 15]), 1)

/* T = ROTL5(a) + f(b, c, d) + e + K + W, then the five variables move on by one name: T stays in e, b becomes
 * ROTL30(b). The terms that do not wait for the round before (e, W, K) are added first. */
#define ROUND(f, k, a, b, c, d, e, t) \
    do { \
        if ((t) >= 16) \
            SCHEDULE(t); \
        const lv32 b30 = lv32_rol(b, 30); \
        e = lv32_add(lv32_add(lv32_add(e, lv32_add(w[(t) & 15], k)), f(b, c, d)), lv32_rol(a, 5)); \
        b = b30; \
    } while (0)

#define ROUNDS5(f, k, t) \
    do { \
        ROUND(f, k, a, b, c, d, e, (t)); \
        ROUND(f, k, e, a, b, c, d, (t) + 1); \
        ROUND(f, k, d, e, a, b, c, (t) + 2); \
        ROUND(f, k, c, d, e, a, b, (t) + 3); \
        ROUND(f, k, b, c, d, e, a, (t) + 4); \
    } while (0)

#define ROUNDS20(f, k, t) \
    do { \
        ROUNDS5(f, k, (t)); \
        ROUNDS5(f, k, (t) + 5); \
        ROUNDS5(f, k, (t) + 10); \
        ROUNDS5(f, k, (t) + 15); \
    } while (0)

LV_KERNEL void LV_NAME(sha1_blocks)(void *state, const uint8_t *const msg[], size_t nblocks)
{
    uint32_t *s = state;
    lv32 h0 = lv32_load(s), h1 = lv32_load(s + LV32_LANES), h2 = lv32_load(s + 2 * LV32_LANES),
         h3 = lv32_load(s + 3 * LV32_LANES), h4 = lv32_load(s + 4 * LV32_LANES);

    for (size_t offset = 0; nblocks > 0; nblocks--, offset += 64) {
        lv32 w[16], a = h0, b = h1, c = h2, d = h3, e = h4;

        lv32_load_block_be(w, msg, offset);
        ROUNDS20(CH, lv32_splat(hli_sha1_k[0]), 0);
        ROUNDS20(PARITY, lv32_splat(hli_sha1_k[1]), 20);
        ROUNDS20(MAJ, lv32_splat(hli_sha1_k[2]), 40);
        ROUNDS20(PARITY, lv32_splat(hli_sha1_k[3]), 60);
        h0 = lv32_add(h0, a);
        h1 = lv32_add(h1, b);
        h2 = lv32_add(h2, c);
        h3 = lv32_add(h3, d);
        h4 = lv32_add(h4, e);
    }
    lv32_store(s, h0);
    lv32_store(s + LV32_LANES, h1);
    lv32_store(s + 2 * LV32_LANES, h2);
    lv32_store(s + 3 * LV32_LANES, h3);
    lv32_store(s + 4 * LV32_LANES, h4);
}

#undef CH
#undef PARITY
#undef MAJ
#undef SCHEDULE
#undef ROUND
#undef ROUNDS5
#undef ROUNDS20
