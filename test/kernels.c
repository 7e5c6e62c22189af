/* kernels.c: the kernels' own contract (hl_blocks_fn, hl_scheduled_fn), called directly: states of any value, messages
 * of any alignment that touch a forbidden page, equal message pointers, and writes to nothing but the state; with every
 * size of block that an algorithm has, and up to 1,025 blocks.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "test.h"

enum { NBLOCKS_MAX = 5, MANY_NBLOCKS = 1025 };

static struct guarded lane_memory[HL_LANES_MAX], state_memory;

static size_t state_alignment(const hl_kernel *kernel, const hl_alg_info *alg)
{
    const size_t row = (size_t)kernel->nlanes * alg->word_nbytes;

    return (row & (row - 1)) != 0 ? alg->word_nbytes : row < 64 ? row : 64;
}

static uint64_t word_at(const void *words, size_t i, unsigned word_nbytes)
{
    return word_nbytes == 4 ? ((const uint32_t *)words)[i] : ((const uint64_t *)words)[i];
}

/* One call from random states; msg[l] has nblocks blocks. If a schedule is given, scheduled() is called, and msg[l] is
 * the one block that the schedule belongs to. */
static void check_call(const hl_kernel *kernel, const hl_alg_info *alg, void *state, const uint8_t *const msg[],
                       size_t nblocks, const void *schedule, const char *what)
{
    const struct reference *ref = reference_of(alg);
    const size_t state_nbytes = (size_t)kernel->nlanes * alg->nwords * alg->word_nbytes;
    const size_t around = (size_t)(state_memory.end - state_memory.begin);
    const uint8_t *kept[HL_LANES_MAX];
    uint64_t expected[HL_LANES_MAX][REFERENCE_NWORDS];

    memset(state_memory.begin, 0xa5, around);
    random_fill(state, state_nbytes);
    memcpy(kept, msg, kernel->nlanes * sizeof kept[0]);
    for (unsigned l = 0; l < kernel->nlanes; l++) {
        for (unsigned w = 0; w < alg->nwords; w++)
            expected[l][w] = word_at(state, w * kernel->nlanes + l, alg->word_nbytes);
        for (size_t b = 0; b < nblocks; b++)
            ref->block(expected[l], msg[l] + b * alg->block_nbytes, alg->block_nbytes);
    }

    if (schedule != NULL)
        kernel->scheduled(state, schedule);
    else
        kernel->blocks(state, msg, nblocks, alg->block_nbytes);

    for (unsigned l = 0; l < kernel->nlanes; l++)
        for (unsigned w = 0; w < alg->nwords; w++)
            CHECK(word_at(state, w * kernel->nlanes + l, alg->word_nbytes) == expected[l][w],
                  "%s: %zu blocks, lane %u, word %u", what, nblocks, l, w);
    CHECK(memcmp(kept, msg, kernel->nlanes * sizeof kept[0]) == 0, "%s: the message pointers were changed", what);
    for (size_t i = 0; i < around; i++)
        if (state_memory.begin[i] != 0xa5 &&
            (state_memory.begin + i < (uint8_t *)state || state_memory.begin + i >= (uint8_t *)state + state_nbytes)) {
            CHECK(0, "%s: written %td bytes from the state", what, state_memory.begin + i - (uint8_t *)state);
            break;
        }
}

