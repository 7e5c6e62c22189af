/* reference.c: SHA-1 and SHA-2, straight from FIPS 180-4; RIPEMD-160, straight from "RIPEMD-160: A Strengthened Version
 * of RIPEMD" (Dobbertin, Bosselaers, Preneel 1996); MD5, straight from RFC 1321; and SHA-3 and SHAKE, straight from
 * FIPS 202. Slow, and meant to be.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Sections without a name are those of FIPS 180-4. Functions without rotations or carries serve words of 32 and of 64
 * bits.
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

static uint64_t rotr64(uint64_t x, unsigned n)
{
    return x >> n | x << (64 - n);
}

/* Sections 4.1.1, 4.1.2 and 4.1.3 */
static uint64_t Ch(uint64_t x, uint64_t y, uint64_t z)
{
    return (x & y) ^ (~x & z);
}

static uint64_t Parity(uint64_t x, uint64_t y, uint64_t z)
{
    return x ^ y ^ z;
}

static uint64_t Maj(uint64_t x, uint64_t y, uint64_t z)
{
    return (x & y) ^ (x & z) ^ (y & z);
}

static uint32_t big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static uint64_t big_endian64(const uint8_t *p)
{
    return (uint64_t)big_endian(p) << 32 | big_endian(p + 4);
}

static uint32_t little_endian(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | (uint32_t)p[0];
}

/* Section 4.2.1 */
static uint32_t sha1_K(int t)
{
    return t < 20 ? 0x5a827999 : t < 40 ? 0x6ed9eba1 : t < 60 ? 0x8f1bbcdc : 0xca62c1d6;
}

/* Section 6.1.2: W, with K added. */
static void sha1_schedule(uint64_t words[160], const uint8_t *M)
{
    uint32_t W[80];

    for (int t = 0; t < 80; t++) {
        W[t] = t < 16 ? big_endian(M + 4 * t) : rotl(W[t - 3] ^ W[t - 8] ^ W[t - 14] ^ W[t - 16], 1);
        words[t] = (uint32_t)(W[t] + sha1_K(t));
    }
}

static void sha1_block(uint64_t H[REFERENCE_NWORDS], const uint8_t *M, unsigned block_nbytes)
{
    uint64_t words[160];
    uint32_t a = (uint32_t)H[0], b = (uint32_t)H[1], c = (uint32_t)H[2], d = (uint32_t)H[3], e = (uint32_t)H[4];

    (void)block_nbytes;
    sha1_schedule(words, M);
    for (int t = 0; t < 80; t++) {
        const uint64_t f = t < 20 ? Ch(b, c, d) : t < 40 ? Parity(b, c, d) : t < 60 ? Maj(b, c, d) : Parity(b, c, d);
        const uint32_t T = rotl(a, 5) + (uint32_t)f + e + (uint32_t)words[t];
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

/* Sections 4.2.2 and 4.2.3. The constants are computed from the standard's words, not copied from its tables: the first
 * 64 bits of the fractional part of a prime's cube root. */
static uint64_t cube_root_fraction(uint32_t prime)
{
    /* Limbs of 24 bits, the least significant first. x = floor(cube root of prime * 2^192) is found bit by bit: the
     * greatest number whose cube is not above the bound. It is below 2^67, as the 80th prime is 409. */
    const uint64_t mask = (UINT64_C(1) << 24) - 1;
    uint64_t x[3] = {0}, bound[9] = {0};

    bound[8] = prime; /* * 2^(8 * 24) */
    for (int bit = 66; bit >= 0; bit--) {
        uint64_t square[6] = {0}, cube[9] = {0};
        int top = 8;
        x[bit / 24] |= UINT64_C(1) << bit % 24;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                square[i + j] += x[i] * x[j];
        for (int i = 0; i < 5; i++) {
            square[i + 1] += square[i] >> 24;
            square[i] &= mask;
        }
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 3; j++)
                cube[i + j] += square[i] * x[j];
        for (int i = 0; i < 8; i++) {
            cube[i + 1] += cube[i] >> 24;
            cube[i] &= mask;
        }
        while (top > 0 && cube[top] == bound[top])
            top--;
        if (cube[top] > bound[top])
            x[bit / 24] &= ~(UINT64_C(1) << bit % 24);
    }
    return x[0] | x[1] << 24 | x[2] << 48;
}

/* SHA-512's constants. The upper halves of the first 64 are SHA-256's, the first 32 bits of the same fractions. */
static const uint64_t *sha2_K(void)
{
    static uint64_t K[80];
    uint32_t prime = 2;

    for (int n = 0; K[79] == 0; prime++) {
        int is_prime = 1;
        for (uint32_t d = 2; d * d <= prime; d++)
            is_prime &= prime % d != 0;
        if (is_prime)
            K[n++] = cube_root_fraction(prime);
    }
    return K;
}

/* Section 6.2.2: W, with K added. */
static void sha256_schedule(uint64_t words[160], const uint8_t *M)
{
    uint32_t W[64];

    for (int t = 0; t < 64; t++) {
        if (t < 16) {
            W[t] = big_endian(M + 4 * t);
        } else {
            const uint32_t sigma0 = rotr(W[t - 15], 7) ^ rotr(W[t - 15], 18) ^ W[t - 15] >> 3;
            const uint32_t sigma1 = rotr(W[t - 2], 17) ^ rotr(W[t - 2], 19) ^ W[t - 2] >> 10;
            W[t] = sigma1 + W[t - 7] + sigma0 + W[t - 16];
        }
        words[t] = (uint32_t)(W[t] + (sha2_K()[t] >> 32));
    }
}

static void sha256_block(uint64_t H[REFERENCE_NWORDS], const uint8_t *M, unsigned block_nbytes)
{
    uint64_t words[160];
    uint32_t v[8]; /* a .. h */

    (void)block_nbytes;
    sha256_schedule(words, M);
    for (int i = 0; i < 8; i++)
        v[i] = (uint32_t)H[i];
    for (int t = 0; t < 64; t++) {
        const uint32_t Sigma1 = rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25);
        const uint32_t Sigma0 = rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22);
        const uint32_t T1 = (uint32_t)(v[7] + Sigma1 + Ch(v[4], v[5], v[6]) + words[t]);
        const uint32_t T2 = Sigma0 + (uint32_t)Maj(v[0], v[1], v[2]);
        for (int i = 7; i > 0; i--)
            v[i] = v[i - 1];
        v[4] += T1;
        v[0] = T1 + T2;
    }
    for (int i = 0; i < 8; i++)
        H[i] = (uint32_t)(H[i] + v[i]);
}

