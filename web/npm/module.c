/* module.c: what index.js needs of the core beside hashloom.h: where its memory begins, and the sizes and the
 * beginning of what it keeps.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "hashloom.h"

#define EXPORT __attribute__((visibility("default")))

extern unsigned char __heap_base;

EXPORT void *heap(void)
{
    return &__heap_base;
}

EXPORT size_t ctx_nbytes(hl_alg alg)
{
    return hl_alg_find(alg)->ending == HL_TREE ? sizeof(hl_blake3_ctx) : sizeof(hl_ctx);
}

/* ctx: room for ctx_nbytes(alg). */
EXPORT hl_status begin(void *ctx, hl_alg alg)
{
    return hl_alg_find(alg)->ending == HL_TREE ? hl_blake3_init(ctx, NULL) : hl_init(ctx, alg);
}

EXPORT size_t hmac_ctx_nbytes(void)
{
    return sizeof(hl_hmac_ctx);
}

EXPORT size_t hmac_key_nbytes(void)
{
    return sizeof(hl_hmac_key);
}

EXPORT hl_ending xof(void)
{
    return HL_XOF;
}
