/* many.c: the lane driver: messages of any number and length in, runs of whole blocks for a kernel out.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A message is its whole blocks, read where they lie, and an ending of one or two blocks, made here: the rest, the
 * padding and the length. There are two ways through:
 *
 *   in step   Messages with equally many blocks fill all lanes and are begun, advanced and ended together, their states
 *             never leaving the kernel's layout (hash_in_step). Rows, and the common case of many short messages.
 *   ragged    All others wait in a window on the stack, longest first. A lane whose message ends takes the next; when
 *             nothing waits, the window is filled up again while long messages go on; when nothing is left to fill it
 *             with, the few states move to the kernel that is best for so few (run). Endings are collected and done
 *             with full lanes (finish). So one long message among short ones costs what it costs alone.
 *
 * Layouts of a state: "plain" is its words in order; a kernel's is word w of lane l at w * nlanes + l. With one lane
 * they are the same.
 */
#include "core.h"

enum {
    WINDOW = 128,        /* messages sorted against each other; 11 KiB of stack */
    LANES = HL_LANES_MAX /* messages in step */
};

union plain_state {
    uint32_t w32[8];
    uint64_t w64[8];
};

union lane_states {
    uint32_t w32[8 * LANES];
    uint64_t w64[8 * LANES];
} __attribute__((aligned(64)));

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

/* ---- Padding and digests ------------------------------------------------------------------------------------------ */

/* FIPS 180-4 section 5.1: a one bit, zeros, and the length in bits in the last two words of the last block. */
static unsigned ending_nblocks(const hl_alg_info *alg, size_t nrest)
{
    return nrest + 1 + 2 * alg->word_nbytes <= alg->block_nbytes ? 1 : 2;
}

static void pad(const hl_alg_info *alg, uint8_t out[2 * HL_BLOCK_MAX_NBYTES], const uint8_t *rest, size_t nrest,
                uint64_t nbytes)
{
    const size_t end = ending_nblocks(alg, nrest) * (size_t)alg->block_nbytes;

    if (nrest != 0) /* rest may be NULL, which memcpy must not be given */
        hli_copy(out, rest, nrest);
    out[nrest] = 0x80;
    hli_zero(out + nrest + 1, end - nrest - 1);
    hli_store_be64(out + end - 8, nbytes << 3);
    if (alg->word_nbytes == 8)
        hli_store_be64(out + end - 16, nbytes >> 61);
}

static void write_digest(const hl_alg_info *alg, const void *states, unsigned nlanes, unsigned lane, uint8_t *digest)
{
    const uint32_t *s = states;

    for (unsigned w = 0; w < alg->digest_nbytes / 4; w++)
        hli_store_be32(digest + 4 * w, s[w * nlanes + lane]);
}

/* ---- Moving states between layouts --------------------------------------------------------------------------------- */

static void load_lane(const hl_alg_info *alg, union lane_states *states, unsigned nlanes, unsigned lane,
                      const void *plain)
{
    const uint32_t *from = plain;

    for (unsigned w = 0; w < alg->nwords; w++)
        states->w32[w * nlanes + lane] = from[w];
}

static void save_lane(const hl_alg_info *alg, const union lane_states *states, unsigned nlanes, unsigned lane,
                      void *plain)
{
    uint32_t *to = plain;

    for (unsigned w = 0; w < alg->nwords; w++)
        to[w] = states->w32[w * nlanes + lane];
}

/* ---- Order ----------------------------------------------------------------------------------------------------------- */

/* Sorts by 256 classes of size: every count of blocks below 64 on its own and with its kind of ending, then eight
 * classes an octave. Finer would not fill lanes better. */
static uint8_t size_class(size_t nblocks, unsigned ending)
{
    if (nblocks < 64)
        return (uint8_t)(2 * nblocks + ending - 1);
    const unsigned octave = 63 - (unsigned)__builtin_clzll(nblocks);
    const unsigned class = 128 + 8 * (octave - 6) + (unsigned)(nblocks >> (octave - 3) & 7);
    return (uint8_t)(class < 255 ? class : 255);
}

