/* sha3.c: the lane kernels of words/sha3.lv.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_ARM64 && HLI_ISA(sha3)
#  include "../words/sha3.lv.h"
#  include "../alg/kernels.inc.h"
#endif
