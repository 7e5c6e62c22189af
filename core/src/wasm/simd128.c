/* simd128.c: the lane kernels of lanes/simd128.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_WASM && HLI_ISA(simd128)
#  include "../lanes/simd128.h"
#  include "../lanes/kernels.inc.h"
#endif
