// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compiled half of the Python package: the module `hashloom._hashloom`.
//!
//! buffer.rs: the bytes of Python objects. hash.rs: hash objects. mac.rs: HMAC. many.rs: many messages in a call.
//! work.rs: threads of the engine and signals of Python. files.rs: files and torrents.

mod buffer;
mod files;
mod hash;
mod hex;
mod mac;
mod many;
mod work;

use pyo3::prelude::*;

#[pymodule]
fn _hashloom(module: &Bound<'_, PyModule>) -> PyResult<()> {
    hash::add(module)?;
    many::add(module)?;
    mac::add(module)?;
    files::add(module)
}
