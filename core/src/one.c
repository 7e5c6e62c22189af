/* one.c: one message alone, where one.h is not inline.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "one.h"

HLI_NOINLINE void hli_hash_one(const hl_kernel *kernel, const hl_alg_info *alg, const void *begin, uint64_t nbefore,
                               const uint8_t *data, size_t nbytes, uint8_t *digest)
{
    hli_hash_inline(kernel, alg, begin, nbefore, data, nbytes, digest);
}

HLI_NOINLINE void hli_squeeze_stream(const hl_kernel *kernel, const hl_alg_info *alg, hl_ctx *ctx, int is_first,
                                     uint8_t *digest, size_t nbytes)
{
    if (!HLI_ENDS(HL_XOF, HL_XOF, 1))
        return;
    if (is_first) {
        uint8_t last[HL_BLOCK_MAX_NBYTES + 8] __attribute__((aligned(16)));
        hli_pad_alg(alg, last, ctx->block, hli_rest_of_block(alg, ctx->nbytes), ctx->nbytes);
        hli_advance_one(kernel, alg, &ctx->state, last, 1);
        hli_wipe(ctx->block, sizeof ctx->block);
        hli_wipe(last, sizeof last);
        ctx->nbytes = 0;
    }
    /* The block holds what the state would write. */
    while (nbytes > 0) {
        const size_t at = hli_rest_of_block(alg, ctx->nbytes), left = hli_block_nbytes(alg) - at;
        const size_t n = nbytes < left ? nbytes : left;
        if (at == 0) {
            if (ctx->nbytes != 0)
                hli_advance_one(kernel, alg, &ctx->state, (const uint8_t *)hli_sponge_iv, 1); /* a block of zeros */
            hli_write_words(&ctx->state, 1, ctx->block, hli_block_nbytes(alg));
        }
        hli_copy(digest, ctx->block + at, n);
        ctx->nbytes += n;
        digest += n;
        nbytes -= n;
    }
}
