/* hash.c: whole messages: each goes in step with others of its shape, or through a window of all lengths.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Rows, and the common case of many short messages, fill all lanes in step (step.c). All others wait in a window on the
 * stack, the longest first (ragged.c). The window is refilled while long messages go on. Endings are collected and
 * hashed with full lanes (lanes.c).
 */
#include "one.h"

enum { SHORT_NBLOCKS = 2 };

static void move_message(struct hli_batch *batch, size_t to, size_t from)
{
    batch->data[to] = batch->data[from];
    batch->nbytes[to] = batch->nbytes[from];
    batch->shapes[to] = batch->shapes[from];
    batch->at[to] = batch->at[from];
}

/* batch[at .. at + n - 1] = messages first .. first + n - 1 of `all`. Returns 0 if they have the shape of batch[0].
 * `layout` is a literal. */
HLI_INLINE size_t fetch_layout(unsigned layout, const hl_alg_info *alg, const hl_messages *all, size_t first,
                               size_t n, struct hli_batch *batch, size_t at)
{
    size_t differ = 0;

    for (size_t i = 0; i < n; i++) {
        const hl_slice message = hli_message_at(layout, all, first + i);
        __builtin_prefetch(message.data);
        batch->data[at + i] = message.data;
        batch->nbytes[at + i] = message.nbytes;
        batch->shapes[at + i] = hli_shape_of(alg, message.nbytes);
        batch->at[at + i] = first + i;
        differ |= batch->shapes[at + i] ^ batch->shapes[0];
    }
    return differ;
}

static size_t fetch(const hl_alg_info *alg, const hl_messages *all, size_t first, size_t n,
                    struct hli_batch *batch, size_t at)
{
    return all->layout == HL_ROWS ? fetch_layout(HL_ROWS, alg, all, first, n, batch, at)
                                  : fetch_layout(HL_SLICES, alg, all, first, n, batch, at);
}

/* A state of up to eight words, as all are but SHA-3's. */
enum { NARROW_NBYTES = 64 };

/* Bytes from one state of a window to the next. */
static size_t state_room(const hl_alg_info *alg)
{
    const size_t nbytes = hli_state_nbytes(alg);

    return nbytes <= NARROW_NBYTES ? (size_t)NARROW_NBYTES : nbytes;
}

/* Messages that are not finished yet. They stay when the window is refilled. */
struct window {
    uint64_t states[HLI_WINDOW * NARROW_NBYTES / 8]; /* side by side, state_room(alg) bytes each */
    struct hli_item items[HLI_WINDOW];
    struct hli_ending endings[HLI_WINDOW]; /* items[i], endings[i] and states[i] belong to one message */
    size_t n;
};

/* Number of messages that a window has room for. */
static size_t window_room(const hl_alg_info *alg)
{
    const size_t nbytes = state_room(alg);

    return nbytes == NARROW_NBYTES ? (size_t)HLI_WINDOW : sizeof((struct window *)NULL)->states / nbytes;
}

static void *window_state(const hl_alg_info *alg, struct window *window, size_t i)
{
    return (uint8_t *)window->states + i * state_room(alg);
}

static void join_window(const struct hli_pass *pass, struct window *window, const struct hli_batch *batch, size_t from)
{
    const hl_alg_info *alg = pass->alg;
    const size_t i = window->n++, nblocks = batch->shapes[from] >> 2, nwhole = nblocks * alg->block_nbytes;
    const size_t nbytes = batch->nbytes[from], at = batch->at[from];

    void *const state = window_state(alg, window, i);

    hli_copy(state, hli_begin_of(pass, at), hli_state_nbytes(alg));
    window->items[i] = (struct hli_item){state, batch->data[from], nblocks};
    window->endings[i] = (struct hli_ending){state, hli_after(batch->data[from], nwhole), nbytes - nwhole,
                                             pass->begin_nbytes + nbytes, at};
}

