/* search.c: hl_search finds exactly the nonces that the oracle's digests say, for any prefix, suffix, digits, orders
 * and targets, on every instruction set; real block headers; refused calls.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "test.h"

enum { MAX_FOUND = 3000, POOL_NBYTES = 1000 };

static uint64_t found[MAX_FOUND + 1];

/* The message of a nonce, as hashloom.h says. Returns its length. */
static size_t write_message(const hl_search_job *job, uint64_t nonce, uint8_t *message)
{
    const uint64_t base = job->base == 0 ? 256 : job->base;
    uint8_t digits[64];
    size_t n = 0, at = job->prefix_nbytes;

    do {
        digits[n++] = (uint8_t)(nonce % base);
        nonce /= base;
    } while (nonce > 0);
    while (n < job->nonce_width)
        digits[n++] = 0;
    if (job->prefix_nbytes > 0)
        memcpy(message, job->prefix, job->prefix_nbytes);
    for (size_t i = 0; i < n; i++) {
        const uint8_t digit = digits[job->nonce_order == HL_LEAST_FIRST ? i : n - 1 - i];
        message[at++] = job->alphabet == NULL ? digit : ((const uint8_t *)job->alphabet)[digit];
    }
    if (job->suffix_nbytes > 0)
        memcpy(message + at, job->suffix, job->suffix_nbytes);
    return at + job->suffix_nbytes;
}

static int is_low(const hl_search_job *job, uint64_t nonce)
{
    uint8_t message[2 * POOL_NBYTES + 64], digest[HL_DIGEST_MAX_NBYTES], again[HL_DIGEST_MAX_NBYTES];
    const hl_alg_info *alg = hl_alg_find((hl_alg)job->alg);
    const size_t nbytes = write_message(job, nonce, message);

    oracle(alg, message, nbytes, digest);
    if (job->again != 0) {
        memcpy(again, digest, sizeof again);
        oracle(hl_alg_find((hl_alg)job->again), again, alg->digest_nbytes, digest);
        alg = hl_alg_find((hl_alg)job->again);
    }
    for (size_t i = 0; i < alg->digest_nbytes; i++) {
        const uint8_t x = digest[job->digest_order == HL_LEAST_FIRST ? alg->digest_nbytes - 1 - i : i];
        if (x != job->target[i])
            return x < job->target[i];
    }
    return 1;
}

static void check_random(const hl_alg_info *alg, const uint8_t *pool)
{
    uint8_t alphabet[256];
    hl_search_job job = {.nbytes = sizeof job, .alg = (uint32_t)alg->alg};
    size_t room = random_below(3) > 0 ? MAX_FOUND : random_below(20), nfound = SIZE_MAX, n = 0;

    for (size_t i = 0; i < sizeof alphabet; i++)
        alphabet[i] = (uint8_t)(7 * i + 3);
    if (random_below(3) == 0) {
        const hl_alg_info *again = hl_alg_at(random_below(hl_alg_count()));
        job.again = (uint32_t)(is_searchable(again) ? again : alg)->alg;
    }
    job.prefix_nbytes = random_below(300);
    job.prefix = job.prefix_nbytes == 0 ? NULL : pool + random_below(64);
    job.suffix_nbytes = random_below(4) > 0 ? random_below(80) : random_below(600);
    job.suffix = job.suffix_nbytes == 0 ? NULL : pool + random_below(64);
    if (random_below(2) == 0) {
        job.alphabet = alphabet;
        job.base = (uint32_t)(2 + random_below(random_below(2) == 0 ? 255 : 20));
    }
    job.nonce_order = (uint32_t)random_below(2);
    job.digest_order = (uint32_t)random_below(2);
    const uint64_t span = random_below(share_of(2000));
    job.first = random64() >> random_below(64);
    job.first -= job.first + span < span ? span : 0;
    job.last = job.first + span;
    if (random_below(2) == 0) {
        unsigned ndigits = 1;
        for (uint64_t x = job.last, base = job.base == 0 ? 256 : job.base; x >= base; x /= base)
            ndigits++;
        job.nonce_width = (uint32_t)(ndigits + random_below(65 - ndigits));
    }
    random_fill(job.target, sizeof job.target);
    job.target[0] = (uint8_t)(job.target[0] >> random_below(9));

    if (!CHECK(hl_search(&job, found, room, &nfound) == HL_OK, "hl_search"))
        return;
    for (uint64_t nonce = job.first;; nonce++) {
        if (n < room && is_low(&job, nonce)) {
            CHECK(n < nfound && found[n] == nonce, "nonce %zu is not %llu", n, (unsigned long long)nonce);
            n++;
        }
        if (nonce == job.last)
            break;
    }
    CHECK(n == nfound, "%zu nonces, not %zu", nfound, n);
}

