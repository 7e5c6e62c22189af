#!/usr/bin/env python3
# kernels.py: `hashloom kernels`, with the code size and the stack frame of each kernel.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Prints one table of all kernels, as Markdown.

  tools/kernels.py HASHLOOM [--bench]      CC names the C compiler

The kernels are compiled with CC and the flags of core/build.rs. The code is the size of the function in the object file
(nm), the stack its frame as the compiler reports it (-fstack-usage). Both are joined by name with the program's list of
its kernels, with their speeds if --bench is given. Exit status: 0; 2 if something fails or if a kernel is only in the
program or only in the sources."""

import argparse
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


def numbers(runs):
    """Formats the numbers of messages for which a kernel is chosen, as the program does."""
    def text(run):
        if run["last"] is None:
            return f"{run['first']}+"
        return str(run["first"]) if run["first"] == run["last"] else f"{run['first']}-{run['last']}"
    return ", ".join(map(text, runs))


def print_table(titles, rows):
    """Prints a table. A title that ends in a blank heads a column of words, any other a column of numbers."""
    widths = [max(len(title.strip()), *(len(row[i]) for row in rows)) for i, title in enumerate(titles)]
    def line(cells):
        padded = (cell.ljust(width) if title.endswith(" ") else cell.rjust(width)
                  for cell, width, title in zip(cells, widths, titles))
        return "| " + " | ".join(padded) + " |"
    print(line([title.strip() for title in titles]))
    rules = ("-" * (width + 1) + ("-" if title.endswith(" ") else ":") for width, title in zip(widths, titles))
    print("|" + "|".join(rules) + "|")
    for row in rows:
        print(line(row))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("hashloom", help="the program")
    parser.add_argument("--bench", action="store_true", help="add the speed of each kernel")
    arguments = parser.parse_args()

    cc = shlex.split(os.environ.get("CC") or "cc")
    compiler = output_of(cc + ["--version"]).splitlines()[0].strip()
    code, stack = measure(cc, os.path.join("build", "kernels", re.sub(r"[^A-Za-z0-9.-]+", "_", " ".join(cc))))
    command = [os.path.abspath(arguments.hashloom), "kernels", "--json"] + ["--bench"] * arguments.bench
    report = json.loads(output_of(command))

    kernels = report["kernels"]
    known = {kernel["name"] for kernel in kernels}
    missing = sorted(known - code.keys())
    extra = sorted(name for name in code.keys() - known if "_blocks_" in name)
    if missing or extra:
        die(f"{compiler} and {arguments.hashloom} do not have the same kernels; only in the program: "
            f"{', '.join(missing) or 'none'}; only in the sources: {', '.join(extra) or 'none'}")
    scheduled = {name: name.replace("_blocks_", "_scheduled_") for name in known}

    print(f"{report['cpu']}, {report['date']}: {', '.join(report['isas']['available'])}\n")
    print(f"Code and stack in bytes, by {compiler}:")
    print("of the kernel, and of its second function for padding that all lanes share, if any. A call is one")
    print("block in all lanes; chosen for: the number of messages still to hash.")
    if report["compiler"] != compiler:
        print(f"Another compiler compiled the program: {report['compiler']}.")
    print()

    titles = ["kernel ", "isa ", "lanes", "here ", "chosen for ", "code", "stack", "padding: code", "stack"]
    if arguments.bench:
        titles += ["ns a call", "GB/s", "M blocks/s", "/ scalar"]
    rows = []
    for kernel in kernels:
        name = kernel["name"]
        row = [name, kernel["isa"], str(kernel["lanes"]), "yes" if kernel["available"] else "no"]
        row += [numbers(kernel["chosen_for"])]
        for function in (name, scheduled[name]):
            row += [str(code.get(function, "")), str(stack.get(function, ""))]
        if arguments.bench:
            for key, digits in (("ns_per_call", 1), ("gb_per_s", 2), ("million_blocks_per_s", 1),
                                ("ratio_to_scalar", 2)):
                row.append(f"{kernel[key]:.{digits}f}" if kernel.get(key) is not None else "")
        rows.append(row)
    print_table(titles, rows)

    # A part of a kernel that is not inlined would appear here, and be missing above.
    others = sorted(code.keys() - known - set(scheduled.values()))
    if others:
        print("\nOther functions in the same files: " +
              ", ".join(f"{name} (code {code[name]}, stack {stack.get(name, '?')})" for name in others) + ".")


if __name__ == "__main__":
    main()
