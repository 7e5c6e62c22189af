/* sha.c: SHA-1 and SHA-256 over the x86 SHA instructions, 1 to 4 messages interleaved.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A single message leaves the SHA unit waiting for its own last result (sha256rnds2 takes 4 cycles, and one starts
 * every one or two). Interleaving the rounds of several messages fills the gaps. Instructions: Intel SDM volume 2B,
 * SHA1RNDS4 to SHA256RNDS2.
 */
#include "../kernels.h"
#if HLI_X86
#  include <immintrin.h>
#  include "../interleave.h"

#  define SHA_TARGET __attribute__((target("sha,ssse3,sse4.1")))
#  define SHA_FN     SHA_TARGET HLI_INLINE

/* Words w .. w + 3 of message l in the state, the first in the lowest lane. The state of a single message is loaded and
 * stored whole: a load of 16 bytes right after four stores of 4 would wait for the stores to leave the store buffer. */
SHA_FN __m128i load_words(const uint32_t *s, unsigned N, unsigned l, unsigned w)
{
    if (N == 1)
        return _mm_loadu_si128((const __m128i *)(s + w));
    return _mm_set_epi32((int)s[(w + 3) * N + l], (int)s[(w + 2) * N + l], (int)s[(w + 1) * N + l], (int)s[w * N + l]);
}

SHA_FN void store_words(uint32_t *s, unsigned N, unsigned l, unsigned w, __m128i x)
{
    if (N == 1) {
        _mm_storeu_si128((__m128i *)(s + w), x);
        return;
    }
    s[w * N + l] = (uint32_t)_mm_cvtsi128_si32(x);
    s[(w + 1) * N + l] = (uint32_t)_mm_extract_epi32(x, 1);
    s[(w + 2) * N + l] = (uint32_t)_mm_extract_epi32(x, 2);
    s[(w + 3) * N + l] = (uint32_t)_mm_extract_epi32(x, 3);
}

/* Makes the compiler treat the new copy as another value. It then moves the copy and works on the original in place,
 * and the chain from block to block waits for no move (2% with one message). */
#  define KEPT_COPY(x) __asm__("" : "+x"(x))

/* Prefetches the message's next lines while this block is hashed. One stream advances too slowly for the hardware to
 * run ahead of it across pages (one message of 256 MiB on Granite Rapids: 1.11 -> 1.78 GB/s; 4096 bytes are no better).
 * A prefetch beyond the end of the message does no harm, as it does not fault. */
#  define PREFETCH(p) _mm_prefetch((const char *)((uintptr_t)(p) + 512), _MM_HINT_T0)

#  define REVERSED(x) _mm_shuffle_epi32(x, 0x1b)

/* ---- SHA-256: the instructions keep the state as ABEF and CDGH, the first letter in the highest lane. ---- */

SHA_FN void sha256_load(unsigned N, const uint32_t *s, __m128i abef[4], __m128i cdgh[4])
{
    EACH_MESSAGE(l) {
        const __m128i dcba = REVERSED(load_words(s, N, l, 0)), hgfe = REVERSED(load_words(s, N, l, 4));
        abef[l] = _mm_unpackhi_epi64(hgfe, dcba);
        cdgh[l] = _mm_unpacklo_epi64(hgfe, dcba);
    }
}

SHA_FN void sha256_store(unsigned N, uint32_t *s, const __m128i abef[4], const __m128i cdgh[4])
{
    EACH_MESSAGE(l) {
        store_words(s, N, l, 0, REVERSED(_mm_unpackhi_epi64(cdgh[l], abef[l])));
        store_words(s, N, l, 4, REVERSED(_mm_unpacklo_epi64(cdgh[l], abef[l])));
    }
}

