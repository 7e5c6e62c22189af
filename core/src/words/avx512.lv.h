/* words/avx512.lv.h: the vocabulary of AVX-512 (F and BW): sixteen lanes of 32 bits, eight of 64.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <immintrin.h>

#include "padded.h"

#define LV_ISA    avx512
#define LV_TARGET PADDED_TARGET
#define X86_BITS 512
#define X86_TERNARY
#include "x86.inc.h"

/* A 4 x 4 transposition of 32-bit words within quarters, of every four of n registers: pairs, then pairs of pairs. */
LV_FN void transpose_quarters(unsigned n, __m512i r[])
{
    for (unsigned i = 0; i < n; i += 4) {
        const __m512i t0 = _mm512_unpacklo_epi32(r[i], r[i + 1]), t1 = _mm512_unpackhi_epi32(r[i], r[i + 1]);
        const __m512i t2 = _mm512_unpacklo_epi32(r[i + 2], r[i + 3]), t3 = _mm512_unpackhi_epi32(r[i + 2], r[i + 3]);
        r[i + 0] = _mm512_unpacklo_epi64(t0, t2);
        r[i + 1] = _mm512_unpackhi_epi64(t0, t2);
        r[i + 2] = _mm512_unpacklo_epi64(t1, t3);
        r[i + 3] = _mm512_unpackhi_epi64(t1, t3);
    }
}

/* A 16 x 16 transposition of 32-bit words: within quarters, then these in two steps. Overwrites r. */
LV_FN void transpose32(__m512i w[16], __m512i r[16])
{
    transpose_quarters(16, r); /* quarter q of r[i + j] = word 4 q + j of messages i .. i + 3 */
    for (unsigned j = 0; j < 4; j++) {
        const __m512i even_low = _mm512_shuffle_i32x4(r[j], r[j + 4], 0x88);
        const __m512i odd_low = _mm512_shuffle_i32x4(r[j], r[j + 4], 0xdd);
        const __m512i even_high = _mm512_shuffle_i32x4(r[j + 8], r[j + 12], 0x88);
        const __m512i odd_high = _mm512_shuffle_i32x4(r[j + 8], r[j + 12], 0xdd);
        w[j + 0] = _mm512_shuffle_i32x4(even_low, even_high, 0x88);
        w[j + 4] = _mm512_shuffle_i32x4(odd_low, odd_high, 0x88);
        w[j + 8] = _mm512_shuffle_i32x4(even_low, even_high, 0xdd);
        w[j + 12] = _mm512_shuffle_i32x4(odd_low, odd_high, 0xdd);
    }
}

/* Row l is 64 bytes of message l, so that each message is read with one load. */
LV_FN void lv32_load_block(lv32 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    __m512i r[16];

    for (unsigned i = 0; i < 16; i++)
        r[i] = _mm512_loadu_si512(msg[i] + offset);
    transpose32(w, r);
    for (unsigned i = 0; big_endian && i < 16; i++)
        w[i] = swap32(w[i]);
}

/* An 8 x 8 transposition of 64-bit words: pairs of words, then 128-bit quarters in two steps. */
LV_FN void transpose64(__m512i r[8])
{
    __m512i t[8];

    for (unsigned i = 0; i < 8; i += 2) { /* quarter q of t[i + j] = word 2 q + j of rows i, i + 1 */
        t[i] = _mm512_unpacklo_epi64(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi64(r[i], r[i + 1]);
    }
    for (unsigned j = 0; j < 2; j++) {
        const __m512i low_front = _mm512_shuffle_i64x2(t[j], t[j + 2], 0x44);
        const __m512i high_front = _mm512_shuffle_i64x2(t[j], t[j + 2], 0xee);
        const __m512i low_back = _mm512_shuffle_i64x2(t[j + 4], t[j + 6], 0x44);
        const __m512i high_back = _mm512_shuffle_i64x2(t[j + 4], t[j + 6], 0xee);
        r[j + 0] = _mm512_shuffle_i64x2(low_front, low_back, 0x88);
        r[j + 2] = _mm512_shuffle_i64x2(low_front, low_back, 0xdd);
        r[j + 4] = _mm512_shuffle_i64x2(high_front, high_back, 0x88);
        r[j + 6] = _mm512_shuffle_i64x2(high_front, high_back, 0xdd);
    }
}

/* One word of each of four messages. */
LV_FN __m256i words_of(const uint8_t *const msg[], size_t offset)
{
    __m128i pair[2];

    for (unsigned i = 0; i < 2; i++) {
        const __m128i low = _mm_loadl_epi64((const __m128i *)(msg[2 * i] + offset));
        const double *high = (const double *)(const void *)(msg[2 * i + 1] + offset);
        pair[i] = _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(low), high));
    }
    return _mm256_inserti128_si256(_mm256_castsi128_si256(pair[0]), pair[1], 1);
}

