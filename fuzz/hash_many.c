/* hash_many.c: fuzzes the lane driver: every form of call, every kernel and any set of instruction sets must give the
 * digests and HMACs of test/reference.c for the same messages, and touch nothing but digests and contexts.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * An XOF, which has no HMAC, gives digests of any length instead.
 *
 * An input describes a call: the algorithm, the messages' lengths in runs, and how streams are split. The messages'
 * bytes are the input's own, repeated with a step, so that lanes differ.
 *
 * libFuzzer makes the inputs if compiled with -DLIBFUZZER and -fsanitize=fuzzer (clang). Otherwise main.h does, with
 * any compiler.
 */
#include "test.h"

#include <stdint.h>

enum { COUNT_MAX = 1000, MESSAGE_MAX_NBYTES = 20000, TOTAL_MAX_NBYTES = 600000, INPUT_MAX_NBYTES = 600,
       KEY_MAX_NBYTES = 300, HMAC_COUNT_MAX = 60, LONG_MAX_NBYTES = 1000 };

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

/* HMAC by the definition of FIPS 198-1, over test/reference.c or libcrypto. The key consists of bytes of the input. */
static void check_hmac(const hl_alg_info *alg, size_t count)
{
    static uint8_t secret[KEY_MAX_NBYTES];
    const size_t size = alg->digest_nbytes, key_nbytes = next_word() % (KEY_MAX_NBYTES + 1), cut = next_word();
    /* The reference takes half of a message's time, so it computes only some. */
    const size_t n = count < HMAC_COUNT_MAX ? count : HMAC_COUNT_MAX;
    uint8_t *const tags = digest_memory.end - n * size;
    hl_hmac_ctx *const ctx = (hl_hmac_ctx *)(void *)ctx_memory.end - 1;
    hl_hmac_key key;

    for (size_t i = 0; i < key_nbytes; i++)
        secret[i] = (uint8_t)(input.bytes[(i + 7) % INPUT_MAX_NBYTES] + i);
    for (size_t i = 0; i < n; i++)
        oracle_hmac(alg, secret, key_nbytes, messages[i].data, messages[i].nbytes, expected + i * size);
    if (hl_hmac_key_init(&key, alg->alg, secret, key_nbytes) != HL_OK)
        fail(alg, "hl_hmac_key_init", 0, count, key_nbytes);
    memset(digest_memory.begin, 0xa5, (size_t)(digest_memory.end - digest_memory.begin));
    check(alg, "hl_hmac_many", hl_hmac_many(&key, messages, n, tags), tags, n);
    for (size_t i = 0; i < n; i += 1 + n / 4) {
        const uint8_t *data = messages[i].data;
        const size_t nbytes = messages[i].nbytes, first = nbytes == 0 ? 0 : cut % (nbytes + 1);
        uint8_t *const right = expected + i * size;
        if (hl_hmac_init(ctx, &key) != HL_OK || hl_hmac_update(ctx, data, first) != HL_OK ||
            hl_hmac_update(ctx, data + first, nbytes - first) != HL_OK || hl_hmac_final(ctx, tags) != HL_OK ||
            memcmp(tags, right, size) != 0)
            fail(alg, "hl_hmac_update", i, n, nbytes);
        if (hl_hmac_verify(&key, data, nbytes, right, size) != HL_OK)
            fail(alg, "hl_hmac_verify", i, n, nbytes);
        right[cut % size] ^= (uint8_t)(1u << cut / 256 % 8);
        if (hl_hmac_verify(&key, data, nbytes, right, size) != HL_ETAG)
            fail(alg, "hl_hmac_verify of another tag", i, n, nbytes);
        right[cut % size] ^= (uint8_t)(1u << cut / 256 % 8);
    }
}

/* Digests of an XOF, of any length: of all messages, and of a stream in parts. */
static void check_long(const hl_alg_info *alg, size_t count)
{
    static uint8_t right[LONG_MAX_NBYTES];
    const size_t n = count < HMAC_COUNT_MAX ? count : HMAC_COUNT_MAX;
    const size_t room = (size_t)(digest_memory.end - digest_memory.begin) / HMAC_COUNT_MAX;
    const size_t size = next_word() % (room < LONG_MAX_NBYTES ? room : LONG_MAX_NBYTES) + 1, part = next_byte() + 1;
    uint8_t *const digests = digest_memory.end - n * size;
    hl_ctx *const ctx = (hl_ctx *)(void *)ctx_memory.end - 1;

    memset(digest_memory.begin, 0xa5, (size_t)(digest_memory.end - digest_memory.begin));
    const hl_status status =
        hl_run(&(hl_job){.nbytes = sizeof(hl_job), .alg = (uint32_t)alg->alg, .digest_nbytes = size, .digests = digests,
                         .is_secret = size % 2, .messages = {.count = n, .base = messages}});
    if (status != HL_OK || (digests != digest_memory.begin && digests[-1] != 0xa5))
        fail(alg, "hl_run of long digests", 0, n, size);
    for (size_t i = 0; i < n; i++) {
        oracle_long(alg, messages[i].data, messages[i].nbytes, right, size);
        if (memcmp(digests + i * size, right, size) != 0)
            fail(alg, "hl_run of long digests", i, n, messages[i].nbytes);
    }
    for (size_t i = 0; i < n; i += 8) { /* overwrites digests */
        oracle_long(alg, messages[i].data, messages[i].nbytes, right, size);
        if (hl_init(ctx, alg->alg) != HL_OK || hl_update(ctx, messages[i].data, messages[i].nbytes) != HL_OK)
            fail(alg, "hl_update before hl_squeeze", i, n, messages[i].nbytes);
        for (size_t at = 0; at < size; at += part) {
            const size_t left = size - at, nhere = part < left ? part : left;
            uint8_t *const to = digest_memory.end - nhere;
            if (hl_squeeze(ctx, to, nhere) != HL_OK || memcmp(to, right + at, nhere) != 0)
                fail(alg, "hl_squeeze", i, n, messages[i].nbytes);
        }
    }
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

/* Digests that are cut, of the first n messages, all of one length. */
static void check_cut(const hl_alg_info *alg, const uint8_t *base, size_t stride, size_t row_nbytes, size_t n)
{
    const size_t size = next_byte() % alg->digest_nbytes + 1;
    uint8_t *const digests = digest_memory.end - n * size, right[HL_DIGEST_MAX_NBYTES];
    const hl_job job = {.nbytes = sizeof job, .alg = (uint32_t)alg->alg, .digest_nbytes = size, .digests = digests,
                        .messages = {.layout = HL_ROWS, .count = n, .base = base, .stride = stride,
                                     .nbytes = row_nbytes}};

    memset(digest_memory.begin, 0xa5, (size_t)(digest_memory.end - digest_memory.begin));
    if (hl_run(&job) != HL_OK || (digests != digest_memory.begin && digests[-1] != 0xa5))
        fail(alg, "hl_run of cut digests", 0, n, size);
    for (size_t i = 0; i < n; i += 1 + n / 16) {
        oracle_long(alg, base + i * stride, row_nbytes, right, size);
        if (memcmp(digests + i * size, right, size) != 0)
            fail(alg, "hl_run of cut digests", i, n, size);
    }
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
    check_streams(alg, count);
    if (has_hmac(alg))
        check_hmac(alg, count);
    else if (alg->ending == HL_XOF)
        check_long(alg, count);
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
    if (alg->ending < HL_COUNTED) /* BLAKE2 has other digests of other lengths */
        check_cut(alg, base, stride, row_nbytes, nrows);
#undef DIGESTS
    hl_restrict(0);
    return 0;
}

#include "main.h"
