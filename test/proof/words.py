"""words.py: words of up to 64 bits whose bits are unknown, in a normal form: same form, same function.

SPDX-License-Identifier: MIT OR Apache-2.0

A known value is an int, another is a Word: for each of its bits a polynomial over GF(2) (the algebraic normal form),
written down for all bits at once. A term is a product of literals and the mask of the bits that have the term; a
literal is an atom rotated by some count. Rotations, shifts, masks, permutations of bytes and boolean functions map
normal forms to normal forms. An atom is an input, or a sum modulo 2^n, whose terms are counted, or what rename() made
one. Each step is an identity of words. Two values that are one object are therefore equal for all inputs. (Two objects
may be equal too: the normal form of sums is not complete.)
"""

import random
from itertools import islice

from operators import ALL, operators

FULL = {n: (1 << n) - 1 for n in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)}


splits = False  # whether a constant is added to the upper bits of a word alone, if its lower bits are 0


class TooLong(Exception):
    """Of a value that is not what was renamed: its terms become more with each operation."""


# The number of products that a conjunction may have to write down, once words are renamed.
MOST_PRODUCTS = 1 << 14


class Word(operators(globals())):
    """terms: sorted pairs of a product (a sorted tuple of literals, each atom * 64 + rotation) and a mask."""

    __slots__ = ("terms", "n", "hash", "span", "sum", "degree")


def reset():
    """Forgets all words: those made before must not be used with those made after."""
    global words, atoms, widths, sums, numbers, memo, formers, closed
    words = {}  # terms: Word; also terms that it had before it was renamed
    atoms = {}  # key: number
    widths = []  # of atoms
    sums = {}  # atom: (width, counts of the terms, constant, hash of the counts)
    numbers = {}  # (width, constant, hash): atoms
    memo = {}
    formers = {}  # atom: what rename() made it of
    closed = set()  # sums that are terms of other sums like any atom: see close()


reset()


def made(terms):
    """The value of a dictionary of terms. The empty product is one: its mask is a constant."""
    items = [item for item in terms.items() if item[1]]
    if not items:
        return 0
    if len(items) == 1 and items[0][0] == ():
        return items[0][1]
    items.sort()
    key = tuple(items)
    word = words.get(key)
    if word is None and formers and items[0][0] == ():
        base = words.get(key[1:])
        if base is not None and base.terms != key[1:]:
            return made({(): items[0][1], **dict(base.terms)})
    if word is None:
        word = words[key] = Word()
        word.terms, word.n, word.hash = key, len(words), random.getrandbits(128)
        word.span, word.sum, word.degree = 0, None, 0
        for product, mask in key:
            word.span |= mask
            if len(product) > word.degree:
                word.degree = len(product)
        if len(key) == 1 and word.degree == 1 and key[0][0][0] & 63 == 0:
            number = key[0][0][0] >> 6  # the lower bits of a sum, or all
            if number in sums and mask & mask + 1 == 0 and number not in closed:
                word.sum = number
    return word


def atom(key, width):
    """The number of an atom. A key of two widths is two atoms."""
    if width > 64:
        raise ValueError("a literal has room for rotations of 64 bits")
    number = atoms.get((key, width))
    if number is None:
        number = atoms[key, width] = len(widths)
        widths.append(width)
    return number


def variable(key, width):
    return made({(atom(key, width) << 6,): FULL[width]})


def without_constant(x):
    """The terms but for the empty product, which comes first."""
    return () if type(x) is int else x.terms[x.terms[0][0] == () :]


def constant_of(x):
    """The term of the empty product, if there is one."""
    return () if type(x) is int else x.terms[: x.terms[0][0] == ()]


def constant_bits(x):
    return x if type(x) is int else sum(mask for _, mask in constant_of(x))


def rename(x):
    """Writes a word as an atom instead: what it is made of is forgotten, and its terms, those of its halves, and these
    with some bits complemented, are written with the atom wherever they are made from now on.

    The atom is, by definition, the word without its constant, so that each object goes on to be the same function of
    the inputs. Values made of the word before are not written anew."""
    if len(without_constant(x)) < 2 or x.span > ALL:
        return
    number = atom(("renamed", len(widths)), 64)
    formers[number] = without_constant(x)
    low, high = cut(x, 32), shr(x, 32)
    for part, k in ((low, 0), (high, 32)):
        if len(without_constant(part)) > 1:  # else it was renamed as a part of another word
            base = part if part.terms[0][0] != () else xor(part, part.terms[0][1])
            written_anew(base, (((number << 6 | k,), base.span),))
            written_anew(part, (*constant_of(part), *base.terms))
    if low is not x:
        memo.pop(("<", high, 32), None)  # what it was before
        joined = dict(terms_of(low))
        for product, mask in terms_of(shl(high, 32)):
            joined[product] = joined.get(product, 0) ^ mask
        base = xor(x, sum(mask for _, mask in constant_of(x)))
        whole = sorted(item for item in joined.items() if item[1])
        written_anew(base, tuple(whole[whole[0][0] == () :]))
        written_anew(x, tuple(whole))


