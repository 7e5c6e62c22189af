# SPDX-License-Identifier: MIT OR Apache-2.0
"""Columns of other libraries: what pyhashloom.Column gives them, and what it takes from pandas."""

from __future__ import annotations

import sys
from typing import Any

from ._hashloom import Column


def numpy_array(column: Column, dtype: Any, copy: bool | None) -> Any:
    """Column.__array__: Python objects, as numpy has no type for a text or bytes that may be missing."""
    import numpy

    if copy is False:
        raise ValueError("a Column has no array of numpy to share: leave out copy=False")
    values = numpy.empty(len(column), dtype=object)
    values[:] = column.to_pylist()
    return values if dtype is None else values.astype(dtype)


def arrow_array(column: Column, kind: Any) -> Any:
    """Column.__arrow_array__."""
    array = _pyarrow().chunked_array(column)
    return array if kind is None else array.cast(kind)


def to_polars(column: Column) -> Any:
    """Column.to_polars."""
    import polars

    return polars.Series(column)


def to_pandas(column: Column, *, like: Any = None) -> Any:
    """Column.to_pandas. ``like``: the Series that the values came from, with its index, name and kind of dtype."""
    import pandas

    index, name = (None, column.name or None) if like is None else (like.index, like.name)
    array = arrow_array(column, None)
    is_text = column.output == "hex"
    if like is not None and isinstance(like.dtype, pandas.ArrowDtype):
        values: Any = pandas.arrays.ArrowExtensionArray(array)
    elif is_text and like is not None and isinstance(like.dtype, pandas.StringDtype):
        values = pandas.array(array, dtype=like.dtype)
    elif is_text and int(pandas.__version__.partition(".")[0]) >= 3:
        values = pandas.array(array, dtype="str")
    else:
        values = numpy_array(column, None, None)
    return pandas.Series(values, index=index, name=name)


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(f"pandas hands its columns on by way of pyarrow ({error}): pip install pyarrow") from error
    return pyarrow


def from_pandas(value: Any) -> Any:
    """What ``column`` hashes of its argument: a frame or a series of pandas without its index. All others stay as they
    are."""
    # Whoever has an object of pandas has imported it.
    pandas = sys.modules.get("pandas")
    if pandas is None or not hasattr(pandas, "Index"):
        return value
    if isinstance(value, pandas.DataFrame):
        return _pyarrow().Table.from_pandas(value, preserve_index=False)
    if isinstance(value, (pandas.Series, pandas.Index)):
        return _pyarrow().Array.from_pandas(value)
    return value
