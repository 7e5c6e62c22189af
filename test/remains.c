/* remains.c: a call of HMAC leaves nothing of the key behind, neither on the stack nor in registers.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Each call runs on a thread of its own, whose stack has been painted. The registers that the call may change are saved
 * right after it. Registers and the whole stack are then searched for words of the key's two states, in both byte
 * orders; for the words of the key's block with and without the constants of SHA-256; and for eight bytes in a row of
 * the key, of its digest, or of either xored with ipad or opad. All of the test's own data are static. An XOF has no
 * HMAC: its secrets are messages behind a secret prefix.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "test.h"

#include <pthread.h>
#include <sys/mman.h>

enum {
    STACK_NBYTES = 1 << 17,
    COUNT = 200,
    SECRET_MAX_NBYTES = 300,
    LONG_NBYTES = 500,
    RUN = 8,
    PAINT = 0x5a
};

static uint8_t *stack;
static uint64_t left[STACK_NBYTES / 8]; /* copy of the stack right after the call */
static const hl_alg_info *alg;
static uint8_t secret[SECRET_MAX_NBYTES];
static size_t secret_nbytes;
static hl_hmac_key key;
static hl_hmac_ctx ctx, ctxs[COUNT], *all[COUNT];
static hl_blake3_ctx trees[COUNT];
static hl_ctx *inner[COUNT]; /* of ctxs or trees */
static hl_hmac_key keys[COUNT]; /* all equal, but separate */
static hl_slice passwords[COUNT];
static hl_slice messages[COUNT];
static const uint8_t *pool;
static uint8_t tags[COUNT * LONG_NBYTES];

/* ---- Registers ---- */

static struct {
    uint8_t vectors[32][64];
    uintptr_t general[17];
} registers __attribute__((aligned(64)));

#if defined(__i386__) || defined(__x86_64__)
static int has_sse2, has_avx, has_avx512;

static void find_registers(void)
{
    has_sse2 = __builtin_cpu_supports("sse2");
    has_avx = __builtin_cpu_supports("avx");
    has_avx512 = __builtin_cpu_supports("avx512f");
}
/* Between the registers and memory. */
#  define STORE(op, kind, n) op " %%" kind #n ", " #n "*64(%0)\n\t"
#  define LOAD(op, kind, n)  op " " #n "*64(%0), %%" kind #n "\n\t"
#  define EACH8(move, op, kind) \
      move(op, kind, 0) move(op, kind, 1) move(op, kind, 2) move(op, kind, 3) move(op, kind, 4) \
      move(op, kind, 5) move(op, kind, 6) move(op, kind, 7)
#  define EACH16(move, op, kind) \
      EACH8(move, op, kind) move(op, kind, 8) move(op, kind, 9) move(op, kind, 10) move(op, kind, 11) \
      move(op, kind, 12) move(op, kind, 13) move(op, kind, 14) move(op, kind, 15)
#  define EACH32(move, op, kind) \
      EACH16(move, op, kind) move(op, kind, 16) move(op, kind, 17) move(op, kind, 18) move(op, kind, 19) \
      move(op, kind, 20) move(op, kind, 21) move(op, kind, 22) move(op, kind, 23) move(op, kind, 24) \
      move(op, kind, 25) move(op, kind, 26) move(op, kind, 27) move(op, kind, 28) move(op, kind, 29) \
      move(op, kind, 30) move(op, kind, 31)
#  if defined(__x86_64__)
#    define SAVE_GENERAL() \
        __asm__ volatile("movq %%rcx, %0\n\tmovq %%rdx, %1\n\tmovq %%rsi, %2\n\tmovq %%rdi, %3\n\tmovq %%r8, %4\n\t" \
                         "movq %%r9, %5\n\tmovq %%r10, %6\n\tmovq %%r11, %7" \
                         : "=m"(registers.general[0]), "=m"(registers.general[1]), "=m"(registers.general[2]), \
                           "=m"(registers.general[3]), "=m"(registers.general[4]), "=m"(registers.general[5]), \
                           "=m"(registers.general[6]), "=m"(registers.general[7]))
#    define OF_AVX    EACH16
#    define OF_AVX512 EACH32
#  else
#    define SAVE_GENERAL() \
        __asm__ volatile("movl %%ecx, %0\n\tmovl %%edx, %1" : "=m"(registers.general[0]), "=m"(registers.general[1]))
