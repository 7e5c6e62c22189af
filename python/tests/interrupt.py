# SPDX-License-Identifier: MIT OR Apache-2.0
"""Ctrl-C in the middle of a call."""

import signal
import subprocess
import sys

PROGRAM = """
import itertools, signal
import pyhashloom, pyhashloom.tree
{}
# Also where a shell started the tests in the background, with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    print("begun", flush=True)
    {}
except KeyboardInterrupt:
    print("interrupted")
"""


def interrupted(call, before=""):
    """Whether a call that does not end by itself is stopped by SIGINT, with KeyboardInterrupt. `before` are the lines
    before it."""
    command = [sys.executable, "-c", PROGRAM.format(before, call)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline() == "begun\n"
            child.send_signal(signal.SIGINT)
            return child.communicate(timeout=60)[0] == "interrupted\n" and child.returncode == 0
        finally:
            child.kill()
