// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files hashed many at once, threads times lanes: their digests, hash trees, torrents, and manifests of folders.
//!
//! The crate [`hashloom`] hashes messages that are in memory. This crate reads them: a bounded number of open files,
//! shared by all threads, each of which fills the lanes of the widest kernel.
//!
//! ```
//! use hashloom::Algorithm;
//! use hashloom_engine::files::{Request, hash_files};
//! use hashloom_engine::run::Options;
//!
//! # let folder = tempfile::tempdir()?;
//! # std::env::set_current_dir(folder.path())?;
//! std::fs::write("abc", "abc")?;
//! hash_files([Request::digest("abc", Algorithm::Sha1)].into_iter(), &Options::new(), |request, result| {
//!     assert_eq!(request.source.to_string(), "abc");
//!     assert_eq!(result.unwrap().digests[0].to_string(), "a9993e364706816aba3e25717850c26c9cd0d89d");
//! });
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! | input | call | feature |
//! |---|---|---|
//! | files, readers and memory, each one message | [`files::hash_files`], [`files::results`] | |
//! | a folder | `walk` | `walk` |
//! | lists of checksums | [`list::Parser`], [`list::Writer`] | |
//! | the files of a torrent | `torrent::verify` | `torrent` |
//! | files to make a torrent of | `torrent::create` | `create` |
//! | the resume file of a BitTorrent client | `torrent::resume` | `resume` |
//! | the root of a file's hash tree: fs-verity, dm-verity, RFC 6962, Glacier, S3, BEP 52 | `tree` | `tree` |
//! | the files of a folder, now and later | `manifest` | `manifest` |
//! | what earlier runs have found out | [`state`] | |
//! | signatures of manifests | `manifest::signature` | `signature` to check them, `sign` to make them |
//! | a signed log of manifests | `manifest::log` | `signature` and `tree` |
//! | nonces whose digest is low enough | [`search`] | |
//!
//! All features but `sign` are on by default. One more, `io-uring`, opens and reads many small files with a few system calls on
//! Linux. Files are read at offsets into rows that stay in the second-level cache. Memory does not grow with the length or
//! the number of files, except for a few bytes of state for each piece and file.
#![deny(missing_docs, unsafe_code)]
#![cfg_attr(
    not(all(
        feature = "create",
        feature = "io-uring",
        feature = "manifest",
        feature = "resume",
        feature = "signature",
        feature = "tree",
        feature = "walk"
    )),
    allow(dead_code, reason = "the features share modules: only all features together use every item")
)]

// Each module uses only those above it, and the primitives in `hashloom`.
pub mod text;

pub mod paths;

#[cfg(feature = "walk")]
pub mod walk;

pub mod list;

#[cfg(feature = "torrent")]
pub mod bencode;

pub mod run;

pub mod search;

mod read;

#[cfg(any(feature = "torrent", feature = "tree"))]
mod merkle;

#[cfg(any(feature = "torrent", feature = "tree"))]
mod pieces;

pub mod files;

pub mod state;

#[cfg(feature = "tree")]
pub mod tree;

#[cfg(feature = "torrent")]
pub mod torrent;

#[cfg(feature = "manifest")]
pub mod manifest;

// The examples in the guide as documentation tests.
#[cfg(all(doctest, feature = "torrent"))]
#[doc = include_str!("../../../docs/rust.md")]
struct Guide;
