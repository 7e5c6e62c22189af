/* hmac.c: HMAC: the vectors of RFC 2202, 2286 and 4231 and of Wycheproof, libcrypto's tags over lengths of keys and of
 * messages on every instruction set, streams, and misuse.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "test.h"

#ifndef HASHLOOM_VECTORS
#  define HASHLOOM_VECTORS "vectors"
#endif

enum { COUNT = 300, KEY_MAX_NBYTES = 300, MESSAGE_MAX_NBYTES = 3000, POISON = 0xa5 };

/* All ways to compute the tag of one message. */
static void check_tag(const hl_alg_info *alg, const hl_slice *secret, const hl_slice *message, const uint8_t *expected)
{
    enum { COPIES = HL_LANES_MAX + 1 };
    uint8_t tags[COPIES * HL_DIGEST_MAX_NBYTES];
    const size_t size = alg->digest_nbytes, cut = message->nbytes / 3;
    hl_slice messages[COPIES];
    hl_hmac_key key;
    hl_hmac_ctx ctx, copy;

    CHECK(hl_hmac_key_init(&key, alg->alg, secret->data, secret->nbytes) == HL_OK, "a key of %zu bytes",
          secret->nbytes);
    CHECK(hl_hmac(&key, message->data, message->nbytes, tags) == HL_OK && memcmp(tags, expected, size) == 0,
          "hl_hmac, a key of %zu bytes, a message of %zu", secret->nbytes, message->nbytes);
    for (size_t i = 0; i < COPIES; i++)
        messages[i] = *message;
    CHECK(hl_hmac_many(&key, messages, COPIES, tags) == HL_OK, "hl_hmac_many");
    for (size_t i = 0; i < COPIES; i++)
        CHECK(memcmp(tags + i * size, expected, size) == 0, "message %zu of %d equal ones", i, COPIES);
    CHECK(hl_hmac_init(&ctx, &key) == HL_OK && hl_hmac_update(&ctx, message->data, cut) == HL_OK, "hl_hmac_update");
    copy = ctx;
    CHECK(hl_hmac_update(&copy, "another", 7) == HL_OK && hl_hmac_final(&copy, tags) == HL_OK, "a copy");
    CHECK(memcmp(tags, expected, size) != 0, "a copy goes on by itself");
    CHECK(hl_hmac_update(&ctx, (const uint8_t *)message->data + cut, message->nbytes - cut) == HL_OK &&
              hl_hmac_final(&ctx, tags) == HL_OK && memcmp(tags, expected, size) == 0,
          "in two parts, %zu bytes cut at %zu", message->nbytes, cut);
    for (size_t n = 10; n <= size; n++)
        CHECK(hl_hmac_verify(&key, message->data, message->nbytes, expected, n) == HL_OK, "its first %zu bytes", n);
    hl_hmac_key_wipe(&key);
}

/* ---- Vectors ---- */

/* A tag of Wycheproof: cut, or wrong. */
static void check_verified(const hl_alg_info *alg, const hl_slice *secret, const hl_slice *message, const uint8_t *tag,
                           size_t tag_nbytes, hl_status wanted)
{
    hl_hmac_key key;

    CHECK(hl_hmac_key_init(&key, alg->alg, secret->data, secret->nbytes) == HL_OK &&
              hl_hmac_verify(&key, message->data, message->nbytes, tag, tag_nbytes) == wanted,
          "a key of %zu bytes, a message of %zu, a tag of %zu: not \"%s\"", secret->nbytes, message->nbytes,
          tag_nbytes, hl_strerror(wanted));
}

