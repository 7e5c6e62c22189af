#!/usr/bin/env python3
# rows.py: digests of the rows of a table, by the Python package, polars, pandas and hashlib.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Nanoseconds of CPU time a row of each way, on one thread.

    bench/rows.py [--rows N] [--rounds N]

It needs pyhashloom, pyarrow, polars and pandas. Loops over hashlib take a tenth of the rows.
"""

import os

os.environ["POLARS_MAX_THREADS"] = "1"  # polars reads it when it is imported

import argparse  # noqa: E402
import hashlib  # noqa: E402
import time  # noqa: E402

import pandas as pd  # noqa: E402
import polars as pl  # noqa: E402
import pyarrow as pa  # noqa: E402

import pyhashloom  # noqa: E402


def table_of(nrows, ncolumns):
    columns = [
        pa.array(range(nrows)),
        pa.array([f"user{i * 7919 % nrows}@example.com" for i in range(nrows)]),
        pa.array([("Amsterdam", "Rome", "Paris")[i % 3] for i in range(nrows)]),
        pa.array([i * 0x9E3779B97F4A7C15 % (1 << 40) for i in range(nrows)]),
    ]
    return pa.table({f"c{i}": columns[i % 4] for i in range(ncolumns)})


def main():
    parser = argparse.ArgumentParser(description="Nanoseconds a row of digests of rows.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    for ncolumns in 4, 20:
        table = table_of(options.rows, ncolumns)
        polars_frame, pandas_frame = pl.from_arrow(table), table.to_pandas()
        tenth = [tuple(row.values()) for row in table.slice(0, options.rows // 10).to_pylist()]
        ways = {
            "hashloom, SHA-256": lambda: pyhashloom.column("sha256", table, output="binary", threads=1),
            "hashloom, SHA-256, hexadecimal": lambda: pyhashloom.column("sha256", table, threads=1),
            "hashloom, SHA-1": lambda: pyhashloom.column("sha1", table, output="binary", threads=1),
            "polars hash_rows, 64 bits": polars_frame.hash_rows,
            "pandas hash_pandas_object, 64 bits": lambda: pd.util.hash_pandas_object(pandas_frame, index=False),
            "hashlib.sha256 of repr(row)": lambda: [hashlib.sha256(repr(row).encode()).digest() for row in tenth],
            "hashlib.md5 of '-'.join(map(str, row))": lambda: [
                hashlib.md5("-".join(map(str, row)).encode()).digest() for row in tenth],
        }
        print(f"\n| {options.rows:,} rows of {ncolumns} columns | ns of CPU a row |\n|---|---:|")
        for name, way in ways.items():
            nrows = options.rows // 10 if name.startswith("hashlib") else options.rows
            times = []
            for _ in range(options.rounds):
                start = time.process_time()
                way()
                times.append(time.process_time() - start)
            print(f"| {name} | {min(times) * 1e9 / nrows:.0f} |", flush=True)


if __name__ == "__main__":
    main()
