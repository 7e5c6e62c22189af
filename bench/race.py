# race.py: commands that take turns, their times, and how far the goals are reached.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The parts that the benchmarks of whole commands share: entrants, rows, the race, tables, goals and their JSON.

Every command of a row must be right in every round. If the row names a file to damage, the command must also notice one
changed byte. A command that is wrong is reported and left out."""

import argparse
import datetime
import fcntl
import json
import os
import re
import shlex
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field

from commands import Least, own_peak_nbytes, run

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ALL = os.sched_getaffinity(0)


class Programs:
    """The installed programs and their versions."""

    def __init__(self, hashloom):
        os.environ["PATH"] = os.path.join(ROOT, "build", "peers", "bin") + os.pathsep + os.environ["PATH"]
        self.hashloom = os.path.abspath(hashloom)
        self.versions, self.skipped = [], []
        self.ask("hashloom", [self.hashloom, "--version"])

    def ask(self, name, line, must_succeed=False):
        """Notes the version. Returns False if the program is missing."""
        if not shutil.which(line[0]):
            return False
        done = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        if must_succeed and done.returncode != 0:
            return False
        first = (done.stdout.strip() or "?").splitlines()[0]
        self.versions.append(re.sub(r" \(c\).*", "", first if name[:4] in first else f"{name} {first}"))
        return True

    def has(self, name):
        return name not in self.skipped

    def print_all(self):
        print(", ".join(self.versions))
        for name in self.skipped:
            print(f"skipped: {name} (not installed)")


@dataclass
class Entrant:
    """A command in a race."""
    name: str
    line: list
    # Returns true if a run reported the truth about the content, or wrote the right file.
    is_right: object = lambda result: result.status == 0
    # The command is ended as soon as its output matches.
    until: bytes = None
    # Called before each run, not timed.
    prepare: object = None
    # The folder to run in, if it matters.
    folder: str = None
    # The command reads, but judges nothing.
    reads_only: bool = False
    # Why the command need not notice a changed byte.
    blind: str = None
    least: Least = field(default_factory=Least)
    failure: str = None


@dataclass
class Row:
    """A race and its subject."""
    name: str
    title: str
    nbytes: int
    entrants: list
    cpus: set
    rounds: int
    # A file of the content in which a byte is changed, to see whether commands notice.
    damage: str = None
    # Files that are read before each command, so that all commands find the same in the page cache.
    warm: list = ()

    def get(self, start, of="cpu"):
        """Returns the least of the entrants whose names begin with `start`, if any finished."""
        found = [getattr(e.least, of) for e in self.entrants if e.name.startswith(start) and e.least.rounds]
        return min(found, default=None)


class Race:
    """Makes and removes content, runs rows and remembers them."""

    def __init__(self, arguments, work):
        self.arguments, self.work = arguments, work
        self.keep = arguments.dir is not None
        self.rows = []

    def rounds(self, usual):
        return self.arguments.rounds or usual

    def path(self, name):
        return os.path.join(self.work, name)

    @contextmanager
    def content(self, *paths):
        """Removes the content afterwards, unless it lies in a folder that the caller gave."""
        try:
            yield
        finally:
            if not self.keep:
                for path in paths:
                    (shutil.rmtree if os.path.isdir(path) else os.remove)(path)

    def race(self, row):
        """Runs the entrants of a row in turns and prints their times."""
        self.rows.append(row)
        print(f"\n{row.title}\n", flush=True)
        if row.damage:
            with self.turn(), damaged(row.damage):
                for entrant in row.entrants:
                    if not entrant.reads_only and not entrant.blind and self.run(row, entrant) is not None:
                        entrant.failure = "accepts damaged content as complete"
        for _ in range(row.rounds):
            with self.turn():
                for entrant in row.entrants:
                    if entrant.failure is None:
                        result = self.run(row, entrant)
                        if result is None:
                            entrant.failure = self.failure
                        else:
                            entrant.least.add(result)
        print_row(row)

    def run(self, row, entrant):
        """Returns the result, or None if the run was wrong; `self.failure` then says why."""
        if entrant.prepare:
            entrant.prepare()
        for path in row.warm:
            read_whole(path)
        result = run(entrant.line, row.cpus, until=entrant.until, keep=not entrant.reads_only,
                     folder=entrant.folder)
        if startup := re.search(r"^startup ([\d.e-]+)$", result.output, re.M):
            result.cpu -= float(startup[1])
        if entrant.is_right(result):
            return result
        last = ([line for line in result.output.splitlines() if line.strip()] or ["no output"])[-1]
        what = "wrong, status" if result.status == 0 else "failed, status"
        self.failure = f"{what} {result.status}: {''.join(filter(str.isprintable, last))[:90]}"
        return None

    @contextmanager
    def turn(self):
        """Lets several users of one machine measure in turns."""
        if not self.arguments.lock:
            yield
            return
        with open(self.arguments.lock, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def read_whole(path):
    buffer = bytearray(1 << 20)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


@contextmanager
def damaged(path):
    """Changes one byte in the middle of a file, and changes it back."""
    at = os.path.getsize(path) // 2
    with open(path, "r+b", buffering=0) as file:
        byte = os.pread(file.fileno(), 1, at)
        os.pwrite(file.fileno(), bytes([byte[0] ^ 1]), at)
        try:
            yield
        finally:
            os.pwrite(file.fileno(), byte, at)


def print_row(row):
    ours = row.entrants[0].least if row.entrants[0].name.startswith("hashloom") else Least()
    floor = own_peak_nbytes()
    print(f"| {row.name:<31}| wall s | CPU s | GB per CPU s | peak MiB | times hashloom: wall, CPU |")
    print(f"|{'-' * 32}|--------|-------|--------------|----------|---------------------------|")
    for entrant in row.entrants:
        least = entrant.least
        if entrant.failure:
            print(f"| {entrant.name:<31}| {entrant.failure}")
            continue
        peak = least.peak_nbytes / (1 << 20)
        peak = f"{'<' if least.peak_nbytes <= floor * 1.1 else ''}{peak:.0f}"
        times = f"{least.wall / ours.wall:12.2f}, {least.cpu / ours.cpu:5.2f}" if ours.rounds else f"{'-':>12}      -"
        print(f"| {entrant.name:<31}| {least.wall:6.3f} | {least.cpu:5.3f} | {row.nbytes / least.cpu * 1e-9:12.2f} | "
              f"{peak:>8} | {times}       |", flush=True)
    for entrant in row.entrants:
        if row.damage and entrant.blind and entrant.least.rounds:
            print(f"{entrant.name} was not tested with damage: {entrant.blind}")


def print_goals(goals):
    """Prints goals: a name, the least wanted, and the value found or None."""
    print(f"\n| {'goal':<66}| at least | found |")
    print(f"|{'-' * 67}|----------|-------|")
    for name, want, found in goals:
        if found is not None:
            # The figure as shown decides: 3.196 is 3.20.
            verdict = "" if round(found, 2) >= want else " missed"
            print(f"| {name:<66}| {want:8.2f} | {found:5.2f} |{verdict}")
        else:
            print(f"| {name:<66}| {want:8.2f} |     - |")


def machine():
    model = "unknown CPU"
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as cpuinfo:
            model = next((line.split(":")[1].strip() for line in cpuinfo if line.startswith("model name")), model)
    system = os.uname()
    return f"{model}, {len(ALL)} CPUs, {system.sysname} {system.release}, {datetime.date.today()}"


def write_json(path, peers, rows, goals):
    document = {"machine": machine(), "versions": peers.versions, "skipped": peers.skipped, "rows": [{
        "row": row.name, "title": row.title, "bytes": row.nbytes, "commands": [{
            "name": e.name, "line": shlex.join(e.line[:40]), "failure": e.failure, **({
                "wall_seconds": e.least.wall, "cpu_seconds": e.least.cpu, "peak_bytes": e.least.peak_nbytes,
                "rounds": [{"wall_seconds": wall, "cpu_seconds": cpu} for wall, cpu in e.least.rounds],
            } if e.least.rounds else {})} for e in row.entrants]} for row in rows],
        "goals": [{"goal": name, "at_least": want, "found": found} for name, want, found in goals]}
    with open(path + ".new", "w") as file:
        json.dump(document, file, indent=2)
        file.write("\n")
    os.replace(path + ".new", path)


def add_arguments(parser):
    parser.add_argument("--rounds", type=int, help="rounds of each row (default: 5, or 7 for quick rows)")
    parser.add_argument("--dir", help="where to make and keep the content (default: a temporary folder)")
    parser.add_argument("--json", metavar="FILE", help="write the results of every round to FILE")
    parser.add_argument("--lock", metavar="FILE", help="lock FILE during each round, so that others can measure too")


def size(text):
    match = re.fullmatch(r"(\d+)([KMG]?)", text)
    if not match or int(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text}: expected a number of bytes such as 512M or 4G")
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2]]