/* Advances the window, ends the finished messages, and moves the others to the front. */
static HLI_NOINLINE void run_window(struct hli_ends *ends, struct window *window, int more)
{
    const hl_alg_info *alg = ends->plan->first.alg;
    const struct hli_ending *done[HLI_WINDOW];
    size_t ndone = 0, nkept = 0;

    hli_advance(ends->plan, window->items, window->n, more);
    for (size_t i = 0; i < window->n; i++)
        if (window->items[i].nblocks == 0)
            done[ndone++] = &window->endings[i];
    hli_finish(ends, done, ndone);
    for (size_t i = 0; i < window->n; i++) {
        if (window->items[i].nblocks == 0)
            continue;
        void *const state = window_state(alg, window, nkept);
        if (nkept != i)
            hli_copy(state, window_state(alg, window, i), state_room(alg));
        window->items[nkept] = window->items[i];
        window->endings[nkept] = window->endings[i];
        window->items[nkept].state = window->endings[nkept].state = state;
        nkept++;
    }
    window->n = nkept;
}

/* Sorts the first n of `batch`: messages of one shape side by side, the longest first. */
static void sort_batch(struct hli_batch *batch, size_t n)
{
    uint8_t from[HLI_WINDOW]; /* from[i]: the place of the message that belongs in place i; i once the message is there
                               */

    hli_sort(batch->shapes, n, from);
    for (size_t i = 0; i < n; i++) {
        if (from[i] == i)
            continue;
        const uint8_t *const data = batch->data[i];
        const size_t nbytes = batch->nbytes[i], shape = batch->shapes[i], at = batch->at[i];
        size_t to = i;
        for (size_t next; (next = from[to]) != i; to = next) {
            move_message(batch, to, next);
            from[to] = (uint8_t)to;
        }
        from[to] = (uint8_t)to;
        batch->data[to] = data;
        batch->nbytes[to] = nbytes;
        batch->shapes[to] = shape;
        batch->at[to] = at;
    }
}

/* `wide` is the best kernel for all messages if they are long. */
static HLI_NOINLINE void hash_all(const struct hli_plan *plan, const hl_kernel *wide, const hl_messages *all)
{
    const struct hli_pass *pass = &plan->first;
    const hl_alg_info *alg = pass->alg;
    const hl_kernel *wide_short = NULL;
    const hl_kernel *const wide_whole = hli_kernel_whole(plan, pass, all->count, wide);
    const size_t whole_nblocks = wide_whole == NULL ? 0 : hli_whole_nblocks(plan->choice | wide_whole->isas);
    const size_t capacity = window_room(alg);
    struct hli_ends ends;
    struct hli_step step;
    struct window window;
    struct hli_batch batch;
    size_t next = 0, nkept = 0, kept_differ = 0; /* batch[0 .. nkept - 1] wait for others of their shape */
    int window_used = 0;

    hli_ends_init(&ends, plan, all->count, wide);
    hli_step_init(&step);
    window.n = 0;
    while (next < all->count || window.n > 0) {
        if (wide_whole != NULL) { /* also after messages of other shapes */
            next += hli_hash_whole(&ends, wide_whole, &step, all, next);
            if (next == all->count && nkept == 0 && window.n == 0)
                break;
        }
        /* For fewer messages the change of kernel does not pay: the ones left over at the end would cost what the
         * others gain. A choice takes 20 to 35 ns. */
        if (wide_short == NULL)
            wide_short = all->count > HLI_WINDOW ? hli_kernel_short(plan, pass) : wide;

        const size_t room = capacity - window.n - nkept, left = all->count - next, nnew = left < room ? left : room;
        const size_t n = nkept + nnew;
        const int more = nnew < left;
        int is_sorted = 0;

        kept_differ |= fetch(alg, all, next, nnew, &batch, nkept);
        next += nnew;
        if (kept_differ != 0) {
            for (size_t i = 0; !hli_is_sponge(alg) && i < n; i++)
                if (batch.shapes[i] == (1 << 2 | HLI_PADDING_ONLY)) /* too few for a padding block of their own */
                    batch.shapes[i] = HLI_TWO_BLOCKS;
            sort_batch(&batch, n);
            is_sorted = 1;
        }

        /* Runs of one shape go in step, as long as they fill all lanes. A leftover message that is nothing but an
         * ending waits for more of its kind; any other leftover joins the window. */
        nkept = kept_differ = 0;
        for (size_t i = 0, end; i < n; i = end) {
            const size_t shape = batch.shapes[i];
            end = is_sorted ? i + 1 : n;
            while (end < n && batch.shapes[end] == shape)
                end++;
            const int is_ending = shape >> 2 == 0;
            const int nothing_else = !more && (is_ending || (end - i == n && window.n == 0));
            while (i < end) {
                const int is_short = is_ending || (shape >> 2 <= SHORT_NBLOCKS && end - i >= wide_short->nlanes);
                const int is_whole = wide_whole != NULL && hli_shape_nblocks(shape) <= whole_nblocks;
                const hl_kernel *const best = is_whole ? wide_whole : is_short ? wide_short : wide;
                if (end - i < best->nlanes && !nothing_else)
                    break;
                const int fits = end - i > HLI_LANES || end - i == all->count || (end - i) % best->nlanes == 0;
                i += hli_hash_in_step(&ends, fits ? best : hli_kernel(plan, pass, end - i), &step, &batch, i, end);
            }
            for (; i < end; i++) {
                if (!is_ending) {
                    join_window(pass, &window, &batch, i);
                    continue;
                }
                move_message(&batch, nkept++, i); /* never overwrites a message still to come: nkept <= i */
                kept_differ |= shape ^ batch.shapes[0];
            }
        }
        if (window.n > 0) {
            run_window(&ends, &window, more);
            window_used = 1;
        }
    }
    hli_ends_close(&ends);
    if (plan->is_secret && window_used) /* the only secrets in this frame; the rest is pointers and lengths */
        hli_wipe(&window.states, sizeof window.states);
    hli_forget(plan, all->count, wide);
}

