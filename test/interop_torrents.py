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

import argparse
import hashlib
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import warnings

from bencode import bdecode


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
        self.files, self.padded, offset = [], False, 0
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
            if b"p" in entry.get(b"attr", b""):
                self.padded = True
            else:
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


def by_transmission(content, out):
    for kib in (16, 32, 256):
        path = out / f"transmission-{kib}-{content.stem}.torrent"
        command = ["transmission-create", "-s", str(kib), "-c", "a comment", "-t", "udp://t.invalid:1"]
        command += ["-o", path, content]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        yield path


def by_libtorrent(content, out):
    import libtorrent as lt

    # libtorrent's older interface, which all versions have.
    warnings.simplefilter("ignore", DeprecationWarning)

    flags = lt.create_torrent
    kinds = {
        "v1": flags.v1_only,
        "v1-padded": flags.v1_only | flags.canonical_files,
        "hybrid": 0,
        "v2": flags.v2_only,
    }
    for kind, flag in kinds.items():
        for piece_length in (16384, 65536):
            storage = lt.file_storage()
            lt.add_files(storage, str(content), flags=0)
            torrent = lt.create_torrent(storage, piece_length, flags=flag)
            torrent.add_tracker("udp://t.invalid:1")
            lt.set_piece_hashes(torrent, str(content.parent))
            path = out / f"libtorrent-{kind}-{piece_length}-{content.stem}.torrent"
            path.write_bytes(lt.bencode(torrent.generate()))
            yield path


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


def libtorrent_makes(content, version, piece_length, files):
    """Returns the info-hashes of libtorrent's torrent of the same files, in the order of BEP 52's tree."""
    import libtorrent as lt

    flags = {"v1": lt.create_torrent.v1_only, "v2": lt.create_torrent.v2_only, "hybrid": 0}[version]
    storage = lt.file_storage()
    for file in files:
        path = content.parent / file
        executable = path.stat().st_mode & 0o100
        storage.add_file(str(file), path.stat().st_size, lt.file_flags_t.flag_executable if executable else 0)
    torrent = lt.create_torrent(storage, piece_length, flags=flags)
    lt.set_piece_hashes(torrent, str(content.parent))
    return libtorrent_hashes(lt.bencode(torrent.generate()))


def libtorrent_hashes(data):
    import libtorrent as lt

    hashes = lt.torrent_info(lt.bdecode(data)).info_hashes()
    return str(hashes.v1) if hashes.has_v1() else None, str(hashes.v2) if hashes.has_v2() else None


def libtorrent_finds(path, folder):
    """Returns how many bytes of the content libtorrent finds, and how many there are."""
    import libtorrent as lt

    session = lt.session({
        "listen_interfaces": "", "enable_dht": False, "enable_lsd": False, "enable_upnp": False, "enable_natpmp": False,
        "alert_mask": lt.alert.category_t.status_notification | lt.alert.category_t.error_notification,
    })
    # Seeding is the state of a torrent whose content is complete. libtorrent must not create or change files.
    parameters = {"ti": lt.torrent_info(str(path)), "save_path": str(folder)}
    handle = session.add_torrent({**parameters, "flags": lt.torrent_flags.upload_mode})
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        status = handle.status()
        if status.state not in (status.checking_files, status.checking_resume_data):
            break
        session.wait_for_alert(100)
        session.pop_alerts()
    return status.total_wanted_done, status.total_wanted


def mktorrent_makes(content, exponent, out):
    path = out / f"mktorrent-{exponent}-{content.stem}.torrent"
    command = ["mktorrent", "-l", str(exponent), "-a", "http://t.invalid", "-o", path, content]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return Torrent(path).info_hash


def imdl_makes(content, piece_length, out):
    path = out / f"imdl-{piece_length}-{content.stem}.torrent"
    command = ["imdl", "--quiet", "torrent", "create", "--piece-length", f"{piece_length}B"]
    subprocess.run([*command, "--input", content, "--output", path], check=True)
    return Torrent(path).info_hash


def told(command, label):
    """Returns the last word of each output line that has a label."""
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return [line.split()[-1] for line in lines if label in line]


