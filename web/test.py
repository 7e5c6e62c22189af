#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests the page in headless browsers: test.py PAGE.html [--screenshots FOLDER] [--only WORDS].

Torrents and lists are made here, by an implementation of BEP 3 and BEP 52 of this file's own, or are those of vectors/.
Tests whose name begins with engine_ run in Chromium, Firefox and WebKitGTK, as far as these are installed; all others
in Chromium. The page is opened from file:// and sometimes over http://. Files are chosen through the inputs or dropped,
as a person does it. Tests whose name begins with gpu_ use a GPU that computes on the CPU, SwiftShader. Exit
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
from engines import Firefox, WebKit

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


def noise(nbytes, seed):
    return hashlib.shake_128(str(seed).encode()).digest(nbytes)


def write(folder, files):
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


# ---- The page -------------------------------------------------------------------------------------------------------


class Tests:
    def __init__(self, browser, page, folder, screenshots):
        self.browser, self.page, self.folder, self.screenshots = browser, page, folder, screenshots
        self.requests = []

    def open(self, url=None):
        self.browser.open(url or self.page.as_uri())

    def wait(self, seconds=60):
        """Waits for the end of a check and returns the verdicts by name, and the summary."""
        deadline = time.monotonic() + seconds
        while not self.browser.run("check !== null && check.ended !== null"):
            error = self.error()
            assert not error, error
            assert time.monotonic() < deadline, "the check does not end: " + self.browser.run("document.body.innerText")
            time.sleep(0.05)
        rows = self.browser.run("[...document.querySelectorAll('#rows tr')].map((line) => "
                                "[line.cells[1].textContent, line.cells[0].textContent])")
        return dict(rows), self.browser.run("document.getElementById('summary').textContent")

    def until(self, condition, seconds=60):
        """Waits until an expression is true in the page."""
        deadline = time.monotonic() + seconds
        while not self.browser.run(condition):
            assert time.monotonic() < deadline, f"{condition}: " + self.browser.run("document.body.innerText")
            time.sleep(0.05)

    def error(self):
        return self.browser.run("document.getElementById('error').textContent")

    def wait_error(self):
        deadline = time.monotonic() + 20
        while not self.error():
            assert time.monotonic() < deadline, "no error: " + self.browser.run("document.body.innerText")
            time.sleep(0.05)
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
        page = self.page.read_text()
        assert page.count('stream.getReader({ mode: "byob" })') == 1
        other = self.folder / "without.html"
        other.write_text(page.replace('stream.getReader({ mode: "byob" })', 'null.none'))
        verdicts, _ = self.choose(source, folder, other.as_uri())
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
        self.vectors(self.page.as_uri())

    def vectors(self, url, by_gpu=False):
        tried = 0
        names = {"leaves": "Leaves of Grass by Walt Whitman.epub", "alice": "alice.txt", "lots": "lots-of-numbers"}
        for source in [*sorted(VECTORS.glob("*.torrent")), *sorted(LIBTORRENT.glob("*.torrent"))]:
            stem = source.stem.removesuffix("-v2").removesuffix("-hybrid")
            content = VECTORS / names.get(stem, stem)
            if not content.exists():
                continue
            self.open(url)
            self.browser.choose("#source", [source])
            self.browser.choose("#folder" if content.is_dir() else "#files", [content])
            verdicts, _ = self.wait()
            assert verdicts and set(verdicts.values()) == {"OK"}, (source, verdicts)
            assert not by_gpu or self.all_by_gpu(), (source, self.note_of_gpu())
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
            for url in [None, url]:
                for entries in [False, True] if url else [False]:
                    self.dropped(url, entries)

    def dropped(self, url, entries):
        source, folder = self.made("hybrid")
        self.open(url)
        if entries:  # as in browsers without handles
            self.browser.run("delete DataTransferItem.prototype.getAsFileSystemHandle")
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

    def test_http(self):
        source, folder = self.made("v1")
        with self.served() as url:
            verdicts, _ = self.choose(source, folder, url)
        assert set(verdicts.values()) == {"OK"}, verdicts

    def test_headers(self):
        """The headers of docs/web.md forbid what the page itself cannot: connections ahead of use, and WebRTC."""
        text = (pathlib.Path(__file__).parent.parent / "docs/web.md").read_text()
        headers = dict(re.findall(r"^\| `([\w-]+)` \| `([^`]+)` \|$", text, re.MULTILINE))
        assert headers["Connection-Allowlist"] == "()", headers
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

    def test_no_request(self):
        """The page asks for nothing but itself."""
        source, folder = self.made("v1")
        self.choose(source, folder)
        asked = [event["params"]["request"]["url"] for event in self.browser.events
                 if event["method"] == "Network.requestWillBeSent"]
        assert all(url.startswith(("file:", "blob:")) for url in asked), asked
        problems = [event for event in self.browser.events if event["method"] in ("Log.entryAdded",
                                                                                  "Runtime.exceptionThrown")
                    # What Chromium says of a machine without a GPU.
                    and event["params"].get("entry", {}).get("text") != "No available adapters."]
        assert not problems, problems
        refused = self.browser.run("fetch('http://127.0.0.1:9/').then(() => 'sent', (error) => error.message)")
        assert refused != "sent", refused
        assert any("Content Security Policy" in str(event) for event in self.browser.events), self.browser.events

    def test_changed_while_read(self):
        """A file that changes between two reads is never OK, even if it has the right bytes again."""
        source, folder = self.made("v1", files={"one": noise(300 * BLOCK, 1), "two": noise(20_000, 2)})
        self.open()
        # The first answer of each worker waits until the file has changed.
        self.browser.run("window.held = answered; window.waiting = []; answered = (worker, data) => "
                         "window.going || data.nbytes ? held(worker, data) : waiting.push([worker, data]); 0")
        self.browser.choose("#source", [source])
        self.browser.choose("#folder", [folder])
        self.until("waiting.length > 0")
        stamp = os.stat(folder / "one").st_mtime + 10
        os.utime(folder / "one", (stamp, stamp))
        self.browser.run("window.going = true; waiting.forEach((answer) => held(...answer)); 0")
        verdicts, summary = self.wait()
        assert "choose it again" in verdicts["one"] and summary.startswith("1 of 2 files OK."), (verdicts, summary)

    def test_changed_at_the_end(self):
        source, folder = self.made("v1", files={"one": noise(1_000_000, 1), "two": noise(200_000, 2)})
        self.open()
        # The file changes when all pieces are hashed, before the last look.
        self.browser.run("window.held = recheck; recheck = async (own) => { await new Promise((go) => "
                         "(window.go = go)); return held(own); }; 0")
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
            (bencode({"info": info | {"length": 1, "piece length": 0}}), "piece length"),
            (b"d" * 1000, "byte"), (b"d1:a", "byte"), (b"", ""),
        ]:
            path = self.folder / "bad.torrent"
            path.write_bytes(content)
            self.open()
            self.browser.choose("#source", [path])
            assert words in self.wait_error() and "bad.torrent: " in self.error(), (content, self.error())
        self.picture("bad-torrent")

    def test_names_are_text(self):
        name = "<img src=x onerror=document.title='run'>\u202e\x1b[31m"
        source, folder = self.made("v1", files={name: b"abc", "plain": b"x"})
        verdicts, _ = self.choose(source, folder)
        assert verdicts["<img src=x onerror=document.title='run'>\\u202e\\u001b[31m"] == "OK", verdicts
        assert self.browser.run("document.images.length") == 0 and "run" not in self.browser.run("document.title")

    def test_no_gpu(self):
        """The taker for the GPU is a worker as all others if there is none."""
        source, folder = self.made("hybrid")
        verdicts, _ = self.choose(source, folder, self.page.as_uri() + "?gpu=only")
        assert set(verdicts.values()) == {"OK"}, verdicts
        assert self.browser.run("check.workers.length === 1 && check.gpu === null && check.gpuDone === 0")
        assert self.note_of_gpu() == ""

    # ---- The GPU ----

    def changed(self, *pairs):
        """The page with other words in its scripts, in place of a device that fails."""
        text = self.page.read_text()
        script = text[text.rindex("<script>") + 8:text.rindex("</script>")]
        # The machine may have other work, and the device computes on the CPU.
        for old, new in [("PATIENCE_MS = 10_000", "PATIENCE_MS = 100_000"), *pairs]:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        other = text[text.rindex("<script>") + 8:text.rindex("</script>")]
        digest, new = (base64.b64encode(sha256(script.encode())).decode() for script in (script, other))
        assert text.count(digest) == 1
        page = self.folder / "changed.html"
        page.write_text(text.replace(digest, new))
        return page.as_uri()

    def has_gpu(self):
        self.open()
        return self.browser.run("navigator.gpu?.requestAdapter().then((adapter) => adapter !== null) ?? false")

    def note_of_gpu(self):
        return self.browser.run("document.getElementById('gpu-note').textContent")

    def all_by_gpu(self):
        return self.note_of_gpu() == "" and self.browser.run("check.gpuDone === check.done && check.done > 0")

    def gpu_vectors(self):
        self.vectors(self.changed() + "?gpu=only", by_gpu=True)

    def gpu_steps(self):
        """Pieces of one step and of several, in one group and in several, and of odd lengths: each has the verdict that
        it has without the GPU."""
        short = [("STEP_NBYTES = 4 << 20", "STEP_NBYTES = 32 << 10"), ("BLOCKS_MAX = 4096", "BLOCKS_MAX = 100"),
                 ("DATA_NBYTES = 256 << 20", "DATA_NBYTES = (128 + 160) << 10")]
        for version, piece, pairs in [("v1", 50_001, short), ("v2", 131_072, short), ("hybrid", BLOCK, short)]:
            source, folder = self.made(version, piece, {"one": noise(3_000_001, 1), "three": noise(200_000, 3),
                                                        "two": noise(300_000, 2), "zero": noise(131_072, 4)})
            data = bytearray((folder / "one").read_bytes())
            data[400_000] ^= 1
            (folder / "one").write_bytes(data)
            (folder / "three").unlink()
            expected, _ = self.choose(source, folder)
            pieces = self.browser.run("[...check.pieces]")
            assert expected["one"].startswith("damaged") and expected["zero"] == "OK", expected
            verdicts, _ = self.choose(source, folder, self.changed(*pairs) + "?gpu=only")
            assert self.all_by_gpu(), self.note_of_gpu()
            assert verdicts == expected and self.browser.run("[...check.pieces]") == pieces, (version, piece, verdicts)

    def gpu_that_fails(self):
        """Every piece is right, whatever the device does."""
        def shader(old, new):
            words = "createShaderModule({ code: text"
            return words, f"{words}.replaceAll(`{old}`, `{new}`)"

        done = "        tell(nbytes);\n    }\n    if (sha1)"
        for version, note, *pairs in [
            ("v1", "it computes sha1 wrongly", shader("0x5a827999u", "0x5a827998u")),
            ("v2", "it computes sha256 wrongly", shader("0x428a2f98u", "0x428a2f99u")),
            ("v1", "rror", shader("fn block", "fn ?")),
            # What the test of the device does not have.
            ("v2", "its verdict on a piece is not that of WebAssembly",
             shader("    if lane < params.count {\n        set_state",
                    "    if params.count < 100u { h[0] ^= 1u; }\n    if lane < params.count {\n        set_state")),
            ("v2", "it is lost", (done, "        device.destroy();\n" + done)),
            ("v1", "it does not answer", ("await Promise.all(coming);", "await inTime(new Promise(() => {}));"),
             ("PATIENCE_MS = 100_000", "PATIENCE_MS = 2_000")),
        ]:
            source, folder = self.made(version, files={"one": noise(4_000_000, 1), "two": noise(100_000, 2)})
            verdicts, _ = self.choose(source, folder, self.changed(*pairs) + "?gpu=only")
            assert set(verdicts.values()) == {"OK"} and note in self.note_of_gpu(), (note, verdicts, self.note_of_gpu())
            assert self.browser.run("check.done === check.total && check.gpu === null"), note

    def gpu_that_finds_wrong_pieces_right(self):
        """As if the device had hashed other bytes than the file's: it is found out by a piece that is hashed again."""
        source, folder = self.made("v1", files={"one": noise(4_000_000, 1)})
        (folder / "one").write_bytes(noise(4_000_000, 2))
        verdicts, _ = self.choose(source, folder, self.changed(("core.judge_piece(first + lane.i, nleaves)", "1")) +
                                  "?gpu=only")
        assert verdicts == {"one": "damaged, at pieces 0\u2013244"}, verdicts
        assert "is not that of WebAssembly" in self.note_of_gpu(), self.note_of_gpu()

    def gpu_beside_workers(self):
        """The device takes batches as long as it is faster than a worker, and not at all if it computes on the CPU."""
        source, folder = self.made("v1", files={"one": noise(2000 * BLOCK, 1)})
        pays = ("GPU_LEAST_NBYTES = 1 << 30", "GPU_LEAST_NBYTES = 0"), ("PIECES_MAX = 2048", "PIECES_MAX = 16")
        any_gpu = "computes && !software", "false"
        fails = "await Promise.all(coming);", "throw new Error('no luck');"
        for changes, rate, note in [([], "0", ""), ([any_gpu], "0", ""), ([any_gpu], "Infinity", ""),
                                    ([any_gpu, fails], "0", "no luck")]:
            self.open(self.changed(*pays, *changes))
            # The workers' answers wait until it is known whether there is a device.
            self.browser.run(f"meanRate = () => {rate}; window.held = answered; window.waiting = []; "
                             "window.known = false; answered = (worker, data) => { known ||= data.gpu !== undefined; "
                             "waiting.push([worker, data]); "
                             "if (known) waiting.splice(0).forEach((answer) => held(...answer)); }; 0")
            self.browser.choose("#source", [source])
            self.browser.choose("#folder", [folder])
            verdicts, _ = self.wait()
            assert verdicts == {"one": "OK"} and note in self.note_of_gpu(), (verdicts, self.note_of_gpu())
            assert bool(note) == bool(self.note_of_gpu()), self.note_of_gpu()
            done, right, after = self.browser.run("[check.gpuDone, check.done === check.total, check.gpuPause]")
            assert right and (done > 0) == (any_gpu in changes and not note), (done, right, changes)
            assert (after == 16) == (rate == "0"), (after, rate)
        self.open(self.changed(*pays))
        self.browser.run("document.getElementById('gpu').click()")
        self.browser.choose("#source", [source])
        self.browser.choose("#folder", [folder])
        self.wait()
        assert self.browser.run("check.workers.length === NWORKERS")

    # ---- Lists ----

    def test_lists(self):
        # The first MD5 begins with d4, as a torrent could.
        files = {"empty": b"", "a": noise(100_000, 1), "sub/b c": noise(3, 2), "big": noise(9_000_001, 3)}
        for number, (algorithm, line) in enumerate([
            ("md5", "{hex}  {name}\n"), ("sha1", "{hex} *{name}\n"), ("sha224", "{hex}  ./{name}\r\n"),
            ("sha256", "SHA256 ({name}) = {hex}\n"), ("sha384", "{hex}  {name}\n"),
            ("sha512", "SHA512({name})= {hex}\n"), ("ripemd160", "RMD160 ({name}) = {hex}\n"),
        ]):
            try:
                digests = {name: hashlib.new(algorithm, data).hexdigest() for name, data in files.items()}
            except ValueError:
                print(f"SKIPPED: web: {algorithm}: this Python's OpenSSL lacks it")
                continue
            top = self.folder / f"list-{number}"
            write(top, files)
            lines = "".join(line.format(hex=digest, name=name) for name, digest in digests.items())
            (top / "SUMS").write_text(lines + "# a comment\n", newline="")
            verdicts, summary = self.choose(top / "SUMS", top)
            assert len(verdicts) == 4 and set(verdicts.values()) == {"OK"}, (algorithm, verdicts)
            (top / "a").write_bytes(noise(100_000, 9))
            (top / "empty").unlink()
            verdicts, summary = self.choose(top / "SUMS", top)
            assert [text.split(":")[0] for text in verdicts.values()] == ["damaged", "missing", "OK", "OK"], verdicts
            assert summary.startswith("2 of 4 files OK."), summary
        self.picture("list")

    def test_sha3(self):
        """Tags of OpenSSL and BSD, and lists without tags whose name says the algorithm."""
        files = {"empty": b"", "a": noise(100_000, 1), "sub/b c": noise(136, 2), "big": noise(9_000_001, 3)}
        for number, (list_name, algorithm, line) in enumerate([
            ("SUMS", "sha3_256", "SHA3-256({name})= {hex}\n"), ("SUMS", "sha3_512", "SHA3-512 ({name}) = {hex}\n"),
            ("SHA3-256SUMS", "sha3_256", "{hex}  {name}\n"), ("all.sha3-224", "sha3_224", "{hex} *{name}\n"),
            ("SHA256SUMS", "sha256", "{hex}  {name}\n"), ("SUMS", "sha256", "{hex}  {name}\n"),
        ]):
            top = self.folder / f"sha3-{number}"
            write(top, files)
            digests = {name: hashlib.new(algorithm, data).hexdigest() for name, data in files.items()}
            (top / list_name).write_text("".join(line.format(hex=digest, name=name)
                                                 for name, digest in digests.items()))
            verdicts, summary = self.choose(top / list_name, top)
            assert set(verdicts.values()) == {"OK"} and summary.startswith("4 of 4 files OK."), (list_name, verdicts)
            (top / "big").write_bytes(noise(9_000_001, 4))
            verdicts, _ = self.choose(top / list_name, top)
            assert verdicts["big"].startswith("damaged") and verdicts["a"] == "OK", (list_name, verdicts)
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

    def table(self):
        return self.browser.run("[...document.querySelectorAll('#rows tr')].map((line) => "
                                "[line.cells[1].textContent, line.cells[0].textContent])")

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

    def text(self, selector):
        return self.browser.run(f"document.querySelector({selector!r}).textContent")

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
            "backslash": "".join(f"{digests[name]} *{name}\r\n".replace("/", "\\") for name in files),
            "escaped": "".join(f"\\{digests[name]}  {name}\n".replace("/", "\\\\") for name in files),
            "table": "\r\nAlgorithm       Hash       Path\r\n---------       ----       ----\r\n" + table + "\r\n",
            "properties": "\r\n" + "".join(f"Algorithm : SHA256\r\nHash      : {digests[name][:60]}\r\n"
                                           f"            {digests[name][60:]}\r\nPath      : {windows[name]}\r\n\r\n"
                                           for name in files),
            "csv": '#TYPE Microsoft.PowerShell.Commands.FileHashInfo\r\n"Algorithm","Hash","Path"\r\n' + "".join(
                f'"SHA256","{digests[name]}","{windows[name]}"\r\n' for name in files),
        }
        path = self.folder / "sums.txt"
        encodings = ["utf-8-sig", "utf-16", "utf-16-be"]
        for number, (name, text) in enumerate(lists.items()):
            encoding = encodings[number % len(encodings)]
            path.write_bytes((b"\xfe\xff" if encoding == "utf-16-be" else b"") + text.encode(encoding))
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

        for name, algorithm in [("sums.txt", "blake2b"), ("list", "blake2s"), ("list", "sha3_512"),
                                ("B2SUMS", "blake2b")]:
            verdicts, summary = self.choose(listed(name, algorithm), top)
            assert all(text.startswith("cannot be checked: not its SHA") for text in verdicts.values()), verdicts
            assert self.text("#verdict") == "2 files cannot be checked" and summary.startswith("0 of 2 "), summary
            assert self.browser.run("document.getElementById('work').className") == "gone"
        self.picture("cannot-be-checked")
        # The list's name names the algorithm, or a right line does, or the person who checks.
        for name, algorithm, wrong in [("SHA512SUMS", "blake2b", "ab"), ("sums.txt", "sha512", "a")]:
            verdicts, _ = self.choose(listed(name, algorithm, wrong), top)
            assert verdicts["a"] == "damaged: not the list's SHA512", (name, verdicts)
            assert (verdicts["b"] == "OK") == (wrong == "a"), verdicts
        verdicts, _ = self.choose(listed("list", "sha3_512", "a"), top)
        assert verdicts["b"] == "OK" or verdicts["b"].startswith("cannot"), verdicts
        self.browser.run("(() => { const field = document.getElementById('algorithm'); field.value = [...field.options]"
                         ".find((option) => option.text === 'SHA3-512').value; field.onchange(); })()")
        self.until("source !== null && check.source === source")
        assert self.wait()[0] == {"a": "damaged: not the list's SHA3-512", "b": "OK"}
        (self.folder / "list").write_text(f"BLAKE2b (a) = {'0' * 128}\nSHA256 (b) = {sha256(files['b']).hex()}\n")
        verdicts, summary = self.choose(self.folder / "list", top)
        assert verdicts == {"b": "OK", "a": "extra: not named"} or verdicts["b"] == "OK", verdicts
        assert "unknown" in self.text("#note-list") and "1 line of the list could not be read" in summary
        assert self.browser.run("document.getElementById('work').className") == "gone"

    def test_folder_with_its_list(self):
        top = self.folder / "own"
        write(top, {"a": b"abc", "SHA256SUMS": f"{sha256(b'abc').hex()}  a\n".encode()})
        self.open()
        self.browser.choose("#folder", [top])
        self.until("check !== null")
        verdicts, summary = self.wait()
        assert verdicts == {"a": "OK"} and self.text("#verdict") == "The file is right", (verdicts, summary)
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
        assert verdicts["without/sub/bCopy"] == sha256(files["sub/b"]).hex(), verdicts
        name, text = self.saved("save")
        assert name == "SHA256SUMS", name
        (self.folder / "saved").write_text(text)
        run = subprocess.run(["sha256sum", "--check", "--strict", "../saved"], cwd=top, capture_output=True, text=True)
        assert run.returncode == 0 and run.stdout.count(": OK") == 4, (run, text)
        self.input("#vendor", f"SHA256: {sha256(files['a']).hex().upper()} ")
        assert self.text("#same") == "It is that of without/a"
        self.input("#vendor", sha256(b"other").hex())
        assert self.text("#same") == "No file has this digest"
        self.input("#vendor", "0" * 40)
        assert "choose its algorithm" in self.text("#same")
        self.picture("digests")
        self.browser.run("document.getElementById('again').click()")
        self.until("check.ended && check.given.length === 4")
        assert self.text("#verdict") == "Digests of 4 files"
        self.browser.run("document.getElementById('wanted').value = 'all'; document.getElementById('digest').click()")
        self.until("check.rows[0].digests.length > 10 && check.ended")
        name, text = self.saved("save")
        assert name == "CHECKSUMS" and f"SHA3-512 (a) = {hashlib.sha3_512(files['a']).hexdigest()}\n" in text, text
        assert f"MD5 (sub/b) = {hashlib.md5(files['sub/b']).hexdigest()}\n" in text, text

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
            for state in ["start", "right", "wrong", "error"] if every or self.screenshots else ["wrong"]:
                if state == "wrong":
                    (folder / "z.bin").write_bytes(noise(40_000, 99))
                    (folder / "empty").unlink(missing_ok=True)
                if state in ("start", "error"):
                    self.open()
                else:
                    write(folder, {"z.bin": noise(40_000, 4), "empty": b""}) if state == "right" else None
                    self.choose(source, folder)
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
            self.choose(source, folder)
            self.picture("phone")
            wide = self.browser.run("[...document.querySelectorAll('*')].filter((one) => "
                                    "one.getBoundingClientRect().right > 360).map((one) => one.outerHTML.slice(0, 60))")
            assert wide == [], wide
        finally:
            self.browser.call("Emulation.clearDeviceMetricsOverride")


