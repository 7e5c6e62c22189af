# SPDX-License-Identifier: MIT OR Apache-2.0
"""Functions for DuckDB's SQL.

>>> import duckdb
>>> import pyhashloom.duckdb
>>> connection = duckdb.connect()
>>> pyhashloom.duckdb.register(connection)
>>> connection.sql("select hl_sha1('abc')").fetchall()[0][0]
'a9993e364706816aba3e25717850c26c9cd0d89d'
"""

import contextlib
from typing import Any

import duckdb
import pyarrow

from . import algorithms_guaranteed, column

__all__ = ["register"]


def register(
    connection: duckdb.DuckDBPyConnection, prefix: str = "hl_", *, salt: bytes | None = None, key: bytes | None = None
) -> None:
    """Adds a function of the name of each algorithm to a connection, as ``hl_sha256``, whose result is hexadecimal
    digits. ``hl_sha256(value)`` is the digest of a text's or BLOB's bytes, or of an integer, and NULL for NULL;
    ``hl_sha256(a, b)`` and, of a struct or the name of a table, ``hl_sha256(t)`` that of a row: all as
    pyhashloom.column. With ``salt`` or ``key`` they are those of pyhashloom.column; another prefix keeps such functions
    apart. Functions that were added before are replaced.
    """

    def function(name: str) -> Any:
        def of_arrays(*values: Any) -> Any:
            if len(values) == 1 and pyarrow.types.is_null(values[0].type):
                return pyarrow.nulls(len(values[0]), pyarrow.string())
            digests = pyarrow.chunked_array(column(name, *values, salt=salt, key=key, threads=1))
            return digests.combine_chunks() if digests.num_chunks != 1 else digests.chunk(0)

        return of_arrays

    column("sha256", pyarrow.array([], pyarrow.string()), salt=salt, key=key)  # errors are raised here, not by a query
    create: Any = connection.create_function  # its types do not know the names of types and kinds
    for name in sorted(algorithms_guaranteed):
        with contextlib.suppress(duckdb.InvalidInputException):
            connection.remove_function(prefix + name)
        # Without types of parameters, DuckDB takes any number of any type.
        create(prefix + name, function(name), None, "VARCHAR", type="arrow", null_handling="special")
