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

peer_fn openssl_evp, openssl_low, openssl_hmac;

const char *openssl_version(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}

static const char *const names[NHASHES] = {"MD5", "SHA1", "SHA256", "SHA512", "RIPEMD160", "SHA3-256"};

/* Fetched once and never freed: a fetch for each message costs more than a block. */
static EVP_MD *md_of(enum hash hash)
{
    static EVP_MD *md[NHASHES];
    if (!md[hash])
        md[hash] = EVP_MD_fetch(NULL, names[hash], NULL);
    return md[hash];
}

/* The hash function that takes the digests of the first one; NHASHES if there is none. */
static enum hash again(const struct work *w)
{
    return w->call == CALL_HASH160 ? HASH_RIPEMD160
           : w->call == CALL_SHA256D || w->call == CALL_SEARCH2 ? HASH_SHA256 : NHASHES;
}

static int evp(EVP_MD_CTX *ctx, EVP_MD *md, const uint8_t *data, size_t nbytes, size_t part_nbytes, uint8_t *digest)
{
    int ok = EVP_DigestInit_ex2(ctx, md, NULL);
    for (size_t at = 0, n; ok && at < nbytes; at += n) {
        n = nbytes - at < part_nbytes ? nbytes - at : part_nbytes;
        ok = EVP_DigestUpdate(ctx, data + at, n);
    }
    return ok && EVP_DigestFinal_ex(ctx, digest, NULL);
}

/* HMAC_KEY is kept in one context for each hash function, which every message begins again. */
static int evp_mac(const struct work *w)
{
    static EVP_MAC_CTX *ctxs[NHASHES];
    EVP_MAC_CTX *ctx = ctxs[w->hash];
    const size_t nbytes = digest_nbytes[w->hash], nkey = w->call == CALL_HMAC ? 0 : HMAC_KEY_NBYTES;
    if (!ctx) {
        const OSSL_PARAM params[2] = {
            OSSL_PARAM_construct_utf8_string("digest", (char *)(uintptr_t)names[w->hash], 0),
            OSSL_PARAM_construct_end()};
        ctx = ctxs[w->hash] = EVP_MAC_CTX_new(EVP_MAC_fetch(NULL, "HMAC", NULL));
        if (!ctx || !EVP_MAC_init(ctx, HMAC_KEY, HMAC_KEY_NBYTES, params))
            abort();
    }
    for (size_t i = 0; i < w->count; i++)
        if (!EVP_MAC_init(ctx, nkey ? HMAC_KEYS + i % HMAC_NKEYS : NULL, nkey, NULL) ||
            !EVP_MAC_update(ctx, w->messages[i].data, w->messages[i].nbytes) ||
            !EVP_MAC_final(ctx, w->digests + i * nbytes, NULL, nbytes))
            return -1;
    return 0;
}

int openssl_evp(const struct work *w)
{
    static EVP_MD_CTX *ctx;
    EVP_MD *md = md_of(w->hash), *second = again(w) < NHASHES ? md_of(again(w)) : NULL;
    const size_t nbytes = digest_nbytes[second ? again(w) : w->hash];
    if (w->call == CALL_HMAC || w->call == CALL_HMAC_KEYS)
        return evp_mac(w);
    if (!ctx)
        ctx = EVP_MD_CTX_new();
    if (!ctx || !md || w->call >= CALL_SEARCH || (again(w) < NHASHES && !second))
        return -1;
    for (size_t i = 0; i < w->count; i++) {
        uint8_t first[64], *digest = w->digests + i * nbytes;
        const struct message *m = &w->messages[i];
        const int ok =
            w->call == CALL_PBKDF2
                ? PKCS5_PBKDF2_HMAC((const char *)m->data, (int)m->nbytes, HMAC_KEY, HMAC_KEY_NBYTES,
                                    PBKDF2_NITERATIONS, md, (int)nbytes, digest)
                : evp(ctx, md, m->data, m->nbytes, w->call == CALL_PARTS ? PART_NBYTES : SIZE_MAX,
                      second ? first : digest) &&
                      (!second || evp(ctx, second, first, digest_nbytes[w->hash], SIZE_MAX, digest));
        if (!ok)
            return -1;
    }
    return 0;
}

int openssl_hmac(const struct work *w)
{
    if (w->call != CALL_HMAC_KEYS)
        return -1;
    for (size_t i = 0; i < w->count; i++)
        if (!HMAC(md_of(w->hash), HMAC_KEYS + i % HMAC_NKEYS, HMAC_KEY_NBYTES, w->messages[i].data,
                  w->messages[i].nbytes, w->digests + i * digest_nbytes[w->hash], NULL))
            return -1;
    return 0;
}

