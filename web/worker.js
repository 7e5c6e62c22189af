// worker.js: reads files and hashes them, several side by side. Each worker has a module of its own, and is given one
// batch after another by page.js.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
"use strict";

// The room for the bytes of a batch, and the buffer that bytes come through: a worker has no others. On two CPUs
// Chromium 156 reads 1.5 GB/s through a buffer of 0.5 to 4 MiB. Slices of 32 MiB, each in a new buffer, come at 1.2,
// slices of 4 MiB at 0.8.
const ROOM_NBYTES = 32 << 20;
const READ_NBYTES = 512 << 10;
// Lanes of 32 bits in a vector.
const LANES = 4;
// The verdicts on a piece, as in page.js.
const RIGHT = 1, WRONG = 2, ABSENT = 3, UNREADABLE = 4;

let core, torrent, files;
let buffer = new ArrayBuffer(READ_NBYTES);
// The reason for each file that could not be read.
const failed = new Map();

// One batch after another: the next may come while this one waits for bytes.
let last = Promise.resolve();
onmessage = ({ data }) => {
    last = last.then(async () => {
        try {
            if (data.compiled) await begin(data);
            else if (data.messages) postMessage(await hashFiles(data.messages));
            else if (gpu) postMessage(await checkPiecesOnGpu(data.first, data.count));
            else postMessage(await checkPieces(data.first, data.count));
        } catch (error) {
            postMessage({ broken: String(error) });
        }
    });
};

async function begin({ compiled, source, plan, contents, taker }) {
    core = new WebAssembly.Instance(compiled).exports;
    [torrent, files] = [plan, contents];
    if (!source) return;
    const room = core.room(source.byteLength); // may grow the memory, which then has another buffer
    new Uint8Array(core.memory.buffer, room, source.byteLength).set(new Uint8Array(source));
    core.read_torrent(source.byteLength);
    if (taker) await beginGpu(taker === "only");
}

function answer() {
    return new Uint8Array(core.memory.buffer, core.answer_at(), core.answer_nbytes()).slice(); // neither call allocates
}

function putNumbers(at, numbers) {
    const bytes = new Uint8Array(Uint32Array.from(numbers).buffer);
    new Uint8Array(core.memory.buffer, at, bytes.length).set(bytes);
}

// Reads into memory. A file that was changed, moved or made shorter since it was chosen is an error: the browser
// compares its length and its time with those it had then.
async function read(file, from, nbytes, at) {
    const stream = file.slice(from, from + nbytes).stream();
    let reader, own = true;
    try {
        reader = stream.getReader({ mode: "byob" });
    } catch {
        [reader, own] = [stream.getReader(), false]; // Safari: the stream brings its own buffers
    }
    if (buffer.byteLength === 0) buffer = new ArrayBuffer(READ_NBYTES); // lost in a read that failed
    for (let have = 0; have < nbytes;) {
        const view = new Uint8Array(buffer, 0, Math.min(READ_NBYTES, nbytes - have));
        const { value, done } = await (own ? reader.read(view) : reader.read());
        if (own && value) buffer = value.buffer;
        if (done) throw new DOMException("the file has become shorter", "NotReadableError");
        new Uint8Array(core.memory.buffer, at + have, value.length).set(value);
        have += value.length;
    }
    reader.releaseLock();
}

// The index of the first file that ends behind this byte of the content.
function fileAt(offset) {
    let low = 0, high = torrent.files.length;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (torrent.files[middle].offset + torrent.files[middle].nbytes > offset) high = middle;
        else low = middle + 1;
    }
    return low;
}

// The parts of files that a range of the content consists of. In v2 there is nothing between files.
function* partsOf(start, end) {
    for (let index = fileAt(start); index < torrent.files.length && torrent.files[index].offset < end; index++) {
        const file = torrent.files[index];
        const from = Math.max(start, file.offset), to = Math.min(end, file.offset + file.nbytes);
        if (from >= to) continue;
        yield { index, padding: file.padding, from: from - file.offset, nbytes: to - from, offset: from };
    }
}

async function checkPieces(first, count) {
    const { verdicts, lanes } = begun(first, count);
    await hashPieces(first, lanes, verdicts, (nbytes) => postMessage({ nbytes }));
    return { first, verdicts, failed: [...failed] };
}

