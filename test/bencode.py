# SPDX-License-Identifier: MIT OR Apache-2.0
"""A writer and a reader of bencode (BEP 3) for tests and benchmarks, independent of the crates."""


class Raw(bytes):
    """Bytes that are written unchanged."""


class Pairs(list):
    """The keys and values of a dictionary, in this order even if it is wrong."""


def bencode(value):
    if isinstance(value, Raw):
        return bytes(value)
    if isinstance(value, int):
        return b"i%de" % value
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return b"%d:%s" % (len(value), value)
    if isinstance(value, dict):
        value = Pairs(sorted((key.encode() if isinstance(key, str) else key, item) for key, item in value.items()))
    if isinstance(value, Pairs):
        return b"d" + b"".join(bencode(key) + bencode(item) for key, item in value) + b"e"
    return b"l" + b"".join(map(bencode, value)) + b"e"


def bdecode(data, pos=0):
    """Decodes bencode naively; returns the value and its end. Only for torrents that the test has just made."""
    kind = data[pos : pos + 1]
    if kind == b"i":
        end = data.index(b"e", pos)
        return int(data[pos + 1 : end]), end + 1
    if kind in (b"l", b"d"):
        items, pos = [], pos + 1
        while data[pos : pos + 1] != b"e":
            item, pos = bdecode(data, pos)
            items.append(item)
        return (items if kind == b"l" else dict(zip(items[::2], items[1::2]))), pos + 1
    colon = data.index(b":", pos)
    end = colon + 1 + int(data[pos:colon])
    return data[colon + 1 : end], end
