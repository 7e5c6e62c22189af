/* check.h: the checks of arguments that calls make before anything is written.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_CHECK_H
#define HLI_CHECK_H

#include "core.h"

#define HLI_SLICES_OF(messages, n) {.layout = HL_SLICES, .count = (n), .base = (messages)}

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

#endif
