/* sha256.h: SHA-256 under the names that FreeBSD gives to libmd's functions.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HASHLOOM_MD_SHA256_H
#define HASHLOOM_MD_SHA256_H

#include <sha2.h>

typedef SHA2_CTX SHA256_CTX;

#define SHA256_Init      SHA256Init
#define SHA256_Update    SHA256Update
#define SHA256_Final     SHA256Final
#define SHA256_End       SHA256End
#define SHA256_File      SHA256File
#define SHA256_FileChunk SHA256FileChunk
#define SHA256_Data      SHA256Data

#endif
