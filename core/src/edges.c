/* edges.c: pads the ends of messages and writes digests, in plain C, for any number of lanes. x86/avx512.c has versions
 * that work in registers; registry.c chooses.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "edges.h"

const uint8_t hli_one_bit[HLI_ONE_BIT_AT + 256] __attribute__((aligned(64))) = {[HLI_ONE_BIT_AT] = 0x80};
#define ONES_4 0xff, 0xff, 0xff, 0xff
const uint8_t hli_first_bytes[32] = {ONES_4, ONES_4, ONES_4, ONES_4};

void hli_pad_scalar(const hl_alg_info *alg, unsigned nblocks, const uint8_t *const rests[], const size_t nrests[],
                    uint64_t nwhole, unsigned n, uint8_t *out)
{
    (void)nblocks; /* follows from each length */
    for (unsigned i = 0; i < n; i++)
        hli_pad_alg(alg, out + i * hli_tail_nbytes(alg), rests[i], nrests[i], nwhole + nrests[i]);
}

/* The literals turn this into one load, swap and store a word. For short messages, digests are a tenth of the time. */
HLI_INLINE void write_words32(const uint32_t *s, unsigned nlanes, unsigned nwords, int big_endian, uint8_t *digest)
{
#pragma GCC unroll 8
    for (unsigned w = 0; w < nwords; w++)
        hli_store32(digest + 4 * w, s[w * nlanes], big_endian);
}

/* Writes digests of 32-bit words. The usual lengths are literals, any other works too. */
HLI_INLINE void write_digest32(const uint32_t *s, unsigned nlanes, unsigned nbytes, int big_endian, uint8_t *digest)
{
    switch (nbytes / 4) {
    case 4: write_words32(s, nlanes, 4, big_endian, digest); break;
    case 5: write_words32(s, nlanes, 5, big_endian, digest); break;
    case 7: write_words32(s, nlanes, 7, big_endian, digest); break;
    case 8: write_words32(s, nlanes, 8, big_endian, digest); break;
    default: write_words32(s, nlanes, nbytes / 4, big_endian, digest);
    }
}

HLI_INLINE void write_digest64(const uint64_t *s, unsigned nlanes, unsigned nbytes, int big_endian, uint8_t *digest)
{
    for (; nbytes >= 8; nbytes -= 8, digest += 8, s += nlanes)
        hli_store64(digest, *s, big_endian);
    for (unsigned i = 0; i < nbytes; i++) /* SHA-512/224 and SHA3-224 take half of their fourth word, an XOF any part */
        digest[i] = (uint8_t)(*s >> (big_endian ? 56 - 8 * i : 8 * i));
}

/* Writes the big-endian digest of a single lane, whose words are contiguous, 16 bytes at once: what a kernel loads next
 * comes from the same stores. From stores of a word each it would wait for the cache. */
HLI_INLINE void write_single(const uint8_t *s, unsigned nbytes, int of_64_bits, uint8_t *digest)
{
    typedef uint32_t words __attribute__((vector_size(16)));
    typedef uint64_t pairs __attribute__((vector_size(16)));
    words w;

    for (unsigned i = 0; i < nbytes; i += 16) {
        hli_copy(&w, s + i, 16);
        w = w << 24 | (w & 0xff00) << 8 | (w >> 8 & 0xff00) | w >> 24;
        if (of_64_bits)
            w = (words)((pairs)w << 32 | (pairs)w >> 32);
        hli_copy(digest + i, &w, 16);
    }
}

static void write_digest(const hl_alg_info *alg, const void *states, unsigned nlanes, unsigned lane, uint8_t *digest)
{
    const uint32_t *s = (const uint32_t *)states + lane;

    if (alg->word_nbytes == 8 && alg->big_endian)
        write_digest64((const uint64_t *)states + lane, nlanes, alg->digest_nbytes, 1, digest);
    else if (alg->word_nbytes == 8)
        write_digest64((const uint64_t *)states + lane, nlanes, alg->digest_nbytes, 0, digest);
    else if (alg->big_endian)
        write_digest32(s, nlanes, alg->digest_nbytes, 1, digest);
    else
        write_digest32(s, nlanes, alg->digest_nbytes, 0, digest);
}

void hli_digests_scalar(const hl_alg_info *alg, const void *states, unsigned nlanes, unsigned n,
                        uint8_t *const digests[])
{
    if (nlanes == 1 && alg->big_endian && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && alg->digest_nbytes % 16 == 0) {
        write_single(states, alg->digest_nbytes, alg->word_nbytes == 8, digests[0]);
        return;
    }
    for (unsigned l = 0; l < n; l++)
        write_digest(alg, states, nlanes, l, digests[l]);
}
