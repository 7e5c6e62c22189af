#!/usr/bin/env python3
"""cuda.py: the kernels in CUDA C, without a GPU: they compile for one, and find on the CPU what hashlib finds.

SPDX-License-Identifier: MIT OR Apache-2.0

    test/cuda.py GPUBENCH

A C++ compiler (CXX) compiles each kernel for the host over bench/gpu/cuda_host.h. clang compiles it for NVIDIA without
CUDA, and the PTX has each rotation of the text as one instruction. Exit status: 0 if everything passed.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOP = 0x00ffffff

# algorithm, again, prefix, suffix, digits, width, first
SEARCHES = [
    ("sha256", None, 22, 0, "0123456789", 12, 0),
    ("sha256", "sha256", 76, 0, "", 4, 0),
    ("sha1", None, 60, 0, "0123456789abcdef", 10, 16**6 * 77),
    ("sha1", "md5", 3, 300, "0123456789", 9, 0),
    ("md5", None, 64, 20, "zyx9", 12, 4**10 * 3),
    ("sha512", None, 22, 0, "0123456789", 12, 10**10),
    ("sha384", "sha1", 100, 40, "01", 40, 0),
    ("sha512", None, 0, 500, "", 8, 0),
]


def letters(n):
    return bytes(97 + i % 26 for i in range(n))


def digits_of(nonce, digits, width):
    alphabet = digits.encode() or bytes(range(256))
    text = bytearray()
    for _ in range(width):
        nonce, digit = divmod(nonce, len(alphabet))
        text.insert(0, alphabet[digit])
    return bytes(text)


def check(gpubench, search, folder):
    algorithm, again, prefix, suffix, digits, width, first = search
    arguments = ["--algorithm", algorithm, "--prefix-nbytes", prefix, "--suffix-nbytes", suffix, "--digits", digits,
                 "--width", width, "--first", first, *(["--again", again] if again else [])]
    arguments = [str(argument) for argument in arguments]
    for language, name in ("cuda", "kernel.cu"), ("inputs", "inputs.h"):
        run = subprocess.run([gpubench, "text", "--language", language, *arguments], check=True, capture_output=True)
        (folder / name).write_bytes(run.stdout)
    kernel = (folder / "kernel.cu").read_text()
    nrounds = int(re.search(r"#define NROUNDS (\d+)u", kernel)[1])
    count = -(-4000 // nrounds)

    program = folder / "ceiling"
    subprocess.run([*shlex.split(os.environ.get("CXX", "c++")), "-O1", "-w", "-include", ROOT / "bench/gpu/cuda_host.h",
                    f"-I{folder}", "-x", "c++", ROOT / "bench/gpu/ceiling.cu", "-o", program], check=True)
    run = subprocess.run([program, str(count), str(TOP)], check=True, capture_output=True, text=True)
    found = sorted(int(line) for line in run.stdout.split())

    def top(nonce):
        message = letters(prefix) + digits_of(nonce, digits, width) + letters(suffix)
        digest = hashlib.new(algorithm, message).digest()
        digest = hashlib.new(again, digest).digest() if again else digest
        return int.from_bytes(digest[:4], "big")
    right = [i for i in range(count * nrounds) if top(first // nrounds * nrounds + i) <= TOP]
    assert found == right, f"{search}: the kernel finds {found}, hashlib {right}"
    assert right, f"{search}: nothing to find"

    if shutil.which("clang"):
        ptx = folder / "kernel.ptx"
        subprocess.run(["clang", "-x", "cuda", "--cuda-gpu-arch=sm_70", "--cuda-device-only", "-nocudainc",
                        "-nocudalib", "-O2", "-S", "-Wno-unknown-cuda-version", "-include",
                        ROOT / "bench/gpu/cuda_host.h", folder / "kernel.cu", "-o", ptx], check=True)
        # A rotation of 64 bits is two instructions. The function that has their text is not counted.
        rotations = kernel.count("__funnelshift_l(") - 2 + 2 * (kernel.count("rotated(") - 1)
        instructions = len(re.findall(r"\bshf\.l\.wrap\.b32\s", ptx.read_text()))
        assert rotations == instructions, f"{search}: {rotations} rotations, {instructions} instructions"


def main():
    if len(sys.argv) != 2:
        print("usage: cuda.py GPUBENCH", file=sys.stderr)
        return 2
    if not shutil.which("clang"):
        print("SKIPPED: kernels for NVIDIA's GPUs: clang is not installed")
    with tempfile.TemporaryDirectory() as folder:
        for search in SEARCHES:
            check(Path(sys.argv[1]).resolve(), search, Path(folder))
    print(f"{len(SEARCHES)} kernels in CUDA C find what hashlib finds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
