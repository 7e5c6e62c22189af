#!/usr/bin/env python3
# verify.py: `hashloom torrent verify` of a 485 MiB image, and `openssl dgst -sha1` and `sha1sum` of the same file.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Times whole commands: the least wall and CPU seconds of several rounds.

All commands take turns, pinned to one CPU, with the image in the page cache. Where other work takes that CPU too, GB/s
are of CPU time, and a line below the table says it.

  bench/verify.py HASHLOOM [--rounds N] [--work FOLDER] [--kernels]

The image and its torrent are made in FOLDER on first use: the image from a fixed random seed, the torrent with
Python's hashlib, so that hashloom is checked against another implementation."""

import argparse
import json
import os
import shutil
import subprocess
import sys

from commands import Least, one_cpu, random_file, run, v1_torrent

IMAGE_NBYTES = 485 << 20
PIECE_NBYTES = 256 << 10
# Commands alone on their CPU wait for nothing, as the image is in memory: wall and CPU time differ by some milliseconds.
BUSY_RATIO = 1.1


def available_isas(hashloom):
    """Returns the instruction sets of this machine with a kernel for SHA-1."""
    done = subprocess.run([hashloom, "kernels", "--json"], stdout=subprocess.PIPE, text=True, check=True)
    listing = json.loads(done.stdout)
    with_sha1 = {kernel["isa"] for kernel in listing["kernels"] if "sha1" in kernel["algorithms"]}
    return [isa for isa in listing["isas"]["available"] if isa in with_sha1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("hashloom", help="the program")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--work", default="build/bench", help="where to keep the image")
    parser.add_argument("--kernels", action="store_true", help="also time each instruction set on its own")
    arguments = parser.parse_args()

    image, torrent = (os.path.join(arguments.work, "image" + end) for end in (".bin", ".torrent"))
    if not os.path.exists(torrent) or not os.path.exists(image) or os.path.getsize(image) != IMAGE_NBYTES:
        print(f"making the image, once: {image}", flush=True)
        random_file(image, IMAGE_NBYTES, seed=485)
        v1_torrent(image, torrent, PIECE_NBYTES)
    with open(image, "rb") as warm:
        while warm.read(1 << 20):
            pass

    verify = [arguments.hashloom, "torrent", "verify", "--threads", "1", "-q", torrent, arguments.work]
    commands = {"hashloom torrent verify": (verify, {})}
    if arguments.kernels:
        for isa in available_isas(arguments.hashloom):
            commands[f"  only {isa}"] = (verify, {"HASHLOOM_ISA": isa})
    for name, command in (("openssl dgst -sha1", ["openssl", "dgst", "-sha1", image]), ("sha1sum", ["sha1sum", image]),
                          ("cat, to nowhere", ["cat", image])):
        if shutil.which(command[0]):
            commands[name] = (command, {})
        else:
            print(f"skipped: {name} ({command[0]} is not installed)")

    least = {name: Least() for name in commands}
    digests = set()
    for _ in range(arguments.rounds):
        for name, (command, extra) in commands.items():
            result = run(command, one_cpu(), extra, keep=command[0] != "cat")
            # The time of a command that fails would mean nothing.
            if result.status != 0:
                sys.exit(f"verify.py: {' '.join(command)} failed ({result.status}):\n{result.output}")
            least[name].add(result)
            if name == "sha1sum":
                digests.add(result.output.split()[0])
            elif name.startswith("openssl"):
                digests.add(result.output.split()[-1])
    if len(digests) > 1:
        sys.exit("verify.py: openssl and sha1sum do not agree on the image")

    ours = least["hashloom torrent verify"]
    # One command's least CPU time can be of a calm round; all commands together show what the machine was like.
    wall, cpu = (sum(getattr(time, kind) for time in least.values()) for kind in ("wall", "cpu"))
    is_busy = wall > BUSY_RATIO * cpu
    print("485 MiB, pieces of 256 KiB, in the page cache, one CPU; least times")
    print(f"| {'':<24}| wall s | CPU s |  GB/s | times hashloom: wall, CPU |")
    print(f"|{'-' * 25}|--------|-------|-------|---------------------------|")
    for name, time in least.items():
        speed = IMAGE_NBYTES / (time.cpu if is_busy else time.wall) * 1e-9
        times = f"{time.wall / ours.wall:17.2f}, {time.cpu / ours.cpu:6.2f}"
        print(f"| {name:<24}| {time.wall:6.3f} | {time.cpu:5.3f} | {speed:5.2f} | {times} |")
    if is_busy:
        print(f"This CPU has other work too ({wall:.1f} s for {cpu:.1f} s of CPU time): GB/s are of CPU time.")


if __name__ == "__main__":
    main()
