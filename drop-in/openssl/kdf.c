/* kdf.c: PBKDF2 of the provider (RFC 8018 section 5.2).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The parameters, their order and their limits are those of OpenSSL's default provider. A derivation with a digest that
 * hashloom lacks, with a property query for the digest (properties, engine), or of a length that the core refuses is
 * passed on to the PBKDF2 of another provider of the host.
 */
#include "provider.h"

#include <openssl/evp.h>
#include <openssl/kdf.h>

/* PKCS #5's usual number of iterations, and the lower limits of SP 800-132 that the parameter pkcs5 = 0 asks for. */
enum { USUAL_ITERATIONS = 2048, LEAST_ITERATIONS = 1000, LEAST_SALT_NBYTES = 16, LEAST_KEY_NBYTES = 14 };

struct secret {
    unsigned char *bytes; /* NULL: unset */
    size_t nbytes;
};

struct kdf {
    const struct provider *provider;
    hl_alg alg;   /* of the parameter digest, SHA-1 as long as none is set; 0: not one of hashloom's */
    char *digest; /* NULL: none is set; if alg is 0 too, the last one was refused */
    char *properties;
    char *engine;
    struct secret password, salt;
    uint64_t niterations;
    int has_limits;
};

static void set_defaults(struct kdf *kdf)
{
    kdf->alg = HL_SHA1;
    kdf->niterations = USUAL_ITERATIONS;
    kdf->has_limits = 0;
}

static void *kdf_newctx(void *provider)
{
    struct kdf *kdf = OPENSSL_zalloc(sizeof *kdf);

    if (kdf == NULL) {
        FAIL(provider, REASON_MEMORY);
        return NULL;
    }
    kdf->provider = provider;
    set_defaults(kdf);
    return kdf;
}

static void forget(struct secret *secret)
{
    OPENSSL_clear_free(secret->bytes, secret->nbytes + 1);
    secret->bytes = NULL;
    secret->nbytes = 0;
}

static void forget_digest(struct kdf *kdf)
{
    OPENSSL_free(kdf->digest);
    OPENSSL_free(kdf->properties);
    OPENSSL_free(kdf->engine);
    kdf->digest = kdf->properties = kdf->engine = NULL;
}

static void kdf_reset(void *context)
{
    struct kdf *kdf = context;

    forget(&kdf->password);
    forget(&kdf->salt);
    forget_digest(kdf);
    set_defaults(kdf);
}

static void kdf_freectx(void *context)
{
    if (context == NULL)
        return;
    kdf_reset(context);
    OPENSSL_free(context);
}

static int copy(struct secret *secret, const void *bytes, size_t nbytes)
{
    unsigned char *own = hlp_copy_secret(bytes, nbytes);

    if (own == NULL)
        return 0;
    forget(secret);
    *secret = (struct secret){own, nbytes};
    return 1;
}

static void *kdf_dupctx(void *context)
{
    const struct kdf *kdf = context;
    struct kdf *dup = kdf_newctx((void *)(uintptr_t)kdf->provider);

    if (dup == NULL)
        return NULL;
    dup->alg = kdf->alg;
    dup->niterations = kdf->niterations;
    dup->has_limits = kdf->has_limits;
    if (!hlp_copy_text(&dup->digest, kdf->digest) || !hlp_copy_text(&dup->properties, kdf->properties) ||
        !hlp_copy_text(&dup->engine, kdf->engine) ||
        (kdf->password.bytes != NULL && !copy(&dup->password, kdf->password.bytes, kdf->password.nbytes)) ||
        (kdf->salt.bytes != NULL && !copy(&dup->salt, kdf->salt.bytes, kdf->salt.nbytes))) {
        FAIL(kdf->provider, REASON_MEMORY);
        kdf_freectx(dup);
        return NULL;
    }
    return dup;
}

/* Sets the digest and its property query, which counts only with the digest. */
static int set_digest(struct kdf *kdf, const OSSL_PARAM params[])
{
    char *digest = NULL, *properties = NULL, *engine = NULL;
    int is_set = hlp_get_text(kdf->provider, params, OSSL_KDF_PARAM_DIGEST, &digest) &&
                 hlp_get_text(kdf->provider, params, OSSL_KDF_PARAM_PROPERTIES, &properties) &&
                 hlp_get_text(kdf->provider, params, OSSL_ALG_PARAM_ENGINE, &engine);
    const hl_alg alg = is_set && digest != NULL ? hlp_alg_named(digest) : (hl_alg)0;

    /* An unknown digest is an error of this call; a SHAKE one of the derivation, from OpenSSL 3.4 on of this call. */
    int is_xof = alg != 0 && hl_alg_find(alg)->ending == HL_XOF;
    if (is_set && (alg == 0 || properties != NULL)) {
        EVP_MD *md = digest == NULL ? NULL : EVP_MD_fetch(kdf->provider->child, digest, properties);
        is_set = md != NULL || engine != NULL ? 1 : FAIL(kdf->provider, REASON_NO_DIGEST);
        is_xof = md != NULL && (EVP_MD_get_flags(md) & EVP_MD_FLAG_XOF) != 0;
        EVP_MD_free(md);
    }
    if (is_set && is_xof && !hlp_is_before(4))
        is_set = FAIL(kdf->provider, HL_EALG);
    forget_digest(kdf);
    kdf->alg = is_set ? alg : (hl_alg)0;
    if (!is_set) { /* then there is no digest, as in the default provider */
        OPENSSL_free(digest);
        OPENSSL_free(properties);
        OPENSSL_free(engine);
        return 0;
    }
    kdf->digest = digest;
    kdf->properties = properties;
    kdf->engine = engine;
    return 1;
}

