#!/usr/bin/env python3
"""write.py: writes the core's block functions as WGSL, the language of shaders.

SPDX-License-Identifier: MIT OR Apache-2.0

    tools/wgsl/write.py [--check]

record.c compiles the bodies (core/src/alg/*.lanes.h) over a vocabulary that records. The recorded operations of each
body become one function in rust/hashloom-gpu/src/shaders. --check compares with the committed files instead of writing
them. The files do not depend on the compiler: operations are numbered in the order in which the results need them. CC
names the compiler. Exit status: 0; 1 if a file differs; 2 if something fails.

The bodies are those of core/src/algorithms.def. A body over words of 64 bits, which WGSL lacks, works on pairs
vec2<u32>(low, high). The function takes and returns words of 32 bits all the same, the halves of each pair in the order
that they have in a message. The function of Keccak takes the longest block of its algorithms: shorter ones end with
zeros, which change nothing.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OUT = ROOT / "rust/hashloom-gpu/src/shaders"
sys.path.insert(0, str(HERE.parent))
from algorithms import ALGORITHMS, BODIES  # noqa: E402

# Operations whose WGSL names an operand twice: that operand gets a name.
TWICE = {"ch": [2], "maj": [0, 1], "rol": [0], "shr": [0]}
COLUMNS = 120

ADD_PAIRS = """
fn {name}_add(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> {{
    let low = x.x + y.x;
    return vec2<u32>(low, x.y + y.y + select(0u, 1u, low < x.x));
}}
"""


def literal(number, bits):
    if bits == 32:
        return f"0x{number:08x}u"
    return f"vec2<u32>(0x{number & 0xffffffff:08x}u, 0x{number >> 32:08x}u)"


def rotated(x, n):
    """x is a pair; n from 1 to 63, without 32."""
    low, high = (f"{x}.x", f"{x}.y") if n < 32 else (f"{x}.y", f"{x}.x")
    n %= 32
    return f"vec2<u32>(({low} << {n}u) | ({high} >> {32 - n}u), ({high} << {n}u) | ({low} >> {32 - n}u))"


def expression(operation, operands, body):
    """Returns the WGSL of an operation; its operands are WGSL."""
    bits = 8 * body.word_nbytes
    x, y, z = (list(operands) + [None, None, None])[:3]
    if operation == "add":
        return f"{body.name}_add({x}, {y})" if bits == 64 else f"({x} + {y})"
    if operation == "rol":
        return rotated(x, int(y)) if bits == 64 else f"(({x} << {y}u) | ({x} >> {32 - int(y)}u))"
    if operation == "shr":
        if bits == 32:
            return f"({x} >> {y}u)"
        return f"vec2<u32>(({x}.x >> {y}u) | ({x}.y << {32 - int(y)}u), {x}.y >> {y}u)"
    return {
        "xor": f"({x} ^ {y})",
        "xor3": f"({x} ^ {y} ^ {z})",
        "chi": f"({x} ^ (~{y} & {z}))",
        "ch": f"((({y} ^ {z}) & {x}) ^ {z})",
        "maj": f"(({x} & {y}) | ({z} & ({x} | {y})))",
        "orn_xor": f"(({x} | ~{y}) ^ {z})",
    }[operation]


def read(text):
    """Returns the operations by number, the numbers of the new state's words, and the byte order of messages."""
    operations, outs, big_endian = {}, {}, None
    for line in text.splitlines():
        first, *rest = line.split()
        if first == "out":
            outs[int(rest[0])] = int(rest[1])
        elif first == "big_endian":
            big_endian = rest[0] == "1"
        else:
            operations[int(first)] = (rest[0], rest[1:])
    return operations, [outs[i] for i in range(len(outs))], big_endian


def unique(operations, outs):
    """Gives equal operations one number: the state's words are loaded twice."""
    seen, new = {}, {}
    for number, (operation, operands) in sorted(operations.items()):
        if operation not in ("word", "state", "constant"):
            n = 1 if operation in ("rol", "shr") else len(operands)
            operands = [str(new[int(x)]) for x in operands[:n]] + operands[n:]
        new[number] = seen.setdefault((operation, *operands), number)
        operations[number] = (operation, operands)
    return [new[number] for number in outs]


def inputs(operation, operands):
    """Returns the numbers of the operations that this one needs."""
    if operation in ("word", "state", "constant"):
        return []
    return [int(x) for x in (operands[:1] if operation in ("rol", "shr") else operands)]


def in_order(operations, outs):
    """Returns the numbers of the operations that the results need, each after those it needs."""
    order, done = [], set()
    stack = [(number, False) for number in reversed(outs)]
    while stack:
        number, is_ready = stack.pop()
        if is_ready:
            order.append(number)
        elif number not in done:
            done.add(number)
            stack.append((number, True))
            stack += [(x, False) for x in reversed(inputs(*operations[number])) if x not in done]
    return order


def shader(body, block_nbytes, text):
    bits = 8 * body.word_nbytes
    halves = [1, 0] if body.big_endian else [0, 1]  # of words, in the order of a message: the high one is "y"
    file = f"{body.name}.lanes.h"
    if not (ROOT / "core/src/alg" / file).exists():
        file = "sha2.lanes.h"
    operations, outs, big_endian = read(text)
    if big_endian != body.big_endian:
        sys.exit(f"write.py: {body.name} reads messages in another byte order than algorithms.def says")
    outs = unique(operations, outs)
    order = in_order(operations, outs)
    uses = {}
    for number in order:
        operation, operands = operations[number]
        for at, x in enumerate(inputs(operation, operands)):
            uses[x] = uses.get(x, 0) + (2 if at in TWICE.get(operation, []) else 1)
    for x in outs:  # a pair is returned in two halves
        uses[x] = uses.get(x, 0) + bits // 32

    lines, wgsl, count = [], {}, 0
    for number in order:
        operation, operands = operations[number]
        if operation == "constant":
            wgsl[number] = literal(int(operands[0]), bits)
            continue
        if operation in ("word", "state"):
            array, i = "w" if operation == "word" else "h", int(operands[0])
            text = f"{array}[{i}]" if bits == 32 else \
                f"vec2<u32>({array}[{2 * i + halves[0]}], {array}[{2 * i + halves[1]}])"
        else:
            n = len(inputs(operation, operands))
            text = expression(operation, [wgsl[int(x)] for x in operands[:n]] + operands[n:], body)
        # A line that would become too long is two.
        if uses[number] == 1 and len(text) < COLUMNS - 60 or operation in ("word", "state") and bits == 32:
            wgsl[number] = text
        else:
            wgsl[number] = f"v{count}"
            outer = text[0] == "(" and closes_at_end(text)
            lines.append(f"    let v{count} = {text[1:-1] if outer else text};")
            count += 1
    nstate, nblock = body.nwords * bits // 32, block_nbytes // 4
    words = [wgsl[x] for x in outs] if bits == 32 else [f"{wgsl[x]}.{'xy'[half]}" for x in outs for half in halves]
    order_text = "big" if big_endian else "little"
    head = [
        f"// {body.name}.wgsl: the block function of core/src/alg/{file}. Written by tools/wgsl/write.py: do not edit.",
        "//",
        "// SPDX-License-Identifier: MIT OR Apache-2.0",
        "//",
        f"// h: the state; w: the block's words, {order_text}-endian. Returns the new state.",
    ]
    result = [f"    return array<u32, {nstate}>("] + [f"        {word}," for word in words] + ["    );"]
    adds_pairs = bits == 64 and any(operations[number][0] == "add" for number in order)
    helper = ADD_PAIRS.format(name=body.name).splitlines() if adds_pairs else []
    body_lines = [f"fn {body.name}_block(h: array<u32, {nstate}>, w: array<u32, {nblock}>) -> array<u32, {nstate}> {{"]
    return "\n".join(head + helper + [""] + body_lines + lines + result + ["}", ""])


def closes_at_end(text):
    depth = 0
    for i, c in enumerate(text):
        depth += {"(": 1, ")": -1}.get(c, 0)
        if depth == 0:
            return i == len(text) - 1
    return False


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        print("usage: write.py [--check]", file=sys.stderr)
        return 2
    differ = []
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "record")
        compiler = shlex.split(os.environ.get("CC", "cc"))
        flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Wno-unused-function", "-Icore/include", "-Icore/src"]
        files = ["tools/wgsl/record.c", "core/src/alg/constants.c"]
        if subprocess.run(compiler + flags + files + ["-o", program], cwd=ROOT).returncode != 0:
            print("write.py: tools/wgsl/record.c does not compile", file=sys.stderr)
            return 2
        for body in BODIES:
            block_nbytes = max(a.block_nbytes for a in ALGORITHMS if a.body is body)
            command = [program, body.name, str(block_nbytes)]
            recorded = subprocess.run(command, check=True, capture_output=True, text=True)
            text = shader(body, block_nbytes, recorded.stdout)
            path = OUT / f"{body.name}.wgsl"
            if not check:
                path.write_text(text)
            elif not path.exists() or path.read_text() != text:
                differ.append(path.relative_to(ROOT))
    for path in differ:
        print(f"write.py: {path} differs from the core's body: run tools/wgsl/write.py and commit the file")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
