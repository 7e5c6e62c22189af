/* simd128_mixed.c: the lane kernels of words/simd128_mixed.lv.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_WASM && HLI_ISA(simd128)
#  include "../words/simd128_mixed.lv.h"
#  include "../alg/kernels.inc.h"
#endif
