/* test.c: the functions that test.h declares.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "test.h"

#include <ctype.h>
#include <stdarg.h>
#ifdef _WIN32
#  include <windows.h>
#elif !defined __wasm__
#  include <sys/mman.h>
#  include <unistd.h>
#endif
#ifdef HAVE_LIBCRYPTO
#  define OPENSSL_SUPPRESS_DEPRECATED /* HMAC_CTX: faster than EVP_MAC */
#  include <openssl/evp.h>
#  include <openssl/hmac.h>
#endif

enum { FAILURES_PRINTED = 5 }; /* for each case */

int test_all;

static const char *program;
static char case_name[200];
static unsigned npassed, nfailed, nskipped, nfailures;
static uint64_t seed = 1, random_state;

/* ---- Cases ---- */

static void end_case(void)
{
    if (case_name[0] == '\0')
        return;
    if (nfailures > FAILURES_PRINTED)
        printf("  ... and %u more\n", nfailures - FAILURES_PRINTED);
    if (nfailures > 0)
        nfailed++;
    else
        npassed++;
    case_name[0] = '\0';
    nfailures = 0;
}

void test_case(const char *format, ...)
{
    va_list args;

    end_case();
    va_start(args, format);
    vsnprintf(case_name, sizeof case_name, format, args);
    va_end(args);
    if (getenv("HASHLOOM_TEST_VERBOSE") != NULL) {
        printf("case: %s: %s\n", program, case_name);
        fflush(stdout);
    }
}

void test_skip(const char *format, ...)
{
    va_list args;

    end_case();
    nskipped++;
    printf("skipped: ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

int test_failed(const char *file, int line, const char *condition, const char *format, ...)
{
    va_list args;

    if (nfailures++ == 0)
        printf("FAILED: %s: %s (--seed %llu)\n", program, case_name, (unsigned long long)seed);
    if (nfailures <= FAILURES_PRINTED) {
        printf("  %s:%d: not true: %s: ", file, line, condition);
        va_start(args, format);
        vprintf(format, args);
        va_end(args);
        printf("\n");
        fflush(stdout);
    }
    return 0;
}

/* The number in a variable of the environment. */
static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    char *end;

    if (text == NULL)
        return otherwise;
    const uint64_t n = strtoull(text, &end, 0);
    if (end == text || *end != '\0') {
        fprintf(stderr, "%s=%s: expected a number\n", name, text);
        exit(2);
    }
    return n;
}

static size_t share(void)
{
    static size_t n;

    if (n == 0)
        n = (size_t)number_of("HASHLOOM_TEST_SHARE", 1);
    if (n == 0) {
        fprintf(stderr, "HASHLOOM_TEST_SHARE=0: expected a number from 1 on\n");
        exit(2);
    }
    return n;
}

static void expect_isas(const char *names)
{
    char name[32];

    while (*names != '\0') {
        const size_t length = strcspn(names, ", ");
        if (length > 0 && length < sizeof name) {
            memcpy(name, names, length);
            name[length] = '\0';
            test_case("expected %s", name);
            if (name[0] == '-') {
                CHECK((hl_isa_named(name + 1) & hl_isas_available()) == 0, "%s counts as available", name + 1);
                names += length + (names[length] != '\0');
                continue;
            }
            if (CHECK(hl_isa_named(name) != 0, "this build has no instruction set %s", name))
                CHECK((hl_isa_named(name) & hl_isas_available()) != 0, "this machine has no %s", name);
        }
        names += length + (names[length] != '\0');
    }
}

void test_start(int argc, char **argv)
{
    const char *expected = getenv("HASHLOOM_EXPECT");

    program = strrchr(argv[0], '/') != NULL ? strrchr(argv[0], '/') + 1 : argv[0];
    test_all = getenv("HASHLOOM_TEST_ALL") != NULL;
    seed = number_of("HASHLOOM_SEED", seed);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0) {
            test_all = 1;
        } else if (strcmp(argv[i], "--expect") == 0 && i + 1 < argc) {
            expected = argv[++i];
        } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            seed = strtoull(argv[++i], NULL, 0);
        } else {
            fprintf(stderr, "%s: unknown argument %s\nusage: %s [--all] [--expect ISA,ISA,...] [--seed N]\n", program,
                    argv[i], program);
            exit(2);
        }
    }
    if (share() > 1)
        printf("%s: about 1/%zu of the repetitions (HASHLOOM_TEST_SHARE), --seed %llu\n", program, share(),
               (unsigned long long)seed);
    random_restart(0);
    if (expected != NULL)
        expect_isas(expected);
}

