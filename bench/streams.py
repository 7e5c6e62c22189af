#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""64 messages that arrive in parts: CPU time of a loop over hashlib's objects / that of pyhashloom.update_many.

    python3 bench/streams.py [NAME...]
"""

import hashlib
import os
import sys
import time

import pyhashloom

MESSAGES, ROUNDS = 64, 15


def least(work):
    def once():
        begun = time.thread_time()
        work()
        return time.thread_time() - begun

    return min(once() for _ in range(ROUNDS))


def main():
    for name in sys.argv[1:] or ["sha256"]:
        for nbytes in (1 << 10, 16 << 10, 64 << 10):
            chunks = [os.urandom(nbytes) for _ in range(MESSAGES)]
            count = max(1, (4 << 20) // (nbytes * MESSAGES))

            def loop():
                hashes = [hashlib.new(name) for _ in chunks]
                for _ in range(count):
                    for hash, chunk in zip(hashes, chunks):
                        hash.update(chunk)
                return [hash.digest() for hash in hashes]

            def many():
                hashes = [pyhashloom.new(name) for _ in chunks]
                for _ in range(count):
                    pyhashloom.update_many(hashes, chunks)
                return [hash.digest() for hash in hashes]

            assert loop() == many()
            mine = least(many)
            rate = count * MESSAGES * nbytes / mine / 1e9
            print(f"{name:8} chunks of {nbytes:6} bytes: {rate:5.1f} GB/s, {least(loop) / mine:.1f} of hashlib's rate")


if __name__ == "__main__":
    main()
