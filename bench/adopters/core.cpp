// SPDX-License-Identifier: MIT OR Apache-2.0

#include <crypto/sha256.h>
#include <hashloom.h>

#include <cstdlib>

void SHA256D64(unsigned char* out, const unsigned char* in, size_t blocks)
{
    if (hl_sha256d_rows(in, 64, 64, blocks, out) != HL_OK) abort();
}
