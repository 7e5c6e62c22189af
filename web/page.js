// page.js: what is dropped or chosen, the batches for the workers, and the verdicts.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Names come from strangers: they are only compared, and shown as text.
"use strict";

const $ = (id) => document.getElementById(id);
// One module for the page and all workers: its code is compiled, and later optimised, only once.
const module = WebAssembly.compile(Uint8Array.from(atob($("wasm").textContent), (letter) => letter.charCodeAt(0)));
const workerUrl = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));

const SOURCE_MAX_NBYTES = 256 << 20;
const ROWS_MAX = 2000;
const NWORKERS = Math.max(1, Math.min(navigator.hardwareConcurrency || 1, 16));
// The room of a worker, as in worker.js.
const ROOM_NBYTES = 32 << 20, LANES = 4, PIECES_MAX = 2048, FILES_MAX = 256;
// Opening a GPU and testing it may take seconds: less than this is done before.
const GPU_LEAST_NBYTES = 1 << 30;
// What the GPU takes at once, not less than these pieces, of which each is one lane, and enough bytes that it seldom
// waits for the next ones. Neither number is measured on a GPU.
const GPU_PIECES = 64, GPU_NBYTES = 512 << 20;
// Batches of the workers after which a GPU that was slower gets another one, and then twice as many.
const GPU_PAUSE = 16;
const UNCHECKED = 0, RIGHT = 1, WRONG = 2, ABSENT = 3, UNREADABLE = 4;
const VERDICTS = ["not checked", "right", "wrong", "file missing or too short", "unreadable"];
const COLOURS = ["unchecked", "right", "wrong", "absent", "unreadable"];

// The torrent or list: { name, compiled, bytes, torrent } or { name, compiled, list }.
let source = null;
// The files to check, by path: { path, file, handle }. The handle of a file that was dropped gives the file anew.
const given = new Map();
// The check under way or just ended.
let check = null;

// ---- Torrents and lists ----

async function readSource(file) {
    if (file.size > SOURCE_MAX_NBYTES) {
        throw new Error(`${file.name}: a torrent or list has at most ${size(SOURCE_MAX_NBYTES)}; ` +
                        "is this one of the files to check?");
    }
    const bytes = new Uint8Array(await file.arrayBuffer());
    const compiled = await module;
    try {
        return { name: file.name, compiled, ...(await parse(compiled, file.name, bytes)) };
    } catch (error) {
        if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) {
            throw new Error(`${file.name}: it takes more memory than the browser gives a page; ` +
                            "use the program hashloom");
        }
        throw error;
    }
}

async function parse(compiled, name, bytes) {
    const core = (await WebAssembly.instantiate(compiled)).exports;
    const nameBytes = new TextEncoder().encode(name);
    // The room may grow the memory, which then has another buffer.
    const room = core.room(bytes.length + nameBytes.length);
    new Uint8Array(core.memory.buffer, room, bytes.length).set(bytes);
    new Uint8Array(core.memory.buffer, room + bytes.length, nameBytes.length).set(nameBytes);
    const answer = () => JSON.parse(new TextDecoder().decode(
        new Uint8Array(core.memory.buffer, core.answer_at(), core.answer_nbytes())));
    // A torrent is a dictionary, and begins with d, the length of its first key, and a colon.
    if (/\.torrent$/i.test(name) || /^d\d+:/.test(new TextDecoder().decode(bytes.subarray(0, 8)))) {
        core.read_torrent(bytes.length);
        const torrent = answer();
        if (torrent.error) throw new Error(`${name}: ${torrent.error}`);
        return { bytes: bytes.buffer, torrent };
    }
    core.read_list(bytes.length, nameBytes.length);
    const list = answer();
    if (list.entries.length === 0) {
        throw new Error(`${name}: neither a torrent nor a list of checksums` +
                        (list.bad.length > 0 ? ` (${list.bad[0]})` : ""));
    }
    return { list };
}

