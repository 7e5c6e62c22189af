# SPDX-License-Identifier: MIT OR Apache-2.0
"""The shape of hashlib: the same digests, attributes and errors."""

import array
import copy
import hashlib
import hmac as std_hmac
import io
import pathlib
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from references import FOR_HMAC, NAMES, OF_HASHLIB, XOFS, length_of

import pyhashloom

CONSTRUCTORS = [getattr(pyhashloom, name) for name in NAMES]


def test_every_algorithm_of_the_core_is_there():
    rows = (pathlib.Path(__file__).parents[2] / "core/src/algorithms.def").read_text().count("\nALG(")
    assert len(NAMES) == rows
    assert set(NAMES) <= set(pyhashloom.__all__)
    assert pyhashloom.algorithms_available == pyhashloom.algorithms_guaranteed
    assert {"md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "shake_128"} <= set(OF_HASHLIB)
    assert XOFS == ["shake_128", "shake_256"]


@given(st.sampled_from(OF_HASHLIB), st.lists(st.binary(max_size=300)))
def test_parts(name, parts):
    ours, theirs = pyhashloom.new(name), hashlib.new(name)
    for part in parts:
        ours.update(part)
        theirs.update(part)
        assert ours.digest(*length_of(name)) == theirs.digest(*length_of(name))
    assert ours.copy().hexdigest(*length_of(name)) == theirs.hexdigest(*length_of(name))
    assert (ours.name, ours.digest_size, ours.block_size) == (theirs.name, theirs.digest_size, theirs.block_size)


@given(st.sampled_from(XOFS), st.binary(max_size=400), st.integers(0, 1000), st.binary(max_size=400))
def test_digests_of_any_length(name, message, length, more):
    ours, theirs = pyhashloom.new(name, message), hashlib.new(name, message)
    assert ours.digest(length) == theirs.digest(length)
    assert ours.hexdigest(length=length) == theirs.hexdigest(length)
    # A digest does not end the message.
    ours.update(more)
    theirs.update(more)
    assert ours.copy().digest(length) == theirs.digest(length)


@given(st.sampled_from(["blake2b", "blake2s"]), st.data(), st.binary(max_size=300), st.binary(max_size=300))
def test_parameters_of_blake2(name, data, message, more):
    most = pyhashloom.new(name).digest_size
    parameters = {"digest_size": data.draw(st.integers(1, most)), "key": data.draw(st.binary(max_size=most)),
                  "salt": data.draw(st.binary(max_size=most // 4)),
                  "person": data.draw(st.binary(max_size=most // 4))}  # fmt: skip
    chosen = {key: parameters[key] for key in data.draw(st.sets(st.sampled_from(list(parameters))))}
    ours, theirs = getattr(pyhashloom, name)(message, **chosen), getattr(hashlib, name)(message, **chosen)
    copy = ours.copy()
    ours.update(more)
    theirs.update(more)
    assert ours.digest() == theirs.digest() and ours.digest_size == theirs.digest_size
    copy.update(more)
    assert copy.hexdigest() == theirs.hexdigest()


@pytest.mark.parametrize("wrong", [{"digest_size": 0}, {"digest_size": 65}, {"digest_size": -1}, {"key": bytes(65)},
                                   {"salt": bytes(17)}, {"person": bytes(17)}])  # fmt: skip
def test_wrong_parameters_of_blake2(wrong):
    with pytest.raises(ValueError, match="expected"):
        pyhashloom.blake2b(b"abc", **wrong)


@given(st.sampled_from([0, 1, 1024, 1025, 5000, 300_000]), st.binary(max_size=300), st.binary(max_size=300),
       st.sampled_from(["", "key", "context"]), st.binary(min_size=32, max_size=32), st.text(max_size=99))
def test_blake3(repeated, message, more, which, key, context):
    """Beside the package blake3, by BLAKE3's authors."""
    blake3 = pytest.importorskip("blake3").blake3
    parameters = {"": {}, "key": {"key": key}, "context": {"derive_key_context": context}}[which]
    message = (message or b"x") * (repeated // max(len(message), 1))
    ours, theirs = pyhashloom.blake3(message, **parameters), blake3(message, **parameters)
    copy = ours.copy()
    ours.update(more)
    theirs.update(more)
    assert ours.digest() == theirs.digest() and ours.hexdigest() == theirs.hexdigest()
    copy.update(more)
    assert copy.digest() == theirs.digest()
    assert (ours.name, ours.digest_size, ours.block_size) == (theirs.name, theirs.digest_size, theirs.block_size)
    messages = [message, more, message + more]
    assert list(pyhashloom.many("blake3", messages)) == [blake3(each).digest() for each in messages]


@pytest.mark.parametrize("wrong", [{"key": bytes(31)}, {"key": b""}, {"key": bytes(32), "derive_key_context": ""}])
def test_wrong_parameters_of_blake3(wrong):
    with pytest.raises(ValueError, match="expected 32|either"):
        pyhashloom.blake3(b"abc", **wrong)


@pytest.mark.parametrize("name", XOFS)
def test_lengths_of_digests(name):
    ours, theirs = pyhashloom.new(name, b"abc"), hashlib.new(name, b"abc")
    assert isinstance(ours, pyhashloom.HashXOF) and isinstance(ours, pyhashloom.Hash)
    assert type(ours.copy()) is pyhashloom.HashXOF
    for length in [0, 1, 167, 168, 169, 2047, 2048, 1_000_003]:
        assert ours.digest(length) == theirs.digest(length)
    for wrong in [-1, 2**29, 2**32, 2**61]:
        with pytest.raises(ValueError, match=f"length is {wrong}: expected 0 to 536870911"):
            ours.digest(wrong)
        with pytest.raises(ValueError):
            ours.hexdigest(wrong)
    for wrong in [(), (1.5,), ("16",), (None,), (1, 2)]:
        with pytest.raises(TypeError):
            ours.digest(*wrong)
    with pytest.raises(OverflowError):
        ours.digest(2**64)
    with pytest.raises(TypeError):
        pyhashloom.sha3_256(b"abc").digest(32)  # type: ignore[call-arg]


def test_ripemd160():
    # The author's vector, for systems whose hashlib lacks the algorithm.
    assert pyhashloom.ripemd160(b"abc").hexdigest() == "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"


@pytest.mark.parametrize("name, spellings", [
    ("sha512_256", ["sha512_256", "SHA512_256", "sha512-256", "SHA-512/256", "sha-512-256"]),
    ("sha3_256", ["sha3_256", "sha3-256", "SHA3-256"]),
    ("shake_128", ["shake_128", "shake128", "SHAKE128"]),
    ("shake_256", ["shake-256", "SHAKE256"]),
])
def test_spellings(name, spellings):
    assert {pyhashloom.new(spelling).name for spelling in spellings} == {name}


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
            arguments = length_of(constructor.__name__)
            ours = constructor(b"a", usedforsecurity=security)
            assert ours.digest(*arguments) == constructor(string=b"a").digest(*arguments)
        assert constructor(data=b"a").digest(*arguments) == constructor(b"a").digest(*arguments)
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
    assert repr(pyhashloom.shake_128()).startswith("<shake_128 pyhashloom.Hash object @ 0x")


def test_the_module_hmac_takes_our_constructors():
    for name in FOR_HMAC:
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
