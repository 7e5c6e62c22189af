/* one.h: one message alone, and one stream: copied, counted, compressed and padded, with one kernel.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The calls for one message and one stream come here directly, without a plan for lanes. `kernel` is always the one for
 * one message. All is inline: over the SHA instructions a block is 160 to 190 instructions, and the calls from function
 * to function once took almost as many.
 */
#ifndef HLI_ONE_H
#define HLI_ONE_H

#include "edges.h"
#include "lanes.h"

/* Copies a state and zeros behind it: four fixed sizes instead of a call of memcpy. */
HLI_INLINE void hli_copy_state(const hl_alg_info *alg, void *to, const void *from)
{
    if (hli_nwords(alg) <= 8 && hli_word_nbytes(alg) == 4)
        hli_copy(to, from, 32);
    else if (hli_state_nbytes(alg) <= 64)
        hli_copy(to, from, 64);
    else if (hli_nwords(alg) <= 12)
        hli_copy(to, from, 96);
    else
        hli_copy(to, from, HL_STATE_MAX_NBYTES);
}

/* Begins a stream in a state in which nbytes, whole blocks, have been hashed. Does not write what the algorithm never
 * uses. */
HLI_INLINE void hli_begin_one(const hl_alg_info *alg, hl_ctx *ctx, const void *state, uint64_t nbytes)
{
    hli_copy_state(alg, &ctx->state, state);
    ctx->nbytes = nbytes;
    ctx->alg = (uint32_t)alg->alg;
    ctx->reserved = 0;
}

/* Writes bytes that do not fill the block behind the `held` ones. Zeros behind them let hli_final_one load the last 16
 * bytes at once; a sponge's block may fill the context's room. */
HLI_INLINE void hli_write_rest(const hl_alg_info *alg, hl_ctx *ctx, size_t held, const uint8_t *data, size_t nbytes)
{
    if (hli_is_sponge(alg))
        hli_append(ctx->block, held, data, nbytes);
    else
        hli_copy_short(ctx->block + held, data, nbytes);
}

/* Appends bytes that do not fill a block. If they do, returns 0, with nothing done. */
HLI_INLINE int hli_hold(const hl_alg_info *alg, hl_ctx *ctx, const void *data, size_t nbytes)
{
    const size_t held = hli_rest_of_block(alg, ctx->nbytes);

    if (nbytes >= hli_block_nbytes(alg) - held)
        return 0;
    hli_write_rest(alg, ctx, held, data, nbytes);
    ctx->nbytes += nbytes;
    return 1;
}

/* Appends bytes for which hli_hold returns 0. */
HLI_INLINE void hli_update_one(const hl_kernel *kernel, const hl_alg_info *alg, hl_ctx *ctx, const uint8_t *data,
                               size_t nbytes)
{
    const size_t held = hli_rest_of_block(alg, ctx->nbytes);

    ctx->nbytes += nbytes;
    if (held != 0) {
        const size_t room = hli_block_nbytes(alg) - held;
        if (nbytes == room && hli_is_counted(alg)) { /* it may be the last block */
            hli_append(ctx->block, held, data, nbytes);
            return;
        }
        hli_append(ctx->block, held, data, room);
        hli_advance_one(kernel, alg, &ctx->state, ctx->block, 1);
        data += room;
        nbytes -= room;
    }
    const size_t nblocks = hli_whole_blocks(alg, nbytes), nwhole = nblocks * hli_block_nbytes(alg);
    if (nblocks > 0)
        hli_advance_one(kernel, alg, &ctx->state, data, nblocks);
    hli_write_rest(alg, ctx, 0, data + nwhole, nbytes - nwhole);
}

/* Tells the compiler what calls have checked: the length in bits is one word of 64 bits. */
HLI_INLINE void hli_assume_length(uint64_t nbytes)
{
    if (nbytes > HL_MESSAGE_MAX_NBYTES)
        __builtin_unreachable();
}

/* Hashes the last blocks, padding included, and writes the digest. */
HLI_INLINE void hli_end_one(const hl_kernel *kernel, const hl_alg_info *alg, void *state, const uint8_t *last,
                            unsigned nblocks, uint8_t *digest)
{
    if (__builtin_expect(hli_is_counted(alg), 0))
        hli_mark_last(alg, state, 1, &last);
    hli_advance_one(kernel, alg, state, last, nblocks);
    if (hli_is_sponge(alg))
        hli_squeeze_one(kernel, alg, state, digest);
    else
        hli_write_lane(alg, state, 1, digest, alg->digest_nbytes);
}

