#!/usr/bin/env python3
"""certify.py: writes what the proof of a kernel computes as a certificate, which checker.rs verifies apart.

SPDX-License-Identifier: MIT OR Apache-2.0

    test/proof/audit/certify.py [--all] [--keep FOLDER] [KERNEL]...

The proof of kernels for x86-64 runs as in prove.py (a sample, those named, or all), and is checked by checker.rs.
--keep: the certificates stay, as FOLDER/KERNEL.certificate. Then changed certificates must be refused, and those of a
wrong kernel that a wrong normal form takes for right. Decoders other than binutils' must read the code alike
(decoders.py), with --all also that for AArch64 and i686.

In the place of words.py is this file: each operation on words, of the standard and of the machine code, becomes a line
of the certificate, whatever words.py makes of the result. A line is a step, and steps are numbered from 0; operands
are numbers of steps, or constants (#hexadecimal):

    v N KEY          an unknown word of N bits
    t ROWS A B C     the boolean function of three words whose truth table is ROWS, A the highest bit of a row
    j A I N ...      side by side, the lowest first: N bits of A from bit I on, and so on
    + N A K*B ...    the sum modulo 2^N, with B counted K times

Behind a step "~A" says that it is equal to an earlier step, or to a constant. That is all that words.py contributes,
and what the checker has to find for itself. Where the induction needs that a word is what another is with later
blocks, the steps of the other are made again with these. Lines that are no steps:

    n A                 the bits of A are unknown bits from here on (words.rename)
    = A B               the run compared these two, and they were equal: states, registers, what goes on in a loop
    s standard|code     whose steps follow
    q N NAME            the run NAME ends; it made N lines "="
    reset               steps are numbered from 0 again, and all is forgotten
    end N               the certificate ends; it has N lines before this one

It needs rustc, and iced-x86 and capstone for Python. HASHLOOM_REQUIRE=1 makes it a failure if they are missing. Exit
status: 0 all verified, 1 something is not.
"""

import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import types
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import words as inner
from operators import operators

from words import ALL, FULL, TooLong, Unknown, signed  # other files take these from here

log = types.SimpleNamespace(file=None, nlines=0, nclaims=0)


def write(line):
    if log.file is not None:
        log.file.write(line + "\n")
        log.nlines += 1


class Step(operators(globals())):
    """A value of words.py, and the step that made it: a function of this file and its arguments."""

    __slots__ = ("value", "number", "name", "arguments")

    def __init__(self, value, number, name=None, arguments=()):
        self.value, self.number, self.name, self.arguments = value, number, name, arguments

    @property
    def n(self):
        return self.value.n

    def __eq__(self, other):
        """The proof compares by this: states with those of the standard, registers with those before, what goes on."""
        same = type(other) is Step and self.value is other.value
        if same and shown(self) != shown(other):
            write(f"= {shown(self)} {shown(other)}")
            log.nclaims += 1
        return same

    def __hash__(self):
        return hash(self.value)


def reset():
    global memo, first, variables, sections, done, closed, nsteps
    inner.reset()
    memo, first, variables, closed, nsteps = inner.memo, {}, {}, {}, 0
    sections = {"code": {}, "standard": {}}  # the steps of each by their text: made again, they are the same step
    done = sections["code"]
    write("reset")


reset()


def section(name):
    global done
    done = sections[name]
    write(f"s {name}")


def of(x):
    return x.value if type(x) is Step else tuple(map(of, x)) if type(x) is tuple else x


def shown(x):
    if type(x) is int:
        if x < 0:
            raise ValueError(f"{x} has no end")
        return f"#{x:x}"
    if type(x.number) is not int:
        x.number = x.number()
    return x.number


def step(name, text, *arguments):
    out = done.get(text)
    return out if out is not None else made(text, getattr(inner, name)(*map(of, arguments)), name, arguments)


def made(text, out, name=None, arguments=()):
    """A new step."""
    global nsteps
    known = first.get(out) if type(out) is not int else out & FULL[512]
    write(text if known is None else f"{text} ~{shown(known)}")
    if type(out) is not int:
        out = Step(out, nsteps, name, arguments)
        first.setdefault(out.value, out)
    done[text] = out
    nsteps += 1
    return out


def variable(key, width):
    out = variables.get((key, width))
    if out is None:
        out = variables[key, width] = made(f"v {width} {key}", inner.variable(key, width))
    return out


def rename(x, how=None):
    if type(x) is Step:
        was = len(inner.formers)
        out = (how or inner.rename)(x.value)
        if len(inner.formers) > was:
            write(f"n {shown(x)}")
        return out


