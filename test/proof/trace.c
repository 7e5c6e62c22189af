/* trace.c: writes down what the core's bodies (core/src/alg) compute, as lists of expressions.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * In the vocabulary below a lane word is the number of an expression: an operation prints a line and returns the line's
 * number. A body has no branch that depends on data (vectors allow none), so one run writes down all that it computes.
 * The bodies depend on two properties of a vocabulary: TRACE_LANES (1 or more) and TRACE_STAGES (0 or 1).
 *
 *   run NAME FUNCTION N         the lines that follow are of this function; N: the number of blocks
 *   NUMBER state W              word W of the state before the first block
 *   NUMBER word BYTE BIG        the word of the message at this byte, big-endian or little-endian
 *   NUMBER schedule T           word T of a schedule that the function is given
 *   NUMBER const C
 *   NUMBER add|xor|xor3|ch|maj|orn_xor|rol|shr OPERANDS...
 *   out W NUMBER                word W of the state, or of the schedule, when the function has returned
 *   iv NAME WORDS...            an initial value
 */
#include "core.h"

#include <stdio.h>
#include <string.h>

#define LV_ISA     trace
#define LV_KERNEL
#define LV_FN      static inline
#define LV_SHARED  static
#define LV32_LANES TRACE_LANES
#define LV64_LANES TRACE_LANES
#define LV_STAGES  TRACE_STAGES

typedef uint32_t lv32;
typedef uint64_t lv64;
typedef struct {
    char none;
} lv32_staging, lv64_staging;

/* The numbers of expressions. No constant of the algorithms is among them. */
#define FIRST 0x7ace0000u
static uint32_t next_number;
static const uint8_t message[3 * 128];
/* The addresses of the block that was staged last, part by part. */
static const uint8_t *staged_from[4];

#define EXPRESSION(format, ...) (printf("%u " format "\n", next_number, __VA_ARGS__), next_number++)
#define WIDE(x)                 ((unsigned long long)(x))

/* A splat of an expression's number is a word of a given schedule. */
#define VOCABULARY(lv, word) \
    LV_FN lv lv##_load(const word *p) { return *p; } \
    LV_FN void lv##_store(word *p, lv x) { *p = x; } \
    LV_FN lv lv##_splat(word c) { return c >= FIRST && c < next_number ? c : EXPRESSION("const %llu", WIDE(c)); } \
    LV_FN lv lv##_add(lv x, lv y) { return EXPRESSION("add %llu %llu", WIDE(x), WIDE(y)); } \
    LV_FN lv lv##_xor(lv x, lv y) { return EXPRESSION("xor %llu %llu", WIDE(x), WIDE(y)); } \
    LV_FN lv lv##_xor3(lv x, lv y, lv z) { return EXPRESSION("xor3 %llu %llu %llu", WIDE(x), WIDE(y), WIDE(z)); } \
    LV_FN lv lv##_ch(lv x, lv y, lv z) { return EXPRESSION("ch %llu %llu %llu", WIDE(x), WIDE(y), WIDE(z)); } \
    LV_FN lv lv##_maj(lv x, lv y, lv z) { return EXPRESSION("maj %llu %llu %llu", WIDE(x), WIDE(y), WIDE(z)); } \
    LV_FN lv lv##_orn_xor(lv x, lv y, lv z) \
    { \
        return EXPRESSION("orn_xor %llu %llu %llu", WIDE(x), WIDE(y), WIDE(z)); \
    } \
    LV_FN lv lv##_rol(lv x, int n) { return EXPRESSION("rol %llu %d", WIDE(x), n); } \
    LV_FN lv lv##_shr(lv x, int n) { return EXPRESSION("shr %llu %d", WIDE(x), n); } \
    LV_FN void lv##_words(lv w[16], const uint8_t *block, int big_endian) \
    { \
        for (unsigned i = 0; i < 16; i++) \
            w[i] = EXPRESSION("word %td %d", block - message + (ptrdiff_t)(i * sizeof(word)), big_endian); \
    } \
    LV_FN void lv##_load_block(lv w[16], const uint8_t *const msg[], size_t offset, int big_endian) \
    { \
        lv##_words(w, msg[0] + offset, big_endian); \
    } \
    LV_FN void lv##_stage(lv##_staging *to, const uint8_t *const msg[], size_t offset, unsigned part, int big_endian) \
    { \
        (void)to; \
        staged_from[part] = msg[0] + offset + big_endian; /* words are aligned: the lowest bit is free */ \
    } \
    LV_FN void lv##_staged(lv w[16], const lv##_staging *from) \
    { \
        const int big_endian = (staged_from[0] - message) & 1; \
        (void)from; \
        lv##_words(w, staged_from[0] - big_endian, big_endian); \
        for (unsigned part = 1; part < 4; part++) \
            if (staged_from[part] != staged_from[0]) \
                w[0] = EXPRESSION("missing %u", part); \
    } \
    LV_FN void lv##_load_padded(lv w[16], const struct hli_whole *whole, const uint8_t *const data[], \
                                const size_t nbytes[], unsigned b, int big_endian) \
    { \
        (void)whole, (void)nbytes; \
        lv##_words(w, data[0] + b * 16 * sizeof(word), big_endian); \
    } \
    LV_FN void lv##_digests(const word *state, unsigned nwords, int big_endian, size_t nbytes, unsigned n, \
                            uint8_t *const digests[]) \
    { \
        (void)big_endian, (void)nbytes, (void)n; \
        memcpy(digests[0], state, nwords * TRACE_LANES * sizeof *state); \
    }
