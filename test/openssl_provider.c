/* openssl_provider.c: the OpenSSL provider hashloom beside OpenSSL's default provider, in one process, through EVP.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *   openssl_provider MODULE          random differential tests, misuse, lack of memory, threads, fork, unloading
 *   openssl_provider MODULE CASES    the same with that number of random cases for each digest; 300 without it
 *
 * The random cases are by HASHLOOM_SEED.
 */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/provider.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, LONGEST = 70000, MOST_DIGESTS = 64, XOF_MAX = 600 };
static const char *digests[MOST_DIGESTS]; /* hashloom's that the default provider has too */
static int ndigests, ncases;
/* Other names of digests, and digests that are not hashloom's. */
static const char *const hmacs[] = {"SHA-224", "sha256", "SHA2-384", "1.3.14.3.2.26", "2.16.840.1.101.3.4.2.8",
                                    "SHA512-224", "SHA-512/256", "RIPEMD", "SM3", "BLAKE2B-512"};
enum { HMACS = sizeof hmacs / sizeof *hmacs };
static uint8_t message[LONGEST];

#define CHECK(condition, ...)                                                                                          \
    do                                                                                                                 \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "FAILED: %s:%d: %s: ", __FILE__, __LINE__, #condition);                                    \
            fprintf(stderr, __VA_ARGS__);                                                                              \
            fputc('\n', stderr);                                                                                       \
            ERR_print_errors_fp(stderr);                                                                               \
            exit(1);                                                                                                   \
        }                                                                                                              \
    while (0)

static uint32_t below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % n);
}

static size_t random_length(uint64_t *seed)
{
    static const uint32_t up_to[] = {3, 70, 140, 300, 5000, LONGEST + 1};

    return below(seed, up_to[below(seed, 20) == 0 ? 5 : below(seed, 5)]);
}

static int is_xof(const EVP_MD *md)
{
    return (EVP_MD_get_flags(md) & EVP_MD_FLAG_XOF) != 0;
}

static int (*squeeze)(EVP_MD_CTX *ctx, unsigned char *out, size_t nbytes); /* EVP_DigestSqueeze, from OpenSSL 3.3 on */

/* Ends a message. The digest of an XOF has xof_nbytes, told in one of three ways, or, if the provider knows one, the
 * usual length. */
static size_t finish(EVP_MD_CTX *ctx, size_t xof_nbytes, unsigned way, uint8_t *out)
{
    const EVP_MD *md = EVP_MD_CTX_get0_md(ctx);
    OSSL_PARAM params[2] = {OSSL_PARAM_construct_size_t("xoflen", &xof_nbytes), OSSL_PARAM_construct_end()};
    unsigned nbytes = 0;

    if (is_xof(md) && way == 3 && squeeze != NULL) {
        CHECK(squeeze(ctx, out, xof_nbytes / 2) && squeeze(ctx, out + xof_nbytes / 2, xof_nbytes - xof_nbytes / 2),
              "%s", EVP_MD_get0_name(md));
        return xof_nbytes;
    }
    if (is_xof(md) && (way == 0 || EVP_MD_get_size(md) <= 0)) {
        CHECK(EVP_DigestFinalXOF(ctx, out, xof_nbytes), "%s", EVP_MD_get0_name(md));
        return xof_nbytes;
    }
    if (is_xof(md) && way == 1)
        CHECK(EVP_MD_CTX_set_params(ctx, params), "%s", EVP_MD_get0_name(md));
    CHECK(EVP_DigestFinal_ex(ctx, out, &nbytes), "%s", EVP_MD_get0_name(md));
    return nbytes;
}

/* Two contexts, one of each provider, get the same chunks. In the middle each is copied, and the copies go another
 * way. */
static void digest_case(const char *name, EVP_MD *const md[2], uint64_t *seed)
{
    EVP_MD_CTX *ctx[2], *copy[2];
    uint8_t found[4][XOF_MAX];
    size_t nbytes[4];
    const size_t total = random_length(seed), cut = below(seed, (uint32_t)total + 1), start = below(seed, 64);
    const size_t xof_nbytes = 1 + below(seed, XOF_MAX);
    const unsigned way = below(seed, 4);
    const uint64_t chunks = *seed;

    for (int p = 0; p < 2; p++) {
        uint64_t seed_here = chunks;
        size_t done = start < total ? start : 0;
        const size_t begin = done;
        ctx[p] = EVP_MD_CTX_new();
        copy[p] = EVP_MD_CTX_new();
        CHECK(EVP_DigestInit_ex2(ctx[p], md[p], NULL), "%s", name);
        while (done < total) {
            size_t n = below(&seed_here, 5) == 0 ? below(&seed_here, (uint32_t)(total - done) + 1) : below(&seed_here,
                                                                                                           200);
            n = n < total - done ? n : total - done;
            CHECK(EVP_DigestUpdate(ctx[p], message + done, n), "%s", name);
            done += n;
            if (done > cut && EVP_MD_CTX_get0_md(copy[p]) == NULL)
                CHECK(EVP_MD_CTX_copy_ex(copy[p], ctx[p]), "%s", name);
        }
        if (EVP_MD_CTX_get0_md(copy[p]) == NULL)
            CHECK(EVP_MD_CTX_copy_ex(copy[p], ctx[p]), "%s", name);
        CHECK(EVP_DigestUpdate(copy[p], message, cut % 333), "%s", name);
        nbytes[p] = finish(ctx[p], xof_nbytes, way, found[p]);
        nbytes[2 + p] = finish(copy[p], xof_nbytes, way, found[2 + p]);
        uint8_t whole[XOF_MAX];
        CHECK(EVP_DigestInit_ex2(ctx[p], md[p], NULL) && EVP_DigestUpdate(ctx[p], message + begin, total - begin),
              "%s", name);
        CHECK(finish(ctx[p], xof_nbytes, way, whole) == nbytes[p] && memcmp(whole, found[p], nbytes[p]) == 0, "%s",
              name);
        EVP_MD_CTX_free(ctx[p]);
        EVP_MD_CTX_free(copy[p]);
    }
    for (int i = 0; i < 4; i += 2)
        CHECK(nbytes[i] == nbytes[i + 1] && memcmp(found[i], found[i + 1], nbytes[i]) == 0, "%s of %zu bytes", name,
              total);
}

static OSSL_PARAM text(const char *key, const char *value)
{
    return OSSL_PARAM_construct_utf8_string(key, (char *)(uintptr_t)value, 0);
}

