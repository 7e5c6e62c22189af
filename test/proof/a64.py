"""a64.py: what the instructions of AArch64 do that compilers make of the core.

After Arm's Architecture Reference Manual, sections C6.2 and C7.2.

SPDX-License-Identifier: MIT OR Apache-2.0
"""

import re

from machine import Fault, known, lanes
from words import FULL, add, conj, cut, disj, rol, shl, shr, sub, swapped, table, variable, xor

OBJDUMP = []
FAMILY = "HLI_ARM64"  # in registry.def
ZERO = 32  # the number of the zero register; 31 is the stack pointer


def begin(m):
    m.r = [variable(("x", i), 64) for i in range(31)] + [m.stack, 0]
    m.v = {i: (64, (variable(("v", i, 0), 64), variable(("v", i, 1), 64))) for i in range(32)}
    m.k = {}
    m.cf = m.zf = m.sf = m.of = m.compared = None


def enter(m, arguments):
    m.r[30], m.r[31] = m.stop, m.stack
    m.calls = ((m.stack, m.stack, m.stop),)
    m.r[: len(arguments)] = arguments


def argument(m, i):
    return m.r[i]


def answer(m, value):
    m.r[0] = value


def result(m):
    return m.r[0]


def saved(m):
    """What a callee must leave as it was."""
    return [*m.r[19:30], m.r[31], *(lanes(m.v[i], 64, 1) for i in range(8, 16))]


def stack_begin(m):
    return m.r[31]


def leave(m, register=None):
    return m.returned(m.r[31], register.get(m) if register else m.r[30])


# ---- Operands -------------------------------------------------------------------------------------------------------


class Register:
    def __init__(self, name):
        self.width = 64 if name[0] in "xs" else 32
        self.number = 31 if name in ("sp", "wsp") else ZERO if name in ("xzr", "wzr") else int(name[1:])

    def get(self, m):
        return cut(m.r[self.number], self.width)

    def set(self, m, value):
        if self.number != ZERO:
            m.r[self.number] = m.move_stack(value) if self.number == 31 else value


class Shifted:
    """A register, shifted or extended."""

    def __init__(self, register, kind, count):
        self.register, self.kind, self.count, self.width = register, kind, count, register.width

    def get(self, m):
        x = self.register.get(m)
        if self.kind in ("lsl", "uxtw", "uxtx"):
            return cut(shl(x, self.count), 64 if self.kind[0] == "u" else self.width)
        if self.kind == "uxtb":
            return shl(cut(x, 8), self.count)
        if self.kind == "lsr":
            return shr(x, self.count)
        if self.kind == "ror":
            return rol(x, -self.count % self.width, self.width) if self.count else x
        known(x)
        if self.kind == "sxtw":
            return ((x & FULL[32]) - (x >> 31 & 1) * (1 << 32) << self.count) & FULL[64]
        if self.kind == "asr":
            return x - (x >> self.width - 1) * (1 << self.width) >> self.count & FULL[self.width]
        raise Fault(f"no model of: {self.kind}")


class Immediate:
    def __init__(self, value):
        self.value = value

    def get(self, _):
        return self.value


