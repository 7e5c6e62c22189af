/* blake2.c: BLAKE2 with keys, salts, personal strings and digests of any length: the self-test of RFC 7693 appendix E,
 * and the calls for many messages beside the stream.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "test.h"

/* Appendix E: the deterministic sequence. */
static void sequence(uint8_t *out, size_t nbytes, uint32_t seed)
{
    uint32_t a = 0xdead4bad * seed, b = 1;

    for (size_t i = 0; i < nbytes; i++) {
        const uint32_t t = a + b;
        a = b;
        b = t;
        out[i] = (uint8_t)(t >> 24);
    }
}

/* One digest by a stream in parts of `part` bytes. */
static void digest_of(hl_alg alg, size_t size, const hl_blake2_parameters *with, const uint8_t *data, size_t nbytes,
                      size_t part, uint8_t *digest)
{
    hl_ctx ctx;

    CHECK(hl_blake2_init(&ctx, alg, size, with) == HL_OK, "%zu bytes, a key of %zu", size,
          with == NULL ? 0 : with->key_nbytes);
    for (size_t at = 0; at < nbytes; at += part)
        CHECK(hl_update(&ctx, data + at, nbytes - at < part ? nbytes - at : part) == HL_OK, "hl_update");
    CHECK(hl_final(&ctx, digest) == HL_OK, "hl_final");
}

/* Appendix E: the digest of digests, without and with keys. */
static void check_self_test(const hl_alg_info *alg)
{
    static const size_t sizes[2][4] = {{20, 32, 48, 64}, {16, 20, 28, 32}};
    static const size_t lengths[2][6] = {{0, 3, 128, 129, 255, 1024}, {0, 3, 64, 65, 255, 1024}};
    static const char *const results[2] = {"c23a7800d98123bd10f506c61e29da5603d763b8bbad2e737f5e765a7bccd475",
                                           "6a411f08ce25adcdfb02aba641451cec53c598b24f4fc787fbdc88797f4c1dfe"};
    const unsigned which = alg->alg == HL_BLAKE2S;

    for (size_t part = 1; part <= 1024; part = part * 3 + 1) {
        hl_ctx all;
        uint8_t right[32], found[32];
        hl_blake2_init(&all, alg->alg, 32, NULL);
        for (size_t s = 0; s < 4; s++)
            for (size_t l = 0; l < 6; l++) {
                const size_t size = sizes[which][s], nbytes = lengths[which][l];
                uint8_t in[1024], key[64], digest[64];
                const hl_blake2_parameters keyed = {.key = key, .key_nbytes = size};
                sequence(in, nbytes, (uint32_t)nbytes);
                digest_of(alg->alg, size, NULL, in, nbytes, part, digest);
                hl_update(&all, digest, size);
                sequence(key, size, (uint32_t)size);
                digest_of(alg->alg, size, &keyed, in, nbytes, part, digest);
                hl_update(&all, digest, size);
            }
        from_hex(results[which], right, sizeof right);
        CHECK(hl_final(&all, found) == HL_OK && memcmp(found, right, sizeof right) == 0, "parts of %zu bytes", part);
    }
}

