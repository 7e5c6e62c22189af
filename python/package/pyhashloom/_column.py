# SPDX-License-Identifier: MIT OR Apache-2.0
"""Digests of columns."""

from __future__ import annotations

from ._hashloom import Column, ColumnReader
from ._hashloom import column as _column

# Type checkers take this name for true. Other modules need not wait for the import of typing.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Generic, Literal, TypeVar, overload

    from typing_extensions import Buffer

    from ._hashloom import _Columns

    _Result = TypeVar("_Result", covariant=True)

    class _Namespace(Generic[_Result]): ...
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
) -> Any:
    """Returns a column with the digest of each value of a column, or of each row of several columns or of a table.

    Columns are whatever has Arrow's PyCapsule interface (pyarrow, polars, DuckDB and others), those of pandas, datasets
    and scanners of pyarrow, lists and iterators of its record batches, and lazy frames of polars. A pandas index is
    hashed too if ``index`` says so, as the last column; the result has it in any case, for to_pandas(). The bytes of a
    value are those of the text or bytes, or of the integer as in a row; the bytes of a row are those of docs/rows.md,
    whatever its types.

    ``output`` is "hex" for texts of hexadecimal digits or "binary". ``salt`` is put before each value; with ``key`` the
    digests are tags of HMAC. ``length``: bytes of a digest of SHAKE. ``threads``: the most threads; 0 means one for
    each CPU. ``field`` names the column of a table, frame or reader whose values are hashed, and not the rows.
    ``stream`` makes a ColumnReader: digests of one of the producer's arrays at a time, as they are asked for.

    TypeError: no column, or a type that has no digest. ValueError: columns of different lengths or pandas indexes, a
    damaged array, a name or output that there is not, a salt and a key, an empty key.

    >>> import pyarrow
    >>> column("sha1", pyarrow.array(["abc", None])).to_pylist()
    ['a9993e364706816aba3e25717850c26c9cd0d89d', None]
    """
    from ._convert import arguments

    values, labels = arguments(columns, index, field)
    return _column(name, *values, output=output, salt=salt, key=key, length=length, threads=threads, stream=stream,
                   field=field, index=labels)


class Methods(_Namespace["_Result"]):
    """The digests that the namespaces of polars and pandas have: md5() and so on are short for digest("md5")."""

    __slots__ = ()

    def digest(
        self,
        name: str,
        *,
        output: Literal["hex", "binary"] = "hex",
        salt: bytes | None = None,
        key: bytes | None = None,
        length: int | None = None,
    ) -> _Result:
        """Digests by the algorithm of this name, hash160 or sha256d; the parameters are those of pyhashloom.column."""

        def of(values: Any) -> Column:
            return column(name, values, output=output, salt=salt, key=key, length=length)

        return self._digest(of, name, output)

    def _digest(self, of: Callable[[Any], Column], name: str, output: str) -> _Result:
        """The result for what the namespace is of."""
        raise NotImplementedError

    def md5(self) -> _Result:
        """MD5 in hexadecimal digits."""
        return self.digest("md5")

    def sha1(self) -> _Result:
        """SHA-1 in hexadecimal digits."""
        return self.digest("sha1")

    def sha256(self) -> _Result:
        """SHA-256 in hexadecimal digits."""
        return self.digest("sha256")

    def sha512(self) -> _Result:
        """SHA-512 in hexadecimal digits."""
        return self.digest("sha512")
