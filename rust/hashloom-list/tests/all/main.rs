// SPDX-License-Identifier: MIT OR Apache-2.0

//! Lists read and written. One program, as each would link the crates again;
//! `cargo test -p hashloom-list --test all list::` runs one file of it.

#[path = "../list_oracle/mod.rs"]
mod list_oracle;

mod list;
