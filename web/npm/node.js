// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry in Node: with the addon, if it was compiled.
import native from './native.cjs';
import { load, use } from './index.js';

use(native);
export { load };
