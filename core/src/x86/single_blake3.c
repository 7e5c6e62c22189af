/* single_blake3.c: BLAKE3 of one message over AVX.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86_64 && HLI_ISA(avx) && HLI_ALG(blake3)
#  include <smmintrin.h> /* in the encoding of AVX */

#  include "../lanes/avx.h"
#  define VECTORS 1
#  define NAME hli_blake3_blocks_avx_x1
#  include "single_blake3.inc.h"
#endif
