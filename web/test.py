#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests the page in headless browsers: test.py PAGE.html [--program HASHLOOM] [--site FOLDER] [--screenshots FOLDER]
[--only WORDS].

Torrents and lists are made here, by an implementation of BEP 3 and BEP 52 of this file's own, or are those of vectors/.
Tests whose name begins with engine_ run in Chromium, Firefox and WebKitGTK, as far as these are installed; all others
in Chromium. Torrents that the page makes are compared with those of the program. The page is opened from file:// and
sometimes over http://. Files are chosen through the inputs or dropped, as a person does it. Exit
status: 0 if every test passed."""

import argparse
import base64
import concurrent.futures
import contextlib
import functools
import hashlib
import http.server
import json
import os
import pathlib
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parent.parent / "test")]
from bencode import bencode
from browser import Browser
from engines import Firefox, WebKit, views_of

VECTORS = pathlib.Path(__file__).parent.parent / "vectors/webtorrent-fixtures/fixtures"
LIBTORRENT = VECTORS.parent.parent / "libtorrent"
BLOCK = 16384
AXE = pathlib.Path(__file__).parent.parent / "build/npm/node_modules/axe-core/axe.min.js"


class Chromium(Browser):
    name, tells = "Chromium", True


# ---- Torrents -------------------------------------------------------------------------------------------------------


def sha256(data):
    return hashlib.sha256(data).digest()


def layer_of(data, nbytes):
    """The hashes over nbytes each, padded up to a whole tree, and the root (BEP 52)."""
    level = [sha256(data[at:at + BLOCK]) for at in range(0, len(data), BLOCK)]
    width, layer = BLOCK, None
    while True:
        if width == nbytes:
            layer = level[:-(-len(data) // nbytes)]
        if len(level) == 1 and (width >= nbytes or len(data) <= nbytes):
            return layer, level[0]
        if width < nbytes and len(data) > nbytes:  # every piece is a whole subtree
            level += [bytes(32)] * (-len(level) % (nbytes // width))
        elif len(level) & (len(level) - 1):
            zeros = bytes(32)
            for _ in range((width // BLOCK).bit_length() - 1):
                zeros = sha256(zeros * 2)
            level += [zeros] * ((1 << (len(level) - 1).bit_length()) - len(level))
        level = [sha256(level[at] + level[at + 1]) for at in range(0, len(level), 2)]
        width *= 2


def torrent(name, files, piece, version="v1"):
    """The torrent of files, a dictionary of paths and contents."""
    info, outer = {"name": name, "piece length": piece}, {}
    if version in ("v2", "hybrid"):
        tree, layers = {}, {}
        for path, data in files.items():
            node = tree
            for part in path.split("/"):
                node = node.setdefault(part, {})
            node[""] = {"length": len(data)}
            if data:
                layer, root = layer_of(data, piece)
                node[""]["pieces root"] = root
                if len(data) > piece:
                    layers[root] = b"".join(layer)
        info |= {"meta version": 2, "file tree": tree}
        outer["piece layers"] = layers
    if version in ("v1", "hybrid"):
        content, entries = b"", []
        for path in sorted(files, key=lambda path: path.split("/")) if version == "hybrid" else files:
            if version == "hybrid" and len(content) % piece:
                gap = -len(content) % piece
                entries.append({"length": gap, "path": [".pad", str(gap)], "attr": "p"})
                content += bytes(gap)
            entries.append({"length": len(files[path]), "path": path.split("/")})
            content += files[path]
        info |= {"files": entries, "pieces": b"".join(hashlib.sha1(content[at:at + piece]).digest()
                                                      for at in range(0, len(content), piece))}
    return bencode(outer | {"info": info})


def b64(data):
    return base64.b64encode(sha256(data)).decode()


def noise(nbytes, seed):
    return hashlib.shake_128(str(seed).encode()).digest(nbytes)


def write(folder, files):
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


# ---- The page -------------------------------------------------------------------------------------------------------


def made_by(program, content, output, options):
    """The torrent that the program makes, which leaves out torrents and junk; the page leaves out nothing."""
    subprocess.run([program, "torrent", "create", "--quiet", "--force", "--output", output, *options, content],
                   check=True)
    return output.read_bytes()


# The options of the program, and what is put into the page's fields.
MAKINGS = [
    ([], {}),
    (["--hybrid"], {"version": "hybrid"}),
    (["--v2"], {"version": "v2"}),
    (["--v1", "-l", "64KiB", "--private", "-t", "udp://a.example:1/x,https://b.example/", "-t", "wss://c.example"],
     {"version": "v1", "piece": "65536", "private": True,
      "trackers": "udp://a.example:1/x,https://b.example/\n\n  wss://c.example \n"}),
    (["--v2", "-l", "32KiB", "-w", "https://d.example/x/", "-w", "ftp://e.example/", "-t", "http://f.example/"],
     {"version": "v2", "piece": "32768", "seeds": "https://d.example/x/\nftp://e.example/",
      "trackers": "http://f.example/"}),
    (["--hybrid", "-l", "1MiB", "--private"], {"version": "hybrid", "piece": "1048576", "private": True}),
]


def fill(fields):
    """A script that puts values into the fields for a new torrent, and begins to make it."""
    return (f"(() => {{ for (const [id, value] of Object.entries({json.dumps(fields)})) {{ "
            "const field = document.getElementById(id); "
            "if (value === true) field.checked = true; else field.value = value; } "
            "document.getElementById('make').open = true; "
            "document.querySelector('#making button').click(); })()")


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@contextlib.contextmanager
def served_site(files):
    """The site as Netlify or Cloudflare would serve it, with its headers; `files` may be replaced meanwhile."""
    class Site(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.partition("?")[0]
            data = files.get("index.html" if path == "/" else path[1:])
            self.send_response(200 if data is not None else 404)
            for line in files["_headers"].decode().splitlines():
                if not line.startswith(" "):
                    matches = line in ("/*", path)
                elif matches:
                    self.send_header(*line.strip().split(": ", 1))
            kinds = {"html": "text/html", "js": "text/javascript", "svg": "image/svg+xml", "png": "image/png"}
            self.send_header("Content-Type", kinds.get(path.rpartition(".")[2], "application/manifest+json")
                             if path != "/" else "text/html")
            self.end_headers()
            self.wfile.write(data or b"")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ended = []

    def stop():
        if not ended:
            ended.append(True)
            server.shutdown()
            server.server_close()

    try:
        yield f"http://127.0.0.1:{server.server_port}/", stop
    finally:
        stop()


class Shown:
    """What the page shows, in any engine."""

    def text(self, selector):
        return self.browser.run(f"document.querySelector({selector!r}).textContent")

    def table(self):
        return self.browser.run("[...document.querySelectorAll('#rows tr')].map((line) => "
                                "[line.cells[1].textContent, line.cells[0].textContent])")

    def until(self, condition, seconds=60):
        """Waits until an expression is true in the page."""
        deadline = time.monotonic() + seconds
        while not self.browser.run(condition):
            assert time.monotonic() < deadline, f"{condition}: " + self.browser.run("document.body.innerText")
            time.sleep(0.05)

    def has_program(self):
        if not self.program:
            print("SKIPPED: web: torrents that the page makes: no program: --program target/release/hashloom")
            assert not os.environ.get("HASHLOOM_REQUIRE")
        return bool(self.program)


# Scripts that hold the first answer of each worker, or the last look at the files, and those that let go.
HOLD_ANSWERS = ("window.held = answered; window.waiting = []; answered = (worker, data) => "
                "window.going || data.nbytes ? held(worker, data) : waiting.push([worker, data]); 0")
LET_ANSWERS_GO = "window.going = true; waiting.forEach((answer) => held(...answer)); 0"
HOLD_LAST_LOOK = ("window.held = recheck; recheck = async (own) => { await new Promise((go) => (window.go = go)); "
                  "return held(own); }; 0")


class Tests(Shown):
    def __init__(self, browser, page, folder, screenshots, program=None, site=None):
        self.browser, self.page, self.folder, self.screenshots = browser, page, folder, screenshots
        self.program, self.site = program, site
        self.requests = []

    def changed(self, *pairs):
        """The page with other words in its scripts."""
        page = self.folder / "changed.html"
        page.write_text(with_words(self.page.read_text(), *pairs))
        return page.as_uri()

    def open(self, url=None):
        self.browser.open(url or self.page.as_uri())

    def wait(self):
        """Waits for the end of a check and returns the verdicts by name, and the summary."""
        is_ended = "check !== null && check.ended !== null"
        self.until(f"({is_ended}) || document.getElementById('error').textContent !== ''")
        assert self.browser.run(is_ended), self.error()
        return dict(self.table()), self.text("#summary")

    def error(self):
        return self.text("#error")

    def wait_error(self):
        self.until("document.getElementById('error').textContent !== ''", 20)
        return self.error()

    def choose(self, source, folder, url=None):
        self.open(url)
        self.browser.choose("#source", [source])
        self.browser.choose("#folder", [folder])
        return self.wait()

    def picture(self, name, dark=False):
        if self.screenshots is None:
            return
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.browser.call("Emulation.setEmulatedMedia", features=features)
        self.browser.run("check && check.pieces ? showMap() : null")
        data = self.browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        (self.screenshots / f"{name}.png").write_bytes(base64.b64decode(data))
        self.browser.call("Emulation.setEmulatedMedia", features=[])

    def made(self, version, piece=BLOCK, files=None):
        """A folder with a torrent beside it, new for each test."""
        self.count = getattr(self, "count", 0) + 1
        top = self.folder / f"made-{self.count}"
        files = files or {"a.bin": noise(100_000, 1), "b/long name.bin": noise(300_001, 2), "b/c.bin": noise(16384, 3),
                          "empty": b"", "z.bin": noise(40_000, 4)}
        write(top / "album", files)
        (top / "album.torrent").write_bytes(torrent("album", files, piece, version))
        return top / "album.torrent", top / "album"

    # ---- Torrents ----

    def test_whole(self):
        for version in ["v1", "v2", "hybrid"]:
            for piece in [BLOCK, 4 * BLOCK, 64 * BLOCK]:
                source, folder = self.made(version, piece)
                verdicts, summary = self.choose(source, folder)
                assert set(verdicts.values()) == {"OK"} and len(verdicts) == 5, (version, piece, verdicts)
                assert summary.startswith("5 of 5 files OK."), summary

    def test_parent_folder(self):
        source, folder = self.made("v1")
        verdicts, _ = self.choose(source, folder.parent)
        assert set(verdicts.values()) == {"OK"}, verdicts

    def test_damaged_missing_long_short_renamed_extra(self):
        for version in ["v1", "v2", "hybrid"]:
            source, folder = self.made(version)
            data = bytearray((folder / "b/long name.bin").read_bytes())
            data[150_000] ^= 1
            (folder / "b/long name.bin").write_bytes(data)
            with (folder / "a.bin").open("ab") as file:
                file.write(b"x")
            (folder / "z.bin").write_bytes((folder / "z.bin").read_bytes()[:20_000])
            (folder / "b/c.bin").rename(folder / "b/d.bin")
            verdicts, summary = self.choose(source, folder)
            assert verdicts["b/long name.bin"].startswith("damaged, at piece "), verdicts
            assert verdicts["a.bin"] == "too long: 1 byte more than expected, the rest is right", (version, verdicts)
            assert verdicts["z.bin"].startswith("too short by 20,000 bytes"), verdicts
            assert verdicts["b/c.bin"] == "missing", verdicts
            assert verdicts["b/d.bin"] == "extra: not named", verdicts
            assert verdicts["empty"] == "OK", verdicts
            assert summary.startswith("1 of 5 files OK."), summary
            self.picture(f"damaged-{version}", dark=version == "v2")

    def test_picture(self):
        """The picture of docs/web.md: --only picture --screenshots docs."""
        files = {f"{i:02} track.flac": noise(2_500_000 + 70_000 * i, i) for i in range(1, 9)}
        source, folder = self.made("v1", BLOCK, files | {"cover.jpg": noise(150_000, 0)})
        with (folder / "03 track.flac").open("r+b") as file:
            file.seek(700_000)
            file.write(bytes(300_000))
        with (folder / "06 track.flac").open("r+b") as file:
            file.truncate(1_500_000)
        (folder / "08 track.flac").unlink()
        (folder / "notes.txt").write_bytes(b"x")
        verdicts, summary = self.choose(source, folder)
        assert summary == "4 of 9 files OK. 1,088 of 1,384 pieces right. 1 extra file.", (verdicts, summary)
        self.picture("web")

    def test_without_byte_streams(self):
        """As in Safari, whose streams of files have buffers of their own."""
        source, folder = self.made("hybrid", files={"one": noise(3_000_000, 1), "two": noise(20_000, 2)})
        verdicts, _ = self.choose(source, folder, self.changed(('stream.getReader({ mode: "byob" })', "null.none")))
        assert set(verdicts.values()) == {"OK"}, verdicts

    def test_every_byte_counts(self):
        """The piece that is said to be wrong is the one that was changed."""
        source, folder = self.made("v1", files={"one": noise(40 * BLOCK, 7), "two": noise(10 * BLOCK + 1, 8)})
        for at in [0, BLOCK - 1, BLOCK, 39 * BLOCK + 5]:
            data = bytearray(noise(40 * BLOCK, 7))
            data[at] ^= 0x80
            (folder / "one").write_bytes(data)
            verdicts, summary = self.choose(source, folder)
            assert verdicts == {"one": f"damaged, at piece {at // BLOCK}", "two": "OK"}, verdicts
            assert "50 of 51 pieces right" in summary, summary

    def test_shared_piece(self):
        files = {"a": noise(10_000, 1), "b": noise(10_000, 2), "c": noise(40_000, 3)}
        source, folder = self.made("v1", files=files)
        (folder / "a").unlink()
        verdicts, _ = self.choose(source, folder)
        assert verdicts["a"] == "missing" and verdicts["b"].startswith("not proven: "), verdicts
        # Of two files in a wrong piece, nobody knows which one is damaged.
        write(folder, {"a": noise(10_000, 1), "c": bytes([1]) + noise(40_000, 3)[1:]})
        verdicts, _ = self.choose(source, folder)
        assert verdicts == {"a": "OK", "b": "damaged, or a file that shares the piece is, at piece 1",
                            "c": "damaged, or a file that shares the piece is, at piece 1"}, verdicts
        write(folder, {"c": bytes(40_000)})
        verdicts, _ = self.choose(source, folder)
        assert verdicts["c"] == "damaged, at pieces 1\u20133" and verdicts["b"].startswith("damaged, or"), verdicts

    def test_long_pieces(self):
        """Pieces longer than a row of the worker's room, and more of them than it has lanes."""
        files = {"big": noise(90 << 20, 5), "small": noise(1000, 6)}
        for version in ["v1", "v2"]:
            source, folder = self.made(version, 16 << 20, files)
            verdicts, _ = self.choose(source, folder)
            assert set(verdicts.values()) == {"OK"}, (version, verdicts)
        with (folder / "big").open("r+b") as file:
            file.seek(20 << 20)
            file.write(b"changed")
        verdicts, _ = self.choose(source, folder)
        assert verdicts["big"] == "damaged, at piece 1", verdicts

    def test_vectors(self):
        tried = 0
        names = {"leaves": "Leaves of Grass by Walt Whitman.epub", "alice": "alice.txt", "lots": "lots-of-numbers"}
        for source in [*sorted(VECTORS.glob("*.torrent")), *sorted(LIBTORRENT.glob("*.torrent"))]:
            stem = source.stem.removesuffix("-v2").removesuffix("-hybrid")
            content = VECTORS / names.get(stem, stem)
            if not content.exists():
                continue
            self.open()
            self.browser.choose("#source", [source])
            self.browser.choose("#folder" if content.is_dir() else "#files", [content])
            verdicts, _ = self.wait()
            assert verdicts and set(verdicts.values()) == {"OK"}, (source, verdicts)
            tried += 1
        assert tried == 13, tried

    def test_renamed_single_file(self):
        copy = self.folder / "another name.txt"
        shutil.copy(VECTORS / "alice.txt", copy)
        self.open()
        self.browser.choose("#source", [VECTORS / "alice.torrent"])
        self.browser.choose("#files", [copy])
        verdicts, _ = self.wait()
        assert verdicts == {"alice.txt": "OK"}, verdicts

    def test_dropped(self):
        with self.served() as url:
            for at in [None, url]:
                self.dropped(at)
            # Names that Chromium leaves out of what it gives to a page from a disk.
            top = self.folder / "left out"
            write(top, {"a": b"abc", "x*y": b"1", "x.lnk": b"2", "sub/CON": b"3"})
            for at, nfiles in [(None, 1), (url, 4)]:
                self.open(at)
                self.browser.drop("#zone", [top])
                self.until("given.size > 0 && !listing")
                assert self.browser.run("given.size") == nfiles
                assert ("leaves out names" in self.text("#found")) == (at is None), self.text("#found")
                self.browser.run(fill({"version": "hybrid"}))
                if at is None:
                    assert "choose the folder by the button" in self.wait_error(), self.error()
                else:
                    assert self.torrent_made()[1].count(b"4:pathl") == 4 + 4  # with padding

    def dropped(self, url):
        source, folder = self.made("hybrid")
        self.open(url)
        self.browser.drop("#zone", [source, folder])
        verdicts, _ = self.wait()
        assert set(verdicts.values()) == {"OK"} and len(verdicts) == 5, verdicts
        # Files that were dropped are had anew for the next check.
        (folder / "z.bin").write_bytes(noise(40_000, 99))
        self.browser.run("document.getElementById('again').click()")
        time.sleep(0.2)
        verdicts, _ = self.wait()
        assert verdicts["z.bin"] == "damaged, at pieces 27\u201329", verdicts

    @contextlib.contextmanager
    def served(self, headers=None):
        handler = functools.partial(Quiet, directory=str(self.page.parent), headers=headers or {})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/{self.page.name}"
        finally:
            server.shutdown()
            server.server_close()

    def test_headers(self):
        """The headers of docs/web.md forbid what the page itself cannot: connections ahead of use, and WebRTC."""
        text = (pathlib.Path(__file__).parent.parent / "docs/web.md").read_text()
        headers = dict(re.findall(r"^\| `([\w-]+)` \| `([^`]+)` \|$", text, re.MULTILINE))
        lines = files_of(self.site)["_headers"].decode().split("\n/\n")[0].splitlines()
        assert lines == ["/*", *(f"  {name}: {value}" for name, value in headers.items())], (lines, headers)
        for allowed in [headers["Connection-Allowlist"], "()"]:
            self.connects(headers | {"Connection-Allowlist": allowed})

    def connects(self, headers):
        source, folder = self.made("v1")
        with self.served(headers) as url, socket.create_server(("127.0.0.1", 0)) as ahead, \
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stun:
            verdicts, _ = self.choose(source, folder, url)
            assert set(verdicts.values()) == {"OK"}, verdicts
            stun.bind(("127.0.0.1", 0))
            self.browser.run(f"""(async () => {{
                const link = document.createElement('link');
                [link.rel, link.href] = ['preconnect', 'http://127.0.0.1:{ahead.getsockname()[1]}/'];
                document.head.append(link);
                const urls = 'stun:127.0.0.1:{stun.getsockname()[1]}';
                const peer = new RTCPeerConnection({{ iceServers: [{{ urls }}] }});
                peer.createDataChannel('x');
                await peer.setLocalDescription(await peer.createOffer());
                await new Promise((done) => setTimeout(done, 500));
            }})()""")
            came = select.select([ahead, stun], [], [], 0)[0]
            version = int(re.search(r"Chrome/(\d+)", self.browser.run("navigator.userAgent"))[1])
            if came and version < 156:
                print(f"SKIPPED: web: headers: Chromium {version} does not know Connection-Allowlist")
            else:
                assert not came, "a connection"

    def problems(self):
        """What the browser has logged."""
        kinds = "Log.entryAdded", "Runtime.exceptionThrown"
        return [event for event in self.browser.events if event["method"] in kinds]

    def test_no_request(self):
        """The page asks for nothing but itself."""
        source, folder = self.made("v1")
        self.choose(source, folder)
        asked = [event["params"]["request"]["url"] for event in self.browser.events
                 if event["method"] == "Network.requestWillBeSent"]
        assert all(url.startswith(("file:", "blob:")) for url in asked), asked
        assert not self.problems(), self.problems()
        refused = self.browser.run("fetch('http://127.0.0.1:9/').then(() => 'sent', (error) => error.message)")
        assert refused != "sent", refused
        assert any("Content Security Policy" in str(event) for event in self.browser.events), self.browser.events

    def test_changed_while_read(self):
        """A file that changes between two reads is never OK, even if it has the right bytes again."""
        source, folder = self.made("v1", files={"one": noise(300 * BLOCK, 1), "two": noise(20_000, 2)})
        self.open()
        self.browser.run(HOLD_ANSWERS)
        self.browser.choose("#source", [source])
        self.browser.choose("#folder", [folder])
        self.until("waiting.length > 0")
        stamp = os.stat(folder / "one").st_mtime + 10
        os.utime(folder / "one", (stamp, stamp))
        self.browser.run(LET_ANSWERS_GO)
        verdicts, summary = self.wait()
        assert "choose it again" in verdicts["one"] and summary.startswith("1 of 2 files OK."), (verdicts, summary)

    def test_changed_at_the_end(self):
        source, folder = self.made("v1", files={"one": noise(1_000_000, 1), "two": noise(200_000, 2)})
        self.open()
        # The file changes when all pieces are hashed.
        self.browser.run(HOLD_LAST_LOOK)
        self.browser.choose("#source", [source])
        self.browser.choose("#folder", [folder])
        self.until("window.go !== undefined")
        stamp = os.stat(folder / "two").st_mtime + 10
        os.utime(folder / "two", (stamp, stamp))
        self.browser.run("window.go()")
        verdicts, _ = self.wait()
        assert verdicts["one"] == "OK" and "choose it again" in verdicts["two"], verdicts

    def test_cancel(self):
        source, folder = self.made("v1", files={"one": noise(60 << 20, 1)})
        self.open()
        self.browser.choose("#source", [source])
        self.browser.run("const begun = start; "
                         "start = async () => { const begins = begun(); cancel(); await begins; }; 0")
        self.browser.choose("#folder", [folder])
        verdicts, summary = self.wait()
        assert verdicts == {"one": "not checked"} and summary.startswith("Stopped before the end. 0 of 1"), verdicts

    def test_pieces_longer_than_files(self):
        """The longest pieces that a torrent may have: the room of a worker does not grow with them."""
        for version in ["v1", "v2"]:
            source, folder = self.made(version, 1 << 32)
            verdicts, _ = self.choose(source, folder)
            assert set(verdicts.values()) == {"OK"}, (version, verdicts)
            (folder / "z.bin").write_bytes(noise(40_000, 99))
            verdicts, _ = self.choose(source, folder)
            expected = {"v1": "damaged, or a file that shares the piece is, at piece 0", "v2": "damaged, at piece 3"}
            assert verdicts["z.bin"] == expected[version], verdicts

    def test_module_that_ends(self):
        """A panic in the module is an error, and no file is OK after it."""
        source, folder = self.made("v1")
        self.open()
        self.browser.run("next = (worker) => { check.busy++; worker.postMessage({ first: 1e6, count: 1 }); }; 0")
        self.browser.choose("#source", [source])
        self.browser.choose("#folder", [folder])
        assert "The check ended with an error: RuntimeError" in self.wait_error(), self.error()
        assert "not checked" in self.browser.run("document.getElementById('rows').textContent")
        assert "OK" not in self.browser.run("document.getElementById('rows').textContent")

    def test_bad_torrents(self):
        info = {"name": "a", "piece length": BLOCK, "pieces": b""}
        for content, words in [
            (b"d4:infod6:lengthi0e4:name2:..12:piece lengthi16384e6:pieces0:ee", "leads out of the folder"),
            (bencode({"info": info | {"files": [{"length": 0, "path": ["..", "x"]}]}}), "leads out of the folder"),
            (bencode({"info": info | {"length": 1, "piece length": 1 << 60}}), "piece length"),
            (b"d" * 1000, "byte"), (b"d1:a" * 100_000, "byte"), (b"l" * 1_000_000, "byte"),
            (b"d1:a", "byte"), (b"", ""),
        ]:
            path = self.folder / "bad.torrent"
            path.write_bytes(content)
            self.open()
            self.browser.choose("#source", [path])
            assert words in self.wait_error() and "bad.torrent: " in self.error(), (content[:99], self.error())
        self.picture("bad-torrent")

    def test_names_are_text(self):
        name = "<img src=x onerror=document.title='run'>\u202e\x1b[31m"
        source, folder = self.made("v1", files={name: b"abc", "plain": b"x"})
        verdicts, _ = self.choose(source, folder)
        assert verdicts["<img src=x onerror=document.title='run'>\\u202e\\u001b[31m"] == "OK", verdicts
        assert self.browser.run("document.images.length") == 0 and "run" not in self.browser.run("document.title")

    # ---- Lists ----

    def test_lists(self):
        """Plain lines, tags of OpenSSL and BSD, and lists whose name says the algorithm."""
        # The first MD5 begins with d4, as a torrent could.
        files = {"empty": b"", "a": noise(100_000, 1), "sub/b c": noise(136, 2), "big": noise(9_000_001, 3)}
        for number, (list_name, algorithm, line) in enumerate([
            ("SUMS", "md5", "{hex}  {name}\n"), ("SUMS", "sha1", "{hex} *{name}\n"),
            ("SUMS", "sha224", "{hex}  ./{name}\r\n"), ("SUMS", "sha256", "SHA256 ({name}) = {hex}\n"),
            ("SUMS", "sha256", "{hex}  {name}\n"), ("SHA256SUMS", "sha256", "{hex}  {name}\n"),
            ("SUMS", "sha384", "{hex}  {name}\n"), ("SUMS", "sha512", "SHA512({name})= {hex}\n"),
            ("SUMS", "ripemd160", "RMD160 ({name}) = {hex}\n"), ("all.sha3-224", "sha3_224", "{hex} *{name}\n"),
            ("SUMS", "sha3_256", "SHA3-256({name})= {hex}\n"), ("SHA3-256SUMS", "sha3_256", "{hex}  {name}\n"),
            ("SUMS", "sha3_512", "SHA3-512 ({name}) = {hex}\n"),
        ]):
            try:
                digests = {name: hashlib.new(algorithm, data).hexdigest() for name, data in files.items()}
            except ValueError:
                print(f"SKIPPED: web: {algorithm}: this Python's OpenSSL lacks it")
                continue
            top = self.folder / f"list-{number}"
            write(top, files)
            lines = "".join(line.format(hex=digest, name=name) for name, digest in digests.items())
            (top / list_name).write_text(lines + "# a comment\n", newline="")
            verdicts, summary = self.choose(top / list_name, top)
            assert len(verdicts) == 4 and set(verdicts.values()) == {"OK"}, (list_name, algorithm, verdicts)
            (top / "a").write_bytes(noise(100_000, 9))
            (top / "empty").unlink()
            verdicts, summary = self.choose(top / list_name, top)
            assert [text.split(":")[0] for text in verdicts.values()] == ["damaged", "missing", "OK", "OK"], verdicts
            assert summary.startswith("2 of 4 files OK."), summary
        self.picture("list")
        assert self.browser.run("['x.SHA3-256', 'SHA3-512SUMS', 'x.shake128', 'x.md5', 'sums.txt', 'a.b/x.rmd160']"
                                ".every(looksLikeSource) && !['sha3', 'x.txt', 'md5.c'].some(looksLikeSource)")

    def test_hashdeep(self):
        top = self.folder / "deep"
        write(top, {"a": b"abc"})
        columns = [hashlib.new(name, b"abc").hexdigest() for name in ["md5", "sha256"]]
        header = "%%%% HASHDEEP-1.0\n%%%% size,md5,sha256,filename\n"
        (top / "list.txt").write_text(f"{header}3,{columns[0]},{columns[1]},a\n")
        assert self.choose(top / "list.txt", top)[0]["a"] == "OK"
        for wrong in [f"4,{columns[0]},{columns[1]},a\n", f"2,{columns[0]},{columns[1]},a\n",
                      f"3,{columns[0][::-1]},{columns[1]},a\n"]:
            (top / "list.txt").write_text(header + wrong)
            assert self.choose(top / "list.txt", top)[0]["a"] != "OK", wrong

    def test_hostile_list(self):
        top = self.folder / "hostile"
        write(top, {"a": b"abc", "new\nline": b"x"})
        digest = hashlib.sha256(b"abc").hexdigest()
        (self.folder / "outside").write_bytes(b"abc")
        (top / "SHA256SUMS").write_text(
            f"{digest}  a\n{digest}  ../outside\n{digest}  /etc/passwd\nno checksum\n{digest[1:]}  a\n"
            f"\\{hashlib.sha256(b'x').hexdigest()}  new\\nline\n\\{digest}  bad\\escape\n")
        verdicts, summary = self.choose(top / "SHA256SUMS", top)
        assert verdicts["a"] == "OK" and verdicts["new\\u000aline"] == "OK", verdicts
        for name in ["../outside", "/etc/passwd"]:
            assert "outside of the folder" in verdicts[name], verdicts
        assert "3 lines of the list could not be read" in summary, summary
        (top / "SHA256SUMS").write_text("hello\n")
        self.open()
        self.browser.choose("#source", [top / "SHA256SUMS"])
        assert "neither a torrent nor a list" in self.wait_error()

    def test_many_files(self):
        top = self.folder / "many"
        files = {f"{i % 7}/{i}": noise(i * 13 % 5000, i) for i in range(1500)}
        write(top, files)
        (top / "SHA1SUMS").write_text("".join(f"{hashlib.sha1(data).hexdigest()}  {name}\n"
                                              for name, data in files.items()))
        verdicts, summary = self.choose(top / "SHA1SUMS", top)
        assert summary == "1,500 of 1,500 files OK.", summary

    # ---- Many files, and which torrent or list counts ----

    def input(self, selector, value):
        self.browser.run(f"(() => {{ const field = document.querySelector({selector!r}); field.value = {value!r}; "
                         "field.dispatchEvent(new Event('input')); })()")

    def test_worst_first(self):
        """The damaged file among 2,100, and the missing one, stand first; all others can be reached."""
        top = self.folder / "worst"
        files = {f"{i:04}": b"%d" % i for i in range(2100)}
        write(top, files)
        (top / "SHA256SUMS").write_text("".join(f"{sha256(data).hex()}  {name}\n" for name, data in files.items()))
        (top / "2050").write_bytes(b"other")
        (top / "1999").unlink()
        _, summary = self.choose(top / "SHA256SUMS", top)
        assert summary == "2,098 of 2,100 files OK.", summary
        table = self.table()
        assert [name for name, _ in table] == ["2050", "1999", *map("{:04}".format, range(198))], table[:3]
        assert table[0][1].startswith("damaged") and table[1][1] == "missing", table[:3]
        assert self.text("#verdict") == "1 file not right, 1 missing"
        assert self.browser.run("document.title").startswith("1 file not right, 1 missing")
        self.browser.run("document.getElementById('last').click()")
        assert self.table()[-1] == ["2099", "OK"] and len(self.table()) == 100
        assert self.text("#more") == "2,001\u20132,100 of 2,100 files"
        self.input("#filter", "bad")
        assert [name for name, _ in self.table()] == ["2050", "1999"]
        self.input("#filter", "all")
        self.input("#search", "205")
        expected = ["2050", "0205", "1205", *(f"{i}" for i in range(2051, 2060))]
        assert [name for name, _ in self.table()] == expected, self.table()
        self.input("#search", "none")
        assert self.table() == [] and self.text("#more") == "no such file"
        self.picture("worst")

    def test_bad_list_stays_bad(self):
        """Choosing the folder does not hide that the list is none; another list does."""
        top = self.folder / "stays"
        write(top, {"a": b"abc"})
        (self.folder / "bad.txt").write_text("hello\n")
        (self.folder / "good.txt").write_text(f"SHA256 (a) = {sha256(b'abc').hex()}\n")
        self.open()
        self.browser.choose("#source", [self.folder / "bad.txt"])
        assert "bad.txt: neither a torrent nor a list" in self.wait_error()
        self.browser.choose("#folder", [top])
        self.until("document.getElementById('found').textContent.includes('1 file given')")
        assert "bad.txt: neither a torrent nor a list" in self.error()
        self.browser.choose("#source", [self.folder / "good.txt"])
        self.until("document.getElementById('error').textContent === ''")
        assert self.wait()[0] == {"a": "OK"}

    def of_many_files(self, nfiles):
        path = self.folder / f"{nfiles}.torrent"
        entries = b"".join(b"d6:lengthi1e4:pathl1:d7:%07dee" % i for i in range(nfiles))
        npieces = -(-nfiles // BLOCK)
        path.write_bytes(b"d4:infod5:filesl%se4:name4:many12:piece lengthi%de6:pieces%d:%see" % (
            entries, BLOCK, 20 * npieces, bytes(20 * npieces)))
        return path

    def test_torrent_of_many_files(self):
        """It is read beside the page's thread, and reading can be cancelled; the torrent that was chosen last wins."""
        nfiles = 1_000_000 if os.environ.get("HASHLOOM_TEST_ALL") == "1" else 100_000
        many = self.of_many_files(nfiles)
        source, folder = self.made("v1", files={"one": noise(50_000, 1)})
        self.open()
        # The torrent of many files is read as slowly as the test wants.
        self.browser.run("window.real = Worker; window.held = []; Worker = class extends real { postMessage(...all) { "
                         "if (all[0].parse && all[0].name !== 'album.torrent') "
                         "held.push(() => super.postMessage(...all)); else super.postMessage(...all); } }; 0")
        self.browser.choose("#folder", [folder])
        self.browser.choose("#source", [many])
        self.until("held.length === 1")
        assert self.browser.run("!document.getElementById('stop').hidden")
        assert self.text("#found").startswith(f"Reading {many.name}")
        self.browser.run("document.getElementById('stop').click()")
        assert "reading was cancelled" in self.error()
        self.browser.choose("#source", [many])
        self.until("held.length === 2")
        self.browser.choose("#source", [source])
        self.browser.run("held.forEach((go) => go()); 0")
        assert self.wait()[0]["one"] == "OK" and self.browser.run("source.name") == "album.torrent"
        self.browser.run("Worker = real; 0")
        self.browser.choose("#source", [many])
        self.until("source?.name !== 'album.torrent' && check.source === source")
        _, summary = self.wait()
        assert summary.startswith(f"0 of {nfiles:,} files OK."), summary
        assert self.text("#verdict") == f"{nfiles:,} missing"
        assert self.browser.run("document.querySelectorAll('#rows tr').length") == 200

    # ---- Lists of Windows, and what cannot be told ----

    def test_lists_of_windows(self):
        files = {"a.txt": noise(1000, 1), "sub/b c.txt": noise(70_000, 2), "sub/deep/d": b""}
        top = self.folder / "windows"
        write(top, files)
        digests = {name: hashlib.sha256(data).hexdigest().upper() for name, data in files.items()}
        windows = {name: "C:\\dl\\pkg\\" + name.replace("/", "\\") for name in files}
        table = "".join(f"SHA256          {digests[name]}       {windows[name]}  \r\n" for name in files)
        lists = {
            "table": "\r\nAlgorithm       Hash       Path\r\n---------       ----       ----\r\n" + table + "\r\n",
            "csv": '#TYPE Microsoft.PowerShell.Commands.FileHashInfo\r\n"Algorithm","Hash","Path"\r\n' + "".join(
                f'"SHA256","{digests[name]}","{windows[name]}"\r\n' for name in files),
        }
        path = self.folder / "sums.txt"
        for (name, text), encoding in zip(lists.items(), ["utf-8-sig", "utf-16"]):
            path.write_bytes(text.encode(encoding))
            verdicts, summary = self.choose(path, top)
            assert summary.startswith("3 of 3 files OK."), (name, encoding, verdicts, summary, self.error())
        (top / "a.txt").write_bytes(noise(1000, 9))
        verdicts, _ = self.choose(path, top)
        assert [verdict.split(":")[0] for verdict in verdicts.values()] == ["damaged", "OK", "OK"], verdicts
        # Names of two drives: neither is the file that has the rest of its name.
        path.write_text('"Algorithm","Hash","Path"\n' + "".join(
            f'"SHA256","{digests["sub/deep/d"]}","{drive}:\\sub\\deep\\d"\n' for drive in "CD"))
        assert set(self.choose(path, top)[0].values()) >= {"missing"}, self.table()
        assert "OK" not in self.choose(path, top)[0].values(), self.table()
        path.write_text("Algorithm Hash Path\n--- --- ---\n" + f"SHA256 {digests['a.txt']} C:\\dl\\pk...\n" + table)
        verdicts, summary = self.choose(path, top)
        assert "1 line of the list could not be read" in summary and "cut the path" in self.text("#note-list"), summary

    def test_cannot_be_checked(self):
        """Digests of an algorithm that the list does not name are no proof of damage."""
        files = {"a": noise(1000, 1), "b": noise(2000, 2)}
        top = self.folder / "untold"
        write(top, files)

        def listed(name, algorithm, wrong=()):
            digests = {file: hashlib.new(algorithm, b"x" if file in wrong else data).hexdigest()
                       for file, data in files.items()}
            path = self.folder / name
            path.write_text("".join(f"{digest}  {file}\n" for file, digest in digests.items()))
            return path

        # The page tries all algorithms with as many digits on the shortest files, then the right one on all files.
        for name, algorithm in [("sums.txt", "blake2b"), ("list", "blake2s"), ("list", "sha3_512"),
                                ("B2SUMS", "blake2b")]:
            verdicts, summary = self.choose(listed(name, algorithm), top)
            assert set(verdicts.values()) == {"OK"} and summary.startswith("2 of 2 "), (name, algorithm, verdicts)
            assert self.choose(listed(name, algorithm, "b"), top)[0] == {"a": "OK", "b": "damaged: not the list's SHA" +
                   ("256" if algorithm == "blake2s" else "512")}, (name, algorithm)
        verdicts, summary = self.choose(listed("sums.txt", "blake2b", "ab"), top)
        assert all(text.startswith("cannot be checked: not its SHA512") for text in verdicts.values()), verdicts
        assert self.text("#verdict") == "2 files cannot be checked" and summary.startswith("0 of 2 "), summary
        assert self.browser.run("document.getElementById('work').className") == "gone"
        self.picture("cannot-be-checked")
        # The list's name names the algorithm, or a right line does.
        for name, algorithm, wrong in [("SHA512SUMS", "blake2b", "ab"), ("sums.txt", "sha512", "a")]:
            verdicts, _ = self.choose(listed(name, algorithm, wrong), top)
            assert verdicts["a"] == "damaged: not the list's SHA512", (name, verdicts)
            assert (verdicts["b"] == "OK") == (wrong == "a"), verdicts
        (self.folder / "list").write_text(f"WHIRLPOOL (a) = {'0' * 128}\nSHA256 (b) = {sha256(files['b']).hex()}\n")
        verdicts, summary = self.choose(self.folder / "list", top)
        assert verdicts == {"b": "OK", "a": "extra: not named"} or verdicts["b"] == "OK", verdicts
        assert "WHIRLPOOL" in self.text("#note-list") and "1 line of the list could not be read" in summary
        assert self.browser.run("document.getElementById('work').className") == "gone"

    def test_folder_with_its_list(self):
        top = self.folder / "own"
        write(top, {"a": b"abc", "SHA256SUMS": f"{sha256(b'abc').hex()}  a\n".encode()})
        self.open()
        self.browser.choose("#folder", [top])
        self.until("check !== null")
        verdicts, summary = self.wait()
        assert verdicts == {"a": "OK"} and self.text("#verdict") == "a is right", (verdicts, summary)
        assert self.text("#found").startswith("SHA256SUMS of the folder itself: 1 checksum."), self.text("#found")
        # One of several is the choice of who checks.
        (top / "SHA1SUMS").write_text(f"{hashlib.sha1(b'other').hexdigest()}  a\n")
        self.open()
        self.browser.choose("#folder", [top])
        self.until("!document.getElementById('several').hidden")
        self.browser.run("(() => { const field = document.getElementById('own'); field.value = 'own/SHA1SUMS'; "
                         "field.onchange(); })()")
        self.until("check !== null")
        assert self.wait()[0] == {"a": "damaged: not the list's SHA1"}, self.table()

    # ---- Without a list ----

    def saved(self, button):
        """What a button saves: its name and its text."""
        self.browser.run("window.kept = null; save = (...all) => (window.kept = all); "
                         f"document.getElementById('{button}').click()")
        return self.browser.run("kept")

    def test_digests_without_a_list(self):
        files = {"a": noise(1000, 1), "new\nline": b"x", "sub/b": noise(70_000, 2), "c d": b""}
        top = self.folder / "without"
        write(top, files)
        self.open()
        self.browser.choose("#folder", [top])
        self.until("!document.getElementById('without').hidden && "
                   "document.getElementById('wanted').options.length > 10")
        self.browser.run("document.getElementById('digest').click()")
        self.until("check !== null && check.ended")
        verdicts = dict(self.table())
        assert self.text("#verdict") == "Digests of 4 files" and len(verdicts) == 4, verdicts
        assert verdicts["without/sub/b"] == f"SHA256{sha256(files['sub/b']).hex()}Copy", verdicts
        name, text = self.saved("save")
        assert name == "SHA256SUMS", name
        (self.folder / "saved").write_text(text)
        run = subprocess.run(["sha256sum", "--check", "--strict", "../saved"], cwd=top, capture_output=True, text=True)
        assert run.returncode == 0 and run.stdout.count(": OK") == 4, (run, text)
        self.browser.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        index = [name for name, _ in self.table()].index("without/sub/b")
        self.browser.run(f"document.querySelectorAll('#rows button')[{index}].click()")
        self.until(f"document.querySelectorAll('#rows button')[{index}].textContent === 'Copied'")
        self.picture("digests")
        self.browser.run("document.getElementById('again').click()")
        self.until("check.ended && check.given.length === 4")
        assert self.text("#verdict") == "Digests of 4 files"
        # The digest that was copied is that of one file.
        self.browser.run("document.getElementById('paste').click()")
        self.until("check.source.list.isPasted && check.ended")
        assert self.text("#verdict") == "without/sub/b is right" and self.text("#summary") == (
            "By SHA256. 3 given files with other digests."), self.text("#summary")
        self.browser.run("document.getElementById('wanted').value = 'all'; document.getElementById('digest').click()")
        self.until("check.rows[0].digests.length > 10 && check.ended")
        name, text = self.saved("save")
        assert name == "CHECKSUMS" and f"SHA3-512 (a) = {hashlib.sha3_512(files['a']).hexdigest()}\n" in text, text
        assert f"MD5 (sub/b) = {hashlib.md5(files['sub/b']).hexdigest()}\n" in text, text

    def pasted(self, text):
        """The headline, its class, the summary and what stands beside the field, after a text was pasted."""
        self.browser.run(f"paste({text!r}).then(() => 0)")
        self.until("!reading && !listing && (!check || check.ended)")
        return [self.text(one) for one in ["#verdict", "#summary", "#same"]] + [
            self.browser.run("document.getElementById('work').hidden ? '' : document.getElementById('work').className")]

    def test_file_alone(self):
        """A file shows its digests at once. A digest in any form is compared; one that is not whole is told."""
        top, data = self.folder / "alone", noise(700_001, 3)
        write(top, {"film.iso": data, "other.iso": b"x"})
        right = {name: hashlib.new(name, data).hexdigest() for name in
                 ["sha256", "sha1", "md5", "sha512", "sha384", "sha3_256", "blake2b", "sha224"]}
        self.open()
        assert self.pasted(right["md5"])[2] == "32 digits, as of MD5. Now choose the file."
        self.browser.run("paste('').then(() => 0)")
        self.browser.choose("#files", [top / "film.iso"])
        self.until("check !== null && check.ended")
        assert dict(self.table()) == {"film.iso": "".join(f"{name.upper()}{right[name]}Copy" for name in
                                                          ["sha256", "sha1", "md5", "sha512"])}, self.table()
        self.picture("alone")
        # A digest is shown whole, and the field's button stands beside it.
        for width in [1280, 390]:
            self.browser.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1,
                              mobile=False)
            cut = self.browser.run("[...document.querySelectorAll('.digest *')].filter((one) => one.scrollWidth > "
                                   "one.clientWidth && one.clientWidth > 0).map((one) => one.outerHTML)")
            assert cut == [], (width, cut)
            if width > 600:
                ends = self.browser.run("['vendor', 'paste'].map((id) => "
                                        "document.getElementById(id).getBoundingClientRect().bottom)")
                assert ends[0] == ends[1], ends
        self.browser.call("Emulation.clearDeviceMetricsOverride")
        assert "Drop files here" in self.browser.run("document.getElementById('zone').innerText")
        # PowerShell's lines keep their ends in the field.
        for text in [f"\nAlgorithm : SHA512\nHash      : {right['sha512'].upper()}\nPath      : C:\\film.iso\n\n",
                     "Algorithm       Hash                 Path\n---------       ----                 ----\n"
                     f"SHA512          {right['sha512'].upper()}       C:\\film.iso\n",
                     f"<p class=a>SHA-512:\n<code class='b'>{right['sha512']}</code></p>"]:
            self.input("#vendor", "")
            self.until("!reading && !listing && check !== null && check.ended && pasted === null")
            self.input("#vendor", text)
            self.until("pasted !== null && !reading && check.ended")
            assert self.text("#verdict") == "film.iso is right", (text, self.text("#verdict"), self.text("#same"))
        self.input("#vendor", "")
        self.until("!reading && !listing && check !== null && check.ended && pasted === null")

        def base64_of(name):
            return base64.b64encode(bytes.fromhex(right[name])).decode()

        digits = right["sha256"]
        for text, by in [
            *((digits, name.upper().replace("_", "-").replace("BLAKE2B", "BLAKE2b")) for name, digits in right.items()),
            (f"SHA256 (film.iso) = {digits}", "SHA256"), (f"sha256:{digits.upper()}", "SHA256"),
            (f"{digits}  film.iso", "SHA256"),
            (f"sha256-{base64_of('md5')} sha512-{base64_of('sha512')}", None),
            (f"sha1-{base64_of('sha1')} sha512-{base64_of('sha512')}", "SHA512"),
            (f"MD5: {right['md5']}\nSHA-512: {right['sha512']}", "MD5, SHA512."),
        ]:
            verdict, summary, same, state = self.pasted(text)
            if by:
                assert (verdict, state) == ("film.iso is right", "ok"), (text, verdict)
                assert summary.startswith(f"By {by}"), (text, summary)
            else:
                assert state != "ok" and same == "This is no digest of SHA256.", (text, verdict, same)
        wrong = right["sha256"].translate(str.maketrans("0123456789abcdef", "123456789abcdef0"))
        for text in [wrong, f"SHA256: {wrong}", f"{wrong}  film.iso", f"sha1:{right['sha256'][:40]}",
                     f"SHA512: {right['blake2b']}", f"MD5: {right['md5']}\nSHA-256: {wrong}"]:
            verdict, summary, _, state = self.pasted(text)
            assert (verdict, state) == ("film.iso is not right", "bad"), (text, verdict)
        assert "By none of SHA256, " in self.pasted(wrong)[1] and "BLAKE3" in self.text("#summary")
        for text, words in [(digits[1:], "63 digits, but SHA256 has 64: 1 missing."), (f"{digits}0", "1 too many."),
                            (f"MD5: {digits[:-3]}", "61 digits"),
                            ("O" + digits[1:], "“o” is no hexadecimal digit (place 1)"),
                            ("hello", "This is no digest."),
                            (f"{digits} {wrong}", "These are several digests"),
                            ("crc32: 352441c2", "This page computes no CRC."),
                            ("1234", "4 digits: no algorithm has so many.")]:
            _, _, same, state = self.pasted(text)
            assert words in same and state != "ok", (text, same, state)
        # A list is a list, also when it is pasted. What stands in a field stays there.
        assert self.pasted(f"{digits}  film.iso\n{wrong}  more.iso\n")[:2] == [
            "film.iso is right", "1 other of the list was not given."]
        # A digest that is pasted while a list counts is looked for, and takes nothing away.
        assert self.pasted(digits)[2] == "It is that of film.iso." and self.pasted(wrong)[2].startswith("No file")
        assert self.text("#verdict") == "film.iso is right"

        # Digests that are known are of the file as it was.
        self.open()
        self.browser.choose("#files", [top / "film.iso"])
        self.until("check !== null && check.ended")
        (top / "film.iso").write_bytes(noise(700_001, 5))
        verdict, _, _, state = self.pasted(digits)
        assert (verdict, state) == ("film.iso is not right", "bad") and "changed" in self.table()[0][1], self.table()

    def test_list_of_more(self):
        """The one file that somebody has of a list, or of a digest alone, whatever its name."""
        top, data = self.folder / "one of five", noise(300_001, 4)
        names = ["a.iso", "b.iso", "film.iso", "c.iso", "d.iso"]
        write(top, {"film.iso": data, "film (1).iso": data, "other.iso": b"x",
                    "film.iso.sha256": sha256(data).hex().encode(),
                    "SHA256SUMS": "".join(f"{sha256(data if name == 'film.iso' else name.encode()).hex()}  {name}\n"
                                          for name in names).encode()})
        signed = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n"
        ends = "-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n"
        (top / "SHA256SUMS.asc").write_text(signed + (top / "SHA256SUMS").read_text() + ends)
        rest = "4 others of the list were not given."
        for source, given, verdict, summary, state in [
            ("SHA256SUMS", ["film.iso"], "film.iso is right", rest, "ok"),
            ("SHA256SUMS.asc", ["film.iso"], "film.iso is right", rest, "ok"),
            ("SHA256SUMS", ["film (1).iso"], "film (1).iso is right", rest, "ok"),
            ("SHA256SUMS", ["other.iso"], "other.iso is not in the list", "5 others", "gone"),
            ("SHA256SUMS", ["film.iso", "other.iso"], "film.iso is right, 1 other not in the list", "", "gone"),
            ("film.iso.sha256", ["film.iso"], "film.iso is right", "", "ok"),
            ("film.iso.sha256", ["film (1).iso"], "film (1).iso is right", "", "ok"),
            ("film.iso.sha256", ["other.iso"], "other.iso is not right", "", "bad"),
        ]:
            self.open()
            self.browser.choose("#source", [top / source])
            self.browser.choose("#files", [top / name for name in given])
            self.until("source !== null && check?.source === source")
            found = self.wait()[1]
            assert (self.text("#verdict"), self.browser.run("document.getElementById('work').className")) == (
                verdict, state) and summary in found, (source, given, self.text("#verdict"), found)
            assert ("signature was not checked" in self.text("#note-list")) == source.endswith(".asc")
        # In a folder what is missing is missing.
        assert "missing" in self.choose(top / "SHA256SUMS", top)[0]["a.iso"]

    def test_report(self):
        source, folder = self.made("v1")
        (folder / "empty").unlink()
        self.choose(source, folder)
        name, text = self.saved("report")
        report = json.loads(text)
        assert name.endswith(".json") and report["verdict"] == "1 missing", report
        states = {file["name"]: file["state"] for file in report["files"]}
        right = ["a.bin", "b/c.bin", "b/long name.bin", "z.bin"]
        assert states == {"empty": "missing"} | dict.fromkeys(right, "right"), states
        assert report["pieces"] == {"right": 28} | dict.fromkeys(
            ["not checked", "wrong", "file missing or too short", "unreadable"], 0), report

    # ---- Making a torrent ----

    def make(self, fields, choose, paths):
        self.open()
        self.browser.choose(choose, paths)
        self.until("!document.getElementById('make').hidden")
        self.browser.run(fill(fields))

    def torrent_made(self):
        self.until("source !== null && check?.source === source && check.ended !== null")
        self.browser.run("window.kept = null; save = (...all) => (window.kept = all); "
                         "document.getElementById('save-torrent').click()")
        name, data = self.browser.run("[kept[0], btoa(Array.from(kept[1], (byte) => String.fromCharCode(byte))"
                                      ".join(''))]")
        return name, base64.b64decode(data)

    FILES = {"a.bin": noise(100_000, 1), "b/long name.bin": noise(300_001, 2), "b/c.bin": noise(16384, 3),
             "b-": noise(5, 5), "empty": b"", "ü/\U0001f680": noise(40_000, 4), ".hidden": b"x",
             "own.hash": b"d4:none", "large": noise(3_000_000, 6)}

    def test_makes_torrents(self):
        """The torrents are those of the program, byte by byte."""
        if not self.has_program():
            return
        top = self.folder / "to make"
        write(top, self.FILES)
        output = self.folder / "by program.torrent"
        for options, fields in MAKINGS:
            self.make(fields, "#folder", [top])
            name, data = self.torrent_made()
            assert name == "to make.torrent", name
            assert data == made_by(self.program, top, output, options), options
            hashes = re.findall("Info-hash of v[12]: ([0-9a-f]+)", self.text("#summary"))
            info = data[data.index(b"4:info") + 6:]
            ends = [info[:end] for end in range(len(info) + 1) if info[end - 1:end] == b"e"]
            assert hashes and {hash for end in ends for hash in [hashlib.sha1(end).hexdigest(), sha256(end).hex()]
                               }.issuperset(hashes), hashes
            magnet = self.browser.run("document.querySelector('#magnet code').textContent")
            assert magnet.startswith("magnet:?xt=urn:bt") and all(hash in magnet for hash in hashes), magnet
            assert self.text("#verdict") == "The torrent is made"
            self.make(fields | {"name": "other"}, "#files", [top / "large"])
            assert self.torrent_made()[1] == made_by(self.program, top / "large", output, [*options, "--name", "other"])
        self.make({}, "#folder", [top])
        self.torrent_made()
        self.picture("make")
        # Again, of the files as they are then. Browsers tell neither links nor who may execute a file.
        (top / "a.bin").chmod(0o755)
        (top / "link").symlink_to("a.bin")
        with self.served() as url:
            self.open(url)
            self.browser.drop("#zone", [top])
            self.until("given.size === 9 && !listing")
            # The folder has a list of its own, which is none.
            self.browser.run(fill({"name": "renamed"}))
            self.torrent_made()
            (top / "large").write_bytes(noise(2_500_000, 8))
            self.browser.run("document.getElementById('again').click()")
            self.until("check.rows.some((row) => row.nbytes === 2500000)")
            name, data = self.torrent_made()
        hidden = ["--name", "renamed", "--no-executable", "--symlinks", "skip"]
        assert (name, data) == ("renamed.torrent", made_by(self.program, top, output, hidden))
        # The page finds its own torrent right.
        (self.folder / "renamed.torrent").write_bytes(data)
        verdicts, _ = self.choose(self.folder / "renamed.torrent", top)
        assert set(verdicts.values()) == {"OK"}, verdicts

    def test_no_torrent(self):
        """What cannot become a torrent is told."""
        top = self.folder / "no torrent"
        write(top, {"a": noise(50_000, 1), "empty": b""})
        for fields, paths, words in [
            ({"trackers": "tracker.example"}, [top / "a"], "expected a URL of http, https, udp, ws or wss"),
            ({"seeds": "udp://a.example"}, [top / "a"], "expected a URL of http, https or ftp"),
            ({"name": "../x"}, [top / "a"], "cannot be a file name"), ({"name": ".."}, [top / "a"], "cannot be a file"),
            ({"name": "a\0f 1 b"}, [top / "a"], ""),
            ({}, [top / "empty"], "no client takes a torrent without pieces"),
            ({}, [top / "a", top / "empty"], "give the torrent a name"),
        ]:
            self.make(fields, "#files", paths)
            if words:
                assert words in self.wait_error() and self.error().startswith("No torrent was made: "), self.error()
                assert not self.browser.run("!document.getElementById('save-torrent').hidden"), words
            else:
                name, data = self.torrent_made()
                assert b"4:name" in data and b"f 1 b" in data and data.count(b"6:length") == 2, data[:200]
        # Names that only scripts can give, and those that a browser does not have as they are on the disk.
        for path, name, words in [("top/../x", "x", "leads out"), ("top/a/", "", "is empty"),
                                  ("top//a", "a", "is empty"), ("top/a\ufffd", "a\ufffd", "does not show such a name"),
                                  ("top/b/c", "b\\c", "another name than the disk"),
                                  ("top/" + "d/" * 100_000 + "a", "a", "more than 95 folders")]:
            self.open()
            self.browser.run(f"setFiles(async (items) => items.push({{ path: {json.dumps(path)}, "
                             f"file: new File(['abc'], {json.dumps(name)}) }})).then(() => 0)")
            self.browser.run(fill({}))
            assert words in self.wait_error(), (path[:20], self.error()[:300])

    def test_no_torrent_of_changing_files(self):
        for late in [False, True]:
            top = self.folder / f"changing {late}"
            write(top, {"one": noise(4_000_000, 1), "two": noise(50_000, 2)})
            self.open()
            self.browser.run(HOLD_LAST_LOOK if late else HOLD_ANSWERS)
            self.browser.choose("#folder", [top])
            self.until("!document.getElementById('make').hidden")
            self.browser.run(fill({"version": "hybrid"}))
            self.until("window.go !== undefined" if late else "waiting.length > 0")
            (top / "one").write_bytes(noise(4_000_000, 9))
            self.browser.run("window.go()" if late else LET_ANSWERS_GO)
            verdicts, _ = self.wait()
            assert "changed" in verdicts["one"] and verdicts["two"] == "read, but no torrent was made", verdicts
            assert self.text("#verdict") == "No torrent was made: 1 file changed or not readable", self.text("#verdict")
            assert self.browser.run("check.made === null && document.getElementById('save-torrent').hidden && "
                                    "document.getElementById('work').className === 'bad'")
            self.picture("no-torrent")
        # A check that is cancelled makes none either.
        self.open()
        self.browser.run("window.begun = start; "
                         "start = async () => { const begins = begun(); cancel(); await begins; }; 0")
        self.browser.choose("#folder", [top])
        self.until("!document.getElementById('make').hidden")
        self.browser.run(fill({}))
        self.wait()
        assert self.text("#verdict") == "Stopped before the end", self.text("#verdict")
        assert self.browser.run("check.made === null && document.getElementById('save-torrent').hidden")

    def test_published_digests_are_computed_twice(self):
        """A browser whose own digests differ gets none from the page, and no torrent; a check is what it was."""
        top = self.folder / "twice"
        files = {"a/long": noise(700_000, 1), "a/short": noise(5000, 2), "b": noise(70_000, 3), "empty": b""}
        write(top, files)
        lines = "".join(f"{sha256(data).hex()}  {name}\n" for name, data in files.items())
        wrong = self.changed(("await crypto.subtle.digest(by[i], bytes)", "new Uint8Array(32)"),
                             ('await crypto.subtle.digest("SHA-1", bytes)', "new Uint8Array(20)"),
                             ("hexOf(await rootOf(bytes.slice(0, nbytes), torrent.nbytes[index]))", '"0"'))
        for url in [None, wrong]:
            self.open(url)
            self.browser.choose("#folder", [top])
            self.until("!document.getElementById('make').hidden")
            self.browser.run("document.getElementById('digest').onclick().then(() => 0)")
            verdicts, _ = self.wait()
            for name, data in files.items():
                found = verdicts[f"twice/{name}"]
                assert found.startswith("two computations" if url else f"SHA256{sha256(data).hex()}"), found
            saved = self.browser.run("listText()")
            assert sorted(saved.splitlines()) == (sorted(lines.splitlines())[:0 if url else 4]), saved
            for version in ["v1", "v2", "hybrid"]:
                self.browser.run("check = null; " + fill({"version": version, "piece": 16384}))
                self.wait()
                is_made = self.browser.run("check.made !== null && !document.getElementById('save-torrent').hidden")
                assert is_made == (url is None), (version, url, self.text("#verdict"))
        self.browser.run("setSource(new File([" + repr(lines) + "], 'SHA256SUMS')).then(() => 0)")
        self.until("!reading && check.ended !== null && Boolean(source.file)")
        assert self.text("#verdict") == "All 4 files are right", self.text("#verdict")

    # ---- Several torrents and lists ----

    def overall(self):
        self.until("several?.done === true")
        rows = self.browser.run("[...document.querySelectorAll('#sources tr')].map((line) => "
                                "[line.cells[1].firstChild.textContent, line.cells[0].textContent, line.className])")
        return rows, self.text("#overall-verdict"), self.browser.run("document.getElementById('overall').className")

    def test_several(self):
        top = self.folder / "several"
        files = [{"one": noise(100_000, i), "two": noise(20_000, 9 + i)} for i in range(3)]
        sources = []
        for i, version in enumerate(["v1", "v2", "hybrid"]):
            write(top / f"album{i}", files[i])
            # Two of the same name.
            sources.append(self.folder / f"sources{i}" / ("same.torrent" if i < 2 else "third.torrent"))
            write(sources[-1].parent, {sources[-1].name: torrent(f"album{i}", files[i], BLOCK, version)})
        (self.folder / "SHA256SUMS").write_text("".join(
            f"{sha256(data).hex()}  album{i}/{name}\n" for i in range(3) for name, data in files[i].items()))
        sources.append(self.folder / "SHA256SUMS")
        self.open()
        self.browser.choose("#source", sources)
        self.browser.choose("#folder", [top])
        rows, text, state = self.overall()
        right = [["same.torrent", "All 2 files are right", "ok"]] * 2 + [
            ["third.torrent", "All 2 files are right", "ok"], ["SHA256SUMS", "All 6 files are right", "ok"]]
        assert rows == right and (text, state) == ("All 4 are right", "ok"), (rows, text, state)
        assert self.browser.run("document.title").startswith("All 4 are right")
        # Each is shown by its button.
        for i, name in [(1, "same.torrent"), (3, "SHA256SUMS")]:
            self.browser.run(f"document.querySelectorAll('#sources button')[{i}].click()")
            assert self.browser.run("source.name") == name and self.text("#summary").startswith(
                f"{name}: {[2, 2, 2, 6][i]} of")
        # Damage, want and what is no torrent: the whole is as bad as the worst.
        (top / "album1/two").unlink()
        self.browser.choose("#folder", [top])
        self.until("given.size === 5 && several.done && !several.stopped")
        rows, text, state = self.overall()
        assert [row[2] for row in rows] == ["ok", "gone", "ok", "gone"], rows
        assert (text, state) == ("2 of 4 right", "gone"), (text, state)
        (top / "album2/one").write_bytes(noise(100_000, 99))
        bad = self.folder / "bad.torrent"
        bad.write_bytes(b"d4:infod4:name2:..ee")
        self.open()
        self.browser.drop("#zone", [*sources, bad, top])
        rows, text, state = self.overall()
        assert [row[2] for row in rows] == ["ok", "gone", "bad", "bad", "bad"], rows
        assert (text, state) == ("1 of 5 right", "bad"), (text, state)
        assert self.text("#verdict").startswith("1 file not right"), "the worst is shown"
        self.picture("several")
        name, report = self.saved("report")
        report = json.loads(report)
        assert report["verdict"] == "1 of 5 right" and len(report["checks"]) == 5, report
        assert report["checks"][0]["verdict"] == "All 2 files are right", report
        assert len(report["checks"][2]["info_hashes"]) == 2, report
        files = {file["name"]: file["verdict"] for file in report["checks"][2]["files"]}
        assert files["one"].startswith("damaged, at pieces 0\u20136") and files["two"] == "OK", files
        # One alone is as before.
        self.browser.choose("#source", [sources[0]])
        self.until("several === null && check.ended && check.source === source")
        assert self.text("#verdict") == "All 2 files are right"
        assert self.browser.run("document.getElementById('overall').hidden")

    def test_too_many(self):
        self.open()
        for count, nbytes in [(1001, 1), (2, 200 << 20)]:
            self.browser.run(f"setAll(Array({count}).fill({{ name: 'x', size: {nbytes} }})).then(() => 0)")
            assert "at most 1,000 torrents and lists, of 256 MiB" in self.error(), self.error()
        self.browser.run("setFiles(async (items) => items.push(...[1, 2].map((n) => ({ path: 'a/b', "
                         "file: new File([n], 'b') })))).then(() => 0)")
        self.browser.run("sourceProblem = ''; describe()")
        assert "Two files with the path a/b were given" in self.error(), self.error()

    def test_several_cancelled(self):
        top = self.folder / "several cancelled"
        files = {"one": noise(100_000, 1)}
        write(top, files | {"a.torrent": torrent("several cancelled", files, BLOCK),
                            "b.torrent": torrent("several cancelled", files, BLOCK, "v2")})
        self.open()
        self.browser.run("window.begun = start; start = async () => { await begun(); cancel(); }; 0")
        self.browser.choose("#folder", [top])
        self.until("!document.getElementById('several').hidden")
        pick = ("(() => { const field = document.getElementById('own'); field.value = field.lastChild.value; "
                "field.onchange(); })()")
        self.browser.run(pick)
        rows, text, state = self.overall()
        assert rows[0] == ["a.torrent", "Stopped before the end", "gone"], rows
        assert rows[1] == ["b.torrent", "not checked", "gone"] and state == "gone", (rows, text, state)
        self.browser.run("start = begun; document.getElementById('again').click()")
        self.until("several.done && several.items.every(({ check }) => check)")
        assert self.overall()[1:] == ("All 2 are right", "ok"), self.overall()
        # What was chosen last counts, and what is still read is given up.
        self.browser.run("window.asked = []; ask = (...all) => new Promise(() => asked.push(all)); "
                         "document.getElementById('again').click()")
        self.until("asked.length === 1 && !document.getElementById('stop').hidden")
        self.browser.run("document.getElementById('stop').click()")
        rows, text, state = self.overall()
        assert [row[1:] for row in rows] == [["not checked", "gone"]] * 2 and text == "0 of 2 right", (rows, text)

    # ---- The site ----

    ACTIVE = "navigator.serviceWorker.ready.then(({ active }) => active.state === 'activated')"

    def test_site_offline(self):
        """Installable, without a fault in manifest, policy or headers; and the page works when the server is gone."""
        source, folder = self.made("hybrid")
        files = files_of(self.site)
        assert files["hashloom.html"] == self.page.read_bytes()
        with served_site(files) as (url, stop):
            self.open(url)
            self.until(self.ACTIVE)
            found = self.browser.call("Page.getAppManifest")
            assert found["errors"] == [] and found["url"] == f"{url}manifest.webmanifest", found
            assert json.loads(found["data"])["file_handlers"][0]["accept"] == {"application/x-bittorrent": [".torrent"]}
            errors = self.browser.call("Page.getInstallabilityErrors")["installabilityErrors"]
            # The tests' browser has windows that keep nothing, as those of a guest.
            assert [error["errorId"] for error in errors] in ([], ["in-incognito"]), errors
            page = hashlib.sha256(files["index.html"]).hexdigest()
            assert self.browser.run("caches.keys()") == [f"hashloom {url} {page}"]
            assert self.browser.run("crossOriginIsolated")
            assert not self.problems(), self.problems()
            verdicts, _ = self.choose(source, folder, url)
            assert set(verdicts.values()) == {"OK"}, verdicts
            stop()
            for at in [url, f"{url}index.html?x"]:
                verdicts, _ = self.choose(source, folder, at)
                assert set(verdicts.values()) == {"OK"} and len(verdicts) == 5, verdicts
                assert self.browser.run("crossOriginIsolated")
            refused = self.browser.run("fetch('http://127.0.0.1:9/').then(() => 'sent', (error) => error.message)")
            assert refused != "sent", refused
            self.unregister()

    def unregister(self):
        self.browser.run("navigator.serviceWorker.getRegistrations().then((all) => Promise.all(all.map((one) => "
                         "one.unregister())))")

    def test_site_update(self):
        """A version is whole: what is half replaced on the server is not taken, and a new one comes at a new start."""
        files = files_of(self.site)
        old = files["index.html"]
        new = old.replace(b"<h1>Check", b"<h1>New: check")
        changed = {b64(old): b64(new), sha256(old).hex(): sha256(new).hex()}
        worker = files["service-worker.js"]
        for before, after in changed.items():
            assert worker.count(before.encode()) == 1, before
            worker = worker.replace(before.encode(), after.encode())
        with served_site(files) as (url, stop):
            self.open(url)
            self.until(self.ACTIVE)
            update = ("navigator.serviceWorker.getRegistration().then((one) => one.update()).then((one) => "
                      "new Promise((done) => { const wait = () => one.installing ? setTimeout(wait, 50) : "
                      "done(one.waiting !== null); wait(); }), () => false)")
            files["service-worker.js"] = worker  # the page is still the old one
            assert self.browser.run(update) is False
            assert self.browser.run("caches.keys()") == [f"hashloom {url} {sha256(old).hex()}"]
            files["index.html"] = new
            self.open(url)
            assert self.text("h1").startswith("Check files"), "the old version, whole"
            assert self.browser.run(update) is True
            self.open("about:blank")
            self.open(url)
            deadline = time.monotonic() + 20
            while not self.text("h1").startswith("New: check"):
                assert time.monotonic() < deadline, self.text("h1")
                time.sleep(0.2)
                self.open("about:blank")
                self.open(url)
            stop()
            self.open(url)
            assert self.text("h1").startswith("New: check")
            assert self.browser.run("caches.keys()") == [f"hashloom {url} {sha256(new).hex()}"]
            self.unregister()

    def test_launched(self):
        """Torrents that the system opens with the page."""
        source, folder = self.made("v1")
        code = ("Object.defineProperty(window, 'launchQueue', "
                "{ value: { setConsumer(one) { window.launched = one; } } });")
        script = self.browser.call("Page.addScriptToEvaluateOnNewDocument", source=code)["identifier"]
        try:
            self.open()
            data = base64.b64encode(source.read_bytes()).decode()
            self.browser.run(f"launched({{ files: [{{ getFile: async () => new File([Uint8Array.from(atob('{data}'), "
                             "(letter) => letter.charCodeAt(0))], 'launched.torrent') }] })")
            self.browser.choose("#folder", [folder])
            verdicts, _ = self.wait()
            assert set(verdicts.values()) == {"OK"} and self.browser.run("source.name") == "launched.torrent", verdicts
        finally:
            self.browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)

    # ---- For everybody ----

    def test_keyboard(self):
        source, folder = self.made("v1", files={"one": noise(300 * BLOCK, 7)})
        data = bytearray((folder / "one").read_bytes())
        data[200 * BLOCK] ^= 1
        (folder / "one").write_bytes(data)
        self.choose(source, folder)
        self.browser.run("document.getElementById('cell').focus()")

        def press(key, code):
            for kind in ["keyDown", "keyUp"]:
                self.browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

        press("ArrowRight", 39)
        assert self.text("#pointed") == "piece 1: right, in one", self.text("#pointed")
        press("ArrowDown", 40)
        assert self.text("#pointed") == "piece 121: right, in one", self.text("#pointed")
        press("Tab", 9)
        press(" ", 32)
        assert self.text("#pointed") == "piece 200: wrong, in one", self.text("#pointed")
        spoken = self.browser.run("document.getElementById('cell').getAttribute('aria-valuetext')")
        assert spoken == self.text("#pointed"), spoken

    def test_accessible(self):
        """axe-core finds nothing before a check, after a right and a wrong one, with an error; in light and in dark."""
        if not AXE.exists():
            print("SKIPPED: web: no axe-core: npm install --prefix build/npm axe-core@4")
            return
        source, folder = self.made("v1")
        every = os.environ.get("HASHLOOM_TEST_ALL") == "1"
        for dark in [False, True]:
            states = ["start", "alone", "right", "wrong", "error", "making", "several"]
            for state in states if every or self.screenshots else ["wrong", "several"]:
                if state == "wrong":
                    (folder / "z.bin").write_bytes(noise(40_000, 99))
                    (folder / "empty").unlink(missing_ok=True)
                if state in ("start", "alone", "error"):
                    self.open()
                elif state == "making":
                    self.make({}, "#folder", [folder])
                    self.torrent_made()
                elif state == "several":
                    self.open()
                    self.browser.choose("#source", [source, VECTORS / "alice.torrent"])
                    self.browser.choose("#folder", [folder])
                    self.overall()
                    self.browser.run("document.getElementById('make').open = true; "
                                     "document.activeElement.blur()")
                else:
                    write(folder, {"z.bin": noise(40_000, 4), "empty": b""}) if state == "right" else None
                    self.choose(source, folder)
                if state == "alone":
                    self.browser.choose("#files", [folder / "z.bin"])
                    self.until("check !== null && check.ended")
                if state == "error":
                    self.browser.choose("#source", [folder / "z.bin"])
                    self.wait_error()
                features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
                self.browser.call("Emulation.setEmulatedMedia", features=features)
                self.browser.run(AXE.read_text() + "; 0")
                found = self.browser.run("axe.run().then(({ violations }) => violations.map(({ id, nodes }) => "
                                         "[id, nodes.map(({ html, failureSummary }) => html + failureSummary)]))")
                assert found == [], (state, dark, found)
                self.picture(f"{state}-{'dark' if dark else 'light'}", dark)
        self.browser.call("Emulation.setEmulatedMedia", features=[])

    def test_phone(self):
        """Nothing is wider than a phone."""
        source, folder = self.made("hybrid")
        (folder / "z.bin").write_bytes(noise(40_000, 99))
        self.browser.call("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=2, mobile=True)
        try:
            for state in ["alone", "checked", "made", "several"]:
                if state == "alone":
                    self.open()
                    self.browser.choose("#files", [folder / "z.bin"])
                    self.until("check !== null && check.ended")
                elif state == "checked":
                    self.choose(source, folder)
                elif state == "made":
                    self.make({}, "#folder", [folder])
                    self.torrent_made()
                else:
                    self.browser.choose("#source", [source, VECTORS / "alice.torrent"])
                    self.overall()
                self.picture(f"phone-{state}")
                wide = self.browser.run(
                    "[...document.querySelectorAll('*')].filter((one) => "
                    "one.getBoundingClientRect().right > 360).map((one) => one.outerHTML.slice(0, 60))")
                assert wide == [], (state, wide)
                # Text that sticks out of its element widens the page alone.
                assert self.browser.run("document.documentElement.scrollWidth") <= 360, state
        finally:
            self.browser.call("Emulation.clearDeviceMetricsOverride")


class Engines(Shown):
    """Tests of every engine, by what the page shows: an engine's scripts do not see the page's variables."""

    def __init__(self, engine, page, folder, program, site):
        self.browser = self.engine = engine
        self.page, self.folder, self.program, self.site = page, folder, program, site

    def check(self, source, paths, url=None):
        self.engine.open(url or self.page.as_uri())
        self.engine.choose("#source", [source])
        self.engine.choose("#files", paths)
        return self.wait()

    def wait(self):
        self.until("!document.getElementById('again').hidden && !document.getElementById('work').hidden")
        return dict(self.table())

    def made(self, version):
        """A torrent, a list and their files: small ones, and one longer than what the page reads at once."""
        top = self.folder / f"{self.engine.name}-{version}"
        files = {"empty": b"", "one": noise(9_000_001, 1), "small": noise(3000, 2), "two": noise(300_000, 3)}
        write(top, files)
        for name in files:
            os.utime(top / name, (1_700_000_000, 1_700_000_000))
        (self.folder / "t.torrent").write_bytes(torrent("album", files, BLOCK, version))
        lines = "".join(f"{sha256(data).hex()}  {name}\n" for name, data in files.items())
        (self.folder / "SHA256SUMS").write_text(lines)
        return [self.folder / "t.torrent", self.folder / "SHA256SUMS"], [top / name for name in files]

    def engine_right_and_wrong(self):
        for version in ["v1", "v2"]:
            sources, paths = self.made(version)
            for source in sources:
                verdicts = self.check(source, paths)
                assert set(verdicts.values()) == {"OK"} and len(verdicts) == 4, (source, verdicts)
                assert self.text("#verdict").startswith("All 4 files are right"), self.text("#verdict")
                assert (self.text("#unsure") == "") == self.engine.tells, self.text("#unsure")
            data = bytearray(paths[1].read_bytes())
            data[5_000_000] ^= 1
            paths[1].write_bytes(data)
            for source in sources:
                verdicts = self.check(source, paths)
                assert verdicts["one"].startswith("damaged") and verdicts["two"] == "OK", (source, verdicts)

    def engine_changed_behind_the_reader(self):
        """A byte that changes after its piece was read: the file is not OK, or the page says it is blind."""
        text, held = self.page.read_text(), "    await recheck(own);\n"
        waits = "await new Promise((go) => { document.body.dataset.held = 1; addEventListener('go', go); });\n"
        page = self.folder / "held.html"
        page.write_text(with_words(text, (held, waits + held)))
        (source, _), paths = self.made("v1")
        self.engine.open(page.as_uri())
        self.engine.choose("#source", [source])
        self.engine.choose("#files", paths)
        self.until("document.body.dataset.held === '1'")
        with paths[1].open("r+b") as file:
            file.seek(4_000_000)
            file.write(b"changed behind the reader")
        self.engine.run("window.dispatchEvent(new Event('go'))")
        verdicts = self.wait()
        if self.engine.tells:
            assert "changed" in verdicts["one"] and self.text("#verdict") == "1 file not right", verdicts
        else:
            assert self.text("#verdict") == "All 4 files are right, as read", self.text("#verdict")
            unsure = self.text("#unsure")
            assert "cannot tell whether 4 files changed since they were chosen" in unsure, unsure

    def engine_makes_torrents(self):
        """The torrents are those of the program, byte by byte. WebDriver chooses no folders: the files are one, or
        several that get the name of a folder."""
        if not self.has_program():
            return
        page = self.folder / "saving.html"
        keep = ("function save(name, content) {\n    document.body.dataset.saved = "
                "btoa(Array.from(content, (byte) => String.fromCharCode(byte)).join(''));\n")
        page.write_text(with_words(self.page.read_text(), ("function save(name, content) {\n", keep)))
        _, paths = self.made("v1")
        output = self.folder / "by program.torrent"
        every = os.environ.get("HASHLOOM_TEST_ALL") == "1"
        loose, one = (paths, paths[0].parent, {"name": paths[0].parent.name}), (paths[1:2], paths[1], {})
        for number, (options, fields) in enumerate(MAKINGS):
            for files, content, more in [loose, one] if every else [[loose], [], [], [one], [loose], []][number]:
                self.engine.open(page.as_uri())
                self.engine.choose("#files", files)
                self.until("!document.getElementById('make').hidden")
                self.engine.run(fill(fields | more))
                self.until("!document.getElementById('save-torrent').hidden")
                self.engine.run("document.getElementById('save-torrent').click()")
                data = base64.b64decode(self.engine.run("document.body.dataset.saved"))
                assert data == made_by(self.program, content, output, options), (options, content)
                # WebKit knows whole seconds only: the files of this test are old.
                expected = "The torrent is made" + ("" if self.engine.tells else ", as read")
                assert self.text("#verdict") == expected, self.text("#verdict")
                assert ("the torrent has what was read" in self.text("#unsure")) != self.engine.tells

    def engine_site(self):
        """The site, with its headers; without the server after the first load."""
        sources, paths = self.made("hybrid")
        with served_site(files_of(self.site)) as (url, stop):
            self.engine.open(url)
            # WebKit sometimes does not tell this page the state of the worker, which is active.
            self.until("navigator.serviceWorker.getRegistration().then((one) => Boolean(one?.active))")
            for is_served in [True, False]:
                if not is_served:
                    stop()
                for source in sources:
                    verdicts = self.check(source, paths, url)
                    assert set(verdicts.values()) == {"OK"} and len(verdicts) == 4, (is_served, source, verdicts)

    def engine_alone(self):
        """Digests at once, one of them pasted; a list afterwards is not checked by what was known of other bytes."""
        (_, source), paths = self.made("v1")
        self.engine.open(self.page.as_uri())
        self.engine.choose("#files", [paths[1], paths[2]])
        self.until("!document.getElementById('save').hidden")
        data = paths[2].read_bytes()
        assert sha256(data).hex() in dict(self.table())["small"], self.table()
        self.engine.run("(() => { const field = document.getElementById('vendor'); "
                        f"field.value = '{sha256(data).hex()}'; field.dispatchEvent(new Event('input')); }})()")
        self.until("document.getElementById('verdict').textContent.startsWith('small is right')")
        paths[2].write_bytes(data[::-1])
        self.engine.choose("#source", [source])
        self.until("document.getElementById('found').textContent.startsWith('SHA256SUMS') && "
                   "!document.getElementById('again').hidden && !document.getElementById('work').hidden")
        verdicts = dict(self.table())
        assert verdicts["one"] == "OK" and verdicts["small"] != "OK", verdicts

    def engine_several(self):
        sources, paths = self.made("v2")
        self.engine.open(self.page.as_uri())
        self.engine.choose("#source", sources)
        self.engine.choose("#files", paths)
        self.until("document.querySelectorAll('#sources button').length === 2")
        right = "All 2 are right" + ("" if self.engine.tells else ", as read")
        assert self.text("#overall-verdict") == right, self.text("#overall-verdict")

    def engine_just_written(self):
        """WebKit knows whole seconds only: what was written just now may be written again within the same one."""
        (_, source), paths = self.made("v1")
        stamp = time.time() + 3600  # however long it takes until the check begins
        os.utime(paths[2], (stamp, stamp))
        verdicts = self.check(source, paths)
        assert set(verdicts.values()) == {"OK"}, verdicts
        assert (self.text("#unsure") == "") == (self.engine.name == "Chromium"), self.text("#unsure")


def with_words(page, *pairs):
    """The page with other words, and the digest of its script in the policy."""
    def digest(text):
        return b64(text[text.rindex("<script>") + 8:text.rindex("</script>")].encode())

    other = page
    for old, new in pairs:
        assert other.count(old) == 1, old
        other = other.replace(old, new)
    assert other.count(digest(page)) == 1
    return other.replace(digest(page), digest(other))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments, headers, **options):
        self.more = headers
        super().__init__(*arguments, **options)

    def end_headers(self):
        for name, value in self.more.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, *_):
        pass


