#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Objects of a bucket: the time of pyhashloom.store.sums beside that of downloading alone.

    python3 bench/store.py s3://bucket/prefix --options '{"endpoint_url": "http://127.0.0.1:7070"}' [--requests 64]

"download" is the same client and the same code without hashing; "fsspec" is s3fs's own cat of whole objects, as many at
the same time. The runs take turns; each row has the least time of all rounds.
"""

import argparse
import asyncio
import contextlib
import json
import resource
import time

import pyhashloom.store
from pyhashloom._objects import Limits, Store, each


def hashed(arguments, options):
    limits = dict(requests=arguments.requests, memory_nbytes=arguments.memory << 20, range_nbytes=arguments.range << 20)
    results = pyhashloom.store.sums(arguments.name, arguments.url, storage_options=options, **limits)
    return sum(len(one.digest) and one.nbytes for one in results)


def downloaded(arguments, options, is_fsspec=False):
    async def run():
        limits, nbytes = Limits(arguments.requests, arguments.memory << 20, arguments.range << 20, 5), 0
        async with Store(arguments.url, options, limits) as store:

            async def get(one):
                if is_fsspec:
                    return len(await store.fs._cat_file(one.path, start=0, end=one.nbytes))
                async with contextlib.aclosing(store.chunks(one)) as chunks:
                    return sum([len(chunk) async for chunk in chunks])

            async def add(count):
                nonlocal nbytes
                nbytes += count

            await each(store.below(arguments.url), get, add, arguments.requests)
        return nbytes

    return asyncio.run(run())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--name", default="sha256")
    parser.add_argument("--options", type=json.loads, default={})
    parser.add_argument("--requests", type=int, default=64)
    parser.add_argument("--memory", type=int, default=128, metavar="MIB")
    parser.add_argument("--range", type=int, default=8, metavar="MIB")
    parser.add_argument("--no-fsspec", action="store_true", help="leave out s3fs's own cat, which takes much memory")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    ways = {
        "download": downloaded,
        "fsspec": lambda *given: downloaded(*given, is_fsspec=True),
        f"sums {arguments.name}": hashed,
    }
    if arguments.no_fsspec:
        del ways["fsspec"]
    least = {}
    for _ in range(arguments.rounds):
        for way, run in ways.items():
            wall, cpu = time.monotonic(), time.process_time()
            nbytes = run(arguments, dict(arguments.options))
            found = (time.monotonic() - wall, time.process_time() - cpu, nbytes)
            least[way] = min(least.get(way, found), found)
    for way, (wall, cpu, nbytes) in least.items():
        ratio = least["download"][0] / wall
        rate = nbytes / wall / 1e6
        print(f"{way:16} {wall:7.2f} s  {cpu:6.2f} s of CPU  {rate:6.0f} MB/s  {ratio:.2f} of download's rate")
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
