/* streams.c: messages that arrive in parts, many side by side.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "lanes.h"

static void update_one(const struct hli_plan *plan, hl_ctx *ctx, const hl_slice *chunk)
{
    const hl_alg_info *alg = plan->first.alg;

    if (hli_hold(alg, ctx, chunk->data, chunk->nbytes))
        return;
    const hl_kernel *kernel = hli_kernel(plan, &plan->first, 1);
    hli_update_one(kernel, alg, ctx, chunk->data, chunk->nbytes);
    hli_forget(plan, 1, kernel);
}

static HLI_NOINLINE void final_one(const struct hli_plan *plan, const hl_kernel *kernel, hl_ctx *ctx)
{
    uint8_t inner[HL_DIGEST_MAX_NBYTES];

    hli_final_one(kernel, plan->first.alg, ctx, hli_digest_one(plan, 0, inner));
    hli_again_one(plan, 0, inner);
    hli_wipe_one(plan->first.alg, ctx);
}

void hli_update(const struct hli_plan *plan, hl_ctx *const ctxs[], const hl_slice *chunks, size_t count)
{
    const hl_alg_info *alg = plan->first.alg;
    const size_t block_nbytes = hli_block_nbytes(alg);
    struct hli_item items[HLI_WINDOW];
    size_t nhashed = 0;

    if (count == 1) {
        update_one(plan, ctxs[0], chunks);
        return;
    }
    for (size_t start = 0; start < count; start += HLI_WINDOW) {
        const size_t n = count - start < HLI_WINDOW ? count - start : HLI_WINDOW;
        size_t nitems = 0;

        /* Fills blocks that an earlier call has begun, and hashes those that are full. */
        for (size_t i = start; i < start + n; i++) {
            const size_t held = hli_rest_of_block(alg, ctxs[i]->nbytes), room = block_nbytes - held;
            const size_t ntaken = chunks[i].nbytes < room ? chunks[i].nbytes : room;
            if (held == 0 || chunks[i].nbytes == 0)
                continue;
            hli_copy(ctxs[i]->block + held, chunks[i].data, ntaken);
            if (chunks[i].nbytes >= room + (size_t)hli_is_counted(alg)) /* a full block may be the last */
                items[nitems++] = (struct hli_item){&ctxs[i]->state, ctxs[i]->block, 1};
        }
        hli_advance(plan, items, nitems, 0);
        nhashed += nitems;

        nitems = 0;
        for (size_t i = start; i < start + n; i++) {
            const size_t held = hli_rest_of_block(alg, ctxs[i]->nbytes), room = held == 0 ? 0 : block_nbytes - held;
            if (chunks[i].nbytes >= room + block_nbytes + (size_t)hli_is_counted(alg))
                items[nitems++] = (struct hli_item){&ctxs[i]->state, (const uint8_t *)chunks[i].data + room,
                                                    hli_whole_blocks(alg, chunks[i].nbytes - room)};
        }
        hli_advance(plan, items, nitems, 0);
        nhashed += nitems;

        for (size_t i = start; i < start + n; i++) {
            const size_t held = hli_rest_of_block(alg, ctxs[i]->nbytes), room = held == 0 ? 0 : block_nbytes - held;
            if (chunks[i].nbytes > room || held == 0) {
                const size_t nrest = hli_rest_of_block(alg, chunks[i].nbytes - room);
                if (nrest != 0)
                    hli_copy(ctxs[i]->block, (const uint8_t *)chunks[i].data + chunks[i].nbytes - nrest, nrest);
            }
            ctxs[i]->nbytes += chunks[i].nbytes;
        }
    }
    if (nhashed > 0) /* else no state was touched */
        hli_forget(plan, count, hli_kernel(plan, &plan->first, count));
}

void hli_final(const struct hli_plan *plan, hl_ctx *const ctxs[], size_t count)
{
    const hl_alg_info *alg = plan->first.alg;
    struct hli_ending endings[HLI_WINDOW];
    struct hli_ends ends;
    const hl_kernel *kernel = hli_kernel(plan, &plan->first, count);

    if (count == 1) {
        final_one(plan, kernel, ctxs[0]);
        hli_forget(plan, 1, kernel);
        return;
    }
    hli_ends_init(&ends, plan, hli_plan_again(plan, count, kernel));
    for (size_t start = 0; start < count; start += HLI_WINDOW) {
        const size_t n = count - start < HLI_WINDOW ? count - start : HLI_WINDOW;
        for (size_t i = 0; i < n; i++) {
            hl_ctx *ctx = ctxs[start + i];
            endings[i] = (struct hli_ending){&ctx->state, ctx->block, hli_rest_of_block(alg, ctx->nbytes), ctx->nbytes,
                                             start + i};
        }
        hli_finish(&ends, endings, NULL, n);
        for (size_t i = 0; i < n; i++)
            hli_wipe_one(alg, ctxs[start + i]);
    }
    hli_ends_close(&ends);
    hli_forget(plan, count, kernel);
}

/* Hashes short messages of one length that continue one stream, from `first` on: copies of the stream's held bytes and
 * of a message are rows. Returns their number; 0: too few or too long. */
static HLI_NOINLINE size_t hash_joined(const struct hli_plan *plan, const hl_ctx *begin, const hl_messages *all,
                                       size_t first)
{
    uint8_t room[HLI_ROOM_NBYTES];
    const size_t nheld = hli_rest_of_block(plan->first.alg, begin->nbytes), left = all->count - first;
    const size_t message_nbytes = hli_message_at(all->layout, all, first).nbytes, nbytes = nheld + message_nbytes;
    struct hli_plan part = *plan;
    size_t n = 0;

    if (message_nbytes > sizeof room / HLI_LANES - nheld)
        return 0;
    const size_t fit = nbytes == 0 ? HLI_WINDOW : sizeof room / nbytes, most = fit < HLI_WINDOW ? fit : HLI_WINDOW;
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
    part.first.begin = &begin->state;
    part.first.begin_nbytes = begin->nbytes - nheld;
    part.digests = plan->digests + first * plan->digest_stride;
    if (n != 0)
        hli_hash(&part, &(hl_messages){HL_ROWS, 0, n, room, nbytes, nbytes});
    if (plan->is_secret)
        hli_wipe(room, sizeof room);
    return n;
}

/* Messages from `first` on, at most as many as there are lanes. Returns their number. */
static HLI_NOINLINE size_t hash_copies(const struct hli_plan *plan, const hl_ctx *begin, size_t begin_stride,
                                       const hl_messages *all, size_t first)
{
    hl_ctx ctxs[HLI_LANES], *each[HLI_LANES]; /* 6 KiB of stack */
    hl_slice messages[HLI_LANES];
    struct hli_plan part = *plan;
    const size_t left = all->count - first, n = left < HLI_LANES ? left : HLI_LANES;

    for (size_t i = 0; i < n; i++) {
        ctxs[i] = *(const hl_ctx *)hli_nth(begin, first + i, begin_stride);
        each[i] = &ctxs[i];
        messages[i] = hli_message_at(all->layout, all, first + i);
    }
    part.digests = plan->digests + first * plan->digest_stride;
    hli_update(&part, each, messages, n);
    hli_final(&part, each, n); /* wipes the copies */
    return n;
}

void hli_hash_on(const struct hli_plan *plan, const hl_ctx *begin, size_t begin_stride, const hl_messages *all)
{
    for (size_t first = 0, n; first < all->count; first += n) {
        n = begin_stride == 0 ? hash_joined(plan, begin, all, first) : 0;
        if (n == 0)
            n = hash_copies(plan, begin, begin_stride, all, first);
    }
}
