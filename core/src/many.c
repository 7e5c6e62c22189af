/* many.c: the lane driver: messages of any number and length in, runs of whole blocks for a kernel out.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A message is its whole blocks, read where they lie, and an ending of one or two blocks (edges.c): the rest, the
 * padding and the length. There are two ways through:
 *
 *   in step   Messages with equally many blocks fill all lanes and are begun, advanced and ended together, their states
 *             never leaving the kernel's layout (hash_in_step). Rows, and the common case of many short messages.
 *   ragged    All others wait in a window on the stack, longest first. A lane whose message ends takes the next; when
 *             nothing waits, the window is filled up again while long messages go on; when nothing is left to fill it
 *             with, the few states move to the kernel that is best for so few (run). Endings are collected and done
 *             with full lanes (finish). So one long message among short ones costs what it costs alone.
 *
 * A message begins where the plan says: at the algorithm's initial value, or behind the block of an HMAC's key; the
 * lanes are then loaded with the key's inner state, and each digest, before it is written, is hashed once more from the
 * key's outer state, side by side in the same lanes (hash_again).
 *
 * Layouts of a state: "plain" is its words in order; a kernel's is word w of lane l at w * nlanes + l. With one lane
 * they are the same.
 */
#include "core.h"

enum {
    WINDOW = 96,         /* messages sorted against each other; 16 KiB of stack, of the 32 that hashloom.h promises */
    LANES = HL_LANES_MAX, /* messages in step */
    SHORT_NBLOCKS = 2
};

/* How deep the stack is burned below the calls of this file that hashed what is secret: below one message in a kernel
 * of one lane and below all else (forget). Kernels take up to 1,700 bytes, 2,900 and 4,800 of it (one lane of 32-bit
 * words, one of 64-bit words, several; gcc 12.2 and clang 14, x86, i686 and aarch64), the rest is the driver's.
 * test/remains.c looks for what these leave out. */
enum { ONE_NBYTES = 1024, ONE_NBYTES_PER_WORD = 384, MANY_NBYTES = 21 << 9 };

/* The frame of a function with this holds what it hashes; those that call it hold pointers to it, and burn. */
#define NOINLINE __attribute__((noinline))

union lane_states {
    uint32_t w32[8 * LANES];
    uint64_t w64[8 * LANES / 2]; /* twice as wide, half as many lanes */
} __attribute__((aligned(64)));

/* Room for every lane's ending: 2 blocks of 64 bytes each, or half as many of 128. */
struct tails {
    uint8_t bytes[LANES * 2 * 64] __attribute__((aligned(64)));
};

static uint8_t *tail_of(const hl_alg_info *alg, struct tails *tails, size_t lane)
{
    return tails->bytes + lane * 2 * alg->block_nbytes;
}

/* Some whole blocks to hash into a plain state. */
struct run_item {
    void *state;
    const uint8_t *data;
    size_t nblocks;
};

/* A message whose whole blocks are done: what is left of it, and where its digest goes. */
struct ending {
    void *state;
    const uint8_t *rest;
    size_t nrest;
    uint64_t nbytes; /* of the whole message */
    uint8_t *digest;
};

/* What stands after nwhole bytes; NULL stays NULL, to which C adds nothing, not even 0. */
static const uint8_t *after(const uint8_t *data, size_t nwhole)
{
    return nwhole == 0 ? data : data + nwhole;
}

/* Block sizes are 64 and 128: a division by a variable would cost more than the rest of the bookkeeping. */
static unsigned block_shift(const hl_alg_info *alg)
{
    return alg->block_nbytes == 64 ? 6 : 7;
}

static size_t whole_blocks(const hl_alg_info *alg, size_t nbytes)
{
    return nbytes >> block_shift(alg);
}

static size_t rest_of_block(const hl_alg_info *alg, uint64_t nbytes)
{
    return nbytes & (alg->block_nbytes - 1);
}

/* ---- Moving states between layouts ------------------------------------------------------------------------------- */

static void load_lane(const hl_alg_info *alg, union lane_states *states, unsigned nlanes, unsigned lane,
                      const void *plain)
{
    if (alg->word_nbytes == 8)
        for (unsigned w = 0; w < alg->nwords; w++)
            states->w64[w * nlanes + lane] = ((const uint64_t *)plain)[w];
    else
        for (unsigned w = 0; w < alg->nwords; w++)
            states->w32[w * nlanes + lane] = ((const uint32_t *)plain)[w];
}

