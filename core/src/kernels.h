/* kernels.h: the declarations of all kernels, from the table, so that a definition that does not match is an error.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "core.h"

#define ISA(name, needs)
#define KERNEL(body, function, isa, nlanes, intel, amd) HLI_HIDDEN hl_blocks_fn function;
#include "registry.def"
#undef ISA
#undef KERNEL
