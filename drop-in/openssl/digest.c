/* digest.c: the digests of the provider, from algorithms.def. Those of the Keccak permutation and BLAKE2: sponge.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * OpenSSL allocates, initialises, finishes and frees a context for every message. A context is therefore small, and
 * calls the kernel for one message itself: with hl_ctx (392 bytes instead of 216) and hl_update, SHA-1 of 64 bytes took
 * 182 ns, of which the kernel took 62; this way it takes 148, as in the default provider (Zen 4, gcc 12). A block of
 * SHA-3 takes so long that its streams are the core's.
 */
#include "provider.h"

#include <string.h>

/* The functions below are inlined into those of each algorithm, where the sizes are constants. */
#define INLINE static inline __attribute__((always_inline))

#include "../../core/src/algorithms.h"
#include "sponge.h"

enum { SSL3_SECRET_NBYTES = 48, SSL3_PAD_NBYTES = 40, STATE_NBYTES = 64, BLOCK_NBYTES = 128 };

struct digest {
    const struct provider *provider;
    hl_blocks_fn *blocks; /* NULL: not initialised, or final */
    uint64_t nbytes;      /* length of the message so far */
    union {
        uint32_t w32[STATE_NBYTES / 4];
        uint64_t w64[STATE_NBYTES / 8];
    } state;
    uint8_t block[BLOCK_NBYTES]; /* the last nbytes % block_nbytes bytes of the message, not hashed yet */
};

static void *digest_newctx(void *provider)
{
    struct digest *digest = OPENSSL_malloc(sizeof *digest);

    if (digest == NULL) {
        FAIL(provider, REASON_MEMORY);
        return NULL;
    }
    digest->provider = provider;
    digest->blocks = NULL; /* no call reads the other fields then */
    return digest;
}

static void digest_wipe(struct digest *digest)
{
    digest->blocks = NULL;
    OPENSSL_cleanse(&digest->state, sizeof digest->state + sizeof digest->block);
}

static void digest_freectx(void *context)
{
    struct digest *digest = context;

    if (digest != NULL && digest->blocks != NULL)
        digest_wipe(digest);
    OPENSSL_free(digest);
}

static void digest_copyctx(void *to, void *from)
{
    const struct digest *digest = from;

    if (digest->blocks != NULL)
        *(struct digest *)to = *digest;
    else
        digest_wipe(to);
}

static void *digest_dupctx(void *context)
{
    struct digest *copy = digest_newctx((void *)(uintptr_t)((const struct digest *)context)->provider);

    if (copy != NULL)
        digest_copyctx(copy, context);
    return copy;
}

INLINE int digest_init(struct digest *digest, size_t row, size_t state_nbytes)
{
    digest->blocks = digest->provider->digests[row].blocks;
    digest->nbytes = 0;
    memcpy(&digest->state, digest->provider->digests[row].iv, state_nbytes);
    return 1;
}

INLINE int digest_update(struct digest *digest, const unsigned char *data, size_t nbytes, size_t block_nbytes)
{
    if (digest->blocks == NULL)
        return FAIL(digest->provider, HL_ESTATE);
    if (data == NULL && nbytes != 0)
        return FAIL(digest->provider, HL_ENULL);
    if (nbytes > HL_MESSAGE_MAX_NBYTES - digest->nbytes)
        return FAIL(digest->provider, HL_ELENGTH);
    const size_t held = digest->nbytes % block_nbytes;
    digest->nbytes += nbytes;
    if (held != 0) {
        const size_t room = block_nbytes - held;
        const uint8_t *full = digest->block;
        if (nbytes < room) {
            if (nbytes != 0)
                memcpy(digest->block + held, data, nbytes);
            return 1;
        }
        memcpy(digest->block + held, data, room);
        digest->blocks(&digest->state, &full, 1, (unsigned)block_nbytes);
        data += room;
        nbytes -= room;
    }
    if (nbytes >= block_nbytes)
        digest->blocks(&digest->state, &data, nbytes / block_nbytes, (unsigned)block_nbytes);
    const size_t nrest = nbytes % block_nbytes;
    if (nrest != 0)
        memcpy(digest->block, data + nbytes - nrest, nrest);
    return 1;
}