/* One message after the other. */
static HLI_NOINLINE void hash_apart(const struct hli_plan *plan, const hl_kernel *kernel, const hl_messages *all)
{
    const struct hli_pass *pass = &plan->first;
    uint8_t inner[HL_DIGEST_MAX_NBYTES];

    for (size_t i = 0; i < all->count; i++) {
        const hl_slice message = hli_message_at(all->layout, all, i);
        hli_hash_one(kernel, pass->alg, hli_begin_of(pass, i), pass->begin_nbytes, message.data, message.nbytes,
                     hli_digest_one(plan, i, inner));
        hli_again_one(plan, i, inner);
    }
}

/* Messages of equally many blocks, taken out of their layout, with room for idle lanes behind them. */
struct few {
    const uint8_t *data[HLI_QUEUE];
    size_t nbytes[HLI_QUEUE], nblocks;
    uint8_t *digests[HLI_QUEUE];
    int is_one_length;
    const void *schedule; /* of their last block, if it is known */
};

/* `layout` is a literal. Digests are stride bytes apart. */
HLI_INLINE void fill_few(unsigned layout, const hl_messages *all, struct few *few, size_t *least, size_t *most,
                         uint8_t *digests, size_t stride)
{
    for (size_t i = 0; i < all->count; i++) {
        const hl_slice message = hli_message_at(layout, all, i);
        few->data[i] = message.data;
        few->nbytes[i] = message.nbytes;
        few->digests[i] = digests + i * stride;
        *least = message.nbytes < *least ? message.nbytes : *least;
        *most = message.nbytes > *most ? message.nbytes : *most;
    }
}

/* Messages first .. end - 1 by a kernel's function for whole messages. */
static HLI_NOINLINE void hash_whole(const hl_kernel *kernel, hli_whole_fn *function, const struct hli_pass *pass,
                                    struct few *few, size_t first, size_t end)
{
    const void *schedule = kernel->scheduled == NULL ? NULL : few->schedule;
    const struct hli_whole whole = {pass->begin, (uint32_t)pass->begin_nbytes,
                                    (uint32_t)few->nblocks - (schedule != NULL), schedule, pass->alg->digest_nbytes,
                                    few->is_one_length, pass->alg->block_nbytes, pass->alg->suffix};
    uint8_t idle[HL_DIGEST_MAX_NBYTES];

