# SPDX-License-Identifier: MIT OR Apache-2.0
"""Arrow columns: every type with nulls, slices and chunks, beside hashlib one value after the other."""

import gc
import hashlib
import hmac
import itertools
import os
import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from arrow_c import Array, in_capsule
from interrupt import interrupted
from references import digest as reference
from references import sample
from rows_reference import encode

import pyhashloom

pa = pytest.importorskip("pyarrow", reason="SKIPPED: columns: pyarrow is not installed")
try:
    import polars as pl
except ImportError:
    pl = None
needs_polars = pytest.mark.skipif(pl is None, reason="SKIPPED: columns of polars: it is not installed")

TEXTS = [pa.string(), pa.large_string(), pa.string_view()]
BINARIES = [pa.binary(), pa.large_binary(), pa.binary_view()]
INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
VALUES = st.lists(st.none() | st.binary(max_size=200), max_size=60)


def digest(value, name="sha256"):
    return None if value is None else hashlib.new(name, value).digest()


def listed(column):
    """The digests of a column as bytes."""
    values = pa.chunked_array(column).to_pylist()
    return [bytes.fromhex(value) if isinstance(value, str) else value for value in values]


def chunked(array, cuts):
    """The array in chunks that begin at these places."""
    places = [0, *sorted(cut % (len(array) + 1) for cut in cuts), len(array)]
    return pa.chunked_array([array[a:b] for a, b in zip(places, places[1:])], type=array.type)


@pytest.mark.parametrize("output", ["hex", "binary"])
@pytest.mark.parametrize("kind", BINARIES + TEXTS, ids=str)
@given(values=VALUES, start=st.integers(0, 60), cuts=st.lists(st.integers(0, 60), max_size=3))
@settings(max_examples=40)
def test_values_nulls_slices_and_chunks(kind, output, values, start, cuts):
    values = [value and value.hex().encode() for value in values] if kind in TEXTS else values
    array = pa.array([value and value.decode() for value in values] if kind in TEXTS else values, kind)[start:]
    column = pyhashloom.column("sha256", chunked(array, cuts), output=output)
    assert listed(column) == [digest(value) for value in values[start:]]
    assert len(column) == len(array)
    assert column.null_count == array.null_count


@pytest.mark.parametrize("name", sorted(pyhashloom.algorithms_guaranteed))
def test_every_algorithm(name):
    values = [b"", None, b"abc", b"x" * 300]
    got = listed(pyhashloom.column(name, pa.array(values), output="binary"))
    assert got == [None if value is None else reference(name, value) for value in values]


def test_digests_of_any_length():
    values = [b"", None, b"abc", b"x" * 300]
    for length in 1, 20, 1000:
        want = [None if value is None else hashlib.shake_128(value).digest(length) for value in values]
        for output in "hex", "binary":
            assert listed(pyhashloom.column("shake_128", pa.array(values), output=output, length=length)) == want


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
def test_integers_are_values_of_rows(kind):
    is_signed = pa.types.is_signed_integer(kind)
    values = [0, None, 1, 2 ** (kind.bit_width - is_signed) - 1] + [-1, -(2 ** (kind.bit_width - 1))] * is_signed
    array = pa.array(values, kind)
    for salt in b"", b"salt":
        want = [None if v is None else digest(salt + encode(v), "sha1") for v in values]
        assert listed(pyhashloom.column("sha1", array[1:], salt=salt)) == want[1:]
        # Each value of a dictionary is hashed once, or the dictionary has more values than rows.
        for times in 1, 9:
            encoded = pa.array(values * times, kind).dictionary_encode()
            for start in 1, -1:
                assert listed(pyhashloom.column("sha1", encoded[start:], salt=salt)) == (want * times)[start:]


