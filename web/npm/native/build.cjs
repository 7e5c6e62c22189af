// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles the addon for this Node, from the C core beside it: node build.cjs. CC names the compiler (cc).
'use strict';
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const includes = path.join(path.dirname(fs.realpathSync(process.execPath)), '..', 'include', 'node');
if (!fs.existsSync(path.join(includes, 'node_api.h'))) {
    throw new Error(`no ${includes}/node_api.h: Node's headers are not installed (Debian: libnode-dev)`);
}
const core = path.join(__dirname, 'core');
const src = path.join(core, 'src');
const folders = fs.readdirSync(src, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const sources = [src, ...folders.map(({ name }) => path.join(src, name))].flatMap((folder) =>
    fs.readdirSync(folder).filter((name) => name.endsWith('.c')).map((name) => path.join(folder, name)));
const made = path.join(__dirname, 'hashloom.node');
const { status, error } = spawnSync(process.env.CC ?? 'cc', [
    '-std=c11', '-O3', '-DNDEBUG', '-DHL_NO_SHA1DC', '-fPIC', '-fvisibility=hidden', '-shared',
    ...(process.platform === 'darwin' ? ['-undefined', 'dynamic_lookup'] : []),
    '-I', path.join(core, 'include'), '-I', includes,
    ...sources, path.join(__dirname, '..', 'module.c'), path.join(__dirname, 'addon.c'), '-o', `${made}.tmp`,
], { stdio: 'inherit' });
if (status !== 0) throw error ?? new Error('the compiler failed: hashloom goes on with WebAssembly');
fs.renameSync(`${made}.tmp`, made);
console.log(`${made}: compiled`);
