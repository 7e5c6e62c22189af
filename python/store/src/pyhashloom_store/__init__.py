# SPDX-License-Identifier: MIT OR Apache-2.0
"""Objects in buckets, and files on whatever fsspec reads: sums, manifests and uploads.

>>> import fsspec
>>> fsspec.filesystem("memory").pipe({"/photos/a": b"abc", "/photos/b": b""})
>>> for one in sorted(sums("sha256", "memory://photos"), key=lambda one: one.path):
...     print(one.path, one.nbytes, one.hexdigest[:16])
memory://photos/a 3 ba7816bf8f01cfea
memory://photos/b 0 e3b0c44298fc1c14

All calls take the same keywords:

- `storage_options`: what fsspec's file system takes: keys, an endpoint, a region.
- `requests`: requests in flight at the same time.
- `memory_nbytes`: bytes of bodies in flight and in memory at the same time.
- `range_nbytes`: an object is asked for in ranges of this length; several are in flight.
- `retries`: attempts after the first one, with growing pauses, if a request fails, a body is cut off, or the store says
  that it is busy.

Nothing runs on after a call: its thread and its connections end with it. Ctrl-C stops it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pyhashloom import manifest as manifests
from pyhashloom import tree
from pyhashloom._files import FileDigest, FileError, files
from pyhashloom._hashloom import Journal, Listing, new
from pyhashloom._streams import usual_digest
from pyhashloom.manifest import ManifestReport, Read, Written

from ._objects import (
    CHECKSUM_FIELDS,
    CRC_FIELDS,
    Limits,
    Store,
    UntiedError,
    checksums_of,
    each,
    is_etag_md5,
    key_of,
    of_list,
    of_s3,
    results,
    without_user,
)
from ._versions import Object

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "FileError",
    "ObjectDigest",
    "StoreReport",
    "Upload",
    "check_manifest",
    "check_upload",
    "sums",
    "write_manifest",
]

_Options: TypeAlias = Mapping[str, Any]
_Path: TypeAlias = str | os.PathLike[str]
_Source: TypeAlias = Literal["read", "journal", "store"]


class ObjectDigest(FileDigest):
    """The result for an object: its digest, or the error that there is instead."""

    __slots__ = ("source", "version")

    source: _Source | None
    """Whether the object was read by this call, or by an earlier one that wrote the journal. None if there is an
    error."""
    version: str
    """The version that was read: what the store tells that changes with the bytes, such as ETag and time."""

    def __init__(
        self,
        path: str,
        digest: bytes | None,
        nbytes: int,
        error: FileError | None,
        source: _Source | None,
        version: str,
        more: tuple[bytes, ...] = (),
    ) -> None:
        super().__init__(path, digest, nbytes, error, more)
        self.source = source
        self.version = version


def _several(url: str | Iterable[str]) -> tuple[str, list[str] | None]:
    """A URL, and the list if there is one."""
    if isinstance(url, str):
        return url, None
    urls = list(url)
    for position, one in enumerate(urls):
        if not isinstance(one, str):
            raise TypeError(f"url {position}: expected text, found {type(one).__name__}")
        if one.partition("://")[0] != urls[0].partition("://")[0]:
            raise ValueError(f"url {position}: {one} is in another kind of store than {urls[0]}: make two calls")
    return (urls[0] if urls else "file:///"), urls


@dataclass(frozen=True)
class StoreWritten(Written):
    """A new manifest of objects. `troubles` also has the objects that were listed and then gone: they are not in it."""

    journaled: list[str]
    """The objects that an earlier call with the same journal has read, below the URL."""
    versions: dict[str, str]
    """The version of each object that the digests are of, below the URL. A manifest does not have it."""


@dataclass(frozen=True)
class StoreReport(ManifestReport):
    """The result of a check of objects. `reads` has the objects that were read, `vouched` and `journaled` those that
    were not."""

    vouched: list[str]
    """The objects for which the store's own checksum stands in for reading, below the URL."""
    journaled: list[str]
    """The objects that an earlier call with the same journal has read."""
    troubles: list[FileError]
    """Why objects that are listed could not be read. One that is gone behind the listing is here too."""

    @property
    def is_same(self) -> bool:
        """Whether everything is as it was, and all that is listed was read, or taken over as the caller allowed."""
        return super().is_same and not self.troubles


@dataclass(frozen=True)
class _Answer:
    """What became of an object. There are digests or an error."""

    found: Object
    digests: list[bytes] | None
    error: FileError | None
    is_gone: bool
    source: _Source | None = None


