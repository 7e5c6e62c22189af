# SPDX-License-Identifier: MIT OR Apache-2.0
"""hashloom in pandas, polars, pyarrow and DuckDB, beside hashlib and their own functions: what a user writes first."""

import hashlib
import hmac
import ipaddress
import pathlib
import pickle
import uuid

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
    pa = pytest.importorskip("pyarrow", reason="SKIPPED: pyarrow is not installed")
    import pyhashloom.duckdb

    connection = duckdb.connect()
    pyhashloom.duckdb.register(connection)
    for key in b"another", b"k":
        pyhashloom.duckdb.register(connection, "tag_", key=key)
    with pytest.raises(ValueError, match="key is empty"):
        pyhashloom.duckdb.register(connection, key=b"")
    connection.execute("create table t as select unnest($1) as email", [VALUES])
    rows = connection.sql("select email, hl_sha256(email), sha256(email), hl_sha1(encode(email)), "
                          "tag_sha256(email) from t").fetchall()
    assert len(rows) == len(VALUES)
    for email, ours, theirs, blob, tag in rows:
        assert ours == theirs == digest(email)
        assert blob == digest(email, "sha1")
        assert tag == (email if email is None else hmac.digest(b"k", email.encode(), "sha256").hex())
    assert connection.sql("select hl_sha1('\\xAA'::blob), hl_sha1(NULL)").fetchall() == [
        (hashlib.sha1(b"\xaa").hexdigest(), None)]
    table = pa.table({"n": pa.array([42, None], pa.int8()), "email": [None, "a"]})
    want = [*zip(pyhashloom.column("sha256", table), pyhashloom.column("sha256", table["n"]))]
    connection.register("two", table)
    for row in "two", "n, email", "struct_pack(n, email)":
        assert connection.sql(f"select hl_sha256({row}), hl_sha256(n) from two").fetchall() == want
    for wrong in "1.5", "true", "date '2026-01-01'":
        with pytest.raises(Exception, match="cannot be hashed alone"):
            connection.sql(f"select hl_sha256({wrong})").fetchall()


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
    assert frame.lazy().hashloom.sha256().collect()["sha256"].to_list() == frame.hashloom.sha256().to_list()
    tags = [None if v is None else hmac.digest(b"k", v.encode(), "sha3_256").hex() for v in VALUES]
    assert frame["email"].hashloom.sha3_256(key=b"k").to_list() == tags
    assert frame.select(pl.col("email").hashloom.sha3_256(key=b"k"))["email"].to_list() == tags
    assert pyhashloom.column("sha3_256", frame["email"].to_pandas(), key=b"k").to_list() == tags
    # A lazy frame is not collected whole, if polars can.
    with pytest.MonkeyPatch.context() as patch:
        if pl.__version__ >= "2.1":
            patch.setattr(pl.LazyFrame, "collect", None)
        assert pyhashloom.column("sha256", frame.lazy()).to_list() == frame.hashloom.sha256().to_list()
        assert pyhashloom.column("sha256", frame.lazy(), field="email").to_list() == want
    rows = frame.hashloom.digest("sha256", output="binary")
    assert rows.to_list() == pyhashloom.column("sha256", frame, output="binary").to_pylist()


def test_columns_compare_as_arrays_of_numpy():
    pa = pytest.importorskip("pyarrow", reason="SKIPPED: pyarrow is not installed")
    values = [None if value is None else f"{value}{i}" for i, value in enumerate(VALUES)]
    others = [f"{value}!" if i % 5 == 0 else value for i, value in enumerate(values)]
    others[3], others[1] = None, "x"
    of = lambda values, **keywords: pyhashloom.column("sha256", pa.chunked_array(values), **keywords)  # noqa: E731
    for output in "hex", "binary":
        one, other = of([values], output=output), of([others[:7], others[7:]], output=output)
        want = [a == b for a, b in zip(one.to_list(), other.to_list())]
        assert 0 < sum(want) < len(want)
        for theirs in other, other.to_list(), other.to_numpy(), other.to_arrow():
            assert (one == theirs).dtype == bool and (one == theirs).tolist() == want
            assert (one != theirs).tolist() == [not equal for equal in want]
        assert (other.to_numpy() == one).tolist() == want
        assert (one == one[0]).tolist() == [True] + [False] * (len(one) - 1)
        assert (one == None).tolist() == [value is None for value in values]  # noqa: E711
        assert one[one != other].tolist() == [value for value, equal in zip(one, want) if not equal]
        assert one[[0, -1]].tolist() == [one[0], one[-1]]
        assert one.equals(of([values[:1], values[1:]], output=output)) and not one.equals(other) and not one.equals(1)
        for column in one, one[5:9], one[:0], other[1:]:
            again = pickle.loads(pickle.dumps(column))
            assert again.equals(column) and again.to_arrow().equals(column.to_arrow())
            assert (again.output, again.name, again.null_count) == (column.output, column.name, column.null_count)
    for wrong in one[1:], one.to_list()[1:], one[:1], []:
        with pytest.raises(ValueError, match="2800 digests"):
            one == wrong
    for wrong in of([values]), "ab":
        with pytest.raises(TypeError, match="binary"):
            one != wrong
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
    three, two, huge = (3, None, b"12"), (2, b"\1", b"1234"), (1 << 62, None, b"")
    damaged = [(None, three), (2, three), (-1, three), (2, two), (None, two), (4, huge), (None, (1, None, b"\xff"))]
    for nbytes, array in damaged:
        with pytest.raises(ValueError, match="damaged"):
            pyhashloom.Column._of("", nbytes, [array], None)


