// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]
//!
//! | input | call |
//! |---|---|
//! | files, readers and memory, each one message | [`hash_files`], [`hash_steps`] |
//! | threads, progress, cancelling, limits of all calls | [`run`] |
//! | a folder | [`walk`] |
//! | any value as JSON that cannot steer a terminal | `json`, a feature |
//!
//! The crates `hashloom-torrent`, `hashloom-tree`, `hashloom-list` and `hashloom-work` stand on this one. What they
//! share is in [`pieces`], [`merkle`] and [`read`], and other programs seldom need it.
//!
//! The feature `io-uring`, on by default, opens and reads many small files with a few system calls on Linux. Files are
//! read at offsets into rows that stay in the second-level cache. Memory does not grow with the length or the number
//! of files, except for a few bytes of state for each piece and file.
#![deny(missing_docs, unsafe_code)]

// Each module uses only those above it, and the primitives in `hashloom`.
pub mod text;

#[cfg(feature = "json")]
pub mod json;

pub mod paths;

pub mod walk;

pub mod run;

pub mod read;

pub mod lanes;

pub mod merkle;

pub mod pieces;

mod files;

pub use files::*;
