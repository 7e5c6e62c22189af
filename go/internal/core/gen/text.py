#!/usr/bin/env python3
# text.py: compiles the core to Go assembly.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes c_*_amd64.s and c_*_arm64.s: the core, compiled by gcc, in the words of Go's assembler.

  text.py [--check] [amd64|arm64 ...]      gcc and aarch64-linux-gnu-gcc; CC names another for a single one

Each function of C that Go's calls of the core can reach (hli_go and hli_go_pairs in entry.c, hli_go_slh in slh.c)
becomes a function of Go's without a frame. C's stack is memory that Go gives, and a register that Go does not use
points at that memory (STACK in amd64.py and arm64.py). Go's own stack has nothing but the return addresses, so that Go
finds the callers of every instruction. gcc keeps no register for its caller, as Go does not either. Tables of kernels
lack addresses. A function link_<body> writes those of one block function into one, so that Go's linker leaves out
kernels that a program does not use. An instruction that Go's assembler does not know stands as its bytes, with gcc's
words beside it.

same.py compares what Go's assembler makes of them with what gcc's makes, instruction by instruction.

--check compares with the committed files instead of writing them. They are skipped if a compiler is not
installed or has another version than they name; HASHLOOM_REQUIRE=1 makes that a failure. Exit status: 0; 1 if a file
differs; 2 if something fails."""

import argparse
import concurrent.futures
import glob
import os
import re
import shlex
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../tools"))
import algorithms
import amd64
import arm64
import gcc
from gcc import die, run

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../../../.."))
TARGETS = {"amd64": amd64, "arm64": arm64}
FLAGS = [
    "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-fPIE", "-fvisibility=hidden",
    "-fomit-frame-pointer", "-fno-stack-protector", "-U_FORTIFY_SOURCE", "-fno-asynchronous-unwind-tables",
    "-fno-stack-clash-protection", "-fno-ident",
    # A function that moves the stack pointer does so at its beginning and at its ends; what it calls returns to it.
    "-fno-shrink-wrap", "-fno-optimize-sibling-calls",
    "-fno-jump-tables", "-fno-tree-switch-conversion", "-fno-reorder-blocks-and-partition",
    "-Wno-switch",  # of the block functions that are left out
    "-Icore/include", "-include", "gen/build.h",
]
# The block functions that no package of the Go module has.
NO_PACKAGE = "(BODY|BLOCK_BODY|LANES2?|KERNEL2?)\\((%s)," % "|".join(
    body.constant for body in algorithms.BODIES if not any(a.body is body for a in algorithms.in_go()))
# Rows of registry.def that the text is shorter without. They serve CPUs that have no AVX2, where the module does
# without the core, or gain 3% at most over the kernels that remain.
LEFT_OUT = {
    "amd64": [
        r"KERNEL\(\w+, \w+_blocks_(sse2|avx|avx512vl)_x1,",
        r"LANES\(\w+, \w+, sse2,", r"KERNEL\(KECCAK, keccak_blocks_(sse2|scalar),",
        r"LANES\((SHA1|SHA256|SHA512|RIPEMD160), \w+, scalar,", r"DETECT\(sse2,", NO_PACKAGE,
    ],
    # A CPU with SHA3's instructions has those of SHA-1, SHA-256 and SHA-512 too, which take half of the time or less.
    "arm64": [
        r"LANES\((SHA1|SHA256|SHA512), \w+, sha3,", r"DETECT\(sha3,", r"KERNEL\(KECCAK, keccak_blocks_neon,",
        NO_PACKAGE,
    ],
}
# Rows of registry.def that differ here.
CHANGED = {
    "amd64": [
        # The only kernel of one lane over AVX2 that is never chosen on some CPUs, as one that is left out is faster.
        (r"(KERNEL\(SHA1, sha1_blocks_avx2_x1,.*)HLI_NEVER", r"\g<1>78"),
        # In place of MD5 over SSE2, which is left out: three and four short messages (Zen 3: 9 to 13% less time).
        (r"LANES\(MD5, md5, avx2, 8,",
         "KERNEL2(MD5, md5_blocks_avx2, md5_scheduled_avx2, md5_whole_avx2, avx2, 8, 90,"),
    ],
    "arm64": [],
}
# The tables in registry.c: of kernels, and of what SHA-1 with a verdict has beside them.
KERNELS, DETECTORS = "hli_rows", "hli_detectors"
TABLES = (KERNELS, DETECTORS)


def leave_out(arch, path):
    """Leaves rows out of the registry.def at this path, with the chains of their kernels, and changes others."""
    with open(path) as file:
        lines = re.sub(r",\n {8}", ", ", file.read()).split("\n")  # a row a line
    for pattern in LEFT_OUT[arch]:
        rows = [line for line in lines if re.match(pattern, line)]
        if not rows or not all(re.search(r"\)( /\*.*\*/)?$", row) for row in rows):
            die(f"registry.def has no rows of one line each that match {pattern}")
        lines = [line for line in lines if line not in rows]
    rest = "\n".join(lines)
    for pattern, row in CHANGED[arch]:
        rest, nchanged = re.subn("(?m)^" + pattern, row, rest)
        if nchanged != 1:
            die(f"registry.def has no row that matches {pattern}")
    lines = rest.split("\n")
    kernels = set(re.findall(r"^KERNEL2?\(\w+, (\w+)", rest, re.M))
    kernels |= {f"{name}_{isa}" for name, isa in re.findall(r"^LANES2?\(\w+, (\w+), (\w+)", rest, re.M)}
    lines = [line for line in lines
             if not (chain := re.match(r"CHAIN\(\w+, (\w+),", line)) or chain.group(1) in kernels]
    with open(path, "w") as file:
        file.write("\n".join(lines))


def compile(arch, cc, folder):
    """Returns the units of the core, compiled in this folder."""
    shutil.copytree(os.path.join(ROOT, "core"), os.path.join(folder, "core"), ignore=shutil.ignore_patterns("target"))
    shutil.copytree(HERE, os.path.join(folder, "gen"))
    leave_out(arch, os.path.join(folder, "core/src/registry.def"))
    sources = sorted(glob.glob("core/src/*.c", root_dir=folder) + glob.glob("core/src/*/*.c", root_dir=folder))
    for part in ("registry", "plan", "many", "slh", "blake3"):  # of the files in gen; a block function that is left out
        sources.remove(f"core/src/{part}.c")
    sources += ["gen/entry.c", "gen/slh.c"]

    def unit(source):
        name = re.sub("[/.-]", "_", source.removeprefix("core/src/").removesuffix(".c"))
        target = TARGETS[arch]
        flags = [*FLAGS, *target.FLAGS, *(target.ENTRY_FLAGS if source == "gen/entry.c" else [])]
        run([*cc, *flags, "-S", source, "-o", name + ".gcc.s"], cwd=folder)
        return gcc.Unit(name, source, os.path.join(folder, name + ".gcc.s"))

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(unit, sources))


HEAD = """\
// Code generated by go/internal/core/gen/text.py from {source}. DO NOT EDIT.
// {compiler}
// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build !purego && !noasm

