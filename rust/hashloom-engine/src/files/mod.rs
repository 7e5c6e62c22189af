// SPDX-License-Identifier: MIT OR Apache-2.0

//! Digests and MACs of many files at once, each file one message.
//!
//! The digest of a file is a serial chain, so files are what stands side by side in the lanes: [`hash_files`] reads many
//! at a time, a chunk of each, on every thread. Small files are read whole and hashed together; a file that is longer
//! advances by a chunk in each round. Several digests of a file are computed from one read.
//!
//! ```
//! use hashloom::Algorithm;
//! use hashloom_engine::files::{Request, hash_files};
//! use hashloom_engine::run::Options;
//!
//! # let folder = tempfile::tempdir()?;
//! # std::env::set_current_dir(folder.path())?;
//! std::fs::write("abc", "abc")?;
//! let requests = ["abc", "missing"].into_iter().map(|path| Request::digest(path, Algorithm::Sha1));
//! let mut lines = Vec::new();
//! let summary = hash_files(requests, &Options::new(), |request, result| match result {
//!     Ok(hashed) => lines.push(format!("{}  {}", hashed.digests[0], request.source)),
//!     Err(error) => lines.push(format!("{}: {error}", request.source)),
//! });
//! assert_eq!(lines[0], "a9993e364706816aba3e25717850c26c9cd0d89d  abc");
//! assert!(lines[1].starts_with("missing: "));
//! assert_eq!((summary.nfiles, summary.nfailed), (1, 1));
//! # Ok::<(), std::io::Error>(())
//! ```

mod batch;
mod request;

use crate::run::Options;

pub use crate::read::noted::{Doubt, Noted};
pub use crate::read::stamp::Stamp;
pub use request::{FileError, Hashed, Method, Request, Source, Summary, stdin};

/// Hashes files, many at a time.
///
/// `each` gets every request back with what came of it, in the order of the requests, one at a time, on whichever
/// thread. The requests are drawn as they can be worked on: there may be any number of them, as memory depends on the
/// number of threads only (below 1 MiB for each, and up to 65,536 results that wait for one before them).
///
/// A regular file that changes while it is read, by its length, times or place on disk, is read again, three times in
/// all; then it is [`FileError::Unstable`]. So a digest is of bytes that the file had all at the same time, as far as the
/// file system tells of changes. A file system that ends a file before its length, or after it, is an error too, but for
/// those that make files while they are read, such as /proc and /sys.
///
/// If a callback or the iterator panics, all threads stop, and the panic goes on in the caller's with its payload.
///
/// Each thread has up to 16 files open, fewer where the process may not open so many. Files of which nothing can be
/// read without waiting, such as pipes, keep their thread waiting.
///
/// See the [module](self) for an example.
pub fn hash_files<T: Send>(
    requests: impl Iterator<Item = Request<T>> + Send,
    options: &Options,
    each: impl FnMut(Request<T>, Result<Hashed, FileError>) + Send,
) -> Summary {
    batch::run(requests, options, each)
}
