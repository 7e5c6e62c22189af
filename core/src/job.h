/* job.h: the checks of arguments that calls make before anything is written; and jobs, which they hand to the lane
 * driver. Every call that takes whole messages is a job.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_JOB_H
#define HLI_JOB_H

#include "blake3.h"

/* Kernels are compiled without sanitizers, so that a debug build stays fast, but a length that runs over the caller's
 * buffer must be caught all the same. Under AddressSanitizer the range is looked up in its shadow memory. The first bad
 * byte, if any, is read here, in instrumented code, which reports the read with the caller's stack. */
#if defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    define HLI_ASAN 1
#  endif
#elif defined(__SANITIZE_ADDRESS__)
#  define HLI_ASAN 1
#endif
#ifdef HLI_ASAN
void *__asan_region_is_poisoned(void *begin, size_t nbytes);
HLI_INLINE void hli_check_readable(const void *data, size_t nbytes)
{
    const volatile uint8_t *bad = nbytes == 0 ? NULL : __asan_region_is_poisoned((void *)(uintptr_t)data, nbytes);
    if (bad != NULL)
        (void)*bad;
}
#else
#  define hli_check_readable(data, nbytes) ((void)(data), (void)(nbytes))
#endif

/* `before`, at most HL_MESSAGE_MAX_NBYTES, is the number of bytes of the message that came before. */
HLI_INLINE hl_status hli_check_slice(const void *data, size_t nbytes, uint64_t before)
{
    if (data == NULL && nbytes != 0)
        return HL_ENULL;
    return nbytes > HL_MESSAGE_MAX_NBYTES - before ? HL_ELENGTH : HL_OK;
}

HLI_INLINE void hli_check_readable_slices(const hl_slice *slices, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hli_check_readable(slices[i].data, slices[i].nbytes);
}

/* Checks an array of `count` contexts. */
HLI_INLINE hl_status hli_check_array(const void *ctxs, size_t count)
{
    if (count > SIZE_MAX / sizeof(hl_slice)) /* no arrays of this length fit in memory */
        return HL_ELENGTH;
    return ctxs == NULL ? HL_ENULL : HL_OK;
}

/* Checks one stream of a call. *info is NULL, or the algorithm of the streams before, which this one must share; it is
 * set to this stream's algorithm. */
HLI_INLINE hl_status hli_check_stream(const hl_ctx *ctx, int is_hmac, const hl_alg_info **info)
{
    if (is_hmac && !HLI_ALG(hmac))
        return HL_ESTATE;
    if (*info == NULL)
        *info = hli_alg_find(ctx->alg);
    if (*info == NULL || ctx->alg != (uint32_t)(*info)->alg || ctx->nbytes > HL_MESSAGE_MAX_NBYTES)
        return HL_ESTATE;
    /* HMAC: its key's block */
    return is_hmac && (ctx->nbytes < hli_block_nbytes(*info) || !hli_has_hmac(*info)) ? HL_ESTATE : HL_OK;
}

/* Checks what every hashing call needs: a known algorithm and room for the digests. Fills in the plan, with the present
 * choice of kernels; hl_restrict leaves each algorithm at least one. Inline, like check_contexts of api.c: as calls the
 * two would take a twentieth of a short stream's time (gcc 12.2). */
HLI_INLINE hl_status hli_check_call(const hl_alg_info *info, const hl_kernel *forced, size_t count,
                                    uint8_t *digests, struct hli_plan *plan)
{
    if (info == NULL)
        return HL_EALG;
    if (count != 0 && digests == NULL)
        return HL_ENULL;
    if (count > SIZE_MAX / info->digest_nbytes)
        return HL_ELENGTH;
    if (forced != NULL && forced->body != hli_body(info))
        return HL_EKERNEL;
    plan->choice = hli_choice();
    plan->is_secret = 0;
    plan->forced = forced;
    plan->first = (struct hli_pass){.alg = info, .begin = info->iv};
    plan->second.alg = NULL; /* the other fields have no meaning then */
    plan->digests = digests;
    plan->digest_stride = info->digest_nbytes;
    return HL_OK;
}

