#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs the commands and the C and Go examples of README.md and docs/*.md as printed, and compares what they print.
Objects of --json must be valid by docs/hashloom.schema.json, which must be what tools/json_schema.py writes. Of other
documents (ARCHITECTURE.md, docs/decisions and so on) it checks the links, and of the documentation comments of the
crates that an example uses each public type and free function.

    python3 test/docs.py path/to/hashloom [--require] [--write] [--quick | FILE...]

Each file gets one shell (bash), with the program first in PATH, in an empty folder: whoever installed a package has no
more. README.md and docs/c.md get a copy of the repository's files, with the program as target/release/hashloom too.
These are the blocks of a file:

    ```sh               commands; every exit status must be 0
    ```text, ```json    directly after commands: what they print, to standard output and standard error
    ```c                with main(): a file, named by its first line /* NAME.c */, for the commands that follow;
                        else the body of a function, compiled and run with <assert.h>, <hashloom.h> and <string.h>
    ```go               the body of a function, with an import of the packages that it names; the comment after a
                        fmt.Print... is what that prints
    ```rust             a documentation test of a crate, which includes the whole file (`cargo test`)
    ```pycon            doctests of Python: test/python.sh runs them
    ```ini              a unit of systemd, named by its first line # NAME.service: systemd-analyze verifies those of a
                        file together, with the program in place of /usr/local/bin/hashloom
    ```toml, ```cmake   shown only

In an expected output `...` stands for any text, on a line of its own for any number of lines. Times, rates and dates
may differ. Links to files and headings must lead somewhere. An HTML comment in the line before a block changes its
meaning:

    <!-- exit status: 1 -->    that is the last command's exit status
    <!-- needs: fsverity -->   without this program the block is named as SKIPPED; with --require that is a failure
    <!-- not run: reason -->   the block is only counted, and its reason printed
    <!-- files: film.iso -->   stands for a file of the reader's own, which the test makes in the folder: a row of OWN

--write replaces outputs that differ. --quick: without docs/c.md, whose commands compile the library.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import checks  # noqa: F401: the locale

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import json_schema  # noqa: E402: the path
OUTPUTS, SHOWN = ("text", "json"), ("toml", "cmake")
RUN = ("README.md", "docs/*.md")
LINKED = ("*.md", "docs/decisions/*.md", "docs/reports/*.md",
          "bench/results/*.md", "*/README.md", "test/proof/README.md", "vectors/rows/README.md")
IN_CLONE = ("README.md", "docs/c.md")
NOTE = re.compile(r"<!-- (exit status|needs|not run|files): (.+) -->")
RUST_FENCE = re.compile(r"^[ /!]*```(\w*)\n(.*?)^[ /!]*```$", re.M | re.S)
# Modules that other programs seldom need, or not at all: what crates share, and the calls of C.
ENGINE = ("ffi", "lanes", "merkle", "pieces", "pool", "read")
RATE = re.compile(r"(, )?\b\d+(\.\d+)? (bytes|[KMGT]iB)/s")
VARYING = [
    (RATE, ""),
    (re.compile(r"\b\d+(\.\d+)?( M)? nonces/s"), "N nonces/s"),
    (re.compile(r"\b\d+(\.\d+)? s\b"), "N s"),
    (re.compile(r'("seconds": ?)[\d.e-]+(, ?"held_back_by": ?"[a-z]+")?'), r"\1N"),
    (re.compile(r", held back by (the disk|the CPU|--rate)"), ""),
    (re.compile(r"\b20\d\d-\d\d-\d\d\b"), "DATE"),
]
# After each block the shell says that it has ended. The statuses are those of all commands that failed.
SHELL = """
set -E
trap 'echo $? >>"$docs/statuses"' ERR
for docs_block in "$docs"/*.sh; do
    : >"$docs/statuses"
    eval "$(cat "$docs_block")" >"$docs_block.out" 2>&1 </dev/null
    mv "$docs/statuses" "$docs_block.statuses"
done
"""
PRELUDE = "#include <assert.h>\n#include <hashloom.h>\n#include <string.h>\n"
failures, not_run, skipped = [], [], []


def fail(where, message):
    failures.append(where)
    print(f"FAILED: {where}: {message}", flush=True)


