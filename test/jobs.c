/* jobs.c: hl_run: every layout of messages with everything that a job can do with them, on every instruction set; and
 * the jobs that it refuses.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "test.h"

enum { COUNT = 120, PREFIX_MAX_NBYTES = 600, MESSAGE_MAX_NBYTES = 700, KEY_MAX_NBYTES = 180, POISON = 0xa5, GAP = 3,
       LONG_MAX_NBYTES = 600 };

/* An application's own structures, with fields beside keys and streams. */
static struct {
    char name[24];
    hl_ctx begun;
    hl_hmac_key key;
} items[COUNT];
static hl_slice prefixes[COUNT], secrets[COUNT], slices[COUNT];
static uint8_t digests[COUNT * (LONG_MAX_NBYTES + GAP) + 1], expected[LONG_MAX_NBYTES];

static const char *const layouts[] = {"slices", "rows"};

/* Lays out messages in that layout; `slices` then describes them too. */
static hl_messages make_messages(uint32_t layout, size_t count, const uint8_t *pool, size_t max_nbytes)
{
    hl_messages all = {.layout = layout, .count = count, .base = pool};

    if (layout == HL_ROWS) {
        all.nbytes = random_length(max_nbytes);
        all.stride = all.nbytes + random_below(20);
    }
    for (size_t i = 0; i < count; i++) {
        const size_t nbytes = layout == HL_ROWS ? all.nbytes : random_length(max_nbytes);
        slices[i] = (hl_slice){pool, nbytes};
        pool += layout == HL_ROWS ? all.stride : nbytes;
    }
    if (layout == HL_SLICES)
        all.base = slices;
    return all;
}

/* The algorithm whose digests the job writes. */
static const hl_alg_info *last_alg(const hl_alg_info *alg, const hl_job *job)
{
    return job->again != 0 ? hl_alg_find((hl_alg)job->again) : alg;
}

static size_t size_of(const hl_alg_info *alg, const hl_job *job)
{
    return job->digest_nbytes != 0 ? job->digest_nbytes : last_alg(alg, job)->digest_nbytes;
}

static void expect(const hl_alg_info *alg, const hl_job *job, size_t i)
{
    const hl_alg_info *last = last_alg(alg, job);
    if (job->keys != NULL) {
        const hl_slice *secret = &secrets[job->key_stride == 0 ? 0 : i];
        oracle_hmac(alg, secret->data, secret->nbytes, slices[i].data, slices[i].nbytes, expected);
        return;
    }
    struct oracle *o = oracle_new(alg);
    if (job->begin != NULL) {
        const hl_slice *prefix = &prefixes[job->begin_stride == 0 ? 0 : i];
        oracle_update(o, prefix->data, prefix->nbytes);
    }
    oracle_update(o, slices[i].data, slices[i].nbytes);
    if (job->again == 0) {
        oracle_final_long(o, expected, size_of(alg, job));
    } else {
        uint8_t inner[HL_DIGEST_MAX_NBYTES];
        oracle_final(o, inner);
        oracle_long(last, inner, alg->digest_nbytes, expected, size_of(alg, job));
    }
}

/* A job of rows whose digests have just been checked, with digests that overlap rows: the same, or HL_EJOB and nothing
 * written if a digest overlaps the row behind its own. */
static void check_in_place(hl_job job, size_t size, size_t stride, const char *what)
{
    enum { LEAD = 100 };
    static uint8_t layer[LEAD + COUNT * (MESSAGE_MAX_NBYTES + 20 + LONG_MAX_NBYTES + GAP)], kept[sizeof layer];
    const hl_messages *rows = &job.messages;
    const size_t last = rows->stride < size ? 0 : rows->stride - size, places[] = {0, last, random_below(last + 2)};
    const size_t at = LEAD + places[random_below(3)] - (random_below(2) == 0 ? 0 : random_below(LEAD));
    const int is_refused = stride > rows->stride || at + size > LEAD + rows->stride;

    if (rows->count < 2 || rows->nbytes == 0 || at >= LEAD + (rows->count - 1) * rows->stride + rows->nbytes ||
        at + (rows->count - 1) * stride + size <= LEAD)
        return; /* no overlap */
    memset(layer, POISON, sizeof layer);
    memcpy(layer + LEAD, rows->base, (rows->count - 1) * rows->stride + rows->nbytes);
    memcpy(kept, layer, sizeof layer);
    job.messages.base = layer + LEAD;
    job.digests = layer + at;
    CHECK(hl_run(&job) == (is_refused ? HL_EJOB : HL_OK), "%s, in place: a digest each %zu bytes, at %zu", what, stride,
          at);
    for (size_t i = 0; !is_refused && i < rows->count; i++) {
        CHECK(memcmp(layer + at + i * stride, digests + i * stride, size) == 0,
              "%s, in place: row %zu of %zu, %zu bytes", what, i, rows->count, rows->nbytes);
        memcpy(layer + at + i * stride, kept + at + i * stride, size);
    }
    CHECK(memcmp(layer, kept, sizeof layer) == 0, "%s, in place: written beside the digests", what);
}

