# SPDX-License-Identifier: MIT OR Apache-2.0
"""Digests of many messages that arrive in parts, side by side in lanes."""

from __future__ import annotations

import sys

from ._files import FileDigest, FileError
from ._hashloom import Hash, new, update_many

# Type checkers take this name for true. Other modules need not wait for these imports.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
    from typing import Any, TypeVar

    from typing_extensions import Buffer

    _Item = TypeVar("_Item")

# Results that may wait for the one of a longer message before them.
_WAITING = 1024

# Fewer bytes are hashed where they are, as another thread would take longer to begin.
_INLINE_NBYTES = 1 << 16

# Bytes of each chunk that are hashed before the next look at chunks that have come.
_STRETCH_NBYTES = 1 << 20


def _failed(position: int, error: Exception, nbytes: int) -> FileDigest:
    place = f"stream {position}"
    text = str(getattr(error, "strerror", None) or error) or type(error).__name__
    reason = FileError("read", getattr(error, "errno", None), text, place, nbytes)
    reason.__cause__ = error
    return FileDigest(place, None, 0, reason)


def _check(at_once: int, chunk_nbytes: int = 1) -> None:
    if at_once < 1:
        raise ValueError(f"at_once is {at_once}: expected at least 1")
    if chunk_nbytes < 1:
        raise ValueError(f"chunk_nbytes is {chunk_nbytes}: expected at least 1")


class _TextError(TypeError):
    pass


class _Stream:
    """A file object that is read in turns."""

    def __init__(self, name: str, position: int, file: Any, buffer: bytearray) -> None:
        self.position = position
        self.file = file
        self.buffer = buffer
        self.hash = new(name)
        self.nbytes = 0
        self.has_readinto = hasattr(file, "readinto")
        if not self.has_readinto and not hasattr(file, "read"):
            kind = type(file).__name__
            raise TypeError(f"stream {position}: expected a binary file object (with readinto or read), found {kind}")

    def read(self) -> memoryview:
        """The next bytes; none at the end. Nothing that the file says of them is believed."""
        if self.has_readinto:
            # A file cannot resize a view, and it loses this one.
            with memoryview(self.buffer) as view:
                count = self.file.readinto(view)
            if count is not None and (type(count) is not int or not 0 <= count <= len(self.buffer)):
                raise OSError(
                    None, f"its readinto returned {count!r:.80}: expected the number of bytes, up to {len(self.buffer)}"
                )
            part = memoryview(self.buffer)[: count or 0]
        else:
            data = self.file.read(len(self.buffer))
            if isinstance(data, str):
                raise _TextError(f"stream {self.position}: it gives text: open it in binary mode")
            if data is not None and not isinstance(data, (bytes, bytearray, memoryview)):
                raise OSError(None, f"its read returned an object of type {type(data).__name__}: expected bytes")
            # A buffer of the file's own may be filled anew before its bytes are hashed.
            part = memoryview(data if type(data) is bytes else bytes(data or b""))
            count = None if data is None else part.nbytes
        if count is None:
            raise BlockingIOError("nothing is there yet, and the file does not wait: use streams_async")
        if count == 0:
            # A response of urllib ends quietly where its connection broke.
            http = sys.modules.get("http.client")
            if http is not None and isinstance(self.file, http.HTTPResponse) and self.file.length:
                raise EOFError(f"the body ended {self.file.length} bytes early")
        self.nbytes += count
        return part


def streams(name: str, files: Iterable[Any], *, at_once: int = 64, chunk_nbytes: int = 1 << 18) -> Iterator[FileDigest]:
    """Returns an iterator over the digests of binary file objects, in their order.

    A file object has `readinto` or `read`: a file, `socket.makefile("rb")`, a response of urllib, a gzip file.
    `at_once` of them are read in turns, `chunk_nbytes` at a time, so the memory is the product of the two; `files` is
    drawn as others end. Files are not closed. Reading waits for each file in turn: for bodies of different speeds there
    is streams_async.

    A file that cannot be read does not stop the others: its result has the error, whose `__cause__` is the exception.
    The `path` of a result is "stream" and the position, from 0.
    """
    _check(at_once, chunk_nbytes)
    new(name)
    return _streams(name, iter(files), at_once, chunk_nbytes)