static void check_vectors(const hl_alg_info *alg, const char *file, unsigned wanted)
{
    static char path[512], line[4096];
    static uint8_t secret[512], message[512];
    uint8_t tag[HL_DIGEST_MAX_NBYTES];
    hl_slice key = {secret, 0}, data = {message, 0};
    size_t message_nbytes = 0, tag_nbytes = 0;
    unsigned n = 0;

    snprintf(path, sizeof path, "%s/%s", HASHLOOM_VECTORS, file);
    test_case("%s: %s", alg->name, file);
    FILE *f = fopen(path, "r");
    if (!CHECK(f != NULL, "%s cannot be read: vectors/README.md says where from", path))
        return;
    while (fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, "Len = ", 6) == 0)
            message_nbytes = (size_t)strtoull(line + 6, NULL, 10) / 8; /* a message of 0 bytes is written as 00 */
        else if (strncmp(line, "Key = ", 6) == 0)
            key.nbytes = from_hex(line + 6, secret, sizeof secret);
        else if (strncmp(line, "Msg = ", 6) == 0)
            data.nbytes =
                from_hex(line + 6, message, message_nbytes < sizeof message ? message_nbytes : sizeof message);
        else if (strncmp(line, "MD = ", 5) == 0 && ++n > 0 &&
                 (tag_nbytes = from_hex(line + 5, tag, sizeof tag)) == alg->digest_nbytes)
            check_tag(alg, &key, &data, tag);
        else if (strncmp(line, "MD = ", 5) == 0)
            check_verified(alg, &key, &data, tag, tag_nbytes, HL_OK);
        else if (strncmp(line, "Wrong MD = ", 11) == 0 && ++n > 0)
            check_verified(alg, &key, &data, tag, from_hex(line + 11, tag, sizeof tag), HL_ETAG);
    }
    fclose(f);
    CHECK(n == wanted, "%u vectors", n);
}

/* RFC 4231, test case 5: the first 128 bits. The files lack it. */
static void check_truncated(void)
{
    static const struct {
        hl_alg alg;
        const char *tag;
    } cases[] = {
        {HL_SHA224, "0e2aea68a90c8d37c988bcdb9fca6fa8"},
        {HL_SHA256, "a3b6167473100ee06e0c796c2955552b"},
        {HL_SHA384, "3abf34c3503b2a23a46efc619baef897"},
        {HL_SHA512, "415fad6271580a531d4179bc891d87a6"},
    };
    uint8_t secret[20], tag[16];
    hl_hmac_key key;

    test_case("RFC 4231, test case 5: tags of 128 bits");
    memset(secret, 0x0c, sizeof secret);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (!test_hmac(cases[i].alg, "RFC 4231, test case 5"))
            continue;
        hl_hmac_key_init(&key, cases[i].alg, secret, sizeof secret);
        from_hex(cases[i].tag, tag, sizeof tag);
        CHECK(hl_hmac_verify(&key, "Test With Truncation", 20, tag, sizeof tag) == HL_OK, "%s", cases[i].tag);
        tag[15] ^= 1;
        CHECK(hl_hmac_verify(&key, "Test With Truncation", 20, tag, sizeof tag) == HL_ETAG, "%s", cases[i].tag);
    }
}

/* ---- Streams side by side, and messages with a key each ---- */

static void check_streams(const hl_alg_info *alg, const hl_slice *messages, size_t count)
{
    static hl_hmac_ctx ctxs[COUNT], *all[COUNT];
    static hl_hmac_key keys[COUNT];
    static hl_slice chunks[COUNT];
    static uint8_t right[COUNT * HL_DIGEST_MAX_NBYTES], tags[COUNT * HL_DIGEST_MAX_NBYTES + 1];
    const size_t size = alg->digest_nbytes;

    memset(tags, POISON, sizeof tags);
    for (size_t i = 0; i < count; i++) {
        const uint8_t secret[3] = {(uint8_t)i, (uint8_t)(i >> 8), 7};
        CHECK(hl_hmac_key_init(&keys[i], alg->alg, secret, sizeof secret) == HL_OK, "hl_hmac_key_init");
        CHECK(hl_hmac(&keys[i], messages[i].data, messages[i].nbytes, right + i * size) == HL_OK, "hl_hmac");
        all[i] = &ctxs[i];
        CHECK(hl_hmac_init(all[i], &keys[i]) == HL_OK, "hl_hmac_init");
    }
    const hl_job job = {.nbytes = sizeof job, .messages = {.count = count, .base = messages}, .digests = tags,
                        .keys = keys, .key_stride = sizeof keys[0]};
    CHECK(hl_run(&job) == HL_OK && memcmp(tags, right, count * size) == 0, "hl_run of %zu with a key each", count);
    memset(tags, POISON, sizeof tags);
    for (unsigned part = 0; part < 2; part++) {
        for (size_t i = 0; i < count; i++) {
            const size_t cut = messages[i].nbytes * 2 / 3;
            chunks[i] = part == 0 ? (hl_slice){messages[i].data, cut}
                                  : (hl_slice){cut == 0 ? messages[i].data : (const uint8_t *)messages[i].data + cut,
                                               messages[i].nbytes - cut};
        }
        CHECK(hl_hmac_update_many(all, chunks, count) == HL_OK, "hl_hmac_update_many");
    }
    CHECK(hl_hmac_final_many(all, count, tags) == HL_OK && memcmp(tags, right, count * size) == 0,
          "hl_hmac_final_many of %zu", count);
    CHECK(tags[count * size] == POISON, "written beyond %zu tags", count);
    for (size_t i = 0; i < sizeof ctxs; i++)
        if (!CHECK(i >= count * sizeof ctxs[0] || ((const uint8_t *)ctxs)[i] == 0, "not wiped at %zu", i))
            break;
}

