/* avx512.c: the lane kernels of words/avx512.lv.h, and their edges: padding by masked loads, digests by masked stores.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if HLI_X86
#  include "../words/avx512.lv.h"
#  if HLI_ISA(avx512)
#    include "../alg/kernels.inc.h"

/* Pads one message: writes its last `nchunks` (a literal) times 64 bytes. The rest comes by a load that touches nothing
 * behind it; the one bit and the length are set in the register; one store. (Several partial stores would hold up the
 * kernel's load of the whole.) */
PADDED_FN void pad_chunks(unsigned nchunks, int length_is_128_bits, int big_endian, const uint8_t *data, size_t nrest,
                        uint64_t nbytes, uint8_t *out)
{
    const __m512i one_bit = _mm512_set1_epi8((char)0x80);
    const uint64_t high = nbytes >> 61, low = nbytes << 3;

#  pragma GCC unroll 4
    for (unsigned c = 0; c < nchunks; c++) {
        const size_t at = 64 * (size_t)c, n = nrest > at ? nrest - at : 0, end = nrest + 1 > at ? nrest + 1 - at : 0;
        const __mmask64 before = lowest(n), upto = lowest(end);
        /* A number, not a pointer: data may be NULL or end before this address, and then nothing is loaded. */
        const void *from = (const void *)((uintptr_t)data + at);
        __m512i x = _mm512_mask_mov_epi8(_mm512_maskz_loadu_epi8(before, from), before ^ upto, one_bit);

        if (c == nchunks - 1) {
            x = _mm512_mask_set1_epi64(x, 0x80, (long long)(big_endian ? __builtin_bswap64(low) : low));
            if (length_is_128_bits)
                x = _mm512_mask_set1_epi64(x, 0x40, (long long)__builtin_bswap64(high));
        }
        _mm512_store_si512(out + at, x);
    }
}

#  include "pad.inc.h"
#  include "digests.inc.h"
#  endif

#  if HLI_X86_64
PADDED_TARGET void hli_clear_avx512(void)
{
#    define ZERO(n) "vpxord %%xmm" #n ", %%xmm" #n ", %%xmm" #n "\n\t" /* clears all bits of zmm */
    hli_clear_avx();
    __asm__ volatile(ZERO(16) ZERO(17) ZERO(18) ZERO(19) ZERO(20) ZERO(21) ZERO(22) ZERO(23) ZERO(24) ZERO(25) ZERO(26)
                     ZERO(27) ZERO(28) ZERO(29) ZERO(30) ZERO(31)
                     :
                     :
                     : "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",
                       "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31");
}
#  endif
#endif
