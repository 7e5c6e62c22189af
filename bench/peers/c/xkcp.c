/* xkcp.c: SHA-3 of the eXtended Keccak Code Package (https://github.com/XKCP/XKCP).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Many messages go over KeccakP1600times8, times4 and times2, as far as the target has them; XKCP leaves padding to its
 * caller. One message goes over KeccakP1600, in the way of XKCP's own sponge, and streams over its KeccakHash. Each of
 * XKCP's targets is a library of its own with the same names: PEER_NAME tells the objects apart; build.rs joins each
 * with its library and hides all other names.
 */
#include "peer.h"

#include <config.h>
#include <string.h>
#include <time.h>

#include <KeccakHash.h>
#include <KeccakP-1600-SnP.h>
#ifdef XKCP_has_KeccakP1600times2
#  include <KeccakP-1600-times2-SnP.h>
#endif
#ifdef XKCP_has_KeccakP1600times4
#  include <KeccakP-1600-times4-SnP.h>
#endif
#ifdef XKCP_has_KeccakP1600times8
#  include <KeccakP-1600-times8-SnP.h>
#endif

#define RATE_MAX_NBYTES 136

typedef uint64_t __attribute__((may_alias)) word;

struct sponge {
    unsigned rate_nbytes, digest_nbytes;
    uint8_t suffix;
};

static const struct sponge *sponge_of(enum algorithm algorithm)
{
    static const struct sponge sha3_256 = {136, 32, 0x06}, sha3_512 = {72, 64, 0x06};
    switch (algorithm) {
    case ALG_SHA3_256: return &sha3_256;
    case ALG_SHA3_512: return &sha3_512;
    default: return NULL;
    }
}

static void hash1(const struct sponge *sponge, const struct message *message, uint8_t *digest)
{
    const unsigned rate = sponge->rate_nbytes;
    KeccakP1600_state state __attribute__((aligned(64)));
    KeccakP1600_Initialize(&state);
    const size_t nwhole = KeccakF1600_FastLoop_Absorb(&state, rate / 8, message->data, message->nbytes);
    const unsigned nleft = (unsigned)(message->nbytes - nwhole);
    KeccakP1600_AddBytes(&state, message->data + nwhole, 0, nleft);
    KeccakP1600_AddByte(&state, sponge->suffix, nleft);
    KeccakP1600_AddByte(&state, 0x80, rate - 1);
    KeccakP1600_Permute_24rounds(&state);
    KeccakP1600_ExtractBytes(&state, digest, 0, sponge->digest_nbytes);
}

#ifdef XKCP_has_KeccakP1600times2
#  define NLANES 2
#  include "xkcp_lanes.inc.h"
#endif
#ifdef XKCP_has_KeccakP1600times4
#  define NLANES 4
#  include "xkcp_lanes.inc.h"
#endif
#ifdef XKCP_has_KeccakP1600times8
#  define NLANES 8
#  include "xkcp_lanes.inc.h"
#endif

static void hash_many(const struct sponge *sponge, const struct message *messages, size_t count, uint8_t *digests)
{
    for (size_t i = 0, n; i < count; i += n) {
        uint8_t *out = digests + i * sponge->digest_nbytes;
        const size_t nblocks = messages[i].nbytes / sponge->rate_nbytes;
        for (n = 1; n < 8 && i + n < count && messages[i + n].nbytes / sponge->rate_nbytes == nblocks;)
            n++;
        /* The fewest lanes that hold all that is left. */
        if (n == 1) {
            hash1(sponge, &messages[i], out);
            continue;
        }
#ifdef XKCP_has_KeccakP1600times8
        if (n > 4) {
            hash8(sponge, &messages[i], n, out);
            continue;
        }
#endif
#ifdef XKCP_has_KeccakP1600times4
        if (n > 2) {
            n = n < 4 ? n : 4;
            hash4(sponge, &messages[i], n, out);
            continue;
        }
#endif
#ifdef XKCP_has_KeccakP1600times2
        n = 2;
        hash2(sponge, &messages[i], n, out);
#else
        n = 1;
        hash1(sponge, &messages[i], out);
#endif
    }
}

/* hash_many, with the stack that it uses at this offset from a multiple of 4 KiB. */
static __attribute__((noinline)) void hash_many_at(size_t offset, const struct sponge *sponge,
                                                   const struct message *messages, size_t count, uint8_t *digests)
{
    volatile char *room = __builtin_alloca(16 + (((uintptr_t)__builtin_frame_address(0) - offset) & 4095));
    *room = 0;
    hash_many(sponge, messages, count, digests);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* A load that lies a multiple of 4 KiB after a store of XKCP's waits for the store. By the place of the stack, a
 * message of 64 bytes takes 98 to 149 ns over AVX2 (Zen 4), so the best place is found first. */
static size_t best_offset(const struct sponge *sponge)
{
    enum { COUNT = 64, NBYTES = 64, ROUNDS = 32, STEP = 256 };
    static uint8_t data[COUNT * NBYTES] __attribute__((aligned(64))), digests[COUNT * 64];
    struct message messages[COUNT];
    double least[4096 / STEP];
    size_t best = 0;
    for (size_t i = 0; i < COUNT; i++)
        messages[i] = (struct message){data + i * NBYTES, NBYTES};
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < 4096 / STEP; i++) {
            const double start = now_ns();
            hash_many_at(i * STEP, sponge, messages, COUNT, digests);
            const double ns = now_ns() - start;
            least[i] = round == 0 || ns < least[i] ? ns : least[i];
        }
    for (size_t i = 1; i < 4096 / STEP; i++)
        best = least[i] < least[best] ? i : best;
    return best * STEP;
}

static int whole(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    static size_t offset = SIZE_MAX;
    const struct sponge *sponge = sponge_of(algorithm);
    if (!sponge)
        return -1;
    if (count == 1) {
        hash1(sponge, messages, digests);
        return 0;
    }
    if (offset == SIZE_MAX)
        offset = best_offset(sponge);
    hash_many_at(offset, sponge, messages, count, digests);
    return 0;
}

static int updates(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests,
                   size_t part_nbytes)
{
    const struct sponge *sponge = sponge_of(algorithm);
    Keccak_HashInstance hash;
    if (!sponge)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const unsigned rate_nbits = 8 * sponge->rate_nbytes;
        if (Keccak_HashInitialize(&hash, rate_nbits, 1600 - rate_nbits, 8 * sponge->digest_nbytes, sponge->suffix))
            return -1;
        for (size_t at = 0, left; (left = messages[i].nbytes - at); at += left < part_nbytes ? left : part_nbytes)
            if (Keccak_HashUpdate(&hash, messages[i].data + at, 8 * (left < part_nbytes ? left : part_nbytes)))
                return -1;
        if (Keccak_HashFinal(&hash, digests + i * sponge->digest_nbytes))
            return -1;
    }
    return 0;
}

static int stream(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    return updates(algorithm, messages, count, digests, SIZE_MAX / 8);
}

static int parts(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    return updates(algorithm, messages, count, digests, PART_NBYTES);
}

/* In the order of Xkcp in src/peers.rs. */
extern peer_fn *const PEER_NAME[3];
peer_fn *const PEER_NAME[3] = {whole, stream, parts};
