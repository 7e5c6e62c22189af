/* pkcs11_module.c: the PKCS#11 module, called as the standard says and as it does not say.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *   pkcs11_module MODULE          libcrypto as the oracle, misuse, threads, fork, unloading
 *   pkcs11_module MODULE quick    fewer random cases, for valgrind and sanitizers
 *   pkcs11_module MODULE huge     8 threads, each hashing more than 4 GiB
 *   pkcs11_module MODULE unload   only dlclose, and the end of a process, while sessions are open
 *
 * Compiled with -DFAILING_MALLOC, it also lets each allocation of the module fail, one after the other, and searches
 * the process's memory for keys that the module should have wiped.
 */
#define _GNU_SOURCE
#include "cryptoki.h"

#include <dlfcn.h>
#include <hashloom.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition, ...)                                                                                          \
    do                                                                                                                 \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "FAILED: %s:%d: %s: ", __FILE__, __LINE__, #condition);                                    \
            fprintf(stderr, __VA_ARGS__);                                                                              \
            fputc('\n', stderr);                                                                                       \
            exit(1);                                                                                                   \
        }                                                                                                              \
    while (0)
#define IS(expected, call)                                                                                             \
    do {                                                                                                               \
        const CK_RV is_rv = (call);                                                                                    \
        CHECK(is_rv == (expected), "%s: 0x%lx, expected 0x%lx", #call, is_rv, (CK_ULONG)(expected));                   \
    } while (0)
#define OK(call) IS(CKR_OK, call)

enum { THREADS = 8, LONGEST = 70000, DIGEST_MAX = 64 };
static const struct algorithm {
    const char *constant, *name;
    CK_MECHANISM_TYPE digest, hmac, hmac_general;
    CK_KEY_TYPE key_type;
    CK_ULONG nbytes;
} algorithms[] = {
#define ROW(NAME, name, mechanism)                                                                                     \
    {#NAME, name, CKM_##mechanism, CKM_##mechanism##_HMAC, CKM_##mechanism##_HMAC_GENERAL, CKK_##mechanism##_HMAC,     \
     HL_##NAME##_DIGEST_NBYTES},
#include "algorithms.inc.h"
};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };
/* The pseudo-random functions of PBKDF2 that the standard has, by its numbers. */
static const char *const prfs[] = {NULL, "sha1", NULL, "sha224", "sha256", "sha384", "sha512", "sha512-224",
                                   "sha512-256"};
enum { PRFS = sizeof prfs / sizeof *prfs };
static const struct functions_3_0 *p11;
static uint8_t message[LONGEST];
static int is_quick, nthreads = THREADS;

static uint32_t below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % n);
}

static void *load(const char *path)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CK_RV (*get_interface)(CK_UTF8CHAR *, CK_VERSION *, CK_INTERFACE **, CK_FLAGS);
    CK_INTERFACE *interface;

    CHECK(module != NULL, "%s", dlerror());
    *(void **)&get_interface = dlsym(module, "C_GetInterface");
    CHECK(get_interface != NULL, "C_GetInterface");
    OK(get_interface(NULL, NULL, &interface, 0));
    p11 = interface->pFunctionList;
    return module;
}

static CK_SESSION_HANDLE open_session(void)
{
    CK_SESSION_HANDLE session;

    OK(p11->C_OpenSession(0, CKF_SERIAL_SESSION, NULL, NULL, &session));
    return session;
}

static CK_MECHANISM mechanism_of(CK_MECHANISM_TYPE type)
{
    return (CK_MECHANISM){type, NULL, 0};
}

static CK_OBJECT_HANDLE new_key(CK_SESSION_HANDLE session, CK_KEY_TYPE type, const void *value, CK_ULONG nbytes)
{
    CK_OBJECT_CLASS class = CKO_SECRET_KEY;
    CK_ATTRIBUTE template[] = {{CKA_CLASS, &class, sizeof class},
                               {CKA_KEY_TYPE, &type, sizeof type},
                               {CKA_VALUE, (void *)(uintptr_t)value, nbytes}};
    CK_OBJECT_HANDLE key;

    OK(p11->C_CreateObject(session, template, 3, &key));
    return key;
}

/* ---- Right results ---- */

/* An algorithm beside libcrypto: in parts, and with a key. The model of fuzz/pkcs11.c has all other ways. */
static void random_case(CK_SESSION_HANDLE session, uint64_t *seed)
{
    const struct algorithm *a = &algorithms[below(seed, ALGORITHMS)];
    const EVP_MD *md = EVP_get_digestbyname(a->name);
    const size_t nbytes = below(seed, below(seed, 4) == 0 ? 5000 : 300), key_nbytes = 1 + below(seed, 299);
    const size_t cut = below(seed, (uint32_t)nbytes + 1);
    uint8_t expected[DIGEST_MAX], key[300], out[DIGEST_MAX];
    CK_MECHANISM digest = mechanism_of(a->digest), hmac = mechanism_of(a->hmac);
    CK_ULONG n = sizeof out;

    CHECK(EVP_Digest(message, nbytes, expected, NULL, md, NULL), "%s", a->name);
    OK(p11->C_DigestInit(session, &digest));
    OK(p11->C_DigestUpdate(session, message, cut));
    OK(p11->C_DigestUpdate(session, message + cut, nbytes - cut));
    OK(p11->C_DigestFinal(session, out, &n));
    CHECK(n == a->nbytes && memcmp(out, expected, n) == 0, "%s of %zu bytes", a->name, nbytes);

    for (size_t k = 0; k < key_nbytes; k++)
        key[k] = (uint8_t)below(seed, 256);
    const CK_KEY_TYPE type = below(seed, 2) ? a->key_type : CKK_GENERIC_SECRET;
    const CK_OBJECT_HANDLE handle = new_key(session, type, key, key_nbytes);
    CHECK(HMAC(md, key, (int)key_nbytes, message, nbytes, expected, NULL) != NULL, "%s", a->name);
    n = sizeof out;
    OK(p11->C_SignInit(session, &hmac, handle));
    OK(p11->C_Sign(session, message, nbytes, out, &n));
    CHECK(n == a->nbytes && memcmp(out, expected, n) == 0, "HMAC %s of %zu bytes", a->name, nbytes);
    OK(p11->C_VerifyInit(session, &hmac, handle));
    OK(p11->C_Verify(session, message, nbytes, out, n));
    OK(p11->C_DestroyObject(session, handle));
}

static void random_cases(CK_SESSION_HANDLE session, uint64_t seed, int count)
{
    for (int i = 0; i < count; i++)
        random_case(session, &seed);
}

static void pbkdf2(void)
{
    const CK_SESSION_HANDLE session = open_session();
    uint8_t expected[100], found[100];

    for (CK_ULONG prf = 0; prf < PRFS + 9; prf++) {
        CK_ULONG nbytes = sizeof expected;
        CK_OBJECT_HANDLE key;
        struct pbkd2 p = {1, message, 21, 1000, prf, NULL, 0, message + 100, 9};
        CK_MECHANISM mechanism = {CKM_PKCS5_PBKD2, &p, sizeof p};
        CK_ATTRIBUTE template[] = {{CKA_VALUE_LEN, &nbytes, sizeof nbytes}};
        CK_ATTRIBUTE value = {CKA_VALUE, found, sizeof found};
        if (prf >= PRFS || prfs[prf] == NULL) {
            IS(CKR_MECHANISM_PARAM_INVALID, p11->C_GenerateKey(session, &mechanism, template, 1, &key));
            continue;
        }
        OK(p11->C_GenerateKey(session, &mechanism, template, 1, &key));
        OK(p11->C_GetAttributeValue(session, key, &value, 1));
        CHECK(PKCS5_PBKDF2_HMAC((const char *)message + 100, 9, message, 21, 1000, EVP_get_digestbyname(prfs[prf]),
                                (int)nbytes, expected) &&
                  memcmp(expected, found, nbytes) == 0, "%s", prfs[prf]);
        OK(p11->C_DestroyObject(session, key));
        const struct pbkd2 wrong[] = {
            {0, message, 21, 1000, prf, NULL, 0, message, 9},  {1, NULL, 21, 1000, prf, NULL, 0, message, 9},
            {1, message, 21, 0, prf, NULL, 0, message, 9},     {1, message, 21, 1000, 2, NULL, 0, message, 9},
            {1, message, 21, 1000, prf, NULL, 1, message, 9},  {1, message, 21, 1000, prf, NULL, 0, NULL, 9},
            {1, message, ~0ul, 1000, prf, NULL, 0, message, 9},
            {1, message, 21, 1000, prf, NULL, 0, message, ~0ul},
        };
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            p = wrong[i];
            IS(CKR_MECHANISM_PARAM_INVALID, p11->C_GenerateKey(session, &mechanism, template, 1, &key));
        }
        p = (struct pbkd2){1, message, 21, (CK_ULONG)UINT32_MAX + 1, prf, NULL, 0, message, 9};
        IS(CKR_EXCEEDED_MAX_ITERATIONS, p11->C_GenerateKey(session, &mechanism, template, 1, &key));
        mechanism.ulParameterLen--;
        IS(CKR_MECHANISM_PARAM_INVALID, p11->C_GenerateKey(session, &mechanism, template, 1, &key));
        mechanism.ulParameterLen = 0;
        mechanism.pParameter = NULL;
        IS(CKR_MECHANISM_PARAM_INVALID, p11->C_GenerateKey(session, &mechanism, template, 1, &key));
    }
    OK(p11->C_CloseSession(session));
}

