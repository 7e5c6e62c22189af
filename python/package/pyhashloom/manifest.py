# SPDX-License-Identifier: MIT OR Apache-2.0
"""Manifests of folders, as those of `hashloom manifest write` and `check`, and lists of checksums, as `hashloom check`.

>>> import pathlib, tempfile
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> _ = (folder / "a").write_bytes(b"abc")
>>> written = write(folder)
>>> _ = (folder / "a").write_bytes(b"abd!")
>>> [(difference.status, difference.path) for difference in check(written.content, folder).differences]
[('changed', 'a')]
>>> report = check_list(b"a9993e364706816aba3e25717850c26c9cd0d89d  a", folder=folder)
>>> [(file.path, file.state) for file in report.files]
[('a', 'failed')]
"""

import errno
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ._files import FileError
from ._hashloom import Listing, hash_listed, is_public_key, list_read, manifest_signed

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "Difference",
    "ListReport",
    "ListedFile",
    "ManifestError",
    "ManifestReport",
    "Read",
    "Signature",
    "SignatureError",
    "Written",
    "check",
    "check_list",
    "write",
]


class ManifestError(ValueError):
    """A manifest that cannot be used: damaged, cut off, or of an unknown version. The message names the line."""


class SignatureError(ManifestError):
    """A signature of a manifest that is missing, wrong or another key's, or a key that is none."""


@dataclass(frozen=True)
class Signature:
    """A right signature of a manifest, by a key of minisign or SLH-DSA."""

    key: str
    """The number of the public key, as minisign prints it."""
    comment: str
    """The trusted comment, which the signature covers too."""
    file: str | None
    """The name of the manifest in the comment, if it has one. Control characters are escaped, as in \\x09."""
    is_this_file: bool | None
    """Whether the manifest has this name; None if either has none. A copy may have another name."""
    folder: str | None
    """The name of the folder in the comment, if it has one."""
    is_this_folder: bool | None
    """Whether the folder has this name; None if the comment has none. A copy may have another name."""


@dataclass(frozen=True)
class Read:
    """A file that was read, and by whom."""

    path: str
    """The path below the folder."""
    nbytes: int
    """Bytes read; 0 if there is an error."""
    worker: str | None
    """The address of the worker; None on one machine."""


@dataclass(frozen=True)
class Written:
    """A new manifest."""

    content: bytes
    """The content of the file that `hashloom manifest write` writes."""
    troubles: list[FileError]
    """Why entries of the type `unread` could not be read."""
    reads: list[Read]
    """The files that were read, in the order of the manifest."""


@dataclass(frozen=True)
class Difference:
    """An entry that is not as it was."""

    status: str
    """rotted, changed, moved, removed, added, touched, unreadable, unstable or unrecorded, as in docs/manifests.md."""
    path: str
    """The path; the old one of a moved file."""
    old: dict[str, Any] | None
    """The entry of the manifest, with the fields of its line."""
    new: dict[str, Any] | None
    """The entry found, with the same fields."""
    error: FileError | None
    """Why the entry could not be read."""
    worker: str | None
    """The address of the worker that read the file; None on one machine, and for what is not a file."""


@dataclass(frozen=True)
class ManifestReport:
    """The result of a check."""

    differences: list[Difference]
    """The differences, in the order of `hashloom manifest check`; also touched entries, which do not count."""
    counts: dict[str, int]
    """Number of entries: same, and by each status."""
    reads: list[Read]
    """The files that were read, in the order of their paths."""
    signature: Signature | None = field(default=None, kw_only=True)
    """The signature, if there was a trusted key."""

    @property
    def is_same(self) -> bool:
        """Whether everything is as it was. Files may have been touched."""
        return not any(count for status, count in self.counts.items() if status not in ("same", "touched"))

    @property
    def nbytes_read(self) -> int:
        """Bytes of the files that were read."""
        return sum(read.nbytes for read in self.reads)


