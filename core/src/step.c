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

/* Messages of one length by the kernel's function for whole messages. Returns the number hashed, which fills all lanes
 * each time, or 0 if there are too few. */
static unsigned hash_whole(struct hli_ends *ends, const hl_kernel *kernel, hli_whole_fn *whole, struct hli_step *step,
                           const struct hli_batch *batch, size_t first, size_t end, union hli_lane_states *states,
                           struct hli_tails *tails)
{
    static const uint8_t zeros[2 * 64];
    const struct hli_pass *pass = &ends->plan->first;
    const hl_alg_info *alg = pass->alg;
    const size_t nbytes = batch->nbytes[first];
    const unsigned nlanes = kernel->nlanes;
    const int has_padding_block = nbytes == alg->block_nbytes;
    unsigned nblocks = has_padding_block ? 2 : hli_ending_nblocks(alg, nbytes), n = 0;
    const void *schedule = NULL;

    while (first + n < end && batch->nbytes[first + n] == nbytes)
        n++;
    n -= n % nlanes;
    if (n == 0)
        return 0;
    if (step->whole_nbytes != pass->begin_nbytes + nbytes) {
        hli_pad_scalar(alg, nblocks, &(const uint8_t *){zeros}, &nbytes, pass->begin_nbytes, 1, step->whole.rest);
        for (unsigned b = 0; b < 2; b++)
            step->whole.keep[b] = nbytes >= 64 * (b + 1) ? ~UINT64_C(0)
                                  : nbytes > 64 * b      ? (UINT64_C(1) << (nbytes - 64 * b)) - 1
                                                         : 0;
        step->whole_nbytes = pass->begin_nbytes + nbytes;
    }
    if (has_padding_block)
        schedule = shared_padding(step, alg, kernel, pass->begin_nbytes + nbytes, n >= 8);
    nblocks -= schedule != NULL;
    for (unsigned i = 0; i < n; i += nlanes) {
        const size_t *at = batch->at + first + i;
        uint8_t *digests[HLI_LANES];
        whole(pass->begin, batch->data + first + i, &step->whole, nblocks, schedule, alg->digest_nbytes,
              hli_digests_of(ends, at, nlanes, digests));
        hli_digests_written(ends, states, tails, at, nlanes);
    }
    return n;
}

/* Not inlined, so that its frame is not on the stack while the window runs. */
HLI_NOINLINE unsigned hli_hash_in_step(struct hli_ends *ends, const hl_kernel *kernel, struct hli_step *step,
                                       const struct hli_batch *batch, size_t first, size_t end)
{
    const struct hli_pass *pass = &ends->plan->first;
    const hl_alg_info *alg = pass->alg;
    const unsigned nlanes = kernel->nlanes, n = end - first < nlanes ? (unsigned)(end - first) : nlanes;
    const size_t shape = batch->shapes[first], nblocks = shape >> 2, nwhole = nblocks << hli_block_shift(alg);
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

    hli_whole_fn *const whole = hli_whole_of(kernel);
    if (whole != NULL && pass->begin_stride == 0 && (nblocks == 0 || shape == (1 << 2 | HLI_PADDING_ONLY))) {
        const unsigned nwholes = hash_whole(ends, kernel, whole, step, batch, first, end, &states, &tails);
        if (nwholes > 0)
            return nwholes;
    }

    hli_begin_lanes(pass, nlanes, &step->fresh, batch->at + first, n, &states);
    if (nblocks > 0) {
        msg[0] = data[0]; /* apart from the loop: gcc for i686 assumes that the loop may not run */
        for (unsigned l = 1; l < nlanes; l++)
            msg[l] = data[l < n ? l : 0]; /* idle lanes work on the first message */
        kernel->blocks(&states, msg, nblocks);
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
