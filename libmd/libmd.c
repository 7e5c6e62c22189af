/* libmd.c: the functions of libmd(3) over hashloom's public calls.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A context of libmd and an hl_ctx hold the same values in different forms: a state, the length so far, and the bytes
 * that do not fill a block yet. Each call converts one into the other, lets hashloom do the work, and converts the
 * result back. One body serves all algorithms; a table at the end defines libmd's functions by it.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <hashloom.h>
#include <md5.h>
#include <rmd160.h>
#include <sha1.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__GNUC__)
#  define EXPORTED __attribute__((visibility("default")))
#else
#  define EXPORTED
#endif

enum { READ_NBYTES = 1 << 15 }; /* on the stack; larger reads are not faster */

/* libmd's functions cannot report an error. The possible errors are a message beyond 2^61 bytes, and data at NULL,
 * which would crash libmd. */
static void must(hl_status status)
{
    if (status != HL_OK)
        abort();
}

/* The fields of any libmd context. */
struct context {
    hl_alg alg;
    void *state;
    uint64_t *nbits; /* the low half */
    uint64_t *high;  /* the high half; NULL if there is none */
    uint8_t *buffer;
    void *all;
    size_t all_nbytes;
    int counts_padding; /* Pad leaves the padding in the count, as in libmd's MD5, SHA-1 and RIPEMD-160 */
};

static size_t state_nbytes(const hl_alg_info *alg)
{
    return (size_t)alg->nwords * alg->word_nbytes;
}

static hl_ctx take(const struct context *c)
{
    const hl_alg_info *alg = hl_alg_find(c->alg);
    hl_ctx ctx;

    must(hl_init(&ctx, c->alg));
    memcpy(&ctx.state, c->state, state_nbytes(alg));
    ctx.nbytes = *c->nbits >> 3 | (c->high == NULL ? 0 : *c->high << 61);
    memcpy(ctx.block, c->buffer, ctx.nbytes % alg->block_nbytes);
    return ctx;
}

static void give(const struct context *c, const hl_ctx *ctx)
{
    const hl_alg_info *alg = hl_alg_find(c->alg);

    memcpy(c->state, &ctx->state, state_nbytes(alg));
    *c->nbits = ctx->nbytes << 3;
    if (c->high != NULL)
        *c->high = ctx->nbytes >> 61;
    memcpy(c->buffer, ctx->block, ctx->nbytes % alg->block_nbytes);
}

static void wipe(void *p, size_t nbytes)
{
    volatile uint8_t *byte = p;

    while (nbytes-- > 0)
        *byte++ = 0;
}

static void init(const struct context *c)
{
    hl_ctx ctx;

    memset(c->buffer, 0, hl_alg_find(c->alg)->block_nbytes);
    must(hl_init(&ctx, c->alg));
    give(c, &ctx);
}

static void update(const struct context *c, const uint8_t *data, size_t nbytes)
{
    const hl_alg_info *alg = hl_alg_find(c->alg);
    const size_t held = (*c->nbits >> 3) % alg->block_nbytes;

    if (nbytes < alg->block_nbytes - held) { /* no block becomes full: the usual case for programs that write in small
                                              * parts */
        const uint64_t before = *c->nbits;
        if (nbytes > 0)
            memcpy(c->buffer + held, data, nbytes);
        *c->nbits += (uint64_t)nbytes << 3;
        if (c->high != NULL && *c->nbits < before)
            ++*c->high;
        return;
    }
    hl_ctx ctx = take(c);
    must(hl_update(&ctx, data, nbytes));
    give(c, &ctx);
    wipe(&ctx, sizeof ctx);
}

/* FIPS 180-4 section 5.1. Afterwards the buffer has the last block of the message, as in libmd. */
static void pad(const struct context *c)
{
    const hl_alg_info *alg = hl_alg_find(c->alg);
    const size_t block = alg->block_nbytes, length = 2 * (size_t)alg->word_nbytes;
    uint8_t blocks[2 * HL_BLOCK_MAX_NBYTES] = {0};
    hl_ctx ctx = take(c);
    const size_t held = ctx.nbytes % block, end = held + 1 + length <= block ? block : 2 * block;
    const uint64_t nbits = ctx.nbytes << 3;

    memcpy(blocks, ctx.block, held);
    blocks[held] = 0x80;
    for (size_t i = 0; i < 8; i++)
        blocks[alg->big_endian ? end - 1 - i : end - 8 + i] = (uint8_t)(nbits >> 8 * i);
    if (length == 16)
        blocks[end - 9] = (uint8_t)(ctx.nbytes >> 61);
    must(hl_update(&ctx, blocks + held, end - held));
    memcpy(c->state, &ctx.state, state_nbytes(alg));
    if (c->counts_padding)
        *c->nbits = ctx.nbytes << 3;
    memcpy(c->buffer, blocks + end - block, block);
    wipe(&ctx, sizeof ctx);
    wipe(blocks, sizeof blocks);
}

static void final(uint8_t *digest, const struct context *c)
{
    hl_ctx ctx = take(c);
    uint8_t unwanted[HL_DIGEST_MAX_NBYTES];

    must(hl_final(&ctx, digest == NULL ? unwanted : digest));
    wipe(c->all, c->all_nbytes);
}