class Vector:
    """width: of a lane; n: the number of lanes; lane: one of them, or None. The scalars s0, d0, q0 have n = 1."""

    def __init__(self, number, width, n, lane=None):
        self.number, self.width, self.n, self.lane = number, width, n, lane

    def get(self, m, width=None):
        if self.lane is not None:
            return lanes(m.v[self.number], self.width, 128 // self.width)[self.lane]
        width = width or self.width
        return lanes(m.v[self.number], width, self.n * self.width // width)

    def set(self, m, values, width=None):
        width = width or self.width
        if self.lane is not None:
            all_lanes = list(lanes(m.v[self.number], width, 128 // width))
            all_lanes[self.lane] = cut(values, width)
            m.v[self.number] = (width, tuple(all_lanes))
        else:
            m.v[self.number] = (width, tuple(values))


class Memory:
    def __init__(self, base, offset, before, after):
        self.base, self.offset, self.before, self.after = base, offset, before, after

    def address(self, m):
        base = self.base.get(m)
        if self.base.number == 31 and base % 16:  # section D1.8.2
            raise Fault("the stack pointer is not a multiple of 16")
        offset = self.offset.get(m) if self.offset else 0
        a = add(64, base, offset)
        if self.before:
            self.base.set(m, a)
        return a if type(a) is int else m.address(a)

    def step(self, m):
        """Behind the access: below a stack pointer that has moved on, nothing may be read."""
        self.base.set(m, add(64, self.base.get(m), self.after))


WIDTHS = {"b": 8, "h": 16, "s": 32, "d": 64, "q": 128}


def operand(text):
    if re.fullmatch(r"[wx](\d+|zr)|w?sp", text):
        return Register(text)
    found = re.fullmatch(r"#?(-?(?:0x[0-9a-f]+|\d+))", text)
    if found and text[0] == "#":
        return Immediate(int(found[1], 0))
    found = re.fullmatch(r"\{?v(\d+)\.(\d*)([bhsdq])\}?(?:\[(\d+)\])?", text)
    if found:
        width = WIDTHS[found[3]]
        return Vector(int(found[1]), width, int(found[2] or 128 // width), found[4] and int(found[4]))
    found = re.fullmatch(r"([bhsdq])(\d+)", text)
    if found:
        return Vector(int(found[2]), WIDTHS[found[1]], 1)
    found = re.fullmatch(r"(lsl|lsr|asr|ror|uxtw|uxtx|uxtb|sxtw|msl)(?: #(\d+))?", text)
    if found:
        return found[1], int(found[2] or 0)
    if text in CONDITIONS:
        return text
    found = re.fullmatch(r"([0-9a-f]+)(?: <.*>)?", text)
    return Immediate(int(found[1], 16))


def operands_of(text):
    """Splits at commas outside of brackets, and joins a register with its shift."""
    out, after = [], None
    found = re.fullmatch(r"(.*?)(?:, )?\[([^\]]*[a-z][^\]]*)\](!?)(?:, #(-?(?:0x[0-9a-f]+|\d+)))?", text)
    memory = None
    if found and found[2] not in "0123456789":
        text = found[1]
        inside = [x.strip() for x in found[2].split(",")]
        offset = None
        if len(inside) > 1:
            offset = operand(inside[1])
            if len(inside) > 2:
                offset = Shifted(offset, *operand(inside[2]))
        after = int(found[4], 0) if found[4] else None
        memory = Memory(operand(inside[0]), offset, bool(found[3]), after)
    for part in filter(None, (x.strip() for x in text.split(","))):
        x = operand(part)
        if type(x) is tuple:
            last = out.pop()
            x = Shifted(last, *x) if type(last) is Register else \
                Immediate((last.value + 1 << x[1]) - 1 if x[0] == "msl" else last.value << x[1])
            if type(last) is Immediate:
                x.shift = True
        out.append(x)
    return [*out, memory] if memory else out


# ---- Flags ----------------------------------------------------------------------------------------------------------

CONDITIONS = {
    "eq": lambda m: m.zf, "ne": lambda m: 1 - m.zf, "cs": lambda m: m.cf, "cc": lambda m: 1 - m.cf,
    "mi": lambda m: m.sf, "pl": lambda m: 1 - m.sf,
    "hi": lambda m: m.cf & (1 - m.zf), "ls": lambda m: 1 - (m.cf & (1 - m.zf)),
    "ge": lambda m: int(m.sf == m.of), "lt": lambda m: int(m.sf != m.of),
    "gt": lambda m: int(m.sf == m.of and not m.zf), "le": lambda m: int(m.sf != m.of or m.zf),
}


# The arguments of Machine.flag().
COMPARISONS = {"eq": ("==",), "ne": ("==", False, 0), "cc": ("<",), "cs": ("<", False, 0), "ls": ("<", True, 0),
               "hi": ("<", True)}


def holds(m, condition):
    value = m.flag(*COMPARISONS.get(condition, (None,))) if m.zf is None else CONDITIONS[condition](m)
    m.decide(value)
    return value


def is_zero(m, x, n):
    if type(x) is int:
        return x == 0
    m.compared = n, x, 0, False
    return m.flag("==")


def subtracted(m, x, y, n):
    y &= FULL[n] if type(y) is int else -1
    m.compared = None
    if type(x) is not int or type(y) is not int:
        m.zf = m.cf = m.sf = m.of = None
        m.compared = n, x, y, True
        return sub(n, x, y)
    value = x - y & FULL[n]
    m.zf, m.cf, m.sf = int(value == 0), int(x >= y), value >> n - 1
    m.of = int(x >> n - 1 != y >> n - 1 and x >> n - 1 != value >> n - 1)
    return value


def tested(m, value, n):
    if type(value) is int:
        m.zf, m.cf, m.sf, m.of = int(value == 0), 0, value >> n - 1, 0
    else:
        m.zf = m.cf = m.sf = m.of = None
        m.compared = n, value, 0, False
    return value


# ---- General registers ----------------------------------------------------------------------------------------------


def width_mask(x, a):
    return x & FULL[a.width] if type(x) is int else cut(x, a.width)


def general2(f):
    return lambda m, a, b, c: a.set(m, f(a.width, b.get(m), width_mask(c.get(m), a)))


def shift(kind):
    def run(m, a, b, c):
        count = c.get(m)
        known(count)
        count %= a.width
        a.set(m, Shifted(b, kind, count).get(m))

    return run


def store_flags(m, a, b):
    subtracted(m, a.get(m), b.get(m), a.width)


def ccmp(m, a, b, flags, condition):
    if holds(m, condition):
        store_flags(m, a, b)
    else:
        bits = flags.value
        m.sf, m.zf, m.cf, m.of = bits >> 3 & 1, bits >> 2 & 1, bits >> 1 & 1, bits & 1


def load(m, a, where, nbytes=None):
    fetch(m, where.address(m), a, nbytes)


def fetch(m, address, a, nbytes=None):
    if type(a) is Vector:
        if a.lane is None and a.width <= 64:
            a.set(m, (m.load(address, a.width // 8), *(0,) * (128 // a.width - 1)))
        else:
            a.set(m, m.load_lanes(address, 64, 2), 64)
    else:
        a.set(m, m.load(address, nbytes or a.width // 8))


def put(m, address, a, nbytes=None):
    if type(a) is Vector:
        if a.width == 128:
            width = m.v[a.number][0]
            m.store_lanes(address, width, lanes(m.v[a.number], width, 128 // width))
        else:
            m.store(address, a.width // 8, a.get(m)[0])
    else:
        m.store(address, nbytes or a.width // 8, cut(a.get(m), 8 * (nbytes or a.width // 8)))


def pair(access):
    def run(m, a, b, where):
        address = where.address(m)
        access(m, address, a)
        access(m, address + a.width // 8, b)

    return run


def branch(m, a):
    pc = a.get(m)
    known(pc)
    if type(a) is not Immediate:
        m.decide(pc)
    return pc


def called(m, a, after):
    pc = branch(m, a)
    m.r[30] = after
    m.calls += ((m.r[31], m.r[31], after),)
    return pc


def if_zero(wanted):
    def run(m, a, to):
        zero = is_zero(m, a.get(m), a.width)
        m.decide(zero)
        return to.value if zero == wanted else None

    return run


def if_bit(wanted):
    def run(m, a, bit, to):
        x = a.get(m)
        if type(x) is not int:
            raise Fault("a branch depends on data")
        m.decide(x >> bit.value & 1)
        return to.value if x >> bit.value & 1 == wanted else None

    return run


def field(m, a, b, low, n):
    a.set(m, cut(shr(b.get(m), low.value), n.value) if n.value in FULL else conj(shr(b.get(m), low.value),
                                                                                  (1 << n.value) - 1))


def insert(m, a, b, low, n):
    bits = (1 << n.value) - 1
    a.set(m, xor(conj(a.get(m), FULL[a.width] ^ bits << low.value), shl(conj(b.get(m), bits), low.value)))


def signed_field(m, a, b, low, n):
    x = b.get(m)
    known(x)
    x &= (1 << n.value) - 1
    a.set(m, x - (x >> n.value - 1 << n.value) << low.value & FULL[a.width])


def bit_reversed(m, a, b):
    known(b.get(m))
    a.set(m, int(f"{b.get(m):0{a.width}b}"[::-1], 2))


def product(f):
    def run(m, a, *xs):
        values = [x.get(m) for x in xs]
        known(*values)
        a.set(m, f(*values) & FULL[a.width])

    return run


GENERAL = {
    "add": general2(lambda n, x, y: add(n, x, y)), "sub": general2(lambda n, x, y: sub(n, x, y)),
    "and": general2(lambda n, x, y: conj(x, y)), "orr": general2(lambda n, x, y: disj(x, y)),
    "eor": general2(lambda n, x, y: xor(x, y)), "bic": general2(lambda n, x, y: conj(x, xor(y, FULL[n]))),
    "orn": general2(lambda n, x, y: disj(x, xor(y, FULL[n]))), "eon": general2(lambda n, x, y: xor(x, xor(y, FULL[n]))),
    "mvn": lambda m, a, b: a.set(m, xor(b.get(m), FULL[a.width])),
    "sxtw": lambda m, a, b: a.set(m, Shifted(b, "sxtw", 0).get(m)),
    "neg": lambda m, a, b: a.set(m, sub(a.width, 0, b.get(m))),
    "lsl": shift("lsl"), "lsr": shift("lsr"), "asr": shift("asr"), "ror": shift("ror"),
    "rev": lambda m, a, b: a.set(m, swapped(b.get(m), a.width)),
    "mul": product(lambda x, y: x * y), "madd": product(lambda x, y, z: x * y + z),
    "msub": product(lambda x, y, z: z - x * y), "umulh": product(lambda x, y: x * y >> 64),
    "umull": product(lambda x, y: x * y), "umaddl": product(lambda x, y, z: x * y + z),
    "udiv": product(lambda x, y: x // y if y else 0),
    "clz": lambda m, a, b: (known(b.get(m)), a.set(m, a.width - b.get(m).bit_length()))[1], "rbit": bit_reversed,
    "mov": lambda m, a, b: a.set(m, width_mask(b.get(m), a)), "movz": lambda m, a, b: a.set(m, b.get(m)),
    "adrp": lambda m, a, b: a.set(m, b.value), "adr": lambda m, a, b: a.set(m, b.value),
    "cmp": store_flags, "ccmp": ccmp,
    "cmn": lambda m, a, b: (subtracted(m, a.get(m), -b.get(m) & FULL[a.width], a.width), None)[1],
    "subs": lambda m, a, b, c: a.set(m, subtracted(m, b.get(m), width_mask(c.get(m), a), a.width)),
    "tst": lambda m, a, b: (tested(m, conj(a.get(m), width_mask(b.get(m), a)), a.width), None)[1],
    "ands": lambda m, a, b, c: a.set(m, tested(m, conj(b.get(m), width_mask(c.get(m), a)), a.width)),
    "bics": lambda m, a, b, c: a.set(m, tested(m, conj(b.get(m), xor(c.get(m), FULL[a.width])), a.width)),
    "csel": lambda m, a, b, c, e: a.set(m, (b if holds(m, e) else c).get(m)),
    "csinc": lambda m, a, b, c, e: a.set(m, b.get(m) if holds(m, e) else add(a.width, c.get(m), 1)),
    "cinc": lambda m, a, b, e: a.set(m, add(a.width, b.get(m), 1) if holds(m, e) else b.get(m)),
    "cset": lambda m, a, e: a.set(m, int(holds(m, e))),
    "csetm": lambda m, a, e: a.set(m, FULL[a.width] if holds(m, e) else 0),
    "sbfiz": signed_field, "ubfx": field, "bfi": insert,
    "ubfiz": lambda m, a, b, low, n: a.set(m, shl(conj(b.get(m), (1 << n.value) - 1), low.value)),
    "ldr": load, "ldur": load, "ldrb": lambda m, a, b: load(m, a, b, 1), "ldurb": lambda m, a, b: load(m, a, b, 1),
    "ldrh": lambda m, a, b: load(m, a, b, 2), "ldurh": lambda m, a, b: load(m, a, b, 2),
    "str": lambda m, a, b: put(m, b.address(m), a), "stur": lambda m, a, b: put(m, b.address(m), a),
    "strb": lambda m, a, b: put(m, b.address(m), a, 1), "sturb": lambda m, a, b: put(m, b.address(m), a, 1),
    "strh": lambda m, a, b: put(m, b.address(m), a, 2), "sturh": lambda m, a, b: put(m, b.address(m), a, 2),
    # One thread: an exclusive store always succeeds.
    "ldxr": load, "ldaxr": load,
    "stxr": lambda m, a, b, c: (put(m, c.address(m), b), a.set(m, 0))[1],
    "stlxr": lambda m, a, b, c: (put(m, c.address(m), b), a.set(m, 0))[1],
    "ldp": pair(fetch), "stp": pair(put),
    "b": branch, "br": branch, "ret": leave,
    "cbz": if_zero(True), "cbnz": if_zero(False), "tbz": if_bit(0), "tbnz": if_bit(1),
}
for condition in CONDITIONS:
    GENERAL["b." + condition] = lambda m, a, c=condition: a.value if holds(m, c) else None


# ---- SHA: the pseudo-code of sections C7.2, SHA1C to SHA512SU1; lane 0 is the lowest bits -------------------------


def ror(x, k, n):
    return rol(x, n - k, n)


def sigma(n, x, *counts):
    """The last count is a shift if it is negative."""
    out = 0
    for k in counts:
        out = xor(out, shr(x, -k) if k < 0 else ror(x, k, n))
    return out


def choose(n, x, y, z):
    return width(table(0xCA, x, y, z), n)


def majority(n, x, y, z):
    return width(table(0xE8, x, y, z), n)


def parity(n, x, y, z):
    return xor(xor(x, y), z)


def width(x, n):
    return x & FULL[n] if type(x) is int else x


def sha1_four(f):
    def run(x, e, w):
        x, (y,) = list(x), e
        for i in range(4):
            t = f(32, x[1], x[2], x[3])
            y = add(32, y, rol(x[0], 5, 32), t, w[i])
            x[1] = rol(x[1], 30, 32)
            y, x = x[3], [y, *x[:3]]
        return x

    return run


def sha1su0(d, n, m):
    return [xor(xor(a, b), c) for a, b, c in zip((d[2], d[3], n[0], n[1]), d, m)]


def sha1su1(d, n):
    t = [xor(a, b) for a, b in zip(d, (*n[1:], 0))]
    return [rol(t[0], 1, 32), rol(t[1], 1, 32), rol(t[2], 1, 32), xor(rol(t[3], 1, 32), rol(t[0], 2, 32))]


def sha256_hash(x, y, w, part1):
    x, y = list(x), list(y)
    for i in range(4):
        t = add(32, y[3], sigma(32, y[0], 6, 11, 25), choose(32, *y[:3]), w[i])
        x[3] = add(32, t, x[3])
        y[3] = add(32, t, sigma(32, x[0], 2, 13, 22), majority(32, *x[:3]))
        x, y = [y[3], *x[:3]], [x[3], *y[:3]]
    return x if part1 else y


def sha256su0(d, n):
    return [add(32, sigma(32, t, 7, 18, -3), x) for t, x in zip((*d[1:], n[0]), d)]


def sha256su1(d, n, m):
    t0, out = (*n[1:], m[0]), []
    for i in range(4):
        out.append(add(32, sigma(32, (m[2], m[3], *out)[i], 17, 19, -10), d[i], t0[i]))
    return out


def sha512h(w, x, y):
    high = add(64, choose(64, y[1], x[0], x[1]), sigma(64, y[1], 14, 18, 41), w[1])
    t = add(64, high, y[0])
    return [add(64, choose(64, t, y[1], x[0]), sigma(64, t, 14, 18, 41), w[0]), high]


def sha512h2(w, x, y):
    high = add(64, majority(64, x[0], y[1], y[0]), sigma(64, y[0], 28, 34, 39), w[1])
    return [add(64, majority(64, high, y[0], y[1]), sigma(64, high, 28, 34, 39), w[0]), high]


def sha512su0(w, x):
    return [add(64, w[0], sigma(64, w[1], 1, 8, -7)), add(64, w[1], sigma(64, x[0], 1, 8, -7))]


def sha512su1(w, x, y):
    return [add(64, w[i], sigma(64, x[i], 19, 61, -6), y[i]) for i in range(2)]


# Name: bits of a lane, function of the destination before and the sources.
SHA = {
    "sha1c": (32, sha1_four(choose)), "sha1p": (32, sha1_four(parity)), "sha1m": (32, sha1_four(majority)),
    "sha1h": (32, lambda d, x: [rol(x[0], 30, 32), 0, 0, 0]), "sha1su0": (32, sha1su0), "sha1su1": (32, sha1su1),
    "sha256h": (32, lambda d, n, m: sha256_hash(d, n, m, True)),
    "sha256h2": (32, lambda d, n, m: sha256_hash(n, d, m, False)),
    "sha256su0": (32, sha256su0), "sha256su1": (32, sha256su1),
    "sha512h": (64, sha512h), "sha512h2": (64, sha512h2), "sha512su0": (64, sha512su0), "sha512su1": (64, sha512su1),
}

# ---- Vectors --------------------------------------------------------------------------------------------------------


def each(f):
    return lambda w, d, *sources: [f(w, *xs) for xs in zip(*sources)]


def complement(w, x):
    return xor(x, FULL[w])


def compare(f):
    def run(w, d, *sources):
        for x in sources:
            known(*x)
        return [FULL[w] if f(*xs) else 0 for xs in zip(*sources)]

    return run


def reversed_in(nbits):
    def run(w, d, x):
        n = nbits // w
        return [y for i in range(0, len(x), n) for y in x[i : i + n][::-1]]

    return run


VECTOR = {
    "add": each(lambda w, x, y: add(w, x, y)), "sub": each(lambda w, x, y: sub(w, x, y)),
    "and": each(lambda w, x, y: conj(x, y)), "orr": each(lambda w, x, y: disj(x, y)),
    "eor": each(lambda w, x, y: xor(x, y)), "bic": each(lambda w, x, y: conj(x, complement(w, y))),
    "orn": each(lambda w, x, y: disj(x, complement(w, y))), "mvn": each(complement), "not": each(complement),
    "eor3": each(lambda w, x, y, z: xor(xor(x, y), z)),
    "bcax": each(lambda w, x, y, z: xor(x, conj(y, complement(w, z)))),
    "rax1": each(lambda w, x, y: xor(x, rol(y, 1, w))),
    "bsl": lambda w, d, x, y: [width(table(0xCA, *xs), w) for xs in zip(d, x, y)],
    "bit": lambda w, d, x, y: [width(table(0xCA, b, a, z), w) for z, a, b in zip(d, x, y)],
    "bif": lambda w, d, x, y: [width(table(0xCA, b, z, a), w) for z, a, b in zip(d, x, y)],
    "cmhs": compare(lambda x, y: x >= y), "cmhi": compare(lambda x, y: x > y), "cmeq": compare(lambda x, y=0: x == y),
    "cnt": lambda w, d, x: (known(*x), [y.bit_count() for y in x])[1],
    "mov": lambda w, d, x: x, "xtn": lambda w, d, x: [cut(y, w) for y in x],
    "zip1": lambda w, d, x, y: [z for p in zip(x[: len(x) // 2], y) for z in p],
    "zip2": lambda w, d, x, y: [z for p in zip(x[len(x) // 2 :], y[len(x) // 2 :]) for z in p],
    "trn1": lambda w, d, x, y: [z for p in zip(x[::2], y[::2]) for z in p],
    "trn2": lambda w, d, x, y: [z for p in zip(x[1::2], y[1::2]) for z in p],
    "uzp1": lambda w, d, x, y: (*x[::2], *y[::2]), "uzp2": lambda w, d, x, y: (*x[1::2], *y[1::2]),
    "rev64": reversed_in(64), "rev32": reversed_in(32), "rev16": reversed_in(16),
}
# Without a lane: these take bits one by one, so that lanes of any width will do.
BITWISE = {"and", "orr", "eor", "bic", "orn", "mvn", "not", "eor3", "bcax", "bsl", "bit", "bif"}
# The last operand is a literal.
LITERAL = {
    "shl": lambda w, i, d, x: [cut(shl(y, i), w) for y in x], "ushr": lambda w, i, d, x: [shr(y, i) for y in x],
    "sri": lambda w, i, d, x: [xor(conj(a, FULL[w] ^ FULL[w] >> i), shr(b, i)) for a, b in zip(d, x)],
    "usra": lambda w, i, d, x: [add(w, a, shr(b, i)) for a, b in zip(d, x)],
    "sli": lambda w, i, d, x: [xor(conj(a, (1 << i) - 1), cut(shl(b, i), w)) for a, b in zip(d, x)],
    "xar": lambda w, i, d, x, y: [rol(xor(a, b), -i % w, w) if i % w else xor(a, b) for a, b in zip(x, y)],
    "ext": lambda w, i, d, x, y: (*x, *y)[i : i + len(x)],
}


def vector(name, ops):
    a = ops[0]
    if name in SHA:
        w, f = SHA[name]
        return lambda m: a.set(m, f(lanes(m.v[a.number], w, 128 // w),
                                    *(x.get(m, min(x.width, w)) for x in ops[1:])), w)
    if name in ("mov", "dup", "fmov", "ins", "umov", "smov") and (len(ops) == 2):
        b = ops[1]
        if type(a) is Register:
            return lambda m: a.set(m, b.get(m) if b.lane is not None else b.get(m)[0])
        if type(b) is Vector and b.lane is None and a.lane is None:
            return lambda m: bitwise(m, lambda w, d, x: x, a, ops)
        if a.lane is not None or a.n == 1:
            def one(m):
                value = b.get(m)
                value = value if type(b) is not Vector or b.lane is not None else value[0]
                a.set(m, value if a.lane is not None else (width(value, a.width),))

            return one
        return lambda m: a.set(m, (cut(b.get(m), a.width),) * a.n)
    if name in ("movi", "mvni"):
        value = ops[1].value & FULL[a.width]
        value = value ^ FULL[a.width] if name == "mvni" else value
        return lambda m: a.set(m, (value,) * a.n)
    if name in ("bic", "orr") and len(ops) == 2:  # with an immediate
        value = ops[1].value & FULL[a.width]
        f = conj if name == "bic" else disj
        value = value ^ FULL[a.width] if name == "bic" else value
        return lambda m: a.set(m, tuple(f(x, value) for x in a.get(m)))
    if name == "ld1r":
        return lambda m: a.set(m, (m.load(ops[1].address(m), a.width // 8),) * a.n)
    if name == "ld1":
        if a.lane is not None:
            return lambda m: a.set(m, m.load(ops[1].address(m), a.width // 8))
        return lambda m: a.set(m, m.load_lanes(ops[1].address(m), a.width, a.n))
    if name == "st1" and a.lane is not None:
        return lambda m: m.store(ops[1].address(m), a.width // 8, a.get(m))
    if name in ("addv", "uaddlv"):
        return lambda m: a.set(m, (add(a.width, *ops[1].get(m)),))
    if name in LITERAL:
        f, i = LITERAL[name], ops[-1].value
        return lambda m: a.set(m, f(a.width, i, a.get(m), *(x.get(m) for x in ops[1:-1])))
    f = VECTOR[name]
    if name in BITWISE and all(type(x) is Vector for x in ops):
        return lambda m: bitwise(m, f, a, ops)
    return lambda m: a.set(m, f(a.width, a.get(m), *(x.get(m) for x in ops[1:])))


def bitwise(m, f, a, ops):
    """In lanes as wide as the vectors have at the moment, so that none is split and joined again."""
    w = max(a.width, min(64, a.n * a.width, *(m.v[x.number][0] for x in ops[1:])))
    a.set(m, f(w, a.get(m, w), *(x.get(m, w) for x in ops[1:])), w)


# The features that instructions need; those of BASE none but NEON, which each compiler for AArch64 takes for granted.
FEATURES = {r"sha1\w+": "SHA1", r"sha256\w+": "SHA2", r"sha512\w+": "SHA512", "eor3|bcax|rax1|xar": "SHA3"}
BASE = set("""
add addv adr adrp and ands asr autiasp b bfi bic bics bif bit bl blr br bsl bti cbnz cbz ccmp cinc clz cmeq cmhi cmhs
cmn cmp cnt csel cset csetm csinc dup eon eor ext fmov ins ld1 ld1r ldaxr ldp ldr ldrb ldrh ldur ldurb ldurh ldxr lsl
lsr madd mov movi movk movz msub mul mvn mvni neg nop not orn orr paciasp prfm rbit ret rev rev16 rev32 rev64 ror sbfiz
shl sli smov sri st1 stlxr stp str strb strh stur sturb sturh stxr sub subs sxtw tbnz tbz trn1 trn2 tst uaddlv ubfiz
ubfx udiv umaddl umov umulh umull ushr usra uzp1 uzp2 xtn zip1 zip2
""".split()) | {f"b.{condition}" for condition in CONDITIONS}


def lacking(texts, features):
    """Instructions that a CPU with these features may lack."""
    out = []
    for text in texts:
        name = text.split()[0]
        need = next((feature for names, feature in FEATURES.items() if re.fullmatch(names, name)), None)
        if need not in features and name not in BASE:
            out.append(text)
    return out


def instruction(text, after):
    text = text.partition("//")[0].strip()
    name, _, rest = text.partition("\t")
    if name in ("nop", "prfm", "bti", "paciasp", "autiasp"):
        return lambda m: None
    if name == "movk":
        a, i, *by = [x.strip() for x in rest.split(",")]
        a, i = operand(a), operand(i).value
        by = operand(by[0])[1] if by else 0
        return lambda m: a.set(m, (a.get(m) & ~(0xFFFF << by)) | i << by)
    operands = operands_of(rest.strip())
    run = operation(name, operands, after)
    stepping = next((x for x in operands if type(x) is Memory and x.after is not None), None)
    return (lambda m: (run(m), stepping.step(m))[0]) if stepping else run


def operation(name, operands, after):
    if name in ("bl", "blr"):
        return lambda m: called(m, operands[0], after)
    if name in ("ldr", "str", "ldp", "stp", "ldur", "stur") or \
            (name in GENERAL and not any(type(x) is Vector for x in operands)):
        f = GENERAL[name]
        return lambda m: f(m, *operands)
    return vector(name, operands)