// Lists end in the name of an algorithm.
const ALGORITHMS = [
    // algorithms.py: page_names
    "keccak-256",
    "md5",
    "ripemd-160",
    "ripemd160",
    "rmd160",
    "sha-1",
    "sha-256",
    "sha-512",
    "sha1",
    "sha2-224",
    "sha2-256",
    "sha2-384",
    "sha2-512",
    "sha224",
    "sha256",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "sha384",
    "sha3_224",
    "sha3_256",
    "sha3_384",
    "sha3_512",
    "sha512",
    "sha512-224",
    "sha512-256",
    "sha512t224",
    "sha512t256",
    "shake-128",
    "shake-256",
    "shake128",
    "shake256",
    // algorithms.py: end
];

const looksLikeSource = (name) =>
    /\.torrent$|sums?(\.txt)?$|\.(hash|hashes|digests?|checksums?)$/i.test(name) ||
    ALGORITHMS.includes(name.toLowerCase().replace(/^.*\./s, ""));

// ---- Choosing and dropping ----

function accept(files) {
    for (const item of files) given.set(item.path, item);
}

async function take(work) {
    cancel();
    $("error").textContent = "";
    for (const id of ["work", "pieces", "verdicts", "notes"]) $(id).hidden = true;
    try {
        await work();
    } catch (error) {
        $("error").textContent = error.message || String(error);
    }
    const content = given.size === 0 ? "Now choose the folder with the files." : `${count(given.size, "file")} given.`;
    $("found").textContent = source === null
        ? given.size === 0 ? "" : `${count(given.size, "file")} given. Now choose the torrent or list.`
        : `${source.name}: ${describe()}. ${content}`;
    if (source !== null && given.size > 0 && !$("error").textContent) start();
}

function describe() {
    if (source.list) return `${count(source.list.entries.length, "checksum")}`;
    const { torrent } = source, visible = torrent.files.filter((file) => !file.padding).length;
    return `${torrent.version} torrent, ${count(visible, "file")}, ${count(torrent.piece_count, "piece")} of ` +
        size(torrent.piece_nbytes);
}

$("source").onchange = () => take(async () => {
    source = null;
    if ($("source").files.length > 0) source = await readSource($("source").files[0]);
});
for (const id of ["folder", "files"]) {
    $(id).onchange = () => take(async () => {
        given.clear();
        $(id === "folder" ? "files" : "folder").value = "";
        accept([...$(id).files].map((file) => ({ path: file.webkitRelativePath || file.name, file })));
    });
}
for (const type of ["dragenter", "dragover", "dragleave"]) {
    addEventListener(type, (event) => {
        event.preventDefault();
        $("zone").classList.toggle("over", type !== "dragleave");
    });
}
addEventListener("drop", (event) => {
    event.preventDefault();
    $("zone").classList.remove("over");
    // The items are valid only until this function returns, so all are asked for at once.
    const dropped = [...event.dataTransfer.items].filter((item) => item.kind === "file").map(droppedItem);
    take(async () => {
        const sources = [], items = [];
        for (const top of (await Promise.all(dropped)).filter((top) => top !== null)) {
            if (top.kind === "file" && looksLikeSource(top.name)) sources.push(await top.getFile());
            else await walk(top, items);
        }
        if (sources.length > 1) throw new Error("Drop one torrent or list at a time, with its files.");
        if (sources.length === 1) source = await readSource(sources[0]);
        if (items.length > 0) {
            given.clear();
            accept(items);
        }
    });
});

// A dropped file or folder as a FileSystemHandle, or what is needed of one. Chromium reads dropped folders of a page
// from file:// only through handles; Firefox and Safari know only entries.
async function droppedItem(item) {
    const entry = item.webkitGetAsEntry?.();
    if (item.getAsFileSystemHandle) return item.getAsFileSystemHandle();
    return entry ? handleOf(entry) : null;
}

function handleOf(entry) {
    const { name } = entry;
    if (entry.isFile) {
        return { kind: "file", name, getFile: () => new Promise((resolve, reject) => entry.file(resolve, reject)) };
    }
    return {
        kind: "directory", name,
        async *values() {
            const reader = entry.createReader();
            for (;;) {
                const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
                if (some.length === 0) return;
                yield* some.map(handleOf);
            }
        },
    };
}

