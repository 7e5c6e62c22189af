/* sha3.c: the lane kernels of lanes/sha3.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_ARM64 && HLI_ISA(sha3)
#  include "../lanes/sha3.h"
#  include "../lanes/kernels.inc.h"
#endif
