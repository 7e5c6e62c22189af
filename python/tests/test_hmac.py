# SPDX-License-Identifier: MIT OR Apache-2.0
"""HMAC, against the module hmac."""

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
    with pytest.raises(TypeError, match="give 'sha256' or pyhashloom.sha256"):
        pyhashloom.hmac.new(b"key", b"message", hashlib.sha256)
    with pytest.raises(TypeError, match="give 'sha256' or pyhashloom.sha256"):
        pyhashloom.hmac.digest(b"key", b"message", 5)
    with pytest.raises(ValueError, match="unsupported hash type"):
        pyhashloom.hmac.new(b"key", b"message", "sha3")
    with pytest.raises(TypeError, match="encoded"):
        pyhashloom.hmac.new("key", b"message", "sha256")
    with pytest.raises(TypeError, match="encoded"):
        pyhashloom.hmac.new(b"key", "message", "sha256")


@pytest.mark.parametrize("name", XOFS)
def test_shake_is_refused(name):
    for digestmod in name, getattr(pyhashloom, name):
        for call in (
            lambda: pyhashloom.hmac.new(b"key", b"message", digestmod),
            lambda: pyhashloom.hmac.digest(b"key", b"message", digestmod),
            lambda: pyhashloom.hmac.many(b"key", [b"message"], digestmod),
        ):
            with pytest.raises(ValueError, match=f"HMAC is not defined for {name}, whose digests have no length"):
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
