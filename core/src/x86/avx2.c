/* avx2.c: the lane kernels of lanes/avx2.h, and their digests.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86 && HLI_ISA(avx2)
#  include "../lanes/avx2.h"
#  include "../lanes/kernels.inc.h"
#  include "digests.inc.h"
#endif
