/* module.h: what the files of the PKCS#11 module share.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HASHLOOM_PKCS11_MODULE_H
#define HASHLOOM_PKCS11_MODULE_H

#include "cryptoki.h"

#include <hashloom.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { SLOT_ID = 0, KEY_MAX_NBYTES = 1 << 20, TEMPLATE_MAX = 1024 };

/* ---- table.c: entries with handles and a lock each ---- */

/* A mutex of the operating system's threads, or one made by the functions that the caller gave to C_Initialize. */
struct lock {
    pthread_mutex_t os;
    void *callers;
};

/* The begin of every entry. Entries stay where they are until the module is unloaded. A thread that has an old handle
 * therefore finds an entry with another handle, and never freed memory. */
struct entry {
    struct lock lock;
    _Atomic CK_ULONG handle; /* 0: the entry is free */
    CK_ULONG index, generation;
    struct entry *next_free;
};

enum { CHUNKS = 20 };
struct table {
    size_t entry_nbytes;
    void (*end)(void *entry); /* frees what an entry points to */
    struct lock lock;         /* of the fields below; finding an entry needs no lock */
    struct entry *free;
    _Atomic(char *) chunks[CHUNKS];
    _Atomic CK_ULONG count; /* entries that have been used */
};
extern struct table hlk_sessions, hlk_keys;

CK_RV hlk_tables_start(const CK_C_INITIALIZE_ARGS *mutexes); /* mutexes: NULL for those of the operating system */
void hlk_tables_stop(void);        /* ends all entries; waits for calls that use one */
void hlk_tables_after_fork(void);  /* the same in the child of a fork */
/* The module is unloaded. is_exit: the process ends, and other threads may be inside calls. */
void hlk_tables_unload(int is_exit);

/* Adds a copy of an entry. */
CK_RV hlk_add(struct table *table, const void *entry, CK_ULONG *handle);
/* Finds and locks an entry: CKR_OK, CKR_CRYPTOKI_NOT_INITIALIZED, CKR_GENERAL_ERROR, or `missing` if the handle is no
 * longer, or never was, one of the table's. */
CK_RV hlk_enter(struct table *table, CK_ULONG handle, CK_RV missing, void *entry);
/* Unlocks it. Returns rv. */
CK_RV hlk_leave(void *entry, CK_RV rv);
/* Ends, wipes and unlocks it. Its handle is invalid from then on. */
void hlk_remove(struct table *table, void *entry);
/* The first live entry from *index on, locked; *index is then that of the one after it. NULL at the end. */
void *hlk_next(struct table *table, CK_ULONG *index);

/* ---- module.c ---- */

extern _Atomic int hlk_running; /* between C_Initialize and C_Finalize */

enum { PREFIX_NBYTES = 8 };
extern uint8_t hlk_prefix[PREFIX_NBYTES]; /* random since C_Initialize: the first half of each CKA_UNIQUE_ID */

/* CKR_OK if the module is initialized and has this slot. */
CK_RV hlk_check_slot(CK_SLOT_ID slot);
CK_RV hlk_random(void *data, size_t nbytes);

/* ---- mechanism.c: the table of algorithms, and what follows from it ---- */

struct algorithm {
    hl_alg alg;
    CK_MECHANISM_TYPE digest, hmac, hmac_general;
    CK_KEY_TYPE key_type;
};
enum purpose { DIGEST = 1, SIGN, VERIFY };

/* NULL if PKCS#11 has no mechanisms for it. */
const struct algorithm *hlk_algorithm(hl_alg alg);
/* The algorithm of a PBKDF2 with this pseudo-random function; NULL if there is none. */
const struct algorithm *hlk_algorithm_of_prf(CK_ULONG prf);
/* Whether keys of this type can be. */
int hlk_is_key_type(CK_KEY_TYPE type);
/* Checks a mechanism and its parameter. *result_nbytes is the size of the digest or of the MAC. */
CK_RV hlk_mechanism(const CK_MECHANISM *mechanism, int is_digest, const struct algorithm **algorithm,
                    size_t *result_nbytes);
CK_RV hlk_error(hl_status status);

/* ---- session.c ---- */

struct session {
    struct entry entry;
    CK_FLAGS flags;
    int has_keys; /* may own keys */
    enum { IDLE, DIGESTING = DIGEST, SIGNING = SIGN, VERIFYING = VERIFY, FINDING } active;
    int is_whole;  /* C_Digest, C_Sign was asked for its length: the message comes in one call */
    int is_parted; /* data comes in parts: `digest` or `mac.ctx` is in use */
    int has_key;   /* the digest includes a key */
    const struct algorithm *algorithm;
    size_t result_nbytes;
    union {
        hl_ctx digest;
        struct {
            hl_hmac_key key;
            hl_hmac_ctx ctx;
        } mac;
        struct {
            CK_OBJECT_HANDLE *handles;
            CK_ULONG count, next;
        } found;
    };
};
CK_RV hlk_session(CK_SESSION_HANDLE handle, struct session **session);
extern _Atomic CK_ULONG hlk_session_counts[2]; /* open sessions: only for reading, for reading and writing */
/* Ends the active operation and wipes it. */
void hlk_end_operation(struct session *session);

/* ---- key.c ---- */

enum { VALUE, LABEL, ID, START_DATE, END_DATE, ALLOWED_MECHANISMS, BYTE_STRINGS };
enum { CLASS, KEY_TYPE, VALUE_LEN, GEN_MECHANISM, NUMBERS };
enum { TOKEN, PRIVATE, MODIFIABLE, COPYABLE, DESTROYABLE, SENSITIVE, EXTRACTABLE, MAY_ENCRYPT, MAY_DECRYPT, MAY_SIGN,
       MAY_VERIFY, MAY_WRAP, MAY_UNWRAP, MAY_DERIVE, WRAP_WITH_TRUSTED, TRUSTED, LOCAL, ALWAYS_SENSITIVE,
       NEVER_EXTRACTABLE, NO_CHECK_VALUE };
#define FLAG(bit) (UINT32_C(1) << (bit))

struct key {
    struct entry entry;
    CK_SESSION_HANDLE owner; /* 0: the token */
    uint32_t flags;
    CK_ULONG numbers[NUMBERS];
    struct bytes {
        uint8_t *data; /* allocated; NULL if nbytes is 0 */
        size_t nbytes;
    } strings[BYTE_STRINGS];
    hl_hmac_key prepared; /* for the algorithm that used the key last */
    const struct algorithm *prepared_for;
};
CK_RV hlk_key(CK_OBJECT_HANDLE handle, CK_RV missing, struct key **key);
void hlk_end_key(struct key *key);
/* Whether CKA_ALLOWED_MECHANISMS names the mechanism, or nothing. */
int hlk_allows(const struct key *key, CK_MECHANISM_TYPE mechanism);
/* The key, prepared for an HMAC by the mechanism, which is one of the algorithm's; checks its type and its permissions
 * for the purpose. */
CK_RV hlk_hmac_key(CK_OBJECT_HANDLE handle, const struct algorithm *algorithm, CK_MECHANISM_TYPE mechanism,
                   enum purpose purpose, hl_hmac_key *prepared);

#endif
