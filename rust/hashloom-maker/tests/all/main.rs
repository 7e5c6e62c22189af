// SPDX-License-Identifier: MIT OR Apache-2.0

//! Torrents made. One program, as each would link the crates again; `cargo test -p hashloom-maker --test all create::`
//! runs one file of it.

#[path = "../../../hashloom-files/tests/heard/mod.rs"]
mod heard;
#[path = "../../../hashloom-torrent/tests/maker/mod.rs"]
mod maker;
#[path = "../../../../test/skipped.rs"]
mod skipped;

#[cfg(unix)]
mod changes;
mod create;
#[cfg(unix)]
mod stopping;
