/* huge.c: real messages of more than 4 GiB, through every form of call and on every kernel. Only with --all.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The memory is mapped and hardly written: all but a few pages are the system's one page of zeros.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "test.h"

#include <sys/mman.h>

#if SIZE_MAX > UINT32_MAX
enum { SMALL = 300, TOUCHED_NBYTES = 5000 };

static const size_t nbytes = ((size_t)4 << 30) + 12345;

static void expect(const hl_alg_info *alg, const uint8_t *data, size_t n, uint8_t *digest)
{
    struct oracle *o = oracle_new(alg);
    const size_t part = (size_t)1 << 26;

    for (; n > part; n -= part, data += part)
        oracle_update(o, data, part);
    oracle_update(o, data, n);
    oracle_final(o, digest);
}

static void check_alg(const hl_alg_info *alg, const uint8_t *data)
{
    static uint8_t digests[(SMALL + 2) * HL_DIGEST_MAX_NBYTES];
    const size_t size = alg->digest_nbytes;
    uint8_t whole[HL_DIGEST_MAX_NBYTES], inner[HL_DIGEST_MAX_NBYTES], tail[HL_DIGEST_MAX_NBYTES];
    const size_t end = nbytes - 1000;
    hl_slice messages[SMALL + 2];
    hl_ctx ctx;

    expect(alg, data, nbytes, whole);
    expect(alg, data + 1, nbytes - 77, inner);
    oracle(alg, data + end, 1000, tail);

    test_case("%s of %zu bytes: hl_hash", alg->name, nbytes);
    CHECK(hl_hash(alg->alg, data, nbytes, digests) == HL_OK && memcmp(digests, whole, size) == 0, "digest");

    test_case("%s of %zu bytes: a stream in parts", alg->name, nbytes);
    hl_init(&ctx, alg->alg);
    for (size_t at = 0, part = (1 << 30) + 1; at < nbytes; at += part)
        CHECK(hl_update(&ctx, data + at, part < nbytes - at ? part : nbytes - at) == HL_OK, "hl_update");
    CHECK(hl_final(&ctx, digests) == HL_OK && memcmp(digests, whole, size) == 0, "digest");

    test_case("%s of %zu bytes: two such among %d small ones", alg->name, nbytes, SMALL);
    for (size_t i = 0; i < SMALL + 2; i++)
        messages[i] = (hl_slice){data + 3 * i, i % 200};
    messages[17] = (hl_slice){data, nbytes};
    messages[SMALL] = (hl_slice){data + 1, nbytes - 77};
    CHECK(hl_hash_many(alg->alg, messages, SMALL + 2, digests) == HL_OK, "hl_hash_many");
    CHECK(memcmp(digests + 17 * size, whole, size) == 0, "the first");
    CHECK(memcmp(digests + SMALL * size, inner, size) == 0, "the second");
    messages[17].nbytes = messages[SMALL].nbytes = 0;
    oracle(alg, "", 0, digests + 17 * size);
    oracle(alg, "", 0, digests + SMALL * size);
    check_digests(alg, messages, SMALL + 2, digests, "small ones");

    test_case("%s: rows beyond 4 GiB", alg->name);
    CHECK(hl_hash_rows(alg->alg, data, end, 1000, 2, digests) == HL_OK && memcmp(digests + size, tail, size) == 0,
          "hl_hash_rows");

    for (size_t k = 0; k < hl_kernel_count(); k++) {
        const hl_kernel *kernel = hl_kernel_at(k);
        if (kernel->body != alg->body || !test_kernel(kernel))
            continue;
        test_case("%s of %zu bytes: %s, all lanes", alg->name, nbytes, kernel->name);
        for (unsigned l = 0; l < kernel->nlanes; l++)
            messages[l] = (hl_slice){data, nbytes};
        CHECK(hl_hash_many_with(kernel, alg->alg, messages, kernel->nlanes, digests) == HL_OK, "hl_hash_many_with");
        for (unsigned l = 0; l < kernel->nlanes; l++)
            CHECK(memcmp(digests + l * size, whole, size) == 0, "lane %u", l);
    }
}

int main(int argc, char **argv)
{
    test_start(argc, argv);
    if (!test_all) {
        test_case("none without --all");
        test_skip("messages over 4 GiB (minutes; only with --all)");
        return test_end();
    }
    uint8_t *data = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
        perror("mmap of 4 GiB");
        return 2;
    }
    random_fill(data, TOUCHED_NBYTES);
    random_fill(data + ((size_t)1 << 31) - TOUCHED_NBYTES / 2, TOUCHED_NBYTES);
    random_fill(data + ((size_t)1 << 32) - TOUCHED_NBYTES / 2, TOUCHED_NBYTES);
    random_fill(data + nbytes - TOUCHED_NBYTES, TOUCHED_NBYTES);
    for (size_t a = 0; a < hl_alg_count(); a++)
        check_alg(hl_alg_at(a), data);
    munmap(data, nbytes);
    return test_end();
}
#else
int main(int argc, char **argv)
{
    test_start(argc, argv);
    test_case("none with 32-bit sizes");
    test_skip("messages over 4 GiB (size_t has 32 bits)");
    return test_end();
}
#endif
