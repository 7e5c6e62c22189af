/* mac.c: HMAC of the provider.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * OpenSSL chooses the provider of "HMAC" before it names the digest. HMACs that hashloom cannot do are therefore passed
 * on, call by call, to the HMAC of another provider of the host: those with a digest that hashloom lacks, with a
 * property query for the digest (properties, engine), with digest-noinit, and the constant-time HMAC of a padded TLS
 * record (tls-data-size). TLS sets that size after the key, so a context keeps a copy of its key.
 *
 * A short message is collected and hashed by one call at its end. A stream costs more: it copies the key's states, and
 * each call that ran a kernel overwrites the kernel's traces. Short parts of a stream are therefore collected too.
 */
#include "provider.h"

#include <openssl/evp.h>
#include <string.h>

enum { SHORT_NBYTES = 1024 };

struct mac {
    const struct provider *provider;
    hl_alg alg;            /* of the parameter digest; 0: unset, or not one of hashloom's */
    char *digest;          /* the parameters, each NULL if it is unset */
    char *properties;
    char *engine;
    int noinit;
    size_t tls_data_size;
    unsigned char *secret; /* NULL: no key since the digest was set */
    size_t secret_nbytes;
    hl_hmac_key key;       /* the same key, unless another provider does the work */
    hl_hmac_ctx ctx;
    enum { IDLE, SHORT, LONG } stage; /* no message; all of it is in `data`; its begin in `ctx`, the rest in `data` */
    size_t data_nbytes;
    unsigned char data[SHORT_NBYTES];
    EVP_MAC_CTX *other;    /* not NULL: another provider does the work */
};

static void *mac_newctx(void *provider)
{
    struct mac *mac = OPENSSL_zalloc(sizeof *mac);

    if (mac == NULL) {
        FAIL(provider, REASON_MEMORY);
        return NULL;
    }
    mac->provider = provider;
    return mac;
}

static void forget_message(struct mac *mac)
{
    if (mac->stage == LONG)
        OPENSSL_cleanse(&mac->ctx, sizeof mac->ctx);
    mac->stage = IDLE;
    mac->data_nbytes = 0;
}

static void forget_key(struct mac *mac)
{
    OPENSSL_clear_free(mac->secret, mac->secret_nbytes + 1);
    mac->secret = NULL;
    mac->secret_nbytes = 0;
    hl_hmac_key_wipe(&mac->key);
    forget_message(mac);
}

static void forget_digest(struct mac *mac)
{
    forget_key(mac);
    OPENSSL_free(mac->digest);
    OPENSSL_free(mac->properties);
    OPENSSL_free(mac->engine);
    mac->digest = mac->properties = mac->engine = NULL;
    EVP_MAC_CTX_free(mac->other);
    mac->other = NULL;
    mac->alg = (hl_alg)0;
}

static void mac_freectx(void *context)
{
    struct mac *mac = context;

    if (mac == NULL)
        return;
    forget_digest(mac);
    OPENSSL_clear_free(mac, sizeof *mac);
}

static void *mac_dupctx(void *context)
{
    const struct mac *mac = context;
    struct mac *copy = mac_newctx((void *)(uintptr_t)mac->provider);

    if (copy == NULL)
        return NULL;
    copy->alg = mac->alg;
    copy->noinit = mac->noinit;
    copy->tls_data_size = mac->tls_data_size;
    copy->key = mac->key;
    copy->stage = mac->stage;
    copy->ctx = mac->ctx;
    copy->data_nbytes = mac->data_nbytes;
    memcpy(copy->data, mac->data, mac->data_nbytes);
    if (mac->secret != NULL && (copy->secret = hlp_copy_secret(mac->secret, mac->secret_nbytes)) != NULL)
        copy->secret_nbytes = mac->secret_nbytes;
    if (mac->other != NULL)
        copy->other = EVP_MAC_CTX_dup(mac->other);
    if (!hlp_copy_text(&copy->digest, mac->digest) || !hlp_copy_text(&copy->properties, mac->properties) ||
        !hlp_copy_text(&copy->engine, mac->engine) || (copy->secret == NULL) != (mac->secret == NULL) ||
        (copy->other == NULL) != (mac->other == NULL)) {
        FAIL(mac->provider, REASON_MEMORY);
        mac_freectx(copy);
        return NULL;
    }
    return copy;
}

