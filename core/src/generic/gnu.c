/* gnu.c: the lane kernels of words/gnu.lv.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_VECTORS && HLI_ISA(gnu)
#  include "../words/gnu.lv.h"
#  include "../alg/kernels.inc.h"
#endif
