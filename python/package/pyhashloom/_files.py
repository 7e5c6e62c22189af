# SPDX-License-Identifier: MIT OR Apache-2.0
"""Digests of many files at once."""

from __future__ import annotations

import os

from ._hashloom import Files

# Type checkers take this name for true. Other modules need not wait for the import of collections.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


class FileError(OSError):
    """Why a file could not be hashed or checked.

    `filename`, `errno` and `strerror` are those of OSError; `errno` is None if the error is not the system's. `kind` is
    "open", "read", or "unstable" for a file that changed during each of three reads; in the report of a torrent also
    "outside" for a link that leads out of the folder, and "not regular". `offset` is the number of bytes read before
    the error.
    """

    kind: str
    offset: int

    def __init__(self, kind: str, errno: int | None, strerror: str, filename: str | bytes, offset: int) -> None:
        super().__init__(errno, strerror, filename)
        self.kind = kind
        self.offset = offset

    def __reduce__(self) -> tuple[type[FileError], tuple[str, int | None, str, str | bytes, int]]:
        return FileError, (self.kind, self.errno, str(self.strerror), self.filename, self.offset)

    def __str__(self) -> str:
        after = f", after {self.offset} bytes" if self.offset else ""
        return f"{os.fsdecode(self.filename)}: {self.strerror}{after}"


class FileDigest:
    """The result for a file: its digest, or the error that there is instead."""

    __slots__ = ("_digest", "_more", "error", "nbytes", "path")

    path: str
    """The path, as text (os.fsdecode)."""
    nbytes: int
    """Bytes in the file; 0 if there is an error."""
    error: FileError | None
    """Why there is no digest."""

    def __init__(
        self, path: str, digest: bytes | None, nbytes: int, error: FileError | None, more: tuple[bytes, ...] = ()
    ) -> None:
        self.path = path
        self._digest = digest
        self._more = more
        self.nbytes = nbytes
        self.error = error

    @property
    def digest(self) -> bytes:
        """The digest. Raises the error if there is one."""
        if self._digest is None:
            raise self.error or RuntimeError("neither digest nor error")
        return self._digest

    @property
    def digests(self) -> tuple[bytes, ...]:
        """The digests of all algorithms that were asked for, in their order. Raises the error if there is one."""
        return self.digest, *self._more

    @property
    def hexdigest(self) -> str:
        """The digest as hexadecimal digits. Raises the error if there is one."""
        return self.digest.hex()

    def __repr__(self) -> str:
        result = self._digest.hex() if self._digest is not None else repr(self.error)
        return f"<pyhashloom.FileDigest {self.path!r} {result}>"


def files(
    name: str | Sequence[str],
    paths: Iterable[str | bytes | os.PathLike[str] | os.PathLike[bytes]],
    *,
    threads: int = 0,
    progress: Callable[[int, int | None], object] | None = None,
) -> Iterator[FileDigest]:
    """Returns an iterator over the digests of files, many hashed at a time, in the order of their paths.

    `name` is an algorithm or several, all of which hash what is read once: `digest` is the first one's, `digests` are
    all. `git_blob` is one too: git's name of the content, the SHA-1 of "blob", its length and the content.
    A file that cannot be read does not stop the others: its result has the error. `threads` is the largest number of
    threads; 0 means one for each CPU, 1 that no thread starts. `progress` is called with the bytes hashed so far and
    None, up to 20 times a second, by the thread that takes the results, which hashes one path, or few short files,
    itself. Ctrl-C, an exception of `progress` and the end of the iterator's life stop the work. `paths` is read whole
    before the work begins. ValueError: there is no such algorithm, or none is named.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "abc")
    >>> _ = open(path, "wb").write(b"abc")
    >>> [(file.hexdigest[:16], file.nbytes) for file in files("sha256", [path])]
    [('ba7816bf8f01cfea', 3)]
    >>> [digest.hex()[:8] for digest in next(files(["sha512", "md5"], [path])).digests]
    ['ddaf35a1', '90015098']
    """
    if isinstance(paths, (str, bytes, os.PathLike)):
        raise TypeError("paths is one path: give a list of paths")
    names = [name] if isinstance(name, str) else list(name)
    if not names:
        raise ValueError("no algorithm is named")
    texts = [os.fsdecode(path) for path in paths]
    return _results(texts, Files(names, texts, threads, progress))


def _results(paths: list[str], work: Files) -> Iterator[FileDigest]:
    try:
        for path, (digests, nbytes, error) in zip(paths, work):
            if digests is not None:
                yield FileDigest(path, digests[0], nbytes, None, digests[1:])
            elif error is not None:
                kind, errno, text, offset = error
                yield FileDigest(path, None, 0, FileError(kind, errno, text, path, offset))
        # The end of the work, which also reports the last progress.
        next(work, None)
    finally:
        work.close()
