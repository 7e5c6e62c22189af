/* edges.c: pads the ends of messages and writes digests, in plain C, for any number of lanes. Over AVX2 and
 * AVX-512 there are versions that work in registers; registry.c chooses.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "edges.h"

const uint8_t hli_one_bit[HLI_ONE_BIT_AT + 256] __attribute__((aligned(64))) = {[HLI_ONE_BIT_AT] = 0x80};
#define ONES_4 0xff, 0xff, 0xff, 0xff
const uint8_t hli_first_bytes[32] = {ONES_4, ONES_4, ONES_4, ONES_4};
#define NONE_4 0x80, 0x80, 0x80, 0x80
const uint8_t hli_last_first[32] = {0,  1,  2,  3,  4,  5,  6,  7,      8,      9,
                                    10, 11, 12, 13, 14, 15, NONE_4, NONE_4, NONE_4, NONE_4};

void hli_pad_scalar(const hl_alg_info *alg, unsigned nblocks, const uint8_t *const rests[], const size_t nrests[],
                    uint64_t nwhole, unsigned n, uint8_t *out)
{
    (void)nblocks; /* follows from each length */
    for (unsigned i = 0; i < n; i++)
        hli_pad_alg(alg, out + i * hli_tail_nbytes(alg), rests[i], nrests[i], nwhole + nrests[i]);
}

void hli_digests_scalar(const hl_alg_info *alg, const void *states, unsigned nlanes, unsigned n,
                        uint8_t *const digests[])
{
    if (nlanes == 1) {
        hli_write_lane(alg, states, 1, digests[0], alg->digest_nbytes);
        return;
    }
    for (unsigned l = 0; l < n; l++)
        hli_write_lane(alg, (const uint8_t *)states + l * hli_word_nbytes(alg), nlanes, digests[l], alg->digest_nbytes);
}
