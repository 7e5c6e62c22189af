#!/usr/bin/env python3
# verify.py: `hashloom torrent verify` of a 485 MiB image beside `openssl dgst -sha1` and `sha1sum` of the same file.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Times whole commands: wall and CPU seconds, the least of several rounds.

All commands take turns (A B C A B C ...), pinned to one CPU, with the image in the page cache, so that a slow moment of
the machine strikes all alike. Ratios are of the minima.

  bench/verify.py HASHLOOM [--rounds N] [--work FOLDER] [--kernels]

The image and its torrent are made in FOLDER on first use: the image from a fixed random seed, the torrent with
Python's hashlib, so that hashloom is checked against another implementation."""

import argparse
import hashlib
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time

IMAGE_NBYTES = 485 << 20
PIECE_NBYTES = 256 << 10


def make_image(path, nbytes):
    """Random bytes, the same on every machine; under another name first, so that a half-made one is not used."""
    generator = random.Random(485)
    with open(path + ".new", "wb") as image:
        for _ in range(nbytes >> 20):
            image.write(generator.randbytes(1 << 20))
    os.replace(path + ".new", path)


def make_torrent(image_path, torrent_path):
    pieces = b""
    with open(image_path, "rb") as image:
        while piece := image.read(PIECE_NBYTES):
            pieces += hashlib.sha1(piece).digest()
    name = os.path.basename(image_path).encode()
    info = b"d6:lengthi%de4:name%d:%s12:piece lengthi%de6:pieces%d:%se" % (
        os.path.getsize(image_path), len(name), name, PIECE_NBYTES, len(pieces), pieces)
    with open(torrent_path + ".new", "wb") as torrent:
        torrent.write(b"d4:info" + info + b"e")
    os.replace(torrent_path + ".new", torrent_path)


def run(command, environment):
    """Wall and CPU seconds of one run. A command that fails is the end: its time would mean nothing."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"verify.py: {' '.join(command)} failed ({done.returncode}):\n{done.stdout.decode(errors='replace')}")
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return wall, cpu, done.stdout


def available_isas(hashloom, torrent, folder):
    """From the message that an unknown name gives."""
    command = [hashloom, "--isa", "?", "torrent", "verify", torrent, folder]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    return re.findall(r"[a-z0-9_]+", done.stderr.partition("available here:")[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("hashloom", help="the program")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--work", default="build/bench", help="where the image is kept")
    parser.add_argument("--kernels", action="store_true", help="time each instruction set on its own as well")
    arguments = parser.parse_args()

    os.makedirs(arguments.work, exist_ok=True)
    image, torrent = (os.path.join(arguments.work, "image" + end) for end in (".bin", ".torrent"))
    if not os.path.exists(image) or os.path.getsize(image) != IMAGE_NBYTES:
        make_image(image, IMAGE_NBYTES)
        make_torrent(image, torrent)
    if not os.path.exists(torrent):
        make_torrent(image, torrent)
    with open(image, "rb") as warm:
        while warm.read(1 << 20):
            pass

    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    verify = [arguments.hashloom, "torrent", "verify", "--threads", "1", "-q", torrent, arguments.work]
    commands = {"hashloom torrent verify, 1 thread": (verify, {})}
    if arguments.kernels:
        for isa in available_isas(arguments.hashloom, torrent, arguments.work):
            commands[f"  only {isa}"] = (verify, {"HASHLOOM_ISA": isa})
    for name, command in (("openssl dgst -sha1", ["openssl", "dgst", "-sha1", image]), ("sha1sum", ["sha1sum", image]),
                          ("cat, to nowhere", ["cat", image])):
        if shutil.which(command[0]):
            commands[name] = (command, {})
        else:
            print(f"skipped: {name} ({command[0]} is not installed)")

    least = {name: (float("inf"), float("inf")) for name in commands}
    digests = set()
    for _ in range(arguments.rounds):
        for name, (command, extra) in commands.items():
            wall, cpu, output = run(command, os.environ | extra)
            least[name] = (min(wall, least[name][0]), min(cpu, least[name][1]))
            if name == "sha1sum":
                digests.add(output.split()[0])
            elif name.startswith("openssl"):
                digests.add(output.split()[-1])
    if len(digests) > 1:
        sys.exit("verify.py: openssl and sha1sum do not agree on the image")

    ours = least["hashloom torrent verify, 1 thread"]
    title = "485 MiB, pieces of 256 KiB, in the page cache, one CPU"
    print(f"| {title:<55}| wall s | CPU s | GB/s | times hashloom: wall, CPU |")
    print(f"|{'-' * 56}|--------|-------|------|---------------------------|")
    for name, (wall, cpu) in least.items():
        speed = IMAGE_NBYTES / wall * 1e-9
        times = f"{wall / ours[0]:12.2f}, {cpu / ours[1]:5.2f}"
        print(f"| {name:<55}| {wall:6.3f} | {cpu:5.3f} | {speed:4.2f} | {times}       |")


if __name__ == "__main__":
    main()
