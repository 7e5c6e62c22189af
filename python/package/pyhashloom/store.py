# SPDX-License-Identifier: MIT OR Apache-2.0
"""Objects in buckets, and files on whatever fsspec reads: sums, manifests, torrents and hash trees.

>>> import fsspec
>>> fsspec.filesystem("memory").pipe({"/photos/a": b"abc", "/photos/b": b""})
>>> for one in sums("sha256", "memory://photos"):
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
import errno
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from . import manifest as manifests
from ._files import FileDigest, FileError
from ._hashloom import Listing, new
from ._journal import Journal
from ._objects import Limits, Object, Store, each, of_list, results
from ._streams import usual_digest
from .manifest import ManifestReport, Read, Written

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["FileError", "ObjectDigest", "StoreReport", "check_manifest", "sums", "write_manifest"]

_Options = Mapping[str, Any]
_Path = str | os.PathLike[str]
_Source = Literal["read", "journal", "store"]


class ObjectDigest(FileDigest):
    """The result for an object: its digest, or the error that there is instead."""

    __slots__ = ("source", "version")

    source: _Source | None
    """Whether the object was read by this call, or by an earlier one that wrote the journal. None if there is an error."""
    version: str
    """The version that was read: S3's ETag, or what the file system has instead."""

    def __init__(
        self,
        path: str,
        digest: bytes | None,
        nbytes: int,
        error: FileError | None,
        source: _Source | None,
        version: str,
    ) -> None:
        super().__init__(path, digest, nbytes, error)
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
class StoreReport(ManifestReport):
    """The result of a check of objects. `reads` has the objects that were read, `vouched` those that were not."""

    vouched: list[str]
    """The objects for which the store's own checksum stands in for reading, below the URL."""
    journaled: list[str]
    """The objects that an earlier call with the same journal has read."""


@dataclass(frozen=True)
class _Answer:
    """What became of an object. There are digests or an error."""

    found: Object
    digests: list[bytes] | None
    error: FileError | None
    source: _Source | None


class _Hasher:
    """Digests of objects: from the journal, from the store if that is trusted, or by reading."""

    def __init__(self, store: Store, names: list[str], journal: Journal | None, trust_store: bool) -> None:
        self._store = store
        self._names = names
        self._nbytes = [len(usual_digest(new(name))) for name in names]
        self._journal = journal
        self._trust_store = trust_store

    async def __call__(self, one: Object) -> _Answer:
        try:
            if not one.version:
                one = await self._store.look(one)
            if self._journal is not None:
                joined = self._journal.find(one.path, one.version)
                if joined is not None and len(joined) == sum(self._nbytes):
                    ends = [sum(self._nbytes[: i + 1]) for i in range(len(self._nbytes))]
                    digests = [joined[end - nbytes : end] for end, nbytes in zip(ends, self._nbytes)]
                    return _Answer(one, digests, None, "journal")
            if self._trust_store:
                told = await self._store.checksums(one)
                if all(name in told for name in self._names):
                    return _Answer(one, [told[name] for name in self._names], None, "store")
            one, digests = await self._store.digests(one, self._names)
        except Exception as error:
            return _Answer(one, None, self._store.error(error, one.path), None)
        if self._journal is not None:
            self._journal.add(one.path, one.version, b"".join(digests))
        return _Answer(one, digests, None, "read")


def sums(
    name: str,
    url: str | Iterable[str],
    *,
    journal: _Path | None = None,
    storage_options: _Options | None = None,
    requests: int = 64,
    memory_nbytes: int = 256 << 20,
    range_nbytes: int = 8 << 20,
    retries: int = 5,
) -> Iterator[ObjectDigest]:
    """Returns an iterator over the digests of objects, in the order in which they end.

    `url` is an object, or whatever is below it; or a list of objects. An object that cannot be read does not stop the
    others: its result has the error. An object that changes while it is read is read again, and its error has the kind
    "unstable" after the third time. FileError if the objects cannot be listed.

    `journal` is a file. Digests are added to it as they come, and the next call with the same file, `name` and `url`
    reads only objects that are new or of another version.
    """
    new(name)
    limits = Limits(requests, memory_nbytes, range_nbytes, retries)
    top, urls = _several(url)
    options = dict(storage_options or {})

    async def work(give: Callable[[ObjectDigest], Awaitable[None]]) -> None:
        with _opened(journal, top if urls is None else "", [name]) as known:
            async with Store(top, options, limits) as store:
                hasher = _Hasher(store, [name], known, False)

                async def digest(one: Object) -> ObjectDigest:
                    answer = await hasher(one)
                    one, digest = answer.found, answer.digests and answer.digests[0]
                    url = store.url_of(one.path)
                    return ObjectDigest(url, digest, digest and one.nbytes or 0, answer.error, answer.source, one.version)

                objects = store.list(top) if urls is None else of_list(store.named(one) for one in urls)
                await each(objects, digest, give, limits.requests)

    return results(work)