/* ---- Lengths ---- */

static void check_many(const hl_alg_info *alg, const hl_slice *secret, const hl_slice *messages, size_t count)
{
    static uint8_t tags[COUNT * HL_DIGEST_MAX_NBYTES + 1];
    uint8_t expected[HL_DIGEST_MAX_NBYTES];
    const size_t size = alg->digest_nbytes;
    hl_hmac_key key;

    memset(tags, POISON, sizeof tags);
    CHECK(hl_hmac_key_init(&key, alg->alg, secret->data, secret->nbytes) == HL_OK, "hl_hmac_key_init");
    CHECK(hl_hmac_many(&key, messages, count, tags) == HL_OK, "hl_hmac_many");
    for (size_t i = 0; i < count; i++) {
        oracle_hmac(alg, secret->data, secret->nbytes, messages[i].data, messages[i].nbytes, expected);
        CHECK(memcmp(tags + i * size, expected, size) == 0, "message %zu of %zu, %zu bytes, a key of %zu", i, count,
              messages[i].nbytes, secret->nbytes);
    }
    CHECK(tags[count * size] == POISON, "written beyond %zu tags", count);
    check_streams(alg, messages, count);
}

static void check_lengths(const hl_alg_info *alg, const char *isa)
{
    static hl_slice messages[COUNT];
    const uint8_t *pool = random_pool(COUNT * 2 + MESSAGE_MAX_NBYTES + KEY_MAX_NBYTES);
    const size_t block = alg->block_nbytes;

    test_case("%s, %s: every length to some blocks, and of keys", alg->name, isa);
    for (size_t key_nbytes = 0; key_nbytes <= 2 * block + 1; key_nbytes += key_nbytes % block == block - 1 ||
                                                                           key_nbytes % block == 0 ? 1 : 21) {
        const hl_slice secret = {key_nbytes == 0 ? NULL : pool + key_nbytes, key_nbytes};
        for (size_t i = 0; i < COUNT; i++)
            messages[i] = (hl_slice){pool + i, i};
        check_many(alg, &secret, messages, COUNT);
    }
    for (size_t key_nbytes = block - 1; key_nbytes <= block + 1; key_nbytes++)
        for (size_t nbytes = 0; nbytes <= 3 * block; nbytes += nbytes % block < 2 ? 1 : 13) {
            uint8_t expected[HL_DIGEST_MAX_NBYTES];
            const hl_slice secret = {pool, key_nbytes}, message = {pool + nbytes, nbytes};
            oracle_hmac(alg, secret.data, secret.nbytes, message.data, message.nbytes, expected);
            check_tag(alg, &secret, &message, expected);
        }
    for (size_t count = 0; count < 20; count++) /* few streams, of lengths from 13 * count on */
        check_streams(alg, messages + 13 * count, count);
}

/* ---- Misuse ---- */

static int is_zero(const void *p, size_t nbytes)
{
    size_t n = 0;

    while (n < nbytes && ((const uint8_t *)p)[n] == 0)
        n++;
    return n == nbytes;
}

