# SPDX-License-Identifier: MIT OR Apache-2.0
"""Many messages in one call."""

import array
import hashlib
import hmac

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interrupt import interrupted
from references import NAMES, XOFS, digest, sample

import pyhashloom


def one(name, message):
    """The digest of a message, by hashlib where it has the algorithm."""
    if name == "hash160":
        return one("ripemd160", hashlib.sha256(message).digest())
    if name == "sha256d":
        return hashlib.sha256(hashlib.sha256(message).digest()).digest()
    return digest(name, message)


messages = st.lists(st.one_of(st.binary(max_size=200), st.binary(max_size=200).map(bytearray)), max_size=50)


@given(st.sampled_from([*NAMES, "hash160", "sha256d"]), messages)
def test_lists(name, messages):
    want = [one(name, message) for message in messages]
    assert pyhashloom.many(name, messages) == want
    assert pyhashloom.many(name, tuple(messages)) == want
    assert pyhashloom.many(name, iter(messages)) == want
    assert pyhashloom.many(name, messages, output="hex") == [digest.hex() for digest in want]
    assert pyhashloom.many(name, messages, output="joined") == b"".join(want)
    array = pyhashloom.many(name, messages, output="numpy")
    assert array.dtype == numpy.uint8
    assert array.shape == (len(want), len(one(name, b"")))
    assert array.tobytes() == b"".join(want)


@pytest.mark.parametrize("count", [1, 1023, 1024, 1025, 5000])
def test_batches(count):
    messages = [i.to_bytes(4, "big") * (i % 40) for i in range(count)]
    want = [hashlib.sha256(message).digest() for message in messages]
    assert pyhashloom.many("sha256", messages) == want
    assert pyhashloom.many("sha256", (message for message in messages)) == want


@given(
    st.sampled_from([*NAMES, "hash160", "sha256d"]),
    st.integers(0, 40),
    st.integers(0, 80),
    st.integers(1, 4),
    st.integers(0, 5),
)
def test_rows(name, count, width, step, margin):
    whole = numpy.arange((count * step) * (width + margin), dtype=numpy.uint32).astype(numpy.uint8)
    array = whole.reshape(count * step, width + margin)[::step, :width]
    want = [one(name, row.tobytes()) for row in array]
    assert pyhashloom.rows(name, array) == want
    assert pyhashloom.many(name, array) == want
    assert pyhashloom.rows(name, array, output="hex") == [digest.hex() for digest in want]
    if width > 0:
        assert pyhashloom.rows(name, array.tobytes(), width) == want


@given(st.sampled_from(XOFS), messages, st.integers(1, 700))
def test_digests_of_any_length(name, messages, length):
    want = [hashlib.new(name, message).digest(length) for message in messages]
    assert pyhashloom.many(name, messages, length=length) == want
    assert pyhashloom.many(name, iter(messages), length=length, output="hex") == [digest.hex() for digest in want]
    assert pyhashloom.many(name, messages, length=length, output="numpy").shape == (len(want), length)
    array = numpy.arange(60, dtype="u1").reshape(6, 10)
    want = [hashlib.new(name, row.tobytes()).digest(length) for row in array]
    assert pyhashloom.rows(name, array, length=length) == want
    assert pyhashloom.rows(name, array.tobytes(), 10, length=length, output="joined") == b"".join(want)


def test_long_digests_take_several_batches():
    messages, length = [b"%d" % i for i in range(200)], 1_000_000
    got = pyhashloom.many("shake_128", messages, length=length)
    assert [len(digest) for digest in got] == [length] * 200
    for i in 0, 66, 67, 68, 199:
        assert got[i] == hashlib.shake_128(messages[i]).digest(length)
    want = [hashlib.shake_128(b"abc").digest(length)] * 100
    assert pyhashloom.rows("shake_128", b"abc" * 100, 3, length=length) == want


def test_wrong_lengths():
    for wrong in -1, 0, 2**29:
        with pytest.raises(ValueError, match=f"length is {wrong}: expected"):
            pyhashloom.many("shake_256", [b""], length=wrong)
    for name in "sha256", "sha3_512", "hash160":
        with pytest.raises(ValueError, match=f"length is 20, but digests of {name} always have [0-9]+ bytes"):
            pyhashloom.many(name, [], length=20)


def test_rows_of_wider_items():
    array = numpy.arange(60, dtype="<u4").reshape(12, 5)
    assert pyhashloom.rows("sha1", array) == [hashlib.sha1(row.tobytes()).digest() for row in array]
    assert pyhashloom.rows("sha1", array, 20) == pyhashloom.rows("sha1", array)
    transposed = array.T
    with pytest.raises(BufferError, match="make a copy first"):
        pyhashloom.rows("sha1", transposed)
    with pytest.raises(BufferError, match="make a copy first"):
        pyhashloom.rows("sha1", array[::-1])
    repeated = numpy.broadcast_to(array[0], (1000, 5))
    assert pyhashloom.rows("sha1", repeated) == [hashlib.sha1(array[0].tobytes()).digest()] * 1000