class _Hasher:
    """Digests of objects: from the journal, from the store if that is trusted, or by reading."""

    def __init__(self, store: Store, names: list[str], journal: Journal | None, trust_store: bool) -> None:
        self._store = store
        self._names = names
        self._nbytes = [len(usual_digest(new(name))) for name in names]
        self._journal = journal
        self._trust_store = trust_store
        self._place = store.place()

    def _key(self, one: Object) -> tuple[bytes, bytes]:
        return key_of(one, self._store.url_of(one.path), self._place)

    async def __call__(self, one: Object) -> _Answer:
        try:
            if not one.ties:
                one = await self._store.look(one)
            if self._journal is not None:
                joined = self._journal.find(*self._key(one))
                if joined is not None and len(joined) == sum(self._nbytes):
                    ends = [sum(self._nbytes[: i + 1]) for i in range(len(self._nbytes))]
                    digests = [joined[end - nbytes : end] for end, nbytes in zip(ends, self._nbytes)]
                    return _Answer(one, digests, None, False, "journal")
            if self._trust_store:
                told = await self._store.checksums(one)
                if all(name in told for name in self._names):
                    return _Answer(one, [told[name] for name in self._names], None, False, "store")
            listed = one
            one, digests = await self._store.digests(one, self._names)
        except UntiedError:
            raise
        except Exception as error:
            return _Answer(one, None, *await self._store.missing(error, one))
        if self._journal is not None:
            # The next call looks for what the listing tells, and a look may tell more.
            tied = listed if listed.is_same(one) else one
            self._journal.add(*self._key(tied), b"".join(digests))
        return _Answer(one, digests, None, False, "read")


def sums(
    name: str | Sequence[str],
    url: str | Iterable[str],
    *,
    journal: _Path | None = None,
    storage_options: _Options | None = None,
    requests: int = 64,
    memory_nbytes: int = 128 << 20,
    range_nbytes: int = 8 << 20,
    retries: int = 5,
) -> Iterator[ObjectDigest]:
    """Returns an iterator over the digests of objects, in the order in which they end.

    `name` is an algorithm or several, all of which hash what is read once: `digests` of a result are all. `url` is an
    object, or whatever is below it; or a list of objects. In a URL alone, `*`, `?` and `[...]` stand for characters but
    a slash, and `**` for folders: those objects, by their names; none in a list. An object that cannot be read does not
    stop the others: its result has the error. An object that changes while it is read is read again, and its error has
    the kind "unstable" after the third time. FileError if the objects cannot be listed.

    `journal` is a file. Digests are added to it as they come, and the next call with the same file, `name` and `url`
    reads only objects that are new or of another version.
    """
    names = [name] if isinstance(name, str) else list(name)
    if not names:
        raise ValueError("no algorithm is named")
    for one_name in names:
        new(one_name)
    limits = Limits(requests, memory_nbytes, range_nbytes, retries)
    top, urls = _several(url)

    async def work(give: Callable[[ObjectDigest], Awaitable[None]]) -> None:
        async with Store(top, storage_options or {}, limits) as store:
            with _opened(journal, top if urls is None else "a list", names) as known:
                hasher = _Hasher(store, names, known, False)

                async def digest(one: Object) -> ObjectDigest:
                    answer = await hasher(one)
                    one, url = answer.found, store.url_of(answer.found.path)
                    if answer.digests is None:
                        return ObjectDigest(url, None, 0, answer.error, None, one.version)
                    first, *more = answer.digests
                    return ObjectDigest(url, first, one.nbytes, None, answer.source, one.version, tuple(more))

                named = [store.named(url, is_object=True) for url in urls or ()]
                objects = store.matching(top) if urls is None else of_list(named)
                await each(objects, digest, give, limits.requests)

    return results(work)


def _opened(journal: _Path | None, url: str, names: list[str]) -> contextlib.AbstractContextManager[Journal | None]:
    if journal is None:
        return contextlib.nullcontext()
    return contextlib.closing(Journal(journal, f"{without_user(url)} by {', '.join(names)}"))


