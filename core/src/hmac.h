/* hmac.h: functions of hmac.c for other calls with keys.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_HMAC_H
#define HLI_HMAC_H

#include "job.h"

/* Stack that the caller of hli_make_key burns: the frames of hmac.c and of the C library's functions. The lane driver
 * burns what lies deeper, if the plan is secret. */
enum { HLI_MAKE_KEY_NBYTES = 1536 };

/* FIPS 198-1 section 4, steps 1 to 4 and 7. The plan chooses the kernels that make the key. */
HLI_HIDDEN void hli_make_key(const hl_alg_info *alg, const struct hli_plan *plan, const hl_slice *secret,
                             hl_hmac_key *key);

#endif
