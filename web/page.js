// page.js: what is dropped or chosen, the batches for the workers, and the verdicts.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Names come from strangers: they are only compared, and shown as text.

const $ = (id) => document.getElementById(id);
// One module for the page and all workers: its code is compiled, and later optimised, only once.
const module = WebAssembly.compile(Uint8Array.from(atob($("wasm").textContent), (letter) => letter.charCodeAt(0)));
const workerUrl = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));

const SOURCE_MAX_NBYTES = 256 << 20;
// Rows of the table that are shown at once.
const ROWS = 200;
const NWORKERS = Math.max(1, Math.min(navigator.hardwareConcurrency || 1, 16));
const PIECES_MAX = 2048, FILES_MAX = 256, FIRST_MIN = 64;
const VERDICTS = ["not checked", "right", "wrong", "file missing or too short", "unreadable"];
const COLOURS = ["unchecked", "right", "wrong", "absent", "unreadable"];
// Kinds of verdicts on files, in the order of the table, and their classes and names.
const BAD = 0, GONE = 1, DOUBT = 2, NONE = 3, EXTRA = 4, OK = 5, NOT_GIVEN = 6, HIDDEN = 7;
const CLASSES = ["bad", "gone", "doubt", "", "", "ok"];
const KINDS = ["not right", "missing", "cannot be told", "not checked", "extra", "right", "not given"];
// Chromium and WebKit compare a file with the disk at each read; Firefox keeps the length and time that a file had when
// it was chosen, and reads whatever is there. WebKit compares whole seconds: a file that was written shortly before
// may be written once more within the same one.
const TELLS = /AppleWebKit\//.test(navigator.userAgent) && !CSS.supports("-moz-appearance", "none");
const TELLS_MS = TELLS && /Chrome\//.test(navigator.userAgent);
const FRESH_MS = 2000;

// The torrent or list: { name, file, compiled, bytes, torrent } or { name, file, compiled, bytes, list }. One without a
// file is new: a list or torrent that is to be made.
let source = null;
// The torrent or list that is being read: { name, worker }. The last one that was chosen wins.
let reading = null;
// Why there is none.
let sourceProblem = "";
// The files to check, by path: { path, file, handle }. The handle of a file that was dropped gives the file anew.
const given = new Map();
// The check under way or just ended.
let check = null;

// ---- Torrents and lists ----

// Reads the torrent or list in a worker, which `stopReading` ends.
async function setSource(file) {
    stopReading();
    cancel();
    setSeveral(null);
    [source, sourceProblem] = [null, ""];
    const own = reading = { name: file.name, worker: null };
    describe();
    try {
        const made = await readSource(own, file);
        if (own !== reading) return;
        source = made;
    } catch (error) {
        if (own !== reading) return;
        sourceProblem = error instanceof DOMException ? `${file.name}: it cannot be read; choose it again`
            : `${file.name}: ${error.message}`;
    }
    stopReading();
    await ready();
}

function stopReading() {
    reading?.worker?.terminate();
    reading = null;
}

async function readSource(own, file) {
    if (file.size > SOURCE_MAX_NBYTES) {
        throw new Error(`a torrent or list has at most ${size(SOURCE_MAX_NBYTES)}; is this one of the files to check?`);
    }
    const bytes = await file.arrayBuffer(), compiled = await module;
    if (own !== reading) return null;
    own.worker = new Worker(workerUrl);
    const rest = await ask(own.worker, { compiled, parse: bytes, name: file.name }, [bytes]);
    return { name: file.name, file, compiled, ...rest };
}

// Asks a worker one thing.
async function ask(worker, question, given) {
    const { error, broken: why, ...answer } = await new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = (event) => reject(new Error(event.message));
        worker.postMessage(question, given);
    });
    if (error || why) throw new Error(error || why);
    return answer;
}

// Lists end in the name of an algorithm.
const ALGORITHMS = [
    // algorithms.py: page_names
    "blake2b",
    "blake2b-256",
    "blake2b-512",
    "blake2b512",
    "blake2s",
    "blake2s-256",
    "blake2s256",
    "blake3",
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
    "sm3",
    // algorithms.py: end
];

const looksLikeSource = (name) =>
    /\.torrent$|sums?(\.txt)?$|\.(hash|hashes|digests?|checksums?)$/i.test(name) ||
    ALGORITHMS.includes(name.toLowerCase().replace(/^.*\./s, ""));

// ---- Saving ----