#    define OF_AVX    EACH8
#    define OF_AVX512 EACH8
#  endif
#  define MOVE_VECTORS(move) \
      do { \
          if (has_avx512) \
              __asm__ volatile(OF_AVX512(move, "vmovdqu64", "zmm") : : "r"(registers.vectors) : "memory"); \
          else if (has_avx) \
              __asm__ volatile(OF_AVX(move, "vmovdqu", "ymm") : : "r"(registers.vectors) : "memory"); \
          else if (has_sse2) \
              __asm__ volatile(OF_AVX(move, "movdqu", "xmm") : : "r"(registers.vectors) : "memory"); \
      } while (0)
#  define SAVE_VECTORS() MOVE_VECTORS(STORE)
/* No clobbers, as compilers without AVX-512 do not know these registers. Nothing that is called across this uses them.
 */
#  define LOAD_VECTORS() MOVE_VECTORS(LOAD)
#elif defined(__aarch64__)
static void find_registers(void)
{
}
#  define SAVE_GENERAL() \
      __asm__ volatile("stp x1, x2, %0\n\tstp x3, x4, %1\n\tstp x5, x6, %2\n\tstp x7, x8, %3\n\tstp x9, x10, %4\n\t" \
                       "stp x11, x12, %5\n\tstp x13, x14, %6\n\tstp x15, x16, %7" \
                       : "=Q"(registers.general[0]), "=Q"(registers.general[2]), "=Q"(registers.general[4]), \
                         "=Q"(registers.general[6]), "=Q"(registers.general[8]), "=Q"(registers.general[10]), \
                         "=Q"(registers.general[12]), "=Q"(registers.general[14]))
#  define MOVE4(move, a, b, c, d) \
      move " q" #a ", q" #b ", [%0], #64\n\t" move " q" #c ", q" #d ", [%0], #64\n\t"
#  define MOVE_VECTORS(move) \
      do { \
          uint8_t *at = registers.vectors[0]; \
          __asm__ volatile(MOVE4(move, 0, 1, 2, 3) MOVE4(move, 4, 5, 6, 7) MOVE4(move, 16, 17, 18, 19) \
                           MOVE4(move, 20, 21, 22, 23) MOVE4(move, 24, 25, 26, 27) MOVE4(move, 28, 29, 30, 31) \
                           MOVE4(move, 8, 9, 10, 11) MOVE4(move, 12, 13, 14, 15) \
                           : "+r"(at) \
                           : \
                           : "memory"); \
      } while (0)
#  define SAVE_VECTORS() MOVE_VECTORS("stp")
/* Also v8 to v15, whose lower halves belong to a caller: the thread's first function gets nothing in them. */
#  define LOAD_VECTORS() MOVE_VECTORS("ldp")
#else /* the header promises only the stack */
static void find_registers(void)
{
}
#  define SAVE_GENERAL() ((void)0)
#  define SAVE_VECTORS() ((void)0)
#  define LOAD_VECTORS() ((void)0)
#endif

/* ---- What must not be found ---- */

static struct {
    uint32_t words32[512];
    uint64_t words64[512];
    size_t nwords32, nwords64;
    uint8_t bytes[24][SECRET_MAX_NBYTES + HL_BLOCK_MAX_NBYTES];
    size_t nbytes[24];
    size_t nstrings;
} hidden;

static void hide_word(uint64_t word, unsigned nbytes)
{
    if (nbytes == 8) {
        hidden.words64[hidden.nwords64++] = word;
        hidden.words64[hidden.nwords64++] = __builtin_bswap64(word);
    } else {
        hidden.words32[hidden.nwords32++] = (uint32_t)word;
        hidden.words32[hidden.nwords32++] = __builtin_bswap32((uint32_t)word);
    }
}

static void hide_bytes(const uint8_t *bytes, size_t nbytes, uint8_t pad)
{
    uint8_t *to = hidden.bytes[hidden.nstrings];

    for (size_t i = 0; i < nbytes; i++)
        to[i] = bytes[i] ^ pad;
    hidden.nbytes[hidden.nstrings++] = nbytes;
}

static void hide_state(const hl_state *state)
{
    const unsigned nwords = alg->ending >= HL_COUNTED ? 8 : alg->nwords; /* counters are no secrets */

    const unsigned first = has_ctx(alg) ? 0 : 16; /* BLAKE3: the key; chunks have no state of their own */

    for (unsigned w = first; w < first + nwords; w++)
        hide_word(alg->word_nbytes == 8 ? state->w64[w] : state->w32[w], alg->word_nbytes);
}