/* order = 0 .. n - 1, the largest class first, equal ones as they stand (counting sort). */
static void sort_largest_first(const uint8_t classes[], size_t n, uint8_t order[])
{
    uint8_t start[256];
    unsigned total = 0;
    int uniform = 1;

    for (size_t i = 0; i < n; i++) {
        order[i] = (uint8_t)i;
        uniform &= classes[i] == classes[0];
    }
    if (uniform)
        return;
    hli_zero(start, sizeof start);
    for (size_t i = 0; i < n; i++)
        start[classes[i]]++;
    for (int c = 255; c >= 0; c--) {
        const unsigned here = start[c];
        start[c] = (uint8_t)total;
        total += here;
    }
    for (size_t i = 0; i < n; i++)
        order[start[classes[i]]++] = (uint8_t)i;
}

/* ---- Ragged -------------------------------------------------------------------------------------------------------- */

static const hl_kernel *choose(const hl_alg_info *alg, const hl_kernel *forced, size_t nmessages)
{
    return forced != NULL ? forced : hli_choose(alg->body, nmessages);
}

/* Advances items (at most WINDOW of them) until all are done, or, if `more` messages could be had to fill lanes with,
 * until a lane stands idle. Each item says on return what is left of it. */
static void run(const hl_alg_info *alg, const hl_kernel *forced, struct run_item items[], size_t n, int more)
{
    union lane_states states;
    const uint8_t *msg[LANES];
    struct run_item *lanes[LANES]; /* the item in each lane; NULL: idle */
    uint8_t classes[WINDOW], order[WINDOW];
    size_t first = 0, end = n; /* order[first .. end - 1] wait */
    const hl_kernel *kernel = NULL;
    unsigned nbusy = 0;

    for (size_t i = 0; i < n; i++)
        classes[i] = size_class(items[i].nblocks, 1);
    sort_largest_first(classes, n, order);
    while (end > 0 && items[order[end - 1]].nblocks == 0)
        end--;

    for (;;) {
        if (first == end) {
            if (nbusy == 0)
                return;
            const int stop = more && nbusy < kernel->nlanes;
            const hl_kernel *best = choose(alg, forced, nbusy);
            if (stop || best != kernel) { /* all states leave the lanes, the longest first in the queue */
                first = end = 0;
                for (unsigned l = 0; l < kernel->nlanes; l++) {
                    if (lanes[l] == NULL)
                        continue;
                    if (kernel->nlanes > 1)
                        save_lane(alg, &states, kernel->nlanes, l, lanes[l]->state);
                    size_t at = end++;
                    for (; at > 0 && items[order[at - 1]].nblocks < lanes[l]->nblocks; at--)
                        order[at] = order[at - 1];
                    order[at] = (uint8_t)(lanes[l] - items);
                }
                if (stop)
                    return;
                kernel = NULL;
            }
        }
        if (kernel == NULL) {
            kernel = choose(alg, forced, end - first);
            nbusy = 0;
            for (unsigned l = 0; l < kernel->nlanes; l++)
                lanes[l] = NULL;
        }

        /* Fill the idle lanes and find the shortest run. */
        size_t nblocks = SIZE_MAX;
        const uint8_t *any = NULL;
        for (unsigned l = 0; l < kernel->nlanes; l++) {
            if (lanes[l] == NULL && first < end) {
                lanes[l] = &items[order[first++]];
                nbusy++;
                if (kernel->nlanes > 1)
                    load_lane(alg, &states, kernel->nlanes, l, lanes[l]->state);
            }
            if (lanes[l] != NULL) {
                any = msg[l] = lanes[l]->data;
                if (lanes[l]->nblocks < nblocks)
                    nblocks = lanes[l]->nblocks;
            }
        }
        if (nbusy < kernel->nlanes)
            for (unsigned l = 0; l < kernel->nlanes; l++)
                if (lanes[l] == NULL) {
                    msg[l] = any;
                    load_lane(alg, &states, kernel->nlanes, l, alg->iv); /* anything defined */
                }

        kernel->blocks(kernel->nlanes > 1 ? &states : lanes[0]->state, msg, nblocks);

        for (unsigned l = 0; l < kernel->nlanes; l++) {
            if (lanes[l] == NULL)
                continue;
            lanes[l]->data += nblocks * alg->block_nbytes;
            lanes[l]->nblocks -= nblocks;
            if (lanes[l]->nblocks == 0) {
                if (kernel->nlanes > 1)
                    save_lane(alg, &states, kernel->nlanes, l, lanes[l]->state);
                lanes[l] = NULL;
                nbusy--;
            }
        }
    }
}

