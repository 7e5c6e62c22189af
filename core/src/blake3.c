/* blake3.c: the tree of BLAKE3 over the lane driver, which hashes its chunks and nodes as short messages.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A message of more than HLI_CHUNK_NBYTES is cut into chunks. The chaining values of two neighbours are the 64 bytes of
 * a node, and so on up to the root (BLAKE3 section 2.1). Level by level, the left child of a node has as many chunks as
 * a power of two can be: pairs are joined, and one left over at the end goes up as it is. Chunks and nodes of up to
 * BATCH chunks, of one message or many, are in lanes together.
 *
 * A stream has the chaining values of the complete subtrees before its current chunk, the greatest first, as the one
 * bits of the number of chunks; and the bytes of that chunk. A full one waits there for more: it may be the last, which
 * ends otherwise, and beside others it is hashed in lanes.
 */
#include "blake3.h"
#include "lanes.h"

enum { CV_NBYTES = 32, DEPTH = 54 };
/* Chunks in lanes together: that are not full, of whole messages, of one message. */
enum { PARTIAL = 32, BATCH = 128, MANY = 256 };
enum { CHUNK_START = 1, CHUNK_END = 2, PARENT = 4, ROOT = 8, KEYED_HASH = 16, CONTEXT = 32, MATERIAL = 64 };

/* The places of words in a state (alg/blake.lanes.h). Only streams have the last two: the key, and the flags of all
 * chunks and nodes. */
enum { CHUNK_AT = HLI_COUNTER, NBYTES_AT = 10, FLAGS_AT = 11, LAST_FLAGS_AT = 12, KEY_AT = 16, MODE_AT = 24 };

/* All nodes of a call have this. */
struct tree {
    const struct hli_plan *plan; /* only choice, is_secret and forced are read */
    const uint32_t *key;         /* 8 words */
    uint32_t mode;               /* KEYED_HASH, CONTEXT, MATERIAL or none of them */
};

/* Overwrites what the functions below have left under the caller's frame: up to 19 KiB (gcc 12.2, x86-64). */
static void forget(const struct hli_plan *plan)
{
    if (plan->is_secret)
        hli_burn((size_t)20 << 10);
}

/* last: the flags of the last block beside. */
static void begin_at(const struct tree *tree, uint64_t chunk, uint32_t flags, uint32_t last, uint32_t words[])
{
    hli_copy(words, tree->key, CV_NBYTES);
    words[CHUNK_AT] = (uint32_t)chunk;
    words[CHUNK_AT + 1] = (uint32_t)(chunk >> 32);
    words[NBYTES_AT] = 64;
    words[FLAGS_AT] = tree->mode | flags;
    words[LAST_FLAGS_AT] = last;
}

/* The number of whole blocks of a full chunk or of a node, and the flags of its first and of its last block. */
struct kind {
    uint32_t nblocks, flags, last;
};
static const struct kind chunk_kind = {HLI_CHUNK_NBYTES / 64, CHUNK_START, CHUNK_END};
static const struct kind node_kind = {1, PARENT, 0}, root_kind = {1, PARENT, ROOT};

/* Full chunks or nodes that wait until they fill the lanes. The second half is for idle lanes. */
struct queue {
    const struct tree *tree;
    const struct kind *kind;
    const hl_kernel *wide; /* for HLI_LANES; NULL: not chosen yet */
    size_t n;
    const uint8_t *data[2 * HLI_LANES];
    uint32_t chunk[2][2 * HLI_LANES]; /* lower and upper words; of a node: 0 */
    uint8_t *to[2 * HLI_LANES];       /* the place for the chaining value; it may be the node's own */
};

/* No initialiser, which would write all of it. */
static void begin_queue(struct queue *queue, const struct tree *tree, const struct kind *kind)
{
    queue->tree = tree;
    queue->kind = kind;
    queue->wide = NULL;
    queue->n = 0;
}

/* Hashes `count` of those that wait, from `first` on, by a kernel's blocks(). No lane is stored alone: the load of its
 * whole row, which follows, would wait. */
