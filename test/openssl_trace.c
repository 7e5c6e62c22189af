/* openssl_trace.c: a module in front of hashloom.so that writes down which of its algorithms a program begins.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * HASHLOOM_MODULE is the path of hashloom.so, HASHLOOM_TRACE that of a file, to which each start of an algorithm adds a
 * line with its names. This proves that an unchanged program has used the provider.
 */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <fcntl.h>
#include <openssl/core_dispatch.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HLI_ALG(name) 1
enum {
#define ALG(NAME, ...) ROW_##NAME,
#include "../core/src/algorithms.def"
    MOST_DIGESTS,
    MOST_ALGORITHMS = MOST_DIGESTS + 1,
    MOST_FUNCTIONS = 24
};

static OSSL_FUNC_provider_query_operation_fn *query;

static void note(const char *names)
{
    const int file = open(getenv("HASHLOOM_TRACE"), O_WRONLY | O_CREAT | O_APPEND, 0600);

    if (file < 0 || dprintf(file, "%s\n", names) < 0)
        abort();
    close(file);
}

struct operation {
    OSSL_ALGORITHM algorithms[MOST_ALGORITHMS];
    OSSL_DISPATCH functions[MOST_ALGORITHMS][MOST_FUNCTIONS];
    void (*init[MOST_ALGORITHMS])(void);
};
static struct operation digests, macs, kdfs;

/* A function for each row of the list. */
#define ALG(NAME, ...)                                                                                                 \
    static int init_##NAME(void *context, const OSSL_PARAM params[])                                                   \
    {                                                                                                                  \
        note(digests.algorithms[ROW_##NAME].algorithm_names);                                                          \
        return ((OSSL_FUNC_digest_init_fn *)digests.init[ROW_##NAME])(context, params);                                \
    }
#include "../core/src/algorithms.def"
static OSSL_FUNC_digest_init_fn *const digest_inits[MOST_DIGESTS] = {
#define ALG(NAME, ...) init_##NAME,
#include "../core/src/algorithms.def"
};

static int mac0(void *context, const unsigned char *key, size_t nbytes, const OSSL_PARAM params[])
{
    note(macs.algorithms[0].algorithm_names);
    return ((OSSL_FUNC_mac_init_fn *)macs.init[0])(context, key, nbytes, params);
}

static int kdf0(void *context, unsigned char *key, size_t nbytes, const OSSL_PARAM params[])
{
    note(kdfs.algorithms[0].algorithm_names);
    return ((OSSL_FUNC_kdf_derive_fn *)kdfs.init[0])(context, key, nbytes, params);
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
                operation == &macs ? (void (*)(void))mac0
                : operation == &kdfs ? (void (*)(void))kdf0 : (void (*)(void))digest_inits[i];
        }
    }
    return operation->algorithms;
}

static const OSSL_ALGORITHM *query_operation(void *context, int operation, int *no_cache)
{
    const OSSL_ALGORITHM *all = query(context, operation, no_cache);

    return operation == OSSL_OP_DIGEST ? traced(&digests, all, OSSL_FUNC_DIGEST_INIT)
           : operation == OSSL_OP_MAC  ? traced(&macs, all, OSSL_FUNC_MAC_INIT)
           : operation == OSSL_OP_KDF  ? traced(&kdfs, all, OSSL_FUNC_KDF_DERIVE)
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
