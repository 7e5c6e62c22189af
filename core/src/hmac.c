/* hmac.c: HMAC, FIPS 198-1 and RFC 2104: H(K xor opad, H(K xor ipad, message)).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * K xor ipad and K xor opad are a block each: a key only makes both hashes begin in states of its own, and is kept as
 * these two states. The lane driver begins messages in one state and hashes their digests again from the other
 * (lanes.c, hli_hash_again). Beyond a hash, HMAC costs one block a message.
 */
#include "hmac.h"

enum {
    IPAD = 0x36,
    OPAD = 0x5c,
    SHORTEST_TAG_NBYTES = 10,
    COPY_NBYTES = 288, /* burned after a copy: covers the frames of the C library's functions */
    COUNT = 96 /* streams that are handed to the driver at once */
};

/* state = the state of alg after the block key0 xor pad. */
static void begin(const hl_kernel *kernel, const hl_alg_info *alg, const uint8_t key0[], uint64_t pad, hl_state *state)
{
    uint8_t block[HL_BLOCK_MAX_NBYTES] __attribute__((aligned(16)));

    pad *= UINT64_C(0x0101010101010101);
    for (unsigned i = 0; i < hli_block_nbytes(alg); i += 16) /* as edges.h says: kernels load 16 bytes */
        hli_store_pair(block + i, hli_load_pair(key0 + i) ^ (hli_pair){pad, pad});
    hli_copy_state(alg, state, alg->iv);
    hli_advance_one(kernel, alg, state, block, 1);
}

HLI_NOINLINE void hli_make_key(const hl_kernel *kernel, const hl_alg_info *alg, const hl_slice *secret,
                               hl_hmac_key *key)
{
    uint8_t key0[HL_BLOCK_MAX_NBYTES];

    hli_zero(key0, sizeof key0);
    if (secret->nbytes > hli_block_nbytes(alg))
        hli_hash_one(kernel, alg, alg->iv, 0, secret->data, secret->nbytes, key0);
    else
        hli_copy_short(key0, secret->data, secret->nbytes);
    hli_zero(key, sizeof *key);
    begin(kernel, alg, key0, IPAD, &key->inner);
    begin(kernel, alg, key0, OPAD, &key->outer);
    key->alg = (uint32_t)alg->alg;
}

/* The key's algorithm; NULL if the key was not made by hl_hmac_key_init. */
static const hl_alg_info *alg_of(const hl_hmac_key *key)
{
    const hl_alg_info *info = hl_alg_find((hl_alg)key->alg);

    return info != NULL && hli_has_hmac(info) ? info : NULL;
}

hl_status hl_hmac_key_init(hl_hmac_key *key, hl_alg alg, const void *secret, size_t nbytes)
{
    const hl_alg_info *info = hl_alg_find(alg);

    if (key == NULL)
        return HL_ENULL;
    const hl_status status =
        info == NULL || !hli_has_hmac(info) ? HL_EALG : hli_check_slice(secret, nbytes, 0);
    if (status != HL_OK)
        return status;
    hli_check_readable(secret, nbytes);
    const hl_kernel *kernel = hli_choose_one(hli_choice(), hli_body(info));
    hli_make_key(kernel, info, &(hl_slice){secret, nbytes}, key);
    hli_forget_one(kernel);
    return HL_OK;
}

void hl_hmac_key_wipe(hl_hmac_key *key)
{
    if (key != NULL)
        hli_wipe(key, sizeof *key);
}

hl_status hl_hmac_many(const hl_hmac_key *key, const hl_slice *messages, size_t count, uint8_t *tags)
{
    if (key == NULL)
        return HL_ENULL;
    return hli_run(&(hl_job){.messages = HLI_SLICES_OF(messages, count), .digests = tags, .keys = key});
}

