/* blake3.c: BLAKE3: its authors' vectors of all three modes; streams, jobs and subtrees beside the reference; chunks
 * beyond 32 bits; what is refused.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "test.h"

#ifndef HASHLOOM_VECTORS
#  define HASHLOOM_VECTORS "vectors"
#endif

enum { POOL_NBYTES = 700000, CHUNK = 1024, NMODES = 3 };

static const uint8_t *pool;
static uint8_t key[32];
static const char context[] = "BLAKE3 2019-12-27 16:29:52 test vectors context";

static void begin(hl_blake3_ctx *stream, unsigned mode)
{
    memset(stream, 0xa5, sizeof *stream);
    CHECK((mode < 2 ? hl_blake3_init(stream, mode == 0 ? NULL : key)
                    : hl_blake3_init_derive_key(stream, context, sizeof context - 1)) == HL_OK,
          "mode %u", mode);
}

/* In parts of random length, up to `most`, behind whole subtrees if `subtrees`. */
static void digest_of(unsigned mode, const uint8_t *data, size_t nbytes, size_t most, int subtrees, uint8_t digest[32])
{
    hl_blake3_ctx stream, copy;
    size_t at = 0;

    begin(&stream, mode);
    while (subtrees && nbytes - at > CHUNK) {
        uint8_t value[32];
        size_t n = 1;
        while (at / CHUNK % (2 * n) == 0 && at + 2 * n * CHUNK < nbytes && random_below(8) != 0)
            n *= 2;
        CHECK(hl_blake3_subtree(&stream, at / CHUNK, data + at, n * CHUNK, value) == HL_OK &&
                  hl_blake3_add_subtree(&stream, n, value) == HL_OK, "%zu chunks at %zu", n, at);
        at += n * CHUNK;
        CHECK(hl_final(&stream.ctx, digest) == HL_ESTATE, "a subtree at the end");
        if (random_below(20) == 0)
            break;
    }
    while (at < nbytes) {
        const size_t part = random_below(most) + 1, n = nbytes - at < part ? nbytes - at : part;
        CHECK(hl_update(&stream.ctx, data + at, n) == HL_OK, "%zu bytes at %zu", n, at);
        at += n;
    }
    copy = stream;
    CHECK(hl_final(&stream.ctx, digest) == HL_OK, "hl_final");
    for (size_t i = 0; i < sizeof stream; i++)
        CHECK(((const uint8_t *)&stream)[i] == 0, "byte %zu of a final stream", i);
    uint8_t again[32];
    hl_ctx *one = &copy.ctx;
    CHECK(hl_final_many(&one, 1, again) == HL_OK && memcmp(again, digest, 32) == 0, "a copy");
}

/* The vectors: "input_len": N, then the outputs of the modes, whose first 32 bytes are the digest. */
static void check_vectors(void)
{
    static const char *const names[NMODES] = {"\"hash\": \"", "\"keyed_hash\": \"", "\"derive_key\": \""};
    static char text[100000];
    static uint8_t data[110000];
    FILE *file = fopen(HASHLOOM_VECTORS "/blake3/test_vectors.json", "r");
    size_t n = 0;

    if (!CHECK(file != NULL, "no vectors/blake3/test_vectors.json"))
        return;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i % 251);
    memcpy(key, "whats the Elvish word for friend", 32);
    for (const char *at = text; (at = strstr(at, "\"input_len\": ")) != NULL; n++) {
        const size_t nbytes = strtoul(at += 13, NULL, 10);
        for (unsigned mode = 0; mode < NMODES; mode++) {
            uint8_t right[32], found[32];
            char hex[65] = {0};
            at = strstr(at, names[mode]) + strlen(names[mode]);
            memcpy(hex, at, 64);
            from_hex(hex, right, 32);
            for (unsigned i = 0; i < 4; i++) {
                digest_of(mode, data, nbytes, i % 2 == 0 ? 100000 : 1500, i > 1, found);
                CHECK(memcmp(found, right, 32) == 0, "%zu bytes, mode %u", nbytes, mode);
            }
        }
    }
    CHECK(n == 35, "%zu vectors", n);
}