def test_arrays_of_objects_are_iterated_over():
    objects = numpy.array([b"a", b"bc", b""], dtype=object)
    assert pyhashloom.many("sha256", objects) == [hashlib.sha256(message).digest() for message in objects]
    with pytest.raises(TypeError, match="Python objects"):
        pyhashloom.rows("sha256", objects.reshape(1, 3))


@pytest.mark.parametrize("wrong", [b"abc", bytearray(3), memoryview(b"abc"), "abc", array.array("B", b"abc"), 5, None])
def test_one_message_is_not_many(wrong):
    with pytest.raises(TypeError, match="messages is "):
        pyhashloom.many("sha256", wrong)


def test_errors():
    with pytest.raises(TypeError, match="message 2: Strings must be encoded"):
        pyhashloom.many("sha256", [b"", b"", "text"])
    with pytest.raises(TypeError, match="message 1: object supporting the buffer API required, not int"):
        pyhashloom.many("sha256", iter([b"", 1]))
    with pytest.raises(BufferError, match="message 0: "):
        pyhashloom.many("sha256", [memoryview(b"abcd")[::2]])
    with pytest.raises(ValueError, match="unknown output \"text\": expected 'bytes'"):
        pyhashloom.many("sha256", [], output="text")
    with pytest.raises(ValueError, match="expected one of sha1, .*, hash160, sha256d"):
        pyhashloom.many("crc32", [])
    with pytest.raises(ValueError, match="7 bytes are not a whole number of rows of 2 bytes"):
        pyhashloom.rows("sha256", b"1234567", 2)
    with pytest.raises(ValueError, match="rows of 0 bytes"):
        pyhashloom.rows("sha256", b"1234567", 0)
    with pytest.raises(OverflowError):
        pyhashloom.rows("sha256", b"1234567", -1)
    with pytest.raises(BufferError, match="give row_nbytes"):
        pyhashloom.rows("sha256", b"1234567")
    endless = numpy.broadcast_to(numpy.zeros(8, "u1"), (2**50, 8))
    for output in "bytes", "joined":
        with pytest.raises(MemoryError, match="hash a part at a time"):
            pyhashloom.rows("sha256", endless, output=output)
    with pytest.raises(TypeError, match="call many"):
        pyhashloom.rows("sha256", [b"a"])

    def broken():
        yield b"a"
        raise KeyError("from the generator")

    with pytest.raises(KeyError, match="from the generator"):
        pyhashloom.many("sha256", broken())


def test_a_message_that_changes_the_list():
    class Greedy:
        def __iter__(self):
            yield b"a"
            messages.clear()
            yield b"b"

    messages = [b"x"]
    assert pyhashloom.many("sha1", Greedy()) == [hashlib.sha1(b"a").digest(), hashlib.sha1(b"b").digest()]


def test_twice():
    assert pyhashloom.sha256d(b"abc") == one("sha256d", b"abc")
    assert pyhashloom.hash160(b"abc").hex() == "bb1be98c142444d7a56aa3981c3942a978e4dc33"
    with pytest.raises(TypeError):
        pyhashloom.hash160("abc")


def test_keyboard_interrupt():
    assert interrupted('pyhashloom.many("sha256", itertools.repeat(bytes(100_000)), output="joined")')
    # Eight messages of 64 MiB in a list, again and again, would take minutes.
    assert interrupted('pyhashloom.many("sha256", [bytes(64 << 20)] * 10_000, threads=2)')
    rows = 'memoryview(bytes(256 << 20)).cast("B", (4, 64 << 20))'
    assert interrupted(f'[pyhashloom.rows("sha512", {rows}) for _ in range(10**6)]')


@pytest.mark.parametrize("threads, output", sample(4, [0, 1, 2, 3, 1000], ["bytes", "joined", "numpy"]))
def test_threads(threads, output):
    """Messages of very different lengths: more than a thread's stretch of 16 MiB, and none."""
    part = bytes(range(251)) * 300_000
    lengths = [0, 1, 70_000_000, 64, 5_000_000, 3, 5_000_001, 100_000] + [1000] * 50
    messages = [memoryview(part)[i : i + length] for i, length in enumerate(lengths)]
    for name in "sha256", "shake_128", "hash160":
        want = [one(name, bytes(message)) for message in messages]
        got = pyhashloom.many(name, messages, output=output, threads=threads)
        assert (got if output == "bytes" else bytes(got)) == (want if output == "bytes" else b"".join(want))
        if name == "sha256":
            assert pyhashloom.many(name, iter(messages), threads=threads) == want
            keys = [hmac.digest(b"k", message, "sha256") for message in messages]
            assert pyhashloom.hmac.many(b"k", messages, "sha256", threads=threads) == keys


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
def test_threads_of_rows(threads):
    for count, nbytes in (30_001, 100), (7, 3_000_000), (3, 0), (0, 5):
        array = numpy.arange(count * (nbytes + 3), dtype=numpy.uint32).astype(numpy.uint8)
        array = array.reshape(count, nbytes + 3)[:, :nbytes]
        want = b"".join(hashlib.sha1(row.tobytes()).digest() for row in array)
        assert pyhashloom.rows("sha1", array, output="joined", threads=threads) == want
