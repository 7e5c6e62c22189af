/* vocabulary.h: a vocabulary that records: a lane word is the number of an operation, and each operation prints a line.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A body that runs once over this vocabulary has written itself down. The names are those that the head of
 * alg/kernels.inc.h lists. A line is "NUMBER OPERATION OPERANDS". The state is remembered: a word that was stored is
 * loaded as the operation whose result it is.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LV_ISA     recorded
#define LV_KERNEL
#define LV_FN      static inline
/* Two, as one lane means plain C: its files compute schedules with C's own operators. */
#define LV32_LANES 2
#define LV64_LANES 2

typedef struct {
    int number;
} lv32, lv64;

/* The state: only its addresses count. As many words as that of any block function, in each lane. */
#define RECORDED_NWORDS (HL_STATE_MAX_NBYTES / 8)
static uint64_t recorded_state[RECORDED_NWORDS * LV64_LANES];
/* The number of the operation that was stored in each word, plus 1; 0: none. */
static int recorded_stored[RECORDED_NWORDS];
static int recorded_count;

static int record(const char *operation)
{
    printf("%d %s", recorded_count, operation);
    return recorded_count++;
}

#define RECORD(lv, operation, ...) \
    { \
        const lv result = {record(operation)}; \
        printf(" " __VA_ARGS__); \
        putchar('\n'); \
        return result; \
    }
#define OPERATIONS(lv, word, nlanes) \
    static inline int lv##_row(const word *p) \
    { \
        const ptrdiff_t row = (p - (const word *)recorded_state) / (nlanes); \
        if (row < 0 || row >= RECORDED_NWORDS) { \
            fputs("record: a word outside the state is loaded or stored\n", stderr); \
            exit(2); \
        } \
        return (int)row; \
    } \
    static inline lv lv##_first(int row) RECORD(lv, "state", "%d", row) \
    static inline lv lv##_load(const word *p) \
    { \
        const int row = lv##_row(p), stored = recorded_stored[row]; \
        return stored == 0 ? lv##_first(row) : (lv){stored - 1}; \
    } \
    static inline void lv##_store(word *p, lv x) { recorded_stored[lv##_row(p)] = x.number + 1; } \
    static inline lv lv##_splat(word c) RECORD(lv, "constant", "%" PRIu64, (uint64_t)c) \
    static inline lv lv##_add(lv x, lv y) RECORD(lv, "add", "%d %d", x.number, y.number) \
    static inline lv lv##_sub(lv x, lv y) RECORD(lv, "sub", "%d %d", x.number, y.number) \
    static inline lv lv##_xor(lv x, lv y) RECORD(lv, "xor", "%d %d", x.number, y.number) \
    static inline lv lv##_xor3(lv x, lv y, lv z) RECORD(lv, "xor3", "%d %d %d", x.number, y.number, z.number) \
    static inline lv lv##_ch(lv x, lv y, lv z) RECORD(lv, "ch", "%d %d %d", x.number, y.number, z.number) \
    static inline lv lv##_maj(lv x, lv y, lv z) RECORD(lv, "maj", "%d %d %d", x.number, y.number, z.number) \
    static inline lv lv##_chi(lv x, lv y, lv z) RECORD(lv, "chi", "%d %d %d", x.number, y.number, z.number) \
    static inline lv lv##_orn_xor(lv x, lv y, lv z) RECORD(lv, "orn_xor", "%d %d %d", x.number, y.number, z.number) \
    static inline lv lv##_rol(lv x, int n) RECORD(lv, "rol", "%d %d", x.number, n) \
    static inline lv lv##_shr(lv x, int n) RECORD(lv, "shr", "%d %d", x.number, n) \
    static inline lv lv##_of_block(int i) RECORD(lv, "word", "%d", i) \
    static inline void lv##_load_block(lv w[16], const uint8_t *const msg[], size_t offset, int big_endian) \
    { \
        (void)msg, (void)offset; \
        printf("big_endian %d\n", big_endian); \
        for (int i = 0; i < 16; i++) \
            w[i] = lv##_of_block(i); \
    }

OPERATIONS(lv32, uint32_t, LV32_LANES)
OPERATIONS(lv64, uint64_t, LV64_LANES)

#define LV64_GROUP 1
static inline void lv64_load_words(lv64 w[LV64_GROUP], const uint8_t *const msg[], size_t offset, unsigned n)
{
    (void)msg, (void)n;
    printf("big_endian 0\n");
    w[0] = lv64_of_block((int)(offset / 8));
}
#undef OPERATIONS
#undef RECORD
