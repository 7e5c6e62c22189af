/* ymm.inc.h: the part of a vocabulary that AVX2 and AVX-512VL share: eight lanes of 32 bits, four of 64.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by lanes/avx2.h and avx512vl.h after they define LV_TARGET. They add the boolean functions of three words
 * and the rotations.
 */
#define LV_KERNEL LV_TARGET
#define LV_SHARED LV_TARGET HLI_NOINLINE __attribute__((unused)) static
#define LV_FN     LV_TARGET HLI_INLINE

typedef __m256i lv32, lv64;
#define LV32_LANES 8
#define LV64_LANES 4

LV_FN lv32 lv32_load(const uint32_t *p) { return _mm256_load_si256((const __m256i *)p); }
LV_FN void lv32_store(uint32_t *p, lv32 x) { _mm256_store_si256((__m256i *)p, x); }
LV_FN lv32 lv32_splat(uint32_t c) { return _mm256_set1_epi32((int)c); }
LV_FN lv32 lv32_add(lv32 x, lv32 y) { return _mm256_add_epi32(x, y); }
LV_FN lv32 lv32_xor(lv32 x, lv32 y) { return _mm256_xor_si256(x, y); }
#define lv32_shr(x, n) _mm256_srli_epi32(x, n)

LV_FN lv64 lv64_load(const uint64_t *p) { return _mm256_load_si256((const __m256i *)p); }
LV_FN void lv64_store(uint64_t *p, lv64 x) { _mm256_store_si256((__m256i *)p, x); }
LV_FN lv64 lv64_splat(uint64_t c) { return _mm256_set1_epi64x((long long)c); }
LV_FN lv64 lv64_add(lv64 x, lv64 y) { return _mm256_add_epi64(x, y); }
#define lv64_xor3(x, y, z) lv32_xor3(x, y, z)
#define lv64_ch(x, y, z)   lv32_ch(x, y, z)
#define lv64_maj(x, y, z)  lv32_maj(x, y, z)
#define lv64_shr(x, n)     _mm256_srli_epi64(x, n)

/* 16 bytes of message a below 16 bytes of message b. The load puts them together (vinserti128 from memory), so that
 * only shuffles within 128-bit halves are left. */
LV_FN __m256i load_pair(const uint8_t *a, const uint8_t *b)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)a)),
                                   _mm_loadu_si128((const __m128i *)b), 1);
}

/* Messages i and i + 4 share a register, so 4 x 4 transpositions within the halves suffice. */
LV_FN void transpose32(lv32 w[4], __m256i r0, __m256i r1, __m256i r2, __m256i r3)
{
    const __m256i t0 = _mm256_unpacklo_epi32(r0, r1), t1 = _mm256_unpackhi_epi32(r0, r1);
    const __m256i t2 = _mm256_unpacklo_epi32(r2, r3), t3 = _mm256_unpackhi_epi32(r2, r3);

    w[0] = _mm256_unpacklo_epi64(t0, t2);
    w[1] = _mm256_unpackhi_epi64(t0, t2);
    w[2] = _mm256_unpacklo_epi64(t1, t3);
    w[3] = _mm256_unpackhi_epi64(t1, t3);
}
/* The bytes of each word in reverse order. */
LV_FN __m256i swap32(__m256i x)
{
    return _mm256_shuffle_epi8(x, _mm256_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12,
                                                   3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
}
LV_FN __m256i swap64(__m256i x)
{
    return _mm256_shuffle_epi8(x, _mm256_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8,
                                                   7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
}

LV_FN void lv32_load_block(lv32 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned i = 0; i < 16; i += 4) {
        const size_t at = offset + 4 * i;
        transpose32(w + i, load_pair(msg[0] + at, msg[4] + at), load_pair(msg[1] + at, msg[5] + at),
                    load_pair(msg[2] + at, msg[6] + at), load_pair(msg[3] + at, msg[7] + at));
        for (unsigned j = i; big_endian && j < i + 4; j++)
            w[j] = swap32(w[j]);
    }
}

#define LV64_GROUP 2
LV_FN __m256i load_word_pair(const uint8_t *a, const uint8_t *b)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadl_epi64((const __m128i *)a)),
                                   _mm_loadl_epi64((const __m128i *)b), 1);
}
LV_FN void lv64_load_words(lv64 w[LV64_GROUP], const uint8_t *const msg[], size_t offset, unsigned n)
{
    if (n == 1) {
        w[0] = _mm256_unpacklo_epi64(load_word_pair(msg[0] + offset, msg[2] + offset),
                                     load_word_pair(msg[1] + offset, msg[3] + offset));
        return;
    }
    const __m256i r0 = load_pair(msg[0] + offset, msg[2] + offset), r1 = load_pair(msg[1] + offset, msg[3] + offset);
    w[0] = _mm256_unpacklo_epi64(r0, r1);
    w[1] = _mm256_unpackhi_epi64(r0, r1);
}

/* Messages i and i + 2 share a register. */
LV_FN void lv64_load_block(lv64 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned i = 0; i < 16; i += 2) {
        const size_t at = offset + 8 * i;
        const __m256i r0 = load_pair(msg[0] + at, msg[2] + at), r1 = load_pair(msg[1] + at, msg[3] + at);
        w[i + 0] = _mm256_unpacklo_epi64(r0, r1);
        w[i + 1] = _mm256_unpackhi_epi64(r0, r1);
        for (unsigned j = i; big_endian && j < i + 2; j++)
            w[j] = swap64(w[j]);
    }
}

/* The first 16, 20, 28 or 32 bytes of x. */
LV_FN void store_first(uint8_t *to, __m256i x, size_t nbytes)
{
    const __m128i low = _mm256_castsi256_si128(x), high = _mm256_extracti128_si256(x, 1);

    _mm_storeu_si128((__m128i *)to, low);
    if (nbytes >= 32)
        _mm_storeu_si128((__m128i *)(to + 16), high);
    else if (nbytes == 28)
        _mm_storeu_si128((__m128i *)(to + 12), _mm_alignr_epi8(high, low, 12));
    else if (nbytes == 20)
        hli_store32(to + 16, (uint32_t)_mm_cvtsi128_si32(high), 0);
}

LV_FN void lv64_digests(const uint64_t *state, unsigned nwords, int big_endian, size_t nbytes, unsigned n,
                        uint8_t *const digests[])
{
    __m256i r[8], t[8];

    (void)nwords, (void)n; /* 8 and 4 */
    for (unsigned w = 0; w < 8; w++)
        r[w] = big_endian ? swap64(lv64_load(state + LV64_LANES * w)) : lv64_load(state + LV64_LANES * w);
    for (unsigned w = 0; w < 8; w += 2) { /* halves: words w and w + 1 of lanes 0 and 2, of lanes 1 and 3 */
        t[w] = _mm256_unpacklo_epi64(r[w], r[w + 1]);
        t[w + 1] = _mm256_unpackhi_epi64(r[w], r[w + 1]);
    }
    for (unsigned l = 0; l < 4; l++) {
        const unsigned odd = l % 2;
        const __m256i front = l < 2 ? _mm256_permute2x128_si256(t[odd], t[2 + odd], 0x20)
                                    : _mm256_permute2x128_si256(t[odd], t[2 + odd], 0x31);
        const __m256i back = l < 2 ? _mm256_permute2x128_si256(t[4 + odd], t[6 + odd], 0x20)
                                   : _mm256_permute2x128_si256(t[4 + odd], t[6 + odd], 0x31);
        store_first(digests[l], front, nbytes);
        if (nbytes > 32)
            store_first(digests[l] + 32, back, nbytes - 32);
    }
}
