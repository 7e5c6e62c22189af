/* cavp.c: NIST's CAVP vectors (ShortMsg, LongMsg, Monte) of every algorithm, or the authors' vectors where NIST has
 * none, on every kernel and through the streams.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The files are found by name: HASHLOOM_VECTORS/nist-cavp/<any folder>/SHA512_224ShortMsg.rsp and so on.
 */
#include "test.h"

#include <ctype.h>
#include <glob.h>

#ifndef HASHLOOM_VECTORS
#  define HASHLOOM_VECTORS "vectors"
#endif

enum { VECTORS_MAX = 512, LINE_MAX_NBYTES = 1 << 20, MONTE_ROUNDS = 1000 };

struct vectors {
    hl_slice messages[VECTORS_MAX];
    uint8_t *digests; /* n digests in a row */
    uint8_t seed[HL_DIGEST_MAX_NBYTES];
    size_t n;
};

static size_t from_hex(const char *hex, uint8_t *to, size_t max_nbytes)
{
    size_t n = 0;

    for (; isxdigit((unsigned char)hex[0]) && isxdigit((unsigned char)hex[1]) && n < max_nbytes; hex += 2) {
        unsigned byte;
        sscanf(hex, "%2x", &byte);
        to[n++] = (uint8_t)byte;
    }
    return n;
}

/* The text after "name = ", or NULL if the line has another name. */
static const char *value_of(const char *line, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(line, name, length) == 0 && strncmp(line + length, " = ", 3) == 0 ? line + length + 3 : NULL;
}

/* Algorithms without vectors of NIST: the authors' file, and the digest of a million "a", which the file lacks. */
static const struct authors {
    const char *name, *file, *million;
} authors[] = {
    {"ripemd160", "ripemd160/ripevectors.txt", "52783243c1697bdbe16d37f97f68f08325dc1528"},
    {"md5", "md5/rfc-1321.txt", "7707d6ae4e027c70eea2a935c2296f21"},
};

static const struct authors *authors_of(const hl_alg_info *alg)
{
    for (size_t i = 0; i < sizeof authors / sizeof authors[0]; i++)
        if (strcmp(authors[i].name, alg->name) == 0)
            return &authors[i];
    return NULL;
}

/* The file with the vectors: the authors', or NIST's <ALG><kind>.rsp, in upper case and with _ for -. */
static void pattern_of(const hl_alg_info *alg, const char *kind, char *pattern, size_t max_nbytes)
{
    char name[32] = "";

    if (authors_of(alg) != NULL) {
        snprintf(pattern, max_nbytes, "%s/%s", HASHLOOM_VECTORS, authors_of(alg)->file);
        return;
    }
    for (size_t i = 0; alg->name[i] != '\0' && i + 1 < sizeof name; i++)
        name[i] = (char)(alg->name[i] == '-' ? '_' : toupper((unsigned char)alg->name[i]));
    snprintf(pattern, max_nbytes, "%s/nist-cavp/*/%s%s.rsp", HASHLOOM_VECTORS, name, kind);
}

static void add_million(const hl_alg_info *alg, struct vectors *v)
{
    enum { NBYTES = 1000000 };
    uint8_t *message = malloc(NBYTES);

    memset(message, 'a', NBYTES);
    v->messages[v->n] = (hl_slice){message, NBYTES};
    from_hex(authors_of(alg)->million, v->digests + v->n++ * alg->digest_nbytes, alg->digest_nbytes);
}

/* Reads the file; returns 0 if it is missing. */
static int read_vectors(const hl_alg_info *alg, const char *kind, struct vectors *v)
{
    static char line[LINE_MAX_NBYTES];
    char pattern[512];
    size_t message_nbytes = 0;
    glob_t found;

    pattern_of(alg, kind, pattern, sizeof pattern);
    memset(v, 0, sizeof *v);
    if (glob(pattern, 0, NULL, &found) != 0)
        return CHECK(0, "no file %s: vectors/README.md says where from", pattern);
    FILE *file = fopen(found.gl_pathv[0], "r");
    if (!CHECK(file != NULL, "%s cannot be read", found.gl_pathv[0]))
        return 0;
    v->digests = malloc((size_t)VECTORS_MAX * alg->digest_nbytes);
    while (fgets(line, sizeof line, file) != NULL && v->n < VECTORS_MAX) {
        const char *value;
        if ((value = value_of(line, "Len")) != NULL) {
            message_nbytes = (size_t)strtoull(value, NULL, 10) / 8;
        } else if ((value = value_of(line, "Msg")) != NULL) {
            uint8_t *message = malloc(message_nbytes + 1); /* a message of 0 bytes is written as 00 */
            CHECK(from_hex(value, message, message_nbytes) == message_nbytes, "%s: Msg of %zu bytes is shorter",
                  found.gl_pathv[0], message_nbytes);
            v->messages[v->n] = (hl_slice){message, message_nbytes};
        } else if ((value = value_of(line, "Seed")) != NULL) {
            CHECK(from_hex(value, v->seed, sizeof v->seed) == alg->digest_nbytes, "%s: bad Seed", found.gl_pathv[0]);
        } else if ((value = value_of(line, "MD")) != NULL) {
            CHECK(from_hex(value, v->digests + v->n++ * alg->digest_nbytes, alg->digest_nbytes) == alg->digest_nbytes,
                  "%s: bad MD", found.gl_pathv[0]);
        }
    }
    fclose(file);
    globfree(&found);
    if (authors_of(alg) != NULL)
        add_million(alg, v);
    return CHECK(v->n > 0 && v->n < VECTORS_MAX, "%s: %zu vectors read", pattern, v->n);
}

