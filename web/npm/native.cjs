// SPDX-License-Identifier: MIT OR Apache-2.0
// The addon that native/build.cjs compiles, or null. In a bundle there is none.
'use strict';

const folder = typeof __dirname === 'undefined' ? null : `${__dirname}/native`;
module.exports = null;
if (folder !== null && process.getBuiltinModule?.('node:fs').existsSync(`${folder}/hashloom.node`)) {
    try {
        const loaded = { exports: {} };
        process.dlopen(loaded, `${folder}/hashloom.node`);
        module.exports = loaded.exports;
    } catch (error) {
        process.emitWarning(`hashloom goes on with WebAssembly, as its addon cannot be loaded: ${error.message}; ` +
            `compile it anew: node ${folder}/build.cjs`);
    }
}