/* Does the endings, those of one block first, and writes the digests. */
static void finish(const hl_alg_info *alg, const hl_kernel *forced, const struct ending *const endings[], size_t n)
{
    uint8_t tails[LANES][2 * HL_BLOCK_MAX_NBYTES];
    struct run_item items[LANES];
    const struct ending *batch[LANES];

    for (unsigned nblocks = 1; nblocks <= 2; nblocks++) {
        size_t nbatch = 0;
        for (size_t i = 0; i <= n; i++) {
            if (i < n && ending_nblocks(alg, endings[i]->nrest) == nblocks) {
                const struct ending *e = endings[i];
                pad(alg, tails[nbatch], e->rest, e->nrest, e->nbytes);
                items[nbatch] = (struct run_item){e->state, tails[nbatch], nblocks};
                batch[nbatch++] = e;
            }
            if (nbatch == LANES || (i == n && nbatch > 0)) {
                run(alg, forced, items, nbatch, 0);
                for (size_t j = 0; j < nbatch; j++)
                    write_digest(alg, batch[j]->state, 1, 0, batch[j]->digest);
                nbatch = 0;
            }
        }
    }
}

/* ---- In step --------------------------------------------------------------------------------------------------------- */

struct message {
    const uint8_t *data;
    size_t nbytes;
    size_t index;
};

/* Whether two messages have as many whole blocks and as many ending blocks as each other. */
static int same_shape(const hl_alg_info *alg, const struct message *a, const struct message *b)
{
    return a->nbytes / alg->block_nbytes == b->nbytes / alg->block_nbytes &&
           ending_nblocks(alg, a->nbytes % alg->block_nbytes) == ending_nblocks(alg, b->nbytes % alg->block_nbytes);
}

/* Hashes n <= kernel->nlanes messages of the same shape. */
static void hash_in_step(const hl_alg_info *alg, const hl_kernel *kernel, const struct message *const messages[],
                         unsigned n, uint8_t *digests)
{
    const unsigned nlanes = kernel->nlanes;
    const size_t nblocks = messages[0]->nbytes / alg->block_nbytes, nwhole = nblocks * alg->block_nbytes;
    union lane_states states;
    uint8_t tails[LANES][2 * HL_BLOCK_MAX_NBYTES];
    const uint8_t *msg[LANES];

    for (unsigned w = 0; w < alg->nwords; w++)
        for (unsigned l = 0; l < nlanes; l++)
            states.w32[w * nlanes + l] = ((const uint32_t *)alg->iv)[w];
    if (nblocks > 0) {
        for (unsigned l = 0; l < nlanes; l++)
            msg[l] = messages[l < n ? l : 0]->data;
        kernel->blocks(&states, msg, nblocks);
    }
    for (unsigned l = 0; l < nlanes; l++) {
        const size_t nrest = l < n ? messages[l]->nbytes - nwhole : 0;
        if (l > 0 && (l >= n || (nrest == 0 && messages[0]->nbytes == nwhole))) {
            msg[l] = msg[0]; /* idle, or the same message end: padding only */
        } else {
            pad(alg, tails[l], after(messages[l]->data, nwhole), nrest, messages[l]->nbytes);
            msg[l] = tails[l];
        }
    }
    kernel->blocks(&states, msg, ending_nblocks(alg, messages[0]->nbytes - nwhole));
    for (unsigned l = 0; l < n; l++)
        write_digest(alg, &states, nlanes, l, digests + messages[l]->index * alg->digest_nbytes);
}

