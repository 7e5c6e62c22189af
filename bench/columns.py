#!/usr/bin/env python3
# columns.py: a column of e-mail addresses as SHA-256, by the Python package, hashlib, polars-hash and DuckDB.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pseudonyms for a column of e-mail addresses: rows a second of each way.

    bench/columns.py [--rows N] [--rounds N] [--svg FILE]      (make demo-python: 10 million rows)

It needs the packages pyhashloom, polars, polars-hash, duckdb and pyarrow, and matplotlib for --svg. All ways run by turns
on one CPU, and the least time of each counts. Each way's first and last digests are compared with hashlib's. The loop
over hashlib takes a tenth of the rows.
"""

import argparse
import hashlib
import os
import sys
import time

os.environ["POLARS_MAX_THREADS"] = "1"  # before polars is imported


def main() -> int:
    parser = argparse.ArgumentParser(description="Rows a second of SHA-256 of a column of e-mail addresses.")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--svg", metavar="FILE", help="write the picture here")
    options = parser.parse_args()
    if options.rows < 1000 or options.rounds < 1:
        parser.error("expected at least 1000 rows and 1 round")
    try:
        import duckdb
        import polars as pl
        import polars_hash as plh
        import pyarrow as pa

        import pyhashloom
        import pyhashloom.duckdb
        import pyhashloom.polars  # noqa: F401
    except ImportError as error:
        sys.exit(f"columns.py: {error}: pip install {error.name}")
    if hasattr(os, "sched_setaffinity"):
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
        if isinstance(result, list):
            return [result[0], result[-1]]
        if isinstance(result, pl.DataFrame):
            column = result.to_series()
        elif isinstance(result, pa.Table):
            column = pl.Series(result.column(0))
        else:
            column = pl.Series(result)
        return [v.hex() if isinstance(v, bytes) else v for v in (column[0], column[-1])]

    def want(name: str, values: list[str]) -> list[str]:
        import hmac

        if "HMAC" in name:
            return [hmac.digest(b"k" * 32, v.encode(), "sha256").hex() for v in values]
        return [hashlib.sha256(v.encode()).hexdigest() for v in values]

    best: dict[str, float] = {}
    for _ in range(options.rounds):
        for name, way in ways.items():
            values = tenth if "loop" in name else emails
            start = time.perf_counter()
            result = way()
            rate = len(values) / (time.perf_counter() - start)
            best[name] = max(rate, best.get(name, 0))
            if ends(result) != want(name, [values[0], values[-1]]):
                sys.exit(f"columns.py: {name}: wrong digests")
            del result

    width = max(map(len, best))
    print(f"SHA-256 of {options.rows:,} strings of {sum(map(len, tenth)) / len(tenth):.0f} bytes, one CPU\n")
    print(f"| {'way':{width}} | million rows/s | ns a row |\n|{'-' * (width + 2)}|---:|---:|")
    for name, rate in best.items():
        print(f"| {name:{width}} | {rate / 1e6:.1f} | {1e9 / rate:.1f} |")
    hexed = best["hashloom, hex"]
    print(f"\nhashloom, hex: {hexed / best['polars-hash, hex']:.1f} of polars-hash, "
          f"{hexed / best['hashlib loop, hex']:.1f} of a loop over hashlib. "
          f"Binary: {best['hashloom, binary'] / best['polars-hash, hex']:.1f} of polars-hash. "
          f"In polars: {best['hashloom in polars, hex'] / hexed:.2f} of the bare call. "
          f"In DuckDB: {best['hashloom in DuckDB, hex'] / best[DUCKDB]:.1f} of its sha256.")
    if options.svg:
        draw(best, options.svg)
    return 0


DUCKDB = "DuckDB's sha256, hex"


def draw(best: dict[str, float], path: str) -> None:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 3.2))
    names = list(best)[::-1]
    colours = ["#2b6cb0" if name.startswith("hashloom") else "#a0aec0" for name in names]
    bars = axes.barh(names, [best[name] / 1e6 for name in names], color=colours)
    axes.bar_label(bars, fmt="%.1f", padding=3)
    axes.set_xlabel("million rows a second, one CPU")
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.1)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    sys.exit(main())
