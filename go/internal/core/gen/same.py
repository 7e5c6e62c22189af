#!/usr/bin/env python3
# same.py: compares the Go assembly of the core with gcc's.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Disassembles what Go's assembler makes of c_*_amd64.s, and what gcc's makes of the text that they come from.

Both must have the same instructions in each function. Allowed are more bytes without effect, the frame pointer that Go
saves in a function that calls others, and loads that do without alignment. For arm64, text.py itself compares the code
of each instruction. It needs Go, gcc and objdump. Exit status: 0; 1 if something differs; 2 if something fails."""

import os
import re
import sys
import tempfile

import amd64
import gcc
import text

PREFIX = "FUNCTION."


def disassemble(path, name_of):
    """Returns the functions of each name (files may have one each), and of a function the instructions by address."""
    # Binutils before 2.41 stumble over SHA-512 instructions (VEX.F2.0F38 CB to CD): these are listed as VPSIGNB to
    # VPSIGND (VEX.66.0F38 08 to 0A), which have the same operands.
    with open(path, "rb") as file:
        code = re.sub(rb"(?s)\xc4\xe2([\x47\x4f\x57\x5f\x67\x6f\x77\x7f])([\xcb-\xcd])([\xc0-\xff])",
                      lambda x: bytes([0xC4, 0xE2, x[1][0] - 2, x[2][0] - 0xC3, x[3][0]]), file.read())
    with open(path, "wb") as file:
        file.write(code)
    listing = gcc.run(["objdump", "-d", "-w", "--no-show-raw-insn", path])
    functions, now = {}, []
    for line in listing.split("\n"):
        if match := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            now = []
            functions.setdefault(name_of(match.group(1)), []).append(now)
        elif match := re.match(r"\s*([0-9a-f]+):\s*(.*)", line):
            now.append((int(match.group(1), 16), re.sub(r"\s+", " ", match.group(2)).strip()))
    return functions


def comparable(instructions):
    """Returns the instructions with jumps to numbers of instructions, and without what does nothing."""
    if [one for _, one in instructions[:2]] == ["push %rbp", "mov %rsp,%rbp"]:  # Go's frame pointer
        following = instructions[3:] + [(0, "")]
        instructions = [(at, "nop" if one == "pop %rbp" and after == "ret" else one)
                        for (at, one), (_, after) in zip(instructions[2:], following)]
    numbers, kept = {}, []
    for at, one in instructions:
        numbers[at] = len(kept)
        if not re.match(r"nop|data16|cs nop|xchg %ax,%ax|int3", one):
            kept.append(one)
    out = []
    for one in kept:
        one = re.sub(r"-?0x[0-9a-f]+\(%rip\)", "(%rip)", one.split(" #")[0].strip())
        one = re.sub(r"vmovdqa(32|64) (?!%zmm\d+,%zmm)(.*%zmm)", r"vmovdqu\1 \2", one)
        if match := re.match(r"(j\w+) ([0-9a-f]+)", one):
            one = f"{match.group(1)} to {numbers.get(int(match.group(2), 16))}"
        elif re.match(r"call [0-9a-f]", one):
            one = "call"  # which function, only the linker knows
        out.append(one)
    return out


def by_gcc(folder):
    """Returns the instructions of each function, in each file that has a function of its name."""
    found = {}
    for unit in text.compile("amd64", [amd64.COMPILER], folder):
        source, made = os.path.join(folder, "same.s"), os.path.join(folder, "same.o")
        with open(source, "w") as file:
            for function in unit.functions.values():
                lines = [line for line in amd64.on_its_stack(function) if not line.startswith(".p2align")]
                file.write("\n".join([f"{PREFIX}{function.name}:", *lines, ""]))
        gcc.run(["as", "--64", "-o", made, source])
        for name, functions in disassemble(made, lambda label: label.removeprefix(PREFIX)).items():
            found.setdefault(re.sub(r"[.$]", "_", name), []).extend(map(comparable, functions))
    return found


def by_go(folder):
    program = os.path.join(folder, "core.test")
    package = os.path.join(text.HERE, "..")
    gcc.run(["go", "test", "-c", "-o", program, "."], cwd=package, env=os.environ | {"GOARCH": "amd64"})
    functions = disassemble(program, lambda name: name.removesuffix(".abi0").split("/internal/core.")[-1])
    return {name: [comparable(one) for one in versions] for name, versions in functions.items()}


def main():
    with tempfile.TemporaryDirectory() as folder:
        wanted, made = by_gcc(folder), by_go(folder)
    same, ninstructions, failed = 0, 0, False
    for name, versions in wanted.items():
        if name not in made:
            continue  # nothing calls it
        for one in made[name]:
            if one in versions:
                same += 1
                ninstructions += len(one)
                continue
            failed = True
            pairs = zip(versions[0], one)
            print(f"{name}: {next(((a, b) for a, b in pairs if a != b), 'more or fewer instructions')}",
                  file=sys.stderr)
    if same < 100:
        print(f"same.py: only {same} functions of the core are in Go's program", file=sys.stderr)
        failed = True
    print(f"{same} functions have the same {ninstructions} instructions")
    sys.exit(failed)


if __name__ == "__main__":
    main()