static void free_vectors(struct vectors *v)
{
    for (size_t i = 0; i < v->n; i++)
        free((void *)(uintptr_t)v->messages[i].data);
    free(v->digests);
}

static hl_status hash_many(const hl_kernel *kernel, const hl_alg_info *alg, const hl_slice *messages, size_t count,
                           uint8_t *digests)
{
    return kernel == NULL ? hl_hash_many(alg->alg, messages, count, digests)
                          : hl_hash_many_with(kernel, alg->alg, messages, count, digests);
}

/* All messages of a file at once; each message alone; and as many copies as fill the lanes, in every lane in turn. */
static void check_messages(const hl_alg_info *alg, const hl_kernel *kernel, const struct vectors *v)
{
    const unsigned nlanes = kernel == NULL ? lanes_max() : kernel->nlanes;
    const size_t size = alg->digest_nbytes;
    hl_slice *turned = malloc((v->n + nlanes) * sizeof *turned);
    uint8_t *digests = malloc((v->n + nlanes) * size);

    for (unsigned turn = 0; turn < nlanes; turn++) {
        for (size_t i = 0; i < v->n; i++)
            turned[i] = v->messages[(i + turn) % v->n];
        CHECK(hash_many(kernel, alg, turned, v->n, digests) == HL_OK, "%zu messages", v->n);
        for (size_t i = 0; i < v->n; i++)
            CHECK(memcmp(digests + i * size, v->digests + (i + turn) % v->n * size, size) == 0,
                  "vector %zu as message %zu", (i + turn) % v->n, i);
    }
    for (size_t i = 0; i < v->n; i++) {
        if (!in_share(i))
            continue;
        CHECK(hash_many(kernel, alg, &v->messages[i], 1, digests) == HL_OK, "one message");
        CHECK(memcmp(digests, v->digests + i * size, size) == 0, "vector %zu alone", i);
        for (unsigned l = 0; l < nlanes; l++)
            turned[l] = v->messages[i];
        CHECK(hash_many(kernel, alg, turned, nlanes, digests) == HL_OK, "%u copies", nlanes);
        for (unsigned l = 0; l < nlanes; l++)
            CHECK(memcmp(digests + l * size, v->digests + i * size, size) == 0, "vector %zu as copy %u", i, l);
    }
    free(turned);
    free(digests);
}

/* All messages as streams, fed side by side in parts of nbytes. */
static void check_streams(const hl_alg_info *alg, const struct vectors *v, size_t nbytes)
{
    hl_ctx *ctxs = calloc(v->n, sizeof *ctxs), **all = calloc(v->n, sizeof(hl_ctx *));
    hl_slice *chunks = malloc(v->n * sizeof *chunks);
    uint8_t *digests = malloc(v->n * alg->digest_nbytes);
    int more = 1;

    for (size_t i = 0; i < v->n; i++) {
        all[i] = &ctxs[i];
        CHECK(hl_init(&ctxs[i], alg->alg) == HL_OK, "hl_init");
    }
    for (size_t at = 0; more; at += nbytes) {
        more = 0;
        for (size_t i = 0; i < v->n; i++) {
            const size_t left = v->messages[i].nbytes > at ? v->messages[i].nbytes - at : 0;
            chunks[i] = (hl_slice){left == 0 ? NULL : (const uint8_t *)v->messages[i].data + at,
                                   left < nbytes ? left : nbytes};
            more |= left > nbytes;
        }
        CHECK(hl_update_many(all, chunks, v->n) == HL_OK, "hl_update_many");
    }
    CHECK(hl_final_many(all, v->n, digests) == HL_OK, "hl_final_many");
    for (size_t i = 0; i < v->n; i++)
        CHECK(memcmp(digests + i * alg->digest_nbytes, v->digests + i * alg->digest_nbytes, alg->digest_nbytes) == 0,
              "vector %zu in parts of %zu bytes", i, nbytes);
    free(ctxs);
    free(all);
    free(chunks);
    free(digests);
}