def close(x):
    """From now on a word is an atom: rename(), and sums do not take it apart."""
    rename(x)
    number = without_constant(x)[0][0][0] >> 6
    closed.add(number)
    for each in (x, cut(x, 32)):
        each.sum = None
    return number


def written_anew(word, terms):
    word.terms, word.degree = terms, max(len(product) for product, _ in terms)
    words[terms] = word


def terms_of(x):
    return ((((), x),) if x else ()) if type(x) is int else x.terms


def xor(x, y):
    if type(x) is int and type(y) is int:
        return x ^ y
    key = ("^", x, y)
    out = memo.get(key)
    if out is None:
        terms = dict(terms_of(x))
        for product, mask in terms_of(y):
            terms[product] = terms.get(product, 0) ^ mask
        out = memo[key] = made(terms)
    return out


def conj(x, y):
    if type(x) is int:
        if type(y) is int:
            return x & y
        x, y = y, x
    if type(y) is int and x.span & ~y == 0:
        return x
    # Outside of its span a word is 0: parts of a rotation are not multiplied, however many terms they have.
    if type(y) is not int and x.span & y.span == 0:
        return 0
    key = ("&", x, y)
    out = memo.get(key)
    if out is None:
        if formers and type(y) is not int and len(x.terms) * len(y.terms) > MOST_PRODUCTS:
            raise TooLong
        terms = {}
        for p, m in x.terms:
            for q, n in terms_of(y):
                if m & n:
                    product = p if q == () or p == q else tuple(sorted({*p, *q}))
                    terms[product] = terms.get(product, 0) ^ (m & n)
        out = memo[key] = made(terms)
    return out


def disj(x, y):
    return xor(xor(x, y), conj(x, y))


def shl(x, k):
    """Without an end: the caller cuts it."""
    if type(x) is int:
        return x << k
    return shifted(x, k)


def shr(x, k):
    if type(x) is int:
        return x >> k
    return shifted(x, -k)


def shifted(x, k):
    if k == 0:
        return x
    key = ("<", x, k)
    out = memo.get(key)
    if out is None:
        terms = {}
        for product, mask in x.terms:
            mask = mask << k if k > 0 else mask >> -k
            if mask:
                moved = [a & ~63 | ((a & 63) + k) % widths[a >> 6] for a in product]
                if len(moved) > 1:
                    moved.sort()
                moved = tuple(moved)
                terms[moved] = terms.get(moved, 0) ^ mask
        out = memo[key] = made(terms)
    return out


def cut(x, n):
    return conj(x, FULL[n])


def rol(x, k, n):
    if type(x) is int:
        return (x << k | x >> n - k) & FULL[n]
    key = ("rol", x, k, n)
    out = memo.get(key)
    if out is None:
        out = memo[key] = xor(cut(shl(x, k % n), n), shr(x, n - k % n))
    return out


def split(x, n, of):
    """The parts of n bits, the lowest first."""
    if type(x) is int:
        return tuple(x >> i & FULL[n] for i in range(0, of, n))
    key = ("split", x, n, of)
    out = memo.get(key)
    if out is None:
        out = memo[key] = tuple(cut(shr(x, i), n) for i in range(0, of, n))
    return out


def join(parts, n):
    """The reverse of split."""
    key = ("join", parts, n)
    out = memo.get(key)
    if out is None:
        out = 0
        for i, part in enumerate(parts):
            out = xor(out, shl(part, i * n))
        memo[key] = out
    return out


def swapped(x, n):
    return join(split(x, 8, n)[::-1], 8)