static void check_misuse(const hl_alg_info *alg)
{
    const size_t size = alg->digest_nbytes;
    const hl_slice bad[2] = {{"abc", 3}, {NULL, 1}}, good[2] = {{"abc", 3}, {NULL, 0}};
    uint8_t tag[2 * HL_DIGEST_MAX_NBYTES], kept[2 * HL_DIGEST_MAX_NBYTES];
    hl_hmac_key key, none, before;
    hl_hmac_ctx ctx;

    test_case("%s: refused calls write nothing", alg->name);
    memset(&none, 0, sizeof none);
    memset(&before, POISON, sizeof before);
    memset(tag, POISON, sizeof tag);
    memcpy(kept, tag, sizeof kept);
    key = before;
    CHECK(hl_hmac_key_init(NULL, alg->alg, "k", 1) == HL_ENULL, "no key");
    CHECK(hl_hmac_key_init(&key, (hl_alg)99, "k", 1) == HL_EALG, "no such algorithm");
    CHECK(hl_hmac_key_init(&key, alg->alg, NULL, 1) == HL_ENULL, "no secret");
#if SIZE_MAX > UINT32_MAX
    CHECK(hl_hmac_key_init(&key, alg->alg, "k", HL_MESSAGE_MAX_NBYTES + 1) == HL_ELENGTH, "a secret too long");
#endif
    CHECK(memcmp(&key, &before, sizeof key) == 0, "the key changed");
    CHECK(hl_hmac_key_init(&key, alg->alg, NULL, 0) == HL_OK, "an empty secret");

    CHECK(hl_hmac(NULL, "a", 1, tag) == HL_ENULL && hl_hmac(&none, "a", 1, tag) == HL_ESTATE &&
              hl_hmac(&before, "a", 1, tag) == HL_ESTATE && hl_hmac(&key, NULL, 1, tag) == HL_ENULL &&
              hl_hmac(&key, "a", 1, NULL) == HL_ENULL,
          "hl_hmac");
    CHECK(hl_hmac_many(NULL, good, 2, tag) == HL_ENULL && hl_hmac_many(&none, good, 2, tag) == HL_ESTATE &&
              hl_hmac_many(&key, NULL, 2, tag) == HL_ENULL && hl_hmac_many(&key, bad, 2, tag) == HL_ENULL &&
              hl_hmac_many(&key, good, 2, NULL) == HL_ENULL && hl_hmac_many(&key, good, SIZE_MAX, tag) == HL_ELENGTH,
          "hl_hmac_many");
#if SIZE_MAX > UINT32_MAX
    const hl_slice longest[2] = {{"abc", 3}, {"abc", (size_t)HL_MESSAGE_MAX_NBYTES - alg->block_nbytes + 1}};
    CHECK(hl_hmac_many(&key, longest, 2, tag) == HL_ELENGTH, "a message too long");
#endif
    CHECK(hl_hmac_many(&key, NULL, 0, NULL) == HL_OK && hl_hmac_many(&key, good, 0, tag) == HL_OK, "no messages");
    CHECK(hl_hmac_init(NULL, &key) == HL_ENULL && hl_hmac_init(&ctx, NULL) == HL_ENULL &&
              hl_hmac_init(&ctx, &none) == HL_ESTATE && hl_hmac_update(NULL, "a", 1) == HL_ENULL &&
              hl_hmac_final(NULL, tag) == HL_ENULL,
          "streams");
    hl_hmac_ctx *pair[2] = {&ctx, NULL}, other;
    CHECK(hl_hmac_init(&ctx, &key) == HL_OK, "hl_hmac_init");
    CHECK(hl_hmac_update_many(NULL, good, 2) == HL_ENULL && hl_hmac_update_many(pair, good, 2) == HL_ENULL &&
              hl_hmac_final_many(NULL, 2, tag) == HL_ENULL && hl_hmac_final_many(pair, 2, tag) == HL_ENULL &&
              hl_hmac_update_many(pair, NULL, 1) == HL_ENULL && hl_hmac_update_many(pair, good, SIZE_MAX) == HL_ELENGTH,
          "streams side by side");
    pair[1] = &other;
    hl_hmac_key_init(&none, other_alg(alg), "k", 1);
    hl_hmac_init(&other, &none);
    if (has_other(alg, "streams of two algorithms"))
        CHECK(hl_hmac_update_many(pair, good, 2) == HL_ESTATE && hl_hmac_final_many(pair, 2, tag) == HL_ESTATE,
              "streams of two algorithms");
    memset(&other, 0, sizeof other);
    CHECK(hl_hmac_update_many(pair, good, 2) == HL_ESTATE, "a stream that was never begun");
    CHECK(hl_hmac_update_many(NULL, NULL, 0) == HL_OK && hl_hmac_final_many(NULL, 0, NULL) == HL_OK, "no streams");
    memset(&none, 0, sizeof none);
    memset(&ctx, 0, sizeof ctx);
    CHECK(hl_hmac_update(&ctx, "a", 1) == HL_ESTATE && hl_hmac_final(&ctx, tag) == HL_ESTATE, "a context of zeros");
    hl_init(&ctx.inner, alg->alg); /* a plain hash */
    CHECK(hl_hmac_final(&ctx, tag) == HL_ESTATE, "a context without a key");
    CHECK(hl_hmac_init(&ctx, &key) == HL_OK && hl_hmac_update(&ctx, NULL, 1) == HL_ENULL &&
              hl_hmac_final(&ctx, NULL) == HL_ENULL,
          "streams");
    ctx.inner.nbytes = HL_MESSAGE_MAX_NBYTES - 2;
    CHECK(hl_hmac_update(&ctx, "abc", 3) == HL_ELENGTH, "no byte beyond the limit");
    CHECK(memcmp(tag, kept, sizeof tag) == 0, "tags were written");

    test_case("%s: wrong tags, in length and in every bit", alg->name);
    CHECK(hl_hmac(&key, "abc", 3, tag) == HL_OK, "hl_hmac");
    CHECK(hl_hmac_verify(&key, "abc", 3, tag, size) == HL_OK && hl_hmac_verify(&key, "abd", 3, tag, size) == HL_ETAG,
          "another message");
    for (size_t n = 0; n <= size + 2; n++)
        CHECK(hl_hmac_verify(&key, "abc", 3, tag, n) == (n < 10 || n > size ? HL_ELENGTH : HL_OK), "%zu bytes", n);
    CHECK(hl_hmac_verify(&key, "abc", 3, tag, SIZE_MAX) == HL_ELENGTH &&
              hl_hmac_verify(NULL, "", 0, tag, 16) == HL_ENULL &&
              hl_hmac_verify(&key, "", 0, NULL, 16) == HL_ENULL && hl_hmac_verify(&key, NULL, 1, tag, 16) == HL_ENULL &&
              hl_hmac_verify(&none, "", 0, tag, 16) == HL_ESTATE,
          "hl_hmac_verify");
    for (size_t bit = 0; bit < 8 * size; bit++) {
        tag[bit / 8] ^= 1u << bit % 8;
        CHECK(hl_hmac_verify(&key, "abc", 3, tag, size) == HL_ETAG, "bit %zu", bit);
        CHECK(hl_hmac_verify(&key, "abc", 3, tag, 10) == (bit < 80 ? HL_ETAG : HL_OK), "bit %zu of 80", bit);
        tag[bit / 8] ^= 1u << bit % 8;
    }

    test_case("%s: final contexts and wiped keys are zeros", alg->name);
    CHECK(hl_hmac_init(&ctx, &key) == HL_OK && hl_hmac_final(&ctx, tag) == HL_OK, "a stream");
    CHECK(is_zero(&ctx, sizeof ctx) && hl_hmac_final(&ctx, tag) == HL_ESTATE, "the context");
    hl_hmac_key_wipe(&key);
    hl_hmac_key_wipe(NULL);
    CHECK(is_zero(&key, sizeof key) && hl_hmac(&key, "", 0, tag) == HL_ESTATE, "the key");
}

