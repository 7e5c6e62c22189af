/* hash.c: whole messages: a few by their plan, more in step with others of their shape or through a window.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Few messages: plan.c decides. Rows and many short messages fill all lanes in step: messages with equally many blocks
 * begin, advance and end together, and their states stay in the kernel's layout. All others wait in a window on the
 * stack, the longest first (ragged.c). The window is refilled while long messages go on. Endings are collected and
 * hashed with full lanes (lanes.c).
 */
#include "blake3.h"
#include "one.h"
#include "registry.h"

enum { SHORT_NBLOCKS = 2 };

/* ---- In step --------------------------------------------------------------------------------------------------- */

/* Messages as four columns, the form that kernels and padding functions take. */
struct batch {
    const uint8_t *data[HLI_WINDOW];
    size_t nbytes[HLI_WINDOW];
    size_t shapes[HLI_WINDOW];
    size_t at[HLI_WINDOW]; /* the message's index in the call */
};

/* What the next step can use again. padded_nbytes is UINT64_MAX before the first step. */
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
                                                               all->count - next >= 8)
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
                                       const struct batch *batch, size_t first, size_t end)
{
    const struct hli_pass *pass = &ends->plan->first;
    const hl_alg_info *alg = pass->alg;
    const unsigned nlanes = kernel->nlanes, n = end - first < nlanes ? (unsigned)(end - first) : nlanes;
    const size_t shape = batch->shapes[first], nblocks = shape >> 2, nwhole = nblocks * hli_block_nbytes(alg);
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
            is_one_length && nblocks == 1 ? shared_padding(step, alg, kernel, ndone, end - first >= 8) : NULL;
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

/* `wide`: the best kernel for this number of long messages. The window is empty, and stays unused if all messages have
 * one length and fit. */
static HLI_NOINLINE void hash_all(const struct hli_plan *plan, const hl_kernel *wide, const hl_messages *all,
                                  struct window *window)
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
    size_t next = 0, nkept = 0, kept_differ = 0; /* batch[0 .. nkept - 1] wait for others of their shape */
    int window_used = 0;

    hli_ends_init(&ends, plan, all->count, wide);
    step.padded_nbytes = UINT64_MAX;
    while (next < all->count || window->n > 0) {
        if (wide_whole != NULL) { /* also after messages of other shapes */
            next += hash_wholes(&ends, wide_whole, &step, all, next);
            if (next == all->count && nkept == 0 && window->n == 0)
                break;
        }
        /* With fewer messages the ones left over at the end cost what the others gain, and the choice takes 20 to 35
         * ns. */
        if (wide_short == NULL)
            wide_short = all->count > HLI_WINDOW ? hli_kernel_short(plan, pass) : wide;

        const size_t room = capacity - window->n - nkept, left = all->count - next, nnew = left < room ? left : room;
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
            const int nothing_else = !more && (is_ending || (end - i == n && window->n == 0));
            while (i < end) {
                const int is_short = is_ending || (shape >> 2 <= SHORT_NBLOCKS && end - i >= wide_short->nlanes);
                const int is_whole = wide_whole != NULL && hli_shape_nblocks(shape) <= whole_nblocks;
                const hl_kernel *const best = is_whole ? wide_whole : is_short ? wide_short : wide;
                if (end - i < best->nlanes && !nothing_else)
                    break;
                const int fits = end - i > HLI_LANES || end - i == all->count || (end - i) % best->nlanes == 0;
                i += hash_in_step(&ends, fits ? best : hli_kernel(plan, pass, end - i), &step, &batch, i, end);
            }
            for (; i < end; i++) {
                if (!is_ending) {
                    join_window(pass, window, &batch, i);
                    continue;
                }
                move_message(&batch, nkept++, i); /* never overwrites a message still to come: nkept <= i */
                kept_differ |= shape ^ batch.shapes[0];
            }
        }
        if (window->n > 0) {
            run_window(&ends, window, more);
            window_used = 1;
        }
    }
    hli_ends_close(&ends);
    if (plan->is_secret && window_used) /* the only secrets in this frame; the rest is pointers and lengths */
        hli_wipe(&window->states, sizeof window->states);
    hli_forget(plan, all->count, wide);
}