size_t share_of(size_t n)
{
    return n / share() > 0 ? n / share() : 1;
}

int in_share(size_t i)
{
    return (i + seed) % share() == 0;
}

int test_end(void)
{
    end_case();
    printf("%u passed, %u failed, %u skipped\n", npassed, nfailed, nskipped);
    return nfailed > 0 || npassed == 0;
}

/* ---- Kernels ---- */

const hl_alg_info *body_alg(hl_body body)
{
    for (size_t i = 0; i < hl_alg_count(); i++)
        if (hl_alg_at(i)->body == body)
            return hl_alg_at(i);
    return NULL;
}

int test_alg(hl_alg alg, const char *what)
{
    if (hl_alg_find(alg) != NULL)
        return 1;
#ifdef HL_ALGORITHMS
    test_skip("%s (algorithm %d is left out)", what, (int)alg);
    return 0;
#else
    fprintf(stderr, "%s: no algorithm %d\n", what, (int)alg);
    exit(2);
#endif
}

int test_hmac(hl_alg alg, const char *what)
{
    if (!test_alg(alg, what))
        return 0;
    if (has_hmac(hl_alg_find(alg)))
        return 1;
    test_skip("%s (HMAC is left out)", what);
    return 0;
}

int has_calls(hl_status status)
{
#ifndef HL_ALGORITHMS
    if (status == HL_EALG) {
        fprintf(stderr, "calls are missing\n");
        exit(2);
    }
#endif
    return status != HL_EALG;
}

hl_alg other_alg(const hl_alg_info *alg)
{
    hl_alg other = alg->alg;

    for (size_t i = hl_alg_count(); i-- > 0;) {
        if (!has_hmac(hl_alg_at(i)) || hl_alg_at(i) == alg)
            continue;
        other = hl_alg_at(i)->alg;
        if (hl_alg_at(i)->body != alg->body)
            return other;
    }
#ifndef HL_ALGORITHMS
    fprintf(stderr, "no algorithm with another body than %s\n", alg->name);
    exit(2);
#endif
    return other;
}

int has_other(const hl_alg_info *alg, const char *what)
{
    if (other_alg(alg) != alg->alg)
        return 1;
    test_skip("%s (%s is the only algorithm)", what, alg->name);
    return 0;
}

int has_hmac(const hl_alg_info *alg)
{
    return (alg->ending == HL_STRENGTHENED || alg->ending == HL_SPONGE) &&
           has_calls(hl_pbkdf2_many(alg->alg, NULL, NULL, 1, 0, NULL, 1));
}

int is_sponge(const hl_alg_info *alg)
{
    return alg->ending == HL_SPONGE || alg->ending == HL_XOF;
}

int is_searchable(const hl_alg_info *alg)
{
    return alg->ending == HL_STRENGTHENED && has_calls(hl_search(NULL, NULL, 0, NULL));
}

int test_kernel(const hl_kernel *kernel)
{
    if ((kernel->isas & hl_isas_available()) != 0)
        return 1;
    if (kernel->blocks == NULL)
        test_skip("%s (left out)", kernel->name);
    else
        test_skip("%s (no %s here)", kernel->name, kernel->isa);
    return 0;
}

const char *test_isa(size_t i, const char *format, ...)
{
    const hl_isas isas = i == hl_isa_count() ? 0 : (hl_isas)1 << i;
    const char *isa = isas == 0 ? "default" : hl_isa_name(i);
    char what[100];
    va_list args;

    if ((isas & ~hl_isas_available()) == 0) {
        if (hl_restrict(isas) == HL_OK)
            return isa;
        fprintf(stderr, "hl_restrict: %s\n", isa);
        exit(2);
    }
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    test_skip("%s, %s (no %s here)", what, isa, isa);
    return NULL;
}

