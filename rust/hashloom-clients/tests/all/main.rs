// SPDX-License-Identifier: MIT OR Apache-2.0

//! Resume files, what else clients keep, and checks that go on later. One program, as each would link the crates again;
//! `cargo test -p hashloom-clients --test all resume::` runs one file of it.

#[path = "../../../hashloom-files/tests/heard/mod.rs"]
mod heard;
#[path = "../../../hashloom-torrent/tests/maker/mod.rs"]
mod maker;
#[path = "../../../../test/skipped.rs"]
mod skipped;

#[cfg(unix)]
mod changes;
#[cfg(target_os = "linux")]
mod checkpoint;
mod find;
mod kept;
mod resume;
