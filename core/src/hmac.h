/* hmac.h: functions of hmac.c for other calls with keys.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_HMAC_H
#define HLI_HMAC_H

#include "api.h"

/* FIPS 198-1 section 4, steps 1 to 4 and 7. `kernel` is the one for one message. The caller burns the stack. */
HLI_HIDDEN void hli_make_key(const hl_kernel *kernel, const hl_alg_info *alg, const hl_slice *secret,
                             hl_hmac_key *key);

#endif
