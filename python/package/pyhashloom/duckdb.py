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
    """Adds functions to a connection: ``hl_sha256(text)`` and, for BLOB, ``hl_sha256_blob(bytes)``, and the same of
    each algorithm. The result is hexadecimal digits, and NULL for NULL. With ``salt`` or ``key`` they are those of
    pyhashloom.column; another prefix keeps such functions apart. Functions that were added before are replaced.
    """

    def function(name: str) -> Any:
        def of_array(values: Any) -> Any:
            digests = pyarrow.chunked_array(column(name, values, salt=salt, key=key, threads=1))
            return digests.combine_chunks() if digests.num_chunks != 1 else digests.chunk(0)

        return of_array

    column("sha256", pyarrow.array([], pyarrow.string()), salt=salt, key=key)  # errors are raised here, not by a query
    create: Any = connection.create_function  # its types do not know the names of types and kinds
    for name in sorted(algorithms_guaranteed):
        for kind, ending in ("VARCHAR", ""), ("BLOB", "_blob"):
            with contextlib.suppress(duckdb.InvalidInputException):
                connection.remove_function(prefix + name + ending)
            create(prefix + name + ending, function(name), [kind], "VARCHAR", type="arrow")
