// SPDX-License-Identifier: MIT OR Apache-2.0

//! Trees of files. One program, as each would link the crates again;
//! `cargo test -p hashloom-tree --test all sources::` runs one file of it.

#[path = "../../../hashloom-files/tests/heard/mod.rs"]
mod heard;
#[path = "../rfc9162/mod.rs"]
mod rfc9162;

mod sources;
mod trees;
