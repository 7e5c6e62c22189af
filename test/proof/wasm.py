"""wasm.py: what the instructions of WebAssembly do that compilers make of the core, and how a module is read.

After the WebAssembly Core Specification 2.0: chapter 4 (execution), chapter 5 and appendix A.4 (binary format, names).

SPDX-License-Identifier: MIT OR Apache-2.0

An address of code is CODE plus the place in the module. A machine's values have indices: first the globals, the stack
pointer before all, then the locals and operands of each function that is running. Numbers of 32 bits are in m.r, others
in m.k, vectors in m.v; m.r has something for each index.
"""

import functools
import operator
import re

from machine import STACK, STOP, Fault, Image, known, lanes, signed
from words import FULL, add, conj, cut, disj, rol, shl, shr, split, sub, table, variable, xor

FAMILY = "HLI_WASM"  # in registry.def
CODE = 1 << 24

# ---- The binary format ----------------------------------------------------------------------------------------------

KINDS = {0x7F: "i", 0x7E: "l", 0x7B: "v"}  # of values: numbers of 32 and of 64 bits, vectors
COMPARED = "eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u"
COUNTED = "clz ctz popcnt add sub mul div_s div_u rem_s rem_u and or xor shl shr_s shr_u rotl rotr"


def typed(kind, names):
    return "".join(f"{kind}.{name} " for name in names.split())


NAMES = {}
for first, names in (
        (0x00, "unreachable nop block loop if else"), (0x0B, "end br br_if br_table return call call_indirect"),
        (0x1A, "drop select"), (0x20, "local.get local.set local.tee global.get global.set"),
        (0x28, typed("i32", "load") + typed("i64", "load") + "f32.load f64.load " +
         typed("i32", "load8_s load8_u load16_s load16_u") +
         typed("i64", "load8_s load8_u load16_s load16_u load32_s load32_u") +
         "i32.store i64.store f32.store f64.store " + typed("i32", "store8 store16") +
         typed("i64", "store8 store16 store32") + "memory.size memory.grow"),
        (0x41, "i32.const i64.const"), (0x45, typed("i32", "eqz " + COMPARED) + typed("i64", "eqz " + COMPARED)),
        (0x67, typed("i32", COUNTED) + typed("i64", COUNTED)), (0xA7, "i32.wrap_i64"), (0xAD, "i64.extend_i32_u"),
        (0xFC0A, "memory.copy memory.fill"),
        (0xFD00, typed("v128", "load load8x8_s load8x8_u load16x4_s load16x4_u load32x2_s load32x2_u load8_splat "
                       "load16_splat load32_splat load64_splat store const") + "i8x16.shuffle i8x16.swizzle"),
        (0xFD11, "i32x4.splat i64x2.splat"),
        (0xFD1B, typed("i32x4", "extract_lane replace_lane") + typed("i64x2", "extract_lane replace_lane")),
        (0xFD37, typed("i32x4", COMPARED)),
        (0xFD4D, typed("v128", "not and andnot or xor bitselect any_true load8_lane load16_lane load32_lane "
                       "load64_lane store8_lane store16_lane store32_lane store64_lane load32_zero load64_zero")),
        (0xFDAB, typed("i32x4", "shl shr_s shr_u add")), (0xFDB1, "i32x4.sub"),
        (0xFDB5, typed("i32x4", "mul min_s min_u max_s max_u")),
        (0xFDCB, typed("i64x2", "shl shr_s shr_u add")), (0xFDD1, "i64x2.sub")):
    NAMES |= {first + i: name for i, name in enumerate(names.split())}


class Reader:
    def __init__(self, data, at=0, end=None):
        self.data, self.at, self.end = data, at, len(data) if end is None else end

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def u(self):
        """An unsigned number, LEB128."""
        byte = self.byte()
        return byte if byte < 0x80 else byte - 0x80 + (self.u() << 7)

    def s(self):
        """A signed one."""
        begin = self.at
        value, n = self.u(), 7 * (self.at - begin)
        return value - (value >> n - 1 << n)

    def take(self, n):
        self.at += n
        return self.data[self.at - n : self.at]

    def several(self, one):
        return [one() for _ in range(self.u())]

    def part(self):
        """What follows its length."""
        n = self.u()
        self.at += n
        return Reader(self.data, self.at - n, self.at)

    def sections(self):
        while self.at < self.end:
            yield self.byte(), self.part()

    def kinds(self):
        return "".join(KINDS.get(x, "?") for x in self.several(self.byte))

    def constant(self):
        _, value, end = self.byte(), self.s(), self.byte()
        if end != 0x0B:
            raise SystemExit("prove.py: no model of a constant that is computed")
        return value & FULL[32]

    def begin(self):
        """Where a segment of data or of the table is."""
        if self.u():
            raise SystemExit("prove.py: no model of a segment that is not active")
        return self.constant()


