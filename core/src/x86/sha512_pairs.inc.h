/* sha512_pairs.inc.h: SHA-512 of one message in xmm registers, two of its words in each.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The eight variables are four pairs, [a|e], [b|f], [c|g], [d|h], the first letter in the upper half. A round does the
 * same to a as to e, so one operation serves both:
 *
 *   Maj(a, b, c) = (b & c) ^ (a & (b ^ c))    Ch(e, f, g) = g ^ (e & (f ^ g))     FIPS 180-4 section 4.1
 *
 * A round ends with the pairs renamed, not moved, which costs nothing. Four registers for the state leave four of a
 * 32-bit program's eight. After every two rounds the message schedule makes two words for the next sixteen rounds.
 *
 * A tier (x86/sha512_<isa>.c) defines these names, and nothing else is used here:
 *
 *   PAIRS_TARGET, PAIRS_NAME   the target attribute, the kernel's name
 *   big_sigmas(ae)             [Sigma0(a)|Sigma1(e)]
 *   maj_ch(ae, bf, cg)         [Maj(a, b, c)|Ch(e, f, g)]
 *   low_plus(dh, p)            [0|h + *p]
 *   small_sigma0(x), small_sigma1(x)
 *                              of both halves
 *   swap64(x)                  each half from the other byte order
 */

/* Unaligned loads: the state of one lane is aligned only to its words. */
PAIRS_FN __m128i load_pair(const uint64_t *low, const uint64_t *high)
{
    const __m128d half = _mm_castsi128_pd(_mm_loadl_epi64((const __m128i *)low));

    return _mm_castpd_si128(_mm_loadh_pd(half, (const double *)high));
}

PAIRS_FN void add_pair(uint64_t *low, uint64_t *high, __m128i x)
{
    const __m128i sum = _mm_add_epi64(load_pair(low, high), x);

    _mm_storel_epi64((__m128i *)low, sum);
    _mm_storeh_pd((double *)high, _mm_castsi128_pd(sum));
}

/* [y.low|x.high]: of four words in a row, the two from the upper half of x on. */
PAIRS_FN __m128i between(__m128i x, __m128i y)
{
    return _mm_castpd_si128(_mm_shuffle_pd(_mm_castsi128_pd(x), _mm_castsi128_pd(y), 1));
}

/* T1 = h + Sigma1(e) + Ch(e, f, g) + K + W and T2 = Sigma0(a) + Maj(a, b, c); [d|h] becomes [T2 + T1|T1 + d]. */
#define ROUND(t, ae, bf, cg, dh) \
    do { \
        const __m128i t2_t1 = \
            _mm_add_epi64(_mm_add_epi64(low_plus(dh, wk + (t)), maj_ch(ae, bf, cg)), big_sigmas(ae)); \
        dh = _mm_add_epi64(t2_t1, between(dh, t2_t1)); \
    } while (0)

/* Words 2 * i and 2 * i + 1 of the next sixteen words of the schedule. */
#define NEXT(i) \
    w[i] = _mm_add_epi64(_mm_add_epi64(w[i], small_sigma0(between(w[i], w[((i) + 1) & 7]))), \
                         _mm_add_epi64(between(w[((i) + 4) & 7], w[((i) + 5) & 7]), small_sigma1(w[((i) + 7) & 7])))

#define WITH_K(i, t0) \
    _mm_store_si128((__m128i *)wk + (i), \
                    _mm_add_epi64(w[i], _mm_loadu_si128((const __m128i *)(hli_sha512_k + (t0) + 2 * (i)))))

#define TWO_ROUNDS(i, ae, bf, cg, dh) \
    do { \
        ROUND(2 * (i), ae, bf, cg, dh); \
        ROUND(2 * (i) + 1, dh, ae, bf, cg); \
        if (!last) { \
            NEXT(i); \
            WITH_K(i, t0 + 16); \
        } \
    } while (0)

#define SIXTEEN_ROUNDS() \
    do { \
        TWO_ROUNDS(0, ae, bf, cg, dh); \
        TWO_ROUNDS(1, cg, dh, ae, bf); \
        TWO_ROUNDS(2, ae, bf, cg, dh); \
        TWO_ROUNDS(3, cg, dh, ae, bf); \
        TWO_ROUNDS(4, ae, bf, cg, dh); \
        TWO_ROUNDS(5, cg, dh, ae, bf); \
        TWO_ROUNDS(6, ae, bf, cg, dh); \
        TWO_ROUNDS(7, cg, dh, ae, bf); \
    } while (0)

PAIRS_TARGET void PAIRS_NAME(HLI_BLOCKS_ARGS)
{
    uint64_t *s = state;
    const uint8_t *block = msg[0];

    for (; nblocks > 0; nblocks--, block += 128) {
        uint64_t wk[16] __attribute__((aligned(16)));
        __m128i w[8];
        __m128i ae = load_pair(s + 4, s), bf = load_pair(s + 5, s + 1), cg = load_pair(s + 6, s + 2),
                dh = load_pair(s + 7, s + 3);

#pragma GCC unroll 8
        for (unsigned i = 0; i < 8; i++) {
            w[i] = swap64(_mm_loadu_si128((const __m128i *)block + i));
            WITH_K(i, 0);
        }
        for (unsigned t0 = 0; t0 < 64; t0 += 16) {
            enum { last = 0 };
            SIXTEEN_ROUNDS();
        }
        {
            enum { last = 1, t0 = 0 };
            SIXTEEN_ROUNDS();
        }
        add_pair(s + 4, s, ae);
        add_pair(s + 5, s + 1, bf);
        add_pair(s + 6, s + 2, cg);
        add_pair(s + 7, s + 3, dh);
    }
}
