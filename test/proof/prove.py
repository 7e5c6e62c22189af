#!/usr/bin/env python3
"""prove.py: proves that the core's block functions over lanes are those of the standards, for every state and message.

SPDX-License-Identifier: MIT OR Apache-2.0

    test/proof/prove.py [--all]

A kernel over lanes is a body (core/src/alg) over a vocabulary (core/src/lanes), and each half has its own proof:

 1. trace.c runs the bodies with a vocabulary that writes down the operations. The result and the standard
    (standards.py) are both brought into a normal form over the words of state and message. Same form: same function.
 2. operations.c holds the operations of each vocabulary against their definition, on this CPU; those of NEON under
    qemu-aarch64.
 3. Mutants show that both can fail: an operation of a trace is changed, or a line of the core. Each must be noticed. A
    sample by default, all with --all (minutes).

CC and CROSS_CC name the compilers. HASHLOOM_EXPECT=avx512,neon: instruction sets whose vocabularies must run;
HASHLOOM_REQUIRE=1: NEON must. Exit status: 0 all proved, 1 something is not.
"""

import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from standards import STANDARDS, check, initial_values

HERE = Path(__file__).resolve().parent
CORE = HERE.parent.parent / "core"
CC = shlex.split(os.environ.get("CC", "cc"))
CROSS_CC = shlex.split(os.environ.get("CROSS_CC", "aarch64-linux-gnu-gcc"))
QEMU = ["qemu-aarch64", "-cpu", "max"]

# ---- Expressions ----------------------------------------------------------------------------------------------------


class Expressions:
    """Arithmetic on expressions in normal form: equal expressions have equal numbers.

    A sum is the number of times that each term occurs, and one constant; an exclusive or has each term once; a rotation
    of a rotation is one; a function of single bits is its truth table over sorted operands. Each step is an identity
    of words, so expressions with one number are equal for all values."""

    def __init__(self, nbits):
        self.nbits, self.mask = nbits, (1 << nbits) - 1
        self.numbers, self.keys = {}, []

    def node(self, *key):
        if key not in self.numbers:
            self.numbers[key] = len(self.keys)
            self.keys.append(key)
        return self.numbers[key]

    def const(self, c):
        return self.sum({}, c)

    def add(self, *xs):
        counts, constant = {}, 0
        for x in xs:
            kind, *rest = self.keys[x]
            terms, c = rest if kind == "sum" else (((x, 1),), 0)
            constant += c
            for term, n in terms:
                counts[term] = counts.get(term, 0) + n & self.mask
        return self.sum(counts, constant)

    def sum(self, counts, constant):
        terms = tuple(sorted((term, n) for term, n in counts.items() if n))
        constant &= self.mask
        if constant == 0 and len(terms) == 1 and terms[0][1] == 1:
            return terms[0][0]
        return self.node("sum", terms, constant)

    def xor(self, *xs):
        odd = set()
        for x in xs:
            odd ^= set(self.keys[x][1]) if self.keys[x][0] == "xor" else {x}
        return odd.pop() if len(odd) == 1 else self.node("xor", tuple(sorted(odd)))

    def bits(self, f, *xs):
        order = sorted(range(len(xs)), key=lambda i: xs[i])
        table = 0
        for row in range(1 << len(xs)):
            values = [0] * len(xs)
            for place, i in enumerate(order):
                values[i] = row >> place & 1
            table |= (f(*values) & 1) << row
        if table == PARITY and len(xs) == 3:
            return self.xor(*xs)
        return self.node("bits", table, tuple(xs[i] for i in order))

    def rol(self, x, n):
        if not 0 < n < self.nbits:
            raise ValueError(f"rotation by {n}")
        kind, *rest = self.keys[x]
        if kind == "rol":
            x, n = rest[0], (n + rest[1]) % self.nbits
        return self.node("rol", x, n) if n else x

    def shr(self, x, n):
        if not 0 < n < self.nbits:
            raise ValueError(f"shift by {n}")
        return self.node("shr", x, n)


PARITY = sum(1 << row for row in range(8) if row.bit_count() % 2)

