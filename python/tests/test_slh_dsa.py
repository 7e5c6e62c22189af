# SPDX-License-Identifier: MIT OR Apache-2.0
"""SLH-DSA: NIST's vectors, the package slh-dsa, and what must not be accepted."""

import concurrent.futures
import hashlib
import json
import lzma
import pathlib

import pytest
from interrupt import interrupted

from pyhashloom import slh_dsa

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "vectors/slh-dsa"
SETS = slh_dsa.parameter_sets
FAST = "SLH-DSA-SHA2-128f"


def vectors(name):
    for group in json.loads(lzma.open(VECTORS / f"{name}.json.xz").read())["testGroups"]:
        for test in group["tests"]:
            texts = {key: bytes.fromhex(value) for key, value in test.items()
                     if isinstance(value, str) and key != "reason"}
            yield group["parameterSet"], test["tcId"], test | texts


def test_vectors_of_keys():
    count = 0
    for name, number, test in vectors("keyGen"):
        key = slh_dsa.SigningKey.from_seeds(name, test["skSeed"] + test["skPrf"] + test["pkSeed"])
        assert (key.to_bytes(), key.verifying_key.to_bytes()) == (test["sk"], test["pk"]), number
        count += 1
    assert count == 40


def test_vectors_of_signatures():
    def check(vector):
        name, number, test = vector
        key = slh_dsa.SigningKey.from_bytes(name, test["sk"])
        signature = key.sign_internal(test["message"], test.get("additionalRandomness"))
        return number, signature == test["signature"]

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = list(pool.map(check, vectors("sigGen")))
    assert len(done) == 88 and all(is_same for _, is_same in done), done


def test_vectors_of_verification():
    answers = []
    for name, number, test in vectors("sigVer"):
        key = slh_dsa.VerifyingKey.from_bytes(name, test["pk"])
        answers.append(key.verify_internal(test["message"], test["signature"]))
        assert answers[-1] == test["testPassed"], (number, test["reason"])
    assert len(answers) == 45 and len(set(answers)) == 2


@pytest.mark.parametrize("name", SETS)
def test_against_another_package(name, tmp_path):
    slhdsa = pytest.importorskip("slhdsa", reason="SKIPPED: python: SLH-DSA against the package slh-dsa")
    theirs = getattr(slhdsa, name.removeprefix("SLH-DSA-").lower().replace("-", "_"))
    key = slh_dsa.SigningKey.from_seeds(name, hashlib.shake_256(name.encode()).digest(3 * theirs.n), threads=2)
    public = slhdsa.PublicKey.from_digest(key.verifying_key.to_bytes(), theirs)
    signature = key.sign(b"message", context=b"context", threads=0)
    assert public.verify_pure(b"message", signature, b"context")
    assert not public.verify_pure(b"message", signature, b"another")
    # The digest that the package takes for each set.
    bits, is_shake = int(name[-4:-1]), "SHAKE" in name
    prehash = ("shake_128" if bits == 128 else "shake_256") if is_shake else "sha256" if bits == 128 else "sha512"
    digest = hashlib.new(prehash, b"message")
    digest = digest.digest({"shake_128": 32, "shake_256": 64}[prehash]) if is_shake else digest.digest()
    signature = key.sign(digest, prehash=prehash, deterministic=True)
    assert public.verify_hash(b"message", signature)
    path = tmp_path / "key.pem"
    public.to_pkcs(path)
    assert slh_dsa.VerifyingKey.from_pem(path.read_text()) == key.verifying_key
    path.write_text(key.verifying_key.to_pem())
    assert slhdsa.PublicKey.from_pkcs(path) == public
    if name.endswith("128f"):  # others take long
        path.write_text(key.to_pem())
        secret = slhdsa.SecretKey.from_pkcs(path)
        assert secret.sign_pure(b"message", ctx=b"context") == key.sign(b"message", context=b"context",
                                                                        deterministic=True)
        assert key.verifying_key.verify(digest, secret.sign_hash(b"message", True), prehash=prehash)


KEY = slh_dsa.SigningKey.from_seeds(FAST, bytes(range(48)))


@pytest.mark.parametrize("name", [FAST, "SLH-DSA-SHAKE-192f"])
def test_many(name):
    keys = [slh_dsa.SigningKey.generate(name, threads=2) for _ in range(2)]
    messages = [b"%d" % i * i for i in range(40)]
    signatures = keys[0].sign_many(iter(messages), context=b"c", threads=2)
    assert signatures[7] != keys[0].sign(messages[7], context=b"c")  # hedged
    assert keys[0].sign_many(messages[:2], deterministic=True) == [keys[0].sign(m, deterministic=True)
                                                                  for m in messages[:2]]
    want = [True] * 40
    for i in 3, 20, 39:
        signatures[i], want[i] = keys[1].sign(messages[i], context=b"c"), False
    signatures[5], want[5] = b"", False
    owners = [keys[i in (3, 20, 39)].verifying_key for i in range(40)]
    for threads in 1, 3, 0:
        assert keys[0].verifying_key.verify_many(messages, signatures, context=b"c", threads=threads) == want
        got = slh_dsa.verify_many(owners, messages, signatures, context=b"c", threads=threads)
        assert got == [i != 5 for i in range(40)]
    assert keys[0].verifying_key.verify(bytearray(messages[7]), memoryview(signatures[7]), context=b"c")
    assert not keys[0].verifying_key.verify(messages[7], signatures[7])
    assert slh_dsa.verify_many([], [], []) == keys[0].verifying_key.verify_many([], []) == keys[0].sign_many([]) == []


