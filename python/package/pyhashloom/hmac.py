# SPDX-License-Identifier: MIT OR Apache-2.0
"""HMAC (RFC 2104) in the shape of the module hmac, and of many messages at once.

>>> from pyhashloom import hmac
>>> hmac.new(b"key", b"message", "sha256").hexdigest()[:16]
'6e9ef29b75fffc5b'
>>> tags = hmac.many(b"key", [b"message", b"another"], "sha256")
>>> hmac.compare_digest(tags[0], hmac.digest(b"key", b"message", "sha256"))
True
"""

from ._hashloom import HMAC, compare_digest
from ._hashloom import hmac_digest as digest
from ._hashloom import hmac_many as many
from ._hashloom import hmac_new as new

__all__ = ["HMAC", "compare_digest", "digest", "many", "new"]
