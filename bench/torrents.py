#!/usr/bin/env python3
# torrents.py: verifying and creating torrents, hashloom and other programs.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Times whole commands: the least wall and CPU seconds (user and system) of several rounds, and peak memory.

  bench/torrents.py HASHLOOM [ROW]... [--size 4G] [--rounds N] [--dir FOLDER]

All commands of a row take turns, pinned to one CPU unless the row says "all CPUs". The content is random bytes from a
fixed seed, in the page cache. Every command must find the content complete in every round, and notice one changed byte
once (a peer that cannot is named below the table). A torrent created must have the digests that Python's hashlib finds.

Rows: verify-v1 verify-all verify-v2 verify-hybrid create-v1 create-hybrid small find (default: these), and `image`: 485
MiB by each instruction set, beside programs that hash the file as one message. Programs are looked for in
build/peers/bin and in PATH, libtorrent and torf in build/venv and in python3. The seconds of these two do not include
the start of Python."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from race import (ALL, ONE, ROOT, Entrant, Programs, machine, parser_of, race, random_file, random_folder, run,
                  v1_torrent, work_folder)

PYTHON_PEERS = str(ROOT / "bench/python_peers.py")
PIECE_NBYTES = 256 << 10
ROWS = ["verify-v1", "verify-all", "verify-v2", "verify-hybrid", "create-v1", "create-hybrid", "small", "find", "image"]
# transmission-cli sends nothing beyond this machine.
TRANSMISSION_SETTINGS = dict.fromkeys(["dht-enabled", "lpd-enabled", "pex-enabled", "utp-enabled", "blocklist-enabled",
                                       "port-forwarding-enabled"], False) | {
    "bind-address-ipv4": "127.0.0.1", "bind-address-ipv6": "::1"}


class Peers(Programs):
    def __init__(self, hashloom):
        venv = ROOT / "build/venv/bin/python"
        self.python = [str(venv) if venv.exists() else "python3", "-W", "ignore", PYTHON_PEERS]
        programs = ["aria2c", "transmission-cli", "torrenttools", "imdl"]
        super().__init__(hashloom, {name: [*self.python, "version", name] for name in ("libtorrent", "torf")}
                         | {name: [name, "--version"] for name in programs}
                         | {"mkbrr": ["mkbrr", "version"], "mktorrent": ["mktorrent", "-h"]})

    def script(self, name, *arguments):
        return [*self.python, name, *map(str, arguments)]

    def installed(self, entrants, only=None):
        return [entrant for entrant in entrants
                if self.has(entrant.name.split(",")[0]) and (not only or entrant.name.startswith(only))]


def verifiers(peers, torrent, content, work, threads, only=None):
    """Commands that check one torrent. If `threads` is None, each uses its default."""
    folder, control, config = os.path.dirname(content), content + ".aria2", os.path.join(work, "transmission")
    one = threads is not None

    def prepare_transmission():
        shutil.rmtree(config, ignore_errors=True)
        os.makedirs(config)
        Path(config, "settings.json").write_text(json.dumps(TRANSMISSION_SETTINGS))

    return peers.installed([
        Entrant("hashloom", [peers.hashloom, "torrent", "verify", "-q", *["--threads", "1"] * one, torrent, folder]),
        *(Entrant(f"libtorrent, {n} threads", peers.script("libtorrent-verify", n, folder, torrent))
          for n in (1, 2, 4)),
        Entrant("aria2c", [
            "aria2c", "--no-conf", "--check-integrity=true", "--hash-check-only=true", "--bt-hash-check-seed=false",
            "--enable-dht=false", "--bt-enable-lpd=false", "--file-allocation=none", "--seed-time=0",
            "--summary-interval=0", "--show-console-readout=false", f"--dir={folder}", torrent],
            # aria2c leaves this file beside incomplete content, and believes it the next time.
            prepare=lambda: os.path.exists(control) and os.remove(control)),
        # transmission-cli prints its progress while it still waits for the check to begin.
        Entrant("transmission-cli", ["stdbuf", "-o0", "transmission-cli", "-w", folder, "-g", config, "-M", "-B",
                                     torrent],
                is_right=lambda result: re.search(r"Seeding|Progress: 100\.0", result.output) is not None,
                until=rb"Seeding|Progress: [1-9]", prepare=prepare_transmission),
        # torrenttools wants the folder that a single file is in.
        Entrant("torrenttools", ["torrenttools", "verify", *["--threads", "1"] * one, torrent,
                                 content if os.path.isdir(content) else folder],
                is_right=lambda result: result.status == 0 and " 100%" in result.output,
                blind="its status is 0 whatever it finds, and it rounds to 100%"),
        Entrant("mkbrr", ["mkbrr", "check", "-q", *["--workers", "1"] * one, torrent, content]),
        Entrant("imdl", ["imdl", "torrent", "verify", "--content", content, torrent]),
        Entrant("torf", peers.script("torf-verify", 1 if one else len(ALL), content, torrent)),
    ], only)


