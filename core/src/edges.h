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

/* Copies less than a block, and zeros behind: `to` is written up to the next 16 bytes. */
HLI_INLINE void hli_copy_short(uint8_t *to, const uint8_t *from, size_t nbytes)
{
    uint64_t first, second;

    for (; nbytes >= 16; to += 16, from += 16, nbytes -= 16)
        hli_copy(to, from, 16);
    if (nbytes == 0)
        return;
    hli_load_short(from, nbytes, &first, &second);
    hli_store_pair(to, first, second);
}

/* Writes the last blocks of a message of nbytes, and returns their number, one or two. `rest` is what its whole blocks
 * leave, or up to a block more; NULL if nrest is 0. The number of bits has 64 bits, as HL_MESSAGE_MAX_NBYTES says, and
 * the upper half of SHA-512's is 0. */
HLI_INLINE unsigned hli_pad(const hl_alg_info *alg, uint8_t *out, const uint8_t *rest, size_t nrest, uint64_t nbytes)
{
    const unsigned nblocks = hli_ending_nblocks(alg, nrest);
    const uint8_t *const last = out + nblocks * alg->block_nbytes - 16;
    const uint64_t nbits = alg->big_endian ? __builtin_bswap64(nbytes << 3) : nbytes << 3;
    uint64_t first, second;

    for (; nrest >= 16; out += 16, rest += 16, nrest -= 16)
        hli_copy(out, rest, 16);
    hli_load_short(rest, nrest, &first, &second);
    *(nrest < 8 ? &first : &second) |= UINT64_C(0x80) << 8 * (nrest % 8);
    for (; out < last; out += 16, first = second = 0)
        hli_store_pair(out, first, second);
    hli_store_pair(out, first, nbits);
    return nblocks;
}

/* The digest's bytes of words w and w + 1 of a plain state, or, if words are of 8 bytes, of word w / 2. */
HLI_INLINE uint64_t hli_digest_bytes(const hl_alg_info *alg, const void *state, unsigned w)
{
    if (alg->word_nbytes == 8)
        return __builtin_bswap64(((const uint64_t *)state)[w / 2]); /* all such algorithms are big-endian */
    const uint32_t first = ((const uint32_t *)state)[w], second = ((const uint32_t *)state)[w + 1];
    const uint64_t both = (uint64_t)second << 32 | first;

    return alg->big_endian ? __builtin_bswap64(both << 32 | both >> 32) : both;
}

/* Writes the digest of a plain state. */
HLI_INLINE void hli_write_digest(const hl_alg_info *alg, const void *state, uint8_t *digest)
{
    unsigned w = 0, left = alg->digest_nbytes;

    for (; left >= 16; left -= 16, digest += 16, w += 4)
        hli_store_pair(digest, hli_digest_bytes(alg, state, w), hli_digest_bytes(alg, state, w + 2));
    if (left >= 8)
        hli_store64(digest, hli_digest_bytes(alg, state, w), 0);
    if (left % 8 != 0) /* 4 */
        hli_store32(digest + left - 4, (uint32_t)hli_digest_bytes(alg, state, w + (left >= 8 ? 2 : 0)), 0);
}

#endif
