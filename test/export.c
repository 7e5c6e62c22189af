/* export.c: streams saved as bytes and restored: the format to the byte, every place in a message, and hostile bytes.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "test.h"

enum { NBYTES = 400, POISON = 0xa5 };

static uint8_t bytes[HL_EXPORT_MAX_NBYTES], again[HL_EXPORT_MAX_NBYTES];

/* The format as hashloom.h describes it. */
static void check_format(void)
{
    static const uint8_t sha256[16 + 32] = {
        'h', 'l', 'c', '1', 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0x6a, 0x09, 0xe6, 0x67, 0xbb, 0x67, 0xae, 0x85,
        0x3c, 0x6e, 0xf3, 0x72, 0xa5, 0x4f, 0xf5, 0x3a, 0x51, 0x0e, 0x52, 0x7f, 0x9b, 0x05, 0x68, 0x8c, 0x1f, 0x83,
        0xd9, 0xab, 0x5b, 0xe0, 0xcd, 0x19};
    static const uint8_t sha3[16 + 8] = {'h', 'l', 'c', '1', 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0x8b}; /* 139 bytes */
    uint8_t block[64] = "abc";
    hl_ctx ctx;
    size_t nbytes = 0;

    test_case("the format");
    if (test_alg(HL_SHA256, "the format of SHA-256")) {
        hl_init(&ctx, HL_SHA256);
        hl_update(&ctx, "abc", 3);
        CHECK(hl_export(&ctx, bytes, sizeof bytes, &nbytes) == HL_OK && nbytes == 16 + 32 + 64, "%zu bytes", nbytes);
        CHECK(memcmp(bytes, sha256, sizeof sha256) == 0 && memcmp(bytes + 48, block, 64) == 0, "SHA-256");
    }
    if (test_alg(HL_SHA3_256, "the format of SHA3-256")) {
        uint8_t first[136] = "Keccak", digest[HL_SHA3_256_DIGEST_NBYTES];
        struct reference_ctx ref;
        hl_init(&ctx, HL_SHA3_256);
        hl_update(&ctx, first, sizeof first);
        hl_update(&ctx, "abc", 3);
        CHECK(hl_export(&ctx, bytes, sizeof bytes, &nbytes) == HL_OK && nbytes == 16 + 200 + 136, "%zu bytes", nbytes);
        CHECK(memcmp(bytes, sha3, 16) == 0 && memcmp(bytes + 216, block, 64) == 0, "SHA3-256");
        reference_init(&ref, reference_of(hl_alg_find(HL_SHA3_256)));
        reference_update(&ref, first, sizeof first);
        for (unsigned i = 0; i < 200; i++)
            CHECK(bytes[16 + i] == (uint8_t)(ref.state[i / 8] >> (56 - 8 * (i % 8))), "byte %u of the state", i);
        CHECK(hl_final(&ctx, digest) == HL_OK, "hl_final");
    }
}

/* Saves and restores at every place in a message. */
static void check_places(const hl_alg_info *alg)
{
    const size_t size = alg->digest_nbytes;
    uint8_t right[HL_DIGEST_MAX_NBYTES], digest[HL_DIGEST_MAX_NBYTES];
    const uint8_t *data = random_pool(NBYTES);
    size_t nbytes;

    test_case("%s: saved and restored at every place", alg->name);
    for (size_t cut = 0; cut <= NBYTES; cut++) {
        hl_ctx ctx, other;
        memset(&other, POISON, sizeof other);
        oracle(alg, data, NBYTES, right);
        hl_init(&ctx, alg->alg);
        hl_update(&ctx, data, cut);
        CHECK(hl_export(&ctx, bytes, sizeof bytes, &nbytes) == HL_OK &&
                  hl_import(&other, bytes, nbytes) == HL_OK && hl_export(&other, again, nbytes, &nbytes) == HL_OK &&
                  memcmp(bytes, again, nbytes) == 0 && hl_update(&other, data + cut, NBYTES - cut) == HL_OK &&
                  hl_final(&other, digest) == HL_OK && memcmp(digest, right, size) == 0,
              "cut at %zu", cut);
        CHECK(hl_update(&ctx, data + cut, NBYTES - cut) == HL_OK && hl_final(&ctx, digest) == HL_OK &&
                  memcmp(digest, right, size) == 0,
              "the stream that was saved goes on, %zu", cut);
    }
}