class Engines:
    """Tests of every engine, by what the page shows: an engine's scripts do not see the page's variables."""

    def __init__(self, engine, page, folder):
        self.engine, self.page, self.folder = engine, page, folder

    def text(self, selector):
        return self.engine.run(f"document.querySelector({selector!r}).textContent")

    def check(self, source, paths, page=None):
        self.engine.open((page or self.page).as_uri())
        self.engine.choose("#source", [source])
        self.engine.choose("#files", paths)
        return self.wait()

    def until(self, condition):
        deadline = time.monotonic() + 60
        while not self.engine.run(condition):
            assert time.monotonic() < deadline, self.engine.run("document.body.innerText")
            time.sleep(0.05)

    def wait(self):
        self.until("!document.getElementById('again').hidden && !document.getElementById('work').hidden")
        rows = self.engine.run("[...document.querySelectorAll('#rows tr')].map((line) => "
                               "[line.cells[1].textContent, line.cells[0].textContent])")
        return dict(rows)

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
        page.write_text(with_script(text, lambda script: script.replace(held, waits + held)))
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

    def engine_just_written(self):
        """WebKit knows whole seconds only: what was written just now may be written again within the same one."""
        (_, source), paths = self.made("v1")
        stamp = time.time() + 3600  # however long it takes until the check begins
        os.utime(paths[2], (stamp, stamp))
        verdicts = self.check(source, paths)
        assert set(verdicts.values()) == {"OK"}, verdicts
        assert (self.text("#unsure") == "") == (self.engine.name == "Chromium"), self.text("#unsure")


