#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests the npm package: test.py PACKAGE [--require]. It is installed as npm installs what `npm pack` packs, and tested in
Node, beside Node's crypto, and in headless Chromium, beside crypto.subtle; deno and bun too, and the types by tsc, where
these are installed. --require: it is a failure if Node or Chromium is missing."""

import argparse
import functools
import http.server
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from browser import Browser

IN_A_PAGE = """(async () => {
    const { load } = await import('/node_modules/hashloom/index.js');
    const { test } = await import('/test.mjs');
    const names = { sha1: 'SHA-1', sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' };
    return await test(load, {
        names: Object.keys(names),
        hmacNames: Object.keys(names),
        digest: async (name, bytes) => new Uint8Array(await crypto.subtle.digest(names[name], bytes)),
        // Browsers refuse an empty key: HMAC fills it up with zeros.
        hmac: async (name, key, bytes) => new Uint8Array(await crypto.subtle.sign('HMAC', await crypto.subtle.importKey('raw',
            key.length > 0 ? key : new Uint8Array(1), { name: 'HMAC', hash: names[name] }, false, ['sign']), bytes)),
    });
})()"""

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
console.log(digests, texts, joined, one, text, long, hash.digest().length);
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

    def command(*words):
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    with tempfile.TemporaryDirectory() as folder:
        installed = pathlib.Path(folder) / "node_modules/hashloom"
        if shutil.which("npm"):
            packed = json.loads(command("npm", "pack", "--json", "--offline", str(arguments.package.resolve())))[0]
            print(f"npm pack: {packed['size']} bytes, {len(packed['files'])} files")
            installed.mkdir(parents=True)
            command("tar", "--extract", "--gzip", "--strip-components=1", "--file", packed["filename"], "--directory",
                    str(installed))
        else:
            print("skipped: packing by npm, which is not installed: the folder is tested as it is")
            shutil.copytree(arguments.package, installed)
        nbytes = sum((installed / name).stat().st_size for name in ("index.js", "simd.js"))
        if nbytes > 120_000:
            failed.append(f"{nbytes} bytes of JavaScript: expected at most 120,000")
        (pathlib.Path(folder) / "package.json").write_text('{"dependencies": {"hashloom": "*"}}')
        for name in "test.mjs", "node.mjs":
            shutil.copy(HERE / name, folder)
        for program, words in [("node", ["node"]), ("deno", DENO), ("bun", ["bun"])]:
            if shutil.which(program):
                step(f"{program} {command(program, '--version').splitlines()[0]}", lambda: command(*words, "node.mjs"))
            elif program == "node":
                skip("in Node: it is not installed: apt-get install nodejs")
        if shutil.which("tsc"):
            (pathlib.Path(folder) / "typed.mts").write_text(TYPED)
            step("types", lambda: command("tsc", "--strict", "--noEmit", "--module", "nodenext", "--target", "es2022",
                                          "typed.mts") or "right")
        try:
            with Browser() as browser:
                handler = functools.partial(Quiet, directory=folder)
                with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
                    threading.Thread(target=server.serve_forever, daemon=True).start()
                    browser.open(f"http://127.0.0.1:{server.server_address[1]}/")
                    step("Chromium", lambda: f"{browser.run(IN_A_PAGE)} comparisons")
                    server.shutdown()
        except FileNotFoundError as error:
            skip(f"in a browser: {error}")
    print("; ".join(failed) and f"{len(failed)} failed: {'; '.join(failed)}" or "all passed")
    return 1 if failed else 0


class Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}

    def log_message(self, *_):
        pass


sys.exit(main())
