/* lanes/scalar.h: the vocabulary of plain C: a vector is one word, and a lane kernel becomes the portable kernel.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define LV_ISA    scalar
#define LV_KERNEL

typedef uint32_t lv32;
#define LV32_LANES 1

HLI_INLINE lv32 lv32_load(const uint32_t *p) { return *p; }
HLI_INLINE void lv32_store(uint32_t *p, lv32 x) { *p = x; }
HLI_INLINE lv32 lv32_splat(uint32_t c) { return c; }
HLI_INLINE lv32 lv32_add(lv32 x, lv32 y) { return x + y; }
HLI_INLINE lv32 lv32_xor(lv32 x, lv32 y) { return x ^ y; }
HLI_INLINE lv32 lv32_xor3(lv32 x, lv32 y, lv32 z) { return x ^ y ^ z; }
HLI_INLINE lv32 lv32_ch(lv32 x, lv32 y, lv32 z) { return z ^ (x & (y ^ z)); }
HLI_INLINE lv32 lv32_maj(lv32 x, lv32 y, lv32 z) { return (x & y) | (z & (x | y)); }
#define lv32_shr(x, n) ((x) >> (n))
#define lv32_rol(x, n) ((x) << (n) | (x) >> (32 - (n)))

HLI_INLINE void lv32_load_block_be(lv32 w[16], const uint8_t *const msg[], size_t offset)
{
    for (unsigned i = 0; i < 16; i++)
        w[i] = hli_load_be32(msg[0] + offset + 4 * i);
}
