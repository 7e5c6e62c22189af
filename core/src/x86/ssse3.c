/* ssse3.c: the lane kernels of lanes/ssse3.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86 && HLI_ISA(ssse3)
#  include "../lanes/ssse3.h"
#  include "../lanes/kernels.inc.h"
#endif
