/* plan.c: which kernels hash the messages of a call, weighed by the costs of registry.def before anything is hashed.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hli_choose    the best kernel for messages of one length
 * hli_plan_whole
 *               the kernel whose function for whole messages hashes the next of few messages; NULL: none does
 * hli_plan_few  how 2 .. HLI_SHORT messages are hashed: one by one, in groups with a kernel each, or like many messages
 * hli_spares_power
 *               whether a call avoids vectors of 512 bits, on CPUs whose clock they slow down
 *
 * A single message goes to hli_choose_one instead. Nothing here reads a message's bytes; test/choice.c has none.
 */
#include <stdatomic.h>

#include "lanes.h"

/* ---- One kernel -------------------------------------------------------------------------------------------------- */

/* The best kernel of several lanes, or `alone` if that is better. `alone` may be NULL. */
static const hl_kernel *cheapest(uint32_t word, hl_body body, const hl_kernel *alone, size_t nmessages,
                                 uint32_t call_cost)
{
    const unsigned tune = hli_tune_of(word);
    /* For more messages than any kernel has lanes, the least cost per message decides: the rest at the end gets a
     * choice of its own. All numbers of lanes, 1, 2, 3, 4, 8 and 16, divide n then. */
    const uint32_t n = nmessages <= HL_LANES_MAX ? (uint32_t)nmessages : 3 * HL_LANES_MAX;
    const hl_kernel *best = alone;
    uint32_t best_cost = alone == NULL ? UINT32_MAX : n * (hli_cost(word, alone) + call_cost);

    for (const struct hli_row *row = hli_rows + hli_first_row[body]; row->kernel.nlanes > 1; row++) {
        if ((row->kernel.isas & word) == 0)
            continue;
        const uint32_t nlanes = row->kernel.nlanes; /* 3, or a power of two: a division costs ten rows */
        const uint32_t ncalls = n <= nlanes ? 1 : nlanes == 3 ? (n + 2) / 3 : (n + nlanes - 1) >> hli_ctz32(nlanes);
        const uint32_t cost = ncalls * (row->cost[tune] + call_cost);
        if (cost < best_cost) {
            best = &row->kernel;
            best_cost = cost;
        }
    }
    return best;
}

const hl_kernel *hli_choose(uint32_t word, hl_body body, size_t nmessages, uint32_t call_cost)
{
    const hl_kernel *alone = hli_single(word, body);

    return nmessages == 1 && alone != NULL ? alone : cheapest(word, body, alone, nmessages, call_cost);
}

const hl_kernel *hli_choose_whole(uint32_t word, hl_body body, uint32_t call_cost)
{
    const struct hli_row *const all = hli_rows;
    const unsigned tune = hli_tune_of(word);
    const hl_kernel *best = hli_choose(word, body, SIZE_MAX, call_cost), *whole = NULL;
    uint32_t nlanes = best->nlanes, cost = hli_cost(word, best) + call_cost;

    for (const struct hli_row *row = all + hli_first_row[body]; row < all + hli_first_row[body + 1]; row++)
        if (row->whole != NULL && (row->kernel.isas & word) != 0 &&
            row->cost[tune] * nlanes < cost * row->kernel.nlanes) {
            whole = &row->kernel;
            nlanes = whole->nlanes;
            cost = row->cost[tune];
        }
    return whole;
}

hli_whole_fn *hli_whole_of(const hl_kernel *kernel)
{
    return hli_row_of(kernel)->whole;
}

/* Kernels of AVX-512 load each block while they hash the one before. Functions for whole messages do not, and their
 * tables of masks reach 256 bytes. Longer messages would gain little by such a function. */
unsigned hli_whole_nblocks(hl_isas isas, const hl_alg_info *alg)
{
#if HLI_X86
    if ((isas & ((hl_isas)1 << ISA_avx512 | (hl_isas)1 << ISA_sha_avx512vl)) != 0)
        return hli_block_nbytes(alg) == 64 ? 4 : 2;
#else
    (void)isas, (void)alg;
#endif
    return HLI_WHOLE_NBLOCKS;
}

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
    const hl_kernel *const wide = hli_choose(plan->choice, hli_body(alg), SIZE_MAX, 0);
    const hl_kernel *const narrow = hli_choose(hli_without_price(plan->choice), hli_body(alg), SIZE_MAX, 0);
    const uint64_t wide_cost = (uint64_t)hli_cost(plan->choice, wide) * narrow->nlanes;
    const uint64_t narrow_cost = (uint64_t)hli_cost(plan->choice, narrow) * wide->nlanes;
    const size_t nlooks = all->count < LOOKS ? all->count : LOOKS;
    uint64_t nblocks = 0;

    if (all->count <= FEW_LANES || narrow_cost <= wide_cost)
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

