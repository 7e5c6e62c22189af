/* table.c: tables of sessions and keys.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A handle is an entry's index + 1 and, above it, how often the entry was used before. A call finds the entry by the
 * index, without a lock, takes the entry's own lock, and then compares the whole handle. Calls on different sessions
 * share no lock and no memory that they write. Entries lie in chunks, each twice as large as the one before. Chunks are
 * freed only when the module is unloaded.
 */
#define _DEFAULT_SOURCE
#include "module.h"

#include <stdlib.h>

enum { FIRST_CHUNK = 64, INDEX_BITS = sizeof(CK_ULONG) == 8 ? 32 : 20 };
#define INDEX_MASK (((CK_ULONG)1 << INDEX_BITS) - 1)
static _Atomic int has_callers; /* the mutexes are the caller's, not the operating system's */
static CK_C_INITIALIZE_ARGS callers;

static CK_RV lock(struct lock *lock)
{
    if (!has_callers)
        return pthread_mutex_lock(&lock->os) == 0 ? CKR_OK : CKR_GENERAL_ERROR;
    return callers.LockMutex(lock->callers) == CKR_OK ? CKR_OK : CKR_GENERAL_ERROR;
}

static void unlock(struct lock *lock)
{
    if (!has_callers)
        pthread_mutex_unlock(&lock->os);
    else
        callers.UnlockMutex(lock->callers);
}

static CK_RV lock_make(struct lock *lock)
{
    if (!has_callers || lock->callers != NULL)
        return CKR_OK;
    const CK_RV rv = callers.CreateMutex(&lock->callers);
    return rv == CKR_OK || rv == CKR_HOST_MEMORY ? rv : CKR_GENERAL_ERROR;
}

static void lock_drop(struct lock *lock)
{
    if (has_callers && lock->callers != NULL)
        callers.DestroyMutex(lock->callers);
    lock->callers = NULL;
}

/* The entry at an index; NULL if it was never used. */
static struct entry *entry_at(const struct table *table, CK_ULONG index)
{
    if (index >= atomic_load_explicit(&table->count, memory_order_acquire))
        return NULL;
    const int chunk = 63 - __builtin_clzll((unsigned long long)index / FIRST_CHUNK + 1);
    const CK_ULONG first = (CK_ULONG)FIRST_CHUNK * (((CK_ULONG)1 << chunk) - 1);
    char *entries = atomic_load_explicit(&table->chunks[chunk], memory_order_acquire);
    return (struct entry *)(void *)(entries + (index - first) * table->entry_nbytes);
}

/* Takes a free entry, or a new one. The table is locked. */
static CK_RV take(struct table *table, struct entry **entry)
{
    const CK_ULONG index = table->count;
    const int chunk = 63 - __builtin_clzll((unsigned long long)index / FIRST_CHUNK + 1);

    if (table->free != NULL) {
        *entry = table->free;
        const CK_RV rv = lock_make(&(*entry)->lock);
        if (rv == CKR_OK)
            table->free = (*entry)->next_free;
        return rv;
    }
    if (chunk >= CHUNKS || index >= INDEX_MASK)
        return CKR_HOST_MEMORY;
    if (table->chunks[chunk] == NULL) {
        const size_t count = (size_t)FIRST_CHUNK << chunk;
        char *entries = calloc(count, table->entry_nbytes);
        if (entries == NULL)
            return CKR_HOST_MEMORY;
        for (size_t i = 0; i < count; i++)
            pthread_mutex_init(&((struct entry *)(void *)(entries + i * table->entry_nbytes))->lock.os, NULL);
        atomic_store_explicit(&table->chunks[chunk], entries, memory_order_release);
    }
    table->count = index + 1;
    *entry = entry_at(table, index);
    (*entry)->index = index;
    const CK_RV rv = lock_make(&(*entry)->lock);
    if (rv != CKR_OK) { /* the next call tries again */
        (*entry)->next_free = NULL;
        table->free = *entry;
    }
    return rv;
}

CK_RV hlk_add(struct table *table, const void *entry, CK_ULONG *handle)
{
    struct entry *taken;
    CK_RV rv = lock(&table->lock);

    if (rv != CKR_OK)
        return rv;
    rv = hlk_running ? take(table, &taken) : CKR_CRYPTOKI_NOT_INITIALIZED;
    if (rv == CKR_OK) {
        memcpy(taken + 1, (const struct entry *)entry + 1, table->entry_nbytes - sizeof *taken);
        *handle = taken->generation << INDEX_BITS | (taken->index + 1);
        atomic_store(&taken->handle, *handle);
    }
    unlock(&table->lock);
    return rv;
}

