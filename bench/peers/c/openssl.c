/* openssl.c: OpenSSL 3, one message after the other.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "peer.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/ripemd.h>
#include <openssl/sha.h>

peer_fn openssl_evp, openssl_low;

const char *openssl_version(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}

/* The algorithm is fetched once and the context is never freed: a fetch for each message costs more than a block. */
int openssl_evp(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    static const char *const names[NALGORITHMS] = {"SHA1", "SHA256", "SHA512", "RIPEMD160"};
    static EVP_MD *md[NALGORITHMS];
    static EVP_MD_CTX *ctx[NALGORITHMS];
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
    default: return -1;
    }
}
