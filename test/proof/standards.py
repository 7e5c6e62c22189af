"""standards.py: the block functions of SHA-1, SHA-2, SHA-3, RIPEMD-160, MD5, SM3, BLAKE2 and BLAKE3, written from the
standards alone.

SPDX-License-Identifier: MIT OR Apache-2.0

The first argument of each function is the arithmetic, `w`. On expressions (prove.py) a function states what a body must
compute. On Numbers it hashes, so that check() can compare this text with other implementations. Constants are computed
from their definitions.

`words(w, block)` lists the words of the message that rounds take, in the order of the core's schedules; constant `k[t]`
belongs to word t. `compress(w, state, wk)` takes the sums of both. Keccak and BLAKE have neither: their `compress`
takes the block.

`w.rename(xs)` says that the words are known from here on: what follows is a function of them alone. On expressions it
makes them words of their own, without which 24 rounds of Keccak have too many terms.
"""

import collections
import hashlib
import math
import re

Standard = collections.namedtuple("Standard", "bits big_endian nwords k words compress")


class Numbers:
    """Arithmetic on words, as Python's integers."""

    def __init__(self, bits):
        self.nbits, self.mask = bits, (1 << bits) - 1

    def const(self, c):
        return c

    def add(self, *xs):
        return sum(xs) & self.mask

    def xor(self, *xs):
        result = 0
        for x in xs:
            result ^= x
        return result

    def bits(self, f, *xs):
        return f(*xs) & self.mask

    def rol(self, x, n):
        return (x << n | x >> self.nbits - n) & self.mask

    def shr(self, x, n):
        return x >> n

    def is_known(self, x):
        return True

    def rename(self, xs):
        pass


# ---- Constants ------------------------------------------------------------------------------------------------------


def primes(n):
    found, i = [], 2
    while len(found) < n:
        if all(i % p for p in found):
            found.append(i)
        i += 1
    return found


def root(x, k, bits):
    """floor(2^bits * the k-th root of x), in integers"""
    low, high = 0, x << bits
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**k <= x << k * bits else (low, middle - 1)
    return low


def fraction(x, k, bits):
    return root(x, k, bits) & (1 << bits) - 1


def sine(i, bits=256):
    """2^bits * sin(i), by its series in integers; i is at most 64, and the error some 2^100."""
    total, term, n = 0, i << bits, 1
    while term:
        total += term
        n += 2
        term = -term * i * i // (n * (n - 1)) if abs(term) > 1 << 80 else 0
    return total


def little_endian(*hexadecimal):
    return [int.from_bytes(bytes.fromhex(h), "little") for h in hexadecimal]


# ---- FIPS 180-4 -----------------------------------------------------------------------------------------------------


def ch(x, y, z):
    return (x & y) ^ (~x & z)


def maj(x, y, z):
    return (x & y) ^ (x & z) ^ (y & z)


def parity(x, y, z):
    return x ^ y ^ z


def sha1_words(w, block):
    words = list(block)
    for t in range(16, 80):
        words.append(w.rol(w.xor(words[t - 3], words[t - 8], words[t - 14], words[t - 16]), 1))
    return words


