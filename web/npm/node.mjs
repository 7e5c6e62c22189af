// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the tests in Node, Deno or Bun, with its own crypto as the reference: node.mjs, beside node_modules/hashloom and
// the vectors.
import crypto from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { load } from 'hashloom';
import { test } from './test.mjs';

const required = await createRequire(import.meta.url)('hashloom').load();
if (required !== await load()) throw new Error('require() has another module than import');
const known = (name) => {
    try {
        crypto.createHash(name);
        return true;
    } catch {
        return false;
    }
};
const names = required.algorithms.filter(known);
const missing = required.algorithms.filter((name) => !known(name));
const ncompared = await test(load, {
    names,
    hmacNames: names.filter((name) => !name.startsWith('shake')),
    digest: (name, bytes, length) =>
        crypto.createHash(name, name.startsWith('shake') ? { outputLength: length } : {}).update(bytes).digest(),
    vectors: ['blake3', 'hash-wasm', 'noble-hashes'].flatMap((name) =>
        Object.entries(JSON.parse(readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8')))),
    hmac: (name, key, bytes) => crypto.createHmac(name, key).update(bytes).digest(),
});
console.log(`${ncompared} comparisons; no reference here for ${missing.join(', ')}`);
