# SPDX-License-Identifier: MIT OR Apache-2.0
"""Arrow columns: every type with nulls, slices and chunks, beside hashlib one value after the other."""

import ctypes
import gc
import hashlib
import hmac
import os
import subprocess
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from references import digest as reference

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
def test_integers_are_their_little_endian_bytes(kind):
    is_signed = pa.types.is_signed_integer(kind)
    values = [0, None, 1, 2 ** (kind.bit_width - is_signed) - 1] + [-1, -(2 ** (kind.bit_width - 1))] * is_signed
    want = [None if v is None else v.to_bytes(kind.bit_width // 8, "little", signed=is_signed) for v in values]
    assert listed(pyhashloom.column("sha1", pa.array(values, kind)[1:])) == [digest(v, "sha1") for v in want[1:]]


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


@given(values=VALUES, secret=st.binary(max_size=150))
@settings(max_examples=40)
def test_salt_and_key(values, secret):
    array = pa.array(values, pa.binary())
    want = [None if v is None else digest(secret + v) for v in values]
    assert listed(pyhashloom.column("sha256", array, salt=secret)) == want
    want = [None if v is None else hmac.digest(secret, v, "sha256") for v in values]
    assert listed(pyhashloom.column("sha256", array, key=secret)) == want


def test_hash160_and_sha256d():
    values = [b"\x02" + bytes(32), None]
    assert listed(pyhashloom.column("sha256d", pa.array(values)))[0] == digest(digest(values[0]))
    want = pyhashloom.ripemd160(digest(values[0])).digest()
    assert listed(pyhashloom.column("hash160", pa.array(values))) == [want, None]


@pytest.mark.parametrize("threads", [0, 1, 2, 7, 1000])
@pytest.mark.parametrize("output", ["hex", "binary"])
def test_threads_share_a_long_column(threads, output):
    values = [None if i % 7 == 3 else b"%d" % i for i in range(100_003)]
    got = listed(pyhashloom.column("sha1", pa.array(values), output=output, threads=threads))
    assert got == [digest(v, "sha1") for v in values]


@needs_polars
def test_polars_and_pandas_take_the_result():
    frame = pl.DataFrame({"email": ["a@example.com", None, "b@example.com"]})
    series = pl.Series(pyhashloom.column("sha256", frame["email"]))
    assert series.name == "email"
    assert series.to_list() == [hashlib.sha256(b"a@example.com").hexdigest(), None,
                                hashlib.sha256(b"b@example.com").hexdigest()]
    categories = frame["email"].cast(pl.Categorical)
    assert pl.Series(pyhashloom.column("sha256", categories)).to_list() == series.to_list()
    duckdb = pytest.importorskip("duckdb", reason="SKIPPED: columns of duckdb: it is not installed")
    column = duckdb.sql("select 'a' as x union all select null").arrow().read_all()["x"]
    assert sorted(listed(pyhashloom.column("sha256", column)), key=bool) == [None, digest(b"a")]


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
    (("sha256", pa.array([b"a"])), {"salt": b"", "key": b""}, ValueError, "found both"),
    (("hash160", pa.array([b"a"])), {"key": b"k"}, ValueError, "HMAC"),
    (("sha256", pa.array([b"a"])), {"salt": "text"}, TypeError, "encoded"),
])
def test_errors(arguments, keywords, error, text):
    with pytest.raises(error, match=text):
        pyhashloom.column(*arguments, **keywords)


def damaged(kind, *buffers, length=2):
    return pa.Array.from_buffers(kind, length, [None, *(pa.py_buffer(buffer) for buffer in buffers)])


def test_damaged_arrays_are_errors():
    def words(*numbers):
        return b"".join(number.to_bytes(4, "little", signed=True) for number in numbers)

    for array in (
        damaged(pa.binary(), words(0, 3, 2), b"abc"),  # offsets that go back
        damaged(pa.binary(), words(0, -1, 3), b"abc"),
        damaged(pa.binary_view(), words(20, 0, 7, 0), b"abc" * 9, length=1),  # no such buffer
        damaged(pa.binary_view(), words(20, 0, 0, 9), b"abc" * 9, length=1),  # beyond the buffer
    ):
        with pytest.raises(ValueError, match="damaged|offset"):
            pyhashloom.column("sha256", array)


class Tampered:
    """A column that exports an array and changes fields of its ArrowArray structure."""

    class Structure(ctypes.Structure):
        _fields_ = [(name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")]

    def __init__(self, array, **fields):
        self.array, self.fields = array, fields

    def __arrow_c_array__(self, requested_schema=None):
        schema, array = self.array.__arrow_c_array__(requested_schema)
        place = ctypes.pythonapi.PyCapsule_GetPointer
        place.restype, place.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        structure = self.Structure.from_address(place(array, b"arrow_array"))
        for name, value in self.fields.items():
            setattr(structure, name, value)
        return schema, array


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(1), pa.dictionary(
    pa.int8(), pa.binary()), pa.struct([("a", pa.binary())])], ids=str)
@pytest.mark.parametrize("fields", [{"length": -1}, {"offset": -1}, {"offset": 1 << 62}, {"length": 1 << 62},
                                    {"offset": (1 << 63) - 1}, {"n_buffers": -1}, {"n_buffers": 0}], ids=str)
def test_impossible_numbers_are_errors(kind, fields):
    array = pa.array([{"a": b"1"}, {"a": b"2"}] if pa.types.is_struct(kind) else [b"1", b"2"], kind)
    with pytest.raises(ValueError, match="damaged"):
        pyhashloom.column("sha256", Tampered(array, **fields))


@pytest.mark.parametrize("output", ["hex", "binary"])
@pytest.mark.parametrize("null_count", [-1, 0, 1, 3, 1000])
def test_nulls_are_counted_whatever_a_producer_says(output, null_count):
    array = pa.array([b"1", None, b"3"], pa.binary())
    column = pyhashloom.column("sha256", Tampered(array, null_count=null_count), output=output)
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


def test_many_threads_hash_one_column():
    array = pa.array([b"%d" % i for i in range(20_000)])
    want = [digest(b"%d" % i) for i in range(20_000)]
    right = []
    threads = [threading.Thread(target=lambda: right.append(listed(pyhashloom.column("sha256", array)) == want))
               for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 6


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