/* FIPS 180-4 sections 5.1 and 6.2.2. The number of bits fits in 8 bytes; the upper half of 16 is zero. */
INLINE int digest_final(struct digest *digest, unsigned char *out, size_t *out_nbytes, size_t room,
                        size_t digest_nbytes,
                        size_t word_nbytes, size_t nwords, int big_endian)
{
    const int swap = big_endian == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    const size_t block_nbytes = 16 * word_nbytes, length = 2 * word_nbytes;
    const uint8_t *last = digest->block;

    if (digest->blocks == NULL)
        return FAIL(digest->provider, HL_ESTATE);
    if (out == NULL)
        return FAIL(digest->provider, HL_ENULL);
    if (room < digest_nbytes)
        return FAIL(digest->provider, REASON_ROOM);
    const uint64_t nbits = digest->nbytes << 3, count = swap ? __builtin_bswap64(nbits) : nbits;
    size_t held = digest->nbytes % block_nbytes;
    digest->block[held++] = 0x80;
    if (held + length > block_nbytes) {
        memset(digest->block + held, 0, block_nbytes - held);
        digest->blocks(&digest->state, &last, 1, (unsigned)block_nbytes);
        held = 0;
    }
    memset(digest->block + held, 0, block_nbytes - 8 - held);
    memcpy(digest->block + block_nbytes - 8, &count, sizeof count);
    digest->blocks(&digest->state, &last, 1, (unsigned)block_nbytes);
    for (size_t i = 0; swap && i < nwords; i++)
        if (word_nbytes == 4)
            digest->state.w32[i] = __builtin_bswap32(digest->state.w32[i]);
        else
            digest->state.w64[i] = __builtin_bswap64(digest->state.w64[i]);
    memcpy(out, &digest->state, digest_nbytes);
    *out_nbytes = digest_nbytes;
    digest_wipe(digest);
    return 1;
}

static int digest_digest(const struct provider *provider, hl_alg alg, const unsigned char *data, size_t nbytes,
                         unsigned char *out, size_t *out_nbytes, size_t room)
{
    const size_t digest_nbytes = hl_alg_find(alg)->digest_nbytes;

    if (room < digest_nbytes)
        return FAIL(provider, REASON_ROOM);
    const hl_status status = hl_hash(alg, data, nbytes, out);
    if (status != HL_OK)
        return FAIL(provider, (int)status);
    *out_nbytes = digest_nbytes;
    return 1;
}

static const OSSL_PARAM *digest_gettable_params(void *provider)
{
    static const OSSL_PARAM params[] = {
        OSSL_PARAM_size_t(OSSL_DIGEST_PARAM_BLOCK_SIZE, NULL), OSSL_PARAM_size_t(OSSL_DIGEST_PARAM_SIZE, NULL),
        OSSL_PARAM_int(OSSL_DIGEST_PARAM_XOF, NULL), OSSL_PARAM_int(OSSL_DIGEST_PARAM_ALGID_ABSENT, NULL),
        OSSL_PARAM_END};

    (void)provider;
    return params;
}

/* Whether an algorithm identifier has no parameters: of SHA, not of MD5, RIPEMD-160, BLAKE2 and SM3. */
#define ALGID_ABSENT(alg, kind, big_endian) \
    ((kind) == HL_SPONGE || (kind) == HL_XOF || ((big_endian) && (alg) != HL_SM3))

/* OpenSSL passes no context here, so that no error can be added. */
static int digest_get_params(OSSL_PARAM params[], hl_alg alg, int algid_absent)
{
    const hl_alg_info *info = hl_alg_find(alg);
    OSSL_PARAM *block = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_BLOCK_SIZE);
    OSSL_PARAM *size = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_SIZE);
    OSSL_PARAM *xof = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_XOF);
    OSSL_PARAM *absent = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_ALGID_ABSENT);

    return (block == NULL || OSSL_PARAM_set_size_t(block, info->block_nbytes)) &&
           (size == NULL || OSSL_PARAM_set_size_t(size, usual_nbytes(info))) &&
           (xof == NULL || OSSL_PARAM_set_int(xof, info->ending == HL_XOF)) &&
           (absent == NULL || OSSL_PARAM_set_int(absent, algid_absent));
}

static OSSL_FUNC_digest_init_fn init_SHA1;
static OSSL_FUNC_digest_update_fn update_SHA1;
static OSSL_FUNC_digest_final_fn final_SHA1;

/* SHA-1 of SSL 3.0 (RFC 6101 section 5.6.8): after the handshake messages comes the master secret, and the digest is
 * SHA-1(secret + pad 2 + SHA-1(messages + secret + pad 1)). */
