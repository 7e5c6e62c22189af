/* ragged.c: runs of blocks of any lengths, side by side: a lane whose run ends takes the next.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The longest runs begin first. When nothing waits and the lanes are no longer full, the remaining states move to the
 * best kernel for their number. One long message among short ones therefore costs no more than alone.
 */
#include "lanes.h"

/* Sorts by 256 classes of size. Each shape of fewer than 32 blocks is a class; above, each doubling of the size has
 * eight classes, up to 128 MiB (with blocks of 64 bytes). Finer classes would not fill lanes better. Messages above the
 * last class are not sorted. */
static uint8_t size_class(size_t shape)
{
    if (shape < 128)
        return (uint8_t)shape;
    const unsigned octave = 63 - hli_clz64(shape); /* 7 or more */
    const unsigned class = 128 + 8 * (octave - 7) + (unsigned)(shape >> (octave - 3) & 7);
    return (uint8_t)(class < 255 ? class : 255);
}

/* A counting sort. */
void hli_sort(const size_t shapes[], size_t n, uint8_t order[])
{
    uint8_t classes[HLI_WINDOW], start[256];
    unsigned total = 0, least = 255, greatest = 0;

    for (size_t i = 0; i < n; i++) {
        classes[i] = size_class(shapes[i]);
        least = classes[i] < least ? classes[i] : least;
        greatest = classes[i] > greatest ? classes[i] : greatest;
    }
    hli_zero(start, sizeof start);
    for (size_t i = 0; i < n; i++)
        start[classes[i]]++;
    for (unsigned c = greatest + 1; c-- > least;) {
        const unsigned here = start[c];
        start[c] = (uint8_t)total;
        total += here;
    }
    for (size_t i = 0; i < n; i++)
        order[start[classes[i]]++] = (uint8_t)i;
}

/* Not __builtin_popcount: on a CPU without such an instruction, that is a call into the compiler's library. */
static unsigned count_bits(uint32_t bits)
{
    unsigned n = 0;

    for (; bits != 0; bits &= bits - 1)
        n++;
    return n;
}

static HLI_NOINLINE void run_lanes(const struct hli_plan *plan, struct hli_item items[], size_t n, int more)
{
    const struct hli_pass *pass = &plan->first;
    const hl_alg_info *alg = pass->alg;
    union hli_lane_states states;
    const uint8_t *msg[HLI_LANES];
    size_t left[HLI_LANES];      /* blocks to go in each lane */
    uint8_t item_of[HLI_LANES];  /* the item in each lane, if its bit in `busy` is set */
    uint32_t busy = 0;
    size_t shapes[HLI_WINDOW];
    uint8_t order[HLI_WINDOW];
    size_t first = 0, end = n; /* order[first .. end - 1] wait */
    const hl_kernel *kernel = NULL;

    for (size_t i = 0; i < n; i++)
        shapes[i] = items[i].nblocks << 2;
    hli_sort(shapes, n, order);
    while (end > 0 && items[order[end - 1]].nblocks == 0)
        end--;
    if (more && end < hli_kernel(plan, pass, SIZE_MAX)->nlanes) /* they run later, beside others */
        return;

    for (;;) {
        if (first == end) {
            if (busy == 0)
                return;
            const unsigned nbusy = count_bits(busy);
            const int stop = more && nbusy < kernel->nlanes;
            if (stop || hli_kernel(plan, pass, nbusy) != kernel) {
                /* Moves all states out of the lanes, into a queue with the longest first. */
                first = end = 0;
                for (; busy != 0; busy &= busy - 1) {
                    const unsigned l = hli_ctz32(busy);
                    struct hli_item *item = &items[item_of[l]];
                    if (kernel->nlanes > 1)
                        hli_save_lane(alg, &states, kernel->nlanes, l, item->state);
                    item->data = msg[l];
                    item->nblocks = left[l];
                    size_t at = end++;
                    for (; at > 0 && items[order[at - 1]].nblocks < item->nblocks; at--)
                        order[at] = order[at - 1];
                    order[at] = item_of[l];
                }
                if (stop)
                    return;
                kernel = NULL;
            }
        }
        if (kernel == NULL)
            kernel = hli_kernel(plan, pass, end - first);

        const unsigned nlanes = kernel->nlanes;
        uint32_t idle = ~busy & (uint32_t)((UINT64_C(1) << nlanes) - 1);
        for (; idle != 0 && first < end; idle &= idle - 1) {
            const unsigned l = hli_ctz32(idle);
            const struct hli_item *item = &items[item_of[l] = order[first++]];
            msg[l] = item->data;
            left[l] = item->nblocks;
            if (nlanes > 1)
                hli_load_lane(alg, &states, nlanes, l, item->state);
            busy |= UINT32_C(1) << l;
        }
        for (; idle != 0; idle &= idle - 1) { /* a lane that stays idle works on any busy lane's data */
            const unsigned l = hli_ctz32(idle);
            msg[l] = msg[hli_ctz32(busy)];
            left[l] = SIZE_MAX;
            hli_load_lane(alg, &states, nlanes, l, alg->iv);
        }

        /* No branch depends on which lane has finished: a misprediction would delay the start of the next run. */
        size_t nblocks = left[0];
        for (unsigned l = 1; l < nlanes; l++)
            nblocks = left[l] < nblocks ? left[l] : nblocks;
        hli_advance_lanes(kernel, alg, nlanes > 1 ? &states : items[item_of[0]].state, msg, nblocks);
        uint32_t through = 0;
        for (unsigned l = 0; l < nlanes; l++) {
            msg[l] += nblocks * hli_block_nbytes(alg);
            left[l] -= nblocks;
            through |= (uint32_t)(left[l] == 0) << l;
        }
        for (busy &= ~through; through != 0; through &= through - 1) {
            const unsigned l = hli_ctz32(through);
            if (nlanes > 1)
                hli_save_lane(alg, &states, nlanes, l, items[item_of[l]].state);
            items[item_of[l]].nblocks = 0;
        }
    }
}

void hli_advance(const struct hli_plan *plan, struct hli_item items[], size_t n, int more)
{
    if (n == 0)
        return;
    if (n == 1 && !more) { /* a stream on its own */
        const hl_kernel *alone = hli_kernel(plan, &plan->first, 1);
        if (alone->nlanes == 1) {
            if (items[0].nblocks > 0)
                hli_advance_lanes(alone, plan->first.alg, items[0].state, &items[0].data, items[0].nblocks);
            items[0].nblocks = 0;
            return;
        }
    }
    run_lanes(plan, items, n, more);
}
