# SPDX-License-Identifier: MIT OR Apache-2.0
"""Objects in buckets, read by fsspec: pages of a listing, ranges in flight, retries, and the thread of the event loop.

An object is a name and a version. Every range is asked for by the version where the store can (S3: If-Match), and the
version is looked at again at the end where it cannot. A range that does not have its length is asked for again. The
caller's thread takes results; everything else happens in an event loop on a thread of its own, which ends with the
call.
"""

from __future__ import annotations

import asyncio
import atexit
import base64
import contextlib
import dataclasses
import datetime
import functools
import queue
import random
import re
import sys
import threading
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

try:
    import fsspec
    from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
except ImportError as error:
    raise ImportError(f"pyhashloom.store needs fsspec ({error}): pip install 'pyhashloom[store]'") from error

from ._files import FileError
from ._hashloom import Hash, new
from ._streams import Lanes, usual_digest

_Result = TypeVar("_Result")
_Answer = TypeVar("_Answer")

# Ranges of one object that are in flight or wait for their turn.
_AHEAD = 8

# Readings of an object that changes each time before giving up, as of a file.
READINGS = 3

# S3's names of its checksums.
CHECKSUM_FIELDS = {"sha256": "ChecksumSHA256", "sha1": "ChecksumSHA1"}

# Results that may wait for the caller; then no object is begun.
_WAITING = 1024

# The longest time between two attempts, in seconds.
_PAUSE = 20.0

# The fields of fsspec's descriptions of a file that tell one version from another.
_TIME_FIELDS = ("LastModified", "last_modified", "mtime", "updated", "created")
_VERSION_FIELDS = ("size", "ETag", "etag", "generation", "version_id", "content_md5", "ino", *_TIME_FIELDS)


class ChangedError(Exception):
    """The object is not the version that was asked for."""


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


@dataclasses.dataclass(frozen=True)
class Object:
    """A version of an object."""

    path: str
    """The path that the file system of fsspec takes."""
    nbytes: int
    mtime_ns: int
    """The time of the last change, as the store has it; 0 if it has none."""
    version: str
    """What tells this version from others: S3's ETag, or the file system's fields."""
    bucket: str = ""
    """The first part of the path, of S3."""

    @property
    def key(self) -> str:
        return self.path[len(self.bucket) + 1 :]


def _time_ns(value: Any) -> int:
    """A time in nanoseconds since 1970, in microseconds' steps; 0 if it is none."""
    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
        except ValueError:
            return 0
    if isinstance(value, datetime.datetime):
        value = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
        value = (value - datetime.datetime.fromtimestamp(0, datetime.timezone.utc)) / datetime.timedelta(seconds=1)
    return round(value * 10**6) * 1_000 if isinstance(value, (int, float)) else 0


def _is_same(one: str, other: str) -> bool:
    """Whether two versions are the same by the fields that both have: a listing may have others than a look."""
    fields, others = (dict(field.split("=", 1) for field in version.split("; ")) for version in (one, other))
    return all(others.get(field, value) == value for field, value in fields.items())


def is_passing(error: BaseException) -> bool:
    """Whether another attempt can help: not against what is missing, forbidden or wrong."""
    never = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, TypeError, NotImplementedError)
    if isinstance(error, (*never, ChangedError)):
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


def _is_file(info: dict[str, Any]) -> bool:
    return bool(info.get("type", "file") == "file")


def of_s3(path: str, bucket: str, told: dict[str, Any], nbytes: int | None) -> Object:
    """An object as S3 describes it."""
    if not told.get("ETag") or nbytes is None or nbytes < 0:
        raise OSError(None, f"{path}: the store does not tell the ETag and the length")
    return Object(path, nbytes, _time_ns(told.get("LastModified")), told["ETag"], bucket)


def is_etag_md5(head: dict[str, Any]) -> bool:
    """Whether the ETag is made of MD5: not if the object is encrypted by KMS or a key of the customer."""
    return head.get("ServerSideEncryption", "AES256") == "AES256" and "SSECustomerAlgorithm" not in head