def test_fixed_size_binary_null_and_dictionaries():
    values = [b"abc", None, b"xyz"] * 5
    fixed = pa.array(values, pa.binary(3))
    assert listed(pyhashloom.column("sha256", fixed[2:])) == [digest(v) for v in values[2:]]
    assert listed(pyhashloom.column("sha256", pa.array([b"", None], pa.binary(0)))) == [digest(b""), None]
    assert listed(pyhashloom.column("sha256", pa.nulls(3))) == [None] * 3
    for index in INTEGERS:
        array = pa.array(values).dictionary_encode().cast(pa.dictionary(index, pa.binary()))
        assert listed(pyhashloom.column("sha256", array[1:])) == [digest(v) for v in values[1:]]
    # A null among the values of the dictionary is null too.
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 1]), pa.array([b"a", None]))
    assert listed(pyhashloom.column("sha256", array)) == [digest(b"a"), None, None, None]


INDEX = st.lists(st.none() | st.integers(0, 9), max_size=60)


@pytest.mark.parametrize("index", [pa.int8(), pa.uint64()], ids=str)
@given(values=st.lists(st.none() | st.binary(max_size=100), min_size=10, max_size=100), rows=INDEX, others=INDEX,
       cuts=st.lists(st.integers(0, 60), max_size=3), start=st.integers(0, 60))
@settings(max_examples=60)
def test_each_value_of_a_dictionary_is_hashed_once_or_for_each_row(index, values, rows, others, cuts, start):
    """Dictionaries that chunks share and others, with fewer values than rows or more, and nulls in rows and values."""
    def dictionary(keys, values):
        return pa.DictionaryArray.from_arrays(pa.array(keys, index), pa.array(values, pa.binary()))

    shared, other = dictionary(rows, values)[start:], dictionary(others, values[::-1][:10])
    chunks = [*chunked(shared, cuts).chunks, other, *chunked(shared, cuts).chunks]
    want = [None if key is None else values[key] for key in rows[start:]]
    want = want + [None if key is None else values[::-1][key] for key in others] + want
    for output in "hex", "binary":
        assert listed(pyhashloom.column("sha1", pa.chunked_array(chunks), output=output)) == [
            digest(value, "sha1") for value in want]
    got = listed(pyhashloom.column("sha1", pa.chunked_array(chunks), salt=b"salt", threads=1))
    assert got == [None if value is None else digest(b"salt" + value, "sha1") for value in want]


def test_a_long_dictionary_column():
    rows = random.Random(1).choices([None, *range(50)], k=100_000)
    values = [b"%d" % value for value in range(60)]
    array = pa.DictionaryArray.from_arrays(pa.array(rows, pa.int16()), pa.array(values))
    for output in "hex", "binary":
        got = listed(pyhashloom.column("sha256", array, output=output, threads=3))
        assert got == [None if row is None else digest(values[row]) for row in rows]


LENGTHS = [0, 100, 65_535, 65_536, 65_537, 200_000, 1_048_576, 1_048_577, 3_000_000]


@pytest.mark.parametrize("name", ["sha256", "sha512", "shake_256", "hash160", "sha256d"])
def test_long_values_among_short_ones(name):
    """Long values are hashed in pieces, side by side, and others in batches."""
    values = [random.Random(n).randbytes(n) for n in LENGTHS] * 2 + [None]

    def want(message):
        if name in ("hash160", "sha256d"):
            return pyhashloom.new("ripemd160" if name == "hash160" else "sha256", digest(message)).digest()
        return reference(name, message)

    array = pa.array(values, pa.large_binary())
    for salt in None, b"salt", bytes(70_000):
        got = listed(pyhashloom.column(name, array, salt=salt))
        assert got == [None if value is None else want((salt or b"") + value) for value in values]
    if name in ("sha256", "sha512"):
        got = listed(pyhashloom.column(name, array, key=b"key", output="binary", threads=1))
        assert got == [None if value is None else hmac.digest(b"key", value, name) for value in values]
    if name == "shake_256":
        got = listed(pyhashloom.column(name, array, length=7))
        assert got == [None if value is None else hashlib.shake_256(value).digest(7) for value in values]
    got = listed(pyhashloom.column(name, array, pa.array([b"x"] * len(values))))
    assert got == [want(encode((value, b"x"))) for value in values]


