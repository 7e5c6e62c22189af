/* keccak.lanes.h: Keccak-f[1600] over lane words of 64 bits, the block function of SHA-3 (FIPS 202 section 3).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by alg/kernels.inc.h with a vocabulary in scope.
 *
 * The state is 25 words, A[x, y] at x + 5 y. A block is xored to the first block_nbytes / 8 of them, then 24 rounds
 * permute all. A round writes each word of its result where a word of the same column has been read, so that one copy
 * of the state is enough. These places are the words' own again after four rounds: in round r, A[x, y] is at row
 * (C x + P y) mod 5 of its column, with C = 0, 1, 3, 2 and P = 1, 2, 4, 3 for r mod 4 = 0, 1, 2, 3. (Bertoni, Daemen,
 * Peeters, Van Assche, Van Keer: Keccak implementation overview, section 2.5.)
 */
#define PLACE(c, p, x, y) a[(x) + 5 * (((c) * (x) + (p) * (y)) % 5)]
#define A0(x, y) PLACE(0, 1, x, y)
#define A1(x, y) PLACE(1, 2, x, y)
#define A2(x, y) PLACE(3, 4, x, y)
#define A3(x, y) PLACE(2, 3, x, y)

/* theta: the parity of each column, with the row that was written last at the end of the sum, and the words d[x] that
 * the words of column x are xored with. Over AVX-512 a round takes 95 operations; it would take 90 if each word were
 * xored with both neighbours of its column at once, but ten vectors more would be in use, and spill (Zen 4, gcc 12,
 * cycles for 8 messages: 1,870 instead of 1,575). */
#define COLUMN(A, x) lv64_xor3(lv64_xor3(A(x, 0), A(x, 1), A(x, 2)), A(x, 3), A(x, 4))
#define THETA(A) \
    const lv64 c0 = COLUMN(A, 0), c1 = COLUMN(A, 1), c2 = COLUMN(A, 2), c3 = COLUMN(A, 3), c4 = COLUMN(A, 4); \
    const lv64 d[5] = {lv64_rax(c4, c1), lv64_rax(c0, c2), lv64_rax(c1, c3), lv64_rax(c2, c4), lv64_rax(c3, c0)}

/* If there is no instruction for ~y & z, six words are stored as their complements, given by NOT(x, y), and chi takes 2
 * to 3 operations a word instead of 3 to 4. (The same overview, section 2.2.) p, q and r tell whether x, y and z are
 * complements, and `to` whether the result has to be one. All four are literals. */
#ifdef LV_NO_ANDN
#  define AGAIN(a)     HLI_NEW_POINTER(a)
#  define COMPLEMENT() \
      (a[1] = ~a[1], a[2] = ~a[2], a[8] = ~a[8], a[12] = ~a[12], a[17] = ~a[17], (void)(a[20] = ~a[20]))
#  define NOT(x, y) (UINT32_C(0x121106) >> ((x) + 5 * (y)) & 1)
LV_FN lv64 keccak_chi(lv64 x, lv64 y, lv64 z, unsigned p, unsigned q, unsigned r, unsigned to)
{
    const int is_or = q == r ? p != to : r; /* ~(y | ~z), which leaves ~ to the end */
    const lv64 yy = is_or == (int)q ? ~y : y, zz = is_or == (int)r ? z : ~z;
    const lv64 sum = x ^ (is_or ? yy | zz : yy & zz);

    return (p ^ (unsigned)is_or) == to ? sum : ~sum;
}
#else
#  define AGAIN(a)     ((void)0)
#  define COMPLEMENT() ((void)0)
#  define NOT(x, y)    0
#  define keccak_chi(x, y, z, p, q, r, to) lv64_chi(x, y, z)
#endif
#define NOT_COLUMN(x) (NOT((x) % 5, 0) ^ NOT((x) % 5, 1) ^ NOT((x) % 5, 2) ^ NOT((x) % 5, 3) ^ NOT((x) % 5, 4))
#define NOT_B(x, y)   (NOT(x, y) ^ NOT_COLUMN((x) + 4) ^ NOT_COLUMN((x) + 1))

