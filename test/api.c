/* api.c: the public calls: names, restrictions, what they accept and refuse; an error writes nothing. That all forms
 * agree is said by lengths.c, jobs.c, streams.c and fuzz/hash_many.c.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "test.h"

#include <stdint.h>

/* All rows of the list, also those that the build leaves out. */
#undef HL_ALGORITHMS
#include "../core/src/parts.h"

enum { POISON = 0xa5 };

#define OFF_TABLE ((hl_alg)99)

/* ---- Enumeration and names ---- */

static void check_names(void)
{
    char text[64];

    test_case("algorithms are listed and found");
    CHECK(hl_alg_at(hl_alg_count()) == NULL && hl_alg_at(SIZE_MAX) == NULL, "beyond the last");
    for (size_t i = 0; i < hl_alg_count(); i++) {
        const hl_alg_info *alg = hl_alg_at(i);
        CHECK(hl_alg_find(alg->alg) == alg, "%s", alg->name);
        CHECK(alg->digest_nbytes <= HL_DIGEST_MAX_NBYTES && alg->block_nbytes <= HL_BLOCK_MAX_NBYTES, "%s", alg->name);
        CHECK(alg->digest_nbytes <= alg->nwords * alg->word_nbytes, "%s", alg->name);
        CHECK(alg->nwords * alg->word_nbytes <= sizeof((hl_ctx *)0)->state, "%s", alg->name);
    }
    CHECK(hl_alg_find((hl_alg)0) == NULL && hl_alg_find(OFF_TABLE) == NULL, "no such algorithm");
    size_t nrows = 0;
#define ALG(NAME, id, name_, ...) \
    if (test_alg(HL_##NAME, name_)) { \
        const hl_alg_info *alg = hl_alg_find(HL_##NAME); \
        CHECK(HL_##NAME == (id) && strcmp(alg->name, name_) == 0 && alg->digest_nbytes == HL_##NAME##_DIGEST_NBYTES, \
              "%s: its number, its name and the macro's size", name_); \
        CHECK(hl_alg_at(nrows) == alg, "%s stands in another place than in the list", name_); \
        nrows++; \
    }
#include "../core/src/algorithms.def"
    CHECK(nrows == hl_alg_count(), "%zu algorithms in the list, %zu in the library", nrows, hl_alg_count());
    for (size_t i = 0; i < hl_alg_count(); i++) {
        const hl_alg_info *alg = hl_alg_at(i);
        CHECK((alg->suffix != 0) == is_sponge(alg), "%s: suffix %#x", alg->name, alg->suffix);
        CHECK(alg->block_shift == 0 ? alg->ending >= HL_COUNTED || (alg->block_nbytes & (alg->block_nbytes - 1)) != 0
                                    : 1u << alg->block_shift == alg->block_nbytes,
              "%s: block_shift %u", alg->name, alg->block_shift);
        CHECK(alg->block_nbytes % alg->word_nbytes == 0 && (!is_sponge(alg) || alg->block_nbytes < 200), "%s",
              alg->name);
    }

    test_case("instruction sets are listed and named");
    CHECK(hl_isa_count() >= 1 && hl_isa_count() <= 32, "%zu", hl_isa_count());
    CHECK(hl_isa_name(hl_isa_count()) == NULL && hl_isa_name(SIZE_MAX) == NULL, "beyond the last");
    for (size_t i = 0; i < hl_isa_count(); i++)
        CHECK(hl_isa_named(hl_isa_name(i)) == (hl_isas)1 << i, "%s", hl_isa_name(i));
    CHECK(hl_isa_named("") == 0 && hl_isa_named(NULL) == 0 && hl_isa_named("SCALAR") == 0, "no such name");
    CHECK((hl_isas_available() & hl_isa_named("scalar")) != 0, "scalar is always there");
    CHECK(hl_isas_allowed() == hl_isas_available(), "nothing is restricted at first");
    CHECK(((uint64_t)hl_isas_available() >> hl_isa_count()) == 0, "only listed ones are available");

    test_case("kernels are listed");
    CHECK(hl_kernel_at(hl_kernel_count()) == NULL && hl_kernel_at(SIZE_MAX) == NULL, "beyond the last");
    for (size_t i = 0; i < hl_kernel_count(); i++) {
        const hl_kernel *kernel = hl_kernel_at(i);
        CHECK(kernel->isas == (body_alg(kernel->body) == NULL ? 0 : hl_isa_named(kernel->isa)), "%s", kernel->name);
        CHECK(kernel->blocks != NULL || (kernel->isas & hl_isas_available()) == 0, "%s", kernel->name);
        CHECK(kernel->nlanes >= 1 && kernel->nlanes <= HL_LANES_MAX, "%s", kernel->name);
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(hl_kernel_at(j)->name, kernel->name) != 0 &&
                      (kernel->blocks == NULL || hl_kernel_at(j)->blocks != kernel->blocks),
                  "%s is there twice", kernel->name);
    }
    for (size_t a = 0; a < hl_alg_count(); a++) {
        hl_isas isas = 0;
        for (size_t i = 0; i < hl_kernel_count(); i++)
            if (hl_kernel_at(i)->body == hl_alg_at(a)->body)
                isas |= hl_kernel_at(i)->isas;
        CHECK((isas & hl_isa_named("scalar")) != 0, "%s has no scalar kernel", hl_alg_at(a)->name);
    }

    test_case("version and errors have texts");
    snprintf(text, sizeof text, "%d.%d.%d", HL_VERSION_MAJOR, HL_VERSION_MINOR, HL_VERSION_PATCH);
    CHECK(strcmp(hl_version(), text) == 0, "%s", hl_version());
    for (int s = -1; s <= HL_ESTOPPED + 1; s++) {
        const char *sentence = hl_strerror((hl_status)s);
        if (CHECK(sentence != NULL && sentence[0] != '\0', "status %d", s))
            CHECK(sentence[strlen(sentence) - 1] != '.', "%s", sentence);
        for (int other = HL_OK; other < s && s <= HL_ESTOPPED; other++)
            CHECK(strcmp(sentence, hl_strerror((hl_status)other)) != 0, "%d and %d", s, other);
    }
}

/* ---- Restrictions ---- */

static int has_kernel(hl_body body, hl_isas isas, unsigned most_lanes)
{
    for (size_t k = 0; k < hl_kernel_count(); k++)
        if (hl_kernel_at(k)->body == body && (hl_kernel_at(k)->isas & isas) != 0 &&
            hl_kernel_at(k)->nlanes <= most_lanes)
            return 1;
    return 0;
}

static int lacks_an_algorithm(hl_isas isas)
{
    for (size_t a = 0; a < hl_alg_count(); a++)
        if (!has_kernel(hl_alg_at(a)->body, isas, HL_LANES_MAX))
            return 1;
    return 0;
}

static void check_restriction(const hl_alg_info *alg)
{
    const hl_isas available = hl_isas_available(), scalar = hl_isa_named("scalar");
    hl_isas mask = 0;

    /* Every subset of the available sets: (m - available) & available counts through them. */
    do {
        char when[32];
        snprintf(when, sizeof when, "isas %#x", (unsigned)mask);
        CHECK(hl_restrict(mask) == HL_OK, "%s", when);
        const hl_isas allowed = hl_isas_allowed(), wanted = mask == 0 ? available : mask;
        CHECK(hl_isas_available() == available, "%s: available %#x", when, (unsigned)hl_isas_available());
        CHECK(allowed == wanted || (allowed == (wanted | scalar) && lacks_an_algorithm(wanted)), "%s: allowed %#x",
              when, (unsigned)allowed);
        CHECK(!lacks_an_algorithm(allowed), "%s: %#x do not do every algorithm", when, (unsigned)allowed);
        CHECK(hl_restrict(allowed) == HL_OK && hl_isas_allowed() == allowed, "%s: given back", when);

        for (size_t n = 1; n < 200; n += n < 70 ? 1 : 43) {
            const hl_kernel *kernel = hl_kernel_chosen(alg->alg, n);
            CHECK(kernel != NULL && kernel->body == alg->body && (kernel->isas & allowed) != 0,
                  "%s: %s for %zu messages", when, kernel == NULL ? "none" : kernel->name, n);
            /* One message has a kernel of one lane, if there is any, and two may take less time by it. */
            CHECK(kernel != NULL &&
                      ((kernel->isas & wanted) != 0 || !has_kernel(alg->body, wanted, n <= 2 ? 1 : HL_LANES_MAX)),
                  "%s: plain C for %zu messages", when, n);
        }
        CHECK(hl_kernel_chosen(alg->alg, SIZE_MAX) == hl_kernel_chosen(alg->alg, 1000000), "%s: the limit", when);
        mask = (mask - available) & available;
    } while (mask != 0);
    CHECK(hl_restrict(0) == HL_OK && hl_isas_allowed() == available, "taken back");
}

static void check_refused_restriction(void)
{
    const hl_isas available = hl_isas_available(), one = available & (~available + 1);

    CHECK(hl_restrict(one) == HL_OK, "one");
    for (unsigned bit = 0; bit < 32; bit++) {
        const hl_isas isa = (hl_isas)1 << bit;
        if ((available & isa) != 0)
            continue;
        CHECK(hl_restrict(isa) == HL_EISA && hl_restrict(isa | one) == HL_EISA, "bit %u", bit);
        CHECK(hl_isas_allowed() == one && hl_isas_available() == available, "bit %u: changed", bit);
    }
    CHECK(hl_restrict(~(hl_isas)0) == HL_EISA, "all bits");
    CHECK(hl_isas_allowed() == one, "changed");
    CHECK(hl_restrict(0) == HL_OK && hl_isas_allowed() == available, "taken back");
}

/* ---- Empty messages and NULL ---- */

static void check_empty(const hl_alg_info *alg)
{
    const hl_slice none[3] = {{NULL, 0}, {"", 0}, {NULL, 0}};
    uint8_t expected[HL_DIGEST_MAX_NBYTES], digests[3 * HL_DIGEST_MAX_NBYTES];
    hl_ctx ctxs[3], *all[3] = {&ctxs[0], &ctxs[1], &ctxs[2]};

    oracle(alg, "", 0, expected);
#define EMPTY(call, n) \
    do { \
        const size_t n_ = (n); \
        memset(digests, POISON, sizeof digests); \
        CHECK((call) == HL_OK, "%s", #call); \
        for (size_t i_ = 0; i_ < n_; i_++) \
            CHECK(memcmp(digests + i_ * alg->digest_nbytes, expected, alg->digest_nbytes) == 0, "%s", #call); \
        CHECK(digests[n_ * alg->digest_nbytes] == POISON, "%s: written beyond", #call); \
    } while (0)
    EMPTY(hl_hash(alg->alg, NULL, 0, digests), 1);
    EMPTY(hl_hash_many(alg->alg, none, 2, digests), 2);
    EMPTY(hl_hash_rows(alg->alg, NULL, 0, 0, 2, digests), 2);
    EMPTY(hl_hash_rows(alg->alg, NULL, 100, 0, 2, digests), 2);
    if (has_ctx(alg)) {
        hl_init(&ctxs[0], alg->alg);
        EMPTY(hl_final(&ctxs[0], digests), 1);
        hl_init(&ctxs[0], alg->alg);
        CHECK(hl_update(&ctxs[0], NULL, 0) == HL_OK, "hl_update of nothing");
        EMPTY(hl_final(&ctxs[0], digests), 1);
        for (int i = 0; i < 3; i++)
            hl_init(&ctxs[i], alg->alg);
        CHECK(hl_update_many(all, none, 3) == HL_OK, "hl_update_many of nothing");
        EMPTY(hl_final_many(all, 2, digests), 2);
    }

    /* Zero messages: no pointer is needed and nothing is written. */
    EMPTY(hl_hash_many(alg->alg, NULL, 0, NULL), 0);
    EMPTY(hl_hash_many(alg->alg, none, 0, digests), 0);
    EMPTY(hl_hash_rows(alg->alg, NULL, 0, 0, 0, NULL), 0);
    EMPTY(hl_hash_rows(alg->alg, NULL, 64, 64, 0, digests), 0);
    if (test_alg(HL_SHA256, "hl_sha256d_rows"))
        EMPTY(hl_sha256d_rows(NULL, 64, 64, 0, NULL), 0);
    if (test_alg(HL_SHA256, "hl_hash160_rows") && test_alg(HL_RIPEMD160, "hl_hash160_rows"))
        EMPTY(hl_hash160_rows(NULL, 64, 64, 0, NULL), 0);
    EMPTY(hl_update_many(NULL, NULL, 0), 0);
    EMPTY(hl_final_many(NULL, 0, NULL), 0);
#undef EMPTY
}

/* ---- Errors ---- */

static uint8_t guarded_digests[8 * HL_DIGEST_MAX_NBYTES];

static void refuse(hl_status found, hl_status wanted, const char *call)
{
    CHECK(found == wanted, "%s: expected \"%s\", got \"%s\"", call, hl_strerror(wanted), hl_strerror(found));
    for (size_t i = 0; i < sizeof guarded_digests; i++)
        if (guarded_digests[i] != POISON) {
            CHECK(0, "%s: wrote byte %zu of the digests", call, i);
            memset(guarded_digests, POISON, sizeof guarded_digests);
            break;
        }
}
#define REFUSE(call, status) refuse((call), (status), #call)

static void check_errors(const hl_alg_info *alg)
{
    const hl_alg a = alg->alg;
    const hl_slice good[3] = {{"abc", 3}, {"def", 3}, {"ghi", 3}};
    const hl_slice no_data[3] = {{"abc", 3}, {"def", 3}, {NULL, 1}};
    uint8_t *const to = guarded_digests;
    const hl_kernel *kernel = hl_kernel_chosen(a, 1);

    memset(guarded_digests, POISON, sizeof guarded_digests);
    REFUSE(hl_hash(OFF_TABLE, "abc", 3, to), HL_EALG);
    REFUSE(hl_hash((hl_alg)0, "abc", 3, to), HL_EALG);
    REFUSE(hl_hash((hl_alg)-1, "abc", 3, to), HL_EALG);
    REFUSE(hl_hash(a, NULL, 3, to), HL_ENULL);
    REFUSE(hl_hash(a, "abc", 3, NULL), HL_ENULL);

    REFUSE(hl_hash_many(OFF_TABLE, good, 3, to), HL_EALG);
    REFUSE(hl_hash_many(a, NULL, 3, to), HL_ENULL);
    REFUSE(hl_hash_many(a, good, 3, NULL), HL_ENULL);
    REFUSE(hl_hash_many(a, no_data, 3, to), HL_ENULL);
    REFUSE(hl_hash_many(a, good, SIZE_MAX / alg->digest_nbytes + 1, to), HL_ELENGTH);
    REFUSE(hl_hash_many(a, good, SIZE_MAX, to), HL_ELENGTH);

    REFUSE(hl_hash_rows(OFF_TABLE, "abc", 1, 1, 3, to), HL_EALG);
    REFUSE(hl_hash_rows(a, NULL, 1, 1, 3, to), HL_ENULL);
    REFUSE(hl_hash_rows(a, "abc", 1, 1, 3, NULL), HL_ENULL);
    REFUSE(hl_hash_rows(a, "abc", 0, 1, SIZE_MAX, to), HL_ELENGTH);
    REFUSE(hl_hash_rows(a, "abc", SIZE_MAX, 1, 3, to), HL_ELENGTH);
    REFUSE(hl_hash_rows(a, "abc", SIZE_MAX / 2 + 1, 1, 3, to), HL_ELENGTH);
    REFUSE(hl_hash_rows(a, "abc", SIZE_MAX - 1, 2, 2, to), HL_ELENGTH);
    REFUSE(hl_hash_rows(a, "abc", ((size_t)1 << (sizeof(size_t) * 4)), 1, ((size_t)1 << (sizeof(size_t) * 4)) + 1, to),
           HL_ELENGTH);

    const int has_sha256 = hl_alg_find(HL_SHA256) != NULL, has_both = has_sha256 && hl_alg_find(HL_RIPEMD160) != NULL;
    REFUSE(hl_hash160_rows(NULL, 1, 1, 3, to), has_both ? HL_ENULL : HL_EALG);
    REFUSE(hl_hash160_rows("abc", 1, 1, 3, NULL), has_sha256 ? HL_ENULL : HL_EALG);
    REFUSE(hl_hash160_rows("abc", SIZE_MAX, 1, 3, to), has_both ? HL_ELENGTH : HL_EALG);
    REFUSE(hl_sha256d_rows(NULL, 1, 1, 3, to), has_sha256 ? HL_ENULL : HL_EALG);
    REFUSE(hl_sha256d_rows("abc", 1, 1, 3, NULL), has_sha256 ? HL_ENULL : HL_EALG);
    REFUSE(hl_sha256d_rows("abc", SIZE_MAX, 1, 3, to), has_sha256 ? HL_ELENGTH : HL_EALG);

    REFUSE(hl_hash_many_with(NULL, a, good, 3, to), HL_ENULL);
    REFUSE(hl_hash_many_with(kernel, OFF_TABLE, good, 3, to), HL_EALG);
    REFUSE(hl_hash_many_with(kernel, a, NULL, 3, to), HL_ENULL);
    REFUSE(hl_hash_many_with(kernel, a, good, 3, NULL), HL_ENULL);
    REFUSE(hl_hash_many_with(kernel, a, no_data, 3, to), HL_ENULL);
    REFUSE(hl_hash_many_with(kernel, a, good, SIZE_MAX, to), HL_ELENGTH);
    hl_kernel elsewhere = *kernel;
    elsewhere.isas = (hl_isas)1 << 31;
    REFUSE(hl_hash_many_with(&elsewhere, a, good, 3, to), HL_EISA);
    for (size_t i = 0; i < hl_kernel_count(); i++) {
        if ((hl_kernel_at(i)->isas & hl_isas_available()) == 0)
            REFUSE(hl_hash_many_with(hl_kernel_at(i), a, good, 3, to), HL_EISA);
        else if (hl_kernel_at(i)->body != alg->body)
            REFUSE(hl_hash_many_with(hl_kernel_at(i), a, good, 3, to), HL_EKERNEL);
    }

#if SIZE_MAX > UINT32_MAX
    const size_t too_long = HL_MESSAGE_MAX_NBYTES + 1;
    const hl_slice long_last[3] = {{"abc", 3}, {"def", 3}, {"ghi", too_long}};
    REFUSE(hl_hash(a, "abc", too_long, to), HL_ELENGTH);
    REFUSE(hl_hash(a, "abc", SIZE_MAX, to), HL_ELENGTH);
    REFUSE(hl_hash_many(a, long_last, 3, to), HL_ELENGTH);
    REFUSE(hl_hash_many_with(kernel, a, long_last, 3, to), HL_ELENGTH);
    REFUSE(hl_hash_rows(a, "abc", 0, too_long, 3, to), HL_ELENGTH);
#endif
}

/* Three good contexts with data in them. `calls` may spoil some; the good ones must stay unchanged. */
static void check_context_errors(const hl_alg_info *alg)
{
    const hl_slice good[3] = {{"abc", 3}, {"def", 3}, {"ghi", 3}};
    const hl_slice no_data[3] = {{"abc", 3}, {"def", 3}, {NULL, 1}};
    uint8_t *const to = guarded_digests;
    hl_ctx ctxs[3], kept[3], *all[3] = {&ctxs[0], &ctxs[1], &ctxs[2]}, *gap[3] = {&ctxs[0], NULL, &ctxs[2]};

    memset(guarded_digests, POISON, sizeof guarded_digests);
#define FRESH() \
    do { \
        for (int i_ = 0; i_ < 3; i_++) { \
            memset(&ctxs[i_], 0, sizeof ctxs[i_]); \
            hl_init(&ctxs[i_], alg->alg); \
            hl_update(&ctxs[i_], random_pool(1000), 100); \
        } \
    } while (0)
#define REFUSE_CTX(call, status) \
    do { \
        memcpy(kept, ctxs, sizeof kept); \
        REFUSE(call, status); \
        CHECK(memcmp(kept, ctxs, sizeof kept) == 0, "%s: a context was changed", #call); \
    } while (0)

    FRESH();
    REFUSE_CTX(hl_init(NULL, alg->alg), HL_ENULL);
    REFUSE_CTX(hl_init(&ctxs[0], OFF_TABLE), HL_EALG);
    REFUSE_CTX(hl_update(NULL, "abc", 3), HL_ENULL);
    REFUSE_CTX(hl_update(&ctxs[0], NULL, 3), HL_ENULL);
    REFUSE_CTX(hl_final(NULL, to), HL_ENULL);
    REFUSE_CTX(hl_final(&ctxs[0], NULL), HL_ENULL);
    REFUSE_CTX(hl_update_many(NULL, good, 3), HL_ENULL);
    REFUSE_CTX(hl_update_many(gap, good, 3), HL_ENULL);
    REFUSE_CTX(hl_update_many(all, NULL, 3), HL_ENULL);
    REFUSE_CTX(hl_update_many(all, no_data, 3), HL_ENULL);
    REFUSE_CTX(hl_update_many(all, good, SIZE_MAX), HL_ELENGTH);
    REFUSE_CTX(hl_final_many(NULL, 3, to), HL_ENULL);
    REFUSE_CTX(hl_final_many(gap, 3, to), HL_ENULL);
    REFUSE_CTX(hl_final_many(all, 3, NULL), HL_ENULL);
    REFUSE_CTX(hl_final_many(all, SIZE_MAX, to), HL_ELENGTH);
#if SIZE_MAX > UINT32_MAX
    const hl_slice long_last[3] = {{"abc", 3}, {"def", 3}, {"ghi", HL_MESSAGE_MAX_NBYTES + 1}};
    const hl_slice sum_too_long[3] = {{"abc", 3}, {"def", 3}, {"ghi", HL_MESSAGE_MAX_NBYTES - 99}};
    REFUSE_CTX(hl_update_many(all, long_last, 3), HL_ELENGTH);
    REFUSE_CTX(hl_update_many(all, sum_too_long, 3), HL_ELENGTH);
    REFUSE_CTX(hl_update(&ctxs[0], "abc", SIZE_MAX), HL_ELENGTH);
#endif

    /* At each place in turn a context that is: never initialised, already final, of another algorithm, of an unknown
     * one, too long. */
    for (int i = 0; i < 3; i++) {
        uint8_t digest[HL_DIGEST_MAX_NBYTES];
        for (int fault = 0; fault < 5; fault++) {
            if (fault == 2 && !has_other(alg, "a context of another algorithm"))
                continue;
            FRESH();
            switch (fault) {
            case 0: memset(&ctxs[i], 0, sizeof ctxs[i]); break;
            case 1: hl_final(&ctxs[i], digest); break;
            case 2: hl_init(&ctxs[i], other_alg(alg)); break;
            case 3: ctxs[i].alg = 99; break;
            default: ctxs[i].nbytes = HL_MESSAGE_MAX_NBYTES + 1; break;
            }
            REFUSE_CTX(hl_update_many(all, good, 3), HL_ESTATE);
            REFUSE_CTX(hl_final_many(all, 3, to), HL_ESTATE);
            if (fault != 2) {
                REFUSE_CTX(hl_update(&ctxs[i], "abc", 3), HL_ESTATE);
                REFUSE_CTX(hl_final(&ctxs[i], to), HL_ESTATE);
            }
        }
    }

    test_case("%s: a final context is wiped", alg->name);
    static const hl_ctx zero;
    uint8_t digests[3 * HL_DIGEST_MAX_NBYTES];
    FRESH();
    CHECK(hl_final(&ctxs[0], digests) == HL_OK && memcmp(&ctxs[0], &zero, sizeof zero) == 0, "hl_final");
    FRESH();
    CHECK(hl_final_many(all, 3, digests) == HL_OK, "hl_final_many");
    for (int i = 0; i < 3; i++)
        CHECK(memcmp(&ctxs[i], &zero, sizeof zero) == 0, "hl_final_many, context %d", i);

    test_case("%s: what a context held before does not matter", alg->name);
    uint8_t exported[HL_EXPORT_MAX_NBYTES], again[HL_EXPORT_MAX_NBYTES];
    size_t nbytes, nagain;
    for (size_t n = 0; n < 300; n += 7) {
        for (int i = 0; i < 2; i++) {
            memset(&ctxs[i], i == 0 ? 0 : 0xa5, sizeof ctxs[i]);
            CHECK(hl_init(&ctxs[i], alg->alg) == HL_OK && hl_update(&ctxs[i], random_pool(1000), n / 3) == HL_OK &&
                      hl_update(&ctxs[i], random_pool(1000), n - n / 3) == HL_OK, "a stream");
        }
        CHECK(hl_export(&ctxs[0], exported, sizeof exported, &nbytes) == HL_OK &&
                  hl_export(&ctxs[1], again, sizeof again, &nagain) == HL_OK && nbytes == nagain &&
                  memcmp(exported, again, nbytes) == 0, "%zu bytes, exported", n);
        CHECK(hl_final_many(all, 2, digests) == HL_OK &&
                  memcmp(digests, digests + alg->digest_nbytes, alg->digest_nbytes) == 0, "%zu bytes", n);
        for (size_t i = 0; i < sizeof ctxs[1]; i++)
            CHECK(((const uint8_t *)&ctxs[1])[i] == 0 || ((const uint8_t *)&ctxs[1])[i] == 0xa5, "byte %zu stays", i);
    }
#undef FRESH
#undef REFUSE_CTX
}

typedef hl_status rows_call(hl_alg alg, const void *base, size_t stride, size_t nbytes, size_t count, uint8_t *digests);

/* Digests at each place over rows: the right ones and nothing beside them, or HL_EJOB and no change. */
static void check_rows_overlap(const char *name, rows_call *call, hl_alg alg, size_t size)
{
    enum { MOST = 40, ROOM = MOST * 73 + 2 * MOST * HL_DIGEST_MAX_NBYTES };
    static const struct {
        size_t nbytes, stride;
    } shapes[] = {{64, 64}, {64, 65}, {33, 40}, {20, 72}, {1, 32}, {60, 20}};
    static const size_t counts[] = {1, 2, 3, 5, MOST};
    static uint8_t before[ROOM], after[ROOM], expected[ROOM], apart[MOST * HL_DIGEST_MAX_NBYTES];

    random_fill(before, sizeof before);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            const size_t n = counts[c], stride = shapes[s].stride, rows = n * size;
            const size_t span = (n - 1) * stride + shapes[s].nbytes;
            CHECK(call(alg, before + rows, stride, shapes[s].nbytes, n, apart) == HL_OK, "apart");
            for (size_t at = 0; at <= rows + span; at += n == MOST && at % 32 == 1 ? 15 : 1) {
                const int is_refused = n > 1 && at + n * size > rows && at < rows + span &&
                                       (size > stride || at + size > rows + stride);
                memcpy(after, before, sizeof after);
                memcpy(expected, before, sizeof expected);
                if (!is_refused)
                    memcpy(expected + at, apart, n * size);
                CHECK(call(alg, after + rows, stride, shapes[s].nbytes, n, after + at) ==
                              (is_refused ? HL_EJOB : HL_OK) && memcmp(after, expected, sizeof after) == 0,
                      "%s: %zu rows of %zu bytes, each %zu, at %zu, digests at %zu", name, n, shapes[s].nbytes, stride,
                      rows, at);
            }
        }
}

static hl_status hash160_rows(hl_alg alg, const void *base, size_t stride, size_t nbytes, size_t count,
                              uint8_t *digests)
{
    (void)alg;
    return hl_hash160_rows(base, stride, nbytes, count, digests);
}

static hl_status sha256d_rows(hl_alg alg, const void *base, size_t stride, size_t nbytes, size_t count,
                              uint8_t *digests)
{
    (void)alg;
    return hl_sha256d_rows(base, stride, nbytes, count, digests);
}

/* A job of HMACs, or of messages that continue a stream of one byte. */
static hl_status run_rows(hl_alg alg, const void *base, size_t stride, size_t nbytes, size_t count, uint8_t *digests)
{
    hl_job job = {.nbytes = sizeof job, .alg = (uint32_t)alg, .digests = digests,
                  .messages = {.layout = HL_ROWS, .count = count, .base = base, .stride = stride, .nbytes = nbytes}};
    hl_hmac_key key;
    hl_ctx ctx;

    if (hl_hmac_key_init(&key, alg, "key", 3) == HL_OK)
        job.keys = &key;
    else if (hl_init(&ctx, alg) == HL_OK && hl_update(&ctx, "1", 1) == HL_OK)
        job.begin = &ctx;
    return hl_run(&job);
}

/* The proof of each leaf leads to the root, as its definition says, and the root is that of layers. */
static void check_merkle(void)
{
    enum { LEAVES = 40, NODE = 32 };
    uint8_t leaves[LEAVES * NODE], nodes[sizeof leaves], root[NODE], proof[HL_MERKLE_DEPTH_MAX * NODE];
    size_t nproof;

    test_case("hl_merkle_root, hl_merkle_layer");
    random_fill(leaves, sizeof leaves);
    for (hl_merkle rule = HL_MERKLE_RFC6962; rule <= HL_MERKLE_ZEROS; rule++)
        for (size_t n = 1; n <= LEAVES; n++)
            for (size_t i = 0; i < n; i++) {
                const unsigned depth = rule == HL_MERKLE_ZEROS && i % 2 ? 7 : 0;
                size_t at = i, left = n, used = 0;
                uint8_t node[1 + 2 * NODE] = {1};
                memcpy(nodes, leaves, sizeof leaves);
                CHECK(hl_merkle_root(rule, depth, nodes, n, root, i, proof, &nproof) == HL_OK,
                      "rule %d, leaf %zu of %zu", (int)rule, i, n);
                memcpy(node + 1, leaves + i * NODE, NODE);
                for (; left > 1 || used < nproof; at /= 2, left -= left / 2) {
                    if (rule == HL_MERKLE_RFC6962 && (at ^ 1) >= left)
                        continue;
                    const uint8_t *const beside = proof + used++ * NODE;
                    if (at % 2 != 0)
                        memcpy(node + 1 + NODE, node + 1, NODE);
                    memcpy(at % 2 != 0 ? node + 1 : node + 1 + NODE, beside, NODE);
                    const int is_prefixed = rule == HL_MERKLE_RFC6962;
                    uint8_t above[NODE];
                    hl_hash(HL_SHA256, node + !is_prefixed, sizeof node - !is_prefixed, above);
                    memcpy(node + 1, above, NODE);
                    if (rule == HL_MERKLE_BITCOIN)
                        hl_hash(HL_SHA256, above, NODE, node + 1);
                }
                CHECK(used == nproof && memcmp(node + 1, root, NODE) == 0, "rule %d, leaf %zu of %zu: the proof",
                      (int)rule, i, n);
                if (depth != 0)
                    continue;
                memcpy(nodes, leaves, sizeof leaves);
                unsigned height = 0;
                for (left = n; left > 1; left -= left / 2)
                    CHECK(hl_merkle_layer(rule, height++, nodes, left, nodes) == HL_OK, "a layer");
                CHECK(memcmp(nodes, root, NODE) == 0, "rule %d, %zu leaves: layers", (int)rule, n);
            }
    CHECK(hl_merkle_root((hl_merkle)4, 0, nodes, 1, root, 0, NULL, NULL) == HL_EALG, "no rule");
    CHECK(hl_merkle_root(HL_MERKLE_ZEROS, 2, nodes, 5, root, 0, NULL, NULL) == HL_ELENGTH, "too small");
    CHECK(hl_merkle_root(HL_MERKLE_ZEROS, 65, nodes, 5, root, 0, NULL, NULL) == HL_ELENGTH, "too deep");
    CHECK(hl_merkle_root(HL_MERKLE_BITCOIN, 3, nodes, 5, root, 0, NULL, NULL) == HL_ELENGTH, "a depth of Bitcoin");
    CHECK(hl_merkle_root(HL_MERKLE_BITCOIN, 0, nodes, 5, root, 5, proof, &nproof) == HL_ELENGTH, "no such leaf");
    CHECK(hl_merkle_root(HL_MERKLE_BITCOIN, 0, NULL, 5, root, 0, NULL, NULL) == HL_ENULL, "no leaves");
    CHECK(hl_merkle_layer(HL_MERKLE_ZEROS, 0, nodes, SIZE_MAX, nodes) == HL_ELENGTH, "a length that fits no memory");
    CHECK(hl_merkle_layer(HL_MERKLE_BITCOIN, 0, nodes, 4, nodes + 64) == HL_EJOB, "over pairs to be hashed");
}

/* RFC 6962 section 2.1 as it stands there: the root above n digests of leaves. */
static void rfc6962_root(const uint8_t *leaves, size_t n, uint8_t *root)
{
    uint8_t node[1 + 2 * 32] = {1};
    size_t left = 1;

    if (n == 0)
        hl_hash(HL_SHA256, NULL, 0, root);
    if (n == 1)
        memcpy(root, leaves, 32);
    if (n <= 1)
        return;
    while (2 * left < n)
        left *= 2;
    rfc6962_root(leaves, left, node + 1);
    rfc6962_root(leaves + left * 32, n - left, node + 33);
    hl_hash(HL_SHA256, node, sizeof node, root);
}

/* Leaves appended in steps: after each the root is right, and each root of a complete subtree was told once. */
static void check_merkle_range(void)
{
    enum { LEAVES = 150, NODE = 32 };
    static uint8_t leaves[LEAVES * NODE], nodes[LEAVES * NODE];
    uint8_t root[NODE], expected[NODE];
    hl_merkle_range range, before;
    size_t count;

    test_case("hl_merkle_grow, hl_merkle_range_root");
    random_fill(leaves, sizeof leaves);
    for (size_t step = 1; step <= LEAVES; step += step < 9 ? 1 : 47) {
        size_t told[8] = {0};
        memset(&range, 0xee, sizeof range);
        range.size = 0;
        for (size_t size = 0; size < LEAVES; size += step) {
            count = size + step <= LEAVES ? step : LEAVES - size;
            memcpy(nodes, leaves + size * NODE, count * NODE);
            for (unsigned height = 0; count > 0; height++) {
                const size_t first = (size_t)(height == 0 ? range.size : (range.size >> height) - count);
                CHECK(first == told[height], "height %u, step %zu: from %zu on", height, step, first);
                for (size_t i = 0; i < count; i++) {
                    rfc6962_root(leaves + ((first + i) << height) * NODE, (size_t)1 << height, expected);
                    CHECK(memcmp(nodes + i * NODE, expected, NODE) == 0, "height %u, %zu", height, first + i);
                }
                told[height] = first + count;
                CHECK(hl_merkle_grow(&range, height, nodes, &count) == HL_OK, "height %u, step %zu", height, step);
            }
            rfc6962_root(leaves, (size_t)range.size, expected);
            CHECK(hl_merkle_range_root(&range, root) == HL_OK && memcmp(root, expected, NODE) == 0, "%zu by %zu",
                  (size_t)range.size, step);
        }
        for (unsigned height = 0; height < 8; height++)
            CHECK(told[height] == (size_t)LEAVES >> height, "height %u, step %zu: %zu", height, step, told[height]);
    }
    /* The same leaves have this root in rust/hashloom/tests/all/merkle.rs and go/merkle/merkle_test.go. */
    static const uint8_t known[NODE] = {0x5f, 0x84, 0xe1, 0x46, 0xe8, 0xb4, 0x01, 0x0b, 0x6a, 0x76, 0xd0,
                                        0xfd, 0xcb, 0xc6, 0x63, 0x51, 0x8f, 0xac, 0x74, 0x5c, 0xba, 0x1c,
                                        0xda, 0x1f, 0x25, 0xc9, 0x58, 0x35, 0x5c, 0xdf, 0x89, 0xdc};
    range.size = 0;
    for (size_t i = 0; i < LEAVES; i++)
        memset(nodes + i * NODE, (int)i, NODE);
    count = LEAVES;
    for (unsigned height = 0; count > 0; height++)
        CHECK(hl_merkle_grow(&range, height, nodes, &count) == HL_OK, "height %u", height);
    CHECK(hl_merkle_range_root(&range, root) == HL_OK && memcmp(root, known, NODE) == 0, "150 leaves");
    memset(&range, 0x11, sizeof range);
    range.size = UINT64_MAX - 1;
    count = 1;
    memcpy(nodes, leaves, NODE);
    CHECK(hl_merkle_grow(&range, 0, nodes, &count) == HL_OK && count == 0 && range.size == UINT64_MAX, "the last leaf");
    CHECK(memcmp(range.roots[0], leaves, NODE) == 0 && range.roots[1][0] == 0x11, "the last leaf has its place");
    count = 1;
    before = range;
    CHECK(hl_merkle_grow(&range, 0, nodes, &count) == HL_ELENGTH && count == 1, "2^64 leaves");
    CHECK(memcmp(&before, &range, sizeof range) == 0, "nothing was written");
    /* 2^63 - 1 leaves have a root at each height up to 62: one more makes a path through all of them. */
    memset(&range, 0x11, sizeof range);
    range.size = UINT64_MAX >> 1;
    memcpy(nodes, leaves, NODE);
    uint8_t path[1 + 2 * NODE] = {1};
    memcpy(path + 1 + NODE, leaves, NODE);
    for (unsigned height = 0; count > 0; height++) {
        CHECK(hl_merkle_grow(&range, height, nodes, &count) == HL_OK && count == (height < 63), "height %u", height);
        memset(path + 1, 0x11, NODE);
        if (height < 63)
            hl_hash(HL_SHA256, path, sizeof path, path + 1 + NODE);
    }
    CHECK(memcmp(range.roots[63], path + 1 + NODE, NODE) == 0, "2^63 leaves");
    CHECK(hl_merkle_range_root(&range, root) == HL_OK && memcmp(range.roots[63], root, NODE) == 0, "their root");
    range.size = 5;
    count = 3;
    CHECK(hl_merkle_grow(&range, 1, nodes, &count) == HL_ELENGTH, "more roots than the tree has");
    CHECK(hl_merkle_grow(&range, 64, nodes, &count) == HL_ELENGTH, "a height that no root has");
    count = SIZE_MAX;
    CHECK(hl_merkle_grow(&range, 0, nodes, &count) == HL_ELENGTH, "a length that fits no memory");
    count = 1;
    CHECK(hl_merkle_grow(&range, 0, range.roots[2], &count) == HL_EJOB, "nodes in the range");
    CHECK(hl_merkle_grow(NULL, 0, nodes, &count) == HL_ENULL && hl_merkle_grow(&range, 0, NULL, &count) == HL_ENULL &&
          hl_merkle_grow(&range, 0, nodes, NULL) == HL_ENULL, "no memory");
    CHECK(hl_merkle_range_root(NULL, root) == HL_ENULL && hl_merkle_range_root(&range, NULL) == HL_ENULL, "no memory");
    count = 0;
    CHECK(hl_merkle_grow(&range, 0, NULL, &count) == HL_OK && range.size == 5, "no leaves");
    range.size = 0;
    rfc6962_root(leaves, 0, expected);
    CHECK(hl_merkle_range_root(&range, root) == HL_OK && memcmp(root, expected, NODE) == 0, "a tree without leaves");
}

/* Each place over the nodes of what a call writes: the right bytes and nothing beside them, or HL_EJOB, no change. */
static void check_merkle_overlap(void)
{
    enum { NODES = 9, NODE = 32, LEAD = 3 * NODE, ROOM = LEAD + 13 * NODE, PROOF = HL_MERKLE_DEPTH_MAX * NODE };
    static uint8_t before[PROOF + ROOM + PROOF], after[sizeof before], expected[sizeof before], proof[PROOF];
    const size_t at = PROOF + LEAD; /* of the nodes */
    size_t nproof = 0, nsame = 0;

    test_case("hl_merkle_layer, hl_merkle_root: overlap");
    random_fill(before, sizeof before);
    for (hl_merkle rule = HL_MERKLE_RFC6962; rule <= HL_MERKLE_ZEROS; rule++)
        for (size_t n = 1; n <= NODES; n++) {
            uint8_t layer[NODES * NODE], leaves[NODES * NODE], root[NODE];
            CHECK(hl_merkle_layer(rule, 1, before + at, n, layer) == HL_OK, "apart");
            memcpy(leaves, before + at, sizeof leaves);
            CHECK(hl_merkle_root(rule, 0, leaves, n, root, n / 2, proof, &nproof) == HL_OK, "apart");
            for (size_t to = PROOF; to <= PROOF + ROOM - (n + 1) / 2 * NODE; to++) {
                const int is_refused = n / 2 > 1 && to > at + NODE && to < at + n / 2 * 2 * NODE;
                memcpy(after, before, sizeof after);
                memcpy(expected, before, sizeof expected);
                if (!is_refused)
                    memcpy(expected + to, layer, (n + 1) / 2 * NODE);
                CHECK(hl_merkle_layer(rule, 1, after + at, n, after + to) == (is_refused ? HL_EJOB : HL_OK),
                      "rule %d, %zu nodes at %zu, the layer at %zu", (int)rule, n, at, to);
                CHECK(memcmp(after, expected, sizeof after) == 0, "rule %d, %zu nodes at %zu, the layer at %zu: bytes",
                      (int)rule, n, at, to);
                memcpy(after, before, sizeof after);
                CHECK(hl_merkle_root(rule, 0, after + at, n, after + to, 0, NULL, NULL) == HL_OK &&
                          memcmp(after + to, root, NODE) == 0, "rule %d, %zu nodes at %zu, the root at %zu",
                      (int)rule, n, at, to);
            }
            for (size_t to = 0; to <= sizeof before - PROOF; to += to % 96 == 95 ? 33 : 1) {
                const int is_refused = to + PROOF > at && to < at + n * NODE;
                memcpy(after, before, sizeof after);
                CHECK(hl_merkle_root(rule, 0, after + at, n, leaves, n / 2, after + to, &nproof) ==
                          (is_refused ? HL_EJOB : HL_OK), "rule %d, %zu nodes at %zu, the proof at %zu", (int)rule,
                      n, at, to);
                CHECK(memcmp(is_refused ? after : after + to, is_refused ? before : proof,
                             is_refused ? sizeof after : nproof * NODE) == 0, "the proof at %zu", to);
                nsame += !is_refused;
            }
            CHECK(hl_merkle_root(rule, 0, leaves, n, proof + PROOF - 1, 0, proof, &nproof) == HL_EJOB,
                  "a root in the proof");
        }
    CHECK(nsame > 0, "proofs beside the nodes");
}

int main(int argc, char **argv)
{
    test_start(argc, argv);
    check_names();
    test_case("hl_restrict refuses instruction sets that this machine lacks");
    check_refused_restriction();
    for (size_t a = 0; a < hl_alg_count(); a++) {
        const hl_alg_info *alg = hl_alg_at(a);
        test_case("%s: every subset of the instruction sets", alg->name);
        check_restriction(alg);
        test_case("%s: empty messages and no messages", alg->name);
        check_empty(alg);
        test_case("%s: errors", alg->name);
        check_errors(alg);
        test_case("%s: digests over rows", alg->name);
        check_rows_overlap(alg->name, hl_hash_rows, alg->alg, alg->digest_nbytes);
        check_rows_overlap("hl_run", run_rows, alg->alg, alg->digest_nbytes);
        test_case("%s: bad contexts", alg->name);
        if (has_ctx(alg))
            check_context_errors(alg);
    }
    if (hl_alg_find(HL_SHA256) != NULL) {
        check_rows_overlap("hl_sha256d_rows", sha256d_rows, HL_SHA256, HL_SHA256_DIGEST_NBYTES);
        if (hl_alg_find(HL_RIPEMD160) != NULL)
            check_rows_overlap("hl_hash160_rows", hash160_rows, HL_SHA256, HL_RIPEMD160_DIGEST_NBYTES);
        if (has_calls(hl_merkle_layer(HL_MERKLE_ZEROS, 0, NULL, 1, NULL)))
            check_merkle(), check_merkle_range(), check_merkle_overlap();
    }
    test_case("hl_kernel_chosen for no algorithm");
    CHECK(hl_kernel_chosen(OFF_TABLE, 1) == NULL && hl_kernel_chosen((hl_alg)0, 1) == NULL, "not NULL");
    return test_end();
}