@dataclass(frozen=True)
class ListedFile:
    """The result for a line of a list."""

    path: str
    """The name in the list."""
    line: int
    """The number of the line, from 1."""
    algorithms: tuple[str, ...]
    """The algorithms of the line's digests."""
    state: str
    """ok, failed, unread, or unstable for a file that changed during each of three reads."""
    error: FileError | None
    """Why the file could not be read."""
    worker: str | None
    """The address of the worker; None on one machine."""


@dataclass(frozen=True)
class ListReport:
    """The result of a check of a list."""

    files: list[ListedFile]
    """The list's files, in its order."""
    bad_lines: list[tuple[int, str]]
    """Lines that are not checksums: their numbers, from 1, and why."""

    @property
    def is_right(self) -> bool:
        """Whether the list has a file, every file is ok, and no line is bad (as `hashloom check --strict`)."""
        return bool(self.files) and not self.bad_lines and all(file.state == "ok" for file in self.files)


# A file to hash: its name and the algorithms. The result: digests, bytes, modification time of a regular file, the
# arguments of a FileError, worker.
_Asked: TypeAlias = tuple[bytes, list[str]]
_Reason: TypeAlias = tuple[str, int | None, str, int]
_Answer: TypeAlias = tuple[list[bytes], int, int | None, _Reason | None, str | None]
# Hashes files below a folder. The second list has their bytes, if they are known.
_Hasher: TypeAlias = Callable[[str, list[_Asked], list[int]], Iterable[_Answer]]

_Progress: TypeAlias = Callable[[int, int | None], object]


def _here(threads: int, progress: _Progress | None) -> _Hasher:
    def hashed(folder: str, asked: list[_Asked], sizes: list[int]) -> Iterator[_Answer]:
        for answer in hash_listed(folder, asked, threads, progress):
            yield (*answer, None)

    return hashed


def _content(file: "str | os.PathLike[str] | Buffer") -> tuple["bytes | Buffer", str | None]:
    """The content of a file that is given by its path or its bytes, and the path."""
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as opened:
            return opened.read(), os.fspath(file)
    return file, None


def _places_below(folder: str, file: str | None) -> list[str]:
    """The places below the folder that the path leads to: itself, and the file behind links."""
    if file is None:
        return []
    root = os.path.realpath(folder)
    places = [os.path.join(os.path.realpath(os.path.dirname(file) or "."), os.path.basename(file))]
    places.append(os.path.realpath(file))
    return [os.path.relpath(place, root) for place in places if os.path.commonpath([root, place]) == root]


def _look(place: bytes) -> tuple[int, int] | None:
    """The bytes and the modification time of a regular file; None if there is none. Links are not followed."""
    try:
        seen = os.lstat(place)
    except OSError:
        return None
    if not stat.S_ISREG(seen.st_mode):
        return None
    return seen.st_size, seen.st_mtime_ns


def _is_gone(place: bytes) -> bool:
    """Whether nothing is there, be it a file of another kind or one that cannot be looked at."""
    try:
        os.lstat(place)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        pass
    return False


def _settle(listing: Listing, folder: str, hasher: _Hasher) -> tuple[dict[bytes, FileError], dict[bytes, Read]]:
    """Has all files of a listing hashed. Returns the troubles and the reads by path.

    A file that was hashed elsewhere must look there as it does here, before or after.
    """
    names = listing.algorithms
    files = listing.files()
    asked: list[_Asked] = [(path, names) for _, path, _, _ in files]
    troubles = {path: _error(reason, folder, path) for path, reason in listing.errors()}
    reads: dict[bytes, Read] = {}
    answers = hasher(folder, asked, [nbytes for _, _, nbytes, _ in files])
    for (index, path, *listed), (digests, nbytes, mtime_ns, reason, worker) in zip(files, answers, strict=True):
        place = os.path.join(os.fsencode(folder), path)
        reads[path] = Read(os.fsdecode(path), nbytes, worker)
        is_missed = reason is None and mtime_ns is None or reason is not None and reason[1] == errno.ENOENT
        if is_missed and _is_gone(place):
            listing.vanished(index)
        elif reason is None and mtime_ns is not None and (nbytes, mtime_ns) in (tuple(listed), _look(place)):
            listing.hashed(index, nbytes, mtime_ns, digests)
        elif reason is not None:
            listing.unread(index, reason[0] == "unstable")
            troubles[path] = _error(reason, folder, path)
        else:
            text = f"read as a file of {nbytes} bytes, modified at {mtime_ns} ns, but here it is another file"
            listing.unread(index, True)
            troubles[path] = _error(("unstable", None, text, 0), folder, path)
    return troubles, reads