def readers(ours, content, version, piece_length, out):
    """Yields what other programs say of hashloom's torrent: (program, what, found, expected)."""
    if has_libtorrent():
        made = libtorrent_makes(content, version, piece_length, ours.tree_order())
        yield "libtorrent", "info-hashes", libtorrent_hashes(ours.path.read_bytes()), made
        done, wanted = libtorrent_finds(ours.path, content.parent)
        yield "libtorrent", "bytes found", done, wanted
    if version != "v1":
        return
    if shutil.which("transmission-show"):
        yield "transmission-show", "info-hash", told(["transmission-show", ours.path], "Hash:"), [ours.info_hash]
    if shutil.which("transmission-create"):
        path = out / f"transmission-again-{piece_length}-{content.stem}.torrent"
        command = ["transmission-create", "-s", str(piece_length // 1024), "-o", path, content]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        # transmission-create leaves out empty files and writes private=0, so its info-hash differs.
        yield "transmission-create", "digests", Torrent(path).info[b"pieces"], ours.info[b"pieces"]
    if shutil.which("aria2c"):
        yield "aria2", "info-hash", told(["aria2c", "-S", ours.path], "Info Hash:"), [ours.info_hash]
        # On a copy: aria2 writes beside the content that it checks.
        copy = out / "for aria2"
        copy.mkdir()
        place = copy / content.name
        if content.is_dir():
            shutil.copytree(content, place)
        else:
            shutil.copy(content, place)
        command = ["aria2c", "--check-integrity=true", "--hash-check-only=true", "--enable-dht=false", "-d", copy]
        run = subprocess.run([*command, ours.path], capture_output=True, check=False)
        yield "aria2", "status of its check", run.returncode, 0
        shutil.rmtree(copy)
    if shutil.which("mktorrent"):
        found = mktorrent_makes(content, piece_length.bit_length() - 1, out)
        yield "mktorrent", "info-hash", found, ours.info_hash
    if shutil.which("imdl"):
        yield "imdl", "info-hash", imdl_makes(content, piece_length, out), ours.info_hash
        command = ["imdl", "--quiet", "torrent", "verify", "--input", ours.path, "--content", content]
        yield "imdl", "status of its check", subprocess.run(command, capture_output=True, check=False).returncode, 0


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

    def show(self, path):
        """Checks that libtorrent and hashloom say the same of a torrent."""
        try:
            import libtorrent as lt
        except ImportError:
            return
        command = [self.program, "torrent", "show", path, "--json"]
        run = subprocess.run(command, capture_output=True, check=False)
        self.expect(f"{path.name}: show", (run.returncode, run.stderr), (0, b""))
        found = json.loads(run.stdout)
        theirs = lt.torrent_info(str(path))
        hashes = theirs.info_hashes()
        v1 = str(hashes.v1) if hashes.has_v1() else None
        v2 = str(hashes.v2) if hashes.has_v2() else None
        self.expect(f"{path.name}: info-hashes", (found.get("info_hash"), found.get("info_hash_v2")), (v1, v2))
        files = theirs.files()
        real = [i for i in range(files.num_files()) if not files.file_flags(i) & files.flag_pad_file]
        roots = [files.root(i).to_bytes().hex() if v2 and files.file_size(i) else None for i in real]
        ours = [file for file in found["files"] if not file.get("padding")]
        self.expect(f"{path.name}: roots", [file.get("root") for file in ours], roots)
        self.expect(f"{path.name}: lengths", [file["length"] for file in ours], [files.file_size(i) for i in real])
        names = [found["name"] + ("" if found["single_file"] else "/" + file["path"]) for file in ours]
        self.expect(f"{path.name}: paths", names, [files.file_path(i) for i in real])
        self.expect(f"{path.name}: trackers", found["trackers"], [["udp://t.invalid:1"]])
        self.expect(f"{path.name}: notes", found["notes"], [])

    def edit(self, path):
        """Checks that libtorrent reads an edited torrent as meant, and finds the info-hash that hashloom prints."""
        try:
            import libtorrent as lt
        except ImportError:
            return

        def read(path):
            theirs = lt.torrent_info(str(path))
            hashes = theirs.info_hashes()
            return theirs, [str(h) for h, has in ((hashes.v1, hashes.has_v1()), (hashes.v2, hashes.has_v2())) if has]

        _, before = read(path)
        new = path.with_suffix(".edited")
        trackers, seed = ["https://a.invalid/x", "udp://b.invalid:7"], "https://c.invalid/files/"
        options = ["-t", ",".join(trackers), "-w", seed, "--comment", "edited", "--no-date", "--json"]
        for flags in ([], ["--private", "--source", "here"]):
            command = [self.program, "torrent", "edit", path, "-f", "-o", new, *options, *flags]
            run = subprocess.run(command, capture_output=True, check=False)
            self.expect(f"{path.name}: edit", (run.returncode, run.stderr), (0, b""))
            report = json.loads(run.stdout)
            theirs, hashes = read(new)
            told = [report["torrent"][key] for key in ("info_hash", "info_hash_v2") if key in report["torrent"]]
            self.expect(f"{path.name}: info-hashes after an edit", told, hashes)
            self.expect(f"{path.name}: same info-hash", hashes == before, not flags)
            self.expect(f"{path.name}: edited trackers", [(t.url, t.tier) for t in theirs.trackers()],
                        [(url, 0) for url in trackers])
            self.expect(f"{path.name}: edited web seeds", lt.load_torrent_file(str(new)).url_seeds, [seed])
            found = theirs.comment(), theirs.creation_date(), theirs.priv()
            self.expect(f"{path.name}: other edits", found, ("edited", 0, bool(flags)))

    def create(self, content, version, piece_length, out):
        path = out / f"ours-{version}-{piece_length}-{content.stem}.torrent"
        command = [self.program, "torrent", "create", content, f"--{version}", "-l", str(piece_length), "-o", path]
        run = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
        self.expect(f"{path.name}: status, errors", (run.returncode, run.stderr), (0, ""))
        ours = Torrent(path)
        told = json.loads(run.stdout)["torrent"]
        hashes = told.get("info_hash"), told.get("info_hash_v2")
        self.expect(f"{path.name}: info-hashes", hashes, (ours.info_hash, ours.info_hash_v2))
        return ours

    def torrent(self, path, content):
        self.show(path)
        self.edit(path)
        torrent = Torrent(path)
        # By the folder that has the content, and by the content.
        for place in (content.parent, content):
            status, report, message = self.verify(path, place)
            self.expect(f"{path.name} in {place.name}: status, errors", (status, message), (0, ""))
            hashes = report["torrent"].get("info_hash"), report["torrent"].get("info_hash_v2")
            self.expect(f"{path.name}: info-hashes", hashes, (torrent.info_hash, torrent.info_hash_v2))
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
                for path in maker(content, folder):
                    checker.torrent(path, content)
                    count += 1
                    padded += Torrent(path).padded
            print(f"ok: {found}: {count} torrents ({padded} with padding files), {checker.checks - before} checks")
        (contents[1] / "run me").write_bytes(b"#!/bin/sh\n")
        (contents[1] / "run me").chmod(0o755)
        programs = {}
        for content in contents:
            for version in ("v1", "v2", "hybrid"):
                for piece_length in (32768, 65536, 1 << 20):
                    # Transmission and mktorrent do not mark executable files.
                    if version == "v1" and content.is_dir():
                        (contents[1] / "run me").chmod(0o644)
                    ours = checker.create(content, version, piece_length, folder)
                    for program, what, found, expected in readers(ours, content, version, piece_length, folder):
                        checker.expect(f"{ours.path.name}: {program}: {what}", found, expected)
                        programs[program] = programs.get(program, 0) + 1
                    (contents[1] / "run me").chmod(0o755)
        for program, count in programs.items():
            print(f"ok: torrents made by hashloom, {program}: {count} checks")
        for name in ("libtorrent", "transmission-show", "transmission-create", "aria2", "mktorrent"):
            if name not in programs:
                skipped.append(name)
        if "imdl" not in programs:
            print("SKIPPED: imdl is not installed (cargo install imdl): it did NOT read our torrents", file=sys.stderr)
    for name in skipped:
        print(f"SKIPPED: {name} is not installed: its torrents and ours were NOT compared", file=sys.stderr)
    sys.exit(1 if skipped and arguments.require else 0)


if __name__ == "__main__":
    main()
