#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Lists the public items of the crates, but the GPU's, whose documentation has no example.

    tools/examples.py        needs a nightly Rust, as rustdoc's JSON does; so no test runs it

Functions, methods, types, traits, modules, constants and macros count. Variants, fields, impls of traits and what is
re-exported from another crate do not.
"""

import json
import os
import subprocess
import sys
import tempfile

KINDS = {"function", "struct", "enum", "trait", "module", "macro", "constant", "static", "type_alias", "union"}
CRATES = ["hashloom", *(f"hashloom-{name}" for name in ["files", "tree", "torrent", "list", "work"])]


def items(crate):
    """Yields (path, kind, item) for everything that can be reached from the root."""
    index = crate["index"]
    seen = set()

    def walk(key, path):
        item = index.get(str(key))
        if item is None or item["crate_id"] != 0 or (key, path) in seen:
            return
        seen.add((key, path))
        kind, inner = next(iter(item["inner"].items()))
        if kind == "use":
            if inner["id"] is not None:
                yield from walk(inner["id"], path if inner["is_glob"] else f"{path}::={inner['name']}")
            return
        path, _, renamed = path.partition("::=")
        name = renamed or item["name"]
        own = f"{path}::{name}" if path else name
        if kind in KINDS:
            yield own, kind, item
        if kind == "module":
            for child in inner["items"]:
                yield from walk(child, own)
        elif kind == "trait":
            for child in inner["items"]:
                yield from walk(child, own)
        for key in inner.get("impls", []) if isinstance(inner, dict) and kind != "trait" else []:
            impl = index[str(key)]["inner"]["impl"]
            if impl["trait"] is None:
                for child in impl["items"]:
                    yield from walk(child, own)

    yield from walk(crate["root"], "")


def main():
    with tempfile.TemporaryDirectory() as folder:
        target = os.environ.get("CARGO_TARGET_DIR", folder)
        flags = {"RUSTDOCFLAGS": "-Z unstable-options --output-format json", "CARGO_TARGET_DIR": target}
        packages = [word for name in CRATES for word in ("-p", name)]
        command = ["cargo", "+nightly", "doc", "--quiet", "--no-deps", "--all-features", "--locked", *packages]
        subprocess.run(command, env=os.environ | flags, check=True)
        count, missing = 0, []
        for name in CRATES:
            with open(f"{target}/doc/{name.replace('-', '_')}.json", encoding="utf-8") as file:
                crate = json.load(file)
            for path, kind, item in items(crate):
                count += 1
                if "```" not in (item["docs"] or ""):
                    span = item["span"] or {"filename": "?", "begin": [0]}
                    missing.append(f"{span['filename']}:{span['begin'][0]}: {kind} {path}")
    print("\n".join(sorted(missing)))
    print(f"{count} items, {len(missing)} without an example", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
