/* avx512.c: the lane kernels of lanes/avx512.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86
#  include "../lanes/avx512.h"
#  include "../lanes/kernels.inc.h"
#endif