static int ssl3_secret(struct digest *digest, const void *secret)
{
    uint8_t pad[2][SSL3_PAD_NBYTES], inner[HL_SHA1_DIGEST_NBYTES];
    size_t nbytes;

    memset(pad[0], 0x36, sizeof pad[0]);
    memset(pad[1], 0x5c, sizeof pad[1]);
    const int done = update_SHA1(digest, secret, SSL3_SECRET_NBYTES) && update_SHA1(digest, pad[0], sizeof pad[0]) &&
                     final_SHA1(digest, inner, &nbytes, sizeof inner) && init_SHA1(digest, NULL) &&
                     update_SHA1(digest, secret, SSL3_SECRET_NBYTES) && update_SHA1(digest, pad[1], sizeof pad[1]) &&
                     update_SHA1(digest, inner, sizeof inner);
    OPENSSL_cleanse(inner, sizeof inner);
    return done;
}

static const OSSL_PARAM *sha1_settable_ctx_params(void *context, void *provider)
{
    static const OSSL_PARAM params[] = {OSSL_PARAM_octet_string(OSSL_DIGEST_PARAM_SSL3_MS, NULL, 0), OSSL_PARAM_END};

    (void)context;
    (void)provider;
    return params;
}

static int sha1_set_ctx_params(void *context, const OSSL_PARAM params[])
{
    struct digest *digest = context;
    const OSSL_PARAM *secret = OSSL_PARAM_locate_const(params, OSSL_DIGEST_PARAM_SSL3_MS);

    if (secret == NULL)
        return 1;
    if (secret->data_type != OSSL_PARAM_OCTET_STRING || secret->data_size != SSL3_SECRET_NBYTES)
        return FAIL(digest->provider, REASON_PARAMETER);
    return ssl3_secret(digest, secret->data);
}

#ifdef OSSL_FUNC_DIGEST_COPYCTX
#  define COPYCTX(kind) FUNCTION(OSSL_FUNC_DIGEST_COPYCTX, (kind) == HL_STRENGTHENED ? digest_copyctx : sponge_copyctx),
#else
#  define COPYCTX(kind)
#endif
#ifndef OSSL_FUNC_DIGEST_SQUEEZE
#  define OSSL_FUNC_DIGEST_SQUEEZE 14 /* OpenSSL 3.3; earlier versions pass over it */
#endif

#define VOID(function)  ((void (*)(void))(function))
#define IS_SIZED(kind) ((kind) == HL_XOF || (kind) == HL_COUNTED)
#define SIZED_PARAMS(kind, none) ((kind) == HL_XOF ? xof_ctx_params : (kind) == HL_COUNTED ? sized_ctx_params : (none))

/* The functions of one algorithm. An entry with number 0 ends a table. The identifiers of the SHA family have no
 * parameters, those of the others have NULL. */
