# race.py: commands that take turns, their least times, and the content that they work on.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the benchmarks of whole commands share.

All commands of a row take turns (A B C A B C ...), so that a slow moment of the machine affects all alike. The least
time of each command is printed. A ratio is the median of those of the rounds; where half of the rounds differ by a
tenth and more, as on a busy machine, it is the range of that half. Every command must be right in every round. If the
row names a file to damage, the command must also notice one changed byte. A command that is wrong is reported and left
out."""

import argparse
import datetime
import hashlib
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "test"))
from bencode import bencode  # noqa: E402

ALL = os.sched_getaffinity(0)
# The last CPU: the first serves most interrupts.
ONE = {max(ALL)}
# A command that takes longer is ended: some peers wait for ever if content is damaged.
LIMIT_SECONDS = 600


@dataclass
class Least:
    """The times of a command, and its peak memory, after several runs."""
    walls: list = field(default_factory=list)
    cpus: list = field(default_factory=list)
    peak_nbytes: int = 0

    def add(self, result):
        self.walls.append(result.wall)
        self.cpus.append(result.cpu)
        self.peak_nbytes = max(self.peak_nbytes, result.peak_nbytes)

    @property
    def wall(self):
        return min(self.walls)

    @property
    def cpu(self):
        return min(self.cpus)

    def __bool__(self):
        return bool(self.walls)


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
    folder: str = None
    environment: dict = field(default_factory=dict)
    # The command reads, but judges nothing.
    reads_only: bool = False
    # Why the command need not notice a changed byte.
    blind: str = None
    least: Least = field(default_factory=Least)
    failure: str = None

    def run(self, cpus, least):
        """Runs the command once, and notes its times or why it failed. Returns true if it was right."""
        if self.prepare:
            self.prepare()
        result = run(self.line, cpus, self.environment, self.until, not self.reads_only, self.folder)
        if startup := re.search(r"^startup ([\d.e-]+)$", result.output, re.M):
            # Python has to start before a library can.
            result.wall -= float(startup[1])
            result.cpu -= float(startup[1])
        if self.is_right(result):
            least.add(result)
            return True
        last = ([line for line in result.output.splitlines() if line.strip()] or ["no output"])[-1]
        self.failure = f"wrong, status {result.status}: {''.join(filter(str.isprintable, last))[:90]}"
        return False


def run(line, cpus, environment=None, until=None, keep=True, folder=None):
    """Runs a command. Its output goes to a file, which needs no reader during the run; if `keep` is false, to
    /dev/null. A child begins as a copy of this program: less memory than this program has cannot be measured."""
    with tempfile.TemporaryFile() as out:
        os.sched_setaffinity(0, cpus)
        try:
            start = time.perf_counter()
            child = subprocess.Popen(line, env=os.environ | (environment or {}), cwd=folder, stdin=subprocess.DEVNULL,
                                     stdout=out if keep else subprocess.DEVNULL, stderr=subprocess.STDOUT)
        finally:
            os.sched_setaffinity(0, ALL)
        timer = threading.Timer(LIMIT_SECONDS, child.kill)
        timer.start()
        try:
            pid = 0
            while pid == 0:
                pid, status, usage = os.wait4(child.pid, os.WNOHANG if until else 0)
                wall = time.perf_counter() - start
                if until and pid == 0:
                    if re.search(until, os.pread(out.fileno(), 1 << 20, 0)):
                        os.kill(child.pid, 9)
                    time.sleep(0.005)
        except BaseException:
            child.kill()
            raise
        finally:
            timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        output = out.read().decode(errors="replace")
    return SimpleNamespace(wall=wall, cpu=usage.ru_utime + usage.ru_stime, peak_nbytes=usage.ru_maxrss * 1024,
                           status=child.returncode, output=output)


class Programs:
    """The installed programs and their versions."""

    def __init__(self, hashloom, others):
        os.environ["PATH"] = os.pathsep.join([str(ROOT / "build/peers/bin"), os.environ["PATH"], "/usr/sbin"])
        if not shutil.which(hashloom):
            sys.exit(f"{hashloom}: no such program: run make build first")
        self.hashloom = os.path.abspath(hashloom)
        self.versions, self.skipped = [], []
        for name, line in {"hashloom": [self.hashloom, "--version"], **others}.items():
            done = shutil.which(line[0]) and subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                                            stderr=subprocess.STDOUT, text=True)
            if done and (done.returncode == 0 or "python" not in line[0]):
                first = (done.stdout.strip() or "?").splitlines()[0]
                self.versions.append(first if name[:4] in first else f"{name} {first}")
            else:
                self.skipped.append(name)

    def has(self, name):
        return name not in self.skipped

    def print_all(self):
        print(machine(), ", ".join(self.versions), *(f"skipped: {name} (not installed)" for name in self.skipped),
              sep="\n")


def race(name, title, nbytes, entrants, cpus, rounds, damage=None):
    """Runs the entrants in turns, and prints their times beside those of the first one."""
    print(f"\n{title}\n", flush=True)
    if damage:
        with damaged(damage):
            for entrant in entrants:
                if not entrant.reads_only and not entrant.blind and entrant.run(cpus, Least()):
                    entrant.failure = "accepts damaged content as complete"
                else:
                    entrant.failure = None
    for _ in range(rounds):
        for entrant in entrants:
            if entrant.failure is None:
                entrant.run(cpus, entrant.least)
    ours = entrants[0].least
    print(f"| {name:<31}| wall s | CPU s | GB per CPU s | peak MiB | times hashloom: wall, CPU |")
    print(f"|{'-' * 32}|--------|-------|--------------|----------|---------------------------|")
    for entrant in entrants:
        least = entrant.least
        if entrant.failure:
            print(f"| {entrant.name:<31}| {entrant.failure} |")
        elif least:
            print(f"| {entrant.name:<31}| {least.wall:6.3f} | {least.cpu:5.3f} | {nbytes / least.cpu * 1e-9:12.2f} | "
                  f"{least.peak_nbytes / (1 << 20):8.0f} | {ratio(least.walls, ours.walls):>12}, "
                  f"{ratio(least.cpus, ours.cpus):<11} |", flush=True)
    for entrant in entrants:
        if damage and entrant.blind:
            print(f"{entrant.name} was not tested with damage: {entrant.blind}")


def ratio(times, ours):
    """The ratio of the times of two commands in the same rounds, as a text."""
    ratios = sorted(time / our for time, our in zip(times, ours))
    low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
    return f"{statistics.median(ratios):.2f}" if high < 1.1 * low else f"{low:.2f}-{high:.2f}"


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


def machine():
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return (f"{model[1] if model else 'unknown CPU'}, {len(ALL)} CPUs, {os.uname().sysname} {os.uname().release}, "
            f"{datetime.date.today()}")


def parser_of(doc, rows, size):
    """A parser of what all of these programs take. `size` is the default size of the largest file."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hashloom", help="the program")
    parser.add_argument("rows", nargs="*", metavar="ROW", choices=[*rows, []], help=f"one of {' '.join(rows)}")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each row")
    parser.add_argument("--size", type=nbytes_of, default=size, help="size of the largest file, such as 512M")
    parser.add_argument("--dir", help="where to make and keep the content (default: a temporary folder)")
    return parser


