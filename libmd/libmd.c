/* libmd.c: the functions of libmd(3) over hashloom's public calls.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A context of libmd has a state, the length so far, and the bytes that do not fill a block yet. hashloom advances the
 * state by whole blocks; all else is done in the context itself. One body serves all algorithms, and algorithms.def
 * lists them. MD2 and MD4 bring their own block functions (md24.h).
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "md24.h"

#include <errno.h>
#include <fcntl.h>
#include <hashloom.h>
#include <md2.h>
#include <md4.h>
#include <md5.h>
#include <rmd160.h>
#include <sha1.h>
#include <sha2.h>
#include <sha3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__GNUC__)
#  define EXPORTED __attribute__((visibility("default")))
#else
#  define EXPORTED
#endif

enum { READ_NBYTES = 1 << 15 }; /* on the stack; larger reads are not faster */

/* Beside the values of hl_alg. */
enum { MD2 = -2, MD4 = -1 };

/* libmd's functions cannot report an error. The possible errors are data at NULL, which would crash libmd, and a
 * context of MD2 or SHA-3 that was never initialised. */
static void must(int is_right)
{
    if (!is_right)
        abort();
}

/* The fields of any context of libmd but SHA-3's. MD2's has only `all`. */
struct context {
    int alg; /* an hl_alg, MD2 or MD4 */
    void *state;
    uint64_t *nbits; /* the low half */
    uint64_t *high;  /* the high half; NULL if there is none */
    uint8_t *buffer;
    void *all;
    size_t all_nbytes;
    int counts_padding; /* Pad leaves the padding in the count, as in libmd's MD4, MD5, SHA-1 and RIPEMD-160 */
};

/* MD4 has MD5's state, block and padding; MD2's digest is as long. */
static const hl_alg_info *shape(int alg)
{
    const hl_alg_info *info = hl_alg_find(alg < 0 ? HL_MD5 : (hl_alg)alg);

    must(info != NULL); /* left out of hashloom's build */
    return info;
}

static void wipe(void *p, size_t nbytes)
{
    memset(p, 0, nbytes);
    __asm__ volatile("" : : "r"(p) : "memory"); /* as if the zeros were read */
}

/* Advances a state by whole blocks, in an hl_ctx: the state may be less aligned than a kernel asks (on i386). */
static void advance(int alg, void *state, const uint8_t *data, size_t nblocks)
{
    if (alg == MD4) {
        md4_blocks(state, data, nblocks);
        return;
    }
    const hl_alg_info *info = shape(alg);
    const size_t state_nbytes = (size_t)info->nwords * info->word_nbytes;
    hl_ctx ctx;

    must(hl_init(&ctx, info->alg) == HL_OK);
    memcpy(&ctx.state, state, state_nbytes);
    must(hl_update(&ctx, data, nblocks * info->block_nbytes) == HL_OK);
    memcpy(state, &ctx.state, state_nbytes);
    wipe(&ctx.state, state_nbytes);
}

/* ---- MD2 ------------------------------------------------------------------------------------------------------- */

/* i counts the bytes of X that are in use: the state's 16, and those that do not fill a block yet. */
static void md2_init(MD2_CTX *c)
{
    memset(c, 0, sizeof *c);
    c->i = 16;
}

static void md2_update(MD2_CTX *c, const uint8_t *data, size_t nbytes)
{
    must(c->i >= 16 && c->i < 32);
    while (nbytes > 0) {
        const size_t room = 32 - c->i, n = nbytes < room ? nbytes : room;
        memcpy(c->X + c->i, data, n);
        c->i += (uint32_t)n;
        data += n;
        nbytes -= n;
        if (c->i == 32) {
            md2_block(c->C, c->X);
            c->i = 16;
        }
    }
}

/* RFC 1319 sections 3.1 and 3.2: 1 to 16 bytes that each say how many they are, then the checksum. */
static void md2_final(uint8_t *digest, MD2_CTX *c)
{
    uint8_t last[16];
    const size_t room = 32 - c->i;

    memset(last, (int)room, sizeof last);
    md2_update(c, last, room);
    memcpy(last, c->C, sizeof last);
    md2_update(c, last, sizeof last);
    memcpy(digest, c->X, MD2_DIGEST_LENGTH);
    wipe(c, sizeof *c);
    c->i = 16; /* libmd begins a new message */
}