class Block:
    def __init__(self, name, line, language):
        self.name, self.line, self.language = name, line, language
        self.lines, self.notes, self.output = [], {}, None

    def where(self):
        return f"{self.name}:{self.line}"

    def text(self):
        return "".join(line + "\n" for line in self.lines)


def parse(name, text):
    """Returns the blocks of a file; an output is part of the block of its commands."""
    blocks, block, notes = [], None, {}
    previous = last = ""  # the line before, and the last one that is not empty
    for number, line in enumerate(text.splitlines(), 1):
        if block and line != "```":
            block.lines.append(line)
            continue
        if block:
            block = None
        elif fence := re.fullmatch(r"```(\w*)(?:,no_run)?", line):
            block = Block(name, number + 1, fence[1])
            block.notes, notes = notes, {}
            if block.language in OUTPUTS and last == "```" and blocks[-1].language == "sh" and not block.notes:
                blocks[-1].output = block
            else:
                blocks.append(block)
        elif note := NOTE.fullmatch(line):
            notes[note[1]] = note[2]
        elif line and notes:
            fail(f"{name}:{number}", f"expected a block after {list(notes)}")
            notes = {}
        elif "```" in line or (line.startswith("    ") and not previous):
            fail(f"{name}:{number}", "a block that is not run: begin a line with ```sh or another language")
        previous, last = line, line or last
    if block:
        fail(block.where(), "the block has no end")
    return blocks


def normalise(text):
    for pattern, replacement in VARYING:
        text = pattern.sub(replacement, text)
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def is_as_printed(expected, found):
    """`...` on a line of its own is any number of lines, elsewhere any text of a line."""
    pattern = ""
    for line in normalise(expected).splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*"
        else:
            pattern += ".*".join(re.escape(part) for part in line.split("...")) + r"\n"
    return re.fullmatch(pattern, normalise(found)) is not None


def check_output(block, found):
    expected = block.output.text() if block.output else None
    if expected is not None and not is_as_printed(expected, found):
        block.output.found = found
        fail(block.where(), f"expected\n{expected}found\n{found}")


def check_json(block, found):
    """Each object that commands print must be valid by docs/hashloom.schema.json, as one of these commands."""
    definitions = json.loads(json_schema.PATH.read_text())["$defs"]
    text = block.text()
    objects = [schema for name, schema in definitions.items() if f"hashloom {name} " in text]
    for line in found.splitlines():
        if line.startswith("{") and objects:
            value = json.loads(line)
            for why in json_schema.faults({"anyOf": objects}, value):
                fail(block.where(), f"not as docs/hashloom.schema.json says: {why}: {line}")
            if not list(json_schema.faults({"anyOf": objects}, value | {"another": 1})):
                fail(block.where(), "tools/json_schema.py finds no fault in a field that the schema lacks")
        elif line.startswith("{") and block.output and block.output.language == "json":
            fail(block.where(), f"docs/hashloom.schema.json has no command of {line}")


def check_commands(block, docs, number):
    stem = docs / f"{number:03}.sh"
    if not pathlib.Path(f"{stem}.statuses").exists():
        return fail(block.where(), "the shell has ended before or in this block")
    found = pathlib.Path(f"{stem}.out").read_text(errors="backslashreplace")
    # A command that fails is counted once more by the `eval` around it.
    statuses = set(pathlib.Path(f"{stem}.statuses").read_text().split())
    expected = {block.notes["exit status"]} if "exit status" in block.notes else set()
    if statuses != expected:
        return fail(block.where(), f"exit status {statuses or 0}, expected {expected or 0}\n{found}")
    check_output(block, found)
    check_json(block, found)


def library(folder, include):
    """Compiles the C library once."""
    archive = folder / "libhashloom.a"
    if not archive.exists():
        cc = ["ccache", "cc"] if shutil.which("ccache") else ["cc"]
        os.environ.setdefault("CCACHE_DIR", str(ROOT / "build/ccache"))
        sources = [*ROOT.glob("core/src/*.c"), *ROOT.glob("core/src/*/*.c")]
        objects = [folder / (str(source.relative_to(ROOT)).replace("/", "-") + ".o") for source in sources]
        compile_one = lambda pair: subprocess.run([*cc, "-O2", *include, "-c", pair[0], "-o", pair[1]], check=True)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_one, zip(sources, objects)))
        subprocess.run(["ar", "rcs", archive, *objects], check=True)
    return archive


