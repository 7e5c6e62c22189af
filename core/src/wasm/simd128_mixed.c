/* simd128_mixed.c: the lane kernels of lanes/simd128_mixed.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_WASM && HLI_ISA(simd128)
#  include "../lanes/simd128_mixed.h"
#  include "../lanes/kernels.inc.h"
#endif
