/* single_sha2.inc.h: SHA-256 (SHA2_WORD 32, FIPS 180-4 section 6.2.2) or SHA-512 (64, section 6.4.2) of one message.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by single.c, which explains the method.
 */
#if SHA2_WORD == 32
#  define WORD         uint32_t
#  define NAMED        sha256
#  define NROUNDS      64
#  define K            hli_sha256_k
#  define ADD          wasm_i32x4_add
#  define SWAPPED      swap_bytes32
#  define ROR(x, n)    __builtin_rotateright32(x, n)
/* FIPS 180-4 section 4.1.2 */
#  define BIG_SIGMA0(x) (ROR(x, 2) ^ ROR(x, 13) ^ ROR(x, 22))
#  define BIG_SIGMA1(x) (ROR(x, 6) ^ ROR(x, 11) ^ ROR(x, 25))
#else
#  define WORD         uint64_t
#  define NAMED        sha512
#  define NROUNDS      80
#  define K            hli_sha512_k
#  define ADD          wasm_i64x2_add
#  define SWAPPED      swap_bytes64
#  define ROR(x, n)    __builtin_rotateright64(x, n)
/* FIPS 180-4 section 4.1.3 */
#  define BIG_SIGMA0(x) (ROR(x, 28) ^ ROR(x, 34) ^ ROR(x, 39))
#  define BIG_SIGMA1(x) (ROR(x, 14) ^ ROR(x, 18) ^ ROR(x, 41))
#endif
#define NWORDS   (128 / SHA2_WORD) /* in a vector */
#define NVECTORS (16 / NWORDS)     /* in the ring of 16 words */

/* The vector i of the ring, sixteen words later. */
#if SHA2_WORD == 32
LV_FN v128_t LV_PASTE(NAMED, later)(const v128_t w[4], unsigned i)
{
    const v128_t w0 = w[i], w4 = w[(i + 1) & 3], w8 = w[(i + 2) & 3], w12 = w[(i + 3) & 3], none = lv32_splat(0);
    const v128_t y = wasm_i32x4_shuffle(w0, w4, 1, 2, 3, 4); /* from W[t - 15] on */
    v128_t x = ADD(ADD(w0, wasm_i32x4_shuffle(w8, w12, 1, 2, 3, 4)),
                   lv32_xor3(lv32_rol(y, 25), lv32_rol(y, 14), lv32_shr(y, 3)));

    /* sigma1 reaches two words back: the upper two words need the lower two. Each word stands twice side by side: a
     * shift of 64 bits is then a rotation of the lower copy. */
    const v128_t p = wasm_i32x4_shuffle(w12, w12, 2, 2, 3, 3);
    const v128_t lower = lv32_xor3(lv64_shr(p, 17), lv64_shr(p, 19), lv32_shr(p, 10));
    x = ADD(x, wasm_i32x4_shuffle(lower, none, 0, 2, 4, 4));
    const v128_t q = wasm_i32x4_shuffle(x, x, 0, 0, 1, 1);
    const v128_t upper = lv32_xor3(lv64_shr(q, 17), lv64_shr(q, 19), lv32_shr(q, 10));
    return ADD(x, wasm_i32x4_shuffle(upper, none, 4, 4, 0, 2));
}
#else
LV_FN v128_t LV_PASTE(NAMED, later)(const v128_t w[8], unsigned i)
{
    const v128_t w14 = w[(i + 7) & 7];
    const v128_t y = wasm_i64x2_shuffle(w[i], w[(i + 1) & 7], 1, 2); /* W[t - 15] */
    const v128_t sum = ADD(w[i], wasm_i64x2_shuffle(w[(i + 4) & 7], w[(i + 5) & 7], 1, 2));

    return ADD(ADD(sum, lv64_xor3(lv64_rol(y, 63), lv64_rol(y, 56), lv64_shr(y, 7))),
               lv64_xor3(lv64_rol(w14, 45), lv64_rol(w14, 3), lv64_shr(w14, 6)));
}
#endif

