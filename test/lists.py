#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Finds lists of algorithms that are written by hand: core/src/algorithms.def is the one list.

    test/lists.py [--all]

A list is three or more of the algorithms, in any spelling, within four lines of a file. It may stand in tests, vectors,
documents, comments, and the parts that tools/algorithms.py writes, which must be as this program writes them. ALLOWED
names the other files that have one, each with the reason. --all also prints the lines that are allowed.
"""

import fnmatch
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import algorithms  # noqa: E402
from algorithms import ALGORITHMS  # noqa: E402

NEAR = 4  # lines
FEW = 3  # algorithms

# Not read: tests, vectors, documents, other people's names of packages, and files that programs write.
LEFT_OUT = """
core/src/algorithms.def
tools/algorithms.py
test/* */test/* */tests/* */*_test.go */test_*.py web/test.py fuzz/*
vectors/*
*.md docs/* debian/*
*Cargo.lock *Cargo.toml *go.mod *go.sum deny.toml .github/* .cargo/*
go/internal/core/*_amd64.s go/internal/core/*_arm64.s
*.svg *.png *.torrent *.rsp
""".split()

# The file, and why it has a list.
ALLOWED = {
    "Makefile": "the programs of others that ours stands in for",
    "rust/hashloom-standins/src/lib.rs": "the same programs",
    "rust/hashloom-standins/src/coreutils.rs": "the algorithms of cksum",
    "rust/hashloom-standins/src/shasum.rs": "the algorithms of shasum and sha3sum",
    "rust/hashloom-list/src/command/check.txt": "examples in a help text",
    "tools/demo.sh": "examples",
    "bench/adopters/desync.go": "the hash functions of another project",
    "bench/npm.mjs": "the functions of other packages",
    "web/digests.js": "what a file is shown with at once, and other names of three",
    "web/npm/package.json": "words that people search for",
    "web/npm/page.mjs": "the algorithms of crypto.subtle",
    "core/src/alg/constants.c": "constants of standards, each beside its digests",
    "core/src/slh.c": "the hash functions of FIPS 205",
    "go/slhdsa/message.go": "the hash functions of FIPS 205",
    "core/src/core.h": "constants of standards: a new block function brings its own",
    "drop-in/pkcs11/cryptoki.h": "numbers of PKCS #11",
    "drop-in/pkcs11/mechanism.c": "numbers of PKCS #11 for PBKDF2",
    "libmd/*": "libmd's functions and headers",
    "go/internal/core/std.go": "functions of Go's standard library",
    "go/internal/core/gen/text.py": "kernels that Go's assembly leaves out, as they gain too little",
    "go/internal/core/core_asm.go": "functions of assembly, which Go's linker is to leave out where nothing calls them",
    "go/internal/core/c_*.go": "names of assembly, which gen/text.py writes",
    "go/internal/digest/many.go": "limits that were measured",
    "go/internal/peers/never/main.go": "a choice of what is measured",
    "go/internal/core/alg.go": "the first bytes of states that Go's standard library marshals",
    "rust/hashloom-solaris/src/digest.rs": "examples in a help text",
    "rust/hashloom-stores/src/command/stores.rs": "the algorithms of stores",
    "rust/hashloom-list/src/list/forms.rs": "examples of foreign formats, and what a number of digits means",
    "rust/hashloom-list/src/list/write.rs": "the algorithms of mtree and of SRI",
    "rust/hashloom-list/src/list/xml.rs": "attributes of DAT lists",
    "rust/hashloom-tree/src/dmverity/superblock.rs": "names of the Linux kernel, which lacks some",
    "rust/hashloom-tree/src/error.rs": "examples in a message",
    "rust/hashloom-tree/src/s3.rs": "the algorithms of S3",
    "bench/Pkcs11.java": "a choice of what is measured",
    "bench/peers/*": "a choice of what is measured, and functions of other libraries",
}


def spelling(name):
    """A pattern for a name in any spelling: sha512-256, SHA512_256, Sha512_256, SHA-512/256, sha512t256."""
    blake = re.fullmatch(r"blake(\d)([bs])(?:-(\d+))?", name)
    if blake:
        return rf"blake[-_ ]?{blake[1]}{blake[2]}" + (rf"[-_ ]?{blake[3]}" if blake[3] else "")
    letters, first, rest = re.fullmatch(r"([a-z]+)-?(\d*)(?:-(\d+))?", name).groups()
    if letters == "sha" and first == "3":
        return rf"sha[-_ ]?3[-_ ]?{rest}"
    return rf"{letters}[-_ ]?{first}" + (rf"[-_/t ]?{rest}" if rest else "")


def pattern():
    """All names; the longest first, so that SHA-512/256 is not SHA-512. A name is no part of a longer word or number,
    but the name of something may begin or end with it: sha256_blocks, Sha256Ni, HL_SHA256."""
    one_of = "|".join(f"(?P<{a.identifier}>{spelling(a.name)})" for a in sorted(ALGORITHMS, key=lambda a: -len(a.name)))
    return re.compile(rf"(?<![a-zA-Z0-9])(?:{one_of})(?![0-9]|[-_/][0-9]{{3}}(?![0-9]))", re.I)


NAMES = pattern()
COMMENT = {
    "c": r"\s*(/\*|\*|//)", "h": r"\s*(/\*|\*|//)", "def": r"\s*(/\*|\*)", "rs": r"\s*//", "go": r"\s*//",
    "py": r"\s*#", "sh": r"\s*#", "txt": r"\s*#", "wgsl": r"\s*//", "s": r"\s*(//|#)", "js": r"\s*(//|/\*|\*)",
}


