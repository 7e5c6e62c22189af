/* streams.c: messages in parts: every cut, contexts and chunks beside forbidden pages, and byte counts preset to 32-bit
 * limits and the greatest length; digests in parts. fuzz/hash_many.c splits many streams at random.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "test.h"

enum { MESSAGE_MAX_NBYTES = 6000, LONG_NBYTES = 1500, POISON = 0xa5 };

/* Every way to cut a message of up to 3 blocks in two, in chunks that end at a forbidden page. The context, which
 * hl_init does not write whole, begins with other bytes than zeros. */
static void check_cuts(const hl_alg_info *alg)
{
    const size_t max = 3 * alg->block_nbytes + 1;
    const struct guarded memory = guard_new(max);

    random_fill(memory.begin, (size_t)(memory.end - memory.begin));
    for (size_t nbytes = 0; nbytes <= max; nbytes += nbytes < 2 * alg->block_nbytes ? 1 : 13) {
        uint8_t expected[HL_DIGEST_MAX_NBYTES], found[HL_DIGEST_MAX_NBYTES];
        const uint8_t *message = memory.end - nbytes;
        oracle(alg, message, nbytes, expected);
        for (size_t cut = 0; cut <= nbytes; cut++) {
            hl_ctx ctx;
            memset(&ctx, 0xa5, sizeof ctx);
            CHECK(hl_init(&ctx, alg->alg) == HL_OK && hl_update(&ctx, message, cut) == HL_OK &&
                      hl_update(&ctx, message + cut, nbytes - cut) == HL_OK && hl_final(&ctx, found) == HL_OK,
                  "%zu bytes cut at %zu", nbytes, cut);
            CHECK(memcmp(found, expected, alg->digest_nbytes) == 0, "%zu bytes cut at %zu", nbytes, cut);
        }
    }
    guard_free(memory);
}

/* Byte counts that a test cannot reach: the context is set to the count, with any state. Only the counter matters. */
static void check_counts(const hl_alg_info *alg)
{
    static const uint64_t edges[] = {
        UINT64_C(1) << 29, /* 2^32 bits */
        UINT64_C(1) << 31, UINT64_C(1) << 32, UINT64_C(1) << 35, UINT64_C(1) << 53, UINT64_C(1) << 60,
    };
    enum { NEDGES = sizeof edges / sizeof edges[0], NEAR = 7, COUNT = NEDGES * NEAR };
    static hl_ctx ctxs[COUNT], *all[COUNT];
    static struct reference_ctx refs[COUNT];
    static uint8_t digests[COUNT * HL_DIGEST_MAX_NBYTES];
    hl_slice chunks[COUNT];
    const uint8_t *pool = random_pool(100000);

    for (size_t round = 0; round < share_of(20); round++) {
        for (size_t i = 0; i < COUNT; i++) {
            const uint64_t nbytes = edges[i / NEAR] + (i % NEAR - NEAR / 2) * alg->block_nbytes +
                                    random_below(alg->block_nbytes);
            all[i] = &ctxs[i];
            hl_init(&ctxs[i], alg->alg);
            ctxs[i].nbytes = nbytes;
            reference_init(&refs[i], reference_of(alg));
            refs[i].nbytes = nbytes;
            random_fill(ctxs[i].block, nbytes % alg->block_nbytes);
            memcpy(refs[i].block, ctxs[i].block, nbytes % alg->block_nbytes);
            chunks[i] = (hl_slice){pool + 100 * i, random_below(600)};
            reference_update(&refs[i], chunks[i].data, chunks[i].nbytes);
        }
        CHECK(hl_update_many(all, chunks, COUNT) == HL_OK, "hl_update_many");
        for (size_t i = 0; i < COUNT; i++)
            CHECK(ctxs[i].nbytes == refs[i].nbytes, "count %llu", (unsigned long long)ctxs[i].nbytes);
        CHECK(hl_final_many(all, COUNT, digests) == HL_OK, "hl_final_many");
        for (size_t i = 0; i < COUNT; i++) {
            uint8_t expected[HL_DIGEST_MAX_NBYTES];
            const unsigned long long nbytes = refs[i].nbytes;
            reference_final(&refs[i], expected);
            CHECK(memcmp(expected, digests + i * alg->digest_nbytes, alg->digest_nbytes) == 0, "%llu bytes", nbytes);
        }
    }

    test_case("%s: no byte beyond the limit", alg->name);
    for (size_t room = 0; room < 200; room += 7) {
        uint8_t expected[HL_DIGEST_MAX_NBYTES], found[HL_DIGEST_MAX_NBYTES];
        struct reference_ctx ref;
        hl_ctx ctx, kept;
        hl_init(&ctx, alg->alg);
        reference_init(&ref, reference_of(alg));
        ctx.nbytes = ref.nbytes = HL_MESSAGE_MAX_NBYTES - room;
        memset(ctx.block, 0, sizeof ctx.block);
        memset(ref.block, 0, sizeof ref.block);
        kept = ctx;
        CHECK(hl_update(&ctx, pool, room + 1) == HL_ELENGTH && memcmp(&ctx, &kept, sizeof ctx) == 0,
              "one more than the %zu left", room);
        CHECK(hl_update(&ctx, pool, room) == HL_OK, "the %zu left", room);
        CHECK(hl_update(&ctx, pool, 1) == HL_ELENGTH && hl_update(&ctx, NULL, 0) == HL_OK, "no byte left");
        reference_update(&ref, pool, room);
        reference_final(&ref, expected);
        CHECK(hl_final(&ctx, found) == HL_OK && memcmp(expected, found, alg->digest_nbytes) == 0, "%zu left", room);
    }
}