/* The one call for a block that is the same in all lanes. The schedule ends at a forbidden page. */
static void check_scheduled(const hl_kernel *kernel, const hl_alg_info *alg, uint8_t *const states[3])
{
    const struct reference *ref = reference_of(alg);
    const size_t schedule_nbytes = (size_t)ref->nscheduled * alg->word_nbytes;
    const struct guarded memory = guard_new(schedule_nbytes);
    uint8_t *const schedules[] = {memory.end - schedule_nbytes, memory.begin, memory.begin + alg->word_nbytes};

    for (unsigned round = 0; round < 60; round++) {
        uint8_t *const schedule = schedules[round / 3 % 3];
        const uint8_t *msg[HL_LANES_MAX];
        uint8_t block[HL_BLOCK_MAX_NBYTES];
        uint64_t words[160];

        random_fill(block, sizeof block);
        for (unsigned l = 0; l < HL_LANES_MAX; l++)
            msg[l] = block;
        ref->schedule(words, block);
        for (unsigned t = 0; t < ref->nscheduled; t++) {
            if (alg->word_nbytes == 4)
                ((uint32_t *)(void *)schedule)[t] = (uint32_t)words[t];
            else
                ((uint64_t *)(void *)schedule)[t] = words[t];
        }
        check_call(kernel, alg, states[round % 3], msg, 1, schedule, "scheduled");
    }
    guard_free(memory);
}

/* Powers of two, 1000, and their neighbours: where a count that goes wrong is likely to begin to. */
static int is_tried(size_t n)
{
    for (size_t i = n - 1; i <= n + 1; i++)
        if ((i & (i - 1)) == 0 || i == 1000)
            return 1;
    return 0;
}

/* Many blocks in one call, compared with the reference, which goes from block to block. */
static void check_many(const hl_kernel *kernel, const hl_alg_info *alg)
{
    const struct reference *ref = reference_of(alg);
    const size_t nwords = (size_t)kernel->nlanes * alg->nwords;
    const uint8_t *pool = random_pool(MANY_NBLOCKS * HL_BLOCK_MAX_NBYTES + 64 * HL_LANES_MAX), *msg[HL_LANES_MAX];
    uint8_t begin[HL_LANES_MAX * HL_STATE_MAX_NBYTES], *const state = state_memory.begin;
    uint64_t expected[HL_LANES_MAX][REFERENCE_NWORDS];

    random_fill(begin, sizeof begin);
    memcpy(state, begin, nwords * alg->word_nbytes);
    for (size_t i = 0; i < nwords; i++)
        expected[i % kernel->nlanes][i / kernel->nlanes] = word_at(state, i, alg->word_nbytes);
    for (unsigned l = 0; l < kernel->nlanes; l++)
        msg[l] = pool + (size_t)61 * l;
    for (size_t n = 1; n <= MANY_NBLOCKS; n++) {
        for (unsigned l = 0; l < kernel->nlanes; l++)
            ref->block(expected[l], msg[l] + (n - 1) * alg->block_nbytes, alg->block_nbytes);
        if (!is_tried(n))
            continue;
        memcpy(state, begin, nwords * alg->word_nbytes);
        kernel->blocks(state, msg, n, alg->block_nbytes);
        for (size_t i = 0; i < nwords; i++)
            CHECK(word_at(state, i, alg->word_nbytes) == expected[i % kernel->nlanes][i / kernel->nlanes],
                  "%zu blocks, lane %zu, word %zu", n, i % kernel->nlanes, i / kernel->nlanes);
    }
}