# As lanes/kernels.inc.h defines the operations.
OPERATIONS = {
    "add": lambda w, x, y: w.add(x, y),
    "xor": lambda w, x, y: w.xor(x, y),
    "xor3": lambda w, x, y, z: w.xor(x, y, z),
    "ch": lambda w, x, y, z: w.bits(lambda a, b, c: (a & b) | (~a & c), x, y, z),
    "maj": lambda w, x, y, z: w.bits(lambda a, b, c: (a & b) | (a & c) | (b & c), x, y, z),
    "orn_xor": lambda w, x, y, z: w.bits(lambda a, b, c: (a | ~b) ^ c, x, y, z),
}
INPUTS = ("state", "word", "schedule", "missing")


def evaluate(w, lines):
    """The expressions of a run, by their numbers in the trace, and what is left in state or schedule."""
    values, out = {}, []
    for first, second, *rest in lines:
        if first == "out":
            out.append(int(rest[0]))
        elif second == "const":
            values[int(first)] = w.const(int(rest[0]))
        elif second in INPUTS:
            values[int(first)] = w.node(second, *map(int, rest))
        elif second in ("rol", "shr"):
            values[int(first)] = getattr(w, second)(values[int(rest[0])], int(rest[1]))
        else:
            values[int(first)] = OPERATIONS[second](w, *(values[int(x)] for x in rest))
    return values, out


# ---- Bodies ---------------------------------------------------------------------------------------------------------


def message_words(w, standard, nth_block):
    nbytes = w.nbits // 8
    return [w.node("word", (16 * nth_block + i) * nbytes, int(standard.big_endian)) for i in range(16)]


def with_constants(w, standard, words):
    return [w.add(x, w.const(k)) for x, k in zip(words, standard.k)]


def is_proved(w, name, function, nblocks, lines):
    """Whether a run computes what the standard says. An expression that does not exist is not the standard's."""
    standard = STANDARDS[name]
    try:
        values, out = evaluate(w, lines)
        if function == "schedule":
            # Each output is an expression's number plus the constant, added by C.
            out = [w.add(values[(x - k) & w.mask], w.const(k)) for x, k in zip(out, standard.k, strict=True)]
        else:
            out = [values[x] for x in out]
    except (KeyError, ValueError):
        return False
    state = [w.node("state", i) for i in range(standard.nwords)]
    if function == "schedule":
        return out == with_constants(w, standard, standard.words(w, message_words(w, standard, 0)))
    if function == "scheduled":
        return out == standard.compress(w, state, [w.node("schedule", t) for t in range(len(standard.k))])
    for nth in range(nblocks):
        words = standard.words(w, message_words(w, standard, nth))
        state = standard.compress(w, state, with_constants(w, standard, words))
    return out == state


def command(*words):
    return subprocess.run([str(x) for x in words], capture_output=True, text=True)


def built(cc, source, core, folder, *flags):
    program = folder / "program"
    done = command(*cc, "-Wall", "-Wextra", "-Wno-unused-function", *flags, f"-I{core}/include", f"-I{core}/src",
                   HERE / source, "-o", program)
    if done.returncode != 0:
        sys.exit(f"prove.py: {source} does not compile:\n{done.stderr}")
    return program


def traces(core, folder, nlanes, stages):
    """The runs of trace.c, and the initial values."""
    program = built(CC, "trace.c", core, folder, "-O0", f"-DTRACE_LANES={nlanes}", f"-DTRACE_STAGES={stages}",
                    core / "src/alg/constants.c")
    runs, ivs = [], {}
    for line in command(program).stdout.splitlines():
        first, second, *rest = words = line.split()
        if first == "run":
            runs.append((second, rest[0], int(rest[1]), []))
        elif first == "iv":
            ivs[second] = list(map(int, rest))
        else:
            runs[-1][3].append(words)
    return runs, ivs


# All that bodies know of a vocabulary: one lane or more, and whether it stages blocks.
KINDS = {"one lane": (1, 0), "lanes": (2, 0), "lanes, staged": (2, 1)}
# Five bodies: 1, 2 and 3 blocks, a given schedule; with one lane the schedule itself; staged: 1 and 2 of whole messages.
NRUNS = {"one lane": 5 * 5, "lanes": 5 * 4, "lanes, staged": 5 * 6}


def unproved(core, folder, kinds=KINDS):
    """What is not proved of all bodies and constants."""
    wrong = []
    for kind, (nlanes, stages) in kinds.items():
        runs, ivs = traces(core, folder, nlanes, stages)
        if len(runs) != NRUNS[kind]:
            wrong.append(f"{kind}: {len(runs)} runs")
        wrong += [f"{kind}: {name}_{function}, {nblocks} blocks" for name, function, nblocks, lines in runs
                  if not is_proved(Expressions(STANDARDS[name].bits), name, function, nblocks, lines)]
        if ivs != initial_values():
            wrong.append("initial values")
    return wrong