static HLI_NOINLINE void hash_blocks(struct queue *queue, const hl_kernel *kernel, const uint32_t words[], size_t first,
                                     size_t count)
{
    const struct tree *const tree = queue->tree;
    const struct kind *const kind = queue->kind;
    const hl_alg_info *const alg = hl_alg_find(HL_BLAKE3);
    const unsigned nlanes = kernel->nlanes;
    const uint8_t **const msg = queue->data + first;
    union hli_lane_states states;
    uint32_t last[HLI_LANES]; /* flags */

    hli_splat_lanes(alg, &states, nlanes, words);
    hli_copy(states.w32 + CHUNK_AT * nlanes, queue->chunk[0] + first, nlanes * sizeof(uint32_t));
    hli_copy(states.w32 + (CHUNK_AT + 1) * nlanes, queue->chunk[1] + first, nlanes * sizeof(uint32_t));
    if (kind->nblocks > 1) {
        hli_advance_lanes(kernel, alg, &states, msg, kind->nblocks - 1);
        for (unsigned l = 0; l < nlanes; l++)
            msg[l] += (size_t)(kind->nblocks - 1) * 64;
        for (unsigned l = 0; l < HLI_LANES; l++)
            last[l] = tree->mode | kind->last;
        hli_copy(states.w32 + FLAGS_AT * nlanes, last, nlanes * sizeof last[0]);
    }
    hli_advance_lanes(kernel, alg, &states, msg, 1);
    hli_edges_of(tree->plan).digests(alg, &states, nlanes, (unsigned)count, queue->to + first);
    if (tree->plan->is_secret)
        hli_wipe(&states, sizeof states);
}

static HLI_NOINLINE void flush(struct queue *queue)
{
    const struct tree *const tree = queue->tree;
    const struct kind *const kind = queue->kind;
    const struct hli_pass pass = {.alg = hl_alg_find(HL_BLAKE3)};
    const size_t n = queue->n, nbytes = (size_t)kind->nblocks * 64;
    uint8_t idle[CV_NBYTES];
    uint32_t words[16];

    if (n == 0)
        return;
    begin_at(tree, 0, kind->flags, kind->last, words);
    if (kind->nblocks == 1)
        words[FLAGS_AT] |= kind->last;
    if (n == HLI_LANES && queue->wide == NULL)
        queue->wide = hli_kernel(tree->plan, &pass, n);
    for (size_t first = 0, count; first < n; first += count) {
        const hl_kernel *const wide = queue->wide;
        const hl_kernel *const kernel =
            wide != NULL && wide->nlanes <= n - first ? wide : hli_kernel(tree->plan, &pass, n - first);
        count = n - first < kernel->nlanes ? n - first : kernel->nlanes;
        for (size_t l = first + count; l < first + kernel->nlanes; l++) { /* idle lanes work on the first message */
            queue->data[l] = queue->data[first];
            queue->chunk[0][l] = queue->chunk[1][l] = 0;
            queue->to[l] = idle;
        }
        if (hli_takes_chunks(kernel)) {
            const uint32_t *const numbers[2] = {queue->chunk[0] + first, queue->chunk[1] + first};
            const struct hli_whole whole = {words, 0, kind->nblocks, numbers, CV_NBYTES, 1, 64, 0};
            hli_whole_of(kernel)(&whole, queue->data + first, &nbytes, queue->to + first);
        } else {
            hash_blocks(queue, kernel, words, first, count);
        }
    }
    queue->n = 0;
    if (tree->plan->is_secret) {
        hli_wipe(idle, sizeof idle);
        hli_wipe(words, sizeof words);
    }
}

/* Adds n chunks, of numbers from `chunk` on, or nodes (chunk: 0), one behind the other, as their values will be. These
 * may take the nodes' places: a group's values are written after its nodes were read. */
static void add(struct queue *queue, const uint8_t *data, uint64_t chunk, uint8_t *to, size_t n)
{
    const unsigned nblocks = queue->kind->nblocks;

    for (size_t i = queue->n; n > 0; n--) {
        queue->data[i] = data;
        queue->chunk[0][i] = (uint32_t)chunk;
        queue->chunk[1][i] = (uint32_t)(chunk >> 32);
        queue->to[i] = to;
        data += nblocks * 64;
        to += CV_NBYTES;
        chunk += nblocks > 1;
        queue->n = ++i;
        if (i == HLI_LANES) {
            flush(queue);
            i = 0;
        }
    }
}

