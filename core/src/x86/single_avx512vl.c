/* single_avx512vl.c: SHA-512 of one message over AVX-512VL: like AVX2, with vector rotations and vector functions of
 * three words.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86_64 && HLI_ISA(avx512vl)
#  define SV_RORX  1
#  define SV_VPROL 1
#  include "../lanes/avx512vl.h"
#  include "single.inc.h"
#endif
