# SPDX-License-Identifier: MIT OR Apache-2.0
"""What tells one version of an object from another: the fields that fsspec's file systems have for it.

A field *ties* a version to its bytes if each change of the bytes changes the field: a time to the second, a revision, a
hash. A length does not tie, nor does an ETag that is weak (RFC 9110, 8.8.1). A time ties only when its second is over,
as a change in the same second has the same time: until then the object is *fresh*.
"""

from __future__ import annotations

import dataclasses
import datetime
import email.utils
import math
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

# Names of fields, without capitals and marks: Last-Modified, last_modified and LastModified are one.
_CHANGED = {
    "changed",  # ctime of a local file
    "datetime",  # zip
    "lastmodificationtimems",
    "lastmodified",
    "modificationtime",
    "modified",
    "modifiedat",
    "modifiedtime",
    "modify",  # FTP: "20261126100000" (RFC 3659), or "Nov 26 10:00" of LIST, which does not tie
    "mtime",
    "servermodified",
    "timemodified",
    "updated",
    "updatedat",
}
_CREATED = {"created", "createdat", "createdtime", "creationtime", "ctime", "timecreated"}
# Fields that differ after each change, whatever the clock.
_REVISIONS = {
    "blobid",
    "contenthash",  # Dropbox
    "generation",
    "hex",  # git
    "rawurl",  # gist
    "rev",
    "revision",
    "sequenceid",
    "sha",  # GitHub
    "sha256",
    "version",  # Google Drive
    "versionid",
    "xethash",
}
# Two contents made for the purpose can share their MD5, and so their ETag.
_HASHES = {
    "checksum", "contentmd5", "digest", "etag", "md5", "md5checksum", "md5dos2unix", "md5hash", "reprdigest", "sha1",
}  # fmt: skip
# Fields that identify the file. They tie nothing.
_OTHERS = {"at", "crc", "crc32c", "fileid", "ino", "size", "unique"}
# Fields with fields in them: Azure, DVC, Hugging Face.
_NESTED = {"contentsettings", "dvcinfo", "fsinfo", "lfs"}

# Times that stand for none: 0, and the first one that zip has.
_UNKNOWN_NS = 315_532_800 * 10**9

# How long a time may stay the same while the bytes change: two seconds of FAT and zip; a tick of a system's clock where
# the time has a fraction.
_SECONDS_NS, _TICK_NS = 2 * 10**9, 20 * 10**6


@dataclasses.dataclass(frozen=True)
class Object:
    """A version of an object."""

    path: str
    """The path that the file system of fsspec takes."""
    nbytes: int = 0
    mtime_ns: int = 0
    """The time of the last change, as the store has it; 0 if it has none."""
    fields: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """What tells this version from others. Empty: nobody has looked at the object."""
    ties: frozenset[str] = frozenset()
    """The fields that tie."""
    bucket: str = ""
    """The first part of the path, of S3."""
    target: str = ""
    """The URL behind redirections, of HTTP."""
    has_ranges: bool = True
    is_settled: bool = True
    """Whether no later change leaves the version as it is, by the clock."""
    is_waited: bool = False
    """The same, as the version stayed for `tick_ns`: whatever the clock."""
    tick_ns: int = 0

    @property
    def version(self) -> str:
        escaped = ((name, value.replace("%", "%25").replace(";", "%3B")) for name, value in self.fields.items())
        return "; ".join(f"{name}={value}" for name, value in escaped)

    @property
    def key(self) -> str:
        return self.path[len(self.bucket) + 1 :]

    @property
    def etag(self) -> str:
        return self.fields.get("ETag", "")

    @property
    def in_ranges(self) -> bool:
        """Whether ranges of it can be told from those of another version."""
        return bool(self.ties) and self.has_ranges

    def is_told_by(self, other: Object) -> bool:
        """Whether the other look has a field that ties, if this one has one."""
        return not self.ties or not self.ties.isdisjoint(other.fields)

    def is_same(self, other: Object) -> bool:
        """Whether two looks saw the same version, by the fields that both have: a listing may have others than a look,
        and an answer others than both."""
        common = self.fields.keys() & other.fields.keys()
        return self.is_told_by(other) and all(self.fields[name] == other.fields[name] for name in common)


def time_ns(value: Any) -> int | None:
    """A time in nanoseconds since 1970, in microseconds' steps; None if it does not tell the second."""
    utc = datetime.timezone.utc
    if isinstance(value, tuple) and len(value) >= 6:
        value = "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}".format(*value)
    if isinstance(value, str):
        text = re.sub(r"\.(\d+)", lambda found: "." + found[1][:6].ljust(6, "0"), re.sub("Z$", "+00:00", value.strip()))
        digits = re.fullmatch(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\.\d{6})?", text)
        if digits:
            text = "{}-{}-{}T{}:{}:{}{}".format(*digits.groups(""))
        if not re.search(r"\d\d:\d\d:\d\d", text):
            return None
        try:
            value = datetime.datetime.fromisoformat(text)
        except ValueError:
            try:
                value = email.utils.parsedate_to_datetime(value)
            except (TypeError, ValueError):
                return None
    if isinstance(value, datetime.datetime):
        value = value if value.tzinfo else value.replace(tzinfo=utc)
        value = (value - datetime.datetime.fromtimestamp(0, utc)) / datetime.timedelta(seconds=1)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    # No file is of the year 5000: it is in milliseconds or nanoseconds.
    unit = 1 if abs(value) < 10**11 else 10**3 if abs(value) < 10**14 else 10**9
    return round(value * 10**6 / unit) * 1_000


def _flat(info: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in info.items():
        if _plain(name) in _NESTED and hasattr(value, "items"):
            yield from ((f"{name}.{inner}", value) for inner, value in value.items())
        else:
            yield name, value


def _plain(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.rpartition(".")[2].lower())


def described(path: str, info: Mapping[str, Any], nbytes: int, now_ns: int | None = None, **more: Any) -> Object:
    """The object that a file system describes. `now_ns` is the store's clock, this machine's if it is not known."""
    fields: dict[str, str] = {"size": str(nbytes)}
    ties: set[str] = set()
    changed: list[int] = []
    created: list[int] = []
    is_revised = False
    for name, value in _flat(info):
        plain = _plain(name)
        kinds = [kind for kind in (_CHANGED, _CREATED, _REVISIONS, _HASHES, _OTHERS) if plain in kind]
        if not kinds or name == "size" or value is None or not (text := str(value).strip()) or text == '""':
            continue
        if kinds[0] in (_CHANGED, _CREATED) and (at_ns := time_ns(value) or 0) > _UNKNOWN_NS:
            (changed if kinds[0] is _CHANGED else created).append(at_ns)
            text = str(at_ns)
            if kinds[0] is _CREATED:
                kinds = [_OTHERS]
        elif kinds[0] in (_CHANGED, _CREATED) or text.startswith("W/"):
            kinds = [_OTHERS]
        fields[name] = text
        if kinds[0] is not _OTHERS:
            ties.add(name)
        is_revised = is_revised or kinds[0] is _REVISIONS
    last_ns = max([*changed, *created], default=0)
    tick_ns = _TICK_NS if last_ns % 10**9 else _SECONDS_NS
    now_ns = time.time_ns() if now_ns is None else now_ns
    return Object(
        path,
        nbytes,
        next(iter([*changed, *created]), 0),
        fields,
        frozenset(ties),
        is_settled=is_revised or not (changed or created) or now_ns - last_ns >= tick_ns,
        tick_ns=tick_ns,
        **more,
    )