/* digest = the root's, above `before`'s subtrees, which are overwritten, and the last one. */
static void join_subtrees(const struct tree *tree, uint8_t subtrees[][CV_NBYTES], unsigned nbefore,
                          const uint8_t last[CV_NBYTES], uint8_t digest[CV_NBYTES])
{
    uint8_t node[2][CV_NBYTES];

    hli_copy(node[1], last, CV_NBYTES);
    while (nbefore-- > 0) {
        struct queue queue;
        begin_queue(&queue, tree, nbefore == 0 ? &root_kind : &node_kind);
        hli_copy(node[0], subtrees[nbefore], CV_NBYTES);
        add(&queue, node[0], 0, node[1], 1);
        flush(&queue);
    }
    hli_copy(digest, node[1], CV_NBYTES);
    if (tree->plan->is_secret)
        hli_wipe(node, sizeof node);
}

/* The number of complete subtrees in the first `nchunks` chunks. */
static unsigned nsubtrees(uint64_t nchunks)
{
    unsigned n = 0;

    for (; nchunks != 0; nchunks &= nchunks - 1)
        n++;
    return n;
}

/* Adds n = 1 .. MANY complete subtrees of one size, which are not the last ones, behind `before` of that size. Their
 * values are values[1 .. n]; values[0] is room. */
static HLI_NOINLINE void add_values(const struct tree *tree, uint8_t subtrees[][CV_NBYTES], uint64_t before,
                                    uint8_t values[][CV_NBYTES], size_t n)
{
    uint8_t single[10][CV_NBYTES]; /* left over at a level, from the lowest on */
    unsigned nsingle = 0, nbefore = nsubtrees(before);
    struct queue queue;

    begin_queue(&queue, tree, &node_kind);
    for (; n > 0; before /= 2) { /* level by level; values[1] is the first */
        size_t first = 1;
        if (before % 2 != 0) {
            hli_copy(values[0], subtrees[--nbefore], CV_NBYTES);
            first = 0;
            n++;
        }
        if (n % 2 != 0)
            hli_copy(single[nsingle++], values[first + n - 1], CV_NBYTES);
        n /= 2;
        add(&queue, values[first], 0, values[1], n);
        flush(&queue);
    }
    while (nsingle > 0)
        hli_copy(subtrees[nbefore++], single[--nsingle], CV_NBYTES);
    if (tree->plan->is_secret)
        hli_wipe(single, sizeof single);
}

/* Hashes n = 1 .. MANY complete chunks, which are not the last ones, behind `before` of a tree that begins with chunk
 * `first`. If `held` is not NULL, the first of them is there, and `data` begins with the second one. */
static HLI_NOINLINE void hash_chunks(const struct tree *tree, uint8_t subtrees[][CV_NBYTES], uint64_t first,
                                     uint64_t before, const uint8_t *held, const uint8_t *data, size_t n)
{
    uint8_t values[1 + MANY][CV_NBYTES];
    struct queue queue;

    begin_queue(&queue, tree, &chunk_kind);
    if (held != NULL)
        add(&queue, held, first + before, values[1], 1);
    add(&queue, data, first + before + (held != NULL), values[1 + (held != NULL)], n - (held != NULL));
    flush(&queue);
    add_values(tree, subtrees, before, values, n);
    if (tree->plan->is_secret)
        hli_wipe(values, sizeof values);
}

/* ---- Whole messages ---------------------------------------------------------------------------------------------- */

static size_t nchunks_of(size_t nbytes)
{
    return nbytes == 0 ? 1 : (nbytes - 1) / HLI_CHUNK_NBYTES + 1;
}

/* Chunks of any lengths: not full, or the only one of their message. */
struct partial {
    const struct tree *tree;
    size_t n;
    uint32_t states[PARTIAL][16];
    struct hli_item items[PARTIAL];
    struct hli_ending endings[PARTIAL];
};

