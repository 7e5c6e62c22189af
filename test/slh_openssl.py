#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""SLH-DSA between hashloom and OpenSSL 3.5 or later: keys and signatures of each, read and verified by the other.

    test/slh_openssl.py path/to/hashloom [--require] [--count N] [--openssl PROGRAM]

For each of the twelve parameter sets N pairs of keys, made by either program; messages and contexts are random.
Deterministic signatures are equal. An older OpenSSL has no SLH-DSA: the test is named as SKIPPED.
"""

import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

import checks
from checks import check, equal

SETS = [f"SLH-DSA-{name}-{nbits}{kind}" for kind in "fs" for nbits in (128, 192, 256) for name in ("SHA2", "SHAKE")]


def main():
    parser = checks.parser(__doc__)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--openssl", type=shlex.split, default=["openssl"],
                        help="the program, with arguments before its own")
    options = parser.parse_args()
    checks.is_required = options.require
    hashloom = [options.hashloom.resolve(), "slh"]
    try:
        version = subprocess.run([*options.openssl, "version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        version = str(error)
    found = re.match(r"OpenSSL (\d+)\.(\d+)", version)
    if not found or (int(found[1]), int(found[2])) < (3, 5):
        checks.skip(f"SLH-DSA with OpenSSL 3.5: found {version.strip()}")
        return checks.end()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        for name in SETS:
            for turn in range(options.count):
                pair(name, turn, hashloom, options.openssl, pathlib.Path(folder))
    return checks.end()


def pair(name, turn, hashloom, openssl, folder):
    def run(*line):
        ran = subprocess.run([*line], cwd=folder, capture_output=True, text=True, check=False)
        return ran.returncode, ran.stdout + ran.stderr

    def done(what, *line):
        status, told = run(*line)
        check(f"{name}: {what}", status == 0, told)

    for file in folder.iterdir():
        file.unlink()
    if turn % 2:
        done("a key of hashloom", *hashloom, "keygen", "key", "--algorithm", name)
    else:
        done("a key of OpenSSL", *openssl, "genpkey", "-algorithm", name, "-out", "key")
        done("its public half", *openssl, "pkey", "-in", "key", "-pubout", "-out", "key.pub")
    # OpenSSL's program signs no empty file.
    (folder / "file").write_bytes(random.randbytes(random.choice((1, 63, 64, random.randrange(1, 100_000)))))
    context = random.choice(("", "x", "two words", "y" * 255))
    ours = ["--context", context] if context else []
    theirs = ["-pkeyopt", f"context-string:{context}"] if context else []
    verify = [*openssl, "pkeyutl", "-verify", "-pubin", "-inkey", "key.pub", "-rawin", "-in", "file", *theirs,
              "-sigfile"]
    check_ours = [*hashloom, "verify", "--key", "key.pub", "file", *ours, "--signature"]
    for ending in ("hedged", "deterministic"):
        is_plain = ending == "deterministic"
        more, their_more = (["--deterministic"], ["-pkeyopt", "deterministic:1"]) if is_plain else ([], [])
        done(f"{ending}, signed by hashloom", *hashloom, "sign", "--key", "key", "file", "-o", f"ours.{ending}", *ours,
             *more)
        done(f"{ending}, signed by OpenSSL", *openssl, "pkeyutl", "-sign", "-inkey", "key", "-rawin", "-in", "file",
             "-out", f"theirs.{ending}", *theirs, *their_more)
        done(f"{ending}, verified by OpenSSL", *verify, f"ours.{ending}")
        done(f"{ending}, verified by hashloom", *check_ours, f"theirs.{ending}")
        found = [(folder / f"{whose}.{ending}").read_bytes() for whose in ("ours", "theirs")]
        check(f"{name}: {ending} signatures are {'equal' if is_plain else 'not equal'}",
              (found[0] == found[1]) == is_plain)
    changed = bytearray(found[1])
    changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    (folder / "wrong").write_bytes(changed)
    equal(f"{name}: a changed signature", run(*check_ours, "wrong")[0], 1)


if __name__ == "__main__":
    sys.exit(main())