VOCABULARY(lv32, uint32_t)
VOCABULARY(lv64, uint64_t)

#include "lanes/kernels.inc.h"

#define NUMBERS(word, array, n, stride, what) \
    for (unsigned i = 0; i < (n); i++) \
        (array)[i * (stride)] = (word)EXPRESSION(what " %u", i)
#define OUT(array, n, stride) \
    for (unsigned i = 0; i < (n); i++) \
        printf("out %u %llu\n", i, WIDE((array)[i * (stride)]))
#define BEGIN(name, function, nblocks) (next_number = FIRST, printf("run %s %s %u\n", name, function, nblocks))

/* Whole messages begin in a given state; the digests are the words of the last one. */
#if TRACE_STAGES
#  define WHOLE_KERNEL(name, word, nwords, nscheduled) \
      for (unsigned nblocks = 1; nblocks <= 2; nblocks++) { \
          word begin[8] = {0}, state[8 * TRACE_LANES] = {0}; \
          const struct hli_whole whole = {.begin = begin, .nblocks = nblocks}; \
          BEGIN(#name, "blocks", nblocks); \
          NUMBERS(word, begin, nwords, 1, "state"); \
          hli_##name##_whole_trace(&whole, msg, NULL, &(uint8_t *){(uint8_t *)state}); \
          OUT(state, nwords, TRACE_LANES); \
      }
#else
#  define WHOLE_KERNEL(name, word, nwords, nscheduled)
#endif

#define LANE_KERNELS(name, word, nwords, nscheduled) \
    WHOLE_KERNEL(name, word, nwords, nscheduled) \
    for (unsigned nblocks = 1; nblocks <= 3; nblocks++) { \
        word state[8 * TRACE_LANES] = {0}; \
        BEGIN(#name, "blocks", nblocks); \
        NUMBERS(word, state, nwords, TRACE_LANES, "state"); \
        hli_##name##_blocks_trace(state, msg, nblocks); \
        OUT(state, nwords, TRACE_LANES); \
    } \
    { \
        word state[8 * TRACE_LANES] = {0}, schedule[nscheduled]; \
        BEGIN(#name, "scheduled", 1); \
        NUMBERS(word, state, nwords, TRACE_LANES, "state"); \
        NUMBERS(word, schedule, nscheduled, 1, "schedule"); \
        hli_##name##_scheduled_trace(state, schedule); \
        OUT(state, nwords, TRACE_LANES); \
    }

/* The addition of the constant is one of C: the output is an expression's number plus the constant. */
#define SCHEDULE_KERNEL(name, word, nwords, nscheduled) \
    { \
        word schedule[nscheduled]; \
        BEGIN(#name, "schedule", 1); \
        hli_##name##_schedule_trace(message, schedule); \
        OUT(schedule, nscheduled, 1); \
    }

#define ALL(KERNELS) \
    KERNELS(sha1, uint32_t, 5, 80) \
    KERNELS(sha256, uint32_t, 8, 64) \
    KERNELS(sha512, uint64_t, 8, 80) \
    KERNELS(ripemd160, uint32_t, 5, 160) \
    KERNELS(md5, uint32_t, 4, 64)

#define IV(name) \
    printf("iv " #name); \
    for (unsigned i = 0; i < sizeof(hli_##name##_iv) / sizeof(hli_##name##_iv[0]); i++) \
        printf(" %llu", WIDE(hli_##name##_iv[i])); \
    putchar('\n')

int main(void)
{
    const uint8_t *const msg[] = {message, NULL};

    ALL(LANE_KERNELS)
#if TRACE_LANES == 1
    ALL(SCHEDULE_KERNEL)
#endif
    IV(sha1);
    IV(sha224);
    IV(sha256);
    IV(sha384);
    IV(sha512);
    IV(sha512_224);
    IV(sha512_256);
    return 0;
}
