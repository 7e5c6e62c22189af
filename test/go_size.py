#!/usr/bin/env python3
# go_size.py: how much larger programs become by the Go module.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds programs over the Go module and over the standard library, and compares their sizes.

Go's linker must leave out kernels that a program does not call. The limits are far above today's figures, and far below
the size with all kernels. Exit status: 0, or 1 if a program is too large."""

import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
MODULE = "github.com/hashloom/hashloom/go"
ONE = 'h := sha256.Sum256([]byte(os.Args[0]))\n\tfmt.Println(h, sha256.New())'
MANY = "var h [2][32]byte\n\tsha256.SumMany(h[:], make([][]byte, 2))\n\tfmt.Println(h, os.Args)"
# Programs, and by how many KB they may be larger than with crypto/sha256.
PROGRAMS = [("one message", ONE, 150), ("many messages of SHA-256", MANY, 600)]


def size(folder, package, body):
    with open(os.path.join(folder, "main.go"), "w") as file:
        file.write(f'package main\n\nimport (\n\t"fmt"\n\t"os"\n\n\t"{package}"\n)\n\nfunc main() {{\n\t{body}\n}}\n')
    program = os.path.join(folder, "program")
    subprocess.run(["go", "build", "-o", program, "."], cwd=folder, check=True)
    return os.path.getsize(program)


def main():
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "go.mod"), "w") as file:
            file.write(f"module size\n\ngo 1.25\n\nrequire {MODULE} v0.0.0\n\n"
                       f"replace {MODULE} => {os.path.realpath(ROOT)}/go\n")
        standard = size(folder, "crypto/sha256", ONE)
        for name, body, most in PROGRAMS:
            growth = (size(folder, f"{MODULE}/sha256", body) - standard) / 1000
            print(f"{name}: {growth:.0f} KB, at most {most}")
            failed |= growth > most
    sys.exit(failed)


if __name__ == "__main__":
    main()
