// SPDX-License-Identifier: MIT OR Apache-2.0

//! The engine: files read in parts and hashed many at once, threads times lanes.
//!
//! ```text
//! layout    files laid end to end and cut into pieces: which bytes of which files a piece is made of
//! beneath   opens files below a folder and never outside of it
//! holes     where a file has no data on disk
//! map       files mapped into memory, and what keeps that safe
//! open      an open file, and how many there may be
//! buffer    large buffers, if they can be had
//! crew      threads that work together, and what stops them
//! stream    pipes and the like, which are waited for
//! files     what is known of each file; a bounded number of open ones, shared by all threads
//! merkle    the hash trees of BEP 52
//! levels    the levels of a hash tree above its leaves, of whatever kind
//! rows      a thread's buffers and hashers: one row per message
//! ahead     has the disk fetch what comes next
//! job       the content of one torrent, and what is done with its digests
//! queue     the jobs, whose pieces are dealt out to threads
//! window    what a lane has present of a mapped file
//! lane      a piece that is being read
//! pieces    each thread takes pieces of one torrent after another, fills its lanes, hashes
//! compute   the digests of all pieces, for a torrent that is made
//! leaves    one file or stream in parts of one length, hashed for a tree
//! ring      opens and reads many small files by a few system calls
//! batch     whole files, each one message: many open at a time
//! ```
//!
//! Each is made of those above it in this list.
//!
//! Files are read by positioned reads into rows that stay in the second-level cache, or hashed where they are mapped if
//! the caller allows for what that takes ([`map`]). Memory depends neither on the length nor on the number of files,
//! apart from a few bytes of state for each piece and file.

mod ahead;
pub(crate) mod batch;
pub(crate) mod beneath;
#[allow(unsafe_code)]
mod buffer;
#[cfg(feature = "create")]
pub(crate) mod compute;
mod crew;
pub(crate) mod files;
mod holes;
pub(crate) mod job;
mod lane;
pub(crate) mod layout;
pub(crate) mod leaves;
pub(crate) mod levels;
#[allow(unsafe_code)]
mod map;
pub(crate) mod merkle;
pub(crate) mod open;
pub(crate) mod pieces;
mod queue;
#[allow(unsafe_code)]
mod ring;
mod rows;
pub(crate) mod stream;
pub(crate) mod window;