static void check_job(const hl_alg_info *alg, const hl_job *job, const char *what)
{
    const size_t size = size_of(alg, job);
    const size_t stride = job->digest_stride == 0 ? size : job->digest_stride;

    memset(digests, POISON, sizeof digests);
    const hl_status status = hl_run(job);
    CHECK(status == HL_OK, "%s: %s", what, hl_strerror(status));
    for (size_t i = 0; i < job->messages.count; i++) {
        expect(alg, job, i);
        CHECK(memcmp(digests + i * stride, expected, size) == 0, "%s, %s: message %zu of %zu, %zu bytes", what,
              layouts[job->messages.layout], i, job->messages.count, slices[i].nbytes);
        CHECK(stride == size || digests[i * stride + size] == POISON, "%s: written beside digest %zu", what, i);
    }
    CHECK(digests[job->messages.count * stride] == POISON, "%s: written beyond the digests", what);
    if (job->messages.layout == HL_ROWS)
        check_in_place(*job, size, stride, what);
}

/* A job whose digests have just been checked: the call that is its short form, if it has one, writes the same. */
static void check_short_form(const hl_alg_info *alg, const hl_job *job)
{
    const hl_messages *rows = &job->messages;
    const int is_hash160 = job->again == HL_RIPEMD160;
    const size_t nbytes = rows->count * (is_hash160 ? HL_RIPEMD160_DIGEST_NBYTES : HL_SHA256_DIGEST_NBYTES);
    static uint8_t found[sizeof digests];

    if (rows->layout != HL_ROWS || alg->alg != HL_SHA256 || (!is_hash160 && job->again != HL_SHA256))
        return;
    memset(found, POISON, sizeof found);
    CHECK((is_hash160 ? hl_hash160_rows : hl_sha256d_rows)(rows->base, rows->stride, rows->nbytes, rows->count,
                                                           found) == HL_OK,
          "the short form");
    CHECK(memcmp(found, digests, nbytes) == 0 && found[nbytes] == POISON, "%s: %zu rows of %zu bytes",
          is_hash160 ? "hl_hash160_rows" : "hl_sha256d_rows", rows->count, rows->nbytes);
}

/* Digests of any length, or shorter ones: of the algorithm itself, of streams, and of a second algorithm, side by side
 * and apart. */
static void check_long(const hl_alg_info *alg, hl_job job)
{
    for (size_t a = 0; a <= hl_alg_count(); a++) {
        job.again = a == hl_alg_count() ? 0 : (uint32_t)hl_alg_at(a)->alg;
        const hl_alg_info *last = last_alg(alg, &job);
        const unsigned kind = (unsigned)random_below(4);
        const size_t most = last->ending == HL_XOF ? LONG_MAX_NBYTES : last->digest_nbytes;
        const size_t lengths[] = {1, random_below(most) + 1, 16, alg->block_nbytes, alg->block_nbytes + 1, most};
        job.digest_nbytes = lengths[random_below(sizeof lengths / sizeof lengths[0])];
        if (last->ending >= HL_COUNTED || job.digest_nbytes > most)
            continue;
        job.digest_stride = random_below(2) == 0 ? 0 : job.digest_nbytes + GAP;
        job.begin = kind < 2 ? NULL : &items[0].begun;
        job.begin_stride = kind == 3 ? sizeof items[0] : 0;
        job.is_secret = kind == 1;
        check_job(alg, &job, "a length of digests");
    }
}

