#!/usr/bin/env python3
# run.py: whole commands on disks that can be had again, hashloom and other programs, beside one sequential reader.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Times whole commands on modelled disks (test/fuse) and on the real disk, as shares of the rate of one reader.

  bench/disks/run.py HASHLOOM [ROW]... [--models NAMES] [--threads NUMBERS] [--size 512M] [--rounds N] [--quick]
                     [--dir FOLDER] [--no-peers]

All commands of a row take turns; before each the page cache loses the content (of a model: also names and attributes
stay in memory), and the least time of each counts. A cell is the time of the fastest sequential reader (cat, dd,
dd iflag=direct) divided by that of the command: 1.00 is the disk's rate. Where hashing takes longer than reading, as on
NVMe, the time of the same command on content in memory takes the reader's place; the second figure is CPU seconds
(user and system) divided by those in memory. Every command must find the content complete in every round.

Models: hdd sata nvme nfs, as file systems; hdd-ext4 sata-ext4 nvme-ext4, the same as block devices that carry ext4 (a
loop device on a file of the model), with Linux's queue, FIEMAP and queue/rotational; real, the disk that --dir is on
(default: all). NVMe is slowed down by --slower (default 4): a FUSE file system on few CPUs does not reach 7 GB/s.
Rows: pieces files torrents sums trees two (default: all).
Programs are looked for in build/peers/bin and in PATH, libtorrent in build/venv and in python3."""

import argparse
import hashlib
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import commands  # noqa: E402
from commands import Least, bdecode, bencode, random_file, run, v1_torrent  # noqa: E402
from race import ALL, ROOT, Entrant, machine, print_goals, size  # noqa: E402
from torrents import Peers, shell, verifiers  # noqa: E402

MODELS = ["hdd", "hdd-ext4", "sata", "sata-ext4", "nvme", "nvme-ext4", "nfs", "real"]
ROWS = ["pieces", "files", "torrents", "sums", "trees", "two"]
PIECES = [16 << 10, 256 << 10, 4 << 20, 16 << 20, 64 << 20]
PEERS = ("libtorrent", "aria2c", "transmission-cli")
HOW_TO_GET = {"libtorrent": "python3 -m venv build/venv && build/venv/bin/pip install libtorrent==2.1.1",
              "aria2c": "apt-get install aria2", "transmission-cli": "apt-get install transmission-cli"}
# The share of the reader's rate that the row must reach.
GOALS = {"hdd": 0.98, "sata": 0.97}
OTHER_GOAL = 0.95
# A command that takes longer has failed.
commands.LIMIT_SECONDS = 120
# On these the rate of hashing counts too.
FAST = ("nvme", "nvme-ext4", "real")
MOST_CPU = 1.3


class Model:
    """A modelled disk for each folder, mounted side by side."""
    RATES = {"hdd": 200e6, "sata": 550e6, "nvme": 7e9, "nfs": 1e9}

    def __init__(self, name, folders, mounts, slower):
        self.name = self.model = name
        self.folders, self.places, self.slower = folders, mounts, slower
        self.rate = self.RATES[name] / slower
        self.children = []

    def __enter__(self):
        program = os.path.join(os.environ["CARGO_TARGET_DIR"], "release", "hashloom-fuse")
        for folder, place in zip(self.folders, self.places):
            os.makedirs(place, exist_ok=True)
            child = subprocess.Popen([program, self.model, folder, place, "--slower", str(self.slower)],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.children.append(child)
            if child.stdout.readline() != b"mounted\n":
                self.__exit__()
                sys.exit(f"run.py: the model of {folder} could not be mounted at {place}")
            # Names and attributes are in memory from here on.
            subprocess.run(["find", place, "-size", "+0"], stdout=subprocess.DEVNULL, check=True)
        return self

    def __exit__(self, *_):
        for child in self.children:
            child.stdin.close()
            child.wait()

    def drop(self):
        for place in self.places:
            with open(os.path.join(place, ".drop")) as control:
                control.read()


class Ext4(Model):
    """A modelled disk for each folder, as a block device with ext4."""

    def __init__(self, name, folders, work, slower):
        super().__init__(name, [os.path.join(work, "images", os.path.basename(folder)) for folder in folders],
                         [os.path.join(work, "devices", os.path.basename(folder)) for folder in folders], slower)
        self.name += "-ext4"
        self.contents, self.devices = folders, self.places
        self.places = [os.path.join(work, "mount", os.path.basename(folder)) for folder in folders]
        self.undo = ExitStack()

    def __enter__(self):
        for content, folder, place in zip(self.contents, self.folders, self.places):
            os.makedirs(place, exist_ok=True)
            os.makedirs(folder, exist_ok=True)
            self.fill(os.path.join(folder, "disk.img"), content, place)
        self.places, mounts = self.devices, self.places
        super().__enter__()
        self.places = mounts
        self.undo.callback(super().__exit__)
        for device, place in zip(self.devices, mounts):
            loop = subprocess.check_output(["losetup", "--find", "--show", "--read-only", "--direct-io=on",
                                            os.path.join(device, "disk.img")], text=True).strip()
            self.undo.callback(subprocess.run, ["losetup", "-d", loop], check=True)
            rotates = self.name.startswith("hdd")
            for name, value in ("rotational", str(int(rotates))), ("scheduler", "mq-deadline" if rotates else "none"):
                with open(f"/sys/block/{os.path.basename(loop)}/queue/{name}", "w") as file:
                    file.write(value)
            subprocess.run(["mount", "-o", "ro,noload", loop, place], check=True)
            # Lazily: a command that was interrupted may not have ended yet.
            self.undo.callback(subprocess.run, ["umount", "-l", place], check=True)
        return self

    def __exit__(self, *_):
        self.undo.close()
        for folder in self.folders:
            os.remove(os.path.join(folder, "disk.img"))

    @staticmethod
    def fill(image, content, place):
        """Makes a disk with the files of a folder, written in the order of their inodes."""
        paths = in_order_of_place(content)
        with open(image, "wb") as file:
            # Whole MiB, with room for what ext4 keeps for itself.
            file.truncate(((sum(map(os.path.getsize, paths)) * 5 // 4 >> 20) + 256) << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
        subprocess.run(["mount", "-o", "loop", image, place], check=True)
        try:
            for path in paths:
                copy = os.path.join(place, os.path.relpath(path, content))
                os.makedirs(os.path.dirname(copy), exist_ok=True)
                shutil.copyfile(path, copy)
        finally:
            subprocess.run(["umount", place], check=True)
        with open(image, "rb") as file:
            os.fsync(file.fileno())

    def drop(self):
        drop_files(self.places)
        for device in self.devices:
            with open(os.path.join(device, ".drop")) as control:
                control.read()


def drop_files(places):
    """Drops all files below the places from the page cache. They were flushed when they were made."""
    for place in places:
        for folder, _, names in os.walk(place):
            for name in names:
                file = os.open(os.path.join(folder, name), os.O_RDONLY)
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(file)


class Real:
    """The disk that the folders are on."""
    name, rate = "real", None

    def __init__(self, folders):
        self.places = folders

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def drop(self):
        drop_files(self.places)


def in_order_of_place(folder):
    """Returns the files of a folder in the order of their inodes, which is that of their places on a model."""
    paths = [entry for folder, _, names in os.walk(folder) for entry in (os.path.join(folder, name) for name in names)]
    return sorted(paths, key=lambda path: os.stat(path).st_ino)


def make_files(folder, count, nbytes, seed, shuffled=False):
    """Writes `count` files of random bytes, in the order of their names or in another."""
    if os.path.exists(folder):
        return
    generator = random.Random(seed)
    shutil.rmtree(folder + ".new", ignore_errors=True)
    names = list(range(count))
    if shuffled:
        generator.shuffle(names)
    for index in names:
        path = os.path.join(folder + ".new", f"{index // 1000:03}", f"{index % 1000:03}")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(generator.randbytes(nbytes(index)))
    os.sync()
    os.rename(folder + ".new", folder)


def of_folder(torrent, folder, name):
    """Rewrites a torrent of one file: the file lies in a folder `folder`."""
    with open(torrent, "rb") as file:
        info = bdecode(file.read())[b"info"]
    info[b"files"] = [{b"length": info.pop(b"length"), b"path": [name]}]
    info[b"name"] = folder
    with open(torrent, "wb") as file:
        file.write(bencode({b"info": {key.decode(): value for key, value in info.items()}}))


class Bench:
    def __init__(self, arguments, peers, work):
        self.arguments, self.peers, self.work = arguments, peers, work
        self.one, self.two = (os.path.join(work, "content", name) for name in ("one", "two"))
        self.found = {}

    # The content, and what is known about it.

    def scaled(self, count):
        return max(10, count // 20) if self.arguments.quick else count

    def make(self, wanted):
        nbytes = self.arguments.size
        if wanted & {"pieces", "trees", "two"}:
            random_file(os.path.join(self.one, "image.bin"), nbytes, seed=13)
        if "two" in wanted:
            random_file(os.path.join(self.two, "image.bin"), nbytes, seed=14)
        if "torrents" in wanted:
            for index in range(50):
                random_file(os.path.join(self.one, "torrents", f"{index:02}.bin"), nbytes // 50, seed=100 + index)
        if wanted & {"files", "sums"}:
            count = self.scaled(10_000)
            make_files(os.path.join(self.one, "small"), count, lambda index: 1000 + index * 7919 % 38_000, seed=15)
        if "files" in wanted:
            # Most are small, and most bytes are in large ones.
            make_files(os.path.join(self.one, "mixed"), count, lambda index: 100 + index * 7919 % 20_000 * (
                1 if index % 10 else 10 if index % 100 else 150), seed=16)
        if "sums" in wanted:
            make_files(os.path.join(self.one, "shuffled"), self.scaled(1000), lambda index: 100_000, seed=17,
                       shuffled=True)

    def torrent(self, content, piece_nbytes):
        """Returns a torrent of a content in the folder behind the disk."""
        name = f"{os.path.relpath(content, self.work).replace('/', '-')}-{piece_nbytes >> 10}K.torrent"
        path = os.path.join(self.work, name)
        if not os.path.exists(path):
            v1_torrent(content, path, piece_nbytes)
        return path

    def ours(self, words, rest, folder=None):
        """Entrants of one command of hashloom, by the heads of their columns: the number of threads."""
        return {f"hashloom, {threads}": Entrant("hashloom", [
            self.peers.hashloom, *words, "--threads", str(threads), *rest], folder=folder)
            for threads in self.arguments.threads}

    def verify(self, place, content, torrent, peers=True):
        """Entrants that check a torrent of a content below a place of the disk, by the heads of their columns."""
        path = os.path.join(place, os.path.relpath(content, self.one))
        found = self.ours(["torrent", "verify", "-q"], [torrent, os.path.dirname(path)])
        if peers and not self.arguments.no_peers:
            for entrant in verifiers(self.peers, torrent, path, self.work, None, PEERS):
                # transmission-cli prints its progress while it still waits for the check to begin.
                entrant.until = rb"Seeding|Progress: 100\.0" if entrant.until else None
                found[entrant.name.removesuffix(" threads")] = entrant
        return found

    def libtorrents(self, folder, torrents):
        """Entrants that check several torrents in one session, by the heads of their columns."""
        if self.arguments.no_peers or not self.peers.has("libtorrent"):
            return {}
        return {f"libtorrent, {threads}": Entrant("libtorrent", self.peers.script(
            "libtorrent-verify", threads, folder, *torrents)) for threads in (1, 2, 4)}

    # The race.

    def race(self, disk, row, title, nbytes, readers, grid, is_hot=False):
        """Runs the readers and the commands of a grid (heads of lines, then of columns) in turns, and prints the shares
        of the fastest reader's rate. With `is_hot`, runs each command on content in memory too."""
        print(f"\n{disk.name}: {title}\n", flush=True)
        best = {name: Least() for name in readers}
        entrants = [entrant for columns in grid.values() for entrant in columns.values()]
        hot = {id(entrant): Least() for entrant in entrants}
        for _ in range(self.arguments.rounds):
            for name, line in readers.items():
                disk.drop()
                result = run(line, ALL, keep=False)
                if result.status != 0:
                    sys.exit(f"run.py: {shlex.join(line[:4])} failed ({result.status})")
                best[name].add(result)
            for entrant in entrants:
                if entrant.failure is None:
                    disk.drop()
                    self.take(entrant, entrant.least)
                if entrant.failure is None and is_hot and entrant.name == "hashloom":
                    subprocess.run(next(iter(readers.values())), stdout=subprocess.DEVNULL, check=True)
                    self.take(entrant, hot[id(entrant)])
        disk_seconds = min(least.wall for least in best.values())
        print("; ".join(f"{name} {least.wall:.3f} s ({nbytes / least.wall / 1e6:.0f} MB/s, {least.cpu:.2f} s CPU)"
                        for name, least in best.items())
              + (f"; the model {nbytes / disk.rate:.3f} s" if disk.rate else "") + "\n")
        heads = list(dict.fromkeys(head for columns in grid.values() for head in columns))
        print(f"| share of the fastest reader | {' | '.join(heads)} |\n|{'---|' * (len(heads) + 1)}")
        failures = []
        for head, columns in grid.items():
            cells = []
            for column in heads:
                entrant = columns.get(column)
                if entrant is None or entrant.failure:
                    cells.append("-" if entrant is None else "failed")
                    if entrant:
                        failures.append(f"{head}, {column}: {entrant.failure}")
                    continue
                memory = hot[id(entrant)]
                share = max(disk_seconds, memory.wall if memory.rounds else 0) / entrant.least.wall
                cell = f"{share:.2f}"
                if memory.rounds:
                    cell += f", CPU {entrant.least.cpu / memory.cpu:.2f}"
                    self.note(disk, "CPU", entrant.least.cpu / memory.cpu)
                if entrant.name == "hashloom":
                    self.note(disk, row, share)
                cells.append(cell)
            ours = [e.least.wall for e in columns.values() if e.name == "hashloom" and not e.failure]
            theirs = [e.least.wall for e in columns.values() if e.name != "hashloom" and not e.failure]
            if ours and theirs:
                # Their fastest beside our slowest: no number of threads is behind.
                self.note(disk, "peers", min(theirs) / max(ours))
            print(f"| {head} | {' | '.join(cells)} |", flush=True)
        for failure in failures:
            print(failure)

    def take(self, entrant, least):
        """Runs an entrant once and notes its time, or why it failed."""
        if entrant.prepare:
            entrant.prepare()
        result = run(entrant.line, ALL, until=entrant.until, folder=entrant.folder)
        for line in result.output.splitlines():
            # Python has to start before libtorrent can.
            if line.startswith("startup "):
                result.wall -= float(line.split()[1])
                result.cpu -= float(line.split()[1])
        if entrant.is_right(result):
            least.add(result)
        else:
            last = ([line for line in result.output.splitlines() if line.strip()] or ["no output"])[-1]
            entrant.failure = f"status {result.status}: {''.join(filter(str.isprintable, last))[:100]}"

    def note(self, disk, what, value):
        self.found.setdefault((disk.name, what), []).append(value)

    # The rows.

    def readers(self, *paths):
        found = {"cat": ["cat", *paths]}
        if len(paths) == 1:
            dd = ["dd", f"if={paths[0]}", "of=/dev/null", "bs=1M", "status=none"]
            found |= {"dd bs=1M": dd, "dd iflag=direct": [*dd, "iflag=direct"]}
        return found

    def pieces(self, disk):
        image = os.path.join(self.one, "image.bin")
        grid = {f"pieces of {nbytes >> 10} KiB": self.verify(disk.places[0], image, self.torrent(image, nbytes))
                for nbytes in (PIECES[1:4:2] if self.arguments.quick else PIECES) if nbytes < self.arguments.size}
        self.race(disk, "pieces", f"torrent verify, {self.arguments.size >> 20} MiB in one file", self.arguments.size,
                  self.readers(os.path.join(disk.places[0], "image.bin")), grid, disk.name in FAST)

    def files(self, disk):
        for name in ("small", "mixed"):
            content = os.path.join(self.one, name)
            paths = in_order_of_place(os.path.join(disk.places[0], name))
            nbytes = sum(map(os.path.getsize, paths))
            grid = {f"{name} files, pieces of {piece >> 10} KiB": self.verify(
                disk.places[0], content, self.torrent(content, piece)) for piece in (256 << 10, 4 << 20)}
            self.race(disk, "files", f"torrent verify, {len(paths)} {name} files, {nbytes / 1e6:.0f} MB", nbytes,
                      self.readers(*paths), grid, disk.name in FAST)

    def torrents(self, disk):
        folder = os.path.join(disk.places[0], "torrents")
        paths = in_order_of_place(folder)
        nbytes = sum(map(os.path.getsize, paths))
        grid = {}
        for piece in (256 << 10, 4 << 20):
            torrents = [self.torrent(os.path.join(self.one, "torrents", name), piece)
                        for name in sorted(os.listdir(folder))]
            columns = self.ours(["torrent", "verify", "-q"], [*torrents, "--data", folder])
            grid[f"pieces of {piece >> 10} KiB"] = columns | self.libtorrents(folder, torrents)
        self.race(disk, "torrents", f"torrent verify, {len(paths)} torrents in one call, {nbytes / 1e6:.0f} MB", nbytes,
                  self.readers(*paths), grid, disk.name in FAST)

    def sums(self, disk):
        for name, what in (("small", "in the order of their names on the disk"),
                           ("shuffled", "not in the order of their names on the disk")):
            folder = os.path.join(disk.places[0], name)
            paths = in_order_of_place(folder)
            nbytes = sum(map(os.path.getsize, paths))
            names = sorted(os.path.relpath(path, folder) for path in paths)
            sums, manifest = (os.path.join(self.work, f"{name}.{end}") for end in ("sha256", "manifest"))
            with open(sums, "w") as file:
                for each in names:
                    with open(os.path.join(self.one, name, each), "rb") as content:
                        file.write(f"{hashlib.file_digest(content, 'sha256').hexdigest()}  {each}\n")
            subprocess.run([self.peers.hashloom, "manifest", "write", "--force", "-o", manifest,
                            os.path.join(self.one, name)],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

            alone = {"sum -r": ["sha256sum", *names], "check": ["sha256sum", "-c", "--quiet", sums]}
            grid = {"sum -r": self.ours(["sum", "-r"], ["."], folder),
                    "check": self.ours(["check", "-q"], [sums], folder),
                    "manifest write": self.ours(["manifest", "write", "--force", "-o", manifest + ".new"], ["."], folder),
                    "manifest check": self.ours(["manifest", "check"], [manifest, "."], folder)}
            if not self.arguments.no_peers:
                for head, line in alone.items():
                    grid[head]["sha256sum"] = Entrant("sha256sum", line, folder=folder)
            self.race(disk, "sums", f"{len(paths)} files of together {nbytes / 1e6:.0f} MB, {what}", nbytes,
                      self.readers(*paths), grid, disk.name in FAST)

    def trees(self, disk):
        image = os.path.join(disk.places[0], "image.bin")

        grid = {"sum": self.ours(["sum"], [image])} | {
            f"tree {kind}": self.ours(["tree", kind], [image]) for kind in ("fsverity", "glacier", "bep52")}
        if not self.arguments.no_peers:
            grid["sum"] |= {f"{name}sum": Entrant("coreutils", [f"{name}sum", image]) for name in ("sha1", "sha256")}
        self.race(disk, "trees", f"{self.arguments.size >> 20} MiB in one file", self.arguments.size,
                  self.readers(image), grid, disk.name in FAST)

    def both(self, disk):
        """Two disks in one call: as fast as one disk is 1.00."""
        images = [os.path.join(place, "image.bin") for place in disk.places]
        torrents = []
        for content in (self.one, self.two):
            torrent = self.torrent(os.path.join(content, "image.bin"), 256 << 10)
            with open(torrent, "rb") as file:
                data = file.read()
            torrents.append(torrent.replace(".torrent", "-folder.torrent"))
            with open(torrents[-1], "wb") as file:
                file.write(data)
            of_folder(torrents[-1], os.path.basename(content), "image.bin")
        parent = os.path.dirname(disk.places[0])

        grid = {"torrent verify": self.ours(["torrent", "verify", "-q"], [*torrents, "--data", parent]),
                "sum": self.ours(["sum"], images)}
        grid["torrent verify"] |= self.libtorrents(parent, torrents)
        line = 'for file; do cat "$file" & done; wait'
        self.race(disk, "two", f"two disks, {self.arguments.size >> 20} MiB in one file on each", self.arguments.size, {
            "cat of one": ["cat", images[0]], "cat of both at once": shell(line, *images)}, grid)


@contextmanager
def mounted(bench, name, number):
    """A disk of the model, or two."""
    folders = [bench.one, bench.two][:number]
    if name == "real":
        os.sync()
        yield Real(folders)
        return
    slower = bench.arguments.slower if name.startswith("nvme") else 1
    if name.endswith("-ext4"):
        with Ext4(name.removesuffix("-ext4"), folders, bench.work, slower) as disk:
            yield disk
        return
    mounts = [os.path.join(bench.work, "mount", os.path.basename(folder)) for folder in folders]
    with Model(name, folders, mounts, slower) as disk:
        yield disk


def goals(bench):
    """Yields goals: a name, the least wanted, and the value found or None."""
    for model in bench.arguments.models:
        for row in ("pieces", "files", "torrents", "sums", "trees"):
            if (model, row) in bench.found:
                goal = GOALS.get(model.partition("-")[0], OTHER_GOAL)
                yield f"{model}, {row}: the slowest cell", goal, min(bench.found[model, row])
        if (model, "two") in bench.found:
            # Twice the bytes: 1.9 times the rate of one disk.
            yield f"{model}: two disks in one call, time beside that of one", 0.95, min(bench.found[model, "two"])
        if (model, "peers") in bench.found:
            yield f"{model}: the fastest peer's time / hashloom's slowest", 1.0, min(bench.found[model, "peers"])
        if (model, "CPU") in bench.found:
            yield f"{model}: {MOST_CPU} / CPU seconds beside those in memory", 1.0, MOST_CPU / max(
                bench.found[model, "CPU"])


def names(known):
    def parse(text):
        found = text.split(",")
        if unknown := set(found) - set(known):
            raise argparse.ArgumentTypeError(f"{' '.join(sorted(unknown))}: expected some of {' '.join(known)}")
        return found
    return parse


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("hashloom", help="the program")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"one of {' '.join(ROWS)} (default: all)")
    parser.add_argument("--models", type=names(MODELS), default=MODELS, help="separated by commas (default: all)")
    parser.add_argument("--threads", type=lambda text: [int(word) for word in text.split(",")], default=[1, 2, 4, 8],
                        help="hashloom's numbers of threads (default: 1,2,4,8)")
    parser.add_argument("--size", type=size, help="size of the largest file (default: 512M)")
    parser.add_argument("--rounds", type=int, help="rounds of each row (default: 3)")
    parser.add_argument("--slower", type=int, default=4, help="slow the NVMe model down N times (default: 4)")
    parser.add_argument("--dir", help="where to make and keep the content (default: a temporary folder)")
    parser.add_argument("--no-peers", action="store_true", help="time no other programs")
    parser.add_argument("--quick", action="store_true", help="less content, one round, two piece lengths")
    # Rows may follow options.
    arguments = parser.parse_intermixed_args()
    if unknown := set(arguments.rows) - set(ROWS):
        parser.error(f"no such row: {' '.join(sorted(unknown))}; there are {' '.join(ROWS)}")
    if not shutil.which(arguments.hashloom):
        parser.error(f"{arguments.hashloom}: no such program: run make build first")
    arguments.size = arguments.size or (96 << 20 if arguments.quick else 512 << 20)
    arguments.rounds = arguments.rounds or (1 if arguments.quick else 3)
    wanted = set(arguments.rows or ROWS)

    # Mounts do not outlive the program.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.environ.setdefault("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    if set(arguments.models) - {"real"}:
        subprocess.run(["cargo", "build", "--quiet", "--release", "--locked", "--manifest-path",
                        os.path.join(ROOT, "test", "fuse", "Cargo.toml")], check=True)
    peers = Peers(arguments.hashloom)
    print(machine())
    if not arguments.no_peers:
        print(", ".join(peers.versions))
        for name in PEERS:
            if not peers.has(name):
                print(f"skipped: {name} (not installed: {HOW_TO_GET[name]})")

    with ExitStack() as stack:
        work = os.path.abspath(arguments.dir or stack.enter_context(
            tempfile.TemporaryDirectory(prefix="hashloom-bench-")))
        bench = Bench(arguments, peers, work)
        for folder in (bench.one, bench.two):
            os.makedirs(folder, exist_ok=True)
        bench.make(wanted)
        for model in arguments.models:
            if rows := [row for row in ROWS if row in wanted and row != "two"]:
                with mounted(bench, model, 1) as disk:
                    for row in rows:
                        getattr(bench, row)(disk)
            # The folders of the real disk are on one.
            if "two" in wanted and model != "real":
                with mounted(bench, model, 2) as disk:
                    bench.both(disk)
    print_goals(list(goals(bench)))


if __name__ == "__main__":
    main()
