# SPDX-License-Identifier: MIT OR Apache-2.0
"""Columns of Python objects in pandas: Arrow's form of them, where it has each value as it is.

Arrow has one type for a column, and pyarrow guesses it from all values. A guess that does not fit one value changes it:
1 beside 2.5 becomes 1.0, a datetime beside a date loses its time of day. Such a value would have another's digest.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import chain
from typing import Any

import numpy
import pandas
import pyarrow
import pyarrow.compute

# How the names of types begin in which Arrow has every value of a Python class, or pyarrow raises an error.
_EXACT = {
    bool: ("bool",),
    int: ("int", "uint", "decimal"),
    float: ("double",),
    Decimal: ("decimal",),
    str: ("string", "large_string"),
    bytes: ("binary", "large_binary"),
    datetime.date: ("date32",),
    datetime.timedelta: ("duration[us]",),
    numpy.bool_: ("bool",),
    numpy.int64: ("int64",),
    numpy.float64: ("double",),
}

# Classes whose values are of one kind in vectors/rows.
_KINDS: dict[type, type] = {
    Decimal: int, bytearray: bytes, memoryview: bytes, tuple: list, numpy.ndarray: list,
    pandas.Timestamp: datetime.datetime, pandas.Timedelta: datetime.timedelta,
}  # fmt: skip


def array_of(values: Any, name: str, wanted: Any = None) -> Any:
    """An array of numpy with Python objects in Arrow: of the wanted type if all values fit, else of the type that
    pyarrow guesses. TypeError if a value does not fit there either."""
    reasons, classes = [], _classes(values)
    if reason := _ends_pyarrow(values, {}):
        raise TypeError(f"column {name!r}: {reason}")
    for kind in [None] if wanted is None else [wanted, None]:
        if kind is not None and pyarrow.types.is_timestamp(kind):  # pyarrow takes no dates there
            values = _array(_at_midnight(value) for value in values)
        try:
            array = pyarrow.array(values, kind, from_pandas=True)
            lost = None if _is_exact(classes, array.type) else next(_lost(values, array, kind is None), None)
        except Exception as error:  # what the values' own methods raise, too
            kinds = {type(value): f"{value!r:.80}" for value in values if value is not None}
            beside = f" ({' beside '.join([*kinds.values()][:2])})" if len(kinds) > 1 else ""
            reasons.append(": ".join(map(str, error.args)) + beside)
            continue
        if lost is None:
            return array
        value, found, beside = lost
        if isinstance(value, (set, frozenset)):
            reason = "a set has no order, and its digest would be another in each process: sort it, as by .map(sorted)"
            raise TypeError(f"column {name!r}: {reason}")
        beside = "" if beside is None else f" beside {beside!r:.80}"
        reasons.append(f"{value!r:.80}{beside} would be {found!r:.80} in Arrow, as a value of {array.type}")
    cure = f"cast it, as by .astype(str), or give schema={{{name!r}: a type of pyarrow that has all values}}"
    raise TypeError(f"column {name!r}: {reasons[0]}: {cure}")


def _classes(values: Any) -> set[type]:
    return set(map(type, values)) - {type(None)}


def _ends_pyarrow(values: Any, seen: dict[frozenset[int], bool], nlevels: int = 0) -> str | None:
    """Why pyarrow 26 would end the process over values of one column, or of one field in it. ``seen``: the objects that
    were looked at together, and whether all that they hold was."""
    classes = _classes(values)
    of_numpy = {kind for kind in classes if issubclass(kind, numpy.generic)}
    nested = tuple(kind for kind in classes if issubclass(kind, (list, tuple, dict, numpy.ndarray)))
    holders = {id(value): value for value in values if isinstance(value, nested)} if nested else {}
    group = frozenset(holders)
    if nlevels > 60 or not seen.get(group, True):
        return "lists or dicts hold themselves, or others in more than 60 levels"
    if group and group not in seen:
        seen[group] = False
        inner: list[Any] = []
        fields: dict[Any, list[Any]] = {}
        for value in holders.values():
            if isinstance(value, dict):
                for key, one in value.items():
                    fields.setdefault(key, []).append(one)
            elif isinstance(value, numpy.ndarray) and value.dtype != object:
                of_numpy.add(value.dtype.type)
            else:
                inner += value.flat if isinstance(value, numpy.ndarray) else value
        for one in inner, *fields.values():
            if reason := _ends_pyarrow(one, seen, nlevels + 1):
                return reason
        seen[group] = True
    if numpy.datetime64 in of_numpy and len(of_numpy) > 1:
        return "times of numpy beside other values of numpy: cast it, as by .astype(str)"
    return None


def _is_exact(classes: set[type], kind: Any) -> bool:
    return len(classes) == 1 and str(kind).startswith(_EXACT.get(next(iter(classes)), ()))


def _array(values: Iterable[Any]) -> Any:
    return numpy.fromiter(values, dtype=object)


def _at_midnight(value: Any) -> Any:
    return datetime.datetime.combine(value, datetime.time()) if type(value) is datetime.date else value


def _lost(values: Any, array: Any, is_guess: bool) -> Iterator[tuple[Any, Any, Any]]:
    """Objects that are others in Arrow's array, each with what the array has instead, and with an object beside it that
    the array has. ``is_guess``: 1 as 1.0, bytes as text, and fields more than a dict has, are others too."""
    kind, types, is_there = array.type, pyarrow.types, ~pandas.isna(values)
    there = values[is_there]
    # To pyarrow, a NaN of numpy's float32 is null in an array of these, and none beside others.
    is_other = is_there != numpy.asarray(array.is_valid())
    if is_other.any():
        place = int(is_other.argmax())
        yield values[place], array[place].as_py(), None
    classes = _classes(there)
    if _is_exact(classes, kind):
        return
    if classes <= {datetime.datetime, pandas.Timestamp} and types.is_timestamp(kind) and kind.unit == "us":
        zones = {value.tzinfo is None for value in there}
        if zones == {kind.tz is None} and not any(getattr(value, "nanosecond", 0) for value in there):
            return
    if types.is_list(kind) and classes <= {list, tuple, numpy.ndarray}:
        dtypes = {value.dtype for value in there} if classes == {numpy.ndarray} else set()
        if len(dtypes) == 1 and (dtype := dtypes.pop()).kind in "biufmM":
            if pyarrow.from_numpy_dtype(dtype) == kind.value_type:
                return
        inner = pyarrow.compute.list_flatten(array)
        yield from _lost(_array(chain.from_iterable(there)), inner, is_guess)
    elif types.is_map(kind) and classes <= {dict}:
        yield from _lost(_array(chain.from_iterable(there)), array.keys, is_guess)
        yield from _lost(_array(chain.from_iterable(map(dict.values, there))), array.items, is_guess)
    elif types.is_struct(kind) and classes <= {dict}:
        names = [field.name for field in kind]
        fits = [list(value) == names if is_guess else {*value} <= {*names} for value in there]
        if False in fits:
            place = fits.index(False)
            found = array[int(is_there.nonzero()[0][place])].as_py()
            yield there[place], found, there[fits.index(True)] if True in fits else None
        for name, field in zip(names, array.flatten(), strict=True):
            inner = _array(value.get(name) if has else None for value, has in zip(values, is_there, strict=True))
            yield from _lost(inner, field, is_guess)
    else:
        found = _array(array.to_pylist())[is_there]
        fits = [_fits(value, one, is_guess) for value, one in zip(there, found, strict=True)]
        if False in fits:
            place = fits.index(False)
            yield there[place], found[place], there[fits.index(True)] if True in fits else None


def _fits(value: Any, found: Any, is_guess: bool) -> bool:
    """Whether what Arrow has is the object."""
    if isinstance(value, numpy.generic):
        plain = value.item()  # a number if Python has no such time
        is_time = isinstance(plain, int) and value.dtype.kind in "mM"
        value = (pandas.Timestamp if value.dtype.kind == "M" else pandas.Timedelta)(value) if is_time else plain
    kinds = [_KINDS.get(type(one), type(one)) for one in (value, found)]
    if is_guess and kinds[0] is not kinds[1]:
        return False
    if not is_guess:
        value, found = (one.encode() if isinstance(one, str) else _at_midnight(one) for one in (value, found))
    return bool(value == found)
