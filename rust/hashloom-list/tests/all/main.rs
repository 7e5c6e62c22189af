// SPDX-License-Identifier: MIT OR Apache-2.0

//! Lists and manifests read, written and signed. One program, as each would link the crates again;
//! `cargo test -p hashloom-list --test all list::` runs one file of it.

#[path = "../list_oracle/mod.rs"]
mod list_oracle;
#[path = "../../../../test/skipped.rs"]
mod skipped;

mod list;
mod manifest;
#[cfg(feature = "sign")]
mod signature;
