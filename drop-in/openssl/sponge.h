/* sponge.h: the contexts of SHA-3 and SHAKE, for digest.c.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A message is xored into the state as it comes, and a block that came in parts is advanced together with a block of
 * zeros. A context thus needs no room for a block: it has 240 bytes instead of 408.
 */
#ifndef HASHLOOM_SPONGE_H
#define HASHLOOM_SPONGE_H

struct sponge {
    const struct provider *provider;
    hl_blocks_fn *blocks; /* NULL: not initialised, or final */
    uint64_t nbytes;      /* of the message so far; after its end, of the digest so far */
    uint64_t state[HL_STATE_MAX_NBYTES / 8];
    int is_squeezing;     /* the message has ended */
    size_t xof_nbytes;    /* the length of an HL_XOF's digest; SIZE_MAX: not set. Stays when the context begins anew */
};

/* OpenSSL's default provider gave SHAKE the length of its strength, half of hashloom's. Since 3.4 there is no usual
 * length. */
static size_t usual_nbytes(const hl_alg_info *info)
{
    if (info->ending != HL_XOF)
        return info->digest_nbytes;
    return OPENSSL_version_major() == 3 && OPENSSL_version_minor() < 4 ? info->digest_nbytes / 2 : 0;
}

static void *sponge_newctx(void *provider, hl_alg alg)
{
    struct sponge *sponge = OPENSSL_zalloc(sizeof *sponge);

    if (sponge == NULL) {
        FAIL(provider, REASON_MEMORY);
        return NULL;
    }
    const size_t usual = usual_nbytes(hl_alg_find(alg));
    sponge->provider = provider;
    sponge->xof_nbytes = usual == 0 ? SIZE_MAX : usual;
    return sponge;
}

static void sponge_wipe(struct sponge *sponge)
{
    sponge->blocks = NULL;
    OPENSSL_cleanse(sponge->state, sizeof sponge->state);
}

static void sponge_freectx(void *context)
{
    struct sponge *sponge = context;

    if (sponge != NULL && sponge->blocks != NULL)
        sponge_wipe(sponge);
    OPENSSL_free(sponge);
}

static void sponge_copyctx(void *to, void *from)
{
    *(struct sponge *)to = *(const struct sponge *)from;
}

static void *sponge_dupctx(void *context)
{
    const struct sponge *sponge = context;
    struct sponge *copy = OPENSSL_malloc(sizeof *copy);

    if (copy == NULL)
        FAIL(sponge->provider, REASON_MEMORY);
    else
        sponge_copyctx(copy, context);
    return copy;
}

INLINE int sponge_init(struct sponge *sponge, size_t row)
{
    sponge->blocks = sponge->provider->digests[row].blocks;
    sponge->nbytes = 0;
    sponge->is_squeezing = 0;
    memset(sponge->state, 0, sizeof sponge->state);
    return 1;
}

/* Advances the state, with a block that is in it already. */
static void sponge_advance(struct sponge *sponge, unsigned block_nbytes)
{
    static const uint64_t zeros[(HL_BLOCK_MAX_NBYTES + 7) / 8];
    const uint8_t *block = (const uint8_t *)zeros;

    sponge->blocks(sponge->state, &block, 1, block_nbytes);
}

static uint64_t little_endian(uint64_t word)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word : __builtin_bswap64(word);
}

/* Xors bytes of a message into the state, from byte `at` on. */
static void sponge_absorb(uint64_t *state, size_t at, const uint8_t *data, size_t nbytes)
{
    while (nbytes > 0) {
        const size_t skip = at % 8, n = nbytes < 8 - skip ? nbytes : 8 - skip;
        uint64_t word = 0;
        if (n == 8) {
            memcpy(&word, data, 8);
            word = little_endian(word);
        } else {
            for (size_t i = 0; i < n; i++)
                word |= (uint64_t)data[i] << 8 * i;
        }
        state[at / 8] ^= word << 8 * skip;
        at += n;
        data += n;
        nbytes -= n;
    }
}

/* Writes bytes of the state, from byte `at` on. */
static void sponge_write(const uint64_t *state, size_t at, uint8_t *out, size_t nbytes)
{
    while (nbytes > 0) {
        const size_t skip = at % 8, n = nbytes < 8 - skip ? nbytes : 8 - skip;
        const uint64_t word = little_endian(state[at / 8] >> 8 * skip);
        if (n == 8)
            memcpy(out, &word, 8);
        else
            for (size_t i = 0; i < n; i++)
                out[i] = ((const uint8_t *)&word)[i];
        at += n;
        out += n;
        nbytes -= n;
    }
}

