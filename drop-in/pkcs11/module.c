/* module.c: the PKCS#11 module: C_Initialize and C_Finalize, fork, interfaces, the slot and its token, random numbers.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define _DEFAULT_SOURCE
#include "module.h"


#include <unistd.h>

_Atomic int hlk_running;
uint8_t hlk_prefix[PREFIX_NBYTES];
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER; /* C_Initialize and C_Finalize */

/* A child of fork has to call C_Initialize again. It inherits no session and no key. */
static void after_fork(void)
{
    hlk_running = 0;
    starting = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    hlk_tables_after_fork();
}

/* exit calls functions that __cxa_atexit has registered before the destructors of libraries. dlclose calls a library's
 * own such functions after its destructor. (Itanium C++ ABI 3.3.6. Sanitizers' atexit does not know the library.) */
extern int __cxa_atexit(void (*function)(void *), void *argument, void *library);
extern void *__dso_handle __attribute__((visibility("hidden")));
static _Atomic int is_exit;

static void at_exit(void *ignored)
{
    (void)ignored;
    is_exit = 1;
}

__attribute__((destructor)) static void unload(void)
{
    hlk_running = 0;
    hlk_tables_unload(is_exit);
}

/* NULL mutexes: those of the operating system. The standard lets a module lock even if the caller has no threads. */
static CK_RV start(const CK_C_INITIALIZE_ARGS *mutexes)
{
    static int has_exit, has_handler;

    if (hlk_running)
        return CKR_CRYPTOKI_ALREADY_INITIALIZED;
    if (!has_exit && __cxa_atexit(at_exit, NULL, &__dso_handle) != 0)
        return CKR_HOST_MEMORY;
    has_exit = 1;
    if (!has_handler && pthread_atfork(NULL, NULL, after_fork) != 0)
        return CKR_HOST_MEMORY;
    has_handler = 1;
    CK_RV rv = hlk_random(hlk_prefix, sizeof hlk_prefix);
    if (rv == CKR_OK)
        rv = hlk_tables_start(mutexes);
    hlk_running = rv == CKR_OK;
    return rv;
}

CK_RV C_Initialize(void *arguments)
{
    const CK_C_INITIALIZE_ARGS *args = arguments, *mutexes = NULL;

    if (args != NULL) {
        const int count = (args->CreateMutex != NULL) + (args->DestroyMutex != NULL) + (args->LockMutex != NULL) +
                          (args->UnlockMutex != NULL);
        if (args->pReserved != NULL || (count != 0 && count != 4))
            return CKR_ARGUMENTS_BAD;
        if (count == 4 && (args->flags & CKF_OS_LOCKING_OK) == 0)
            mutexes = args;
    }
    pthread_mutex_lock(&starting);
    const CK_RV rv = start(mutexes);
    pthread_mutex_unlock(&starting);
    return rv;
}

CK_RV C_Finalize(void *reserved)
{
    if (reserved != NULL)
        return hlk_running ? CKR_ARGUMENTS_BAD : CKR_CRYPTOKI_NOT_INITIALIZED;
    pthread_mutex_lock(&starting);
    const int was_running = atomic_exchange(&hlk_running, 0);
    if (was_running)
        hlk_tables_stop();
    pthread_mutex_unlock(&starting);
    return was_running ? CKR_OK : CKR_CRYPTOKI_NOT_INITIALIZED;
}

/* Texts of the standard have a fixed length and end in spaces. */
static void put_text(CK_UTF8CHAR *field, size_t nbytes, const char *text)
{
    const size_t length = strlen(text);

    memset(field, ' ', nbytes);
    memcpy(field, text, length < nbytes ? length : nbytes);
}
#define PUT(field, text) put_text(field, sizeof(field), text)

static const CK_VERSION library_version = {HL_VERSION_MAJOR, HL_VERSION_MINOR};

CK_RV C_GetInfo(CK_INFO *info)
{
    if (!hlk_running)
        return CKR_CRYPTOKI_NOT_INITIALIZED;
    if (info == NULL)
        return CKR_ARGUMENTS_BAD;
    *info = (CK_INFO){.cryptokiVersion = {3, 0}, .libraryVersion = library_version};
    PUT(info->manufacturerID, "hashloom");
    PUT(info->libraryDescription, "Hashes and MACs");
    return CKR_OK;
}

/* ---- Interfaces ---- */

#define ENTRY(name) .name = name,
static CK_FUNCTION_LIST functions_2_40 = {.version = {2, 40}, FUNCTIONS_2_40(ENTRY)};
static struct functions_3_0 functions_3_0 = {.version = {3, 0}, FUNCTIONS_2_40(ENTRY) FUNCTIONS_3_0(ENTRY)};

#define NAME(text) (void *)(uintptr_t)(text)
static CK_INTERFACE interfaces[] = {
    {NAME("PKCS 11"), &functions_3_0, 0}, /* the default */
    {NAME("PKCS 11"), &functions_2_40, 0},
};
enum { INTERFACES = sizeof interfaces / sizeof *interfaces };

CK_RV C_GetFunctionList(CK_FUNCTION_LIST **list)
{
    if (list == NULL)
        return CKR_ARGUMENTS_BAD;
    *list = &functions_2_40;
    return CKR_OK;
}

CK_RV C_GetInterfaceList(CK_INTERFACE *list, CK_ULONG *count)
{
    if (count == NULL)
        return CKR_ARGUMENTS_BAD;
    const CK_ULONG room = *count;
    *count = INTERFACES;
    if (list == NULL)
        return CKR_OK;
    if (room < INTERFACES)
        return CKR_BUFFER_TOO_SMALL;
    memcpy(list, interfaces, sizeof interfaces);
    return CKR_OK;
}

