// installed.js: the page on a web server works offline after its first load, and opens the torrents that the system
// hands to it. One file from a disk has neither manifest nor service worker.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

if (document.querySelector("link[rel=manifest]")) {
    navigator.serviceWorker?.register("service-worker.js").catch((error) => console.warn(`Not offline: ${error}`));
}
globalThis.launchQueue?.setConsumer(async ({ files }) => {
    if (files.length > 0) await setSources(await Promise.all(files.map((handle) => handle.getFile())));
});
