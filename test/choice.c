/* choice.c: every set of CPU features, also sets that no CPU has: the chosen kernel exists, and is right; and each call
 * chooses once.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Uses the library's internal headers: no machine has all of these sets, and hl_restrict can only remove.
 */
#include "../core/src/cpu.h"
#include "../core/src/lanes.h"
#include "../core/src/registry.h"
#include "test.h"

enum { COUNT = 150, LENGTH_MAX = 400 };

/* The table again, with the costs, which the library does not publish. */
static const struct {
    hl_body body;
    uint8_t nlanes;
    uint16_t cost[HLI_TUNE_COUNT];
} rows[] = {
#define LANES(body, name, isa, nlanes, ...)      {HL_BODY_##body, nlanes, {__VA_ARGS__}},
#define KERNEL(body, function, isa, nlanes, ...) {HL_BODY_##body, nlanes, {__VA_ARGS__}},
#include "../core/src/registry.def"
};
uint32_t __real_hli_choice(void);
uint32_t __wrap_hli_choice(void);
static const size_t nrows = sizeof rows / sizeof rows[0];

static hl_slice messages[COUNT];

/* Whether no algorithm before has the same block function and size of blocks. */
static int is_first_of_blocks(size_t a)
{
    size_t first = 0;

    while (hl_alg_at(first)->body != hl_alg_at(a)->body || hl_alg_at(first)->block_nbytes != hl_alg_at(a)->block_nbytes)
        first++;
    return first == a;
}

/* Few messages of equally many blocks, which go in groups: with one length and with several, in each layout, hashed
 * again, and tagged with one key and with a key each. */