/* A chunk whose value goes to values[at]. last: the flags of its last block beside. */
static void add_partial(struct partial *partial, const uint8_t *data, size_t nbytes, uint64_t chunk, uint32_t last,
                        size_t at)
{
    const hl_alg_info *const alg = hl_alg_find(HL_BLAKE3);
    const size_t i = partial->n++, nrest = hli_rest_of_block(alg, nbytes), nwhole = nbytes - nrest;
    uint32_t *const state = partial->states[i];

    begin_at(partial->tree, chunk, CHUNK_START, last, state);
    partial->items[i] = (struct hli_item){state, data, nwhole / 64};
    partial->endings[i] = (struct hli_ending){state, hli_after(data, nwhole), nrest, nbytes, at};
}

static HLI_NOINLINE void flush_partial(struct partial *partial, uint8_t values[][CV_NBYTES])
{
    struct hli_plan plan = *partial->tree->plan;
    struct hli_ends ends;

    if (partial->n == 0)
        return;
    plan.first.alg = hl_alg_find(HL_BLAKE3);
    plan.second.alg = NULL;
    plan.digests = values[0];
    plan.digest_stride = CV_NBYTES;
    hli_ends_init(&ends, &plan, (struct hli_kernels){NULL, NULL, NULL, 0});
    hli_advance(&plan, partial->items, partial->n, 0);
    hli_finish(&ends, partial->endings, NULL, partial->n);
    partial->n = 0;
    if (plan.is_secret)
        hli_wipe(partial->states, sizeof partial->states);
}

/* values[..] = the chunks of n messages, the first of each of number `before`. root: the last flags of a message of one
 * chunk beside. counts[i] = the number of chunks of message i. */
static HLI_NOINLINE void hash_all_chunks(const struct tree *tree, const hl_slice messages[], size_t n, uint64_t before,
                                         uint32_t root, uint8_t counts[], uint8_t values[][CV_NBYTES])
{
    struct queue queue;
    struct partial partial;
    size_t at = 0;

    begin_queue(&queue, tree, &chunk_kind);
    partial.tree = tree;
    partial.n = 0;
    for (size_t i = 0; i < n; i++) {
        counts[i] = (uint8_t)nchunks_of(messages[i].nbytes);
        for (size_t c = 0; c < counts[i]; c++, at++) {
            const uint8_t *const data = hli_after(messages[i].data, c * HLI_CHUNK_NBYTES);
            const size_t left = messages[i].nbytes - c * HLI_CHUNK_NBYTES;
            if (left >= HLI_CHUNK_NBYTES && counts[i] > 1) {
                add(&queue, data, before + c, values[at], 1);
                continue;
            }
            add_partial(&partial, data, left, before + c, counts[i] == 1 ? CHUNK_END | root : CHUNK_END, at);
            if (partial.n == PARTIAL)
                flush_partial(&partial, values);
        }
    }
    flush(&queue);
    flush_partial(&partial, values);
}

/* values[0 .. n - 1] = the values of n messages, which have at most BATCH chunks together. before, root: as above, and
 * the last flags of a root. */
static HLI_NOINLINE void hash_batch(const struct tree *tree, const hl_slice messages[], size_t n, uint64_t before,
                                    uint32_t root, uint8_t values[][CV_NBYTES])
{
    uint8_t counts[BATCH], nchunks[BATCH]; /* nodes of a message at this level, and at the lowest */
    unsigned most = 0;

    hash_all_chunks(tree, messages, n, before, root, counts, values);
    for (size_t i = 0; i < n; i++) {
        nchunks[i] = counts[i];
        most = counts[i] > most ? counts[i] : most;
    }
    for (unsigned least; most > 1; most = least == 2 ? 1 : most - most / 2) {
        /* One level of all messages. Two nodes left: their root waits for other messages' roots. */
        struct queue queue;
        size_t at = 0;
        begin_queue(&queue, tree, most > 2 || root == 0 ? &node_kind : &root_kind);
        least = most > 2 ? 3 : 2;
        for (size_t i = 0; i < n; at += nchunks[i], i++)
            if (counts[i] >= least)
                add(&queue, values[at], 0, values[at], counts[i] / 2);
        flush(&queue);
        at = 0;
        for (size_t i = 0; i < n; at += nchunks[i], i++) {
            const size_t nparents = counts[i] >= least ? counts[i] / 2 : 0;
            if (nparents != 0 && counts[i] % 2 != 0)
                hli_copy(values[at + nparents], values[at + counts[i] - 1], CV_NBYTES);
            counts[i] -= (uint8_t)nparents;
        }
    }
    for (size_t i = 0, at = 0; i < n; at += nchunks[i], i++)
        if (at != i)
            hli_copy(values[i], values[at], CV_NBYTES);
}

