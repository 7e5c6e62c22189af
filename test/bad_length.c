/* bad_length.c: mistakes of callers, one a run, that AddressSanitizer must report although the kernels are not
 * instrumented: bad_length CALL.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <hashloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NBYTES = 1000 }; /* of each buffer */

int main(int argc, char **argv)
{
    const char *call = argc == 2 ? argv[1] : "";
    uint8_t *data = malloc(NBYTES), *digests = malloc(3 * HL_SHA256_DIGEST_NBYTES);
    hl_slice messages[3] = {{data, NBYTES}, {data, NBYTES + 1}, {data, NBYTES}};
    hl_hmac_key key;
    hl_hmac_ctx mac;
    uint64_t nonces[1];
    size_t nnonces;
    hl_ctx *ctxs[3], *heap_ctxs = malloc(3 * sizeof *heap_ctxs);

    memset(data, 1, NBYTES);
    for (int i = 0; i < 3; i++) {
        ctxs[i] = &heap_ctxs[i];
        hl_init(ctxs[i], HL_SHA256);
    }
    if (strcmp(call, "hash") == 0) {
        hl_hash(HL_SHA256, data, NBYTES + 1, digests);
    } else if (strcmp(call, "hash_many") == 0) {
        hl_hash_many(HL_SHA256, messages, 3, digests);
    } else if (strcmp(call, "hash_many_with") == 0) {
        hl_hash_many_with(hl_kernel_chosen(HL_SHA256, 3), HL_SHA256, messages, 3, digests);
    } else if (strcmp(call, "rows") == 0) {
        hl_hash_rows(HL_SHA256, data, 300, 401, 3, digests);
    } else if (strcmp(call, "update") == 0) {
        hl_update(ctxs[0], data + 500, NBYTES - 499);
    } else if (strcmp(call, "update_many") == 0) {
        hl_update_many(ctxs, messages, 3);
    } else if (strcmp(call, "digests") == 0) {
        messages[1].nbytes = NBYTES;
        hl_hash_many(HL_SHA256, messages, 3, digests + 1);
    } else if (strcmp(call, "final") == 0) {
        hl_final_many(ctxs, 3, digests + 1);
    } else if (strcmp(call, "ctx") == 0) {
        ctxs[2] = &heap_ctxs[3];
        hl_final_many(ctxs, 3, digests);
    } else if (strcmp(call, "hmac") == 0) {
        hl_hmac_key_init(&key, HL_SHA256, data, NBYTES);
        hl_hmac_many(&key, messages, 3, digests);
    } else if (strcmp(call, "keys") == 0) {
        hl_hmac_key *keys = malloc(2 * sizeof *keys);
        hl_hmac_key_init(&keys[0], HL_SHA256, data, 3);
        keys[1] = keys[0];
        messages[1].nbytes = NBYTES;
        hl_run(&(hl_job){.nbytes = sizeof(hl_job), .messages = {.count = 3, .base = messages}, .digests = digests,
                         .keys = keys, .key_stride = sizeof *keys});
    } else if (strcmp(call, "job") == 0) {
        hl_run(&(hl_job){.nbytes = sizeof(hl_job), .alg = HL_SHA256, .again = HL_SHA256, .digests = digests,
                         .messages = {.layout = HL_ROWS, .count = 3, .base = data, .stride = 300, .nbytes = 401}});
    } else if (strcmp(call, "pbkdf2") == 0) {
        hl_pbkdf2_many(HL_SHA256, messages, messages, 1, 3, digests, 32);
    } else if (strcmp(call, "search") == 0) {
        hl_search(&(hl_search_job){.nbytes = sizeof(hl_search_job), .alg = HL_SHA256, .suffix = data,
                                   .suffix_nbytes = NBYTES + 1, .last = 9}, nonces, 1, &nnonces);
    } else if (strcmp(call, "import") == 0) {
        hl_import(ctxs[0], data, NBYTES + 1);
    } else if (strcmp(call, "hmac_key") == 0) {
        hl_hmac_key_init(&key, HL_SHA256, data, NBYTES + 1);
    } else if (strcmp(call, "hmac_update") == 0) {
        hl_hmac_key_init(&key, HL_SHA256, data, NBYTES);
        hl_hmac_init(&mac, &key);
        hl_hmac_update(&mac, data + 500, NBYTES - 499);
    } else if (strcmp(call, "freed") == 0) {
        free(data);
        hl_hash(HL_SHA256, data, NBYTES, digests);
    } else {
        fprintf(stderr, "usage: %s CALL\n", argv[0]);
        return 2;
    }
    printf("%s: not caught\n", call);
    return 0;
}
