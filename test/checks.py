# SPDX-License-Identifier: MIT OR Apache-2.0
"""Counts checks for tests: what passed, failed and was skipped, and the exit status that follows."""

import argparse
import atexit
import os
import pathlib
import shutil
import signal
import sys
import tempfile

# A test has this locale, whatever the user's is: programs choose words and escapes by it. Python reads it as it starts,
# and libtorrent reads LANG alone.
LOCALE = {"LC_ALL": "C.UTF-8", "LANG": "C.UTF-8"}
if not LOCALE.items() <= os.environ.items():
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, **LOCALE})
# A shell starts background programs with these signals ignored, and programs started here would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)

passed, failed, skipped = 0, [], []
is_required = False  # what is skipped has failed


def parser(doc):
    made = argparse.ArgumentParser(description=doc.splitlines()[0])
    made.add_argument("hashloom", type=pathlib.Path, help="the program")
    made.add_argument("--require", action="store_true", help="fail if something cannot be tested here")
    return made


def for_all_users(program):
    """The program; of root's, a copy: the folder of the clone may be closed to the users as whom a test runs it."""
    if os.getuid() != 0:
        return program
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    os.chmod(folder.name, 0o755)
    return pathlib.Path(shutil.copy(program, folder.name))


def check(name, is_right, detail=""):
    global passed
    if is_right:
        passed += 1
    else:
        failed.append(name)
        print(f"FAILED: {name}\n{detail}", flush=True)


def equal(name, found, expected):
    check(name, found == expected, f"  found    {found!r}\n  expected {expected!r}")


def skip(what):
    skipped.append(what)
    if is_required:
        failed.append(what)


def has(name):
    """Whether a program is installed, or a module of Python."""
    if shutil.which(name):
        return True
    try:
        __import__(name)
    except ImportError:
        return False
    return True


def memory(pid):
    """The memory that a process can write, in pieces: its place or file, and its bytes. Needs root and Linux."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as mem:
        for line in maps:
            span, rights, *_, path = line.rstrip("\n").split(" ", 5)
            if rights.startswith("rw") and path.strip() not in ("[vvar]", "[vsyscall]"):
                start, end = (int(bound, 16) for bound in span.split("-"))
                mem.seek(start)
                yield path.strip() or span, mem.read(end - start)


def run_part(part, needs=()):
    """Calls part with a new folder, if what it needs is there."""
    missing = [name for name in needs if not has(name)]
    if missing:
        skip(f"{part.__name__}: {', '.join(missing)} not installed")
        return
    before = passed
    with tempfile.TemporaryDirectory() as folder:
        part(pathlib.Path(folder).resolve())
    print(f"{part.__name__}: {passed - before} passed", flush=True)


def end():
    """Prints what was skipped and the numbers. Returns the exit status."""
    for line in skipped:
        print(f"SKIPPED: {line}")
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return bool(failed)