// Walks a folder without recursion: a stranger's folder may be deep.
async function walk(top, items) {
    const left = [[top.name, top]];
    while (left.length > 0) {
        const [path, handle] = left.pop();
        if (handle.kind === "file") items.push({ path, file: await handle.getFile(), handle });
        else for await (const one of handle.values()) left.push([`${path}/${one.name}`, one]);
    }
}

// ---- Finding the files ----

const under = (prefix, path) => given.get(prefix + path);

// The folder among those given that has most of the first 100 files; the earlier one if several have as many.
function bestPrefix(paths, name) {
    const tops = new Set([""]);
    for (const path of given.keys()) if (path.includes("/")) tops.add(path.slice(0, path.indexOf("/") + 1));
    const prefixes = [...tops].flatMap((top) => (name === null ? [top] : [`${top}${name}/`, top]));
    const first = paths.slice(0, 100);
    const found = (prefix) => first.filter((path) => under(prefix, path)).length;
    return prefixes.map((prefix) => [prefix, found(prefix)]).reduce((a, b) => (b[1] > a[1] ? b : a))[0];
}

// The path of a list's entry below the folder; null if the path leads out of it.
function pathInFolder(name) {
    const parts = name.split("/").filter((part) => part !== "" && part !== ".");
    return name.startsWith("/") || parts.includes("..") || parts.length === 0 ? null : parts.join("/");
}

// Finds the files of the torrent or list. A row for each: the path shown, the path looked for, what was expected, and
// the file that was found.
function findFiles() {
    let rows, prefix;
    if (source.torrent) {
        const { torrent } = source;
        rows = torrent.files.map((file, index) => ({ ...file, index, name: file.path }));
        const visible = rows.filter((row) => !row.padding && !row.symlink);
        if (torrent.single) {
            prefix = bestPrefix([torrent.name], null);
            const only = given.size === 1 ? given.values().next().value : undefined;
            for (const row of visible) row.item = under(prefix, row.path) || only;
        } else {
            prefix = bestPrefix(visible.map((row) => row.path), torrent.name);
            for (const row of visible) row.item = under(prefix, row.path);
        }
    } else {
        rows = source.list.entries.map((entry, index) => ({ ...entry, index, path: pathInFolder(entry.name) }));
        prefix = bestPrefix(rows.map((row) => row.path).filter((path) => path !== null), null);
        for (const row of rows) row.item = row.path === null ? undefined : under(prefix, row.path);
    }
    const used = new Set(rows.map((row) => row.item));
    const extra = [...given.values()].filter((item) =>
        item.path.startsWith(prefix) && prefix !== "" && !used.has(item) && !looksLikeSource(item.path));
    return { rows, extra, prefix };
}

// ---- The check ----

