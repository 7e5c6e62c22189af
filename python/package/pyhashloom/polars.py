# SPDX-License-Identifier: MIT OR Apache-2.0
"""Expressions for polars: ``import pyhashloom.polars`` adds ``hashloom`` to every expression.

>>> import polars as pl
>>> import pyhashloom.polars
>>> frame = pl.LazyFrame({"email": ["a@example.com", None]})
>>> frame.select(pl.col("email").hashloom.sha256()).collect()["email"].str.head(16).to_list()
['08168cd80dfd534a', None]

Columns of any types make one digest a row as a struct: ``pl.struct("name", "born").hashloom.sha256()``.
"""

from typing import Any, Literal

import polars as pl

from . import column

__all__ = ["Digests"]


@pl.api.register_expr_namespace("hashloom")
class Digests:
    """The digests of an expression's values, by pyhashloom.column: its types, nulls, salt and key.

    They are elementwise, so lazy and streaming queries work on them in parts.
    """

    def __init__(self, expression: pl.Expr) -> None:
        self._expression = expression

    def digest(
        self,
        name: str,
        *,
        output: Literal["hex", "binary"] = "hex",
        salt: bytes | None = None,
        key: bytes | None = None,
        length: int | None = None,
    ) -> pl.Expr:
        """Digests by the algorithm of this name, hash160 or sha256d. ``length``: their bytes, of SHAKE.

        >>> pl.select(pl.lit("abc").hashloom.digest("sha1", output="binary")).item().hex()
        'a9993e364706816aba3e25717850c26c9cd0d89d'
        """

        def of_series(series: pl.Series) -> pl.Series:
            return pl.Series(column(name, series, output=output, salt=salt, key=key, length=length))

        kind: Any = pl.String if output == "hex" else pl.Binary
        return self._expression.map_batches(of_series, return_dtype=kind, is_elementwise=True)

    def md5(self) -> pl.Expr:
        """MD5 in hexadecimal digits.

        >>> pl.select(pl.lit("abc").hashloom.md5()).item()
        '900150983cd24fb0d6963f7d28e17f72'
        """
        return self.digest("md5")

    def sha1(self) -> pl.Expr:
        """SHA-1 in hexadecimal digits.

        >>> pl.select(pl.lit("abc").hashloom.sha1()).item()
        'a9993e364706816aba3e25717850c26c9cd0d89d'
        """
        return self.digest("sha1")

    def sha256(self) -> pl.Expr:
        """SHA-256 in hexadecimal digits.

        >>> pl.select(pl.lit("abc").hashloom.sha256()).item()[:16]
        'ba7816bf8f01cfea'
        """
        return self.digest("sha256")

    def sha512(self) -> pl.Expr:
        """SHA-512 in hexadecimal digits.

        >>> pl.select(pl.lit("abc").hashloom.sha512()).item()[:16]
        'ddaf35a193617aba'
        """
        return self.digest("sha512")
