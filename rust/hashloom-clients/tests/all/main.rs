// SPDX-License-Identifier: MIT OR Apache-2.0

//! Resume files, and what else clients keep. One program, as each would link the crates again;
//! `cargo test -p hashloom-clients --test all resume::` runs one file of it.

#[path = "../../../hashloom-torrent/tests/maker/mod.rs"]
mod maker;

mod kept;
mod resume;
