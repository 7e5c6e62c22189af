/* ripemd.h: RIPEMD-160 under the names that FreeBSD gives to libmd's functions.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HASHLOOM_MD_RIPEMD_H
#define HASHLOOM_MD_RIPEMD_H

#include <rmd160.h>

#define RIPEMD160_DIGEST_LENGTH RMD160_DIGEST_LENGTH

typedef RMD160_CTX RIPEMD160_CTX;

#define RIPEMD160_Init      RMD160Init
#define RIPEMD160_Update    RMD160Update
#define RIPEMD160_Final     RMD160Final
#define RIPEMD160_End       RMD160End
#define RIPEMD160_File      RMD160File
#define RIPEMD160_FileChunk RMD160FileChunk
#define RIPEMD160_Data      RMD160Data

#endif
