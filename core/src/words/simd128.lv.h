/* words/simd128.lv.h: the vocabulary of WebAssembly's vectors: four lanes of 32 bits, two of 64.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <wasm_simd128.h>

#define LV_ISA    simd128
#define LV_KERNEL
#define LV_FN     HLI_INLINE
#define LV_PAIRS
#define LV_RELOAD(pointer) HLI_NEW_POINTER(pointer)

typedef v128_t lv32, lv64;
#define LV32_LANES 4
#define LV64_LANES 2

LV_FN lv32 lv32_load(const uint32_t *p) { return wasm_v128_load(p); }
LV_FN void lv32_store(uint32_t *p, lv32 x) { wasm_v128_store(p, x); }
LV_FN lv32 lv32_splat(uint32_t c) { return wasm_u32x4_splat(c); }
LV_FN lv32 lv32_add(lv32 x, lv32 y) { return wasm_i32x4_add(x, y); }
LV_FN lv32 lv32_xor(lv32 x, lv32 y) { return wasm_v128_xor(x, y); }
LV_FN lv32 lv32_xor3(lv32 x, lv32 y, lv32 z) { return wasm_v128_xor(wasm_v128_xor(x, y), z); }
LV_FN lv32 lv32_ch(lv32 x, lv32 y, lv32 z) { return wasm_v128_bitselect(y, z, x); }
/* Bits in which x and y differ are those of z; where x and y agree, either will do. */
LV_FN lv32 lv32_maj(lv32 x, lv32 y, lv32 z) { return wasm_v128_bitselect(z, y, wasm_v128_xor(x, y)); }
LV_FN lv32 lv32_orn_xor(lv32 x, lv32 y, lv32 z) { return wasm_v128_xor(wasm_v128_or(x, wasm_v128_not(y)), z); }
#define lv32_sub(x, y)  wasm_i32x4_sub(x, y)
#define lv32_and(x, y)  wasm_v128_and(x, y)
#define lv32_andn(x, y) wasm_v128_andnot(y, x)
#define lv64_and(x, y)  wasm_v128_and(x, y)
#define lv32_shr(x, n) wasm_u32x4_shr(x, n)
#define lv32_rol(x, n) wasm_v128_or(wasm_i32x4_shl(x, n), wasm_u32x4_shr(x, 32 - (n)))

LV_FN lv64 lv64_load(const uint64_t *p) { return wasm_v128_load(p); }
LV_FN void lv64_store(uint64_t *p, lv64 x) { wasm_v128_store(p, x); }
LV_FN lv64 lv64_splat(uint64_t c) { return wasm_u64x2_splat(c); }
LV_FN lv64 lv64_add(lv64 x, lv64 y) { return wasm_i64x2_add(x, y); }
#define lv64_xor3(x, y, z) lv32_xor3(x, y, z)
#define lv64_ch(x, y, z)   lv32_ch(x, y, z)
#define lv64_maj(x, y, z)  lv32_maj(x, y, z)
#define lv64_xor(x, y)     lv32_xor(x, y)
#define lv64_chi(x, y, z)  wasm_v128_xor(x, wasm_v128_andnot(z, y))
#define lv64_shr(x, n)     wasm_u64x2_shr(x, n)
#define lv64_rol(x, n)     wasm_v128_or(wasm_i64x2_shl(x, n), wasm_u64x2_shr(x, 64 - (n)))

/* Not as shuffles: V8 makes six instructions of one that reverses words, and one of a swizzle by constants. */
LV_FN v128_t swap_bytes32(v128_t x)
{
    return wasm_i8x16_swizzle(x, wasm_i8x16_const(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
}
LV_FN v128_t swap_bytes64(v128_t x)
{
    return wasm_i8x16_swizzle(x, wasm_i8x16_const(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
}

/* Four 4 x 4 transpositions, 16 bytes of each message at a time. */
LV_FN void lv32_load_block(lv32 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned i = 0; i < 16; i += 4) {
        const size_t at = offset + 4 * i;
        const v128_t r0 = wasm_v128_load(msg[0] + at), r1 = wasm_v128_load(msg[1] + at);
        const v128_t r2 = wasm_v128_load(msg[2] + at), r3 = wasm_v128_load(msg[3] + at);
        const v128_t t0 = wasm_i32x4_shuffle(r0, r1, 0, 4, 1, 5), t1 = wasm_i32x4_shuffle(r0, r1, 2, 6, 3, 7);
        const v128_t t2 = wasm_i32x4_shuffle(r2, r3, 0, 4, 1, 5), t3 = wasm_i32x4_shuffle(r2, r3, 2, 6, 3, 7);
        w[i + 0] = wasm_i64x2_shuffle(t0, t2, 0, 2);
        w[i + 1] = wasm_i64x2_shuffle(t0, t2, 1, 3);
        w[i + 2] = wasm_i64x2_shuffle(t1, t3, 0, 2);
        w[i + 3] = wasm_i64x2_shuffle(t1, t3, 1, 3);
        for (unsigned j = i; big_endian && j < i + 4; j++)
            w[j] = swap_bytes32(w[j]);
    }
}

#define LV64_GROUP 2
LV_FN void lv64_load_words(lv64 w[LV64_GROUP], const uint8_t *const msg[], size_t offset, unsigned n)
{
    if (n == 1) {
        w[0] = wasm_v128_load64_lane(msg[1] + offset, wasm_v128_load64_zero(msg[0] + offset), 1);
        return;
    }
    const v128_t r0 = wasm_v128_load(msg[0] + offset), r1 = wasm_v128_load(msg[1] + offset);
    w[0] = wasm_i64x2_shuffle(r0, r1, 0, 2);
    w[1] = wasm_i64x2_shuffle(r0, r1, 1, 3);
}

LV_FN void lv64_load_block(lv64 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned i = 0; i < 16; i += 2) {
        const v128_t r0 = wasm_v128_load(msg[0] + offset + 8 * i), r1 = wasm_v128_load(msg[1] + offset + 8 * i);
        w[i + 0] = wasm_i64x2_shuffle(r0, r1, 0, 2);
        w[i + 1] = wasm_i64x2_shuffle(r0, r1, 1, 3);
        for (unsigned j = i; big_endian && j < i + 2; j++)
            w[j] = swap_bytes64(w[j]);
    }
}
