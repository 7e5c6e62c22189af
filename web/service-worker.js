// service-worker.js: keeps the site's files for use without a network.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A version is installed whole or not at all: each file must have the digest that this text has of it, so a server
// whose files are just being replaced gives no mixture. A page in use keeps its version; the next one begins when no
// page is open any more.
"use strict";

// The SHA-256 of each file, in base64; "./" is the page.
const FILES = @FILES@;
const OWN = `hashloom ${registration.scope} `;
const CACHE = `${OWN}@PAGE@`;

oninstall = (event) => event.waitUntil(install());
onactivate = (event) => event.waitUntil(caches.keys().then((names) =>
    Promise.all(names.filter((name) => name.startsWith(OWN) && name !== CACHE).map((name) => caches.delete(name)))));
onfetch = (event) => {
    const { method, url } = event.request, { scope } = registration;
    const path = url.startsWith(scope) ? url.slice(scope.length).replace(/[?#].*/s, "") : null;
    const name = path === "" || path === "index.html" ? "./" : path;
    if (method === "GET" && Object.hasOwn(FILES, name)) event.respondWith(kept(event.request, name));
};

async function install() {
    const all = await Promise.all(Object.entries(FILES).map(async ([name, digest]) => {
        const answer = await fetch(name, { cache: "no-cache", redirect: "error", integrity: `sha256-${digest}` });
        if (!answer.ok) throw new Error(`${name}: status ${answer.status}`);
        return [name, answer];
    }));
    const cache = await caches.open(CACHE);
    for (const [name, answer] of all) await cache.put(name, answer);
}

async function kept(request, name) {
    const cache = await caches.open(CACHE);
    return (await cache.match(name)) ?? fetch(request);
}
