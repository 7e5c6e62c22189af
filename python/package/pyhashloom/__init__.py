# SPDX-License-Identifier: MIT OR Apache-2.0
"""Hash many messages at once, in hashlib's shape.

>>> import pyhashloom
>>> pyhashloom.sha256(b"abc").hexdigest()[:16]
'ba7816bf8f01cfea'
>>> pyhashloom.many("sha1", [b"abc", b""], output="hex")[1]
'da39a3ee5e6b4b0d3255bfef95601890afd80709'

One message: md5, sha1, sha256, sha3_256, shake_128 and the others of algorithms_guaranteed, and new(name).
Many messages: many(name, messages) for lists and iterables, rows(name, array) for arrays, column(name, columns) for
Arrow, files(name, paths) for files. pyhashloom.hmac has HMAC, pbkdf2_hmac and pbkdf2_hmac_many derive keys from
passwords, pyhashloom.torrent checks torrents, pyhashloom.manifest folders, pyhashloom.tree has hash trees. diff and
table_digest compare tables.
Messages that arrive in parts: update_many(hashes, chunks), streams(name, files), streams_async(name, bodies). The
package pyhashloom-store has objects in buckets. pyhashloom.slh_dsa signs by SLH-DSA.
"""

from . import hmac as hmac
from . import slh_dsa as slh_dsa
from ._column import column
from ._files import FileDigest, FileError, files
from ._hashloom import (
    Column,
    ColumnReader,
    Hash,
    HashXOF,
    __version__,
    algorithms,
    hash160,
    many,
    new,
    pbkdf2_hmac,
    pbkdf2_hmac_many,
    rows,
    sha256d,
    update_many,
    # algorithms.py: python_imports
    blake2b,
    blake2b_256,
    blake2s,
    blake3,
    keccak_256,
    md5,
    ripemd160,
    sha1,
    sha224,
    sha256,
    sha384,
    sha3_224,
    sha3_256,
    sha3_384,
    sha3_512,
    sha512,
    sha512_224,
    sha512_256,
    shake_128,
    shake_256,
    sm3,
    # algorithms.py: end
)
from ._streams import streams, streams_async

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._tables import TableDiff, diff, table_digest
else:

    def __getattr__(name):
        """What few programs need, and takes ten times as long to import as the rest."""
        if name not in ("TableDiff", "diff", "table_digest"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from . import _tables

        return getattr(_tables, name)

algorithms_guaranteed: set[str] = set(algorithms)
"""The names of all algorithms, on every system, in hashlib's spelling."""

algorithms_available: set[str] = set(algorithms)
"""The same set."""

del algorithms

__all__ = [
    "Column",
    "ColumnReader",
    "FileDigest",
    "FileError",
    "Hash",
    "HashXOF",
    "TableDiff",
    "__version__",
    "algorithms_available",
    "algorithms_guaranteed",
    "column",
    "diff",
    "files",
    "hash160",
    "hmac",
    "many",
    "new",
    "pbkdf2_hmac",
    "pbkdf2_hmac_many",
    "rows",
    "sha256d",
    "slh_dsa",
    "streams",
    "streams_async",
    "table_digest",
    "update_many",
    # algorithms.py: python_all
    "blake2b",
    "blake2b_256",
    "blake2s",
    "blake3",
    "keccak_256",
    "md5",
    "ripemd160",
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha3_224",
    "sha3_256",
    "sha3_384",
    "sha3_512",
    "sha512",
    "sha512_224",
    "sha512_256",
    "shake_128",
    "shake_256",
    "sm3",
    # algorithms.py: end
]
