# SPDX-License-Identifier: MIT OR Apache-2.0
"""The form "hashloom rows 1" in plain Python, written from vectors/rows: the oracle of the tests.

    python3 python/tests/rows_reference.py >vectors/rows/rows.json      writes the test vectors
"""

import hashlib
import json
import math
import struct
import sys
from dataclasses import dataclass
from decimal import Context, Decimal

EXACT = Context(prec=1000, Emin=-999_999, Emax=999_999)


@dataclass(frozen=True)
class Scaled:
    """A date in days since 1970, or a time or duration in nanoseconds."""

    number: int


class Date(Scaled):
    kind = 0x08


class Time(Scaled):
    kind = 0x09


class Timestamp(Scaled):
    kind = 0x0A


class Instant(Scaled):
    kind = 0x0B


class Duration(Scaled):
    kind = 0x0C


@dataclass(frozen=True)
class Interval:
    months: int
    days: int
    nanoseconds: int


@dataclass(frozen=True)
class Map:
    entries: tuple


def count(number):
    """LEB128."""
    low = bytes([number & 0x7F])
    return low if number < 0x80 else bytes([low[0] | 0x80]) + count(number >> 7)


def integer(kind, number):
    nbytes = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return bytes([kind, nbytes]) + number.to_bytes(nbytes, "big", signed=True)


def encode(value):
    """The bytes of None, a bool, int, Decimal, float, str, bytes, list, tuple (struct), or one of the classes above."""
    match value:
        case None:
            return b"\x00"
        case bool():
            return b"\x02" if value else b"\x01"
        case int():
            return integer(0x03, value)
        case Decimal():
            sign, digits, exponent = value.normalize(EXACT).as_tuple()
            number = int("".join(map(str, digits))) * (-1 if sign else 1)
            if exponent >= 0:
                return encode(number * 10**exponent)
            return b"\x04" + bytes([-exponent]) + encode(number)
        case float():
            if math.isnan(value):
                return b"\x05" + bytes.fromhex("7ff8000000000000")
            return b"\x05" + struct.pack(">d", value or 0.0)
        case str():
            text = value.encode()
            return b"\x06" + count(len(text)) + text
        case bytes():
            return b"\x07" + count(len(value)) + value
        case Scaled():
            return integer(value.kind, value.number)
        case Interval():
            return b"\x0d" + encode(value.months) + encode(value.days) + encode(value.nanoseconds)
        case list():
            return b"\x0e" + count(len(value)) + b"".join(map(encode, value))
        case tuple():
            return b"\x0f" + count(len(value)) + b"".join(map(encode, value))
        case Map():
            entries = sorted(encode(key) + encode(item) for key, item in value.entries)
            return b"\x10" + count(len(entries)) + b"".join(entries)
    raise TypeError(type(value))


SCALED = {"date": Date, "time": Time, "timestamp": Timestamp, "instant": Instant, "duration": Duration}


def parse(value):
    """A value as the vectors have it in JSON."""
    if value is None or isinstance(value, bool):
        return value
    [(kind, content)] = value.items()
    match kind:
        case "integer":
            return int(content)
        case "decimal":
            return Decimal(content)
        case "float":
            return float(content)
        case "text":
            return content
        case "binary":
            return bytes.fromhex(content)
        case "interval":
            return Interval(*map(int, content))
        case "list":
            return [parse(one) for one in content]
        case "struct":
            return tuple(parse(one) for one in content)
        case "map":
            return Map(tuple((parse(key), parse(item)) for key, item in content))
    return SCALED[kind](int(content))


INTEGERS = "int8() int16() int32() int64() uint8() uint16() uint32() uint64()".split()
EXACT_KINDS = [*INTEGERS, "decimal32(9, 2)", "decimal64(18, 2)", "decimal128(38, 0)", "decimal256(76, 9)"]
TEXTS = ["string()", "large_string()", "string_view()"]
BINARIES = ["binary()", "large_binary()", "binary_view()"]


def units(name, zone=""):
    return [f"{name}('{unit}'{zone})" for unit in ("s", "ms", "us", "ns")]


