#!/usr/bin/env python3
# kernels.py: the code size and the stack frame of each kernel.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Prints one table of all kernels, as Markdown.

  tools/kernels.py HASHLOOM      CC names the C compiler

The kernels are compiled with CC and the flags of core/build.rs. The code is the size of the function in the object file
(nm), the stack its frame as the compiler reports it (-fstack-usage). Exit status: 0; 2 if something fails or if a kernel
is only in the program or only in the sources."""

import glob
import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
FLAGS = ["-std=c11", "-Icore/include", "-O3", "-fno-lto", "-fstack-usage"]


def die(message):
    print(f"kernels.py: {message}", file=sys.stderr)
    sys.exit(2)


def output_of(command):
    try:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        die(error)
    return done.stdout


def whole_name(symbol):
    """Returns the function from which the compiler has split a part such as sha1_blocks_avx2.cold."""
    return symbol.partition(".")[0].removeprefix("hli_")


def measure(cc, folder):
    """Returns the bytes of code and of stack of each function in the kernels' files, by name."""
    code, stack = {}, {}
    os.makedirs(os.path.join(ROOT, folder), exist_ok=True)
    for source in sorted(glob.glob("core/src/*/*.c", root_dir=ROOT)):
        stem = os.path.join(folder, source.removeprefix("core/src/").removesuffix(".c").replace("/", "-"))
        output_of(cc + FLAGS + ["-c", source, "-o", stem + ".o"])
        for line in output_of(["nm", "-S", stem + ".o"]).splitlines():
            # address, size, type, name: T and t are functions, global or static
            fields = line.split()
            if len(fields) == 4 and fields[2] in "Tt":
                name = whole_name(fields[3])
                code[name] = code.get(name, 0) + int(fields[1], 16)
        usage = os.path.join(ROOT, stem + ".su")
        # clang writes no such file for a source without functions.
        for line in open(usage) if os.path.exists(usage) else []:
            # file:line:column:function, or file:line:function; bytes; static, dynamic or "dynamic,bounded"
            place, nbytes, kind = line.rstrip("\n").split("\t")
            name = whole_name(place.rpartition(":")[2])
            if kind == "dynamic":
                die(f"{name} has a stack frame without a bound: {line.strip()}")
            stack[name] = max(stack.get(name, 0), int(nbytes))
    return code, stack


def main():
    if len(sys.argv) != 2:
        die("usage: tools/kernels.py HASHLOOM")
    cc = shlex.split(os.environ.get("CC") or "cc")
    compiler = output_of(cc + ["--version"]).splitlines()[0].strip()
    code, stack = measure(cc, os.path.join("build", "kernels", re.sub(r"[^A-Za-z0-9.-]+", "_", " ".join(cc))))
    report = json.loads(output_of([os.path.abspath(sys.argv[1]), "kernels", "--json"]))
    known = {kernel["name"] for kernel in report["kernels"]}
    missing = sorted(known - code.keys())
    extra = sorted(name for name in code.keys() - known if "_blocks_" in name)
    if missing or extra:
        die(f"{compiler} and {sys.argv[1]} do not have the same kernels; only in the program: "
            f"{', '.join(missing) or 'none'}; only in the sources: {', '.join(extra) or 'none'}")
    scheduled = {name: name.replace("_blocks_", "_scheduled_") for name in known}

    print(f"Code and stack in bytes, by {compiler}: of the kernel, and of its second function for padding that all lanes")
    print("share, if any.\n\n| kernel | code | stack | padding: code | stack |\n|---|---:|---:|---:|---:|")
    for name in (kernel["name"] for kernel in report["kernels"]):
        cells = [str(table.get(function, "")) for function in (name, scheduled[name]) for table in (code, stack)]
        print(f"| {name} | {' | '.join(cells)} |")

    # A part of a kernel that is not inlined would appear here, and be missing above.
    others = sorted(code.keys() - known - set(scheduled.values()))
    if others:
        print("\nOther functions in the same files: " +
              ", ".join(f"{name} (code {code[name]}, stack {stack.get(name, '?')})" for name in others) + ".")


if __name__ == "__main__":
    main()