def _streams(name: str, files: Iterator[Any], at_once: int, chunk_nbytes: int) -> Iterator[FileDigest]:
    active: list[_Stream] = []
    ended: dict[int, FileDigest] = {}
    buffers: list[bytearray] = []
    begun = given = 0
    while True:
        while len(active) < at_once and len(ended) < _WAITING:
            try:
                file = next(files)
            except StopIteration:
                break
            active.append(_Stream(name, begun, file, buffers.pop() if buffers else bytearray(chunk_nbytes)))
            begun += 1
        if not active:
            return
        going: list[_Stream] = []
        parts: list[memoryview] = []
        for stream in active:
            try:
                part = stream.read()
            except _TextError:
                raise
            except Exception as error:
                ended[stream.position] = _failed(stream.position, error, stream.nbytes)
                # Whoever lies may still write there.
                stream.buffer = bytearray(chunk_nbytes)
            else:
                if part.nbytes:
                    going.append(stream)
                    parts.append(part)
                    continue
                place = f"stream {stream.position}"
                ended[stream.position] = FileDigest(place, usual_digest(stream.hash), stream.nbytes, None)
            buffers.append(stream.buffer)
        update_many([stream.hash for stream in going], parts)
        active = going
        while given in ended:
            yield ended.pop(given)
            given += 1


def usual_digest(hash: Hash) -> bytes:
    """The digest; of SHAKE, whose digests may have any length, the usual one of `many`."""
    lengths = {"shake_128": (32,), "shake_256": (64,)}
    return hash.digest(*lengths.get(hash.name, ()))


class _Chunk:
    """A chunk that is hashed, by several algorithms."""

    __slots__ = ("at", "done", "hashes", "view")

    def __init__(self, hashes: list[Hash], view: memoryview, done: asyncio.Future[None]) -> None:
        self.hashes = hashes
        self.view = view
        self.done = done
        self.at = 0


class Lanes:
    """Advances the hash objects of many tasks of an event loop side by side, on a thread of its own. Chunks take their
    turns in stretches, so a chunk that comes later fills a lane at once."""

    def __init__(self) -> None:
        import threading
        from concurrent.futures import ThreadPoolExecutor

        self._arrived: list[_Chunk] = []
        self._lock = threading.Lock()
        self._is_flushing = False
        self._is_running = False
        self._thread = ThreadPoolExecutor(1, "hashloom-lanes")

    async def update(self, hashes: list[Hash], chunk: Buffer) -> int:
        """Appends a chunk to the messages of one task, whose hash objects are of different algorithms. Returns the
        bytes of the chunk."""
        import asyncio

        view = memoryview(chunk)
        if not view.c_contiguous:
            raise BufferError("the bytes of a chunk are not side by side: make a copy first")
        if not view.nbytes:
            return 0
        loop = asyncio.get_running_loop()
        one = _Chunk(hashes, view.cast("B"), loop.create_future())
        with self._lock:
            self._arrived.append(one)
        if not self._is_flushing:
            # Other tasks may bring chunks before.
            self._is_flushing = True
            loop.call_soon(self._flush, loop)
        await one.done
        return view.nbytes

    def _flush(self, loop: asyncio.AbstractEventLoop) -> None:
        self._is_flushing = False
        with self._lock:
            if self._is_running or not self._arrived:
                return
            if sum(one.view.nbytes for one in self._arrived) >= _INLINE_NBYTES:
                try:
                    self._thread.submit(self._run, loop)
                except RuntimeError:  # no thread begins any more when the interpreter ends
                    pass
                else:
                    self._is_running = True
                    return
            chunks, self._arrived = self._arrived, []
        while chunks:
            chunks = self._advance(chunks, self._end)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        """Runs on the thread, until all chunks are hashed."""
        chunks: list[_Chunk] = []
        while True:
            with self._lock:
                chunks += self._arrived
                self._arrived = []
                if not chunks:
                    self._is_running = False
                    return
            chunks = self._advance(chunks, lambda ended: loop.call_soon_threadsafe(self._end, ended))

    @staticmethod
    def _advance(chunks: list[_Chunk], end: Callable[[list[_Chunk]], object]) -> list[_Chunk]:
        """Hashes a stretch of each chunk, ends those that are hashed, and returns the others."""
        by_name: dict[str, tuple[list[Hash], list[memoryview]]] = {}
        for one in chunks:
            part = one.view[one.at : one.at + _STRETCH_NBYTES]
            one.at += len(part)
            for hash in one.hashes:
                group = by_name.setdefault(hash.name, ([], []))
                group[0].append(hash)
                group[1].append(part)
        for group in by_name.values():
            update_many(*group)
        ended = [one for one in chunks if one.at == len(one.view)]
        if ended:
            end(ended)
        # The future of a chunk is cancelled with the task that waits for it.
        return [one for one in chunks if one.at < len(one.view) and not one.done.cancelled()]

    @staticmethod
    def _end(chunks: list[_Chunk]) -> None:
        for one in chunks:
            if not one.done.done():
                one.done.set_result(None)

    async def close(self) -> None:
        """Ends the thread. No task may wait for an update: the thread drops what nobody waits for."""
        with self._lock:
            self._arrived = []
        self._thread.shutdown()


