/* ripemd160.c: RIPEMD-160 of eight messages, two registers of NEON a word.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A step of four lanes is about 10 operations and waits 10 cycles for the step before. Even with both lines
 * alternating, that is work for two pipes; CPUs since the Neoverse V1, the Cortex-X1 and Apple's have four. Eight lanes
 * do not fit the registers (20 of them hold the state, and the message would take 32), but a word of the message is
 * loaded where it is used, beside the arithmetic. registry.def has the figures. SHA-1 and SHA-256 would gain less by
 * eight lanes than by their own instructions.
 */
#include "../kernels.h"
#if HLI_ARM64 && HLI_ISA(neon) && HLI_ALG(ripemd160)
/* Before register allocation gcc moves the loads forward, so far that it spills the state: with gcc's order a block
 * takes 1,480 cycles of a Neoverse V1 instead of 970 (gcc 12.2, llvm-mca 19). */
#  if !defined(__clang__)
#    pragma GCC optimize("no-schedule-insns")
#  endif
#  include "../words/neon_x2.h"
#  define LV_ONLY LV_RIPEMD160
#  include "../alg/kernels.inc.h"

void hli_ripemd160_blocks_neon_x2(HLI_BLOCKS_ARGS)
{
    LV_NAME(ripemd160_blocks)(state, msg, nblocks, block_nbytes);
}
#endif
