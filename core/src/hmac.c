/* hmac.c: HMAC, FIPS 198-1 and RFC 2104: H(K xor opad, H(K xor ipad, message)).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * K xor ipad and K xor opad are a block each: all that a key does is to begin both hashes in states of its own. It is
 * kept as these two states. The lane driver begins messages in the one and hashes their digests once more from the
 * other (lanes.c, hli_hash_again): what HMAC costs beyond a hash is one block a message.
 */
#include "check.h"

enum {
    IPAD = 0x36,
    OPAD = 0x5c,
    SHORTEST_TAG_NBYTES = 10,
    /* What is burned here: the frames of make_key and begin, and those of the C library's functions. What lies deeper
     * the lane driver burns, as the plan is of a secret. */
    MAKE_KEY_NBYTES = 1536,
    COPY_NBYTES = 256
};

/* state = that of alg after the block key0 xor pad. */
static void begin(const hl_alg_info *alg, const struct hli_plan *plan, const uint8_t key0[], uint8_t pad,
                  hl_state *state)
{
    uint8_t block[HL_BLOCK_MAX_NBYTES];
    hl_ctx ctx, *const all = &ctx;

    for (unsigned i = 0; i < alg->block_nbytes; i++)
        block[i] = key0[i] ^ pad;
    hl_init(&ctx, alg->alg);
    hli_update(plan, &all, &(hl_slice){block, alg->block_nbytes}, 1);
    *state = ctx.state;
    hli_wipe(&ctx, sizeof ctx);
    hli_wipe(block, sizeof block);
}

/* FIPS 198-1 section 4, steps 1 to 4 and 7. The variables are wiped here, what compilers keep of them beside is burned
 * by the caller. */
static __attribute__((noinline)) void make_key(const hl_alg_info *alg, const struct hli_plan *plan,
                                               const hl_slice *secret, hl_hmac_key *key)
{
    uint8_t key0[HL_BLOCK_MAX_NBYTES];
    struct hli_plan hashing = *plan;

    hashing.digests = key0;
    hli_zero(key0, sizeof key0);
    if (secret->nbytes > alg->block_nbytes)
        hli_hash(&hashing, &(struct hli_messages){.layout = HLI_SLICES, .base = secret, .count = 1});
    else if (secret->nbytes > 0)
        hli_copy(key0, secret->data, secret->nbytes);
    hli_zero(key, sizeof *key);
    begin(alg, plan, key0, IPAD, &key->inner);
    begin(alg, plan, key0, OPAD, &key->outer);
    key->alg = (uint32_t)alg->alg;
    hli_wipe(key0, sizeof key0);
}

hl_status hl_hmac_key_init(hl_hmac_key *key, hl_alg alg, const void *secret, size_t nbytes)
{
    const hl_alg_info *info = hl_alg_find(alg);
    struct hli_plan plan;

    if (key == NULL)
        return HL_ENULL;
    hl_status status = hli_check_call(info, NULL, 0, NULL, &plan);
    if (status == HL_OK)
        status = hli_check_slice(secret, nbytes);
    if (status != HL_OK)
        return status;
    hli_check_readable(secret, nbytes);
    plan.is_secret = 1;
    make_key(info, &plan, &(hl_slice){secret, nbytes}, key);
    hli_burn(MAKE_KEY_NBYTES);
    return HL_OK;
}

void hl_hmac_key_wipe(hl_hmac_key *key)
{
    if (key != NULL)
        hli_wipe(key, sizeof *key);
}

hl_status hl_hmac_many(const hl_hmac_key *key, const hl_slice *messages, size_t count, uint8_t *tags)
{
    struct hli_plan plan;

    if (key == NULL)
        return HL_ENULL;
    const hl_alg_info *info = hl_alg_find((hl_alg)key->alg);
    if (info == NULL)
        return HL_ESTATE;
    hl_status status = hli_check_call(info, NULL, count, tags, &plan);
    if (status == HL_OK)
        status = hli_check_slices(messages, count);
    for (size_t i = 0; status == HL_OK && i < count; i++)
        if (messages[i].nbytes > HL_MESSAGE_MAX_NBYTES - info->block_nbytes)
            status = HL_ELENGTH;
    if (status != HL_OK)
        return status;
    hli_check_readable_slices(messages, count);

    plan.first = (struct hli_pass){info, &key->inner, NULL, 0, info->block_nbytes};
    plan.second = (struct hli_pass){info, &key->outer, NULL, 0, info->block_nbytes};
    plan.is_secret = 1;
    hli_hash(&plan, &(struct hli_messages){.layout = HLI_SLICES, .base = messages, .count = count});
    return HL_OK;
}

