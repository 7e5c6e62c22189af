"""x86.py: what the instructions of x86 do that compilers make of the core.

After Intel's Software Developer's Manual (SDM), volume 2.

SPDX-License-Identifier: MIT OR Apache-2.0
"""

import copy
import functools
import re

from machine import Fault, known, lanes, signed
from words import FULL, add, conj, cut, disj, rol, shl, shr, split, sub, swapped, table, variable, xor

OBJDUMP = ["-M", "intel"]
FAMILY = "HLI_X86"  # in registry.def

# ---- Registers and operands -----------------------------------------------------------------------------------------

REGISTERS = {}
for i, (name, low) in enumerate([("ax", "al"), ("cx", "cl"), ("dx", "dl"), ("bx", "bl"), ("sp", "spl"), ("bp", "bpl"),
                                 ("si", "sil"), ("di", "dil")]):
    for full, width in (("r" + name, 64), ("e" + name, 32), (name, 16), (low, 8)):
        REGISTERS[full] = ("r" + name, width, 0)
    if low[1] == "l" and len(low) == 2:
        REGISTERS[low[0] + "h"] = ("r" + name, 8, 8)
for i in range(8, 16):
    for end, width in (("", 64), ("d", 32), ("w", 16), ("b", 8)):
        REGISTERS[f"r{i}{end}"] = (f"r{i}", width, 0)
FULL_REGISTERS = sorted({base for base, _, _ in REGISTERS.values()})
SIZES = {"BYTE": 1, "WORD": 2, "DWORD": 4, "QWORD": 8, "XMMWORD": 16, "YMMWORD": 32, "ZMMWORD": 64}
ARGUMENTS = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"]


def begin(m):
    m.r = {register: variable((register, m.image.word_nbytes), 8 * m.image.word_nbytes) for register in FULL_REGISTERS}
    m.v = {i: (64, tuple(variable(("zmm", i, j), 64) for j in range(8))) for i in range(32)}
    m.k = {}
    m.cf = m.zf = m.sf = m.of = m.compared = None
    m.r["rsp"] = m.stack


def enter(m, arguments):
    n = m.image.word_nbytes
    registers = ARGUMENTS if n == 8 else []
    on_stack = arguments[len(registers) :]
    m.stack_end = m.stack + n * len(on_stack)
    m.r["rsp"], m.calls, m.is_dirty = m.stack, (), False
    m.r.update(zip(registers, arguments))
    for i, value in enumerate(on_stack):
        m.store(m.stack + n * i, n, value)
    go_to(m, m.stop)


def go_to(m, after):
    """What a call leaves on the stack."""
    n = m.image.word_nbytes
    push(m, Immediate(after))
    m.calls += ((m.r["rsp"], m.r["rsp"] + n, after),)


def argument(m, i):
    return m.r[ARGUMENTS[i]] if m.image.word_nbytes == 8 else m.load(m.r["rsp"] + 4 + 4 * i, 4)


def answer(m, value):
    m.r["rax"] = value


def result(m):
    return m.r["rax"]


def saved(m):
    """What a callee must leave as it was."""
    more = ["r12", "r13", "r14", "r15"] if m.image.word_nbytes == 8 else ["rsi", "rdi"]
    names = ["rbx", "rbp", *more]
    return [m.r[name] for name in names]


def stack_begin(m):
    """What is below may be overwritten at any time. The ABI of x86-64 leaves a function 128 bytes (section 3.2.2)."""
    return m.r["rsp"] - (128 if m.image.word_nbytes == 8 else 0)


def leave(m):
    pc = m.returned(m.r["rsp"], m.load(m.r["rsp"], m.image.word_nbytes))
    if pc == m.stop and m.is_dirty:
        raise Fault("returns without vzeroupper")
    m.r["rsp"] += m.image.word_nbytes
    return pc


class Register:
    def __init__(self, name):
        self.base, self.width, self.shift = REGISTERS[name]

    def get(self, m):
        value = m.r[self.base]
        return value if self.width == 64 else cut(shr(value, self.shift), self.width)

    def set(self, m, value):
        if self.width < 32:
            keep = conj(m.r[self.base], ~(FULL[self.width] << self.shift) & FULL[64])
            value = xor(keep, shl(value, self.shift))
        m.r[self.base] = m.move_stack(value) if self.base == "rsp" else value


class Immediate:
    def __init__(self, value):
        self.value = value

    def get(self, _):
        return self.value


class Memory:
    mask = None

    def __init__(self, size, inside, comment, is_broadcast):
        self.nbytes, self.is_broadcast = SIZES.get(size), is_broadcast
        self.width = self.nbytes and 8 * self.nbytes
        self.base = self.index = self.address_nbits = None
        self.scale, self.displacement = 1, 0
        if "rip" in inside:
            self.displacement = int(re.match(r"([0-9a-f]+)", comment)[1], 16)
            return
        for sign, term in re.findall(r"([+-]?)([^+-]+)", inside):
            register, star, scale = term.partition("*")
            if register in ("riz", "eiz"):
                continue
            if register in REGISTERS:
                self.address_nbits = REGISTERS[register][1]
                if star or self.base is not None:
                    self.index, self.scale = REGISTERS[register][0], int(scale or 1)
                else:
                    self.base = REGISTERS[register][0]
            else:
                self.displacement += int(term, 16) * (-1 if sign == "-" else 1)

    def address(self, m):
        if self.address_nbits not in (None, 8 * m.image.word_nbytes):
            raise Fault(f"no model of an address of {self.address_nbits} bits")
        a = self.displacement
        for register, scale in ((self.base, 1), (self.index, self.scale)):
            if register is not None:
                value = m.r[register]
                if type(value) is not int:
                    return m.address(self.sum(m, 8 * m.image.word_nbytes))
                a += value * scale
        return a & FULL[8 * m.image.word_nbytes]

    def sum(self, m, n):
        """For lea, which may add data."""
        if n > (self.address_nbits or n):
            raise Fault(f"no model of an address of {self.address_nbits} bits")
        parts = [self.displacement]
        if self.base is not None:
            parts.append(m.r[self.base])
        if self.index is not None:
            parts.append(cut(shl(m.r[self.index], self.scale.bit_length() - 1), n))
        return add(n, *(x if type(x) is int else cut(x, n) for x in parts))

    def get(self, m):
        return m.load(self.address(m), self.nbytes)

    def set(self, m, value):
        m.store(self.address(m), self.nbytes, value)


class Vector:
    def __init__(self, kind, number, mask, zeroing):
        self.nbytes, self.number = {"xmm": 16, "ymm": 32, "zmm": 64}[kind], int(number)
        self.mask, self.zeroing = mask, zeroing


class Mask:
    def __init__(self, number):
        self.number = number

    def get(self, m):
        return m.k[self.number]


