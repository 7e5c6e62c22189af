/* sponge.h: the contexts of SHA-3, SHAKE and BLAKE2, for digest.c: streams of the core.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HASHLOOM_SPONGE_H
#define HASHLOOM_SPONGE_H

struct sponge {
    const struct provider *provider;
    const hl_alg_info *info;
    size_t nbytes;       /* the length of the digest, as the parameters set it; SIZE_MAX: none. Stays when the context
                          * begins anew */
    size_t begun_nbytes; /* BLAKE2: the length of this message's digest, which counts from its first byte on */
    hl_ctx stream;       /* its alg is 0: not initialised, or final */
};

/* OpenSSL's default provider gave SHAKE the length of its strength, half of hashloom's. Since 3.4 there is no usual
 * length. */
static size_t usual_nbytes(const hl_alg_info *info)
{
    if (info->ending != HL_XOF)
        return info->digest_nbytes;
    return hlp_is_before(4) ? info->digest_nbytes / 2 : 0;
}

static void *sponge_newctx(void *provider, hl_alg alg)
{
    struct sponge *sponge = OPENSSL_malloc(sizeof *sponge);

    if (sponge == NULL) {
        FAIL(provider, REASON_MEMORY);
        return NULL;
    }
    sponge->provider = provider;
    sponge->info = hl_alg_find(alg);
    sponge->nbytes = usual_nbytes(sponge->info);
    if (sponge->nbytes == 0)
        sponge->nbytes = SIZE_MAX;
    sponge->stream.alg = 0; /* no call reads the other fields then */
    return sponge;
}

static void sponge_wipe(struct sponge *sponge)
{
    OPENSSL_cleanse(&sponge->stream, sizeof sponge->stream);
}

static void sponge_freectx(void *context)
{
    struct sponge *sponge = context;

    if (sponge != NULL && sponge->stream.alg != 0)
        sponge_wipe(sponge);
    OPENSSL_free(sponge);
}

static void sponge_copyctx(void *to, void *from)
{
    *(struct sponge *)to = *(const struct sponge *)from;
}

static void *sponge_dupctx(void *context)
{
    const struct sponge *sponge = context;
    struct sponge *copy = OPENSSL_malloc(sizeof *copy);

    if (copy == NULL)
        FAIL(sponge->provider, REASON_MEMORY);
    else
        sponge_copyctx(copy, context);
    return copy;
}

static int sponge_done(const struct sponge *sponge, hl_status status)
{
    return status == HL_OK ? 1 : FAIL(sponge->provider, (int)status);
}

/* Both to be set and to be got. "size" is the only name of BLAKE2's length, a newer one of "xoflen" of SHAKE's. */
static const OSSL_PARAM *sized_ctx_params(void *context, void *provider)
{
    static const OSSL_PARAM params[] = {OSSL_PARAM_size_t(OSSL_DIGEST_PARAM_SIZE, NULL), OSSL_PARAM_END};

    (void)context;
    (void)provider;
    return params;
}

static const OSSL_PARAM *xof_ctx_params(void *context, void *provider)
{
    static const OSSL_PARAM params[] = {OSSL_PARAM_size_t(OSSL_DIGEST_PARAM_XOFLEN, NULL),
                                        OSSL_PARAM_size_t(OSSL_DIGEST_PARAM_SIZE, NULL), OSSL_PARAM_END};

    (void)context;
    (void)provider;
    return params;
}

static int sized_set_ctx_params(void *context, const OSSL_PARAM params[])
{
    struct sponge *sponge = context;
    const OSSL_PARAM *size = OSSL_PARAM_locate_const(params, OSSL_DIGEST_PARAM_SIZE);
    const OSSL_PARAM *xoflen = OSSL_PARAM_locate_const(params, OSSL_DIGEST_PARAM_XOFLEN);
    const int is_xof = sponge->info->ending == HL_XOF;
    size_t nbytes;

    if (xoflen != NULL && is_xof)
        size = xoflen;
    else if (xoflen != NULL && hlp_is_before(3)) /* EVP_DigestFinalXOF would take success for a digest of its length */
        return FAIL(sponge->provider, REASON_SIZE);
    if (size == NULL)
        return 1;
    if (!OSSL_PARAM_get_size_t(size, &nbytes))
        return FAIL(sponge->provider, REASON_PARAMETER);
    if (!is_xof && (nbytes == 0 || nbytes > sponge->info->digest_nbytes))
        return FAIL(sponge->provider, REASON_SIZE);
    sponge->nbytes = nbytes;
    return 1;
}

static int sized_get_ctx_params(void *context, OSSL_PARAM params[])
{
    const struct sponge *sponge = context;
    OSSL_PARAM *size = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_SIZE);
    OSSL_PARAM *xoflen = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_XOFLEN);

    if ((size != NULL && !OSSL_PARAM_set_size_t(size, sponge->nbytes)) ||
        (xoflen != NULL && sponge->info->ending == HL_XOF && !OSSL_PARAM_set_size_t(xoflen, sponge->nbytes)))
        return FAIL(sponge->provider, REASON_PARAMETER);
    return 1;
}

/* The parameters come first: a length counts from the first byte on. */
static int sponge_init(struct sponge *sponge, const OSSL_PARAM params[])
{
    const int is_sized = sponge->info->ending != HL_SPONGE;

    if (is_sized && !sized_set_ctx_params(sponge, params))
        return 0;
    sponge->begun_nbytes = sponge->nbytes;
    return sponge_done(sponge, sponge->info->ending == HL_COUNTED
                                   ? hl_blake2_init(&sponge->stream, sponge->info->alg, sponge->nbytes, NULL)
                                   : hl_init(&sponge->stream, sponge->info->alg));
}

static int sponge_update(struct sponge *sponge, const unsigned char *data, size_t nbytes)
{
    return sponge_done(sponge, hl_update(&sponge->stream, data, nbytes));
}

/* Writes the next bytes of the digest, any number; the first call ends the message. */
static int sponge_squeeze(struct sponge *sponge, unsigned char *out, size_t *out_nbytes, size_t nbytes)
{
    *out_nbytes = nbytes;
    return sponge_done(sponge, hl_squeeze(&sponge->stream, out, nbytes));
}

/* OpenSSL before 3.4 passes as room the usual length, whatever xoflen says: who sets xoflen, or calls
 * EVP_DigestFinalXOF, has room for it. */
static int sponge_final(struct sponge *sponge, unsigned char *out, size_t *out_nbytes, size_t room)
{
    const int is_xof = sponge->info->ending == HL_XOF;
    const size_t nbytes = is_xof ? sponge->nbytes : sponge->begun_nbytes;

    if (sponge->stream.alg != (uint32_t)sponge->info->alg)
        return FAIL(sponge->provider, HL_ESTATE);
    if (nbytes == SIZE_MAX)
        return FAIL(sponge->provider, REASON_NO_LENGTH);
    if (room < nbytes && !(is_xof && hlp_is_before(4)))
        return FAIL(sponge->provider, REASON_ROOM);
    if (sponge->nbytes < nbytes && hlp_is_before(2)) /* size came too late; from 3.2 on it is the room that is passed */
        return FAIL(sponge->provider, REASON_SIZE);
    if (!sponge_done(sponge, is_xof ? hl_squeeze(&sponge->stream, out, nbytes) : hl_final(&sponge->stream, out)))
        return 0;
    *out_nbytes = nbytes;
    if (is_xof)
        sponge_wipe(sponge);
    return 1;
}

#endif
