/* single_sha2.inc.h: SHA-256 (SHA2_WORD 32, FIPS 180-4 section 6.2.2) or SHA-512 (64, section 6.4.2) of one message.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by single.inc.h, which explains the method.
 */
#if SHA2_WORD == 32
#  define WORD         uint32_t
#  define NAME         sha256
#  define SCHED_FN     sha256_schedule_part
#  define NROUNDS      64
#  define K            hli_sha256_k
#  define LV(op)       lv32_##op
#  define SWAPPED      swap32
/* FIPS 180-4 section 4.1.2 */
#  define SIGMA0_A 2
#  define SIGMA0_B 13
#  define SIGMA0_C 22
#  define SIGMA1_A 6
#  define SIGMA1_B 11
#  define SIGMA1_C 25
#else
#  define WORD         uint64_t
#  define NAME         sha512
#  define SCHED_FN     sha512_schedule_part
#  define NROUNDS      80
#  define K            hli_sha512_k
#  define LV(op)       lv64_##op
#  define SWAPPED      swap64
/* FIPS 180-4 section 4.1.3 */
#  define SIGMA0_A 28
#  define SIGMA0_B 34
#  define SIGMA0_C 39
#  define SIGMA1_A 14
#  define SIGMA1_B 18
#  define SIGMA1_C 41
#endif
#define NWORDS   (128 / SHA2_WORD) /* of each block in a vector */
#define NVECTORS (16 / NWORDS)     /* in the ring of 16 words */

/* One of the parts in which W[t0 + 16 + t] and the other words of its vector are made and replace those of sixteen
 * rounds before in the ring w; `half` of round t0 + t follows directly. x is the sum so far; y, p and q are on their
 * way into it. */
#if SHA2_WORD == 32
LV_FN void SCHED_FN(lv32 w[4], lv32 *x, lv32 *y, lv32 *p, lv32 *q, uint32_t *wk, unsigned t0, unsigned t, unsigned half)
{
    const unsigned i = t / 4;
    const lv32 w0 = w[i], w4 = w[(i + 1) & 3], w8 = w[(i + 2) & 3], w12 = w[(i + 3) & 3];

    switch (t % 4 * 2 + half) {
    case 0:
        SV_SET(*y, sv_align(w4, w0, 4)); /* from W[t - 15] on */
        SV_SET(*x, lv32_add(w0, sv_align(w12, w8, 4)));
        break;
    case 1: SV_SET(*p, lv32_rol(*y, 25)); break;
    case 2: SV_SET(*q, lv32_rol(*y, 14)); break;
    case 3: SV_SET(*x, lv32_add(*x, lv32_xor3(*p, *q, lv32_shr(*y, 3)))); break;
    /* sigma1 reaches two words back: the upper two words need the lower two. */
    /* Each word stands twice side by side: a shift of 64 bits is then a rotation of the lower copy. */
    case 4:
        SV_SET(*y, sv_words(w12, 0xfa));
        SV_SET(*p, lv64_shr(*y, 17));
        SV_SET(*q, lv64_shr(*y, 19));
        break;
    case 5: SV_SET(*x, lv32_add(*x, sv_even_down(lv32_xor3(*p, *q, lv32_shr(*y, 10))))); break;
    case 6:
        SV_SET(*y, sv_words(*x, 0x50));
        SV_SET(*p, lv64_shr(*y, 17));
        SV_SET(*q, lv64_shr(*y, 19));
        break;
    case 7: SV_SET(*x, lv32_add(*x, sv_even_up(lv32_xor3(*p, *q, lv32_shr(*y, 10)))));
        w[i] = *x;
        lv32_store(wk + (t0 + 16 + 4 * i) * SV_BLOCKS, lv32_add(*x, sv_same(K + t0 + 16 + 4 * i)));
    }
}
#else
LV_FN void SCHED_FN(lv64 w[8], lv64 *x, lv64 *y, lv64 *p, lv64 *q, uint64_t *wk, unsigned t0, unsigned t, unsigned half)
{
    const unsigned i = t / 2;
    const lv64 w14 = w[(i + 7) & 7];

    switch (t % 2 * 2 + half) {
    case 0:
        SV_SET(*x, lv64_add(w[i], sv_align(w[(i + 5) & 7], w[(i + 4) & 7], 8))); /* and W[t - 7] */
        SV_SET(*y, sv_align(w[(i + 1) & 7], w[i], 8));                           /* W[t - 15] */
        SV_SET(*p, lv64_ror(*y, 1));
        break;
    case 1: SV_SET(*x, lv64_add(*x, lv64_xor3(*p, lv64_ror(*y, 8), lv64_shr(*y, 7)))); break;
    case 2:
        SV_SET(*p, lv64_ror(w14, 19));
        SV_SET(*q, lv64_ror(w14, 61));
        break;
    case 3:
        SV_SET(*x, lv64_add(*x, lv64_xor3(*p, *q, lv64_shr(w14, 6))));
        w[i] = *x;
        lv64_store(wk + (t0 + 16 + 2 * i) * SV_BLOCKS, lv64_add(*x, sv_same(K + t0 + 16 + 2 * i)));
    }
}
#endif

