/* plan.c: which kernel hashes which messages of a call, weighed by the costs of registry.def. It reads no message.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hli_plan_group   the next group of at most HLI_SHORT messages of equally many blocks
 * hli_plan_apart   whether up to HLI_FEW messages of other numbers of blocks go one by one
 * hli_spares_power whether a call avoids vectors of 512 bits, on CPUs whose clock they slow down
 *
 * The best kernel for messages of one length is registry.c's answer (hli_choose), for one message hli_choose_one's
 * (plan.h).
 */
#include "plan.h"

/* ---- The price of 512 bits --------------------------------------------------------------------------------------- */

#if HLI_X86
/* After an instruction of 512 bits such a CPU runs at 2.7 GHz instead of 3.1 for about 0.7 ms, whatever the program
 * does then (Cascade Lake): PRICE ns are lost. A call pays that if it and the calls just before it save more. Calls
 * count together while the gaps between them are below 0.7 ms: PRICE_TICKS of 256 cycles of the time stamp counter. */
enum { PRICE = 90000, PRICE_TICKS = 5000, FEW_LANES = 8 };

static _Atomic uint32_t last_ticks, saved;

HLI_NOINLINE int hli_spares_power(const struct hli_plan *plan, const hl_messages *all)
{
    enum { LOOKS = 16 };
    const hl_alg_info *const alg = plan->first.alg;

    if (all->count <= FEW_LANES)
        return 1;
    const hl_kernel *const wide = hli_choose(plan->choice, hli_body(alg), SIZE_MAX, 0, 0);
    const hl_kernel *const narrow = hli_choose(hli_without_price(plan->choice), hli_body(alg), SIZE_MAX, 0, 0);
    const uint64_t wide_cost = (uint64_t)hli_cost(plan->choice, wide) * narrow->nlanes;
    const uint64_t narrow_cost = (uint64_t)hli_cost(plan->choice, narrow) * wide->nlanes;
    const size_t nlooks = all->count < LOOKS ? all->count : LOOKS;
    uint64_t nblocks = 0;

    if (narrow_cost <= wide_cost)
        return 1;
    for (size_t i = 0; i < nlooks; i++)
        nblocks += hli_padded_nblocks(alg, hli_message_at(all->layout, all, i).nbytes);
    nblocks = nblocks / nlooks * all->count;

    const uint64_t now_saved = nblocks * (narrow_cost - wide_cost) / (wide->nlanes * narrow->nlanes);
    const uint32_t now = (uint32_t)(__builtin_ia32_rdtsc() >> 8);
    const uint32_t since = now - atomic_load_explicit(&last_ticks, memory_order_relaxed);
    const uint64_t before = since > PRICE_TICKS ? 0 : atomic_load_explicit(&saved, memory_order_relaxed);
    const uint64_t sum = before + now_saved < PRICE ? before + now_saved : PRICE;

    if (since > PRICE_TICKS / 16) /* threads seldom write */
        atomic_store_explicit(&last_ticks, now, memory_order_relaxed);
    if (sum != before || since > PRICE_TICKS)
        atomic_store_explicit(&saved, (uint32_t)sum, memory_order_relaxed);
    return sum < PRICE;
}
#endif

/* ---- Few messages ------------------------------------------------------------------------------------------------ */

_Atomic uint32_t hli_answers[HLI_NBODIES][HLI_SHORT][HLI_NSHAPES];

