/* single_sha1.inc.h: SHA-1 (FIPS 180-4 section 6.1.2) of one message.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by single.inc.h, which explains the method. From W[32] on the recurrence of the standard is applied to
 * itself (rotations add up, and equal terms cancel; M. Locktyukhin, "Improving the Performance of the Secure Hash
 * Algorithm (SHA-1)", Intel, 2010):
 *
 *   W[t] = (W[t - 6] ^ W[t - 16] ^ W[t - 28] ^ W[t - 32]) <<< 2,
 *
 * which needs no word of its own vector.
 */


/* One of the four parts in which vector q (four words, 4 <= q < 20) is made; w is a ring of eight vectors. */
LV_FN void sha1_schedule_part(lv32 w[8], lv32 *x, lv32 *y, uint32_t *wk, unsigned q, unsigned part)
{
    const lv32 q1 = w[(q - 1) & 7], q2 = w[(q - 2) & 7], q3 = w[(q - 3) & 7], q4 = w[(q - 4) & 7];

    /* Before W[32] the standard's recurrence holds, but the fourth word needs the first: it is made without W[t - 3],
     * and the first word, rotated once more, is added in later. */
    switch (part) {
    case 0:
        SV_SET(*x, q < 8 ? lv32_xor(sv_align(q3, q4, 8), q4) : lv32_xor(w[q & 7], w[(q - 7) & 7]));
        SV_SET(*y, q < 8 ? lv32_xor(sv_down(q1, 4), q2) : sv_align(q1, q2, 8));
        break;
    case 1:
        if (q < 8)
            SV_SET(*x, lv32_xor(*x, *y));
        else
            SV_SET(*x, lv32_xor3(*x, *y, q4));
        break;
    case 2:
        if (q < 8) {
            SV_SET(*y, sv_up(*x, 12));
            SV_SET(*x, lv32_rol(*x, 1));
        }
        break;
    default:
        if (q < 8)
            SV_SET(*x, lv32_xor(*x, lv32_rol(*y, 2)));
        else
            SV_SET(*x, lv32_rol(*x, 2));
        w[q & 7] = *x;
        lv32_store(wk + 4 * q * SV_BLOCKS, lv32_add(*x, lv32_splat(hli_sha1_k[q / 5])));
    }
}

/* A round: e += ROTL5(a) + f(b, c, d) + W + K, b = ROTL30(b). Ch is ((c ^ d) & b) ^ d. Maj is the sum of two terms that
 * have no bit in common, c & d and (c ^ d) & b. The term of b comes late, as only a is younger, and the rotation of a
 * last (Zen 4, AVX2: 208 -> 195 cycles a block; SSSE3: 208 -> 205). */
