/* hashloom-pkcs11.h: many messages in one call, through the PKCS#11 module of hashloom.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The functions of PKCS#11 take one message at a time. Those of the interface "Hashloom" take any number, and hash up
 * to 16 side by side in the lanes of vector registers. Include a PKCS#11 header first:
 *
 *     CK_INTERFACE *interface;
 *     C_GetInterface((CK_UTF8CHAR *)HL_INTERFACE_NAME, NULL, &interface, 0);
 *     const HL_FUNCTION_LIST *many = interface->pFunctionList;
 *
 * docs/pkcs11.md has a whole program. The functions disturb no active operation of the session, and threads may call
 * them with one session at once.
 */
#ifndef HASHLOOM_PKCS11_H
#define HASHLOOM_PKCS11_H

#define HL_INTERFACE_NAME "Hashloom"

/* pData may be NULL if ulDataLen is 0. */
typedef struct HL_MESSAGE {
    const void *pData;
    CK_ULONG ulDataLen;
} HL_MESSAGE;

/* Later versions only add functions at the end. */
typedef struct HL_FUNCTION_LIST {
    CK_VERSION version; /* 1.0 */

    /* The digests of ulCount messages, one after the other, by a mechanism that C_DigestInit takes. *pulDigestsLen is
     * the room at pDigests, and afterwards the size of all digests. NULL for pDigests asks for that size, as in
     * C_Digest, and too little room is CKR_BUFFER_TOO_SMALL. Digests must not overlap messages. */
    CK_RV (*HL_DigestMany)(CK_SESSION_HANDLE hSession, CK_MECHANISM *pMechanism, const HL_MESSAGE *pMessages,
                           CK_ULONG ulCount, CK_BYTE *pDigests, CK_ULONG *pulDigestsLen);

    /* The MACs of ulCount messages by one key, likewise, by a mechanism that C_SignInit takes. */
    CK_RV (*HL_SignMany)(CK_SESSION_HANDLE hSession, CK_MECHANISM *pMechanism, CK_OBJECT_HANDLE hKey,
                         const HL_MESSAGE *pMessages, CK_ULONG ulCount, CK_BYTE *pMacs, CK_ULONG *pulMacsLen);
} HL_FUNCTION_LIST;

#endif
