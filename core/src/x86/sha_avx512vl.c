/* sha_avx512vl.c: SHA-256 over the SHA instructions, in 32 XMM registers.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Three and four messages need more than 16 registers. The kernel for one message is for a choice that is restricted to
 * this set.
 */
#include "../kernels.h"
#if HLI_X86_64
#  include <immintrin.h>
#  include "../interleave.h"

#  define SHA_TARGET       __attribute__((target("sha,avx512vl,avx512bw")))
#  define SHA_32_REGISTERS 1
#  include "sha.inc.h"

INSTANCE(SHA_TARGET, sha256_blocks_sha_avx512vl_x1, sha256_blocks_sha, 1)
INSTANCE(SHA_TARGET, sha256_blocks_sha_avx512vl_x3, sha256_blocks_sha, 3)
INSTANCE(SHA_TARGET, sha256_blocks_sha_avx512vl_x4, sha256_blocks_sha, 4)
#endif
