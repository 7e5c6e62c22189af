// several.js: several torrents or lists, each checked against the files, one after the other.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

const SEVERAL_MAX = 1000;
// The classes of verdicts, the best first. The second is also that of a check that has not ended.
const STATES = ["ok", "", "gone", "bad"];

// { items, stopped, done }, where an item is { file, state, verdict, check }; null if there is only one.
let several = null;

function setSeveral(all) {
    several = all;
    $("overall").hidden = all === null;
}

function setAll(files) {
    stopReading();
    cancel();
    setSeveral(null);
    [source, sourceProblem] = [null, ""];
    const nbytes = files.reduce((sum, file) => sum + file.size, 0);
    if (files.length > SEVERAL_MAX || nbytes > SOURCE_MAX_NBYTES) {
        sourceProblem = `At once there are at most ${SEVERAL_MAX.toLocaleString("en")} torrents and lists, of ` +
            `${size(SOURCE_MAX_NBYTES)} in total: choose fewer.`;
        return ready();
    }
    setSeveral({ items: files.map((file) => ({ file, state: "", verdict: "waiting", check: null })) });
    showAll();
    return ready();
}

// Checks all against the files. What is given anew begins anew.
async function startAll() {
    stopReading();
    cancel();
    const own = several = { items: several.items.map(({ file }) => ({ file, state: "", verdict: "waiting" })) };
    for (const item of own.items) {
        item.verdict = "checking";
        showAll();
        const read = reading = { name: item.file.name, worker: null };
        source = null;
        describe();
        try {
            const made = await readSource(read, item.file);
            if (own !== several || own.stopped || read !== reading) return endAll(own);
            stopReading();
            source = made;
        } catch (error) {
            if (own !== several || own.stopped) return endAll(own);
            stopReading();
            [item.state, item.verdict] = ["bad", error instanceof DOMException ? "it cannot be read" : error.message];
            continue;
        }
        await start();
        if (own !== several) return undefined;
        const { over } = item.check = check;
        await over;
        if (own !== several) return undefined;
        [item.state, item.verdict] = item.check.headline;
        if (own.stopped) return endAll(own);
        source.bytes = null; // a new check reads it anew
    }
    return endAll(own);
}

// Ends the reading of a torrent or list, and all that would follow.
function cancelAll() {
    several.stopped = true;
    endAll(several);
}

function endAll(own) {
    if (own !== several || own.done) return;
    stopReading();
    own.done = true;
    for (const item of own.items) {
        if (item.state === "" && !item.check?.ended) [item.state, item.verdict] = ["gone", "not checked"];
    }
    describe();
    showAll();
    document.title = `${headlineOfAll()[1]} \u2013 hashloom`;
    const worst = own.items.filter(({ check }) => check).sort((a, b) => rank(b) - rank(a))[0];
    if (worst) openItem(worst);
}

const rank = ({ state }) => STATES.indexOf(state);

// The verdict on all, never better than the worst one: [class, text].
function headlineOfAll() {
    const { items, done } = several, right = items.filter(({ state }) => state === "ok").length;
    const { state } = items.reduce((worst, item) => (rank(item) > rank(worst) ? item : worst));
    if (!done) {
        const ended = items.filter(({ check }) => check?.ended).length;
        return [state === "ok" ? "" : state, `Checking: ${ended} of ${items.length}`];
    }
    const unsure = items.some(({ check }) => check?.unsure > 0) ? ", as read" : "";
    return [state, right === items.length ? `All ${items.length} are right${unsure}`
        : `${right.toLocaleString("en")} of ${items.length.toLocaleString("en")} right${unsure}`];
}

const titleOfAll = (percent) => {
    const [, text] = headlineOfAll();
    return several.done ? text : `${text}, ${percent}`;
};

function showAll() {
    const [state, text] = headlineOfAll();
    $("overall").className = state;
    $("overall-verdict").textContent = text;
    $("sources").replaceChildren(...several.items.map((item) => {
        const line = document.createElement("tr"), name = element("td", shown(item.file.name));
        line.className = item.state;
        line.append(element("td", item.verdict), name);
        if (several.done && item.check) {
            const button = element("button", "Show");
            button.type = "button";
            button.onclick = () => openItem(item);
            button.setAttribute("aria-label", `Show the check by ${shown(item.file.name)}`);
            name.append(button);
        }
        return line;
    }));
}

function openItem(item) {
    check = item.check;
    ({ source } = check);
    present();
}

const reportOfAll = () => ({
    verdict: headlineOfAll()[1],
    checks: several.items.map(({ file, verdict, check }) => (check ? report(check) : { checked: file.name, verdict })),
});
