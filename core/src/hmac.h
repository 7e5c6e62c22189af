/* hmac.h: what hmac.c has for other calls with keys.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_HMAC_H
#define HLI_HMAC_H

#include "job.h"

/* What a caller of hli_make_key burns besides: the frames of hmac.c, and those of the C library's functions. What lies
 * deeper the lane driver burns, if the plan is of a secret. */
enum { HLI_MAKE_KEY_NBYTES = 1536 };

/* FIPS 198-1 section 4, steps 1 to 4 and 7. The key is made by the plan's choice of kernels. */
HLI_HIDDEN void hli_make_key(const hl_alg_info *alg, const struct hli_plan *plan, const hl_slice *secret,
                             hl_hmac_key *key);

#endif
