#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compares hashloom address with an implementation of its own, by random keys, and looks for secrets in its memory.

    python3 test/addresses.py path/to/hashloom [--require] [--all]

1,000 secret keys by HASHLOOM_SEED (--all: 20,000) give public keys of all forms, and addresses of all types and
networks, by way of lines and of rows, of public and of secret keys. The addresses are decoded again. secp256k1,
RIPEMD-160, base58 and bech32 are written here straight from SEC 2, the paper, and BIP 173; SHA-256 is Python's.

Vectors of Bitcoin Core and of BIP 341 (vectors/bitcoin) are converted in both directions.

After a secret key was converted, and while the program waits for the next, none of its bytes are in the program's
memory. This needs Linux and root; else the test is named and skipped; with --require that is a failure.
"""

import hashlib
import json
import os
import pathlib
import random
import subprocess
import sys

import checks

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "proof"))
import standards  # noqa: E402

parser = checks.parser(__doc__)
parser.add_argument("--all", action="store_true", help="20,000 keys")
arguments = parser.parse_args()
program, checks.is_required = arguments.hashloom.resolve(), arguments.require
rng = random.Random(os.environ.get("HASHLOOM_SEED", "1"))


def check(what, found, expected):
    if isinstance(expected, list) and isinstance(found, list) and found != expected:
        pairs = list(zip(found, expected)) + [(len(found), len(expected))]
        found, expected = next((pair for pair in pairs if pair[0] != pair[1]))
    checks.equal(what, found, expected)


def run(*options, text):
    done = subprocess.run([program, "address", *options], input=text, capture_output=True)
    check(f"{options}: exit status and messages", (done.returncode, done.stderr), (0, b""))
    return done.stdout


# ---- secp256k1 (SEC 2 section 2.4.1): y^2 = x^3 + 7 modulo P

P = 2**256 - 2**32 - 977
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
G = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)


def plus(p, q):
    """The sum of two points, or None and a point. They are not each other's negative, which random keys never give."""
    if p is None:
        return q
    over, under = (3 * p[0] ** 2, 2 * p[1]) if p == q else (q[1] - p[1], q[0] - p[0])
    slope = over * pow(under, -1, P)
    x = (slope**2 - p[0] - q[0]) % P
    return (x, (slope * (p[0] - x) - p[1]) % P)


POWERS = [G]
for _ in range(255):
    POWERS.append(plus(POWERS[-1], POWERS[-1]))


def times_g(number, start=None):
    for i, power in enumerate(POWERS):
        if number >> i & 1:
            start = plus(start, power)
    return start


RIPEMD160_IV = standards.initial_values()["sha1"]
for error in standards.check():
    sys.exit(error)


def sha256(data):
    return hashlib.sha256(data).digest()


def hash160(data):
    return standards.digest("ripemd160", RIPEMD160_IV, sha256(data))


# ---- base58 and bech32


