# SPDX-License-Identifier: MIT OR Apache-2.0
"""Messages that arrive in parts, beside hashlib."""

import asyncio
import contextlib
import gzip
import hashlib
import io
import random
import socket
import threading
import urllib.request

import pytest
from references import digest, length_of
from test_threads import hammer

import pyhashloom

NAMES = ["md5", "sha1", "sha256", "sha512", "sha3_256", "ripemd160", "shake_128"]


@pytest.mark.parametrize("name", NAMES)
def test_update_many(name):
    random.seed(1)
    messages = [random.randbytes(random.choice([0, 1, 63, 64, 65, 200, 5_000])) for _ in range(70)]
    hashes = [pyhashloom.new(name) for _ in messages]
    begun = [0] * len(messages)
    while any(at < len(message) for at, message in zip(begun, messages)):
        cuts = [random.randrange(0, 1_500) for _ in messages]
        chunks = [message[at : at + cut] for message, at, cut in zip(messages, begun, cuts)]
        # Any order and any buffers, and objects that were updated one by one before.
        order = random.sample(range(len(messages)), len(messages))
        pyhashloom.update_many((hashes[i] for i in order), [memoryview(bytearray(chunks[i])) for i in order])
        hashes[0].update(b"")
        begun = [at + cut for at, cut in zip(begun, cuts)]
    digests = [hash.digest(*length_of(name)) for hash in hashes]
    assert digests == [digest(name, message) for message in messages]
    pyhashloom.update_many([], [])


def test_update_many_names_what_is_wrong():
    a, b = pyhashloom.sha256(), pyhashloom.sha256()
    with pytest.raises(ValueError, match="hash 2: it is the same object as hash 0"):
        pyhashloom.update_many([a, b, a], [b"x"] * 3)
    with pytest.raises(ValueError, match="hash 1: it is of sha1, and hash 0 of sha256"):
        pyhashloom.update_many([a, pyhashloom.sha1()], [b"x"] * 2)
    with pytest.raises(TypeError, match="hash 1: expected an object of pyhashloom.*found HASH"):
        pyhashloom.update_many([a, hashlib.sha256()], [b"x"] * 2)
    with pytest.raises(TypeError, match="found int"):
        pyhashloom.update_many(1, [])
    with pytest.raises(TypeError, match="chunk 1: Strings must be encoded"):
        pyhashloom.update_many([a, b], [b"x", "x"])
    with pytest.raises(BufferError, match="chunk 0"):
        pyhashloom.update_many([a], [memoryview(b"abcd")[::2]])
    with pytest.raises(ValueError, match="2 hashes and 1 chunks"):
        pyhashloom.update_many([a, b], [b"x"])
    assert a.digest() == b.digest() == hashlib.sha256().digest()  # nothing was appended


def test_update_many_by_threads_in_different_orders():
    hashes = [pyhashloom.sha1() for _ in range(40)]
    part = b"x" * 3_000

    def forwards():
        for _ in range(50):
            pyhashloom.update_many(hashes, [part] * 40)

    def backwards():
        for _ in range(50):
            pyhashloom.update_many(hashes[::-1][:30], [part] * 30)
            hashes[3].update(part)
            hashes[0].digest()

    hammer(forwards, backwards)
    for i, hash in enumerate(hashes):
        count = 200 + (200 if i >= 10 else 0) + (200 if i == 3 else 0)
        assert hash.digest() == hashlib.sha1(part * count).digest()


class Reader:
    """A file object with read only, in parts of any length, that fails at a place."""

    def __init__(self, message, fails=None):
        self.file, self.fails = io.BytesIO(message), fails

    def read(self, nbytes):
        if self.fails is not None and self.file.tell() >= self.fails:
            raise ConnectionResetError(104, "Connection reset by peer")
        return self.file.read(random.randrange(1, nbytes + 1))


class Liar:
    """A file object whose readinto or read returns what it is told."""

    def __init__(self, attribute, answer):
        setattr(self, attribute, answer)


def returns(value):
    return lambda _: value


def resizes(view):
    view.clear()
    return 3


def assigns(view):
    view[:] = b"abc"  # a bytearray would take this length
    return 3


LIES = [
    *(("readinto", returns(value)) for value in (17, -1, 1 << 70, None, 1.0, "1", b"1", True, [], object())),
    ("readinto", resizes), ("readinto", assigns),
    *(("read", returns(value)) for value in (None, 1, [1, 2], 1.5, object())),
]  # fmt: skip


