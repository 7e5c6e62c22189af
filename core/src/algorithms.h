/* algorithms.h: the words of algorithms.def as values: each block function's sizes and byte order, and the endings.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_ALGORITHMS_H
#define HLI_ALGORITHMS_H

#include "parts.h"

enum {
    IS_LITTLE,
    IS_BIG,
#define BLOCK_FUNCTION(NAME, id, name, word_nbytes, nwords, order) \
    WORD_NBYTES_##NAME = word_nbytes, NWORDS_##NAME = nwords, IS_BIG_ENDIAN_##NAME = IS_##order,
#include "algorithms.def"
};

/* hl_alg_info's fields `ending` and `suffix`. */
#define STRENGTHENED   HL_STRENGTHENED, 0
#define SPONGE(suffix) HL_SPONGE, suffix
#define XOF(suffix)    HL_XOF, suffix
#define COUNTED        HL_COUNTED, 0
#define TREE           HL_TREE, 0

#endif