def check_fragments(fragments, shared):
    """Compiles the C blocks of a file that are no whole programs, and runs them in order."""
    include = [f"-I{ROOT / 'core/include'}"]
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "fragments.c"), pathlib.Path(folder, "fragments")
        text = PRELUDE
        for number, block in enumerate(fragments):
            text += f'static void fragment{number}(void)\n{{\n#line {block.line} "{block.name}"\n{block.text()}}}\n'
        text += "int main(void)\n{\n" + "".join(f"fragment{number}();\n" for number in range(len(fragments))) + "}\n"
        source.write_text(text)
        flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", *include]
        lines = ["cc", *flags, source, library(shared, include), "-o", program], [program]
        for line in lines:
            done = subprocess.run(line, capture_output=True, text=True)
            if done.returncode != 0:
                return fail(fragments[0].name, f"a C example, status {done.returncode}\n{done.stdout}{done.stderr}")


def go_is_missing():
    """Returns what the Go examples lack here, "" for nothing."""
    wanted = re.search(r"^go (\d+)\.(\d+)", (ROOT / "go/go.mod").read_text(), re.MULTILINE)
    said = subprocess.run(["go", "version"], capture_output=True, text=True).stdout if shutil.which("go") else ""
    found = re.search(r"\bgo(\d+)\.(\d+)", said)
    is_new = found and tuple(map(int, found.groups())) >= tuple(map(int, wanted.groups()))
    return "" if is_new else f"Go {wanted[1]}.{wanted[2]} or later is not installed: {found[0] if found else 'no Go'}"


GO_MODULE = "github.com/hashloom/hashloom/go"
GO_PACKAGES = {"context": "context", "fmt": "fmt", "hash": "hash", "hex": "encoding/hex", "io": "io",
               "strings": "strings", "hashloom": GO_MODULE} | {
    name: f"{GO_MODULE}/{name}"
    for name in ("bitcoin", "hmac", "md5", "merkle", "pbkdf2", "ripemd160", "search", "sha1", "sha1cd", "sha256",
                 "sha512", "slhdsa")
}


