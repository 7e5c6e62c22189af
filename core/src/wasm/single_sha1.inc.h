/* single_sha1.inc.h: SHA-1 (FIPS 180-4 section 6.1.2) of one message.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by single.c, which explains the method. x86/single_sha1.inc.h explains the recurrence from W[32] on.
 */

/* Vector q of the schedule, 4 <= q < 20; w is a ring of eight. */
LV_FN v128_t sha1_later(const v128_t w[8], unsigned q)
{
    const v128_t q1 = w[(q - 1) & 7], q2 = w[(q - 2) & 7], q3 = w[(q - 3) & 7], q4 = w[(q - 4) & 7];

    if (q >= 8)
        return lv32_rol(lv32_xor3(lv32_xor(w[q & 7], w[(q - 7) & 7]), wasm_i32x4_shuffle(q2, q1, 2, 3, 4, 5), q4), 2);
    /* The fourth word needs the first: it is made without, and the first, rotated once more, is added in. */
    const v128_t none = lv32_splat(0);
    const v128_t x = lv32_xor3(lv32_xor(wasm_i32x4_shuffle(q4, q3, 2, 3, 4, 5), q4),
                               wasm_i32x4_shuffle(q1, none, 1, 2, 3, 4), q2);
    return lv32_xor(lv32_rol(x, 1), lv32_rol(wasm_i32x4_shuffle(none, x, 0, 0, 0, 4), 2));
}

/* Maj is the sum of two terms that have no bit in common. */
#define CH(b, c, d)     (d ^ (b & (c ^ d)))
#define PARITY(b, c, d) (b ^ c ^ d)
#define MAJ(b, c, d)    ((c & d) + (b & (c ^ d)))

#define ROUND(F, t, a, b, c, d, e) \
    do { \
        if ((t) % 4 == 0 && (t) < 64) { \
            w[(t) / 4 + 4 & 7] = sha1_later(w, (t) / 4 + 4); \
            PUT((t) / 4 + 4); \
        } \
        e += wk[t] + F(b, c, d); \
        e += __builtin_rotateleft32(a, 5); \
        b = __builtin_rotateleft32(b, 30); \
    } while (0)
#define ROUNDS5(F, t) \
    do { \
        ROUND(F, t, a, b, c, d, e); \
        ROUND(F, (t) + 1, e, a, b, c, d); \
        ROUND(F, (t) + 2, d, e, a, b, c); \
        ROUND(F, (t) + 3, c, d, e, a, b); \
        ROUND(F, (t) + 4, b, c, d, e, a); \
    } while (0)
#define ROUNDS20(F, t) \
    do { \
        ROUNDS5(F, t); \
        ROUNDS5(F, (t) + 5); \
        ROUNDS5(F, (t) + 10); \
        ROUNDS5(F, (t) + 15); \
    } while (0)
#define PUT(q) wasm_v128_store(wk + 4 * (q), lv32_add(w[(q) & 7], lv32_splat(hli_sha1_k[(q) / 5])))

void hli_sha1_blocks_simd128_x1(HLI_BLOCKS_ARGS)
{
    uint32_t *s = state;

    for (const uint8_t *m = msg[0]; nblocks > 0; nblocks--, m += 64) {
        uint32_t wk[80] __attribute__((aligned(16)));
        v128_t w[8];
        uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4];

        LV_UNROLL(4)
        for (unsigned q = 0; q < 4; q++) {
            w[q] = swap_bytes32(wasm_v128_load(m + 16 * q));
            PUT(q);
        }
        ROUNDS20(CH, 0);
        ROUNDS20(PARITY, 20);
        ROUNDS20(MAJ, 40);
        ROUNDS20(PARITY, 60);
        s[0] += a;
        s[1] += b;
        s[2] += c;
        s[3] += d;
        s[4] += e;
    }
}

#undef ROUND
#undef PUT