/* `before` is the number of bytes hashed before each message. */
HLI_INLINE hl_status hli_check_slices(const hl_slice *slices, size_t count, uint64_t before)
{
    size_t wrong = 0;

    if (count != 0 && slices == NULL)
        return HL_ENULL;
    /* All at once, without branches: with one for each message, four of SHA-256 of 33 bytes took 40 ns more. */
    for (size_t i = 0; i < count; i++) {
        const hl_slice *slice = slices + i;
        wrong |= (slice->data == NULL ? slice->nbytes : 0) | (slice->nbytes > HL_MESSAGE_MAX_NBYTES - before);
    }
    for (size_t i = 0; wrong != 0 && i < count; i++) {
        const hl_status status = hli_check_slice(slices[i].data, slices[i].nbytes, before);
        if (status != HL_OK)
            return status;
    }
    hli_check_readable_slices(slices, count);
    return HL_OK;
}

HLI_INLINE hl_status hli_check_rows(const hl_messages *rows, uint64_t before)
{
    size_t span;

    if (rows->count == 0)
        return HL_OK;
    if (__builtin_mul_overflow(rows->count - 1, rows->stride, &span) ||
        __builtin_add_overflow(span, rows->nbytes, &span))
        return HL_ELENGTH;
    const hl_status status = hli_check_slice(rows->base, rows->nbytes, before);
    for (size_t i = 0; status == HL_OK && i < rows->count && rows->nbytes > 0; i++)
        hli_check_readable((const uint8_t *)rows->base + i * rows->stride, rows->nbytes);
    return status;
}

HLI_INLINE hl_status hli_check_messages(const hl_messages *all, uint64_t before)
{
    switch (all->layout) {
    case HL_SLICES: return hli_check_slices(all->base, all->count, before);
    case HL_ROWS: return hli_check_rows(all, before);
    default: return HL_EJOB;
    }
}