unsigned lanes_max(void)
{
    unsigned max = 1;

    for (size_t i = 0; i < hl_kernel_count(); i++) {
        const hl_kernel *kernel = hl_kernel_at(i);
        if ((kernel->isas & hl_isas_available()) != 0 && kernel->nlanes > max)
            max = kernel->nlanes;
    }
    return max;
}

/* ---- Random numbers ---- */

uint64_t random64(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

size_t random_below(size_t n)
{
    return (size_t)(random64() % n);
}

size_t random_length(size_t max_nbytes)
{
    size_t nbytes;

    switch (random64() % 4) {
    case 0: nbytes = random_below(130); break;
    case 1: nbytes = 64 * random_below(max_nbytes / 64 + 1) + random_below(38) - 19; break; /* 16 bytes of length */
    case 2: nbytes = random_below((max_nbytes >> random_below(8)) + 1); break;
    default: nbytes = random_below(max_nbytes + 1); break;
    }
    return nbytes <= max_nbytes ? nbytes : max_nbytes; /* lengths that wrapped below 0, too */
}

void random_fill(void *to, size_t nbytes)
{
    uint8_t *p = to;

    for (; nbytes >= 8; nbytes -= 8, p += 8) {
        const uint64_t word = random64();
        memcpy(p, &word, 8);
    }
    while (nbytes-- > 0)
        *p++ = (uint8_t)random64();
}

void random_restart(uint64_t number)
{
    random_state = seed * UINT64_C(0xd1342543de82ef95) + number;
    random_state = random64();
}

const uint8_t *random_pool(size_t nbytes)
{
    static uint8_t *pool;
    static size_t pool_nbytes;

    if (nbytes > pool_nbytes) {
        const uint64_t kept = random_state;
        free(pool);
        pool = malloc(nbytes);
        if (pool == NULL) {
            fprintf(stderr, "no memory for %zu bytes\n", nbytes);
            exit(2);
        }
        random_restart(UINT64_MAX);
        random_fill(pool, nbytes);
        random_state = kept;
        pool_nbytes = nbytes;
    }
    return pool;
}

size_t from_hex(const char *hex, uint8_t *to, size_t max_nbytes)
{
    size_t n = 0;

    for (; n < max_nbytes && isxdigit((unsigned char)hex[0]) && isxdigit((unsigned char)hex[1]); hex += 2) {
        unsigned byte;
        sscanf(hex, "%2x", &byte);
        to[n++] = (uint8_t)byte;
    }
    return n;
}

/* ---- Guarded memory ---- */

#ifdef __wasm__
/* No page can be forbidden on this system. The tests that check the bytes around their buffers still find a write
 * beyond. */
struct guarded guard_new(size_t nbytes)
{
    const size_t page = 4096, usable = (nbytes + page - 1) / page * page;
    uint8_t *base = aligned_alloc(page, usable + page);

    if (base == NULL) {
        perror("aligned_alloc");
        exit(2);
    }
    return (struct guarded){base, base + usable};
}

void guard_free(struct guarded memory)
{
    free(memory.begin);
}
#elif defined _WIN32
enum { PAGE = 4096 };

struct guarded guard_new(size_t nbytes)
{
    const size_t usable = (nbytes + PAGE - 1) / PAGE * PAGE;
    uint8_t *base = VirtualAlloc(NULL, usable + 2 * PAGE, MEM_RESERVE, PAGE_NOACCESS);

    if (base == NULL || (usable != 0 && VirtualAlloc(base + PAGE, usable, MEM_COMMIT, PAGE_READWRITE) == NULL)) {
        fprintf(stderr, "VirtualAlloc: error %lu\n", GetLastError());
        exit(2);
    }
    return (struct guarded){base + PAGE, base + PAGE + usable};
}

void guard_free(struct guarded memory)
{
    VirtualFree(memory.begin - PAGE, 0, MEM_RELEASE);
}
#else
struct guarded guard_new(size_t nbytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), usable = (nbytes + page - 1) / page * page;
    uint8_t *base = mmap(NULL, usable + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (base == MAP_FAILED || (usable != 0 && mprotect(base + page, usable, PROT_READ | PROT_WRITE) != 0)) {
        perror("mmap");
        exit(2);
    }
    return (struct guarded){base + page, base + page + usable};
}

void guard_free(struct guarded memory)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    munmap(memory.begin - page, (size_t)(memory.end - memory.begin) + 2 * page);
}
#endif

