/* single_sse2.c: one message over SSE2.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86 && HLI_ISA(sse2)
#  define SV_RORX  0
#  define SV_VPROL 0
#  include "../words/sse2.lv.h"
#  include "single.inc.h"
#endif
