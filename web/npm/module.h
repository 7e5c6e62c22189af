/* module.h: what module.c has for index.js, in WebAssembly and in the addon.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef MODULE_H
#define MODULE_H

#include "hashloom.h"

#define EXPORT         __attribute__((visibility("default")))
#define EXPLAIN_NBYTES 128

/* Algorithm i, i < hl_alg_count(), as index.js reads it. */
struct description {
    uint32_t alg, digest_nbytes, block_nbytes, is_xof;
    char     name[32];
};

/* A text and a NUL, cut if it is too long. */
static inline void copy_text(char *to, const char *text, size_t nbytes)
{
    size_t i = 0;

    for (; text[i] != 0 && i + 1 < nbytes; i++)
        to[i] = text[i];
    to[i] = 0;
}

EXPORT void describe(uint32_t i, struct description *to);
EXPORT void explain(hl_status status, char to[EXPLAIN_NBYTES]);
EXPORT uint32_t ctx_nbytes(hl_alg alg);
EXPORT hl_status begin(void *ctx, hl_alg alg);
EXPORT uint32_t hmac_ctx_nbytes(void);
EXPORT uint32_t hmac_key_nbytes(void);
EXPORT hl_status merkle_root(hl_merkle rule, uint32_t depth, uint8_t *nodes, uint32_t count, uint8_t *root);

#endif
