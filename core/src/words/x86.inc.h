/* x86.inc.h: the part of a vocabulary that all x86 sets share, for registers of 128, 256 and 512 bits.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by words/<isa>.h after it defines LV_ISA, LV_TARGET and
 *
 *   X86_BITS       the width of a register
 *   X86_TERNARY    if there are vpternlogd and vprold (AVX-512): any boolean function of three words is one operation,
 *                  whose literal is the function's truth table (bit 4x + 2y + z), and so is a rotation
 *   X86_NO_PSHUFB  if there is no shuffle of bytes (SSE2); swap32 and swap64 are then its own
 */
#define LV_KERNEL LV_TARGET
#if HLI_SMALL || (X86_BITS == 512 && !defined(__clang__)) /* gcc would make a copy of RIPEMD-160 for one block */
#  define LV_SHARED LV_TARGET __attribute__((noinline, noclone, unused)) static
#else
#  define LV_SHARED LV_TARGET HLI_NOINLINE __attribute__((unused)) static
#endif
#define LV_FN     LV_TARGET HLI_INLINE

/* V(op): the intrinsic for these registers; V_ALL(op): the one for all bits of one. */
#if X86_BITS == 128
typedef __m128i lv32, lv64;
#  define V(op)      _mm_##op
#  define V_ALL(op)  _mm_##op##_si128
#  define BYTES(...) _mm_setr_epi8(__VA_ARGS__)
#elif X86_BITS == 256
typedef __m256i lv32, lv64;
#  define V(op)      _mm256_##op
#  define V_ALL(op)  _mm256_##op##_si256
#  define BYTES(...) _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__)
#else
typedef __m512i lv32, lv64;
#  define V(op)            _mm512_##op
#  define V_ALL(op)        _mm512_##op##_si512
#  define BYTES(...)       _mm512_broadcast_i32x4(_mm_setr_epi8(__VA_ARGS__))
#  define _mm512_set1_epi64x _mm512_set1_epi64
#endif
#define LV32_LANES (X86_BITS / 32)
#define LV64_LANES (X86_BITS / 64)

LV_FN lv32 lv32_load(const uint32_t *p) { return V_ALL(load)((const lv32 *)p); }
LV_FN void lv32_store(uint32_t *p, lv32 x) { V_ALL(store)((lv32 *)p, x); }
LV_FN lv32 lv32_splat(uint32_t c) { return V(set1_epi32)((int)c); }
LV_FN lv32 lv32_add(lv32 x, lv32 y) { return V(add_epi32)(x, y); }
LV_FN lv32 lv32_xor(lv32 x, lv32 y) { return V_ALL(xor)(x, y); }
LV_FN lv64 lv64_load(const uint64_t *p) { return V_ALL(load)((const lv64 *)p); }
LV_FN void lv64_store(uint64_t *p, lv64 x) { V_ALL(store)((lv64 *)p, x); }
LV_FN lv64 lv64_splat(uint64_t c) { return V(set1_epi64x)((long long)c); }
LV_FN lv64 lv64_add(lv64 x, lv64 y) { return V(add_epi64)(x, y); }
#define lv32_sub(x, y) V(sub_epi32)(x, y)
#define lv32_shr(x, n) V(srli_epi32)(x, n)
#define lv64_shr(x, n) V(srli_epi64)(x, n)

