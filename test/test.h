/* test.h: shared by the test programs: cases and their count, kernels by name, guarded memory, the oracle.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A program is a list of cases. A case passes if none of its CHECKs fails. An instruction set that cannot run here is
 * skipped by name; it is a failure if --expect or HASHLOOM_EXPECT names it. The last line of every program is "N
 * passed, N failed, N skipped", and its exit status is 1 if a case failed.
 *
 *   program [--all] [--expect ISA,ISA,...] [--seed N]
 */
#ifndef TEST_H
#define TEST_H

#include <hashloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#  define UNDER_SANITIZER 1
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#    define UNDER_SANITIZER 1
#  endif
#endif
#ifndef UNDER_SANITIZER
#  define UNDER_SANITIZER 0
#endif

#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

void test_start(int argc, char **argv);
int test_end(void); /* returns main's exit status */

extern int test_all; /* --all: run the cases that take minutes, too */

/* HASHLOOM_TEST_SHARE=N: about one N-th of the repetitions, and giants of one N-th of the length, for emulators, which
 * are 10 to 50 times slower, and for sanitizers. Every kernel, call and length still runs, and the program reports the
 * reduction. */
size_t share_of(size_t n); /* n / N, at least 1 */
int in_share(size_t i);    /* 1 if repetition i is among them: every N-th is, from a place that depends on the seed */

/* Ends the case before and begins a new one. */
void test_case(const char *format, ...) PRINTF_LIKE(1, 2);
void test_skip(const char *format, ...) PRINTF_LIKE(1, 2);
/* Returns 1 if the condition holds; else 0, and the case has failed. Prints the first few failures of a case, with the
 * given text. */
#define CHECK(condition, ...) ((condition) ? 1 : test_failed(__FILE__, __LINE__, #condition, __VA_ARGS__))
int test_failed(const char *file, int line, const char *condition, const char *format, ...) PRINTF_LIKE(4, 5);

/* Returns whether this machine runs the kernel. If not, the kernel is counted as skipped. */
int test_kernel(const hl_kernel *kernel);
/* Restricts the library to instruction set i; for i == hl_isa_count(), to its own choice. Returns the name of the set,
 * or NULL if this machine lacks the set; the test with the given name is then counted as skipped. */
const char *test_isa(size_t i, const char *format, ...) PRINTF_LIKE(2, 3);
/* The first algorithm with that body; NULL if the build leaves it out. */
const hl_alg_info *body_alg(hl_body body);
/* Whether hl_ctx has room for a stream; blake3.c tests those of BLAKE3. */
#define has_ctx(alg) ((alg)->ending != HL_TREE)
/* Whether the build has the algorithm. HL_ALGORITHMS may leave it out; what needs it is then counted as skipped. In a
 * build without that macro a missing algorithm ends the program. */
int test_alg(hl_alg alg, const char *what);
/* The same for its HMAC and PBKDF2. */
int test_hmac(hl_alg alg, const char *what);
/* The same for calls without an algorithm of their own. `status` is that of one with wrong arguments. */
int has_calls(hl_status status);
/* Another algorithm with an HMAC, and with another body unless HL_ALGORITHMS leaves one body; `alg` if it is alone,
 * which has_other() then counts as skipped. */
hl_alg other_alg(const hl_alg_info *alg);
int has_other(const hl_alg_info *alg, const char *what);
/* Whether HMAC and PBKDF2 are defined with it. */
int has_hmac(const hl_alg_info *alg);
/* Whether its messages end as FIPS 202 says. */
int is_sponge(const hl_alg_info *alg);
int is_searchable(const hl_alg_info *alg);
/* The widest kernel of this build that this machine runs. */
unsigned lanes_max(void);

/* ---- Random numbers (splitmix64): the same in every run, unless --seed or HASHLOOM_SEED says otherwise ---- */

uint64_t random64(void);
size_t random_below(size_t n);              /* 0 .. n - 1 */
size_t random_length(size_t max_nbytes);    /* 0 .. max_nbytes; small lengths and block boundaries more often */
void random_fill(void *to, size_t nbytes);
/* Restarts the sequence, at a different place for each number and seed. */
void random_restart(uint64_t number);
/* A pool of bytes to take messages from. Equal contents at different places do not occur. */
const uint8_t *random_pool(size_t nbytes);

/* Bytes of hexadecimal digits, up to the first other character. Returns their number, at most max_nbytes. */
size_t from_hex(const char *hex, uint8_t *to, size_t max_nbytes);

/* ---- Memory between two pages that cannot be touched: a byte read or written too far ends the program ---- */

struct guarded {
    uint8_t *begin; /* the first byte; page-aligned */
    uint8_t *end;   /* one past the last byte; page-aligned */
};
struct guarded guard_new(size_t nbytes); /* room for at least nbytes */
void guard_free(struct guarded memory);

/* ---- The right digest ---- */

/* By libcrypto, if it is there and knows the algorithm; else by reference.c. */
void oracle(const hl_alg_info *alg, const void *data, size_t nbytes, uint8_t *digest);
/* The digest of an HL_XOF, of any length. */
void oracle_long(const hl_alg_info *alg, const void *data, size_t nbytes, uint8_t *digest, size_t digest_nbytes);
/* The same for parts that are not contiguous, or too long for one call. */
struct oracle;
struct oracle *oracle_new(const hl_alg_info *alg);
void oracle_update(struct oracle *o, const void *data, size_t nbytes);
void oracle_final(struct oracle *o, uint8_t *digest); /* frees it */
void oracle_final_long(struct oracle *o, uint8_t *digest, size_t digest_nbytes);
/* The HMAC, if there is one, by libcrypto or, by FIPS 198-1's definition, over reference.c. */
void oracle_hmac(const hl_alg_info *alg, const void *key, size_t key_nbytes, const void *data, size_t nbytes,
                 uint8_t *tag);
const char *oracle_name(const hl_alg_info *alg);
/* The reference for an algorithm's name. If there is none, ends the program and says what to add where. */
const struct reference *reference_of(const hl_alg_info *alg);

/* Compares the digests of count messages with the oracle's; returns 1 if all are right. `what` names the call. */
int check_digests(const hl_alg_info *alg, const hl_slice *messages, size_t count, const uint8_t *digests,
                  const char *what);

#endif