/* Section 6.4.2: W, with K added. */
static void sha512_schedule(uint64_t words[160], const uint8_t *M)
{
    uint64_t W[80];

    for (int t = 0; t < 80; t++) {
        if (t < 16) {
            W[t] = big_endian64(M + 8 * t);
        } else {
            const uint64_t sigma0 = rotr64(W[t - 15], 1) ^ rotr64(W[t - 15], 8) ^ W[t - 15] >> 7;
            const uint64_t sigma1 = rotr64(W[t - 2], 19) ^ rotr64(W[t - 2], 61) ^ W[t - 2] >> 6;
            W[t] = sigma1 + W[t - 7] + sigma0 + W[t - 16];
        }
        words[t] = W[t] + sha2_K()[t];
    }
}

static void sha512_block(uint64_t H[REFERENCE_NWORDS], const uint8_t *M, unsigned block_nbytes)
{
    uint64_t words[160], v[8]; /* a .. h */

    (void)block_nbytes;
    sha512_schedule(words, M);
    memcpy(v, H, sizeof v);
    for (int t = 0; t < 80; t++) {
        const uint64_t Sigma1 = rotr64(v[4], 14) ^ rotr64(v[4], 18) ^ rotr64(v[4], 41);
        const uint64_t Sigma0 = rotr64(v[0], 28) ^ rotr64(v[0], 34) ^ rotr64(v[0], 39);
        const uint64_t T1 = v[7] + Sigma1 + Ch(v[4], v[5], v[6]) + words[t];
        const uint64_t T2 = Sigma0 + Maj(v[0], v[1], v[2]);
        for (int i = 7; i > 0; i--)
            v[i] = v[i - 1];
        v[4] += T1;
        v[0] = T1 + T2;
    }
    for (int i = 0; i < 8; i++)
        H[i] += v[i];
}

/* RIPEMD-160, section 3: the constants of the five rounds, for the left line and for the right. */
static const uint32_t ripemd160_K[2][5] = {{0, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e},
                                           {0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0}};

/* Section 3: the index of the message word in step i of round j is rho applied j times to i (left line) or to pi(i)
 * (right line). */
static unsigned ripemd160_r(int line, int j, unsigned i)
{
    static const uint8_t rho[16] = {7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8};
    unsigned r = line == 0 ? i : (9 * i + 5) % 16; /* pi */

    while (j-- > 0)
        r = rho[r];
    return r;
}

