# SPDX-License-Identifier: MIT OR Apache-2.0
"""Objects in buckets, read by fsspec: pages of a listing, ranges in flight, retries, and the thread of the event loop.

An object is a name and a version (_versions.py). The version in each answer of S3 and HTTP is compared; others are
looked at again behind the last range. An object whose version cannot be told is read by one request. A range that does
not have its length is asked for again. The caller's thread takes results; everything else happens in an event loop on a
thread of its own, which ends with the call.
"""

from __future__ import annotations

import asyncio
import atexit
import base64
import contextlib
import dataclasses
import functools
import hashlib
import inspect
import json
import operator
import os
import queue
import random
import re
import sys
import threading
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import fsspec
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from pyhashloom._files import FileError
from pyhashloom._hashloom import Hash, new
from pyhashloom._streams import Lanes, usual_digest

from ._versions import Object, described, time_ns

_Result = TypeVar("_Result")
_Answer = TypeVar("_Answer")

# Ranges of one object that are in flight or wait for their turn.
_AHEAD = 8

# Readings of an object that changes each time before giving up, as of a file.
_READINGS = 3

# S3's names of its checksums.
CHECKSUM_FIELDS = {"sha256": "ChecksumSHA256", "sha1": "ChecksumSHA1"}
CRC_FIELDS = {"crc64nvme": "ChecksumCRC64NVME", "crc32c": "ChecksumCRC32C", "crc32": "ChecksumCRC32"}

# Results that may wait for the caller; then no object is begun.
_WAITING = 1024

# The longest time between two attempts, in seconds.
_PAUSE = 20.0

# Options of a file system that do not decide which store it is: secrets, which must not be in a journal, and speed.
_NO_PLACE = re.compile(
    "key|secret|token|passw|cred|auth|cookie|cert|header|connection_string|"
    "size|timeout|cache|max|loop|asynch|config_kwargs",
    re.IGNORECASE,
)

# Attributes of a file system, or of what it has, that tell which store it is.
_PLACES = (
    "host", "port", "username", "user", "url", "endpoint", "_endpoint", "_location", "region", "instance", "org",
    "repo", "root", "ref", "gist_id", "sha", "account_name", "hostid", "service_client.url", "client.base_url",
    "client.config.host", "repo.path", "api.client.app_url",
)  # fmt: skip

# Headers of HTTP that tell the version in the answer to a range.
_OF_RANGES = ("ETag", "Last-Modified")

# File systems with one connection or one open file.
_ARCHIVES = ("libarchive", "tar", "zip")
_ONE_BY_ONE = ("ftp", *_ARCHIVES)


class ChangedError(Exception):
    """The object is not the version that was asked for."""


class UntiedError(ValueError):
    """A journal cannot have the object: no field of it changes with its bytes."""


class NoRangesError(OSError):
    """The server answers with the whole object to a request for a range."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a call may use."""

    requests: int
    memory_nbytes: int
    range_nbytes: int
    retries: int

    def __post_init__(self) -> None:
        for field, least in (
            ("requests", 1),
            ("range_nbytes", 1),
            ("memory_nbytes", self.range_nbytes),
            ("retries", 0),
        ):
            value = getattr(self, field)
            if value < least:
                raise ValueError(f"{field} is {value}: expected at least {least}")


def is_passing(error: BaseException) -> bool:
    """Whether another attempt can help: not against what is missing, forbidden or wrong."""
    never = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, TypeError, NotImplementedError)
    if isinstance(error, (*never, ChangedError, NoRangesError)):
        return False
    boto = sys.modules.get("botocore.exceptions")
    if boto is None:
        return True
    told = error if isinstance(error, boto.ClientError) else error.__cause__
    if isinstance(told, boto.ClientError):
        status = told.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500)
        return bool(status >= 500 or status in (408, 429))
    if isinstance(error, boto.BotoCoreError):
        return isinstance(error, (boto.HTTPClientError, boto.ConnectionError, boto.IncompleteReadError))
    return True


def _is_changed(error: BaseException) -> bool:
    """Whether S3 says that the object has another ETag, or is shorter than the range."""
    told = getattr(error.__cause__, "response", None) or {}
    return told.get("ResponseMetadata", {}).get("HTTPStatusCode") in (412, 416)