/* Headers of Bitcoin's blocks 0 and 125552, up to the nonce. */
static void check_headers(void)
{
    static const struct {
        const char *header, *target;
        uint32_t nonce;
    } blocks[] = {
        {"01000000"
         "0000000000000000000000000000000000000000000000000000000000000000"
         "3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a"
         "29ab5f49ffff001d",
         "00000000ffff0000000000000000000000000000000000000000000000000000", 2083236893},
        {"01000000"
         "81cd02ab7e569e8bcd9317e2fe99f2de44d49ab2b8851ba4a308000000000000"
         "e320b6c2fffc8d750423db8b1eb942ae710e951ed797f7affc8892b0f1fc122b"
         "c7f5d74df2b9441a",
         "00000000000044b9f20000000000000000000000000000000000000000000000", 2504433986},
    };

    for (size_t b = 0; b < sizeof blocks / sizeof blocks[0] && test_alg(HL_SHA256, "block headers") &&
         has_calls(hl_search(NULL, NULL, 0, NULL)); b++) {
        const uint32_t nonce = blocks[b].nonce;
        uint8_t header[76];
        hl_search_job job = {.nbytes = sizeof job, .alg = HL_SHA256, .again = HL_SHA256, .prefix = header,
                             .prefix_nbytes = sizeof header, .nonce_width = 4, .nonce_order = HL_LEAST_FIRST,
                             .digest_order = HL_LEAST_FIRST, .first = nonce - 1000, .last = nonce + 1000};
        size_t nfound = 0;
        from_hex(blocks[b].header, header, sizeof header);
        from_hex(blocks[b].target, job.target, sizeof job.target);
        test_case("the header with nonce %lu", (unsigned long)nonce);
        CHECK(hl_search(&job, found, MAX_FOUND, &nfound) == HL_OK, "hl_search");
        CHECK(nfound == 1 && found[0] == nonce, "%zu found, the first is %llu", nfound, (unsigned long long)found[0]);
    }
}

/* The first algorithm that searches. */
static const hl_alg_info *strengthened(void)
{
    for (size_t a = 0; a < hl_alg_count(); a++)
        if (is_searchable(hl_alg_at(a)))
            return hl_alg_at(a);
    return NULL;
}

/* The search refuses the others, as the first hash and as the second. */
static void check_sponges(void)
{
    for (size_t a = 0; a < hl_alg_count(); a++) {
        hl_search_job job = {.nbytes = sizeof job, .alg = (uint32_t)hl_alg_at(a)->alg, .prefix = "abc",
                             .prefix_nbytes = 3, .last = 9};
        size_t nfound = 12345;
        if (is_searchable(hl_alg_at(a)))
            continue;
        test_case("%s: no search", hl_alg_at(a)->name);
        for (size_t again = 0; again <= hl_alg_count(); again++) {
            job.again = again == hl_alg_count() ? 0 : (uint32_t)hl_alg_at(again)->alg;
            CHECK(hl_search(&job, found, 1, &nfound) == HL_EALG && nfound == 12345, "again %u", (unsigned)job.again);
        }
        job.again = job.alg;
        for (size_t first = 0; first < hl_alg_count(); first++) {
            job.alg = (uint32_t)hl_alg_at(first)->alg;
            CHECK(hl_search(&job, found, 1, &nfound) == HL_EALG && nfound == 12345, "after %s", hl_alg_at(first)->name);
        }
    }
}

