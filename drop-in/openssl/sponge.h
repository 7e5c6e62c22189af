/* sponge.h: the contexts of SHA-3 and SHAKE, for digest.c: streams of the core.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HASHLOOM_SPONGE_H
#define HASHLOOM_SPONGE_H

struct sponge {
    const struct provider *provider;
    size_t xof_nbytes; /* the length of an HL_XOF's digest; SIZE_MAX: not set. Stays when the context begins anew */
    hl_ctx stream;     /* its alg is 0: not initialised, or final */
};

/* OpenSSL's default provider gave SHAKE the length of its strength, half of hashloom's. Since 3.4 there is no usual
 * length. */
static size_t usual_nbytes(const hl_alg_info *info)
{
    if (info->ending != HL_XOF)
        return info->digest_nbytes;
    return OPENSSL_version_major() == 3 && OPENSSL_version_minor() < 4 ? info->digest_nbytes / 2 : 0;
}

static void *sponge_newctx(void *provider, hl_alg alg)
{
    struct sponge *sponge = OPENSSL_malloc(sizeof *sponge);

    if (sponge == NULL) {
        FAIL(provider, REASON_MEMORY);
        return NULL;
    }
    const size_t usual = usual_nbytes(hl_alg_find(alg));
    sponge->provider = provider;
    sponge->xof_nbytes = usual == 0 ? SIZE_MAX : usual;
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

static int sponge_init(struct sponge *sponge, hl_alg alg)
{
    return sponge_done(sponge, hl_init(&sponge->stream, alg));
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

/* digest_nbytes: 0 for an HL_XOF. OpenSSL before 3.4 passes as room the usual length, whatever xoflen says: who sets
 * xoflen, or calls EVP_DigestFinalXOF, has room for it. */
static int sponge_final(struct sponge *sponge, unsigned char *out, size_t *out_nbytes, size_t room, hl_alg alg,
                        size_t digest_nbytes)
{
    if (sponge->stream.alg != (uint32_t)alg)
        return FAIL(sponge->provider, HL_ESTATE);
    if (room < digest_nbytes)
        return FAIL(sponge->provider, REASON_ROOM);
    if (digest_nbytes != 0) {
        *out_nbytes = digest_nbytes;
        return sponge_done(sponge, hl_final(&sponge->stream, out));
    }
    if (sponge->xof_nbytes == SIZE_MAX)
        return FAIL(sponge->provider, REASON_NO_LENGTH);
    if (!sponge_squeeze(sponge, out, out_nbytes, sponge->xof_nbytes))
        return 0;
    sponge_wipe(sponge);
    return 1;
}

/* Both to be set and to be got. "size" is a newer name of "xoflen". */
static const OSSL_PARAM *xof_ctx_params(void *context, void *provider)
{
    static const OSSL_PARAM params[] = {OSSL_PARAM_size_t(OSSL_DIGEST_PARAM_XOFLEN, NULL),
                                        OSSL_PARAM_size_t(OSSL_DIGEST_PARAM_SIZE, NULL), OSSL_PARAM_END};

    (void)context;
    (void)provider;
    return params;
}

static int xof_set_ctx_params(void *context, const OSSL_PARAM params[])
{
    static const char *const names[] = {OSSL_DIGEST_PARAM_SIZE, OSSL_DIGEST_PARAM_XOFLEN};
    struct sponge *sponge = context;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const OSSL_PARAM *length = OSSL_PARAM_locate_const(params, names[i]);
        if (length != NULL && !OSSL_PARAM_get_size_t(length, &sponge->xof_nbytes))
            return FAIL(sponge->provider, REASON_PARAMETER);
    }
    return 1;
}

static int xof_get_ctx_params(void *context, OSSL_PARAM params[])
{
    static const char *const names[] = {OSSL_DIGEST_PARAM_SIZE, OSSL_DIGEST_PARAM_XOFLEN};
    const struct sponge *sponge = context;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        OSSL_PARAM *length = OSSL_PARAM_locate(params, names[i]);
        if (length != NULL && !OSSL_PARAM_set_size_t(length, sponge->xof_nbytes))
            return FAIL(sponge->provider, REASON_PARAMETER);
    }
    return 1;
}

#endif
