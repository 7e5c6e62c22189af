/* cryptoki.h: PKCS#11 3.0: p11-kit's header, and what versions before 0.25 lack of 3.0.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HASHLOOM_CRYPTOKI_H
#define HASHLOOM_CRYPTOKI_H

/* The module exports the functions that are declared here, and nothing else. */
#pragma GCC visibility push(default)
#include <p11-kit/pkcs11.h>

#if CRYPTOKI_VERSION_MAJOR < 3
typedef struct CK_INTERFACE {
    char *pInterfaceName;
    void *pFunctionList;
    CK_FLAGS flags;
} CK_INTERFACE;

#  define DECLARE(name, ...)                                                                                           \
      typedef CK_RV (*CK_##name)(__VA_ARGS__);                                                                         \
      CK_RV name(__VA_ARGS__)
#  define SESSION CK_SESSION_HANDLE
#  define BYTES CK_BYTE *, CK_ULONG
#  define RESULT CK_BYTE *, CK_ULONG *
#  define PARAMETER void *, CK_ULONG
DECLARE(C_GetInterfaceList, CK_INTERFACE *, CK_ULONG *);
DECLARE(C_GetInterface, CK_UTF8CHAR *, CK_VERSION *, CK_INTERFACE **, CK_FLAGS);
DECLARE(C_LoginUser, SESSION, CK_USER_TYPE, BYTES, BYTES);
DECLARE(C_SessionCancel, SESSION, CK_FLAGS);
DECLARE(C_MessageEncryptInit, SESSION, CK_MECHANISM *, CK_OBJECT_HANDLE);
DECLARE(C_EncryptMessage, SESSION, PARAMETER, BYTES, BYTES, RESULT);
DECLARE(C_EncryptMessageBegin, SESSION, PARAMETER, BYTES);
DECLARE(C_EncryptMessageNext, SESSION, PARAMETER, BYTES, RESULT, CK_FLAGS);
DECLARE(C_MessageEncryptFinal, SESSION);
DECLARE(C_MessageDecryptInit, SESSION, CK_MECHANISM *, CK_OBJECT_HANDLE);
DECLARE(C_DecryptMessage, SESSION, PARAMETER, BYTES, BYTES, RESULT);
DECLARE(C_DecryptMessageBegin, SESSION, PARAMETER, BYTES);
DECLARE(C_DecryptMessageNext, SESSION, PARAMETER, BYTES, RESULT, CK_FLAGS);
DECLARE(C_MessageDecryptFinal, SESSION);
DECLARE(C_MessageSignInit, SESSION, CK_MECHANISM *, CK_OBJECT_HANDLE);
DECLARE(C_SignMessage, SESSION, PARAMETER, BYTES, RESULT);
DECLARE(C_SignMessageBegin, SESSION, PARAMETER);
DECLARE(C_SignMessageNext, SESSION, PARAMETER, BYTES, RESULT);
DECLARE(C_MessageSignFinal, SESSION);
DECLARE(C_MessageVerifyInit, SESSION, CK_MECHANISM *, CK_OBJECT_HANDLE);
DECLARE(C_VerifyMessage, SESSION, PARAMETER, BYTES, BYTES);
DECLARE(C_VerifyMessageBegin, SESSION, PARAMETER);
DECLARE(C_VerifyMessageNext, SESSION, PARAMETER, BYTES, BYTES);
DECLARE(C_MessageVerifyFinal, SESSION);
#  undef PARAMETER
#  undef RESULT
#  undef BYTES
#  undef SESSION
#  undef DECLARE
#endif
#pragma GCC visibility pop

/* The functions of PKCS#11 2.40, in the order of its function list. */
#define FUNCTIONS_2_40(X)                                                                                              \
    X(C_Initialize) X(C_Finalize) X(C_GetInfo) X(C_GetFunctionList) X(C_GetSlotList) X(C_GetSlotInfo)                  \
    X(C_GetTokenInfo) X(C_GetMechanismList) X(C_GetMechanismInfo) X(C_InitToken) X(C_InitPIN) X(C_SetPIN)              \
    X(C_OpenSession) X(C_CloseSession) X(C_CloseAllSessions) X(C_GetSessionInfo) X(C_GetOperationState)                \
    X(C_SetOperationState) X(C_Login) X(C_Logout) X(C_CreateObject) X(C_CopyObject) X(C_DestroyObject)                 \
    X(C_GetObjectSize) X(C_GetAttributeValue) X(C_SetAttributeValue) X(C_FindObjectsInit) X(C_FindObjects)             \
    X(C_FindObjectsFinal) X(C_EncryptInit) X(C_Encrypt) X(C_EncryptUpdate) X(C_EncryptFinal) X(C_DecryptInit)          \
    X(C_Decrypt) X(C_DecryptUpdate) X(C_DecryptFinal) X(C_DigestInit) X(C_Digest) X(C_DigestUpdate) X(C_DigestKey)     \
    X(C_DigestFinal) X(C_SignInit) X(C_Sign) X(C_SignUpdate) X(C_SignFinal) X(C_SignRecoverInit) X(C_SignRecover)      \
    X(C_VerifyInit) X(C_Verify) X(C_VerifyUpdate) X(C_VerifyFinal) X(C_VerifyRecoverInit) X(C_VerifyRecover)           \
    X(C_DigestEncryptUpdate) X(C_DecryptDigestUpdate) X(C_SignEncryptUpdate) X(C_DecryptVerifyUpdate)                  \
    X(C_GenerateKey) X(C_GenerateKeyPair) X(C_WrapKey) X(C_UnwrapKey) X(C_DeriveKey) X(C_SeedRandom)                   \
    X(C_GenerateRandom) X(C_GetFunctionStatus) X(C_CancelFunction) X(C_WaitForSlotEvent)
/* The functions that 3.0 adds at the end of the list. */
#define FUNCTIONS_3_0(X)                                                                                               \
    X(C_GetInterfaceList) X(C_GetInterface) X(C_LoginUser) X(C_SessionCancel) X(C_MessageEncryptInit)                  \
    X(C_EncryptMessage) X(C_EncryptMessageBegin) X(C_EncryptMessageNext) X(C_MessageEncryptFinal)                      \
    X(C_MessageDecryptInit) X(C_DecryptMessage) X(C_DecryptMessageBegin) X(C_DecryptMessageNext)                       \
    X(C_MessageDecryptFinal) X(C_MessageSignInit) X(C_SignMessage) X(C_SignMessageBegin) X(C_SignMessageNext)          \
    X(C_MessageSignFinal) X(C_MessageVerifyInit) X(C_VerifyMessage) X(C_VerifyMessageBegin) X(C_VerifyMessageNext)     \
    X(C_MessageVerifyFinal)

#define FUNCTION_FIELD(name) CK_##name name;
/* CK_FUNCTION_LIST_3_0. */
struct functions_3_0 {
    CK_VERSION version;
    FUNCTIONS_2_40(FUNCTION_FIELD)
    FUNCTIONS_3_0(FUNCTION_FIELD)
};
#undef FUNCTION_FIELD

/* CK_PKCS5_PBKD2_PARAMS2, which 3.0 names for CKM_PKCS5_PBKD2. */
struct pbkd2 {
    CK_ULONG salt_source;
    void *salt;
    CK_ULONG salt_nbytes;
    CK_ULONG niterations;
    CK_ULONG prf;
    void *prf_data;
    CK_ULONG prf_data_nbytes;
    CK_UTF8CHAR *password;
    CK_ULONG password_nbytes;
};

/* Constants of 3.0 (the standard's header pkcs11t.h) that older headers lack. */
#ifndef CKM_SHA3_256
#  define CKM_SHA3_256              0x2b0ul
#  define CKM_SHA3_256_HMAC         0x2b1ul
#  define CKM_SHA3_256_HMAC_GENERAL 0x2b2ul
#  define CKM_SHA3_224              0x2b5ul
#  define CKM_SHA3_224_HMAC         0x2b6ul
#  define CKM_SHA3_224_HMAC_GENERAL 0x2b7ul
#  define CKM_SHA3_384              0x2c0ul
#  define CKM_SHA3_384_HMAC         0x2c1ul
#  define CKM_SHA3_384_HMAC_GENERAL 0x2c2ul
#  define CKM_SHA3_512              0x2d0ul
#  define CKM_SHA3_512_HMAC         0x2d1ul
#  define CKM_SHA3_512_HMAC_GENERAL 0x2d2ul
#endif
#ifndef CKK_SHA3_224_HMAC
#  define CKK_SHA3_224_HMAC 0x36ul
#  define CKK_SHA3_256_HMAC 0x37ul
#  define CKK_SHA3_384_HMAC 0x38ul
#  define CKK_SHA3_512_HMAC 0x39ul
#endif
#ifndef CKA_UNIQUE_ID
#  define CKA_UNIQUE_ID 4ul
#endif
#ifndef CKK_SHA512_224_HMAC
#  define CKK_SHA512_224_HMAC 0x43ul
#  define CKK_SHA512_256_HMAC 0x44ul
#endif

/* Values of the standard that older headers lack. */
enum {
    PBKD2_SALT_SPECIFIED = 1, /* CKZ_SALT_SPECIFIED */
    PBKD2_SHA1 = 1,           /* CKP_PKCS5_PBKD2_HMAC_...; the standard has none of SHA-3 */
    PBKD2_SHA224 = 3,
    PBKD2_SHA256 = 4,
    PBKD2_SHA384 = 5,
    PBKD2_SHA512 = 6,
    PBKD2_SHA512_224 = 7,
    PBKD2_SHA512_256 = 8,
    CAN_FIND_OBJECTS = 0x40 /* CKF_FIND_OBJECTS */
};

#endif