/* Maj(a, b, c) = b ^ ((a ^ b) & (b ^ c)), and b ^ c is the a ^ b of the round before. */
#define ROUND(t, a, b, c, d, e, f, g, h) \
    do { \
        const WORD ab = a ^ b; \
        h += wk[t] + (g ^ (e & (f ^ g))) + BIG_SIGMA1(e); \
        d += h; \
        h += (b ^ (ab & bc)) + BIG_SIGMA0(a); \
        bc = ab; \
    } while (0)
#define ROUNDS2(t, a, b, c, d, e, f, g, h) \
    do { \
        ROUND(t, a, b, c, d, e, f, g, h); \
        ROUND((t) + 1, h, a, b, c, d, e, f, g); \
    } while (0)
/* MAKE(i): what is done for vector i of the ring before its rounds. */
#define ROUNDS16(MAKE, t) \
    do { \
        MAKE(0); \
        ROUNDS2(t, a, b, c, d, e, f, g, h); \
        MAKE(1); \
        ROUNDS2((t) + 2, g, h, a, b, c, d, e, f); \
        MAKE(2); \
        ROUNDS2((t) + 4, e, f, g, h, a, b, c, d); \
        MAKE(3); \
        ROUNDS2((t) + 6, c, d, e, f, g, h, a, b); \
        MAKE(4); \
        ROUNDS2((t) + 8, a, b, c, d, e, f, g, h); \
        MAKE(5); \
        ROUNDS2((t) + 10, g, h, a, b, c, d, e, f); \
        MAKE(6); \
        ROUNDS2((t) + 12, e, f, g, h, a, b, c, d); \
        MAKE(7); \
        ROUNDS2((t) + 14, c, d, e, f, g, h, a, b); \
    } while (0)

#define PUT(t, x) wasm_v128_store(wk + (t), ADD(x, wasm_v128_load(K + (t))))
/* At pair j of the rounds: the vector that holds its words, if these are its first. */
#define LATER(j) \
    do { \
        enum { at = 2 * (j) / NWORDS }; \
        if (2 * (j) % NWORDS == 0) { \
            w[at] = LV_PASTE(NAMED, later)(w, at); \
            PUT(t + 16 + at * NWORDS, w[at]); \
        } \
    } while (0)
#define NOTHING(j) (void)0

void LV_PASTE(LV_PASTE(hli, NAMED), blocks_simd128_x1)(HLI_BLOCKS_ARGS)
{
    WORD *s = state;

    for (const uint8_t *m = msg[0]; nblocks > 0; nblocks--, m += 16 * sizeof(WORD)) {
        WORD wk[NROUNDS] __attribute__((aligned(16)));
        v128_t w[NVECTORS];
        WORD a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7], bc = b ^ c;
        unsigned t = 0;

        LV_UNROLL(8)
        for (unsigned i = 0; i < NVECTORS; i++) {
            w[i] = SWAPPED(wasm_v128_load(m + 16 * i));
            PUT(i * NWORDS, w[i]);
        }
        LV_UNROLL(1)
        for (; t < NROUNDS - 16; t += 16)
            ROUNDS16(LATER, t);
        ROUNDS16(NOTHING, NROUNDS - 16);
        s[0] += a;
        s[1] += b;
        s[2] += c;
        s[3] += d;
        s[4] += e;
        s[5] += f;
        s[6] += g;
        s[7] += h;
    }
}

#undef WORD
#undef NAMED
#undef NROUNDS
#undef K
#undef ADD
#undef SWAPPED
#undef ROR
#undef BIG_SIGMA0
#undef BIG_SIGMA1
#undef NWORDS
#undef NVECTORS
#undef ROUND
#undef ROUNDS2
#undef ROUNDS16
#undef PUT
#undef LATER
#undef NOTHING
