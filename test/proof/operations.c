/* operations.c: holds the operations of one vocabulary (core/src/lanes/<isa>.h) against their definition, which is the
 * list in lanes/kernels.inc.h, on the machine that it runs on.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Compiled with VOCABULARY, the file's name, and RUNS_HERE, an expression that is true if this CPU has its
 * instructions. Exit status: 0 all operations are as defined, 1 one is not, 3 this CPU lacks the instructions.
 *
 *   boolean functions   all 8 rows of the truth table at every bit, beside random bits
 *   additions           a carry from every bit to every higher one, beside lanes of random words
 *   rotations, shifts   by every count: each single bit, its complement, random words
 *   loads of blocks     each byte of the messages has a number; two runs, for the low and the high half of the numbers,
 *                       show where each byte went
 *   whole messages      their blocks, for every length that is one block or two with its padding, of one length and of
 *                       several; digests, for each number of lanes and bytes
 *   rows                stored as loaded, a splat in every lane
 *
 * Lanes have different operands, so that a result in the wrong lane is found.
 */
#include "core.h"

#include <stdio.h>
#include <string.h>

#define HLI_NEW_POINTER(p) ((void)(p))
#include VOCABULARY
#if defined(LV_STAGES)
#  include "edges.c" /* what follows a message's end */
#endif

#define RANDOM_RUNS 200

static unsigned nwrong, nchecks;

