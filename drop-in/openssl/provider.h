/* provider.h: what the files of the OpenSSL provider share.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HASHLOOM_PROVIDER_H
#define HASHLOOM_PROVIDER_H

#include <hashloom.h>
#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>

#include "../../core/src/parts.h"

/* A row for each algorithm of the list. */
enum {
#define ALG(NAME, ...) ROW_##NAME,
#include "../../core/src/algorithms.def"
    DIGEST_COUNT
};

/* One instance of the provider: OpenSSL's "provider context". Constant once OSSL_provider_init has returned. */
struct provider {
    struct {
        const void *iv;
        hl_blocks_fn *blocks; /* of the kernel for one message */
    } digests[DIGEST_COUNT];                  /* in the order of hlp_digests */
    OSSL_ALGORITHM offered[DIGEST_COUNT + 1]; /* the rows of hlp_digests that OpenSSL gets */
    const OSSL_CORE_HANDLE *handle;
    OSSL_LIB_CTX *child; /* sees the providers of the host; for what hashloom leaves to them */
    OSSL_FUNC_core_new_error_fn *new_error;
    OSSL_FUNC_core_set_error_debug_fn *set_error_debug;
    OSSL_FUNC_core_vset_error_fn *vset_error;
};

/* Reasons of errors: values of hl_status, then these. */
enum reason {
    REASON_ROOM = HL_ESTOPPED + 1,
    REASON_NO_DIGEST,
    REASON_NO_KEY,
    REASON_NO_OTHER,
    REASON_PARAMETER,
    REASON_NO_LENGTH,
    REASON_SIZE,
    REASON_NO_PASSWORD,
    REASON_NO_SALT,
    REASON_SALT_LENGTH,
    REASON_KEY_LENGTH,
    REASON_ITERATIONS,
    REASON_OFFER,
    REASON_MEMORY
};

/* Adds an error to the queue of OpenSSL's core. Returns 0, the result of failed calls. */
int hlp_fail(const struct provider *provider, const char *file, int line, const char *function, int reason);
#define FAIL(provider, reason) hlp_fail(provider, __FILE__, __LINE__, __func__, reason)

/* *copy = a copy of the text; NULL for NULL. Returns 0 if there is no memory. */
int hlp_copy_text(char **copy, const char *text);

/* A copy that has room for one byte more, so that an empty secret is not NULL. NULL if there is no memory. */
unsigned char *hlp_copy_secret(const void *secret, size_t nbytes);

/* *value = a copy of the parameter; NULL if there is none, or if it is empty. Returns 0 after an error. */
int hlp_get_text(const struct provider *provider, const OSSL_PARAM params[], const char *name, char **value);

/* Whether the OpenSSL that has loaded the module is older than 3.minor: its default provider answers otherwise. */
static inline int hlp_is_before(unsigned minor)
{
    return OPENSSL_version_major() == 3 && OPENSSL_version_minor() < minor;
}

/* An entry of a dispatch table. */
#define FUNCTION(id, function) {id, (void (*)(void))(function)}

extern const OSSL_ALGORITHM hlp_digests[DIGEST_COUNT], hlp_macs[], hlp_kdfs[];
extern const hl_alg hlp_algs[DIGEST_COUNT]; /* of the rows of hlp_digests */

/* The algorithm for HMAC and PBKDF2 that has this name or object identifier, in any case; 0 if there is none, or if it
 * is BLAKE2, of which other providers make HMAC. */
hl_alg hlp_alg_named(const char *name);

#endif
