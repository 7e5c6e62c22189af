/* burn.c: overwrites what a call has left on the stack and in registers.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Kernels keep states and message schedules in registers and spill them to the stack, where they stay after return. A
 * kernel that cleaned up after itself would do so for every block of every hash. A call with a secret therefore burns
 * the stack once, at its end, from a frame that holds no secret itself, as deep as its callees have been.
 */
#include "burn.h"
#include "registry.h"

/* Called from the frame below which it burns, and not from another function: frames keep their tops, on s390x 160 bytes
 * each. It needs so few registers that it saves none of its caller's, which may hold words of a secret. */
__attribute__((noinline)) void hli_burn_stack(size_t nbytes)
{
#ifdef HLI_WIPE_BELOW /* a build whose stack is not where the stack pointer points: Go's */
    HLI_WIPE_BELOW(nbytes);
#else
    uint8_t stack[nbytes];

    hli_wipe(stack, nbytes);
#endif
}

__attribute__((noinline)) void hli_clear_registers(void)
{
    hli_clear_vectors();
#if HLI_X86_64
    __asm__ volatile("xor %%eax, %%eax\n\txor %%ecx, %%ecx\n\txor %%edx, %%edx\n\txor %%esi, %%esi\n\t"
                     "xor %%edi, %%edi\n\txor %%r8d, %%r8d\n\txor %%r9d, %%r9d\n\txor %%r10d, %%r10d\n\t"
                     "xor %%r11d, %%r11d"
                     :
                     :
                     : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
#elif HLI_X86
    __asm__ volatile("xor %%eax, %%eax\n\txor %%ecx, %%ecx\n\txor %%edx, %%edx" : : : "eax", "ecx", "edx", "cc");
#elif HLI_ARM64
#  define ZERO(n) "mov x" #n ", xzr\n\t"
    __asm__ volatile(ZERO(0) ZERO(1) ZERO(2) ZERO(3) ZERO(4) ZERO(5) ZERO(6) ZERO(7) ZERO(8) ZERO(9) ZERO(10) ZERO(11)
                     ZERO(12) ZERO(13) ZERO(14) ZERO(15) ZERO(16) ZERO(17)
                     :
                     :
                     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
                       "x15", "x16", "x17");
#endif
}