def sha1_compress(w, state, wk):
    a, b, c, d, e = state
    for t in range(80):
        f = (ch, parity, maj, parity)[t // 20]
        a, b, c, d, e = w.add(w.rol(a, 5), w.bits(f, b, c, d), e, wk[t]), a, w.rol(b, 30), c, d
    return [w.add(x, y) for x, y in zip(state, (a, b, c, d, e))]


def sha2(bits, nrounds, big0, big1, small0, small1):
    """The last four: rotations to the right; of the small ones the third is a shift."""

    def ror(w, x, n):
        return w.rol(x, bits - n)

    def big(w, x, counts):
        return w.xor(*(ror(w, x, n) for n in counts))

    def small(w, x, counts):
        return w.xor(ror(w, x, counts[0]), ror(w, x, counts[1]), w.shr(x, counts[2]))

    def words(w, block):
        words = list(block)
        for t in range(16, nrounds):
            words.append(w.add(small(w, words[t - 2], small1), words[t - 7], small(w, words[t - 15], small0),
                               words[t - 16]))
        return words

    def compress(w, state, wk):
        a, b, c, d, e, f, g, h = state
        for t in range(nrounds):
            t1 = w.add(h, big(w, e, big1), w.bits(ch, e, f, g), wk[t])
            t2 = w.add(big(w, a, big0), w.bits(maj, a, b, c))
            a, b, c, d, e, f, g, h = w.add(t1, t2), a, b, c, w.add(d, t1), e, f, g
        return [w.add(x, y) for x, y in zip(state, (a, b, c, d, e, f, g, h))]

    k = [fraction(p, 3, bits) for p in primes(nrounds)]
    return Standard(bits, True, 8, k, words, compress)


# ---- RIPEMD-160: Dobbertin, Bosselaers, Preneel 1996, appendix A ----------------------------------------------------

RHO = [7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8]
# The rotation of each word of the message, round by round.
SHIFTS = [
    [11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8],
    [12, 13, 11, 15, 6, 9, 9, 7, 12, 15, 11, 13, 7, 8, 7, 7],
    [13, 15, 14, 11, 7, 7, 6, 8, 13, 14, 13, 12, 5, 5, 6, 9],
    [14, 11, 12, 14, 8, 6, 5, 5, 15, 12, 15, 14, 9, 9, 8, 6],
    [15, 12, 13, 13, 9, 5, 8, 6, 14, 11, 12, 11, 8, 6, 5, 5],
]
RIPEMD160_F = [
    parity,
    lambda x, y, z: (x & y) | (~x & z),
    lambda x, y, z: (x | ~y) ^ z,
    lambda x, y, z: (x & z) | (y & ~z),
    lambda x, y, z: x ^ (y | ~z),
]


def ripemd160_orders(first):
    """Which word each step of the five rounds takes."""
    orders = [first]
    while len(orders) < 5:
        orders.append([RHO[i] for i in orders[-1]])
    return orders


RIPEMD160_ORDERS = [ripemd160_orders(list(range(16))), ripemd160_orders([(9 * i + 5) % 16 for i in range(16)])]


def ripemd160_line(w, state, wk, functions, orders):
    """wk: for each round 16 words"""
    a, b, c, d, e = state
    for j in range(80):
        q, i = j // 16, orders[j // 16][j % 16]
        t = w.add(w.rol(w.add(a, w.bits(functions[q], b, c, d), wk[16 * q + i]), SHIFTS[q][i]), e)
        a, b, c, d, e = e, t, b, w.rol(c, 10), d
    return a, b, c, d, e


def ripemd160_compress(w, state, wk):
    h = state
    left = ripemd160_line(w, h, wk[:80], RIPEMD160_F, RIPEMD160_ORDERS[0])
    right = ripemd160_line(w, h, wk[80:], RIPEMD160_F[::-1], RIPEMD160_ORDERS[1])
    return [w.add(h[(i + 1) % 5], left[(i + 2) % 5], right[(i + 3) % 5]) for i in range(5)]


RIPEMD160_K = [0] + [root(x, 2, 30) for x in (2, 3, 5, 7)] + [root(x, 3, 30) for x in (2, 3, 5, 7)] + [0]

# ---- MD5: RFC 1321 section 3.4 --------------------------------------------------------------------------------------

MD5_F = [
    lambda x, y, z: (x & y) | (~x & z),
    lambda x, y, z: (x & z) | (y & ~z),
    parity,
    lambda x, y, z: y ^ (x | ~z),
]
MD5_SHIFTS = [(7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21)]
MD5_ORDERS = [(0, 1), (1, 5), (5, 3), (0, 7)]  # the first word, and from one step to the next


def md5_words(w, block):
    return [block[(MD5_ORDERS[t // 16][0] + MD5_ORDERS[t // 16][1] * (t % 16)) % 16] for t in range(64)]


def md5_compress(w, state, wk):
    a, b, c, d = state
    for t in range(64):
        q = t // 16
        rotated = w.rol(w.add(a, w.bits(MD5_F[q], b, c, d), wk[t]), MD5_SHIFTS[q][t % 4])
        a, b, c, d = d, w.add(b, rotated), b, c
    return [w.add(x, y) for x, y in zip(state, (a, b, c, d))]


# ---- SM3: GB/T 32905-2016 section 5.3 -------------------------------------------------------------------------------


def sm3_words(w, block):
    """W of the 64 rounds, then W'."""
    words = list(block)
    for j in range(16, 68):
        x = w.xor(words[j - 16], words[j - 9], w.rol(words[j - 3], 15))
        words.append(w.xor(x, w.rol(x, 15), w.rol(x, 23), w.rol(words[j - 13], 7), words[j - 6]))
    return words[:64] + [w.xor(words[j], words[j + 4]) for j in range(64)]


def sm3_compress(w, state, wk):
    a, b, c, d, e, f, g, h = state
    for j in range(64):
        turned, t = w.rol(a, 12), 0x79CC4519 if j < 16 else 0x7A879D8A
        ss1 = w.rol(w.add(turned, e, w.const((t << j % 32 | t >> 32 - j % 32) & 0xFFFFFFFF)), 7)
        tt1 = w.add(w.bits(parity if j < 16 else maj, a, b, c), d, w.xor(ss1, turned), wk[64 + j])
        tt2 = w.add(w.bits(parity if j < 16 else ch, e, f, g), h, ss1, wk[j])
        a, b, c, d = tt1, a, w.rol(b, 9), c
        e, f, g, h = w.xor(tt2, w.rol(tt2, 9), w.rol(tt2, 17)), e, w.rol(f, 19), g
    return [w.xor(x, y) for x, y in zip(state, (a, b, c, d, e, f, g, h))]


# ---- BLAKE2: RFC 7693 -----------------------------------------------------------------------------------------------

SIGMA = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
]


def blake2_rounds(w, bits, turns, orders, v, block):
    """RFC 7693 section 3.2, in place; the words of the block in these orders."""
    def g(a, b, c, d, x, y):  # section 3.1
        for word, (first, second) in ((x, turns[:2]), (y, turns[2:])):
            v[a] = w.add(v[a], v[b], word)
            v[d] = w.rol(w.xor(v[d], v[a]), bits - first)
            v[c] = w.add(v[c], v[d])
            v[b] = w.rol(w.xor(v[b], v[c]), bits - second)

    for s in orders:
        for n, at in enumerate(((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
                                (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))):
            g(*at, block[s[2 * n]], block[s[2 * n + 1]])


def blake2(bits, nrounds, turns):
    """Behind the eight words of h, the offset counter t in one word of 64 bits or two of 32, the flag f as a mask, and
    the digest's length."""
    iv, nbytes = [fraction(p, 2, bits) for p in primes(8)], 2 * bits

    def compress(w, state, block):
        h, (low, *rest) = state[:8], state[8:]
        count = w.add(low, w.const(nbytes))
        if bits == 32:  # with the carry of the sum
            carry = w.shr(w.bits(maj, low, w.const(nbytes), w.bits(lambda x: ~x, count)), 31)
            rest[0] = w.add(rest[0], carry)
        v = [*h, *map(w.const, iv)]
        v[12] = w.xor(v[12], count)
        v[13] = w.xor(v[13], rest[0]) if bits == 32 else v[13]
        v[14] = w.xor(v[14], rest[bits == 32])
        blake2_rounds(w, bits, turns, [SIGMA[i % 10] for i in range(nrounds)], v, block)
        return [*(w.xor(h[i], v[i], v[i + 8]) for i in range(8)), count, *rest]

    return Standard(bits, False, 11 + (bits == 32), None, None, compress)


# BLAKE3: O'Connor, Aumasson, Neves, Wilcox-O'Hearn 2020, section 2
CHUNK_START, CHUNK_END, PARENT, ROOT, CHUNK = 1, 2, 4, 8, 1024
PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]


def blake3():
    """Behind h the counter t in two words, the length b, the flags d without CHUNK_START for the next block, and flags
    of the last block."""
    iv, orders = [fraction(p, 2, 32) for p in primes(4)], [list(range(16))]
    for _ in range(6):
        orders.append([orders[-1][i] for i in PERMUTATION])

    def compress(w, state, block):
        v = [*state[:8], *map(w.const, iv), *state[8:12]]
        blake2_rounds(w, 32, (16, 12, 8, 7), orders, v, block)
        flags = w.bits(lambda x, y: x & y, state[11], w.const(0xFFFFFFFF ^ CHUNK_START))
        return [*(w.xor(v[i], v[i + 8]) for i in range(8)), *state[8:11], flags, state[12]]

    return Standard(32, False, 13, None, None, compress)


def blake3_root(iv, message, node):
    """The root's state: node(state, its bytes) of chunks and nodes. Section 2.1; iv: of a message of one chunk."""
    def state(chunk, flags, last):
        return [*iv[:8], chunk, 0, 64, flags, last]

    chunks = [message[at : at + CHUNK] for at in range(0, len(message), CHUNK)] or [message]
    if len(chunks) == 1:
        return node(iv, message)
    level = [node(state(i, CHUNK_START, CHUNK_END), chunk)[:8] for i, chunk in enumerate(chunks)]
    while len(level) > 1:
        of_root = ROOT if len(level) == 2 else 0
        pairs = [node(state(0, PARENT, of_root), level[i] + level[i + 1])[:8] for i in range(0, len(level) - 1, 2)]
        level = pairs + level[len(level) // 2 * 2 :]
    return level[0]


def last_of(name, state, nbytes):
    """The state before the last block of a message of nbytes: the counter is that of the bytes less a block. BLAKE3: of
    a chunk."""
    if name == "blake3":
        return [*state[:10], (nbytes - 1) % 64 + 1 if nbytes else 0, state[11] | state[12], state[12]]
    bits = STANDARDS[name].bits
    count = nbytes - 2 * bits & (1 << 64) - 1
    counters = [count, (1 << 64) - 1] if bits == 64 else [count & 0xFFFFFFFF, count >> 32, 0xFFFFFFFF]
    return [*state[:8], *counters, state[-1]]


def blake2_digest(name, iv, message):
    """Of BLAKE3, one chunk."""
    s, size = STANDARDS[name], STANDARDS[name].bits * 2
    numbers, state = Numbers(s.bits), iv
    blocks = [message[at : at + size] for at in range(0, len(message), size)] or [b""]
    for i, block in enumerate(blocks):
        block += bytes(size - len(block))
        words = [int.from_bytes(block[at : at + s.bits // 8], "little") for at in range(0, size, s.bits // 8)]
        state = after_block(numbers, s, last_of(name, state, len(message)) if i == len(blocks) - 1 else state, words)
    return b"".join(x.to_bytes(s.bits // 8, "little") for x in state[:8])


# ---- FIPS 202 -------------------------------------------------------------------------------------------------------


def rc(t):
    """Algorithm 5."""
    r = [1, 0, 0, 0, 0, 0, 0, 0]
    for _ in range(t % 255):
        r = [0, *r]
        for i in (0, 4, 5, 6):
            r[i] ^= r[8]
        r = r[:8]
    return r[0]


def round_constant(i):
    """RC of algorithm 6, for lanes of 2^6 bits."""
    return sum(rc(j + 7 * i) << 2**j - 1 for j in range(7))


def keccak_theta(w, a):
    c = [w.xor(*(a[x, y] for y in range(5))) for x in range(5)]
    d = [w.xor(c[(x - 1) % 5], w.rol(c[(x + 1) % 5], 1)) for x in range(5)]
    return {(x, y): w.xor(a[x, y], d[x]) for x, y in a}


def keccak_rho(w, a):
    out, (x, y) = {(0, 0): a[0, 0]}, (1, 0)
    for t in range(24):
        out[x, y] = w.rol(a[x, y], (t + 1) * (t + 2) // 2 % 64)
        x, y = y, (2 * x + 3 * y) % 5
    return out


def keccak_pi(a):
    return {(x, y): a[(x + 3 * y) % 5, x] for x, y in a}


def keccak_chi(w, a):
    return {(x, y): w.bits(lambda b, b1, b2: b ^ (~b1 & b2), a[x, y], a[(x + 1) % 5, y], a[(x + 2) % 5, y])
            for x, y in a}


def keccak_compress(w, state, block):
    """Steps 6 of algorithm 8 (SPONGE), and algorithm 7 with 24 rounds. Section 3.1.2: A[x, y] is word x + 5y."""
    words = [w.xor(x, block[i]) if i < len(block) else x for i, x in enumerate(state)]
    a = {(i % 5, i // 5): x for i, x in enumerate(words)}
    for i in range(24):
        b = keccak_theta(w, a)
        # A word that is known before theta, as in a state of zeros, is a sum of parities after it, and such sums are in
        # other words too. The words after the round are then made of few others, if any is known even after theta.
        is_full = not any(w.is_known(x) for x in b.values())
        w.rename(b[at] for at in b if is_full and not w.is_known(a[at]))
        a = keccak_chi(w, keccak_pi(keccak_rho(w, b)))
        a[0, 0] = w.xor(a[0, 0], w.const(round_constant(i)))
        w.rename(a[at] for at in a if is_full)
    return [a[i % 5, i // 5] for i in range(25)]


Sponge = collections.namedtuple("Sponge", "block_nbytes suffix digest_nbytes")


def sponge_named(name):
    """SHA-3 (section 6.1), SHAKE (section 6.2), Keccak[c] without a suffix as it was before FIPS 202. The suffix's bits
    come before the first one of the padding (section B.2). The digest of a SHAKE has twice its strength."""
    family, n = re.fullmatch(r"(sha3|shake|keccak)[-_]?(\d+)", name).groups()
    bits = {"sha3": "01", "shake": "1111", "keccak": ""}[family] + "1"
    suffix, n = int(bits[::-1], 2), int(n)
    return Sponge((1600 - 2 * n) // 8, suffix, n // 8 * (2 if family == "shake" else 1))


# ---- All ------------------------------------------------------------------------------------------------------------

STANDARDS = {
    "sha1": Standard(32, True, 5, [root(x, 2, 30) for x in (2, 3, 5, 10) for _ in range(20)], sha1_words,
                     sha1_compress),
    "sha256": sha2(32, 64, (2, 13, 22), (6, 11, 25), (7, 18, 3), (17, 19, 10)),
    "sha512": sha2(64, 80, (28, 34, 39), (14, 18, 41), (1, 8, 7), (19, 61, 6)),
    "ripemd160": Standard(32, False, 5, [k for k in RIPEMD160_K for _ in range(16)],
                          lambda w, block: [block[i % 16] for i in range(160)], ripemd160_compress),
    "md5": Standard(32, False, 4, [abs(sine(i)) >> 256 - 32 for i in range(1, 65)], md5_words, md5_compress),
    "sm3": Standard(32, True, 8, [0] * 128, sm3_words, sm3_compress),
    "blake2b": blake2(64, 12, (32, 24, 16, 63)),
    "blake2s": blake2(32, 10, (16, 12, 8, 7)),
    "blake3": blake3(),
    "keccak": Standard(64, False, 25, None, None, keccak_compress),
}


def after_block(w, standard, state, block):
    if standard.words is None:
        return standard.compress(w, state, block)
    return standard.compress(w, state, [w.add(x, k) for x, k in zip(standard.words(w, block), standard.k)])


def digest(name, iv, message):
    """All words of the last state, as bytes."""
    s = STANDARDS[name]
    numbers, nbytes, order = Numbers(s.bits), s.bits // 8, "big" if s.big_endian else "little"
    length = (8 * len(message)).to_bytes(2 * nbytes, order)
    message += b"\x80" + bytes(-(len(message) + 1 + len(length)) % (16 * nbytes)) + length
    state = iv
    for at in range(0, len(message), 16 * nbytes):
        block = [int.from_bytes(message[at + i : at + i + nbytes], order) for i in range(0, 16 * nbytes, nbytes)]
        state = after_block(numbers, s, state, block)
    return b"".join(x.to_bytes(nbytes, order) for x in state)


def sponge_digest(name, message, digest_nbytes=None):
    """Algorithm 8, of whole bytes."""
    nbytes, suffix, usual = sponge_named(name)
    numbers, s, state, out = Numbers(64), STANDARDS["keccak"], [0] * 25, b""
    padded = bytearray(message + bytes([suffix]) + bytes(-(len(message) + 1) % nbytes))
    padded[-1] |= 0x80
    digest_nbytes = usual if digest_nbytes is None else digest_nbytes
    for at in range(0, len(padded), nbytes):
        block = [int.from_bytes(padded[at + i : at + i + 8], "little") for i in range(0, nbytes, 8)]
        state = after_block(numbers, s, state, block)
    while True:
        out += b"".join(x.to_bytes(8, "little") for x in state[: nbytes // 8])
        if len(out) >= digest_nbytes:
            return out[:digest_nbytes]
        state = after_block(numbers, s, state, [])


def initial_values():
    """FIPS 180-4 section 5.3; the five words of SHA-1 are also RIPEMD-160's, the first four MD5's."""
    p = primes(16)
    ivs = {
        "sha1": little_endian("01234567", "89abcdef", "fedcba98", "76543210", "f0e1d2c3"),
        "sha256": [fraction(x, 2, 32) for x in p[:8]],
        "sha224": [fraction(x, 2, 64) & 0xFFFFFFFF for x in p[8:]],
        "sha512": [fraction(x, 2, 64) for x in p[:8]],
        "sha384": [fraction(x, 2, 64) for x in p[8:]],
        # GB/T 32905-2016 section 4.1, which says nothing of their origin
        "sm3": [0x7380166F, 0x4914B2B9, 0x172442D7, 0xDA8A0600, 0xA96F30BC, 0x163138AA, 0xE38DEE4D, 0xB0FB0E4E],
    }
    for name, of, nbytes in (("blake2b", "sha512", 64), ("blake2b_256", "sha512", 32), ("blake2s", "sha256", 32)):
        ivs[name] = [ivs[of][0] ^ 0x01010000 ^ nbytes, *ivs[of][1:], *[0] * (2 + (of == "sha256")), nbytes]
    ivs["blake3"] = [*ivs["sha256"], 0, 0, 64, CHUNK_START, CHUNK_END | ROOT]
    for t in ("224", "256"):
        start = [x ^ 0xA5A5A5A5A5A5A5A5 for x in ivs["sha512"]]
        made = digest("sha512", start, f"SHA-512/{t}".encode())
        ivs["sha512_" + t] = [int.from_bytes(made[i : i + 8], "big") for i in range(0, 64, 8)]
    return ivs


def check():
    """Compares this text with hashlib, with the examples of RIPEMD-160's paper and with a digest of Keccak before FIPS
    202. Returns the errors."""
    ivs, errors = initial_values(), []
    messages = [bytes((i * i + n) & 0xFF for i in range(n)) for n in (0, 1, 55, 56, 64, 111, 112, 128, 200, 1000)]
    for name in ("sha1", "sha256", "sha512", "md5"):
        iv = ivs["sha1" if name == "md5" else name][: STANDARDS[name].nwords]
        if any(digest(name, iv, m) != hashlib.new(name, m, usedforsecurity=False).digest() for m in messages):
            errors.append(f"standards.py: {name} is not hashlib's")
    for name in ("blake2b", "blake2s"):
        if any(blake2_digest(name, ivs[name], m) != hashlib.new(name, m).digest() for m in messages):
            errors.append(f"standards.py: {name} is not hashlib's")
    # its authors' vectors
    for n, right in ((0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
                     (1023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11")):
        if blake2_digest("blake3", ivs["blake3"], bytes(i % 251 for i in range(n))).hex() != right:
            errors.append(f"standards.py: BLAKE3 of {n} bytes is not its authors'")
    if digest("sm3", ivs["sm3"], b"abc").hex() != "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0":
        errors.append("standards.py: SM3 of 'abc' is not that of appendix A")
    # appendix B
    for message, expected in ((b"", "9c1185a5c5e9fc54612808977ee8f548b2258d31"),
                              (b"abc", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"),
                              (b"1234567890" * 8, "9b752e45573d4b39f4dbd3323cab82bf63326bfb")):
        if digest("ripemd160", ivs["sha1"], message).hex() != expected:
            errors.append(f"standards.py: RIPEMD-160 of {message!r} is not the paper's")
    for name in ("sha3_224", "sha3_256", "sha3_384", "sha3_512", "shake_128", "shake_256"):
        sponge = sponge_named(name.replace("e_", "e"))
        made = hashlib.new(name)
        digest_nbytes = [made.digest_size] if made.digest_size else [sponge.digest_nbytes, 500]
        lengths = 0, 1, sponge.block_nbytes - 1, sponge.block_nbytes, 300
        for message, n in ((bytes(i % 251 for i in range(length)), n) for length in lengths for n in digest_nbytes):
            right = hashlib.new(name, message).digest(*([] if made.digest_size else [n]))
            if sponge_digest(name.replace("e_", "e"), message, n) != right:
                errors.append(f"standards.py: {name} of {len(message)} bytes is not hashlib's")
        if made.digest_size not in (0, sponge.digest_nbytes) or made.block_size != sponge.block_nbytes:
            errors.append(f"standards.py: {name} has other sizes in hashlib")
    # The digest of no bytes as the Keccak team's submission and Ethereum have it.
    if sponge_digest("keccak-256", b"").hex() != "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470":
        errors.append("standards.py: Keccak-256 of no bytes")
    if any(abs(math.sin(i) - sine(i) / 2**256) > 1e-12 for i in range(1, 65)):
        errors.append("standards.py: sines are not those of math.sin")
    return errors
