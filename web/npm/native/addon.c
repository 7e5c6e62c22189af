/* addon.c: the core for Node, with the functions that module.js exports in WebAssembly, and two that read and write
 * JavaScript's bytes where they are. Pointers are offsets in one ArrayBuffer, which only index.js knows.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define NAPI_VERSION 8
#include <node_api.h>
#include <stdlib.h>

#include "../module.h"

enum { ARGUMENTS_MAX = 5, MESSAGES_MAX = 4096 }; /* index.js: BATCH */

/* One for each thread of JavaScript. */
struct instance {
    napi_ref buffer;
    uint8_t *base;
    size_t   nbytes;
    hl_slice slices[MESSAGES_MAX];
    void    *ctxs[MESSAGES_MAX];
};

/* Wrong offsets would be an error of index.js: it ends here, in place of writing anywhere. */
static uint8_t *at(const struct instance *in, uint64_t offset, uint64_t nbytes)
{
    if (offset + nbytes > in->nbytes)
        abort();
    return in->base + offset;
}

/* Messages as index.js lists them: offset and length of each. */
static const hl_slice *slices(struct instance *in, uint32_t offset, uint32_t count)
{
    const uint32_t *pairs = (const uint32_t *)(const void *)at(in, offset, UINT64_C(8) * count);

    if (count > MESSAGES_MAX)
        abort();
    for (uint32_t i = 0; i < count; i++)
        in->slices[i] = (hl_slice){at(in, pairs[2 * i], pairs[2 * i + 1]), pairs[2 * i + 1]};
    return in->slices;
}

static void *ctxs(struct instance *in, uint32_t offset, uint32_t count)
{
    const uint32_t *offsets = (const uint32_t *)(const void *)at(in, offset, UINT64_C(4) * count);

    if (count > MESSAGES_MAX)
        abort();
    for (uint32_t i = 0; i < count; i++)
        in->ctxs[i] = at(in, offsets[i], 1);
    return in->ctxs;
}

#define CALL(name, ...) \
    static uint32_t call_##name(struct instance *in, const uint32_t *a) \
    { \
        (void)in, (void)a; \
        return (uint32_t)(__VA_ARGS__); \
    }
#define P(i, nbytes) at(in, a[i], nbytes)

CALL(heap, 0)
CALL(hl_alg_count, hl_alg_count())
CALL(describe, (describe(a[0], (void *)P(1, sizeof(struct description))), 0))
CALL(explain, (explain((hl_status)a[0], (char *)P(1, EXPLAIN_NBYTES)), 0))
CALL(ctx_nbytes, ctx_nbytes((hl_alg)a[0]))
CALL(begin, begin(P(0, ctx_nbytes((hl_alg)a[1])), (hl_alg)a[1]))
CALL(hmac_ctx_nbytes, hmac_ctx_nbytes())
CALL(hmac_key_nbytes, hmac_key_nbytes())
CALL(hl_hash_many, hl_hash_many((hl_alg)a[0], slices(in, a[1], a[2]), a[2], P(3, UINT64_C(16) * a[2])))
CALL(merkle_root, merkle_root((hl_merkle)a[0], a[1], P(2, UINT64_C(32) * a[3]), a[3], P(4, 32)))
CALL(hl_update_many, hl_update_many(ctxs(in, a[0], a[2]), slices(in, a[1], a[2]), a[2]))
CALL(hl_final_many, hl_final_many(ctxs(in, a[0], a[1]), a[1], P(2, UINT64_C(16) * a[1])))
CALL(hl_squeeze, hl_squeeze((hl_ctx *)(void *)P(0, sizeof(hl_ctx)), P(1, a[2]), a[2]))
CALL(hl_hmac_key_init, hl_hmac_key_init((void *)P(0, sizeof(hl_hmac_key)), (hl_alg)a[1], P(2, a[3]), a[3]))
CALL(hl_hmac_init, hl_hmac_init((void *)P(0, sizeof(hl_hmac_ctx)), (void *)P(1, sizeof(hl_hmac_key))))
CALL(hl_hmac_many,
     hl_hmac_many((void *)P(0, sizeof(hl_hmac_key)), slices(in, a[1], a[2]), a[2], P(3, UINT64_C(16) * a[2])))
CALL(hl_hmac_update_many, hl_hmac_update_many(ctxs(in, a[0], a[2]), slices(in, a[1], a[2]), a[2]))
CALL(hl_hmac_final_many, hl_hmac_final_many(ctxs(in, a[0], a[1]), a[1], P(2, UINT64_C(16) * a[1])))

