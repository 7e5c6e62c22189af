/* md2.h: MD2 with the functions of libmd(3), by hashloom. sha2.h describes them. There is no
 * Pad, and Update takes at most 4 GiB.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HASHLOOM_MD_MD2_H
#define HASHLOOM_MD_MD2_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MD2_BLOCK_LENGTH         16
#define MD2_DIGEST_LENGTH        16
#define MD2_DIGEST_STRING_LENGTH (MD2_DIGEST_LENGTH * 2 + 1)

typedef struct MD2Context {
    uint32_t i;                    /* bytes of X in use: the state's 16, and those of a block that is not full */
    uint8_t C[MD2_BLOCK_LENGTH];   /* checksum */
    uint8_t X[3 * MD2_BLOCK_LENGTH];
} MD2_CTX;

#ifdef __cplusplus
extern "C" {
#endif

void MD2Init(MD2_CTX *context);
void MD2Update(MD2_CTX *context, const uint8_t *data, unsigned nbytes);
void MD2Final(uint8_t digest[MD2_DIGEST_LENGTH], MD2_CTX *context);
char *MD2End(MD2_CTX *context, char *hex);
char *MD2File(const char *path, char *hex);
char *MD2FileChunk(const char *path, char *hex, off_t offset, off_t nbytes);
char *MD2Data(const uint8_t *data, size_t nbytes, char *hex);

#ifdef __cplusplus
}
#endif

#endif
