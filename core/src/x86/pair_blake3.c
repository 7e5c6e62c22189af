/* pair_blake3.c: BLAKE3 of two messages over AVX2.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86_64 && HLI_ISA(avx2) && HLI_ALG(blake3)
#  include "../lanes/avx2.h"
#  define VECTORS 1
#  define NAME    hli_blake3_blocks_avx2_x2
#  include "single_blake3.inc.h"
#  define VECTORS 2
#  define NAME    hli_blake3_blocks_avx2_x4
#  include "single_blake3.inc.h"
#endif