function start() {
    const { rows, extra, prefix } = findFiles();
    const total = source.torrent
        ? source.torrent.files.reduce((sum, file) => sum + (file.padding ? 0 : file.nbytes), 0)
        : rows.reduce((sum, row) => sum + (row.item ? row.item.file.size : 0), 0);
    // The length is taken now, and with it the browser notes the file's time.
    for (const row of rows) if (row.item) row.found = { nbytes: row.item.file.size, time: row.item.file.lastModified };
    check = {
        source, rows, extra, prefix, total, done: 0, began: performance.now(), ended: null, cancelled: false,
        pieces: source.torrent ? new Uint8Array(source.torrent.piece_count) : null,
        failed: new Map(), workers: [], busy: 0, batches: source.torrent ? pieceBatches() : fileBatches(rows),
        taken: 0, gpu: null, gpuDone: 0, gpuIdle: 0, gpuPause: GPU_PAUSE,
    };
    $("gpu-note").textContent = "";
    $("work").hidden = $("verdicts").hidden = false;
    $("pieces").hidden = !check.pieces;
    $("cancel").hidden = false;
    $("again").hidden = true;
    const notes = source.torrent ? source.torrent.notes : source.list.bad;
    $("notes").hidden = notes.length === 0;
    $("note-list").replaceChildren(...notes.map((note) => element("li", note)));
    showRows();
    const contents = source.torrent ? rows.map((row) => (row.item ? row.item.file : null)) : [];
    const { torrent: plan, bytes, compiled } = source, own = check;
    const begin = (taker) => {
        const worker = new Worker(workerUrl);
        check.workers.push(worker);
        worker.onmessage = ({ data }) => own === check && !own.ended && answered(worker, data);
        worker.onerror = (event) => own === check && !own.ended && broken(event.message);
        worker.postMessage({ compiled, source: bytes, plan, contents, taker });
    };
    // For tests: any GPU, also one that computes on the CPU, and no worker beside it.
    const only = source.torrent && location.search === "?gpu=only";
    for (let i = 0; i < (only ? 0 : NWORKERS); i++) begin();
    const pays = source.torrent && total >= GPU_LEAST_NBYTES && navigator.gpu && $("gpu").checked;
    if (only || pays) begin(only ? "only" : "faster");
    // A worker always has a second batch at hand. One that waits for this thread idles a sixth of the time.
    const plain = check.workers.slice(0, only ? 0 : NWORKERS);
    for (const worker of [...plain, ...plain]) next(worker);
    check.timer = setInterval(show, 200);
    if (check.busy === 0 && !only) finish();
}

// Runs of pieces: as many as a worker has room for, but enough batches for all workers.
function pieceBatches() {
    const { piece_nbytes, piece_count } = source.torrent;
    const fit = Math.floor(ROOM_NBYTES / piece_nbytes), fair = Math.ceil(piece_count / NWORKERS / 2);
    const each = Math.max(LANES, Math.min(fit, fair, PIECES_MAX) & -LANES);
    return (function* () {
        for (let first = 0; first < piece_count; first += each) {
            yield { first, count: Math.min(each, piece_count - first) };
        }
    })();
}

// Groups of files of similar lengths: as many as there are lanes, or more if they are small.
function* fileBatches(rows) {
    const found = rows.filter((row) => row.item).sort((a, b) => b.found.nbytes - a.found.nbytes);
    for (let at = 0; at < found.length;) {
        const messages = [];
        for (let nbytes = 0; at < found.length && messages.length < FILES_MAX; at++) {
            nbytes += found[at].found.nbytes;
            if (messages.length >= LANES && nbytes > ROOM_NBYTES / 2) break;
            const algorithms = found[at].digests.map((digest) => digest.algorithm);
            messages.push({ index: found[at].index, file: found[at].item.file, algorithms });
        }
        yield { messages };
    }
}

function next(worker) {
    // The GPU takes many batches at once, which are neighbours, but at the end nobody should wait for it.
    const isGpu = worker === check.gpu, share = isGpu ? (check.pieces.length - check.taken) / NWORKERS / 2 : 0;
    if (isGpu && share < GPU_PIECES && check.workers.length > 1) return;
    const { value, done } = check.batches.next();
    if (done) return;
    const most = isGpu ? Math.min(share, Math.max(GPU_PIECES, GPU_NBYTES / source.torrent.piece_nbytes)) : 0;
    while (value.count < most) {
        const more = check.batches.next();
        if (more.done) break;
        value.count += more.value.count;
    }
    check.taken = value.first + value.count;
    check.busy++;
    worker.postMessage(value);
}

function answered(worker, data) {
    if (data.broken) return broken(data.broken);
    if (data.gpu !== undefined) return gpuIs(worker, data);
    if (data.nbytes !== undefined) {
        check.done += data.nbytes;
        if (worker === check.gpu) check.gpuDone += data.nbytes;
        return undefined;
    }
    check.busy--;
    if (data.verdicts) {
        check.pieces.set(data.verdicts, data.first);
        for (const [index, reason] of data.failed) check.failed.set(index, reason);
    } else {
        for (const { index, digests, error } of data.hashed) {
            if (error) check.failed.set(index, error);
            else check.rows[index].digested = digests;
        }
    }
    if (worker === check.gpu && data.rate > 0 && data.rate < meanRate()) {
        check.gpuIdle = check.gpuPause;
        check.gpuPause *= 2;
    } else {
        next(worker);
        if (worker !== check.gpu && check.gpuIdle > 0 && --check.gpuIdle === 0 && check.gpu) next(check.gpu);
    }
    return check.busy === 0 ? finish() : undefined;
}

