/* ecloop.c: RIPEMD-160 of ecloop (https://github.com/vladkens/ecloop), eight messages at once over AVX2, and its hash160
 * of public keys: SHA-256 of one key after the other, over the SHA instructions, then RIPEMD-160 of eight digests.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ecloop is a program, not a library: its files lib/sha256.c and lib/rmd160s.c are included unchanged, from ECLOOP_DIR. It takes padded
 * blocks, and was made for messages of 32 bytes: their padding is written once and stays. Words are big-endian going in
 * and out, as ecloop has them from SHA-256; the swaps here are one shuffle each for a message. It is compiled by gcc
 * and by clang, whose code differs by a third to a half: PEER_NAME tells the objects apart.
 */
#include "peer.h"

#include <immintrin.h>
#include <string.h>

/* The files' functions are not static. */
#define JOIN(A, B)   A##_##B
#define NAME(A, B)   JOIN(A, B)
#define sha256_final NAME(PEER_NAME, sha256_final)
#define rmd160_block NAME(PEER_NAME, block)
#define rmd160_batch NAME(PEER_NAME, batch)
#include "lib/rmd160s.c"
#include "lib/sha256.c"

peer_fn PEER_NAME;

/* The padded blocks of public keys, as addr33_batch and addr65_batch of ecloop's lib/addr.c have them. */
static void sha256_of_key(uint32_t state[8], const struct message *key)
{
    uint8_t blocks[128] = {0};
    const size_t nbytes = key->nbytes < 56 ? 64 : 128;
    memcpy(blocks, key->data, key->nbytes);
    blocks[key->nbytes] = 0x80;
    blocks[nbytes - 2] = (uint8_t)(key->nbytes >> 5);
    blocks[nbytes - 1] = (uint8_t)(key->nbytes << 3);
    sha256_final(state, blocks, (uint32_t)nbytes);
}

int PEER_NAME(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    uint32_t blocks[RMD_LEN][16] = {0}, states[RMD_LEN][5];
    uint32_t *const words = &states[0][0];
    if ((algorithm != ALG_RIPEMD160 && algorithm != ALG_HASH160) || count % RMD_LEN)
        return -1;
    for (size_t l = 0; l < RMD_LEN; l++) {
        blocks[l][8] = 0x80000000;
        blocks[l][14] = 0x00010000;
    }
    for (size_t i = 0; i < count; i += RMD_LEN) {
        for (size_t l = 0; l < RMD_LEN; l++) {
            const struct message *message = &messages[i + l];
            if (algorithm == ALG_HASH160 && (message->nbytes == 33 || message->nbytes == 65)) {
                sha256_of_key(blocks[l], message);
                continue;
            }
            if (algorithm == ALG_HASH160 || message->nbytes != 32)
                return -1;
            memcpy(blocks[l], message->data, 32);
            for (size_t w = 0; w < 8; w++)
                blocks[l][w] = __builtin_bswap32(blocks[l][w]);
        }
        rmd160_batch(states, blocks);
        for (size_t w = 0; w < RMD_LEN * 5; w++)
            words[w] = __builtin_bswap32(words[w]);
        memcpy(digests + i * 20, states, sizeof states);
    }
    return 0;
}