/* Deprecated since 3.0, and faster than EVP_MAC: HMAC_Init_ex without a key uses the states that it keeps. */
static int hmac_ctx(const struct work *w)
{
    static HMAC_CTX *ctxs[NHASHES];
    HMAC_CTX *ctx = ctxs[w->hash];
    const int nkey = w->call == CALL_HMAC ? 0 : HMAC_KEY_NBYTES;
    if (!ctx) {
        ctx = ctxs[w->hash] = HMAC_CTX_new();
        if (!ctx || !HMAC_Init_ex(ctx, HMAC_KEY, HMAC_KEY_NBYTES, md_of(w->hash), NULL))
            abort();
    }
    for (size_t i = 0; i < w->count; i++)
        if (!HMAC_Init_ex(ctx, nkey ? HMAC_KEYS + i % HMAC_NKEYS : NULL, nkey, NULL, NULL) ||
            !HMAC_Update(ctx, w->messages[i].data, w->messages[i].nbytes) ||
            !HMAC_Final(ctx, w->digests + i * digest_nbytes[w->hash], NULL))
            return -1;
    return 0;
}

/* The functions below EVP, deprecated since 3.0: no provider is between the caller and the blocks. Calls go through
 * pointers, as they do through the table of a shared library. */
union low_ctx {
    MD5_CTX md5;
    SHA_CTX sha1;
    SHA256_CTX sha256;
    SHA512_CTX sha512;
    RIPEMD160_CTX ripemd160;
};
static const struct low {
    int (*init)(void *);
    int (*update)(void *, const void *, size_t);
    int (*final)(uint8_t *, void *);
} lows[NHASHES] = {
#define LOW(HASH) [HASH_##HASH] = {(int (*)(void *))HASH##_Init, (int (*)(void *, const void *, size_t))HASH##_Update, \
                                   (int (*)(uint8_t *, void *))HASH##_Final}
    LOW(MD5), LOW(SHA1), LOW(SHA256), LOW(SHA512), LOW(RIPEMD160),
};

static void low_hash(const struct low *low, const uint8_t *data, size_t nbytes, size_t part_nbytes, uint8_t *digest)
{
    union low_ctx ctx;
    low->init(&ctx);
    for (size_t at = 0, n; at < nbytes; at += n) {
        n = nbytes - at < part_nbytes ? nbytes - at : part_nbytes;
        low->update(&ctx, data + at, n);
    }
    low->final(digest, &ctx);
}

/* The nonces that are found are written as uint64_t. CALL_SEARCH2 reads digests as Bitcoin does. The message before the
 * nonce is hashed once. */
static int search(const struct low *low, const struct low *second, const struct work *w)
{
    union {
        SHA_CTX sha1;
        SHA256_CTX sha256;
    } kept, ctx;
    size_t nfound = 0;
    if (w->hash != HASH_SHA1 && w->hash != HASH_SHA256)
        return -1;
    low->init(&kept);
    low->update(&kept, w->messages->data, w->messages->nbytes - 4);
    for (uint32_t nonce = 0; nonce < w->count; nonce++) {
        uint8_t digest[64];
        ctx = kept;
        low->update(&ctx, &nonce, 4);
        low->final(digest, &ctx);
        if (second)
            low_hash(second, digest, 32, SIZE_MAX, digest);
        if (digest[second ? 31 : 0] == 0)
            memcpy(w->digests + 8 * nfound++, &(uint64_t){nonce}, 8);
    }
    return 0;
}

int openssl_low(const struct work *w)
{
    const struct low *low = &lows[w->hash], *second = again(w) < NHASHES ? &lows[again(w)] : NULL;
    const size_t nbytes = digest_nbytes[second ? again(w) : w->hash];
    if (w->call == CALL_HMAC || w->call == CALL_HMAC_KEYS)
        return hmac_ctx(w);
    if (!low->init || w->call == CALL_PBKDF2)
        return -1;
    if (w->call >= CALL_SEARCH)
        return search(low, second, w);
    for (size_t i = 0; i < w->count; i++) {
        uint8_t first[64], *digest = w->digests + i * nbytes;
        low_hash(low, w->messages[i].data, w->messages[i].nbytes, w->call == CALL_PARTS ? PART_NBYTES : SIZE_MAX,
                 second ? first : digest);
        if (second)
            low_hash(second, first, digest_nbytes[w->hash], SIZE_MAX, digest);
    }
    return 0;
}
