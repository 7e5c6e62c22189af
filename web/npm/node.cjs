// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry for require() in Node.
'use strict';

exports.load = async (...none) => (await import('./node.js')).load(...none);