/* A parameter that is refused leaves none. */
static int set_secret(struct kdf *kdf, struct secret *secret, const OSSL_PARAM *param)
{
    forget(secret);
    if (param->data_type != OSSL_PARAM_OCTET_STRING || (param->data == NULL && param->data_size > 0))
        return FAIL(kdf->provider, REASON_PARAMETER);
    return copy(secret, param->data, param->data_size) ? 1 : FAIL(kdf->provider, REASON_MEMORY);
}

static int kdf_set_ctx_params(void *context, const OSSL_PARAM params[])
{
    struct kdf *kdf = context;
    const OSSL_PARAM *param;
    uint64_t niterations;
    int pkcs5;

    if (params == NULL)
        return 1;
    if (OSSL_PARAM_locate_const(params, OSSL_KDF_PARAM_DIGEST) != NULL && !set_digest(kdf, params))
        return 0;
    if ((param = OSSL_PARAM_locate_const(params, OSSL_KDF_PARAM_PKCS5)) != NULL) {
        if (!OSSL_PARAM_get_int(param, &pkcs5))
            return FAIL(kdf->provider, REASON_PARAMETER);
        kdf->has_limits = pkcs5 == 0;
    }
    if ((param = OSSL_PARAM_locate_const(params, OSSL_KDF_PARAM_PASSWORD)) != NULL &&
        !set_secret(kdf, &kdf->password, param))
        return 0;
    if ((param = OSSL_PARAM_locate_const(params, OSSL_KDF_PARAM_SALT)) != NULL) {
        if (kdf->has_limits && param->data_size < LEAST_SALT_NBYTES)
            return FAIL(kdf->provider, REASON_SALT_LENGTH);
        if (!set_secret(kdf, &kdf->salt, param))
            return 0;
    }
    if ((param = OSSL_PARAM_locate_const(params, OSSL_KDF_PARAM_ITER)) != NULL) {
        if (!OSSL_PARAM_get_uint64(param, &niterations))
            return FAIL(kdf->provider, REASON_PARAMETER);
        if (niterations < (kdf->has_limits ? LEAST_ITERATIONS : 1))
            return FAIL(kdf->provider, REASON_ITERATIONS);
        kdf->niterations = niterations;
    }
    return 1;
}

/* Has another provider derive the key. */
static int derive_by_other(const struct kdf *kdf, unsigned char *key, size_t nbytes)
{
    OSSL_PARAM params[8], *param = params;
    EVP_KDF *pbkdf2 = EVP_KDF_fetch(kdf->provider->child, OSSL_KDF_NAME_PBKDF2, "provider!=hashloom");
    int pkcs5 = !kdf->has_limits;
    uint64_t niterations = kdf->niterations;

    if (pbkdf2 == NULL)
        return FAIL(kdf->provider, REASON_NO_OTHER);
    EVP_KDF_CTX *ctx = EVP_KDF_CTX_new(pbkdf2);
    EVP_KDF_free(pbkdf2);
    if (ctx == NULL)
        return FAIL(kdf->provider, REASON_MEMORY);
    if (kdf->digest != NULL)
        *param++ = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, kdf->digest, 0);
    if (kdf->properties != NULL)
        *param++ = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_PROPERTIES, kdf->properties, 0);
    if (kdf->engine != NULL)
        *param++ = OSSL_PARAM_construct_utf8_string(OSSL_ALG_PARAM_ENGINE, kdf->engine, 0);
    *param++ = OSSL_PARAM_construct_int(OSSL_KDF_PARAM_PKCS5, &pkcs5);
    *param++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PASSWORD, kdf->password.bytes, kdf->password.nbytes);
    *param++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, kdf->salt.bytes, kdf->salt.nbytes);
    *param++ = OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_ITER, &niterations);
    *param = OSSL_PARAM_construct_end();
    const int is_derived = EVP_KDF_derive(ctx, key, nbytes, params) > 0;
    EVP_KDF_CTX_free(ctx);
    return is_derived;
}

