/* isal.c: the multi-buffer hashes of Intel's ISA-L crypto.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Twice as many contexts as the manager has lanes take turns, so that they stay in the first cache. A context that
 * comes back finished is submitted next.
 */
#include "peer.h"

#include <isa-l_crypto/isal_crypto_api.h>
#include <isa-l_crypto/sha1_mb.h>
#include <isa-l_crypto/sha256_mb.h>
#include <isa-l_crypto/sha512_mb.h>
#include <stdlib.h>
#include <string.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

peer_fn isal_many;

const char *isal_version(void)
{
    return isal_crypto_get_version_str();
}

static uint32_t swap32(uint32_t x)
{
    return __builtin_bswap32(x);
}

static uint64_t swap64(uint64_t x)
{
    return __builtin_bswap64(x);
}

/* The library does not do this, and the next peer would pay for it. */
static void leave_avx(void)
{
#ifdef __AVX__
    _mm256_zeroupper();
#endif
}

/* The words of a result are in the machine's byte order. */
#define MANY(NAME, CTX, MGR, LANES, WORD, SWAP)                                                                   \
    static void NAME##_end(const CTX *ctx, uint8_t *digests)                                                           \
    {                                                                                                                  \
        WORD digest[sizeof ctx->job.result_digest / sizeof(WORD)];                                                     \
        for (size_t w = 0; w < sizeof digest / sizeof *digest; w++)                                                    \
            digest[w] = SWAP(ctx->job.result_digest[w]);                                                               \
        memcpy(digests + (size_t)ctx->user_data * sizeof digest, digest, sizeof digest);                               \
    }                                                                                                                  \
                                                                                                                       \
    static int NAME##_many(const struct message *messages, size_t count, uint8_t *digests)                             \
    {                                                                                                                  \
        static MGR *mgr;                                                                                               \
        static CTX *ctxs;                                                                                              \
        CTX *idle[2 * LANES], *ctx;                                                                                    \
        size_t nidle = 0;                                                                                              \
        if (!mgr) {                                                                                                    \
            mgr = aligned_alloc(64, (sizeof *mgr + 63) / 64 * 64);                                                     \
            ctxs = aligned_alloc(64, (sizeof *ctxs * 2 * LANES + 63) / 64 * 64);                                       \
            if (!mgr || !ctxs || NAME##_ctx_mgr_init(mgr))                                                             \
                abort();                                                                                               \
            for (size_t c = 0; c < 2 * LANES; c++)                                                                     \
                isal_hash_ctx_init(&ctxs[c]);                                                                          \
        }                                                                                                              \
        while (nidle < 2 * LANES) {                                                                                    \
            idle[nidle] = &ctxs[nidle];                                                                                \
            nidle++;                                                                                                   \
        }                                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                                           \
            ctx = idle[--nidle];                                                                                       \
            ctx->user_data = (void *)i;                                                                                \
            if (NAME##_ctx_mgr_submit(mgr, ctx, &ctx, messages[i].data, (uint32_t)messages[i].nbytes,                  \
                                      ISAL_HASH_ENTIRE))                                                               \
                return -1;                                                                                             \
            if (ctx) {                                                                                                 \
                NAME##_end(ctx, digests);                                                                              \
                idle[nidle++] = ctx;                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
        while (!NAME##_ctx_mgr_flush(mgr, &ctx) && ctx)                                                                \
            NAME##_end(ctx, digests);                                                                                  \
        leave_avx();                                                                                                   \
        return 0;                                                                                                      \
    }

MANY(isal_sha1, ISAL_SHA1_HASH_CTX, ISAL_SHA1_HASH_CTX_MGR, ISAL_SHA1_MAX_LANES, uint32_t, swap32)
MANY(isal_sha256, ISAL_SHA256_HASH_CTX, ISAL_SHA256_HASH_CTX_MGR, ISAL_SHA256_MAX_LANES, uint32_t, swap32)
MANY(isal_sha512, ISAL_SHA512_HASH_CTX, ISAL_SHA512_HASH_CTX_MGR, ISAL_SHA512_MAX_LANES, uint64_t, swap64)

int isal_many(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    switch (algorithm) {
    case ALG_SHA1: return isal_sha1_many(messages, count, digests);
    case ALG_SHA256: return isal_sha256_many(messages, count, digests);
    case ALG_SHA512: return isal_sha512_many(messages, count, digests);
    default: return -1;
    }
}
