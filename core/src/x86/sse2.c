/* sse2.c: the lane kernels of lanes/sse2.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86
#  include "../lanes/sse2.h"
#  include "../lanes/kernels.inc.h"
#endif
