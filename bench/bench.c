/* bench.c: hashloom beside OpenSSL in one process: the ratios that matter, and the cost of every kernel.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *   bench compare [without-avx512]
 *                    ratios to OpenSSL's EVP on the same messages, or to other messages of the same total; both sides
 *                    as on a CPU without AVX-512
 *   bench hmac       the rows of HMAC alone
 *   bench search     searches for nonces, in millions of nonces a second
 *   bench kernels [instruction set]
 *                    nanoseconds (the costs of registry.def) and cycles of each kernel's call that advances its lanes
 *                    by one block
 *   bench hash160    nanoseconds a public key of 33 bytes: RIPEMD-160 of SHA-256 over each instruction set with RIPEMD-160
 *                    in lanes, without and with the SHA instructions
 *   bench tiers      one message of 16 KiB: each kernel of one lane beside OpenSSL with the same instruction sets
 *
 * -DBENCH_KERNELS_ONLY leaves only `kernels` and `hash160`, and no use of OpenSSL, which cross compilers lack.
 *
 * Method: both sides run in turn, A B A B, in one process pinned to one CPU, at least 9 rounds after a warm-up. The
 * output is the ratio of the minima, and the least and greatest ratio of the pairs. On a shared machine absolute
 * figures drift, and ratios hold. Data are random bytes; the digests of both sides are compared after each scenario.
 */
#define _GNU_SOURCE
#include <hashloom.h>
#ifndef BENCH_KERNELS_ONLY
#  define OPENSSL_SUPPRESS_DEPRECATED /* HMAC_CTX and SHA256_CTX: faster than EVP_MAC and EVP_MD_CTX */
#  include <openssl/crypto.h>
#  include <openssl/evp.h>
#  include <openssl/hmac.h>
#  include <openssl/sha.h>
#endif
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 11 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(2);
}

static uint64_t random64(void)
{
    static uint64_t x = 0x9e3779b97f4a7c15;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return x;
}

#ifndef BENCH_KERNELS_ONLY
/* One side of a comparison: hashes the messages once. */
struct work {
    const hl_alg_info *alg;
    const EVP_MD *md;
    EVP_MD_CTX *evp;
    const hl_slice *messages;
    size_t count;
    uint8_t *digests;
    const hl_kernel *kernel; /* for with_kernel */
    const hl_hmac_key *key;  /* for hmac_with_hashloom */
    HMAC_CTX *hmac;          /* for hmac_with_openssl, and */
    EVP_MAC_CTX *mac;        /* for hmac_with_evp_mac; both contain the key */
    struct nonces *nonces;   /* for a search */
};

/* A search, and the nonces found. */
struct nonces {
    hl_search_job job; /* nonces of 4 bytes, the least significant first, or of decimal digits */
    int is_prefix_kept;
    uint64_t found[256];
    size_t nfound;
};

static void with_hashloom(struct work *w)
{
    if (hl_hash_many(w->alg->alg, w->messages, w->count, w->digests) != HL_OK)
        die("hl_hash_many failed");
}

static void with_openssl(struct work *w)
{
    const size_t nbytes = w->alg->digest_nbytes;
    const int is_xof = (EVP_MD_get_flags(w->md) & EVP_MD_FLAG_XOF) != 0;
    for (size_t i = 0; i < w->count; i++)
        if (!EVP_DigestInit_ex(w->evp, w->md, NULL) ||
            !EVP_DigestUpdate(w->evp, w->messages[i].data, w->messages[i].nbytes) ||
            !(is_xof ? EVP_DigestFinalXOF(w->evp, w->digests + i * nbytes, nbytes)
                     : EVP_DigestFinal_ex(w->evp, w->digests + i * nbytes, NULL)))
            die("EVP failed");
}

static void hmac_with_hashloom(struct work *w)
{
    if (hl_hmac_many(w->key, w->messages, w->count, w->digests) != HL_OK)
        die("hl_hmac_many failed");
}

/* The fastest way that OpenSSL has for one key: HMAC_Init_ex without a key uses the states that it keeps. */
static void hmac_with_openssl(struct work *w)
{
    for (size_t i = 0; i < w->count; i++)
        if (!HMAC_Init_ex(w->hmac, NULL, 0, NULL, NULL) ||
            !HMAC_Update(w->hmac, w->messages[i].data, w->messages[i].nbytes) ||
            !HMAC_Final(w->hmac, w->digests + i * w->alg->digest_nbytes, NULL))
            die("HMAC failed");
}

