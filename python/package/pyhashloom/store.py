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

import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from ._files import FileDigest, FileError
from ._hashloom import new
from ._journal import Journal
from ._objects import Limits, Object, Store, each, of_list, results

__all__ = ["FileError", "ObjectDigest", "sums"]

_Options = Mapping[str, Any]


class ObjectDigest(FileDigest):
    """The result for an object: its digest, or the error that there is instead."""

    __slots__ = ("source", "version")

    source: Literal["read", "journal"] | None
    """Whether the object was read by this call, or by an earlier one that wrote the journal. None if there is an error."""
    version: str
    """The version that was read: S3's ETag, or what the file system has instead."""

    def __init__(
        self,
        path: str,
        digest: bytes | None,
        nbytes: int,
        error: FileError | None,
        source: Literal["read", "journal"] | None,
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


def sums(
    name: str,
    url: str | Iterable[str],
    *,
    journal: str | os.PathLike[str] | None = None,
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
        known = Journal(journal, top if urls is None else "", [name]) if journal is not None else None
        try:
            async with Store(top, options, limits) as store:

                async def digest(one: Object) -> ObjectDigest:
                    try:
                        if not one.version:
                            one = await store.look(one)
                        found = known.find(one.path, one.version) if known else None
                        if found is not None:
                            return ObjectDigest(store.url_of(one.path), found, one.nbytes, None, "journal", one.version)
                        one, (found,) = await store.digests(one, [name])
                    except Exception as error:
                        told = store.error(error, one.path)
                        return ObjectDigest(store.url_of(one.path), None, 0, told, None, one.version)
                    if known:
                        known.add(one.path, one.version, found)
                    return ObjectDigest(store.url_of(one.path), found, one.nbytes, None, "read", one.version)

                objects = store.list(top) if urls is None else of_list(store.named(one) for one in urls)
                await each(objects, digest, give, limits.requests)
        finally:
            if known:
                known.close()

    return results(work)
