# SPDX-License-Identifier: MIT OR Apache-2.0
"""Columns of other libraries: what pyhashloom.Column gives them, and what it takes from pandas."""

from __future__ import annotations

import html
import sys
import warnings
from collections.abc import Iterator
from itertools import chain, repeat
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


def equal(column: Column, other: Any, wanted: bool) -> Any:
    """Column.__eq__, or if not wanted __ne__: numpy's array of bools, of a value or of as many as the column has."""
    import numpy

    if isinstance(other, (Column, str, bytes)):
        output = other.output if isinstance(other, Column) else "hex" if isinstance(other, str) else "binary"
        if output != column.output:
            raise TypeError(f"digests of output {column.output!r} are not comparable with {output!r}: make both alike")
    is_array = hasattr(other, "__len__") and not isinstance(other, (str, bytes))
    if is_array and len(other) != len(column):
        raise ValueError(f"a column of {len(column)} digests, compared with {len(other)} values: expected as many")
    if isinstance(other, Column):
        equals = numpy.frombuffer(bytearray(column._equal(other)), dtype=bool)
    else:
        if _index(other) is not None:
            other = _pyarrow().Array.from_pandas(other)  # its nulls are None
        if hasattr(other, "to_pylist"):
            other = other.to_pylist()
        others = other if is_array else repeat(other)
        equals = numpy.fromiter((one == each for one, each in zip(column, others)), dtype=bool, count=len(column))
    return equals if wanted else ~equals


def arrow_array(column: Column, kind: Any) -> Any:
    """Column.__arrow_array__."""
    array = _pyarrow().chunked_array(column)
    return array if kind is None else array.cast(kind)


def to_polars(column: Column) -> Any:
    """Column.to_polars."""
    import polars

    return polars.Series(column)


def to_pandas(column: Column, *, like: Any = None) -> Any:
    """Column.to_pandas. ``like``: the Series that the values came from, with its name and kind of
    dtype."""
    import pandas

    name = column.name or None if like is None else like.name
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
    return pandas.Series(values, index=column._index, name=name)


def to_html(column: Column) -> str:
    """Column._repr_html_."""
    values = column[:_SHOWN].to_pylist()
    shown = ["null" if v is None else html.escape(v if isinstance(v, str) else v.hex()) for v in values]
    if len(column) > _SHOWN:
        shown.append("…")
    rows = "".join(f"<tr><td><code>{text}</code></td></tr>" for text in shown)
    head = f"<thead><tr><th>{html.escape(column.name)}</th></tr></thead>"
    return f"<table>{head}<tbody>{rows}</tbody></table><p>{len(column)} digests</p>"


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(f"pandas hands its columns on by way of pyarrow ({error}): pip install pyarrow") from error
    return pyarrow


def arguments(columns: tuple[Any, ...], index: bool, field: str | None, schema: Any) -> tuple[list[Any], Any]:
    """What ``column`` hashes of its arguments, and the index that those of pandas have."""
    if schema is not None and len(columns) != 1:
        raise TypeError("schema takes one table, frame or stream of record batches")
    if schema is not None:
        from ._tables import _schema_of, followed

        schema = _schema_of(schema)
    values, labels, first = [], None, 0
    for place, value in enumerate(columns, 1):
        own = _index(value)
        if own is not None and labels is not None and own is not labels and not labels.equals(own):
            cure = "align them, or reset_index(drop=True)"
            raise ValueError(f"columns {first} and {place} have different indexes: {cure}")
        if own is not None and labels is None:
            labels, first = own, place
        if own is None:
            values.append(_from_others(value, None if schema is not None else field))
            continue
        pyarrow = _pyarrow()
        try:
            values.append(_from_pandas(value, index, schema))
            if field is None and (len(columns) > 1 or hasattr(value, "columns")):
                _warn_of_whole_floats(value if hasattr(value, "columns") else value.to_frame(), schema)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError) as error:
            reason = ": ".join(map(str, error.args))
            raise TypeError(f"column {place}: {reason}: cast it, as by .astype(str)") from error
    if index and labels is None:
        raise ValueError("index=True, but no column is of pandas: nothing else has an index")
    if schema is not None:
        values = [followed(values[0], schema)]
    return values, labels


