/* sse2.c: the lane kernels of words/sse2.lv.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86
#  include "../words/sse2.lv.h"
#  if HLI_ISA(sse2)
#    include "../alg/kernels.inc.h"
#  endif

LV_TARGET void hli_clear_sse2(void)
{
#  define ZERO(n) "pxor %%xmm" #n ", %%xmm" #n "\n\t"
    __asm__ volatile(ZERO(0) ZERO(1) ZERO(2) ZERO(3) ZERO(4) ZERO(5) ZERO(6) ZERO(7)
                     :
                     :
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
#  if HLI_X86_64
    __asm__ volatile(ZERO(8) ZERO(9) ZERO(10) ZERO(11) ZERO(12) ZERO(13) ZERO(14) ZERO(15)
                     :
                     :
                     : "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#  endif
}
#endif
