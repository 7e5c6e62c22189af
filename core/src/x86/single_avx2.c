/* single_avx2.c: one message over AVX2, the schedules of two blocks at once, and BMI2.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86 && HLI_ISA(avx2)
#  define SV_RORX  1
#  define SV_VPROL 0
#  include "../lanes/avx2.h"
#  include "single.inc.h"
#endif