def test_many_small_chunks_are_one():
    values = [None if i % 11 == 5 else b"%d" % i for i in range(30_000)]
    chunks, cuts = [], random.Random(2)
    start = 0
    while start < len(values):
        n = cuts.choice([0, 1, 3, 50, 2048])
        # Chunks with and without nulls.
        part = values[start:start + n]
        if cuts.random() < 0.5:
            part = values[start:start + n] = [value or b"none" for value in part]
        chunks.append(pa.array(part, pa.binary()))
        start += n
    for output in "hex", "binary":
        column = pyhashloom.column("sha256", pa.chunked_array(chunks), output=output)
        assert listed(column) == [digest(value) for value in values]
        assert column.null_count == values.count(None)
        assert pa.chunked_array(column).num_chunks < 20


@given(values=VALUES, secret=st.binary(max_size=150))
@settings(max_examples=40)
def test_salt_and_key(values, secret):
    array = pa.array(values, pa.binary())
    want = [None if v is None else digest(secret + v) for v in values]
    assert listed(pyhashloom.column("sha256", array, salt=secret)) == want
    want = [None if v is None else hmac.digest(secret or b"k", v, "sha256") for v in values]
    assert listed(pyhashloom.column("sha256", array, key=secret or b"k")) == want


@pytest.mark.parametrize("threads, output", sample(4, [0, 1, 2, 7, 1000], ["hex", "binary"]))
def test_threads_share_a_long_column(threads, output):
    values = [None if i % 7 == 3 else b"%d" % i for i in range(100_003)]
    got = listed(pyhashloom.column("sha1", pa.array(values), output=output, threads=threads))
    assert got == [digest(v, "sha1") for v in values]


def test_empty_columns():
    arrays = [pa.array([], pa.string()), pa.chunked_array([], pa.string())]
    if pl is not None:
        arrays.append(pl.Series([], dtype=pl.String))
    for array in arrays:
        assert listed(pyhashloom.column("sha256", array)) == []
        assert pa.chunked_array(pyhashloom.column("sha256", array, output="binary")).type == pa.binary(32)


@pytest.mark.parametrize("arguments, keywords, error, text", [
    (("sha256",), {}, TypeError, "at least one column"),
    (("sha256", [b"a"]), {}, TypeError, "column 1: expected an Arrow array"),
    (("sha256", pa.array([1.5])), {}, TypeError, "Float64.*cast"),
    (("sha256", pa.array([[b"a"]])), {}, TypeError, "cannot be hashed"),
    (("sha3", pa.array([b"a"])), {}, ValueError, "unsupported hash type"),
    (("sha256", pa.array([b"a"])), {"length": 20}, ValueError, "always have 32 bytes"),
    (("shake_128", pa.array([b"a"])), {"length": 0}, ValueError, "expected at least 1"),
    (("shake_128", pa.array([b"a"])), {"key": b"k"}, ValueError, "HMAC is not defined for shake_128"),
    (("sha256", pa.array([b"a"])), {"key": b"k", "length": 20}, ValueError, "a length or a key"),
    (("sha256", pa.array([b"a"]), pa.array([b"a", b"b"])), {}, ValueError, "different lengths"),
    (("sha256", pa.array([b"a"])), {"output": "base64"}, ValueError, "'hex' or 'binary'"),
    (("sha256", pa.array([b"a"])), {"salt": b"", "key": b"k"}, ValueError, "found both"),
    (("sha256", pa.array([b"a"])), {"key": b""}, ValueError, "key is empty"),
    (("hash160", pa.array([b"a"])), {"key": b"k"}, ValueError, "HMAC"),
    (("sha256", pa.array([b"a"])), {"salt": "text"}, TypeError, "encoded"),
])
def test_errors(arguments, keywords, error, text):
    with pytest.raises(error, match=text):
        pyhashloom.column(*arguments, **keywords)


class Tampered:
    """A column that exports an array, and says that it has another number of nulls."""

    def __init__(self, array, null_count):
        self.array, self.null_count = array, null_count

    def __arrow_c_array__(self, requested_schema=None):
        schema, array = self.array.__arrow_c_array__(requested_schema)
        in_capsule(Array, array).null_count = self.null_count
        return schema, array


