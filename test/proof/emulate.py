"""emulate.py: runs the core's public calls on a CPU that is not there, and compares what they return with Python's.

SPDX-License-Identifier: MIT OR Apache-2.0

machine.py is an emulator if all contents are known. Its models of instructions are held against real CPUs (silicon.py),
so that a machine without AVX-512 tests what the core does over AVX-512: messages of mixed lengths, whole messages,
search, HMAC, PBKDF2, and streams that are exported and continued.
"""

import hashlib
import random
import struct

from machine import Fault
from standards import blake2_digest, digest, initial_values, sponge_digest

IVS = initial_values()
IVS["ripemd160"] = IVS["sha1"]


def hashed(algorithm, message):
    """What Python, or the standard's text, makes of a message."""
    name = algorithm.name.replace("-", "_")
    if algorithm.is_sponge:
        return squeezed(algorithm, message, algorithm.digest_nbytes)
    if name in ("sha1", "sha224", "sha256", "sha384", "sha512", "md5"):
        return hashlib.new(name, message, usedforsecurity=False).digest()
    of_body = blake2_digest if algorithm.is_counted else digest
    return of_body(algorithm.body, IVS[name], message)[: algorithm.digest_nbytes]


def squeezed(algorithm, message, nbytes):
    name = algorithm.name.replace("-", "_").replace("shake", "shake_")
    if name not in hashlib.algorithms_available:
        return sponge_digest(algorithm.name, message, nbytes)
    made = hashlib.new(name, message)
    return made.digest(*([nbytes] if algorithm.is_xof else []))


def tag(algorithm, key, message):
    """HMAC: FIPS 198-1 section 4."""
    key = hashed(algorithm, key) if len(key) > algorithm.block_nbytes else key
    key = key.ljust(algorithm.block_nbytes, b"\0")
    inner = hashed(algorithm, bytes(x ^ 0x36 for x in key) + message)
    return hashed(algorithm, bytes(x ^ 0x5C for x in key) + inner)