static void check_refused(void)
{
    const hl_search_job good = {.nbytes = sizeof good, .alg = strengthened()->alg, .prefix = "abc", .prefix_nbytes = 3,
                                .alphabet = "0123456789", .base = 10, .nonce_width = 3, .last = 999};
    struct {
        hl_search_job job;
        uint8_t later[8];
    } longer = {.job = good};
    size_t nfound = 12345;

#define REFUSED(status, ...) \
    do { \
        hl_search_job job = good; \
        __VA_ARGS__; \
        CHECK(hl_search(&job, found, 1, &nfound) == (status) && nfound == 12345, "%s: not %s", #__VA_ARGS__, #status); \
    } while (0)
    test_case("refused searches");
    CHECK(hl_search(NULL, found, 1, &nfound) == HL_ENULL, "no job");
    CHECK(hl_search(&good, NULL, 1, &nfound) == HL_ENULL, "no room for nonces");
    CHECK(hl_search(&good, found, 1, NULL) == HL_ENULL, "no room for their number");
    REFUSED(HL_EJOB, job.nbytes--);
    REFUSED(HL_EALG, job.alg = 0);
    REFUSED(HL_EALG, job.again = 99);
    REFUSED(HL_ENULL, job.prefix = NULL);
    REFUSED(HL_ENULL, job.suffix_nbytes = 1);
    REFUSED(HL_EJOB, job.alphabet = NULL);
    REFUSED(HL_EJOB, job.base = 1);
    REFUSED(HL_EJOB, job.base = 0);
    REFUSED(HL_EJOB, job.base = 257);
    REFUSED(HL_EJOB, job.nonce_width = 65);
    REFUSED(HL_EJOB, job.nonce_order = 2);
    REFUSED(HL_EJOB, job.digest_order = 2);
    REFUSED(HL_EJOB, job.first = 1000);
    REFUSED(HL_EJOB, job.last = 1000);
#if SIZE_MAX > UINT32_MAX
    REFUSED(HL_ELENGTH, job.prefix_nbytes = (size_t)HL_MESSAGE_MAX_NBYTES - 63);
    REFUSED(HL_ELENGTH, (job.suffix = "abc", job.suffix_nbytes = (size_t)HL_MESSAGE_MAX_NBYTES - 66));
#endif
    longer.job.nbytes = sizeof longer;
    CHECK(hl_search(&longer.job, found, 1, &nfound) == HL_OK && nfound == 0, "a later version's job");
    longer.later[3] = 1;
    CHECK(hl_search(&longer.job, found, 1, &nfound) == HL_EJOB, "a field of a later version");
    nfound = 12345;
    CHECK(hl_search(&good, NULL, 0, &nfound) == HL_OK && nfound == 0, "no room wanted");

    test_case("the whole range of nonces has its end");
    hl_search_job ends = good;
    ends.nonce_width = 0;
    ends.first = UINT64_MAX - 40;
    ends.last = UINT64_MAX;
    memset(ends.target, 0xff, sizeof ends.target);
    CHECK(hl_search(&ends, found, MAX_FOUND, &nfound) == HL_OK && nfound == 41 && found[40] == UINT64_MAX,
          "%zu nonces", nfound);
}

int main(int argc, char **argv)
{
    test_start(argc, argv);
    const uint8_t *pool = random_pool(POOL_NBYTES);
    for (size_t a = 0; a < hl_alg_count(); a++) {
        const hl_alg_info *alg = hl_alg_at(a);
        for (size_t i = 0; is_searchable(alg) && i <= hl_isa_count(); i++) {
            const char *isa = test_isa(i, "search by %s", alg->name);
            if (isa == NULL)
                continue;
            test_case("%s, %s: exactly the nonces whose digest is low enough", alg->name, isa);
            for (size_t round = 0; round < share_of(test_all ? 200 : 12); round++)
                check_random(alg, pool);
        }
        hl_restrict(0);
    }
    check_headers();
    check_sponges();
    if (strengthened() != NULL)
        check_refused();
    return test_end();
}
