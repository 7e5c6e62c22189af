# SPDX-License-Identifier: MIT OR Apache-2.0
"""pyhashloom_store.spark on a cluster of two executors in processes of their own, beside Spark's own functions."""

import hashlib
import hmac
import os
import sys
from decimal import Decimal

import pytest

pytest.importorskip("pyspark", reason="SKIPPED: Spark: pyspark is not installed")
from pyspark.sql import SparkSession, functions  # noqa: E402

import pyarrow as pa  # noqa: E402

from rows_reference import Date, Duration, Instant, Map, Timestamp, encode  # noqa: E402

import pyhashloom  # noqa: E402
import pyhashloom_store.spark  # noqa: E402


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    yield session
    session.stop()


def test_digests_are_those_of_spark(spark):
    frame = spark.range(50_000, numPartitions=6).selectExpr(
        "id", "if(id % 7 = 3, null, concat('user', id, '@example.com')) as email"
    )
    got = pyhashloom_store.spark.with_digest(frame, "email", into="ours")
    got = pyhashloom_store.spark.with_digest(got, "email", name="sha1", output="binary", into="sha1")
    wrong = got.where(
        ~functions.col("ours").eqNullSafe(functions.sha2("email", 256))
        | ~functions.lower(functions.hex("sha1")).eqNullSafe(functions.sha1(functions.col("email").cast("binary")))
    )
    assert got.count() == 50_000
    assert wrong.count() == 0
    assert got.where("ours is null").count() == frame.where("email is null").count() > 0


def test_two_executors_take_part(spark):
    def parents(batches):
        import pyarrow

        for batch in batches:
            pids = pyarrow.array([os.getppid()] * len(batch), pyarrow.int64())
            yield pyarrow.RecordBatch.from_arrays([pids], names=["pid"])

    # Each executor has one parent of its Python workers.
    rows = spark.range(100_000, numPartitions=12).mapInArrow(parents, "pid long").distinct().collect()
    assert len({row.pid for row in rows}) == 2


def test_every_sha2_of_spark(spark):
    texts = [("",), ("a",), (None,), ("\u00e4\u6f22\U0001f600\0",), ("x" * 1000,)] * 20
    frame = spark.createDataFrame(texts, "text string").withColumn("bytes", functions.col("text").cast("binary"))
    right = functions.lit(True)
    for bits in (224, 256, 384, 512):
        for name in ("text", "bytes"):
            into = f"{name}_{bits}"
            frame = pyhashloom_store.spark.with_digest(frame, name, name=f"sha{bits}", into=into)
            right &= functions.col(into).eqNullSafe(functions.sha2(name, bits))
        frame = pyhashloom_store.spark.with_digest(frame, "text", name=f"sha{bits}", into=f"b{bits}", output="binary")
        hexed = functions.lower(functions.hex(f"b{bits}"))
        right &= hexed.eqNullSafe(functions.sha2("text", bits))
    assert frame.where(right).count() == 100


def test_rows_are_those_of_one_machine(spark):
    """Whole rows, of every type that has a digest, in the bytes of pyhashloom.column."""
    columns = {
        "name": pa.array(["a", None, "", "bc", "b"] * 40),
        "blob": pa.array([b"c", b"\0", None, b"", b"cc"] * 40, pa.binary()),
        "tiny": pa.array([1, -1, None, 0, 5] * 40, pa.int8()),
        "small": pa.array([1, -1, None, 0, 5] * 40, pa.int16()),
        "n": pa.array([1, -1, None, 0, 5] * 40, pa.int32()),
        "large": pa.array([1, -1, None, 0, 1 << 40] * 40, pa.int64()),
    }
    table = pa.table({"place": pa.array(range(200)), **columns})
    kinds = "place long, name string, blob binary, tiny byte, small short, n int, large long"
    rows = [tuple(row.values()) for row in table.to_pylist()]
    frame = spark.createDataFrame(rows, kinds).repartition(5)
    names = list(columns)
    cases = [
        ("sha256", names, {}),
        ("sha512", names[::-1], {"salt": b"s", "output": "binary"}),
        ("sha1", ["name", "n"], {"key": b"k"}),
        ("sha256", ["large"], {"key": b"k", "output": "binary"}),
    ]
    for i, (name, wanted, rest) in enumerate(cases):
        frame = pyhashloom_store.spark.with_digest(frame, *wanted, name=name, into=f"digest{i}", **rest)
    got = sorted(frame.collect(), key=lambda row: row.place)
    for i, (name, wanted, rest) in enumerate(cases):
        found = [row[f"digest{i}"] for row in got]
        here = pa.chunked_array(pyhashloom.column(name, *(columns[one] for one in wanted), **rest)).to_pylist()
        assert [bytes(one) if isinstance(one, bytearray) else one for one in found] == here
    # ("a", "bc") and ("ab", "c") are different rows.
    pairs = spark.createDataFrame([("a", "bc"), ("ab", "c")], "x string, y string")
    assert pyhashloom_store.spark.with_digest(pairs, "x", "y").select("digest").distinct().count() == 2


