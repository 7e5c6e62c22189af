/* openssl_trace.c: a module in front of hashloom.so that writes down which of its algorithms a program begins.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * HASHLOOM_MODULE is the path of hashloom.so, HASHLOOM_TRACE that of a file, to which each start of an algorithm adds a
 * line with its name. This proves that an unchanged program has used the provider.
 */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <fcntl.h>
#include <openssl/core_dispatch.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FUNCTIONS = 24, MOST_ALGORITHMS = 12 };

static OSSL_FUNC_provider_query_operation_fn *query;

static void note(const char *names)
{
    const int file = open(getenv("HASHLOOM_TRACE"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    char line[64] = "";

    memcpy(line, names, strcspn(names, ":"));
    line[strlen(line)] = '\n';
    if (file < 0 || write(file, line, strlen(line)) < 0)
        abort();
    close(file);
}

struct operation {
    OSSL_ALGORITHM algorithms[MOST_ALGORITHMS];
    OSSL_DISPATCH functions[MOST_ALGORITHMS][MOST_FUNCTIONS];
    void (*init[MOST_ALGORITHMS])(void);
};
static struct operation digests, macs;

#define DIGEST(i)                                                                                                      \
    static int digest##i(void *context, const OSSL_PARAM params[])                                                     \
    {                                                                                                                  \
        note(digests.algorithms[i].algorithm_names);                                                                   \
        return ((OSSL_FUNC_digest_init_fn *)digests.init[i])(context, params);                                         \
    }
DIGEST(0) DIGEST(1) DIGEST(2) DIGEST(3) DIGEST(4) DIGEST(5) DIGEST(6) DIGEST(7) DIGEST(8)
static OSSL_FUNC_digest_init_fn *const digest_inits[] = {digest0, digest1, digest2, digest3, digest4,
                                                         digest5, digest6, digest7, digest8};

static int mac0(void *context, const unsigned char *key, size_t nbytes, const OSSL_PARAM params[])
{
    note(macs.algorithms[0].algorithm_names);
    return ((OSSL_FUNC_mac_init_fn *)macs.init[0])(context, key, nbytes, params);
}

static const OSSL_ALGORITHM *traced(struct operation *operation, const OSSL_ALGORITHM *all, int id)
{
    for (size_t i = 0; all[i].algorithm_names != NULL; i++) {
        operation->algorithms[i] = all[i];
        operation->algorithms[i].implementation = operation->functions[i];
        for (size_t f = 0; all[i].implementation[f].function_id != 0; f++) {
            operation->functions[i][f] = all[i].implementation[f];
            if (all[i].implementation[f].function_id != id)
                continue;
            operation->init[i] = all[i].implementation[f].function;
            operation->functions[i][f].function =
                id == OSSL_FUNC_MAC_INIT ? (void (*)(void))mac0 : (void (*)(void))digest_inits[i];
        }
    }
    return operation->algorithms;
}

static const OSSL_ALGORITHM *query_operation(void *context, int operation, int *no_cache)
{
    const OSSL_ALGORITHM *all = query(context, operation, no_cache);

    return operation == OSSL_OP_DIGEST ? traced(&digests, all, OSSL_FUNC_DIGEST_INIT)
           : operation == OSSL_OP_MAC  ? traced(&macs, all, OSSL_FUNC_MAC_INIT)
                                       : all;
}

OSSL_provider_init_fn OSSL_provider_init;
int OSSL_provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in, const OSSL_DISPATCH **out,
                       void **context)
{
    static OSSL_DISPATCH functions[MOST_FUNCTIONS];
    void *module = dlopen(getenv("HASHLOOM_MODULE"), RTLD_NOW | RTLD_LOCAL);
    OSSL_provider_init_fn *init;

    if (module == NULL)
        return 0;
    *(void **)&init = dlsym(module, "OSSL_provider_init");
    if (init == NULL || !init(handle, in, out, context))
        return 0;
    for (size_t f = 0; (*out)[f].function_id != 0; f++) {
        functions[f] = (*out)[f];
        if (functions[f].function_id != OSSL_FUNC_PROVIDER_QUERY_OPERATION)
            continue;
        query = OSSL_FUNC_provider_query_operation(&functions[f]);
        functions[f].function = (void (*)(void))query_operation;
    }
    *out = functions;
    return 1;
}