static void save_lane(const hl_alg_info *alg, const union lane_states *states, unsigned nlanes, unsigned lane,
                      void *plain)
{
    if (alg->word_nbytes == 8)
        for (unsigned w = 0; w < alg->nwords; w++)
            ((uint64_t *)plain)[w] = states->w64[w * nlanes + lane];
    else
        for (unsigned w = 0; w < alg->nwords; w++)
            ((uint32_t *)plain)[w] = states->w32[w * nlanes + lane];
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

/* How a message ends decides, with its whole blocks, what it can be in step with. */
enum ending_kind { PADDING_ONLY, ONE_BLOCK, TWO_BLOCKS };

static size_t shape_of(const hl_alg_info *alg, size_t nbytes)
{
    /* Up to two blocks with its padding, a message is nothing but an ending: one copy costs less than a call of a
     * kernel for its first block. A whole block is better off with padding whose schedule is known. */
    const size_t longest = hli_longest_in_one_block(alg);
    if (nbytes <= longest + alg->block_nbytes && nbytes != alg->block_nbytes)
        return ONE_BLOCK + (nbytes > longest); /* without a branch: lengths about one block would make it guess */
    const size_t nrest = rest_of_block(alg, nbytes);
    const enum ending_kind kind =
        nrest == 0 ? PADDING_ONLY : hli_ending_nblocks(alg, nrest) == 1 ? ONE_BLOCK : TWO_BLOCKS;

    return whole_blocks(alg, nbytes) << 2 | kind;
}

/* Sorts by 256 classes of size: shapes of fewer than 32 blocks each on its own, then some classes an octave. Finer
 * would not fill lanes better. */
static uint8_t size_class(size_t shape)
{
    if (shape < 128)
        return (uint8_t)shape;
    const unsigned octave = 63 - hli_clz64(shape); /* 7 or more */
    const unsigned class = 128 + 16 * (octave - 7) + (unsigned)(shape >> (octave - 4) & 15);
    return (uint8_t)(class < 255 ? class : 255);
}

/* order = 0 .. n - 1, the largest class first, equal ones as they stand (counting sort). */
static void sort_largest_first(const uint8_t classes[], size_t n, uint8_t order[])
{
    uint8_t start[256];
    unsigned total = 0, least = 255, greatest = 0;

    for (size_t i = 0; i < n; i++) {
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

/* ---- Ragged ------------------------------------------------------------------------------------------------------ */

static const hl_kernel *choose(const struct hli_plan *plan, size_t nmessages)
{
    return plan->forced != NULL ? plan->forced : hli_choose(plan->choice, plan->body, nmessages, 0);
}

/* For many messages of up to SHORT_NBLOCKS whole blocks each, where the driver's part of a step counts, which is much
 * the same for four lanes as for sixteen: 30 ns against a block, give or take. On AMD, whose SHA instructions are the
 * best for long messages, sixteen lanes take 0.82 of their time for 20 and 64 bytes, 0.92 for 128. */
static const hl_kernel *choose_short(const struct hli_plan *plan)
{
    return plan->forced != NULL ? plan->forced : hli_choose(plan->choice, plan->body, SIZE_MAX, 30);
}

/* A forced kernel has the edges of its own instruction set or of a plainer one. */
static struct hli_edges choose_edges(const struct hli_plan *plan)
{
    return hli_choose_edges(plan->forced != NULL ? plan->forced->isas : plan->choice);
}

/* HMAC's second half (FIPS 198-1 section 4, steps 7 to 9): the final states of the first n lanes become those of their
 * digests, hashed from `outer`, which is in the kernel's layout. A digest and its padding are one block for every
 * algorithm. `tails` is overwritten. */
static void hash_again(const hl_alg_info *alg, const hl_kernel *kernel, const struct hli_edges *edges,
                       const void *outer, void *states, struct tails *tails, unsigned n)
{
    uint8_t digests[LANES * 32]; /* 64 bytes each in half as many lanes */
    uint8_t *inner[LANES];
    const uint8_t *msg[LANES];
    size_t nbytes[LANES];

    for (unsigned l = 0; l < n; l++) {
        inner[l] = digests + l * alg->digest_nbytes;
        nbytes[l] = alg->digest_nbytes;
    }
    edges->digests(alg, states, kernel->nlanes, n, inner);
    edges->pad(alg, 1, (const uint8_t *const *)inner, nbytes, alg->block_nbytes, n, tails->bytes);
    for (unsigned l = 0; l < kernel->nlanes; l++)
        msg[l] = tail_of(alg, tails, l < n ? l : 0);
    hli_copy(states, outer, (size_t)kernel->nlanes * alg->nwords * alg->word_nbytes);
    kernel->blocks(states, msg, 1);
}

/* Overwrites what `count` messages have left below the caller's frame, if it is secret. */
HLI_INLINE void forget(const hl_alg_info *alg, const struct hli_plan *plan, size_t count)
{
    if (plan->is_secret)
        hli_burn(count == 1 && choose(plan, 1)->nlanes == 1
                                   ? ONE_NBYTES + ONE_NBYTES_PER_WORD * (size_t)alg->word_nbytes
                                   : (size_t)MANY_NBYTES);
}

/* Not __builtin_popcount: where the CPU has no instruction for it, that is a call into the compiler's library. */
static unsigned count_bits(uint32_t bits)
{
    unsigned n = 0;

    for (; bits != 0; bits &= bits - 1)
        n++;
    return n;
}

static NOINLINE void run_lanes(const hl_alg_info *alg, const struct hli_plan *plan, struct run_item items[], size_t n,
                               int more)
{
    union lane_states states;
    const uint8_t *msg[LANES];
    size_t left[LANES];      /* blocks to go in each lane */
    uint8_t item_of[LANES];  /* which item a lane has, if its bit in `busy` is set */
    uint32_t busy = 0;
    uint8_t classes[WINDOW], order[WINDOW];
    size_t first = 0, end = n; /* order[first .. end - 1] wait */
    const hl_kernel *kernel = NULL;

    for (size_t i = 0; i < n; i++)
        classes[i] = size_class(items[i].nblocks << 2);
    sort_largest_first(classes, n, order);
    while (end > 0 && items[order[end - 1]].nblocks == 0)
        end--;
    if (more && end < choose(plan, SIZE_MAX)->nlanes) /* better later, beside others */
        return;

    for (;;) {
        if (first == end) {
            if (busy == 0)
                return;
            const unsigned nbusy = count_bits(busy);
            const int stop = more && nbusy < kernel->nlanes;
            if (stop || choose(plan, nbusy) != kernel) { /* all leave the lanes, the longest first in the queue */
                first = end = 0;
                for (; busy != 0; busy &= busy - 1) {
                    const unsigned l = hli_ctz32(busy);
                    struct run_item *item = &items[item_of[l]];
                    if (kernel->nlanes > 1)
                        save_lane(alg, &states, kernel->nlanes, l, item->state);
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
            kernel = choose(plan, end - first);

        const unsigned nlanes = kernel->nlanes;
        uint32_t idle = ~busy & (uint32_t)((UINT64_C(1) << nlanes) - 1);
        for (; idle != 0 && first < end; idle &= idle - 1) {
            const unsigned l = hli_ctz32(idle);
            const struct run_item *item = &items[item_of[l] = order[first++]];
            msg[l] = item->data;
            left[l] = item->nblocks;
            if (nlanes > 1)
                load_lane(alg, &states, nlanes, l, item->state);
            busy |= UINT32_C(1) << l;
        }
        for (; idle != 0; idle &= idle - 1) { /* those that stay idle work on anything that is there */
            const unsigned l = hli_ctz32(idle);
            msg[l] = msg[hli_ctz32(busy)];
            left[l] = SIZE_MAX;
            load_lane(alg, &states, nlanes, l, alg->iv);
        }

        /* No branch depends on which lane is through: a wrong guess would cost the start of the next run. */
        size_t nblocks = left[0];
        for (unsigned l = 1; l < nlanes; l++)
            nblocks = left[l] < nblocks ? left[l] : nblocks;
        kernel->blocks(nlanes > 1 ? &states : items[item_of[0]].state, msg, nblocks);
        uint32_t through = 0;
        for (unsigned l = 0; l < nlanes; l++) {
            msg[l] += nblocks << block_shift(alg);
            left[l] -= nblocks;
            through |= (uint32_t)(left[l] == 0) << l;
        }
        for (busy &= ~through; through != 0; through &= through - 1) {
            const unsigned l = hli_ctz32(through);
            if (nlanes > 1)
                save_lane(alg, &states, nlanes, l, items[item_of[l]].state);
            items[item_of[l]].nblocks = 0;
        }
    }
}

/* Advances items (at most WINDOW of them) until all are done, or, if `more` messages could be had to fill lanes with,
 * until a lane stands idle. Each item says on return what is left of it. */
static void run(const hl_alg_info *alg, const struct hli_plan *plan, struct run_item items[], size_t n, int more)
{
    if (n == 0)
        return;
    if (n == 1 && !more) { /* a stream on its own */
        const hl_kernel *alone = choose(plan, 1);
        if (alone->nlanes == 1) {
            if (items[0].nblocks > 0)
                alone->blocks(items[0].state, &items[0].data, items[0].nblocks);
            items[0].nblocks = 0;
            return;
        }
    }
    run_lanes(alg, plan, items, n, more);
}

/* Does the endings, those of one block first, with full lanes as long as there are enough, and writes the digests. */
static NOINLINE void finish(const hl_alg_info *alg, const struct hli_plan *plan, const struct ending *const endings[],
                            size_t n)
{
    const struct hli_edges edges = choose_edges(plan);
    union lane_states states, outer;
    struct tails tails;
    const uint8_t *msg[LANES];
    uint8_t *digests[LANES];

    for (unsigned nblocks = 1; nblocks <= 2; nblocks++) {
        size_t left = 0;
        for (size_t i = 0; i < n; i++)
            left += hli_ending_nblocks(alg, endings[i]->nrest) == nblocks;
        for (size_t i = 0; left > 0;) {
            const hl_kernel *kernel = choose(plan, left);
            const unsigned nlanes = kernel->nlanes, nstep = left < nlanes ? (unsigned)left : nlanes;
            for (unsigned l = 0; l < nstep; i++) {
                const struct ending *e = endings[i];
                if (hli_ending_nblocks(alg, e->nrest) != nblocks)
                    continue;
                uint8_t *tail = tail_of(alg, &tails, l);
                edges.pad(alg, nblocks, &e->rest, &e->nrest, e->nbytes - e->nrest, 1, tail);
                load_lane(alg, &states, nlanes, l, e->state);
                digests[l] = e->digest;
                msg[l++] = tail;
            }
            for (unsigned l = nstep; l < nlanes; l++) { /* those that have no message work on another's */
                load_lane(alg, &states, nlanes, l, alg->iv);
                msg[l] = msg[0];
            }
            kernel->blocks(&states, msg, nblocks);
            if (plan->outer != NULL) {
                for (unsigned l = 0; l < nlanes; l++)
                    load_lane(alg, &outer, nlanes, l, plan->outer);
                hash_again(alg, kernel, &edges, &outer, &states, &tails, nstep);
            }
            edges.digests(alg, &states, nlanes, nstep, digests);
            left -= nstep;
        }
    }
}

/* ---- In step ----------------------------------------------------------------------------------------------------- */

/* Messages as four columns, which kernels and padding take as they are. */
struct batch {
    const uint8_t *data[WINDOW];
    size_t nbytes[WINDOW];
    size_t shapes[WINDOW];
    uint8_t *digests[WINDOW];
};

static void copy_message(struct batch *to, size_t at, const struct batch *from, size_t i)
{
    to->data[at] = from->data[i];
    to->nbytes[at] = from->nbytes[i];
    to->shapes[at] = from->shapes[i];
    to->digests[at] = from->digests[i];
}

/* Message i of `all`, whose layout is given apart, so that it can be a literal. */
HLI_INLINE hl_slice message_at(unsigned layout, const struct hli_messages *all, size_t i)
{
    if (layout == HLI_ROWS)
        return (hl_slice){after(all->base, i * all->stride), all->nbytes};
    if (layout == HLI_OFFSETS32) {
        const int32_t *offset = (const int32_t *)all->offsets + i;
        return (hl_slice){after(all->base, (size_t)offset[0]), (size_t)offset[1] - (size_t)offset[0]};
    }
    if (layout == HLI_OFFSETS64) {
        const int64_t *offset = (const int64_t *)all->offsets + i;
        return (hl_slice){after(all->base, (size_t)offset[0]), (size_t)offset[1] - (size_t)offset[0]};
    }
    return ((const hl_slice *)all->base)[i];
}

/* batch[at .. at + n - 1] = the messages of `all` from `first` on. Returns 0 if they are of the shape of batch[0].
 * `layout` is a literal. */
HLI_INLINE size_t fetch_layout(unsigned layout, const hl_alg_info *alg, const struct hli_messages *all, size_t first,
                               size_t n, struct batch *batch, size_t at, uint8_t *digests)
{
    const size_t digest_nbytes = alg->digest_nbytes;
    size_t differ = 0;

    for (size_t i = 0; i < n; i++) {
        const hl_slice message = message_at(layout, all, first + i);
        __builtin_prefetch(message.data);
        batch->data[at + i] = message.data;
        batch->nbytes[at + i] = message.nbytes;
        batch->shapes[at + i] = shape_of(alg, message.nbytes);
        batch->digests[at + i] = digests + (first + i) * digest_nbytes;
        differ |= batch->shapes[at + i] ^ batch->shapes[0];
    }
    return differ;
}

static size_t fetch(const hl_alg_info *alg, const struct hli_messages *all, size_t first, size_t n,
                    struct batch *batch, size_t at, uint8_t *digests)
{
    switch (all->layout) {
    case HLI_ROWS: return fetch_layout(HLI_ROWS, alg, all, first, n, batch, at, digests);
    case HLI_OFFSETS32: return fetch_layout(HLI_OFFSETS32, alg, all, first, n, batch, at, digests);
    case HLI_OFFSETS64: return fetch_layout(HLI_OFFSETS64, alg, all, first, n, batch, at, digests);
    default: return fetch_layout(HLI_SLICES, alg, all, first, n, batch, at, digests);
    }
}

/* What one step can take over from the last. */
struct step_memory {
    unsigned nlanes;                          /* of the states below; 0: none yet */
    union lane_states states;                 /* fresh messages in a kernel's layout */
    union lane_states outer;                  /* HMAC's second half, the same */
    uint64_t padded_nbytes;                   /* of the padding below; 1: none yet */
    uint8_t padding[2 * HL_BLOCK_MAX_NBYTES]; /* the end of every message of padded_nbytes, a whole number of blocks */
    int has_schedule;
    uint64_t schedule[80]; /* the padding's message schedule */
};

/* Hashes as many of batch[first .. end - 1], all of one shape, as the kernel has lanes, and returns how many. Not
 * inlined, so that its stack is not held while the window runs. */
static NOINLINE unsigned
hash_in_step(const hl_alg_info *alg, const struct hli_plan *plan, const hl_kernel *kernel,
             const struct hli_edges *edges, struct step_memory *memory, const struct batch *batch, size_t first,
             size_t end)
{
    const unsigned nlanes = kernel->nlanes, n = end - first < nlanes ? (unsigned)(end - first) : nlanes;
    const size_t shape = batch->shapes[first], nblocks = shape >> 2, nwhole = nblocks << block_shift(alg);
    const uint64_t ndone = plan->begin_nbytes + nwhole;
    const enum ending_kind kind = shape & 3;
    const uint8_t *const *data = batch->data + first;
    const size_t *nbytes = batch->nbytes + first;
    union lane_states states;
    struct tails tails;
    const uint8_t *msg[LANES], *rests[LANES];
    size_t nrests[LANES];

    if (memory->nlanes != nlanes) {
        for (unsigned l = 0; l < nlanes; l++) {
            load_lane(alg, &memory->states, nlanes, l, plan->begin);
            if (plan->outer != NULL)
                load_lane(alg, &memory->outer, nlanes, l, plan->outer);
        }
        memory->nlanes = nlanes;
    }
    hli_copy(&states, &memory->states, (size_t)nlanes * alg->nwords * alg->word_nbytes);

    if (nblocks > 0) {
        for (unsigned l = 0; l < nlanes; l++)
            msg[l] = data[l < n ? l : 0]; /* those that have no message work on another's */
        kernel->blocks(&states, msg, nblocks);
        for (unsigned l = 0; l < n; l++) {
            rests[l] = data[l] + nwhole;
            nrests[l] = nbytes[l] - nwhole;
        }
        data = rests;
        nbytes = nrests;
    }

    if (kind == PADDING_ONLY) {
        if (memory->padded_nbytes != ndone) {
            hli_pad_scalar(alg, 1, &(const uint8_t *){NULL}, &(size_t){0}, ndone, 1, memory->padding);
            memory->padded_nbytes = ndone;
            memory->has_schedule = 0;
        }
        for (unsigned l = 0; l < nlanes; l++)
            msg[l] = memory->padding;
    } else {
        edges->pad(alg, kind == TWO_BLOCKS ? 2 : 1, data, nbytes, ndone, n, tails.bytes);
        for (unsigned l = 0; l < nlanes; l++)
            msg[l] = tail_of(alg, &tails, l < n ? l : 0);
    }
    /* A schedule takes 90 to 150 ns to make. With it a step saves a third over lanes of SHA-2, less of others, and over
     * the SHA instructions, on Intel, nothing. */
    const int pays = first + n < end && end - first >= 8;
    if (kind == PADDING_ONLY && kernel->scheduled != NULL && (memory->has_schedule || pays)) {
        if (!memory->has_schedule)
            hli_schedule(alg->body, memory->padding, memory->schedule);
        memory->has_schedule = 1;
        kernel->scheduled(&states, memory->schedule);
    } else {
        kernel->blocks(&states, msg, kind == TWO_BLOCKS ? 2 : 1);
    }
    if (plan->outer != NULL)
        hash_again(alg, kernel, edges, &memory->outer, &states, &tails, n);
    edges->digests(alg, &states, nlanes, n, batch->digests + first);
    return n;
}

/* ---- Whole messages ---------------------------------------------------------------------------------------------- */

/* The messages that go on from one filling of the window to the next. */
struct window {
    hl_state states[WINDOW];
    struct run_item items[WINDOW];
    struct ending endings[WINDOW]; /* items[i], endings[i] and states[i] are of one message */
    size_t n;
};

static void join_window(const hl_alg_info *alg, const struct hli_plan *plan, struct window *window,
                        const struct batch *batch, size_t at)
{
    const size_t i = window->n++, nblocks = batch->shapes[at] >> 2, nwhole = nblocks << block_shift(alg);
    const size_t nbytes = batch->nbytes[at];

    hli_copy(&window->states[i], plan->begin, (size_t)alg->nwords * alg->word_nbytes);
    window->items[i] = (struct run_item){&window->states[i], batch->data[at], nblocks};
    window->endings[i] = (struct ending){&window->states[i], after(batch->data[at], nwhole), nbytes - nwhole,
                                         plan->begin_nbytes + nbytes, batch->digests[at]};
}

/* Advances the window, ends the messages that are through, and moves the others together at the front. */
static NOINLINE void run_window(const hl_alg_info *alg, const struct hli_plan *plan, struct window *window, int more)
{
    const struct ending *done[WINDOW];
    size_t ndone = 0, nkept = 0;

    run(alg, plan, window->items, window->n, more);
    for (size_t i = 0; i < window->n; i++)
        if (window->items[i].nblocks == 0)
            done[ndone++] = &window->endings[i];
    finish(alg, plan, done, ndone);
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

/* `sorted` = the first n of `batch`, those of one shape side by side, the longest first. */
static void sort_batch(const struct batch *batch, size_t n, struct batch *sorted)
{
    uint8_t classes[WINDOW], order[WINDOW];

    for (size_t i = 0; i < n; i++)
        classes[i] = size_class(batch->shapes[i]);
    sort_largest_first(classes, n, order);
    for (size_t i = 0; i < n; i++)
        copy_message(sorted, i, batch, order[i]);
}

/* `wide` is the best for all of them if they are long. */
static NOINLINE void hash_all(const hl_alg_info *alg, const struct hli_plan *plan, const hl_kernel *wide,
                              const struct hli_messages *all, uint8_t *digests)
{
    const struct hli_edges edges = choose_edges(plan);
    /* Of fewer, those that are left over in the end would cost what the others gain. */
    const hl_kernel *const wide_short = all->count > WINDOW ? choose_short(plan) : wide;
    struct step_memory memory;
    struct window window;
    struct batch batch, sorted;
    size_t next = 0, nkept = 0, kept_differ = 0; /* batch[0 .. nkept - 1] wait for others of their shape */
    int window_used = 0;

    memory.nlanes = 0;
    memory.padded_nbytes = 1;
    window.n = 0;
    while (next < all->count || window.n > 0) {
        const size_t room = WINDOW - window.n - nkept, left = all->count - next, nnew = left < room ? left : room;
        const size_t n = nkept + nnew;
        const int more = nnew < left;
        const struct batch *ready = &batch;

        kept_differ |= fetch(alg, all, next, nnew, &batch, nkept, digests);
        next += nnew;
        if (kept_differ != 0) {
            for (size_t i = 0; i < n; i++)
                if (batch.shapes[i] == (1 << 2 | PADDING_ONLY)) /* too few for a padding of their own */
                    batch.shapes[i] = TWO_BLOCKS;
            sort_batch(&batch, n, &sorted);
            ready = &sorted;
        }

        /* Stretches of one shape go in step, as long as they fill all lanes. Then those that are nothing but an ending
         * wait for more of them, and the others join the window. */
        nkept = kept_differ = 0;
        for (size_t i = 0, end; i < n; i = end) {
            const size_t shape = ready->shapes[i];
            end = ready == &batch ? n : i + 1;
            while (end < n && ready->shapes[end] == shape)
                end++;
            const int is_ending = shape >> 2 == 0;
            const int nothing_else = !more && (is_ending || (end - i == n && window.n == 0));
            while (i < end) {
                const int is_short = is_ending || (shape >> 2 <= SHORT_NBLOCKS && end - i >= wide_short->nlanes);
                const hl_kernel *const best = is_short ? wide_short : wide;
                if (end - i < best->nlanes && !nothing_else)
                    break;
                const int fits = end - i > LANES || end - i == all->count || (end - i) % best->nlanes == 0;
                i += hash_in_step(alg, plan, fits ? best : choose(plan, end - i), &edges, &memory, ready, i, end);
            }
            for (; i < end; i++) {
                if (!is_ending) {
                    join_window(alg, plan, &window, ready, i);
                    continue;
                }
                copy_message(&batch, nkept++, ready, i); /* never onto one that is still to come */
                kept_differ |= shape ^ batch.shapes[0];
            }
        }
        if (window.n > 0) {
            run_window(alg, plan, &window, more);
            window_used = 1;
        }
    }
    if (plan->is_secret) { /* all that this frame has of it; the rest is pointers and lengths */
        hli_wipe(&memory.states, sizeof memory.states);
        hli_wipe(&memory.outer, sizeof memory.outer);
        if (window_used)
            hli_wipe(&window.states, sizeof window.states);
    }
    forget(alg, plan, all->count);
}

/* Ends one message, in the plain layout: what is left of it after nwhole bytes, and the digest. HMAC's second half is
 * one more ending, of that digest, from the outer state. */
static NOINLINE void end_one(const hl_alg_info *alg, const struct hli_plan *plan, const hl_kernel *kernel,
                             hl_state *state, const uint8_t *rest, size_t nrest, uint64_t nwhole, uint8_t *digest)
{
    uint8_t tail[2 * HL_BLOCK_MAX_NBYTES] __attribute__((aligned(64))), inner[HL_DIGEST_MAX_NBYTES];
    const uint8_t *const msg = tail;

    for (const void *outer = plan->outer;; outer = NULL) {
        const unsigned nblocks = hli_ending_nblocks(alg, nrest);
        hli_pad_scalar(alg, nblocks, &rest, &nrest, nwhole, 1, tail);
        kernel->blocks(state, &msg, nblocks);
        if (outer == NULL)
            break;
        hli_digests_scalar(alg, state, 1, 1, &(uint8_t *){inner});
        hli_copy(state, outer, (size_t)alg->nwords * alg->word_nbytes);
        rest = inner;
        nrest = alg->digest_nbytes;
        nwhole = alg->block_nbytes;
    }
    hli_digests_scalar(alg, state, 1, 1, &digest);
}

/* One message alone has no use for a window. */
static NOINLINE void hash_one(const hl_alg_info *alg, const struct hli_plan *plan, const hl_kernel *kernel,
                              hl_slice message, uint8_t *digest)
{
    const size_t nblocks = whole_blocks(alg, message.nbytes), nwhole = nblocks << block_shift(alg);
    const uint8_t *data = message.data;
    hl_state state;

    hli_copy(&state, plan->begin, (size_t)alg->nwords * alg->word_nbytes);
    if (nblocks > 0)
        kernel->blocks(&state, &data, nblocks);
    end_one(alg, plan, kernel, &state, after(data, nwhole), message.nbytes - nwhole, plan->begin_nbytes + nwhole,
            digest);
}

void hli_hash(const hl_alg_info *alg, const struct hli_plan *plan, const struct hli_messages *all, uint8_t *digests)
{
    const hl_kernel *kernel = choose(plan, all->count);

    if (all->count != 1 || kernel->nlanes != 1) {
        hash_all(alg, plan, kernel, all, digests);
        return;
    }
    hash_one(alg, plan, kernel, message_at(all->layout, all, 0), digests);
    forget(alg, plan, 1);
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

void hli_update(const hl_alg_info *alg, const struct hli_plan *plan, hl_ctx *const ctxs[], const hl_slice *chunks,
                size_t count)
{
    const size_t block_nbytes = alg->block_nbytes;
    struct run_item items[WINDOW];
    size_t nhashed = 0;

    for (size_t start = 0; start < count; start += WINDOW) {
        const size_t n = count - start < WINDOW ? count - start : WINDOW;
        size_t nitems = 0;

        /* Blocks begun in an earlier call: fill them up, and hash those that are full. */
        for (size_t i = start; i < start + n; i++) {
            const size_t held = rest_of_block(alg, ctxs[i]->nbytes), room = block_nbytes - held;
            const size_t ntaken = chunks[i].nbytes < room ? chunks[i].nbytes : room;
            if (held == 0 || ntaken == 0)
                continue;
            hli_copy(ctxs[i]->block + held, chunks[i].data, ntaken);
            if (ntaken == room)
                items[nitems++] = (struct run_item){&ctxs[i]->state, ctxs[i]->block, 1};
        }
        run(alg, plan, items, nitems, 0);
        nhashed += nitems;

        nitems = 0;
        for (size_t i = start; i < start + n; i++) {
            const size_t held = rest_of_block(alg, ctxs[i]->nbytes), room = held == 0 ? 0 : block_nbytes - held;
            if (chunks[i].nbytes >= room + block_nbytes)
                items[nitems++] = (struct run_item){&ctxs[i]->state, (const uint8_t *)chunks[i].data + room,
                                                    whole_blocks(alg, chunks[i].nbytes - room)};
        }
        run(alg, plan, items, nitems, 0);
        nhashed += nitems;

        for (size_t i = start; i < start + n; i++) {
            const size_t held = rest_of_block(alg, ctxs[i]->nbytes), room = held == 0 ? 0 : block_nbytes - held;
            if (chunks[i].nbytes > room || held == 0) {
                const size_t nrest = rest_of_block(alg, chunks[i].nbytes - room);
                if (nrest != 0)
                    hli_copy(ctxs[i]->block, (const uint8_t *)chunks[i].data + chunks[i].nbytes - nrest, nrest);
            }
            ctxs[i]->nbytes += chunks[i].nbytes;
        }
    }
    if (nhashed > 0) /* else no state was touched */
        forget(alg, plan, count);
}

void hli_final(const hl_alg_info *alg, const struct hli_plan *plan, hl_ctx *const ctxs[], size_t count,
               uint8_t *digests)
{
    struct ending endings[WINDOW];
    const struct ending *all[WINDOW];

    if (count == 1) {
        const hl_kernel *alone = choose(plan, 1);
        if (alone->nlanes == 1) {
            hl_ctx *ctx = ctxs[0];
            const size_t nrest = rest_of_block(alg, ctx->nbytes);
            end_one(alg, plan, alone, &ctx->state, ctx->block, nrest, ctx->nbytes - nrest, digests);
            hli_wipe(ctx, sizeof *ctx);
            forget(alg, plan, 1);
            return;
        }
    }
    for (size_t start = 0; start < count; start += WINDOW) {
        const size_t n = count - start < WINDOW ? count - start : WINDOW;
        for (size_t i = 0; i < n; i++) {
            hl_ctx *ctx = ctxs[start + i];
            endings[i] = (struct ending){&ctx->state, ctx->block, rest_of_block(alg, ctx->nbytes), ctx->nbytes,
                                         digests + (start + i) * alg->digest_nbytes};
            all[i] = &endings[i];
        }
        finish(alg, plan, all, n);
        for (size_t i = 0; i < n; i++)
            hli_wipe(ctxs[start + i], sizeof *ctxs[start + i]);
    }
    forget(alg, plan, count);
}