    for (size_t at = end; at < first + kernel->nlanes; at++) { /* idle lanes hash the first message */
        few->data[at] = few->data[first];
        few->nbytes[at] = few->nbytes[first];
        few->digests[at] = idle;
    }
    function(&whole, few->data + first, few->nbytes + first, few->digests + first);
}

/* The same by any kernel of several lanes: their last two blocks are copied, with the padding, or all share it. */
static HLI_NOINLINE void hash_abreast(const hl_kernel *kernel, const struct hli_pass *pass, struct hli_edges edges,
                                      const struct few *few, size_t first, size_t end)
{
    const hl_alg_info *alg = pass->alg;
    const int is_shared = few->is_one_length && hli_rest_of_block(alg, few->nbytes[0]) == 0;
    const unsigned nlanes = kernel->nlanes, n = (unsigned)(end - first), npadded = is_shared ? 1 : n;
    const unsigned nlast = is_shared || few->nblocks == 1 || hli_is_sponge(alg) ? 1 : 2;
    const size_t nwhole = (few->nblocks - nlast) * alg->block_nbytes;
    union hli_lane_states states;
    struct hli_tails tails;
    const uint8_t *msg[HLI_LANES], *rests[HLI_LANES];
    size_t nrests[HLI_LANES];
    unsigned l = 0;

    do { /* idle lanes work on the first message */
        const size_t at = l < n ? first + l : first;
        hli_load_lane(alg, &states, nlanes, l, hli_begin_of(pass, at));
        msg[l] = few->data[at];
        rests[l] = hli_after(few->data[at], nwhole);
        nrests[l] = few->nbytes[at] - nwhole;
    } while (++l < nlanes);
    if (nwhole != 0)
        hli_advance_lanes(kernel, alg, &states, msg, few->nblocks - nlast);
    edges.pad(alg, nlast, rests, nrests, pass->begin_nbytes + nwhole, npadded, tails.bytes);
    hli_point_at_tails(alg, &tails, nlanes, npadded, msg);
    hli_advance_lanes(kernel, alg, &states, msg, nlast);
    hli_write_digests(edges, kernel, alg, &states, n, few->digests + first);
}

/* The next call for one hash of few messages: a kernel, and its function for whole messages or NULL. */
struct few_call {
    const hl_kernel *kernel;
    hli_whole_fn *whole;
};

HLI_INLINE struct few_call choose_call(uint32_t choice, const struct hli_pass *pass, size_t n, size_t nblocks,
                                       int is_known, int is_first)
{
    const int may_be_whole = hli_may_be_whole(pass);
    struct few_call call;

    call.kernel = hli_choose_few(choice, pass->alg->body, n, nblocks, is_known, may_be_whole, is_first, &call.whole);
    return call;
}

/* One hash of n messages, in groups that take the least time each; `call` is for the first. Returns an upper bound of
 * the stack. */
static HLI_NOINLINE size_t hash_groups(const struct hli_plan *plan, const struct hli_pass *pass, struct few *few,
                                       size_t n, struct few_call call)
{
    enum { OWN = 160, WHOLE = 160, ABREAST = 4480 }; /* frames */
    size_t most = 0;

    for (size_t first = 0;;) {
        const hl_kernel *const kernel = call.kernel;
        const size_t nlanes = kernel->nlanes;
        const size_t frame = call.whole != NULL ? WHOLE : nlanes == 1 ? (size_t)HLI_ONE_NBYTES : ABREAST;
        const size_t stack = hli_stack_of(kernel) + frame + OWN;
        const size_t end = n - first < nlanes ? n : first + nlanes;
        if (call.whole != NULL)
            hash_whole(kernel, call.whole, pass, few, first, end);
        else if (nlanes == 1)
            hli_hash_one(kernel, pass->alg, hli_begin_of(pass, first), pass->begin_nbytes, few->data[first],
                         few->nbytes[first], few->digests[first]);
        else
            hash_abreast(kernel, pass, hli_choose_edges(plan->choice), few, first, end);
        first = end;
        most = stack > most ? stack : most;
        if (first == n)
            return most;
        call = choose_call(plan->choice, pass, n - first, few->nblocks, few->schedule != NULL, 0);
    }
}