static void transform(hl_alg alg, void *state, const uint8_t *block)
{
    const hl_alg_info *info = hl_alg_find(alg);
    hl_ctx ctx;

    must(hl_init(&ctx, alg));
    memcpy(&ctx.state, state, state_nbytes(info));
    must(hl_update(&ctx, block, info->block_nbytes));
    memcpy(state, &ctx.state, state_nbytes(info));
}

/* Wipes the context even if there is no memory. */
static char *end(const struct context *c, char *hex)
{
    static const char digits[16] = "0123456789abcdef";
    uint8_t digest[HL_DIGEST_MAX_NBYTES];
    const size_t nbytes = hl_alg_find(c->alg)->digest_nbytes;

    final(digest, c);
    if (hex == NULL && (hex = malloc(2 * nbytes + 1)) == NULL)
        return NULL;
    for (size_t i = 0; i < nbytes; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[2 * nbytes] = '\0';
    return hex;
}

/* Reads to the end of the file, whatever its reported size: files in /proc report 0. */
static char *file_chunk(const struct context *c, const char *path, char *hex, off_t offset, off_t nbytes)
{
    uint8_t buffer[READ_NBYTES];
    ssize_t n;

    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    init(c);
    n = offset > 0 && lseek(file, offset, SEEK_SET) < 0 ? -1 : 1;
    for (off_t left = nbytes; n > 0 && (nbytes <= 0 || left > 0);) {
        do
            n = read(file, buffer, nbytes > 0 && left < READ_NBYTES ? (size_t)left : READ_NBYTES);
        while (n < 0 && errno == EINTR);
        if (n > 0)
            update(c, buffer, (size_t)n);
        left -= n;
    }
    const int error = errno;
    close(file);
    errno = error;
    return n < 0 ? NULL : end(c, hex);
}

/* libmd's names. CTX: the context's type. FIELDS: makes a struct context of it. WORD: a word of its state. */
#define ALGORITHM(NAME, ALG, CTX, FIELDS, WORD, NWORDS) \
    EXPORTED void NAME##Init(CTX *c) \
    { \
        init(&(struct context)FIELDS(ALG, c)); \
    } \
    EXPORTED void NAME##Update(CTX *c, const uint8_t *data, size_t nbytes) \
    { \
        update(&(struct context)FIELDS(ALG, c), data, nbytes); \
    } \
    EXPORTED void NAME##Pad(CTX *c) \
    { \
        pad(&(struct context)FIELDS(ALG, c)); \
    } \
    EXPORTED void NAME##Final(uint8_t digest[NAME##_DIGEST_LENGTH], CTX *c) \
    { \
        final(digest, &(struct context)FIELDS(ALG, c)); \
    } \
    EXPORTED void NAME##Transform(WORD state[NWORDS], const uint8_t block[NAME##_BLOCK_LENGTH]) \
    { \
        transform(ALG, state, block); \
    } \
    EXPORTED char *NAME##End(CTX *c, char *hex) \
    { \
        return end(&(struct context)FIELDS(ALG, c), hex); \
    } \
    EXPORTED char *NAME##FileChunk(const char *path, char *hex, off_t offset, off_t nbytes) \
    { \
        CTX c; \
        return file_chunk(&(struct context)FIELDS(ALG, &c), path, hex, offset, nbytes); \
    } \
    EXPORTED char *NAME##File(const char *path, char *hex) \
    { \
        return NAME##FileChunk(path, hex, 0, 0); \
    } \
    EXPORTED char *NAME##Data(const uint8_t *data, size_t nbytes, char *hex) \
    { \
        CTX c; \
        NAME##Init(&c); \
        NAME##Update(&c, data, nbytes); \
        return NAME##End(&c, hex); \
    }

#define WITH_COUNT(ALG, c)   {ALG, (c)->state, &(c)->count, NULL, (c)->buffer, (c), sizeof *(c), 1}
#define WITH_STATE32(ALG, c) {ALG, &(c)->state, &(c)->bitcount[0], NULL, (c)->buffer, (c), sizeof *(c), 0}
#define WITH_STATE64(ALG, c) \
    {ALG, &(c)->state, &(c)->bitcount[0], &(c)->bitcount[1], (c)->buffer, (c), sizeof *(c), 0}

ALGORITHM(MD5, HL_MD5, MD5_CTX, WITH_COUNT, uint32_t, 4)
ALGORITHM(SHA1, HL_SHA1, SHA1_CTX, WITH_COUNT, uint32_t, 5)
ALGORITHM(RMD160, HL_RIPEMD160, RMD160_CTX, WITH_COUNT, uint32_t, 5)
ALGORITHM(SHA224, HL_SHA224, SHA2_CTX, WITH_STATE32, uint32_t, 8)
ALGORITHM(SHA256, HL_SHA256, SHA2_CTX, WITH_STATE32, uint32_t, 8)
ALGORITHM(SHA384, HL_SHA384, SHA2_CTX, WITH_STATE64, uint64_t, 8)
ALGORITHM(SHA512, HL_SHA512, SHA2_CTX, WITH_STATE64, uint64_t, 8)
ALGORITHM(SHA512_256, HL_SHA512_256, SHA2_CTX, WITH_STATE64, uint64_t, 8)
