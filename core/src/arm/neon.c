/* neon.c: the lane kernels of lanes/neon.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_ARM64
#  include "../lanes/neon.h"
#  include "../lanes/kernels.inc.h"
#endif