CK_RV hlk_enter(struct table *table, CK_ULONG handle, CK_RV missing, void *entry)
{
    if (!hlk_running)
        return CKR_CRYPTOKI_NOT_INITIALIZED;
    struct entry *found = entry_at(table, (handle & INDEX_MASK) - 1);
    if (found == NULL)
        return missing;
    const CK_RV rv = lock(&found->lock);
    if (rv != CKR_OK)
        return rv;
    if (found->handle != handle)
        return hlk_leave(found, hlk_running ? missing : CKR_CRYPTOKI_NOT_INITIALIZED);
    *(void **)entry = found;
    return CKR_OK;
}

CK_RV hlk_leave(void *entry, CK_RV rv)
{
    unlock(&((struct entry *)entry)->lock);
    return rv;
}

/* Ends the entry, which gets its next handle. */
static void clear(struct table *table, struct entry *entry)
{
    table->end(entry);
    atomic_store(&entry->handle, 0);
    entry->generation = (entry->generation + 1) & (~(CK_ULONG)0 >> INDEX_BITS);
    explicit_bzero(entry + 1, table->entry_nbytes - sizeof *entry);
}

void hlk_remove(struct table *table, void *entry)
{
    struct entry *removed = entry;

    clear(table, removed);
    unlock(&removed->lock);
    if (lock(&table->lock) != CKR_OK)
        return; /* the entry is not used again */
    removed->next_free = table->free;
    table->free = removed;
    unlock(&table->lock);
}

void *hlk_next(struct table *table, CK_ULONG *index)
{
    for (struct entry *entry; (entry = entry_at(table, *index)) != NULL;) {
        (*index)++;
        if (entry->handle == 0 || lock(&entry->lock) != CKR_OK)
            continue;
        if (entry->handle != 0)
            return entry;
        unlock(&entry->lock);
    }
    return NULL;
}

static struct table *const tables[] = {&hlk_sessions, &hlk_keys}; /* sessions first: their calls use keys */

CK_RV hlk_tables_start(const CK_C_INITIALIZE_ARGS *mutexes)
{
    if (mutexes != NULL)
        callers = *mutexes;
    has_callers = mutexes != NULL;
    for (size_t t = 0; t < 2; t++) {
        const CK_RV rv = lock_make(&tables[t]->lock);
        if (rv != CKR_OK) {
            lock_drop(&tables[0]->lock);
            return rv;
        }
    }
    return CKR_OK;
}

void hlk_tables_stop(void)
{
    for (size_t t = 0; t < 2; t++) {
        struct entry *entry;
        CK_ULONG index = 0;
        if (lock(&tables[t]->lock) == CKR_OK) /* a call that adds an entry ends */
            unlock(&tables[t]->lock);
        while ((entry = hlk_next(tables[t], &index)) != NULL)
            hlk_remove(tables[t], entry);
    }
    for (size_t t = 0; t < 2; t++) {
        for (CK_ULONG i = 0; i < tables[t]->count; i++)
            lock_drop(&entry_at(tables[t], i)->lock);
        lock_drop(&tables[t]->lock);
    }
}

/* Other threads of the parent may have held any lock and been inside any call. They are not in the child. */
void hlk_tables_after_fork(void)
{
    has_callers = 0;
    for (size_t t = 0; t < 2; t++) {
        tables[t]->free = NULL;
        tables[t]->lock = (struct lock){PTHREAD_MUTEX_INITIALIZER, NULL};
        for (CK_ULONG i = 0; i < tables[t]->count; i++) {
            struct entry *entry = entry_at(tables[t], i);
            entry->lock = (struct lock){PTHREAD_MUTEX_INITIALIZER, NULL};
            entry->index = i;
            if (entry->handle != 0)
                clear(tables[t], entry);
            else /* may be half written */
                explicit_bzero(entry + 1, tables[t]->entry_nbytes - sizeof *entry);
            entry->next_free = tables[t]->free;
            tables[t]->free = entry;
        }
    }
}

/* At the end of the process only what no call uses is wiped, and nothing is freed that a call may use. Functions of the
 * caller are called in neither case: the caller's code may be gone. */
void hlk_tables_unload(int is_exit)
{
    for (size_t t = 0; t < 2; t++) {
        for (CK_ULONG i = 0; i < tables[t]->count; i++) {
            struct entry *entry = entry_at(tables[t], i);
            if (is_exit && (has_callers || pthread_mutex_trylock(&entry->lock.os) != 0))
                continue;
            if (entry->handle != 0)
                clear(tables[t], entry);
            if (is_exit)
                pthread_mutex_unlock(&entry->lock.os);
        }
        if (is_exit)
            continue;
        tables[t]->free = NULL;
        tables[t]->count = 0;
        for (int c = 0; c < CHUNKS; c++)
            free(atomic_exchange(&tables[t]->chunks[c], NULL));
    }
}