def run_engine(engine, page, names, program, site):
    """Runs the tests of every engine in this one. One that is not installed is named."""
    try:
        started = engine()
    except FileNotFoundError as error:
        print(f"SKIPPED: web: {engine.name}: {error}", flush=True)
        # tools/setup.sh installs all engines for test-all only.
        return len(names) if os.environ.get("HASHLOOM_REQUIRE") and os.environ.get("HASHLOOM_TEST_ALL") == "1" else 0
    with started, tempfile.TemporaryDirectory(prefix="hashloom-web-") as folder:
        return run(Engines(started, page, pathlib.Path(folder), program, site), names, f"{engine.name}: ")


def run(tests, names, prefix=""):
    """Runs tests one after the other and returns the number of those that failed."""
    failed = 0
    for name in names:
        begun = time.monotonic()
        try:
            getattr(tests, name)()
            print(f"ok      {prefix}{name} {time.monotonic() - begun:.1f}s", flush=True)
        except Exception as error:
            failed += 1
            url = pathlib.Path(__file__).resolve().with_name("views.html").as_uri()
            views = views_of(tests.engine, url) if isinstance(tests, Engines) else ""
            print(f"FAILED: {prefix}{name}: {type(error).__name__}: {error}{views}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--site", type=pathlib.Path, help="the folder of `make web-site` [default: site beside PAGE]")
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if arguments.screenshots:
        arguments.screenshots.mkdir(parents=True, exist_ok=True)
    program = arguments.program and arguments.program.resolve()
    site = arguments.site or arguments.page.parent / "site"
    page = arguments.page.resolve()
    with contextlib.ExitStack() as ends, concurrent.futures.ThreadPoolExecutor() as pool:
        running = []
        names = [name for name in dir(Tests) if name.startswith("test_") and arguments.only in name]
        if names:
            folder = pathlib.Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="hashloom-web-")))
            browser = ends.enter_context(Browser())
            tests = Tests(browser, page, folder, arguments.screenshots, program, site)
            running.append(pool.submit(run, tests, names))
        names = [name for name in dir(Engines) if name.startswith("engine_") and arguments.only in name]
        if names:
            running += [pool.submit(run_engine, engine, page, names, program, site)
                        for engine in [Chromium, Firefox, WebKit]]
        failed = sum(one.result() for one in running)
    print(f"web: {failed} failed" if failed else "web: all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
