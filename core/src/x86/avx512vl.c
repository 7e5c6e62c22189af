/* avx512vl.c: the lane kernels of words/avx512vl.lv.h; SHA-512 of one message: like AVX2, with vector rotations and
 * vector functions of three words; and padding by masked loads of 32 bytes: a vector of 512 bits slows the clock of
 * some CPUs down, whatever kernel comes next.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86 && HLI_ISA(avx512vl)
#  include "../words/avx512vl.lv.h"
#  include "../alg/kernels.inc.h"
#  if HLI_X86_64
#    define SV_RORX  1
#    define SV_VPROL 1
#    include "single.inc.h"
#  endif

/* Pads one message: writes its last `nchunks` (a literal) times 64 bytes, in halves. */
PADDED_FN void pad_chunks(unsigned nchunks, int length_is_128_bits, int big_endian, const uint8_t *data, size_t nrest,
                          uint64_t nbytes, uint8_t *out)
{
    const __m256i one_bit = _mm256_set1_epi8((char)0x80);
    const uint64_t high = nbytes >> 61, low = nbytes << 3;
    const unsigned nhalves = 2 * nchunks;

#  pragma GCC unroll 8
    for (unsigned h = 0; h < nhalves; h++) {
        const size_t at = 32 * (size_t)h, n = nrest > at ? nrest - at : 0, end = nrest + 1 > at ? nrest + 1 - at : 0;
        const __mmask32 before = (__mmask32)lowest(n), upto = (__mmask32)lowest(end);
        /* A number, not a pointer: data may be NULL or end before this address, and then nothing is loaded. */
        const void *from = (const void *)((uintptr_t)data + at);
        __m256i x = _mm256_mask_mov_epi8(_mm256_maskz_loadu_epi8(before, from), before ^ upto, one_bit);

        if (h == nhalves - 1) {
            x = _mm256_mask_set1_epi64(x, 0x8, (long long)(big_endian ? __builtin_bswap64(low) : low));
            if (length_is_128_bits)
                x = _mm256_mask_set1_epi64(x, 0x4, (long long)__builtin_bswap64(high));
        }
        _mm256_store_si256((__m256i *)(out + at), x);
    }
}

#  include "pad.inc.h"
#endif
