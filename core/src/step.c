/* step.c: messages with equally many blocks and equal endings, begun, advanced and ended together.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "lanes.h"

/* Sees to it that step->padding is the ending of all messages that are ndone bytes, whole blocks, and returns its
 * schedule, or NULL: a schedule takes 90 to 150 ns to make. It saves a third of a step of SHA-2 in lanes, less of other
 * steps, and nothing over the SHA instructions on Intel. `pays`: enough messages will use it. */
static const void *shared_padding(struct hli_step *step, const hl_alg_info *alg, const hl_kernel *kernel,
                                  uint64_t ndone, int pays)
{
    const void *known = kernel->scheduled == NULL ? NULL : hli_known_schedule(alg, ndone);

    if (known != NULL)
        return known;
    if (step->padded_nbytes != ndone) {
        hli_pad_scalar(alg, 1, &(const uint8_t *){NULL}, &(size_t){0}, ndone, 1, step->padding);
        step->padded_nbytes = ndone;
        step->has_schedule = 0;
    }
    if (kernel->scheduled == NULL || !(step->has_schedule || pays))
        return NULL;
    if (!step->has_schedule)
        hli_schedule(alg->body, step->padding, step->schedule);
    step->has_schedule = 1;
    return step->schedule;
}

/* Describes whole messages of one shape. nblocks: with padding; is_block: each is exactly one block; pays: there are
 * enough of them to compute the schedule of its padding. */
HLI_INLINE struct hli_whole describe_whole(const struct hli_ends *ends, const hl_kernel *kernel, struct hli_step *step,
                                           size_t nblocks, int is_one_length, int is_block, int pays)
{
    const struct hli_pass *pass = &ends->plan->first;
    const uint64_t nbytes = pass->begin_nbytes + pass->alg->block_nbytes;

    return hli_describe(pass, nblocks, is_one_length,
                        is_block ? shared_padding(step, pass->alg, kernel, nbytes, pays) : NULL);
}

/* `layout` is a literal. */
HLI_INLINE size_t hash_whole_layout(unsigned layout, struct hli_ends *ends, const hl_kernel *kernel,
                                    struct hli_step *step, const hl_messages *all, size_t first)
{
    const struct hli_plan *plan = ends->plan;
    const hl_alg_info *alg = plan->first.alg;
    hli_whole_fn *const function = hli_whole_of(kernel);
    const unsigned nlanes = kernel->nlanes;
    const size_t most_nblocks = hli_whole_nblocks(plan->choice | kernel->isas);
    union hli_lane_states states;
    struct hli_tails tails;
    struct hli_whole whole;
    const uint8_t *data[HLI_LANES];
    uint8_t *digests[HLI_LANES], *const *to = digests;
    size_t nbytes[HLI_LANES], at[HLI_LANES], next = first, described = SIZE_MAX;
    /* If the second hash has a function for as many whole messages, and no digest waits for it, it follows at once. */
    const int is_direct =
        ends->second != NULL && ends->again != NULL && ends->second->nlanes == nlanes && ends->n == 0;
    struct hli_whole second = {0};

    if (is_direct) {
        second = hli_describe(&plan->second, ends->nblocks, 1, NULL);
        to = ends->queue;
        ends->nused = nlanes > ends->nused ? nlanes : ends->nused;
    }
    for (; all->count - next >= nlanes; next += nlanes) {
        size_t least = all->nbytes, most = all->nbytes;
        if (layout == HL_ROWS) {
            const uintptr_t row = (uintptr_t)hli_message_at(layout, all, next).data;
            for (unsigned l = 0; l < nlanes; l++)
                data[l] = (const uint8_t *)(row + l * all->stride);
            for (unsigned l = 0; next == first && l < nlanes; l++)
                nbytes[l] = all->nbytes;
        } else {
            least = SIZE_MAX;
            most = 0;
            for (unsigned l = 0; l < nlanes; l++) {
                const hl_slice message = hli_message_at(layout, all, next + l);
                data[l] = message.data;
                nbytes[l] = message.nbytes;
                least = message.nbytes < least ? message.nbytes : least;
                most = message.nbytes > most ? message.nbytes : most;
            }
            if (all->count - next >= 3 * (size_t)nlanes) /* rows need no prefetch: the hardware follows them */
                for (unsigned l = 0; l < nlanes; l++)
                    __builtin_prefetch(hli_message_at(layout, all, next + 2 * (size_t)nlanes + l).data);
        }
        if (layout != HL_ROWS || next == first) {
            const size_t nblocks = hli_padded_nblocks(alg, most);
            const int is_one_length = least == most, is_block = is_one_length && most == alg->block_nbytes;
            const size_t description = nblocks << 2 | (size_t)is_one_length << 1 | (size_t)is_block;
            if (nblocks > most_nblocks || (!is_one_length && hli_padded_nblocks(alg, least) != nblocks))
                break;
            if (description != described)
                whole = describe_whole(ends, kernel, step, nblocks, is_one_length, is_block, all->count - next >= 8);
            described = description;
        }
        if (ends->second == NULL || is_direct) {
            uint8_t *const digest = plan->digests + next * plan->digest_stride;
            for (unsigned l = 0; l < nlanes; l++)
                digests[l] = digest + l * plan->digest_stride;
        } else {
            for (unsigned l = 0; l < nlanes; l++)
                at[l] = next + l;
            to = hli_digests_of(ends, at, nlanes, digests);
        }
        function(&whole, data, nbytes, to);
        if (is_direct)
            ends->again(&second, (const uint8_t *const *)ends->queue, ends->nbytes, digests);
        else
            hli_digests_written(ends, &states, &tails, at, nlanes);
    }
    return next - first;
}

