/* provider.c: the OpenSSL provider "hashloom": what OpenSSL asks a provider.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The digests (digest.c), HMAC (mac.c) and PBKDF2 (kdf.c) have the names, sizes and parameters of OpenSSL's default
 * provider.
 */
#include "provider.h"

#include <openssl/err.h>
#include <openssl/provider.h>
#include <stdarg.h>
#include <string.h>

#if defined(__GNUC__)
#  define EXPORTED __attribute__((visibility("default")))
#else
#  define EXPORTED
#endif

static const OSSL_ITEM reasons[] = {
    {HL_EALG, (void *)"unknown algorithm, or one that HMAC is not defined for: SHAKE"},
    {HL_ENULL, (void *)"a pointer is NULL where bytes are to be read or written"},
    {HL_ELENGTH, (void *)"a message is longer than 2^61 - 1 bytes"},
    {HL_ESTATE, (void *)"the context is not initialised, or is final already"},
    {REASON_ROOM, (void *)"the output buffer is too small"},
    {REASON_NO_DIGEST, (void *)"no digest, or an unknown one: set the parameter digest, before the key of an HMAC"},
    {REASON_NO_KEY, (void *)"HMAC has no key for its digest"},
    {REASON_NO_OTHER, (void *)"this HMAC or PBKDF2 needs another provider beside hashloom: activate default too"},
    {REASON_PARAMETER, (void *)"a parameter has the wrong type"},
    {REASON_NO_LENGTH, (void *)"the digest has no length: call EVP_DigestFinalXOF, or set the parameter xoflen"},
    {REASON_SIZE, (void *)"BLAKE2 has no such digest: size is 1 to the usual length, set by EVP_DigestInit_ex2"},
    {REASON_NO_PASSWORD, (void *)"PBKDF2 has no password: set the parameter pass"},
    {REASON_NO_SALT, (void *)"PBKDF2 has no salt: set the parameter salt"},
    {REASON_SALT_LENGTH, (void *)"a salt is shorter than 16 bytes, the least with pkcs5 = 0"},
    {REASON_KEY_LENGTH, (void *)"a key is shorter than 14 bytes, the least with pkcs5 = 0"},
    {REASON_ITERATIONS, (void *)"too few iterations: at least 1, and 1000 with pkcs5 = 0"},
    {REASON_OFFER, (void *)"the configuration's offer is neither faster nor all"},
    {0, NULL},
};

/* Kernels for one message that are slower than OpenSSL's code on the CPUs that they are chosen for: the default
 * provider's digests are the better ones there. */
#ifndef SLOWER_KERNELS
#  define SLOWER_KERNELS "keccak_blocks_scalar", "sha1_blocks_avx2_x1"
#endif
static const char *const slower[] = {SLOWER_KERNELS};

static void set_error(const struct provider *provider, uint32_t reason, const char *format, ...)
{
    va_list none;

    va_start(none, format);
    provider->vset_error(provider->handle, reason, format, none);
    va_end(none);
}

int hlp_fail(const struct provider *provider, const char *file, int line, const char *function, int reason)
{
    provider->new_error(provider->handle);
    provider->set_error_debug(provider->handle, file, line, function);
    set_error(provider, reason == REASON_MEMORY ? (uint32_t)ERR_R_MALLOC_FAILURE : (uint32_t)reason, NULL);
    return 0;
}

int hlp_copy_text(char **copy, const char *text)
{
    *copy = text == NULL ? NULL : OPENSSL_strdup(text);
    return (*copy == NULL) == (text == NULL);
}

unsigned char *hlp_copy_secret(const void *secret, size_t nbytes)
{
    unsigned char *copy = nbytes == SIZE_MAX ? NULL : OPENSSL_malloc(nbytes + 1);

    if (copy != NULL && nbytes > 0)
        memcpy(copy, secret, nbytes);
    return copy;
}

int hlp_get_text(const struct provider *provider, const OSSL_PARAM params[], const char *name, char **value)
{
    const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, name);

    *value = NULL;
    if (param == NULL)
        return 1;
    if (!OSSL_PARAM_get_utf8_string(param, value, 0))
        return FAIL(provider, REASON_PARAMETER);
    if (**value == '\0') {
        OPENSSL_free(*value);
        *value = NULL;
    }
    return 1;
}

static void teardown(void *provider)
{
    OSSL_LIB_CTX_free(((struct provider *)provider)->child);
    OPENSSL_free(provider);
}

static const OSSL_PARAM *gettable_params(void *provider)
{
    static const OSSL_PARAM params[] = {
        OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_NAME, NULL, 0), OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_VERSION, NULL, 0),
        OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, NULL, 0), OSSL_PARAM_int(OSSL_PROV_PARAM_STATUS, NULL),
        OSSL_PARAM_END};

    (void)provider;
    return params;
}

