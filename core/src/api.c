/* api.c: the public calls: argument checks, then the lane driver; and jobs, which have more to them (api.h).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "api.h"

const hl_kernel *hl_kernel_chosen(hl_alg alg, size_t nmessages)
{
    const hl_alg_info *info = hli_alg_find((uint32_t)alg);

    return info == NULL ? NULL : hli_choose(hli_choice(), hli_body(info), nmessages, 0, hli_finds_attacks(info));
}

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

const char *hl_version(void)
{
    return TEXT(HL_VERSION_MAJOR) "." TEXT(HL_VERSION_MINOR) "." TEXT(HL_VERSION_PATCH);
}

const char *hl_strerror(hl_status status)
{
    switch (status) {
    case HL_OK: return "no error";
    case HL_EALG: return "unknown algorithm, or one that the call is not defined for";
    case HL_ENULL: return "a pointer is NULL where bytes are to be read or written";
    case HL_ELENGTH: return "a message is longer than 2^61 - 1 bytes, or a size does not fit in memory";
    case HL_ESTATE: return "a context or key is not initialised, is final already, or is of another algorithm";
    case HL_EISA: return "an instruction set is unknown or not available on this machine";
    case HL_EKERNEL: return "the kernel does not implement the algorithm";
    case HL_ETAG: return "the tag is not that of the message";
    case HL_EJOB: return "a field of the job is of a later version, or contradicts another";
    case HL_EIMPORT: return "the bytes are not an exported stream of this version";
    case HL_ESTOPPED: return "the caller's function ended the call";
    }
    return "unknown status";
}

/* ---- Calls for whole messages ------------------------------------------------------------------------------------ */

hl_status hl_run(const hl_job *job)
{
    if (job == NULL)
        return HL_ENULL;
    if (job->nbytes < sizeof *job || job->messages.reserved != 0 || job->is_secret > 1 || job->reserved != 0)
        return HL_EJOB;
    for (size_t i = sizeof *job; i < job->nbytes; i++) /* fields of a later version, unknown here */
        if (((const uint8_t *)job)[i] != 0)
            return HL_EJOB;
    return hli_run(job);
}

static HLI_NOINLINE hl_status hash_tree(const hl_alg_info *info, const void *data, size_t nbytes, uint8_t *digest)
{
    struct hli_plan plan = {.choice = hli_choice(), .first = {.alg = info, .begin = info->iv}, .digests = digest,
                            .digest_stride = info->digest_nbytes};

    hli_hash_tree(&plan, NULL, &(hl_messages){.layout = HL_ROWS, .count = 1, .base = data, .nbytes = nbytes});
    return HL_OK;
}

hl_status hl_hash(hl_alg alg, const void *data, size_t nbytes, uint8_t *digest)
{
    const hl_alg_info *info = hli_alg_find((uint32_t)alg);

    if (info == NULL)
        return HL_EALG;
    const hl_status status = digest == NULL ? HL_ENULL : hli_check_slice(data, nbytes, 0);
    if (status != HL_OK)
        return status;
    hli_check_readable(data, nbytes);
    if (__builtin_expect(nbytes > HLI_CHUNK_NBYTES && hli_is_tree(info), 0))
        return hash_tree(info, data, nbytes, digest);
    hli_hash_inline(hli_choose_one(hli_choice(), hli_body(info)), info, info->iv, 0, data, nbytes, digest);
    return HL_OK;
}

hl_status hl_hash_many(hl_alg alg, const hl_slice *messages, size_t count, uint8_t *digests)
{
    const hl_messages all = HLI_SLICES_OF(messages, count);
    struct hli_plan plan;

    if (count == 1 && messages != NULL) /* the short way of one message */
        return hl_hash(alg, messages->data, messages->nbytes, digests);
    hl_status status = hli_check_call(hli_alg_find((uint32_t)alg), NULL, count, digests, &plan);
    if (status == HL_OK)
        status = hli_check_slices(messages, count, 0);
    if (status != HL_OK || count == 0)
        return status;
    if (hli_is_tree(plan.first.alg))
        hli_hash_tree(&plan, NULL, &all);
    else
        hli_hash(&plan, &all);
    return HL_OK;
}

hl_status hl_hash_many_with(const hl_kernel *kernel, hl_alg alg, const hl_slice *messages, size_t count,
                            uint8_t *digests)
{
    if (kernel == NULL)
        return HL_ENULL;
    return hli_run(&(hl_job){.alg = (uint32_t)alg, .messages = HLI_SLICES_OF(messages, count), .digests = digests,
                             .kernel = kernel});
}

