#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes those files of this folder that are not as obtained (README.md says from what).

    vectors/sample.py rsp FILE FIRST STEP [LAST]   some vectors of a file of NIST: number FIRST, and every STEP-th after
                                                   it, up to LAST; the first one has number 1
    vectors/sample.py wycheproof FILE              the vectors of a mac_test_schema_v1.json, as lines that test/hmac.c
                                                   reads: "MD" is a tag that must pass, "Wrong MD" one that must fail
    vectors/sample.py blake2 FILE NAME STEP        every STEP-th vector without a key of blake2-kat.json, in NIST's form

The output goes to stdout.
"""

import json
import re
import sys


def sample(path, first, step, last=None):
    with open(path, encoding="ascii") as file:
        parts = re.split(r"\n\n+", file.read())
    # A part with a message, or a part that begins where the head's last line was followed by no empty line.
    is_vector = [re.search(r"^Msg = ", part, re.M) is not None for part in parts]
    head = [part for part, is_one in zip(parts, is_vector) if not is_one and part.strip()]
    vectors = [part for part, is_one in zip(parts, is_vector) if is_one]
    # VariableOut: the head and the first vector are one part.
    start = vectors[0].find("COUNT = ")
    if start > 0:
        head.append(vectors[0][:start].rstrip("\n"))
        vectors[0] = vectors[0][start:]
    last = int(last) if last else len(vectors)
    chosen = vectors[int(first) - 1:last:int(step)]
    note = f"# A sample: {len(chosen)} of {len(vectors)} vectors"
    return "\n\n".join([note, *head, *chosen]).rstrip("\n") + "\n"


def wycheproof(path):
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    lines = [f"# {data['algorithm']}: {data['numberOfTests']} vectors of Wycheproof"]
    for group in data["testGroups"]:
        lines += ["", f"# keys of {group['keySize']} bits, tags of {group['tagSize']} bits"]
        for test in group["tests"]:
            name = {"valid": "MD", "invalid": "Wrong MD"}[test["result"]]
            lines += ["", f"Len = {4 * len(test['msg'])}",
                      f"Key = {test['key']}", f"Msg = {test['msg'] or '00'}", f"{name} = {test['tag']}"]
    return "\n".join(lines) + "\n"


def blake2(path, name, step):
    with open(path, encoding="utf-8") as file:
        vectors = [v for v in json.load(file) if v["hash"] == name and not v["key"]]
    chosen = vectors[::int(step)]
    lines = [f"# {name}, without a key: {len(chosen)} of {len(vectors)} vectors"]
    for vector in chosen:
        lines += ["", f"Len = {4 * len(vector['in'])}", f"Msg = {vector['in'] or '00'}", f"MD = {vector['out']}"]
    return "\n".join(lines) + "\n"


print({"rsp": sample, "wycheproof": wycheproof, "blake2": blake2}[sys.argv[1]](*sys.argv[2:]), end="")
