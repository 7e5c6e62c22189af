#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Torrents made by other programs verify, and a flipped byte is reported at the right piece.

    python3 test/interop_torrents.py path/to/hashloom [--require]

Makers: transmission-create (Debian package transmission-cli) and libtorrent (the PyPI package of that name, or Debian's
python3-libtorrent). One that is not installed is named as SKIPPED; with --require that is a failure.
"""

import argparse
import hashlib
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import warnings


def bdecode(data, pos=0):
    """Decodes bencode the plain way; returns the value and where it ends. Only for torrents that were just made."""
    kind = data[pos : pos + 1]
    if kind == b"i":
        end = data.index(b"e", pos)
        return int(data[pos + 1 : end]), end + 1
    if kind in (b"l", b"d"):
        items, pos = [], pos + 1
        while data[pos : pos + 1] != b"e":
            item, pos = bdecode(data, pos)
            items.append(item)
        return (items if kind == b"l" else dict(zip(items[::2], items[1::2]))), pos + 1
    colon = data.index(b":", pos)
    end = colon + 1 + int(data[pos:colon])
    return data[colon + 1 : end], end


class Torrent:
    """What the checks need of a torrent: the files in its order, by the script's own decoder."""

    def __init__(self, path):
        self.path = path
        data = path.read_bytes()
        info = bdecode(data)[0][b"info"]
        # The raw info: from behind its key to where it ends.
        start = data.index(b"4:infod") + 6
        self.info_hash = hashlib.sha1(data[start : bdecode(data, start)[1]]).hexdigest()
        self.piece_length = info[b"piece length"]
        self.piece_count = len(info.get(b"pieces", b"")) // 20
        name = info[b"name"].decode()
        entries = info.get(b"files", [{b"path": [], b"length": info.get(b"length", 0)}])
        self.files, offset = [], 0
        for entry in entries:
            path = pathlib.Path(name, *(part.decode() for part in entry[b"path"]))
            if b"p" not in entry.get(b"attr", b""):
                self.files.append((path, offset, entry[b"length"]))
            offset += entry[b"length"]
        self.padded = any(b"p" in entry.get(b"attr", b"") for entry in entries)


def make_contents(folder):
    """A single file, and a folder of files of many lengths, in two names."""
    noise = random.Random(1)
    (folder / "image.bin").write_bytes(noise.randbytes(3_000_001))
    many = folder / "Viele Dateien ünd more"
    for i, length in enumerate([0, 1, 16383, 16384, 16385, 65536, 100_000, 0, 777_777, 3, 262_144]):
        path = many / f"folder {i % 3}" / "ä" / f"{length} bytes.{i}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(noise.randbytes(length))
    return [folder / "image.bin", many]


def by_transmission(content, out):
    for kib in (16, 32, 256):
        path = out / f"transmission-{kib}-{content.stem}.torrent"
        command = ["transmission-create", "-s", str(kib), "-c", "a comment", "-t", "udp://t.invalid:1"]
        command += ["-o", path, content]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        yield path, None


def by_libtorrent(content, out):
    import libtorrent as lt

    # Its older interface, which all versions have.
    warnings.simplefilter("ignore", DeprecationWarning)

    flags = lt.create_torrent
    kinds = {
        "v1": (flags.v1_only, None),
        "v1-padded": (flags.v1_only | flags.canonical_files, None),
        "hybrid": (0, "a hybrid torrent"),
        "v2": (flags.v2_only, "a v2 torrent"),
    }
    for kind, (flag, refused) in kinds.items():
        for piece_length in (16384, 65536):
            storage = lt.file_storage()
            lt.add_files(storage, str(content), flags=0)
            torrent = lt.create_torrent(storage, piece_length, flags=flag)
            torrent.add_tracker("udp://t.invalid:1")
            lt.set_piece_hashes(torrent, str(content.parent))
            path = out / f"libtorrent-{kind}-{piece_length}-{content.stem}.torrent"
            path.write_bytes(lt.bencode(torrent.generate()))
            yield path, refused


