/* algorithms.h: the table of algorithms, their fields as values, and what the driver asks about an algorithm.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_ALGORITHMS_H
#define HLI_ALGORITHMS_H

#include "core.h"
#include "parts.h"

enum {
    IS_LITTLE,
    IS_BIG,
#define BLOCK_FUNCTION(NAME, id, name, word_nbytes, nwords, order) \
    WORD_NBYTES_##NAME = word_nbytes, NWORDS_##NAME = nwords, IS_BIG_ENDIAN_##NAME = IS_##order,
#include "algorithms.def"
};

/* log2(block_nbytes), as hl_alg_info says. */
#define HLI_SHIFT(...) HLI_SHIFT_(__VA_ARGS__)
#define HLI_SHIFT_(block_nbytes, ending, suffix) \
    ((ending) >= HL_COUNTED ? 0 : (block_nbytes) == 64 ? 6 : (block_nbytes) == 128 ? 7 : 0)

/* Fields of hl_alg_info in the bits of one number. The ending is a bit of its own. */
#define HLI_PACK(...) HLI_PACK_(__VA_ARGS__)
#define HLI_PACK_(body, block_nbytes, ending, suffix) \
    ((block_nbytes) | NWORDS_##body << 8 | WORD_NBYTES_##body << 13 | IS_BIG_ENDIAN_##body << 17 | \
     HLI_SHIFT_(block_nbytes, ending, suffix) << 18 | HL_BODY_##body << 21 | 1 << (25 + (ending)))
enum {
    HLI_IN_ALL = -1
#define ALG(NAME, id, name, title, body, digest_nbytes, block_nbytes, iv, ending, ...) \
    & HLI_PACK(body, block_nbytes, ending)
#include "algorithms.def"
    ,
    HLI_IN_ANY = 0
#define ALG(NAME, id, name, title, body, digest_nbytes, block_nbytes, iv, ending, ...) \
    | HLI_PACK(body, block_nbytes, ending)
#include "algorithms.def"
    | HLI_SHA1DC * 6 << 8 /* its sixth word */
};

/* A field of an algorithm. What all algorithms of the build have alike is a literal, and the compiler leaves out what
 * only others need. Macros: as functions they would change the order of loads. */
#define HLI_FIELD(type, alg, field, at, mask) \
    (((HLI_IN_ALL ^ HLI_IN_ANY) >> (at) & (mask)) == 0 ? (type)(HLI_IN_ALL >> (at) & (mask)) : (alg)->field)
#define hli_block_nbytes(alg) HLI_FIELD(unsigned, alg, block_nbytes, 0, 0xff)
#define hli_nwords(alg)       HLI_FIELD(unsigned, alg, nwords, 8, 0x1f)
#define hli_word_nbytes(alg)  HLI_FIELD(unsigned, alg, word_nbytes, 13, 0xf)
#define hli_big_endian(alg)   HLI_FIELD(int, alg, big_endian, 17, 1)
#define hli_block_shift(alg)  HLI_FIELD(unsigned, alg, block_shift, 18, 7)
#define hli_body(alg)         HLI_FIELD(hl_body, alg, body, 21, 0xf)

/* Whether an algorithm's ending is from `first` to `last`. `test` says the same at run time: it counts only if some
 * algorithms of the build have such an ending and others have not. */
#define HLI_ENDS(first, last, test) \
    ((HLI_IN_ANY >> 25 & HLI_ENDINGS(first, last)) != 0 && \
     ((HLI_IN_ANY >> 25 & ~HLI_ENDINGS(first, last)) == 0 || (test)))
#define HLI_ENDINGS(first, last) ((2 << (last)) - (1 << (first)))

/* algorithms.c: HLI_NALGS algorithms, and behind them HL_SHA1DC, if HLI_SHA1DC. */
enum {
    HLI_NALGS = 0
#define ALG(...) + 1
#include "algorithms.def"
};
extern const hl_alg_info hli_algs[] HLI_HIDDEN;

HLI_INLINE const hl_alg_info *hli_alg_in_table(uint32_t alg)
{
    const hl_alg_info *info = hli_algs;

#ifdef HL_ALGORITHMS
    for (size_t i = 0; i < HLI_NALGS + HLI_SHA1DC; i++)
        if ((uint32_t)info[i].alg == alg)
            return &info[i];
    return NULL;
#else
    if (alg - 1 >= HLI_NALGS)
        return alg == HL_SHA1DC ? info + HLI_NALGS : NULL;
    info += alg - 1;
    HLI_NEW_POINTER(info); /* else gcc computes the place again for each field */
    return info->alg == (hl_alg)alg ? info : NULL;
#endif
}

/* hl_alg_find, which knows HL_SHA1DC too. */
#if HLI_SMALL /* Go's text may name a table with addresses in one file only */
HLI_HIDDEN const hl_alg_info *hli_alg_find(uint32_t alg);
#else
#  define hli_alg_find hli_alg_in_table
#endif

/* SHA-1 that finds collision attacks (sha1dc.c): its state has a sixth word, which is HLI_IS_ATTACK after a block of an
 * attack, 0 before. Its blocks all take hli_advance_lanes. */
HLI_INLINE int hli_finds_attacks(const hl_alg_info *alg)
{
    return HLI_SHA1DC && alg->alg == HL_SHA1DC;
}
#define HLI_IS_ATTACK UINT32_C(0x01000000) /* big-endian: a byte, 1, behind SHA-1's digest */

/* HMAC and PBKDF2 are defined for hash functions only (FIPS 198-1, FIPS 202 section 7). */
HLI_INLINE int hli_has_hmac(const hl_alg_info *alg)
{
    return HLI_ALG(hmac) && HLI_ENDS(HL_STRENGTHENED, HL_SPONGE, alg->ending <= HL_SPONGE) && !hli_finds_attacks(alg);
}

/* Whether the padding ends with the message's length. */
HLI_INLINE int hli_is_strengthened(const hl_alg_info *alg)
{
    return HLI_ENDS(HL_STRENGTHENED, HL_STRENGTHENED, alg->ending == HL_STRENGTHENED);
}

/* SHA-3 */
HLI_INLINE int hli_is_sponge(const hl_alg_info *alg)
{
    return HLI_ENDS(HL_SPONGE, HL_XOF, alg->suffix != 0);
}
HLI_INLINE int hli_is_xof(const hl_alg_info *alg)
{
    return HLI_ENDS(HL_XOF, HL_XOF, alg->ending == HL_XOF);
}

/* BLAKE2. Behind the chaining value a state has the counter of bytes, the mark of the last block, all bits of it, and
 * the length of the digest, with HLI_KEYED if a key came first: states and the message before are then secret. BLAKE3:
 * see alg/blake.lanes.h. */
HLI_INLINE int hli_is_counted(const hl_alg_info *alg)
{
    return HLI_ENDS(HL_COUNTED, HL_TREE, alg->ending >= HL_COUNTED);
}
HLI_INLINE int hli_is_blake2(const hl_alg_info *alg)
{
    return HLI_ENDS(HL_COUNTED, HL_COUNTED, alg->ending == HL_COUNTED);
}
#ifndef HLI_TREES
#  if HLI_ALG(blake3)
#    define HLI_TREES 1
#  else
#    define HLI_TREES 0
#  endif
#endif
/* BLAKE3. The lane driver hashes messages of up to HLI_CHUNK_NBYTES; blake3.c makes longer ones of these. */
HLI_INLINE int hli_is_tree(const hl_alg_info *alg)
{
    return HLI_TREES && HLI_ENDS(HL_TREE, HL_TREE, alg->ending == HL_TREE);
}
enum { HLI_CHUNK_NBYTES = 1024 };
enum { HLI_KEYED = 0x100 };
HLI_INLINE unsigned hli_counted_last(const hl_alg_info *alg, const hl_state *state)
{
    return (unsigned)(hli_word_nbytes(alg) == 8 ? state->w64[hli_nwords(alg) - 1] : state->w32[hli_nwords(alg) - 1]);
}
HLI_INLINE unsigned hli_counted_digest_nbytes(const hl_alg_info *alg, const hl_state *state)
{
    return hli_counted_last(alg, state) & (HLI_KEYED - 1);
}
HLI_INLINE int hli_is_keyed(const hl_alg_info *alg, const hl_state *state)
{
    return hli_is_blake2(alg) && (hli_counted_last(alg, state) & HLI_KEYED) != 0;
}
/* The algorithm with digests as long as that stream's. */
HLI_INLINE hl_alg_info hli_counted_as(const hl_alg_info *alg, const hl_state *state)
{
    hl_alg_info as = *alg;

    as.digest_nbytes = hli_counted_digest_nbytes(alg, state);
    return as;
}
/* The state in which messages begin whose digests have another length: the first word's lowest byte is the length. */
HLI_INLINE void hli_counted_begin(const hl_alg_info *alg, unsigned digest_nbytes, hl_state *state)
{
    const unsigned last = hli_nwords(alg) - 1, differ = alg->digest_nbytes ^ digest_nbytes;

    hli_copy(state, alg->iv, (size_t)hli_nwords(alg) * hli_word_nbytes(alg));
    if (hli_word_nbytes(alg) == 8)
        state->w64[0] ^= differ, state->w64[last] = digest_nbytes;
    else
        state->w32[0] ^= differ, state->w32[last] = digest_nbytes;
}

/* FIPS 180-4 section 5.1: a one bit, zeros, and the length in bits in the last two words of the last block, big-endian.
 * RIPEMD-160 and MD5 do the same little-endian: the low word comes first, as in one 64-bit word. FIPS 202 section B.2:
 * a byte at least. */
HLI_INLINE size_t hli_longest_in_one_block(const hl_alg_info *alg)
{
    return hli_block_nbytes(alg) + (size_t)hli_is_counted(alg) - 1 -
           (hli_is_strengthened(alg) ? 2 * (size_t)hli_word_nbytes(alg) : 0);
}

/* nbytes % block_nbytes; for a counted algorithm 1 .. block_nbytes, if there is a byte. Most blocks are a power of two:
 * a division would cost more than the rest of the bookkeeping. A sponge's permutation takes so long that it does not
 * count; but 64 bits take three times as long as 32 on many CPUs, and on those of 32 bits a call of the compiler's
 * library. */
HLI_INLINE size_t hli_rest_of_block(const hl_alg_info *alg, uint64_t nbytes)
{
    if (hli_block_shift(alg) != 0)
        return nbytes & (hli_block_nbytes(alg) - 1);
    if (hli_is_counted(alg))
        return nbytes == 0 ? 0 : ((nbytes - 1) & (hli_block_nbytes(alg) - 1)) + 1;
    uint32_t rest = 0;
    for (unsigned shift = nbytes >> 32 == 0 ? 16 : 48; shift < 64; shift -= 16)
        rest = (rest << 16 | (uint32_t)(nbytes >> shift & 0xffff)) % hli_block_nbytes(alg);
    return rest;
}

/* Whole blocks before hli_rest_of_block. */
HLI_INLINE size_t hli_whole_blocks(const hl_alg_info *alg, size_t nbytes)
{
    if (hli_block_shift(alg) != 0)
        return nbytes >> hli_block_shift(alg);
    nbytes -= hli_is_counted(alg) && nbytes != 0;
    return nbytes >> 16 >> 16 == 0 ? (uint32_t)nbytes / hli_block_nbytes(alg) : nbytes / hli_block_nbytes(alg);
}

HLI_INLINE size_t hli_state_nbytes(const hl_alg_info *alg)
{
    return (size_t)hli_nwords(alg) * hli_word_nbytes(alg);
}

/* Number of blocks that the last nrest bytes of a message (less than a block) take with their padding. */
HLI_INLINE unsigned hli_ending_nblocks(const hl_alg_info *alg, size_t nrest)
{
    return nrest <= hli_longest_in_one_block(alg) ? 1 : 2;
}

/* Number of blocks of a message with its padding. */
HLI_INLINE size_t hli_padded_nblocks(const hl_alg_info *alg, size_t nbytes)
{
    return hli_whole_blocks(alg, nbytes) + hli_ending_nblocks(alg, hli_rest_of_block(alg, nbytes));
}

/* The schedule of the block that ends messages of nbytes, if a table has it; otherwise NULL. */
HLI_INLINE const void *hli_known_schedule(const hl_alg_info *alg, uint64_t nbytes)
{
    if (nbytes != 64 || hli_finds_attacks(alg))
        return NULL;
    return hli_body(alg) == HL_BODY_SHA256 ? hli_sha256_schedule_64
           : hli_body(alg) == HL_BODY_SHA1 ? hli_sha1_schedule_64
                                       : NULL;
}

/* Bytes from one message's padded blocks to the next's: two blocks, or one of a sponge in whole pairs of words. */
HLI_INLINE size_t hli_tail_nbytes(const hl_alg_info *alg)
{
    return hli_is_sponge(alg) ? ((size_t)HL_BLOCK_MAX_NBYTES + 15) & ~(size_t)15 : 2 * (size_t)hli_block_nbytes(alg);
}

#endif