static uint64_t random64(void)
{
    static uint64_t x = UINT64_C(0x9e3779b97f4a7c15);
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

static void check(int right, const char *what, unsigned detail)
{
    nchecks++;
    if (!right && nwrong++ < 20)
        printf("FAILED: %s: %s (%u)\n", VOCABULARY, what, detail);
}

/* The definitions. */
#define DEFINED_xor(x, y)        ((x) ^ (y))
#define DEFINED_xor3(x, y, z)    ((x) ^ (y) ^ (z))
#define DEFINED_ch(x, y, z)      (((x) & (y)) | (~(x) & (z)))
#define DEFINED_maj(x, y, z)     (((x) & (y)) | ((x) & (z)) | ((y) & (z)))
#define DEFINED_orn_xor(x, y, z) (((x) | ~(y)) ^ (z))

/* Operands and the result of an operation, a word a lane. */
#define DEFINE_ROWS(lv, word, nlanes) \
    static word lv##_x[nlanes] __attribute__((aligned(64))), lv##_y[nlanes] __attribute__((aligned(64))), \
        lv##_z[nlanes] __attribute__((aligned(64))), lv##_out[nlanes] __attribute__((aligned(64))); \
    static void lv##_random(void) \
    { \
        for (unsigned l = 0; l < (nlanes); l++) { \
            lv##_x[l] = (word)random64(); \
            lv##_y[l] = (word)random64(); \
            lv##_z[l] = (word)random64(); \
        } \
    }

/* In the first 8 runs bit b has row (b + run + lane) % 8 of the truth table. The other runs have random bits. */
#define DEFINE_BOOLEAN(lv, word, nlanes, op, ...) \
    LV_KERNEL void check_##lv##_##op(void) \
    { \
        for (unsigned run = 0; run < 8 + RANDOM_RUNS; run++) { \
            lv##_random(); \
            for (unsigned l = 0; run < 8 && l < (nlanes); l++) { \
                lv##_x[l] = lv##_y[l] = lv##_z[l] = 0; \
                for (unsigned b = 0; b < 8 * sizeof(word); b++) { \
                    const unsigned row = (b + run + l) % 8; \
                    lv##_x[l] |= (word)(row >> 2) << b; \
                    lv##_y[l] |= (word)(row >> 1 & 1) << b; \
                    lv##_z[l] |= (word)(row & 1) << b; \
                } \
            } \
            const lv x = lv##_load(lv##_x), y = lv##_load(lv##_y), z = lv##_load(lv##_z); \
            (void)z; \
            lv##_store(lv##_out, lv##_##op(__VA_ARGS__)); \
            for (unsigned l = 0; l < (nlanes); l++) \
                check(lv##_out[l] == (word)lv##_definition_##op(lv##_x[l], lv##_y[l], lv##_z[l]), #lv "_" #op, run); \
        } \
    }
#define DEFINITION(lv, word, op, ...) \
    static word lv##_definition_##op(word x, word y, word z) \
    { \
        (void)z; \
        return DEFINED_##op(__VA_ARGS__); \
    }

#define DEFINE_ADD(lv, word, nlanes) \
    LV_KERNEL void check_##lv##_add(void) \
    { \
        const unsigned nbits = 8 * sizeof(word); \
        for (unsigned lane = 0; lane < (nlanes); lane++) \
            for (unsigned low = 0; low < nbits; low++) \
                for (unsigned high = low; high < nbits; high++) { \
                    lv##_random(); \
                    lv##_x[lane] = ((word)~(word)0 >> (nbits - 1 - high)) & (word)((word)~(word)0 << low); \
                    lv##_y[lane] = (word)1 << low; \
                    lv##_store(lv##_out, lv##_add(lv##_load(lv##_x), lv##_load(lv##_y))); \
                    for (unsigned l = 0; l < (nlanes); l++) \
                        check(lv##_out[l] == (word)(lv##_x[l] + lv##_y[l]), #lv "_add", low); \
                } \
    }

/* The count n: words with one bit, then their complements, then random words. */
#define SHIFT_BY(lv, word, nlanes, op, n, expected) \
    for (unsigned nth = 0; nth < 2 * 8 * sizeof(word) + 16; nth++) { \
        lv##_random(); \
        for (unsigned l = 0; l < (nlanes) && nth < 2 * 8 * sizeof(word); l++) { \
            lv##_x[l] = (word)1 << (nth + l) % (8 * sizeof(word)); \
            if (nth >= 8 * sizeof(word)) \
                lv##_x[l] = (word)~lv##_x[l]; \
        } \
        const lv x = lv##_load(lv##_x); \
        lv##_store(lv##_out, lv##_##op(x, n)); \
        for (unsigned l = 0; l < (nlanes); l++) \
            check(lv##_out[l] == (word)(expected), #lv "_" #op, n); \
    }
#define COUNTS7(CHECK, n) \
    CHECK(n) CHECK((n) + 1) CHECK((n) + 2) CHECK((n) + 3) CHECK((n) + 4) CHECK((n) + 5) CHECK((n) + 6)
#define COUNTS31(CHECK, n) \
    COUNTS7(CHECK, n) COUNTS7(CHECK, (n) + 7) COUNTS7(CHECK, (n) + 14) COUNTS7(CHECK, (n) + 21) CHECK((n) + 28) \
    CHECK((n) + 29) CHECK((n) + 30)

/* The number of byte b (b = 0: the lowest) of word i of message l: bytes are numbered message by message. */
#define EXPECTED_BYTE(word, l, i, b, big_endian) \
    ((l) * 16 * sizeof(word) + (i) * sizeof(word) + ((big_endian) ? sizeof(word) - 1 - (b) : (b)))
#define DEFINE_BLOCKS(lv, word, nlanes) \
    enum { lv##_SPACE = 200 + 16 * sizeof(word) }; \
    static uint8_t lv##_bytes[nlanes][lv##_SPACE]; \
    static const uint8_t *lv##_msg[nlanes]; \
    static unsigned lv##_order[nlanes]; /* neighbours in memory are not neighbours in the list */ \
    /* The low (which = 0) or the high byte of each number. */ \
    static void lv##_number(size_t offset, unsigned which) \
    { \
        for (unsigned l = 0; l < (nlanes); l++) { \
            lv##_order[l] = (5 * l + 3) % (nlanes); \
            lv##_msg[l] = lv##_bytes[lv##_order[l]] + l; /* of any alignment */ \
            memset(lv##_bytes[lv##_order[l]], 0xee, lv##_SPACE); \
            for (unsigned p = 0; p < 16 * sizeof(word); p++) \
                lv##_bytes[lv##_order[l]][l + offset + p] = (uint8_t)((l * 16 * sizeof(word) + p) >> 8 * which); \
        } \
    } \
    static void lv##_compare(const word *row, unsigned i, unsigned which, int big_endian, const char *what) \
    { \
        for (unsigned l = 0; l < (nlanes); l++) \
            for (unsigned b = 0; b < sizeof(word); b++) \
                check((uint8_t)(row[l] >> 8 * b) == \
                          (uint8_t)(EXPECTED_BYTE(word, l, i, b, big_endian) >> 8 * which), what, i); \
    } \
    LV_KERNEL void check_##lv##_load_block(void) \
    { \
        for (unsigned run = 0; run < 4; run++) { \
            const size_t offset = run / 2 * 64 * 2; \
            lv w[16]; \
            lv##_number(offset, run % 2); \
            lv##_load_block(w, lv##_msg, offset, 0); \
            for (unsigned i = 0; i < 16; i++) { \
                lv##_store(lv##_out, w[i]); \
                lv##_compare(lv##_out, i, run % 2, 0, #lv "_load_block, little-endian"); \
            } \
            lv##_load_block(w, lv##_msg, offset, 1); \
            for (unsigned i = 0; i < 16; i++) { \
                lv##_store(lv##_out, w[i]); \
                lv##_compare(lv##_out, i, run % 2, 1, #lv "_load_block, big-endian"); \
            } \
        } \
    }
#define STAGE_ALL(lv, big_endian) \
    lv##_stage(&staging, lv##_msg, offset, 0, big_endian); \
    lv##_stage(&staging, lv##_msg, offset, 1, big_endian); \
    lv##_stage(&staging, lv##_msg, offset, 2, big_endian); \
    lv##_stage(&staging, lv##_msg, offset, 3, big_endian); \
    lv##_staged(w, &staging); \
    for (unsigned i = 0; i < 16; i++) { \
        lv##_store(lv##_out, w[i]); \
        lv##_compare(lv##_out, i, run % 2, big_endian, #lv "_stage"); \
    }
#define DEFINE_STAGES(lv) \
    LV_KERNEL void check_##lv##_stages(void) \
    { \
        for (unsigned run = 0; run < 4; run++) { \
            const size_t offset = run / 2 * 64 * 2; \
            lv##_staging staging; \
            lv w[16]; \
            lv##_number(offset, run % 2); \
            STAGE_ALL(lv, 0) \
            STAGE_ALL(lv, 1) \
        } \
    }

/* Byte p of a message and its padding, which end with block nblocks - 1; the length is in the last 8 bytes. */
static uint8_t padded_byte(const uint8_t *message, size_t nbytes, size_t p, size_t end, uint64_t before,
                           int big_endian)
{
    const size_t from_end = end - 1 - p;
    if (p <= nbytes)
        return p < nbytes ? message[p] : 0x80;
    return from_end < 8 ? (uint8_t)((before + nbytes) * 8 >> 8 * (big_endian ? from_end : 7 - from_end)) : 0;
}

#define DEFINE_WHOLE(lv, word, nlanes) \
    LV_KERNEL void check_##lv##_padded(unsigned nblocks, const size_t nbytes[], int is_one_length, int big_endian, \
                                       int has_schedule) \
    { \
        enum { BLOCK = 16 * sizeof(word) }; \
        static uint8_t bytes[nlanes][2 * BLOCK + 3 * nlanes]; \
        const struct hli_whole whole = {.before = 3 * BLOCK, .nblocks = nblocks, .is_one_length = is_one_length, \
                                        .schedule = has_schedule ? bytes : NULL}; \
        const uint8_t *data[nlanes]; \
        for (unsigned l = 0; l < (nlanes); l++) { \
            data[l] = bytes[l] + 3 * l; \
            for (unsigned p = 0; p < sizeof bytes[l]; p++) \
                bytes[l][p] = (uint8_t)random64(); \
        } \
        for (unsigned b = 0; b < nblocks; b++) { \
            lv w[16]; \
            if (big_endian) \
                lv##_load_padded(w, &whole, data, nbytes, b, 1); \
            else \
                lv##_load_padded(w, &whole, data, nbytes, b, 0); \
            for (unsigned i = 0; i < 16; i++) { \
                lv##_store(lv##_out, w[i]); \
                for (unsigned l = 0; l < (nlanes); l++) \
                    for (unsigned k = 0; k < sizeof(word); k++) \
                        check((uint8_t)(lv##_out[l] >> 8 * (big_endian ? sizeof(word) - 1 - k : k)) == \
                                  padded_byte(data[l], nbytes[l], b * BLOCK + i * sizeof(word) + k, \
                                              (nblocks + has_schedule) * BLOCK, whole.before, big_endian), \
                              #lv "_load_padded", (unsigned)nbytes[l]); \
            } \
        } \
    } \
    LV_KERNEL void check_##lv##_digests(unsigned nwords, unsigned ndigest, int big_endian) \
    { \
        static word state[8 * (nlanes)] __attribute__((aligned(64))); \
        for (unsigned i = 0; i < 8 * (nlanes); i++) \
            state[i] = (word)random64(); \
        for (unsigned n = 1; n <= (nlanes); n++) { \
            uint8_t found[nlanes][65], *digests[nlanes]; \
            memset(found, 0xa5, sizeof found); \
            for (unsigned l = 0; l < (nlanes); l++) \
                digests[l] = found[l]; \
            if (big_endian) \
                lv##_digests(state, nwords, 1, ndigest, n, digests); \
            else \
                lv##_digests(state, nwords, 0, ndigest, n, digests); \
            for (unsigned l = 0; l < (nlanes); l++) \
                for (unsigned p = 0; p < sizeof found[l]; p++) { \
                    const unsigned k = p % sizeof(word); \
                    const word x = p < ndigest ? state[p / sizeof(word) * (nlanes) + l] : 0; \
                    check(found[l][p] == (l >= n || p >= ndigest ? 0xa5 \
                                          : (uint8_t)(x >> 8 * (big_endian ? sizeof(word) - 1 - k : k))), \
                          #lv "_digests", n); \
                } \
        } \
    } \
    static void check_##lv##_whole(int big_endian) \
    { \
        const size_t block = 16 * sizeof(word), longest = block - 1 - 2 * sizeof(word); \
        size_t nbytes[nlanes]; \
        for (size_t n = 0; n <= longest + block; n++) { \
            const unsigned nblocks = n <= longest ? 1 : 2; \
            const size_t least = nblocks == 1 ? 0 : longest + 1, range = nblocks == 1 ? longest + 1 : block; \
            for (unsigned l = 0; l < (nlanes); l++) \
                nbytes[l] = n; \
            check_##lv##_padded(nblocks, nbytes, 1, big_endian, 0); \
            if (n == block) \
                check_##lv##_padded(1, nbytes, 1, big_endian, 1); \
            for (unsigned l = 0; l < (nlanes); l++) \
                nbytes[l] = least + (n + 7 * l) % range; \
            check_##lv##_padded(nblocks, nbytes, 0, big_endian, 0); \
        } \
    }

#define DEFINE_SPLAT(lv, word, nlanes) \
    LV_KERNEL void check_##lv##_splat(void) \
    { \
        for (unsigned run = 0; run < RANDOM_RUNS; run++) { \
            const word c = (word)random64(); \
            lv##_random(); \
            lv##_store(lv##_out, lv##_load(lv##_x)); \
            for (unsigned l = 0; l < (nlanes); l++) \
                check(lv##_out[l] == lv##_x[l], #lv "_load", l); \
            lv##_store(lv##_out, lv##_splat(c)); \
            for (unsigned l = 0; l < (nlanes); l++) \
                check(lv##_out[l] == c, #lv "_splat", l); \
        } \
    }

#define ROL32(n) SHIFT_BY(lv32, uint32_t, LV32_LANES, rol, n, lv32_x[l] << (n) | lv32_x[l] >> (32 - (n)))
#define SHR32(n) SHIFT_BY(lv32, uint32_t, LV32_LANES, shr, n, lv32_x[l] >> (n))
#define ROL64(n) SHIFT_BY(lv64, uint64_t, LV64_LANES, rol, n, lv64_x[l] << (n) | lv64_x[l] >> (64 - (n)))
#define SHR64(n) SHIFT_BY(lv64, uint64_t, LV64_LANES, shr, n, lv64_x[l] >> (n))

DEFINE_ROWS(lv32, uint32_t, LV32_LANES)
DEFINITION(lv32, uint32_t, xor, x, y)
DEFINITION(lv32, uint32_t, xor3, x, y, z)
DEFINITION(lv32, uint32_t, ch, x, y, z)
DEFINITION(lv32, uint32_t, orn_xor, x, y, z)
DEFINE_BOOLEAN(lv32, uint32_t, LV32_LANES, xor, x, y)
DEFINE_BOOLEAN(lv32, uint32_t, LV32_LANES, xor3, x, y, z)
DEFINE_BOOLEAN(lv32, uint32_t, LV32_LANES, ch, x, y, z)
DEFINE_BOOLEAN(lv32, uint32_t, LV32_LANES, orn_xor, x, y, z)
DEFINE_ADD(lv32, uint32_t, LV32_LANES)
DEFINE_SPLAT(lv32, uint32_t, LV32_LANES)
DEFINE_BLOCKS(lv32, uint32_t, LV32_LANES)
LV_KERNEL void check_lv32_rol(void) { COUNTS31(ROL32, 1) }

#if defined(ONLY_RIPEMD160)
#  define REST()
#else
DEFINITION(lv32, uint32_t, maj, x, y, z)
DEFINE_BOOLEAN(lv32, uint32_t, LV32_LANES, maj, x, y, z)
LV_KERNEL void check_lv32_shr(void) { COUNTS31(SHR32, 1) }

DEFINE_ROWS(lv64, uint64_t, LV64_LANES)
DEFINITION(lv64, uint64_t, xor3, x, y, z)
DEFINITION(lv64, uint64_t, ch, x, y, z)
DEFINITION(lv64, uint64_t, maj, x, y, z)
DEFINE_BOOLEAN(lv64, uint64_t, LV64_LANES, xor3, x, y, z)
DEFINE_BOOLEAN(lv64, uint64_t, LV64_LANES, ch, x, y, z)
DEFINE_BOOLEAN(lv64, uint64_t, LV64_LANES, maj, x, y, z)
DEFINE_ADD(lv64, uint64_t, LV64_LANES)
DEFINE_SPLAT(lv64, uint64_t, LV64_LANES)
DEFINE_BLOCKS(lv64, uint64_t, LV64_LANES)
LV_KERNEL void check_lv64_rol(void) { COUNTS31(ROL64, 1) COUNTS31(ROL64, 32) ROL64(63) }
LV_KERNEL void check_lv64_shr(void) { COUNTS31(SHR64, 1) COUNTS31(SHR64, 32) SHR64(63) }
#  define REST() \
      check_lv32_maj(), check_lv32_shr(), check_lv64_xor3(), check_lv64_ch(), check_lv64_maj(), check_lv64_add(), \
          check_lv64_splat(), check_lv64_load_block(), check_lv64_rol(), check_lv64_shr()
#endif
#if defined(LV_STAGES)
DEFINE_STAGES(lv32)
DEFINE_STAGES(lv64)
DEFINE_WHOLE(lv32, uint32_t, LV32_LANES)
DEFINE_WHOLE(lv64, uint64_t, LV64_LANES)
#endif

int main(void)
{
    if (!(RUNS_HERE))
        return 3;
    check_lv32_xor(), check_lv32_xor3(), check_lv32_ch(), check_lv32_orn_xor(), check_lv32_add();
    check_lv32_splat(), check_lv32_load_block(), check_lv32_rol();
    REST();
#if defined(LV_STAGES)
    check_lv32_stages(), check_lv64_stages();
    check_lv32_whole(0), check_lv32_whole(1), check_lv64_whole(1);
    check_lv32_digests(4, 16, 0), check_lv32_digests(5, 20, 0), check_lv32_digests(5, 20, 1);
    check_lv32_digests(8, 28, 1), check_lv32_digests(8, 32, 1);
    check_lv64_digests(8, 28, 1), check_lv64_digests(8, 32, 1), check_lv64_digests(8, 48, 1);
    check_lv64_digests(8, 64, 1);
#endif
    printf("lanes: %u, comparisons: %u\n", LV32_LANES, nchecks);
    return nwrong != 0;
}
