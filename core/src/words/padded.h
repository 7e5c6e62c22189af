/* padded.h: short messages and their padding, from memory into registers of AVX-512.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_PADDED_H
#define HLI_PADDED_H

#include <immintrin.h>

#include "../edges.h"

#define PADDED_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx2,bmi2")))
#define PADDED_FN     PADDED_TARGET HLI_INLINE

/* A mask of the lowest n bits; all bits if n >= 64. */
PADDED_FN __mmask64 lowest(size_t n)
{
#if HLI_X86_64
    return _bzhi_u64(~UINT64_C(0), (unsigned)n); /* takes n modulo 256; n is at most 247 here */
#else
    return n < 64 ? (UINT64_C(1) << n) - 1 : ~UINT64_C(0);
#endif
}

/* How a message's end lies in 64 or 32 bytes of it: which bytes are the message's, and the bytes behind: the one bit
 * and zeros, from a table that is loaded from where the bit falls behind the end. `left`: length of the message from
 * these bytes on; negative if it ends before. */
#define PADDED_KEPT(left)   lowest((left) > 0 ? (size_t)(left) : 0)
/* The first for messages of any length: `lowest` takes it modulo 256. */
#define PADDED_KEPT_OF_LONG(left) PADDED_KEPT((left) < 64 ? (left) : 64)
#define PADDED_BEHIND(left) ((const void *)(hli_one_bit + HLI_ONE_BIT_AT - (left)))

/* A masked load touches nothing behind the message. Its address is a number, not a pointer: data may be NULL or end
 * before it. */
PADDED_FN __m512i padded64(const uint8_t *data, size_t offset, __mmask64 kept, __m512i behind)
{
    return _mm512_mask_loadu_epi8(behind, kept, (const void *)((uintptr_t)data + offset));
}

PADDED_FN __m256i padded32(const uint8_t *data, size_t offset, __mmask32 kept, __m256i behind)
{
    return _mm256_mask_loadu_epi8(behind, kept, (const void *)((uintptr_t)data + offset));
}

PADDED_FN __m128i padded16(const uint8_t *data, size_t offset, __mmask16 kept, __m128i behind)
{
    return _mm_mask_loadu_epi8(behind, kept, (const void *)((uintptr_t)data + offset));
}

#endif
