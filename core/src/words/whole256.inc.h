/* whole256.inc.h: whole short messages in registers of 256 bits, for hli_whole_fn.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by words/<isa>.h after x86.inc.h, and after a function
 *
 *   ended16(data, nbytes, at, after)  16 bytes of a message from `at` on. Behind its end comes `after`, the one bit as
 *                                     0x80 or a sponge's suffix, then zeros. Nothing outside of the message is read.
 */
LV_FN __m256i padded_pair(const uint8_t *const data[], const size_t nbytes[], int is_one_length, unsigned a, unsigned b,
                          size_t at, unsigned after)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(ended16(data[a], nbytes[is_one_length ? 0 : a], at, after)),
                                   ended16(data[b], nbytes[is_one_length ? 0 : b], at, after), 1);
}

/* A lower bound of the messages' lengths, from their number of blocks. */
LV_FN size_t least_length(const struct hli_whole *whole, const size_t nbytes[], unsigned block_nbytes)
{
    return whole->is_one_length ? nbytes[0]
           : whole->nblocks > 1 ? (size_t)(whole->nblocks - 1) * block_nbytes - block_nbytes / 8
                                : 0;
}

LV_FN void load_padded32(lv32 w[16], const struct hli_whole *whole, const uint8_t *const data[],
                            const size_t nbytes[], unsigned b, int order)
{
    const int one = whole->is_one_length, big_endian = order == 1;
    const unsigned after = order == LV_COUNTED ? 0 : 0x80;
    const size_t least = least_length(whole, nbytes, 64);

    for (unsigned i = 0; i < 16; i += 4) {
        const size_t at = 64 * (size_t)b + 4 * i;
        if (one && at >= nbytes[0]) {
            w[i] = lv32_splat(at > nbytes[0] ? 0 : big_endian ? UINT32_C(0x80000000) : after);
            w[i + 1] = w[i + 2] = w[i + 3] = lv32_splat(0);
            continue;
        }
        if (at + 16 <= least)
            transpose32(w + i, row32(data, 0, at), row32(data, 1, at), row32(data, 2, at), row32(data, 3, at));
        else
            transpose32(
                w + i, padded_pair(data, nbytes, one, 0, 4, at, after), padded_pair(data, nbytes, one, 1, 5, at, after),
                padded_pair(data, nbytes, one, 2, 6, at, after), padded_pair(data, nbytes, one, 3, 7, at, after));
        for (unsigned j = i; big_endian && j < i + 4; j++)
            w[j] = swap32(w[j]);
    }
    if (order != LV_COUNTED && hli_ends_in(whole, b)) {
        uint32_t nbits[8] __attribute__((aligned(32)));
        for (unsigned l = 0; l < 8; l++)
            nbits[l] = (whole->before + (uint32_t)nbytes[one ? 0 : l]) << 3;
        w[big_endian ? 15 : 14] = lv32_load(nbits); /* the word is zero so far */
    }
}

/* Kernels share a function for each order. */
#define LOAD_PADDED(name, order) \
    LV_SHARED void name(lv32 w[16], const struct hli_whole *whole, const uint8_t *const data[], const size_t nbytes[], \
                        unsigned b) \
    { \
        load_padded32(w, whole, data, nbytes, b, order); \
    }
LOAD_PADDED(load_padded_big, 1)
LOAD_PADDED(load_padded_little, 0)
LOAD_PADDED(load_padded_counted, LV_COUNTED)
#define lv32_load_padded(w, whole, data, nbytes, b, order) \
    ((order) == 1              ? load_padded_big(w, whole, data, nbytes, b) \
     : (order) == LV_COUNTED   ? load_padded_counted(w, whole, data, nbytes, b) \
                               : load_padded_little(w, whole, data, nbytes, b))

LV_FN void lv64_load_padded(lv64 w[16], const struct hli_whole *whole, const uint8_t *const data[],
                            const size_t nbytes[], unsigned b, int order)
{
    const int one = whole->is_one_length, big_endian = order == 1;
    const unsigned after = order == LV_COUNTED ? 0 : 0x80;
    const size_t least = least_length(whole, nbytes, 128);

    for (unsigned i = 0; i < 16; i += 2) {
        const size_t at = 128 * (size_t)b + 8 * i;
        if (one && at >= nbytes[0]) {
            w[i] = lv64_splat(at > nbytes[0] ? 0 : (uint64_t)after << (big_endian ? 56 : 0));
            w[i + 1] = lv64_splat(0);
            continue;
        }
        const int is_inside = at + 16 <= least;
        const __m256i r0 = is_inside ? row64(data, 0, at) : padded_pair(data, nbytes, one, 0, 2, at, after);
        const __m256i r1 = is_inside ? row64(data, 1, at) : padded_pair(data, nbytes, one, 1, 3, at, after);
        w[i + 0] = _mm256_unpacklo_epi64(r0, r1);
        w[i + 1] = _mm256_unpackhi_epi64(r0, r1);
        for (unsigned j = i; big_endian && j < i + 2; j++)
            w[j] = swap64(w[j]);
    }
    if (order != LV_COUNTED && hli_ends_in(whole, b)) {
        uint64_t nbits[4] __attribute__((aligned(32)));
        for (unsigned l = 0; l < 4; l++)
            nbits[l] = (uint64_t)(whole->before + nbytes[one ? 0 : l]) << 3;
        w[15] = lv64_load(nbits);
    }
}

