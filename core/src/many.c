/* many.c: whole messages: one by one, a few in groups, many in step, and those of other lengths through a window.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A few messages stand in columns, the form that kernels take: a group is a place in them. Behind the last message idle
 * lanes hash the first of their group once more. Many with equally many blocks fill all lanes in step: they begin,
 * advance and end together, and their states stay in the kernel's layout. All others wait in a window on the stack, the
 * longest first (lanes.c), which is refilled while long messages go on. Endings are collected and hashed with full
 * lanes.
 */
#include "lanes.h"

enum {
    SHORT_NBLOCKS = 2,
    SHARED = 8 /* messages for which a schedule of their common padding pays */
};

/* ---- One by one -------------------------------------------------------------------------------------------------- */

/* Not inlined: the first digests of two are in this frame, which the caller's hli_forget overwrites. */
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

/* ---- In groups --------------------------------------------------------------------------------------------------- */

/* Messages of equally many blocks, for one pass. */
struct run {
    const struct hli_pass *pass;
    size_t nblocks;
    unsigned flags; /* of hli_plan_group */
    int is_one_length, ends_in_one; /* ends_in_one: behind the whole blocks of each there is one more */
    const void *schedule;   /* of their last block, if it is known */
    struct hli_whole whole; /* for functions for whole messages: with that schedule; begin_run leaves it out */
};

/* The messages and the places for their digests, with room for idle lanes. */
struct columns {
    const uint8_t *data[HLI_SHORT + HLI_LANES];
    size_t nbytes[HLI_SHORT + HLI_LANES];
    uint8_t *to[HLI_SHORT + HLI_LANES];
    uint8_t idle[HL_DIGEST_MAX_NBYTES]; /* what idle lanes write */
};

/* whole_nblocks: the most of a message for a function for whole messages (hli_whole_most); 0: none.
 * Field by field: gcc would make a struct beside it, and copy that before its stores have arrived. */
HLI_INLINE void begin_run(struct run *run, const struct hli_pass *pass, size_t whole_nblocks, size_t nblocks,
                          size_t most, int is_one_length)
{
    const void *const schedule = is_one_length && pass->begin_nbytes == 0 ? hli_known_schedule(pass->alg, most) : NULL;

    run->schedule = schedule;
    run->pass = pass;
    run->nblocks = nblocks;
    run->flags = (schedule != NULL ? HLI_IS_KNOWN : 0) | (nblocks <= whole_nblocks ? HLI_MAY_BE_WHOLE : 0);
    run->is_one_length = is_one_length;
    run->ends_in_one = 0;
}

/* n messages by any kernel of several lanes. Idle lanes work on the first. The last blocks are copied and padded, or
 * all share one padding. at: the messages, counted from those of the pass. */
static HLI_NOINLINE void hash_blocks(const hl_kernel *kernel, struct hli_edges edges, const struct run *run,
                                     const size_t at[], unsigned n, const uint8_t *const *data,
                                     const size_t *nbytes, uint8_t *const digests[])
{
    const struct hli_pass *pass = run->pass;
    const hl_alg_info *alg = pass->alg;
    const int is_shared = run->is_one_length && hli_rest_of_block(alg, nbytes[0]) == 0;
    const unsigned nlanes = kernel->nlanes, npadded = is_shared ? 1 : n;
    const unsigned nlast = is_shared || run->ends_in_one || run->nblocks == 1 || !hli_is_strengthened(alg) ? 1 : 2;
    const size_t nwhole = (run->nblocks - nlast) * hli_block_nbytes(alg);
    union hli_lane_states states;
    struct hli_tails tails;
    const uint8_t *msg[HLI_LANES];
    size_t nrests[HLI_LANES];

    hli_begin_lanes(pass, nlanes, at, n, &states);
    if (nwhole != 0) {
        msg[0] = data[0]; /* apart from the loop: gcc for i686 assumes that the loop may not run */
        for (unsigned l = 1; l < nlanes; l++)
            msg[l] = data[l < n ? l : 0];
        hli_advance_lanes(kernel, alg, &states, msg, run->nblocks - nlast);
        for (unsigned l = 0; l < n; l++) {
            msg[l] = data[l] + nwhole;
            nrests[l] = nbytes[l] - nwhole;
        }
        data = msg; /* until the padding is made */
        nbytes = nrests;
    }
    if (run->schedule != NULL && kernel->scheduled != NULL) {
        kernel->scheduled(&states, run->schedule);
    } else {
        edges.pad(alg, nlast, data, nbytes, pass->begin_nbytes + nwhole, npadded, tails.bytes);
        hli_point_at_tails(alg, &tails, nlanes, npadded, msg);
        hli_advance_last(kernel, alg, &states, msg, nlast);
    }
    hli_write_digests(edges, kernel, alg, &states, n, digests);
}

