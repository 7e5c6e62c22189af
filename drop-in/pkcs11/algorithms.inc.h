/* algorithms.inc.h: ROW(NAME, name, mechanism) for each algorithm of algorithms.def that PKCS#11 has mechanisms for.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The file that includes this one defines ROW, and makes of it HL_<NAME>, CKM_<mechanism>, CKM_<mechanism>_HMAC,
 * CKM_<mechanism>_HMAC_GENERAL and CKK_<mechanism>_HMAC.
 */
#include "../../core/src/parts.h"

/* CHOOSE(IS_##mechanism, ROW, ~) is NO_ROW if IS_<mechanism> brings two arguments, else ROW. */
#define CHOOSE(...)                   CHOOSE_(__VA_ARGS__)
#define CHOOSE_(ignored, chosen, ...) chosen
#define IS_NONE                       ~, NO_ROW
#define NO_ROW(...)
#define ALG(NAME, id, name, title, body, digest_nbytes, block_nbytes, iv, ending, hashlib, tag, openssl, pkcs11, ...)  \
    CHOOSE(IS_##pkcs11, ROW, ~)(NAME, name, pkcs11)
#include "../../core/src/algorithms.def"
#undef NO_ROW
#undef IS_NONE
#undef CHOOSE_
#undef CHOOSE
#undef ROW