/* Masked, the loads read no word behind the last. */
#define LV64_GROUP 8
LV_FN void lv64_load_words(lv64 w[LV64_GROUP], const uint8_t *const msg[], size_t offset, unsigned n)
{
    const __mmask8 mask = (__mmask8)(n < 8 ? (1u << n) - 1 : 0xff);

    if (n == 1) { /* the last word of most blocks: 7 shuffles instead of 24 */
        w[0] = _mm512_inserti64x4(_mm512_castsi256_si512(words_of(msg, offset)), words_of(msg + 4, offset), 1);
        return;
    }
    for (unsigned i = 0; i < 8; i++)
        w[i] = _mm512_maskz_loadu_epi64(mask, msg[i] + offset);
    transpose64(w);
}

LV_FN void lv64_load_block(lv64 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned half = 0; half < 16; half += 8) {
        for (unsigned i = 0; i < 8; i++)
            w[half + i] = _mm512_loadu_si512(msg[i] + offset + 8 * half);
        transpose64(w + half);
    }
    for (unsigned i = 0; big_endian && i < 16; i++)
        w[i] = swap64(w[i]);
}

/* A splat from memory can be part of an addition here. Left to themselves, compilers splat all constants before the
 * first block, onto 4 KiB of stack. */
#define LV_RELOAD(pointer) HLI_NEW_POINTER(pointer)

/* A block is put in order part by part while another is hashed. All shuffles go to one port, and in one heap they keep
 * the other port waiting (80 of SHA-1's 837 operations). Stores of quarter registers need only half of the shuffles. */
#define LV_STAGES 1
typedef struct {
    uint32_t words[16][LV32_LANES];
} __attribute__((aligned(64))) lv32_staging;
typedef struct {
    uint64_t words[16][LV64_LANES];
} __attribute__((aligned(64))) lv64_staging;

/* Assembly, as clang merges such stores into whole registers again, with more shuffles than the stores save. The text
 * has both dialects, -masm=att and -masm=intel. */
#define STORE_QUARTER(to, x, i) \
    __asm__("vextracti32x4 {%2, %1, %0|%0, %1, %2}" : "=m"(*(__m128i *)(to)) : "v"(x), "n"(i))
LV_FN void store_quarters(void *to, size_t stride, __m512i x)
{
    uint8_t *const p = to;

    _mm_store_si128((__m128i *)to, _mm512_castsi512_si128(x));
    STORE_QUARTER(p + stride, x, 1);
    STORE_QUARTER(p + 2 * stride, x, 2);
    STORE_QUARTER(p + 3 * stride, x, 3);
}

/* Messages 4 part to 4 part + 3. */
LV_FN void lv32_stage(lv32_staging *to, const uint8_t *const msg[], size_t offset, unsigned part, int big_endian)
{
    const uint8_t *const *row = msg + 4 * part;

    for (unsigned i = 0; i < 4; i += 2) {
        __m512i t0, t2, x;
        if (i == 0) {
            t0 = _mm512_unpacklo_epi32(_mm512_loadu_si512(row[0] + offset), _mm512_loadu_si512(row[1] + offset));
            t2 = _mm512_unpacklo_epi32(_mm512_loadu_si512(row[2] + offset), _mm512_loadu_si512(row[3] + offset));
        } else {
            t0 = _mm512_unpackhi_epi32(_mm512_loadu_si512(row[0] + offset), _mm512_loadu_si512(row[1] + offset));
            t2 = _mm512_unpackhi_epi32(_mm512_loadu_si512(row[2] + offset), _mm512_loadu_si512(row[3] + offset));
        }
        if (big_endian) {
            t0 = swap32(t0);
            t2 = swap32(t2);
        }
        x = _mm512_unpacklo_epi64(t0, t2);
        store_quarters(&to->words[i][4 * part], 4 * 64, x);
        x = _mm512_unpackhi_epi64(t0, t2);
        store_quarters(&to->words[i + 1][4 * part], 4 * 64, x);
    }
}

