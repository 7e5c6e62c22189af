/* chain.h: chains of hashes, as the driver and SLH-DSA use them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_CHAIN_H
#define HLI_CHAIN_H

#include "lanes.h"

/* All chains of a call share these. */
struct hli_chains {
    struct hli_plan plan;   /* its first pass: the algorithm with digests of links.nbytes; the state before each hash */
    struct hli_links links; /* nsteps has no meaning */
};

/* Hashes the padded block at blocks[i] nsteps[i] times in place, or all_steps times if nsteps is NULL. Many steps first
 * take the least time. Each byte that counts must have room. The states in which the hashes begin are those of the
 * first pass: of block i the state of message i. */
HLI_HIDDEN void hli_run_chains(const struct hli_chains *chains, uint8_t *const blocks[], const uint8_t *nsteps,
                               unsigned all_steps, size_t count);

#endif