/* ---- MD2 to SHA-2 ---------------------------------------------------------------------------------------------- */

static void init(const struct context *c)
{
    if (c->alg == MD2) {
        md2_init(c->all);
        return;
    }
    const hl_alg_info *alg = shape(c->alg);

    memcpy(c->state, alg->iv, (size_t)alg->nwords * alg->word_nbytes);
    *c->nbits = 0;
    if (c->high != NULL)
        *c->high = 0;
    memset(c->buffer, 0, alg->block_nbytes);
}

static void update(const struct context *c, const uint8_t *data, size_t nbytes)
{
    if (c->alg == MD2) {
        md2_update(c->all, data, nbytes);
        return;
    }
    const size_t block = shape(c->alg)->block_nbytes;
    const uint64_t before = *c->nbits;
    size_t held = (before >> 3) % block;

    *c->nbits += (uint64_t)nbytes << 3;
    if (c->high != NULL)
        *c->high += ((uint64_t)nbytes >> 61) + (*c->nbits < before);
    if (held > 0 && nbytes >= block - held) {
        memcpy(c->buffer + held, data, block - held);
        advance(c->alg, c->state, c->buffer, 1);
        data += block - held;
        nbytes -= block - held;
        held = 0;
    }
    const size_t nblocks = nbytes / block, nrest = nbytes % block;
    if (nblocks > 0)
        advance(c->alg, c->state, data, nblocks);
    if (nrest > 0)
        memcpy(c->buffer + held, data + nblocks * block, nrest);
}

/* FIPS 180-4 section 5.1. Afterwards the buffer has the last block of the message, as in libmd. */
static void pad(const struct context *c)
{
    const hl_alg_info *alg = shape(c->alg);
    const size_t block = alg->block_nbytes, length = 2 * (size_t)alg->word_nbytes;
    const uint64_t words[2] = {*c->nbits, c->high == NULL ? 0 : *c->high};
    size_t held = (*c->nbits >> 3) % block;

    if (c->counts_padding)
        *c->nbits += (uint64_t)((held + 1 + length <= block ? block : 2 * block) - held) << 3;
    c->buffer[held++] = 0x80;
    if (held + length > block) {
        memset(c->buffer + held, 0, block - held);
        advance(c->alg, c->state, c->buffer, 1);
        held = 0;
    }
    memset(c->buffer + held, 0, block - held);
    for (size_t i = 0; i < length; i++)
        c->buffer[alg->big_endian ? block - 1 - i : block - length + i] = (uint8_t)(words[i / 8] >> 8 * (i % 8));
    advance(c->alg, c->state, c->buffer, 1);
}

static void write_digest(uint8_t *digest, const void *state, const hl_alg_info *alg)
{
    const size_t word_nbytes = alg->word_nbytes;

    for (size_t i = 0; i < alg->digest_nbytes; i += word_nbytes) {
        uint64_t word = word_nbytes == 4 ? ((const uint32_t *)state)[i / 4] : ((const uint64_t *)state)[i / 8];
        if (alg->big_endian)
            word = __builtin_bswap64(word) >> (64 - 8 * word_nbytes);
        for (size_t b = 0; b < word_nbytes; b++)
            digest[i + b] = (uint8_t)(word >> 8 * b);
    }
}

static void final(uint8_t *digest, const struct context *c)
{
    if (c->alg == MD2) {
        md2_final(digest, c->all);
        return;
    }
    pad(c);
    if (digest != NULL)
        write_digest(digest, c->state, shape(c->alg));
    wipe(c->all, c->all_nbytes);
}

