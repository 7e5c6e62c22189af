/* isal.c: the multi-buffer hashes of Intel's ISA-L crypto.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Twice as many contexts as the manager has lanes take turns, so that they stay in the first cache. A context that
 * comes back finished is submitted next. The functions of a tier are found by name, as the headers lack those of one
 * instruction set. A library may be built without MD5.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "peer.h"

#include <dlfcn.h>
#include <isa-l_crypto/isal_crypto_api.h>
#if __has_include(<isa-l_crypto/md5_mb.h>)
#include <isa-l_crypto/md5_mb.h>
#endif
#include <isa-l_crypto/sha1_mb.h>
#include <isa-l_crypto/sha256_mb.h>
#include <isa-l_crypto/sha512_mb.h>
#include <stdio.h>
#include <string.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

peer_fn isal_many;

/* NULL if the library has no such function. */
static void *find(const char *hash, const char *verb)
{
    static const char *const isas[] = {"", "_avx2", "_avx2", "_avx", "_base"};
    _Static_assert(sizeof isas / sizeof *isas == TIER_PLAIN + 1, "one for each tier");
    char name[64];
    snprintf(name, sizeof name, "_%s_ctx_mgr_%s%s", hash, verb, isas[peer_tier()]);
    return dlsym(RTLD_DEFAULT, name);
}

const char *isal_version(void)
{
    return isal_crypto_get_version_str();
}

#define SAME(X) (X)

/* The library does not do this, and the next peer would pay for it. */
static void leave_avx(void)
{
#ifdef __AVX__
    _mm256_zeroupper();
#endif
}

/* The words of a result are in the machine's byte order. */
#define MANY(HASH, CTX, MGR, LANES, WORD, SWAP)                                                                        \
    static void HASH##_end(const CTX *ctx, uint8_t *digests)                                                           \
    {                                                                                                                  \
        WORD digest[sizeof ctx->job.result_digest / sizeof(WORD)];                                                     \
        for (size_t w = 0; w < sizeof digest / sizeof *digest; w++)                                                    \
            digest[w] = SWAP(ctx->job.result_digest[w]);                                                               \
        memcpy(digests + (size_t)ctx->user_data * sizeof digest, digest, sizeof digest);                               \
    }                                                                                                                  \
                                                                                                                       \
    static int HASH##_many(const struct message *messages, size_t count, uint8_t *digests)                             \
    {                                                                                                                  \
        static CTX *(*submit)(MGR *, CTX *, const void *, uint32_t, ISAL_HASH_CTX_FLAG);                               \
        static CTX *(*flush)(MGR *);                                                                                   \
        static MGR *mgr;                                                                                               \
        static CTX *ctxs;                                                                                              \
        CTX *idle[2 * LANES], *ctx;                                                                                    \
        size_t nidle = 0;                                                                                              \
        if (!mgr) {                                                                                                    \
            void (*init)(MGR *);                                                                                       \
            *(void **)&init = find(#HASH, "init");                                                                     \
            *(void **)&submit = find(#HASH, "submit");                                                                 \
            *(void **)&flush = find(#HASH, "flush");                                                                   \
            if (!init || !submit || !flush)                                                                            \
                return -1;                                                                                             \
            mgr = aligned_alloc(64, (sizeof *mgr + 63) / 64 * 64);                                                     \
            ctxs = aligned_alloc(64, (sizeof *ctxs * 2 * LANES + 63) / 64 * 64);                                       \
            if (!mgr || !ctxs)                                                                                         \
                abort();                                                                                               \
            init(mgr);                                                                                                 \
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
            ctx = submit(mgr, ctx, messages[i].data, (uint32_t)messages[i].nbytes, ISAL_HASH_ENTIRE);                  \
            if (ctx) {                                                                                                 \
                HASH##_end(ctx, digests);                                                                              \
                idle[nidle++] = ctx;                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
        while ((ctx = flush(mgr)))                                                                                     \
            HASH##_end(ctx, digests);                                                                                  \
        leave_avx();                                                                                                   \
        return 0;                                                                                                      \
    }

#ifdef ISAL_MD5_MAX_LANES
MANY(md5, ISAL_MD5_HASH_CTX, ISAL_MD5_HASH_CTX_MGR, ISAL_MD5_MAX_LANES, uint32_t, SAME)
#endif
MANY(sha1, ISAL_SHA1_HASH_CTX, ISAL_SHA1_HASH_CTX_MGR, ISAL_SHA1_MAX_LANES, uint32_t, __builtin_bswap32)
MANY(sha256, ISAL_SHA256_HASH_CTX, ISAL_SHA256_HASH_CTX_MGR, ISAL_SHA256_MAX_LANES, uint32_t, __builtin_bswap32)
MANY(sha512, ISAL_SHA512_HASH_CTX, ISAL_SHA512_HASH_CTX_MGR, ISAL_SHA512_MAX_LANES, uint64_t, __builtin_bswap64)

int isal_many(const struct work *w)
{
    static int (*const many[NHASHES])(const struct message *, size_t, uint8_t *) = {
#ifdef ISAL_MD5_MAX_LANES
        [HASH_MD5] = md5_many,
#endif
        [HASH_SHA1] = sha1_many, [HASH_SHA256] = sha256_many, [HASH_SHA512] = sha512_many};
    return is_whole(w) && many[w->hash] ? many[w->hash](w->messages, w->count, w->digests) : -1;
}