/* Whether digests overlap rows. */
HLI_INLINE int hli_overlap(const struct hli_plan *plan, size_t digest_nbytes, const hl_messages *rows)
{
    const uintptr_t from = (uintptr_t)rows->base, to = (uintptr_t)plan->digests;

    return rows->nbytes != 0 && from < to + (rows->count - 1) * plan->digest_stride + digest_nbytes &&
           to < from + (rows->count - 1) * rows->stride + rows->nbytes;
}
/* Inline: most fields are literals in each caller, and many programs hash one message a call. */
HLI_INLINE hl_status hli_run(const hl_job *job)
{
    const hl_hmac_key *const keys = job->keys;
    const hl_ctx *begin = job->begin;
    const hl_alg_info *info = hli_alg_find(keys != NULL ? keys->alg : job->alg), *again = NULL;
    hl_messages all = job->messages;
    const size_t count = all.count;
    struct hli_plan plan;
    uint64_t before = 0;
    int is_keyed = 0;

    if (keys != NULL && (!HLI_ALG(hmac) || info == NULL || !hli_has_hmac(info)))
        return HL_ESTATE;
    if (job->kernel != NULL && (job->kernel->isas & hl_isas_available()) == 0)
        return HL_EISA;
    if (info != NULL && hli_finds_attacks(info) && (job->again != 0 || job->is_secret != 0))
        return HL_EJOB;
    hl_status status = hli_check_call(info, job->kernel, count, job->digests, &plan);
    if (status != HL_OK)
        return status;
    if (job->again != 0) {
        again = hl_alg_find((hl_alg)job->again);
        if (again == NULL)
            return HL_EALG;
        plan.second = (struct hli_pass){.alg = again, .begin = again->iv};
        plan.digest_stride = again->digest_nbytes;
    }
    hl_alg_info other_digest; /* as if the algorithm had the digest size that the caller wants */
    hl_state other_begin;
    struct hli_pass *const last = again != NULL ? &plan.second : &plan.first;
    const hl_ctx *const of_last = again == NULL ? begin : NULL;
    size_t digest_nbytes = job->digest_nbytes;
    if (of_last != NULL && hli_is_blake2(last->alg) && of_last->alg == (uint32_t)info->alg) {
        const unsigned of_stream = hli_counted_digest_nbytes(info, &of_last->state);
        if (digest_nbytes != 0 && digest_nbytes != of_stream)
            return HL_EJOB;
        digest_nbytes = of_stream;
    }
    if (digest_nbytes != 0 && digest_nbytes != plan.digest_stride) {
        const int is_shorter = digest_nbytes < last->alg->digest_nbytes;
        if ((!hli_is_xof(last->alg) && !is_shorter) || keys != NULL)
            return HL_EJOB;
        if (digest_nbytes > UINT32_MAX || count > SIZE_MAX / digest_nbytes)
            return HL_ELENGTH;
        if (is_shorter && hli_is_blake2(last->alg)) {
            hli_counted_begin(last->alg, (unsigned)digest_nbytes, &other_begin);
            last->begin = &other_begin;
        }
        other_digest = *last->alg;
        other_digest.digest_nbytes = (unsigned)digest_nbytes;
        last->alg = &other_digest;
        plan.digest_stride = digest_nbytes;
    }
    if (job->digest_stride != 0) {
        size_t span;
        if (job->digest_stride < plan.digest_stride)
            return HL_EJOB;
        if (__builtin_mul_overflow(count, job->digest_stride, &span))
            return HL_ELENGTH;
        plan.digest_stride = job->digest_stride;
    }
    if (keys != NULL) {
        if (begin != NULL || again != NULL)
            return HL_EJOB;
        for (size_t i = 0; job->key_stride != 0 && i < count; i++)
            if (((const hl_hmac_key *)hli_nth(keys, i, job->key_stride))->alg != keys->alg)
                return HL_ESTATE;
        before = hli_block_nbytes(info);
        plan.first = (struct hli_pass){info, &keys->inner, NULL, job->key_stride, before};
        plan.second = (struct hli_pass){info, &keys->outer, NULL, job->key_stride, before};
    }
    if (begin != NULL)
        for (size_t i = 0; i < (job->begin_stride == 0 ? 1 : count); i++) {
            const hl_ctx *ctx = hli_nth(begin, i, job->begin_stride);
            if (ctx->alg != (uint32_t)info->alg || ctx->nbytes > HL_MESSAGE_MAX_NBYTES ||
                (hli_is_blake2(info) && hli_counted_digest_nbytes(info, &ctx->state) !=
                                                   hli_counted_digest_nbytes(info, &begin->state)))
                return HL_ESTATE;
            if (hli_is_tree(info) && (ctx->nbytes != 0 || job->begin_stride != 0))
                return HL_EJOB;
            before = ctx->nbytes > before ? ctx->nbytes : before;
            is_keyed |= hli_is_tree(info) ? hli_is_keyed_tree(ctx) : hli_is_keyed(info, &ctx->state);
        }
    status = hli_check_messages(&all, before);
    if (status != HL_OK || count == 0)
        return status;
    plan.is_secret = keys != NULL || job->is_secret != 0 || is_keyed;
    if (all.layout == HL_ROWS && all.nbytes == 0) /* base may be NULL, and C allows no addition to NULL */
        all.stride = 0;
    if (begin != NULL && !hli_is_tree(info) && job->begin_stride == 0 && hli_rest_of_block(info, begin->nbytes) == 0) {
        plan.first.begin = &begin->state; /* one stream of whole blocks: a state to begin in */
        plan.first.begin_nbytes = begin->nbytes;
        begin = NULL;
    }
    if (all.layout == HL_ROWS && hli_overlap(&plan, last->alg->digest_nbytes, &all))
        return hli_hash_in_place(&plan, last->alg->digest_nbytes, begin, job->begin_stride, &all);
    if (hli_is_tree(info))
        hli_hash_tree(&plan, begin, &all);
    else if (begin != NULL)
        hli_hash_on(&plan, begin, job->begin_stride, &all);
    else
        hli_hash(&plan, &all);
    return HL_OK;
}

#define HLI_SLICES_OF(messages, n) {.layout = HL_SLICES, .count = (n), .base = (messages)}

#endif
