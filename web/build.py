#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds the page: build.py MODULE.wasm PAGE.html. Scripts, style and module go into one file, which needs no server.

The page's policy allows only this script by its digest, workers made of the text in the page, and WebAssembly. It
forbids all that a page can fetch, and frames, forms and other scripts (docs/web.md says what it cannot forbid)."""

import base64
import hashlib
import pathlib
import sys

HERE = pathlib.Path(__file__).parent


def main():
    module, page = map(pathlib.Path, sys.argv[1:])
    script, worker = ("".join((HERE / name).read_text() for name in names).strip()
                      for names in (["shared.js", "page.js"], ["shared.js", "worker.js", "gpu.js"]))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (f"default-src 'none'; script-src 'sha256-{digest}' 'wasm-unsafe-eval'; worker-src blob:; "
              "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'")
    text = (HERE / "page.html").read_text()
    for name, value in [("CSP", policy), ("STYLE", (HERE / "page.css").read_text().strip()), ("SCRIPT", script),
                        ("WORKER", worker),
                        ("WASM", base64.b64encode(module.read_bytes()).decode())]:
        assert text.count(f"@{name}@") == 1, f"page.html must have @{name}@ once"
        assert "</script" not in value, f"@{name}@ would end its element"
        text = text.replace(f"@{name}@", value)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text)


main()