/* again: 0, or the algorithm that hashes each digest once more. Inlined: it is a literal. */
HLI_INLINE hl_status hash_rows(hl_alg alg, uint32_t again, const void *base, size_t stride, size_t nbytes, size_t count,
                               uint8_t *digests)
{
    const hl_alg_info *first = hli_alg_find((uint32_t)alg), *second = hli_alg_find(again);

    if (count == 1 && again == 0) /* the short way of one message */
        return hl_hash(alg, base, nbytes, digests);
    /* In these calls both are SHA-2 or RIPEMD-160. */
    if (count == 1 && first != NULL && second != NULL && digests != NULL && hli_check_slice(base, nbytes, 0) == HL_OK) {
        const uint32_t choice = hli_choice();
        uint8_t inner[HL_DIGEST_MAX_NBYTES];
        hli_check_readable(base, nbytes);
        hli_hash_one(hli_choose_one(choice, hli_body(first)), first, first->iv, 0, base, nbytes, inner);
        hli_hash_one(hli_choose_one(choice, hli_body(second)), second, second->iv, 0, inner, first->digest_nbytes,
                     digests);
        return HL_OK;
    }
    return hli_run(&(hl_job){
        .alg = (uint32_t)alg,
        .again = again,
        .messages = {.layout = HL_ROWS, .count = count, .base = base, .stride = stride, .nbytes = nbytes},
        .digests = digests});
}

/* Not inlined: a call for few nodes saves no registers. */
static HLI_NOINLINE hl_status hash_any_rows(hl_alg alg, const void *base, size_t stride, size_t nbytes, size_t count,
                                            uint8_t *digests)
{
    return hash_rows(alg, 0, base, stride, nbytes, count, digests);
}

hl_status hl_hash_rows(hl_alg alg, const void *base, size_t stride, size_t nbytes, size_t count, uint8_t *digests)
{
    if (alg != HL_SHA256 || nbytes != 64 || stride != 64 || !hli_are_few_nodes(base, count, digests))
        return hash_any_rows(alg, base, stride, nbytes, count, digests);
    hli_check_readable(base, 64 * count);
    if (count > 1) {
        hli_hash_nodes(hli_alg_find(HL_SHA256), base, count, digests);
        return HL_OK;
    }
    const hl_kernel *const kernel = hli_choose_one(hli_choice(), HL_BODY_SHA256);
    hli_whole_fn *const whole = hli_row_of(kernel)->whole;
    if (whole != NULL && kernel->nlanes == 1)
        whole(&hli_nodes[1], (const uint8_t *const[]){base}, (const size_t[]){64}, (uint8_t *const[]){digests});
    else
        hli_hash_one(kernel, hli_alg_find(HL_SHA256), hli_sha256_iv, 0, base, 64, digests);
    return HL_OK;
}

hl_status hl_hash160_rows(const void *base, size_t stride, size_t nbytes, size_t count, uint8_t *digests)
{
    return hash_rows(HL_SHA256, HL_RIPEMD160, base, stride, nbytes, count, digests);
}

hl_status hl_sha256d_rows(const void *base, size_t stride, size_t nbytes, size_t count, uint8_t *digests)
{
    return hash_rows(HL_SHA256, HL_SHA256, base, stride, nbytes, count, digests);
}

/* ---- Calls for streams ------------------------------------------------------------------------------------------- */

hl_status hl_init(hl_ctx *ctx, hl_alg alg)
{
    const hl_alg_info *info = hli_alg_find((uint32_t)alg);

    if (ctx == NULL)
        return HL_ENULL;
    if (info == NULL || hli_is_tree(info)) /* no room for a tree */
        return HL_EALG;
    hli_begin_one(info, ctx, info->iv, 0);
    return HL_OK;
}

hl_status hl_blake2_init(hl_ctx *ctx, hl_alg alg, size_t digest_nbytes, const hl_blake2_parameters *parameters)
{
    const hl_alg_info *info = hli_alg_find((uint32_t)alg);

    if (ctx == NULL)
        return HL_ENULL;
    if (info == NULL || !hli_is_blake2(info))
        return HL_EALG;
    const size_t key_nbytes = parameters == NULL ? 0 : parameters->key_nbytes;
    if (key_nbytes != 0 && parameters->key == NULL)
        return HL_ENULL;
    if (digest_nbytes == 0 || digest_nbytes > info->digest_nbytes || key_nbytes > info->digest_nbytes)
        return HL_ELENGTH;
    hli_begin_one(info, ctx, info->iv, 0);
    hli_counted_begin(info, (unsigned)digest_nbytes, &ctx->state);
    if (parameters == NULL)
        return HL_OK;
    for (unsigned i = 0; i < 2; i++) /* two words each, of 16 bytes or 8 */
        if (hli_word_nbytes(info) == 8) {
            ctx->state.w64[4 + i] ^= hli_load64(parameters->salt + 8 * i, 0);
            ctx->state.w64[6 + i] ^= hli_load64(parameters->personal + 8 * i, 0);
        } else {
            ctx->state.w32[4 + i] ^= hli_load32(parameters->salt + 4 * i, 0);
            ctx->state.w32[6 + i] ^= hli_load32(parameters->personal + 4 * i, 0);
        }
    if (key_nbytes != 0) {
        const unsigned last = hli_nwords(info) - 1;
        if (hli_word_nbytes(info) == 8)
            ctx->state.w64[0] ^= key_nbytes << 8, ctx->state.w64[last] |= HLI_KEYED;
        else
            ctx->state.w32[0] ^= (uint32_t)key_nbytes << 8, ctx->state.w32[last] |= HLI_KEYED;
        hli_zero(ctx->block, hli_block_nbytes(info));
        hli_copy(ctx->block, parameters->key, key_nbytes);
        ctx->nbytes = hli_block_nbytes(info);
    }
    return HL_OK;
}

