/* single_avx512vl.c: one message over AVX-512VL: as over AVX2, with rotations and functions of three words in vectors.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86
#  define SV_RORX  1
#  define SV_VPROL 1
#  include "../lanes/avx512vl.h"
#  include "single.inc.h"
#endif
