# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tables: their schema followed, two of them compared, and one digest of all rows in any order."""

from __future__ import annotations

import os
import pathlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import hmac
from ._convert import _from_others, _from_pandas, _index, _pyarrow
from ._hashloom import Differ, many, sorted_digests
from ._hashloom import column as _column

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from ._hashloom import _Columns, _Schema

    _Table = _Columns | str | os.PathLike[str]

# Kinds that a number is a reading of only with a unit.
_TIMES = {"date", "time", "timestamp", "instant", "duration", "interval"}

# Kinds of values, and how the names of Arrow's types end.
_NAMES = {
    "text": ("string", "string_view"),
    "binary": ("binary", "binary_view"),
    "date": ("date32", "date64"),
    "time": ("time32", "time64"),
    "interval": ("interval",),
}


def _plain(kind: Any) -> Any:
    """The type of the values that an Arrow type stands for."""
    types = _pyarrow().types
    if getattr(kind, "extension_name", "") == "arrow.bool8":
        return _pyarrow().bool_()
    if hasattr(kind, "storage_type"):
        return _plain(kind.storage_type)
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return _plain(kind.value_type)
    return _no_view(kind)


def _no_view(kind: Any) -> Any:
    """Of a view, of which pyarrow has few functions, the type with offsets."""
    pa = _pyarrow()
    return {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}.get(kind, kind)


def _kind(kind: Any) -> Any:
    """What the values of an Arrow type are in a row: a name, or a tuple of such; None for a type of nulls alone."""
    types, plain = _pyarrow().types, _plain(kind)
    if types.is_null(plain):
        return None
    if types.is_struct(plain):
        return ("struct", *((field.name, _kind(field.type)) for field in plain))
    if types.is_map(plain):
        return ("map", _kind(plain.key_type), _kind(plain.item_type))
    if types.is_nested(plain) and hasattr(plain, "value_type"):
        return ("list", _kind(plain.value_type))
    if types.is_timestamp(plain):
        return "timestamp" if plain.tz is None else "instant"
    if types.is_integer(plain) or types.is_decimal(plain):
        return "number"
    name = str(plain).partition("[")[0]
    return next((kind for kind, ends in _NAMES.items() if name.endswith(ends)), name)


def _fits(one: Any, other: Any) -> bool:
    """Whether equal values of two kinds have equal bytes."""
    if one is None or other is None or isinstance(one, str) or isinstance(other, str):
        return one is None or other is None or one == other
    return len(one) == len(other) and all(map(_fits, one, other))


def _leaves(kind: Any) -> set[Any]:
    """The kinds of the values in nested ones."""
    if not isinstance(kind, tuple):
        return {kind}
    return set().union(*(_leaves(part[1] if kind[0] == "struct" else part) for part in kind[1:]))


def _target(own: Any, wanted: Any, path: str) -> Any:
    """The type that values are cast to, in order that their digests are those of the wanted type."""
    pyarrow = _pyarrow()
    one, other = _kind(own), _kind(wanted)
    if _fits(one, other):
        return own
    if isinstance(one, tuple) and isinstance(other, tuple) and one[0] == other[0] == "struct":
        own, wanted = _plain(own), _plain(wanted)
        if sorted(field.name for field in own) != sorted(field.name for field in wanted):
            raise ValueError(f"column {path!r}: it has other fields than the schema: {own}; expected {wanted}")
        fields = [(own.field(field.name), field) for field in wanted]
        return pyarrow.struct([(to.name, _target(of.type, to.type, f"{path}.{to.name}")) for of, to in fields])
    leaves, others = _leaves(one), _leaves(other)
    if ("instant" in leaves) != ("instant" in others):
        raise ValueError(f"column {path!r}: {own} is no {wanted}: only one of them says the zone; convert it yourself")
    if leaves.isdisjoint(_TIMES) != others.isdisjoint(_TIMES) and "text" not in leaves | others:
        raise ValueError(f"column {path!r}: {own} is no {wanted}: only one of them says the unit; convert it yourself")
    return _plain(wanted)


