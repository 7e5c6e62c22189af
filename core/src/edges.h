/* edges.h: short copies, and the padding at the end of a message.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Kernels read a block 16 bytes at a time, soon after it was written. Such a load waits some 20 cycles for stores of
 * fewer bytes to leave the store buffer, so blocks are written 16 bytes at a time, from two registers. memcpy would
 * also take longer to find out the length than to copy.
 */
#ifndef HLI_EDGES_H
#define HLI_EDGES_H

#include "algorithms.h"

/* How a function returns a vector depends on whether a 32-bit CPU has SSE. All functions here are inline. */
#if !defined(__clang__)
#  pragma GCC diagnostic ignored "-Wpsabi"
#endif

/* 16 bytes of a message, in the order of memory. */
typedef uint64_t hli_pair __attribute__((vector_size(16)));

/* Two words as 16 bytes, the first byte of each lowest. */
HLI_INLINE hli_pair hli_pair_of(uint64_t first, uint64_t second)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (hli_pair){first, second};
#else
    return (hli_pair){__builtin_bswap64(first), __builtin_bswap64(second)};
#endif
}

HLI_INLINE hli_pair hli_load_pair(const uint8_t *from)
{
    hli_pair x;

    hli_copy(&x, from, sizeof x);
    return x;
}

HLI_INLINE void hli_store_pair(uint8_t *to, hli_pair x)
{
    hli_copy(to, &x, sizeof x);
}

/* The nbytes < 16 at p as two words, the first byte of each lowest, with zeros behind. Reads nothing else. */
HLI_INLINE void hli_load_words(const uint8_t *p, size_t nbytes, uint64_t *first, uint64_t *second)
{
    *first = *second = 0;
    if (nbytes >= 8) {
        *first = hli_load64(p, 0);
        *second = hli_load64(p + nbytes - 8, 0) >> 8 * (15 - nbytes) >> 8; /* in two steps: a shift by 64 is none */
    } else if (nbytes >= 4) {
        *first = hli_load32(p, 0) | (uint64_t)hli_load32(p + nbytes - 4, 0) << 8 * (nbytes - 4);
    } else if (nbytes > 0) { /* at most 3 bytes: the first, the middle and the last are all */
        *first = p[0] | (uint64_t)p[nbytes / 2] << 8 * (nbytes / 2) | (uint64_t)p[nbytes - 1] << 8 * (nbytes - 1);
    }
}

HLI_INLINE hli_pair hli_load_short(const uint8_t *p, size_t nbytes)
{
    uint64_t first, second;

    hli_load_words(p, nbytes, &first, &second);
    return hli_pair_of(first, second);
}

/* Copies the first nbytes / 16 * 16 bytes. gcc would make a call of memcpy out of a plain loop. */
HLI_INLINE void hli_copy_pairs(uint8_t *to, const uint8_t *from, size_t nbytes)
{
    for (size_t i = 16; i <= nbytes; i += 16) {
        hli_copy(to + i - 16, from + i - 16, 16);
        __asm__("" : "+r"(to));
    }
}

/* Copies less than a block, and zeros behind: `to` is written up to the next 16 bytes. */
HLI_INLINE void hli_copy_short(uint8_t *to, const uint8_t *from, size_t nbytes)
{
    const size_t last = nbytes & ~(size_t)15;

    hli_copy_pairs(to, from, nbytes);
    if (last != nbytes)
        hli_store_pair(to + last, hli_load_short(from + last, nbytes - last));
}

/* Appends bytes to the `held` ones of a block, and writes nothing behind them. Kernels load 16 bytes at once: all such
 * but the first are written by one store. */
HLI_INLINE void hli_append(uint8_t *block, size_t held, const uint8_t *from, size_t nbytes)
{
    uint8_t *const to = block + held;

    if (nbytes >= 16) {
        hli_copy(to, from, 16);
        for (size_t i = 32 - held % 16; i < nbytes; i += 16) {
            hli_copy(to + i - 16, from + i - 16, 16);
            __asm__("" : "+r"(i)); /* else gcc calls memcpy */
        }
        hli_copy(to + nbytes - 16, from + nbytes - 16, 16);
    } else if (nbytes >= 8) {
        hli_copy(to, from, 8);
        hli_copy(to + nbytes - 8, from + nbytes - 8, 8);
    } else if (nbytes >= 4) {
        hli_copy(to, from, 4);
        hli_copy(to + nbytes - 4, from + nbytes - 4, 4);
    } else if (nbytes > 0) { /* at most 3 bytes: the first, the middle and the last are all */
        to[0] = from[0];
        to[nbytes / 2] = from[nbytes / 2];
        to[nbytes - 1] = from[nbytes - 1];
    }
}

/* Ends a message of nbytes: writes the last nrest % 16 of its nrest bytes, which are `last` with zeros behind, then the
 * padding up to the end of the last block. */