/* Jobs of any length of digests, from one stream with parameters or one each, and streams that end together. */
static void check_many(const hl_alg_info *alg, const uint8_t *pool)
{
    enum { COUNT = 37 };
    hl_ctx ctxs[COUNT], *each[COUNT];
    hl_slice messages[COUNT];
    uint8_t found[COUNT * 65], digest[64];

    for (size_t size = 1; size <= alg->digest_nbytes; size++) {
        hl_blake2_parameters with = {.key = pool + 9, .key_nbytes = size % 3 == 0 ? 0 : alg->digest_nbytes - size};
        memcpy(with.salt, pool, sizeof with.salt);
        memcpy(with.personal, pool + 100, sizeof with.personal);
        for (size_t i = 0; i < COUNT; i++)
            messages[i] = (hl_slice){pool + i, i % 5 == 0 ? alg->block_nbytes * (i / 5) : 31 * i};
        const size_t stride = size + size % 2;
        for (unsigned kind = 0; kind < 4; kind++) {
            hl_job job = {.nbytes = sizeof job, .alg = (uint32_t)alg->alg, .digests = found, .digest_stride = stride,
                          .messages = {.count = COUNT, .base = messages}};
            for (size_t i = 0; i < COUNT; i++) {
                hl_blake2_init(&ctxs[i], alg->alg, size, kind == 0 ? NULL : &with);
                each[i] = &ctxs[i];
            }
            if (kind == 3) {
                CHECK(hl_update_many(each, messages, COUNT) == HL_OK && hl_final_many(each, COUNT, found) == HL_OK,
                      "streams");
            } else {
                job.digest_nbytes = kind == 0 ? size : 0;
                job.begin = kind == 0 ? NULL : ctxs;
                job.begin_stride = kind == 2 ? sizeof ctxs[0] : 0;
                CHECK(hl_run(&job) == HL_OK, "a job of kind %u, %zu bytes", kind, size);
            }
            for (size_t i = 0; i < COUNT; i++) {
                digest_of(alg->alg, size, kind == 0 ? NULL : &with, messages[i].data, messages[i].nbytes, 77, digest);
                CHECK(memcmp(found + i * (kind == 3 ? size : stride), digest, size) == 0,
                      "message %zu of %zu bytes, digests of %zu, kind %u", i, messages[i].nbytes, size, kind);
            }
        }
    }
}

static void check_refused(const hl_alg_info *alg)
{
    const hl_blake2_parameters no_key = {.key_nbytes = 1}, long_key = {.key = "", .key_nbytes = alg->digest_nbytes + 1};
    hl_ctx ctx, other, *both[2] = {&ctx, &other};
    uint8_t found[128];
    hl_job job = {.nbytes = sizeof job, .alg = (uint32_t)alg->alg, .digests = found, .begin = &ctx,
                  .messages = {.count = 1, .base = &(hl_slice){NULL, 0}}};

    CHECK(hl_blake2_init(NULL, alg->alg, 1, NULL) == HL_ENULL && hl_blake2_init(&ctx, alg->alg, 1, &no_key) == HL_ENULL,
          "NULL");
    CHECK(hl_blake2_init(&ctx, alg->alg, 0, NULL) == HL_ELENGTH &&
              hl_blake2_init(&ctx, alg->alg, alg->digest_nbytes + 1, NULL) == HL_ELENGTH &&
              hl_blake2_init(&ctx, alg->alg, 1, &long_key) == HL_ELENGTH,
          "a length");
    hl_blake2_init(&ctx, alg->alg, 5, NULL);
    hl_blake2_init(&other, alg->alg, 6, NULL);
    CHECK(hl_final_many(both, 2, found) == HL_ESTATE, "two lengths in one call");
    job.digest_nbytes = 6;
    CHECK(hl_run(&job) == HL_EJOB, "another length than the stream's");
    for (size_t a = 0; a < hl_alg_count(); a++)
        CHECK(hl_alg_at(a)->ending == HL_COUNTED || hl_blake2_init(&ctx, hl_alg_at(a)->alg, 1, NULL) == HL_EALG, "%s",
              hl_alg_at(a)->name);
}

int main(int argc, char **argv)
{
    test_start(argc, argv);
    const uint8_t *pool = random_pool(4096);
    if (hl_alg_find(HL_BLAKE2B) == NULL && hl_alg_find(HL_BLAKE2S) == NULL) {
        hl_ctx ctx;
        test_skip("%s", "BLAKE2 (left out)");
        test_case("a build without BLAKE2");
        CHECK(hl_blake2_init(&ctx, HL_BLAKE2B, 1, NULL) == HL_EALG, "an algorithm that is left out");
    }
    for (size_t a = 0; a < hl_alg_count(); a++) {
        const hl_alg_info *alg = hl_alg_at(a);
        if (alg->ending != HL_COUNTED)
            continue;
        test_case("%s: what is refused", alg->name);
        check_refused(alg);
        for (size_t i = 0; i <= hl_isa_count(); i++) {
            const char *isa = test_isa(i, "%s with parameters", alg->name);
            if (isa == NULL)
                continue;
            if (alg->alg != HL_BLAKE2B_256) {
                test_case("%s, %s: RFC 7693 appendix E", alg->name, isa);
                check_self_test(alg);
            }
            test_case("%s, %s: many messages, lengths of digests", alg->name, isa);
            check_many(alg, pool);
        }
        hl_restrict(0);
    }
    return test_end();
}