static void hmac_case(const char *name, EVP_MAC *const mac[2], uint64_t *seed)
{
    uint8_t key[300], found[2][3][EVP_MAX_MD_SIZE];
    size_t nbytes[2][3];
    const size_t total = random_length(seed), key_nbytes = below(seed, 4) == 0 ? below(seed, sizeof key) : below(seed,
                                                                                                                 70);
    const uint32_t way = below(seed, 4);
    const uint64_t chunks = *seed;

    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)below(seed, 256);
    for (int p = 0; p < 2; p++) {
        uint64_t seed_here = chunks;
        EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac[p]), *copy = NULL;
        OSSL_PARAM params[5], *param = params;
        int zero = 0, one = 1;
        *param++ = text("digest", name);
        if (way == 1)
            *param++ = text("properties", "provider=default");
        if (way == 2)
            *param++ = OSSL_PARAM_construct_octet_string("key", key, key_nbytes);
        if (way == 3) {
            *param++ = OSSL_PARAM_construct_int("digest-noinit", &zero);
            *param++ = OSSL_PARAM_construct_int("digest-oneshot", &one);
        }
        *param = OSSL_PARAM_construct_end();
        CHECK(ctx != NULL && EVP_MAC_init(ctx, way == 2 ? NULL : key, key_nbytes, params), "%s", name);
        for (int round = 0; round < 2; round++) {
            for (size_t done = 0; done < total;) {
                const size_t most = total - done, n = below(&seed_here, below(&seed_here, 4) == 0 ? 2500 : 300);
                CHECK(EVP_MAC_update(ctx, message + done, n < most ? n : most), "%s", name);
                done += n < most ? n : most;
                if (copy == NULL && done > total / 2)
                    CHECK((copy = EVP_MAC_CTX_dup(ctx)) != NULL, "%s", name);
            }
            CHECK(EVP_MAC_CTX_get_mac_size(ctx) <= EVP_MAX_MD_SIZE && EVP_MAC_CTX_get_block_size(ctx) >= 64, "%s",
                  name);
            CHECK(EVP_MAC_final(ctx, found[p][round], &nbytes[p][round], EVP_MAX_MD_SIZE), "%s", name);
            if (round == 0)
                CHECK(EVP_MAC_init(ctx, NULL, 0, NULL), "%s: again with the same key", name);
        }
        CHECK(memcmp(found[p][0], found[p][1], nbytes[p][0]) == 0, "%s", name);
        if (copy == NULL)
            CHECK(EVP_MAC_init(ctx, NULL, 0, NULL) && (copy = EVP_MAC_CTX_dup(ctx)) != NULL, "%s", name);
        EVP_MAC_CTX_free(ctx); /* the copy lives on */
        CHECK(EVP_MAC_update(copy, message, 100) && EVP_MAC_final(copy, found[p][2], &nbytes[p][2], EVP_MAX_MD_SIZE),
              "%s",
              name);
        EVP_MAC_CTX_free(copy);
    }
    for (int i = 0; i < 3; i++)
        CHECK(nbytes[0][i] == nbytes[1][i] && memcmp(found[0][i], found[1][i], nbytes[0][i]) == 0, "HMAC %s, way %u",
              name,
              way);
}

/* The MAC of a padded TLS record in constant time: header, then record; the size is set after the key. */
static void tls_case(EVP_MAC *const mac[2], const char *name, size_t record, size_t padding)
{
    uint8_t found[2][EVP_MAX_MD_SIZE], header[13] = "12345678\x17\x03\x03", plain[2][EVP_MAX_MD_SIZE];
    size_t nbytes[2], size = record + padding;

    header[11] = (uint8_t)(record >> 8);
    header[12] = (uint8_t)record;
    for (int p = 0; p < 2; p++) {
        EVP_MAC_CTX *first = EVP_MAC_CTX_new(mac[p]);
        OSSL_PARAM digest[2] = {text("digest", name), OSSL_PARAM_construct_end()};
        OSSL_PARAM tls[2] = {OSSL_PARAM_construct_size_t("tls-data-size", &size), OSSL_PARAM_construct_end()};
        CHECK(EVP_MAC_init(first, (const uint8_t *)"secret", 6, digest), "%s", name);
        EVP_MAC_CTX *ctx = EVP_MAC_CTX_dup(first);
        CHECK(EVP_MAC_CTX_set_params(ctx, tls) && EVP_MAC_update(ctx, header, 13) && EVP_MAC_update(ctx, message,
                                                                                                    record) &&
                  EVP_MAC_final(ctx, found[p], &nbytes[p], EVP_MAX_MD_SIZE), "%s, record of %zu", name, record);
        size_t none = 0; /* back to plain HMAC */
        OSSL_PARAM no_tls[2] = {OSSL_PARAM_construct_size_t("tls-data-size", &none), OSSL_PARAM_construct_end()};
        CHECK(EVP_MAC_CTX_set_params(ctx, no_tls) && EVP_MAC_init(ctx, NULL, 0, NULL) && EVP_MAC_update(ctx, header,
                                                                                                        13) &&
                  EVP_MAC_final(ctx, plain[p], &nbytes[p], EVP_MAX_MD_SIZE), "%s", name);
        EVP_MAC_CTX_free(ctx);
        EVP_MAC_CTX_free(first);
    }
    CHECK(memcmp(found[0], found[1], nbytes[0]) == 0, "%s, record of %zu", name, record);
    CHECK(memcmp(plain[0], plain[1], nbytes[0]) == 0, "%s", name);
}

/* Random parameters, right and wrong, in random calls: both providers take and refuse the same, and derive the same. */
static void pbkdf2_case(const char *name, EVP_KDF *const kdf[2], uint64_t *seed)
{
    static const uint64_t least[] = {0, 1, 999, 1000};
    uint8_t found[2][300];
    EVP_KDF_CTX *ctx[2] = {EVP_KDF_CTX_new(kdf[0]), EVP_KDF_CTX_new(kdf[1])};

    memset(found, 0, sizeof found);
    for (int step = 0; step < 6; step++) {
        OSSL_PARAM params[9], *param = params;
        int pkcs5 = (int)below(seed, 3) - 1;
        uint64_t niterations = below(seed, 4) == 0 ? least[below(seed, 4)] : 1 + below(seed, 40);
        size_t size[2] = {1, 2};
        const size_t key_nbytes = below(seed, 4) == 0 ? below(seed, 20) : below(seed, sizeof found[0]);
        const uint32_t which = below(seed, 256), kind = below(seed, 16), at = below(seed, 1000);
        if (which & 1)
            *param++ = text("digest", kind == 0 ? "no-such-digest" : kind == 1 ? "SHAKE128" : kind == 2 ? "SM3" : name);
        if (which % 8 == 3)
            *param++ = text("properties", kind == 3 ? "provider=nobody" : "provider=default");
        if (which & 2)
            *param++ = OSSL_PARAM_construct_octet_string("pass", message + at, below(seed, 200));
        if (which & 4)
            *param++ = OSSL_PARAM_construct_octet_string("salt", message + at, below(seed, 40));
        if (which & 8)
            *param++ = OSSL_PARAM_construct_uint64("iter", &niterations);
        if (which & 16)
            *param++ = OSSL_PARAM_construct_int("pkcs5", &pkcs5);
        if (which % 64 == 33)
            *param++ = text(kind < 8 ? "pass" : "iter", "of a wrong type");
        *param = OSSL_PARAM_construct_end();
        int done[2];
        for (int p = 0; p < 2; p++) {
            if (which >= 224) {
                EVP_KDF_CTX *copy = EVP_KDF_CTX_dup(ctx[p]);
                CHECK(copy != NULL || p == 0, "%s", name); /* the default provider of OpenSSL 3.0 copies none */
                if (copy != NULL) {
                    EVP_KDF_CTX_free(ctx[p]);
                    ctx[p] = copy;
                }
            } else if (which >= 216) {
                EVP_KDF_CTX_reset(ctx[p]);
            }
            done[p] = which & 32 ? EVP_KDF_CTX_set_params(ctx[p], params)
                                 : EVP_KDF_derive(ctx[p], found[p], key_nbytes, params);
            size[p] = EVP_KDF_CTX_get_kdf_size(ctx[p]);
        }
        ERR_clear_error();
        CHECK((done[0] > 0) == (done[1] > 0), "PBKDF2 %s, parameters %u %u: %d, not %d", name, which, kind, done[1],
              done[0]);
        CHECK(size[0] == size[1] && memcmp(found[0], found[1], sizeof found[0]) == 0, "PBKDF2 %s, parameters %u", name,
              which);
    }
    EVP_KDF_CTX_free(ctx[0]);
    EVP_KDF_CTX_free(ctx[1]);
}

