// SPDX-License-Identifier: MIT OR Apache-2.0

//! The engine: files read in parts and hashed many at once, threads times lanes.
//!
//! ```text
//! layout    files laid end to end and cut into pieces: which bytes of which files a piece is made of
//! beneath   opens files below a folder and never outside of it
//! files     what is known of each file; a bounded number of open ones, shared by all threads
//! holes     where a file has no data on disk
//! ahead     has the disk fetch what comes next
//! map       files mapped into memory, and what keeps that safe
//! merkle    the hash trees of BEP 52
//! rows      a thread's buffers and hashers: one row per message
//! compute   the digests of all pieces, for a torrent that is made
//! batch     whole files, each one message: many open at a time
//! pieces    each thread takes pieces of one torrent after another, fills its lanes, hashes
//! ```
//!
//! Files are read by positioned reads into rows that stay in the second-level cache, never mapped: a file that is
//! truncated under a mapping kills the process. Memory depends neither on the length nor on the number of files, apart
//! from a few bytes of state for each piece and file.

mod ahead;
pub(crate) mod batch;
pub(crate) mod beneath;
#[cfg(feature = "create")]
pub(crate) mod compute;
pub(crate) mod files;
mod holes;
pub(crate) mod layout;
#[allow(unsafe_code)]
mod map;
pub(crate) mod merkle;
pub(crate) mod pieces;
mod rows;