/* The first of the groups that take the least time for nmessages (1 .. HLI_SHORT). Messages alone come last. */
HLI_NOINLINE uint32_t hli_weigh(uint32_t word, hl_body body, uint32_t nmessages, unsigned shape)
{
    /* A known schedule saves a KNOWN_SHARE-th of a block. A message alone takes an ALONE_SHARE-th of a block longer,
     * and HLI_BESIDE_left behind others that go side by side. */
    enum { KNOWN_SHARE = 3, ALONE_SHARE = 8 };
    const int is_known = shape >= HLI_SHAPE_KNOWN && shape < HLI_SHAPE_LONG;
    const int may_be_whole = shape < HLI_SHAPE_LONG && shape % 2 == 1;
    const uint32_t nblocks = shape >= HLI_SHAPE_LONG ? 8u << (shape - HLI_SHAPE_LONG) : is_known ? 2 : shape / 2 + 1;
    const struct hli_row *const all = hli_rows;
    const unsigned tune = hli_tune_of(word);
    const hl_kernel *const alone = hli_single(word, body);
    uint32_t times[HLI_SHORT + 1] = {0};                 /* of the best groups for n messages */
    const struct hli_row *first[HLI_SHORT + 1] = {NULL}; /* of these groups: of one lane only if all are */

    for (uint32_t n = 1; n <= nmessages; n++) {
        times[n] = UINT32_MAX;
        for (const struct hli_row *row = all + hli_first_row[body]; row < all + hli_first_row[body + 1]; row++) {
            const uint32_t lanes = row->kernel.nlanes, left = n > lanes ? times[n - lanes] : 0, cost = row->cost[tune];
            const uint32_t saved = is_known && row->kernel.scheduled != NULL ? cost / KNOWN_SHARE : 0;
            const int is_whole = lanes > 1 && row->whole != NULL && may_be_whole;
            const uint32_t beside = lanes == 1 ? cost / ALONE_SHARE + HLI_BESIDE_left
                                    : is_whole ? row->beside
                                               : HLI_BESIDE_blocks + HLI_BESIDE_lane * lanes / (nblocks > 2 ? 2 : 1);
            const uint32_t time = nblocks * cost - saved + beside + left;
            if ((row->kernel.isas & word) == 0 || (lanes == 1 && &row->kernel != alone) ||
                (n == 1 && lanes > 1 && alone != NULL) || time >= times[n])
                continue;
            times[n] = time;
            first[n] = lanes == 1 && n > 1 ? first[n - 1] : row;
        }
    }
    const struct hli_row *const best = first[nmessages];
    const int is_apart = alone != NULL && nmessages * (times[1] - HLI_BESIDE_left) <= times[nmessages];
    const int is_whole = best->kernel.nlanes > 1 && best->whole != NULL && may_be_whole;
    const uint32_t answer = (word & HLI_GROUP_FROM) | (uint32_t)(best - all) << HLI_GROUP_ROW |
                            (is_whole ? HLI_GROUP_WHOLE : 0) | (is_apart ? HLI_GROUP_APART : 0);
    atomic_store_explicit(&hli_answers[body][nmessages - 1][shape], answer, memory_order_relaxed);
    return answer;
}

#if HLI_SMALL
const hl_kernel *hli_choose_one(uint32_t word, hl_body body)
{
    return hli_one_in_table(word, body);
}
#endif

struct hli_group hli_plan_searched(uint32_t word, size_t n, size_t nblocks)
{
    const uint32_t search = nblocks < HLI_BESIDE_search ? HLI_BESIDE_search / (uint32_t)nblocks : 0;
    const hl_kernel *const lanes = hli_choose(word, HL_BODY_SHA1, n, search, 1);

    return (struct hli_group){lanes, lanes->nlanes == 1 ? HLI_ONE : HLI_BLOCKS};
}

int hli_plan_apart(uint32_t word, const hl_alg_info *alg, const hl_slice *messages, size_t n, size_t most)
{
    /* HLI_BESIDE_window: what the driver and the first block of a kernel of lanes add. The table has the costs of long
     * messages: the first SHORT ns take up to a SHORT_SHARE-th more. */
    enum { SHORT = 1000, SHORT_SHARE = 6 };
    const hl_body body = hli_body(alg);
    const uint64_t cost = hli_cost(word, hli_choose_one(word, body));
    size_t sorted[HLI_FEW], sum = 0; /* the longest first */
    uint64_t together = 0;

    if (most == 2 && hli_plan_group(word, alg, n, 1, HLI_MAY_BE_WHOLE | HLI_ARE_ALL).how == HLI_ONE &&
        hli_plan_group(word, alg, n, 2, HLI_MAY_BE_WHOLE | HLI_ARE_ALL).how == HLI_ONE)
        return 1;
    for (size_t i = 0; i < n; i++) {
        const size_t nblocks = hli_padded_nblocks(alg, messages[i].nbytes);
        size_t to = i;
        for (; to > 0 && sorted[to - 1] < nblocks; to--)
            sorted[to] = sorted[to - 1];
        sorted[to] = nblocks;
        sum += nblocks;
    }
    /* Side by side, messages take at least the time of the longest. */
    if ((sum - most) * cost <= HLI_BESIDE_window)
        return 1;
    /* All that are left advance until the shortest ends. */
    for (size_t left = n, done = 0; left > 0; done = sorted[--left]) {
        if (sorted[left - 1] == done)
            continue;
        const hl_kernel *const kernel = hli_choose(word, body, left, 0, 0);
        const size_t ncalls = left <= kernel->nlanes ? 1 : (left + kernel->nlanes - 1) / kernel->nlanes;
        together += (uint64_t)(sorted[left - 1] - done) * ncalls * hli_cost(word, kernel);
    }
    return sum * cost <= together + (together < SHORT ? together : SHORT) / SHORT_SHARE + HLI_BESIDE_window;
}
