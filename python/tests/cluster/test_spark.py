# SPDX-License-Identifier: MIT OR Apache-2.0
"""hashloom.spark on a cluster of two executors in processes of their own, beside Spark's own functions."""

import hmac
import os
import sys

import pytest

pytest.importorskip("pyspark", reason="SKIPPED: Spark: pyspark is not installed")
from pyspark.sql import SparkSession, functions  # noqa: E402

import hashloom.spark  # noqa: E402


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
    got = hashloom.spark.with_digest(frame, "email", into="ours")
    got = hashloom.spark.with_digest(got, "email", name="sha1", output="binary", into="sha1")
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


def test_several_columns_and_a_key(spark):
    frame = spark.createDataFrame([("a", 1), ("b", None), (None, 2)], "name string, n int")
    rows = hashloom.spark.with_digest(frame, "name", "n", key=b"k").collect()
    for row in rows:
        message = b"".join(
            b"\0" if value is None else b"\1" + len(value).to_bytes(8, "little") + value
            for value in (row.name and row.name.encode(), row.n if row.n is None else row.n.to_bytes(4, "little"))
        )
        assert row.digest == hmac.digest(b"k", message, "sha256").hex()


def test_errors(spark):
    frame = spark.range(3)
    with pytest.raises(ValueError, match="no column 'x'"):
        hashloom.spark.with_digest(frame, "x")
    with pytest.raises(ValueError, match="exists already"):
        hashloom.spark.with_digest(frame, "id", into="id")
    with pytest.raises(ValueError, match="expected a column"):
        hashloom.spark.with_digest(frame)
    with pytest.raises(Exception, match="cast it"):
        hashloom.spark.with_digest(frame.selectExpr("id / 2.5 as x"), "x").collect()