/* The state of the first hash after the whole blocks of data. */
static void hide_state_after(const hl_ctx *from, const hl_slice *message)
{
    static hl_blake3_ctx copy;

    if (has_ctx(alg))
        copy.ctx = *from;
    else
        copy = *(const hl_blake3_ctx *)(const void *)from;
    hl_update(&copy.ctx, message->data, message->nbytes);
    hide_state(&copy.ctx.state);
    if (!has_ctx(alg))
        hide_bytes(copy.subtrees[0], sizeof copy.subtrees[0], 0);
}

/* The part of the states that the digest does not show, for each of its blocks. */
static void hide_squeezed(const hl_ctx *from, const hl_slice *message)
{
    uint8_t digest[LONG_NBYTES];
    hl_ctx copy = *from;

    hl_update(&copy, message->data, message->nbytes);
    for (size_t at = 0; at < LONG_NBYTES; at += alg->block_nbytes) {
        hl_squeeze(&copy, digest, LONG_NBYTES - at < alg->block_nbytes ? LONG_NBYTES - at : alg->block_nbytes);
        for (unsigned w = alg->block_nbytes / 8; w < alg->nwords; w++)
            hide_word(copy.state.w64[w], 8);
    }
}

static void hide_all(void)
{
    static const uint32_t sha256_k[16] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
                                          0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
                                          0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174};
    uint8_t key0[HL_BLOCK_MAX_NBYTES] = {0};
    const size_t held = secret_nbytes > alg->block_nbytes ? alg->digest_nbytes : secret_nbytes;

    memset(&hidden, 0, sizeof hidden);
    if (!has_hmac(alg)) {
        hide_state(&inner[0]->state);
        hide_bytes(secret, secret_nbytes, 0);
        return;
    }
    hide_state(&key.inner), hide_state(&key.outer);
    if (secret_nbytes > alg->block_nbytes)
        oracle(alg, secret, secret_nbytes, key0);
    else
        memcpy(key0, secret, secret_nbytes);
    hide_bytes(secret, secret_nbytes, 0);
    hide_bytes(key0, held, 0);
    hide_bytes(key0, held, 0x36);
    hide_bytes(key0, held, 0x5c);
    for (size_t i = 0; i + 4 <= held && alg->word_nbytes == 4; i += 4)
        for (unsigned pad = 0x36; pad <= 0x5c; pad += 0x5c - 0x36) {
            uint32_t word = 0;
            for (unsigned b = 0; b < 4; b++)
                word |= (uint32_t)(key0[i + b] ^ pad) << (alg->big_endian ? 24 - 8 * b : 8 * b);
            hide_word(word, 4);
            if (alg->body == HL_BODY_SHA256)
                hide_word(word + sha256_k[i / 4], 4);
        }
    memset(key0, 0, sizeof key0);
}

/* Words are searched for at any multiple of 4 bytes, runs of bytes anywhere. `first` is the place of the first find. */
static size_t count_remains(const uint8_t *from, size_t nbytes, size_t *first)
{
    size_t found = 0;

    for (size_t at = 0; at + RUN <= nbytes; at++) {
        uint32_t word32;
        uint64_t word64;
        size_t here = 0;
        memcpy(&word64, from + at, 8);
        if (word64 == 0 || word64 == UINT64_C(0x5a5a5a5a5a5a5a5a))
            continue;
        memcpy(&word32, from + at, 4);
        for (size_t i = 0; at % 4 == 0 && i < hidden.nwords32; i++)
            here += hidden.words32[i] == word32;
        for (size_t i = 0; at % 4 == 0 && i < hidden.nwords64; i++)
            here += hidden.words64[i] == word64;
        for (size_t s = 0; s < hidden.nstrings; s++)
            for (size_t i = 0; i + RUN <= hidden.nbytes[s]; i++)
                here += hidden.bytes[s][i] == from[at] && memcmp(hidden.bytes[s] + i, from + at, RUN) == 0;
        if (here > 0 && found == 0)
            *first = at;
        found += here;
    }
    return found;
}

/* ---- The calls ---- */

