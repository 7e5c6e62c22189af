# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tables compared, the digest of a table, and schemas that are followed: beside plain Python, over random tables."""

import collections
import datetime
import functools
import hashlib
import hmac
import json
import math
import os
import pathlib
import warnings
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows_reference import encode, parse

import pyhashloom

pa = pytest.importorskip("pyarrow", reason="SKIPPED: tables: pyarrow is not installed")
import pyarrow.compute  # noqa: E402
import pyarrow.parquet  # noqa: E402

VECTORS = pathlib.Path(__file__).parents[2] / "vectors/rows/rows.json"

# Values that are equal in a row are equal in a comparison: nulls, all NaN, both zeros. Values of other kinds differ.
VALUES = {
    "n": (pa.int64(), st.sampled_from([None, 0, 1, -1, 255, 2**40])),
    "f": (pa.float64(), st.sampled_from([None, 0.0, -0.0, 1.0, 0.1, math.nan, math.inf])),
    "t": (pa.string(), st.sampled_from([None, "", "a", "b", "ab"])),
    "d": (pa.decimal128(20, 2), st.sampled_from([None, Decimal("1.00"), Decimal("1.10"), Decimal(0)])),
    "l": (pa.list_(pa.int8()), st.sampled_from([None, [], [None], [1], [1, 2]])),
    "s": (pa.struct([("x", pa.int8()), ("y", pa.string())]), st.sampled_from(
        [None, {"x": None, "y": None}, {"x": 1, "y": "a"}, {"x": 1, "y": None}])),
}
NAMES = list(VALUES)
ROWS = st.lists(st.tuples(*(values for _, values in VALUES.values())), max_size=12)


def table_of(rows, names=NAMES):
    return pa.table({name: pa.array([row[NAMES.index(name)] for row in rows], VALUES[name][0]) for name in names})


def encoded(row, names):
    values = [row[NAMES.index(name)] for name in names]
    return encode(tuple(tuple(value.values()) if isinstance(value, dict) else value for value in values))


def naive(first, second, keys):
    """What a diff says, as multisets of keys: added, removed, changed; the rows unchanged, and the keys repeated."""
    count = lambda rows: collections.Counter((encoded(row, keys), encoded(row, NAMES)) for row in rows)  # noqa: E731
    one, other = count(first), count(second)
    of_keys = lambda rows: collections.Counter(key for key, _ in rows.elements())  # noqa: E731
    gone, come = of_keys(one - other), of_keys(other - one)
    repeated = {key for rows in (one, other) for key, times in of_keys(rows).items() if times > 1}
    return come - gone, gone - come, gone & come, (one & other).total(), len(repeated)


def keys_of(table, keys):
    """The keys of a table that has these columns alone."""
    assert table.column_names == keys
    rows = [tuple(row[name] if name in keys else None for name in NAMES) for row in table.to_pylist()]
    return collections.Counter(encoded(row, keys) for row in rows)


@given(ROWS, ROWS, st.lists(st.sampled_from(NAMES), unique=True), st.integers(1, 5), st.randoms())
@settings(max_examples=600 if os.environ.get("HASHLOOM_TEST_ALL") else 60, deadline=None)
def test_a_diff_beside_plain_python(first, others, keys, nrows, random):
    # A second table with some rows of the first, in another order, other chunks, and other order of columns.
    second = [row for row in first if random.random() < 0.7] + others[:4]
    random.shuffle(second)
    names = random.sample(NAMES, len(NAMES))
    one, other = table_of(first), table_of(second, names)
    other = pa.Table.from_batches(other.to_batches(max_chunksize=nrows), other.schema)
    want = naive(first, second, keys or NAMES)
    frame = pytest.importorskip("polars").from_arrow(other)  # it has views
    for argument in other, other.to_reader(), other.to_batches() or other, frame:
        found = pyhashloom.diff(one, argument, key=keys or None)
        got = [keys_of(part, keys or NAMES) for part in (found.added, found.removed, found.changed)]
        assert (*got, found.unchanged, found.repeated) == want
        assert bool(found) == (not found.equal) == (any(want[:3]))
    digests = [pyhashloom.table_digest("sha1", table.select(NAMES)) for table in (one, other)]
    for rows, digest in zip((first, second), digests):
        of_rows = sorted(hashlib.sha1(encoded(row, NAMES)).digest() for row in rows)
        assert digest == hashlib.sha1(b"\x11" + b"".join(of_rows)).digest()
    assert (digests[0] == digests[1]) == pyhashloom.diff(one, other).equal


