/* xkcp.c: SHA-3 of the eXtended Keccak Code Package (https://github.com/XKCP/XKCP).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Many messages go over KeccakP1600times8, times4 and times2, as far as the target has them; XKCP leaves padding to its
 * caller. One message goes over KeccakP1600, in the way of XKCP's own and streams over its KeccakHash. Each of
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

/* SHA3-256. */
enum { RATE_NBYTES = 136, DIGEST_NBYTES = 32, SUFFIX = 0x06 };

typedef uint64_t __attribute__((may_alias)) word;

static void hash1(const struct message *message, size_t count, uint8_t *digest)
{
    (void)count; /* is 1 */
    KeccakP1600_state state __attribute__((aligned(64)));
    KeccakP1600_Initialize(&state);
    const size_t nwhole = KeccakF1600_FastLoop_Absorb(&state, RATE_NBYTES / 8, message->data, message->nbytes);
    const unsigned nleft = (unsigned)(message->nbytes - nwhole);
    KeccakP1600_AddBytes(&state, message->data + nwhole, 0, nleft);
    KeccakP1600_AddByte(&state, SUFFIX, nleft);
    KeccakP1600_AddByte(&state, 0x80, RATE_NBYTES - 1);
    KeccakP1600_Permute_24rounds(&state);
    KeccakP1600_ExtractBytes(&state, digest, 0, DIGEST_NBYTES);
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

/* Ways, each with its number of lanes. */
static const struct way {
    size_t nlanes;
    void (*hash)(const struct message *, size_t, uint8_t *);
} ways[] = {
    {1, hash1},
#ifdef XKCP_has_KeccakP1600times2
    {2, hash2},
#endif
#ifdef XKCP_has_KeccakP1600times4
    {4, hash4},
#endif
#ifdef XKCP_has_KeccakP1600times8
    {8, hash8},
#endif
};

static void hash_many(const struct message *messages, size_t count, uint8_t *digests)
{
    for (size_t i = 0, n; i < count; i += n) {
        const struct way *way = ways;
        const size_t nblocks = messages[i].nbytes / RATE_NBYTES;
        for (n = 1; n < 8 && i + n < count && messages[i + n].nbytes / RATE_NBYTES == nblocks;)
            n++;
        /* The fewest lanes that hold all that is left. */
        while (way->nlanes < n && way + 1 < ways + sizeof ways / sizeof *ways)
            way++;
        n = n < way->nlanes ? n : way->nlanes;
        way->hash(&messages[i], n, digests + i * DIGEST_NBYTES);
    }
}

/* hash_many, with the stack that it uses at this offset from a multiple of 4 KiB. */
static __attribute__((noinline)) void hash_many_at(size_t offset, const struct message *messages,
                                                   size_t count, uint8_t *digests)
{
    volatile char *room = __builtin_alloca(16 + (((uintptr_t)__builtin_frame_address(0) - offset) & 4095));
    *room = 0;
    hash_many(messages, count, digests);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* A load that lies a multiple of 4 KiB after a store of XKCP's waits for the store. By the place of the stack, a
 * message of 64 bytes takes 98 to 149 ns over AVX2 (Zen 4), so the best place is found first. */
static size_t best_offset(void)
{
    enum { COUNT = 64, NBYTES = 64, ROUNDS = 32, STEP = 256 };
    static uint8_t data[COUNT * NBYTES] __attribute__((aligned(64))), digests[COUNT * DIGEST_NBYTES];
    struct message messages[COUNT];
    double least[4096 / STEP];
    size_t best = 0;
    for (size_t i = 0; i < COUNT; i++)
        messages[i] = (struct message){data + i * NBYTES, NBYTES};
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < 4096 / STEP; i++) {
            const double start = now_ns();
            hash_many_at(i * STEP, messages, COUNT, digests);
            const double ns = now_ns() - start;
            least[i] = round == 0 || ns < least[i] ? ns : least[i];
        }
    for (size_t i = 1; i < 4096 / STEP; i++)
        best = least[i] < least[best] ? i : best;
    return best * STEP;
}

static int updates(const struct work *w, size_t part_nbytes)
{
    Keccak_HashInstance hash;
    for (size_t i = 0; i < w->count; i++) {
        const struct message *m = &w->messages[i];
        if (Keccak_HashInitialize(&hash, 8 * RATE_NBYTES, 1600 - 8 * RATE_NBYTES, 8 * DIGEST_NBYTES, SUFFIX))
            return -1;
        for (size_t at = 0, n; at < m->nbytes; at += n) {
            n = m->nbytes - at < part_nbytes ? m->nbytes - at : part_nbytes;
            if (Keccak_HashUpdate(&hash, m->data + at, 8 * n))
                return -1;
        }
        if (Keccak_HashFinal(&hash, w->digests + i * DIGEST_NBYTES))
            return -1;
    }
    return 0;
}

extern peer_fn PEER_NAME;
int PEER_NAME(const struct work *w)
{
    static size_t offset = SIZE_MAX;
    if (w->hash != HASH_SHA3_256)
        return -1;
    if (w->call == CALL_STREAM || w->call == CALL_PARTS)
        return updates(w, w->call == CALL_PARTS ? PART_NBYTES : SIZE_MAX / 8);
    if (!is_whole(w))
        return -1;
    if (w->count == 1) {
        hash1(w->messages, 1, w->digests);
        return 0;
    }
    if (offset == SIZE_MAX)
        offset = best_offset();
    hash_many_at(offset, w->messages, w->count, w->digests);
    return 0;
}
