/* one.c: one message alone: copied, counted, compressed and padded, with one kernel.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The calls for one message and one stream come here directly, without a plan for lanes. A kernel of several lanes,
 * which hl_restrict may leave as the only kind, hashes the message in its first lane.
 */
#include "one.h"

/* Not inlined, so that only such kernels take this stack. */
static HLI_NOINLINE void advance_in_lanes(const hl_kernel *kernel, const hl_alg_info *alg, void *state,
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

HLI_INLINE void advance(const hl_kernel *kernel, const hl_alg_info *alg, void *state, const uint8_t *data,
                        size_t nblocks)
{
    if (__builtin_expect(kernel->nlanes == 1, 1))
        kernel->blocks(state, &data, nblocks);
    else
        advance_in_lanes(kernel, alg, state, data, nblocks);
}

void hli_advance_one(const hl_kernel *kernel, const hl_alg_info *alg, void *state, const uint8_t *data, size_t nblocks)
{
    advance(kernel, alg, state, data, nblocks);
}

HLI_NOINLINE void hli_update_one(const hl_kernel *kernel, const hl_alg_info *alg, hl_ctx *ctx, const uint8_t *data,
                                 size_t nbytes)
{
    const size_t held = hli_rest_of_block(alg, ctx->nbytes);

    ctx->nbytes += nbytes;
    if (held != 0) {
        const size_t room = alg->block_nbytes - held;
        hli_copy_short(ctx->block + held, data, room);
        advance(kernel, alg, &ctx->state, ctx->block, 1);
        data += room;
        nbytes -= room;
    }
    const size_t nblocks = hli_whole_blocks(alg, nbytes), nwhole = nblocks << hli_block_shift(alg);
    if (nblocks > 0)
        advance(kernel, alg, &ctx->state, data, nblocks);
    hli_copy_short(ctx->block, data + nwhole, nbytes - nwhole);
}

HLI_NOINLINE void hli_end_one(const hl_kernel *kernel, const hl_alg_info *alg, void *state, const uint8_t *rest,
                              size_t nrest, uint64_t nbytes, uint8_t *digest)
{
    uint8_t tail[2 * 128] __attribute__((aligned(64)));

    advance(kernel, alg, state, tail, hli_pad(alg, tail, rest, nrest, nbytes));
    hli_write_digest(alg, state, digest);
}

HLI_NOINLINE void hli_hash_one(const hl_kernel *kernel, const hl_alg_info *alg, const void *begin, uint64_t nbefore,
                               const uint8_t *data, size_t nbytes, uint8_t *digest)
{
    union hli_state state;
    size_t nwhole = 0;

    hli_copy_state(alg, &state, begin);
    if (nbytes > hli_longest_in_one_block(alg) + alg->block_nbytes) { /* up to there one call of the kernel does all */
        const size_t nblocks = hli_whole_blocks(alg, nbytes);
        advance(kernel, alg, &state, data, nblocks);
        nwhole = nblocks << hli_block_shift(alg);
    }
    hli_end_one(kernel, alg, &state, hli_after(data, nwhole), nbytes - nwhole, nbefore + nbytes, digest);
}