#if HLI_X86_64
#  define ROUND(F, wk_, a, b, c, d, e) \
      do { \
          uint32_t sx, sy; \
          __asm__(F(a, b, c, d, e) OP(add, y, e) \
                  : [b] "+&r"(b), [e] "+&r"(e), [x] "=&r"(sx), [y] "=&r"(sy) \
                  : [wk] "m"(wk_), [a] "r"(a), [c] "r"(c), [d] "r"(d) \
                  : "cc"); \
          if (SV_RORX && F##_MOVES) \
              b = sx; \
      } while (0)
#  if SV_RORX /* b & c and ~b & d have no bit in common; x is the next b */
#    define CH(a, b, c, d, e) \
        ANDN(b, d, y) RORX(2, b, x) OP(and, c, b) OP(add, wk, e) OP(xor, y, b) OP(add, b, e) RORX(27, a, y)
#  else
#    define CH(a, b, c, d, e) \
        OP(mov, c, x) OP(xor, d, x) OP(and, b, x) ROR_IN_PLACE(2, b) OP(add, wk, e) ROR_TO(27, a, y) OP(xor, d, x) \
        OP(add, x, e)
#  endif
#  define PARITY(a, b, c, d, e) \
      OP(mov, c, x) OP(xor, d, x) OP(xor, b, x) ROR_IN_PLACE(2, b) ROR_TO(27, a, y) OP(add, wk, e) OP(add, x, e)
#  define MAJ(a, b, c, d, e) \
      OP(mov, c, x) OP(and, d, x) OP(add, wk, e) OP(add, x, e) OP(mov, c, x) OP(xor, d, x) OP(and, b, x) \
      ROR_IN_PLACE(2, b) OP(add, x, e) ROR_TO(27, a, y)
#  define CH_MOVES     1
#  define PARITY_MOVES 0
#  define MAJ_MOVES    0
#else
#  define ROUND(F, wk, a, b, c, d, e) \
      do { \
          e += wk; \
          F(a, b, c, d, e); \
          e += ROR(a, 27); \
          b = ROR(b, 2); \
      } while (0)
#  define CH(a, b, c, d, e)     e += (((c) ^ (d)) & (b)) ^ (d)
#  define PARITY(a, b, c, d, e) e += (c) ^ (d) ^ (b)
#  define MAJ(a, b, c, d, e)    e += (c) & (d), e += ((c) ^ (d)) & (b)
#endif

#define ROUNDS5(PART, F, t) \
    do { \
        PART((t)); \
        ROUND(F, WK((t)), a, b, c, d, e); \
        PART((t) + 1); \
        ROUND(F, WK((t) + 1), e, a, b, c, d); \
        PART((t) + 2); \
        ROUND(F, WK((t) + 2), d, e, a, b, c); \
        PART((t) + 3); \
        ROUND(F, WK((t) + 3), c, d, e, a, b); \
        PART((t) + 4); \
        ROUND(F, WK((t) + 4), b, c, d, e, a); \
    } while (0)

#define ROUNDS20(PART, F, t) \
    do { \
        ROUNDS5(PART, F, (t)); \
        ROUNDS5(PART, F, (t) + 5); \
        ROUNDS5(PART, F, (t) + 10); \
        ROUNDS5(PART, F, (t) + 15); \
    } while (0)

#define ROUNDS80(PART) \
    do { \
        ROUNDS20(PART, CH, 0); \
        ROUNDS20(PART, PARITY, 20); \
        ROUNDS20(PART, MAJ, 40); \
        ROUNDS20(PART, PARITY, 60); \
    } while (0)

/* W + K of round t of block j. */
#define WK(t) wk[((t) / 4 * SV_BLOCKS + j) * 4 + (t) % 4]

/* Runs before round t. */
#define SCHEDULING(t) \
    do { \
        if ((t) < 64) \
            sha1_schedule_part(w, &x, &y, wk, (t) / 4 + 4, (t) % 4); \
    } while (0)
#define SCHEDULED(t) (void)0

SV_KERNEL void SV_NAME(sha1)(HLI_BLOCKS_ARGS)
{
    uint32_t *s = state;
    const uint8_t *m = msg[0];
    uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4];

    while (nblocks > 0) {
        const size_t n = nblocks < SV_BLOCKS ? nblocks : SV_BLOCKS;
        /* W + K: a vector holds four words of block 0, then the same of block 1. */
        uint32_t wk[80 * SV_BLOCKS] __attribute__((aligned(sizeof(lv32))));

        for (size_t j = 0; j < n; j++) {
            if (j == 0) {
                const uint8_t *const blocks[] = {m, m + (n - 1) * 64};
                lv32 w[8], x = lv32_splat(0), y = x;
                SV_UNROLL(4)
                for (unsigned q = 0; q < 4; q++) {
                    w[q] = swap32(sv_load(blocks, 16 * q));
                    lv32_store(wk + 4 * q * SV_BLOCKS, lv32_add(w[q], lv32_splat(hli_sha1_k[0])));
                }
                ROUNDS80(SCHEDULING);
            } else {
                ROUNDS80(SCHEDULED);
            }
            SV_ADD_TO_STATE(s[0], a);
            SV_ADD_TO_STATE(s[1], b);
            SV_ADD_TO_STATE(s[2], c);
            SV_ADD_TO_STATE(s[3], d);
            SV_ADD_TO_STATE(s[4], e);
        }
        m += n * 64;
        nblocks -= n;
    }
}

#undef ROUND
#undef WK
#undef SCHEDULING
#undef SCHEDULED