def table(bits, x, y, z):
    """The boolean function of three words with this truth table; x is the highest of the three bits of a row."""
    if type(x) is int and type(y) is int and type(z) is int:
        out = 0
        for row in range(8):
            if bits >> row & 1:
                out |= (x if row & 4 else ~x) & (y if row & 2 else ~y) & (z if row & 1 else ~z)
        return out  # a negative number is cut by the caller
    key = ("table", bits, x, y, z)
    out = memo.get(key)
    if out is None:
        out = 0
        for product in range(8):
            # Moebius: a product is a term if the function is true for an odd number of the rows within it.
            if sum(bits >> row & 1 for row in range(8) if row & ~product == 0) & 1:
                term = FULL[512]
                for bit, word in ((4, x), (2, y), (1, z)):
                    if product & bit:
                        term = conj(term, word)
                out = xor(out, term)
        memo[key] = out
    return out


def add(n, *xs):
    """The sum modulo 2^n."""
    constant, rest = 0, []
    for x in xs:
        if type(x) is int:
            constant += x
        else:
            rest.append(x)
    if not rest:
        return constant & FULL[n]
    if len(rest) == 2 and rest[0] is rest[1] and constant == 0:  # a shift by one bit, whatever is known of x
        return cut(shl(rest[0], 1), n)
    key = ("+", n, constant, *rest)
    out = memo.get(key)
    if out is None:
        out = memo[key] = summed(n, [(x, 1) for x in rest], constant)
    return out


def sub(n, x, y):
    if type(x) is int and type(y) is int:
        return x - y & FULL[n]
    return summed(n, [(x, 1), (y, -1)], 0)


def summed(n, terms, constant):
    """The sum of pairs of a value and a count. A sum is kept with its hash, the sum of the hashes of its terms."""
    full, counts, total, fresh, todo = FULL[n], None, 0, [], list(terms)
    # The longest sum is taken first, and copied.
    todo.sort(key=lambda term: 0 if term[1] != 1 or type(term[0]) is int or term[0].sum is None else
              len(sums[term[0].sum][1]))
    while todo:
        x, count = todo.pop()
        x = cut(x, n)
        if type(x) is int:
            constant += count * x
            continue
        number = x.sum
        # All n bits of a sum modulo 2^m, m >= n: the sum modulo 2^n. Fewer bits of a sum are a term like others.
        if number is not None and sums[number][0] >= n and x.span == full:
            inner = sums[number]
            constant += count * inner[2]
            if inner[0] != n:
                todo += [(y, count * c) for y, c in inner[1].items()]
            elif counts is None and count == 1:
                counts, total = dict(inner[1]), total + inner[3]
            else:
                counts = counts or {}
                fresh += [(y, count * c) for y, c in inner[1].items()]
            continue
        y, k = unshifted(x, n)
        if k:
            todo.append((y, count << k))
            continue
        if x.terms[0][0] == ():
            if x.terms[0][1] & 1:
                # ~y = -1 - y: the lowest bit of a term has no constant.
                constant -= count
                todo.append((xor(x, full), -count))
                continue
            # Bits that are known add up by themselves.
            alone = x.terms[0][1]
            for _, mask in x.terms[1:]:
                alone &= ~mask
            if alone:
                constant += count * alone
                todo.append((xor(x, alone), count))
                continue
        fresh.append((x, count))
    counts = {} if counts is None else counts
    for x, count in fresh:
        old = counts.get(x, 0)
        new = counts[x] = old + count & full
        total += (new - old) * x.hash
        if new == 0:
            del counts[x]
    # The sum of two terms that have no bit in common is their exclusive or. Such terms are added one after the other.
    if len(counts) == 2 and [*counts.values()] == [1, 1]:
        x, y = counts
        if x.span & y.span == 0:
            return summed(n, [(xor(x, y), 1)], constant)
    for x, _ in fresh:
        if x.degree > 1 and counts.get(x) == 1:
            for y in islice(reversed(counts), 8):
                if y is not x and y.degree > 1 and counts[y] == 1 and conj(x, y) == 0:
                    del counts[x], counts[y]
                    return summed(n, [*counts.items(), (xor(x, y), 1)], constant)
    constant &= full
    if not counts:
        return constant
    if len(counts) == 1:
        (x, count), = counts.items()
        if count == 1 and x.span & constant == 0:
            return xor(x, constant)
        if constant == 0 and count & count - 1 == 0:
            return cut(shl(x, count.bit_length() - 1), n)
        if count == full:
            return xor(summed(n, [(x, 1)], -constant - 1), full)  # c - x = ~(x - c - 1)
        for k in (n - 8, n - 16, n - 32) if splits and count == 1 else ():
            if k > 0 and constant & (1 << k) - 1 == 0:  # the lower bits stay
                upper = summed(n - k, [(shr(x, k), 1)], constant >> k)
                return xor(conj(x, (1 << k) - 1), shl(upper, k))
    if constant & 1 == 0 and not any(count & 1 for count in counts.values()):
        return cut(shl(summed(n, [(x, count >> 1) for x, count in counts.items()], constant >> 1), 1), n)
    total &= FULL[128]
    for number in numbers.setdefault((n, constant, total), []):
        if sums[number][1] == counts:
            break
    else:
        number = atom(("sum", len(widths)), n)
        sums[number] = (n, counts, constant, total)
        numbers[n, constant, total].append(number)
    return made({(number << 6,): full})


