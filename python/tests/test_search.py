# SPDX-License-Identifier: MIT OR Apache-2.0
"""Searches for nonces, beside the definition."""

import hashlib
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyhashloom


def text_of(nonce, digits, width):
    base, text = len(digits), b""
    while nonce or not text:
        nonce, digit = divmod(nonce, base)
        text = digits[digit:digit + 1] + text
    return text.rjust(width or 1, digits[:1])


@given(prefix=st.binary(max_size=150), suffix=st.binary(max_size=150),
       digits=st.sampled_from([None, b"01", b"0123456789"]),
       width=st.none() | st.integers(20, 30), first=st.integers(0, 5000), count=st.integers(1, 3000),
       limit=st.integers(0, 300), name=st.sampled_from(["sha1", "sha256", "sha512", "md5"]), little=st.booleans())
@settings(max_examples=60)
def test_found_are_all_that_are_low_enough(prefix, suffix, digits, width, first, count, limit, name, little):
    last = first + count - 1
    got = pyhashloom.search(name, first, last, zero_bits=4, prefix=prefix, suffix=suffix, digits=digits, width=width,
                          least_digit_first=little, limit=limit)
    alphabet = bytes(range(256)) if digits is None else digits
    want = []
    for nonce in range(first, last + 1):
        text = text_of(nonce, alphabet, width)
        if hashlib.new(name, prefix + (text[::-1] if little else text) + suffix).digest()[0] < 16:
            want.append(nonce)
    assert got == want[:limit]


def test_bitcoin_block_0():
    root = bytes.fromhex("3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a")
    header = struct.pack("<I32x32sII", 1, root, 1231006505, 0x1D00FFFF)
    found = pyhashloom.search("sha256", 2_083_230_000, 2_083_240_000, compact=0x1D00FFFF, prefix=header, width=4,
                            again="sha256", least_digit_first=True, least_byte_first=True)
    assert found == [2_083_236_893]


def test_krist_compares_the_first_48_bits():
    found = pyhashloom.search("sha256", 0, 10**6, target=(10**8).to_bytes(6, "big"), prefix=b"k8juvewcui000000abcdef",
                            digits=b"0123456789", limit=10)
    assert found[0] == 474_352
    for nonce in found:
        digest = hashlib.sha256(b"k8juvewcui000000abcdef%d" % nonce).digest()
        assert int.from_bytes(digest[:6], "big") <= 10**8


def test_the_end_of_64_bits():
    top = 2**64 - 1
    assert pyhashloom.search("sha1", top - 3, top, zero_bits=0, limit=9) == [top - 3, top - 2, top - 1, top]


@pytest.mark.parametrize("keywords, error, text", [
    ({}, TypeError, "one of target"),
    ({"zero_bits": 1, "target": b""}, TypeError, "one of target"),
    ({"zero_bits": 513}, ValueError, "at most 512"),
    ({"target": bytes(65)}, ValueError, "at most 64"),
    ({"compact": 0}, ValueError, "valid header"),
    ({"zero_bits": 1, "digits": b"0"}, ValueError, "2 to 256"),
    ({"zero_bits": 1, "width": 0}, ValueError, "1 to 64"),
    ({"zero_bits": 1, "width": 1}, ValueError, "more than 1 digits"),
    ({"zero_bits": 1, "again": "sha3"}, ValueError, "unsupported"),
    ({"zero_bits": 1, "again": "sha3_256"}, ValueError, "no search with sha3_256"),
    ({"zero_bits": 1, "prefix": "text"}, TypeError, "encoded"),
])
def test_errors(keywords, error, text):
    with pytest.raises(error, match=text):
        pyhashloom.search("sha256", 0, 1000, **keywords)


@pytest.mark.parametrize("name", ["sha3_256", "shake_128"])
def test_sponges_are_refused(name):
    with pytest.raises(ValueError, match=f"there is no search with {name}: choose another, such as sha256"):
        pyhashloom.search(name, 0, 1000, zero_bits=1)


def test_ranges_that_are_none():
    with pytest.raises(ValueError, match="after last"):
        pyhashloom.search("sha256", 2, 1, zero_bits=1)
    with pytest.raises(OverflowError):
        pyhashloom.search("sha256", 0, 2**64, zero_bits=1)
    with pytest.raises(OverflowError):
        pyhashloom.search("sha256", -1, 1, zero_bits=1)
