#!/usr/bin/env python3
# text.py: compiles the core to Go assembly.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes text_amd64.s and text_arm64.s: the whole freestanding core as one function of raw bytes.

  text.py [--check] [amd64|arm64 ...]      gcc and aarch64-linux-gnu-gcc; CC names another for a single one

The core and entry.c are compiled as always, except for registers and red zones that Go needs (FLAGS), and linked at
address 0 without a relocation left. Tables of addresses become a symbol of their own, which Go's linker relocates, and
so do the few writable bytes (build.h). --check compares with the committed files instead of writing them. A file is
skipped if the compiler is not installed or has another version than the file names; HASHLOOM_REQUIRE=1 makes that a
failure. Exit status: 0; 1 if a file differs; 2 if something fails."""

import argparse
import concurrent.futures
import glob
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../../../.."))
COMMON = [
    "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-fPIE", "-fvisibility=hidden",
    "-fomit-frame-pointer", "-fno-stack-protector", "-U_FORTIFY_SOURCE", "-fno-asynchronous-unwind-tables",
    "-fno-stack-clash-protection", "-fno-ident", "-ffunction-sections", "-fdata-sections",
    # Switches over addresses would become tables that no HLI_TABLE moves.
    "-fno-tree-switch-conversion",
    "-Icore/include", "-include", "gen/build.h",
]
FLAGS = {
    # Go's signal handlers run on a stack of their own, but Windows and debuggers may use the interrupted one.
    "amd64": ["-mno-red-zone", "-fcf-protection=none", "-mtune=generic"],
    # x18: the platform's; x28: Go's g, which signal handlers read. The tiny model has no page addresses (adrp), which
    # would need a text that begins at a page.
    "arm64": ["-mcmodel=tiny", "-ffixed-x18", "-ffixed-x28", "-mbranch-protection=none", "-mno-outline-atomics"],
}
# Addresses of the tables and the words while linking. On amd64 they are so far away that code which uses one of them
# without HLI_TABLE or HLI_WORD (build.h) faults. The tiny model reaches 1 MiB.
PLACES = {"amd64": (0x40000000, 0x60000000), "arm64": (0xc0000, 0xe0000)}
# Rows of registry.def without which the text is half as long. They serve CPUs that have no AVX2, where kernels for SSE2
# remain, or gain 3% at most over the kernels that remain (sha512 over SSE2 is even slower than plain C on AMD).
LEFT_OUT = {
    "amd64": [
        r"ISA\(ssse3,", r"LANES\(\w+, \w+, (ssse3|avx),", r"KERNEL\(\w+, \w+_blocks_(ssse3|avx512vl)_x1,",
        r"LANES\(SHA512, sha512, sse2,",
        r"KERNEL\(KECCAK, keccak_blocks_(sse2|ssse3|avx),",
    ],
    "arm64": [r"KERNEL\(KECCAK, keccak_blocks_neon,"],
}
COMPILER = {"amd64": "gcc", "arm64": "aarch64-linux-gnu-gcc"}
MACHINE = {"amd64": 62, "arm64": 183}
ABSOLUTE = {"amd64": 1, "arm64": 257}  # R_X86_64_64, R_AARCH64_ABS64
# Relocations by distance, which linking has settled for good.
RELATIVE = {
    "amd64": {2, 4},  # PC32, PLT32
    # PREL32, LD_PREL_LO19, ADR_PREL_LO21, TSTBR14, CONDBR19, JUMP26, CALL26
    "arm64": {261, 273, 274, 279, 280, 282, 283},
}


def die(message):
    print(f"text.py: {message}", file=sys.stderr)
    sys.exit(2)


def run(command, folder=ROOT):
    try:
        return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        die(error)


class Elf:
    """Sections of a linked 64-bit little-endian ELF file: address, bytes, relocations (offset, type, value)."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.file = file.read()
        self.machine, = struct.unpack_from("<H", self.file, 18)
        start, = struct.unpack_from("<Q", self.file, 40)
        entry_nbytes, count, names = struct.unpack_from("<HHH", self.file, 58)
        heads = [struct.unpack_from("<IIQQQQIIQQ", self.file, start + i * entry_nbytes) for i in range(count)]
        self.sections, self.relocations, self.symbols = {}, {}, {}
        text = [self.name_at(heads[names][4] + head[0]) for head in heads]
        for name, (_, kind, _, address, offset, nbytes, link, info, _, _) in zip(text, heads):
            if kind == 2:  # SHT_SYMTAB
                symbols = [struct.unpack_from("<IBBHQQ", self.file, offset + i) for i in range(0, nbytes, 24)]
                values = [symbol[4] for symbol in symbols]
                self.symbols = {self.name_at(heads[link][4] + symbol[0]): symbol[4] for symbol in symbols}
        for name, (_, kind, flags, address, offset, nbytes, link, info, _, _) in zip(text, heads):
            if flags & 2:  # SHF_ALLOC
                contents = bytes(nbytes) if kind == 8 else self.file[offset:offset + nbytes]
                self.sections[name] = (address, contents)
            if kind == 4:  # SHT_RELA
                found = [struct.unpack_from("<QQq", self.file, offset + i) for i in range(0, nbytes, 24)]
                self.relocations[text[info]] = [(at, of & 0xffffffff, values[of >> 32] + add) for at, of, add in found]

    def name_at(self, offset):
        return self.file[offset:self.file.index(b"\0", offset)].decode()


