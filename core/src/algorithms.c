/* algorithms.c: the table of algorithms, from algorithms.def.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algorithms.h"

const hl_alg_info hli_algs[] = {
#define ALG(NAME, id, name, title, body, digest_nbytes, block_nbytes, iv, ending, ...) \
    {name, HL_##NAME, HL_BODY_##body, digest_nbytes, block_nbytes, \
     HLI_SHIFT(block_nbytes, ending), WORD_NBYTES_##body, NWORDS_##body, IS_BIG_ENDIAN_##body, iv, ending},
#include "algorithms.def"
#if HLI_SHA1DC /* behind those that are counted */
    {"sha1dc", HL_SHA1DC, HL_BODY_SHA1, HL_SHA1DC_DIGEST_NBYTES, 64, 6, 4, 6, 1, hli_sha1_iv, HL_STRENGTHENED, 0},
#endif
};
_Static_assert((int)NWORDS_OF_BLAKE3 == (int)NWORDS_BLAKE3, "core.h knows BLAKE3 by the number of its words");
_Static_assert(sizeof hli_algs / sizeof hli_algs[0] == (size_t)HLI_NALGS + HLI_SHA1DC, "algorithms.h counts them");

size_t hl_alg_count(void)
{
    return HLI_NALGS;
}

const hl_alg_info *hl_alg_at(size_t i)
{
    return i < HLI_NALGS ? &hli_algs[i] : NULL;
}

#if HLI_SMALL
const hl_alg_info *hli_alg_find(uint32_t alg)
{
    return hli_alg_in_table(alg);
}
#endif

const hl_alg_info *hl_alg_find(hl_alg alg)
{
    return alg == HL_SHA1DC ? NULL : hli_alg_find((uint32_t)alg);
}
