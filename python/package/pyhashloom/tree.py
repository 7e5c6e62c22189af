# SPDX-License-Identifier: MIT OR Apache-2.0
"""Roots of hash trees and proofs of transparency logs, as `hashloom tree` computes them.

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
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _hashloom as compiled
from ._files import FileError

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "Composite",
    "Consistency",
    "FileError",
    "Inclusion",
    "LogRoot",
    "ProofError",
    "Sealed",
    "TreeError",
    "bep52",
    "check_consistency",
    "check_inclusion",
    "fsverity",
    "glacier",
    "log_leaf",
    "log_root",
    "prove_consistency",
    "prove_inclusion",
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


class ProofError(ValueError):
    """Why a proof is wrong, or cannot be made.

    `kind` is "root" for a proof that leads to another root, "count" for a wrong number of nodes, "length" for a node,
    leaf or root that is not as long as a digest, "index" for an entry and "sizes" for a first tree that the tree does
    not have. `expected` and `found` are roots or numbers; None for "index" and "sizes".
    """

    kind: str
    expected: bytes | int | None
    found: bytes | int | None

    def __init__(
        self, message: str, kind: str, expected: bytes | int | None = None, found: bytes | int | None = None
    ) -> None:
        super().__init__(message, kind, expected, found)
        self.kind = kind
        self.expected = expected
        self.found = found

    def __str__(self) -> str:
        return str(self.args[0])


def bep52(
    data: "str | os.PathLike[str] | Buffer", *, threads: int = 0, progress: _Progress | None = None
) -> bytes | None:
    """Returns the pieces root of a file in a torrent of version 2 (BEP 52), or None for an empty file: it has no root.

    The root is the same in every torrent, whatever the length of its pieces.
    """
    return compiled.tree_bep52(data, threads, progress)


def glacier(data: "str | os.PathLike[str] | Buffer", *, threads: int = 0, progress: _Progress | None = None) -> bytes:
    """Returns the SHA-256 tree hash of Amazon S3 Glacier, as `x-amz-sha256-tree-hash` demands.

    >>> glacier(b"abc").hex()[:16]  # up to 1 MiB is one leaf
    'ba7816bf8f01cfea'
    """
    return compiled.tree_glacier(data, threads, progress)


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
    part_nbytes: int = 8 << 20,
    threads: int = 0,
    progress: _Progress | None = None,
) -> Composite:
    """Returns the checksum that Amazon S3 shows for an object uploaded in parts, or, with name="md5", its ETag.

    `name` is sha256, sha1 or md5. `part_nbytes` is the part size of the upload: 5 MiB to 5 GiB, for at most 10,000
    parts.

    >>> str(s3(b"abc", name="md5"))
    'af5da9f45af7a300e3aded972f8ff687-1'
    """
    return Composite(*compiled.tree_s3(data, name, part_nbytes, threads, progress))


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


@dataclass(frozen=True)
class LogRoot:
    """The root of a log's tree (RFC 9162 section 2.1.1)."""

    size: int
    """Number of entries."""
    root: bytes
    """The root; for no entries, the digest of nothing."""


@dataclass(frozen=True)
class Inclusion:
    """A proof that an entry is in a log (RFC 9162 section 2.1.3)."""

    index: int
    """The index of the entry; the first is 0."""
    size: int
    """Number of entries."""
    leaf: bytes
    """The leaf of the entry."""
    root: bytes
    """The root of the tree."""
    proof: list[bytes]
    """The nodes of the proof."""


@dataclass(frozen=True)
class Consistency:
    """A proof that a tree is the beginning of a longer one (RFC 9162 section 2.1.4)."""

    size1: int
    """Number of entries of the first tree."""
    root1: bytes
    """The root of the first tree."""
    size: int
    """Number of entries of the second tree."""
    root: bytes
    """The root of the second tree."""
    proof: list[bytes]
    """The nodes of the proof."""


def log_leaf(entry: "Buffer", *, name: str = "sha256") -> bytes:
    """Returns the leaf of an entry: the digest of the byte 0 and the entry.

    >>> log_leaf(b"").hex()[:16]
    '6e340b9cffb37a98'
    """
    return compiled.tree_log_leaf(entry, name)


def log_root(entries: "Iterable[Buffer]", *, name: str = "sha256") -> LogRoot:
    """Returns the root of the tree over these entries (RFC 6962 and RFC 9162 section 2.1).

    >>> log_root([b"abc"]).root == log_leaf(b"abc")
    True
    """
    size, root, _, _ = compiled.tree_log(entries, name, "root", 0)
    return LogRoot(size, root)


def prove_inclusion(entries: "Iterable[Buffer]", index: int, *, name: str = "sha256") -> Inclusion:
    """Returns a proof that the entry with this index is in the tree over these entries.

    >>> proof = prove_inclusion([b"a", b"b", b"c"], 1)
    >>> check_inclusion(log_leaf(b"b"), 1, 3, proof.proof, proof.root)

    Raises ProofError if there is no such entry.
    """
    size, root, leaf, proof = compiled.tree_log(entries, name, "inclusion", index)
    return Inclusion(index, size, leaf, root, proof)


def prove_consistency(entries: "Iterable[Buffer]", size: int, *, name: str = "sha256") -> Consistency:
    """Returns a proof that the first `size` entries are the beginning of the tree over all entries.

    >>> proof = prove_consistency([b"a", b"b", b"c"], 2)
    >>> check_consistency(2, log_root([b"a", b"b"]).root, 3, proof.root, proof.proof)

    Raises ProofError if the tree has fewer entries, or `size` is 0.
    """
    whole, root, root1, proof = compiled.tree_log(entries, name, "consistency", size)
    return Consistency(size, root1, whole, root, proof)


def check_inclusion(
    leaf: "Buffer", index: int, size: int, proof: "Iterable[Buffer]", root: "Buffer", *, name: str = "sha256"
) -> None:
    """Checks that the entry of this leaf has this index in the tree of `size` entries with this root.

    The root must come from a trusted place, such as a signed tree head. Leaf and proof may come from anybody.

    Raises ProofError if that is not proved.
    """
    compiled.tree_check_inclusion(leaf, index, size, proof, root, name)


def check_consistency(
    size1: int,
    root1: "Buffer",
    size: int,
    root: "Buffer",
    proof: "Iterable[Buffer]",
    *,
    name: str = "sha256",
) -> None:
    """Checks that the tree of `size1` entries with `root1` is the beginning of the tree of `size` entries with `root`.

    Both roots must come from trusted places. The proof may come from anybody.

    Raises ProofError if that is not proved.
    """
    compiled.tree_check_consistency(size1, root1, size, root, proof, name)
