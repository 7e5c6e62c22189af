/* api.c: the public calls: argument checks, then the lane driver. Also the table of algorithms.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "check.h"

/* name, alg, body, bytes of digest, block and word, words, big-endian, initial value */
static const hl_alg_info algs[] = {
    {"sha1", HL_SHA1, HL_BODY_SHA1, HL_SHA1_DIGEST_NBYTES, 64, 4, 5, 1, hli_sha1_iv},
    {"sha224", HL_SHA224, HL_BODY_SHA256, HL_SHA224_DIGEST_NBYTES, 64, 4, 8, 1, hli_sha224_iv},
    {"sha256", HL_SHA256, HL_BODY_SHA256, HL_SHA256_DIGEST_NBYTES, 64, 4, 8, 1, hli_sha256_iv},
    {"sha384", HL_SHA384, HL_BODY_SHA512, HL_SHA384_DIGEST_NBYTES, 128, 8, 8, 1, hli_sha384_iv},
    {"sha512", HL_SHA512, HL_BODY_SHA512, HL_SHA512_DIGEST_NBYTES, 128, 8, 8, 1, hli_sha512_iv},
    {"sha512-224", HL_SHA512_224, HL_BODY_SHA512, HL_SHA512_224_DIGEST_NBYTES, 128, 8, 8, 1, hli_sha512_224_iv},
    {"sha512-256", HL_SHA512_256, HL_BODY_SHA512, HL_SHA512_256_DIGEST_NBYTES, 128, 8, 8, 1, hli_sha512_256_iv},
    {"ripemd160", HL_RIPEMD160, HL_BODY_RIPEMD160, HL_RIPEMD160_DIGEST_NBYTES, 64, 4, 5, 0, hli_sha1_iv},
};
#define ALG_COUNT (sizeof algs / sizeof algs[0])

size_t hl_alg_count(void)
{
    return ALG_COUNT;
}

const hl_alg_info *hl_alg_at(size_t i)
{
    return i < ALG_COUNT ? &algs[i] : NULL;
}

const hl_alg_info *hl_alg_find(hl_alg alg)
{
    for (size_t i = 0; i < ALG_COUNT; i++)
        if (algs[i].alg == alg)
            return &algs[i];
    return NULL;
}

const hl_alg_info *hl_alg_named(const char *name)
{
    for (size_t i = 0; name != NULL && i < ALG_COUNT; i++)
        if (hli_same_text(algs[i].name, name))
            return &algs[i];
    return NULL;
}

const hl_kernel *hl_kernel_chosen(hl_alg alg, size_t nmessages)
{
    const hl_alg_info *info = hl_alg_find(alg);

    return info == NULL ? NULL : hli_choose(hli_choice(), info->body, nmessages, 0);
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
    case HL_EALG: return "unknown algorithm";
    case HL_ENULL: return "a pointer is NULL where bytes are to be read or written";
    case HL_ELENGTH: return "a message is longer than 2^61 - 1 bytes, or a size does not fit in memory";
    case HL_EOFFSETS: return "offsets decrease, are negative, or end beyond the values";
    case HL_ESTATE: return "a context or key is not initialised, is final already, or is of another algorithm";
    case HL_EISA: return "an instruction set is unknown or not available on this machine";
    case HL_EKERNEL: return "the kernel does not implement the algorithm";
    case HL_ETAG: return "the tag is not that of the message";
    }
    return "unknown status";
}

static hl_status hash_slices(const hl_kernel *forced, hl_alg alg, const hl_slice *messages, size_t count,
                             uint8_t *digests)
{
    const hl_alg_info *info = hl_alg_find(alg);
    struct hli_plan plan;
    hl_status status = hli_check_call(info, forced, count, digests, &plan);

    if (status == HL_OK)
        status = hli_check_slices(messages, count);
    if (status != HL_OK)
        return status;
    hli_check_readable_slices(messages, count);
    hli_hash(&plan, &(struct hli_messages){.layout = HLI_SLICES, .base = messages, .count = count});
    return HL_OK;
}

hl_status hl_hash_many(hl_alg alg, const hl_slice *messages, size_t count, uint8_t *digests)
{
    return hash_slices(NULL, alg, messages, count, digests);
}

hl_status hl_hash_many_with(const hl_kernel *kernel, hl_alg alg, const hl_slice *messages, size_t count,
                            uint8_t *digests)
{
    if (kernel == NULL)
        return HL_ENULL;
    if ((kernel->isas & hl_isas_available()) == 0)
        return HL_EISA;
    return hash_slices(kernel, alg, messages, count, digests);
}

hl_status hl_hash(hl_alg alg, const void *data, size_t nbytes, uint8_t *digest)
{
    return hash_slices(NULL, alg, &(hl_slice){data, nbytes}, 1, digest);
}