/* rho, pi and chi for row y of the result. Column X of the row comes from column xX, row X of A, rotated by nX. */
#define ROW(A, NEXT, y, x0, n0, x1, n1, x2, n2, x3, n3, x4, n4) \
    do { \
        enum { m0 = NOT_B(x0, 0), m1 = NOT_B(x1, 1), m2 = NOT_B(x2, 2), m3 = NOT_B(x3, 3), m4 = NOT_B(x4, 4) }; \
        AGAIN(a); \
        const lv64 b0 = (n0) == 0 ? lv64_xor(A(x0, 0), d[x0]) : lv64_xar(A(x0, 0), d[x0], (n0) == 0 ? 1 : (n0)); \
        const lv64 b1 = lv64_xar(A(x1, 1), d[x1], n1), b2 = lv64_xar(A(x2, 2), d[x2], n2); \
        const lv64 b3 = lv64_xar(A(x3, 3), d[x3], n3), b4 = lv64_xar(A(x4, 4), d[x4], n4); \
        NEXT(0, y) = keccak_chi(b0, b1, b2, m0, m1, m2, NOT(0, y)); \
        NEXT(1, y) = keccak_chi(b1, b2, b3, m1, m2, m3, NOT(1, y)); \
        NEXT(2, y) = keccak_chi(b2, b3, b4, m2, m3, m4, NOT(2, y)); \
        NEXT(3, y) = keccak_chi(b3, b4, b0, m3, m4, m0, NOT(3, y)); \
        NEXT(4, y) = keccak_chi(b4, b0, b1, m4, m0, m1, NOT(4, y)); \
    } while (0)

#define KECCAK_ROUND(A, NEXT, rc) \
    do { \
        AGAIN(a); \
        THETA(A); \
        ROW(A, NEXT, 0, 0, 0, 1, 44, 2, 43, 3, 21, 4, 14); \
        ROW(A, NEXT, 1, 3, 28, 4, 20, 0, 3, 1, 45, 2, 61); \
        ROW(A, NEXT, 2, 1, 1, 2, 6, 3, 25, 4, 8, 0, 18); \
        ROW(A, NEXT, 3, 4, 27, 0, 36, 1, 10, 2, 15, 3, 56); \
        ROW(A, NEXT, 4, 2, 62, 3, 55, 4, 39, 0, 41, 1, 2); \
        a[0] = lv64_xor(a[0], lv64_splat(rc)); /* iota; A[0, 0] is always in its place */ \
    } while (0)

LV_FN void keccak_absorb(uint64_t *s, const uint8_t *const msg[], size_t offset, unsigned nwords)
{
    for (unsigned i = 0; i < nwords; i += LV64_GROUP) {
        lv64 w[LV64_GROUP];
        lv64_load_words(w, msg, offset + 8 * i, nwords - i);
        LV_UNROLL(8)
        for (unsigned j = 0; j < LV64_GROUP; j++)
            if (j < nwords - i)
                lv64_store(s + (i + j) * LV64_LANES, lv64_xor(lv64_load(s + (i + j) * LV64_LANES), w[j]));
    }
}

/* If not `all`, only the words that make a digest are stored. */
LV_FN void keccak_permute(uint64_t *s, int all)
{
#ifdef LV_NO_ANDN
    lv64 *a = s;
#else
    lv64 a[25];

    LV_UNROLL(25)
    for (unsigned i = 0; i < 25; i++)
        a[i] = lv64_load(s + i * LV64_LANES);
#endif
    COMPLEMENT();
    for (const uint64_t *rc = hli_keccak_rc; rc < hli_keccak_rc + 24; rc += 4) {
        KECCAK_ROUND(A0, A1, rc[0]);
        KECCAK_ROUND(A1, A2, rc[1]);
        KECCAK_ROUND(A2, A3, rc[2]);
        KECCAK_ROUND(A3, A0, rc[3]);
    }
    COMPLEMENT();
#ifdef LV_NO_ANDN
    (void)all;
#else
    LV_UNROLL(8)
    for (unsigned i = 0; i < 8; i++)
        lv64_store(s + i * LV64_LANES, a[i]);
    if (!all)
        return;
    LV_UNROLL(17)
    for (unsigned i = 8; i < 25; i++)
        lv64_store(s + i * LV64_LANES, a[i]);
#endif
}

/* Blocks and chains share it. Whole messages have it in line: as a call it makes one block take 13% longer (Zen 3,
 * AVX2, gcc 12). */
#if LV_ONLY
LV_FN
#else
LV_SHARED
#endif
void keccak_permute_called(uint64_t *s, int all)
{
    keccak_permute(s, all);
}

LV_KERNEL void LV_NAME(keccak_blocks)(void *state, const uint8_t *const msg[], size_t nblocks, unsigned block_nbytes)
{
    for (size_t offset = 0; nblocks > 0; nblocks--, offset += block_nbytes) {
        keccak_absorb(state, msg, offset, block_nbytes / 8);
        keccak_permute_called(state, 1);
    }
}