def has_libtorrent():
    try:
        import libtorrent
    except ImportError:
        return None
    return f"libtorrent {libtorrent.version}"


def has_transmission():
    if not shutil.which("transmission-create"):
        return None
    run = subprocess.run(["transmission-create", "--version"], capture_output=True, text=True, check=False)
    return (run.stdout + run.stderr).strip()


class Checker:
    def __init__(self, program):
        self.program = program
        self.checks = 0

    def verify(self, torrent, path):
        command = [self.program, "torrent", "verify", torrent, path, "--json"]
        run = subprocess.run(command, capture_output=True, check=False)
        return run.returncode, json.loads(run.stdout) if run.stdout else None, run.stderr.decode()

    def expect(self, what, found, expected):
        self.checks += 1
        if found != expected:
            sys.exit(f"FAILED: {what}: expected {expected!r}, found {found!r}")

    def wrong_pieces(self, report):
        ranges = [r for r in report["ranges"] if r["state"] != "have"]
        return [(r["state"], piece) for r in ranges for piece in range(r["first"], r["last"] + 1)]

    def torrent(self, path, content, refused):
        if refused:
            status, report, message = self.verify(path, content)
            self.expect(f"{path.name}: status", (status, report), (2, None))
            self.expect(f"{path.name}: {message!r} names the version", refused in message, True)
            return
        torrent = Torrent(path)
        # By the folder that has the content, and by the content.
        for place in (content.parent, content):
            status, report, message = self.verify(path, place)
            self.expect(f"{path.name} in {place.name}: status, errors", (status, message), (0, ""))
            self.expect(f"{path.name}: info-hash", report["torrent"]["info_hash"], torrent.info_hash)
            self.expect(f"{path.name}: pieces", report["pieces"]["have"], torrent.piece_count)
            self.expect(f"{path.name}: notes", report["torrent"]["notes"], [])
        for file, offset, length in torrent.files:
            if length == 0:
                continue
            for at in {0, length - 1, random.Random(length).randrange(length)}:
                with open(content.parent / file, "r+b") as stream:
                    stream.seek(at)
                    byte = stream.read(1)[0]
                    stream.seek(at)
                    stream.write(bytes([byte ^ 0x10]))
                try:
                    status, report, _ = self.verify(path, content.parent)
                finally:
                    with open(content.parent / file, "r+b") as stream:
                        stream.seek(at)
                        stream.write(bytes([byte]))
                found = (status, self.wrong_pieces(report))
                expected = (1, [("bad", (offset + at) // torrent.piece_length)])
                self.expect(f"{path.name}: byte {at} of {file} flipped", found, expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hashloom", type=pathlib.Path, help="the program")
    parser.add_argument("--require", action="store_true", help="fail if a maker is not installed")
    arguments = parser.parse_args()
    makers = [
        ("transmission-create (Debian: transmission-cli)", has_transmission, by_transmission),
        ("libtorrent (PyPI: libtorrent)", has_libtorrent, by_libtorrent),
    ]
    skipped = []
    checker = Checker(arguments.hashloom.resolve())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "content").mkdir()
        contents = make_contents(folder / "content")
        for name, version, maker in makers:
            found = version()
            if not found:
                skipped.append(name)
                continue
            before, count, padded = checker.checks, 0, 0
            for content in contents:
                for path, refused in maker(content, folder):
                    checker.torrent(path, content, refused)
                    count += 1
                    padded += not refused and Torrent(path).padded
            print(f"ok: {found}: {count} torrents ({padded} with padding files), {checker.checks - before} checks")
    for name in skipped:
        print(f"SKIPPED: {name} is not installed: its torrents were NOT checked", file=sys.stderr)
    sys.exit(1 if skipped and arguments.require else 0)


if __name__ == "__main__":
    main()
