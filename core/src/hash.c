/* hash.c: whole messages: a few by few.c, rows in step, others through a window.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Rows and many short messages fill all lanes in step: messages with equally
 * many blocks begin, advance and end together, and their states stay in the kernel's layout. All others wait in a
 * window on the stack, the longest first (ragged.c). The window is refilled while long messages go on. Endings are
 * collected and hashed with full lanes (lanes.c).
 */
#include "lanes.h"

enum { SHORT_NBLOCKS = 2 };

/* ---- In step --------------------------------------------------------------------------------------------------- */

/* Messages as four columns, the form that kernels and padding functions take. */
struct batch {
    const uint8_t *data[HLI_WINDOW];
    size_t nbytes[HLI_WINDOW];
    size_t shapes[HLI_WINDOW];
    size_t at[HLI_WINDOW]; /* the message's index in the call */
};

/* The padding that one step makes and the next may share. padded_nbytes is UINT64_MAX before the first step. */
struct step {
    uint64_t padded_nbytes;       /* length of the messages that the padding below ends */
    uint8_t padding[176];         /* the ending of every message of padded_nbytes, which is a whole number of blocks */
    int has_schedule;
    uint64_t schedule[80];        /* the padding's message schedule */
};

/* Makes step->padding the ending of messages of ndone bytes, whole blocks, and returns the padding's schedule, or NULL.
 * A schedule takes 90 to 150 ns to make. It saves a third of a step of SHA-2 in lanes, less of other steps, and nothing
 * over Intel's SHA instructions. `pays`: enough messages will use a new schedule. */
static const void *shared_padding(struct step *step, const hl_alg_info *alg, const hl_kernel *kernel,
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
    if (kernel->scheduled == NULL || hli_finds_attacks(alg) || !(step->has_schedule || pays))
        return NULL;
    if (!step->has_schedule)
        hli_schedule(hli_body(alg), step->padding, step->schedule);
    step->has_schedule = 1;
    return step->schedule;
}

