/* lengths.c: every length 0 .. 300, up to two blocks, and around the block and lane boundaries, times every number of
 * messages from 1 to twice the lanes plus one, on every kernel; and more short rows than the driver sorts at a time.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "test.h"

enum { COUNT_MAX = 2 * HL_LANES_MAX + 1, LENGTHS_MAX = 700, STEP = 131, COUNT = 197, LONGEST = 250,
       FARTHEST = 2 * HL_LANES_MAX * HL_BLOCK_MAX_NBYTES + 10 };

static size_t lengths[LENGTHS_MAX], nlengths;

static void add_lengths(size_t from, size_t to)
{
    for (size_t n = from; n <= to && nlengths < LENGTHS_MAX; n++)
        if (nlengths == 0 || n > lengths[nlengths - 1])
            lengths[nlengths++] = n;
}

/* Lengths around block boundaries, up to as many blocks as there are lanes, and one more round of lanes. */
static void set_lengths(const hl_alg_info *alg)
{
    const size_t block = is_searchable(alg) ? 64 : alg->block_nbytes; /* every second boundary is one of 128 */

    nlengths = 0;
    add_lengths(0, 2 * block + 4 > 300 ? 2 * block + 4 : 300);
    for (size_t nblocks = 3; nblocks <= 2 * HL_LANES_MAX; nblocks += nblocks < 8 ? 1 : 8)
        add_lengths(nblocks * block - 20, nblocks * block + 10); /* SHA-512's length takes 16 bytes */
    if (is_searchable(alg))
        add_lengths(4096 - 10, 4096 + 10);
}

/* Message m of length number l. No two messages of a call are equal, and the first ends at a forbidden page. */
static hl_slice message_of(struct guarded memory, size_t l, size_t m)
{
    return (hl_slice){memory.end - lengths[l] - (STEP + l % 61) * m, lengths[l]};
}

/* COUNT messages of each length up to LONGEST: rows, the last of which ends at a forbidden page; then slices, of which
 * some have another length, as `kind` says. */
enum { ROWS, ANOTHER_FROM_90, EVERY_OTHER, UP_TO_7_MORE, KINDS };
static size_t length_of(unsigned kind, size_t nbytes, size_t i)
{
    switch (kind) {
    case ANOTHER_FROM_90: return i < 90 ? nbytes : (nbytes + 1) % (LONGEST + 1);
    case EVERY_OTHER: return i % 2 == 0 ? nbytes : LONGEST - nbytes;
    case UP_TO_7_MORE: return nbytes + i * i % 8;
    default: return nbytes;
    }
}

static void check_many(const hl_alg_info *alg, struct guarded memory)
{
    static uint8_t found[COUNT * HL_DIGEST_MAX_NBYTES];
    static hl_slice messages[COUNT];
    const size_t size = alg->digest_nbytes;

    test_case("many short messages: %s", alg->name);
    for (size_t nbytes = 0; nbytes <= LONGEST; nbytes++) {
        const uint8_t *rows = memory.end - COUNT * nbytes;
        uint8_t expected[HL_DIGEST_MAX_NBYTES];
        for (unsigned kind = ROWS; kind < KINDS; kind++) {
            for (size_t i = 0; i < COUNT; i++) {
                const size_t length = length_of(kind, nbytes, i);
                messages[i] = (hl_slice){kind == ROWS ? rows + i * nbytes : memory.end - length - i % 3 * 8, length};
            }
            memset(found, 0xa5, sizeof found);
            CHECK((kind == ROWS ? hl_hash_rows(alg->alg, rows, nbytes, nbytes, COUNT, found)
                                : hl_hash_many(alg->alg, messages, COUNT, found)) == HL_OK, "%zu bytes", nbytes);
            for (size_t i = 0; i < COUNT; i++) {
                oracle(alg, messages[i].data, messages[i].nbytes, expected);
                CHECK(memcmp(found + i * size, expected, size) == 0, "message %zu of %zu bytes, %zu, kind %u", i,
                      messages[i].nbytes, nbytes, kind);
            }
        }
    }
}

int main(int argc, char **argv)
{
    static uint8_t untouched[COUNT_MAX * HL_DIGEST_MAX_NBYTES];

    test_start(argc, argv);
    memset(untouched, 0xa5, sizeof untouched);

    const struct guarded memory = guard_new((STEP + 61) * COUNT_MAX + FARTHEST + COUNT * LONGEST);
    random_fill(memory.begin, (size_t)(memory.end - memory.begin));
    for (size_t a = 0; a < hl_alg_count(); a++) {
        const hl_alg_info *alg = hl_alg_at(a);
        const size_t size = alg->digest_nbytes;
        set_lengths(alg);
        uint8_t *expected = malloc(nlengths * COUNT_MAX * size);
        uint8_t found[COUNT_MAX * HL_DIGEST_MAX_NBYTES];

        for (size_t l = 0; l < nlengths; l++)
            for (size_t m = 0; m < 2 * lanes_max() + 1; m++) {
                const hl_slice message = message_of(memory, l, m);
                oracle(alg, message.data, message.nbytes, expected + (l * COUNT_MAX + m) * size);
            }

        for (size_t k = 0; k <= hl_kernel_count(); k++) { /* the last one is NULL: the library's own choice */
            const hl_kernel *kernel = hl_kernel_at(k);
            if (kernel != NULL && (kernel->body != alg->body || !test_kernel(kernel)))
                continue;
            const size_t count_max = 2 * (kernel == NULL ? lanes_max() : kernel->nlanes) + 1;
            test_case("lengths of %s: %s", alg->name, kernel == NULL ? "default" : kernel->name);
            for (size_t l = 0; l < nlengths; l++)
                for (size_t count = 1; count <= count_max; count++) {
                    if (!in_share(l + count))
                        continue;
                    /* Equal lengths; then each length beside the following ones. */
                    for (size_t spread = 0; spread <= 1; spread++) {
                        hl_slice messages[COUNT_MAX];
                        hl_status status;
                        for (size_t m = 0; m < count; m++)
                            messages[m] = message_of(memory, (l + spread * m) % nlengths, m);
                        memset(found, 0xa5, sizeof found);
                        status = kernel == NULL ? hl_hash_many(alg->alg, messages, count, found)
                                                : hl_hash_many_with(kernel, alg->alg, messages, count, found);
                        CHECK(status == HL_OK, "%s", hl_strerror(status));
                        for (size_t m = 0; m < count; m++)
                            CHECK(memcmp(found + m * size,
                                         expected + ((l + spread * m) % nlengths * COUNT_MAX + m) * size, size) == 0,
                                  "message %zu of %zu, %zu bytes (spread %zu)", m, count, messages[m].nbytes, spread);
                        CHECK(memcmp(found + count * size, untouched, sizeof found - count * size) == 0,
                              "written beyond %zu digests", count);
                    }
                }
        }
        free(expected);
        check_many(alg, memory);
    }
    guard_free(memory);
    return test_end();
}