static int kdf_derive(void *context, unsigned char *key, size_t nbytes, const OSSL_PARAM params[])
{
    struct kdf *kdf = context;

    if (!kdf_set_ctx_params(kdf, params))
        return 0;
    if (kdf->password.bytes == NULL)
        return FAIL(kdf->provider, REASON_NO_PASSWORD);
    if (kdf->salt.bytes == NULL)
        return FAIL(kdf->provider, REASON_NO_SALT);
    if (kdf->alg == 0 && kdf->digest == NULL)
        return FAIL(kdf->provider, REASON_NO_DIGEST);
    if (kdf->has_limits && nbytes < LEAST_KEY_NBYTES)
        return FAIL(kdf->provider, REASON_KEY_LENGTH);
    if (kdf->has_limits && kdf->salt.nbytes < LEAST_SALT_NBYTES)
        return FAIL(kdf->provider, REASON_SALT_LENGTH);
    if (kdf->has_limits && kdf->niterations < LEAST_ITERATIONS)
        return FAIL(kdf->provider, REASON_ITERATIONS);
    if (kdf->alg == 0 || kdf->properties != NULL || kdf->engine != NULL || kdf->niterations > UINT32_MAX)
        return derive_by_other(kdf, key, nbytes);
    const hl_slice password = {kdf->password.bytes, kdf->password.nbytes}, salt = {kdf->salt.bytes, kdf->salt.nbytes};
    const hl_status status = hl_pbkdf2_many(kdf->alg, &password, &salt, (uint32_t)kdf->niterations, 1, key, nbytes);
    if (status == HL_EALG || status == HL_ELENGTH)
        return derive_by_other(kdf, key, nbytes);
    return status == HL_OK ? 1 : FAIL(kdf->provider, (int)status);
}

static const OSSL_PARAM *kdf_settable_ctx_params(void *context, void *provider)
{
    static const OSSL_PARAM params[] = {
        OSSL_PARAM_utf8_string(OSSL_KDF_PARAM_PROPERTIES, NULL, 0),
        OSSL_PARAM_utf8_string(OSSL_KDF_PARAM_DIGEST, NULL, 0),
        OSSL_PARAM_octet_string(OSSL_KDF_PARAM_PASSWORD, NULL, 0),
        OSSL_PARAM_octet_string(OSSL_KDF_PARAM_SALT, NULL, 0),
        OSSL_PARAM_uint64(OSSL_KDF_PARAM_ITER, NULL),
        OSSL_PARAM_int(OSSL_KDF_PARAM_PKCS5, NULL),
        OSSL_PARAM_END};

    (void)context;
    (void)provider;
    return params;
}

static const OSSL_PARAM *kdf_gettable_ctx_params(void *context, void *provider)
{
    static const OSSL_PARAM params[] = {OSSL_PARAM_size_t(OSSL_KDF_PARAM_SIZE, NULL), OSSL_PARAM_END};

    (void)context;
    (void)provider;
    return params;
}

/* A key has any length. -2 stands for "no such parameter", until OpenSSL 3.4. */
static int kdf_get_ctx_params(void *context, OSSL_PARAM params[])
{
    OSSL_PARAM *size = OSSL_PARAM_locate(params, OSSL_KDF_PARAM_SIZE);

    (void)context;
    return size != NULL ? OSSL_PARAM_set_size_t(size, SIZE_MAX) : hlp_is_before(4) ? -2 : 1;
}

static const OSSL_DISPATCH pbkdf2[] = {
    FUNCTION(OSSL_FUNC_KDF_NEWCTX, kdf_newctx),
    FUNCTION(OSSL_FUNC_KDF_DUPCTX, kdf_dupctx),
    FUNCTION(OSSL_FUNC_KDF_FREECTX, kdf_freectx),
    FUNCTION(OSSL_FUNC_KDF_RESET, kdf_reset),
    FUNCTION(OSSL_FUNC_KDF_DERIVE, kdf_derive),
    FUNCTION(OSSL_FUNC_KDF_SETTABLE_CTX_PARAMS, kdf_settable_ctx_params),
    FUNCTION(OSSL_FUNC_KDF_SET_CTX_PARAMS, kdf_set_ctx_params),
    FUNCTION(OSSL_FUNC_KDF_GETTABLE_CTX_PARAMS, kdf_gettable_ctx_params),
    FUNCTION(OSSL_FUNC_KDF_GET_CTX_PARAMS, kdf_get_ctx_params),
    {0, NULL},
};

const OSSL_ALGORITHM hlp_kdfs[] = {
    {"PBKDF2:1.2.840.113549.1.5.12", "provider=hashloom", pbkdf2, "hashloom PBKDF2"},
    {NULL, NULL, NULL, NULL},
};