static void check_round(const hl_alg_info *alg, uint32_t layout, const uint8_t *pool)
{
    const size_t count = random_below(4) == 0 ? random_below(3) : random_below(COUNT - 1) + 1;
    const size_t max_nbytes = random_below(2) == 0 ? 100 : MESSAGE_MAX_NBYTES;
    const hl_job plain = {.nbytes = sizeof plain, .alg = (uint32_t)alg->alg,
                          .messages = make_messages(layout, count, pool, max_nbytes), .digests = digests};
    hl_job job;

    for (size_t i = 0; i < COUNT; i++) {
        prefixes[i] = (hl_slice){pool + 7 * i, random_length(PREFIX_MAX_NBYTES)};
        secrets[i] = (hl_slice){pool + 5 * i, random_length(KEY_MAX_NBYTES)};
        if (has_ctx(alg)) {
            hl_init(&items[i].begun, alg->alg);
            hl_update(&items[i].begun, prefixes[i].data, prefixes[i].nbytes);
        }
        if (has_hmac(alg))
            hl_hmac_key_init(&items[i].key, alg->alg, secrets[i].data, secrets[i].nbytes);
    }
    check_job(alg, &plain, "a hash");
    job = plain, job.is_secret = 1, job.digest_stride = alg->digest_nbytes + GAP;
    job.digest_nbytes = alg->digest_nbytes;
    check_job(alg, &job, "a secret's hash, digests apart");
    for (size_t a = 0; a < hl_alg_count(); a++) {
        job = plain, job.again = (uint32_t)hl_alg_at(a)->alg;
        check_job(alg, &job, hl_alg_at(a)->name);
        check_short_form(alg, &job);
    }
    if (!has_ctx(alg)) /* blake3.c */
        return;
    job = plain, job.begin = &items[0].begun;
    check_job(alg, &job, "from one prefix");
    job.again = other_alg(alg);
    check_job(alg, &job, "from one prefix, again by another algorithm");
    job = plain, job.begin = &items[0].begun, job.begin_stride = sizeof items[0], job.is_secret = 1;
    check_job(alg, &job, "from a prefix each");
    if (has_hmac(alg)) {
        job = plain, job.keys = &items[0].key;
        check_job(alg, &job, "HMAC with one key");
        job.digest_nbytes = alg->digest_nbytes;
        check_job(alg, &job, "HMAC with one key, and the tags' length");
        job.key_stride = sizeof items[0], job.alg = 0;
        check_job(alg, &job, "HMAC with a key each");
    }
    check_long(alg, plain);
    prefixes[0].nbytes = alg->block_nbytes * random_below(4); /* whole blocks */
    hl_init(&items[0].begun, alg->alg);
    hl_update(&items[0].begun, prefixes[0].data, prefixes[0].nbytes);
    job = plain, job.begin = &items[0].begun;
    check_job(alg, &job, "from a prefix of whole blocks");
}

/* A prefix so long that the length in bits takes more than a word of 32 bits: against a stream for each message. */
static void check_long_prefixes(const hl_alg_info *alg, const uint8_t *pool)
{
    const uint64_t prefix_nbytes[] = {(UINT64_C(1) << 28) - 128, UINT64_C(1) << 28, (UINT64_C(1) << 29) - 128,
                                      UINT64_C(1) << 40};

    for (size_t n = 0; n < sizeof prefix_nbytes / sizeof *prefix_nbytes; n++)
        for (size_t max_nbytes = 20; max_nbytes <= 140; max_nbytes += 60) {
            hl_ctx begun, each;
            hl_init(&begun, alg->alg);
            begun.nbytes = prefix_nbytes[n];
            const hl_job job = {.nbytes = sizeof job, .alg = (uint32_t)alg->alg, .digests = digests, .begin = &begun,
                                .messages = make_messages(HL_SLICES, COUNT, pool, max_nbytes)};
            const hl_status status = hl_run(&job);
            CHECK(status == HL_OK, "long prefix: %s", hl_strerror(status));
            for (size_t i = 0; i < COUNT; i++) {
                each = begun;
                hl_update(&each, slices[i].data, slices[i].nbytes);
                hl_final(&each, expected);
                CHECK(memcmp(digests + i * alg->digest_nbytes, expected, alg->digest_nbytes) == 0,
                      "message %zu of %zu bytes after 2^28 and more", i, slices[i].nbytes);
            }
        }
}

