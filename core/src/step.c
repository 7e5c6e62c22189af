/* step.c: messages with equally many blocks and equal endings, begun, advanced and ended together.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "lanes.h"

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
        if (step->padded_nbytes != ndone) {
            hli_pad_scalar(alg, 1, &(const uint8_t *){NULL}, &(size_t){0}, ndone, 1, step->padding);
            step->padded_nbytes = ndone;
            step->has_schedule = 0;
        }
        /* A schedule takes 90 to 150 ns to make. It saves a third of a step of SHA-2 in lanes, less of other steps, and
         * nothing over the SHA instructions on Intel. */
        const int pays = first + n < end && end - first >= 8;
        if (kernel->scheduled != NULL && (step->has_schedule || pays)) {
            if (!step->has_schedule)
                hli_schedule(alg->body, step->padding, step->schedule);
            step->has_schedule = 1;
            schedule = step->schedule;
        }
        for (unsigned l = 0; l < nlanes; l++)
            msg[l] = step->padding;
    } else {
        ends->edges.pad(alg, nlast, data, nbytes, ndone, n, tails.bytes);
        hli_point_at_tails(alg, &tails, nlanes, n, msg);
    }
    hli_end_lanes(ends, kernel, &states, &tails, msg, nlast, schedule, batch->at + first, n);
    return n;
}
