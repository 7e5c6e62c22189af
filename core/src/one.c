/* one.c: one message alone, where it is not inline.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "one.h"

/* hl_restrict may leave only such kernels. Not inlined, so that no other kernel takes this stack. */
HLI_NOINLINE void hli_advance_in_lanes(const hl_kernel *kernel, const hl_alg_info *alg, void *state,
                                       const uint8_t *data, size_t nblocks)
{
    union hli_lane_states states;
    const uint8_t *msg[HLI_LANES];

    for (unsigned l = 0; l < kernel->nlanes; l++) {
        hli_load_lane(alg, &states, kernel->nlanes, l, state);
        msg[l] = data;
    }
    kernel->blocks(&states, msg, nblocks);
    hli_save_lane(alg, &states, kernel->nlanes, 0, state);
}

HLI_NOINLINE void hli_hash_one(const hl_kernel *kernel, const hl_alg_info *alg, const void *begin, uint64_t nbefore,
                               const uint8_t *data, size_t nbytes, uint8_t *digest)
{
    hli_hash_inline(kernel, alg, begin, nbefore, data, nbytes, digest);
}
