/* constants.c: initial values and round constants of every algorithm. There is no other copy.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../core.h"
#include "../parts.h"

/* FIPS 180-4 section 5.3.1 */
const uint32_t hli_sha1_iv[8] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

/* FIPS 180-4 section 4.2.1: floor(2^30 * sqrt(x)), x = 2, 3, 5, 10 */
const uint32_t hli_sha1_k[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};

/* FIPS 180-4 section 5.3.3: the first 32 bits of the fractional parts of the square roots of the first 8 primes */
#define SHA256_IV(parameters) \
    0x6a09e667 ^ (parameters), 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
const uint32_t hli_sha256_iv[8] = {SHA256_IV(0)};

/* FIPS 180-4 section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
 * Aligned so that four of them are one aligned load. */
const uint32_t hli_sha256_k[64] __attribute__((aligned(64))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/* FIPS 180-4 section 5.3.2: the second 32 bits of the fractional parts of the square roots of the 9th to 16th primes */
const uint32_t hli_sha224_iv[8] = {0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939,
                                   0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4};

/* FIPS 180-4 section 5.3.5: the first 64 bits of the fractional parts of the square roots of the first 8 primes */
#define SHA512_IV(parameters) \
    0x6a09e667f3bcc908 ^ (parameters), 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1, \
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179
const uint64_t hli_sha512_iv[8] = {SHA512_IV(0)};

#if HLI_ALG(sha512)
/* FIPS 180-4 section 5.3.4: the first 64 bits of the fractional parts of the square roots of the 9th to 16th primes */
const uint64_t hli_sha384_iv[8] = {
    0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17, 0x152fecd8f70e5939,
    0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4};

/* FIPS 180-4 sections 5.3.6.1 and 5.3.6.2: SHA-512 of "SHA-512/224" and "SHA-512/256" from hli_sha512_iv ^ a5a5... */
const uint64_t hli_sha512_224_iv[8] = {
    0x8c3d37c819544da2, 0x73e1996689dcd4d6, 0x1dfab7ae32ff9c82, 0x679dd514582f9fcf,
    0x0f6d2b697bd44da8, 0x77e36f7304c48942, 0x3f9d85a86a1d36c8, 0x1112e6ad91d692a1};
const uint64_t hli_sha512_256_iv[8] = {
    0x22312194fc2bf72c, 0x9f555fa3c84c64c2, 0x2393b86b6f53b151, 0x963877195940eabd,
    0x96283ee2a88effe3, 0xbe5e1e2553863992, 0x2b0199fc2c85b8aa, 0x0eb72ddc81c52ca2};

/* FIPS 180-4 section 4.2.3: the first 64 bits of the fractional parts of the cube roots of the first 80 primes */
const uint64_t hli_sha512_k[80] __attribute__((aligned(64))) = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817};
#endif

/* RIPEMD-160 (Dobbertin, Bosselaers, Preneel 1996), appendix A: floor(2^30 * sqrt(x)) and, for the right line,
 * floor(2^30 * cbrt(x)), x = 2, 3, 5, 7; one constant a round. The initial value is SHA-1's. */
const uint32_t hli_ripemd160_k[2][5] = {{0x00000000, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e},
                                       {0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0x00000000}};

/* RFC 7693 sections 2.6 and 3.3: the initial values of SHA-512 and of SHA-256; the first word xored with the
 * parameters: the digest's length, no key, no tree. Behind them the counter, the mark, and the digest's length. */
#define BLAKE2_PARAMETERS(nbytes) (0x01010000 ^ (nbytes))
#if HLI_ALG(blake2b)
const uint64_t hli_blake2b_iv[12] = {SHA512_IV(BLAKE2_PARAMETERS(64)), 0, 0, 64};
const uint64_t hli_blake2b_256_iv[12] = {SHA512_IV(BLAKE2_PARAMETERS(32)), 0, 0, 32};
#endif
const uint32_t hli_blake2s_iv[16] = {SHA256_IV(BLAKE2_PARAMETERS(32)), 0, 0, 0, 32};

/* BLAKE3 section 2.2 and 2.4: the initial value of SHA-256; chunk 0, 64 bytes in a block, CHUNK_START; CHUNK_END and
 * ROOT */
const uint32_t hli_blake3_iv[16] = {SHA256_IV(0), 0, 0, 64, 1, 2 | 8};

/* SM3 (GB/T 32905-2016 section 4.1 and 4.2): T[j] rotated left by j, as round j takes it */
#if HLI_ALG(sm3)
const uint32_t hli_sm3_iv[8] = {0x7380166f, 0x4914b2b9, 0x172442d7, 0xda8a0600,
                                0xa96f30bc, 0x163138aa, 0xe38dee4d, 0xb0fb0e4e};
