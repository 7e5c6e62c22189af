/* operators.inc.h: the operations that are C operators, for words and for vectors of gcc and clang alike.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by words/scalar.lv.h and words/gnu.lv.h after they define lv32 and lv64.
 */
#define OPERATORS(lv, word) \
    HLI_INLINE lv lv##_load(const word *p) { return *(const lv *)p; } \
    HLI_INLINE void lv##_store(word *p, lv x) { *(lv *)p = x; } \
    HLI_INLINE lv lv##_splat(word c) { return (lv){0} + c; } \
    HLI_INLINE lv lv##_add(lv x, lv y) { return x + y; } \
    HLI_INLINE lv lv##_xor(lv x, lv y) { return x ^ y; } \
    HLI_INLINE lv lv##_xor3(lv x, lv y, lv z) { return x ^ y ^ z; } \
    HLI_INLINE lv lv##_ch(lv x, lv y, lv z) { return z ^ (x & (y ^ z)); } \
    HLI_INLINE lv lv##_maj(lv x, lv y, lv z) { return (x & y) | (z & (x | y)); } \
    HLI_INLINE lv lv##_orn_xor(lv x, lv y, lv z) { return (x | ~y) ^ z; }

OPERATORS(lv32, uint32_t)
OPERATORS(lv64, uint64_t)
#undef OPERATORS

#define lv32_sub(x, y) ((x) - (y))
#define lv32_and(x, y) ((x) & (y))
#define lv32_andn(x, y) (~(x) & (y))
#define lv64_and(x, y) ((x) & (y))
#define lv64_chi(x, y, z) ((x) ^ (~(y) & (z)))
#define lv32_shr(x, n) ((x) >> (n))
#define lv32_rol(x, n) ((x) << (n) | (x) >> (32 - (n)))
#define lv64_shr(x, n) ((x) >> (n))
#define lv64_rol(x, n) ((x) << (n) | (x) >> (64 - (n)))
