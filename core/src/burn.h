/* burn.h: overwrites what a call has left on the stack and in registers (burn.c).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_BURN_H
#define HLI_BURN_H

#include "core.h"

/* The nbytes of the stack below the caller's frame; the registers that a call may change. */
HLI_HIDDEN void hli_burn_stack(size_t nbytes);
HLI_HIDDEN void hli_clear_registers(void);
/* Both. The first is no tail call, which would drop the caller's frame first, and burn too far up. */
HLI_INLINE void hli_burn(size_t nbytes)
{
    hli_burn_stack(nbytes);
    hli_clear_registers();
}

#endif
