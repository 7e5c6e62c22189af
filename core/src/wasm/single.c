/* single.c: SHA-1 and SHA-2 of one message over WebAssembly's vectors: the message schedule in vectors, the rounds in
 * scalars.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The method is that of x86/single.inc.h, left to compilers: neighbouring words of the schedule are made together, with
 * K, and go to memory, where a round takes them. V8 11.3, Xeon (Emerald Rapids), clang 14, ns a block of SHA-256: 225
 * in plain C, all written out, 182 so, in half of the code.
 */
#include "../kernels.h"
#if HLI_WASM && HLI_ISA(simd128)
#  include "../words/simd128.lv.h"

#  define LV_PASTE_(x, y) x##_##y
#  define LV_PASTE(x, y)  LV_PASTE_(x, y)
#  define LV_PRAGMA(x)    _Pragma(#x)
#  define LV_UNROLL(n)    LV_PRAGMA(GCC unroll n)

#  if HLI_ALG(sha1)
#    include "single_sha1.inc.h"
#  endif
#  define SHA2_WORD 32
#  if HLI_ALG(sha256)
#    include "single_sha2.inc.h"
#  endif
#  undef SHA2_WORD
#  define SHA2_WORD 64
#  if HLI_ALG(sha512)
#    include "single_sha2.inc.h"
#  endif
#  undef SHA2_WORD
#endif
