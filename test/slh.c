/* slh.c: SLH-DSA: keys and signatures of all sets on every instruction set beside those of another implementation;
 * signatures, messages, contexts and keys that were changed; refusals.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * python/tests/test_slh_dsa.py has NIST's vectors, rust/hashloom-slh/tests/slh_dsa.rs random cases beside two crates.
 */
#include "test.h"

enum { SIGNATURE_MAX_NBYTES = 49856, MANY = 19, POISON = 0xa5 };

/* The first 8 bytes of the SHA-256 of: the secret key of seeds 0, 1, 2, ...; the deterministic signature of "abc" with
 * the context "context"; the signature of "abc" alone (slh_sign_internal) with n random bytes 7. From the crate slh-dsa
 * 0.2.0-rc.5. */
static const struct {
    const char *key, *pure, *internal;
} known[] = {
    {"c6222658caa895a5", "bed24c69990ffebe", "c87cdde2dafcab16"},
    {"aeac2d25bfffa727", "c2edd90ee111e7fe", "1bdb08e083d43690"},
    {"648556cbd4242221", "3e4a24887e62bf3a", "c5c3e09c4e2d4dd5"},
    {"215e7d26a839c7a4", "b9045eb5ae42c6d6", "bd3f28ac8fd01c0d"},
    {"a1780858c5f51d4f", "7aa61d1de29c6013", "0f3dc7da1e95a63d"},
    {"bf4bb00e781152e8", "3a3d24b59b8d1a3d", "f68c927a95b6fc8c"},
    {"13d9d4e00ef66bcd", "75ef3ecf5b930afe", "adb1a475f0681f82"},
    {"280f02ab4e023b7d", "066408639e284e1e", "9c455b931a77c532"},
    {"56e57696c22b826a", "9fa6d39ab92829fa", "9e0bd18331ed48c9"},
    {"c9d3642a556c8f4e", "4511b8e4a08ae7be", "4efcc1fb4e763401"},
    {"6745eeba8b394f5a", "13431d9b6d8cdb15", "22d0c1401967806c"},
    {"e220d3dd97def0d1", "55b5457d892ac5b3", "cf07d4a6a99c573a"},
};

static uint8_t seeds[96], secret[128], signature[SIGNATURE_MAX_NBYTES + 1], other[SIGNATURE_MAX_NBYTES];
static const hl_slh_message pure = {"abc", 3, "context", 7, HL_SLH_PURE, 0};
static const hl_slh_message internal = {"abc", 3, NULL, 0, HL_SLH_INTERNAL, 0};
static hl_slh_work work;
static hl_slh_task task;

static int is_digest(const void *data, size_t nbytes, const char *digits)
{
    uint8_t digest[32], right[8];

    oracle(hl_alg_find(HL_SHA256), data, nbytes, digest);
    return from_hex(digits, right, sizeof right) == 8 && memcmp(digest, right, 8) == 0;
}

static int are_all(const uint8_t *bytes, size_t nbytes, uint8_t value)
{
    size_t same = 0;

    for (size_t i = 0; i < nbytes; i++)
        same += bytes[i] == value;
    return same == nbytes;
}

/* HL_ALGORITHMS may leave the hash functions out. */
static int is_built(const hl_slh_info *set)
{
    return set->is_shake ? hl_alg_find(HL_SHAKE256) != NULL
                         : hl_alg_find(HL_SHA256) != NULL && (set->n == 16 || hl_alg_find(HL_SHA512) != NULL);
}

static hl_status verify(const hl_slh_info *set, const uint8_t *key, const hl_slh_message *message, const uint8_t *bytes,
                        size_t nbytes)
{
    return hl_slh_verify(set->set, key, message, bytes, nbytes, &work);
}