/* Hashes a message that continues `begin`, the state after nbefore bytes, whole blocks. */
HLI_INLINE void hli_hash_inline(const hl_kernel *kernel, const hl_alg_info *alg, const void *begin, uint64_t nbefore,
                                const uint8_t *data, size_t nbytes, uint8_t *digest)
{
    uint8_t last[2 * 128] __attribute__((aligned(16)));
    hl_state state;

    if (nbytes == 64 && nbefore == 0 && hli_body(alg) == HL_BODY_SHA256 && kernel->nlanes == 1 &&
        hli_whole_of(kernel) != NULL && hli_is_even(alg->digest_nbytes)) { /* a node */
        /* Copies: a parameter whose address is taken would be in memory throughout the function. */
        const struct hli_whole whole = {begin, 0, 1, hli_sha256_schedule_64, alg->digest_nbytes, 1, 64, 0};
        const uint8_t *const node = data;
        uint8_t *const to = digest;
        hli_whole_of(kernel)(&whole, &node, &(const size_t){64}, &to);
        return;
    }
    hli_copy_state(alg, &state, begin);
    nbefore += nbytes;
    /* A block is hashed where it is, unless the kernel takes less time for two blocks at once. */
    if (nbytes >= hli_block_nbytes(alg) && (nbytes > hli_longest_in_one_block(alg) + hli_block_nbytes(alg) ||
                                        !hli_is_strengthened(alg) || !hli_makes_pairs(kernel))) {
        const size_t nblocks = hli_whole_blocks(alg, nbytes);
        hli_advance_one(kernel, alg, &state, data, nblocks);
        data += nblocks * hli_block_nbytes(alg);
        nbytes -= nblocks * hli_block_nbytes(alg);
        if (nbefore == 64 && kernel->nlanes == 1 && kernel->scheduled != NULL &&
            hli_body(alg) == HL_BODY_SHA256) { /* a node of two digests */
            kernel->scheduled(&state, hli_sha256_schedule_64);
            hli_write_lane(alg, &state, 1, digest, alg->digest_nbytes);
            return;
        }
    }
    hli_assume_length(nbefore);
    hli_end_one(kernel, alg, &state, last, hli_pad_alg(alg, last, data, nbytes, nbefore), digest);
}

/* Ends the message of an XOF, if is_first, and writes the next nbytes of its digest (one.c). */
HLI_HIDDEN void hli_squeeze_stream(const hl_kernel *kernel, const hl_alg_info *alg, hl_ctx *ctx, int is_first,
                                   uint8_t *digest, size_t nbytes);

/* hli_hash_inline as a call (one.c). */
HLI_HIDDEN void hli_hash_one(const hl_kernel *kernel, const hl_alg_info *alg, const void *begin, uint64_t nbefore,
                             const uint8_t *data, size_t nbytes, uint8_t *digest);

/* Ends a stream. Its state and block are overwritten. */
HLI_INLINE void hli_final_one(const hl_kernel *kernel, const hl_alg_info *alg, hl_ctx *ctx, uint8_t *digest)
{
    const size_t nrest = hli_rest_of_block(alg, ctx->nbytes);

    hli_assume_length(ctx->nbytes);
    /* A context has room for one block; other padding needs more. */
    if (nrest > hli_longest_in_one_block(alg) || !hli_is_strengthened(alg)) {
        if (hli_is_counted(alg)) {
            const hl_alg_info as = hli_counted_as(alg, &ctx->state);
            hli_hash_one(kernel, &as, &ctx->state, ctx->nbytes - nrest, ctx->block, nrest, digest);
            if (hli_is_keyed(alg, &ctx->state))
                hli_forget_one(kernel);
        } else {
            hli_hash_one(kernel, alg, &ctx->state, ctx->nbytes - nrest, ctx->block, nrest, digest);
        }
        return;
    }
    hli_pad_in_place(hli_block_nbytes(alg), hli_big_endian(alg), ctx->block, nrest, ctx->nbytes);
    hli_end_one(kernel, alg, &ctx->state, ctx->block, 1, digest);
}

/* Wipe what the algorithm uses of a state and of a context. */
HLI_INLINE void hli_wipe_state(const hl_alg_info *alg, hl_state *state)
{
    if (hli_nwords(alg) <= 8 && hli_word_nbytes(alg) == 4)
        hli_wipe(state, 32);
    else if (hli_state_nbytes(alg) <= 64)
        hli_wipe(state, 64);
    else if (hli_nwords(alg) <= 12)
        hli_wipe(state, 96);
    else
        hli_wipe(state, HL_STATE_MAX_NBYTES);
}

HLI_INLINE void hli_wipe_one(const hl_alg_info *alg, hl_ctx *ctx)
{
    hli_wipe_state(alg, &ctx->state);
    if (hli_block_nbytes(alg) == 64)
        hli_wipe(ctx->block, 64);
    else if (hli_block_nbytes(alg) == 128)
        hli_wipe(ctx->block, 128);
    else
        hli_wipe(ctx->block, HL_BLOCK_MAX_NBYTES);
    ctx->nbytes = ctx->alg = 0;
}

/* The place for the first digest of message `at` of a plan: the caller's, or `inner` if it is hashed again. */
HLI_INLINE uint8_t *hli_digest_one(const struct hli_plan *plan, size_t at, uint8_t *inner)
{
    return plan->second.alg == NULL ? plan->digests + at * plan->digest_stride : inner;
}

HLI_INLINE void hli_again_one(const struct hli_plan *plan, size_t at, const uint8_t *inner)
{
    const struct hli_pass *pass = &plan->second;

    if (pass->alg != NULL)
        hli_hash_one(hli_kernel(plan, pass, 1), pass->alg, hli_begin_of(pass, at), pass->begin_nbytes, inner,
                     plan->first.alg->digest_nbytes, plan->digests + at * plan->digest_stride);
}

#endif