static void states(void)
{
    const CK_SESSION_HANDLE session = open_session(), other = open_session();

    for (const struct algorithm *a = algorithms; a < algorithms + ALGORITHMS; a++)
        for (CK_ULONG at = 0; at < 300; at += 37) {
            uint8_t state[700], expected[DIGEST_MAX], found[2][DIGEST_MAX];
            CK_ULONG nbytes = 0, n = DIGEST_MAX;
            CK_MECHANISM mechanism = mechanism_of(a->digest);
            OK(p11->C_DigestInit(session, &mechanism));
            if (at != 0)
                OK(p11->C_DigestUpdate(session, message, at));
            OK(p11->C_GetOperationState(session, NULL, &nbytes));
            nbytes--;
            IS(CKR_BUFFER_TOO_SMALL, p11->C_GetOperationState(session, state, &nbytes));
            OK(p11->C_GetOperationState(session, state, &nbytes));
            IS(CKR_ARGUMENTS_BAD, p11->C_GetOperationState(session, state, NULL));
            IS(CKR_KEY_NOT_NEEDED, p11->C_SetOperationState(other, state, nbytes, 1, 0));
            IS(CKR_KEY_NOT_NEEDED, p11->C_SetOperationState(other, state, nbytes, 0, 1));
            IS(CKR_SAVED_STATE_INVALID, p11->C_SetOperationState(other, state, nbytes - 1, 0, 0));
            IS(CKR_SAVED_STATE_INVALID, p11->C_SetOperationState(other, state, ~0ul, 0, 0));
            IS(CKR_ARGUMENTS_BAD, p11->C_SetOperationState(other, NULL, nbytes, 0, 0));
            OK(p11->C_SetOperationState(other, state, nbytes, 0, 0));
            OK(p11->C_DigestUpdate(session, message + at, 500));
            OK(p11->C_DigestUpdate(other, message + at, 500));
            OK(p11->C_DigestFinal(session, found[0], &n));
            n = DIGEST_MAX;
            OK(p11->C_DigestFinal(other, found[1], &n));
            CHECK(EVP_Digest(message, at + 500, expected, NULL, EVP_get_digestbyname(a->name), NULL) &&
                      memcmp(expected, found[0], n) == 0 && memcmp(expected, found[1], n) == 0, "%s at %lu", a->name,
                  at);
            for (CK_ULONG i = 0; i < nbytes; i++) { /* forged states do no harm */
                state[i] ^= 0x81;
                n = DIGEST_MAX;
                if (p11->C_SetOperationState(other, state, nbytes, 0, 0) == CKR_OK)
                    OK(p11->C_DigestFinal(other, found[0], &n));
                state[i] ^= 0x81;
            }
        }
    IS(CKR_OPERATION_NOT_INITIALIZED, p11->C_GetOperationState(session, NULL, &(CK_ULONG){0}));
    /* One of an algorithm that has no mechanism: SHAKE128, 0 bytes so far. */
    uint8_t shake[16 + HL_STATE_MAX_NBYTES + 168] = {'h', 'l', 'c', '1', 0, 0, 0, HL_SHAKE128};
    IS(CKR_SAVED_STATE_INVALID, p11->C_SetOperationState(session, shake, sizeof shake, 0, 0));
    OK(p11->C_CloseAllSessions(0));
}

/* ---- Misuse ---- */

/* Functions that the token does not have. */
static void refused(CK_RV rv, CK_SESSION_HANDLE s)
{
    IS(rv, p11->C_InitPIN(s, NULL, 0));
    IS(rv, p11->C_SetPIN(s, NULL, 0, NULL, 0));
    IS(rv, p11->C_LoginUser(s, CKU_USER, NULL, 0, NULL, 0));
    IS(rv, p11->C_EncryptInit(s, NULL, 0));
    IS(rv, p11->C_DecryptFinal(s, NULL, NULL));
    IS(rv, p11->C_SignRecoverInit(s, NULL, 0));
    IS(rv, p11->C_DigestEncryptUpdate(s, NULL, 0, NULL, NULL));
    IS(rv, p11->C_GenerateKeyPair(s, NULL, NULL, 0, NULL, 0, NULL, NULL));
    IS(rv, p11->C_WrapKey(s, NULL, 0, 0, NULL, NULL));
    IS(rv, p11->C_DeriveKey(s, NULL, 0, NULL, 0, NULL));
    IS(rv, p11->C_SignMessage(s, NULL, 0, NULL, 0, NULL, NULL));
    IS(rv, p11->C_MessageVerifyFinal(s));
    const CK_RV parallel = rv == CKR_FUNCTION_NOT_SUPPORTED ? CKR_FUNCTION_NOT_PARALLEL : rv;
    IS(parallel, p11->C_GetFunctionStatus(s));
    IS(parallel, p11->C_CancelFunction(s));
}

static void not_initialized(void)
{
    CK_ULONG n = 1;
    CK_SESSION_HANDLE session;
    uint8_t out[DIGEST_MAX];
    CK_MECHANISM mechanism = mechanism_of(CKM_SHA256);
    CK_MECHANISM_INFO info;

    for (CK_SESSION_HANDLE s = 0; s < 3; s++) {
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_GetInfo(&(CK_INFO){0}));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_GetSlotList(1, NULL, &n));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_GetSlotInfo(0, &(CK_SLOT_INFO){0}));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_GetTokenInfo(0, &(CK_TOKEN_INFO){0}));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_GetMechanismList(0, NULL, &n));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_GetMechanismInfo(0, CKM_SHA256, &info));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_WaitForSlotEvent(CKF_DONT_BLOCK, &n, NULL));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_OpenSession(0, CKF_SERIAL_SESSION, NULL, NULL, &session));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_CloseSession(s));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_CloseAllSessions(0));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_GetSessionInfo(s, &(CK_SESSION_INFO){0}));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_DigestInit(s, &mechanism));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_Digest(s, message, 1, out, &n));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_DigestUpdate(s, message, 1));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_DigestFinal(s, out, &n));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_SignInit(s, &mechanism, 1));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_CreateObject(s, NULL, 0, &session));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_FindObjectsInit(s, NULL, 0));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_GenerateRandom(s, out, 1));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_SeedRandom(s, NULL, 1));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_Login(s, CKU_USER, NULL, 0));
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_Logout(s));
        refused(CKR_CRYPTOKI_NOT_INITIALIZED, s);
        IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_InitToken(s, NULL, 0, NULL));
    }
    IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_Finalize(NULL));
    IS(CKR_CRYPTOKI_NOT_INITIALIZED, p11->C_Finalize(&n));
}

static void interfaces(void *module)
{
    CK_FUNCTION_LIST *list;
    CK_INTERFACE *interface, all[2];
    CK_ULONG count = 0;
    CK_RV (*get_list)(CK_FUNCTION_LIST **);

    *(void **)&get_list = dlsym(module, "C_GetFunctionList");
    IS(CKR_ARGUMENTS_BAD, get_list(NULL));
    OK(get_list(&list));
    CHECK(list->version.major == 2 && list->version.minor == 40, "version");
    CHECK(p11->version.major == 3 && p11->version.minor == 0, "version");
#define NOT_NULL(name) CHECK(p11->name != NULL && dlsym(module, #name) != NULL, #name);
#define IN_BOTH(name) CHECK((void *)p11->name == (void *)list->name, #name);
    FUNCTIONS_2_40(NOT_NULL)
    FUNCTIONS_3_0(NOT_NULL)
    FUNCTIONS_2_40(IN_BOTH)
    IS(CKR_ARGUMENTS_BAD, p11->C_GetInterfaceList(NULL, NULL));
    OK(p11->C_GetInterfaceList(NULL, &count));
    CHECK(count == 2, "%lu", count);
    count = 1;
    IS(CKR_BUFFER_TOO_SMALL, p11->C_GetInterfaceList(all, &count));
    OK(p11->C_GetInterfaceList(all, &count));
    IS(CKR_ARGUMENTS_BAD, p11->C_GetInterface(NULL, NULL, NULL, 0));
    IS(CKR_ARGUMENTS_BAD, p11->C_GetInterface((CK_UTF8CHAR *)"PKCS 12", NULL, &interface, 0));
    IS(CKR_ARGUMENTS_BAD, p11->C_GetInterface(NULL, &(CK_VERSION){9, 9}, &interface, 0));
    IS(CKR_ARGUMENTS_BAD, p11->C_GetInterface(NULL, NULL, &interface, 1 /* CKF_INTERFACE_FORK_SAFE */));
    OK(p11->C_GetInterface((CK_UTF8CHAR *)"PKCS 11", &(CK_VERSION){2, 40}, &interface, 0));
    CHECK(interface->pFunctionList == list, "2.40");
    OK(p11->C_GetInterface((CK_UTF8CHAR *)"PKCS 11", NULL, &interface, 0));
    CHECK(interface->pFunctionList == p11, "3.0");
}