/* Not inlined: see below. */
HLI_NOINLINE size_t hli_hash_whole(struct hli_ends *ends, const hl_kernel *kernel, struct hli_step *step,
                                   const hl_messages *all, size_t first)
{
    return all->layout == HL_ROWS ? hash_whole_layout(HL_ROWS, ends, kernel, step, all, first)
                                  : hash_whole_layout(HL_SLICES, ends, kernel, step, all, first);
}

/* Not inlined, so that its frame is not on the stack while the window runs. */
HLI_NOINLINE unsigned hli_hash_in_step(struct hli_ends *ends, const hl_kernel *kernel, struct hli_step *step,
                                       const struct hli_batch *batch, size_t first, size_t end)
{
    const struct hli_pass *pass = &ends->plan->first;
    const hl_alg_info *alg = pass->alg;
    const unsigned nlanes = kernel->nlanes, n = end - first < nlanes ? (unsigned)(end - first) : nlanes;
    const size_t shape = batch->shapes[first], nblocks = shape >> 2, nwhole = nblocks * alg->block_nbytes;
    const uint64_t ndone = pass->begin_nbytes + nwhole;
    const enum hli_ending_kind kind = shape & 3;
    const unsigned nlast = kind == HLI_TWO_BLOCKS ? 2 : 1;
    const uint8_t *const *data = batch->data + first;
    const size_t *nbytes = batch->nbytes + first;
    union hli_lane_states states;
    struct hli_tails tails;
    const uint8_t *msg[HLI_LANES], *rests[HLI_LANES];
    size_t nrests[HLI_LANES];
    const void *schedule = NULL;

    if (n == nlanes && hli_whole_of(kernel) != NULL &&
        hli_shape_nblocks(shape) <= hli_whole_nblocks(ends->plan->choice | kernel->isas) &&
        hli_may_be_whole(pass)) {
        const int is_one_length = kind == HLI_PADDING_ONLY, is_block = is_one_length && nblocks == 1;
        const struct hli_whole whole =
            describe_whole(ends, kernel, step, hli_shape_nblocks(shape), is_one_length, is_block, end - first >= 8);
        uint8_t *digests[HLI_LANES];
        hli_whole_of(kernel)(&whole, data, nbytes, hli_digests_of(ends, batch->at + first, nlanes, digests));
        hli_digests_written(ends, &states, &tails, batch->at + first, nlanes);
        return nlanes;
    }

    hli_begin_lanes(pass, nlanes, batch->at + first, n, &states);
    if (nblocks > 0) {
        msg[0] = data[0]; /* apart from the loop: gcc for i686 assumes that the loop may not run */
        for (unsigned l = 1; l < nlanes; l++)
            msg[l] = data[l < n ? l : 0]; /* idle lanes work on the first message */
        hli_advance_lanes(kernel, alg, &states, msg, nblocks);
        for (unsigned l = 0; l < n; l++) {
            rests[l] = data[l] + nwhole;
            nrests[l] = nbytes[l] - nwhole;
        }
        data = rests;
        nbytes = nrests;
    }

    if (kind == HLI_PADDING_ONLY) {
        schedule = shared_padding(step, alg, kernel, ndone, first + n < end && end - first >= 8);
        for (unsigned l = 0; l < nlanes; l++)
            msg[l] = step->padding;
    } else {
        ends->edges.pad(alg, nlast, data, nbytes, ndone, n, tails.bytes);
        hli_point_at_tails(alg, &tails, nlanes, n, msg);
    }
    hli_end_lanes(ends, kernel, &states, &tails, msg, nlast, schedule, batch->at + first, n);
    return n;
}