/* Keeps gcc from copying rows by halves, for which the loads of whole ones would wait. */
#ifdef X86_TERNARY
#  define LV_NO_COPY(x) ((void)0)
#else
#  define LV_NO_COPY(x) __asm__("" : "+x"(x))
#endif

/* The first 16, 20, 24, 28 or 32 bytes of x. */
LV_FN void store_first(uint8_t *to, __m256i x, size_t nbytes)
{
    const __m128i low = _mm256_castsi256_si128(x), high = _mm256_extracti128_si256(x, 1);

    _mm_storeu_si128((__m128i *)to, low);
    if (nbytes >= 32)
        _mm_storeu_si128((__m128i *)(to + 16), high);
    else if (nbytes == 28)
        _mm_storeu_si128((__m128i *)(to + 12), _mm_alignr_epi8(high, low, 12));
    else if (nbytes == 24)
        _mm_storel_epi64((__m128i *)(to + 16), high);
    else if (nbytes == 20)
        hli_store32(to + 16, (uint32_t)_mm_cvtsi128_si32(high), 0);
}

LV_FN void lv32_digests(const uint32_t *state, unsigned nwords, int big_endian, size_t nbytes, unsigned n,
                        uint8_t *const digests[])
{
    __m256i r[8], t[8];

    for (unsigned w = 0; w < 8; w++) {
        r[w] = lv32_load(state + LV32_LANES * (w < nwords ? w : 0));
        if (big_endian)
            r[w] = swap32(r[w]);
        else
            LV_NO_COPY(r[w]);
    }
    transpose32(t, r[0], r[1], r[2], r[3]); /* halves: words 0 to 3 of lanes j and 4 + j */
    transpose32(t + 4, r[4], r[5], r[6], r[7]);
    for (unsigned l = 0; l < 8 && l < n; l++)
        store_first(digests[l],
                    l < 4 ? _mm256_permute2x128_si256(t[l % 4], t[4 + l % 4], 0x20)
                          : _mm256_permute2x128_si256(t[l % 4], t[4 + l % 4], 0x31),
                    nbytes);
}

LV_FN void lv64_load_padded_words(lv64 w[LV64_GROUP], const struct hli_whole *whole, const uint8_t *const data[],
                                  const size_t nbytes[], unsigned b, unsigned i)
{
    const int one = whole->is_one_length;
    const size_t at = b * (size_t)whole->block_nbytes + 8 * i;
    const int is_inside = at + 16 <= (one ? nbytes[0] : (whole->nblocks - 1) * (size_t)whole->block_nbytes);
    const __m256i r0 = is_inside ? row64(data, 0, at) : padded_pair(data, nbytes, one, 0, 2, at, whole->suffix);
    const __m256i r1 = is_inside ? row64(data, 1, at) : padded_pair(data, nbytes, one, 1, 3, at, whole->suffix);

    w[0] = _mm256_unpacklo_epi64(r0, r1);
    w[1] = _mm256_unpackhi_epi64(r0, r1);
}

LV_FN void lv64_digests(const uint64_t *state, unsigned nwords, int big_endian, size_t nbytes, unsigned n,
                        uint8_t *const digests[])
{
    __m256i t[8];

    (void)nwords, (void)n; /* 8 and 4 */
    for (unsigned w = 0; w < 8; w += 2) { /* halves: words w and w + 1 of lanes 0 and 2, of lanes 1 and 3 */
        const __m256i r = lv64_load(state + LV64_LANES * w), next = lv64_load(state + LV64_LANES * (w + 1));
        const __m256i even = big_endian ? swap64(r) : r, odd = big_endian ? swap64(next) : next;
        t[w] = _mm256_unpacklo_epi64(even, odd);
        t[w + 1] = _mm256_unpackhi_epi64(even, odd);
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