static const struct function {
    const char *name;
    uint32_t (*call)(struct instance *in, const uint32_t *a);
} functions[] = {
#define FUNCTION(name) {#name, call_##name}
    FUNCTION(heap), FUNCTION(hl_alg_count), FUNCTION(describe), FUNCTION(explain), FUNCTION(ctx_nbytes),
    FUNCTION(begin), FUNCTION(hmac_ctx_nbytes), FUNCTION(hmac_key_nbytes), FUNCTION(hl_hash_many),
    FUNCTION(merkle_root), FUNCTION(hl_update_many), FUNCTION(hl_final_many), FUNCTION(hl_squeeze),
    FUNCTION(hl_hmac_key_init), FUNCTION(hl_hmac_init), FUNCTION(hl_hmac_many), FUNCTION(hl_hmac_update_many),
    FUNCTION(hl_hmac_final_many),
};

static struct instance *arguments(napi_env env, napi_callback_info info, napi_value *given, size_t n, void **data)
{
    struct instance *in = NULL;

    if (napi_get_cb_info(env, info, &n, given, NULL, data) != napi_ok ||
        napi_get_instance_data(env, (void **)&in) != napi_ok)
        abort();
    return in;
}

static napi_value number(napi_env env, uint32_t value)
{
    napi_value result = NULL;

    napi_create_uint32(env, value, &result);
    return result;
}

static napi_value call(napi_env env, napi_callback_info info)
{
    napi_value given[ARGUMENTS_MAX];
    uint32_t a[ARGUMENTS_MAX] = {0};
    void *data;
    struct instance *in = arguments(env, info, given, ARGUMENTS_MAX, &data);

    for (unsigned i = 0; i < ARGUMENTS_MAX; i++)
        napi_get_value_uint32(env, given[i], &a[i]); /* undefined stays 0 */
    return number(env, ((const struct function *)data)->call(in, a));
}

/* memory(nbytes): the ArrayBuffer. One before is no longer in use. */
static napi_value memory(napi_env env, napi_callback_info info)
{
    napi_value given[1], result = NULL;
    uint32_t nbytes = 0;
    void *base = NULL;
    struct instance *in = arguments(env, info, given, 1, NULL);

    napi_get_value_uint32(env, given[0], &nbytes);
    if (napi_create_arraybuffer(env, nbytes, &base, &result) != napi_ok)
        return NULL; /* an exception is on its way */
    if (in->buffer != NULL)
        napi_delete_reference(env, in->buffer);
    napi_create_reference(env, result, 1, &in->buffer);
    in->base = base;
    in->nbytes = nbytes;
    return result;
}

static uint8_t *bytes(napi_env env, napi_value view, size_t *nbytes)
{
    void *data = NULL;

    if (napi_get_typedarray_info(env, view, NULL, nbytes, &data, NULL, NULL) != napi_ok)
        abort();
    return data;
}

/* hash_view(alg, message, offset): the digest of an Uint8Array, written to the offset. */
static napi_value hash_view(napi_env env, napi_callback_info info)
{
    napi_value given[3];
    uint32_t alg = 0, offset = 0;
    size_t nbytes;
    const struct instance *in = arguments(env, info, given, 3, NULL);
    const uint8_t *message = bytes(env, given[1], &nbytes);

    napi_get_value_uint32(env, given[0], &alg);
    napi_get_value_uint32(env, given[2], &offset);
    return number(env, hl_hash((hl_alg)alg, message, nbytes, at(in, offset, HL_DIGEST_MAX_NBYTES)));
}

/* rows_view(alg, data, row_nbytes, digests): the digests of an Uint8Array's rows, written to another. */
static napi_value rows_view(napi_env env, napi_callback_info info)
{
    napi_value given[4];
    uint32_t alg = 0, row_nbytes = 0;
    size_t nbytes, room;
    const uint8_t *data;
    uint8_t *digests;

    arguments(env, info, given, 4, NULL);
    data = bytes(env, given[1], &nbytes);
    digests = bytes(env, given[3], &room);
    napi_get_value_uint32(env, given[0], &alg);
    napi_get_value_uint32(env, given[2], &row_nbytes);
    if (row_nbytes == 0 || nbytes / row_nbytes * hl_alg_find((hl_alg)alg)->digest_nbytes != room)
        abort();
    return number(env, hl_hash_rows((hl_alg)alg, data, row_nbytes, row_nbytes, nbytes / row_nbytes, digests));
}

static void forget(napi_env env, void *instance, void *hint)
{
    (void)env, (void)hint;
    free(instance);
}

static void define(napi_env env, napi_value exports, const char *name, napi_callback function, const void *data)
{
    napi_value value;

    if (napi_create_function(env, name, NAPI_AUTO_LENGTH, function, (void *)(uintptr_t)data, &value) != napi_ok ||
        napi_set_named_property(env, exports, name, value) != napi_ok)
        abort();
}

NAPI_MODULE_INIT()
{
    struct instance *in = calloc(1, sizeof *in);

    if (in == NULL || napi_set_instance_data(env, in, forget, NULL) != napi_ok)
        abort();
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        define(env, exports, functions[i].name, call, &functions[i]);
    define(env, exports, "memory", memory, NULL);
    define(env, exports, "hash_view", hash_view, NULL);
    define(env, exports, "rows_view", rows_view, NULL);
    return exports;
}