def test_digests_in_pandas_stay_with_their_rows():
    pd = pytest.importorskip("pandas", reason="SKIPPED: pandas is not installed")
    pa = pytest.importorskip("pyarrow", reason="SKIPPED: pyarrow is not installed")
    frame = pd.DataFrame({"email": list("cabdab"), "n": range(6)})
    for some in frame.sort_values("email"), frame[frame.n > 2], frame.set_index("n")[::-1], frame.iloc[[1, 1, 0]]:
        some = some.copy()
        want = [digest(value) for value in some["email"]]
        column = pyhashloom.column("sha256", some["email"])
        assert column.to_pandas().index.equals(some.index)
        some["h"] = column.to_pandas()
        some["k"] = column
        some["l"] = pickle.loads(pickle.dumps(column)).to_pandas()
        assert some["h"].to_list() == some["k"].to_list() == some["l"].to_list() == want
        assert column[1:].to_pandas().to_dict() == some["h"][1:].to_dict()
        parts = pyhashloom.column("sha256", some, field="email", stream=True)
        assert [[*part.to_pandas().items()] for part in parts] == [[*some["h"].items()]]
        assert (some["h"] == column).all() and (column == some["h"]).all() and not (column != some["h"]).any()
        assert len(some[column != some["h"]]) == 0
        assert pyhashloom.column("sha256", some["email"], some["email"]).to_pandas().index.equals(some.index)
        assert pyhashloom.column("sha256", some.set_index("email").index).to_pandas().to_list() == want
    for dtype in "object", "str", "string", pd.ArrowDtype(pa.string()):
        column = pyhashloom.column("sha256", pd.Series(["a", None, "b"], dtype=dtype))
        series = pd.Series([digest("a"), None, "x"], dtype=dtype)
        assert (column == series).tolist() == (series == column).tolist() == [True, True, False]
    with pytest.raises(ValueError, match="different indexes"):
        pyhashloom.column("sha256", frame["email"], frame["email"].sort_values())