static void token(void)
{
    CK_ULONG count = 0;
    CK_SLOT_ID slot = 9;
    CK_MECHANISM_TYPE mechanisms[3 * ALGORITHMS + 2];
    CK_MECHANISM_INFO info;
    CK_INFO library;
    CK_SLOT_INFO slot_info;
    CK_TOKEN_INFO token_info;
    CK_SESSION_HANDLE session[2];
    CK_SESSION_INFO session_info;

    IS(CKR_ARGUMENTS_BAD, p11->C_GetInfo(NULL));
    OK(p11->C_GetInfo(&library));
    CHECK(library.cryptokiVersion.major == 3 && memcmp(library.manufacturerID, "hashloom   ", 11) == 0, "info");
    IS(CKR_ARGUMENTS_BAD, p11->C_GetSlotList(1, NULL, NULL));
    OK(p11->C_GetSlotList(1, NULL, &count));
    CHECK(count == 1, "%lu", count);
    count = 0;
    IS(CKR_BUFFER_TOO_SMALL, p11->C_GetSlotList(0, &slot, &count));
    OK(p11->C_GetSlotList(0, &slot, &count));
    CHECK(slot == 0, "%lu", slot);
    IS(CKR_SLOT_ID_INVALID, p11->C_GetSlotInfo(1, &slot_info));
    IS(CKR_ARGUMENTS_BAD, p11->C_GetSlotInfo(0, NULL));
    OK(p11->C_GetSlotInfo(0, &slot_info));
    IS(CKR_SLOT_ID_INVALID, p11->C_GetTokenInfo(~0ul, &token_info));
    IS(CKR_ARGUMENTS_BAD, p11->C_GetTokenInfo(0, NULL));
    IS(CKR_SLOT_ID_INVALID, p11->C_OpenSession(1, CKF_SERIAL_SESSION, NULL, NULL, session));
    IS(CKR_SESSION_PARALLEL_NOT_SUPPORTED, p11->C_OpenSession(0, 0, NULL, NULL, session));
    IS(CKR_ARGUMENTS_BAD, p11->C_OpenSession(0, CKF_SERIAL_SESSION, NULL, NULL, NULL));
    OK(p11->C_OpenSession(0, CKF_SERIAL_SESSION, NULL, NULL, &session[0]));
    OK(p11->C_OpenSession(0, CKF_SERIAL_SESSION | CKF_RW_SESSION, NULL, NULL, &session[1]));
    OK(p11->C_GetTokenInfo(0, &token_info));
    CHECK(token_info.ulSessionCount == 2 && token_info.ulRwSessionCount == 1 &&
              (token_info.flags & CKF_LOGIN_REQUIRED) == 0, "%lu", token_info.ulSessionCount);
    OK(p11->C_GetSessionInfo(session[1], &session_info));
    CHECK(session_info.state == CKS_RW_PUBLIC_SESSION && session_info.flags == (CKF_SERIAL_SESSION | CKF_RW_SESSION),
          "%lu", session_info.state);
    IS(CKR_ARGUMENTS_BAD, p11->C_GetSessionInfo(session[1], NULL));
    IS(CKR_SLOT_ID_INVALID, p11->C_CloseAllSessions(1));
    OK(p11->C_CloseSession(session[1]));
    OK(p11->C_GetTokenInfo(0, &token_info));
    CHECK(token_info.ulSessionCount == 1 && token_info.ulRwSessionCount == 0, "%lu", token_info.ulSessionCount);

    /* Each listed mechanism is what its flags say. */
    IS(CKR_ARGUMENTS_BAD, p11->C_GetMechanismList(0, NULL, NULL));
    IS(CKR_SLOT_ID_INVALID, p11->C_GetMechanismList(2, NULL, &count));
    OK(p11->C_GetMechanismList(0, NULL, &count));
    CHECK(count == 3 * ALGORITHMS + 2, "%lu", count);
    count--;
    IS(CKR_BUFFER_TOO_SMALL, p11->C_GetMechanismList(0, mechanisms, &count));
    OK(p11->C_GetMechanismList(0, mechanisms, &count));
    const CK_OBJECT_HANDLE key = new_key(session[0], CKK_GENERIC_SECRET, message, 20);
    for (CK_ULONG i = 0; i < count; i++) {
        CK_ULONG size = 10;
        CK_MECHANISM mechanism = mechanism_of(mechanisms[i]);
        OK(p11->C_GetMechanismInfo(0, mechanisms[i], &info));
        const CK_RV digest = p11->C_DigestInit(session[0], &mechanism);
        p11->C_SessionCancel(session[0], CKF_DIGEST);
        mechanism = (CK_MECHANISM){mechanisms[i], &size, sizeof size};
        CK_RV sign = p11->C_SignInit(session[0], &mechanism, key);
        mechanism.ulParameterLen = 0;
        if (sign != CKR_OK)
            sign = p11->C_SignInit(session[0], &mechanism, key);
        p11->C_SessionCancel(session[0], ~0ul);
        CHECK((digest == CKR_OK) == ((info.flags & CKF_DIGEST) != 0) &&
                  (sign == CKR_OK) == ((info.flags & CKF_SIGN) != 0), "mechanism 0x%lx", mechanisms[i]);
    }
    IS(CKR_MECHANISM_INVALID, p11->C_GetMechanismInfo(0, CKM_SHA512_T, &info));
    IS(CKR_SLOT_ID_INVALID, p11->C_GetMechanismInfo(1, CKM_SHA256, &info));
    IS(CKR_ARGUMENTS_BAD, p11->C_GetMechanismInfo(0, CKM_SHA256, NULL));
    IS(CKR_NO_EVENT, p11->C_WaitForSlotEvent(CKF_DONT_BLOCK, &slot, NULL));
    IS(CKR_FUNCTION_NOT_SUPPORTED, p11->C_WaitForSlotEvent(0, &slot, NULL));
    IS(CKR_ARGUMENTS_BAD, p11->C_WaitForSlotEvent(CKF_DONT_BLOCK, &slot, &slot));
    IS(CKR_FUNCTION_NOT_SUPPORTED, p11->C_InitToken(0, NULL, 0, NULL));
    IS(CKR_SLOT_ID_INVALID, p11->C_InitToken(1, NULL, 0, NULL));
    refused(CKR_FUNCTION_NOT_SUPPORTED, session[0]);
    refused(CKR_SESSION_HANDLE_INVALID, session[1]);
    refused(CKR_SESSION_HANDLE_INVALID, 0);
    /* Sizes of generated keys are in bits, those of other keys in bytes. */
    OK(p11->C_GetMechanismInfo(0, CKM_GENERIC_SECRET_KEY_GEN, &info));
    CHECK(info.ulMinKeySize == 8 && info.ulMaxKeySize == 8 << 20, "%lu bits", info.ulMaxKeySize);
    OK(p11->C_GetMechanismInfo(0, CKM_SHA256_HMAC, &info));
    CHECK(info.ulMinKeySize == 1 && info.ulMaxKeySize == 1 << 20, "%lu bytes", info.ulMaxKeySize);
    OK(p11->C_CloseAllSessions(0));
    IS(CKR_SESSION_HANDLE_INVALID, p11->C_CloseSession(session[0]));
}

static CK_STATE state_of(CK_SESSION_HANDLE session)
{
    CK_SESSION_INFO info;

    OK(p11->C_GetSessionInfo(session, &info));
    return info.state;
}

/* Any PIN is right. Keys of the token stay when their session ends; only sessions for writing make and change them. */
static void login(void)
{
    CK_SESSION_HANDLE reader = open_session(), writer;
    CK_BBOOL yes = CK_TRUE, token = CK_FALSE;
    CK_ULONG nbytes = 32;
    CK_MECHANISM generate = mechanism_of(CKM_GENERIC_SECRET_KEY_GEN);
    CK_ATTRIBUTE template[] = {{CKA_VALUE_LEN, &nbytes, sizeof nbytes}, {CKA_TOKEN, &yes, 1}, {CKA_PRIVATE, &yes, 1}},
                 read = {CKA_TOKEN, &token, 1}, label = {CKA_LABEL, "label", 5};
    CK_OBJECT_HANDLE key, private, copy;

    OK(p11->C_OpenSession(0, CKF_SERIAL_SESSION | CKF_RW_SESSION, NULL, NULL, &writer));
    IS(CKR_USER_NOT_LOGGED_IN, p11->C_Logout(reader));
    IS(CKR_SESSION_HANDLE_INVALID, p11->C_Login(0, CKU_USER, message, 4));
    IS(CKR_SESSION_HANDLE_INVALID, p11->C_Logout(0));
    IS(CKR_USER_TYPE_INVALID, p11->C_Login(reader, CKU_SO, message, 4));
    IS(CKR_USER_TYPE_INVALID, p11->C_Login(reader, 99, message, 4));
    IS(CKR_OPERATION_NOT_INITIALIZED, p11->C_Login(reader, CKU_CONTEXT_SPECIFIC, message, 4));
    IS(CKR_ARGUMENTS_BAD, p11->C_Login(reader, CKU_USER, NULL, 4));
    CHECK(state_of(reader) == CKS_RO_PUBLIC_SESSION && state_of(writer) == CKS_RW_PUBLIC_SESSION, "a failed login");
    OK(p11->C_Login(reader, CKU_USER, message, 4));
    CHECK(state_of(reader) == CKS_RO_USER_FUNCTIONS && state_of(writer) == CKS_RW_USER_FUNCTIONS, "a login");
    IS(CKR_USER_ALREADY_LOGGED_IN, p11->C_Login(writer, CKU_USER, NULL, 0));
    IS(CKR_USER_ANOTHER_ALREADY_LOGGED_IN, p11->C_Login(writer, CKU_SO, NULL, 0));

    IS(CKR_SESSION_READ_ONLY, p11->C_GenerateKey(reader, &generate, template, 2, &key));
    OK(p11->C_GenerateKey(writer, &generate, template, 2, &key));
    template[1].pValue = &token;
    OK(p11->C_GenerateKey(writer, &generate, template, 3, &private));
    OK(p11->C_GetAttributeValue(reader, key, &read, 1));
    CHECK(token == CK_TRUE, "a key of the token");
    IS(CKR_SESSION_READ_ONLY, p11->C_SetAttributeValue(reader, key, &label, 1));
    IS(CKR_SESSION_READ_ONLY, p11->C_DestroyObject(reader, key));
    IS(CKR_SESSION_READ_ONLY, p11->C_CopyObject(reader, key, NULL, 0, &copy));
    OK(p11->C_SetAttributeValue(writer, key, &label, 1));
    token = CK_FALSE;
    OK(p11->C_CopyObject(reader, key, &read, 1, &copy)); /* a copy for the session */
    OK(p11->C_Logout(writer));
    CHECK(state_of(reader) == CKS_RO_PUBLIC_SESSION, "a logout");
    IS(CKR_OBJECT_HANDLE_INVALID, p11->C_GetAttributeValue(reader, private, &read, 1));
    OK(p11->C_GetAttributeValue(reader, copy, &read, 1));
    CHECK(token == CK_FALSE, "a copy");

    /* The end of the last session is a logout. */
    OK(p11->C_Login(reader, CKU_USER, NULL, 0));
    OK(p11->C_CloseSession(writer));
    CHECK(state_of(reader) == CKS_RO_USER_FUNCTIONS, "one session is left");
    OK(p11->C_CloseAllSessions(0));
    reader = open_session();
    CHECK(state_of(reader) == CKS_RO_PUBLIC_SESSION, "no session was left");
    IS(CKR_OBJECT_HANDLE_INVALID, p11->C_GetAttributeValue(reader, copy, &read, 1));
    OK(p11->C_GetAttributeValue(reader, key, &read, 1));
    OK(p11->C_OpenSession(0, CKF_SERIAL_SESSION | CKF_RW_SESSION, NULL, NULL, &writer));
    OK(p11->C_DestroyObject(writer, key));
    OK(p11->C_CloseAllSessions(0));
}