#ifdef X86_TERNARY
LV_FN lv32 lv32_xor3(lv32 x, lv32 y, lv32 z) { return V(ternarylogic_epi32)(x, y, z, 0x96); }
LV_FN lv32 lv32_ch(lv32 x, lv32 y, lv32 z) { return V(ternarylogic_epi32)(x, y, z, 0xca); }
LV_FN lv32 lv32_maj(lv32 x, lv32 y, lv32 z) { return V(ternarylogic_epi32)(x, y, z, 0xe8); }
LV_FN lv32 lv32_orn_xor(lv32 x, lv32 y, lv32 z) { return V(ternarylogic_epi32)(x, y, z, 0x59); }
#  define lv64_chi(x, y, z) V(ternarylogic_epi64)(x, y, z, 0xd2)
#  define lv32_and_orn(x, y, z) V(ternarylogic_epi32)(x, y, z, 0xd0) /* x & (y | ~z) */
#  define LV_SETTLE(x) __asm__("" : "+v"(x))
#else
#  define LV_FEW_REGISTERS
LV_FN lv32 lv32_xor3(lv32 x, lv32 y, lv32 z) { return V_ALL(xor)(V_ALL(xor)(x, y), z); }
LV_FN lv32 lv32_ch(lv32 x, lv32 y, lv32 z) { return V_ALL(xor)(z, V_ALL(and)(x, V_ALL(xor)(y, z))); }
LV_FN lv32 lv32_maj(lv32 x, lv32 y, lv32 z)
{
    return V_ALL(or)(V_ALL(and)(x, y), V_ALL(and)(z, V_ALL(or)(x, y)));
}
LV_FN lv32 lv32_orn_xor(lv32 x, lv32 y, lv32 z)
{
    return V_ALL(xor)(V_ALL(or)(x, V_ALL(xor)(y, V(set1_epi32)(-1))), z);
}
#  define lv32_and(x, y) V_ALL(and)(x, y)
#  define lv32_andn(x, y) V_ALL(andnot)(x, y)
#  define lv64_and(x, y) V_ALL(and)(x, y)
#  define lv64_chi(x, y, z) V_ALL(xor)(x, V_ALL(andnot)(y, z))
#endif
#define lv64_xor(x, y)     lv32_xor(x, y)
#define lv64_xor3(x, y, z) lv32_xor3(x, y, z)
#define lv64_ch(x, y, z)   lv32_ch(x, y, z)
#define lv64_maj(x, y, z)  lv32_maj(x, y, z)

/* An addition goes to more ports than a shift does. */
#define SHL32(x, n) ((n) == 1 ? V(add_epi32)(x, x) : V(slli_epi32)(x, n))
#define ROL32(x, n) V_ALL(or)(SHL32(x, n), V(srli_epi32)(x, 32 - (n)))
#define SHL64(x, n) ((n) == 1 ? V(add_epi64)(x, x) : V(slli_epi64)(x, n))
#define ROL64(x, n) V_ALL(or)(SHL64(x, n), V(srli_epi64)(x, 64 - (n)))
#ifdef X86_NO_PSHUFB
#  define lv32_rol(x, n) ROL32(x, n)
#  define lv64_rol(x, n) ROL64(x, n)
#else
/* The bytes of each word in reverse order. */
LV_FN lv32 swap32(lv32 x)
{
    return V(shuffle_epi8)(x, BYTES(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
}
LV_FN lv64 swap64(lv64 x)
{
    return V(shuffle_epi8)(x, BYTES(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
}
#  ifdef X86_TERNARY
#    define lv32_rol(x, n) V(rol_epi32)(x, n)
#    define lv64_rol(x, n) V(rol_epi64)(x, n)
#  else
/* A rotation by whole bytes is one shuffle instead of three operations: RIPEMD-160 has one of 8 bits to the left,
 * SHA-512 one to the right, Keccak both. BLAKE2 has 16 and 24, MD5 16. */
LV_FN lv32 rol8_32(lv32 x)
{
    return V(shuffle_epi8)(x, BYTES(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14));
}
LV_FN lv64 ror8_64(lv64 x)
{
    return V(shuffle_epi8)(x, BYTES(1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8));
}
LV_FN lv64 rol8_64(lv64 x)
{
    return V(shuffle_epi8)(x, BYTES(7, 0, 1, 2, 3, 4, 5, 6, 15, 8, 9, 10, 11, 12, 13, 14));
}
LV_FN lv32 rol16_32(lv32 x)
{
    return V(shuffle_epi8)(x, BYTES(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
}
LV_FN lv32 ror8_32(lv32 x)
{
    return V(shuffle_epi8)(x, BYTES(1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12));
}
LV_FN lv64 ror16_64(lv64 x)
{
    return V(shuffle_epi8)(x, BYTES(2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9));
}
LV_FN lv64 ror24_64(lv64 x)
{
    return V(shuffle_epi8)(x, BYTES(3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10));
}
#    define lv32_rol(x, n) ((n) == 8 ? rol8_32(x) : (n) == 16 ? rol16_32(x) : (n) == 24 ? ror8_32(x) : ROL32(x, n))
#    define lv64_rol(x, n) \
         ((n) == 56   ? ror8_64(x) \
          : (n) == 8  ? rol8_64(x) \
          : (n) == 48 ? ror16_64(x) \
          : (n) == 40 ? ror24_64(x) \
          : (n) == 32 ? V(shuffle_epi32)(x, 0xb1) \
                      : ROL64(x, n))
#  endif
#endif

#if X86_BITS < 512
/* row32, row64: 16 bytes of a message. With 256 bits, message l + 4 (of 32 bits) or l + 2 has the upper half: all that
 * follows works within halves. The load puts them together (vinserti128 from memory). */
#  if X86_BITS == 128
LV_FN __m128i row32(const uint8_t *const msg[], unsigned l, size_t at)
{
    return _mm_loadu_si128((const __m128i *)(msg[l] + at));
}
#    define row64                      row32
#    define first_word_of(msg, l, at)  _mm_loadl_epi64((const __m128i *)(msg[l] + (at)))
#  else
LV_FN __m256i load_pair(const uint8_t *a, const uint8_t *b)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)a)),
                                   _mm_loadu_si128((const __m128i *)b), 1);
}
LV_FN __m256i row32(const uint8_t *const msg[], unsigned l, size_t at)
{
    return load_pair(msg[l] + at, msg[l + 4] + at);
}
LV_FN __m256i row64(const uint8_t *const msg[], unsigned l, size_t at)
{
    return load_pair(msg[l] + at, msg[l + 2] + at);
}
LV_FN __m256i first_word_of(const uint8_t *const msg[], unsigned l, size_t at)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadl_epi64((const __m128i *)(msg[l] + at))),
                                   _mm_loadl_epi64((const __m128i *)(msg[l + 2] + at)), 1);
}
#  endif

