/* openssl.c: OpenSSL 3, one message after the other.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "peer.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/md5.h>
#include <openssl/params.h>
#include <openssl/ripemd.h>
#include <openssl/sha.h>
#include <string.h>

peer_fn openssl_evp, openssl_low;
peer_fn openssl_hmac, openssl_hmac_ctx, openssl_hmac_mac; /* a key for each message */
peer_fn openssl_parts_evp, openssl_parts_low;
peer_fn openssl_pbkdf2, openssl_search;

const char *openssl_version(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}

/* The name of the hash function that takes the messages. */
static const char *hash_name(enum algorithm algorithm)
{
    switch (algorithm) {
    case ALG_MD5:
    case ALG_HMAC_MD5: return "MD5";
    case ALG_SHA1:
    case ALG_HMAC_SHA1: return "SHA1";
    case ALG_SHA512:
    case ALG_HMAC_SHA512: return "SHA512";
    case ALG_RIPEMD160:
    case ALG_HMAC_RIPEMD160: return "RIPEMD160";
    case ALG_SHA3_256:
    case ALG_HMAC_SHA3_256: return "SHA3-256";
    case ALG_SHA3_512:
    case ALG_HMAC_SHA3_512: return "SHA3-512";
    default: return "SHA256";
    }
}

/* Fetched once and never freed: a fetch for each message costs more than a block. */
static EVP_MD *md_of(enum algorithm algorithm)
{
    static EVP_MD *md[NALGORITHMS];
    if (!md[algorithm])
        md[algorithm] = EVP_MD_fetch(NULL, hash_name(algorithm), NULL);
    return md[algorithm];
}

/* One context for each algorithm, with the key, which every message begins again. */
static EVP_MAC_CTX *mac_of(enum algorithm algorithm)
{
    static EVP_MAC_CTX *ctx[NALGORITHMS];
    if (!ctx[algorithm]) {
        char digest[16];
        strcpy(digest, hash_name(algorithm));
        const OSSL_PARAM params[2] = {OSSL_PARAM_construct_utf8_string("digest", digest, 0),
                                      OSSL_PARAM_construct_end()};
        ctx[algorithm] = EVP_MAC_CTX_new(EVP_MAC_fetch(NULL, "HMAC", NULL));
        if (!ctx[algorithm] || !EVP_MAC_init(ctx[algorithm], HMAC_KEY, HMAC_KEY_NBYTES, params))
            abort();
    }
    return ctx[algorithm];
}

/* Deprecated since 3.0, and faster than EVP_MAC: HMAC_Init_ex without a key uses the states that it keeps. */
static HMAC_CTX *hmac_of(enum algorithm algorithm)
{
    static HMAC_CTX *ctx[NALGORITHMS];
    if (!ctx[algorithm]) {
        ctx[algorithm] = HMAC_CTX_new();
        if (!ctx[algorithm] || !HMAC_Init_ex(ctx[algorithm], HMAC_KEY, HMAC_KEY_NBYTES, md_of(algorithm), NULL))
            abort();
    }
    return ctx[algorithm];
}

/* The key of message i, of HMAC_KEY_NBYTES bytes; NULL, as both calls expect it, for the key that is kept. */
static const uint8_t *key_of(size_t i, int is_kept)
{
    return is_kept ? NULL : HMAC_KEYS + i % HMAC_NKEYS;
}

static int evp_mac(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *tags, int is_kept)
{
    EVP_MAC_CTX *ctx = mac_of(algorithm);
    const size_t nbytes = digest_nbytes[algorithm];
    for (size_t i = 0; i < count; i++)
        if (!EVP_MAC_init(ctx, key_of(i, is_kept), is_kept ? 0 : HMAC_KEY_NBYTES, NULL) ||
            !EVP_MAC_update(ctx, messages[i].data, messages[i].nbytes) ||
            !EVP_MAC_final(ctx, tags + i * nbytes, NULL, nbytes))
            return -1;
    return 0;
}

static int hmac_ctx(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *tags, int is_kept)
{
    HMAC_CTX *ctx = hmac_of(algorithm);
    const size_t nbytes = digest_nbytes[algorithm];
    for (size_t i = 0; i < count; i++)
        if (!HMAC_Init_ex(ctx, key_of(i, is_kept), is_kept ? 0 : HMAC_KEY_NBYTES, NULL, NULL) ||
            !HMAC_Update(ctx, messages[i].data, messages[i].nbytes) || !HMAC_Final(ctx, tags + i * nbytes, NULL))
            return -1;
    return 0;
}

int openssl_hmac_mac(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *tags)
{
    return evp_mac(algorithm, messages, count, tags, 0);
}

int openssl_hmac_ctx(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *tags)
{
    return hmac_ctx(algorithm, messages, count, tags, 0);
}

int openssl_hmac(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *tags)
{
    const EVP_MD *md = md_of(algorithm);
    for (size_t i = 0; i < count; i++)
        if (!HMAC(md, key_of(i, 0), HMAC_KEY_NBYTES, messages[i].data, messages[i].nbytes,
                  tags + i * digest_nbytes[algorithm], NULL))
            return -1;
    return 0;
}

static int is_hmac(enum algorithm algorithm)
{
    return algorithm == ALG_HMAC_SHA256 || algorithm >= ALG_HMAC_SHA1;
}

static int evp(EVP_MD_CTX *ctx, EVP_MD *md, const void *data, size_t nbytes, uint8_t *digest)
{
    return EVP_DigestInit_ex2(ctx, md, NULL) && EVP_DigestUpdate(ctx, data, nbytes) &&
           EVP_DigestFinal_ex(ctx, digest, NULL);
}