@pytest.mark.parametrize("attribute, answer", LIES, ids=lambda value: getattr(value, "__name__", value))
def test_streams_whose_files_lie(attribute, answer):
    honest = [io.BytesIO(b"a" * 40), io.BytesIO(b"b" * 5)]
    one, liar, other = pyhashloom.streams("sha256", [honest[0], Liar(attribute, answer), honest[1]], chunk_nbytes=16)
    assert (one.digest, other.digest) == (hashlib.sha256(b"a" * 40).digest(), hashlib.sha256(b"b" * 5).digest())
    with pytest.raises(OSError, match="stream 1: "):
        liar.digest  # noqa: B018
    assert liar.error.kind == "read" and liar.nbytes == 0


def test_streams_whose_files_keep_the_buffer():
    """A file that fills what it was given before, or what it returned before."""
    kept = []

    def later(view):
        for old in kept:
            with contextlib.suppress(ValueError):  # the view was taken away
                old[:3] = b"XXX"
        kept.append(view)
        view[:3] = b"abc"
        return 3 if len(kept) < 4 else 0

    shared = bytearray(4)

    class Shares:
        def __init__(self, content):
            self.contents = [content, b""]

        def read(self, _):
            content = self.contents.pop(0)
            shared[: len(content)] = content
            return memoryview(shared)[: len(content)]

    files = [Liar("readinto", later), Shares(b"one!"), Shares(b"two!"), io.BytesIO(b"honest")]
    found = [one.digest for one in pyhashloom.streams("sha256", files)]
    assert found == [hashlib.sha256(content).digest() for content in (b"abc" * 3, b"one!", b"two!", b"honest")]
    wide = Liar("read", iter([memoryview(b"12345678").cast("I"), b""]).__next__)
    wide.read = lambda _, read=wide.read: read()
    (one,) = pyhashloom.streams("sha256", [wide])
    assert (one.nbytes, one.digest) == (8, hashlib.sha256(b"12345678").digest())


@pytest.mark.parametrize("at_once", [1, 3, 64])
@pytest.mark.parametrize("name", ["sha256", "shake_128"])
def test_streams(name, at_once):
    random.seed(2)
    messages = [random.randbytes(random.randrange(0, 9_000)) for _ in range(100)]
    makers = [io.BytesIO, Reader, lambda m: gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(m)))]
    opened = 0

    def files():
        nonlocal opened
        for i, message in enumerate(messages):
            opened += 1
            yield makers[i % 3](message)

    found = []
    for result in pyhashloom.streams(name, files(), at_once=at_once, chunk_nbytes=1_000):
        found.append(result)
        assert at_once > 1 or opened <= len(found) + 1  # drawn as others end
    assert [result.digest for result in found] == [digest(name, message) for message in messages]
    assert [result.nbytes for result in found] == [len(message) for message in messages]
    assert found[7].path == "stream 7"


def test_a_stream_that_fails_does_not_stop_the_others(tmp_path):
    damaged = gzip.compress(bytes(10_000))[:-9]
    files = [io.BytesIO(b"a"), Reader(b"x" * 9_000, fails=2_000), gzip.open(io.BytesIO(damaged)), io.BytesIO(b"b")]
    a, reset, cut, b = pyhashloom.streams("sha256", files, chunk_nbytes=1_000)
    assert (a.digest, b.digest) == (hashlib.sha256(b"a").digest(), hashlib.sha256(b"b").digest())
    assert (reset.error.errno, reset.error.filename, reset.error.kind) == (104, "stream 1", "read")
    assert 2_000 <= reset.error.offset < 3_000 and isinstance(reset.error.__cause__, ConnectionResetError)
    assert isinstance(cut.error.__cause__, EOFError)
    with pytest.raises(pyhashloom.FileError):
        cut.digest


def test_streams_names_what_is_wrong():
    with pytest.raises(TypeError, match="stream 1: expected a binary file object.*found bytes"):
        list(pyhashloom.streams("sha256", [io.BytesIO(), b"abc"]))
    with pytest.raises(TypeError, match="stream 0: it gives text"):
        list(pyhashloom.streams("sha256", [io.StringIO("abc")]))
    with pytest.raises(ValueError, match="unsupported hash type"):
        pyhashloom.streams("crc32", [])
    with pytest.raises(ValueError, match="at_once is 0"):
        pyhashloom.streams("sha256", [], at_once=0)


