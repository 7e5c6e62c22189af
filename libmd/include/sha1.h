/* sha1.h: SHA-1 with the functions of libmd(3), by hashloom. sha2.h and libmd's sha1(3) describe them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HASHLOOM_MD_SHA1_H
#define HASHLOOM_MD_SHA1_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SHA1_BLOCK_LENGTH         64
#define SHA1_DIGEST_LENGTH        20
#define SHA1_DIGEST_STRING_LENGTH (SHA1_DIGEST_LENGTH * 2 + 1)

typedef struct {
    uint32_t state[5];
    uint64_t count; /* in bits */
    uint8_t buffer[SHA1_BLOCK_LENGTH];
} SHA1_CTX;

#ifdef __cplusplus
extern "C" {
#endif

void SHA1Init(SHA1_CTX *context);
void SHA1Update(SHA1_CTX *context, const uint8_t *data, size_t nbytes);
void SHA1Pad(SHA1_CTX *context);
void SHA1Final(uint8_t digest[SHA1_DIGEST_LENGTH], SHA1_CTX *context);
void SHA1Transform(uint32_t state[5], const uint8_t block[SHA1_BLOCK_LENGTH]);
char *SHA1End(SHA1_CTX *context, char *hex);
char *SHA1File(const char *path, char *hex);
char *SHA1FileChunk(const char *path, char *hex, off_t offset, off_t nbytes);
char *SHA1Data(const uint8_t *data, size_t nbytes, char *hex);

#ifdef __cplusplus
}
#endif

/* Convert a digest's words between the machine's byte order and the network's (the program includes <arpa/inet.h>). */
#define HTONDIGEST(x) \
    do { \
        (x)[0] = htonl((x)[0]), (x)[1] = htonl((x)[1]), (x)[2] = htonl((x)[2]); \
        (x)[3] = htonl((x)[3]), (x)[4] = htonl((x)[4]); \
    } while (0)
#define NTOHDIGEST(x) \
    do { \
        (x)[0] = ntohl((x)[0]), (x)[1] = ntohl((x)[1]), (x)[2] = ntohl((x)[2]); \
        (x)[3] = ntohl((x)[3]), (x)[4] = ntohl((x)[4]); \
    } while (0)

#endif