def checksums_of(one: Object, head: dict[str, Any]) -> dict[str, bytes]:
    """The digests of the whole object that S3 tells, by algorithm; none if it tells of another version."""
    found: dict[str, bytes] = {}
    if (head.get("ETag"), head.get("ContentLength")) != (one.version, one.nbytes):
        return found
    if "-" in one.version:  # an upload in parts, whose checksums are those of the parts' checksums
        return found
    for name, field in CHECKSUM_FIELDS.items():
        with contextlib.suppress(ValueError):
            digest = base64.b64decode(head.get(field, ""), validate=True)
            is_whole = head.get("ChecksumType", "FULL_OBJECT") == "FULL_OBJECT"
            if is_whole and len(digest) == new(name).digest_size:
                found[name] = digest
    if is_etag_md5(head) and re.fullmatch('"[0-9a-f]{32}"', one.version):
        found["md5"] = bytes.fromhex(one.version[1:-1])
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
        options = dict(given)
        self.is_s3 = protocol in ("s3", "s3a") and hasattr(kind, "_call_s3")
        if self.is_s3:
            # Attempts are counted here; a client that counts too would multiply them.
            own = {"max_pool_connections": limits.requests, "retries": {"total_max_attempts": 1}}
            options["config_kwargs"] = {**own, **options.get("config_kwargs", {})}
        if kind.async_impl:
            options = {"asynchronous": True, "skip_instance_cache": True, "use_listings_cache": False, **options}
            self.fs: Any = kind(**options)
        else:
            self.fs = AsyncFileSystemWrapper(kind(**options), asynchronous=True)
            # The loop's threads, on which such a file system runs; they end with the loop.
            threads = ThreadPoolExecutor(limits.requests, "hashloom-requests")
            asyncio.get_running_loop().set_default_executor(threads)
        if self.is_s3:
            self.fs.retries = 1
        self.kind = kind
        self.protocol = protocol
        self.limits = limits
        self.requests = asyncio.Semaphore(limits.requests)
        self.memory = _Memory(limits.memory_nbytes)
        self.lanes = Lanes()
        self.nbytes = 0
        self._session: Any = None

    async def __aenter__(self) -> Store:
        if hasattr(self.fs, "set_session"):
            self._session = await self.fs.set_session()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.lanes.close()
        if self._session is not None:
            await self._session.close()

    def url_of(self, path: str) -> str:
        return path if self.protocol == "file" else f"{self.protocol}://{path.lstrip('/')}"

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

    def named(self, url: str) -> Object:
        """An object that was not looked at."""
        path = self.path_of(url)
        return Object(path, 0, 0, "", self.fs.split_path(path)[0] if self.is_s3 else "")

    async def look(self, one: Object) -> Object:
        """The version that there is now."""
        if self.is_s3:
            head = await self.head(one)
            return of_s3(one.path, one.bucket, head, head.get("ContentLength"))
        info = await self._attempts(lambda: self.fs._info(one.path))
        if info.get("type") == "directory":
            raise IsADirectoryError(21, "Is a directory")
        if not _is_file(info):
            raise OSError(None, "it is not a regular file")
        return self._of_info(info)

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
        size = info.get("size")
        if not isinstance(size, int) or size < 0:
            raise OSError(None, "the file system does not tell the length")
        seen = {field: info[field] for field in _VERSION_FIELDS if info.get(field) is not None}
        times = {field: _time_ns(value) for field, value in seen.items() if field in _TIME_FIELDS}
        version = "; ".join(f"{field}={value}" for field, value in (seen | times).items())
        return Object(str(info["name"]), size, next(iter(times.values()), 0), version)

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
                token = answer.get("NextContinuationToken") if answer.get("IsTruncated") else None
                if answer.get("IsTruncated") and token in (None, "", before):
                    raise OSError(None, "the listing is cut off: a page does not lead to the next")
                before = token
                coming = asyncio.create_task(page(token)) if token else None
                for entry in answer.get("Contents", ()):
                    if not (entry["Key"].endswith("/") and entry["Size"] == 0):  # the mark of an empty folder
                        yield of_s3(f"{bucket}/{entry['Key']}", bucket, entry, entry["Size"])
        finally:
            if coming is not None:
                coming.cancel()

    def _listed(self, info: dict[str, Any]) -> Object:
        """A file; or what is none, such as a pipe, which is an error when it is looked at."""
        return self._of_info(info) if _is_file(info) else Object(str(info["name"]), 0, 0, "")

    async def _list_any(self, path: str) -> AsyncGenerator[Object, None]:
        try:
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
        if not self.is_s3:
            found = await self.fs._cat_file(one.path, start=start, end=end)
            if len(found) != end - start:
                if (await self.fs._info(one.path)).get("size") != one.nbytes:
                    raise ChangedError("it has another length than before")
                raise EOFError(f"the body has {len(found)} of {end - start} bytes")
            return bytes(found)
        # An empty object has no range.
        which = {"Range": f"bytes={start}-{end - 1}"} if end > start else {}
        try:
            answer = await self.fs._call_s3("get_object", Bucket=one.bucket, Key=one.key, IfMatch=one.version, **which)
        except OSError as error:
            if _is_changed(error):
                raise ChangedError("it has another ETag than before") from error
            raise
        body = answer["Body"]
        try:
            if answer.get("ETag") != one.version:
                raise ChangedError("it has another ETag than before")
            if answer.get("ContentLength") != end - start:
                raise EOFError(f"the store offers {answer.get('ContentLength')} of {end - start} bytes")
            part = answer.get("ContentRange", f"bytes 0-{one.nbytes - 1}/{one.nbytes}")
            if which and part != f"bytes {start}-{end - 1}/{one.nbytes}":
                raise EOFError(f"the store offers {part} in place of bytes {start}-{end - 1}/{one.nbytes}")
            data = bytes(await body.read())
        finally:
            body.close()
        if len(data) != end - start:
            raise EOFError(f"the body has {len(data)} of {end - start} bytes")
        return data

    async def chunks(self, one: Object, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        """The ranges of an object, in order, several of them in flight. FileError if one cannot be read, ChangedError
        if the object is another version. Close the iterator."""
        end = one.nbytes if end is None else end
        flying: deque[tuple[int, asyncio.Task[bytes]]] = deque()
        at, held, offset = start, 0, start
        try:
            if not one.nbytes:
                await self._attempts(lambda: self._get(one, 0, 0))
            while flying or at < end:
                while at < end and len(flying) < _AHEAD:
                    nbytes = min(self.limits.range_nbytes, end - at)
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
                self.nbytes += nbytes
                offset += nbytes
                yield data
                del data
                self.memory.give(nbytes)
                held -= nbytes
        except ChangedError:
            raise
        except Exception as error:
            raise self.error(error, one.path, offset) from error
        finally:
            for _, task in flying:
                task.cancel()
            await asyncio.gather(*(task for _, task in flying), return_exceptions=True)
            self.memory.give(held)

    async def read(self, one: Object, begin: Callable[[Object], Callable[[bytes], Awaitable[object]]]) -> Object:
        """Reads an object whole, from its beginning again if it is changed meanwhile, three times at most. `begin`
        returns what takes the chunks. Returns the version that was read."""
        for reading in range(1, READINGS + 1):
            take = begin(one)
            try:
                async with contextlib.aclosing(self.chunks(one)) as chunks:
                    async for chunk in chunks:
                        await take(chunk)
                if await self.is_still(one):
                    return one
            except ChangedError:
                pass
            if reading < READINGS:
                one = await self.look(one)
        raise self.error(ChangedError(f"it changed during each of {READINGS} readings"), one.path)

    async def is_still(self, one: Object) -> bool:
        """Whether an object that was read is still this version; S3 was asked for the version with each range."""
        return self.is_s3 or _is_same((await self.look(one)).version, one.version)

    async def digests(self, one: Object, names: Sequence[str]) -> tuple[Object, list[bytes]]:
        """Reads an object: the version that was read, and its digests."""
        hashes: list[Hash] = []

        def begin(_: Object) -> Callable[[bytes], Awaitable[object]]:
            hashes[:] = [new(name) for name in names]
            return lambda chunk: self.lanes.update(hashes, chunk)

        one = await self.read(one, begin)
        return one, [usual_digest(hash) for hash in hashes]


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