/* W[t] + K[t] */
#define WK_AT(t) now[(t) / NWORDS * NWORDS * SV_BLOCKS + (t) % NWORDS]

#if SV_VPROL
/* e to h are in general registers. a to d are in vectors, in the lowest word, where Sigma0 and Maj take 5 operations
 * instead of 8. Each half has a chain of its own from round to round, on Zen 4 of 4 cycles (e) and 5 (a). The halves
 * meet outside of these chains: d + W + K of the next round goes to a general register, `ahead`; the new e, which is
 * d + T1, goes to a vector, where d is subtracted again. The order was found by search: on Zen 4 a round without the
 * schedule took 6.1 cycles in the order of the definition, and takes 5.0 now. */
#  define ROUND(PART, t, a, b, c, d, e, f, g, h) \
      do { \
          WORD sw, sx, sy, sz; \
          __m128i vp, vq, vr, maj, t1; \
          PART(t, 0); \
          __asm__(OP(mov, f, z) OP(add, ahead, h) RORX(SIGMA1_B, e, y) OP(xor, g, z) OP(and, e, z) \
                  VROR(SIGMA0_B, a, q) VROR(SIGMA0_A, a, p) VROR(SIGMA0_C, a, r) RORX(SIGMA1_C, e, w) OP(xor, g, z) \
                  RORX(SIGMA1_A, e, x) OP(xor, y, x) OP(xor, w, x) VMOVE(a, maj) OP(add, z, h) OP(add, x, h) \
                  VADD_WORD(wk, c, t1) VWORD(t1, ahead) VWORD(h, t1) VLOGIC(0xe8, c, b, maj) VOP(sub, t1, d, t1) \
                  VLOGIC(0x96, r, q, p) VOP(add, maj, t1, maj) VOP(add, maj, p, d) \
                  : [d] "+&v"(d), [h] "+&r"(h), [ahead] "+&r"(ahead), [w] "=&r"(sw), [x] "=&r"(sx), [y] "=&r"(sy), \
                    [z] "=&r"(sz), [p] "=&v"(vp), [q] "=&v"(vq), [r] "=&v"(vr), [maj] "=&v"(maj), [t1] "=&v"(t1) \
                  : [wk] "m"(WK_AT((t) + 1)), [a] "v"(a), [b] "v"(b), [c] "v"(c), [e] "r"(e), [f] "r"(f), [g] "r"(g) \
                  : "cc"); \
          PART(t, 1); \
      } while (0)

#  define ROUNDS_4(PART, t) \
      do { \
          ROUND(PART, (t), a, b, c, d, e, f, g, h); \
          ROUND(PART, (t) + 1, d, a, b, c, h, e, f, g); \
          ROUND(PART, (t) + 2, c, d, a, b, g, h, e, f); \
          ROUND(PART, (t) + 3, b, c, d, a, f, g, h, e); \
      } while (0)
#  define ROUNDS8(PART, t) \
      do { \
          ROUNDS_4(PART, (t)); \
          ROUNDS_4(PART, (t) + 4); \
      } while (0)