/* Wipes the context even if there is no memory. */
static char *end(const struct context *c, char *hex)
{
    static const char digits[16] = "0123456789abcdef";
    uint8_t digest[HL_DIGEST_MAX_NBYTES];
    const size_t nbytes = shape(c->alg)->digest_nbytes;

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

/* Functions that every algorithm up to SHA-2 has. SIZE: the type of Update's length. */
#define FUNCTIONS(NAME, ALG, CTX, FIELDS, SIZE) \
    EXPORTED void NAME##Init(CTX *c) \
    { \
        init(&(struct context)FIELDS(ALG, c)); \
    } \
    EXPORTED void NAME##Update(CTX *c, const uint8_t *data, SIZE nbytes) \
    { \
        update(&(struct context)FIELDS(ALG, c), data, nbytes); \
    } \
    EXPORTED void NAME##Final(uint8_t digest[NAME##_DIGEST_LENGTH], CTX *c) \
    { \
        final(digest, &(struct context)FIELDS(ALG, c)); \
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
        init(&(struct context)FIELDS(ALG, &c)); \
        update(&(struct context)FIELDS(ALG, &c), data, nbytes); \
        return NAME##End(&c, hex); \
    }

#define HASH(NAME, ALG, CTX, FIELDS, WORD, NWORDS, VERSION) \
    FUNCTIONS(NAME, ALG, CTX, FIELDS, size_t) \
    EXPORTED void NAME##Pad(CTX *c) \
    { \
        pad(&(struct context)FIELDS(ALG, c)); \
    } \
    EXPORTED void NAME##Transform(WORD state[NWORDS], const uint8_t block[NAME##_BLOCK_LENGTH]) \
    { \
        advance(ALG, state, block, 1); \
    }

/* Headers of libmd do not declare MD2Transform, but its library has the function. */
void MD2Transform(MD2_CTX *c);

#define MD2_HASH(NAME, VERSION) \
    FUNCTIONS(NAME, MD2, MD2_CTX, WITHOUT_COUNT, unsigned) \
    EXPORTED void NAME##Transform(MD2_CTX *c) \
    { \
        md2_block(c->C, c->X); \
        c->i = 16; \
    }

#define WITHOUT_COUNT(ALG, c) {.alg = ALG, .all = (c)}
#define WITH_COUNT(ALG, c)    {ALG, (c)->state, &(c)->count, NULL, (c)->buffer, (c), sizeof *(c), 1}
#define WITH_STATE32(ALG, c)  {ALG, &(c)->state, &(c)->bitcount[0], NULL, (c)->buffer, (c), sizeof *(c), 0}
#define WITH_STATE64(ALG, c) \
    {ALG, &(c)->state, &(c)->bitcount[0], &(c)->bitcount[1], (c)->buffer, (c), sizeof *(c), 0}

#include "algorithms.def"

/* ---- SHA-3 ----------------------------------------------------------------------------------------------------- */

/* In libmd's context the bytes that do not fill a block are in the state, and nb bytes of the block are left. In the
 * core's stream they are in a block of their own, which may as well have zeros in their place. */
enum { BYTE_OF_WORD = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 7 };

static void sponge_init(struct sha3 *c, hl_alg alg)
{
    memset(c->A, 0, sizeof c->A);
    c->nb = shape((int)alg)->block_nbytes;
}

static void sponge_open(hl_ctx *stream, const struct sha3 *c, hl_alg alg)
{
    const size_t block = shape((int)alg)->block_nbytes;

    must(c->nb > 0 && c->nb <= block); /* not initialised, or final */
    must(hl_init(stream, alg) == HL_OK);
    memcpy(&stream->state, c->A, sizeof c->A);
    memset(stream->block, 0, sizeof stream->block);
    stream->nbytes = block - c->nb;
}

static void sponge_absorb(struct sha3 *c, size_t at, const uint8_t *data, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i++)
        ((uint8_t *)c->A)[(at + i) ^ BYTE_OF_WORD] ^= data[i];
}

