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
 * vectorised conditions (alg/sha1dc.lanes.h) look at the blocks of all lanes; 1 block of 20 has a vector left, and is
 * tried here, a vector at a time.
 */
#include "lanes.h"

#if HLI_SHA1DC

#if !defined(__clang__)
/* gcc 12 would load two words at once that were just stored one by one, which no CPU forwards, and would add the
 * operands that are ready last first: 640 -> 240 ns for a block with one vector (Emerald Rapids). */
#  pragma GCC optimize("O2", "no-tree-vectorize", "no-tree-slp-vectorize", "no-tree-reassoc")
#endif

enum {
    FIRST_K = 56,
    NSTEPS = 80,
    VERDICT = 5,
    SEARCHED = 64 /* blocks, before any of them is hashed: the kernel then takes longer runs */
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

/* Written out: otherwise each word is waited for in memory, by the third one after it. */
static HLI_NOINLINE void expand(uint32_t w[NSTEPS])
{
#if HLI_SMALL
#  pragma GCC unroll 16
#else
#  pragma GCC unroll 64
#endif
    for (unsigned t = 16; t < NSTEPS; t++)
        w[t] = rol(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
}

/* The function of the steps from 20 * quarter, a literal, on (FIPS 180-4 section 4.1.1) is a sum of two terms: one of b
 * and c; and one that may wait for d, which is the newest word where steps are taken back. */
HLI_INLINE uint32_t of_bc(unsigned quarter, uint32_t b, uint32_t c)
{
    return quarter % 2 == 1 ? 0 : b & c;
}

HLI_INLINE uint32_t of_d(unsigned quarter, uint32_t b, uint32_t c, uint32_t d)
{
    return quarter == 0 ? ~b & d : quarter == 2 ? (b ^ c) & d : b ^ c ^ d;
}

/* The steps of one quarter from `from` on, up to `to`. */
HLI_INLINE void step(unsigned quarter, uint32_t s[5], const uint32_t w[], unsigned from, unsigned to)
{
    const unsigned end = to < 20 * quarter + 20 ? to : 20 * quarter + 20;
    uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4];

#pragma GCC unroll 20
    for (unsigned t = from > 20 * quarter ? from : 20 * quarter; t < end; t++) {
        const uint32_t before = e + w[t] + hli_sha1_k[quarter] + of_bc(quarter, b, c) + of_d(quarter, b, c, d);
        e = d, d = c, c = rol(b, 30), b = a, a = before + rol(a, 5);
    }
    s[0] = a, s[1] = b, s[2] = c, s[3] = d, s[4] = e;
}

/* Takes back the steps of one quarter, from `from` down to `to`. */
HLI_INLINE void step_back(unsigned quarter, uint32_t s[5], const uint32_t w[], unsigned from, unsigned to)
{
    const unsigned end = to > 20 * quarter ? to : 20 * quarter;
    uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4];

#pragma GCC unroll 20
    for (unsigned t = from < 20 * quarter + 20 ? from : 20 * quarter + 20; t > end;) {
        const uint32_t after = a;
        t--;
        a = b, b = rol(c, 2), c = d, d = e;
        const uint32_t all_but_d = after - w[t] - hli_sha1_k[quarter] - of_bc(quarter, b, c) - rol(a, 5);
        e = all_but_d - of_d(quarter, b, c, d);
    }
    s[0] = a, s[1] = b, s[2] = c, s[3] = d, s[4] = e;
}

/* Whether the other block, which has the same state after that number of steps, 58 or 65, leads to the same chaining
 * value. All steps are written out, for each number: 225 -> 181 ns. */
HLI_INLINE int meet(unsigned equal, const uint32_t w[], const uint32_t other[], const uint32_t before[5],
                    const uint32_t after[5])
{
    uint32_t end[5], begin[5], differ = 0;

    for (unsigned i = 0; i < 5; i++)
        end[i] = after[i] - before[i];
    step_back(3, end, w, NSTEPS, 65);
    if (equal == 58) {
        step_back(3, end, w, 65, 58);
        step_back(2, end, w, 65, 58);
    }
    hli_copy(begin, end, sizeof begin);
    if (equal == 58) {
        step(2, end, other, 58, 65);
        step(3, end, other, 58, 65);
    }
    step(3, end, other, 65, NSTEPS);
    if (equal == 65) {
        step_back(3, begin, other, 65, 58);
        step_back(2, begin, other, 65, 58);
    }
    step_back(2, begin, other, 58, 0);
    step_back(1, begin, other, 58, 0);
    step_back(0, begin, other, 58, 0);
    for (unsigned i = 0; i < 5; i++)
        differ |= (begin[i] + end[i]) ^ after[i];
    return differ == 0;
}