@pytest.mark.parametrize("output", ["hex", "binary"])
@pytest.mark.parametrize("null_count", [-1, 0, 1, 3, 1000])
def test_nulls_are_counted_whatever_a_producer_says(output, null_count):
    array = pa.array([b"1", None, b"3"], pa.binary())
    column = pyhashloom.column("sha256", Tampered(array, null_count), output=output)
    assert listed(column) == [digest(b"1"), None, digest(b"3")] and column.null_count == 1


def test_a_stream_is_read_once_and_its_error_is_told():
    class Once:
        def __init__(self, capsule):
            self.capsule = capsule

        def __arrow_c_stream__(self, requested_schema=None):
            return self.capsule

    def failing():
        yield pa.record_batch({"a": [b"1"]})
        raise OSError("the disk is gone")

    once = Once(pa.chunked_array([[b"1"]]).__arrow_c_stream__())
    assert listed(pyhashloom.column("sha256", once)) == [digest(b"1")]
    with pytest.raises(ValueError, match="read before"):
        pyhashloom.column("sha256", once)
    schema = pa.schema([("a", pa.binary())])
    with pytest.raises(ValueError, match="the disk is gone"):
        pyhashloom.column("sha256", pa.RecordBatchReader.from_batches(schema, failing()))


def batches(n, nrows=3):
    """A reader of this many record batches."""
    made = [pa.record_batch({"a": [b"%d" % (i * nrows + row) for row in range(nrows)]}) for i in range(n)]
    return pa.RecordBatchReader.from_batches(pa.schema([("a", pa.binary())]), made)


def test_a_reader_is_read_once_batch_by_batch():
    want = [digest(b"%d" % i) for i in range(12)]
    reader = pyhashloom.column("sha256", batches(4), field="a", stream=True)
    assert isinstance(reader, pyhashloom.ColumnReader)
    columns = list(reader)
    assert [len(column) for column in columns] == [3] * 4
    assert sum(map(listed, columns), []) == want and list(reader) == []
    # Consumers see record batches of one column.
    for output, kind in ("hex", pa.string()), ("binary", pa.binary(32)):
        reader = pyhashloom.column("sha256", batches(4), field="a", output=output, stream=True)
        assert listed(next(reader)) == want[:3]
        table = pa.RecordBatchReader.from_stream(reader).read_all()
        assert table.schema == pa.schema([("a", kind)])
        assert listed(table["a"]) == want[3:]
        for read in list, pa.table:
            with pytest.raises(ValueError, match="read before"):
                read(reader)
    # Without field= the batches are tables, of which each row has a digest.
    rows = pa.table(pyhashloom.column("sha256", batches(4), stream=True))
    assert rows.column_names == ["digest"]
    assert listed(rows["digest"]) == [digest(encode((b"%d" % i,))) for i in range(12)]
    # Whatever is not a reader gives one, too, and several columns do.
    chunks = pa.chunked_array([[b"a"], [b"b", None]])
    assert [listed(column) for column in pyhashloom.column("sha256", chunks, stream=True)] == [
        [digest(b"a")], [digest(b"b"), None]]
    table = pa.table(pyhashloom.column("sha256", chunks, pa.array([b"1", b"2", b"3"]), stream=True))
    assert table.column_names == ["digest"]
    assert listed(table["digest"]) == [digest(encode(row)) for row in zip([b"a", b"b", None], [b"1", b"2", b"3"])]


def test_the_values_of_a_field_of_a_table():
    values, others = [b"a", None, b"c"] * 5, list(range(15))
    table = pa.table({"a": values, "n": others,
                      "t": pa.array([(value,) for value in values], pa.struct([("x", pa.binary())]))})
    table = pa.concat_tables([table, table.slice(3, 4), table[:0]])
    want = [digest(value) for value in table["a"].to_pylist()]
    column = pyhashloom.column("sha256", table, field="a")
    assert listed(column) == want and column.name == "a"
    assert listed(pyhashloom.column("sha256", table, field="n")) == [digest(encode(n)) for n in table["n"].to_pylist()]
    assert listed(pyhashloom.column("sha256", table, field="t")) == listed(pyhashloom.column("sha256", table["t"]))
    (batch,) = table[3:9].combine_chunks().to_batches()
    assert listed(pyhashloom.column("sha256", batch, field="a")) == want[3:9]
    two = pa.Table.from_arrays([table["a"], table["n"]], ["x", "x"])
    nulls = pa.array([{"a": 1}, None])
    for argument, field, error, text in [
            (table, "b", ValueError, "0 columns of the name \"b\""), (two, "x", ValueError, "2 columns"),
            (table["a"], "a", TypeError, "no table"), (nulls, "a", ValueError, "rows that are null")]:
        with pytest.raises(error, match=text):
            pyhashloom.column("sha256", argument, field=field)
    with pytest.raises(TypeError, match="takes one table"):
        pyhashloom.column("sha256", table, table, field="a")


