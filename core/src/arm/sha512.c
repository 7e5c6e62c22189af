/* sha512.c: SHA-512 over Arm's FEAT_SHA512, 1 and 2 messages interleaved.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Instructions: Arm Architecture Reference Manual, section C7.2, SHA512H to SHA512SU1. Two rounds take two
 * instructions: SHA512H gives both T1 of FIPS 180-4 section 6.4.2 (to be added to the old C and D), and SHA512H2 makes
 * the new B and A of them.
 */
#include "../kernels.h"
#if HLI_ARM64 && HLI_ISA(sha512) && HLI_ALG(sha512)
/* The reason is that of ripemd160.c: for two messages gcc 12.2 then makes 967 instructions a block instead of 1,190, a
 * fifth of which are moves. */
#  if !defined(__clang__)
#    pragma GCC optimize("no-schedule-insns")
#  endif
#  include "../words/interleave.h"
#  include "../words/neon_intrinsics.h"

/* FEAT_SHA512 and FEAT_SHA3 come together (Arm Architecture Reference Manual, FEAT_SHA512), and compilers have one name
 * for both. Only instructions of FEAT_SHA512 are used here. */
#  define SHA_FN TARGET_SHA3 HLI_INLINE

/* Words w and w + 1 of message l in the state. */
SHA_FN uint64x2_t load_words(const uint64_t *s, unsigned N, unsigned l, unsigned w)
{
    if (N == 1)
        return vld1q_u64(s + w);
    return vcombine_u64(vld1_u64(s + w * N + l), vld1_u64(s + (w + 1) * N + l));
}

SHA_FN void store_words(uint64_t *s, unsigned N, unsigned l, unsigned w, uint64x2_t x)
{
    if (N == 1) {
        vst1q_u64(s + w, x);
        return;
    }
    vst1q_lane_u64(s + w * N + l, x, 0);
    vst1q_lane_u64(s + (w + 1) * N + l, x, 1);
}

/* The state stays in memory from block to block: with two messages its copies would not fit the registers. */
SHA_FN void sha512_blocks_sha(unsigned N, uint64_t *s, const uint8_t *const msg[], size_t nblocks)
{
    for (size_t offset = 0; nblocks > 0; nblocks--, offset += 128) {
        uint64x2_t v[2][4], w[2][8];
        const uint64_t *constants = hli_sha512_k;

        HLI_NEW_POINTER(constants);
        EACH_MESSAGE(l) {
            UNROLLED(4)
            for (unsigned i = 0; i < 4; i++)
                v[l][i] = load_words(s, N, l, 2 * i);
            UNROLLED(8)
            for (unsigned i = 0; i < 8; i++)
                w[l][i] = vreinterpretq_u64_u8(vrev64q_u8(vld1q_u8(msg[l] + offset + 16 * i)));
        }
        UNROLLED(40)
        for (unsigned g = 0; g < 40; g++) { /* two rounds each; w[l] is a ring of eight pairs of W */
            const uint64x2_t k = vld1q_u64(constants + 2 * g);
            /* The pairs move on by one name: AB becomes CD, and so on; GH becomes the new AB. */
            const unsigned ab = -g & 3, cd = (1 - g) & 3, ef = (2 - g) & 3, gh = (3 - g) & 3;
            EACH_MESSAGE(l) {
                const uint64x2_t wk = vaddq_u64(w[l][g & 7], k);
                const uint64x2_t t1 = vsha512hq_u64(vaddq_u64(vextq_u64(wk, wk, 1), v[l][gh]),
                                                    vextq_u64(v[l][ef], v[l][gh], 1), vextq_u64(v[l][cd], v[l][ef], 1));
                /* The sum comes first, as SHA512H2 overwrites T1 (clang 19, two messages: 100 moves less). */
                const uint64x2_t old_cd = v[l][cd];
                v[l][cd] = vaddq_u64(old_cd, t1);
                v[l][gh] = vsha512h2q_u64(t1, old_cd, v[l][ab]);
                if (g < 32)
                    w[l][g & 7] = vsha512su1q_u64(vsha512su0q_u64(w[l][g & 7], w[l][(g + 1) & 7]), w[l][(g + 7) & 7],
                                                  vextq_u64(w[l][(g + 4) & 7], w[l][(g + 5) & 7], 1));
            }
        }
        EACH_MESSAGE(l) {
            UNROLLED(4)
            for (unsigned i = 0; i < 4; i++)
                store_words(s, N, l, 2 * i, vaddq_u64(load_words(s, N, l, 2 * i), v[l][i]));
        }
    }
}

INSTANCE(TARGET_SHA3, sha512_blocks_sha512_x1, sha512_blocks_sha, 1)
INSTANCE(TARGET_SHA3, sha512_blocks_sha512_x2, sha512_blocks_sha, 2)
#endif
