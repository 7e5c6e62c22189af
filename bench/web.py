#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks a file against its torrent in the page, beside crypto.subtle in a loop.

Needs build/web/hashloom.html (make web) and Chromium. In one page, in turns, the file in the page cache; the best of
all rounds:

  check           the page's own check, from the click to the summary
  subtle          each piece read, then crypto.subtle.digest("SHA-1"), one after the other
  read            workers that read the file as the page does, and hash nothing
  hash, subtle hash   two workers that hash 32 MiB in memory, without reading: by the module, by crypto.subtle

With --files, for many small files and their list of SHA-256: the page's check, and each file read by arrayBuffer() and
hashed by crypto.subtle, one after the other and 32 at once, in files a second.

With --gpu, for files of more than 1 GiB: the check without and with the machine's GPU, and its share of the bytes.
"""

import argparse
import hashlib
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "web"))
from browser import Browser
from test import noise, torrent, write

CODE = """
window.subtle = async (file, piece) => {
    const begun = performance.now();
    for (let at = 0; at < file.size; at += piece)
        await crypto.subtle.digest("SHA-1", await file.slice(at, at + piece).arrayBuffer());
    return file.size / (performance.now() - begun) / 1e6;
};
window.each = async (text, messages) => {
    const url = URL.createObjectURL(new Blob([text]));
    const workers = messages.map(() => new Worker(url)), begun = performance.now();
    const answers = await Promise.all(workers.map((worker, i) => new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = (event) => reject(event.message);
        worker.postMessage(messages[i]);
    })));
    const seconds = (performance.now() - begun) / 1000;
    workers.forEach((worker) => worker.terminate());
    return [answers, seconds];
};
window.readingAlone = async (file) => {
    const half = Math.ceil(file.size / NWORKERS), ranges = [];
    for (let at = 0; at < file.size; at += half) ranges.push({ file, from: at, to: Math.min(file.size, at + half) });
    const [, seconds] = await each(`onmessage = async ({ data: { file, from, to } }) => {
        const reader = file.slice(from, to).stream().getReader({ mode: "byob" });
        for (let buffer = new ArrayBuffer(512 << 10);;) {
            const { value, done } = await reader.read(new Uint8Array(buffer));
            if (done) break;
            buffer = value.buffer;
        }
        postMessage(0);
    }`, ranges);
    return file.size / seconds / 1e9;
};
window.hashing = async (piece) => (await each(`onmessage = ({ data: { compiled, source, piece } }) => {
    const core = new WebAssembly.Instance(compiled).exports;
    let room = core.room(source.byteLength);
    new Uint8Array(core.memory.buffer, room, source.byteLength).set(new Uint8Array(source));
    core.read_torrent(source.byteLength);
    const count = (32 << 20) / piece;
    const put = (at, numbers) => {
        const bytes = new Uint8Array(Uint32Array.from(numbers).buffer);
        new Uint8Array(core.memory.buffer, at, bytes.length).set(bytes);
    };
    room = core.room((32 << 20) + 4 * count);
    new Uint8Array(core.memory.buffer, room, 32 << 20).forEach((_, i, all) => (all[i] = i * 7));
    const once = () => {
        put(room, Array.from({ length: count }, (_, i) => i));
        core.begin_pieces(count);
        put(room + (32 << 20), Array(count).fill(piece));
        core.update_pieces(count, piece, 32 << 20);
        core.finish_pieces();
    };
    once();
    const begun = performance.now();
    let n = 0;
    for (; performance.now() - begun < 500; n++) once();
    postMessage(n * (32 << 20) / (performance.now() - begun) / 1e6);
}`, Array(NWORKERS).fill({ compiled: source.compiled, source: source.bytes, piece })))[0].reduce((a, b) => a + b);
window.subtleHashing = async (piece) => (await each(`onmessage = async ({ data: piece }) => {
    const bytes = new Uint8Array(32 << 20).map((_, i) => i * 7), begun = performance.now();
    let n = 0;
    while (performance.now() - begun < 500)
        for (let at = 0; at < bytes.length; at += piece, n += piece)
            await crypto.subtle.digest("SHA-1", bytes.subarray(at, at + piece));
    postMessage(n / (performance.now() - begun) / 1e6);
}`, Array(NWORKERS).fill(piece)))[0].reduce((a, b) => a + b);
window.checking = async (gpu) => {
    $("gpu").checked = gpu;
    await start();
    while (!check.ended) await new Promise((resolve) => setTimeout(resolve, 1));
    if (!check.rows.every((row) => verdictOf(row)[0] === OK)) throw new Error("a wrong verdict");
    return check.total / (check.ended - check.began) / 1e6;
};
window.filesChecked = async () => {
    await checking(false);
    return check.rows.length / (check.ended - check.began);
};
window.filesInLoop = async (atOnce) => {
    const files = [...given.values()].map(({ file }) => file), begun = performance.now();
    await forAll(files, atOnce, async (file) => crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
    return files.length / (performance.now() - begun);
};
0
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=500, help="MB (default: 500)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--piece", type=int, default=262144, help="bytes of a piece (default: 262144)")
    parser.add_argument("--files", type=int, help="measure this number of files of 3,000 bytes")
    parser.add_argument("--gpu", action="store_true", help="measure the check with the machine's GPU")
    arguments = parser.parse_args()
    gpu = "default" if arguments.gpu else None
    with tempfile.TemporaryDirectory(prefix="hashloom-web-") as folder, Browser(gpu) as browser:
        folder = pathlib.Path(folder)
        if arguments.files:
            files = {f"{i:06}": noise(3000, i) for i in range(arguments.files)}
            source = folder / "SHA256SUMS"
            source.write_text("".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items()))
        else:
            files = {"file.bin": noise(arguments.size * 1_000_000, 1)}
            source = folder / "content.torrent"
            source.write_bytes(torrent("content", files, arguments.piece))
        write(folder / "content", files)
        del files
        browser.open((ROOT / "build/web/hashloom.html").as_uri())
        browser.choose("#source", [source])
        browser.choose("#folder", [folder / "content"])
        while not browser.run("check !== null && check.ended !== null"):
            pass
        browser.run(CODE)
        best = {}
        file, piece = "given.values().next().value.file", arguments.piece
        rows = [("check", "checking(false)"), ("subtle", f"subtle({file}, {piece})"), ("read", f"readingAlone({file})"),
                ("hash", f"hashing({piece})"), ("subtle hash", f"subtleHashing({piece})")]
        if gpu:
            rows = [rows[0], ("with GPU", "checking(true)"), ("GPU's share", "check.gpuDone / check.total")]
        if arguments.files:
            rows = [("check", "filesChecked()"), ("loop", "filesInLoop(1)"), ("32 at once", "filesInLoop(32)")]
        for _ in range(arguments.rounds):
            for name, code in rows:
                best.setdefault(name, []).append(browser.run(code))
        workers = browser.run("NWORKERS")
        print(f"{browser.run('navigator.userAgent').split()[-2]}, {workers} workers, "
              + (f"{arguments.files} files of 3,000 bytes" if arguments.files else
                 f"{arguments.size} MB, pieces of {piece} bytes"))
        for name, rates in best.items():
            rates.sort()
            unit = " thousand files/s" if arguments.files else "" if name == "GPU's share" else " GB/s"
            print(f"{name:12} {rates[-1]:6.2f}{unit}  (median {rates[len(rates) // 2]:.2f})")
        if not (gpu or arguments.files):
            print(f"check is {max(best['check']) / max(best['subtle']):.2f} times subtle")


main()
