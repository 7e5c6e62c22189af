# commands.py: times whole commands side by side, and makes the content that they work on.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""All commands of a race take turns (A B C A B C ...), so that a slow moment of the machine affects all alike. The
least time of each command counts, and ratios compare these."""

import hashlib
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test"))
from bencode import bencode  # noqa: E402

# A command that takes longer is ended: some peers wait for ever if content is damaged.
LIMIT_SECONDS = 600


@dataclass
class Result:
    """One run of a command."""
    wall: float
    cpu: float
    # The peak of resident memory, in bytes. A child begins as a copy of this program, so values below this program's
    # own memory cannot be measured.
    peak_nbytes: int
    status: int
    output: str


@dataclass
class Least:
    """The least times of a command, and its peak memory, after several runs."""
    wall: float = float("inf")
    cpu: float = float("inf")
    peak_nbytes: int = 0
    rounds: list = field(default_factory=list)

    def add(self, result):
        self.wall = min(self.wall, result.wall)
        self.cpu = min(self.cpu, result.cpu)
        self.peak_nbytes = max(self.peak_nbytes, result.peak_nbytes)
        self.rounds.append((result.wall, result.cpu))


def one_cpu():
    """Returns the last CPU that this program may use: the first serves most interrupts."""
    return {max(os.sched_getaffinity(0))}


def run(line, cpus, environment=None, until=None, keep=True, folder=None):
    """Runs a command on `cpus`, in `folder` if one is given. With `until` the command is ended as soon as its output
    matches. Its output goes to a file, which needs no reader during the run; if `keep` is false, to /dev/null."""
    before = os.sched_getaffinity(0)
    with tempfile.TemporaryFile() as out:
        os.sched_setaffinity(0, cpus)
        try:
            start = time.perf_counter()
            child = subprocess.Popen(line, env=os.environ | (environment or {}), cwd=folder, stdin=subprocess.DEVNULL,
                                     stdout=out if keep else subprocess.DEVNULL, stderr=subprocess.STDOUT)
        finally:
            os.sched_setaffinity(0, before)
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
    kilobyte = 1 if os.uname().sysname == "Darwin" else 1024
    return Result(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * kilobyte, child.returncode, output)


def own_peak_nbytes():
    """Returns the memory that any child seems to need at least."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def random_file(path, nbytes, seed):
    """Writes random bytes, the same on every machine; under another name first, so that no half-made file is used."""
    if os.path.exists(path) and os.path.getsize(path) == nbytes:
        return
    generator = random.Random(seed)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path + ".new", "wb") as file:
        left = nbytes
        while left > 0:
            file.write(generator.randbytes(min(left, 1 << 20)))
            left -= 1 << 20
        file.flush()
        # Otherwise the disk would still be writing while the first commands are timed.
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


def random_folder(folder, count, nbytes, seed):
    """Writes `count` files of random bytes, a thousand in each folder, and returns their paths; `nbytes(index)` is the
    size of a file. The folder is written under another name first, and flushed, as in `random_file`."""
    names = [f"{index // 1000:03}/{index % 1000:03}" for index in range(count)]
    if not os.path.exists(folder):
        generator = random.Random(seed)
        shutil.rmtree(folder + ".new", ignore_errors=True)
        for index, name in enumerate(names):
            if index % 1000 == 0:
                os.makedirs(os.path.join(folder + ".new", os.path.dirname(name)))
            with open(os.path.join(folder + ".new", name), "wb") as file:
                file.write(generator.randbytes(nbytes(index)))
        os.sync()
        os.rename(folder + ".new", folder)
    return names


def bdecode(data):
    """Decodes a torrent that a peer has written; keys and strings are bytes."""
    value, end = _bdecode(data, 0)
    if end != len(data):
        raise ValueError(f"{len(data) - end} bytes follow the torrent")
    return value


def _bdecode(data, at):
    if data[at:at + 1] == b"i":
        end = data.index(b"e", at)
        return int(data[at + 1:end]), end + 1
    if data[at:at + 1] in (b"l", b"d"):
        is_dict, items, at = data[at:at + 1] == b"d", [], at + 1
        while data[at:at + 1] != b"e":
            item, at = _bdecode(data, at)
            items.append(item)
        return (dict(zip(items[::2], items[1::2])) if is_dict else items), at + 1
    colon = data.index(b":", at)
    end = colon + 1 + int(data[at:colon])
    return data[colon + 1:end], end


def v1_torrent(content_path, torrent_path, piece_nbytes):
    """Writes a torrent of a file or folder with Python's hashlib, which shares no code with the programs timed."""
    info = {"name": os.path.basename(content_path), "piece length": piece_nbytes}
    if os.path.isdir(content_path):
        names = sorted(os.path.relpath(os.path.join(folder, name), content_path)
                       for folder, _, names in os.walk(content_path) for name in names)
        paths = [os.path.join(content_path, name) for name in names]
        info["files"] = [{"length": os.path.getsize(path), "path": name.split(os.sep)}
                         for name, path in zip(names, paths)]
    else:
        paths = [content_path]
        info["length"] = os.path.getsize(content_path)
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
    info["pieces"] = bytes(pieces)
    with open(torrent_path + ".new", "wb") as torrent:
        torrent.write(bencode({"info": info}))
    os.replace(torrent_path + ".new", torrent_path)