class Module(Image):
    """A module whose names of functions and data are not stripped."""

    word_nbytes = 4

    def __init__(self, path, isa):
        self.isa, self.segments, self.writable = isa, [], []
        self.symbols, self.lines, self.compiled, self.next = {}, {}, {}, {}
        data, names = path.read_bytes(), {}
        has = {i: Reader(b"\0") for i in range(12)} | dict(Reader(data, 8).sections())
        if data[:8] != b"\0asm\1\0\0\0" or has[2].u():
            raise SystemExit(f"prove.py: {path} is no module, or imports something")
        for kind, section in Reader(data, 8).sections():
            if kind == 0 and section.take(section.u()) == b"name":
                names = {part: dict(r.several(lambda: (r.u(), r.take(r.u()).decode())))
                         for part, r in section.sections() if part in (1, 9)}
        kinds, globals_, elements, contents = has[1], has[6], has[9], has[11]
        self.types = kinds.several(lambda: kinds.take(1) and f"{kinds.kinds()}:{kinds.kinds()}")
        self.globals = globals_.several(lambda: globals_.take(2) and globals_.constant())
        bodies = has[10].several(has[10].part)
        self.functions = [(CODE + r.at - 1, self.types[i]) for r, i in zip(bodies, has[3].several(has[3].u))]
        self.table = {begin + i: self.functions[f][0]
                      for begin, of in elements.several(lambda: (elements.begin(), elements.several(elements.u)))
                      for i, f in enumerate(of)}
        for i, (r, function) in enumerate(zip(bodies, self.functions)):
            self.symbols[names[1][i]] = function[0]
            self.body(r, *function)
        self.segments = contents.several(lambda: (contents.begin(), contents.take(contents.u())))
        self.writable = [(address, address + len(x)) for i, (address, x) in enumerate(self.segments)
                         if not names[9][i].startswith(".rodata")]

    def zeros_until(self, end):
        """Variables that begin as zero are behind the others."""
        begin = max(a + len(x) for a, x in self.segments)
        self.segments.append((begin, bytes(end - begin)))
        self.writable.append((begin, end))

    def body(self, r, entry, kind):
        """Writes down the instructions of a function, with addresses in place of ends."""
        locals_ = "".join(r.several(lambda: r.u() * KINDS.get(r.byte(), "?")))
        lines, blocks, nresults = [], [[]], len(kind.partition(":")[2])
        while r.at < r.end:
            pc = CODE + r.at
            name, given = self.decoded(r)
            lines.append((pc, name, given))
            if name in ("block", "loop", "if"):
                blocks.append([given])
            elif name == "else":
                blocks[-1] += [pc + 1, given]
            elif name == "end" and len(blocks) > 1:
                begin, *otherwise = blocks.pop()
                begin[:0] = [pc + 1, (otherwise or [pc])[0]]
                if otherwise:
                    otherwise[1].append(pc)
            elif name in ("return", "end"):
                lines[-1] = pc, "return", [nresults]
            elif name == "no model":
                break
        lines = [(entry, "enter", [kind, locals_, lines[-1][0]]), *lines]
        for (pc, name, given), (after, *_) in zip(lines, [*lines[1:], (None,)]):
            self.lines[pc], self.next[pc] = f"{name} {','.join(map(str, given))}".strip(), after

    def decoded(self, r):
        """The name of an instruction, and what follows it."""
        code = r.byte()
        if code in (0xFC, 0xFD):
            code = (code << 8) + r.u()
        name = NAMES.get(code, f"opcode {code:#x}")
        if name in ("block", "loop", "if"):
            kind = r.s()
            return name, [len(x) for x in self.types[kind].split(":")] if kind >= 0 else [0, int(kind != -64)]
        if name.startswith(("br", "local", "global")):
            return name, r.several(r.u) + [r.u()] if name == "br_table" else [r.u()]
        if name == "call":
            return name, self.functions[r.u()]
        if name == "call_indirect":
            return name, [self.types[r.u()], r.u()]
        if name.endswith(".const"):
            return name, [int.from_bytes(r.take(16), "little")] if name[0] == "v" else [r.s() & FULL[int(name[1:3])]]
        if re.search(r"\.(load|store)", name):
            _, offset = r.u(), r.u()
            return name, [offset, r.byte()] if "lane" in name else [offset]
        nbytes = {"i8x16.shuffle": 16, "memory.copy": 2, "memory.fill": 1}.get(name, int("_lane" in name))
        # No other instruction on vectors from 0x23 on has anything behind it.
        return name if code in NAMES or code >= 0xFD23 else "no model", list(r.take(nbytes))


