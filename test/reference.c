/* reference.c: SHA-1 and SHA-256, straight from FIPS 180-4. Slow, and meant to be.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "reference.h"

#include <string.h>

static uint32_t rotl(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static uint32_t rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

/* Section 4.1.1 and 4.1.2 */
static uint32_t Ch(uint32_t x, uint32_t y, uint32_t z)
{
    return (x & y) ^ (~x & z);
}

static uint32_t Parity(uint32_t x, uint32_t y, uint32_t z)
{
    return x ^ y ^ z;
}

static uint32_t Maj(uint32_t x, uint32_t y, uint32_t z)
{
    return (x & y) ^ (x & z) ^ (y & z);
}

static uint32_t big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

/* Section 4.2.1 */
static uint32_t sha1_K(int t)
{
    return t < 20 ? 0x5a827999 : t < 40 ? 0x6ed9eba1 : t < 60 ? 0x8f1bbcdc : 0xca62c1d6;
}

/* Section 6.1.2 */
static void sha1_W(uint32_t W[80], const uint8_t *M)
{
    for (int t = 0; t < 80; t++)
        W[t] = t < 16 ? big_endian(M + 4 * t) : rotl(W[t - 3] ^ W[t - 8] ^ W[t - 14] ^ W[t - 16], 1);
}

static void sha1_schedule(uint64_t words[80], const uint8_t *M)
{
    uint32_t W[80];

    sha1_W(W, M);
    for (int t = 0; t < 80; t++)
        words[t] = (uint32_t)(W[t] + sha1_K(t));
}

static void sha1_block(uint64_t H[8], const uint8_t *M)
{
    uint32_t W[80], a = (uint32_t)H[0], b = (uint32_t)H[1], c = (uint32_t)H[2], d = (uint32_t)H[3], e = (uint32_t)H[4];

    sha1_W(W, M);
    for (int t = 0; t < 80; t++) {
        const uint32_t f = t < 20 ? Ch(b, c, d) : t < 40 ? Parity(b, c, d) : t < 60 ? Maj(b, c, d) : Parity(b, c, d);
        const uint32_t T = rotl(a, 5) + f + e + sha1_K(t) + W[t];
        e = d;
        d = c;
        c = rotl(b, 30);
        b = a;
        a = T;
    }
    H[0] = (uint32_t)(H[0] + a);
    H[1] = (uint32_t)(H[1] + b);
    H[2] = (uint32_t)(H[2] + c);
    H[3] = (uint32_t)(H[3] + d);
    H[4] = (uint32_t)(H[4] + e);
}

/* Section 6.2.2. The constants are computed as section 4.2.2 words them, in place of a copy of the table: the first 32
 * bits of the fractional part of a prime's cube root. */
static uint32_t cube_root_fraction(uint32_t prime)
{
    uint64_t x = 0; /* floor(cube root of prime * 2^96), found bit by bit; below 2^35 */

    for (int bit = 34; bit >= 0; bit--) {
        const uint64_t y = x | UINT64_C(1) << bit;
        /* y^3 <= prime * 2^96, in limbs of 18 bits. */
        const uint64_t mask = (UINT64_C(1) << 18) - 1;
        uint64_t limbs[6] = {y & mask, y >> 18}, square[4] = {0}, cube[6] = {0}, bound[6] = {0};
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                square[i + j] += limbs[i] * limbs[j];
        for (int i = 0; i < 3; i++) {
            square[i + 1] += square[i] >> 18;
            square[i] &= mask;
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 2; j++)
                cube[i + j] += square[i] * limbs[j];
        for (int i = 0; i < 5; i++) {
            cube[i + 1] += cube[i] >> 18;
            cube[i] &= mask;
        }
        bound[5] = (uint64_t)prime << 6; /* 2^96 = 2^(5 * 18) * 2^6 */
        int i = 5;
        while (i > 0 && cube[i] == bound[i])
            i--;
        if (cube[i] <= bound[i])
            x = y;
    }
    return (uint32_t)x;
}

static const uint32_t *sha256_K(void)
{
    static uint32_t K[64];
    uint32_t prime = 2;

    for (int n = 0; K[63] == 0; prime++) {
        int is_prime = 1;
        for (uint32_t d = 2; d * d <= prime; d++)
            is_prime &= prime % d != 0;
        if (is_prime)
            K[n++] = cube_root_fraction(prime);
    }
    return K;
}