SHA_FN void sha256_blocks_sha(unsigned N, uint32_t *s, const uint8_t *const msg[], size_t nblocks)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i abef[4], cdgh[4];

    sha256_load(N, s, abef, cdgh);
    for (size_t offset = 0; nblocks > 0; nblocks--, offset += 64) {
        __m128i w[4][4], abef0[4], cdgh0[4];

        EACH_MESSAGE(l) {
            PREFETCH(msg[l] + offset);
            abef0[l] = abef[l];
            cdgh0[l] = cdgh[l];
            KEPT_COPY(abef0[l]);
            KEPT_COPY(cdgh0[l]);
            UNROLLED(4)
            for (unsigned i = 0; i < 4; i++)
                w[l][i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(msg[l] + offset + 16 * i)), swap);
        }
        UNROLLED(16)
        for (unsigned g = 0; g < 16; g++) { /* four rounds each; w[l] is a ring of four quadruples of W */
            const __m128i k = _mm_load_si128((const __m128i *)(hli_sha256_k + 4 * g));
            const unsigned i0 = g & 3, i1 = (g + 1) & 3, i2 = (g + 2) & 3, i3 = (g + 3) & 3;
            EACH_MESSAGE(l) {
                const __m128i wk = _mm_add_epi32(w[l][i0], k);
                cdgh[l] = _mm_sha256rnds2_epu32(cdgh[l], abef[l], wk);
                abef[l] = _mm_sha256rnds2_epu32(abef[l], cdgh[l], _mm_shuffle_epi32(wk, 0x0e));
                /* After the rounds, not before: with N = 4, gcc 12 and Zen 4 this order gives 4.69 GB/s, the other
                 * 4.28. */
                if (g < 12)
                    w[l][i0] = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w[l][i0], w[l][i1]),
                                                                  _mm_alignr_epi8(w[l][i3], w[l][i2], 4)),
                                                    w[l][i3]);
            }
        }
        EACH_MESSAGE(l) {
            abef[l] = _mm_add_epi32(abef[l], abef0[l]);
            cdgh[l] = _mm_add_epi32(cdgh[l], cdgh0[l]);
        }
    }
    sha256_store(N, s, abef, cdgh);
}

/* One block, the same in all messages. The schedule has its W + K. */
SHA_FN void sha256_scheduled_sha(unsigned N, uint32_t *s, const uint32_t *schedule)
{
    __m128i abef[4], cdgh[4], abef0[4], cdgh0[4];

    sha256_load(N, s, abef0, cdgh0);
    EACH_MESSAGE(l) {
        abef[l] = abef0[l];
        cdgh[l] = cdgh0[l];
    }
    UNROLLED(16)
    for (unsigned g = 0; g < 16; g++) {
        const __m128i wk = _mm_loadu_si128((const __m128i *)(schedule + 4 * g)), wk2 = _mm_shuffle_epi32(wk, 0x0e);
        EACH_MESSAGE(l) {
            cdgh[l] = _mm_sha256rnds2_epu32(cdgh[l], abef[l], wk);
            abef[l] = _mm_sha256rnds2_epu32(abef[l], cdgh[l], wk2);
        }
    }
    EACH_MESSAGE(l) {
        abef[l] = _mm_add_epi32(abef[l], abef0[l]);
        cdgh[l] = _mm_add_epi32(cdgh[l], cdgh0[l]);
    }
    sha256_store(N, s, abef, cdgh);
}

/* ---- SHA-1: ABCD, the first letter in the highest lane, and E in the highest lane of its own register. ---- */

/* Four rounds of f[phase]. The instruction needs a literal, even when nothing is optimised. */
SHA_FN __m128i sha1_four_rounds(__m128i abcd, __m128i e_and_w, unsigned phase)
{
    switch (phase) {
    case 0: return _mm_sha1rnds4_epu32(abcd, e_and_w, 0);
    case 1: return _mm_sha1rnds4_epu32(abcd, e_and_w, 1);
    case 2: return _mm_sha1rnds4_epu32(abcd, e_and_w, 2);
    default: return _mm_sha1rnds4_epu32(abcd, e_and_w, 3);
    }
}

/* Quadruple q >= 4 of W; w is a ring of eight. Computed by the SHA instructions. `plain` does without them from
 * W[32] on, where the recurrence of the standard, applied to itself (rotations add up, and equal terms cancel), gives
 *   W[t] = (W[t - 6] ^ W[t - 16] ^ W[t - 28] ^ W[t - 32]) <<< 2,
 * which needs no word of its own quadruple. */
