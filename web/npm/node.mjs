// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the tests in Node, Deno or Bun, with its own crypto as the reference: node.mjs, beside node_modules/hashloom and
// the vectors. An argument: the engine that is to run.
import crypto from 'node:crypto';
import { readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Worker } from 'node:worker_threads';
import { load } from 'hashloom';
import { test } from './test.mjs';

const required = await createRequire(import.meta.url)('hashloom').load();
if (required !== await load()) throw new Error('require() has another module than import');
const expected = process.argv[2] ?? 'wasm';
if (required.engine !== expected) throw new Error(`${required.engine} runs, not ${expected}`);
// Threads have memories of their own.
const threads = [2, 3, 4].map((count) => new Worker(new URL('thread.mjs', import.meta.url), { workerData: count }));
await Promise.all(threads.map((thread) => new Promise((done, fail) => thread.on('message', done).on('error', fail))));
for (const pipe of [(from, to) => from.pipe(to), pipeline]) {
    const why = await Promise.resolve(Readable.from(['a'])).then((from) => pipe(from, required.createHash('sha256')))
        .catch((error) => error.message);
    if (!why.includes?.('for await')) throw new Error(`a stream is piped to a hash: ${why}`);
}
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