/* Arguments that are wrong. The model of fuzz/pkcs11.c has the order of calls, and what ends an operation. */
static void arguments(void)
{
    const CK_SESSION_HANDLE s = open_session();
    const CK_OBJECT_HANDLE key = new_key(s, CKK_GENERIC_SECRET, message, 20);
    CK_MECHANISM digest = mechanism_of(CKM_SHA256), hmac = mechanism_of(CKM_SHA256_HMAC);
    uint8_t out[DIGEST_MAX] = {0};
    CK_ULONG n = sizeof out;
    CK_OBJECT_HANDLE found[4];

    OK(p11->C_FindObjectsInit(s, NULL, 0));
    IS(CKR_ARGUMENTS_BAD, p11->C_FindObjects(s, found, 4, NULL));
    IS(CKR_ARGUMENTS_BAD, p11->C_FindObjects(s, NULL, 4, &n));
    OK(p11->C_FindObjects(s, found, 4, &n));
    CHECK(n == 1 && found[0] == key, "%lu", n);
    OK(p11->C_FindObjects(s, found, 4, &n));
    CHECK(n == 0, "%lu", n);
    OK(p11->C_FindObjectsFinal(s));
    n = sizeof out;
    OK(p11->C_DigestInit(s, &digest));
    IS(CKR_ARGUMENTS_BAD, p11->C_Digest(s, NULL, 1, out, &n));
    OK(p11->C_DigestInit(s, &digest));
    IS(CKR_DATA_LEN_RANGE, p11->C_Digest(s, message, ~0ul, out, &n));
    OK(p11->C_VerifyInit(s, &hmac, key));
    IS(CKR_ARGUMENTS_BAD, p11->C_Verify(s, message, 1, NULL, 32));
    n = sizeof out;
    OK(p11->C_DigestInit(s, &digest)); /* nothing is left active */

    /* The result may lie over the message. */
    uint8_t both[100], expected[DIGEST_MAX];
    memcpy(both, message, sizeof both);
    OK(p11->C_Digest(s, both, sizeof both, both + 1, &n));
    CHECK(EVP_Digest(message, sizeof both, expected, NULL, EVP_sha256(), NULL) && memcmp(both + 1, expected, 32) == 0,
          "overlap");

    /* Mechanisms and parameters. */
    CK_ULONG size = 10, bad[] = {0, 33, CK_UNAVAILABLE_INFORMATION};
    digest.mechanism = CKM_SHA256_HMAC;
    IS(CKR_MECHANISM_INVALID, p11->C_DigestInit(s, &digest));
    digest = (CK_MECHANISM){CKM_SHA256, &size, sizeof size};
    IS(CKR_MECHANISM_PARAM_INVALID, p11->C_DigestInit(s, &digest));
    digest = mechanism_of(CKM_SHA256);
    IS(CKR_MECHANISM_INVALID, p11->C_SignInit(s, &digest, key));
    hmac.ulParameterLen = CK_UNAVAILABLE_INFORMATION;
    IS(CKR_MECHANISM_PARAM_INVALID, p11->C_SignInit(s, &hmac, key));
    for (size_t i = 0; i < 3; i++) {
        hmac = (CK_MECHANISM){CKM_SHA256_HMAC_GENERAL, &bad[i], sizeof size};
        IS(CKR_MECHANISM_PARAM_INVALID, p11->C_SignInit(s, &hmac, key));
    }
    hmac = (CK_MECHANISM){CKM_SHA256_HMAC_GENERAL, NULL, sizeof size};
    IS(CKR_MECHANISM_PARAM_INVALID, p11->C_VerifyInit(s, &hmac, key));
    hmac = (CK_MECHANISM){CKM_SHA256_HMAC_GENERAL, &size, 4};
    IS(CKR_MECHANISM_PARAM_INVALID, p11->C_VerifyInit(s, &hmac, key));
    hmac = mechanism_of(CKM_SHA256_HMAC);
    IS(CKR_KEY_HANDLE_INVALID, p11->C_SignInit(s, &hmac, 0));
    IS(CKR_KEY_HANDLE_INVALID, p11->C_SignInit(s, &hmac, ~0ul));
    const CK_OBJECT_HANDLE typed = new_key(s, CKK_SHA_1_HMAC, message, 20);
    IS(CKR_KEY_TYPE_INCONSISTENT, p11->C_SignInit(s, &hmac, typed));

    IS(CKR_RANDOM_SEED_NOT_SUPPORTED, p11->C_SeedRandom(s, out, 3));
    IS(CKR_ARGUMENTS_BAD, p11->C_SeedRandom(s, NULL, 3));
    IS(CKR_ARGUMENTS_BAD, p11->C_GenerateRandom(s, NULL, 3));
    OK(p11->C_GenerateRandom(s, NULL, 0));
    uint8_t random[2][1000] = {{0}};
    OK(p11->C_GenerateRandom(s, random[0], 1000));
    OK(p11->C_GenerateRandom(s, random[1], 1000));
    CHECK(memcmp(random[0], random[1], 1000) != 0 && memcmp(random[0] + 990, random[1] + 980, 10) != 0, "random");
    OK(p11->C_CloseSession(s));
    IS(CKR_SESSION_HANDLE_INVALID, p11->C_DigestInit(s, &digest));
}

/* Handles that were never given, or of sessions that are closed. */
static void handles(void)
{
    enum { COUNT = 3000 };
    static CK_SESSION_HANDLE sessions[COUNT];
    CK_MECHANISM digest = mechanism_of(CKM_SHA256);

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++)
            sessions[i] = open_session();
        for (int i = 0; i < COUNT; i += 2)
            OK(p11->C_CloseSession(sessions[i]));
        const CK_SESSION_HANDLE again = open_session();
        for (int i = 0; i < COUNT; i++) {
            CHECK(sessions[i] != again, "a handle comes back");
            IS(i % 2 == 0 ? CKR_SESSION_HANDLE_INVALID : CKR_OK, p11->C_DigestInit(sessions[i], &digest));
        }
        OK(p11->C_CloseAllSessions(0));
    }
    const CK_SESSION_HANDLE wrong[] = {0, 1, 2, ~0ul, 1ul << 20, 1ul << 31, 1ul << 32, 63ul << 32, (1ul << 20) - 1};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        IS(CKR_SESSION_HANDLE_INVALID, p11->C_DigestInit(wrong[i], &digest));
}

/* ---- Attributes ---- */

static CK_BBOOL yes = CK_TRUE, no = CK_FALSE;

static int flag_of(CK_SESSION_HANDLE s, CK_OBJECT_HANDLE key, CK_ATTRIBUTE_TYPE type)
{
    CK_BBOOL flag = 7;
    CK_ATTRIBUTE attribute = {type, &flag, sizeof flag};

    OK(p11->C_GetAttributeValue(s, key, &attribute, 1));
    return flag;
}