# ---- Globals, locals and operands -----------------------------------------------------------------------------------


def begin(m):
    m.r, m.k, m.v, m.compared = [STACK, *getattr(m.image, "globals", [0])[1:]], {}, {}, None
    m.nglobals = m.base = len(m.r)  # base: where the locals begin
    # labels: of the function; of each an address, the number of its values, the height of the operands below, and
    # whether it stays. frames: of the callers; of each the address to return to, the base and the labels.
    m.callee, m.labels, m.frames = "", (), ()


def enter(m, arguments):
    m.stack_end = m.r[0] = STACK
    shrink(m, m.nglobals)
    m.r += arguments
    m.base, m.callee, m.labels, m.frames = m.nglobals, "", (), ((STOP, m.nglobals, ()),)


def argument(m, i):
    return kind_and_value(m, m.base + i)[1]


def answer(m, value):
    m.r.append(value)


def result(m):
    return m.r[-1]


def saved(m):
    """What a callee must leave as it was."""
    return m.r[: m.nglobals]


def stack_begin(m):
    """The convention of LLVM's C compiler leaves a function 128 bytes below the stack pointer."""
    return m.r[0] - 128


def leave(m, nresults=None):
    """Returns to the caller; without nresults, from a function of which nothing was executed."""
    unwind(m, m.base, len(m.callee.partition(":")[2]) if nresults is None else nresults)
    (pc, m.base, m.labels), m.frames = m.frames[-1], m.frames[:-1]
    return pc


def kind_and_value(m, i):
    return ("v", m.v[i]) if i in m.v else ("l", m.k[i]) if i in m.k else ("i", m.r[i])


def put(m, i, kind, value):
    {"i": m.r, "l": m.k, "v": m.v}[kind][i] = value


def push(m, kind, value):
    m.r.append(0)
    put(m, len(m.r) - 1, kind, value)


def shrink(m, height):
    for i in range(height, len(m.r)):
        m.v.pop(i, None)
        m.k.pop(i, None)
    del m.r[height:]


def unwind(m, height, count):
    """Leaves the `count` uppermost operands at a height."""
    values = [kind_and_value(m, i) for i in range(len(m.r) - count, len(m.r))]
    shrink(m, height)
    for x in values:
        push(m, *x)


def set_local(m, i, height):
    """height: of the operands afterwards."""
    put(m, m.base + i, *kind_and_value(m, len(m.r) - 1))
    shrink(m, height)


# ---- Control: an instruction that decides changes nothing before ----------------------------------------------------

RELATIONS = {x: getattr(operator, x) for x in ("eq", "ne", "lt", "gt", "le", "ge")}
# How Machine.compare() says the same of numbers of blocks and addresses: a relation, of x and y or of y and x, and
# whether the answer is the other one.
UNKNOWN = {"eq": ("==", 1, 0), "ne": ("==", 1, 1), "lt_u": ("<", 1, 0), "ge_u": ("<", 1, 1), "gt_u": ("<", -1, 0),
           "le_u": ("<", -1, 1)}


def holds(m, relation, x, y, n=32):
    """Whether a relation of two values holds, on which the program may decide."""
    if type(x) is int and type(y) is int:
        if relation.endswith("_s"):
            x, y = signed(x, n), signed(y, n)
        value = int(RELATIONS[relation[:2]](x, y))
    elif n == 64 or relation.endswith("_s"):
        raise Fault("a branch depends on data")
    else:
        relation, order, negates = UNKNOWN[relation]
        value = m.compare(relation, *(x, y)[::order]) ^ negates
    m.decide(value)
    return value


