/* pbkdf2.c: PBKDF2: the vectors of RFC 6070 and RFC 7914, and RFC 8018's definition over the oracle's HMAC, for any
 * number of passwords, blocks and iterations on every instruction set.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "test.h"

enum { COUNT = 20, KEY_MAX_NBYTES = 200, POISON = 0xa5 };

static uint8_t keys[COUNT * KEY_MAX_NBYTES + 1], expected[KEY_MAX_NBYTES];

/* RFC 8018 section 5.2. */
static void derive(const hl_alg_info *alg, const hl_slice *password, const hl_slice *salt, unsigned niterations,
                   uint8_t *key, size_t key_nbytes)
{
    uint8_t u[300 + 4 + HL_DIGEST_MAX_NBYTES], t[HL_DIGEST_MAX_NBYTES];
    const size_t size = alg->digest_nbytes;

    for (size_t at = 0, block = 1; at < key_nbytes; at += size, block++) {
        memcpy(u, salt->data, salt->nbytes);
        for (unsigned i = 0; i < 4; i++)
            u[salt->nbytes + i] = (uint8_t)(block >> (24 - 8 * i));
        oracle_hmac(alg, password->data, password->nbytes, u, salt->nbytes + 4, t);
        memcpy(u, t, size);
        for (unsigned j = 1; j < niterations; j++) {
            uint8_t next[HL_DIGEST_MAX_NBYTES];
            oracle_hmac(alg, password->data, password->nbytes, u, size, next);
            memcpy(u, next, size);
            for (size_t i = 0; i < size; i++)
                t[i] ^= u[i];
        }
        memcpy(key + at, t, key_nbytes - at < size ? key_nbytes - at : size);
    }
}

