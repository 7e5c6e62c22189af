"""engine.py: holds the models of WebAssembly's instructions against node.

SPDX-License-Identifier: MIT OR Apache-2.0

A program is a function of a module that is written here: it loads its locals, executes instructions on them and stores
them. Each instruction is tried alone with random and extreme contents, and in random programs, in which the models run
with unknown words: what the normal form of a result is for numbers must be what node makes of them. The module is read
again as it was written. Jumps and calls are left out: with a wrong model of them a run ends elsewhere.
"""

import copy
import functools
import itertools
import random
import re
import struct
import subprocess

import silicon
import wasm
import words
from machine import Fault, Machine
from words import FULL

# The state: 256 bytes of memory, which begin with the locals: of 32 and of 64 bits, then vectors. Instructions load and
# store from 128 on.
LOCALS = [(kind, begin + i * n) for kind, begin, n in (("i32", 0, 4), ("i64", 32, 8), ("v128", 64, 16))
          for i in range(4)]
LOCALS_OF = {"i": range(4), "l": range(4, 8), "v": range(8, 12)}
BEGIN = [x for i, (kind, at) in enumerate(LOCALS) for x in ("i32.const 0", f"{kind}.load {at}", f"local.set {i}")]
END = [x for i, (kind, at) in enumerate(LOCALS) for x in ("i32.const 0", f"local.get {i}", f"{kind}.store {at}")]
UNKNOWN = [8, *range(40, 160, 8)]  # words of 64 bits; counts of shifts must be known
NODE = """
const fs = require("fs"), inputs = fs.readFileSync(process.argv[2])
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(process.argv[1])))
const memory = new Uint8Array(exports.memory.buffer, 0, 256)
for (let at = 0; at < inputs.length; at += 260) {
    memory.set(inputs.subarray(at + 4, at + 260))
    try { exports[inputs.readUInt32LE(at)](), inputs[at] = 0 } catch (error) { inputs[at] = 1 }
    inputs.set(memory, at + 4)
}
fs.writeFileSync(process.argv[2], inputs)
"""


