/* pad.inc.h: pads messages over AVX-512, hli_pad_<isa>, by pad_chunks() of the file that includes this one.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
LV_KERNEL void LV_NAME(pad)(const hl_alg_info *alg, unsigned nblocks, const uint8_t *const rests[],
                            const size_t nrests[], uint64_t nwhole, unsigned n, uint8_t *out)
{
#define PAD_ALL(nchunks, stride, length_is_128_bits, big_endian) \
      for (unsigned i = 0; i < n; i++) \
          pad_chunks(nchunks, length_is_128_bits, big_endian, rests[i], nrests[i], nwhole + nrests[i], \
                     out + i * (stride))

    if (!hli_is_strengthened(alg)) {
        hli_pad_scalar(alg, nblocks, rests, nrests, nwhole, n, out);
    } else if (hli_block_nbytes(alg) == 128) {
        if (nblocks == 1)
            PAD_ALL(2, 256, 1, 1);
        else
            PAD_ALL(4, 256, 1, 1);
    } else if (nblocks == 1) {
        if (hli_big_endian(alg))
            PAD_ALL(1, 128, 0, 1);
        else
            PAD_ALL(1, 128, 0, 0);
    } else {
        PAD_ALL(2, 128, 0, hli_big_endian(alg));
    }
#undef PAD_ALL
}