def derived(algorithm, password, salt, niterations, nbytes):
    """PBKDF2: RFC 8018 section 5.2."""
    out = b""
    for i in range(1, nbytes // algorithm.digest_nbytes + 2):
        u = tag(algorithm, password, salt + struct.pack(">I", i))
        total = int.from_bytes(u, "big")
        for _ in range(1, niterations):
            u = tag(algorithm, password, u)
            total ^= int.from_bytes(u, "big")
        out += total.to_bytes(len(u), "big")
    return out[:nbytes]


class Core:
    """Calls of the core in an emulated machine."""

    def __init__(self, m, isas, seed):
        self.m, self.chance = m, random.Random(seed)
        m.hooks[m.image.symbols["hli_detect"]] = lambda m: m.image.isa.answer(m, 0xFFFFFFFF)
        self.call("hl_restrict", isas)

    def call(self, function, *arguments):
        m = self.m
        # A callee leaves nothing of a vector to its caller, and all memory that it may read is known.
        m.call(function, *arguments)
        result = m.image.isa.result(m) & 0xFFFFFFFF
        if result:
            raise Fault(f"{function}: status {result}")

    def put(self, data, at=None):
        return self.m.bytes(data, 64, self.chance.randrange(64) if at is None else at) if data else 0

    def packed(self, form, *values):
        data = struct.pack("<" + form, *values)
        address = self.m.new(len(data), 64)
        for i, byte in enumerate(data):
            self.m.store(address + i, 1, byte)
        return address

    def slices(self, messages):
        return self.packed(f"{2 * len(messages)}Q", *(x for y in messages for x in (self.put(y), len(y))))

    def new(self, nbytes):
        """Memory with random contents."""
        return self.packed(f"{nbytes}s", self.chance.randbytes(nbytes))

    def read(self, address, nbytes):
        return bytes(self.m.load(address + i, 1) for i in range(nbytes))

    # Each of the following returns what the core made, and what is right.

    def many(self, algorithm, lengths):
        messages = [self.chance.randbytes(n) for n in lengths]
        out = self.new(algorithm.digest_nbytes * len(messages))
        self.call("hl_hash_many", algorithm.number, self.slices(messages), len(messages), out)
        return (self.read(out, algorithm.digest_nbytes * len(messages)),
                b"".join(hashed(algorithm, x) for x in messages))

    def mixed(self, algorithm):
        below = self.chance.randrange
        return self.many(algorithm, [self.chance.choice((below(400), below(60), 64, 128))
                                     for _ in range(below(20, 40))])

    def whole(self, algorithm):
        """Short messages of other lengths each, so many that all lanes are full: one block with padding, two, or all
        of one block."""
        block = algorithm.block_nbytes
        longest = block if algorithm.is_counted else block - 1 - (0 if algorithm.is_sponge else block // 8)
        low, high = self.chance.choice(((0, longest), (longest + 1, longest + block), (block, block)))
        return self.many(algorithm, [self.chance.randint(low, high) for _ in range(48)])

    def tags(self, algorithm):
        secret = self.chance.randbytes(self.chance.choice((0, 20, algorithm.block_nbytes, 200)))
        messages = [self.chance.randbytes(self.chance.randrange(300)) for _ in range(self.chance.randrange(2, 20))]
        key, out = self.new(408), self.new(algorithm.digest_nbytes * len(messages))
        self.call("hl_hmac_key_init", key, algorithm.number, self.put(secret), len(secret))
        self.call("hl_hmac_many", key, self.slices(messages), len(messages), out)
        return (self.read(out, algorithm.digest_nbytes * len(messages)),
                b"".join(tag(algorithm, secret, x) for x in messages))

    def keys(self, algorithm):
        n, nbytes = self.chance.choice((1, 3, 17)), algorithm.digest_nbytes + self.chance.randrange(30)
        passwords = [self.chance.randbytes(self.chance.randrange(40)) for _ in range(n)]
        salts = [self.chance.randbytes(self.chance.randrange(30)) for _ in range(n)]
        out = self.new(n * nbytes)
        self.call("hl_pbkdf2_many", algorithm.number, self.slices(passwords), self.slices(salts), 2, n, out, nbytes)
        return self.read(out, n * nbytes), b"".join(derived(algorithm, *x, 2, nbytes) for x in zip(passwords, salts))

    def streams(self, algorithm):
        """Streams in parts; each is exported and continued by another context."""
        n, room = self.chance.randrange(2, 20), 640
        parts = [[self.chance.randbytes(self.chance.randrange(200)) for _ in range(n)] for _ in range(3)]
        contexts = [self.new(384) for _ in range(n)]
        for context in contexts:
            self.call("hl_init", context, algorithm.number)
        for chunks in parts:
            self.call("hl_update_many", self.packed(f"{n}Q", *contexts), self.slices(chunks), n)
            for i, context in enumerate(contexts):
                exported, size, contexts[i] = self.new(room), self.new(8), self.new(384)
                self.call("hl_export", context, exported, room, size)
                self.call("hl_import", contexts[i], exported, self.m.load(size, 8))
        out = self.new(algorithm.digest_nbytes * n)
        self.call("hl_final_many", self.packed(f"{n}Q", *contexts), n, out)
        return (self.read(out, algorithm.digest_nbytes * n),
                b"".join(hashed(algorithm, b"".join(x)) for x in zip(*parts)))

    def squeezes(self, algorithm):
        """A stream whose digest comes in parts, of which some are longer than a block."""
        message, context = self.chance.randbytes(self.chance.randrange(400)), self.new(384)
        parts = [self.chance.choice((0, 1, 8, 60, algorithm.block_nbytes, 400)) for _ in range(4)]
        out = self.new(sum(parts) + 1)
        self.call("hl_init", context, algorithm.number)
        self.call("hl_update", context, self.put(message), len(message))
        for i, n in enumerate(parts):
            self.call("hl_squeeze", context, out + sum(parts[:i]), n)
        return self.read(out, sum(parts)), squeezed(algorithm, message, sum(parts))

    def search(self, algorithm, again=None):
        """Nonces whose digest is low: one of four."""
        prefix, suffix = (self.chance.randbytes(self.chance.choice((0, 20, 76, 130))) for _ in range(2))
        orders, last = [self.chance.randrange(2) for _ in range(2)], again or algorithm
        alphabet = self.chance.choice((None, bytes(range(48, 58)), bytes(range(65, 91))))
        base, width = len(alphabet) if alphabet else 256, self.chance.choice((0, 4, 7))
        first = self.chance.randrange(0, base**2)
        end = first + self.chance.randrange(20, 60)
        target = b"\x3f" + b"\xff" * 63
        room, found, nfound = 64, self.new(8 * 64), self.new(8)
        job = self.packed("QIIQQQQQIIIIQQ64s", 152, algorithm.number, again.number if again else 0, self.put(prefix),
                          len(prefix), self.put(suffix), len(suffix), self.put(alphabet), base, width, *orders, first,
                          end, target)
        self.call("hl_search", job, found, room, nfound)
        right = []
        for nonce in range(first, end + 1):
            digits, x = [], nonce
            while x or not digits or len(digits) < width:
                digits.append(x % base)
                x //= base
            digits = bytes(alphabet[d] if alphabet else d for d in digits)
            made = hashed(algorithm, prefix + (digits if orders[0] else digits[::-1]) + suffix)
            made = hashed(again, made) if again else made
            if (made[::-1] if orders[1] else made) <= target[: last.digest_nbytes]:
                right.append(nonce)
        n = self.m.load(nfound, 8)
        return [self.m.load(found + 8 * i, 8) for i in range(min(n, room))], right


def cases_of(algorithm):
    """The calls that an algorithm has."""
    only = ["squeezes"] if algorithm.is_xof else [] if algorithm.is_counted else \
        ["tags", "keys"] + ["search"] * (not algorithm.is_sponge)
    return ["mixed", "whole", *["streams"] * (not algorithm.is_tree), *only]


def runs(machine, isas, algorithms, some, every, first=0):
    """Names and functions of an image that say whether a call returns something else than Python. machine: what makes
    one for an image. some: of the algorithms, those that are tried even if not everything is. first: the seed then."""
    def run(image, case, algorithm, seed, again):
        core = Core(machine(image), isas, seed)
        made, right = getattr(core, case)(algorithm, *([again] if case == "search" else []))
        return made != right, core.m.executed

    chance = random.Random(3)
    for seed in range(40) if every else (first,):
        for algorithm in algorithms:
            for case in cases_of(algorithm):
                again = chance.choice((None, None, algorithm,
                                       *(x for x in algorithms if not (x.is_sponge or x.is_counted))))
                if every or algorithm in some and (case == "squeezes" or not algorithm.is_xof):
                    name = f"emulated {case} of {algorithm.name}, seed {seed}"
                    yield name, lambda image, c=case, a=algorithm, s=seed, g=again: run(image, c, a, s, g)
