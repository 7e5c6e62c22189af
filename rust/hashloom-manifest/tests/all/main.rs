// SPDX-License-Identifier: MIT OR Apache-2.0

//! Manifests read, written and compared, and their logs. One program, as each would link the crates again;
//! `cargo test -p hashloom-manifest --test all log::` runs one file of it.

#[path = "../../../../test/skipped.rs"]
mod skipped;

#[cfg(feature = "sign")]
mod log;
mod manifest;
