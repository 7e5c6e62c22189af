#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs every command under faults, and asks two questions after each run: is a wrong "OK" printed, is anything lost?

    python3 test/faults.py path/to/hashloom [--require] [--all] [--only WORD] [--verbose]

Faults come from a file system that fails on demand (test/fuse; build it first with `cargo build --manifest-path
test/fuse/Cargo.toml`), from system calls that strace makes fail, from limits of resources, from signals, and from
closed standard streams.

The expected result comes from a run of the same command without a fault (`Reference`); other tests show that such runs
are right. `judge` compares a run under a fault with that run:

  * no signal, no panic, no endless run; a documented exit status, and a message with each that is not 0;
  * exit status 0 only with the output of the run without a fault, byte by byte except for dates and speeds;
  * with any other exit status: every claim ("OK", "complete", a digest, a piece) is one of the other run too;
  * an output is the old one, or the complete new one; with exit status 0 it is the new one;
  * no other file is changed, none appears, none vanishes.

If a fault changes files while they are read, the run is compared with a run after the change: the program must notice,
and report the file as it is at the end. A test is a command and a fault; --only takes the tests whose line has WORD,
and --verbose prints each. There are thousands of tests: a sample of each command runs, by HASHLOOM_SEED. --only or
--all runs all of them, and --all also fails every call that strace can make fail.
"""

import argparse
import concurrent.futures
import contextlib
import dataclasses
import hashlib
import itertools
import json
import os
import pathlib
import queue
import random
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import zlib

import checks
from bencode import bdecode

# Longer than any run takes, on a busy machine too: only an endless run takes longer.
GUARD_SECONDS = 120
# The file system's `frozen` uses this time too, so that nothing seems to have changed.
MTIME_NS = 1_577_836_800 * 10**9
HERE = pathlib.Path(__file__).resolve().parent

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("hashloom", type=pathlib.Path)
parser.add_argument("--require", action="store_true", help="fail if something cannot be tested here")
parser.add_argument("--all", action="store_true", help="all tests, and every call that strace can make fail")
parser.add_argument("--only", default="", metavar="WORD", help="only tests whose line has WORD")
parser.add_argument("--verbose", action="store_true", help="print each test")
arguments = parser.parse_args()
program = checks.for_all_users(arguments.hashloom.resolve())


# Worlds: a folder with contents, inputs and outputs, restored before each test.


def random_bytes(seed, nbytes):
    return random.Random(seed).randbytes(nbytes)


BIG = random_bytes(1, (1 << 20) + 3596) + bytes(500)
CONTENT = {
    "c/big": BIG,
    "c/mid": random_bytes(2, 200_000),
    "c/empty": b"",
    "c/sub/y": random_bytes(3, 30_000),
    **{f"c/small{i}": random_bytes(10 + i, 700 * i + 1) for i in range(8)},
}
# The files of a check's results, by the option that names the file.
RESULTS = {"bitfield": "bitfield", "libtorrent": "libtorrent.fastresume", "transmission": "transmission.resume"}
# Enough files that they are opened and read in batches.
MANY = {f"many/{i:03}": random_bytes(100 + i, 300) for i in range(120)}
ROOT_HASH = "root hash of c/big, filled in by make_inputs"
# A key pair, and commands that must find a right signature in an output that is another one each time.
SIGN, TRUST = ("--sign", "in/minisign.key"), ("--trusted-key", "in/minisign.pub")
SIGNED = {
    "out/signed.minisig": ("manifest", "check", "out/signed", "c", *TRUST),
    "out/log": ("manifest", "log", "check", "out/log", "in/manifest", *TRUST),
}
# What the trusted source of each proof says: options of `tree rfc6962 check`, filled in by make_inputs.
PROVED = {}


def write_files(root, files):
    for path, data in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        os.utime(place, ns=(MTIME_NS, MTIME_NS))


def healthy(root, *words):
    result = subprocess.run([program, *words], cwd=root, capture_output=True, env=ENVIRONMENT)
    if result.returncode not in (0, 1):
        sys.exit(f"test/faults.py: {words} without a fault: exit status {result.returncode}, {result.stderr.decode()}")
    return result.stdout


ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": "/nonexistent"}


def make_check_inputs(root):
    """Makes a store, a PAR2 file and an installed package with some of the files."""
    (root / "store/blobs/sha256").mkdir(parents=True)
    for path in ("c/big", "c/mid", "c/small3"):
        (root / "store/blobs/sha256" / hashlib.sha256(CONTENT[path]).hexdigest()).symlink_to(f"../../../{path}")
    info = root / "var/lib/dpkg/info"
    info.mkdir(parents=True)
    (info.parent / "status").write_text("Package: a\nStatus: install ok installed\n")
    lines = (f"{hashlib.md5(data).hexdigest()}  {path}\n" for path, data in CONTENT.items())
    (info / "a.md5sums").write_text("".join(lines))

    def md5(*parts):
        return hashlib.md5(b"".join(parts)).digest()

    main, bodies = struct.pack("<QI", 65536, len(CONTENT)), []
    for path, data in CONTENT.items():
        about = md5(data[: 16 << 10]) + struct.pack("<Q", len(data))
        main += (number := md5(about, path.encode()))
        bodies.append((b"FileDesc", number + md5(data) + about + path.encode() + bytes(-len(path) % 4)))
        blocks = [data[at : at + 65536].ljust(65536, b"\0") for at in range(0, len(data), 65536)]
        bodies.append((b"IFSC",
                       number + b"".join(md5(block) + struct.pack("<I", zlib.crc32(block)) for block in blocks)))
    packets = (md5(main) + b"PAR 2.0\0" + kind.ljust(8, b"\0") + body for kind, body in [*bodies, (b"Main", main)])
    packets = (b"PAR2\0PKT" + struct.pack("<Q", 32 + len(packet)) + md5(packet) + packet for packet in packets)
    (root / "in/set.par2").write_bytes(b"".join(packets))


def make_inputs(root):
    """Makes the folder that all worlds are copies of."""
    global ROOT_HASH
    write_files(root, CONTENT | MANY)
    (root / "c/link").symlink_to("mid")
    (root / "in").mkdir()
    (root / "out").mkdir()
    for name, files in {"list": CONTENT, "many": MANY}.items():
        lines = [f"{hashlib.sha256(data).hexdigest()}  {path}\n" for path, data in sorted(files.items())]
        (root / "in" / name).write_text("".join(lines))
    make_check_inputs(root)
    (root / "in/key").write_bytes(random_bytes(4, 40))
    (root / "in/key").chmod(0o600)
    # Public keys by their form; several blocks for `address`.
    keys = [bytes([2 + i % 2]) + random_bytes(1000 + i, 32) for i in range(9000)]
    (root / "in/rows").write_bytes(b"".join(keys))
    (root / "in/keys").write_text("".join(key.hex() + "\n" for key in keys))
    lines = healthy(root, "address", "--unchecked", "--type", "p2wpkh", "in/keys").split()[1:]
    (root / "in/addresses").write_bytes(b"".join(line.split(b",")[1] + b"\n" for line in lines))
    for version in ("v1", "v2", "hybrid"):
        healthy(root, "torrent", "create", f"--{version}", "-l", "64KiB", "c", "-o", f"in/{version}.torrent")
    (root / "in/batch.yaml").write_text("version: 1\njobs:\n- {path: c, output: out/torrent}\n")
    healthy(root, "manifest", "write", "c", "-o", "in/manifest")
    for name in ("minisign.key", "minisign.pub"):
        shutil.copy(HERE.parent / "vectors/minisign" / name, root / "in")
    (root / "in/minisign.key").chmod(0o600)
    healthy(root, "manifest", "write", "c", "-o", "in/signed", *SIGN)
    healthy(root, "manifest", "log", "add", "--new", "in/log", "in/manifest", *SIGN)
    salt = ("--salt", "00ff", "--uuid", "00000000-0000-0000-0000-000000000001")
    line = healthy(root, "tree", "dmverity", "format", "--json", *salt, "c/big", "in/hashes")
    ROOT_HASH = json.loads(line)["root"]
    for kind, words in {
        "inclusion": ("prove-inclusion", "3", "-b", "4096", "c/big"),
        "consistency": ("prove-consistency", "9", "-b", "4096", "c/big"),
    }.items():
        proof = healthy(root, "tree", "rfc6962", *words)
        (root / f"in/{kind}").write_bytes(proof)
        options = {"root": "--root", "size": "--size", "leaf": "--leaf", "root1": "--first-root",
                   "size1": "--first-size"}
        known = json.loads(proof)
        PROVED[kind] = [word for key, option in options.items() if key in known for word in (option, str(known[key]))]
    # Old outputs, made from incomplete content, so that they differ from the outputs that replace them.
    (root / "c/big").write_bytes(BIG[: len(BIG) // 2])
    for kind, name in RESULTS.items():
        healthy(root, "torrent", "verify", "-q", "in/v1.torrent", ".", f"--{kind}", f"out/{name}")
    healthy(root, "manifest", "write", "c", "-o", "out/manifest")
    healthy(root, "manifest", "write", "c", "-o", "out/signed", *SIGN)
    healthy(root, "manifest", "log", "add", "--new", "out/log", "out/manifest", *SIGN)
    healthy(root, "tree", "dmverity", "format", *salt, "c/big", "out/hashes")
    healthy(root, "tree", "fsverity", "c/big", "--out-merkle-tree", "out/tree", "--out-descriptor", "out/descriptor")
    for output in ("out/torrent", "out/torrent.torrent"):
        healthy(root, "torrent", "create", "c", "-o", output)
    (root / "c/big").write_bytes(BIG)
    for kind, name in RESULTS.items():
        healthy(root, "torrent", "verify", "-q", "in/v1.torrent", ".", f"--{kind}", f"in/{name}")
    for place in root.rglob("*"):
        os.utime(place, ns=(MTIME_NS, MTIME_NS), follow_symlinks=False)


def signature(place):
    found = os.lstat(place)
    # A folder changes with its entries, which have signatures of their own.
    times = () if stat.S_ISDIR(found.st_mode) else (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
    return (found.st_mode, *times)


class World:
    """A copy of the inputs, seen through a file system with faults, or directly."""

    def __init__(self, folder, inputs, faulty):
        self.backing, self.faulty = folder / "backing", faulty
        self.inputs = inputs
        shutil.copytree(inputs, self.backing, symlinks=True)
        self.root = self.backing
        if faulty:
            self.root = folder / "mount"
            self.root.mkdir()
            # Ctrl-C ends this script, which then unmounts.
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "start_new_session": True}
            self.server = subprocess.Popen([FUSE, "faults", self.backing, self.root], **pipes)
            if self.server.stdout.readline() != b"mounted\n":
                raise OSError("the file system cannot be mounted")
        self.signatures = self.scan()

    def scan(self):
        found = {}
        for folder, folders, files in os.walk(self.backing):
            for name in folders + files:
                place = os.path.join(folder, name)
                found[os.path.relpath(place, self.backing)] = signature(place)
        return found

    def changed(self):
        """Returns the paths that have changed."""
        found = self.scan()
        return {path for path in found.keys() | self.signatures.keys() if found.get(path) != self.signatures.get(path)}

    def restore(self):
        """Restores all files."""
        self.tell("clear")
        for path in sorted(self.changed(), reverse=True):
            place, origin = self.backing / path, self.inputs / path
            if place.is_dir() and not place.is_symlink():
                if not origin.is_dir():
                    shutil.rmtree(place)
                continue
            place.unlink(missing_ok=True)
        for path in sorted(self.changed()):
            place, origin = self.backing / path, self.inputs / path
            if not os.path.lexists(origin):
                continue
            if origin.is_dir() and not origin.is_symlink():
                place.mkdir(exist_ok=True)
                place.chmod(0o755)
            else:
                shutil.copy2(origin, place, follow_symlinks=False)
                os.utime(place, ns=(MTIME_NS, MTIME_NS), follow_symlinks=False)
        self.signatures = self.scan()

    def tell(self, *rules):
        if self.faulty:
            with open(self.root / ".faults", "wb", buffering=0) as control:
                control.write("".join(rule + "\n" for rule in rules).encode())

    def hits(self):
        """Returns how often each rule changed a call."""
        # Read once: between two reads the counts may go on.
        control = os.open(self.root / ".faults", os.O_RDONLY)
        lines = os.read(control, 1 << 16).decode().splitlines()
        os.close(control)
        return [int(line.split()[0]) for line in lines]

    def close(self):
        if self.faulty:
            with contextlib.suppress(OSError):
                self.tell("clear")
            self.server.stdin.close()
            try:
                self.server.wait(GUARD_SECONDS)
            except subprocess.TimeoutExpired:
                self.server.kill()
                subprocess.run(["umount", "-l", self.root])


# Commands.


@dataclasses.dataclass(frozen=True)
class Command:
    words: tuple
    # The files on which faults are tried: contents, lists, keys.
    reads: tuple
    outputs: tuple = ()
    # The folders that it lists.
    lists: tuple = ()
    # It judges contents: it also runs on content that is wrong.
    judges: bool = False
    stdin: str = ""
    called_as: str = "hashloom"
    # It writes nothing to standard output.
    silent: bool = False
    # Files that may stay after a run that ends with an error: progress, as documented.
    progress: tuple = ()

    def __str__(self):
        return f"{self.called_as} {' '.join(self.words)}" + (f" < {self.stdin}" if self.stdin else "")


def commands():
    contents = ("c/big", "c/small3")
    files = ("c/big", "c/mid", *(f"c/small{i}" for i in range(8)))
    tree, below = ("c", "c/sub"), "c"
    for words in (
        ("sum", *files),
        ("sum", "--threads", "1", *files),
        ("sum", "--threads", "4", "--json", "-a", "sha1,sha512", *files),
        ("digest", "-v", "-a", "sha256", *files),
    ):
        yield Command(words, contents)
    yield Command(("sum", "-r", below), contents, lists=tree)
    yield Command(("sum", "-r", "many"), ("many/099",), lists=("many",))
    yield Command(("check", "in/many"), ("many/099",))
    yield Command(("sum",), ("c/big",), stdin="c/big")
    yield Command(("-b", *files), contents, called_as="sha256sum")
    yield Command(("digest", "-a", "sha1"), ("c/big",), stdin="c/big")
    yield Command(("mac", "-v", "-a", "sha256_hmac", "-k", "in/key", *files), ("in/key", *contents))
    for options in ((), ("--json",), ("--threads", "1")):
        yield Command(("check", *options, "in/list"), ("in/list", *contents), judges=True)
    yield Command(("check", "--status", "in/list"), ("in/list", *contents), judges=True, silent=True)
    yield Command(("check", "-C", "c/..", "in/list"), ("in/list", *contents), judges=True)
    yield Command(("-c", "in/list"), ("in/list", *contents), judges=True, called_as="sha256sum")
    for options in ((), ("--json", "--threads", "1")):
        yield Command(("check", "-C", ".", *options, "in/set.par2"), ("in/set.par2", *contents), judges=True)
        yield Command(("check", *options, "--names", "store"), contents, lists=("store/blobs/sha256",), judges=True)
        dpkg = ("var/lib/dpkg/status", "var/lib/dpkg/info/a.md5sums")
        yield Command(("check", *options, "--dpkg", "-C", "."), (*dpkg, *contents), judges=True)
    for chosen, known in (("--known", "in/list"), ("--unknown", "in/many")):
        yield Command(("sum", "-a", "sha256", chosen, known, *files), (known, *contents))
    yield Command(("sum", "-r", "--max-size", "1MiB", "--exclude", "x", below), contents, lists=tree)

    manifest = "in/manifest"
    yield Command(("manifest", "write", below), contents, lists=tree)
    partial = ("out/manifest.partial",)
    write = ("manifest", "write", "-q", "--force", below, "-o", "out/manifest")
    yield Command(write, contents, ("out/manifest",), tree, silent=True, progress=partial)
    yield Command((*write, "--update", manifest), (manifest,), ("out/manifest",), tree, silent=True, progress=partial)
    for options in ((), ("--json", "--threads", "1")):
        words = ("manifest", "check", *options, manifest, below)
        yield Command(words, (manifest, *contents), lists=tree, judges=True)
    resume = ("manifest", "check", manifest, below, "--resume", "out/state")
    yield Command(resume, (manifest, *contents), lists=tree, judges=True, progress=("out/state",))
    yield Command(("manifest", "diff", manifest, "out/manifest"), (manifest, "out/manifest"))
    words = ("manifest", "write", "-q", "--force", below, "-o", "out/signed", *SIGN)
    signed, outputs = ("in/signed", "in/signed.minisig"), ("out/signed", "out/signed.minisig")
    yield Command(words, contents, outputs, tree, silent=True, progress=("out/signed.partial",))
    yield Command(("manifest", "check", "in/signed", below, *TRUST), (*signed, *contents), lists=tree, judges=True)
    yield Command(("manifest", "log", "add", "out/log", manifest, *SIGN), (manifest,), ("out/log",))
    yield Command(("manifest", "log", "check", "in/log", manifest, *TRUST), ("in/log", manifest))

    for version in ("v1", "v2", "hybrid"):
        torrent = f"in/{version}.torrent"
        yield Command(("torrent", "verify", torrent, "."), (torrent, *contents), judges=True)
    verify, torrent = ("torrent", "verify", "in/v1.torrent", "."), "in/v1.torrent"
    yield Command((*verify, "--json"), (torrent, *contents), judges=True)
    yield Command((*verify, "--json", "--threads", "1"), (torrent, *contents), judges=True)
    yield Command((*verify, "--threads", "4", "--missing"), (torrent, *contents), judges=True)
    yield Command((*verify, "--repair-list"), (torrent, *contents), judges=True)
    several = ("torrent", "verify", "in/v1.torrent", "in/v2.torrent", "in/hybrid.torrent", "-d", ".")
    yield Command((*several, "--resume", "out/state"), contents, judges=True, progress=("out/state",))
    bits = ("--bitfield", "out/bitfield", "--resume", "out/state")
    yield Command((*verify, *bits), contents, ("out/bitfield",), judges=True, progress=("out/state",))
    for client in ("libtorrent", "transmission"):
        output = f"out/{RESULTS[client]}"
        yield Command((*verify, f"--{client}", output), ("c/big", output), (output,), judges=True)
    for some in (("--file", "big"), ("--first", "2")):
        yield Command((*verify, "--json", *some), (torrent, "c/big"), judges=True)
    for claimed in RESULTS.values():
        yield Command((*verify, "--claimed", f"in/{claimed}"), ("c/big", f"in/{claimed}"), judges=True)
    yield Command(("torrent", "find", "in/v1.torrent", "in/v2.torrent", "--in", below), contents, lists=tree)
    for version in ("v1", "hybrid"):
        words = ("torrent", "create", f"--{version}", "-f", below, "-o", "out/torrent")
        yield Command(words, contents, ("out/torrent",), tree)
    like, batch = "in/hybrid.torrent", "in/batch.yaml"
    words = ("torrent", "create", "-f", below, "--like", like, "-o", "out/torrent")
    yield Command(words, (like, *contents), ("out/torrent",))
    yield Command(("torrent", "create", "-f", "-b", batch), (batch, *contents), ("out/torrent.torrent",), tree)
    yield Command(("torrent", "create", "--dry-run", below), (), lists=tree)
    yield Command(("torrent", "show", "in/hybrid.torrent"), ("in/hybrid.torrent",))
    edit = ("torrent", "edit", "-c", "new", "--no-trackers")
    yield Command((*edit, "out/torrent"), ("out/torrent",), ("out/torrent",))
    yield Command((*edit, "-f", "in/v1.torrent", "-o", "out/torrent"), ("in/v1.torrent",), ("out/torrent",))

    trees = ("--out-merkle-tree", "out/tree", "--out-descriptor", "out/descriptor")
    yield Command(("tree", "fsverity", "c/big", "c/mid"), ("c/big",))
    yield Command(("tree", "fsverity", "c/big", *trees), ("c/big",), ("out/tree", "out/descriptor"))
    salt = ("--salt", "00ff", "--uuid", "00000000-0000-0000-0000-000000000001")
    yield Command(("tree", "dmverity", "format", "-f", *salt, "c/big", "out/hashes"), ("c/big",), ("out/hashes",))
    yield Command(("tree", "dmverity", "verify", "c/big", "in/hashes", ROOT_HASH), ("c/big", "in/hashes"), judges=True)
    yield Command(("tree", "rfc6962", "root", "-b", "4096", "c/big"), ("c/big",))
    yield Command(("tree", "rfc6962", "prove-inclusion", "7", "-b", "4096", "c/big"), ("c/big",))
    for kind, known in PROVED.items():
        yield Command(("tree", "rfc6962", "check", f"in/{kind}", *known), (f"in/{kind}",))
    for kind in ("s3", "bep52", "cid", "commp"):
        yield Command(("tree", kind, "c/big", "c/mid"), ("c/big",))
    yield Command(("tree", "s3", "--algorithm", "crc64nvme", "c/big", "c/mid"), ("c/big",))
    etag = hashlib.md5(hashlib.md5(BIG).digest()).hexdigest() + "-1"
    yield Command(("tree", "s3", "--etag", etag, "c/big"), ("c/big",), judges=True)
    hash160 = ("address", "--hash160")
    yield Command((*hash160, "in/keys", "in/keys"), ("in/keys",))
    yield Command((*hash160, "--raw", "--binary", "33", "in/rows", "in/rows"), ("in/rows",))
    yield Command(("address", "--unchecked", "--type", "p2pkh", "--json"), ("in/keys",), stdin="in/keys")
    yield Command(("address", "--decode", "--threads", "1", "in/addresses"), ("in/addresses",))

    # These read no file.
    some = ("--prefix", "k8juvewcui000000abcdef", "--target", "0045d964b800", "--range", "500..30000")
    for options in ((), ("--all", "--threads", "1"), ("--all", "--json", "--threads", "4")):
        yield Command(("work", *some, *options), ())


# Runs, and what they claim.


@dataclasses.dataclass
class Run:
    code: int
    stdout: bytes
    stderr: bytes
    outputs: dict
    # The place of each thread when the run was given up; empty if the run ended.
    stuck: str = ""


def normal(data):
    """Returns text or a resume file without the parts that differ from run to run: places, dates, times taken,
    speeds."""
    data = re.sub(rb"(\d+:)?/[^\n]*/(faulty|plain)\d+/(mount|backing)", b"WORLD", data)
    data = re.sub(rb" in [0-9.]+ (ms|s|min|h)\b", b"", data)
    data = re.sub(rb", [0-9.]+ ([KMG]iB|bytes) read at [0-9.]+ ?[KMGT]?i?B(ytes)?/s", b"", data)
    data = re.sub(rb"(read at|read in|, ?)[ 0-9.,]+[KMGT]?i?B(ytes)?/s", b"", data)
    data = re.sub(rb" bytes/s", b"", data)
    data = re.sub(rb'"seconds":[0-9.e-]+(,"held_back_by":"[a-z]+")?', b'"seconds":0', data)
    data = re.sub(rb", held back by [a-zA-Z -]+", b"", data)
    data = re.sub(rb'"bytes_read":\d+', b'"bytes_read":0', data)
    data = re.sub(rb", [0-9.]+ ([KMG]iB|bytes) read\b|read [0-9.]+ ([KMG]iB|bytes)", b"", data)
    # The head of a log of manifests covers dates.
    data = re.sub(rb"(?m)^head: (\d+):[0-9a-f]{64}$", rb"head: \1", data)
    # A resume file names the folder of the content, whose name differs.
    data = re.sub(rb"(?m)^(written: .*), \d+ bytes$", rb"\1", data)
    # These are times of the check, if all of the content exists and can be read.
    data = re.sub(rb"mtimesl(i\d+e)*e", b"mtimesle", data)
    return re.sub(rb"(completed_time|done-date|added_time|activity-date|qBt-seedStatus)i\d+e", rb"\1i0e", data)


def set_bits(data):
    return {i for i in range(8 * len(data)) if data[i // 8] >> (7 - i % 8) & 1}


def manifest_lines(data):
    lines = data.splitlines(keepends=True)
    if json.loads(lines[-1])["sha256"] != hashlib.sha256(b"".join(lines[:-1])).hexdigest():
        raise ValueError("the last line of the manifest does not fit the others")
    return {line for line in lines[1:-1] if json.loads(line)["type"] == "file"}


def output_claims(path, data):
    """Returns the claims of an output. An error in the run may leave an output that claims less, but not more."""
    kind = os.path.splitext(os.path.basename(path))[0]
    if kind == "bitfield":
        return set_bits(data)
    if kind == "libtorrent":
        return {i for i, byte in enumerate(bdecode(data)[0][b"pieces"]) if byte & 1}
    if kind == "transmission":
        blocks = bdecode(data)[0][b"progress"][b"blocks"]
        nblocks = -(-sum(map(len, CONTENT.values())) // 16384)
        return set(range(nblocks + 20)) if blocks == b"all" else set() if blocks == b"none" else set_bits(blocks)
    if kind in ("manifest", "signed"):
        return manifest_lines(data)
    return None


def claims(command, stdout):
    """Returns the claims in a standard output."""
    words = command.words
    if "--raw" in words:
        # The place of a digest is a part of what it says.
        return {(at, stdout[at : at + 20]) for at in range(0, len(stdout) - 19, 20)}
    lines = normal(stdout).splitlines()
    if "--json" in words and words[0] == "torrent":
        found = set()
        for line in stdout.splitlines():
            with contextlib.suppress(ValueError):
                report = json.loads(line)
                ranges = [span for span in report.get("ranges", []) if span["state"] == "have"]
                found |= {(i, "have") for span in ranges for i in range(span["first"], span["last"] + 1)}
                found |= {"complete"} if report.get("complete") else set()
                found |= {"part right"} if report.get("scope", {}).get("right") else set()
                found |= {file["path"] for file in report.get("files", []) if file["state"] == "complete"}
                bits = bytes.fromhex(report.get("bitfield") or "")
                found |= {(i, "have") for i in set_bits(bits)}
        return found
    if words[:2] == ("torrent", "verify"):
        return {line for line in lines if re.match(rb"complete|part right|written", line)}
    if words[:2] == ("torrent", "find"):
        return {line for line in lines if re.match(rb"whole|  found", line)}
    if words[:2] == ("manifest", "check"):
        return {line for line in lines if line.startswith(b"as written")}
    if words[0] in ("check", "-c"):
        return {line for line in lines if line.endswith((b": OK", b'"state":"ok"}'))}
    if words[:2] in (("torrent", "create"), ("torrent", "edit")):
        return {line for line in lines if line.lstrip().startswith(b"written")}
    if words[:2] == ("manifest", "write"):
        return {line for line in lines if b'"type":"file"' in line or b'"unread":0' in line}
    return set(lines)


def start(world, command, wrapper=(), **options):
    executable = program if command.called_as == "hashloom" else STAND_INS / command.called_as
    if command.stdin and "stdin" not in options:
        options["stdin"] = open(world.root / command.stdin, "rb")
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    process = subprocess.Popen(
        [*wrapper, executable, *command.words], cwd=world.root, env=ENVIRONMENT, start_new_session=True, **options
    )
    if hasattr(options["stdin"], "close"):
        options["stdin"].close()
    return process


def threads_of(session):
    """Returns a text with each thread of the processes of a session: its name, state, and system call with what it
    waits for in the kernel."""
    lines = []
    for folder in pathlib.Path("/proc").glob("[0-9]*/task/*"):
        with contextlib.suppress(OSError, ProcessLookupError):
            name, _, rest = (folder / "stat").read_text().partition("(")[2].rpartition(")")
            state, _, _, of_session = rest.split()[:4]
            if int(of_session) == session:
                words = [(folder / file).read_text().strip() for file in ("syscall", "wchan")]
                lines.append(f"\n    {folder.name} {name} {state} {' '.join(words)}")
    return "".join(lines) or "\n    no thread"


def finish(world, command, process):
    stuck = ""
    try:
        stdout, stderr = process.communicate(timeout=GUARD_SECONDS)
    except subprocess.TimeoutExpired:
        stuck = threads_of(process.pid)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        world.tell("clear")
        stdout, stderr = process.communicate()
    outputs = {}
    for path in command.outputs:
        with contextlib.suppress(OSError):
            outputs[path] = (world.backing / path).read_bytes()
    return Run(process.returncode, stdout or b"", stderr or b"", outputs, stuck)


references = {}
references_lock = threading.Lock()


def damage(world):
    """Damages the long file; only its bytes tell."""
    place = world.backing / "c/big"
    with open(place, "r+b") as file:
        file.seek(len(BIG) - 100)
        file.write(b"not as it was")
    os.utime(place, ns=(MTIME_NS, MTIME_NS))


def reference(world, command, is_damaged, change=""):
    """Returns the run without a fault, after the change if one is named. Restores all files afterwards."""
    key = (command, is_damaged, change)
    with references_lock:
        known = references.get(key)
    if known is None:
        prepare(world, is_damaged)
        if change:
            CHANGES[change](world.backing / "c/big")
        known = finish(world, command, start(world, command))
        expected = known.code if change else int(is_damaged or "diff" in command.words)
        if known.code != expected:
            raise AssertionError(f"without a fault: exit status {known.code}, {known.stderr.decode()}")
        with references_lock:
            references[key] = known
    prepare(world, is_damaged)
    return known


def prepare(world, is_damaged):
    world.restore()
    if is_damaged:
        damage(world)


PANICS = (b"panicked", b"RUST_BACKTRACE", b"stack overflow", b"assertion")


def judge(world, command, known, run, *, is_damaged=False, has_hit=True, harmless=False, error=False, signals=(),
          changed=(), mute=False):
    """Returns what is wrong with a run. `harmless`: the fault must have no effect. `error`: the run must report it.
    `mute`: the fault may keep messages from being written."""
    wrong = []
    if run.stuck:
        return [f"no end within {GUARD_SECONDS} s:{run.stuck}"]
    if any(panic in run.stderr for panic in PANICS):
        wrong.append("panic")
    if run.code < 0 and -run.code not in signals:
        wrong.append(f"ended by {signal.Signals(-run.code).name}")
    elif run.code > 2:
        wrong.append(f"exit status {run.code}")
    is_same = run.code == known.code and normal(run.stdout) == normal(known.stdout)
    if (harmless or not has_hit) and not is_same:
        wrong.append(f"exit status {run.code} or another output, expected {known.code}: the fault is harmless or unmet")
    elif run.code == 0 and known.code != 0:
        wrong.append(f"WRONG OK: exit status 0, expected {known.code}")
    elif run.code == 0 and error:
        wrong.append("WRONG OK: exit status 0 after a write, flush, fsync or rename that failed")
    elif run.code == 0 and not is_same:
        wrong.append("WRONG OK: exit status 0 with another output")
    extra = claims(command, run.stdout) - claims(command, known.stdout)
    if extra:
        wrong.append(f"WRONG CLAIM: {sorted(map(repr, extra))[:2]}")
    if run.code in (1, 2) and not run.stderr and not is_same and not command.silent and not run.stdout and not mute:
        wrong.append(f"exit status {run.code} without a message")
    written = set()
    for path in command.outputs:
        wrong += judge_output(world, path, known, run)
        written.add(path)
    if run.code != 0:
        written |= set(command.progress)
    others = world.changed() - written - set(changed) - ({"c/big"} if is_damaged else set())
    for path in sorted(others):
        place, origin = world.backing / path, world.inputs / path
        if not os.path.lexists(place):
            wrong.append(f"LOST: {path} is gone")
        elif not os.path.lexists(origin):
            wrong.append(f"leftover: {re.sub('[A-Za-z0-9]{6}$', 'XXXXXX', path) if '/.' in path else path}")
        elif place.is_file() and place.read_bytes() != origin.read_bytes():
            wrong.append(f"LOST: {path} is changed")
    return wrong


def judge_output(world, path, known, run):
    before, expected, found = (world.inputs / path).read_bytes(), known.outputs.get(path), run.outputs.get(path)
    if found is None:
        return [f"LOST: {path} is gone"]
    if path in SIGNED:
        checked = subprocess.run([program, *SIGNED[path]], cwd=world.backing, capture_output=True, env=ENVIRONMENT)
        is_right = checked.returncode == 0 if run.code == 0 else checked.returncode in (0, 1)
        return [] if is_right else [f"LOST: {path} is no right signature: {checked.stderr.decode()}"]
    if normal(found) == normal(expected):
        return []
    if run.code == 0:
        return [f"LOST: {path} is not as it should be, exit status 0"]
    if found == before:
        return []
    with contextlib.suppress(ValueError, KeyError, IndexError, TypeError):
        said = output_claims(path, found)
        if said is not None:
            extra = said - output_claims(path, expected)
            return [f"WRONG CLAIM in {path}: {sorted(map(repr, extra))[:2]}"] if extra else []
    return [f"LOST: {path} is neither the old one nor the new one ({len(found)} bytes)"]


# Tests: a name, the kind of world needed, and a function of that world that returns what is wrong.


@dataclasses.dataclass
class Test:
    name: str
    faulty: bool
    function: object


def with_rules(command, rules, harmless=False, error=False):
    """A command while the file system has these rules."""

    def test(world, is_damaged):
        known = reference(world, command, is_damaged)
        world.tell(*rules)
        run = finish(world, command, start(world, command))
        # A run without an end had its rules cleared.
        has_hit = any(world.hits()) or bool(run.stuck)
        how = {"harmless": harmless, "error": error and has_hit}
        return judge(world, command, known, run, is_damaged=is_damaged, has_hit=has_hit, **how)

    for is_damaged in (False, True) if command.judges and not command.outputs else (False,):
        state = "wrong content, " if is_damaged else ""
        yield Test(f"{command} | {state}{'; '.join(rules)}", True, lambda world, d=is_damaged: test(world, d))


def read_faults():
    """Errors and lies when contents, lists and folders are read."""
    for command in commands():
        for path in command.reads:
            middle = 524_288 if path == "c/big" else 0
            rules = [
                f"read {path} error=EIO",
                f"read {path} nth=2- error=EIO",
                f"read {path} at={middle}- error=EIO",
                f"open {path} error=EACCES",
                f"open {path} error=EIO",
                f"open {path} error=ENFILE",
                f"open {path} nth=2- error=ESTALE",
                f"lookup {path} error=EIO",
                f"lookup {path} nth=2- error=ESTALE",
                f"getattr {path} error=EIO",
                f"getattr {path} nth=2- error=EIO",
            ]
            for rule in rules:
                # This script opens standard input itself.
                if path != command.stdin or rule.startswith("read"):
                    yield from with_rules(command, [rule])
            direct = f"open {path} direct"
            yield from with_rules(command, [direct, f"read {path} error=EIO"])
            yield from with_rules(command, [direct, f"read {path} at={middle}- error=EIO"])
            yield from with_rules(command, [direct, f"read {path} nth=2-4 error=EINTR"])
            # No program may count on reads of the full length.
            yield from with_rules(command, [direct, f"read {path} short=1000"], harmless=True)
            for times in ("ctime", "frozen", "coarse"):
                yield from with_rules(command, [f"times {path} {times}"], harmless=True)
            yield from with_rules(command, [f"read {path} nth=1 delay=30"], harmless=True)
            # The file ends before its length. No program asks standard input for its length.
            if path == command.stdin:
                continue
            yield from with_rules(command, [direct, f"read {path} at={max(middle, 1)}- short=0"])
        for path in command.lists:
            for rule in (f"opendir {path} error=EIO", f"opendir {path} error=EACCES", f"readdir {path} error=EIO",
                         f"readdir {path} nth=2- error=EIO", f"lookup {path} error=EIO"):
                yield from with_rules(command, [rule])
        if command.lists:
            yield from with_rules(command, ["readlink c/link error=EIO"])


def write_faults():
    """Errors when outputs are written."""
    for command in commands():
        for path in command.outputs + command.progress[:1]:
            # The file that is written may have a temporary name until it is complete.
            new = "out/*"
            for rule in (
                f"write {new} error=EIO", f"write {new} error=ENOSPC", f"write {new} room=100",
                f"write {new} nth=2- error=EIO", f"write {new} nth=3- error=ENOSPC",
                f"flush {new} error=EIO", f"flush {new} error=ENOSPC", f"flush {new} error=EDQUOT",
                f"fsync {new} error=EIO", f"fsync {new} error=ENOSPC",
            ):
                # A failure matters for an output, but not for a progress file, which a run can do without.
                yield from with_rules(command, [rule], error=bool(command.outputs))
            for rule in (
                f"create {new} error=EACCES", f"create {new} error=ENOSPC", f"create {new} error=EROFS",
                f"rename {new} error=EIO", f"rename {new} error=EXDEV", f"link {new} error=EIO",
                f"link {new} error=EOPNOTSUPP", f"setattr {new} error=EPERM", f"setattr {new} error=EIO",
                f"lookup {new} nth=2- error=EIO", f"open {new} error=EACCES", f"open {new} error=EIO",
            ):
                yield from with_rules(command, [rule])
            yield from with_rules(command, ["fsyncdir out error=EIO"], error=bool(command.outputs))
            yield from with_rules(command, [f"write {new} short=7"], harmless=True)
            yield from with_rules(command, ["fsyncdir out error=EINVAL"], harmless=True)


def poll(condition, seconds=GUARD_SECONDS):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


# Changes by other programs to a file that is being read.


def overwrite(place, offset, data, keep):
    with open(place, "r+b") as file:
        file.seek(offset)
        file.write(data)
    set_time(place, keep)


def set_time(place, keep):
    """Sets the modification time to the old one, or to 10 s later, so that two runs find the same."""
    mtime_ns = MTIME_NS + (0 if keep else 10**10)
    os.utime(place, ns=(mtime_ns, mtime_ns))


def replace(place):
    other = place.with_name("other")
    other.write_bytes(bytes(reversed(BIG)))
    os.utime(other, ns=(MTIME_NS, MTIME_NS))
    other.rename(place)


def change_length(place, nbytes, keep):
    os.truncate(place, nbytes)
    set_time(place, keep)


REPLACED = "replaced by another file"
CHANGES = {
    "100 bytes behind the reader overwritten": lambda place: overwrite(place, 1000, b"x" * 100, False),
    "100 bytes behind the reader overwritten, time set back": lambda place: overwrite(place, 1000, b"x" * 100, True),
    "100 bytes ahead of the reader overwritten": lambda place: overwrite(place, len(BIG) - 90_000, b"x" * 100, False),
    REPLACED: replace,
    "made longer": lambda place: change_length(place, len(BIG) + 5000, False),
    "cut in half": lambda place: change_length(place, len(BIG) // 2, False),
    "cut inside of its last page": lambda place: change_length(place, len(BIG) - 300, False),
    "cut inside of its last page, time set back": lambda place: change_length(place, len(BIG) - 300, True),
}


def with_change(command, what, is_direct, is_damaged):
    """Changes the long file while a read of its middle waits."""

    def test(world):
        known = reference(world, command, is_damaged, what)
        before = reference(world, command, is_damaged)
        # More than one read hangs: the first might be the kernel's readahead, for which nothing waits.
        world.tell(*(["open c/big direct"] if is_direct else []), "read c/big at=786432- hang")
        process = start(world, command)
        if not poll(lambda: world.hits()[-1] or process.poll() is not None):
            return ["the read that should wait did not happen"]
        if not world.hits()[-1]:
            return judge(world, command, before, finish(world, command, process), is_damaged=is_damaged, has_hit=False)
        # Not through the mount, whose pages are locked while they are read.
        CHANGES[what](world.backing / "c/big")
        world.tell("release")
        run = finish(world, command, process)
        wrong = judge(world, command, known, run, changed=("c/big", *command.progress))
        # A command that only prints may report the file that it opened, even if another file has its name by now. The
        # kernel's page cache stays valid while length and modification time do.
        is_hidden = not is_direct and what.endswith("time set back") and "cut" not in what
        is_other = what == REPLACED and command.words[0] in ("sum", "digest", "mac", "tree", "-b")
        if wrong and (is_hidden or is_other):
            return judge(world, command, before, run, changed=("c/big", *command.progress))
        return wrong

    state = "wrong content, " if is_damaged else ""
    how = "direct, " if is_direct else ""
    return Test(f"{command} | {state}{how}while it is read: {what}", True, test)


def changes():
    for command in commands():
        # The bytes of standard input end where they end.
        if "c/big" in command.reads and not command.stdin:
            for what in CHANGES:
                for is_direct in (False, True):
                    for is_damaged in (False, True) if command.judges and not command.outputs else (False,):
                        yield with_change(command, what, is_direct, is_damaged)


def with_signal(command, number):
    """Sends a signal while a read waits. When the read ends, the program must end, and neither claim nor write what it
    has not read. rust/hashloom-maker/tests/all/stopping.rs tests that it can end before the read."""

    def test(world):
        known = reference(world, command, False)
        world.tell("read c/big at=786432- hang")
        process = start(world, command)
        if not poll(lambda: world.hits()[-1] or process.poll() is not None):
            return ["the read that should wait did not happen"]
        process.send_signal(number)

        # A thread inside the read cannot end before the read does.
        time.sleep(0.05)
        world.tell("clear")
        run = finish(world, command, process)
        wrong = []
        # The run may have completed nevertheless: then it is compared with a complete run.
        if not run.stuck and run.code not in (-number, known.code):
            wrong.append(f"exit status {run.code} after {number.name}")
        return wrong + judge(world, command, known, run, signals=(number,))

    return Test(f"{command} | {number.name} while a read waits", True, test)


def signals():
    for command in commands():
        if "c/big" in command.reads:
            for number in (signal.SIGINT, signal.SIGTERM):
                yield with_signal(command, number)


def resumed():
    """A check is interrupted, checked content is changed, and the next run goes on: it may not call the content
    right."""
    verify = ("torrent", "verify", "in/v1.torrent", ".", "--resume", "out/state")
    manifest = ("manifest", "check", "in/manifest", "c", "--resume", "out/state")
    for words in (verify, (*verify, "--threads", "1"), manifest):
        command = Command(words, ("c/big",), progress=("out/state",))
        # `changed` is read before `waiting`, whose read hangs.
        changed, waiting = ("c/big", "c/mid") if words[0] == "torrent" else ("c/big", "c/sub/y")
        for times in ("", "ctime", "coarse", "frozen"):

            def test(world, command=command, changed=changed, waiting=waiting, times=times):
                reference(world, command, False)
                rules = [f"times * {times}"] if times else []
                # A thread inside a read may get the signal only when the read ends. The run can then be complete before
                # the program knows of the signal, and there is nothing to resume: once more.
                for _ in range(5):
                    world.tell(*rules, f"read {waiting} hang")
                    process = start(world, command)
                    if not poll(lambda: world.hits()[-1] or process.poll() is not None):
                        return ["the read that should wait did not happen"]
                    time.sleep(0.2)
                    process.send_signal(signal.SIGINT)
                    time.sleep(0.05)
                    world.tell("clear", *rules)
                    run = finish(world, command, process)
                    if run.code != 0:
                        break
                if run.code != -signal.SIGINT:
                    return [f"exit status {run.code} after SIGINT"]
                overwrite(world.root / changed, 1000, b"x" * 100, True)
                run = finish(world, command, start(world, command))
                if times == "frozen":
                    # Nothing shows the change, as documented: the run must only end.
                    return [] if run.code in (0, 1, 2) else [f"exit status {run.code}"]
                return [] if run.code in (1, 2) else [f"WRONG OK: exit status {run.code} of changed content"]

            what = f"interrupted, then {changed} changed, time set back, times {times or 'true'}"
            yield Test(f"{command} | {what}", True, test)


# Faults beside the file system's: system calls that fail, limits, streams.

STRACE = ("strace", "-f", "-qq", "--signal=none")
# Calls that the program makes on files, and the errors that they may give. The dynamic linker also makes the calls of
# the first table, and ends the program if they fail, so these fail only on the paths that the command reads or writes.
ON_PATHS = {
    "openat": ["EIO", "EMFILE", "EINTR", "ENOMEM"], "openat2": ["EIO", "ENOSYS", "EAGAIN"],
    "read": ["EIO", "EINTR"], "pread64": ["EIO", "EINTR"], "mmap": ["ENOMEM", "ENODEV"], "fstat": ["EIO"],
    "close": ["EIO", "EINTR"], "statx": ["EIO", "ENOSYS"], "newfstatat": ["EIO"], "fadvise64": ["EIO"],
}
ANYWHERE = {
    "preadv2": ["EIO", "EOPNOTSUPP"], "statx": ["EIO", "ENOMEM"], "io_uring_setup": ["ENOSYS", "ENOMEM", "EPERM"],
    "io_uring_enter": ["EIO", "EINTR", "EAGAIN", "ENOMEM", "EBADR", "EOVERFLOW", "EBUSY"],
    "io_uring_register": ["ENOMEM", "EINVAL"], "madvise": ["ENOMEM", "EIO", "EFAULT", "EINVAL"],
    "fsync": ["EIO", "ENOSPC"], "fdatasync": ["EIO"], "rename": ["EIO", "EXDEV"], "renameat": ["EIO"],
    "renameat2": ["EIO", "ENOSYS", "EINVAL"], "linkat": ["EIO", "ENOENT", "EPERM"], "unlink": ["EIO"],
    "unlinkat": ["EIO"], "fchmod": ["EPERM", "EIO"], "fchown": ["EPERM", "EIO"], "ftruncate": ["EIO", "ENOSPC"],
    "getdents64": ["EIO", "ENOMEM"], "write": ["EIO", "ENOSPC", "EINTR", "EAGAIN"], "pwrite64": ["EIO", "ENOSPC"],
    "clone3": ["EAGAIN"], "lseek": ["EIO"], "copy_file_range": ["EIO"], "flock": ["EIO"], "getrandom": ["ENOSYS"],
    "fcntl": ["EIO"], "readlink": ["EIO"], "fchmodat": ["EIO"], "utimensat": ["EIO"],
}
# After these errors the program tries again, or takes another way.
PASSING = ("EINTR", "EAGAIN", "ENOSYS", "EXDEV", "ENOENT", "EPERM", "EINVAL")
# Calls whose failure means that an output is not safe.
LOSING = ("fsync", "fdatasync", "rename", "renameat", "renameat2", "linkat", "write", "pwrite64", "ftruncate")


def traced(command, how, paths=(), error=False):
    """A command under strace, which injects the fault `how`, only into calls on `paths` if there are any. `error`: the
    run must report it."""

    def test(world, is_damaged):
        known = reference(world, command, is_damaged)
        trace = world.backing.parent / "trace"
        names = [f"{world.root}/{path}" for path in paths]
        selected = [word for name in names for word in ("-P", name)]
        call = how.split(":")[0]
        wrapper = [*STRACE, "-o", trace, "-e", f"trace={call}", *selected, "-e", f"inject={how}"]
        run = finish(world, command, start(world, command, wrapper))
        hits = [line for line in trace.read_bytes().splitlines() if b"(INJECTED)" in line]
        if run.code == 127 and b"loading shared libraries" in run.stderr:
            return []
        # A file that cannot be removed stays, which the program reports.
        is_remaining = call in ("unlink", "unlinkat") and hits
        remaining = {path for path in world.changed() if run.stderr or "/.hashloom-" in path} if is_remaining else ()
        # A failed write to standard output or error cannot be reported.
        is_output = any(b"write(1," not in line and b"write(2," not in line for line in hits)
        return judge(
            world, command, known, run, is_damaged=is_damaged, has_hit=bool(hits),
            error=error and bool(hits) and is_output, mute=call == "write", changed=remaining,
        )

    where = f" on {', '.join(paths)}" if paths else ""
    damages = (False, True) if arguments.all and command.judges and not command.outputs else (False,)
    for is_damaged in damages:
        state = "wrong content, " if is_damaged else ""
        yield Test(f"{command} | {state}strace {how}{where}", False, lambda world, d=is_damaged: test(world, d))


def calls_made(world, command):
    """Returns how often any one thread makes each call in a run without a fault."""
    reference(world, command, False)
    trace = world.backing.parent / "trace"
    wrapper = [*STRACE, "-o", trace]
    finish(world, command, start(world, command, wrapper))
    world.restore()
    counts = {}
    for line in trace.read_text(errors="replace").splitlines():
        found = re.match(r"(\d+) +([a-z0-9_]+)\(", line)
        if found:
            counts[found.groups()] = counts.get(found.groups(), 0) + 1
    most = {}
    for (_, call), count in counts.items():
        most[call] = max(most.get(call, 0), count)
    return most


def system_calls(worlds):
    """Every kind of call of every command fails once, the first time or later; with --all each call."""
    chance = random.Random(5)
    for command, made in on_worlds(worlds, list(commands()), calls_made):
        places = [(path,) for path in (*command.reads, *command.outputs, *command.lists)]
        for call, errors in ON_PATHS.items():
            if call in made:
                # std ends the program if a folder cannot be closed.
                chosen = [(paths, error) for paths in places for error in errors
                          if call != "close" or paths[0] not in command.lists]
                for paths, error in chosen if arguments.all else chance.sample(chosen, min(2, len(chosen))):
                    for n in ("1", "2", "3+") if arguments.all else (chance.choice(("1", "2", "1+")),):
                        # A call that is interrupted each time may be tried for ever.
                        n = n.rstrip("+") if error in ("EINTR", "EAGAIN") else n
                        yield from traced(command, f"{call}:error={error}:when={n}", paths)
        for call, errors in ANYWHERE.items():
            if call in made:
                chosen = [(error, n) for error in errors for n in range(1, min(made[call], 40) + 1)]
                chosen += [(error, "1+") for error in errors if error not in ("EINTR", "EAGAIN", "EBUSY")]
                losing = call in LOSING and bool(command.outputs)
                for error, n in chosen if arguments.all else chance.sample(chosen, min(2, len(chosen))):
                    is_final = losing and error not in PASSING
                    yield from traced(command, f"{call}:error={error}:when={n}", error=is_final)
        if command.outputs:
            for call in sorted(set(made) & {*LOSING, "openat", "unlink", "fchmod", "fchown", "close"}):
                last = made[call]
                spots = range(1, last + 1) if arguments.all else {max(1, last - 1), last}
                for n in sorted(spots):
                    yield killed(command, call, n)


def killed(command, call, n):
    """Ends the program without warning at a call: an output must be the old or the new one, and nothing else is
    left."""

    def test(world):
        known = reference(world, command, False)
        trace = world.backing.parent / "trace"
        wrapper = [*STRACE, "-o", trace, "-e", f"trace={call}", "-e", f"inject={call}:signal=SIGKILL:when={n}"]
        run = finish(world, command, start(world, command, wrapper))
        wrong = judge(world, command, known, run, signals=(signal.SIGKILL,), has_hit=run.code != 0,
                      changed=command.progress)
        # A file that replaces another has a temporary name for a moment: the next run removes it.
        passing = [line for line in wrong if call.startswith("rename")
                   and re.search(r"^leftover: \S*/\.hashloom-", line)]
        if passing:
            finish(world, command, start(world, command))
            if not list(world.backing.rglob(".hashloom-*")):
                wrong = [line for line in wrong if line not in passing]
        return wrong

    return Test(f"{command} | SIGKILL at {call} {n}", False, test)


def limited(command, what, limits, as_nobody=False):
    """A command with less of a resource than it wants."""
    user = next(users)

    def test(world):
        known = reference(world, command, False)

        def limit():
            for which, most in limits:
                resource.setrlimit(which, (most, most))
            # A core dump is not a leftover of the program.
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if as_nobody:
                os.setgroups([])
                os.setgid(65534)
                # A user for each test: the limit also counts processes of other tests.
                os.setuid(70_000 + user)

        run = finish(world, command, start(world, command, preexec_fn=limit))
        # The loader, glibc and Rust's library end a program or a thread if memory that they need themselves is refused.
        if any(words in run.stderr for words in (b"loading shared libraries", b"failed to register TLS destructor",
                                                 b"failed to allocate an alternative stack")):
            return []
        # The limit sends SIGXFSZ to every program that does not ask for the error.
        return judge(world, command, known, run, signals=(signal.SIGXFSZ,))

    return Test(f"{command} | {what}", False, test)


users = itertools.count()


def least_memory():
    """The MiB of address space with which the program starts: a debug build takes more."""
    for mebibytes in itertools.count(4, 4):
        most = (mebibytes << 20, mebibytes << 20)
        run = subprocess.run([program, "--version"], capture_output=True,
                             preexec_fn=lambda most=most: resource.setrlimit(resource.RLIMIT_AS, most))
        if run.returncode == 0:
            return mebibytes


def limits():
    least = least_memory()
    for command in commands():
        for nfiles in range(3, 21) if arguments.all else (3, 4, 5, 6, 8, 12):
            yield limited(command, f"limit of {nfiles} open files", [(resource.RLIMIT_NOFILE, nfiles)])
        for room in (4, 8, 12, 16, 24, 40, 56, 88) if arguments.all else (8, 12, 24, 56):
            mebibytes = least + room
            yield limited(command, f"limit of {mebibytes} MiB of memory", [(resource.RLIMIT_AS, mebibytes << 20)])
        if command.outputs:
            for nbytes in (0, 100, 4096):
                yield limited(command, f"limit of {nbytes} bytes a file", [(resource.RLIMIT_FSIZE, nbytes)])
        yield limited(command, "limit of 1 process", [(resource.RLIMIT_NPROC, 1)], as_nobody=not command.outputs)


def streams():
    """Standard input and output that are closed or full."""
    for command in commands():

        def test(world, how, command=command):
            # A reader may leave when it has seen enough: that is not an error, but wrong content must not be called
            # right.
            is_left = how == "a pipe that nobody reads"
            is_damaged = is_left and command.judges and not command.outputs
            known = reference(world, command, is_damaged)
            options = {}
            if how == "a full device":
                options["stdout"] = open("/dev/full", "wb")
            if how == "a closed standard output":
                options["preexec_fn"] = lambda: os.close(1)
            if how == "a closed standard error":
                options["preexec_fn"] = lambda: os.close(2)
            if how == "a closed standard input":
                options["preexec_fn"] = lambda: os.close(0)
            if is_left:
                reading, writing = os.pipe()
                os.close(reading)
                options["stdout"] = os.fdopen(writing, "wb")
            run = finish(world, command, start(world, command, **options))
            if "stdout" in options:
                options["stdout"].close()
            wrong = []
            if how.endswith("output") or how.startswith("a full") or is_left:
                if run.code == 0 and known.stdout and not is_left:
                    wrong.append("WRONG OK: exit status 0, and what it had to print is lost")
                run.stdout = known.stdout if run.code == 0 else b""
            if how == "a closed standard input" and not command.stdin or how == "a closed standard error":
                return judge(world, command, known, run, harmless=True)
            if is_left and run.code == 128 + signal.SIGPIPE:
                run.code = -signal.SIGPIPE
            how = {"signals": (signal.SIGPIPE,), "mute": bool(wrong) or is_left}
            return wrong + judge(world, command, known, run, is_damaged=is_damaged, **how)

        for how in ("a closed standard output", "a full device", "a pipe that nobody reads", "a closed standard input",
                    "a closed standard error"):
            yield Test(f"{command} | {how}", False, lambda world, how=how, test=test: test(world, how))


# Main program.

nskipped = 0


def skip(what):
    global nskipped
    nskipped += 1
    print(f"SKIPPED: {what}")


def some(tests, most):
    """Returns at most `most` tests of each command, by HASHLOOM_SEED."""
    seed, of_commands = os.environ.get("HASHLOOM_SEED", "1"), {}
    for test in tests:
        of_commands.setdefault(test.name.split(" | ")[0], []).append(test)
    return [test for command, tests in of_commands.items()
            for test in random.Random(f"{seed} {command}").sample(tests, min(most, len(tests)))]


def on_worlds(worlds, items, function):
    """Calls the function with a world and each item, on all worlds in parallel. Yields each item and the function's
    result, in order."""
    free = queue.Queue()
    for world in worlds:
        free.put(world)

    def one(item):
        world = free.get()
        try:
            return function(world, item)
        finally:
            free.put(world)

    with concurrent.futures.ThreadPoolExecutor(len(worlds)) as pool:
        yield from zip(items, pool.map(one, items))


def run_test(world, test):
    try:
        wrong = test.function(world)
    except Exception as error:  # A broken test is a failure of that test only.
        place = traceback.extract_tb(error.__traceback__)[-1]
        wrong = [f"{type(error).__name__} in line {place.lineno}: {error}"]
    if arguments.verbose:
        print(f"{'FAILED' if wrong else 'passed'}: {test.name}", flush=True)
    return wrong


def main():
    global FUSE, STAND_INS
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target"))
    FUSE = target / "debug" / "hashloom-fuse"
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    npassed, failed, started = 0, [], time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hashloom-faults-", dir=place) as folder, contextlib.ExitStack() as closing:
        folder = pathlib.Path(folder)
        # Users other than root also run programs in it.
        folder.chmod(0o755)
        STAND_INS = folder / "called-as"
        STAND_INS.mkdir()
        (STAND_INS / "sha256sum").symlink_to(program)
        (folder / "inputs").mkdir()
        make_inputs(folder / "inputs")

        def make_worlds(faulty):
            worlds = []
            # A run mostly waits.
            for i in range(3 * (os.cpu_count() or 1)):
                place = folder / f"{'faulty' if faulty else 'plain'}{i}"
                place.mkdir()
                worlds.append(World(place, folder / "inputs", faulty))
                closing.callback(worlds[-1].close)
            return worlds

        plain, faulty = make_worlds(False), None
        try:
            faulty = make_worlds(True)
        except OSError as error:
            skip(f"tests on the file system with faults ({FUSE}): {error}. Build it with cargo build --manifest-path "
                 "test/fuse/Cargo.toml; it needs /dev/fuse and fusermount3 (package fuse3)")
        # The last number: how many tests of each command run, unless all do.
        groups = [("contents and folders that cannot be read", read_faults, 4),
                  ("outputs that cannot be written", write_faults, 5),
                  ("files that change while they are read", changes, 2), ("signals while a read waits", signals, 1),
                  ("interrupted checks", resumed, 2), ("standard streams", streams, 2), ("limits", limits, 2)]
        # A container may have strace and not allow it.
        if shutil.which("strace") and subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"]).returncode == 0:
            groups.append(("system calls", lambda: system_calls(plain), 3))
        else:
            skip("system calls that fail: strace is missing or not allowed")
        for title, group, most in groups:
            begun = time.monotonic()
            tests = {test.name: test for test in group() if arguments.only in test.name}
            if not faulty and any(test.faulty for test in tests.values()):
                skip(f"{title}: {sum(test.faulty for test in tests.values())} tests on the file system with faults")
                tests = {name: test for name, test in tests.items() if not test.faulty}
            tests = tests.values() if arguments.all or arguments.only else some(tests.values(), most)
            nwrong = 0
            for is_faulty, worlds in ((False, plain), (True, faulty)):
                chosen = [test for test in tests if test.faulty == is_faulty]
                for test, wrong in on_worlds(worlds, chosen, run_test) if chosen else ():
                    if wrong:
                        nwrong += 1
                        failed.append(f"{test.name} | {'; '.join(wrong)}")
                        print(f"FAILED: {failed[-1]}", flush=True)
            npassed += len(tests) - nwrong
            print(f"{title}: {len(tests)} tests, {nwrong} failed, {time.monotonic() - begun:.0f} s", flush=True)
    print(f"{npassed} passed, {len(failed)} failed, {nskipped} skipped in {time.monotonic() - started:.0f} s")
    if failed or nskipped and arguments.require:
        sys.exit(1)


main()
