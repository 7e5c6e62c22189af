/* sha.c: SHA-1 and SHA-256 over the SHA instructions, in 16 XMM registers.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86 && HLI_ISA(sha)
#  include <immintrin.h>
#  include "../edges.h"
#  include "../words/interleave.h"

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
    sha256_add(N, abef, cdgh, abef0, cdgh0);
    sha256_store(N, s, abef, cdgh);
}

/* Block number `at` of N messages of nbytes, with their padding. All end in the same place, so each quadruple takes one
 * decision. */
SHA_FN void load_padded_alike(unsigned N, const struct hli_whole *whole, const uint8_t *const data[], size_t nbytes,
                              unsigned at, __m128i swap, int last_lane, __m128i words[4][4])
{
    const __m128i nbits = nbits_of(whole, nbytes, at, last_lane);

    UNROLLED(4)
    for (unsigned i = 0; i < 4; i++) {
        const size_t offset = 64 * (size_t)at + 16 * i;
        const ptrdiff_t left = (ptrdiff_t)(nbytes - offset);
        if (left >= 16) {
            EACH_MESSAGE(l)
                words[l][i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(data[l] + offset)), swap);
        } else {
            const __m128i one_bit = _mm_loadu_si128((const __m128i *)(hli_one_bit + HLI_ONE_BIT_AT - left));
            const __m128i behind = _mm_shuffle_epi8(one_bit, swap);
            if (left <= 0) {
                EACH_MESSAGE(l)
                    words[l][i] = behind;
            } else if (nbytes < 16) {
                EACH_MESSAGE(l)
                    words[l][i] =
                        _mm_or_si128(_mm_shuffle_epi8((__m128i)hli_load_short(data[l], nbytes), swap), behind);
            } else {
                const __m128i first =
                    _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(hli_last_first + 16 - left)), swap);
                EACH_MESSAGE(l)
                    words[l][i] = _mm_or_si128(
                        _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(data[l] + nbytes - 16)), first), behind);
            }
        }
    }
    EACH_MESSAGE(l)
        words[l][3] = _mm_add_epi32(words[l][3], nbits);
}

#  define LOAD_PADDED(n) \
      SHA_FN void load_padded_x##n(const struct hli_whole *whole, const uint8_t *const data[], const size_t nbytes[], \
                                   unsigned at, __m128i swap, int last_lane, __m128i words[4][4]) \
      { \
          if (n == 1 || whole->is_one_length) \
              load_padded_alike(n, whole, data, nbytes[0], at, swap, last_lane, words); \
          else \
              UNROLLED(1) \
              for (unsigned l = 0; l < n; l++) \
                  load_padded_alike(1, whole, data + l, nbytes[l], at, swap, last_lane, words + l); \
      }
LOAD_PADDED(1)
LOAD_PADDED(2)
LOAD_PADDED(4)

#  define INSTANCE_WHOLE(name, function, n) \
      SHA_TARGET void hli_##name(const struct hli_whole *whole, const uint8_t *const data[], const size_t nbytes[], \
                                 uint8_t *const digests[]) \
      { \
          function(n, load_padded_x##n, whole, data, nbytes, digests); \
      }

#  if HLI_ALG(sha1)
INSTANCE_WHOLE(sha1_whole_sha_x2, sha1_whole_sha, 2)
INSTANCE_WHOLE(sha1_whole_sha_x4, sha1_whole_sha, 4)

INSTANCE(SHA_TARGET, sha1_blocks_sha_plain_x1, sha1_blocks_sha, 1, 1)
INSTANCE(SHA_TARGET, sha1_blocks_sha_plain_x2, sha1_blocks_sha, 2, 1)
INSTANCE(SHA_TARGET, sha1_blocks_sha_plain_x3, sha1_blocks_sha, 3, 1)
INSTANCE(SHA_TARGET, sha1_blocks_sha_x1, sha1_blocks_sha, 1, 0)
INSTANCE(SHA_TARGET, sha1_blocks_sha_x2, sha1_blocks_sha, 2, 0)
INSTANCE(SHA_TARGET, sha1_blocks_sha_x3, sha1_blocks_sha, 3, 0)
INSTANCE(SHA_TARGET, sha1_blocks_sha_x4, sha1_blocks_sha, 4, 0)
#  endif
#  if HLI_ALG(sha256)
INSTANCE_WHOLE(sha256_whole_sha_x1, sha256_whole_sha, 1)
INSTANCE_WHOLE(sha256_whole_sha_x2, sha256_whole_sha, 2)
INSTANCE_WHOLE(sha256_whole_sha_x4, sha256_whole_sha, 4)

INSTANCE(SHA_TARGET, sha256_blocks_sha_x1, sha256_blocks_sha, 1)
INSTANCE(SHA_TARGET, sha256_blocks_sha_x2, sha256_blocks_sha, 2)
INSTANCE(SHA_TARGET, sha256_blocks_sha_x3, sha256_blocks_sha, 3)
INSTANCE(SHA_TARGET, sha256_blocks_sha_x4, sha256_blocks_sha, 4)

#    if HLI_ALG(slh)
INSTANCE_CHAIN(sha256_chain_sha_x2, 2)
INSTANCE_CHAIN(sha256_chain_sha_x4, 4)
#    endif

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