static const struct call {
    const char *what;
    enum { KEY_INIT, ONE, MANY, VERIFY, MANY_KEYS, BEGUN, AGAIN, LONG, PBKDF2, STREAM_INIT, STREAM_UPDATE, STREAM_FINAL,
           STREAMS_UPDATE, STREAMS_FINAL } kind;
    size_t count;  /* KEY_INIT: bytes of key beyond one block */
    size_t nbytes; /* length of each message; 0: all lengths */
} calls[] = {
    {"hl_hmac_key_init, short", KEY_INIT, 0, 0},
    {"hl_hmac_key_init, longer than a block", KEY_INIT, 23, 0},
    {"hl_hmac_key_init, longer than two", KEY_INIT, SECRET_MAX_NBYTES - HL_BLOCK_MAX_NBYTES, 0},
    {"hl_hmac", ONE, 1, 20},
    {"hl_hmac of blocks", ONE, 1, 1024},
    {"hl_hmac_verify", VERIFY, 1, 20},
    {"hl_hmac_verify, wrong", VERIFY, 0, 20},
    {"hl_hmac_many of 1", MANY, 1, 300},
    {"hl_hmac_many of 2", MANY, 2, 64},
    {"hl_hmac_many of 12", MANY, 12, 64},
    {"hl_hmac_many of 12, all lengths", MANY, 12, 0},
    {"hl_hmac_many of 40", MANY, 40, 20},
    {"hl_hmac_many of 40, whole blocks", MANY, 40, 256},
    {"hl_hmac_many of 40, all lengths", MANY, 40, 0},
    {"hl_hmac_many of 200, in step", MANY, 200, 64},
    {"hl_hmac_many of 200, all lengths", MANY, 200, 0},
    {"hl_run with a key each, 1", MANY_KEYS, 1, 300},
    {"hl_run with a key each, 12", MANY_KEYS, 12, 64},
    {"hl_run with a key each, 40 of all lengths", MANY_KEYS, 40, 0},
    {"hl_run from a secret", BEGUN, 1, 300},
    {"hl_run from a secret, 12", BEGUN, 12, 20},
    {"hl_run from a secret, 40 of all lengths", BEGUN, 40, 0},
    {"hl_run from a secret, hashed again by another body", AGAIN, 1, 300},
    {"hl_run from a secret, hashed again by another body, 2", AGAIN, 2, 20},
    {"hl_run from a secret, hashed again by another body, 12", AGAIN, 12, 64},
    {"hl_run from a secret, long digests of 1", LONG, 1, 300},
    {"hl_run from a secret, long digests of 2", LONG, 2, 20},
    {"hl_run from a secret, long digests of 12", LONG, 12, 64},
    {"hl_run from a secret, long digests of 40, all lengths", LONG, 40, 0},
    {"hl_pbkdf2_many of 1", PBKDF2, 1, 20},
    {"hl_pbkdf2_many of 20", PBKDF2, 20, 40},
    {"hl_hmac_init", STREAM_INIT, 0, 0},
    {"hl_hmac_update, less than a block", STREAM_UPDATE, 0, 20},
    {"hl_hmac_update, blocks", STREAM_UPDATE, 0, 900},
    {"hl_hmac_final", STREAM_FINAL, 0, 0},
    {"hl_hmac_update_many of 1", STREAMS_UPDATE, 1, 900},
    {"hl_hmac_update_many of 12", STREAMS_UPDATE, 12, 300},
    {"hl_hmac_update_many of 40, all lengths", STREAMS_UPDATE, 40, 0},
    {"hl_hmac_final_many of 12", STREAMS_FINAL, 12, 20},
    {"hl_hmac_final_many of 40, all lengths", STREAMS_FINAL, 40, 0},
};
#define CALL(expression) \
    do { \
        status = (expression); \
        SAVE_GENERAL(); \
        SAVE_VECTORS(); \
    } while (0)

struct result {
    const struct call *call; /* NULL: the call of SLH-DSA */
    unsigned slh;
    hl_status status;
    const uint8_t *frame;
};

