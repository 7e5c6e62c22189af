// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the tests in a browser's page, with crypto.subtle as the reference where the page has it. The result is in the
// document, as drivers of browsers see no variable of a module.
import { load } from './node_modules/hashloom/index.js';
import { test } from './test.mjs';

const all = { sha1: 'SHA-1', sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' };
const names = globalThis.crypto?.subtle ? all : {};

async function vectors() {
    const files = ['blake3', 'hash-wasm', 'noble-hashes'].map(async (name) => (await fetch(`${name}.json`)).json());
    return (await Promise.all(files)).flatMap(Object.entries);
}

/** Browsers refuse an empty key: HMAC fills it up with zeros. */
async function hmac(name, key, bytes) {
    const imported = await crypto.subtle.importKey('raw', key.length > 0 ? key : new Uint8Array(1),
        { name: 'HMAC', hash: names[name] }, false, ['sign']);
    return new Uint8Array(await crypto.subtle.sign('HMAC', imported, bytes));
}

try {
    const ncompared = await test(load, {
        names: Object.keys(names),
        hmacNames: Object.keys(names),
        vectors: await vectors(),
        digest: async (name, bytes) => new Uint8Array(await crypto.subtle.digest(names[name], bytes)),
        hmac,
    });
    document.body.dataset.result = `${ncompared} comparisons`;
} catch (error) {
    document.body.dataset.result = `FAILED: ${error.name}: ${error.message}`;
}