// The rate of a worker, in bytes a millisecond. The GPU is given up for a while if it is slower. Both rates have
// everything in them, also reading: what feeds the GPU takes as much of the CPUs as a worker.
function meanRate() {
    return (check.done - check.gpuDone) / (performance.now() - check.began) / NWORKERS;
}

// The GPU is there and tested, or it is not or no longer used. Without it its worker is one as all others.
function gpuIs(worker, { gpu, why }) {
    check.gpu = gpu ? worker : null;
    if (why) {
        // A driver's words may be many lines.
        const line = why.replace(/\s+/g, " ").slice(0, 300).replace(/[. ]+$/, "");
        $("gpu-note").textContent = `The GPU is not used any further: ${line}. WebAssembly does its work.`;
    }
    const alone = check.workers.length === 1;
    if (gpu || alone) next(worker);
    return alone && check.busy === 0 ? finish() : undefined;
}

// A worker that ends in an error leaves no verdict behind: what it had not answered stays unchecked.
function broken(message) {
    $("error").textContent = `The check ended with an error: ${message}. Files without a verdict were not checked; ` +
        "with less memory in use a new check may succeed.";
    cancel();
}

function cancel() {
    if (!check || check.ended) return;
    check.cancelled = true;
    end();
}

async function finish() {
    const own = check;
    for (const worker of own.workers) worker.terminate();
    await recheck(own);
    if (own === check && !own.ended) end();
}

function end() {
    for (const worker of check.workers) worker.terminate();
    clearInterval(check.timer);
    check.ended = performance.now();
    show();
    $("cancel").hidden = true;
    $("again").hidden = false;
}

// A file that changed while it was read is never OK. Chromium refuses to read a file whose length or time, in seconds,
// is another than at first; here both are looked at once more, the time in milliseconds.
async function recheck(own) {
    const rows = own.rows.filter((row) => row.item && !own.failed.has(row.index));
    const look = async (row) => {
        try {
            const { file, handle } = row.item, { nbytes, time } = row.found;
            await file.slice(Math.max(0, nbytes - 1), nbytes).arrayBuffer();
            const now = handle ? await handle.getFile() : file;
            if (now.size !== nbytes || now.lastModified !== time) {
                own.failed.set(row.index, "NotReadableError: changed");
            }
        } catch (error) {
            own.failed.set(row.index, `${error.name}: ${error.message}`);
        }
    };
    for (let at = 0; at < rows.length && own === check && !own.ended; at += 64) {
        await Promise.all(rows.slice(at, at + 64).map(look));
    }
}

$("gpu").parentElement.hidden = !navigator.gpu;
$("cancel").onclick = cancel;
$("again").onclick = () => take(async () => {
    for (const item of given.values()) if (item.handle) item.file = await item.handle.getFile();
});

// ---- Verdicts ----

// Chromium has two errors for a file that changed: NotReadableError, and a network error if a read was under way.
const reasonOf = (reason) => reason.startsWith("NotFoundError")
    ? "moved or deleted since it was chosen; choose it again"
    : `changed while it was read, or not readable; check again, or choose it again (${reason})`;

