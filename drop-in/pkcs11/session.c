/* session.c: sessions.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define _DEFAULT_SOURCE
#include "module.h"

#include <stdlib.h>

_Atomic CK_ULONG hlk_session_counts[2];

static void end_session(void *ended)
{
    struct session *session = ended;

    hlk_end_operation(session);
    hlk_session_counts[(session->flags & CKF_RW_SESSION) != 0]--;
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

/* The session is locked. Keys go after it, so that no call of it can use them. */
static void close_session(struct session *session)
{
    const CK_SESSION_HANDLE handle = session->entry.handle;
    const int has_keys = session->has_keys;
    struct key *key;
    CK_ULONG index = 0;

    hlk_remove(&hlk_sessions, session);
    while (has_keys && (key = hlk_next(&hlk_keys, &index)) != NULL)
        if (key->owner == handle)
            hlk_remove(&hlk_keys, key);
        else
            hlk_leave(key, CKR_OK);
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
        .state = (session->flags & CKF_RW_SESSION) != 0 ? CKS_RW_PUBLIC_SESSION : CKS_RO_PUBLIC_SESSION,
        .flags = session->flags,
    };
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