static void attributes(void)
{
    const CK_SESSION_HANDLE s = open_session();
    CK_OBJECT_CLASS class = CKO_SECRET_KEY, data_class = CKO_DATA;
    CK_KEY_TYPE type = CKK_SHA256_HMAC, aes = CKK_AES;
    CK_ULONG number = 20;
    CK_BBOOL seven = 7;
    uint8_t value[32];
    CK_OBJECT_HANDLE key, copy;
    CK_ATTRIBUTE full[] = {{CKA_CLASS, &class, sizeof class},
                           {CKA_KEY_TYPE, &type, sizeof type},
                           {CKA_VALUE, message, 32},
                           {CKA_LABEL, "a label", 7},
                           {0}};

    /* The last attribute is the one at fault. */
    const struct {
        CK_ATTRIBUTE attribute;
        CK_RV rv;
    } wrong[] = {
        {{CKA_TOKEN, &yes, 1}, CKR_SESSION_READ_ONLY},
        {{CKA_UNIQUE_ID, "id", 2}, CKR_ATTRIBUTE_READ_ONLY},
        {{CKA_CHECK_VALUE, "abc", 3}, CKR_ATTRIBUTE_VALUE_INVALID},
        {{CKA_CHECK_VALUE, message, 2}, CKR_ATTRIBUTE_VALUE_INVALID},
        {{CKA_CHECK_VALUE, NULL, 3}, CKR_ATTRIBUTE_VALUE_INVALID},
        {{CKA_ALLOWED_MECHANISMS, message, 12}, CKR_ATTRIBUTE_VALUE_INVALID},
        {{CKA_ALLOWED_MECHANISMS, message, CK_UNAVAILABLE_INFORMATION & ~7ul}, CKR_ATTRIBUTE_VALUE_INVALID},
        {{CKA_TRUSTED, &yes, 1}, CKR_ATTRIBUTE_READ_ONLY},
        {{CKA_SENSITIVE, &yes, 2}, CKR_ATTRIBUTE_VALUE_INVALID},
        {{CKA_SENSITIVE, &yes, 0}, CKR_ATTRIBUTE_VALUE_INVALID},
        {{CKA_SENSITIVE, NULL, 1}, CKR_ATTRIBUTE_VALUE_INVALID},
        {{CKA_SENSITIVE, &seven, 1}, CKR_ATTRIBUTE_VALUE_INVALID},
        {{CKA_SENSITIVE, &yes, CK_UNAVAILABLE_INFORMATION}, CKR_ATTRIBUTE_VALUE_INVALID},
        {{CKA_LABEL, "twice", 5}, CKR_TEMPLATE_INCONSISTENT},
        {{CKA_ID, NULL, 5}, CKR_ATTRIBUTE_VALUE_INVALID},
        {{CKA_ID, message, CK_UNAVAILABLE_INFORMATION}, CKR_ATTRIBUTE_VALUE_INVALID},
        {{CKA_ID, message, ~0ul >> 1}, CKR_ATTRIBUTE_VALUE_INVALID},
        {{CKA_START_DATE, "2026", 4}, CKR_ATTRIBUTE_VALUE_INVALID},
        {{CKA_VALUE_LEN, &number, sizeof number}, CKR_TEMPLATE_INCONSISTENT},
        {{CKA_LOCAL, &yes, 1}, CKR_ATTRIBUTE_READ_ONLY},
        {{CKA_ALWAYS_SENSITIVE, &yes, 1}, CKR_ATTRIBUTE_READ_ONLY},
        {{CKA_NEVER_EXTRACTABLE, &yes, 1}, CKR_ATTRIBUTE_READ_ONLY},
        {{CKA_KEY_GEN_MECHANISM, &number, sizeof number}, CKR_ATTRIBUTE_READ_ONLY},
        {{CKA_MODULUS, message, 5}, CKR_ATTRIBUTE_TYPE_INVALID},
        {{~0ul, message, 5}, CKR_ATTRIBUTE_TYPE_INVALID},
        {{CKA_WRAP_TEMPLATE, full, sizeof full}, CKR_ATTRIBUTE_TYPE_INVALID},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        full[4] = wrong[i].attribute;
        const CK_RV rv = p11->C_CreateObject(s, full, 5, &key);
        CHECK(rv == wrong[i].rv, "attribute 0x%lx: 0x%lx", full[4].type, rv);
    }
    for (int i = 0; i < 3; i++) { /* class, type or value is missing, then wrong */
        const CK_ATTRIBUTE right = full[i];
        full[i] = (CK_ATTRIBUTE){CKA_ID, "id", 2};
        IS(CKR_TEMPLATE_INCOMPLETE, p11->C_CreateObject(s, full, 4, &key));
        full[i] = right;
        full[i].pValue = i == 0 ? &data_class : &aes;
        full[i].ulValueLen = i == 2 ? 0 : sizeof(CK_ULONG);
        IS(CKR_ATTRIBUTE_VALUE_INVALID, p11->C_CreateObject(s, full, 4, &key));
        full[i].ulValueLen = i == 2 ? (1 << 20) + 1 : 4;
        IS(CKR_ATTRIBUTE_VALUE_INVALID, p11->C_CreateObject(s, full, 4, &key));
        full[i] = right;
    }
    IS(CKR_ARGUMENTS_BAD, p11->C_CreateObject(s, full, 4, NULL));
    IS(CKR_ARGUMENTS_BAD, p11->C_CreateObject(s, NULL, 4, &key));
    IS(CKR_TEMPLATE_INCOMPLETE, p11->C_CreateObject(s, NULL, 0, &key));
    IS(CKR_TEMPLATE_INCONSISTENT, p11->C_CreateObject(s, full, ~0ul, &key));
    IS(CKR_TEMPLATE_INCONSISTENT, p11->C_CreateObject(s, full, ~0ul / sizeof *full + 2, &key));
    IS(CKR_ARGUMENTS_BAD, p11->C_FindObjectsInit(s, full, ~0ul));
    IS(CKR_ARGUMENTS_BAD, p11->C_FindObjectsInit(s, NULL, 1));
    IS(CKR_ATTRIBUTE_VALUE_INVALID, p11->C_FindObjectsInit(s, &(CK_ATTRIBUTE){CKA_ID, NULL, 3}, 1));
    OK(p11->C_FindObjectsInit(s, NULL, 0));
    OK(p11->C_FindObjects(s, &key, 1, &number));
    CHECK(number == 0, "a key was left");
    OK(p11->C_FindObjectsFinal(s));
    OK(p11->C_CreateObject(s, full, 4, &key));

    /* Reading: every attribute by itself, whatever is wrong with another. */
    uint8_t small[3] = "xyz", label[20] = {0};
    CK_ATTRIBUTE read[] = {{CKA_VALUE, value, sizeof value}, {CKA_LABEL, small, sizeof small}, {CKA_MODULUS, small, 3},
                           {CKA_LABEL, label, sizeof label}, {CKA_ID, small, 3},
                           {CKA_VALUE_LEN, &number, sizeof number}, {CKA_LABEL, NULL, 0}};
    const CK_RV rv = p11->C_GetAttributeValue(s, key, read, 7);
    CHECK(rv == CKR_ATTRIBUTE_TYPE_INVALID || rv == CKR_BUFFER_TOO_SMALL, "0x%lx", rv);
    CHECK(read[0].ulValueLen == 32 && memcmp(value, message, 32) == 0 && read[1].ulValueLen == ~0ul &&
              memcmp(small, "xyz", 3) == 0 && read[2].ulValueLen == ~0ul && read[3].ulValueLen == 7 &&
              memcmp(label, "a label", 8) == 0 && read[4].ulValueLen == 0 && number == 32 && read[6].ulValueLen == 7,
          "attributes");
    IS(CKR_ARGUMENTS_BAD, p11->C_GetAttributeValue(s, key, NULL, 1));
    IS(CKR_ARGUMENTS_BAD, p11->C_GetAttributeValue(s, key, read, ~0ul));
    IS(CKR_OBJECT_HANDLE_INVALID, p11->C_GetAttributeValue(s, key + 1, read, 1));
    IS(CKR_OBJECT_HANDLE_INVALID, p11->C_GetAttributeValue(s, 0, read, 1));
    OK(p11->C_GetObjectSize(s, key, &number));
    CHECK(number > 39 && !flag_of(s, key, CKA_LOCAL) && !flag_of(s, key, CKA_ALWAYS_SENSITIVE) &&
              !flag_of(s, key, CKA_NEVER_EXTRACTABLE) && flag_of(s, key, CKA_EXTRACTABLE), "a created key");
    IS(CKR_ARGUMENTS_BAD, p11->C_GetObjectSize(s, key, NULL));

    /* All of a template is set, or nothing. One-way flags stay. */
    CK_ATTRIBUTE set[] = {{CKA_LABEL, "new", 3}, {CKA_SENSITIVE, &yes, 1}, {CKA_VALUE, "x", 1}};
    IS(CKR_ATTRIBUTE_READ_ONLY, p11->C_SetAttributeValue(s, key, set, 3));
    CHECK(!flag_of(s, key, CKA_SENSITIVE), "half of a template");
    OK(p11->C_SetAttributeValue(s, key, set, 2));
    set[1].pValue = &no;
    IS(CKR_ATTRIBUTE_READ_ONLY, p11->C_SetAttributeValue(s, key, set, 2));
    IS(CKR_ATTRIBUTE_READ_ONLY, p11->C_CopyObject(s, key, set, 2, &copy));
    read[0] = (CK_ATTRIBUTE){CKA_VALUE, value, sizeof value};
    memset(value, 0x55, sizeof value);
    IS(CKR_ATTRIBUTE_SENSITIVE, p11->C_GetAttributeValue(s, key, read, 1));
    CHECK(read[0].ulValueLen == ~0ul && value[0] == 0x55 && value[31] == 0x55, "a sensitive value");
    OK(p11->C_CopyObject(s, key, NULL, 0, &copy));
    IS(CKR_ATTRIBUTE_SENSITIVE, p11->C_GetAttributeValue(s, copy, read, 1));
    CHECK(!flag_of(s, copy, CKA_ALWAYS_SENSITIVE), "it was readable");
    set[0] = (CK_ATTRIBUTE){CKA_EXTRACTABLE, &no, 1};
    const CK_OBJECT_HANDLE second = new_key(s, CKK_GENERIC_SECRET, message, 20);
    OK(p11->C_SetAttributeValue(s, second, set, 1));
    read[0].ulValueLen = sizeof value;
    IS(CKR_ATTRIBUTE_SENSITIVE, p11->C_GetAttributeValue(s, second, read, 1));
    set[0].pValue = &yes;
    IS(CKR_ATTRIBUTE_READ_ONLY, p11->C_SetAttributeValue(s, second, set, 1));
    /* A search for a secret value finds nothing, even the right one. */
    CK_ATTRIBUTE secret = {CKA_VALUE, message, 20};
    OK(p11->C_FindObjectsInit(s, &secret, 1));
    OK(p11->C_FindObjects(s, &copy, 1, &number));
    CHECK(number == 0, "a search reads secret values");
    OK(p11->C_FindObjectsFinal(s));
    OK(p11->C_FindObjectsInit(s, &(CK_ATTRIBUTE){CKA_LABEL, "new", 3}, 1));
    CK_OBJECT_HANDLE found[5];
    OK(p11->C_FindObjects(s, found, 5, &number));
    CHECK(number == 2 && (found[0] == key || found[1] == key), "%lu", number);
    OK(p11->C_FindObjectsFinal(s));

    /* Permissions */
    CK_MECHANISM hmac = mechanism_of(CKM_SHA256_HMAC);
    set[0] = (CK_ATTRIBUTE){CKA_SIGN, &no, 1};
    OK(p11->C_SetAttributeValue(s, key, set, 1));
    IS(CKR_KEY_FUNCTION_NOT_PERMITTED, p11->C_SignInit(s, &hmac, key));
    OK(p11->C_VerifyInit(s, &hmac, key));
    OK(p11->C_SessionCancel(s, CKF_VERIFY));
    set[0] = (CK_ATTRIBUTE){CKA_MODIFIABLE, &no, 1};
    IS(CKR_ATTRIBUTE_READ_ONLY, p11->C_SetAttributeValue(s, key, set, 1));
    set[1] = (CK_ATTRIBUTE){CKA_DESTROYABLE, &no, 1};
    set[2] = (CK_ATTRIBUTE){CKA_COPYABLE, &no, 1};
    OK(p11->C_CopyObject(s, key, set, 3, &copy));
    IS(CKR_ACTION_PROHIBITED, p11->C_SetAttributeValue(s, copy, NULL, 0));
    IS(CKR_ACTION_PROHIBITED, p11->C_CopyObject(s, copy, NULL, 0, found));
    IS(CKR_ACTION_PROHIBITED, p11->C_DestroyObject(s, copy));
    IS(CKR_ARGUMENTS_BAD, p11->C_CopyObject(s, key, NULL, 0, NULL));
    OK(p11->C_DestroyObject(s, key));
    IS(CKR_OBJECT_HANDLE_INVALID, p11->C_DestroyObject(s, key));

    /* Generated keys */
    CK_MECHANISM generate = mechanism_of(CKM_GENERIC_SECRET_KEY_GEN);
    CK_ULONG nbytes = 32;
    CK_ATTRIBUTE template[] = {{CKA_VALUE_LEN, &nbytes, sizeof nbytes}, {CKA_SENSITIVE, &yes, 1},
                               {CKA_EXTRACTABLE, &no, 1}, {0}};
    IS(CKR_TEMPLATE_INCOMPLETE, p11->C_GenerateKey(s, &generate, template + 1, 2, &key));
    IS(CKR_ARGUMENTS_BAD, p11->C_GenerateKey(s, &generate, template, 3, NULL));
    IS(CKR_ARGUMENTS_BAD, p11->C_GenerateKey(s, NULL, template, 3, &key));
    IS(CKR_MECHANISM_INVALID, p11->C_GenerateKey(s, &hmac, template, 3, &key));
    template[3] = (CK_ATTRIBUTE){CKA_VALUE, message, 32};
    IS(CKR_TEMPLATE_INCONSISTENT, p11->C_GenerateKey(s, &generate, template, 4, &key));
    template[3] = (CK_ATTRIBUTE){CKA_KEY_TYPE, &type, sizeof type};
    IS(CKR_TEMPLATE_INCONSISTENT, p11->C_GenerateKey(s, &generate, template, 4, &key));
    IS(CKR_ARGUMENTS_BAD, p11->C_GenerateKey(s, &generate, NULL, 3, &key));
    for (nbytes = 0; nbytes != 32; nbytes = nbytes == 0 ? ~0ul : 32)
        IS(CKR_KEY_SIZE_RANGE, p11->C_GenerateKey(s, &generate, template, 3, &key));
    OK(p11->C_GenerateKey(s, &generate, template, 3, &key));
    CHECK(flag_of(s, key, CKA_LOCAL) && flag_of(s, key, CKA_ALWAYS_SENSITIVE) && flag_of(s, key, CKA_NEVER_EXTRACTABLE),
          "a generated key");
    OK(p11->C_GenerateKey(s, &generate, template, 1, &copy));
    OK(p11->C_GetAttributeValue(s, copy, &(CK_ATTRIBUTE){CKA_VALUE, value, 32}, 1));
    CHECK(memcmp(value, value + 16, 16) != 0 && flag_of(s, copy, CKA_LOCAL) && !flag_of(s, copy, CKA_ALWAYS_SENSITIVE),
          "a generated key");

    /* C_DigestKey */
    CK_MECHANISM digest = mechanism_of(CKM_SHA256);
    uint8_t out[DIGEST_MAX], expected[DIGEST_MAX];
    number = sizeof out;
    OK(p11->C_DigestInit(s, &digest));
    OK(p11->C_DigestKey(s, second));
    OK(p11->C_DigestUpdate(s, message + 20, 100));
    OK(p11->C_DigestFinal(s, out, &number));
    CHECK(EVP_Digest(message, 120, expected, NULL, EVP_sha256(), NULL) && memcmp(out, expected, 32) == 0,
          "C_DigestKey");
    OK(p11->C_CloseSession(s));
}