hl_status hl_hash_rows(hl_alg alg, const void *base, size_t stride, size_t nbytes, size_t count, uint8_t *digests)
{
    const hl_alg_info *info = hl_alg_find(alg);
    struct hli_plan plan;
    hl_status status = hli_check_call(info, NULL, count, digests, &plan);
    size_t span = 0;

    if (status != HL_OK || count == 0)
        return status;
    if (__builtin_mul_overflow(count - 1, stride, &span) || __builtin_add_overflow(span, nbytes, &span))
        return HL_ELENGTH;
    status = hli_check_slice(base, nbytes);
    if (status != HL_OK)
        return status;
    if (nbytes == 0) /* base may be NULL, to which C adds nothing */
        stride = 0;
    for (size_t i = 0; i < count && nbytes > 0; i++)
        hli_check_readable((const uint8_t *)base + i * stride, nbytes);
    hli_hash(&plan, &(struct hli_messages){
                        .layout = HLI_ROWS, .base = base, .stride = stride, .nbytes = nbytes, .count = count});
    return HL_OK;
}

hl_status hl_hash_offsets(hl_alg alg, const void *values, size_t values_nbytes, const void *offsets,
                          unsigned offset_nbytes, size_t count, uint8_t *digests)
{
    const hl_alg_info *info = hl_alg_find(alg);
    struct hli_plan plan;
    hl_status status = hli_check_call(info, NULL, count, digests, &plan);

    if (status != HL_OK)
        return status;
    if (offset_nbytes != 4 && offset_nbytes != 8)
        return HL_EOFFSETS;
    if (count == 0)
        return HL_OK;
    if (offsets == NULL)
        return HL_ENULL;
    status = hli_check_slice(values, values_nbytes);
    if (status != HL_OK)
        return status;

    uint64_t last = 0;
    for (size_t i = 0; i <= count; i++) {
        /* A negative offset becomes one above INT64_MAX, which is beyond any values. */
        const uint64_t offset =
            offset_nbytes == 4 ? (uint64_t)((const int32_t *)offsets)[i] : (uint64_t)((const int64_t *)offsets)[i];
        if (offset < last || offset > values_nbytes)
            return HL_EOFFSETS;
        last = offset;
    }
    hli_check_readable(values, values_nbytes);
    hli_hash(&plan, &(struct hli_messages){.layout = offset_nbytes == 4 ? HLI_OFFSETS32 : HLI_OFFSETS64,
                                           .base = values, .offsets = offsets, .count = count});
    return HL_OK;
}

hl_status hl_init(hl_ctx *ctx, hl_alg alg)
{
    const hl_alg_info *info = hl_alg_find(alg);

    if (ctx == NULL)
        return HL_ENULL;
    if (info == NULL)
        return HL_EALG;
    hli_zero(ctx, sizeof *ctx);
    hli_copy(&ctx->state, info->iv, (size_t)info->nwords * info->word_nbytes);
    ctx->alg = (uint32_t)alg;
    return HL_OK;
}

/* What every call on streams needs: contexts of one algorithm, which info then is, and what hli_check_call says. */
HLI_INLINE hl_status check_contexts(hl_ctx *const ctxs[], size_t count, size_t ndigests, uint8_t *digests,
                                    const hl_alg_info **info, struct hli_plan *plan)
{
    if (count > SIZE_MAX / sizeof(hl_slice)) /* no such arrays fit in memory */
        return HL_ELENGTH;
    if (ctxs == NULL)
        return HL_ENULL;
    for (size_t i = 0; i < count; i++)
        if (ctxs[i] == NULL)
            return HL_ENULL;
    *info = hl_alg_find((hl_alg)ctxs[0]->alg);
    if (*info == NULL)
        return HL_ESTATE;
    for (size_t i = 0; i < count; i++)
        if (ctxs[i]->alg != ctxs[0]->alg || ctxs[i]->nbytes > HL_MESSAGE_MAX_NBYTES)
            return HL_ESTATE;
    return hli_check_call(*info, NULL, ndigests, digests, plan);
}

hl_status hl_update_many(hl_ctx *const ctxs[], const hl_slice *chunks, size_t count)
{
    const hl_alg_info *info;
    struct hli_plan plan;

    if (count == 0)
        return HL_OK;
    hl_status status = check_contexts(ctxs, count, 0, NULL, &info, &plan);
    if (status == HL_OK)
        status = hli_check_slices(chunks, count);
    for (size_t i = 0; status == HL_OK && i < count; i++)
        if (chunks[i].nbytes > HL_MESSAGE_MAX_NBYTES - ctxs[i]->nbytes)
            status = HL_ELENGTH;
    if (status != HL_OK)
        return status;
    hli_check_readable_slices(chunks, count);
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
    if (status == HL_OK)
        hli_final(&plan, ctxs, count);
    return status;
}

hl_status hl_update(hl_ctx *ctx, const void *data, size_t nbytes)
{
    return hl_update_many(&ctx, &(hl_slice){data, nbytes}, 1);
}

hl_status hl_final(hl_ctx *ctx, uint8_t *digest)
{
    return hl_final_many(&ctx, 1, digest);
}
