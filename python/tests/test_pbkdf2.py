# SPDX-License-Identifier: MIT OR Apache-2.0
"""PBKDF2, against hashlib."""

import hashlib
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interrupt import interrupted
from references import FOR_HMAC

import pyhashloom


@given(st.sampled_from(FOR_HMAC), st.binary(max_size=200), st.binary(max_size=200), st.integers(1, 5),
       st.none() | st.integers(1, 300))
def test_one(name, password, salt, iterations, dklen):
    want = hashlib.pbkdf2_hmac(name, password, salt, iterations, dklen)
    assert pyhashloom.pbkdf2_hmac(name, password, salt, iterations, dklen) == want
    keywords = {"hash_name": name, "password": bytearray(password), "salt": memoryview(salt), "iterations": iterations}
    assert pyhashloom.pbkdf2_hmac(**keywords, dklen=dklen) == want


@given(st.sampled_from(FOR_HMAC), st.lists(st.tuples(st.binary(max_size=150), st.binary(max_size=80)), max_size=70),
       st.integers(1, 3), st.none() | st.integers(1, 150), st.sampled_from([0, 1, 2, 5, 100_000]))
@settings(max_examples=60)
def test_many(name, pairs, iterations, dklen, threads):
    passwords, salts = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    want = [hashlib.pbkdf2_hmac(name, *pair, iterations, dklen) for pair in pairs]
    got = pyhashloom.pbkdf2_hmac_many(name, passwords, iter(salts), iterations, dklen, threads=threads)
    assert got == want


@pytest.mark.parametrize("arguments, error, text", [
    (("sha256", b"p", b"s", 0), ValueError, "iterations is 0: expected at least 1"),
    (("sha256", b"p", b"s", -1), ValueError, "iterations is -1"),
    (("sha256", b"p", b"s", 2**32), OverflowError, "iterations is 4294967296: at most 4294967295"),
    (("sha256", b"p", b"s", 2**70), OverflowError, "too (large|big)"),
    (("sha256", b"p", b"s", 1, 0), ValueError, "dklen is 0: expected at least 1"),
    (("sha256", b"p", b"s", 1, -5), ValueError, "dklen is -5"),
    (("sha1", b"p", b"s", 1, (2**32 - 1) * 20 + 1), OverflowError, "at most 85899345900 are allowed"),
    (("sha256", b"p", b"s", 1, 2**63 - 1), OverflowError, "dklen"),
    (("sha256", b"p", b"s", 1.5), TypeError, "float"),
    (("sha256", "p", b"s", 1), TypeError, "encoded"),
    (("sha256", b"p", "s", 1), TypeError, "encoded"),
    (("sha256", b"p", None, 1), TypeError, "buffer"),
    (("sha256", memoryview(b"abcd")[::2], b"s", 1), BufferError, "."),
    (("sha3", b"p", b"s", 1), ValueError, "unsupported hash type"),
    (("shake_128", b"p", b"s", 1), ValueError, "HMAC is not defined for shake_128"),
    ((None, b"p", b"s", 1), TypeError, "."),
])
def test_errors(arguments, error, text):
    with pytest.raises(error, match=text):
        pyhashloom.pbkdf2_hmac(*arguments)
    name, password, salt, *rest = arguments
    with pytest.raises(error, match=text):
        pyhashloom.pbkdf2_hmac_many(name, [password], [salt], *rest)


def test_errors_of_many():
    with pytest.raises(ValueError, match="a salt for each password, found 1 for 2"):
        pyhashloom.pbkdf2_hmac_many("sha256", [b"a", b"b"], [b"c"], 1)
    with pytest.raises(TypeError, match="password 1: Strings must be encoded"):
        pyhashloom.pbkdf2_hmac_many("sha256", [b"a", "b"], [b"c", b"d"], 1)
    with pytest.raises(TypeError, match="one for each salt, found bytes"):
        pyhashloom.pbkdf2_hmac_many("sha256", [b"a"], b"c", 1)
    with pytest.raises(TypeError, match="one for each password, found str"):
        pyhashloom.pbkdf2_hmac_many("sha256", "a", [b"c"], 1)
    with pytest.raises(TypeError, match="one for each password, found int"):
        pyhashloom.pbkdf2_hmac_many("sha256", 5, [b"c"], 1)
    with pytest.raises(OverflowError, match="threads"):
        pyhashloom.pbkdf2_hmac_many("sha256", [b"a"], [b"c"], 1, threads=-1)
    with pytest.raises(ZeroDivisionError):
        pyhashloom.pbkdf2_hmac_many("sha256", (b"a" for _ in [1 / 0]), [b"c"], 1)


def test_too_little_memory_is_an_error():
    """In a process of its own with 1 GiB of addresses; the keys take more."""
    pytest.importorskip("resource", reason="SKIPPED: limits of memory: not a Unix")
    program = """
import resource
import pyhashloom
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
for derive in (lambda: pyhashloom.pbkdf2_hmac("sha256", b"a", b"b", 1, 2**36),
               lambda: pyhashloom.pbkdf2_hmac_many("sha256", [b"a"], [b"b"], 1, 2**36, threads=1),
               lambda: pyhashloom.pbkdf2_hmac_many("sha256", [b"a"] * 16, [b"b"] * 16, 1, 2**36, threads=1)):
    try:
        derive()
    except MemoryError:
        continue
    raise SystemExit("no error")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_keyboard_interrupt():
    assert interrupted('pyhashloom.pbkdf2_hmac("sha256", b"p", b"s", 2**31)')
    assert interrupted('pyhashloom.pbkdf2_hmac_many("sha256", [b"p"] * 40, [b"s"] * 40, 2**31)')
    assert interrupted('pyhashloom.pbkdf2_hmac_many("sha256", [b"p"] * 10**6, [b"s"] * 10**6, 10**4)')