static void prepare(const struct call *c)
{
    for (size_t i = 0; i < COUNT; i++)
        messages[i] = (hl_slice){pool + 64 * i, c->nbytes != 0 ? c->nbytes : 97 * i * i % 1999};
    if (!has_hmac(alg)) { /* more than a block, so that the state is secret */
        secret_nbytes = alg->block_nbytes + (c->nbytes == 0 ? 0 : 48);
        memset(ctxs, 0, sizeof ctxs); /* another algorithm's longer block */
        for (size_t i = 0; i < COUNT && !has_ctx(alg); i++) { /* the key itself, and a chunk if bytes follow */
            secret_nbytes = 32;
            hl_blake3_init(&trees[i], secret);
            inner[i] = &trees[i].ctx;
            if (c->kind >= STREAM_UPDATE)
                hl_update(inner[i], pool, 1100 + 100 * (c->nbytes == 0));
        }
        for (size_t i = 0; i < COUNT && has_ctx(alg); i++) {
            const hl_blake2_parameters keyed = {.key = secret, .key_nbytes = 32};
            hl_init(&ctxs[i].inner, alg->alg);
            if (alg->ending == HL_COUNTED)
                hl_blake2_init(&ctxs[i].inner, alg->alg, alg->digest_nbytes, &keyed);
            hl_update(&ctxs[i].inner, secret, secret_nbytes);
            inner[i] = &ctxs[i].inner;
        }
        return;
    }
    secret_nbytes = c->kind != KEY_INIT ? 48 : c->count == 0 ? 40 : alg->block_nbytes + c->count;
    hl_hmac_key_init(&key, alg->alg, secret, secret_nbytes);
    hl_hmac(&key, messages[0].data, messages[0].nbytes, tags);
    if (c->kind == VERIFY)
        tags[3] ^= c->count == 0;
    for (size_t i = 0; i < COUNT; i++) {
        keys[i] = key;
        passwords[i] = (hl_slice){secret, secret_nbytes};
        all[i] = &ctxs[i];
        inner[i] = &ctxs[i].inner;
        hl_hmac_init(all[i], &key);
        if (c->kind == STREAMS_FINAL)
            hl_hmac_update(all[i], messages[i].data, messages[i].nbytes);
    }
    if (c->kind >= STREAM_UPDATE)
        hl_hmac_init(&ctx, &key);
    if (c->kind == STREAM_UPDATE && c->nbytes < 64)
        hl_hmac_update(&ctx, pool, 177);
}

static int is_defined(const struct call *c)
{
    if (alg->ending >= HL_COUNTED && c->kind >= STREAM_UPDATE && c->kind <= STREAMS_FINAL)
        return 1;
    return has_hmac(alg) ? c->kind != LONG : c->kind == BEGUN || c->kind == AGAIN ||
                                                     (c->kind == LONG && alg->ending == HL_XOF);
}

static uint32_t other_body(void)
{
    return other_alg(alg);
}

static hl_status make_call(const struct call *c)
{
    hl_status status = HL_OK;

    if (alg->ending >= HL_COUNTED && c->kind >= STREAM_UPDATE) { /* with a key */
        switch (c->kind) {
        case STREAM_UPDATE: CALL(hl_update(inner[0], messages[0].data, messages[0].nbytes)); break;
        case STREAM_FINAL: CALL(hl_final(inner[0], tags)); break;
        case STREAMS_UPDATE: CALL(hl_update_many(inner, messages, c->count)); break;
        default: CALL(hl_final_many(inner, c->count, tags)); break;
        }
        return status;
    }
    switch (c->kind) {
    case KEY_INIT: CALL(hl_hmac_key_init(&key, alg->alg, secret, secret_nbytes)); break;
    case ONE: CALL(hl_hmac(&key, messages[0].data, messages[0].nbytes, tags)); break;
    case MANY: CALL(hl_hmac_many(&key, messages, c->count, tags)); break;
    case VERIFY: CALL(hl_hmac_verify(&key, messages[0].data, messages[0].nbytes, tags, alg->digest_nbytes)); break;
    case MANY_KEYS: CALL(hl_run(&(hl_job){.nbytes = sizeof(hl_job), .messages = {.count = c->count, .base = messages},
                                          .digests = tags, .keys = keys, .key_stride = sizeof keys[0]})); break;
    case LONG:
    case AGAIN:
    case BEGUN: CALL(hl_run(&(hl_job){.nbytes = sizeof(hl_job), .alg = (uint32_t)alg->alg,
                                      .is_secret = alg->ending < HL_COUNTED,
                                      .messages = {.count = c->count, .base = messages}, .digests = tags,
                                      .begin = inner[0], .again = c->kind == AGAIN ? other_body() : 0,
                                      .digest_nbytes = c->kind == LONG ? LONG_NBYTES : 0,
                                      .begin_stride = c->nbytes != 0 && has_ctx(alg) ? sizeof ctxs[0] : 0})); break;
    case PBKDF2: CALL(hl_pbkdf2_many(alg->alg, passwords, messages, 3, c->count, tags, alg->digest_nbytes)); break;
    case STREAMS_UPDATE: CALL(hl_hmac_update_many(all, messages, c->count)); break;
    case STREAMS_FINAL: CALL(hl_hmac_final_many(all, c->count, tags)); break;
    case STREAM_INIT: CALL(hl_hmac_init(&ctx, &key)); break;
    case STREAM_UPDATE: CALL(hl_hmac_update(&ctx, messages[0].data, messages[0].nbytes)); break;
    case STREAM_FINAL: CALL(hl_hmac_final(&ctx, tags)); break;
    }
    return status;
}

/* ---- SLH-DSA ---- */