/* Whether the block is the last of an attack by one of the possible vectors. */
static HLI_NOINLINE int is_attack(uint32_t possible, const uint8_t *block, const uint32_t before[5],
                                  const uint32_t after[5])
{
    uint32_t w[NSTEPS], other[NSTEPS];

    for (unsigned t = 0; t < 16; t++)
        w[t] = hli_load32(block + 4 * t, 1);
    expand(w);
    for (; possible != 0; possible &= possible - 1) {
        const unsigned v = hli_ctz32(possible), k = vectors[v].k, equal = HLI_SHA1DC_STEP(k);
        const uint32_t *const differs = differences[vectors[v].type - 1] + FIRST_K - k;

        for (unsigned t = 0; t < 16; t++)
            other[t] = w[t] ^ rol(differs[t], vectors[v].b);
        expand(other);
        if (HLI_SMALL     ? meet(equal, w, other, before, after)
            : equal == 58 ? meet(58, w, other, before, after)
                          : meet(65, w, other, before, after))
            return 1;
    }
    return 0;
}

/* Takes the block of an attack into the state twice more, as sha1dc does: the two messages then have different
 * digests. */
static HLI_NOINLINE void part(const uint8_t *block, uint32_t state[5])
{
    uint32_t w[NSTEPS], s[5];

    for (unsigned t = 0; t < 16; t++)
        w[t] = hli_load32(block + 4 * t, 1);
    expand(w);
    for (unsigned again = 0; again < 2; again++) {
        hli_copy(s, state, sizeof s);
#if HLI_SMALL
#  pragma GCC unroll 1
        for (unsigned t = 0; t < NSTEPS; t++) {
            const unsigned q = t / 20;
            const uint32_t newest = rol(s[0], 5) + s[4] + w[t] + hli_sha1_k[q] + of_bc(q, s[1], s[2]) +
                                    of_d(q, s[1], s[2], s[3]);
            s[4] = s[3], s[3] = s[2], s[2] = rol(s[1], 30), s[1] = s[0], s[0] = newest;
        }
#else
        step(0, s, w, 0, NSTEPS);
        step(1, s, w, 0, NSTEPS);
        step(2, s, w, 0, NSTEPS);
        step(3, s, w, 0, NSTEPS);
#endif
        for (unsigned i = 0; i < 5; i++)
            state[i] += s[i];
    }
}

/* Advances all lanes by one block, and tries those lanes that have a vector left. */
static void advance_and_try(const hl_kernel *kernel, uint32_t *states, const uint8_t *const msg[],
                            const uint32_t possible[])
{
    const unsigned nlanes = kernel->nlanes;
    uint32_t before[5 * HLI_LANES], ends[2][5];

    hli_copy(before, states, 5 * nlanes * sizeof before[0]);
    kernel->blocks(states, msg, 1, 64);
    for (unsigned l = 0; l < nlanes; l++) {
        if (possible[l] == 0)
            continue;
        for (unsigned i = 0; i < 5; i++) {
            ends[0][i] = before[i * nlanes + l];
            ends[1][i] = states[i * nlanes + l];
        }
        if (!is_attack(possible[l], msg[l], ends[0], ends[1]))
            continue;
        part(msg[l], ends[1]);
        for (unsigned i = 0; i < 5; i++)
            states[i * nlanes + l] = ends[1][i];
        states[VERDICT * nlanes + l] = HLI_IS_ATTACK;
    }
}

HLI_INLINE int has_possible(const uint32_t possible[], unsigned n)
{
    uint32_t any = 0;

    for (unsigned i = 0; i < n; i++)
        any |= possible[i];
    return any != 0;
}

void hli_sha1dc_advance(const hl_kernel *kernel, uint32_t *states, const uint8_t *const msg[], size_t nblocks)
{
    const unsigned nlanes = kernel->nlanes;
    const struct hli_detector *const detector = hli_choose_detector(hli_choice(), nlanes * nblocks);
    const unsigned most = SEARCHED / nlanes;
    uint32_t possible[SEARCHED + HLI_LANES] __attribute__((aligned(64)));
    const uint8_t *at[SEARCHED + HLI_LANES], *from[HLI_LANES];

    for (size_t offset = 0; nblocks > 0;) {
        const unsigned group = nblocks < most ? (unsigned)nblocks : most, n = group * nlanes;
        for (unsigned b = 0; b < group; b++)
            for (unsigned l = 0; l < nlanes; l++)
                at[b * nlanes + l] = msg[l] + offset + 64 * b;
        for (unsigned i = n; i < n + detector->nlanes - 1; i++)
            at[i] = at[0];
        for (unsigned i = 0; i < n; i += detector->nlanes)
            detector->possible(at + i, possible + i);
        for (unsigned b = 0, end = 0; b < group; b = end) { /* a run of blocks that have none left, or one block */
            while (end < group && !has_possible(possible + end * nlanes, nlanes))
                end++;
            for (unsigned l = 0; l < nlanes; l++)
                from[l] = at[b * nlanes + l];
            if (end > b)
                kernel->blocks(states, from, end - b, 64);
            else
                advance_and_try(kernel, states, from, possible + nlanes * end++);
        }
        offset += 64 * (size_t)group;
        nblocks -= group;
    }
}

#endif
