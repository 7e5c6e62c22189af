# SPDX-License-Identifier: MIT OR Apache-2.0
"""A writer of bencode (BEP 3) for tests and benchmarks, independent of the crates."""


def bencode(value):
    if isinstance(value, int):
        return b"i%de" % value
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return b"%d:%s" % (len(value), value)
    if isinstance(value, list):
        return b"l" + b"".join(map(bencode, value)) + b"e"
    items = sorted((key.encode() if isinstance(key, str) else key, item) for key, item in value.items())
    return b"d" + b"".join(bencode(key) + bencode(item) for key, item in items) + b"e"