/* As many messages as the kernel has lanes, by its function for whole ones. */
HLI_INLINE void hash_whole(const hl_kernel *kernel, const struct run *run, const uint8_t *const data[],
                           const size_t nbytes[], uint8_t *const digests[])
{
    if (run->schedule != NULL && kernel->scheduled == NULL) {
        const struct hli_whole whole = hli_describe(run->pass, run->nblocks, run->is_one_length, NULL);
        hli_row_of(kernel)->whole(&whole, data, nbytes, digests);
    } else {
        hli_row_of(kernel)->whole(&run->whole, data, nbytes, digests);
    }
}

/* The schedule of the padding behind nbytes, whole blocks, which messages of a call share; UINT64_MAX: none yet. */
struct shared {
    uint64_t nbytes;
    uint64_t schedule[80];
};

/* The schedule of the padding of messages of nbytes, whole blocks, or NULL. A schedule takes 90 to 150 ns to make. It
 * saves a third of a step of SHA-2 in lanes, less of other steps, and nothing over Intel's SHA instructions. `pays`:
 * enough messages will use a new one. */
static const void *shared_schedule(struct shared *shared, const hl_alg_info *alg, const hl_kernel *kernel,
                                   uint64_t nbytes, int pays)
{
    const void *known = kernel->scheduled == NULL ? NULL : hli_known_schedule(alg, nbytes);
    uint8_t padding[128];

    if (known != NULL || kernel->scheduled == NULL || hli_finds_attacks(alg))
        return known;
    if (shared->nbytes != nbytes) {
        if (!pays)
            return NULL;
        hli_pad(hli_block_nbytes(alg), hli_big_endian(alg), padding, NULL, 0, nbytes);
        hli_schedule(hli_body(alg), padding, shared->schedule);
        shared->nbytes = nbytes;
    }
    return shared->schedule;
}

/* One pass, in groups, of which one is given. Returns an upper bound of the stack that it took, if is_secret. */
HLI_INLINE size_t hash_groups(uint32_t word, int is_secret, const struct run *run, size_t count,
                              struct hli_group group, struct columns *columns)
{
    enum { OWN = 208, ONE = HLI_ONE_NBYTES, BLOCKS = 4480, WHOLE = 160 }; /* frames */
    static const uint16_t frames[] = {[HLI_ONE] = ONE + OWN, [HLI_BLOCKS] = BLOCKS + OWN, [HLI_WHOLE] = WHOLE + OWN};
    const struct hli_pass *pass = run->pass;
    size_t most = 0;