SHA_FN __m128i sha1_quadruple(const __m128i w[8], unsigned q, int plain)
{
    const __m128i q1 = w[(q - 1) & 7], q2 = w[(q - 2) & 7], q4 = w[(q - 4) & 7];

    if (q < 8 || !plain)
        return _mm_sha1msg2_epu32(_mm_xor_si128(_mm_sha1msg1_epu32(q4, w[(q - 3) & 7]), q2), q1);
    const __m128i x = _mm_xor_si128(_mm_xor_si128(_mm_xor_si128(w[q & 7], w[(q - 7) & 7]), q4),
                                    _mm_alignr_epi8(q2, q1, 8));
    return _mm_or_si128(_mm_slli_epi32(x, 2), _mm_srli_epi32(x, 30));
}

/* `plain`: the schedule by plain operations as far as possible. On Redwood Cove a sha1msg2 holds up all other
 * instructions for 4 cycles even if nothing depends on it (measured: its time adds to that of nops, as with microcode),
 * and its result takes 6 cycles: sixteen are 66 of the 108 cycles of a block. One message takes 96 cycles
 * a block; the chain of sha1nexte (5 cycles) and sha1rnds4 (4) alone takes 97 in a loop of its own. Zen runs the
 * instructions at full speed. There `plain` would cost 4 more operations a quadruple where several messages leave no
 * gaps. */
SHA_FN void sha1_blocks_sha(unsigned N, int plain, uint32_t *s, const uint8_t *const msg[], size_t nblocks)
{
    const __m128i swap = _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f);
    __m128i abcd[4], e[4];

    EACH_MESSAGE(l) {
        abcd[l] = REVERSED(load_words(s, N, l, 0));
        e[l] = _mm_set_epi32((int)s[4 * N + l], 0, 0, 0);
    }
    for (size_t offset = 0; nblocks > 0; nblocks--, offset += 64) {
        __m128i w[4][8], abcd0[4], e0[4], ew[4];

        EACH_MESSAGE(l) {
            PREFETCH(msg[l] + offset);
            UNROLLED(4)
            for (unsigned i = 0; i < 4; i++)
                w[l][i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(msg[l] + offset + 16 * i)), swap);
            abcd0[l] = abcd[l];
            e0[l] = e[l];
            KEPT_COPY(abcd0[l]);
            /* E is a plain word here. Later it is A of four rounds ago, and sha1nexte rotates it. */
            ew[l] = _mm_add_epi32(e[l], w[l][0]);
        }
        UNROLLED(20)
        for (unsigned g = 0; g < 20; g++) { /* four rounds each */
            EACH_MESSAGE(l) {
                e[l] = abcd[l];
                KEPT_COPY(e[l]);
                abcd[l] = sha1_four_rounds(abcd[l], ew[l], g / 5);
                if (g >= 2 && g < 18)
                    w[l][(g + 2) & 7] = sha1_quadruple(w[l], g + 2, plain);
                if (g < 19)
                    ew[l] = _mm_sha1nexte_epu32(e[l], w[l][(g + 1) & 7]);
            }
        }
        EACH_MESSAGE(l) {
            e[l] = _mm_sha1nexte_epu32(e[l], e0[l]);
            abcd[l] = _mm_add_epi32(abcd[l], abcd0[l]);
        }
    }
    EACH_MESSAGE(l) {
        store_words(s, N, l, 0, REVERSED(abcd[l]));
        s[4 * N + l] = (uint32_t)_mm_extract_epi32(e[l], 3);
    }
}

INSTANCE(SHA_TARGET, sha1_blocks_sha_plain_x1, sha1_blocks_sha, 1, 1)
INSTANCE(SHA_TARGET, sha1_blocks_sha_plain_x2, sha1_blocks_sha, 2, 1)
INSTANCE(SHA_TARGET, sha1_blocks_sha_plain_x3, sha1_blocks_sha, 3, 1)
INSTANCE(SHA_TARGET, sha1_blocks_sha_plain_x4, sha1_blocks_sha, 4, 1)
INSTANCE(SHA_TARGET, sha1_blocks_sha_x2, sha1_blocks_sha, 2, 0)
INSTANCE(SHA_TARGET, sha1_blocks_sha_x3, sha1_blocks_sha, 3, 0)
INSTANCE(SHA_TARGET, sha1_blocks_sha_x4, sha1_blocks_sha, 4, 0)
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
#endif
