/* words/simd128_mixed.lv.h: two lanes of words/simd128.lv.h in a vector, and one more in a general register.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A step waits for the step before, and operations on vectors take two cycles on Zen 5, Apple's and Arm's large cores:
 * two lanes leave room. Two vectors a word would fill it, but V8 spills. The general registers are free.
 */
#define lv64 vector
#include "simd128.lv.h"
#undef lv64
#undef LV_ISA
#undef LV_KERNEL
#undef LV32_LANES
#undef LV64_LANES
#undef LV_PAIRS

#define LV_ISA     simd128_mixed
#define LV_KERNEL
#define LV64_LANES 3
/* V8 11.3, SHA-512 of three messages, ns a block of each: 161 with eight rounds written out, 130 with two. */
#define LV_TWO_ROUNDS
/* SHA-256, MD5 and Keccak gain nothing, as V8 spills. SHA-1 and RIPEMD-160 in five lanes gain a tenth and a quarter,
 * and lose a tenth for messages of one block. */
#define LV_ONLY LV_SHA512

typedef struct {
    vector   v; /* the first two messages */
    uint64_t s;
} mixed64;

LV_FN mixed64 mixed64_load(const uint64_t *p) { return (mixed64){wasm_v128_load(p), p[2]}; }
LV_FN void mixed64_store(uint64_t *p, mixed64 x)
{
    wasm_v128_store(p, x.v);
    p[2] = x.s;
}
LV_FN mixed64 mixed64_splat(uint64_t c) { return (mixed64){lv64_splat(c), c}; }
LV_FN mixed64 mixed64_add(mixed64 x, mixed64 y) { return (mixed64){lv64_add(x.v, y.v), x.s + y.s}; }
LV_FN mixed64 mixed64_xor(mixed64 x, mixed64 y) { return (mixed64){wasm_v128_xor(x.v, y.v), x.s ^ y.s}; }
LV_FN mixed64 mixed64_xor3(mixed64 x, mixed64 y, mixed64 z) { return mixed64_xor(mixed64_xor(x, y), z); }
LV_FN mixed64 mixed64_and(mixed64 x, mixed64 y) { return (mixed64){wasm_v128_and(x.v, y.v), x.s & y.s}; }
LV_FN mixed64 mixed64_ch(mixed64 x, mixed64 y, mixed64 z)
{
    return (mixed64){lv32_ch(x.v, y.v, z.v), z.s ^ (x.s & (y.s ^ z.s))};
}
LV_FN void mixed64_load_block(mixed64 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    vector v[16];

    lv64_load_block(v, msg, offset, big_endian);
    for (unsigned i = 0; i < 16; i++)
        w[i] = (mixed64){v[i], hli_load64(msg[2] + offset + sizeof(uint64_t) * i, big_endian)};
}

#undef lv64_xor3
#undef lv64_ch
#undef lv64_maj
#undef lv64_and
#undef lv64_xor
#undef lv64_chi
#undef lv64_shr
#undef lv64_rol
typedef mixed64 lv64;
#define lv64_load       mixed64_load
#define lv64_store      mixed64_store
#define lv64_splat      mixed64_splat
#define lv64_add        mixed64_add
#define lv64_xor        mixed64_xor
#define lv64_xor3       mixed64_xor3
#define lv64_and        mixed64_and
#define lv64_ch         mixed64_ch
#define lv64_load_block mixed64_load_block
#define MIXED_SHIFT(x, vectors, scalars) \
    __extension__({ \
        const mixed64 x_ = (x); \
        (mixed64){vectors, scalars}; \
    })
#define lv64_rol(x, n) \
    MIXED_SHIFT(x, wasm_v128_or(wasm_i64x2_shl(x_.v, n), wasm_u64x2_shr(x_.v, 64 - (n))), \
                x_.s << (n) | x_.s >> (64 - (n)))
#define lv64_shr(x, n) MIXED_SHIFT(x, wasm_u64x2_shr(x_.v, n), x_.s >> (n))
