// digests.js: digests without a list: those of the given files, and one that somebody pastes.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

// The algorithms whose digests a file shows at once.
const USUAL = ["sha256", "sha1", "md5", "sha512"];
// The algorithms that crypto.subtle has, too.
const OF_BROWSERS = { sha1: "SHA-1", sha256: "SHA-256", sha384: "SHA-384", sha512: "SHA-512" };
// The engine, for what takes no time.
const engine = module.then((compiled) => WebAssembly.instantiate(compiled)).then(({ exports: core }) => core);
const answerOf = (core) => JSON.parse(new TextDecoder().decode(
    new Uint8Array(core.memory.buffer, core.answer_at(), core.answer_nbytes())));
// All algorithms: { name, tag, nbytes }.
const algorithms = engine.then((core) => {
    core.algorithms();
    return answerOf(core);
});
algorithms.then((all) => {
    const usual = new Option(USUAL.map((name) => all.find((one) => one.name === name).tag).join(", "), "usual");
    const each = all.map(({ tag, name }) => new Option(tag, name));
    $("wanted").append(usual, ...each, new Option("every algorithm", "all"));
    $("wanted").value = "sha256";
});

// The files whose paths have no folder were chosen one by one.
const isLoose = () => [...given.keys()].every((path) => !path.includes("/"));

// A list of the given files that has no digests yet, of one algorithm or several. What nobody asked for (`isAuto`)
// gives way to what was chosen meanwhile.
async function begin(wanted, isAuto) {
    const all = await algorithms;
    const names = wanted === "usual" ? USUAL : wanted === "all" ? all.map(({ name }) => name) : [wanted];
    const digests = names.map((name) => all.findIndex((one) => one.name === name))
        .map((algorithm) => ({ algorithm, tag: all[algorithm].tag, hex: null }));
    const entries = [...given.keys()].map((name) => ({ name, told: true, digests }));
    await beginOf("Digests", { isNew: true, entries, algorithms: all }, isAuto);
}

// Checks the given files by a list that is no file.
async function beginOf(name, list, isAuto) {
    const compiled = await module;
    if (isAuto && (source || reading || several || listing)) return;
    stopReading();
    cancel();
    setSeveral(null);
    sourceProblem = "";
    source = { name, compiled, list: { bad: [], nbad: 0, remarks: [], ...list } };
    await ready();
}

$("digest").onclick = () => begin($("wanted").value, false);

// Names relative to the folder that all files are in.
function namesInFolder() {
    const names = check.rows.map(({ name }) => name), top = names[0].slice(0, names[0].indexOf("/") + 1);
    return names.every((name) => name.startsWith(top)) ? names.map((name) => name.slice(top.length)) : names;
}

// The digests of a row of a new list, in the order in which they were asked for.
const digestsOf = ({ digests, digested = [] }) =>
    digests.flatMap(({ algorithm, tag }) => {
        const found = digested.find((one) => one.algorithm === algorithm);
        return found ? [{ tag, hex: found.hex }] : [];
    });

// The list as sha256sum writes it, or with tags if there are several algorithms.
function listText() {
    const names = namesInFolder(), isOne = check.rows[0].digests.length === 1;
    return check.rows.flatMap((row, i) => digestsOf(row).map(({ tag, hex }) => {
        const name = names[i].replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\r", "\\r");
        const escape = name === names[i] ? "" : "\\";
        return isOne ? `${escape}${hex}  ${name}\n` : `${escape}${tag} (${name}) = ${hex}\n`;
    })).join("");
}

$("save").onclick = () => {
    const { digests } = check.rows[0];
    save(digests.length === 1 ? `${digests[0].tag.replaceAll("/", "-")}SUMS` : "CHECKSUMS", listText());
};

// Lines that are copied by a button each.
function linesToCopy(lines) {
    return lines.map(({ tag, hex }) => {
        const line = element("div", "", "digest"), code = element("code", hex), copy = element("button", "Copy");
        copy.type = "button";
        copy.setAttribute("aria-label", `Copy the ${tag}`);
        copy.onclick = async () => {
            await navigator.clipboard.writeText(hex);
            copy.textContent = "Copied";
        };
        line.append(element("span", tag), code, copy);
        return line;
    });
}

// ---- A digest that is pasted ----

// The pasted text as it was read: { list, told } or { problem }; null if nobody pasted one.
let pasted = null;

// Reads the digest of one file, as pages, programs and mails show it. Answers { digests, told, any } or { problem }.
async function readDigest(text) {
    const core = await engine, bytes = new TextEncoder().encode(text), at = core.room(bytes.length);
    new Uint8Array(core.memory.buffer, at, bytes.length).set(bytes);
    core.read_digest(bytes.length);
    const { problem, ...read } = answerOf(core);
    return problem ? { problem: problem[0].toUpperCase() + problem.slice(1) } : read;
}

// Takes what was pasted: a digest of one of the files, or the lines of a list. A check by a list or torrent goes on.
async function paste(text) {
    const all = await algorithms, lines = text.split("\n").filter((line) => line.trim() !== "");
    $("vendor").value = lines.length > 1 && text.length > 200 ? "" : text.trim().replace(/\s+/g, " ");
    const read = text.trim() === "" ? null : await readDigest(text);
    if (read?.problem && lines.length > 1) return setSource(new File([text], "the pasted list"));
    pasted = !read || read.problem ? read
        : { told: read.told, list: { isPasted: true, algorithms: all, any: true, entries: [{ ...read, name: null }] } };
    if (!source?.file && !source?.making && !several) {
        [source, sourceProblem] = [null, ""];
        cancel();
        return ready();
    }
    return compare();
}

