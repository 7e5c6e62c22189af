/* constant_time.c: no branch and no address depends on the bytes of a key, a message or a tag, only on their lengths.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Runs under valgrind's memcheck, which is told that keys and messages are uninitialised memory. memcheck counts an
 * error for each jump and each address that is computed from such memory. The result of a call is marked initialised
 * before the test looks at it. A comparison that ends early, written here, shows that an error would be seen.
 * Instruction sets that valgrind does not know are skipped by name.
 */
#include "test.h"

#include <valgrind/memcheck.h>

enum { COUNT = 40, BLOCKS_NBYTES = 4096 };

static uint8_t data[BLOCKS_NBYTES + COUNT], secret[300], tags[COUNT * HL_DIGEST_MAX_NBYTES];
static hl_slice messages[COUNT];
static hl_hmac_key keys[COUNT];
static hl_hmac_ctx streams[COUNT], *all[COUNT];

#define SECRET(object) VALGRIND_MAKE_MEM_UNDEFINED(&(object), sizeof(object))
#define PUBLIC(object) VALGRIND_MAKE_MEM_DEFINED(&(object), sizeof(object))

static hl_status status_of(hl_status status)
{
    PUBLIC(status);
    return status;
}

static unsigned errors(void)
{
    static unsigned before;
    const unsigned now = (unsigned)VALGRIND_COUNT_ERRORS, n = now - before;

    before = now;
    return n;
}

#define QUIET(call) \
    do { \
        const hl_status status = status_of(call); \
        const unsigned n = errors(); \
        CHECK(status == HL_OK && n == 0, "%s: %u branches or addresses, %s", #call, n, hl_strerror(status)); \
    } while (0)

static void check_calls(const hl_alg_info *alg)
{
    const hl_alg a = alg->alg;
    hl_ctx ctx;
    hl_hmac_key key;
    hl_hmac_ctx stream;

    SECRET(data), SECRET(secret), SECRET(tags);
    for (size_t kind = 0; kind < 3; kind++) { /* short, in step, ragged */
        static const size_t lengths[3] = {20, 256, 1};
        for (size_t i = 0; i < COUNT; i++)
            messages[i] = (hl_slice){data + i, kind == 2 ? i * i * 2 : lengths[kind]};
        QUIET(hl_hash_many(a, messages, COUNT, tags));
    }
    QUIET(hl_hash(a, data, 77, tags));
    QUIET(hl_hash_rows(a, data, 64, 64, COUNT, tags));
    if (has_ctx(alg)) {
        QUIET(hl_init(&ctx, a));
        QUIET(hl_update(&ctx, data, 77));
        QUIET(hl_update(&ctx, data, 1000));
        QUIET(hl_final(&ctx, tags));
    } else {
        hl_blake3_ctx tree;
        QUIET(hl_blake3_init(&tree, secret));
        for (size_t i = 0; i < 40; i++)
            QUIET(hl_update(&tree.ctx, data, 1000));
        QUIET(hl_final(&tree.ctx, tags));
    }
    QUIET(hl_run(&(hl_job){.nbytes = sizeof(hl_job), .alg = (uint32_t)a, .again = other_alg(alg), .digests = tags,
                           .messages = {.count = COUNT, .base = messages}}));
    if (alg->ending == HL_XOF) {
        QUIET(hl_run(&(hl_job){.nbytes = sizeof(hl_job), .alg = (uint32_t)a, .digest_nbytes = 200, .digests = tags,
                               .messages = {.count = sizeof tags / 200, .base = messages}}));
        QUIET(hl_init(&ctx, a));
        QUIET(hl_update(&ctx, data, 1000));
        QUIET(hl_squeeze(&ctx, tags, 77));
        QUIET(hl_squeeze(&ctx, tags, 500));
    }
    if (alg->ending == HL_COUNTED) {
        const hl_blake2_parameters keyed = {.key = secret, .key_nbytes = 20};
        QUIET(hl_blake2_init(&ctx, a, 9, &keyed));
        QUIET(hl_update(&ctx, data, 1000));
        QUIET(hl_final(&ctx, tags));
    }
    if (!has_hmac(alg)) {
        PUBLIC(data), PUBLIC(secret), PUBLIC(tags);
        return;
    }

    QUIET(hl_hmac_key_init(&key, a, secret, 20));
    QUIET(hl_hmac_key_init(&key, a, secret, sizeof secret));
    QUIET(hl_hmac_many(&key, messages, COUNT, tags));
    QUIET(hl_hmac(&key, data, 77, tags));
    for (size_t i = 0; i < COUNT; i++)
        keys[i] = key;
    QUIET(hl_run(&(hl_job){.nbytes = sizeof(hl_job), .messages = {.count = COUNT, .base = messages},
                           .digests = tags, .keys = keys, .key_stride = sizeof keys[0]}));
    const hl_slice passwords[3] = {{secret, 20}, {secret, 200}, {secret, 7}};
    const hl_slice salts[3] = {{data, 8}, {data, 99}, {data, 0}};
    QUIET(hl_pbkdf2_many(a, passwords, salts, 3, 3, tags, 70));
    QUIET(hl_hmac(&key, data, 77, tags));
    QUIET(hl_hmac_verify(&key, data, 77, tags, alg->digest_nbytes));
    tags[5] ^= 1;
    CHECK(status_of(hl_hmac_verify(&key, data, 77, tags, alg->digest_nbytes)) == HL_ETAG && errors() == 0,
          "another tag");
    QUIET(hl_hmac_init(&stream, &key));
    QUIET(hl_hmac_update(&stream, data, 77));
    QUIET(hl_hmac_update(&stream, data, 1000));
    QUIET(hl_hmac_final(&stream, tags));
    for (size_t i = 0; i < COUNT; i++) {
        all[i] = &streams[i];
        QUIET(hl_hmac_init(all[i], &key));
    }
    QUIET(hl_hmac_update_many(all, messages, COUNT));
    QUIET(hl_hmac_final_many(all, COUNT, tags));
    hl_hmac_key_wipe(&key);
    PUBLIC(data), PUBLIC(secret), PUBLIC(tags);
}

/* Key generation and the parts of a signature. What a signature shows decides the way from hl_slh_end on, and
 * its randomizer the places of leaves: SK.prf counts as public once the key is made. */
static void check_slh(hl_slh set)
{
    static uint8_t scratch[200000], key[64], signature[17088];
    static hl_slh_task task;
    const hl_slh_message message = {"abc", 3, NULL, 0, HL_SLH_PURE, 0};
    const hl_slh_work work = {scratch, sizeof scratch, NULL, NULL};

    if (hl_alg_find(HL_SHA256) == NULL || hl_alg_find(HL_SHAKE256) == NULL)
        return;
    VALGRIND_MAKE_MEM_UNDEFINED(data, 32);
    QUIET(hl_slh_keygen(set, data, key, &work));
    VALGRIND_MAKE_MEM_DEFINED(key + 16, 48);
    QUIET(hl_slh_begin_sign(&task, set, key, &message, NULL, signature));
    for (uint32_t part = 0; part < task.nparts; part++)
        QUIET(hl_slh_part(&task, part, scratch, sizeof scratch));
    hl_slh_drop(&task);
    PUBLIC(data), PUBLIC(key), PUBLIC(signature), PUBLIC(scratch), PUBLIC(task);
}

static void check_equal(void)
{
    static uint8_t a[100], b[100];

    test_case("hl_equal");
    for (size_t at = 0; at <= sizeof a; at += 9) {
        memset(b, 0, sizeof b);
        if (at < sizeof b)
            b[at] = 1;
        SECRET(a), SECRET(b);
        int equal = hl_equal(a, b, sizeof a);
        PUBLIC(equal);
        const unsigned n = errors();
        PUBLIC(a), PUBLIC(b);
        CHECK(equal == (at >= sizeof b) && n == 0, "%u branches or addresses, differing at %zu", n, at);
    }
}

/* A comparison whose time depends on the place of the difference. */
static __attribute__((noinline)) int equal_early(const volatile uint8_t *a, const volatile uint8_t *b, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i++)
        if (a[i] != b[i])
            return 0;
    return 1;
}

