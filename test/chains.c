/* chains.c: hl_chains: every algorithm that has it, on every instruction set, against a loop over the oracle; and the
 * chains that it refuses.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "test.h"

enum { COUNT = 70, STRIDE_MAX_NBYTES = 300, STEPS = 12 };

static uint8_t expected[COUNT * STRIDE_MAX_NBYTES], nsteps[COUNT];

/* As much as one block takes with its padding. */
static size_t longest(const hl_alg_info *alg)
{
    return alg->block_nbytes - (is_sponge(alg) ? 1 : 1 + alg->block_nbytes / 8);
}

static int has_chains(const hl_alg_info *alg)
{
    return alg->ending < HL_COUNTED && has_calls(hl_chains(NULL));
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* One more hash of a row, by the oracle. */
static void expect(const hl_alg_info *alg, const hl_chain *job, uint8_t *row, const void *prefix)
{
    struct oracle *o = oracle_new(alg);
    uint8_t digest[HL_DIGEST_MAX_NBYTES];

    if (job->begin != NULL)
        oracle_update(o, prefix, job->begin->nbytes);
    oracle_update(o, row, job->row_nbytes);
    oracle_final(o, digest);
    memcpy(row + job->digest_at, digest, job->digest_nbytes);
    if (job->count_at < job->row_nbytes)
        row[job->count_at]++;
}

static void check_round(const hl_alg_info *alg, const uint8_t *prefix)
{
    hl_chain job = {.nbytes = sizeof job, .alg = (uint32_t)alg->alg, .count = random_below(COUNT + 1),
                    .row_nbytes = 1 + random_below(longest(alg)), .is_secret = (uint32_t)random_below(2)};
    hl_ctx begun;
    const int slh = random_below(2) == 0 && (alg->alg == HL_SHA256 || alg->alg == HL_SHAKE256);
    const size_t n = 16 + 8 * random_below(3), at = alg->alg == HL_SHA256 ? 22 : n + 32;

    if (slh) { /* places of SLH-DSA */
        job.row_nbytes = at + n, job.digest_at = at, job.digest_nbytes = n, job.count_at = at - 1;
    } else {
        job.digest_nbytes = 1 + random_below(least(alg->digest_nbytes, job.row_nbytes));
        if (random_below(2) == 0) /* whole words, which functions of the lanes may be for */
            job.digest_nbytes = least(least(alg->digest_nbytes, job.row_nbytes), (job.digest_nbytes + 7) & ~(size_t)7);
        job.digest_at = random_below(job.row_nbytes - job.digest_nbytes + 1);
        job.count_at = random_below(3) == 0 ? SIZE_MAX : random_below(job.row_nbytes + 1);
        if (job.count_at >= job.digest_at && job.count_at < job.digest_at + job.digest_nbytes)
            job.count_at = job.row_nbytes;
    }
    if (random_below(2) == 0) {
        hl_init(&begun, alg->alg);
        hl_update(&begun, prefix, alg->block_nbytes * random_below(3));
        job.begin = &begun;
    }
    job.stride = job.row_nbytes + random_below(4) * random_below(20);
    if (random_below(2) == 0)
        job.nsteps = nsteps;
    else
        job.all_steps = (uint32_t)random_below(STEPS + 1);
    const size_t size = job.count == 0 ? 0 : (job.count - 1) * job.stride + job.row_nbytes;
    struct guarded memory = guard_new(size + 1);
    job.rows = memory.end - size;
    random_fill(job.rows, size);
    for (size_t i = 0; i < job.count; i++) {
        nsteps[i] = (uint8_t)random_below(STEPS + 1);
        if (job.count_at < job.row_nbytes) /* up to 255 */
            job.rows[i * job.stride + job.count_at] = (uint8_t)(255 - STEPS - random_below(2) * random_below(200));
    }
    memcpy(expected, job.rows, size);
    for (size_t i = 0; i < job.count; i++)
        for (unsigned left = job.nsteps != NULL ? nsteps[i] : job.all_steps; left > 0; left--)
            expect(alg, &job, expected + i * job.stride, prefix);
    const hl_status status = hl_chains(&job);
    CHECK(status == HL_OK, "%s", hl_strerror(status));
    for (size_t i = 0, wrong = 0; i < size && wrong == 0; i++)
        wrong = !CHECK(job.rows[i] == expected[i], "row %zu of %zu, byte %zu: %zu bytes, digest of %zu at %zu, count %zu",
                       i / job.stride, job.count, i % job.stride, job.row_nbytes, job.digest_nbytes, job.digest_at,
                       job.count_at);
    guard_free(memory);
}

static void check_refused(const hl_alg_info *alg)
{
    uint8_t rows[2 * STRIDE_MAX_NBYTES], kept[sizeof rows];
    const uint8_t one_step[2] = {0, 1};
    hl_ctx begun, foreign;
    struct {
        hl_chain job;
        uint64_t later;
    } longer;

    test_case("%s: refused chains write nothing", alg->name);
    random_fill(rows, sizeof rows);
    rows[30] = 255;
    memcpy(kept, rows, sizeof kept);
    hl_init(&begun, alg->alg), hl_init(&foreign, other_alg(alg));
    const hl_chain good = {.nbytes = sizeof good, .alg = (uint32_t)alg->alg, .rows = rows, .stride = 30, .row_nbytes = 30,
                           .count = 2, .digest_at = 5, .digest_nbytes = 16, .count_at = 30, .all_steps = 1};
#define REFUSED(status, ...) \
    do { \
        hl_chain job = good; \
        __VA_ARGS__; \
        CHECK(hl_chains(&job) == status, "%s: not %s", #__VA_ARGS__, #status); \
    } while (0)
    CHECK(hl_chains(NULL) == HL_ENULL, "no chains");
    REFUSED(HL_ENULL, job.rows = NULL);
    REFUSED(HL_EJOB, job.nbytes--);
    REFUSED(HL_EJOB, job.is_secret = 2);
    REFUSED(HL_EJOB, job.reserved = 1);
    REFUSED(HL_EJOB, job.digest_nbytes = 0);
    REFUSED(HL_EJOB, job.digest_nbytes = alg->digest_nbytes + 1);
    REFUSED(HL_EJOB, job.digest_at = 15);
    REFUSED(HL_EJOB, job.digest_at = SIZE_MAX);
    REFUSED(HL_EJOB, job.digest_nbytes = SIZE_MAX);
    REFUSED(HL_EJOB, job.stride = 29);
    REFUSED(HL_EJOB, job.count_at = 5);
    REFUSED(HL_EJOB, job.count_at = 20);
    REFUSED(HL_ELENGTH, job.row_nbytes = longest(alg) + 1, job.stride = job.row_nbytes);
    REFUSED(HL_ELENGTH, job.count = SIZE_MAX);
    REFUSED(HL_ELENGTH, job.stride = SIZE_MAX);
    REFUSED(HL_ELENGTH, job.count_at = 0);
    REFUSED(HL_ELENGTH, job.count_at = 0, job.nsteps = one_step);
    REFUSED(HL_ELENGTH, job.count_at = 1, job.all_steps = UINT32_MAX);
    REFUSED(HL_EALG, job.alg = 0);
    REFUSED(HL_EALG, job.alg = 99);
    for (size_t a = 0; a < hl_alg_count(); a++)
        if (!has_chains(hl_alg_at(a)))
            REFUSED(HL_EALG, job.alg = (uint32_t)hl_alg_at(a)->alg);
    if (has_other(alg, "a prefix of another algorithm"))
        REFUSED(HL_ESTATE, job.begin = &foreign);
    hl_update(&begun, rows, 1);
    REFUSED(HL_EJOB, job.begin = &begun);
    begun.nbytes = HL_MESSAGE_MAX_NBYTES;
    REFUSED(HL_ESTATE, job.begin = &begun);
    hl_final(&foreign, expected);
    REFUSED(HL_ESTATE, job.begin = &foreign);
    longer.job = good, longer.job.nbytes = sizeof longer, longer.later = 1;
    CHECK(hl_chains(&longer.job) == HL_EJOB, "a field of a later version");
    REFUSED(HL_OK, job.count = 0, job.rows = NULL);
    REFUSED(HL_OK, job.all_steps = 0);
    CHECK(memcmp(rows, kept, sizeof kept) == 0, "rows were written");
    longer.later = 0;
    CHECK(hl_chains(&longer.job) == HL_OK, "a later version's chains without its fields");
}

int main(int argc, char **argv)
{
    test_start(argc, argv);
    const uint8_t *prefix = random_pool(2 * HL_BLOCK_MAX_NBYTES);
    for (size_t a = 0; a < hl_alg_count(); a++) {
        const hl_alg_info *alg = hl_alg_at(a);
        if (!has_chains(alg)) {
            test_case("%s: has no chains", alg->name);
            CHECK(hl_chains(&(hl_chain){.nbytes = sizeof(hl_chain), .alg = (uint32_t)alg->alg}) == HL_EALG, "refused");
            continue;
        }
        for (size_t i = 0; i <= hl_isa_count(); i++) {
            const char *isa = test_isa(i, "chains of %s", alg->name);
            if (isa == NULL)
                continue;
            test_case("%s, %s: chains", alg->name, isa);
            for (size_t round = 0; round < share_of(test_all ? 400 : 60); round++)
                check_round(alg, prefix);
        }
        hl_restrict(0);
        check_refused(alg);
    }
    return test_end();
}
