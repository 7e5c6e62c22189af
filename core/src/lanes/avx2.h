/* lanes/avx2.h: the vocabulary of AVX2.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <immintrin.h>

#include "../edges.h"

#define LV_ISA    avx2
#define LV_TARGET __attribute__((target("avx2")))
#define LV_PAIRS
#define LV_WHOLES

#define X86_BITS 256
#include "x86.inc.h"

/* ---- Whole short messages ---------------------------------------------------------------------------------------- */

/* 16 bytes of a message from `at` on, and what follows its end: the one bit and zeros, from a table that is loaded from
 * where the bit falls behind the end. Nothing outside of the message is read. `after`: 0x80 for the one bit, or the
 * suffix of a sponge in its place. */
LV_FN __m128i padded16(const uint8_t *data, size_t nbytes, size_t at, unsigned after)
{
    const ptrdiff_t left = (ptrdiff_t)(nbytes - at);

    if (left >= 16)
        return _mm_loadu_si128((const __m128i *)(data + at));
    __m128i behind = _mm_loadu_si128((const __m128i *)(hli_one_bit + HLI_ONE_BIT_AT - left));
    if (after != 0x80)
        behind = _mm_and_si128(_mm_cmpeq_epi8(behind, _mm_set1_epi8((char)0x80)), _mm_set1_epi8((char)after));
    if (left <= 0)
        return behind;
    if (nbytes >= 16) { /* the last 16 bytes, moved down */
        const __m128i from = _mm_loadu_si128((const __m128i *)(hli_last_first + 16 - left));
        return _mm_or_si128(behind, _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(data + nbytes - 16)), from));
    }
    return _mm_or_si128(behind, (__m128i)hli_load_short(data, nbytes));
}

LV_FN __m256i padded_pair(const uint8_t *const data[], const size_t nbytes[], int is_one_length, unsigned a, unsigned b,
                          size_t at, unsigned after)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(padded16(data[a], nbytes[is_one_length ? 0 : a], at, after)),
                                   padded16(data[b], nbytes[is_one_length ? 0 : b], at, after), 1);
}

/* The length that each message has at least, as it takes so many blocks with its padding. */
LV_FN size_t least_length(const struct hli_whole *whole, const size_t nbytes[], unsigned block_nbytes)
{
    return whole->is_one_length ? nbytes[0]
           : whole->nblocks > 1 ? (size_t)(whole->nblocks - 1) * block_nbytes - block_nbytes / 8
                                : 0;
}

LV_FN void lv32_load_padded(lv32 w[16], const struct hli_whole *whole, const uint8_t *const data[],
                            const size_t nbytes[], unsigned b, int big_endian)
{
    const int one = whole->is_one_length;
    const size_t least = least_length(whole, nbytes, 64);

    for (unsigned i = 0; i < 16; i += 4) {
        const size_t at = 64 * (size_t)b + 4 * i;
        if (at + 16 <= least)
            transpose32(w + i, row32(data, 0, at), row32(data, 1, at), row32(data, 2, at), row32(data, 3, at));
        else
            transpose32(
                w + i, padded_pair(data, nbytes, one, 0, 4, at, 0x80), padded_pair(data, nbytes, one, 1, 5, at, 0x80),
                padded_pair(data, nbytes, one, 2, 6, at, 0x80), padded_pair(data, nbytes, one, 3, 7, at, 0x80));
        for (unsigned j = i; big_endian && j < i + 4; j++)
            w[j] = swap32(w[j]);
    }
    if (hli_ends_in(whole, b)) {
        uint32_t nbits[8] __attribute__((aligned(32)));
        for (unsigned l = 0; l < 8; l++)
            nbits[l] = (whole->before + (uint32_t)nbytes[one ? 0 : l]) << 3;
        w[big_endian ? 15 : 14] = lv32_load(nbits); /* the word is zero so far */
    }
}

LV_FN void lv64_load_padded(lv64 w[16], const struct hli_whole *whole, const uint8_t *const data[],
                            const size_t nbytes[], unsigned b, int big_endian)
{
    const int one = whole->is_one_length;
    const size_t least = least_length(whole, nbytes, 128);

    for (unsigned i = 0; i < 16; i += 2) {
        const size_t at = 128 * (size_t)b + 8 * i;
        const int is_inside = at + 16 <= least;
        const __m256i r0 = is_inside ? row64(data, 0, at) : padded_pair(data, nbytes, one, 0, 2, at, 0x80);
        const __m256i r1 = is_inside ? row64(data, 1, at) : padded_pair(data, nbytes, one, 1, 3, at, 0x80);
        w[i + 0] = _mm256_unpacklo_epi64(r0, r1);
        w[i + 1] = _mm256_unpackhi_epi64(r0, r1);
        for (unsigned j = i; big_endian && j < i + 2; j++)
            w[j] = swap64(w[j]);
    }
    if (hli_ends_in(whole, b)) {
        uint64_t nbits[4] __attribute__((aligned(32)));
        for (unsigned l = 0; l < 4; l++)
            nbits[l] = (uint64_t)(whole->before + nbytes[one ? 0 : l]) << 3;
        w[15] = lv64_load(nbits);
    }
}

LV_FN void lv32_digests(const uint32_t *state, unsigned nwords, int big_endian, size_t nbytes, unsigned n,
                        uint8_t *const digests[])
{
    __m256i r[8], t[8];

    for (unsigned w = 0; w < 8; w++) {
        r[w] = lv32_load(state + LV32_LANES * (w < nwords ? w : 0));
        if (big_endian)
            r[w] = swap32(r[w]);
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
    const __m256i r0 = padded_pair(data, nbytes, one, 0, 2, at, whole->suffix);
    const __m256i r1 = padded_pair(data, nbytes, one, 1, 3, at, whole->suffix);

    w[0] = _mm256_unpacklo_epi64(r0, r1);
    w[1] = _mm256_unpackhi_epi64(r0, r1);
}