CK_RV C_GetInterface(CK_UTF8CHAR *name, CK_VERSION *version, CK_INTERFACE **interface, CK_FLAGS flags)
{
    if (interface == NULL)
        return CKR_ARGUMENTS_BAD;
    for (size_t i = 0; i < INTERFACES; i++) {
        const CK_VERSION *found = interfaces[i].pFunctionList; /* every list begins with its version */
        if ((name == NULL || strcmp((const char *)name, (const char *)interfaces[i].pInterfaceName) == 0) &&
            (version == NULL || (version->major == found->major && version->minor == found->minor)) &&
            (flags & ~interfaces[i].flags) == 0) {
            *interface = &interfaces[i];
            return CKR_OK;
        }
    }
    return CKR_ARGUMENTS_BAD;
}

/* ---- The slot and its token ---- */

CK_RV C_GetSlotList(CK_BBOOL present, CK_SLOT_ID *list, CK_ULONG *count)
{
    (void)present;
    if (!hlk_running)
        return CKR_CRYPTOKI_NOT_INITIALIZED;
    if (count == NULL)
        return CKR_ARGUMENTS_BAD;
    const CK_ULONG room = *count;
    *count = 1;
    if (list == NULL)
        return CKR_OK;
    if (room < 1)
        return CKR_BUFFER_TOO_SMALL;
    *list = SLOT_ID;
    return CKR_OK;
}

CK_RV hlk_check_slot(CK_SLOT_ID slot)
{
    if (!hlk_running)
        return CKR_CRYPTOKI_NOT_INITIALIZED;
    return slot == SLOT_ID ? CKR_OK : CKR_SLOT_ID_INVALID;
}

CK_RV C_GetSlotInfo(CK_SLOT_ID slot, CK_SLOT_INFO *info)
{
    const CK_RV rv = hlk_check_slot(slot);
    if (rv != CKR_OK)
        return rv;
    if (info == NULL)
        return CKR_ARGUMENTS_BAD;
    *info = (CK_SLOT_INFO){.flags = CKF_TOKEN_PRESENT, .firmwareVersion = library_version};
    PUT(info->slotDescription, "hashloom");
    PUT(info->manufacturerID, "hashloom");
    return CKR_OK;
}

CK_RV C_GetTokenInfo(CK_SLOT_ID slot, CK_TOKEN_INFO *info)
{
    const CK_RV rv = hlk_check_slot(slot);
    if (rv != CKR_OK)
        return rv;
    if (info == NULL)
        return CKR_ARGUMENTS_BAD;
    *info = (CK_TOKEN_INFO){
        .flags = CKF_RNG | CKF_TOKEN_INITIALIZED | CKF_PROTECTED_AUTHENTICATION_PATH, /* programs ask for no PIN */
        .ulMaxSessionCount = CK_EFFECTIVELY_INFINITE,
        .ulSessionCount = hlk_session_counts[0] + hlk_session_counts[1],
        .ulRwSessionCount = hlk_session_counts[1],
        .ulMaxRwSessionCount = CK_EFFECTIVELY_INFINITE,
        .ulTotalPublicMemory = CK_UNAVAILABLE_INFORMATION,
        .ulFreePublicMemory = CK_UNAVAILABLE_INFORMATION,
        .ulTotalPrivateMemory = CK_UNAVAILABLE_INFORMATION,
        .ulFreePrivateMemory = CK_UNAVAILABLE_INFORMATION,
        .firmwareVersion = library_version,
    };
    PUT(info->label, "hashloom");
    PUT(info->manufacturerID, "hashloom");
    PUT(info->model, "software");
    PUT(info->serialNumber, "1");
    PUT(info->utcTime, "");
    return CKR_OK;
}

CK_RV C_WaitForSlotEvent(CK_FLAGS flags, CK_SLOT_ID *slot, void *reserved)
{
    (void)slot;
    if (!hlk_running)
        return CKR_CRYPTOKI_NOT_INITIALIZED;
    if (reserved != NULL)
        return CKR_ARGUMENTS_BAD;
    /* The slot never changes: waiting would not end. */
    return (flags & CKF_DONT_BLOCK) != 0 ? CKR_NO_EVENT : CKR_FUNCTION_NOT_SUPPORTED;
}

/* ---- Random numbers ---- */

CK_RV hlk_random(void *data, size_t nbytes)
{
    enum { AT_ONCE = 256 }; /* what getentropy gives at most */

    for (size_t at = 0; at < nbytes; at += AT_ONCE)
        if (getentropy((uint8_t *)data + at, nbytes - at < AT_ONCE ? nbytes - at : AT_ONCE) != 0)
            return CKR_FUNCTION_FAILED;
    return CKR_OK;
}

CK_RV C_SeedRandom(CK_SESSION_HANDLE handle, CK_BYTE *seed, CK_ULONG nbytes)
{
    struct session *session;
    const CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    return hlk_leave(session, seed == NULL && nbytes != 0 ? CKR_ARGUMENTS_BAD : CKR_RANDOM_SEED_NOT_SUPPORTED);
}

CK_RV C_GenerateRandom(CK_SESSION_HANDLE handle, CK_BYTE *data, CK_ULONG nbytes)
{
    struct session *session;
    CK_RV rv = hlk_session(handle, &session);

    if (rv != CKR_OK)
        return rv;
    rv = data == NULL && nbytes != 0 ? CKR_ARGUMENTS_BAD : hlk_random(data, nbytes);
    return hlk_leave(session, rv);
}