async def _each(items: Iterable[_Item] | AsyncIterable[_Item]) -> AsyncIterator[_Item]:
    if hasattr(items, "__aiter__"):
        async for item in items:
            yield item
    else:
        for item in items:
            yield item


async def streams_async(
    name: str,
    bodies: Iterable[AsyncIterable[Buffer]] | AsyncIterable[AsyncIterable[Buffer]],
    *,
    at_once: int = 64,
) -> AsyncIterator[FileDigest]:
    """An asynchronous iterator over the digests of bodies that arrive in chunks, in their order.

    A body is an asynchronous iterable of bytes, such as `response.content.iter_chunked(1 << 18)` of aiohttp or
    `response.aiter_bytes()` of httpx. `at_once` of them are awaited at the same time; a body's next chunk is asked for
    when its last one has been hashed, so the memory is a chunk for each. Chunks that are there at the same time are
    hashed side by side, on a thread. `bodies` is drawn as others end.

    Errors and paths are those of streams. Closing the iterator (contextlib.aclosing) stops all work.
    """
    import asyncio
    from collections import deque

    _check(at_once)
    new(name)
    lanes = Lanes()

    async def digest_of(position: int, body: AsyncIterable[Buffer]) -> FileDigest:
        hash, nbytes = new(name), 0
        try:
            async for chunk in body:
                nbytes += await lanes.update([hash], chunk)
        except Exception as error:
            return _failed(position, error, nbytes)
        finally:
            if hasattr(body, "aclose"):
                await body.aclose()
        return FileDigest(f"stream {position}", usual_digest(hash), nbytes, None)

    source = _each(bodies)
    tasks: deque[asyncio.Task[FileDigest]] = deque()
    running: set[asyncio.Task[FileDigest]] = set()
    # The next body is awaited beside the chunks of the others.
    drawing: asyncio.Task[AsyncIterable[Buffer] | None] | None = None
    begun, is_end = 0, False

    async def draw() -> AsyncIterable[Buffer] | None:
        async for body in source:
            return body
        return None

    try:
        while True:
            if drawing is None and not is_end and len(running) < at_once and len(tasks) < at_once + _WAITING:
                drawing = asyncio.create_task(draw())
            if drawing is None and not tasks:
                return
            await asyncio.wait(running | {drawing} if drawing else running, return_when=asyncio.FIRST_COMPLETED)
            running = {task for task in running if not task.done()}
            if drawing is not None and drawing.done():
                body, drawing = drawing.result(), None
                if body is None:
                    is_end = True
                elif not hasattr(body, "__aiter__"):
                    kind = type(body).__name__
                    raise TypeError(f"stream {begun}: expected an asynchronous iterable of bytes, found {kind}")
                else:
                    tasks.append(asyncio.create_task(digest_of(begun, body)))
                    running.add(tasks[-1])
                    begun += 1
            while tasks and tasks[0].done():
                yield tasks.popleft().result()
    finally:
        left = [*tasks, drawing] if drawing else [*tasks]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await lanes.close()
