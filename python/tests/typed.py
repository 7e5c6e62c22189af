# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every call with its types, for type checkers: mypy --strict and pyright. Each line marked as an error must be one."""

import array

import numpy
import numpy.typing

import hashloom


def uses() -> None:
    message: bytes = hashloom.sha256(b"abc", usedforsecurity=False).digest()
    text: str = hashloom.new("sha1", bytearray(b"abc")).hexdigest()
    h: hashloom.Hash = hashloom.md5(memoryview(message)).copy()
    h.update(array.array("B", [1]))
    numbers: int = h.digest_size + h.block_size
    listed: list[bytes] = hashloom.many("sha256", [b"a", bytearray(b"b")])
    hexed: list[str] = hashloom.many("sha256", iter([b"a"]), output="hex")
    joined: bytes = hashloom.rows("sha256", b"abcd", 2, output="joined")
    filled: numpy.typing.NDArray[numpy.uint8] = hashloom.rows("hash160", numpy.zeros((2, 33), "u1"), output="numpy")
    twice: bytes = hashloom.sha256d(b"a") + hashloom.hash160(b"b")
    names: set[str] = hashloom.algorithms_available | hashloom.algorithms_guaranteed
    mac: hashloom.hmac.HMAC = hashloom.hmac.new(b"key", b"message", hashloom.sha256)
    mac.update(b"more")
    tags: list[bytes] = hashloom.hmac.many(b"key", listed, "sha256")
    same: bool = hashloom.hmac.compare_digest(tags[0], hashloom.hmac.digest(b"key", b"", "sha1"))
    print(text, numbers, hexed, joined, filled, twice, names, same, mac.copy().name, h.name)


def errors() -> None:
    hashloom.sha256("text")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    hashloom.hmac.new("key", b"", "sha256")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    hashloom.many("sha256", [b""], output="text")  # type: ignore[call-overload] # pyright: ignore
    hashloom.hmac.compare_digest("a", b"a")  # type: ignore[call-overload] # pyright: ignore
