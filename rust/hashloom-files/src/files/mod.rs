// SPDX-License-Identifier: MIT OR Apache-2.0

//! Digests and MACs of many files at once, each file one message.

mod batch;
mod request;
mod source;
mod steps;
mod watched;

use crate::run::Options;

pub use crate::read::evidence::{Doubt, Noted};
pub use crate::read::stamp::Stamp;
pub use request::{FileError, Hashed, Method, Request, Summary};
pub use source::{Source, read_from, stdin};
pub use steps::{Event, Step, hash_steps};
pub use watched::Watched;

/// Hashes files, many at a time.
///
/// `each` gets every request back with its result, in the order of the requests, one at a time, on any thread. The
/// engine draws a request only when a thread can work on it. The number of requests has no limit, as memory depends on
/// the number of threads only (below 1 MiB for each, 64 MiB if files are read from a disk that seeks, and up to 65,536
/// requests and results that wait for an earlier one).
///
/// A regular file whose length, times or place on disk change during the read is read again, up to three times; then
/// the result is [`FileError::Unstable`]. The bytes of a digest thus all stood in the file at the same time, as far as
/// the file system reports changes. A read that ends before or after the file's length is an error too, except on file
/// systems that make files while they are read, such as /proc and /sys.
///
/// If a callback or the iterator panics, all threads stop, and the panic continues in the caller's thread with its
/// payload.
///
/// Each thread has up to 16 files open, or fewer if the process may not open that many. A thread that reads a pipe, or
/// another source that is not ready, waits for it.
///
/// The digest of a file is a serial chain, so the lanes hold files side by side: [`hash_files`] reads many files at a
/// time, a chunk of each, on every thread. Small files are read whole and hashed together; a longer file advances by a
/// chunk in each round. Several digests of a file are computed from one read. If the only digest of a long file is
/// BLAKE3's, which is a tree, threads without work hash parts of the file.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_files::run::Options;
/// use hashloom_files::{Hashed, Request, Source, Summary, hash_files};
///
/// let sources = [Source::memory("abc"), Source::from("/a file/that is missing")];
/// let requests = sources.into_iter().map(|source| Request::digest(source, Algorithm::Sha1));
/// let mut lines = Vec::new();
/// let summary: Summary = hash_files(requests, &Options::new(), |request, result| match result {
///     Ok(Hashed { digests, .. }) => lines.push(format!("{}  {}", digests[0], request.source)),
///     Err(error) => lines.push(format!("{}: {error}", request.source)),
/// });
/// assert_eq!(lines[0], "a9993e364706816aba3e25717850c26c9cd0d89d  memory");
/// assert!(lines[1].starts_with("/a file/that is missing: "));
/// assert_eq!((summary.nfiles, summary.nfailed, summary.cancelled), (1, 1, false));
/// ```
pub fn hash_files<T: Send>(
    requests: impl Iterator<Item = Request<T>> + Send,
    options: &Options,
    each: impl FnMut(Request<T>, Result<Hashed, FileError>) + Send,
) -> Summary {
    batch::run(requests, options, each)
}
