/* peer.h: the interface of a peer written in C.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A peer is a function that hashes `count` messages into `digests`, one after the other, and returns 0, or -1 if it
 * lacks the algorithm. It may keep objects between calls that a long-running user would keep (contexts, a manager). One
 * thread calls it.
 */
#ifndef PEER_H
#define PEER_H

#include <stddef.h>
#include <stdint.h>

/* The same values as in src/scenario.rs. */
enum algorithm { ALG_SHA1, ALG_SHA256, ALG_SHA512, ALG_RIPEMD160, ALG_HMAC_SHA256, ALG_HASH160, ALG_SHA256D, NALGORITHMS };

static const size_t digest_nbytes[NALGORITHMS] = {20, 32, 64, 20, 32, 20, 32};

/* The key of ALG_HMAC_SHA256, the same bytes as in src/scenario.rs; the string's NUL is not part of it. */
enum { HMAC_KEY_NBYTES = 32 };
#define HMAC_KEY ((const uint8_t *)"a key of thirty-two random bytes")

struct message {
    const uint8_t *data;
    size_t nbytes;
};

typedef int peer_fn(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests);

#endif