def check_go(blocks):
    """Compiles the Go blocks of a file, and runs each."""
    for block in blocks:
        lines = [line for line in block.lines if not line.startswith("import ")]
        names = [name for name in GO_PACKAGES if any(re.search(rf"\b{name}\.", line) for line in lines)]
        imports = "".join(f'import {name} "{GO_PACKAGES[name]}"\n' for name in names)
        expected = "".join(re.findall(r"^\s*fmt\.Print.*\) // (.*\n)", block.text(), re.MULTILINE))
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "go.mod").write_text(f"module example\n\ngo 1.25\n\nrequire {GO_MODULE} v0.0.0\n\n"
                                           f"replace {GO_MODULE} => {ROOT / 'go'}\n")
            (folder / "main.go").write_text(f"package main\n{imports}func main() {{\n//line {block.name}:{block.line}\n"
                                            + "".join(line + "\n" for line in lines) + "}\n")
            done = subprocess.run(["go", "run", "."], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0 or done.stdout != expected:
            fail(block.where(), f"a Go example, status {done.returncode}\n{done.stderr}"
                                f"expected\n{expected}found\n{done.stdout}")


def check_rust(block, crates):
    if f'include_str!("../../../{block.name}")' not in crates:
        fail(block.where(), f"Rust that no crate tests: include {block.name} in the documentation tests of one")


def check_units(blocks, program):
    """The units of a file, each in a file of its own, name each other."""
    if blocks and not shutil.which("systemd-analyze"):
        not_run.extend((block.where(), "no systemd-analyze here") for block in blocks)
        return
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for block in blocks:
            paths.append(pathlib.Path(folder, re.match(r"# (\S+)\n", block.text())[1]))
            paths[-1].write_text(block.text().replace("/usr/local/bin/hashloom", program))
        for block, path in zip(blocks, paths):
            verified = subprocess.run(["systemd-analyze", "verify", path], capture_output=True, text=True)
            if path.name in verified.stderr:
                fail(block.where(), verified.stderr)
            elif verified.returncode:
                not_run.append((block.where(), f"systemd-analyze: {verified.stderr.strip()}"))


def anchors(text):
    """Returns the anchors of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_links(path, text):
    for link in re.findall(r"\]\(([^)]+)\)", text):
        place, _, anchor = link.partition("#")
        if place.startswith("https://"):
            continue
        target = (ROOT / path).parent / place if place else ROOT / path
        if not target.exists():
            fail(path, f"a link to {place}, which does not exist")
        elif anchor and anchor not in anchors(target.read_text()):
            fail(path, f"a link to {link}, which has no such heading")


def copy_repository(to):
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in os.fsdecode(listed.stdout).split("\0"):
        if name and (ROOT / name).exists():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to / name, follow_symlinks=False)


# What the reader's own files have in them. A folder is named by its first part.
OWN = {
    "film.iso": b"".join(b"%d\n" % number for number in range(60_000)),
    "photos/beach.jpg": b"1", "photos/dunes.jpg": b"22", "photos/2025/snow.jpg": b"333",
    **{name: (ROOT / "vectors/minisign" / name).read_bytes() for name in ("minisign.key", "minisign.pub")},
}


def make_own_files(folder, blocks, program):
    """Makes the files that the blocks of a page name, all of one time. film.torrent is of film.iso, by version 1."""
    wanted = {name for block in blocks for name in block.notes.get("files", "").split()}
    for path, content in OWN.items():
        if path in wanted or path.split("/")[0] in wanted or path == "film.iso" and "film.torrent" in wanted:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
            (folder / path).chmod(0o600)
            os.utime(folder / path, (1767225600, 1767225600))
    if "film.torrent" in wanted:
        line = [program, *"torrent create --quiet --v1 film.iso -o film.torrent".split()]
        subprocess.run(line, cwd=folder, check=True)
    for name in wanted:
        if not (folder / name).exists():
            fail(blocks[0].name, f"{name} is no file that test/docs.py makes")


def check_file(path, program, shared):
    """Returns the numbers of blocks of commands, of commands, and of other blocks that passed or failed."""
    text, crates = (ROOT / path).read_text(), ""
    blocks = parse(path, text)
    check_links(path, text)
    for source in ROOT.glob("rust/*/src/lib.rs"):
        crates += source.read_text()
    commands, fragments, go, units, nother = [], [], [], [], 0
    with tempfile.TemporaryDirectory(prefix="hashloom-docs-") as work:
        work = pathlib.Path(work)
        copy, docs, bin, home = (work / name for name in ("here", "docs", "bin", "home"))
        for folder in (copy, docs, bin, home):
            folder.mkdir(parents=True)
        os.symlink(program, bin / "hashloom")
        if path in IN_CLONE:
            copy_repository(copy)
            (copy / "target/release").mkdir(parents=True)
            os.symlink(program, copy / "target/release/hashloom")
        make_own_files(copy, blocks, program)
        for block in blocks:
            missing = [tool for tool in block.notes.get("needs", "").split() if not shutil.which(tool)]
            if "not run" in block.notes:
                not_run.append((block.where(), block.notes["not run"]))
            elif missing:
                skipped.append(f"{block.where()}: {', '.join(missing)} not installed")
            elif block.language == "sh":
                (docs / f"{len(commands):03}.sh").write_text(block.text())
                commands.append(block)
            elif block.language == "c" and (name := re.match(r"/\* (\w+\.c) \*/\n", block.text())):
                (copy / name[1]).write_text(block.text())
                nother += 1
            elif block.language == "c":
                fragments.append(block)
            elif block.language == "go" and (why := go_is_missing()):
                skipped.append(f"{block.where()}: {why}")
            elif block.language == "go":
                go.append(block)
            elif block.language == "rust":
                check_rust(block, crates)
                nother += 1
            elif block.language == "ini":
                units.append(block)
            elif block.language == "pycon":
                nother += 1
            elif block.language not in SHOWN:
                fail(block.where(), f"```{block.language} is no language of this test, or an output without commands")
        kept = ("CCACHE_DIR", "TMPDIR", "LC_ALL")
        environment = {name: os.environ[name] for name in kept if name in os.environ}
        environment |= {"PATH": f"{bin}:{os.environ['PATH']}", "HOME": str(home), "TZ": "UTC", "docs": str(docs)}
        if commands:
            subprocess.run(["bash", "-c", SHELL], cwd=copy, env=environment)
        for number, block in enumerate(commands):
            check_commands(block, docs, number)
    if fragments:
        check_fragments(fragments, shared)
    check_go(go)
    check_units(units, program)
    # A line that goes on from the one before, and a comment, is no command.
    text = "".join(block.text() for block in commands).replace("\\\n", "")
    ncommands = sum(bool(line.strip()) and not line.startswith(("#", " ")) for line in text.splitlines())
    return len(commands), ncommands, nother + len(fragments) + len(go) + len(units), blocks


def check_examples_of_crates():
    """Every public type and free function of the crates must be named in an example, its own or that of its kin. Not of
    what only the program calls: the frame, and commands."""
    names = ("frame", "solaris", "standins", "bench")
    of_program = {ROOT / f"rust/hashloom-{name}/src/lib.rs" for name in names}
    for library in set(ROOT.glob("rust/*/src/lib.rs")) - of_program:
        texts = {path: path.read_text() for path in library.parent.rglob("*.rs")}
        text = "".join(texts.values())
        documents = text + "".join(path.read_text() for path in library.parent.parent.glob("README.md"))
        examples = [code for kind, code in RUST_FENCE.findall(documents) if kind in ("", "rust")]
        shown = set(re.findall(r"\w+", "".join(examples)))
        exports = re.findall(r"(?<!hidden\)\]\n)^pub use ([^;]+);", text, re.M)
        exported = set(re.findall(r"\w+\b(?!::)", " ".join(exports)))
        for path, source in texts.items():
            *folders, module = path.relative_to(library.parent).with_suffix("").parts
            module = folders.pop() if module == "mod" else module
            if {*folders, module} & {*ENGINE, "command"}:
                continue
            for name in re.findall(r"(?<!hidden\)\]\n)^pub (?:const )?(?:fn|struct|enum|trait) (\w+)", source, re.M):
                if (f"\npub mod {module};" in text or name in exported) and name not in shown:
                    fail(path.relative_to(ROOT), f"no example of a documentation comment uses {name}")


def rewrite(path, blocks):
    lines = (ROOT / path).read_text().splitlines()
    for block in reversed(blocks):
        if block.output and hasattr(block.output, "found"):
            first = block.output.line - 1
            lines[first : first + len(block.output.lines)] = block.output.found.splitlines()
    (ROOT / path).write_text("".join(line + "\n" for line in lines))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hashloom")
    parser.add_argument("--require", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("files", nargs="*", metavar="FILE")
    arguments = parser.parse_intermixed_args()
    program = os.path.abspath(arguments.hashloom)
    if not os.access(program, os.X_OK):
        sys.exit(f"test/docs.py: no program {program}")
    run, linked = (sorted({str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern)})
                   for patterns in (RUN, LINKED))
    wanted = [os.path.relpath(ROOT / name, ROOT) for name in arguments.files]
    names = [name for name in wanted or run if name in run]
    if arguments.quick and not wanted:
        names.remove("docs/c.md")
    only_linked = [name for name in wanted or linked if name not in run]
    for name in only_linked:
        check_links(name, (ROOT / name).read_text())
    if not wanted:
        check_examples_of_crates()
    if json_schema.PATH.read_text() != json_schema.text():
        fail("docs/hashloom.schema.json", "not as the structs say: run tools/json_schema.py")
    totals = [0, 0, 0]
    with tempfile.TemporaryDirectory() as shared:
        for name in names:
            *counts, blocks = check_file(name, program, pathlib.Path(shared))
            totals = [total + count for total, count in zip(totals, counts)]
            if arguments.write:
                rewrite(name, blocks)
    for where, reason in not_run:
        print(f"not run: {where}: {reason}")
    for what in skipped:
        print(f"SKIPPED: {what}")
    nblocks, ncommands, nexamples = totals
    print(f"{len(names)} files: {ncommands} commands in {nblocks} blocks, {nexamples} examples in C, Rust, Go, "
          f"Python, units, {len(not_run)} blocks not run; links of {len(only_linked)} more; {len(failures)} failures")
    return 1 if failures or (skipped and arguments.require) else 0


if __name__ == "__main__":
    sys.exit(main())
