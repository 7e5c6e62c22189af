#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests the npm package: test.py PACKAGE [--require]. It is installed as npm installs what `npm pack` packs, by import
and by require(). It is tested in Node, beside Node's crypto, and in headless Chromium, Firefox and WebKitGTK, beside
crypto.subtle; everywhere beside the vectors of hash-wasm, noble-hashes and BLAKE3; in Deno and Bun, bundled by esbuild,
its types by tsc, and itself by publint and attw, where these are installed. --require: it is a failure if Node or
Chromium is missing, npm fetches the oldest Node that package.json names, and the addon is compiled, too (a minute), and
tested in Node. HASHLOOM_TEST_ALL=1: so it is, and npm fetches the programs that are not installed."""

import argparse
import functools
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from browser import Browser
from engines import Firefox, WebKit, views_of

ROOT = HERE.parents[1]
BROWSER_SECONDS = 300
# npm fetches these tools with HASHLOOM_TEST_ALL=1.
PROGRAMS = ["bun@1", "deno@2", "esbuild@0.28", "typescript@7", "publint@0.3", "@arethetypeswrong/cli@0.18"]
PAGE = "<!doctype html><body><script type=module src=page.mjs></script>"
# Since TypeScript 5.7 these calls refuse what may be shared memory.
TYPED_BUFFERS = """import { load } from 'hashloom';
const hashloom = await load();
const bytes: Uint8Array<ArrayBuffer> = hashloom.many('sha1', ['a'], { output: 'joined' });
new Blob([bytes, hashloom.hash('sha1', 'a'), hashloom.hashPairs('sha1', bytes)]);
await crypto.subtle.digest('SHA-1', hashloom.createHash('sha1').digest());
"""
BUNDLED = """import { load } from 'hashloom';
load().then((hashloom) => console.log(hashloom.many('sha256', ['abc', ''], { output: 'hex' }).join()));
"""
OF_BUNDLED = ",".join(hashlib.sha256(text).hexdigest() for text in (b"abc", b""))

DENO = ["deno", "run", "--allow-all", "--no-prompt", "--node-modules-dir=manual"]

TYPED = """import { load, type Algorithm, type Hash } from 'hashloom';
const hashloom = await load();
const name: Algorithm = 'sha3-256';
const digests: Uint8Array[] = hashloom.many(name, ['a', new Uint8Array(2), new ArrayBuffer(3)]);
const texts: string[] = hashloom.rows('sha1', 'abcd', 2, { output: 'hex' });
const joined: Uint8Array = hashloom.hmacMany('sha1', 'key', new Set(['a']), { output: 'joined' });
const one: Uint8Array = hashloom.hash('md5', 'a');
const text: string = hashloom.hash('md5', 'a', { output: 'hex' });
const hash: Hash = hashloom.createHash('shake128').update('a').copy();
const long: string = hash.digest({ output: 'hex', length: 5 });
// @ts-expect-error: no such algorithm
hashloom.hash('sha257', 'a');
// @ts-expect-error: a number is no message
hashloom.many('sha1', [5]);
// @ts-expect-error: nor is a text an array of messages
hashloom.many('sha1', 'abc');
// @ts-expect-error: nor a form an object
hash.digest('hex');
// @ts-expect-error: the form of HMAC is its length
hashloom.hmac('sha1', 'key', 'a', { length: 5 });
const above: Uint8Array = hashloom.hashPairs('sha1', new Uint8Array(40), joined), root: string =
    hashloom.merkleRoot('zeros', new Uint8Array(96), { depth: 2, output: 'hex' });
