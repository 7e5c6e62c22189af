# SPDX-License-Identifier: MIT OR Apache-2.0
"""A journal of digests: what was read stays known after Ctrl-C or a crash.

A line is JSON, a blank, and its CRC-32. A line that is cut off or damaged is left out, and its object is read again.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import zlib
from typing import Any

# A longer line is none of a journal.
_LINE_MAX_NBYTES = 1 << 16

# Seconds between two writes to the file.
_FLUSH_SECONDS = 1.0


def _line(value: Any) -> bytes:
    text = json.dumps(value, separators=(",", ":")).encode()
    return b"%s %08x\n" % (text, zlib.crc32(text))


def _value(line: bytes) -> Any:
    """What a line says; None if it is damaged."""
    text, _, check = line.rpartition(b" ")
    if check != b"%08x\n" % zlib.crc32(text):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _hashed(key: str, tie: str) -> bytes:
    # Long names take no more memory than short ones.
    return hashlib.blake2b(json.dumps([key, tie]).encode(), digest_size=16).digest()


class Journal:
    """The journal in a file, of one subject. A value belongs to a key, and to what ties it to the thing of this key."""

    def __init__(self, file: str | os.PathLike[str], subject: str) -> None:
        self._path = os.fspath(file)
        self._known: dict[bytes, bytes] = {}
        self._flushed = time.monotonic()
        self._file = open(self._path, "a+b")  # noqa: SIM115
        try:
            self._lock()
            self._read({"format": "hashloom journal of objects", "version": 1, "subject": subject})
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # Windows
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ValueError(
                f"journal {self._path}: another call uses it: wait for its end, or name another"
            ) from error

    def _read(self, header: dict[str, Any]) -> None:
        self._file.seek(0)
        first = self._file.readline(_LINE_MAX_NBYTES)
        if _line(header).startswith(first) and not first.endswith(b"\n"):  # empty, or cut off in the first line
            self._file.truncate(0)
            self._file.write(_line(header))
            self._file.flush()
            return
        found = _value(first)
        if not isinstance(found, dict) or found.get("format") != header["format"]:
            raise ValueError(f"journal {self._path}: the file is no journal: name a new file")
        if found != header:
            raise ValueError(
                f"journal {self._path}: it is of {found.get('subject')}, not of {header['subject']}: name a new file"
            )
        is_whole = True
        while line := self._file.readline(_LINE_MAX_NBYTES):
            is_whole = line.endswith(b"\n")
            value = _value(line)
            if isinstance(value, list) and len(value) == 3 and all(isinstance(part, str) for part in value):
                key, tie, digits = value
                try:
                    self._known[_hashed(key, tie)] = bytes.fromhex(digits)
                except ValueError:
                    pass
        if not is_whole:
            self._file.write(b"\n")

    def find(self, key: str, tie: str) -> bytes | None:
        return self._known.get(_hashed(key, tie))

    def add(self, key: str, tie: str, value: bytes) -> None:
        self._file.write(_line([key, tie, value.hex()]))
        if time.monotonic() - self._flushed > _FLUSH_SECONDS:
            self._file.flush()
            self._flushed = time.monotonic()

    def close(self) -> None:
        self._file.close()