/* ---- Few messages of equally many blocks ------------------------------------------------------------------------- */

/* An answer is one word: the row of the first group's kernel, flags, and the bits of the choice word from which both
 * follow. An answer with other such bits is out of date. FEW_WHOLE: the kernel's function for whole messages is meant.
 * FEW_APART: all messages go one by one instead. FEW_LACKING: the messages are too few for groups. */
#define FEW_ROW     CHOICE_AVAILABLE
#define FEW_WHOLE   (UINT32_C(1) << 19)
#define FEW_APART   (UINT32_C(1) << 20)
#define FEW_LACKING (UINT32_C(1) << 21)
#define FEW_FROM    (ISA_MASK | UINT32_C(7) << CHOICE_TUNE | CHOICE_KNOWN)

/* Shapes of messages: 1 .. HLI_WHOLE_NBLOCKS blocks, with and without functions for whole messages; two blocks with a
 * known schedule; and 8, 16 and 32 blocks, which stand for all greater numbers. */
enum { FEW_KNOWN = 2 * HLI_WHOLE_NBLOCKS, FEW_LONG = FEW_KNOWN + 2, FEW_PAIR = FEW_LONG + 3, FEW_SHAPES };

HLI_INLINE unsigned shape_of(size_t nblocks, int is_known, int may_be_whole)
{
    if (nblocks > HLI_WHOLE_NBLOCKS)
        return FEW_LONG + (nblocks >= 16) + (nblocks >= 32);
    return (is_known ? (unsigned)FEW_KNOWN : 2 * ((unsigned)nblocks - 1)) + (unsigned)may_be_whole;
}

/* The answers so far. The last shape is for hli_plan_pair: do two short messages go one by one? */
static _Atomic uint32_t answers[HLI_NBODIES][HLI_SHORT][FEW_SHAPES];

/* The first of the groups that take the least time for nmessages (1 .. HLI_SHORT), which may follow other messages. */
static HLI_NOINLINE uint32_t weigh(uint32_t word, hl_body body, uint32_t nmessages, unsigned shape)
{
    /* The table has the costs of blocks. What is added to them, in ns:
     * - a function for whole messages: row->beside;
     * - any other kernel of lanes, which is called twice between copies: ABREAST, and ABREAST_LANE for each lane, half
     *   of it with more than two blocks, as the CPU then copies while it hashes;
     * - one message: a ONE_SHARE-th of a block, and ONE if all messages go one by one, else LEFT.
     * A known schedule saves a KNOWN_SHARE-th of a block. Making groups takes GROUPS. */
    enum { ABREAST = 10, ABREAST_LANE = 20, ONE_SHARE = 8, ONE = 9, LEFT = 17, KNOWN_SHARE = 3, GROUPS = 35 };
    const int is_known = shape >= FEW_KNOWN && shape < FEW_LONG, may_be_whole = shape < FEW_LONG && shape % 2 == 1;
    const uint32_t nblocks = shape >= FEW_LONG ? 8u << (shape - FEW_LONG) : is_known ? 2 : shape / 2 + 1;
    const struct hli_row *const all = hli_rows;
    const unsigned tune = hli_tune_of(word);
    const hl_kernel *const alone = hli_single(word, body);
    uint32_t times[HLI_SHORT + 1] = {0};                 /* of the best groups for n messages */
    const struct hli_row *first[HLI_SHORT + 1] = {NULL}; /* of these groups: of one lane only if all are */
    uint32_t lacking = FEW_LACKING;

    for (uint32_t n = 1; n <= nmessages; n++) {
        times[n] = UINT32_MAX;
        for (const struct hli_row *row = all + hli_first_row[body]; row < all + hli_first_row[body + 1]; row++) {
            const uint32_t lanes = row->kernel.nlanes, left = n > lanes ? times[n - lanes] : 0, cost = row->cost[tune];
            const uint32_t saved = is_known && row->kernel.scheduled != NULL ? cost / KNOWN_SHARE : 0;
            const uint32_t blocks = nblocks * cost - saved;
            const int is_whole = lanes > 1 && row->whole != NULL && may_be_whole;
            const uint32_t beside = lanes == 1 ? cost / ONE_SHARE + LEFT
                                    : is_whole ? row->beside
                                               : ABREAST + ABREAST_LANE * lanes / (nblocks > 2 ? 2 : 1);
            const int may_be = lanes == 1 ? &row->kernel == alone
                                          : is_whole || n <= HLI_FEW || alone == NULL || nblocks > 2;
            if ((row->kernel.isas & word) == 0)
                continue;
            if (is_whole && 5 * lanes <= 8 * nmessages) /* five of eight lanes are filled */
                lacking = 0;
            if (!may_be || (n == 1 && lanes > 1 && alone != NULL) || blocks + beside + left >= times[n])
                continue;
            times[n] = blocks + beside + left;
            first[n] = lanes == 1 && n > 1 ? first[n - 1] : row;
        }
    }
    /* More than HLI_FEW messages that whole functions do not take go in step, like many messages. */
    if (nmessages > HLI_FEW && first[nmessages]->kernel.nlanes > 1 && first[nmessages]->whole == NULL)
        lacking = FEW_LACKING;
    const int is_apart = alone != NULL && nmessages * (times[1] + ONE - LEFT) <= times[nmessages] + GROUPS;
    const int is_whole = first[nmessages]->kernel.nlanes > 1 && first[nmessages]->whole != NULL && may_be_whole;
    return (word & FEW_FROM) | (uint32_t)(first[nmessages] - all) << FEW_ROW | (is_whole ? FEW_WHOLE : 0) |
           (is_apart ? FEW_APART : 0) | lacking;
}