#include "funcdata.h"
#include "textflag.h"
"""
# go vet wants to see a name in Go for every function of assembly.
NAMES = """\
// Code generated by go/internal/core/gen/text.py. DO NOT EDIT.
// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build !purego && !noasm

package core

// Functions of C find their arguments where C has them. Go calls only hli_go, hli_go_pairs and hli_go_slh, by enter,
// enterPairs and enterSLH.
// The functions link_* make the kernels of a block function known to the core.

"""


class Program:
    """All units, and the names of their symbols in Go."""

    def __init__(self, arch, units):
        self.target = TARGETS[arch]
        self.functions, self.data = {}, {}  # those that other units see: their units
        for unit in units:
            self.functions |= {one.name: unit for one in unit.functions.values() if one.is_global}
            self.data |= {one.name: unit for one in unit.data.values() if not one.name.startswith(".L")}

    def place(self, unit, name):
        """Returns the unit and the object that a name in a unit means."""
        name = name.removesuffix("@PLT")
        name = unit.aliases.get(name, name)
        if name in unit.functions:
            return unit, unit.functions[name]
        if name in unit.data:
            return unit, unit.data[name]
        owner = self.functions.get(name) or self.data.get(name) or die(f"{unit.source}: {name} is nowhere")
        return owner, owner.functions.get(name) or owner.data[name]

    def assembly(self, unit, wanted):
        """Returns Go's lines for these functions and constants of a unit, and what they mention.

        Other data that they use comes with them. Constants that other units see stand in their own unit alone."""
        mentioned, data, lines = [], {}, []

        def symbol(name, offset=0):
            owner, found = self.place(unit, name)
            go = re.sub(r"[.$]", "_", found.name.lstrip("."))
            if isinstance(found, gcc.Function):
                mentioned.append((owner, found.name))
                return f"·{go}(SB)" if found.is_global else f"{go}<>(SB)"
            if found.is_global and not found.is_writable and not found.addresses:
                mentioned.append((owner, found.name))
                return f"·{go}{offset:+d}(SB)"
            if owner is not unit and found.is_writable:
                die(f"{unit.source}: {name} is written in two files")
            data.setdefault(found.name, (owner, found))
            return f"{go}<>{offset:+d}(SB)"

        for name in wanted:
            if name in unit.data:
                lines += [""] + self.data_lines(unit, unit, unit.data[name], symbol)
                continue
            function = unit.functions[name]
            lines += ["", *self.target.head(symbol(name), function), *self.target.body(unit, function, symbol)]
        done = set()
        while left := sorted(set(data) - done):
            for name in left:
                done.add(name)
                lines += [""] + self.data_lines(unit, *data[name], symbol)
                if name in TABLES:
                    for body, addresses in self.kernels(unit, name).items():
                        lines += ["", f"TEXT ·link_{body}(SB), NOSPLIT, $0-0"]
                        lines += self.target.store((symbol(name, at), symbol(of)) for at, of in addresses)
        return lines, mentioned

    @staticmethod
    def kernels(unit, name):
        """Returns by block function the places of its kernels in a table, and the kernels."""
        found, body, table = {}, None, unit.data[name].addresses
        if name == DETECTORS:
            return {"sha1dc": [(at, of) for at, (of, _) in sorted(table.items())]}
        for at, (of, _) in sorted(table.items()):
            if of in unit.data:  # the kernel's name, sha1_blocks_avx2, or its instruction set
                text = unit.data[of].contents.decode()
                body = text.split("_")[0] if "_blocks_" in text else body
            else:
                found.setdefault(body, []).append((at, of))
        return found

    @staticmethod
    def data_lines(unit, owner, data, symbol):
        lines = []
        contents = data.contents + bytes(-len(data.contents) % 8)
        if owner is not unit and data.addresses:
            die(f"{unit.source}: {data.name} has addresses and is used in two files")
        is_writable = data.is_writable or data.name in TABLES
        for at in range(0, len(contents), 8):
            number = int.from_bytes(contents[at:at + 8], "little")
            if at in data.addresses and (data.name not in TABLES or data.addresses[at][0] in owner.data):
                lines.append(f"DATA {symbol(data.name, at)}/8, ${symbol(*data.addresses[at])}")
            elif number != 0:
                lines.append(f"DATA {symbol(data.name, at)}/8, $0x{number:x}")
        flags = "NOPTR" if is_writable else "RODATA"
        return lines + [f"GLOBL {symbol(data.name).replace('+0', '')}, {flags}, ${len(contents)}"]


def make(arch, cc):
    """Returns the files: by name, their contents."""
    with tempfile.TemporaryDirectory() as folder:
        units = compile(arch, cc, folder)
        compiler = run([*cc, "--version"]).splitlines()[0]
        program = Program(arch, units)
        entry = program.functions["hli_go"]
        reached, queue = {}, [(program.functions[name], name) for name in ("hli_go", "hli_go_pairs", "hli_go_slh")]
        while queue:
            unit, name = queue.pop()
            if name not in reached.setdefault(unit.name, set()):
                reached[unit.name].add(name)
                queue += program.assembly(unit, [name])[1]
        files = {}
        for unit in units:
            wanted = [name for name in [*unit.functions, *unit.data] if name in reached.get(unit.name, ())]
            if wanted:
                lines, _ = program.assembly(unit, wanted)
                head = HEAD.format(source=unit.source.replace("gen/", "go/internal/core/gen/"), compiler=compiler)
                files[f"c_{unit.name}_{arch}.s"] = head + "\n".join(lines) + "\n"
        names = [name for unit in units for name in unit.functions
                 if name in reached.get(unit.name, ()) and unit.functions[name].is_global]
        names += [f"link_{body}" for table in TABLES for body in program.kernels(entry, table)]
        files[f"c_{arch}.go"] = NAMES + "".join(f"func {name}()\n" for name in sorted(names))
        TARGETS[arch].verify()
        return files


def compare(arch, cc, committed):
    """Returns 0 if the files are what the sources make, 1 if not, -1 if they were not compared."""
    of = committed.get(f"c_api_{arch}.s", "\n// nothing\n").split("\n")[1].removeprefix("// ")
    if shutil.which(cc[0]) is None:
        print(f"skipped: {arch}: not compared: {cc[0]} is not installed (the files are from {of})")
        return -1
    compiler = run([*cc, "--version"]).splitlines()[0]
    if compiler != of:
        print(f"skipped: {arch}: not compared: the files are from {of}, and {cc[0]} is {compiler}")
        return -1
    made = make(arch, cc)
    differing = [name for name in sorted(made.keys() | committed.keys()) if made.get(name) != committed.get(name)]
    if differing:
        print(f"{', '.join(differing)}: not what the sources make: run go/internal/core/gen/text.py {arch}",
              file=sys.stderr)
        return 1
    print(f"{arch}: {len(made)} files are what the sources make ({compiler})")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("archs", nargs="*", metavar="amd64|arm64")
    args = parser.parse_args()
    archs = args.archs or list(TARGETS)
    if not set(archs) <= set(TARGETS):
        parser.error("architectures are " + ", ".join(TARGETS))
    results = []
    for arch in archs:
        cc = shlex.split(os.environ["CC"]) if len(args.archs) == 1 and "CC" in os.environ else [TARGETS[arch].COMPILER]
        place = os.path.normpath(os.path.join(HERE, ".."))
        committed = {}
        for path in glob.glob(os.path.join(place, f"c_*{arch}.*")):
            with open(path) as file:
                committed[os.path.basename(path)] = file.read()
        if args.check:
            results.append(compare(arch, cc, committed))
            continue
        made = make(arch, cc)
        for name in committed.keys() - made.keys():
            os.remove(os.path.join(place, name))
        for name, contents in made.items():
            with open(os.path.join(place, name), "w") as file:
                file.write(contents)
    if 1 in results or (-1 in results and os.environ.get("HASHLOOM_REQUIRE")):
        sys.exit(1)


if __name__ == "__main__":
    main()