static HLI_NOINLINE void tag_one(const hl_kernel *kernel, const hl_alg_info *alg, const hl_hmac_key *key,
                                 const void *data, size_t nbytes, uint8_t *tag)
{
    uint8_t inner[HL_DIGEST_MAX_NBYTES];

    hli_hash_one(kernel, alg, &key->inner, hli_block_nbytes(alg), data, nbytes, inner);
    hli_hash_one(kernel, alg, &key->outer, hli_block_nbytes(alg), inner, alg->digest_nbytes, tag);
}

hl_status hl_hmac(const hl_hmac_key *key, const void *data, size_t nbytes, uint8_t *tag)
{
    if (key == NULL)
        return HL_ENULL;
    const hl_alg_info *info = alg_of(key);
    if (info == NULL)
        return HL_ESTATE;
    const hl_status status = tag == NULL ? HL_ENULL : hli_check_slice(data, nbytes, hli_block_nbytes(info));
    if (status != HL_OK)
        return status;
    hli_check_readable(data, nbytes);
    const hl_kernel *kernel = hli_choose_one(hli_choice(), hli_body(info));
    tag_one(kernel, info, key, data, nbytes, tag);
    hli_forget_one(kernel);
    return HL_OK;
}

hl_status hl_hmac_verify(const hl_hmac_key *key, const void *data, size_t nbytes, const uint8_t *tag,
                         size_t tag_nbytes)
{
    uint8_t right[HL_DIGEST_MAX_NBYTES];

    if (key == NULL || tag == NULL)
        return HL_ENULL;
    const hl_alg_info *info = alg_of(key);
    if (info == NULL)
        return HL_ESTATE;
    if (tag_nbytes < SHORTEST_TAG_NBYTES || tag_nbytes > info->digest_nbytes)
        return HL_ELENGTH;
    hl_status status = hl_hmac(key, data, nbytes, right);
    if (status == HL_OK) /* no branch on the result: the caller decides whether to branch */
        status = (hl_status)(HL_ETAG * (1 - hl_equal(right, tag, tag_nbytes)));
    hli_wipe(right, sizeof right); /* the right tag of a message that the key's owner may never have sent */
    return status;
}

/* Not inlined: its frame, where i686 keeps words of the key, is burned. */
static HLI_NOINLINE void begin_hmac(const hl_alg_info *info, hl_hmac_ctx *ctx, const hl_hmac_key *key)
{
    hli_begin_one(info, &ctx->inner, &key->inner, hli_block_nbytes(info));
    hli_copy_state(info, &ctx->outer, &key->outer);
}

hl_status hl_hmac_init(hl_hmac_ctx *ctx, const hl_hmac_key *key)
{
    if (ctx == NULL || key == NULL)
        return HL_ENULL;
    const hl_alg_info *info = alg_of(key);
    if (info == NULL)
        return HL_ESTATE;
    begin_hmac(info, ctx, key);
    hli_burn(COPY_NBYTES);
    return HL_OK;
}

/* Like check_contexts of api.c. */
static hl_status check_contexts(hl_hmac_ctx *const ctxs[], size_t count, size_t ntags, uint8_t *tags,
                                const hl_alg_info **info, struct hli_plan *plan)
{
    hl_status status = hli_check_array(ctxs, count);

    if (status != HL_OK)
        return status;
    *info = NULL;
    for (size_t i = 0; i < count; i++) {
        status = ctxs[i] == NULL ? HL_ENULL : hli_check_stream(&ctxs[i]->inner, 1, info);
        if (status != HL_OK)
            return status;
    }
    status = hli_check_call(*info, NULL, ntags, tags, plan);
    plan->is_secret = 1;
    return status;
}

