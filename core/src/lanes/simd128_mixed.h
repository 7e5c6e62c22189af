/* lanes/simd128_mixed.h: the lanes of lanes/simd128.h in a vector, and one more in a general register.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A step waits for the step before, and operations on vectors take two cycles on Zen 5, Apple's and Arm's large cores:
 * four lanes leave room. Two vectors a word would fill it, but V8 spills. The general registers are free.
 */
#define lv32 vector
#define lv64 vector64
#include "simd128.h"
#undef lv32
#undef lv64
#undef LV_ISA
#undef LV_KERNEL
#undef LV32_LANES
#undef LV64_LANES
#undef LV_PAIRS
#undef LV_WRITTEN_OUT

#define LV_ISA     simd128_mixed
#define LV_KERNEL
#define LV32_LANES 5
#define LV64_LANES 3
/* V8 11.3, SHA-512 of three messages, ns a block of each: 161 with eight rounds written out, 130 with two. */
#define LV_TWO_ROUNDS
/* The others gain nothing: V8 spills. */
#undef LV_HAS_sha256
#define LV_HAS_sha256    0
#undef LV_HAS_sha512
#define LV_HAS_sha512    1
#undef LV_HAS_ripemd160
#define LV_HAS_ripemd160 1
#undef LV_HAS_md5
#define LV_HAS_md5       0
#undef LV_HAS_keccak
#define LV_HAS_keccak    0

typedef struct {
    vector   v; /* the first four messages */
    uint32_t s;
} mixed32;
typedef struct {
    vector   v; /* the first two messages */
    uint64_t s;
} mixed64;

#define MIXED(mixed, word, bits, vector_of) \
    LV_FN mixed mixed##_load(const word *p) { return (mixed){wasm_v128_load(p), p[16 / sizeof(word)]}; } \
    LV_FN void mixed##_store(word *p, mixed x) \
    { \
        wasm_v128_store(p, x.v); \
        p[16 / sizeof(word)] = x.s; \
    } \
    LV_FN mixed mixed##_splat(word c) { return (mixed){vector_of##_splat(c), c}; } \
    LV_FN mixed mixed##_add(mixed x, mixed y) { return (mixed){vector_of##_add(x.v, y.v), x.s + y.s}; } \
    LV_FN mixed mixed##_xor(mixed x, mixed y) { return (mixed){wasm_v128_xor(x.v, y.v), x.s ^ y.s}; } \
    LV_FN mixed mixed##_xor3(mixed x, mixed y, mixed z) { return mixed##_xor(mixed##_xor(x, y), z); } \
    LV_FN mixed mixed##_and(mixed x, mixed y) { return (mixed){wasm_v128_and(x.v, y.v), x.s & y.s}; } \
    LV_FN mixed mixed##_andn(mixed x, mixed y) { return (mixed){wasm_v128_andnot(y.v, x.v), ~x.s & y.s}; } \
    LV_FN mixed mixed##_ch(mixed x, mixed y, mixed z) \
    { \
        return (mixed){lv32_ch(x.v, y.v, z.v), z.s ^ (x.s & (y.s ^ z.s))}; \
    } \
    LV_FN void mixed##_load_block(mixed w[16], const uint8_t *const msg[], size_t offset, int big_endian) \
    { \
        vector v[16]; \
\
        vector_of##_load_block(v, msg, offset, big_endian); \
        for (unsigned i = 0; i < 16; i++) \
            w[i] = (mixed){v[i], hli_load##bits(msg[16 / sizeof(word)] + offset + sizeof(word) * i, big_endian)}; \
    }
MIXED(mixed32, uint32_t, 32, lv32)
MIXED(mixed64, uint64_t, 64, lv64)
LV_FN mixed32 mixed32_sub(mixed32 x, mixed32 y) { return (mixed32){wasm_i32x4_sub(x.v, y.v), x.s - y.s}; }
LV_FN mixed32 mixed32_maj(mixed32 x, mixed32 y, mixed32 z)
{
    return (mixed32){lv32_maj(x.v, y.v, z.v), (x.s & y.s) | (z.s & (x.s | y.s))};
}

#undef lv32_rol
#undef lv32_shr
#undef lv32_sub
#undef lv32_and
#undef lv32_andn
#undef lv64_xor3
#undef lv64_ch
#undef lv64_maj
#undef lv64_and
#undef lv64_xor
#undef lv64_chi
#undef lv64_shr
#undef lv64_rol
typedef mixed32 lv32;
typedef mixed64 lv64;
#define lv32_load       mixed32_load
#define lv32_store      mixed32_store
#define lv32_splat      mixed32_splat
#define lv32_add        mixed32_add
#define lv32_sub        mixed32_sub
#define lv32_xor        mixed32_xor
#define lv32_xor3       mixed32_xor3
#define lv32_and        mixed32_and
#define lv32_andn       mixed32_andn
#define lv32_ch         mixed32_ch
#define lv32_maj        mixed32_maj
#define lv32_load_block mixed32_load_block
#define lv64_load       mixed64_load
#define lv64_store      mixed64_store
#define lv64_splat      mixed64_splat
#define lv64_add        mixed64_add
#define lv64_xor        mixed64_xor
#define lv64_xor3       mixed64_xor3
#define lv64_and        mixed64_and
#define lv64_ch         mixed64_ch
#define lv64_load_block mixed64_load_block
#define MIXED_SHIFT(mixed, x, vectors, scalars) \
    __extension__({ \
        const mixed x_ = (x); \
        (mixed){vectors, scalars}; \
    })
#define lv32_rol(x, n) \
    MIXED_SHIFT(mixed32, x, wasm_v128_or(wasm_i32x4_shl(x_.v, n), wasm_u32x4_shr(x_.v, 32 - (n))), \
                x_.s << (n) | x_.s >> (32 - (n)))
#define lv64_rol(x, n) \
    MIXED_SHIFT(mixed64, x, wasm_v128_or(wasm_i64x2_shl(x_.v, n), wasm_u64x2_shr(x_.v, 64 - (n))), \
                x_.s << (n) | x_.s >> (64 - (n)))
#define lv64_shr(x, n) MIXED_SHIFT(mixed64, x, wasm_u64x2_shr(x_.v, n), x_.s >> (n))