def _error(reason: _Reason, folder: str, path: bytes) -> FileError:
    kind, number, text, offset = reason
    return FileError(kind, number, text, os.path.join(folder, os.fsdecode(path)), offset)


def _write(
    folder: str | os.PathLike[str],
    algorithms: Sequence[str],
    wanted: tuple[list[str], list[str], int | None, int | None],
    hasher: _Hasher,
) -> Written:
    if isinstance(algorithms, str):
        raise TypeError("algorithms is one name: give a list of names")
    root = os.path.abspath(folder)
    listing = Listing(root, list(algorithms), wanted, [], None)
    troubles, reads = _settle(listing, root, hasher)
    return Written(listing.write(), list(troubles.values()), list(reads.values()))


def _text(path: str | os.PathLike[str]) -> str:
    """Reads a file of a few lines."""
    with open(path, "rb") as opened:
        return opened.read(1 << 16).decode(errors="replace")


def _check(
    manifest: "str | os.PathLike[str] | Buffer",
    folder: str | os.PathLike[str],
    hasher: _Hasher,
    trusted_key: "str | os.PathLike[str] | None" = None,
    signature: "str | os.PathLike[str] | Buffer | None" = None,
) -> ManifestReport:
    root = os.path.abspath(folder)
    content, file = _content(manifest)
    without, signed = _places_below(root, file), None
    if signature is None and trusted_key is not None:
        if file is None:
            raise SignatureError("a manifest that is given by its bytes needs a signature: give it by signature=")
    if trusted_key is not None:
        key = trusted_key if isinstance(trusted_key, str) and is_public_key(trusted_key) else _text(trusted_key)
        if signature is None:
            signature = f"{file}{'.slhsig' if key.lstrip().startswith('-----BEGIN') else '.minisig'}"
        if isinstance(signature, (str, os.PathLike)):
            without += _places_below(root, os.fspath(signature))
            try:
                signature = _text(signature).encode()
            except FileNotFoundError as missing:
                raise SignatureError(f"{missing.filename}: missing: the manifest is not signed") from missing
        # Nobody can change these bytes after the check.
        content = bytes(content)
        signed = Signature(*manifest_signed(content, signature, key, file, root))
    elif signature is not None:
        raise ValueError("a signature is checked by a trusted_key: give both")
    listing = Listing(root, [], ([], [], None, None), without, content)
    return replace(_compared(listing, *_settle(listing, root, hasher)), signature=signed)


def _compared(listing: Listing, troubles: dict[bytes, FileError], reads: dict[bytes, Read]) -> ManifestReport:
    found, counts = listing.compare()
    differences: list[Difference] = []
    for status, path, old, new in found:
        after = None if new is None else json.loads(new)
        there = path if after is None else _path_of(after)
        read = reads.get(there)
        differences.append(
            Difference(
                status,
                os.fsdecode(path),
                None if old is None else json.loads(old),
                after,
                troubles.get(there),
                read.worker if read else None,
            )
        )
    return ManifestReport(differences, counts, list(reads.values()))


def _path_of(entry: dict[str, Any]) -> bytes:
    return bytes.fromhex(entry["path_hex"]) if "path_hex" in entry else os.fsencode(entry["path"])