    for (size_t first = 0; first < count;) {
        const hl_kernel *const kernel = group.kernel;
        const size_t left = count - first, nlanes = kernel->nlanes;
        if (is_secret) {
            const size_t stack = hli_stack_of(kernel) + frames[group.how];
            most = stack > most ? stack : most;
        }
        for (; group.how == HLI_ONE && first < count; first++)
            hli_hash_one(kernel, pass->alg, hli_begin_of(pass, first), pass->begin_nbytes, columns->data[first],
                         columns->nbytes[first], columns->to[first]);
        if (group.how == HLI_ONE)
            break;
        if (group.how == HLI_BLOCKS) {
            static const size_t at[HLI_SHORT] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
            hash_blocks(kernel, hli_choose_edges(word), run, at + first, (unsigned)(left < nlanes ? left : nlanes),
                        columns->data + first, columns->nbytes + first, columns->to + first);
        } else {
            for (size_t l = left; l < nlanes; l++) {
                columns->data[first + l] = columns->data[first];
                columns->nbytes[first + l] = columns->nbytes[first];
                columns->to[first + l] = columns->idle;
            }
            hash_whole(kernel, run, columns->data + first, columns->nbytes + first, columns->to + first);
        }
        first += nlanes;
        if (first < count)
            group = hli_plan_group(word, pass->alg, count - first, run->nblocks, run->flags);
    }
    return most;
}

/* Two passes. */
static HLI_NOINLINE void hash_groups_again(const struct hli_plan *plan, const struct run *run, size_t count,
                                           struct hli_group group, const struct run *again,
                                           struct hli_group group_again, struct columns *columns)
{
    uint8_t inner[HLI_SHORT][HL_DIGEST_MAX_NBYTES];

    for (size_t i = 0; i < count; i++)
        columns->to[i] = inner[i];
    const size_t stack = hash_groups(plan->choice, plan->is_secret, run, count, group, columns);
    for (size_t i = 0; i < count; i++) {
        columns->data[i] = inner[i];
        columns->nbytes[i] = plan->first.alg->digest_nbytes;
        columns->to[i] = plan->digests + i * plan->digest_stride;
    }
    const size_t stack_again = hash_groups(plan->choice, plan->is_secret, again, count, group_again, columns);
    if (plan->is_secret) { /* the digests are the only secrets in this frame; the rest is pointers and lengths */
        hli_wipe(inner, count * sizeof inner[0]);
        hli_wipe(columns->idle, sizeof columns->idle);
        hli_burn(stack > stack_again ? stack : stack_again);
    }
}

/* 1 to HLI_SHORT messages. Returns 0, with nothing done, if they go through the window. */
static HLI_NOINLINE int hash_few(const struct hli_plan *plan, const hl_messages *all)
{
    const struct hli_pass *pass = &plan->first, *const second = &plan->second;
    const hl_alg_info *alg = pass->alg;
    const size_t count = all->count;
    const uint32_t word = plan->choice;
    size_t least, most;

    hli_lengths(all, &least, &most);
    const size_t nblocks = hli_padded_nblocks(alg, most);
    const int is_one_length = least == most, is_even = is_one_length || hli_padded_nblocks(alg, least) == nblocks;
    if (!is_even && (count > HLI_FEW || !hli_plan_apart(word, alg, all->base, count, nblocks)))
        return 0;
    struct run run, again;
    begin_run(&run, pass, hli_whole_most(word, pass), nblocks, most, is_one_length);
    struct hli_group group = is_even ? hli_plan_group(word, alg, count, nblocks, run.flags | HLI_ARE_ALL)
                                     : (struct hli_group){hli_choose_one(word, hli_body(alg)), HLI_ONE};
    struct hli_group group_again = {NULL, HLI_ONE};
    if (second->alg != NULL) {
        const size_t digest_nbytes = alg->digest_nbytes;
        begin_run(&again, second, hli_whole_most(word, second), hli_ending_nblocks(second->alg, digest_nbytes),
                  digest_nbytes, 1);
        group_again = hli_plan_group(word, second->alg, count, again.nblocks, again.flags | HLI_ARE_ALL);
    }
    if (group.how == HLI_ONE && group_again.how == HLI_ONE) {
        hash_apart(plan, group.kernel, all);
        hli_forget(plan, 1, group.kernel);
        return 1;
    }
    struct shared shared;
    if (count >= SHARED && count > group.kernel->nlanes && group.how == HLI_BLOCKS && is_one_length && most > 0 &&
        run.schedule == NULL && hli_rest_of_block(alg, most) == 0) {
        shared.nbytes = UINT64_MAX;
        run.schedule = shared_schedule(&shared, alg, group.kernel, pass->begin_nbytes + most, 1);
        if (run.schedule != NULL && (run.flags & HLI_MAY_BE_WHOLE) != 0 && nblocks == 2) {
            run.flags |= HLI_IS_KNOWN;
            group.how = hli_row_of(group.kernel)->whole != NULL ? HLI_WHOLE : HLI_BLOCKS;
        }
    }
    run.whole = hli_describe(pass, nblocks, is_one_length, nblocks == 2 ? run.schedule : NULL);
    if (second->alg != NULL)
        again.whole = hli_describe(second, again.nblocks, 1, again.schedule);
    struct columns columns;
    for (size_t i = 0; i < count; i++) {
        const hl_slice message = hli_message_at(all->layout, all, i);
        columns.data[i] = message.data;
        columns.nbytes[i] = message.nbytes;
        columns.to[i] = plan->digests + i * plan->digest_stride;
    }
    if (second->alg != NULL) {
        hash_groups_again(plan, &run, count, group, &again, group_again, &columns);
        return 1;
    }
    const size_t stack = hash_groups(word, plan->is_secret, &run, count, group, &columns);
    if (plan->is_secret)
        hli_burn(stack);
    return 1;
}