def _warn_of_whole_floats(frame: Any, schema: Any) -> None:
    """Warns of columns of pandas that may be integers: pandas makes floats of these where one is missing."""
    import numpy

    if not isinstance(schema, (dict, type(None))):
        return

    def is_whole(values: Any) -> bool:
        values = values[~numpy.isnan(values)]
        return bool(numpy.all(numpy.isfinite(values) & (values == numpy.trunc(values))))

    found = []
    for place, (name, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        if isinstance(dtype, numpy.dtype) and dtype.kind == "f" and str(name) not in (schema or ()):
            values = frame.iloc[:, place].to_numpy()
            if is_whole(values[:1000]) and is_whole(values) and not numpy.isnan(values).all():
                found.append(str(name))
    if not found:
        return
    caller, level = sys._getframe(), 1
    while caller.f_back is not None and caller.f_globals.get("__name__", "").startswith("pyhashloom."):
        caller, level = caller.f_back, level + 1
    cure = f"give schema={{{found[0]!r}: 'int64'}} if these are integers, 'float64' if not"
    text = f"columns {found}: all floats are whole or missing, and 1.0 has another digest than the integer 1: {cure}"
    warnings.warn(text, UserWarning, stacklevel=level)


def _index(value: Any) -> Any:
    """The index of a frame or series of pandas; of an index, itself."""
    # Whoever has an object of pandas has imported it.
    pandas = sys.modules.get("pandas")
    if pandas is None or not hasattr(pandas, "Index"):
        return None
    if isinstance(value, (pandas.DataFrame, pandas.Series)):
        return value.index
    return value if isinstance(value, pandas.Index) else None


def _from_pandas(value: Any, index: bool = False, schema: Any = None) -> Any:
    """A frame, series or index of pandas in Arrow, without its index, if that is not wanted. ``schema`` is a mapping of
    names to types, or a schema of pyarrow: it says what objects are."""
    pyarrow = _pyarrow()
    import pandas

    from ._objects import array_of

    kinds = schema if isinstance(schema, (dict, type(None))) else dict(zip(schema.names, schema.types, strict=True))

    def array(values: Any, name: str) -> Any:
        if values.dtype == object:
            return array_of(values.to_numpy(), name, (kinds or {}).get(name))
        if isinstance(values.dtype, pandas.CategoricalDtype) and values.dtype.categories.dtype == object:
            array_of(values.dtype.categories.to_numpy(), name)
        return pyarrow.array(values, from_pandas=True)

    if isinstance(value, pandas.Series) and index:
        value = value.to_frame("" if value.name is None else value.name)
    if not isinstance(value, pandas.DataFrame):
        return array(value, "" if value.name is None else str(value.name))
    columns = [(value.iloc[:, place], str(name)) for place, name in enumerate(value.columns)]
    for level in range(value.index.nlevels) if index else ():
        values = value.index.get_level_values(level)
        is_name = values.name is not None and values.name not in value.columns
        columns.append((values, str(values.name) if is_name else f"__index_level_{level}__"))
    return pyarrow.table([array(*column) for column in columns], [name for _, name in columns])


def _is_arrow(value: Any) -> bool:
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def _from_others(value: Any, field: str | None) -> Any:
    """What has Arrow's interface for a dataset, a scanner, record batches in a list or iterator, or a lazy frame. All
    others stay as they are. TypeError for polars' Object, whose Arrow form has addresses instead of values."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(value, (polars.Series, polars.DataFrame, polars.LazyFrame)):
        schema = {value.name: value.dtype} if isinstance(value, polars.Series) else value.collect_schema()
        for name, dtype in schema.items():
            if dtype == polars.Object and field in (None, name):
                raise TypeError(
                    f"column {name!r}: an Object of polars has no bytes but the addresses of its values: "
                    f"cast it, as by pl.col({name!r}).map_elements(str, return_dtype=pl.String), or for UUIDs by "
                    "map_elements(lambda value: value.bytes, return_dtype=pl.Binary)"
                )
        if field in schema and not isinstance(value, polars.Series):
            value = value.select(field)
        if not isinstance(value, polars.LazyFrame):
            return value
        # In older polars there are no batches, or none with Arrow's interface.
        is_batched = hasattr(value, "collect_batches") and _is_arrow(polars.LazyFrame().collect_batches())
        return value.collect_batches() if is_batched else value.collect()
    if _is_arrow(value):
        return value
    if hasattr(value, "scanner") and hasattr(value, "schema"):
        value = value.scanner(columns=None if field is None else [field])
    if hasattr(value, "to_reader"):
        return value.to_reader()
    return _reader(value) if isinstance(value, (list, tuple, Iterator)) else value


def _reader(value: Any) -> Any:
    """A reader of record batches or tables of one schema; the value itself if the first in it is none."""
    values = iter(value)
    first = next(values, None)
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is None or not isinstance(first, (pyarrow.RecordBatch, pyarrow.Table)):
        return value
    wanted = first.schema

    def batches() -> Iterator[Any]:
        for place, batch in enumerate(chain([first], values)):
            if not isinstance(batch, (pyarrow.RecordBatch, pyarrow.Table)):
                raise TypeError(f"batch {place}: expected a record batch of pyarrow, found {type(batch).__name__}")
            # A reader believes that all batches have its types.
            if not batch.schema.equals(wanted):
                raise ValueError(f"batch {place} has other columns than the first: {batch.schema}; expected {wanted}")
            yield from batch.to_batches() if isinstance(batch, pyarrow.Table) else [batch]

    return pyarrow.RecordBatchReader.from_batches(wanted, batches())