/* value[0] = the digest of a message of more than BATCH chunks. */
static HLI_NOINLINE void hash_long(const struct tree *tree, const hl_slice *message, uint8_t value[][CV_NBYTES])
{
    uint8_t subtrees[DEPTH][CV_NBYTES];
    const uint8_t *data = message->data;
    uint64_t nchunks = 0;
    size_t left = nchunks_of(message->nbytes), n;

    for (; left > BATCH; left -= n, nchunks += n, data += n * HLI_CHUNK_NBYTES) {
        n = left > MANY ? MANY : BATCH;
        hash_chunks(tree, subtrees, 0, nchunks, NULL, data, n);
    }
    const hl_slice rest = {data, message->nbytes - (size_t)nchunks * HLI_CHUNK_NBYTES};
    hash_batch(tree, &rest, 1, nchunks, 0, value);
    join_subtrees(tree, subtrees, nsubtrees(nchunks), value[0], value[0]);
    if (tree->plan->is_secret)
        hli_wipe(subtrees, sizeof subtrees);
}

/* Messages of any lengths. */
static HLI_NOINLINE void hash_any(const struct tree *tree, const hl_messages *all)
{
    const struct hli_plan *const plan = tree->plan;
    uint8_t values[BATCH][CV_NBYTES];
    hl_slice messages[BATCH];

    for (size_t next = 0, n; next < all->count; next += n) {
        size_t nchunks = 0;
        for (n = 0; next + n < all->count && nchunks < BATCH; n++) {
            messages[n] = hli_message_at(all->layout, all, next + n);
            nchunks += nchunks_of(messages[n].nbytes);
        }
        if (nchunks <= BATCH || --n > 0) { /* the last does not fit */
            hash_batch(tree, messages, n, 0, ROOT, values);
        } else {
            n = 1;
            hash_long(tree, messages, values);
        }
        for (size_t i = 0; i < n; i++)
            if (plan->second.alg == NULL)
                hli_copy(plan->digests + (next + i) * plan->digest_stride, values[i], plan->first.alg->digest_nbytes);
            else
                hli_again_one(plan, next + i, values[i]);
    }
    if (plan->is_secret)
        hli_wipe(values, sizeof values);
    forget(plan);
}