const uint32_t hli_sm3_k[64] __attribute__((aligned(64))) = {
    0x79cc4519, 0xf3988a32, 0xe7311465, 0xce6228cb, 0x9cc45197, 0x3988a32f, 0x7311465e, 0xe6228cbc,
    0xcc451979, 0x988a32f3, 0x311465e7, 0x6228cbce, 0xc451979c, 0x88a32f39, 0x11465e73, 0x228cbce6,
    0x9d8a7a87, 0x3b14f50f, 0x7629ea1e, 0xec53d43c, 0xd8a7a879, 0xb14f50f3, 0x629ea1e7, 0xc53d43ce,
    0x8a7a879d, 0x14f50f3b, 0x29ea1e76, 0x53d43cec, 0xa7a879d8, 0x4f50f3b1, 0x9ea1e762, 0x3d43cec5,
    0x7a879d8a, 0xf50f3b14, 0xea1e7629, 0xd43cec53, 0xa879d8a7, 0x50f3b14f, 0xa1e7629e, 0x43cec53d,
    0x879d8a7a, 0x0f3b14f5, 0x1e7629ea, 0x3cec53d4, 0x79d8a7a8, 0xf3b14f50, 0xe7629ea1, 0xcec53d43,
    0x9d8a7a87, 0x3b14f50f, 0x7629ea1e, 0xec53d43c, 0xd8a7a879, 0xb14f50f3, 0x629ea1e7, 0xc53d43ce,
    0x8a7a879d, 0x14f50f3b, 0x29ea1e76, 0x53d43cec, 0xa7a879d8, 0x4f50f3b1, 0x9ea1e762, 0x3d43cec5};
#endif

/* MD5 (RFC 1321 section 3.4): floor(2^32 * abs(sin(i))), i = 1 .. 64 in radians. The initial value (section 3.3) is the
 * first four words of SHA-1's. */
#if HLI_ALG(md5)
const uint32_t hli_md5_t[64] __attribute__((aligned(64))) = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
#endif

/* W[t] + K[t] of the block that ends every message of 64 bytes: the one bit, zeros and the length. FIPS 180-4 sections
 * 5.1.1, 6.1.2 and 6.2.2. To compute them takes as long as to hash two or three such messages. */
const uint32_t hli_sha1_schedule_64[80] __attribute__((aligned(64))) = {
    0xda827999, 0x5a827999, 0x5a827999, 0x5a827999, 0x5a827999, 0x5a827999, 0x5a827999, 0x5a827999,
    0x5a827999, 0x5a827999, 0x5a827999, 0x5a827999, 0x5a827999, 0x5a827999, 0x5a827999, 0x5a827b99,
    0x5a82799a, 0x5a827999, 0x5a827d99, 0x5a82799b, 0x6ed9eba1, 0x6ed9f3a1, 0x6ed9eba5, 0x6ed9efa1,
    0x6ed9fba3, 0x6ed9eba9, 0x6ed9eba1, 0x6eda0ba1, 0x6ed9ebb1, 0x6ed9ffa1, 0x6eda2bab, 0x6ed9f7c1,
    0x6ed9eba7, 0x6eda6ba1, 0x6ed9fbe1, 0x6eda3ba9, 0x6edaebc9, 0x6ed9fc21, 0x6ed9eba9, 0x6edbfba1,
    0x8f1bbde4, 0x8f1cfcdc, 0x8f1fbd7c, 0x8f1c86dc, 0x8f1bbd40, 0x8f23ccdc, 0x8f1cd0e4, 0x8f20f564,
    0x8f2bbf78, 0x8f1cc4dc, 0x8f1c0d5c, 0x8f3ccd04, 0x8f1bcd64, 0x8f303cdc, 0x8f5bc71c, 0x8f28acdc,
    0x8f1cc344, 0x8f9ccd5c, 0x8f2cfd64, 0x8f6d555c, 0xcb62ea9e, 0xca7491d6, 0xca63ca7e, 0xcc749256,
    0xca63cabe, 0xcba2c1d6, 0xce6461d6, 0xcb2cc256, 0xca6325d6, 0xd272c1d6, 0xcb76c9d6, 0xcf9b69d6,
    0xda655de6, 0xcb6bc1d6, 0xcab38256, 0xeb7469f6, 0xca734a96, 0xdee441d6, 0x0a6e0296, 0xd756a256};
const uint32_t hli_sha256_schedule_64[64] __attribute__((aligned(64))) = {
    0xc28a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf374,
    0x649b69c1, 0xf0fe4786, 0x0fe1edc6, 0x240cf254, 0x4fe9346f, 0x6cc984be, 0x61b9411e, 0x16f988fa,
    0xf2c65152, 0xa88e5a6d, 0xb019fc65, 0xb9d99ec7, 0x9a1231c3, 0xe70eeaa0, 0xfdb1232b, 0xc7353eb0,
    0x3069bad5, 0xcb976d5f, 0x5a0f118f, 0xdc1eeefd, 0x0a35b689, 0xde0b7a04, 0x58f4ca9d, 0xe15d5b16,
    0x007f3e86, 0x37088980, 0xa507ea32, 0x6fab9537, 0x17406110, 0x0d8cd6f1, 0xcdaa3b6d, 0xc0bbbe37,
    0x83613bda, 0xdb48a363, 0x0b02e931, 0x6fd15ca7, 0x521afaca, 0x31338431, 0x6ed41a95, 0x6d437890,
    0xc39c91f2, 0x9eccabbd, 0xb5c9a0e6, 0x532fb63c, 0xd2c741c6, 0x07237ea3, 0xa4954b68, 0x4c191d76};

/* FIPS 202 section 4: a sponge begins with zeros. A block of zeros too. */
const uint64_t hli_sponge_iv[HL_STATE_MAX_NBYTES / 8] = {0};

/* FIPS 202 section 3.2.5: RC of iota, for each round */
#if HLI_ALG(keccak)
const uint64_t hli_keccak_rc[24] __attribute__((aligned(64))) = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
    0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
    0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};
#endif