def unshifted(x, n):
    """A word that is an atom of n bits times 2^k: the atom, and k; else the word, and 0."""
    if len(x.terms) == 1 and x.degree == 1:
        (literal,), mask = x.terms[0]
        k = literal & 63
        if k and widths[literal >> 6] == n and mask == FULL[n] << k & FULL[n]:
            return made({(literal & ~63,): FULL[n]}), k
    return x, 0


def linear(x, n):
    """A word of n bits as a sum: a constant, and words with how often they are counted, both from -2^(n-1) on."""
    if type(x) is int:
        return signed(x, n), {}
    if x.sum is not None and x.span == FULL[n] and sums[x.sum][0] == n:
        return signed(sums[x.sum][2], n), {y: signed(c, n) for y, c in sums[x.sum][1].items()}
    y, k = unshifted(x, n)
    bits = constant_bits(x)
    if bits == FULL[n]:  # ~y = -1 - y
        constant, parts = linear(xor(x, bits), n)
        return signed(-1 - constant, n), {y: -count for y, count in parts.items()}
    if k == bits == 0:
        return 0, {x: 1}
    constant, parts = linear(y if k else xor(x, bits), n)
    if bits and any(mask & bits for _, mask in without_constant(x)):
        return 0, {x: 1}
    return signed((constant << k) + bits, n), {z: signed(count << k, n) for z, count in parts.items()}


def signed(c, n):
    c &= FULL[n]
    return c - (1 << n) if c >> n - 1 else c


def times(x, count, n):
    return summed(n, [(x, count)], 0)


class Unknown(Exception):
    pass


