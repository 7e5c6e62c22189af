#!/usr/bin/env python3
"""prove.py: proves that the core's machine code computes what the standards say, for every state, every message and
every number of blocks.

SPDX-License-Identifier: MIT OR Apache-2.0

    test/proof/prove.py [--all | --share N]
    test/proof/prove.py FILE...    only the kernels in a program, shared library, static library or object with symbols
    test/proof/prove.py --body sm3 [FILE...]    only the kernels of a body, and the instructions in them

 1. The core is compiled for x86-64, AArch64, i686 and WebAssembly, and each kernel's machine code is run with unknown
    words for state and message, and an unknown number of blocks (machine.py, x86.py, a64.py, wasm.py, induction.py).
    The result and the standard (standards.py) are both brought into a normal form (words.py). Same form: same function.
    Padding, digests and hl_hash_many are run with unknown bytes, for some lengths and numbers of messages.
 2. The models of the instructions that were run are held against this CPU, or against qemu-aarch64 (silicon.py), or
    node (engine.py).
 3. The library is run over AVX-512, on any CPU, and compared with Python (emulate.py).
 4. Mutants show that the proof can fail: a line of the core, of a model or of the normal form is changed. Each must be
    noticed. A sample by default, all with --all (minutes).

--share 16: x86-64 and one of the other three; about every 16th kernel of each instruction set, or, of those whose
blocks may have several sizes, of each body, with some sizes; every 16th of all calls; fewer mutants. All samples are
taken by HASHLOOM_SEED, a number.

CC, CROSS_CC, I686_CC and WASM_CC name the compilers. HASHLOOM_REQUIRE=1: all must be there, qemu-aarch64 and node;
HASHLOOM_EXPECT=avx512,sha: this CPU must have all instructions. Exit status: 0 all proved, 1 something is not.
"""

import argparse
import collections
import contextlib
import copy
import functools
import gc
import multiprocessing
import operator
import os
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import types
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
CORE = HERE.parent.parent / "core"
sys.path[1:1] = [str(HERE / "audit"), str(HERE.parent.parent / "tools"), str(HERE.parent.parent / "web/npm")]

import a64
import algorithms
import build as npm
import emulate
import engine
import silicon
import wasm
import words
import x86
from induction import NBLOCKS, Proof
from machine import Fault, Image, Machine, command
from mutants import (BLIND_EDGE_MUTANTS, BLIND_MUTANTS, CALLER_MUTANTS, CHAIN_MUTANTS, EDGE_MUTANTS, EMULATED_MUTANTS,
                     FILLERS, FORM_MUTANTS, GUARDS, KERNEL_MUTANTS, LITERALS, MODEL_MUTANTS, stale)
from standards import (CHUNK_START, STANDARDS, after_block, blake3_root, check, initial_values, last_of,
                       sponge_named)
from words import FULL, add, conj, cut, join, rol, shl, shr, split, swapped, variable, xor

