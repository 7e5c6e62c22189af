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

/* Fetched once and never freed: a fetch for each message costs more than a block. */
static EVP_MD *md_of(enum algorithm algorithm)
{
    static const char *const names[] = {"SHA1", "SHA256", "SHA512", "RIPEMD160"};
    static EVP_MD *md[NALGORITHMS];
    if (!md[algorithm])
        md[algorithm] = EVP_MD_fetch(NULL, names[algorithm], NULL);
    return md[algorithm];
}

static int evp(EVP_MD_CTX *ctx, EVP_MD *md, const void *data, size_t nbytes, uint8_t *digest)
{
    return EVP_DigestInit_ex2(ctx, md, NULL) && EVP_DigestUpdate(ctx, data, nbytes) &&
           EVP_DigestFinal_ex(ctx, digest, NULL);
}

int openssl_evp(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    static EVP_MD_CTX *ctx;
    if (algorithm == ALG_HMAC_SHA256)
        return evp_mac(messages, count, digests);
    const int is_twice = algorithm == ALG_HASH160 || algorithm == ALG_SHA256D;
    EVP_MD *md = md_of(is_twice ? ALG_SHA256 : algorithm);
    EVP_MD *again = !is_twice ? NULL : md_of(algorithm == ALG_HASH160 ? ALG_RIPEMD160 : ALG_SHA256);
    if (!ctx)
        ctx = EVP_MD_CTX_new();
    if (!ctx || !md || (is_twice && !again))
        return -1;
    for (size_t i = 0; i < count; i++) {
        uint8_t first[32], *digest = digests + i * digest_nbytes[algorithm];
        if (!evp(ctx, md, messages[i].data, messages[i].nbytes, is_twice ? first : digest) ||
            (is_twice && !evp(ctx, again, first, sizeof first, digest)))
            return -1;
    }
    return 0;
}

/* The functions below EVP, deprecated since 3.0: no provider is between the caller and the blocks. */
#define ONE(CTX, Init, Update, Final, data, nbytes, digest)                                                            \
    do {                                                                                                               \
        CTX ctx;                                                                                                       \
        Init(&ctx);                                                                                                    \
        Update(&ctx, data, nbytes);                                                                                    \
        Final(digest, &ctx);                                                                                           \
    } while (0)
#define EACH(CTX, Init, Update, Final)                                                                                 \
    for (size_t i = 0; i < count; i++)                                                                                 \
        ONE(CTX, Init, Update, Final, messages[i].data, messages[i].nbytes, digests + i * digest_nbytes[algorithm]);   \
    return 0
#define EACH_TWICE(CTX, Init, Update, Final)                                                                           \
    for (size_t i = 0; i < count; i++) {                                                                               \
        uint8_t first[32];                                                                                             \
        ONE(SHA256_CTX, SHA256_Init, SHA256_Update, SHA256_Final, messages[i].data, messages[i].nbytes, first);        \
        ONE(CTX, Init, Update, Final, first, sizeof first, digests + i * digest_nbytes[algorithm]);                    \
    }                                                                                                                  \
    return 0

int openssl_low(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    switch (algorithm) {
    case ALG_SHA1: EACH(SHA_CTX, SHA1_Init, SHA1_Update, SHA1_Final);
    case ALG_SHA256: EACH(SHA256_CTX, SHA256_Init, SHA256_Update, SHA256_Final);
    case ALG_SHA512: EACH(SHA512_CTX, SHA512_Init, SHA512_Update, SHA512_Final);
    case ALG_RIPEMD160: EACH(RIPEMD160_CTX, RIPEMD160_Init, RIPEMD160_Update, RIPEMD160_Final);
    case ALG_HASH160: EACH_TWICE(RIPEMD160_CTX, RIPEMD160_Init, RIPEMD160_Update, RIPEMD160_Final);
    case ALG_SHA256D: EACH_TWICE(SHA256_CTX, SHA256_Init, SHA256_Update, SHA256_Final);
    case ALG_HMAC_SHA256: return hmac_ctx(messages, count, digests);
    default: return -1;
    }
}
