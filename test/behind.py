#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Changes files behind the program's back, on each kind of file system that this machine can mount.

    python3 test/behind.py path/to/hashloom [--require] [--only WORD]

A file is changed while `check`, `torrent verify` and `manifest check` read it. The change is made where the program
does not look: behind a FUSE mount, in a layer of overlayfs, within the second that ext2 counts as one time. Each
command must report the file as it is in the end (exit status 1). Before that, nothing changes, and each must find all
right. Two images are damaged instead: whatever the file system then says, the file is not right. Clones of three
images, of the same inodes and times but with a rotten file, take the place of the image whose reading was interrupted.

It needs root, and mounts in a mount namespace of its own. What cannot be mounted here is named as SKIPPED; with
--require a program that is not installed is a failure.
"""

import hashlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import checks
from checks import check

# The programs read this in two seconds.
NBYTES, RATE = 20_000_000, "10M"
GUARD_SECONDS = 60
ENTERED = "HASHLOOM_BEHIND_ENTERED"


class Skipped(Exception):
    pass


def run(*line, **options):
    return subprocess.run([str(word) for word in line], check=True, capture_output=True, **options)


def needed(*names):
    for name in names:
        if not shutil.which(name):
            if checks.is_required:
                checks.failed.append(f"{name} is not installed")
            raise Skipped(f"{name} is not installed")


def mount(*line):
    try:
        run("mount", *line)
    except subprocess.CalledProcessError as error:
        raise Skipped(error.stderr.decode().strip().splitlines()[0]) from None


def image(folder, nbytes, *maker):
    """Mounts a new file system of these bytes. Returns its folder."""
    needed(maker[0])
    with open(folder / "image", "wb") as file:
        file.truncate(nbytes)
    run(*maker, folder / "image")
    (folder / "mount").mkdir()
    mount("-o", "loop", folder / "image", folder / "mount")
    return folder / "mount"


# Each returns the folder that the program reads, and the folder where the file is changed.


def on_disk(nbytes, *maker):
    def make(folder):
        content = image(folder, nbytes, *maker) / "content"
        content.mkdir()
        return content, content
    return make


def tmpfs(folder):
    mount("-t", "tmpfs", "none", folder)
    return folder, folder


def fuse(*options):
    def make(folder):
        needed("bindfs")
        (folder / "source").mkdir()
        (folder / "mount").mkdir()
        try:
            run("bindfs", *options, folder / "source", folder / "mount")
        except subprocess.CalledProcessError as error:
            raise Skipped(error.stderr.decode().strip()) from None
        return folder / "mount", folder / "source"
    return make


def overlay(layer):
    def make(folder):
        mounted = image(folder, 256 << 20, "mkfs.ext4", "-q", "-I", "256")
        for name in ("lower", "upper", "work", "merged"):
            (mounted / name).mkdir()
        layers = f"lowerdir={mounted}/lower,upperdir={mounted}/upper,workdir={mounted}/work"
        return mounted / "merged", mounted / layer, ("-t", "overlay", "overlay", "-o", layers, mounted / "merged")
    return make


MIB = 1 << 20
# Name, how it is made, and whether it counts whole seconds.
CASES = [
    ("ext4, inodes of 128 bytes", on_disk(64 * MIB, "mkfs.ext4", "-q", "-I", "128"), True),
    ("ext4, inodes of 256 bytes", on_disk(64 * MIB, "mkfs.ext4", "-q", "-I", "256"), False),
    ("ext3", on_disk(64 * MIB, "mkfs.ext3", "-q", "-I", "128"), True),
    ("ext2", on_disk(64 * MIB, "mkfs.ext2", "-q", "-I", "128"), True),
    ("XFS", on_disk(512 * MIB, "mkfs.xfs", "-q"), False),
    ("Btrfs", on_disk(256 * MIB, "mkfs.btrfs", "-q"), False),
    ("vfat", on_disk(64 * MIB, "mkfs.vfat"), True),
    ("tmpfs", tmpfs, False),
    ("FUSE, read-only", fuse("-r"), False),
    ("FUSE", fuse(), False),
    ("overlayfs, changed in the lower layer", overlay("lower"), False),
    ("overlayfs, changed where it is read", overlay("merged"), False),
]


class World:
    """A folder with the files `f` and `g`, and what the commands know of them."""

    def __init__(self, folder, seen, there):
        self.folder, self.seen, self.there = folder, seen, there
        # Text, so that it can be compressed.
        self.content = b"%08x\n" * (NBYTES // 9) % tuple(range(NBYTES // 9))
        (there / "f").write_bytes(self.content)
        (there / "g").write_bytes(b"g")

    def learn(self):
        known = pathlib.Path(tempfile.mkdtemp(dir=self.folder.parent))
        lines = [f"{hashlib.sha256((self.there / name).read_bytes()).hexdigest()}  {name}\n" for name in "fg"]
        (known / "list").write_text("".join(lines))
        for name in "fg":
            shutil.copy2(self.there / name, known)
        content = known / "c"
        content.mkdir()
        for name in "fg":
            (known / name).rename(content / name)
        run(PROGRAM, "torrent", "create", content, "--hybrid", "-l", "64K", "-o", known / "torrent", "--quiet")
        run(PROGRAM, "manifest", "write", content, "-o", known / "manifest", "--quiet")
        self.commands = {
            "check": ["check", known / "list"],
            "torrent verify": ["torrent", "verify", known / "torrent", self.seen, "--bitfield", known / "bits"],
            "manifest check": ["manifest", "check", known / "manifest", self.seen],
        }
        self.bits = known / "bits"

    def start(self, *options):
        return {name: subprocess.Popen([PROGRAM, *map(str, command), *options], cwd=self.seen, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                for name, command in self.commands.items()}

    def put(self, byte):
        with open(self.there / "f", "r+b", buffering=0) as file:
            file.write(byte)


def ended(processes):
    """Returns exit status and output of each."""
    def one(process):
        try:
            return process.communicate(timeout=GUARD_SECONDS)[0], process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            return "endless", -1
    return {name: one(process)[::-1] for name, process in processes.items()}


def behind(name, world, has_seconds):
    """Changes the first byte while the program reads, in the second of the last change if there are only seconds."""
    for command, (status, said) in ended(world.start()).items():
        check(f"{name}: {command}: nothing changes", status == 0, said)
    for _ in range(10):
        world.put(world.content[:1])
        if has_seconds:
            time.sleep(1.02 - time.time() % 1)
        second = int(time.time())
        world.put(world.content[:1])
        # The system now has the file's times in mind.
        os.stat(world.seen / "f")
        processes = world.start("--rate", RATE)
        time.sleep(0.4)
        world.put(b"X")
        is_meant = all(process.poll() is None for process in processes.values())
        is_meant &= not has_seconds or int(time.time()) == second
        results = ended(processes)
        bits = world.bits.read_bytes() if world.bits.exists() else b""
        for command, (status, said) in results.items():
            # A run that ended before the change has said nothing of it.
            if processes[command].returncode != 0 or is_meant:
                check(f"{name}: {command}: a change", status == 1, f"status {status}: {said}")
        check(f"{name}: the bit of a piece that was replaced", not is_meant or bits[:1] < b"\x80")
        if is_meant:
            return
    check(f"{name}: this machine is too busy to change a file in time", False)


def interrupted(line, state):
    """Interrupts a command that has read a part of its files, until it leaves a state. Between looks it is stopped."""
    for _ in range(20):
        process = subprocess.Popen([PROGRAM, *line, "--threads", "1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        is_early = True
        while is_early and process.poll() is None:
            time.sleep(0.0002)
            process.send_signal(signal.SIGSTOP)
            counts = pathlib.Path(f"/proc/{process.pid}/io").read_text()
            is_early = int(counts.split()[1]) < NBYTES // 3
            if not is_early:
                process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGCONT)
        said = process.communicate(timeout=GUARD_SECONDS)[0].decode()
        if state.exists():
            break
    return said


def damaged(name, world, remount):
    """Damages a block of the image in the middle of the file."""
    place = remount(None)
    at = place.read_bytes().find(world.content[NBYTES // 2:][:64])
    at = at if at >= 0 else place.stat().st_size // 2
    with open(place, "r+b") as file:
        file.seek(at)
        file.write(random.Random(7).randbytes(512))
    remount(place)
    for command, (status, said) in ended(world.start()).items():
        claims = [line for line in said.splitlines() if line.startswith(("f: OK", "complete:", "as written"))]
        is_honest = status in (1, 2) and not claims
        check(f"{name}: {command}: a damaged block", is_honest, f"status {status}: {said}")


def damaged_btrfs(folder):
    mounted = image(folder, 256 * MIB, "mkfs.btrfs", "-q")
    world = World(folder, mounted, mounted)
    world.learn()

    def remount(place):
        if place is None:
            run("umount", mounted)
        else:
            mount("-o", "loop", folder / "image", mounted)
        return folder / "image"
    damaged("Btrfs", world, remount)


def cloned(name, nbytes, *maker):
    """Interrupts commands, and lets them go on on the same device, and on clones of it with a rotten file, in the
    folder's place and elsewhere."""
    def test(folder):
        mounted = image(folder, nbytes, *maker)
        content = mounted / "content"
        content.mkdir()
        # Btrfs would find the rot itself. Others know no such flag.
        subprocess.run(["chattr", "+C", content], capture_output=True)
        early = b"the first file, which will rot\n" * 4000
        (content / "a").write_bytes(early)
        (content / "z").write_bytes(random.Random(5).randbytes(NBYTES))
        known = folder / "known"
        known.mkdir()
        run(PROGRAM, "torrent", "create", content, "--hybrid", "-l", "64K", "-o", known / "torrent", "--quiet")
        run(PROGRAM, "manifest", "write", content, "-o", known / "manifest", "--quiet")
        run("umount", mounted)
        rotten = (folder / "image").read_bytes().replace(early[:4096], b"T" + early[1:4096])
        (folder / "clone").write_bytes(rotten)
        mount("-o", "loop", folder / "image", mounted)
        # A file of a moment ago is not taken over.
        time.sleep(0.1)
        commands = {
            "torrent verify": ["torrent", "verify", known / "torrent", content, "--resume", known / "t"],
            "manifest check": ["manifest", "check", known / "manifest", content, "--resume", known / "c"],
            "manifest write": ["manifest", "write", content, "-o", known / "w"],
        }
        states = {"torrent verify": known / "t", "manifest check": known / "c", "manifest write": known / "w.partial"}
        for command, line in commands.items():
            said = interrupted(line, states[command])
            check(f"{name}: {command}: interrupted", states[command].exists(), said)
        kept = {command: state.read_bytes() for command, state in states.items()}

        def go_on(where, place):
            for command, line in commands.items():
                states[command].write_bytes(kept[command])
                (known / "w").unlink(missing_ok=True)
                line = [place if word == content else word for word in line]
                done = subprocess.run([PROGRAM, *line], capture_output=True, text=True)
                said = done.stdout + done.stderr
                is_taken = "taken over" in said or "by an earlier run" in said
                if where == "the same device":
                    check(f"{name}: {command}: {where}", done.returncode == 0 and is_taken, said)
                    continue
                if command == "manifest write":
                    digest = hashlib.sha256((place / "a").read_bytes()).hexdigest()
                    is_right = done.returncode == 0 and digest in (known / "w").read_text()
                else:
                    is_right = done.returncode == 1
                check(f"{name}: {command}: {where}", is_right and not is_taken and "again: last read" in said, said)
        go_on("the same device", content)
        (folder / "other").mkdir()
        run("umount", mounted)
        mount("-o", "loop", folder / "clone", folder / "other")
        go_on("a clone elsewhere", folder / "other" / "content")
        run("umount", folder / "other")
        mount("-o", "loop", folder / "clone", mounted)
        go_on("a clone in its place", content)
    return test


