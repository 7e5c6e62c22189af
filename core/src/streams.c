/* streams.c: messages that arrive in parts, many side by side; and streams as bytes, which others can continue.
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

/* ---- Saved streams ----------------------------------------------------------------------------------------------- */

/* hashloom.h has the format, in a fixed order of bytes: another process or machine can continue. Every stream has only
 * one form: an imported stream is exported as the same bytes. The import therefore checks each byte, including those it
 * could skip. */

enum { HEAD_NBYTES = 16 };

static const uint8_t magic[4] = {'h', 'l', 'c', '1'};

static size_t export_nbytes(const hl_alg_info *info)
{
    return HEAD_NBYTES + hli_state_nbytes(info) + hli_block_nbytes(info);
}

/* The words of a state, big-endian. Returns where they end. */
static uint8_t *put_state(const hl_alg_info *info, const hl_state *state, uint8_t *to)
{
    for (unsigned w = 0; w < hli_nwords(info); w++, to += hli_word_nbytes(info)) {
        if (hli_word_nbytes(info) == 8)
            hli_store64(to, state->w64[w], 1);
        else
            hli_store32(to, state->w32[w], 1);
    }
    return to;
}

static void get_state(const hl_alg_info *info, const uint8_t *from, hl_state *state)
{
    for (unsigned w = 0; w < hli_nwords(info); w++, from += hli_word_nbytes(info)) {
        if (hli_word_nbytes(info) == 8)
            state->w64[w] = hli_load64(from, 1);
        else
            state->w32[w] = hli_load32(from, 1);
    }
}

hl_status hl_export(const hl_ctx *ctx, uint8_t *bytes, size_t room, size_t *nbytes)
{
    if (ctx == NULL)
        return HL_ENULL;
    const hl_alg_info *info = hli_alg_find(ctx->alg);
    uint8_t *at = bytes;

    if (info != NULL && hli_is_tree(info))
        return HL_EALG;
    if (info == NULL || ctx->nbytes > HL_MESSAGE_MAX_NBYTES)
        return HL_ESTATE;
    if (bytes == NULL || nbytes == NULL)
        return HL_ENULL;
    if (room < export_nbytes(info))
        return HL_ELENGTH;
    hli_copy(at, magic, 4);
    hli_store32(at + 4, ctx->alg, 1);
    hli_store64(at + 8, ctx->nbytes, 1);
    at = put_state(info, &ctx->state, at + HEAD_NBYTES);
    const size_t nheld = hli_rest_of_block(info, ctx->nbytes);
    hli_zero(at, hli_block_nbytes(info));
    if (nheld > 0)
        hli_copy(at, ctx->block, nheld);
    *nbytes = export_nbytes(info);
    return HL_OK;
}

hl_status hl_import(hl_ctx *ctx, const uint8_t *bytes, size_t nbytes)
{
    if (ctx == NULL || bytes == NULL)
        return HL_ENULL;
    if (nbytes < HEAD_NBYTES)
        return HL_EIMPORT;
    hli_check_readable(bytes, nbytes);
    const hl_alg_info *info = hli_alg_find(hli_load32(bytes + 4, 1));
    const uint64_t length = hli_load64(bytes + 8, 1);
    unsigned differ = 0;
    for (unsigned i = 0; i < 4; i++)
        differ |= bytes[i] ^ magic[i];
    if (differ != 0 || info == NULL || hli_is_tree(info) || nbytes != export_nbytes(info) ||
        length > HL_MESSAGE_MAX_NBYTES)
        return HL_EIMPORT;
    const size_t nheld = hli_rest_of_block(info, length);
    const uint8_t *block = bytes + nbytes - hli_block_nbytes(info);
    for (size_t i = nheld; i < hli_block_nbytes(info); i++)
        differ |= block[i];
    if (differ != 0)
        return HL_EIMPORT;
    if (hli_finds_attacks(info) && (hli_load32(bytes + HEAD_NBYTES + 20, 1) & ~HLI_IS_ATTACK) != 0)
        return HL_EIMPORT;

    if (hli_is_counted(info)) { /* the counter, no mark, and a length */
        hl_state state;
        get_state(info, bytes + HEAD_NBYTES, &state);
        const unsigned digest_nbytes = hli_counted_digest_nbytes(info, &state);
        const uint64_t hashed = length - nheld;
        if (hli_word_nbytes(info) == 8
                ? state.w64[HLI_COUNTER] != hashed || state.w64[HLI_COUNTER + 1] != 0 ||
                      (state.w64[hli_nwords(info) - 1] & ~(uint64_t)HLI_KEYED) != digest_nbytes
                : state.w32[HLI_COUNTER] != (uint32_t)hashed || state.w32[HLI_COUNTER + 1] != hashed >> 32 ||
                      state.w32[HLI_COUNTER + 2] != 0 ||
                      (state.w32[hli_nwords(info) - 1] & ~(uint32_t)HLI_KEYED) != digest_nbytes)
            return HL_EIMPORT;
        if (digest_nbytes == 0 || digest_nbytes > info->digest_nbytes)
            return HL_EIMPORT;
    }
    hli_zero(ctx, sizeof *ctx);
    ctx->alg = (uint32_t)info->alg;
    ctx->nbytes = length;
    get_state(info, bytes + HEAD_NBYTES, &ctx->state);
    if (nheld > 0)
        hli_copy(ctx->block, block, nheld);
    return HL_OK;
}
