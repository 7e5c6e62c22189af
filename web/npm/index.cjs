// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry for require().
'use strict';

exports.load = async (...none) => (await import('./index.js')).load(...none);
