/* many.c: the interface "Hashloom": many messages in one call.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define _DEFAULT_SOURCE
#include "module.h"

#include "hashloom-pkcs11.h"

#include <stdlib.h>

_Static_assert(sizeof(HL_MESSAGE) == sizeof(hl_slice) &&
                   offsetof(HL_MESSAGE, ulDataLen) == offsetof(hl_slice, nbytes) && sizeof(CK_ULONG) == sizeof(size_t),
               "HL_MESSAGE is hl_slice");

/* Checks the session, the mechanism and the room. 1: the results are to be written. 0: *rv is the answer. */
static int is_ready(CK_SESSION_HANDLE handle, const CK_MECHANISM *mechanism, int is_digest, const HL_MESSAGE *messages,
                    CK_ULONG count, const CK_BYTE *out, CK_ULONG *out_nbytes, const struct algorithm **algorithm,
                    size_t *result_nbytes, CK_RV *rv)
{
    struct session *session;

    *rv = hlk_session(handle, &session);
    if (*rv != CKR_OK)
        return 0;
    hlk_leave(session, CKR_OK);
    *rv = hlk_mechanism(mechanism, is_digest, algorithm, result_nbytes);
    if (*rv != CKR_OK)
        return 0;
    *rv = out_nbytes == NULL || (messages == NULL && count != 0) ? CKR_ARGUMENTS_BAD
          : count > SIZE_MAX / *result_nbytes                    ? CKR_DATA_LEN_RANGE
                                                                 : CKR_OK;
    if (*rv != CKR_OK)
        return 0;
    const CK_ULONG room = *out_nbytes, nbytes = count * *result_nbytes;
    *out_nbytes = nbytes;
    if (out != NULL && room < nbytes)
        *rv = CKR_BUFFER_TOO_SMALL;
    return out != NULL && room >= nbytes;
}

static CK_RV digest_many(CK_SESSION_HANDLE handle, CK_MECHANISM *mechanism, const HL_MESSAGE *messages, CK_ULONG count,
                         CK_BYTE *digests, CK_ULONG *digests_nbytes)
{
    const struct algorithm *algorithm;
    size_t nbytes;
    CK_RV rv;

    if (!is_ready(handle, mechanism, 1, messages, count, digests, digests_nbytes, &algorithm, &nbytes, &rv))
        return rv;
    return hlk_error(hl_hash_many(algorithm->alg, (const hl_slice *)(const void *)messages, count, digests));
}

static CK_RV sign_many(CK_SESSION_HANDLE handle, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key_handle,
                       const HL_MESSAGE *messages, CK_ULONG count, CK_BYTE *macs, CK_ULONG *macs_nbytes)
{
    enum { AT_ONCE = 256 };
    const struct algorithm *algorithm;
    size_t nbytes;
    hl_hmac_key key;
    uint8_t whole[AT_ONCE * HL_DIGEST_MAX_NBYTES];
    CK_RV rv;

    if (!is_ready(handle, mechanism, 0, messages, count, macs, macs_nbytes, &algorithm, &nbytes, &rv))
        return rv;
    rv = hlk_hmac_key(key_handle, algorithm, mechanism->mechanism, SIGN, &key);
    if (rv != CKR_OK)
        return rv;
    const size_t digest_nbytes = hl_alg_find(algorithm->alg)->digest_nbytes;
    const hl_slice *slices = (const hl_slice *)(const void *)messages;
    if (nbytes == digest_nbytes)
        rv = hlk_error(hl_hmac_many(&key, slices, count, macs));
    for (CK_ULONG at = 0; nbytes != digest_nbytes && at < count && rv == CKR_OK; at += AT_ONCE) {
        const size_t n = count - at < AT_ONCE ? count - at : AT_ONCE;
        rv = hlk_error(hl_hmac_many(&key, slices + at, n, whole));
        for (size_t i = 0; i < n && rv == CKR_OK; i++)
            memcpy(macs + (at + i) * nbytes, whole + i * digest_nbytes, nbytes);
    }
    explicit_bzero(whole, sizeof whole); /* the part of each MAC that is not given out */
    hl_hmac_key_wipe(&key);
    return rv;
}

const HL_FUNCTION_LIST hlk_many = {{1, 0}, digest_many, sign_many};
