/* neon.c: the lane kernels of words/neon.lv.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_ARM64
#  include "../words/neon.lv.h"
#  if HLI_ISA(neon)
#    include "../alg/kernels.inc.h"
#  endif

/* The lower halves of v8 to v15 are the caller's. */
LV_KERNEL void hli_clear_neon(void)
{
#  define ZERO(n) "movi v" #n ".2d, #0\n\t"
    __asm__ volatile(ZERO(0) ZERO(1) ZERO(2) ZERO(3) ZERO(4) ZERO(5) ZERO(6) ZERO(7) ZERO(16) ZERO(17) ZERO(18) ZERO(19)
                     ZERO(20) ZERO(21) ZERO(22) ZERO(23) ZERO(24) ZERO(25) ZERO(26) ZERO(27) ZERO(28) ZERO(29) ZERO(30)
                     ZERO(31)
                     :
                     :
                     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22",
                       "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
    __asm__ volatile(ZERO(8) ZERO(9) ZERO(10) ZERO(11) ZERO(12) ZERO(13) ZERO(14) ZERO(15)
                     :
                     :
                     : "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15");
}
#endif
