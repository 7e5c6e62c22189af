/* avx2.c: the lane kernels of words/avx2.lv.h, and their digests; one message over AVX2, the schedules of two blocks at
 * once, and BMI2; BLAKE3 of two and four messages.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86 && HLI_ISA(avx2)
#  include "../words/avx2.lv.h"
#  include "../alg/kernels.inc.h"
#  include "digests.inc.h"

#  define SV_RORX  1
#  define SV_VPROL 0
#  include "single.inc.h"

#  if HLI_X86_64 && HLI_ALG(blake3)
#    define VECTORS 1
#    define NAME    hli_blake3_blocks_avx2_x2
#    include "single_blake3.inc.h"
#    define VECTORS 2
#    define NAME    hli_blake3_blocks_avx2_x4
#    include "single_blake3.inc.h"
#  endif
#endif
