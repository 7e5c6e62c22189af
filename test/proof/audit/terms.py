"""terms.py: in the place of words.py: words as terms without any normal form, for smt.py.

SPDX-License-Identifier: MIT OR Apache-2.0

A term is an operation on terms, kept once, and knows a bound of its width. Only parts that are put together as they
were before are simplified, so that what is stored and loaded is the same term.
"""

from operators import operators

FULL = {n: (1 << n) - 1 for n in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)}


class TooLong(Exception):
    """Never: a term does not grow."""


class Word(operators(globals())):
    __slots__ = ("op", "args", "width", "number")


def reset():
    global known, terms
    known, terms = {}, []


reset()


def made(width, op, *args):
    word = known.get((width, op, args))
    if word is None:
        word = known[width, op, args] = Word()
        word.op, word.args, word.width, word.number = op, args, width, len(terms)
        terms.append(word)
    return word


def width_of(x):
    return x.bit_length() if type(x) is int else x.width


def variable(key, width):
    return made(width, "variable", key)


def rename(x):
    """Nothing: a term does not grow."""


close = rename


def xor(x, y):
    if type(x) is int and type(y) is int:
        return x ^ y
    if x is y:
        return 0
    if type(x) is int:
        x, y = y, x
    return x if y == 0 else made(max(width_of(x), width_of(y)), "xor", x, y)


def conj(x, y):
    if type(x) is int and type(y) is int:
        return x & y
    if type(x) is int:
        x, y = y, x
    if type(y) is int:
        y &= (1 << x.width) - 1
        if y == 0 or y == (1 << x.width) - 1:
            return y and x
        if y & y + 1 == 0:
            return part(x, 0, y.bit_length())
    return x if x is y else made(min(width_of(x), width_of(y)), "and", x, y)


def disj(x, y):
    if type(x) is int and type(y) is int:
        return x | y
    if type(x) is int:
        x, y = y, x
    return x if y == 0 or x is y else made(max(width_of(x), width_of(y)), "or", x, y)


def part(x, low, n):
    """n bits from `low` on."""
    if type(x) is int:
        return x >> low & (1 << n) - 1
    n = min(n, x.width - low)
    if n <= 0:
        return 0
    if low == 0 and n == x.width:
        return x
    if x.op == "part":
        return part(x.args[0], x.args[1] + low, n)
    if x.op == "join" and low // x.args[0] == (low + n - 1) // x.args[0]:
        each = x.args[0]
        return part(x.args[1][low // each], low % each, n)
    if x.op == "join" and low % x.args[0] == 0 and n % x.args[0] == 0:
        each = x.args[0]
        return join(x.args[1][low // each : (low + n) // each], each)
    return made(n, "part", x, low)


def shl(x, k):
    if type(x) is int:
        return x << k
    return x if k == 0 else made(x.width + k, "shl", x, k)


def shr(x, k):
    return part(x, k, max(width_of(x) - k, 0)) if type(x) is not int else x >> k


def cut(x, n):
    return part(x, 0, n)


def rol(x, k, n):
    if type(x) is int:
        return (x << k | x >> n - k) & (1 << n) - 1
    return x if k % n == 0 else made(n, "rol", x, k % n)


def split(x, n, of):
    return tuple(part(x, i, n) for i in range(0, of, n))


def join(parts, n):
    if all(type(x) is int for x in parts):
        return sum(x << i * n for i, x in enumerate(parts))
    if len(parts) == 1:
        return parts[0]
    # Parts of one term, side by side: a part of it.
    first = parts[0]
    if type(first) is Word and first.op == "part":
        x, low = first.args
        if all(type(p) is Word and p.op == "part" and p.args == (x, low + i * n) and p.width == n
               for i, p in enumerate(parts)):
            return part(x, low, n * len(parts))
    return made(n * len(parts), "join", n, tuple(parts))


def swapped(x, n):
    return join(split(x, 8, n)[::-1], 8)


def table(bits, x, y, z):
    if type(x) is int and type(y) is int and type(z) is int:
        out = 0
        for row in range(8):
            if bits >> row & 1:
                out |= (x if row & 4 else ~x) & (y if row & 2 else ~y) & (z if row & 1 else ~z)
        return out
    width = max(8, *(1 << (width_of(x) - 1).bit_length() for x in (x, y, z)))
    return made(width, "table", bits, x, y, z)


def add(n, *xs):
    xs = [cut(x, n) for x in xs]
    constant = sum(x for x in xs if type(x) is int) & (1 << n) - 1
    rest = [x for x in xs if type(x) is not int]
    if not rest:
        return constant
    if constant == 0 and len(rest) == 1:
        return rest[0]
    return made(n, "add", *rest, *([constant] if constant else []))


def sub(n, x, y):
    if type(x) is int and type(y) is int:
        return x - y & (1 << n) - 1
    return made(n, "sub", cut(x, n), cut(y, n)) if x is not y else 0


def value(op, args, width, inputs):
    """What a term is if its operands are these numbers."""
    mask = (1 << width) - 1
    if op == "variable":
        return inputs(args[0], width)
    if op == "xor":
        return args[0] ^ args[1]
    if op == "and":
        return args[0] & args[1]
    if op == "or":
        return args[0] | args[1]
    if op == "part":
        return args[0] >> args[1] & mask
    if op == "shl":
        return args[0] << args[1]
    if op == "rol":
        return (args[0] << args[1] | args[0] >> width - args[1]) & mask
    if op == "join":
        return sum(x << i * args[0] for i, x in enumerate(args[1]))
    if op == "table":
        return table(*args) & mask
    if op == "add":
        return sum(args) & mask
    return args[0] - args[1] & mask