@pytest.mark.parametrize("name", SETS)
def test_forms_of_keys(name):
    n = int(name[-4:-1]) // 8
    key = slh_dsa.SigningKey.from_bytes(name.lower(), bytes(range(4 * n)))
    public = key.verifying_key
    assert (key.parameter_set, public.parameter_set) == (name, name) and name in repr(public) and name in repr(key)
    assert bytes(4).hex() not in repr(key) and key.to_bytes()[:n].hex() not in repr(key)
    for form in slh_dsa.SigningKey.from_pem(key.to_pem()), slh_dsa.SigningKey.from_pem(key.to_pem().encode()), \
            slh_dsa.SigningKey.from_der(key.to_der()), slh_dsa.SigningKey.from_bytes(name, key.to_bytes()):
        assert (form.parameter_set, form.to_bytes(), form.verifying_key) == (name, bytes(range(4 * n)), public)
    for form in slh_dsa.VerifyingKey.from_pem(public.to_pem()), slh_dsa.VerifyingKey.from_der(public.to_der()):
        assert form == public and hash(form) == hash(public)
    if name.endswith("f"):
        with pytest.raises(RuntimeError, match="halves of the key do not belong together"):
            key.sign(b"")


@pytest.mark.parametrize("call, error, text", [
    (lambda: slh_dsa.SigningKey.generate("SLH-DSA-SHA2-128"), ValueError, "unknown .* one of SLH-DSA-SHA2-128s, "),
    (lambda: slh_dsa.SigningKey.from_seeds(FAST, bytes(47)), ValueError, "expected 48 bytes, found 47"),
    (lambda: slh_dsa.SigningKey.from_bytes(FAST, bytes(32)), ValueError, "expected 64 bytes, found 32"),
    (lambda: slh_dsa.VerifyingKey.from_bytes(FAST, bytes(33)), ValueError, "expected 32 bytes, found 33"),
    (lambda: slh_dsa.SigningKey.from_pem(KEY.verifying_key.to_pem()), ValueError, "expected a private key in PEM"),
    (lambda: slh_dsa.VerifyingKey.from_pem(KEY.to_pem()), ValueError, "expected a public key in PEM"),
    (lambda: slh_dsa.VerifyingKey.from_pem(b"\xff"), ValueError, "give DER to from_der"),
    (lambda: slh_dsa.VerifyingKey.from_pem(5), TypeError, "pem: object supporting the buffer API"),
    (lambda: slh_dsa.SigningKey.from_der(KEY.to_der() + b"\0"), ValueError, "expected a private key in DER"),
    (lambda: slh_dsa.VerifyingKey.from_der(b""), ValueError, "expected a public key in DER"),
    (lambda: KEY.sign("message"), TypeError, "message: Strings must be encoded"),
    (lambda: KEY.sign(b"", context=bytes(256)), ValueError, "255 bytes at most"),
    (lambda: KEY.sign(b"", context="c"), TypeError, "context: Strings"),
    (lambda: KEY.sign(b"", prehash="sha256"), ValueError, "0 bytes can"),
    (lambda: KEY.sign(bytes(16), prehash="md5"), ValueError, "of SHA-2 or SHA-3"),
    (lambda: KEY.sign(bytes(16), prehash="sha"), ValueError, "unsupported hash type"),
    (lambda: KEY.sign(b"", threads=-1), OverflowError, "threads"),
    (lambda: KEY.sign_many([bytes(32), b""], prehash="sha256"), ValueError, "message 1: "),
    (lambda: KEY.sign_many(b"ab"), TypeError, "one for each message"),
    (lambda: KEY.sign_internal(b"", bytes(15)), ValueError, "expected 16 bytes, found 15"),
    (lambda: KEY.verifying_key.verify(b"", None), TypeError, "signature: "),
    (lambda: KEY.verifying_key.verify_many([b""], []), ValueError, "a signature for each message, found 0 for 1"),
    (lambda: slh_dsa.verify_many([], [b""], [b""]), ValueError, "a key for each message, found 0 for 1"),
    (lambda: slh_dsa.verify_many([KEY], [b""], [b""]), TypeError, "key 0: expected a VerifyingKey"),
    (lambda: slh_dsa.verify_many([KEY.verifying_key, slh_dsa.VerifyingKey.from_bytes(SETS[0], bytes(32))],
                                 [b"", b""], [b"", b""]), ValueError, "several parameter sets"),
    (lambda: slh_dsa.SigningKey(), TypeError, "."),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_keyboard_interrupt():
    make = 'from pyhashloom import slh_dsa; key = slh_dsa.SigningKey.generate("SLH-DSA-SHAKE-128f")'
    assert interrupted('key.sign_many([b"m"] * 10**5)', make)
    assert interrupted('key.verifying_key.verify_many([b"m"] * 10**5, [bytes(17088)] * 10**5, threads=2)', make)