def test_vectors():
    for vector in json.loads(VECTORS.read_text())["tables"] if VECTORS.exists() else []:
        rows = [tuple(map(parse, row)) for row in vector["rows"]]
        table = pa.table({"n": pa.array([n for n, _ in rows], pa.int8()), "t": [t for _, t in rows]})
        assert pyhashloom.table_digest("sha256", table).hex() == vector["sha256"]


def layouts(table, tmp_path):
    """The table, held by every library."""
    pl = pytest.importorskip("polars", reason="SKIPPED: polars is not installed")
    duckdb = pytest.importorskip("duckdb", reason="SKIPPED: duckdb is not installed")
    pytest.importorskip("pandas", reason="SKIPPED: pandas is not installed")
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet", row_group_size=7)
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=5)
    (tmp_path / "folder").mkdir()
    for place in range(0, len(table), 20):
        pyarrow.parquet.write_table(table[place : place + 20], tmp_path / f"folder/{place:04}.parquet")
    frame = pl.from_arrow(table)
    yield from (tmp_path / "t.parquet", str(tmp_path / "t.arrow"), tmp_path / "folder", frame, frame.lazy())
    yield from (table.to_pandas(), table.to_pandas(types_mapper=__import__("pandas").ArrowDtype), table.to_batches())
    yield from (pyarrow.dataset.dataset(tmp_path / "folder"), duckdb.from_arrow(table), table.to_reader())
    yield frame.with_columns(pl.col("name").cast(pl.Categorical), pl.col("id").cast(pl.Int16))
    seconds, decimal = pa.timestamp("s", "UTC"), pa.decimal256(40, 7)
    yield table.set_column(1, "name", table["name"].dictionary_encode()).set_column(
        2, "at", table["at"].cast(seconds)).set_column(3, "cost", table["cost"].cast(decimal))


def test_libraries_layouts_and_files_make_no_difference(tmp_path):
    times = [datetime.datetime(2026, 1, 1 + i % 9, tzinfo=datetime.timezone.utc) for i in range(50)]
    table = pa.table({
        "id": pa.array(range(50), pa.int32()), "name": [None if i % 5 == 0 else f"n{i % 7}" for i in range(50)],
        "at": pa.array(times, pa.timestamp("us", "Asia/Tokyo")), "cost": [Decimal(i) / 4 for i in range(50)]})
    other = table.set_column(0, "id", pa.array([*range(48), 100, 101])).set_column(
        1, "name", pa.array(["x", *table["name"].to_pylist()[1:]]))
    digest = pyhashloom.table_digest("sha256", table)
    for i, one in enumerate(layouts(table, tmp_path)):
        found = pyhashloom.diff(other, one, key="id")
        assert found.added["id"].to_pylist() == [48, 49], i
        assert (found.removed["id"].to_pylist(), found.changed["id"].to_pylist()) == ([100, 101], [0])
        assert (found.unchanged, found.repeated, found.equal) == (47, 0, False)
    reads = [one for one in layouts(table, tmp_path_of(tmp_path)) if not isinstance(one, pa.RecordBatchReader)]
    for one in reads:
        assert pyhashloom.table_digest("sha256", one) == digest
        assert pyhashloom.diff(one, table).equal and repr(pyhashloom.diff(table, one)).endswith(" 50 unchanged>")
    of_rows = b"".join(sorted(pyhashloom.column("sha256", table, key=b"k", output="binary")))
    assert pyhashloom.table_digest("sha256", table, key=b"k") == hmac.digest(b"k", b"\x11" + of_rows, "sha256")
    assert pyhashloom.table_digest("sha256", pa.concat_tables([table, table[:1]])) != digest
    assert pyhashloom.table_digest("md5", table[:0]) == hashlib.md5(b"\x11").digest()
    assert pyhashloom.diff(table[:0], table[:0]).equal and not pyhashloom.diff(table[:0], table).equal
    views = pa.table({"x": pa.array([["a"], ["b"], None], pa.list_(pa.string_view()))})
    assert pyhashloom.diff(views, views[1:]).removed.equals(views[:1])


def tmp_path_of(path):
    (path / "again").mkdir()
    return path / "again"


