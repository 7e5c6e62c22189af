/* vocabulary.h: a vocabulary that records: a lane word is the number of an operation, and each operation prints a line.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A body that runs once over this vocabulary has written itself down. The names are those that the head of
 * lanes/kernels.inc.h lists. A line is "NUMBER OPERATION OPERANDS", or "out WORD NUMBER" for a word of the new state.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LV_ISA     recorded
#define LV_KERNEL
#define LV_FN      static inline
/* Two, as one lane means plain C: its files compute schedules with C's own operators. */
#define LV32_LANES 2
#define LV64_LANES 2

typedef struct {
    int number;
} lv32, lv64;

/* The beginning of the state, which the kernel gets as its argument. */
static const void *recorded_state;
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
    static inline ptrdiff_t lv##_row(const word *p) { return (p - (const word *)recorded_state) / (nlanes); } \
    static inline lv lv##_load(const word *p) RECORD(lv, "state", "%td", lv##_row(p)) \
    static inline void lv##_store(word *p, lv x) { printf("out %td %d\n", lv##_row(p), x.number); } \
    static inline lv lv##_splat(word c) RECORD(lv, "constant", "%" PRIu64, (uint64_t)c) \
    static inline lv lv##_add(lv x, lv y) RECORD(lv, "add", "%d %d", x.number, y.number) \
    static inline lv lv##_xor(lv x, lv y) RECORD(lv, "xor", "%d %d", x.number, y.number) \
    static inline lv lv##_xor3(lv x, lv y, lv z) RECORD(lv, "xor3", "%d %d %d", x.number, y.number, z.number) \
    static inline lv lv##_ch(lv x, lv y, lv z) RECORD(lv, "ch", "%d %d %d", x.number, y.number, z.number) \
    static inline lv lv##_maj(lv x, lv y, lv z) RECORD(lv, "maj", "%d %d %d", x.number, y.number, z.number) \
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
#undef OPERATIONS
#undef RECORD
