/* libmd.c: every function of libmd(3) over lengths, chunks, files, offsets and errors; prints their results. It is
 * compiled unchanged twice, with Debian's libmd-dev and with our headers and library, and must print the same (libmd.sh
 * compares).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *   libmd FOLDER     an empty folder for its files
 */
#include <arpa/inet.h>
#include <errno.h>
#define LIBMD_MD5_ALADDIN
#include <md2.h>
#include <md4.h>
#include <md5.h>
#include <ripemd.h>
#include <rmd160.h>
#include <sha.h>
#include <sha1.h>
#include <sha2.h>
#include <sha256.h>
#include <sha512.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LENGTHS = 700, BYTES = 100000 };

static uint8_t bytes[BYTES];
static char path[4096];

static void print(const char *what, size_t n, const void *data, size_t nbytes)
{
    printf("%s %zu ", what, n);
    for (size_t i = 0; i < nbytes; i++)
        printf("%02x", ((const uint8_t *)data)[i]);
    putchar('\n');
}

static const char *in_folder(const char *folder, const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void print_text(const char *what, long a, long b, char *text, int is_heap)
{
    const int error = errno;

    printf("%s %ld %ld %s errno %d\n", what, a, b, text == NULL ? "NULL" : text, error);
    if (is_heap)
        free(text);
}

/* Files and parts of files. */
#define TEST_FILES(NAME) \
    static void test_files_##NAME(const char *folder) \
    { \
        static const char *const files[] = {"empty", "one", "abc", "big", "none", ".", "link"}; \
        static const long ranges[][2] = {{0, 0},   {1, 0},     {0, 1},      {3, 5},         {-5, 0},       {-5, 4}, \
                                         {63, 65}, {0, 99999}, {0, 100001}, {99999, 0},     {100000, 0}, \
                                         {1 << 30, 0}, {1, 99999}, {8192, 8192}, {1 << 30, 5}, {50000, 8191}, \
                                         {0, 32769}}; \
        char text[NAME##_DIGEST_STRING_LENGTH]; \
\
        for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) { \
            errno = 99; \
            print_text(files[f], 0, 0, NAME##File(in_folder(folder, files[f]), text), 0); \
            errno = 99; \
            print_text(files[f], 0, 0, NAME##File(in_folder(folder, files[f]), NULL), 1); \
            for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++) { \
                errno = 99; \
                print_text(files[f], ranges[r][0], ranges[r][1], \
                           NAME##FileChunk(in_folder(folder, files[f]), text, ranges[r][0], ranges[r][1]), 0); \
                print_text(files[f], ranges[r][0], ranges[r][1], \
                           NAME##FileChunk(in_folder(folder, files[f]), NULL, ranges[r][0], ranges[r][1]), 1); \
            } \
        } \
    }

/* STATE: the context's state. NBYTES: its size. COUNT: the field after it, of COUNT_NBYTES. */
#define TEST(NAME, CTX, STATE, NBYTES, COUNT, COUNT_NBYTES) \
    TEST_FILES(NAME) \
    static void test_##NAME(const char *folder) \
    { \
        static const size_t chunks[] = {1, 7, 63, 64, 65, 111, 112, 128, 300, 5000}; \
        uint8_t digest[NAME##_DIGEST_LENGTH]; \
        char text[NAME##_DIGEST_STRING_LENGTH]; \
        CTX ctx, saved; \
\
        printf(#NAME " %zu %d %d %d\n", sizeof ctx, NAME##_BLOCK_LENGTH, NAME##_DIGEST_LENGTH, \
               NAME##_DIGEST_STRING_LENGTH); \
        for (size_t n = 0; n < LENGTHS; n++) { \
            memset(&ctx, 0xee, sizeof ctx); \
            NAME##Init(&ctx); \
            print("init", n, STATE(ctx), NBYTES); \
            NAME##Update(&ctx, bytes + n, n); \
            print("state", n, STATE(ctx), NBYTES); \
            print("count", n, COUNT(ctx), COUNT_NBYTES); \
            print("held", n, ctx.buffer, n % NAME##_BLOCK_LENGTH); \
            saved = ctx; \
            NAME##Final(digest, &ctx); \
            print("final", n, digest, sizeof digest); \
            print("wiped", n, &ctx, sizeof ctx); \
            ctx = saved; \
            NAME##Pad(&ctx); \
            print("pad", n, STATE(ctx), NBYTES); \
            print("count", n, COUNT(ctx), COUNT_NBYTES); \
            print("padding", n, ctx.buffer, NAME##_BLOCK_LENGTH); \
            NAME##Update(&ctx, bytes, n / 2); /* continues after the padding */ \
            NAME##Final(digest, &ctx); \
            print("after pad", n, digest, sizeof digest); \
            ctx = saved; \
            print_text("end", (long)n, 0, NAME##End(&ctx, text), 0); \
            ctx = saved; \
            print_text("end on the heap", (long)n, 0, NAME##End(&ctx, NULL), 1); \
            print_text("data", (long)n, 0, NAME##Data(bytes, n, text), 0); \
            print_text("data on the heap", (long)n, 0, NAME##Data(bytes, n, NULL), 1); \
        } \
        for (size_t c = 0; c < sizeof chunks / sizeof chunks[0]; c++) { \
            NAME##Init(&ctx); \
            for (size_t at = 0; at < 20000; at += chunks[c]) \
                NAME##Update(&ctx, bytes + at, at + chunks[c] <= 20000 ? chunks[c] : 20000 - at); \
            NAME##Final(digest, &ctx); \
            print("chunks", chunks[c], digest, sizeof digest); \
        } \
        NAME##Init(&ctx); \
        for (size_t b = 0; b < 20; b++) { \
            NAME##Transform((void *)STATE(ctx), bytes + b); \
            print("transform", b, STATE(ctx), NBYTES); \
        } \
        test_files_##NAME(folder); \
    }

#define WORDS(c)  ((c).state)
#define ST32(c)   ((c).state.st32)
#define ST64(c)   ((c).state.st64)
#define COUNT(c)  (&(c).count)
#define COUNTS(c) ((c).bitcount)

TEST(MD4, MD4_CTX, WORDS, 16, COUNT, 8)
TEST(MD5, MD5_CTX, WORDS, 16, COUNT, 8)
TEST(SHA1, SHA1_CTX, WORDS, 20, COUNT, 8)
TEST(RMD160, RMD160_CTX, WORDS, 20, COUNT, 8)
#ifdef SHA224_DIGEST_LENGTH /* since libmd 1.1 */
TEST(SHA224, SHA2_CTX, ST32, 32, COUNTS, 8)
TEST(SHA512_256, SHA2_CTX, ST64, 64, COUNTS, 16)
#endif
TEST(SHA256, SHA2_CTX, ST32, 32, COUNTS, 8)
TEST(SHA384, SHA2_CTX, ST64, 64, COUNTS, 16)
TEST(SHA512, SHA2_CTX, ST64, 64, COUNTS, 16)

/* MD2 has no Pad, and another context. Its library has a Transform that no header declares. */
void MD2Transform(MD2_CTX *c);
TEST_FILES(MD2)
static void test_MD2(const char *folder)
{
    uint8_t digest[MD2_DIGEST_LENGTH];
    char text[MD2_DIGEST_STRING_LENGTH];
    MD2_CTX c, saved;

    printf("MD2 %zu %d %d\n", sizeof c, MD2_DIGEST_LENGTH, MD2_DIGEST_STRING_LENGTH);
    for (unsigned n = 0; n < LENGTHS; n++) {
        memset(&c, 0xee, sizeof c);
        MD2Init(&c);
        print("init", n, &c, sizeof c);
        MD2Update(&c, bytes + n, n / 3);
        MD2Update(&c, bytes + n + n / 3, n - n / 3);
        print("context", n, &c, sizeof c);
        saved = c;
        MD2Final(digest, &c);
        print("final", n, digest, sizeof digest);
        print("wiped", n, &c, sizeof c);
        c = saved;
        print_text("end", n, 0, MD2End(&c, text), 0);
        print_text("data", n, 0, MD2Data(bytes, n, text), 0);
        print_text("data on the heap", n, 0, MD2Data(bytes, n, NULL), 1);
        c = saved;
        MD2Transform(&c);
        print("transform", n, &c, sizeof c);
    }
    test_files_MD2(folder);
}

#if __has_include(<sha3.h>) /* since libmd 1.2 */
#  include <sha3.h>

/* One line a message, for another program to compare: the algorithm, the bytes of the message and the digest. */
#  define TEST_SPONGE(NAME, NBYTES, FINAL) \
    for (size_t n = 0; n < LENGTHS; n++) { \
        static const size_t chunks[] = {1, 7, 8, 64, 71, 72, 104, 136, 137, 144, 168, 700}; \
        const size_t chunk = chunks[n % (sizeof chunks / sizeof chunks[0])], nbytes = NBYTES; \
        uint8_t digest[LENGTHS]; \
        NAME##_CTX c; \
        memset(&c, 0xee, sizeof c); \
        NAME##_Init(&c); \
        for (size_t at = 0; at < n; at += chunk) \
            NAME##_Update(&c, bytes + at, at + chunk <= n ? chunk : n - at); \
        FINAL; \
        print(#NAME, n, digest, nbytes); \
        print("wiped", n, &c, 25 * 8 + sizeof(unsigned)); \
    }
#  define TEST_SHA3(NAME) TEST_SPONGE(NAME, NAME##_DIGEST_LENGTH, NAME##_Final(digest, &c))
#  define TEST_SHAKE(NAME) TEST_SPONGE(NAME, n, NAME##_Final(digest, nbytes, &c))

static void test_sponges(void)
{
    TEST_SHA3(SHA3_224)
    TEST_SHA3(SHA3_256)
    TEST_SHA3(SHA3_384)
    TEST_SHA3(SHA3_512)
    TEST_SHAKE(SHAKE128)
    TEST_SHAKE(SHAKE256)
    printf("SHA3_Selftest %d\n", SHA3_Selftest());
}
#else
static void test_sponges(void)
{
}
#endif

/* FreeBSD's names, and those of Aladdin's MD5. */
static void test_names(void)
{
    uint8_t digest[SHA512_DIGEST_LENGTH];
    SHA_CTX sha;
    SHA256_CTX sha256;
    SHA384_CTX sha384;
    SHA512_CTX sha512;
    uint32_t words[5] = {1, 2, 3, 4, 0xfffffffe};

    RIPEMD160_CTX ripemd;
    md5_state_t md5;
    const md5_byte_t a = 'a';
    const md5_word_t wide = 0xffffffff;

    md5_init(&md5), md5_append(&md5, &a, 1), md5_finish(&md5, digest);
    print("md5_finish", wide == UINT32_MAX, digest, MD5_DIGEST_LENGTH);
    RIPEMD160_Init(&ripemd), RIPEMD160_Update(&ripemd, bytes, 3), RIPEMD160_Final(digest, &ripemd);
    print("RIPEMD160_Final", 3, digest, RIPEMD160_DIGEST_LENGTH);
    SHA1_Init(&sha), SHA1_Update(&sha, bytes, 3), SHA1_Final(digest, &sha);
    print("SHA1_Final", 3, digest, SHA_DIGEST_LENGTH);
    SHA256_Init(&sha256), SHA256_Update(&sha256, bytes, 3), SHA256_Final(digest, &sha256);
    print("SHA256_Final", 3, digest, SHA256_DIGEST_LENGTH);
    SHA384_Init(&sha384), SHA384_Update(&sha384, bytes, 3), SHA384_Final(digest, &sha384);
    print("SHA384_Final", 3, digest, SHA384_DIGEST_LENGTH);
    SHA512_Init(&sha512), SHA512_Update(&sha512, bytes, 3), SHA512_Final(digest, &sha512);
    print("SHA512_Final", 3, digest, SHA512_DIGEST_LENGTH);
    print_text("SHA1_Data", 3, 0, SHA1_Data(bytes, 3, NULL), 1);
    print_text("SHA256_Data", 3, 0, SHA256_Data(bytes, 3, NULL), 1);
    print_text("SHA384_Data", 3, 0, SHA384_Data(bytes, 3, NULL), 1);
    print_text("SHA512_Data", 3, 0, SHA512_Data(bytes, 3, NULL), 1);
    SHA1_Init(&sha), print_text("SHA1_End", 0, 0, SHA1_End(&sha, NULL), 1);
    HTONDIGEST(words);
    print("HTONDIGEST", 5, words, sizeof words);
    NTOHDIGEST(words);
    print("NTOHDIGEST", 5, words, sizeof words);
}

static void write_file(const char *folder, const char *name, size_t nbytes)
{
    FILE *file = fopen(in_folder(folder, name), "wb");

    if (file == NULL || fwrite(bytes, 1, nbytes, file) != nbytes || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    uint32_t x = 1;

    if (argc != 2) {
        fprintf(stderr, "usage: libmd FOLDER\n");
        return 2;
    }
    for (size_t i = 0; i < BYTES; i++) {
        x = x * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(x >> 24);
    }
    write_file(argv[1], "empty", 0);
    write_file(argv[1], "one", 1);
    write_file(argv[1], "abc", 3);
    write_file(argv[1], "big", BYTES);
    if (symlink("big", in_folder(argv[1], "link")) != 0 && errno != EEXIST) {
        perror(path);
        return 2;
    }
    errno = 0;
    test_MD2(argv[1]);
    test_MD4(argv[1]);
    test_MD5(argv[1]);
    test_SHA1(argv[1]);
    test_RMD160(argv[1]);
#ifdef SHA224_DIGEST_LENGTH
    if (getenv("LIBMD_WITHOUT_SHA224") == NULL) {
        test_SHA224(argv[1]);
        test_SHA512_256(argv[1]);
    }
#endif
    test_SHA256(argv[1]);
    test_SHA384(argv[1]);
    test_SHA512(argv[1]);
    test_names();
    if (getenv("LIBMD_WITHOUT_SHA3") == NULL)
        test_sponges();
    return 0;
}
