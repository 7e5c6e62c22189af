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
    switch (all->layout) {
    case HL_ROWS: return fetch_layout(HL_ROWS, alg, all, first, n, batch, at);
    case HL_OFFSETS32: return fetch_layout(HL_OFFSETS32, alg, all, first, n, batch, at);
    case HL_OFFSETS64: return fetch_layout(HL_OFFSETS64, alg, all, first, n, batch, at);
    default: return fetch_layout(HL_SLICES, alg, all, first, n, batch, at);
    }
}

/* Messages that are not finished yet. They stay when the window is refilled. */
struct window {
    union hli_state states[HLI_WINDOW];
    struct hli_item items[HLI_WINDOW];
    struct hli_ending endings[HLI_WINDOW]; /* items[i], endings[i] and states[i] belong to one message */
    size_t n;
};

static void join_window(const struct hli_pass *pass, struct window *window, const struct hli_batch *batch, size_t from)
{
    const hl_alg_info *alg = pass->alg;
    const size_t i = window->n++, nblocks = batch->shapes[from] >> 2, nwhole = nblocks << hli_block_shift(alg);
    const size_t nbytes = batch->nbytes[from], at = batch->at[from];

    hli_copy(&window->states[i], hli_begin_of(pass, at), hli_state_nbytes(alg));
    window->items[i] = (struct hli_item){&window->states[i], batch->data[from], nblocks};
    window->endings[i] = (struct hli_ending){&window->states[i], hli_after(batch->data[from], nwhole), nbytes - nwhole,
                                             pass->begin_nbytes + nbytes, at};
}

/* Advances the window, ends the finished messages, and moves the others to the front. */
static HLI_NOINLINE void run_window(struct hli_ends *ends, struct window *window, int more)
{
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
        window->states[nkept] = window->states[i];
        window->items[nkept] = window->items[i];
        window->endings[nkept] = window->endings[i];
        window->items[nkept].state = window->endings[nkept].state = &window->states[nkept];
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

        const size_t room = HLI_WINDOW - window.n - nkept, left = all->count - next, nnew = left < room ? left : room;
        const size_t n = nkept + nnew;
        const int more = nnew < left;
        int is_sorted = 0;

        kept_differ |= fetch(alg, all, next, nnew, &batch, nkept);
        next += nnew;
        if (kept_differ != 0) {
            for (size_t i = 0; i < n; i++)
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
                const int is_whole = wide_whole != NULL && (is_ending || shape == (1 << 2 | HLI_PADDING_ONLY));
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
    if (plan->is_secret) { /* the states are the only secrets in this frame; the rest is pointers and lengths */
        hli_wipe(&step.fresh.states, sizeof step.fresh.states);
        if (window_used)
            hli_wipe(&window.states, sizeof window.states);
    }
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

static void call_whole(const hl_kernel *kernel, const struct hli_pass *pass, unsigned nblocks, int is_one_length,
                       const uint8_t *const data[], const size_t nbytes[], size_t n, uint8_t *const digests[])
{
    const struct hli_whole whole = {pass->begin, (uint32_t)pass->begin_nbytes, nblocks, NULL, pass->alg->digest_nbytes,
                                    is_one_length};
    const uint8_t *each[HLI_LANES];
    uint8_t *to[HLI_LANES], idle[HL_DIGEST_MAX_NBYTES];
    size_t lengths[HLI_LANES];

    for (size_t l = 0; l < kernel->nlanes; l++) { /* idle lanes hash the first message */
        each[l] = data[l < n ? l : 0];
        lengths[l] = nbytes[l < n ? l : 0];
        to[l] = l < n ? digests[l] : idle;
    }
    hli_whole_of(kernel)(&whole, each, lengths, to);
}

/* Not inlined, so that the stack below the caller's frame is all that has to be burned. */
HLI_NOINLINE size_t hli_hash_whole_few(const struct hli_plan *plan, const hl_messages *all)
{
    const struct hli_pass *first = &plan->first, *second = &plan->second;
    const size_t n = all->count, longest = hli_longest_in_one_block(first->alg);
    const uint8_t *data[HLI_FEW];
    uint8_t inner[HLI_FEW][HL_DIGEST_MAX_NBYTES], *to[HLI_FEW], *digests[HLI_FEW];
    size_t nbytes[HLI_FEW], least = SIZE_MAX, most = 0;
    const hl_kernel *again = NULL;

    if (first->begin_stride != 0 || first->begin_nbytes >= HLI_WHOLE_BEFORE_NBYTES ||
        (second->alg != NULL && (second->begin_stride != 0 || second->begin_nbytes >= HLI_WHOLE_BEFORE_NBYTES)))
        return 0;
    for (size_t i = 0; i < n; i++) {
        const hl_slice message = hli_message_at(all->layout, all, i);
        data[i] = message.data;
        nbytes[i] = message.nbytes;
        least = message.nbytes < least ? message.nbytes : least;
        most = message.nbytes > most ? message.nbytes : most;
        digests[i] = plan->digests + i * plan->digest_stride;
        to[i] = second->alg == NULL ? digests[i] : inner[i];
    }
    if (most > longest && (least <= longest || most > longest + first->alg->block_nbytes))
        return 0;
    const unsigned nblocks = most > longest ? 2 : 1;
    const unsigned nagain = second->alg == NULL ? 0 : hli_ending_nblocks(second->alg, first->alg->digest_nbytes);
    const hl_kernel *kernel = hli_choose_whole_few(plan->choice, first->alg->body, n, nblocks);
    if (kernel != NULL && second->alg != NULL)
        again = hli_choose_whole_few(plan->choice, second->alg->body, n, nagain);
    if (kernel == NULL || (second->alg != NULL && again == NULL))
        return 0;
    call_whole(kernel, first, nblocks, least == most, data, nbytes, n, to);
    if (second->alg != NULL) {
        for (size_t i = 0; i < n; i++) {
            data[i] = inner[i];
            nbytes[i] = first->alg->digest_nbytes;
        }
        call_whole(again, second, nagain, 1, data, nbytes, n, digests);
    }
    const size_t own = 1280, of_first = hli_stack_of(kernel), of_second = again == NULL ? 0 : hli_stack_of(again);
    return own + (of_first > of_second ? of_first : of_second);
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

void hli_hash_together(const struct hli_plan *plan, const hl_messages *all)
{
    hash_all(plan, hli_kernel(plan, &plan->first, all->count), all);
}

void hli_hash(const struct hli_plan *plan, const hl_messages *all)
{
    const int may_choose = all->count > 1 && all->count <= HLI_FEW && plan->forced == NULL;

    const size_t used = may_choose && all->count > 2 ? hli_hash_whole_few(plan, all) : 0;
    if (used != 0) {
        if (plan->is_secret)
            hli_burn(used);
        return;
    }
    const int is_few = all->count == 1 || (may_choose && is_apart(plan, all));
    const hl_kernel *kernel = hli_kernel(plan, &plan->first, is_few ? 1 : all->count);

    if (!is_few && kernel->nlanes > 1) {
        hash_all(plan, kernel, all);
        return;
    }
    hash_apart(plan, kernel, all);
    hli_forget(plan, 1, kernel);
}
