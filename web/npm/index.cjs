// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry for require().
'use strict';

exports.load = async () => (await import('./index.js')).load();
