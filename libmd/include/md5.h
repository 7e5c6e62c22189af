/* md5.h: MD5 with the functions of libmd(3), by hashloom. sha2.h describes them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HASHLOOM_MD_MD5_H
#define HASHLOOM_MD_MD5_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MD5_BLOCK_LENGTH         64
#define MD5_DIGEST_LENGTH        16
#define MD5_DIGEST_STRING_LENGTH (MD5_DIGEST_LENGTH * 2 + 1)

typedef struct MD5Context {
    uint32_t state[4];
    uint64_t count; /* in bits */
    uint8_t buffer[MD5_BLOCK_LENGTH];
} MD5_CTX;

#ifdef __cplusplus
extern "C" {
#endif

void MD5Init(MD5_CTX *context);
void MD5Update(MD5_CTX *context, const uint8_t *data, size_t nbytes);
void MD5Pad(MD5_CTX *context);
void MD5Final(uint8_t digest[MD5_DIGEST_LENGTH], MD5_CTX *context);
void MD5Transform(uint32_t state[4], const uint8_t block[MD5_BLOCK_LENGTH]);
char *MD5End(MD5_CTX *context, char *hex);
char *MD5File(const char *path, char *hex);
char *MD5FileChunk(const char *path, char *hex, off_t offset, off_t nbytes);
char *MD5Data(const uint8_t *data, size_t nbytes, char *hex);

#ifdef __cplusplus
}
#endif

/* Names of L. Peter Deutsch's MD5 (Aladdin Enterprises), if the program defines LIBMD_MD5_ALADDIN, as in libmd. */
#ifdef LIBMD_MD5_ALADDIN
typedef uint8_t md5_byte_t;
typedef uint32_t md5_word_t;
typedef MD5_CTX md5_state_t;

#  define md5_init(state)                 MD5Init(state)
#  define md5_append(state, data, nbytes) MD5Update(state, data, nbytes)
#  define md5_finish(state, digest)       MD5Final(digest, state)
#endif

#endif
