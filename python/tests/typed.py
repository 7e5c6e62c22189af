# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every call with its types, for type checkers: mypy --strict and pyright. Each line marked as an error must be one."""

import array
import hashlib
import pathlib
from collections.abc import AsyncIterator

import duckdb
import numpy
import numpy.typing
import polars
import pyhashloom_store

import pyhashloom
import pyhashloom.duckdb
import pyhashloom.manifest
import pyhashloom.polars
import pyhashloom.torrent
import pyhashloom.tree
from pyhashloom import slh_dsa


def uses() -> None:
    message: bytes = pyhashloom.sha256(b"abc", usedforsecurity=False).digest()
    text: str = pyhashloom.new("sha1", bytearray(b"abc")).hexdigest()
    h: pyhashloom.Hash = pyhashloom.md5(memoryview(message)).copy()
    h.update(array.array("B", [1]))
    numbers: int = h.digest_size + h.block_size
    listed: list[bytes] = pyhashloom.many("sha256", [b"a", bytearray(b"b")])
    hexed: list[str] = pyhashloom.many("sha256", iter([b"a"]), output="hex")
    joined: bytes = pyhashloom.rows("sha256", b"abcd", 2, output="joined")
    filled: numpy.typing.NDArray[numpy.uint8] = pyhashloom.rows("hash160", numpy.zeros((2, 33), "u1"), output="numpy")
    twice: bytes = pyhashloom.sha256d(b"a") + pyhashloom.hash160(b"b")
    free: pyhashloom.HashXOF = pyhashloom.shake_128(b"abc").copy()
    message += free.digest(100) + pyhashloom.sha3_256(b"abc").digest()
    listed += pyhashloom.many("shake_256", [b"a"], length=20)
    names: set[str] = pyhashloom.algorithms_available | pyhashloom.algorithms_guaranteed
    mac: pyhashloom.hmac.HMAC = pyhashloom.hmac.new(b"key", b"message", pyhashloom.sha256)
    mac.update(b"more")
    for file in pyhashloom.files("sha256", ["a", b"b", pathlib.Path("c")], threads=2, progress=print):
        told: str = file.path + file.hexdigest + repr(file.digest)
        error: pyhashloom.FileError | None = file.error
        print(told, error and (error.kind, error.offset, error.errno), file.nbytes)
    created: pyhashloom.torrent.Created = pyhashloom.torrent.create(
        pathlib.Path("a"), version="v1", trackers=["b", ["c"]]
    )
    print(created.content, created.info_hash_v1, created.info_hash_v2, created.nbytes_read)
    report: pyhashloom.torrent.Report = pyhashloom.torrent.verify(b"torrent", pathlib.Path("folder"), progress=print)
    print(report.is_complete, report.pieces.count("have"), [found.state for found in report.files], report.troubles)
    written: pyhashloom.manifest.Written = pyhashloom.manifest.write("folder", algorithms=["sha1"], exclude=["*.log"])
    kept: pyhashloom.manifest.ManifestReport = pyhashloom.manifest.check(written.content, pathlib.Path("folder"))
    signed = pyhashloom.manifest.check("manifest", "folder", trusted_key=pathlib.Path("minisign.pub"), signature=b"")
    signature: pyhashloom.manifest.Signature | None = signed.signature
    right: bool = pyhashloom.manifest.check_list(b"list", folder="folder", progress=print).is_right
    print(kept.is_same, [(found.status, found.path, found.error) for found in kept.differences], signature, right)
    tags: list[bytes] = pyhashloom.hmac.many(b"key", listed, hashlib.sha256, threads=0)
    for output in "bytes", "hex":
        any_form: list[bytes] | list[str] | bytes | numpy.typing.NDArray[numpy.uint8]
        any_form = pyhashloom.many("sha1", listed, output=output, threads=2)
        any_form = pyhashloom.rows("sha1", b"ab", 1, output=output)
        any_form = pyhashloom.hmac.many(b"key", listed, "sha1", output=output)
        print(any_form, pyhashloom.__version__)
    column: pyhashloom.Column = pyhashloom.column("sha256", polars.Series(["a"]), output="binary", key=b"k", threads=1)
    series: polars.Series = polars.Series(column)
    values: list[str | bytes | None] = column[1:].to_pylist() + [column[0]] + list(column)
    series = pyhashloom.polars.SeriesDigests(series).digest("sha256", output="binary")
    print(values, column.name, column.output, column.to_polars(), column.to_pandas(), numpy.asarray(column))
    print(column[column != column[::1]], column == "a", column.equals(column), column.to_list(), column.to_numpy())
    pyhashloom.column("sha256", polars.LazyFrame({"a": [1]}), field="a").to_arrow()
    frame = polars.DataFrame({"a": [1]})
    typed: pyhashloom.Column = pyhashloom.column("sha256", frame, schema={"a": "int8"})
    typed = pyhashloom.column("sha256", frame.lazy(), schema=frame)
    typed = pyhashloom.column("sha256", frame, schema=frame.schema)
    found: pyhashloom.TableDiff = pyhashloom.diff("a.parquet", pathlib.Path("b"), key=["a"], schema=frame.lazy())
    found = pyhashloom.diff(frame, iter([frame]), key="a")
    rows: bytes = pyhashloom.table_digest("sha256", frame.lazy(), key=bytearray(b"k"), threads=1)
    print(typed, found.equal, found.added, found.removed, found.changed, found.unchanged, found.repeated, rows)
    series = pyhashloom.polars.FrameDigests(frame).sha3_256(key=b"k", output="binary")
    reader: pyhashloom.ColumnReader = pyhashloom.column("sha256", polars.Series(["a"]), stream=True)
    pyhashloom.duckdb.register(duckdb.connect(), "tag_", key=b"k")
    expression: polars.Expr = pyhashloom.polars.Digests(polars.col("a")).sha256()
    derived: list[bytes] = pyhashloom.pbkdf2_hmac_many("sha256", [bytearray(b"b")], iter(listed), 1000, 32, threads=2)
    derived.append(pyhashloom.pbkdf2_hmac("sha256", memoryview(b"a"), b"salt", 1000, dklen=None))
    signing: slh_dsa.SigningKey = slh_dsa.SigningKey.from_seeds("SLH-DSA-SHA2-128f", bytearray(48), threads=0)
    by_hashes: list[bytes] = signing.sign_many(iter(listed), context=b"c", prehash=None, deterministic=True, threads=2)
    by_hashes.append(signing.sign_internal(signing.sign(b"m", prehash="sha256", context=memoryview(b"c")), listed[0]))
    public = slh_dsa.VerifyingKey.from_pem(signing.verifying_key.to_pem())
    valid: list[bool] = public.verify_many(iter(listed), by_hashes) + slh_dsa.verify_many({public}, listed, by_hashes)
    valid += [public.verify(b"m", by_hashes[0], context=b"c"), public == slh_dsa.VerifyingKey.from_der(public.to_der())]
    again = slh_dsa.SigningKey.from_bytes("SLH-DSA-SHA2-128s", slh_dsa.SigningKey.from_der(signing.to_der()).to_bytes())
    names |= set(slh_dsa.parameter_sets)
    root: bytes | None = pyhashloom.tree.bep52(pathlib.Path("a"), threads=1, progress=print)
    shown: str = str(pyhashloom.tree.s3("a", name="md5", part_nbytes=5 << 20))
    shown += str(pyhashloom.tree.s3(b"a", name="crc32c", part_nbytes=None))
    sealed: pyhashloom.tree.Sealed = pyhashloom.tree.fsverity(
        bytearray(b"a"), name="sha512", block_nbytes=1024, salt=b"s"
    )
    print(derived, root, shown, sealed.digest)
    pyhashloom.update_many([h, pyhashloom.md5()], (b"a", bytearray(b"b")))
    objects: list[tuple[str, str | None, str]] = [
        (one.hexdigest, one.source, one.version)
        for one in pyhashloom_store.sums(["sha256", "md5"], "s3://bucket", journal="a", storage_options={"anon": True})
    ]
    made_of: pyhashloom.manifest.Written = pyhashloom_store.write_manifest("s3://bucket", algorithms=["sha1"])
    checked: pyhashloom_store.StoreReport = pyhashloom_store.check_manifest(made_of.content, "s3://bucket")
    print(objects, checked.vouched, pyhashloom_store.check_upload("a", "s3://bucket/a").is_same)
    same: bool = pyhashloom.hmac.compare_digest(tags[0], pyhashloom.hmac.digest(b"key", b"", "sha1"))
    print(again.parameter_set, valid, again.verifying_key)
    print(text, numbers, free.hexdigest(length=10))
    print(hexed, joined, filled, twice, names, same, mac.copy().name, h.name, series, expression, len(next(reader)))