/* EVP_MAC, which OpenSSL 3 recommends instead of HMAC_CTX. */
static void hmac_with_evp_mac(struct work *w)
{
    for (size_t i = 0; i < w->count; i++)
        if (!EVP_MAC_init(w->mac, NULL, 0, NULL) ||
            !EVP_MAC_update(w->mac, w->messages[i].data, w->messages[i].nbytes) ||
            !EVP_MAC_final(w->mac, w->digests + i * w->alg->digest_nbytes, NULL, w->alg->digest_nbytes))
            die("EVP_MAC failed");
}

static void search_with_hashloom(struct work *w)
{
    struct nonces *n = w->nonces;
    if (hl_search(&n->job, n->found, sizeof n->found / sizeof n->found[0], &n->nfound) != HL_OK)
        die("hl_search failed");
}

/* A loop over OpenSSL's fastest functions. The nonce is counted in place. If the prefix is kept, it is hashed once. */
static void search_with_openssl(struct work *w)
{
    struct nonces *n = w->nonces;
    const hl_search_job *job = &n->job;
    const size_t nprefix = job->prefix_nbytes;
    uint8_t message[128], digest[HL_DIGEST_MAX_NBYTES];
    size_t nbytes = nprefix + 4;
    SHA256_CTX kept, sha256;
    SHA_CTX sha1;

    memcpy(message, job->prefix, nprefix);
    memcpy(message + nprefix, &(uint32_t){(uint32_t)job->first}, 4); /* x86 and most others: little endian */
    if (job->alphabet != NULL)
        nbytes = nprefix + (size_t)sprintf((char *)message + nprefix, "%llu", (unsigned long long)job->first);
    SHA256_Init(&kept);
    if (n->is_prefix_kept)
        SHA256_Update(&kept, message, nprefix);
    n->nfound = 0;
    for (uint64_t nonce = job->first; nonce <= job->last; nonce++) {
        if (job->alg == HL_SHA1) {
            SHA1_Init(&sha1), SHA1_Update(&sha1, message, nbytes), SHA1_Final(digest, &sha1);
        } else {
            const size_t nkept = n->is_prefix_kept ? nprefix : 0;
            sha256 = kept;
            SHA256_Update(&sha256, message + nkept, nbytes - nkept), SHA256_Final(digest, &sha256);
        }
        if (job->again != 0)
            SHA256_Init(&sha256), SHA256_Update(&sha256, digest, 32), SHA256_Final(digest, &sha256);
        const uint8_t *top = job->digest_order == HL_LEAST_FIRST ? digest + 30 : digest;
        if (top[0] == 0 && top[1] == 0 && n->nfound < sizeof n->found / sizeof n->found[0])
            n->found[n->nfound++] = nonce;
        if (job->alphabet != NULL) {
            uint8_t *digit = message + nbytes - 1;
            while (*digit == '9')
                *digit-- = '0';
            ++*digit;
        } else {
            memcpy(message + nprefix, &(uint32_t){(uint32_t)nonce + 1}, 4);
        }
    }
}

/* Repeats short work so that one timing takes at least some milliseconds, and returns seconds for one repetition. */
static double time_once(void (*f)(struct work *), struct work *w, unsigned repeat)
{
    const double start = now();
    for (unsigned i = 0; i < repeat; i++)
        f(w);
    return (now() - start) / repeat;
}

static void compare(const char *what, void (*f)(struct work *), struct work *a, double a_nbytes,
                    void (*g)(struct work *), struct work *b, double b_nbytes, double target)
{
    double a_min = 1e9, b_min = 1e9, low = 1e9, high = 0;
    f(a);
    g(b);
    const unsigned a_repeat = 1 + (unsigned)(0.02 / (time_once(f, a, 1) + 1e-9));
    const unsigned b_repeat = 1 + (unsigned)(0.02 / (time_once(g, b, 1) + 1e-9));
    for (unsigned r = 0; r < ROUNDS; r++) {
        const double ta = time_once(f, a, a_repeat) / a_nbytes, tb = time_once(g, b, b_repeat) / b_nbytes;
        const double ratio = tb / ta;
        a_min = ta < a_min ? ta : a_min;
        b_min = tb < b_min ? tb : b_min;
        low = ratio < low ? ratio : low;
        high = ratio > high ? ratio : high;
    }
    printf("| %-11s| %-62s| %7.3f | %7.3f | %5.2f | %5.2f to %5.2f | ", a->alg->name, what, 1e-9 / a_min, 1e-9 / b_min,
           b_min / a_min, low, high);
    if (target > 0)
        printf("%4.1f |\n", target);
    else
        printf("     |\n");
    fflush(stdout);
}