def _settled(
    url: str,
    listed: Callable[[list[tuple[bytes, int, int]]], Listing],
    journal: _Path | None,
    trust_store: bool,
    options: _Options | None,
    limits: Limits,
    progress: Callable[[int, int], object] | None,
    without: str | None = None,
) -> tuple[Listing, dict[bytes, FileError], dict[bytes, _Answer]]:
    """Lists and hashes what is below a URL. Returns the troubles, and the answers for what has digests. An object that
    is listed and cannot be had is in the listing as unread; one that is gone now is not, and a trouble."""
    top = url.rstrip("/") + "/"
    begun: list[Listing] = []
    indexes: dict[bytes, int] = {}

    async def work(give: Callable[[tuple[bytes, _Answer]], Awaitable[None]]) -> None:
        async with Store(top, options or {}, limits) as store:
            prefix = store.named(top).path.rstrip("/") + "/"
            objects: dict[bytes, Object] = {}
            own = store.path_of(without) if without is not None else None
            async for one in store.below(top):
                if one.path == own:
                    continue
                if not one.path.startswith(prefix):
                    raise store.error(
                        NotADirectoryError(20, "it is an object, and a manifest has what is below one"), one.path
                    )
                objects[one.path[len(prefix) :].encode("utf-8", "surrogateescape")] = one
            listing = listed([(path, one.nbytes, one.mtime_ns) for path, one in objects.items()])
            begun.append(listing)
            for index, path, _, _ in listing.files():
                indexes[path] = index
            with _opened(journal, top, listing.algorithms) as known:
                hasher = _Hasher(store, listing.algorithms, known, trust_store)

                async def answer(path: bytes) -> tuple[bytes, _Answer]:
                    return path, await hasher(objects[path])

                await each(of_list(list(indexes)), answer, give, limits.requests)

    troubles: dict[bytes, FileError] = {}
    answers: dict[bytes, _Answer] = {}
    count = 0
    for path, answer in results(work):
        (listing,) = begun
        if answer.digests is not None:
            listing.hashed(indexes[path], answer.found.nbytes, answer.found.mtime_ns, answer.digests)
            answers[path] = answer
        elif answer.error is not None:
            troubles[path] = answer.error
            if answer.is_gone:
                listing.vanished(indexes[path])
            else:
                listing.unread(indexes[path], answer.error.kind == "unstable")
        count += 1
        if progress is not None:
            progress(count, len(indexes))
    return begun[0], dict(sorted(troubles.items())), dict(sorted(answers.items()))


def _fetched(url: str, options: _Options, limits: Limits) -> bytes:
    """The bytes of an object, all of one version."""

    async def work(give: Callable[[bytes], Awaitable[None]]) -> None:
        async with Store(url, options, limits) as store:
            parts: list[bytes] = []

            def begin(_: Object) -> Callable[[bytes], Awaitable[object]]:
                parts.clear()

                async def take(chunk: bytes) -> None:
                    parts.append(chunk)

                return take

            one = store.named(url, is_object=True)
            try:
                await store.read(one, begin)
            except Exception as error:
                raise store.error(error, one.path) from error
            await give(b"".join(parts))

    (content,) = results(work)
    return content


def _taken(answers: dict[bytes, _Answer], source: _Source) -> list[str]:
    return [os.fsdecode(path) for path, answer in answers.items() if answer.source == source]


def _reads(answers: dict[bytes, _Answer]) -> dict[bytes, Read]:
    return {
        path: Read(os.fsdecode(path), answer.found.nbytes, None)
        for path, answer in answers.items()
        if answer.source == "read"
    }


def write_manifest(
    url: str,
    *,
    algorithms: Sequence[str] = ("sha256",),
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    min_nbytes: int | None = None,
    max_nbytes: int | None = None,
    journal: _Path | None = None,
    progress: Callable[[int, int], object] | None = None,
    storage_options: _Options | None = None,
    requests: int = 64,
    memory_nbytes: int = 128 << 20,
    range_nbytes: int = 8 << 20,
    retries: int = 5,
) -> StoreWritten:
    """Makes the manifest of the objects below a URL, in the format of `hashloom manifest write`. Nothing is written.

    The names of objects give the folders, so a copy of the objects on a disk is the same but for the times of its
    files, which count as touched. Globs, `min_nbytes` and `max_nbytes` are those of pyhashloom.manifest.write,
    `journal` is that of sums. `progress` is called with the number of objects done and of all objects.

    Raises FileError if the objects cannot be listed, ManifestError for a name that no manifest can have: one with an
    empty part, one with a part . or .., or one that is also a folder.
    """
    if isinstance(algorithms, str):
        raise TypeError("algorithms is one name: give a list of names")
    limits = Limits(requests, memory_nbytes, range_nbytes, retries)
    names, wanted = list(algorithms), (list(include), list(exclude), min_nbytes, max_nbytes)
    listing, troubles, answers = _settled(
        url, lambda objects: Listing.of(objects, names, wanted, None), journal, False, storage_options, limits, progress
    )
    journaled = _taken(answers, "journal")
    versions = {os.fsdecode(path): answer.found.version for path, answer in answers.items()}
    return StoreWritten(listing.write(), list(troubles.values()), list(_reads(answers).values()), journaled, versions)