/* ---- Oracle ---- */

const struct reference *reference_of(const hl_alg_info *alg)
{
    const struct reference *ref = reference_named(alg->name);

    if (ref == NULL) {
        fprintf(stderr, "test/reference.c has no %s: write it there\n", alg->name);
        exit(2);
    }
    return ref;
}

#ifdef HAVE_LIBCRYPTO
/* libcrypto knows most algorithms by our names. NULL if it lacks the algorithm, or has it only in a provider that is
 * not loaded (RIPEMD-160 in OpenSSL 3.0.0 to 3.0.6). The look-up is done once, as it costs more than a short message.
 */
static const EVP_MD *libcrypto_of(const hl_alg_info *alg)
{
    static struct {
        const hl_alg_info *alg;
        const EVP_MD *md;
    } known[64];
    size_t i = 0;

    for (; i + 1 < sizeof known / sizeof known[0] && known[i].alg != NULL; i++)
        if (known[i].alg == alg)
            return known[i].md;
    known[i].alg = alg;
    char name[32]; /* BLAKE2: with the number of bits */
    snprintf(name, sizeof name, "%s%.0u", alg->name, alg->ending == HL_COUNTED ? 8 * alg->digest_nbytes : 0);
    known[i].md = EVP_get_digestbyname(name);
    EVP_MD_CTX *evp = EVP_MD_CTX_new();
    if (known[i].md != NULL && EVP_DigestInit_ex(evp, known[i].md, NULL) != 1)
        known[i].md = NULL;
    EVP_MD_CTX_free(evp);
    return known[i].md;
}
#endif

struct oracle {
    const hl_alg_info *alg;
    struct reference_ctx ref;
#ifdef HAVE_LIBCRYPTO
    EVP_MD_CTX *evp;
#endif
};

struct oracle *oracle_new(const hl_alg_info *alg)
{
    struct oracle *o = calloc(1, sizeof *o);

    if (o == NULL)
        abort();
    o->alg = alg;
#ifdef HAVE_LIBCRYPTO
    if (libcrypto_of(alg) != NULL) {
        o->evp = EVP_MD_CTX_new();
        if (o->evp == NULL || EVP_DigestInit_ex(o->evp, libcrypto_of(alg), NULL) != 1)
            abort();
        return o;
    }
#endif
    reference_init(&o->ref, reference_of(alg));
    return o;
}

void oracle_update(struct oracle *o, const void *data, size_t nbytes)
{
#ifdef HAVE_LIBCRYPTO
    if (o->evp != NULL) {
        EVP_DigestUpdate(o->evp, data, nbytes);
        return;
    }
#endif
    reference_update(&o->ref, data, nbytes);
}

#ifdef HAVE_LIBCRYPTO
/* libcrypto's own usual lengths of XOFs differ from the library's. */
static void end_libcrypto(EVP_MD_CTX *evp, const hl_alg_info *alg, uint8_t *digest, size_t digest_nbytes)
{
    if ((alg->ending == HL_XOF ? EVP_DigestFinalXOF(evp, digest, digest_nbytes)
                               : EVP_DigestFinal_ex(evp, digest, NULL)) != 1)
        abort();
}
#endif

static void end_reference(struct reference_ctx *ctx, const hl_alg_info *alg, uint8_t *digest, size_t digest_nbytes)
{
    if (alg->ending == HL_XOF)
        reference_final_long(ctx, digest, digest_nbytes);
    else
        reference_final(ctx, digest);
}