/* The attribute's value, of at most 64 bytes, and its size; ~0ul if the attribute has none. */
static CK_ULONG read_attribute(CK_SESSION_HANDLE s, CK_OBJECT_HANDLE key, CK_ATTRIBUTE_TYPE type, void *value)
{
    CK_ATTRIBUTE attribute = {type, value, 64};

    OK(p11->C_GetAttributeValue(s, key, &attribute, 1));
    return attribute.ulValueLen;
}

static CK_ULONG count_found(CK_SESSION_HANDLE s, CK_ATTRIBUTE *template)
{
    CK_OBJECT_HANDLE found[8];
    CK_ULONG count;

    OK(p11->C_FindObjectsInit(s, template, 1));
    OK(p11->C_FindObjects(s, found, 8, &count));
    OK(p11->C_FindObjectsFinal(s));
    return count;
}

/* CKA_CHECK_VALUE, CKA_UNIQUE_ID and CKA_ALLOWED_MECHANISMS. */
static void computed_attributes(void)
{
    const CK_SESSION_HANDLE s = open_session();
    CK_OBJECT_CLASS class = CKO_SECRET_KEY;
    CK_KEY_TYPE type = CKK_GENERIC_SECRET;
    CK_BBOOL sensitive = CK_TRUE;
    CK_MECHANISM_TYPE allowed[] = {CKM_SHA_1_HMAC, CKM_SHA256_HMAC, CKM_SHA256};
    uint8_t right[DIGEST_MAX], value[64], id[2][64];
    CK_ATTRIBUTE template[] = {{CKA_CHECK_VALUE, right, 3}, /* before the value */
                               {CKA_CLASS, &class, sizeof class},
                               {CKA_KEY_TYPE, &type, sizeof type},
                               {CKA_VALUE, message, 100},
                               {CKA_SENSITIVE, &sensitive, 1},
                               {CKA_ALLOWED_MECHANISMS, allowed, sizeof allowed}};
    CK_OBJECT_HANDLE key, copy, plain;

    CHECK(EVP_Digest(message, 100, right, NULL, EVP_sha1(), NULL), "SHA-1");
    OK(p11->C_CreateObject(s, template, 6, &key));
    CHECK(read_attribute(s, key, CKA_CHECK_VALUE, value) == 3 && memcmp(value, right, 3) == 0, "a check value");
    CHECK(count_found(s, &template[0]) == 1, "a search for a check value");
    CHECK(count_found(s, &template[3]) == 0, "a search for a secret value");
    right[2] ^= 1;
    IS(CKR_ATTRIBUTE_VALUE_INVALID, p11->C_CreateObject(s, template, 6, &copy));
    IS(CKR_ATTRIBUTE_VALUE_INVALID, p11->C_SetAttributeValue(s, key, template, 1));
    IS(CKR_ATTRIBUTE_VALUE_INVALID, p11->C_CopyObject(s, key, template, 1, &copy));
    right[2] ^= 1;
    template[0].ulValueLen = 0; /* no check value */
    OK(p11->C_CreateObject(s, template, 5, &plain));
    CHECK(read_attribute(s, plain, CKA_CHECK_VALUE, value) == 0, "a check value that nobody wants");
    OK(p11->C_SetAttributeValue(s, key, template, 1));
    CHECK(read_attribute(s, key, CKA_CHECK_VALUE, value) == 0, "a removed check value");
    OK(p11->C_CopyObject(s, key, NULL, 0, &copy));
    CHECK(read_attribute(s, copy, CKA_CHECK_VALUE, value) == 0, "a removed check value in a copy");

    /* Each object has an identity of its own, which nothing changes. */
    CHECK(read_attribute(s, key, CKA_UNIQUE_ID, id[0]) == 32 && read_attribute(s, copy, CKA_UNIQUE_ID, id[1]) == 32 &&
              memcmp(id[0], id[1], 32) != 0 && memcmp(id[0], id[1], 16) == 0, "CKA_UNIQUE_ID");
    CHECK(count_found(s, &(CK_ATTRIBUTE){CKA_UNIQUE_ID, id[1], 32}) == 1, "a search for CKA_UNIQUE_ID");
    IS(CKR_ATTRIBUTE_READ_ONLY, p11->C_SetAttributeValue(s, key, &(CK_ATTRIBUTE){CKA_UNIQUE_ID, id[1], 32}, 1));
    IS(CKR_ATTRIBUTE_READ_ONLY, p11->C_CopyObject(s, key, &(CK_ATTRIBUTE){CKA_UNIQUE_ID, id[1], 32}, 1, &copy));

    /* Only these mechanisms may use the key, and a copy. */
    for (int i = 0; i < 2; i++) {
        const CK_OBJECT_HANDLE each = i == 0 ? key : copy;
        CK_MECHANISM sha1 = mechanism_of(CKM_SHA_1_HMAC), sha512 = mechanism_of(CKM_SHA512_HMAC),
                     general = {CKM_SHA_1_HMAC_GENERAL, &(CK_ULONG){10}, sizeof(CK_ULONG)},
                     digest = mechanism_of(CKM_SHA256), other = mechanism_of(CKM_SHA512);
        CHECK(read_attribute(s, each, CKA_ALLOWED_MECHANISMS, value) == sizeof allowed &&
                  memcmp(value, allowed, sizeof allowed) == 0, "CKA_ALLOWED_MECHANISMS");
        OK(p11->C_SignInit(s, &sha1, each));
        OK(p11->C_SessionCancel(s, CKF_SIGN));
        IS(CKR_KEY_FUNCTION_NOT_PERMITTED, p11->C_SignInit(s, &general, each));
        IS(CKR_KEY_FUNCTION_NOT_PERMITTED, p11->C_VerifyInit(s, &sha512, each));
        OK(p11->C_DigestInit(s, &digest));
        OK(p11->C_DigestKey(s, each));
        OK(p11->C_DigestInit(s, NULL));
        OK(p11->C_DigestInit(s, &other));
        IS(CKR_KEY_INDIGESTIBLE, p11->C_DigestKey(s, each));
        OK(p11->C_DigestInit(s, &other)); /* the error has ended the digest */
        OK(p11->C_DigestInit(s, NULL));
    }
    template[5].ulValueLen = sizeof *allowed;
    IS(CKR_ATTRIBUTE_READ_ONLY, p11->C_SetAttributeValue(s, key, &template[5], 1));
    IS(CKR_ATTRIBUTE_READ_ONLY, p11->C_CopyObject(s, key, &template[5], 1, &copy));
    CHECK(read_attribute(s, plain, CKA_ALLOWED_MECHANISMS, value) == 0, "all mechanisms are allowed");
    OK(p11->C_CloseSession(s));
}

/* ---- Threads, fork, unloading, memory ---- */

struct work {
    uint64_t seed;
    CK_OBJECT_HANDLE key;
    CK_ULONG nparts, part_nbytes;
    uint8_t *part, out[DIGEST_MAX];
};

static void *thread_cases(void *argument)
{
    const struct work *work = argument;
    const CK_SESSION_HANDLE session = open_session();
    CK_MECHANISM hmac = mechanism_of(CKM_SHA256_HMAC);
    uint8_t out[DIGEST_MAX], expected[DIGEST_MAX];
    CK_ULONG n = sizeof out;

    HMAC(EVP_sha256(), message, 20, message, 500, expected, NULL);
    for (int i = 0; i < (is_quick ? 4 : 100); i++) {
        random_cases(session, work->seed + (uint64_t)i, 1);
        OK(p11->C_SignInit(session, &hmac, work->key)); /* all threads share it */
        n = sizeof out;
        OK(p11->C_Sign(session, message, 500, out, &n));
        CHECK(memcmp(out, expected, 32) == 0, "a shared key");
        OK(p11->C_CloseSession(open_session()));
        OK(p11->C_FindObjectsInit(session, NULL, 0));
        OK(p11->C_FindObjectsFinal(session));
    }
    OK(p11->C_CloseSession(session));
    return NULL;
}

static void threads(void)
{
    pthread_t running[THREADS];
    struct work work[THREADS];
    const CK_SESSION_HANDLE session = open_session();
    const CK_OBJECT_HANDLE key = new_key(session, CKK_GENERIC_SECRET, message, 20);

    for (int i = 0; i < nthreads; i++) {
        work[i] = (struct work){.seed = (uint64_t)i * 1000, .key = key};
        CHECK(pthread_create(&running[i], NULL, thread_cases, &work[i]) == 0, "thread");
    }
    for (int i = 0; i < nthreads; i++)
        pthread_join(running[i], NULL);
    OK(p11->C_CloseSession(session));
}

