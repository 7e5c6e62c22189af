#!/usr/bin/env python3
# torrents.py: verifying and creating torrents, hashloom and other programs, and how far the goals are reached.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Times whole commands: the least wall and CPU seconds (user and system) of several rounds, and peak memory.

  bench/torrents.py HASHLOOM [ROW]... [--size 4G] [--rounds N] [--dir FOLDER] [--json FILE] [--lock FILE]

All commands of a row take turns, pinned to one CPU unless the row says "all CPUs". The content is random bytes from a
fixed seed, on disk, and read into the page cache before each command unless the row says "cold". Every command must
find the content complete in every round, and notice one changed byte once (a peer that cannot is named below the
table). A torrent created must have the digests that Python's hashlib or libtorrent finds. A command that fails is
reported and left out; a program that is not installed is named.

Rows: verify-v1 verify-all verify-v2 verify-hybrid create-v1 create-hybrid small many hole cold (default: all).
Programs are looked for in build/peers/bin and in PATH, libtorrent and torf in build/venv and in python3.
The CPU seconds of libtorrent and torf do not include the start of the Python that drives them."""

import argparse
import json
import os
import re
import shlex
import shutil
import sys
import tempfile

from commands import bdecode, one_cpu, random_file, run, v1_torrent
from race import (ALL, ROOT, Entrant, Programs, Race, Row, add_arguments, machine, print_goals, size,
                  write_json)

PYTHON_PEERS = os.path.join(ROOT, "bench", "python_peers.py")
ANNOUNCE = "http://127.0.0.1:9/announce"
FULL_NBYTES = 4 << 30
PIECE_NBYTES = 256 << 10

# Settings for transmission-cli: it sends nothing beyond this machine.
TRANSMISSION_SETTINGS = {
    "dht-enabled": False, "lpd-enabled": False, "pex-enabled": False, "utp-enabled": False,
    "port-forwarding-enabled": False, "blocklist-enabled": False, "bind-address-ipv4": "127.0.0.1",
    "bind-address-ipv6": "::1"}


class Peers(Programs):
    def __init__(self, hashloom):
        super().__init__(hashloom)
        pythons = [path for path in (os.path.join(ROOT, "build", "venv", "bin", "python"), "python3")
                   if shutil.which(path)]
        self.python = {name: next((python for python in pythons if self.ask(name, [
            python, "-W", "ignore", PYTHON_PEERS, f"{name}-version"], must_succeed=True)), None)
            for name in ("libtorrent", "torf")}
        for name, line in (("aria2c", ["aria2c", "--version"]), ("transmission-cli", ["transmission-cli", "--version"]),
                           ("torrenttools", ["torrenttools", "--version"]), ("mkbrr", ["mkbrr", "version"]),
                           ("imdl", ["imdl", "--version"]), ("mktorrent", ["mktorrent", "-h"])):
            if not self.ask(name, line):
                self.skipped.append(name)
        self.skipped += [name for name, python in self.python.items() if python is None]

    def script(self, name, *arguments):
        library = name.partition("-")[0]
        return [self.python[library], "-W", "ignore", PYTHON_PEERS, name, *map(str, arguments)]


def verifiers(peers, torrent, content, work, threads, only=None, v2=False):
    """Commands that check one torrent. If `threads` is None, each uses its default."""
    folder = os.path.dirname(content)
    one = threads is not None
    found = [Entrant("hashloom", [peers.hashloom, "torrent", "verify", "-q", *(["--threads", "1"] if one else []),
                                  torrent, folder])]
    if peers.has("libtorrent"):
        for hashing_threads in (1, 2, 4):
            found.append(Entrant(f"libtorrent, {hashing_threads} threads",
                                 peers.script("libtorrent-verify", hashing_threads, folder, torrent)))
    if v2:
        return found
    if peers.has("aria2c"):
        control = content + ".aria2"
        found.append(Entrant("aria2c", [
            "aria2c", "--no-conf", "--check-integrity=true", "--hash-check-only=true", "--bt-hash-check-seed=false",
            "--enable-dht=false", "--bt-enable-lpd=false", "--file-allocation=none", "--seed-time=0",
            "--summary-interval=0", "--show-console-readout=false", f"--dir={folder}", torrent],
            # aria2c leaves this file beside incomplete content, and believes it the next time.
            prepare=lambda: os.path.exists(control) and os.remove(control)))
    if peers.has("transmission-cli"):
        config = os.path.join(work, "transmission")

        def prepare():
            shutil.rmtree(config, ignore_errors=True)
            os.makedirs(config)
            with open(os.path.join(config, "settings.json"), "w") as settings:
                json.dump(TRANSMISSION_SETTINGS, settings)

        found.append(Entrant("transmission-cli", [
            "stdbuf", "-o0", "transmission-cli", "-w", folder, "-g", config, "-M", "-B", torrent],
            is_right=lambda result: re.search(r"Seeding|Progress: 100\.0", result.output) is not None,
            until=rb"Seeding|Progress", prepare=prepare))
    if peers.has("torrenttools"):
        # torrenttools wants the folder that a single file is in.
        place = content if os.path.isdir(content) else folder
        found.append(Entrant("torrenttools", ["torrenttools", "verify", *(["--threads", "1"] if one else []), torrent,
                                              place],
                             is_right=lambda result: result.status == 0 and " 100%" in result.output,
                             blind="its status is 0 whatever it finds, and it rounds to 100%"))
    if peers.has("mkbrr"):
        found.append(Entrant("mkbrr", ["mkbrr", "check", "-q", *(["--workers", "1"] if one else []), torrent, content]))
    if peers.has("imdl"):
        found.append(Entrant("imdl", ["imdl", "torrent", "verify", "--content", content, torrent]))
    if peers.has("torf"):
        found.append(Entrant("torf", peers.script("torf-verify", 1 if one else len(ALL), content, torrent)))
    return [entrant for entrant in found if not only or entrant.name.startswith(only)]


def says(path, reference):
    """Returns a check that the torrent at `path` says all that `reference` says of the content. It may add a private
    flag, a source and the like, which change an info-hash."""
    def check(result):
        if result.status != 0 or not os.path.exists(path):
            return False
        with open(path, "rb") as written, open(reference, "rb") as wanted:
            written, wanted = bdecode(written.read()), bdecode(wanted.read())
        return (all(written[b"info"].get(key) == value for key, value in wanted[b"info"].items())
                and written.get(b"piece layers") == wanted.get(b"piece layers"))
    return check


def creators(peers, kind, content, reference, work):
    """Commands that create a torrent of one file."""
    found = []

    def add(name, line):
        out = os.path.join(work, f"created-{name.split(',')[0]}.torrent")
        found.append(Entrant(name, line(out), is_right=says(out, reference),
                             prepare=lambda: os.path.exists(out) and os.remove(out)))

    add("hashloom", lambda out: [peers.hashloom, "torrent", "create", f"--{kind}", "--threads", "1", "--piece-length",
                                 str(PIECE_NBYTES), "-o", out, content])
    if peers.has("libtorrent"):
        add("libtorrent", lambda out: peers.script("libtorrent-create", kind, PIECE_NBYTES, content, out))
    if peers.has("torrenttools"):
        add("torrenttools", lambda out: [
            "torrenttools", "create", "--protocol", {"v1": "1"}.get(kind, kind), "--threads", "1", "--piece-size",
            f"{PIECE_NBYTES >> 10}K", "--output", out, content])
    if kind != "v1":
        return found
    if peers.has("mktorrent"):
        add("mktorrent", lambda out: [
            "mktorrent", "-a", ANNOUNCE, "-d", "-l", str(PIECE_NBYTES.bit_length() - 1), "-t", "1", "-o", out, content])
    if peers.has("mkbrr"):
        add("mkbrr", lambda out: ["mkbrr", "create", "-q", "--private=false", "--workers", "1", "-l",
                                  str(PIECE_NBYTES.bit_length() - 1), "-o", out, content])
    if peers.has("imdl"):
        add("imdl", lambda out: ["imdl", "torrent", "create", "-p", f"{PIECE_NBYTES >> 10}KiB", "-o", out, "-i",
                                 content])
    if peers.has("torf"):
        add("torf", lambda out: peers.script("torf-create", 1, PIECE_NBYTES, content, out))
    return found


def shell(line, *arguments):
    """A shell that runs `line` with the arguments as "$@"."""
    return ["sh", "-c", line, "sh", *arguments]


def evict(paths):
    """Drops files from the page cache, and nothing else."""
    for path in paths:
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def is_cold(path):
    """Returns True if a read would wait for the disk, tried at a few places."""
    nbytes = os.path.getsize(path)
    with open(path, "rb") as file:
        for place in range(16):
            try:
                if os.preadv(file.fileno(), [bytearray(1)], place * nbytes // 16, os.RWF_NOWAIT):
                    return False
            except BlockingIOError:
                pass
    return True


def can_evict(path):
    """Returns True if this system drops a file from its cache on request, and can tell that it did."""
    try:
        evict([path])
        return is_cold(path)
    except (AttributeError, OSError):
        return False


class Bench(Race):
    def __init__(self, arguments, peers, work):
        super().__init__(arguments, work)
        self.peers = peers
        self.scale = arguments.size / FULL_NBYTES

    def torrent(self, content, kind="v1", piece_nbytes=PIECE_NBYTES):
        """Returns a torrent of the content, made by Python's hashlib or, if it is not v1, by libtorrent."""
        name = f"{os.path.basename(content)}-{kind}-{piece_nbytes >> 10}K.torrent"
        torrent = self.path(name)
        if os.path.exists(torrent) and self.keep:
            return torrent
        if kind == "v1":
            v1_torrent(content, torrent, piece_nbytes)
        else:
            made = run(self.peers.script("libtorrent-create", kind, piece_nbytes, content, torrent + ".new"), ALL)
            if made.status != 0:
                sys.exit(f"torrents.py: libtorrent could not create {torrent}:\n{made.output}")
            os.replace(torrent + ".new", torrent)
        return torrent

    # The rows. Each makes its content, races and leaves nothing behind.

    def big(self, wanted):
        """One large file."""
        size = self.arguments.size
        image = self.path(f"image-{size >> 20}M.bin")
        random_file(image, size, seed=4)
        with self.content(image):
            what = f"{size / (1 << 30):g} GiB in one file, pieces of 256 KiB"
            cat = Entrant("cat", ["cat", image], reads_only=True)
            for row, title, cpus, threads, only in (
                    ("verify-v1", "verify v1", one_cpu(), 1, None),
                    ("verify-all", "verify v1, all CPUs", ALL, None,
                     ("hashloom", "libtorrent", "torrenttools", "mkbrr", "torf"))):
                if row in wanted:
                    entrants = verifiers(self.peers, self.torrent(image), image, self.work, threads, only)
                    where = "one CPU" if threads else f"{len(cpus)} CPUs"
                    self.race(Row(row, f"{title}: {what}, {where}", size, entrants + ([cat] if threads else []), cpus,
                                  self.rounds(5), image, [image]))
            for kind in ("v2", "hybrid"):
                if f"verify-{kind}" in wanted and self.needs_libtorrent(f"verify-{kind}"):
                    torrent = self.torrent(image, kind)
                    entrants = verifiers(self.peers, torrent, image, self.work, 1, v2=True)
                    self.race(Row(f"verify-{kind}", f"verify {kind}: {what}, one CPU", size, entrants, one_cpu(),
                                  self.rounds(5), image, [image]))
            for kind in ("v1", "hybrid"):
                if f"create-{kind}" in wanted and (kind == "v1" or self.needs_libtorrent("create-hybrid")):
                    entrants = creators(self.peers, kind, image, self.torrent(image, kind), self.work)
                    self.race(Row(f"create-{kind}", f"create {kind}: {what}, one CPU", size, entrants, one_cpu(),
                                  self.rounds(5), warm=[image]))
            if "cold" in wanted and self.can_be_cold(image):
                self.cold_big(image, size)

    def needs_libtorrent(self, row):
        if not self.peers.has("libtorrent"):
            print(f"\nskipped: {row} (only libtorrent makes its torrent)")
        return self.peers.has("libtorrent")

    def can_be_cold(self, path):
        able = can_evict(path)
        if not able:
            print("\nskipped: cold (files cannot be dropped from the cache here)")
        return able

    def small(self, wanted):
        """Many small files."""
        count = max(100, round(2000 * self.scale))
        folder = self.path(f"small-{count}")
        sizes = [1000 + index * 7919 % 144_000 for index in range(count)]
        paths = [os.path.join(folder, f"part{index % 20:02}", f"file{index:05}.bin") for index in range(count)]
        for index, (path, nbytes) in enumerate(zip(paths, sizes)):
            random_file(path, nbytes, seed=index)
        with self.content(folder):
            what = f"{count} files of together {sum(sizes) / 1e6:.0f} MB, pieces of 256 KiB"
            torrent = self.torrent(folder)
            if "small" in wanted:
                entrants = verifiers(self.peers, torrent, folder, self.work, 1)
                entrants.append(Entrant("cat", ["cat", *paths], reads_only=True))
                self.race(Row("small", f"verify v1: {what}, one CPU", sum(sizes), entrants, one_cpu(), self.rounds(7),
                              paths[count // 2], paths))
            if "cold" in wanted and self.can_be_cold(paths[0]):
                paths.sort()
                entrants = verifiers(self.peers, torrent, folder, self.work, None, ("hashloom", "libtorrent, 2"))
                entrants.append(Entrant("cat", ["cat", *paths], reads_only=True))
                self.race_cold(Row("cold-small", f"cold, verify v1: {what}, {len(ALL)} CPUs", sum(sizes), entrants,
                                   ALL, self.rounds(7)), paths)

    def many(self, wanted):
        """Many torrents."""
        if "many" not in wanted:
            return
        count, nbytes = max(5, round(100 * self.scale)), 40 << 20
        folder = self.path("many")
        images = [os.path.join(folder, f"image{index:03}.bin") for index in range(count)]
        for index, image in enumerate(images):
            random_file(image, nbytes, seed=1000 + index)
        with self.content(folder):
            torrents = [self.torrent(image) for image in images]
            for cpus, threads, row, where in ((one_cpu(), ["--threads", "1"], "many", "one CPU"),
                                              (ALL, [], "many-all", f"{len(ALL)} CPUs")):
                verify = [self.peers.hashloom, "torrent", "verify", "-q", *threads]
                loop = f'for torrent; do {shlex.join(verify)} "$torrent" {shlex.quote(folder)} || exit; done'
                entrants = [Entrant("hashloom, one call", [*verify, *torrents, "--data", folder]),
                            Entrant("hashloom, one after the other", shell(loop, *torrents))]
                if self.peers.has("libtorrent"):
                    entrants.append(Entrant("libtorrent, one session", self.peers.script(
                        "libtorrent-verify", len(cpus), folder, *torrents)))
                self.race(Row(row, f"verify v1: {count} torrents of 40 MiB, {where}", count * nbytes, entrants, cpus,
                              self.rounds(5), images[count // 2], images))

    def hole(self, wanted):
        """A file without data."""
        if "hole" not in wanted:
            return
        size = self.arguments.size
        image = self.path(f"hole-{size >> 20}M.bin")
        with open(image, "wb") as file:
            file.truncate(size)
        with self.content(image):
            entrants = verifiers(self.peers, self.torrent(image), image, self.work, 1)
            self.race(Row("hole", f"verify v1: a hole of {size / (1 << 30):g} GiB, pieces of 256 KiB, one CPU", size,
                          entrants, one_cpu(), self.rounds(5), warm=[image]))

    def cold_big(self, image, size):
        """Compares with dd, which reads in order and does nothing else."""
        for piece_nbytes in (16 << 10, 256 << 10, 4 << 20, 16 << 20):
            torrent = self.torrent(image, piece_nbytes=piece_nbytes)
            entrants = verifiers(self.peers, torrent, image, self.work, None, ("hashloom", "libtorrent, 2"))
            entrants += [Entrant("dd, through the cache", ["dd", f"if={image}", "of=/dev/null", "bs=1M"]),
                         Entrant("dd, direct", ["dd", f"if={image}", "of=/dev/null", "bs=1M", "iflag=direct"])]
            kib = piece_nbytes >> 10
            self.race_cold(Row(f"cold-{kib}K", f"cold, verify v1: {size / (1 << 30):g} GiB in one file, pieces of "
                               f"{kib} KiB, {len(ALL)} CPUs", size, entrants, ALL, self.rounds(5)), [image])

    def race_cold(self, row, paths):
        for entrant in row.entrants:
            entrant.prepare = lambda: evict(paths)
        self.race(row)


def goals(rows):
    """Yields goals: a name, the least wanted, and the value found or None."""
    named = {row.name: row for row in rows}

    def ratio(row, ours, theirs, of="cpu"):
        row = named.get(row)
        theirs, ours = (row.get(theirs, of), row.get(ours, of)) if row else (None, None)
        return theirs / ours if theirs is not None and ours else None

    def fastest(row):
        row = named.get(row)
        peers = [e.least.cpu for e in row.entrants[1:] if e.name != "cat" and e.least.rounds] if row else []
        return min(peers) / row.get("hashloom") if peers and row.get("hashloom") else None

    yield "v1 verify, bytes per CPU second / libtorrent", 3.2, ratio("verify-v1", "hashloom", "libtorrent")
    yield "v1 verify, bytes per CPU second / aria2", 3.2, ratio("verify-v1", "hashloom", "aria2c")
    yield "v1 verify, bytes per CPU second / torrenttools", 1.05, ratio("verify-v1", "hashloom", "torrenttools")
    yield "v1 verify, bytes per CPU second / cat", 0.55, ratio("verify-v1", "hashloom", "cat")
    yield "v1 verify, wall, all CPUs / libtorrent", 3.5, ratio("verify-all", "hashloom", "libtorrent", "wall")
    yield "v2 verify / libtorrent", 2.4, ratio("verify-v2", "hashloom", "libtorrent")
    yield "hybrid verify / libtorrent", 2.7, ratio("verify-hybrid", "hashloom", "libtorrent")
    yield "create v1 / mktorrent", 2.5, ratio("create-v1", "hashloom", "mktorrent")
    yield "create hybrid / libtorrent", 2.7, ratio("create-hybrid", "hashloom", "libtorrent")
    yield "small files / the fastest peer", 1.3, fastest("small")
    for row, of, what in (("many", "cpu", "CPU on one"), ("many-all", "wall", "wall on all")):
        yield (f"many torrents in one call / one after the other, {what}", 1.0,
               ratio(row, "hashloom, one call", "hashloom, one after", of))
    peaks = [e.least.peak_nbytes for row in rows for e in row.entrants if e.name.startswith("hashloom")]
    peak = max(peaks, default=0)
    yield "64 MiB / peak memory of hashloom in any row", 1.0, (64 << 20) / peak if peak else None
    for row in rows:
        if row.name.startswith("cold"):
            best = min(row.get(name, "wall") or float("inf") for name in ("dd, through", "dd, direct", "cat"))
            ours = row.get("hashloom", "wall")
            yield f"{row.name}: the device's rate as dd or cat see it", 0.95, best / ours if ours else None


ROWS = ["verify-v1", "verify-all", "verify-v2", "verify-hybrid", "create-v1", "create-hybrid", "small", "many", "hole",
        "cold"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("hashloom", help="the program")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"one of {' '.join(ROWS)} (default: all)")
    parser.add_argument("--size", type=size, default=FULL_NBYTES, help="size of the largest file; the rest is scaled")
    add_arguments(parser)
    arguments = parser.parse_args()
    if unknown := set(arguments.rows) - set(ROWS):
        parser.error(f"no such row: {' '.join(sorted(unknown))}; there are {' '.join(ROWS)}")
    wanted = set(arguments.rows or ROWS)
    if not shutil.which(arguments.hashloom):
        parser.error(f"{arguments.hashloom}: no such program: run make build first")

    parent = arguments.dir or tempfile.gettempdir()
    os.makedirs(parent, exist_ok=True)
    # In a folder that the caller gives, the large file and the many torrents' files stay side by side.
    needed = arguments.size * (2 if arguments.dir else 1) + (1 << 30)
    if not arguments.dir and shutil.disk_usage(parent).free < needed:
        parser.error(f"{parent}: {needed >> 30} GiB must be free: give another folder with --dir, "
                     "or less content with --size")
    peers = Peers(arguments.hashloom)
    print(machine())
    peers.print_all()

    with tempfile.TemporaryDirectory(prefix="hashloom-bench-") as temporary:
        bench = Bench(arguments, peers, os.path.abspath(arguments.dir or temporary))
        if wanted - {"small", "many", "hole"}:
            bench.big(wanted)
        if wanted & {"small", "cold"}:
            bench.small(wanted)
        bench.many(wanted)
        bench.hole(wanted)
    found = list(goals(bench.rows))
    print_goals(found)
    if arguments.json:
        write_json(arguments.json, peers, bench.rows, found)


if __name__ == "__main__":
    main()
