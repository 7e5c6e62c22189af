/* openssl.c: OpenSSL 3, one message after the other.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "peer.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <openssl/ripemd.h>
#include <openssl/sha.h>

peer_fn openssl_evp, openssl_low;

const char *openssl_version(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}

/* One context with the key, which every message begins again. */
static int evp_mac(const struct message *messages, size_t count, uint8_t *tags)
{
    static EVP_MAC_CTX *ctx;
    if (!ctx) {
        char digest[] = "SHA256";
        const OSSL_PARAM params[2] = {OSSL_PARAM_construct_utf8_string("digest", digest, 0),
                                      OSSL_PARAM_construct_end()};
        ctx = EVP_MAC_CTX_new(EVP_MAC_fetch(NULL, "HMAC", NULL));
        if (!ctx || !EVP_MAC_init(ctx, HMAC_KEY, HMAC_KEY_NBYTES, params))
            return -1;
    }
    for (size_t i = 0; i < count; i++)
        if (!EVP_MAC_init(ctx, NULL, 0, NULL) || !EVP_MAC_update(ctx, messages[i].data, messages[i].nbytes) ||
            !EVP_MAC_final(ctx, tags + i * 32, NULL, 32))
            return -1;
    return 0;
}

/* Deprecated since 3.0, and faster than EVP_MAC: HMAC_Init_ex without a key uses the states that it keeps. */
static int hmac_ctx(const struct message *messages, size_t count, uint8_t *tags)
{
    static HMAC_CTX *ctx;
    if (!ctx) {
        ctx = HMAC_CTX_new();
        if (!ctx || !HMAC_Init_ex(ctx, HMAC_KEY, HMAC_KEY_NBYTES, EVP_sha256(), NULL))
            return -1;
    }
    for (size_t i = 0; i < count; i++)
        if (!HMAC_Init_ex(ctx, NULL, 0, NULL, NULL) || !HMAC_Update(ctx, messages[i].data, messages[i].nbytes) ||
            !HMAC_Final(ctx, tags + i * 32, NULL))
            return -1;
    return 0;
}

/* The algorithm is fetched once and the context is never freed: a fetch for each message costs more than a block. */
int openssl_evp(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    static const char *const names[] = {"SHA1", "SHA256", "SHA512", "RIPEMD160"};
    static EVP_MD *md[NALGORITHMS];
    static EVP_MD_CTX *ctx[NALGORITHMS];
    if (algorithm == ALG_HMAC_SHA256)
        return evp_mac(messages, count, digests);
    if (!md[algorithm]) {
        md[algorithm] = EVP_MD_fetch(NULL, names[algorithm], NULL);
        ctx[algorithm] = EVP_MD_CTX_new();
        if (!md[algorithm] || !ctx[algorithm])
            return -1;
    }
    for (size_t i = 0; i < count; i++)
        if (!EVP_DigestInit_ex2(ctx[algorithm], md[algorithm], NULL) ||
            !EVP_DigestUpdate(ctx[algorithm], messages[i].data, messages[i].nbytes) ||
            !EVP_DigestFinal_ex(ctx[algorithm], digests + i * digest_nbytes[algorithm], NULL))
            return -1;
    return 0;
}

/* The functions below EVP, deprecated since 3.0: no provider is between the caller and the blocks. */
#define EACH(CTX, Init, Update, Final)                                                                                 \
    for (size_t i = 0; i < count; i++) {                                                                               \
        CTX ctx;                                                                                                       \
        Init(&ctx);                                                                                                    \
        Update(&ctx, messages[i].data, messages[i].nbytes);                                                            \
        Final(digests + i * digest_nbytes[algorithm], &ctx);                                                           \
    }                                                                                                                  \
    return 0

int openssl_low(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    switch (algorithm) {
    case ALG_SHA1: EACH(SHA_CTX, SHA1_Init, SHA1_Update, SHA1_Final);
    case ALG_SHA256: EACH(SHA256_CTX, SHA256_Init, SHA256_Update, SHA256_Final);
    case ALG_SHA512: EACH(SHA512_CTX, SHA512_Init, SHA512_Update, SHA512_Final);
    case ALG_RIPEMD160: EACH(RIPEMD160_CTX, RIPEMD160_Init, RIPEMD160_Update, RIPEMD160_Final);
    case ALG_HMAC_SHA256: return hmac_ctx(messages, count, digests);
    default: return -1;
    }
}