#define DIGEST(NAME, body, digest_nbytes, block_nbytes, kind, suffix)                                                  \
    static void *newctx_##NAME(void *provider)                                                                         \
    {                                                                                                                  \
        return (kind) == HL_STRENGTHENED ? digest_newctx(provider) : sponge_newctx(provider, HL_##NAME);               \
    }                                                                                                                  \
    static int init_##NAME(void *context, const OSSL_PARAM params[])                                                   \
    {                                                                                                                  \
        if ((kind) != HL_STRENGTHENED)                                                                                 \
            return sponge_init(context, params);                                                                       \
        return digest_init(context, ROW_##NAME, (size_t)NWORDS_##body * WORD_NBYTES_##body) &&                         \
               (HL_##NAME != HL_SHA1 || sha1_set_ctx_params(context, params));                                         \
    }                                                                                                                  \
    static int update_##NAME(void *context, const unsigned char *data, size_t nbytes)                                  \
    {                                                                                                                  \
        return (kind) == HL_STRENGTHENED ? digest_update(context, data, nbytes, block_nbytes)                          \
                                         : sponge_update(context, data, nbytes);                                       \
    }                                                                                                                  \
    static int final_##NAME(void *context, unsigned char *out, size_t *out_nbytes, size_t room)                        \
    {                                                                                                                  \
        return (kind) == HL_STRENGTHENED ? digest_final(context, out, out_nbytes, room, digest_nbytes,                 \
                                                        WORD_NBYTES_##body, NWORDS_##body, IS_BIG_ENDIAN_##body)       \
                                         : sponge_final(context, out, out_nbytes, room);                               \
    }                                                                                                                  \
    static int squeeze_##NAME(void *context, unsigned char *out, size_t *out_nbytes, size_t nbytes)                    \
    {                                                                                                                  \
        return sponge_squeeze(context, out, out_nbytes, nbytes);                                                       \
    }                                                                                                                  \
    static int digest_##NAME(void *provider, const unsigned char *data, size_t nbytes, unsigned char *out,             \
                             size_t *out_nbytes, size_t room)                                                          \
    {                                                                                                                  \
        return digest_digest(provider, HL_##NAME, data, nbytes, out, out_nbytes, room);                                \
    }                                                                                                                  \
    static int get_params_##NAME(OSSL_PARAM params[])                                                                  \
    {                                                                                                                  \
        return digest_get_params(params, HL_##NAME, ALGID_ABSENT(HL_##NAME, kind, IS_BIG_ENDIAN_##body));              \
    }                                                                                                                  \
    static const OSSL_DISPATCH functions_##NAME[] = {                                                                  \
        FUNCTION(OSSL_FUNC_DIGEST_NEWCTX, newctx_##NAME),                                                              \
        FUNCTION(OSSL_FUNC_DIGEST_FREECTX, (kind) == HL_STRENGTHENED ? digest_freectx : sponge_freectx),               \
        FUNCTION(OSSL_FUNC_DIGEST_DUPCTX, (kind) == HL_STRENGTHENED ? digest_dupctx : sponge_dupctx), COPYCTX(kind)    \
        FUNCTION(OSSL_FUNC_DIGEST_INIT, init_##NAME), FUNCTION(OSSL_FUNC_DIGEST_UPDATE, update_##NAME),                \
        FUNCTION(OSSL_FUNC_DIGEST_FINAL, final_##NAME), FUNCTION(OSSL_FUNC_DIGEST_GET_PARAMS, get_params_##NAME),      \
        FUNCTION(OSSL_FUNC_DIGEST_GETTABLE_PARAMS, digest_gettable_params),                                            \
        FUNCTION((kind) == HL_XOF ? OSSL_FUNC_DIGEST_SQUEEZE : OSSL_FUNC_DIGEST_DIGEST,                                \
                 (kind) == HL_XOF ? VOID(squeeze_##NAME) : VOID(digest_##NAME)),                                       \
        FUNCTION(IS_SIZED(kind) || HL_##NAME == HL_SHA1 ? OSSL_FUNC_DIGEST_SET_CTX_PARAMS : 0,                         \
                 IS_SIZED(kind) ? sized_set_ctx_params : sha1_set_ctx_params),                                         \
        FUNCTION(OSSL_FUNC_DIGEST_SETTABLE_CTX_PARAMS, SIZED_PARAMS(kind, sha1_settable_ctx_params)),                  \
        FUNCTION(IS_SIZED(kind) ? OSSL_FUNC_DIGEST_GET_CTX_PARAMS : 0, sized_get_ctx_params),                          \
        FUNCTION(OSSL_FUNC_DIGEST_GETTABLE_CTX_PARAMS, SIZED_PARAMS(kind, NULL)), {0, NULL}};

#define ALG(NAME, id, name, title, body, digest_nbytes, block_nbytes, iv, ending, ...)                                 \
    DIGEST(NAME, body, digest_nbytes, block_nbytes, ending)
#include "../../core/src/algorithms.def"

/* OpenSSL refuses an algorithm whose names belong to two that it knows, so each list is exactly that of the default
 * provider. */
const OSSL_ALGORITHM hlp_digests[DIGEST_COUNT] = {
#define ALG(NAME, id, name, title, body, digest_nbytes, block_nbytes, iv, ending, hashlib, tag, openssl, ...)          \
    {openssl, "provider=hashloom", functions_##NAME, "hashloom " title},
#include "../../core/src/algorithms.def"
};

const hl_alg hlp_algs[DIGEST_COUNT] = {
#define ALG(NAME, ...) HL_##NAME,
#include "../../core/src/algorithms.def"
};

static char lower(char c) /* tolower, whatever the locale */
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

hl_alg hlp_alg_named(const char *name)
{
    for (size_t i = 0; i < DIGEST_COUNT; i++)
        for (const char *each = hlp_digests[i].algorithm_names; *each != '\0';) {
            size_t n = 0;
            while (name[n] != '\0' && each[n] != ':' && lower(name[n]) == lower(each[n]))
                n++;
            if (name[n] == '\0' && (each[n] == '\0' || each[n] == ':'))
                return hl_alg_find(hlp_algs[i])->ending == HL_COUNTED ? (hl_alg)0 : hlp_algs[i];
            each += strcspn(each, ":");
            each += *each == ':';
        }
    return (hl_alg)0;
}
