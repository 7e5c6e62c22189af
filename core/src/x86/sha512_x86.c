/* sha512_x86.c: SHA-512 over the x86 SHA-512 instructions, 1 and 2 messages interleaved.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Instructions: Intel SDM volume 2C, VSHA512MSG1 to VSHA512RNDS2. They are those of sha.inc.h for words of 64 bits: two
 * rounds take one instruction, whose state is ABEF and CDGH, the first letter in the highest lane; four words of the
 * message schedule take two. There is no kernel for 32-bit code, which has 8 registers.
 *
 * gcc 14, clang 17 and binutils 2.41 are the first that know the instructions, so they stand here as bytes: every build
 * has these kernels. Their operands are in fixed registers. The states are in ymm0 to ymm3, so that no move is in the
 * chain from round to round; a move of the schedule costs next to nothing there (sha.inc.h).
 */
#include "../kernels.h"
#if HLI_X86_64 && HLI_ISA(sha512) && HLI_ALG(sha512)
#  include <immintrin.h>
#  include "../words/interleave.h"

#  define SHA_TARGET __attribute__((target("avx2")))
#  define SHA_FN     SHA_TARGET HLI_INLINE

#  define RNDS2(to, from, bytes) \
      do { \
          register __m256i new_abef __asm__(to) = cdgh, old_abef __asm__(from) = abef; \
          register __m128i two_wk __asm__("xmm4") = wk; \
          __asm__(".byte 0xc4, 0xe2, " bytes : "+x"(new_abef) : "x"(old_abef), "x"(two_wk)); \
          return new_abef; \
      } while (0)

/* The ABEF after two rounds, with their W + K; the ABEF before is the new CDGH. Of message l CDGH is in register 2l,
 * ABEF in the next one; `odd`: the other way round. */
SHA_FN __m256i rnds2(unsigned l, unsigned odd, __m256i cdgh, __m256i abef, __m128i wk)
{
    switch (2 * l + odd) {
    case 0: RNDS2("ymm0", "ymm1", "0x77, 0xcb, 0xc4"); /* vsha512rnds2 ymm0, ymm1, xmm4 */
    case 1: RNDS2("ymm1", "ymm0", "0x7f, 0xcb, 0xcc"); /* vsha512rnds2 ymm1, ymm0, xmm4 */
    case 2: RNDS2("ymm2", "ymm3", "0x67, 0xcb, 0xd4"); /* vsha512rnds2 ymm2, ymm3, xmm4 */
    default: RNDS2("ymm3", "ymm2", "0x6f, 0xcb, 0xdc"); /* vsha512rnds2 ymm3, ymm2, xmm4 */
    }
}

/* vsha512msg1 ymm5, xmm6: W[t - 16] + sigma0(W[t - 15]) for t to t + 3; the word after these four is in `next`. */
SHA_FN __m256i msg1(__m256i w, __m128i next)
{
    register __m256i sum __asm__("ymm5") = w;
    register __m128i after __asm__("xmm6") = next;

    __asm__(".byte 0xc4, 0xe2, 0x7f, 0xcc, 0xee" : "+x"(sum) : "x"(after));
    return sum;
}

/* vsha512msg2 ymm5, ymm6: adds sigma1(W[t - 2]), first of the words before, then of the new ones. */
SHA_FN __m256i msg2(__m256i w, __m256i before)
{
    register __m256i sum __asm__("ymm5") = w, last __asm__("ymm6") = before;

    __asm__(".byte 0xc4, 0xe2, 0x7f, 0xcd, 0xee" : "+x"(sum) : "x"(last));
    return sum;
}

#  define REVERSED(x) _mm256_permute4x64_epi64(x, 0x1b)