def vectors():
    """What a vector shows, its one value or its row, and the types of pyarrow that can hold the value."""
    for number in 0, 1, 100, 127:
        yield f"the integer {number}", {"integer": f"{number}"}, EXACT_KINDS
    yield "the decimal 1.00 is the integer 1", {"decimal": "1.00"}, EXACT_KINDS
    yield "-1", {"integer": "-1"}, [kind for kind in EXACT_KINDS if "uint" not in kind]
    for number in 128, -128, -129, 2**63, 2**64 - 1, -(2**63):
        kinds = ["decimal128(38, 0)", "decimal256(76, 0)"]
        kinds += ["int64()"] if -(2**63) <= number < 2**63 else []
        kinds += ["uint64()"] if 0 <= number < 2**64 else []
        yield f"{number}", {"integer": f"{number}"}, kinds
    yield "38 nines", {"integer": "9" * 38}, ["decimal128(38, 0)", "decimal256(76, 0)"]
    for number in "1.5", "-0.01", "1234567.89":
        kinds = ["decimal32(9, 2)", "decimal64(18, 3)", "decimal128(38, 9)", "decimal256(76, 20)"]
        yield number, {"decimal": number}, kinds
    yield "a negative scale", {"decimal": "1.2E+4"}, ["decimal128(5, -3)", "decimal256(5, -3)", "int16()"]
    for number in "0.0", "-0.0", "1.0", "-1.5", "NaN", "Infinity", "-Infinity":
        yield f"the float {number}", {"float": number}, ["float16()", "float32()", "float64()"]
    yield "the float 0.1", {"float": "0.1"}, ["float64()"]
    yield "the float 0.1 of 32 bits", {"float": "0.10000000149011612"}, ["float32()", "float64()"]
    yield "null", None, ["null()", "int64()", "string()", "float64()", "list_(int8())", "struct([('x', int8())])"]
    yield "false", False, ["bool_()", "bool8()"]
    yield "true", True, ["bool_()", "bool8()"]
    for text in "", "abc", "h\u00e9", "x" * 200:
        yield f"a text of {len(text.encode())} bytes", {"text": text}, TEXTS
    for content in b"", b"abc", bytes(range(16)):
        kinds = [*BINARIES, *([f"binary({len(content)})"] if content else [])]
        yield f"binary of {len(content)} bytes", {"binary": content.hex()}, kinds
    for days in 0, 20782, -719162:
        yield f"the date {days} days from 1970", {"date": f"{days}"}, ["date32()", "date64()"]
    yield "12:34:56", {"time": f"{45_296 * 10**9}"}, ["time32('s')", "time32('ms')", "time64('us')", "time64('ns')"]
    second = f"{1_795_600_000 * 10**9}"
    yield "2026-11-25 09:46:40 without a zone", {"timestamp": second}, units("timestamp")
    yield "2026-11-25 09:46:40 UTC", {"instant": second}, units("timestamp", ", 'UTC'") + units(
        "timestamp", ", 'Asia/Tokyo'")
    yield "a nanosecond before 1970", {"timestamp": "-1"}, ["timestamp('ns')"]
    yield "the year 9999, beyond 64 bits of nanoseconds", {"timestamp": f"{253_402_300_799 * 10**9}"}, [
        "timestamp('s')", "timestamp('us')"]
    yield "a duration of 1 s", {"duration": f"{10**9}"}, units("duration")
    yield "a month, 2 days and -3 ns", {"interval": ["1", "2", "-3"]}, ["month_day_nano_interval()"]
    ones = {"list": [{"integer": "1"}, None]}
    lists = ["list_(int8())", "large_list(int64())", "list_view(int16())", "large_list_view(uint8())"]
    yield "a list of 1 and null", ones, [*lists, "list_(int32(), 2)"]
    yield "an empty list", {"list": []}, lists
    yield "a list of lists", {"list": [ones, None]}, ["list_(list_(int8()))", "large_list(list_view(int64()))"]
    yield "a struct", {"struct": [{"text": "a"}, None]}, ["struct([('x', string()), ('y', int8())])"]
    yield "a map, whose entries are sorted", {
        "map": [[{"text": "bb"}, {"integer": "1"}], [{"text": "c"}, None]]}, ["map_(string(), int8())"]


def table_digest(rows):
    digests = sorted(hashlib.sha256(encode(tuple(map(parse, row)))).digest() for row in rows)
    return hashlib.sha256(b"\x11" + b"".join(digests)).hexdigest()


def main():
    listed = []
    for what, value, kinds in vectors():
        row = encode((parse(value),))
        listed.append({"what": what, "row": [value], "types": kinds, "bytes": row.hex(),
                       "sha256": hashlib.sha256(row).hexdigest()})
        if type(parse(value)) is int:
            listed[-1]["alone"] = hashlib.sha256(encode(parse(value))).hexdigest()
    row = [{"integer": "1"}, {"text": "a@example.com"}, None, {"decimal": "19.90"}]
    encoded = encode(tuple(map(parse, row)))
    listed.append({"what": "a row of four columns", "row": row, "types": [], "bytes": encoded.hex(),
                   "sha256": hashlib.sha256(encoded).hexdigest()})
    print('{\n"form": "hashloom rows 1",\n"license": "MIT OR Apache-2.0",\n"vectors": [')
    print(",\n".join(json.dumps(one) for one in listed))
    print('],\n"tables": [')
    rows = [[{"integer": "1"}, {"text": "a"}], [{"integer": "2"}, None], [{"integer": "1"}, {"text": "a"}]]
    tables = [{"rows": some, "sha256": table_digest(some)} for some in (rows[:0], rows[:1], rows[:2], rows, rows[1:])]
    print(",\n".join(json.dumps(one) for one in tables))
    print("]\n}")


if __name__ == "__main__":
    sys.exit(main())
