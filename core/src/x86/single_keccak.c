/* single_keccak.c: Keccak of one message, with BMI1 and BMI2.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Compilers find andn and rorx themselves: a round of 25 words takes 130 operations instead of 180. Zen 4, cycles a
 * block, gcc 12 and clang 14: 933 and 961, in plain C 1,108 and 1,155. The state in five vectors of AVX-512, one for
 * each row, takes 1,250 there: five shuffles between 128-bit parts follow each other in a round.
 */
#include "../kernels.h"
#if HLI_X86_64 && HLI_ISA(avx2) && HLI_ALG(keccak) /* at 32 bits a word takes two registers */
#  define LV_ISA    avx2_x1
#  define LV_KERNEL __attribute__((target("bmi,bmi2")))
#  define LV_ONLY LV_KECCAK
#  include "../lanes/scalar.h"
#  include "../lanes/kernels.inc.h"
#endif
