/* one.h: one message alone, and one stream (one.c).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * `kernel` is always the one for one message.
 */
#ifndef HLI_ONE_H
#define HLI_ONE_H

#include "edges.h"
#include "lanes.h"

/* Copies a state and zeros behind it: two fixed sizes instead of a call of memcpy. */
HLI_INLINE void hli_copy_state(const hl_alg_info *alg, void *to, const void *from)
{
    if (alg->word_nbytes == 8)
        hli_copy(to, from, 64);
    else
        hli_copy(to, from, 32);
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

/* Appends bytes that do not fill a block. Otherwise returns 0, and has done nothing. */
HLI_INLINE int hli_hold(const hl_alg_info *alg, hl_ctx *ctx, const void *data, size_t nbytes)
{
    const size_t held = hli_rest_of_block(alg, ctx->nbytes);

    if (nbytes >= alg->block_nbytes - held)
        return 0;
    hli_copy_short(ctx->block + held, data, nbytes);
    ctx->nbytes += nbytes;
    return 1;
}

HLI_HIDDEN void hli_advance_one(const hl_kernel *kernel, const hl_alg_info *alg, void *state, const uint8_t *data,
                                size_t nblocks);

/* Appends bytes for which hli_hold returns 0. */
HLI_HIDDEN void hli_update_one(const hl_kernel *kernel, const hl_alg_info *alg, hl_ctx *ctx, const uint8_t *data,
                               size_t nbytes);

/* Ends a message of nbytes from its state, which is overwritten, and the bytes that its whole blocks left. */
HLI_HIDDEN void hli_end_one(const hl_kernel *kernel, const hl_alg_info *alg, void *state, const uint8_t *rest,
                            size_t nrest, uint64_t nbytes, uint8_t *digest);

HLI_INLINE void hli_final_one(const hl_kernel *kernel, const hl_alg_info *alg, hl_ctx *ctx, uint8_t *digest)
{
    hli_end_one(kernel, alg, &ctx->state, ctx->block, hli_rest_of_block(alg, ctx->nbytes), ctx->nbytes, digest);
}

/* Wipe what the algorithm uses of a state and of a context. */
HLI_INLINE void hli_wipe_state(const hl_alg_info *alg, hl_state *state)
{
    if (alg->word_nbytes == 8)
        hli_wipe(state, 64);
    else
        hli_wipe(state, 32);
}

HLI_INLINE void hli_wipe_one(const hl_alg_info *alg, hl_ctx *ctx)
{
    hli_wipe_state(alg, &ctx->state);
    if (alg->word_nbytes == 8)
        hli_wipe(ctx->block, 128);
    else
        hli_wipe(ctx->block, 64);
    ctx->nbytes = ctx->alg = 0;
}

/* Hashes a message behind nbefore bytes, whole blocks, whose state is `begin`. */
HLI_HIDDEN void hli_hash_one(const hl_kernel *kernel, const hl_alg_info *alg, const void *begin, uint64_t nbefore,
                             const uint8_t *data, size_t nbytes, uint8_t *digest);

/* The place for the first digest of message `at` of a plan: the caller's, or `inner`, if hli_again_one hashes it again.
 */
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