static struct {
    uint8_t scratch[200000], signature[49856], secret[128], seeds[96];
    hl_slh_task task;
} slh;
static const hl_slh_info *set;
static const hl_slh_message slh_message = {"message", 7, NULL, 0, HL_SLH_INTERNAL, 0};
static const hl_slh_work slh_work = {slh.scratch, sizeof slh.scratch, NULL, NULL};

/* A value of n bytes, and its words in a block of SHA-256. Not if the signature shows it. */
static void hide_value(const uint8_t *value)
{
    for (size_t i = 0; i + set->n <= sizeof slh.signature; i++)
        if (memcmp(slh.signature + i, value, set->n) == 0)
            return;
    hide_bytes(value, set->n, 0);
    for (size_t i = 2; i + 4 <= set->n && !set->is_shake; i += 4) /* values are at 22, FIPS 205 section 11.2 */
        hidden.words32[hidden.nwords32++] = (uint32_t)value[i] << 24 | (uint32_t)value[i + 1] << 16 |
                                            (uint32_t)value[i + 2] << 8 | value[i + 3];
}

/* PRF, FIPS 205 section 11: the secret value at an address whose words are these. */
static void hide_secret(unsigned layer, uint64_t tree, unsigned type, unsigned word1, unsigned word2, unsigned word3)
{
    const hl_alg_info *f = hl_alg_find(set->is_shake ? HL_SHAKE256 : HL_SHA256);
    const unsigned before = set->is_shake ? set->n + 4 : 65; /* the last byte of the layer is at before - 1 */
    const unsigned behind = before + (set->is_shake ? 12 : 8), at = behind + (set->is_shake ? 4 : 1);
    uint8_t input[160] = {0}, value[64];

    memcpy(input, slh.seeds + 2 * set->n, set->n);
    input[before - 1] = (uint8_t)layer;
    for (unsigned i = 0; i < 8; i++)
        input[behind - 1 - i] = (uint8_t)(tree >> 8 * i);
    input[at - 1] = (uint8_t)type;
    input[at + 3] = (uint8_t)word1, input[at + 7] = (uint8_t)word2;
    input[at + 10] = (uint8_t)(word3 >> 8), input[at + 11] = (uint8_t)word3;
    memcpy(input + at + 12, slh.seeds, set->n);
    oracle(f, input, at + 12 + set->n, value);
    hide_value(value);
}

static void hide_slh(void)
{
    const unsigned leaves = 1u << set->h / set->d;

    memset(&hidden, 0, sizeof hidden);
    hide_value(slh.seeds), hide_value(slh.seeds + set->n);
    if (!set->is_shake) { /* the key of PRF_msg */
        alg = hl_alg_find(set->n == 16 ? HL_SHA256 : HL_SHA512);
        hl_hmac_key_init(&key, alg->alg, slh.seeds + set->n, set->n);
        hide_state(&key.inner), hide_state(&key.outer);
    }
    for (unsigned i = 0; i < 4; i++) /* chains of the top layer's first and last keys */
        hide_secret(set->d - 1, 0, 5, i / 2 * (leaves - 1), i % 2 * (2 * set->n + 2), 0);
    if (set->is_shake) { /* FORS: the first and the last of all trees. Section 9.2 says where they are */
        uint8_t digest[49], input[3 * 32 + 7];
        const unsigned nfors = (set->k * set->a + 7) / 8, ntree = (set->h - set->h / set->d + 7) / 8;
        uint64_t tree = 0;
        memcpy(input, slh.signature, set->n), memcpy(input + set->n, slh.secret + 2 * set->n, 2 * set->n);
        memcpy(input + 3 * set->n, slh_message.data, 7);
        oracle_long(hl_alg_find(HL_SHAKE256), input, 3 * set->n + 7, digest, sizeof digest);
        for (unsigned i = 0; i < ntree; i++)
            tree = tree << 8 | digest[nfors + i];
        tree &= (UINT64_C(1) << (set->h - set->h / set->d)) - 1; /* not of 256s */
        hide_secret(0, tree, 6, digest[nfors + ntree] & (leaves - 1), 0, 0);
        hide_secret(0, tree, 6, digest[nfors + ntree] & (leaves - 1), 0, (set->k << set->a) - 1);
    }
}

enum { SLH_KEYGEN, SLH_SIGN, SLH_BEGIN_KEYGEN, SLH_BEGIN_SIGN, SLH_FORS, SLH_LAST, SLH_END, SLH_CALLS };
static const char *const slh_calls[] = {"hl_slh_keygen", "hl_slh_sign", "hl_slh_begin_keygen", "hl_slh_begin_sign",
                                        "hl_slh_part, the first", "hl_slh_part, the last", "hl_slh_end"};