/* weigh, or its answer from an earlier call. */
HLI_INLINE uint32_t answer(uint32_t word, hl_body body, size_t nmessages, unsigned shape)
{
    _Atomic uint32_t *const at = &answers[body][nmessages - 1][shape];
    uint32_t found = atomic_load_explicit(at, memory_order_relaxed);

    if (__builtin_expect(((found ^ word) & FEW_FROM) != 0, 0)) {
        found = weigh(word, body, (uint32_t)nmessages, shape);
        atomic_store_explicit(at, found, memory_order_relaxed);
    }
    return found;
}

const hl_kernel *hli_plan_whole(uint32_t word, hl_body body, size_t n, size_t nblocks, int is_known)
{
    const uint32_t found = answer(word, body, n, shape_of(nblocks, is_known, 1));
    const hl_kernel *kernel = &hli_rows[found >> FEW_ROW & 0xff].kernel;

    if ((found & FEW_APART) != 0)
        kernel = hli_single(word, body);
    else if (n > HLI_FEW && (found & FEW_LACKING) != 0)
        return NULL;
    return hli_row_of(kernel)->whole == NULL ? NULL : kernel;
}

/* The groups of one pass over n messages, whose answer is `found`. */
HLI_INLINE void make_groups(uint32_t word, hl_body body, size_t n, unsigned shape, uint32_t found,
                            struct hli_groups *groups)
{
    if ((found & FEW_APART) != 0) {
        groups->at[0] = (struct hli_group){hli_single(word, body), 0, (uint8_t)n, HLI_ONE};
        groups->n = 1;
        return;
    }
    unsigned ngroups = 0;
    for (size_t first = 0;; found = answer(word, body, n - first, shape)) {
        const hl_kernel *const kernel = &hli_rows[found >> FEW_ROW & 0xff].kernel;
        const size_t nlanes = kernel->nlanes, end = nlanes == 1 || n - first <= nlanes ? n : first + nlanes;
        const enum hli_how how = nlanes == 1 ? HLI_ONE : (found & FEW_WHOLE) != 0 ? HLI_WHOLE : HLI_BLOCKS;
        groups->at[ngroups++] = (struct hli_group){kernel, (uint8_t)first, (uint8_t)end, (uint8_t)how};
        first = end;
        if (first == n)
            break;
    }
    groups->n = ngroups;
}

/* ---- Few messages of any lengths --------------------------------------------------------------------------------- */

/* Time of all blocks if all messages go side by side and leave as they end. `nblocks` is sorted, the longest first. */
static uint64_t time_together(uint32_t word, hl_body body, const size_t nblocks[], size_t n)
{
    uint64_t time = 0;

    for (size_t left = n, done = 0; left > 0; left--) {
        if (nblocks[left - 1] == done)
            continue;
        const hl_kernel *kernel = hli_choose(word, body, left, 0);
        const size_t ncalls = left <= kernel->nlanes ? 1 : (left + kernel->nlanes - 1) / kernel->nlanes;
        time += (uint64_t)(nblocks[left - 1] - done) * ncalls * hli_cost(word, kernel);
        done = nblocks[left - 1];
    }
    return time;
}