static void check_vectors(void)
{
    static const struct {
        hl_alg alg;
        hl_slice password, salt;
        uint32_t niterations;
        size_t nbytes;
        const char *key;
    } vectors[] = {
        /* RFC 6070 section 2, without the vector of 16,777,216 iterations */
        {HL_SHA1, {"password", 8}, {"salt", 4}, 1, 20, "0c60c80f961f0e71f3a9b524af6012062fe037a6"},
        {HL_SHA1, {"password", 8}, {"salt", 4}, 2, 20, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957"},
        {HL_SHA1, {"password", 8}, {"salt", 4}, 4096, 20, "4b007901b765489abead49d926f721d065a429c1"},
        {HL_SHA1, {"passwordPASSWORDpassword", 24}, {"saltSALTsaltSALTsaltSALTsaltSALTsalt", 36}, 4096, 25,
         "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038"},
        {HL_SHA1, {"pass\0word", 9}, {"sa\0lt", 5}, 4096, 16, "56fa6aa75548099dcc37d7f03425e0c3"},
        /* RFC 7914 section 11 */
        {HL_SHA256, {"passwd", 6}, {"salt", 4}, 1, 64, 
         "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
         "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"},
        {HL_SHA256, {"Password", 8}, {"NaCl", 4}, 80000, 64, 
         "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"
         "a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d"},
    };

    for (size_t v = 0; v < sizeof vectors / sizeof vectors[0]; v++) {
        char hex[2 * KEY_MAX_NBYTES + 1] = "";
        if (!test_hmac(vectors[v].alg, "vectors"))
            continue;
        test_case("%s, %u iterations, %zu bytes", hl_alg_find(vectors[v].alg)->name, (unsigned)vectors[v].niterations,
                  vectors[v].nbytes);
        CHECK(hl_pbkdf2_many(vectors[v].alg, &vectors[v].password, &vectors[v].salt, vectors[v].niterations, 1, keys,
                             vectors[v].nbytes) == HL_OK,
              "hl_pbkdf2_many");
        for (size_t i = 0; i < vectors[v].nbytes; i++)
            snprintf(hex + 2 * i, 3, "%02x", keys[i]);
        CHECK(strcmp(hex, vectors[v].key) == 0, "%s, not %s", hex, vectors[v].key);
    }
}

static void check_random(const hl_alg_info *alg, const uint8_t *pool)
{
    const size_t count = random_below(COUNT) + 1, key_nbytes = random_below(KEY_MAX_NBYTES) + 1;
    const unsigned niterations = (unsigned)random_below(4) + 1;
    hl_slice passwords[COUNT], salts[COUNT];

    for (size_t i = 0; i < count; i++) {
        passwords[i] = (hl_slice){pool + 11 * i, random_length(300)};
        salts[i] = (hl_slice){pool + 7 * i, random_length(300)};
    }
    memset(keys, POISON, sizeof keys);
    CHECK(hl_pbkdf2_many(alg->alg, passwords, salts, niterations, count, keys, key_nbytes) == HL_OK, "hl_pbkdf2_many");
    for (size_t i = 0; i < count; i++) {
        derive(alg, &passwords[i], &salts[i], niterations, expected, key_nbytes);
        CHECK(memcmp(keys + i * key_nbytes, expected, key_nbytes) == 0, "key %zu of %zu, %u iterations, %zu bytes", i,
              count, niterations, key_nbytes);
    }
    CHECK(keys[count * key_nbytes] == POISON, "written beyond the keys");
}

struct stop {
    unsigned ncalls, last; /* the answer to the last call is 1 */
};

static int is_stopped(void *context)
{
    struct stop *stop = context;

    return ++stop->ncalls == stop->last;
}

static void check_stopped(const hl_alg_info *alg)
{
    enum { NITERATIONS = 10000, NKEYS = 3, NBYTES = 40 };
    const hl_slice passwords[NKEYS] = {{"a", 1}, {"b", 1}, {"c", 1}}, salts[NKEYS] = {{"x", 1}, {"y", 1}, {"z", 1}};
    struct stop stop = {0};
    uint8_t whole[NKEYS * NBYTES];

    test_case("%s: the caller's function ends a call, and no other", alg->name);
    CHECK(hl_pbkdf2_many(alg->alg, passwords, salts, NITERATIONS, NKEYS, whole, NBYTES) == HL_OK, "without");
    CHECK(hl_pbkdf2_many_until(alg->alg, passwords, salts, NITERATIONS, NKEYS, keys, NBYTES, is_stopped, &stop) ==
              HL_OK &&
              memcmp(keys, whole, sizeof whole) == 0, "not ended");
    const unsigned ncalls = stop.ncalls;
    CHECK(ncalls >= 3, "%u calls", ncalls);
    for (unsigned last = 1; last <= ncalls; last++) {
        stop = (struct stop){0, last};
        memset(keys, POISON, sizeof keys);
        CHECK(hl_pbkdf2_many_until(alg->alg, passwords, salts, NITERATIONS, NKEYS, keys, NBYTES, is_stopped, &stop) ==
                  HL_ESTOPPED && stop.ncalls == last, "%u calls, the last was %u", stop.ncalls, last);
        for (size_t i = 0; i < sizeof whole; i++)
            CHECK(keys[i] == 0, "byte %zu after the end in call %u", i, last);
        CHECK(keys[sizeof whole] == POISON, "written beyond the keys");
    }
}

static void check_refused(const hl_alg_info *alg)
{
    const hl_slice good[2] = {{"abc", 3}, {NULL, 0}}, bad[2] = {{"abc", 3}, {NULL, 1}};
    const hl_alg a = alg->alg;

    test_case("%s: refused calls write nothing", alg->name);
    memset(keys, POISON, sizeof keys);
    CHECK(hl_pbkdf2_many((hl_alg)99, good, good, 1, 2, keys, 16) == HL_EALG, "no such algorithm");
    CHECK(hl_pbkdf2_many(a, good, good, 0, 2, keys, 16) == HL_ELENGTH, "no iterations");
    CHECK(hl_pbkdf2_many(a, good, good, 1, 2, keys, 0) == HL_ELENGTH, "no bytes of key");
    CHECK(hl_pbkdf2_many(a, NULL, good, 1, 2, keys, 16) == HL_ENULL, "no passwords");
    CHECK(hl_pbkdf2_many(a, good, NULL, 1, 2, keys, 16) == HL_ENULL, "no salts");
    CHECK(hl_pbkdf2_many(a, good, good, 1, 2, NULL, 16) == HL_ENULL, "no room for keys");
    CHECK(hl_pbkdf2_many(a, bad, good, 1, 2, keys, 16) == HL_ENULL, "a password at NULL");
    CHECK(hl_pbkdf2_many(a, good, bad, 1, 2, keys, 16) == HL_ENULL, "a salt at NULL");
    CHECK(hl_pbkdf2_many(a, good, good, 1, SIZE_MAX, keys, 16) == HL_ELENGTH, "too many");
    CHECK(hl_pbkdf2_many(a, good, good, 1, 2, keys, SIZE_MAX) == HL_ELENGTH, "too long");
#if SIZE_MAX > UINT32_MAX
    CHECK(hl_pbkdf2_many(a, good, good, 1, 1, keys, (size_t)UINT32_MAX * alg->digest_nbytes + 1) == HL_ELENGTH,
          "more blocks than RFC 8018 numbers");
    const hl_slice longest = {"abc", (size_t)HL_MESSAGE_MAX_NBYTES - alg->block_nbytes - 3};
    CHECK(hl_pbkdf2_many(a, good, &longest, 1, 1, keys, 16) == HL_ELENGTH, "a salt that is too long");
#endif
    CHECK(keys[0] == POISON, "a key was written");
    CHECK(hl_pbkdf2_many(a, NULL, NULL, 1, 0, NULL, 16) == HL_OK, "no keys at all");
    CHECK(hl_pbkdf2_many(a, good, good, 1, 2, keys, 16) == HL_OK, "an empty password and an empty salt");
}

int main(int argc, char **argv)
{
    test_start(argc, argv);
    const uint8_t *pool = random_pool(1000);
    check_vectors();
    for (size_t a = 0; a < hl_alg_count(); a++) {
        const hl_alg_info *alg = hl_alg_at(a);
        if (!has_hmac(alg)) {
            const hl_slice word = {"abc", 3};
            test_case("%s: no PBKDF2", alg->name);
            memset(keys, POISON, sizeof keys);
            CHECK(hl_pbkdf2_many(alg->alg, &word, &word, 1, 1, keys, 16) == HL_EALG && keys[0] == POISON &&
                      hl_pbkdf2_many(alg->alg, NULL, NULL, 1, 0, NULL, 16) == HL_EALG, "not refused");
            continue;
        }
        for (size_t i = 0; i <= hl_isa_count(); i++) {
            const char *isa = test_isa(i, "PBKDF2 of %s", alg->name);
            if (isa == NULL)
                continue;
            test_case("%s, %s: PBKDF2 of any passwords, salts and lengths", alg->name, isa);
            for (size_t round = 0; round < share_of(test_all ? 100 : 12); round++)
                check_random(alg, pool);
        }
        hl_restrict(0);
        check_stopped(alg);
        check_refused(alg);
    }
    return test_end();
}