function save(name, content) {
    const link = document.createElement("a");
    [link.href, link.download] = [URL.createObjectURL(new Blob([content])), name];
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

$("report").onclick = () => {
    save("hashloom-report.json", JSON.stringify(several ? reportOfAll() : report(check), null, 1));
};

function report(check) {
    const { source: { name, torrent }, counts, began_ms, unsure, cancelled, done, total } = check;
    return {
        checked: name, began: new Date(began_ms).toISOString(), browser: navigator.userAgent,
        verdict: check.headline[1], summary: check.summary, cancelled,
        bytes_read: done, bytes: total, files_that_may_have_changed_unnoticed: unsure,
        info_hashes: check.made?.hashes ?? torrent?.hashes,
        pieces: torrent ? Object.fromEntries(VERDICTS.map((verdict, i) => [verdict, counts[i]])) : undefined,
        files: check.lines.filter((row) => !row.padding).map((row) => {
            const [kind, text] = verdictOf(row, check);
            const { name, found, digested: digests } = row;
            return { name, state: KINDS[kind], verdict: text, bytes: found?.nbytes, digests };
        }),
    };
}

// ---- Choosing and dropping ----

// Takes the files to check in place of those before. `list` gives them: { path, file, handle }.
let listing = null;
async function setFiles(list, keepsSource = false) {
    cancel();
    if (source && !source.file && !keepsSource) source = null;
    given.clear();
    const own = listing = { nfiles: 0, problem: "" };
    describe();
    try {
        const items = [];
        await list(items, own);
        if (own !== listing) return;
        for (const item of items) {
            if (given.has(item.path)) own.problem = `Two files with the path ${shown(item.path)} were given; give one.`;
            given.set(item.path, item);
        }
    } catch (error) {
        if (own !== listing) return;
        own.problem = "The folder cannot be read to its end; choose it again.";
    }
    listing = own.problem ? own : null;
    await ready();
}

// Starts the check once there is everything. A folder that holds its own list or torrent needs no other.
async function ready() {
    const isFree = source === null && !several && !reading && !sourceProblem && !listing;
    if (isFree && given.size > 0 && pasted?.list) return beginOf("The digest that was pasted", pasted.list, true);
    const found = isFree && given.size > 1 ? ownSources() : [];
    if (isFree && given.size > 0 && found.length === 0) {
        $("wanted").value = isLoose() ? "usual" : "sha256";
        if (isLoose()) return begin("usual", true);
    }
    if (found.length === 1) return setSource(found[0].file);
    $("several").hidden = found.length === 0;
    $("own").replaceChildren(new Option("choose one", ""), ...found.map(({ path }) => new Option(shown(path), path)));
    if (found.length > 0) $("own").append(new Option("all of them", ALL));
    describe();
    if (given.size === 0 || reading || listing) return undefined;
    if (several) return startAll();
    if (source?.options) return make(source.options);
    return source === null ? undefined : start();
}

// The torrents and lists in the first folders of what was given.
const ownSources = () =>
    [...given.values()].filter(({ path }) => path.split("/").length <= 2 && looksLikeSource(path))
        .sort((a, b) => (a.path < b.path ? -1 : 1));

// The value of a choice that no path is.
const ALL = "\0";

// Says what there is so far, and what is missing.
function describe() {
    compare();
    if (!check || check.ended) for (const id of ["work", "pieces", "verdicts", "notes"]) $(id).hidden = true;
    const problem = sourceProblem || listing?.problem || "";
    if ($("error").textContent !== problem) $("error").textContent = problem;
    const content = listing && !listing.problem ? "Reading the folder\u2026"
        : given.size === 0 ? "" : `${count(given.size, "file")} given.${isPartial() ? ` ${PARTIAL}.` : ""}`;
    const isOwn = source?.file && [...given.values()].some(({ file }) => file === source.file);
    if (reading || source || several) $("several").hidden = true;
    $("make").hidden = given.size === 0 || Boolean(reading || listing);
    $("name").placeholder = commonFolder().folder ?? "";
    const what = isOwn ? `${source.name} of the folder itself` : source?.name;
    $("found").textContent = several
        ? `${several.items.length} torrents and lists. ${content || "Now choose the folder with the files."}`
        : reading ? `Reading ${reading.name}\u2026`
        : source?.file || source?.making ? `${what}: ${contents()}. ${content || "Now choose the files."}`
        : content && (listing || source?.list?.isPasted) ? content
        : content
            ? `${content} To check ${given.size === 1 ? "it" : "them"}, paste a digest, or choose a torrent or list.`
            : "";
    $("how").hidden = $("example").hidden = $("found").textContent !== "";
    $("here").hidden = !$("how").hidden;
    $("stop").hidden = !reading;
    $("without").hidden = given.size === 0 || reading !== null || several !== null || Boolean(source?.file);
    document.title = `${problem ? "Error \u2013 " : ""}hashloom: check files`;
}

function contents() {
    if (source.list) return `${count(source.list.entries.length, "checksum")}`;
    const { torrent } = source, visible = torrent.flags.reduce((sum, flag) => sum + (flag & PADDING ? 0 : 1), 0);
    return `${torrent.version} torrent, ${count(visible, "file")}, ${count(torrent.piece_count, "piece")} of ` +
        size(torrent.piece_nbytes);
}

// Takes one torrent or list, or several.
const setSources = (files) => (files.length === 1 ? setSource(files[0]) : setAll(files));

$("source").onchange = () => {
    if ($("source").files.length > 0) setSources([...$("source").files]);
};
$("own").onchange = () => {
    const item = given.get($("own").value);
    if (item) setSource(item.file);
    else if ($("own").value === ALL) setAll(ownSources().map(({ file }) => file));
};
$("stop").onclick = () => {
    if (several) return cancelAll();
    sourceProblem = `${reading.name}: reading was cancelled`;
    stopReading();
    $("source").value = ""; // the same one can be chosen again
    describe();
    return undefined;
};
for (const id of ["folder", "files"]) {
    $(id).onchange = () => setFiles(async (items) => {
        $(id === "folder" ? "files" : "folder").value = "";
        for (const file of $(id).files) items.push({ path: file.webkitRelativePath || file.name, file });
    });
}
for (const type of ["dragenter", "dragover", "dragleave"]) {
    addEventListener(type, (event) => {
        event.preventDefault();
        $("zone").classList.toggle("over", type !== "dragleave");
    });
}
addEventListener("drop", async (event) => {
    event.preventDefault();
    $("zone").classList.remove("over");
    // The items are valid only until this function returns, so all are asked for at once.
    const dropped = [...event.dataTransfer.items].filter((item) => item.kind === "file").map(droppedItem);
    const text = dropped.length === 0 ? event.dataTransfer.getData("text/plain") : "";
    const tops = (await Promise.all(dropped)).filter((top) => top !== null);
    if (text) await paste(text);
    else await takeTops(tops);
});

// Takes torrents and lists, and the files to check.
async function takeTops(tops) {
    const sources = tops.filter((top) => top.kind === "file" && looksLikeSource(top.name));
    const others = tops.filter((top) => !sources.includes(top));
    const both = [];
    if (others.length > 0) {
        both.push(setFiles(async (items, own) => {
            for (const top of others) await walk(top, items, own);
        }));
    }
    if (sources.length > 0) both.push(Promise.all(sources.map((one) => one.getFile())).then(setSources));
    if (both.length === 0) describe();
    await Promise.all(both);
}

// A dropped file or folder as a FileSystemHandle, or what is needed of one. Chromium reads dropped folders of a page
// from file:// only through handles, which leave out files whose names might do harm elsewhere, as x*y and x.lnk.
async function droppedItem(item) {
    const entry = item.webkitGetAsEntry?.();
    if (location.protocol === "file:" && item.getAsFileSystemHandle) return item.getAsFileSystemHandle();
    return entry ? handleOf(entry) : null;
}

const isPartial = () => {
    for (const { handle, path } of given.values()) {
        if (globalThis.FileSystemHandle && handle instanceof FileSystemHandle && path.includes("/")) return true;
    }
    return false;
};
const PARTIAL = "Chromium does not give all files of a dropped folder to a page from a disk, but leaves out names " +
    "such as x*y or x.lnk; the button gives all of them";

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
async function walk(top, items, own) {
    const left = [[top.name, top]], first = items.length;
    while (left.length > 0 && own === listing) {
        const [path, handle] = left.pop();
        if (handle.kind === "file") items.push({ path, file: null, handle });
        else for await (const one of handle.values()) left.push([`${path}/${one.name}`, one]);
    }
    await forAll(items.slice(first), READS, async (item) => {
        if (own === listing) item.file = await item.handle.getFile();
    });
}

// ---- Finding the files ----

const under = (prefix, path) => given.get(prefix + path);

// The row of a file that is right if it has the digests of any entry.
function rowOfAny(item, index) {
    const { entries } = source.list, digests = new Map(entries.flatMap((entry) => entry.digests).map((digest) =>
        [digest.algorithm, digest]));
    return { index, name: item.path, path: item.path, item, entries, isAny: true,
             told: entries.every(({ told }) => told), digests: [...digests.values()] };
}

// The folder among those given that has most of the first 100 files, and their number; the earlier one if several have
// as many.
function bestPrefix(paths, name) {
    const tops = new Set([""]);
    for (const path of given.keys()) if (path.includes("/")) tops.add(path.slice(0, path.indexOf("/") + 1));
    const prefixes = [...tops].flatMap((top) => (name === null ? [top] : [`${top}${name}/`, top]));
    const first = paths.slice(0, 100);
    const found = (prefix) => first.filter((path) => under(prefix, path)).length;
    return prefixes.map((prefix) => [prefix, found(prefix)]).reduce((a, b) => (b[1] > a[1] ? b : a));
}

// The path of a list's entry below the folder; null if the path leads out of it.
function pathInFolder(name) {
    const parts = name.split("/").filter((part) => part !== "" && part !== ".");
    return name.startsWith("/") || parts.includes("..") || parts.length === 0 ? null : parts.join("/");
}

const hasDrive = (name) => /^[a-z]:[\\/]/i.test(name);

// The paths below the folder of names in a list. Names of Windows begin with a drive, or have backslashes in the place
// of slashes. The first folders that names with a drive have in common are left out, as many as leads to most files.
function pathsInFolder(names) {
    const slashes = (name) => name.replaceAll("\\", "/");
    const drives = names.filter(hasDrive).map((name) => slashes(name).split("/"));
    let common = drives.length === 0 ? [] : drives[0].slice(0, -1);
    for (const parts of drives) {
        let n = 0;
        while (n < common.length && n < parts.length - 1 && parts[n] === common[n]) n++;
        common = common.slice(0, n);
    }
    const below = (depth, parts) => pathInFolder(parts.slice(depth).join("/"));
    const found = (depth) => bestPrefix(drives.slice(0, 100).map((parts) => below(depth, parts)), null)[1];
    const [depth] = common.slice(0, 64).map((_, i) => [i + 1, found(i + 1)])
        .reduce((a, b) => (b[1] > a[1] ? b : a), [0, 0]);
    const paths = names.map((name) => (hasDrive(name) ? below(depth, slashes(name).split("/")) : pathInFolder(name)));
    const [prefix] = bestPrefix(paths.filter((path) => path !== null), null);
    return paths.map((path) => {
        const isTurned = path !== null && path.includes("\\") && !under(prefix, path);
        const turned = isTurned ? pathInFolder(slashes(path)) : path;
        return path === null || (turned !== null && (path === turned || under(bestPrefix([turned], null)[0], turned)))
            ? turned : path;
    });
}

// Finds the files of the torrent or list. A row for each: the path shown, the path looked for, what was expected, and
// the file that was found.
function findFiles() {
    let rows, prefix;
    if (source.torrent) {
        const { paths, nbytes, offsets, flags, name, single } = source.torrent;
        rows = paths.map((path, index) => ({
            index, name: path, path, nbytes: nbytes[index], offset: offsets[index],
            padding: (flags[index] & PADDING) !== 0, symlink: (flags[index] & SYMLINK) !== 0,
        }));
        const visible = rows.filter((row) => !row.padding && !row.symlink);
        const wanted = single ? [name] : visible.slice(0, 100).map((row) => row.path);
        prefix = source.prefix ?? bestPrefix(wanted, single ? null : name)[0];
        const only = single && given.size === 1 ? given.values().next().value : undefined;
        for (const row of visible) row.item = source.making && single ? only : under(prefix, row.path) || only;
    } else if (source.list.isPasted) {
        [rows, prefix] = [[...given.values()].map(rowOfAny), ""];
    } else {
        const { entries, isNew } = source.list, names = entries.map(({ name }) => name);
        const paths = isNew ? names : pathsInFolder(names);
        rows = entries.map((entry, index) => ({ ...entry, index, path: paths[index], entries: isNew ? [] : [entry] }));
        [prefix] = bestPrefix(paths.filter((path) => path !== null), null);
        for (const row of rows) row.item = row.path === null ? undefined : under(prefix, row.path);
        if (!isNew && isLoose()) {
            // A single file is what a single line is of; other files are looked up by their digests.
            const used = new Set(rows.map((row) => row.item));
            const others = [...given.values()].filter((item) => !used.has(item) && !looksLikeSource(item.path));
            if (rows.length === 1 && given.size === 1 && others.length === 1) {
                Object.assign(rows[0], { item: others[0], listed: rows[0].name, name: others[0].path });
            }
            else if (!several) rows.push(...others.map((item, i) => rowOfAny(item, rows.length + i)));
        }
    }
    const used = new Set(rows.map((row) => row.item));
    const extra = [...given.values()].filter((item) =>
        item.path.startsWith(prefix) && prefix !== "" && !used.has(item) && !looksLikeSource(item.path));
    return { rows, extra, prefix };
}

// ---- The check ----

async function start() {
    const { rows, extra, prefix } = findFiles();
    const { torrent, bytes, compiled, making } = source;
    const lines = rows.concat(extra.map((item) => ({ extra: true, name: item.path.slice(prefix.length), item })));
    const own = check = {
        source, given: [...given.values()], rows, extra, lines, total: 0, done: 0,
        began: performance.now(), began_ms: Date.now(), ended: null, cancelled: false,
        pieces: torrent ? new Uint8Array(torrent.piece_count) : null, failed: new Map(),
        workers: [], busy: 0,
        kinds: Uint8Array.from(lines, (line) => (line.extra ? EXTRA : line.padding ? HIDDEN : NONE)), page: 0,
        shown: [], proven: new Set(), tried: new Set(), unsure: 0, byPage: false,
        isLoose: !torrent && isLoose(), looking: true, jobs: [],
        digests: making ? new Uint8Array(torrent.piece_count * torrent.digests_nbytes) : null, made: null,
    };
    own.over = new Promise((tell) => (own.tellOver = tell));
    for (let row = 0; row < rows.length; row++) if (!rows[row].item) judge(rows[row]);
    present();
    check.timer = setInterval(show, 200);
    const { offsets, nbytes, flags, piece_nbytes, version, digests_nbytes } = torrent || {};
    const plan = torrent && { offsets, nbytes, flags, piece_nbytes, version, digests_nbytes };
    // Workers come up while this thread looks at the files.
    for (let i = 0; i < NWORKERS; i++) {
        const worker = new Worker(workerUrl);
        own.workers.push(worker);
        worker.onmessage = ({ data }) => own === check && !own.ended && answered(worker, data);
        worker.onerror = (event) => own === check && !own.ended && broken(event.message);
        worker.postMessage({ compiled, source: torrent && bytes, plan });
    }
    own.batches = { next: () => firstBatch(own) };
    if (!await look(own)) return;
    if (torrent) own.total = rows.reduce((sum, row) => sum + (row.padding ? 0 : row.nbytes), 0);
    own.batches = torrent ? pieceBatches() : fileBatches(own, splitFew(own.jobs));
    own.looking = false;
    nextAll(own);
    if (own.busy === 0) await finish();
}

// A worker always has a second batch at hand. One that waits for this thread idles a sixth of the time.
function nextAll(own) {
    for (const worker of [...own.workers, ...own.workers]) next(worker);
}

// Shows the check from its beginning, or one that has ended.
function present() {
    const { pieces, source: { torrent, list, making } } = check;
    $("filter").value = "all";
    $("search").value = "";
    $("work").hidden = $("verdicts").hidden = false;
    $("pieces").hidden = !pieces || Boolean(making);
    const notes = torrent ? torrent.notes : [...list.remarks.map((remark) => `The list: ${remark}`), ...list.bad];
    $("notes").hidden = notes.length === 0;
    $("note-list").replaceChildren(...notes.map((note) => element("li", shown(note))));
    check.shown = [];
    $("verdicts").className = list?.isNew ? "digests" : "";
    $("choosing").hidden = check.lines.length <= 10;
    presentButtons();
    show();
}

function presentButtons() {
    const { ended, cancelled, made, source: { list, making } } = check;
    $("cancel").hidden = ended !== null;
    $("again").hidden = $("report").hidden = ended === null;
    $("again").textContent = making ? "Make it again" : "Check again";
    $("save").hidden = !(list?.isNew && ended !== null && !cancelled);
    $("save-torrent").hidden = $("magnet").hidden = made === null;
    if (made) $("magnet").replaceChildren(...linesToCopy([{ tag: "Magnet link", hex: made.magnet }]));
}

// Takes the lengths and times of all files, and with them the browser notes what a read has to find. For each file the
// browser asks another process and waits: meanwhile workers read the small files that are known. Says whether the check
// is still wanted.
async function look(own) {
    const LOOKS_MS = 50;
    let until = performance.now() + LOOKS_MS, row = 0, from = 0, reads = null;
    const isWanted = () => own === check && !own.ended;
    const pass = () => {
        if (!own.pieces) own.jobs.push(...jobsOf(own, own.rows.slice(from, row)));
        from = row;
    };
    for (const line of own.lines) {
        if (line.item) {
            const { file } = line.item;
            line.found = { nbytes: file.size, time: file.lastModified };
            if (!line.extra && line.found.nbytes > 0) reads ??= canRead(own, file);
            if (isUnsure(own, line)) own.unsure++;
        }
        row++;
        if (performance.now() < until) continue;
        pass();
        await new Promise((done) => setTimeout(done));
        if (!isWanted()) return false;
        if (own.reads) nextAll(own);
        until = performance.now() + LOOKS_MS;
    }
    pass();
    await reads;
    return isWanted();
}

// Whether the workers can read. WebKit lets those of a page from a disk read no file: then the page reads.
async function canRead(own, file) {
    if (location.protocol === "file:") {
        const worker = own.workers[0];
        own.byPage = !await new Promise((done) => {
            own.tellReads = done;
            worker.postMessage({ probe: file });
        });
        for (const one of own.workers) one.postMessage({ byPage: own.byPage });
    }
    own.reads = true;
}

// Whether the browser would not tell that this file changed. A handle gives the file anew, with the time it has then.
function isUnsure(own, { extra, item, found }) {
    if (extra || globalThis.FileSystemFileHandle && item.handle instanceof FileSystemFileHandle) return false;
    return !TELLS || (!TELLS_MS && found.time > own.began_ms - FRESH_MS);
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

// The digests that the files of a list need, but for those that are known of the same files as they are. A browser that
// cannot tell reads anew, unless a digest that was pasted is compared with those that the page shows.
function jobsOf(own, rows) {
    const jobs = [], { list } = own.source;
    for (const row of rows) {
        if (!row.item) continue;
        const { known } = row.item, { nbytes, time } = row.found;
        const isSame = known?.nbytes === nbytes && known.time === time;
        if (isSame && (list.isPasted || !isUnsure(own, row))) takeDigests(row, known.digested);
        const wanted = row.digests.map(({ algorithm }) => algorithm)
            .filter((algorithm) => !isBy(row, algorithm));
        if (wanted.length > 0) jobs.push({ row, algorithms: [...new Set(wanted)] });
        else judge(row);
    }
    return jobs;
}

// Algorithms of few long files are for different workers.
function splitFew(jobs) {
    const isFew = jobs.length < NWORKERS && jobs.every(({ row }) => row.found.nbytes > SMALL_NBYTES);
    return isFew ? jobs.flatMap(({ row, algorithms }) => algorithms.map((one) => ({ row, algorithms: [one] }))) : jobs;
}

// Groups of files of similar lengths: as many as there are lanes, or more if they are small.
function* fileBatches(own, jobs) {
    for (const { row } of jobs) own.total += row.found.nbytes;
    jobs.sort((a, b) => b.row.found.nbytes - a.row.found.nbytes);
    const share = Math.ceil(jobs.length / NWORKERS), least = Math.min(LANES, share);
    const fair = Math.max(least, Math.min(FILES_MAX, Math.ceil(share / 2)));
    for (let at = 0; at < jobs.length;) {
        const some = [], longest = jobs[at].row.found.nbytes;
        for (; at < jobs.length && some.length < fair; at++) {
            if (some.length >= least && (some.length + 1) * longest > ROOM_NBYTES / 2) break;
            some.push(jobs[at]);
        }
        yield batchOf(some);
    }
}

// Small files that are known before all are.
function firstBatch(own) {
    const isSmall = ({ row }) => row.found.nbytes <= SMALL_NBYTES;
    const small = own.jobs.filter(isSmall).sort((a, b) => b.row.found.nbytes - a.row.found.nbytes);
    if (small.length < FIRST_MIN) return { done: true };
    const some = small.splice(0, Math.min(FILES_MAX, Math.floor(ROOM_NBYTES / 2 / (small[0].row.found.nbytes + 1))));
    own.jobs = [...small, ...own.jobs.filter((job) => !isSmall(job))];
    for (const { row } of some) own.total += row.found.nbytes;
    return { value: batchOf(some) };
}

// Digests that the page publishes, and does not compare with others, are computed twice.
function batchOf(jobs) {
    const { isNew, algorithms: all } = check.source.list;
    return {
        messages: jobs.map(({ row: { index, item, found: { nbytes } }, algorithms }) => ({
            index, ...ownFile(item.file), size: nbytes, algorithms,
            by: isNew && algorithms.map((algorithm) => OF_BROWSERS[all[algorithm].name] ?? null),
        })),
    };
}

// A worker that cannot read files does not get them.
const ownFile = (file) => (check.byPage ? {} : { file });

// The files of these pieces, by index, as far as they are there.
function filesOf({ first, count: npieces }) {
    const { torrent } = check.source, files = new Map();
    const end = (first + npieces) * torrent.piece_nbytes;
    for (let index = fileAt(torrent, first * torrent.piece_nbytes); torrent.offsets[index] < end; index++) {
        const { item, found } = check.rows[index];
        if (item) files.set(index, { index, ...ownFile(item.file), size: found.nbytes });
    }
    return files;
}

function next(worker) {
    const { value, done } = check.batches.next();
    if (done) return;
    check.busy++;
    worker.postMessage(value.messages ? value : { ...value, files: filesOf(value) });
}

function answered(worker, data) {
    if (data.reads !== undefined) return check.tellReads(data.reads);
    if (data.broken) return broken(data.broken);
    if (data.read) return readFor(worker, data.read);
    if (data.nbytes !== undefined) {
        check.done += data.nbytes;
        return undefined;
    }
    check.busy--;
    if (data.verdicts) {
        check.pieces.set(data.verdicts, data.first);
        check.digests?.set(data.digests, data.first * check.source.torrent.digests_nbytes);
        for (const [index, reason] of data.failed) check.failed.set(index, reason);
        const files = filesOf({ first: data.first, count: data.verdicts.length });
        for (const index of files.keys()) judge(check.rows[index]);
    } else {
        for (const { index, digests, error, atOnce } of data.hashed) {
            const row = check.rows[index];
            if (error) check.failed.set(index, error);
            else {
                row.atOnce = atOnce && !row.digested;
                takeDigests(row, digests);
            }
            judge(row);
        }
    }
    next(worker);
    return check.busy === 0 && !check.looking ? finish() : undefined;
}

// Reads for a worker that cannot.
async function readFor(worker, { id, index, from, nbytes }) {
    try {
        const bytes = await check.rows[index].item.file.slice(from, from + nbytes).arrayBuffer();
        if (bytes.byteLength !== nbytes) throw new DOMException("the file has become shorter", "NotReadableError");
        worker.postMessage({ answer: id, bytes }, [bytes]);
    } catch (error) {
        worker.postMessage({ answer: id, error: { name: error.name, message: error.message } });
    }
}

// A worker that ends in an error leaves no verdict behind: what it had not answered stays unchecked.
function broken(message) {
    $("error").textContent = `The check ended with an error: ${message}. Files without a verdict were not checked; ` +
        "with less memory in use a new check may succeed.";
    cancel();
}

function cancel() {
    if (several) several.stopped = true;
    if (!check || check.ended) return;
    check.cancelled = true;
    end();
}

async function finish() {
    const own = check, more = trials(own);
    if (more.length > 0) {
        own.batches = fileBatches(own, more);
        return nextAll(own);
    }
    for (const worker of own.workers) worker.terminate();
    await recheck(own);
    if (own === check && !own.ended && own.source.making) await makeOf(own);
    if (own === check && !own.ended) end();
}

function end() {
    for (const worker of check.workers) worker.terminate();
    clearInterval(check.timer);
    check.ended = performance.now();
    for (const row of check.rows) {
        const { digested, item, found, index } = row;
        if (digested && !check.cancelled && !check.failed.has(index)) item.known = { ...found, digested };
    }
    check.anyMet = check.rows.some((row) => row.met);
    // Entries whose files were found by their digests.
    const byDigest = new Set(check.rows.filter((row) => row.isAny).map((row) => row.met));
    for (const row of check.rows) row.isGiven = !row.item && byDigest.has(row.entries?.[0]);
    for (const row of check.rows) judge(row);
    show();
    presentButtons();
    check.tellOver();
}

// A file that changed during the check is never OK. The browser refuses to read a file whose length or time is another
// than at first; here both are looked at once more. Nothing can have changed in a file that one call read whole.
async function recheck(own) {
    const rows = own.rows.filter((row) => row.item && !row.atOnce && !own.failed.has(row.index));
    await forAll(rows, READS, async (row) => {
        if (own !== check || own.ended) return;
        try {
            const { file, handle } = row.item, { nbytes, time } = row.found;
            if (nbytes <= SMALL_NBYTES) await readWhole(file, nbytes);
            else if ((await file.slice(nbytes - 1, nbytes).arrayBuffer()).byteLength !== 1) throw new Error("shorter");
            const now = handle ? await handle.getFile() : file;
            if (now.size !== nbytes || now.lastModified !== time) own.failed.set(row.index, "changed");
        } catch (error) {
            own.failed.set(row.index, error.name);
        }
    });
}

$("cancel").onclick = cancel;
$("save-torrent").onclick = () => save(`${fileName(check.source.torrent.name)}.torrent`, check.made.bytes);
$("again").onclick = () => setFiles(async (items) => {
    for (const item of check.given) items.push({ ...item, known: null });
    await forAll(items.filter((item) => item.handle), READS, async (item) => {
        // A file that is gone is told by its verdict.
        item.file = await item.handle.getFile().catch(() => item.file);
    });
}, true);

// ---- Verdicts ----

const reasonOf = (reason) => reason === "NotFoundError"
    ? "moved, deleted or changed since it was chosen; choose it again"
    : reason === "DigestsDiffer"
    ? "two computations of its digest differ: it changed, or this browser computes wrongly; use another browser"
    : "changed while it was read, or not readable; check again, or choose it again";

// The verdict on a file: [kind, text].
function verdictOf(row, of = check) {
    const { item, found, nbytes } = row;
    if (row.extra) return [EXTRA, "extra: not named"];
    if (row.padding) return [HIDDEN, ""];
    if (row.symlink) return [NONE, "nothing to check"];
    if (row.path === null) return [GONE, "the list names a place outside of the folder; not read"];
    if (!item && of.isLoose) return row.isGiven ? [HIDDEN, ""] : [NOT_GIVEN, "not given"];
    if (!item) return [GONE, "missing"];
    if (of.failed.has(row.index)) return [BAD, reasonOf(of.failed.get(row.index))];
    if (!found) return [NONE, of.ended ? "not checked" : "waiting"];
    if (nbytes !== undefined && found.nbytes < nbytes) {
        const where = damage(row, [WRONG, ABSENT, UNREADABLE], of);
        return [BAD, `too short by ${count(nbytes - found.nbytes, "byte")}${where}`];
    }
    const ending = of.ended && !of.cancelled;
    if (of.pieces) {
        const counts = piecesOf(row, of);
        if (counts[WRONG] > 0) {
            const who = isSurely(row, of) ? "damaged" : "damaged, or a file that shares the piece is";
            return [BAD, who + damage(row, [WRONG], of)];
        }
        if (counts[UNREADABLE] + counts[ABSENT] > 0) {
            const where = damage(row, [ABSENT, UNREADABLE], of);
            return [DOUBT, `not proven: a piece is shared with a file that is missing or unreadable${where}`];
        }
        if (counts[UNCHECKED] > 0 || !ending) return [NONE, of.ended ? "not checked" : "waiting"];
        if (of.source.making) return of.made ? [OK, "in the torrent"] : [NONE, "read, but no torrent was made"];
    } else {
        if (!row.digested) return [NONE, of.ended ? "not checked" : "waiting"];
        if (of.source.list.isNew) {
            const own = digestsOf(row), one = row.digests.length === 1;
            return [NONE, own.map(({ tag, hex }) => `${one ? "" : `${tag} `}${hex}`).join("\n")];
        }
        if (!row.met) {
            const isWhole = row.digests.every(({ algorithm }) => isBy(row, algorithm));
            if (!isWhole || !ending && !row.told) return [NONE, of.ended ? "not checked" : "waiting"];
            return unmet(row, of);
        }
        if (!ending) return [NONE, of.ended ? "not checked" : "waiting"];
    }
    if (nbytes !== undefined && found.nbytes > nbytes) {
        return [BAD, `too long: ${count(found.nbytes - nbytes, "byte")} more than expected, the rest is right`];
    }
    const listed = row.isAny ? row.met.name : row.listed;
    return [OK, listed ? `OK: ${shown(listed)} of the list` : "OK"];
}

// The verdict on a file whose digests are not those of the list.
function unmet(row, of) {
    const { isPasted, entries } = of.source.list, [{ hex: { length } }] = row.digests;
    if (row.isAny && (!isPasted || of.anyMet)) {
        return [EXTRA, isPasted ? "it has other digests" : "not in the list, by its name or its digest"];
    }
    const wrong = row.digests.filter(({ algorithm, hex }) => isPasted ||
        !row.digested.some((one) => one.algorithm === algorithm && one.hex === hex));
    const tags = wrong.map(({ tag }) => tag).join(", ");
    if (row.told || row.digested.some(({ algorithm }) => of.proven.has(algorithm))) {
        const own = digestsOf(row)[0]?.hex;
        return [BAD, isPasted ? `not right: its ${tags} is ${own}` : `damaged: not the list's ${tags}`];
    }
    if (isPasted || entries.length === 1) return [BAD, `not right: its ${tags} is ${digestsOf(row)[0].hex}`];
    return [DOUBT, `cannot be checked: not its ${tags}, but the list does not name its algorithm, which may be ` +
                   `another one with ${4 * length} bits: of this page's none is right`];
}

function judge(row) {
    [check.kinds[row.index]] = verdictOf(row);
}

function rangeOf(row, of) {
    const each = of.source.torrent.piece_nbytes;
    return row.nbytes === 0 ? [0, 0] : [Math.floor(row.offset / each), Math.ceil((row.offset + row.nbytes) / each)];
}

// Whether a wrong piece has bytes of this file alone: only the first and the last one may have others.
function isSurely(row, of) {
    const { torrent } = of.source, each = torrent.piece_nbytes, [first, end] = rangeOf(row, of);
    const isOwn = (piece) => {
        for (let i = fileAt(torrent, piece * each); torrent.offsets[i] < (piece + 1) * each; i++) {
            if (i !== row.index && torrent.nbytes[i] > 0 && !(torrent.flags[i] & PADDING)) return false;
        }
        return true;
    };
    const inside = of.pieces.subarray(first + 1, end - 1).includes(WRONG);
    return inside || [first, end - 1].some((piece) => of.pieces[piece] === WRONG && isOwn(piece));
}

function piecesOf(row, of) {
    const counts = [0, 0, 0, 0, 0];
    for (const verdict of of.pieces.subarray(...rangeOf(row, of))) counts[verdict]++;
    return counts;
}

// The first runs of the file's pieces that have one of these verdicts.
function damage(row, verdicts, of) {
    if (!of.pieces) return "";
    const [start, end] = rangeOf(row, of), runs = [];
    for (let piece = start; piece < end; piece++) {
        if (!verdicts.includes(of.pieces[piece])) continue;
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

function show() {
    const seconds = ((check.ended || performance.now()) - check.began) / 1000;
    const part = check.ended && !check.cancelled ? 1 : check.total > 0 ? Math.min(1, check.done / check.total) : 0;
    const left = part > 0 && !check.ended && seconds > 2 ? seconds / part - seconds : 0;
    const counts = new Array(HIDDEN + 1).fill(0);
    for (const kind of check.kinds) counts[kind]++;
    const [state, verdict] = check.headline = headline(counts, part);
    $("work").className = state;
    $("progress").value = part;
    const percent = `${Math.floor(100 * part)} %`;
    document.title = `${several ? titleOfAll(percent) : check.ended ? verdict : percent} \u2013 hashloom`;
    // A screen reader says the end, not each percent.
    $("verdict").setAttribute("aria-live", check.ended ? "polite" : "off");
    if ($("verdict").textContent !== verdict) $("verdict").textContent = verdict;
    $("progress").hidden = check.ended !== null;
    $("rate").textContent = check.done === 0 ? "" : `${size(check.done)} in ${seconds.toFixed(1)} s, ` +
        `${size(check.done / seconds)}/s, ${count(NWORKERS, "worker")}` +
        (left > 0 ? `, ${duration(left)} left` : "");
    if (check.pieces) {
        check.counts = [0, 0, 0, 0, 0];
        for (const verdict of check.pieces) check.counts[verdict]++;
        showMap();
    }
    showRows(counts);
    const nfiles = counts[BAD] + counts[GONE] + counts[DOUBT] + counts[NONE] + counts[OK] - symlinks();
    const { nbad, isNew, isPasted } = check.source.list || { nbad: 0 }, { making } = check.source;
    const absent = counts[NOT_GIVEN];
    const summary = check.summary = !check.ended ? "" : [
        several ? `${shown(check.source.name)}:` : "",
        check.cancelled ? "Stopped before the end." : "",
        making ? summaryOfMade(check) : isNew || isPasted || nfiles === 0 || counts[OK] === 1 && nfiles === 1 ? ""
            : `${counts[OK].toLocaleString("en")} of ${count(nfiles, "file")} OK.`,
        check.pieces && !making
            ? `${check.counts[RIGHT].toLocaleString("en")} of ${count(check.pieces.length, "piece")} right.` : "",
        check.extra.length > 0 ? `${count(check.extra.length, "extra file")}.` : "",
        isPasted && check.ended ? pastedBy() : "",
        absent > 0 ? `${count(absent, "other")} of the list ${absent === 1 ? "was" : "were"} not given.` : "",
        nstrange(counts) > 0 ? `${count(nstrange(counts), "given file")} ${isPasted ? "with other digests"
            : "not in the list"}.` : "",
        nbad > 0 ? `${count(nbad, "line")} of the list could not be read.` : "",
    ].filter((text) => text).join(" ");
    if ($("summary").textContent !== summary) $("summary").textContent = summary;
    const what = making ? "the torrent has what was read" : "what is called right was right when it was read";
    $("unsure").textContent = check.ended && check.unsure > 0 && (counts[OK] > 0 || isNew)
        ? `This browser cannot tell whether ${count(check.unsure, "file")} changed since ` +
          `${check.unsure === 1 ? "it was" : "they were"} chosen: ${what}. ` +
          "Close programs that write to files, " +
          `or ${TELLS ? "check again after a few seconds." : "use a browser based on Chromium."}` : "";
}

const symlinks = () => (check.nsymlinks ??= check.rows.reduce((sum, row) => sum + (row.symlink ? 1 : 0), 0));
// Files that were given one by one and that the list does not have.
const nstrange = (counts) => counts[EXTRA] - check.extra.length;

// The verdict on everything: [class, text].
function headline(counts, part) {
    const bad = counts[BAD], gone = counts[GONE], doubt = counts[DOUBT], right = counts[OK];
    const none = counts[NONE] - symlinks(), strange = nstrange(counts);
    const { nbad, isNew, isPasted } = check.source.list || { nbad: 0 }, { making } = check.source;
    const nameOf = (kind) => shown(check.lines[check.kinds.indexOf(kind)].name);
    const wrong = [bad > 0 ? `${count(bad, "file")} ${making ? "changed or not readable" : "not right"}` : "",
                   gone > 0 ? `${gone.toLocaleString("en")} missing` : "",
                   doubt > 0 && bad + gone > 0 ? `${doubt.toLocaleString("en")} cannot be told` : ""]
        .filter((text) => text).join(", ");
    const state = bad > 0 ? "bad" : gone + doubt > 0 ? "gone" : "";
    if (!check.ended) {
        const what = making ? "Making a torrent" : isNew ? "Computing digests" : "Checking";
        return [state, `${what}: ${Math.floor(100 * part)} %${wrong ? `, so far ${wrong}` : ""}`];
    }
    if (check.cancelled) return [state || "gone", `Stopped before the end${wrong ? `: ${wrong}` : ""}`];
    if (making && !check.made) return ["bad", `No torrent was made${wrong ? `: ${wrong}` : ""}`];
    if (making) return ["ok", `The torrent is made${check.unsure > 0 ? ", as read" : ""}`];
    if (wrong) {
        if (bad > 1 && isPasted) return ["bad", "No file has this digest"];
        const isOne = bad === 1 && gone + doubt + none + right + strange === 0;
        return [state, isOne ? `${nameOf(BAD)} is not right` : wrong[0].toUpperCase() + wrong.slice(1)];
    }
    if (isNew) return ["", none === 1 ? `Digests of ${nameOf(NONE)}` : `Digests of ${count(none, "file")}`];
    if (doubt > 0) return ["gone", `${count(doubt, "file")} cannot be checked`];
    if (none > 0) return ["gone", `${count(none, "file")} not checked`];
    if (right === 0) {
        return ["gone", strange === 0 ? "Nothing to check" : strange > 1 ? `No file of ${strange} is in the list`
            : `${nameOf(EXTRA)} is not in the list`];
    }
    const all = right === 1 ? `${nameOf(OK)} is` : `All ${count(right, "file")} are`;
    const isRight = `${all} right${check.unsure > 0 ? ", as read" : ""}`;
    if (strange > 0 && !isPasted) return ["gone", `${isRight}, ${count(strange, "other")} not in the list`];
    if (nbad > 0) return ["gone", `${isRight}, but ${count(nbad, "line")} of the list could not be read`];
    return ["ok", isRight];
}

function duration(seconds) {
    if (seconds < 90) return `${Math.ceil(seconds)} s`;
    return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

// The rows that the filter leaves, the worst first, one page of them.
function showRows(counts) {
    const filter = $("filter").value, words = $("search").value.toLowerCase();
    const wanted = (kind) => kind !== HIDDEN &&
        (filter === "all" || (filter === "bad" ? kind <= DOUBT : KINDS[kind] === filter));
    const fits = (index) => words === "" || check.lines[index].name.toLowerCase().includes(words);
    const all = words === "" ? counts.reduce((sum, number, kind) => sum + (wanted(kind) ? number : 0), 0)
        : check.kinds.reduce((sum, kind, index) => sum + (wanted(kind) && fits(index) ? 1 : 0), 0);
    const npages = Math.max(1, Math.ceil(all / ROWS));
    check.page = Math.min(check.page, npages - 1);
    // During a check rows stay where they are, until one is not right: to lay them out costs more than small files.
    const shownOf = [filter, words, check.page, all, counts[BAD], counts[GONE], counts[DOUBT], check.ended].join();
    const isSame = shownOf === check.shownOf && check.shown.length > 0;
    check.shownOf = shownOf;
    const indices = isSame ? check.shown.map(({ index }) => index) : [];
    let skip = check.page * ROWS;
    for (let kind = 0; kind < HIDDEN && indices.length < ROWS && !isSame; kind++) {
        if (!wanted(kind) || counts[kind] === 0) continue;
        if (words === "" && skip >= counts[kind]) {
            skip -= counts[kind];
            continue;
        }
        for (let at = -1; indices.length < ROWS && (at = check.kinds.indexOf(kind, at + 1)) >= 0;) {
            if (fits(at) && skip-- <= 0) indices.push(at);
        }
    }
    if (indices.length !== check.shown.length || indices.some((index, i) => index !== check.shown[i].index)) {
        check.shown = indices.map((index) => {
            const line = document.createElement("tr");
            const verdict = element("td", ""), nbytes = element("td", "", "number");
            line.append(verdict, element("td", shown(check.lines[index].name)), nbytes);
            return { index, line, verdict, nbytes };
        });
        $("rows").replaceChildren(...check.shown.map(({ line }) => line));
    }
    for (const { index, line, verdict, nbytes } of check.shown) {
        const row = check.lines[index], [kind, text] = verdictOf(row);
        if (verdict.dataset.text !== text) {
            verdict.dataset.text = text;
            const digests = check.source.list?.isNew && row.digested && kind === NONE ? digestsOf(row) : [];
            verdict.replaceChildren(...(digests.length > 0 ? linesToCopy(digests) : [text]));
        }
        const length = (row.nbytes ?? row.found?.nbytes)?.toLocaleString("en") ?? "";
        if (nbytes.textContent !== length) nbytes.textContent = length;
        line.className = CLASSES[kind];
    }
    for (const option of $("filter").options) {
        const kind = KINDS.indexOf(option.value);
        const number = option.value === "all" ? check.lines.length - counts[HIDDEN]
            : option.value === "bad" ? counts[BAD] + counts[GONE] + counts[DOUBT] : counts[kind];
        const text = `${option.dataset.name} (${number.toLocaleString("en")})`;
        if (option.textContent !== text) option.textContent = text;
    }
    const from = check.page * ROWS;
    const [begin, end] = [from + 1, from + indices.length].map((number) => number.toLocaleString("en"));
    $("more").textContent = all === 0 ? "no such file" : `${begin}\u2013${end} of ${count(all, "file")}`;
    $("pager").hidden = npages === 1 && words === "" && filter === "all";
    const { page } = check;
    for (const [id, to] of [["first", 0], ["before", page - 1], ["after", page + 1], ["last", npages - 1]]) {
        $(id).disabled = to < 0 || to >= npages || to === page;
        $(id).onclick = () => {
            check.page = to;
            show();
        };
    }
}

for (const id of ["filter", "search"]) {
    $(id).oninput = () => {
        if (!check) return;
        check.page = 0;
        show();
    };
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
    check.cells = new Uint8Array(ncells);
    for (let cell = 0; cell < ncells; cell++) {
        const worst = pieces.subarray(cell * each, (cell + 1) * each).reduce((a, b) => (WORST[b] > WORST[a] ? b : a));
        check.cells[cell] = worst;
        context.fillStyle = colours[worst];
        context.fillRect((cell % COLUMNS) * CELL, Math.floor(cell / COLUMNS) * CELL, CELL - 1, CELL - 1);
    }
    check.each = each;
    const at = Number($("cell").value);
    if (document.activeElement === $("cell") && at < ncells) {
        context.lineWidth = 2;
        context.strokeStyle = style.getPropertyValue("--text");
        context.strokeRect((at % COLUMNS) * CELL, Math.floor(at / COLUMNS) * CELL, CELL - 1, CELL - 1);
    }
    $("cell").max = Math.max(0, ncells - 1);
    canvas.setAttribute("aria-label", `Piece map: ${VERDICTS.map((name, verdict) =>
        `${check.counts[verdict].toLocaleString("en")} ${name}`).join(", ")}`);
    $("next-wrong").disabled = check.counts[WRONG] + check.counts[ABSENT] + check.counts[UNREADABLE] === 0;
}

// Says what a cell of the map is: its pieces, their verdict and their files.
function point(cell) {
    if (!check?.cells || cell >= check.cells.length) return "";
    const first = cell * check.each, last = Math.min(first + check.each, check.pieces.length) - 1;
    const { torrent } = check.source, from = fileAt(torrent, first * torrent.piece_nbytes);
    const name = torrent.paths[from] ? `, in ${shown(torrent.paths[from])}` : "";
    const what = first === last ? `piece ${first}` : `pieces ${first}\u2013${last}`;
    return `${what}: ${first === last ? "" : "at worst "}${VERDICTS[check.cells[cell]]}${name}`;
}

$("map").onpointermove = (event) => {
    if (!check?.pieces) return;
    const scale = $("map").width / $("map").getBoundingClientRect().width / CELL;
    const column = Math.floor(event.offsetX * scale), line = Math.floor(event.offsetY * scale);
    $("pointed").textContent = column < COLUMNS ? point(line * COLUMNS + column) : "";
};
$("cell").oninput = $("cell").onfocus = $("cell").onblur = () => {
    const text = point(Number($("cell").value));
    $("cell").setAttribute("aria-valuetext", text);
    $("pointed").textContent = text;
    if (check?.pieces) showMap();
};
// A line of the map up or down.
$("cell").onkeydown = (event) => {
    const step = { ArrowUp: -COLUMNS, ArrowDown: COLUMNS }[event.key];
    if (!step) return;
    event.preventDefault();
    $("cell").value = Number($("cell").value) + step;
    $("cell").oninput();
};
$("next-wrong").onclick = () => {
    const { cells } = check, at = Number($("cell").value), wrong = (verdict) => verdict > RIGHT;
    const next = cells.findIndex((verdict, cell) => cell > at && wrong(verdict));
    $("cell").value = next >= 0 ? next : cells.findIndex(wrong);
    $("cell").focus();
    $("cell").oninput();
};