# ---- Vocabularies ---------------------------------------------------------------------------------------------------

# Vocabulary: the condition under which this CPU has it; None: under qemu.
VOCABULARIES = {"scalar": "1", "gnu": "1"} | {
    name: f'__builtin_cpu_supports("{feature}")' for name, feature in
    [(x, x) for x in ("sse2", "ssse3", "avx", "avx2", "avx512vl")] + [("avx512", "avx512bw")]
} | {"neon": None, "neon_x2": None, "sha3": None}


def operations(name, core, folder):
    """Exit status and output of operations.c; 3: this CPU lacks the instructions."""
    condition = VOCABULARIES[name]
    flags = ["-O1", f'-DVOCABULARY="lanes/{name}.h"', f"-DRUNS_HERE={condition or 1}"]
    flags += ["-DONLY_RIPEMD160"] * (name == "neon_x2")
    if condition is not None:
        done = command(built(CC, "operations.c", core, folder, *flags))
    else:
        done = command(*QEMU, built(CROSS_CC, "operations.c", core, folder, "-static", *flags))
    return done.returncode, done.stdout.strip()


def why_not(name):
    """Why a vocabulary cannot be compiled or run here, as far as that is known before."""
    if VOCABULARIES[name] is None:
        missing = [x for x in (CROSS_CC[0], QEMU[0]) if shutil.which(x) is None]
        return f"{', '.join(missing)}: not installed" if missing else None
    if name not in ("scalar", "gnu") and os.uname().machine not in ("x86_64", "i686"):
        return "another architecture"
    return None


# ---- Mutants --------------------------------------------------------------------------------------------------------


def mutated(w, line):
    """An operation, changed so that it computes something else: dropped, with its operands exchanged, off by one."""
    number, operation, *rest = line
    swapped = [number, operation, rest[1], rest[0], *rest[2:]] if len(rest) > 1 else line
    return {
        "const": lambda: [number, "const", str(int(rest[0]) ^ 1)],
        "state": lambda: [number, "state", str(int(rest[0]) ^ 1)],
        "schedule": lambda: [number, "schedule", str(int(rest[0]) ^ 1)],
        "word": lambda: [number, "word", rest[0], str(1 - int(rest[1]))],
        "add": lambda: [number, "xor", *rest],
        "xor": lambda: [number, "add", *rest],
        "xor3": lambda: [number, "xor", *rest[:2]],
        "ch": lambda: swapped,
        "maj": lambda: [number, "ch", *rest],
        "orn_xor": lambda: swapped,
        "rol": lambda: [number, "rol", rest[0], str(int(rest[1]) % (w.nbits - 1) + 1)],
        "shr": lambda: [number, "shr", rest[0], str(int(rest[1]) + 1)],
    }[operation]()


def mutants_of_traces(core, folder, every):
    """Changes one operation at a time. Returns the number of mutants and those that are still proved."""
    n, missed = 0, []
    for name, function, nblocks, lines in traces(core, folder, 1, 0)[0]:
        if nblocks > 1:
            continue
        places = [i for i, line in enumerate(lines) if line[0] != "out"]
        for at in places if every else random.Random(name + function).sample(places, 12):
            w = Expressions(STANDARDS[name].bits)
            mutant = lines[:at] + [mutated(w, lines[at])] + lines[at + 1 :]
            n += 1
            if is_proved(w, name, function, nblocks, mutant):
                missed.append(f"{name}_{function}: {' '.join(lines[at])} -> {' '.join(mutant[at])}")
    return n, missed


