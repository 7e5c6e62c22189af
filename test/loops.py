#!/usr/bin/env python3
"""loops.py: the inner loops of kernels, as compilers made them: operations and stack references a turn, with limits.

SPDX-License-Identifier: MIT OR Apache-2.0

    test/loops.py [--all | OBJECT...]

A time depends on the machine that measures it. What a loop holds does not: a state that a compiler keeps on the stack
costs on every CPU, and a loop of more operations than a CPU's micro-op cache is decoded anew each turn.

Without objects, the files of TABLE are compiled by CC, or else by gcc or clang, as HASHLOOM_SEED says; --all: by both.
With objects, those are read; a row that they do not have is passed over. An inner loop is the code from the target of a
backward jump to that jump, if no other such loop is inside. The longest inner loop of a function counts: it is the one
over blocks or rounds; of a function without a loop, which hashes one block, all of it. An operation is an instruction;
stack references are operands relative to the stack pointer.

Exit status: 0 if every loop is within its limits, 1 if one is not, or if a compiled file lacks a row's functions.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CORE = Path(__file__).resolve().parent.parent / "core"

# File, functions, most operations and most stack references a turn. gcc 12 and clang 14, and a little room.
TABLE = [
    # One block of each message. Stack references: the chaining values, and with three and four messages the schedule.
    # The state takes none.
    ("x86/sha.c", r"sha256_blocks_sha_x1", 170, 6),
    ("x86/sha.c", r"sha256_blocks_sha_x2", 350, 12),
    ("x86/sha.c", r"sha256_blocks_sha_x3", 590, 222),
    ("x86/sha.c", r"sha256_blocks_sha_x4", 790, 298),
    ("x86/sha.c", r"sha1_blocks_sha_plain_x1", 235, 40),
    ("x86/sha.c", r"sha1_blocks_sha_plain_x2", 455, 80),
    ("x86/sha.c", r"sha1_blocks_sha_x2", 265, 8),
    ("x86/sha.c", r"sha1_blocks_sha_x3", 560, 280),
    ("x86/sha.c", r"sha1_blocks_sha_x4", 750, 380),
    ("x86/sha.c", r"sha1_blocks_sha_plain_x3", 740, 316),
    ("x86/sha_avx512vl.c", r"sha256_blocks_sha_avx512vl_x[134]", 730, 12),
    # Eight rounds of SHA-2 with their schedule; one block of the others. Haswell to Skylake-X hold 1,536 operations,
    # Zen 2 and 3 hold 4,096.
    ("x86/avx2.c", r"sha256_block", 560, 48),
    ("x86/avx2.c", r"sha512_block", 530, 26),
    ("x86/avx2.c", r"sha1_block", 2400, 300),
    ("x86/avx2.c", r"ripemd160_block", 3200, 340),
    ("x86/avx2.c", r"md5_blocks_avx2", 800, 125),
    ("x86/avx2.c", r"md5_pair_blocks_avx2", 1750, 310),
    ("x86/sse2.c", r"sha(256|512)_blocks_sse2", 800, 48),
    ("x86/sse2.c", r"(sha1|md5|md5_pair)_blocks_sse2", 3200, 340),
]


def inner_loops(instructions):
    """The inner loops of a function. `instructions`: pairs of an address and a text."""
    loops = set()
    for address, text in instructions:
        jump = re.match(r"j\w+\s+(?:0x)?([0-9a-f]+)\b", text)
        if jump and int(jump[1], 16) <= address:
            loops.add((int(jump[1], 16), address))
    for first, last in loops:
        if not any((a, b) != (first, last) and first <= a and b <= last for a, b in loops):
            yield [text for address, text in instructions if first <= address <= last]


def functions_of(path):
    """Names and instructions of the functions of an object."""
    command = ["objdump", "-d", "--no-show-raw-insn", path]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name, body in re.findall(r"^[0-9a-f]+ <([^>]+)>:\n((?:.+\n)*)", text, re.M):
        lines = re.findall(r"^\s*([0-9a-f]+):\t(.*)$", body, re.M)
        yield name, [(int(address, 16), line) for address, line in lines]


def own_name(name):
    """The name of a function in the source."""
    return name.removeprefix("hli_").split(".")[0]


def rows_of(path):
    """For each function of an object that the table names: name, operations, stack references and both limits."""
    for name, instructions in functions_of(path):
        for _, pattern, most_operations, most_references in TABLE:
            if re.fullmatch(pattern, own_name(name)):
                loop = max(inner_loops(instructions), key=len, default=[text for _, text in instructions])
                framed = any(re.match(r"mov\s+%[re]sp,%[re]bp", text) for _, text in instructions)
                stack = r"\(%[re](sp|bp)" if framed else r"\(%[re]sp"
                references = sum(bool(re.search(stack, text)) for text in loop if not text.startswith("lea"))
                yield name, len(loop), references, most_operations, most_references


def compiled(compiler, folder):
    """The files of the table, compiled as core/CMakeLists.txt does."""
    def compile_one(source):
        out = Path(folder) / f"{Path(compiler).name}-{source.replace('/', '-')}.o"
        flags = ["-std=c11", "-O3", "-fPIC"]
        subprocess.run([*compiler.split(), *flags, "-c", CORE / "src" / source, "-o", out], check=True)
        return out

    sources = sorted({row[0] for row in TABLE})
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(zip(sources, pool.map(compile_one, sources)))


def report(title, rows):
    """Prints the rows of an object. Returns whether all are within their limits."""
    all_fit = True
    for name, operations, references, most_operations, most_references in rows:
        fits = 0 < operations <= most_operations and references <= most_references
        all_fit &= fits
        print(f"{title:8} {own_name(name):36} {operations:6} of {most_operations:6} {references:5} of "
              f"{most_references:5}{'' if fits else '   FAILED'}")
    return all_fit


def main():
    if platform.machine() not in ("x86_64", "AMD64"):
        sys.exit(print("SKIPPED: loops: the table has kernels for x86-64 only"))
    print(f"{'':8} {'inner loop of':36} {'operations':>16} {'on the stack':>14}")
    if sys.argv[1:] and sys.argv[1] != "--all":
        return not all([report("", list(rows_of(path))) for path in sys.argv[1:]])
    compilers = [os.environ["CC"]] if "CC" in os.environ else [x for x in ("gcc", "clang") if shutil.which(x)]
    if not compilers:
        sys.exit("loops.py: neither gcc nor clang is installed, and CC is not set")
    if not sys.argv[1:]:
        compilers = [compilers[int(os.environ.get("HASHLOOM_SEED", "1")) % len(compilers)]]
    all_fit = True
    with tempfile.TemporaryDirectory() as folder:
        for compiler in compilers:
            for source, path in compiled(compiler, folder):
                rows = list(rows_of(path))
                all_fit &= report(Path(compiler).name, rows)
                for _, pattern, *_ in [row for row in TABLE if row[0] == source]:
                    if not any(re.fullmatch(pattern, own_name(row[0])) for row in rows):
                        print(f"FAILED: {source}, compiled by {compiler}, has no function {pattern}")
                        all_fit = False
    return not all_fit


if __name__ == "__main__":
    sys.exit(main())
