/* avx.c: clears the registers of AVX.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86
/* Clears all bits of these registers, also those that AVX does not know. Leaves xmm16 to xmm31. */
__attribute__((target("avx"))) void hli_clear_avx(void)
{
    __asm__ volatile("vzeroall"
                     :
                     :
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7"
#  if HLI_X86_64
                     , "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#  endif
    );
}
#endif