/* What is signed is `pure`, by `secret`, in `signature`. */
static void check_changes(const hl_slh_info *set)
{
    const uint8_t *const key = secret + 2 * set->n;
    const size_t nbytes = set->signature_nbytes;
    const hl_slh_message changed[] = {
        {"abd", 3, "context", 7, HL_SLH_PURE, 0},  {"ab", 2, "context", 7, HL_SLH_PURE, 0},
        {"abc", 3, "contexu", 7, HL_SLH_PURE, 0},  {"tabc", 4, "contex", 6, HL_SLH_PURE, 0},
        {"abc", 3, "", 0, HL_SLH_PURE, 0},         {"abc", 3, NULL, 0, HL_SLH_INTERNAL, 0},
        {"\0\7contextabd", 12, NULL, 0, HL_SLH_INTERNAL, 0}};
    const hl_slh_message same = {"\0\7contextabc", 12, NULL, 0, HL_SLH_INTERNAL, 0};
    uint8_t digest[32], other_key[64];

    oracle(hl_alg_find(HL_SHA256), "abc", 3, digest);
    const hl_slh_message hashed = {digest, 32, "context", 7, HL_SLH_PREHASH, HL_SHA256};
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
        CHECK(verify(set, key, &changed[i], signature, nbytes) == HL_ETAG, "message %zu", i);
    CHECK(verify(set, key, &hashed, signature, nbytes) == HL_ETAG, "a digest");
    CHECK(verify(set, key, &same, signature, nbytes) == HL_OK, "the pure form by hand");
    CHECK(verify(set, key, &pure, signature, nbytes - 1) == HL_ETAG, "a byte less");
    CHECK(verify(set, key, &pure, signature, nbytes + 1) == HL_ETAG, "a byte more");
    CHECK(verify(set, key, &pure, NULL, 0) == HL_ETAG, "no signature");
    for (unsigned i = 0; i < 6; i++) {
        const size_t at = random_below(nbytes);
        signature[at] ^= (uint8_t)(1u << random_below(8));
        CHECK(verify(set, key, &pure, signature, nbytes) == HL_ETAG, "byte %zu of the signature", at);
        memcpy(signature, other, nbytes);
        memcpy(other_key, key, set->public_nbytes);
        other_key[random_below(set->public_nbytes)] ^= (uint8_t)(1u << random_below(8));
        CHECK(verify(set, other_key, &pure, signature, nbytes) == HL_ETAG, "another key");
    }
}

/* Signatures side by side, some of them changed, some by keys in other places, and one too short. */
static void check_many(const hl_slh_info *set)
{
    static uint8_t changed[SIGNATURE_MAX_NBYTES], keys[MANY * 64];
    const uint8_t *signatures[MANY];
    size_t nbytes[MANY];
    hl_slh_message messages[MANY];
    uint8_t valid[MANY + 1], right[MANY + 1];
    const size_t count = random_below(MANY) + 1, stride = random_below(2) * set->public_nbytes;
    int all = 1;

    memcpy(changed, signature, set->signature_nbytes);
    changed[random_below(set->signature_nbytes)] ^= 1;
    memset(right, POISON, sizeof right);
    memset(valid, POISON, sizeof valid);
    for (size_t i = 0; i < count; i++) {
        const size_t kind = random_below(8);
        memcpy(keys + i * set->public_nbytes, secret + 2 * set->n, set->public_nbytes);
        signatures[i] = kind == 0 ? changed : signature;
        nbytes[i] = set->signature_nbytes - (kind == 1);
        messages[i] = pure;
        if (kind == 2)
            messages[i].nbytes = 2;
        if (kind == 3 && stride != 0)
            keys[i * stride + random_below(stride)] ^= 128;
        right[i] = kind > 3 || (kind == 3 && stride == 0);
        all &= right[i];
    }
    const hl_status status = hl_slh_verify_many(set->set, keys, stride, messages, signatures, nbytes, count, valid,
                                                &work);
    CHECK(status == (all ? HL_OK : HL_ETAG) && memcmp(valid, right, sizeof valid) == 0, "%zu signatures", count);
}