def close(x):
    closed[x.value] = rename(x, inner.close)
    return closed[x.value]


def xor(x, y):
    return step("xor", f"t 60 {shown(x)} {shown(y)} #0", x, y)


def conj(x, y):
    return step("conj", f"t 192 {shown(x)} {shown(y)} #0", x, y)


def disj(x, y):
    return step("disj", f"t 252 {shown(x)} {shown(y)} #0", x, y)


def table(bits, x, y, z):
    return step("table", f"t {bits} {shown(x)} {shown(y)} {shown(z)}", bits, x, y, z)


def shl(x, k):
    return step("shl", f"j #0 0 {k} {shown(x)} 0 512", x, k)


def shr(x, k):
    return step("shr", f"j {shown(x)} {k} 512", x, k)


def cut(x, n):
    return step("cut", f"j {shown(x)} 0 {n}", x, n)


def part(x, i, n):
    return cut(shr(x, i), n)


def split(x, n, width):
    return tuple(cut(shr(x, i) if i else x, n) for i in range(0, width, n))


def join(parts, n):
    return step("join", "j " + " ".join(f"{shown(x)} 0 {n}" for x in parts), tuple(parts), n)


def rol(x, k, n):
    text = f"j {shown(x)} {n - k % n} {k % n} {shown(x)} 0 {n - k % n}"
    return step("rol", text, x, k, n)


def swapped(x, n):
    return step("swapped", "j " + " ".join(f"{shown(x)} {i} 8" for i in range(n - 8, -1, -8)), x, n)


def add(n, *xs):
    xs = [x & FULL[n] if type(x) is int else x for x in xs]  # a displacement may be negative
    return step("add", f"+ {n} {' '.join(str(shown(x)) for x in xs)}", n, *xs)


def sub(n, x, y):
    x, y = (z & FULL[n] if type(z) is int else z for z in (x, y))
    return step("sub", f"+ {n} {shown(x)} -1*{shown(y)}", n, x, y)


def times(x, count, n):
    return step("times", f"+ {n} {count}*{shown(x)}", x, count, n)


def constant_bits(x):
    return inner.constant_bits(of(x))


def linear(x, n):
    """As the form decides branches, it is an equality that has to be verified, if all its words are counted."""
    constant, parts = inner.linear(of(x), n)
    steps = {first.get(y) or Step(y, None): count for y, count in parts.items()}
    if type(x) is Step and all(y.name is None and y.number is not None for y in steps):
        text = f"+ {n} #{constant & FULL[n]:x} {' '.join(f'{count}*{y.number}' for y, count in steps.items())}"
        if text not in done:
            made(text, x.value)
    return constant, steps


def substituted(x, later, known, depth):
    """Where what is found is equal to something, x is made again, step by step, with others in place of its atoms."""
    if type(x) is int:
        return x

    def inner_later(number):
        word = later(number)
        return None if word is None else of(word)

    def again(x):
        if type(x) is tuple:
            return tuple(map(again, x))
        if type(x) is not Step:
            return x
        out = known.get(x.number)
        if out is None:
            if x.value in closed:
                out = later(closed[x.value])
                out = xor(out, constant_bits(x)) if out is not None else x
            else:
                out = globals()[x.name](*map(again, x.arguments)) if x.name else x
            known[x.number] = out
        return out

    out = inner.substituted(x.value, inner_later, known.setdefault("words", {}), depth)
    return out if type(out) is int else Step(out, lambda: shown(again(x)))


def marked(f):
    """A function of a standard, whose steps are marked as such."""
    def run(w, *arguments):
        if type(w) is standards.Numbers:
            return f(w, *arguments)
        section("standard")
        out = f(w, *arguments)
        section("code")
        return out

    return run


if __name__ == "__main__":
    sys.modules["words"] = sys.modules["__main__"]  # for all that follows
import standards

for name, standard in standards.STANDARDS.items():
    standards.STANDARDS[name] = standard._replace(words=standard.words and marked(standard.words),
                                                  compress=marked(standard.compress))
import decoders
import prove


def certificate(image, kernel, path, nruns=None):
    """Writes the certificate of a kernel, of all runs or of the first. Returns why its proof fails, if it does."""
    nwords, wrong = kernel.nlanes * prove.STANDARDS[kernel.body].nwords, []
    with open(path, "w") as log.file:
        log.nlines = 0
        for name, differs in islice(prove.runs_of_kernel(kernel), nruns):
            prove.forget()
            log.nclaims = 0
            wrong = wrong or prove.unproved(image, [(name, differs)], set())
            if log.nclaims < nwords:
                wrong.append(f"{name}: {log.nclaims} words were compared, of {nwords}")
            write(f"q {log.nclaims} {name}")
        write(f"end {log.nlines}")
    log.file = None
    return wrong[0] if wrong else None