def test_objects_have_no_digests():
    pl = pytest.importorskip("polars", reason="SKIPPED: polars is not installed")
    pd = pytest.importorskip("pandas", reason="SKIPPED: pandas is not installed")
    pa = pytest.importorskip("pyarrow", reason="SKIPPED: pyarrow is not installed")
    import pyhashloom.polars

    ids = [uuid.UUID(int=5), None, uuid.UUID(int=6)]
    objects = pl.DataFrame({"x": [1, 2, 3], "id": pl.Series(ids, dtype=pl.Object)})
    for argument in objects["id"], objects, objects.lazy():
        for stream in False, True:
            with pytest.raises(TypeError, match=r"column 'id'.*pl.col\('id'\).map_elements\(str"):
                pyhashloom.column("sha256", argument, stream=stream)
    for refused in (lambda: objects["id"].hashloom.sha256(), lambda: objects.hashloom.sha256(),
                    lambda: objects.select(pl.col("id").hashloom.sha256()),
                    lambda: objects.lazy().select(pl.col("id").hashloom.sha256()).collect(engine="streaming")):
        with pytest.raises(Exception, match="map_elements"):
            refused()
    assert len(pyhashloom.column("sha256", objects, field="x")) == 3
    cast = objects.select(pl.col("id").map_elements(lambda value: value.bytes, return_dtype=pl.Binary))
    want = [value and hashlib.sha256(value.bytes).hexdigest() for value in ids]
    assert pyhashloom.column("sha256", cast["id"]).to_list() == want
    assert pyhashloom.column("sha256", pd.Series(ids)).to_list() == want
    for values in [None, {"a", "b"}], [None, [{"a"}]], [{"y": frozenset("ab")}, {"y": {"a"}}]:
        with pytest.raises(TypeError, match="'s'.*no order|frozenset"):
            pyhashloom.column("sha256", pd.DataFrame({"s": pd.Series(values, dtype=object)}))
    for value in pathlib.PurePath("a"), ipaddress.ip_address("1.1.1.1"), 1j, object():
        with pytest.raises(TypeError, match="column 's'.*cast it"):
            pyhashloom.column("sha256", pd.DataFrame({"s": pd.Series([value], dtype=object)}))
    with pytest.raises(TypeError, match="'s'.*no order"):
        pyhashloom.column("sha256", pd.Series([{"a"}], name="s"))
    assert len(pyhashloom.column("sha256", pd.DataFrame({"s": [None, [1]], "d": [{"y": [1]}, {"y": []}]}))) == 2
    periods = pd.Series(pd.period_range("2020-01", periods=2, freq="M"), name="p")
    intervals = pd.Series(pd.interval_range(0, 2), name="p")
    for series in periods, intervals, intervals.astype("category"):
        nested = pa.StructArray.from_arrays([pa.array(series)], ["p"])
        for argument in series, series.to_frame(), pa.table({"q": nested}):
            with pytest.raises(TypeError, match='column "(p|q.p|)": an? (period|interval).s bytes'):
                pyhashloom.column("sha256", argument)
    array = numpy.array([[ids[0]]], dtype=object)
    for of in (lambda: pyhashloom.sha256(array), lambda: pyhashloom.sha256(memoryview(array)),
               lambda: pyhashloom.many("sha256", array), lambda: pyhashloom.rows("sha256", array),
               lambda: pyhashloom.hmac.digest(b"k", array, "sha256")):
        with pytest.raises(TypeError, match="Python objects"):
            of()
    named = numpy.zeros(2, dtype=[("O", "<i4"), ("b", "u1")])
    assert pyhashloom.sha256(named).digest() == hashlib.sha256(named.tobytes()).digest()


def test_what_a_column_takes_and_refuses():
    pl = pytest.importorskip("polars", reason="SKIPPED: polars is not installed")
    pa = pytest.importorskip("pyarrow", reason="SKIPPED: pyarrow is not installed")
    pd = pytest.importorskip("pandas", reason="SKIPPED: pandas is not installed")
    import pyarrow.dataset

    import pyhashloom.pandas
    import pyhashloom.polars

    table = pa.table({"email": ["a", None, "b"], "n": [1, 2, 3]})
    batches = table.to_batches(max_chunksize=2)
    rows, emails = pyhashloom.column("sha256", table), [digest(value) for value in ["a", None, "b"]]
    makers = [lambda: pyarrow.dataset.dataset(table), lambda: pyarrow.dataset.dataset(table).scanner(), lambda: batches,
              lambda: iter(batches), lambda: (batch for batch in batches),
              lambda: [table[:1], batches[0][1:], table[2:]], lambda: pl.from_arrow(table).lazy()]
    for make in makers:
        assert pyhashloom.column("sha256", make()).equals(rows)
        assert pyhashloom.column("sha256", make(), field="email").to_list() == emails
        assert [len(part) for part in pyhashloom.column("sha256", make(), stream=True)][-1] <= 3
    with pytest.raises(ValueError, match="batch 1 has other columns"):
        pyhashloom.column("sha256", [batches[0], batches[0].select(["n"])])
    for wrong in [], ["a"], [batches[0], "a"], iter([b"a"]), "text", 5, {"a": [1]}:
        with pytest.raises((TypeError, ValueError), match="batch|found"):
            pyhashloom.column("sha256", wrong)
    # Where it is typed: no query runs.
    expression, series = pl.col("email").hashloom, pd.Series(["a"]).hashloom
    for namespace in expression, series:
        for keywords, message in (({"key": b""}, "key is empty"), ({"output": "base64"}, "base64"),
                                  ({"length": -1}, "length"), ({"key": b"k", "salt": b"s"}, "both")):
            with pytest.raises(ValueError, match=message):
                namespace.digest("sha256", **keywords)
        with pytest.raises(ValueError, match="sha99"):
            namespace.digest("sha99")
    # The one rule for integers: the width, and what holds them, make no difference.
    columns = pd.Series([42, 7]), pd.Series([42, 7], dtype="Int8"), pl.Series([42, 7], dtype=pl.UInt16)
    assert len({tuple(pyhashloom.column("sha256", column)) for column in columns}) == 1