static double total_nbytes(const hl_slice *m, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)m[i].nbytes;
    return sum;
}
#endif

/* Random bytes, from the start of a page on. */
static const uint8_t *arena(size_t nbytes)
{
    static uint8_t *data;
    static size_t size;
    if (size < nbytes) {
        free(data);
        size = (nbytes + 4095) / 4096 * 4096;
        data = aligned_alloc(4096, size);
        if (data == NULL)
            die("out of memory");
        for (size_t i = 0; i < size; i += 8) {
            const uint64_t x = random64();
            memcpy(data + i, &x, 8);
        }
    }
    return data;
}

#ifndef BENCH_KERNELS_ONLY
/* Messages one after the other, the first `skip` bytes into the arena. */
static hl_slice *lay_out(const size_t *nbytes, size_t count, size_t skip)
{
    hl_slice *m = calloc(count, sizeof *m);
    size_t total = skip;
    if (m == NULL)
        die("out of memory");
    for (size_t i = 0; i < count; i++)
        total += nbytes[i];
    const uint8_t *p = arena(total) + skip;
    for (size_t i = 0; i < count; i++) {
        m[i] = (hl_slice){p, nbytes[i]};
        p += nbytes[i];
    }
    return m;
}

static size_t *equal_lengths(size_t count, size_t nbytes)
{
    size_t *n = calloc(count, sizeof *n);
    if (n == NULL)
        die("out of memory");
    for (size_t i = 0; i < count; i++)
        n[i] = nbytes;
    return n;
}

/* OpenSSL before 3.2 lacks Keccak-256, for example. */
static int openssl_has(const hl_alg_info *alg)
{
    EVP_MD *md = EVP_MD_fetch(NULL, alg->name, NULL);
    EVP_MD_free(md);
    return md != NULL;
}

