# SPDX-License-Identifier: MIT OR Apache-2.0
"""Torrents: makes them, and checks files on disk against them, as `hashloom torrent create` and `verify` do."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ._files import FileError
from ._hashloom import torrent_create, torrent_verify

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Created", "FileError", "FileReport", "Report", "TorrentError", "create", "verify"]


class TorrentError(ValueError):
    """A torrent that cannot be used. `key` names the value with the fault, `offset` is its place in the file."""

    key: str
    offset: int

    def __init__(self, message: str, key: str = "", offset: int = 0) -> None:
        super().__init__(message, key, offset)
        self.key = key
        self.offset = offset

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Created:
    """A new torrent."""

    content: bytes
    """The content of a .torrent file."""
    info_hash_v1: bytes | None
    """SHA-1 of the info dictionary (BEP 3), unless the torrent is v2."""
    info_hash_v2: bytes | None
    """SHA-256 of the info dictionary (BEP 52), unless the torrent is v1."""
    nbytes_read: int
    """Bytes read from files."""


@dataclass(frozen=True)
class FileReport:
    """The result for a file of a torrent."""

    path: bytes
    """The path in the torrent, its components joined by `/`. It comes from a stranger."""
    nbytes: int
    """Bytes by the torrent."""
    state: str
    """complete, too long, incomplete, short, missing, failed, skipped, unchecked or unstable."""
    found_nbytes: int | None
    """Bytes on disk, if the file is there."""
    difference: str | None
    """A difference of attributes (BEP 47): link missing, link elsewhere, not a link, not executable."""


@dataclass(frozen=True)
class Report:
    """The result of a check."""

    content: str
    """The file or folder that was checked."""
    pieces: list[str]
    """The state of each piece: have, missing, bad, unread, disputed, unstable or unchecked."""
    bitfield: bytes
    """A bit for each piece, set if the state is have, in the order of BEP 3."""
    files: list[FileReport]
    """The torrent's files, in its order."""
    troubles: list[FileError]
    """Why files that are there could not be checked."""
    is_complete: bool
    """Whether all pieces are right and all files exist. A file may be too long: `files` tells."""
    nbytes_read: int
    """Bytes read."""
    seconds: float
    """The time that the check took."""


def create(
    path: str | os.PathLike[str],
    *,
    version: Literal["v1", "v2", "hybrid"] = "hybrid",
    piece_nbytes: int | None = None,
    trackers: Iterable[str | Iterable[str]] = (),
    web_seeds: Iterable[str] = (),
    private: bool = False,
    source: str | None = None,
    comment: str | None = None,
    date: int | None = None,
    name: str | None = None,
    threads: int = 0,
    progress: Callable[[int, int | None], object] | None = None,
) -> Created:
    """Makes a torrent of a file or folder.

    Nothing is written: `content` of the result is that of a .torrent file. `piece_nbytes` is a power of two from 16 KiB
    to 256 MiB, and chosen if it is not given. Each tracker is a URL, or several of one tier (BEP 12). `date` is in
    seconds since 1970, and left out if it is not given. A file that changes while it is read is hashed again.
    `threads`, `progress` and Ctrl-C are those of verify.

    Raises FileError if `path` cannot be read, TorrentError if files under it or an option cannot be used.
    """
    tiers = [[tracker] if isinstance(tracker, str) else list(tracker) for tracker in trackers]
    return Created(
        *torrent_create(
            path, version, piece_nbytes, tiers, list(web_seeds), private, source, comment, date, name, threads, progress
        )
    )


def verify(
    torrent: "str | os.PathLike[str] | Buffer",
    path: str | os.PathLike[str],
    *,
    threads: int = 0,
    progress: Callable[[int, int | None], object] | None = None,
) -> Report:
    """Checks every piece of a torrent, given by the path of its file or by its bytes, against the files on disk.

    `path` is the content, or the folder that holds it. Nothing is written. A file that is missing or wrong is in the
    report, and raises nothing. `threads` is the largest number of threads; 0 means one for each CPU. `progress` is
    called with the bytes checked so far and in all, up to 20 times a second. Ctrl-C stops the check.

    Raises TorrentError for bytes that are not a torrent, FileError if `torrent` or `path` cannot be read.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "abc"
    >>> _ = path.write_bytes(b"abc")
    >>> report = verify(create(path, version="v2").content, path)
    >>> report.is_complete, report.pieces
    (True, ['have'])
    """
    content, pieces, bitfield, files, troubles, (is_complete, nbytes_read, seconds) = torrent_verify(
        torrent, path, threads, progress
    )
    return Report(
        content,
        pieces,
        bitfield,
        [FileReport(*file) for file in files],
        [FileError(*trouble) for trouble in troubles],
        is_complete,
        nbytes_read,
        seconds,
    )
