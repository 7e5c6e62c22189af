#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Torrents by other programs verify, and other programs read hashloom's torrents.

A flipped byte is reported at the right piece. The other programs find the content complete, and make equal torrents.

    python3 test/interop_torrents.py path/to/hashloom [--require]

Makers: transmission-create (Debian package transmission-cli) and libtorrent (the PyPI package of that name, or Debian's
python3-libtorrent). Readers: these, aria2, mktorrent, and imdl if it is in the PATH. A program that is not installed is
named as SKIPPED; with --require that is a failure, except for imdl, which Debian lacks. Transmission 3 refuses hybrid
and v2 torrents, libtorrent's too, and aria2 1.36 misreads them: these two get only v1 torrents.
"""

import hashlib
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys

import checks
import torrents
from bencode import bdecode
from checks import equal
from torrents import lt

TRACKER = "udp://t.invalid:1"


class Torrent:
    """A torrent as the checks need it: its files in order, by this script's own decoder."""

    def __init__(self, path):
        self.path = path
        data = path.read_bytes()
        info = bdecode(data)[0][b"info"]
        self.info = info
        # The raw info dictionary: from behind its key to its end.
        start = data.index(b"4:infod") + 6
        raw = data[start : bdecode(data, start)[1]]
        self.info_hash = hashlib.sha1(raw).hexdigest() if b"pieces" in info else None
        self.info_hash_v2 = hashlib.sha256(raw).hexdigest() if b"file tree" in info else None
        self.piece_length = info[b"piece length"]
        name = info[b"name"].decode()
        self.files, offset = [], 0
        if b"pieces" not in info:
            # Each file begins at a piece.
            for path, length in self.tree():
                self.files.append((path, offset, length))
                offset += -(-length // self.piece_length) * self.piece_length
            self.piece_count = offset // self.piece_length
            return
        self.piece_count = len(info[b"pieces"]) // 20
        for entry in info.get(b"files", [{b"path": [], b"length": info.get(b"length", 0)}]):
            path = pathlib.Path(name, *(part.decode() for part in entry[b"path"]))
            if b"p" not in entry.get(b"attr", b""):
                self.files.append((path, offset, entry[b"length"]))
            offset += entry[b"length"]

    def tree(self):
        """Returns the files of BEP 52's tree in its order, and their lengths."""

        def walk(tree, path):
            for name, node in tree.items():
                if name == b"":
                    yield path, node[b"length"]
                else:
                    yield from walk(node, path / name.decode())

        name, tree = self.info[b"name"], self.info[b"file tree"]
        single = list(tree) == [name] and b"" in tree[name]
        return walk(tree, pathlib.Path("" if single else name.decode()))

    def tree_order(self):
        """Returns the files in the order of BEP 52's tree, or of v1's list if there is no tree."""
        return [path for path, _ in self.tree()] if b"file tree" in self.info else [path for path, _, _ in self.files]


def make_contents(folder):
    """Makes a single file, and a folder of files of many lengths; returns their paths."""
    noise = random.Random(1)
    (folder / "image.bin").write_bytes(noise.randbytes(3_000_001))
    many = folder / "Viele Dateien ünd more"
    for i, length in enumerate([0, 1, 16383, 16384, 16385, 65536, 100_000, 0, 777_777, 3, 262_144]):
        path = many / f"folder {i % 3}" / "ä" / f"{length} bytes.{i}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(noise.randbytes(length))
    return [folder / "image.bin", many]


def make(command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def by_transmission(content, out):
    for kib in (16, 32, 256):
        path = out / f"transmission-{kib}-{content.stem}.torrent"
        make(["transmission-create", "-s", str(kib), "-c", "a comment", "-t", TRACKER, "-o", path, content])
        yield path


def by_libtorrent(content, out):
    for kind in ("v1", "padded v1", "hybrid", "v2"):
        for piece_length in (16384, 65536):
            path = out / f"libtorrent-{kind}-{piece_length}-{content.stem}.torrent"
            path.write_bytes(torrents.made(content, kind, piece_length, TRACKER))
            yield path


def told(command, label):
    """Returns the last word of each output line that has a label, an expression."""
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return [line.split()[-1] for line in lines if re.search(label, line)]


def readers(ours, content, version, piece_length, out):
    """Yields what other programs say of hashloom's torrent: (program, what, found, expected)."""
    if lt:
        made = lt.torrent_info(lt.bdecode(torrents.made(content, version, piece_length, files=ours.tree_order())))
        hashes = torrents.info_hashes(lt.torrent_info(str(ours.path)))
        yield "libtorrent", "info-hashes", hashes, torrents.info_hashes(made)
        done, wanted = torrents.found(ours.path, content.parent, torrents.session())
        yield "libtorrent", "bytes found", done, wanted
    if version != "v1":
        return
    if shutil.which("transmission-show"):
        # Since version 4.1 it is "Hash v1:".
        found = told(["transmission-show", ours.path], "^ *Hash( v1)?:")
        yield "transmission-show", "info-hash", found, [ours.info_hash]
    if shutil.which("transmission-create"):
        path = out / f"transmission-again-{piece_length}-{content.stem}.torrent"
        make(["transmission-create", "-s", str(piece_length // 1024), "-o", path, content])
        # transmission-create leaves out empty files and writes private=0, so its info-hash differs.
        yield "transmission-create", "digests", Torrent(path).info[b"pieces"], ours.info[b"pieces"]
    if shutil.which("aria2c"):
        yield "aria2", "info-hash", told(["aria2c", "-S", ours.path], "Info Hash:"), [ours.info_hash]
        # On a copy: aria2 writes beside the content that it checks.
        copy = out / "for aria2"
        shutil.copytree(content.parent, copy)
        command = ["aria2c", "--check-integrity=true", "--hash-check-only=true", "--enable-dht=false", "-d", copy]
        run = subprocess.run([*command, ours.path], capture_output=True, check=False)
        yield "aria2", "status of its check", run.returncode, 0
        shutil.rmtree(copy)
    if shutil.which("mktorrent"):
        path = out / f"mktorrent-{piece_length}-{content.stem}.torrent"
        make(["mktorrent", "-l", str(piece_length.bit_length() - 1), "-a", "http://t.invalid", "-o", path, content])
        yield "mktorrent", "info-hash", Torrent(path).info_hash, ours.info_hash
    if shutil.which("imdl"):
        path = out / f"imdl-{piece_length}-{content.stem}.torrent"
        make(["imdl", "--quiet", "torrent", "create", "--piece-length", f"{piece_length}B", "--input", content,
              "--output", path])
        theirs = Torrent(path)
        # imdl orders files folder by folder, so its info-hash differs if that is another order.
        paths = [sorted(path for path, _, _ in torrent.files) for torrent in (theirs, ours)]
        yield "imdl", "files", *paths
        if theirs.files == ours.files:
            yield "imdl", "info-hash", theirs.info_hash, ours.info_hash
        command = ["imdl", "--quiet", "torrent", "verify", "--input", ours.path, "--content", content]
        yield "imdl", "status of its check", subprocess.run(command, capture_output=True, check=False).returncode, 0


def hashloom(*words):
    """Returns what a command prints as JSON. An exit status other than 0 or 1, or a message, is a failure."""
    run = subprocess.run([PROGRAM, "torrent", *words, "--json"], capture_output=True, text=True, check=False)
    equal(f"{words}: errors", (run.returncode in (0, 1), run.stderr), (True, ""))
    return run.returncode, json.loads(run.stdout or "{}")


def hashes_of(report):
    return report.get("info_hash"), report.get("info_hash_v2")


def show(path):
    """Checks that libtorrent and hashloom say the same of a torrent."""
    if not lt:
        return
    _, said = hashloom("show", path)
    theirs = lt.torrent_info(str(path))
    v1, v2 = torrents.info_hashes(theirs)
    equal(f"{path.name}: info-hashes", hashes_of(said), (v1, v2))
    files = theirs.files()
    real = [i for i in range(files.num_files()) if not files.file_flags(i) & files.flag_pad_file]
    roots = [files.root(i).to_bytes().hex() if v2 and files.file_size(i) else None for i in real]
    ours = [file for file in said["files"] if not file.get("padding")]
    equal(f"{path.name}: roots", [file.get("root") for file in ours], roots)
    equal(f"{path.name}: lengths", [file["length"] for file in ours], [files.file_size(i) for i in real])
    names = [said["name"] + ("" if said["single_file"] else "/" + file["path"]) for file in ours]
    equal(f"{path.name}: paths", names, [files.file_path(i) for i in real])
    equal(f"{path.name}: trackers", said["trackers"], [[TRACKER]])
    equal(f"{path.name}: notes", said["notes"], [])


def edit(path):
    """Checks that libtorrent reads an edited torrent as meant, and finds the info-hash that hashloom prints."""
    if not lt:
        return
    before = torrents.info_hashes(lt.torrent_info(str(path)))
    new = path.with_suffix(".edited")
    trackers, seed = ["https://a.invalid/x", "udp://b.invalid:7"], "https://c.invalid/files/"
    options = ["-t", ",".join(trackers), "-w", seed, "--comment", "edited", "--no-date"]
    for flags in ([], ["--private", "--source", "here"]):
        _, report = hashloom("edit", path, "-f", "-o", new, *options, *flags)
        theirs = lt.torrent_info(str(new))
        hashes = torrents.info_hashes(theirs)
        equal(f"{path.name}: info-hashes after an edit", hashes_of(report["torrent"]), hashes)
        equal(f"{path.name}: same info-hash", hashes == before, not flags)
        equal(f"{path.name}: edited trackers", [(t.url, t.tier) for t in theirs.trackers()],
              [(url, 0) for url in trackers])
        equal(f"{path.name}: edited web seeds", lt.load_torrent_file(str(new)).url_seeds, [seed])
        equal(f"{path.name}: other edits", (theirs.comment(), theirs.creation_date(), theirs.priv()),
              ("edited", 0, bool(flags)))


def create(content, version, piece_length, out):
    path = out / f"ours-{version}-{piece_length}-{content.stem}.torrent"
    _, report = hashloom("create", content, f"--{version}", "-l", str(piece_length), "-o", path)
    ours = Torrent(path)
    equal(f"{path.name}: info-hashes", hashes_of(report["torrent"]), (ours.info_hash, ours.info_hash_v2))
    return ours


def flip(path, at):
    with open(path, "r+b") as stream:
        stream.seek(at)
        byte = stream.read(1)[0]
        stream.seek(at)
        stream.write(bytes([byte ^ 0x10]))


def check_torrent(path, content):
    """A torrent of another program: what hashloom says of it, and the piece of each flipped byte."""
    show(path)
    edit(path)
    torrent = Torrent(path)
    # By the folder that has the content, and by the content.
    for place in (content.parent, content):
        status, report = hashloom("verify", path, place)
        equal(f"{path.name} in {place.name}: status", status, 0)
        equal(f"{path.name}: info-hashes", hashes_of(report["torrent"]), (torrent.info_hash, torrent.info_hash_v2))
        equal(f"{path.name}: pieces", report["pieces"]["have"], torrent.piece_count)
        equal(f"{path.name}: notes", report["torrent"]["notes"], [])
    for file, offset, length in torrent.files:
        for at in {0, length - 1, random.Random(length).randrange(length)} if length else ():
            flip(content.parent / file, at)
            status, report = hashloom("verify", path, content.parent)
            flip(content.parent / file, at)
            wrong = [(of["state"], of["first"], of["last"]) for of in report["ranges"] if of["state"] != "have"]
            piece = (offset + at) // torrent.piece_length
            equal(f"{path.name}: byte {at} of {file} flipped", (status, wrong), (1, [("bad", piece, piece)]))


def torrents_of_others(folder, maker):
    (folder / "content").mkdir()
    for content in make_contents(folder / "content"):
        for path in maker(content, folder):
            check_torrent(path, content)


def by_transmission_create(folder):
    torrents_of_others(folder, by_transmission)


def by_libtorrents_maker(folder):
    torrents_of_others(folder, by_libtorrent)


def ours_read_by_others(folder):
    (folder / "content").mkdir()
    contents = make_contents(folder / "content")
    script = contents[1] / "run me"
    script.write_bytes(b"#!/bin/sh\n")
    # By whole paths, as programs order files in version 1, "CD1 bonus" comes before "CD1", folder by folder behind it.
    # libtorrent refuses such hybrids that it makes itself.
    two = folder / "content/two folders"
    for number, name in enumerate(["CD1/a", "CD1 bonus/b", "CD1.x"]):
        (two / name).parent.mkdir(parents=True, exist_ok=True)
        (two / name).write_bytes(bytes([number]) * 40_000)
    contents.append(two)
    seen = set()
    for content in contents:
        for version in ("v1", "v2", "hybrid") if content != two else ("v1",):
            # Transmission and mktorrent do not mark executable files.
            script.chmod(0o644 if version == "v1" and content.is_dir() else 0o755)
            for piece_length in (32768, 65536, 1 << 20):
                ours = create(content, version, piece_length, folder)
                for program, what, told, expected in readers(ours, content, version, piece_length, folder):
                    equal(f"{ours.path.name}: {program}: {what}", told, expected)
                    seen.add(program)
    print(f"torrents made by hashloom were read by {', '.join(sorted(seen))}")
    for name in {"libtorrent", "transmission-show", "transmission-create", "aria2", "mktorrent"} - seen:
        checks.skip(f"{name} is not installed: it did not read our torrents")
    if "imdl" not in seen:  # Debian lacks it
        print("SKIPPED: imdl is not installed (cargo install imdl): it did not read our torrents")


def main():
    global PROGRAM
    arguments = checks.parser(__doc__).parse_args()
    PROGRAM, checks.is_required = arguments.hashloom.resolve(), arguments.require
    checks.run_part(by_transmission_create, ["transmission-create"])
    checks.run_part(by_libtorrents_maker, ["libtorrent"])
    checks.run_part(ours_read_by_others)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
