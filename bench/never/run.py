#!/usr/bin/env python3
# run.py: hashloom beside the best of what it replaces, in every cell of calls, algorithms, numbers, lengths and CPUs.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A ratio above 1.00 says that hashloom is faster than the fastest of its peers.

    bench/never/run.py [--quick] [--tiers TIER,...] [--results NAME] [--csv FILE]
    bench/never/run.py --from FILE.csv [--before FILE.csv] [--results NAME]

All cells take half an hour, those of --quick five minutes. Algorithms that run the code of another one, as SHA-224
runs that of SHA-256, are not measured. A tier restricts all sides to the instruction sets of a lesser CPU. Peers that
cannot be restricted are left out where they would use more (bench/peers/src/tier.rs).

--csv FILE       where the times go (default: build/never.csv); --from reads them
--results NAME   writes bench/results/DATE-never-NAME.md, such as NAME epyc-zen4
--before FILE    compares with an earlier run
CPU, RUN, CC, PEERS_REQUIRE and the ways to get peers are those of bench/peers/run.sh, which builds them.
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

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tools"))
from algorithms import ALGORITHMS  # noqa: E402

# All cells are measured as often, minutes apart: a neighbour that is busy for a while spoils one sweep only.
SWEEPS = 3
# What `hashloom-bench-peers --never` prints.
COLUMNS = ["tier", "call", "algorithm", "count", "nbytes", "hashloom_ns", "peer", "peer_ns"]
TIERS = {
    "here": "this CPU",
    "no-avx512": "no AVX-512",
    "avx2": "AVX2, no SHA instructions",
    "ssse3": "SSSE3",
    "plain": "SSE2",
}
CALLS = {
    "one": "one message",
    "many": "many messages",
    "rows": "rows",
    "nodes": "nodes of 64 bytes",
    "hmac": "HMAC, key kept",
    "hmac-keys": "HMAC, a key each",
    "stream": "stream, one update",
    "parts": "stream, updates of 40 bytes",
    "hash160": "hash160",
    "sha256d": "SHA-256 twice",
    "pbkdf2": "PBKDF2, 100 iterations",
    "search": "search for nonces",
}
NAMES = {algorithm.name: algorithm.title for algorithm in ALGORITHMS}


class Cell:
    def __init__(self, row):
        self.tier, self.call, self.algorithm = row["tier"], row["call"], row["algorithm"]
        # The length, or the least and the greatest one.
        self.count, self.nbytes = int(row["count"]), tuple(map(int, row["nbytes"].split("-")))
        self.ours, self.peer, self.theirs = float(row["hashloom_ns"]), row["peer"], float(row["peer_ns"])
        self.key = (self.tier, self.call, self.algorithm, self.count, self.nbytes)

    def take(self, other):
        self.ours = min(self.ours, other.ours)
        self.theirs, self.peer = min((self.theirs, self.peer), (other.theirs, other.peer))

    @property
    def ratio(self):
        return self.theirs / self.ours

    @property
    def is_below(self):
        # As printed, so that the verdict fits the figure that a reader sees.
        return round(self.ratio, 2) < 1


def default_tiers():
    """Without AVX-512, `no-avx512` would be this CPU once more."""
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        has_avx512 = "avx512f" in info.read().split()
    return [tier for tier in TIERS if has_avx512 or tier != "no-avx512"]


def build():
    """Returns the program, and the environment that it needs."""
    build = [os.path.join(ROOT, "bench", "peers", "run.sh"), "--build"]
    done = subprocess.run(build, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    program, go = done.stdout.splitlines()
    return program, dict(os.environ, PEERS_GO=go)


def measure(options, path):
    program, environment = build()
    cpu = os.environ.get("CPU") or str(os.cpu_count() - 1)
    arguments = ["--rounds", "11", "--few-cells"] if options.quick else ["--rounds", "15"]
    start = datetime.datetime.now()
    with open(path, "w", encoding="utf-8") as out:
        for sweep, tier in itertools.product(range(SWEEPS), options.tiers):
            line = [*shlex.split(os.environ.get("RUN", "")), "taskset", "-c", cpu, program, *arguments, "--never", tier]
            if subprocess.run(line, env=environment, stdout=out).returncode:
                sys.exit(f"run.py: {shlex.join(line)} failed")
            seconds = (datetime.datetime.now() - start).seconds
            print(f"sweep {sweep + 1} of {SWEEPS}, {tier}: {seconds} s", file=sys.stderr, flush=True)
    listed = subprocess.run([program, "--list"], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        model = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), "CPU unknown")
    commit = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=7"], cwd=ROOT, text=True,
                            stdout=subprocess.PIPE).stdout.strip()
    with open(path + ".head", "w", encoding="utf-8") as head:
        command = "make bench-never" + " ARGS=--quick" * options.quick
        print(f"`{command}`: hashloom at commit {commit or 'unknown'}, {start:%F}. "
              f"{model}, one CPU of {os.cpu_count()}.\n\n{listed.stdout}", file=head)


def read(path):
    """The least times of all sweeps."""
    cells = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file, COLUMNS):
            cell = Cell(row)
            cells.setdefault(cell.key, cell).take(cell)
    return list(cells.values())


def size(lengths):
    if len(lengths) > 1:
        return "-".join(map(str, lengths))
    (nbytes,) = lengths
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if nbytes >= unit:
            return f"{nbytes // unit} {name}"
    return str(nbytes)