/* ---- In step --------------------------------------------------------------------------------------------------- */

/* Messages as four columns, the form that kernels and padding functions take. */
struct batch {
    const uint8_t *data[HLI_WINDOW];
    size_t nbytes[HLI_WINDOW];
    size_t shapes[HLI_WINDOW];
    size_t at[HLI_WINDOW]; /* the message's index in the call */
};

/* `layout` is a literal. */
HLI_INLINE size_t hash_whole_layout(unsigned layout, struct hli_ends *ends, const hl_kernel *kernel,
                                    struct shared *shared, const hl_messages *all, size_t first)
{
    const struct hli_plan *plan = ends->plan;
    const struct hli_pass *pass = &plan->first;
    const hl_alg_info *alg = pass->alg;
    hli_whole_fn *const function = hli_whole_of(kernel);
    const unsigned nlanes = kernel->nlanes;
    const size_t most_nblocks = hli_whole_nblocks(plan->choice | kernel->isas, alg);
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
                                     is_block ? shared_schedule(shared, alg, kernel, pass->begin_nbytes + most,
                                                                all->count - next >= SHARED)
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
            hli_digests_written(ends, at, nlanes);
    }
    return next - first;
}

/* Not inlined, likewise hash_in_step: its frame is not on the stack while the window runs. */
static HLI_NOINLINE size_t hash_wholes(struct hli_ends *ends, const hl_kernel *kernel, struct shared *shared,
                                   const hl_messages *all, size_t first)
{
    return all->layout == HL_ROWS ? hash_whole_layout(HL_ROWS, ends, kernel, shared, all, first)
                                  : hash_whole_layout(HL_SLICES, ends, kernel, shared, all, first);
}

/* The next of messages first .. end - 1 of a batch, all of one run. */
static HLI_NOINLINE unsigned hash_in_step(struct hli_ends *ends, const hl_kernel *kernel, struct run *run,
                                          struct shared *shared, const struct batch *batch, size_t first, size_t end)
{
    const struct hli_pass *pass = run->pass;
    const unsigned nlanes = kernel->nlanes, n = end - first < nlanes ? (unsigned)(end - first) : nlanes;
    const int is_whole = n == nlanes && (run->flags & HLI_MAY_BE_WHOLE) != 0 && hli_row_of(kernel)->whole != NULL;
    const uint8_t *const *data = batch->data + first;
    const size_t *nbytes = batch->nbytes + first;
    uint8_t *digests[HLI_LANES], *const *to = hli_digests_of(ends, batch->at + first, n, digests);

