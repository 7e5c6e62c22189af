// shared.js: what the page and its workers have in common. build.py puts it before both.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
"use strict";

// The room of a worker for the bytes of a batch, and the lanes of 32 bits in a vector.
const ROOM_NBYTES = 32 << 20, LANES = 4;
// A file of this length is read whole by one call, many at once. Chromium 156 reads 1,000 files of 3 kB so in 0.14 s,
// one after the other in 0.5 s, and through slices in 0.86 s.
const SMALL_NBYTES = 256 << 10, READS = 32;
// The verdicts on a piece.
const UNCHECKED = 0, RIGHT = 1, WRONG = 2, ABSENT = 3, UNREADABLE = 4;
// Flags of a torrent's file.
const PADDING = 1, SYMLINK = 2;

// The index of the first file of a torrent that ends behind this byte of the content.
function fileAt({ offsets, nbytes }, offset) {
    let low = 0, high = offsets.length;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (offsets[middle] + nbytes[middle] > offset) high = middle;
        else low = middle + 1;
    }
    return low;
}

// Calls `work` for all items, some of them at once.
async function forAll(items, atOnce, work) {
    let at = 0;
    const one = async () => {
        while (at < items.length) await work(items[at++]);
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, one));
}

// The buffers of small files, whole. What is asked for at once is read by one call: for each call the browser opens a
// pipe to another process. A file that was changed, moved or made shorter since it was chosen is an error.
let wanted = [];
function readWhole(file, nbytes) {
    return new Promise((resolve, reject) => {
        if (wanted.push({ file, nbytes, resolve, reject }) === 1) queueMicrotask(readWanted);
    });
}

async function readWanted() {
    const own = wanted, length = own.reduce((sum, { nbytes }) => sum + nbytes, 0);
    wanted = [];
    const whole = own.length === 1 ? null : await new Blob(own.map(({ file }) => file)).arrayBuffer().catch(() => null);
    let at = 0;
    for (const { file, nbytes, resolve, reject } of own) {
        if (whole?.byteLength === length) resolve(whole.slice(at, at + nbytes));
        else file.arrayBuffer().then((bytes) => {
            if (bytes.byteLength !== nbytes) throw new DOMException("the file has another length", "NotReadableError");
            resolve(bytes);
        }).catch(reject);
        at += nbytes;
    }
}