/* Each byte changed, each length, and bytes that are not a stream. */
static void check_hostile(const hl_alg_info *alg)
{
    hl_ctx ctx, kept, none;
    size_t nbytes;
    uint8_t *end;
    const struct guarded memory = guard_new(HL_EXPORT_MAX_NBYTES);

    test_case("%s: bytes that are no export", alg->name);
    memset(&none, 0, sizeof none);
    hl_init(&ctx, alg->alg);
    hl_update(&ctx, random_pool(100), 100);
    hl_export(&ctx, bytes, sizeof bytes, &nbytes);
    memset(&kept, POISON, sizeof kept);
    ctx = kept;

    for (size_t n = 0; n < HL_EXPORT_MAX_NBYTES; n++) { /* at the end of memory */
        end = memory.end - n;
        memset(end, 0, n);
        memcpy(end, bytes, n < nbytes ? n : nbytes);
        CHECK(n == nbytes || hl_import(&ctx, end, n) == HL_EIMPORT, "%zu bytes", n);
    }
    CHECK(hl_import(NULL, bytes, nbytes) == HL_ENULL && hl_import(&ctx, NULL, nbytes) == HL_ENULL, "NULL");
    CHECK(memcmp(&ctx, &kept, sizeof ctx) == 0, "a context was written");

    for (size_t bit = 0; bit < 8 * nbytes; bit++) {
        uint8_t digest[HL_DIGEST_MAX_NBYTES];
        size_t n;
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        const hl_status status = hl_import(&ctx, bytes, nbytes);
        CHECK(status == HL_EIMPORT || (status == HL_OK && hl_export(&ctx, again, sizeof again, &n) == HL_OK &&
                                       n == nbytes && memcmp(again, bytes, n) == 0 &&
                                       hl_update(&ctx, bytes, 3) != HL_ESTATE && hl_final(&ctx, digest) == HL_OK),
              "bit %zu: %s", bit, hl_strerror(status));
        CHECK(status == HL_EIMPORT || bit >= 32, "bit %zu of the beginning", bit);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    /* More bytes than a message may have. */
    memset(bytes + 8, 0, 8);
    memset(bytes + nbytes - alg->block_nbytes, 0, alg->block_nbytes);
    bytes[8] = 0x20;
    CHECK(hl_import(&ctx, bytes, nbytes) == HL_EIMPORT, "2^61 bytes");

    test_case("%s: contexts that cannot be exported", alg->name);
    hl_init(&ctx, alg->alg);
    memset(again, POISON, sizeof again);
    nbytes = 77;
    CHECK(hl_export(&ctx, again, 16 + alg->nwords * alg->word_nbytes + alg->block_nbytes - 1, &nbytes) == HL_ELENGTH &&
              hl_export(&ctx, NULL, sizeof again, &nbytes) == HL_ENULL &&
              hl_export(&ctx, again, sizeof again, NULL) == HL_ENULL &&
              hl_export(NULL, again, sizeof again, &nbytes) == HL_ENULL &&
              hl_export(&none, again, sizeof again, &nbytes) == HL_ESTATE,
          "what is refused");
    ctx.nbytes = HL_MESSAGE_MAX_NBYTES + 1;
    CHECK(hl_export(&ctx, again, sizeof again, &nbytes) == HL_ESTATE, "too long");
    CHECK(again[0] == POISON && nbytes == 77, "something was written");
    ctx.nbytes--;
    if (alg->ending == HL_COUNTED) { /* the state counts the blocks before the last one */
        const uint64_t hashed = HL_MESSAGE_MAX_NBYTES - (HL_MESSAGE_MAX_NBYTES - 1) % alg->block_nbytes - 1;
        if (alg->word_nbytes == 8)
            ctx.state.w64[8] = hashed;
        else
            ctx.state.w32[8] = (uint32_t)hashed, ctx.state.w32[9] = (uint32_t)(hashed >> 32);
    }
    CHECK(hl_export(&ctx, again, sizeof again, &nbytes) == HL_OK && hl_import(&none, again, nbytes) == HL_OK &&
              none.nbytes == HL_MESSAGE_MAX_NBYTES && hl_update(&none, again, 1) == HL_ELENGTH, "the longest message");
    guard_free(memory);
}

int main(int argc, char **argv)
{
    test_start(argc, argv);
    check_format();
    for (size_t a = 0; a < hl_alg_count(); a++) {
        if (!has_ctx(hl_alg_at(a))) /* blake3.c: hl_export refuses it */
            continue;
        check_places(hl_alg_at(a));
        check_hostile(hl_alg_at(a));
    }
    return test_end();
}