#  define HALF       __m128i
#  define AHEAD()    (s[3] + WK_AT(0)) /* s[3] is d */
#  define LOAD(word) _mm_cvtsi64_si128((long long)(word))
#  define ADD_TO_STATE(word, x) \
      do { \
          x = _mm_add_epi64(x, LOAD(word)); \
          word = (uint64_t)_mm_cvtsi128_si64(x); \
      } while (0)
#else
/* A round in two halves, 22 operations and two moves. Four operations can start in a cycle, so 22 take longer than the
 * chain from e to the next e: Sigma1 and two additions. (Adding to d directly what is added to h makes the chain
 * shorter by a cycle, but takes two operations more: SHA-512 over AVX2, Zen 4, beside OpenSSL in one run: 0.94 ->
 * 0.98.) Maj(a, b, c) = ((a ^ b) & (b ^ c)) ^ b, and a ^ b is the next round's b ^ c. p has b ^ c and is scratch
 * afterwards, q gets a ^ b.
 *
 * "+&r", because otherwise an operand that is written early may share a register with another that the compiler knows
 * to be equal, and that is read later. The second half does without &: it writes results of assembly, of which the
 * compiler knows nothing. An & there too makes gcc 12's SHA-512 over SSSE3 2% slower.
 */
#  if HLI_X86_64
#    define ROUND_1(wk_, p, q, a, b, c, d, e, f, g, h) \
        __asm__(OP(mov, f, x) OP(xor, g, x) ROR_TO(SIGMA1_B, e, q) OP(add, wk, h) OP(and, e, x) OP(xor, g, x) \
                OP(add, x, h) ROR_TO(SIGMA1_A, e, x) OP(xor, q, x) ROR_TO(SIGMA1_C, e, q) OP(xor, q, x) \
                : [h] "+&r"(h), [x] "=&r"(sx), [q] "=&r"(q) \
                : [wk] "m"(wk_), [e] "r"(e), [f] "r"(f), [g] "r"(g) \
                : "cc")
#    define ROUND_2(p, q, a, b, c, d, e, f, g, h) \
        __asm__(OP(add, x, h) OP(mov, a, q) OP(xor, b, q) OP(add, h, d) OP(and, q, p) OP(xor, b, p) OP(add, p, h) \
                ROR_TO(SIGMA0_A, a, x) ROR_TO(SIGMA0_B, a, p) OP(xor, p, x) ROR_TO(SIGMA0_C, a, p) OP(xor, p, x) \
                OP(add, x, h) \
                : [d] "+r"(d), [h] "+r"(h), [p] "+r"(p), [q] "=&r"(q), [x] "+r"(sx) \
                : [a] "r"(a), [b] "r"(b) \
                : "cc")
#  else
#    define ROUND_1(wk, p, q, a, b, c, d, e, f, g, h) \
        do { \
            sx = ((f ^ g) & e) ^ g; \
            h += wk; \
            h += sx; \
            h += ROR(e, SIGMA1_A) ^ ROR(e, SIGMA1_B) ^ ROR(e, SIGMA1_C); \
            d += h; \
        } while (0)
#    define ROUND_2(p, q, a, b, c, d, e, f, g, h) \
        do { \
            q = a ^ b; \
            h += (p & q) ^ b; \
            h += ROR(a, SIGMA0_A) ^ ROR(a, SIGMA0_B) ^ ROR(a, SIGMA0_C); \
        } while (0)
#  endif

#  define ROUND(PART, t, p, q, a, b, c, d, e, f, g, h) \
      do { \
          WORD sx; \
          PART(t, 0); \
          ROUND_1(WK_AT(t), p, q, a, b, c, d, e, f, g, h); \
          PART(t, 1); \
          ROUND_2(p, q, a, b, c, d, e, f, g, h); \
      } while (0)

