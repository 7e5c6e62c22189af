/* blake3.h: what the calls of api.c do for BLAKE3, where more than a chunk may come. `plan` says which kernels may be
 * used, and whether messages and keys are secret.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_BLAKE3_H
#define HLI_BLAKE3_H

#include "plan.h"

/* Hashes whole messages by the plan. `begin` is NULL, or a stream without data, whose key they have. */
HLI_HIDDEN void hli_hash_tree(struct hli_plan *plan, const hl_ctx *begin, const hl_messages *all);
/* The same as hli_update and hli_final for one stream, which is the first field of an hl_blake3_ctx. */
HLI_HIDDEN void hli_update_tree(const struct hli_plan *plan, hl_ctx *ctx, const uint8_t *data, size_t nbytes);
HLI_HIDDEN void hli_final_tree(const struct hli_plan *plan, hl_ctx *ctx, uint8_t *digest);
/* Whether bytes are behind the last subtree that hl_blake3_add_subtree has added. */
HLI_HIDDEN int hli_may_end_tree(const hl_ctx *ctx);
/* Whether the stream has a key. */
HLI_HIDDEN int hli_is_keyed_tree(const hl_ctx *ctx);

#endif
