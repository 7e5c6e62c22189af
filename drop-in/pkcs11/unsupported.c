/* unsupported.c: the functions that a token for hashes and MACs does not have.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "module.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Sessions that are not there, and a module that is not initialized, come first. */
static CK_RV refuse(CK_SESSION_HANDLE handle, CK_RV rv)
{
    struct session *session;
    const CK_RV found = hlk_session(handle, &session);

    return found != CKR_OK ? found : hlk_leave(session, rv);
}

#define ALWAYS(rv, name, ...)                                                                                          \
    CK_RV name(__VA_ARGS__)                                                                                            \
    {                                                                                                                  \
        return refuse(session, rv);                                                                                    \
    }
#define NONE(name, ...) ALWAYS(CKR_FUNCTION_NOT_SUPPORTED, name, __VA_ARGS__)
#define SESSION CK_SESSION_HANDLE session
#define INIT SESSION, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key
#define IN(name) CK_BYTE *name, CK_ULONG name##_nbytes
#define OUT(name) CK_BYTE *name, CK_ULONG *name##_nbytes
#define PARAMETER SESSION, void *parameter, CK_ULONG parameter_nbytes
#define TEMPLATE(name) CK_ATTRIBUTE *name, CK_ULONG name##_count

/* PINs */
CK_RV C_InitToken(CK_SLOT_ID slot, IN(pin), CK_UTF8CHAR *label)
{
    const CK_RV rv = hlk_check_slot(slot);

    return rv != CKR_OK ? rv : CKR_FUNCTION_NOT_SUPPORTED;
}
NONE(C_InitPIN, SESSION, IN(pin))
NONE(C_SetPIN, SESSION, IN(old_pin), IN(new_pin))
NONE(C_LoginUser, SESSION, CK_USER_TYPE user, IN(pin), IN(name))

/* Ciphers */
NONE(C_EncryptInit, INIT)
NONE(C_Encrypt, SESSION, IN(data), OUT(encrypted))
NONE(C_EncryptUpdate, SESSION, IN(part), OUT(encrypted))
NONE(C_EncryptFinal, SESSION, OUT(encrypted))
NONE(C_DecryptInit, INIT)
NONE(C_Decrypt, SESSION, IN(encrypted), OUT(data))
NONE(C_DecryptUpdate, SESSION, IN(encrypted), OUT(part))
NONE(C_DecryptFinal, SESSION, OUT(part))
NONE(C_DigestEncryptUpdate, SESSION, IN(part), OUT(encrypted))
NONE(C_DecryptDigestUpdate, SESSION, IN(encrypted), OUT(part))
NONE(C_SignEncryptUpdate, SESSION, IN(part), OUT(encrypted))
NONE(C_DecryptVerifyUpdate, SESSION, IN(encrypted), OUT(part))
NONE(C_MessageEncryptInit, INIT)
NONE(C_EncryptMessage, PARAMETER, IN(associated), IN(data), OUT(encrypted))
NONE(C_EncryptMessageBegin, PARAMETER, IN(associated))
NONE(C_EncryptMessageNext, PARAMETER, IN(part), OUT(encrypted), CK_FLAGS flags)
NONE(C_MessageEncryptFinal, SESSION)
NONE(C_MessageDecryptInit, INIT)
NONE(C_DecryptMessage, PARAMETER, IN(associated), IN(encrypted), OUT(data))
NONE(C_DecryptMessageBegin, PARAMETER, IN(associated))
NONE(C_DecryptMessageNext, PARAMETER, IN(encrypted), OUT(part), CK_FLAGS flags)
NONE(C_MessageDecryptFinal, SESSION)

/* Signatures that hold their message, and signatures of many messages by one initialisation */
NONE(C_SignRecoverInit, INIT)
NONE(C_SignRecover, SESSION, IN(data), OUT(signature))
NONE(C_VerifyRecoverInit, INIT)
NONE(C_VerifyRecover, SESSION, IN(signature), OUT(data))
NONE(C_MessageSignInit, INIT)
NONE(C_SignMessage, PARAMETER, IN(data), OUT(signature))
NONE(C_SignMessageBegin, PARAMETER)
NONE(C_SignMessageNext, PARAMETER, IN(part), OUT(signature))
NONE(C_MessageSignFinal, SESSION)
NONE(C_MessageVerifyInit, INIT)
NONE(C_VerifyMessage, PARAMETER, IN(data), IN(signature))
NONE(C_VerifyMessageBegin, PARAMETER)
NONE(C_VerifyMessageNext, PARAMETER, IN(part), IN(signature))
NONE(C_MessageVerifyFinal, SESSION)

/* Other keys */
NONE(C_GenerateKeyPair, SESSION, CK_MECHANISM *mechanism, TEMPLATE(public_template), TEMPLATE(private_template),
     CK_OBJECT_HANDLE *public_key, CK_OBJECT_HANDLE *private_key)
NONE(C_WrapKey, INIT, CK_OBJECT_HANDLE wrapped_key, OUT(wrapped))
NONE(C_UnwrapKey, INIT, IN(wrapped), TEMPLATE(template), CK_OBJECT_HANDLE *unwrapped_key)
NONE(C_DeriveKey, INIT, TEMPLATE(template), CK_OBJECT_HANDLE *derived_key)

/* Functions that ran in parallel, in PKCS#11 1 */
ALWAYS(CKR_FUNCTION_NOT_PARALLEL, C_GetFunctionStatus, SESSION)
ALWAYS(CKR_FUNCTION_NOT_PARALLEL, C_CancelFunction, SESSION)