def test_what_a_diff_refuses():
    table = pa.table({"id": [1, 2], "x": ["a", "b"]})
    no_columns = pa.table({})
    twice = pa.Table.from_arrays([table["id"], table["id"]], ["id", "id"])
    cases = [
        (table, table.select(["id"]), {}, r"only the first table has \['x'\]: select"),
        (table.rename_columns(["id", "y"]), table, {}, r"first table has \['y'\], only the second has \['x'\]"),
        (table, table.set_column(0, "id", table["id"].cast(pa.float64())), {}, "'id' is int64 .* double .* schema="),
        (table, table.set_column(1, "x", table["x"].cast(pa.binary())), {}, "'x' is string .* and binary"),
        (table, table, {"key": "X"}, "no column 'X': there are"),
        (table, table, {"key": []}, "expected one"),
        (table, table, {"key": ["id", "id"]}, "each once"),
        (twice, table, {}, "the first table has 2 columns of the name 'id'"),
        (table, twice, {}, "the second table has 2 columns of the name 'id'"),
        (no_columns, no_columns, {}, "the first table has no columns"),
        (reader := table.to_reader(), reader, {}, "can be read once"),
    ]
    for one, other, keywords, message in cases:
        with pytest.raises(ValueError, match=message):
            pyhashloom.diff(one, other, **keywords)
    structs = [pa.table({"s": pa.array([{name: 1}])}) for name in "ab"]
    naive_and_aware = [pa.table({"t": pa.array([0], kind)}) for kind in (pa.timestamp("s"), pa.timestamp("s", "UTC"))]
    floats = [pa.table({"t": pa.array([0.5], kind)}) for kind in (pa.float32(), pa.float64())]
    for pair in structs, naive_and_aware, floats:
        with pytest.raises(ValueError, match="whose values have other bytes"):
            pyhashloom.diff(*pair)
    nulls = pa.table({"id": pa.nulls(2), "x": ["a", "b"]})
    assert len(pyhashloom.diff(table, nulls, key="x").changed) == 2
    for wrong in 5, b"path", {"id": [1]}, [1], pa.array([1]):
        with pytest.raises((TypeError, pa.ArrowInvalid)):
            pyhashloom.diff(table, wrong)
    with pytest.raises(FileNotFoundError):
        pyhashloom.diff("missing.parquet", table)
    for name in "sha99", "":
        with pytest.raises(ValueError, match="sha256"):
            pyhashloom.table_digest(name, table)
    with pytest.raises(ValueError, match="key is empty"):
        pyhashloom.table_digest("sha256", table, key=b"")


def test_a_file_that_changes_between_the_two_readings(tmp_path):
    path = tmp_path / "t.parquet"
    write = lambda ids: pyarrow.parquet.write_table(pa.table({"id": ids}), path)  # noqa: E731
    for ids in [1, 2, 9], [1, 2]:
        write([1, 2, 3])

        def other():
            yield pa.record_batch({"id": [1, 2, 4]})
            write(ids)  # the first table was read

        # pyarrow may find it first.
        with pytest.raises((RuntimeError, OSError), match="changed while|deserialize"):
            pyhashloom.diff(path, other(), key="id")