def _check_list(
    file: "str | os.PathLike[str] | Buffer",
    folder: str | os.PathLike[str] | None,
    algorithms: Sequence[str],
    hasher: _Hasher,
) -> ListReport:
    if isinstance(algorithms, str):
        raise TypeError("algorithms is one name: give a list of names")
    root = os.path.abspath(folder if folder is not None else ".")
    entries, bad_lines = list_read(_content(file)[0], list(algorithms))
    asked: list[_Asked] = [(name, [algorithm for algorithm, _ in digests]) for _, name, digests, _ in entries]
    files: list[ListedFile] = []
    answers = hasher(root, asked, [])
    for (line, name, listed, length), (digests, nbytes, _, reason, worker) in zip(entries, answers, strict=True):
        error = None
        if reason is not None:
            error = _error(reason, root, name)
            state = "unstable" if reason[0] == "unstable" else "unread"
        elif digests == [digest for _, digest in listed] and length in (None, nbytes):
            state = "ok"
        else:
            state = "failed"
        names = tuple(algorithm for algorithm, _ in listed)
        files.append(ListedFile(os.fsdecode(name), line, names, state, error, worker))
    return ListReport(files, bad_lines)


def write(
    folder: str | os.PathLike[str],
    *,
    algorithms: Sequence[str] = ("sha256",),
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    min_nbytes: int | None = None,
    max_nbytes: int | None = None,
    threads: int = 0,
    progress: _Progress | None = None,
) -> Written:
    """Makes the manifest of a folder, as `hashloom manifest write` does. Nothing is written.

    Globs are those of .gitignore. `threads` is the largest number of threads; 0 means one for each CPU. `progress` is
    called with the bytes hashed so far and None, up to 20 times a second. Ctrl-C stops the call.

    An entry that cannot be read is in the manifest as such, and in `troubles`. Raises FileError if the folder cannot be
    listed.
    """
    wanted = (list(include), list(exclude), min_nbytes, max_nbytes)
    return _write(folder, algorithms, wanted, _here(threads, progress))


def check(
    manifest: "str | os.PathLike[str] | Buffer",
    folder: str | os.PathLike[str],
    *,
    trusted_key: "str | os.PathLike[str] | None" = None,
    signature: "str | os.PathLike[str] | Buffer | None" = None,
    threads: int = 0,
    progress: _Progress | None = None,
) -> ManifestReport:
    """Compares a folder with its manifest, given by its path or its bytes, as `hashloom manifest check` does.

    All files are read. A manifest that is given by its path may lie in the folder: it is not part of it. `threads`,
    `progress` and Ctrl-C are those of write. Raises ManifestError for bytes that are not a manifest, FileError if the
    folder cannot be listed, OSError if the manifest cannot be read.

    `trusted_key` is a public key of minisign or SLH-DSA: the path of its file, or the key itself in base64 or PEM. The
    manifest must then have a signature by this key, or nothing is read: SignatureError. The signature is in
    MANIFEST.minisig, of an SLH-DSA key in MANIFEST.slhsig, or `signature` is its path or its bytes. The report's
    `signature` says what the signature's comment names: a manifest or a folder of another name is no error, as copies
    have other names.
    """
    return _check(manifest, folder, _here(threads, progress), trusted_key, signature)


def check_list(
    file: "str | os.PathLike[str] | Buffer",
    *,
    folder: str | os.PathLike[str] | None = None,
    algorithms: Sequence[str] = (),
    threads: int = 0,
    progress: _Progress | None = None,
) -> ListReport:
    """Checks files against a list of checksums, given by its path or its bytes, as `hashloom check` does.

    The formats are those of docs/checksums.md, except lines of JSON. Names are relative to `folder`, or to the current
    one. Names may lead anywhere, with `..` or a slash in front or through links: check no list of a stranger.
    `algorithms` are those of lines that do not name theirs, as the option --algorithm. `threads`, `progress` and Ctrl-C
    are those of write. Raises OSError if the list cannot be read.
    """
    return _check_list(file, folder, algorithms, _here(threads, progress))
