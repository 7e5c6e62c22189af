/* session.c: sessions.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define _DEFAULT_SOURCE
#include "module.h"

#include <stdlib.h>

_Atomic CK_ULONG hlk_session_counts[2];
static _Atomic int is_logged_in; /* the user; the token has no security officer */

static void end_session(void *ended)
{
    struct session *session = ended;

    hlk_end_operation(session);
    hlk_session_counts[(session->flags & CKF_RW_SESSION) != 0]--;
    if (hlk_session_counts[0] + hlk_session_counts[1] == 0)
        is_logged_in = 0;
}

struct table hlk_sessions = {
    .entry_nbytes = sizeof(struct session), .end = end_session, .lock = {.os = PTHREAD_MUTEX_INITIALIZER}};

CK_RV hlk_session(CK_SESSION_HANDLE handle, struct session **session)
{
    return hlk_enter(&hlk_sessions, handle, CKR_SESSION_HANDLE_INVALID, session);
}

void hlk_end_operation(struct session *session)
{
    switch (session->active) {
    case IDLE: break;
    case DIGESTING:
        if (session->is_parted)
            explicit_bzero(&session->digest, sizeof session->digest);
        break;
    case SIGNING:
    case VERIFYING:
        explicit_bzero(&session->mac.key, sizeof session->mac.key);
        if (session->is_parted)
            explicit_bzero(&session->mac.ctx, sizeof session->mac.ctx);
        break;
    case FINDING: {
        CK_OBJECT_HANDLE *handles = session->found.handles;
        session->found.handles = NULL;
        free(handles);
        break;
    }
    }
    session->active = IDLE;
    session->is_whole = 0;
    session->is_parted = 0;
    session->has_key = 0;
}

CK_RV C_OpenSession(CK_SLOT_ID slot, CK_FLAGS flags, void *application, CK_NOTIFY notify, CK_SESSION_HANDLE *handle)
{
    (void)application;
    (void)notify; /* nothing to notify of */
    CK_RV rv = hlk_check_slot(slot);
    if (rv != CKR_OK)
        return rv;
    if ((flags & CKF_SERIAL_SESSION) == 0)
        return CKR_SESSION_PARALLEL_NOT_SUPPORTED;
    if (handle == NULL)
        return CKR_ARGUMENTS_BAD;
    const struct session session = {.flags = flags & (CKF_SERIAL_SESSION | CKF_RW_SESSION)};
    _Atomic CK_ULONG *count = &hlk_session_counts[(flags & CKF_RW_SESSION) != 0];
    (*count)++;
    rv = hlk_add(&hlk_sessions, &session, handle);
    if (rv != CKR_OK)
        (*count)--;
    return rv;
}

/* Ends the keys of a session, or with owner 0 those of all sessions, that have all of these flags. */
static void end_keys(CK_SESSION_HANDLE owner, uint32_t flags)
{
    struct key *key;
    CK_ULONG index = 0;

    while ((key = hlk_next(&hlk_keys, &index)) != NULL)
        if (key->owner != 0 && (owner == 0 || key->owner == owner) && (key->flags & flags) == flags)
            hlk_remove(&hlk_keys, key);
        else
            hlk_leave(key, CKR_OK);
}

/* The session is locked. Keys go after it, so that no call of it can use them. */
static void close_session(struct session *session)
{
    const CK_SESSION_HANDLE handle = session->entry.handle;
    const int has_keys = session->has_keys;

    hlk_remove(&hlk_sessions, session);
    if (has_keys)
        end_keys(handle, 0);
}

CK_RV C_CloseSession(CK_SESSION_HANDLE handle)
{
    struct session *session;
    const CK_RV rv = hlk_session(handle, &session);

    if (rv == CKR_OK)
        close_session(session);
    return rv;
}

CK_RV C_CloseAllSessions(CK_SLOT_ID slot)
{
    struct session *session;
    CK_ULONG index = 0;

    const CK_RV rv = hlk_check_slot(slot);
    if (rv != CKR_OK)
        return rv;
    while ((session = hlk_next(&hlk_sessions, &index)) != NULL)
        close_session(session);
    return CKR_OK;
}

CK_RV C_GetSessionInfo(CK_SESSION_HANDLE handle, CK_SESSION_INFO *info)
{
    struct session *session;
    const CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    if (info == NULL)
        return hlk_leave(session, CKR_ARGUMENTS_BAD);
    *info = (CK_SESSION_INFO){
        .slotID = SLOT_ID,
        .state = (session->flags & CKF_RW_SESSION) != 0 ? (is_logged_in ? CKS_RW_USER_FUNCTIONS : CKS_RW_PUBLIC_SESSION)
                 : is_logged_in                         ? CKS_RO_USER_FUNCTIONS
                                                        : CKS_RO_PUBLIC_SESSION,
        .flags = session->flags,
    };
    return hlk_leave(session, CKR_OK);
}

/* Nothing needs a login. Any PIN is right, so that programs that always log in can use the token. */
CK_RV C_Login(CK_SESSION_HANDLE handle, CK_USER_TYPE user, CK_UTF8CHAR *pin, CK_ULONG pin_nbytes)
{
    struct session *session;
    CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    if (user == CKU_CONTEXT_SPECIFIC)
        rv = CKR_OPERATION_NOT_INITIALIZED; /* no operation asks for a PIN */
    else if (user != CKU_USER)
        rv = user == CKU_SO && is_logged_in ? CKR_USER_ANOTHER_ALREADY_LOGGED_IN : CKR_USER_TYPE_INVALID;
    else if (pin == NULL && pin_nbytes != 0)
        rv = CKR_ARGUMENTS_BAD;
    else
        rv = atomic_exchange(&is_logged_in, 1) ? CKR_USER_ALREADY_LOGGED_IN : CKR_OK;
    return hlk_leave(session, rv);
}

/* Ends private keys of sessions, as the standard says. */
CK_RV C_Logout(CK_SESSION_HANDLE handle)
{
    struct session *session;
    const CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    if (!atomic_exchange(&is_logged_in, 0))
        return hlk_leave(session, CKR_USER_NOT_LOGGED_IN);
    end_keys(0, FLAG(PRIVATE));
    return hlk_leave(session, CKR_OK);
}

/* Operations that are not active are no error (PKCS#11 3.0, C_SessionCancel). */
CK_RV C_SessionCancel(CK_SESSION_HANDLE handle, CK_FLAGS flags)
{
    static const CK_FLAGS of[] = {
        [DIGESTING] = CKF_DIGEST, [SIGNING] = CKF_SIGN, [VERIFYING] = CKF_VERIFY, [FINDING] = CAN_FIND_OBJECTS};
    struct session *session;
    const CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    if ((of[session->active] & flags) != 0)
        hlk_end_operation(session);
    return hlk_leave(session, CKR_OK);
}