/* Whether n messages (2 .. HLI_FEW) of these lengths take less time one by one than side by side. */
static int is_apart(const struct hli_plan *plan, const size_t nbytes[], size_t n)
{
    /* TOGETHER: ns that the driver and the first block of a kernel of lanes add. The table has the costs of long
     * messages: the first SHORT ns take up to a SHORT_SHARE-th more. */
    enum { TOGETHER = 90, SHORT = 1000, SHORT_SHARE = 6 };
    const hl_alg_info *first = plan->first.alg, *second = plan->second.alg;
    const uint32_t word = plan->choice;
    const size_t again = second == NULL ? 0 : hli_ending_nblocks(second, first->digest_nbytes);
    const uint64_t cost = hli_cost(word, hli_choose_one(word, hli_body(first)));
    const uint64_t cost_again = second == NULL ? 0 : again * hli_cost(word, hli_choose_one(word, hli_body(second)));
    size_t nblocks[HLI_FEW], sum = 0; /* the longest first */

    for (size_t i = 0; i < n; i++) {
        const size_t inserted = hli_padded_nblocks(first, nbytes[i]);
        size_t to = i;
        for (; to > 0 && nblocks[to - 1] < inserted; to--)
            nblocks[to] = nblocks[to - 1];
        nblocks[to] = inserted;
        sum += inserted;
    }
    /* Side by side, messages take at least the time of the longest. */
    if ((sum - nblocks[0]) * cost + (n - 1) * cost_again <= TOGETHER)
        return 1;
    uint64_t together = time_together(word, hli_body(first), nblocks, n);
    if (second != NULL)
        together += time_together(word, hli_body(second), (const size_t[HLI_FEW]){again, again, again, again}, n);
    return sum * cost + n * cost_again <= together + (together < SHORT ? together : SHORT) / SHORT_SHARE + TOGETHER;
}

/* Whether any two messages of up to PAIR_NBLOCKS blocks, padding included, go one by one. */
enum { PAIR_NBLOCKS = 2 };
static _Atomic uint32_t *pair_of(const hl_alg_info *alg)
{
    return &answers[hli_body(alg)][1][FEW_PAIR];
}

static uint32_t weigh_pair(uint32_t word, const hl_alg_info *alg)
{
    const hl_body body = hli_body(alg);
    const int has_known = body == HL_BODY_SHA1 || body == HL_BODY_SHA256; /* of 64 bytes (hli_known_schedule) */
    uint32_t found = FEW_APART;

    for (unsigned nblocks = 1; nblocks <= PAIR_NBLOCKS; nblocks++)
        for (int is_known = 0; is_known <= (has_known && nblocks == 2); is_known++)
            found &= weigh(word, body, 2, shape_of(nblocks, is_known, 1));
    atomic_store_explicit(pair_of(alg), found | (word & FEW_FROM), memory_order_relaxed);
    return found;
}

HLI_INLINE int is_short_pair(const hl_alg_info *alg, const hl_messages *all)
{
    const size_t longest = hli_longest_in_one_block(alg) + (PAIR_NBLOCKS - 1) * hli_block_nbytes(alg);

    return hli_message_at(all->layout, all, 0).nbytes <= longest &&
           hli_message_at(all->layout, all, 1).nbytes <= longest;
}

/* Not inlined, so that what follows needs no frame. */
static HLI_NOINLINE int plan_unknown_pair(const struct hli_plan *plan, const hl_messages *all)
{
    const hl_alg_info *alg = plan->first.alg, *again = plan->second.alg;
    const uint32_t found = weigh_pair(plan->choice, alg) &
                           (again == NULL ? FEW_APART : weigh_pair(plan->choice, again));

    return found != 0 && is_short_pair(alg, all);
}

int hli_plan_pair(const struct hli_plan *plan, const hl_messages *all)
{
    const hl_alg_info *alg = plan->first.alg, *again = plan->second.alg;
    const uint32_t word = plan->choice, found = atomic_load_explicit(pair_of(alg), memory_order_relaxed);
    const uint32_t found_again = again == NULL ? found : atomic_load_explicit(pair_of(again), memory_order_relaxed);

    if (__builtin_expect((((found ^ word) | (found_again ^ word)) & FEW_FROM) != 0, 0))
        return plan_unknown_pair(plan, all);
    return (found & found_again & FEW_APART) != 0 && is_short_pair(alg, all);
}

