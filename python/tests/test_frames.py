# SPDX-License-Identifier: MIT OR Apache-2.0
"""hashloom in pandas, polars, pyarrow and DuckDB, beside hashlib and their own functions: what a user writes first."""

import hashlib
import hmac

import numpy
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


def test_a_column_in_python():
    pa = pytest.importorskip("pyarrow", reason="SKIPPED: pyarrow is not installed")
    values = pa.chunked_array([VALUES[:5], [], VALUES[5:]])
    for output in "hex", "binary":
        column = pyhashloom.column("sha1", values, output=output)
        want = [None if value is None else hashlib.sha1(value.encode()).digest() for value in VALUES]
        want = [value.hex() if value is not None and output == "hex" else value for value in want]
        assert (len(column), column.null_count, column.output, column.name) == (2800, 700, output, "")
        assert column.to_pylist() == list(column) == want
        assert [column[i] for i in (0, 3, 5, -1, -2800)] == [want[i] for i in (0, 3, 5, -1, -2800)]
        for part in slice(3, 9), slice(None), slice(2799, 5000), slice(7, 7), slice(-3, None):
            assert column[part].to_pylist() == want[part]
            assert pa.chunked_array(column[part]).to_pylist() == want[part]
        for wrong in 2800, -2801:
            with pytest.raises(IndexError, match="2800 rows"):
                column[wrong]
        with pytest.raises(ValueError, match="step"):
            column[::2]
        array = numpy.asarray(column)
        assert array.dtype == object and array.tolist() == want
        assert numpy.array(column, copy=True).tolist() == want
        with pytest.raises(ValueError, match="copy=False"):
            numpy.array(column, copy=False)
        assert pa.array(column).to_pylist() == want
        assert pa.table({"h": column, "v": values})["h"].to_pylist() == want
        html = column._repr_html_()
        shown = [value if value is None or output == "hex" else value.hex() for value in want[:10]]
        assert html.count("<tr><td>") == 11 and all((value or "null") in html for value in shown)
    named = pa.RecordBatch.from_arrays([pa.array(["a"])], names=["<b>"])
    assert "<b>" not in pyhashloom.column("sha1", named)._repr_html_()


@pytest.mark.parametrize("dtype", ["object", "str", "string", "pyarrow"])
def test_pandas(dtype):
    pd = pytest.importorskip("pandas", reason="SKIPPED: pandas is not installed")
    pa = pytest.importorskip("pyarrow", reason="SKIPPED: pyarrow is not installed")
    import pyhashloom.pandas  # noqa: F401

    dtype = pd.ArrowDtype(pa.string()) if dtype == "pyarrow" else dtype
    frame = pd.DataFrame({"email": pd.Series(VALUES, dtype=dtype), "n": range(len(VALUES))})
    want = [digest(value) for value in VALUES]

    def listed(series):
        return [None if pd.isna(value) else value for value in series]

    frame["h"] = pyhashloom.column("sha256", frame["email"])
    assert listed(frame["h"]) == want
    assert listed(frame.assign(k=pyhashloom.column("sha256", frame["email"]))["k"]) == want
    assert listed(pd.Series(pyhashloom.column("sha256", frame["email"]))) == want
    assert listed(pyhashloom.column("sha256", frame["email"]).to_pandas()) == want
    frame["a"] = frame["email"].hashloom.sha256()
    assert listed(frame["a"]) == want
    # Rows chosen: the digests stay with their rows, and the index is not hashed.
    some = frame[frame["n"] % 3 == 1]
    series = some["email"].hashloom.sha256()
    assert series.name == "email" and series.index.equals(some.index) and listed(series) == want[1::3]
    assert series.dtype == some["email"].dtype or dtype == "object"
    frame.loc[some.index, "b"] = series
    assert listed(frame["b"]) == [w if i % 3 == 1 else None for i, w in enumerate(want)]
    raw = some["email"].hashloom.digest("sha256", output="binary")
    assert listed(raw) == [None if w is None else bytes.fromhex(w) for w in want[1::3]]


def test_the_index_of_pandas_is_hashed_if_wanted():
    pd = pytest.importorskip("pandas", reason="SKIPPED: pandas is not installed")
    pa = pytest.importorskip("pyarrow", reason="SKIPPED: pyarrow is not installed")
    import pyhashloom.pandas  # noqa: F401

    frame = pd.DataFrame({"x": range(6), "s": list("abcdef")})
    some = frame[frame.x > 2]
    plain = pa.table({"x": [3, 4, 5], "s": ["d", "e", "f"]})
    with_index = plain.append_column("i", pa.array([3, 4, 5]))
    of = lambda *columns, **keywords: pyhashloom.column("sha256", *columns, **keywords).to_pylist()  # noqa: E731
    assert of(some) == of(plain) == some.hashloom.sha256().to_list()
    assert of(some, index=True) == of(with_index)
    assert of(some["s"]) == [digest(value) for value in "def"]
    assert of(some["s"], index=True) == of(plain["s"], with_index["i"])
    assert of(some.set_index("s").index) == [digest(value) for value in "def"]
    assert some.hashloom.sha256().index.tolist() == [3, 4, 5]
    with pytest.raises(ValueError, match="no column is of pandas"):
        of(plain, index=True)
    for named in some.set_index("s"), some.set_index(["x", "s"]), frame.iloc[:0]:
        assert len(of(named)) == len(named) if len(named.columns) else True


def test_namespaces_of_polars():
    pl = pytest.importorskip("polars", reason="SKIPPED: polars is not installed")
    import pyhashloom.polars  # noqa: F401

    frame = pl.DataFrame({"email": VALUES, "n": range(len(VALUES))})
    want = [digest(value) for value in VALUES]
    series = frame["email"].hashloom.sha256()
    assert (series.name, series.to_list()) == ("email", want)
    assert frame.with_columns(h=pyhashloom.column("sha256", frame["email"]).to_polars())["h"].to_list() == want
    assert pl.DataFrame({"h": pyhashloom.column("sha256", frame["email"])})["h"].to_list() == want
    categories = frame["email"].cast(pl.Categorical)
    assert pl.Series(pyhashloom.column("sha256", categories)).to_list() == want
    rows = frame.hashloom.digest("sha256", output="binary")
    assert rows.to_list() == pyhashloom.column("sha256", frame, output="binary").to_pylist()