def creators(peers, kind, content, pieces, work):
    """Commands that create a torrent of one file; `pieces` are the digests that it must have."""
    def entrant(name, *line):
        out = os.path.join(work, f"created-by-{name}.torrent")
        return Entrant(name, [out if part == "OUT" else str(part) for part in line],
                       is_right=lambda result: result.status == 0 and pieces in Path(out).read_bytes(),
                       prepare=lambda: os.path.exists(out) and os.remove(out))

    kib, bits = f"{PIECE_NBYTES >> 10}", PIECE_NBYTES.bit_length() - 1
    only_v1 = [
        entrant("mktorrent", "mktorrent", "-a", "http://127.0.0.1:9/announce", "-d", "-l", bits, "-t", 1, "-o", "OUT",
                content),
        entrant("mkbrr", "mkbrr", "create", "-q", "--private=false", "--workers", 1, "-l", bits, "-o", "OUT", content),
        entrant("imdl", "imdl", "torrent", "create", "-p", kib + "KiB", "-o", "OUT", "-i", content),
        entrant("torf", *peers.script("torf-create", 1, PIECE_NBYTES, content, "OUT"))]
    return peers.installed([
        entrant("hashloom", peers.hashloom, "torrent", "create", f"--{kind}", "--threads", 1, "--piece-length",
                PIECE_NBYTES, "-o", "OUT", content),
        entrant("libtorrent", *peers.script("libtorrent-create", kind, PIECE_NBYTES, content, "OUT")),
        entrant("torrenttools", "torrenttools", "create", "--protocol", "1" if kind == "v1" else kind, "--threads", 1,
                "--piece-size", kib + "K", "--output", "OUT", content),
        *(only_v1 if kind == "v1" else [])])


def finders(peers, work, count):
    """Commands over torrents of 20 files each, whose files lie in one folder under other names."""
    albums, pool = os.path.join(work, "albums"), os.path.join(work, "pool")
    os.makedirs(pool, exist_ok=True)
    torrents, nbytes = [], 0
    for album in range(0, count, 20):
        folder = os.path.join(albums, f"{album:06}")
        for name in random_folder(folder, 20, lambda index: 1000 + (album + index) * 7919 % 144_000, seed=album):
            other = os.path.join(pool, f"{album}-{name}".replace("/", "-"))
            nbytes += os.path.getsize(os.path.join(folder, name))
            if not os.path.exists(other):
                os.link(os.path.join(folder, name), other)
        torrents.append(v1_torrent(folder, folder + ".torrent", PIECE_NBYTES >> 4))
    hashloom = [peers.hashloom, "torrent"]
    return nbytes, other, [
        Entrant("hashloom torrent find", [*hashloom, "find", "--threads", "1", *torrents, "--in", pool]),
        Entrant("verify, under their own names",
                [*hashloom, "verify", "--threads", "1", "-q", *torrents, "-d", albums]),
        Entrant("find -printf %s", ["find", pool, "-printf", "%s\n"], reads_only=True)]


