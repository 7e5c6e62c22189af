// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compiled half of the Python package: the module `pyhashloom._hashloom`.
//!
//! buffer.rs: the bytes of Python objects. hash.rs: hash objects. mac.rs: HMAC. many.rs: many messages in a call.
//! arrow.rs: Arrow arrays of other libraries. source.rs: rows of these. digester.rs: their digests. column.rs: these as
//! columns. digests.rs: what a column of digests gives Python. diff.rs: tables compared by these. long.rs: digests of
//! long values. rows.rs: the bytes of a table's rows. memory.rs: memory for long results. signals.rs: Python's signals.
//! work.rs: threads of the engine. files.rs: files and torrents. manifest.rs: manifests and lists. tree.rs: hash trees.
//! pbkdf2.rs: keys from passwords. slh_dsa.rs: signatures. streams.rs: messages that arrive in parts. state.rs: the
//! journal of objects.
//!
//! The module needs no interpreter lock: its objects are frozen, and a mutex guards what changes in them.

mod arrow;
mod buffer;
mod column;
mod diff;
mod digester;
mod digests;
mod files;
mod hash;
mod hex;
mod long;
mod mac;
mod manifest;
mod many;
mod memory;
mod pbkdf2;
mod rows;
mod shared;
mod signals;
mod slh_dsa;
mod source;
mod state;
mod streams;
mod tree;
mod work;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _hashloom(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    shared::look(module.py())?;
    hash::add(module)?;
    many::add(module)?;
    mac::add(module)?;
    column::add(module)?;
    diff::add(module)?;
    files::add(module)?;
    tree::add(module)?;
    pbkdf2::add(module)?;
    slh_dsa::add(module)?;
    manifest::add(module)?;
    streams::add(module)?;
    state::add(module)
}