/* Streams and jobs of any lengths, alone and side by side; the mode without a key beside the reference. */
static void check_any(void)
{
    enum { COUNT = 40 };
    hl_slice messages[COUNT];
    uint8_t found[COUNT * 33], digest[32];

    for (unsigned mode = 0; mode < NMODES; mode++)
        for (unsigned round = 0; round < share_of(24); round++) {
            const size_t count = random_below(COUNT) + 1, size = round % 3 == 0 ? random_below(32) + 1 : 32;
            hl_blake3_ctx stream;
            begin(&stream, mode);
            for (size_t i = 0; i < count; i++) {
                const size_t most = round % 2 == 0 ? 3 * CHUNK : random_below(20) == 0 ? POOL_NBYTES - 100 : 40 * CHUNK;
                const int is_whole = random_below(3) == 0;
                const size_t nbytes = is_whole ? random_below(most / CHUNK + 1) * CHUNK : random_below(most);
                messages[i] = (hl_slice){pool + i, nbytes};
            }
            const hl_job job = {.nbytes = sizeof job, .alg = HL_BLAKE3, .digests = found, .digest_stride = 33,
                                .messages = {.count = count, .base = messages}, .digest_nbytes = size,
                                .begin = mode == 0 && round % 2 == 0 ? NULL : &stream.ctx, .is_secret = round % 5 == 0};
            CHECK(hl_run(&job) == HL_OK, "a job");
            for (size_t i = 0; i < count; i++) {
                if (mode == 0)
                    oracle(hl_alg_find(HL_BLAKE3), messages[i].data, messages[i].nbytes, digest);
                else
                    digest_of(mode, messages[i].data, messages[i].nbytes, 9000, 0, digest);
                CHECK(memcmp(found + 33 * i, digest, size) == 0, "message %zu of %zu, %zu bytes, mode %u", i, count,
                      messages[i].nbytes, mode);
                if (mode == 0 && i % 8 == 0) {
                    uint8_t other[32];
                    digest_of(mode, messages[i].data, messages[i].nbytes, 9000, i % 16 == 0, other);
                    CHECK(memcmp(other, digest, 32) == 0, "a stream of %zu bytes", messages[i].nbytes);
                }
            }
        }
}

/* Behind subtrees of up to 2^50 chunks, whose values are taken as given. */
static void check_counts(void)
{
    for (unsigned log = 20; log <= 50; log += log == 31 || log == 32 ? 1 : 6) {
        struct reference_ctx *ref = malloc(sizeof *ref);
        hl_blake3_ctx stream;
        uint8_t right[32], found[32];
        unsigned n = 0;
        begin(&stream, 0);
        reference_init(ref, reference_of(hl_alg_find(HL_BLAKE3)));
        for (unsigned l = log; l > 0; l -= l > 5 ? 5 : l) {
            uint8_t value[32];
            random_fill(value, sizeof value);
            CHECK(hl_blake3_add_subtree(&stream, UINT64_C(1) << l, value) == HL_OK, "2^%u", l);
            memcpy(ref->subtrees[n++], value, sizeof value);
            ref->nbytes += (UINT64_C(1) << l) * CHUNK;
        }
        ref->state[8] = (uint32_t)(ref->nbytes / CHUNK);
        ref->state[9] = ref->nbytes / CHUNK >> 32;
        /* The reference has the first byte: it takes a whole number of chunks for complete. */
        ref->block[0] = pool[0];
        ref->nbytes++;
        const size_t nbytes = 1 + random_below(9 * CHUNK);
        reference_update(ref, pool + 1, nbytes - 1);
        reference_final(ref, right);
        CHECK(hl_update(&stream.ctx, pool, nbytes) == HL_OK && hl_final(&stream.ctx, found) == HL_OK &&
                  memcmp(found, right, 32) == 0, "%zu bytes after 2^%u chunks", nbytes, log);
        free(ref);
    }
}

