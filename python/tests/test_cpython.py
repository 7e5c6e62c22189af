# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tests of hashlib and hmac that Python brings along, with this package's constructors in place of theirs."""

import functools
import hashlib
import importlib
import sys
import unittest

import pytest

import pyhashloom

try:
    of_hashlib, of_hmac = map(importlib.import_module, ("test.test_hashlib", "test.test_hmac"))
    from test import support
except ImportError as error:
    text = "apt-get install libpython3-testsuite, or a Python of pyenv"
    pytest.skip(f"SKIPPED: tests of hashlib and hmac: this Python comes without them ({error}): {text}",
                allow_module_level=True)

# The tests that fail, and why. Those of Pythons after the last one that the list was made with do not run.
DIFFERENCES = {
    "HashLib.test_algorithms_available": "OpenSSL has others",
    "HashLib.test_algorithms_guaranteed": "the package has others",
    "HashLib.test_case_blake2b_all_parameters": "no parameters of trees",
    "HashLib.test_case_blake2s_all_parameters": "no parameters of trees",
    "HashLib.test_extra_sha3": "_capacity_bits, _rate_bits and _suffix are hashlib's own",
    "HashLib.test_readonly_types": "the stable ABI has no types that cannot be changed",
    "CompareDigestTestCase.test_hmac_compare_digest": "compare_digest is the package's own",
    **dict.fromkeys((
        "CopyTestCase.test_attributes_old", "CopyTestCase.test_realcopy_hmac", "CopyTestCase.test_realcopy_old",
        "TestVectorsTestCase.test_md5_vectors", "TestVectorsTestCase.test_sha_vectors",
        "TestVectorsTestCase.test_sha224_rfc4231", "TestVectorsTestCase.test_sha256_rfc4231",
        "TestVectorsTestCase.test_sha384_rfc4231", "TestVectorsTestCase.test_sha512_rfc4231",
    ), "after the same by the public calls, also by _init_old and _init_hmac"),
    "TestVectorsTestCase.test_legacy_block_size_warnings": "no hash functions that are written in Python",
    "TestVectorsTestCase.test_with_fallback": "no entry of hashlib's cache of constructors",
}  # fmt: skip
LISTED_UP_TO = (3, 13)


def by_name(name):
    """A constructor through new, with a name of its own as some tests want it."""
    constructor = functools.partial(pyhashloom.new, name)
    constructor.__name__ = name
    return constructor


class HashLib(of_hashlib.HashLibTestCase):
    __test__ = False  # but of test_of_cpython
    supported_hash_names = tuple(sorted(pyhashloom.algorithms_guaranteed))

    def __init__(self, *args, **kwargs):
        unittest.TestCase.__init__(self, *args, **kwargs)
        self._hashlib = None
        self.constructors_to_test = {
            name: {getattr(pyhashloom, name), by_name(name)} for name in self.supported_hash_names
        }


CASES = [HashLib] + [type(name, (case,), {}) for name, case in sorted(vars(of_hmac).items())
                     if isinstance(case, type) and issubclass(case, unittest.TestCase)]


def of_cpython():
    for case in CASES:
        for name in unittest.defaultTestLoader.getTestCaseNames(case):
            yield f"{case.__name__}.{name}", case(name)


@pytest.mark.parametrize("name, case", of_cpython(), ids=lambda one: one if isinstance(one, str) else "")
def test_of_cpython(name, case, monkeypatch):
    """A test passes, or is a known difference and fails."""
    reason = DIFFERENCES.get(name)
    if reason and sys.version_info[:2] > LISTED_UP_TO:
        pytest.skip(f"a known difference: {reason}")
    # Tests that look a name up do so in this package. Some else load vectors from the network.
    monkeypatch.setattr(hashlib, "new", pyhashloom.new)
    monkeypatch.setattr(of_hmac, "hmac", pyhashloom.hmac)
    monkeypatch.setattr(support, "use_resources", [])
    found = unittest.TestResult()
    case.run(found)
    assert found.testsRun or found.skipped
    for _, text in found.skipped:
        pytest.skip(text)
    failed = [text for _, text in found.failures + found.errors]
    assert not reason or failed, f"it passes: take it out of DIFFERENCES ({reason})"
    assert reason or not failed, "\n".join(failed)


def test_enough_of_cpython_are_there():
    names = {name for name, _ in of_cpython()}
    assert len(names) >= 80, len(names)