def lines_of(path):
    """The lines of a file that may hold no list: without generated parts, comments and Rust's unit tests."""
    try:
        text = (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    comment = re.compile(COMMENT.get(path.rsplit(".", 1)[-1], r"(?!)"))
    is_generated = is_docstring = False
    for number, line in enumerate(text.splitlines(), 1):
        if "algorithms.py: end" in line:
            is_generated = False
        elif "algorithms.py: " in line:
            is_generated = True
        elif path.endswith(".rs") and line == "#[cfg(test)]":
            return
        elif path.endswith(".py") and line.count('"""') == 1:
            is_docstring = not is_docstring
        elif not (is_generated or is_docstring or comment.match(line)):
            yield number, re.sub(r"/\*.*?\*/", "", line) if path.endswith((".c", ".h")) else line


def lists_of(path):
    """(line number, algorithms) of each place with a list. Adjacent ones are one."""
    recent, places = [], []
    for number, line in lines_of(path):
        recent += [(number, found.lastgroup) for found in NAMES.finditer(line)]
        recent = [(at, name) for at, name in recent if at > number - NEAR]
        names = {name for _, name in recent}
        if len(names) < FEW:
            continue
        if places and recent[0][0] <= places[-1][1]:
            places[-1] = (places[-1][0], number, places[-1][2] | names)
        else:
            places.append((recent[0][0], number, names))
    return places


# Rows that are wrong, made from one that is right, and what tools/algorithms.py says of them.
MD5 = 'ALG(MD5, 9, "md5", "MD5", MD5, 16, 64, '
BROKEN = {
    MD5.replace("9", "11"): "the ids",
    MD5.replace("9", "ten"): "the id is 'ten', not a number",
    MD5.replace(" 16,", ""): "14 columns, where ALG has 15",
    MD5.replace("16", "(16"): "25 columns, where ALG has 15",
    MD5.replace(" MD5,", " MD6,"): "no BLOCK_FUNCTION row before it is named MD6",
    MD5.replace('"md5"', '"sha1"'): "two rows have one name",
}


def accepted():
    """The broken rows that tools/algorithms.py takes, and whether it writes one file where it cannot write another."""
    text = (ROOT / "core/src/algorithms.def").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for row, said in BROKEN.items():
            path = pathlib.Path(folder, "algorithms.def")
            path.write_text(text.replace(MD5, row), encoding="utf-8")
            try:
                algorithms.read(path)
                yield row
            except algorithms.Wrong as wrong:
                if said not in str(wrong):
                    yield f"{row}: {wrong}"
        path.write_text("old", encoding="utf-8")
        try:
            algorithms.replace_all({str(path): "new", f"{folder}/missing/file": "new"})
        except OSError:
            pass
        if path.read_text(encoding="utf-8") != "old":
            yield "a file is written although another one cannot be"


def main():
    is_all = sys.argv[1:] == ["--all"]
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                           check=True).stdout.splitlines()
    nread = nlists = 0
    unused = set(ALLOWED)
    for path in files:
        if any(fnmatch.fnmatchcase(path, left_out) for left_out in LEFT_OUT) or not (ROOT / path).is_file():
            continue
        nread += 1
        allowed = [glob for glob in ALLOWED if fnmatch.fnmatchcase(path, glob)]
        for first, last, names in lists_of(path):
            unused -= set(allowed)
            if allowed and not is_all:
                continue
            nlists += not allowed
            print(f"{path}:{first}-{last}: {', '.join(sorted(names))}"
                  + "".join(f" (allowed: {ALLOWED[glob]})" for glob in allowed))
    for glob in sorted(unused):
        print(f"{glob}: has no list, so it needs no line in ALLOWED of test/lists.py")
    checked = subprocess.run([sys.executable, ROOT / "tools" / "algorithms.py", "--check"], capture_output=True,
                             text=True)
    if checked.returncode != 0:
        print(checked.stderr.strip() + ": run tools/algorithms.py")
    taken = list(accepted())
    for row in taken:
        print(f"tools/algorithms.py accepts: {row}")
    failed = nlists + len(unused) + len(taken) + (checked.returncode != 0)
    if nlists > 0:
        print(f"{nlists} lists of algorithms are written by hand. Take the algorithms from core/src/algorithms.def (a "
              "writer in tools/algorithms.py) or ask the library, or add the file to ALLOWED of test/lists.py.")
    print(f"{nread} files; {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
