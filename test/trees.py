#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compares `hashloom tree` with the programs whose trees it makes. The tests of hashloom-tree have the definitions.

    python3 test/trees.py path/to/hashloom [--require] [--all] [--vectors FOLDER]

Programs: fsverity (Debian package fsverity), veritysetup (cryptsetup-bin) and openssl. A program that is not installed
is named as SKIPPED; with --require that is a failure. --vectors: the folder testdata of
https://github.com/transparency-dev/merkle, with 518 right and wrong proofs, which are not part of this repository;
default: build/rfc6962. If it is missing, that is named too, but is not a failure. --all: also files of 1 GiB and more.
"""

import base64
import hashlib
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import zlib

import checks
from checks import check, equal

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = None
EVERY = False
noise = random.Random(6962)


def run(*line, status=0, stdin=None):
    """Returns the output of a command. An unexpected exit status is a failure of its own."""
    done = subprocess.run([str(part) for part in line], input=stdin, capture_output=True)
    check(f"{' '.join(map(str, line))}: status {done.returncode}, not {status}", done.returncode == status,
          done.stderr.decode()[:500])
    return done.stdout


def tree(*arguments, status=0, stdin=None):
    return run(PROGRAM, "tree", *arguments, status=status, stdin=stdin).decode()


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


# fs-verity


def fsverity(folder):
    blocks = {1024: 1024 // 32, 4096: 4096 // 32, 65536: 65536 // 32}
    for block, arity in blocks.items():
        sizes = {0, 1, block - 1, block, block + 1, 2 * block, arity * block - 1, arity * block, arity * block + 1,
                 (arity + 1) * block + 7}
        if block == 1024:
            sizes |= {arity * arity * block, arity * arity * block + 1, 3 * arity * arity * block + 5}
        files = [write(folder, f"{size}", noise.randbytes(size)) for size in sorted(sizes)]
        hole = folder / "hole"
        with open(hole, "wb") as file:
            file.truncate(5 * arity * block // 2)
            file.seek(arity * block)
            file.write(b"data")
        files.append(hole)
        for algorithm in ("sha256", "sha512"):
            for salt in ("", "00", noise.randbytes(31).hex(), noise.randbytes(32).hex()):
                options = ["--block-size", str(block)] + (["--salt", salt] if salt else [])
                theirs = run("fsverity", "digest", "--hash-alg", algorithm, *options, *files).decode()
                for threads in (1, 2):
                    ours = tree("fsverity", "--algorithm", algorithm, "--threads", threads, *options, *files)
                    equal(f"fsverity {algorithm} {block} {salt!r} {threads} threads", ours, theirs)
        for path in files[:8:3] + [hole]:
            ours, theirs = folder / "ours", folder / "theirs"
            for option in ("--out-merkle-tree", "--out-descriptor"):
                run("fsverity", "digest", "--block-size", str(block), f"{option}={theirs}", path)
                tree("fsverity", "--block-size", str(block), f"{option}={ours}", path)
                equal(f"fsverity {option} {block} {path.name}", ours.read_bytes(), theirs.read_bytes())
        for path in files:
            path.unlink()
    path = write(folder, "file", noise.randbytes(100_000))
    for options in (["--compact"], ["--for-builtin-sig"], ["--compact", "--for-builtin-sig"]):
        theirs = run("fsverity", "digest", *options, path).decode()
        equal(f"fsverity {options}", tree("fsverity", *options, path), theirs)
    piped = tree("fsverity", "--compact", "-", stdin=path.read_bytes())
    equal("fsverity from a pipe", piped, tree("fsverity", "--compact", path))
    if pathlib.Path("/proc/version").exists():  # a file without a length
        made_by_system = tree("fsverity", "--compact", "-", stdin=pathlib.Path("/proc/version").read_bytes())
        equal("fsverity of /proc/version", tree("fsverity", "--compact", "/proc/version"), made_by_system)
    print_all = tree("fsverity", folder / "missing", path, folder, status=2)
    equal("readable files are printed", print_all, tree("fsverity", path))
    for wrong in (["--block-size", "512"], ["--block-size", "5000"], ["--salt", "00" * 33], ["--salt", "0"],
                  ["--algorithm", "sha1"], ["--block-size", "128k"]):
        tree("fsverity", *wrong, path, status=2)


# dm-verity


def dmverity_options(block, hash_block, algorithm, kind, salt, offset, has_superblock):
    options = ["--data-block-size", str(block), "--hash-block-size", str(hash_block), "--hash", algorithm, "--format",
               str(kind), "--salt", salt, "--hash-offset", str(offset)]
    if has_superblock:
        return options + ["--uuid", "01234567-89ab-cdef-fedc-ba9876543210"]
    return options + ["--no-superblock"]


def dmverity(folder):
    cases = [(4096, 4096, "sha256", 1, "-", 0, True)]
    for kind in (0, 1):
        for algorithm in ("sha1", "sha256", "sha512"):
            cases.append((4096, 4096, algorithm, kind, noise.randbytes(32).hex(), 0, True))
            cases.append((512, 1024, algorithm, kind, noise.randbytes(7).hex(), 0, False))
        cases.append((1024, 512, "sha1", kind, noise.randbytes(256).hex(), 1536, True))
        cases.append((4096, 512, "sha512", kind, "-", 512, True))
        cases.append((512, 512, "sha384", kind, noise.randbytes(64).hex(), 512 * 3, False))
        cases.append((1024, 4096, "sha224", kind, "ff", 8192, False))
    ours, theirs = folder / "ours", folder / "theirs"
    for case in cases:
        block, hash_block = case[:2]
        arity = hash_block // {"sha1": 32, "sha224": 32, "sha256": 32, "sha384": 64, "sha512": 64}[case[2]]
        options = dmverity_options(*case)
        counts = {1, 2, arity - 1, arity, arity + 1, 3 * arity + 1}
        if arity <= 32:
            counts |= {arity * arity, arity * arity + 1}
        for count in sorted(counts - {0}):
            data = write(folder, "data", noise.randbytes(count * block))
            theirs.unlink(missing_ok=True)
            printed = run("veritysetup", "format", *options, data, theirs).decode()
            root = printed.partition("Root hash:")[2].split()[0]
            done = json.loads(tree("dmverity", "format", "--force", "--json", *options, data, ours))
            name = f"dmverity {case} {count} blocks"
            equal(f"{name}: root", done["root"], root)
            # The help of the command names the lines that only veritysetup prints.
            others = ("VERITY header information for", "Hash blocks:", "Hash device size:")
            lines = [line.split() for line in printed.splitlines() if not line.startswith(others)]
            ours_printed = tree("dmverity", "format", *options, data)
            equal(f"{name}: lines", [line.split() for line in ours_printed.splitlines()], lines)
            # The file of veritysetup ends with the last block written; with one block of data there is no tree.
            check(f"{name}: hash file", ours.read_bytes() == theirs.read_bytes(),
                  f"{ours.stat().st_size} {theirs.stat().st_size}")
            offset = ["--hash-offset", str(case[5])]
            known = options if not case[6] else offset
            tree("dmverity", "verify", *known, data, theirs, root)
            if count == arity + 1:
                run("veritysetup", "verify", *known, data, ours, root)
    data = write(folder, "data", noise.randbytes(10 * 4096 + 100))
    done = json.loads(tree("dmverity", "format", "--json", "--salt", "-", data))
    equal("dmverity: a partial last block is not covered", done["data_blocks"], 10)
    first = json.loads(tree("dmverity", "format", "--json", "--salt", "-", "--data-blocks", 3, data))
    data3 = write(folder, "data3", data.read_bytes()[: 3 * 4096])
    whole = json.loads(tree("dmverity", "format", "--json", "--salt", "-", data3))
    equal("dmverity: --data-blocks", first["root"], whole["root"])
    random_salts = {json.loads(tree("dmverity", "format", "--json", data))["salt"] for _ in range(2)}
    check("dmverity: a salt is 32 random bytes", len(random_salts) == 2 and all(len(s) == 64 for s in random_salts))
    tree("dmverity", "format", data, ours, status=2)
    tree("dmverity", "format", "--force", data, data, status=2)
    tree("dmverity", "format", "--data-blocks", 11, data, status=2)
    tree("dmverity", "format", "--hash-offset", 100, "--force", data, ours, status=2)
    tree("dmverity", "format", write(folder, "short", b"x" * 4095), status=2)
    tree("dmverity", "verify", data, data, "00" * 32, status=2)


def dmverity_untrusted(folder):
    """Only the root hash and the options can be trusted. Whatever the superblock says, nothing is right that
    veritysetup calls wrong, or that differs from the data that the root hash was made of."""
    hashes, other = folder / "hashes", folder / "other"
    for block, hash_block, algorithm, count in ((4096, 4096, "sha256", 300), (512, 512, "sha1", 70),
                                                (1024, 512, "sha512", 41)):
        name = f"dmverity {algorithm} {block}"
        content = noise.randbytes(count * block)
        data = write(folder, "data", content)
        hashes.unlink(missing_ok=True)
        options = ["--data-block-size", str(block), "--hash-block-size", str(hash_block), "--hash", algorithm]
        printed = run("veritysetup", "format", "--salt", "0102", *options, data, hashes).decode()
        root, right = printed.partition("Root hash:")[2].split()[0], hashes.read_bytes()
        changed = write(folder, "changed", content[:-1] + bytes([content[-1] ^ 1]))

        def status(data, *more):
            line = [PROGRAM, "tree", "dmverity", "verify", *more, data, other, root]
            return subprocess.run(line, capture_output=True).returncode

        def both(what, superblock):
            other.write_bytes(bytes(superblock) + right[512:])
            theirs = subprocess.run(["veritysetup", "verify", data, other, root], capture_output=True).returncode
            equal(f"{name}: {what}", status(data) == 0, theirs == 0)
            check(f"{name}: {what}: other data", status(changed) in (1, 2))
            return theirs == 0

        check(f"{name}: as it is", both("as it is", right[:512]))
        for at in (*range(92), *range(92, 512, 29)):
            superblock = bytearray(right[:512])
            superblock[at] ^= 0xFF
            both(f"byte {at} changed", superblock)
        lower = [(12, 4, range(1)), (64, 4, (512, 1024, 2048)), (68, 4, (512, 1024, 2048)), (80, 2, range(2))]
        for at, nbytes, numbers in lower:
            for number in numbers:
                both(f"{number} at byte {at}",
                     right[:at] + number.to_bytes(nbytes, "little") + right[at + nbytes:512])
        for number in sorted({1, 2, 3, count // 3, count // 2, 128, 129, count - 2, count - 1} - {count}):
            if number > count:
                continue
            check(f"{name}: {number} blocks", not both(f"{number} blocks",
                                                       right[:72] + number.to_bytes(8, "little") + right[80:512]))
            for what, replaced in (("zeros behind", content[:number * block].ljust(count * block, b"\0")),
                                   ("cut", content[:number * block])):
                check(f"{name}: {number} blocks, {what}", status(write(folder, "replaced", replaced)) in (1, 2))
            equal(f"{name}: {number} blocks, another number is known", status(data, "--data-blocks", str(count)), 2)
        # veritysetup takes 0 for all blocks there are.
        other.write_bytes(right[:72] + bytes(8) + right[80:])
        equal(f"{name}: 0 blocks", status(data), 2)
        for option, value in (("--data-blocks", count), ("--data-block-size", block), ("--salt", "0102"),
                              ("--hash-block-size", hash_block), ("--algorithm", algorithm), ("--hash-type", 1)):
            other.write_bytes(right)
            equal(f"{name}: {option} as in the superblock", status(data, option, str(value)), 0)
        for option, value in (("--data-blocks", count - 1), ("--data-block-size", 2048), ("--salt", "01"),
                              ("--hash-block-size", 1024), ("--algorithm", "sha384"), ("--hash-type", 0)):
            equal(f"{name}: {option} unlike the superblock", status(data, option, str(value)), 2)
        longer = write(folder, "longer", content + b"x" * (block + 1))
        found = json.loads(tree("dmverity", "verify", "--json", longer, hashes, root, status=1))
        equal(f"{name}: longer data", [found[key] for key in ("good", "covered_data_blocks", "covered_bytes",
              "uncovered_bytes", "bad_data_blocks")], [False, count, count * block, block + 1, 0])
        found = json.loads(tree("dmverity", "verify", "--json", "--data-blocks", count, longer, hashes, root))
        equal(f"{name}: longer data, on purpose", (found["good"], found["uncovered_bytes"]), (True, block + 1))
        # The hash blocks may follow the data in one file.
        image, end = write(folder, "image", content + bytes(-len(content) % 4096)), -(-len(content) // 4096) * 4096
        count = end // block
        printed = run("veritysetup", "format", *options, f"--hash-offset={end}", f"--data-blocks={count}", image, image)
        root = printed.decode().partition("Root hash:")[2].split()[0]
        said = tree("dmverity", "verify", "--hash-offset", end, image, image, root)
        equal(f"{name}: one file", said, f"all blocks are right: {count} blocks, {end} bytes of DATA\n")


# S3


def mib_sizes():
    mib = 1 << 20
    return [0, 1, mib - 1, mib, mib + 1, 2 * mib, 3 * mib, 5 * mib + 1, 16 * mib, 16 * mib + 1, 17 * mib, 33 * mib + 3]


def s3(folder):
    for size in mib_sizes():
        data = noise.randbytes(size)
        path = write(folder, "file", data)
        for algorithm in ("sha1", "sha256", "md5"):
            # An ETag is in hexadecimal.
            shown = bytes.hex if algorithm == "md5" else lambda digest: base64.b64encode(digest).decode()
            for part in (5 << 20, (5 << 20) + 1, 8 << 20):
                parts = [hashlib.new(algorithm, data[i:i + part]).digest() for i in range(0, max(size, 1), part)]
                whole = shown(hashlib.new(algorithm, b"".join(parts)).digest())
                expected = f"{whole}-{len(parts)}"
                options = ["--algorithm", algorithm, "--part-size", str(part)]
                equal(f"s3 {size} {options}", tree("s3", *options, path), f"{expected}  {path}\n")
    # The ETag that the tests of the library moto expect of these two parts.
    etag = write(folder, "etag", b"0" * (5 << 20) + b"1")
    expected = f"140f92a6df9f9e415f74a1463bcee9bb-2  {etag}\n"
    equal("s3 ETag of moto", tree("s3", "-a", "md5", "-p", "5MiB", etag), expected)
    # zlib has one of the three CRCs; hashloom-tree tests the others.
    crcs = [zlib.crc32(data[i:i + (8 << 20)]).to_bytes(4, "big") for i in range(0, len(data), 8 << 20)]
    composite = base64.b64encode(zlib.crc32(b"".join(crcs)).to_bytes(4, "big")).decode()
    equal("s3 CRC-32, composite", tree("s3", "-a", "crc32", path), f"{composite}-{len(crcs)}  {path}\n")
    hole = folder / "hole"
    with open(hole, "wb") as file:
        file.truncate(10_001 * (5 << 20))
    for wrong in (["--part-size", "5MiB"], ["--part-size", "4MiB"], ["--part-size", "6GiB"], ["--algorithm", "sha512"]):
        tree("s3", *wrong, hole, status=2)


# IPFS, Filecoin


def content(folder, what, nbytes):
    """Writes a content that vectors/ipfs/roots.txt describes."""
    kind, _, seed = what.partition(":")
    if kind in ("text", "quads"):
        quads = b"".join(bytes([byte]) * 127 for byte in range(4))
        return write(folder, "content",
                     (seed.replace("_", " ").encode() if kind == "text" else quads).ljust(nbytes, b"\0"))
    zeros, path = folder / "zeros", folder / "content"
    with open(zeros, "wb") as file:
        file.truncate(nbytes)
    if kind == "zeros":
        return zeros
    key = hashlib.sha256(seed.encode()).hexdigest()
    run("openssl", "enc", "-chacha20", "-K", key, "-iv", "0" * 32, "-in", zeros, "-out", path)
    return path


def ipfs(folder):
    for line in (ROOT / "vectors/ipfs/roots.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        kind, what, nbytes, root = line.split()
        is_small = int(nbytes) <= 1 << 26
        if not is_small and not EVERY:
            continue
        path = content(folder, what, int(nbytes))
        command = ["commp"] if kind.startswith("commp") else ["cid", "--profile", kind]
        if kind == "commp-v2":
            # The CID of version 1 has the same root, without the lengths.
            decoded = base64.b32decode(root[1:].upper() + "=" * (-len(root[1:]) % 8))
            root = b"\x01\x81\xe2\x03\x92\x20\x20" + decoded[-32:]
            root = "b" + base64.b32encode(root).decode().lower().rstrip("=")
        for threads in (1, 2) if is_small else (2,):
            equal(f"{line} {threads} threads", tree(*command, "--threads", threads, path).split()[0], root)
        if is_small:
            equal(f"{line} from a pipe", tree(*command, "-", stdin=path.read_bytes()).split()[0], root)


# RFC 6962


def proved(proof, status, name):
    """Checks a proof as if its values came from a trusted source, and then from nowhere else."""
    options = {"root": "--root", "root1": "--first-root", "leaf": "--leaf", "size": "--size", "size1": "--first-size"}
    known = [word for key, option in options.items() if key in proof for word in (option, str(proof[key]))]
    if "index" in proof and "start" in proof:
        known += ["--size", str(max(proof["end"] - proof["start"], 0))]
    for given, expected in ((known, status), ([], status or 2)):
        done = subprocess.run([PROGRAM, "tree", "rfc6962", "check", "-", *given], input=json.dumps(proof).encode(),
                              capture_output=True)
        equal(f"{name}: {(done.stdout + done.stderr).decode()}", done.returncode, expected)


def rfc6962(_):
    """Proofs that are none. Right ones are those of the vectors, and of the tests of hashloom-tree."""
    for wrong in (b"", b"{}", b"[]", b"nonsense", b'{"index": 1}',
                  b'{"index": -1, "size": 3, "leaf": "", "root": "", "proof": []}',
                  b'{"index": 1, "size": 3, "proof": ["zz"], "root": "00", "leaf": "00"}',
                  b"[" * 60_000, b" " * 70_000):
        tree("rfc6962", "check", "-", stdin=wrong, status=2)
    huge = {"index": 2**64 - 2, "size": 2**64 - 1, "leaf": "00" * 32, "root": "00" * 32, "proof": ["11" * 32] * 64}
    tree("rfc6962", "check", "-", stdin=json.dumps(huge).encode(), status=1)


def vectors(folder):
    """518 proofs, right and wrong."""
    def hexed(text):
        return base64.b64decode(text or "").hex()

    files = sorted(folder.rglob("*.json"))
    for path in files:
        case = json.loads(path.read_text())
        proof = {"proof": [hexed(node) for node in case["proof"] or []]}
        if "leafIdx" in case:
            proof |= {"index": case["leafIdx"], "leaf": hexed(case["leafHash"]), "root": hexed(case["root"])}
        else:
            proof |= {"root1": hexed(case["root1"]), "root": hexed(case["root2"])}
        for theirs, ours in (("treeSize", "size"), ("size1", "size1"), ("size2", "size"), ("size", "size"),
                             ("start", "start"), ("end", "end")):
            if theirs in case:
                proof[ours] = case[theirs]
        proved(proof, int(case["wantErr"]), path.relative_to(folder))
    equal("518 vectors", len(files), 518)


def huge(folder):
    """A file beyond 32 bits: a hole with some data."""
    path = folder / "huge"
    with open(path, "wb") as file:
        file.truncate((4 << 30) + 4097)
        for at in (0, (4 << 30) - 3, (4 << 30) + 4090):
            file.seek(at)
            file.write(b"data")
    equal("fsverity beyond 4 GiB", tree("fsverity", path), run("fsverity", "digest", path).decode())
    printed = run("veritysetup", "format", "--salt", "ab", path, folder / "theirs").decode()
    root = printed.partition("Root hash:")[2].split()[0]
    equal("dmverity beyond 4 GiB", json.loads(tree("dmverity", "format", "--json", "--salt", "ab", path))["root"], root)
    # The last byte is not a whole block, and no digest covers it.
    tree("dmverity", "verify", path, folder / "theirs", root, status=1)
    tree("dmverity", "verify", "--data-blocks", str((1 << 20) + 1), path, folder / "theirs", root)


def main():
    global PROGRAM, EVERY
    parser = checks.parser(__doc__)
    parser.add_argument("--all", action="store_true", help="also files of 1 GiB and more")
    parser.add_argument("--vectors", type=pathlib.Path, default=ROOT / "build" / "rfc6962")
    arguments = parser.parse_args()
    PROGRAM, checks.is_required, EVERY = arguments.hashloom.resolve(), arguments.require, arguments.all
    os.environ["PATH"] += os.pathsep + "/usr/sbin"
    checks.run_part(fsverity, ["fsverity"])
    checks.run_part(dmverity, ["veritysetup"])
    checks.run_part(dmverity_untrusted, ["veritysetup"])
    checks.run_part(s3)
    checks.run_part(ipfs, ["openssl"])
    checks.run_part(rfc6962)
    if arguments.all:
        checks.run_part(huge, ["fsverity", "veritysetup"])
    if arguments.vectors.is_dir():
        before = checks.passed
        vectors(arguments.vectors)
        print(f"vectors of RFC 6962: {checks.passed - before} passed")
    else:
        checks.skipped.append(f"vectors of RFC 6962: no folder {arguments.vectors}")
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