def _cast(array: Any, to: Any, path: str) -> Any:
    """An array of another type, which has the same values: ValueError if one is lost."""
    pyarrow = _pyarrow()
    if array.type == to:
        return array
    own = _plain(array.type)
    try:
        plain = array.cast(own)
        if isinstance(_kind(own), tuple) and pyarrow.types.is_struct(to):
            fields = [_cast(plain.field(field.name), field.type, f"{path}.{field.name}") for field in to]
            return pyarrow.StructArray.from_arrays(fields, fields=list(to), mask=plain.is_null())
        result = plain.cast(to)
        back = result.cast(own)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError, pyarrow.ArrowTypeError) as error:
        raise ValueError(f"column {path!r}: not all values of {own} are of {to}: {error}") from error
    digests = [_column("md5", pyarrow.record_batch([one], [""])) for one in (plain, back)]
    if not digests[0].equals(digests[1]):
        place = next(i for i, (one, other) in enumerate(zip(*digests, strict=True)) if one != other)
        one, other = plain[place].as_py(), result[place].as_py()
        raise ValueError(f"column {path!r}: {one!r} of {own} becomes {other!r} as {to}: cast it yourself")
    return result


def _schema_of(schema: _Schema) -> Any:
    """The schema of a table, or the types that a mapping names."""
    pyarrow, value = _pyarrow(), schema.collect_schema() if hasattr(schema, "collect_schema") else schema
    if isinstance(value, Mapping) and not hasattr(value, "__arrow_c_schema__"):
        kinds = {name: pyarrow.type_for_alias(kind) if isinstance(kind, str) else kind for name, kind in value.items()}
        for name, kind in kinds.items():
            if not isinstance(kind, pyarrow.DataType):
                raise TypeError(f"schema: {name!r}: expected a type of pyarrow, found {type(kind).__name__}")
        return kinds
    for one in value, getattr(value, "schema", None):
        if isinstance(one, pyarrow.Schema):
            return one
    return pyarrow.schema(value) if hasattr(value, "__arrow_c_schema__") else _Side(value, None, "schema: ").schema


def followed(table: Any, schema: _Schema) -> Any:
    """A reader of a table (anything with Arrow's interface) whose columns have the types and order of a schema."""
    pyarrow = _pyarrow()
    wanted = _schema_of(schema)
    if hasattr(table, "__arrow_c_array__") and not isinstance(table, pyarrow.RecordBatch):
        table = pyarrow.record_batch(table)
    try:
        reader = pyarrow.RecordBatchReader.from_stream(table)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
        raise TypeError("schema takes one table, frame or stream of record batches") from error
    own = reader.schema
    _unique(own.names, "the table")
    is_whole = isinstance(wanted, pyarrow.Schema)
    if is_whole:
        _unique(wanted.names, "the schema")
        _same_names(own.names, wanted.names, "the table", "the schema")
        wanted = {field.name: field.type for field in wanted}
    elif missing := [name for name in wanted if name not in own.names]:
        raise ValueError(f"schema: no column {missing[0]!r}: there are {own.names}")
    kinds = wanted if is_whole else {field.name: wanted.get(field.name, field.type) for field in own}
    fields = []
    for name, kind in kinds.items():
        field = own.field(name)
        to = _target(field.type, kind, name)
        fields.append(field if to == field.type else pyarrow.field(name, to))
    result = pyarrow.schema(fields)

    def batches() -> Iterator[Any]:
        for batch in reader:
            columns = [_cast(batch.column(field.name), field.type, field.name) for field in result]
            yield pyarrow.RecordBatch.from_arrays(columns, schema=result)

    return pyarrow.RecordBatchReader.from_batches(result, batches())


def _unique(names: list[str], which: str) -> None:
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"{which} has {names.count(repeated[0])} columns of the name {repeated[0]!r}: expected 1")


def _same_names(names: list[str], others: list[str], which: str, other: str) -> None:
    parts = [f"only {name} has {[one for one in found if one not in beside]}"
             for name, found, beside in ((which, names, others), (other, others, names)) if not {*found} <= {*beside}]
    if parts:
        raise ValueError(f"other columns: {', '.join(parts)}: select the same in both")


def _dataset(path: str | os.PathLike[str]) -> Any:
    """Files of Parquet, or of Arrow by the end of their name."""
    import pyarrow.dataset

    is_ipc = pathlib.PurePath(path).suffix in (".arrow", ".feather", ".ipc")
    return pyarrow.dataset.dataset(os.fspath(path), format="ipc" if is_ipc else "parquet")


def _taken(batch: Any, places: list[int]) -> list[Any]:
    """These rows of a batch."""
    pyarrow = _pyarrow()
    try:
        return [batch.take(pyarrow.array(places, pyarrow.int64()))]
    except pyarrow.ArrowNotImplementedError:  # of views in nested types
        return [batch.slice(place, 1) for place in places]