#  define ROUNDS8(PART, t) \
      do { \
          ROUND(PART, (t), ahead, other, a, b, c, d, e, f, g, h); \
          ROUND(PART, (t) + 1, other, ahead, h, a, b, c, d, e, f, g); \
          ROUND(PART, (t) + 2, ahead, other, g, h, a, b, c, d, e, f); \
          ROUND(PART, (t) + 3, other, ahead, f, g, h, a, b, c, d, e); \
          ROUND(PART, (t) + 4, ahead, other, e, f, g, h, a, b, c, d); \
          ROUND(PART, (t) + 5, other, ahead, d, e, f, g, h, a, b, c); \
          ROUND(PART, (t) + 6, ahead, other, c, d, e, f, g, h, a, b); \
          ROUND(PART, (t) + 7, other, ahead, b, c, d, e, f, g, h, a); \
      } while (0)

#  define HALF                  WORD
#  define AHEAD()               (b ^ c)
#  define LOAD(word)            (word)
#  define ADD_TO_STATE(word, x) SV_ADD_TO_STATE(word, x)
#endif

#define SCHEDULING(t, half) SCHED_FN(w, &x, &y, &p, &q, wk, t0, t, half)
#define SCHEDULED(t, half)  (void)0

SV_KERNEL void SV_NAME(NAME)(HLI_BLOCKS_ARGS)
{
    WORD *s = state;
    const uint8_t *m = msg[0];
    HALF a = LOAD(s[0]), b = LOAD(s[1]), c = LOAD(s[2]), d = LOAD(s[3]);
    WORD e = s[4], f = s[5], g = s[6], h = s[7];

    while (nblocks > 0) {
        const size_t n = nblocks < SV_BLOCKS ? nblocks : SV_BLOCKS;
        /* W + K: a vector holds NWORDS words of block 0, then the same of block 1. SV_VPROL reads a word more, and does
         * not use it. */
        WORD wk[(NROUNDS + NWORDS * SV_VPROL) * SV_BLOCKS] __attribute__((aligned(sizeof(lv32))));

        for (size_t j = 0; j < n; j++) {
            const WORD *now = wk + j * NWORDS;
#if SV_VPROL
            WORD ahead;
#elif HLI_X86_64 /* in registers of their own: gcc 12 would move one to another in each round */
            register WORD ahead __asm__("rax"), other __asm__("rcx");
#else
            WORD ahead, other;
#endif
            unsigned t0 = 0;

            if (j == 0) {
                const uint8_t *const blocks[] = {m, m + (n - 1) * 16 * sizeof(WORD)};
                lv32 w[NVECTORS], x = lv32_splat(0), y = x, p = x, q = x;
                SV_UNROLL(8)
                for (unsigned i = 0; i < NVECTORS; i++) {
                    w[i] = SWAPPED(sv_load(blocks, 16 * i));
                    LV(store)(wk + i * NWORDS * SV_BLOCKS, LV(add)(w[i], sv_same(K + i * NWORDS)));
                }
                ahead = AHEAD();
                for (; t0 < NROUNDS - 16; t0 += 16, now += 16 * SV_BLOCKS) {
                    ROUNDS8(SCHEDULING, 0);
                    ROUNDS8(SCHEDULING, 8);
                }
            } else {
                ahead = AHEAD();
            }
            for (; t0 < NROUNDS; t0 += 16, now += 16 * SV_BLOCKS) {
                ROUNDS8(SCHEDULED, 0);
                ROUNDS8(SCHEDULED, 8);
            }
            ADD_TO_STATE(s[0], a);
            ADD_TO_STATE(s[1], b);
            ADD_TO_STATE(s[2], c);
            ADD_TO_STATE(s[3], d);
            SV_ADD_TO_STATE(s[4], e);
            SV_ADD_TO_STATE(s[5], f);
            SV_ADD_TO_STATE(s[6], g);
            SV_ADD_TO_STATE(s[7], h);
        }
        m += n * 16 * sizeof(WORD);
        nblocks -= n;
    }
}

/* The other macros are the same at each inclusion, and nothing after them has these names. */
#undef WORD
#undef NAME
#undef SCHED_FN
#undef NROUNDS
#undef K
#undef LV
#undef SWAPPED
#undef SIGMA0_A
#undef SIGMA0_B
#undef SIGMA0_C
#undef SIGMA1_A
#undef SIGMA1_B
#undef SIGMA1_C