def _raise_for(answer: Any) -> None:
    """The error that a status of HTTP stands for."""
    text = f"the server answers {answer.status} {answer.reason}"
    if answer.status in (401, 403):
        raise PermissionError(13, text)
    if answer.status in (404, 410):
        raise FileNotFoundError(2, text)
    if answer.status in (412, 416):
        raise ChangedError(text)
    answer.raise_for_status()


def _is_file(info: dict[str, Any]) -> bool:
    return bool(info.get("type", "file") == "file")


def of_s3(path: str, bucket: str, told: dict[str, Any], nbytes: int | None, date: str | None = None) -> Object:
    """An object as S3 describes it, at a date of the server's. Headers have a time without a fraction, and listings of
    some servers one with it."""
    if not told.get("ETag") or nbytes is None or nbytes < 0:
        raise OSError(None, f"{path}: the store does not tell the ETag and the length")
    info = {"ETag": told["ETag"]}
    if changed_ns := time_ns(told.get("LastModified")):
        info["LastModified"] = changed_ns // 10**9
    if told.get("VersionId") not in (None, "null"):
        info["VersionId"] = told["VersionId"]
    one = described(path, info, nbytes, time_ns(date), bucket=bucket)
    # An ETag is MD5, or MD5 of MD5s.
    return one if len(info) > 1 else dataclasses.replace(one, ties=frozenset())


def _date(answer: dict[str, Any]) -> str | None:
    """When S3 answered, by its own clock."""
    date: str | None = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
    return date


def is_etag_md5(head: dict[str, Any]) -> bool:
    """Whether the ETag is made of MD5: not if the object is encrypted by KMS or a key of the customer."""
    return head.get("ServerSideEncryption", "AES256") == "AES256" and "SSECustomerAlgorithm" not in head


def checksums_of(one: Object, head: dict[str, Any]) -> dict[str, bytes]:
    """The digests of the whole object that S3 tells, by algorithm; none if it tells of another version."""
    found: dict[str, bytes] = {}
    if not one.is_same(of_s3(one.path, one.bucket, head, head.get("ContentLength"))):
        return found
    if "-" in one.etag:  # an upload in parts, whose checksums are those of the parts' checksums
        return found
    for name, field in CHECKSUM_FIELDS.items():
        with contextlib.suppress(ValueError):
            digest = base64.b64decode(head.get(field, ""), validate=True)
            is_whole = head.get("ChecksumType", "FULL_OBJECT") == "FULL_OBJECT"
            if is_whole and len(digest) == new(name).digest_size:
                found[name] = digest
    if is_etag_md5(head) and re.fullmatch('"[0-9a-f]{32}"', one.etag):
        found["md5"] = bytes.fromhex(one.etag[1:-1])
    return found


