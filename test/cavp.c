/* cavp.c: NIST's CAVP vectors (ShortMsg, LongMsg, Monte; VariableOut of an XOF) of every algorithm, or the authors'
 * vectors where NIST has none, on every kernel and through the streams.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The files are found by name: HASHLOOM_VECTORS/nist-cavp/<any folder>/SHA512_224ShortMsg.rsp and so on.
 *
 * The vectors of an XOF have digests of several lengths. All messages get a digest of the longest length, which begins
 * with each shorter one.
 */
#include "test.h"

#include <ctype.h>
#include <glob.h>

#ifndef HASHLOOM_VECTORS
#  define HASHLOOM_VECTORS "vectors"
#endif

enum { VECTORS_MAX = 512, LINE_MAX_NBYTES = 1 << 20, MONTE_ROUNDS = 1000, LONG_MAX_NBYTES = 256,
       MONTE_XOF_NBYTES = 16 };

struct vectors {
    hl_slice messages[VECTORS_MAX];
    uint8_t digests[VECTORS_MAX][LONG_MAX_NBYTES];
    size_t sizes[VECTORS_MAX]; /* bytes of each digest */
    size_t size;               /* the longest of them */
    uint8_t seed[HL_DIGEST_MAX_NBYTES];
    size_t n;
    size_t least, most; /* Monte of an XOF: lengths of digests in bytes */
};

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
    {"sm3", "sm3/gbt-32905.txt", "c8aaf89429554029e231941a2acc0ad61ff2a5acd8fadd25847a3a732b3b02c3"},
    {"blake2b", "blake2/blake2b-kat.txt",
     "98fb3efb7206fd19ebf69b6f312cf7b64e3b94dbe1a17107913975a793f177e1d077609d7fba363cbba00d05f7aa4e4fa8715d6428104c0a"
     "75643b0ff3fd3eaf"},
    {"blake2s", "blake2/blake2s-kat.txt", "bec0c0e6cde5b67acb73b81f79a67a4079ae1c60dac9d2661af18e9f8b50dfa5"},
    {"keccak-256", "keccak/ShortMsgKAT_256.txt", "fadae6b49f129bbb812be8407b7b2894f34aecf6dbd1f9b0f0c7e9853098fc96"},
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
    v->sizes[v->n] = alg->digest_nbytes;
    from_hex(authors_of(alg)->million, v->digests[v->n++], alg->digest_nbytes);
}

