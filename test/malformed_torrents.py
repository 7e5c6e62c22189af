#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Malformed torrents: the verdict and the error of each, and where libtorrent judges differently.

    python3 test/malformed_torrents.py path/to/hashloom [--require] [--write] [--list]

Every case says what hashloom must say: the error, and the bytes at the offset that it names; or that the torrent is
accepted, and the notes. `show`, `verify` and `edit` must agree, exit with 2 for an error, and stay within 512 MiB of
memory and 10 s of CPU time. An edit must change nothing else. Then the test asks libtorrent (PyPI). If libtorrent
judges differently, the case says why, and the table in malformed_torrents.md has a row: the test fails if the table is
out of date; --write updates it. If libtorrent is missing, that part is named as SKIPPED; with --require that is a
failure.
"""

import fnmatch
import hashlib
import json
import pathlib
import re
import resource
import subprocess
import sys

import checks
from bencode import Pairs, Raw, bencode
from checks import check, equal
from torrents import lt

DOCUMENT = pathlib.Path(__file__).with_suffix(".md")
BEGIN, END = "<!-- begin: test/malformed_torrents.py --write -->", "<!-- end -->"


# Valid torrents, to be damaged.

PIECE = 16384
DIGEST = b"x" * 20


def sha256(data):
    return hashlib.sha256(data).digest()


def changed(keys, changes):
    keys = dict(keys)
    for key, value in changes.items():
        if value is None:
            keys.pop(key, None)
        else:
            keys[key] = value
    return keys


def torrent(info, outer=None):
    return bencode({"info": info, **(outer or {})})


def v1(changes=None, outer=None):
    """A torrent of a file of 40 000 bytes, with changes to info."""
    info = {"length": 40000, "name": "name", "piece length": PIECE, "pieces": DIGEST * 3}
    return torrent(changed(info, changes or {}), outer)


def files(*entries, pieces=None, **changes):
    """A torrent of a folder of these files."""
    total = sum(e.get("length", 0) for e in entries if isinstance(e, dict) and isinstance(e.get("length", 0), int))
    count = pieces if pieces is not None else -(-total // PIECE) if 0 <= total < 1 << 30 else 1
    return v1({"length": None, "files": list(entries), "pieces": DIGEST * count, **changes})


def file(*path, length=3, **keys):
    return {"length": length, "path": list(path), **{key.replace("_", " "): value for key, value in keys.items()}}


def tree_root(blocks, levels):
    """Returns BEP 52's root over digests of blocks."""
    nodes = blocks + [bytes(32)] * ((1 << levels) - len(blocks))
    while len(nodes) > 1:
        nodes = [sha256(a + b) for a, b in zip(nodes[::2], nodes[1::2])]
    return nodes[0]


def leaf(length=3, root=sha256(b"abc"), **keys):
    properties = {"length": length, "pieces root": root, **{key.replace("_", " "): v for key, v in keys.items()}}
    return {"": {key: value for key, value in properties.items() if value is not None}}


# A file of three pieces of one block each: its layer consists of the digests of its blocks.
LAYER = [sha256(b"%d" % i) for i in range(3)]
LONG_ROOT = tree_root(LAYER, 2)
LONG = leaf(40000, LONG_ROOT)
LAYERS = {LONG_ROOT: b"".join(LAYER)}


def v2(changes=None, layers=LAYERS, **outer):
    """A torrent of a folder of a long and a short file."""
    info = {"file tree": {"long": LONG, "short": leaf()}, "meta version": 2, "name": "name", "piece length": PIECE}
    return torrent(changed(info, changes or {}), {**({} if layers is None else {"piece layers": layers}), **outer})


def tree(tree, layers=LAYERS):
    return v2({"file tree": tree}, layers)


def with_file(name, entry, layers=LAYERS):
    return tree({"long": LONG, "short": leaf(), name: entry}, layers)