def serve(bodies):
    """An HTTP server on the loopback that sends each body once, with the length that is told. Returns its address."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run():
        with listener:
            for told, body in bodies:
                connection, _ = listener.accept()
                with connection:
                    connection.recv(10_000)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % told + body)

    threading.Thread(target=run, daemon=True).start()
    return "http://127.0.0.1:%d/" % listener.getsockname()[1]


def test_bodies_of_urllib_and_one_that_is_cut_off():
    address = serve([(50_000, b"x" * 50_000), (60_000, b"y" * 50_000)])
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    responses = [opener.open(address), opener.open(address)]
    whole, cut = pyhashloom.streams("sha1", responses, chunk_nbytes=4_096)
    assert whole.digest == hashlib.sha1(b"x" * 50_000).digest()
    assert "10000 bytes" in str(cut.error) or "IncompleteRead" in str(cut.error)


def test_sockets():
    pairs = [socket.socketpair() for _ in range(10)]

    def send():
        for i, (ours, _) in enumerate(pairs):
            ours.sendall(b"%d" % i * 5_000)
            ours.close()

    thread = threading.Thread(target=send)
    thread.start()
    found = list(pyhashloom.streams("sha256", [theirs.makefile("rb") for _, theirs in pairs]))
    thread.join()
    assert [one.digest for one in found] == [hashlib.sha256(b"%d" % i * 5_000).digest() for i in range(10)]


async def body(message, part, pause):
    for at in range(0, len(message), part):
        await asyncio.sleep(pause)
        yield message[at : at + part]


def collected(bodies, **options):
    async def run():
        return [result async for result in pyhashloom.streams_async("sha256", bodies, **options)]

    return asyncio.run(run())


@pytest.mark.parametrize("at_once", [1, 4, 64])
def test_streams_async(at_once):
    random.seed(3)
    messages = [random.randbytes(random.randrange(0, 300_000)) for _ in range(40)]
    bodies = [body(m, random.randrange(1_000, 200_000), random.choice([0, 0.001])) for m in messages]
    found = collected(bodies, at_once=at_once)
    assert [result.digest for result in found] == [hashlib.sha256(message).digest() for message in messages]
    assert not any("hashloom" in thread.name for thread in threading.enumerate())


def test_results_come_while_the_next_body_is_awaited():
    async def run():
        first = asyncio.Event()

        async def bodies():
            yield body(b"abc", 2, 0)
            await first.wait()
            yield body(b"d", 1, 0)

        digests = []
        async for result in pyhashloom.streams_async("sha256", bodies()):
            digests.append(result.digest)
            first.set()
        return digests

    assert asyncio.run(run()) == [hashlib.sha256(b"abc").digest(), hashlib.sha256(b"d").digest()]


def test_a_body_that_fails_and_chunks_that_are_no_bytes():
    async def failing():
        yield b"x" * 100
        raise ConnectionResetError(104, "Connection reset by peer")

    async def wrong():
        yield "text"

    found = collected([body(b"a" * 100_000, 70_000, 0), failing(), wrong()])
    assert found[0].digest == hashlib.sha256(b"a" * 100_000).digest()
    assert (found[1].error.errno, found[1].error.offset) == (104, 100)
    assert isinstance(found[2].error.__cause__, TypeError)
    with pytest.raises(TypeError, match="stream 0: expected an asynchronous iterable of bytes, found bytes"):
        collected([b"abc"])


def test_closing_the_iterator_stops_the_bodies():
    async def run():
        begun, ended = asyncio.Event(), []

        async def endless():
            begun.set()
            try:
                while True:
                    await asyncio.sleep(0)
                    yield b"x" * 100_000
            finally:
                ended.append(1)

        async with contextlib.aclosing(pyhashloom.streams_async("sha256", [body(b"a", 1, 0.05), endless()])) as results:
            assert (await anext(results)).digest == hashlib.sha256(b"a").digest()
            await begun.wait()
        assert len(asyncio.all_tasks()) == 1
        return ended

    assert asyncio.run(run()) == [1]
    assert not any("hashloom" in thread.name for thread in threading.enumerate())
