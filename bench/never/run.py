#!/usr/bin/env python3
# run.py: hashloom beside the best of what it replaces, in every cell of calls, algorithms, numbers, lengths and CPUs.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A ratio above 1.00 says that hashloom is faster than the fastest of its peers.

    bench/never/run.py [--quick] [--tiers TIER,...] [--beside NAME] [--sides] [--csv FILE]
    bench/never/run.py --from FILE.csv [--sides]

All cells take half an hour, those of --quick six minutes. Algorithms that run the code of another one, as SHA-224
runs that of SHA-256, are not measured. A tier restricts all sides to the instruction sets of a lesser CPU. Peers that
cannot be restricted are left out where they would use more (bench/peers/src/tier.rs). With other work between two
calls, a time is what a call costs the whole program: the call, and by how much it slows the work down.

--beside NAME    only the peers whose names begin with NAME, such as OpenSSL
--sides          every peer, not only the best of a cell; one message, and the most messages, of each call and length
--csv FILE       where the times go (default: build/never.csv); --from reads them
CPU (default: the last one); RUN: put before each run, such as 'chrt -f 50'. CC, PEERS_REQUIRE and the ways to get peers
are those of bench/peers/run.sh, which builds them.
"""

import argparse
import csv
import datetime
import itertools
import os
import shlex
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tools")]
from algorithms import ALGORITHMS  # noqa: E402
from race import machine  # noqa: E402

# All cells are measured as often, minutes apart: a neighbour that is busy for a while spoils one sweep only.
SWEEPS = 3
CALLS = {"one": "one message", "many": "many messages", "rows": "rows", "nodes": "nodes of 64 bytes",
         "hmac": "HMAC, key kept", "hmac-keys": "HMAC, a key each", "stream": "stream, one update",
         "parts": "stream, updates of 40 bytes", "hash160": "hash160", "sha256d": "SHA-256 twice",
         "pbkdf2": "PBKDF2, 100 iterations", "search": "search for nonces",
         "between": "many messages, other work between"}
NAMES = {algorithm.name: algorithm.title for algorithm in ALGORITHMS}


class Cell:
    """The least nanoseconds of each side."""

    def __init__(self, tier, call, algorithm, count, nbytes):
        # The length, or the least and the greatest one.
        self.tier, self.call, self.algorithm, self.count = tier, call, algorithm, int(count)
        self.nbytes = tuple(map(int, nbytes.split("-")))
        self.times = {}

    def add(self, side, ns):
        self.times[side] = min(float(ns), self.times.get(side, float("inf")))

    @property
    def peers(self):
        """The peers, the fastest first, and their ratios."""
        ours = self.times["hashloom"]
        return sorted(((ns / ours, side) for side, ns in self.times.items() if side != "hashloom"))

    @property
    def ratio(self):
        # As printed, so that the verdict fits the figure that a reader sees.
        return round(self.peers[0][0], 2)

    @property
    def size(self):
        for unit, name in ((1 << 20, " MiB"), (1 << 10, " KiB")):
            if self.nbytes[0] >= unit:
                return f"{self.nbytes[0] // unit}{name}"
        return "-".join(map(str, self.nbytes))

    def line(self, *columns):
        return " | ".join(["", self.tier, CALLS[self.call], NAMES[self.algorithm], f"{self.count:,}", self.size,
                           f"{self.times['hashloom']:.1f}", *columns, ""]).strip()


def measure(options):
    build = subprocess.run([ROOT / "bench/peers/run.sh", "--build"], stdout=subprocess.PIPE, text=True)
    if build.returncode:
        sys.exit(build.returncode)
    program, cpu = build.stdout.strip(), os.environ.get("CPU") or str(max(os.sched_getaffinity(0)))
    arguments = ["--rounds", "11", "--few-cells"] if options.quick else ["--rounds", "15"]
    known = subprocess.check_output([program, "--tiers"], text=True).split()
    tiers = options.tiers or known
    if unknown := set(tiers) - set(known):
        sys.exit(f"run.py: unknown tiers {', '.join(unknown)}: there are {', '.join(known)}")
    start = datetime.datetime.now()
    with open(options.csv, "w", encoding="utf-8") as out:
        for sweep, tier in itertools.product(range(SWEEPS), tiers):
            line = [*shlex.split(os.environ.get("RUN", "")), "taskset", "-c", cpu, program, *arguments, "--tier", tier,
                    "--beside", options.beside]
            if subprocess.run(line, stdout=out).returncode:
                sys.exit(f"run.py: {shlex.join(line)} failed")
            seconds = (datetime.datetime.now() - start).seconds
            print(f"sweep {sweep + 1} of {SWEEPS}, {tier}: {seconds} s", file=sys.stderr, flush=True)
    commit = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=7"], cwd=ROOT, text=True,
                            stdout=subprocess.PIPE).stdout.strip()
    listed = subprocess.check_output([program, "--list"], text=True)
    command = f"make bench-never{' ARGS=--quick' * options.quick}"
    return f"`{command}`: hashloom at commit {commit or 'unknown'}. {machine()}, one CPU.\n\n{listed}\n"


def read(path):
    cells = {}
    with open(path, encoding="utf-8") as file:
        for *key, side, ns in csv.reader(file):
            cells.setdefault(tuple(key), Cell(*key)).add(side, ns)
    return list(cells.values())


def report_below(cells):
    """The cells in which hashloom is behind."""
    below = sorted((cell for cell in cells if cell.ratio < 1), key=lambda cell: cell.ratio)
    yield f"## Below 1.00: {len(below):,} of {len(cells):,} cells\n\nLeast times of one message, in ns.\n"
    yield "| ratio | CPU | call | algorithm | messages | bytes | hashloom | the best peer | | cells below |"
    yield "|---:|---|---|---|---:|---:|---:|---:|---|---:|"
    groups = defaultdict(list)
    for cell in below:
        groups[cell.tier, cell.call, cell.algorithm].append(cell)
    for cell in below:
        ratio, side = cell.peers[0]
        ncells = len(groups[cell.tier, cell.call, cell.algorithm])
        yield f"| {ratio:.2f} " + cell.line(f"{cell.times[side]:.1f}", side, str(ncells))


def report_sides(cells):
    yield "| CPU | call | algorithm | messages | bytes | hashloom: ns of a message | time of each peer / hashloom's |"
    yield "|---|---|---|---:|---:|---:|---|"
    most = defaultdict(int)
    for cell in cells:
        key = cell.tier, cell.call, cell.algorithm, cell.nbytes
        most[key] = max(most[key], cell.count)
    for cell in cells:
        if cell.count in (1, most[cell.tier, cell.call, cell.algorithm, cell.nbytes]):
            yield cell.line(", ".join(f"{side} {ratio:.2f}" for ratio, side in cell.peers))


def report(cells):
    """The summary."""
    groups = defaultdict(list)
    for cell in cells:
        groups[cell.tier, cell.call].append(cell)
        groups[cell.tier, None].append(cell)
    tiers = [tier for tier, call in groups if call is None]
    yield ("\n## Summary\n\nThe least ratio, the middle one, and how many of the cells are below 1.00.\n\n"
           f"| | {' | '.join(tiers)} |\n|---|{'---|' * len(tiers)}")
    for call, name in [*CALLS.items(), (None, "all")]:
        found = [[cell.ratio for cell in groups[tier, call]] for tier in tiers]
        yield f"| {name} | " + " | ".join(
            f"{min(ratios):.2f}, {statistics.median(ratios):.2f}; {sum(ratio < 1 for ratio in ratios)} of {len(ratios)}"
            if ratios else "" for ratios in found) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tiers", type=lambda text: text.split(","), default=[])
    parser.add_argument("--beside", metavar="NAME", default="")
    parser.add_argument("--sides", action="store_true")
    parser.add_argument("--csv", metavar="FILE", default=str(ROOT / "build/never.csv"))
    parser.add_argument("--from", dest="source", metavar="FILE")
    options = parser.parse_args()
    os.makedirs(os.path.dirname(os.path.abspath(options.csv)), exist_ok=True)
    head = "" if options.source else measure(options)
    cells = read(options.source or options.csv)
    if not cells:
        sys.exit("run.py: no cells")
    print(head, *(report_sides(cells) if options.sides else [*report_below(cells), *report(cells)]), sep="\n")


if __name__ == "__main__":
    main()
