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
// What a file of a torrent may be.
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

// A small file, whole. A file that was changed, moved or made shorter since it was chosen is an error.
async function readWhole(file, nbytes) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (bytes.length !== nbytes) throw new DOMException("the file has another length", "NotReadableError");
    return bytes;
}
