/* lanes.c: how messages end, side by side in lanes and one alone, and the second hash of their digests.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A second hash (HMAC, a hash of a hash) is one more ending: the first digest and its padding, hashed from the state in
 * which the second pass begins. Digests wait in a queue until they fill the lanes of the best kernel for the second
 * algorithm, which may have more lanes than the kernel that made them.
 */
#include "lanes.h"

HLI_NOINLINE void hli_hash_again(struct hli_ends *ends, int all, union hli_lane_states *states,
                                 struct hli_tails *tails)
{
    const struct hli_plan *plan = ends->plan;
    const struct hli_pass *pass = &plan->second;
    const hl_alg_info *alg = pass->alg;
    const unsigned nblocks = ends->nblocks;
    /* Over AVX-512 padding is one store, and kernels load a block at once: after two stores they would wait. */
    const int are_blocks = ends->edges.pad == hli_pad_scalar && hli_is_strengthened(alg) &&
                           hli_block_nbytes(alg) == sizeof ends->digests[0] && nblocks == 1;
    const uint8_t *msg[HLI_LANES];
    uint8_t *digests[HLI_LANES];
    unsigned first = 0;

    ends->nused = ends->n > ends->nused ? ends->n : ends->nused;
    while (first < ends->n) {
        const unsigned left = ends->n - first;
        if (!all && left < ends->second->nlanes)
            break;
        const hl_kernel *kernel = left < ends->second->nlanes ? hli_kernel(plan, pass, left) : ends->second;
        const unsigned nlanes = kernel->nlanes, n = left < nlanes ? left : nlanes;
        const uint8_t *const *const data = (const uint8_t *const *)ends->queue + first;
        for (unsigned l = 0; l < n; l++)
            digests[l] = plan->digests + ends->at[first + l] * plan->digest_stride;
        if (ends->again != NULL && kernel == ends->second && n == nlanes) {
            const struct hli_whole whole = hli_describe(pass, nblocks, 1, NULL);
            ends->again(&whole, data, ends->nbytes, digests);
        } else {
            for (; are_blocks && ends->npadded < ends->n; ends->npadded++)
                hli_pad_in_place(64, hli_big_endian(alg), ends->digests[ends->npadded], *ends->nbytes,
                                 pass->begin_nbytes + *ends->nbytes);
            if (!are_blocks)
                ends->edges.pad(alg, nblocks, data, ends->nbytes, pass->begin_nbytes, n, tails->bytes);
            for (unsigned l = 0; l < nlanes; l++)
                msg[l] = are_blocks ? data[l < n ? l : 0] : hli_tail(alg, tails, l < n ? l : 0);
            hli_begin_lanes(pass, nlanes, ends->at + first, n, states);
            hli_advance_last(kernel, alg, states, msg, nblocks);
            hli_write_digests(ends->edges, kernel, alg, states, n, digests);
        }
        first += n;
    }
    for (unsigned i = first; i < ends->n; i++) {
        hli_copy(ends->digests[i - first], ends->digests[i], *ends->nbytes); /* not what may lie behind */
        ends->at[i - first] = ends->at[i];
    }
    ends->n -= first;
}

static HLI_NOINLINE void hash_left(struct hli_ends *ends)
{
    union hli_lane_states states;
    struct hli_tails tails;

    hli_hash_again(ends, 1, &states, &tails);
}

void hli_ends_close(struct hli_ends *ends)
{
    if (ends->second == NULL)
        return;
    if (ends->n > 0)
        hash_left(ends);
    if (ends->plan->is_secret)
        hli_wipe(ends->digests, ends->nused * sizeof ends->digests[0]);
}

HLI_NOINLINE void hli_squeeze(struct hli_edges edges, const hl_kernel *kernel, const hl_alg_info *alg, void *states,
                              unsigned n, uint8_t *const digests[])
{
    const uint8_t *msg[HLI_LANES];
    uint8_t *to[HLI_LANES];
    hl_alg_info part = *alg;

    if (!HLI_ENDS(HL_XOF, HL_XOF, 1)) /* the build has none; likewise below */
        return;
    for (unsigned l = 0; l < kernel->nlanes; l++) {
        msg[l] = (const uint8_t *)hli_sponge_iv; /* a block of zeros */
        to[l] = digests[l < n ? l : 0];
    }
    for (unsigned left = alg->digest_nbytes;; left -= part.digest_nbytes) {
        part.digest_nbytes = left < hli_block_nbytes(alg) ? left : hli_block_nbytes(alg);
        edges.digests(&part, states, kernel->nlanes, n, to);
        if (left == part.digest_nbytes)
            return;
        for (unsigned l = 0; l < n; l++)
            to[l] += part.digest_nbytes;
        hli_advance_lanes(kernel, alg, states, msg, 1);
    }
}

HLI_NOINLINE void hli_finish(struct hli_ends *ends, const struct hli_ending endings[], const struct hli_item items[],
                             size_t n)
{
    const struct hli_plan *plan = ends->plan;
    const hl_alg_info *alg = plan->first.alg;
    union hli_lane_states states;
    struct hli_tails tails;
    const uint8_t *msg[HLI_LANES];
    size_t at[HLI_LANES];

    for (unsigned nblocks = 1; nblocks <= 2; nblocks++) {
        size_t left = 0;
        for (size_t i = 0; i < n; i++)
            left += (items == NULL || items[i].nblocks == 0) && hli_ending_nblocks(alg, endings[i].nrest) == nblocks;
        for (size_t i = 0; left > 0;) {
            const hl_kernel *kernel = hli_kernel(plan, &plan->first, left);
            const unsigned nlanes = kernel->nlanes, nstep = left < nlanes ? (unsigned)left : nlanes;
            const void *state = NULL;
            for (unsigned l = 0; l < nstep; i++) {
                const struct hli_ending *e = &endings[i];
                if ((items != NULL && items[i].nblocks != 0) || hli_ending_nblocks(alg, e->nrest) != nblocks)
                    continue;
                ends->edges.pad(alg, nblocks, &e->rest, &e->nrest, e->nbytes - e->nrest, 1, hli_tail(alg, &tails, l));
                state = e->state;
                hli_load_lane(alg, &states, nlanes, l, state);
                at[l++] = e->at;
            }
            for (unsigned l = nstep; l < nlanes; l++) /* idle lanes work on the last message's state */
                hli_load_lane(alg, &states, nlanes, l, state);
            hli_point_at_tails(alg, &tails, nlanes, nstep, msg);
            hli_end_lanes(ends, kernel, &states, &tails, msg, nblocks, NULL, at, nstep);
            left -= nstep;
        }
    }
}

/* The lane driver has room for this number of states. */
#define FITS(body, nlanes) \
    _Static_assert((nlanes) * WORD_NBYTES_##body <= 64 && \
                   (nlanes) * WORD_NBYTES_##body * NWORDS_##body <= sizeof(union hli_lane_states), "too many lanes");
#define LANES(body, name, isa, nlanes, ...)      FITS(body, nlanes)
#define KERNEL(body, function, isa, nlanes, ...) FITS(body, nlanes)
#include "registry.def"