console.log(digests, texts, joined, one, text, long, hash.digest().length, above, root);
"""


def main() -> int:
    parser = argparse.ArgumentParser(description="Tests the npm package.")
    parser.add_argument("package", type=pathlib.Path)
    parser.add_argument("--require", action="store_true")
    arguments = parser.parse_args()
    failed = []

    def skip(what):
        print(f"SKIPPED: npm package {what}")
        if arguments.require:
            failed.append(what)

    def step(what, run):
        try:
            print(f"{what}: {run()}")
        except Exception as error:
            print(f"{what}: FAILED: {error}")
            failed.append(what)

    def command(*words, **more):
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=os.environ | more, timeout=600)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    def compare(*words):
        # node.mjs ends its own process by a signal, after its last line.
        done = subprocess.run([*words], cwd=folder, capture_output=True, text=True, timeout=600)
        if " comparisons; " not in done.stdout or done.returncode != -signal.SIGKILL:
            raise RuntimeError(f"{' '.join(words)}: {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout.strip(), done.stderr

    def bundled(platform, form):
        name = f"bundle.{'mjs' if form == 'esm' else 'cjs'}"
        command("esbuild", "app.mjs", "--bundle", f"--platform={platform}", f"--format={form}", f"--outfile={name}")
        found = command("node", name)
        if found != OF_BUNDLED:
            raise RuntimeError(f"{found} instead of {OF_BUNDLED}")
        return "right"

    def addon():
        command("node", str(installed / "native/build.cjs"))
        found, _ = compare("node", "node.mjs", "native")
        (installed / "native/hashloom.node").write_text("no addon")
        _, warned = compare("node", "node.mjs")
        (installed / "native/hashloom.node").unlink()
        if "goes on with WebAssembly" not in warned:
            raise RuntimeError(f"one that cannot be loaded: {warned}")
        return found

    def in_oldest(version):
        programs = pathlib.Path(folder) / "oldest"
        command("npm", "install", "--silent", "--prefix", str(programs), f"node@{version}")
        node = programs / "node_modules/node/bin/node"
        if (found := command(str(node), "--version")) != f"v{version}":
            raise RuntimeError(f"npm installed {found}")
        return compare(str(node), "node.mjs")[0]

    def in_browser(engine, url):
        engine.open(url)
        deadline = time.monotonic() + BROWSER_SECONDS
        while not (result := engine.run("document.body.dataset.result ?? ''")):
            if time.monotonic() > deadline:
                raise TimeoutError("no result")
            time.sleep(0.2)
        if result.startswith("FAILED"):
            raise RuntimeError(result + views_of(engine, f"{url}views.html"))
        return result

    with tempfile.TemporaryDirectory() as folder:
        installed, packed = pathlib.Path(folder) / "node_modules/hashloom", None
        if shutil.which("npm"):
            packed = json.loads(command("npm", "pack", "--json", "--offline", str(arguments.package.resolve())))[0]
            print(f"npm pack: {packed['size']} bytes, {len(packed['files'])} files")
            installed.mkdir(parents=True)
            command("tar", "--extract", "--gzip", "--strip-components=1", "--file", packed["filename"], "--directory",
                    str(installed))
        else:
            print("skipped: packing by npm, which is not installed: the folder is tested as it is")
            shutil.copytree(arguments.package, installed)
        nbytes = sum((installed / name).stat().st_size for name in ("index.js", "module.js"))
        if nbytes > 155_000:
            failed.append(f"{nbytes} bytes of JavaScript: expected at most 155,000")
        (pathlib.Path(folder) / "package.json").write_text('{"dependencies": {"hashloom": "*"}}')
        for path in [*(HERE / name for name in ("test.mjs", "hostile.mjs", "node.mjs", "thread.mjs", "page.mjs")),
                     HERE.parent / "views.html",
                     *(ROOT / "vectors/npm").glob("*.json")]:
            shutil.copy(path, folder)
        if os.environ.get("HASHLOOM_TEST_ALL") == "1" and shutil.which("npm"):
            programs = pathlib.Path(folder) / "programs"
            install = ["npm", "install", "--silent", "--prefix", str(programs), *PROGRAMS]
            step("npm install", lambda: command(*install) or "done")
            os.environ["PATH"] += f":{programs}/node_modules/.bin"
        for program, words in [("node", ["node"]), ("deno", DENO), ("bun", ["bun"])]:
            if shutil.which(program):
                version = command(program, "--version").splitlines()[0]
                step(f"{program} {version}", lambda: compare(*words, "node.mjs")[0])
            elif program == "node":
                skip("in Node: it is not installed: apt-get install nodejs")
        cc = os.environ.get("CC", "cc").split()[0]
        is_full = arguments.require or os.environ.get("HASHLOOM_TEST_ALL") == "1"
        oldest = json.loads((installed / "package.json").read_text())["engines"]["node"].removeprefix(">=")
        if not is_full or not packed:
            print(f"SKIPPED: npm package in Node {oldest}: npm fetches it with --require or HASHLOOM_TEST_ALL=1")
        else:
            step(f"the oldest Node, {oldest}", lambda: in_oldest(oldest))
        if not is_full:
            print("SKIPPED: npm package's addon: --require or HASHLOOM_TEST_ALL=1 compile it, which takes a minute")
        elif shutil.which("node") and shutil.which(cc):
            step("addon", addon)
        else:
            skip(f"'s addon: node or {cc} is not installed")
        if shutil.which("tsc"):
            has_kinds = tuple(map(int, command("tsc", "--version").split()[-1].split(".")[:2])) >= (5, 7)
            (pathlib.Path(folder) / "typed.mts").write_text(TYPED)
            (pathlib.Path(folder) / "buffers.mts").write_text(TYPED_BUFFERS if has_kinds else "")
            step("types", lambda: command("tsc", "--strict", "--noEmit", "--module", "nodenext", "--target", "es2022",
                                          "typed.mts", "buffers.mts") or "right")
        if shutil.which("esbuild"):
            (pathlib.Path(folder) / "app.mjs").write_text(BUNDLED)
            for platform, form in [("browser", "esm"), ("browser", "iife"), ("node", "esm"), ("node", "cjs")]:
                step(f"esbuild for {platform}, {form}", lambda: bundled(platform, form))
        if shutil.which("publint"):
            step("publint", lambda: command("publint", "--strict", str(installed)).splitlines()[-1])
        if shutil.which("attw") and packed:
            step("attw", lambda: command("attw", packed["filename"]) and "right")
        (pathlib.Path(folder) / "index.html").write_text(PAGE)
        handler = functools.partial(Quiet, directory=folder)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{server.server_address[1]}/"
            for name, engine in [("Chromium", Browser), ("Firefox", Firefox), ("WebKitGTK", WebKit)]:
                try:
                    started = engine()
                except FileNotFoundError as error:
                    if name == "Chromium":
                        skip(f"in {name}: {error}")
                    else:
                        print(f"SKIPPED: npm package in {name}: {error}")
                    continue
                with started:
                    step(name, lambda: in_browser(started, url))
            server.shutdown()
    print("; ".join(failed) and f"{len(failed)} failed: {'; '.join(failed)}" or "all passed")
    return 1 if failed else 0


class Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}

    def log_message(self, *_):
        pass


sys.exit(main())