LV_FN void lv32_staged(lv32 w[16], const lv32_staging *from)
{
    for (unsigned i = 0; i < 16; i++)
        w[i] = lv32_load(from->words[i]);
}

/* The same by copies alone, for little-endian words: quarters of messages 4 apart become one row, and half of the
 * shuffles are left. Stores of quarters of registers take the ports of the rounds (BLAKE3 on Zen 4: 3%). */
LV_FN void lv32_copy(lv32_staging *to, const uint8_t *const msg[], size_t offset, unsigned part)
{
    for (unsigned i = 0; i < 16; i++)
        _mm_store_si128((__m128i *)&to->words[4 * (i / 4) + i % 4][4 * part],
                        _mm_loadu_si128((const __m128i *)(msg[4 * part + i % 4] + offset + 16 * (i / 4))));
}

LV_FN void lv32_copied(lv32 w[16], const lv32_staging *from)
{
    lv32_staged(w, from);
    transpose_quarters(16, w);
}

/* Messages 2 part and 2 part + 1. */
LV_FN void lv64_stage(lv64_staging *to, const uint8_t *const msg[], size_t offset, unsigned part, int big_endian)
{
    for (unsigned half = 0; half < 16; half += 8) {
        __m512i r0 = _mm512_loadu_si512(msg[2 * part] + offset + 8 * half);
        __m512i r1 = _mm512_loadu_si512(msg[2 * part + 1] + offset + 8 * half);
        if (big_endian) {
            r0 = swap64(r0);
            r1 = swap64(r1);
        }
        store_quarters(&to->words[half][2 * part], 2 * 64, _mm512_unpacklo_epi64(r0, r1));
        store_quarters(&to->words[half + 1][2 * part], 2 * 64, _mm512_unpackhi_epi64(r0, r1));
    }
}

LV_FN void lv64_staged(lv64 w[16], const lv64_staging *from)
{
    for (unsigned i = 0; i < 16; i++)
        w[i] = lv64_load(from->words[i]);
}

/* ---- Whole short messages ---------------------------------------------------------------------------------------- */

LV_FN lv64 lv64_lengths(const size_t nbytes[])
{
    return sizeof(size_t) == 8 ? _mm512_loadu_si512(nbytes)
                               : _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)nbytes));
}
LV_FN lv32 lv32_lengths(const size_t nbytes[])
{
    if (sizeof(size_t) == 4)
        return _mm512_loadu_si512(nbytes);
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(_mm512_loadu_si512(nbytes))),
                              _mm512_cvtepi64_epi32(_mm512_loadu_si512(nbytes + 8)), 1);
}

/* The lengths in bits, for the last block. */
LV_FN lv32 lv32_nbits(const struct hli_whole *whole, const size_t nbytes[])
{
    return whole->is_one_length ? lv32_splat((whole->before + (uint32_t)nbytes[0]) << 3)
                                : _mm512_slli_epi32(lv32_add(lv32_lengths(nbytes), lv32_splat(whole->before)), 3);
}
LV_FN lv64 lv64_nbits(const struct hli_whole *whole, const size_t nbytes[])
{
    return whole->is_one_length ? lv64_splat((uint64_t)(whole->before + nbytes[0]) << 3)
                                : _mm512_slli_epi64(lv64_add(lv64_lengths(nbytes), lv64_splat(whole->before)), 3);
}
/* Row l of r = 64 bytes of message l from `offset` on, and what follows its end. One length has one mask. */
/* Four blocks of a counted algorithm may be full: 256 bytes. */
#define KEPT_OF(left) (order == LV_COUNTED ? PADDED_KEPT_OF_LONG(left) : PADDED_KEPT(left))
LV_FN void load_rows(unsigned nrows, __m512i r[], const uint8_t *const data[], size_t offset, const size_t nbytes[],
                     int is_one_length, int order)
{
    ptrdiff_t left = (ptrdiff_t)(nbytes[0] - offset);
    __mmask64 kept = KEPT_OF(left);
    __m512i behind = order == LV_COUNTED ? _mm512_setzero_si512() : _mm512_loadu_si512(PADDED_BEHIND(left));

    for (unsigned i = 0; i < nrows; i++) {
        if (!is_one_length) {
            left = (ptrdiff_t)(nbytes[i] - offset);
            kept = KEPT_OF(left);
            if (order != LV_COUNTED)
                behind = _mm512_loadu_si512(PADDED_BEHIND(left));
        }
        r[i] = padded64(data[i], offset, kept, behind);
    }
}

