/* hash_many.c: fuzzes the lane driver: every form of call, every kernel and any set of instruction sets must give the
 * digests of test/reference.c for the same messages, and touch nothing but digests and contexts. test/hmac.c has HMAC,
 * test/jobs.c and test/streams.c digests of other lengths.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * An input describes a call: the algorithm, the messages' lengths in runs, and how streams are split. The messages'
 * bytes are the input's own, repeated with a step, so that lanes differ.
 *
 * libFuzzer makes the inputs if compiled with -DLIBFUZZER and -fsanitize=fuzzer (clang). Otherwise main.h does, with
 * any compiler.
 */
#include "test.h"

#include <stdint.h>

enum { COUNT_MAX = 1000, MESSAGE_MAX_NBYTES = 20000, TOTAL_MAX_NBYTES = 600000, INPUT_MAX_NBYTES = 600 };

static struct input {
    const uint8_t *bytes;
    size_t nbytes, at;
} input;

/* The next byte of the input; zeros after its end. */
static unsigned next_byte(void)
{
    return input.at < input.nbytes ? input.bytes[input.at++] : 0;
}

static unsigned next_word(void)
{
    const unsigned low = next_byte();
    return low | next_byte() << 8;
}

static struct guarded data_memory, digest_memory, ctx_memory;
static hl_slice messages[COUNT_MAX];
static uint8_t expected[COUNT_MAX * HL_DIGEST_MAX_NBYTES];

static void fail(const hl_alg_info *alg, const char *call, size_t i, size_t count, size_t nbytes)
{
    fprintf(stderr, "fuzz/hash_many: %s: %s: message %zu of %zu, %zu bytes: the digest is wrong\n", alg->name, call, i,
            count, nbytes);
    abort();
}

static void check(const hl_alg_info *alg, const char *call, hl_status status, const uint8_t *digests, size_t count)
{
    const size_t size = alg->digest_nbytes;

    if (status != HL_OK) {
        fprintf(stderr, "fuzz/hash_many: %s: %s: %s\n", alg->name, call, hl_strerror(status));
        abort();
    }
    for (size_t i = 0; i < count; i++)
        if (memcmp(digests + i * size, expected + i * size, size) != 0)
            fail(alg, call, i, count, messages[i].nbytes);
    if (digests != digest_memory.begin && digests[-1] != 0xa5)
        fail(alg, "written before the digests", 0, count, 0);
}

/* Reads lengths, in runs of similar ones, and lays the messages out, with equal gaps between them, up to the end of
 * data_memory. */
static size_t make_messages(const hl_alg_info *alg)
{
    size_t count = 0, total = 0, gap = next_byte() % 4 == 0 ? next_byte() % 70 : 0, nruns = next_byte() % 12 + 1;

    while (nruns-- > 0 && count < COUNT_MAX) {
        const unsigned kind = next_byte();
        const size_t run = kind % 8 == 0 ? next_byte() + 1 : kind % 8 < 4 ? next_byte() % 20 + 1 : 1;
        size_t nbytes = kind / 8 % 8 == 0 ? next_word() % MESSAGE_MAX_NBYTES
                                          : next_byte() % 5 * alg->block_nbytes + next_byte() % (alg->block_nbytes + 9);
        const size_t step = kind / 64 == 0 ? next_byte() % 70 : 0; /* or all of one length */
        for (size_t i = 0; i < run && count < COUNT_MAX; i++, nbytes += step) {
            if (total + nbytes + gap > TOTAL_MAX_NBYTES)
                break;
            messages[count++].nbytes = nbytes;
            total += nbytes + gap;
        }
    }

    uint8_t *at = data_memory.end - total;
    const uint8_t step = (uint8_t)(next_byte() | 1);
    for (size_t i = 0; i < total; i++)
        at[i] = (uint8_t)(input.bytes[i % (input.nbytes + 1) % INPUT_MAX_NBYTES] + i / 64 * step);
    for (size_t m = 0; m < count; m++) {
        messages[m].data = at + gap;
        at += gap + messages[m].nbytes;
    }
    return count;
}

static void check_streams(const hl_alg_info *alg, size_t count)
{
    static hl_ctx *chosen[COUNT_MAX], *all[COUNT_MAX];
    static hl_slice chunks[COUNT_MAX];
    static size_t at[COUNT_MAX];
    const size_t ctx_nbytes = has_ctx(alg) ? sizeof(hl_ctx) : sizeof(hl_blake3_ctx);
    uint8_t *digests = digest_memory.end - count * alg->digest_nbytes;
    const size_t chunk = next_word() % 3000 + 1, spread = next_byte();
    size_t nleft = count;

    for (size_t i = 0; i < count; i++) {
        all[i] = (hl_ctx *)(void *)(ctx_memory.end - (count - i) * ctx_nbytes);
        if ((has_ctx(alg) ? hl_init(all[i], alg->alg) : hl_blake3_init((hl_blake3_ctx *)(void *)all[i], NULL)) != HL_OK)
            fail(alg, "hl_init", i, count, 0);
        at[i] = 0;
    }
    for (size_t round = 0; nleft > 0; round++) {
        size_t n = 0;
        for (size_t i = 0; i < count; i++) {
            const size_t left = messages[i].nbytes - at[i];
            const size_t want = chunk + i * spread % 200;
            if (left == 0 || (round + i) % 5 == 4)
                continue;
            chunks[n] = (hl_slice){(const uint8_t *)messages[i].data + at[i], want < left ? want : left};
            at[i] += chunks[n].nbytes;
            chosen[n++] = all[i];
        }
        if (hl_update_many(chosen, chunks, n) != HL_OK)
            fail(alg, "hl_update_many", n, count, 0);
        nleft = 0;
        for (size_t i = 0; i < count; i++)
            nleft += at[i] < messages[i].nbytes;
    }
    for (size_t i = 0; i < count; i++)
        chosen[i] = all[i];
    if (count > 0) { /* a copy goes on by itself */
        uint8_t digest[HL_DIGEST_MAX_NBYTES];
        hl_blake3_ctx copy;
        memcpy(&copy, all[count / 2], ctx_nbytes);
        if (hl_update(&copy.ctx, "more", 4) != HL_OK || hl_final(&copy.ctx, digest) != HL_OK)
            fail(alg, "a copy of a stream", count / 2, count, 4);
    }
    memset(digest_memory.begin, 0xa5, (size_t)(digest_memory.end - digest_memory.begin));
    const size_t first = spread % (count + 1);
    if (hl_final_many(chosen, first, digests) != HL_OK)
        fail(alg, "hl_final_many", 0, first, 0);
    check(alg, "streams", hl_final_many(chosen + first, count - first, digests + first * alg->digest_nbytes), digests,
          count);
}

