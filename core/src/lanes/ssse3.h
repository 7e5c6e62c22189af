/* lanes/ssse3.h: the vocabulary of SSSE3.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <tmmintrin.h>

#define LV_ISA    ssse3
#define LV_TARGET __attribute__((target("ssse3")))

#define X86_BITS 128
#include "x86.inc.h"
