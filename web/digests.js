// digests.js: digests without a list: those of the given files, and one that somebody pastes.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

// The algorithms whose digests a file shows at once, and the first guess for a digest that names no algorithm.
const USUAL = ["sha256", "sha1", "md5", "sha512"], PREFERRED = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];
// All algorithms: { name, tag, nbytes }.
const algorithms = module.then((compiled) => WebAssembly.instantiate(compiled)).then(({ exports: core }) => {
    core.algorithms();
    const bytes = new Uint8Array(core.memory.buffer, core.answer_at(), core.answer_nbytes());
    return JSON.parse(new TextDecoder().decode(bytes));
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
        code.tabIndex = 0; // it may be longer than the page is wide
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

// The names of algorithms in a text, with or without marks between letters and numbers: { pattern, of }, longest first.
const namesOf = (all) => all.flatMap(({ tag, name }, of) => [tag, name].map((one) => [one, of]))
    .concat(["sha256", "sha512", "ripemd160"].map((name) => [name.replace("sha", "sha2-").replace("ripe", "r"),
        all.findIndex((one) => one.name === name)]))
    .map(([name, of]) => ({ pattern: name.match(/[a-z]+|\d+/gi).join("[-_/ ]?"), of }))
    .sort((a, b) => b.pattern.length - a.pattern.length);

// Reads a digest as pages, programs and mails show it: hexadecimal or base64, in groups, behind its algorithm (SRI,
// OCI, BSD's tags), before or behind a name. Answers { digests, told } or { problem }.
function readDigest(text, all) {
    const trimmed = text.trim().replace(/^["'`<]+|["'`>]+$/g, ""), names = namesOf(all);
    const of = (name) => names.find(({ pattern }) => new RegExp(`^${pattern}$`, "i").test(name))?.of;
    const sri = trimmed.split(/\s+/).map((word) => /^(sha\d+)-([\w+/]+={0,2})$/i.exec(word));
    if (sri.every((one) => one && of(one[1]) !== undefined)) {
        const read = sri.map(([, name, base64]) => digestOf(all, of(name), base64));
        const problem = read.find((one) => one.problem);
        // The strongest of several algorithms counts (Subresource Integrity, "get the strongest metadata").
        const most = Math.max(...read.map(({ hex }) => hex?.length));
        return problem ?? { digests: read.filter(({ hex }) => hex.length === most), told: true };
    }
    const line = trimmed.replace(/^\\?([0-9a-f]{32,})[ \t]+\*?\S*[^\s0-9a-f].*$/i, "$1");
    const tagged = new RegExp(`(?:^|[^a-z0-9])(${names.map(({ pattern }) => pattern).join("|")})(?![a-z0-9])` +
        "(?:\\s*\\(.*\\))?[^:=]*[:=]\\s*(\\S.*)$", "is").exec(line);
    const isAlone = /^[0-9a-f\s:.-]+$/i.test(line);
    const rest = isAlone ? line : line.replace(/^.*?[:=]\s*(?=[0-9a-f\s:.-]+$)/is, "");
    const untold = digestOf(all, undefined, rest), told = tagged && !isAlone && digestOf(all, of(tagged[1]), tagged[2]);
    if (told && (!told.problem || untold.problem)) return told.problem ? told : { digests: [told], told: true };
    return untold.problem ? untold : { digests: [untold], told: false };
}

// The digest of an algorithm, or of the first one with digests of its length: { algorithm, tag, hex } or { problem }.
function digestOf(all, of, text) {
    const hex = text.replace(/[\s:.-]|^0x/gi, "").toLowerCase();
    const lengths = of === undefined ? [...new Set(all.map(({ nbytes }) => nbytes))] : [all[of].nbytes];
    const preferred = (nbytes) => of ?? [({ name }) => PREFERRED.includes(name), () => true]
        .map((is) => all.findIndex((one) => one.nbytes === nbytes && is(one))).find((at) => at >= 0);
    const found = (hex) => {
        const algorithm = preferred(hex.length / 2);
        return { algorithm, tag: all[algorithm].tag, hex };
    };
    const place = hex.search(/[^0-9a-f]/);
    if (place < 0 && lengths.includes(hex.length / 2)) return found(hex);
    const base64 = text.replace(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/");
    // A third of the letters in base64 are hexadecimal digits by chance.
    const isNearly = hex.length > 24 && hex.replace(/[0-9a-f]/g, "").length < hex.length / 4;
    if (place >= 0 && !isNearly && /^[\w+/]+={0,2}$/.test(base64) && base64.replace(/=+$/, "").length % 4 !== 1) {
        const bytes = Array.from(atob(base64), (letter) => letter.charCodeAt(0).toString(16).padStart(2, "0"));
        if (lengths.includes(bytes.length)) return found(bytes.join(""));
    }
    if (place >= 0) {
        return { problem: !isNearly ? `This is no digest${of === undefined ? "" : ` of ${all[of].tag}`}`
            : `\u201c${shown(hex[place])}\u201d is no hexadecimal digit (place ${place + 1})` };
    }
    const near = lengths.map((nbytes) => hex.length - 2 * nbytes).reduce((a, b) => (Math.abs(b) < Math.abs(a) ? b : a));
    const { tag, nbytes } = all[preferred((hex.length - near) / 2)], ndigits = count(hex.length, "digit");
    return { problem: Math.abs(near) > 4 && of === undefined ? `${ndigits}: no algorithm of this page has so many`
        : `${ndigits}, but ${tag} has ${2 * nbytes}: ${Math.abs(near)} ${near < 0 ? "missing" : "too many"}` };
}

// Takes what was pasted: a digest of one of the files, or the lines of a list. A check by a list or torrent goes on.
async function paste(text) {
    const all = await algorithms, lines = text.split("\n").filter((line) => line.trim() !== "");
    $("vendor").value = lines.length > 1 && text.length > 200 ? "" : text.trim();
    const read = text.trim() === "" ? null : readDigest(text, all);
    if (read?.problem && lines.length > 1) return setSource(new File([text], "the pasted list"));
    pasted = !read || read.problem ? read
        : { told: read.told, list: { isPasted: true, algorithms: all, any: true,
            entries: [{ name: null, told: read.told, any: true, digests: read.digests }] } };
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
    const is = list && check?.rows.find((row) => row.digested?.some(({ hex }) => hex === entry.digests[0].hex));
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
    const { algorithms: all, entries: [{ digests }] } = check.source.list;
    if (!met) {
        const tried = digested.filter(({ hex }) => digests.some((one) => one.hex.length === hex.length))
            .map(({ algorithm }) => all[algorithm].tag);
        return tried.length > 1 ? `By none of ${tried.join(", ")}.` : "";
    }
    const by = digested.find(({ hex }) => digests.some((one) => one.hex === hex)), { name, tag } = all[by.algorithm];
    const isBroken = name === "md5" || name === "sha1";
    return `By ${tag}${isBroken ? ", which finds accidents, but not each change that was made on purpose" : ""}.`;
}

$("vendor").oninput = () => paste($("vendor").value);
$("paste").hidden = !navigator.clipboard?.readText;
$("paste").onclick = async () => paste(await navigator.clipboard.readText());
// A paste anywhere in the page.
addEventListener("paste", (event) => {
    if (event.target.closest?.("input, textarea")) return;
    const text = event.clipboardData.getData("text/plain");
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