/* Not inlined: calls that need no window have no room for one on the stack. */
static HLI_NOINLINE void hash_window(const struct hli_plan *plan, const hl_kernel *wide, const hl_messages *all)
{
    struct window window;

    window.n = 0;
    hash_all(plan, wide, all, &window);
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

/* A group by its kernel's function for whole messages. */
static HLI_NOINLINE void hash_whole(const struct hli_group *group, const struct hli_pass *pass, struct hli_few *few,
                                    size_t nblocks)
{
    const hl_kernel *kernel = group->kernel;
    const void *schedule = kernel->scheduled == NULL ? NULL : few->schedule;
    const struct hli_whole whole = hli_describe(pass, nblocks, few->is_one_length, schedule);
    const size_t first = group->first, nbytes = few->nbytes[first];
    const uint8_t *const data = few->data[first];
    uint8_t idle[HL_DIGEST_MAX_NBYTES];

    for (size_t at = group->end; at < first + kernel->nlanes; at++) { /* idle lanes hash the first message */
        few->data[at] = data;
        few->nbytes[at] = nbytes;
        few->digests[at] = idle;
    }
    hli_row_of(kernel)->whole(&whole, few->data + first, few->nbytes + first, few->digests + first);
}

/* A group by any kernel of several lanes. The last two blocks are copied and padded, or all share one padding. */
static HLI_NOINLINE void hash_blocks(const struct hli_group *group, const struct hli_pass *pass,
                                     struct hli_edges edges, const struct hli_few *few, size_t nblocks)
{
    const hl_kernel *kernel = group->kernel;
    const hl_alg_info *alg = pass->alg;
    const size_t first = group->first;
    const int is_shared = few->is_one_length && hli_rest_of_block(alg, few->nbytes[0]) == 0;
    const unsigned nlanes = kernel->nlanes, n = group->end - group->first, npadded = is_shared ? 1 : n;
    const unsigned nlast = is_shared || nblocks == 1 || !hli_is_strengthened(alg) ? 1 : 2;
    const size_t nwhole = (nblocks - nlast) * hli_block_nbytes(alg);
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
        hli_advance_lanes(kernel, alg, &states, msg, nblocks - nlast);
    if (few->schedule != NULL && kernel->scheduled != NULL) {
        kernel->scheduled(&states, few->schedule);
    } else {
        edges.pad(alg, nlast, rests, nrests, pass->begin_nbytes + nwhole, npadded, tails.bytes);
        hli_point_at_tails(alg, &tails, nlanes, npadded, msg);
        hli_advance_last(kernel, alg, &states, msg, nlast);
    }
    hli_write_digests(edges, kernel, alg, &states, n, few->digests + first);
}

/* One pass over few messages. Returns an upper bound of the stack that it took. */
static HLI_NOINLINE size_t hash_groups(const struct hli_plan *plan, const struct hli_pass *pass,
                                       const struct hli_groups *groups, struct hli_few *few, size_t nblocks)
{
    enum { OWN = 160, ONE = HLI_ONE_NBYTES, BLOCKS = 4480, WHOLE = 160 }; /* frames */
    static const uint16_t frames[] = {[HLI_ONE] = ONE, [HLI_BLOCKS] = BLOCKS, [HLI_WHOLE] = WHOLE};
    size_t most = 0;

    for (unsigned g = 0; g < groups->n; g++) {
        const struct hli_group *group = &groups->at[g];
        const size_t stack = hli_stack_of(group->kernel) + frames[group->how] + OWN;
        most = stack > most ? stack : most;
        switch ((enum hli_how)group->how) {
        case HLI_ONE:
            for (size_t i = group->first; i < group->end; i++)
                hli_hash_one(group->kernel, pass->alg, hli_begin_of(pass, i), pass->begin_nbytes, few->data[i],
                             few->nbytes[i], few->digests[i]);
            break;
        case HLI_BLOCKS: hash_blocks(group, pass, hli_choose_edges(plan->choice), few, nblocks); break;
        case HLI_WHOLE: hash_whole(group, pass, few, nblocks); break;
        }
    }
    return most;
}

/* Hashes 2 to HLI_SHORT messages by their plan. Returns 0, with nothing done, if the plan is HLI_MANY. */
static HLI_NOINLINE int hash_few(const struct hli_plan *plan, const hl_messages *all)
{
    const hl_alg_info *alg = plan->first.alg, *again = plan->second.alg;
    uint8_t inner[HLI_SHORT][HL_DIGEST_MAX_NBYTES];
    struct hli_few few;
    const enum hli_way way = again == NULL ? hli_plan_few(plan, all, plan->digests, plan->digest_stride, &few)
                                           : hli_plan_few(plan, all, inner[0], sizeof inner[0], &few);

    if (way == HLI_MANY)
        return 0;
    if (way == HLI_APART) {
        const hl_kernel *kernel = hli_choose_one(plan->choice, hli_body(alg));
        hash_apart(plan, kernel, all);
        hli_forget(plan, 1, kernel);
        return 1;
    }
    if (again == NULL && few.groups.n == 1 && few.groups.at[0].how == HLI_WHOLE && !plan->is_secret) {
        hash_whole(&few.groups.at[0], &plan->first, &few, few.nblocks);
        return 1;
    }
    size_t stack = hash_groups(plan, &plan->first, &few.groups, &few, few.nblocks);
    if (again != NULL) {
        for (size_t i = 0; i < all->count; i++) {
            few.data[i] = inner[i];
            few.nbytes[i] = alg->digest_nbytes;
            few.digests[i] = plan->digests + i * plan->digest_stride;
        }
        few.is_one_length = 1;
        few.schedule = NULL;
        const size_t stack_again = hash_groups(plan, &plan->second, &few.groups_again, &few, few.nblocks_again);
        stack = stack_again > stack ? stack_again : stack;
    }
    if (plan->is_secret) { /* the digests are the only secrets in this frame; the rest is pointers and lengths */
        if (again != NULL)
            hli_wipe(inner, all->count * sizeof inner[0]);
        hli_burn(stack);
    }
    return 1;
}

enum { NODES = 64 };

/* `layout` is a literal. The first message takes one block or two. */
HLI_INLINE size_t hash_straight_layout(unsigned layout, const struct hli_plan *plan, const hl_messages *all)
{
    const struct hli_pass *pass = &plan->first;
    const hl_alg_info *alg = pass->alg;
    const size_t count = all->count, stride = plan->digest_stride;
    size_t least = all->nbytes, most = all->nbytes;
    const uint8_t *data[HLI_LANES];
    uint8_t *to[HLI_LANES], idle[HL_DIGEST_MAX_NBYTES];
    size_t nbytes[HLI_LANES], done = 0;

    if (layout != HL_ROWS) {
        least = SIZE_MAX;
        most = 0;
        for (size_t i = 0; i < count; i++) {
            const size_t n = hli_message_at(layout, all, i).nbytes;
            least = n < least ? n : least;
            most = n > most ? n : most;
        }
    }
    const size_t longest = hli_longest_in_one_block(alg), nblocks = 1 + (least > longest);
    const int is_one_length = least == most;
    const void *known = is_one_length ? hli_known_schedule(alg, most) : NULL;
    if (most > longest + (nblocks - 1) * hli_block_nbytes(alg))
        return 0;
    while (done < count) {
        const size_t left = count - done, nplanned = left < HLI_SHORT ? left : HLI_SHORT;
        const hl_kernel *kernel = hli_plan_whole(plan->choice, hli_body(alg), nplanned, nblocks, known != NULL);
        if (kernel == NULL)
            break;
        const struct hli_whole whole =
            hli_describe(pass, nblocks, is_one_length, kernel->scheduled == NULL ? NULL : known);
        for (unsigned l = 0; l < kernel->nlanes; l++) { /* idle lanes hash the first message */
            const size_t at = l < left ? done + l : done;
            const hl_slice message = hli_message_at(layout, all, at);
            data[l] = message.data;
            nbytes[l] = message.nbytes;
            to[l] = l < left ? plan->digests + at * stride : idle;
        }
        hli_row_of(kernel)->whole(&whole, data, nbytes, to);
        done += left < kernel->nlanes ? left : kernel->nlanes;
    }
    return done;
}

/* Hashes few messages, or up to NODES nodes in rows, by functions for whole messages, without making a plan's lists and
 * groups: these take as long as half a node's block over the SHA instructions. Stops where plan.c names no such
 * function. Does nothing unless all take equally many blocks. Returns the messages left, in *rest, or NULL. */
static HLI_NOINLINE const hl_messages *hash_straight(struct hli_plan *plan, const hl_messages *all, hl_messages *rest)
{
    const size_t done = all->layout == HL_ROWS ? hash_straight_layout(HL_ROWS, plan, all)
                                               : hash_straight_layout(HL_SLICES, plan, all);

    if (done == all->count)
        return NULL;
    *rest = *all;
    rest->base = (const uint8_t *)all->base + done * (all->layout == HL_ROWS ? all->stride : sizeof(hl_slice));
    rest->count -= done;
    plan->digests += done * plan->digest_stride;
    return rest;
}

HLI_NOINLINE size_t hli_hash_nodes(const uint8_t *nodes, size_t count, uint8_t *digests)
{
    enum { NODE = 64, DIGEST = HL_SHA256_DIGEST_NBYTES };
    static const size_t nbytes[HLI_LANES] = {NODE, NODE, NODE, NODE, NODE, NODE, NODE, NODE,
                                             NODE, NODE, NODE, NODE, NODE, NODE, NODE, NODE};
    static const struct hli_whole whole = {hli_sha256_iv, 0, 1, hli_sha256_schedule_64, DIGEST, 1, NODE, 0};
    const uint32_t word = hli_choice();
    const uint8_t *data[HLI_LANES];
    uint8_t *to[HLI_LANES], idle[DIGEST];
    size_t done = 0;

    if (hli_has_price(word))
        return 0;
    while (done < count) {
        const size_t left = count - done;
        const hl_kernel *const kernel =
            hli_plan_whole(word, HL_BODY_SHA256, left < HLI_SHORT ? left : HLI_SHORT, 2, 1);
        if (kernel == NULL || kernel->scheduled == NULL)
            break;
        const size_t nlanes = kernel->nlanes, n = left < nlanes ? left : nlanes;
        size_t l = 0;
        for (; l < n; l++) {
            data[l] = nodes + (done + l) * NODE;
            to[l] = digests + (done + l) * DIGEST;
        }
        for (; l < nlanes; l++) { /* idle lanes hash the first node */
            data[l] = data[0];
            to[l] = idle;
        }
        hli_row_of(kernel)->whole(&whole, data, nbytes, to);
        done += n;
    }
    return done;
}

/* Whether to try hash_straight: only SHA-256 over x86's SHA instructions or AVX-512 gains more than the try costs. */
HLI_INLINE int goes_straight(const struct hli_plan *plan, const hl_messages *all)
{
#if HLI_X86
    const uint32_t wide = UINT32_C(1) << ISA_avx512, isas = UINT32_C(1) << ISA_sha | wide;

    if (hli_body(plan->first.alg) != HL_BODY_SHA256 || (plan->choice & isas) == 0)
        return 0;
    const size_t nbytes = hli_message_at(all->layout, all, 0).nbytes;
    const size_t most = all->layout != HL_ROWS ? ((plan->choice & wide) != 0 ? HLI_FEW : HLI_SHORT)
                        : nbytes == 64         ? NODES
                                               : HLI_SHORT;
    return all->count <= most && nbytes < 120 && plan->second.alg == NULL && !plan->is_secret &&
           plan->first.begin_nbytes == 0 && hli_may_be_whole(&plan->first);
#else
    (void)plan, (void)all;
    return 0;
#endif
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* `window` is empty, or NULL. */
HLI_INLINE void hash_in(struct hli_plan *plan, const hl_messages *all, struct window *window)
{
    const hl_kernel *kernel;
    hl_messages rest;

#if HLI_X86
    if (__builtin_expect(hli_has_price(plan->choice), 0) && plan->forced == NULL && hli_spares_power(plan, all))
        plan->choice = hli_without_price(plan->choice);
#endif
    if (all->count > 1 && plan->forced == NULL && goes_straight(plan, all)) {
        all = hash_straight(plan, all, &rest);
        if (all == NULL)
            return;
    }
    if (all->count > 1 && all->count <= HLI_SHORT && plan->forced == NULL) {
        if (all->count == 2 && hli_plan_pair(plan, all)) {
            kernel = hli_choose_one(plan->choice, hli_body(plan->first.alg));
            hash_apart(plan, kernel, all);
            hli_forget(plan, 1, kernel);
            return;
        }
        if (hash_few(plan, all))
            return;
    }
    kernel = hli_kernel(plan, &plan->first, all->count);
    if (all->count > 1 && kernel->nlanes > 1) {
        if (window == NULL)
            hash_window(plan, kernel, all);
        else
            hash_all(plan, kernel, all, window);
        return;
    }
    hash_apart(plan, kernel, all);
    hli_forget(plan, 1, kernel);
}

void hli_hash(struct hli_plan *plan, const hl_messages *all)
{
    hash_in(plan, all, NULL);
}

HLI_NOINLINE size_t hli_hash_joined(const struct hli_plan *plan, const hl_ctx *begin, const hl_messages *all,
                                    size_t first)
{
    struct window window; /* the messages lie in its unused states */
    uint8_t *const room = (uint8_t *)window.states;
    const size_t nheld = hli_rest_of_block(plan->first.alg, begin->nbytes), left = all->count - first;
    const size_t message_nbytes = hli_message_at(all->layout, all, first).nbytes, nbytes = nheld + message_nbytes;
    struct hli_plan part = *plan;
    size_t n = 0;

    if (message_nbytes > sizeof window.states / HLI_LANES - nheld)
        return 0;
    const size_t fit = sizeof window.states / nbytes, most = smaller(fit, window_room(plan->first.alg));
    for (; n < left && n < most; n++) {
        const hl_slice message = hli_message_at(all->layout, all, first + n);
        if (message.nbytes != message_nbytes)
            break;
        uint8_t *const to = room + n * nbytes;
        if (nheld <= 8 && message_nbytes == 64) { /* a node of a tree: copied without calling memcpy */
            hli_copy(to, begin->block, 8);
            hli_copy(to + nheld, message.data, 64);
            continue;
        }
        hli_copy(to, begin->block, nheld);
        if (message_nbytes != 0) /* data may be NULL */
            hli_copy(to + nheld, message.data, message_nbytes);
    }
    if (n < HLI_FEW && n < left) /* too few: with the others they fill more lanes */
        n = 0;
    if (n > HLI_LANES && n < left)
        n -= n % HLI_LANES;
    window.n = 0;
    part.first.begin = &begin->state;
    part.first.begin_nbytes = begin->nbytes - nheld;
    part.digests = plan->digests + first * plan->digest_stride;
    if (n != 0)
        hash_in(&part, &(hl_messages){HL_ROWS, 0, n, room, nbytes, nbytes}, &window);
    if (plan->is_secret)
        hli_wipe(room, sizeof window.states);
    return n;
}

/* Hashes rows, at most as many as fit into the window, and writes their digests when all have been read. Returns the
 * number of rows hashed. */
static HLI_NOINLINE size_t hash_and_move(struct hli_plan *plan, size_t digest_nbytes, hl_messages *rows)
{
    struct window window; /* the digests lie in its unused states */
    uint8_t *const room = (uint8_t *)window.states, *to = plan->digests;
    const size_t stride = plan->digest_stride, fit = sizeof window.states / digest_nbytes;

    window.n = 0;
    rows->count = smaller(rows->count, smaller(window_room(plan->first.alg), fit));
    if (rows->count > 1) {
        plan->digests = room;
        plan->digest_stride = digest_nbytes;
    } else { /* a kernel writes a digest after it has read the row */
        rows->count = 1;
    }
    hash_in(plan, rows, &window);
    if (rows->count == 1)
        return 1;
    for (size_t i = 0; i < rows->count; i++, to += stride)
        if (digest_nbytes == 32) /* no call of memcpy */
            hli_copy(to, room + i * 32, 32);
        else
            hli_copy(to, room + i * digest_nbytes, digest_nbytes);
    return rows->count;
}

HLI_NOINLINE hl_status hli_hash_in_place(struct hli_plan *plan, size_t digest_nbytes, const hl_ctx *begin,
                                         size_t begin_stride, hl_messages *rows)
{
    enum { FEW = 32 };
    const size_t stride = plan->digest_stride;
    const int is_tree = hli_is_tree(plan->first.alg);

    if (rows->count > 1 &&
        (stride > rows->stride || (uintptr_t)plan->digests + digest_nbytes > (uintptr_t)rows->base + rows->stride))
        return HL_EJOB;
    if (begin != NULL && !is_tree) { /* hli_hash_on reads each group of rows before it writes their digests */
        hli_hash_on(plan, begin, begin_stride, rows);
        return HL_OK;
    }
    for (size_t left = rows->count, n; left > 0; left -= n) {
        /* Room for digests before the rows that are left, which they do not overwrite. Digests of half a row's length
         * double that room with each turn. */
        uint8_t *const digests = plan->digests;
        const uintptr_t row = (uintptr_t)rows->base, digest = (uintptr_t)digests;
        const size_t before = digest < row ? (row - digest) / stride : 0;
        n = smaller(left, before);
        rows->count = left;
        if (!is_tree && n < left && n < FEW) {
            n = hash_and_move(plan, digest_nbytes, rows);
        } else {
            rows->count = n = n == 0 ? 1 : n;
            if (is_tree)
                hli_hash_tree(plan, begin, rows);
            else
                hli_hash(plan, rows);
        }
        rows->base = (const uint8_t *)rows->base + n * rows->stride;
        plan->digests = digests + n * stride;
        plan->digest_stride = stride;
        plan->first.begin = hli_nth(plan->first.begin, n, plan->first.begin_stride);
        if (plan->second.alg != NULL)
            plan->second.begin = hli_nth(plan->second.begin, n, plan->second.begin_stride);
    }
    return HL_OK;
}
