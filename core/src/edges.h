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

#include "core.h"

/* Stores two words, the first byte of each lowest, at once. */
HLI_INLINE void hli_store_pair(uint8_t *to, uint64_t first, uint64_t second)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    typedef uint64_t pair __attribute__((vector_size(16)));
    const pair both = {first, second};

    hli_copy(to, &both, sizeof both);
#else
    hli_store64(to, first, 0);
    hli_store64(to + 8, second, 0);
#endif
}

/* The nbytes < 16 at p as two words, with zeros behind. Reads nothing else. */
HLI_INLINE void hli_load_short(const uint8_t *p, size_t nbytes, uint64_t *first, uint64_t *second)
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
    uint64_t first, second;

    hli_copy_pairs(to, from, nbytes);
    if (last == nbytes)
        return;
    hli_load_short(from + last, nbytes - last, &first, &second);
    hli_store_pair(to + last, first, second);
}

/* Writes the last blocks of a message of nbytes, and returns their number, one or two. `rest` is what its whole blocks
 * leave, or up to a block more; it is not read if nrest is 0. Block size and order of bytes are literals, where it
 * counts. */
HLI_INLINE unsigned hli_pad(unsigned block_nbytes, int big_endian, uint8_t *out, const uint8_t *rest, size_t nrest,
                            uint64_t nbytes)
{
    const unsigned nblocks = nrest < block_nbytes - block_nbytes / 8 ? 1 : 2;
    const size_t end = nblocks * block_nbytes - 16, last = nrest & ~(size_t)15;
    uint64_t first, second;

    hli_copy_pairs(out, rest, nrest);
    hli_load_short(last == 0 ? rest : rest + last, nrest - last, &first, &second); /* rest may be NULL */
    const uint64_t one_bit = UINT64_C(0x80) << 8 * (nrest % 8);
    first |= nrest % 16 < 8 ? one_bit : 0;
    second |= nrest % 16 < 8 ? 0 : one_bit;
    for (size_t i = last; i < end; i += 16, first = second = 0)
        hli_store_pair(out + i, first, second);
    if (block_nbytes == 128)
        first = __builtin_bswap64(nbytes >> 61);
    hli_store_pair(out + end, first, big_endian ? __builtin_bswap64(nbytes << 3) : nbytes << 3);
    return nblocks;
}

/* The digest's bytes 8 * i .. 8 * i + 7, from a plain state. */
HLI_INLINE uint64_t hli_digest_bytes(unsigned word_nbytes, int big_endian, const void *state, unsigned i)
{
    if (word_nbytes == 8)
        return __builtin_bswap64(((const uint64_t *)state)[i]); /* all such algorithms are big-endian */
    const uint32_t *s = (const uint32_t *)state + 2 * i;

    return big_endian ? __builtin_bswap64((uint64_t)s[0] << 32 | s[1]) : (uint64_t)s[1] << 32 | s[0];
}

/* Writes the digest of a plain state: whole words of 4 bytes, at least 16 bytes. */
HLI_INLINE void hli_write_digest(unsigned word_nbytes, int big_endian, const void *state, uint8_t *digest,
                                 unsigned nbytes)
{
    unsigned i = 0;

    for (; 8 * i + 16 <= nbytes; i += 2)
        hli_store_pair(digest + 8 * i, hli_digest_bytes(word_nbytes, big_endian, state, i),
                       hli_digest_bytes(word_nbytes, big_endian, state, i + 1));
    if (nbytes % 16 == 0)
        return;
    if (nbytes % 16 > 4)
        hli_store64(digest + 8 * i, hli_digest_bytes(word_nbytes, big_endian, state, i), 0), i++;
    hli_store32(digest + nbytes - 4, (uint32_t)hli_digest_bytes(word_nbytes, big_endian, state, i), 0);
}

#endif