/* Section 3: the shift depends on the round and the message word, in both lines. */
static const uint8_t ripemd160_shift[5][16] = {
    {11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8},
    {12, 13, 11, 15, 6, 9, 9, 7, 12, 15, 11, 13, 7, 8, 7, 7},
    {13, 15, 14, 11, 7, 7, 6, 8, 13, 14, 13, 12, 5, 5, 6, 9},
    {14, 11, 12, 14, 8, 6, 5, 5, 15, 12, 15, 14, 9, 9, 8, 6},
    {15, 12, 13, 13, 9, 5, 8, 6, 14, 11, 12, 11, 8, 6, 5, 5},
};

static uint32_t ripemd160_f(int j, uint32_t x, uint32_t y, uint32_t z)
{
    switch (j) {
    case 0: return x ^ y ^ z;
    case 1: return (x & y) | (~x & z);
    case 2: return (x | ~y) ^ z;
    case 3: return (x & z) | (y & ~z);
    default: return x ^ (y | ~z);
    }
}

/* Ordered as in hashloom.h: word 16 * (5 * line + j) + i. */
static void ripemd160_schedule(uint64_t words[160], const uint8_t *M)
{
    for (int n = 0; n < 160; n++)
        words[n] = (uint32_t)(little_endian(M + 4 * (n % 16)) + ripemd160_K[n / 80][n / 16 % 5]);
}

static void ripemd160_block(uint64_t H[REFERENCE_NWORDS], const uint8_t *M, unsigned block_nbytes)
{
    uint32_t v[2][5]; /* A .. E of each line */

    (void)block_nbytes;
    for (int line = 0; line < 2; line++) {
        uint32_t *const s = v[line];
        for (int i = 0; i < 5; i++)
            s[i] = (uint32_t)H[i];
        for (int step = 0; step < 80; step++) {
            const int j = step / 16;
            const unsigned r = ripemd160_r(line, j, (unsigned)step % 16);
            const uint32_t f = ripemd160_f(line == 0 ? j : 4 - j, s[1], s[2], s[3]);
            const uint32_t x = s[0] + f + little_endian(M + 4 * r) + ripemd160_K[line][j];
            const uint32_t T = rotl(x, ripemd160_shift[j][r]) + s[4];
            s[0] = s[4];
            s[4] = s[3];
            s[3] = rotl(s[2], 10);
            s[2] = s[1];
            s[1] = T;
        }
    }
    const uint32_t h0 = (uint32_t)H[0];
    for (int i = 0; i < 5; i++)
        H[i] = (uint32_t)((i < 4 ? H[i + 1] : h0) + v[0][(i + 2) % 5] + v[1][(i + 3) % 5]);
}

/* MD5, RFC 1321 section 3.4: T[i], i from 0 on, is the integer part of 4294967296 times abs(sin(i + 1)). The sine is
 * computed as a series, so that no table is shared with the library. */
static uint32_t md5_T(int i)
{
    const double turn = 6.283185307179586476925286766559;
    static uint32_t T[64];

    for (int n = 0; T[63] == 0; n++) {
        double x = n + 1, sine = 0;
        while (x > turn / 2)
            x -= turn;
        double term = x;
        for (int power = 1; power < 40; power += 2) {
            sine += term;
            term *= -x * x / ((power + 1) * (power + 2));
        }
        T[n] = (uint32_t)(4294967296.0 * (sine < 0 ? -sine : sine));
    }
    return T[i];
}

/* The index of the message word that step i takes. */
static int md5_k(int i)
{
    return i < 16 ? i : i < 32 ? (5 * i + 1) % 16 : i < 48 ? (3 * i + 5) % 16 : 7 * i % 16;
}

static void md5_schedule(uint64_t words[160], const uint8_t *block)
{
    for (int i = 0; i < 64; i++)
        words[i] = (uint32_t)(little_endian(block + 4 * md5_k(i)) + md5_T(i));
}