static int is_keyed(const hl_alg_info *info, const hl_ctx *ctx)
{
    return hli_is_tree(info) ? hli_is_keyed_tree(ctx) : hli_is_keyed(info, &ctx->state);
}

/* Checks the contexts of a call on streams: all must be of one algorithm, which is returned in info. Then calls
 * hli_check_call. */
HLI_INLINE hl_status check_contexts(hl_ctx *const ctxs[], size_t count, size_t ndigests, uint8_t *digests,
                                    const hl_alg_info **info, struct hli_plan *plan)
{
    hl_status status = hli_check_array(ctxs, count);

    if (status != HL_OK)
        return status;
    *info = NULL;
    for (size_t i = 0; i < count; i++) {
        status = ctxs[i] == NULL ? HL_ENULL : hli_check_stream(ctxs[i], 0, info);
        if (status != HL_OK)
            return status;
    }
    return hli_check_call(*info, NULL, ndigests, digests, plan);
}

hl_status hl_update_many(hl_ctx *const ctxs[], const hl_slice *chunks, size_t count)
{
    const hl_alg_info *info = NULL; /* gcc -Os does not see that it is set */
    struct hli_plan plan;

    if (count == 0)
        return HL_OK;
    hl_status status = check_contexts(ctxs, count, 0, NULL, &info, &plan);
    if (status == HL_OK && chunks == NULL)
        status = HL_ENULL;
    for (size_t i = 0; status == HL_OK && i < count; i++) {
        status = hli_check_slice(chunks[i].data, chunks[i].nbytes, ctxs[i]->nbytes);
        plan.is_secret |= is_keyed(info, ctxs[i]);
    }
    if (status != HL_OK)
        return status;
    hli_check_readable_slices(chunks, count);
    if (hli_is_tree(info))
        for (size_t i = 0; i < count; i++) /* each fills the lanes alone */
            hli_update_tree(&plan, ctxs[i], chunks[i].data, chunks[i].nbytes);
    else
        hli_update(&plan, ctxs, chunks, count);
    return HL_OK;
}

hl_status hl_final_many(hl_ctx *const ctxs[], size_t count, uint8_t *digests)
{
    const hl_alg_info *info;
    struct hli_plan plan;

    if (count == 0)
        return HL_OK;
    const hl_status status = check_contexts(ctxs, count, count, digests, &info, &plan);
    hl_alg_info as;
    if (status == HL_OK && hli_is_tree(info)) {
        for (size_t i = 0; i < count; i++)
            if (!hli_may_end_tree(ctxs[i]))
                return HL_ESTATE;
        for (size_t i = 0; i < count; i++) {
            plan.is_secret = is_keyed(info, ctxs[i]);
            hli_final_tree(&plan, ctxs[i], digests + i * info->digest_nbytes);
        }
        return HL_OK;
    }
    if (status == HL_OK && hli_is_counted(info)) { /* one length of digests */
        as = hli_counted_as(info, &ctxs[0]->state);
        for (size_t i = 0; i < count; i++) {
            if (hli_counted_digest_nbytes(info, &ctxs[i]->state) != as.digest_nbytes)
                return HL_ESTATE;
            plan.is_secret |= hli_is_keyed(info, &ctxs[i]->state);
        }
        plan.first.alg = &as;
        plan.digest_stride = as.digest_nbytes;
    }
    if (status == HL_OK)
        hli_final(&plan, ctxs, count);
    return status;
}