def squashfs(folder):
    needed("mksquashfs")
    for name in ("source", "mount"):
        (folder / name).mkdir()
    world = World(folder, folder / "mount", folder / "source")
    world.learn()
    place = folder / "image"
    run("mksquashfs", folder / "source", place, "-quiet", "-no-progress")
    mount("-o", "loop", place, folder / "mount")
    for command, (status, said) in ended(world.start()).items():
        check(f"squashfs: {command}: nothing changes", status == 0, said)

    def remount(damaged):
        if damaged is None:
            run("umount", folder / "mount")
        else:
            mount("-o", "loop", place, folder / "mount")
        return place
    damaged("squashfs", world, remount)


def changed(name, make, has_seconds):
    def test(folder):
        seen, there, *late = make(folder)
        if not late:
            world = World(folder, seen, there)
            world.learn()
        elif there == seen:
            # The file comes from the lower layer.
            world = World(folder, seen, there.parent / "lower")
            mount(*late[0])
            world.learn()
            world.there = there
        else:
            world = World(folder, seen, there)
            mount(*late[0])
            world.learn()
        behind(name, world, has_seconds)
    return test


def main():
    global PROGRAM
    parser = checks.parser(__doc__)
    parser.add_argument("--only", default="", metavar="WORD", help="only file systems whose name has WORD")
    arguments = parser.parse_args()
    PROGRAM, checks.is_required = arguments.hashloom.resolve(), arguments.require
    os.environ["PATH"] += os.pathsep + "/usr/sbin" + os.pathsep + "/sbin"
    if ENTERED not in os.environ:
        can_mount = os.geteuid() == 0 and shutil.which("unshare")
        if not can_mount or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            print("SKIPPED: changes behind the program's back: only root can mount file systems")
            return 0
        os.environ[ENTERED] = "1"
        os.execvp("unshare", ["unshare", "-m", sys.executable, *sys.argv])
    tests = [(name, changed(name, make, has_seconds)) for name, make, has_seconds in CASES]
    tests += [("Btrfs, damaged", damaged_btrfs), ("squashfs, damaged", squashfs)]
    for name, nbytes, *maker in [("ext4", 64 * MIB, "mkfs.ext4", "-q"), ("XFS", 320 * MIB, "mkfs.xfs", "-q"),
                                 ("Btrfs", 256 * MIB, "mkfs.btrfs", "-q")]:
        tests.append((f"{name}, cloned", cloned(name, nbytes, *maker)))
    for name, test in tests:
        if arguments.only not in name:
            continue
        before = checks.passed
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as outer:
            folder = pathlib.Path(outer) / "world"
            folder.mkdir()
            try:
                test(folder)
            except Skipped as why:
                checks.skipped.append(f"{name}: {why}")
            finally:
                for line in reversed(pathlib.Path("/proc/self/mounts").read_text().splitlines()):
                    if line.split()[1].startswith(outer):
                        subprocess.run(["umount", line.split()[1]], capture_output=True)
        print(f"{name}: {checks.passed - before} passed", flush=True)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
