#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Manifests of random folders have the entries and digests that Python finds.

After random changes of a folder `check`, `check --resume` and `diff` of two manifests report what Python finds, and
`check --quick` the changes that need no reading. A run that signs and is ended at any system call leaves right
signatures.

    python3 test/manifest.py path/to/hashloom [--seeds N]

What a manifest must have comes from snapshots that this script takes itself, with os and hashlib. Some runs are killed
in the middle: the next run must make the same manifest. Needs Python's standard library, and strace for the last part.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import checks  # noqa: F401: the locale, and no signal is ignored

NAMES = [b"a", b"a b", b"a-b", b"a.txt", b"B", b"\xff", b"\xc3\xa9", b"\n", b"\\", b"long " * 20, b" ", b"-", b"\x01"]
ALGORITHMS = {"sha1": "sha1", "sha256": "sha256", "sha512": "sha512", "sha384": "sha384", "sha224": "sha224"}


def fail(message):
    sys.exit(f"test/manifest.py: {message}")


def snapshot(root, algorithms):
    """Returns everything below the folder: the path, and what a manifest says of it."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            place = os.path.join(folder, name)
            path = os.path.relpath(place, root)
            if os.path.islink(place):
                found[path] = {"type": "link", "target": os.readlink(place)}
            elif os.path.isdir(place):
                found[path] = {"type": "folder"}
            else:
                data = pathlib.Path(os.fsdecode(place)).read_bytes()
                entry = {"type": "file", "length": len(data), "mtime_ns": os.stat(place).st_mtime_ns}
                for algorithm in algorithms:
                    entry[algorithm] = hashlib.new(ALGORITHMS[algorithm], data).hexdigest()
                found[path] = entry
    return found


def named(value, key):
    """Returns all bytes of a name in JSON."""
    return bytes.fromhex(value[key + "_hex"]) if key + "_hex" in value else value[key].encode()


def parse(text, algorithms):
    """Checks the first and last line of a manifest, and returns its entries in order."""
    lines = text.splitlines(keepends=True)
    header, end = json.loads(lines[0]), json.loads(lines[-1])
    if header != {"format": "hashloom manifest", "version": 1, "algorithms": algorithms}:
        fail(f"first line {header}")
    if end["sha256"] != hashlib.sha256(b"".join(lines[:-1])).hexdigest():
        fail("the digest in the last line is wrong")
    entries, counts = {}, dict.fromkeys(["file", "link", "folder", "unread"], 0)
    for line in lines[1:-1]:
        entry = json.loads(line)
        counts[entry["type"]] += 1
        path = named(entry, "path")
        if path in entries:
            fail(f"{path} is listed twice")
        keys = ["type", "length", "mtime_ns", *algorithms]
        entries[path] = {key: entry[key] for key in keys if key in entry}
        if "target" in entry:
            entries[path]["target"] = named(entry, "target")
    if list(entries) != sorted(entries, key=lambda path: path.split(b"/")):
        fail("not sorted by the components of the paths")
    expected = [end["files"], end["links"], end["folders"], end["unread"], end["bytes"]]
    nbytes = sum(entry.get("length", 0) for entry in entries.values())
    if expected != [*counts.values(), nbytes]:
        fail(f"last line {end}, found {counts} and {nbytes} bytes")
    return entries


def reported(output, code, what):
    """The differences that a report has, and their counts; the exit status and the counts must fit."""
    *differences, last = [json.loads(line) for line in output.splitlines()]
    if code != int(any(difference["status"] != "touched" for difference in differences)):
        fail(f"{what}: exit status {code}: {differences}")
    found = collections.Counter(difference["status"] for difference in differences)
    if found != collections.Counter({status: n for status, n in last["counts"].items() if n and status != "same"}):
        fail(f"{what}: counts {last['counts']}, but {found}")
    return differences, last["counts"]


def status_of(old, new, algorithms):
    """What became of an entry that is there before and after."""
    if old == new:
        return None
    if not old["type"] == new["type"] == "file":
        return "changed"
    if all(old[algorithm] == new[algorithm] for algorithm in algorithms):
        return "touched"
    return "rotted" if all(old[key] == new[key] for key in ("length", "mtime_ns")) else "changed"


def compare(report, before, after, algorithms, what):
    """Each path has the status that the two snapshots give it. Of one content as many files have moved as can have."""
    differences, counts = report
    found, moved = {}, collections.Counter()
    content = lambda entry: tuple(entry.get(algorithm) for algorithm in algorithms) if entry.get("length") else None
    for difference in differences:
        paths, status = [named(difference, "path")], difference["status"]
        if status == "moved":
            paths.append(named(difference["new"], "path"))
            old, new = content(before[paths[0]]), content(after[paths[1]])
            if old is None or old != new or paths[0] in after or paths[1] in before:
                fail(f"{what}: {difference}")
            moved[old] += 1
        for path in paths:
            if path in found:
                fail(f"{what}: {path} is there twice")
            found[path] = status
    removed, added = (collections.Counter(content(one[path]) for path in one.keys() - other.keys())
                      for one, other in ((before, after), (after, before)))
    del removed[None], added[None]
    if moved != removed & added:
        fail(f"{what}: moved {moved}, removed {removed}, added {added}")
    for path in before.keys() | after.keys():
        if path in before and path in after:
            is_right = found.get(path) == status_of(before[path], after[path], algorithms)
        else:
            is_right = found.get(path) in ("moved", "removed" if path in before else "added")
        if not is_right:
            fail(f"{what}: {path}: {found.get(path)}: {before.get(path)}, {after.get(path)}")
    if counts["same"] != sum(after.get(path) == entry for path, entry in before.items()):
        fail(f"{what}: {counts['same']} are the same")


def unread(side, path):
    """What is known of a path without reading it."""
    return {key: value for key, value in side.get(path, {}).items() if key in ("type", "length", "mtime_ns", "target")}


class Folder:
    def __init__(self, root, seed):
        self.root, self.random = os.fsencode(root), random.Random(seed)
        # Some contents occur several times.
        self.contents = [b"", b"x", b"xy"] + [self.random.randbytes(self.random.randrange(200_000)) for _ in range(5)]
        os.mkdir(self.root)
        for _ in range(self.random.randrange(5, 120)):
            self.add()

    def of_type(self, is_folder):
        found = [self.root] if is_folder else []
        for folder, folders, files in os.walk(self.root):
            for name in folders if is_folder else files:
                place = os.path.join(folder, name)
                if not os.path.islink(place):
                    found.append(place)
        return found

    def content(self):
        if self.random.random() < 0.5:
            return self.random.choice(self.contents)
        return self.random.randbytes(self.random.randrange(5000))

    def free(self):
        """Returns a path where nothing exists."""
        for _ in range(100):
            name = self.random.choice(NAMES)
            name += str(self.random.randrange(30)).encode() if self.random.random() < 0.7 else b""
            place = os.path.join(self.random.choice(self.of_type(True)), name)
            if place.count(b"/") - self.root.count(b"/") < 6 and not os.path.lexists(place):
                return place
        return os.path.join(self.root, b"free" + str(self.random.random()).encode())

    def write(self, place, data):
        with open(place, "wb") as file:
            file.write(data)

    def add(self):
        place, kind = self.free(), self.random.random()
        if kind < 0.2:
            os.mkdir(place)
        elif kind < 0.3:
            os.symlink(self.random.choice(NAMES), place)
        else:
            self.write(place, self.content())

    def change(self):
        files, kind = self.of_type(False), self.random.randrange(9)
        if kind == 0 or not files:
            return self.add()
        place = self.random.choice(files)
        stat = os.stat(place)
        if kind == 1:
            os.unlink(place)
        elif kind == 2:
            os.rename(place, self.free())
        elif kind == 3:
            self.write(place, self.content())
        elif kind == 4:
            os.utime(place, ns=(0, self.random.randrange(-(10**18), 2 * 10**18)))
        elif kind == 5 and stat.st_size:
            with open(place, "r+b") as file:
                file.seek(self.random.randrange(stat.st_size))
                byte = file.read(1)
                file.seek(-1, os.SEEK_CUR)
                file.write(bytes([byte[0] ^ 1 << self.random.randrange(8)]))
            os.utime(place, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        elif kind == 6:
            os.unlink(place)
            os.symlink(b"elsewhere", place) if self.random.random() < 0.5 else os.mkdir(place)
        elif kind == 7:
            folders = self.of_type(True)[1:]
            if folders and self.random.random() < 0.3:
                shutil.rmtree(self.random.choice(folders))
        elif kind == 8:
            shutil.copy2(place, self.free())


def run(hashloom, work, *arguments):
    result = subprocess.run([hashloom, "manifest", *arguments], cwd=work, capture_output=True)
    # An interrupted run's results that are not trusted are reported, and the files read again. All may have moved.
    known = rb"resume: [1-9]\d* files? (is|are) read again: |hashloom: warning: tree has nothing that old lists: "
    unexpected = [line for line in result.stderr.splitlines() if not re.match(known, line)]
    if unexpected or result.returncode not in (0, 1):
        fail(f"{arguments}: exit status {result.returncode}: {result.stderr.decode(errors='replace')}")
    return result.returncode, result.stdout


def killed(hashloom, work, arguments, delay, how):
    child = subprocess.Popen([hashloom, "manifest", *arguments], cwd=work, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    time.sleep(delay)
    child.send_signal(how)
    return child.wait()


def check_seed(hashloom, seed):
    noise = random.Random(seed)
    with tempfile.TemporaryDirectory() as work:
        folder = Folder(os.path.join(work, "tree"), seed)
        algorithms = noise.sample(sorted(ALGORITHMS), noise.choice([1, 1, 2, 3]))
        options = ["-a", ",".join(algorithms), "--threads", str(noise.choice([1, 2, 5]))]
        before = {os.fsencode(path): entry for path, entry in snapshot(folder.root, algorithms).items()}
        run(hashloom, work, "write", "tree", "-o", "old", *options)
        if parse(pathlib.Path(work, "old").read_bytes(), algorithms) != before:
            fail(f"seed {seed}: the manifest does not match the folder")
        for _ in range(noise.choice([0, 1, 3, 30])):
            folder.change()
        after = {os.fsencode(path): entry for path, entry in snapshot(folder.root, algorithms).items()}
        code, output = run(hashloom, work, "check", "old", "tree", "--json")
        report = reported(output, code, f"seed {seed}, check")
        compare(report, before, after, algorithms, f"seed {seed}, check")
        code, output = run(hashloom, work, "check", "old", "tree", "--json", "--quick")
        found = {named(difference, "path") for difference in reported(output, code, f"seed {seed}, check --quick")[0]}
        if found != {path for path in before.keys() | after.keys() if unread(before, path) != unread(after, path)}:
            fail(f"seed {seed}, check --quick: {output}")

        # Runs are ended at any time, by Ctrl-C or at once; the final result must be the same. Files as young as a tick
        # of the clock would not be trusted.
        time.sleep(0.06)
        for _ in range(3):
            how = noise.choice([signal.SIGINT, signal.SIGKILL])
            killed(hashloom, work, ["write", "tree", "-o", "new", "--force", *options], noise.random() * 0.02, how)
            if os.path.exists(os.path.join(work, "new")) and noise.random() < 0.5:
                os.unlink(os.path.join(work, "new"))
        killed(hashloom, work, ["check", "old", "tree", "--resume", "state"], noise.random() * 0.02, signal.SIGKILL)
        run(hashloom, work, "write", "tree", "-o", "new", "--force", *options)
        if parse(pathlib.Path(work, "new").read_bytes(), algorithms) != after:
            fail(f"seed {seed}: the manifest after interruptions does not match the folder")
        code, output = run(hashloom, work, "check", "old", "tree", "--json", "--resume", "state")
        resumed = reported(output, code, f"seed {seed}, check --resume")
        code, output = run(hashloom, work, "diff", "old", "new", "--json")
        if not report == resumed == reported(output, code, f"seed {seed}, diff"):
            fail(f"seed {seed}: check, check --resume and diff differ: {report} {resumed} {output}")
        # A run that is killed while it renames a file leaves only the temporary name.
        left = sorted(name for name in os.listdir(work) if not name.startswith(".hashloom-"))
        if left != ["new", "old", "tree"]:
            fail(f"seed {seed}: left behind: {left}")
    return len(before), len(after)


# System calls after which files are other ones.
CHANGING = ["linkat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "fsync", "write", "ftruncate", "close"]


def ended_at_each_call(hashloom, work, arguments, before, after):
    """Ends a command by SIGKILL at each of its calls that change files, from the same files each time. Calls `after`
    then. Returns the number of runs."""
    nruns = 0
    for call in CHANGING:
        # A call that is made more often than that is made in the course of reading.
        for number in range(1, 20):
            before()
            trace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}"]
            trace += ["-e", f"inject={call}:signal=KILL:when={number}"]
            done = subprocess.run([*trace, hashloom, "manifest", *arguments], cwd=work, capture_output=True)
            if done.returncode == 0:
                break
            if done.returncode not in (-signal.SIGKILL, 128 + signal.SIGKILL):
                fail(f"{arguments}, SIGKILL at {call} {number}: exit status {done.returncode}: {done.stderr}")
            after(f"{arguments}, SIGKILL at {call} {number}")
            nruns += 1
    return nruns


def signed_and_ended(hashloom):
    """A command that signs, and is ended at any call, leaves a manifest with a right signature, or what was there; and
    the same command goes on from there. The same for a log."""
    if not shutil.which("strace"):
        print("SKIPPED: signing runs that are ended: no strace")
        return
    vectors = pathlib.Path(__file__).resolve().parent.parent / "vectors/minisign"
    with tempfile.TemporaryDirectory() as work:
        place = pathlib.Path(work)
        for name in ("minisign.key", "minisign.pub"):
            shutil.copy(vectors / name, work)
        (place / "minisign.key").chmod(0o600)
        (place / "d").mkdir()
        (place / "d/a").write_text("a")
        sign, trust = ["--sign", "minisign.key"], ["--trusted-key", "minisign.pub"]
        write = ["write", "d", "-o", "m", "-q", *sign]
        run(hashloom, work, *write)
        old = {name: (place / name).read_bytes() for name in ("m", "m.minisig")}
        (place / "d/b").write_text("b")
        status = lambda *words: subprocess.run([hashloom, "manifest", *words], cwd=work, capture_output=True).returncode

        def restored(files):
            for path in place.iterdir():
                if path.name.startswith(".hashloom-") or path.name in ("m", "m.minisig", "m.partial", "log"):
                    path.unlink()
            for name, data in files.items():
                (place / name).write_bytes(data)

        def is_right(what):
            if (found := status("check", "m", "d", *trust)) == 2:
                fail(f"{what}: the manifest has no right signature")
            is_old = (place / "m").read_bytes() == old["m"]
            if is_old and shutil.which("minisign"):
                subprocess.run(["minisign", "-qVm", "m", "-p", "minisign.pub"], cwd=work, check=True)
            if is_old != (found == 1):
                fail(f"{what}: exit status {found} of a check")
            run(hashloom, work, *write, "--force")
            if status("check", "m", "d", *trust) != 0 or (place / "m.minisig").read_text().count("\n") != 4:
                fail(f"{what}: the same command does not mend it")

        def is_new(what):
            # Where there is a manifest it has a right signature.
            if (place / "m").exists() and status("check", "m", "d", *trust) != 0:
                fail(f"{what}: the manifest has no right signature")
            if not (place / "m").exists():
                run(hashloom, work, *write)
                if status("check", "m", "d", *trust) != 0:
                    fail(f"{what}: the same command does not mend it")

        nruns = ended_at_each_call(hashloom, work, [*write, "--force"], lambda: restored(old), is_right)
        nruns += ended_at_each_call(hashloom, work, [*write, "--update", "m"], lambda: restored(old), is_right)
        nruns += ended_at_each_call(hashloom, work, write, lambda: restored({}), is_new)

        restored(old)
        run(hashloom, work, "log", "add", "log", "m", "--new", *sign)
        logged = old | {"log": (place / "log").read_bytes()}
        run(hashloom, work, *write[:3], "n", *write[4:], "--force")

        def is_whole(what):
            if (place / "log").exists() and status("log", "check", "log", "n", *trust) == 2:
                fail(f"{what}: the log has no right signature")
            run(hashloom, work, "log", "add", "log", "n", *sign, *["--new"] * (not (place / "log").exists()))
            if status("log", "check", "log", "n", *trust) != 0:
                fail(f"{what}: the same command does not mend it")

        for files, new in ((logged, []), (old, ["--new"])):
            add = ["log", "add", "log", "n", *sign, *new]
            nruns += ended_at_each_call(hashloom, work, add, lambda: restored(files), is_whole)
    print(f"{nruns} signing runs ended at a system call: each manifest and each log has a right signature")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hashloom")
    parser.add_argument("--seeds", type=int, default=40)
    arguments = parser.parse_args()
    hashloom = os.path.abspath(arguments.hashloom)
    nentries = sum(sum(check_seed(hashloom, seed)) for seed in range(arguments.seeds))
    signed_and_ended(hashloom)
    print(f"{arguments.seeds} random folders before and after changes, {nentries} entries: all as expected")


if __name__ == "__main__":
    main()
