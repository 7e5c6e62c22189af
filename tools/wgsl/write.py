#!/usr/bin/env python3
"""write.py: writes the core's block functions down as lists of operations, from which shaders are made.

SPDX-License-Identifier: MIT OR Apache-2.0

    tools/wgsl/write.py [--check]

record.c compiles the bodies (core/src/alg/*.lanes.h) over a vocabulary that records. The recorded operations of each
body become one file in rust/hashloom-gpu/src/shaders, and graph.rs beside them writes WGSL or CUDA C. --check compares
with the committed files instead of writing them. The files do not depend on the compiler: operations are in the order
in which the results need them. CC names the compiler. Exit status: 0; 1 if a file differs; 2 if something fails.

The bodies are those of core/src/algorithms.def whose algorithms searches take, as no sponge is.
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


def operations_file(body, text):
    file = f"{body.name}.lanes.h"
    if not (ROOT / "core/src/alg" / file).exists():
        file = "sha2.lanes.h"
    operations, outs, big_endian = read(text)
    if big_endian != body.big_endian:
        sys.exit(f"write.py: {body.name} reads messages in another byte order than algorithms.def says")
    outs = unique(operations, outs)
    lines = [
        f"# {body.name}.ops: core/src/alg/{file}, run once. Written by tools/wgsl/write.py: do not edit.",
        "#",
        "# SPDX-License-Identifier: MIT OR Apache-2.0",
        "#",
        "# An operation a line, and the numbers of its operands; the first operation is number 0. Then the new state.",
    ]
    new = {}
    for number in in_order(operations, outs):
        operation, operands = operations[number]
        n = len(inputs(operation, operands))
        operands = [str(new[int(x)]) for x in operands[:n]] + operands[n:]
        new[number] = len(new)
        lines.append(" ".join([operation, *operands]))
    return "\n".join([*lines, " ".join(["out", *(str(new[x]) for x in outs)]), ""])


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
            first = next(a for a in ALGORITHMS if a.body is body)
            if first.ending != "STRENGTHENED":
                continue
            command = [program, body.name, str(first.block_nbytes)]
            recorded = subprocess.run(command, check=True, capture_output=True, text=True)
            text = operations_file(body, recorded.stdout)
            path = OUT / f"{body.name}.ops"
            if not check:
                path.write_text(text)
            elif not path.exists() or path.read_text() != text:
                differ.append(path.relative_to(ROOT))
    for path in differ:
        print(f"write.py: {path} differs from the core's body: run tools/wgsl/write.py and commit the file")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
