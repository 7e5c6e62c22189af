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

/* Four whole messages: their blocks come by masked loads, and the digests leave from registers. The state of a message
 * is never in memory. */
SHA_TARGET void hli_sha256_whole_sha_avx512vl_x4(const void *begin, const uint8_t *const data[],
                                                 const struct hli_whole *whole, unsigned nblocks, const void *schedule,
                                                 size_t digest_nbytes, uint8_t *const digests[])
{
    enum { N = 4 };
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m128i reverse = _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f);
    const __mmask8 high = (__mmask8)((1u << (digest_nbytes / 4 - 4)) - 1);
    __m128i abef0[N], cdgh0[N], abef[N], cdgh[N];

    sha256_load(1, begin, abef0, cdgh0);
    EACH_MESSAGE(l) {
        abef[l] = abef0[l] = abef0[0];
        cdgh[l] = cdgh0[l] = cdgh0[0];
    }
    for (unsigned b = 0; b < nblocks; b++) {
        __m128i w[N][4];

        EACH_MESSAGE(l) {
            UNROLLED(4)
            for (unsigned i = 0; i < 4; i++) {
                /* A number, not a pointer: data may be NULL or end before this address; nothing is loaded then. */
                const void *from = (const void *)((uintptr_t)data[l] + 64 * (size_t)b + 16 * i);
                const __m128i rest = _mm_load_si128((const __m128i *)(whole->rest + 64 * (size_t)b + 16 * i));
                const __mmask16 keep = (__mmask16)(whole->keep[b] >> 16 * i);
                w[l][i] = _mm_shuffle_epi8(_mm_mask_loadu_epi8(rest, keep, from), swap);
            }
        }
        sha256_64_rounds(N, abef, cdgh, w);
        EACH_MESSAGE(l) {
            abef0[l] = abef[l] = _mm_add_epi32(abef[l], abef0[l]);
            cdgh0[l] = cdgh[l] = _mm_add_epi32(cdgh[l], cdgh0[l]);
        }
    }
    if (schedule != NULL) {
        sha256_64_rounds_scheduled(N, abef, cdgh, schedule);
        EACH_MESSAGE(l) {
            abef[l] = _mm_add_epi32(abef[l], abef0[l]);
            cdgh[l] = _mm_add_epi32(cdgh[l], cdgh0[l]);
        }
    }
    EACH_MESSAGE(l) {
        const __m128i dcba = _mm_unpackhi_epi64(cdgh[l], abef[l]), hgfe = _mm_unpacklo_epi64(cdgh[l], abef[l]);
        _mm_storeu_si128((__m128i *)digests[l], _mm_shuffle_epi8(dcba, reverse));
        _mm_mask_storeu_epi32(digests[l] + 16, high, _mm_shuffle_epi8(hgfe, reverse));
    }
}

INSTANCE(SHA_TARGET, sha256_blocks_sha_avx512vl_x1, sha256_blocks_sha, 1)
INSTANCE(SHA_TARGET, sha256_blocks_sha_avx512vl_x3, sha256_blocks_sha, 3)
INSTANCE(SHA_TARGET, sha256_blocks_sha_avx512vl_x4, sha256_blocks_sha, 4)
#endif
