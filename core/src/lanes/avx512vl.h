/* lanes/avx512vl.h: the vocabulary of AVX-512 in 256-bit registers.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Half the lanes of lanes/avx512.h, for half the messages: 256-bit operations issue three a cycle, 512-bit ones two.
 * Here too a boolean function of three words is one vpternlogd, and a rotation one vprold.
 */
#include <immintrin.h>

#define LV_ISA    avx512vl
#define LV_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx2")))

#include "ymm.inc.h"

LV_FN lv32 lv32_xor3(lv32 x, lv32 y, lv32 z) { return _mm256_ternarylogic_epi32(x, y, z, 0x96); }
LV_FN lv32 lv32_ch(lv32 x, lv32 y, lv32 z) { return _mm256_ternarylogic_epi32(x, y, z, 0xca); }
LV_FN lv32 lv32_maj(lv32 x, lv32 y, lv32 z) { return _mm256_ternarylogic_epi32(x, y, z, 0xe8); }
LV_FN lv32 lv32_orn_xor(lv32 x, lv32 y, lv32 z) { return _mm256_ternarylogic_epi32(x, y, z, 0x59); }
#define lv64_xor(x, y)    lv32_xor(x, y)
#define lv64_chi(x, y, z) _mm256_ternarylogic_epi64(x, y, z, 0xd2)
#define LV_SETTLE(x) __asm__("" : "+v"(x))
#define lv32_rol(x, n) _mm256_rol_epi32(x, n)
#define lv64_rol(x, n) _mm256_rol_epi64(x, n)