def check_manifest(
    manifest: str | os.PathLike[str] | Buffer,
    url: str,
    *,
    trust_store: bool = False,
    journal: _Path | None = None,
    progress: Callable[[int, int], object] | None = None,
    storage_options: _Options | None = None,
    requests: int = 64,
    memory_nbytes: int = 128 << 20,
    range_nbytes: int = 8 << 20,
    retries: int = 5,
) -> StoreReport:
    """Compares the objects below a URL with a manifest, given by its path, its bytes, or the URL of an object, which is
    then no part of what is compared.

    All objects are read, unless `trust_store` is true: then an object is not read if S3 tells a checksum of the whole
    object for each algorithm of the manifest. These are SHA-256 and SHA-1 of uploads with such a checksum in one part,
    and the ETag as MD5 of uploads in one part without a key of the customer's or of KMS. `vouched` of the report has
    these objects: S3 computed their checksums when they were uploaded, and nobody has looked at the bytes since. A CRC
    (CRC64NVME, CRC32, CRC32C) never stands in for a digest, as anybody can make other bytes that have it.

    A manifest of a folder on a disk can be checked too; its symbolic links and empty folders are then removed, as
    objects have none. The rest is that of write_manifest. Raises ManifestError for bytes that are not a manifest.
    """
    limits = Limits(requests, memory_nbytes, range_nbytes, retries)
    is_remote = isinstance(manifest, str) and "://" in manifest
    if is_remote:
        content: bytes | Buffer = _fetched(str(manifest), storage_options or {}, limits)
    else:
        content, _ = manifests._content(manifest)
    listing, troubles, answers = _settled(
        url,
        lambda objects: Listing.of(objects, [], ([], [], None, None), content),
        journal,
        trust_store,
        storage_options,
        limits,
        progress,
        str(manifest) if is_remote else None,
    )
    report = manifests._compared(listing, troubles, _reads(answers))
    return StoreReport(
        report.differences,
        report.counts,
        report.reads,
        _taken(answers, "store"),
        _taken(answers, "journal"),
        list(troubles.values()),
    )


@dataclass(frozen=True)
class Upload:
    """A file beside the object that it was uploaded to. The object was not read."""

    is_same: bool
    """Whether the length and the checksum are the same."""
    checksum: str
    """What was compared: the algorithm, and the length of a part if the upload was in parts."""
    expected: str
    """The checksum of the file."""
    found: str
    """The checksum that S3 has."""


def check_upload(
    path: _Path, url: str, *, storage_options: _Options | None = None, threads: int = 0, retries: int = 5
) -> Upload:
    """Compares a file with an object of S3 without reading the object: by its length, and by the checksum that S3
    computed when the object was uploaded, at once or in parts of equal length. `checksum` of the result says which one:
    a SHA-256 or SHA-1 where there is one, or else the ETag as MD5, or else a CRC (crc64nvme, crc32c, crc32). By MD5,
    two files that somebody made for it are the same; by a CRC, any file that somebody changed on purpose may be: it
    shows damage alone.

    ValueError if S3 has no checksum that can be computed from the file: that is so for an object encrypted by KMS
    without any of these. FileError if one of the two cannot be read.
    """

    async def asked(store: Store) -> tuple[str, str, int, int]:
        if not store.is_s3:
            raise ValueError(f"{url}: only S3 tells checksums of its objects: compare by sums")
        one = store.named(url)
        try:
            head = await store.head(one)
            one = of_s3(one.path, one.bucket, head, head.get("ContentLength"))
            first = await store.head(one, PartNumber=1) if "-" in one.etag else {}
        except Exception as error:
            raise store.error(error, one.path) from error
        for name, digest in checksums_of(one, head).items():
            return name, digest.hex(), 0, one.nbytes
        part_nbytes = first.get("ContentLength", 0)
        for name, field in CHECKSUM_FIELDS.items():
            if part_nbytes and "-" in head.get(field, ""):
                return name, head[field], part_nbytes, one.nbytes
        if part_nbytes and is_etag_md5(head):
            return "md5", one.etag.strip('"'), part_nbytes, one.nbytes
        for name, field in CRC_FIELDS.items():
            # A composite one has a minus sign and the number of parts behind it.
            if found := head.get(field):
                if part_nbytes or "-" not in found:
                    return name, found, part_nbytes if "-" in found else 0, one.nbytes
        raise ValueError(f"{url}: S3 has no checksum of it that can be computed from a file: read it by sums")

    async def work(give: Callable[[tuple[str, str, int, int]], Awaitable[None]]) -> None:
        async with Store(url, storage_options or {}, Limits(4, 1, 1, retries)) as store:
            await give(await asked(store))

    ((name, found, part_nbytes, nbytes),) = results(work)
    is_long = os.stat(path).st_size == nbytes
    if part_nbytes or name in CRC_FIELDS:
        expected = str(tree.s3(path, name=name, part_nbytes=part_nbytes or None, threads=threads)) if is_long else ""
    else:
        (file,) = files(name, [path], threads=threads)
        expected = file.hexdigest
    checksum = f"{name} of parts of {part_nbytes} bytes" if part_nbytes else name
    return Upload(is_long and expected == found, checksum, expected, found)