/* Words w to w + 3 of message l in the state, the first in the lowest lane. */
SHA_FN __m256i load_words(const uint64_t *s, unsigned N, unsigned l, unsigned w)
{
    if (N == 1)
        return _mm256_loadu_si256((const __m256i *)(s + w));
    return _mm256_set_epi64x((long long)s[(w + 3) * N + l], (long long)s[(w + 2) * N + l],
                             (long long)s[(w + 1) * N + l], (long long)s[w * N + l]);
}

SHA_FN void store_words(uint64_t *s, unsigned N, unsigned l, unsigned w, __m256i x)
{
    uint64_t words[4];

    _mm256_storeu_si256((__m256i *)(N == 1 ? s + w : words), x);
    for (unsigned i = 0; N > 1 && i < 4; i++)
        s[(w + i) * N + l] = words[i];
}

SHA_FN void sha512_blocks_sha(unsigned N, uint64_t *s, const uint8_t *const msg[], size_t nblocks)
{
    const __m256i swap = _mm256_setr_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f, 0x0001020304050607,
                                            0x08090a0b0c0d0e0f);
    __m256i abef[2], cdgh[2];

    EACH_MESSAGE(l) {
        const __m256i dcba = REVERSED(load_words(s, N, l, 0)), hgfe = REVERSED(load_words(s, N, l, 4));
        abef[l] = _mm256_permute2x128_si256(hgfe, dcba, 0x31);
        cdgh[l] = _mm256_permute2x128_si256(hgfe, dcba, 0x20);
    }
    for (size_t offset = 0; nblocks > 0; nblocks--, offset += 128) {
        __m256i abef0[2], cdgh0[2], w[2][4];

        EACH_MESSAGE(l) {
            for (unsigned i = 0; i < 2; i++) /* as in sha.inc.h, which says why */
                _mm_prefetch((const char *)((uintptr_t)(msg[l] + offset) + 512 + 64 * i), _MM_HINT_T0);
            abef0[l] = abef[l];
            cdgh0[l] = cdgh[l];
            UNROLLED(4)
            for (unsigned i = 0; i < 4; i++)
                w[l][i] = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)(msg[l] + offset) + i), swap);
        }
        UNROLLED(20)
        for (unsigned g = 0; g < 20; g++) { /* four rounds each; w[l] is a ring of four quadruples of W */
            EACH_MESSAGE(l) {
                __m256i *const w0 = &w[l][g & 3];
                const __m256i w1 = w[l][(g + 1) & 3], w2 = w[l][(g + 2) & 3], w3 = w[l][(g + 3) & 3];
                const __m256i wk = _mm256_add_epi64(*w0, _mm256_loadu_si256((const __m256i *)(hli_sha512_k + 4 * g)));
                cdgh[l] = rnds2(l, 0, cdgh[l], abef[l], _mm256_castsi256_si128(wk));
                abef[l] = rnds2(l, 1, abef[l], cdgh[l], _mm256_extracti128_si256(wk, 1));
                if (g < 16) { /* W[t - 7]: the upper three words of w2 and the lowest of w3 */
                    const __m256i w7 = _mm256_permute4x64_epi64(_mm256_blend_epi32(w2, w3, 0x03), 0x39);
                    *w0 = msg2(_mm256_add_epi64(msg1(*w0, _mm256_castsi256_si128(w1)), w7), w3);
                }
            }
        }
        EACH_MESSAGE(l) {
            abef[l] = _mm256_add_epi64(abef[l], abef0[l]);
            cdgh[l] = _mm256_add_epi64(cdgh[l], cdgh0[l]);
        }
    }
    EACH_MESSAGE(l) {
        store_words(s, N, l, 0, REVERSED(_mm256_permute2x128_si256(cdgh[l], abef[l], 0x31)));
        store_words(s, N, l, 4, REVERSED(_mm256_permute2x128_si256(cdgh[l], abef[l], 0x20)));
    }
}

INSTANCE(SHA_TARGET, sha512_blocks_sha512_x1, sha512_blocks_sha, 1)
INSTANCE(SHA_TARGET, sha512_blocks_sha512_x2, sha512_blocks_sha, 2)
#endif
