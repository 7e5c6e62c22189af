/* peer.h: what a peer written in C offers to the benchmark.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A peer is a function that hashes `count` messages into `digests`, one behind the other, and returns 0; or -1 if it
 * does not have the algorithm. It may keep what a long-running user would keep between calls (contexts, a manager), and
 * is called by one thread.
 */
#ifndef PEER_H
#define PEER_H

#include <stddef.h>
#include <stdint.h>

/* The same values as in src/algorithm.rs. */
enum algorithm { ALG_SHA1, ALG_SHA256, ALG_SHA512, ALG_RIPEMD160, NALGORITHMS };

static const size_t digest_nbytes[NALGORITHMS] = {20, 32, 64, 20};

struct message {
    const uint8_t *data;
    size_t nbytes;
};

typedef int peer_fn(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests);

#endif