INLINE int sponge_update(struct sponge *sponge, const unsigned char *data, size_t nbytes, size_t block_nbytes)
{
    if (sponge->blocks == NULL || sponge->is_squeezing)
        return FAIL(sponge->provider, HL_ESTATE);
    if (nbytes == 0)
        return 1;
    if (data == NULL)
        return FAIL(sponge->provider, HL_ENULL);
    if (nbytes > HL_MESSAGE_MAX_NBYTES - sponge->nbytes)
        return FAIL(sponge->provider, HL_ELENGTH);
    const size_t held = sponge->nbytes % block_nbytes;
    sponge->nbytes += nbytes;
    if (held != 0) {
        const size_t room = block_nbytes - held, n = nbytes < room ? nbytes : room;
        sponge_absorb(sponge->state, held, data, n);
        if (n < room)
            return 1;
        sponge_advance(sponge, (unsigned)block_nbytes);
        data += n;
        nbytes -= n;
    }
    if (nbytes >= block_nbytes)
        sponge->blocks(sponge->state, &data, nbytes / block_nbytes, (unsigned)block_nbytes);
    const size_t nrest = nbytes % block_nbytes;
    sponge_absorb(sponge->state, 0, data + nbytes - nrest, nrest);
    return 1;
}

/* Ends the message (FIPS 202 sections 5.1 and B.2). */
INLINE void sponge_end(struct sponge *sponge, size_t block_nbytes, unsigned suffix)
{
    const size_t held = sponge->nbytes % block_nbytes;

    sponge->state[held / 8] ^= (uint64_t)suffix << 8 * (held % 8);
    sponge->state[block_nbytes / 8 - 1] ^= UINT64_C(1) << 63;
    sponge_advance(sponge, (unsigned)block_nbytes);
    sponge->nbytes = 0;
    sponge->is_squeezing = 1;
}

/* Writes the next bytes of the digest, any number; the first call ends the message. */
INLINE int sponge_squeeze(struct sponge *sponge, unsigned char *out, size_t *out_nbytes, size_t nbytes,
                          size_t block_nbytes, unsigned suffix)
{
    if (sponge->blocks == NULL)
        return FAIL(sponge->provider, HL_ESTATE);
    if (out == NULL && nbytes != 0)
        return FAIL(sponge->provider, HL_ENULL);
    *out_nbytes = nbytes;
    if (!sponge->is_squeezing)
        sponge_end(sponge, block_nbytes, suffix);
    while (nbytes > 0) {
        const size_t at = sponge->nbytes % block_nbytes, left = block_nbytes - at, n = nbytes < left ? nbytes : left;
        if (at == 0 && sponge->nbytes != 0)
            sponge_advance(sponge, (unsigned)block_nbytes);
        sponge_write(sponge->state, at, out, n);
        sponge->nbytes += n;
        out += n;
        nbytes -= n;
    }
    return 1;
}

/* digest_nbytes: 0 for an HL_XOF. OpenSSL before 3.4 passes as room the usual length, whatever xoflen says: who sets
 * xoflen, or calls EVP_DigestFinalXOF, has room for it. */
INLINE int sponge_final(struct sponge *sponge, unsigned char *out, size_t *out_nbytes, size_t room,
                        size_t digest_nbytes, size_t block_nbytes, unsigned suffix)
{
    if (sponge->blocks == NULL || sponge->is_squeezing)
        return FAIL(sponge->provider, HL_ESTATE);
    if (room < digest_nbytes)
        return FAIL(sponge->provider, REASON_ROOM);
    if (digest_nbytes == 0 && sponge->xof_nbytes == SIZE_MAX)
        return FAIL(sponge->provider, REASON_NO_LENGTH);
    if (!sponge_squeeze(sponge, out, out_nbytes, digest_nbytes == 0 ? sponge->xof_nbytes : digest_nbytes,
                        block_nbytes, suffix))
        return 0;
    sponge_wipe(sponge);
    return 1;
}

/* Both to be set and to be got. "size" is a newer name of "xoflen". */
static const OSSL_PARAM *xof_ctx_params(void *context, void *provider)
{
    static const OSSL_PARAM params[] = {OSSL_PARAM_size_t(OSSL_DIGEST_PARAM_XOFLEN, NULL),
                                        OSSL_PARAM_size_t(OSSL_DIGEST_PARAM_SIZE, NULL), OSSL_PARAM_END};

    (void)context;
    (void)provider;
    return params;
}

static int xof_set_ctx_params(void *context, const OSSL_PARAM params[])
{
    static const char *const names[] = {OSSL_DIGEST_PARAM_SIZE, OSSL_DIGEST_PARAM_XOFLEN};
    struct sponge *sponge = context;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const OSSL_PARAM *length = OSSL_PARAM_locate_const(params, names[i]);
        if (length != NULL && !OSSL_PARAM_get_size_t(length, &sponge->xof_nbytes))
            return FAIL(sponge->provider, REASON_PARAMETER);
    }
    return 1;
}

static int xof_get_ctx_params(void *context, OSSL_PARAM params[])
{
    static const char *const names[] = {OSSL_DIGEST_PARAM_SIZE, OSSL_DIGEST_PARAM_XOFLEN};
    const struct sponge *sponge = context;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        OSSL_PARAM *length = OSSL_PARAM_locate(params, names[i]);
        if (length != NULL && !OSSL_PARAM_set_size_t(length, sponge->xof_nbytes))
            return FAIL(sponge->provider, REASON_PARAMETER);
    }
    return 1;
}

#endif
