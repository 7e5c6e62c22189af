/* sha.h: SHA-1 under the names that FreeBSD gives to libmd's functions.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HASHLOOM_MD_SHA_H
#define HASHLOOM_MD_SHA_H

#include <sha1.h>

#define SHA_DIGEST_LENGTH SHA1_DIGEST_LENGTH

typedef SHA1_CTX SHA_CTX;

#define SHA1_Init      SHA1Init
#define SHA1_Update    SHA1Update
#define SHA1_Final     SHA1Final
#define SHA1_End       SHA1End
#define SHA1_File      SHA1File
#define SHA1_FileChunk SHA1FileChunk
#define SHA1_Data      SHA1Data

#endif