/* ---- Whole messages -------------------------------------------------------------------------------------------------- */

static struct message get_message(const struct hli_messages *all, size_t i)
{
    switch (all->layout) {
    case HLI_ROWS:
        return (struct message){(const uint8_t *)all->base + i * all->stride, all->nbytes, i};
    case HLI_OFFSETS32: {
        const int32_t *offsets = all->offsets;
        return (struct message){(const uint8_t *)all->base + offsets[i], (size_t)(offsets[i + 1] - offsets[i]), i};
    }
    case HLI_OFFSETS64: {
        const int64_t *offsets = all->offsets;
        return (struct message){(const uint8_t *)all->base + offsets[i], (size_t)(offsets[i + 1] - offsets[i]), i};
    }
    default: {
        const hl_slice *slice = (const hl_slice *)all->base + i;
        return (struct message){slice->data, slice->nbytes, i};
    }
    }
}

void hli_hash(const hl_alg_info *alg, const hl_kernel *forced, const struct hli_messages *all, uint8_t *digests)
{
    union plain_state states[WINDOW];
    struct run_item items[WINDOW];
    struct ending endings[WINDOW]; /* endings[i] and items[i] are of the same message */
    size_t nlive = 0, next = 0;

    while (next < all->count || nlive > 0) {
        struct message fresh[WINDOW];
        const struct message *sorted[WINDOW];
        uint8_t classes[WINDOW], order[WINDOW];
        const size_t room = WINDOW - nlive, left = all->count - next, n = left < room ? left : room;

        for (size_t i = 0; i < n; i++) {
            fresh[i] = get_message(all, next++);
            const size_t nblocks = fresh[i].nbytes / alg->block_nbytes;
            classes[i] = size_class(nblocks, ending_nblocks(alg, fresh[i].nbytes - nblocks * alg->block_nbytes));
        }
        sort_largest_first(classes, n, order);
        for (size_t i = 0; i < n; i++)
            sorted[i] = &fresh[order[i]];

        /* Stretches of the same size go in step, as long as they fill all lanes; the others join the window. */
        const unsigned wide = choose(alg, forced, n + nlive)->nlanes;
        for (size_t i = 0, j; i < n; i = j) {
            for (j = i + 1; j < n && same_shape(alg, sorted[j], sorted[i]);)
                j++;
            const int nothing_else = j - i == n && nlive == 0;
            while (i < j && (j - i >= wide || nothing_else)) {
                const hl_kernel *kernel = choose(alg, forced, j - i);
                const unsigned nstep = j - i < kernel->nlanes ? (unsigned)(j - i) : kernel->nlanes;
                hash_in_step(alg, kernel, sorted + i, nstep, digests);
                i += nstep;
            }
            for (; i < j; i++) {
                const struct message *m = sorted[i];
                const size_t nblocks = m->nbytes / alg->block_nbytes, nwhole = nblocks * alg->block_nbytes;
                hli_copy(&states[nlive], alg->iv, (size_t)alg->nwords * alg->word_nbytes);
                items[nlive] = (struct run_item){&states[nlive], m->data, nblocks};
                endings[nlive] = (struct ending){&states[nlive], after(m->data, nwhole),
                                                 m->nbytes - nwhole, m->nbytes,
                                                 digests + m->index * alg->digest_nbytes};
                nlive++;
            }
        }
        if (nlive == 0)
            continue;

        run(alg, forced, items, nlive, next < all->count);

        /* End those that are through; the others move together at the front. */
        const struct ending *done[WINDOW];
        size_t ndone = 0, nkept = 0;
        for (size_t i = 0; i < nlive; i++)
            if (items[i].nblocks == 0)
                done[ndone++] = &endings[i];
        finish(alg, forced, done, ndone);
        for (size_t i = 0; i < nlive; i++) {
            if (items[i].nblocks == 0)
                continue;
            if (nkept != i) {
                states[nkept] = states[i];
                items[nkept] = items[i];
                endings[nkept] = endings[i];
                items[nkept].state = endings[nkept].state = &states[nkept];
            }
            nkept++;
        }
        nlive = nkept;
    }
}