/* Messages of one length that end in the first half of the block, or with it: two messages share a register, and half
 * of the transposition is left. */
LV_FN void load_half_rows(lv32 w[8], const uint8_t *const data[], size_t offset, ptrdiff_t left, int order)
{
    const __mmask32 kept = (__mmask32)PADDED_KEPT(left);
    const __m256i behind = order == LV_COUNTED ? _mm256_setzero_si256() : _mm256_loadu_si256(PADDED_BEHIND(left));
    __m512i r[8];

    for (unsigned i = 0; i < 8; i++) {
        const unsigned p = 8 * (i / 4) + i % 4, q = p + 4;
        r[i] = _mm512_inserti64x4(_mm512_castsi256_si512(padded32(data[p], offset, kept, behind)),
                                  padded32(data[q], offset, kept, behind), 1);
        if (order == 1)
            r[i] = swap32(r[i]);
    }
    transpose_quarters(8, r); /* quarters: words 0, 4, 0, 4 of four messages each */
    for (unsigned j = 0; j < 4; j++) {
        w[j] = _mm512_shuffle_i32x4(r[j], r[j + 4], 0x88);
        w[4 + j] = _mm512_shuffle_i32x4(r[j], r[j + 4], 0xdd);
    }
}

/* Assembly keeps gcc from a memset, which takes longer than stores of registers. */
LV_FN __m512i zeros(void)
{
    __m512i x = _mm512_setzero_si512();
    __asm__("" : "+v"(x));
    return x;
}

/* is_one_length is a literal: if two ways of loading met before the transposition, gcc would put all rows into memory
 * (17 ns). */
LV_FN void lv32_load_ending(lv32 w[16], const uint8_t *const data[], const size_t nbytes[], size_t offset,
                            int is_one_length, int order)
{
    lv32 r[16];

    load_rows(16, r, data, offset, nbytes, is_one_length, order);
    transpose32(w, r);
    for (unsigned i = 0; order == 1 && i < 16; i++)
        w[i] = swap32(w[i]);
}
LV_FN void lv64_load_ending(lv64 w[16], const uint8_t *const data[], const size_t nbytes[], size_t offset,
                            int is_one_length, int order)
{
    load_rows(8, w, data, offset, nbytes, is_one_length, order);
    transpose64(w);
    load_rows(8, w + 8, data, offset + 64, nbytes, is_one_length, order);
    transpose64(w + 8);
    for (unsigned i = 0; order == 1 && i < 16; i++)
        w[i] = swap64(w[i]);
}

/* In each kernel a copy of its own: 32 bytes take 4 to 6% longer otherwise (Emerald Rapids, gcc 12). */
LV_FN void lv32_load_padded(lv32 w[16], const struct hli_whole *whole, const uint8_t *const data[],
                            const size_t nbytes[], unsigned b, int order)
{
    const unsigned low = order == 1 ? 15 : 14;
    const size_t offset = 64 * (size_t)b;
    const ptrdiff_t left = (ptrdiff_t)(nbytes[0] - offset);

    if (!whole->is_one_length) {
        lv32_load_ending(w, data, nbytes, offset, 0, order);
    } else if (left > 32) {
        lv32_load_ending(w, data, nbytes, offset, 1, order);
    } else {
        load_half_rows(w, data, offset, left, order);
        for (unsigned i = 8; i < 16; i++)
            w[i] = zeros();
        if (left == 32 && order != LV_COUNTED)
            w[8] = lv32_splat(order == 1 ? UINT32_C(0x80000000) : 0x80);
    }
    if (order != LV_COUNTED && hli_ends_in(whole, b)) /* the word is zero so far */
        w[low] = lv32_nbits(whole, nbytes);
}

