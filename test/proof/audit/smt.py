#!/usr/bin/env python3
"""smt.py: the second leg of the proof: an SMT solver (z3) says that kernels are their standards.

SPDX-License-Identifier: MIT OR Apache-2.0

    test/proof/audit/smt.py [KERNEL]...

The kernels' machine code is run as in prove.py, but on terms (terms.py): the normal form of words.py, and what it says
to be equal, is not used. A kernel of each kind, or those named, hashes one block. The terms of the kernel and those of
the standard are evaluated for random inputs. Terms with equal results may be equal; from the inputs on, z3 proves each
pair, with the pairs before it as unknown words: a proof for all values of these is one for those that they have. In
the end the states must be such pairs.

It needs z3 (pip install z3-solver). HASHLOOM_REQUIRE=1 makes it a failure if z3 is missing. Exit status: 0 proved or
skipped, 1 not.
"""

import os
import random
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

try:
    import z3
except ImportError:
    print("SKIPPED: proof by an SMT solver: z3 is not installed (pip install z3-solver)")
    sys.exit(bool(os.environ.get("HASHLOOM_REQUIRE")))

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))
import terms

sys.modules["words"] = terms  # for all that follows
import prove

# Of each kind, and of each body one: plain words, lanes over each width, one message (vectors for the schedule, a pair
# of blocks), the SHA instructions. z3 does not decide those for one message over AVX-512VL, which subtract d again.
KERNELS = ["sha1_blocks_avx512", "sha1_blocks_ssse3_x1", "sha1_blocks_sha_plain_x2", "sha256_blocks_scalar",
           "sha256_blocks_avx2", "sha256_blocks_avx2_x1", "sha256_blocks_sha_x2", "sha512_blocks_scalar",
           "sha512_blocks_sse2", "sha512_blocks_avx2_x1", "ripemd160_blocks_sse2", "ripemd160_blocks_avx2_x1",
           "md5_blocks_sse2", "md5_blocks_avx512"]
MS = 20000  # for one pair


def results(words, ninputs=3):
    """What each term is for random inputs."""
    out = []
    for seed in range(ninputs):
        chance, of = random.Random(seed), {}

        def number(x):
            if type(x) is tuple:
                return tuple(number(y) for y in x)
            return of[x] if type(x) is terms.Word else x

        for word in words:
            arguments = word.args if word.op == "variable" else tuple(number(x) for x in word.args)
            of[word] = terms.value(word.op, arguments, word.width, lambda key, width: chance.getrandbits(width))
        out.append(of)
    return {word: tuple(of[word] for of in out) for word in words}


def needed(roots):
    """The terms that the roots are made of, operands before what is made of them."""
    seen, order, todo = set(), [], [(x, False) for x in roots if type(x) is terms.Word]
    while todo:
        x, done = todo.pop()
        if done:
            order.append(x)
        elif x not in seen:
            seen.add(x)
            todo.append((x, True))
            for y in (x.args if x.op != "join" else x.args[1]) if x.op != "variable" else ():
                if type(y) is terms.Word:
                    todo.append((y, False))
    return order