// The verdict on a file: [class, text].
function verdictOf(row) {
    const { item, found, nbytes } = row;
    if (row.padding || row.symlink) return ["", "nothing to check"];
    if (row.path === null) return ["gone", "the list names a place outside of the folder; not read"];
    if (!item) return ["gone", "missing"];
    if (check.failed.has(row.index)) return ["bad", reasonOf(check.failed.get(row.index))];
    if (nbytes !== undefined && found.nbytes < nbytes) {
        const where = damage(row, [WRONG, ABSENT, UNREADABLE]);
        return ["bad", `too short by ${count(nbytes - found.nbytes, "byte")}${where}`];
    }
    const ending = check.ended && !check.cancelled;
    if (check.pieces) {
        const counts = piecesOf(row);
        if (counts[WRONG] > 0) return ["bad", `damaged${damage(row, [WRONG])}`];
        if (counts[UNREADABLE] + counts[ABSENT] > 0) {
            const where = damage(row, [ABSENT, UNREADABLE]);
            return ["bad", `not proven: a piece is shared with a file that is missing or unreadable${where}`];
        }
        if (counts[UNCHECKED] > 0 || !ending) return ["", check.ended ? "not checked" : "waiting"];
    } else {
        if (!row.digested || !ending) return ["", check.ended ? "not checked" : "waiting"];
        const wrong = row.digests.filter(({ algorithm, hex }) =>
            !row.digested.some((digest) => digest.algorithm === algorithm && digest.hex === hex));
        if (row.digested.length === 0 || wrong.length > 0) {
            return ["bad", `damaged: not the list's ${wrong.map(({ tag }) => tag).join(", ")}`];
        }
    }
    if (nbytes !== undefined && found.nbytes > nbytes) {
        return ["bad", `too long: ${count(found.nbytes - nbytes, "byte")} more than expected, the rest is right`];
    }
    return ["ok", "OK"];
}

function rangeOf(row) {
    const each = check.source.torrent.piece_nbytes;
    return row.nbytes === 0 ? [0, 0] : [Math.floor(row.offset / each), Math.ceil((row.offset + row.nbytes) / each)];
}

function piecesOf(row) {
    const counts = [0, 0, 0, 0, 0];
    for (const verdict of check.pieces.subarray(...rangeOf(row))) counts[verdict]++;
    return counts;
}

// The first runs of the file's pieces that have one of these verdicts.
function damage(row, verdicts) {
    if (!check.pieces) return "";
    const [start, end] = rangeOf(row), runs = [];
    for (let piece = start; piece < end; piece++) {
        if (!verdicts.includes(check.pieces[piece])) continue;
        const last = runs[runs.length - 1];
        if (last && last[1] === piece - 1) last[1] = piece;
        else runs.push([piece, piece]);
    }
    if (runs.length === 0) return "";
    const noun = runs.length === 1 && runs[0][0] === runs[0][1] ? "piece" : "pieces";
    const shown = runs.slice(0, 8).map(([from, to]) => (from === to ? `${from}` : `${from}\u2013${to}`)).join(", ");
    return `, at ${noun} ${shown}${runs.length > 8 ? ` and ${runs.length - 8} more places` : ""}`;
}

// ---- Showing ----

function element(name, text, ...classes) {
    const made = document.createElement(name);
    made.textContent = text;
    made.classList.add(...classes.filter((one) => one));
    return made;
}

const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

function size(nbytes) {
    const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let unit = 0;
    for (; nbytes >= 1024 && unit < units.length - 1; unit++) nbytes /= 1024;
    return `${Number(nbytes.toFixed(1))} ${units[unit]}`;
}

// Control characters would be invisible, or change the direction of the text around them.
const shown = (name) => name.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);

function showRows() {
    const visible = check.rows.filter((row) => !row.padding);
    check.shown = visible.slice(0, ROWS_MAX).map((row) => {
        const line = document.createElement("tr"), verdict = element("td", "");
        const nbytes = row.nbytes ?? row.found?.nbytes;
        line.append(verdict, element("td", shown(row.name)),
                    element("td", nbytes === undefined ? "" : nbytes.toLocaleString("en"), "number"));
        return { row, line, verdict };
    });
    const extras = check.extra.slice(0, ROWS_MAX).map((item) => {
        const line = document.createElement("tr");
        line.append(element("td", "extra: not named"), element("td", shown(item.path.slice(check.prefix.length))),
                    element("td", item.file.size.toLocaleString("en"), "number"));
        return line;
    });
    $("rows").replaceChildren(...check.shown.map(({ line }) => line), ...extras);
    const more = visible.length - check.shown.length + check.extra.length - extras.length;
    $("more").textContent = more > 0 ? `and ${count(more, "file")} more, counted above` : "";
}