def test_a_reader_holds_one_batch_at_a_time():
    """Of 60 batches of 4 MiB."""
    batch = pa.record_batch({"a": pa.array([bytes(4 << 20)])})
    held = []

    def produced():
        for _ in range(60):
            held.append(pa.total_allocated_bytes() - before)
            # A copy that nothing but the consumer holds.
            yield pa.record_batch({"a": pa.concat_arrays([batch["a"], batch["a"][:0]])})

    before = pa.total_allocated_bytes()
    reader = pyhashloom.column("sha1", pa.RecordBatchReader.from_batches(batch.schema, produced()), field="a",
                               stream=True)
    for column in itertools.islice(reader, 20):
        assert listed(column) == [hashlib.sha1(bytes(4 << 20)).digest()]
    assert len(held) == 20 and max(held) < 32 << 20
    # A column is made of a stream as it comes: what is pulled together is limited.
    column = pyhashloom.column("sha1", pa.RecordBatchReader.from_batches(batch.schema, produced()), field="a")
    assert len(column) == 60 and max(held) < 128 << 20
    del reader, column
    gc.collect()
    assert pa.total_allocated_bytes() <= before


def test_errors_of_a_producer_reach_the_readers_consumer_and_release_everything():
    def failing():
        yield pa.record_batch({"a": pa.array([b"1"] * 1000)})
        raise OSError("the disk is gone")

    def reader():
        upstream = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.binary())]), failing())
        return pyhashloom.column("sha256", upstream, stream=True)

    before = pa.total_allocated_bytes()
    for _ in range(3):
        columns = reader()
        assert len(next(columns)) == 1000
        with pytest.raises(ValueError, match="the disk is gone"):
            next(columns)
        assert list(columns) == []
        with pytest.raises(pa.ArrowInvalid, match="the disk is gone"):
            pa.table(reader())
    two = pa.array([b"1"]), pa.array([b"1", b"2"])
    with pytest.raises(ValueError, match="different lengths: argument 1 has 1 rows, 2 has more"):
        list(pyhashloom.column("sha256", *two, stream=True))
    with pytest.raises(TypeError, match="cannot be hashed"):
        list(pyhashloom.column("sha256", pa.array([1.5]), stream=True))
    gc.collect()
    assert pa.total_allocated_bytes() <= before + 1000
    del two


def test_a_reader_that_reads_itself_is_an_error():
    def itself():
        yield pa.record_batch({"a": [b"1"]})
        next(readers[0])

    upstream = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.binary())]), itself())
    readers = [pyhashloom.column("sha256", upstream, stream=True)]
    next(readers[0])
    with pytest.raises(ValueError, match="another call reads this reader"):
        next(readers[0])
    readers.clear()


@needs_polars
def test_producers_that_need_the_interpreter_meanwhile():
    """Functions in Python run on threads of DuckDB and polars while their streams are read."""
    duckdb = pytest.importorskip("duckdb", reason="SKIPPED: columns of duckdb: it is not installed")
    import pyhashloom.duckdb

    connection = duckdb.connect()
    pyhashloom.duckdb.register(connection)
    relation = connection.sql("select hl_sha1(range::varchar) as x from range(10000)")
    want = sorted(digest(hashlib.sha1(b"%d" % i).hexdigest().encode()) for i in range(10_000))
    assert sorted(listed(pyhashloom.column("sha256", relation, field="x"))) == want
    reader = pyhashloom.column("sha256", relation, field="x", stream=True)
    assert sorted(sum(map(listed, reader), [])) == want
    reader = pyhashloom.column("sha256", relation, field="x", stream=True)
    other = duckdb.connect()
    assert other.sql("select count(distinct x) from reader").fetchall() == [(10_000,)]