/* SHAVS section 6.4: checkpoint j is 1000 rounds from checkpoint j - 1, and each round is the digest of the last three
 * digests. Every checkpoint is known, so all are computed at once, each in a lane of its own. */
static void check_monte(const hl_alg_info *alg, const hl_kernel *kernel, const struct vectors *v)
{
    const size_t size = alg->digest_nbytes;
    uint8_t *last3 = malloc(v->n * 3 * size), *digests = malloc(v->n * size);
    hl_slice *messages = malloc(v->n * sizeof *messages);

    for (size_t j = 0; j < v->n; j++) {
        messages[j] = (hl_slice){last3 + j * 3 * size, 3 * size};
        for (unsigned i = 0; i < 3; i++)
            memcpy(last3 + (3 * j + i) * size, j == 0 ? v->seed : v->digests + (j - 1) * size, size);
    }
    for (unsigned round = 0; round < MONTE_ROUNDS; round++) {
        if (!CHECK(hash_many(kernel, alg, messages, v->n, digests) == HL_OK, "round %u", round))
            break;
        for (size_t j = 0; j < v->n; j++) {
            memmove(last3 + 3 * j * size, last3 + (3 * j + 1) * size, 2 * size);
            memcpy(last3 + (3 * j + 2) * size, digests + j * size, size);
        }
    }
    for (size_t j = 0; j < v->n; j++)
        CHECK(memcmp(digests + j * size, v->digests + j * size, size) == 0, "checkpoint %zu", j);
    free(last3);
    free(digests);
    free(messages);
}

/* The same, one chain after the other as the standard says, through hl_init, hl_update and hl_final. */
static void check_monte_stream(const hl_alg_info *alg, const struct vectors *v)
{
    const size_t size = alg->digest_nbytes;
    uint8_t last[3][HL_DIGEST_MAX_NBYTES];

    for (unsigned i = 0; i < 3; i++)
        memcpy(last[i], v->seed, size);
    for (size_t j = 0; j < v->n; j++) {
        for (unsigned round = 0; round < MONTE_ROUNDS; round++) {
            hl_ctx ctx;
            uint8_t digest[HL_DIGEST_MAX_NBYTES];
            hl_init(&ctx, alg->alg);
            for (unsigned i = 0; i < 3; i++)
                hl_update(&ctx, last[i], size);
            hl_final(&ctx, digest);
            memcpy(last[0], last[1], size);
            memcpy(last[1], last[2], size);
            memcpy(last[2], digest, size);
        }
        if (!CHECK(memcmp(last[2], v->digests + j * size, size) == 0, "checkpoint %zu", j))
            return;
        memcpy(last[0], last[2], size);
        memcpy(last[1], last[2], size);
    }
}

int main(int argc, char **argv)
{
    static const char *const cavp_kinds[] = {"ShortMsg", "LongMsg", "Monte"};
    static const char *const authors_kinds[] = {"authors' vectors"};

    test_start(argc, argv);
    for (size_t a = 0; a < hl_alg_count(); a++) {
        const hl_alg_info *alg = hl_alg_at(a);
        const char *const *kinds = authors_of(alg) != NULL ? authors_kinds : cavp_kinds;
        for (size_t kind = 0; kind < (authors_of(alg) != NULL ? 1 : 3); kind++) {
            const int monte = kind == 2;
            struct vectors v;

            test_case("%s: reading %s", alg->name, kinds[kind]);
            if (!read_vectors(alg, kinds[kind], &v))
                continue;
            if (monte)
                v.n = share_of(v.n); /* checkpoints */
            for (size_t i = 0; i <= hl_kernel_count(); i++) { /* the last one is NULL: the library's own choice */
                const hl_kernel *kernel = hl_kernel_at(i);
                if (kernel != NULL && (kernel->body != alg->body || !test_kernel(kernel)))
                    continue;
                test_case("%s, %s: %s", alg->name, kinds[kind], kernel == NULL ? "default" : kernel->name);
                (monte ? check_monte : check_messages)(alg, kernel, &v);
            }
            for (size_t i = 0; i < hl_isa_count(); i++) {
                if ((hl_isas_available() & (hl_isas)1 << i) == 0)
                    continue;
                test_case("%s, %s: streams, %s", alg->name, kinds[kind], hl_isa_name(i));
                CHECK(hl_restrict((hl_isas)1 << i) == HL_OK, "hl_restrict");
                if (monte) {
                    check_monte_stream(alg, &v);
                } else {
                    static const size_t parts[] = {1, 7, 64, 128, 200, 4096, 1 << 20};
                    for (size_t p = kinds[kind][0] == 'S' ? 0 : 1; p < sizeof parts / sizeof parts[0]; p++)
                        if (p == 3 || in_share(p))
                            check_streams(alg, &v, parts[p]);
                }
                hl_restrict(0);
            }
            free_vectors(&v);
        }
    }
    return test_end();
}
