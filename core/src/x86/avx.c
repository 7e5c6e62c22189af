/* avx.c: the lane kernels of lanes/avx.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86
#  include "../lanes/avx.h"
#  include "../lanes/kernels.inc.h"
#endif