/* Jobs with each kernel, and with a second algorithm of the kernel's body and one of another. */
static void check_kernels(const hl_alg_info *alg, const uint8_t *pool)
{
    for (size_t k = 0; k < hl_kernel_count(); k++) {
        const hl_kernel *kernel = hl_kernel_at(k);
        if (kernel->body != alg->body || !test_kernel(kernel))
            continue;
        test_case("%s: jobs with %s", alg->name, kernel->name);
        hl_job job = {.nbytes = sizeof job, .alg = (uint32_t)alg->alg, .digests = digests, .kernel = kernel,
                      .messages = make_messages(HL_SLICES, COUNT - 1, pool, 200)};
        check_job(alg, &job, "a hash");
        job.again = (uint32_t)alg->alg;
        check_job(alg, &job, "a hash of the hash");
        job.again = other_alg(alg);
        check_job(alg, &job, "another hash of the hash");
        job.again = 0;
        if (!has_hmac(alg)) {
            job.digest_nbytes = alg->ending == HL_XOF ? LONG_MAX_NBYTES : 0;
            check_job(alg, &job, "a long digest");
            continue;
        }
        secrets[0] = (hl_slice){pool, 20};
        hl_hmac_key_init(&items[0].key, alg->alg, pool, 20);
        job.keys = &items[0].key;
        check_job(alg, &job, "HMAC");
    }
}