class _Side:
    """A table that is read, and whose key columns are read again or were kept."""

    def __init__(self, table: Any, schema: _Schema | None, of: str = "") -> None:
        pyarrow = _pyarrow()
        value: Any = _dataset(table) if isinstance(table, (str, os.PathLike)) else table
        if _index(value) is not None:
            value = _from_pandas(value, schema=None if schema is None else _schema_of(schema))
        elif hasattr(value, "get_columns"):  # a frame of polars
            value = pyarrow.table(_from_others(value, None))
        elif isinstance(value, pyarrow.RecordBatch):
            value = pyarrow.table(value)
        self.is_kept = not isinstance(value, pyarrow.Table) and not hasattr(value, "scanner")
        self._value, self._schema, self._of = value, schema, of
        self._reader = self._open()
        self.schema = self._reader.schema

    def _open(self, columns: list[str] | None = None) -> Any:
        pyarrow = _pyarrow()
        value = self._value
        if hasattr(value, "scanner"):
            value = value.scanner(columns=columns if self._schema is None else None).to_reader()
        value = _from_others(value, None)
        if not hasattr(value, "__arrow_c_stream__"):
            raise TypeError(f"{self._of}expected a table, frame, reader or path, found {type(value).__name__}")
        if self._schema is not None:
            return followed(value, self._schema)
        try:
            return pyarrow.RecordBatchReader.from_stream(value)
        except pyarrow.ArrowInvalid as error:
            raise TypeError(f"{self._of}expected a table, frame, reader or path, found {error}") from error

    def read(self, names: list[str], keys: list[str]) -> Iterator[Any]:
        # A copy: a column of another library's batch keeps all columns in memory.
        copy, kept = _pyarrow().BufferOutputStream(), _pyarrow().schema([self.schema.field(name) for name in keys])
        with _pyarrow().ipc.new_stream(copy, kept) as writer:
            for batch in self._reader:
                if self.is_kept:
                    writer.write_batch(batch.select(keys))
                yield batch.select(names)
        self._kept = copy.getvalue()

    def rows(self, keys: list[str], places: bytes, digests: bytes, salt: bytes) -> Any:
        """The keys of the rows at these places, which have these digests."""
        pyarrow = _pyarrow()
        wanted, parts, first, start = memoryview(places).cast("Q"), [], 0, 0
        fields = [self.schema.field(name) for name in keys]
        schema = pyarrow.schema([field.with_type(_no_view(field.type)) for field in fields])
        if len(wanted):
            for batch in pyarrow.ipc.open_stream(self._kept) if self.is_kept else self._open(keys):
                end = bisect_left(wanted, start + len(batch), first)
                if end > first:
                    columns = [batch.column(field.name) for field in schema]
                    columns = [one.cast(field.type) if one.type != field.type else one
                               for one, field in zip(columns, schema, strict=True)]  # fmt: skip
                    batch = pyarrow.RecordBatch.from_arrays(columns, schema=schema)
                    parts += _taken(batch, [place - start for place in wanted[first:end]])
                first, start = end, start + len(batch)
        found = pyarrow.Table.from_batches(parts, schema)
        if b"".join(digest[:16] for digest in _digests(found, salt)) != digests:
            raise RuntimeError("a table changed while it was compared: its rows are others than before")
        return found


def _digests(table: Any, salt: bytes) -> Any:
    return _column("sha256", table, output="binary", salt=salt)


@dataclass(frozen=True, repr=False, eq=False)
class TableDiff:
    """What differs between two tables. It is true if anything does."""

    added: Any
    """The keys of rows of the second table that the first has not: a pyarrow.Table. Without a key, the whole rows."""

    removed: Any
    """The keys of rows of the first table that the second has not."""

    changed: Any
    """The keys of rows that have other values in the other columns."""

    unchanged: int
    """The number of rows that both tables have."""

    repeated: int
    """The number of keys that a table has more than once: the rows of such a key are compared in any order."""

    @property
    def equal(self) -> bool:
        """Whether both tables have the same rows, each as many times, in any order."""
        return not self

    def __bool__(self) -> bool:
        return len(self.added) + len(self.removed) + len(self.changed) > 0

    def __repr__(self) -> str:
        counts = f"{len(self.added)} added, {len(self.removed)} removed, {len(self.changed)} changed"
        return f"<pyhashloom.TableDiff: {counts}, {self.unchanged} unchanged>"