def test_several_columns_and_a_key(spark):
    frame = spark.createDataFrame([("a", 1), ("b", None), (None, 2)], "name string, n int")
    rows = pyhashloom_store.spark.with_digest(frame, "name", "n", key=b"k").collect()
    for row in rows:
        assert row.digest == hmac.digest(b"k", encode((row.name, row.n)), "sha256").hex()


def test_rows_of_every_type(spark):
    """The digests of vectors/rows, by the executors and of what the driver gets as Arrow."""
    frame = spark.sql(
        "select *, if(col1 = 1, struct(nullif(col1, 2), nullif(col6, 'b')), null) as pair from values "
        "(1, true, -1Y, 1.5D, cast(0.5 as float), 'a', X'00ff', 19.90BD, 3.00BD, date'2026-11-25', "
        "timestamp'1970-01-01 00:00:01Z', timestamp_ntz'1970-01-01 00:00:01', interval '1' second, array(1, null), "
        "map('b', 1, 'a', 2)), "
        "(2, null, null, null, null, null, null, null, null, null, null, null, null, null, null) as t"
    ).orderBy("col1")
    want = [
        (1, True, -1, 1.5, 0.5, "a", b"\x00\xff", Decimal("19.90"), 3, Date(20782), Instant(10**9), Timestamp(10**9),
         Duration(10**9), [1, None], Map((("a", 2), ("b", 1))), (1, "a")),
        (2, *[None] * 15),
    ]
    want = [hashlib.sha256(encode(row)).hexdigest() for row in want]
    assert pa.chunked_array(pyhashloom.column("sha256", frame.toArrow())).to_pylist() == want
    rows = pyhashloom_store.spark.with_digest(frame, *frame.columns).orderBy("col1").collect()
    assert [row.digest for row in rows] == want
    # A row of one column that has no digest of its own.
    one = pyhashloom_store.spark.with_digest(frame.selectExpr("struct(col4) as row"), "row").collect()
    assert {row.digest for row in one} == {hashlib.sha256(encode((value,))).hexdigest() for value in (1.5, None)}


def test_errors(spark):
    frame = spark.range(3)
    with pytest.raises(ValueError, match="no column 'x'"):
        pyhashloom_store.spark.with_digest(frame, "x")
    with pytest.raises(ValueError, match="exists already"):
        pyhashloom_store.spark.with_digest(frame, "id", into="id")
    with pytest.raises(ValueError, match="expected a column"):
        pyhashloom_store.spark.with_digest(frame)
    with pytest.raises(Exception, match="cast it"):
        pyhashloom_store.spark.with_digest(frame.selectExpr("id / 2.5 as x"), "x")
    for kind in "timestamp_ntz'2026-01-01'", "interval '1' second", "null", "parse_json('1')":
        with pytest.raises(TypeError, match="'x' is of .* (cast it|no digest alone)"):
            pyhashloom_store.spark.with_digest(frame.selectExpr(f"{kind} as x"), "x")
    with pytest.raises(TypeError, match="'x' is of variant"):
        pyhashloom_store.spark.with_digest(frame.selectExpr("parse_json('1') as x", "id"), "x", "id")
    with pytest.raises(ValueError, match="sha99"):
        pyhashloom_store.spark.with_digest(frame, "id", name="sha99")