static void check_set(const hl_slh_info *set, size_t i)
{
    const uint8_t *const key = secret + 2 * set->n;
    const size_t nbytes = set->signature_nbytes, nscratch = hl_slh_scratch_nbytes();
    uint8_t random[32];

    memset(signature, POISON, sizeof signature);
    CHECK(hl_slh_keygen(set->set, seeds, secret, &work) == HL_OK &&
              is_digest(secret, set->secret_nbytes, known[i].key), "key");
    CHECK(hl_slh_sign(set->set, secret, &pure, NULL, signature, &work) == HL_OK &&
              is_digest(signature, nbytes, known[i].pure) && signature[nbytes] == POISON, "deterministic");
    memcpy(other, signature, nbytes);
    CHECK(verify(set, key, &pure, signature, nbytes) == HL_OK, "verify");
    check_changes(set);
    check_many(set);
    /* In parts, the last first, at an odd address. */
    memset(random, 7, sizeof random);
    CHECK(hl_slh_begin_sign(&task, set->set, secret, &internal, random, signature) == HL_OK, "begin");
    for (uint32_t part = task.nparts; part-- > 0;)
        CHECK(hl_slh_part(&task, part, work.scratch, nscratch) == HL_OK, "part %u", part);
    CHECK(hl_slh_end(&task, work.scratch, nscratch) == HL_OK && is_digest(signature, nbytes, known[i].internal),
          "parts");
    CHECK(task.set == 0 && hl_slh_part(&task, 0, work.scratch, nscratch) == HL_ESTATE, "ended");
    CHECK(verify(set, key, &internal, signature, nbytes) == HL_OK, "verify what parts made");

    /* A machine that errs: a bit of each of the last two nodes that the parts leave is another one. (Of some nodes
     * nobody could tell, as slh.c says: the layer above signs the wrong root.) */
    hl_slh_begin_sign(&task, set->set, secret, &internal, NULL, signature);
    static hl_slh_task before;
    size_t last = sizeof task - 1;
    before = task;
    for (uint32_t part = 0; part < task.nparts; part++)
        hl_slh_part(&task, part, work.scratch, nscratch);
    while (last > set->n && ((uint8_t *)&task)[last] == ((uint8_t *)&before)[last])
        last--;
    ((uint8_t *)&task)[last] ^= 16, ((uint8_t *)&task)[last - set->n] ^= 16;
    CHECK(hl_slh_end(&task, work.scratch, nscratch) == HL_ESTATE && are_all(signature, nbytes, 0), "byte %zu changed",
          last);
    CHECK(task.set == 0, "ended by an error");
}

static int stop_later(void *context)
{
    return --*(int *)context < 0;
}