def with_script(page, change):
    """The page with another script, and its digest in the policy."""
    script = page[page.rindex("<script>") + 8:page.rindex("</script>")]
    other = change(script)
    digest, new = (base64.b64encode(sha256(text.encode())).decode() for text in (script, other))
    assert other != script and page.count(digest) == 1
    return page.replace(script, other).replace(digest, new)


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


def run_engine(engine, page, names):
    """Runs the tests of every engine in this one. One that is not installed is named."""
    try:
        started = engine()
    except FileNotFoundError as error:
        print(f"SKIPPED: web: {engine.name}: {error}", flush=True)
        # tools/setup.sh installs all engines for test-all only.
        return len(names) if os.environ.get("HASHLOOM_REQUIRE") and os.environ.get("HASHLOOM_TEST_ALL") == "1" else 0
    with started, tempfile.TemporaryDirectory(prefix="hashloom-web-") as folder:
        return run(Engines(started, page, pathlib.Path(folder)), names, False, f"{engine.name}: ")


def run(tests, names, needs_gpu, prefix=""):
    """Runs tests one after the other and returns the number of those that failed."""
    if needs_gpu and not tests.has_gpu():
        print(f"SKIPPED: web: {', '.join(names)}: this Chromium has no GPU that computes on the CPU", flush=True)
        return len(names) if os.environ.get("HASHLOOM_REQUIRE") else 0
    failed = 0
    for name in names:
        begun = time.monotonic()
        try:
            getattr(tests, name)()
            print(f"ok      {prefix}{name} {time.monotonic() - begun:.1f}s", flush=True)
        except Exception as error:
            failed += 1
            print(f"FAILED: {prefix}{name}: {type(error).__name__}: {error}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if arguments.screenshots:
        arguments.screenshots.mkdir(parents=True, exist_ok=True)
    # The tests with a GPU and those without one run at once, in two browsers.
    with contextlib.ExitStack() as ends:
        groups = []
        for prefix in ["test_", "gpu_"]:
            names = [name for name in dir(Tests) if name.startswith(prefix) and arguments.only in name]
            if names:
                folder = pathlib.Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="hashloom-web-")))
                browser = ends.enter_context(Browser("swiftshader" if prefix == "gpu_" else None))
                tests = Tests(browser, arguments.page.resolve(), folder, arguments.screenshots)
                groups.append((tests, names, prefix == "gpu_"))
        names = [name for name in dir(Engines) if name.startswith("engine_") and arguments.only in name]
        engines = [(engine, arguments.page.resolve(), names) for engine in [Chromium, Firefox, WebKit] if names]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            running = [pool.submit(run, *group) for group in groups]
            running += [pool.submit(run_engine, *one) for one in engines]
            failed = sum(one.result() for one in running)
    print(f"web: {failed} failed" if failed else "web: all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
