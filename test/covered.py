#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What an OK covers: compares verdicts with those of other programs, while all that is not trusted changes on purpose.

    python3 test/covered.py path/to/hashloom [--require]

The trusted input stays: a list, a root, the info dictionary of a torrent, a manifest. Everything else is cut,
lengthened and replaced, and numbers and lengths are lowered: random bits do not find a verdict that leaves something
out. A program that is not installed is named as SKIPPED; with --require that is a failure. Other programs: sha256sum,
libtorrent (PyPI), torf (PyPI). For dm-verity and fs-verity see test/trees.py.
"""

import copy
import hashlib
import json
import os
import random
import subprocess
import sys

import checks
from bencode import bdecode, bencode
from checks import check, equal
from torrents import found as found_by_libtorrent, session

noise = random.Random(30)


def run(*line, cwd=None, stdin=None):
    """Returns the exit status and standard output."""
    done = subprocess.run([str(word) for word in line], cwd=cwd, input=stdin, capture_output=True)
    return done.returncode, done.stdout.decode(errors="replace")


def hashloom(*line, **options):
    return run(PROGRAM, *line, **options)


# Files are changed in these ways; `same` is the harmless one.
CHANGES = {
    "same": lambda path, data: path.write_bytes(data),
    "cut": lambda path, data: path.write_bytes(data[:-1]),
    "emptied": lambda path, data: path.write_bytes(b""),
    "lengthened by a zero": lambda path, data: path.write_bytes(data + b"\0"),
    "lengthened by itself": lambda path, data: path.write_bytes(data + data),
    "zeros": lambda path, data: path.write_bytes(bytes(len(data))),
    "the last bit": lambda path, data: path.write_bytes(data[:-1] + bytes([data[-1] ^ 1])),
    "gone": lambda path, data: path.unlink(),
    "a folder": lambda path, data: (path.unlink(), path.mkdir()),
}


def changed(folder, contents):
    """Changes each file in each way, and restores it. Yields what was changed and whether that is harmless."""
    for name, data in contents.items():
        for what, change in CHANGES.items():
            path = folder / name
            change(path, data)
            yield f"{name}: {what}", what == "same"
            if path.is_dir():
                path.rmdir()
            path.write_bytes(data)


def contents(folder):
    files = {name: noise.randbytes(size) for name, size in (("a", 1), ("b", 16384), ("c", 50_000))}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return files


def lists(folder):
    """`check` beside `sha256sum --check`."""
    files = contents(folder)
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items()]
    place = folder / "list"

    def compared(what, *options, is_cut=False):
        """is_cut: the list ends within a line, which sha256sum takes for one that is badly formatted."""
        ours = hashloom("check", *options, "list", cwd=folder)
        theirs = run("sha256sum", "-c", *options, "list", cwd=folder)
        equal(f"check: {what} {options}", (ours[0] == 0, ours[1]), (theirs[0] == 0 and not is_cut, theirs[1]))
        status, printed = hashloom("check", "--json", *options, "list", cwd=folder)
        equal(f"check --json: {what} {options}: status", status == 0, theirs[0] == 0 and not is_cut)
        objects = [json.loads(line) for line in printed.splitlines()]
        nok = theirs[1].count(": OK\n")
        equal(f"check --json: {what} {options}: files that are OK",
              [sum(entry.get("state") == "ok" for entry in objects)] +
              [entry["counts"]["ok"] for entry in objects if "counts" in entry], [nok] * (1 + bool(objects)))
        return ours[0]

    place.write_text("".join(lines))
    for what, is_harmless in changed(folder, files):
        for options in ((), ("--ignore-missing",)):
            status = compared(what, *options)
            check(f"check: {what} {options}", status == 0 if is_harmless else status != 0 or "gone" in what and options)
    # A list that has lost something covers less, and the object at the end says so.
    text = "".join(lines).encode()
    for end in (*range(0, len(text), 7), len(text) - 1, len(text)):
        place.write_bytes(text[:end])
        for options in ((), ("--strict",)):
            compared(f"the first {end} bytes of the list", *options,
                     is_cut=end < len(text) - 1 and text[:end].rpartition(b"\n")[2] != b"")
    place.write_text(lines[0])
    status, printed = hashloom("check", "--json", "list", cwd=folder)
    equal("check --json: a short list", json.loads(printed.splitlines()[-1]),
          {"list": "list", "counts": {"ok": 1, "failed": 0, "unread": 0, "unstable": 0, "ignored": 0, "unverified": 0},
           "bytes": 1, "bad_lines": 0})


def manifests(folder):
    """A check tells of each change, and a quick one that it has read nothing."""
    tree = folder / "tree"
    tree.mkdir()
    files = contents(tree)
    place = folder / "manifest"

    def written():
        place.unlink(missing_ok=True)
        equal("manifest write", hashloom("manifest", "write", tree, "-o", place, "--quiet")[0], 0)

    written()
    for what, is_harmless in changed(tree, files):
        for quick in ((), ("--quick",)):
            status, said = hashloom("manifest", "check", place, tree, *quick)
            # Without reading, other content of the same length is known by its time.
            check(f"manifest check {quick}: {what}", (status == 0) == is_harmless or quick and is_harmless, said)
    os.utime(tree / "a", ns=(5, 5))
    written()
    (tree / "a").write_bytes(b"?")
    os.utime(tree / "a", ns=(5, 5))
    status, said = hashloom("manifest", "check", place, tree, "--quick")
    check("--quick says that it has read nothing", status == 0 and "no file was read" in said, said)
    status, said = hashloom("manifest", "check", place, tree, "--quick", "--json")
    last = json.loads(said.splitlines()[-1])
    equal("--quick says so in JSON", (status, last["quick"], last["files_read"]), (0, True, 0))
    equal("manifest check reads it", hashloom("manifest", "check", place, tree)[0], 1)


def set_bits(digits):
    """The pieces of a bitfield in hexadecimal."""
    return {i for i, bit in enumerate(bin(int("1" + digits, 16))[3:]) if bit == "1"}


def torrents(folder):
    """`torrent verify` beside libtorrent and torf."""
    import torf

    client = session()
    content = folder / "content"
    content.mkdir()
    files = contents(content)
    for version in ("v1", "v2", "hybrid"):
        place = folder / f"{version}.torrent"
        create = ["torrent", "create", content, f"--{version}", "-l", "16K", "-o", place, "--quiet"]
        equal(f"torrent create {version}", hashloom(*create)[0], 0)

        def verdicts(what, place=place, version=version):
            status, said = hashloom("torrent", "verify", place, folder, "--json")
            found = json.loads(said) if said else {"complete": False}
            equal(f"{version}: {what}: status", status == 0, found["complete"])
            try:
                bytes_found = found_by_libtorrent(place, folder, client)
                theirs = bytes_found is not None and bytes_found[0] == bytes_found[1]
            except RuntimeError:
                theirs = None
            return found, theirs

        for what, _ in changed(content, files):
            found, theirs = verdicts(what)
            equal(f"{version}: {what}: libtorrent", found["complete"], bool(theirs))
            too_long = [file["path"] for file in found["files"] if file.get("found_length", 0) > file["length"]]
            equal(f"{version}: {what}: bytes beyond the end", bool(too_long), "lengthened" in what)
            if version == "v1" and "lengthened" not in what:
                try:
                    theirs = torf.Torrent.read(place).verify(content)
                except torf.TorfError:
                    theirs = False
                equal(f"{version}: {what}: torf", found["complete"], theirs)
            # A check of some pieces finds what the whole check finds on these, and says nothing of others.
            for some in (("--file", "a"), ("--file", "c"), ("--first", "1"), ("--first", "9")):
                status, said = hashloom("torrent", "verify", place, folder, "--json", *some)
                part = json.loads(said)
                scope = part.get("scope") or {"right": part["complete"], "bitfield": None}
                equal(f"{version}: {what}: {some}: status", status == 0, scope["right"])
                if scope["bitfield"] is None:
                    equal(f"{version}: {what}: {some}: all of it", part["bitfield"], found["bitfield"])
                    equal(f"{version}: {what}: {some}: all of it", part["complete"], found["complete"])
                    continue
                asked, had, all_had = (set_bits(bits)
                                       for bits in (scope["bitfield"], part["bitfield"], found["bitfield"]))
                equal(f"{version}: {what}: {some}: pieces", had, asked & all_had)
                equal(f"{version}: {what}: {some}: right", scope["right"], had == asked)
                equal(f"{version}: {what}: {some}: complete", (part["complete"], part["exact"]), (False, False))
                for file in part["files"]:
                    of_file = set(range(file.get("first_piece", 0), file.get("last_piece", -1) + 1))
                    check(f"{version}: {what}: {some}: {file}", file["state"] != "complete" or of_file <= asked)
            if found["complete"]:
                equal(f"{version}: {what}: what is covered", (found["bytes"]["have"], found["pieces"]["have"]),
                      (found["torrent"]["length"], found["torrent"]["piece_count"]))
        # The piece layers are outside of what the info-hash covers.
        whole, _ = bdecode(place.read_bytes())
        for root, layer in (whole.get(b"piece layers") or {}).items():
            for what, other in (("cut", layer[:-32]), ("empty", b""), ("of half", layer[:len(layer) // 64 * 32]),
                                ("longer", layer + bytes(32)), ("zeros", bytes(len(layer))),
                                ("one bit", bytes([layer[0] ^ 1]) + layer[1:]), ("gone", None)):
                mutant = copy.deepcopy(whole)
                if other is None:
                    del mutant[b"piece layers"][root]
                else:
                    mutant[b"piece layers"][root] = other
                bad = folder / "bad.torrent"
                bad.write_bytes(bencode(mutant))
                for name in files:
                    path = content / name
                    path.write_bytes(files[name][:-1] + bytes([files[name][-1] ^ 1]))
                found, theirs = verdicts(f"a layer that is {what}, other content", place=bad)
                check(f"{version}: a layer that is {what}, other content", not found["complete"])
                for name, data in files.items():
                    (content / name).write_bytes(data)
                found, theirs = verdicts(f"a layer that is {what}", place=bad)
                check(f"{version}: a layer that is {what}", not found["complete"] or theirs is not None)


def main():
    global PROGRAM
    arguments = checks.parser(__doc__).parse_args()
    PROGRAM, checks.is_required = arguments.hashloom.resolve(), arguments.require
    os.environ["LC_ALL"] = "C"
    checks.run_part(lists, ["sha256sum"])
    checks.run_part(manifests)
    checks.run_part(torrents, ["libtorrent", "torf"])
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
