/* pkcs11.c: the PKCS#11 module of hashloom beside SoftHSM2's: digests and HMAC, in 1 and 8 threads.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *   SOFTHSM2_CONF=FILE bench/pkcs11 build/drop-ins/libhashloom-pkcs11.so libsofthsm2.so      (make bench-pkcs11)
 *
 * Each message is C_DigestInit and C_Digest, or C_SignInit and C_Sign. Each thread has a session and a key of its own.
 * The modules take turns in many short runs, and the least time of each counts. A run of several threads ends with
 * the last of them, and the time is that of all messages.
 */
#define _POSIX_C_SOURCE 200809L
#include "cryptoki.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = 8, LONGEST = 16384, RUNS = 300 };

struct module {
    CK_FUNCTION_LIST *p11;
    CK_SESSION_HANDLE sessions[MOST_THREADS];
    CK_OBJECT_HANDLE keys[MOST_THREADS];
};

struct work {
    struct module *module;
    int thread, is_mac, times;
    CK_MECHANISM_TYPE mechanism;
    CK_ULONG nbytes;
    pthread_barrier_t *barrier;
};
static unsigned char message[LONGEST];

static void must(CK_RV rv, const char *what)
{
    if (rv == CKR_OK)
        return;
    fprintf(stderr, "bench/pkcs11: %s: 0x%lx\n", what, rv);
    exit(2);
}

static void start(struct module *module, const char *path)
{
    void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CK_C_INITIALIZE_ARGS args = {.flags = CKF_OS_LOCKING_OK};
    CK_RV (*get_list)(CK_FUNCTION_LIST **);
    CK_SLOT_ID slots[16];
    CK_ULONG count = 16;
    CK_OBJECT_CLASS class = CKO_SECRET_KEY;
    CK_KEY_TYPE type = CKK_GENERIC_SECRET;
    CK_BBOOL yes = CK_TRUE, no = CK_FALSE;
    CK_ATTRIBUTE template[] = {{CKA_CLASS, &class, sizeof class}, {CKA_KEY_TYPE, &type, sizeof type},
                               {CKA_VALUE, message, 64}, {CKA_SIGN, &yes, 1}, {CKA_TOKEN, &no, 1},
                               {CKA_PRIVATE, &no, 1}};

    if (file == NULL || (*(void **)&get_list = dlsym(file, "C_GetFunctionList")) == NULL) {
        fprintf(stderr, "bench/pkcs11: %s\n", dlerror());
        exit(2);
    }
    must(get_list(&module->p11), "C_GetFunctionList");
    must(module->p11->C_Initialize(&args), "C_Initialize");
    must(module->p11->C_GetSlotList(CK_TRUE, slots, &count), "C_GetSlotList");
    for (int i = 0; i < MOST_THREADS; i++) {
        must(module->p11->C_OpenSession(slots[0], CKF_SERIAL_SESSION | CKF_RW_SESSION, NULL, NULL,
                                        &module->sessions[i]), "C_OpenSession");
        must(module->p11->C_CreateObject(module->sessions[i], template, 6, &module->keys[i]), "C_CreateObject");
    }
}

static void *hash(void *argument)
{
    const struct work *work = argument;
    const CK_FUNCTION_LIST *p11 = work->module->p11;
    const CK_SESSION_HANDLE session = work->module->sessions[work->thread];
    CK_MECHANISM mechanism = {work->mechanism, NULL, 0};
    unsigned char out[64];

    if (work->barrier != NULL)
        pthread_barrier_wait(work->barrier);
    for (int i = 0; i < work->times; i++) {
        CK_ULONG n = sizeof out;
        must(work->is_mac ? p11->C_SignInit(session, &mechanism, work->module->keys[work->thread])
                          : p11->C_DigestInit(session, &mechanism), "Init");
        must(work->is_mac ? p11->C_Sign(session, message, work->nbytes, out, &n)
                          : p11->C_Digest(session, message, work->nbytes, out, &n), "Digest or Sign");
    }
    if (work->barrier != NULL)
        pthread_barrier_wait(work->barrier);
    return NULL;
}

/* Nanoseconds a message. */
static double measure(struct work work, int nthreads)
{
    struct timespec begin, end;
    struct work each[MOST_THREADS];
    pthread_t threads[MOST_THREADS];
    pthread_barrier_t barrier;

    if (nthreads == 1) {
        clock_gettime(CLOCK_MONOTONIC, &begin);
        hash(&work);
        clock_gettime(CLOCK_MONOTONIC, &end);
    } else {
        pthread_barrier_init(&barrier, NULL, (unsigned)nthreads + 1);
        work.barrier = &barrier;
        for (int i = 0; i < nthreads; i++) {
            each[i] = work;
            each[i].thread = i;
            must((CK_RV)pthread_create(&threads[i], NULL, hash, &each[i]), "pthread_create");
        }
        clock_gettime(CLOCK_MONOTONIC, &begin);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        clock_gettime(CLOCK_MONOTONIC, &end);
        for (int i = 0; i < nthreads; i++)
            pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&barrier);
    }
    return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / work.times / nthreads;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        CK_MECHANISM_TYPE digest, hmac;
    } algorithms[] = {{"SHA-1", CKM_SHA_1, CKM_SHA_1_HMAC}, {"SHA-256", CKM_SHA256, CKM_SHA256_HMAC},
                      {"SHA-512", CKM_SHA512, CKM_SHA512_HMAC}};
    static const CK_ULONG lengths[] = {64, 1024, LONGEST};
    static struct module modules[2];

    if (argc != 3) {
        fputs("usage: SOFTHSM2_CONF=FILE pkcs11 libhashloom-pkcs11.so libsofthsm2.so\n", stderr);
        return 2;
    }
    for (int m = 0; m < 2; m++)
        start(&modules[m], argv[1 + m]);
    for (int nthreads = 1; nthreads <= MOST_THREADS; nthreads *= MOST_THREADS)
        for (int is_mac = 0; is_mac < 2; is_mac++)
            for (int a = 0; a < 3; a++)
                for (int l = 0; l < 3; l++) {
                    double least[2] = {1e18, 1e18};
                    for (int run = 0; run < (nthreads == 1 ? RUNS : RUNS / 3); run++)
                        for (int m = 0; m < 2; m++) {
                            const struct work work = {
                                .module = &modules[m], .is_mac = is_mac, .nbytes = lengths[l],
                                .times = (lengths[l] < 2000 ? 100 : 10) * (nthreads == 1 ? 1 : 10),
                                .mechanism = is_mac ? algorithms[a].hmac : algorithms[a].digest};
                            const double time = measure(work, nthreads);
                            least[m] = time < least[m] ? time : least[m];
                        }
                    printf("%d thread%s %-6s %-7s %6lu  SoftHSM2 %9.1f ns  hashloom %9.1f ns  ratio %.2f\n", nthreads,
                           nthreads == 1 ? " " : "s", is_mac ? "HMAC" : "digest", algorithms[a].name, lengths[l],
                           least[1], least[0], least[1] / least[0]);
                }
    return 0;
}