async def uses_async(bodies: list[AsyncIterator[bytes]]) -> list[str]:
    return [one.hexdigest async for one in pyhashloom.streams_async("sha256", bodies, at_once=10)]


def errors() -> None:
    pyhashloom.update_many([b"a"], [b"b"])  # type: ignore[list-item] # pyright: ignore[reportArgumentType]
    pyhashloom.sha256("text")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    pyhashloom.hmac.new("key", b"", "sha256")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    pyhashloom.shake_256(b"abc").digest()  # type: ignore[call-arg] # pyright: ignore
    pyhashloom.many("sha256", [b""], output=b"hex")  # type: ignore[call-overload] # pyright: ignore
    pyhashloom.files("sha256", [5])  # type: ignore[list-item] # pyright: ignore
    pyhashloom.column("sha256", [b"a"])  # type: ignore[arg-type] # pyright: ignore
    pyhashloom.diff(5, "a")  # type: ignore[arg-type] # pyright: ignore
    pyhashloom.polars.Digests(polars.col("a")).md5(keys=b"k")  # type: ignore[call-arg] # pyright: ignore
    pyhashloom.pbkdf2_hmac("sha256", "password", b"", 1)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    key = slh_dsa.SigningKey.generate(128)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    key.verifying_key.sign(b"m")  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
    pyhashloom.tree.bep52(5)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    pyhashloom.hmac.compare_digest("a", b"a")  # type: ignore[call-overload] # pyright: ignore
