/* operation.c: digests (C_Digest...), MACs (C_Sign..., C_Verify...), and states of digests saved and continued.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A session has one active operation. Every error ends it, as the standard says, except a buffer that is too small.
 */
#define _DEFAULT_SOURCE
#include "module.h"

/* Finds and locks the session, which must have this operation. */
static CK_RV enter(CK_SESSION_HANDLE handle, enum purpose purpose, struct session **session)
{
    const CK_RV rv = hlk_session(handle, session);

    if (rv != CKR_OK || (int)(*session)->active == (int)purpose)
        return rv;
    return hlk_leave(*session, CKR_OPERATION_NOT_INITIALIZED);
}

static CK_RV fail(struct session *session, CK_RV rv)
{
    hlk_end_operation(session);
    return hlk_leave(session, rv);
}

/* 1: there is room for the result. 0: the caller asked for its length, or has too little room, or passed no place for
 * the length; *rv is then the answer. */
static int has_room(const CK_BYTE *out, CK_ULONG *out_nbytes, size_t nbytes, CK_RV *rv)
{
    if (out_nbytes == NULL) {
        *rv = CKR_ARGUMENTS_BAD;
        return 0;
    }
    const CK_ULONG room = *out_nbytes;
    *out_nbytes = nbytes;
    *rv = out != NULL && room < nbytes ? CKR_BUFFER_TOO_SMALL : CKR_OK;
    return out != NULL && room >= nbytes;
}

static CK_RV begin(CK_SESSION_HANDLE handle, const CK_MECHANISM *mechanism, enum purpose purpose, CK_OBJECT_HANDLE key)
{
    struct session *session;
    CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    if (mechanism == NULL && (int)session->active == (int)purpose)
        return fail(session, CKR_OK); /* the caller cancels it */
    if (session->active != IDLE)
        return hlk_leave(session, CKR_OPERATION_ACTIVE);
    rv = hlk_mechanism(mechanism, purpose == DIGEST, &session->algorithm, &session->result_nbytes);
    if (rv == CKR_OK && purpose != DIGEST)
        rv = hlk_hmac_key(key, session->algorithm, mechanism->mechanism, purpose, &session->mac.key);
    if (rv == CKR_OK)
        session->active = (int)purpose;
    return hlk_leave(session, rv);
}

/* A message comes either in one call, which needs no context, or in parts, from the first call on: also if that call
 * only asks for the length of the result. */
static CK_RV choose(struct session *session, int is_whole)
{
    if (is_whole ? session->is_parted : session->is_whole)
        return CKR_OPERATION_ACTIVE;
    if (is_whole || session->is_parted) {
        session->is_whole = is_whole;
        return CKR_OK;
    }
    session->is_parted = 1;
    return hlk_error(session->active == DIGESTING ? hl_init(&session->digest, session->algorithm->alg)
                                                  : hl_hmac_init(&session->mac.ctx, &session->mac.key));
}

static CK_RV add(struct session *session, const void *part, size_t nbytes)
{
    const CK_RV rv = choose(session, 0);

    return rv != CKR_OK ? rv
                        : hlk_error(session->active == DIGESTING ? hl_update(&session->digest, part, nbytes)
                                                                 : hl_hmac_update(&session->mac.ctx, part, nbytes));
}

static CK_RV update(CK_SESSION_HANDLE handle, enum purpose purpose, const CK_BYTE *part, CK_ULONG nbytes)
{
    struct session *session;
    CK_RV rv = enter(handle, purpose, &session);

    if (rv != CKR_OK)
        return rv;
    rv = add(session, part, nbytes);
    return rv == CKR_OK ? hlk_leave(session, CKR_OK) : fail(session, rv);
}

/* The digest or MAC of a whole message, or of the parts. */
static CK_RV compute(struct session *session, int is_whole, const CK_BYTE *data, size_t nbytes, uint8_t *result)
{
    if (session->active == DIGESTING)
        return hlk_error(is_whole ? hl_hash(session->algorithm->alg, data, nbytes, result)
                                  : hl_final(&session->digest, result));
    return hlk_error(is_whole ? hl_hmac(&session->mac.key, data, nbytes, result)
                              : hl_hmac_final(&session->mac.ctx, result));
}

