/* build.h: included before every file of the core when it is compiled to assembly for Go.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_GO_BUILD_H
#define HLI_GO_BUILD_H

#include <stddef.h>

/* In entry.c. */
__attribute__((visibility("hidden"))) void hli_go_wipe_below(size_t nbytes);
__attribute__((visibility("hidden"))) unsigned long hli_go_hwcap(void);

#define HLI_WIPE_BELOW hli_go_wipe_below
#define HLI_SMALL      1
#define HLI_TREES      0 /* no package has BLAKE3 */
#define HLI_HAS_PLAIN  !HLI_X86 /* the core is used where AVX2 is */
#define AT_HWCAP       16
#define getauxval(of)  hli_go_hwcap() /* Go has asked the operating system */

#endif