static void sha256_W(uint32_t W[64], const uint8_t *M)
{
    for (int t = 0; t < 64; t++) {
        if (t < 16) {
            W[t] = big_endian(M + 4 * t);
        } else {
            const uint32_t sigma0 = rotr(W[t - 15], 7) ^ rotr(W[t - 15], 18) ^ W[t - 15] >> 3;
            const uint32_t sigma1 = rotr(W[t - 2], 17) ^ rotr(W[t - 2], 19) ^ W[t - 2] >> 10;
            W[t] = sigma1 + W[t - 7] + sigma0 + W[t - 16];
        }
    }
}

static void sha256_schedule(uint64_t words[80], const uint8_t *M)
{
    uint32_t W[64];

    sha256_W(W, M);
    for (int t = 0; t < 64; t++)
        words[t] = (uint32_t)(W[t] + sha256_K()[t]);
}

static void sha256_block(uint64_t H[8], const uint8_t *M)
{
    const uint32_t *K = sha256_K();
    uint32_t W[64], v[8]; /* a .. h */

    sha256_W(W, M);
    for (int i = 0; i < 8; i++)
        v[i] = (uint32_t)H[i];
    for (int t = 0; t < 64; t++) {
        const uint32_t Sigma1 = rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25);
        const uint32_t Sigma0 = rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22);
        const uint32_t T1 = v[7] + Sigma1 + Ch(v[4], v[5], v[6]) + K[t] + W[t];
        const uint32_t T2 = Sigma0 + Maj(v[0], v[1], v[2]);
        for (int i = 7; i > 0; i--)
            v[i] = v[i - 1];
        v[4] += T1;
        v[0] = T1 + T2;
    }
    for (int i = 0; i < 8; i++)
        H[i] = (uint32_t)(H[i] + v[i]);
}

static const struct reference references[] = {
    {"sha1", 20, 64, 4, 5, {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}, sha1_block, 80, sha1_schedule},
    {"sha256", 32, 64, 4, 8,
     {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, sha256_block, 64,
     sha256_schedule},
};

const struct reference *reference_named(const char *name)
{
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++)
        if (strcmp(references[i].name, name) == 0)
            return &references[i];
    return NULL;
}

void reference_init(struct reference_ctx *ctx, const struct reference *ref)
{
    memset(ctx, 0, sizeof *ctx);
    ctx->ref = ref;
    memcpy(ctx->state, ref->iv, sizeof ctx->state);
}

void reference_update(struct reference_ctx *ctx, const void *data, size_t nbytes)
{
    const uint8_t *bytes = data;

    for (size_t i = 0; i < nbytes; i++) {
        ctx->block[ctx->nbytes++ % ctx->ref->block_nbytes] = bytes[i];
        if (ctx->nbytes % ctx->ref->block_nbytes == 0)
            ctx->ref->block(ctx->state, ctx->block);
    }
}

/* Section 5.1: a one bit, zeros up to the last two words of a block, and there the length in bits. */
void reference_final(struct reference_ctx *ctx, uint8_t *digest)
{
    const struct reference *ref = ctx->ref;
    const unsigned length_nbytes = 2 * ref->word_nbytes;
    const uint64_t nbytes = ctx->nbytes;
    const uint8_t one = 0x80, zero = 0;
    uint8_t length[16];

    for (unsigned i = 0; i < 16; i++) { /* 128 bits, the most significant first: nbytes * 8 */
        const unsigned shift = 8 * (15 - i);
        length[i] = (uint8_t)(shift < 64 ? nbytes << 3 >> shift : shift == 64 ? nbytes >> 61 : 0);
    }
    reference_update(ctx, &one, 1);
    while (ctx->nbytes % ref->block_nbytes != ref->block_nbytes - length_nbytes)
        reference_update(ctx, &zero, 1);
    reference_update(ctx, length + 16 - length_nbytes, length_nbytes);
    for (unsigned i = 0; i < ref->digest_nbytes; i++) {
        const unsigned shift = 8 * (ref->word_nbytes - 1 - i % ref->word_nbytes);
        digest[i] = (uint8_t)(ctx->state[i / ref->word_nbytes] >> shift);
    }
}
