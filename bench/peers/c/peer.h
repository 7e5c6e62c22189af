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
#include <stdlib.h>

/* The same values as in src/scenario.rs. */
enum algorithm {
    ALG_SHA1,
    ALG_SHA256,
    ALG_SHA512,
    ALG_RIPEMD160,
    ALG_HMAC_SHA256,
    ALG_HASH160,
    ALG_SHA256D,
    ALG_MD5,
    ALG_SHA3_256,
    ALG_SHA3_512,
    ALG_HMAC_SHA1,
    ALG_HMAC_SHA512,
    ALG_HMAC_RIPEMD160,
    ALG_HMAC_MD5,
    ALG_HMAC_SHA3_256,
    ALG_HMAC_SHA3_512,
    NALGORITHMS
};

static const size_t digest_nbytes[NALGORITHMS] = {20, 32, 64, 20, 32, 20, 32, 16, 32, 64, 20, 64, 20, 16, 32, 64};

/* The key of HMAC, the same bytes as in src/scenario.rs; the string's NUL is not part of it. */
enum { HMAC_KEY_NBYTES = 32 };
#define HMAC_KEY ((const uint8_t *)"a key of thirty-two random bytes")

/* Where each message has a key: the key of message i is the HMAC_KEY_NBYTES from byte i % HMAC_NKEYS of these on, as in
 * src/calls.rs. */
enum { HMAC_NKEYS = 16 };
#define HMAC_KEYS ((const uint8_t *)"48 bytes; each key takes a different part of it.")

/* As in src/calls.rs. */
enum { PART_NBYTES = 40, PBKDF2_NITERATIONS = 100 };

struct message {
    const uint8_t *data;
    size_t nbytes;
};

/* The instruction sets that a peer may use; the values are those of src/tier.rs. A library that would use every
 * instruction set of the CPU is told to do what it would do on a lesser CPU. */
enum tier { TIER_HERE, TIER_NO_AVX512, TIER_AVX2, TIER_SSSE3, TIER_PLAIN };

static inline enum tier peer_tier(void)
{
    const char *tier = getenv("PEERS_TIER");
    return tier ? (enum tier)(*tier - '0') : TIER_HERE;
}

typedef int peer_fn(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests);

#endif
