/* sha_armv8.c: SHA-1 and SHA-256 over Arm's FEAT_SHA1 and FEAT_SHA256, 1 to 3 messages interleaved.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A single message leaves the unit waiting for its own last result: an instruction takes 4 cycles, but one can start
 * every cycle. Instructions: Arm Architecture Reference Manual, section C7.2, SHA1C to SHA256SU1.
 */
#include "../kernels.h"
#if HLI_ARM64 && HLI_ISA(sha)
#  include "../words/interleave.h"
#  include "../words/neon_intrinsics.h"

#  define SHA_FN TARGET_SHA2 HLI_INLINE

/* Words w .. w + 3 of message l in the state. */
SHA_FN uint32x4_t load_words(const uint32_t *s, unsigned N, unsigned l, unsigned w)
{
    if (N == 1)
        return vld1q_u32(s + w);
    uint32x4_t x = vdupq_n_u32(s[w * N + l]);
    x = vld1q_lane_u32(s + (w + 1) * N + l, x, 1);
    x = vld1q_lane_u32(s + (w + 2) * N + l, x, 2);
    return vld1q_lane_u32(s + (w + 3) * N + l, x, 3);
}

SHA_FN void store_words(uint32_t *s, unsigned N, unsigned l, unsigned w, uint32x4_t x)
{
    if (N == 1) {
        vst1q_u32(s + w, x);
        return;
    }
    vst1q_lane_u32(s + w * N + l, x, 0);
    vst1q_lane_u32(s + (w + 1) * N + l, x, 1);
    vst1q_lane_u32(s + (w + 2) * N + l, x, 2);
    vst1q_lane_u32(s + (w + 3) * N + l, x, 3);
}

SHA_FN uint32x4_t message_words(const uint8_t *p)
{
    return vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(p)));
}

SHA_FN void sha256_blocks_sha(unsigned N, uint32_t *s, const uint8_t *const msg[], size_t nblocks)
{
    uint32x4_t abcd[3], efgh[3];

    EACH_MESSAGE(l) {
        abcd[l] = load_words(s, N, l, 0);
        efgh[l] = load_words(s, N, l, 4);
    }
    for (size_t offset = 0; nblocks > 0; nblocks--, offset += 64) {
        uint32x4_t w[3][4], abcd0[3], efgh0[3];
        const uint32_t *constants = hli_sha256_k;

        HLI_NEW_POINTER(constants);
        EACH_MESSAGE(l) {
            abcd0[l] = abcd[l];
            efgh0[l] = efgh[l];
            UNROLLED(4)
            for (unsigned i = 0; i < 4; i++)
                w[l][i] = message_words(msg[l] + offset + 16 * i);
        }
        UNROLLED(16)
        for (unsigned g = 0; g < 16; g++) { /* four rounds each; w[l] is a ring of four quadruples of W */
            const uint32x4_t k = vld1q_u32(constants + 4 * g);
            const unsigned i0 = g & 3, i1 = (g + 1) & 3, i2 = (g + 2) & 3, i3 = (g + 3) & 3;
            EACH_MESSAGE(l) {
                const uint32x4_t wk = vaddq_u32(w[l][i0], k), before = abcd[l];
                abcd[l] = vsha256hq_u32(abcd[l], efgh[l], wk);
                efgh[l] = vsha256h2q_u32(efgh[l], before, wk);
                if (g < 12)
                    w[l][i0] = vsha256su1q_u32(vsha256su0q_u32(w[l][i0], w[l][i1]), w[l][i2], w[l][i3]);
            }
        }
        EACH_MESSAGE(l) {
            abcd[l] = vaddq_u32(abcd[l], abcd0[l]);
            efgh[l] = vaddq_u32(efgh[l], efgh0[l]);
        }
    }
    EACH_MESSAGE(l) {
        store_words(s, N, l, 0, abcd[l]);
        store_words(s, N, l, 4, efgh[l]);
    }
}

/* Four rounds of f[phase]. */
SHA_FN uint32x4_t sha1_four_rounds(uint32x4_t abcd, uint32_t e, uint32x4_t wk, unsigned phase)
{
    switch (phase) {
    case 0: return vsha1cq_u32(abcd, e, wk);
    case 2: return vsha1mq_u32(abcd, e, wk);
    default: return vsha1pq_u32(abcd, e, wk);
    }
}

SHA_FN void sha1_blocks_sha(unsigned N, uint32_t *s, const uint8_t *const msg[], size_t nblocks)
{
    uint32x4_t abcd[3];
    uint32_t e[3];

    EACH_MESSAGE(l) {
        abcd[l] = load_words(s, N, l, 0);
        e[l] = s[4 * N + l];
    }
    for (size_t offset = 0; nblocks > 0; nblocks--, offset += 64) {
        uint32x4_t w[3][4], abcd0[3];
        uint32_t e0[3];

        EACH_MESSAGE(l) {
            abcd0[l] = abcd[l];
            e0[l] = e[l];
            UNROLLED(4)
            for (unsigned i = 0; i < 4; i++)
                w[l][i] = message_words(msg[l] + offset + 16 * i);
        }
        UNROLLED(20)
        for (unsigned g = 0; g < 20; g++) { /* four rounds each; w[l] is a ring of four quadruples of W */
            const uint32x4_t k = vdupq_n_u32(hli_sha1_k[g / 5]);
            const unsigned i0 = g & 3, i1 = (g + 1) & 3, i2 = (g + 2) & 3, i3 = (g + 3) & 3;
            EACH_MESSAGE(l) {
                const uint32x4_t wk = vaddq_u32(w[l][i0], k);
                /* The next E is A of four rounds ago, rotated. */
                const uint32_t next_e = vsha1h_u32(vgetq_lane_u32(abcd[l], 0));
                abcd[l] = sha1_four_rounds(abcd[l], e[l], wk, g / 5);
                e[l] = next_e;
                if (g < 16)
                    w[l][i0] = vsha1su1q_u32(vsha1su0q_u32(w[l][i0], w[l][i1], w[l][i2]), w[l][i3]);
            }
        }
        EACH_MESSAGE(l) {
            abcd[l] = vaddq_u32(abcd[l], abcd0[l]);
            e[l] += e0[l];
        }
    }
    EACH_MESSAGE(l) {
        store_words(s, N, l, 0, abcd[l]);
        s[4 * N + l] = e[l];
    }
}

#  if HLI_ALG(sha1)
INSTANCE(TARGET_SHA2, sha1_blocks_sha_x1, sha1_blocks_sha, 1)
INSTANCE(TARGET_SHA2, sha1_blocks_sha_x2, sha1_blocks_sha, 2)
INSTANCE(TARGET_SHA2, sha1_blocks_sha_x3, sha1_blocks_sha, 3)
#  endif
#  if HLI_ALG(sha256)
INSTANCE(TARGET_SHA2, sha256_blocks_sha_x1, sha256_blocks_sha, 1)
INSTANCE(TARGET_SHA2, sha256_blocks_sha_x2, sha256_blocks_sha, 2)
INSTANCE(TARGET_SHA2, sha256_blocks_sha_x3, sha256_blocks_sha, 3)
#  endif
#endif
