# SPDX-License-Identifier: MIT OR Apache-2.0
"""hashloom in polars and DuckDB, beside hashlib and their own functions."""

import hashlib
import hmac

import pytest

import pyhashloom

VALUES = ["", None, "a@example.com", "é" * 70] * 700


def digest(value, name="sha256"):
    return None if value is None else hashlib.new(name, value.encode()).hexdigest()


def test_polars_expressions():
    pl = pytest.importorskip("polars", reason="SKIPPED: polars is not installed")
    import pyhashloom.polars  # noqa: F401

    frame = pl.DataFrame({"email": VALUES, "n": range(len(VALUES))})
    for name in "md5", "sha1", "sha256", "sha512":
        want = [digest(value, name) for value in VALUES]
        assert frame.select(getattr(pl.col("email").hashloom, name)())["email"].to_list() == want
        assert frame.select(pl.col("email").hashloom.digest(name))["email"].to_list() == want
    tags = frame.select(tag=pl.col("email").hashloom.digest("sha1", key=b"k", output="binary"))["tag"].to_list()
    assert tags == [None if v is None else hmac.digest(b"k", v.encode(), "sha1") for v in VALUES]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_polars_lazy_and_streaming(engine, tmp_path):
    pl = pytest.importorskip("polars", reason="SKIPPED: polars is not installed")
    import pyhashloom.polars  # noqa: F401

    pl.DataFrame({"email": VALUES, "n": range(len(VALUES))}).write_parquet(tmp_path / "t", row_group_size=100)
    query = pl.scan_parquet(tmp_path / "t").filter(pl.col("n") % 3 == 0)
    query = query.select(pl.col("email").hashloom.sha256(), both=pl.struct("email", "n").hashloom.sha256())
    got = query.collect(engine=engine)
    assert got["email"].to_list() == [digest(value) for value in VALUES[::3]]
    frame = pl.DataFrame({"email": VALUES, "n": range(len(VALUES))})[::3]
    assert got["both"].to_list() == pl.Series(pyhashloom.column("sha256", frame)).to_list()


def test_an_error_in_polars_names_the_cure():
    pl = pytest.importorskip("polars", reason="SKIPPED: polars is not installed")
    import pyhashloom.polars  # noqa: F401

    with pytest.raises(Exception, match="cast it"):
        pl.select(pl.lit(1.5).hashloom.sha256())


def test_duckdb_functions():
    duckdb = pytest.importorskip("duckdb", reason="SKIPPED: duckdb is not installed")
    import pyhashloom.duckdb

    connection = duckdb.connect()
    pyhashloom.duckdb.register(connection)
    pyhashloom.duckdb.register(connection, "tag_", key=b"k")
    connection.execute("create table t as select unnest($1) as email", [VALUES])
    rows = connection.sql("select email, hl_sha256(email), sha256(email), hl_sha1_blob(encode(email)), "
                          "tag_sha256(email) from t").fetchall()
    assert len(rows) == len(VALUES)
    for email, ours, theirs, blob, tag in rows:
        assert ours == theirs == digest(email)
        assert blob == digest(email, "sha1")
        assert tag == (email if email is None else hmac.digest(b"k", email.encode(), "sha256").hex())