def base58(content):
    content += sha256(sha256(content))[:4]
    number, text = int.from_bytes(content, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[digit] + text
    return "1" * (len(content) - len(content.lstrip(b"\0"))) + text


def bech32(hrp, version, program):
    bits = int.from_bytes(program, "big") << (-8 * len(program) % 5)
    ndigits = (8 * len(program) + 4) // 5
    data = [version] + [bits >> 5 * i & 31 for i in reversed(range(ndigits))]
    constant = 0x2BC830A3 if version else 1

    def polymod(values):
        check = 1
        for value in values:
            top = check >> 25
            check = (check & 0x1FFFFFF) << 5 ^ value
            for i, generator in enumerate([0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3]):
                check ^= generator if top >> i & 1 else 0
        return check

    expanded = [ord(c) >> 5 for c in hrp] + [0] + [ord(c) & 31 for c in hrp]
    check = polymod(expanded + data + [0] * 6) ^ constant
    data += [check >> 5 * i & 31 for i in reversed(range(6))]
    return hrp + "1" + "".join("qpzry9x8gf2tvdw0s3jn54khce6mua7l"[digit] for digit in data)


# ---- The keys

NETWORKS = {
    "main": (0x00, 0x05, "bc", 0x80),
    "test": (0x6F, 0xC4, "tb", 0xEF),
    "signet": (0x6F, 0xC4, "tb", 0xEF),
    "regtest": (0x6F, 0xC4, "bcrt", 0xEF),
}
TAG = sha256(b"TapTweak")
TYPES = ["p2pkh", "p2sh_p2wpkh", "p2wpkh", "p2tr"]


def addresses(network, key, point):
    """The addresses of a key of any form, and the scripts of those whose script is not p2sh."""
    p2pkh, p2sh, hrp, _ = NETWORKS[network]
    found, scripts = dict.fromkeys(TYPES), {}
    if len(key) > 32:
        found["p2pkh"] = base58(bytes([p2pkh]) + hash160(key))
        scripts["p2pkh"] = "76a914" + hash160(key).hex() + "88ac"
    if len(key) == 33:
        found["p2sh_p2wpkh"] = base58(bytes([p2sh]) + hash160(b"\0\x14" + hash160(key)))
        found["p2wpkh"] = bech32(hrp, 0, hash160(key))
        scripts["p2sh_p2wpkh"] = "a914" + hash160(b"\0\x14" + hash160(key)).hex() + "87"
        scripts["p2wpkh"] = "0014" + hash160(key).hex()
    x = point[0].to_bytes(32, "big")
    even = point if point[1] % 2 == 0 else (point[0], P - point[1])
    tweaked = times_g(int.from_bytes(sha256(TAG + TAG + x), "big"), even)[0].to_bytes(32, "big")
    found["p2tr"] = bech32(hrp, 1, tweaked)
    scripts["p2tr"] = "5120" + tweaked.hex()
    return found, scripts


def check_keys(network, count):
    secrets = [rng.randrange(1, ORDER) for _ in range(count)]
    points = [times_g(secret) for secret in secrets]
    forms = []
    for i, (x, y) in enumerate(points):
        x, y = x.to_bytes(32, "big"), y.to_bytes(32, "big")
        forms.append([bytes([2 + y[31] % 2]) + x, b"\4" + x + y, x][rng.choice([0, 0, 0, 1, 2]) if i >= 3 else i])
    expected = [addresses(network, key, point) for key, point in zip(forms, points)]
    lines = ["key," + ",".join(TYPES)]
    lines += [",".join([key.hex(), *(found[kind] or "" for kind in TYPES)]) for key, (found, _) in zip(forms, expected)]
    text = b"".join(key.hex().encode() + rng.choice([b"\n", b"\r\n"]) for key in forms)
    options = ["--network", network]
    check(f"{network}: lines", run(*options, text=text).decode().splitlines(), lines)
    objects = [
        {"key": key.hex(), **{kind: address for kind, address in found.items() if address}}
        for key, (found, _) in zip(forms, expected)
    ]
    found = [json.loads(line) for line in run(*options, "--json", text=text).splitlines()]
    check(f"{network}: JSON", found, objects)
    for nbytes in 32, 33, 65:
        rows = [(key, found) for key, (found, _) in zip(forms, expected) if len(key) == nbytes]
        found = run(*options, "--type", "p2tr", "--binary", str(nbytes), text=b"".join(key for key, _ in rows))
        wanted = ["key,p2tr"] + [f"{key.hex()},{found['p2tr']}" for key, found in rows]
        check(f"{network}: rows of {nbytes}", found.decode().splitlines(), wanted)
    hashes = [hash160(key) for key in forms if len(key) > 32]
    text = b"".join(key.hex().encode() + b"\n" for key in forms if len(key) > 32)
    check("--hash160", run("--hash160", text=text).decode().split(), [digest.hex() for digest in hashes])
    check("--hash160 --raw", run("--hash160", "--raw", text=text), b"".join(hashes))
    # Secret keys: the same public keys. X alone is of no secret key's form.
    wif = NETWORKS[network][3]
    text, wanted = [], lines[:1]
    for secret, key, line in zip(secrets, forms, lines[1:]):
        secret = secret.to_bytes(32, "big")
        if len(key) == 33:
            text.append(rng.choice([secret.hex(), base58(bytes([wif]) + secret + b"\1")]))
        elif len(key) == 65:
            text.append(base58(bytes([wif]) + secret))
        else:
            continue
        wanted.append(line)
    found = run(*options, "--from-secret", text="\n".join(text).encode())
    check(f"{network}: --from-secret", found.decode().splitlines(), wanted)
    # And back.
    wanted = ["address,network,type,hash160,script"]
    for found, scripts in expected:
        for kind, script in scripts.items():
            name = "test" if network == "signet" or network == "regtest" and found[kind][0] in "mn2" else network
            digest = {"p2pkh": script[6:46], "p2sh_p2wpkh": script[4:44], "p2wpkh": script[4:44], "p2tr": ""}[kind]
            wanted.append(f"{found[kind]},{name},{kind.split('_')[0]},{digest},{script}")
    text = "\n".join(line.split(",")[0] for line in wanted[1:])
    check(f"{network}: --decode", run("--decode", text=text.encode()).decode().splitlines(), wanted)


# ---- Vectors: vectors/README.md tells where they come from


def vectors(name):
    path = pathlib.Path(__file__).resolve().parent.parent / "vectors/bitcoin" / name
    return json.loads(path.read_text())


def type_of(script):
    """The type of a scriptPubKey and the hash160 in it (BIP 16, BIP 141, BIP 341)."""
    for begin, end, nbytes, kind in (
        ("76a914", "88ac", 20, "p2pkh"),
        ("a914", "87", 20, "p2sh"),
        ("0014", "", 20, "p2wpkh"),
        ("0020", "", 32, "p2wsh"),
        ("5120", "", 32, "p2tr"),
    ):
        if script.startswith(begin) and script.endswith(end) and len(script) == len(begin + end) + 2 * nbytes:
            return kind, script[len(begin) :][:40] if nbytes == 20 else ""
    return "witness_unknown", ""


def refused(*options, lines):
    """Checks that all lines are refused, and returns the reasons."""
    text = "".join(line + "\n" for line in lines).encode()
    done = subprocess.run([program, "address", *options], input=text, capture_output=True)
    check(f"{options}: exit status and lines", (done.returncode, len(done.stdout.splitlines())), (1, 1))
    messages = done.stderr.decode().splitlines()
    for number, message in enumerate(messages, 1):
        check(f"{options}: line {number}", message.startswith(f"hashloom: standard input: line {number}: "), True)
    check(f"{options}: messages", len(messages), len(lines))
    return [message.split(": ", 3)[-1] for message in messages]


def check_vectors():
    text, wanted = [], ["address,network,type,hash160,script"]
    for address, payload, about in vectors("key_io_valid.json"):
        network = about["chain"].removesuffix("net4")
        if about["isPrivkey"]:
            point = times_g(int(payload, 16))
            x, y = (number.to_bytes(32, "big") for number in point)
            key = bytes([2 + y[31] % 2]) + x if about["isCompressed"] else b"\4" + x + y
            found = addresses(network, key, point)[0]
            line = ",".join([key.hex(), *(found[kind] or "" for kind in TYPES)])
            output = run("--from-secret", "--network", network, text=address.encode()).decode().splitlines()
            check(f"secret key of {network}", output[1:], [line])
            continue
        is_shared = network == "signet" or network == "regtest" and address[0] in "mn2"
        kind, digest = type_of(payload)
        for written in {address, address.swapcase() if about.get("tryCaseFlip") else address}:
            text.append(written)
            wanted.append(f"{written},{'test' if is_shared else network},{kind},{digest},{payload}")
    for vector in vectors("bip341_wallet.json")["scriptPubKey"]:
        address, script = vector["expected"]["bip350Address"], vector["expected"]["scriptPubKey"]
        text.append(address)
        wanted.append(f"{address},main,p2tr,,{script}")
        if vector["given"]["scriptTree"] is None:
            key = vector["given"]["internalPubkey"]
            output = run("--type", "p2tr", text=key.encode()).decode().splitlines()
            check("BIP 341", output[1:], [f"{key},{address}"])
    found = run("--decode", text="\n".join(text).encode()).decode().splitlines()
    check("vectors, --decode", found, wanted)
    lines = [vector[0] for vector in vectors("key_io_invalid.json")]
    refused("--decode", lines=lines)
    for network in NETWORKS:
        refused("--from-secret", "--network", network, lines=lines)
    # Base58 without checksums, of other lengths than an address: the reason has the length.
    pairs = [pair for pair in vectors("base58_encode_decode.json") if pair[1]]
    found = refused("--decode", lines=[text for _, text in pairs])
    for (content, _), reason in zip(pairs, found):
        nbytes = len(content) // 2
        wanted = "the checksum is wrong: the address was mistyped or cut"
        if nbytes != 25:
            wanted = f"expected base58 of 25 bytes, found {nbytes if nbytes < 25 else 'more'}"
        check(f"base58 of {content}", reason, wanted)


# ---- Secrets in memory


def check_memory():
    if sys.platform != "linux" or os.geteuid() != 0:
        return checks.skip("secrets in memory: needs Linux and root")
    for is_wif in False, True:
        # One thread more than one would do: each must wipe.
        command = [program, "address", "--from-secret", "--type", "p2pkh", "--threads", "2"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            child.stdout.readline()
            for _ in range(3):
                secret = rng.randrange(1, ORDER).to_bytes(32, "big")
                text = base58(b"\x80" + secret + b"\1") if is_wif else secret.hex()
                child.stdin.write(text.encode() + b"\n")
                child.stdin.flush()
                child.stdout.readline()
                found = b"\0".join(content for _, content in checks.memory(child.pid))
                # An argument must be found in memory: this shows that the search works.
                check("arguments in memory", b"--from-secret" in found, True)
                # The numbers of the curve's code have other byte orders.
                for what, part in ("the key", secret), ("the key, reversed", secret[::-1]), ("the line", text.encode()):
                    for name, piece in ("first half", part[: len(part) // 2]), ("second half", part[len(part) // 2 :]):
                        given = "WIF" if is_wif else "hexadecimal"
                        check(f"given in {given}, the {name} of {what} in memory", piece in found, False)
            child.stdin.close()
            child.wait()
            check("exit status", child.returncode, 0)


nkeys = 5_000 if arguments.all else 250
for network in NETWORKS:
    check_keys(network, nkeys)
check_vectors()
check_memory()
print(f"addresses of {len(NETWORKS) * nkeys:,} keys")
sys.exit(checks.end())
