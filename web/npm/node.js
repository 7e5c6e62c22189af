// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry in Node: with its zlib, and the addon that native/build.cjs compiles, if there is one.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';
import { load, use } from './index.js';

/** The addon, or null. A bundle of CommonJS has no address. */
function addon() {
    if (!import.meta.url?.startsWith('file:')) return null;
    const folder = `${dirname(fileURLToPath(import.meta.url))}/native`; // new URL(…) would be a file for a bundler
    if (!existsSync(`${folder}/hashloom.node`)) return null;
    try {
        const loaded = { exports: {} };
        process.dlopen(loaded, `${folder}/hashloom.node`);
        return loaded.exports;
    } catch (error) {
        process.emitWarning(`hashloom goes on with WebAssembly, as its addon cannot be loaded: ${error.message}; ` +
            `compile it anew: node ${folder}/build.cjs`);
        return null;
    }
}

use(addon(), inflateSync);
export { load };
