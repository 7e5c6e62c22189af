# SPDX-License-Identifier: MIT OR Apache-2.0
"""Roots of hash trees, as `hashloom tree` computes them.

>>> import pyhashloom.tree
>>> pyhashloom.tree.bep52(b"abc").hex()[:16]
'ba7816bf8f01cfea'
>>> str(pyhashloom.tree.fsverity(b"hello"))[:23]
'sha256:555b589c26ee43b7'

`data` is the path of a file (text or os.PathLike), or the bytes themselves: any buffer, which is hashed where it is.
`threads` is the largest number of threads; 0 means one for each CPU. `progress` is called with the bytes hashed so far
and None, up to 20 times a second. Ctrl-C stops the work.

FileError says why a file cannot be read. A file that changes is hashed again, three times at most. TreeError says which
parameter a format does not allow.
"""

import os
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _hashloom as compiled
from ._files import FileError

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "Composite",
    "FileError",
    "Sealed",
    "TreeError",
    "bep52",
    "fsverity",
    "s3",
]

_Progress = Callable[[int, int | None], object]


class TreeError(ValueError):
    """A parameter that the format of a tree does not allow. `parameter` is its name in the call."""

    parameter: str

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message, parameter)
        self.parameter = parameter

    def __str__(self) -> str:
        return str(self.args[0])


def bep52(
    data: "str | os.PathLike[str] | Buffer", *, threads: int = 0, progress: _Progress | None = None
) -> bytes | None:
    """Returns the pieces root of a file in a torrent of version 2 (BEP 52), or None for an empty file: it has no root.

    The root is the same in every torrent, whatever the length of its pieces.
    """
    return compiled.tree_bep52(data, threads, progress)


@dataclass(frozen=True)
class Composite:
    """The checksums of an upload to Amazon S3 in parts. `str` gives the form that S3 shows."""

    digest: bytes
    """The checksum of the whole object."""
    parts: list[bytes]
    """The digest of each part."""
    text: str
    """The digest in base64, or in hexadecimal with MD5, a minus sign and the number of parts."""

    def __str__(self) -> str:
        return self.text


def s3(
    data: "str | os.PathLike[str] | Buffer",
    *,
    name: str = "sha256",
    part_nbytes: int | None = 8 << 20,
    threads: int = 0,
    progress: _Progress | None = None,
) -> Composite:
    """Returns the checksum that Amazon S3 shows for an object uploaded in parts, or, with name="md5", its ETag.

    `name` is sha256, sha1 or md5; or crc64nvme, crc32c or crc32, which show damage alone: anybody can change an object
    and keep its CRC. `part_nbytes` is the part size of the upload: 5 MiB to 5 GiB, for at most 10,000 parts. None is
    for a CRC of the whole object, whatever its parts (S3's type FULL_OBJECT).

    >>> str(s3(b"abc", name="md5"))
    'af5da9f45af7a300e3aded972f8ff687-1'
    >>> str(s3(b"123456789", name="crc64nvme", part_nbytes=None)), str(s3(b"123456789", name="crc32"))
    ('rosUhgp5mIg=', '7kxlUA==-1')
    """
    if name in ("crc64nvme", "crc32c", "crc32"):
        whole, parts = compiled.tree_s3_crc(data, name, part_nbytes, threads, progress)
        text = parts[0] if part_nbytes is None else whole
        return Composite(b64decode(text.partition("-")[0]), [b64decode(part) for part in parts], text)
    return Composite(*compiled.tree_s3(data, name, part_nbytes or 0, threads, progress))


@dataclass(frozen=True)
class Sealed:
    """The digest of a file by fs-verity. `str` gives the form that the program fsverity prints."""

    digest: bytes
    """The file's digest, which the kernel calls its measurement."""
    root: bytes
    """The root of the tree; zeros for an empty file."""
    nbytes: int
    """The file's length."""
    descriptor: bytes
    """The bytes that the digest is computed from: struct fsverity_descriptor without a signature."""
    formatted: bytes
    """The bytes that a built-in signature signs: struct fsverity_formatted_digest."""
    text: str
    """The algorithm's name, a colon and the digest in hexadecimal."""

    def __str__(self) -> str:
        return self.text


def fsverity(
    data: "str | os.PathLike[str] | Buffer",
    *,
    name: str = "sha256",
    block_nbytes: int = 4096,
    salt: "Buffer" = b"",
    threads: int = 0,
    progress: _Progress | None = None,
) -> Sealed:
    """Returns the digest under which Linux seals a file (fs-verity).

    `name` is sha256 or sha512, `block_nbytes` a power of two from 1024 to 65536, `salt` has up to 32 bytes.
    """
    return Sealed(*compiled.tree_fsverity(data, name, block_nbytes, salt, threads, progress))