HLI_INLINE void hli_pad_behind(unsigned block_nbytes, int big_endian, uint8_t *out, unsigned nblocks, size_t nrest,
                               hli_pair last, uint64_t nbytes)
{
    uint8_t *to = out + (nrest & ~(size_t)15), *const end = out + nblocks * block_nbytes - 16;
    const uint64_t over = block_nbytes == 128 ? __builtin_bswap64(nbytes >> 61) : 0, nbits = nbytes << 3;
    hli_pair length = hli_pair_of(over, big_endian ? __builtin_bswap64(nbits) : nbits);

    last |= hli_load_pair(hli_one_bit + HLI_ONE_BIT_AT - nrest % 16);
    if (to == end) {
        length |= last;
    } else {
        hli_store_pair(to, last);
        while ((to += 16) != end) {
            hli_store_pair(to, (hli_pair){0, 0});
            __asm__("" : "+r"(to)); /* else gcc calls memset */
        }
    }
    hli_store_pair(end, length);
}

/* Writes the last blocks of a message of nbytes, and returns their number, one or two. `rest` is what its whole blocks
 * leave, or up to a block more; it is not read if nrest is 0. */
HLI_INLINE unsigned hli_pad(unsigned block_nbytes, int big_endian, uint8_t *out, const uint8_t *rest, size_t nrest,
                            uint64_t nbytes)
{
    const unsigned nblocks = nrest < block_nbytes - block_nbytes / 8 ? 1 : 2;
    const size_t last = nrest & ~(size_t)15;

    hli_copy_pairs(out, rest, nrest);
    hli_pad_behind(block_nbytes, big_endian, out, nblocks, nrest,
                   hli_load_short(last == 0 ? rest : rest + last, nrest - last), nbytes); /* rest may be NULL */
    return nblocks;
}

/* Writes the last block of a sponge's message: up to the next 16 bytes behind its end. `rest` is less than a block. */
HLI_INLINE unsigned hli_pad_sponge(unsigned block_nbytes, unsigned suffix, uint8_t *out, const uint8_t *rest,
                                   size_t nrest)
{
    const size_t last = nrest & ~(size_t)15, n = nrest % 16;
    const uint64_t after = (uint64_t)suffix << 8 * (n % 8), one_bit = UINT64_C(1) << 63;
    uint8_t *to = out + last, *const end = out + (block_nbytes - 1) / 16 * 16;
    hli_pair x = hli_load_short(last == 0 ? rest : rest + last, n); /* rest may be NULL */

    hli_copy_pairs(out, rest, nrest);
    x |= n < 8 ? hli_pair_of(after, 0) : hli_pair_of(0, after);
    for (; to != end; to += 16) {
        hli_store_pair(to, x);
        x = (hli_pair){0, 0};
    }
    hli_store_pair(end, x | (block_nbytes % 16 == 8 ? hli_pair_of(one_bit, 0) : hli_pair_of(0, one_bit)));
    return 1;
}

/* Writes the last block of a counted message, with zeros, and the message's length behind it. */
HLI_INLINE unsigned hli_pad_counted(unsigned block_nbytes, uint8_t *out, const uint8_t *rest, size_t nrest,
                                    uint64_t nbytes)
{
    const hli_pair length = hli_pair_of(nbytes, 0);

    hli_copy_short(out, rest, nrest);
    for (size_t at = (nrest + 15) & ~(size_t)15; at < block_nbytes; at += 16) {
        hli_store_pair(out + at, (hli_pair){0, 0});
        __asm__("" : "+r"(out)); /* else gcc calls memset */
    }
    hli_store_pair(out + block_nbytes, length);
    return 1;
}

/* Writes the last blocks as the algorithm ends. */
HLI_INLINE unsigned hli_pad_alg(const hl_alg_info *alg, uint8_t *out, const uint8_t *rest, size_t nrest,
                                uint64_t nbytes)
{
    if (hli_is_strengthened(alg))
        return hli_pad(hli_block_nbytes(alg), hli_big_endian(alg), out, rest, nrest, nbytes);
    return hli_is_counted(alg) ? hli_pad_counted(hli_block_nbytes(alg), out, rest, nrest, nbytes)
                               : hli_pad_sponge(hli_block_nbytes(alg), alg->suffix, out, rest, nrest);
}

/* Writes the padding of a message that ends in one block, behind the rest that is in that block. */
HLI_INLINE void hli_pad_in_place(unsigned block_nbytes, int big_endian, uint8_t *block, size_t nrest, uint64_t nbytes)
{
    const hli_pair last = hli_load_pair(block + (nrest & ~(size_t)15));

    hli_pad_behind(block_nbytes, big_endian, block, 1, nrest,
                   last & hli_load_pair(hli_first_bytes + 16 - nrest % 16), nbytes);
}

/* ---- Digests ----------------------------------------------------------------------------------------------------- */