int openssl_evp(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    static EVP_MD_CTX *ctx;
    if (is_hmac(algorithm))
        return evp_mac(algorithm, messages, count, digests, 1);
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
    case ALG_MD5: EACH(MD5_CTX, MD5_Init, MD5_Update, MD5_Final);
    case ALG_SHA1: EACH(SHA_CTX, SHA1_Init, SHA1_Update, SHA1_Final);
    case ALG_SHA256: EACH(SHA256_CTX, SHA256_Init, SHA256_Update, SHA256_Final);
    case ALG_SHA512: EACH(SHA512_CTX, SHA512_Init, SHA512_Update, SHA512_Final);
    case ALG_RIPEMD160: EACH(RIPEMD160_CTX, RIPEMD160_Init, RIPEMD160_Update, RIPEMD160_Final);
    case ALG_HASH160: EACH_TWICE(RIPEMD160_CTX, RIPEMD160_Init, RIPEMD160_Update, RIPEMD160_Final);
    case ALG_SHA256D: EACH_TWICE(SHA256_CTX, SHA256_Init, SHA256_Update, SHA256_Final);
    default: return is_hmac(algorithm) ? hmac_ctx(algorithm, messages, count, digests, 1) : -1;
    }
}

/* Messages that arrive in parts of PART_NBYTES. */
#define PARTS(CTX, Init, Update, Final)                                                                                \
    for (size_t i = 0; i < count; i++) {                                                                               \
        CTX ctx;                                                                                                       \
        Init(&ctx);                                                                                                    \
        for (size_t at = 0, left; (left = messages[i].nbytes - at); at += left < PART_NBYTES ? left : PART_NBYTES)     \
            Update(&ctx, messages[i].data + at, left < PART_NBYTES ? left : PART_NBYTES);                              \
        Final(digests + i * digest_nbytes[algorithm], &ctx);                                                           \
    }                                                                                                                  \
    return 0

int openssl_parts_low(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    switch (algorithm) {
    case ALG_MD5: PARTS(MD5_CTX, MD5_Init, MD5_Update, MD5_Final);
    case ALG_SHA1: PARTS(SHA_CTX, SHA1_Init, SHA1_Update, SHA1_Final);
    case ALG_SHA256: PARTS(SHA256_CTX, SHA256_Init, SHA256_Update, SHA256_Final);
    case ALG_SHA512: PARTS(SHA512_CTX, SHA512_Init, SHA512_Update, SHA512_Final);
    case ALG_RIPEMD160: PARTS(RIPEMD160_CTX, RIPEMD160_Init, RIPEMD160_Update, RIPEMD160_Final);
    default: return -1;
    }
}

int openssl_parts_evp(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    static EVP_MD_CTX *ctx;
    EVP_MD *md = md_of(algorithm);
    if (!ctx)
        ctx = EVP_MD_CTX_new();
    if (!ctx || !md)
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (!EVP_DigestInit_ex2(ctx, md, NULL))
            return -1;
        for (size_t at = 0, left; (left = messages[i].nbytes - at); at += left < PART_NBYTES ? left : PART_NBYTES)
            if (!EVP_DigestUpdate(ctx, messages[i].data + at, left < PART_NBYTES ? left : PART_NBYTES))
                return -1;
        if (!EVP_DigestFinal_ex(ctx, digests + i * digest_nbytes[algorithm], NULL))
            return -1;
    }
    return 0;
}

/* Messages are passwords. */
int openssl_pbkdf2(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *keys)
{
    const size_t nbytes = digest_nbytes[algorithm];
    for (size_t i = 0; i < count; i++)
        if (!PKCS5_PBKDF2_HMAC((const char *)messages[i].data, (int)messages[i].nbytes, HMAC_KEY, HMAC_KEY_NBYTES,
                               PBKDF2_NITERATIONS, md_of(algorithm), (int)nbytes, keys + i * nbytes))
            return -1;
    return 0;
}

/* The first message, without its last four bytes, comes before nonces 0 to count - 1 of four bytes, the least
 * significant first. The nonces found are written as uint64_t. ALG_SHA256D reads digests as Bitcoin does. The prefix is
 * hashed once. */
#define SEARCH(CTX, Init, Update, Final, TWICE, TOP)                                                                   \
    do {                                                                                                               \
        CTX kept, ctx;                                                                                                 \
        Init(&kept);                                                                                                   \
        Update(&kept, messages->data, messages->nbytes - 4);                                                           \
        for (uint32_t nonce = 0; nonce < count; nonce++) {                                                             \
            uint8_t digest[64];                                                                                        \
            ctx = kept;                                                                                                \
            Update(&ctx, &nonce, 4);                                                                                   \
            Final(digest, &ctx);                                                                                       \
            if (TWICE)                                                                                                 \
                ONE(CTX, Init, Update, Final, digest, digest_nbytes[algorithm], digest);                               \
            if (digest[TOP] == 0)                                                                                      \
                memcpy(found + 8 * nfound++, &(uint64_t){nonce}, 8);                                                   \
        }                                                                                                              \
    } while (0);                                                                                                       \
    break

int openssl_search(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *found)
{
    size_t nfound = 0;
    switch (algorithm) {
    case ALG_SHA1: SEARCH(SHA_CTX, SHA1_Init, SHA1_Update, SHA1_Final, 0, 0);
    case ALG_SHA256: SEARCH(SHA256_CTX, SHA256_Init, SHA256_Update, SHA256_Final, 0, 0);
    case ALG_SHA256D: SEARCH(SHA256_CTX, SHA256_Init, SHA256_Update, SHA256_Final, 1, 31);
    default: return -1;
    }
    return 0;
}