static void prepare_slh(unsigned what)
{
    hl_slh_keygen(set->set, slh.seeds, slh.secret, &slh_work);
    hl_slh_begin_sign(&slh.task, set->set, slh.secret, &slh_message, NULL, slh.signature);
    for (uint32_t i = 0; i < slh.task.nparts; i++)
        if (what == SLH_END || what == SLH_KEYGEN)
            hl_slh_part(&slh.task, i, slh.scratch, sizeof slh.scratch);
    if (what == SLH_KEYGEN) /* the signature, which shows some values */
        hl_slh_end(&slh.task, slh.scratch, sizeof slh.scratch);
    if (what == SLH_BEGIN_KEYGEN || what == SLH_BEGIN_SIGN)
        hl_slh_drop(&slh.task);
    memset(slh.scratch, 0, sizeof slh.scratch);
}

static hl_status make_slh_call(unsigned what)
{
    hl_status status = HL_OK;

    switch (what) {
    case SLH_KEYGEN: CALL(hl_slh_keygen(set->set, slh.seeds, slh.secret, &slh_work)); break;
    case SLH_SIGN: CALL(hl_slh_sign(set->set, slh.secret, &slh_message, NULL, slh.signature, &slh_work)); break;
    case SLH_BEGIN_KEYGEN: CALL(hl_slh_begin_keygen(&slh.task, set->set, slh.seeds, slh.secret)); break;
    case SLH_BEGIN_SIGN:
        CALL(hl_slh_begin_sign(&slh.task, set->set, slh.secret, &slh_message, NULL, slh.signature));
        break;
    case SLH_FORS: CALL(hl_slh_part(&slh.task, 0, slh.scratch, sizeof slh.scratch)); break;
    case SLH_LAST: CALL(hl_slh_part(&slh.task, slh.task.nparts - 1, slh.scratch, sizeof slh.scratch)); break;
    default: CALL(hl_slh_end(&slh.task, slh.scratch, sizeof slh.scratch)); break;
    }
    return status;
}

static void *run_thread(void *arg)
{
    struct result *r = arg;

    LOAD_VECTORS(); /* zeros: a thread begins with the registers of the thread that made it */
    r->status = r->call != NULL ? make_call(r->call) : make_slh_call(r->slh);
    /* No function call here: its frame would overwrite the call's. */
    for (size_t i = 0; i < STACK_NBYTES / 8; i++)
        left[i] = ((volatile uint64_t *)(void *)stack)[i];
    r->frame = (uint8_t *)__builtin_frame_address(0);
    return NULL;
}

static void run_and_search(struct result *r, const char *what, hl_status right, const pthread_attr_t *attr)
{
    pthread_t thread;

    memset(stack, PAINT, STACK_NBYTES);
    memset(&registers, 0, sizeof registers);
    if (pthread_create(&thread, attr, run_thread, r) != 0) {
        perror("pthread_create");
        exit(2);
    }
    pthread_join(thread, NULL);
    CHECK(r->status == right, "%s: %s", what, hl_strerror(r->status));
    size_t at = 0, n = count_remains((const uint8_t *)left, STACK_NBYTES, &at);
    CHECK(n == 0, "%s: %zu words or runs, %zu bytes below the caller", what, n, (size_t)(r->frame - (stack + at)));
    n = count_remains(registers.vectors[0], sizeof registers.vectors, &at);
    CHECK(n == 0, "%s: %zu in vector registers, the first in %zu", what, n, at / 64);
    n = count_remains((const uint8_t *)registers.general, sizeof registers.general, &at);
    CHECK(n == 0, "%s: %zu in general registers", what, n);
}

