/* rmd160.h: RIPEMD-160 with the functions of libmd(3), by hashloom. sha2.h describes them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HASHLOOM_MD_RMD160_H
#define HASHLOOM_MD_RMD160_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RMD160_BLOCK_LENGTH         64
#define RMD160_DIGEST_LENGTH        20
#define RMD160_DIGEST_STRING_LENGTH (RMD160_DIGEST_LENGTH * 2 + 1)

typedef struct RMD160Context {
    uint32_t state[5];
    uint64_t count; /* in bits */
    uint8_t buffer[RMD160_BLOCK_LENGTH];
} RMD160_CTX;

#ifdef __cplusplus
extern "C" {
#endif

void RMD160Init(RMD160_CTX *context);
void RMD160Update(RMD160_CTX *context, const uint8_t *data, size_t nbytes);
void RMD160Pad(RMD160_CTX *context);
void RMD160Final(uint8_t digest[RMD160_DIGEST_LENGTH], RMD160_CTX *context);
void RMD160Transform(uint32_t state[5], const uint8_t block[RMD160_BLOCK_LENGTH]);
char *RMD160End(RMD160_CTX *context, char *hex);
char *RMD160File(const char *path, char *hex);
char *RMD160FileChunk(const char *path, char *hex, off_t offset, off_t nbytes);
char *RMD160Data(const uint8_t *data, size_t nbytes, char *hex);

#ifdef __cplusplus
}
#endif

#endif
