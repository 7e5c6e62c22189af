// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the npm package beside hash-wasm, @noble/hashes and Node's own crypto, in one process and in turns:
//
//   npm install --prefix build/peers hash-wasm@4 @noble/hashes@2
//   make npm && node bench/npm.mjs build/npm build/peers [ROUNDS]
//
// Prints time of the other / time of hashloom, each the least of all rounds in CPU time of the process, so that other
// programs of the machine count little.
import crypto from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [built, peers, rounds = '7'] = process.argv.slice(2);
const { load } = await import(pathToFileURL(path.resolve(built, 'index.js')));
const required = createRequire(path.resolve(peers, 'package.json'));
const hashWasm = required('hash-wasm');
const noble = Object.assign({}, ...['legacy', 'sha2', 'sha3'].map((name) => required(`@noble/hashes/${name}.js`)));
const hashloom = await load();

const ALGORITHMS = { sha1: ['SHA1', 'sha1'], sha256: ['SHA256', 'sha256'], sha512: ['SHA512', 'sha512'],
    md5: ['MD5', 'md5'], ripemd160: ['RIPEMD160', 'ripemd160'], 'sha3-256': ['SHA3', 'sha3_256'] };
const SIZES = [[4000, 64], [2000, 1024], [64, 1 << 16], [4, 1 << 20], [1, 64], [1, 1024], [1, 1 << 16], [1, 1 << 20]];
/** About this number of bytes and calls in a run. */
const RUN_NBYTES = 400_000;

function milliseconds(run) {
    const begun = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1000;
}

console.log(`Node ${process.version}, time of the other / time of hashloom:`);
console.log('messages          algorithm   hash-wasm  noble   Node');
for (const [count, nbytes] of SIZES) {
    const messages = Array.from({ length: count }, () => new Uint8Array(crypto.randomBytes(nbytes)));
    for (const [name, [ofHashWasm, ofNoble]] of Object.entries(ALGORITHMS)) {
        const object = await hashWasm[`create${ofHashWasm}`](256);
        const repeats = Math.max(1, Math.round(RUN_NBYTES / (count * (nbytes + 300))));
        const each = (one) => () => {
            for (let i = 0; i < repeats; i++) messages.map(one);
        };
        const runs = [
            count === 1 ? each((message) => hashloom.hash(name, message)) : () => {
                for (let i = 0; i < repeats; i++) hashloom.many(name, messages);
            },
            each((message) => object.init().update(message).digest('binary')),
            each((message) => noble[ofNoble](message)),
            each((message) => crypto.createHash(name).update(message).digest()),
        ];
        // V8 compiles in the background, and its time would count.
        for (const run of runs) for (const end = performance.now() + 80; performance.now() < end;) run();
        await new Promise((done) => setTimeout(done, 150));
        const least = runs.map(() => Infinity);
        for (let round = 0; round < 3 * rounds; round++) {
            runs.forEach((run, i) => { least[i] = Math.min(least[i], milliseconds(run)); });
        }
        const ratios = least.slice(1).map((time) => (time / least[0]).toFixed(2).padStart(7));
        console.log(`${count} x ${nbytes}`.padEnd(18) + name.padEnd(14) + ratios.join(''));
    }
}
