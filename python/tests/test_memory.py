# SPDX-License-Identifier: MIT OR Apache-2.0
"""References and memory: nothing stays behind, also after errors."""

import gc
import resource
import subprocess
import sys

import numpy
import pytest

import pyhashloom
import pyhashloom.tree


def calls():
    message, array = b"message" * 3, numpy.zeros((20, 20), "u1")
    keep = [message] * 3000
    for output in "bytes", "hex", "joined", "numpy":
        pyhashloom.many("sha256", keep, output=output)
        pyhashloom.rows("sha512", array, output=output)
    pyhashloom.many("sha256", [bytearray(10)] * 100)
    pyhashloom.hmac.many(b"key", keep, "sha256")
    pyhashloom.sha256(message).copy().update(bytearray(9000))
    pyhashloom.hmac.new(b"key", message, pyhashloom.sha1).hexdigest()
    pyhashloom.pbkdf2_hmac_many("sha256", keep[:40], [bytearray(4)] * 40, 1, 40)
    pyhashloom.pbkdf2_hmac("sha1", message, bytearray(8), 2, 100)
    with pytest.raises(ValueError):
        pyhashloom.pbkdf2_hmac_many("sha256", keep, [message], 1)
    pyhashloom.tree.bep52(bytearray(20_000), threads=1)
    for wrong in [[message] * 2000 + [1], [memoryview(message)[::2]], "text", array[:, ::2]]:
        with pytest.raises((TypeError, BufferError)):
            pyhashloom.many("sha256", wrong)
    return sys.getrefcount(message)


def test_references():
    before = calls()
    gc.collect()
    assert calls() == before


def test_memory():
    for _ in range(20):
        calls()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100):
        calls()
    # A leaked result of each round would take 33 MB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 10_000


def test_import_brings_little_along():
    program = "import sys; before = set(sys.modules); import pyhashloom; print(*sorted(set(sys.modules) - before))"
    modules = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    parts = ("_column", "_files", "_hashloom", "_streams", "hmac", "slh_dsa")
    ours = ["pyhashloom", *(f"pyhashloom.{name}" for name in parts)]
    assert [name for name in modules if name != "__future__"] == ours
