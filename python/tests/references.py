# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the algorithms are compared with: hashlib, where the system's has the algorithm."""

import hashlib
import itertools
import os
import random

import pyhashloom

NAMES = sorted(pyhashloom.algorithms_guaranteed)
OF_HASHLIB = [name for name in NAMES if name in hashlib.algorithms_available]
# The digests of these may have any length; the other ones but BLAKE2 and BLAKE3 are also for HMAC and PBKDF2.
XOFS = [name for name in NAMES if pyhashloom.new(name).digest_size == 0]
FOR_HMAC = [name for name in OF_HASHLIB if name not in XOFS and not name.startswith("blake")]


def length_of(name):
    """The arguments of digest: of SHAKE, the length that its digests have if none is given, twice the strength."""
    return [int(name.rpartition("_")[2]) * 2 // 8] if name in XOFS else []


def digest(name, message):
    """The digest of a message."""
    module = hashlib if name in hashlib.algorithms_available else pyhashloom
    return module.new(name, message).digest(*length_of(name))


def sample(n, *lists):
    """n of all combinations, by HASHLOOM_SEED; all with HASHLOOM_TEST_ALL=1."""
    every = list(itertools.product(*lists))
    seed = os.environ.get("HASHLOOM_SEED", "1")
    return every if os.environ.get("HASHLOOM_TEST_ALL") else random.Random(seed).sample(every, n)