static int is_for_other(const struct mac *mac)
{
    return mac->alg == 0 || mac->properties != NULL || mac->engine != NULL || mac->noinit || mac->tls_data_size > 0;
}

/* Has another provider begin with all parameters and the key, if there is one. */
static int begin_other(struct mac *mac)
{
    OSSL_PARAM params[6], *param = params;
    EVP_MAC *hmac = EVP_MAC_fetch(mac->provider->child, OSSL_MAC_NAME_HMAC, "provider!=hashloom");

    if (hmac == NULL)
        return FAIL(mac->provider, REASON_NO_OTHER);
    EVP_MAC_CTX_free(mac->other);
    mac->other = EVP_MAC_CTX_new(hmac);
    EVP_MAC_free(hmac);
    if (mac->other == NULL)
        return FAIL(mac->provider, REASON_MEMORY);
    *param++ = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, mac->digest, 0);
    if (mac->properties != NULL)
        *param++ = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_PROPERTIES, mac->properties, 0);
    if (mac->engine != NULL)
        *param++ = OSSL_PARAM_construct_utf8_string(OSSL_ALG_PARAM_ENGINE, mac->engine, 0);
    if (mac->noinit)
        *param++ = OSSL_PARAM_construct_int(OSSL_MAC_PARAM_DIGEST_NOINIT, &mac->noinit);
    if (mac->tls_data_size > 0)
        *param++ = OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_TLS_DATA_SIZE, &mac->tls_data_size);
    *param = OSSL_PARAM_construct_end();
    return mac->secret == NULL ? EVP_MAC_CTX_set_params(mac->other, params)
                               : EVP_MAC_init(mac->other, mac->secret, mac->secret_nbytes, params);
}

/* Begins a message with the key. */
static int begin(struct mac *mac)
{
    if (mac->secret == NULL)
        return FAIL(mac->provider, mac->digest == NULL ? REASON_NO_DIGEST : REASON_NO_KEY);
    if (is_for_other(mac))
        return begin_other(mac);
    EVP_MAC_CTX_free(mac->other);
    mac->other = NULL;
    forget_message(mac); /* one that never ended */
    mac->stage = SHORT;
    return 1;
}

static int set_key(struct mac *mac, const unsigned char *secret, size_t nbytes)
{
    if (mac->digest == NULL)
        return FAIL(mac->provider, REASON_NO_DIGEST);
    if (secret == NULL && nbytes > 0)
        return FAIL(mac->provider, HL_ENULL);
    unsigned char *copy = hlp_copy_secret(secret, nbytes);
    if (copy == NULL)
        return FAIL(mac->provider, REASON_MEMORY);
    forget_key(mac);
    mac->secret = copy;
    mac->secret_nbytes = nbytes;
    const hl_status status = mac->alg == 0 ? HL_OK : hl_hmac_key_init(&mac->key, mac->alg, copy, nbytes);
    return status == HL_OK ? begin(mac) : FAIL(mac->provider, (int)status);
}

static int same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Sets the digest and its property query, which counts only with the digest. Another digest needs a new key. */
static int set_digest(struct mac *mac, const OSSL_PARAM params[])
{
    char *digest = NULL, *properties = NULL, *engine = NULL;
    int is_set = hlp_get_text(mac->provider, params, OSSL_MAC_PARAM_DIGEST, &digest) &&
                 hlp_get_text(mac->provider, params, OSSL_MAC_PARAM_PROPERTIES, &properties) &&
                 hlp_get_text(mac->provider, params, OSSL_ALG_PARAM_ENGINE, &engine);

    if (is_set && digest == NULL)
        is_set = FAIL(mac->provider, REASON_NO_DIGEST);
    if (!is_set || (same_text(digest, mac->digest) && same_text(properties, mac->properties) &&
                    same_text(engine, mac->engine))) {
        OPENSSL_free(digest);
        OPENSSL_free(properties);
        OPENSSL_free(engine);
        return is_set;
    }
    forget_digest(mac);
    mac->digest = digest;
    mac->properties = properties;
    mac->engine = engine;
    mac->alg = hlp_alg_named(digest);
    if (is_for_other(mac) && !begin_other(mac)) { /* now, so that an unknown digest is an error of this call */
        forget_digest(mac);
        return 0;
    }
    return 1;
}