static void check_refused(const hl_alg_info *alg)
{
    const hl_alg other = other_alg(alg);
    uint8_t kept[sizeof digests];
    hl_ctx begun, foreign;
    hl_hmac_key keys[2];
    struct {
        hl_job job;
        uint64_t later;
    } longer;

    test_case("%s: refused jobs write nothing", alg->name);
    memset(digests, POISON, sizeof digests);
    memcpy(kept, digests, sizeof kept);
    hl_blake3_ctx tree;
    hl_blake3_init(&tree, NULL), hl_init(&begun, alg->alg), hl_init(&foreign, other);
    if (!has_ctx(alg))
        begun = tree.ctx;
    hl_hmac_key_init(&keys[0], has_hmac(alg) ? alg->alg : other, "k", 1), hl_hmac_key_init(&keys[1], other, "k", 1);
    const hl_job good = {.nbytes = sizeof good, .alg = (uint32_t)alg->alg, .digests = digests,
                         .messages = {.layout = HL_ROWS, .count = 2, .base = "abc", .stride = 1, .nbytes = 2}};
#define REFUSED(status, ...) \
    do { \
        hl_job job = good; \
        __VA_ARGS__; \
        CHECK(hl_run(&job) == status, "%s: not %s", #__VA_ARGS__, #status); \
    } while (0)
    CHECK(hl_run(NULL) == HL_ENULL, "no job");
    REFUSED(HL_EJOB, job.nbytes = 0);
    REFUSED(HL_EJOB, job.nbytes--);
    REFUSED(HL_EJOB, job.reserved = 1);
    REFUSED(HL_EJOB, job.is_secret = 2);
    REFUSED(HL_EJOB, job.messages.reserved = 1);
    REFUSED(HL_EJOB, job.messages.layout = HL_ROWS + 1);
    REFUSED(HL_EALG, job.alg = 0);
    REFUSED(HL_EALG, job.alg = 99);
    REFUSED(HL_EALG, job.again = 99);
    REFUSED(HL_ENULL, job.digests = NULL);
    REFUSED(HL_ENULL, job.messages.base = NULL);
    REFUSED(HL_ENULL, job.messages.base = NULL, job.messages.layout = HL_SLICES);
    REFUSED(HL_ELENGTH, job.messages.stride = SIZE_MAX);
    REFUSED(HL_ELENGTH, job.messages.count = SIZE_MAX);
    REFUSED(HL_EJOB, job.digest_stride = alg->digest_nbytes - 1);
    REFUSED(HL_EJOB, job.again = other, job.digest_stride = hl_alg_find(other)->digest_nbytes - 1);
    REFUSED(HL_ELENGTH, job.digest_stride = SIZE_MAX);
    if (has_hmac(hl_alg_find(other))) {
        REFUSED(HL_EJOB, job.keys = keys, job.again = other);
        REFUSED(HL_EJOB, job.keys = keys, job.begin = &begun);
        REFUSED(HL_EJOB, job.keys = keys, job.digest_nbytes = hl_alg_find((hl_alg)keys[0].alg)->digest_nbytes + 1);
    }
    if (has_hmac(alg)) {
        if (has_other(alg, "keys of two algorithms"))
            REFUSED(HL_ESTATE, job.keys = keys, job.key_stride = sizeof keys[0]);
    } else {
        keys[0].alg = (uint32_t)alg->alg; /* no call makes such a key */
        REFUSED(HL_ESTATE, job.keys = keys);
        hl_hmac_key_init(&keys[0], other, "k", 1);
    }
    for (size_t a = 0; a <= hl_alg_count(); a++) {
        const hl_alg_info *last = a == hl_alg_count() ? alg : hl_alg_at(a);
        const uint32_t again = a == hl_alg_count() ? 0 : (uint32_t)last->alg;
        if (last->ending == HL_XOF) {
            REFUSED(HL_EJOB, job.again = again, job.digest_nbytes = 500, job.digest_stride = 499);
            REFUSED(HL_ELENGTH, job.again = again, job.digest_nbytes = SIZE_MAX);
            REFUSED(HL_ELENGTH, job.again = again, job.digest_nbytes = SIZE_MAX / 2 + 1);
            REFUSED(HL_ELENGTH, job.again = again, job.digest_nbytes = 500, job.messages.count = SIZE_MAX / 500 + 1);
        } else {
            REFUSED(HL_EJOB, job.again = again, job.digest_nbytes = last->digest_nbytes + 1);
            REFUSED(HL_EJOB, job.again = again, job.digest_nbytes = SIZE_MAX);
        }
    }
    if (has_other(alg, "a prefix of another algorithm"))
        REFUSED(HL_ESTATE, job.begin = &foreign);
    hl_final(&foreign, kept);
    memcpy(kept, digests, sizeof kept);
    REFUSED(HL_ESTATE, job.begin = &foreign);
    hl_hmac_key_wipe(&keys[1]);
    REFUSED(HL_ESTATE, job.keys = &keys[1]);
    begun.nbytes = HL_MESSAGE_MAX_NBYTES - 1;
    REFUSED((has_ctx(alg) ? HL_ELENGTH : HL_EJOB), job.begin = &begun);
    for (size_t k = 0; k < hl_kernel_count(); k++)
        if (hl_kernel_at(k)->body != alg->body && (hl_kernel_at(k)->isas & hl_isas_available()) != 0)
            REFUSED(HL_EKERNEL, job.kernel = hl_kernel_at(k));
    longer.job = good, longer.job.nbytes = sizeof longer, longer.later = 1;
    CHECK(hl_run(&longer.job) == HL_EJOB, "a field of a later version");
    CHECK(memcmp(digests, kept, sizeof kept) == 0, "digests were written");

    longer.later = 0;
    CHECK(hl_run(&longer.job) == HL_OK, "a later version's job without its fields");
    REFUSED(HL_OK, job.messages.count = 0, job.digests = NULL, job.messages.base = NULL);
    REFUSED(HL_OK, job.messages.base = NULL, job.messages.nbytes = 0);
    REFUSED(HL_OK, job.messages.count = 0, job.messages.base = NULL, job.messages.layout = HL_SLICES);
}

int main(int argc, char **argv)
{
    test_start(argc, argv);
    const uint8_t *pool = random_pool(COUNT * (MESSAGE_MAX_NBYTES + 100) + PREFIX_MAX_NBYTES);
    for (size_t a = 0; a < hl_alg_count(); a++) {
        const hl_alg_info *alg = hl_alg_at(a);
        for (size_t i = 0; i <= hl_isa_count(); i++) {
            const char *isa = test_isa(i, "jobs of %s", alg->name);
            if (isa == NULL)
                continue;
            for (uint32_t layout = HL_SLICES; layout <= HL_ROWS; layout++) {
                test_case("%s, %s: %s", alg->name, isa, layouts[layout]);
                for (size_t round = 0; round < share_of(test_all ? 20 : 4); round++)
                    check_round(alg, layout, pool);
            }
        }
        hl_restrict(0);
        if (has_ctx(alg))
            check_long_prefixes(alg, pool);
        check_kernels(alg, pool);
        check_refused(alg);
    }
    return test_end();
}