class Solver:
    def __init__(self):
        self.unknown = {}  # a term that was proved to be another, and this one: one unknown word
        self.sums_only = False  # the other terms are written out: Maj needs what its x & y is

    def expression(self, x, width, known, top=False):
        """A term in bits, of which terms that are pairs are unknown."""
        if type(x) is int:
            return z3.BitVecVal(x, width)
        if x not in known:
            is_unknown = x in self.unknown and not top and (not self.sums_only or x.op in ("add", "sub"))
            known[x] = self.unknown[x] if is_unknown else self.made(x, known)
        e = known[x] if not top else self.made(x, known)
        return e if e.size() == width else z3.ZeroExt(width - e.size(), e) if e.size() < width else \
            z3.Extract(width - 1, 0, e)

    def made(self, x, known):
        n, op, args = x.width, x.op, x.args
        if op == "variable":
            return z3.BitVec(f"v{x.number}", n)
        if op == "part":
            inside = self.expression(args[0], args[0].width, known)
            return z3.Extract(args[1] + n - 1, args[1], inside)
        if op == "shl":
            return self.expression(args[0], n, known) << args[1]
        if op == "rol":
            return z3.RotateLeft(self.expression(args[0], n, known), args[1])
        if op == "join":
            return z3.Concat([self.expression(y, args[0], known) for y in args[1][::-1]])
        if op == "table":
            a, b, c = (self.expression(y, n, known) for y in args[1:])
            rows = [(a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
                    for row in range(8) if args[0] >> row & 1]
            out = z3.BitVecVal(0, n)
            for row in rows:
                out = out | row
            return out
        operands = [self.expression(y, n, known) for y in args]
        out = operands[0]
        for y in operands[1:]:
            out = {"xor": lambda: out ^ y, "and": lambda: out & y, "or": lambda: out | y, "add": lambda: out + y,
                   "sub": lambda: out - y}[op]()
        return out

    def same(self, x, y):
        """Whether two terms are proved equal."""
        for self.sums_only in (False, True):
            if self.equal(x, y):
                return True
        return False

    def equal(self, x, y):
        n = max(x.width, y.width)
        a, b = (z3.simplify(self.expression(t, n, {}, True)) for t in (x, y))
        if a.eq(b):
            return True
        solver = z3.SolverFor("QF_BV")
        solver.set("timeout", MS)
        solver.add(a != b)
        return solver.check() == z3.unsat


def proved(pairs):
    """Whether all pairs of terms are equal, and how many terms were proved to be one."""
    roots = [x for pair in pairs for x in pair]
    order = needed(roots)
    values, first, same, solver = results(order), {}, {}, Solver()
    merged = 0
    for x in order:
        earlier = first.setdefault(values[x], x)
        same[x] = x
        if earlier is not x and solver.same(x, earlier):
            same[x] = earlier
            merged += 1
        # Only what both sides have is unknown from here on: a term that stands alone is written out.
        if same[x] is not x:
            solver.unknown[x] = solver.unknown[earlier] = z3.BitVec(f"t{earlier.number}", earlier.width)
    return all(x is y or x in same and y in same and same[x] is same[y] for x, y in pairs), merged


def failure(image, kernel):
    """Why a kernel is not its standard for one block, or None."""
    prove.forget()
    kernel = list(kernel.of_sizes())[-1]
    m, right = prove.alone(image), prove.right_states(kernel, 1)
    standard, state = prove.STANDARDS[kernel.body], prove.with_states(m, kernel.body, kernel.nlanes)
    blocks = [m.words(prove.in_memory(standard, prove.message_words(standard, lane, 0, kernel.nwords)),
                      standard.bits // 8, 64, 4) for lane in range(kernel.nlanes)]
    m.call(kernel.blocks, *kernel.arguments(m, state, m.words(blocks, image.word_nbytes), 1))
    made, total = prove.states_at(m, kernel.body, kernel.nlanes, state), 0
    for lane in range(kernel.nlanes):
        ok, merged = proved(list(zip(made[lane], right[lane])))
        total += merged
        if not ok:
            return f"lane {lane}: z3 does not find it equal to {kernel.body}"
    print(f"z3: {kernel.name} is its standard, for every state and block ({total} pairs)", flush=True)
    return None


# A change that must not be proved: the file, and the text, as in prove.py.
MUTANT = ("generic/scalar.c", "alg/sha2.lanes.h", "d = LV(add)(d, h);", "d = LV(add)(d, h & 0xffff);")


def main():
    target = prove.TARGETS[0]
    why, names = target.why_not(), sys.argv[1:] or KERNELS
    if why:
        print(f"SKIPPED: proof by an SMT solver: {target.name}: {why}")
        return bool(os.environ.get("HASHLOOM_REQUIRE"))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            target.objects = list(pool.map(lambda source: target.object(prove.CORE, source, folder), target.sources))
        target.image = target.link(target.objects, folder)
        target.kernels = prove.kernels_of(target.image)
        kernels = {k.name: k for k in target.kernels}
        unknown = [x for x in names if x not in kernels]
        if unknown:
            sys.exit(f"smt.py: no kernel is called {', '.join(unknown)}")
        failures = [f"{name}: {why}" for name in names for why in [failure(target.image, kernels[name])] if why]
        core, mutant = prove.changed_core(folder, *MUTANT[1:]), folder / "mutant"
        mutant.mkdir()
        image = target.link([target.object(core, core / "src" / x, mutant) for x in (MUTANT[0], "alg/constants.c")],
                            mutant)
        was = {address: name for name, address in target.image.symbols.items()}
        if failure(image, prove.moved(kernels["sha256_blocks_scalar"], image, was)) is None:
            failures.append("a mutant was proved: " + " ".join(MUTANT))
    for x in failures:
        print(f"FAILED: {x}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