static void compare_hmac(const hl_alg_info *alg)
{
    enum { COUNT = 1000000 };
    static const uint8_t secret[32] = "a key of thirty-two random bytes";
    const int sha256 = alg->alg == HL_SHA256;
    hl_hmac_key key;
    if (hl_hmac_key_init(&key, alg->alg, secret, sizeof secret) == HL_EALG || !openssl_has(alg))
        return;
    uint8_t *ours = malloc(COUNT * HL_DIGEST_MAX_NBYTES), *theirs = malloc(COUNT * HL_DIGEST_MAX_NBYTES);
    EVP_MD *md = EVP_MD_fetch(NULL, alg->name, NULL);
    EVP_MAC *algorithm = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *mac = EVP_MAC_CTX_new(algorithm);
    HMAC_CTX *hmac = HMAC_CTX_new();
    OSSL_PARAM params[2] = {OSSL_PARAM_construct_utf8_string("digest", (char *)(uintptr_t)alg->name, 0),
                            OSSL_PARAM_construct_end()};
    if (ours == NULL || theirs == NULL || md == NULL || hmac == NULL || mac == NULL ||
        !HMAC_Init_ex(hmac, secret, sizeof secret, md, NULL) || !EVP_MAC_init(mac, secret, sizeof secret, params))
        die("no HMAC");

    static const struct {
        size_t nbytes;
        int is_mac;
        const char *what;
    } rows[] = {
        {64, 0, "HMAC, 1,000,000 messages of 64 bytes / HMAC_CTX, key kept"},
        {64, 1, "HMAC, 1,000,000 messages of 64 bytes / EVP_MAC_CTX, key kept"},
        {20, 0, "HMAC, 1,000,000 messages of 20 bytes / HMAC_CTX, key kept"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        size_t *n = equal_lengths(COUNT, rows[r].nbytes);
        hl_slice *m = lay_out(n, COUNT, 0);
        struct work a = {alg, md, NULL, m, COUNT, ours, NULL, &key, NULL, NULL, NULL};
        struct work b = {alg, md, NULL, m, COUNT, theirs, NULL, NULL, hmac, mac, NULL};
        compare(rows[r].what, hmac_with_hashloom, &a, total_nbytes(m, COUNT),
                rows[r].is_mac ? hmac_with_evp_mac : hmac_with_openssl, &b, total_nbytes(m, COUNT),
                sha256 && r < 2 ? 6 : 0);
        if (memcmp(ours, theirs, COUNT * alg->digest_nbytes) != 0)
            die("tags differ");
        free(n), free(m);
    }
    EVP_MAC_CTX_free(mac), EVP_MAC_free(algorithm), HMAC_CTX_free(hmac), EVP_MD_free(md);
    free(ours), free(theirs);
}

static void compare_searches(void)
{
    enum { COUNT = 200000 };
    static const char krist[] = "k8juvewcui000000abcdef", stamp[] = "1:20:040428:foo::0298b26853c8ebb3:";
    static const struct {
        uint32_t alg, again;
        const char *text; /* NULL: a Bitcoin header */
        int is_prefix_kept;
        const char *what;
        double goal;
    } rows[] = {
        {HL_SHA256, HL_SHA256, NULL, 0, "header of 80 bytes, SHA-256 twice / SHA256_CTX", 3},
        {HL_SHA256, HL_SHA256, NULL, 1, "the same / SHA256_CTX, the first 76 bytes hashed once", 0},
        {HL_SHA256, 0, krist, 0, "Krist, 32 bytes / SHA256_CTX", 0},
        {HL_SHA1, 0, stamp, 0, "hashcash, 40 bytes / SHA_CTX", 0},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        static struct nonces ours, theirs;
        hl_search_job job = {.nbytes = sizeof job, .alg = rows[r].alg, .again = rows[r].again, .first = 100000,
                             .last = 100000 + COUNT - 1, .prefix = arena(76), .prefix_nbytes = 76, .nonce_width = 4,
                             .nonce_order = HL_LEAST_FIRST, .digest_order = HL_LEAST_FIRST};
        if (rows[r].text != NULL) {
            job.prefix = rows[r].text;
            job.prefix_nbytes = strlen(rows[r].text);
            job.alphabet = "0123456789";
            job.base = 10;
            job.nonce_width = 0;
            job.nonce_order = job.digest_order = HL_MOST_FIRST;
        }
        memset(job.target + 2, 0xff, sizeof job.target - 2);
        ours.job = theirs.job = job;
        theirs.is_prefix_kept = rows[r].is_prefix_kept;
        const hl_alg_info *alg = hl_alg_find((hl_alg)rows[r].alg);
        struct work a = {alg, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, &ours}, b = a;
        b.nonces = &theirs;
        /* The table's unit is a thousand million. */
        compare(rows[r].what, search_with_hashloom, &a, 1e3 * COUNT, search_with_openssl, &b, 1e3 * COUNT,
                rows[r].goal);
        if (ours.nfound == 0 || ours.nfound != theirs.nfound ||
            memcmp(ours.found, theirs.found, ours.nfound * sizeof ours.found[0]) != 0)
            die("nonces differ");
    }
}

static void compare_all(const hl_alg_info *alg)
{
    if (!openssl_has(alg)) {
        fprintf(stderr, "bench: this OpenSSL has no %s\n", alg->name);
        return;
    }
    arena((size_t)257 << 20); /* enough for all scenarios, so that no message moves */
    static uint8_t ours[65536 * HL_DIGEST_MAX_NBYTES], theirs[65536 * HL_DIGEST_MAX_NBYTES];
    const EVP_MD *md = EVP_MD_fetch(NULL, alg->name, NULL);
    EVP_MD_CTX *evp = EVP_MD_CTX_new();
    const int sha1 = alg->alg == HL_SHA1, sha256 = alg->alg == HL_SHA256, sha512 = alg->alg == HL_SHA512;
    if (md == NULL || evp == NULL)
        die("out of memory");

#define SIDE(name, m, n, out) struct work name = {alg, md, evp, m, n, out, NULL, NULL, NULL, NULL, NULL}
    { /* many long messages / one */
        size_t *n = equal_lengths(32, 256 << 10);
        hl_slice *m = lay_out(n, 32, 0);
        SIDE(a, m, 32, ours);
        SIDE(b, m, 1, theirs);
        compare("32 messages of 256 KiB / EVP, one message", with_hashloom, &a, 32 * 262144.0, with_openssl, &b, 262144,
                sha1 ? 3.7 : sha256 ? 2.6 : sha512 ? 3.4 : 0);
        free(m);
        m = lay_out(n, 32, 16);
        a.messages = b.messages = m;
        compare("the same, 16 bytes off the cache lines", with_hashloom, &a, 32 * 262144.0, with_openssl, &b, 262144,
                0);
        free(n), free(m);
        n = equal_lengths(64, 16 << 10);
        m = lay_out(n, 64, 0);
        SIDE(c, m, 64, ours);
        SIDE(d, m, 1, theirs);
        compare("64 messages of 16 KiB / EVP, one message", with_hashloom, &c, 64 * 16384.0, with_openssl, &d, 16384,
                sha1 ? 3.7 : sha256 ? 2.6 : sha512 ? 3.4 : 0);
        free(n), free(m);
    }
    { /* tree nodes */
        size_t *n = equal_lengths(65536, 64);
        hl_slice *m = lay_out(n, 65536, 0);
        SIDE(a, m, 65536, ours);
        SIDE(b, m, 65536, theirs);
        compare("65,536 messages of 64 bytes / EVP in a loop, context reused", with_hashloom, &a, 65536 * 64.0,
                with_openssl, &b, 65536 * 64.0, sha1 ? 5 : sha256 ? 3 : 0);
        if (memcmp(ours, theirs, 65536 * alg->digest_nbytes) != 0)
            die("digests differ");
        for (size_t i = 0; i < 65536; i++)
            n[i] = 8 + random64() % 48;
        free(m);
        m = lay_out(n, 65536, 0);
        a.messages = b.messages = m;
        compare("65,536 messages of 8 to 55 bytes / EVP in a loop", with_hashloom, &a, total_nbytes(m, 65536),
                with_openssl, &b, total_nbytes(m, 65536), 0);
        if (memcmp(ours, theirs, 65536 * alg->digest_nbytes) != 0)
            die("digests differ");
        free(n), free(m);
    }
    { /* ragged / even */
        enum { COUNT = 2048 };
        size_t *random = equal_lengths(COUNT, 0), total = 0;
        for (size_t i = 0; i < COUNT; i++)
            total += random[i] = random64() % 4097;
        size_t *even = equal_lengths(COUNT, total / COUNT);
        hl_slice *m = lay_out(random, COUNT, 0), *e = lay_out(even, COUNT, 0);
        SIDE(a, m, COUNT, ours);
        SIDE(b, e, COUNT, ours);
        compare("2,048 messages of 0 to 4 KiB / equal lengths, same total", with_hashloom, &a, total_nbytes(m, COUNT),
                with_hashloom, &b, total_nbytes(e, COUNT), 0.8);
        SIDE(c, m, COUNT, ours);
        SIDE(d, m, COUNT, theirs);
        compare("2,048 messages of 0 to 4 KiB / EVP in a loop", with_hashloom, &c, total_nbytes(m, COUNT), with_openssl,
                &d, total_nbytes(m, COUNT), 0);
        if (memcmp(ours, theirs, COUNT * alg->digest_nbytes) != 0)
            die("digests differ");
        free(random), free(even), free(m), free(e);
    }
    { /* one giant among many small ones */
        enum { COUNT = 1001 };
        size_t *n = equal_lengths(COUNT, 1024);
        n[500] = (size_t)256 << 20;
        hl_slice *m = lay_out(n, COUNT, 0);
        SIDE(a, m, COUNT, ours);
        SIDE(b, m, COUNT, theirs);
        compare("one message of 256 MiB among 1,000 of 1 KiB / EVP", with_hashloom, &a, total_nbytes(m, COUNT),
                with_openssl, &b, total_nbytes(m, COUNT), 1.0);
        if (memcmp(ours, theirs, COUNT * alg->digest_nbytes) != 0)
            die("digests differ");
        free(n), free(m);
    }
    { /* some giants far apart */
        enum { COUNT = 4000 };
        size_t *n = equal_lengths(COUNT, 0);
        for (size_t i = 0; i < COUNT; i++)
            n[i] = i % 200 == 100 ? (size_t)1 << 20 : 40 + random64() % 30;
        hl_slice *m = lay_out(n, COUNT, 0);
        SIDE(a, m, COUNT, ours);
        SIDE(b, m, COUNT, theirs);
        compare("20 messages of 1 MiB among 4,000 of 40 to 69 bytes / EVP", with_hashloom, &a, total_nbytes(m, COUNT),
                with_openssl, &b, total_nbytes(m, COUNT), 0);
        if (memcmp(ours, theirs, COUNT * alg->digest_nbytes) != 0)
            die("digests differ");
        free(n), free(m);
    }
    { /* one message */
        size_t *n = equal_lengths(1, 16 << 10);
        hl_slice *m = lay_out(n, 1, 0);
        SIDE(a, m, 1, ours);
        SIDE(b, m, 1, theirs);
        compare("one message of 16 KiB / EVP", with_hashloom, &a, 16384, with_openssl, &b, 16384,
                1.0);
        n[0] = 64;
        hl_slice *s = lay_out(n, 1, 0);
        SIDE(c, s, 1, ours);
        SIDE(d, s, 1, theirs);
        compare("one message of 64 bytes / EVP", with_hashloom, &c, 64, with_openssl, &d, 64, 0);
        free(n), free(m), free(s);
    }
    EVP_MD_CTX_free(evp);
    EVP_MD_free((EVP_MD *)md);
}
#endif

/* The present duration of a CPU cycle. A 64-bit multiplication waits three cycles for the one before, on every x86-64
 * CPU since 2008. 0 elsewhere. */
static double time_cycle(void)
{
#if defined(__x86_64__)
    double least = 1;
    for (unsigned turn = 0; turn < 3; turn++) {
        unsigned long x = 1;
        const double start = now();
        for (unsigned i = 0; i < 1000; i++)
            __asm__ volatile("imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0" : "+r"(x));
        const double t = (now() - start) / 15000;
        least = t < least ? t : least;
    }
    return least;
#else
    return 0;
#endif
}

/* The algorithm for which kernels of this body are timed. */
static const hl_alg_info *alg_of(hl_body body)
{
    const hl_alg_info *found = NULL;
    for (size_t i = 0; i < hl_alg_count(); i++) {
        const hl_alg_info *alg = hl_alg_at(i);
        if (alg->body == body && (found == NULL || alg->alg == HL_SHA512 || alg->alg == HL_SHA3_256))
            found = alg;
    }
    return found;
}

/* Cost of one call per block of depth. All kernels take turns, so that a slow moment strikes all alike. */
static void time_kernels(hl_isas wanted)
{
    enum { NBLOCKS = 64, CALLS = 50, TURNS = 150 };
    const uint8_t *data = arena(HL_LANES_MAX * (NBLOCKS * HL_BLOCK_MAX_NBYTES + 64));
    double *best = calloc(hl_kernel_count(), sizeof *best), *cycle = calloc(hl_kernel_count(), sizeof *cycle);
    if (best == NULL || cycle == NULL)
        die("out of memory");
    for (unsigned r = 0; r < TURNS; r++)
        for (size_t i = 0; i < hl_kernel_count(); i++) {
            const hl_kernel *k = hl_kernel_at(i);
            static uint64_t state[HL_STATE_MAX_NBYTES / 16 * HL_LANES_MAX] __attribute__((aligned(64)));
            const uint8_t *msg[HL_LANES_MAX];
            if ((k->isas & wanted & hl_isas_available()) == 0)
                continue;
            for (unsigned l = 0; l < k->nlanes; l++)
                msg[l] = data + l * (NBLOCKS * HL_BLOCK_MAX_NBYTES + 64);
            const double start = now();
            for (unsigned c = 0; c < CALLS; c++)
                k->blocks(state, msg, NBLOCKS, alg_of(k->body)->block_nbytes);
            const double t = (now() - start) / (CALLS * NBLOCKS), c = time_cycle();
            if (r == 0 || t < best[i])
                best[i] = t;
            if (r == 0 || c < cycle[i])
                cycle[i] = c;
        }
    printf("| kernel | lanes | ns a call | GB/s | million blocks/s | cycles a call |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < hl_kernel_count(); i++) {
        const hl_kernel *k = hl_kernel_at(i);
        const hl_alg_info *alg = alg_of(k->body);
        if ((k->isas & wanted) == 0)
            continue;
        if ((k->isas & hl_isas_available()) == 0)
            printf("| %-31s | %2u | not on this machine | | | |\n", k->name, k->nlanes);
        else
            printf("| %-31s | %2u | %6.1f | %5.2f | %6.1f | %5.0f |\n", k->name, k->nlanes, best[i] * 1e9,
                   k->nlanes * alg->block_nbytes / best[i] * 1e-9, k->nlanes / best[i] * 1e-6,
                   cycle[i] > 0 ? best[i] / cycle[i] : 0);
    }
    free(best), free(cycle);
}

static void time_hash160(void)
{
    enum { NBYTES = 33, NKEYS = 512, TURNS = 600, NSETS = 64 };
    static uint8_t digests[NKEYS * 20];
    const uint8_t *keys = arena(NKEYS * NBYTES);
    const hl_isas sha = hl_isa_named("sha") & hl_isas_available(), sha_avx512vl = hl_isa_named("sha_avx512vl");
    hl_isas sets[NSETS];
    const char *names[NSETS];
    double best[NSETS];
    size_t nsets = 0;

    for (size_t i = 0; i < hl_kernel_count(); i++) {
        const hl_kernel *k = hl_kernel_at(i);
        if (strncmp(k->name, "ripemd160", 9) != 0 || k->nlanes == 1 || (k->isas & hl_isas_available()) == 0)
            continue;
        for (unsigned with = 0; with <= (sha != 0); with++) {
            sets[nsets] = k->isas | (with ? sha : 0);
            if (with && strncmp(k->isa, "avx512", 6) == 0)
                sets[nsets] |= sha_avx512vl & hl_isas_available();
            names[nsets] = k->isa;
            best[nsets++] = 1;
        }
    }
    for (unsigned r = 0; r < TURNS; r++)
        for (size_t s = 0; s < nsets; s++) {
            if (hl_restrict(sets[s]) != HL_OK)
                die("hl_restrict failed");
            const double start = now();
            if (hl_hash160_rows(keys, NBYTES, NBYTES, NKEYS, digests) != HL_OK)
                die("hl_hash160_rows failed");
            const double t = (now() - start) / NKEYS;
            best[s] = t < best[s] ? t : best[s];
        }
    if (hl_restrict(0) != HL_OK)
        die("hl_restrict failed");
    printf("| hash160 over | ns a key | million keys/s |\n|---|---|---|\n");
    for (size_t s = 0; s < nsets; s++)
        printf("| %s%s | %.1f | %.1f |\n", names[s], sets[s] & sha ? " and sha" : "", best[s] * 1e9, 1e-6 / best[s]);
}

#ifndef BENCH_KERNELS_ONLY
/* The features that OpenSSL may use beside the kernels of an instruction set: OPENSSL_ia32cap, described in
 * OPENSSL_ia32cap(3). Bit 41 is SSSE3, 60 AVX. After the colon comes leaf 7: bits 3 and 8 are BMI1 and BMI2, 5 AVX2, 29
 * SHA, and 16, 17, 30, 31 parts of AVX-512. */
static const struct tier {
    const char *isa, *cap, *openssl;
    double goal;
} tiers[] = {
    {"scalar", "~0x1000020000000000:0", "no SSSE3", 0},
    {"ssse3", "~0x1000000000000000:0", "SSSE3", 1},
    {"avx", ":0", "AVX", 1},
    {"avx2", ":~0xe0030000", "AVX2, BMI", 1},
    {"avx512vl", ":~0x20000000", "all but SHA", 1},
    {"sha", ":~0", "all", 1},
};

/* Restricts both sides to what a CPU without AVX-512 has. libcrypto reads its variable when it is loaded, so the
 * program runs itself again. */
static void leave_out_avx512(char **argv)
{
    static const char *const names[] = {"avx512", "avx512vl", "sha_avx512vl"};
    static const char cap[] = ":~0xd0230000"; /* F, DQ, IFMA, CD, BW, VL */
    hl_isas left = hl_isas_available();
    const char *is = getenv("OPENSSL_ia32cap");
    if (is == NULL || strcmp(is, cap) != 0) {
        setenv("OPENSSL_ia32cap", cap, 1);
        execv("/proc/self/exe", argv);
        die("cannot run itself again");
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        left &= ~hl_isa_named(names[i]);
    if (hl_restrict(left) != HL_OK)
        die("hl_restrict failed");
    printf("Both sides without AVX-512. ");
}

static void with_kernel(struct work *w)
{
    if (hl_hash_many_with(w->kernel, w->alg->alg, w->messages, w->count, w->digests) != HL_OK)
        die("hl_hash_many_with failed");
}

/* The rows of one tier, in a process whose libcrypto was limited when it was loaded. */
static void compare_tier(const struct tier *tier)
{
    uint8_t ours[HL_DIGEST_MAX_NBYTES], theirs[HL_DIGEST_MAX_NBYTES];
    const hl_slice message = {arena(16 << 10), 16 << 10};
    EVP_MD_CTX *evp = EVP_MD_CTX_new();
    if (evp == NULL)
        die("out of memory");

    for (size_t i = 0; i < hl_kernel_count(); i++) {
        const hl_kernel *k = hl_kernel_at(i);
        const hl_alg_info *alg = alg_of(k->body);
        if (k->nlanes != 1 || strcmp(k->isa, tier->isa) != 0 || (k->isas & hl_isas_available()) == 0)
            continue;
        EVP_MD *md = EVP_MD_fetch(NULL, alg->name, NULL);
        if (md == NULL)
            die("OpenSSL has no such digest");
        struct work a = {alg, md, evp, &message, 1, ours, k, NULL, NULL, NULL, NULL};
        struct work b = {alg, md, evp, &message, 1, theirs, NULL, NULL, NULL, NULL, NULL};
        char what[80];
        snprintf(what, sizeof what, "%s / EVP, %s", k->name, tier->openssl);
        compare(what, with_kernel, &a, (double)message.nbytes, with_openssl, &b, (double)message.nbytes,
                tier->goal);
        if (memcmp(ours, theirs, alg->digest_nbytes) != 0)
            die("digests differ");
        EVP_MD_free(md);
    }
    EVP_MD_CTX_free(evp);
}

/* libcrypto reads the variable when it is loaded, so each tier is a process of its own. */
static void compare_tiers(const char *self)
{
    for (size_t i = 0; i < sizeof tiers / sizeof tiers[0]; i++) {
        int status;
        const pid_t child = fork();
        if (child == 0) {
            setenv("OPENSSL_ia32cap", tiers[i].cap, 1);
            execl(self, "bench", "tier", tiers[i].isa, (char *)NULL);
            die("cannot run itself again");
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            die("a tier failed");
    }
}

static void print_head(const char *unit)
{
    printf("%s, hashloom %s, compiled by " __VERSION__ "\n\n", OpenSSL_version(OPENSSL_VERSION), hl_version());
    printf("| alg        | %-62s| %-8s| peer    | ratio | of pairs       | goal |\n", "what / peer", unit);
    printf("|------------|%.63s|---------|---------|-------|----------------|------|\n",
           "----------------------------------------------------------------");
    fflush(stdout);
}
#endif

static void pin_to_this_cpu(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)sched_getcpu(), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        perror("bench: not pinned to one CPU");
}

int main(int argc, char **argv)
{
    pin_to_this_cpu();
    if ((argc == 2 || argc == 3) && strcmp(argv[1], "kernels") == 0) {
        const hl_isas wanted = argc == 2 ? ~(hl_isas)0 : hl_isa_named(argv[2]);
        if (wanted == 0)
            die("no such instruction set");
        time_kernels(wanted);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "hash160") == 0) {
        time_hash160();
        return 0;
    }
#ifndef BENCH_KERNELS_ONLY
    if ((argc == 2 || (argc == 3 && strcmp(argv[2], "without-avx512") == 0)) && strcmp(argv[1], "compare") == 0) {
        if (argc == 3)
            leave_out_avx512(argv);
        print_head("GB/s");
        for (size_t i = 0; i < hl_alg_count(); i++) {
            compare_all(hl_alg_at(i));
            compare_hmac(hl_alg_at(i));
        }
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "hmac") == 0) {
        print_head("GB/s");
        for (size_t i = 0; i < hl_alg_count(); i++)
            compare_hmac(hl_alg_at(i));
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "search") == 0) {
        print_head("M/s");
        compare_searches();
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "tiers") == 0) {
        print_head("GB/s");
        compare_tiers("/proc/self/exe");
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "tier") == 0) /* run by compare_tiers */
        for (size_t i = 0; i < sizeof tiers / sizeof tiers[0]; i++)
            if (strcmp(argv[2], tiers[i].isa) == 0) {
                compare_tier(&tiers[i]);
                return 0;
            }
#endif
    fprintf(stderr, "usage: bench compare [without-avx512] | hmac | search | tiers | hash160 | kernels [ISA]\n");
    return 2;
}
