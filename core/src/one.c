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

/* The sizes are literals. */
HLI_INLINE void end_one(unsigned word_nbytes, int big_endian, const hl_kernel *kernel, const hl_alg_info *alg,
                        void *state, const uint8_t *rest, size_t nrest, uint64_t nbytes, uint8_t *digest)
{
    uint8_t tail[2 * 16 * 8] __attribute__((aligned(16)));

    advance(kernel, alg, state, tail, hli_pad(16 * word_nbytes, big_endian, tail, rest, nrest, nbytes));
    hli_write_digest(word_nbytes, big_endian, state, digest, alg->digest_nbytes);
}

HLI_NOINLINE void hli_end_one(const hl_kernel *kernel, const hl_alg_info *alg, void *state, const uint8_t *rest,
                              size_t nrest, uint64_t nbytes, uint8_t *digest)
{
    if (alg->word_nbytes == 8)
        end_one(8, 1, kernel, alg, state, rest, nrest, nbytes, digest);
    else if (alg->big_endian)
        end_one(4, 1, kernel, alg, state, rest, nrest, nbytes, digest);
    else
        end_one(4, 0, kernel, alg, state, rest, nrest, nbytes, digest);
}

HLI_NOINLINE void hli_hash_one(const hl_kernel *kernel, const hl_alg_info *alg, const void *begin, uint64_t nbefore,
                               const uint8_t *data, size_t nbytes, uint8_t *digest)
{
    union hli_state state;
    size_t nwhole = 0;

    hli_copy_state(alg, &state, begin);
    /* A block is hashed where it is, unless the kernel takes less time for two blocks at once. */
    if (nbytes >= alg->block_nbytes &&
        (nbytes > hli_longest_in_one_block(alg) + alg->block_nbytes || !hli_makes_pairs(kernel))) {
        const size_t nblocks = hli_whole_blocks(alg, nbytes);
        advance(kernel, alg, &state, data, nblocks);
        nwhole = nblocks << hli_block_shift(alg);
    }
    hli_end_one(kernel, alg, &state, hli_after(data, nwhole), nbytes - nwhole, nbefore + nbytes, digest);
}
