/* peer.h: the interface of a peer written in C.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A peer is a function that does a call of a hash function on `count` messages, writes the digests one after the other,
 * and returns 0, or -1 if it lacks the call or the hash function. It may keep objects that a long-running user would
 * keep (contexts, a manager). One thread calls it.
 */
#ifndef PEER_H
#define PEER_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The same values as in src/work.rs. */
enum call {
    CALL_ONE,
    CALL_MANY,
    CALL_ROWS,
    CALL_NODES,
    CALL_HMAC,      /* by HMAC_KEY, which may be prepared */
    CALL_HMAC_KEYS, /* by another key for each message */
    CALL_STREAM,    /* a message in one update */
    CALL_PARTS,     /* in updates of PART_NBYTES */
    CALL_HASH160,   /* RIPEMD-160 of SHA-256 */
    CALL_SHA256D,   /* SHA-256 of SHA-256 */
    CALL_PBKDF2,    /* messages are passwords */
    CALL_SEARCH,    /* `count` nonces of four bytes, in the last bytes of the first message */
    CALL_SEARCH2    /* the same, of SHA-256 of SHA-256 */
};
enum hash { HASH_MD5, HASH_SHA1, HASH_SHA256, HASH_SHA512, HASH_RIPEMD160, HASH_SHA3_256, NHASHES };

static const size_t digest_nbytes[NHASHES] = {16, 20, 32, 64, 20, 32};

/* The string's NUL is not part of the key. The key of message i is the HMAC_KEY_NBYTES from byte i % HMAC_NKEYS of
 * HMAC_KEYS on. */
enum { HMAC_KEY_NBYTES = 32, HMAC_NKEYS = 16, PART_NBYTES = 40, PBKDF2_NITERATIONS = 100 };
#define HMAC_KEY  ((const uint8_t *)"a key of thirty-two random bytes")
#define HMAC_KEYS ((const uint8_t *)"48 bytes; each key takes a different part of it.")

struct message {
    const uint8_t *data;
    size_t nbytes;
};

struct work {
    enum call call;
    enum hash hash; /* the one that takes the messages */
    const struct message *messages;
    size_t count;
    uint8_t *digests;
};

typedef int peer_fn(const struct work *);

/* Whether the whole messages are there, and nothing is kept but digests. */
static inline int is_whole(const struct work *w)
{
    return w->call <= CALL_NODES;
}

/* The instruction sets that a peer may use; the values are those of src/tier.rs. A library that would use every
 * instruction set of the CPU is told to do what it would do on a lesser CPU. */
enum tier { TIER_HERE, TIER_NO_AVX512, TIER_AVX2, TIER_AVX, TIER_PLAIN };

static inline enum tier peer_tier(void)
{
    const char *tier = getenv("PEERS_TIER");
    return tier ? (enum tier)(*tier - '0') : TIER_HERE;
}

#endif
