# SPDX-License-Identifier: MIT OR Apache-2.0
"""Digests of a Spark DataFrame's columns, computed by the executors.

::

    from pyhashloom_store.spark import with_digest
    users = with_digest(users, "email", into="email_sha256")  # as sha2(email, 256)

Every executor needs the packages hashloom and pyarrow.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType, IntegralType, StringType, StructField, StructType

from pyhashloom import column

__all__ = ["with_digest"]

# Types whose values have digests, others only in rows; a struct is a row.
_ALONE = (BinaryType, IntegralType, StringType, StructType)


def with_digest(
    frame: DataFrame,
    *columns: str,
    name: str = "sha256",
    into: str = "digest",
    output: Literal["hex", "binary"] = "hex",
    salt: bytes | None = None,
    key: bytes | None = None,
) -> DataFrame:
    """The frame with one more column, the digests of these columns by pyhashloom.column. With one column of strings or
    binary and without salt and key, they are those of Spark's own sha2 (sha1, md5). Several columns, or one of structs
    (``struct("price")``), make a digest of each row, of any types.

    The frame's rows go to Python and back as Arrow (mapInArrow), with all their columns: select what is needed first.
    ValueError if a column is missing or ``into`` exists, or name or key is wrong; TypeError for a type without digest.
    """
    missing = [wanted for wanted in columns if wanted not in frame.columns]
    if missing or not columns:
        raise ValueError(f"no column {missing[0]!r}: there are {frame.columns}" if columns else "expected a column")
    if into in frame.columns:
        raise ValueError(f"the column {into!r} exists already: choose another name with into=")
    # Errors are raised here, and not in the job.
    column(name, pa.array([], pa.string()), output=output, salt=salt, key=key)
    if len(columns) == 1 and not isinstance(only := frame.schema[columns[0]].dataType, _ALONE):
        raise TypeError(
            f"the column {columns[0]!r} is of {only.simpleString()}, which has no digest alone: cast it, or give "
            f"struct({columns[0]})"
        )
    if variants := [wanted for wanted in columns if frame.schema[wanted].dataType.typeName() == "variant"]:
        raise TypeError(f"the column {variants[0]!r} is of variant, whose equal values have other bytes: cast it")
    kind = StringType() if output == "hex" else BinaryType()
    schema = StructType([*frame.schema.fields, StructField(into, kind, True)])

    def of_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            values = [batch.column(batch.schema.get_field_index(wanted)) for wanted in columns]
            # Spark has a task for each core.
            digests = pa.chunked_array(column(name, *values, output=output, salt=salt, key=key, threads=1))
            whole = digests.combine_chunks() if digests.num_chunks != 1 else digests.chunk(0)
            whole = whole.cast(pa.string() if output == "hex" else pa.binary())
            yield pa.RecordBatch.from_arrays([*batch.columns, whole], names=[*batch.schema.names, into])

    return frame.mapInArrow(of_batches, schema)
