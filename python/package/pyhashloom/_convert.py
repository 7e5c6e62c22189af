# SPDX-License-Identifier: MIT OR Apache-2.0
"""Columns of other libraries: what pyhashloom.Column gives them, and what it takes from pandas."""

from __future__ import annotations

import html
import sys
from typing import Any

from ._hashloom import Column

# Values that a notebook shows.
_SHOWN = 10


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


def to_html(column: Column) -> str:
    """Column._repr_html_."""
    values = column[:_SHOWN].to_pylist()
    shown = ["null" if value is None else html.escape(value if isinstance(value, str) else value.hex()) for value in values]
    if len(column) > _SHOWN:
        shown.append("…")
    rows = "".join(f"<tr><td><code>{text}</code></td></tr>" for text in shown)
    return f"<table><thead><tr><th>{html.escape(column.name)}</th></tr></thead><tbody>{rows}</tbody></table><p>{len(column)} digests</p>"


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(f"pandas hands its columns on by way of pyarrow ({error}): pip install pyarrow") from error
    return pyarrow


def from_pandas(value: Any, index: bool) -> Any:
    """What ``column`` hashes of its argument: a frame or a series of pandas without its index, if that is not wanted.
    All others stay as they are."""
    # Whoever has an object of pandas has imported it.
    pandas = sys.modules.get("pandas")
    if pandas is None or not hasattr(pandas, "Index"):
        return value
    if isinstance(value, pandas.Series) and index:
        value = value.to_frame("" if value.name is None else value.name)
    if isinstance(value, pandas.DataFrame):
        return _pyarrow().Table.from_pandas(value, preserve_index=index)
    if isinstance(value, (pandas.Series, pandas.Index)):
        return _pyarrow().Array.from_pandas(value)
    return value