    if (run->is_one_length && (!is_whole || run->nblocks == 2))
        run->schedule = shared_schedule(shared, pass->alg, kernel, pass->begin_nbytes + *nbytes,
                                        (is_whole || first + n < end) && end - first >= SHARED);
    if (is_whole) {
        run->whole = hli_describe(pass, run->nblocks, run->is_one_length, run->schedule);
        hash_whole(kernel, run, data, nbytes, to);
    } else if (nlanes == 1) {
        hli_hash_one(kernel, pass->alg, hli_begin_of(pass, batch->at[first]), pass->begin_nbytes, *data, *nbytes, *to);
    } else {
        hash_blocks(kernel, ends->edges, run, batch->at + first, n, data, nbytes, to);
    }
    hli_digests_written(ends, batch->at + first, n);
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
    return hli_state_nbytes(alg) <= NARROW_NBYTES ? (size_t)NARROW_NBYTES : hli_state_nbytes(alg);
}

/* Messages that are not finished yet. They stay when the window is refilled. */
struct window {
    uint64_t states[HLI_WINDOW * NARROW_NBYTES / 8]; /* side by side, state_room(alg) bytes each */
    struct hli_item items[HLI_WINDOW];
    struct hli_ending endings[HLI_WINDOW]; /* items[i], endings[i] and states[i] belong to one message */
};

/* Number of messages that a window has room for. */
static size_t window_room(const hl_alg_info *alg)
{
    return (uint32_t)sizeof((struct window *)NULL)->states / (uint32_t)state_room(alg);
}

static void *window_state(const hl_alg_info *alg, struct window *window, size_t i)
{
    return (uint8_t *)window->states + i * state_room(alg);
}

/* Message `from` becomes number i. */
static void join_window(const struct hli_pass *pass, struct window *window, size_t i, const struct batch *batch,
                        size_t from)
{
    const hl_alg_info *alg = pass->alg;
    const size_t nblocks = batch->shapes[from] >> 2, nwhole = nblocks * hli_block_nbytes(alg);
    const size_t nbytes = batch->nbytes[from], at = batch->at[from];
    void *const state = window_state(alg, window, i);

    hli_copy(state, hli_begin_of(pass, at), hli_state_nbytes(alg));
    window->items[i] = (struct hli_item){state, batch->data[from], nblocks};
    window->endings[i] = (struct hli_ending){state, hli_after(batch->data[from], nwhole), nbytes - nwhole,
                                             pass->begin_nbytes + nbytes, at};
}

