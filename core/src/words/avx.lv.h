/* words/avx.lv.h: the vocabulary of AVX: the operations of SSSE3 on the same registers. Instructions name their
 * destination, which saves the copies. (Integers in 256-bit registers come with AVX2.)
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <smmintrin.h> /* in the encoding of AVX */

#define LV_ISA    avx
#define LV_TARGET __attribute__((target("avx")))

#define X86_BITS 128
#include "x86.inc.h"
