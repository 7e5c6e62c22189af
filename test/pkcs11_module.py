#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The PKCS#11 module through python-pkcs11, with hashlib and hmac as the oracle.

    pkcs11_module.py MODULE
"""

import hashlib
import hmac
import sys

import pkcs11
from pkcs11 import Attribute, KeyType, Mechanism, MechanismFlag, ObjectClass

library = pkcs11.lib(sys.argv[1])
token = library.get_token(token_label="hashloom")
data = bytes(range(256)) * 40
# The token's digests that python-pkcs11 has names for, by hashlib's names.
NAMES = {mechanism.name: mechanism for mechanism in token.slot.get_mechanisms() if isinstance(mechanism, Mechanism)}
DIGESTS = {
    name.strip("_").lower().replace("sha_1", "sha1"): (NAMES[name], NAMES[name + "_HMAC"])
    for name in NAMES
    if name + "_HMAC" in NAMES
}
assert len(DIGESTS) >= 11, DIGESTS
SECRET = {Attribute.CLASS: ObjectClass.SECRET_KEY, Attribute.KEY_TYPE: KeyType.GENERIC_SECRET, Attribute.TOKEN: False}

with token.open() as session:
    key = session.create_object({**SECRET, Attribute.VALUE: b"k" * 20, Attribute.LABEL: "mine", Attribute.ID: b"\x07"})
    for name, (digest, mac) in DIGESTS.items():
        assert session.digest(data, mechanism=digest) == hashlib.new(name, data).digest(), name
        parts = [data[:100], data[100:5000], data[5000:]]
        assert session.digest(parts, mechanism=digest) == hashlib.new(name, data).digest(), name
        tag = key.sign(data, mechanism=mac)
        assert tag == hmac.digest(b"k" * 20, data, name), name
        assert key.sign(parts, mechanism=mac) == tag, name
        assert key.verify(data, tag, mechanism=mac) and not key.verify(data[1:], tag, mechanism=mac), name
    assert [found.id for found in session.get_objects({Attribute.LABEL: "mine"})] == [b"\x07"]
    generated = session.generate_key(KeyType.GENERIC_SECRET, 256, label="new", capabilities=MechanismFlag.SIGN)
    try:
        generated[Attribute.VALUE]  # python-pkcs11 makes keys sensitive
        raise SystemExit("FAILED: a sensitive key can be read")
    except pkcs11.exceptions.AttributeSensitive:
        pass
    assert len(generated.sign(data, mechanism=Mechanism.SHA256_HMAC)) == 32
    key.destroy()
    assert [found.label for found in session.get_objects()] == ["new"]
    assert len(session.generate_random(256)) == 32
with token.open(user_pin="1234", rw=True) as session:  # any PIN
    assert list(session.get_objects()) == []
    kept = session.generate_key(
        KeyType.GENERIC_SECRET,
        256,
        label="kept",
        store=True,
        template={Attribute.SENSITIVE: False, Attribute.EXTRACTABLE: True},
    )
    check = hashlib.sha1(kept[Attribute.VALUE]).digest()[:3]
    assert kept[Attribute.CHECK_VALUE] == check
with token.open(rw=True) as session:  # a key of the token stays until the library ends
    assert [found.label for found in session.get_objects()] == ["kept"]
    next(session.get_objects()).destroy()
print("pkcs11_module.py: passed")