def refusal(checker, path):
    """Why the checker refuses a certificate, or None."""
    done = subprocess.run([checker, path], capture_output=True, text=True)
    if done.returncode not in (0, 1) or (": verified" in done.stdout) != (done.returncode == 0):
        raise SystemExit(f"certify.py: {path}: the checker ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.rpartition(": refused: ")[2].strip() if done.returncode else None


def seconds(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def certified(image, kernel, checker, folder):
    path = folder / f"{kernel.name}.certificate"
    begin = seconds(resource.RUSAGE_SELF)
    why = certificate(image, kernel, path)
    written, begin = seconds(resource.RUSAGE_SELF) - begin, seconds(resource.RUSAGE_CHILDREN)
    why = why or refusal(checker, path)
    return why, log.nlines, path.stat().st_size, written, seconds(resource.RUSAGE_CHILDREN) - begin


# ---- That the checker can refuse ------------------------------------------------------------------------------------


def changed(lines, chance):
    """A certificate with one change, and what was changed."""
    lines = lines[:]

    def picked(pattern):
        return chance.choice([i for i, line in enumerate(lines) if re.search(pattern, line)])

    def other(step):
        return str(chance.choice([x for x in range(int(step) + 9) if str(x) != step]))

    kind = chance.choice(["an operand", "a constant", "an equality", "a claim", "a step left out", "the end left out"])
    if kind == "an operand":
        i = picked(r"^[+t] \d+ \d+ .*~\d")
        head, step, rest = re.fullmatch(r"(. \d+ )(\d+)( .*)", lines[i]).groups()
        lines[i] = head + other(step) + rest
    elif kind == "a constant":
        i = picked(r"^\+ .*#[0-9a-f]{5,8}\b.* ~")
        lines[i] = re.sub(r"#[0-9a-f]+", lambda x: f"#{int(x[0][1:], 16) ^ 1 << chance.randrange(16):x}", lines[i], 1)
    elif kind == "an equality":
        i = picked(r"~\d+$")
        head, step = lines[i].rsplit("~")
        lines[i] = f"{head}~{other(step)}"
    elif kind == "a claim":
        i, j = picked("^= "), picked("^= ")
        while lines[i].split()[2] == lines[j].split()[2]:
            j = picked("^= ")
        lines[i] = " ".join([*lines[i].split()[:2], lines[j].split()[2]])
    elif kind == "a step left out":
        i = picked("~")
        lines = lines[:i] + lines[i + 1 : -1] + [f"end {len(lines) - 2}"]
    else:
        i, lines = len(lines) - 1, lines[:-1]
    return lines, f"{kind}, line {i + 1}"


def unrefused(image, kernels, checker, folder, n):
    """Changes of a certificate, or of more, with which it is verified."""
    path, missed = folder / "changed", []
    why = certificate(image, kernels["sha1_blocks_sha_x1"], path)
    lines, chance = path.read_text().splitlines(), random.Random(prove.SEED)
    for _ in range(n):
        different, what = changed(lines, chance)
        path.write_text("\n".join(different) + "\n")
        if refusal(checker, path) is None:
            missed.append(what)
    return [why] if why else missed


# A changed words.py, which takes two sums modulo 2^32 that differ in a constant for one sum.
WRONG_FORM = ("    constant &= full\n", "    constant &= full if n == 64 else 0\n")


def wrong_is_verified(image, kernels, checker, folder):
    """With a wrong normal form the proof of a wrong kernel passes; the checker must refuse it. Returns what fails."""
    global inner
    kernel, path, was = kernels["md5_blocks_scalar"], folder / "wrong", (inner, image.lines, image.compiled)
    text = (HERE.parent / "words.py").read_text()
    # The first round takes the constant of the second.
    begin, constants = kernel.blocks, image.symbols["hli_md5_t"]
    place = next((pc for pc, line in sorted(image.lines.items()) if pc >= begin and f"# {constants:x} " in line), None)
    if WRONG_FORM[0] not in text or place is None:
        raise SystemExit("certify.py: a text that is to be changed is no longer there")
    line = image.lines[place].replace(f"# {constants:x} ", f"# {constants + 4:x} ")
    image.lines, image.compiled = {**image.lines, place: line}, {}
    passes = []
    for new in (WRONG_FORM[0], WRONG_FORM[1]):
        inner = types.ModuleType("words")
        exec(compile(text.replace(WRONG_FORM[0], new, 1), "words.py", "exec"), inner.__dict__)
        inner.TooLong, inner.Unknown = TooLong, Unknown
        passes.append(certificate(image, kernel, path, 1) is None)  # other runs begin with known numbers
    refused = refusal(checker, path)
    print(f"certificates: that of a wrong kernel and a wrong normal form: {refused}")
    inner, image.lines, image.compiled = was
    prove.forget()
    if passes != [False, True]:
        return [f"a wrong kernel, with the right and with a wrong normal form: its proof passes: {passes}"]
    return [] if refused else ["a wrong kernel was verified"]


def decoded_otherwise(target):
    """What other decoders read otherwise. A text that is changed must be noticed."""
    wrong, n = decoders.differences(target.image, target.name)
    print(f"{target.name}: {n - len(wrong)} of {n} instructions are read by another decoder as by objdump")
    image, place = types.SimpleNamespace(**vars(target.image)), min(target.image.lines)
    image.lines = {**image.lines, place: "add" + image.lines[place]}
    if len(decoders.differences(image, target.name)[0]) == len(wrong):
        wrong.append("a changed instruction was not noticed")
    return wrong


def image_of(target, folder):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        target.objects = list(pool.map(lambda source: target.object(prove.CORE, source, folder), target.sources))
    target.image = target.link(target.objects, folder)


def skipped(what, why):
    print(f"SKIPPED: {what}: {why}")
    return [f"{what}: {why}"] * bool(os.environ.get("HASHLOOM_REQUIRE"))


def main():
    options = argparse.ArgumentParser(description="Writes and checks certificates; the file's beginning says how.")
    options.add_argument("--all", action="store_true")
    options.add_argument("--keep", type=Path)
    options.add_argument("kernel", nargs="*")
    options = options.parse_args()
    failures, targets = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for target in prove.TARGETS[: 3 if options.all else 1]:
            if why := target.why_not():
                failures += skipped(f"certificates and decoders, {target.name}", why)
                continue
            image_of(target, folder)
            targets.append(target)
            if not decoders.is_there():
                failures += skipped(f"decoders, {target.name}", "pip install iced-x86 capstone")
            else:
                failures += [f"{target.name}: {x}" for x in decoded_otherwise(target)]
        if shutil.which("rustc") is None or prove.TARGETS[0] not in targets:
            failures += skipped("certificates", "rustc or a compiler is not installed")
        else:
            failures += certificates(targets[0].image, folder, options)
    for failure in failures:
        print(f"FAILED: {failure}")
    return bool(failures)


def certificates(image, folder, options):
    checker, failures = folder / "checker", []
    subprocess.run(["rustc", "-O", "--edition=2024", "-Dwarnings", HERE / "checker.rs", "-o", checker], check=True)
    kernels = {kernel.name: kernel for kernel in prove.kernels_of(image)}
    if unknown := set(options.kernel) - set(kernels):
        raise SystemExit(f"certify.py: no kernel is called {', '.join(sorted(unknown))}")
    chosen = [kernels[name] for name in options.kernel] or list(kernels.values())
    if not options.kernel and not options.all:
        chosen = prove.sampled(chosen, 24, "certificates")
        for kernel in chosen:
            kernel.sizes = prove.sampled(prove.SIZES[kernel.body], len(prove.SIZES[kernel.body]), kernel.name)
    chosen.sort(key=lambda kernel: (kernel.body != "keccak", -kernel.nlanes))
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)

    def tried(kernel):
        with tempfile.TemporaryDirectory(dir=folder) as own:
            return certified(image, kernel, checker, options.keep or Path(own))

    totals = [0] * 4
    for kernel, (why, *figures) in zip(chosen, prove.side_by_side(tried, chosen)):
        totals = [x + y for x, y in zip(totals, figures)]
        failures += [f"the certificate of {kernel.name}: {why}"] * bool(why)
        print("{}: {} lines, {:.1f} MB, written in {:.1f} s, {} in {:.1f} s".format(
            kernel.name, figures[0], figures[1] / 1e6, figures[2], "REFUSED" if why else "verified", figures[3]))
    print("certificates of {} kernels: {} lines, {:.0f} MB, written in {:.0f} s, checked in {:.0f} s".format(
        len(chosen), totals[0], totals[1] / 1e6, *totals[2:]))
    n = 300 if options.all else 24
    missed = unrefused(image, kernels, checker, folder, n)
    print(f"certificates: {n - len(missed)} of {n} with a change refused")
    failures += [f"a changed certificate was verified: {x}" for x in missed]
    return failures + wrong_is_verified(image, kernels, checker, folder)


if __name__ == "__main__":
    sys.exit(main())