def _opened(journal: _Path | None, url: str, names: list[str]) -> contextlib.AbstractContextManager[Journal | None]:
    return contextlib.nullcontext() if journal is None else contextlib.closing(Journal(journal, url, names))


def _settled(
    url: str,
    listed: Callable[[list[tuple[bytes, int, int]]], Listing],
    journal: _Path | None,
    trust_store: bool,
    options: _Options | None,
    limits: Limits,
    progress: Callable[[int, int], object] | None,
) -> tuple[Listing, dict[bytes, FileError], dict[bytes, _Answer]]:
    """Lists and hashes what is below a URL. Returns the troubles, and the answers for what has digests."""
    top = url.rstrip("/") + "/"
    begun: list[Listing] = []
    indexes: dict[bytes, int] = {}

    async def work(give: Callable[[tuple[bytes, _Answer]], Awaitable[None]]) -> None:
        async with Store(top, dict(options or {}), limits) as store:
            prefix = store.named(top).path.rstrip("/") + "/"
            objects: dict[bytes, Object] = {}
            async for one in store.list(top):
                if not one.path.startswith(prefix):
                    raise store.error(NotADirectoryError(20, "it is an object, and a manifest has what is below one"), one.path)
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
        elif answer.error is not None and answer.error.errno == errno.ENOENT:
            listing.vanished(indexes[path])
        elif answer.error is not None:
            listing.unread(indexes[path], answer.error.kind == "unstable")
            troubles[path] = answer.error
        count += 1
        if progress is not None:
            progress(count, len(indexes))
    return begun[0], dict(sorted(troubles.items())), dict(sorted(answers.items()))


def _reads(answers: dict[bytes, _Answer]) -> dict[bytes, Read]:
    return {
        path: Read(os.fsdecode(path), answer.found.nbytes, None, None)
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
    memory_nbytes: int = 256 << 20,
    range_nbytes: int = 8 << 20,
    retries: int = 5,
) -> Written:
    """Makes the manifest of the objects below a URL, in the format of `hashloom manifest write`. Nothing is written.

    The names of objects give the folders, so a copy of the objects on a disk is the same but for the times of its files,
    which count as touched. Globs, `min_nbytes` and `max_nbytes` are those of pyhashloom.manifest.write, `journal` is that
    of sums. `progress` is called with the number of objects done and of all objects.

    Raises FileError if the objects cannot be listed, ManifestError for a name that no manifest can have: one with an empty
    part, one with a part . or .., or one that is also a folder.
    """
    if isinstance(algorithms, str):
        raise TypeError("algorithms is one name: give a list of names")
    limits = Limits(requests, memory_nbytes, range_nbytes, retries)
    names, wanted = list(algorithms), (list(include), list(exclude), min_nbytes, max_nbytes)
    listing, troubles, answers = _settled(
        url, lambda objects: Listing.of(objects, names, wanted, None), journal, False, storage_options, limits, progress
    )
    return Written(listing.write(), list(troubles.values()), list(_reads(answers).values()))


def check_manifest(
    manifest: str | os.PathLike[str] | Buffer,
    url: str,
    *,
    trust_store: bool = False,
    journal: _Path | None = None,
    progress: Callable[[int, int], object] | None = None,
    storage_options: _Options | None = None,
    requests: int = 64,
    memory_nbytes: int = 256 << 20,
    range_nbytes: int = 8 << 20,
    retries: int = 5,
) -> StoreReport:
    """Compares the objects below a URL with a manifest, given by its path or its bytes.

    All objects are read, unless `trust_store` is true: then an object is not read if S3 tells a checksum of the whole
    object for each algorithm of the manifest. These are SHA-256 and SHA-1 of uploads with such a checksum in one part, and
    the ETag as MD5 of uploads in one part without a key of the customer's or of KMS. `vouched` of the report has these
    objects: S3 computed their checksums when they were uploaded, and nobody has looked at the bytes since.

    A manifest of a folder on a disk can be checked too; its symbolic links and empty folders are then removed, as objects
    have none. The rest is that of write_manifest. Raises ManifestError for bytes that are not a manifest.
    """
    limits = Limits(requests, memory_nbytes, range_nbytes, retries)
    content, _ = manifests._content(manifest)
    listing, troubles, answers = _settled(
        url,
        lambda objects: Listing.of(objects, [], ([], [], None, None), content),
        journal,
        trust_store,
        storage_options,
        limits,
        progress,
    )
    report = manifests._compared(listing, troubles, _reads(answers))
    by_source: dict[str | None, list[str]] = {"store": [], "journal": []}
    for path, answer in answers.items():
        by_source.setdefault(answer.source, []).append(os.fsdecode(path))
    return StoreReport(report.differences, report.counts, report.reads, by_source["store"], by_source["journal"])
