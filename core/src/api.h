/* api.h: jobs: calls for whole messages with any fields, checked before anything is written (api.c).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_API_H
#define HLI_API_H

#include "blake3.h"
#include "lanes.h"

/* Whether digests overlap rows. */
HLI_INLINE int hli_overlap(const struct hli_plan *plan, size_t digest_nbytes, const hl_messages *rows)
{
    const uintptr_t from = (uintptr_t)rows->base, to = (uintptr_t)plan->digests;

    return rows->nbytes != 0 && from < to + (rows->count - 1) * plan->digest_stride + digest_nbytes &&
           to < from + (rows->count - 1) * rows->stride + rows->nbytes;
}
/* hli_hash for rows that digests overlap. `begin`: streams that hold bytes, or a tree's; else NULL. HL_EJOB if a digest
 * overlaps the row behind its own. Changes plan and rows. */
HLI_HIDDEN hl_status hli_hash_in_place(struct hli_plan *plan, size_t digest_nbytes, const hl_ctx *begin,
                                       size_t begin_stride, hl_messages *rows);
/* hli_hash for messages that continue streams, one for all or one each, as in hl_job. Streams are copied. */
HLI_HIDDEN void hli_hash_on(const struct hli_plan *plan, const hl_ctx *begin, size_t begin_stride,
                            const hl_messages *messages);
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

#endif
