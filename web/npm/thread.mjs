// SPDX-License-Identifier: MIT OR Apache-2.0
// A thread of node.mjs: its digests are its own.
import { parentPort, workerData } from 'node:worker_threads';
import { load } from 'hashloom';
const hashloom = await load();
const messages = Array.from({ length: 1000 }, (_, j) => String(j % workerData).repeat(500));
for (let j = 0; j < 50; j++) {
    const digests = hashloom.many('sha256', messages, { output: 'hex' });
    if (new Set(digests).size !== workerData) throw new Error('digests of another thread');
}
parentPort.postMessage('done');
