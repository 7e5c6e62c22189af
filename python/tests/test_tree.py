# SPDX-License-Identifier: MIT OR Apache-2.0
"""Roots of hash trees: of each kind of source, and values of other programs. hashloom-tree tests the definitions."""

import base64
import errno
import hashlib
import os
import pathlib
import pickle

import pytest
from interrupt import interrupted

import pyhashloom
from pyhashloom import tree

ALICE = pathlib.Path(__file__).resolve().parents[2] / "vectors/webtorrent-fixtures/fixtures/alice.txt"
LENGTHS = [0, 1, 4095, 4096, 4097, 16384, 16385, 3 * 16384, 1 << 20, (1 << 20) + 1, 5 * (1 << 20) - 7, 11 << 20]


def sha256(data):
    return hashlib.sha256(data).digest()


def content(nbytes):
    return hashlib.shake_128(nbytes.to_bytes(8, "little")).digest(nbytes)


@pytest.mark.parametrize("nbytes", LENGTHS)
def test_roots(nbytes, tmp_path):
    data = content(nbytes)
    (tmp_path / "file").write_bytes(data)
    root = tree.bep52(data)
    assert nbytes > 16384 or root == (sha256(data) if data else None)
    for source in bytearray(data), memoryview(data), tmp_path / "file", str(tmp_path / "file"):
        for threads in 0, 1:
            assert tree.bep52(source, threads=threads) == root
    parts = [hashlib.sha1(data[i : i + (5 << 20)]).digest() for i in range(0, max(nbytes, 1), 5 << 20)]
    found = tree.s3(data, name="sha1", part_nbytes=5 << 20)
    assert (found.digest, found.parts) == (hashlib.sha1(b"".join(parts)).digest(), parts)
    assert str(found) == f"{base64.b64encode(found.digest).decode()}-{len(parts)}"
    sealed = tree.fsverity(tmp_path / "file", salt=b"pepper")
    assert sealed == tree.fsverity(data, salt=bytearray(b"pepper"))
    assert sealed.nbytes == nbytes
    assert sealed.digest == sha256(sealed.descriptor)
    assert sealed.formatted.endswith(sealed.digest)
    assert str(sealed) == "sha256:" + sealed.digest.hex()


def test_values_of_other_programs():
    # The program fsverity prints the first; Amazon's and libtorrent's code gave the others.
    assert str(tree.fsverity(ALICE)) == "sha256:ac6bc4ebbdfc5ea40b71399cc5c2486a791367a02a4a5f88692cde11e7bb9822"
    assert str(tree.s3(ALICE)) == "SM6EYOL4uGVaJtPnYVlL0w40lt3xWckH6MSD+nha+zc=-1"
    assert tree.bep52(ALICE).hex() == "f6a7594316fc9d596be837d929f9798e1879a817621de7da1b1c4041cac5f76b"
    # The check values of the three CRCs, of the digits 1 to 9.
    for name, value in ("crc64nvme", "ae8b14860a799888"), ("crc32c", "e3069283"), ("crc32", "cbf43926"):
        for part_nbytes in None, 5 << 20:
            found = tree.s3(b"123456789", name=name, part_nbytes=part_nbytes)
            is_composite = "64" not in name and part_nbytes is not None
            assert found.parts == [bytes.fromhex(value)] and ("-1" in str(found)) == is_composite
            assert part_nbytes or found.digest == found.parts[0]
    assert str(tree.s3(ALICE, name="md5")) == hashlib.md5(hashlib.md5(ALICE.read_bytes()).digest()).hexdigest() + "-1"
    # The root of a file of one block is the digest of the block.
    assert tree.fsverity(bytes(65536), block_nbytes=65536, name="sha512").root == hashlib.sha512(bytes(65536)).digest()


@pytest.mark.parametrize("call, parameter, text", [
    (lambda: tree.fsverity(b"", name="md5"), "name", "expected sha256 or sha512, found md5"),
    (lambda: tree.fsverity(b"", block_nbytes=1000), "block_nbytes", "a power of two from 1024 to 65536, found 1000"),
    (lambda: tree.fsverity(b"", salt=bytes(33)), "salt", "up to 32 bytes, found 33"),
    (lambda: tree.s3(b"", name="sha512"), "name", "expected sha1 or sha256 or md5"),
    (lambda: tree.s3(b"", part_nbytes=1), "part_nbytes", "5 MiB to 5 GiB"),
    (lambda: tree.s3(b"", part_nbytes=None), "part_nbytes", "5 MiB to 5 GiB"),
    (lambda: tree.s3(b"", name="crc32c", part_nbytes=1), "part_nbytes", "5 MiB to 5 GiB"),
])
def test_parameters(call, parameter, text):
    with pytest.raises(tree.TreeError, match=text) as raised:
        call()
    assert raised.value.parameter == parameter
    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), again.parameter) == (str(raised.value), parameter)


def test_files_that_cannot_be_read(tmp_path):
    for call in tree.bep52, tree.s3, tree.fsverity:
        with pytest.raises(pyhashloom.FileError) as raised:
            call(tmp_path / "missing")
        error = raised.value
        assert (error.errno, error.kind, error.filename) == (errno.ENOENT, "open", str(tmp_path / "missing"))
        with pytest.raises(pyhashloom.FileError) as raised:
            call(tmp_path)
        assert raised.value.errno == errno.EISDIR
    for wrong in 5, None, [b"a"]:
        with pytest.raises(TypeError):
            tree.bep52(wrong)
    with pytest.raises(ValueError, match="unsupported hash type"):
        tree.s3(b"", name="crc16")
    with pytest.raises(OverflowError):
        tree.s3(b"", part_nbytes=-1)


def test_progress(tmp_path):
    data = content(8 << 20)
    told = []
    assert tree.bep52(data, progress=lambda nbytes, total: told.append((nbytes, total))) == tree.bep52(data)
    assert told[-1] == (len(data), None)

    def stop(nbytes, total):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        tree.bep52(data, progress=stop)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="SKIPPED: trees of pipes: not a Unix")
def test_keyboard_interrupt(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)
    try:
        assert interrupted(f"pyhashloom.tree.bep52({str(pipe)!r})")
    finally:
        os.close(writer)
