/* pair.inc.h: words of two registers, made of a vocabulary's words of one: twice the messages.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by alg/kernels.inc.h. For a body that is one chain of operations and leaves most of the CPU idle. Blocks
 * are not staged.
 */
typedef struct {
    lv32 low, high; /* the first LV32_LANES messages, and the others */
} pair32;
#define PAIR32_LANES (2 * LV32_LANES)
typedef uint32_t pair32_word;
enum { pair32_block_nbytes = 64, pair32_nlanes = PAIR32_LANES };

LV_FN pair32 pair32_load(const uint32_t *p) { return (pair32){lv32_load(p), lv32_load(p + LV32_LANES)}; }
LV_FN void pair32_store(uint32_t *p, pair32 x)
{
    lv32_store(p, x.low);
    lv32_store(p + LV32_LANES, x.high);
}
LV_FN pair32 pair32_splat(uint32_t c) { return (pair32){lv32_splat(c), lv32_splat(c)}; }
LV_FN pair32 pair32_add(pair32 x, pair32 y) { return (pair32){lv32_add(x.low, y.low), lv32_add(x.high, y.high)}; }
LV_FN pair32 pair32_xor3(pair32 x, pair32 y, pair32 z)
{
    return (pair32){lv32_xor3(x.low, y.low, z.low), lv32_xor3(x.high, y.high, z.high)};
}
LV_FN pair32 pair32_ch(pair32 x, pair32 y, pair32 z)
{
    return (pair32){lv32_ch(x.low, y.low, z.low), lv32_ch(x.high, y.high, z.high)};
}
LV_FN pair32 pair32_orn_xor(pair32 x, pair32 y, pair32 z)
{
    return (pair32){lv32_orn_xor(x.low, y.low, z.low), lv32_orn_xor(x.high, y.high, z.high)};
}
#ifdef lv32_and
LV_FN pair32 pair32_and(pair32 x, pair32 y) { return (pair32){lv32_and(x.low, y.low), lv32_and(x.high, y.high)}; }
LV_FN pair32 pair32_andn(pair32 x, pair32 y) { return (pair32){lv32_andn(x.low, y.low), lv32_andn(x.high, y.high)}; }
#endif
#define pair32_rol(x, n) \
    __extension__({ \
        const pair32 pair_ = (x); \
        (pair32){lv32_rol(pair_.low, n), lv32_rol(pair_.high, n)}; \
    })

LV_FN void pair32_load_block(pair32 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    lv32 low[16], high[16];

    lv32_load_block(low, msg, offset, big_endian);
    for (unsigned i = 0; i < 16; i++)
        w[i].low = low[i];
    lv32_load_block(high, msg + LV32_LANES, offset, big_endian);
    for (unsigned i = 0; i < 16; i++)
        w[i].high = high[i];
}
#define pair32_stage(staging, msg, offset, part, big_endian) ((void)(staging), (void)(msg), (void)(offset))
typedef lv32_staging pair32_staging;

#ifdef LV_WHOLES
LV_FN void pair32_load_padded(pair32 w[16], const struct hli_whole *whole, const uint8_t *const data[],
                              const size_t nbytes[], unsigned b, int big_endian)
{
    lv32 low[16], high[16];

    lv32_load_padded(low, whole, data, nbytes, b, big_endian);
    for (unsigned i = 0; i < 16; i++)
        w[i].low = low[i];
    lv32_load_padded(high, whole, data + LV32_LANES, nbytes + LV32_LANES, b, big_endian);
    for (unsigned i = 0; i < 16; i++)
        w[i].high = high[i];
}

LV_FN void pair32_digests(const uint32_t *state, unsigned nwords, int big_endian, size_t nbytes, unsigned n,
                          uint8_t *const digests[])
{
    (void)n; /* all */
    for (unsigned half = 0; half < 2; half++) {
        uint32_t of_half[8 * LV32_LANES] __attribute__((aligned(64)));
        for (unsigned i = 0; i < nwords; i++)
            lv32_store(of_half + i * LV32_LANES, lv32_load(state + (2 * i + half) * LV32_LANES));
        lv32_digests(of_half, nwords, big_endian, nbytes, LV32_LANES, digests + half * LV32_LANES);
    }
}
#endif
