// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files hashed whole. One program, as each would link the crates again;
//! `cargo test -p hashloom-files --test all files::` runs one file of it.

#[path = "../heard/mod.rs"]
mod heard;
#[path = "../../../../test/skipped.rs"]
mod skipped;

mod files;