/* An import is either refused, or exported again byte for byte, and can continue. `mutate` bytes of a true export come
 * from the input. */
static void check_import(const hl_alg_info *alg)
{
    uint8_t bytes[HL_EXPORT_MAX_NBYTES], again[HL_EXPORT_MAX_NBYTES], digest[HL_DIGEST_MAX_NBYTES];
    size_t nbytes = 0, n = 0, mutate = next_byte() % 4;
    hl_ctx ctx;

    hl_init(&ctx, alg->alg);
    hl_update(&ctx, data_memory.begin, next_byte());
    hl_export(&ctx, bytes, sizeof bytes, &nbytes);
    while (mutate-- > 0) {
        const size_t at = next_word() % nbytes;
        bytes[next_byte() % 2 ? at : at % 16] ^= (uint8_t)next_byte();
    }
    if (next_byte() % 8 == 0)
        nbytes = next_word() % (sizeof bytes + 1);
    const hl_status status = hl_import(&ctx, bytes, nbytes);
    if (status == HL_EIMPORT)
        return;
    if (status != HL_OK || hl_export(&ctx, again, sizeof again, &n) != HL_OK || n != nbytes ||
        memcmp(again, bytes, n) != 0)
        fail(alg, "hl_import", 0, 1, nbytes);
    const hl_status updated = hl_update(&ctx, "abc", 3);
    if ((updated != HL_OK && updated != HL_ELENGTH) || hl_final(&ctx, digest) != HL_OK)
        fail(alg, "hl_update after hl_import", 0, 1, nbytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    static uint8_t padded[INPUT_MAX_NBYTES + 1]; /* never empty */

    if (data_memory.begin == NULL) {
        data_memory = guard_new(TOTAL_MAX_NBYTES);
        digest_memory = guard_new(COUNT_MAX * HL_DIGEST_MAX_NBYTES);
        ctx_memory = guard_new(COUNT_MAX * sizeof(hl_blake3_ctx));
    }
    if (nbytes > INPUT_MAX_NBYTES)
        nbytes = INPUT_MAX_NBYTES;
    memset(padded, 0, sizeof padded);
    if (nbytes > 0)
        memcpy(padded, bytes, nbytes);
    input = (struct input){padded, nbytes, 0};

    const hl_alg_info *alg = hl_alg_at(next_byte() % hl_alg_count());
    const size_t count = make_messages(alg), size = alg->digest_nbytes;
    uint8_t *const digests = digest_memory.end - count * size;

    for (size_t i = 0; i < count; i++)
        oracle(alg, messages[i].data, messages[i].nbytes, expected + i * size);

#define DIGESTS() memset(digest_memory.begin, 0xa5, (size_t)(digest_memory.end - digest_memory.begin))
    for (size_t k = 0; k < hl_kernel_count(); k++) {
        const hl_kernel *kernel = hl_kernel_at(k);
        if (kernel->body != alg->body || (kernel->isas & hl_isas_available()) == 0)
            continue;
        DIGESTS();
        check(alg, kernel->name, hl_hash_many_with(kernel, alg->alg, messages, count, digests), digests, count);
    }

    /* All forms of call, with the choice restricted to some of the instruction sets. */
    if (hl_restrict(next_word() & hl_isas_available()) != HL_OK)
        fail(alg, "hl_restrict", 0, count, 0);
    DIGESTS();
    check(alg, "hl_hash_many", hl_hash_many(alg->alg, messages, count, digests), digests, count);
    for (size_t i = 0; i < count; i += 17) {
        DIGESTS();
        if (hl_hash(alg->alg, messages[i].data, messages[i].nbytes, digests) != HL_OK ||
            memcmp(digests, expected + i * size, size) != 0)
            fail(alg, "hl_hash", i, count, messages[i].nbytes);
    }
    check_streams(alg, count);
    if (has_ctx(alg))
        check_import(alg);

    /* Rows: as many as fit at some stride, up to the end of the memory. */
    const size_t row_nbytes = next_word() % 1200, stride = next_byte() % 2 ? row_nbytes : next_word() % 700;
    const size_t nrows = next_byte() + 1;
    const uint8_t *base = data_memory.end - ((nrows - 1) * stride + row_nbytes);
    for (size_t i = 0; i < nrows; i++) {
        messages[i] = (hl_slice){base + i * stride, row_nbytes};
        oracle(alg, messages[i].data, row_nbytes, expected + i * size);
    }
    uint8_t *const row_digests = digest_memory.end - nrows * size;
    DIGESTS();
    check(alg, "hl_hash_rows", hl_hash_rows(alg->alg, base, stride, row_nbytes, nrows, row_digests), row_digests,
          nrows);
#undef DIGESTS
    hl_restrict(0);
    return 0;
}

#include "main.h"
