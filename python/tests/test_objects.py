# SPDX-License-Identifier: MIT OR Apache-2.0
"""Columns of Python objects in pandas: the digest of a value is its own, whatever is beside it, or there is none."""

import datetime
import enum
import functools
import math
import uuid
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows_reference import Date, Duration, Instant, Time, Timestamp
from test_rows import EXAMPLES, digests, expected

import pyhashloom

pa = pytest.importorskip("pyarrow", reason="SKIPPED: objects: pyarrow is not installed")
pd = pytest.importorskip("pandas", reason="SKIPPED: objects: pandas is not installed")
import numpy  # noqa: E402

UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1)


def frame_of(values):
    column = numpy.empty(len(values), object)
    for place, value in enumerate(values):
        column[place] = value
    return pd.DataFrame({"x": pd.Series(column, dtype=object)})


def plain(value):
    """A Python object as rows_reference has it; KeyError for one that has no digest."""
    if isinstance(value, numpy.generic) and value.dtype.kind not in "mM":
        value = value.item()
    if isinstance(value, (list, tuple, numpy.ndarray)):
        return list(map(plain, value))
    if type(value) is dict:
        return tuple(map(plain, value.values()))
    if value is None or pd.isna(value):
        return None
    if isinstance(value, (pd.Timestamp, numpy.datetime64)):
        value = pd.Timestamp(value)
        return (Timestamp if value.tzinfo is None else Instant)(value.as_unit("ns").value)
    if isinstance(value, (pd.Timedelta, numpy.timedelta64)):
        return Duration(pd.Timedelta(value).as_unit("ns").value)
    micro = datetime.timedelta(microseconds=1)
    if type(value) is datetime.datetime:
        if value.tzinfo is None:
            return Timestamp((value - EPOCH) // micro * 1000)
        return Instant((value - EPOCH.replace(tzinfo=UTC)) // micro * 1000)
    if type(value) is datetime.time and value.tzinfo is None:
        return Time((datetime.datetime.combine(EPOCH, value) - EPOCH) // micro * 1000)
    return {
        bool: bool, int: int, float: float, str: str, bytes: bytes, bytearray: bytes, Decimal: Decimal,
        datetime.date: lambda day: Date(day.toordinal() - EPOCH.toordinal()),
        datetime.timedelta: lambda time: Duration(time // micro * 1000), uuid.UUID: lambda id: id.bytes,
    }[type(value)](value)  # fmt: skip


class Color(enum.IntEnum):
    RED = 1


class Text(str):
    pass


MISSING = [None, math.nan, pd.NA, pd.NaT]
ZONES = [UTC, datetime.timezone(datetime.timedelta(hours=9))]
DAY = datetime.datetime(2026, 1, 1)
# Values of one kind in vectors/rows: any of them may be beside each other.
KINDS = [
    [True, False, numpy.True_],
    [0, 1, -1, 2**62, numpy.int8(1)],
    [0, 1, numpy.uint16(9)],
    [0, 1, Decimal(1), Decimal("1.0"), Decimal("1.50"), Decimal("-3E+3"), Decimal("NaN")],
    [0.0, 1.0, -2.5, math.inf, numpy.float64(0.1)],
    [numpy.float32(0.1), numpy.float32(1)],
    ["", "a", "1", "é", numpy.str_("a")],
    [b"", b"a", b"1", bytearray(b"a")],
    [DAY.date(), datetime.date(1, 1, 1)],
    [DAY, DAY.replace(microsecond=1), pd.Timestamp(DAY), datetime.datetime.max],
    [*(DAY.replace(tzinfo=zone) for zone in ZONES), pd.Timestamp(DAY, tz="Europe/Rome")],
    [numpy.datetime64(DAY, "ns"), numpy.datetime64(DAY, "ns") + 1],
    [numpy.array([DAY, None], "M8[us]"), numpy.array([DAY], "M8[us]")],
    [datetime.time(), datetime.time(1, 2, 3, 4)],
    [datetime.timedelta(), datetime.timedelta(1, 2, 3), pd.Timedelta(1, "us")],
    [numpy.timedelta64(1, "ns"), numpy.timedelta64(86_400 * 10**9, "ns")],
]  # fmt: skip
# Others, of which Arrow has no exact form, or none in microseconds.
OTHERS = [Color.RED, Text("a"), datetime.time(1, tzinfo=UTC), pd.Timestamp(DAY) + pd.Timedelta(1, "ns"), {1}, 2**63,
          pd.Timedelta(1, "ns"), -(2**63) - 1, uuid.UUID(int=5), numpy.float32(math.nan)]  # fmt: skip


def dict_of(values):
    return dict(zip("ba", values))


def nested(values):
    """Values in columns that are alike: as they are, in lists, or in dicts of the same keys."""
    lists = st.lists(values, max_size=3)
    arrays = lists.map(lambda found: frame_of(found)["x"].to_numpy())
    return st.sampled_from([
        values, lists | lists.map(tuple) | arrays | st.none(), st.tuples(values, st.none()).map(dict_of),
        st.lists(st.tuples(values, lists).map(dict_of), max_size=3),
    ]).flatmap(lambda column: st.lists(column, max_size=6))  # fmt: skip


@given(st.sampled_from(KINDS).flatmap(lambda kind: nested(st.sampled_from(kind + MISSING[:2]))))
@settings(max_examples=EXAMPLES, deadline=None)
def test_values_of_one_kind_have_their_own_digests(values):
    assert digests(frame_of(values)) == expected([plain(value)] for value in values)


# pyarrow 26 ends the process over a time of numpy beside another value of numpy in a list.
ALL = [value for kind in KINDS for value in kind if not isinstance(value, (numpy.datetime64, numpy.ndarray))]
SCALARS = st.sampled_from(ALL + MISSING + OTHERS)
ANY = st.recursive(SCALARS, lambda inner: (
    st.lists(inner, max_size=3) | st.lists(inner, max_size=2).map(tuple)
    | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)), max_leaves=4)
ARRAYS = st.sampled_from([numpy.array(values, kind) for values, kind in [
    ([math.nan, 1], "f4"), ([math.nan, 1], "f8"), ([0.1], "f4"), ([0.1], "f8"), ([1], "i8"), ([1], "i4"), ([True], "?"),
    ([1, math.nan], object), ([], "f4"), ([], object)]] + [[1], [0.1], []])
PAIRS = nested(st.sampled_from([0, 2.5, True, Decimal("0.5"), "1", b"1"]))


@given(st.lists(ANY, max_size=4) | nested(SCALARS) | PAIRS | nested(ARRAYS))
@settings(max_examples=EXAMPLES * 4, deadline=None)
def test_values_of_any_kinds_have_their_own_digests_or_none(values):
    try:
        found = digests(frame_of(values))
    except TypeError as error:
        assert str(error).startswith("column 'x': ")
        assert "schema={'x': " in str(error) or "no order" in str(error)
    else:
        assert found == expected([plain(value)] for value in values)


NS = pd.Timedelta(1, "ns")
of = functools.partial(pyhashloom.column, "sha256")
# Columns that pyarrow's guess would change: the values, a pattern of the error, a type that holds all of them, and the
# values in that type.
REFUSED = [
    ([DAY.date(), DAY.replace(hour=5)], "hour=5|2026, 1, 1, 5, 0.* beside datetime.date.2026", pa.timestamp("us"),
     [Timestamp(plain(DAY).number), Timestamp(plain(DAY.replace(hour=5)).number)]),
    ([pd.Timestamp(DAY) + NS], "000000001", pa.timestamp("ns"), [plain(pd.Timestamp(DAY) + NS)]),
    ([NS, datetime.timedelta(1)], "000000001.* beside datetime.timedelta", pa.duration("ns"),
     [Duration(1), plain(datetime.timedelta(1))]),
    (["a", b"b"], "'a' beside b'b' would be b'a'", "binary", [b"a", b"b"]),
    ([b"a", "b"], "'b' beside b'a' would be b'b'", "string", ["a", "b"]),
    ([1, 2.5], "1 beside 2.5 would be 1.0", "float64", [1.0, 2.5]),
    ([1, True], "1 beside True", None, None),
    ([[1], [2.5]], "1 beside 2.5 would be 1.0", pa.list_(pa.float64()), [[1.0], [2.5]]),
    ([{"a": 1}, {"a": 2, "b": 3}], "{'a': 1} beside {'a': 2, 'b': 3} would be {'a': 1, 'b': None}",
     pa.struct([("a", pa.int8()), ("b", pa.int8())]), [(1, None), (2, 3)]),
    ([{"a": 1, "b": 2}, {"b": 3, "a": 4}], "{'b': 3, 'a': 4} beside {'a': 1, 'b': 2}",
     pa.struct([("b", pa.int8()), ("a", pa.int8())]), [(2, 1), (3, 4)]),
    ([{"a": [1]}, {"b": [2]}], "{'a'", pa.map_(pa.string(), pa.list_(pa.int8())), None),
    ([2**63, None], "too large", "uint64", [2**63, None]),
    ([2**80], "too large", pa.decimal128(38), [2**80]),
    ([Color.RED], "Color.RED.* would be 1 ", "int8", [1]),
    ([Text("a")], "'a' would be 'a' in Arrow, as a value of string", None, None),
    ([DAY, DAY.replace(tzinfo=UTC)], "tzinfo.* beside", None, None),
    ([datetime.time(1, tzinfo=UTC)], "tzinfo", None, None),
    ([numpy.datetime64(DAY, "ns"), numpy.int8(1)], "numpy beside", None, None),
    ([b"a" * 16, uuid.UUID(int=5)], "beside UUID|UUID", None, None),
    (["\ud800"], "surrogates", None, None),
    ([Decimal("inf")], "", None, None),
]  # fmt: skip


@pytest.mark.parametrize("values, text, kind, cured", REFUSED, ids=lambda one: str(one)[:20])
def test_what_arrow_would_change_is_refused(values, text, kind, cured):
    frame = frame_of(values)
    indexed = pd.DataFrame({"y": 1}, index=pd.Index(frame["x"], dtype=object))
    for refused in (lambda: of(frame), lambda: of(frame["x"]), lambda: of(frame, schema={}),
                    lambda: of(indexed, index=True),
                    lambda: pyhashloom.diff(frame, frame), lambda: pyhashloom.table_digest("sha256", frame)):
        with pytest.raises(TypeError, match=f"column 'x': .*({text})"):
            refused()
    if kind is not None:
        found = digests(frame, schema={"x": kind})
        # A value has this digest also without the others.
        assert found == [digests(frame_of([value]), schema={"x": kind})[0] for value in values]
        assert cured is None or found == expected([value] for value in cured)
        assert pyhashloom.diff(frame, frame[:1], schema={"x": kind}).unchanged == 1


def nest(value, nlevels):
    for _ in range(nlevels):
        value = [value]
    return value


def held(value, of=list):
    """A list, or a dict, that holds itself beside the value."""
    holder = [value] if of is list else {"a": value}
    for _ in range(2):
        holder.append(holder) if of is list else holder.update(b=holder, c=holder)
    return holder


# A time of numpy and another value of numpy, and values that have no end: pyarrow 26 ends the process.
TIMES, ONES = numpy.array([DAY], "M8[us]"), numpy.array([1.0])


@pytest.mark.parametrize("values, text", [
    ([TIMES, ONES], "numpy beside"), ([[TIMES], [ONES]], "numpy beside"), ([[TIMES[0]], (1, ONES[0])], "numpy beside"),
    ([{"a": [TIMES]}, {"a": [ONES]}], "numpy beside"), ([[{"a": TIMES[0], "b": 1}, {"a": ONES[0]}]], "numpy beside"),
    ([frame_of([TIMES, ONES])["x"].to_numpy()], "numpy beside"),
    ([held(1)], "hold themselves"), ([held(1, dict)], "hold themselves"), ([1, nest(1, 100_000)], "60 levels"),
    ([Decimal("sNaN")], "InvalidOperation"), ([DAY, numpy.ma.masked], "masked"),
], ids=lambda one: "" if isinstance(one, list) else one)  # fmt: skip
def test_what_pyarrow_cannot_take_is_refused(values, text):
    with pytest.raises(TypeError, match=f"column 'x': .*{text}"):
        of(frame_of(values))


def test_times_of_numpy_have_others_of_numpy_in_other_fields():
    values = [{"a": TIMES, "b": ONES}, {"a": TIMES[:0], "b": ONES}]
    assert digests(frame_of(values)) == expected([plain(value)] for value in values)
    assert len({*digests(frame_of([nest(1, 50), nest(2, 50), nest(None, 50)]))}) == 3


def test_categories_that_arrow_would_change_are_refused():
    for categories in [1, 2.5], ["a", b"b"], [DAY.date(), DAY], [pd.Timestamp(DAY) + NS]:
        series = pd.Series(pd.Categorical.from_codes([0], pd.Index(categories, dtype=object)), name="x")
        for refused in series, series.to_frame(), pd.CategoricalIndex(series, name="x"):
            with pytest.raises(TypeError, match="column 'x': .* would be"):
                of(refused)
    categories = pd.Series(pd.Categorical.from_codes([0, 1, -1], pd.Index(["b", "a"], dtype=object)))
    assert digests(categories.to_frame()) == expected([value] for value in ("b", "a", None))


@pytest.mark.parametrize("values, kind, text", [
    ([DAY.replace(hour=5)], "date32", "5, 0. would be datetime.date|not all values|becomes"),
    ([0.1], "float32", "0.1 of double becomes"),
    ([pd.Timestamp(DAY) + NS], pa.timestamp("us"), "000000001|lose data"),
    ([{"a": 1, "b": 2}, {"a": 1}], pa.struct([("a", pa.int8())]), "{'a': 1, 'b': 2} beside {'a': 1} would be"),
    ([1, 2.5], "int64", "2.5"),
    ([DAY], pa.timestamp("us", "UTC"), "zone"),
    ([1], pa.timestamp("us"), "unit"),
    ([{1}], pa.list_(pa.int8()), "no order"),
])
def test_a_type_that_loses_a_value_is_refused(values, kind, text):
    with pytest.raises((TypeError, ValueError), match=f"column 'x': .*({text})"):
        of(frame_of(values), schema={"x": kind})


def test_a_schema_reads_objects_as_before():
    """Objects that pyarrow does not convert are cast as other columns are."""
    for values, kind, want in (["1", "-2"], "int64", [1, -2]), ([1, None], "string", ["1", None]), (
            [DAY], "date32", [plain(DAY.date())]), (["2026-01-01"], "date32", [plain(DAY.date())]):
        assert digests(frame_of(values), schema={"x": kind}) == expected([value] for value in want)
        assert digests(frame_of(values), schema=pa.schema([("x", pa.type_for_alias(kind))])) == expected(
            [value] for value in want)


def test_columns_without_values_agree_in_rows_and_in_a_diff():
    kinds = [pa.null(), pa.int64(), pa.float64(), pa.string(), pa.timestamp("s"), pa.list_(pa.int8())]
    tables = [pa.table({"id": [1, 2], "x": pa.nulls(2, kind)}) for kind in kinds]
    tables += [pd.DataFrame({"id": [1, 2], "x": values}) for values in ([math.nan] * 2, [None] * 2)]
    for one in tables:
        for other in tables:
            assert digests(one) == digests(other)
            assert pyhashloom.diff(one, other).equal and pyhashloom.diff(one, other, key="id").equal
            assert pyhashloom.diff(one[:1], other, key="id").added["id"].to_pylist() == [2]
    texts = pa.table({"id": [1, 2], "x": ["a", None]})
    assert pyhashloom.diff(tables[1], texts, key="id").changed.to_pylist() == [{"id": 1}]
    with pytest.raises(ValueError, match="'x' is int64 in the first table and string"):
        pyhashloom.diff(pa.table({"id": [1, 2], "x": [None, 5]}), texts)