def condition(m):
    value = holds(m, "ne", m.r[-1], 0)
    m.r.pop()
    return value


def select(m):
    if condition(m):
        shrink(m, len(m.r) - 1)
    else:
        unwind(m, len(m.r) - 2, 1)


def branch(m, depth):
    at = len(m.labels) - 1 - depth
    pc, count, height, stays = m.labels[at]
    m.labels = m.labels[: at + stays]
    unwind(m, height, count)
    return pc


def block(m, pc, count, nparameters, stays=0):
    m.labels = (*m.labels, (pc, count, len(m.r) - nparameters, stays))


def block_if(m, after, otherwise, nparameters, nresults):
    taken = condition(m)
    block(m, after, nresults, nparameters)
    return None if taken else otherwise


def end(m):
    m.labels = m.labels[:-1]


def index(m):
    known(m.r[-1])
    m.decide(m.r[-1])
    return m.r.pop()


def call(m, pc, kind, after):
    if pc is None:
        raise Fault("trap: a call of no function")
    m.frames = (*m.frames, (after, m.base, m.labels))
    m.base, m.labels, m.callee = len(m.r) - kind.index(":"), (), kind
    return pc


def enter_body(m, kind, locals_, last):
    parameters, _, results = kind.partition(":")
    if m.callee not in ("", kind) or len(m.r) - m.base > len(parameters):
        raise Fault("trap: a call of another type")
    for i, x in enumerate(parameters, m.base):
        if i == len(m.r):  # what the proof does not tell may be anything
            push(m, x, variable(("argument", i, x), 32 if x == "i" else 64))
        put(m, i, x, kind_and_value(m, i)[1])
    for x in locals_:
        push(m, x, (32, (0,) * 4) if x == "v" else 0)
    m.labels = ((last, len(results), len(m.r), 0),)


# ---- Numbers --------------------------------------------------------------------------------------------------------


def arithmetic(f):
    """Of numbers that are known."""
    def run(*xs):
        known(*xs)
        return f(*xs)

    return run


def shifted(f, n):
    def run(x, k):
        known(k)
        return f(x, k % n)

    return run


def divided(x, y):
    """Rounds towards zero."""
    if y == 0:
        raise Fault("trap: division by zero")
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def divided_signed(x, y, n):
    value = divided(signed(x, n), signed(y, n))
    if value >> n - 1 == 1:
        raise Fault("trap: overflow")
    return value & FULL[n]


# Instructions without a memory: the kinds of the operands and of the result, and a function of the operands and of what
# stands in the instruction.
OPERATIONS = {"i32.wrap_i64": ("l:i", lambda x: cut(x, 32)), "i64.extend_i32_u": ("i:l", lambda x: x)}
for n, kind in ((32, "i"), (64, "l")):
    OPERATIONS |= {f"i{n}.{name}": (f"{kind * count}:{kind}", f) for name, count, f in (
        ("const", 0, lambda x: x), ("clz", 1, arithmetic(lambda x, n=n: n - x.bit_length())),
        ("popcnt", 1, arithmetic(lambda x: x.bit_count())),
        ("ctz", 1, arithmetic(lambda x, n=n: (x & -x).bit_length() - 1 if x else n)),
        ("add", 2, functools.partial(add, n)), ("sub", 2, functools.partial(sub, n)), ("and", 2, conj), ("or", 2, disj),
        ("xor", 2, xor), ("mul", 2, arithmetic(lambda x, y, n=n: x * y & FULL[n])), ("div_u", 2, arithmetic(divided)),
        ("rem_u", 2, arithmetic(lambda x, y: x - divided(x, y) * y)),
        ("div_s", 2, functools.partial(divided_signed, n=n)),
        ("shl", 2, shifted(lambda x, k, n=n: cut(shl(x, k), n), n)), ("shr_u", 2, shifted(shr, n)),
        ("shr_s", 2, shifted(lambda x, k, n=n: signed(x, n) >> k & FULL[n], n)),
        ("rotl", 2, shifted(lambda x, k, n=n: rol(x, k, n) if k else x, n)),
        ("rotr", 2, shifted(lambda x, k, n=n: rol(x, n - k, n) if k else x, n)))}