// Says what became of the digest that was pasted.
function compare() {
    const list = pasted?.list, [entry] = list?.entries ?? [];
    const is = list && check?.rows.find(({ digested }) => digested && meets(entry, digested));
    const other = list && source && !source.list?.isPasted;
    const tags = entry?.digests.map(({ tag }) => tag).join(", ");
    $("same").className = pasted?.problem ? "bad" : other && is ? "ok" : "";
    $("same").textContent = pasted?.problem ? `${pasted.problem}.`
        : other && is ? `It is that of ${shown(is.name)}.`
        : other ? "No file that was read so far has it. To compare it with a file alone, load the page anew."
        : list && given.size === 0
            ? `${entry.told ? "" : `${entry.digests[0].hex.length} digits, as of `}${tags}. Now choose the file.`
            : "";
}

// By which algorithm a file has the digest, and what that is worth; or those that were tried.
function pastedBy() {
    const { met, digested = [] } = check.rows.find((row) => row.met) ?? check.rows[0];
    const { algorithms: all, entries: [{ digests, any }] } = check.source.list;
    if (!met) {
        const tried = digested.filter(({ hex }) => digests.some((one) => one.hex.length === hex.length))
            .map(({ algorithm }) => all[algorithm].tag);
        return tried.length > 1 && any ? `By none of ${tried.join(", ")}.` : "";
    }
    const right = digested.filter(({ hex }) => digests.some((one) => one.hex === hex));
    const by = right.map(({ algorithm }) => all[algorithm]), tags = by.map(({ tag }) => tag).join(", ");
    const isBroken = by.every(({ name }) => name === "md5" || name === "sha1");
    return `By ${tags}${isBroken ? ", which finds accidents, but not each change that was made on purpose" : ""}.`;
}

$("vendor").oninput = () => paste($("vendor").value);
$("paste").hidden = !navigator.clipboard?.readText;
$("paste").onclick = async () => paste(await navigator.clipboard.readText());
// A paste anywhere in the page.
addEventListener("paste", (event) => {
    if (event.target.closest?.("input, textarea")) return;
    const text = event.clipboardData.getData("text/plain") || event.clipboardData.getData("text/html");
    const files = [...event.clipboardData.files];
    if (files.length > 0) takeTops(files.map((file) => ({ kind: "file", name: file.name, getFile: async () => file })));
    else if (text) paste(text);
});

// ---- Trying algorithms ----

// Whether the digest of a row's file by this algorithm is known.
const isBy = ({ digested = [] }, algorithm) => digested.some((one) => one.algorithm === algorithm);

// Whether a file's digests are those of an entry of a list: one of them, if the entry says so.
function meets({ told, any, digests }, digested) {
    const is = ({ algorithm, hex }) =>
        digested.some((one) => one.hex === hex && (!told || one.algorithm === algorithm));
    return digests.length > 0 && (any ? digests.some(is) : digests.every(is));
}

// Notes digests of a file, and which entry of the list is right by them.
function takeDigests(row, digests) {
    row.digested = [...(row.digested ?? []), ...digests];
    row.met = row.entries.find((entry) => (entry.nbytes ?? row.found.nbytes) === row.found.nbytes &&
        meets(entry, row.digested)) ?? null;
}

// Lines that name no algorithm are of the first one with digests of this length, or of another one. Once a file is
// right by one, the others are of the same; until then all are tried, on the shortest files. Answers what is to be
// hashed.
const TRIED = 3;
function trials(own) {
    const { isNew, algorithms: all } = own.source.list ?? { isNew: true };
    if (isNew) return [];
    const jobs = [], groups = new Map();
    for (const row of own.rows) {
        if (!row.met || row.met.told) continue;
        for (const { algorithm, hex } of row.digested) {
            if (row.met.digests.some((digest) => digest.hex === hex)) own.proven.add(algorithm);
        }
    }
    for (const row of own.rows) {
        if (row.told || !row.digested || row.met || own.failed.has(row.index)) continue;
        const digests = row.entries.flatMap((entry) => entry.digests);
        row.lengths ??= [...new Set(digests.map(({ hex }) => hex.length / 2))].join();
        groups.set(row.lengths, [...(groups.get(row.lengths) ?? []), row]);
    }
    for (const [lengths, rows] of groups) {
        const fit = [...all.keys()].filter((i) => lengths.split(",").includes(`${all[i].nbytes}`));
        const proven = fit.filter((algorithm) => own.proven.has(algorithm));
        const isFirst = proven.length === 0 && !own.tried.has(lengths);
        if (isFirst) own.tried.add(lengths);
        const some = isFirst ? rows.sort((a, b) => a.found.nbytes - b.found.nbytes).slice(0, TRIED)
            : proven.length > 0 ? rows : [];
        for (const row of some) {
            const missing = (isFirst ? fit : proven).filter((algorithm) => !isBy(row, algorithm));
            if (missing.length > 0) jobs.push({ row, algorithms: missing });
        }
    }
    return jobs;
}

// ---- An example ----

$("example").onclick = () => {
    const file = (name, text) => new File([text], name);
    const digest = "4aabb1a78f07c53ed15e923bc84f0399e9c8efe98ba6d67e79ef927f07b0e65a";
    const lines = ["right.txt", "changed.txt", "missing.txt"].map((name) => `${digest}  ${name}\n`);
    const right = file("right.txt", "Made by many hands.\n"), changed = file("changed.txt", "Made by many hands!\n");
    setFiles(async (items) => {
        for (const one of [right, changed]) items.push({ path: `example/${one.name}`, file: one });
    });
    setSource(file("SHA256SUMS", lines.join("")));
};