/* ---- Streams --------------------------------------------------------------------------------------------------------- */

void hli_update(const hl_alg_info *alg, hl_ctx *const ctxs[], const hl_slice *chunks, size_t count)
{
    const size_t block_nbytes = alg->block_nbytes;
    struct run_item items[WINDOW];

    for (size_t start = 0; start < count; start += WINDOW) {
        const size_t n = count - start < WINDOW ? count - start : WINDOW;
        size_t nitems = 0;

        /* Blocks begun in an earlier call: fill them up, and hash those that are full. */
        for (size_t i = start; i < start + n; i++) {
            const size_t held = ctxs[i]->nbytes % block_nbytes, room = block_nbytes - held;
            const size_t ntaken = chunks[i].nbytes < room ? chunks[i].nbytes : room;
            if (held == 0 || ntaken == 0)
                continue;
            hli_copy(ctxs[i]->block + held, chunks[i].data, ntaken);
            if (ntaken == room)
                items[nitems++] = (struct run_item){&ctxs[i]->state, ctxs[i]->block, 1};
        }
        run(alg, NULL, items, nitems, 0);

        nitems = 0;
        for (size_t i = start; i < start + n; i++) {
            const size_t held = ctxs[i]->nbytes % block_nbytes, room = held == 0 ? 0 : block_nbytes - held;
            if (chunks[i].nbytes >= room + block_nbytes)
                items[nitems++] = (struct run_item){&ctxs[i]->state, (const uint8_t *)chunks[i].data + room,
                                                    (chunks[i].nbytes - room) / block_nbytes};
        }
        run(alg, NULL, items, nitems, 0);

        for (size_t i = start; i < start + n; i++) {
            const size_t held = ctxs[i]->nbytes % block_nbytes, room = held == 0 ? 0 : block_nbytes - held;
            if (chunks[i].nbytes > room || held == 0) {
                const size_t nrest = (chunks[i].nbytes - room) % block_nbytes;
                if (nrest != 0)
                    hli_copy(ctxs[i]->block, (const uint8_t *)chunks[i].data + chunks[i].nbytes - nrest, nrest);
            }
            ctxs[i]->nbytes += chunks[i].nbytes;
        }
    }
}

/* A store that no optimiser may drop although the memory is not read again. */
static void wipe(hl_ctx *ctx)
{
    hli_zero(ctx, sizeof *ctx);
    __asm__ volatile("" : : "r"(ctx) : "memory");
}

void hli_final(const hl_alg_info *alg, hl_ctx *const ctxs[], size_t count, uint8_t *digests)
{
    struct ending endings[WINDOW];
    const struct ending *all[WINDOW];

    for (size_t start = 0; start < count; start += WINDOW) {
        const size_t n = count - start < WINDOW ? count - start : WINDOW;
        for (size_t i = 0; i < n; i++) {
            hl_ctx *ctx = ctxs[start + i];
            endings[i] = (struct ending){&ctx->state, ctx->block, ctx->nbytes % alg->block_nbytes, ctx->nbytes,
                                         digests + (start + i) * alg->digest_nbytes};
            all[i] = &endings[i];
        }
        finish(alg, NULL, all, n);
        for (size_t i = 0; i < n; i++)
            wipe(ctxs[start + i]);
    }
}