def operand(text, comment):
    found = re.fullmatch(r"([xyz]mm)(\d+)(?:\{k([1-7])\})?(\{z\})?", text)
    if found:
        return Vector(found[1], found[2], found[3] and int(found[3]), bool(found[4]))
    if text in REGISTERS:
        return Register(text)
    found = re.fullmatch(r"(?:(\w+) (PTR|BCST) )?(?:[cdes]s:)?\[([^\]]*)\](?:\{k([1-7])\})?(\{1to\d+\})?", text)
    if found:
        memory = Memory(found[1], found[3], comment, found[2] == "BCST" or bool(found[5]))
        memory.mask = found[4] and int(found[4])
        return memory
    found = re.fullmatch(r"(?:(\w+) PTR )?[cdes]s:(0x[0-9a-f]+)", text)
    if found:
        return Memory(found[1], found[2], comment, False)
    found = re.fullmatch(r"k([0-7])(?:\{k([1-7])\})?", text)
    if found and not found[2]:
        return Mask(int(found[1]))
    return Immediate(int(re.fullmatch(r"(-?0x[0-9a-f]+|[0-9a-f]+|-?\d+)(?: <.*>)?", text)[1], 16))


def source(m, x, width, n):
    """n lanes of an operand."""
    if type(x) is Vector:
        return lanes(m.v[x.number], width, n)
    if x.is_broadcast:
        return (x.get(m),) * n if x.width == width else split(x.get(m), width, x.width) * (n * width // x.width)
    return m.load_lanes(x.address(m), width, n)


def mask_of(m, x, n):
    """The mask of n lanes; the register may have more bits."""
    k = cut(m.k[x.mask], n)
    if type(k) is not int:
        raise Fault("a mask depends on data")
    return k


def target(m, x, width, values, legacy=False):
    """Writes lanes; under a mask, each bit of which is for `width` bits, some of them."""
    values = tuple(values)
    if legacy and m.is_dirty:  # slow (Intel's optimisation manual, "Mixing AVX code with SSE code")
        raise Fault("no vzeroupper before SSE")
    if type(x) is Memory:
        address = x.address(m)
        for i, value in enumerate(values):
            if x.mask is None or mask_of(m, x, len(values)) >> i & 1:
                m.store(address + i * width // 8, width // 8, value)
        return
    if x.mask is not None:
        k = mask_of(m, x, len(values))
        old = (0,) * len(values) if x.zeroing else lanes(m.v[x.number], width, len(values))
        values = tuple(new if k >> i & 1 else was for i, (new, was) in enumerate(zip(values, old)))
    if legacy and x.number in m.v:
        upper = lanes(m.v[x.number], width, 512 // width)[128 // width :]
        values += upper if any(upper) else ()
    m.v[x.number] = (width, values)
    if x.nbytes > 16 and x.number < 16 and m.is_dirty is not None:
        m.is_dirty = True


def zero(m, n):
    """zmm0 to zmm15, but for n lanes of 32 bits. The other registers, which SSE does not have, need no vzeroupper."""
    m.v.update({i: (32, lanes(m.v[i], 32, n)) for i in range(16)})
    m.is_dirty = m.is_dirty and False


# ---- Flags ----------------------------------------------------------------------------------------------------------


def flags_of(m, value, n, cf=0, of=0):
    if type(value) is not int:
        m.cf = m.zf = m.sf = m.of = None
        m.compared = n, value, 0, False
    else:
        m.cf, m.of, m.zf, m.sf, m.compared = cf, of, int(value == 0), value >> n - 1, None


CONDITIONS = {
    "o": lambda m: m.of, "b": lambda m: m.cf, "e": lambda m: m.zf, "s": lambda m: m.sf,
    "be": lambda m: m.cf | m.zf, "l": lambda m: m.sf ^ m.of, "le": lambda m: m.zf | (m.sf ^ m.of),
}
CONDITIONS |= {
    negated: (lambda m, f=CONDITIONS[name]: 1 - f(m))
    for name, negated in (("o", "no"), ("b", "ae"), ("e", "ne"), ("s", "ns"), ("be", "a"), ("l", "ge"), ("le", "g"))
}


# The arguments of Machine.flag().
COMPARISONS = {"e": ("==",), "ne": ("==", False, 0), "b": ("<",), "ae": ("<", False, 0), "be": ("<", True, 0),
               "a": ("<", True)}


def holds(m, condition):
    try:
        value = CONDITIONS[condition](m)
    except TypeError:
        value = None
    if value is None:
        value = m.flag(*COMPARISONS.get(condition, (None,)))
    m.decide(value)
    return value


# ---- General registers ----------------------------------------------------------------------------------------------


def arithmetic(m, a, b, writes, subtracts, carry=0):
    n = a.width
    x, y = a.get(m), b.get(m)
    y = y & FULL[n] if type(y) is int else y
    if type(x) is int and type(y) is int:
        total = x - y - carry if subtracts else x + y + carry
        value = total & FULL[n]
        sx, sy, sv = x >> n - 1, y >> n - 1, value >> n - 1
        flags_of(m, value, n, int(total != value), int(sx != sv and (sx != sy if subtracts else sx == sy)))
    else:
        value = sub(n, x, add(n, y, carry)) if subtracts else add(n, x, y, carry)
        flags_of(m, value, n, None, None)  # x + a - x is known, but not whether a carry comes out of it
        if subtracts and carry == 0:
            m.cf, m.compared = None, (n, x, y, True)
    if writes:
        a.set(m, value)


def boolean(m, a, b, f, writes):
    n = a.width
    x, y = a.get(m), b.get(m)
    value = f(x, y & FULL[n] if type(y) is int else y)
    flags_of(m, value, n)
    if writes:
        a.set(m, value)


def bit_test(m, a, b):
    x, k = a.get(m), b.get(m)
    known(x, k)
    m.cf, m.of, m.sf, m.compared = x >> k % a.width & 1, None, None, None


def step(m, a, by):
    cf = m.cf
    arithmetic(m, a, Immediate(by), True, False)
    m.cf = cf
    if by < 0 and m.of is not None:
        m.of = int(a.get(m) == FULL[a.width] >> 1)


def shift(m, kind, a, count):
    n, x = a.width, a.get(m)
    known(count)
    count &= 63 if n == 64 else 31
    if count == 0:
        a.set(m, x)
        return
    if kind in ("rol", "ror"):
        k = count % n if kind == "rol" else -count % n
        a.set(m, rol(x, k, n) if k else x)
        m.cf = m.of = m.compared = None
        return
    if kind == "shl":
        value = cut(shl(x, count), n)
    elif kind == "shr":
        value = shr(x, count)
    else:
        value = signed(x, n) >> count & FULL[n]
    flags_of(m, value, n, None, None)
    a.set(m, value)


def multiply(m, a, x, y):
    n = a.width
    total = signed(x, n) * signed(y & FULL[n], n)
    value = total & FULL[n]
    a.set(m, value)
    m.cf = m.of = int(total != signed(value, n))
    m.zf = m.sf = m.compared = None


def wide(m, a, f):
    """mul and div: rdx:rax."""
    n = a.width
    low = Register({64: "rax", 32: "eax", 16: "ax", 8: "al"}[n])
    high = Register({64: "rdx", 32: "edx", 16: "dx", 8: "ah"}[n])
    x = a.get(m)
    known(x, low.get(m), high.get(m))
    f(m, n, x, low, high)


def mul(m, n, x, low, high):
    total = x * low.get(m)
    low.set(m, total & FULL[n])
    high.set(m, total >> n)
    m.cf = m.of = int(total >> n != 0)
    m.zf = m.sf = m.compared = None


def div(m, n, x, low, high):
    total = high.get(m) << n | low.get(m)
    low.set(m, total // x)
    high.set(m, total % x)
    m.cf = m.zf = m.sf = m.of = m.compared = None


def bits_of(m, a, b, f, of_zero):
    x = b.get(m)
    known(x)
    a.set(m, of_zero if x == 0 else f(x))
    m.zf = m.cf = m.sf = m.of = m.compared = None


def tzcnt(m, a, b):
    if b.get(m) == 0:
        m.executed.add("tzcnt0")
    bits_of(m, a, b, lambda x: (x & -x).bit_length() - 1, a.width)


def push(m, a):
    n = whole_word(m, a)
    value = a.get(m)
    m.r["rsp"] -= n
    m.store(m.r["rsp"], n, value if type(value) is not int else value & FULL[8 * n])


def pop(m, a):
    n = whole_word(m, a)
    value = m.load(m.r["rsp"], n)
    m.r["rsp"] = m.move_stack(m.r["rsp"] + n)
    a.set(m, value)


def whole_word(m, a):
    """The size of what is pushed or popped; with a prefix it would be 16 bits."""
    n = m.image.word_nbytes
    if type(a) is not Immediate and a.width != 8 * n:
        raise Fault(f"no model of {a.width} bits on the stack")
    return n


def repeated(m, which, nbytes, address_nbits):
    n = m.r["rcx"]
    known(n)
    if address_nbits != 8 * m.image.word_nbytes:
        raise Fault(f"no model of an address of {address_nbits} bits")
    m.decide(n)
    for _ in range(n):
        value = m.r["rax"] if which == "stos" else m.load(m.r["rsi"], nbytes)
        m.store(m.r["rdi"], nbytes, cut(value, 8 * nbytes))
        m.r |= {x: m.r[x] + nbytes for x in (("rdi", "rsi") if which == "movs" else ("rdi",))}
    m.r["rcx"] = 0


def jump_to(m, a):
    pc = a.get(m)
    if type(pc) is not int:
        raise Fault("a jump depends on data")
    if type(a) is not Immediate:
        m.decide(pc)
    return pc


def call(m, a, after):
    pc = jump_to(m, a)
    if pc == after:  # how code of 32 bits learns its address: no shadow stack has this call either
        push(m, Immediate(after))
    else:
        go_to(m, after)
    return pc


def sign_extend(m, a, b):
    a.set(m, signed(b.get(m), b.width) & FULL[a.width])


def move(m, a, b):
    value = b.get(m)
    a.set(m, value & FULL[a.width] if type(value) is int else value)


def exchange(m, a, b):
    x, y = a.get(m), b.get(m)
    a.set(m, y)
    b.set(m, x)


def compare_exchange(m, a, b):
    accumulator = Register({64: "rax", 32: "eax"}[a.width])
    was = a.get(m)
    arithmetic(m, accumulator, a, False, True)
    if holds(m, "e"):
        a.set(m, b.get(m))
    else:
        accumulator.set(m, was)


def three(m, a, b, c):
    """Multiplication by a literal."""
    multiply(m, a, b.get(m), c.get(m))


def bzhi(m, a, b, c):
    n = c.get(m)
    known(n)
    n &= 255
    x = b.get(m)
    value = conj(x, (1 << n) - 1) if n < a.width else x
    a.set(m, value)
    flags_of(m, value, a.width, int(n > a.width - 1))


def andn(m, a, b, c):
    value = conj(xor(b.get(m), FULL[a.width]), c.get(m))
    a.set(m, value)
    flags_of(m, value, a.width)


def shift_to(m, kind, a, b, c):
    count = c.get(m)
    known(count)
    count &= a.width - 1
    x = b.get(m)
    if kind == "sarx":
        a.set(m, signed(x, a.width) >> count & FULL[a.width])
    else:
        a.set(m, cut(shl(x, count), a.width) if kind == "shlx" else shr(x, count))


def double_shift(m, kind, a, b, c):
    n, count = a.width, c.get(m)
    known(count)
    count &= 63 if n == 64 else 31
    if count:
        x, y = (a.get(m), b.get(m)) if kind == "shld" else (b.get(m), a.get(m))
        k = count if kind == "shld" else n - count
        value = xor(cut(shl(x, k), n), shr(y, n - k))
        a.set(m, value)
        flags_of(m, value, n, None, None)
    else:
        a.set(m, a.get(m))  # of 32 bits: the upper half becomes zeros


GENERAL = {
    "mov": move, "movabs": move, "xchg": exchange,
    "movzx": lambda m, a, b: a.set(m, b.get(m)), "movsx": sign_extend, "movsxd": sign_extend,
    "lea": lambda m, a, b: a.set(m, b.sum(m, a.width)),
    "add": lambda m, a, b: arithmetic(m, a, b, True, False),
    "sub": lambda m, a, b: arithmetic(m, a, b, True, True),
    "cmp": lambda m, a, b: arithmetic(m, a, b, False, True),
    "adc": lambda m, a, b: arithmetic(m, a, b, True, False, holds(m, "b")),
    "sbb": lambda m, a, b: arithmetic(m, a, b, True, True, holds(m, "b")),
    "and": lambda m, a, b: boolean(m, a, b, conj, True),
    "test": lambda m, a, b: boolean(m, a, b, conj, False),
    "or": lambda m, a, b: boolean(m, a, b, disj, True),
    "xor": lambda m, a, b: boolean(m, a, b, xor, True),
    "not": lambda m, a: a.set(m, xor(a.get(m), FULL[a.width])),
    "neg": lambda m, a: (known(a.get(m)), flags_of(m, -a.get(m) & FULL[a.width], a.width, int(a.get(m) != 0),
                                                   int(a.get(m) == 1 << a.width - 1)),
                         a.set(m, -a.get(m) & FULL[a.width]))[0],
    "inc": lambda m, a: step(m, a, 1), "dec": lambda m, a: step(m, a, -1),
    "bswap": lambda m, a: a.set(m, swapped(a.get(m), a.width)),
    "movbe": lambda m, a, b: a.set(m, swapped(b.get(m), a.width)),
    "rorx": lambda m, a, b, c: a.set(m, rol(b.get(m), -c.get(m) % a.width, a.width)),
    "andn": andn, "bzhi": bzhi,
    "mul": lambda m, a: wide(m, a, mul), "div": lambda m, a: wide(m, a, div),
    "imul": lambda m, a, b, c=None: three(m, a, b, c) if c else multiply(m, a, a.get(m), b.get(m)),
    "tzcnt": tzcnt, "bt": bit_test,
    "bsf": lambda m, a, b: bits_of(m, a, b, lambda x: (x & -x).bit_length() - 1, a.get(m)),
    "bsr": lambda m, a, b: bits_of(m, a, b, lambda x: x.bit_length() - 1, a.get(m)),
    "lzcnt": lambda m, a, b: bits_of(m, a, b, lambda x: a.width - x.bit_length(), a.width),
    "bts": lambda m, a, b: (known(a.get(m), b.get(m)), a.set(m, a.get(m) | 1 << b.get(m) % a.width),
                            flags_of(m, None, 0))[2],
    "push": push, "pop": pop, "cmpxchg": compare_exchange,
    "cdqe": lambda m: m.r.update(rax=signed(cut(m.r["rax"], 32), 32) & FULL[64]),
    "leave": lambda m: (m.r.update(rsp=m.move_stack(m.r["rbp"])),
                        pop(m, Register("rbp" if m.image.word_nbytes == 8 else "ebp")))[1],
    "jmp": jump_to,
    "ret": leave,
    "vzeroupper": lambda m: zero(m, 4), "vzeroall": lambda m: zero(m, 0),
    "kmovw": lambda m, a, b: move_mask(m, a, b, 16), "kmovq": lambda m, a, b: move_mask(m, a, b, 64),
    "kmovd": lambda m, a, b: move_mask(m, a, b, 32), "kmovb": lambda m, a, b: move_mask(m, a, b, 8),
    "kxorq": lambda m, a, b, c: xor_masks(m, a, b, c, 64), "kxord": lambda m, a, b, c: xor_masks(m, a, b, c, 32),
    "kxorw": lambda m, a, b, c: xor_masks(m, a, b, c, 16),
    "kxnorq": lambda m, a, b, c: xor_masks(m, a, b, c, 64, FULL[64]),
    "kshiftrq": lambda m, a, b, c: m.k.update({a.number: b.get(m) >> c.get(m)}),
    "kshiftrd": lambda m, a, b, c: m.k.update({a.number: (b.get(m) & FULL[32]) >> c.get(m)}),
}
for name in ("shl", "shr", "sar", "rol", "ror"):
    GENERAL[name] = lambda m, a, c=Immediate(1), kind=name: shift(m, kind, a, c.get(m))
for name in ("shlx", "shrx", "sarx"):
    GENERAL[name] = lambda m, a, b, c, kind=name: shift_to(m, kind, a, b, c)
for name in ("shld", "shrd"):
    GENERAL[name] = lambda m, a, b, c, kind=name: double_shift(m, kind, a, b, c)
for name in ("endbr64", "endbr32", "lfence"):
    GENERAL[name] = lambda m, *_: None
for condition in CONDITIONS:
    GENERAL["j" + condition] = lambda m, a, c=condition: a.get(m) if holds(m, c) else None
    GENERAL["set" + condition] = lambda m, a, c=condition: a.set(m, holds(m, c))
    GENERAL["cmov" + condition] = lambda m, a, b, c=condition: a.set(m, b.get(m) if holds(m, c) else a.get(m))


def xor_masks(m, a, b, c, width, inverted=0):
    # A mask with itself is 0, whatever it was.
    m.k[a.number] = inverted ^ (0 if b.number == c.number else (b.get(m) ^ c.get(m)) & FULL[width])


def move_mask(m, a, b, n):
    value = cut(b.get(m), n)
    if type(a) is Mask:
        m.k[a.number] = value
    else:
        a.set(m, value)


# ---- Vectors: on lanes ----------------------------------------------------------------------------------------------


def each(f):
    """An instruction that does the same to each lane."""
    def run(width, *sources):
        return [f(width, *xs) for xs in zip(*sources)]

    run.is_each = True
    return run


def greater(w, x, y):
    return FULL[w] if signed(x, w) > signed(y, w) else 0


def equal(w, x, y):
    if x is y:
        return FULL[w]
    known(x, y)
    return FULL[w] if x == y else 0


# name without the leading v: bits of a lane, function of lanes. Two sources.
BINARY = {}
for end, width in (("b", 8), ("w", 16), ("d", 32), ("q", 64)):
    BINARY["padd" + end] = (width, each(lambda w, x, y: add(w, x, y)))
    BINARY["psub" + end] = (width, each(lambda w, x, y: sub(w, x, y)))
    BINARY["pcmpeq" + end] = (width, each(equal))
    BINARY["pcmpgt" + end] = (width, each(greater))
for ends, f in (("and", lambda w, x, y: conj(x, y)), ("andn", lambda w, x, y: conj(xor(x, FULL[w]), y)),
                ("or", lambda w, x, y: disj(x, y)), ("xor", lambda w, x, y: xor(x, y))):
    BINARY |= {"p" + ends: (32, each(f)), "p" + ends + "d": (32, each(f)), "p" + ends + "q": (64, each(f)),
               ends + "ps": (32, each(f)), ends + "pd": (64, each(f))}
for end, width in (("d", 32), ("q", 64)):
    BINARY[f"prolv{end}"] = (width, each(lambda w, x, y: rol(x, y % w, w) if y % w else x))
    BINARY[f"prorv{end}"] = (width, each(lambda w, x, y: rol(x, -y % w, w) if y % w else x))
    BINARY[f"psllv{end}"] = (width, each(lambda w, x, y: cut(shl(x, y), w) if y < w else 0))
    BINARY[f"psrlv{end}"] = (width, each(lambda w, x, y: shr(x, y)))


def per_128(f):
    """An instruction that does the same to each 128 bits."""
    def run(width, *sources):
        n, out = 128 // width, []
        for i in range(0, len(sources[0]), n):
            out += f(*(x[i : i + n] if type(x) in (tuple, list) else x for x in sources))
        return out

    return run


def unpack(high):
    def f(x, y):
        half = len(x) // 2
        return [z for pair in zip(x[half * high :][:half], y[half * high :][:half]) for z in pair]

    return per_128(f)


for end, width in (("bw", 8), ("wd", 16), ("dq", 32), ("qdq", 64)):
    BINARY["punpckl" + end] = (width, unpack(0))
    BINARY["punpckh" + end] = (width, unpack(1))
BINARY |= {"unpcklps": (32, unpack(0)), "unpckhps": (32, unpack(1)), "unpcklpd": (64, unpack(0)),
           "unpckhpd": (64, unpack(1)), "movlhps": (64, unpack(0))}


def byte_of(x, order):
    known(order)
    return 0 if order & 0x80 else x[order & 15]


BINARY["pshufb"] = (8, per_128(lambda x, order: [byte_of(x, o) for o in order]))

# One source and a literal.
UNARY = {
    "pshufd": (32, per_128(lambda x, i: [x[i >> 2 * j & 3] for j in range(4)])),
    "permilps": (32, per_128(lambda x, i: [x[i >> 2 * j & 3] for j in range(4)])),
    "pshuflw": (16, per_128(lambda x, i: [*(x[i >> 2 * j & 3] for j in range(4)), *x[4:]])),
    "pshufhw": (16, per_128(lambda x, i: [*x[:4], *(x[4 + (i >> 2 * j & 3)] for j in range(4))])),
    "pslldq": (8, per_128(lambda x, i: [0] * min(i, 16) + list(x[: max(16 - i, 0)]))),
    "psrldq": (8, per_128(lambda x, i: list(x[i:]) + [0] * min(i, 16))),
    "permq": (64, lambda w, x, i: [x[b + (i >> 2 * j & 3)] for b in range(0, len(x), 4) for j in range(4)]),
}
UNARY["permpd"] = UNARY["permq"]
for end, width in (("w", 16), ("d", 32), ("q", 64)):
    UNARY["psll" + end] = (width, lambda w, x, i: [cut(shl(y, i), w) if i < w else 0 for y in x])
    UNARY["psrl" + end] = (width, lambda w, x, i: [shr(y, i) for y in x])
    UNARY["prol" + end] = (width, lambda w, x, i: [rol(y, i % w, w) if i % w else y for y in x])
    UNARY["pror" + end] = (width, lambda w, x, i: [rol(y, -i % w, w) if i % w else y for y in x])

# Two sources and a literal.
TERNARY = {
    "palignr": (8, per_128(lambda x, y, i: (list(y) + list(x) + [0] * 32)[i : i + 16])),
    "shufps": (32, per_128(lambda x, y, i: [x[i & 3], x[i >> 2 & 3], y[i >> 4 & 3], y[i >> 6 & 3]])),
    "shufpd": (64, lambda w, x, y, i: [(x, y)[j & 1][(j & ~1) + (i >> j & 1)] for j in range(len(x))]),
    "pblendw": (16, per_128(lambda x, y, i: [(y if i >> j & 1 else x)[j] for j in range(8)])),
    "pblendd": (32, lambda w, x, y, i: [(y if i >> j & 1 else x)[j] for j in range(len(x))]),
    "blendps": (32, lambda w, x, y, i: [(y if i >> j & 1 else x)[j] for j in range(len(x))]),
    "blendpd": (64, lambda w, x, y, i: [(y if i >> j & 1 else x)[j] for j in range(len(x))]),
    "alignd": (32, lambda w, x, y, i: (*y, *x)[i & len(x) - 1 :][: len(x)]),
    "alignq": (64, lambda w, x, y, i: (*y, *x)[i & len(x) - 1 :][: len(x)]),
    # Parts of 128 bits:
    "inserti128": (128, lambda w, x, y, i: [y[0] if j == i & 1 else z for j, z in enumerate(x)]),
    "inserti32x4": (128, lambda w, x, y, i: [y[0] if j == i & len(x) - 1 else z for j, z in enumerate(x)]),
    "inserti64x2": (128, lambda w, x, y, i: [y[0] if j == i & len(x) - 1 else z for j, z in enumerate(x)]),
    "insertf64x4": (256, lambda w, x, y, i: [y[0] if j == i & 1 else z for j, z in enumerate(x)]),
    "inserti64x4": (256, lambda w, x, y, i: [y[0] if j == i & 1 else z for j, z in enumerate(x)]),
    "perm2i128": (128, lambda w, x, y, i: [0 if i >> 4 * j & 8 else (*x, *y)[i >> 4 * j & 3] for j in range(2)]),
    "shufi32x4": (128, lambda w, x, y, i: select128(x, y, i)),
    "shufi64x2": (128, lambda w, x, y, i: select128(x, y, i)),
    "sha1rnds4": (32, lambda w, x, y, i: sha1rnds4(x, y, i & 3)),
}
TERNARY |= {"insertf128": TERNARY["inserti128"], "perm2f128": TERNARY["perm2i128"], "shuff64x2": TERNARY["shufi64x2"]}


def insertps(w, x, y, i):
    inserted = y[i >> 6 if len(y) == 4 else 0]
    return [0 if i >> j & 1 else inserted if j == i >> 4 & 3 else x[j] for j in range(4)]


TERNARY["insertps"] = (32, insertps)


def product(w, x, y):
    known(x, y)
    return (x & FULL[32]) * (y & FULL[32])


BINARY["pmuludq"] = (64, each(product))


def select128(x, y, i):
    if len(x) == 2:
        return [x[i & 1], y[i >> 1 & 1]]
    return [x[i & 3], x[i >> 2 & 3], y[i >> 4 & 3], y[i >> 6 & 3]]


# ---- SHA: the pseudo-code of SDM volume 2B; lane 3 is bits 127 to 96 -----------------------------------------


def sha1_f0(b, c, d):
    return table(0xCA, b, c, d)


def sha1_f1(b, c, d):
    return table(0x96, b, c, d)


def sha1_f2(b, c, d):
    return table(0xE8, b, c, d)


SHA1_F = [sha1_f0, sha1_f1, sha1_f2, sha1_f1]
SHA1_K = [0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6]


def sha1rnds4(x, y, i):
    f, k = SHA1_F[i], SHA1_K[i]
    d, c, b, a = x
    w = y[::-1]  # W0E, W1, W2, W3
    e = 0  # W0E has E in it
    for t in range(4):
        a, b, c, d, e = add(32, f(b, c, d) & FULL[32], rol(a, 5, 32), w[t], e, k), a, rol(b, 30, 32), c, d
    return [d, c, b, a]


def sha1nexte(w, x, y):
    return [*y[:3], add(32, y[3], rol(x[3], 30, 32))]


def sha1msg1(w, x, y):
    w0, w1, w2, w3 = x[::-1]
    w4, w5 = y[3], y[2]
    return [xor(w5, w3), xor(w4, w2), xor(w3, w1), xor(w2, w0)]


def sha1msg2(w, x, y):
    w13, w14, w15 = y[2], y[1], y[0]
    w16 = rol(xor(x[3], w13), 1, 32)
    w17 = rol(xor(x[2], w14), 1, 32)
    w18 = rol(xor(x[1], w15), 1, 32)
    w19 = rol(xor(x[0], w16), 1, 32)
    return [w19, w18, w17, w16]


def xor3(x, y, z):
    return xor(xor(x, y), z)


# The rotations of SHA-2's sums, and the last count of a sigma, a shift.
SIGMAS = {32: ((2, 13, 22), (6, 11, 25), (7, 18, 3), (17, 19, 10)),
          64: ((28, 34, 39), (14, 18, 41), (1, 8, 7), (19, 61, 6))}


def big_sigma(w, x, i):
    return xor3(*(rol(x, w - n, w) for n in SIGMAS[w][i]))


def sigma(w, x, i):
    a, b, n = SIGMAS[w][2 + i]
    return xor3(rol(x, w - a, w), rol(x, w - b, w), shr(x, n))


def sha2rnds2(w, x, y, wk):
    a, b, e, f = y[::-1]
    c, d, g, h = x[::-1]
    for t in range(2):
        s0, s1 = big_sigma(w, a, 0), big_sigma(w, e, 1)
        ch, maj = table(0xCA, e, f, g) & FULL[w], table(0xE8, a, b, c) & FULL[w]
        a, b, c, d, e, f, g, h = (add(w, ch, s1, wk[t], h, maj, s0), a, b, c, add(w, ch, s1, wk[t], h, d), e, f, g)
    return [f, e, b, a]


def sha2msg1(w, x, y):
    w0, w1, w2, w3 = x
    return [add(w, a, sigma(w, b, 0)) for a, b in ((w0, w1), (w1, w2), (w2, w3), (w3, y[0]))]


def sha2msg2(w, x, y):
    w14, w15 = y[2], y[3]
    w16 = add(w, x[0], sigma(w, w14, 1))
    w17 = add(w, x[1], sigma(w, w15, 1))
    return [w16, w17, add(w, x[2], sigma(w, w16, 1)), add(w, x[3], sigma(w, w17, 1))]


BINARY |= {"sha1nexte": (32, sha1nexte), "sha1msg1": (32, sha1msg1), "sha1msg2": (32, sha1msg2),
           "sha256msg1": (32, sha2msg1), "sha256msg2": (32, sha2msg2),
           "sha512msg1": (64, sha2msg1), "sha512msg2": (64, sha2msg2)}

# Binutils before 2.41 know no SHA-512 instructions: their bytes are read and written here, of registers 0 to 7.
# VEX.256.F2.0F38.W0, the complement of a second operand, a code, the registers of the first and the last operand.
SHA512 = {0xCB: "vsha512rnds2 ymm{},ymm{},xmm{}", 0xCC: "vsha512msg1 ymm{0},xmm{2}", 0xCD: "vsha512msg2 ymm{0},ymm{2}"}
SHA512_BYTES = re.compile(rb"\xc4\xe2([\x47\x4f\x57\x5f\x67\x6f\x77\x7f])([\xcb-\xcd])([\xc0-\xff])", re.S)


def sha512_text(found):
    vex, code, registers = (x[0] for x in found.groups())
    return SHA512[code].format(registers >> 3 & 7, ~vex >> 3 & 15, registers & 7)


def sha512_bytes(text):
    code = next(x for x, form in SHA512.items() if form.split()[0] == text.split()[0])
    first, *second, last = map(int, re.findall(r"mm(\d)", text))
    return bytes([0xC4, 0xE2, 0x07 | ~sum(second) << 3 & 0x78, code, 0xC0 | first << 3 | last])

# ---- Vectors: the instructions --------------------------------------------------------------------------------------

MOVES = {name: width for names, width in (("movdqa movdqu movaps movups movapd movupd lddqu movdqa32 movdqu32", 32),
                                          ("movdqa64 movdqu64", 64), ("movdqu8", 8), ("movdqu16", 16))
         for name in names.split()}
# An address that is not a multiple of the operand's size is an error here (SDM volume 1, section 4.1.1), and in each
# instruction without a v that has 16 bytes of memory, except these.
ALIGNED = {"movdqa", "movaps", "movapd", "movdqa32", "movdqa64"}
UNALIGNED = {"movdqu", "movups", "movupd", "lddqu"}
# Broadcasts of an element.
BROADCASTS = {"pbroadcastb": 8, "pbroadcastw": 16, "pbroadcastd": 32, "pbroadcastq": 64, "broadcastss": 32,
              "broadcastsd": 64, "broadcasti128": 128, "broadcastf128": 128, "broadcasti32x4": 128,
              "broadcasti64x2": 128, "broadcasti64x4": 256, "movddup": 64}
EXTRACTS = {"extracti128": 128, "extractf128": 128, "extracti32x4": 128, "extracti64x2": 128, "extracti64x4": 256}


def vector(name, is_legacy, operands):
    """The function of a vector instruction."""
    a = operands[0]
    nbytes = a.nbytes if type(a) in (Vector, Memory) else None
    if name in MOVES:
        width = MOVES[name]
        b = operands[1]
        if type(b) is Memory and a.mask is not None:
            return lambda m: masked_load(m, a, b, width)
        if type(b) is Vector:
            nbytes = b.nbytes
        return lambda m: target(m, a, width, source(m, b, width, nbytes * 8 // width), is_legacy)
    if name in BINARY:
        width, f = BINARY[name]
        b, c = operands if len(operands) == 2 else operands[1:]
        n = nbytes * 8 // width
        if hasattr(f, "is_each") and a.mask is not None:
            return lambda m: target(m, a, width, f(width, source(m, b, width, n), masked_source(m, a, c, width, n)))
        return lambda m: target(m, a, width, f(width, source(m, b, width, n), source(m, c, width, n)), is_legacy)
    if name in ("permq", "permpd") and type(operands[2]) is not Immediate:
        n = nbytes // 8
        b, c = operands[1:]
        return lambda m: target(m, a, 64, permuted(source(m, c, 64, n), source(m, b, 64, n)))
    if name in UNARY:
        width, f = UNARY[name]
        b, c = (a, operands[1]) if len(operands) == 2 else operands[1:]
        n = nbytes * 8 // width
        if type(c) is not Immediate:  # the count in a register
            return lambda m: target(m, a, width, f(width, source(m, b, width, n), count_of(m, c)), is_legacy)
        i = c.value
        return lambda m: target(m, a, width, f(width, source(m, b, width, n), i), is_legacy)
    if name in TERNARY:
        width, f = TERNARY[name]
        b, c, i = operands if len(operands) == 3 else operands[1:]
        i, n, to = i.value & 255, nbytes * 8 // width, min(width, 64)
        k = c.nbytes * 8 // width
        return lambda m: target(m, a, to, split_all(f(width, source(m, b, width, n), source(m, c, width, k), i), width,
                                                    to), is_legacy)
    if name in BROADCASTS:
        width, b = BROADCASTS[name], operands[1]
        to, n = min(width, 64), nbytes * 8 // width
        if type(b) is Register:
            return lambda m: target(m, a, width, (cut(b.get(m), width),) * n)
        if name == "movddup" and nbytes > 16:
            return lambda m: target(m, a, 64, [x for x in source(m, b, 64, n)[::2] for _ in range(2)])
        return lambda m: target(m, a, to, split_all(source(m, b, width, 1) * n, width, to), is_legacy)
    if name in EXTRACTS:
        width, b, i = EXTRACTS[name], operands[1], operands[2].value
        return lambda m: target(m, a, 64, split_all(
            (source(m, b, width, b.nbytes * 8 // width)[i & b.nbytes * 8 // width - 1],), width, 64))
    if name in ("pternlogd", "pternlogq"):
        width, i = (32 if name[-1] == "d" else 64), operands[3].value & 255
        b, c = operands[1:3]
        n = nbytes * 8 // width
        return lambda m: target(m, a, width, [
            conj_full(table(i, *xyz), width)
            for xyz in zip(source(m, a, width, n), source(m, b, width, n), masked_source(m, a, c, width, n))])
    if name in ("pmovqd", "pmovqw", "pmovdw"):
        width, to = {"q": 64, "d": 32}[name[4]], {"d": 32, "w": 16}[name[5]]
        b = operands[1]
        return lambda m: target(m, a, to, [cut(x, to) for x in source(m, b, width, b.nbytes * 8 // width)])
    if name == "pmovzxdq":
        return lambda m: target(m, a, 64, source(m, operands[1], 32, nbytes // 8), is_legacy)
    if name in ("pblendmb", "pblendmd", "pblendmq"):
        width, (b, c) = {"b": 8, "d": 32, "q": 64}[name[-1]], operands[1:]
        return lambda m: blend(m, a, b, c, width)
    if name == "sha256rnds2":
        b = operands[1]
        return lambda m: target(m, a, 32, sha2rnds2(32, source(m, a, 32, 4), source(m, b, 32, 4),
                                                      lanes(m.v[0], 32, 4)), True)
    if name == "sha512rnds2":
        b, c = operands[1:]
        return lambda m: target(m, a, 64, sha2rnds2(64, source(m, a, 64, 4), source(m, b, 64, 4), source(m, c, 64, 2)))
    if name in ("movd", "movq"):
        width, b = (32 if name == "movd" else 64), operands[1]
        if type(b) is Vector and type(a) is Vector:
            return lambda m: target(m, a, width, [source(m, b, width, 1)[0]] + [0] * (128 // width - 1), is_legacy)
        if type(b) is Vector:
            width = a.width or width
            return lambda m: a.set(m, source(m, b, width, 1)[0])
        width = b.width or width
        return lambda m: target(m, a, width, [b.get(m)] + [0] * (128 // width - 1), is_legacy)
    if name in ("pinsrd", "pinsrq", "pinsrb", "pinsrw"):
        width = {"d": 32, "q": 64, "b": 8, "w": 16}[name[-1]]
        b, (c, i) = (a if len(operands) == 3 else operands[1]), operands[-2:]
        i = i.value & 128 // width - 1
        return lambda m: target(m, a, width, [cut(c.get(m), width) if j == i else x
                                              for j, x in enumerate(source(m, b, width, 128 // width))], is_legacy)
    if name in ("pextrd", "pextrq", "pextrb", "pextrw"):
        width, b, i = {"d": 32, "q": 64, "b": 8, "w": 16}[name[-1]], operands[1], operands[2].value
        return lambda m: a.set(m, source(m, b, width, 128 // width)[i & 128 // width - 1])
    if name in ("movhps", "movhpd", "movlps", "movlpd"):
        high = int(name[3] == "h")
        if type(a) is Memory:
            return lambda m: a.set(m, source(m, operands[1], 64, 2)[high])
        b, c = (a, operands[1]) if len(operands) == 2 else operands[1:]
        return lambda m: target(m, a, 64, [source(m, b, 64, 2)[0], c.get(m)] if high else
                                [c.get(m), source(m, b, 64, 2)[1]], is_legacy)
    if name in ("movss", "movsd") and type(operands[1]) is Memory:
        width = 32 if name == "movss" else 64
        return lambda m: target(m, a, width, [operands[1].get(m)] + [0] * (128 // width - 1), is_legacy)
    if name in ("movss", "movsd") and type(a) is Memory:
        width = 32 if name == "movss" else 64
        return lambda m: a.set(m, source(m, operands[1], width, 1)[0])
    if name in ("movss", "movsd", "movhlps"):
        width = {"movss": 32, "movsd": 64, "movhlps": 64}[name]
        b, c = operands if len(operands) == 2 else operands[1:]
        if name == "movhlps":
            return lambda m: target(m, a, 64, [source(m, c, 64, 2)[1], source(m, b, 64, 2)[1]], is_legacy)
        n = 128 // width
        return lambda m: target(m, a, width, [source(m, c, width, 1)[0], *source(m, b, width, n)[1:]], is_legacy)
    if re.fullmatch(r"perm[ti]2[dq]", name):
        width, n = (32 if name[-1] == "d" else 64), nbytes * 8 // (32 if name[-1] == "d" else 64)
        b, c = operands[1:]

        def permute(m):
            first, second, last = source(m, a, width, n), source(m, b, width, n), source(m, c, width, n)
            x, order = (first, second) if name[4] == "t" else (second, first)
            known(*order)
            both = (*x, *last)
            target(m, a, width, [both[o & 2 * n - 1] for o in order])

        return permute
    if name in ("permd", "permps"):
        n = nbytes // 4
        b, c = operands[1:]
        return lambda m: target(m, a, 32, permuted(source(m, c, 32, n), source(m, b, 32, n)))
    raise KeyError(name)


def permuted(x, order):
    known(*order)
    return [x[o & len(x) - 1] for o in order]


def conj_full(x, width):
    return x & FULL[width] if type(x) is int else cut(x, width)


def split_all(values, width, to):
    return values if width == to else [part for value in values for part in split(value, to, width)]


def count_of(m, x):
    count = source(m, x, 64, 1)[0]
    known(count)
    return count


def masked_load(m, a, b, width):
    """Touches only what the mask selects."""
    n, address = a.nbytes * 8 // width, b.address(m)
    k = mask_of(m, a, n)
    target(m, a, width, [m.load(address + i * width // 8, width // 8) if k >> i & 1 else 0 for i in range(n)])


def masked_source(m, a, x, width, n):
    """A source of which no memory is touched but for the lanes that the mask of the destination selects."""
    if a.mask is None or type(x) is not Memory or x.is_broadcast:
        return source(m, x, width, n)
    k, address = mask_of(m, a, n), x.address(m)
    return tuple(m.load(address + i * width // 8, width // 8) if k >> i & 1 else 0 for i in range(n))


def blend(m, a, b, c, width):
    """The mask chooses between two sources; the second is touched only where it is chosen."""
    n = a.nbytes * 8 // width
    k = mask_of(m, a, n)
    first, plain = source(m, b, width, n), copy.copy(a)
    plain.mask = None
    if type(c) is Memory:
        address = c.address(m)
        second = [m.load(address + i * width // 8, width // 8) if k >> i & 1 else 0 for i in range(n)]
    else:
        second = source(m, c, width, n)
    target(m, plain, width, [second[i] if k >> i & 1 else 0 if a.zeroing else first[i] for i in range(n)])


def aligned(run, x):
    def f(m):
        if x.address(m) % x.nbytes:
            raise Fault(f"{x.address(m):#x} is not a multiple of {x.nbytes}")
        return run(m)

    return f


# ---- Features -------------------------------------------------------------------------------------------------------

# Names of instructions without the v, behind the features that their forms need: without a v, VEX of 128 and of 256
# bits, EVEX. EVEX of less than 512 bits also needs AVX512VL, but for the instructions of ONE_LANE. "-": no such form.
VECTORS = """
SSE   AVX  AVX    AVX512F   movaps movups unpcklps unpckhps shufps
SSE   AVX  AVX    AVX512DQ  andps andnps orps xorps
SSE   AVX  -      AVX512F   movss movhps movlps movhlps movlhps
SSE2  AVX  AVX    AVX512F   movapd movupd unpcklpd unpckhpd shufpd
SSE2  AVX  AVX    AVX512DQ  andpd andnpd orpd xorpd
SSE2  AVX  AVX    -         movdqa movdqu
SSE2  AVX  -      AVX512F   movsd movhpd movlpd movd movq
SSE2  AVX  -      AVX512BW  pinsrw pextrw
SSE2  AVX  AVX2   -         pand pandn por pxor pcmpeqb pcmpeqw pcmpeqd pcmpgtb pcmpgtw pcmpgtd
SSE2  AVX  AVX2   AVX512F   paddd paddq psubd psubq punpckldq punpckhdq punpcklqdq punpckhqdq pshufd pslld psllq
SSE2  AVX  AVX2   AVX512F   psrld psrlq pmuludq
SSE2  AVX  AVX2   AVX512BW  paddb paddw psubb psubw punpcklbw punpckhbw punpcklwd punpckhwd pshuflw pshufhw pslldq
SSE2  AVX  AVX2   AVX512BW  psrldq psllw psrlw
SSE3  AVX  AVX    -         lddqu
SSE3  AVX  AVX    AVX512F   movddup
SSSE3 AVX  AVX2   AVX512BW  pshufb palignr
SSE41 AVX  AVX2   -         pblendw pcmpeqq
SSE41 AVX  AVX    -         blendps blendpd
SSE41 AVX  AVX2   AVX512F   pmovzxdq
SSE41 AVX  -      AVX512F   insertps
SSE41 AVX  -      AVX512DQ  pinsrd pinsrq pextrd pextrq
SSE41 AVX  -      AVX512BW  pinsrb pextrb
SSE42 AVX  AVX2   -         pcmpgtq
SHA   -    -      -         sha1rnds4 sha1nexte sha1msg1 sha1msg2 sha256rnds2 sha256msg1 sha256msg2
-     AVX  AVX    AVX512F   permilps broadcastss broadcastsd
-     -    AVX    -         insertf128 extractf128 perm2f128 broadcastf128
-     -    AVX2   -         inserti128 extracti128 perm2i128 broadcasti128
-     -    AVX2   AVX512F   permq permpd permd permps
-     AVX2 AVX2   -         pblendd
-     AVX2 AVX2   AVX512F   pbroadcastd pbroadcastq psllvd psllvq psrlvd psrlvq
-     AVX2 AVX2   AVX512BW  pbroadcastb pbroadcastw
-     -    SHA512 -         sha512rnds2 sha512msg1 sha512msg2
-     -    -      AVX512F   movdqa32 movdqa64 movdqu32 movdqu64 pandd pandq pandnd pandnq pord porq pxord pxorq
-     -    -      AVX512F   prold prolq prord prorq prolvd prolvq prorvd prorvq alignd alignq pternlogd pternlogq
-     -    -      AVX512F   permi2d permi2q permt2d permt2q pmovqd pmovqw pmovdw pblendmd pblendmq inserti32x4
-     -    -      AVX512F   inserti64x4 extracti32x4 extracti64x4 broadcasti32x4 broadcasti64x4 shufi32x4 shufi64x2
-     -    -      AVX512F   shuff64x2
-     -    -      AVX512BW  movdqu8 movdqu16 pblendmb
-     -    -      AVX512DQ  inserti64x2 extracti64x2 broadcasti64x2
"""
VECTORS = {name: features for features, names in re.findall(r"^((?:\S+ +){4})(.*)", VECTORS, re.M)
           for name in names.split()}
# Forms that need what another instruction does: of a general register, of memory, of a vector in place of a literal.
LIKE = {r"v?pextrw [A-Z\[].*": "pextrb", r"vbroadcasts[sd] .*,xmm\d+": "pbroadcastd",
        r"vpbroadcast[bw] .*,[er]\w+": "movdqu8", r"vpbroadcast[dq] .*,[er]\w+": "movdqa32",
        r"vperm(q|pd) .*(mm\d+|\])": "permi2q", r"vps[rl]l[dq] .*\],0x\w+": "prold",
        r"vps[rl]l(w|dq) .*\],0x\w+": "movdqu8"}
ONE_LANE = {name for name, features in VECTORS.items() if features.split()[2] == "-" and features.split()[1] != "-"}
# The other instructions; the first lines are what each CPU has that the core is compiled for. There tzcnt is bsf, which
# differs for 0 alone.
OTHERS = {name: features.split() for features, names in {
    "": "adc add and bsf bsr bswap bt bts call cdqe cmp cmpxchg dec div endbr32 endbr64 imul inc jmp lea leave "
        "mov movabs movsx movsxd movzx mul neg nop nopl nopw not or pop push rep repz ret rol ror sar sbb shl shld shr "
        "shrd sub test tzcnt xchg xor " + " ".join(x + y for y in CONDITIONS for x in ("j", "set", "cmov")),
    "SSE": "prefetcht0", "SSE2": "lfence", "PREFETCHW": "prefetchw", "MOVBE": "movbe", "LZCNT": "lzcnt",
    "BMI1": "andn tzcnt0", "BMI2": "bzhi rorx sarx shlx shrx", "AVX": "vzeroall vzeroupper",
    "AVX512F": "kmovw kxorw", "AVX512DQ": "kmovb", "AVX512BW": "kmovd kmovq kxord kxorq kxnorq kshiftrd kshiftrq",
}.items() for name in names.split()}
# Each has those before it.
LEVELS = ["SSE", "SSE2", "SSE3", "SSSE3", "SSE41", "SSE42", "AVX", "AVX2"]


@functools.cache
def features_of(text):
    """The CPU's features that an instruction needs; a KeyError if the tables have no such form."""
    name, rest, _ = parts(text)
    if name in OTHERS:
        return OTHERS[name]
    is_vex = name.startswith("v")
    form = next((like for pattern, like in LIKE.items() if re.fullmatch(pattern, f"{name} {rest}")), name[is_vex:])
    legacy, *vex, evex = VECTORS[form].split()
    bits = 128 << max(("xyz".index(x) for x in re.findall(r"([xyz])mm\d", rest)), default=0)
    if not is_vex:
        found = [legacy]
    elif vex != ["-", "-"] and "{" not in text and not re.search(r"zmm|mm(1[6-9]|[23]\d)|BCST|\bk\d", rest):
        found = [vex[bits > 128]]
    else:
        found = ["AVX512F", evex] + ["AVX512VL"] * (bits < 512 and form not in ONE_LANE)
    if "-" in found:
        raise KeyError(name)
    return found


def lacking(texts, features):
    """Instructions that a CPU with these features may lack."""
    most = max((i for i, x in enumerate(LEVELS) if x in features), default=-1)
    has, out = {*features, *LEVELS[: most + 1]}, []
    for text in texts:
        try:
            out += [text] * (not has.issuperset(features_of(text)))
        except KeyError:
            out.append(f"{text} (of no known feature)")
    return out


# ---- Instructions ---------------------------------------------------------------------------------------------------

# Prefixes that change nothing of what objdump then writes; behind the others only what does nothing may stand.
INERT = {"notrack", "bnd", "rex", "rex.W", "lock", "{evex}", "{vex}", "cs", "ds", "es", "ss"}
PREFIXES = {*INERT, "data16", "addr32", "fs", "gs"}
NAMES = {"jz": "je", "jnz": "jne", "jc": "jb", "jnc": "jae", "sal": "shl", "cmovc": "cmovb", "cmovnc": "cmovae"}


def parts(text):
    """The name of an instruction, its operands, and objdump's comment."""
    text, _, comment = text.partition("#")
    words, prefixes = text.split(None, 1), set()
    while words[0] in PREFIXES and len(words) > 1:
        prefixes.add(words[0])
        words = words[1].split(None, 1)
    if not prefixes <= INERT and words[0] not in ("nop", "nopw", "nopl") and words != ["xchg", "ax,ax"]:
        raise KeyError(" ".join(prefixes))
    return NAMES.get(words[0], words[0]), words[1].strip() if len(words) > 1 else "", comment.strip()


def instruction(text, after):
    """The function that carries out an instruction."""
    name, rest, comment = parts(text)
    if name in ("rep", "repz"):
        if rest == "ret":
            return leave
        which, size, bits = re.fullmatch(r"(stos|movs) +(\w+) PTR es:\[([er])di\],(?:\2 PTR ds:\[\3si\]|[er]?a[lx])",
                                         rest).groups()
        return lambda m: repeated(m, which, SIZES[size], {"e": 32, "r": 64}[bits])
    if name in ("nop", "nopw", "nopl", "prefetcht0", "prefetchw"):
        return lambda m: None
    operands = [operand(x.strip(), comment) for x in rest.split(",")] if rest else []
    if name == "call":
        return lambda m: call(m, operands[0], after)
    if name in GENERAL:
        f = GENERAL[name]
        return lambda m: f(m, *operands)
    is_vex = name.startswith("v")
    run = vector(name[1:] if is_vex else name, not is_vex, operands)
    for x in operands:
        if type(x) is Memory and not x.is_broadcast and (
                name[is_vex:] in ALIGNED or not is_vex and x.nbytes == 16 and name not in UNALIGNED):
            return aligned(run, x)
    return run
