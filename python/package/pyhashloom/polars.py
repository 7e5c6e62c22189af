# SPDX-License-Identifier: MIT OR Apache-2.0
"""Digests in polars: ``import pyhashloom.polars`` adds ``hashloom`` to expressions, series, frames and lazy frames.

>>> import polars as pl
>>> import pyhashloom.polars
>>> frame = pl.DataFrame({"email": ["a@example.com", None]})
>>> frame.lazy().select(pl.col("email").hashloom.sha256().str.head(16)).collect()["email"].to_list()
['08168cd80dfd534a', None]
>>> frame["email"].hashloom.digest("sha1", output="binary")[0].hex()[:16]
'11a586cd1f7d573b'

Columns of any types make one digest a row (vectors/rows), as a struct or as a frame:
``pl.struct("name", "born").hashloom.sha256()``, ``frame.hashloom.sha256()``. The methods are digest(name), md5(),
sha1(), sha256(), sha512(), sha3_256() and sha3_512(); the parameters are those of pyhashloom.column.
"""

from collections.abc import Callable
from typing import Any

import polars as pl

from ._column import Methods
from ._hashloom import Column

__all__ = ["Digests", "FrameDigests", "LazyFrameDigests", "SeriesDigests"]


@pl.api.register_expr_namespace("hashloom")
class Digests(Methods[pl.Expr]):
    """The digests of an expression's values. They are elementwise, so lazy and streaming queries work in parts.

    >>> pl.select(pl.lit("abc").hashloom.digest("sha1", output="binary")).item().hex()
    'a9993e364706816aba3e25717850c26c9cd0d89d'
    """

    def __init__(self, expression: pl.Expr) -> None:
        self._expression = expression

    def _digest(self, of: Callable[[Any], Column], name: str, output: str) -> pl.Expr:
        of(pl.Series([], dtype=pl.String))  # a wrong name or key is an error here, and not of the query
        kind: Any = pl.String if output == "hex" else pl.Binary
        values = self._expression
        return values.map_batches(lambda series: pl.Series(of(series)), return_dtype=kind, is_elementwise=True)


@pl.api.register_series_namespace("hashloom")
class SeriesDigests(Methods[pl.Series]):
    """The digests of a series' values, in a series of the same name.

    >>> pl.Series("x", ["abc"]).hashloom.md5().to_list()
    ['900150983cd24fb0d6963f7d28e17f72']
    """

    def __init__(self, series: pl.Series) -> None:
        self._series = series

    def _digest(self, of: Callable[[Any], Column], name: str, output: str) -> pl.Series:
        return pl.Series(self._series.name, of(self._series))


@pl.api.register_dataframe_namespace("hashloom")
class FrameDigests(Methods[pl.Series]):
    """A digest for each row of a frame.

    >>> len(pl.DataFrame({"x": ["a", "b"], "y": [1, 2]}).hashloom.sha256().unique())
    2
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def _digest(self, of: Callable[[Any], Column], name: str, output: str) -> pl.Series:
        return pl.Series(of(self._frame)).alias(name)


@pl.api.register_lazyframe_namespace("hashloom")
class LazyFrameDigests(Methods[pl.LazyFrame]):
    """A digest for each row of a lazy frame: a lazy frame of one column, which has the name of the algorithm.

    >>> pl.LazyFrame({"x": [1, 2]}).hashloom.sha256().collect().equals(
    ...     pl.DataFrame({"x": [1, 2]}).hashloom.sha256().to_frame())
    True
    """

    def __init__(self, frame: pl.LazyFrame) -> None:
        self._frame = frame

    def _digest(self, of: Callable[[Any], Column], name: str, output: str) -> pl.LazyFrame:
        return self._frame.select(Digests(pl.struct(pl.all()))._digest(of, name, output).alias(name))
