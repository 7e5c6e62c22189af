/* sha1dc.c: SHA-1 that finds blocks of collision attacks (M. Stevens, "Counter-cryptanalysis", CRYPTO 2013).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Every practical attack makes blocks whose words differ from those of the other message as one of a few disturbance
 * vectors says. After some step both states are then the same. So one message alone tells the other's block, and, from
 * the state of that step, the other's chaining values before and after it. If the values after the block are the same,
 * the message is half of a collision.
 *
 * The kernels are those of SHA-1, which leave word 5 of a state alone: the verdict. Conditions in lanes
 * (alg/sha1dc.lanes.h) look at the message schedules. A kernel of lanes has these in memory when it has hashed a block,
 * and keeps all states; for another one, the blocks of all lanes are searched first. One block of 15 has a vector left,
 * which waits for others, to be tried in lanes. No message of chance gets further; so if a try says that a block is
 * that of an attack, the blocks that were searched with it are taken again, each with its own tries.
 */
#include "registry.h"

#if HLI_SHA1DC

enum {
    FIRST_K = 56,
    VERDICT = 5,
    SEARCHED = 320 /* blocks, before any of them is tried */
};

static const uint32_t differences[2][29] = {
#define DIFFERENCES(type, ...) {__VA_ARGS__},
#include "sha1dc.def"
};

static const struct {
    uint8_t type, k, b;
} vectors[32] = {
#define VECTOR(type, k, b) {type, k, b},
#include "sha1dc.def"
};

/* Returns the lanes in which one of the first n tries found an attack. */
static uint32_t find_attacks(const struct hli_detector *detector, struct hli_tries *tries, const uint8_t lanes[],
                             unsigned n)
{
    uint32_t differ[HL_LANES_MAX] __attribute__((aligned(64))), found = 0;

    for (unsigned i = n; i < detector->nlanes; i++) {
        tries->blocks[i] = tries->blocks[0];
        tries->differences[i] = tries->differences[0];
    }
    detector->differ(tries, differ);
    for (unsigned i = 0; i < n; i++)
        found |= (uint32_t)(differ[i] == 0) << lanes[i];
    return found;
}