def substituted(x, of, known, depth):
    """A word with others in place of its atoms: of(atom) is another word, or None. known: what was made before.
    Unknown: if it has an atom that was made of others and cannot be taken apart; depth: how often it may be."""
    if type(x) is int:
        return x
    out = known.get(x)
    if out is None:
        out = 0
        for product, mask in x.terms:
            term = mask
            for literal in product:
                number, k = literal >> 6, literal & 63
                width = widths[number]
                word = in_place_of(number, of, known, depth)
                word = rol(word, k, width) if k else word
                term = conj(join((word,) * -(-mask.bit_length() // width), width), term)
            out = xor(out, term)
        known[x] = out
    return out


def in_place_of(number, of, known, depth):
    word = of(number)
    if word is not None:
        return word
    if number in closed or number in formers or number in sums and depth == 0:
        raise Unknown
    width, counts, constant, _ = sums.get(number, (widths[number], None, 0, 0))
    if counts is None:
        return made({(number << 6,): FULL[width]})
    return summed(width, [(substituted(y, of, known, depth - 1), c) for y, c in counts.items()], constant)


def value_of(x, inputs, known=None):
    """The number that a value is for given inputs (atom: number)."""
    if type(x) is int:
        return x
    return value_of_terms(x.terms, inputs, {} if known is None else known)


def value_of_terms(terms, inputs, known):
    out = 0
    for product, mask in terms:
        for literal in product:
            number, n = literal >> 6, literal & 63
            if number not in known and number in formers:
                known[number] = value_of_terms(formers[number], inputs, known)
            if number not in known:
                width, pairs, constant, _ = sums.get(number, (widths[number], None, 0, 0))
                known[number] = inputs[number] if pairs is None else \
                    constant + sum(c * value_of(y, inputs, known) for y, c in pairs.items()) & FULL[width]
            a, width = known[number], widths[number]
            a = (a << n | a >> width - n) & FULL[width]
            while width < mask.bit_length():  # a literal is periodic
                a |= a << width
                width *= 2
            mask &= a
        out ^= mask
    return out


def check(nruns=120, seed=1):
    """Compares values in normal form with numbers: the same random operations on both, on words of one width and on
    parts of them of other widths. Values whose normal form is one must be one number for all inputs. Returns the
    errors."""
    global splits
    chance, errors = random.Random(seed), []
    for run in range(nruns):
        reset()
        splits = run % 2 == 1
        n = chance.choice((32, 64))
        numbers = [atom(("check", i), n) for i in range(3)]
        extremes = FULL[n], 1, 0, 1 << n - 1
        inputs = [{i: chance.choice((chance.getrandbits(n), chance.getrandbits(n), chance.choice(extremes)))
                   for i in numbers} for _ in range(4)]
        # A value, what it is for each of the inputs, and how it was made.
        pool = [(variable(("check", i), n), [x[i] for x in inputs], "abc"[i]) for i in range(3)]
        pool += [(c, [c] * 4, hex(c)) for c in (chance.getrandbits(n), chance.getrandbits(n) & 0xFF00, FULL[n], 1)]
        for _ in range(20):
            picked = [chance.choice(pool[-12:]) for _ in range(3)]
            (x, a, how), (y, b, how_y), (z, c, how_z) = picked
            k, bits, to = chance.randrange(1, n), chance.getrandbits(8), chance.choice((8, 16, 31, 32, n))
            few = FULL.get(to, (1 << to) - 1)

            def each(f):
                return [f(*numbers) for numbers in zip(a, b, c)]

            name, value, results = chance.choice((
                lambda: (f"({how} + {how_y} + {how_z})", add(n, x, y, z), each(lambda a, b, c: a + b + c & FULL[n])),
                lambda: (f"({how} + {how_y})", add(n, x, y), each(lambda a, b, c: a + b & FULL[n])),
                lambda: (f"({how} - {how_y})", sub(n, x, y), each(lambda a, b, c: a - b & FULL[n])),
                lambda: (f"({how} + {how_y}) % 2**32", add(32, x, y), each(lambda a, b, c: a + b & FULL[32])),
                lambda: (f"({how} + {bits} * 2**{n - 9})", add(n, x, bits << n - 9),
                         each(lambda a, b, c: a + (bits << n - 9) & FULL[n])),
                lambda: (f"({how} ^ {how_y})", xor(x, y), each(lambda a, b, c: a ^ b)),
                lambda: (f"({how} & {how_y})", conj(x, y), each(lambda a, b, c: a & b)),
                lambda: (f"({how} | {how_y})", disj(x, y), each(lambda a, b, c: a | b)),
                lambda: (f"rol({how}, {k})", rol(x, k, n), each(lambda a, b, c: rol(a, k, n))),
                lambda: (f"({how} >> {k})", shr(x, k), each(lambda a, b, c: a >> k)),
                lambda: (f"({how} << {k})", cut(shl(x, k), n), each(lambda a, b, c: a << k & FULL[n])),
                lambda: (f"swapped({how})", swapped(x, n), each(lambda a, b, c: swapped(a, n))),
                lambda: (f"~{how}", xor(x, FULL[n]), each(lambda a, b, c: a ^ FULL[n])),
                lambda: (f"table({bits}, {how}, {how_y}, {how_z})", conj(table(bits, x, y, z), FULL[n]),
                         each(lambda a, b, c: table(bits, a, b, c) & FULL[n])),
                lambda: (f"({how} & {few:#x})", conj(x, few), each(lambda a, b, c: a & few)),
                lambda: (f"({how} & {few:#x})", conj(x, few), each(lambda a, b, c: a & few)),
                lambda: (f"({how}'s bits from {k} on & {few:#x})", conj(shr(x, k), few),
                         each(lambda a, b, c: a >> k & few)),
                lambda: (f"({how} + {how_y}) % 2**{n // 2} twice", join((add(n // 2, x, y),) * 2, n // 2),
                         each(lambda a, b, c: (a + b & FULL[n // 2]) * (1 + (1 << n // 2)))),
                # The reverse of an operation: forms that are to meet again.
                lambda: (f"({how} + {how_y} - {how})", sub(n, add(n, x, y), x), list(b)),
                lambda: (f"joined({how})", join(split(x, 8, n), 8), list(a)),
            ))()
            pool.append((value, results, name))
            if chance.randrange(4) == 0:
                rename(value)
        same = {}
        for value, results, name in pool:
            if any(value_of(value, x) != number for x, number in zip(inputs, results)):
                errors.append(f"words.py: the normal form of {name} is another value")
            if same.setdefault(value, (results, name))[0] != results:
                errors.append(f"words.py: {name} and {same[value][1]} are one value, and differ")
    reset()
    splits = False
    return errors
