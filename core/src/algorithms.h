/* algorithms.h: the fields of all algorithms as values, and those that all of this build have alike. Part of core.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_ALGORITHMS_H
#define HLI_ALGORITHMS_H

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

#endif
