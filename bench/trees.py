#!/usr/bin/env python3
# trees.py: `hashloom tree`, fsverity, veritysetup and botocore, and how far the goal is reached.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Times whole commands: the least wall and CPU seconds (user and system) of several rounds.

  bench/trees.py HASHLOOM [ROW]... [--size 4G] [--rounds N] [--dir FOLDER] [--lock FILE]

All commands of a row take turns, pinned to one CPU, on one file of random bytes from a fixed seed, in the page cache.
In every round all commands of a row must find the same root. A program that is not installed is named.

Rows: fsverity fsverity-sha512 fsverity-salt dmverity dmverity-file verify glacier bep52 (default: all).
Programs are looked for in PATH and /usr/sbin, botocore in build/venv and in python3. Its time includes the start of
Python."""

import argparse
import datetime
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile

from commands import Least, one_cpu, random_file, run

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SALT = "00112233445566778899aabbccddeeff" * 2
UUID = "01234567-89ab-cdef-0123-456789abcdef"
BOTOCORE = "import sys; from botocore.utils import calculate_tree_hash as f; print(f(open(sys.argv[1], 'rb')))"
# The issue that this program was written for sets these goals: hashloom's speed divided by the other's.
GOALS = {"fsverity": 2.0}


def python_with_botocore():
    for python in (os.path.join(ROOT, "build", "venv", "bin", "python"), "python3"):
        if shutil.which(python) and subprocess.run([python, "-c", "import botocore.utils"], stderr=subprocess.DEVNULL,
                                                   stdout=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def rows(hashloom, data, hashes):
    """Yields rows: name, title, and commands, each with a pattern for the part of its output that must be equal."""
    def ours(*arguments, threads=1):
        return [hashloom, "tree", *arguments, "--threads", str(threads)]

    verity = ["--salt", SALT, data]
    root = r"Root hash:\s+([0-9a-f]+)"
    cat = ("cat, to nowhere", ["cat", data], None)
    yield "fsverity", "fs-verity digest, SHA-256", [
        ("hashloom tree fsverity", ours("fsverity", data), r"sha256:(\w+)"),
        ("fsverity digest", ["fsverity", "digest", data], r"sha256:(\w+)"), cat]
    yield "fsverity-sha512", "fs-verity digest, SHA-512", [
        ("hashloom tree fsverity", ours("fsverity", "--algorithm", "sha512", data), r"sha512:(\w+)"),
        ("fsverity digest", ["fsverity", "digest", "--hash-alg", "sha512", data], r"sha512:(\w+)")]
    yield "fsverity-salt", "fs-verity digest, SHA-256, 32 bytes of salt", [
        ("hashloom tree fsverity", ours("fsverity", "--salt", SALT, data), r"sha256:(\w+)"),
        ("fsverity digest", ["fsverity", "digest", f"--salt={SALT}", data], r"sha256:(\w+)")]
    yield "dmverity", "dm-verity root hash and hash file, SHA-256, 32 bytes of salt", [
        ("hashloom tree dmverity format", ours("dmverity", "format", "--force", "--uuid", UUID, *verity, hashes), root),
        ("veritysetup format", ["veritysetup", "format", "--uuid", UUID, *verity, hashes], root)]
    yield "verify", "dm-verity check of all blocks", [
        ("hashloom tree dmverity verify", ours("dmverity", "verify", data, hashes, "ROOT"), None),
        ("veritysetup verify", ["veritysetup", "verify", data, hashes, "ROOT"], None)]
    botocore = python_with_botocore()
    yield "glacier", "Glacier tree hash", [
        ("hashloom tree glacier", ours("glacier", data), r"(\w{64})"),
        ("botocore calculate_tree_hash", [botocore, "-c", BOTOCORE, data] if botocore else ["botocore"], r"(\w{64})")]
    yield "bep52", "pieces root of BEP 52", [("hashloom tree bep52", ours("bep52", data), None), cat]


def race(commands, rounds, nbytes, lock):
    least, failure = {name: Least() for name, _, _ in commands}, {}
    for name, line, _ in commands:
        if not shutil.which(line[0]):
            failure[name] = "not installed"
    for _ in range(rounds):
        with open(lock or os.devnull, "a") as file:
            if lock:
                fcntl.flock(file, fcntl.LOCK_EX)
            found = set()
            for name, line, pattern in commands:
                if name in failure:
                    continue
                result = run(line, one_cpu(), keep=not name.startswith("cat"))
                match = re.search(pattern, result.output) if pattern else None
                if result.status != 0 or (pattern and not match):
                    last = (result.output.strip() or "no output").splitlines()[-1]
                    failure[name] = f"failed, status {result.status}: {last[:90]}"
                    continue
                least[name].add(result)
                found |= {match[1]} if match else set()
            if len(found) > 1:
                sys.exit(f"trees.py: {[name for name, _, _ in commands]} find different roots: {found}")
    first = least[commands[0][0]]
    print("| command                          | wall s | CPU s | GB/s | times hashloom: wall, CPU |")
    print("|----------------------------------|--------|-------|------|---------------------------|")
    for name, _, _ in commands:
        if name in failure:
            print(f"| {name:<32} | {failure[name]} |")
            continue
        time = least[name]
        times = f"{time.wall / first.wall:12.2f}, {time.cpu / first.cpu:5.2f}" if first.rounds else ""
        print(f"| {name:<32} | {time.wall:6.3f} | {time.cpu:5.3f} | {nbytes / time.wall * 1e-9:4.2f} | {times:<25} |")
    return least


def size(text):
    return int(text[:-1]) << {"K": 10, "M": 20, "G": 30}[text[-1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("hashloom", help="the program")
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--size", type=size, default=4 << 30, help="size of the file, such as 512M or 4G")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--dir", help="where to make and keep the file (default: a temporary folder)")
    parser.add_argument("--lock", help="lock this file during each round, so that others can measure in turns")
    arguments = parser.parse_args()
    os.environ["PATH"] += os.pathsep + "/usr/sbin"
    hashloom = os.path.abspath(arguments.hashloom)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.dir or temporary
        data, hashes = os.path.join(folder, f"tree-{arguments.size >> 20}M.bin"), os.path.join(temporary, "hashes")
        random_file(data, arguments.size, seed=4096)
        with open(data, "rb") as warm:
            while warm.read(1 << 20):
                pass
        print(f"{datetime.date.today()}, {arguments.size >> 20} MiB in the page cache, one CPU, least of "
              f"{arguments.rounds} rounds")
        missed, root = [], None
        for name, title, commands in rows(hashloom, data, hashes):
            if arguments.rows and name not in arguments.rows:
                continue
            if name == "verify":
                root = subprocess.run([hashloom, "tree", "dmverity", "format", "--force", "--salt", SALT, data, hashes],
                                      stdout=subprocess.PIPE, text=True, check=True).stdout.split()[-1]
                commands = [(who, [root if part == "ROOT" else part for part in line], pattern)
                            for who, line, pattern in commands]
            print(f"\n{name}: {title}\n", flush=True)
            least = race(commands, arguments.rounds, arguments.size, arguments.lock)
            ours, theirs = commands[0][0], commands[-1][0] if name != "fsverity" else "fsverity digest"
            if name in GOALS and least[ours].rounds and least[theirs].rounds:
                ratios = (least[theirs].wall / least[ours].wall, least[theirs].cpu / least[ours].cpu)
                print(f"\ngoal {GOALS[name]}: {ratios[0]:.2f} by wall, {ratios[1]:.2f} by CPU time")
                missed += [name] if min(ratios) < GOALS[name] else []
        if missed:
            print(f"\nmissed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
