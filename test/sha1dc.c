/* sha1dc.c: SHA-1 that finds collision attacks: the published pairs, alone, in any lane and in streams cut anywhere, on
 * every instruction set; their harmless neighbours; digests of all lengths; the table of conditions, against itself,
 * the vectors' definition and a plain loop; refusals.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../core/src/registry.h"
#include "test.h"

#ifndef HASHLOOM_VECTORS
#  define HASHLOOM_VECTORS "vectors"
#endif

enum { NBYTES = HL_SHA1DC_DIGEST_NBYTES, FILE_MAX_NBYTES = 640, MANY = 2 * HL_LANES_MAX + 3, LENGTH_MAX = 700 };

static struct {
    const char *name;
    size_t nbytes, attack; /* of the last block that is part of the collision; 0: none */
    uint8_t bytes[FILE_MAX_NBYTES + 64];
} files[] = {
    {"shattered-1.bin", 320, 256, {0}}, {"shattered-2.bin", 320, 256, {0}}, {"shambles-1.bin", 640, 576, {0}},
    {"shambles-2.bin", 640, 576, {0}}, {"reduced.bin", 128, 0, {0}}, /* a collision of fewer steps */
};
enum { NPAIRED = 4, NFILES = sizeof files / sizeof files[0] };

static const struct {
    unsigned type, k, b;
} vectors[] = {
#define VECTOR(type, k, b) {type, k, b},
#include "../core/src/sha1dc.def"
};
enum { NVECTORS = sizeof vectors / sizeof vectors[0] };

static const uint32_t differences[2][29] = {
#define DIFFERENCES(type, ...) {__VA_ARGS__},
#include "../core/src/sha1dc.def"
};

enum {
#define KIND(kind, bit) kind = bit,
#include "../core/src/sha1dc.def"
};
static const struct {
    int kind, t, i, u, j, differ;
    uint32_t vectors;
} conditions[] = {
#define CONDITION(...) {__VA_ARGS__},
#include "../core/src/sha1dc.def"
};
enum { NCONDITIONS = sizeof conditions / sizeof conditions[0] };

static uint32_t rol(uint32_t x, unsigned n)
{
    return x << (n & 31) | x >> (-n & 31);
}

