# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tests of hashlib that Python brings along, with this package's constructors in place of hashlib's."""

import functools
import hashlib
import importlib
import unittest

import pytest

import pyhashloom

try:
    theirs = importlib.import_module("test.test_hashlib")
except ImportError as error:
    pytest.skip(f"SKIPPED: hashlib's own tests: this Python comes without them ({error})", allow_module_level=True)

# Tests of algorithms that the package lacks, of hashlib's module and not of hash objects, of private attributes
# (extra_sha3), with vectors from the network, of the exact words of errors, and of types that cannot be changed: the
# stable ABI has those from Python 3.14 on.
LEFT_OUT = (
    "blake2", "extra_sha3", "vector", "scrypt", "pbkdf2", "builtin", "algorithms", "fips", "huge", "readonly_types",
    "clinic_signature_errors",
)


def by_name(name):
    """A constructor through new, with a name of its own as some tests want it."""
    constructor = functools.partial(pyhashloom.new, name)
    constructor.__name__ = name
    return constructor


class Ours(theirs.HashLibTestCase):
    supported_hash_names = tuple(sorted(pyhashloom.algorithms_guaranteed))

    def __init__(self, *args, **kwargs):
        unittest.TestCase.__init__(self, *args, **kwargs)
        self._hashlib = None
        self.constructors_to_test = {
            name: {getattr(pyhashloom, name), by_name(name)} for name in self.supported_hash_names
        }

    def setUp(self):
        # Tests that look a name up do so in this package.
        self.new, hashlib.new = hashlib.new, pyhashloom.new
        self.addCleanup(setattr, hashlib, "new", self.new)


for name in dir(Ours):
    if name.startswith("test_") and any(word in name for word in LEFT_OUT):
        setattr(Ours, name, None)


def test_enough_of_them_run():
    ran = unittest.TestLoader().loadTestsFromTestCase(Ours).countTestCases()
    assert ran >= 33, ran
