/* job.h: a job, checked and handed to the lane driver. Every call that takes whole messages is a job.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_JOB_H
#define HLI_JOB_H

#include "check.h"

/* `before` is the number of bytes hashed before each message. */
HLI_INLINE hl_status hli_check_messages(const hl_messages *all, uint64_t before)
{
    const size_t count = all->count;
    size_t span = 0;
    hl_status status;

    switch (all->layout) {
    case HL_SLICES:
        if (count != 0 && all->base == NULL)
            return HL_ENULL;
        /* All at once, without branches: with one for each message, four of SHA-256 of 33 bytes took 40 ns more. */
        for (size_t i = 0; i < count; i++) {
            const hl_slice *slice = (const hl_slice *)all->base + i;
            span |= (slice->data == NULL ? slice->nbytes : 0) | (slice->nbytes > HL_MESSAGE_MAX_NBYTES - before);
        }
        for (size_t i = 0; span != 0 && i < count; i++) {
            const hl_slice *slice = (const hl_slice *)all->base + i;
            status = hli_check_slice(slice->data, slice->nbytes, before);
            if (status != HL_OK)
                return status;
        }
        hli_check_readable_slices(all->base, count);
        return HL_OK;
    case HL_ROWS:
        if (count == 0)
            return HL_OK;
        if (__builtin_mul_overflow(count - 1, all->stride, &span) || __builtin_add_overflow(span, all->nbytes, &span))
            return HL_ELENGTH;
        status = hli_check_slice(all->base, all->nbytes, before);
        for (size_t i = 0; status == HL_OK && i < count && all->nbytes > 0; i++)
            hli_check_readable((const uint8_t *)all->base + i * all->stride, all->nbytes);
        return status;
    case HL_OFFSETS32:
    case HL_OFFSETS64: {
        if (count == 0)
            return HL_OK;
        if (all->offsets == NULL)
            return HL_ENULL;
        status = hli_check_slice(all->base, all->nbytes, before);
        if (status != HL_OK)
            return status;
        uint64_t last = 0;
        for (size_t i = 0; i <= count; i++) {
            /* A negative offset becomes a number above INT64_MAX, which is beyond any values. */
            const uint64_t offset = all->layout == HL_OFFSETS32 ? (uint64_t)((const int32_t *)all->offsets)[i]
                                                                : (uint64_t)((const int64_t *)all->offsets)[i];
            if (offset < last || offset > all->nbytes)
                return HL_EOFFSETS;
            last = offset;
        }
        hli_check_readable(all->base, all->nbytes);
        return HL_OK;
    }
    }
    return HL_EJOB;
}

/* Element i of a job's streams or keys, which are stride bytes apart. If stride is 0, there is only one. */
HLI_INLINE const void *hli_nth(const void *first, size_t i, size_t stride)
{
    return (const uint8_t *)first + i * stride;
}

/* Inline, because most fields are known to each caller, and many programs hash one message a call. */
HLI_INLINE hl_status hli_run(const hl_job *job)
{
    const hl_hmac_key *const keys = job->keys;
    const hl_ctx *const begin = job->begin;
    const hl_alg_info *info = hl_alg_find((hl_alg)(keys != NULL ? keys->alg : job->alg)), *again = NULL;
    hl_messages all = job->messages;
    const size_t count = all.count;
    struct hli_plan plan;
    uint64_t before = 0;

    if (keys != NULL && (info == NULL || !hli_has_hmac(info)))
        return HL_ESTATE;
    if (job->kernel != NULL && (job->kernel->isas & hl_isas_available()) == 0)
        return HL_EISA;
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
    hl_alg_info long_digest; /* of an XOF: as if the algorithm had the digest size that the caller wants */
    if (job->digest_nbytes != 0 && job->digest_nbytes != plan.digest_stride) {
        const hl_alg_info **last = again != NULL ? &plan.second.alg : &plan.first.alg;
        if ((*last)->ending != HL_XOF || keys != NULL)
            return HL_EJOB;
        if (job->digest_nbytes > UINT32_MAX || count > SIZE_MAX / job->digest_nbytes)
            return HL_ELENGTH;
        long_digest = **last;
        long_digest.digest_nbytes = (unsigned)job->digest_nbytes;
        *last = &long_digest;
        plan.digest_stride = job->digest_nbytes;
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
        before = info->block_nbytes;
        plan.first = (struct hli_pass){info, &keys->inner, NULL, job->key_stride, before};
        plan.second = (struct hli_pass){info, &keys->outer, NULL, job->key_stride, before};
    }
    if (begin != NULL)
        for (size_t i = 0; i < (job->begin_stride == 0 ? 1 : count); i++) {
            const hl_ctx *ctx = hli_nth(begin, i, job->begin_stride);
            if (ctx->alg != (uint32_t)info->alg || ctx->nbytes > HL_MESSAGE_MAX_NBYTES)
                return HL_ESTATE;
            before = ctx->nbytes > before ? ctx->nbytes : before;
        }
    status = hli_check_messages(&all, before);
    if (status != HL_OK || count == 0)
        return status;
    plan.is_secret = keys != NULL || job->is_secret != 0;
    if (all.layout == HL_ROWS && all.nbytes == 0) /* base may be NULL, and C allows no addition to NULL */
        all.stride = 0;
    if (begin != NULL && (job->begin_stride != 0 || hli_rest_of_block(info, begin->nbytes) != 0)) {
        hli_hash_on(&plan, begin, job->begin_stride, &all);
        return HL_OK;
    }
    if (begin != NULL) { /* one stream of whole blocks: a state to begin in */
        plan.first.begin = &begin->state;
        plan.first.begin_nbytes = begin->nbytes;
    }
    hli_hash(&plan, &all);
    return HL_OK;
}

#define HLI_SLICES_OF(messages, n) {.layout = HL_SLICES, .count = (n), .base = (messages)}

#endif