/* C_Digest, C_Sign (is_whole) and their ...Final. The result may lie over the message. */
static CK_RV produce(CK_SESSION_HANDLE handle, enum purpose purpose, int is_whole, const CK_BYTE *data,
                     CK_ULONG nbytes, CK_BYTE *out, CK_ULONG *out_nbytes)
{
    uint8_t result[HL_DIGEST_MAX_NBYTES];
    struct session *session;
    CK_RV rv = enter(handle, purpose, &session);

    if (rv != CKR_OK)
        return rv;
    rv = choose(session, is_whole);
    if (rv != CKR_OK)
        return fail(session, rv);
    if (!has_room(out, out_nbytes, session->result_nbytes, &rv))
        return rv == CKR_ARGUMENTS_BAD ? fail(session, rv) : hlk_leave(session, rv);
    rv = compute(session, is_whole, data, nbytes, result);
    if (rv == CKR_OK)
        memcpy(out, result, session->result_nbytes);
    explicit_bzero(result, sizeof result); /* a MAC may be cut off */
    return fail(session, rv);
}

static CK_RV verify(CK_SESSION_HANDLE handle, int is_whole, const CK_BYTE *data, CK_ULONG nbytes,
                    const CK_BYTE *signature, CK_ULONG signature_nbytes)
{
    uint8_t result[HL_DIGEST_MAX_NBYTES];
    struct session *session;
    CK_RV rv = enter(handle, VERIFY, &session);

    if (rv != CKR_OK)
        return rv;
    if (signature == NULL)
        return fail(session, CKR_ARGUMENTS_BAD);
    if (signature_nbytes != session->result_nbytes)
        return fail(session, CKR_SIGNATURE_LEN_RANGE);
    rv = choose(session, is_whole);
    if (rv == CKR_OK)
        rv = compute(session, is_whole, data, nbytes, result);
    if (rv == CKR_OK && !hl_equal(result, signature, signature_nbytes))
        rv = CKR_SIGNATURE_INVALID;
    explicit_bzero(result, sizeof result);
    return fail(session, rv);
}

/* ---- Digests ---- */

CK_RV C_DigestInit(CK_SESSION_HANDLE handle, CK_MECHANISM *mechanism)
{
    return begin(handle, mechanism, DIGEST, CK_INVALID_HANDLE);
}

CK_RV C_Digest(CK_SESSION_HANDLE handle, CK_BYTE *data, CK_ULONG nbytes, CK_BYTE *digest, CK_ULONG *digest_nbytes)
{
    return produce(handle, DIGEST, 1, data, nbytes, digest, digest_nbytes);
}

CK_RV C_DigestUpdate(CK_SESSION_HANDLE handle, CK_BYTE *part, CK_ULONG nbytes)
{
    return update(handle, DIGEST, part, nbytes);
}

CK_RV C_DigestKey(CK_SESSION_HANDLE handle, CK_OBJECT_HANDLE key_handle)
{
    struct session *session;
    struct key *key;
    CK_RV rv = enter(handle, DIGEST, &session);

    if (rv != CKR_OK)
        return rv;
    rv = hlk_key(key_handle, CKR_KEY_HANDLE_INVALID, &key);
    if (rv != CKR_OK)
        return fail(session, rv);
    if (!hlk_allows(key, session->algorithm->digest)) {
        hlk_leave(key, CKR_OK);
        return fail(session, CKR_KEY_INDIGESTIBLE);
    }
    session->has_key = 1;
    rv = hlk_leave(key, add(session, key->strings[VALUE].data, key->strings[VALUE].nbytes));
    return rv == CKR_OK ? hlk_leave(session, rv) : fail(session, rv);
}

CK_RV C_DigestFinal(CK_SESSION_HANDLE handle, CK_BYTE *digest, CK_ULONG *digest_nbytes)
{
    return produce(handle, DIGEST, 0, NULL, 0, digest, digest_nbytes);
}

/* ---- MACs ---- */

CK_RV C_SignInit(CK_SESSION_HANDLE handle, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key)
{
    return begin(handle, mechanism, SIGN, key);
}