/* An XOF has no HMAC. */
static void check_none(const hl_alg_info *alg)
{
    uint8_t tag[HL_DIGEST_MAX_NBYTES], kept[HL_DIGEST_MAX_NBYTES];
    hl_hmac_key key, kept_key;
    hl_hmac_ctx ctx;
    hl_hmac_ctx *const one = &ctx;
    const hl_slice message = {"abc", 3};

    test_case("%s: no HMAC", alg->name);
    memset(&key, POISON, sizeof key), memset(tag, POISON, sizeof tag);
    kept_key = key, memcpy(kept, tag, sizeof kept);
    CHECK(hl_hmac_key_init(&key, alg->alg, "k", 1) == HL_EALG && hl_hmac_key_init(&key, alg->alg, NULL, 0) == HL_EALG &&
              memcmp(&key, &kept_key, sizeof key) == 0,
          "hl_hmac_key_init");
    memset(&key, 0, sizeof key), memset(&ctx, 0, sizeof ctx);
    key.alg = (uint32_t)alg->alg; /* no call makes such a key */
    ctx.inner.alg = key.alg, ctx.inner.nbytes = alg->block_nbytes;
    CHECK(hl_hmac(&key, "abc", 3, tag) == HL_ESTATE && hl_hmac_many(&key, &message, 1, tag) == HL_ESTATE &&
              hl_hmac_verify(&key, "abc", 3, tag, 16) == HL_ESTATE && hl_hmac_init(&ctx, &key) == HL_ESTATE &&
              hl_hmac_update(&ctx, "abc", 3) == HL_ESTATE && hl_hmac_update_many(&one, &message, 1) == HL_ESTATE &&
              hl_hmac_final(&ctx, tag) == HL_ESTATE && hl_hmac_final_many(&one, 1, tag) == HL_ESTATE,
          "a key that cannot be");
    CHECK(memcmp(tag, kept, sizeof tag) == 0, "a tag was written");
}