def forms(chance):
    """All instructions that have a model, with what may stand in them."""
    for name in wasm.NAMES.values():
        given = [[]]
        if name.endswith(".const"):
            numbers = 0, 1 << 31, FULL[64] << 63, chance.getrandbits(6), chance.getrandbits(128), -1 << 20
            given = [[x & FULL[int(re.search(r"\d+", name)[0])]] for x in numbers]
        elif name == "i8x16.shuffle":
            given = [[i * n + j for i in chance.choices(range(32 // n), k=16 // n) for j in range(n)]
                     for n in (8, 8, 4, 4, 1, 1)]
        elif "_lane" in name:
            n = 128 // int(re.search(r"(\d+)_lane|i(\d+)x", name).expand(r"\1\2"))
            given = [[3, i] if name[0] == "v" else [i] for i in range(n)]
        elif re.search(r"\.(load|store)", name):
            given = [[3]]
        texts = [f"{name} {','.join(map(str, x))}".strip() for x in given]
        yield from (x for x in texts if not name.startswith("memory") and wasm.operation(x))


def leb(x):
    """LEB128 of a number with a sign."""
    return bytes([x & 0x7F]) if -64 <= x < 64 else bytes([x & 0x7F | 0x80]) + leb(x >> 7)


def vector(parts):
    return leb(len(parts)) + b"".join(parts)


def encoded(text):
    name, given = wasm.parsed(text)
    code = next(code for code, x in wasm.NAMES.items() if x == name)
    out = bytes([code]) if code < 256 else bytes([code >> 8]) + leb(code & 255)
    if name == "v128.const":
        return out + given[0].to_bytes(16, "little")
    if name.endswith(".const"):
        half = 1 << int(name[1:3]) - 1
        return out + leb((given[0] ^ half) - half)
    return out + (b"\0" + leb(given[0]) + bytes(given[1:]) if wasm.MEMORY.fullmatch(name) else bytes(given))


def module_of(programs):
    bodies = [b"\3\4\x7f\4\x7e\4\x7b" + b"".join(map(encoded, x)) + b"\x0b" for x in programs]
    names = [leb(len(str(i))) + str(i).encode() for i in range(len(programs))]
    named = vector([leb(i) + x for i, x in enumerate(names)])
    sections = [(1, vector([b"\x60\0\0"])), (3, vector([b"\0" for _ in programs])), (5, b"\1\0\1"),
                (7, vector([b"\6memory\2\0", *(x + b"\0" + leb(i) for i, x in enumerate(names))])),
                (10, vector([leb(len(x)) + x for x in bodies])), (0, b"\4name\1" + leb(len(named)) + named)]
    return b"\0asm\1\0\0\0" + b"".join(bytes([kind]) + leb(len(x)) + x for kind, x in sections)


def step(chance, form):
    """An instruction with its operands, whose result goes into a local."""
    operands, _, result = wasm.operation(form)[0].partition(":")
    gets = [f"local.get {chance.choice(LOCALS_OF[x])}" for x in operands]
    if wasm.MEMORY.fullmatch(form.split()[0]):
        gets[0] = "i32.const 128"
    return [*gets, form, *(f"local.set {chance.choice(LOCALS_OF[x])}" for x in result)]


@functools.cache
def instruction(text):
    return wasm.instruction(text, 0)


def run(m, program):
    for text in program:
        instruction(text)(m)


def begun(state, unknown):
    m = Machine(silicon.NoImage(wasm))
    m.r, m.k, m.v = [0] * 12, dict.fromkeys(LOCALS_OF["l"], 0), dict.fromkeys(LOCALS_OF["v"], (64, (0, 0)))
    m.base, m.areas = 0, [(0, 256)]
    for at in range(0, 256, 8):
        m.store(at, 8, words.variable(("quad", at), 64) if at in unknown else struct.unpack_from("<Q", state, at)[0])
    run(m, BEGIN)
    return m


def alone(chance, form, cases):
    """Adds cases: a program, a state and the machine afterwards, None after a trap."""
    program = step(chance, form)
    for state in states(chance, silicon.NRUNS):
        m = begun(state, ())
        try:
            run(m, [*program, *END])
        except Fault as e:
            if "trap" not in str(e):
                raise
            m = None
        cases.append((program, state, m))


def states(chance, n):
    return [x[:256] for x in itertools.islice(silicon.states(chance, lambda _: 0), n)]


def together(chance, all_forms, cases):
    words.reset()
    (state,), program = states(chance, 1), []
    m = begun(state, UNKNOWN)
    for _ in range(silicon.NINSTRUCTIONS):
        before, more = copy.copy(m), step(chance, chance.choice(all_forms))
        for field in ("r", "k", "v", "cells", "partly"):
            setattr(before, field, copy.copy(getattr(m, field)))
        try:
            run(m, more)
            program += more
        except Fault:  # it cannot take what is unknown, or traps
            m = before
    run(m, END)
    for _ in range(3):
        data = bytearray(state)
        for at in UNKNOWN:
            struct.pack_into("<Q", data, at, chance.choice((chance.getrandbits(64), 0, FULL[64], 1 << 63)))
        inputs = {words.atom(("quad", at), 64): struct.unpack_from("<Q", data, at)[0] for at in UNKNOWN}
        cases.append((program, bytes(data), silicon.known_as(m, inputs)))


def checked(node, folder, nprograms):
    """Returns the number of forms of instructions, and what differs."""
    chance, cases = random.Random(1), []
    all_forms = list(forms(chance))
    for form in all_forms:
        alone(chance, form, cases)
    for _ in range(nprograms):
        together(chance, all_forms, cases)
    programs = {program: i for i, program in enumerate(dict.fromkeys(tuple(program) for program, _, _ in cases))}
    module, inputs = folder / "forms.wasm", folder / "inputs"
    module.write_bytes(module_of([[*BEGIN, *x, *END] for x in programs]))
    inputs.write_bytes(b"".join(struct.pack("<I", programs[tuple(program)]) + state for program, state, _ in cases))
    done = subprocess.run([node, "-e", NODE, module, inputs], capture_output=True, text=True)
    if done.returncode != 0:
        return len(all_forms), [f"node: {done.stderr[:2000]}"]
    after, wrong, read = inputs.read_bytes(), set(), wasm.Module(module, wasm)
    for program, i in programs.items():
        pc = read.symbols[str(i)]
        if any(read.lines[pc := read.next[pc]] != x for x in (*BEGIN, *program, *END)):
            wrong.add(f"{'; '.join(program)}: is read as something else")
    for at, (program, _, m) in zip(range(0, len(after), 260), cases):
        right = [0, *(m.load(i, 1) for i in range(256))] if m else [1]
        if [after[at], *after[at + 4 : at + 260]][: len(right)] != right:
            wrong.add(f"{'; '.join(program)}: another result, or a trap of one of both")
    return len(all_forms), sorted(wrong)
