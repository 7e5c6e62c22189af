#!/usr/bin/env python3
# columns.py: a column of e-mail addresses as SHA-256, by the Python package, hashlib, polars-hash and DuckDB.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pseudonyms for a column of e-mail addresses: rows a second of each way.

    bench/columns.py [--rows N] [--rounds N]      (make demo-python: 10 million rows)

It needs the packages pyhashloom, polars, polars-hash, duckdb, numpy and pyarrow. All ways run by turns on one CPU.
Their CPU time counts, and a ratio is the median of those of the rounds: a busy machine slows all. Each way's first and
last digests are compared with hashlib's. The loop over hashlib takes a tenth of the rows.
"""

import os

os.environ["POLARS_MAX_THREADS"] = "1"  # polars reads it when it is imported

import argparse  # noqa: E402
import hashlib  # noqa: E402
import hmac  # noqa: E402
import statistics  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402

import duckdb  # noqa: E402
import polars as pl  # noqa: E402
import polars_hash as plh  # noqa: E402
import pyarrow as pa  # noqa: E402

import pyhashloom  # noqa: E402
import pyhashloom.duckdb  # noqa: E402
import pyhashloom.polars  # noqa: E402, F401


def main() -> int:
    parser = argparse.ArgumentParser(description="Rows a second of SHA-256 of a column of e-mail addresses.")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

    emails = pl.select(
        email=pl.format("user{}@example.com", (pl.int_range(options.rows, dtype=pl.UInt64) * 7919))
    )["email"]
    frame = pl.DataFrame({"email": emails})
    array = emails.to_arrow()
    tenth = frame.head(max(options.rows // 10, 1000))["email"].to_list()
    connection = duckdb.connect()
    connection.register("emails", pa.table({"email": array}))
    connection.execute("set threads = 1")
    pyhashloom.duckdb.register(connection)

    def by_duckdb(function: str) -> "pa.Table":
        return pa.table(connection.sql(f"select {function}(email) as digest from emails"))

    ways = {
        "hashloom, binary": lambda: pyhashloom.column("sha256", array, output="binary", threads=1),
        "hashloom, hex": lambda: pyhashloom.column("sha256", array, threads=1),
        "hashloom, HMAC, hex": lambda: pyhashloom.column("sha256", array, key=b"k" * 32, threads=1),
        "hashloom in polars, hex": lambda: frame.select(pl.col("email").hashloom.sha256()),
        "hashloom in DuckDB, hex": lambda: by_duckdb("hl_sha256"),
        "polars-hash, hex": lambda: frame.select(plh.col("email").chash.sha2_256()),
        "DuckDB's sha256, hex": lambda: by_duckdb("sha256"),
        "hashlib loop, hex": lambda: [hashlib.sha256(email.encode()).hexdigest() for email in tenth],
    }

    def ends(result: object) -> list[str]:
        column = result.to_series() if isinstance(result, pl.DataFrame) else pl.Series(
            result.column(0) if isinstance(result, pa.Table) else result)
        return [value.hex() if isinstance(value, bytes) else value for value in (column[0], column[-1])]

    def want(name: str, values: list[str]) -> list[str]:
        if "HMAC" in name:
            return [hmac.digest(b"k" * 32, value.encode(), "sha256").hex() for value in values]
        return [hashlib.sha256(value.encode()).hexdigest() for value in values]

    rates: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, way in ways.items():
            values = tenth if "loop" in name else emails
            start = time.process_time()
            result = way()
            rates[name].append(len(values) / (time.process_time() - start))
            if ends(result) != want(name, [values[0], values[-1]]):
                sys.exit(f"columns.py: {name}: wrong digests")
            del result

    print(f"SHA-256 of {options.rows:,} strings of {sum(map(len, tenth)) / len(tenth):.0f} bytes, one CPU\n")
    print("| way | million rows/s | ns a row | hashloom, hex / this |\n|---|---:|---:|---:|")
    for name, each in rates.items():
        rate = statistics.median(each)
        ratio = statistics.median(ours / other for ours, other in zip(rates["hashloom, hex"], each))
        print(f"| {name} | {rate / 1e6:.1f} | {1e9 / rate:.1f} | {ratio:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
