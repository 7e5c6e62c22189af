// SPDX-License-Identifier: MIT OR Apache-2.0
// Times the npm package beside others, by turns in one process. In a folder with the others:
//
//     npm install hash-wasm @noble/hashes @chainsafe/as-sha256 @chainsafe/hashtree
//     node .../bench/npm.mjs .../build/npm
//
// Prints the least time of each and the time of the other / time of hashloom. After `node build/npm/native/build.cjs`
// the addon runs.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const from = createRequire(`${process.cwd()}/`);
const other = (name) => import(pathToFileURL(from.resolve(name)));
const { load } = await import(pathToFileURL(resolve(process.argv[2], 'node.js')));
const hashloom = await load();
const wasm = await other('hash-wasm');
const noble = { ...await other('@noble/hashes/sha2.js'), ...await other('@noble/hashes/sha3.js'),
    ...await other('@noble/hashes/legacy.js') };
const kept = { sha1: await wasm.createSHA1(), sha256: await wasm.createSHA256(), sha512: await wasm.createSHA512(),
    md5: await wasm.createMD5(), 'sha3-256': await wasm.createSHA3(256) };
const nobles = {
    sha1: noble.sha1, sha256: noble.sha256, sha512: noble.sha512, md5: noble.md5, 'sha3-256': noble.sha3_256 };

/** Nanoseconds of each call: the least of two seconds by turns. */
function times(calls) {
    const least = Object.values(calls).map(() => Infinity);
    const end = performance.now() + 2000;
    for (let round = 0; round < 5 || performance.now() < end; round++) {
        Object.values(calls).forEach((call, i) => {
            let [n, taken] = [0, 0n];
            const begin = process.hrtime.bigint();
            for (; taken < 200_000n; n++, taken = process.hrtime.bigint() - begin) call();
            if (round > 1) least[i] = Math.min(least[i], Number(taken) / n);
        });
    }
    return least;
}

function row(what, calls, each = 1) {
    const [ours, ...others] = times(calls);
    const ratios = Object.keys(calls).slice(1).map((name, i) => `${name} ${(others[i] / ours).toFixed(2)}`);
    console.log(`${what}: ${(ours / each).toFixed(0)} ns; ${ratios.join(', ')}`);
}

console.log(`node ${process.version}, ${hashloom.engine}`);
for (const name of Object.keys(kept)) {
    for (const [nbytes, count] of [
        [64, 4000], [1024, 2000], [64 << 10, 64], [64, 1], [1024, 1], [64 << 10, 1], [1 << 20, 1]]) {
        const list = Array.from({ length: count }, (_, i) => new Uint8Array(nbytes).fill(i));
        const loop = (one) => count === 1 ? () => one(list[0]) : () => list.map(one);
        row(`${name}, ${count} of ${nbytes} bytes`, {
            hashloom: count === 1 ? () => hashloom.hash(name, list[0]) : () => hashloom.many(name, list),
            'hash-wasm': loop((message) => kept[name].init().update(message).digest('binary')),
            noble: loop((message) => nobles[name](message)),
            node: loop((message) => createHash(name).update(message).digest()),
        }, count);
    }
}
const { hashInto: simd } = await other('@chainsafe/as-sha256');
const { hashInto: native } = await other('@chainsafe/hashtree');
const [nodes, out] = [new Uint8Array(64 * 4096).fill(5), new Uint8Array(32 * 4096)];
row('4,096 nodes', { hashloom: () => hashloom.hashPairs('sha256', nodes, out), 'as-sha256': () => simd(nodes, out),
    hashtree: () => native(nodes, out) }, 4096);