static void check_groups(const uint8_t *pool)
{
    enum { MOST = HLI_SHORT + 1 };
    static const size_t lengths[][2] = {{0, 0}, {3, 55}, {20, 20}, {56, 119}, {64, 64}, {128, 128}, {140, 180},
                                        {200, 200}, {256, 256}, {300, 300}, {184, 247}, {248, 311}, {312, 375},
                                        {368, 495}, {624, 751}, {72, 143}, {104, 207}, {136, 271}, {144, 287},
                                        {168, 335}, {1, 200}};
    uint8_t right[MOST][HL_DIGEST_MAX_NBYTES], once[HL_DIGEST_MAX_NBYTES], found[MOST * HL_DIGEST_MAX_NBYTES];
    hl_slice some[MOST];
    hl_hmac_key keys[MOST];

    for (size_t a = 0; a < hl_alg_count(); a++) {
        const hl_alg_info *alg = hl_alg_at(a), *again = hl_alg_find(other_alg(alg));
        for (size_t i = 0; has_hmac(alg) && i < MOST; i++)
            CHECK(hl_hmac_key_init(&keys[i], alg->alg, pool + i, 20 + 9 * i) == HL_OK, "%s", alg->name);
        for (size_t at = 0; at < sizeof lengths / sizeof lengths[0]; at++) {
            const size_t least = lengths[at][0], most = lengths[at][1];
            if (!is_first_of_blocks(a) && !in_share(a + at))
                continue;
            const uint8_t *data = pool;
            for (size_t i = 0; i < MOST; i++) {
                some[i] = (hl_slice){data, least + i * 7 % (most - least + 1)};
                data += some[i].nbytes;
            }
/* The call, with each number of messages. The last argument makes the digest of message i. */
#define RIGHT(call, nbytes_of_digest, ...) \
    do { \
        for (size_t i = 0; i < MOST; i++) { \
            __VA_ARGS__; \
        } \
        for (size_t count = 1; count <= MOST; count++) { \
            memset(found, 0xa5, sizeof found); \
            int is_right = (call) == HL_OK; \
            for (size_t i = 0; i < count; i++) \
                is_right &= memcmp(found + i * (nbytes_of_digest), right[i], (nbytes_of_digest)) == 0; \
            for (size_t i = count * (nbytes_of_digest); i < sizeof found; i++) \
                is_right &= found[i] == 0xa5; \
            CHECK(is_right, "%s, %zu messages of %zu to %zu bytes: %s", alg->name, count, least, most, #call); \
        } \
    } while (0)
            RIGHT(hl_hash_many(alg->alg, some, count, found), alg->digest_nbytes,
                  oracle(alg, some[i].data, some[i].nbytes, right[i]));
            RIGHT(hl_run(&(hl_job){.nbytes = sizeof(hl_job), .alg = (uint32_t)alg->alg, .again = (uint32_t)again->alg,
                                   .messages = {.layout = HL_SLICES, .count = count, .base = some},
                                   .digests = found}),
                  again->digest_nbytes,
                  (oracle(alg, some[i].data, some[i].nbytes, once),
                   oracle(again, once, alg->digest_nbytes, right[i])));
            RIGHT(hl_hash_rows(alg->alg, pool, 31, most, count, found), alg->digest_nbytes,
                  oracle(alg, pool + 31 * i, most, right[i]));
            if (has_hmac(alg)) {
                RIGHT(hl_hmac_many(&keys[0], some, count, found), alg->digest_nbytes,
                      (void)hl_hmac(&keys[0], some[i].data, some[i].nbytes, right[i]));
                RIGHT(hl_run(&(hl_job){.nbytes = sizeof(hl_job), .messages = {.count = count, .base = some},
                                       .digests = found, .keys = keys, .key_stride = sizeof keys[0]}),
                      alg->digest_nbytes,
                      (void)hl_hmac(&keys[i], some[i].data, some[i].nbytes, right[i]));
            }
            if (alg->alg == HL_SHA256)
                RIGHT(hl_sha256d_rows(pool, 31, most, count, found), alg->digest_nbytes,
                      (oracle(alg, pool + 31 * i, most, once), oracle(alg, once, 32, right[i])));
#undef RIGHT
        }
    }
}

/* The schedules in constants.c are what plain C computes. */
static void check_schedules(void)
{
    test_case("known schedules");
    for (size_t a = 0; a < hl_alg_count(); a++) {
        const hl_alg_info *alg = hl_alg_at(a);
        const void *known = hli_known_schedule(alg, 64);
        uint8_t padding[2 * HL_BLOCK_MAX_NBYTES];
        uint64_t schedule[80];
        CHECK(hli_known_schedule(alg, 128) == NULL, "%s", alg->name);
        if (known == NULL)
            continue;
        hli_pad_scalar(alg, 1, &(const uint8_t *){NULL}, &(size_t){0}, 64, 1, padding);
        hli_schedule(alg->body, padding, schedule);
        CHECK(memcmp(known, schedule, alg->body == HL_BODY_SHA1 ? 80 * 4 : 64 * 4) == 0, "%s", alg->name);
    }
}

static void check_order(void)
{
    test_case("kernels of one lane stand last, the faster the later");
    CHECK(hl_kernel_count() == nrows, "%zu kernels in %zu rows", hl_kernel_count(), nrows);
    for (size_t i = 0; i + 1 < nrows; i++)
        for (size_t next = i + 1; rows[i].nlanes == 1 && next < nrows && rows[next].body == rows[i].body; next++)
            for (size_t tune = 0; tune < HLI_TUNE_COUNT; tune++)
                CHECK(rows[next].nlanes == 1 && (rows[next].cost[tune] == HLI_NEVER ||
                                                 rows[next].cost[tune] <= rows[i].cost[tune] * 1.02),
                      "%s stands before %s", hl_kernel_at(i)->name, hl_kernel_at(next)->name);
}

/* The least time that an allowed kernel takes for n messages, by that column of costs. Of the kernels of one lane only
 * the last counts. */
static uint32_t least_cost(hl_isas isas, hl_body body, unsigned tune, uint32_t n)
{
    uint32_t least = UINT32_MAX, alone = UINT32_MAX;

    for (size_t k = 0; k < nrows; k++) {
        const uint32_t cost = (n + rows[k].nlanes - 1) / rows[k].nlanes * rows[k].cost[tune];
        if (rows[k].body != body || (hl_kernel_at(k)->isas & isas) == 0 || rows[k].cost[tune] == HLI_NEVER)
            continue;
        if (rows[k].nlanes == 1)
            alone = cost;
        else if (cost < least)
            least = cost;
    }
    return alone < least ? alone : least;
}

/* The time of messages of these numbers of blocks, the longest first, as many side by side as are not done. */
static uint64_t time_together(hl_isas isas, hl_body body, unsigned tune, const size_t nblocks[], size_t n)
{
    uint64_t time = 0;

    for (size_t left = n; left > 0; left--)
        time += (nblocks[left - 1] - (left < n ? nblocks[left] : 0)) * least_cost(isas, body, tune, (uint32_t)left);
    return time;
}

/* The longest message of this number of blocks. */
static size_t longest_of(const hl_alg_info *alg, size_t nblocks)
{
    return nblocks * alg->block_nbytes - alg->block_nbytes + hli_longest_in_one_block(alg);
}

/* All groups of n messages of equally many blocks, as the driver asks for them. Returns their number. */
static size_t groups_of(uint32_t word, const hl_alg_info *alg, size_t n, size_t nblocks, unsigned flags,
                        struct hli_group groups[HLI_SHORT])
{
    size_t ngroups = 0, left = n;

    for (unsigned all = HLI_ARE_ALL; left > 0; all = 0) {
        const struct hli_group group = hli_plan_group(word, alg, left, nblocks, flags | all);
        groups[ngroups++] = group;
        left = group.how == HLI_ONE || left <= group.kernel->nlanes ? 0 : left - group.kernel->nlanes;
    }
    return ngroups;
}

/* The time of these groups of n messages. */
static uint64_t time_of_groups(const struct hli_group groups[], size_t ngroups, size_t n, size_t nblocks,
                               unsigned tune)
{
    uint64_t time = 0;

    for (size_t g = 0; g < ngroups; g++) {
        size_t k = 0;
        while (hl_kernel_at(k) != groups[g].kernel)
            k++;
        time += nblocks * rows[k].cost[tune] * (groups[g].how == HLI_ONE ? n : 1);
        n -= n < rows[k].nlanes ? n : rows[k].nlanes;
    }
    return time;
}

/* Each group is of a kernel of the body that the choice allows. An answer remembered for one choice word is never given
 * for another. */
static void check_remembered(uint32_t choice, uint32_t scalar)
{
    static const size_t nblocks[] = {1, 2, 3, 4, 7, 40, 100000};
    struct hli_group groups[HLI_SHORT], plain[HLI_SHORT], again[HLI_SHORT];

    for (size_t a = 0; a < hl_alg_count(); a++)
        for (size_t n = 1; n <= HLI_SHORT; n++)
            for (size_t at = 0; at < 4 * sizeof nblocks / sizeof nblocks[0]; at++) {
                const hl_alg_info *alg = hl_alg_at(a);
                const size_t most = hli_whole_nblocks(choice, alg), of = nblocks[at / 4];
                const unsigned flags = ((at & 1) != 0 && of <= most ? HLI_MAY_BE_WHOLE : 0) |
                                       ((at & 2) != 0 && of == 2 ? HLI_IS_KNOWN : 0);
                const size_t ngroups = groups_of(choice, alg, n, of, flags, groups);
                const size_t nplain = groups_of(scalar, alg, n, of, flags, plain);
                int is_right = nplain == 1 && plain[0].how == HLI_ONE &&
                               groups_of(choice, alg, n, of, flags, again) == ngroups;
                for (size_t g = 0; g < ngroups; g++) {
                    const hl_kernel *kernel = groups[g].kernel;
                    is_right &= kernel == again[g].kernel && groups[g].how == again[g].how &&
                                kernel->body == alg->body && (kernel->isas & choice) != 0 &&
                                (kernel->nlanes == 1) == (groups[g].how == HLI_ONE) &&
                                (groups[g].how != HLI_WHOLE ||
                                 ((flags & HLI_MAY_BE_WHOLE) != 0 && hli_whole_of(kernel) != NULL));
                }
                CHECK(is_right, "%s, %zu messages of %zu blocks, flags %u: %zu groups", alg->name, n, of, flags,
                      ngroups);
            }
}

/* By the costs of each column, a few messages never take longer side by side than one after the other; and much shorter
 * times side by side are not missed. */
static void check_few(hl_isas isas, uint32_t word)
{
    static const size_t lengths[] = {1, 2, 3, 7, 100, 100000};
    enum { NLENGTHS = sizeof lengths / sizeof lengths[0] };

    for (unsigned tune = 0; tune < HLI_TUNE_COUNT; tune++)
        for (size_t a = 0; a < hl_alg_count(); a++)
            for (size_t n = 2; n <= HLI_FEW; n++)
                for (size_t at = 0; at < NLENGTHS * NLENGTHS * NLENGTHS * NLENGTHS; at++) {
                    const hl_alg_info *alg = hl_alg_at(a);
                    const uint32_t choice = (word & ~(7u << CHOICE_TUNE)) | tune << CHOICE_TUNE;
                    size_t nblocks[HLI_FEW], rest = at;
                    hl_slice unread[HLI_FEW]; /* their bytes are never read */
                    uint64_t apart = 0, together;
                    struct hli_group groups[HLI_SHORT];
                    for (size_t i = 0; i < n; i++, rest /= NLENGTHS) {
                        const size_t inserted = lengths[rest % NLENGTHS];
                        size_t to = i;
                        unread[i] = (hl_slice){NULL, longest_of(alg, inserted)};
                        for (; to > 0 && nblocks[to - 1] < inserted; to--) /* the longest first */
                            nblocks[to] = nblocks[to - 1];
                        nblocks[to] = inserted;
                    }
                    if (rest != 0)
                        break;
                    if (alg != body_alg(alg->body) || !in_share(at))
                        continue;
                    for (size_t i = 0; i < n; i++)
                        apart += nblocks[i] * least_cost(isas, alg->body, tune, 1);
                    const int is_even = nblocks[0] == nblocks[n - 1];
                    const unsigned flags = nblocks[0] <= hli_whole_nblocks(choice, alg) ? HLI_MAY_BE_WHOLE : 0;
                    int is_apart;
                    if (is_even) {
                        const size_t ngroups = groups_of(choice, alg, n, nblocks[0], flags, groups);
                        is_apart = groups[0].how == HLI_ONE;
                        together = is_apart ? time_together(isas, alg->body, tune, nblocks, n)
                                            : time_of_groups(groups, ngroups, n, nblocks[0], tune);
                    } else {
                        is_apart = hli_plan_apart(choice, alg, unread, n, nblocks[0]);
                        together = time_together(isas, alg->body, tune, nblocks, n);
                    }
                    /* Groups save what each message takes beside its blocks: up to 60, and an eighth of a block. */
                    CHECK(is_apart  ? apart <= together + together / 4 + 120
                          : is_even ? together <= apart + n * 60 + apart / 8
                                    : together <= apart,
                          "%s, column %u, %zu messages, the longest of %zu blocks: %llu apart, %llu together, %d",
                          alg->name, tune, n, nblocks[0], (unsigned long long)apart, (unsigned long long)together,
                          is_apart);
                }
}

static void check_chosen(hl_isas isas, uint32_t features)
{
    const unsigned tune = hli_detect().tune;

    for (size_t k = 0; k < hl_kernel_count(); k++) {
        const hl_body body = hl_kernel_at(k)->body;
        const hl_alg_info *alg = body_alg(body);
        if (alg == NULL) /* left out */
            continue;
        for (uint32_t n = 2; n <= HL_LANES_MAX + 1; n++) {
            const hl_kernel *chosen = hl_kernel_chosen(alg->alg, n);
            const uint32_t m = n <= HL_LANES_MAX ? n : 3 * HL_LANES_MAX; /* any number beyond all lanes */
            size_t at = 0;
            while (at < nrows && hl_kernel_at(at) != chosen)
                at++;
            CHECK(at < nrows && (m + rows[at].nlanes - 1) / rows[at].nlanes * rows[at].cost[tune] ==
                                    least_cost(isas, body, tune, m),
                  "features %#x: %s for %u messages", (unsigned)features, chosen == NULL ? "none" : chosen->name, n);
        }
        for (size_t n = 1; n <= HL_LANES_MAX + 1; n++) {
            const hl_kernel *chosen = hl_kernel_chosen(alg->alg, n);
            CHECK(chosen != NULL && (chosen->isas & ~isas) == 0 && chosen->body == body,
                  "features %#x: %s for %zu messages", (unsigned)features, chosen == NULL ? "none" : chosen->name, n);
            if (n == 1 && rows[k].nlanes == 1 && rows[k].cost[tune] != HLI_NEVER && (hl_kernel_at(k)->isas & isas) != 0)
                CHECK(chosen != NULL && chosen->nlanes == 1 && chosen >= hl_kernel_at(k),
                      "features %#x: not %s for one message", (unsigned)features, hl_kernel_at(k)->name);
        }
    }
}

/* The linker redirects the library's calls of hli_choice to this function (--wrap). Every second read returns another
 * choice. */
static unsigned nreads;
static uint32_t other_choice;

uint32_t __wrap_hli_choice(void)
{
    return nreads++ % 2 == 0 || other_choice == 0 ? __real_hli_choice() : other_choice;
}

/* A call that made two choices could do anything between them. Each call must make one. */
static void check_one_choice(const hl_alg_info *alg)
{
    uint8_t found[COUNT * HL_DIGEST_MAX_NBYTES], chunk[300] = {0};
    hl_ctx ctxs[3], *all[3] = {&ctxs[0], &ctxs[1], &ctxs[2]};
    uint64_t nonces[9];
    size_t n;
    hl_hmac_key key;
    hl_hmac_ctx stream;

#define ONE_READ(call) \
    do { \
        nreads = 0; \
        CHECK((call) == HL_OK && nreads == 1, "%s: %s chose %u times", alg->name, #call, nreads); \
    } while (0)
    ONE_READ(hl_hash(alg->alg, "abc", 3, found));
    ONE_READ(hl_hash_many(alg->alg, messages, COUNT, found));
    ONE_READ(hl_hash_rows(alg->alg, chunk, 3, 64, 20, found));
    if (test_alg(HL_SHA256, "hl_sha256d_rows"))
        ONE_READ(hl_sha256d_rows(chunk, 3, 80, 20, found));
    if (test_alg(HL_SHA256, "hl_hash160_rows") && test_alg(HL_RIPEMD160, "hl_hash160_rows"))
        ONE_READ(hl_hash160_rows(chunk, 3, 33, 20, found));
    if (!has_ctx(alg))
        return;
    for (size_t i = 0; i < 3; i++)
        hl_init(all[i], alg->alg);
    ONE_READ(hl_update_many(all, messages, 3));
    ONE_READ(hl_update(all[0], chunk, sizeof chunk));
    ONE_READ(hl_final_many(all, 3, found));
    hl_init(&ctxs[0], alg->alg);
    hl_update(&ctxs[0], chunk, 100);
    ONE_READ(hl_run(&(hl_job){.nbytes = sizeof(hl_job), .alg = (uint32_t)alg->alg, .begin = &ctxs[0],
                              .messages = {.count = COUNT, .base = messages}, .digests = found}));
    const hl_alg again = other_alg(alg); /* reads the choice too */
    const hl_alg_info *other = hl_alg_find(again);
    ONE_READ(hl_run(&(hl_job){.nbytes = sizeof(hl_job), .alg = (uint32_t)alg->alg, .again = again,
                              .messages = {.count = COUNT, .base = messages}, .digests = found}));
    if (is_searchable(alg))
        ONE_READ(hl_search(&(hl_search_job){.nbytes = sizeof(hl_search_job), .alg = (uint32_t)alg->alg,
                                            .again = is_searchable(other) ? (uint32_t)other->alg : 0, .prefix = chunk,
                                            .prefix_nbytes = sizeof chunk, .last = 99}, nonces, 9, &n));
    nreads = 0;
    CHECK(hl_kernel_chosen(alg->alg, 3) != NULL && nreads <= 1, "hl_kernel_chosen chose %u times", nreads);
    if (alg->ending == HL_XOF) {
        ONE_READ(hl_squeeze(&ctxs[0], found, 3));
        ONE_READ(hl_squeeze(&ctxs[0], found, 500));
        ONE_READ(hl_run(&(hl_job){.nbytes = sizeof(hl_job), .alg = (uint32_t)alg->alg, .digest_nbytes = 500,
                                  .messages = {.count = 9, .base = messages}, .digests = found}));
    }
    if (!has_hmac(alg))
        return;
    ONE_READ(hl_hmac_key_init(&key, alg->alg, "k", 1));
    ONE_READ(hl_hmac_key_init(&key, alg->alg, chunk, sizeof chunk));
    ONE_READ(hl_hmac_many(&key, messages, COUNT, found));
    ONE_READ(hl_hmac(&key, "abc", 3, found));
    ONE_READ(hl_hmac_verify(&key, "abc", 3, found, alg->digest_nbytes));
    ONE_READ(hl_pbkdf2_many(alg->alg, &(hl_slice){chunk, 200}, &(hl_slice){chunk, 9}, 2, 1, found, 100));
    hl_hmac_init(&stream, &key);
    ONE_READ(hl_hmac_update(&stream, chunk, sizeof chunk));
    ONE_READ(hl_hmac_final(&stream, found));
    hl_hmac_ctx *const one = &stream;
    hl_hmac_init(&stream, &key);
    ONE_READ(hl_hmac_update_many(&one, messages, 1));
    ONE_READ(hl_hmac_final_many(&one, 1, found));
#undef ONE_READ
}

/* Only the allowed sets change, not the available ones. */
static void check_restored(uint32_t before)
{
    for (hl_isas isas = hl_isas_available(), one = 1; one <= isas; one <<= 1) {
        if ((isas & one) == 0)
            continue;
        CHECK(hl_restrict(one) == HL_OK, "hl_restrict");
        CHECK(hl_isas_available() == isas && (hl_isas_allowed() & ~isas) == 0 &&
                  __real_hli_choice() >> CHOICE_TUNE == before >> CHOICE_TUNE,
              "more changed than what is allowed, and what follows from it");
        CHECK(hl_restrict(0) == HL_OK && __real_hli_choice() == before, "%#x was %#x", (unsigned)__real_hli_choice(),
              (unsigned)before);
    }
}

/* Vectors of 512 bits that slow the clock down: a call does without, unless it is long, or the last of many in a
 * row. */
static void check_price(const uint8_t *pool)
{
#if HLI_X86
    static const uint8_t long_message[1 << 16];
    hl_slice some[64], all_long[64];
    struct hli_plan plan = {.choice = CHOICE_KNOWN | (uint32_t)HLI_TUNE_INTEL_PLAIN << CHOICE_TUNE |
                                      ((1u << ISA_sha) - 1),
                            .first.alg = hl_alg_find(HL_SHA256)};
    const hl_messages few = {.count = 8, .base = all_long, .layout = HL_SLICES};
    const hl_messages many = {.count = 64, .base = some, .layout = HL_SLICES};
    const hl_messages bulk = {.count = 64, .base = all_long, .layout = HL_SLICES};

    if (!test_alg(HL_SHA256, "vectors of 512 bits that have a price"))
        return;
    for (size_t i = 0; i < 64; i++) {
        some[i] = (hl_slice){pool + 64 * i, 64};
        all_long[i] = (hl_slice){long_message, sizeof long_message};
    }
    CHECK(hli_has_price(plan.choice) && !hli_has_price(hli_without_price(plan.choice)), "%#x", (unsigned)plan.choice);
    CHECK(!hli_has_price(CHOICE_KNOWN | (uint32_t)HLI_TUNE_INTEL << CHOICE_TUNE | ((1u << ISA_sha) - 1)),
          "others pay nothing");
    CHECK(hli_spares_power(&plan, &few), "few messages, of any length");
    CHECK(!hli_spares_power(&plan, &bulk), "a long call");
    for (uint64_t since = __builtin_ia32_rdtsc(); __builtin_ia32_rdtsc() - since < 20000000;)
        ;
    CHECK(hli_spares_power(&plan, &many), "a short call after a pause");
    size_t ncalls = 1;
    while (ncalls < 10000000 && hli_spares_power(&plan, &many))
        ncalls++;
    CHECK(ncalls > 10 && ncalls < 10000000, "short calls in a row: %zu", ncalls);
#else
    (void)pool;
#endif
}

int main(int argc, char **argv)
{
    static uint8_t done[1 << 16]; /* indexed by the set of instruction sets */

    const uint32_t found = __real_hli_choice(); /* before any restriction */
    test_start(argc, argv);
    const uint8_t *pool = random_pool(COUNT * LENGTH_MAX);
    for (size_t i = 0; i < COUNT; i++)
        messages[i] = (hl_slice){pool + i * LENGTH_MAX, random_length(LENGTH_MAX)};

    check_order();
    check_schedules();
    hl_isas built = 0;
    for (size_t k = 0; k < hl_kernel_count(); k++)
        if (hl_kernel_at(k)->blocks != NULL)
            built |= hl_kernel_at(k)->isas;
    const hl_isas available = hl_isas_available(), plain = (hl_isa_named("scalar") | hl_isa_named("gnu")) & built;
    CHECK(hl_restrict(hl_isa_named("scalar")) == HL_OK, "not taken");
    const uint32_t scalar = __real_hli_choice();
    const uint32_t nsets = UINT32_C(1) << HLI_FEATURE_COUNT;
    for (uint32_t features = 0; features < nsets; features++) {
        const hl_isas isas = hli_isas_with(features) & built;
        if (isas >= sizeof done || done[isas]++ != 0)
            continue;
        char names[256] = "";
        for (size_t i = 0; i < hl_isa_count(); i++)
            if ((isas >> i & 1) != 0)
                snprintf(names + strlen(names), sizeof names - strlen(names), " %s", hl_isa_name(i));
        if ((isas & ~available) != 0) {
            test_skip("choice among%s (not all here)", names);
            continue;
        }
        test_case("choice among%s", names);
        CHECK((isas & plain) == plain, "plain C is missing");
        CHECK(hl_restrict(isas) == HL_OK && hl_isas_allowed() == isas, "not taken");
        check_chosen(isas, features);
        check_few(isas, __real_hli_choice());
        check_remembered(__real_hli_choice(), scalar);
        check_groups(pool);
    }
    test_case("vectors that slow the clock down");
    check_price(pool);
    test_case("features taken away never add an instruction set");
    for (uint32_t features = 0; features < nsets; features++)
        for (uint32_t feature = 1; feature < nsets; feature <<= 1) /* no turns on CPUs without features */
            CHECK((hli_isas_with(features & ~feature) & ~hli_isas_with(features)) == 0, "%#x without %#x",
                  (unsigned)features, (unsigned)feature);
    test_case("all features are all instruction sets");
    CHECK(hli_isas_with(nsets - 1) == ((hl_isas)1 << hl_isa_count()) - 1, "%#x", (unsigned)hli_isas_with(nsets - 1));
    hl_restrict(0);
    for (size_t a = 0; a < hl_alg_count(); a++) {
        test_case("%s: each call chooses once", hl_alg_at(a)->name);
        hl_restrict(hl_isa_named("scalar"));
        other_choice = __real_hli_choice();
        hl_restrict(0);
        check_one_choice(hl_alg_at(a));
        other_choice = 0;
    }
    test_case("a restriction that is taken back leaves no trace");
    check_restored(found);
    return test_end();
}