static void check_equal(void)
{
    uint8_t a[100], b[100];

    test_case("hl_equal");
    random_fill(a, sizeof a);
    memcpy(b, a, sizeof b);
    CHECK(hl_equal(NULL, NULL, 0) == 1 && hl_equal(a, b, sizeof a) == 1, "equal");
    for (size_t bit = 0; bit < 8 * sizeof a; bit++) {
        b[bit / 8] ^= 1u << bit % 8;
        CHECK(hl_equal(a, b, sizeof a) == 0 && hl_equal(a, b, bit / 8) == 1 && hl_equal(a, b, bit / 8 + 1) == 0,
              "bit %zu", bit);
        b[bit / 8] ^= 1u << bit % 8;
    }
}

int main(int argc, char **argv)
{
    static const struct {
        hl_alg alg;
        const char *file;
        unsigned n;
    } files[] = {
        {HL_SHA1, "hmac-rfc/rfc-2202-sha1.txt", 7},     {HL_MD5, "hmac-rfc/rfc-2202-md5.txt", 7},
        {HL_RIPEMD160, "hmac-rfc/rfc-2286-ripemd160.txt", 7},
        {HL_SHA224, "hmac-rfc/rfc-4231-sha224.txt", 6}, {HL_SHA256, "hmac-rfc/rfc-4231-sha256.txt", 6},
        {HL_SHA384, "hmac-rfc/rfc-4231-sha384.txt", 6}, {HL_SHA512, "hmac-rfc/rfc-4231-sha512.txt", 6},
        {HL_SHA3_224, "hmac-wycheproof/hmac_sha3_224.txt", 172},
        {HL_SHA3_256, "hmac-wycheproof/hmac_sha3_256.txt", 174},
        {HL_SHA3_384, "hmac-wycheproof/hmac_sha3_384.txt", 174},
        {HL_SHA3_512, "hmac-wycheproof/hmac_sha3_512.txt", 174},
    };

    test_start(argc, argv);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (test_hmac(files[i].alg, files[i].file))
            check_vectors(hl_alg_find(files[i].alg), files[i].file, files[i].n);
    check_truncated();
    check_equal();
    for (size_t a = 0; a < hl_alg_count(); a++) {
        const hl_alg_info *alg = hl_alg_at(a);
        if (!has_hmac(alg)) {
            check_none(alg);
            continue;
        }
        for (size_t i = 0; i <= hl_isa_count(); i++) {
            const char *isa = test_isa(i, "HMAC of %s", alg->name);
            if (isa == NULL)
                continue;
            check_lengths(alg, isa);
        }
        hl_restrict(0);
        check_misuse(alg);
    }
    return test_end();
}