/* Advances n messages, ends the finished ones, and moves the others to the front. Returns the number of these. */
static HLI_NOINLINE size_t run_window(struct hli_ends *ends, struct window *window, size_t n, int more)
{
    const hl_alg_info *alg = ends->plan->first.alg;
    size_t nkept = 0;

    hli_advance(ends->plan, window->items, n, more);
    hli_finish(ends, window->endings, window->items, n);
    for (size_t i = 0; i < n; i++) {
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
    return nkept;
}

/* Sorts the first n of `batch`: messages of one shape side by side, the longest first. */
static void sort_batch(struct batch *batch, size_t n)
{
    uint8_t from[HLI_WINDOW]; /* from[i]: the place of the message that belongs in place i; i once it is there */

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

/* The last messages of a call as a few, if they begin in one state and are hashed once (else the stack would have no
 * room for both). Otherwise returns 0. */
static HLI_NOINLINE int hash_last(const struct hli_plan *plan, const hl_messages *all, size_t first)
{
    const size_t n = all->count - first, stride = all->layout == HL_ROWS ? all->stride : sizeof(hl_slice);

    if (first == 0 || n > HLI_SHORT || plan->forced != NULL || plan->first.begin_stride > 0 || plan->second.alg != NULL)
        return 0;
    struct hli_plan rest = *plan;
    rest.digests += first * plan->digest_stride;
    return hash_few(&rest, &(hl_messages){all->layout, 0, n, (const uint8_t *)all->base + first * stride, all->stride,
                                          all->nbytes});
}

/* Messages of any lengths. `wide`: the best kernel for this number of long messages. window: NULL for rows, which
 * need none. */
static HLI_NOINLINE void hash_many(const struct hli_plan *plan, const hl_kernel *wide, const hl_messages *all,
                                   struct window *window)
{
    const struct hli_pass *pass = &plan->first;
    const hl_alg_info *alg = pass->alg;
    const struct hli_kernels kernels = hli_plan_pass(plan, pass, all->count, wide);
    const struct hli_kernels again = hli_plan_again(plan, all->count, wide);
    const size_t capacity = window == NULL ? (size_t)HLI_WINDOW : window_room(alg);
    struct hli_ends ends;
    struct shared shared;
    struct batch batch;
    size_t next = 0, nkept = 0, kept_differ = 0; /* batch[0 .. nkept - 1] wait for others of their shape */
    size_t nwaiting = 0;                         /* in the window */
    int window_used = 0;

    hli_ends_init(&ends, plan, again);
    shared.nbytes = UINT64_MAX;
    while (next < all->count || nwaiting > 0) {
        if (kernels.whole != NULL) { /* also after messages of other shapes */
            next += hash_wholes(&ends, kernels.whole, &shared, all, next);
            if (nkept == 0 && nwaiting == 0 && (next == all->count || hash_last(plan, all, next)))
                break;
        }
        const size_t room = capacity - nwaiting - nkept, left = all->count - next, nnew = left < room ? left : room;
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
            const int nothing_else = !more && (is_ending || (end - i == n && nwaiting == 0));
            struct run run;
            begin_run(&run, pass, kernels.whole_nblocks, hli_shape_nblocks(shape), batch.nbytes[i],
                      (shape & 3) == HLI_PADDING_ONLY);
            run.ends_in_one = (shape & 3) != HLI_TWO_BLOCKS;
            while (i < end) {
                const size_t nleft = end - i;
                const int is_brief = is_ending || (shape >> 2 <= SHORT_NBLOCKS && nleft >= kernels.brief->nlanes);
                const hl_kernel *kernel = (run.flags & HLI_MAY_BE_WHOLE) != 0 && kernels.whole != NULL ? kernels.whole
                                          : is_brief ? kernels.brief
                                                     : wide;
                if (nothing_else && nleft <= HLI_SHORT)
                    kernel = plan->forced != NULL
                                 ? hli_kernel(plan, pass, nleft)
                                 : hli_plan_group(plan->choice, alg, nleft, run.nblocks, run.flags).kernel;
                else if (nleft < kernel->nlanes)
                    break;
                i += hash_in_step(&ends, kernel, &run, &shared, &batch, i, end);
            }
            for (; i < end; i++) {
                if (!is_ending) {
                    join_window(pass, window, nwaiting++, &batch, i);
                    continue;
                }
                move_message(&batch, nkept++, i); /* never overwrites a message still to come: nkept <= i */
                kept_differ |= shape ^ batch.shapes[0];
            }
        }
        if (nwaiting > 0) {
            nwaiting = run_window(&ends, window, nwaiting, more);
            window_used = 1;
        }
    }
    hli_ends_close(&ends);
    if (plan->is_secret && window_used) /* the only secrets in this frame; the rest is pointers and lengths */
        hli_wipe(window->states, sizeof window->states);
    hli_forget(plan, all->count, wide);
}

/* ---- Any number -------------------------------------------------------------------------------------------------- */

/* Not inlined: rows have no window on the stack. */
static HLI_NOINLINE void hash_slices(const struct hli_plan *plan, const hl_kernel *wide, const hl_messages *all)
{
    struct window window;

    hash_many(plan, wide, all, &window);
}

void hli_hash(struct hli_plan *plan, const hl_messages *all)
{
    if (__builtin_expect(hli_has_price(plan->choice), 0) && plan->forced == NULL && hli_spares_power(plan, all))
        plan->choice = hli_without_price(plan->choice);
    if (all->count > 1 && all->count <= HLI_SHORT && plan->forced == NULL && hash_few(plan, all))
        return;
    const hl_kernel *const kernel = hli_kernel(plan, &plan->first, all->count);
    if (all->count == 1 || kernel->nlanes == 1) {
        hash_apart(plan, kernel, all);
        hli_forget(plan, 1, kernel);
    } else if (all->layout == HL_ROWS) {
        hash_many(plan, kernel, all, NULL);
    } else {
        hash_slices(plan, kernel, all);
    }
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

enum { NODE = 64 };

/* The next nodes of a call by a kernel without a function for whole messages. */
static HLI_NOINLINE void hash_node_blocks(uint32_t word, const hl_alg_info *alg, const hl_kernel *kernel,
                                          const uint8_t *const data[], const size_t nbytes[], uint8_t *const to[],
                                          unsigned n)
{
    const struct hli_pass pass = {.alg = alg, .begin = alg->iv};
    struct run run;

    begin_run(&run, &pass, 0, 2, NODE, 1);
    hash_blocks(kernel, hli_choose_edges(word), &run, NULL, n, data, nbytes, to);
}

const struct hli_whole hli_nodes[2] = {
    {hli_sha256_iv, 0, 2, NULL, NODE / 2, 1, NODE, 0},
    {hli_sha256_iv, 0, 1, hli_sha256_schedule_64, NODE / 2, 1, NODE, 0},
};

HLI_NOINLINE void hli_hash_nodes(const hl_alg_info *alg, const uint8_t *nodes, size_t count, uint8_t *digests)
{
    static const size_t nbytes[] = {NODE, NODE, NODE, NODE, NODE, NODE, NODE, NODE,
                                    NODE, NODE, NODE, NODE, NODE, NODE, NODE, NODE};
    uint32_t word = hli_choice();
    unsigned flags = HLI_MAY_BE_WHOLE | HLI_IS_KNOWN | HLI_ARE_ALL;

    if (hli_has_price(word)) /* too few to pay it */
        word = hli_without_price(word);
    for (size_t nlanes; count > 0; flags = HLI_MAY_BE_WHOLE | HLI_IS_KNOWN) {
        const struct hli_group group = hli_plan_group(word, alg, count < HLI_SHORT ? count : HLI_SHORT, 2, flags);
        const uint8_t *data[HLI_LANES];
        uint8_t *to[HLI_LANES], idle[NODE / 2];
        nlanes = group.kernel->nlanes;
        for (size_t l = 0; l < nlanes; l++) { /* idle lanes hash the first node */
            data[l] = nodes + (l < count ? l : 0) * NODE;
            to[l] = l < count ? digests + l * (NODE / 2) : idle;
            __asm__("" : "+r"(l)); /* else gcc fills vectors, which takes longer */
        }
        if (group.how == HLI_WHOLE || (group.how == HLI_ONE && hli_row_of(group.kernel)->whole != NULL))
            hli_row_of(group.kernel)->whole(&hli_nodes[group.kernel->scheduled != NULL], data, nbytes, to);
        else if (group.how == HLI_ONE)
            hli_hash_one(group.kernel, alg, alg->iv, 0, nodes, NODE, digests);
        else
            hash_node_blocks(word, alg, group.kernel, data, nbytes, to, (unsigned)(count < nlanes ? count : nlanes));
        if (count <= nlanes)
            break;
        count -= nlanes;
        nodes += nlanes * NODE;
        digests += nlanes * (NODE / 2);
    }
}
