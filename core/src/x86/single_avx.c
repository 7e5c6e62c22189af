/* single_avx.c: one message over AVX, of SHA-2 and BLAKE3: SHA-1 gains 2% at most.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86 && HLI_ISA(avx)
#  define SV_RORX  0
#  define SV_VPROL 0
#  define SV_NO_SHA1
#  include "../words/avx.lv.h"
#  include "single.inc.h"

#  if HLI_X86_64 && HLI_ALG(blake3)
#    define VECTORS 1
#    define NAME hli_blake3_blocks_avx_x1
#    include "single_blake3.inc.h"
#  endif
#endif
