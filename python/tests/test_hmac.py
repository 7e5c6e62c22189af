# SPDX-License-Identifier: MIT OR Apache-2.0
"""HMAC, against the module hmac."""

import functools
import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st
from references import FOR_HMAC, XOFS

import pyhashloom


@given(st.sampled_from(FOR_HMAC), st.binary(max_size=300), st.lists(st.binary(max_size=300)))
def test_messages(name, key, messages):
    want = [hmac.new(key, message, name).digest() for message in messages]
    assert pyhashloom.hmac.many(key, messages, name) == want
    assert pyhashloom.hmac.many(key, messages, getattr(pyhashloom, name), output="joined") == b"".join(want)
    for message, tag in zip(messages, want):
        assert pyhashloom.hmac.digest(key, message, name) == tag
        assert pyhashloom.hmac.new(key, message, name).hexdigest() == tag.hex()
    ours, theirs = pyhashloom.hmac.new(key, digestmod=name), hmac.new(key, digestmod=name)
    for message in messages:
        ours.update(message)
        theirs.update(message)
    assert ours.copy().digest() == theirs.digest()
    assert (ours.name, ours.digest_size, ours.block_size) == (theirs.name, theirs.digest_size, theirs.block_size)


def test_errors():
    with pytest.raises(TypeError, match="digestmod"):
        pyhashloom.hmac.new(b"key", b"message")
    for digestmod in 5, hashlib, dict, b"sha256":
        with pytest.raises(TypeError, match="neither a name nor a constructor|missing"):
            pyhashloom.hmac.digest(b"key", b"message", digestmod)
    with pytest.raises(ValueError, match="unsupported hash type"):
        pyhashloom.hmac.new(b"key", b"message", "sha3")
    with pytest.raises(ValueError, match="HMAC is not defined for blake2b"):
        pyhashloom.hmac.new(b"key", b"message", hashlib.blake2b)
    with pytest.raises(TypeError, match="key: .*encoded"):
        pyhashloom.hmac.new("key", b"message", "sha256")
    with pytest.raises(TypeError, match="msg: .*encoded"):
        pyhashloom.hmac.new(b"key", "message", "sha256")


def test_constructors_of_hashlib():
    want = hmac.digest(b"key", b"message", "sha256")
    for digestmod in hashlib.sha256, functools.partial(hashlib.new, "sha256"), lambda: hashlib.sha256():
        assert pyhashloom.hmac.new(b"key", b"message", digestmod).digest() == want
        assert pyhashloom.hmac.many(b"key", [b"message"], digestmod) == [want]

    class Liar:
        name, digest_size, block_size = "sha256", 32, 64

        def digest(self):
            return bytes(32)

    with pytest.raises(ValueError, match="its digest of no bytes is another"):
        pyhashloom.hmac.new(b"key", b"message", Liar)


@pytest.mark.parametrize("name", XOFS)
def test_shake_is_refused(name):
    for digestmod in name, getattr(pyhashloom, name):
        for call in (
            lambda: pyhashloom.hmac.new(b"key", b"message", digestmod),
            lambda: pyhashloom.hmac.digest(b"key", b"message", digestmod),
            lambda: pyhashloom.hmac.many(b"key", [b"message"], digestmod),
        ):
            with pytest.raises(ValueError, match=f"HMAC is not defined for {name}"):
                call()


@given(st.binary(max_size=20), st.binary(max_size=20))
def test_compare_digest(a, b):
    assert pyhashloom.hmac.compare_digest(a, b) == (a == b)
    assert pyhashloom.hmac.compare_digest(a, bytearray(a))
    assert pyhashloom.hmac.compare_digest(a.hex(), b.hex()) == (a == b)


@pytest.mark.parametrize(
    "pair", [("a", b"a"), (b"a", "a"), ("\xe4", "a"), ("a", "\xe4"), (1, b""), (None, None), ("\ud800", "a")]
)
def test_compare_digest_refuses_what_the_module_hmac_refuses(pair):
    for module in hmac, pyhashloom.hmac:
        with pytest.raises(TypeError):
            module.compare_digest(*pair)
