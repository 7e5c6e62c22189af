#!/usr/bin/env python3
# run.py: whole commands on disks that can be had again, hashloom and other programs, beside one sequential reader.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Times whole commands on modelled disks (test/fuse) and on the real disk, as shares of the rate of one reader.

  bench/disks/run.py HASHLOOM [ROW]... [--models NAMES] [--threads NUMBERS] [--size 512M] [--rounds N] [--quick]
                     [--dir FOLDER] [--no-peers]

All commands of a row take turns; before each the page cache loses the content (of a model: names and attributes stay in
memory), and the least time of each counts. A cell is the time of the fastest sequential reader (cat, dd, dd
iflag=direct) divided by that of the command: 1.00 is the disk's rate. Where hashing takes longer than reading, as on
NVMe, the time of the same command on content in memory takes the reader's place; the second figure is CPU seconds
(user and system) divided by those in memory. Every command must find the content complete in every round.

Models: hdd sata nvme nfs, as file systems; hdd-ext4 sata-ext4 nvme-ext4, the same as block devices that carry ext4 (a
loop device on a file of the model), with Linux's queue, FIEMAP and queue/rotational; real, the disk that --dir is on
(default: all). NVMe is slowed down four times: a FUSE file system on few CPUs does not reach 7 GB/s.
Rows: pieces files torrents sums trees two (default: all).
Programs are looked for in build/peers/bin and in PATH, libtorrent in build/venv and in python3."""

import hashlib
import os
import signal
import shutil
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import race  # noqa: E402
from race import (ALL, ROOT, Entrant, Least, parser_of, random_file, random_folder, run, v1_torrent,  # noqa: E402
                  work_folder)
from torrents import Peers, verifiers  # noqa: E402

RATES = {"hdd": 200e6, "sata": 550e6, "nvme": 7e9, "nfs": 1e9}
MODELS = ["hdd", "hdd-ext4", "sata", "sata-ext4", "nvme", "nvme-ext4", "nfs", "real"]
ROWS = ["pieces", "files", "torrents", "sums", "trees", "two"]
# On these the rate of hashing counts too.
FAST = ("nvme", "nvme-ext4", "real")
NVME_SLOWER = 4


class Disk:
    """Folders, and the control files whose reading makes a model forget what it has read."""

    def __init__(self, name, places, controls=(), rate=None):
        self.name, self.places, self.controls, self.rate = name, places, controls, rate

    def drop(self):
        """Drops all files from the page cache. They were flushed when they were made."""
        if not self.controls or self.name.endswith("-ext4"):
            for path in paths_below(*self.places):
                file = os.open(path, os.O_RDONLY)
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(file)
        for control in self.controls:
            Path(control, ".drop").read_bytes()


@contextmanager
def disk_of(name, folders, work):
    """A modelled disk for each folder, mounted side by side; or the disk that the folders are on."""
    if name == "real":
        os.sync()
        yield Disk(name, folders)
        return
    model, _, is_ext4 = name.partition("-")
    slower = NVME_SLOWER if model == "nvme" else 1

    def places(kind):
        found = [os.path.join(work, kind, os.path.basename(folder)) for folder in folders]
        for place in found:
            os.makedirs(place, exist_ok=True)
        return found

    with ExitStack() as undo:
        mounts, behind, devices = places("mount"), folders, places("devices")
        if is_ext4:
            behind = places("images")
            for content, image, mount in zip(folders, behind, mounts):
                undo.callback(os.remove, os.path.join(image, "disk.img"))
                fill(os.path.join(image, "disk.img"), content, mount)
        shown = devices if is_ext4 else mounts
        for folder, place in zip(behind, shown):
            child = subprocess.Popen([os.path.join(os.environ["CARGO_TARGET_DIR"], "release", "hashloom-fuse"), model,
                                      folder, place, "--slower", str(slower)], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE)
            undo.callback(child.wait)
            undo.callback(child.stdin.close)
            if child.stdout.readline() != b"mounted\n":
                sys.exit(f"run.py: the model of {folder} could not be mounted at {place}")
            # Names and attributes are in memory from here on.
            subprocess.run(["find", place, "-size", "+0"], stdout=subprocess.DEVNULL, check=True)
        for device, mount in zip(devices, mounts) if is_ext4 else ():
            loop = subprocess.check_output(["losetup", "--find", "--show", "--read-only", "--direct-io=on",
                                            os.path.join(device, "disk.img")], text=True).strip()
            undo.callback(subprocess.run, ["losetup", "-d", loop], check=True)
            queue, rotates = Path("/sys/block", os.path.basename(loop), "queue"), model == "hdd"
            (queue / "rotational").write_text(str(int(rotates)))
            (queue / "scheduler").write_text("mq-deadline" if rotates else "none")
            subprocess.run(["mount", "-o", "ro,noload", loop, mount], check=True)
            # Lazily: a command that was interrupted may not have ended yet.
            undo.callback(subprocess.run, ["umount", "-l", mount], check=True)
        yield Disk(name, mounts, shown, RATES[model] / slower)


def fill(image, content, place):
    """Makes a disk with the files of a folder, written in the order of their inodes."""
    paths = paths_below(content)
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


def paths_below(*folders):
    """Returns the files of folders in the order of their inodes, which is that of their places on a model."""
    paths = [os.path.join(folder, name) for top in folders for folder, _, names in os.walk(top) for name in names]
    return sorted(paths, key=lambda path: os.stat(path).st_ino)


class Bench:
    def __init__(self, arguments, peers, work):
        self.arguments, self.peers, self.work = arguments, peers, work
        self.one, self.two = (os.path.join(work, "content", name) for name in ("one", "two"))

    def make(self, wanted):
        """Makes the content of the rows."""
        nbytes, part = self.arguments.size, 20 if self.arguments.quick else 1
        for folder, seed in (self.one, 13), (self.two, 14):
            os.makedirs(folder, exist_ok=True)
            if wanted & ({"pieces", "trees", "two"} if folder == self.one else {"two"}):
                random_file(os.path.join(folder, "image.bin"), nbytes, seed)
        for index in range(50 if "torrents" in wanted else 0):
            random_file(os.path.join(self.one, "torrents", f"{index:02}.bin"), nbytes // 50, seed=100 + index)
        for name, rows, count, size in (
                ("small", {"files", "sums"}, 10_000, lambda index: 1000 + index * 7919 % 38_000),
                # Most are small, and most bytes are in large ones.
                ("mixed", {"files"}, 10_000, lambda index: 100 + index * 7919 % 20_000 * (
                    1 if index % 10 else 10 if index % 100 else 150)),
                ("shuffled", {"sums"}, 1000, lambda index: 100_000)):
            if wanted & rows:
                random_folder(os.path.join(self.one, name), count // part, size, len(name), name == "shuffled")

    def torrent(self, content, piece_nbytes, names=None):
        name = os.path.relpath(content, self.work).replace("/", "-")
        path = os.path.join(self.work, f"{name}-{piece_nbytes >> 10}K.torrent")
        return v1_torrent(content, path, piece_nbytes, names)

    # Entrants, by the heads of their columns.

    def ours(self, words, rest, folder=None):
        return {f"hashloom, {threads}": Entrant("hashloom", [
            self.peers.hashloom, *words, "--threads", str(threads), *rest], folder=folder)
            for threads in self.arguments.threads}

    def theirs(self, entrants):
        return {} if self.arguments.no_peers else {entrant.name.removesuffix(" threads"): entrant
                                                   for entrant in entrants}

    def libtorrents(self, folder, torrents):
        return self.theirs(self.peers.installed([Entrant(f"libtorrent, {threads}", self.peers.script(
            "libtorrent-verify", threads, folder, *torrents)) for threads in (1, 2, 4)]))

    def verify(self, disk, name, piece_nbytes):
        """Checks a torrent of a file or folder of the disk."""
        torrent, path = self.torrent(os.path.join(self.one, name), piece_nbytes), os.path.join(disk.places[0], name)
        peers = verifiers(self.peers, torrent, path, self.work, None, ("libtorrent", "aria2c", "transmission-cli"))
        return self.ours(["torrent", "verify", "-q"], [torrent, os.path.dirname(path)]) | self.theirs(peers)

    def race(self, disk, title, nbytes, paths, grid, readers=None):
        """Runs the readers and the commands of a grid (heads of lines, then of columns) in turns, and prints the shares
        of the fastest reader's rate."""
        print(f"\n{disk.name}: {title}\n", flush=True)
        if readers is None:
            dd = ["dd", f"if={paths[0]}", "of=/dev/null", "bs=1M", "status=none"]
            readers = {"cat": ["cat", *paths]} | ({"dd": dd, "dd iflag=direct": [*dd, "iflag=direct"]}
                                                  if len(paths) == 1 else {})
        best = {name: Least() for name in readers}
        entrants = [entrant for columns in grid.values() for entrant in columns.values()]
        hot = {id(entrant): Least() for entrant in entrants}
        for _ in range(self.arguments.rounds):
            for name, line in readers.items():
                disk.drop()
                result = run(line, ALL, keep=False)
                if result.status != 0:
                    sys.exit(f"run.py: {' '.join(line[:4])} failed ({result.status})")
                best[name].add(result)
            for entrant in entrants:
                if entrant.failure is None:
                    disk.drop()
                    entrant.run(ALL, entrant.least)
                if entrant.failure is None and readers.get("cat") and disk.name in FAST and entrant.name == "hashloom":
                    subprocess.run(readers["cat"], stdout=subprocess.DEVNULL, check=True)
                    entrant.run(ALL, hot[id(entrant)])
        print("; ".join(f"{name} {least.wall:.3f} s ({nbytes / least.wall / 1e6:.0f} MB/s, {least.cpu:.2f} s CPU)"
                        for name, least in best.items())
              + (f"; the model {nbytes / disk.rate:.3f} s" if disk.rate else "") + "\n")
        heads = list(dict.fromkeys(head for columns in grid.values() for head in columns))
        print(f"| share of the fastest reader | {' | '.join(heads)} |\n|{'---|' * (len(heads) + 1)}")
        seconds = min(least.wall for least in best.values())
        for head, columns in grid.items():
            cells = []
            for entrant in map(columns.get, heads):
                memory = entrant and hot[id(entrant)]
                cells.append("-" if not entrant else "failed" if entrant.failure else
                             f"{max(seconds, memory.wall if memory else 0) / entrant.least.wall:.2f}"
                             + (f", CPU {entrant.least.cpu / memory.cpu:.2f}" if memory else ""))
            print(f"| {head} | {' | '.join(cells)} |", flush=True)
        for entrant in entrants:
            if entrant.failure:
                print(f"{entrant.name}: {entrant.failure}")

    # The rows.

    def pieces(self, disk):
        nbytes = self.arguments.size
        pieces = (256, 16 << 10) if self.arguments.quick else (16, 256, 4 << 10, 16 << 10, 64 << 10)
        grid = {f"pieces of {kib} KiB": self.verify(disk, "image.bin", kib << 10)
                for kib in pieces if kib << 10 < nbytes}
        self.race(disk, f"torrent verify, {nbytes >> 20} MiB in one file", nbytes,
                  [os.path.join(disk.places[0], "image.bin")], grid)

    def files(self, disk):
        for name in ("small", "mixed"):
            paths = paths_below(os.path.join(disk.places[0], name))
            nbytes = sum(map(os.path.getsize, paths))
            grid = {f"{name} files, pieces of {kib} KiB": self.verify(disk, name, kib << 10) for kib in (256, 4 << 10)}
            self.race(disk, f"torrent verify, {len(paths)} {name} files, {nbytes / 1e6:.0f} MB", nbytes, paths, grid)

    def torrents(self, disk):
        folder = os.path.join(disk.places[0], "torrents")
        paths = paths_below(folder)
        nbytes = sum(map(os.path.getsize, paths))
        grid = {}
        for kib in (256, 4 << 10):
            torrents = [self.torrent(os.path.join(self.one, "torrents", name), kib << 10)
                        for name in sorted(os.listdir(folder))]
            columns = self.ours(["torrent", "verify", "-q"], [*torrents, "--data", folder])
            grid[f"pieces of {kib} KiB"] = columns | self.libtorrents(folder, torrents)
        self.race(disk, f"torrent verify, {len(paths)} torrents in one call, {nbytes / 1e6:.0f} MB", nbytes, paths,
                  grid)

    def sums(self, disk):
        for name, what in ("small", "in the order"), ("shuffled", "not in the order"):
            folder = os.path.join(disk.places[0], name)
            paths = paths_below(folder)
            nbytes = sum(map(os.path.getsize, paths))
            names = sorted(os.path.relpath(path, folder) for path in paths)
            sums, manifest = (os.path.join(self.work, f"{name}.{end}") for end in ("sha256", "manifest"))
            Path(sums).write_text("".join(
                f"{hashlib.sha256(Path(self.one, name, each).read_bytes()).hexdigest()}  {each}\n" for each in names))
            write = ["manifest", "write", "--force", "-o"]
            subprocess.run([self.peers.hashloom, *write, manifest, os.path.join(self.one, name)],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            grid = {"sum -r": self.ours(["sum", "-r"], ["."], folder),
                    "check": self.ours(["check", "-q"], [sums], folder),
                    "manifest write": self.ours([*write, manifest + ".new"], ["."], folder),
                    "manifest check": self.ours(["manifest", "check"], [manifest, "."], folder)}
            for head, line in ("sum -r", names), ("check", ["-c", "--quiet", sums]):
                grid[head] |= self.theirs([Entrant("sha256sum", ["sha256sum", *line], folder=folder)])
            self.race(disk, f"{len(paths)} files of together {nbytes / 1e6:.0f} MB, {what} of their names on the disk",
                      nbytes, paths, grid)

    def trees(self, disk):
        image = os.path.join(disk.places[0], "image.bin")
        grid = {" ".join(words): self.ours(words, [image])
                for words in (["sum"], ["tree", "fsverity"], ["tree", "bep52"])}
        grid["sum"] |= self.theirs([Entrant(name, [name, image]) for name in ("sha1sum", "sha256sum")])
        self.race(disk, f"{self.arguments.size >> 20} MiB in one file", self.arguments.size, [image], grid)

    def both(self, disk):
        """Two disks in one call: as fast as one disk is 1.00."""
        images = [os.path.join(place, "image.bin") for place in disk.places]
        torrents = [self.torrent(content, 256 << 10, ["image.bin"]) for content in (self.one, self.two)]
        parent = os.path.dirname(disk.places[0])
        grid = {"torrent verify": self.ours(["torrent", "verify", "-q"], [*torrents, "--data", parent])
                | self.libtorrents(parent, torrents), "sum": self.ours(["sum"], images)}
        at_once = ["sh", "-c", 'for file; do cat "$file" & done; wait', "sh", *images]
        self.race(disk, f"two disks, {self.arguments.size >> 20} MiB in one file on each", self.arguments.size, images,
                  grid, {"cat of one": ["cat", images[0]], "cat of both at once": at_once})


def main():
    parser = parser_of(__doc__, ROWS, None)
    parser.set_defaults(rounds=None)
    parser.add_argument("--models", type=lambda text: text.split(","), default=MODELS,
                        help="separated by commas (default: all)")
    parser.add_argument("--threads", type=lambda text: list(map(int, text.split(","))), default=[1, 2, 4, 8],
                        help="hashloom's numbers of threads (default: 1,2,4,8)")
    parser.add_argument("--no-peers", action="store_true", help="time no other programs")
    parser.add_argument("--quick", action="store_true", help="less content, one round, two piece lengths")
    arguments = parser.parse_intermixed_args()
    if unknown := set(arguments.models) - set(MODELS):
        parser.error(f"--models: {' '.join(unknown)}: expected some of {','.join(MODELS)}")
    arguments.size = arguments.size or (96 << 20 if arguments.quick else 512 << 20)
    arguments.rounds = arguments.rounds or (1 if arguments.quick else 3)
    wanted = set(arguments.rows or ROWS)
    race.LIMIT_SECONDS = 120

    # Mounts do not outlive the program.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.environ.setdefault("CARGO_TARGET_DIR", str(ROOT / "target"))
    if set(arguments.models) - {"real"}:
        subprocess.run(["cargo", "build", "--quiet", "--release", "--locked", "--manifest-path",
                        ROOT / "test/fuse/Cargo.toml"], check=True)
    peers = Peers(arguments.hashloom)
    peers.print_all()
    with work_folder(arguments) as work:
        bench = Bench(arguments, peers, work)
        bench.make(wanted)
        for model in arguments.models:
            if rows := [row for row in ROWS if row in wanted and row != "two"]:
                with disk_of(model, [bench.one], work) as disk:
                    for row in rows:
                        getattr(bench, row)(disk)
            # The folders of the real disk are on one.
            if "two" in wanted and model != "real":
                with disk_of(model, [bench.one, bench.two], work) as disk:
                    bench.both(disk)


if __name__ == "__main__":
    main()