/* The digest of an XOF in parts of any length. The context and each part end at a forbidden page. */
static void check_squeeze(const hl_alg_info *alg, size_t nbytes, size_t part_max)
{
    static uint8_t expected[LONG_NBYTES], found[LONG_NBYTES];
    const uint8_t *message = random_pool(MESSAGE_MAX_NBYTES);
    const struct guarded ctx_memory = guard_new(sizeof(hl_ctx)), memory = guard_new(LONG_NBYTES);
    hl_ctx *const ctx = (hl_ctx *)(void *)(ctx_memory.end - sizeof *ctx), copy;
    size_t at = 0, ncopied;

    oracle_long(alg, message, nbytes, expected, LONG_NBYTES);
    memset(ctx, POISON, sizeof *ctx);
    CHECK(hl_init(ctx, alg->alg) == HL_OK && hl_update(ctx, message, nbytes / 3) == HL_OK &&
              hl_update(ctx, message + nbytes / 3, nbytes - nbytes / 3) == HL_OK, "a stream of %zu bytes", nbytes);
    const size_t cut = random_below(LONG_NBYTES); /* from the part that holds this place, a copy goes on as well */
    copy = *ctx;
    ncopied = 0;
    while (at < LONG_NBYTES) {
        const size_t part = random_below(part_max + 1), left = LONG_NBYTES - at, n = part < left ? part : left;
        uint8_t *const to = memory.end - n;
        memset(memory.begin, POISON, (size_t)(memory.end - memory.begin));
        CHECK(hl_squeeze(ctx, n == 0 ? NULL : to, n) == HL_OK, "%zu bytes at %zu", n, at);
        CHECK(memcmp(to, expected + at, n) == 0, "%zu bytes of digest at %zu, after %zu of message", n, at, nbytes);
        CHECK(to == memory.begin || to[-1] == POISON, "written before the digest");
        at += n;
        if (at <= cut) {
            copy = *ctx;
            ncopied = at;
        }
    }
    CHECK(hl_squeeze(&copy, found, LONG_NBYTES - ncopied) == HL_OK &&
              memcmp(found, expected + ncopied, LONG_NBYTES - ncopied) == 0, "a copy from %zu on", ncopied);
    CHECK(hl_init(ctx, alg->alg) == HL_OK && hl_update(ctx, message, nbytes) == HL_OK &&
              hl_final(ctx, found) == HL_OK && memcmp(found, expected, alg->digest_nbytes) == 0,
          "a new message, and a digest of the usual length");
    guard_free(ctx_memory), guard_free(memory);
}

static void check_squeezes(const hl_alg_info *alg)
{
    static const size_t parts[] = {1, 7, 40, 200, LONG_NBYTES};

    for (size_t nbytes = 0; nbytes <= 2 * alg->block_nbytes + 1; nbytes++)
        for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
            if (in_share(nbytes + p) || nbytes % alg->block_nbytes + 1 >= alg->block_nbytes)
                check_squeeze(alg, nbytes, parts[p]);
    check_squeeze(alg, MESSAGE_MAX_NBYTES, LONG_NBYTES);
}

/* Once its digest is squeezed, all calls refuse the context and leave it as it is. hl_squeeze refuses contexts of other
 * algorithms. */