/* `layout` is a literal. */
HLI_INLINE size_t hash_whole_layout(unsigned layout, struct hli_ends *ends, const hl_kernel *kernel,
                                    struct step *step, const hl_messages *all, size_t first)
{
    const struct hli_plan *plan = ends->plan;
    const struct hli_pass *pass = &plan->first;
    const hl_alg_info *alg = pass->alg;
    hli_whole_fn *const function = hli_whole_of(kernel);
    const unsigned nlanes = kernel->nlanes;
    const size_t most_nblocks = hli_whole_nblocks(plan->choice | kernel->isas, alg);
    union hli_lane_states states;
    struct hli_tails tails;
    struct hli_whole whole;
    const uint8_t *data[HLI_LANES];
    uint8_t *digests[HLI_LANES], *const *to = digests;
    size_t nbytes[HLI_LANES], at[HLI_LANES], next = first, described = SIZE_MAX;
    /* The second hash follows at once if it has a function for as many whole messages and no digest waits. */
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
            if (all->count - next >= 3 * (size_t)nlanes) /* the hardware prefetches rows itself */
                for (unsigned l = 0; l < nlanes; l++)
                    __builtin_prefetch(hli_message_at(layout, all, next + 2 * (size_t)nlanes + l).data);
        }
        if (layout != HL_ROWS || next == first) {
            const size_t nblocks = hli_padded_nblocks(alg, most);
            const int is_one_length = least == most, is_block = is_one_length && most == hli_block_nbytes(alg);
            const size_t description = nblocks << 2 | (size_t)is_one_length << 1 | (size_t)is_block;
            if (nblocks > most_nblocks || (!is_one_length && hli_padded_nblocks(alg, least) != nblocks))
                break;
            if (description != described)
                whole = hli_describe(pass, nblocks, is_one_length,
                                     is_block ? shared_padding(step, alg, kernel, pass->begin_nbytes + most,
                                                               all->count - next >= HLI_SHARED)
                                              : NULL);
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

/* Not inlined, likewise hash_in_step: its frame is not on the stack while the window runs. */
static HLI_NOINLINE size_t hash_wholes(struct hli_ends *ends, const hl_kernel *kernel, struct step *step,
                                   const hl_messages *all, size_t first)
{
    return all->layout == HL_ROWS ? hash_whole_layout(HL_ROWS, ends, kernel, step, all, first)
                                  : hash_whole_layout(HL_SLICES, ends, kernel, step, all, first);
}

static HLI_NOINLINE unsigned hash_in_step(struct hli_ends *ends, const hl_kernel *kernel, struct step *step,
                                          const struct batch *batch, size_t first, size_t end, size_t shape)
{
    const struct hli_pass *pass = &ends->plan->first;
    const hl_alg_info *alg = pass->alg;
    const unsigned nlanes = kernel->nlanes, n = end - first < nlanes ? (unsigned)(end - first) : nlanes;
    const size_t nblocks = shape >> 2, nwhole = nblocks * hli_block_nbytes(alg);
    const uint64_t ndone = pass->begin_nbytes + nwhole;
    const enum hli_ending_kind kind = shape & 3;
    const unsigned nlast = kind == HLI_TWO_BLOCKS ? 2 : 1;
    const uint8_t *const *data = batch->data + first;
    const size_t *nbytes = batch->nbytes + first;
    union hli_lane_states states;
    struct hli_tails tails;
    const uint8_t *msg[HLI_LANES];
    size_t nrests[HLI_LANES];
    const void *schedule = NULL;

    if (n == nlanes && hli_whole_of(kernel) != NULL &&
        hli_shape_nblocks(shape) <= hli_whole_nblocks(ends->plan->choice | kernel->isas, alg) &&
        hli_may_be_whole(pass)) {
        const int is_one_length = kind == HLI_PADDING_ONLY;
        const void *const of_padding =
            is_one_length && nblocks == 1 ? shared_padding(step, alg, kernel, ndone, end - first >= HLI_SHARED) : NULL;
        const struct hli_whole whole = hli_describe(pass, hli_shape_nblocks(shape), is_one_length, of_padding);
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
            msg[l] = data[l] + nwhole;
            nrests[l] = nbytes[l] - nwhole;
        }
        data = msg; /* until the padding is made */
        nbytes = nrests;
    }

    if (kind == HLI_PADDING_ONLY) {
        schedule = shared_padding(step, alg, kernel, ndone, first + n < end && end - first >= HLI_SHARED);
        for (unsigned l = 0; l < nlanes; l++)
            msg[l] = step->padding;
    } else {
        ends->edges.pad(alg, nlast, data, nbytes, ndone, n, tails.bytes);
        hli_point_at_tails(alg, &tails, nlanes, n, msg);
    }
    hli_end_lanes(ends, kernel, &states, &tails, msg, nlast, schedule, batch->at + first, n);
    return n;
}

/* ---- Any lengths ------------------------------------------------------------------------------------------------- */

static void move_message(struct batch *batch, size_t to, size_t from)
{
    batch->data[to] = batch->data[from];
    batch->nbytes[to] = batch->nbytes[from];
    batch->shapes[to] = batch->shapes[from];
    batch->at[to] = batch->at[from];
}

/* batch[at .. at + n - 1] = messages first .. first + n - 1 of `all`. Returns 0 if they have the shape of batch[0].
 * `layout` is a literal. */
HLI_INLINE size_t fetch_layout(unsigned layout, const hl_alg_info *alg, const hl_messages *all, size_t first,
                               size_t n, struct batch *batch, size_t at)
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
                    struct batch *batch, size_t at)
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

