/* sha.c: SHA-1 and SHA-256 over the SHA instructions, in 16 XMM registers.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86 && HLI_ISA(sha)
#  include <immintrin.h>
#  include "../interleave.h"

#  define SHA_TARGET       __attribute__((target("sha,ssse3,sse4.1")))
#  define SHA_32_REGISTERS 0
#  include "sha.inc.h"

/* One block, the same in all messages. The schedule has its W + K. */
SHA_FN void sha256_scheduled_sha(unsigned N, uint32_t *s, const uint32_t *schedule)
{
    __m128i abef[4], cdgh[4], abef0[4], cdgh0[4];

    sha256_load(N, s, abef0, cdgh0);
    EACH_MESSAGE(l) {
        abef[l] = abef0[l];
        cdgh[l] = cdgh0[l];
    }
    sha256_64_rounds_scheduled(N, abef, cdgh, schedule);
    EACH_MESSAGE(l) {
        abef[l] = _mm_add_epi32(abef[l], abef0[l]);
        cdgh[l] = _mm_add_epi32(cdgh[l], cdgh0[l]);
    }
    sha256_store(N, s, abef, cdgh);
}

#  if HLI_ALG(sha1)
INSTANCE(SHA_TARGET, sha1_blocks_sha_plain_x1, sha1_blocks_sha, 1, 1)
INSTANCE(SHA_TARGET, sha1_blocks_sha_plain_x2, sha1_blocks_sha, 2, 1)
INSTANCE(SHA_TARGET, sha1_blocks_sha_plain_x3, sha1_blocks_sha, 3, 1)
INSTANCE(SHA_TARGET, sha1_blocks_sha_plain_x4, sha1_blocks_sha, 4, 1)
INSTANCE(SHA_TARGET, sha1_blocks_sha_x2, sha1_blocks_sha, 2, 0)
INSTANCE(SHA_TARGET, sha1_blocks_sha_x3, sha1_blocks_sha, 3, 0)
INSTANCE(SHA_TARGET, sha1_blocks_sha_x4, sha1_blocks_sha, 4, 0)
#  endif
#  if HLI_ALG(sha256)
INSTANCE(SHA_TARGET, sha256_blocks_sha_x1, sha256_blocks_sha, 1)
INSTANCE(SHA_TARGET, sha256_blocks_sha_x2, sha256_blocks_sha, 2)
INSTANCE(SHA_TARGET, sha256_blocks_sha_x3, sha256_blocks_sha, 3)
INSTANCE(SHA_TARGET, sha256_blocks_sha_x4, sha256_blocks_sha, 4)

#  define INSTANCE_SCHEDULED(name, function, n) \
      SHA_TARGET void hli_##name(void *state, const void *schedule) \
      { \
          function(n, state, schedule); \
      }
INSTANCE_SCHEDULED(sha256_scheduled_sha_x1, sha256_scheduled_sha, 1)
INSTANCE_SCHEDULED(sha256_scheduled_sha_x2, sha256_scheduled_sha, 2)
INSTANCE_SCHEDULED(sha256_scheduled_sha_x3, sha256_scheduled_sha, 3)
INSTANCE_SCHEDULED(sha256_scheduled_sha_x4, sha256_scheduled_sha, 4)
#  endif
#endif