HLI_NOINLINE int hli_hash_few(const struct hli_plan *plan, const hl_messages *all)
{
    const struct hli_pass *pass = &plan->first;
    const hl_alg_info *alg = pass->alg, *again = plan->second.alg;
    const size_t n = all->count, nagain = again == NULL ? 0 : hli_ending_nblocks(again, alg->digest_nbytes);
    uint8_t inner[HLI_SHORT * HL_DIGEST_MAX_NBYTES];
    uint8_t *const digests = again == NULL ? plan->digests : inner;
    const size_t stride = again == NULL ? plan->digest_stride : (size_t)HL_DIGEST_MAX_NBYTES;
    struct few few;
    size_t least = SIZE_MAX, most = 0, stack_again = 0;

    if (all->layout == HL_ROWS)
        fill_few(HL_ROWS, all, &few, &least, &most, digests, stride);
    else
        fill_few(HL_SLICES, all, &few, &least, &most, digests, stride);
    few.nblocks = hli_padded_nblocks(alg, most);
    few.is_one_length = least == most;
    if ((n > HLI_FEW && few.nblocks > hli_whole_nblocks(plan->choice)) ||
        (least != most && hli_padded_nblocks(alg, least) != few.nblocks))
        return 0;
    few.schedule = least == most && pass->begin_nbytes == 0 ? hli_known_schedule(alg, most) : NULL;

    /* Both are chosen before the first hash, as the second one waits for its result. */
    const struct few_call call = choose_call(plan->choice, pass, n, few.nblocks, few.schedule != NULL, 1);
    const struct few_call call_again =
        again == NULL ? call : choose_call(plan->choice, &plan->second, n, nagain, 0, 1);
    if (call.kernel->nlanes == 1 && call_again.kernel->nlanes == 1) { /* best for all of them, then */
        hash_apart(plan, call.kernel, all);
        hli_forget(plan, 1, call.kernel);
        return 1;
    }
    if (call.whole != NULL && n <= call.kernel->nlanes && again == NULL && !plan->is_secret) {
        hash_whole(call.kernel, call.whole, pass, &few, 0, n);
        return 1;
    }
    const size_t stack = hash_groups(plan, pass, &few, n, call);
    if (again != NULL) {
        for (size_t i = 0; i < n; i++) {
            few.data[i] = inner + i * stride;
            few.nbytes[i] = alg->digest_nbytes;
            few.digests[i] = plan->digests + i * plan->digest_stride;
        }
        few.nblocks = nagain;
        few.is_one_length = 1;
        few.schedule = NULL;
        stack_again = hash_groups(plan, &plan->second, &few, n, call_again);
    }
    if (plan->is_secret) { /* the digests are the only secrets in this frame; the rest is pointers and lengths */
        if (again != NULL)
            hli_wipe(inner, n * stride);
        hli_burn(stack > stack_again ? stack : stack_again);
    }
    return 1;
}

/* Time of all blocks, those of equally long messages side by side. `nblocks` is sorted, the longest first. */
static uint64_t time_together(uint32_t choice, hl_body body, const size_t nblocks[], size_t n)
{
    uint64_t time = 0;

    for (size_t left = n, done = 0; left > 0; left--) {
        if (nblocks[left - 1] == done)
            continue;
        const hl_kernel *kernel = hli_choose(choice, body, left, 0);
        const size_t ncalls = left <= kernel->nlanes ? 1 : (left + kernel->nlanes - 1) / kernel->nlanes;
        time += (uint64_t)(nblocks[left - 1] - done) * ncalls * hli_cost(choice, kernel);
        done = nblocks[left - 1];
    }
    return time;
}

