// make.js: a torrent of the files that were given. The engine lays it out and writes it; the workers hash its pieces.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

for (let nbytes = 16 << 10; nbytes <= 256 << 20; nbytes *= 2) $("piece").append(new Option(size(nbytes), nbytes));

// The folder that all files are in, and what their paths begin with; no folder if there is one file alone.
function commonFolder() {
    const paths = [...given.keys()], folder = paths.length > 0 ? paths[0].split("/", 1)[0] : "";
    const prefix = `${folder}/`;
    if (paths.length === 1 && paths[0] === folder) return { folder: null, prefix: "" };
    return paths.every((path) => path.startsWith(prefix)) ? { folder, prefix } : { folder: null, prefix: "" };
}

const lines = (id) => $(id).value.split("\n").map((line) => line.trim()).filter((line) => line !== "");

$("making").onsubmit = (event) => {
    event.preventDefault();
    make([
        ...($("version").value ? [["v", $("version").value]] : []),
        ...($("piece").value ? [["l", $("piece").value]] : []),
        ...($("name").value ? [["n", $("name").value]] : []),
        ...lines("trackers").map((tier) => ["t", tier]),
        ...lines("seeds").map((seed) => ["w", seed]),
        ...($("private").checked ? [["p", ""]] : []),
    ]);
};

// Lays out the torrent and begins the check that hashes it. `options` are those of read_draft in lib.rs.
async function make(options) {
    stopReading();
    cancel();
    setSeveral(null);
    [source, sourceProblem] = [null, ""];
    const own = reading = { name: "the names and lengths", worker: new Worker(workerUrl) };
    describe();
    try {
        const { folder, prefix } = commonFolder(), isLoose = folder === null && given.size > 1;
        const name = options.find(([letter]) => letter === "n")?.[1];
        if (isLoose && !name) throw new Error("the files are in no folder together; give the torrent a name");
        if (isPartial()) throw new Error(`choose the folder by the button: ${PARTIAL}`);
        const isTurned = ({ path, file }) => path.slice(path.lastIndexOf("/") + 1) !== file.name;
        const turned = [...given.values()].find(isTurned);
        if (turned) throw new Error(`${shown(turned.path)}: this browser shows another name than the disk; rename it`);
        const all = [...options, ...(isLoose ? [["d", name]] : folder === null ? [] : [["d", folder]])];
        for (const { path, file } of given.values()) all.push(["f", `${file.size} ${path.slice(prefix.length)}`]);
        // Nothing that is given has a NUL byte in it: the engine refuses U+FFFD in paths.
        const text = all.map(([letter, value]) => `${letter} ${value.replaceAll("\0", "\ufffd")}\0`).join("");
        const draft = new TextEncoder().encode(text).buffer, compiled = await module;
        const made = await ask(own.worker, { compiled, draft }, [draft]);
        if (own !== reading) return;
        source = { name: "A new torrent", making: true, options, prefix, compiled, ...made };
    } catch (error) {
        if (own !== reading) return;
        sourceProblem = `No torrent was made: ${error.message}`;
    }
    stopReading();
    describe();
    if (source !== null) await start();
}

// Makes the torrent of all digests. Without one of them, or if a file has changed, there is none.
async function makeOf(own) {
    const { source: { compiled, bytes, torrent }, pieces, digests, rows, failed } = own;
    const isWhole = failed.size === 0 && pieces.every((verdict) => verdict === RIGHT) &&
        rows.every(({ padding, nbytes, found }) => padding || found?.nbytes === nbytes);
    if (!isWhole) return;
    const worker = new Worker(workerUrl);
    own.workers.push(worker);
    try {
        const { made, hashes, magnet } = await ask(worker, { compiled, source: bytes, digests: digests.buffer }, []);
        own.made = { bytes: made, hashes, magnet };
    } catch (error) {
        own.why = error.message;
    }
}

function summaryOfMade({ made, why, source: { torrent } }) {
    if (!made) return why || "A file that changes, or that cannot be read, has no place in a torrent.";
    const visible = torrent.flags.reduce((sum, flag) => sum + (flag & PADDING ? 0 : 1), 0);
    const hashes = made.hashes.map((hash) => `Info-hash of ${hash.length === 40 ? "v1" : "v2"}: ${hash}.`).join(" ");
    return `${shown(torrent.name)}: ${torrent.version}, ${count(visible, "file")}, ` +
        `${count(torrent.piece_count, "piece")} of ${size(torrent.piece_nbytes)}. ${hashes}`;
}

// A name for the file that is saved: browsers replace what the system does not allow.
const fileName = (name) => shown(name).replaceAll("/", "_");
