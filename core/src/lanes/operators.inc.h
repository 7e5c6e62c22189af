/* operators.inc.h: the operations that C's own operators give, for a word and for a vector of gcc and clang alike.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by lanes/scalar.h and lanes/gnu.h, which have defined lv32.
 */
HLI_INLINE lv32 lv32_load(const uint32_t *p) { return *(const lv32 *)p; }
HLI_INLINE void lv32_store(uint32_t *p, lv32 x) { *(lv32 *)p = x; }
HLI_INLINE lv32 lv32_splat(uint32_t c) { return (lv32){0} + c; }
HLI_INLINE lv32 lv32_add(lv32 x, lv32 y) { return x + y; }
HLI_INLINE lv32 lv32_xor(lv32 x, lv32 y) { return x ^ y; }
HLI_INLINE lv32 lv32_xor3(lv32 x, lv32 y, lv32 z) { return x ^ y ^ z; }
HLI_INLINE lv32 lv32_ch(lv32 x, lv32 y, lv32 z) { return z ^ (x & (y ^ z)); }
HLI_INLINE lv32 lv32_maj(lv32 x, lv32 y, lv32 z) { return (x & y) | (z & (x | y)); }
#define lv32_shr(x, n) ((x) >> (n))
#define lv32_rol(x, n) ((x) << (n) | (x) >> (32 - (n)))