static int get_params(void *provider, OSSL_PARAM params[])
{
    OSSL_PARAM *name = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_NAME);
    OSSL_PARAM *version = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_VERSION);
    OSSL_PARAM *build = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_BUILDINFO);
    OSSL_PARAM *status = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_STATUS);

    if ((name != NULL && !OSSL_PARAM_set_utf8_ptr(name, "hashloom")) ||
        (version != NULL && !OSSL_PARAM_set_utf8_ptr(version, hl_version())) ||
        (build != NULL && !OSSL_PARAM_set_utf8_ptr(build, hl_version())) ||
        (status != NULL && !OSSL_PARAM_set_int(status, 1)))
        return FAIL(provider, REASON_PARAMETER);
    return 1;
}

static const OSSL_ALGORITHM *query_operation(void *provider, int operation, int *no_cache)
{
    *no_cache = 0;
    switch (operation) {
    case OSSL_OP_DIGEST: return ((const struct provider *)provider)->offered;
    case OSSL_OP_MAC: return hlp_macs;
    case OSSL_OP_KDF: return hlp_kdfs;
    }
    return NULL;
}

static const OSSL_ITEM *get_reason_strings(void *provider)
{
    (void)provider;
    return reasons;
}

static const OSSL_DISPATCH functions[] = {
    FUNCTION(OSSL_FUNC_PROVIDER_TEARDOWN, teardown),
    FUNCTION(OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, gettable_params),
    FUNCTION(OSSL_FUNC_PROVIDER_GET_PARAMS, get_params),
    FUNCTION(OSSL_FUNC_PROVIDER_QUERY_OPERATION, query_operation),
    FUNCTION(OSSL_FUNC_PROVIDER_GET_REASON_STRINGS, get_reason_strings),
    {0, NULL},
};

static int is_slower(const char *kernel)
{
    for (size_t i = 0; i < sizeof slower / sizeof *slower; i++)
        if (strcmp(kernel, slower[i]) == 0)
            return 1;
    return 0;
}

/* Chooses the digests to offer: `offer = faster`, those that are not slower than the default provider's, or `all`. */
static int choose_digests(struct provider *provider, OSSL_FUNC_core_get_params_fn *core_get_params)
{
    char *offer = NULL;
    OSSL_PARAM params[2] = {OSSL_PARAM_construct_utf8_ptr("offer", &offer, 0), OSSL_PARAM_construct_end()};
    size_t noffered = 0;

    if (core_get_params != NULL && !core_get_params(provider->handle, params))
        return 0;
    const int all = offer != NULL && strcmp(offer, "all") == 0;
    if (offer != NULL && !all && strcmp(offer, "faster") != 0)
        return FAIL(provider, REASON_OFFER);
    for (size_t i = 0; i < DIGEST_COUNT; i++) {
        const hl_kernel *kernel = hl_kernel_chosen(hlp_algs[i], 1);
        if (*hlp_digests[i].algorithm_names != '\0' && (all || !is_slower(kernel->name)))
            provider->offered[noffered++] = hlp_digests[i];
        provider->digests[i].iv = hl_alg_find(hlp_algs[i])->iv;
        provider->digests[i].blocks = kernel->blocks;
    }
    return 1;
}

EXPORTED OSSL_provider_init_fn OSSL_provider_init;

int OSSL_provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in, const OSSL_DISPATCH **out,
                       void **provider_context)
{
    struct provider *provider = OPENSSL_zalloc(sizeof *provider);
    OSSL_FUNC_core_get_params_fn *core_get_params = NULL;

    if (provider == NULL)
        return 0;
    provider->handle = handle;
    for (const OSSL_DISPATCH *each = in; each->function_id != 0; each++)
        switch (each->function_id) {
        case OSSL_FUNC_CORE_GET_PARAMS: core_get_params = OSSL_FUNC_core_get_params(each); break;
        case OSSL_FUNC_CORE_NEW_ERROR: provider->new_error = OSSL_FUNC_core_new_error(each); break;
        case OSSL_FUNC_CORE_SET_ERROR_DEBUG: provider->set_error_debug = OSSL_FUNC_core_set_error_debug(each); break;
        case OSSL_FUNC_CORE_VSET_ERROR: provider->vset_error = OSSL_FUNC_core_vset_error(each); break;
        }
    if (provider->new_error != NULL && provider->set_error_debug != NULL && provider->vset_error != NULL &&
        choose_digests(provider, core_get_params))
        provider->child = OSSL_LIB_CTX_new_child(handle, in);
    if (provider->child == NULL) {
        OPENSSL_free(provider);
        return 0;
    }
    *out = functions;
    *provider_context = provider;
    return 1;
}