def diff(
    first: _Table, second: _Table, *, key: str | Sequence[str] | None = None, schema: _Schema | None = None
) -> TableDiff:
    """Compares two tables: which rows the second has more, has not, or has with other values.

    A table is a path of Parquet or Arrow (.arrow, .feather), also of a folder; a dataset, table, reader or list of
    record batches of pyarrow; a frame of pandas (without its index) or polars, also a lazy one; or anything else with
    Arrow's interface. ``key`` names the column, or columns, that tell one row from another. Without ``key`` the rows of
    a table are a set in which a row may be several times, and nothing is changed. Columns are matched by their names,
    in any order. ``schema`` is that of pyhashloom.column, for both tables.

    Values are equal if they are so in vectors/rows: a null is equal to a null, NaN to NaN, 1 to 1.00 of a decimal, and
    not to 1.0 of a float. The rows of a key that is there several times are compared as a set.

    Both tables are read as streams. Memory: 40 bytes a row of both tables; the keys that are in the result; and of what
    cannot be read twice (readers, lazy frames, relations of DuckDB), all key columns. pyarrow is needed.

    ValueError: tables of other columns, a column of types whose equal values have other bytes (cast it, or give
    ``schema``; the type of a column without values makes no difference), no such key. RuntimeError: a table changed
    meanwhile.

    >>> import pyarrow
    >>> old = pyarrow.table({"id": [1, 2, 3], "name": ["a", "b", "c"]})
    >>> new = pyarrow.table({"id": [4, 3, 2], "name": ["d", "c", "B"]})
    >>> found = diff(old, new, key="id")
    >>> found, found.changed.to_pylist()
    (<pyhashloom.TableDiff: 1 added, 1 removed, 1 changed, 1 unchanged>, [{'id': 2}])
    """
    if first is second and hasattr(first, "__next__"):
        raise ValueError("both tables are the same reader, which can be read once: give two")
    sides = [_Side(first, schema, "the first table: "), _Side(second, schema, "the second table: ")]
    schemas = [side.schema for side in sides]
    names = schemas[0].names
    for one, which in zip(schemas, ("the first table", "the second table"), strict=True):
        if not one.names:
            raise ValueError(f"{which} has no columns")
        _unique(one.names, which)
    _same_names(names, schemas[1].names, "the first table", "the second")
    kinds = {name: [each.field(name).type for each in schemas] for name in names}
    # A column without values equals any other without values, whatever their types are.
    odd = {name: [False, False] for name in names if not _fits(*map(_kind, kinds[name]))}
    keys = names if key is None else [key] if isinstance(key, str) or not isinstance(key, Iterable) else list(key)
    if missing := [name for name in keys if name not in names]:
        raise ValueError(f"key: no column {missing[0]!r}: there are {names}")
    if not keys or len({*keys}) < len(keys):
        raise ValueError(f"key: expected one column or several, each once, found {keys}")
    # Nobody who makes the tables can make rows of one digest: the salt is not known before.
    salt, differ = os.urandom(32), Differ()
    for number, side in enumerate(sides):
        for batch in side.read(names, keys):
            for name, has_values in odd.items():
                has_values[number] |= bool(batch.column(name).is_valid().true_count)
                if all(has_values):
                    one, other = kinds[name]
                    raise ValueError(
                        f"column {name!r} is {one} in the first table and {other} in the second, whose values have "
                        f"other bytes: cast one, or give schema={{{name!r}: a type}} or the schema of one of them"
                    )
            of_keys = _digests(batch.select(keys), salt)
            differ.add(bool(number), of_keys, of_keys if keys == names else _digests(batch, salt))
    removed, added, changed, unchanged, repeated = differ.compare()
    return TableDiff(
        sides[1].rows(keys, *added, salt), sides[0].rows(keys, *removed, salt), sides[1].rows(keys, *changed, salt),
        unchanged, repeated,
    )  # fmt: skip


def table_digest(
    name: str, table: _Table, *, key: Buffer | None = None, schema: _Schema | None = None, threads: int = 0
) -> bytes:
    """The digest of all rows of a table, in any order: that of vectors/rows. Equal tables have equal digests, whichever
    library, files or partitions hold them; a row that is there twice counts twice.

    ``table`` is that of diff; ``name``, ``key``, ``schema`` and ``threads`` are those of pyhashloom.column. The order
    of columns counts, and their names do not. Memory: about 100 bytes a row.

    >>> import pyarrow
    >>> one, other = pyarrow.table({"x": [1, 2]}), pyarrow.table({"x": [2, 1]})
    >>> table_digest("sha256", one) == table_digest("sha256", other)
    True
    """
    value: Any = _Side(table, schema)._reader
    message = sorted_digests(_column(name, value, output="binary", key=key, threads=threads))
    return many(name, [message])[0] if key is None else hmac.digest(key, message, name)
