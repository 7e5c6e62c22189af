# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every call with its types, for type checkers: mypy --strict and pyright. Each line marked as an error must be one."""

import array
import pathlib

import duckdb
import numpy
import numpy.typing
import polars

import hashloom
import hashloom.duckdb
import hashloom.manifest
import hashloom.polars
import hashloom.torrent
import hashloom.tree


def uses() -> None:
    message: bytes = hashloom.sha256(b"abc", usedforsecurity=False).digest()
    text: str = hashloom.new("sha1", bytearray(b"abc")).hexdigest()
    h: hashloom.Hash = hashloom.md5(memoryview(message)).copy()
    h.update(array.array("B", [1]))
    numbers: int = h.digest_size + h.block_size
    listed: list[bytes] = hashloom.many("sha256", [b"a", bytearray(b"b")])
    hexed: list[str] = hashloom.many("sha256", iter([b"a"]), output="hex")
    joined: bytes = hashloom.rows("sha256", b"abcd", 2, output="joined")
    filled: numpy.typing.NDArray[numpy.uint8] = hashloom.rows("hash160", numpy.zeros((2, 33), "u1"), output="numpy")
    twice: bytes = hashloom.sha256d(b"a") + hashloom.hash160(b"b")
    names: set[str] = hashloom.algorithms_available | hashloom.algorithms_guaranteed
    mac: hashloom.hmac.HMAC = hashloom.hmac.new(b"key", b"message", hashloom.sha256)
    mac.update(b"more")
    for file in hashloom.files("sha256", ["a", b"b", pathlib.Path("c")], threads=2, progress=print):
        told: str = file.path + file.hexdigest + repr(file.digest)
        error: hashloom.FileError | None = file.error
        print(told, error and (error.kind, error.offset, error.errno), file.nbytes)
    created: hashloom.torrent.Created = hashloom.torrent.create(pathlib.Path("a"), version="v1", trackers=["b", ["c"]])
    print(created.content, created.info_hash_v1, created.info_hash_v2, created.nbytes_read)
    report: hashloom.torrent.Report = hashloom.torrent.verify(b"torrent", pathlib.Path("folder"), progress=print)
    print(report.is_complete, report.pieces.count("have"), [found.state for found in report.files], report.troubles)
    written: hashloom.manifest.Written = hashloom.manifest.write("folder", algorithms=["sha1"], exclude=["*.log"])
    kept: hashloom.manifest.ManifestReport = hashloom.manifest.check(written.content, pathlib.Path("folder"))
    right: bool = hashloom.manifest.check_list(b"list", folder="folder", progress=print).is_right
    print(kept.is_same, [(found.status, found.path, found.error) for found in kept.differences], kept.counts, right)
    tags: list[bytes] = hashloom.hmac.many(b"key", listed, "sha256")
    column: hashloom.Column = hashloom.column("sha256", polars.Series(["a"]), output="binary", key=b"k", threads=1)
    series: polars.Series = polars.Series(column)
    hashloom.duckdb.register(duckdb.connect(), "tag_", key=b"k")
    expression: polars.Expr = hashloom.polars.Digests(polars.col("a")).sha256()
    derived: list[bytes] = hashloom.pbkdf2_hmac_many("sha256", [bytearray(b"b")], iter(listed), 1000, 32, threads=2)
    derived.append(hashloom.pbkdf2_hmac("sha256", memoryview(b"a"), b"salt", 1000, dklen=None))
    root: bytes | None = hashloom.tree.bep52(pathlib.Path("a"), threads=1, progress=print)
    shown: str = str(hashloom.tree.s3("a", name="md5", part_nbytes=5 << 20)) + hashloom.tree.glacier(b"a").hex()
    sealed: hashloom.tree.Sealed = hashloom.tree.fsverity(bytearray(b"a"), name="sha512", block_nbytes=1024, salt=b"s")
    made: hashloom.tree.Inclusion = hashloom.tree.prove_inclusion(listed, 0)
    hashloom.tree.check_inclusion(hashloom.tree.log_leaf(b"a"), made.index, made.size, made.proof, made.root)
    between: hashloom.tree.Consistency = hashloom.tree.prove_consistency(iter(listed), 1, name="sha1")
    hashloom.tree.check_consistency(between.size1, between.root1, between.size, between.root, iter(between.proof))
    print(derived, root, shown, sealed.digest, hashloom.tree.log_root(listed).size)
    same: bool = hashloom.hmac.compare_digest(tags[0], hashloom.hmac.digest(b"key", b"", "sha1"))
    print(text, numbers, hexed, joined, filled, twice, names, same, mac.copy().name, h.name, series, expression)


def errors() -> None:
    hashloom.sha256("text")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    hashloom.hmac.new("key", b"", "sha256")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    hashloom.many("sha256", [b""], output="text")  # type: ignore[call-overload] # pyright: ignore
    hashloom.files("sha256", [5])  # type: ignore[list-item] # pyright: ignore
    hashloom.column("sha256", [b"a"])  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    hashloom.pbkdf2_hmac("sha256", "password", b"", 1)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    hashloom.tree.bep52(5)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    hashloom.hmac.compare_digest("a", b"a")  # type: ignore[call-overload] # pyright: ignore
