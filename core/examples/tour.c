/* tour.c: every public call once, in typical use.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Compile it together with the sources of the library, as README.md shows for its example.
 */
#include <hashloom.h>
#include <stdio.h>
#include <string.h>

static void print(const char *what, const uint8_t *digest, size_t nbytes)
{
    printf("%-34s", what);
    for (size_t i = 0; i < nbytes; i++)
        printf("%02x", digest[i]);
    putchar('\n');
}

#define CHECK(call) \
    do { \
        const hl_status status = (call); \
        if (status != HL_OK) { \
            fprintf(stderr, "%s: %s\n", #call, hl_strerror(status)); \
            return 1; \
        } \
    } while (0)

int main(void)
{
    uint8_t digests[4 * HL_DIGEST_MAX_NBYTES];

    printf("hashloom %s, algorithms:", hl_version());
    for (size_t i = 0; i < hl_alg_count(); i++)
        printf(" %s (%u bytes)", hl_alg_at(i)->name, hl_alg_at(i)->digest_nbytes);
    putchar('\n');

    /* One message. */
    CHECK(hl_hash(HL_SHA256, "abc", 3, digests));
    print("sha256(\"abc\")", digests, HL_SHA256_DIGEST_NBYTES);

    /* Many messages of any length: digest i is at i * digest size. */
    const hl_slice words[3] = {{"one", 3}, {NULL, 0}, {"three", 5}};
    CHECK(hl_hash_many(HL_SHA1, words, 3, digests));
    print("sha1(\"three\"), third of many", digests + 2 * HL_SHA1_DIGEST_NBYTES, HL_SHA1_DIGEST_NBYTES);

    /* Rows of a buffer: two tree nodes of 64 bytes. */
    uint8_t nodes[128];
    memset(nodes, 7, sizeof nodes);
    CHECK(hl_hash_rows(HL_SHA256, nodes, 64, 64, 2, digests));
    print("sha256 of a 64-byte row", digests, HL_SHA256_DIGEST_NBYTES);
    /* The same rows hashed twice, as Bitcoin does with blocks and keys. */
    CHECK(hl_sha256d_rows(nodes, 64, 64, 2, digests));
    CHECK(hl_hash160_rows(nodes, 64, 64, 2, digests));
    print("ripemd160(sha256(row))", digests, HL_RIPEMD160_DIGEST_NBYTES);

    /* One stream. */
    hl_ctx ctx;
    CHECK(hl_init(&ctx, HL_SHA1));
    CHECK(hl_update(&ctx, "a", 1));
    CHECK(hl_update(&ctx, "bc", 2));
    CHECK(hl_final(&ctx, digests));
    print("sha1(\"a\" \"bc\")", digests, HL_SHA1_DIGEST_NBYTES);
    /* The same, saved as bytes after its first part. */
    uint8_t saved[HL_EXPORT_MAX_NBYTES];
    size_t nsaved;
    CHECK(hl_init(&ctx, HL_SHA1));
    CHECK(hl_update(&ctx, "a", 1));
    CHECK(hl_export(&ctx, saved, sizeof saved, &nsaved));
    CHECK(hl_import(&ctx, saved, nsaved));
    CHECK(hl_update(&ctx, "bc", 2));
    CHECK(hl_final(&ctx, digests));

    /* Many streams, side by side: files that are read in parts. */
    hl_ctx a, b;
    hl_ctx *const both[2] = {&a, &b};
    CHECK(hl_init(&a, hl_alg_named("sha256")->alg));
    CHECK(hl_init(&b, hl_alg_find(HL_SHA256)->alg));
    CHECK(hl_update_many(both, (const hl_slice[2]){{"ab", 2}, {"x", 1}}, 2));
    CHECK(hl_update_many(both, (const hl_slice[2]){{"c", 1}, {"yz", 2}}, 2));
    CHECK(hl_final_many(both, 2, digests));
    print("sha256(\"ab\" \"c\")", digests, HL_SHA256_DIGEST_NBYTES);
    print("sha256(\"x\" \"yz\")", digests + HL_SHA256_DIGEST_NBYTES, HL_SHA256_DIGEST_NBYTES);

    /* HMAC: tags of one message, of many, and of one in parts. */
    hl_hmac_key key;
    hl_hmac_ctx mac;
    CHECK(hl_hmac_key_init(&key, HL_SHA256, "Jefe", 4));
    CHECK(hl_hmac(&key, "what do ya want for nothing?", 28, digests));
    print("hmac-sha256, RFC 4231 case 2", digests, HL_SHA256_DIGEST_NBYTES);
    CHECK(hl_hmac_verify(&key, "what do ya want for nothing?", 28, digests, 16)); /* truncated to 128 bits */
    CHECK(hl_hmac_many(&key, words, 3, digests));
    CHECK(hl_hmac_init(&mac, &key));
    CHECK(hl_hmac_update(&mac, "thr", 3));
    CHECK(hl_hmac_export(&mac, saved, sizeof saved, &nsaved)); /* as secret as the key */
    CHECK(hl_hmac_import(&mac, saved, nsaved));
    CHECK(hl_hmac_update(&mac, "ee", 2));
    CHECK(hl_hmac_final(&mac, digests));
    print("the same key, \"thr\" \"ee\"", digests, HL_SHA256_DIGEST_NBYTES);
    printf("equal to the third of many: %d\n",
           hl_equal(digests, digests + 2 * HL_SHA256_DIGEST_NBYTES, HL_SHA256_DIGEST_NBYTES));
    /* A job takes either layout of messages, and says what is done with them: rows, with that key. */
    hl_job job = {.nbytes = sizeof job, .digests = digests, .keys = &key};
    job.messages = (hl_messages){.layout = HL_ROWS, .count = 3, .base = "onetwosix", .stride = 3, .nbytes = 3};
    CHECK(hl_run(&job));
    print("hmac-sha256, row \"six\"", digests + 2 * HL_SHA256_DIGEST_NBYTES, HL_SHA256_DIGEST_NBYTES);
    /* A key for each message, and streams of HMAC side by side. */
    hl_hmac_ctx *const macs[1] = {&mac};
    CHECK(hl_hmac_many_keys((const hl_hmac_key[2]){key, key}, words, 2, digests));
    CHECK(hl_hmac_init(&mac, &key));
    CHECK(hl_hmac_update_many(macs, words, 1));
    CHECK(hl_hmac_final_many(macs, 1, digests));
    hl_hmac_key_wipe(&key);
    /* RIPEMD-160 of SHA-256, and messages that all begin with "prefix:". */
    job = (hl_job){.nbytes = sizeof job, .alg = HL_SHA256, .again = HL_RIPEMD160, .digests = digests};
    job.messages = (hl_messages){.layout = HL_SLICES, .count = 3, .base = words};
    CHECK(hl_run(&job));
    print("ripemd160(sha256(\"one\"))", digests, HL_RIPEMD160_DIGEST_NBYTES);
    CHECK(hl_init(&ctx, HL_SHA256));
    CHECK(hl_update(&ctx, "prefix:", 7));
    job.again = 0, job.begin = &ctx;
    CHECK(hl_run(&job));
    print("sha256(\"prefix:one\")", digests, HL_SHA256_DIGEST_NBYTES);
    /* Keys from passwords (RFC 6070, the second vector, twice). */
    const hl_slice passwords[2] = {{"password", 8}, {"password", 8}}, salts[2] = {{"salt", 4}, {"salt", 4}};
    CHECK(hl_pbkdf2_many(HL_SHA1, passwords, salts, 2, 2, digests, 20));
    print("pbkdf2-hmac-sha1", digests + 20, 20);

    /* The nonces from 0 to 99,999 whose digest begins with 16 zero bits. */
    uint64_t nonces[8];
    size_t nnonces;
    hl_search_job search = {.nbytes = sizeof search, .alg = HL_SHA256, .prefix = "hello ", .prefix_nbytes = 6,
                            .alphabet = "0123456789", .base = 10, .last = 99999};
    memset(search.target + 2, 0xff, sizeof search.target - 2);
    CHECK(hl_search(&search, nonces, 8, &nnonces));
    for (size_t i = 0; i < nnonces; i++)
        printf("sha256(\"hello %llu\") is low enough\n", (unsigned long long)nonces[i]);

    /* The instruction sets of this machine, and the kernels that are chosen. */
    for (size_t i = 0; i < hl_kernel_count(); i++) {
        const hl_kernel *kernel = hl_kernel_at(i);
        const int here = (kernel->isas & hl_isas_available()) != 0;
        const int for_one = kernel == hl_kernel_chosen(HL_SHA1, 1) || kernel == hl_kernel_chosen(HL_SHA256, 1);
        const int for_many = kernel == hl_kernel_chosen(HL_SHA1, 1000) || kernel == hl_kernel_chosen(HL_SHA256, 1000);
        printf("%-34s %2u messages at once  %s%s%s\n", kernel->name, kernel->nlanes, here ? "here" : "not here",
               for_one ? ", for one message" : "", for_many ? ", for many" : "");
        if (here && kernel->body == HL_BODY_SHA256) /* one kernel by hand, for tests and benchmarks */
            CHECK(hl_hash_many_with(kernel, HL_SHA256, words, 3, digests));
    }

    /* Only some instruction sets, then all again. */
    CHECK(hl_restrict(hl_isa_named("scalar") | hl_isa_named("sse2")));
    printf("allowed now:");
    for (size_t i = 0; i < hl_isa_count(); i++)
        if (hl_isas_allowed() >> i & 1)
            printf(" %s", hl_isa_name(i));
    putchar('\n');
    CHECK(hl_restrict(0));
    return 0;
}
