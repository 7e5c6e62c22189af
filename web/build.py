#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds the page: build.py MODULE.wasm PAGE.html [SITE]. Scripts, style and module go into one file, which needs no
server. SITE is a folder for a web server: the same page, which can be installed there and then works offline, and the
one file beside it.

The page's policy allows only this script by its digest, workers made of the text in the page, and WebAssembly. It
forbids all that a page can fetch, and frames, forms and other scripts (docs/web.md says what it cannot forbid). In the
site it also allows what belongs to the site: the manifest, its icons and the service worker."""

import base64
import hashlib
import json
import pathlib
import re
import struct
import sys
import zlib

HERE = pathlib.Path(__file__).parent
HEAD = """<link rel="manifest" href="manifest.webmanifest">
<link rel="icon" href="icon.svg" type="image/svg+xml">
"""
SITE_POLICY = "; manifest-src 'self'; img-src 'self'"
# The headers of docs/web.md.
HEADERS = {
    "Connection-Allowlist": "(response-origin)",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
# The icon: threads of a loom, each over one and under the next. A letter is a colour.
ICON = ["BwBw", "wBwB", "BwBw", "wBwB"]
COLOURS = {"B": "#1a7042", "w": "#9fd8b8"}
PAGE_COLOUR = "#f4fbf7"
# The margin on each side, as a share of the icon's side: the middle 80 % are seen under any mask.
MARGIN = 0.2


def page(module, head="", of_site=""):
    """The page's text and its policy."""
    script, worker = ("".join((HERE / name).read_text() for name in names).strip()
                      for names in (["shared.js", "page.js", "digests.js", "make.js", "several.js", "installed.js"],
                                    ["shared.js", "worker.js"]))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (f"default-src 'none'; script-src 'sha256-{digest}' 'wasm-unsafe-eval'; "
              f"worker-src blob:{' ' + chr(39) + 'self' + chr(39) if of_site else ''}; "
              f"style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'{of_site}")
    text = (HERE / "page.html").read_text()
    version = re.search('^version = "(.*)"$', (HERE.parent / "Cargo.toml").read_text(), re.M)[1]
    style = (HERE / "page.css").read_text().strip()
    for name, value in [("CSP", policy), ("HEAD", head), ("VERSION", version), ("STYLE", style),
                        ("SCRIPT", script), ("WORKER", worker),
                        ("WASM", base64.b64encode(module).decode())]:
        assert text.count(f"@{name}@") == 1, f"page.html must have @{name}@ once"
        assert "</script" not in value, f"@{name}@ would end its element"
        text = text.replace(f"@{name}@", value)
    return text.encode(), policy


def squares():
    """The squares of the icon: corner and side in parts of the icon's side, and colour."""
    side = (1 - 2 * MARGIN) / len(ICON)
    return [(MARGIN + x * side, MARGIN + y * side, side, COLOURS[letter])
            for y, row in enumerate(ICON) for x, letter in enumerate(row)]


def svg():
    rects = "".join(f'<rect x="{100 * x:g}" y="{100 * y:g}" width="{100 * side:g}" height="{100 * side:g}" '
                    f'fill="{colour}"/>' for x, y, side, colour in squares())
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><rect width="100" height="100" '
            f'fill="{PAGE_COLOUR}"/>{rects}</svg>\n').encode()


def png(side):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    def rgb(colour):
        return bytes.fromhex(colour[1:])

    lines = [bytearray(rgb(PAGE_COLOUR) * side) for _ in range(side)]
    for x, y, width, colour in squares():
        left, top, right, bottom = (round(side * at) for at in (x, y, x + width, y + width))
        for line in lines[top:bottom]:
            line[3 * left:3 * right] = rgb(colour) * (right - left)
    pixels = b"".join(b"\0" + line for line in lines)  # each line begins with its filter: none
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(pixels, 9)) + chunk(b"IEND", b""))


def manifest():
    icons = [{"src": "icon.svg", "sizes": "any", "type": "image/svg+xml", "purpose": "any"}]
    icons += [{"src": f"icon-{side}.png", "sizes": f"{side}x{side}", "type": "image/png", "purpose": purpose}
              for side in (192, 512) for purpose in ("any", "maskable")]
    return {"name": "hashloom: check files", "short_name": "hashloom",
            "description": "Checks files against torrents and lists of checksums, and makes them; sends nothing.",
            "id": "./", "start_url": "./", "scope": "./", "display": "standalone",
            "background_color": PAGE_COLOUR, "theme_color": COLOURS["B"], "icons": icons,
            "file_handlers": [{"action": "./", "accept": {"application/x-bittorrent": [".torrent"]}}]}


def site(module, one_file):
    """The files of the site, by name."""
    kept = {"manifest.webmanifest": (json.dumps(manifest(), indent=1) + "\n").encode(), "icon.svg": svg(),
            "icon-192.png": png(192), "icon-512.png": png(512)}
    # The page's SHA-256 names the whole version: the page has that of all other files in it.
    others = hashlib.sha256(b"".join(kept.values())).hexdigest()
    index, policy = page(module, f"{HEAD}<!-- manifest and icons: {others} -->\n", SITE_POLICY)
    kept["./"] = index
    digests = {name: base64.b64encode(hashlib.sha256(data).digest()).decode() for name, data in kept.items()}
    worker = (HERE / "service-worker.js").read_text()
    for name, value in [("PAGE", hashlib.sha256(index).hexdigest()), ("FILES", json.dumps(digests))]:
        assert worker.count(f"@{name}@") == 1, f"service-worker.js must have @{name}@ once"
        worker = worker.replace(f"@{name}@", value)
    text, one_policy = one_file
    at = {"/*": HEADERS}
    for path, allowed in [("/", policy), ("/index.html", policy), ("/hashloom.html", one_policy)]:
        at[path] = {"Content-Security-Policy": f"{allowed}; frame-ancestors 'none'"}
    at["/service-worker.js"] = {"Content-Security-Policy": "default-src 'none'; connect-src 'self'",
                                "Cache-Control": "no-cache"}
    headers = "".join(f"{path}\n" + "".join(f"  {name}: {value}\n" for name, value in lines.items())
                      for path, lines in at.items())
    index = kept.pop("./")
    return kept | {"index.html": index, "hashloom.html": text, "service-worker.js": worker.encode(),
                   "_headers": headers.encode()}


def main():
    module, path, *folder = map(pathlib.Path, sys.argv[1:])
    one_file = page(module.read_bytes())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(one_file[0])
    for top in folder:
        top.mkdir(parents=True, exist_ok=True)
        for name, data in site(module.read_bytes(), one_file).items():
            (top / name).write_bytes(data)


main()
