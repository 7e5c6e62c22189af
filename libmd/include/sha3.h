/* sha3.h: SHA-3 and SHAKE with the functions of libmd(3), by hashloom (since libmd 1.2): Init begins a
 * message, Update appends data to it, Final writes the digest, of any length for SHAKE, and wipes the context. A
 * context that is not initialised, or final, ends the program.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HASHLOOM_MD_SHA3_H
#define HASHLOOM_MD_SHA3_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SHA3_224_DIGEST_LENGTH 28
#define SHA3_256_DIGEST_LENGTH 32
#define SHA3_384_DIGEST_LENGTH 48
#define SHA3_512_DIGEST_LENGTH 64

/* In the names of libmd, whose debug information has them. */
struct sha3 {
    uint64_t A[25]; /* the state, with what of the message is in it */
    unsigned nb;    /* bytes of the block that are left; 0: final */
};

typedef struct { struct sha3 C224; } SHA3_224_CTX;
typedef struct { struct sha3 C256; } SHA3_256_CTX;
typedef struct { struct sha3 C384; } SHA3_384_CTX;
typedef struct { struct sha3 C512; } SHA3_512_CTX;
typedef struct { struct sha3 C128; } SHAKE128_CTX;
typedef struct { struct sha3 C256; } SHAKE256_CTX;

#ifdef __cplusplus
extern "C" {
#endif

void SHA3_224_Init(SHA3_224_CTX *context);
void SHA3_224_Update(SHA3_224_CTX *context, const uint8_t *data, size_t nbytes);
void SHA3_224_Final(uint8_t digest[SHA3_224_DIGEST_LENGTH], SHA3_224_CTX *context);

void SHA3_256_Init(SHA3_256_CTX *context);
void SHA3_256_Update(SHA3_256_CTX *context, const uint8_t *data, size_t nbytes);
void SHA3_256_Final(uint8_t digest[SHA3_256_DIGEST_LENGTH], SHA3_256_CTX *context);

void SHA3_384_Init(SHA3_384_CTX *context);
void SHA3_384_Update(SHA3_384_CTX *context, const uint8_t *data, size_t nbytes);
void SHA3_384_Final(uint8_t digest[SHA3_384_DIGEST_LENGTH], SHA3_384_CTX *context);

void SHA3_512_Init(SHA3_512_CTX *context);
void SHA3_512_Update(SHA3_512_CTX *context, const uint8_t *data, size_t nbytes);
void SHA3_512_Final(uint8_t digest[SHA3_512_DIGEST_LENGTH], SHA3_512_CTX *context);

void SHAKE128_Init(SHAKE128_CTX *context);
void SHAKE128_Update(SHAKE128_CTX *context, const uint8_t *data, size_t nbytes);
void SHAKE128_Final(uint8_t *digest, size_t nbytes, SHAKE128_CTX *context);

void SHAKE256_Init(SHAKE256_CTX *context);
void SHAKE256_Update(SHAKE256_CTX *context, const uint8_t *data, size_t nbytes);
void SHAKE256_Final(uint8_t *digest, size_t nbytes, SHAKE256_CTX *context);

/* 0 if all six give the digests that they should; else -1. */
int SHA3_Selftest(void);

#ifdef __cplusplus
}
#endif

#endif