static void check_refused(void)
{
    hl_blake3_ctx stream, other;
    hl_ctx ctx;
    uint8_t value[32] = {0}, found[64], bytes[HL_EXPORT_MAX_NBYTES];
    size_t n = 77;

    begin(&stream, 0), begin(&other, 1);
    CHECK(hl_init(&ctx, HL_BLAKE3) == HL_EALG && hl_blake2_init(&ctx, HL_BLAKE3, 32, NULL) == HL_EALG, "hl_ctx");
    CHECK(hl_export(&stream.ctx, bytes, sizeof bytes, &n) == HL_EALG && n == 77, "hl_export");
    CHECK(hl_squeeze(&stream.ctx, found, 64) == HL_EALG, "hl_squeeze");
    CHECK(hl_blake3_init(NULL, NULL) == HL_ENULL && hl_blake3_init_derive_key(NULL, "", 0) == HL_ENULL &&
              hl_blake3_init_derive_key(&other, NULL, 1) == HL_ENULL, "NULL");
    CHECK(hl_blake3_subtree(NULL, 0, pool, CHUNK, value) == HL_ENULL &&
              hl_blake3_subtree(&stream, 0, NULL, CHUNK, value) == HL_ENULL &&
              hl_blake3_subtree(&stream, 0, pool, CHUNK, NULL) == HL_ENULL &&
              hl_blake3_add_subtree(NULL, 1, value) == HL_ENULL && hl_blake3_add_subtree(&stream, 1, NULL) == HL_ENULL,
          "subtrees: NULL");
    CHECK(hl_blake3_subtree(&stream, 0, pool, 0, value) == HL_ELENGTH &&
              hl_blake3_subtree(&stream, 0, pool, CHUNK + 1, value) == HL_ELENGTH &&
              hl_blake3_subtree(&stream, 0, pool, 3 * CHUNK, value) == HL_ELENGTH &&
              hl_blake3_subtree(&stream, 1, pool, 2 * CHUNK, value) == HL_ELENGTH &&
              hl_blake3_subtree(&stream, UINT64_C(1) << 51, pool, CHUNK, value) == HL_ELENGTH,
          "subtrees: lengths");
    CHECK(hl_blake3_add_subtree(&stream, 0, value) == HL_ELENGTH &&
          hl_blake3_add_subtree(&stream, 3, value) == HL_ELENGTH &&
              hl_blake3_add_subtree(&stream, UINT64_C(1) << 63, value) == HL_ELENGTH, "added lengths");
    CHECK(hl_blake3_add_subtree(&stream, 1, value) == HL_OK && hl_blake3_add_subtree(&stream, 2, value) == HL_ELENGTH,
          "a place that is no multiple");
    hl_job job = {.nbytes = sizeof job, .alg = HL_BLAKE3, .digests = found, .begin = &stream.ctx,
                  .messages = {.count = 1, .base = &(hl_slice){"", 0}}};
    CHECK(hl_run(&job) == HL_EJOB, "a job from a stream with data");
    CHECK(hl_update(&stream.ctx, "", 1) == HL_OK && hl_blake3_add_subtree(&stream, 1, value) == HL_ESTATE,
          "a subtree behind bytes");
    job.begin = &other.ctx, job.begin_stride = sizeof other;
    CHECK(hl_run(&job) == HL_EJOB, "a stream each");
    job.begin_stride = 0, job.digest_nbytes = 33;
    CHECK(hl_run(&job) == HL_EJOB, "33 bytes");
    hl_ctx *both[2] = {&stream.ctx, &ctx};
    hl_init(&ctx, HL_SHA256);
    CHECK(hl_update_many(both, &(hl_slice){"", 0}, 1) == HL_OK && hl_final_many(both, 2, found) == HL_ESTATE,
          "two kinds");
    memset(&stream, 0, sizeof stream);
    CHECK(hl_blake3_subtree(&stream, 0, pool, CHUNK, value) == HL_ESTATE &&
              hl_blake3_add_subtree(&stream, 1, value) == HL_ESTATE && hl_update(&stream.ctx, "", 1) == HL_ESTATE,
          "not initialised");
}

int main(int argc, char **argv)
{
    test_start(argc, argv);
    pool = random_pool(POOL_NBYTES);
    if (hl_alg_find(HL_BLAKE3) == NULL) {
        hl_blake3_ctx stream;
        test_skip("%s", "BLAKE3 (left out)");
        test_case("a build without BLAKE3");
        CHECK(hl_blake3_init(&stream, NULL) == HL_EALG && hl_blake3_init_derive_key(&stream, "", 0) == HL_EALG,
              "an algorithm that is left out");
        return test_end();
    }
    test_case("BLAKE3: what is refused");
    check_refused();
    for (size_t i = 0; i <= hl_isa_count(); i++) {
        const char *isa = test_isa(i, "BLAKE3");
        if (isa == NULL)
            continue;
        test_case("BLAKE3, %s: vectors", isa);
        check_vectors();
        test_case("BLAKE3, %s: any lengths", isa);
        check_any();
        test_case("BLAKE3, %s: chunks beyond 32 bits", isa);
        check_counts();
    }
    hl_restrict(0);
    return test_end();
}
