/* sha2.h: SHA-2 with the functions of libmd(3), by hashloom: a program that was written for libmd compiles unchanged.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The functions of each algorithm:
 *
 *   Init       begins a message.
 *   Update     appends data to it.
 *   Pad        appends the padding, so that the state is the digest. For programs that look into the context.
 *   Final      writes the digest and wipes the context.
 *   Transform  advances a state by one block.
 *   End        is Final, with the digest in lower-case hexadecimal and a 0 at its end.
 *   File       does the same for a file.
 *   FileChunk  for at most nbytes bytes of a file, from offset on; nbytes of 0 means all. Negative numbers count
 *              as 0.
 *   Data       for data in memory.
 *
 * The last four write to hex, which has room for ..._DIGEST_STRING_LENGTH bytes, and return it. If hex is NULL, they
 * return memory that the caller frees. If there is no memory, or the file cannot be read, they return NULL and set
 * errno.
 *
 * Contexts equal libmd's in every byte that matters: a program compiled with libmd's headers runs with this library,
 * and the other way round. Threads may not use one context at once.
 */
#ifndef HASHLOOM_MD_SHA2_H
#define HASHLOOM_MD_SHA2_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SHA224_BLOCK_LENGTH         64
#define SHA224_DIGEST_LENGTH        28
#define SHA224_DIGEST_STRING_LENGTH (SHA224_DIGEST_LENGTH * 2 + 1)
#define SHA256_BLOCK_LENGTH         64
#define SHA256_DIGEST_LENGTH        32
#define SHA256_DIGEST_STRING_LENGTH (SHA256_DIGEST_LENGTH * 2 + 1)
#define SHA384_BLOCK_LENGTH         128
#define SHA384_DIGEST_LENGTH        48
#define SHA384_DIGEST_STRING_LENGTH (SHA384_DIGEST_LENGTH * 2 + 1)
#define SHA512_BLOCK_LENGTH         128
#define SHA512_DIGEST_LENGTH        64
#define SHA512_DIGEST_STRING_LENGTH (SHA512_DIGEST_LENGTH * 2 + 1)
#define SHA512_256_BLOCK_LENGTH         128
#define SHA512_256_DIGEST_LENGTH        32
#define SHA512_256_DIGEST_STRING_LENGTH (SHA512_256_DIGEST_LENGTH * 2 + 1)

typedef struct _SHA2_CTX {
    union {
        uint32_t st32[8]; /* SHA-224 and SHA-256 */
        uint64_t st64[8];
    } state;
    uint64_t bitcount[2]; /* the low half first; SHA-224 and SHA-256 use only that */
    uint8_t buffer[SHA512_BLOCK_LENGTH];
} SHA2_CTX;

#ifdef __cplusplus
extern "C" {
#endif

void SHA224Init(SHA2_CTX *context);
void SHA224Update(SHA2_CTX *context, const uint8_t *data, size_t nbytes);
void SHA224Pad(SHA2_CTX *context);
void SHA224Final(uint8_t digest[SHA224_DIGEST_LENGTH], SHA2_CTX *context);
void SHA224Transform(uint32_t state[8], const uint8_t block[SHA224_BLOCK_LENGTH]);
char *SHA224End(SHA2_CTX *context, char *hex);
char *SHA224File(const char *path, char *hex);
char *SHA224FileChunk(const char *path, char *hex, off_t offset, off_t nbytes);
char *SHA224Data(const uint8_t *data, size_t nbytes, char *hex);

void SHA256Init(SHA2_CTX *context);
void SHA256Update(SHA2_CTX *context, const uint8_t *data, size_t nbytes);
void SHA256Pad(SHA2_CTX *context);
void SHA256Final(uint8_t digest[SHA256_DIGEST_LENGTH], SHA2_CTX *context);
void SHA256Transform(uint32_t state[8], const uint8_t block[SHA256_BLOCK_LENGTH]);
char *SHA256End(SHA2_CTX *context, char *hex);
char *SHA256File(const char *path, char *hex);
char *SHA256FileChunk(const char *path, char *hex, off_t offset, off_t nbytes);
char *SHA256Data(const uint8_t *data, size_t nbytes, char *hex);

void SHA384Init(SHA2_CTX *context);
void SHA384Update(SHA2_CTX *context, const uint8_t *data, size_t nbytes);
void SHA384Pad(SHA2_CTX *context);
void SHA384Final(uint8_t digest[SHA384_DIGEST_LENGTH], SHA2_CTX *context);
void SHA384Transform(uint64_t state[8], const uint8_t block[SHA384_BLOCK_LENGTH]);
char *SHA384End(SHA2_CTX *context, char *hex);
char *SHA384File(const char *path, char *hex);
char *SHA384FileChunk(const char *path, char *hex, off_t offset, off_t nbytes);
char *SHA384Data(const uint8_t *data, size_t nbytes, char *hex);

void SHA512Init(SHA2_CTX *context);
void SHA512Update(SHA2_CTX *context, const uint8_t *data, size_t nbytes);
void SHA512Pad(SHA2_CTX *context);
void SHA512Final(uint8_t digest[SHA512_DIGEST_LENGTH], SHA2_CTX *context);
void SHA512Transform(uint64_t state[8], const uint8_t block[SHA512_BLOCK_LENGTH]);
char *SHA512End(SHA2_CTX *context, char *hex);
char *SHA512File(const char *path, char *hex);
char *SHA512FileChunk(const char *path, char *hex, off_t offset, off_t nbytes);
char *SHA512Data(const uint8_t *data, size_t nbytes, char *hex);

void SHA512_256Init(SHA2_CTX *context);
void SHA512_256Update(SHA2_CTX *context, const uint8_t *data, size_t nbytes);
void SHA512_256Pad(SHA2_CTX *context);
void SHA512_256Final(uint8_t digest[SHA512_256_DIGEST_LENGTH], SHA2_CTX *context);
void SHA512_256Transform(uint64_t state[8], const uint8_t block[SHA512_256_BLOCK_LENGTH]);
char *SHA512_256End(SHA2_CTX *context, char *hex);
char *SHA512_256File(const char *path, char *hex);
char *SHA512_256FileChunk(const char *path, char *hex, off_t offset, off_t nbytes);
char *SHA512_256Data(const uint8_t *data, size_t nbytes, char *hex);

#ifdef __cplusplus
}
#endif

#endif