/* Advances all lanes by n blocks, and returns the lanes in which one of these is of an attack. */
static uint32_t advance_group(const hl_kernel *kernel, const struct hli_detector *detector, uint32_t *states,
                              const uint8_t *const from[], unsigned n)
{
    const int is_fused = hli_searches(kernel, detector);
    const unsigned nlanes = kernel->nlanes, ntries = detector->nlanes, nbytes = 5 * nlanes * sizeof states[0];
    const unsigned nsearched = n * nlanes, row = 6 * nlanes, stride = is_fused ? row : nlanes;
    union {
        uint32_t history[6 * (SEARCHED + HL_LANES_MAX)] __attribute__((aligned(64)));
        struct {
            uint32_t before[6 * HL_LANES_MAX], possible[SEARCHED + HL_LANES_MAX];
            const uint8_t *blocks[SEARCHED + HL_LANES_MAX];
        } apart;
    } room;
    const uint32_t *const possible = is_fused ? room.history + row + 5 * nlanes : room.apart.possible;
    const uint8_t **const blocks = room.apart.blocks;
    uint32_t *before = room.history, *after = states, found = 0;
    uint16_t list[SEARCHED + 1]; /* the blocks that leave vectors, and their lanes */
    uint8_t lanes[HL_LANES_MAX];    /* of the tries */
    struct hli_tries tries;
    unsigned count = 0, nhashed = 0, at = 0;

    if (is_fused) {
        hli_copy(before, states, nbytes);
        detector->blocks(before, from, n, 64);
        hli_copy(states, before + n * row, nbytes);
        nhashed = n;
    } else {
        for (unsigned b = 0; b < n; b++)
            for (unsigned l = 0; l < nlanes; l++)
                blocks[b * nlanes + l] = from[l] + 64 * b;
        for (unsigned i = nsearched; i < nsearched + ntries - 1; i++)
            blocks[i] = blocks[0];
        for (unsigned i = 0; i < nsearched; i += ntries)
            detector->possible(blocks + i, room.apart.possible + i);
    }
    for (unsigned b = 0; b < n; b++)
        for (unsigned l = 0; l < nlanes; l++) { /* without a branch, which would be mispredicted */
            list[count] = (uint16_t)(b << 4 | l);
            count += possible[b * stride + l] != 0;
        }
    for (unsigned i = 0; i < count; i++) {
        const unsigned b = list[i] >> 4, l = list[i] & 15;
        if (is_fused) {
            before = room.history + b * row;
            after = before + row;
        } else if (b >= nhashed) { /* a run of blocks that leave none, then this one */
            if (b > nhashed)
                kernel->blocks(states, blocks + nhashed * nlanes, b - nhashed, 64);
            hli_copy(before, states, nbytes);
            kernel->blocks(states, blocks + b * nlanes, 1, 64);
            nhashed = b + 1;
        }
        for (uint32_t left = possible[b * stride + l]; left != 0; left &= left - 1) {
            const unsigned v = hli_ctz32(left), k = vectors[v].k;
            lanes[at] = (uint8_t)l;
            tries.blocks[at] = from[l] + 64 * b;
            tries.differences[at] = (const uint8_t *)(differences[vectors[v].type - 1] + FIRST_K - k);
            tries.rotated[at] = vectors[v].b == 2 ? UINT32_MAX : 0;
            tries.late[at] = HLI_SHA1DC_STEP(k) == 65 ? UINT32_MAX : 0;
            for (unsigned w = 0; w < 5; w++) {
                tries.after[w * ntries + at] = after[w * nlanes + l];
                tries.ends[w * ntries + at] = after[w * nlanes + l] - before[w * nlanes + l];
            }
            if (++at == ntries) {
                found |= find_attacks(detector, &tries, lanes, at);
                at = 0;
            }
        }
    }
    if (n > nhashed)
        kernel->blocks(states, blocks + nhashed * nlanes, n - nhashed, 64);
    return at > 0 ? found | find_attacks(detector, &tries, lanes, at) : found;
}

void hli_sha1dc_advance(const hl_kernel *kernel, uint32_t *states, const uint8_t *const msg[], size_t nblocks)
{
    const unsigned nlanes = kernel->nlanes, nbytes = 5 * nlanes * sizeof states[0];
    const struct hli_detector *const detector = hli_choose_detector(hli_choice(), kernel, nlanes * nblocks);
    uint32_t saved[6 * HL_LANES_MAX] __attribute__((aligned(64)));
    const uint8_t *from[HL_LANES_MAX];

    for (size_t at = 0, n, alone = 0; at < nblocks; at += n) {
        const size_t most = at < alone ? 1 : SEARCHED / nlanes;
        n = nblocks - at < most ? nblocks - at : most;
        for (unsigned l = 0; l < nlanes; l++)
            from[l] = msg[l] + 64 * at;
        hli_copy(saved, states, nbytes);
        const uint32_t found = advance_group(kernel, detector, states, from, (unsigned)n);
        if (__builtin_expect(found == 0, 1))
            continue;
        if (n > 1) {
            hli_copy(states, saved, nbytes);
            alone = at + n;
            n = 0;
            continue;
        }
        /* As sha1dc does, the block of an attack is hashed twice more: the two messages then have different digests. */
        hli_copy(saved, states, nbytes);
        for (unsigned again = 0; again < 2; again++)
            kernel->blocks(saved, from, 1, 64);
        for (unsigned i = 0; i < 6 * nlanes; i++)
            if ((found >> i % nlanes & 1) != 0)
                states[i] = i < VERDICT * nlanes ? saved[i] : HLI_IS_ATTACK;
    }
}

#endif
