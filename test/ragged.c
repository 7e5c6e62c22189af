/* ragged.c: any mixture of lengths, and more messages than the lane driver's window holds, on every kernel: giants
 * among small ones at every place, runs of equal length, random lengths, whole tables of one length.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "test.h"

enum { COUNT_MAX = 1500, GIANT_NBYTES = 700000, POOL_NBYTES = GIANT_NBYTES + 64 * COUNT_MAX };

static size_t block_nbytes; /* of the present algorithm */

/* Fills in the lengths of one case's messages; returns their number. */
typedef size_t make_fn(size_t nbytes[]);

static size_t random_of(size_t nbytes[], size_t count, size_t max_nbytes)
{
    for (size_t i = 0; i < count; i++)
        nbytes[i] = random_length(max_nbytes);
    return count;
}

static size_t random_short(size_t nbytes[])  { return random_of(nbytes, 1000, 200); }
static size_t random_4_KiB(size_t nbytes[])  { return random_of(nbytes, 700, 4096); }
static size_t random_long(size_t nbytes[])   { return random_of(nbytes, 40, share_of(GIANT_NBYTES)); }
static size_t random_count(size_t nbytes[])  { return random_of(nbytes, random_below(400), 2000); }
/* HLI_WINDOW of core/src/lanes.h. */
static size_t one_short_of_window(size_t nbytes[]) { return random_of(nbytes, 95, 3000); }
static size_t exactly_a_window(size_t nbytes[])    { return random_of(nbytes, 96, 3000); }
static size_t one_beyond_window(size_t nbytes[])   { return random_of(nbytes, 97, 3000); }
/* The number of states of 25 words for which the window has room (hash.c). */
static size_t one_short_of_wide(size_t nbytes[])   { return random_of(nbytes, 29, 3000); }
static size_t exactly_wide(size_t nbytes[])        { return random_of(nbytes, 30, 3000); }
static size_t one_beyond_wide(size_t nbytes[])     { return random_of(nbytes, 31, 3000); }

static size_t rising(size_t nbytes[])
{
    for (size_t i = 0; i < 600; i++)
        nbytes[i] = 11 * i;
    return 600;
}

static size_t falling(size_t nbytes[])
{
    for (size_t i = 0; i < 600; i++)
        nbytes[i] = 11 * (600 - i);
    return 600;
}

static size_t all_empty(size_t nbytes[])
{
    for (size_t i = 0; i < 300; i++)
        nbytes[i] = 0;
    return 300;
}

static size_t all_one_block(size_t nbytes[])
{
    for (size_t i = 0; i < COUNT_MAX; i++)
        nbytes[i] = block_nbytes;
    return COUNT_MAX;
}

/* Both kinds of ending in turn, so that neighbours are never in step. */
static size_t endings_in_turn(size_t nbytes[])
{
    for (size_t i = 0; i < 500; i++)
        nbytes[i] = (2 + i % 3) * block_nbytes + (i % 2 == 0 ? 10 : block_nbytes - 4);
    return 500;
}

/* Runs of one kind, of any number, so that some are left over when the next run begins. */
static size_t stretches(size_t nbytes[])
{
    for (size_t i = 0; i < 1200;) {
        const size_t nwhole = random_below(4) * block_nbytes, from = random_below(3) * (block_nbytes / 2);
        for (size_t end = i + 1 + random_below(200); i < end && i < 1200; i++)
            nbytes[i] = nwhole + from + random_below(4);
    }
    return 1200;
}

/* Unequal lengths in one size class of the driver's sort. */
static size_t nearly_equal(size_t nbytes[])
{
    const size_t count = share_of(60);

    for (size_t i = 0; i < count; i++)
        nbytes[i] = block_nbytes * (1024 + random_below(127)) + random_below(block_nbytes);
    return count;
}

static size_t giants(size_t nbytes[], size_t count, size_t ngiants, size_t at)
{
    random_of(nbytes, count, 300);
    for (size_t i = 0; i < ngiants; i++)
        nbytes[(at + i * (count / (ngiants + 1))) % count] = share_of(GIANT_NBYTES - i % 7 * 30000);
    return count;
}