static void *thread_stream(void *argument)
{
    struct work *work = argument;
    const CK_SESSION_HANDLE session = open_session();
    CK_MECHANISM digest = mechanism_of(work->seed % 2 == 0 ? CKM_SHA_1 : CKM_SHA256);
    CK_ULONG n = sizeof work->out;

    OK(p11->C_DigestInit(session, &digest));
    for (CK_ULONG i = 0; i < work->nparts; i++)
        OK(p11->C_DigestUpdate(session, work->part, work->part_nbytes));
    OK(p11->C_DigestFinal(session, work->out, &n));
    OK(p11->C_CloseSession(session));
    return NULL;
}

/* Each thread hashes a message of nparts MiB and some bytes in a session of its own. */
static void streams(CK_ULONG nparts)
{
    static uint8_t part[(1 << 20) + 1];
    uint8_t expected[2][EVP_MAX_MD_SIZE];
    pthread_t running[THREADS];
    struct work work[THREADS];

    for (size_t i = 0; i < sizeof part; i++)
        part[i] = message[i % LONGEST];
    for (size_t i = 0; i < (size_t)nthreads; i++) {
        work[i] = (struct work){.seed = i, .nparts = nparts, .part = part, .part_nbytes = sizeof part};
        CHECK(pthread_create(&running[i], NULL, thread_stream, &work[i]) == 0, "thread");
    }
    for (int i = 0; i < nthreads; i++)
        pthread_join(running[i], NULL);
    for (int i = 0; i < 2; i++) {
        EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        CHECK(EVP_DigestInit(ctx, i == 0 ? EVP_sha1() : EVP_sha256()), "libcrypto");
        for (CK_ULONG n = 0; n < nparts; n++)
            CHECK(EVP_DigestUpdate(ctx, part, sizeof part), "libcrypto");
        CHECK(EVP_DigestFinal(ctx, expected[i], NULL), "libcrypto");
        EVP_MD_CTX_free(ctx);
    }
    for (size_t i = 0; i < (size_t)nthreads; i++)
        CHECK(memcmp(work[i].out, expected[i % 2], i % 2 == 0 ? 20 : 32) == 0, "thread %zu, %lu MiB", i, nparts);
}

static _Atomic int stop;

static void *thread_until_stopped(void *argument)
{
    CK_SESSION_HANDLE session = 0;
    CK_MECHANISM digest = mechanism_of(CKM_SHA256), hmac = mechanism_of(CKM_SHA1_RSA_PKCS);
    CK_OBJECT_CLASS class = CKO_SECRET_KEY;
    CK_KEY_TYPE type = CKK_GENERIC_SECRET;
    CK_ATTRIBUTE template[] = {{CKA_CLASS, &class, sizeof class}, {CKA_KEY_TYPE, &type, sizeof type},
                               {CKA_VALUE, message, 20}};
    CK_OBJECT_HANDLE key = 0;
    uint8_t out[DIGEST_MAX];

    (void)argument;
    while (!stop) { /* any result is right */
        CK_ULONG n = sizeof out;
        p11->C_OpenSession(0, CKF_SERIAL_SESSION, NULL, NULL, &session);
        p11->C_CreateObject(session, template, 3, &key);
        p11->C_DigestInit(session, &digest);
        p11->C_DigestUpdate(session, message, 1000);
        p11->C_DigestFinal(session, out, &n);
        hmac.mechanism = CKM_SHA256_HMAC;
        p11->C_SignInit(session, &hmac, key);
        p11->C_Sign(session, message, 100, out, &n);
        p11->C_CloseSession(session);
    }
    return NULL;
}

/* The standard does not define what follows from C_Finalize while other threads are in calls. Here they get errors. */
static void finalize_while_running(void)
{
    pthread_t running[THREADS];

    stop = 0;
    for (int i = 0; i < nthreads; i++)
        CHECK(pthread_create(&running[i], NULL, thread_until_stopped, NULL) == 0, "thread");
    for (int i = 0; i < (is_quick ? 20 : 300); i++) {
        usleep(1000);
        OK(p11->C_Finalize(NULL));
        OK(p11->C_Initialize(NULL));
    }
    stop = 1;
    for (int i = 0; i < nthreads; i++)
        pthread_join(running[i], NULL);
    OK(p11->C_CloseAllSessions(0));
}

static void child_of_fork(CK_SESSION_HANDLE session)
{
    CK_ULONG count = 0;
    CK_OBJECT_HANDLE found;

    not_initialized();
    OK(p11->C_Initialize(NULL));
    IS(CKR_SESSION_HANDLE_INVALID, p11->C_CloseSession(session));
    const CK_SESSION_HANDLE own = open_session();
    OK(p11->C_FindObjectsInit(own, NULL, 0));
    OK(p11->C_FindObjects(own, &found, 1, &count));
    CHECK(count == 0, "the child has a key of its parent");
    OK(p11->C_FindObjectsFinal(own));
    random_cases(own, 77, 3);
    OK(p11->C_Finalize(NULL));
}

static void forks(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    const int busy = 0; /* the child could wait for ever for a lock of the sanitizer's own malloc */
#else
    const int busy = nthreads;
#endif
    pthread_t running[THREADS];
    const CK_SESSION_HANDLE session = open_session();
    const CK_OBJECT_HANDLE key = new_key(session, CKK_GENERIC_SECRET, message, 20);
    CK_MECHANISM digest = mechanism_of(CKM_SHA256);

    OK(p11->C_DigestInit(session, &digest));
    stop = 0;
    for (int i = 0; i < busy; i++)
        CHECK(pthread_create(&running[i], NULL, thread_until_stopped, NULL) == 0, "thread");
    for (int i = 0; i < (is_quick ? 3 : 40); i++) {
        int status;
        const pid_t child = fork();
        if (child == 0) {
            child_of_fork(session);
            /* Memory that a thread of the parent had just asked for is lost in the child: no search for leaks there. */
            raise(SIGKILL);
        }
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
              "the child of a fork: %d", status);
    }
    stop = 1;
    for (int i = 0; i < busy; i++)
        pthread_join(running[i], NULL);
    OK(p11->C_DigestUpdate(session, message, 10)); /* the parent goes on */
    OK(p11->C_DestroyObject(session, key));
    OK(p11->C_CloseSession(session));
}

/* The process ends while threads are in calls. */
static void exit_while_running(void)
{
    for (int i = 0; i < (is_quick ? 3 : 30); i++) {
        int status;
        const pid_t child = fork();
        if (child == 0) {
            pthread_t running;
            OK(p11->C_Initialize(NULL));
            stop = 0;
            for (int t = 0; t < 4; t++)
                CHECK(pthread_create(&running, NULL, thread_until_stopped, NULL) == 0, "thread");
            usleep(2000);
            exit(3);
        }
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3,
              "exit while threads are in calls: %x", status);
    }
}

/* ---- The caller's own mutexes ---- */

static _Atomic long mutexes, locked;
static _Atomic int refuse_at = -1; /* the number of the CreateMutex that fails */

static CK_RV create_mutex(void **mutex)
{
    if (refuse_at >= 0 && refuse_at-- == 0)
        return CKR_HOST_MEMORY;
    pthread_mutexattr_t attributes; /* an error tells of a mutex that is unlocked twice */
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    *mutex = malloc(sizeof(pthread_mutex_t));
    pthread_mutex_init(*mutex, &attributes);
    mutexes++;
    return CKR_OK;
}

static CK_RV destroy_mutex(void *mutex)
{
    CHECK(pthread_mutex_destroy(mutex) == 0, "a locked mutex is destroyed");
    free(mutex);
    mutexes--;
    return CKR_OK;
}

static CK_RV lock_mutex(void *mutex)
{
    CHECK(pthread_mutex_lock(mutex) == 0, "locked twice");
    locked++;
    return CKR_OK;
}

static CK_RV unlock_mutex(void *mutex)
{
    locked--;
    CHECK(pthread_mutex_unlock(mutex) == 0, "not locked");
    return CKR_OK;
}

static void locking(void)
{
    CK_C_INITIALIZE_ARGS args = {create_mutex, destroy_mutex, lock_mutex, unlock_mutex, 0, NULL};
    CK_SESSION_HANDLE session;

    OK(p11->C_Initialize(&args));
    IS(CKR_CRYPTOKI_ALREADY_INITIALIZED, p11->C_Initialize(&args));
    CHECK(mutexes > 0, "the caller's mutexes are not used");
    threads();
    CHECK(locked == 0 && mutexes > 2, "%ld locked", (long)locked);
    OK(p11->C_Finalize(NULL));
    CHECK(mutexes == 0 && locked == 0, "%ld mutexes are left", (long)mutexes);

    for (int at = 0;; at++) { /* each CreateMutex fails once */
        refuse_at = at;
        CK_RV rv = p11->C_Initialize(&args);
        if (rv == CKR_OK) {
            rv = p11->C_OpenSession(0, CKF_SERIAL_SESSION, NULL, NULL, &session);
            if (rv == CKR_HOST_MEMORY) /* the next call tries again */
                OK(p11->C_OpenSession(0, CKF_SERIAL_SESSION, NULL, NULL, &session));
            const int is_done = refuse_at >= 0;
            refuse_at = -1;
            OK(p11->C_Finalize(NULL));
            if (is_done)
                break;
        }
        CHECK(rv == CKR_HOST_MEMORY && at < 100, "0x%lx", rv);
        CHECK(mutexes == 0, "%ld mutexes are left", (long)mutexes);
    }
    refuse_at = -1;

    args.flags = CKF_OS_LOCKING_OK; /* both are offered: the module takes those of the system */
    OK(p11->C_Initialize(&args));
    CHECK(mutexes == 0, "%ld mutexes", (long)mutexes);
    OK(p11->C_Finalize(NULL));
    args = (CK_C_INITIALIZE_ARGS){NULL, NULL, NULL, NULL, CKF_OS_LOCKING_OK | CKF_LIBRARY_CANT_CREATE_OS_THREADS, NULL};
    OK(p11->C_Initialize(&args));
    IS(CKR_ARGUMENTS_BAD, p11->C_Finalize(&args));
    OK(p11->C_Finalize(NULL));
    args.pReserved = &args;
    IS(CKR_ARGUMENTS_BAD, p11->C_Initialize(&args));
    args = (CK_C_INITIALIZE_ARGS){create_mutex, destroy_mutex, lock_mutex, NULL, 0, NULL};
    IS(CKR_ARGUMENTS_BAD, p11->C_Initialize(&args));
}