/* The message schedule, of which 16 words from `from` on are given. */
static void expand(uint32_t w[80], unsigned from)
{
    for (unsigned t = from + 16; t < 80; t++)
        w[t] = rol(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (unsigned t = from; t-- > 0;)
        w[t] = rol(w[t + 16], 31) ^ w[t + 13] ^ w[t + 8] ^ w[t + 2];
}

static void schedule_of(uint32_t w[80], const uint8_t *block)
{
    for (unsigned t = 0; t < 16; t++)
        w[t] = hli_load32(block + 4 * t, 1);
    expand(w, 0);
}

static int holds(const uint32_t w[80], size_t c, unsigned v)
{
    const int k = (int)vectors[v].k;

    return ((w[k + conditions[c].t] >> conditions[c].i ^ w[k + conditions[c].u] >> conditions[c].j) & 1) ==
           (uint32_t)conditions[c].differ;
}

/* The plain loop over the table. */
static uint32_t possible_of(const uint32_t w[80])
{
    uint32_t possible = 0;

    for (unsigned v = 0; v < NVECTORS; v++) {
        int all = 1;
        for (size_t c = 0; c < NCONDITIONS; c++)
            all &= (conditions[c].vectors >> v & 1) == 0 || holds(w, c, v);
        possible |= (uint32_t)all << v;
    }
    return possible;
}

/* What the definition of a vector says of the differences of message words. */
static void differences_of(unsigned v, uint32_t dw[80])
{
    const unsigned k = vectors[v].k;
    uint32_t all[5 + 80] = {0}, *const dv = all + 5;

    dv[k + 15] = UINT32_C(1) << vectors[v].b;
    if (vectors[v].type == 2)
        dv[k + 1] = dv[k + 3] = rol(UINT32_C(1) << 31, vectors[v].b);
    for (unsigned t = k + 16; t < 80; t++)
        dv[t] = rol(dv[t - 3] ^ dv[t - 8] ^ dv[t - 14] ^ dv[t - 16], 1);
    for (int t = (int)k - 1; t >= -5; t--)
        dv[t] = rol(dv[t + 16], 31) ^ dv[t + 13] ^ dv[t + 8] ^ dv[t + 2];
    for (int t = 0; t < 80; t++)
        dw[t] = dv[t] ^ rol(dv[t - 1], 5) ^ dv[t - 2] ^ rol(dv[t - 3] ^ dv[t - 4] ^ dv[t - 5], 30);
    for (unsigned t = HLI_SHA1DC_STEP(k) - 5; t < HLI_SHA1DC_STEP(k); t++)
        CHECK(dv[t] == 0, "vector %u: step %u is disturbed", v, t);
}

static void check_table(void)
{
    static const struct {
        int i, first, last;
    } bits[] = {
#define BITS(...) {__VA_ARGS__},
#include "../core/src/sha1dc.def"
    };
    unsigned nfound = 0;

    _Static_assert(NVECTORS == 32, "a mask has 32 bits");
    for (unsigned v = 0; v < NVECTORS; v++) {
        const int k = (int)vectors[v].k;
        uint32_t dw[80];
        unsigned n = 0;
        differences_of(v, dw);
        for (int t = 0; t < 16; t++)
            CHECK(dw[t] == rol(differences[vectors[v].type - 1][t - k + 56], vectors[v].b), "vector %u, word %d", v, t);
        for (size_t c = 0; c < NCONDITIONS; c++) {
            if ((conditions[c].vectors >> v & 1) == 0)
                continue;
            n++;
            CHECK(k + conditions[c].kind == (int)v, "condition %zu: vector %u is of another kind", c, v);
            int has_first = 0, has_second = 0;
            for (size_t b = 0; b < sizeof bits / sizeof bits[0]; b++) {
                const int t = k + conditions[c].t, u = k + conditions[c].u;
                has_first |= bits[b].i == conditions[c].i && t >= bits[b].first && t <= bits[b].last;
                has_second |= bits[b].i == conditions[c].j && u >= bits[b].first && u <= bits[b].last;
                CHECK(t >= 35 && u >= 35 && t <= 64 && u <= 64, "condition %zu: words %d and %d", c, t, u);
            }
            CHECK(has_first && has_second, "condition %zu: a bit is not gathered", c);
        }
        CHECK(n >= 7 && n <= 12, "vector %u: %u conditions", v, n);
    }
    /* Each row is one of the table that was held against sha1dc for 40 million blocks: a wrong row would be wrong in
     * the plain loop too. */
    static char text[80 * NCONDITIONS];
    uint8_t digest[32], right[8];
    int end = 0;
    for (size_t c = 0; c < NCONDITIONS; c++)
        end += snprintf(text + end, sizeof text - (size_t)end, "%d %d.%d %d.%d %d %08x\n", conditions[c].kind,
                        conditions[c].t, conditions[c].i, conditions[c].u, conditions[c].j, conditions[c].differ,
                        (unsigned)conditions[c].vectors);
    if (test_alg(HL_SHA256, "the table's digest")) {
        oracle(hl_alg_find(HL_SHA256), text, (size_t)end, digest);
        CHECK(from_hex("140242ff582e27e2", right, sizeof right) == 8 && memcmp(digest, right, 8) == 0,
              "the table has changed: hold it against ubc_check of sha1dc again (%02x%02x%02x%02x%02x%02x%02x%02x)",
              digest[0], digest[1], digest[2], digest[3], digest[4], digest[5], digest[6], digest[7]);
    }
    /* The published pairs differ as some vector says, and keep all of its conditions. */
    for (size_t f = 0; f < NPAIRED; f += 2)
        for (unsigned v = 0; v < NVECTORS; v++) {
            uint32_t w[2][80], dw[80], differ = 0;
            for (size_t i = 0; i < 2; i++)
                schedule_of(w[i], files[f + i].bytes + files[f].attack);
            differences_of(v, dw);
            for (unsigned t = 0; t < 80; t++)
                differ |= w[0][t] ^ w[1][t] ^ dw[t];
            if (differ != 0)
                continue;
            nfound++;
            for (size_t i = 0; i < 2; i++)
                CHECK((possible_of(w[i]) >> v & 1) != 0, "%s: a condition of vector %u", files[f + i].name, v);
        }
    CHECK(nfound == 2, "%u pairs belong to a vector", nfound);
}

/* Blocks of chance, and blocks that keep a vector's conditions among 16 words: of these, some keep all. */
static void check_possible(void)
{
    enum { NBLOCKS = 3, ROW = 6 * HL_LANES_MAX };
    const size_t n = share_of(20000);
    const hl_kernel *const chosen = hli_choose(hli_choice(), HL_BODY_SHA1, 1, 0, 1), *one = chosen;
    static uint8_t blocks[HL_LANES_MAX][64 * NBLOCKS];
    const uint8_t *msg[HL_LANES_MAX];
    uint32_t possible[HL_LANES_MAX] __attribute__((aligned(64))), seen = 0;
    uint32_t history[ROW * (NBLOCKS + 1)] __attribute__((aligned(64)));

    for (size_t k = 0; one->nlanes > 1; k++) /* the sets allowed may have lanes only */
        if (hl_kernel_at(k)->body == HL_BODY_SHA1 && (hl_kernel_at(k)->isas & hl_isas_available()) != 0)
            one = hl_kernel_at(k)->nlanes == 1 ? hl_kernel_at(k) : one;
    for (size_t round = 0; round < n; round++) {
        const struct hli_detector *const detector = hli_choose_detector(hli_choice(), chosen,
                                                                        round % 2 == 0 ? 1 : HL_LANES_MAX);
        const unsigned nlanes = detector->nlanes;
        for (unsigned i = 0; i < nlanes * NBLOCKS; i++) {
            const unsigned v = (unsigned)random_below(NVECTORS), from = vectors[v].k - 8 - (unsigned)random_below(3);
            uint32_t w[80];
            random_fill(w, sizeof w);
            for (unsigned t = 35; t <= 64 && round % 4 != 0; t++) /* a later word follows the earlier one */
                for (size_t c = 0; c < NCONDITIONS; c++) {
                    const int is_later = conditions[c].u >= conditions[c].t;
                    const int last = is_later ? conditions[c].u : conditions[c].t;
                    if ((conditions[c].vectors >> v & 1) != 0 && (int)vectors[v].k + last == (int)t && !holds(w, c, v))
                        w[t] ^= UINT32_C(1) << (is_later ? conditions[c].j : conditions[c].i);
                }
            expand(w, from);
            for (unsigned t = 0; t < 16; t++)
                hli_store32(blocks[i % nlanes] + 64 * (i / nlanes) + 4 * t, w[t], 1);
            msg[i % nlanes] = blocks[i % nlanes];
        }
        random_fill(history, sizeof history);
        detector->possible(msg, possible);
        detector->blocks(history, msg, NBLOCKS, 64);
        for (unsigned i = 0; i < nlanes * NBLOCKS; i++) {
            const unsigned l = i % nlanes;
            const uint32_t *const before = history + i / nlanes * 6 * nlanes, *const after = before + 6 * nlanes;
            const uint8_t *const block = blocks[l] + 64 * (i / nlanes);
            uint32_t w[80], state[8] __attribute__((aligned(64)));
            schedule_of(w, block);
            const uint32_t right = possible_of(w);
            CHECK((i >= nlanes || possible[l] == right) && after[5 * nlanes + l] == right,
                  "lane %u of %u: %08x and %08x, not %08x", l, nlanes, (unsigned)possible[l],
                  (unsigned)after[5 * nlanes + l], (unsigned)right);
            seen |= right;
            for (unsigned j = 0; j < 5; j++)
                state[j] = before[j * nlanes + l];
            one->blocks(state, &block, 1, 64);
            for (unsigned j = 0; j < 5; j++)
                CHECK(state[j] == after[j * nlanes + l], "lane %u of %u: the state after block %u", l, nlanes,
                      i / nlanes);
        }
    }
    CHECK(seen == UINT32_MAX || n < 20000, "not all vectors were seen: %08x", (unsigned)seen);
}

/* attack_end: 0, or the end of the block of an attack, which is then hashed three times. */
static int is_right(const uint8_t *digest, const void *data, size_t nbytes, size_t attack_end)
{
    static const uint8_t zeros[3];
    const int is_attack = attack_end != 0;
    const uint8_t *const bytes = data;
    uint8_t right[20];
    hl_ctx ctx;

    if (is_attack) {
        CHECK(hl_init(&ctx, HL_SHA1) == HL_OK && hl_update(&ctx, bytes, attack_end) == HL_OK, "SHA-1");
        for (unsigned again = 0; again < 2; again++)
            CHECK(hl_update(&ctx, bytes + attack_end - 64, 64) == HL_OK, "SHA-1");
        ctx.nbytes -= 128;
        CHECK(hl_update(&ctx, bytes + attack_end, nbytes - attack_end) == HL_OK && hl_final(&ctx, right) == HL_OK,
              "SHA-1");
    } else {
        oracle(hl_alg_find(HL_SHA1), data, nbytes, right);
    }
    return memcmp(digest, right, 20) == 0 && digest[20] == is_attack && memcmp(digest + 21, zeros, 3) == 0;
}

static void check_lengths(void)
{
    static hl_slice messages[LENGTH_MAX + 1];
    static uint8_t digests[(LENGTH_MAX + 1) * NBYTES];
    const uint8_t *pool = random_pool(2 * LENGTH_MAX);

    for (size_t n = 0; n <= LENGTH_MAX; n++) {
        uint8_t alone[NBYTES];
        messages[n] = (hl_slice){pool + LENGTH_MAX - n, n};
        CHECK(hl_hash(HL_SHA1DC, messages[n].data, n, alone) == HL_OK && is_right(alone, messages[n].data, n, 0),
              "%zu bytes", n);
    }
    CHECK(hl_hash_many(HL_SHA1DC, messages, LENGTH_MAX + 1, digests) == HL_OK, "many");
    for (size_t n = 0; n <= LENGTH_MAX; n++)
        CHECK(is_right(digests + n * NBYTES, messages[n].data, n, 0), "%zu bytes among many", n);
    for (size_t n = 1; n <= MANY; n++) {
        CHECK(hl_hash_rows(HL_SHA1DC, pool, 7, 64 + n, n, digests) == HL_OK, "rows");
        for (size_t i = 0; i < n; i++)
            CHECK(is_right(digests + i * NBYTES, pool + 7 * i, 64 + n, 0), "row %zu of %zu", i, n);
    }
}

/* Messages that begin with the file, and go on with 0 to 63 bytes. */
static void check_alone_and_cut(size_t f)
{
    const uint8_t *const data = files[f].bytes;
    const int is_attack = f < NPAIRED;
    const size_t end = is_attack ? files[f].attack + 64 : 0;
    uint8_t digest[NBYTES], bytes[HL_EXPORT_MAX_NBYTES];
    hl_ctx ctx;

    random_fill(files[f].bytes + files[f].nbytes, 64);
    for (size_t more = 0; more < 64; more += 9)
        CHECK(hl_hash(HL_SHA1DC, data, files[f].nbytes + more, digest) == HL_OK &&
                  is_right(digest, data, files[f].nbytes + more, end), "and %zu bytes", more);
    for (size_t cut = 0; cut <= files[f].nbytes; cut += 1 + (size_t)(UNDER_SANITIZER * 6)) {
        size_t nbytes = 0;
        CHECK(hl_init(&ctx, HL_SHA1DC) == HL_OK && hl_update(&ctx, data, cut) == HL_OK &&
                  hl_export(&ctx, bytes, sizeof bytes, &nbytes) == HL_OK && hl_import(&ctx, bytes, nbytes) == HL_OK &&
                  hl_update(&ctx, data + cut, files[f].nbytes - cut) == HL_OK && hl_final(&ctx, digest) == HL_OK,
              "cut at %zu", cut);
        CHECK(is_right(digest, data, files[f].nbytes, end), "cut at %zu", cut);
    }
    /* Without the end, and with one bit that differs, it is nobody's half. */
    CHECK(hl_hash(HL_SHA1DC, data, files[f].attack, digest) == HL_OK && is_right(digest, data, files[f].attack, 0),
          "the blocks before");
    for (size_t bit = 0; is_attack && bit < 8 * files[f].nbytes; bit += 7) {
        files[f].bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK(hl_hash(HL_SHA1DC, data, files[f].nbytes, digest) == HL_OK &&
                  is_right(digest, data, files[f].nbytes, bit / 8 >= end ? end : 0), "bit %zu changed", bit);
        files[f].bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

/* Among n messages of other lengths, at every place. By one call, or in streams of two parts. */
static void check_among(const hl_kernel *kernel, size_t n)
{
    const uint8_t *pool = random_pool(4000);
    hl_slice messages[MANY], parts[MANY];
    uint8_t digests[MANY * NBYTES];
    hl_ctx ctxs[MANY], *all[MANY];

    for (size_t at = 0; at < n; at++) {
        const size_t f = at % NFILES, second = (at + n / 2) % n, cut = random_below(320);
        for (size_t i = 0; i < n; i++)
            messages[i] = (hl_slice){pool + 10 * i, at % 2 == 0 ? 320 : random_below(1000)};
        messages[second] = (hl_slice){files[1].bytes, files[1].nbytes};
        messages[at] = (hl_slice){files[f].bytes, files[f].nbytes};
        CHECK((kernel != NULL ? hl_hash_many_with(kernel, HL_SHA1DC, messages, n, digests)
                              : hl_hash_many(HL_SHA1DC, messages, n, digests)) == HL_OK, "%zu of %zu", at, n);
        for (int is_stream = 0; is_stream < 2; is_stream++) {
            for (size_t i = 0; i < n; i++)
                CHECK(is_right(digests + i * NBYTES, messages[i].data, messages[i].nbytes,
                               i == at       ? (f < NPAIRED ? files[f].attack + 64 : 0)
                               : i == second ? files[1].attack + 64
                                             : 0),
                      "%s at %zu of %zu%s: message %zu", files[f].name, at, n, is_stream ? " in streams" : "", i);
            if (is_stream || kernel != NULL)
                break;
            for (size_t i = 0; i < n; i++) {
                all[i] = &ctxs[i];
                CHECK(hl_init(&ctxs[i], HL_SHA1DC) == HL_OK, "init");
                parts[i] = (hl_slice){messages[i].data, messages[i].nbytes < cut ? messages[i].nbytes : cut};
            }
            CHECK(hl_update_many(all, parts, n) == HL_OK, "the first parts");
            for (size_t i = 0; i < n; i++)
                parts[i] = (hl_slice){(const uint8_t *)messages[i].data + parts[i].nbytes,
                                      messages[i].nbytes - parts[i].nbytes};
            CHECK(hl_update_many(all, parts, n) == HL_OK && hl_final_many(all, n, digests) == HL_OK, "the rest");
        }
    }
}

static void check_refusals(void)
{
    const hl_slice message = {"abc", 3};
    uint8_t digest[HL_DIGEST_MAX_NBYTES], bytes[HL_EXPORT_MAX_NBYTES];
    size_t nbytes;
    hl_hmac_key key;
    hl_ctx ctx;
    hl_job job = {.nbytes = sizeof job, .alg = HL_SHA1DC, .digests = digest,
                  .messages = {.layout = HL_SLICES, .count = 1, .base = &message}};

    CHECK(hl_alg_find(HL_SHA1DC) == NULL, "it is in no list");
    CHECK(hl_hmac_key_init(&key, HL_SHA1DC, "key", 3) == HL_EALG, "HMAC");
    CHECK(hl_run(&job) == HL_OK && is_right(digest, "abc", 3, 0), "a job");
    job.is_secret = 1;
    CHECK(hl_run(&job) == HL_EJOB, "secret");
    job.is_secret = 0, job.again = HL_SHA1;
    CHECK(hl_run(&job) == HL_EJOB, "the digest hashed again");
    job.alg = HL_SHA1, job.again = HL_SHA1DC;
    CHECK(hl_run(&job) == HL_EALG, "again");
    CHECK(hl_init(&ctx, HL_SHA1DC) == HL_OK && hl_export(&ctx, bytes, sizeof bytes, &nbytes) == HL_OK, "export");
    bytes[16 + 23] = 1;
    CHECK(hl_import(&ctx, bytes, nbytes) == HL_EIMPORT, "a verdict that is none");
}

int main(int argc, char **argv)
{
    hl_ctx ctx;

    test_start(argc, argv);
    if (!test_alg(HL_SHA1, "SHA-1 that finds collision attacks") || !has_calls(hl_init(&ctx, HL_SHA1DC))) {
        test_case("a library without it");
        CHECK(hl_init(&ctx, HL_SHA1DC) == HL_EALG, "it is there");
        return test_end();
    }
    test_case("vectors/sha1dc");
    for (size_t f = 0; f < NFILES; f++) {
        char path[400];
        snprintf(path, sizeof path, "%s/sha1dc/%s", HASHLOOM_VECTORS, files[f].name);
        FILE *file = fopen(path, "rb");
        if (!CHECK(file != NULL, "no %s", path))
            return test_end();
        CHECK(fread(files[f].bytes, 1, FILE_MAX_NBYTES, file) == files[f].nbytes, "%s", path);
        fclose(file);
    }
    test_case("the table of conditions");
    check_table();
    for (size_t i = 0; i <= hl_isa_count(); i++) {
        const char *isa = test_isa(i, "SHA-1 that finds collision attacks");
        if (isa == NULL)
            continue;
        test_case("%s: conditions", isa);
        check_possible();
        test_case("%s: lengths", isa);
        check_lengths();
        for (size_t f = 0; f < NFILES; f++) {
            test_case("%s: %s", isa, files[f].name);
            check_alone_and_cut(f);
        }
        test_case("%s: in every lane, and in streams", isa);
        for (size_t n = 1; n <= MANY; n += n < 5 ? 1 : 6)
            check_among(NULL, n);
    }
    for (size_t i = 0; i < hl_kernel_count(); i++)
        if (hl_kernel_at(i)->body == HL_BODY_SHA1 && test_kernel(hl_kernel_at(i))) {
            test_case("%s", hl_kernel_at(i)->name);
            check_among(hl_kernel_at(i), MANY);
        }
    test_case("refusals");
    check_refusals();
    return test_end();
}
