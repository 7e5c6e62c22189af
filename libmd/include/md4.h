/* md4.h: MD4 with the functions of libmd(3), by hashloom. sha2.h describes them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HASHLOOM_MD_MD4_H
#define HASHLOOM_MD_MD4_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MD4_BLOCK_LENGTH         64
#define MD4_DIGEST_LENGTH        16
#define MD4_DIGEST_STRING_LENGTH (MD4_DIGEST_LENGTH * 2 + 1)

typedef struct MD4Context {
    uint32_t state[4];
    uint64_t count; /* in bits */
    uint8_t buffer[MD4_BLOCK_LENGTH];
} MD4_CTX;

#ifdef __cplusplus
extern "C" {
#endif

void MD4Init(MD4_CTX *context);
void MD4Update(MD4_CTX *context, const uint8_t *data, size_t nbytes);
void MD4Pad(MD4_CTX *context);
void MD4Final(uint8_t digest[MD4_DIGEST_LENGTH], MD4_CTX *context);
void MD4Transform(uint32_t state[4], const uint8_t block[MD4_BLOCK_LENGTH]);
char *MD4End(MD4_CTX *context, char *hex);
char *MD4File(const char *path, char *hex);
char *MD4FileChunk(const char *path, char *hex, off_t offset, off_t nbytes);
char *MD4Data(const uint8_t *data, size_t nbytes, char *hex);

#ifdef __cplusplus
}
#endif

#endif