#if LV64_LANES > 1 && !LV_ONLY && HLI_ALG(slh)
/* Places of whole words, as SHAKE256 has them in SLH-DSA (FIPS 205 section 11.1), and a state of zeros before each
 * hash. */
LV_KERNEL int LV_NAME(keccak_chain)(const struct hli_links *links, const void *begin, void *states,
                                    const uint8_t *const msg[])
{
    const unsigned i = links->at / 8, n = links->nbytes / 8, count = links->count_at / 8;
    uint64_t block[25 * LV64_LANES] __attribute__((aligned(64))), *const s = states, any = 0;

    for (unsigned j = 0; j < 25 * LV64_LANES; j++) {
        any |= ((const uint64_t *)begin)[j];
        block[j] = 0;
    }
    if (links->at % 8 != 0 || links->nbytes % 8 != 0 || any != 0)
        return 0;
    keccak_absorb(block, msg, 0, links->block_nbytes / 8);
    for (unsigned left = links->nsteps;; left--) {
        LV_UNROLL(25)
        for (unsigned j = 0; j < 25; j++)
            lv64_store(s + j * LV64_LANES, lv64_load(block + j * LV64_LANES));
        keccak_permute_called(s, 0);
        if (left == 1)
            return 1;
        for (unsigned j = 0; j < n; j++)
            lv64_store(block + (i + j) * LV64_LANES, lv64_load(s + j * LV64_LANES));
        if (links->count_at < links->block_nbytes)
            lv64_store(block + count * LV64_LANES,
                       lv64_add(lv64_load(block + count * LV64_LANES),
                                lv64_splat(UINT64_C(1) << 8 * (links->count_at % 8))));
    }
}
#endif

#if LV_STAGES || defined(LV_WHOLES)
LV_FN void keccak_xor(uint64_t *state, unsigned i, uint64_t word)
{
    uint64_t *const row = state + i * LV64_LANES;

    lv64_store(row, lv64_xor(lv64_load(row), lv64_splat(word)));
}

LV_KERNEL void LV_NAME(keccak_whole)(LV_WHOLE_ARGS)
{
    const unsigned nwords = whole->block_nbytes / 8;
    const uint64_t *begin = whole->begin;
    uint64_t state[25 * LV64_LANES] __attribute__((aligned(64)));
    size_t most = nbytes[0];
    /* Suffixes at the beginning of a word, all in the same. */
    const unsigned is_suffix_alone = whole->is_one_length && most % 8 == 0;

    for (unsigned l = 1; l < LV64_LANES && !whole->is_one_length; l++) {
        most = nbytes[l] > most ? nbytes[l] : most;
        __asm__("" : "+r"(most)); /* keeps the loop in general registers */
    }
    LV_UNROLL(25)
    for (unsigned i = 0; i < 25; i++)
        lv64_store(state + i * LV64_LANES, lv64_splat(begin[i]));
    for (unsigned b = 0; b < whole->nblocks; b++) {
        const size_t at = b * (size_t)whole->block_nbytes;
        /* words with bytes of a message; the suffix is one, if it has no word for itself */
        const size_t with_bytes = most < at ? 0 : (most - at) / 8 + 1 - is_suffix_alone;
        const unsigned n = with_bytes < nwords ? (unsigned)with_bytes : nwords;

        if (is_suffix_alone && most >= at && n < nwords)
            keccak_xor(state, n, whole->suffix);
        for (unsigned i = 0; i < n; i += LV64_GROUP) {
            lv64 w[LV64_GROUP];
            lv64_load_padded_words(w, whole, data, nbytes, b, i);
            LV_UNROLL(8)
            for (unsigned j = 0; j < LV64_GROUP; j++) {
                uint64_t *const row = state + (i + j) * LV64_LANES;
                if (j < n - i)
                    lv64_store(row, lv64_xor(lv64_load(row), w[j]));
            }
        }
        if (b + 1 == whole->nblocks)
            keccak_xor(state, nwords - 1, UINT64_C(1) << 63);
        keccak_permute(state, b + 1 < whole->nblocks);
    }
    lv64_digests(state, 8, 0, whole->digest_nbytes, LV64_LANES, digests);
}
#endif

#undef PLACE
#undef A0
#undef A1
#undef A2
#undef A3
#undef COLUMN
#undef THETA
#undef ROW
#undef KECCAK_ROUND
