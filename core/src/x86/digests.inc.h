/* digests.inc.h: writes the digests of lanes that fill a register, hli_digests_<isa>, by the functions that end whole
 * messages. Included behind the kernels. With 256 bits all lanes have a digest, and their number is a literal: else gcc
 * keeps the digests in memory.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
LV_KERNEL void LV_NAME(digests)(const hl_alg_info *alg, const void *states, unsigned nlanes, unsigned n,
                                uint8_t *const digests[])
{
    if (nlanes * hli_word_nbytes(alg) != X86_BITS / 8 || alg->digest_nbytes > 64 || alg->digest_nbytes % 4 != 0 ||
        (X86_BITS < 512 && (n != nlanes || !hli_is_even(alg->digest_nbytes))))
        hli_digests_scalar(alg, states, nlanes, n, digests);
    else if (hli_word_nbytes(alg) == 8)
        lv64_digests(states, hli_nwords(alg), hli_big_endian(alg), alg->digest_nbytes, n, digests);
    else
        lv32_digests(states, hli_nwords(alg), hli_big_endian(alg), alg->digest_nbytes, X86_BITS < 512 ? 8 : n, digests);
}