static void check_squeeze_errors(const hl_alg_info *alg)
{
    uint8_t digest[2 * HL_DIGEST_MAX_NBYTES], kept_digest[sizeof digest], bytes[HL_EXPORT_MAX_NBYTES];
    hl_ctx ctx, other, kept, *pair[2] = {&other, &ctx};
    const hl_slice chunks[2] = {{"abc", 3}, {"def", 3}};
    size_t nbytes = 77;

#define REFUSED(call, status) \
    do { \
        kept = ctx; \
        CHECK((call) == (status), "%s: not %s", #call, #status); \
        CHECK(memcmp(&ctx, &kept, sizeof ctx) == 0 && memcmp(digest, kept_digest, sizeof digest) == 0, \
              "%s: something was written", #call); \
    } while (0)
    memset(digest, POISON, sizeof digest);
    memcpy(kept_digest, digest, sizeof digest);
    memset(&ctx, 0, sizeof ctx);
    REFUSED(hl_squeeze(NULL, digest, 1), HL_ENULL);
    REFUSED(hl_squeeze(&ctx, digest, 1), HL_ESTATE);
    hl_init(&ctx, alg->alg);
    hl_update(&ctx, "abc", 3);
    if (alg->ending != HL_XOF) {
        REFUSED(hl_squeeze(&ctx, digest, 1), HL_EALG);
        REFUSED(hl_squeeze(&ctx, NULL, 0), HL_EALG);
        CHECK(hl_update(&ctx, "abc", 3) == HL_OK && hl_final(&ctx, digest) == HL_OK, "it goes on");
        memcpy(digest, kept_digest, sizeof digest);
        REFUSED(hl_squeeze(&ctx, digest, 1), HL_ESTATE);
        return;
    }
    REFUSED(hl_squeeze(&ctx, NULL, 1), HL_ENULL);
#if SIZE_MAX > UINT32_MAX
    REFUSED(hl_squeeze(&ctx, digest, (size_t)HL_MESSAGE_MAX_NBYTES + 1), HL_ELENGTH);
#endif
    other = ctx;
    other.nbytes = HL_MESSAGE_MAX_NBYTES + 1;
    CHECK(hl_squeeze(&other, digest, 1) == HL_ESTATE, "too long");
    for (size_t n = 0; n <= 200; n += 100) { /* also after no byte */
        CHECK(hl_squeeze(&ctx, digest, n % (sizeof digest)) == HL_OK, "%zu bytes", n);
        memcpy(kept_digest, digest, sizeof digest);
        hl_init(&other, alg->alg);
        const hl_job job = {.nbytes = sizeof job, .alg = (uint32_t)alg->alg, .digests = digest, .begin = &ctx,
                            .messages = {.count = 2, .base = chunks}};
        REFUSED(hl_update(&ctx, "abc", 3), HL_ESTATE);
        REFUSED(hl_update(&ctx, NULL, 0), HL_ESTATE);
        REFUSED(hl_final(&ctx, digest), HL_ESTATE);
        REFUSED(hl_update_many(pair, chunks, 2), HL_ESTATE);
        REFUSED(hl_final_many(pair, 2, digest), HL_ESTATE);
        REFUSED(hl_update_many(pair + 1, chunks, 1), HL_ESTATE);
        REFUSED(hl_final_many(pair + 1, 1, digest), HL_ESTATE);
        REFUSED(hl_export(&ctx, bytes, sizeof bytes, &nbytes), HL_ESTATE);
        REFUSED(hl_run(&job), HL_ESTATE);
        REFUSED(hl_squeeze(&ctx, NULL, 1), HL_ENULL);
#if SIZE_MAX > UINT32_MAX
        REFUSED(hl_squeeze(&ctx, digest, (size_t)HL_MESSAGE_MAX_NBYTES + 1), HL_ELENGTH);
#endif
        CHECK(nbytes == 77 && other.nbytes == 0, "written");
    }
#undef REFUSED
}

int main(int argc, char **argv)
{
    test_start(argc, argv);
    for (size_t a = 0; a < hl_alg_count(); a++) {
        const hl_alg_info *alg = hl_alg_at(a);
        for (size_t i = 0; has_ctx(alg) && i <= hl_isa_count(); i++) {
            const char *isa = test_isa(i, "streams of %s", alg->name);
            if (isa == NULL)
                continue;
            test_case("every cut of %s, %s", alg->name, isa);
            check_cuts(alg);
            if (alg->ending == HL_XOF) {
                test_case("digests of %s in parts, %s", alg->name, isa);
                check_squeezes(alg);
            }
        }
        hl_restrict(0);
        if (!has_ctx(alg))
            continue;
        test_case("%s: contexts that hl_squeeze, and that other calls refuse", alg->name);
        check_squeeze_errors(alg);
        test_case("%s: byte counts beyond 32 bits", alg->name);
        check_counts(alg);
    }
    return test_end();
}
