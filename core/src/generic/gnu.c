/* gnu.c: the lane kernels of lanes/gnu.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_VECTORS && HLI_ISA(gnu)
#  include "../lanes/gnu.h"
#  include "../lanes/kernels.inc.h"
#endif