void oracle_final_long(struct oracle *o, uint8_t *digest, size_t digest_nbytes)
{
#ifdef HAVE_LIBCRYPTO
    if (o->evp != NULL) {
        end_libcrypto(o->evp, o->alg, digest, digest_nbytes);
        EVP_MD_CTX_free(o->evp);
        free(o);
        return;
    }
#endif
    end_reference(&o->ref, o->alg, digest, digest_nbytes);
    free(o);
}

void oracle_final(struct oracle *o, uint8_t *digest)
{
    oracle_final_long(o, digest, o->alg->digest_nbytes);
}

void oracle_long(const hl_alg_info *alg, const void *data, size_t nbytes, uint8_t *digest, size_t digest_nbytes)
{
    struct reference_ctx ctx;

#ifdef HAVE_LIBCRYPTO
    if (libcrypto_of(alg) != NULL) {
        static EVP_MD_CTX *evp; /* kept: making one takes longer than a short message */
        if (evp == NULL)
            evp = EVP_MD_CTX_new();
        EVP_DigestInit_ex(evp, libcrypto_of(alg), NULL);
        EVP_DigestUpdate(evp, data, nbytes);
        end_libcrypto(evp, alg, digest, digest_nbytes);
        return;
    }
#endif
    reference_init(&ctx, reference_of(alg));
    reference_update(&ctx, data, nbytes);
    end_reference(&ctx, alg, digest, digest_nbytes);
}

void oracle(const hl_alg_info *alg, const void *data, size_t nbytes, uint8_t *digest)
{
    oracle_long(alg, data, nbytes, digest, alg->digest_nbytes);
}

void oracle_hmac(const hl_alg_info *alg, const void *key, size_t key_nbytes, const void *data, size_t nbytes,
                 uint8_t *tag)
{
    uint8_t block[HL_BLOCK_MAX_NBYTES] = {0};
    struct reference_ctx ctx;

#ifdef HAVE_LIBCRYPTO
    if (libcrypto_of(alg) != NULL) {
        static HMAC_CTX *mac;
        if (mac == NULL)
            mac = HMAC_CTX_new();
        /* A NULL key would mean the key of the call before. */
        if (HMAC_Init_ex(mac, key_nbytes == 0 ? "" : key, (int)key_nbytes, libcrypto_of(alg), NULL) != 1 ||
            HMAC_Update(mac, data, nbytes) != 1 || HMAC_Final(mac, tag, NULL) != 1)
            abort();
        return;
    }
#endif
    if (key_nbytes > alg->block_nbytes)
        oracle(alg, key, key_nbytes, block);
    else if (key_nbytes > 0)
        memcpy(block, key, key_nbytes);
    for (int half = 0; half < 2; half++) {
        for (unsigned i = 0; i < alg->block_nbytes; i++)
            block[i] ^= half == 0 ? 0x36 : 0x36 ^ 0x5c;
        reference_init(&ctx, reference_of(alg));
        reference_update(&ctx, block, alg->block_nbytes);
        reference_update(&ctx, half == 0 ? data : tag, half == 0 ? nbytes : alg->digest_nbytes);
        reference_final(&ctx, tag);
    }
}

const char *oracle_name(const hl_alg_info *alg)
{
#ifdef HAVE_LIBCRYPTO
    if (libcrypto_of(alg) != NULL)
        return "libcrypto";
#endif
    (void)alg;
    return "test/reference.c";
}

int check_digests(const hl_alg_info *alg, const hl_slice *messages, size_t count, const uint8_t *digests,
                  const char *what)
{
    uint8_t expected[HL_DIGEST_MAX_NBYTES];
    int right = 1;

    for (size_t i = 0; i < count; i++) {
        oracle(alg, messages[i].data, messages[i].nbytes, expected);
        right &= CHECK(memcmp(expected, digests + i * alg->digest_nbytes, alg->digest_nbytes) == 0,
                       "%s: %s of message %zu of %zu, %zu bytes", what, alg->name, i, count, messages[i].nbytes);
    }
    return right;
}