# ---- Vectors --------------------------------------------------------------------------------------------------------


def each(width, f):
    return lambda *xs: (width, tuple(map(f, *(lanes(x, width, 128 // width) for x in xs))))


def bitwise(f):
    def run(*xs):
        width = max(32, *(width for width, _ in xs))
        return each(width, lambda *parts: f(*parts) & FULL[width])(*xs)

    return run


def shift(width, f):
    def run(x, k):
        known(k)
        return each(width, lambda part: f(part, k % width))(x)

    return run


@functools.cache
def parts_of(indices):
    """A shuffle of bytes as one of parts that are as wide as they can be: their width and indices."""
    for n in (8, 4, 1):
        firsts = indices[::n]
        if all(first % n == 0 for first in firsts) and \
                indices == tuple(first + i for first in firsts for i in range(n)):
            return 8 * n, [first // n for first in firsts]


def shuffle(x, y, *indices):
    width, firsts = parts_of(indices)
    both = lanes(x, width, 128 // width) + lanes(y, width, 128 // width)
    return width, tuple(both[i] for i in firsts)


def swizzle(x, y):
    indices = lanes(y, 8, 16)
    known(*indices)
    return shuffle(x, (64, (0, 0)), *(min(i, 16) for i in indices))


def with_lane(x, width, i, value):
    all_lanes = list(lanes(x, width, 128 // width))
    all_lanes[i] = cut(value, width)
    return width, tuple(all_lanes)


OPERATIONS |= {
    "v128.not": ("v:v", bitwise(lambda x: xor(x, FULL[64]))), "v128.and": ("vv:v", bitwise(conj)),
    "v128.andnot": ("vv:v", bitwise(lambda x, y: conj(x, xor(y, FULL[64])))), "v128.or": ("vv:v", bitwise(disj)),
    "v128.xor": ("vv:v", bitwise(xor)), "v128.bitselect": ("vvv:v", bitwise(lambda x, y, z: table(0xCA, z, x, y))),
    "i8x16.shuffle": ("vv:v", shuffle), "i8x16.swizzle": ("vv:v", swizzle),
    "v128.const": (":v", lambda x: (32, split(x, 32, 128))),
}
for width, shape, kind in ((32, "i32x4", "i"), (64, "i64x2", "l")):
    OPERATIONS |= {f"{shape}.{name}": (kinds, f) for name, kinds, f in (
        ("add", "vv:v", each(width, functools.partial(add, width))),
        ("sub", "vv:v", each(width, functools.partial(sub, width))),
        ("shl", "vi:v", shift(width, lambda x, k, n=width: cut(shl(x, k), n))), ("shr_u", "vi:v", shift(width, shr)),
        ("splat", f"{kind}:v", lambda x, n=width: (n, (x,) * (128 // n))),
        ("extract_lane", f"v:{kind}", lambda x, i, n=width: lanes(x, n, 128 // n)[i]),
        ("replace_lane", f"v{kind}:v", lambda x, value, i, n=width: with_lane(x, n, i, value)))}
OPERATIONS |= {f"i32x4.{name}": ("vv:v", each(32, arithmetic(f))) for name, f in (
    ("mul", lambda x, y: x * y & FULL[32]), ("min_u", min), ("max_u", max),
    *((x, lambda x, y, f=RELATIONS[x[:2]]: f(x, y) * FULL[32]) for x in COMPARED.split() if not x.endswith("_s")))}


# ---- Memory ---------------------------------------------------------------------------------------------------------

MEMORY = re.compile(r"(i32|i64|v128)\.(load|store)(\d*)_?(|u|splat|zero|lane)")


def address(m, base, offset):
    """The sum has 33 bits."""
    if type(base) is not int:
        return m.address(add(32, base, offset))
    if base + offset >> 32:
        raise Fault("trap: out of bounds")
    return base + offset


def access(name, offset, lane=None):
    """A load or store: the kinds of its operands and its result, and a function of a machine and the operands."""
    of, what, bits, how = MEMORY.fullmatch(name).groups()
    kind, width = {"i32": "i", "i64": "l", "v128": "v"}[of], int(bits or (64 if of == "i64" else 32))
    n, nbytes = 128 // width, width // 8

    def load(m, base, x=None):
        at = address(m, base, offset)
        if kind == "v" and not bits:
            return 32, m.load_lanes(at, 32, 4)
        value = m.load(at, nbytes)
        if how == "lane":
            return with_lane(x, width, lane, value)
        return {"": value, "u": value, "splat": (width, (value,) * n), "zero": (width, (value, *(0,) * (n - 1)))}[how]

    def store(m, base, x):
        at = address(m, base, offset)
        if kind == "v" and not bits:
            m.store_lanes(at, max(32, x[0]), lanes(x, max(32, x[0]), 128 // max(32, x[0])))
        else:
            m.store(at, nbytes, lanes(x, width, n)[lane] if how == "lane" else cut(x, width))

    if what == "store":
        return f"i{kind}:", store
    return "iv:v" if how == "lane" else f"i:{kind}", load


def copy_memory(m, to, source, n):
    known(to, source, n)
    step = 4 if (to | source | n) & 3 == 0 else 1
    for i, value in enumerate([m.load(source + i, step) for i in range(0, n, step)]):
        m.store(to + i * step, step, value)


def fill_memory(m, to, value, n):
    known(to, n)
    for i in range(n):
        m.store(to + i, 1, cut(value, 8))


# ---- Instructions ---------------------------------------------------------------------------------------------------


def parsed(text):
    name, _, rest = text.partition(" ")
    return name, [int(x, 0) if x[:1].isdigit() else x for x in rest.split(",")] if rest else []


def operation(text):
    """The kinds of an instruction's operands and result, and a function of a machine and the operands; or None."""
    name, given = parsed(text)
    of, _, what = name.partition(".")
    if name in OPERATIONS:
        kinds, f = OPERATIONS[name]
        return kinds, lambda m, *xs: f(*xs, *given)
    if MEMORY.fullmatch(name):
        return access(name, *given)
    if of in ("i32", "i64") and what in ("eqz", *COMPARED.split()):
        n, kind, relation = int(of[1:]), "i" if of == "i32" else "l", "eq" if what == "eqz" else what
        return f"{kind * (1 if what == 'eqz' else 2)}:i", lambda m, x, y=0: holds(m, relation, x, y, n)
    return {"memory.copy": ("iii:", copy_memory), "memory.fill": ("iii:", fill_memory)}.get(name)


# The others: functions of what stands in the instruction, which return one of a machine.
CONTROL = {
    "nop": lambda: lambda m: None, "drop": lambda: lambda m: shrink(m, len(m.r) - 1), "select": lambda: select,
    "block": lambda after, _, n, count: lambda m: block(m, after, count, n),
    "loop": lambda _, __, n, count, begin: lambda m: block(m, begin, n, n, 1),
    "if": lambda *given: lambda m: block_if(m, *given), "else": lambda at: lambda m: at, "end": lambda: end,
    "br": lambda depth: lambda m: branch(m, depth),
    "br_if": lambda depth: lambda m: branch(m, depth) if condition(m) else None,
    "br_table": lambda *depths: lambda m: branch(m, depths[min(index(m), len(depths) - 1)]),
    "return": lambda n: lambda m: leave(m, n), "call": lambda *given: lambda m: call(m, *given),
    "call_indirect": lambda kind, _, after: lambda m: call(m, m.image.table.get(index(m)), kind, after),
    "enter": lambda *given: lambda m: enter_body(m, *given),
    "local.get": lambda i: lambda m: push(m, *kind_and_value(m, m.base + i)),
    "local.set": lambda i: lambda m: set_local(m, i, len(m.r) - 1),
    "local.tee": lambda i: lambda m: set_local(m, i, len(m.r)),
    "global.get": lambda i: lambda m: m.r.append(m.r[i]), "global.set": lambda i: lambda m: put(m, i, "i", m.r.pop()),
}


def instruction(text, after):
    found = operation(text)
    if found is None:
        name, given = parsed(text)
        return CONTROL[name](*given, *[after] * (name in ("loop", "call", "call_indirect")))
    (operands, _, kind), f = found[0].partition(":"), found[1]

    def run(m):
        first = len(m.r) - len(operands)
        value = f(m, *[kind_and_value(m, i)[1] for i in range(first, len(m.r))])
        shrink(m, first)
        if kind:
            push(m, kind, value)

    return run