void hli_hash_tree(struct hli_plan *plan, const hl_ctx *begin, const hl_messages *all)
{
    const struct tree tree = {plan, begin == NULL ? plan->first.alg->iv : begin->state.w32 + KEY_AT,
                              begin == NULL ? 0 : begin->state.w32[MODE_AT]};
    size_t shortest, longest;
    uint32_t words[16];

    if (!HLI_TREES) /* left out of the build; likewise below */
        return;
    hli_lengths(all, &shortest, &longest);
    if (longest > HLI_CHUNK_NBYTES) {
        hash_any(&tree, all);
        return;
    }
    begin_at(&tree, 0, CHUNK_START, CHUNK_END | ROOT, words);
    plan->first.begin = words;
    hli_hash(plan, all);
    if (plan->is_secret)
        hli_wipe(words, sizeof words);
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

/* The number of a stream's current chunk. It has the bytes behind the chunks before, up to a whole one. */
static uint64_t current_chunk(const hl_ctx *ctx)
{
    return ctx->state.w32[CHUNK_AT] | (uint64_t)ctx->state.w32[CHUNK_AT + 1] << 32;
}

static void set_chunk(hl_ctx *ctx, uint64_t chunk)
{
    ctx->state.w32[CHUNK_AT] = (uint32_t)chunk;
    ctx->state.w32[CHUNK_AT + 1] = (uint32_t)(chunk >> 32);
}

static void begin_stream(hl_blake3_ctx *stream, const void *key, uint32_t mode)
{
    const hl_alg_info *const alg = hl_alg_find(HL_BLAKE3);

    hli_begin_one(alg, &stream->ctx, alg->iv, 0);
    hli_copy(stream->ctx.state.w32 + KEY_AT, key, CV_NBYTES);
    stream->ctx.state.w32[MODE_AT] = mode;
}

void hli_update_tree(const struct hli_plan *plan, hl_ctx *ctx, const uint8_t *data, size_t nbytes)
{
    hl_blake3_ctx *const stream = (hl_blake3_ctx *)(void *)ctx;
    const struct tree tree = {plan, ctx->state.w32 + KEY_AT, ctx->state.w32[MODE_AT]};
    uint64_t nchunks = current_chunk(ctx);
    size_t held = (size_t)(ctx->nbytes - nchunks * HLI_CHUNK_NBYTES);
    const size_t room = HLI_CHUNK_NBYTES - held;

    if (!HLI_TREES)
        return;
    ctx->nbytes += nbytes;
    if (nbytes > room && held != 0) { /* the chunk is complete */
        hli_copy(stream->chunk + held, data, room);
        data += room;
        nbytes -= room;
        held = HLI_CHUNK_NBYTES;
    }
    while (held + nbytes > HLI_CHUNK_NBYTES) {
        const size_t most = (held != 0) + (nbytes - 1) / HLI_CHUNK_NBYTES, n = most < MANY ? most : MANY;
        const size_t nhashed = (n - (held != 0)) * HLI_CHUNK_NBYTES;
        hash_chunks(&tree, stream->subtrees, 0, nchunks, held != 0 ? stream->chunk : NULL, data, n);
        nchunks += n;
        data += nhashed;
        nbytes -= nhashed;
        held = 0;
    }
    if (nchunks != current_chunk(ctx))
        forget(plan);
    set_chunk(ctx, nchunks);
    if (nbytes > 0)
        hli_copy(stream->chunk + held, data, nbytes);
}

int hli_may_end_tree(const hl_ctx *ctx)
{
    return !HLI_TREES || ctx->nbytes == 0 || ctx->nbytes != current_chunk(ctx) * HLI_CHUNK_NBYTES;
}

void hli_final_tree(const struct hli_plan *plan, hl_ctx *ctx, uint8_t *digest)
{
    if (!HLI_TREES)
        return;
    hl_blake3_ctx *const stream = (hl_blake3_ctx *)(void *)ctx;
    const hl_alg_info *const alg = hl_alg_find(HL_BLAKE3);
    const struct tree tree = {plan, ctx->state.w32 + KEY_AT, ctx->state.w32[MODE_AT]};
    const hl_kernel *const kernel = hli_choose_one(plan->choice, hli_body(alg));
    const uint64_t nchunks = current_chunk(ctx);
    const unsigned nbefore = nsubtrees(nchunks);
    uint8_t value[CV_NBYTES];
    uint32_t words[16];

    begin_at(&tree, nchunks, CHUNK_START, nbefore == 0 ? CHUNK_END | ROOT : CHUNK_END, words);
    hli_hash_one(kernel, alg, words, 0, stream->chunk, (size_t)(ctx->nbytes - nchunks * HLI_CHUNK_NBYTES), value);
    join_subtrees(&tree, stream->subtrees, nbefore, value, digest);
    forget(plan);
    hli_wipe(words, sizeof words);
    hli_wipe(value, sizeof value);
    hli_wipe(stream, sizeof *stream);
}

int hli_is_keyed_tree(const hl_ctx *ctx)
{
    return ctx->state.w32[MODE_AT] != 0;
}

static void begin_with_key(hl_blake3_ctx *stream, const uint8_t *key, uint32_t mode)
{
    uint32_t words[8];

    for (unsigned i = 0; i < 8; i++)
        words[i] = hli_load32(key + 4 * i, 0);
    begin_stream(stream, words, mode);
    hli_wipe(words, sizeof words);
}

hl_status hl_blake3_init(hl_blake3_ctx *stream, const void *key)
{
    if (stream == NULL)
        return HL_ENULL;
    if (!HLI_TREES)
        return HL_EALG;
    if (key != NULL)
        begin_with_key(stream, key, KEYED_HASH);
    else
        begin_stream(stream, hli_blake3_iv, 0);
    return HL_OK;
}

hl_status hl_blake3_init_derive_key(hl_blake3_ctx *stream, const void *context, size_t nbytes)
{
    const struct hli_plan plan = {.choice = hli_choice()};
    uint8_t key[CV_NBYTES];

    if (stream == NULL)
        return HL_ENULL;
    if (!HLI_TREES)
        return HL_EALG;
    const hl_status status = hli_check_slice(context, nbytes, 0);
    if (status != HL_OK)
        return status;
    begin_stream(stream, hli_blake3_iv, CONTEXT);
    hli_update_tree(&plan, &stream->ctx, context, nbytes);
    hli_final_tree(&plan, &stream->ctx, key);
    begin_with_key(stream, key, MATERIAL);
    return HL_OK;
}

hl_status hl_blake3_subtree(const hl_blake3_ctx *stream, uint64_t chunk, const void *data, size_t nbytes,
                            uint8_t *value)
{
    const size_t nchunks = nbytes / HLI_CHUNK_NBYTES;
    const struct hli_plan plan = {.choice = hli_choice(),
                                  .is_secret = stream != NULL && hli_is_keyed_tree(&stream->ctx)};
    uint8_t subtrees[DEPTH][CV_NBYTES];

    if (stream == NULL || data == NULL || value == NULL)
        return HL_ENULL;
    if (!HLI_TREES || stream->ctx.alg != HL_BLAKE3)
        return HL_ESTATE;
    if (nbytes % HLI_CHUNK_NBYTES != 0 || nsubtrees(nchunks) != 1 || chunk % nchunks != 0 ||
        chunk > HL_MESSAGE_MAX_NBYTES / HLI_CHUNK_NBYTES - nchunks)
        return HL_ELENGTH;
    hli_check_readable(data, nbytes);
    const struct tree tree = {&plan, stream->ctx.state.w32 + KEY_AT, stream->ctx.state.w32[MODE_AT]};
    const uint8_t *from = data;
    for (uint64_t done = 0, n; done < nchunks; done += n, from += n * HLI_CHUNK_NBYTES) {
        n = nchunks < MANY ? nchunks : MANY;
        hash_chunks(&tree, subtrees, chunk, done, NULL, from, (size_t)n);
    }
    hli_copy(value, subtrees[0], CV_NBYTES);
    if (plan.is_secret)
        hli_wipe(subtrees, sizeof subtrees);
    forget(&plan);
    return HL_OK;
}

hl_status hl_blake3_add_subtree(hl_blake3_ctx *stream, uint64_t nchunks, const uint8_t *value)
{
    if (stream == NULL || value == NULL)
        return HL_ENULL;
    if (!HLI_TREES || stream->ctx.alg != HL_BLAKE3)
        return HL_ESTATE;
    hl_ctx *const ctx = &stream->ctx;
    const struct hli_plan plan = {.choice = hli_choice(), .is_secret = hli_is_keyed_tree(ctx)};
    const struct tree tree = {&plan, ctx->state.w32 + KEY_AT, ctx->state.w32[MODE_AT]};
    const uint64_t before = current_chunk(ctx);
    uint8_t values[2][CV_NBYTES];
    if (nsubtrees(nchunks) != 1 || before % nchunks != 0 || nchunks > HL_MESSAGE_MAX_NBYTES / HLI_CHUNK_NBYTES - before)
        return HL_ELENGTH;
    if (ctx->nbytes != before * HLI_CHUNK_NBYTES) /* bytes are in the chunk */
        return HL_ESTATE;
    hli_copy(values[1], value, CV_NBYTES);
    add_values(&tree, stream->subtrees, before / nchunks, values, 1);
    set_chunk(ctx, before + nchunks);
    ctx->nbytes += nchunks * HLI_CHUNK_NBYTES;
    if (plan.is_secret)
        hli_wipe(values, sizeof values);
    forget(&plan);
    return HL_OK;
}
