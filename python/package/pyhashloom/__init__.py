# SPDX-License-Identifier: MIT OR Apache-2.0
"""Hash many messages at once, in hashlib's shape.

>>> import pyhashloom
>>> pyhashloom.sha256(b"abc").hexdigest()[:16]
'ba7816bf8f01cfea'
>>> pyhashloom.many("sha1", [b"abc", b""], output="hex")[1]
'da39a3ee5e6b4b0d3255bfef95601890afd80709'

One message: sha1, sha224, sha256, sha384, sha512, sha512_224, sha512_256, ripemd160, md5, and new(name).
Many messages: many(name, messages) for lists and iterables, rows(name, array) for arrays, column(name, columns) for
Arrow, files(name, paths) for files. pyhashloom.hmac has HMAC, pbkdf2_hmac and pbkdf2_hmac_many derive keys from
passwords, pyhashloom.torrent checks torrents, pyhashloom.manifest folders, pyhashloom.tree has hash trees.
"""

from . import hmac as hmac
from ._files import FileDigest, FileError, files
from ._hashloom import (
    Column,
    Hash,
    algorithms,
    column,
    hash160,
    many,
    md5,
    new,
    pbkdf2_hmac,
    pbkdf2_hmac_many,
    ripemd160,
    rows,
    search,
    sha1,
    sha224,
    sha256,
    sha256d,
    sha384,
    sha512,
    sha512_224,
    sha512_256,
)

algorithms_guaranteed: set[str] = set(algorithms)
"""The names of all algorithms, on every system, in hashlib's spelling."""

algorithms_available: set[str] = set(algorithms)
"""The same set."""

del algorithms

__all__ = [
    "Column",
    "FileDigest",
    "FileError",
    "Hash",
    "algorithms_available",
    "algorithms_guaranteed",
    "column",
    "files",
    "hash160",
    "hmac",
    "many",
    "md5",
    "new",
    "pbkdf2_hmac",
    "pbkdf2_hmac_many",
    "ripemd160",
    "rows",
    "search",
    "sha1",
    "sha224",
    "sha256",
    "sha256d",
    "sha384",
    "sha512",
    "sha512_224",
    "sha512_256",
]