@contextmanager
def work_folder(arguments):
    with tempfile.TemporaryDirectory(prefix="hashloom-bench-") as temporary:
        folder = os.path.abspath(arguments.dir or temporary)
        os.makedirs(folder, exist_ok=True)
        yield folder


def nbytes_of(text):
    match = re.fullmatch(r"(\d+)([KMG]?)", text)
    if not match or int(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text}: expected a number of bytes such as 512M or 4G")
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2]]


def random_file(path, nbytes, seed):
    """Writes random bytes, the same on every machine; under another name first, so that no half-made file is used."""
    if os.path.exists(path) and os.path.getsize(path) == nbytes:
        return path
    generator = random.Random(seed)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path + ".new", "wb") as file:
        for at in range(0, nbytes, 1 << 20):
            file.write(generator.randbytes(min(nbytes - at, 1 << 20)))
        file.flush()
        # Otherwise the disk would still be writing while the first commands are timed.
        os.fsync(file.fileno())
    os.replace(path + ".new", path)
    return path


def random_folder(folder, count, nbytes, seed, is_shuffled=False):
    """Writes `count` files of random bytes, a thousand in each folder, in the order of their names or in another, and
    returns their names; `nbytes(index)` is the size of a file."""
    names = [f"{index // 1000:03}/{index % 1000:03}" for index in range(count)]
    if not os.path.exists(folder):
        generator = random.Random(seed)
        shutil.rmtree(folder + ".new", ignore_errors=True)
        for index in generator.sample(range(count), count) if is_shuffled else range(count):
            path = os.path.join(folder + ".new", names[index])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(generator.randbytes(nbytes(index)))
        os.sync()
        os.rename(folder + ".new", folder)
    return names


def v1_torrent(content, torrent, piece_nbytes, names=None):
    """Writes a torrent of a file or of a folder, all of it or the files of these names, with Python's hashlib, which
    shares no code with the programs timed. Returns its path."""
    if os.path.exists(torrent):
        return torrent
    info = {"name": os.path.basename(content), "piece length": piece_nbytes}
    if os.path.isdir(content):
        names = names or sorted(os.path.relpath(os.path.join(folder, name), content)
                                for folder, _, files in os.walk(content) for name in files)
        paths = [os.path.join(content, name) for name in names]
        info["files"] = [{"length": os.path.getsize(path), "path": name.split(os.sep)}
                         for name, path in zip(names, paths)]
    else:
        paths = [content]
        info["length"] = os.path.getsize(content)
    pieces, piece, left = bytearray(), hashlib.sha1(), piece_nbytes
    for path in paths:
        with open(path, "rb") as file:
            while data := file.read(min(left, 1 << 20)):
                piece.update(data)
                left -= len(data)
                if left == 0:
                    pieces += piece.digest()
                    piece, left = hashlib.sha1(), piece_nbytes
    if left < piece_nbytes:
        pieces += piece.digest()
    Path(torrent + ".new").write_bytes(bencode({"info": info | {"pieces": bytes(pieces)}}))
    os.replace(torrent + ".new", torrent)
    return torrent