CK_RV C_Sign(CK_SESSION_HANDLE handle, CK_BYTE *data, CK_ULONG nbytes, CK_BYTE *signature, CK_ULONG *signature_nbytes)
{
    return produce(handle, SIGN, 1, data, nbytes, signature, signature_nbytes);
}

CK_RV C_SignUpdate(CK_SESSION_HANDLE handle, CK_BYTE *part, CK_ULONG nbytes)
{
    return update(handle, SIGN, part, nbytes);
}

CK_RV C_SignFinal(CK_SESSION_HANDLE handle, CK_BYTE *signature, CK_ULONG *signature_nbytes)
{
    return produce(handle, SIGN, 0, NULL, 0, signature, signature_nbytes);
}

CK_RV C_VerifyInit(CK_SESSION_HANDLE handle, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key)
{
    return begin(handle, mechanism, VERIFY, key);
}

CK_RV C_Verify(CK_SESSION_HANDLE handle, CK_BYTE *data, CK_ULONG nbytes, CK_BYTE *signature, CK_ULONG signature_nbytes)
{
    return verify(handle, 1, data, nbytes, signature, signature_nbytes);
}

CK_RV C_VerifyUpdate(CK_SESSION_HANDLE handle, CK_BYTE *part, CK_ULONG nbytes)
{
    return update(handle, VERIFY, part, nbytes);
}

CK_RV C_VerifyFinal(CK_SESSION_HANDLE handle, CK_BYTE *signature, CK_ULONG signature_nbytes)
{
    return verify(handle, 0, NULL, 0, signature, signature_nbytes);
}

/* ---- States ---- */

/* Only of digests without a key: the state of a MAC is as secret as its key, and that of a digest may hold the key's
 * own bytes. */
CK_RV C_GetOperationState(CK_SESSION_HANDLE handle, CK_BYTE *state, CK_ULONG *state_nbytes)
{
    uint8_t bytes[HL_EXPORT_MAX_NBYTES];
    size_t nbytes = 0;
    struct session *session;
    CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    if (state_nbytes == NULL)
        return hlk_leave(session, CKR_ARGUMENTS_BAD);
    if (session->active == IDLE || session->active == FINDING)
        return hlk_leave(session, CKR_OPERATION_NOT_INITIALIZED);
    if (session->active != DIGESTING || session->has_key)
        return hlk_leave(session, CKR_STATE_UNSAVEABLE);
    hl_ctx ctx = session->digest;
    rv = hlk_error(session->is_parted ? HL_OK : hl_init(&ctx, session->algorithm->alg));
    if (rv == CKR_OK)
        rv = hlk_error(hl_export(&ctx, bytes, sizeof bytes, &nbytes));
    if (rv == CKR_OK && has_room(state, state_nbytes, nbytes, &rv))
        memcpy(state, bytes, nbytes);
    return hlk_leave(session, rv);
}

/* Replaces the active operation, if any. */
CK_RV C_SetOperationState(CK_SESSION_HANDLE handle, CK_BYTE *state, CK_ULONG nbytes, CK_OBJECT_HANDLE encryption_key,
                          CK_OBJECT_HANDLE authentication_key)
{
    hl_ctx ctx;
    struct session *session;
    const CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    if (state == NULL)
        return hlk_leave(session, CKR_ARGUMENTS_BAD);
    if (encryption_key != CK_INVALID_HANDLE || authentication_key != CK_INVALID_HANDLE)
        return hlk_leave(session, CKR_KEY_NOT_NEEDED);
    if (hl_import(&ctx, state, nbytes) != HL_OK || hlk_algorithm((hl_alg)ctx.alg) == NULL)
        return hlk_leave(session, CKR_SAVED_STATE_INVALID);
    hlk_end_operation(session);
    session->active = DIGESTING;
    session->is_parted = 1;
    session->algorithm = hlk_algorithm((hl_alg)ctx.alg);
    session->result_nbytes = hl_alg_find((hl_alg)ctx.alg)->digest_nbytes;
    session->digest = ctx;
    return hlk_leave(session, CKR_OK);
}