hl_status hl_hmac_update_many(hl_hmac_ctx *const ctxs[], const hl_slice *chunks, size_t count)
{
    const hl_alg_info *info;
    struct hli_plan plan;
    hl_ctx *inner[COUNT];

    if (count == 0)
        return HL_OK;
    hl_status status = check_contexts(ctxs, count, 0, NULL, &info, &plan);
    if (status == HL_OK && chunks == NULL)
        status = HL_ENULL;
    for (size_t i = 0; status == HL_OK && i < count; i++)
        status = hli_check_slice(chunks[i].data, chunks[i].nbytes, ctxs[i]->inner.nbytes);
    if (status != HL_OK)
        return status;
    hli_check_readable_slices(chunks, count);
    for (size_t start = 0; start < count; start += COUNT) {
        const size_t n = count - start < COUNT ? count - start : COUNT;
        for (size_t i = 0; i < n; i++)
            inner[i] = &ctxs[start + i]->inner;
        hli_update(&plan, inner, chunks + start, n);
    }
    return HL_OK;
}

hl_status hl_hmac_final_many(hl_hmac_ctx *const ctxs[], size_t count, uint8_t *tags)
{
    const hl_alg_info *info;
    struct hli_plan plan;
    hl_ctx *inner[COUNT];
    const void *all[COUNT];

    if (count == 0)
        return HL_OK;
    const hl_status status = check_contexts(ctxs, count, count, tags, &info, &plan);
    if (status != HL_OK)
        return status;
    plan.second = (struct hli_pass){info, NULL, all, offsetof(hl_hmac_ctx, outer), hli_block_nbytes(info)};
    for (size_t start = 0; start < count; start += COUNT) {
        const size_t n = count - start < COUNT ? count - start : COUNT;
        for (size_t i = 0; i < n; i++) {
            all[i] = ctxs[start + i];
            inner[i] = &ctxs[start + i]->inner;
        }
        plan.digests = tags + start * info->digest_nbytes;
        hli_final(&plan, inner, n);
        for (size_t i = 0; i < n; i++)
            hli_wipe_state(info, &ctxs[start + i]->outer);
    }
    return HL_OK;
}

hl_status hl_hmac_update(hl_hmac_ctx *ctx, const void *data, size_t nbytes)
{
    const hl_alg_info *info = NULL;

    hl_status status = ctx == NULL ? HL_ENULL : hli_check_stream(&ctx->inner, 1, &info);
    if (status == HL_OK)
        status = hli_check_slice(data, nbytes, ctx->inner.nbytes);
    if (status != HL_OK)
        return status;
    hli_check_readable(data, nbytes);
    if (hli_hold(info, &ctx->inner, data, nbytes))
        return HL_OK;
    const hl_kernel *kernel = hli_choose_one(hli_choice(), hli_body(info));
    hli_update_one(kernel, info, &ctx->inner, data, nbytes);
    hli_forget_one(kernel);
    return HL_OK;
}

static HLI_NOINLINE void final_one(const hl_kernel *kernel, const hl_alg_info *alg, hl_hmac_ctx *ctx, uint8_t *tag)
{
    uint8_t inner[HL_DIGEST_MAX_NBYTES];

    hli_final_one(kernel, alg, &ctx->inner, inner);
    hli_hash_one(kernel, alg, &ctx->outer, hli_block_nbytes(alg), inner, alg->digest_nbytes, tag);
}

hl_status hl_hmac_final(hl_hmac_ctx *ctx, uint8_t *tag)
{
    const hl_alg_info *info = NULL;

    hl_status status = ctx == NULL ? HL_ENULL : hli_check_stream(&ctx->inner, 1, &info);
    if (status == HL_OK && tag == NULL)
        status = HL_ENULL;
    if (status != HL_OK)
        return status;
    const hl_kernel *kernel = hli_choose_one(hli_choice(), hli_body(info));
    final_one(kernel, info, ctx, tag);
    hli_wipe_one(info, &ctx->inner);
    hli_wipe_state(info, &ctx->outer);
    hli_forget_one(kernel);
    return HL_OK;
}

int hl_equal(const void *a, const void *b, size_t nbytes)
{
    const uint8_t *p = a, *q = b;
    unsigned differ = 0;

    for (size_t i = 0; i < nbytes; i++) {
        differ |= p[i] ^ q[i];
        __asm__ volatile("" : "+r"(differ)); /* else a compiler may see that the loop could stop early */
    }
    return differ == 0;
}