static void check_kernel(const hl_kernel *kernel, const hl_alg_info *alg)
{
    const size_t state_nbytes = (size_t)kernel->nlanes * alg->nwords * alg->word_nbytes;
    const size_t align = state_alignment(kernel, alg);
    const uint8_t *msg[HL_LANES_MAX];

    CHECK(kernel->nlanes >= 1 && kernel->nlanes <= HL_LANES_MAX, "%u lanes", kernel->nlanes);
    CHECK((kernel->isas & (kernel->isas - 1)) == 0 && kernel->isas == hl_isa_named(kernel->isa), "isas %#x",
          (unsigned)kernel->isas);

    /* The state directly before a forbidden page, directly after one, and at the weakest alignment between. */
    uint8_t *const states[] = {state_memory.end - (state_nbytes + align - 1) / align * align, state_memory.begin,
                               state_memory.begin + 64 + align};
    for (size_t nblocks = 1; nblocks <= NBLOCKS_MAX; nblocks++) {
        const size_t nbytes = nblocks * alg->block_nbytes;
        for (unsigned shift = 0; shift < 64; shift++) {
            uint8_t *const state = states[shift % 3];

            for (unsigned l = 0; l < kernel->nlanes; l++) {
                msg[l] = lane_memory[l].end - nbytes - (shift == 0 ? 0 : (shift + 7 * l) % 64);
                random_fill((uint8_t *)(uintptr_t)msg[l], nbytes);
            }
            check_call(kernel, alg, state, msg, nblocks, NULL, "messages at the end of a page");
            for (unsigned l = 0; l < kernel->nlanes; l++) {
                msg[l] = lane_memory[l].begin + (shift == 0 ? 0 : (shift + 5 * l) % 64);
                random_fill((uint8_t *)(uintptr_t)msg[l], nbytes);
            }
            check_call(kernel, alg, state, msg, nblocks, NULL, "messages at the begin of a page");
        }

        /* Idle lanes are pointed at another lane's message. */
        for (unsigned busy = 1; busy <= kernel->nlanes; busy++) {
            for (unsigned l = 0; l < kernel->nlanes; l++)
                msg[l] = lane_memory[l % busy].end - nbytes;
            check_call(kernel, alg, states[0], msg, nblocks, NULL, "equal message pointers");
        }
    }

    check_many(kernel, alg);
    if (kernel->scheduled != NULL)
        check_scheduled(kernel, alg, states);

    /* Blocks in one call and in several calls give the same state. */
    uint8_t once[HL_LANES_MAX * HL_STATE_MAX_NBYTES], *const state = states[1];
    random_fill(state, state_nbytes);
    memcpy(once, state, state_nbytes);
    for (unsigned l = 0; l < kernel->nlanes; l++)
        msg[l] = lane_memory[l].begin;
    for (size_t b = 0; b < NBLOCKS_MAX; b++) {
        kernel->blocks(state, msg, 1, alg->block_nbytes);
        for (unsigned l = 0; l < kernel->nlanes; l++)
            msg[l] += alg->block_nbytes;
    }
    uint8_t in_parts[sizeof once];
    memcpy(in_parts, state, state_nbytes);
    memcpy(state, once, state_nbytes);
    for (unsigned l = 0; l < kernel->nlanes; l++)
        msg[l] = lane_memory[l].begin;
    kernel->blocks(state, msg, NBLOCKS_MAX, alg->block_nbytes);
    CHECK(memcmp(state, in_parts, state_nbytes) == 0, "%d blocks at once and one by one differ", NBLOCKS_MAX);
}

/* The first algorithm that calls the kernel with blocks of that size. */
static const hl_alg_info *alg_of(const hl_kernel *kernel, unsigned block_nbytes)
{
    for (size_t a = 0; a < hl_alg_count(); a++)
        if (hl_alg_at(a)->body == kernel->body && hl_alg_at(a)->block_nbytes == block_nbytes)
            return hl_alg_at(a);
    return NULL;
}

int main(int argc, char **argv)
{
    test_start(argc, argv);
    state_memory = guard_new(HL_LANES_MAX * HL_STATE_MAX_NBYTES);
    for (unsigned l = 0; l < HL_LANES_MAX; l++)
        lane_memory[l] = guard_new(NBLOCKS_MAX * HL_BLOCK_MAX_NBYTES + 64);
    for (size_t i = 0; i < hl_kernel_count(); i++) {
        const hl_kernel *kernel = hl_kernel_at(i);
        if (!test_kernel(kernel))
            continue;
        for (size_t a = 0; a < hl_alg_count(); a++) {
            const hl_alg_info *alg = hl_alg_at(a);
            if (alg->body != kernel->body || alg_of(kernel, alg->block_nbytes) != alg)
                continue;
            test_case("contract of %s, blocks of %u bytes", kernel->name, alg->block_nbytes);
            check_kernel(kernel, alg);
        }
    }
    guard_free(state_memory);
    for (unsigned l = 0; l < HL_LANES_MAX; l++)
        guard_free(lane_memory[l]);
    return test_end();
}
