// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the tests in Node, Deno or Bun, with its own crypto as the reference: node.mjs, beside node_modules/hashloom and
// the vectors. An argument: the engine that is to run.
import crypto from 'node:crypto';
import { readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { load } from 'hashloom';
import { test } from './test.mjs';

const required = await createRequire(import.meta.url)('hashloom').load();
if (required !== await load()) throw new Error('require() has another module than import');
const expected = process.argv[2] ?? 'wasm';
if (required.engine !== expected) throw new Error(`${required.engine} runs, not ${expected}`);
// Threads have memories of their own.
const threads = Array.from({ length: 3 }, (_, i) => new Worker(`import('hashloom').then(async ({ load }) => {
    const hashloom = await load();
    const messages = Array.from({ length: 1000 }, (_, j) => String(j % ${i + 2}).repeat(500));
    for (let j = 0; j < 50; j++) {
        const digests = hashloom.many('sha256', messages, { output: 'hex' });
        if (new Set(digests).size !== ${i + 2}) throw new Error('digests of another thread');
    }
    (await import('node:worker_threads')).parentPort.postMessage('done');
})`, { eval: true }));
await Promise.all(threads.map((thread) => new Promise((done, fail) => thread.on('message', done).on('error', fail))));
const known = (name, make = crypto.createHash) => {
    try {
        make(name);
        return true;
    } catch {
        return false;
    }
};
const names = required.algorithms.filter((name) => known(name));
const missing = required.algorithms.filter((name) => !known(name));
const ncompared = await test(load, {
    names,
    hmacNames: names.filter((name) =>
        !name.startsWith('shake') && known(name, (hash) => crypto.createHmac(hash, 'key'))),
    digest: (name, bytes, length) =>
        crypto.createHash(name, name.startsWith('shake') ? { outputLength: length } : {}).update(bytes).digest(),
    vectors: ['blake3', 'hash-wasm', 'noble-hashes'].flatMap((name) =>
        Object.entries(JSON.parse(readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8')))),
    hmac: (name, key, bytes) => crypto.createHmac(name, key).update(bytes).digest(),
});
writeSync(1, `${expected}: ${ncompared} comparisons; no reference here for ${missing.join(', ')}\n`);
// Node may hang as it ends after threads (https://github.com/nodejs/node/issues/54918): seldom, but once in CI.
process.kill(process.pid, 'SIGKILL');