def test_a_schema_is_followed_and_loses_nothing():
    table = pa.table({"id": [1, 2], "price": [Decimal("1.50"), None], "day": [datetime.date(2026, 1, 1), None],
                      "s": [{"x": 1, "y": "a"}, None]})
    want = pyhashloom.column("sha256", table).to_list()
    of = functools.partial(pyhashloom.column, "sha256")
    floats = table.set_column(0, "id", table["id"].cast(pa.float64())).select(["s", "price", "id", "day"])
    floats = floats.set_column(1, "price", table["price"].cast(pa.float64()))
    floats = floats.set_column(3, "day", table["day"].cast(pa.string()))
    swapped = [{"y": "a", "x": 1.0}, None]
    floats = floats.set_column(0, "s", pa.array(swapped))
    for schema in table, table.schema, table[:0].to_reader():
        assert of(floats, schema=schema).to_list() == want
        assert of(floats.to_reader(), schema=table.schema, stream=True).__next__().to_list() == want
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    for schema in pl.from_arrow(table), pl.from_arrow(table).lazy(), pl.from_arrow(table).schema:
        assert of(pl.from_arrow(floats), schema=schema).to_list() == want
    kinds = {"id": "int64", "price": pa.decimal128(5, 2), "day": "date32", "s": table.schema.field("s").type}
    assert of(floats.select(table.column_names), schema=kinds).to_list() == want
    assert of(floats, field="id", schema={"id": "int8"}).to_list() == of(table["id"]).to_list()
    # A schema that cannot be followed, or that loses a value, is an error that names the column.
    strings = pa.table({"x": ["007", "8"]})
    cases = [
        (strings, {"x": "int64"}, "'x': '007' of string becomes 7"),
        (pa.table({"x": [1.5]}), {"x": "int64"}, "'x': not all values of double are of int64"),
        (pa.table({"x": [0.1]}), {"x": "float32"}, "'x': 0.1 of double becomes"),
        (pa.table({"x": [math.nan]}), {"x": "int64"}, "'x': not all"),
        (pa.table({"x": [2**60 + 1]}), {"x": "float64"}, "'x'"),
        (pa.table({"x": pa.array([1], pa.timestamp("s"))}), {"x": pa.timestamp("s", "UTC")}, "'x': .* says the zone"),
        (pa.table({"x": pa.array([1], pa.timestamp("s"))}), {"x": "date32"}, "'x': "),
        (pa.table({"x": [1]}), {"x": pa.timestamp("s")}, "'x': .* says the unit"),
        (pa.table({"x": [[1]]}), {"x": pa.list_(pa.timestamp("s"))}, "'x': .* says the unit"),
        (pa.table({"x": [{"a": 1}]}), {"x": pa.struct([("b", pa.int8())])}, "'x': it has other fields"),
        (pa.table({"x": [{"a": 1.5}]}), {"x": pa.struct([("a", pa.int8())])}, "'x.a': not all"),
        (strings, {"y": "int64"}, "no column 'y'"),
        (strings, pa.schema([("x", pa.string()), ("y", pa.string())]), r"only the schema has \['y'\]"),
    ]
    for table, schema, message in cases:
        for keywords in {}, {"stream": True}:
            with pytest.raises(ValueError, match=message):
                list(of(table, schema=schema, **keywords))
    for schema, message in ({"x": 5}, "found int"), (5, "schema: expected"), ([], "schema: expected"):
        with pytest.raises(TypeError, match=message):
            of(strings, schema=schema)
    for columns in (strings["x"],), (strings, strings), ():
        with pytest.raises(TypeError, match="schema takes one table"):
            of(*columns, schema={"x": "string"})
    # Integers with a null are floats in pandas.
    frame = pd.DataFrame({"id": [1, None, 3], "rate": [0.5, 1.0, None], "none": [math.nan] * 3})
    ids = [[1, None, 3], [0.5, 1.0, None], [None] * 3]
    with pytest.warns(UserWarning, match=r"columns \['id'\].*schema=.'id': 'int64'") as told:
        assert of(frame).to_list() != of(pa.table(ids, ["id", "rate", "none"])).to_list()
    assert told[0].filename == __file__
    with pytest.warns(UserWarning, match=r"columns \['id'\]"):
        of(frame, schema={"rate": "float64"})
    pytest.importorskip("pyhashloom.pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = of(pa.table(ids, ["id", "rate", "none"])).to_list()
        assert of(frame, schema={"id": "int64"}).to_list() == plain == of(frame, schema=pa.schema(
            [("id", pa.int64()), ("rate", pa.float64()), ("none", pa.null())])).to_list()
        assert frame.hashloom.sha256(schema={"id": "int64"}).to_list() == plain
        assert len(of(frame, schema={"id": "float64"})) == len(of(frame[["rate", "none"]])) == 3
        assert pyhashloom.diff(frame, pa.table(ids, ["id", "rate", "none"]), schema={"id": "int64"}).equal
    # Zones are not lost on the way from objects.
    zone = datetime.timezone.utc
    day = datetime.datetime(2026, 1, 1)
    for values in [day, day.replace(tzinfo=zone)], [datetime.time(1, tzinfo=zone)]:
        for nested in values, [[value] for value in values], [{"a": value} for value in values]:
            with pytest.raises(TypeError, match="'t'.*tzinfo=.*schema=.'t'"):
                of(pd.DataFrame({"t": pd.Series(nested, dtype=object)}))