def report_below(cells, is_whole):
    """The cells in which hashloom is behind; or the worst of each CPU, call and algorithm."""
    below = sorted((cell for cell in cells if cell.is_below), key=lambda cell: cell.ratio)
    yield f"## Below 1.00: {len(below):,} of {len(cells):,} cells\n\nLeast times of one message, in ns.\n"
    yield "| ratio | CPU | call | algorithm | messages | bytes | hashloom | the best peer | | cells below |"
    yield "|---:|---|---|---|---:|---:|---:|---:|---|---:|"
    groups = defaultdict(int)
    for cell in below:
        groups[cell.key[:3]] += 1
    for cell in below:
        number = groups[cell.key[:3]]
        if number:
            yield (f"| {cell.ratio:.2f} | {TIERS[cell.tier]} | {CALLS[cell.call]} | {NAMES[cell.algorithm]} | "
                   f"{cell.count:,} | {size(cell.nbytes)} | {cell.ours:.1f} | {cell.theirs:.1f} | {cell.peer} | "
                   f"{number} |")
        if not is_whole:
            groups[cell.key[:3]] = 0


def report(cells, before):
    """The rest of the result, as Markdown."""
    groups = defaultdict(list)
    for cell in cells:
        groups[cell.tier, cell.call].append(cell)
    tiers = [tier for tier in TIERS if any(cell.tier == tier for cell in cells)]
    yield ("\n## Summary\n\nThe least ratio, the middle one, and how many of the cells are below 1.00.\n\n"
           f"| | {' | '.join(TIERS[tier] for tier in tiers)} |\n|---|{'---|' * len(tiers)}")
    for call, name in [*CALLS.items(), (None, "all")]:
        line = []
        for tier in tiers:
            found = groups[tier, call] if call else [cell for cell in cells if cell.tier == tier]
            ratios = [cell.ratio for cell in found]
            line.append(f"{min(ratios):.2f}, {statistics.median(ratios):.2f}; "
                        f"{sum(cell.is_below for cell in found)} of {len(found)}" if found else "")
        yield f"| {name} | {' | '.join(line)} |"

    if before:
        old = {cell.key: cell for cell in before}
        yield ("\n## Before and now\n\n"
               "| CPU | below 1.00 before | now | time now / before: least, middle, most | above 1.05 |\n"
               "|---|---:|---:|---|---:|")
        for tier in tiers:
            pairs = [(old[cell.key], cell) for cell in cells if cell.tier == tier and cell.key in old]
            if pairs:
                times = [now.ours / then.ours for then, now in pairs]
                yield (f"| {TIERS[tier]} | {sum(then.is_below for then, _ in pairs)} | "
                       f"{sum(now.is_below for _, now in pairs)} | "
                       f"{min(times):.2f}, {statistics.median(times):.2f}, {max(times):.2f} | "
                       f"{sum(time > 1.05 for time in times)} |")

    # Linux hashes pairs of messages over SHA instructions, at best twice as fast as one after the other.
    yield ("\n## Two messages in one call / one after the other\n\n`hl_hash_many` of two / twice `hl_hash`; Linux's "
           "`sha256_finup_2x` is to reach 1.9.\n")
    lengths = sorted({cell.nbytes for cell in cells if cell.call == "one"})
    yield f"| CPU | algorithm | {' | '.join(map(size, lengths))} |\n|---|---|{'---:|' * len(lengths)}"
    times = {cell.key: cell.ours for cell in cells}
    for tier in tiers:
        for algorithm, name in NAMES.items():
            pairs = [(times.get((tier, "one", algorithm, 1, nbytes)), times.get((tier, "many", algorithm, 2, nbytes)))
                     for nbytes in lengths]
            if any(all(pair) for pair in pairs):
                line = " | ".join(f"{one / two:.2f}" if one and two else "" for one, two in pairs)
                yield f"| {TIERS[tier]} | {name} | {line} |"

    for tier in tiers:
        yield f"\n## All ratios: {TIERS[tier]}"
        for call, name in CALLS.items():
            found = groups[tier, call]
            if not found:
                continue
            counts = sorted({cell.count for cell in found})
            yield (f"\n| {name} | bytes | {' | '.join(f'{count:,}' for count in counts)} |\n"
                   f"|---|---:|{'---:|' * len(counts)}")
            ratios = {cell.key: cell.ratio for cell in found}
            for algorithm in NAMES:
                for nbytes in sorted({cell.nbytes for cell in found if cell.algorithm == algorithm}):
                    line = [ratios.get((tier, call, algorithm, count, nbytes)) for count in counts]
                    yield (f"| {NAMES[algorithm]} | {size(nbytes)} | "
                           f"{' | '.join('' if ratio is None else f'{ratio:.2f}' for ratio in line)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tiers", type=lambda text: text.split(","), default=default_tiers())
    parser.add_argument("--csv", metavar="FILE", default=os.path.join(ROOT, "build", "never.csv"))
    parser.add_argument("--from", dest="source", metavar="FILE")
    parser.add_argument("--before", metavar="FILE")
    parser.add_argument("--results", metavar="NAME")
    options = parser.parse_args()
    if unknown := set(options.tiers) - set(TIERS):
        parser.error(f"unknown tiers {', '.join(unknown)}: there are {', '.join(TIERS)}")
    path = options.source or options.csv
    if not options.source:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        measure(options, path)
    cells = read(path)
    if not cells:
        sys.exit(f"run.py: no cells in {path}")
    head = open(path + ".head", encoding="utf-8").read() if os.path.exists(path + ".head") else ""
    rest = "\n".join(report(cells, read(options.before) if options.before else None))
    if options.results:
        name = f"{datetime.date.today()}-never-{options.results}.md"
        with open(os.path.join(ROOT, "bench", "results", name), "w", encoding="utf-8") as file:
            below = "\n".join(report_below(cells, is_whole=False))
            file.write(f"# hashloom / the best of what it replaces\n\n{head}{below}\n{rest}\n")
    print(*report_below(cells, is_whole=True), rest.split("\n## All ratios", 1)[0], sep="\n")


if __name__ == "__main__":
    main()