function show() {
    const seconds = ((check.ended || performance.now()) - check.began) / 1000;
    $("progress").value = check.ended && !check.cancelled ? 1 : check.total > 0 ? check.done / check.total : 0;
    $("rate").textContent = `${size(check.done)} in ${seconds.toFixed(1)} s, ` +
        `${size(check.done / seconds)}/s, ${count(NWORKERS, "worker")}` +
        (check.gpuDone > 0 ? `, ${size(check.gpuDone)} on the GPU` : "");
    for (const { row, line, verdict } of check.shown) {
        const [kind, text] = verdictOf(row);
        if (verdict.textContent !== text) verdict.textContent = text;
        line.className = kind;
    }
    if (check.pieces) {
        check.counts = [0, 0, 0, 0, 0];
        for (const verdict of check.pieces) check.counts[verdict]++;
        showMap();
    }
    if (check.ended) {
        const kinds = check.rows.filter((row) => !row.padding && !row.symlink).map((row) => verdictOf(row)[0]);
        const ok = kinds.filter((kind) => kind === "ok").length;
        const { nbad } = check.source.list || { nbad: 0 };
        $("summary").textContent = [
            check.cancelled ? "Stopped before the end." : "",
            `${ok.toLocaleString("en")} of ${count(kinds.length, "file")} OK.`,
            check.pieces
                ? `${check.counts[RIGHT].toLocaleString("en")} of ${count(check.pieces.length, "piece")} right.` : "",
            check.extra.length > 0 ? `${count(check.extra.length, "extra file")}.` : "",
            nbad > 0 ? `${count(nbad, "line")} of the list could not be read.` : "",
        ].filter((text) => text).join(" ");
    } else {
        $("summary").textContent = "";
    }
}

// A cell of the map is one piece, or several of which the worst counts.
const WORST = [1, 0, 4, 2, 3];
const COLUMNS = 120, LINES_MAX = 60, CELL = 8;

function showMap() {
    const { pieces } = check, canvas = $("map");
    const each = Math.max(1, Math.ceil(pieces.length / (COLUMNS * LINES_MAX)));
    const ncells = Math.ceil(pieces.length / each);
    const nlines = Math.max(1, Math.ceil(ncells / COLUMNS));
    if (canvas.height !== nlines * CELL) canvas.height = nlines * CELL;
    const style = getComputedStyle(document.documentElement), context = canvas.getContext("2d");
    const colours = COLOURS.map((name) => style.getPropertyValue(`--${name}`));
    context.clearRect(0, 0, canvas.width, canvas.height);
    for (let cell = 0; cell < ncells; cell++) {
        const worst = pieces.subarray(cell * each, (cell + 1) * each).reduce((a, b) => (WORST[b] > WORST[a] ? b : a));
        context.fillStyle = colours[worst];
        context.fillRect((cell % COLUMNS) * CELL, Math.floor(cell / COLUMNS) * CELL, CELL - 1, CELL - 1);
    }
    check.each = each;
    canvas.setAttribute("aria-label", `Piece map: ${VERDICTS.map((name, verdict) =>
        `${check.counts[verdict].toLocaleString("en")} ${name}`).join(", ")}`);
}

$("map").onpointermove = (event) => {
    if (!check?.pieces) return;
    const scale = $("map").width / $("map").getBoundingClientRect().width / CELL;
    const column = Math.floor(event.offsetX * scale), line = Math.floor(event.offsetY * scale);
    const piece = (line * COLUMNS + column) * check.each;
    $("pointed").textContent = column >= COLUMNS || piece >= check.pieces.length ? ""
        : check.each === 1 ? `piece ${piece}: ${VERDICTS[check.pieces[piece]]}`
        : `pieces from ${piece} on, ${check.each} in a square`;
};
