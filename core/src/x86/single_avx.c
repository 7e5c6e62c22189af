/* single_avx.c: one message over AVX.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86 && HLI_ISA(avx)
#  define SV_RORX  0
#  define SV_VPROL 0
#  include "../lanes/avx.h"
#  include "single.inc.h"
#endif
