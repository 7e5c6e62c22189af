/* sha1dc.c: SHA-1 that finds blocks of collision attacks (M. Stevens, "Counter-cryptanalysis", CRYPTO 2013).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Every practical attack makes blocks whose words differ from those of the other message as one of a few disturbance
 * vectors says. After some step both states are then the same. So one message alone tells the other's block, and, from
 * the state of that step, the other's chaining values before and after it. If the values after the block are the same,
 * the message is half of a collision.
 *
 * The kernels are those of SHA-1, which leave word 5 of a state alone: the verdict. Before they advance the lanes, the
 * vectorised conditions (alg/sha1dc.lanes.h) look at the blocks of all lanes. One block of 15 has a vector left: it is
 * advanced alone, and the vector waits for others, to be tried in lanes. No message of chance gets further; so if a
 * try says that a block is that of an attack, the blocks from the search on are taken again, each with its own tries.
 */
#include "plan.h"

#if HLI_SHA1DC

enum {
    FIRST_K = 56,
    VERDICT = 5,
    SEARCHED = 128 /* blocks, before any of them is hashed */
};

static const uint32_t differences[2][29] = {
#define DIFFERENCES(type, ...) {__VA_ARGS__},
#include "alg/sha1dc.def"
};

static const struct {
    uint8_t type, k, b;
} vectors[32] = {
#define VECTOR(type, k, b) {type, k, b},
#include "alg/sha1dc.def"
};

HLI_INLINE uint32_t rol(uint32_t x, unsigned n)
{
    return x << (n & 31) | x >> (-n & 31);
}

/* Blocks at at[i * kernel->nlanes + l], and the vectors that they leave possible. */
struct group {
    const hl_kernel *kernel;
    const struct hli_detector *detector;
    unsigned nblocks; /* of each lane */
    uint32_t possible[SEARCHED + HLI_LANES] __attribute__((aligned(64)));
    const uint8_t *at[SEARCHED + HLI_LANES];
};

/* Adds a try of vector v with the block of lane l. */
static void add_try(struct hli_tries *tries, unsigned n, const struct group *group, unsigned v, const uint8_t *block,
                    const uint32_t *before, const uint32_t *states, unsigned l)
{
    const unsigned ntries = group->detector->nlanes, nlanes = group->kernel->nlanes, k = vectors[v].k;
    const uint32_t *const differs = differences[vectors[v].type - 1] + FIRST_K - k;

    tries->blocks[n] = block;
    for (unsigned t = 0; t < 16; t++)
        tries->differences[t * ntries + n] = rol(differs[t], vectors[v].b);
    for (unsigned i = 0; i < 5; i++) {
        tries->after[i * ntries + n] = states[i * nlanes + l];
        tries->ends[i * ntries + n] = states[i * nlanes + l] - before[i * nlanes + l];
    }
    tries->late[n] = HLI_SHA1DC_STEP(k) == 65 ? UINT32_MAX : 0;
}

/* Whether one of the first n tries found an attack. */
static int is_attack(const struct hli_detector *detector, struct hli_tries *tries, unsigned n)
{
    uint32_t differ[HLI_LANES] __attribute__((aligned(64)));
    int found = 0;

    for (unsigned l = n; l < detector->nlanes; l++)
        tries->blocks[l] = tries->blocks[0];
    if (n > 0)
        detector->differ(tries, differ);
    for (unsigned l = 0; l < n; l++)
        found |= differ[l] == 0;
    return found;
}

/* Takes the block of an attack into the state of lane l twice more, as sha1dc does: the two messages then have
 * different digests. */
static HLI_NOINLINE void part(const hl_kernel *kernel, const uint8_t *block, uint32_t *states, unsigned l)
{
    const unsigned nlanes = kernel->nlanes;
    uint32_t copy[6 * HLI_LANES] __attribute__((aligned(64)));
    const uint8_t *same[HLI_LANES];

    for (unsigned i = 0; i < HLI_LANES; i++)
        same[i] = block;
    hli_copy(copy, states, 6 * nlanes * sizeof copy[0]);
    kernel->blocks(copy, same, 1, 64);
    kernel->blocks(copy, same, 1, 64);
    for (unsigned i = 0; i < 5; i++)
        states[i * nlanes + l] = copy[i * nlanes + l];
    states[VERDICT * nlanes + l] = HLI_IS_ATTACK;
}

HLI_INLINE int has_possible(const uint32_t possible[], unsigned n)
{
    uint32_t any = 0;

    for (unsigned i = 0; i < n; i++)
        any |= possible[i];
    return any != 0;
}

/* Advances all lanes by the blocks of the group. Returns 1 as soon as a try finds an attack; if each is tried before
 * the next block, the states then are right, and 0 is returned. */
static int advance_group(const struct group *group, uint32_t *states, int each)
{
    const hl_kernel *const kernel = group->kernel;
    const struct hli_detector *const detector = group->detector;
    const unsigned nlanes = kernel->nlanes;
    uint32_t before[5 * HLI_LANES];
    struct hli_tries tries;
    unsigned n = 0;

    for (unsigned b = 0, end = 0; b < group->nblocks; b = end) { /* a run of blocks that have none left, or one block */
        const uint8_t *const *const from = group->at + b * nlanes;
        while (end < group->nblocks && !has_possible(group->possible + end * nlanes, nlanes))
            end++;
        if (end > b) {
            kernel->blocks(states, from, end - b, 64);
            continue;
        }
        end++;
        hli_copy(before, states, 5 * nlanes * sizeof before[0]);
        kernel->blocks(states, from, 1, 64);
        for (unsigned l = 0; l < nlanes; l++) {
            int found = 0;
            for (uint32_t left = group->possible[b * nlanes + l]; left != 0; left &= left - 1) {
                add_try(&tries, n++, group, hli_ctz32(left), from[l], before, states, l);
                if (n == detector->nlanes) {
                    found |= is_attack(detector, &tries, n);
                    n = 0;
                }
            }
            if (each) {
                found |= is_attack(detector, &tries, n);
                n = 0;
                if (found)
                    part(kernel, from[l], states, l);
            } else if (found) {
                return 1;
            }
        }
    }
    return is_attack(detector, &tries, n);
}

void hli_sha1dc_advance(const hl_kernel *kernel, uint32_t *states, const uint8_t *const msg[], size_t nblocks)
{
    const unsigned nlanes = kernel->nlanes, most = SEARCHED / nlanes;
    struct group group;
    uint32_t saved[6 * HLI_LANES];

    group.kernel = kernel;
    group.detector = hli_choose_detector(hli_choice(), nlanes * nblocks);
    for (size_t offset = 0; nblocks > 0;) {
        const struct hli_detector *const detector = group.detector;
        const unsigned n = group.nblocks = nblocks < most ? (unsigned)nblocks : most, nsearched = n * nlanes;
        for (unsigned b = 0; b < n; b++)
            for (unsigned l = 0; l < nlanes; l++)
                group.at[b * nlanes + l] = msg[l] + offset + 64 * b;
        for (unsigned i = nsearched; i < nsearched + detector->nlanes - 1; i++)
            group.at[i] = group.at[0];
        for (unsigned i = 0; i < nsearched; i += detector->nlanes)
            detector->possible(group.at + i, group.possible + i);
        hli_copy(saved, states, 6 * nlanes * sizeof saved[0]);
        if (__builtin_expect(advance_group(&group, states, 0), 0)) {
            hli_copy(states, saved, 6 * nlanes * sizeof saved[0]);
            advance_group(&group, states, 1);
        }
        offset += 64 * (size_t)n;
        nblocks -= n;
    }
}

#endif
