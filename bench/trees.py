#!/usr/bin/env python3
# trees.py: `hashloom tree`, fsverity and veritysetup.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Times whole commands: the least wall and CPU seconds (user and system) of several rounds.

  bench/trees.py HASHLOOM [ROW]... [--size 4G] [--rounds N] [--dir FOLDER]

All commands of a row take turns, pinned to one CPU, on one file of random bytes from a fixed seed, in the page cache.
In every round all commands of a row must find the same root.

Rows: fsverity fsverity-sha512 fsverity-salt dmverity verify bep52 (default: all). Programs are looked for in
PATH and /usr/sbin."""

import os
import re

from race import ONE, Entrant, Programs, parser_of, race, random_file, run, work_folder

SALT = "00112233445566778899aabbccddeeff" * 2
UUID = "01234567-89ab-cdef-0123-456789abcdef"
ROWS = ["fsverity", "fsverity-sha512", "fsverity-salt", "dmverity", "verify", "bep52"]


def commands(row, hashloom, data, hashes):
    """The commands of a row by the names of their programs, and a pattern for the part of the output that must be
    equal."""
    tree, one, verity = [hashloom, "tree"], ["--threads", "1"], ["--uuid", UUID, "--salt", SALT, data, hashes]
    root = r"Root hash:\s+([0-9a-f]+)"
    if row in ("dmverity", "verify"):
        lines = {"hashloom": [*tree, "dmverity", "format", *one, "--force", *verity],
                 "veritysetup": ["veritysetup", "format", *verity]}
        if row == "dmverity":
            return lines, root
        found = re.search(root, run(lines["hashloom"], ONE).output)[1]
        return {"hashloom": [*tree, "dmverity", "verify", *one, data, hashes, found],
                "veritysetup": ["veritysetup", "verify", data, hashes, found]}, "()"
    kind, _, option = row.partition("-")
    ours, theirs = {"": ([], []), "sha512": (["--algorithm", "sha512"], ["--hash-alg", "sha512"]),
                    "salt": (["--salt", SALT], [f"--salt={SALT}"])}[option]
    lines = {"hashloom": [*tree, kind, *one, *ours, data]}
    if kind == "fsverity":
        lines["fsverity"] = ["fsverity", "digest", *theirs, data]
    return lines, r"\b(\w{64,128})\b"


def main():
    arguments = parser_of(__doc__, ROWS, 4 << 30).parse_intermixed_args()
    programs = Programs(arguments.hashloom, {
        "fsverity": ["fsverity", "--version"], "veritysetup": ["veritysetup", "--version"]})
    programs.print_all()
    with work_folder(arguments) as work:
        data = random_file(os.path.join(work, f"tree-{arguments.size >> 20}M.bin"), arguments.size, seed=4096)
        for row in arguments.rows or ROWS:
            lines, pattern = commands(row, programs.hashloom, data, os.path.join(work, "hashes"))
            roots = []

            def is_right(result):
                match = re.search(pattern, result.output)
                roots.append(match and match[1])
                return result.status == 0 and match is not None and roots[-1] == roots[0]

            entrants = [Entrant(name, line, is_right) for name, line in lines.items() if programs.has(name)]
            entrants.append(Entrant("cat, to nowhere", ["cat", data], reads_only=True))
            race(row, f"{row}: {arguments.size >> 20:,} MiB", arguments.size, entrants, ONE, arguments.rounds)


if __name__ == "__main__":
    main()
