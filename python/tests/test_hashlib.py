# SPDX-License-Identifier: MIT OR Apache-2.0
"""The shape of hashlib: the same digests, attributes and errors."""

import array
import copy
import hashlib
import hmac as std_hmac
import io
import pickle
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyhashloom

NAMES = sorted(pyhashloom.algorithms_guaranteed)
OF_HASHLIB = [name for name in NAMES if name in hashlib.algorithms_available]
CONSTRUCTORS = [getattr(pyhashloom, name) for name in NAMES]


def test_every_algorithm_of_the_core_is_there():
    assert len(NAMES) == 9
    assert pyhashloom.algorithms_available == pyhashloom.algorithms_guaranteed
    assert {"md5", "sha1", "sha224", "sha256", "sha384", "sha512"} <= set(OF_HASHLIB)


@given(st.sampled_from(OF_HASHLIB), st.lists(st.binary(max_size=300)))
def test_parts(name, parts):
    ours, theirs = pyhashloom.new(name), hashlib.new(name)
    for part in parts:
        ours.update(part)
        theirs.update(part)
        assert ours.digest() == theirs.digest()
    assert ours.hexdigest() == theirs.hexdigest()
    assert (ours.name, ours.digest_size, ours.block_size) == (theirs.name, theirs.digest_size, theirs.block_size)


@pytest.mark.parametrize("name", OF_HASHLIB)
def test_lengths(name):
    data = bytes(i % 251 for i in range(70_000))
    for nbytes in [*range(300), 2047, 2048, 2049, 65_536, 70_000]:
        assert getattr(pyhashloom, name)(data[:nbytes]).digest() == hashlib.new(name, data[:nbytes]).digest()


def test_ripemd160():
    # The author's vector, for systems whose hashlib lacks the algorithm.
    assert pyhashloom.ripemd160(b"abc").hexdigest() == "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"


@pytest.mark.parametrize("spelling", ["sha512_256", "SHA512_256", "sha512-256", "SHA-512/256", "sha-512-256"])
def test_spellings(spelling):
    assert pyhashloom.new(spelling).name == "sha512_256"


def test_buffers():
    want = hashlib.sha256(b"\x01\x02\x03\x04").digest()
    plain = b"\x01\x02\x03\x04"
    square = memoryview(plain).cast("B", (2, 2))
    for data in [plain, bytearray(plain), memoryview(plain), array.array("B", plain), square]:
        assert pyhashloom.sha256(data).digest() == want
        ours = pyhashloom.sha256()
        ours.update(data)
        assert ours.digest() == want
    with pytest.raises(BufferError):
        pyhashloom.sha256(memoryview(plain)[::2])
    released = memoryview(plain)
    released.release()
    with pytest.raises(ValueError):
        pyhashloom.sha256(released)


def test_a_buffer_is_released_after_the_call():
    data = bytearray(5000)
    pyhashloom.sha256(data)
    pyhashloom.sha256().update(data)
    pyhashloom.many("sha1", [data, data])
    pyhashloom.rows("sha1", data, 10)
    pyhashloom.hmac.digest(data, data, "sha1")
    data.append(1)  # BufferError while a view exists


@pytest.mark.parametrize("wrong", ["text", 1, None, [b"a"], 1.5, object()])
def test_wrong_types(wrong):
    for constructor in CONSTRUCTORS:
        with pytest.raises(TypeError):
            constructor(wrong)
    with pytest.raises(TypeError):
        pyhashloom.sha256().update(wrong)
    with pytest.raises(TypeError):
        pyhashloom.new("sha256", wrong)


def test_wrong_calls():
    with pytest.raises(ValueError, match="unsupported hash type \"sha3\": expected one of sha1, "):
        pyhashloom.new("sha3")
    with pytest.raises(TypeError):
        pyhashloom.new(1)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        pyhashloom.sha256(b"", string=b"")
    with pytest.raises(TypeError):
        pyhashloom.Hash()
    with pytest.raises(TypeError):
        pickle.dumps(pyhashloom.sha256())
    with pytest.raises(AttributeError):
        pyhashloom.sha256().name = "sha1"  # type: ignore[misc]


def test_keywords():
    for constructor in CONSTRUCTORS:
        for security in [True, False, 1, 0]:
            assert constructor(b"a", usedforsecurity=security).digest() == constructor(string=b"a").digest()
        assert constructor(data=b"a").digest() == constructor(b"a").digest()
    assert pyhashloom.new("md5", b"a", usedforsecurity=False).digest() == hashlib.md5(b"a").digest()


def test_copies_go_their_own_ways():
    first = pyhashloom.sha256(b"a")
    second = first.copy()
    second.update(b"b")
    assert first.digest() == hashlib.sha256(b"a").digest()
    assert second.digest() == hashlib.sha256(b"ab").digest()
    with pytest.raises(TypeError):
        copy.copy(first)  # as in hashlib


def test_repr():
    assert repr(pyhashloom.sha1()).startswith("<sha1 pyhashloom.Hash object @ 0x")


def test_the_module_hmac_takes_our_constructors():
    for name in OF_HASHLIB:
        want = std_hmac.new(b"key", b"message", name).digest()
        assert std_hmac.new(b"key", b"message", getattr(pyhashloom, name)).digest() == want
        assert std_hmac.digest(b"key", b"message", getattr(pyhashloom, name)) == want


@pytest.mark.skipif(not hasattr(hashlib, "file_digest"), reason="SKIPPED: hashlib.file_digest is new in Python 3.11")
def test_file_digest(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes(1_000_000))
    with path.open("rb") as file:
        assert hashlib.file_digest(file, pyhashloom.sha256).hexdigest() == hashlib.sha256(bytes(1_000_000)).hexdigest()
    assert hashlib.file_digest(io.BytesIO(b"abc"), pyhashloom.sha1).hexdigest() == hashlib.sha1(b"abc").hexdigest()


def test_threads_on_one_object():
    shared = pyhashloom.sha256()
    parts = [b"a" * 5000, b"a" * 64, b"a" * 1_000_000]

    def work():
        for _ in range(30):
            for part in parts:
                shared.update(part)
            shared.copy().hexdigest()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    want = hashlib.sha256()
    for _ in range(8 * 30):
        want.update(b"a" * sum(map(len, parts)))
    assert shared.digest() == want.digest()
