#!/usr/bin/env python3
# sums.py: checksums of many files and of large ones, hashloom and other programs.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Times whole commands: the least wall and CPU seconds of several rounds, and peak memory.

  bench/sums.py HASHLOOM [ROW]... [--quick] [--rounds N] [--dir FOLDER]

All commands of a row take turns, pinned to one CPU. The content is random bytes from a fixed seed, in the page cache.
Every command gets the names of all files at once, or the folder if it walks folders itself. In every round it must
print the digest that Python's hashlib finds for every file. A command that checks a list must find all files right in
every round, and notice one changed byte once.

Rows: small-sha256 small-sha1 check tiny big-sha256 big-sha1 one (default: all). Programs are looked for in
build/peers/bin and in PATH."""

import hashlib
import os
import re
from pathlib import Path

from race import ONE, Entrant, Programs, parser_of, race, random_file, random_folder, work_folder

# A row: the number of files, with --quick, and the size of a file.
CONTENT = {"small": (20_000, 2000, lambda index: 16 << 10), "tiny": (100_000, 10_000, lambda index: index % 2),
           "big": (100, 16, lambda index: 20 << 20), "one": (1, 1, None)}
ROWS = ["small-sha256", "small-sha1", "check", "tiny", "big-sha256", "big-sha1", "one"]
VERSIONS = {"coreutils": ["sha256sum", "--version"], "uutils": ["coreutils", "--version"],
            "openssl": ["openssl", "version"], "hashsum": ["hashsum", "--version"], "hashdeep": ["hashdeep", "-V"],
            "rhash": ["rhash", "--version"], "busybox": ["busybox"]}
# GNU's, BSD's, OpenSSL's and hashdeep's lines: the digest before or after the name.
DIGEST_AND_NAME = re.compile(r"\b([0-9a-f]{40,64})\b[^\n]*?(\d{3}/\d{3})\b|"
                             r"(\d{3}/\d{3})\b[^\n]*?\b([0-9a-f]{40,64})$", re.M)


def hashers(programs, algorithm, names):
    """Commands that hash all files of a folder, on one thread if they have an option for it."""
    return {"hashloom": [programs.hashloom, "sum", "-a", algorithm, "--threads", "1", "-r", "."],
            "coreutils": [f"{algorithm}sum", *names], "uutils": ["coreutils", f"{algorithm}sum", *names],
            "openssl": ["openssl", "dgst", f"-{algorithm}", *names], "hashsum": ["hashsum", "-a", algorithm, *names],
            "hashdeep": ["hashdeep", "-c", algorithm, "-l", "-j0", "-r", "."],
            "rhash": ["rhash", f"--{algorithm}", "-r", "."], "busybox": ["busybox", f"{algorithm}sum", *names]}


def checkers(programs, gnu, hashdeep):
    """Commands that check all files against a list, GNU's or hashdeep's, on one thread if they can."""
    return {"hashloom": [programs.hashloom, "check", "--threads", "1", gnu], "coreutils": ["sha256sum", "-c", gnu],
            "uutils": ["coreutils", "sha256sum", "-c", gnu], "hashsum": ["hashsum", "-a", "sha256", "-c", gnu],
            "hashdeep": ["hashdeep", "-c", "sha256", "-l", "-j0", "-r", "-a", "-k", hashdeep, "."],
            "rhash": ["rhash", "--sha256", "-c", gnu], "busybox": ["busybox", "sha256sum", "-c", gnu]}


def main():
    parser = parser_of(__doc__, ROWS, 4 << 30)
    parser.add_argument("--quick", action="store_true", help="use a tenth of the content")
    arguments = parser.parse_intermixed_args()
    programs = Programs(arguments.hashloom, VERSIONS)
    programs.print_all()
    with work_folder(arguments) as work:
        for row in arguments.rows or ROWS:
            kind, _, algorithm = row.replace("check", "small").partition("-")
            algorithm = algorithm or "sha256"
            count, quick, size = CONTENT[kind]
            count = quick if arguments.quick else count
            folder = os.path.join(work, f"{kind}-{count}")
            if kind == "one":
                names = ["000/000"]
                random_file(os.path.join(folder, names[0]), arguments.size >> 4 * arguments.quick, seed=8)
            else:
                names = random_folder(folder, count, size, seed=len(kind))
            digests = {}
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    digests[name] = hashlib.file_digest(file, algorithm).hexdigest()
            sizes = [os.path.getsize(os.path.join(folder, name)) for name in names]

            def prints_all(result):
                found = {match[2] or match[3]: match[1] or match[4]
                         for match in DIGEST_AND_NAME.finditer(result.output)}
                return result.status == 0 and found == digests

            def finds_all(result):
                nright = len(re.findall(r"^\d+/\d+:? +OK *$", result.output, re.M))
                return result.status == 0 and (nright == len(names) or "Audit passed" in result.output)

            damage, is_right = None, prints_all
            if row == "check":
                gnu, hashdeep = os.path.join(work, "list.sha256"), os.path.join(work, "list.hashdeep")
                Path(gnu).write_text("".join(f"{digests[name]}  {name}\n" for name in names))
                Path(hashdeep).write_text("%%%% HASHDEEP-1.0\n%%%% size,sha256,filename\n## \n" + "".join(
                    f"{nbytes},{digests[name]},./{name}\n" for name, nbytes in zip(names, sizes)))
                lines, is_right = checkers(programs, gnu, hashdeep), finds_all
                damage = os.path.join(folder, names[count // 2])
            else:
                lines = hashers(programs, algorithm, names)
            entrants = [Entrant(name, line, is_right, folder=folder) for name, line in lines.items()
                        if programs.has(name)]
            entrants.append(Entrant("cat, to nowhere", ["cat", *names], folder=folder, reads_only=True))
            what = f"{count:,} files, {sum(sizes) / 1e6:,.1f} MB"
            race(row, f"{row}: {algorithm} of {what}, one CPU", sum(sizes), entrants, ONE, arguments.rounds, damage)


if __name__ == "__main__":
    main()