def by_each_isa(peers, torrent, image):
    """Commands over each instruction set, and programs that hash the file as one message."""
    entrant = verifiers(peers, torrent, image, os.path.dirname(image), 1, "hashloom")[0]
    listing = json.loads(subprocess.check_output([peers.hashloom, "kernels", "--json"]))
    with_sha1 = {kernel["isa"] for kernel in listing["kernels"] if "sha1" in kernel["algorithms"]}
    lines = {"openssl dgst -sha1": ["openssl", "dgst", "-sha1", image], "sha1sum": ["sha1sum", image]}
    return [entrant, *(Entrant(f"  only {isa}", entrant.line, environment={"HASHLOOM_ISA": isa})
                       for isa in listing["isas"]["available"] if isa in with_sha1),
            *(Entrant(name, line) for name, line in lines.items() if shutil.which(line[0]))]


def main():
    parser = parser_of(__doc__, ROWS, 4 << 30)
    arguments = parser.parse_intermixed_args()
    wanted, size, rounds = arguments.rows or ROWS[:-1], arguments.size, arguments.rounds
    peers = Peers(arguments.hashloom)
    print(machine()) if wanted == ["image"] else peers.print_all()
    with work_folder(arguments) as work:
        if wanted == ["image"]:
            size = 485 << 20
        image = os.path.join(work, f"image-{size >> 20}M.bin")
        if set(wanted) - {"small", "find"}:
            random_file(image, size, seed=4)
        torrents = {"v1": v1_torrent(image, image + ".v1.torrent", PIECE_NBYTES)} if os.path.exists(image) else {}
        cat = Entrant("cat, to nowhere", ["cat", image], reads_only=True)
        for row in wanted:
            verb, _, kind = row.partition("-")
            if kind in ("v2", "hybrid") and not peers.has("libtorrent"):
                print(f"\nskipped: {row} (libtorrent makes its torrent)")
                continue
            what = f"{row}: {size >> 20:,} MiB in one file, pieces of 256 KiB"
            if row == "small":
                folder, count = os.path.join(work, "small"), max(100, size >> 21)
                names = random_folder(folder, count, lambda index: 1000 + index * 7919 % 144_000, seed=3)
                paths = [os.path.join(folder, name) for name in names]
                nbytes = sum(map(os.path.getsize, paths))
                entrants = verifiers(peers, v1_torrent(folder, folder + ".torrent", PIECE_NBYTES), folder, work, 1)
                race(row, f"verify v1: {count:,} files of together {nbytes / 1e6:.0f} MB, one CPU", nbytes,
                     [*entrants, Entrant("cat, to nowhere", ["cat", *paths], reads_only=True)], ONE, rounds,
                     paths[count // 2])
            elif row == "find":
                nbytes, damage, entrants = finders(peers, work, max(100, size >> 21))
                race(row, f"find renamed files of torrents: {nbytes / 1e6:.0f} MB, one CPU", nbytes, entrants, ONE,
                     rounds, damage)
            elif row == "image":
                race(row, f"{what}, one CPU", size, [*by_each_isa(peers, torrents["v1"], image), cat], ONE, rounds)
            elif verb == "create":
                digests = re.search(rb"6:pieces\d+:.*", Path(torrents["v1"]).read_bytes(), re.S)[0][:-2]
                race(row, f"{what}, one CPU", size, creators(peers, kind, image, digests, work), ONE, rounds)
            elif row == "verify-all":
                race(row, f"{what}, {len(ALL)} CPUs", size, verifiers(
                    peers, torrents["v1"], image, work, None,
                    ("hashloom", "libtorrent", "torrenttools", "mkbrr", "torf")), ALL, rounds, image)
            else:
                torrent = torrents.setdefault(kind, f"{image}.{kind}.torrent")
                if not os.path.exists(torrent):
                    run(peers.script("libtorrent-create", kind, PIECE_NBYTES, image, torrent), ALL)
                race(row, f"{what}, one CPU", size, [*verifiers(
                    peers, torrent, image, work, 1, None if kind == "v1" else ("hashloom", "libtorrent")), cat], ONE,
                    rounds, image)


if __name__ == "__main__":
    main()