#ifdef FAILING_MALLOC
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static _Thread_local int countdown = -1; /* allocations until one fails; -1: none does */

static int fails(void)
{
    return countdown >= 0 && countdown-- == 0;
}

void *malloc(size_t nbytes)
{
    return fails() ? NULL : __libc_malloc(nbytes);
}

void *calloc(size_t count, size_t nbytes)
{
    return fails() ? NULL : __libc_calloc(count, nbytes);
}

void *realloc(void *old, size_t nbytes)
{
    return fails() ? NULL : __libc_realloc(old, nbytes);
}

/* Each allocation fails once; the same calls then work. More sessions and keys than a chunk has. */
static void lack_of_memory(void)
{
    enum { COUNT = 200 };
    CK_MECHANISM generate = mechanism_of(CKM_GENERIC_SECRET_KEY_GEN);
    CK_ULONG nbytes = 32, count;
    CK_ATTRIBUTE template[] = {{CKA_VALUE_LEN, &nbytes, sizeof nbytes}, {CKA_LABEL, "label", 5}, {CKA_ID, "id", 2}};
    CK_SESSION_HANDLE session;
    CK_OBJECT_HANDLE key, copy;
    int failed = 0;

    OK(p11->C_Initialize(NULL));
    session = open_session();
    for (int i = 0; i < COUNT; i++) {
        CK_RV rv;
        for (int at = 0;; at++) {
            countdown = at;
            rv = p11->C_OpenSession(0, CKF_SERIAL_SESSION, NULL, NULL, &copy);
            if (rv == CKR_OK)
                rv = p11->C_GenerateKey(session, &generate, template, 3, &key);
            if (rv == CKR_OK)
                rv = p11->C_CopyObject(session, key, template + 1, 1, &copy);
            if (rv == CKR_OK)
                rv = p11->C_SetAttributeValue(session, key, template + 1, 2);
            if (rv == CKR_OK)
                rv = p11->C_FindObjectsInit(session, NULL, 0);
            const int is_done = countdown >= 0;
            countdown = -1;
            if (rv == CKR_OK)
                OK(p11->C_FindObjectsFinal(session));
            if (is_done)
                break;
            CHECK(rv == CKR_HOST_MEMORY && at < 1000, "0x%lx", rv);
            failed++;
            IS(CKR_OPERATION_NOT_INITIALIZED, p11->C_FindObjects(session, &key, 1, &count));
        }
        OK(rv);
    }
    CHECK(failed > COUNT, "%d allocations failed", failed);
    OK(p11->C_Finalize(NULL));
}

/* How often the process's memory has these bytes, given inverted so that they are not found here. */
static int count_in_memory(const uint8_t inverted[16])
{
    static uint8_t buffer[1 << 16];
    char line[512];
    unsigned long begin, end;
    char mode[8];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r"), *memory = fopen("/proc/self/mem", "r");

    CHECK(maps != NULL && memory != NULL, "/proc");
    setvbuf(memory, NULL, _IONBF, 0);
    while (fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%lx-%lx %7s", &begin, &end, mode) != 3 || mode[0] != 'r' || mode[1] != 'w')
            continue;
        for (unsigned long at = begin; at + 16 <= end; at += sizeof buffer - 15) {
            fseek(memory, (long)at, SEEK_SET);
            const size_t n = fread(buffer, 1, end - at < sizeof buffer ? end - at : sizeof buffer, memory);
            for (size_t i = 0; i + 16 <= n; i++) {
                size_t same = 0;
                while (same < 16 && (buffer[i + same] ^ inverted[same]) == 0xff)
                    same++;
                if (same == 16 && (at + i < (unsigned long)buffer || at + i >= (unsigned long)buffer + sizeof buffer))
                    count++;
            }
        }
    }
    memset(buffer, 0, sizeof buffer);
    fclose(maps);
    fclose(memory);
    return count;
}

/* After each way in which a key can end, none of its bytes is left. */
static void wiped(void)
{
    uint8_t inverted[16], value[64], out[DIGEST_MAX];
    CK_MECHANISM hmac = mechanism_of(CKM_SHA256_HMAC);
    CK_ULONG n;

    for (int way = 0; way < 4; way++) {
        OK(p11->C_Initialize(NULL));
        const CK_SESSION_HANDLE session = open_session(), other = open_session();
        OK(p11->C_GenerateRandom(session, inverted, sizeof inverted));
        memset(value, 0x11, sizeof value);
        for (size_t i = 0; i < sizeof inverted; i++) /* not at the beginning, where free writes */
            value[40 + i] = (uint8_t)~inverted[i];
        const CK_OBJECT_HANDLE key = new_key(session, CKK_GENERIC_SECRET, value, sizeof value);
        explicit_bzero(value, sizeof value);
        const int count = count_in_memory(inverted);
        CHECK(count == 1, "a key is found %d times", count);
        n = sizeof out;
        OK(p11->C_SignInit(other, &hmac, key));
        OK(p11->C_Sign(other, message, 10, out, &n));
        OK(p11->C_SetAttributeValue(other, key, &(CK_ATTRIBUTE){CKA_LABEL, "new", 3}, 1));
        CHECK(read_attribute(other, key, CKA_CHECK_VALUE, out) == 3, "a check value");
        CHECK(count_in_memory(inverted) == 1, "way %d: a copy is left", way);
        if (way == 0)
            OK(p11->C_DestroyObject(other, key));
        if (way == 1)
            OK(p11->C_CloseSession(session));
        if (way == 2)
            OK(p11->C_CloseAllSessions(0));
        if (way < 3)
            CHECK(count_in_memory(inverted) == 0, "way %d: the key is left", way);
        int status;
        const pid_t child = fork();
        if (child == 0)
            _exit(count_in_memory(inverted) != 0);
        CHECK(waitpid(child, &status, 0) == child && status == 0, "the child of a fork has the key");
        OK(p11->C_Finalize(NULL));
        CHECK(count_in_memory(inverted) == 0, "C_Finalize leaves the key");
    }
}
#endif

/* Mutexes that need no end: dlclose leaves them to the caller. */
static CK_RV lend_mutex(void **mutex)
{
    static pthread_mutex_t all[1000];
    static size_t count;

    CHECK(count < sizeof all / sizeof *all, "%zu mutexes", count);
    *mutex = &all[count++];
    pthread_mutex_init(*mutex, NULL);
    return CKR_OK;
}

static CK_RV take_back_mutex(void *mutex)
{
    return pthread_mutex_destroy(mutex) == 0 ? CKR_OK : CKR_MUTEX_BAD;
}

/* Unloads the module right after C_Finalize, or while sessions, searches and keys are there: nothing of them is left.
 * AddressSanitizer and valgrind look for memory. */
static void unload(const char *path, void *module, int is_finalized)
{
    CK_MECHANISM digest = mechanism_of(CKM_SHA256), hmac = mechanism_of(CKM_SHA256_HMAC);
    CK_C_INITIALIZE_ARGS args = {lend_mutex, take_back_mutex, lock_mutex, unlock_mutex, 0, NULL};

    for (int i = 0; i < 4; i++) {
        uint8_t value[64], inverted[16];
        OK(p11->C_Initialize(i % 2 == 0 ? NULL : &args));
        for (int more = 0; more < 200; more++) /* than a chunk has */
            open_session();
        const CK_SESSION_HANDLE session = open_session(), other = open_session(), third = open_session();
        OK(p11->C_GenerateRandom(session, inverted, sizeof inverted));
        memset(value, 0x11, sizeof value);
        for (size_t at = 0; at < sizeof inverted; at++)
            value[40 + at] = (uint8_t)~inverted[at];
        const CK_OBJECT_HANDLE key = new_key(session, CKK_GENERIC_SECRET, value, sizeof value);
        explicit_bzero(value, sizeof value);
        OK(p11->C_DigestInit(session, &digest));
        OK(p11->C_DigestUpdate(session, message, 10));
        OK(p11->C_SignInit(other, &hmac, key));
        OK(p11->C_FindObjectsInit(third, NULL, 0));
        if (is_finalized)
            OK(p11->C_Finalize(NULL));
        CHECK(dlclose(module) == 0, "%s", dlerror());
#ifdef FAILING_MALLOC
        CHECK(count_in_memory(inverted) == 0, "dlclose leaves a key");
#endif
        const pid_t child = fork(); /* the handler of the module is gone with it */
        if (child == 0)
            _exit(0);
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0, "fork after dlclose");
        module = load(path);
    }
    not_initialized();
    if (!is_finalized)
        exit_while_running();
    dlclose(module);
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;

    CHECK(argc >= 2, "usage: pkcs11_module MODULE [quick|huge|unload]");
    is_quick = argc > 2 && strcmp(argv[2], "quick") == 0;
    nthreads = is_quick ? 3 : THREADS;
    for (size_t i = 0; i < sizeof message; i++)
        message[i] = (uint8_t)below(&seed, 256);
    void *module = load(argv[1]);
    not_initialized();
    if (argc > 2 && strcmp(argv[2], "unload") == 0) {
        unload(argv[1], module, 0);
        return 0;
    }
    interfaces(module);
    OK(p11->C_Initialize(&(CK_C_INITIALIZE_ARGS){.flags = CKF_OS_LOCKING_OK}));
    if (argc > 2 && strcmp(argv[2], "huge") == 0) {
        streams(4100);
    } else {
        token();
        login();
        arguments();
        handles();
        attributes();
        computed_attributes();
        states();
        pbkdf2();
        const CK_SESSION_HANDLE session = open_session();
        const char *given = getenv("HASHLOOM_SEED");
        random_cases(session, given == NULL ? 5 : strtoull(given, NULL, 10), is_quick ? 30 : 300);
        OK(p11->C_CloseSession(session));
        threads();
        streams(is_quick ? 3 : 40);
        forks();
        finalize_while_running();
    }
    OK(p11->C_Finalize(NULL));
    locking();
#ifdef FAILING_MALLOC
    lack_of_memory();
    wiped();
#endif
    unload(argv[1], module, 1);
    puts("pkcs11_module: passed");
    return 0;
}
