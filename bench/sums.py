#!/usr/bin/env python3
# sums.py: checksums of many files and of large ones, hashloom and other programs, and how far the goals are reached.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Times whole commands: the least wall and CPU seconds of several rounds, and peak memory.

CPU seconds are user and system time, with the kernel threads that work for the command.

  bench/sums.py HASHLOOM [ROW]... [--quick] [--rounds N] [--dir FOLDER] [--json FILE] [--lock FILE]

All commands of a row take turns, pinned to one CPU unless the row says "all CPUs". The content is random bytes from a
fixed seed, on disk and in the page cache. Every command gets the names of all files at once, or the folder if it walks
folders itself. In every round it must print the digest that Python's hashlib finds for every file. A command that
checks a list must find all files right in every round, and notice one changed byte once. A command that fails is
reported and left out; a program that is not installed is named. If HASHLOOM is `-`, the other programs are timed alone.

Rows: small-sha256 small-sha1 small-all check tiny big-sha256 big-sha1 one (default: all).
Programs are looked for in build/peers/bin and in PATH."""

import argparse
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from commands import one_cpu, random_file, random_folder
from race import ALL, Entrant, Programs, Race, Row, add_arguments, machine, print_goals, write_json

# On one file each program runs at the speed of its block function; these do nothing else that takes time.
FASTEST_OF_ONE_FILE = ("openssl", "uutils", "hashsum")
# Numbers of files that xargs gives to one process of the best peer.
BATCHES = (64, 256, 1024, 4096, 10_000)
DIGEST_AND_NAME = {  # GNU's, BSD's, OpenSSL's and hashdeep's lines: the digest before or after the name
    nbytes: re.compile(rf"\b([0-9a-f]{{{2 * nbytes}}})\b[^\n]*?(\d{{3}}/\d{{3}})\b|(\d{{3}}/\d{{3}})\b[^\n]*?"
                       rf"\b([0-9a-f]{{{2 * nbytes}}})$", re.M) for nbytes in (20, 32)}


class Peers(Programs):
    """The programs, and their command lines."""

    def __init__(self, hashloom):
        if hashloom == "-":
            super().__init__("/nonexistent")
            self.skipped.append("hashloom")
        else:
            super().__init__(hashloom)
        for name, line in (("coreutils", ["sha256sum", "--version"]), ("uutils", ["coreutils", "--version"]),
                           ("openssl", ["openssl", "version"]), ("hashsum", ["hashsum", "--version"]),
                           ("hashdeep", ["hashdeep", "-V"]), ("rhash", ["rhash", "--version"]),
                           ("busybox", ["busybox"])):
            if not self.ask(name, line):
                self.skipped.append(name)

    def hash(self, algorithm, names, only=None):
        """Commands that hash all files of a folder, on one thread if they have an option for it."""
        ours = [self.hashloom, "sum", "-a", algorithm, "--threads", "1"]
        lines = {"hashloom": [*ours, "-r", "."], "hashloom, files named": [*ours, *names],
                 "coreutils": [f"{algorithm}sum", *names], "uutils": ["coreutils", f"{algorithm}sum", *names],
                 "openssl": ["openssl", "dgst", f"-{algorithm}", *names],
                 "hashsum": ["hashsum", "-a", algorithm, *names],
                 "hashdeep": ["hashdeep", "-c", algorithm, "-l", "-j0", "-r", "."],
                 "rhash": ["rhash", f"--{algorithm}", "-r", "."], "busybox": ["busybox", f"{algorithm}sum", *names]}
        return {name: line for name, line in lines.items()
                if self.has(name.split(",")[0]) and (not only or name.startswith(only))}

    def check(self, algorithm, lists):
        """Commands that check all files against a list, GNU's or hashdeep's, on one thread if they have an option."""
        gnu, hashdeep = lists
        lines = {"hashloom": [self.hashloom, "check", "--threads", "1", gnu],
                 "coreutils": [f"{algorithm}sum", "-c", gnu], "uutils": ["coreutils", f"{algorithm}sum", "-c", gnu],
                 "hashsum": ["hashsum", "-a", algorithm, "-c", gnu],
                 "hashdeep": ["hashdeep", "-c", algorithm, "-l", "-j0", "-r", "-a", "-k", hashdeep, "."],
                 "rhash": ["rhash", f"--{algorithm}", "-c", gnu], "busybox": ["busybox", f"{algorithm}sum", "-c", gnu]}
        return {name: line for name, line in lines.items() if self.has(name)}


def digests(folder, names, algorithm):
    """Returns digests by Python's hashlib, which shares no code with the programs timed."""
    found = {}
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = hashlib.file_digest(file, algorithm).hexdigest()
    return found