/* `layout` is a literal. */
HLI_INLINE void take_messages(unsigned layout, const hl_messages *all, struct hli_few *few, size_t *least, size_t *most,
                              uint8_t *digests, size_t stride)
{
    /* A copy: the compiler cannot know that stores to `few` leave *all unchanged. */
    const hl_messages messages = {.base = all->base, .stride = all->stride, .nbytes = all->nbytes};
    const size_t n = all->count;

    for (size_t i = 0; i < n; i++) {
        const hl_slice message = hli_message_at(layout, &messages, i);
        few->data[i] = message.data;
        few->nbytes[i] = message.nbytes;
        few->digests[i] = digests + i * stride;
        *least = message.nbytes < *least ? message.nbytes : *least;
        *most = message.nbytes > *most ? message.nbytes : *most;
    }
}

enum hli_way hli_plan_few(const struct hli_plan *plan, const hl_messages *all, uint8_t *digests, size_t stride,
                          struct hli_few *few)
{
    const struct hli_pass *pass = &plan->first;
    const hl_alg_info *alg = pass->alg, *again = plan->second.alg;
    const uint32_t word = plan->choice;
    const size_t n = all->count, most_whole = hli_may_be_whole(pass) ? hli_whole_nblocks(word, alg) : 0;
    size_t least = SIZE_MAX, most = 0;
    unsigned shape = FEW_SHAPES;
    uint32_t found = 0;

    if (n > HLI_FEW) { /* groups are unlikely if the first message is not for them */
        const size_t nblocks = hli_padded_nblocks(alg, hli_message_at(all->layout, all, 0).nbytes);
        if (nblocks > most_whole)
            return HLI_MANY;
        shape = shape_of(nblocks, 0, 1);
        found = answer(word, hli_body(alg), n, shape);
        if ((found & FEW_LACKING) != 0)
            return HLI_MANY;
    }
    if (all->layout == HL_ROWS)
        take_messages(HL_ROWS, all, few, &least, &most, digests, stride);
    else
        take_messages(HL_SLICES, all, few, &least, &most, digests, stride);
    const size_t nblocks = hli_padded_nblocks(alg, most);
    few->nblocks = nblocks;
    few->is_one_length = least == most;
    if (n > HLI_FEW && nblocks > most_whole)
        return HLI_MANY;
    if (least != most && hli_padded_nblocks(alg, least) != nblocks)
        return n <= HLI_FEW && is_apart(plan, few->nbytes, n) ? HLI_APART : HLI_MANY;
    few->schedule = least == most && pass->begin_nbytes == 0 ? hli_known_schedule(alg, most) : NULL;

    const unsigned before = shape;
    shape = shape_of(nblocks, few->schedule != NULL, nblocks <= most_whole);
    if (shape != before)
        found = answer(word, hli_body(alg), n, shape);
    if (again == NULL) {
        /* Each call of a kernel waits for a search of SEARCH ns, whose lanes one message or two leave empty. */
        enum { SEARCH = 170 };
        if (hli_finds_attacks(alg) && n > 2 && n <= HLI_FEW && nblocks <= 2) {
            const hl_kernel *const kernel = hli_choose(word, hli_body(alg), n, SEARCH);
            few->groups.at[0] = (struct hli_group){kernel, 0, (uint8_t)n, HLI_BLOCKS};
            few->groups.n = 1;
            if (kernel->nlanes >= n)
                return HLI_GROUPS;
        }
        if ((found & FEW_APART) != 0)
            return HLI_APART;
        make_groups(word, hli_body(alg), n, shape, found, &few->groups);
        return HLI_GROUPS;
    }
    few->nblocks_again = hli_ending_nblocks(again, alg->digest_nbytes);
    const int may_be_whole = hli_may_be_whole(&plan->second) && few->nblocks_again <= hli_whole_nblocks(word, again);
    const unsigned shape_again = shape_of(few->nblocks_again, 0, may_be_whole);
    const uint32_t found_again = answer(word, hli_body(again), n, shape_again);
    if ((found & found_again & FEW_APART) != 0)
        return HLI_APART;
    make_groups(word, hli_body(alg), n, shape, found, &few->groups);
    make_groups(word, hli_body(again), n, shape_again, found_again, &few->groups_again);
    return HLI_GROUPS;
}