/* The provider's own. */
#define FETCH(function, TYPE) \
    static TYPE *function(OSSL_LIB_CTX *library, const char *name, const char *provider) \
    { \
        char query[40]; \
        snprintf(query, sizeof query, "provider=%s", provider); \
        TYPE *found = TYPE##_fetch(library, name, query); \
        CHECK(found != NULL && strcmp(OSSL_PROVIDER_get0_name(TYPE##_get0_provider(found)), provider) == 0, "%s", \
              name); \
        return found; \
    }
FETCH(fetch_md, EVP_MD)
FETCH(fetch_mac, EVP_MAC)
FETCH(fetch_kdf, EVP_KDF)

/* Asks the provider for its digests. */
static void find_digest(EVP_MD *md, void *unused)
{
    const char *name = EVP_MD_get0_name(md);

    (void)unused;
    if (strcmp(OSSL_PROVIDER_get0_name(EVP_MD_get0_provider(md)), "hashloom") != 0)
        return;
    EVP_MD *theirs = EVP_MD_fetch(NULL, name, "provider=default");
    if (theirs == NULL) {
        printf("not compared: %s: the default provider of %s lacks it\n", name, OpenSSL_version(OPENSSL_VERSION));
        ERR_clear_error();
        return;
    }
    EVP_MD_free(theirs);
    CHECK(ndigests < MOST_DIGESTS && (digests[ndigests++] = strdup(name)) != NULL, "%s", name);
}

/* What happens if EVP_DigestInit_ex2 or, later, EVP_MD_CTX_set_params gets a length. */
enum answer {
    NONE,    /* the provider lacks the digest */
    IGNORED, /* the digest has its usual length, and the call reports it */
    OBEYED,
    REFUSED, /* the call fails, or, if it succeeds, EVP_DigestFinal_ex */
    ANY      /* ours: as the default provider */
};
static const struct {
    const char *digest, *key;
    size_t value;
    int is_later;
    enum answer theirs[4]; /* OpenSSL 3.0 and 3.1, 3.2, 3.3, 3.4 and later */
    enum answer ours;
} lengths[] = {
    {"SHA1", "size", 16, 0, {IGNORED, IGNORED, IGNORED, IGNORED}, ANY},
    {"SHA1", "size", 16, 1, {IGNORED, IGNORED, IGNORED, IGNORED}, ANY},
    {"SHA256", "size", 16, 0, {IGNORED, IGNORED, IGNORED, IGNORED}, ANY},
    {"SHA256", "size", 16, 1, {REFUSED, REFUSED, REFUSED, REFUSED}, ANY},
    {"SHA256", "xoflen", 16, 0, {IGNORED, IGNORED, IGNORED, IGNORED}, ANY},
    {"SHA256", "xoflen", 16, 1, {REFUSED, REFUSED, REFUSED, REFUSED}, ANY},
    {"SHA3-256", "size", 16, 0, {IGNORED, IGNORED, IGNORED, IGNORED}, ANY},
    {"SHA3-256", "xoflen", 16, 1, {REFUSED, REFUSED, REFUSED, REFUSED}, ANY},
    {"KECCAK-256", "size", 16, 0, {NONE, IGNORED, IGNORED, IGNORED}, IGNORED},
    {"SHAKE128", "xoflen", 100, 0, {OBEYED, OBEYED, OBEYED, OBEYED}, ANY},
    {"SHAKE128", "xoflen", 100, 1, {OBEYED, OBEYED, OBEYED, OBEYED}, ANY},
    {"SHAKE128", "xoflen", 0, 0, {OBEYED, OBEYED, OBEYED, REFUSED}, ANY},
    {"SHAKE256", "size", 100, 0, {IGNORED, IGNORED, IGNORED, OBEYED}, OBEYED},
    {"SHAKE256", "size", 100, 1, {IGNORED, IGNORED, IGNORED, OBEYED}, OBEYED},
    {"BLAKE2B-512", "size", 16, 0, {IGNORED, OBEYED, OBEYED, OBEYED}, OBEYED},
    {"BLAKE2B-512", "size", 16, 1, {REFUSED, REFUSED, REFUSED, REFUSED}, ANY},
    {"BLAKE2B-512", "size", 1, 0, {IGNORED, OBEYED, OBEYED, OBEYED}, OBEYED},
    {"BLAKE2B-512", "size", 0, 0, {IGNORED, REFUSED, REFUSED, REFUSED}, REFUSED},
    {"BLAKE2B-512", "size", 65, 0, {IGNORED, REFUSED, REFUSED, REFUSED}, REFUSED},
    {"BLAKE2B-512", "size", SIZE_MAX, 0, {IGNORED, REFUSED, REFUSED, REFUSED}, REFUSED},
    {"BLAKE2S-256", "size", 16, 0, {IGNORED, IGNORED, OBEYED, OBEYED}, OBEYED},
    {"BLAKE2S-256", "size", 16, 1, {REFUSED, REFUSED, REFUSED, REFUSED}, ANY},
    {"BLAKE2S-256", "size", 33, 0, {IGNORED, IGNORED, REFUSED, REFUSED}, REFUSED},
    {"BLAKE2B-256", "size", 16, 0, {NONE, NONE, NONE, NONE}, OBEYED},
    {"BLAKE2B-256", "size", 33, 0, {NONE, NONE, NONE, NONE}, REFUSED},
    {"BLAKE2B-512", "xoflen", 16, 1, {REFUSED, IGNORED, IGNORED, IGNORED}, ANY},
    {"BLAKE2S-256", "xoflen", 16, 1, {REFUSED, REFUSED, IGNORED, IGNORED}, ANY},
};

static enum answer answer_of(const char *provider, size_t row, uint8_t found[XOF_MAX])
{
    char query[40];
    size_t value = lengths[row].value;
    OSSL_PARAM params[2] = {OSSL_PARAM_construct_size_t(lengths[row].key, &value), OSSL_PARAM_construct_end()};
    unsigned nbytes = XOF_MAX;

    snprintf(query, sizeof query, "provider=%s", provider);
    EVP_MD *md = EVP_MD_fetch(NULL, lengths[row].digest, query);
    if (md == NULL)
        return NONE;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    memset(found, 0xa5, XOF_MAX);
    const int done = EVP_DigestInit_ex2(ctx, md, lengths[row].is_later ? NULL : params) &&
                     (!lengths[row].is_later || EVP_MD_CTX_set_params(ctx, params)) &&
                     EVP_DigestUpdate(ctx, message, 1000) && EVP_DigestFinal_ex(ctx, found, &nbytes);
    if (!done)
        nbytes = 0;
    for (size_t i = nbytes; i < XOF_MAX; i++)
        CHECK(found[i] == 0xa5, "%s, %s %zu: byte %zu is written", query, lengths[row].key, value, i);
    const int is_obeyed = done && nbytes == value;
    CHECK(!done || is_obeyed || (int)nbytes == EVP_MD_get_size(md), "%s, %s %zu: %u bytes", query, lengths[row].key,
          value, nbytes);
    EVP_MD_CTX_free(ctx);
    EVP_MD_free(md);
    ERR_clear_error();
    return !done ? REFUSED : is_obeyed ? OBEYED : IGNORED;
}

/* A length that is not obeyed is an error, but where the default provider ignores a parameter that the digest lacks. */
static void lengths_by_parameter(void)
{
    const unsigned minor = OPENSSL_version_major() > 3 ? 4 : OPENSSL_version_minor();
    const unsigned version = minor < 2 ? 0 : minor < 4 ? minor - 1 : 3;
    uint8_t found[2][XOF_MAX];

    for (size_t row = 0; row < sizeof lengths / sizeof *lengths; row++) {
        const enum answer theirs = answer_of("default", row, found[0]), ours = answer_of("hashloom", row, found[1]);
        CHECK(theirs == lengths[row].theirs[version], "%s, %s %zu: the default provider answers %d",
              lengths[row].digest, lengths[row].key, lengths[row].value, (int)theirs);
        CHECK(ours == (lengths[row].ours == ANY ? theirs : lengths[row].ours) ||
                  (version == 1 && lengths[row].ours == ANY && ours == REFUSED),
              "%s, %s %zu: answer %d", lengths[row].digest, lengths[row].key, lengths[row].value, (int)ours);
        CHECK(ours != theirs || memcmp(found[0], found[1], XOF_MAX) == 0, "%s, %s %zu", lengths[row].digest,
              lengths[row].key, lengths[row].value);
    }
}

/* Random lengths of random types in random calls, of which neither provider may refuse what the other takes. Before
 * OpenSSL 3.4 the providers differ where `lengths` says. */
static void length_case(const char *name, EVP_MD *const md[2], uint64_t *seed)
{
    enum { GUARD = 0xa5 };
    const int is_modern = OPENSSL_version_major() > 3 || OPENSSL_version_minor() >= 4;
    static const size_t values[] = {0, 1, 15, 16, 20, 28, 32, 33, 48, 63, 64, 65, 200, 256 + 16};
    EVP_MD_CTX *ctx[2] = {EVP_MD_CTX_new(), EVP_MD_CTX_new()};
    int is_begun = 0, done[2] = {1, 1};

    for (int step = 0; step < 12 && done[0]; step++) {
        uint8_t found[2][XOF_MAX];
        size_t value = values[below(seed, sizeof values / sizeof *values)];
        int number = below(seed, 8) == 0 ? -1 : (int)value;
        uint32_t word = (uint32_t)value;
        const char *const key = !is_modern || below(seed, 2) ? "xoflen" : "size";
        const uint32_t kind = below(seed, 8), call = is_begun ? below(seed, 7) : 0, at = below(seed, 100);
        const int has_param = (is_modern || is_xof(md[1])) && below(seed, 3) != 0;
        OSSL_PARAM params[3] = {kind == 0   ? OSSL_PARAM_construct_int(key, &number)
                                : kind == 1 ? OSSL_PARAM_construct_uint32(key, &word)
                                : kind == 2 ? OSSL_PARAM_construct_octet_string(key, &value, sizeof value)
                                            : OSSL_PARAM_construct_size_t(key, &value),
                                OSSL_PARAM_construct_end(), OSSL_PARAM_construct_end()};
        if (kind == 7)
            params[1] = OSSL_PARAM_construct_size_t(is_modern ? "size" : "unknown", &value);
        for (int p = 0; p < 2; p++) {
            unsigned nbytes = 0;
            size_t got[2] = {0, 0};
            OSSL_PARAM get[3] = {OSSL_PARAM_construct_size_t("size", &got[0]),
                                 OSSL_PARAM_construct_size_t("xoflen", &got[1]), OSSL_PARAM_construct_end()};
            memset(found[p], GUARD, XOF_MAX);
            switch (call) {
            case 0:
            case 1: done[p] = EVP_DigestInit_ex2(ctx[p], md[p], has_param ? params : NULL) > 0; break;
            case 2: done[p] = !has_param || EVP_MD_CTX_set_params(ctx[p], params) > 0; break;
            case 3: done[p] = EVP_DigestUpdate(ctx[p], message + at, value); break;
            case 4: {
                EVP_MD_CTX *copy = EVP_MD_CTX_new();
                done[p] = EVP_MD_CTX_copy_ex(copy, ctx[p]);
                EVP_MD_CTX_free(ctx[p]);
                ctx[p] = copy;
                break;
            }
            case 5:
                done[p] = !is_modern || EVP_MD_CTX_get_params(ctx[p], get) > 0;
                memcpy(found[p], got, sizeof got);
                break;
            case 6:
                done[p] = at % 4 == 0 ? EVP_DigestFinalXOF(ctx[p], found[p], value < 64 ? 64 : value) > 0
                                      : EVP_DigestFinal_ex(ctx[p], found[p], &nbytes) > 0;
                memcpy(found[p] + XOF_MAX - sizeof nbytes, &nbytes, sizeof nbytes);
                break;
            }
        }
        is_begun = call != 6;
        CHECK(done[0] == done[1] && (!done[0] || memcmp(found[0], found[1], XOF_MAX) == 0),
              "%s, step %d, call %u, %s of kind %u, %zu: %d, not %d", name, step, call, key, kind, value, done[1],
              done[0]);
    }
    EVP_MD_CTX_free(ctx[0]);
    EVP_MD_CTX_free(ctx[1]);
    ERR_clear_error();
}

/* Parameters that HMAC and PBKDF2 lack change nothing, as in the default provider; other functions take them. */
static void foreign_parameters(void)
{
    static const char *const keys[] = {"size", "xof", "custom", "salt", "iv", "cipher", "c-rounds", "nobody's"};

    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        uint8_t found[2][2][100];
        memset(found, 0xa5, sizeof found);
        for (int p = 0; p < 2; p++) {
            const char *provider = p == 0 ? "default" : "hashloom";
            EVP_MAC *mac = fetch_mac(NULL, "HMAC", provider);
            EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
            size_t value = 16, nbytes = 0;
            OSSL_PARAM params[3] = {text("digest", "SHA256"), OSSL_PARAM_construct_size_t(keys[k], &value),
                                    OSSL_PARAM_construct_end()};
            CHECK(EVP_MAC_init(ctx, message, 20, params) && EVP_MAC_CTX_set_params(ctx, params + 1), "HMAC, %s",
                  keys[k]);
            CHECK(EVP_MAC_CTX_get_mac_size(ctx) == 32 && !EVP_MAC_final(ctx, found[p][0], &nbytes, 31), "HMAC, %s",
                  keys[k]);
            CHECK(EVP_MAC_update(ctx, message, 9) && EVP_MAC_final(ctx, found[p][0], &nbytes, 32) && nbytes == 32,
                  "HMAC, %s", keys[k]);
            EVP_MAC_CTX_free(ctx);
            EVP_MAC_free(mac);
            EVP_KDF *kdf = fetch_kdf(NULL, "PBKDF2", provider);
            EVP_KDF_CTX *kdf_ctx = EVP_KDF_CTX_new(kdf);
            OSSL_PARAM of_kdf[4] = {OSSL_PARAM_construct_octet_string("pass", message, 9), params[1],
                                    OSSL_PARAM_construct_octet_string("salt", message, 9), OSSL_PARAM_construct_end()};
            OSSL_PARAM get[2] = {OSSL_PARAM_construct_size_t(keys[k], &value), OSSL_PARAM_construct_end()};
            if (strcmp(keys[k], "salt") != 0)
                CHECK(EVP_KDF_derive(kdf_ctx, found[p][1], 50, of_kdf) > 0, "PBKDF2, %s", keys[k]);
            const int got = EVP_KDF_CTX_get_params(kdf_ctx, get);
            memcpy(found[p][1] + 60, &got, sizeof got);
            memcpy(found[p][1] + 70, &value, sizeof value);
            EVP_KDF_CTX_free(kdf_ctx);
            EVP_KDF_free(kdf);
            ERR_clear_error();
        }
        CHECK(memcmp(found[0], found[1], sizeof found[0]) == 0, "%s", keys[k]);
    }
}

static void cases(uint64_t seed, int count)
{
    static const char *const tls[] = {"SHA1", "SHA-224", "sha256", "SHA2-384", "1.3.14.3.2.26", "SHA512"};
    EVP_MAC *const mac[2] = {fetch_mac(NULL, "HMAC", "default"), fetch_mac(NULL, "HMAC", "hashloom")};
    EVP_KDF *const kdf[2] = {fetch_kdf(NULL, "PBKDF2", "default"), fetch_kdf(NULL, "PBKDF2", "hashloom")};

    for (int d = 0; d < ndigests; d++) {
        EVP_MD *const md[2] = {fetch_md(NULL, digests[d], "default"), fetch_md(NULL, digests[d], "hashloom")};
        for (int i = 0; i < count; i++)
            digest_case(digests[d], md, &seed);
        for (int i = 0; i < count; i++)
            length_case(digests[d], md, &seed);
        for (int i = 0; i < count / 3 && !is_xof(md[1]); i++)
            hmac_case(digests[d], mac, &seed);
        for (int i = 0; i < count / 3; i++)
            pbkdf2_case(digests[d], kdf, &seed);
        EVP_MD_free(md[0]);
        EVP_MD_free(md[1]);
    }
    for (int d = 0; d < HMACS; d++)
        for (int i = 0; i < count / 3; i++)
            hmac_case(hmacs[d], mac, &seed);
    for (int i = 0; i < (count + 9) / 10; i++)
        tls_case(mac, tls[i % 6], 60 + below(&seed, 400), below(&seed, 255));
    EVP_MAC_free(mac[0]);
    EVP_MAC_free(mac[1]);
    EVP_KDF_free(kdf[0]);
    EVP_KDF_free(kdf[1]);
}

static void *cases_of_thread(void *number)
{
    cases(77 + (uint64_t)(uintptr_t)number, ncases < 12 ? ncases : 12);
    return NULL;
}

static void name_is_known(const char *name, void *other)
{
    CHECK(EVP_MD_is_a(other, name), "%s", name);
}

static void same_properties(void)
{
    for (int d = 0; d < ndigests; d++) {
        EVP_MD *ours = fetch_md(NULL, digests[d], "hashloom"), *theirs = fetch_md(NULL, digests[d], "default");
        /* 3.3.1 did not know yet that SHAKE has no parameters in an algorithm identifier. */
        const unsigned long unlike = is_xof(theirs) ? EVP_MD_FLAG_DIGALGID_ABSENT : 0;
        CHECK(EVP_MD_get_size(ours) == EVP_MD_get_size(theirs) &&
              EVP_MD_get_block_size(ours) == EVP_MD_get_block_size(theirs) &&
                  (EVP_MD_get_flags(ours) | unlike) == (EVP_MD_get_flags(theirs) | unlike) &&
                      EVP_MD_get_type(ours) == EVP_MD_get_type(theirs) &&
                  strcmp(EVP_MD_get0_name(ours), EVP_MD_get0_name(theirs)) == 0, "%s", digests[d]);
        CHECK(EVP_MD_names_do_all(theirs, name_is_known, ours) && EVP_MD_names_do_all(ours, name_is_known, theirs),
              "%s",
              digests[d]);
        for (const OSSL_PARAM *each = EVP_MD_gettable_params(theirs); each->key != NULL; each++)
            CHECK(OSSL_PARAM_locate_const(EVP_MD_gettable_params(ours), each->key) != NULL, "%s: %s", digests[d],
                  each->key);
        const OSSL_PARAM *settable = EVP_MD_settable_ctx_params(theirs);
        for (const OSSL_PARAM *each = settable; each != NULL && each->key != NULL; each++)
            CHECK(OSSL_PARAM_locate_const(EVP_MD_settable_ctx_params(ours), each->key) != NULL, "%s: %s", digests[d],
                  each->key);
        EVP_MD_free(ours);
        EVP_MD_free(theirs);
    }
    EVP_MAC *ours = fetch_mac(NULL, "HMAC", "hashloom"), *theirs = fetch_mac(NULL, "HMAC", "default");
    for (const OSSL_PARAM *each = EVP_MAC_settable_ctx_params(theirs); each->key != NULL; each++)
        CHECK(OSSL_PARAM_locate_const(EVP_MAC_settable_ctx_params(ours), each->key) != NULL, "%s", each->key);
    for (const OSSL_PARAM *each = EVP_MAC_gettable_ctx_params(theirs); each->key != NULL; each++)
        CHECK(OSSL_PARAM_locate_const(EVP_MAC_gettable_ctx_params(ours), each->key) != NULL, "%s", each->key);
    EVP_MAC_free(ours);
    EVP_MAC_free(theirs);
}

/* SSL 3.0's master secret in SHA-1. */
static void ssl3(void)
{
    uint8_t found[2][20];

    for (int p = 0; p < 2; p++) {
        EVP_MD *md = fetch_md(NULL, "SHA1", p == 0 ? "default" : "hashloom");
        EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        CHECK(EVP_DigestInit_ex2(ctx, md, NULL) && EVP_DigestUpdate(ctx, message, 1000), "SHA1");
        CHECK(EVP_MD_CTX_ctrl(ctx, EVP_CTRL_SSL3_MASTER_SECRET, 47, message) <= 0, "a secret of 47 bytes");
        CHECK(EVP_MD_CTX_ctrl(ctx, EVP_CTRL_SSL3_MASTER_SECRET, 48, message) > 0, "SHA1");
        CHECK(EVP_DigestFinal_ex(ctx, found[p], NULL), "SHA1");
        EVP_MD_CTX_free(ctx);
        EVP_MD_free(md);
    }
    CHECK(memcmp(found[0], found[1], 20) == 0, "SHA1");
}

/* The last error is one of hashloom's, and has a text. */
static void expect_error(const char *part)
{
    const unsigned long error = ERR_peek_last_error();
    const char *reason = ERR_reason_error_string(error);

    CHECK(reason != NULL && strstr(reason, part) != NULL, "%s", reason == NULL ? "no error" : reason);
    ERR_clear_error();
}

static void misuse_of_hmac(void)
{
    EVP_MAC *mac = fetch_mac(NULL, "HMAC", "hashloom");
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
    uint8_t tag[EVP_MAX_MD_SIZE];
    size_t nbytes;
    OSSL_PARAM unknown[2] = {text("digest", "no-such-digest"), OSSL_PARAM_construct_end()};
    OSSL_PARAM empty[2] = {text("digest", ""), OSSL_PARAM_construct_end()};
    OSSL_PARAM xof[2] = {text("digest", "SHAKE128"), OSSL_PARAM_construct_end()};
    OSSL_PARAM sha256[2] = {text("digest", "SHA256"), OSSL_PARAM_construct_end()};
    OSSL_PARAM sha512[2] = {text("digest", "SHA512"), OSSL_PARAM_construct_end()};
    OSSL_PARAM elsewhere[3] = {text("digest", "SHA256"), text("properties", "provider=nobody"),
                               OSSL_PARAM_construct_end()};
    int number = 5;
    OSSL_PARAM wrong_type[2] = {OSSL_PARAM_construct_int("digest", &number), OSSL_PARAM_construct_end()};
    OSSL_PARAM wrong_key[2] = {OSSL_PARAM_construct_int("key", &number), OSSL_PARAM_construct_end()};

    CHECK(!EVP_MAC_update(ctx, message, 1), "update before init");
    expect_error("not initialised");
    CHECK(!EVP_MAC_init(ctx, NULL, 0, NULL), "no digest");
    expect_error("no digest");
    CHECK(!EVP_MAC_init(ctx, message, 5, NULL), "no digest");
    expect_error("no digest");
    CHECK(!EVP_MAC_CTX_set_params(ctx, unknown) && !EVP_MAC_CTX_set_params(ctx, unknown), "an unknown digest, twice");
    CHECK(!EVP_MAC_CTX_set_params(ctx, empty), "an empty name");
    CHECK(!EVP_MAC_CTX_set_params(ctx, elsewhere), "a digest of a provider that is not there");
    CHECK(!EVP_MAC_CTX_set_params(ctx, wrong_type) && !EVP_MAC_CTX_set_params(ctx, wrong_key), "types");
    CHECK(!EVP_MAC_init(ctx, message, 5, xof), "HMAC of SHAKE128");
    expect_error("not defined for");
    CHECK(!EVP_MAC_init(ctx, NULL, 0, sha256), "no key");
    expect_error("no key");
    CHECK(EVP_MAC_init(ctx, message, 0, NULL), "an empty key");
    CHECK(EVP_MAC_CTX_get_mac_size(ctx) == 32 && EVP_MAC_CTX_get_block_size(ctx) == 64, "sizes");
    CHECK(!EVP_MAC_final(ctx, tag, &nbytes, 31), "room");
    ERR_clear_error();
    CHECK(EVP_MAC_final(ctx, tag, &nbytes, 32) && nbytes == 32, "final");
    CHECK(!EVP_MAC_final(ctx, tag, &nbytes, 32), "final twice");
    expect_error("final already");
    CHECK(!EVP_MAC_update(ctx, message, 1), "update after final");
    CHECK(!EVP_MAC_init(ctx, NULL, 0, sha512), "another digest without a key");
    expect_error("no key");
    CHECK(EVP_MAC_init(ctx, message, 5, sha512) && EVP_MAC_CTX_get_mac_size(ctx) == 64, "another digest");
    EVP_MAC_CTX_free(ctx);
    EVP_MAC_free(mac);
    ERR_clear_error();
}

/* The texts of PBKDF2's errors. pbkdf2_case compares which arguments are refused. */
static void misuse_of_pbkdf2(void)
{
    EVP_KDF *kdf = fetch_kdf(NULL, "PBKDF2", "hashloom");
    EVP_KDF_CTX *ctx = EVP_KDF_CTX_new(kdf);
    uint8_t key[20];
    int limits = 0;
    unsigned none = 0, iterations = 999;
    OSSL_PARAM unknown[2] = {text("digest", "no-such-digest"), OSSL_PARAM_construct_end()};
    OSSL_PARAM password[2] = {OSSL_PARAM_construct_octet_string("pass", message, 5), OSSL_PARAM_construct_end()};
    OSSL_PARAM salt[2] = {OSSL_PARAM_construct_octet_string("salt", message, 15), OSSL_PARAM_construct_end()};
    OSSL_PARAM zero[2] = {OSSL_PARAM_construct_uint("iter", &none), OSSL_PARAM_construct_end()};
    OSSL_PARAM few[4] = {text("digest", "sha256"), OSSL_PARAM_construct_int("pkcs5", &limits),
                         OSSL_PARAM_construct_uint("iter", &iterations), OSSL_PARAM_construct_end()};

    CHECK(EVP_KDF_derive(ctx, key, sizeof key, NULL) <= 0, "no password");
    expect_error("no password");
    CHECK(EVP_KDF_derive(ctx, key, sizeof key, password) <= 0, "no salt");
    expect_error("no salt");
    CHECK(EVP_KDF_CTX_set_params(ctx, zero) <= 0, "no iteration");
    expect_error("iterations");
    CHECK(EVP_KDF_CTX_set_params(ctx, unknown) <= 0, "an unknown digest");
    CHECK(EVP_KDF_derive(ctx, key, sizeof key, salt) <= 0, "an unknown digest is none");
    expect_error("no digest");
    CHECK(EVP_KDF_CTX_set_params(ctx, few) <= 0, "few iterations");
    expect_error("iterations");
    CHECK(EVP_KDF_CTX_set_params(ctx, salt) <= 0 && EVP_KDF_derive(ctx, key, sizeof key, NULL) <= 0, "a short salt");
    expect_error("salt is shorter");
    CHECK(EVP_KDF_derive(ctx, key, 13, NULL) <= 0, "a short key");
    expect_error("key is shorter");
    EVP_KDF_CTX_free(ctx);
    EVP_KDF_free(kdf);
    ERR_clear_error();
}

/* The functions of the module without EVP, which forbids most misuse. */
static OSSL_provider_init_fn *module_init;
static const OSSL_DISPATCH *module;
static void *module_context;

static int keep_functions(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in, const OSSL_DISPATCH **out,
                          void **context)
{
    if (!module_init(handle, in, out, context))
        return 0;
    module = *out;
    module_context = *context;
    return 1;
}

static void (*function_of(const OSSL_DISPATCH *table, int id))(void)
{
    while (table->function_id != 0 && table->function_id != id)
        table++;
    CHECK(table->function_id != 0, "function %d", id);
    return table->function;
}
#define CALL(table, kind, id) ((OSSL_FUNC_##kind##_fn *)function_of(table, OSSL_FUNC_##id))

/* Counts down to failing allocations; -1: none fails. */
static int countdown = -1;
static long failures;

static int fails(void)
{
    if (countdown < 0)
        return 0;
    if (countdown == 0) {
        failures++;
        return 1;
    }
    countdown--;
    return 0;
}

static void *test_malloc(size_t n, const char *file, int line)
{
    (void)file, (void)line;
    return fails() ? NULL : malloc(n);
}

static void *test_realloc(void *p, size_t n, const char *file, int line)
{
    (void)file, (void)line;
    return fails() ? NULL : realloc(p, n);
}

static void test_free(void *p, const char *file, int line)
{
    (void)file, (void)line;
    free(p);
}

/* A digest that is squeezed in parts, by a copy of the context. */
static void squeezes(const OSSL_DISPATCH *table, void *ctx, const uint8_t *expected, const char *name)
{
    enum { SQUEEZE = 14 }; /* OSSL_FUNC_DIGEST_SQUEEZE of OpenSSL 3.3, with the parameters of a final */
    OSSL_FUNC_digest_dupctx_fn *dupctx = CALL(table, digest_dupctx, DIGEST_DUPCTX);
    OSSL_FUNC_digest_final_fn *squeeze = (OSSL_FUNC_digest_final_fn *)function_of(table, SQUEEZE);
    void *copy = dupctx(ctx), *second;
    uint8_t found[XOF_MAX];
    size_t at = 0, nbytes = 9;

    CHECK(squeeze(copy, NULL, &nbytes, 0) && nbytes == 0, "%s: squeeze nothing", name);
    CHECK(!squeeze(copy, NULL, &nbytes, 1), "%s: squeeze into NULL", name);
    for (size_t n = 1; at < XOF_MAX; n = n * 2 + 1) {
        n = n < XOF_MAX - at ? n : XOF_MAX - at;
        CHECK(squeeze(copy, found + at, &nbytes, n) && nbytes == n, "%s: squeeze", name);
        at += n;
        CHECK((second = dupctx(copy)) != NULL, "%s", name); /* goes on where the first stopped */
        CALL(table, digest_freectx, DIGEST_FREECTX)(copy);
        copy = second;
    }
    CHECK(memcmp(found, expected, XOF_MAX) == 0, "%s: squeeze", name);
    CHECK(!CALL(table, digest_update, DIGEST_UPDATE)(copy, message, 1) &&
              !CALL(table, digest_final, DIGEST_FINAL)(copy, found, &nbytes, 64), "%s: after squeeze", name);
    CHECK(CALL(table, digest_init, DIGEST_INIT)(copy, NULL) &&
              CALL(table, digest_update, DIGEST_UPDATE)(copy, message, 1), "%s: again", name);
    CALL(table, digest_freectx, DIGEST_FREECTX)(copy);
    CHECK(!squeeze(second = CALL(table, digest_newctx, DIGEST_NEWCTX)(module_context), found, &nbytes, 1),
          "%s: squeeze before init", name);
    CALL(table, digest_freectx, DIGEST_FREECTX)(second);
}

static void misuse_of_module(const char *path)
{
    OSSL_LIB_CTX *library = OSSL_LIB_CTX_new();
    void *file = dlopen(path, RTLD_NOW);
    int no_cache = 1;
    uint8_t out[EVP_MAX_MD_SIZE];
    size_t nbytes;

    CHECK(file != NULL, "%s", dlerror());
    *(void **)&module_init = dlsym(file, "OSSL_provider_init");
    CHECK(module_init != NULL, "OSSL_provider_init");
    CHECK(OSSL_PROVIDER_add_builtin(library, "hashloom", keep_functions), "add_builtin");
    OSSL_PROVIDER *default_ = OSSL_PROVIDER_load(library, "default"), *ours = OSSL_PROVIDER_load(library, "hashloom");
    CHECK(default_ != NULL && ours != NULL, "load");

    const OSSL_ALGORITHM *all = CALL(module, provider_query_operation, PROVIDER_QUERY_OPERATION)(module_context,
                                                                                                 OSSL_OP_DIGEST,
                                                                                                &no_cache);
    CHECK(no_cache == 0, "query");
    for (int d = 0; all[d].algorithm_names != NULL; d++) {
        const OSSL_DISPATCH *table = all[d].implementation;
        OSSL_FUNC_digest_newctx_fn *newctx = CALL(table, digest_newctx, DIGEST_NEWCTX);
        OSSL_FUNC_digest_dupctx_fn *dupctx = CALL(table, digest_dupctx, DIGEST_DUPCTX);
        OSSL_FUNC_digest_freectx_fn *freectx = CALL(table, digest_freectx, DIGEST_FREECTX);
        OSSL_FUNC_digest_init_fn *init = CALL(table, digest_init, DIGEST_INIT);
        OSSL_FUNC_digest_update_fn *update = CALL(table, digest_update, DIGEST_UPDATE);
        OSSL_FUNC_digest_final_fn *final = CALL(table, digest_final, DIGEST_FINAL);
        void *ctx = newctx(module_context), *copy;
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(all[d].algorithm_names, ":"), all[d].algorithm_names);
        EVP_MD *md = EVP_MD_fetch(NULL, name, "?provider=default");
        uint8_t expected[XOF_MAX];
        size_t size = is_xof(md) ? 33 : (size_t)EVP_MD_get_size(md);

        CHECK(!update(ctx, message, 1) && !final(ctx, out, &nbytes, 64), "%s: before init", name);
        CHECK((copy = dupctx(ctx)) != NULL && !update(copy, message, 1), "copy before init");
        freectx(copy);
        freectx(NULL);
        CHECK(init(ctx, NULL) && !update(ctx, NULL, 1) && update(ctx, NULL, 0), "%s: NULL", name);
        CHECK(update(ctx, message, 3), "%s", name);
        if (sizeof(size_t) == 8)
            CHECK(!update(ctx, message, (size_t)1 << 62), "%s: too long", name);
        EVP_MD_CTX *other = EVP_MD_CTX_new();
        CHECK(EVP_DigestInit_ex2(other, md, NULL) && EVP_DigestUpdate(other, message, 3), "%s", name);
        finish(other, is_xof(md) ? XOF_MAX : 0, 0, expected);
        EVP_MD_CTX_free(other);
        if (is_xof(md)) {
            size_t none = SIZE_MAX, got = 0;
            int wrong = -1;
            OSSL_PARAM params[2] = {OSSL_PARAM_construct_size_t("xoflen", &none), OSSL_PARAM_construct_end()};
            OSSL_PARAM get[2] = {OSSL_PARAM_construct_size_t("size", &got), OSSL_PARAM_construct_end()};
            OSSL_PARAM bad[2] = {OSSL_PARAM_construct_int("xoflen", &wrong), OSSL_PARAM_construct_end()};
            OSSL_FUNC_digest_set_ctx_params_fn *set = CALL(table, digest_set_ctx_params, DIGEST_SET_CTX_PARAMS);
            CHECK(set(ctx, params) && !final(ctx, out, &nbytes, 64), "%s has no length", name);
            params[0] = OSSL_PARAM_construct_size_t("xoflen", &size);
            CHECK(set(ctx, params) && !set(ctx, bad), "%s", name);
            CHECK(CALL(table, digest_get_ctx_params, DIGEST_GET_CTX_PARAMS)(ctx, get) && got == size, "%s", name);
            squeezes(table, ctx, expected, name);
        } else
            CHECK(!final(ctx, out, &nbytes, 15), "%s: room", name);
        CHECK(!final(ctx, NULL, &nbytes, 64), "%s: NULL", name);
        CHECK(final(ctx, out, &nbytes, 64), "%s: failed calls leave the context as it was", name);
        CHECK(!final(ctx, out, &nbytes, 64) && !update(ctx, message, 1), "%s: after final", name);
        CHECK(nbytes == size && memcmp(out, expected, size) == 0, "%s", name);
        if (!is_xof(md)) {
            OSSL_FUNC_digest_digest_fn *digest = CALL(table, digest_digest, DIGEST_DIGEST);
            memset(out, 0, sizeof out);
            CHECK(digest(module_context, message, 3, out, &nbytes, 64) && nbytes == size &&
                      memcmp(out, expected, size) == 0, "%s at once", name);
            CHECK(!digest(module_context, message, 3, out, &nbytes, 15) &&
                      !digest(module_context, NULL, 3, out, &nbytes, 64) &&
                      !digest(module_context, message, 3, NULL, &nbytes, 64), "%s at once", name);
        }
        CHECK(ERR_peek_error() != 0, "errors are told");
        countdown = 0;
        CHECK(newctx(module_context) == NULL && dupctx(ctx) == NULL, "no memory");
        countdown = -1;
        freectx(ctx);
        EVP_MD_free(md);
        ERR_clear_error();
    }

    /* Each allocation of an HMAC fails in turn, with a digest of hashloom's and with one of the default provider's. */
    const OSSL_DISPATCH *table = CALL(module, provider_query_operation, PROVIDER_QUERY_OPERATION)(
        module_context, OSSL_OP_MAC, &no_cache)->implementation;
    for (int which = 0; which < 2; which++) {
        OSSL_PARAM params[2] = {text("digest", which == 0 ? "SHA256" : "SM3"), OSSL_PARAM_construct_end()};
        int done = 0;
        for (int n = -1; !done; n = n < 0 ? 0 : n + 1) {
            countdown = n;
            failures = 0;
            void *ctx = CALL(table, mac_newctx, MAC_NEWCTX)(module_context), *copy = NULL;
            done = ctx != NULL && CALL(table, mac_init, MAC_INIT)(ctx, message, 20, params) &&
                   CALL(table, mac_update, MAC_UPDATE)(ctx, message, 100) &&
                   (copy = CALL(table, mac_dupctx, MAC_DUPCTX)(ctx)) != NULL &&
                   CALL(table, mac_final, MAC_FINAL)(copy, out, &nbytes, sizeof out);
            CALL(table, mac_freectx, MAC_FREECTX)(ctx);
            CALL(table, mac_freectx, MAC_FREECTX)(copy);
            const int left = countdown;
            countdown = -1;
            if (n < 0) {
                CHECK(done && nbytes == 32, "HMAC");
                done = 0; /* that filled OpenSSL's caches */
                continue;
            }
            done = left > 0; /* no allocation failed */
            CHECK(n < 1000, "the loop ends");
            ERR_clear_error();
        }
    }
    /* The same for a key. */
    table = CALL(module, provider_query_operation, PROVIDER_QUERY_OPERATION)(module_context, OSSL_OP_KDF,
                                                                             &no_cache)->implementation;
    for (int which = 0; which < 2; which++) {
        unsigned niterations = 2; /* each takes memory in the default provider */
        OSSL_PARAM params[5] = {text("digest", which == 0 ? "SHA256" : "SM3"),
                                OSSL_PARAM_construct_uint("iter", &niterations),
                                OSSL_PARAM_construct_octet_string("pass", message, 20),
                                OSSL_PARAM_construct_octet_string("salt", message, 20), OSSL_PARAM_construct_end()};
        int done = 0;
        for (int n = -1; !done; n = n < 0 ? 0 : n + 1) {
            countdown = n;
            void *ctx = CALL(table, kdf_newctx, KDF_NEWCTX)(module_context), *copy = NULL;
            done = ctx != NULL && CALL(table, kdf_set_ctx_params, KDF_SET_CTX_PARAMS)(ctx, params) &&
                   (copy = CALL(table, kdf_dupctx, KDF_DUPCTX)(ctx)) != NULL &&
                   CALL(table, kdf_derive, KDF_DERIVE)(copy, out, 32, NULL);
            CALL(table, kdf_freectx, KDF_FREECTX)(ctx);
            CALL(table, kdf_freectx, KDF_FREECTX)(copy);
            const int left = countdown;
            countdown = -1;
            CHECK(done || n >= 0, "PBKDF2");
            done = n >= 0 && left > 0;
            CHECK(n < 1000, "the loop ends");
            ERR_clear_error();
        }
    }
    CHECK(OSSL_PROVIDER_unload(ours) && OSSL_PROVIDER_unload(default_), "unload");
    OSSL_LIB_CTX_free(library);
    dlclose(file);
}