static void check_control(void)
{
    static uint8_t a[16], b[16];

    test_case("a comparison that ends early is caught");
    SECRET(a);
    int equal = equal_early(a, b, sizeof a);
    PUBLIC(equal);
    CHECK(equal == 1 && errors() > 0, "it was not");
    PUBLIC(a);
}

int main(int argc, char **argv)
{
    test_start(argc, argv);
    if (!RUNNING_ON_VALGRIND) {
        test_case("nothing to see");
        test_skip("constant time (to be run by valgrind)");
        return test_end();
    }
    random_fill(data, sizeof data);
    random_fill(secret, sizeof secret);
    errors();
    for (size_t i = 0; i < hl_isa_count(); i++) {
        const hl_isas isas = (hl_isas)1 << i;
        const char *isa = hl_isa_name(i);
        if ((isas & hl_isas_available()) == 0) {
            test_skip("constant time, %s (no %s under valgrind)", isa, isa);
            continue;
        }
        hl_restrict(isas);
        for (size_t a = 0; a < hl_alg_count(); a++) {
            test_case("constant time, %s, %s", isa, hl_alg_at(a)->name);
            check_calls(hl_alg_at(a));
        }
        for (hl_slh set = HL_SLH_SHA2_128F; hl_slh_find(set) != NULL && set <= HL_SLH_SHAKE_128F; set++) {
            test_case("constant time, %s, %s", isa, hl_slh_find(set)->name);
            check_slh(set);
        }
    }
    hl_restrict(0);
    check_equal();
    check_control();
    return test_end();
}