static size_t giant_first(size_t nbytes[])   { return giants(nbytes, 1000, 1, 0); }
static size_t giant_middle(size_t nbytes[])  { return giants(nbytes, 1000, 1, 500); }
static size_t giant_last(size_t nbytes[])    { return giants(nbytes, 1000, 1, 999); }
static size_t few_giants(size_t nbytes[])    { return giants(nbytes, 1500, 5, 77); }
static size_t many_giants(size_t nbytes[])   { return giants(nbytes, 700, 20, 3); }
static size_t giants_only(size_t nbytes[])   { return giants(nbytes, 18, 18, 0); }

static const struct {
    const char *name;
    make_fn *make;
} mixtures[] = {
    {"random, short", random_short},
    {"random, to 4 KiB", random_4_KiB},
    {"random, long", random_long},
    {"random number of them", random_count},
    {"95 messages", one_short_of_window},
    {"96 messages", exactly_a_window},
    {"97 messages", one_beyond_window},
    {"29 messages", one_short_of_wide},
    {"30 messages", exactly_wide},
    {"31 messages", one_beyond_wide},
    {"rising", rising},
    {"falling", falling},
    {"all empty", all_empty},
    {"one block each", all_one_block},
    {"one and two ending blocks in turn", endings_in_turn},
    {"stretches of a kind", stretches},
    {"nearly equal", nearly_equal},
    {"a giant first", giant_first},
    {"a giant in the middle", giant_middle},
    {"a giant last", giant_last},
    {"five giants among 1500", few_giants},
    {"20 giants among 700", many_giants},
    {"18 giants", giants_only},
};

int main(int argc, char **argv)
{
    static size_t nbytes[COUNT_MAX];
    static hl_slice messages[COUNT_MAX];

    test_start(argc, argv);
    const uint8_t *pool = random_pool(POOL_NBYTES);
    struct guarded memory = guard_new(COUNT_MAX * HL_DIGEST_MAX_NBYTES);

    for (size_t a = 0; a < hl_alg_count(); a++) {
        const hl_alg_info *alg = hl_alg_at(a);
        const size_t size = alg->digest_nbytes;
        uint8_t *expected = malloc(COUNT_MAX * size);

        block_nbytes = alg->block_nbytes;
        for (size_t m = 0; m < sizeof mixtures / sizeof mixtures[0]; m++) {
            random_restart(1000 + m);
            const size_t count = mixtures[m].make(nbytes);
            for (size_t i = 0; i < count; i++) {
                messages[i] = (hl_slice){nbytes[i] == 0 && i % 2 == 0 ? NULL : pool + 59 * i, nbytes[i]};
                oracle(alg, messages[i].data, nbytes[i], expected + i * size);
            }
            uint8_t *const found = memory.end - count * size; /* one byte too many would fault */
            for (size_t k = 0; k <= hl_kernel_count(); k++) {
                const hl_kernel *kernel = hl_kernel_at(k);
                hl_status status;
                if (kernel != NULL &&
                    (kernel->body != alg->body || (m == 0 ? !test_kernel(kernel)
                                                          : (kernel->isas & hl_isas_available()) == 0)))
                    continue;
                test_case("%s: %s, %s", mixtures[m].name, alg->name, kernel == NULL ? "default" : kernel->name);
                memset(memory.begin, 0xa5, (size_t)(memory.end - memory.begin));
                status = kernel == NULL ? hl_hash_many(alg->alg, messages, count, found)
                                        : hl_hash_many_with(kernel, alg->alg, messages, count, found);
                CHECK(status == HL_OK, "%s", hl_strerror(status));
                for (size_t i = 0; i < count; i++)
                    CHECK(memcmp(found + i * size, expected + i * size, size) == 0, "message %zu of %zu, %zu bytes", i,
                          count, nbytes[i]);
                CHECK(found == memory.begin || found[-1] == 0xa5, "written before the digests");
            }
        }
        free(expected);
    }
    guard_free(memory);
    return test_end();
}