BIG = """
import pyarrow as pa
def views(n, nbytes):
    view = nbytes.to_bytes(4, "little") + bytes(12)
    return pa.Array.from_buffers(pa.binary_view(), n, [None, pa.py_buffer(view * n), pa.py_buffer(bytes(nbytes))])
def endless(batch):
    return pa.RecordBatchReader.from_batches(batch.schema, itertools.repeat(batch))
values, batch = views(100_000, 20_000_000), pa.record_batch({"a": [b"1"] * 1000})
"""


@pytest.mark.parametrize("call", [
    "pyhashloom.column('sha256', values, threads=1)",
    "pyhashloom.column('sha1', values, salt=b'salt', threads=3)",
    "pyhashloom.column('sha512', values, values)",
    "pyhashloom.column('sha256', endless(batch))",
    "pyhashloom.column('sha256', endless(batch[:0]))",
    "list(pyhashloom.column('sha256', endless(batch[:0]), stream=True))",
    # The consumer raises an error of its own, and KeyboardInterrupt follows where Python's code goes on.
    """try:
        pa.table(pyhashloom.column('sha256', endless(batch), stream=True))
    except OSError:
        while True:
            pass""",
])
def test_ctrl_c(call):
    """Of 2 TB of values, and of streams that never end."""
    assert interrupted(call, BIG)


def test_salted_and_joined_values_are_not_all_copied():
    """In a process of its own: 256 values of 2 MiB, which are one buffer, with little memory."""
    pytest.importorskip("resource", reason="SKIPPED: limits of memory: not a Unix")
    program = """
import resource
import pyarrow as pa
import pyhashloom
nbytes = 2 << 20
view = nbytes.to_bytes(4, "little") + bytes(12)
array = pa.Array.from_buffers(pa.binary_view(), 256, [None, pa.py_buffer(view * 256), pa.py_buffer(bytes(nbytes))])
used = next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, (used + (256 << 20),) * 2)
pyhashloom.column("sha1", array, salt=b"salt", threads=2)
pyhashloom.column("sha1", array, array, threads=2)
"""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("SKIPPED: limits of memory: no /proc")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_arrays_are_kept_alive_and_let_go():
    array = pa.array(["x" * 50] * 10_000)
    before = pa.total_allocated_bytes()
    column = pyhashloom.column("sha256", pa.array(["x" * 50] * 10_000))
    view = pa.chunked_array(column)
    del column
    gc.collect()
    assert view.to_pylist() == [hashlib.sha256(b"x" * 50).hexdigest()] * 10_000
    del view
    gc.collect()
    assert pa.total_allocated_bytes() <= before
    assert array.nbytes


def test_offsets_of_64_bits():
    """A column of 3 GiB: 3 values of 1 GiB each, whose offsets need more than 32 bits."""
    if os.environ.get("HASHLOOM_TEST_ALL") is None:
        pytest.skip("SKIPPED: a column of 3 GiB: HASHLOOM_TEST_ALL=1 hashes it")
    part = bytes(1 << 30)
    values = pa.py_buffer(part * 3)
    offsets = pa.py_buffer(b"".join((i << 30).to_bytes(8, "little") for i in range(4)))
    array = pa.Array.from_buffers(pa.large_binary(), 3, [None, offsets, values])
    assert listed(pyhashloom.column("sha1", array)) == [hashlib.sha1(part).digest()] * 3


def test_too_little_memory_is_an_error():
    """In a process of its own with 3 GiB of addresses; the result takes 6 GB."""
    pytest.importorskip("resource", reason="SKIPPED: limits of memory: not a Unix")
    program = """
import resource, sys
import pyarrow as pa
import pyhashloom
array = pa.Array.from_buffers(pa.uint8(), 50_000_000, [None, pa.py_buffer(bytes(50_000_000))])
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
try:
    pyhashloom.column("sha512", array)
except MemoryError as error:
    sys.exit(0 if "a part at a time" in str(error) else f"another text: {error}")
sys.exit("no error")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