// The pieces whose files are there, and the verdicts on the others. `tree` has the bytes under a file's hash tree.
function begun(first, count) {
    const verdicts = new Uint8Array(count), lanes = [];
    for (let i = 0; i < count; i++) {
        const start = (first + i) * torrent.piece_nbytes;
        let end = start, tree = 0;
        for (const part of partsOf(start, start + torrent.piece_nbytes)) {
            end = part.offset + part.nbytes;
            if (part.padding) continue;
            tree += part.nbytes;
            const file = files[part.index];
            if (!file || file.size < part.from + part.nbytes) verdicts[i] ||= ABSENT;
            else if (failed.has(part.index)) verdicts[i] = UNREADABLE;
        }
        if (!verdicts[i]) lanes.push({ i, start, end, tree, leaves: [] });
    }
    return { verdicts, lanes };
}

const lengthsOf = (lanes, done, row) => lanes.map(({ start, end }) => Math.max(0, Math.min(end - start - done, row)));

// Hashes pieces by the module, as many at once as its room has rows.
async function hashPieces(first, all, verdicts, tell) {
    const row = Math.min(torrent.piece_nbytes, ROOM_NBYTES / LANES), nrows = Math.floor(ROOM_NBYTES / row);
    for (let at = 0; at < all.length; at += nrows) {
        const lanes = all.slice(at, at + nrows);
        const lengthsAt = Math.ceil(lanes.length * row / 4) * 4, room = core.room(lengthsAt + 4 * lanes.length);
        putNumbers(room, lanes.map((lane) => first + lane.i));
        core.begin_pieces(lanes.length);
        for (let done = 0; done < torrent.piece_nbytes; done += row) {
            const lengths = lengthsOf(lanes, done, row), nbytes = lengths.reduce((sum, length) => sum + length, 0);
            if (nbytes === 0) break; // a file may be much shorter than a piece
            await fill(lanes, lengths, done, row, room, verdicts);
            putNumbers(room + lengthsAt, lengths);
            core.update_pieces(lanes.length, row, lengthsAt);
            tell(nbytes);
        }
        core.finish_pieces();
        answer().forEach((is_right, l) => (verdicts[lanes[l].i] ||= is_right ? RIGHT : WRONG));
    }
}

// Reads the next bytes of each lane. Neighbours in the same file are one read.
async function fill(lanes, lengths, done, row, room, verdicts) {
    let next = null;
    const flush = async () => {
        if (!next) return;
        try {
            await read(files[next.index], next.from, next.nbytes, next.at);
        } catch (error) {
            failed.set(next.index, `${error.name}: ${error.message}`);
            for (const i of next.pieces) verdicts[i] = UNREADABLE;
        }
        next = null;
    };
    for (const [l, { i, start }] of lanes.entries()) {
        for (const part of partsOf(start + done, start + done + lengths[l])) {
            const at = room + l * row + (part.offset - start - done);
            if (part.padding) {
                new Uint8Array(core.memory.buffer, at, part.nbytes).fill(0);
            } else if (next && next.index === part.index && next.from + next.nbytes === part.from &&
                       next.at + next.nbytes === at) {
                next.nbytes += part.nbytes;
                next.pieces.push(i);
            } else {
                await flush();
                next = { index: part.index, from: part.from, nbytes: part.nbytes, at, pieces: [i] };
            }
        }
    }
    await flush();
}

// Hashes whole files side by side: each is { index, file, algorithms }.
async function hashFiles(messages) {
    const longest = messages.reduce((most, { file }) => Math.max(most, file.size), 0);
    const row = Math.min(Math.ceil(longest / 128) * 128, Math.floor(ROOM_NBYTES / messages.length / 128) * 128);
    const pairs = messages.flatMap(({ algorithms }, i) => algorithms.flatMap((algorithm) => [i, algorithm]));
    const lengthsAt = messages.length * row;
    const room = core.room(Math.max(lengthsAt + 4 * messages.length, 4 * pairs.length)), errors = new Map();
    putNumbers(room, pairs);
    core.begin_messages(pairs.length / 2);
    for (let done = 0; done < longest; done += row) {
        const lengths = new Array(messages.length).fill(0);
        for (const [i, { index, file }] of messages.entries()) {
            const nbytes = errors.has(index) ? 0 : Math.max(0, Math.min(file.size - done, row));
            try {
                if (nbytes > 0) await read(file, done, nbytes, room + i * row);
                lengths[i] = nbytes;
            } catch (error) {
                errors.set(index, `${error.name}: ${error.message}`);
            }
        }
        putNumbers(room + lengthsAt, lengths);
        core.update_messages(messages.length, row, lengthsAt);
        postMessage({ nbytes: lengths.reduce((sum, length) => sum + length, 0) });
    }
    core.finish_messages();
    const digests = JSON.parse(new TextDecoder().decode(answer()));
    return {
        hashed: messages.map(({ index }, i) => ({
            index, error: errors.get(index),
            digests: digests.filter(({ chunk }) => chunk === i).map(({ algorithm, hex }) => ({ algorithm, hex })),
        })),
    };
}