hl_status hl_hmac(const hl_hmac_key *key, const void *data, size_t nbytes, uint8_t *tag)
{
    return hl_hmac_many(key, &(hl_slice){data, nbytes}, 1, tag);
}

hl_status hl_hmac_verify(const hl_hmac_key *key, const void *data, size_t nbytes, const uint8_t *tag,
                         size_t tag_nbytes)
{
    uint8_t right[HL_DIGEST_MAX_NBYTES];

    if (key == NULL || tag == NULL)
        return HL_ENULL;
    const hl_alg_info *info = hl_alg_find((hl_alg)key->alg);
    if (info == NULL)
        return HL_ESTATE;
    if (tag_nbytes < SHORTEST_TAG_NBYTES || tag_nbytes > info->digest_nbytes)
        return HL_ELENGTH;
    hl_status status = hl_hmac(key, data, nbytes, right);
    if (status == HL_OK) /* no branch on what is equal: whether to take one is the caller's */
        status = (hl_status)(HL_ETAG * (1 - hl_equal(right, tag, tag_nbytes)));
    hli_wipe(right, sizeof right); /* of a message that the key's owner never meant */
    return status;
}

hl_status hl_hmac_init(hl_hmac_ctx *ctx, const hl_hmac_key *key)
{
    if (ctx == NULL || key == NULL)
        return HL_ENULL;
    const hl_alg_info *info = hl_alg_find((hl_alg)key->alg);
    if (info == NULL)
        return HL_ESTATE;
    hli_zero(ctx, sizeof *ctx);
    ctx->inner.state = key->inner;
    ctx->outer = key->outer;
    ctx->inner.nbytes = info->block_nbytes;
    ctx->inner.alg = key->alg;
    hli_burn(COPY_NBYTES);
    return HL_OK;
}

/* The algorithm of a stream under way; NULL if it is none. */
static const hl_alg_info *alg_of(const hl_hmac_ctx *ctx)
{
    const hl_alg_info *info = hl_alg_find((hl_alg)ctx->inner.alg);

    return info == NULL || ctx->inner.nbytes < info->block_nbytes || ctx->inner.nbytes > HL_MESSAGE_MAX_NBYTES ? NULL
                                                                                                               : info;
}

hl_status hl_hmac_update(hl_hmac_ctx *ctx, const void *data, size_t nbytes)
{
    struct hli_plan plan;

    if (ctx == NULL)
        return HL_ENULL;
    const hl_alg_info *info = alg_of(ctx);
    if (info == NULL)
        return HL_ESTATE;
    hl_status status = hli_check_call(info, NULL, 0, NULL, &plan);
    if (status == HL_OK)
        status = hli_check_slice(data, nbytes);
    if (status == HL_OK && nbytes > HL_MESSAGE_MAX_NBYTES - ctx->inner.nbytes)
        status = HL_ELENGTH;
    if (status != HL_OK)
        return status;
    hli_check_readable(data, nbytes);
    hl_ctx *const inner = &ctx->inner;
    plan.is_secret = 1;
    hli_update(&plan, &inner, &(hl_slice){data, nbytes}, 1);
    return HL_OK;
}

hl_status hl_hmac_final(hl_hmac_ctx *ctx, uint8_t *tag)
{
    struct hli_plan plan;

    if (ctx == NULL)
        return HL_ENULL;
    const hl_alg_info *info = alg_of(ctx);
    if (info == NULL)
        return HL_ESTATE;
    const hl_status status = hli_check_call(info, NULL, 1, tag, &plan);
    if (status != HL_OK)
        return status;
    hl_ctx *const inner = &ctx->inner;
    plan.second = (struct hli_pass){info, &ctx->outer, NULL, 0, info->block_nbytes};
    plan.is_secret = 1;
    hli_final(&plan, &inner, 1);
    hli_wipe(ctx, sizeof *ctx);
    return HL_OK;
}

int hl_equal(const void *a, const void *b, size_t nbytes)
{
    const uint8_t *p = a, *q = b;
    unsigned differ = 0;

    for (size_t i = 0; i < nbytes; i++) {
        differ |= p[i] ^ q[i];
        __asm__ volatile("" : "+r"(differ)); /* or a compiler may see that it could stop */
    }
    return differ == 0;
}