# File in core/src, text (its first place), replacement. Bodies and constants:
BODY_MUTANTS = [
    ("alg/sha1.lanes.h", "lv32_rol(b, 30)", "lv32_rol(b, 29)"),
    ("alg/sha1.lanes.h", "e = lv32_add(e, wk);", "(void)(wk);"),
    ("alg/sha1.lanes.h", "f(b, c, d)", "f(c, b, d)"),
    ("alg/sha1.lanes.h", "((t) + 13) & 15", "((t) + 12) & 15"),
    ("alg/sha1.lanes.h", "hli_sha1_k[2], 40", "hli_sha1_k[1], 40"),
    ("alg/sha1.lanes.h", "COMPUTE((t) + 3)", "COMPUTE((t) + 16)"),
    ("alg/sha1.lanes.h", "(t) < 80", "(t) < 79"),
    ("alg/sha1.lanes.h", "LV_BLOCKS(lv32, sha1, 1)", "LV_BLOCKS(lv32, sha1, 0)"),
    ("alg/sha2.lanes.h", "lv32_shr(x, 3)", "lv32_shr(x, 4)"),
    ("alg/sha2.lanes.h", "lv64_ror(x, 61)", "lv64_ror(x, 60)"),
    ("alg/sha2.lanes.h", "d = LV(add)(d, h);", ""),
    ("alg/sha2.lanes.h", "LV(ch)(e, f, g)", "LV(ch)(e, g, f)"),
    ("alg/sha2.lanes.h", "LV(maj)(a, b, c)", "LV(ch)(a, b, c)"),
    ("alg/sha2.lanes.h", "((t) + 14) & 15", "((t) + 13) & 15"),
    ("alg/sha2.lanes.h", "t0 / 16, 1)", "t0 / 32, 1)"),
    ("alg/sha2.lanes.h", "LV(splat)(schedule[t0 + (t)])", "LV(splat)(schedule[t])"),
    ("alg/ripemd160.lanes.h", "F1, 15, 8, F5, 12, 6", "F1, 15, 8, F5, 12, 5"),
    ("alg/ripemd160.lanes.h", "lv32_rol(c##r, 10)", "lv32_rol(c##l, 10)"),
    ("alg/ripemd160.lanes.h", "a##l = lv32_add(a##l, e##l);", ""),
    ("alg/ripemd160.lanes.h", "lv32_orn_xor(y, z, x)", "lv32_orn_xor(z, y, x)"),
    ("alg/ripemd160.lanes.h", "dl), er", "el), dr"),
    ("alg/ripemd160.lanes.h", "(side) * 4 == (j)", "(side) * 3 == (j)"),
    ("alg/md5.lanes.h", "lv32_ch(z, x, y)", "lv32_ch(z, y, x)"),
    ("alg/md5.lanes.h", "5 * (t) + 1", "5 * (t) + 3"),
    ("alg/md5.lanes.h", "6, 10, 15, 21", "6, 10, 15, 20"),
    ("alg/md5.lanes.h", "K3(t) : K4(t)", "K4(t) : K3(t)"),
    ("alg/constants.c", "0x8f1bbcdc", "0x8f1bbcdd"),
    ("alg/constants.c", "0x47b5481dbefa4fa4", "0x47b5481dbefa4fa5"),
    ("alg/constants.c", "0x6c44198c4a475817", "0x6c44198c4a475816"),
    ("alg/constants.c", "0x7a6d76e9", "0x7a6d76e8"),
    ("alg/constants.c", "0xeb86d391", "0xeb86d390"),
    ("lanes/kernels.inc.h", "offset += LV_PASTE(lv, block_nbytes)", "offset += 64"),
    ("lanes/kernels.inc.h", "msg, offset + (block_nbytes), part", "msg, offset, part"),
]
# The same for vocabularies; the first word is the one that is run.
VOCABULARY_MUTANTS = [
    ("scalar", "lanes/operators.inc.h", "(x | ~y) ^ z", "(x | y) ^ z"),
    ("scalar", "lanes/operators.inc.h", "((x) << (n) | (x) >> (32 - (n)))", "((x) << (n) | (x) >> (31 - (n)))"),
    ("gnu", "lanes/operators.inc.h", "z ^ (x & (y ^ z))", "y ^ (x & (y ^ z))"),
    ("gnu", "lanes/gnu.h", "msg[2] + at", "msg[3] + at"),
    ("sse2", "lanes/sse2.h", "0x1b), 0x1b", "0x1b), 0xb1"),
    ("sse2", "lanes/xmm.inc.h", "_mm_andnot_si128(x, y)", "_mm_andnot_si128(y, x)"),
    ("ssse3", "lanes/pshufb.inc.h", "_mm_setr_epi8(3, 0, 1, 2", "_mm_setr_epi8(3, 0, 2, 1"),
    ("avx", "lanes/xmm.inc.h", "_mm_unpackhi_epi64(t1, t3)", "_mm_unpackhi_epi64(t1, t2)"),
    ("avx2", "lanes/avx2.h", "_mm256_or_si256(x, y)", "_mm256_and_si256(x, y)"),
    ("avx2", "lanes/ymm.inc.h", "_mm256_add_epi64", "_mm256_add_epi32"),
    ("avx512vl", "lanes/avx512vl.h", "0xca", "0xac"),
    ("avx512vl", "lanes/ymm.inc.h", "msg[5] + at", "msg[6] + at"),
    ("avx512", "lanes/avx512.h", "0x59", "0x95"),
    ("avx512", "lanes/avx512.h", "0x88", "0xdd"),
    ("avx512", "lanes/avx512.h", "_mm512_rol_epi64", "_mm512_ror_epi64"),
    ("avx512", "lanes/avx512.h", "p + 3 * stride", "p + 2 * stride"),
    ("avx512", "lanes/avx512.h", "left > 32", "left > 33"),
    ("avx512", "x86/padded.h", "HLI_ONE_BIT_AT - (left)", "HLI_ONE_BIT_AT - (left) - 1"),
    ("neon", "lanes/neon.inc.h", "vbslq_u32(veorq_u32(x, y), z, y)", "vbslq_u32(veorq_u32(x, y), y, z)"),
    ("neon", "lanes/neon_load.inc.h", "vtrn2q_u64(even01, even23)", "vtrn2q_u64(even01, odd23)"),
    ("neon_x2", "lanes/neon_x2.h", "msg + 4", "msg + 3"),
    ("sha3", "lanes/sha3.h", "64 - (n))", "63 - (n))"),
]


