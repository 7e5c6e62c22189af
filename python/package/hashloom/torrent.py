# SPDX-License-Identifier: MIT OR Apache-2.0
"""Torrents: checks files on disk against them, with the meaning of `hashloom torrent verify`."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._files import FileError
from ._hashloom import torrent_verify

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["FileError", "FileReport", "Report", "TorrentError", "verify"]


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
class FileReport:
    """The result for a file of a torrent."""

    path: bytes
    """The path in the torrent, its components joined by `/`. It comes from a stranger."""
    nbytes: int
    """Bytes by the torrent."""
    state: str
    """complete, incomplete, short, missing, failed, skipped, unchecked or unstable."""
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
    """Whether all pieces are right."""
    nbytes_read: int
    """Bytes read."""
    seconds: float
    """The time that the check took."""


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