static void sponge_update(struct sha3 *c, hl_alg alg, const uint8_t *data, size_t nbytes)
{
    const size_t block = shape((int)alg)->block_nbytes;
    hl_ctx stream;

    if (nbytes < c->nb && c->nb <= block) { /* by a stream 10 bytes take 91 ns, so 34 */
        sponge_absorb(c, block - c->nb, data, nbytes);
        c->nb -= (unsigned)nbytes;
        return;
    }
    sponge_open(&stream, c, alg);
    must(hl_update(&stream, data, nbytes) == HL_OK);
    memcpy(c->A, &stream.state, sizeof c->A);
    sponge_absorb(c, 0, stream.block, stream.nbytes % block);
    c->nb = (unsigned)(block - stream.nbytes % block);
    wipe(&stream, sizeof stream);
}

static void sponge_final(struct sha3 *c, hl_alg alg, uint8_t *digest, size_t nbytes)
{
    const int is_xof = shape((int)alg)->ending == HL_XOF;
    hl_ctx stream;

    sponge_open(&stream, c, alg);
    must((is_xof ? hl_squeeze(&stream, digest, nbytes) : hl_final(&stream, digest)) == HL_OK);
    wipe(&stream, sizeof stream);
    wipe(c, sizeof *c);
}

#define ABSORBING(NAME, ALG, FIELD) \
    EXPORTED void NAME##Init(NAME##CTX *c) \
    { \
        sponge_init(&c->FIELD, ALG); \
    } \
    EXPORTED void NAME##Update(NAME##CTX *c, const uint8_t *data, size_t nbytes) \
    { \
        sponge_update(&c->FIELD, ALG, data, nbytes); \
    }

#define SPONGE(NAME, ALG, FIELD, VERSION) \
    ABSORBING(NAME, ALG, FIELD) \
    EXPORTED void NAME##Final(uint8_t digest[NAME##DIGEST_LENGTH], NAME##CTX *c) \
    { \
        sponge_final(&c->FIELD, ALG, digest, NAME##DIGEST_LENGTH); \
    }

#define XOF(NAME, ALG, FIELD, VERSION) \
    ABSORBING(NAME, ALG, FIELD) \
    EXPORTED void NAME##Final(uint8_t *digest, size_t nbytes, NAME##CTX *c) \
    { \
        sponge_final(&c->FIELD, ALG, digest, nbytes); \
    }

#include "algorithms.def"

/* Compares one digest: SHA3-256 of what each algorithm makes of 0, 35, 70 ... 350 bytes, an XOF 500 bytes. */
EXPORTED int SHA3_Selftest(void)
{
    static const uint8_t expected[SHA3_256_DIGEST_LENGTH] = {
        0xdc, 0x76, 0xc7, 0x5f, 0x73, 0x80, 0xc0, 0xce, 0xb4, 0xb9, 0x34, 0xbb, 0xfd, 0x59, 0xc0, 0x69,
        0xaf, 0xc5, 0x79, 0x8b, 0xd9, 0xc0, 0xe3, 0xfc, 0x22, 0xc9, 0x9e, 0x49, 0xe6, 0xed, 0xbe, 0x72};
    static const hl_alg algs[] = {
#define SPONGE(NAME, ALG, FIELD, VERSION) ALG,
#define XOF(NAME, ALG, FIELD, VERSION)    ALG,
#include "algorithms.def"
    };
    uint8_t message[350], digest[500];
    struct sha3 c, sum;

    for (size_t i = 0; i < sizeof message; i++)
        message[i] = (uint8_t)i;
    sponge_init(&sum, HL_SHA3_256);
    for (size_t a = 0; a < sizeof algs / sizeof algs[0]; a++)
        for (size_t n = 0; n <= sizeof message; n += 35) {
            const hl_alg_info *info = shape((int)algs[a]);
            const size_t nbytes = info->ending == HL_XOF ? sizeof digest : info->digest_nbytes;
            sponge_init(&c, algs[a]);
            sponge_update(&c, algs[a], message, n / 3);
            sponge_update(&c, algs[a], message + n / 3, n - n / 3);
            sponge_final(&c, algs[a], digest, nbytes);
            sponge_update(&sum, HL_SHA3_256, digest, nbytes);
        }
    sponge_final(&sum, HL_SHA3_256, digest, SHA3_256_DIGEST_LENGTH);
    return memcmp(digest, expected, sizeof expected) == 0 ? 0 : -1;
}
