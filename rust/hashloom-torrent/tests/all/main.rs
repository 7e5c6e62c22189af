// SPDX-License-Identifier: MIT OR Apache-2.0

//! Torrents read and verified. One program, as each would link the crates again;
//! `cargo test -p hashloom-torrent --test all bencode::` runs one file of it.

#[path = "../../../hashloom-files/tests/heard/mod.rs"]
mod heard;
#[path = "../maker/mod.rs"]
mod maker;
#[path = "../../../../test/skipped.rs"]
mod skipped;

mod bencode;
mod metadata;
mod metainfo;
mod metainfo_random;
mod metainfo_v2;
mod open;
mod pieces;
mod verify;
mod verify_random;