def leave_out(arch, path):
    """Leaves rows out of the registry.def at this path."""
    with open(path) as file:
        lines = file.read().split("\n")
    for pattern in LEFT_OUT[arch]:
        rows = [line for line in lines if re.match(pattern, line)]
        if not rows or not all(re.search(r"\)( /\*.*\*/)?$", row) for row in rows):
            die(f"registry.def has no rows of one line each that match {pattern}")
        lines = [line for line in lines if line not in rows]
    with open(path, "w") as file:
        file.write("\n".join(lines))


def link(arch, cc, folder):
    shutil.copytree(os.path.join(ROOT, "core"), os.path.join(folder, "core"), ignore=shutil.ignore_patterns("target"))
    shutil.copytree(HERE, os.path.join(folder, "gen"))
    leave_out(arch, os.path.join(folder, "core/src/registry.def"))
    sources = sorted(glob.glob("core/src/*.c", root_dir=folder) + glob.glob("core/src/*/*.c", root_dir=folder))
    sources.remove("core/src/registry.c")  # part of entry.c
    sources.append("gen/entry.c")
    objects = [source.replace("/", "-") + ".o" for source in sources]

    def compile(source, made):
        run([*cc, *COMMON, *FLAGS[arch], "-c", source, "-o", made], folder)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile, sources, objects))
    ld = run([*cc, "-print-prog-name=ld"]).strip()
    tables, words = PLACES[arch]
    run([ld, "-T", "gen/core.ld", "--entry", "hli_go", "--gc-sections", "--emit-relocs", "--no-relax",
         f"--defsym=tables_place={tables}", f"--defsym=words_place={words}", "-o", "linked", *objects], folder)
    return Elf(os.path.join(folder, "linked"))


def check(arch, elf):
    """Checks that the text needs no relocation and the tables only addresses of the text."""
    if elf.machine != MACHINE[arch]:
        die(f"the compiler made code for machine {elf.machine}, not for {arch}")
    if set(elf.sections) != {".text", ".tables", ".words"}:
        die(f"unexpected sections: {' '.join(elf.sections)}")
    if elf.symbols["hli_go"] != 0:
        die("hli_go is not the first function")
    for at, kind, _ in elf.relocations.get(".text", []):
        if kind not in RELATIVE[arch]:
            die(f"the text has a relocation of type {kind} at {at:#x}")
    nbytes = len(elf.sections[".text"][1])
    for at, kind, value in elf.relocations.get(".tables", []):
        if kind != ABSOLUTE[arch] or value >= nbytes:
            die(f"a table has a relocation of type {kind} to {value:#x}")
    if elf.relocations.get(".words") or any(elf.sections[".words"][1]):
        die("a writable word does not begin as zero")


HEAD = """\
// Code generated by go/internal/core/gen/text.py. DO NOT EDIT.
// {compiler}
// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build !openbsd && !purego && !noasm

#include "go_asm.h"
#include "textflag.h"
"""
# How the text finds its tables and its words: two functions at its end, at fixed distances of 64 bytes.
FIND = {
    "amd64": "\tPCALIGN $64\n\tLEAQ hashloom_{what}<>(SB), AX\n\tRET\n",
    "arm64": "\tPCALIGN $64\n\tMOVD $hashloom_{what}<>(SB), R0\n\tRET\n",
}
WORD = {"amd64": "QUAD", "arm64": "DWORD"}