/* A 4 x 4 transposition. */
LV_FN void transpose32(lv32 w[4], lv32 r0, lv32 r1, lv32 r2, lv32 r3)
{
    const lv32 t0 = V(unpacklo_epi32)(r0, r1), t1 = V(unpackhi_epi32)(r0, r1);
    const lv32 t2 = V(unpacklo_epi32)(r2, r3), t3 = V(unpackhi_epi32)(r2, r3);

    w[0] = V(unpacklo_epi64)(t0, t2);
    w[1] = V(unpackhi_epi64)(t0, t2);
    w[2] = V(unpacklo_epi64)(t1, t3);
    w[3] = V(unpackhi_epi64)(t1, t3);
}

LV_FN void lv32_load_block(lv32 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned i = 0; i < 16; i += 4) {
        const size_t at = offset + 4 * i;
        transpose32(w + i, row32(msg, 0, at), row32(msg, 1, at), row32(msg, 2, at), row32(msg, 3, at));
        for (unsigned j = i; big_endian && j < i + 4; j++)
            w[j] = swap32(w[j]);
    }
}

#  define LV64_GROUP 2
LV_FN void lv64_load_words(lv64 w[LV64_GROUP], const uint8_t *const msg[], size_t offset, unsigned n)
{
    if (n == 1) {
        w[0] = V(unpacklo_epi64)(first_word_of(msg, 0, offset), first_word_of(msg, 1, offset));
        return;
    }
    const lv64 r0 = row64(msg, 0, offset), r1 = row64(msg, 1, offset);
    w[0] = V(unpacklo_epi64)(r0, r1);
    w[1] = V(unpackhi_epi64)(r0, r1);
}

LV_FN void lv64_load_block(lv64 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    for (unsigned i = 0; i < 16; i += 2) {
        lv64_load_words(w + i, msg, offset + 8 * i, 2);
        for (unsigned j = i; big_endian && j < i + 2; j++)
            w[j] = swap64(w[j]);
    }
}
#endif