/* `state` is the first word of a lane; each further word is nlanes words behind. */


/* Writes the first nbytes of a state of little-endian words of 64 bits. */
HLI_INLINE void hli_write_words(const void *state, unsigned nlanes, uint8_t *to, unsigned nbytes)
{
    const uint64_t *word = state;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (nlanes == 1) {
        if (nbytes == 32) /* else a call of memcpy */
            hli_copy(to, state, 32);
        else
            hli_copy(to, state, nbytes);
        return;
    }
#endif
    for (; nbytes >= 8; nbytes -= 8, to += 8, word += nlanes)
        hli_store64(to, *word, 0);
    for (unsigned i = 0; i < nbytes; i++)
        to[i] = (uint8_t)(*word >> 8 * i);
}

/* Writes the first nbytes, any number, of a state. */
HLI_INLINE void hli_write_odd(unsigned word_nbytes, int big_endian, const void *state, unsigned nlanes, uint8_t *to,
                              unsigned nbytes)
{
    for (unsigned i = 0; i < nbytes; i++) {
        const unsigned w = i / word_nbytes * nlanes, b = i % word_nbytes;
        const uint64_t word = word_nbytes == 8 ? ((const uint64_t *)state)[w] : ((const uint32_t *)state)[w];
        to[i] = (uint8_t)(word >> 8 * (big_endian ? word_nbytes - 1 - b : b));
    }
}

/* The digest's bytes 8 * i .. 8 * i + 7. */
HLI_INLINE uint64_t hli_digest_bytes(unsigned word_nbytes, int big_endian, const void *state, unsigned nlanes,
                                     unsigned i)
{
    if (word_nbytes == 8)
        return __builtin_bswap64(((const uint64_t *)state)[i * nlanes]); /* all such algorithms are big-endian */
    const uint32_t *s = (const uint32_t *)state + 2 * i * nlanes;

    return big_endian ? __builtin_bswap64((uint64_t)s[0] << 32 | s[nlanes]) : (uint64_t)s[nlanes] << 32 | s[0];
}

/* Writes the digest's 16 bytes from `at` on. */
HLI_INLINE void hli_write_pair(unsigned word_nbytes, int big_endian, const void *state, unsigned nlanes,
                               uint8_t *digest, unsigned at)
{
    hli_store_pair(digest + at, hli_pair_of(hli_digest_bytes(word_nbytes, big_endian, state, nlanes, at / 8),
                                            hli_digest_bytes(word_nbytes, big_endian, state, nlanes, at / 8 + 1)));
}

/* Writes a digest of 16 to 32, 48 or 64 bytes (a multiple of 4: hli_is_even) from a state at least as long. */
HLI_INLINE void hli_write_digest(unsigned word_nbytes, int big_endian, const void *state, unsigned nlanes,
                                 uint8_t *digest, unsigned nbytes)
{
    hli_write_pair(word_nbytes, big_endian, state, nlanes, digest, 0);
    if (nbytes >= 32) {
        hli_write_pair(word_nbytes, big_endian, state, nlanes, digest, 16);
        if (word_nbytes == 8 && nbytes >= 48)
            hli_write_pair(word_nbytes, big_endian, state, nlanes, digest, 32);
        if (word_nbytes == 8 && nbytes == 64)
            hli_write_pair(word_nbytes, big_endian, state, nlanes, digest, 48);
        return;
    }
    if (nbytes & 8)
        hli_store64(digest + 16, hli_digest_bytes(word_nbytes, big_endian, state, nlanes, 2), 0);
    if (nbytes & 4) { /* the last word of 32 bits, or the first half of one of 64 */
        const uint32_t last = word_nbytes == 4 ? ((const uint32_t *)state)[(nbytes / 4 - 1) * nlanes]
                                               : (uint32_t)hli_digest_bytes(8, 1, state, nlanes, nbytes / 8);
        hli_store32(digest + nbytes - 4, last, word_nbytes == 4 && big_endian);
    }
}

/* Writes the digest as the algorithm's words are. */
HLI_INLINE void hli_write_lane(const hl_alg_info *alg, const void *state, unsigned nlanes, uint8_t *digest,
                               unsigned nbytes)
{
    if (hli_word_nbytes(alg) == 8 && !hli_big_endian(alg))
        hli_write_words(state, nlanes, digest, nbytes);
    else if (__builtin_expect(!hli_is_even(nbytes), 0))
        hli_write_odd(hli_word_nbytes(alg), hli_big_endian(alg), state, nlanes, digest, nbytes);
    else if (hli_word_nbytes(alg) == 8)
        hli_write_digest(8, 1, state, nlanes, digest, nbytes);
    else if (hli_big_endian(alg))
        hli_write_digest(4, 1, state, nlanes, digest, nbytes);
    else
        hli_write_digest(4, 0, state, nlanes, digest, nbytes);
}

#endif
