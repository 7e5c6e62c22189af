// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compiled half of the Python package: the module `hashloom._hashloom`.
//!
//! buffer.rs: the bytes of Python objects. hash.rs: hash objects. mac.rs: HMAC. many.rs: many messages in a call.
//! column.rs: Arrow columns. memory.rs: memory for long results. work.rs: threads of the engine and signals of Python.
//! files.rs: files and torrents. search.rs: nonces.

mod buffer;
mod column;
mod files;
mod hash;
mod hex;
mod mac;
mod many;
mod memory;
mod search;
mod work;

use pyo3::prelude::*;

#[pymodule]
fn _hashloom(module: &Bound<'_, PyModule>) -> PyResult<()> {
    hash::add(module)?;
    many::add(module)?;
    mac::add(module)?;
    column::add(module)?;
    files::add(module)?;
    search::add(module)
}