def changed_core(folder, file, old, new):
    """A copy of the core with one text replaced."""
    core = folder / "core"
    shutil.copytree(CORE / "src", core / "src", dirs_exist_ok=True)
    shutil.copytree(CORE / "include", core / "include", dirs_exist_ok=True)
    text = (CORE / "src" / file).read_text()
    if old not in text:
        sys.exit(f"prove.py: {file} no longer has the text of a mutant: {old}")
    (core / "src" / file).write_text(text.replace(old, new, 1))
    return core


def mutants_of_sources(folder, usable, every):
    """Changes one line of the core at a time. Returns the number of mutants and those that nothing noticed."""
    missed = []
    bodies = BODY_MUTANTS[:: None if every else 8]
    for mutant in bodies:
        core = changed_core(folder, *mutant)
        if not any(unproved(core, folder, {kind: KINDS[kind]}) for kind in reversed(KINDS)):
            missed.append(" ".join(mutant))
    vocabularies = [m for m in VOCABULARY_MUTANTS[:: None if every else 4] if m[0] in usable]
    for name, *mutant in vocabularies:
        status, output = operations(name, changed_core(folder, *mutant), folder)
        if status != 1 or "FAILED: " not in output:
            missed.append(f"{name}: {' '.join(mutant)}")
    return len(bodies) + len(vocabularies), missed


# ---- All ------------------------------------------------------------------------------------------------------------


def main():
    every = sys.argv[1:] == ["--all"]
    if sys.argv[1:] and not every:
        sys.exit("usage: prove.py [--all]")
    expected = [name for name in os.environ.get("HASHLOOM_EXPECT", "").split(",") if name in VOCABULARIES]
    if os.environ.get("HASHLOOM_REQUIRE"):
        expected += [name for name, condition in VOCABULARIES.items() if condition is None]
    failures = check()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wrong = unproved(CORE, folder)
        failures += [f"not proved: {x}" for x in wrong]
        if not wrong:
            print("bodies and constants: proved equal to the standards for every state and message")
        usable = []
        for vocabulary in VOCABULARIES:
            why = why_not(vocabulary)
            status, output = (3, "") if why else operations(vocabulary, CORE, folder)
            if status == 0:
                usable.append(vocabulary)
                print(f"vocabulary {vocabulary}: as defined; {output}")
            elif status == 3:
                print(f"SKIPPED: vocabulary {vocabulary}: {why or 'this CPU lacks its instructions'}")
                failures += [f"vocabulary {vocabulary} was to run"] * (vocabulary in expected)
            else:
                failures.append(f"vocabulary {vocabulary}: exit status {status}\n{output}")
        if failures == []:
            for what, (n, missed) in (("operations of traces", mutants_of_traces(CORE, folder, every)),
                                      ("lines of the core", mutants_of_sources(folder, usable, every))):
                print(f"mutants: {n - len(missed)} of {n} changed {what} noticed")
                failures += [f"a mutant that nothing noticed: {x}" for x in missed]
    for failure in failures:
        print(f"FAILED: {failure}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
