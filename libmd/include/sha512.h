/* sha512.h: SHA-512 and SHA-384 under the names that FreeBSD gives to libmd's functions.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HASHLOOM_MD_SHA512_H
#define HASHLOOM_MD_SHA512_H

#include <sha2.h>

typedef SHA2_CTX SHA512_CTX;
typedef SHA2_CTX SHA384_CTX;

#define SHA384_Init      SHA384Init
#define SHA384_Update    SHA384Update
#define SHA384_Final     SHA384Final
#define SHA384_End       SHA384End
#define SHA384_File      SHA384File
#define SHA384_FileChunk SHA384FileChunk
#define SHA384_Data      SHA384Data

#define SHA512_Init      SHA512Init
#define SHA512_Update    SHA512Update
#define SHA512_Final     SHA512Final
#define SHA512_End       SHA512End
#define SHA512_File      SHA512File
#define SHA512_FileChunk SHA512FileChunk
#define SHA512_Data      SHA512Data

#endif