/* Prepared here, on the stack of another thread, so that the search does not find data of the test itself. */
static void check_call(const struct call *c, const pthread_attr_t *attr)
{
    struct result r = {.call = c};

    prepare(c);
    make_call(c); /* one call before the measured one: the dynamic linker looks up memcpy, and saves registers for that
                   */
    prepare(c);
    if (c->kind == PBKDF2)
        make_call(c);
    hide_all();
    if (c->kind == VERIFY) { /* the tag of a message that the key's owner may never have sent */
        uint8_t tag[HL_DIGEST_MAX_NBYTES];
        oracle_hmac(alg, secret, secret_nbytes, messages[0].data, messages[0].nbytes, tag);
        hide_bytes(tag, alg->digest_nbytes, 0);
    }
    if (alg->ending >= HL_COUNTED && c->kind >= STREAM_UPDATE)
        hide_state_after(inner[0], &messages[0]);
    else if (c->kind == STREAM_UPDATE)
        hide_state_after(&ctx.inner, &messages[0]);
    if (c->kind == PBKDF2) /* the derived keys, which `tags` already has */
        hide_bytes(tags, 2 * alg->digest_nbytes, 0);
    if (c->kind == STREAMS_UPDATE && has_hmac(alg))
        for (size_t i = 0; i < 4; i++)
            hide_state_after(&ctx.inner, &messages[i]);
    if (c->kind == LONG)
        for (size_t i = 0; i < 2; i++)
            hide_squeezed(&ctxs[0].inner, &messages[i]);
    if (c->kind == AGAIN) /* the digests that are hashed again */
        for (size_t i = 0; i < 2; i++) {
            uint8_t digest[HL_DIGEST_MAX_NBYTES];
            hl_blake3_ctx begun = trees[0];
            if (has_ctx(alg))
                begun.ctx = *inner[0];
            hl_update(&begun.ctx, messages[i].data, messages[i].nbytes);
            hl_final(&begun.ctx, digest);
            hide_bytes(digest, alg->digest_nbytes, 0);
        }
    /* in the window of the lane driver */
    if ((c->kind == MANY || c->kind == MANY_KEYS || c->kind == BEGUN || c->kind == LONG) && c->nbytes == 0)
        for (size_t i = 9; i < 12; i++)
            hide_state_after(inner[0], &messages[i]);
    run_and_search(&r, c->what, c->kind == VERIFY && c->count == 0 ? HL_ETAG : HL_OK, attr);
}

static void check_slh_call(unsigned what, const pthread_attr_t *attr)
{
    struct result r = {.slh = what};
    size_t at = 0;

    prepare_slh(SLH_KEYGEN);
    hide_slh();
    prepare_slh(what);
    make_slh_call(what);
    prepare_slh(what);
    run_and_search(&r, slh_calls[what], HL_OK, attr);
    const size_t n = count_remains(slh.scratch, sizeof slh.scratch, &at);
    CHECK(n == 0, "%s: %zu words or runs, the first at %zu of the scratch", slh_calls[what], n, at);
}

int main(int argc, char **argv)
{
    pthread_attr_t attr;

    test_start(argc, argv);
#if !defined(__OPTIMIZE__) && defined(TEST_BARE_CORE)
    const char *without = "without optimisation frames are longer than the stack that a call overwrites";
#else
    const char *without = UNDER_SANITIZER ? "a sanitizer keeps variables in places of its own" : NULL;
#endif
    if (without != NULL) {
        test_case("nothing to look for");
        test_skip("what remains on the stack (%s)", without);
        return test_end();
    }
    find_registers();
    stack = mmap(NULL, STACK_NBYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_init(&attr);
    if (stack == MAP_FAILED || pthread_attr_setstack(&attr, stack, STACK_NBYTES) != 0) {
        perror("a stack for the thread");
        return 2;
    }
    pool = random_pool(64 * COUNT + 4000);
    random_fill(secret, sizeof secret);
    for (size_t a = 0; a < hl_alg_count(); a++)
        for (size_t i = 0; i <= hl_isa_count(); i++) {
            alg = hl_alg_at(a);
            const char *isa = test_isa(i, "what secrets of %s leave behind", alg->name);
            if (isa == NULL)
                continue;
            test_case("what secrets of %s leave behind, %s", alg->name, isa);
            for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++)
                if (is_defined(&calls[c]))
                    check_call(&calls[c], &attr);
        }
    random_fill(slh.seeds, sizeof slh.seeds);
    static const hl_slh sets[] = {HL_SLH_SHAKE_128F, HL_SLH_SHA2_192F, HL_SLH_SHA2_128F, HL_SLH_SHAKE_256F};
    for (size_t s = 0; s < (test_all ? sizeof sets / sizeof *sets : 2); s++)
        for (size_t i = 0; i <= hl_isa_count(); i++) {
            set = hl_slh_find(sets[s]);
            if (set == NULL || hl_slh_keygen(set->set, slh.seeds, slh.secret, &slh_work) == HL_EALG)
                continue;
            const char *isa = test_isa(i, "what %s leaves behind", set->name);
            test_case("what %s leaves behind, %s", set->name, isa == NULL ? "skipped" : isa);
            for (unsigned c = 0; isa != NULL && c < SLH_CALLS; c++)
                check_slh_call(c, &attr);
        }
    hl_restrict(0);
    return test_end();
}