/* Reads the file; returns 0 if it is missing. */
static int read_vectors(const hl_alg_info *alg, const char *kind, struct vectors *v)
{
    const int is_monte = strcmp(kind, "Monte") == 0;
    static char line[LINE_MAX_NBYTES];
    char pattern[512];
    size_t message_nbytes = 0, digest_nbytes = alg->digest_nbytes;
    glob_t found;

    pattern_of(alg, kind, pattern, sizeof pattern);
    memset(v, 0, sizeof *v);
    if (glob(pattern, 0, NULL, &found) != 0)
        return CHECK(0, "no file %s: vectors/README.md says where from", pattern);
    FILE *file = fopen(found.gl_pathv[0], "r");
    if (!CHECK(file != NULL, "%s cannot be read", found.gl_pathv[0]))
        return 0;
    while (fgets(line, sizeof line, file) != NULL && v->n < VECTORS_MAX) {
        const char *value;
        if ((value = value_of(line, "Len")) != NULL || (value = value_of(line, "[Input Length")) != NULL) {
            message_nbytes = (size_t)strtoull(value, NULL, 10) / 8;
        } else if ((value = value_of(line, "Outputlen")) != NULL || (value = value_of(line, "[Outputlen")) != NULL) {
            digest_nbytes = (size_t)strtoull(value, NULL, 10) / 8;
        } else if ((value = value_of(line, "[Minimum Output Length (bits)")) != NULL) {
            v->least = ((size_t)strtoull(value, NULL, 10) + 7) / 8;
        } else if ((value = value_of(line, "[Maximum Output Length (bits)")) != NULL) {
            v->most = (size_t)strtoull(value, NULL, 10) / 8;
        } else if (is_monte && (value = value_of(line, "Msg")) != NULL) {
            CHECK(from_hex(value, v->seed, MONTE_XOF_NBYTES) == MONTE_XOF_NBYTES, "%s: bad Msg", found.gl_pathv[0]);
        } else if ((value = value_of(line, "Msg")) != NULL) {
            uint8_t *message = malloc(message_nbytes + 1); /* a message of 0 bytes is written as 00 */
            CHECK(from_hex(value, message, message_nbytes) == message_nbytes, "%s: Msg of %zu bytes is shorter",
                  found.gl_pathv[0], message_nbytes);
            v->messages[v->n] = (hl_slice){message, message_nbytes};
        } else if ((value = value_of(line, "Seed")) != NULL) {
            CHECK(from_hex(value, v->seed, sizeof v->seed) == alg->digest_nbytes, "%s: bad Seed", found.gl_pathv[0]);
        } else if ((value = value_of(line, "MD")) != NULL || (value = value_of(line, "Output")) != NULL) {
            CHECK(digest_nbytes <= LONG_MAX_NBYTES &&
                      from_hex(value, v->digests[v->n], LONG_MAX_NBYTES) == digest_nbytes,
                  "%s: bad digest number %zu", found.gl_pathv[0], v->n);
            v->size = digest_nbytes > v->size ? digest_nbytes : v->size;
            v->sizes[v->n++] = digest_nbytes;
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
}

/* Digests of `size` bytes, which an XOF may have any number of. */
static hl_status hash_many(const hl_kernel *kernel, const hl_alg_info *alg, const hl_slice *messages, size_t count,
                           uint8_t *digests, size_t size)
{
    if (size != alg->digest_nbytes)
        return hl_run(&(hl_job){.nbytes = sizeof(hl_job), .alg = (uint32_t)alg->alg, .kernel = kernel,
                                .messages = {.count = count, .base = messages}, .digests = digests,
                                .digest_nbytes = size});
    return kernel == NULL ? hl_hash_many(alg->alg, messages, count, digests)
                          : hl_hash_many_with(kernel, alg->alg, messages, count, digests);
}

static int is_digest(const struct vectors *v, size_t i, const uint8_t *digest)
{
    return memcmp(digest, v->digests[i], v->sizes[i]) == 0;
}

/* All messages of a file at once, and each alone. */
static void check_messages(const hl_alg_info *alg, const hl_kernel *kernel, const struct vectors *v)
{
    uint8_t *digests = malloc(v->n * v->size);

    CHECK(hash_many(kernel, alg, v->messages, v->n, digests, v->size) == HL_OK, "%zu messages", v->n);
    for (size_t i = 0; i < v->n; i++)
        CHECK(is_digest(v, i, digests + i * v->size), "vector %zu of %zu", i, v->n);
    for (size_t i = 0; i < v->n; i++)
        CHECK(!in_share(i) || (hash_many(kernel, alg, &v->messages[i], 1, digests, v->sizes[i]) == HL_OK &&
                               is_digest(v, i, digests)), "vector %zu alone", i);
    free(digests);
}

/* A digest of an XOF in parts of up to part_nbytes. */
static hl_status squeeze(hl_ctx *ctx, uint8_t *digest, size_t nbytes, size_t part_nbytes)
{
    hl_status status = HL_OK;

    for (size_t at = 0; at < nbytes && status == HL_OK; at += part_nbytes)
        status = hl_squeeze(ctx, digest + at, nbytes - at < part_nbytes ? nbytes - at : part_nbytes);
    return status;
}

/* All messages as streams, fed side by side in parts of nbytes, in which the digests of an XOF come too. */
static void check_streams(const hl_alg_info *alg, const struct vectors *v, size_t nbytes)
{
    hl_ctx *ctxs = calloc(v->n, sizeof *ctxs), **all = calloc(v->n, sizeof(hl_ctx *));
    hl_slice *chunks = malloc(v->n * sizeof *chunks);
    uint8_t *digests = malloc(v->n * LONG_MAX_NBYTES);
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
    if (alg->ending == HL_XOF)
        for (size_t i = 0; i < v->n; i++)
            CHECK(squeeze(&ctxs[i], digests + i * v->size, v->sizes[i], nbytes) == HL_OK, "hl_squeeze");
    else
        CHECK(hl_final_many(all, v->n, digests) == HL_OK, "hl_final_many");
    for (size_t i = 0; i < v->n; i++)
        CHECK(is_digest(v, i, digests + i * v->size), "vector %zu in parts of %zu bytes", i, nbytes);
    free(ctxs);
    free(all);
    free(chunks);
    free(digests);
}

/* How a round of Monte follows from the ones before. */
enum { NEXT_OF_SHA2 = 3, NEXT_OF_SHA3 = 1 };

/* SHAVS section 6.4: checkpoint j is 1000 rounds from checkpoint j - 1, and each round is the digest of the last three
 * digests. SHA3VS section 6.2.3: of the last one. Every checkpoint is known, so all are computed at once, each in a
 * lane of its own. */
static void check_monte(const hl_alg_info *alg, const hl_kernel *kernel, const struct vectors *v)
{
    const size_t size = alg->digest_nbytes, nlast = is_sponge(alg) ? NEXT_OF_SHA3 : NEXT_OF_SHA2;
    uint8_t *last = malloc(v->n * nlast * size), *digests = malloc(v->n * size);
    hl_slice *messages = malloc(v->n * sizeof *messages);

    for (size_t j = 0; j < v->n; j++) {
        messages[j] = (hl_slice){last + j * nlast * size, nlast * size};
        for (unsigned i = 0; i < nlast; i++)
            memcpy(last + (nlast * j + i) * size, j == 0 ? v->seed : v->digests[j - 1], size);
    }
    for (unsigned round = 0; round < MONTE_ROUNDS; round++) {
        if (!CHECK(hash_many(kernel, alg, messages, v->n, digests, size) == HL_OK, "round %u", round))
            break;
        for (size_t j = 0; j < v->n; j++) {
            uint8_t *const of_chain = last + nlast * j * size;
            memmove(of_chain, of_chain + size, (nlast - 1) * size);
            memcpy(of_chain + (nlast - 1) * size, digests + j * size, size);
        }
    }
    for (size_t j = 0; j < v->n; j++)
        CHECK(is_digest(v, j, digests + j * size), "checkpoint %zu", j);
    free(last);
    free(digests);
    free(messages);
}

/* The same, one chain after the other as the standard says, through hl_init, hl_update and hl_final. */
static void check_monte_stream(const hl_alg_info *alg, const struct vectors *v)
{
    const size_t size = alg->digest_nbytes, nlast = is_sponge(alg) ? NEXT_OF_SHA3 : NEXT_OF_SHA2;
    uint8_t last[NEXT_OF_SHA2][HL_DIGEST_MAX_NBYTES];

    for (unsigned i = 0; i < nlast; i++)
        memcpy(last[i], v->seed, size);
    for (size_t j = 0; j < v->n; j++) {
        for (unsigned round = 0; round < MONTE_ROUNDS; round++) {
            hl_ctx ctx;
            uint8_t digest[HL_DIGEST_MAX_NBYTES];
            hl_init(&ctx, alg->alg);
            for (unsigned i = 0; i < nlast; i++)
                hl_update(&ctx, last[i], size);
            hl_final(&ctx, digest);
            memmove(last[0], last[1], (nlast - 1) * sizeof last[0]);
            memcpy(last[nlast - 1], digest, size);
        }
        if (!CHECK(is_digest(v, j, last[nlast - 1]), "checkpoint %zu", j))
            return;
        for (unsigned i = 0; i + 1 < nlast; i++)
            memcpy(last[i], last[nlast - 1], size);
    }
}

/* SHA3VS section 6.3.3, the length of the digest that follows a digest: its last two bytes, big-endian, say it. */
static size_t next_size(const struct vectors *v, const uint8_t *digest, size_t size)
{
    return v->least + ((size_t)digest[size - 2] << 8 | digest[size - 1]) % (v->most - v->least + 1);
}

/* Each message is the first MONTE_XOF_NBYTES bytes of the digest before, filled up with zeros. */
static void next_message(uint8_t *message, const uint8_t *digest, size_t size)
{
    memset(message, 0, MONTE_XOF_NBYTES);
    memcpy(message, digest, size < MONTE_XOF_NBYTES ? size : MONTE_XOF_NBYTES);
}

/* All checkpoints at once. A checkpoint also says how long the digest after it is. The first digest is the longest. */
static void check_monte_xof(const hl_alg_info *alg, const hl_kernel *kernel, const struct vectors *v)
{
    const size_t most = v->most;
    uint8_t *last = malloc(v->n * MONTE_XOF_NBYTES), *digests = malloc(v->n * most);
    hl_slice *messages = malloc(v->n * sizeof *messages);
    size_t *sizes = malloc(v->n * sizeof *sizes);

    for (size_t j = 0; j < v->n; j++) {
        messages[j] = (hl_slice){last + j * MONTE_XOF_NBYTES, MONTE_XOF_NBYTES};
        sizes[j] = j == 0 ? most : next_size(v, v->digests[j - 1], v->sizes[j - 1]);
        next_message(last + j * MONTE_XOF_NBYTES, j == 0 ? v->seed : v->digests[j - 1],
                     j == 0 ? MONTE_XOF_NBYTES : v->sizes[j - 1]);
    }
    for (unsigned round = 0; round < MONTE_ROUNDS; round++) {
        if (!CHECK(hash_many(kernel, alg, messages, v->n, digests, most) == HL_OK, "round %u", round))
            break;
        for (size_t j = 0; j < v->n && round + 1 < MONTE_ROUNDS; j++) {
            next_message(last + j * MONTE_XOF_NBYTES, digests + j * most, sizes[j]);
            sizes[j] = next_size(v, digests + j * most, sizes[j]);
        }
    }
    for (size_t j = 0; j < v->n; j++)
        CHECK(sizes[j] == v->sizes[j] && is_digest(v, j, digests + j * most), "checkpoint %zu, %zu bytes", j, sizes[j]);
    free(last);
    free(digests);
    free(messages);
    free(sizes);
}

static void check_monte_xof_stream(const hl_alg_info *alg, const struct vectors *v)
{
    uint8_t last[MONTE_XOF_NBYTES], digest[LONG_MAX_NBYTES];
    size_t size = v->most, at = 0;

    next_message(last, v->seed, sizeof last);
    for (size_t j = 0; j < v->n; j++) {
        for (unsigned round = 0; round < MONTE_ROUNDS; round++) {
            hl_ctx ctx;
            hl_init(&ctx, alg->alg);
            hl_update(&ctx, last, sizeof last);
            at = size;
            CHECK(squeeze(&ctx, digest, size, 100) == HL_OK, "hl_squeeze");
            next_message(last, digest, size);
            size = next_size(v, digest, size);
        }
        if (!CHECK(at == v->sizes[j] && is_digest(v, j, digest), "checkpoint %zu, %zu bytes", j, at))
            return;
    }
}

/* The kinds of files that the algorithm has; NULL behind the last. */
static const char *kind_of(const hl_alg_info *alg, size_t i)
{
    static const char *const cavp[] = {"ShortMsg", "LongMsg", "Monte", "VariableOut"};

    if (alg->ending >= HL_COUNTED && authors_of(alg) == NULL)
        return NULL; /* blake2.c, blake3.c */
    if (authors_of(alg) != NULL)
        return i == 0 ? "authors' vectors" : NULL;
    return i < (alg->ending == HL_XOF ? 4 : 3) ? cavp[i] : NULL;
}

int main(int argc, char **argv)
{
    static struct vectors v;

    test_start(argc, argv);
    for (size_t a = 0; a < hl_alg_count(); a++) {
        const hl_alg_info *alg = hl_alg_at(a);
        const int is_xof = alg->ending == HL_XOF;
        const char *kind;
        for (size_t k = 0; (kind = kind_of(alg, k)) != NULL; k++) {
            const int monte = strcmp(kind, "Monte") == 0;

#ifdef FIRST_KIND_ALONE
            if (k > 0)
                break;
#endif
            test_case("%s: reading %s", alg->name, kind);
            if (!read_vectors(alg, kind, &v))
                continue;
            if (monte)
                v.n = share_of(v.n); /* checkpoints */
            for (size_t i = 0; i <= hl_kernel_count(); i++) { /* the last one is NULL: the library's own choice */
                const hl_kernel *kernel = hl_kernel_at(i);
                if (kernel != NULL && (kernel->body != alg->body || !test_kernel(kernel)))
                    continue;
                test_case("%s, %s: %s", alg->name, kind, kernel == NULL ? "default" : kernel->name);
                (!monte ? check_messages : is_xof ? check_monte_xof : check_monte)(alg, kernel, &v);
            }
            for (size_t i = 0; i < hl_isa_count(); i++) {
                if ((hl_isas_available() & (hl_isas)1 << i) == 0)
                    continue;
                test_case("%s, %s: streams, %s", alg->name, kind, hl_isa_name(i));
                CHECK(hl_restrict((hl_isas)1 << i) == HL_OK, "hl_restrict");
                if (monte) {
                    (is_xof ? check_monte_xof_stream : check_monte_stream)(alg, &v);
                } else {
                    static const size_t parts[] = {1, 7, 64, 128, 200, 4096, 1 << 20};
                    for (size_t p = kind[0] == 'S' || kind[0] == 'V' ? 0 : 1; p < sizeof parts / sizeof parts[0]; p++)
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
