/* avx512vl.c: the lane kernels of lanes/avx512vl.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86 && HLI_ISA(avx512vl)
#  include "../lanes/avx512vl.h"
#  include "../lanes/kernels.inc.h"
#endif
