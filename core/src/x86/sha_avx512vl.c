/* sha_avx512vl.c: SHA-256 over the SHA instructions, in 32 XMM registers.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Three and four messages need more than 16 registers. The kernel for one message is for a choice that is restricted to
 * this set.
 */
#include "../kernels.h"
#if HLI_X86_64 && HLI_ISA(sha_avx512vl) && HLI_ALG(sha256)
#  include <immintrin.h>
#  include "../words/interleave.h"
#  include "../words/padded.h"

#  define SHA_TARGET       __attribute__((target("sha,avx512f,avx512vl,avx512bw,avx2,bmi2")))
#  define SHA_32_REGISTERS 1
#  include "sha.inc.h"

SHA_FN void load_padded(const struct hli_whole *whole, const uint8_t *const data[], const size_t nbytes[], unsigned at,
                        __m128i swap, int last_lane, __m128i w[4][4])
{
    enum { N = 4 };
    const size_t offset = 64 * (size_t)at;

    if (whole->is_one_length) { /* the same masks for all messages */
        const ptrdiff_t left = (ptrdiff_t)(nbytes[0] - offset);
        const __mmask64 kept = PADDED_KEPT(left);
        const __m128i nbits = nbits_of(whole, nbytes[0], at, last_lane);
        UNROLLED(4)
        for (unsigned i = 0; i < 4; i++) {
            const __mmask16 kept16 = (__mmask16)(kept >> 16 * i);
            const __m128i behind = _mm_loadu_si128((const __m128i *)PADDED_BEHIND(left) + i);
            EACH_MESSAGE(l)
                w[l][i] = _mm_shuffle_epi8(padded16(data[l], offset + 16 * i, kept16, behind), swap);
        }
        EACH_MESSAGE(l)
            w[l][3] = _mm_add_epi32(w[l][3], nbits);
    } else {
        __m512i swap4 = _mm512_broadcast_i32x4(swap);
        /* Made anew for each block: gcc 11 would keep it in a register across vzeroupper, which it does not know to
         * clear registers. */
        __asm__ volatile("" : "+v"(swap4));
        EACH_MESSAGE(l) {
            const ptrdiff_t left = (ptrdiff_t)(nbytes[l] - offset);
            const __m512i x = _mm512_shuffle_epi8(
                padded64(data[l], offset, PADDED_KEPT(left), _mm512_loadu_si512(PADDED_BEHIND(left))), swap4);
            w[l][0] = _mm512_castsi512_si128(x);
            w[l][1] = _mm512_extracti32x4_epi32(x, 1);
            w[l][2] = _mm512_extracti32x4_epi32(x, 2);
            w[l][3] = _mm_add_epi32(_mm512_extracti32x4_epi32(x, 3), nbits_of(whole, nbytes[l], at, last_lane));
        }
        /* The SHA instructions have no VEX form: after wide registers they would keep the upper bits, slowly. */
        _mm256_zeroupper();
    }
}

SHA_TARGET void hli_sha256_whole_sha_avx512vl_x4(const struct hli_whole *whole, const uint8_t *const data[],
                                                 const size_t nbytes[], uint8_t *const digests[])
{
    sha256_whole_sha(4, load_padded, whole, data, nbytes, digests);
}

INSTANCE(SHA_TARGET, sha256_blocks_sha_avx512vl_x3, sha256_blocks_sha, 3)
INSTANCE(SHA_TARGET, sha256_blocks_sha_avx512vl_x4, sha256_blocks_sha, 4)
#  if HLI_ALG(slh)
INSTANCE_CHAIN(sha256_chain_sha_avx512vl_x4, 4)
#  endif
#endif
