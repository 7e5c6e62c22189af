# SPDX-License-Identifier: MIT OR Apache-2.0
"""SLH-DSA (FIPS 205, SPHINCS+): signatures that rest on hashes alone, which quantum computers are not known to break.

>>> from pyhashloom import slh_dsa
>>> key = slh_dsa.SigningKey.generate("SLH-DSA-SHA2-128f")
>>> signature = key.sign(b"message")
>>> public = slh_dsa.VerifyingKey.from_pem(key.verifying_key.to_pem())
>>> public.verify(b"message", signature), public.verify(b"another", signature)
(True, False)
>>> len(slh_dsa.parameter_sets), len(signature)
(12, 17088)
"""

from ._hashloom import SigningKey, VerifyingKey
from ._hashloom import slh_dsa_parameter_sets as parameter_sets
from ._hashloom import slh_dsa_verify_many as verify_many

__all__ = ["SigningKey", "VerifyingKey", "parameter_sets", "verify_many"]