/* Not inlined, so that a short update saves no registers. */
static HLI_NOINLINE hl_status update_blocks(const hl_alg_info *info, hl_ctx *ctx, const void *data, size_t nbytes)
{
    const hl_kernel *const kernel = hli_choose_one(hli_choice(), hli_body(info));

    if (__builtin_expect(hli_is_tree(info), 0)) {
        const struct hli_plan plan = {.choice = hli_choice(), .is_secret = is_keyed(info, ctx)};
        hli_update_tree(&plan, ctx, data, nbytes);
        return HL_OK;
    }
    hli_update_one(kernel, info, ctx, data, nbytes);
    if (__builtin_expect(hli_is_keyed(info, &ctx->state), 0))
        hli_forget_one(kernel);
    return HL_OK;
}

hl_status hl_update(hl_ctx *ctx, const void *data, size_t nbytes)
{
    if (ctx == NULL)
        return HL_ENULL;
    const hl_alg_info *info = hli_alg_find(ctx->alg);
    if (info == NULL || ctx->nbytes > HL_MESSAGE_MAX_NBYTES)
        return HL_ESTATE;
    const hl_status status = hli_check_slice(data, nbytes, ctx->nbytes);
    if (status != HL_OK)
        return status;
    hli_check_readable(data, nbytes);
    /* A tree has a chunk in place of a block. The first comparison is hli_hold's own. */
    const int may_hold = hli_block_shift(info) != 0 || !hli_is_tree(info);
    return may_hold && hli_hold(info, ctx, data, nbytes) ? HL_OK : update_blocks(info, ctx, data, nbytes);
}

/* Set in a context's algorithm once its digest is being squeezed; nbytes is then the number of bytes written so far. */
#define SQUEEZING UINT32_C(0x80000000)

hl_status hl_squeeze(hl_ctx *ctx, uint8_t *digest, size_t nbytes)
{
    if (ctx == NULL)
        return HL_ENULL;
    const hl_alg_info *info = hli_alg_find(ctx->alg & ~SQUEEZING);
    if (info == NULL || ctx->nbytes > HL_MESSAGE_MAX_NBYTES)
        return HL_ESTATE;
    if (!hli_is_xof(info))
        return HL_EALG;
    if (digest == NULL && nbytes != 0)
        return HL_ENULL;
    const int is_first = (ctx->alg & SQUEEZING) == 0;
    if (nbytes > HL_MESSAGE_MAX_NBYTES - (is_first ? 0 : ctx->nbytes))
        return HL_ELENGTH;
    hli_squeeze_stream(hli_choose_one(hli_choice(), hli_body(info)), info, ctx, is_first, digest, nbytes);
    ctx->alg |= SQUEEZING;
    return HL_OK;
}

hl_status hl_final(hl_ctx *ctx, uint8_t *digest)
{
    if (ctx == NULL)
        return HL_ENULL;
    const hl_alg_info *info = hli_alg_find(ctx->alg);
    if (info == NULL || ctx->nbytes > HL_MESSAGE_MAX_NBYTES)
        return HL_ESTATE;
    if (digest == NULL)
        return HL_ENULL;
    if (__builtin_expect(hli_is_tree(info), 0)) {
        const struct hli_plan plan = {.choice = hli_choice(), .is_secret = is_keyed(info, ctx)};
        if (!hli_may_end_tree(ctx))
            return HL_ESTATE;
        hli_final_tree(&plan, ctx, digest);
        return HL_OK;
    }
    hli_final_one(hli_choose_one(hli_choice(), hli_body(info)), info, ctx, digest);
    hli_wipe_one(info, ctx);
    return HL_OK;
}

/* ---- Jobs that continue streams ---------------------------------------------------------------------------------- */

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

HLI_NOINLINE void hli_hash_on(const struct hli_plan *plan, const hl_ctx *begin, size_t begin_stride,
                              const hl_messages *all)
{
    for (size_t first = 0, n; first < all->count; first += n) {
        n = begin_stride == 0 ? hash_joined(plan, begin, all, first) : 0;
        if (n == 0)
            n = hash_copies(plan, begin, begin_stride, all, first);
    }
}

/* ---- Jobs whose digests overlap their rows ----------------------------------------------------------------------- */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Hashes rows, at most as many as there is room for their digests, and writes these when all rows have been read.
 * Returns the number of rows hashed. */
static HLI_NOINLINE size_t hash_and_move(struct hli_plan *plan, size_t digest_nbytes, hl_messages *rows)
{
    uint8_t room[HLI_ROOM_NBYTES], *to = plan->digests;
    const size_t stride = plan->digest_stride, fit = sizeof room / digest_nbytes;

    rows->count = smaller(rows->count, smaller(HLI_WINDOW, fit));
    if (rows->count > 1) {
        plan->digests = room;
        plan->digest_stride = digest_nbytes;
    } else { /* a kernel writes a digest after it has read the row */
        rows->count = 1;
    }
    hli_hash(plan, rows);
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
