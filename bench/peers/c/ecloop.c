/* ecloop.c: the RIPEMD-160 of ecloop (https://github.com/vladkens/ecloop), eight messages at once over AVX2.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ecloop is a program, not a library: its file lib/rmd160s.c is included unchanged, from ECLOOP_DIR. It takes padded
 * blocks, and was made for messages of 32 bytes: their padding is written once and stays. Words are big-endian going in
 * and out, as ecloop has them from SHA-256; the swaps here are one shuffle each for a message. It is compiled by gcc
 * and by clang, whose code differs by a third to a half: PEER_NAME tells the objects apart.
 */
#include "peer.h"

#include <immintrin.h>
#include <string.h>

/* The file's functions are not static. */
#define JOIN(A, B) A##_##B
#define NAME(A, B) JOIN(A, B)
#define rmd160_block NAME(PEER_NAME, block)
#define rmd160_batch NAME(PEER_NAME, batch)
#include "lib/rmd160s.c"

peer_fn PEER_NAME;

int PEER_NAME(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    uint32_t blocks[RMD_LEN][16] = {0}, states[RMD_LEN][5];
    uint32_t *const words = &states[0][0];
    if (algorithm != ALG_RIPEMD160 || count % RMD_LEN)
        return -1;
    for (size_t l = 0; l < RMD_LEN; l++) {
        blocks[l][8] = 0x80000000;
        blocks[l][14] = 0x00010000;
    }
    for (size_t i = 0; i < count; i += RMD_LEN) {
        for (size_t l = 0; l < RMD_LEN; l++) {
            if (messages[i + l].nbytes != 32)
                return -1;
            memcpy(blocks[l], messages[i + l].data, 32);
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