static void unload_in_use(void)
{
    OSSL_LIB_CTX *library = OSSL_LIB_CTX_new();
    OSSL_PROVIDER *default_ = OSSL_PROVIDER_load(library, "default"), *ours = OSSL_PROVIDER_load(library, "hashloom");
    EVP_MD *md = fetch_md(library, "SHA256", "hashloom");
    EVP_MAC *mac = fetch_mac(library, "HMAC", "hashloom");
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    EVP_MAC_CTX *mac_ctx[2] = {EVP_MAC_CTX_new(mac), EVP_MAC_CTX_new(mac)};
    uint8_t found[EVP_MAX_MD_SIZE];
    size_t nbytes;

    CHECK(EVP_DigestInit_ex2(ctx, md, NULL), "init");
    for (int i = 0; i < 2; i++) {
        OSSL_PARAM params[2] = {text("digest", i == 0 ? "SHA1" : "SM3"), OSSL_PARAM_construct_end()};
        CHECK(EVP_MAC_init(mac_ctx[i], message, 20, params), "init");
    }
    CHECK(OSSL_PROVIDER_unload(ours), "unload while contexts live");
    CHECK(OSSL_PROVIDER_unload(default_), "unload while contexts live");
    CHECK(EVP_DigestUpdate(ctx, message, 1000) && EVP_DigestFinal_ex(ctx, found, NULL), "after unloading");
    for (int i = 0; i < 2; i++) {
        CHECK(EVP_MAC_update(mac_ctx[i], message, 1000) && EVP_MAC_final(mac_ctx[i], found, &nbytes, sizeof found),
              "after unloading");
        EVP_MAC_CTX_free(mac_ctx[i]);
    }
    EVP_MD_CTX_free(ctx);
    EVP_MD_free(md);
    EVP_MAC_free(mac);
    OSSL_LIB_CTX_free(library);

    /* An HMAC that hashloom does not have is an error if there is no other provider. */
    library = OSSL_LIB_CTX_new();
    ours = OSSL_PROVIDER_load(library, "hashloom");
    mac = fetch_mac(library, "HMAC", "hashloom");
    mac_ctx[0] = EVP_MAC_CTX_new(mac);
    OSSL_PARAM params[2] = {text("digest", "MD5-SHA1"), OSSL_PARAM_construct_end()};
    CHECK(!EVP_MAC_init(mac_ctx[0], message, 20, params), "MD5-SHA1 without a provider");
    expect_error("another provider");
    EVP_MAC_CTX_free(mac_ctx[0]);
    EVP_MAC_free(mac);
    OSSL_PROVIDER_unload(ours);
    OSSL_LIB_CTX_free(library);
}

