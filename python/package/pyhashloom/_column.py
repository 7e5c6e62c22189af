# SPDX-License-Identifier: MIT OR Apache-2.0
"""Digests of columns."""

from __future__ import annotations

from ._hashloom import Column, ColumnReader
from ._hashloom import column as _column

# Type checkers take this name for true. Other modules need not wait for the import of typing.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Generic, Literal, TypedDict, TypeVar, overload

    from typing_extensions import Buffer, Unpack

    from ._hashloom import _Columns, _Schema

    _Result = TypeVar("_Result", covariant=True)

    class _Namespace(Generic[_Result]): ...

    class _Options(TypedDict, total=False):
        output: Literal["hex", "binary"]
        salt: Buffer | None
        key: Buffer | None
        length: int | None
        schema: _Schema | None

else:

    class _Namespace:
        def __class_getitem__(cls, result):
            return cls


if TYPE_CHECKING:

    @overload
    def column(
        name: str,
        /,
        *columns: _Columns,
        output: Literal["hex", "binary"] = "hex",
        salt: Buffer | None = None,
        key: Buffer | None = None,
        length: int | None = None,
        threads: int = 0,
        index: bool = False,
        stream: Literal[False] = False,
        field: str | None = None,
        schema: _Schema | None = None,
    ) -> Column: ...
    @overload
    def column(
        name: str,
        /,
        *columns: _Columns,
        output: Literal["hex", "binary"] = "hex",
        salt: Buffer | None = None,
        key: Buffer | None = None,
        length: int | None = None,
        threads: int = 0,
        index: bool = False,
        stream: Literal[True],
        field: str | None = None,
        schema: _Schema | None = None,
    ) -> ColumnReader: ...


def column(
    name: str,
    /,
    *columns: _Columns,
    output: Literal["hex", "binary"] = "hex",
    salt: Buffer | None = None,
    key: Buffer | None = None,
    length: int | None = None,
    threads: int = 0,
    index: bool = False,
    stream: bool = False,
    field: str | None = None,
    schema: _Schema | None = None,
) -> Any:
    """Returns a column with the digest of each value of a column, or of each row of several columns or of a table.

    Columns are whatever has Arrow's PyCapsule interface (pyarrow, polars, DuckDB and others), those of pandas, datasets
    and scanners of pyarrow, lists and iterators of its record batches, and lazy frames of polars. A pandas index is
    hashed too if ``index`` says so, as the last column; the result has it in any case, for to_pandas(). The bytes of a
    value are those of the text or bytes, or of the integer as in a row; the bytes of a row are those of vectors/rows,
    whatever its types.

    ``output`` is "hex" for texts of hexadecimal digits or "binary". ``salt`` is put before each value; with ``key`` the
    digests are tags of HMAC. ``length``: bytes of a digest of SHAKE. ``threads``: the most threads; 0 means one for
    each CPU. ``field`` names the column of a table, frame or reader whose values are hashed, and not the rows.
    ``stream`` makes a ColumnReader: digests of one of the producer's arrays at a time, as they are asked for.
    ``schema`` casts the columns of a table first: a mapping of names to types of pyarrow or their names; or a schema,
    or a table that has it, whose order of columns is taken too. A cast that loses a value is an error.

    TypeError: no column, a type that has no digest, Python objects of pandas that Arrow would change. ValueError:
    columns of different lengths or pandas indexes, a damaged array, a name or output that there is not, a salt and a
    key, an empty key, a cast that loses a value. UserWarning: floats of pandas that are all whole, as integers are
    where one is missing.

    >>> import pyarrow
    >>> column("sha1", pyarrow.array(["abc", None])).to_pylist()
    ['a9993e364706816aba3e25717850c26c9cd0d89d', None]
    """
    from ._convert import arguments

    values, labels = arguments(columns, index, field, schema)
    try:
        return _column(name, *values, output=output, salt=salt, key=key, length=length, threads=threads, stream=stream,
                       field=field, index=labels)
    except ValueError as error:
        # pyarrow adds the traceback of a cast.
        text, detail, _ = str(error).partition(". Detail: Python exception: Traceback")
        if schema is None or not detail:
            raise
        raise ValueError(text.removeprefix("Invalid: ")) from None


class Methods(_Namespace["_Result"]):
    """The digests that the namespaces of polars and pandas have: md5() and so on are short for digest("md5")."""

    __slots__ = ()

    def digest(self, name: str, **options: Unpack[_Options]) -> _Result:
        """Digests by the algorithm of this name, hash160 or sha256d; the parameters output, salt, key, length, and
        schema for frames, are those of pyhashloom.column."""

        def of(values: Any) -> Column:
            return column(name, values, **options)

        return self._digest(of, name, options.get("output", "hex"))

    def _digest(self, of: Callable[[Any], Column], name: str, output: str) -> _Result:
        """The result for what the namespace is of."""
        raise NotImplementedError

    def md5(self, **options: Unpack[_Options]) -> _Result:
        """MD5."""
        return self.digest("md5", **options)

    def sha1(self, **options: Unpack[_Options]) -> _Result:
        """SHA-1."""
        return self.digest("sha1", **options)

    def sha256(self, **options: Unpack[_Options]) -> _Result:
        """SHA-256."""
        return self.digest("sha256", **options)

    def sha512(self, **options: Unpack[_Options]) -> _Result:
        """SHA-512."""
        return self.digest("sha512", **options)

    def sha3_256(self, **options: Unpack[_Options]) -> _Result:
        """SHA3-256."""
        return self.digest("sha3_256", **options)

    def sha3_512(self, **options: Unpack[_Options]) -> _Result:
        """SHA3-512."""
        return self.digest("sha3_512", **options)
