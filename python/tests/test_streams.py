# SPDX-License-Identifier: MIT OR Apache-2.0
"""Messages that arrive in parts, beside hashlib."""

import asyncio
import contextlib
import hashlib
import random
import threading

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