def printed(output, algorithm):
    """Returns the digests in the output of a program, by name."""
    found = {}
    for match in DIGEST_AND_NAME[hashlib.new(algorithm).digest_size].finditer(output):
        found[match[2] or match[3]] = match[1] or match[4]
    return found


class Batches:
    """xargs runs one program with `batch` files at a time, as many processes at once as there are CPUs.

    If several processes write into one file, their output is cut where their buffers end. Therefore the digests are
    compared once, before the first round, with a file for each slot of xargs; later the number of bytes must fit."""

    def __init__(self, race, names, line, batch, algorithm, wanted, folder):
        self.algorithm, self.wanted, self.folder = algorithm, wanted, folder
        self.nprinted = None
        self.outputs = race.path("xargs-output")
        list_path = race.path("xargs-list")
        with open(list_path, "w") as file:
            file.write("".join(name + "\n" for name in names))
        xargs = ["xargs", "-a", list_path, "-n", str(batch), f"-P{len(ALL)}"]
        self.line = [*xargs, *line]
        self.proof = [*xargs, "--process-slot-var=SLOT", "sh", "-c",
                      f'exec {shlex.join(line)} "$@" >>{shlex.quote(self.outputs)}/$SLOT', "sh"]

    def prepare(self):
        if self.nprinted is not None:
            return
        shutil.rmtree(self.outputs, ignore_errors=True)
        os.mkdir(self.outputs)
        subprocess.run(self.proof, cwd=self.folder, stdin=subprocess.DEVNULL)
        text = ""
        for slot in os.listdir(self.outputs):
            with open(os.path.join(self.outputs, slot)) as file:
                text += file.read()
        shutil.rmtree(self.outputs)
        self.nprinted = len(text) if printed(text, self.algorithm) == self.wanted else -1

    def is_right(self, result):
        return result.status == 0 and len(result.output) == self.nprinted