def assembly(arch, compiler, elf):
    text = elf.sections[".text"][1]
    base, tables = elf.sections[".tables"]
    words = elf.sections[".words"][1]
    # The linker's place for the two functions.
    found = elf.symbols["hli_tables"]
    if (found, elf.symbols["hli_words"], len(text)) != (found, found + 64, found + 128) or found % 64 != 0:
        die("hli_tables and hli_words are not the last of the text")
    text = text[:found]
    out = [HEAD.format(arch=arch, compiler=compiler)]
    # TOPFRAME: a traceback from within ends here, as the frames of C are not Go's.
    out.append("TEXT hashloom_core<>(SB), NOSPLIT|NOFRAME|TOPFRAME, $0-0")
    out.append("\tPCALIGN $64")
    # Four to a line: Go's linker keeps a table of lines, which costs a byte or two a line.
    for at in range(0, len(text), 32):
        out.append("\t" + "; ".join(f"{WORD[arch]} $0x{word:016x}" for word in struct.unpack_from("<4Q", text, at)))
    out.append(FIND[arch].format(what="tables") + FIND[arch].format(what="words"))
    addresses = {at - base: value for at, _, value in elf.relocations[".tables"]}
    for at in range(0, len(tables), 8):
        if at in addresses:
            out.append(f"DATA hashloom_tables<>+{at}(SB)/8, $hashloom_core<>+{addresses[at]}(SB)")
        else:
            number, = struct.unpack_from("<Q", tables.ljust(-(-len(tables) // 8) * 8, b"\0"), at)
            if number != 0:
                out.append(f"DATA hashloom_tables<>+{at}(SB)/8, $0x{number:x}")
    out.append(f"GLOBL hashloom_tables<>(SB), RODATA, ${-(-len(tables) // 8) * 8}")
    out.append(f"GLOBL hashloom_words<>(SB), NOPTR, ${-(-len(words) // 8) * 8}")
    out.append("")
    with open(os.path.join(HERE, f"call_{arch}.s")) as file:
        out.append(file.read())
    return "\n".join(out)


def make(arch, cc):
    with tempfile.TemporaryDirectory() as folder:
        elf = link(arch, cc, folder)
        check(arch, elf)
        return assembly(arch, run([*cc, "--version"]).splitlines()[0], elf)


def compare(arch, cc, path):
    """Returns 0 if the file is what the sources make, 1 if not, -1 if they were not compared."""
    name = os.path.basename(path)
    with open(path) as file:
        committed = file.read()
    of = committed.split("\n")[1].removeprefix("// ")
    if shutil.which(cc[0]) is None:
        print(f"skipped: {name}: not compared: {cc[0]} is not installed (the file is from {of})")
        return -1
    compiler = run([*cc, "--version"]).splitlines()[0]
    if compiler != of:
        print(f"skipped: {name}: not compared: it is from {of}, and {cc[0]} is {compiler}")
        return -1
    if make(arch, cc) != committed:
        print(f"{name} is not what the sources make: run go/internal/core/gen/text.py {arch}", file=sys.stderr)
        return 1
    print(f"{name} is what the sources make ({compiler})")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("archs", nargs="*", metavar="amd64|arm64")
    args = parser.parse_args()
    archs = args.archs or list(FLAGS)
    if not set(archs) <= set(FLAGS):
        parser.error("architectures are " + ", ".join(FLAGS))
    results = []
    for arch in archs:
        cc = shlex.split(os.environ["CC"]) if len(args.archs) == 1 and "CC" in os.environ else [COMPILER[arch]]
        path = os.path.normpath(os.path.join(HERE, "..", f"text_{arch}.s"))
        if args.check:
            results.append(compare(arch, cc, path))
            continue
        made = make(arch, cc)
        with open(path, "w") as file:
            file.write(made)
    if 1 in results or (-1 in results and os.environ.get("HASHLOOM_REQUIRE")):
        sys.exit(1)


main()
