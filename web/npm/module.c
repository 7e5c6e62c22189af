/* module.c: what index.js needs of the core beside hashloom.h: where its memory begins, what algorithms there are, and
 * the sizes and the beginning of what it keeps. Pointers are numbers of 32 bits in JavaScript.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "module.h"

#ifdef __wasm__
extern unsigned char __heap_base;

EXPORT void *heap(void)
{
    return &__heap_base;
}
#endif

EXPORT void describe(uint32_t i, struct description *to)
{
    const hl_alg_info *alg = hl_alg_at(i);

    *to = (struct description){.alg = (uint32_t)alg->alg, .digest_nbytes = alg->digest_nbytes,
                               .block_nbytes = alg->block_nbytes, .is_xof = alg->ending == HL_XOF};
    copy_text(to->name, alg->name, sizeof to->name);
}

EXPORT void explain(hl_status status, char to[EXPLAIN_NBYTES])
{
    copy_text(to, hl_strerror(status), EXPLAIN_NBYTES);
}

EXPORT uint32_t ctx_nbytes(hl_alg alg)
{
    return hl_alg_find(alg)->ending == HL_TREE ? sizeof(hl_blake3_ctx) : sizeof(hl_ctx);
}

/* ctx: room for ctx_nbytes(alg). */
EXPORT hl_status begin(void *ctx, hl_alg alg)
{
    return hl_alg_find(alg)->ending == HL_TREE ? hl_blake3_init(ctx, NULL) : hl_init(ctx, alg);
}

EXPORT uint32_t hmac_ctx_nbytes(void)
{
    return sizeof(hl_hmac_ctx);
}

EXPORT uint32_t hmac_key_nbytes(void)
{
    return sizeof(hl_hmac_key);
}

EXPORT hl_status merkle_root(hl_merkle rule, uint32_t depth, uint8_t *nodes, uint32_t count, uint8_t *root)
{
    return hl_merkle_root(rule, depth, nodes, count, root, 0, NULL, NULL);
}