static void md5_block(uint64_t state[REFERENCE_NWORDS], const uint8_t *block, unsigned block_nbytes)
{
    static const unsigned s[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = (uint32_t)state[0], b = (uint32_t)state[1], c = (uint32_t)state[2], d = (uint32_t)state[3];

    (void)block_nbytes;
    for (int i = 0; i < 64; i++) {
        const uint32_t f = i < 16   ? (b & c) | (~b & d)
                           : i < 32 ? (b & d) | (c & ~d)
                           : i < 48 ? b ^ c ^ d
                                    : c ^ (b | ~d);
        const uint32_t sum = a + f + little_endian(block + 4 * md5_k(i)) + md5_T(i);
        a = d, d = c, c = b;
        b += rotl(sum, s[i / 16][i % 4]);
    }
    state[0] = (uint32_t)(state[0] + a);
    state[1] = (uint32_t)(state[1] + b);
    state[2] = (uint32_t)(state[2] + c);
    state[3] = (uint32_t)(state[3] + d);
}

/* SM3, GB/T 32905-2016 section 5.3 */
static void sm3_W(uint32_t W[68], const uint8_t *block)
{
    for (int j = 0; j < 68; j++) {
        if (j < 16) {
            W[j] = big_endian(block + 4 * j);
        } else {
            const uint32_t X = W[j - 16] ^ W[j - 9] ^ rotl(W[j - 3], 15);
            W[j] = (X ^ rotl(X, 15) ^ rotl(X, 23)) ^ rotl(W[j - 13], 7) ^ W[j - 6];
        }
    }
}

/* W of the 64 rounds, then W'. */
static void sm3_schedule(uint64_t words[160], const uint8_t *block)
{
    uint32_t W[68];

    sm3_W(W, block);
    for (int j = 0; j < 64; j++) {
        words[j] = W[j];
        words[64 + j] = W[j] ^ W[j + 4];
    }
}

static void sm3_block(uint64_t V[REFERENCE_NWORDS], const uint8_t *block, unsigned block_nbytes)
{
    uint32_t W[68], v[8]; /* A .. H */

    (void)block_nbytes;
    sm3_W(W, block);
    for (int i = 0; i < 8; i++)
        v[i] = (uint32_t)V[i];
    for (int j = 0; j < 64; j++) {
        const uint32_t T = j < 16 ? 0x79cc4519 : 0x7a879d8a, turned = j % 32 == 0 ? T : rotl(T, (unsigned)j % 32);
        const uint32_t SS1 = rotl((uint32_t)(rotl(v[0], 12) + v[4] + turned), 7), SS2 = SS1 ^ rotl(v[0], 12);
        const uint32_t FF = j < 16 ? v[0] ^ v[1] ^ v[2] : (v[0] & v[1]) | (v[0] & v[2]) | (v[1] & v[2]);
        const uint32_t GG = j < 16 ? v[4] ^ v[5] ^ v[6] : (v[4] & v[5]) | (~v[4] & v[6]);
        const uint32_t TT1 = FF + v[3] + SS2 + (W[j] ^ W[j + 4]), TT2 = GG + v[7] + SS1 + W[j];
        v[3] = v[2], v[2] = rotl(v[1], 9), v[1] = v[0], v[0] = TT1;
        v[7] = v[6], v[6] = rotl(v[5], 19), v[5] = v[4], v[4] = TT2 ^ rotl(TT2, 9) ^ rotl(TT2, 17);
    }
    for (int i = 0; i < 8; i++)
        V[i] ^= v[i];
}

/* RFC 7693 sections 2.7 and 3.2. Behind h the state has the offset t, one word of 64 bits or two of 32, the flag f, as
 * a mask, and the digest's length. */
static const uint8_t blake2_sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static uint64_t blake2_turn(uint64_t x, unsigned n, unsigned nbits)
{
    const uint64_t mask = nbits == 64 ? UINT64_MAX : UINT32_MAX;

    x &= mask;
    return (x >> n | x << (nbits - n)) & mask;
}

/* One round, with the words of the message in that order. */
static void blake2_round(uint64_t v[16], const uint64_t m[16], const uint8_t order[16], unsigned nbits)
{
    static const unsigned turns[2][4] = {{16, 12, 8, 7}, {32, 24, 16, 63}};
    static const uint8_t places[8][4] = {{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15},
                                         {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13}, {3, 4, 9, 14}};
    const unsigned *const R = turns[nbits == 64];
    const uint64_t mask = nbits == 64 ? UINT64_MAX : UINT32_MAX;

    for (int i = 0; i < 8; i++) {
        uint64_t *const a = &v[places[i][0]], *const b = &v[places[i][1]], *const c = &v[places[i][2]];
        uint64_t *const d = &v[places[i][3]];
        for (int half = 0; half < 2; half++) {
            *a = (*a + *b + m[order[2 * i + half]]) & mask;
            *d = blake2_turn(*d ^ *a, R[2 * half], nbits);
            *c = (*c + *d) & mask;
            *b = blake2_turn(*b ^ *c, R[2 * half + 1], nbits);
        }
    }
}

static void blake2_block(uint64_t S[REFERENCE_NWORDS], const uint8_t *block, unsigned nbits, const uint64_t IV[8])
{
    const uint64_t nbytes = nbits * 2, mask = nbits == 64 ? UINT64_MAX : UINT32_MAX;
    uint64_t v[16], m[16];

    S[8] = (S[8] + nbytes) & mask;
    if (nbits == 32 && S[8] < nbytes)
        S[9] = (S[9] + 1) & mask;
    for (int i = 0; i < 16; i++) {
        m[i] = nbits == 32 ? little_endian(block + 4 * i)
                           : little_endian(block + 8 * i) | (uint64_t)little_endian(block + 8 * i + 4) << 32;
        v[i] = i < 8 ? S[i] : IV[i - 8];
    }
    v[12] ^= S[8];
    v[13] ^= nbits == 32 ? S[9] : 0;
    v[14] ^= S[nbits == 32 ? 10 : 9];
    for (int round = 0; round < (nbits == 64 ? 12 : 10); round++)
        blake2_round(v, m, blake2_sigma[round % 10], nbits);
    for (int i = 0; i < 8; i++)
        S[i] ^= v[i] ^ v[i + 8];
}

static void blake2b_block(uint64_t S[REFERENCE_NWORDS], const uint8_t *block, unsigned block_nbytes)
{
    static const uint64_t IV[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                   0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

    (void)block_nbytes;
    blake2_block(S, block, 64, IV);
}

static void blake2s_block(uint64_t S[REFERENCE_NWORDS], const uint8_t *block, unsigned block_nbytes)
{
    static const uint64_t IV[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

    (void)block_nbytes;
    blake2_block(S, block, 32, IV);
}

/* ---- BLAKE3 (O'Connor, Aumasson, Neves, Wilcox-O'Hearn 2020) ---- */

enum { B3_CHUNK_START = 1, B3_CHUNK_END = 2, B3_PARENT = 4, B3_ROOT = 8 };

/* Section 2.2. Behind h the state has the counter t, in two words, the length b, the flags d, and flags that only the
 * last block has. CHUNK_START is for one block. */
static void blake3_block(uint64_t S[REFERENCE_NWORDS], const uint8_t *block, unsigned block_nbytes)
{
    static const uint8_t permutation[16] = {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};
    uint8_t order[16];
    uint64_t m[16], v[16] = {S[0], S[1], S[2], S[3], S[4], S[5], S[6], S[7],
                             0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, S[8], S[9], S[10], S[11]};

    (void)block_nbytes;
    for (int i = 0; i < 16; i++) {
        m[i] = little_endian(block + 4 * i);
        order[i] = (uint8_t)i;
    }
    for (int round = 0; round < 7; round++) {
        blake2_round(v, m, order, 32);
        for (int i = 0; i < 16; i++)
            order[i] = permutation[order[i]];
    }
    for (int i = 0; i < 8; i++)
        S[i] = v[i] ^ v[i + 8];
    S[11] &= ~(uint64_t)B3_CHUNK_START;
}

/* Ends the current chunk, and has its chaining value. */
static void blake3_end_chunk(struct reference_ctx *ctx, uint64_t flags, uint8_t value[32])
{
    const uint64_t nbytes = ctx->nbytes;
    const unsigned held = nbytes == 0 ? 0 : (unsigned)((nbytes - 1) % 64) + 1;

    memset(ctx->block + held, 0, 64 - held);
    ctx->state[10] = held;
    ctx->state[11] |= flags;
    blake3_block(ctx->state, ctx->block, 64);
    for (unsigned i = 0; i < 32; i++)
        value[i] = (uint8_t)(ctx->state[i / 4] >> 8 * (i % 4));
}

/* value = the node of left and value. */
static void blake3_join(const struct reference *ref, const uint8_t left[32], uint8_t value[32], uint64_t flags)
{
    struct reference_ctx node = {.ref = ref, .nbytes = 64};

    memcpy(node.state, ref->iv, sizeof node.state);
    node.state[11] = B3_PARENT;
    memcpy(node.block, left, 32);
    memcpy(node.block + 32, value, 32);
    blake3_end_chunk(&node, flags, value);
}

/* Section 2.1: the chunks so far are complete; there will be more. Subtrees of one size are joined. */
static void blake3_next_chunk(struct reference_ctx *ctx)
{
    uint64_t nchunks = ctx->nbytes / 1024;
    unsigned n = 0;
    uint8_t value[32];

    for (uint64_t before = nchunks - 1; before != 0; before &= before - 1)
        n++;
    blake3_end_chunk(ctx, B3_CHUNK_END, value);
    memcpy(ctx->state, ctx->ref->iv, sizeof ctx->state);
    ctx->state[8] = (uint32_t)nchunks;
    ctx->state[9] = nchunks >> 32;
    for (; nchunks % 2 == 0; nchunks /= 2)
        blake3_join(ctx->ref, ctx->subtrees[--n], value, 0);
    memcpy(ctx->subtrees[n], value, 32);
}

static void blake3_final(struct reference_ctx *ctx, uint8_t digest[32])
{
    unsigned n = 0;

    for (uint64_t before = ctx->nbytes == 0 ? 0 : (ctx->nbytes - 1) / 1024; before != 0; before &= before - 1)
        n++;
    blake3_end_chunk(ctx, n == 0 ? B3_CHUNK_END | B3_ROOT : B3_CHUNK_END, digest);
    while (n-- > 0)
        blake3_join(ctx->ref, ctx->subtrees[n], digest, n == 0 ? B3_ROOT : 0);
}

/* ---- FIPS 202 ---- */

typedef uint64_t keccak_state[5][5]; /* [x][y]: the bits of a lane, bit z at 2^z (section 3.1) */

static uint64_t rotl64(uint64_t x, unsigned n)
{
    return n % 64 == 0 ? x : x << n % 64 | x >> (64 - n % 64);
}

/* Section 3.2.1 */
static void theta(keccak_state A)
{
    uint64_t C[5], D[5];

    for (int x = 0; x < 5; x++)
        C[x] = A[x][0] ^ A[x][1] ^ A[x][2] ^ A[x][3] ^ A[x][4];
    for (int x = 0; x < 5; x++)
        D[x] = C[(x + 4) % 5] ^ rotl64(C[(x + 1) % 5], 1);
    for (int x = 0; x < 5; x++)
        for (int y = 0; y < 5; y++)
            A[x][y] ^= D[x];
}

/* Section 3.2.2 */
static void rho(keccak_state A)
{
    int x = 1, y = 0;

    for (unsigned t = 0; t < 24; t++) {
        A[x][y] = rotl64(A[x][y], (t + 1) * (t + 2) / 2);
        const int next = (2 * x + 3 * y) % 5;
        x = y;
        y = next;
    }
}

/* Section 3.2.3 */
static void pi(keccak_state A)
{
    keccak_state before;

    memcpy(before, A, sizeof before);
    for (int x = 0; x < 5; x++)
        for (int y = 0; y < 5; y++)
            A[x][y] = before[(x + 3 * y) % 5][x];
}

/* Section 3.2.4 */
static void chi(keccak_state A)
{
    keccak_state before;

    memcpy(before, A, sizeof before);
    for (int x = 0; x < 5; x++)
        for (int y = 0; y < 5; y++)
            A[x][y] = before[x][y] ^ (~before[(x + 1) % 5][y] & before[(x + 2) % 5][y]);
}

/* Section 3.2.5, algorithm 5: the output of a linear feedback shift register. R[0] is bit 0. */
static unsigned rc(unsigned t)
{
    unsigned R = 1;

    for (unsigned i = 0; i < t % 255; i++) {
        R <<= 1; /* a zero in front; what was R[7] is R[8] */
        const unsigned R8 = R >> 8 & 1;
        R = (R ^ R8 ^ R8 << 4 ^ R8 << 5 ^ R8 << 6) & 0xff;
    }
    return R & 1;
}

static void iota(keccak_state A, unsigned ir)
{
    static uint64_t RC[24];

    for (unsigned i = 0; RC[23] == 0; i++)
        for (unsigned j = 0; j <= 6; j++)
            RC[i] |= (uint64_t)rc(j + 7 * i) << ((1u << j) - 1);
    A[0][0] ^= RC[ir];
}

/* Section 4, algorithm 8, step 6: a block of r bits is xored to the state, which Keccak-f[1600] permutes (section 3.3).
 * Lane A[x, y] is word x + 5 y, its bytes with the least significant first (sections 3.1.2 and B.1). */
static void keccak_block(uint64_t S[REFERENCE_NWORDS], const uint8_t *block, unsigned block_nbytes)
{
    keccak_state A;

    for (unsigned i = 0; i < block_nbytes; i++)
        S[i / 8] ^= (uint64_t)block[i] << 8 * (i % 8);
    for (int x = 0; x < 5; x++)
        for (int y = 0; y < 5; y++)
            A[x][y] = S[x + 5 * y];
    for (unsigned ir = 0; ir < 24; ir++) {
        theta(A);
        rho(A);
        pi(A);
        chi(A);
        iota(A, ir);
    }
    for (int x = 0; x < 5; x++)
        for (int y = 0; y < 5; y++)
            S[x + 5 * y] = A[x][y];
}

/* FIPS 202 section 5.2: KECCAK[c] has blocks of 1600 - c bits. Section B.2: the two bits that follow the messages of
 * SHA-3, the four of SHAKE, and none of Keccak-256 (its authors' submission), with the first one bit of the padding,
 * are the suffix. */
#define SPONGE(name, d, c, suffix, is_xof) \
    {name, (d) / 8, (1600 - (c)) / 8, 8, 25, 0, {0}, keccak_block, 0, NULL, suffix, is_xof, 0}

/* Initial values: section 5.3; RIPEMD-160's and MD5's are SHA-1's. */
static const struct reference references[] = {
    {"sha1", 20, 64, 4, 5, 1, {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}, sha1_block, 80,
     sha1_schedule, 0, 0, 0},
    {"sha224", 28, 64, 4, 8, 1,
     {0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939, 0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4}, sha256_block, 64,
     sha256_schedule, 0, 0, 0},
    {"sha256", 32, 64, 4, 8, 1,
     {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, sha256_block, 64,
     sha256_schedule, 0, 0, 0},
    {"sha384", 48, 128, 8, 8, 1,
     {0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17, 0x152fecd8f70e5939,
      0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4}, sha512_block, 80,
     sha512_schedule, 0, 0, 0},
    {"sha512", 64, 128, 8, 8, 1,
     {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
      0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179}, sha512_block, 80,
     sha512_schedule, 0, 0, 0},
    {"sha512-224", 28, 128, 8, 8, 1,
     {0x8c3d37c819544da2, 0x73e1996689dcd4d6, 0x1dfab7ae32ff9c82, 0x679dd514582f9fcf,
      0x0f6d2b697bd44da8, 0x77e36f7304c48942, 0x3f9d85a86a1d36c8, 0x1112e6ad91d692a1}, sha512_block, 80,
     sha512_schedule, 0, 0, 0},
    {"sha512-256", 32, 128, 8, 8, 1,
     {0x22312194fc2bf72c, 0x9f555fa3c84c64c2, 0x2393b86b6f53b151, 0x963877195940eabd,
      0x96283ee2a88effe3, 0xbe5e1e2553863992, 0x2b0199fc2c85b8aa, 0x0eb72ddc81c52ca2}, sha512_block, 80,
     sha512_schedule, 0, 0, 0},
    {"ripemd160", 20, 64, 4, 5, 0, {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}, ripemd160_block, 160,
     ripemd160_schedule, 0, 0, 0},
    {"md5", 16, 64, 4, 4, 0, {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}, md5_block, 64, md5_schedule, 0, 0, 0},
    {"sm3", 32, 64, 4, 8, 1,
     {0x7380166f, 0x4914b2b9, 0x172442d7, 0xda8a0600, 0xa96f30bc, 0x163138aa, 0xe38dee4d, 0xb0fb0e4e}, sm3_block, 128,
     sm3_schedule, 0, 0, 0},
    {"blake2b", 64, 128, 8, 11, 0,
     {0x6a09e667f2bdc948, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1, 0x510e527fade682d1,
      0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179, 0, 0, 64}, blake2b_block, 0, NULL, 0, 0, 1},
    {"blake2b-256", 32, 128, 8, 11, 0,
     {0x6a09e667f2bdc928, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1, 0x510e527fade682d1,
      0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179, 0, 0, 32}, blake2b_block, 0, NULL, 0, 0, 1},
    {"blake2s", 32, 64, 4, 12, 0,
     {0x6b08e647, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19, 0, 0, 0, 32},
     blake2s_block, 0, NULL, 0, 0, 1},
    {"blake3", 32, 64, 4, 13, 0,
     {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19, 0, 0, 64,
      B3_CHUNK_START, B3_CHUNK_END | B3_ROOT}, blake3_block, 0, NULL, 0, 0, 2},
    SPONGE("sha3-224", 224, 448, 0x06, 0), /* FIPS 202 section 6.1 */
    SPONGE("sha3-256", 256, 512, 0x06, 0),
    SPONGE("sha3-384", 384, 768, 0x06, 0),
    SPONGE("sha3-512", 512, 1024, 0x06, 0),
    SPONGE("shake128", 256, 256, 0x1f, 1), /* section 6.2; a digest of twice the strength if no length is given */
    SPONGE("shake256", 512, 512, 0x1f, 1),
    SPONGE("keccak-256", 256, 512, 0x01, 0),
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
    const unsigned block_nbytes = ctx->ref->block_nbytes;

    for (size_t i = 0; i < nbytes; i++, ctx->nbytes++) {
        const unsigned at = (unsigned)(ctx->nbytes % block_nbytes);
        if (ctx->ref->is_counted == 2 && ctx->nbytes % 1024 == 0 && ctx->nbytes > 0)
            blake3_next_chunk(ctx);
        else if (ctx->ref->is_counted && at == 0 && ctx->nbytes > 0) /* the full block was not the last */
            ctx->ref->block(ctx->state, ctx->block, block_nbytes);
        ctx->block[at] = bytes[i];
        if (!ctx->ref->is_counted && at + 1 == block_nbytes)
            ctx->ref->block(ctx->state, ctx->block, block_nbytes);
    }
}

/* FIPS 202 section 4: a sponge. The suffix, then pad10*1 (section 5.1): zeros and, at the end of the block, a one bit.
 * As long as bytes are missing, the state is permuted. */
void reference_final_long(struct reference_ctx *ctx, uint8_t *digest, size_t nbytes)
{
    const struct reference *ref = ctx->ref;
    const uint8_t zeros[REFERENCE_BLOCK_NBYTES] = {0};
    const unsigned held = (unsigned)(ctx->nbytes % ref->block_nbytes);
    uint8_t last[REFERENCE_BLOCK_NBYTES] = {0};

    memcpy(last, ctx->block, held);
    last[held] = (uint8_t)ref->suffix;
    last[ref->block_nbytes - 1] |= 0x80;
    ref->block(ctx->state, last, ref->block_nbytes);
    for (size_t i = 0; i < nbytes; i++) {
        const unsigned at = (unsigned)(i % ref->block_nbytes);
        if (i > 0 && at == 0)
            ref->block(ctx->state, zeros, ref->block_nbytes);
        digest[i] = (uint8_t)(ctx->state[at / 8] >> 8 * (at % 8));
    }
}

/* Section 5.1: a one bit, zeros up to the last two words of a block, and there the length in bits. RIPEMD-160 and MD5
 * do the same with the least significant byte first. */
void reference_final(struct reference_ctx *ctx, uint8_t *digest)
{
    const struct reference *ref = ctx->ref;
    const unsigned length_nbytes = 2 * ref->word_nbytes;
    const uint64_t nbytes = ctx->nbytes;
    const uint8_t one = 0x80, zero = 0;
    uint8_t length[16];

    if (ref->suffix != 0) {
        reference_final_long(ctx, digest, ref->digest_nbytes);
        return;
    }
    if (ref->is_counted == 2) {
        blake3_final(ctx, digest);
        return;
    }
    if (ref->is_counted) {
        const unsigned held = nbytes == 0 ? 0 : (unsigned)((nbytes - 1) % ref->block_nbytes) + 1;
        const uint64_t before = nbytes - ref->block_nbytes;
        memset(ctx->block + held, 0, ref->block_nbytes - held);
        ctx->state[8] = ref->word_nbytes == 4 ? (uint32_t)before : before;
        ctx->state[9] = ref->word_nbytes == 4 ? (uint32_t)(before >> 32) : UINT64_MAX;
        ctx->state[10] = ref->word_nbytes == 4 ? UINT32_MAX : ctx->state[10];
        ref->block(ctx->state, ctx->block, ref->block_nbytes);
        for (unsigned i = 0; i < ref->digest_nbytes; i++)
            digest[i] = (uint8_t)(ctx->state[i / ref->word_nbytes] >> 8 * (i % ref->word_nbytes));
        return;
    }
    /* nbytes * 8, which may take more than 64 bits. gcc for aarch64 does not see that length_nbytes is at most 16. */
    for (unsigned i = 0; i < length_nbytes && i < sizeof length; i++) {
        const unsigned shift = 8 * (ref->big_endian ? length_nbytes - 1 - i : i);
        length[i] = (uint8_t)(shift < 64 ? nbytes << 3 >> shift : shift == 64 ? nbytes >> 61 : 0);
    }
    reference_update(ctx, &one, 1);
    while (ctx->nbytes % ref->block_nbytes != ref->block_nbytes - length_nbytes)
        reference_update(ctx, &zero, 1);
    reference_update(ctx, length, length_nbytes);
    for (unsigned i = 0; i < ref->digest_nbytes; i++) {
        const unsigned byte = i % ref->word_nbytes, shift = 8 * (ref->big_endian ? ref->word_nbytes - 1 - byte : byte);
        digest[i] = (uint8_t)(ctx->state[i / ref->word_nbytes] >> shift);
    }
}