QEMU = ["qemu-aarch64", "-cpu", "max"]
SEED = int(os.environ.get("HASHLOOM_SEED", "1"))
BODIES = [x.name for x in algorithms.BODIES]  # as hl_body counts them
# The words of a block, of the algorithms of each body.
SIZES = {body: sorted({a.block_nbytes // a.body.word_nbytes for a in algorithms.ALGORITHMS if a.body.name == body})
         for body in BODIES}

# The functions that the core calls, and a start. machine.py runs its own memcpy and memset. What is weak stands in for
# the rest of the core where a part of it is linked: the linker leaves out all symbols if one that is hidden is missing.
SUPPORT = """
#define STAND_IN __attribute__((weak, visibility("hidden")))
STAND_IN void hli_clear_avx(void) {}
STAND_IN void hli_pad_scalar(void) {}
STAND_IN void hli_digests_scalar(void) {}
STAND_IN extern const unsigned char hli_one_bit[512] = {0};
typedef __SIZE_TYPE__ size;
void *memcpy(void *to, const void *from, size n) { (void)from, (void)n; return to; }
void *memset(void *to, int c, size n) { (void)c, (void)n; return to; }
unsigned long getauxval(unsigned long which) { return which; }
void _start(void) {}
"""


class Target:
    def __init__(self, name, isa, compiler, tools, sources, in_part=()):
        """in_part: sources of which only the kernels of PART are compiled."""
        self.name, self.isa, self.cc, self.tools = name, isa, shlex.split(compiler), tools
        self.sources, in_part = ([x for pattern in of for x in sorted((CORE / "src").glob(pattern))]
                                 for of in ([*sources, *in_part], in_part))
        self.in_part = {x.name for x in in_part}
        self.image = self.body = None  # body: if only one is proved

    def why_not(self):
        missing = [x for x in (self.cc[0], self.tool("objdump"), self.tool("as")) if shutil.which(x) is None]
        if missing:
            return f"{', '.join(missing)}: not installed"
        machine = subprocess.run([*self.cc, "-dumpmachine"], capture_output=True, text=True).stdout
        fits = machine.startswith(self.name.replace("-", "_"))
        return None if fits else f"{self.cc[0]} compiles for {machine.strip()}"

    def tool(self, name):
        return self.tools + name if shutil.which(self.tools + name) else name

    def features(self):
        """What the compiler uses anywhere."""
        macros = command(*self.cc, "-dM", "-E", "-x", "c", os.devnull)
        return {x.replace("_", "") for x in re.findall(r"define __(\w+)__ 1", macros)}

    def has_table(self):
        return "hl_alg_at" in self.image.symbols

    def object(self, core, source, folder):
        """Compiles a file of the core."""
        out = folder / f"{self.name}-{source.parent.name}-{source.stem}.o"
        names = PART if source.name in self.in_part else self.body
        part = [f"-DHL_ALGORITHMS={names},slh{',sha1dc' * (names == 'sha1')}"] if names else []
        done = subprocess.run([*self.cc, "-O2", "-fno-stack-protector", "-fno-pic", f"-I{core}/include",
                               f"-I{core}/src", *part, "-c", source, "-o", out], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"prove.py: {source} does not compile:\n{done.stderr}")
        return out

    def link(self, objects, folder):
        support, program = folder / "support.c", folder / f"{self.name}.program"
        support.write_text(SUPPORT)
        subprocess.run([*self.cc, "-O1", "-ffreestanding", "-fno-builtin", "-fno-stack-protector", "-nostdlib",
                        "-static", "-no-pie", "-Wl,--unresolved-symbols=ignore-all", "-Wl,--no-warnings", support,
                        "-Wl,--whole-archive", *objects, "-o", program], check=True, capture_output=True)
        image = Image(program, self.isa, self.tool("objdump"), "nm")
        image.features = self.features()
        return image


class NpmModule(Target):
    """The module of the npm package, with the names of its functions."""

    def __init__(self, sources):
        super().__init__("wasm32", wasm, npm.CLANG[0], "", sources)
        self.sources.append(CORE.parent / "web/npm/module.c")

    def why_not(self):
        missing = [x for x in (self.cc[0], "rustc") if shutil.which(x) is None]
        if not missing and not npm.linker() and shutil.which("wasm-ld") is None:
            missing = ["wasm-ld"]
        return missing and f"{', '.join(missing)}: not installed"

    def object(self, core, source, folder):
        out = folder / "wasm" / f"{source.stem}.o"
        out.parent.mkdir(exist_ok=True)
        subprocess.run([*npm.CLANG, *npm.flags(source), "-w", f"-I{core}/include", "-c", source, "-o", out], check=True)
        return out

    def link(self, objects, folder):
        out, is_whole = folder / "module.wasm", len(objects) == len(self.sources)
        chains = [f"--export-if-defined=hli_{name}" for name in CHAIN_NAMES]  # nothing in the module calls them yet
        # The last options are those that count.
        npm.link(objects, out, *chains, *[] if is_whole else ["--no-gc-sections", "--unresolved-symbols=ignore-all"])
        image = wasm.Module(out, wasm)
        if is_whole:
            image.zeros_until(returned(machine(image), "heap"))
            missing = [x for x in rows() if x.endswith(("_simd128", "_simd128_mixed", "_simd128_x1", "_scalar")) and
                       f"hli_{x}" not in image.symbols]
            if missing:
                raise SystemExit(f"prove.py: not in the module: {', '.join(missing)}")
        return image


# i686: its own kernels for one message, and those of PART, whose state of 25 words finds few registers there. The other
# kernels are the same sources as for x86-64.
PART = "keccak"
ALL_SOURCES = ["*.c", "alg/*.c", "generic/*.c"]
TARGETS = [
    Target("x86-64", x86, os.environ.get("CC", "cc"), "x86_64-linux-gnu-", [*ALL_SOURCES, "x86/*.c"]),
    Target("aarch64", a64, os.environ.get("CROSS_CC", "aarch64-linux-gnu-gcc"), "aarch64-linux-gnu-",
           [*ALL_SOURCES, "arm/*.c"]),
    Target("i686", x86, os.environ.get("I686_CC", "i686-linux-gnu-gcc"), "i686-linux-gnu-",
           ["alg/*.c", "edges.c", "x86/single_*.c", "x86/sha512_*.c"],
           ["generic/scalar.c", "x86/sse2.c", "x86/avx*.c"]),
    NpmModule([*ALL_SOURCES, "wasm/*.c"]),
]


def sampled(of, n, what):
    """One in n, by the seed."""
    of = list(of)
    return of[random.Random(f"{SEED} {what}").randrange(n) :: n]


# ---- Reading the core's tables --------------------------------------------------------------------------------------


def text_at(m, address):
    out = b""
    while byte := m.load(address, 1):
        out += bytes([byte])
        address += 1
    return out.decode()


def returned(m, function, *arguments):
    m.call(function, *arguments)
    return m.image.isa.result(m)


class Kernel:
    words = 0
    sizes = None  # numbers of words of a block, if not all are to be proved
    nwords = None  # of a block; of_sizes() makes a kernel of each

    def __init__(self, m, address):
        self.address, self.name = address, text_at(m, m.load(address, 8))
        self.body, self.nlanes = BODIES[m.load(address + 16, 4)], m.load(address + 20, 4)
        self.isa = self.isas = m.load(address + 24, 4)
        self.blocks, self.scheduled = m.load(address + 32, 8), m.load(address + 40, 8)
        self.whole, self.chain = (returned(m, f"hli_{what}_of", address) for what in ("whole", "chain"))
        found = m.new(8)
        if returned(m, "hli_choose_words", self.isa, BODIES.index(self.body), found) == address:
            self.words = m.load(found, 8)

    def of_sizes(self):
        for nwords in self.sizes or SIZES[self.body]:
            kernel = copy.copy(self)
            kernel.nwords = nwords
            yield kernel

    def block_nbytes(self):
        return self.nwords * STANDARDS[self.body].bits // 8

    def arguments(self, m, state, messages, nblocks):
        """A kernel whose blocks have one size is not told which; the upper half of the register of a number of 32 bits
        may hold anything."""
        size = self.block_nbytes() | (0xDEADBEEF << 32 if m.image.word_nbytes == 8 else 0)
        return state, messages, nblocks, *([size] if len(SIZES[self.body]) > 1 else [])


def rows():
    """The instruction set and the number of lanes of each kernel of registry.def, by its function's name."""
    text = (CORE / "src" / "registry.def").read_text()
    of_lanes = re.findall(r"^LANES2?\(\w+, (\w+), (\w+), (\d+)", text, re.M)
    of_functions = re.findall(r"^KERNEL\w*\(\w+, (\w+),.*?(\w+), (\d+)", text, re.M)
    return {f"{name}_blocks_{isa}": (isa, int(n)) for name, isa, n in of_lanes} | {
        name: (isa, int(n)) for name, isa, n in of_functions}


CHAIN_NAMES = re.findall(r"^CHAIN\(\w+, \w+, (\w+),", (CORE / "src" / "registry.def").read_text(), re.M)


@functools.cache
def needs(family):
    """The features that each instruction set of registry.def needs, in the order of the bits of hl_isas."""
    text = (CORE / "src" / "registry.def").read_text()
    part = re.search(rf"^#(?:el)?if {family}$(.*?)^#el", text, re.M | re.S)[1]
    return {isa: set(re.findall(r"HLI_F\((\w+)\)", of)) for isa, of in re.findall(r"^ISA\((\w+), (.*)\)", part, re.M)}


def of_isas(image, isas, result):
    """The result of a run, if a CPU on which all these instruction sets may be chosen, names or hl_isas, has all
    instructions that were executed. (A module that has one instruction too many is not loaded.)"""
    if image.isa.FAMILY == "HLI_WASM":
        return result
    of = needs(image.isa.FAMILY)
    names = [x for i, x in enumerate(of) if isas >> i & 1] if type(isas) is int else isas
    lacking = image.isa.lacking(result[1], image.features.union(*(of[x] for x in names)))
    if lacking:
        raise Fault(f"not an instruction of {', '.join(names)}: {sorted(lacking)[0]}")
    return result


def within_isa(runs_of_kernel):
    """The same runs; an instruction that the kernel's instruction set lacks is an error."""
    def runs(kernel):
        for name, differs in runs_of_kernel(kernel):
            yield name, lambda image, differs=differs: of_isas(image, kernel.isas, differs(image))

    return runs


def kernels_of(image):
    """The kernels of an image; without a table those that are there, by their names."""
    m = machine(image)
    if "hl_kernel_count" in image.symbols:
        return [Kernel(m, returned(m, "hl_kernel_at", i)) for i in range(returned(m, "hl_kernel_count"))]
    kernels, known = [], rows()
    for name, address in sorted(image.symbols.items()):
        if name.startswith("hli_") and name[4:] in known:
            kernel = Kernel.__new__(Kernel)
            kernel.name, kernel.body = name[4:], name.split("_")[1]
            *kernel.isas, kernel.nlanes = known[kernel.name]
            kernel.isa, kernel.blocks, kernel.whole = 0, address, 0
            kernel.scheduled, kernel.chain = (image.symbols.get(name.replace("_blocks_", f"_{what}_"), 0)
                                              for what in ("scheduled", "chain"))
            kernels.append(kernel)
    return kernels


class Algorithm:
    def __init__(self, m, address):
        n = self.pointer_nbytes = m.image.word_nbytes
        self.address, self.name = address, text_at(m, m.load(address, n))
        self.number, body, self.digest_nbytes, self.block_nbytes, _, self.word_nbytes, self.nwords, self.big_endian = (
            m.load(address + n + at, 4) for at in range(0, 32, 4))
        ending, self.suffix = (m.load(address + 2 * n + at, 4) for at in (32, 36))
        self.is_sponge, self.is_xof = ending in (1, 2), ending == 2
        self.is_counted, self.is_tree = ending >= 3, ending == 4
        self.body = BODIES[body]
        self.iv = [m.load(m.load(address + n + 32, n) + i * self.word_nbytes, self.word_nbytes)
                   for i in range(self.nwords)]


def algorithms_of(image):
    m, found = machine(image), []
    while address := returned(m, "hl_alg_at", len(found)):
        found.append(Algorithm(m, address))
    return found


def samples(algorithms):
    """One of each body and kind of ending: that which is named like its body, or the first."""
    found = {}
    for a in algorithms:
        key = a.body, a.is_sponge, a.is_xof
        if a.name == a.body or key not in found:
            found[key] = a
    return list(found.values())


def machine(image, has_variables=True):
    m = Machine(image, has_variables)
    argument = image.isa.argument

    def memcpy(m):
        to, source, n = (argument(m, i) for i in range(3))
        step = 4 if (to | source | n) & 3 == 0 else 1
        values = [m.load(source + i, step) for i in range(0, n, step)]
        for i, value in enumerate(values):
            m.store(to + i * step, step, value)
        image.isa.answer(m, to)

    def memset(m):
        to, c, n = (argument(m, i) for i in range(3))
        for i in range(n):
            m.store(to + i, 1, cut(c, 8))
        image.isa.answer(m, to)

    m.hooks = {image.symbols[name]: f for name, f in (("memcpy", memcpy), ("memset", memset)) if name in image.symbols}
    return m


# ---- Kernels --------------------------------------------------------------------------------------------------------


class Arithmetic:
    """What standards.py computes with, over unknown words."""

    def __init__(self, nbits):
        self.nbits, self.mask = nbits, FULL[nbits]

    def const(self, c):
        return c & self.mask

    def add(self, *xs):
        return add(self.nbits, *xs)

    def xor(self, *xs):
        return functools.reduce(xor, xs)

    def bits(self, f, *xs):
        return f(*xs) & self.mask

    def rol(self, x, n):
        return rol(x, n, self.nbits)

    def shr(self, x, n):
        return shr(x, n)

    def is_known(self, x):
        """Whether a half is; words.py renames halves too."""
        return type(x) is int or any(type(half) is int for half in split(x, 32, 64))

    def rename(self, xs):
        for x in xs:
            words.rename(x)


expected = {}  # states after some blocks, by body, size of a block, lane and number of blocks; emptied with the words
places = {}  # atom: the lane, the number of the block or of those before a state, and the number of the word


def state_words(standard, lane):
    return [known_place(variable(("state", lane, i), standard.bits), lane, 0, i) for i in range(standard.nwords)]


def message_word(standard, lane, nth, i, nwords):
    return known_place(variable(("message", lane, nwords * nth + i), standard.bits), lane, ~nth, i)


def message_words(standard, lane, nth, nwords=16):
    return [message_word(standard, lane, nth, i, nwords) for i in range(nwords)]


def known_place(word, *place):
    places[words.close(word)] = place
    return word


def state_after(body, lane, nblocks, nwords=16):
    standard = STANDARDS[body]
    if nblocks == 0:
        return state_words(standard, lane)
    key = (body, nwords, lane, nblocks)
    if key not in expected:
        expected[key] = compressed(body, state_after(body, lane, nblocks - 1, nwords),
                                   message_words(standard, lane, nblocks - 1, nwords))
        for i, (x, begin) in enumerate(zip(expected[key], state_words(standard, lane))):
            if words.linear(x, standard.bits)[1] != {begin: 1}:  # a counter goes on as a sum
                known_place(x, lane, nblocks, i)
    return expected[key]


def later(kernel, step):
    """For an atom, its counterpart `step` blocks further on."""
    standard = STANDARDS[kernel.body]

    def word(number):
        lane, nth, i = places.get(number, (None,) * 3)
        if lane is None:
            return None
        if nth < 0:
            return message_word(standard, lane, ~nth + step, i, kernel.nwords)
        here, there = (state_after(kernel.body, lane, n, kernel.nwords)[i] for n in (nth, nth + step))
        return xor(there, words.constant_bits(here))

    return word


def compressed(body, state, block):
    standard = STANDARDS[body]
    return after_block(Arithmetic(standard.bits), standard, state, block)


def in_memory(standard, values):
    return [swapped(x, standard.bits) for x in values] if standard.big_endian else values


def state_alignment(standard, nlanes):
    """What the contract of hl_blocks_fn promises."""
    row = standard.bits // 8 * nlanes
    return standard.bits // 8 if row & row - 1 else min(row, 64)


def with_states(m, body, nlanes, of=state_words):
    """The address of the states in a kernel's layout: as many rows as the body has words, aligned to no more than the
    contract promises."""
    standard, nbytes = STANDARDS[body], STANDARDS[body].bits // 8
    state = m.new(standard.nwords * nbytes * nlanes, 128, state_alignment(standard, nlanes))
    for lane in range(nlanes):
        for i, value in enumerate(of(standard, lane)):
            m.store(state + (i * nlanes + lane) * nbytes, nbytes, value)
    return state


def states_at(m, body, nlanes, state):
    nbytes = STANDARDS[body].bits // 8
    return [[m.load(state + (i * nlanes + lane) * nbytes, nbytes) for i in range(STANDARDS[body].nwords)]
            for lane in range(nlanes)]


def alone(image):
    """A machine for a kernel: it uses none of the program's variables."""
    return machine(image, has_variables=False)


def at_of(lane):
    """Messages begin at addresses that are multiples of 4 and no more."""
    return 4 * (2 * lane % 16 + 1)


def right_states(kernel, nblocks):
    """The standard's states of all lanes. They come first, as the standard renames words."""
    return [state_after(kernel.body, lane, nblocks, kernel.nwords) for lane in range(kernel.nlanes)]


def blocks_differ(image, kernel):
    """For every number of blocks. (Another function is an error.)"""
    standard, m = STANDARDS[kernel.body], alone(image)
    nwords, n = kernel.nwords, image.word_nbytes

    def reads(lane, nth):
        state_after(kernel.body, lane, nth + 1, nwords)

    proof = Proof(m, kernel.block_nbytes(), reads)
    state = with_states(m, kernel.body, kernel.nlanes)
    messages = m.words([proof.message(at_of(lane), [in_memory(standard, message_words(standard, lane, nth, nwords))
                                                    for nth in range(NBLOCKS)])
                        for lane in range(kernel.nlanes)], n, 64, n)
    m.begin(kernel.blocks, *kernel.arguments(m, proof.begin("state", state), proof.begin("messages", messages),
                                             proof.n))
    proof.prove(lambda m, nblocks: states_at(m, kernel.body, kernel.nlanes, state) == right_states(kernel, nblocks),
                lambda step: later(kernel, step))
    return False, m.executed


def scheduled_differ(image, kernel):
    body, standard = kernel.body, STANDARDS[kernel.body]
    m = alone(image)
    state = with_states(m, body, kernel.nlanes)
    w = Arithmetic(standard.bits)
    # A word of the block may stand there more than once, and a kernel take it from any place. The other words may be
    # any: that they are made of the block is not needed.
    block = message_words(standard, 0, 0)
    schedule = [w.add(x, k) if x in block else variable(("schedule", t), standard.bits)
                for t, (x, k) in enumerate(zip(standard.words(w, block), standard.k))]
    m.call(kernel.scheduled, state, m.words(schedule, standard.bits // 8, 64, standard.bits // 8))
    return states_at(m, body, kernel.nlanes, state) != [standard.compress(w, state_words(standard, lane), schedule)
                                                         for lane in range(kernel.nlanes)], m.executed


def schedule_differs(image, body):
    """The schedule that the kernels above take."""
    standard = STANDARDS[body]
    m, nbytes = alone(image), standard.bits // 8
    block, out = message_words(standard, 0, 0), m.new(len(standard.k) * nbytes, 64, nbytes)
    m.call(f"hli_{body}_schedule_scalar", m.words(in_memory(standard, block), nbytes, 64, 4), out)
    w = Arithmetic(standard.bits)
    return [m.load(out + i * nbytes, nbytes) for i in range(len(standard.k))] != [
        w.add(x, k) for x, k in zip(standard.words(w, block), standard.k)], m.executed


def words_differ(image, kernel):
    """The kernel for a block whose words are given: word t of lane l is word number t * nlanes + l."""
    body, standard = kernel.body, STANDARDS[kernel.body]
    m = alone(image)
    state = with_states(m, body, kernel.nlanes)
    given = [message_words(standard, lane, 0) for lane in range(kernel.nlanes)]
    m.call(kernel.words, state, m.words([x for row in zip(*given) for x in row], standard.bits // 8))
    return states_at(m, body, kernel.nlanes, state) != [state_after(body, lane, 1)
                                                         for lane in range(kernel.nlanes)], m.executed


@within_isa
def runs_of_kernel(kernel):
    """Names and functions of an image that say whether a kernel differs."""
    for sized in kernel.of_sizes():
        size = f", {sized.block_nbytes()} bytes a block" if len(SIZES[kernel.body]) > 1 else ""
        yield f"{kernel.name}{size}", lambda image, k=sized: blocks_differ(image, k)
    if kernel.scheduled:
        yield f"scheduled of {kernel.name}", lambda image: scheduled_differ(image, kernel)
    if kernel.words:
        yield f"words of {kernel.name}", lambda image: words_differ(image, kernel)


# The places of SLH-DSA's chains (FIPS 205 sections 4.2 and 11): where the digest is put, how many bytes of it, and
# which byte counts; none, if it is behind the block.
CHAINS = {
    "sha256": (64, [(22, n, count) for count in (21, 64) for n in (16, 24, 32)]),
    "keccak": (136, [(n + 32, n, count) for n in (16, 24, 32) for count in (n + 31, 136)]),
}
MOST_STEPS = 5  # that the standard takes before the machine


def chain_differs(image, kernel, at, nbytes, count_at):
    """For every number of steps. The byte that counts and what is above it in its word are one number."""
    body, standard, m = kernel.body, STANDARDS[kernel.body], alone(image)
    bits, size = standard.bits, CHAINS[body][0]
    nth, counts = count_at // (bits // 8), count_at < size
    low = count_at % (bits // 8) * 8
    low = bits - 8 - low if standard.big_endian else low  # the bits below the number
    begins = [[0] * 25 if body == "keccak" else [variable(("begin", lane, i), 32) for i in range(8)]
              for lane in range(kernel.nlanes)]

    def block(lane, count, digest):
        found = [variable(("message", lane, i), bits) for i in range(8 * size // bits)]
        if counts:
            found[nth] = xor(conj(found[nth], (1 << low) - 1), shl(count, low))
        values = [x for word in in_memory(standard, found) for x in split(word, 8, bits)]
        return words_of(standard, values[:at] + digest + values[at + len(digest) :])

    blocks, after = [], []  # the first blocks; the states after each step
    for lane, begin in enumerate(begins):
        count, digest = variable(("count", lane), bits - low), []
        for step in range(MOST_STEPS):
            words_now = block(lane, count, digest)
            blocks += [words_now] if step == 0 else []
            after += [[]] if step == 0 else []
            after[lane].append(compressed(body, begin, words_now))
            count = add(bits - low, count, 1)
            for i, word in enumerate((*after[lane][step], *[count] * counts)):
                known_place(word, lane, step, i)
            after[lane][step] += [count] * counts
            digest = [x for word in in_memory(standard, after[lane][step][:8])
                      for x in split(word, 8, bits)][:nbytes]

    def later(step):
        def word(number):
            lane, now, i = places.get(number, (None,) * 3)
            if lane is None or now + step >= MOST_STEPS:
                return None
            return xor(after[lane][now + step][i], words.constant_bits(after[lane][now][i]))

        return word

    def is_right(m, nsteps):
        made = [of[:8] for of in states_at(m, body, kernel.nlanes, state)]  # the words of a digest
        return m.counting.decide("==", cut(image.isa.result(m), 32), 1) and nsteps <= MOST_STEPS and made == [
            of[nsteps - 1][:8] for of in after]

    proof = Proof(m, 1, None, 32)
    state = m.new(len(begins[0]) * bits // 8 * kernel.nlanes, 128, state_alignment(standard, kernel.nlanes))
    begin = with_states(m, body, kernel.nlanes, lambda _, lane: begins[lane])
    m.areas.pop()
    data = [m.words(in_memory(standard, of), bits // 8, 64, at_of(lane)) for lane, of in enumerate(blocks)]
    m.begin(kernel.chain, m.words([proof.n, size, at, nbytes, count_at], 4, 64, 4), begin, state,
            m.words(data, image.word_nbytes))
    proof.prove(is_right, later)
    return False, m.executed


@within_isa
def runs_of_chains(kernel):
    for place in CHAINS[kernel.body][1] if kernel.chain else ():
        def differs(image, place=place):
            forget()
            words.splits = True
            try:
                return chain_differs(image, kernel, *place)
            finally:
                words.splits = False
                forget()

        yield f"chain of {kernel.name}, places {place}", differs


# Forms that one run has computed are kept for the next, up to this number: those of all lengths of whole messages would
# take many GiB.
MOST_MEMO = 4_000_000


def unproved(image, runs, executed):
    """Which runs do not compute what the standard says, and why."""
    wrong = []
    for name, differs in runs:
        if len(words.memo) > MOST_MEMO:
            forget()
        try:
            different, instructions = differs(image)
            executed |= instructions
            if different:
                wrong.append(f"{name}: another function")
        except (Fault, words.TooLong) as e:
            wrong.append(f"{name}: {e or 'another function'}")
    return wrong


# ---- Padding, digests, whole messages, the driver -------------------------------------------------------------------


def message_bytes(which, nbytes):
    """Unknown bytes, each eight of which are one word."""
    return [byte for i in range(0, nbytes, 8) for byte in split(variable(("bytes", which, i), 64), 8, 64)][:nbytes]


def padded(algorithm, message, nbefore=0):
    """FIPS 180-4 section 5.1, RFC 1321 sections 3.1 and 3.2; FIPS 202 section B.2. The number of bytes before may be
    unknown."""
    block_nbytes, big_endian = algorithm.block_nbytes, algorithm.big_endian
    if algorithm.is_sponge:
        ending = [algorithm.suffix, *[0] * (-(len(message) + 1) % block_nbytes)]
        ending[-1] |= 0x80
        return [*message, *ending]
    if algorithm.is_counted:
        return [*message, *[0] * (-len(message) % block_nbytes if message else block_nbytes)]
    wide = block_nbytes // 8
    zeros = -(len(message) + 1 + wide) % block_nbytes
    total = add(64, nbefore, len(message))
    length = list(split(cut(shl(total, 3), 64), 8, 64)) + list(split(shr(total, 61), 8, 64))[: wide - 8] + \
        [0] * (wide - 16)
    return [*message, 0x80, *[0] * zeros, *(length[::-1] if big_endian else length)]


def words_of(standard, values):
    """Words of the bytes of a message."""
    n = standard.bits // 8
    return [join(tuple(values[i : i + n][:: -1 if standard.big_endian else 1]), 8) for i in range(0, len(values), n)]


def bytes_of(algorithm, state):
    """The digest that a state is."""
    out = []
    for word in state:
        parts = split(word, 8, 8 * algorithm.word_nbytes)
        out += parts[::-1] if algorithm.big_endian else parts
    return out[: algorithm.digest_nbytes]


MOST_BLOCK_NBYTES = int(re.search(r"define HL_BLOCK_MAX_NBYTES +(\d+)",
                                  (CORE / "include" / "hashloom.h").read_text())[1])


def padding_differs(image, function, algorithm, lengths):
    """Messages whose endings have equally many blocks, after any number of bytes."""
    m, before = machine(image), variable("before", 64)
    messages = [message_bytes(i, n) for i, n in enumerate(lengths)]
    expected = [padded(algorithm, x, before) for x in messages]
    if algorithm.is_counted:  # the length behind the block
        expected = [[*x, *split(add(64, before, n), 8, 64)] for x, n in zip(expected, lengths)]
    data = [m.bytes(x, 64, 1 + 7 * i) if x else 0 for i, x in enumerate(messages)]
    size = -(-MOST_BLOCK_NBYTES // 16) * 16 if algorithm.is_sponge else 2 * algorithm.block_nbytes
    out = m.new(size * len(lengths))
    m.call(function, algorithm.address, len(expected[0]) // algorithm.block_nbytes, m.words(data, image.word_nbytes),
           m.words(lengths, image.word_nbytes), before, len(lengths), out)
    return any([m.load(out + size * i + j, 1) for j in range(len(x))] != x for i, x in enumerate(expected)), m.executed


def cut_to(m, algorithm, nbytes):
    """The algorithm with shorter digests, as a call describes it."""
    out, n = copy.copy(algorithm), algorithm.pointer_nbytes
    described = [m.load(algorithm.address + i, 1) for i in range(2 * n + 40)]
    described[n + 8 : n + 12] = nbytes.to_bytes(4, "little")
    out.address, out.digest_nbytes = m.bytes(described), nbytes
    return out


def digests_differ(image, function, algorithm, nlanes, n, nbytes=None):
    m = machine(image)
    algorithm = cut_to(m, algorithm, nbytes) if nbytes else algorithm
    state = with_states(m, algorithm.body, nlanes)
    out = [m.new(algorithm.digest_nbytes, 64, 1 + 3 * lane) for lane in range(n)]
    m.call(function, algorithm.address, state, nlanes, n, m.words(out, image.word_nbytes))
    return any([m.load(out[lane] + i, 1) for i in range(algorithm.digest_nbytes)] !=
               bytes_of(algorithm, state_words(STANDARDS[algorithm.body], lane)) for lane in range(n)), m.executed


# The vector registers of an instruction set: their number, and words of 64 bits in each.
REGISTERS = {"sse2": (16, 2), "avx": (16, 8), "avx512": (32, 8), "neon": (32, 2)}


def clear_differs(image, isa):
    m, (n, nwords) = machine(image), REGISTERS[isa]
    m.call(f"hli_clear_{isa}")
    callers = range(8, 16) if isa == "neon" else ()  # the caller's lower halves
    return any(any(image.isa.lanes(m.v[i], 64, nwords)[i in callers :]) for i in range(n)), m.executed


def runs_of_edges(image, algorithms, every):
    for name, differs in all_runs_of_edges(image, algorithms, every):
        isa = re.match(r"hli_[a-z]+_(\w+)", name)[1]
        yield name, lambda image, isa=isa, differs=differs: of_isas(image, [isa], differs(image))


def all_runs_of_edges(image, algorithms, every):
    for isa in REGISTERS:
        if isa in needs(image.isa.FAMILY) and f"hli_clear_{isa}" in image.symbols:  # SUPPORT has one, too
            yield f"hli_clear_{isa}", lambda image, isa=isa: clear_differs(image, isa)
    for function in image.symbols:
        if function.startswith("hli_pad_"):
            # A sponge's padding is written in pairs of words, of which the last may be half of one.
            sponges = {x.block_nbytes if every else x.block_nbytes % 16: x for x in algorithms if x.is_sponge}
            for algorithm in (*(x for x in algorithms if x.name in ("sha256", "sha512", "md5", "blake2b", "blake2s")),
                              *sponges.values()):
                block, tail = algorithm.block_nbytes, 1 + algorithm.block_nbytes // 8
                ranges = ((0, block),) if algorithm.is_sponge else ((0, block + 1),) if algorithm.is_counted else \
                    ((0, block - tail + 1), (block - tail + 1, 2 * block - tail + 1))
                for low, high in ranges:
                    for first in range(low, high, 8):
                        lengths = range(first, min(first + 8, high))
                        yield f"{function}, {algorithm.name}, {first} bytes", \
                            lambda image, f=function, a=algorithm, n=lengths: padding_differs(image, f, a, list(n))
        if function.startswith("hli_digests_"):
            for algorithm in algorithms:
                for nlanes in (1, 2, 3, 4, 8, 16)[: 6 if algorithm.word_nbytes == 4 else 5]:
                    for n in range(1, nlanes + 1) if every else {1, nlanes}:
                        yield f"{function}, {algorithm.name}, {n} of {nlanes}", \
                            lambda image, f=function, a=algorithm, l=nlanes, n=n: digests_differ(image, f, a, l, n)
                    for nbytes in (16, 24) if not algorithm.is_counted and algorithm in samples(algorithms) else ():
                        if nbytes < algorithm.digest_nbytes:
                            yield f"{function}, {algorithm.name} cut to {nbytes} bytes, {nlanes}", \
                                lambda image, f=function, a=algorithm, l=nlanes, n=nbytes: digests_differ(
                                    image, f, a, l, l, n)


def final_state(algorithm, state, blocks, compress, nbytes):
    for i, block in enumerate(blocks):
        if algorithm.is_counted and i == len(blocks) - 1:
            state = last_of(algorithm.body, state, nbytes)
        state = compress(algorithm.body, state, block)
    return state


def tree_node(algorithm, state, node, compress):
    """The state after a chunk, which is bytes, or a node of two chaining values, which is words."""
    is_chunk = state[11] & CHUNK_START
    blocks = blocks_of(algorithm, padded(algorithm, node)) if is_chunk else [node]
    return final_state(algorithm, state, blocks, compress, len(node) if is_chunk else algorithm.block_nbytes)


def blocks_of(algorithm, values):
    every, n = words_of(STANDARDS[algorithm.body], values), algorithm.block_nbytes // algorithm.word_nbytes
    return [every[i : i + n] for i in range(0, len(every), n)]


def uninterpreted(body, state, block):
    """A block function of which nothing is known but that equal arguments have equal results."""
    key = (body, tuple(state), tuple(block))
    after = [variable((key, i), STANDARDS[body].bits) for i in range(len(state))]
    # BLAKE3: the driver reads what is beside the chaining value, which the block function leaves, but for CHUNK_START.
    return [*after[:8], *state[8:11], state[11] & ~CHUNK_START, state[12]] if body == "blake3" else after


LONG = 1 << 46  # messages from here on are so long that only their endings are in memory


def advanced(algorithm, state, address, nblocks, runs):
    """The state after blocks of a long message. Runs that follow each other are one run."""
    origin, begin, n = runs.get(tuple(state), (tuple(state), address, 0))
    if begin + n * algorithm.block_nbytes != address:
        origin, begin, n = tuple(state), address, 0
    key = origin, begin, n + nblocks
    after = [variable((algorithm.body, *key, i), 8 * algorithm.word_nbytes) for i in range(len(state))]
    runs[tuple(after)] = key
    return after


def records(kernel, image, algorithm, runs):
    """The hooks for a kernel: block functions of which nothing is known. runs: those of long messages."""
    standard, argument = STANDARDS[kernel.body], image.isa.argument
    n, nlanes = standard.bits // 8, kernel.nlanes
    nwords = algorithm.block_nbytes // n

    def advance(m, state, block_of, nblocks, messages=0):
        for lane, words in enumerate(states_at(m, kernel.body, nlanes, state)):
            at = messages and m.load(messages + lane * image.word_nbytes, image.word_nbytes)
            if at >= LONG and not m.has(at):
                words = advanced(algorithm, words, at, nblocks, runs)
            elif nblocks > 1 << 20:
                raise Fault(f"{nblocks} blocks of a message that has fewer")
            else:
                for nth in range(nblocks):
                    words = uninterpreted(kernel.body, words, block_of(lane, nth))
            for i, word in enumerate(words):
                m.store(state + (i * nlanes + lane) * n, n, word)

    def blocks(m):
        state, messages, nblocks = (argument(m, i) for i in range(3))
        if cut(argument(m, 3), 32) != algorithm.block_nbytes:
            raise Fault("another size of a block")

        def block(lane, nth):
            at = m.load(messages + lane * image.word_nbytes, image.word_nbytes) + nth * nwords * n
            return in_memory(standard, [m.load(at + i * n, n) for i in range(nwords)])

        advance(m, state, block, nblocks, messages)

    def scheduled(m):
        state, schedule = argument(m, 0), argument(m, 1)
        w = Arithmetic(standard.bits)
        given = [m.load(schedule + i * n, n) for i in range(len(standard.k))]
        block = [w.add(x, -k) for x, k in zip(given[:16], standard.k)]
        if given != [w.add(x, k) for x, k in zip(standard.words(w, block), standard.k)]:
            raise Fault("a schedule of no block")
        advance(m, state, lambda lane, nth: block, 1)

    return {kernel.blocks: blocks} | ({kernel.scheduled: scheduled} if kernel.scheduled else {})


def driver_differs(image, kernels, algorithm, isas, lengths, whole=None, few=False):
    """hl_hash_many with these instruction sets, or all. Each digest must be that of the message's own blocks in order,
    whatever the block functions are: they only record. With `whole`, a kernel that hashes whole messages from memory to
    digest, hl_hash_many_with that kernel, whose functions are the core's own; messages have equal bytes if their
    numbers are equal modulo the number of its lanes. With `few`, all functions are the core's own, and hl_hash_many
    must come to `whole`, if given."""
    if (few or whole is not None) and algorithm.is_sponge:
        forget()  # halves that these messages have in common with others may be renamed, the words not
    m = machine(image)
    if isas:
        m.hooks[image.symbols["hli_detect"]] = lambda m: image.isa.answer(m, FULL[32])
        # Whatever is chosen, it clears all that the CPU has.
        m.hooks[image.symbols["hli_clear_vectors"]] = lambda m: None
    entered, runs = [], {}
    if whole is None and not few:
        for kernel in kernels:
            if kernel.body == algorithm.body:
                m.hooks |= records(kernel, image, algorithm, runs)
        for name in ("hli_whole_of", "hli_choose_whole", "hli_whole_nblocks"):  # there are none
            if name in image.symbols:
                m.hooks[image.symbols[name]] = lambda m: image.isa.answer(m, 0)
    elif whole is not None:
        m.hooks[whole.whole] = lambda m: entered.append(True) or True
    if isas and returned(m, "hl_restrict", isas):
        raise Fault("hl_restrict")
    # The memory holds only the last bytes of a long message, those behind its whole blocks.
    begins = [n - algorithm.is_counted - (n - algorithm.is_counted) % algorithm.block_nbytes if n >= 1 << 32 else 0
              for n in lengths]
    messages = [message_bytes(i if whole is None else i % whole.nlanes, n - begin)
                for i, (n, begin) in enumerate(zip(lengths, begins))]
    slices = []
    for i, (n, begin, message) in enumerate(zip(lengths, begins, messages)):
        at = (i + 1) * LONG + 64 + i % 5 if begin else m.bytes(message, 64, i % 5 == 0)
        for j, byte in enumerate(message if begin else ()):
            m.put(at + begin + j, byte)
        slices += [at, n]
    # The standard runs first: it renames words.
    known, right = {}, []
    for i, message in enumerate(messages):
        key = (tuple(message), begins[i])
        if key not in known:
            blocks = blocks_of(algorithm, padded(algorithm, message, begins[i]))
            begin = advanced(algorithm, algorithm.iv, slices[2 * i], begins[i] // algorithm.block_nbytes,
                             runs) if begins[i] else algorithm.iv
            compress = compressed if few or whole is not None else uninterpreted
            if algorithm.is_tree:
                last = blake3_root(algorithm.iv, message,
                                   lambda state, node: tree_node(algorithm, state, node, compress))
            else:
                last = final_state(algorithm, begin, blocks, compress, lengths[i])
            known[key] = bytes_of(algorithm, last)
        right.append(known[key])
    out = m.new(algorithm.digest_nbytes * len(lengths))
    arguments = algorithm.number, m.words(slices, image.word_nbytes), len(lengths), out
    status = (returned(m, "hl_hash_many", *arguments) if whole is None or few else
              returned(m, "hl_hash_many_with", whole.address, *arguments))
    if status & FULL[32]:
        raise Fault("hl_hash_many")
    if whole is not None and not entered:
        raise Fault("was not called")
    for i, digest in enumerate(right):
        at = out + i * algorithm.digest_nbytes
        if [m.load(at + j, 1) for j in range(algorithm.digest_nbytes)] != digest:
            return True, m.executed
    return of_isas(image, isas, (False, m.executed))


def longest_of(algorithm, nblocks):
    """The longest message of one block, of two, ..."""
    least = 0 if algorithm.is_counted else 1 if algorithm.is_sponge else 1 + algorithm.block_nbytes // 8
    return [n * algorithm.block_nbytes - least for n in range(1, nblocks + 1)]


def runs_of_whole(image, kernels, algorithms, every):
    """Messages of one length, and of several lengths that take equally many blocks."""
    some = samples(algorithms)
    for kernel in kernels:
        for algorithm in algorithms if kernel.whole else ():
            if algorithm.body != kernel.body:
                continue
            block = algorithm.block_nbytes
            most = returned(machine(image), "hli_whole_nblocks", kernel.isa, algorithm.address) & FULL[32]
            longest = longest_of(algorithm, most)
            alike = {0, block // 2, block} if algorithm in some else {block // 2}
            mixed = {longest[min(most, 3) - 1]} if algorithm in some else set()
            if every:
                alike, mixed = {*range(longest[1] + 1), *longest}, set(longest)
            if kernel.nlanes == 1:  # one that is left of 17, as others alone go to the block function; and nodes
                for n in sorted(alike):
                    yield f"whole messages of {kernel.name}, {algorithm.name}, {n} bytes", \
                        lambda image, k=kernel, a=algorithm, n=[n] * 17: driver_differs(image, kernels, a, k.isa, n, k,
                                                                                       few=True)
                alike, mixed = {block}, set()
            for n, spread in [(n, 0) for n in sorted(alike)] + [(n, 3) for n in sorted(mixed)]:
                lengths = [n - i % kernel.nlanes % (spread + 1) * block // 4 for i in range(112)]
                yield f"whole messages of {kernel.name}, {algorithm.name}, {lengths[-1]} to {n} bytes", \
                    lambda image, k=kernel, a=algorithm, n=lengths: driver_differs(image, kernels, a, k.isa, n, k)


def runs_of_few(kernels, algorithms, every, seed=0):
    """Few messages of equally many blocks, which go in groups; of a sponge also those that go one after the other or in
    the lanes of one kernel."""
    chance, some = random.Random(2 + seed), samples(algorithms)
    for algorithm in (x for x in some if x.is_sponge):
        isas = sorted({k.isa for k in kernels if k.body == algorithm.body})
        for isa in isas if every else chance.sample(isas, min(2, len(isas))):
            for count in range(2, 5) if every else (chance.choice((2, 3, 4)),):
                most = chance.choice((algorithm.block_nbytes - 1, 2 * algorithm.block_nbytes - 1))
                lengths = [most - i for i in range(count)]
                yield f"hl_hash_many, {algorithm.name}, {count} messages of {most} bytes", \
                    lambda image, a=algorithm, i=isa, n=lengths: driver_differs(image, kernels, a, i, n, few=True)
    for algorithm in algorithms:
        of_body = [k for k in kernels if k.body == algorithm.body]
        plain = functools.reduce(operator.or_, (k.isa for k in of_body if k.name.endswith("_scalar")))
        with_whole = sorted({k.isa for k in of_body if k.whole})
        longest = longest_of(algorithm, 2)
        for isa in with_whole if algorithm in some else ():
            for count in range(2, 16) if every else chance.sample(range(2, 16), 2):
                most, spread = chance.choice((*longest, algorithm.block_nbytes)), chance.choice((1, 5))
                lengths = [most - i % spread for i in range(count)]
                yield f"hl_hash_many, {algorithm.name}, {count} messages of {most} bytes in groups", \
                    lambda image, a=algorithm, i=isa | plain, n=lengths: driver_differs(image, kernels, a, i, n,
                                                                                       few=True)


def runs_of_driver(kernels, algorithms, every, seed=0):
    """Random numbers of messages of random lengths."""
    chance, some = random.Random(1 + seed), samples(algorithms)
    for algorithm in algorithms:
        isas = sorted({k.isa for k in kernels if k.body == algorithm.body})
        for isa in isas if every or algorithm in some else isas[-1:]:
            for count in (1, 2, 5, 20, 130) if every else (chance.choice((1, 3, 9, 20)),):
                of_trees = (1024, 1025, 4096, chance.randrange(6000)) if algorithm.is_tree else ()
                lengths = [chance.choice((chance.randrange(300), chance.randrange(20), 64, 128, 400, *of_trees))
                           for _ in range(count)]
                yield f"hl_hash_many, {algorithm.name}, {count} messages", \
                    lambda image, a=algorithm, i=isa, n=lengths: driver_differs(image, kernels, a, i, n)
        # A tree calls kernels for each chunk, four million times for 4 GiB.
        if algorithm.pointer_nbytes == 4 or algorithm.is_tree:
            continue
        # Longer than 4 GiB: alone, all, and beside others.
        long = [(1 << 32) + 77, (1 << 45) - 1, (5 << 32) + 8 * algorithm.block_nbytes, (1 << 32) - 1 + (1 << 38)]
        for lengths in (long[:1], long, [300, long[3], 20, *[64] * 20, long[0]]) if every or algorithm.name in (
                "sha256", "sha512") or algorithm.is_sponge and algorithm in some else ():
            yield f"hl_hash_many, {algorithm.name}, lengths {lengths}", \
                lambda image, a=algorithm, i=isas[-1], n=lengths: driver_differs(image, kernels, a, i, n)


# ---- Mutants --------------------------------------------------------------------------------------------------------

def place_of(text, old):
    """Where a text first is in what the C library compiles: not in branches of HLI_SMALL, which Go's text has."""
    branches, at, small = [], 0, []
    for line in text.splitlines(keepends=True):
        directive = re.match(r"# *(if\w*|else|elif|endif)\b(.*)", line)
        if directive and directive[1].startswith("if"):
            branches.append("HLI_SMALL" in directive[2] and "!HLI_SMALL" not in directive[2])
        elif directive and directive[1] == "endif":
            branches.pop()
        elif directive:
            branches[-1] = False
        small += [at] * any(branches)
        at += len(line)
    begins = [found.start() for found in re.finditer(re.escape(old), text)]
    return next((place for place in begins if text.rfind("\n", 0, place) + 1 not in small), None)


def changed_core(folder, file, old, new):
    """A copy of the core with one text replaced."""
    core = folder / "core"
    shutil.copytree(CORE / "src", core / "src", dirs_exist_ok=True)
    shutil.copytree(CORE / "include", core / "include", dirs_exist_ok=True)
    text = (CORE / "src" / file).read_text()
    place = place_of(text, old)
    if place is None:
        sys.exit(f"prove.py: {file} no longer has the text of a mutant: {old}")
    (core / "src" / file).write_text(text[:place] + new + text[place + len(old):])
    return core


def target_of(source, targets):
    """A target that has this file, or None. Two files are empty for x86-64."""
    fit = [t for t in targets if CORE / "src" / source in t.sources]
    fit = [t for t in fit if t.name == "i686"] if re.search("/sha512_(sse2|avx512vl)", source) else fit
    return fit[0] if fit else None


def moved(kernel, image, was):
    """The kernel in another image."""
    other = copy.copy(kernel)
    for field in ("blocks", "scheduled", "words", "chain"):
        address = getattr(kernel, field)
        setattr(other, field, image.symbols.get(was[address]) if address else 0)
    return other if other.blocks else None


def changed_kernels(targets, folder, source, *change):
    """The program of a changed file, and the kernels in it; None if there is no target for it."""
    target = target_of(source, targets)
    if target is None:
        return None
    core, mutant = changed_core(folder, *change), folder / "mutant"
    mutant.mkdir(exist_ok=True)
    files = {source, "alg/constants.c", "edges.c"} | ({"generic/scalar.c"} if source == "alg/constants.c" else set())
    image = target.link([target.object(core, core / "src" / x, mutant) for x in sorted(files)], mutant)
    was = {address: name for name, address in target.image.symbols.items()}
    kernels = [k for k in (moved(k, image, was) for k in target.kernels) if k]
    if not kernels:
        sys.exit(f"prove.py: {source} has no kernel")
    return image, kernels


def kernel_mutant(targets, folder, source, *change):
    """Whether no proof of a kernel notices a change."""
    changed = changed_kernels(targets, folder, source, *change)
    if changed is None:
        return None
    image, kernels = changed
    # The body that a file is named after comes first.
    kernels.sort(key=lambda k: (k.body[:4] not in change[0], k.nlanes))
    # Short runs first, of all kernels.
    runs = [(not run[0].startswith(("scheduled of", "words of")), nth, run)
            for k in kernels for nth, run in enumerate(runs_of_kernel(k)) if nth < 4]
    runs += [(False, 0, (body, lambda image, body=body: schedule_differs(image, body)))
             for body in BODIES if f"hli_{body}_schedule_scalar" in image.symbols]
    return not any(unproved(image, [run], set()) for *_, run in sorted(runs, key=lambda x: x[:2]))


def chain_mutant(targets, folder, source, *change):
    changed = changed_kernels(targets, folder, source, *change)
    if changed is None:
        return None
    image, kernels = changed
    kernels.sort(key=lambda k: (k.body[:4] not in change[0], k.nlanes))
    return not any(unproved(image, [run], set()) for k in kernels for run in runs_of_chains(k))


@contextlib.contextmanager
def another(file, old, new):
    """A line of the prover is another one: the functions that it changes have other code for a while."""
    module = sys.modules[__name__ if file == "prove.py" else file[:-3]]
    text, changed = (HERE / file).read_text(), types.ModuleType("changed")
    changed.__file__ = module.__file__
    exec(compile(text.replace(old, new, 1), file, "exec"), changed.__dict__)
    pairs = [(getattr(of, name), x) for of, now in ((module, changed), *(
                 (getattr(module, name), x) for name, x in vars(changed).items() if type(x) is type))
             for name, x in vars(now).items() if type(x) is types.FunctionType]
    was = [f.__code__ for f, _ in pairs]
    for f, g in pairs:
        f.__code__ = g.__code__
    try:
        yield
    finally:
        for f, code in zip((f for f, _ in pairs), was):
            f.__code__ = code


def guard_mutant(targets, folder, name, source, file, old, new, *guard):
    """Whether a change passes, or not one guard alone notices it."""
    changed = changed_kernels(targets, folder, source, file, old, new)
    if changed is None:
        return None
    image, kernels = changed
    runs = [next(runs_of_kernel(kernel)) for kernel in kernels if kernel.name == name]
    noticed = unproved(image, runs, set())
    forget()
    with another(*guard):
        return not noticed or bool(unproved(image, runs, set()))


def caller_mutant(targets, folder, name, kernel, *texts):
    """Whether a kernel is proved that does something more before it returns."""
    target = next((t for t in targets if t.name == name), None)
    if target is None:
        return None
    kernel = next(k for k in target.kernels if k.name == kernel)
    image, end = copy.copy(target.image), min(a for a in target.image.symbols.values() if a > kernel.blocks)
    lines = {pc: text for pc, text in image.lines.items() if kernel.blocks <= pc < end}
    more = {}
    for pc, last in lines.items():
        if re.match(r"ret(urn)?\b", last):
            places = [pc, *range(-len(more) - len(texts), -len(more))]
            more |= dict(zip(places, [*texts, last]))
            image.next = {**image.next, **dict(zip(places, [*places[1:], None]))}
    image.lines, image.compiled = {**lines, **more}, {}
    return not unproved(image, [next(runs_of_kernel(kernel))], set())


def fillers_differ(image):
    """Instructions that fill, and do something in the model."""
    wrong = []
    for text in FILLERS.get(image.word_nbytes, "") if image.isa is x86 else ():
        m = machine(image)
        was = dict(m.r)
        try:
            done = x86.instruction(text, None)(m)
        except (Fault, ArithmeticError, LookupError, TypeError, ValueError) as e:
            done = repr(e)
        if done is not None or m.r != was:
            wrong.append(f"does something: {text}: {done}")
    return wrong


def edge_mutant(targets, folder, source, *change):
    target, core, mutant = targets[0], changed_core(folder, *change), folder / "mutant"
    mutant.mkdir(exist_ok=True)
    changed = target.object(core, core / "src" / source, mutant)
    image = target.link([changed if x.name == changed.name else x for x in target.objects], mutant)
    kernels, algorithms = kernels_of(image), algorithms_of(image)
    runs = [*runs_of_driver(kernels, algorithms, False), *runs_of_few(kernels, algorithms, False)]
    if change not in (x[1:] for x in BLIND_EDGE_MUTANTS):
        runs = [*runs_of_edges(image, algorithms, False), *runs_of_driver(kernels, algorithms, True)]
    # Those that can notice the change first.
    of_source = "hli_" if source == "edges.c" else Path(source).stem
    runs.sort(key=lambda run: (of_source not in run[0], ("in groups" in run[0]) != ("columns" in change[1]),
                               "lengths" not in run[0]))
    return not any(unproved(image, [run], set()) for run in runs)


def emulated_mutant(targets, folder, source, *change):
    target, core, mutant = targets[0], changed_core(folder, *change), folder / "mutant"
    mutant.mkdir(exist_ok=True)
    changed = target.object(core, core / "src" / source, mutant)
    image = target.link([changed if x.name == changed.name else x for x in target.objects], mutant)
    isas = {k.isa for k in target.kernels if k.name.endswith("_avx512")}
    if not isas:
        return None
    algorithms = [a for a in algorithms_of(image) if (a.is_xof if source == "lanes.c" else a.name == "sha256")][:1]
    runs = emulate.runs(machine, isas.pop(), algorithms, algorithms, False)
    return not any(unproved(image, [run], set()) for run in runs)


def form_mutant(targets, folder, old, new):
    text = (HERE / "words.py").read_text()
    mutant = types.ModuleType("mutant")
    exec(compile(text.replace(old, new, 1), "words.py", "exec"), mutant.__dict__)
    try:
        return not mutant.check(3000)
    except (ArithmeticError, LookupError, RecursionError, ValueError):  # the change leads to nonsense
        return False


def model_mutant(targets, folder, file, old, new, kernels):
    text = (HERE / file).read_text()
    isa = types.ModuleType("mutant")
    exec(compile(text.replace(old, new, 1), file, "exec"), isa.__dict__)
    target = next((t for t in targets if t.isa.__name__ + ".py" == file), None)
    if target is None:
        return None
    image = copy.copy(target.image)
    image.isa, image.compiled = isa, {}
    return not any(unproved(image, [run], set()) for kernel in target.kernels if kernel.name.startswith(kernels)
                   for run in runs_of_kernel(kernel))


def literal_mutants(target, kernel, n):
    """Changes literals of a kernel's instructions, one at a time. Returns those changes that nothing notices."""
    chance, image = random.Random(kernel.name), copy.copy(target.image)
    begin, missed = kernel.blocks, []
    ends = [a for a in target.image.symbols.values() if a > begin]
    places = [pc for pc, text in target.image.lines.items() if begin <= pc < min(ends, default=begin) and
              LITERALS.fullmatch(text.split()[0]) and re.search(r",\s*#?(0x)?[0-9a-f]+$", text)]
    for pc in chance.sample(places, min(10, len(places)))[:n]:
        text = target.image.lines[pc]
        head, _, literal = text.rpartition("," if "#" not in text else "#")
        mark = "," if "#" not in text else "#"
        value = int(literal, 0) ^ 1
        image.lines = {**target.image.lines, pc: f"{head}{mark}{value:#x}" if mark == "," else f"{head}{mark}{value}"}
        image.compiled = {k: v for k, v in target.image.compiled.items() if k != pc}
        if not unproved(image, list(runs_of_kernel(kernel))[:2], set()):
            missed.append(f"{kernel.name}: {text} -> {image.lines[pc]}")
    return min(n, len(places)), missed


# ---- All ------------------------------------------------------------------------------------------------------------


def silicon_failures(targets, executed, folder, every):
    """Holds the models against this CPU and against qemu."""
    failures = []
    here = {"x86_64": "x86-64", "AMD64": "x86-64", "aarch64": "aarch64", "arm64": "aarch64"}.get(os.uname().machine)
    try:
        features = re.search(r"^flags\s*:(.*)", Path("/proc/cpuinfo").read_text(), re.M)[1].split()
    except (OSError, TypeError):
        features = []
    for target in (t for t in targets if t.isa is wasm):
        node = shutil.which("node")
        if node is None:
            print(f"SKIPPED: {target.name}: its instructions cannot be run here: node is not installed")
            failures += ["instructions were to run"] * bool(os.environ.get("HASHLOOM_REQUIRE"))
            continue
        nprograms = 4000 if every else 400
        n, wrong = engine.checked(node, folder, nprograms)
        failures += [f"{target.name}, not as modelled: {x}" for x in wrong]
        print(f"{target.name}: {n} forms of instructions are as modelled, by node, alone and in {nprograms} random "
              "programs")
    for target, models in ((t, {"x86-64": silicon.X86(), "aarch64": silicon.A64()}.get(t.name)) for t in targets):
        if models is None:
            continue
        runner = [] if target.name == here else QEMU if target.isa is a64 else None
        if runner is None or runner and shutil.which(runner[0]) is None:
            print(f"SKIPPED: {target.name}: its instructions cannot be run here")
            failures += ["instructions were to run"] * bool(os.environ.get("HASHLOOM_REQUIRE"))
            continue
        n, lacking, wrong = silicon.checked(models, executed[models.isa], target.cc, runner, features, folder)
        forms = silicon.forms_of(models, executed[models.isa])
        run = [x for x in forms if x not in lacking]
        nprograms, more = silicon.programs_checked(models, run, target.cc, runner, features, folder,
                                                   4000 if every else 400)
        wrong += more
        if target.isa is x86:
            wrong += models.misjudged(forms, target.tool("as"), folder)
        failures += [f"{target.name}, not as modelled: {x}" for x in wrong]
        lacking = [x for x in lacking if not x.startswith("vsha512")]  # few CPUs have these
        if lacking and (runner or {"avx512", "sha"} <= set(os.environ.get("HASHLOOM_EXPECT", "").split(","))):
            failures.append(f"{target.name}: this CPU lacks {', '.join(lacking)}")
        print(f"{target.name}: {len(run)} forms of instructions are as modelled, by "
              f"{'qemu' if runner else 'this CPU'}, alone and in {nprograms} random programs" +
              f"; SKIPPED: {n - len(run)} that it lacks" * (n > len(run)))
    return failures


def main():
    options = argparse.ArgumentParser(description="Proves the core's machine code; the file's beginning says how.")
    options.add_argument("--all", action="store_true")
    options.add_argument("--share", type=int, default=1)
    options.add_argument("--body", choices=BODIES)
    options.add_argument("files", nargs="*")
    options = options.parse_args()
    every = options.all
    gc.disable()  # nothing made here is a cycle
    failures = check() + words.check(20000 if every else 3000) + stale(CORE / "src", HERE)
    if options.files:
        failures += files_proved(options.files, options.body)
        for failure in failures:
            print(f"FAILED: {failure}")
        return bool(failures)
    with tempfile.TemporaryDirectory() as name:
        folder, targets, executed = Path(name), [], {x86: set(), a64: set(), wasm: set()}
        for target in TARGETS if options.share == 1 else [TARGETS[0], TARGETS[1 + SEED % 3]]:
            why = target.why_not()
            if why:
                print(f"SKIPPED: {target.name}: {why}")
                failures += [f"{target.name} was to be proved"] * bool(os.environ.get("HASHLOOM_REQUIRE"))
                continue
            target.body = options.body
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                target.objects = list(pool.map(lambda source, t=target: t.object(CORE, source, folder),
                                               target.sources))
            target.image = target.link(target.objects, folder)
            failures += [f"{target.name}: {x}" for x in fillers_differ(target.image)]
            target.kernels = [k for k in kernels_of(target.image) if options.body in (None, k.body)]
            if not target.kernels:
                failures += [f"{target.name}: no kernel in the program"] * (not options.body)
                continue
            alike = collections.defaultdict(list)
            for kernel in target.kernels:
                alike[kernel.isa if len(SIZES[kernel.body]) == 1 else kernel.body].append(kernel)
            target.sample = [copy.copy(kernel) for key, kernels in alike.items()
                             for kernel in sampled(kernels, options.share, f"{target.name} {key}")]
            for kernel in target.sample:
                sizes = SIZES[kernel.body]
                kernel.sizes = sampled(sizes, min(options.share, len(sizes)), kernel.name)
            target.algorithms = algorithms_of(target.image) if target.has_table() and not options.body else []
            if target.algorithms and initial_values_of(target.algorithms) != initial_values():
                failures.append(f"{target.name}: initial values")
            failures += [f"{target.name}: {a.name} is another sponge than the standard's" for a in target.algorithms
                         if a.is_sponge and ((a.block_nbytes, a.suffix, a.digest_nbytes) != sponge_named(a.name) or
                                             any(a.iv))]
            targets.append(target)
        # The longest first.
        proofs = [(what, target, options.body) for target in targets for what in ("kernels", "chains")
                  if what == "kernels" or options.body in CHAINS] if options.body else [
            ("chains", target, body) for body in CHAINS for target in targets] + [
            ("whole", target, body) for target in targets if target.algorithms for body in BODIES] + [
            ("kernels", target, body) for body in BODIES for target in targets] + [
            (what, target, None) for target in targets if target.algorithms for what in ("edges", "driver", "emulated")]
        counts = collections.Counter()

        def proved(proof):
            what, target, body = proof
            forget()
            texts, runs = set(), runs_of(what, target, body, every)
            if options.share > 1 and what != "kernels":
                runs = sampled(runs, options.share, f"{what} {body}")
            return unproved(target.image, runs, texts), texts, len(runs)

        for (what, target, body), (wrong, texts, n) in zip(proofs, side_by_side(proved, proofs)):
            executed[target.isa] |= texts
            counts[what, target.name] += n
            failures += [f"{target.name}: {x}" for x in wrong]
        for target in targets:
            if not any(x.startswith(target.name) for x in failures):
                print(f"{target.name}: {len(target.sample)} of {len(target.kernels)} kernels are their standards, for "
                      "every state, message and number of blocks")
                if counts["chains", target.name]:
                    print(f"{target.name}: {counts['chains', target.name]} chains of hashes, for every number of steps")
                if target.algorithms:
                    print(f"{target.name}: padding and digests of {counts['edges', target.name]} shapes, "
                          f"{counts['whole', target.name]} calls for whole messages and "
                          f"{counts['driver', target.name]} of hl_hash_many, for all their bytes")
                if counts["emulated", target.name]:
                    print(f"{target.name}: {counts['emulated', target.name]} emulated calls return what Python does")
        failures += silicon_failures(targets, executed, folder, every)
        if failures == [] and not options.body:
            failures += unnoticed(targets, folder, every, options.share)
    for failure in failures:
        print(f"FAILED: {failure}")
    return bool(failures)


def files_proved(names, body=None):
    """Proves the kernels in files, or those of a body, as they are there. Returns the failures."""
    failures, executed = [], set()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            path = Path(name)
            try:
                data = path.read_bytes()
            except OSError as e:
                failures.append(str(e))
                continue
            header = data[max(data.find(b"\x7fELF"), 0) :][:20]  # of an archive: that of its first object
            of = {62: "x86-64", 183: "aarch64", 3: "i686"}.get(int.from_bytes(header[18:20], "little"))
            target = next((x for x in TARGETS if x.name == of), None)
            if target is None:
                failures.append(f"{name}: no program, library or object for {', '.join(x.name for x in TARGETS)}")
                continue
            why = target.why_not()
            if why:
                print(f"SKIPPED: {name}: {why}")
                failures += [f"{name} was to be proved"] * bool(os.environ.get("HASHLOOM_REQUIRE"))
                continue
            is_linked = data[:4] == b"\x7fELF" and data[16] in (2, 3)
            try:
                target.image = Image(path, target.isa, target.tool("objdump"), "nm", "hli?_") if is_linked else \
                    target.link([path], Path(folder))
            except (struct.error, SystemExit, subprocess.CalledProcessError) as e:
                failures.append(f"{name}: cannot be read as {'a program' if is_linked else 'objects'}: {e}")
                continue
            target.image.features = target.features()
            kernels = [k for k in kernels_of(target.image) if body in (None, k.body)]
            if not kernels:
                failures.append(f"{name}: no kernel, or no symbols")
                continue

            def proved(kernel, image=target.image):
                forget()
                texts = set()
                chains = sampled(runs_of_chains(kernel), 3, kernel.name)
                return unproved(image, [*runs_of_kernel(kernel), *chains], texts), texts

            wrong = []
            for some, texts in side_by_side(proved, kernels):
                wrong += some
                executed |= {(target.name, text) for text in texts}
            print(f"{name}: {len(kernels)} kernels, " + ("all are their standards" if not wrong else "not proved:"))
            failures += [f"{name}: {x}" for x in wrong]
        for target in TARGETS:
            texts = {text for of, text in executed if of == target.name}
            failures += silicon_failures([target], {target.isa: texts}, Path(folder), False) if texts else []
    return failures


def initial_values_of(algorithms):
    return {a.name.replace("-", "_"): a.iv for a in algorithms if not (a.is_sponge or a.body in ("ripemd160", "md5"))}


def runs_of(what, target, body, every):
    if what == "kernels":
        runs = [run for kernel in sorted(target.sample, key=lambda k: k.nlanes) if kernel.body == body
                for run in runs_of_kernel(kernel)]
        has_schedule = target.has_table() and f"hli_{body}_schedule_scalar" in target.image.symbols
        return runs + [(f"schedule of {body}", lambda image: schedule_differs(image, body))] * has_schedule
    if what == "chains":
        runs = [run for kernel in target.kernels if kernel.body == body for run in runs_of_chains(kernel)]
        return runs if every or target.body else sampled(runs, 3, f"{target.name} chains")
    if what == "edges":
        return list(runs_of_edges(target.image, target.algorithms, every))
    if what == "emulated":
        isas = {k.isa for k in target.kernels if k.isa and (every or k.name.endswith("_avx512"))}
        return [run for isa in sorted(isas) for run in emulate.runs(machine, isa, target.algorithms,
                                                                      samples(target.algorithms), every, SEED % 40)]
    if what == "whole":
        return list(runs_of_whole(target.image, [k for k in target.sample if k.body == body], target.algorithms,
                                  every))
    return [*runs_of_few(target.kernels, target.algorithms, every, SEED),
            *runs_of_driver(target.kernels, target.algorithms, every, SEED)]


def unnoticed(targets, folder, every, share):
    failures, part = [], 2 if share == 1 else 4

    def of(n, mutants):
        return mutants if every else random.Random(f"{SEED} {mutants[0]}").sample(mutants, n)

    kinds = [("lines that a proof may be blind to", kernel_mutant, of(len(BLIND_MUTANTS) // part, BLIND_MUTANTS)),
             ("lines around them", edge_mutant,
              of(len(BLIND_EDGE_MUTANTS) // part, BLIND_EDGE_MUTANTS) + of(1, EDGE_MUTANTS)),
             ("returns, of which a caller would notice something", caller_mutant,
              of(len(CALLER_MUTANTS) // part, CALLER_MUTANTS)),
             ("lines that only emulated calls reach", emulated_mutant, of(4 // part, EMULATED_MUTANTS)),
             ("lines that one guard notices", guard_mutant, GUARDS if share == 1 else of(len(GUARDS) // part, GUARDS)),
             ("lines of kernels", kernel_mutant, of(4, KERNEL_MUTANTS)),
             ("lines of chains", chain_mutant, of(4 // part, CHAIN_MUTANTS)),
             ("lines of the normal form", form_mutant, of(4, FORM_MUTANTS)),
             ("models of instructions", model_mutant, of(2, MODEL_MUTANTS))]
    todo = [(what, run, mutant) for what, run, of in kinds for mutant in of]

    def tried(one):
        forget()
        _, run, mutant = one
        with tempfile.TemporaryDirectory(dir=folder) as own:
            return run(targets, Path(own), *mutant)

    results = list(zip(todo, side_by_side(tried, todo)))
    for what, _, _ in kinds:
        of = [(mutant, missed) for (kind, _, mutant), missed in results if kind == what and missed is not None]
        missed = [" ".join(mutant) for mutant, was_missed in of if was_missed]
        print(f"mutants: {len(of) - len(missed)} of {len(of)} changed {what} noticed")
        failures += [f"a mutant that nothing noticed: {x}" for x in missed]
    todo = [(target, kernel) for target in targets
            for kernel in (target.kernels if every else sampled(target.kernels, 24 if share == 1 else 48, target.name))]

    def changed(one):
        forget()
        return literal_mutants(*one, 10 if every else 3)

    results = list(side_by_side(changed, todo))
    n, missed = sum(n for n, _ in results), [x for _, some in results for x in some]
    print(f"mutants: {n - len(missed)} of {n} changed instructions noticed")
    return failures + [f"a mutant that nothing noticed: {x}" for x in missed]


def forget():
    words.reset()
    expected.clear()
    places.clear()


def side_by_side(f, of):
    """f of each, in as many processes as there are CPUs. They have all that this one has."""
    global task
    task = f, of
    # An executor, as a pool would wait for ever for a process that was killed.
    with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("fork")) as pool:
        yield from pool.map(carry_out, range(len(of)))


def carry_out(i):
    f, of = task
    return f(of[i])


if __name__ == "__main__":
    sys.exit(main())