/* Activates hashloom with all its digests, whichever are faster here. */
static void activate_all(void)
{
    char path[] = "/tmp/openssl_provider-XXXXXX";
    const int file = mkstemp(path);

    CHECK(file >= 0 && dprintf(file, "openssl_conf = init\n[init]\nproviders = list\n[list]\nhashloom = ours\n[ours]\n"
                                     "activate = 1\noffer = all\n") > 0, "%s", path);
    CHECK(OSSL_LIB_CTX_load_config(NULL, path), "%s", path);
    close(file);
    unlink(path);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    char folder[4096];
    const char *slash;

    CHECK(argc >= 2 && (slash = strrchr(argv[1], '/')) != NULL, "usage: openssl_provider FOLDER/hashloom.so [CASES]");
    CHECK(CRYPTO_set_mem_functions(test_malloc, test_realloc, test_free), "mem");
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - argv[1]), argv[1]);
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof message; i++)
        message[i] = (uint8_t)below(&seed, 256);
    CHECK(setenv("OPENSSL_MODULES", folder, 1) == 0, "%s", folder);
    activate_all();
    OSSL_PROVIDER *default_ = OSSL_PROVIDER_load(NULL, "default"), *ours = OSSL_PROVIDER_load(NULL, "hashloom");
    CHECK(default_ != NULL && ours != NULL && OSSL_PROVIDER_self_test(ours), "load");
    *(void **)&squeeze = dlsym(dlopen(NULL, RTLD_NOW), "EVP_DigestSqueeze");
    EVP_MD_do_all_provided(NULL, find_digest, NULL);
    CHECK(ndigests > 0, "digests");
    ncases = argc > 2 ? atoi(argv[2]) : 300;
    same_properties();
    lengths_by_parameter();
    foreign_parameters();
    ssl3();
    misuse_of_hmac();
    misuse_of_pbkdf2();
    cases(getenv("HASHLOOM_SEED") == NULL ? 1 : strtoull(getenv("HASHLOOM_SEED"), NULL, 10), ncases);
    misuse_of_module(argv[1]);
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, cases_of_thread, (void *)i) == 0, "thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    const pid_t child = fork();
    if (child == 0) {
        cases(99, ncases < 10 ? ncases : 10);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "the child of a fork");
    unload_in_use();
    puts("openssl_provider: passed");
    for (int d = 0; d < ndigests; d++)
        free((char *)(uintptr_t)digests[d]);
    OSSL_PROVIDER_unload(ours);
    OSSL_PROVIDER_unload(default_);
    return 0;
}
