/* single_ssse3.c: one message over SSSE3.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86 && HLI_ISA(ssse3)
#  define SV_RORX  0
#  define SV_VPROL 0
#  include "../lanes/ssse3.h"
#  include "single.inc.h"
#endif