static void check_refusals(void)
{
    const hl_slh_info *set = hl_slh_find(HL_SLH_SHA2_128F);
    const size_t nbytes = set->signature_nbytes;
    const uint8_t *const key = secret + 2 * set->n, *const signatures[] = {signature};
    hl_slh_message m = pure;
    hl_slh_work bad = work;
    int left = 3;
    uint8_t valid = POISON;

    test_case("slh: refusals");
    CHECK(hl_slh_keygen(set->set, seeds, secret, &work) == HL_OK, "key");
    memset(signature, POISON, sizeof signature);
#define SIGN(message, w) hl_slh_sign(set->set, secret, message, NULL, signature, w)
    bad.scratch_nbytes--;
    CHECK(SIGN(&pure, &bad) == HL_ELENGTH && SIGN(&pure, NULL) == HL_ENULL, "scratch");
    m.context_nbytes = 256;
    CHECK(SIGN(&m, &work) == HL_ELENGTH, "a long context");
    m = (hl_slh_message){"abc", 3, "c", 1, HL_SLH_INTERNAL, 0};
    CHECK(SIGN(&m, &work) == HL_EJOB, "a context in the internal form");
    m = (hl_slh_message){"abc", 3, "c", 1, HL_SLH_PREHASH, HL_SHA256};
    CHECK(SIGN(&m, &work) == HL_ELENGTH, "a digest of another length");
    m.prehash = HL_SHA1;
    CHECK(SIGN(&m, &work) == HL_EALG, "SHA-1");
    m = (hl_slh_message){NULL, 3, NULL, 0, HL_SLH_PURE, 0};
    CHECK(SIGN(&m, &work) == HL_ENULL, "no message");
    m = (hl_slh_message){"abc", 3, NULL, 0, HL_SLH_INTERNAL + 1, 0};
    CHECK(SIGN(&m, &work) == HL_EJOB, "a form of a later version");
    CHECK(hl_slh_sign((hl_slh)13, secret, &pure, NULL, signature, &work) == HL_EALG, "a set of a later version");
    CHECK(are_all(signature, sizeof signature, POISON), "something was written");
    bad = work;
    bad.is_stopped = stop_later;
    bad.context = &left;
    CHECK(SIGN(&pure, &bad) == HL_ESTOPPED && are_all(signature, nbytes, 0), "stopped");
    left = 0;
    CHECK(hl_slh_verify_many(set->set, key, 0, &pure, signatures, &nbytes, 1, &valid, &bad) == HL_ESTOPPED &&
          valid == 0, "stopped verifying");
    left = 0;
    memset(other, POISON, sizeof other);
    CHECK(hl_slh_keygen(set->set, seeds, other, &bad) == HL_ESTOPPED && are_all(other, set->secret_nbytes, 0),
          "stopped making a key");
    secret[4 * set->n - 1] ^= 1; /* of PK.root */
    memset(signature, POISON, sizeof signature);
    CHECK(SIGN(&pure, &work) == HL_ESTATE && are_all(signature, nbytes, 0), "a public key of another");
    CHECK(hl_slh_find((hl_slh)0) == NULL && hl_slh_find((hl_slh)13) == NULL, "no such set");
#undef SIGN
}

int main(int argc, char **argv)
{
    test_start(argc, argv);
    work.scratch_nbytes = hl_slh_scratch_nbytes();
    work.scratch = guard_new(work.scratch_nbytes).end - work.scratch_nbytes;
    for (unsigned i = 0; i < sizeof seeds; i++)
        seeds[i] = (uint8_t)i;
    test_case("slh: sets without their hash functions");
    for (hl_slh set = 1; hl_slh_find(set) != NULL; set++) {
        const hl_slh_info *info = hl_slh_find(set);
        CHECK(info->set == set && hl_slh_begin_keygen(&task, set, seeds, secret) == (is_built(info) ? HL_OK : HL_EALG),
              "%s", info->name);
    }
    if (!has_calls(hl_slh_verify(HL_SLH_SHA2_128F, NULL, NULL, NULL, 0, NULL))) {
        uint8_t valid;
        CHECK(hl_slh_find(HL_SLH_SHA2_128F) == NULL &&
                  hl_slh_keygen(HL_SLH_SHA2_128F, seeds, secret, &work) == HL_EALG &&
                  hl_slh_sign(HL_SLH_SHA2_128F, secret, &pure, NULL, signature, &work) == HL_EALG &&
                  hl_slh_verify_many(HL_SLH_SHA2_128F, secret, 0, &pure, NULL, NULL, 0, &valid, &work) == HL_EALG,
              "left out");
        return test_end();
    }
    if (!test_alg(HL_SHA256, "slh")) /* what is made is compared by it */
        return test_end();
    for (size_t isa = 0; isa <= hl_isa_count(); isa++) {
        const char *name = test_isa(isa, "slh");
        if (name == NULL)
            continue;
        for (size_t i = 0; i < 12; i++) {
            const hl_slh_info *set = hl_slh_find((hl_slh)(i + 1));
            if (!is_built(set))
                continue;
            const int is_small = set->name[strlen(set->name) - 1] == 's'; /* 100 times as long */
            random_restart(isa * 12 + i);
            if (!in_share(isa * 12 + i) || (is_small && !test_all && (isa < hl_isa_count() || in_share(1) == 0)))
                continue;
            test_case("slh: %s, %s", set->name, name);
            check_set(set, i);
        }
    }
    hl_restrict(0);
    check_refusals();
    return test_end();
}