static void join_window(const struct hli_pass *pass, struct window *window, const struct batch *batch, size_t from)
{
    const hl_alg_info *alg = pass->alg;
    const size_t i = window->n++, nblocks = batch->shapes[from] >> 2, nwhole = nblocks * hli_block_nbytes(alg);
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
    size_t nkept = 0;

    hli_advance(ends->plan, window->items, window->n, more);
    hli_finish(ends, window->endings, window->items, window->n);
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
static void sort_batch(struct batch *batch, size_t n)
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

/* Messages of any lengths. `wide`: the best kernel for this number of long messages. */
static HLI_NOINLINE void hash_window(const struct hli_plan *plan, const hl_kernel *wide, const hl_messages *all)
{
    const struct hli_pass *pass = &plan->first;
    const hl_alg_info *alg = pass->alg;
    const hl_kernel *wide_short = NULL;
    const hl_kernel *const wide_whole = hli_kernel_whole(plan, pass, all->count, wide);
    const size_t whole_nblocks = wide_whole == NULL ? 0 : hli_whole_nblocks(plan->choice | wide_whole->isas, alg);
    const size_t capacity = window_room(alg);
    struct hli_ends ends;
    struct step step;
    struct batch batch;
    struct window window; /* stays unused if all messages have one length and fit */
    size_t next = 0, nkept = 0, kept_differ = 0; /* batch[0 .. nkept - 1] wait for others of their shape */
    int window_used = 0;

    hli_ends_init(&ends, plan, all->count, wide);
    step.padded_nbytes = UINT64_MAX;
    window.n = 0;
    while (next < all->count || window.n > 0) {
        if (wide_whole != NULL) { /* also after messages of other shapes */
            next += hash_wholes(&ends, wide_whole, &step, all, next);
            if (next == all->count && nkept == 0 && window.n == 0)
                break;
        }
        /* A kernel for short messages pays for more than a window of them: of fewer, the messages left over at the end
         * cost what the others gain, and the choice takes 20 to 35 ns. */
        if (wide_short == NULL)
            wide_short = all->count > HLI_WINDOW || hli_finds_attacks(pass->alg) ? hli_kernel_short(plan, pass) : wide;

        const size_t room = capacity - window.n - nkept, left = all->count - next, nnew = left < room ? left : room;
        const size_t n = nkept + nnew;
        const int more = nnew < left;
        int is_sorted = 0;

        kept_differ |= fetch(alg, all, next, nnew, &batch, nkept);
        next += nnew;
        if (kept_differ != 0) {
            for (size_t i = 0; hli_is_strengthened(alg) && i < n; i++)
                if (batch.shapes[i] == (1 << 2 | HLI_PADDING_ONLY)) /* too few to share a padding block */
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
                i += hash_in_step(&ends, fits ? best : hli_kernel(plan, pass, end - i), &step, &batch, i, end, shape);
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
        hli_wipe(window.states, sizeof window.states);
    hli_forget(plan, all->count, wide);
}

/* Rows: all take equally many blocks. `wide`: the best kernel for this number of long messages. */
static HLI_NOINLINE void hash_even(const struct hli_plan *plan, const hl_kernel *wide, const hl_messages *all)
{
    const struct hli_pass *pass = &plan->first;
    const size_t shape = hli_shape_of(pass->alg, all->nbytes), count = all->count;
    const hl_kernel *const whole = hli_kernel_whole(plan, pass, count, wide);
    const int is_short = shape >> 2 <= SHORT_NBLOCKS && (count > HLI_WINDOW || hli_finds_attacks(pass->alg));
    const hl_kernel *const best = is_short ? hli_kernel_short(plan, pass) : wide;
    struct hli_ends ends;
    struct step step;
    struct batch batch;

    hli_ends_init(&ends, plan, count, wide);
    step.padded_nbytes = UINT64_MAX;
    size_t first = whole == NULL ? 0 : hash_wholes(&ends, whole, &step, all, 0);
    while (first < count) {
        const size_t left = count - first, n = left < HLI_WINDOW ? left : HLI_WINDOW;
        fetch(pass->alg, all, first, n, &batch, 0);
        for (size_t i = 0; i < n;) {
            const int fits = n - i > HLI_LANES || n - i == count || (n - i) % best->nlanes == 0;
            i += hash_in_step(&ends, fits ? best : hli_kernel(plan, pass, n - i), &step, &batch, i, n, shape);
        }
        first += n;
    }
    hli_ends_close(&ends);
    hli_forget(plan, count, wide);
}

/* ---- Any number -------------------------------------------------------------------------------------------------- */

void hli_hash(struct hli_plan *plan, const hl_messages *all)
{
    if (__builtin_expect(hli_has_price(plan->choice), 0) && plan->forced == NULL && hli_spares_power(plan, all))
        plan->choice = hli_without_price(plan->choice);
    if (all->count > 1 && all->count <= HLI_SHORT && plan->forced == NULL && hli_hash_few(plan, all))
        return;
    const hl_kernel *const kernel = hli_kernel(plan, &plan->first, all->count);
    if (all->count == 1 || kernel->nlanes == 1) {
        hli_hash_apart(plan, kernel, all);
        hli_forget(plan, 1, kernel);
    } else if (all->layout == HL_ROWS) {
        hash_even(plan, kernel, all);
    } else {
        hash_window(plan, kernel, all);
    }
}