def hybrid(entries=None, changes=None, layers=LAYERS, tree=None):
    """A hybrid torrent with the same files in both versions."""
    if entries is None:
        entries = [file("long", length=40000), pad(9152), file("short")]
    total = sum(entry["length"] for entry in entries)
    info = {
        "file tree": {"long": LONG, "short": leaf()} if tree is None else tree,
        "files": entries,
        "meta version": 2,
        "name": "name",
        "piece length": PIECE,
        "pieces": DIGEST * -(-total // PIECE),
    }
    return torrent(changed(info, changes or {}), {} if layers is None else {"piece layers": layers})


def pad(length):
    return file(".pad", str(length), length=length, attr="p")


# The cases.


class Case:
    def __init__(self, name, data, error=None, at=None, notes=()):
        self.name, self.data = name, data
        self.error, self.at, self.notes = error, at, list(notes)


CASES = []


def bad(name, data, error, at):
    """The torrent is refused with this error, in which {} stands for an offset; `at`: the bytes at that offset."""
    CASES.append(Case(name, data, error=error, at=at))


def good(name, data, *notes):
    """The torrent is accepted with these notes, in which {} stands for an offset."""
    CASES.append(Case(name, data, notes=notes))


def ignored(value):
    """A torrent with the value under a key that nothing reads."""
    return v1(outer={"zzz": value})


def raw_ignored(data):
    return ignored(Raw(data))


def bencode_cases():
    error = "not a torrent: byte {}: "
    cut = "; the file is cut short or damaged: get it again"
    begins = "expected a dictionary, which begins with 'd'"
    value = error + begins + ", found "

    def within(key):
        return f"not a torrent: {key}, byte {{}}: "

    zzz = within("zzz")
    key_or_end = "a key (a string) or 'e' (the end of a dictionary)"
    bad("nothing", b"", "not a torrent: the file is empty; " + begins, None)
    bad("a web page", b"<!DOCTYPE html>", "expected a .torrent file, found an HTML page; the download may have asked"
        " for a login", None)
    bad("a magnet link", b"magnet:?xt=urn:btih:" + b"0" * 40, "expected a .torrent file, found a magnet link, which "
        "names"
        " a torrent without its content; let a client fetch the .torrent file", None)
    bad("gzip", b"\x1f\x8b\x08\0", "expected a .torrent file, found gzip; unpack it first, with gzip -dc", None)
    bad("a database", b"SQLite format 3\0",
        "expected a .torrent file, found an SQLite database, which qBittorrent keeps its torrents in if told to. "
        "Choose fastresume files in qBittorrent's settings (Advanced, resume data storage "
        "type), and start and end it: it then has .torrent and .fastresume files in BT_backup", None)
    bad("a blank before", b" " + v1(), value + "the byte 0x20", b" ")
    bad("a byte order mark before", b"\xef\xbb\xbf" + v1(), value + "the byte 0xef", b"\xef")
    bad("an end alone", b"e", value + "'e'", b"e")
    for name, data, kind in [
        ("an integer", b"i1e", "an integer"),
        ("a string", b"4:spam", "a string"),
        ("a list", b"le", "a list"),
        ("a list of a torrent", bencode([Raw(v1())]), "a list"),
    ]:
        bad(f"{name} instead of a dictionary", data, f"not a torrent: byte {{}}: expected a dictionary, found "
            f"{kind}", data)
    bad("cut in a string", v1()[:-20],
        within("info.pieces") + "a string of 60 bytes begins, but only 42 bytes are left" + cut, b"60:")
    bad("cut before the last end", v1()[:-1], error + f"the input ends, expected {key_or_end}" + cut, b"")
    bad("cut in an integer", b"d3:agei12",
        within("age") + "the input ends, expected a digit or 'e' (the end of an integer)" + cut, b"")
    bad("cut in a length", b"d12", error + "the input ends, expected a digit or ':' in the length of a string" + cut,
        b"")
    bad("cut before a value", b"d3:age", within("age") + "the input ends, expected a value for the key" + cut, b"")
    deep = "more than 100 lists and dictionaries inside each other"
    lists = "[0]" * 8 + "…"
    bad("5 MB of l", b"l" * 5_000_000, within(lists) + deep, b"l")
    bad("5 MB of d1:a", b"d1:a" * 1_250_000, within(".".join("a" * 8) + "…") + deep, b"d")
    in_zzz = within("zzz" + "[0]" * 7 + "…") + deep
    bad("200 000 nested lists in an ignored key", raw_ignored(b"l" * 200_000 + b"e" * 200_000), in_zzz, b"l")
    bad("100 nested lists in an ignored key", raw_ignored(b"l" * 100 + b"e" * 100), in_zzz, b"l")
    good("98 nested lists in an ignored key", raw_ignored(b"l" * 98 + b"e" * 98))
    bad("i+5e", raw_ignored(b"i+5e"), zzz + "expected a digit of an integer, found '+'", b"+5e")
    good("i-0e", raw_ignored(b"i-0e"), "byte {}: an integer is -0")
    good("i-0e as the length of an empty file", v1({"length": Raw(b"i-0e"), "pieces": b""}),
        "byte {}: an integer is -0")
    good("leading zeros of a piece length", v1({"piece length": Raw(b"i0016384e")}),
        "byte {}: an integer with a leading zero")
    good("an integer of 2^64 in an ignored key", ignored(1 << 64))
    good("an integer of 100 000 digits in an ignored key", raw_ignored(b"i" + b"7" * 100_000 + b"e"))
    good("leading zeros of a string's length", raw_ignored(b"005:abcde"),
        "byte {}: the length of a string has a leading zero")
    left = zzz + "a string of {} bytes begins, but only {} bytes are left" + cut
    for length in (10, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1):
        data = raw_ignored(b"%d:abcde" % length)
        bad(f"a string of {length} bytes that are missing", data, left.format("{}", length, 6), b"%d:" % length)
    bad("a length of 2^64", raw_ignored(b"%d:a" % (1 << 64)), zzz + "the length of a string does not fit 64 bits",
        b"1844")
    bad("a length of 100 000 digits", raw_ignored(b"9" * 100_000 + b":a"),
        zzz + "the length of a string does not fit 64 bits", b"999")
    bad("an integer as a key", raw_ignored(b"di1e1:ae"), zzz + f"expected {key_or_end}, found 'i'", b"i1e")
    bad("a key without a value", raw_ignored(b"d1:ae"), within("zzz.a") + "expected a value for the key, found 'e'",
        b"ee")
    good("a key with a NUL byte", raw_ignored(b"d3:a\0bi1ee"))
    good("a line break after the end", v1() + b"\r\n", "byte {}: 2 bytes follow the end, they are ignored")
    good("another torrent after the end", v1() * 2, "byte {}: 130 bytes follow the end, they are ignored")
    good("a block of zeros after the end", v1() + bytes(512), "byte {}: 512 bytes follow the end, they are ignored")
    twice = 'byte {}: key "KEY" is there twice, the first counts'
    info = {"length": 3, "name": "name", "piece length": PIECE, "pieces": DIGEST}
    good("info twice", bencode(Pairs([("info", info), ("info", info)])), twice.replace("KEY", "info"))
    good("info twice, the second wrong", bencode(Pairs([("info", info), ("info", 1)])), twice.replace("KEY", "info"))
    bad("info twice, the first wrong", bencode(Pairs([("info", 1), ("info", info)])),
        "info, byte {}: expected a dictionary, found an integer", b"i1e")
    good("an ignored key twice", ignored(Pairs([("a", 1), ("a", 2)])), twice.replace("KEY", "a"))
    good("a name twice", torrent(Pairs([("length", 3), ("name", "a"), ("name", ".."), ("piece length", PIECE),
        ("pieces", DIGEST)])), twice.replace("KEY", "name"))
    good("keys of info not sorted", torrent(Pairs(reversed(info.items()))),
        'byte {}: key "piece length" comes after "pieces": keys are not sorted',
        'byte {}: key "name" comes after "pieces": keys are not sorted',
        'byte {}: key "length" comes after "pieces": keys are not sorted')
    good("outer keys not sorted", bencode(Pairs([("info", info), ("announce", "a")])),
        'byte {}: key "announce" comes after "info": keys are not sorted')


def info_cases():
    bad("no info", b"de", "info, byte {}: this key is missing; expected a dictionary that describes the files", b"de")
    bad("no info, but its keys outside", bencode({"length": 3, "name": "a", "piece length": 1, "pieces": b""}),
        "info, byte {}: this key is missing; expected a dictionary that describes the files", b"d")
    for name, value, kind in [
        ("an integer", 1, "an integer"),
        ("a list", [], "a list"),
        ("a string", v1(), "a string"),
    ]:
        bad(f"info is {name}", torrent(value), f"info, byte {{}}: expected a dictionary, found {kind}", bencode(value))
    bad("info is empty", torrent({}), "info.name, byte {}: this key is missing; expected a string: the name of the "
        "file or folder", b"de")

    bad("no name", v1({"name": None}), "info.name, byte {}: this key is missing; expected a string: the name of the "
        "file or folder", b"d6:length")
    bad("a name that is an integer", v1({"name": 1}), "info.name, byte {}: expected a string, found an integer", b"i1e")
    bad("a name that is a list", v1({"name": ["a"]}), "info.name, byte {}: expected a string, found a list", b"l1:ae")
    for name, text in [
        ("", "is empty"),
        (".", "stands for the folder itself"),
        ("..", "leads out of the folder"),
        ("/", "has a path separator in it"),
        ("/etc/passwd", "has a path separator in it"),
        ("../../x", "has a path separator in it"),
        ("a/b", "has a path separator in it"),
        ("a\0b", "has a NUL byte in it"),
    ]:
        shown = name.replace("\0", "\\x00")
        bad(f'the name "{shown}"', v1({"name": name}), f'info.name, byte {{}}: the name "{shown}" {text}',
            bencode(name))
    good("a name with backslashes", v1({"name": "..\\..\\x"}))
    good("a name of 300 bytes", v1({"name": "a" * 300}))
    good("a name that is not UTF-8", v1({"name": b"\xff\xfe"}))
    good("a name of control characters", v1({"name": "\x1b[2J\x07"}))
    good("name.utf-8 goes first", v1({"name": "..", "name.utf-8": "ok"}))
    bad("a bad name.utf-8", v1({"name.utf-8": "../up"}),
        'info.name.utf-8, byte {}: the name "../up" has a path separator in it', b"5:../up")
    good("a name.utf-8 that is an integer", v1({"name.utf-8": 1}))

    key = "info.piece length, byte {}: "
    bad("no piece length", v1({"piece length": None}), key + "this key is missing; expected an integer: the number "
        "of bytes in a piece", b"d6:length")
    bad("a piece length that is a string", v1({"piece length": "16384"}), key + "expected an integer, found a string",
        b"5:16384")
    for length in (0, -1, -16384, -(1 << 63)):
        bad(f"a piece length of {length}", v1({"piece length": length}), key + f"must be at least 1, found {length}",
            bencode(length))
    for power in (40, 62):
        bad(f"a piece length of 2^{power}", v1({"piece length": 1 << power}),
            key + f"must be at most 4294967296 (no client can ask for more), found {1 << power}", bencode(1 << power))
    bad("a piece length of 2^32 + 1", v1({"piece length": (1 << 32) + 1}),
        key + "must be at most 4294967296 (no client can ask for more), found 4294967297", b"i4294967297e")
    for power in (63, 64, 200):
        digits = str(1 << power)[:40]
        bad(f"a piece length of 2^{power}", v1({"piece length": 1 << power}),
            key + f'the integer "{digits}" does not fit 64 bits', bencode(1 << power))
    for power in (29, 30, 31, 32):
        good(f"a piece length of 2^{power}", v1({"piece length": 1 << power, "pieces": DIGEST}))
    good("a piece length of 1", v1({"length": 3, "piece length": 1}))
    good("a piece length of 16383", v1({"piece length": 16383}))

    key = "info.pieces, byte {}: "
    need = key + "files of 40000 bytes in pieces of 16384 need 3 digests, found "
    bad("no pieces", v1({"pieces": None}), key + "this key is missing; expected a string: a 20-byte SHA-1 digest for "
        "each piece", b"d6:length")
    bad("pieces that are an integer", v1({"pieces": 3}), key + "expected a string, found an integer", b"i3e")
    bad("pieces that are a list", v1({"pieces": [DIGEST] * 3}), key + "expected a string, found a list", b"l20:")
    for count in (0, 1, 2, 4, 6):
        bad(f"{count} digests for 3 pieces", v1({"pieces": DIGEST * count}), need + str(count), b"%d:" % (20 * count))
    for nbytes in (1, 19, 59, 61, 96):
        bad(f"pieces of {nbytes} bytes", v1({"pieces": b"x" * nbytes}),
            key + f"must be a whole number of 20-byte SHA-1 digests, found {nbytes} bytes", b"%d:" % nbytes)

    key = "info.length, byte {}: "
    bad(
        "neither length nor files",
        v1({"length": None}),
        "info.length (or info.files), byte {}: this key is missing; expected an integer: the file's length (or a list "
        "of files)",
        b"d4:name",
    )
    bad("a length that is a string", v1({"length": "40000"}), key + "expected an integer, found a string", b"5:40000")
    for length in (-1, -(1 << 63)):
        bad(f"a length of {length}", v1({"length": length}), key + f"must be at least 0, found {length}",
            bencode(length))
    bad("a length of 2^63", v1({"length": 1 << 63}), key + 'the integer "9223372036854775808" does not fit 64 bits',
        b"i9223")
    bad(
        "a length of 2^63 - 1 for 3 digests",
        v1({"length": (1 << 63) - 1}),
        "info.pieces, byte {}: files of 9223372036854775807 bytes in pieces of 16384 need 562949953421312 digests, "
        "found 3",
        b"60:",
    )
    good("an empty file", v1({"length": 0, "pieces": b""}))


def files_cases():
    key = "info.files, byte {}: "
    bad("files that are an integer", v1({"files": 1}), key + "expected a list, found an integer", b"i1e")
    bad("files that are a dictionary", v1({"files": {}}), key + "expected a list, found a dictionary", b"de")
    bad("an empty list of files", files(), key + "the list of files is empty; expected at least one", b"le")
    bad("a file that is an integer", files(file("a"), 7),
        "info.files[1], byte {}: expected a dictionary, found an integer", b"i7e")
    bad("a file that is a list", files(file("a"), []), "info.files[1], byte {}: expected a dictionary, found a list",
        b"le")
    bad("a file without a path", files(file("a"), {"length": 3}),
        "info.files[1].path, byte {}: this key is missing; expected a list: the folders of the file, and its name",
        b"d6:lengthi3ee")
    bad("a file without a length", files(file("a"), {"path": ["b"]}),
        "info.files[1].length, byte {}: this key is missing; expected an integer: the file's length", b"d4:pathl1:bee")
    key = "info.files[1].length, byte {}: "
    bad("a file's length that is a string", files(file("a"), file("b", length="3")),
        key + "expected an integer, found a string", b"1:3")
    bad("a negative length among others", files(file("a", length=7), file("b", length=-5)),
        key + "must be at least 0, found -5", b"i-5e")
    bad("a file of 2^64 bytes", files(file("a"), file("b", length=1 << 64)),
        key + 'the integer "18446744073709551616" does not fit 64 bits', b"i1844")
    total = key + "with this file the lengths of all files sum to 2^63 or more"
    bad("lengths that sum to 2^63", files(file("a", length=1 << 62), file("b", length=1 << 62)), total,
        bencode(1 << 62))
    bad("lengths that sum to 2^64", files(file("a", length=(1 << 63) - 1), file("b", length=(1 << 63) - 1),
        file("c", length=2)), total, bencode((1 << 63) - 1))
    bad("lengths that sum to 2^64 and 3 bytes", files(*[file("abcdefgh"[i], length=1 << 61) for i in range(8)],
        file("z")), "info.files[3].length, byte {}: with this file the lengths of all files sum to 2^63 or more",
        bencode(1 << 61))
    bad("a padding file of 2^50 bytes", files(file("a"), pad(1 << 50), pieces=1),
        "info.pieces, byte {}: files of 1125899906842627 bytes in pieces of 16384 need 68719476737 digests, found 1",
        b"20:")
    bad("a padding file of 2^63 - 1 bytes", files(file("a"), pad((1 << 63) - 1), pieces=1), total,
        bencode((1 << 63) - 1))

    key = "info.files[1].path, byte {}: "
    bad("a path that is a string", files(file("a"), {"length": 3, "path": "b"}),
        key + "expected a list, found a string", b"1:b")
    bad("a path without components", files(file("a"), file()), key + "the path is empty; expected the names of "
        "folders, and of the file", b"le")
    bad("a component that is an integer", files(file("a"), file("b", 1)),
        "info.files[1].path[1], byte {}: expected a string, found an integer", b"i1e")
    for path, which, text in [
        ([""], 0, "is empty"),
        (["", "etc", "passwd"], 0, "is empty"),
        (["b", ""], 1, "is empty"),
        (["."], 0, "stands for the folder itself"),
        (["b", ".", "c"], 1, "stands for the folder itself"),
        ([".."], 0, "leads out of the folder"),
        (["..", "..", "x"], 0, "leads out of the folder"),
        (["b", "..", "c"], 1, "leads out of the folder"),
        (["b", ".."], 1, "leads out of the folder"),
        (["/etc/passwd"], 0, "has a path separator in it"),
        (["b", "../../x"], 1, "has a path separator in it"),
        (["b/c"], 0, "has a path separator in it"),
        (["/"], 0, "has a path separator in it"),
        (["b\0c"], 0, "has a NUL byte in it"),
    ]:
        joined, component = ("/".join(path)).replace("\0", "\\x00"), path[which].replace("\0", "\\x00")
        place = f"info.files[1].path[{which}], byte {{}}: "
        where = (
            f'the name "{component}"' if joined == component else f'in the path "{joined}" the component "{component}"'
        )
        bad(f"the path {json.dumps(path)}", files(file("a"), file(*path)), f"{place}{where} {text}",
            bencode(path[which]))
    bad("the path of control characters", files(file("a"), file(b"\x1b]0;\xe2\x80\xae\xff", "..")),
        'info.files[1].path[1], byte {}: in the path "\\x1b]0;\\u{202e}\\xff/.." the component ".." leads out of the '
        "folder", b"2:..")
    good("a component with backslashes", files(file("a"), file("..\\..\\x")))
    good("a component of a drive", files(file("a"), file("C:", "x")))
    good("a component that is not UTF-8", files(file("a"), file(b"\xff")))
    good("a path of 200 folders", files(file("a"), file(*["b"] * 200)))
    good("a component of 10 000 bytes", files(file("a"), file("b" * 10_000)))
    good("path.utf-8 goes first", files(file("a"), {"length": 3, "path": [".."], "path.utf-8": ["b"]}))
    bad("a bad path.utf-8", files(file("a"), {"length": 3, "path": ["b"], "path.utf-8": [".."]}),
        'info.files[1].path.utf-8[0], byte {}: the name ".." leads out of the folder', b"2:..")
    good("a path.utf-8 that is a string", files(file("a"), {"length": 3, "path": ["b"], "path.utf-8": ".."}))
    bad("two files of one path", files(file("a"), file("a")), key + 'the path "a" is also that of info.files[0]',
        b"l1:ae")
    good("two files whose names differ in case", files(file("a"), file("A")))
    bad("a file in a file", files(file("a"), file("a", "b")),
        key + '"a/b" lies inside "a", which info.files[0] says is a file', b"l1:a1:be")
    bad("a file in a later file", files(file("a", "b"), file("a")),
        'info.files[0].path, byte {}: "a/b" lies inside "a", which info.files[1] says is a file', b"l1:a1:be")
    good("length beside files", files(file("a"), length=3),
        "info.length: there are both length and files, files counts")
    good("empty files only", files(file("a", length=0), file("b", length=0)))
    good("padding only", files(pad(5)))
    good("padding without a path", files(file("a"), {"length": 5, "attr": "p"}))
    good("padding whose path leads out", files(file("a"), {"length": 5, "attr": "p", "path": [".."]}))
    good("two padding files of one path", files(file("a"), pad(5), pad(5)))
    good("an attr that is an integer", files(file("a", attr=1)))
    good("an attr of unknown letters", files(file("a", attr="zq?")))
    good("a symbolic link", files(file("a"), file("b", length=0, attr="l", symlink_path=["a"])))
    good("a symbolic link without a target", files(file("a"), file("b", length=0, attr="l")))
    good("a symbolic link without a length", files(file("a"), {"path": ["b"], "attr": "l", "symlink path": ["a"]}))
    good("a symbolic link with a length", files(file("a"), file("b", length=9, attr="l", symlink_path=["a"]), pieces=1))
    leads = "info.files: byte {}: a symbolic link leads out of the torrent's folder"
    good("a symbolic link that leads out", files(file("a"),
        file("b", length=0, attr="l", symlink_path=["..", "..", "x"])), leads)
    good("a symbolic link to an absolute path", files(file("a"),
        file("b", length=0, attr="l", symlink_path=["/etc/passwd"])), leads)
    good("100 000 empty files", files(*[file("d", str(i), length=0) for i in range(100_000)], file("z")))


def version_cases():
    key = "info.meta version, byte {}: "
    unknown = "version {} of the torrent format is unknown; versions 1 and 2 are known"
    for version in (0, 3, -1, 1 << 64):
        bad(f"meta version {version}", v1({"meta version": version}), key + unknown.replace("{}", str(version)),
            bencode(version))
    bad("a meta version that is a string", v1({"meta version": "2"}), key + "expected an integer, found a string",
        b"1:2")
    good("meta version 1", v1({"meta version": 1}))
    bad("meta version 2 without a file tree", v1({"meta version": 2}),
        "info.file tree, byte {}: this key is missing; expected a dictionary of the files", b"d6:length")
    bad("a v2 torrent without its version", v2({"meta version": None}), key + "this key is missing; expected the "
        "integer 2, as there is a file tree without pieces", b"d4:long")
    bad("a v2 torrent that says 1", v2({"meta version": 1}),
        "info.pieces, byte {}: this key is missing; expected a string: a 20-byte SHA-1 digest for each piece",
        b"d9:file tree")
    good("a v1 torrent with a file tree but no version", v1({"file tree": {"x": leaf()}}),
        "info.file tree: it is there without meta version 2, and is ignored")


def v2_cases():
    key = "info.file tree, byte {}: "
    bad("a file tree that is a list", tree([]), key + "expected a dictionary, found a list", b"le")
    bad("an empty file tree", tree({}), key + "the list of files is empty; expected at least one", b"de")
    bad("a file tree of empty folders", tree({"a": {"b": {}}}), key + "the list of files is empty; expected at least "
        "one", b"d1:ad1:bdeee")
    power = "info.piece length, byte {}: must be a power of two and at least 16384 in a v2 or hybrid torrent, found "
    for length in (1, 8192, 16383, 16385, 24576, 49152, (1 << 30) + 16384):
        bad(f"a v2 piece length of {length}", v2({"piece length": length}), power + str(length), bencode(length))
    for length in (0, -16384):
        bad(f"a v2 piece length of {length}", v2({"piece length": length}),
            f"info.piece length, byte {{}}: must be at least 1, found {length}", bencode(length))
    bad("a v2 piece length of 2^33", v2({"piece length": 1 << 33}),
        "info.piece length, byte {}: must be at most 4294967296 (no client can ask for more), found 8589934592",
        b"i8589")
    good("a v2 piece length of 2^32", v2({"piece length": 1 << 32}, {}))
    bad("a v2 name that leads out", v2({"name": ".."}), 'info.name, byte {}: the name ".." leads out of the folder',
        b"2:..")
    bad("a v2 torrent without a name", v2({"name": None}), "info.name, byte {}: this key is missing; expected a "
        "string: the name of the file or folder", b"d9:file tree")

    x = 'info.file tree["x"]'
    bad("an entry that is an integer", with_file("x", 1), x + ", byte {}: expected a dictionary, found an integer",
        b"i1e")
    bad("an entry that is a list", with_file("x", []), x + ", byte {}: expected a dictionary, found a list", b"le")
    bad("properties that are an integer", with_file("x", {"": 1}),
        x + ", byte {}: expected a dictionary, found an integer", b"i1e")
    bad("a v2 file without a length", with_file("x", leaf(None)),
        x + ".length, byte {}: this key is missing; expected an integer: the file's length", b"d11:pieces root")
    bad("properties that are empty", with_file("x", {"": {}}), x + ".length, byte {}: this key is missing; expected "
        "an integer: the file's length", b"de")
    bad("a v2 length that is a string", with_file("x", leaf("3")),
        x + ".length, byte {}: expected an integer, found a string", b"1:3")
    bad("a negative v2 length", with_file("x", leaf(-3)), x + ".length, byte {}: must be at least 0, found -3", b"i-3e")
    bad("a v2 length of 2^63", with_file("x", leaf(1 << 63)),
        x + '.length, byte {}: the integer "9223372036854775808" does not fit 64 bits', b"i9223")
    total = x + ".length, byte {}: with this file the lengths of all files sum to 2^63 or more"
    bad("v2 lengths that sum to 2^63", with_file("x", leaf((1 << 63) - 1)), total, b"i9223")
    bad(
        "a v2 length beyond what its layer has",
        with_file("x", leaf(1 << 40, LONG_ROOT)),
        'piece layers, byte {}: the layer of "x" must be a 32-byte digest for each of its 67108864 pieces, '
        "found 96 bytes",
        b"96:",
    )
    root = x + ".pieces root, byte {}: "
    bad("a v2 file without a root", with_file("x", leaf(3, None)), root + "this key is missing; expected a string: "
        "the 32-byte SHA-256 root of the file", b"d6:lengthi3ee")
    bad("a root that is an integer", with_file("x", leaf(3, 1)), root + "expected a string, found an integer", b"i1e")
    for nbytes in (0, 20, 31, 33, 64):
        bad(f"a root of {nbytes} bytes", with_file("x", leaf(3, b"r" * nbytes)),
            root + f"must be a 32-byte SHA-256 digest, found {nbytes} bytes", b"%d:" % nbytes)
    good("a root of zeros", with_file("x", leaf(3, bytes(32))))
    good("an empty v2 file", with_file("x", leaf(0, None)))
    good("an empty v2 file alone", tree({"x": leaf(0, None)}, {}))
    good("an empty v2 file with a root", with_file("x", leaf(0)),
        "info.file tree: byte {}: a file without content has a pieces root")
    bad("a padding file in the tree", with_file("x", leaf(attr="p")),
        x + ".attr, byte {}: a padding file, which a v2 file tree cannot have", b"d4:attr")
    good("an executable v2 file", with_file("x", leaf(attr="x")))
    good("a v2 symbolic link", with_file("x", leaf(None, None, attr="l", symlink_path=["long"])))
    good("a v2 symbolic link with a length and a root", with_file("x", leaf(attr="l", symlink_path=["long"])),
        "info.file tree: byte {}: a file without content has a pieces root")
    good("a v2 symbolic link that leads out", with_file("x", leaf(None, None, attr="l", symlink_path=["..", "x"])),
        "info.file tree: byte {}: a symbolic link leads out of the torrent's folder")

    bad("a file at the top of the tree", tree(leaf()), 'info.file tree[""], byte {}: the name "" is empty',
        b"0:d6:length")
    bad("a file at the top beside others", tree({"long": LONG, **leaf()}),
        'info.file tree[""], byte {}: the name "" is empty', b"0:d6:length")
    both = ', byte {}: "x" is both a file and a folder'
    bad("a v2 file that is a folder too", with_file("x", {**leaf(), "y": leaf()}), x + both, b"1:yd0:")
    bad("a v2 folder that is a file too, later", with_file("x", Pairs([("y", leaf()), ("", leaf()[""])])), x + both,
        b"0:d6:length")
    bad("a v2 file twice", tree(Pairs([("x", leaf()), ("x", leaf())])), x + ', byte {}: "x" is there twice', b"1:xd0:")
    bad("a v2 folder twice", tree(Pairs([("x", {"a": leaf()}), ("x", {"b": leaf()})])),
        x + ', byte {}: "x" is there twice', b"1:xd1:b")
    bad("a v2 file twice, others between", tree(Pairs([("x", leaf()), ("b", leaf()), ("x", leaf())])),
        x + ', byte {}: "x" is there twice', b"1:xd0:")
    unsorted = 'byte {}: key "long" comes after "short": keys are not sorted'
    good("a file tree that is not sorted", tree(Pairs([("short", leaf()), ("long", LONG)])), unsorted)
    good("an empty v2 folder", with_file("x", {}), "info.file tree: byte {}: a folder without files")
    for name, text in [
        (".", "stands for the folder itself"),
        ("..", "leads out of the folder"),
        ("/etc", "has a path separator in it"),
        ("../x", "has a path separator in it"),
        ("a\0b", "has a NUL byte in it"),
    ]:
        shown = name.replace("\0", "\\x00")
        bad(f"the v2 name {json.dumps(name)}", with_file(name, leaf()),
            f'info.file tree["{shown}"], byte {{}}: the name "{shown}" {text}', bencode(name))
        bad(f"the v2 folder {json.dumps(name)}", with_file("x", {name: leaf()}),
            f'info.file tree["x/{shown}"], byte {{}}: in the path "x/{shown}" the component "{shown}" {text}',
            bencode(name))
    good("a v2 name that is not UTF-8", with_file(b"\xff", leaf()))

    def nested(depth):
        entry = leaf()
        for _ in range(depth):
            entry = {"d": entry}
        return with_file("x", entry)

    good("a v2 tree of 90 folders", nested(90))
    key = "info.file tree.x" + ".d" * 5
    deep = f"not a torrent: {key}…, byte {{}}: more than 100 lists and dictionaries inside each other"
    bad("a v2 tree of 100 folders", nested(100), deep, b"d")
    raw = Raw(b"d1:d" * 200_000 + b"d0:d6:lengthi0eee" + b"e" * 200_000)
    bad("a v2 tree of 200 000 folders", tree(raw), deep.replace(".x.", ".d."), b"d")
    wide = {b"%06d" % i: leaf(0, None) for i in range(50_000)}
    good("50 000 empty v2 files", tree(wide | {"long": LONG}))

    good("pieces missing but files there", v2({"files": [file("long")]}),
        "info.files: it is there without pieces, the file tree counts")
    good("pieces missing but length there", v2({"length": 40003}),
        "info.length: it is there without pieces, the file tree counts")
    good("one v2 file of another name", tree({"other": leaf()}, {}))

    key = "piece layers, byte {}: "
    missing = (
        "piece layers: missing, as in the copy that a client keeps: without them, pieces of version 2 are proved only "
        "together, a whole file at a time"
    )
    good("no piece layers", v2(layers=None), missing)
    good("empty piece layers", v2(layers={}), missing)
    bad("one of two piece layers", tree({"long": LONG, "other": leaf(40_000, b"x" * 32)}),
        key + 'no layer for the pieces root of "other", which is longer than a piece; '
        'a client that has the content can save the torrent with its '
        "layers", b"d32:")
    good("no piece layers, and none needed", tree({"x": leaf()}, None),
        "piece layers: this key is missing, though no file needs it")
    bad("piece layers that are a list", v2(layers=[]), key + "expected a dictionary, found a list", b"le")
    bad("a layer that is a list", v2(layers={LONG_ROOT: LAYER}), key + "expected a string, found a list", b"l32:")
    wrong = key + 'the layer of "long" must be a 32-byte digest for each of its 3 pieces, found {} bytes'
    for nbytes in (0, 32, 64, 95, 97, 128):
        layer = (b"".join(LAYER) * 2)[:nbytes]
        bad(f"a layer of {nbytes} bytes", v2(layers={LONG_ROOT: layer}), wrong.format("{}", nbytes), b"%d:" % nbytes)
    leads = key + 'the layer of "long" does not lead to the file\'s pieces root: the torrent is damaged; get it again'
    spoilt = bytes([LAYER[0][0] ^ 1]) + b"".join(LAYER)[1:]
    bad("a layer with a flipped bit", v2(layers={LONG_ROOT: spoilt}), leads, b"96:")
    bad("a layer in another order", v2(layers={LONG_ROOT: b"".join(reversed(LAYER))}), leads, b"96:")
    bad("a layer of zeros", v2(layers={LONG_ROOT: bytes(96)}), leads, b"96:")
    bad("a key of piece layers of 31 bytes", v2(layers=LAYERS | {b"k" * 31: b""}),
        key + "must be a 32-byte SHA-256 digest, found 31 bytes", b"31:")
    one = "piece layers: 1 layer is of no file longer than a piece"
    good("a layer that no file needs", v2(layers=LAYERS | {b"k" * 32: b"".join(LAYER)}), one)
    good("a layer of a file of one piece", v2(layers=LAYERS | {sha256(b"abc"): sha256(b"abc")}), one)
    good("a layer that no file needs, of 5 bytes", v2(layers=LAYERS | {b"k" * 32: b"12345"}), one)
    good("two files that share a layer", with_file("x", LONG))
    bad("two lengths for one layer", with_file("x", leaf(20000, LONG_ROOT)),
        'piece layers, byte {}: the layer of "x" must be a 32-byte digest for each of its 2 pieces, found 96 bytes',
        b"96:")
    good("a layer twice", v2(layers=Pairs([*LAYERS.items(), *LAYERS.items()])),
        'byte {}: key "KEY" is there twice, the first counts')

    # Data that many files share must not be multiplied without limit.
    count = 1 << 14
    nodes = [sha256(b"%d" % i) for i in range(count)]
    root = tree_root(nodes, 14)
    shared = {b"%05d" % i: leaf(count * PIECE, root) for i in range(2000)}
    bad(
        "2000 files of 512 KiB of layer, shared",
        tree(shared, {root: b"".join(nodes)}),
        'info.file tree["00032"].pieces root, byte {}: the roots of the pieces need more than 16777216 bytes '
        "of memory, far more than the torrent has",
        b"32:",
    )
    long_name = {"f" * 100_000: {b"%05d" % i: leaf(0, None) for i in range(1000)}}
    bad(
        "1000 files in a folder of a name of 100 000 bytes",
        tree(long_name),
        f'info.file tree["{"f" * 200}…" (100006 bytes)], byte {{}}: the paths of the files need more than 16777216 '
        "bytes of memory, far more than the torrent has",
        b"d6:length",
    )


def hybrid_cases():
    good("a hybrid", hybrid())
    good("a hybrid that ends with padding", hybrid([file("long", length=40000), pad(9152), file("short"), pad(16381)]))
    good("a hybrid with empty files", hybrid([file("e", length=0), file("long", length=40000), pad(9152),
        file("short")], tree={"e": leaf(0, None), "long": LONG, "short": leaf()}))
    good("a hybrid whose empty files are in another order",
        hybrid([file("f", length=0), file("e", length=0), file("long", length=40000), pad(9152), file("short")],
        tree={"e": leaf(0, None), "f": leaf(0, None), "long": LONG, "short": leaf()}))
    one = {"length": 3, "files": None, "pieces": DIGEST, "file tree": {"name": leaf()}}
    good("a hybrid of one file", hybrid(changes=one, layers={}))
    disagree = ": the v1 and v2 halves disagree: "
    long, short = 'info.file tree["long"], byte {}', 'info.file tree["short"], byte {}'
    whole = "info.file tree, byte {}"
    at_long, at_short = bencode(LONG[""]), bencode(leaf()[""])
    bad("a hybrid of one file of another name", hybrid(changes={**one, "file tree": {"x": leaf()}}, layers={}),
        'info.file tree["x"], byte {}' + disagree + 'where v1 has "name", v2 has "x"', at_short)
    bad("another path in v1", hybrid([file("lang", length=40000), pad(9152), file("short")]),
        long + disagree + 'where v1 has "lang", v2 has "long"', at_long)
    bad("another order in v1", hybrid([file("short"), pad(16381), file("long", length=40000)]),
        long + disagree + 'where v1 has "short", v2 has "long"', at_long)
    bad("a file that v1 lacks", hybrid([file("long", length=40000)]), short + disagree + 'v1 has no "short"', at_short)
    bad("a file that v2 lacks", hybrid([file("long", length=40000), pad(9152), file("short"), pad(16381), file("x")]),
        whole + disagree + 'v2 has no "x"', b"d4:long")
    bad("an empty file that v2 lacks", hybrid([file("long", length=40000), pad(9152), file("short"),
        file("x", length=0)]), whole + disagree + 'v2 has no "x"', b"d4:long")
    bad("a shorter file in v1", hybrid([file("long", length=40000), pad(9152), file("short", length=2)]),
        short + disagree + '"short" has 2 bytes in v1 and 3 bytes in v2', at_short)
    bad("a longer file in v1", hybrid([file("long", length=40001), pad(9151), file("short")]),
        long + disagree + '"long" has 40001 bytes in v1 and 40000 bytes in v2', at_long)
    begins = short + disagree + '"short" begins at byte {} in v1 and at byte 49152, a piece\'s first, in v2'
    bad("no padding", hybrid([file("long", length=40000), file("short")]), begins.format("{}", 40000), at_short)
    bad("too little padding", hybrid([file("long", length=40000), pad(9151), file("short")]),
        begins.format("{}", 49151), at_short)
    bad("a piece of padding too much", hybrid([file("long", length=40000), pad(9152 + PIECE), file("short")]),
        begins.format("{}", 65536), at_short)
    bad("a piece of padding at the end", hybrid([file("long", length=40000), pad(9152), file("short"), pad(2 * PIECE)]),
        whole + disagree + "v1 has 6 pieces, v2 has 4", b"d4:long")
    link = leaf(None, None, attr="l", symlink_path=["long"])
    linked = {"long": LONG, "short": leaf(), "x": link}
    entries = [file("long", length=40000), pad(9152), file("short")]
    good("a hybrid with a symbolic link", hybrid([*entries, file("x", length=0, attr="l", symlink_path=["long"])],
        tree=linked))
    same = 'info.file tree["x"], byte {}' + disagree + '"x" is not the same symbolic link in both'
    bad("a link that leads elsewhere in v1", hybrid([*entries, file("x", length=0, attr="l", symlink_path=["short"])],
        tree=linked), same, b"d4:attr1:l12:")
    bad("a link that is an empty file in v1", hybrid([*entries, file("x", length=0)], tree=linked), same,
        b"d4:attr1:l12:")
    other = "info.file tree: byte {}: the attributes of this file are others than in info.files, those count"
    good("executable in v1 only", hybrid([file("long", length=40000, attr="x"), *entries[1:]]), other)
    bad("a hybrid with one digest too few", hybrid(changes={"pieces": DIGEST * 3}),
        "info.pieces, byte {}: files of 49155 bytes in pieces of 16384 need 4 digests, found 3", b"60:")
    bad(
        "a hybrid without files and length",
        hybrid(changes={"files": None}),
        "info.length (or info.files), byte {}: this key is missing; expected an integer: the file's length (or a list "
        "of files)",
        b"d9:file tree",
    )
    bad("a hybrid without a file tree", hybrid(changes={"file tree": None}),
        "info.file tree, byte {}: this key is missing; expected a dictionary of the files", b"d5:files")
    bad("a hybrid of odd piece length", hybrid(changes={"piece length": 16000, "pieces": DIGEST * 4}),
        "info.piece length, byte {}: must be a power of two and at least 16384 in a v2 or hybrid torrent, found 16000",
        b"i16000e")
    good("a hybrid without its version", hybrid(changes={"meta version": None}),
        "info.file tree: it is there without meta version 2, and is ignored")
    good("a hybrid without pieces", hybrid(changes={"pieces": None}),
        "info.files: it is there without pieces, the file tree counts")
    bad(
        "a hybrid whose layer is spoilt",
        hybrid(layers={LONG_ROOT: bytes(96)}),
        'piece layers, byte {}: the layer of "long" does not lead to the file\'s pieces root: the torrent is damaged; '
        "get it again",
        b"96:",
    )


def metadata_cases():
    kinds = ": byte {}: expected WANT, found HAVE, it is ignored"

    def odd(key, value, want, have, place="outer"):
        note = ("info." if place == "info" else "") + key + kinds.replace("WANT", want).replace("HAVE", have)
        data = v1({key: value}) if place == "info" else v1(outer={key: value})
        good(f"{key} that is {have}", data, note)

    for key in ("announce", "comment", "comment.utf-8", "created by", "encoding", "publisher", "publisher.utf-8",
                "publisher-url", "publisher-url.utf-8"):
        odd(key, 1, "a string", "an integer")
    odd("update-url", [], "a string", "a list", "info")
    odd("announce-list", 1, "a list", "an integer")
    odd("announce-list", {}, "a list", "a dictionary")
    odd("url-list", 1, "a list", "an integer")
    odd("url-list", {}, "a list", "a dictionary")
    odd("httpseeds", 1, "a list", "an integer")
    odd("nodes", "n:1", "a list", "a string")
    odd("creation date", "today", "an integer", "a string")
    odd("private", "1", "an integer", "a string", "info")
    odd("source", 1, "a string", "an integer", "info")
    good("a tier that is an integer", v1(outer={"announce-list": [1, ["http://t/"]]}),
        "announce-list: byte {}: expected a list, found an integer, it is ignored")
    good("a creation date of 2^80", v1(outer={"creation date": 1 << 80}),
        "creation date: byte {}: an integer that does not fit 64 bits, it is ignored")
    good("a node with a port of 65536", v1(outer={"nodes": [["n", 65536]]}),
        "nodes: byte {}: expected a list of a host and a port, it is ignored")
    good("announce that announce-list lacks", v1(outer={"announce": "a", "announce-list": [["b"]]}),
        "announce: this tracker is not in announce-list, which counts")
    good("100 000 trackers", v1(outer={"announce-list": [[f"http://t/{i}"] for i in range(100_000)]}),
        "announce-list: there are more than 4096, the rest is ignored")
    for key in ("url-list", "httpseeds"):
        good(f"5000 URLs in {key}", v1(outer={key: [f"http://t/{i}" for i in range(5000)]}),
            f"{key}: there are more than 4096, the rest is ignored")


# The cases that libtorrent judges differently. A name may contain *; hashloom accepts all cases of a row or none.

DIFFERENT = {
    "libtorrent changes the name (`_` for `..`, `etcpasswd` for `/etc/passwd`, `ab` for `a\\0b`). Clients disagree on "
    "the change, so the place of the file is unknown; three other programs read it outside of the folder": [
        'the name "/etc/passwd"',
        'the name "../../x"',
        'the name "a/b"',
        'the name "a\\x00b"',
        "a bad name.utf-8",
        "a bad path.utf-8",
        "the path *",
        "the v2 name *",
        "the v2 folder *",
        "a v2 name that leads out",
    ],
    "libtorrent renames one of the files, to `a.1`. At most one of them can be whole on disk under its own name": [
        "two files of one path",
        "a file in a file",
        "a file in a later file",
    ],
    "There is nothing to download, but the check can tell whether the file exists": [
        "an empty file",
        "i-0e as the length of an empty file",
        "empty files only",
        "an empty v2 file alone",
    ],
    "BEP 3 has no limit on the digits, and the key is not needed": [
        "an integer of 100 000 digits in an ignored key",
        "a creation date of 2^80",
    ],
    "libtorrent's limit is below 2^29. Requests of BEP 3 reach up to 2^32": [
        "a piece length of 2^29",
        "a piece length of 2^30",
        "a piece length of 2^31",
        "a piece length of 2^32",
        "a v2 piece length of 2^32",
    ],
    "libtorrent's limit is 100 components. In v1 a path is a flat list": ["a path of 200 folders"],
    "libtorrent takes `length` instead. The intended one is unknown": [
        "files that are an integer",
        "files that are a dictionary",
    ],
    "libtorrent treats the file as empty": ["a file of 2^64 bytes", "a v2 length of 2^63"],
    "libtorrent treats it as v1. No standard defines it": [
        "meta version 0",
        "meta version -1",
        "meta version 18446744073709551616",
        "a meta version that is a string",
    ],
    "Its v1 half is complete, and clients of v1 take it; the file tree is ignored and noted": [
        "a v1 torrent with a file tree but no version",
        "a hybrid without its version",
    ],
    "Its v2 half is complete; the rest of v1 is ignored and noted": [
        "pieces missing but files there",
        "pieces missing but length there",
    ],
    "libtorrent treats it as v2 and ignores `pieces`. BEP 3 requires `length` or `files` with `pieces`": [
        "a hybrid without files and length"
    ],
    "No known content has this root: the file's piece will be reported as bad": ["a root of zeros"],
    "The order is noted; the info-hash is of the bytes of the torrent as they are": ["a file tree that is not sorted"],
    "libtorrent asks peers for the layer. Without it no piece can be checked": [
        "one of two piece layers",
        "piece layers that are a list",
    ],
    "No file depends on it; it is ignored and noted": [
        "a layer that no file needs",
        "a layer that no file needs, of 5 bytes",
        "a layer of a file of one piece",
        "a layer twice",
    ],
    "libtorrent checks a layer for one of the files that share it; for the other file the layer is wrong": [
        "two lengths for one layer"
    ],
    "libtorrent compares only files with content. A client of v1 and one of v2 would make different folders": [
        "a link that leads elsewhere in v1",
        "a link that is an empty file in v1",
    ],
}


# The checks.


def run(folder, *arguments):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
        resource.setrlimit(resource.RLIMIT_CPU, (10, 10))

    return subprocess.run([PROGRAM, "torrent", *arguments], capture_output=True, cwd=folder, timeout=600,
                          preexec_fn=limit, check=False)


def offset(case, template, text):
    """Returns the offset in the text at the place of {} in the template; None without one, or if they differ."""
    match = re.fullmatch("(\\d+)".join(map(re.escape, template.split("{}"))), text)
    check(case.name, match, f"  expected {template}\n     found {text}")
    return int(match.group(1)) if match and match.groups() else None


def check_case(case, folder):
    path = folder / "x.torrent"
    path.write_bytes(case.data)
    show = run(folder, "show", "--json", "x.torrent")
    if case.error is None:
        equal(f"{case.name}: status", (show.returncode, show.stderr), (0, b""))
        found = json.loads(show.stdout or "{}")
        notes = found.get("notes", [])
        equal(f"{case.name}: number of notes", len(notes), len(case.notes))
        for note, text in zip(case.notes, notes):
            if "KEY" in note:
                pattern = re.escape(note).replace("KEY", ".*").replace(re.escape("{}"), "\\d+")
                check(f"{case.name}: a note", re.fullmatch(pattern, text), f"  expected {note}\n     found {text}")
            elif (at := offset(case, note, text)) is not None:
                check(f"{case.name}: {text}: the input has such a byte", at < len(case.data))
        check_edit(case, folder, found)
        return
    equal(f"{case.name}: status", (show.returncode, show.stdout), (2, b""))
    begin = "hashloom: x.torrent: "
    message = show.stderr.decode()
    equal(f"{case.name}: beginning", message[: len(begin)], begin)
    at = offset(case, case.error, message[len(begin) :].rstrip("\n"))
    if at is not None:
        equal(f"{case.name}: bytes at offset {at}", case.data[at:][: len(case.at)], case.at)
        check(f"{case.name}: the offset {at} is in the input", at <= len(case.data))
    for words in (("verify", "x.torrent", "."), ("edit", "x.torrent", "-c", "new")):
        done = run(folder, *words)
        equal(f"{case.name}: {words[0]}", (done.returncode, done.stdout, done.stderr), (2, b"", show.stderr))
    equal(f"{case.name}: bytes after the edit", path.read_bytes(), case.data)


def check_edit(case, folder, before):
    """A new comment keeps everything else."""
    edit = run(folder, "edit", "x.torrent", "-f", "-o", "y.torrent", "-c", "new")
    equal(f"{case.name}: edit", (edit.returncode, edit.stderr), (0, b""))
    after = json.loads(run(folder, "show", "--json", "y.torrent").stdout or "{}")
    equal(f"{case.name}: the edited comment", after.get("comment"), "new")
    for key in set(before) - {"path", "comment", "notes", "note_count"}:
        equal(f"{case.name}: {key} after the edit", after.get(key), before[key])


def libtorrent_verdict(data):
    """Returns None if libtorrent accepts the torrent, else its error."""
    try:
        lt.torrent_info(data)
    except RuntimeError as error:
        return str(error).split(" [libtorrent")[0]
    return None


def table(rows, version):
    """Makes a table with a row for each reason and its first cases; --list prints all."""
    lines = [f"libtorrent {version}:", "", "| torrent | hashloom | libtorrent | why |", "|---|---|---|---|"]
    for why in DIFFERENT:
        cases = [case for case, reason in rows if reason == why]
        names = "; ".join(case.name.replace("|", "\\|") for case in cases[:2])
        names += f" and {len(cases) - 2} more" if len(cases) > 2 else ""
        refused = [case.error is not None for case in cases]
        ours, theirs = ("refused", "accepted") if all(refused) else ("accepted", "refused")
        lines.append(f"| {names} | {ours} | {theirs} | {why} |")
    return "\n".join(lines)


def reasons(name):
    return [why for why, names in DIFFERENT.items() if any(fnmatch.fnmatchcase(name, pattern) for pattern in names)]


def each_torrent(folder):
    for case in CASES:
        check_case(case, folder)


def libtorrents_verdicts(_):
    rows = []
    for case in CASES:
        theirs = libtorrent_verdict(case.data)
        if arguments.list:
            print(f"{case.name}\t{'ok' if case.error is None else 'refused'}\t{theirs or 'ok'}")
        differs, why = (case.error is None) != (theirs is None), reasons(case.name)
        if differs and len(why) == 1:
            rows.append((case, why[0]))
        said = "accepts it" if theirs is None else f"says {theirs!r}"
        check(f"{case.name}: libtorrent {said}", len(why) == int(differs), f"  reasons in DIFFERENT: {why}")
    for why in DIFFERENT:
        verdicts = {case.error is None for case, reason in rows if reason == why}
        check(f"the cases of this reason have one verdict: {why}", len(verdicts) == 1)
    head, rest = DOCUMENT.read_text().split(BEGIN)
    text = head + BEGIN + "\n" + table(rows, ".".join(lt.version.split(".")[:2])) + "\n" + END + rest.split(END)[1]
    if arguments.write and not checks.failed:
        DOCUMENT.write_text(text)
    check(f"{DOCUMENT.name} is up to date: else run this with --write", DOCUMENT.read_text() == text)


parser = checks.parser(__doc__)
parser.add_argument("--write", action="store_true", help="update the table in malformed_torrents.md")
parser.add_argument("--list", action="store_true", help="print each case with both verdicts")
arguments = parser.parse_args()
PROGRAM, checks.is_required = arguments.hashloom.resolve(), arguments.require
for make in (bencode_cases, info_cases, files_cases, version_cases, v2_cases, hybrid_cases, metadata_cases):
    make()
equal("names of cases", len({case.name for case in CASES}), len(CASES))
print(f"{len(CASES)} torrents, {sum(case.error is not None for case in CASES)} of them refused")
checks.run_part(each_torrent)
checks.run_part(libtorrents_verdicts, ["libtorrent"])
sys.exit(checks.end())