class Bench(Race):
    def __init__(self, arguments, peers, work):
        super().__init__(arguments, work)
        self.peers = peers

    def scaled(self, count, quick):
        return quick if self.arguments.quick else count

    def hashers(self, folder, names, algorithm, only=None):
        """Entrants that hash the files of a folder; hashlib's digests are the right ones."""
        wanted = digests(folder, names, algorithm)
        return [Entrant(name, line, folder=folder,
                        is_right=lambda result: result.status == 0 and printed(result.output, algorithm) == wanted)
                for name, line in self.peers.hash(algorithm, names, only).items()]

    def small(self, wanted):
        """Files of one read each."""
        rows = {"small-sha256", "small-sha1", "small-all", "check"} & wanted
        if not rows:
            return
        count, nbytes = self.scaled(20_000, 2000), 16 << 10
        folder = self.path(f"small-{count}")
        names = random_folder(folder, count, lambda index: nbytes, seed=5)
        what = f"{count:,} files of 16 KiB"
        with self.content(folder):
            for algorithm in ("sha256", "sha1"):
                if f"small-{algorithm}" in rows:
                    entrants = self.hashers(folder, names, algorithm)
                    entrants.append(Entrant("cat", ["cat", *names], folder=folder, reads_only=True))
                    self.race(Row(f"small-{algorithm}", f"{algorithm}: {what}, one CPU", count * nbytes, entrants,
                                  one_cpu(), self.rounds(7)))
            if "small-all" in rows:
                self.small_all(folder, names, what, count * nbytes)
            if "check" in rows:
                self.check(folder, names, what, count * nbytes)

    def small_all(self, folder, names, what, nbytes):
        """All CPUs; xargs runs the other programs."""
        wanted = digests(folder, names, "sha256")
        entrants = [entrant for entrant in self.hashers(folder, names, "sha256", "hashloom") if "," not in entrant.name]
        for entrant in entrants:
            entrant.line = [part for part in entrant.line if part not in ("--threads", "1")]
        for name, line in self.peers.hash("sha256", [], FASTEST_OF_ONE_FILE).items():
            for batch in BATCHES:
                if batch * len(ALL) <= max(len(names), BATCHES[1]):
                    batches = Batches(self, names, line, batch, "sha256", wanted, folder)
                    entrants.append(Entrant(f"xargs -P{len(ALL)} -n {batch} {name}", batches.line, folder=folder,
                                            prepare=batches.prepare, is_right=batches.is_right))
        self.race(Row("small-all", f"sha256: {what}, {len(ALL)} CPUs", nbytes, entrants, ALL, self.rounds(7)))

    def check(self, folder, names, what, nbytes):
        """Checking against a list."""
        lists = [self.path("list.sha256"), self.path("list.hashdeep")]
        found = digests(folder, names, "sha256")
        with open(lists[0], "w") as gnu, open(lists[1], "w") as hashdeep:
            hashdeep.write("%%%% HASHDEEP-1.0\n%%%% size,sha256,filename\n## \n")
            for name in names:
                gnu.write(f"{found[name]}  {name}\n")
                hashdeep.write(f"{os.path.getsize(os.path.join(folder, name))},{found[name]},./{name}\n")

        def is_right(result):
            nright = len(re.findall(r"^\d+/\d+:? +OK *$", result.output, re.M))
            return result.status == 0 and (nright == len(names) or "Audit passed" in result.output)

        entrants = [Entrant(name, line, folder=folder, is_right=is_right)
                    for name, line in self.peers.check("sha256", lists).items()]
        self.race(Row("check", f"check sha256: {what}, one CPU", nbytes, entrants, one_cpu(), self.rounds(7),
                      damage=os.path.join(folder, names[len(names) // 2])))

    def tiny(self, wanted):
        """Files without content to speak of: opening and closing counts."""
        if "tiny" not in wanted:
            return
        count = self.scaled(100_000, 10_000)
        folder = self.path(f"tiny-{count}")
        names = random_folder(folder, count, lambda index: index % 2, seed=6)
        with self.content(folder):
            entrants = self.hashers(folder, names, "sha256", ("hashloom", *FASTEST_OF_ONE_FILE))
            entrants.append(Entrant("find -exec cat {} +", ["find", ".", "-type", "f", "-exec", "cat", "{}", "+"],
                                    folder=folder, reads_only=True))
            self.race(Row("tiny", f"sha256: {count:,} files, empty and of 1 byte in turn, one CPU", count // 2,
                          entrants, one_cpu(), self.rounds(7)))

    def big(self, wanted):
        """Files of many reads."""
        rows = {"big-sha256", "big-sha1"} & wanted
        if not rows:
            return
        count, nbytes = self.scaled(100, 16), 20 << 20
        folder = self.path(f"big-{count}")
        names = random_folder(folder, count, lambda index: nbytes, seed=7)
        with self.content(folder):
            for algorithm in ("sha256", "sha1"):
                if f"big-{algorithm}" in rows:
                    entrants = self.hashers(folder, names, algorithm)
                    entrants.append(Entrant("cat", ["cat", *names], folder=folder, reads_only=True))
                    self.race(Row(f"big-{algorithm}", f"{algorithm}: {count} files of 20 MiB, one CPU", count * nbytes,
                                  entrants, one_cpu(), self.rounds(5)))

    def one(self, wanted):
        """One file, a serial chain."""
        if "one" not in wanted:
            return
        nbytes = self.scaled(4 << 30, 256 << 20)
        folder = self.path(f"one-{nbytes >> 20}M")
        names = ["000/000"]
        random_file(os.path.join(folder, names[0]), nbytes, seed=8)
        with self.content(folder):
            entrants = self.hashers(folder, names, "sha256", ("hashloom", *FASTEST_OF_ONE_FILE))
            entrants.append(Entrant("cat", ["cat", *names], folder=folder, reads_only=True))
            self.race(Row("one", f"sha256: one file of {nbytes >> 20:,} MiB, one CPU", nbytes, entrants, one_cpu(),
                          self.rounds(5)))


def goals(rows):
    named = {row.name: row for row in rows}

    def ratio(row, theirs=None, of="cpu"):
        row = named.get(row)
        ours = row.get("hashloom", of) if row else None
        if theirs:
            found = row.get(theirs, of) if row else None
        else:
            found = min((getattr(e.least, of) for e in (row.entrants if row else []) if e.least.rounds
                         and not e.reads_only and not e.name.startswith("hashloom")), default=None)
        return found / ours if found and ours else None

    yield "SHA-256 of small files, one CPU / the best peer", 1.5, ratio("small-sha256")
    yield "SHA-1 of small files, one CPU / the best peer", 1.7, ratio("small-sha1")
    yield "SHA-256 of small files, one CPU / coreutils sha256sum", 5.0, ratio("small-sha256", "coreutils")
    yield "SHA-256 of small files, all CPUs, wall / xargs with the best peer", 1.5, ratio("small-all", of="wall")
    yield "SHA-256 of large files, one CPU / the best peer", 1.6, ratio("big-sha256")
    yield "SHA-1 of large files, one CPU / the best peer", 2.1, ratio("big-sha1")
    yield "SHA-256 of one file / the best peer", 1.0, ratio("one")
    yield "checking small files, one CPU / the best peer", 1.5, ratio("check")
    yield "empty and 1-byte files, wall / find -exec cat", 1 / 1.5, ratio("tiny", "find", of="wall")


ROWS = ["small-sha256", "small-sha1", "small-all", "check", "tiny", "big-sha256", "big-sha1", "one"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("hashloom", help="the program; - times the others alone")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"one of {' '.join(ROWS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="use a tenth of the content")
    add_arguments(parser)
    arguments = parser.parse_args()
    if unknown := set(arguments.rows) - set(ROWS):
        parser.error(f"no such row: {' '.join(sorted(unknown))}; there are {' '.join(ROWS)}")
    wanted = set(arguments.rows or ROWS)
    if arguments.hashloom != "-" and not shutil.which(arguments.hashloom):
        parser.error(f"{arguments.hashloom}: no such program: run make build first")
    parent = arguments.dir or tempfile.gettempdir()
    os.makedirs(parent, exist_ok=True)
    if not arguments.dir and not arguments.quick and shutil.disk_usage(parent).free < 6 << 30:
        parser.error(f"{parent}: 6 GiB must be free: give another folder with --dir, or --quick")
    peers = Peers(arguments.hashloom)
    print(machine())
    peers.print_all()

    with tempfile.TemporaryDirectory(prefix="hashloom-bench-") as temporary:
        bench = Bench(arguments, peers, os.path.abspath(arguments.dir or temporary))
        bench.small(wanted)
        bench.tiny(wanted)
        bench.big(wanted)
        bench.one(wanted)
    found = list(goals(bench.rows))
    print_goals(found)
    if arguments.json:
        write_json(arguments.json, peers, bench.rows, found)


if __name__ == "__main__":
    sys.exit(main())
