#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs the program on the official test vectors: every algorithm under every instruction set of this machine.

    test/vectors.py path/to/hashloom

All messages of an algorithm are hashed in one run, then the first one alone, the first two, and so on to 17: the number
of messages decides which kernel is chosen.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
VECTORS = ROOT / "vectors"
sys.path.insert(0, str(ROOT / "tools"))
from algorithms import ALGORITHMS  # noqa: E402

AUTHORS = {
    "md5": ["md5/rfc-1321.txt"],
    "ripemd160": ["ripemd160/ripevectors.txt"],
    "keccak-256": ["keccak/ShortMsgKAT_256.txt"],
}


def files_of(algorithm):
    """Its vectors: the authors', or else NIST's. Those of an XOF have digests of other lengths than the usual one."""
    if algorithm.name in AUTHORS:
        return AUTHORS[algorithm.name]
    name = algorithm.name.replace("-", "_").upper()
    return [str(path.relative_to(VECTORS)) for kind in ("Short", "Long")
            for path in VECTORS.glob(f"nist-cavp/*/{name}{kind}Msg.rsp")]


FILES = {a.name: files_of(a) for a in ALGORITHMS if not a.is_xof}
VECTOR = re.compile(r"^Len = (\d+)\s+Msg = ([0-9a-fA-F]+)\s+MD = ([0-9a-fA-F]+)", re.MULTILINE)


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"vectors.py: {' '.join(words)}: exit status {done.returncode}: {done.stderr}")
    return done.stdout


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    isas = re.search(r"^here: (.*)$", run(program, "kernels"), re.MULTILINE)[1].split(", ")
    ndigests = nruns = 0
    with tempfile.TemporaryDirectory() as folder:
        for algorithm, files in FILES.items():
            paths, expected = [], []
            for name in files:
                for nbits, message, digest in VECTOR.findall((VECTORS / name).read_text()):
                    path = pathlib.Path(folder) / f"{algorithm}-{len(paths)}"
                    path.write_bytes(bytes.fromhex(message)[: int(nbits) // 8])
                    paths.append(str(path))
                    expected.append(digest.lower())
            assert paths, algorithm
            for isa in isas:
                for count in [len(paths), *range(1, min(17, len(paths)) + 1)]:
                    words = ["sum", "--isa", f"scalar,{isa}", "--algorithm", algorithm]
                    found = [line.split()[0] for line in run(program, *words, *paths[:count]).splitlines()]
                    if found != expected[:count]:
                        sys.exit(f"vectors.py: {algorithm} with --isa scalar,{isa}, {count} messages: {found}, "
                                 f"expected {expected[:count]}")
                    ndigests += count
                    nruns += 1
    print(f"{len(FILES)} algorithms, instruction sets {', '.join(isas)}: {ndigests} digests in {nruns} runs are right")


main()