int hli_is_apart(uint32_t choice, const hl_alg_info *first, const hl_alg_info *second, size_t nblocks[], size_t n)
{
    /* TOGETHER: ns that the driver and the first block of a kernel of lanes add. The table's costs are those of long
     * messages; the first SHORT ns of short ones take up to a SHORT_SHARE-th more. */
    enum { TOGETHER = 90, SHORT = 1000, SHORT_SHARE = 6 };
    const size_t again = second == NULL ? 0 : hli_ending_nblocks(second, first->digest_nbytes);
    const uint64_t cost = hli_cost(choice, hli_choose_one(choice, first->body));
    const uint64_t cost_again = second == NULL ? 0 : again * hli_cost(choice, hli_choose_one(choice, second->body));
    size_t sum = nblocks[0];

    for (size_t i = 1; i < n; i++) {
        const size_t inserted = nblocks[i];
        size_t to = i;
        for (; to > 0 && nblocks[to - 1] < inserted; to--)
            nblocks[to] = nblocks[to - 1];
        nblocks[to] = inserted;
        sum += inserted;
    }
    /* No kernel does several messages in less than the time of the longest. */
    if ((sum - nblocks[0]) * cost + (n - 1) * cost_again <= TOGETHER)
        return 1;
    uint64_t together = time_together(choice, first->body, nblocks, n);
    if (second != NULL)
        together += time_together(choice, second->body, (const size_t[HLI_FEW]){again, again, again, again}, n);
    return sum * cost + n * cost_again <= together + (together < SHORT ? together : SHORT) / SHORT_SHARE + TOGETHER;
}

/* Whether a few messages go one after the other. */
static int is_apart(const struct hli_plan *plan, const hl_messages *all)
{
    const hl_alg_info *alg = plan->first.alg;
    size_t nblocks[HLI_FEW];

    for (size_t i = 0; i < all->count; i++)
        nblocks[i] = hli_padded_nblocks(alg, hli_message_at(all->layout, all, i).nbytes);
    return hli_is_apart(plan->choice, alg, plan->second.alg, nblocks, all->count);
}

/* Whether up to HLI_SHORT messages may fill a function for whole ones, by the first message and the lanes. */
static int may_group(const struct hli_plan *plan, const hl_messages *all)
{
    const hl_alg_info *alg = plan->first.alg;

    return all->count <= HLI_SHORT && plan->first.begin_stride == 0 &&
           hli_padded_nblocks(alg, hli_message_at(all->layout, all, 0).nbytes) <= hli_whole_nblocks(plan->choice) &&
           hli_has_whole(plan->choice, alg->body, all->count);
}

/* Whether two messages are so short that it is known, without weighing, that they go one after the other. */
static int is_short_pair(const struct hli_plan *plan, const hl_messages *all)
{
    const hl_alg_info *alg = plan->first.alg, *again = plan->second.alg;
    const size_t longest = hli_longest_in_one_block(alg) + (HLI_PAIR_NBLOCKS - 1) * alg->block_nbytes;

    return hli_is_pair_apart(plan->choice, alg->body) &&
           (again == NULL || hli_is_pair_apart(plan->choice, again->body)) &&
           hli_message_at(all->layout, all, 0).nbytes <= longest &&
           hli_message_at(all->layout, all, 1).nbytes <= longest;
}

void hli_hash(const struct hli_plan *plan, const hl_messages *all)
{
    const int may_choose = all->count > 1 && plan->forced == NULL;

    if (may_choose && all->count == 2 && is_short_pair(plan, all)) {
        const hl_kernel *kernel = hli_choose_one(plan->choice, plan->first.alg->body);
        hash_apart(plan, kernel, all);
        hli_forget(plan, 1, kernel);
        return;
    }
    if (may_choose && (all->count <= HLI_FEW || may_group(plan, all)) && hli_hash_few(plan, all))
        return;
    const int is_few = all->count == 1 || (may_choose && all->count <= HLI_FEW && is_apart(plan, all));
    const hl_kernel *kernel = hli_kernel(plan, &plan->first, is_few ? 1 : all->count);

    if (!is_few && kernel->nlanes > 1) {
        hash_all(plan, kernel, all);
        return;
    }
    hash_apart(plan, kernel, all);
    hli_forget(plan, 1, kernel);
}