LV_FN void lv64_load_padded(lv64 w[16], const struct hli_whole *whole, const uint8_t *const data[],
                            const size_t nbytes[], unsigned b, int order)
{
    const size_t offset = 128 * (size_t)b;
    const ptrdiff_t left = (ptrdiff_t)(nbytes[0] - offset);

    if (!whole->is_one_length) {
        lv64_load_ending(w, data, nbytes, offset, 0, order);
    } else if (left > 64) {
        lv64_load_ending(w, data, nbytes, offset, 1, order);
    } else {
        load_rows(8, w, data, offset, nbytes, 1, order);
        transpose64(w);
        for (unsigned i = 0; order == 1 && i < 8; i++)
            w[i] = swap64(w[i]);
        for (unsigned i = 8; i < 16; i++)
            w[i] = zeros();
        if (left == 64 && order != LV_COUNTED)
            w[8] = lv64_splat(UINT64_C(1) << (order == 1 ? 63 : 7));
    }
    if (order != LV_COUNTED && hli_ends_in(whole, b))
        w[15] = lv64_nbits(whole, nbytes);
}

/* Left of message l from the i-th word of block b on; negative if it ends before. */
#define LV64_LEFT(l) ((ptrdiff_t)(nbytes[l] - b * (size_t)whole->block_nbytes) - 8 * (ptrdiff_t)i)

LV_FN void lv64_load_padded_words(lv64 w[LV64_GROUP], const struct hli_whole *whole, const uint8_t *const data[],
                                  const size_t nbytes[], unsigned b, unsigned i)
{
    const __m512i suffix = _mm512_set1_epi8((char)whole->suffix);
    const size_t offset = b * (size_t)whole->block_nbytes + 8 * i;

    for (unsigned l = 0; l < 8; l++) {
        const ptrdiff_t left = LV64_LEFT(l);
        const __mmask64 kept = PADDED_KEPT_OF_LONG(left), upto = PADDED_KEPT_OF_LONG(left + 1);
        w[l] = _mm512_mask_mov_epi8(padded64(data[l], offset, kept, _mm512_setzero_si512()), kept ^ upto, suffix);
    }
    transpose64(w);
}

/* The states are transposed in registers, and each digest is one masked store. */
LV_FN void lv64_digests(const uint64_t *state, unsigned nwords, int big_endian, size_t nbytes, unsigned n,
                        uint8_t *const digests[])
{
    const __mmask64 bytes = lowest(nbytes);
    __m512i r[8];

    for (unsigned w = 0; w < 8; w++) {
        r[w] = lv64_load(state + LV64_LANES * (w < nwords ? w : 0));
        if (big_endian)
            r[w] = swap64(r[w]);
    }
    transpose64(r);
    for (unsigned l = 0; l < 8; l++)
        if (l < n)
            _mm512_mask_storeu_epi8(digests[l], bytes, r[l]);
}

LV_FN void lv32_digests(const uint32_t *state, unsigned nwords, int big_endian, size_t nbytes, unsigned n,
                        uint8_t *const digests[])
{
    const __mmask8 words = (__mmask8)((1u << nbytes / 4) - 1);
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    __m512i r[8];

    for (unsigned w = 0; w < 8; w++) {
        r[w] = lv32_load(state + LV32_LANES * (w < nwords ? w : 0));
        if (big_endian)
            r[w] = swap32(r[w]);
    }
    transpose_quarters(8, r); /* quarter q of r[i + j] = words i .. i + 3 of lane 4 q + j */
#pragma GCC unroll 16
    for (unsigned l = 0; l < 16; l++) {
        const __m512i pair = _mm512_permutex2var_epi64(r[l % 4], l < 8 ? low : high, r[4 + l % 4]);
        if (l < n)
            _mm256_mask_storeu_epi32(digests[l], words,
                                     l / 4 % 2 == 0 ? _mm512_castsi512_si256(pair)
                                                    : _mm512_extracti64x4_epi64(pair, 1));
    }
}