static int mac_set_ctx_params(void *context, const OSSL_PARAM params[])
{
    struct mac *mac = context;
    const OSSL_PARAM *param;
    int flag;

    if (OSSL_PARAM_locate_const(params, OSSL_MAC_PARAM_DIGEST) != NULL && !set_digest(mac, params))
        return 0;
    if ((param = OSSL_PARAM_locate_const(params, OSSL_MAC_PARAM_DIGEST_NOINIT)) != NULL &&
        !OSSL_PARAM_get_int(param, &mac->noinit))
        return FAIL(mac->provider, REASON_PARAMETER);
    /* Only a hint for engines. */
    if ((param = OSSL_PARAM_locate_const(params, OSSL_MAC_PARAM_DIGEST_ONESHOT)) != NULL &&
        !OSSL_PARAM_get_int(param, &flag))
        return FAIL(mac->provider, REASON_PARAMETER);
    if ((param = OSSL_PARAM_locate_const(params, OSSL_MAC_PARAM_KEY)) != NULL) {
        if (param->data_type != OSSL_PARAM_OCTET_STRING)
            return FAIL(mac->provider, REASON_PARAMETER);
        if (!set_key(mac, param->data, param->data_size))
            return 0;
    }
    if ((param = OSSL_PARAM_locate_const(params, OSSL_MAC_PARAM_TLS_DATA_SIZE)) != NULL) {
        if (!OSSL_PARAM_get_size_t(param, &mac->tls_data_size))
            return FAIL(mac->provider, REASON_PARAMETER);
        if (mac->other != NULL && is_for_other(mac)) {
            OSSL_PARAM size[2] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_TLS_DATA_SIZE, &mac->tls_data_size),
                                  OSSL_PARAM_construct_end()};
            return EVP_MAC_CTX_set_params(mac->other, size);
        }
        EVP_MAC_CTX_free(mac->other);
        mac->other = NULL;
        if (mac->tls_data_size > 0 && mac->digest != NULL)
            return begin_other(mac);
    }
    return 1;
}

static int mac_init(void *context, const unsigned char *secret, size_t nbytes, const OSSL_PARAM params[])
{
    struct mac *mac = context;

    if (params != NULL && !mac_set_ctx_params(mac, params))
        return 0;
    return secret == NULL ? begin(mac) : set_key(mac, secret, nbytes);
}

/* Adds to the stream what is collected. */
static hl_status flush(struct mac *mac)
{
    hl_status status = mac->stage == SHORT ? hl_hmac_init(&mac->ctx, &mac->key) : HL_OK;

    mac->stage = LONG;
    if (status == HL_OK && mac->data_nbytes != 0)
        status = hl_hmac_update(&mac->ctx, mac->data, mac->data_nbytes);
    mac->data_nbytes = 0;
    return status;
}

static int mac_update(void *context, const unsigned char *data, size_t nbytes)
{
    struct mac *mac = context;

    if (mac->other != NULL)
        return EVP_MAC_update(mac->other, data, nbytes);
    hl_status status = mac->stage == IDLE ? HL_ESTATE : data == NULL && nbytes > 0 ? HL_ENULL : HL_OK;
    if (status == HL_OK && nbytes > SHORT_NBYTES - mac->data_nbytes)
        status = flush(mac);
    if (status != HL_OK)
        return FAIL(mac->provider, (int)status);
    if (nbytes > SHORT_NBYTES) {
        status = hl_hmac_update(&mac->ctx, data, nbytes);
        return status == HL_OK ? 1 : FAIL(mac->provider, (int)status);
    }
    if (nbytes > 0)
        memcpy(mac->data + mac->data_nbytes, data, nbytes);
    mac->data_nbytes += nbytes;
    return 1;
}

