/* single_ripemd160.c: RIPEMD-160 of one message, with BMI1 and BMI2.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86_64 && HLI_ISA(avx2) && HLI_ALG(ripemd160) /* two lines of five words do not fit 32-bit registers */
#  include "../words/bmi.h"
#  include "../alg/kernels.inc.h"
#endif