class _Memory:
    """Bytes that may be in flight, given in the order of the requests."""

    def __init__(self, nbytes: int) -> None:
        self._free = nbytes
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    def has(self, nbytes: int) -> bool:
        return not self._waiting and self._free >= nbytes

    async def take(self, nbytes: int) -> None:
        if self.has(nbytes):
            self._free -= nbytes
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((nbytes, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give(nbytes)
            else:
                self._waiting.remove((nbytes, turn))
            raise

    def give(self, nbytes: int) -> None:
        self._free += nbytes
        while self._waiting and self._waiting[0][0] <= self._free:
            wanted, turn = self._waiting.popleft()
            self._free -= wanted
            turn.set_result(None)


class Store:
    """A file system of fsspec in an event loop, with its limits."""

    def __init__(self, url: str, given: Mapping[str, Any], limits: Limits) -> None:
        if "::" in url:
            raise ValueError(f"{url}: chains of file systems are not read: give the URL of the objects themselves")
        protocol, _ = fsspec.core.split_protocol(url)
        protocol = protocol or "file"
        kind = fsspec.get_filesystem_class(protocol)
        self.is_s3 = protocol in ("s3", "s3a") and hasattr(kind, "_call_s3")
        self.is_http = protocol in ("http", "https") and hasattr(kind, "encode_url")
        # Hosts and users; buckets are no part of the file system, and a key may look like a version.
        self._of_url = (lambda _: {}) if protocol in ("s3", "s3a", "gs", "gcs") else kind._get_kwargs_from_urls
        self._host = self._of_url(url)
        options = {"skip_instance_cache": True, **self._host, **given}
        self._options = options
        if self.is_s3:
            # Attempts are counted here; a client that counts too would multiply them.
            own = {"max_pool_connections": limits.requests, "retries": {"total_max_attempts": 1}}
            options = {**options, "config_kwargs": {**own, **options.get("config_kwargs", {})}}
        if kind.async_impl:
            self.fs: Any = kind(**{"asynchronous": True, "use_listings_cache": False, **options})
        else:
            self.fs = AsyncFileSystemWrapper(kind(**options), asynchronous=True)
            # The loop's threads, on which such a file system runs; they end with the loop.
            nthreads = 1 if protocol in _ONE_BY_ONE else limits.requests
            threads = ThreadPoolExecutor(nthreads, "hashloom-requests")
            asyncio.get_running_loop().set_default_executor(threads)
        self._bare = getattr(self.fs, "sync_fs", self.fs)
        if self.is_s3:
            self.fs.retries = 1
        self.kind = kind
        self.protocol = protocol
        # What stands before a path in a URL.
        path, bare = self.path_of(url).rstrip("/"), re.sub("(?<=://)([^/@:]*):[^/@]*@", r"\1@", url.rstrip("/"))
        self._before = bare.removesuffix(path) if self._host and bare.endswith(path) else f"{protocol}://"
        self._can_refresh = "refresh" in inspect.signature(kind._info if kind.async_impl else kind.info).parameters
        self.limits = limits
        self.requests = asyncio.Semaphore(limits.requests)
        self.memory = _Memory(limits.memory_nbytes)
        self.lanes = Lanes()
        self._session: Any = None

    async def __aenter__(self) -> Store:
        if hasattr(self.fs, "set_session"):
            self._session = await self.fs.set_session()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.lanes.close()
        if self._session is not None:
            await self._session.close()

    def place(self) -> str:
        """What tells this store from others: the endpoint that the client uses, and options. It has no secrets."""

        def plain(value: Any) -> Any:
            if isinstance(value, Mapping):
                named = {str(name): plain(inner) for name, inner in value.items() if not _NO_PLACE.search(str(name))}
                return {name: inner for name, inner in sorted(named.items()) if inner not in (None, {})}
            if isinstance(value, (list, tuple)):
                return [plain(inner) for inner in value]
            if isinstance(value, (bool, int, float)):
                return value
            is_text = isinstance(value, (str, os.PathLike)) or type(value).__name__ == "URL"
            return without_user(str(value)) if is_text else None

        told: dict[str, Any] = dict(self._options)
        for name in _PLACES:
            with contextlib.suppress(Exception):
                told[name] = operator.attrgetter(name)(self._bare)
        if self.is_s3:
            with contextlib.suppress(AttributeError):
                told["endpoint_url"] = self._session.meta.endpoint_url
        return f"{self.protocol} {json.dumps(plain(told))}"

    def url_of(self, path: str) -> str:
        if self.protocol == "file" or self.is_http:
            return path
        return self._before + (path if self._host else path.lstrip("/"))

    def path_of(self, url: str) -> str:
        return str(self.kind._strip_protocol(url))

    def error(self, error: BaseException, path: str, offset: int = 0) -> FileError:
        """The error of an object."""
        if isinstance(error, FileError):
            return error
        if isinstance(error, ChangedError):
            kind = "unstable"
        else:
            kind = "open" if isinstance(error, (FileNotFoundError, PermissionError)) and not offset else "read"
        number = getattr(error, "errno", None)
        if number is None and isinstance(error, FileNotFoundError):
            number = 2
        text = getattr(error, "strerror", None) or str(error) or type(error).__name__
        told = FileError(kind, number, str(text), self.url_of(path), offset)
        told.__cause__ = error
        return told

    async def missing(self, error: BaseException, one: Object) -> tuple[FileError, bool]:
        """The error of an object that was seen before, and whether the object is gone: what cannot be had may still be
        there."""
        told = self.error(error, one.path)
        if told.errno != 2 or not one.fields:
            return told, False
        is_gone = False
        text = "a look finds it, but it cannot be read: the store answers that there is no such object: try again later"
        try:
            await self.look(one)
        except FileNotFoundError:
            is_gone, text = True, "it was there before it was read, and is gone"
        except Exception as other:
            text = f"there is no such object when it is read, and a look fails: {other}"
        return self.error(FileNotFoundError(2, text), one.path), is_gone

    async def _attempts(self, call: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """Makes a request, again after a pause if it fails in a way that passes."""
        attempt = 0
        while True:
            try:
                async with self.requests:
                    return await call()
            except Exception as error:
                attempt += 1
                if attempt > self.limits.retries or not is_passing(error):
                    raise
            await asyncio.sleep(min(0.1 * 2**attempt, _PAUSE) * random.uniform(0.5, 1))

    # ---- What there is

    def named(self, url: str, is_object: bool = False) -> Object:
        """What was not looked at: an object, or what others may be below."""
        if self._of_url(url) != self._host:
            raise ValueError(f"{url}: it is in another store than the first URL: make two calls")
        path = self.path_of(url)
        if is_object and self.is_s3 and url.endswith("/"):
            path += "/"  # "a/" and "a" are two objects
        return Object(path, bucket=self.fs.split_path(path)[0] if self.is_s3 else "")

    async def look(self, one: Object) -> Object:
        """The version that there is now."""
        if self.is_s3:
            head = await self.head(one)
            return of_s3(one.path, one.bucket, head, head.get("ContentLength"), _date(head))
        if self.is_http:
            return await self._attempts(functools.partial(self._look_http, one.path))
        info = await self._attempts(functools.partial(self._info, one.path))
        if info.get("type") == "directory":
            raise IsADirectoryError(21, "Is a directory")
        if not _is_file(info):
            raise OSError(None, "it is not a regular file")
        found = self._of_info(info)
        if not found.ties and hasattr(self.fs, "_modified"):
            # Some file systems tell it apart.
            with contextlib.suppress(Exception):
                found = self._of_info({**info, "modified": await self.fs._modified(one.path)})
        return found

    async def _info(self, path: str) -> dict[str, Any]:
        """What the file system tells now, and not what it remembers."""
        if self._can_refresh:
            info: dict[str, Any] = await self.fs._info(path, refresh=True)
            return info
        for remembered in (path, self._bare._parent(path)):
            self._bare.invalidate_cache(remembered)
        info = await self.fs._info(path)
        return info

    async def ready(self, one: Object, is_fresh: bool = False) -> Object:
        """The object, looked at in a moment after which no change leaves its version as it is. It waits until that
        moment; `is_fresh`: also if the version looks old."""
        if not one.ties:
            one = await self.look(one)
        for _ in range(_READINGS):
            if one.is_settled and not is_fresh:
                return one
            await asyncio.sleep(one.tick_ns / 10**9)
            before, one = one, await self.look(one)
            is_fresh = not before.is_same(one)
            if not is_fresh:
                return dataclasses.replace(one, is_waited=True)
        raise ChangedError(f"it was another one at each of {_READINGS} looks")

    async def head(self, one: Object, **more: Any) -> dict[str, Any]:
        """What S3 says of an object, with its checksums."""
        answer: dict[str, Any] = await self._attempts(
            lambda: self.fs._call_s3("head_object", Bucket=one.bucket, Key=one.key, ChecksumMode="ENABLED", **more)
        )
        return answer

    async def checksums(self, one: Object) -> dict[str, bytes]:
        """The digests of the whole object that S3 has, by algorithm; none if the object is another version. Nothing is
        read."""
        return checksums_of(one, await self.head(one)) if self.is_s3 else {}

    def _of_info(self, info: dict[str, Any]) -> Object:
        size, path = info.get("size"), str(info["name"])
        if not isinstance(size, int) or size < 0:
            raise OSError(None, "the file system does not tell the length")
        if self.protocol in ("file", "local") and not hasattr(os.stat_result, "st_birthtime"):
            info = {**info, "changed": info.get("created")}
        if self.protocol not in _ARCHIVES:
            return described(path, info, size)
        # Whoever packs decides the times of members.
        with contextlib.suppress(OSError, TypeError):
            seen = os.stat(self._options["fo"])
            info = {**info, "archive.mtime": seen.st_mtime, "archive.changed": seen.st_ctime}
        one = described(path, info, size)
        return dataclasses.replace(one, ties=frozenset(name for name in one.ties if name.startswith("archive.")))

    def _ask_http(self, method: str, url: Any, headers: Mapping[str, str]) -> Any:
        """A request for bytes as they are."""
        headers = {**self.fs.kwargs.get("headers", {}), "Accept-Encoding": "identity", **headers}
        return self._session.request(method, url, **{**self.fs.kwargs, "headers": headers})

    async def _look_http(self, path: str) -> Object:
        """What the headers tell of a file. There are servers, and signed URLs, that know GET alone."""
        for method in ("HEAD", "GET"):
            async with self._ask_http(method, self.fs.encode_url(path), {}) as answer:
                length = answer.headers.get("Content-Length", "")
                is_told = length.isdecimal() and answer.headers.get("Content-Encoding", "identity") == "identity"
                if method == "GET":
                    _raise_for(answer)
                if answer.status == 200 and is_told:
                    return self._of_headers(path, answer, int(length), (*_OF_RANGES, "Digest", "Content-MD5"))
        raise OSError(None, "the server does not tell the length")

    def _of_headers(self, path: str, answer: Any, size: int, names: Iterable[str]) -> Object:
        """An object behind HTTP. It is read where redirections led to, and mirrors may have other bytes."""
        told = {name: answer.headers[name] for name in names if name in answer.headers}
        target = str(answer.url)
        at = re.sub("[?#].*", "", target)
        if at != re.sub("[?#].*", "", str(self.fs.encode_url(path))):
            told["at"] = at
        one = described(path, told, size, time_ns(answer.headers.get("Date")), target=target)
        # Other headers of a range are its own.
        has_ranges = answer.headers.get("Accept-Ranges") != "none" and not one.ties.isdisjoint(_OF_RANGES)
        return dataclasses.replace(one, has_ranges=has_ranges)

    async def below(self, url: str) -> AsyncGenerator[Object, None]:
        """The object of this name, if there is one and the URL has no slash at its end, and all objects below it."""
        top = self.named(url)
        listed = self._list_s3(top, url.endswith("/")) if self.is_s3 else self._list_any(top.path)
        is_empty = True
        try:
            async with contextlib.aclosing(listed):
                async for one in listed:
                    is_empty = False
                    yield one
        except Exception as error:
            raise self.error(error, top.path) from error
        if is_empty and not (self.is_s3 and not top.key):
            raise self.error(FileNotFoundError(2, "there is no such object, and none below it"), top.path)

    async def matching(self, url: str) -> AsyncGenerator[Object, None]:
        """What is below a URL; if globs are in it, the objects that they name."""
        magic = None if self.is_http else re.search("[*?[]", url)
        if magic is None:
            folder, wanted = url, None
        else:
            folder = url[: url.rfind("/", 0, magic.start()) + 1]
            if self.is_s3 and not self.named(folder).bucket:
                raise ValueError(f"{url}: no glob can stand for a bucket: name it")
            wanted = re.compile(fsspec.utils.glob_translate(url[len(folder) :]))
        before = self.path_of(folder).rstrip("/") + "/" if folder else ""
        is_empty = True
        async with contextlib.aclosing(self.below(folder or ".")) as listed:
            async for one in listed:
                if wanted is None or wanted.match(one.path[len(before) :]):
                    is_empty = False
                    yield one
        if is_empty and wanted is not None:
            raise self.error(FileNotFoundError(2, "these globs name no object"), url)

    async def _list_s3(self, top: Object, is_folder: bool) -> AsyncGenerator[Object, None]:
        bucket, key = top.bucket, top.key
        if key and not is_folder:
            with contextlib.suppress(FileNotFoundError):
                yield await self.look(top)
        prefix = key and key.rstrip("/") + "/"

        async def page(token: str | None) -> dict[str, Any]:
            more = {"ContinuationToken": token} if token else {}
            answer: dict[str, Any] = await self._attempts(
                lambda: self.fs._call_s3("list_objects_v2", Bucket=bucket, Prefix=prefix, **more)
            )
            return answer

        before: str | None = None
        coming: asyncio.Task[dict[str, Any]] | None = asyncio.create_task(page(None))
        try:
            while coming is not None:
                answer = await coming
                date = _date(answer)
                token = answer.get("NextContinuationToken") if answer.get("IsTruncated") else None
                if answer.get("IsTruncated") and token in (None, "", before):
                    raise OSError(None, "the listing is cut off: a page does not lead to the next")
                before = token
                coming = asyncio.create_task(page(token)) if token else None
                for entry in answer.get("Contents", ()):
                    if not (entry["Key"].endswith("/") and entry["Size"] == 0):  # the mark of an empty folder
                        yield of_s3(f"{bucket}/{entry['Key']}", bucket, entry, entry["Size"], date)
        finally:
            if coming is not None:
                coming.cancel()

    def _listed(self, info: dict[str, Any]) -> Object:
        """A file; or what must be looked at: a link, whose own time says nothing of its target, or a pipe."""
        return self._of_info(info) if _is_file(info) and not info.get("islink") else Object(str(info["name"]))

    async def _list_any(self, path: str) -> AsyncGenerator[Object, None]:
        try:
            if self.is_http:
                yield await self.look(Object(path))
                return
            info = await self._attempts(lambda: self.fs._info(path))
        except FileNotFoundError:
            return
        if info.get("type") != "directory":
            yield self._listed(info)
            return
        folders = [path]
        while folders:
            folder = folders.pop()
            entries = await self._attempts(functools.partial(self.fs._ls, folder, detail=True))
            inner: list[str] = []
            for info in sorted(entries, key=lambda info: str(info["name"])):
                if info.get("type") != "directory":
                    yield self._listed(info)
                elif not info.get("islink") and str(info["name"]).rstrip("/") != folder.rstrip("/"):
                    inner.append(str(info["name"]))
            folders.extend(reversed(inner))

    # ---- What is in it

    async def _get(self, one: Object, start: int, end: int) -> bytes:
        """The bytes of a range, by one request."""
        get = self._get_s3 if self.is_s3 else self._get_http if self.is_http else self._get_any
        data = await get(one, start, end)
        if len(data) != end - start:
            raise EOFError(f"the body has {len(data)} of {end - start} bytes")
        return data

    async def _get_any(self, one: Object, start: int, end: int) -> bytes:
        # A length of 0 may stand for one that is not known: /proc, documents of Google Drive.
        span = {"start": start, "end": end} if end else {}
        found = await self.fs._cat_file(one.path, **span)
        if len(found) != end - start and (await self._info(one.path)).get("size") != one.nbytes:
            raise ChangedError("it has another length than before")
        return bytes(found)

    def _check(self, one: Object, told: Object, part: str, start: int, end: int) -> None:
        """Compares what an answer tells with what was asked for."""
        if not one.is_same(told):
            raise ChangedError(f"the store answers with the version {told.version}, and not with {one.version}")
        if not (told.is_settled or one.is_waited):
            # By the clock of the answer, which the look did not have.
            raise ChangedError("it was changed a moment before")
        if part.rpartition("/")[0] != f"bytes {start}-{end - 1}":
            raise EOFError(f"the store offers {part} in place of bytes {start}-{end - 1}/{one.nbytes}")

    async def _get_http(self, one: Object, start: int, end: int) -> bytes:
        headers = {"Range": f"bytes={start}-{end - 1}"} if end - start < one.nbytes else {}
        url = type(self.fs.encode_url(one.path))(one.target, encoded=True)
        async with self._ask_http("GET", url, headers) as answer:
            _raise_for(answer)
            if answer.headers.get("Content-Encoding", "identity") != "identity":
                raise EOFError("the server compresses the body, although it was asked not to")
            if "Range" in headers and answer.status != 206:
                raise NoRangesError(None, "the server does not know ranges: it answers with the whole file")
            whole = f"bytes 0-{one.nbytes - 1}/{answer.headers.get('Content-Length', one.nbytes)}"
            part = answer.headers.get("Content-Range", "") if answer.status == 206 else whole
            size = part.rpartition("/")[2]
            nbytes = int(size) if size.isdecimal() else one.nbytes
            found = self._of_headers(one.path, answer, nbytes, _OF_RANGES)
            if not one.is_told_by(found):
                if "Range" in headers:
                    raise NoRangesError(None, "the answer to a range does not tell the version")
                found = dataclasses.replace(found, ties=one.ties, fields={**one.fields, **found.fields})
            self._check(one, found, part, start, end)
            return bytes(await answer.read())

    async def _get_s3(self, one: Object, start: int, end: int) -> bytes:
        # An empty object has no range.
        which = {"Range": f"bytes={start}-{end - 1}"} if end > start else {}
        try:
            answer = await self.fs._call_s3("get_object", Bucket=one.bucket, Key=one.key, IfMatch=one.etag, **which)
        except OSError as error:
            if _is_changed(error):
                raise ChangedError("it has another ETag than before") from error
            raise
        body = answer["Body"]
        try:
            nbytes = answer.get("ContentLength")
            whole = f"bytes 0-{one.nbytes - 1}/{nbytes}"
            part = str(answer.get("ContentRange", whole) if which else whole)
            size = part.rpartition("/")[2]
            told = of_s3(one.path, one.bucket, answer, int(size) if size.isdecimal() else one.nbytes, _date(answer))
            self._check(one, told, part, start, end)
            if nbytes != end - start:
                raise EOFError(f"the store offers {nbytes} of {end - start} bytes")
            return bytes(await body.read())
        finally:
            body.close()

    async def chunks(self, one: Object) -> AsyncGenerator[bytes, None]:
        """The ranges of an object, in order, several of them in flight; or all of it by one request, if ranges could be
        those of two versions. FileError if one cannot be read, ChangedError if the object is another version. Close the
        iterator."""
        most = self.limits.range_nbytes
        step = most if one.in_ranges else max(one.nbytes, 1)
        if step > self.limits.memory_nbytes:
            why = "the server has no ranges" if one.ties else "the store tells no time, revision or hash of it"
            text = f"it is read by one request, as {why}, and it has {one.nbytes} bytes: give a greater memory_nbytes"
            raise self.error(OSError(None, text), one.path)
        flying: deque[tuple[int, asyncio.Task[bytes]]] = deque()
        at = held = offset = 0
        try:
            if not one.nbytes:
                await self._attempts(lambda: self._get(one, 0, 0))
            while flying or at < one.nbytes:
                while at < one.nbytes and len(flying) < _AHEAD:
                    nbytes = min(step, one.nbytes - at)
                    # Whoever holds memory has its next range in flight, and so goes on without more.
                    if flying and not self.memory.has(nbytes):
                        break
                    await self.memory.take(nbytes)
                    held += nbytes
                    get = self._attempts(functools.partial(self._get, one, at, at + nbytes))
                    flying.append((nbytes, asyncio.ensure_future(get)))
                    at += nbytes
                nbytes, coming = flying.popleft()
                data = await coming
                for first in range(0, nbytes, most):
                    offset += min(most, nbytes - first)
                    yield data[first : first + most] if nbytes > most else data
                del data
                self.memory.give(nbytes)
                held -= nbytes
        except ChangedError:
            raise
        except NoRangesError as error:
            if offset:
                raise self.error(error, one.path, offset) from error
        except Exception as error:
            raise self.error(error, one.path, offset) from error
        finally:
            for _, task in flying:
                task.cancel()
            await asyncio.gather(*(task for _, task in flying), return_exceptions=True)
            self.memory.give(held)
        if one.nbytes and not offset:
            again = self.chunks(dataclasses.replace(one, has_ranges=False))
            async with contextlib.aclosing(again) as chunks:
                async for chunk in chunks:
                    yield chunk

    async def read(self, one: Object, begin: Callable[[Object], Callable[[bytes], Awaitable[object]]]) -> Object:
        """Reads an object whole, from its beginning again if it is changed meanwhile, three times at most. `begin`
        returns what takes the chunks. Returns the version that was read."""
        for reading in range(_READINGS):
            one = await self.ready(one, is_fresh=reading > 0)
            take = begin(one)
            try:
                async with contextlib.aclosing(self.chunks(one)) as chunks:
                    async for chunk in chunks:
                        await take(chunk)
                # An answer of S3 is of one version, and tells it.
                if self.is_s3 and one.nbytes <= self.limits.range_nbytes or await self.is_still(one):
                    return one
            except ChangedError as error:
                changed = str(error)
            else:
                changed = "it was another one behind the last range"
        raise self.error(ChangedError(f"it changed during each of {_READINGS} readings: {changed}"), one.path)

    async def is_still(self, one: Object) -> bool:
        """Whether an object that was read is still this version. Redirections are not followed anew."""
        found = await self.look(dataclasses.replace(one, path=one.target) if one.target else one)
        return one.is_same(found)

    async def digests(self, one: Object, names: Sequence[str]) -> tuple[Object, list[bytes]]:
        """Reads an object: the version that was read, and its digests."""
        hashes: list[Hash] = []

        def begin(_: Object) -> Callable[[bytes], Awaitable[object]]:
            hashes[:] = [new(name) for name in names]
            return lambda chunk: self.lanes.update(hashes, chunk)

        one = await self.read(one, begin)
        return one, [usual_digest(hash) for hash in hashes]


def without_user(url: str) -> str:
    return re.sub("(?<=://)[^/@]*@", "", url)


def key_of(one: Object, url: str, place: str) -> tuple[bytes, bytes]:
    """What a journal knows an object by, and what ties a digest to it: its store and its version. UntiedError if the
    bytes could change without it."""
    if not one.ties:
        raise UntiedError(
            f"{url}: the store tells no time, no revision and no hash of it ({one.version}), so a journal could have "
            "the digest of other bytes: leave the journal out, or have the store tell them (ETag, Last-Modified)"
        )
    tie = f"{hashlib.blake2b(place.encode(), digest_size=8).hexdigest()} {one.version}"
    return one.path.encode("utf-8", "surrogatepass"), tie.encode("utf-8", "surrogatepass")


async def each(
    items: AsyncGenerator[_Answer, None],
    work: Callable[[_Answer], Awaitable[_Result]],
    give: Callable[[_Result], Awaitable[None]],
    at_once: int,
) -> None:
    """Does work on every item, on some at once, and gives the results as they come. The first error ends it."""
    waiting: asyncio.Queue[_Answer | None] = asyncio.Queue(2 * at_once)

    async def draw() -> None:
        async with contextlib.aclosing(items) as drawn:
            async for item in drawn:
                await waiting.put(item)
        for _ in range(at_once):
            await waiting.put(None)

    async def run() -> None:
        while (item := await waiting.get()) is not None:
            await give(await work(item))

    tasks = [asyncio.ensure_future(draw()), *(asyncio.ensure_future(run()) for _ in range(at_once))]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def results(
    work: Callable[[Callable[[_Result], Awaitable[None]]], Awaitable[None]],
) -> Generator[_Result, None, None]:
    """Runs work in an event loop on a thread of its own, and yields what it gives. Leaving the iterator stops the work
    and ends the thread, and so does an exception, such as that of Ctrl-C."""
    out: queue.SimpleQueue[tuple[_Result] | BaseException | None] = queue.SimpleQueue()
    begun = threading.Event()
    state: dict[str, Any] = {}

    async def main() -> None:
        room = asyncio.Semaphore(_WAITING)
        state.update(loop=asyncio.get_running_loop(), task=asyncio.current_task(), room=room)
        begun.set()

        async def give(result: _Result) -> None:
            await room.acquire()
            out.put((result,))

        await work(give)

    def run() -> None:
        try:
            asyncio.run(main())
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            out.put(error)
        finally:
            begun.set()
            out.put(None)

    def taken(count: int) -> None:
        for _ in range(count):
            state["room"].release()

    def stop() -> None:
        begun.wait()
        if state:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                state["loop"].call_soon_threadsafe(state["task"].cancel)
        thread.join()

    # A daemon, as the interpreter waits for other threads before it calls what is registered.
    thread = threading.Thread(target=run, name="hashloom-store", daemon=True)
    thread.start()
    atexit.register(stop)
    count = 0
    try:
        while (got := out.get()) is not None:
            if isinstance(got, BaseException):
                raise got
            count += 1
            if count == _WAITING // 8:
                with contextlib.suppress(RuntimeError):
                    state["loop"].call_soon_threadsafe(taken, count)
                count = 0
            yield got[0]
    finally:
        stop()
        atexit.unregister(stop)


async def of_list(items: Iterable[_Answer]) -> AsyncGenerator[_Answer, None]:
    for item in items:
        yield item