static int mac_final(void *context, unsigned char *out, size_t *out_nbytes, size_t room)
{
    struct mac *mac = context;

    if (mac->other != NULL)
        return EVP_MAC_final(mac->other, out, out_nbytes, room);
    const hl_alg_info *info = hl_alg_find(mac->alg);
    if (mac->stage == IDLE || info == NULL)
        return FAIL(mac->provider, HL_ESTATE);
    if (room < info->digest_nbytes)
        return FAIL(mac->provider, REASON_ROOM);
    hl_status status = mac->stage == SHORT ? hl_hmac(&mac->key, mac->data, mac->data_nbytes, out) : flush(mac);
    if (mac->stage == LONG && status == HL_OK)
        status = hl_hmac_final(&mac->ctx, out);
    mac->stage = IDLE;
    if (status != HL_OK)
        return FAIL(mac->provider, (int)status);
    *out_nbytes = info->digest_nbytes;
    return 1;
}

static const OSSL_PARAM *mac_gettable_ctx_params(void *context, void *provider)
{
    static const OSSL_PARAM params[] = {OSSL_PARAM_size_t(OSSL_MAC_PARAM_SIZE, NULL),
                                        OSSL_PARAM_size_t(OSSL_MAC_PARAM_BLOCK_SIZE, NULL), OSSL_PARAM_END};

    (void)context;
    (void)provider;
    return params;
}

static int mac_get_ctx_params(void *context, OSSL_PARAM params[])
{
    const struct mac *mac = context;
    const hl_alg_info *info = hl_alg_find(mac->alg);
    OSSL_PARAM *size = OSSL_PARAM_locate(params, OSSL_MAC_PARAM_SIZE);
    OSSL_PARAM *block = OSSL_PARAM_locate(params, OSSL_MAC_PARAM_BLOCK_SIZE);

    if (mac->other != NULL)
        return EVP_MAC_CTX_get_params(mac->other, params);
    if ((size != NULL && !OSSL_PARAM_set_size_t(size, info == NULL ? 0 : info->digest_nbytes)) ||
        (block != NULL && !OSSL_PARAM_set_size_t(block, info == NULL ? 0 : info->block_nbytes)))
        return FAIL(mac->provider, REASON_PARAMETER);
    return 1;
}

static const OSSL_PARAM *mac_settable_ctx_params(void *context, void *provider)
{
    static const OSSL_PARAM params[] = {
        OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_DIGEST, NULL, 0),
        OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_PROPERTIES, NULL, 0),
        OSSL_PARAM_octet_string(OSSL_MAC_PARAM_KEY, NULL, 0),
        OSSL_PARAM_int(OSSL_MAC_PARAM_DIGEST_NOINIT, NULL),
        OSSL_PARAM_int(OSSL_MAC_PARAM_DIGEST_ONESHOT, NULL),
        OSSL_PARAM_size_t(OSSL_MAC_PARAM_TLS_DATA_SIZE, NULL),
        OSSL_PARAM_END};

    (void)context;
    (void)provider;
    return params;
}

static const OSSL_DISPATCH hmac[] = {
    FUNCTION(OSSL_FUNC_MAC_NEWCTX, mac_newctx),
    FUNCTION(OSSL_FUNC_MAC_FREECTX, mac_freectx),
    FUNCTION(OSSL_FUNC_MAC_DUPCTX, mac_dupctx),
    FUNCTION(OSSL_FUNC_MAC_INIT, mac_init),
    FUNCTION(OSSL_FUNC_MAC_UPDATE, mac_update),
    FUNCTION(OSSL_FUNC_MAC_FINAL, mac_final),
    FUNCTION(OSSL_FUNC_MAC_GETTABLE_CTX_PARAMS, mac_gettable_ctx_params),
    FUNCTION(OSSL_FUNC_MAC_GET_CTX_PARAMS, mac_get_ctx_params),
    FUNCTION(OSSL_FUNC_MAC_SETTABLE_CTX_PARAMS, mac_settable_ctx_params),
    FUNCTION(OSSL_FUNC_MAC_SET_CTX_PARAMS, mac_set_ctx_params),
    {0, NULL},
};

const OSSL_ALGORITHM hlp_macs[] = {
    {"HMAC", "provider=hashloom", hmac, "hashloom HMAC"},
    {NULL, NULL, NULL, NULL},
};
