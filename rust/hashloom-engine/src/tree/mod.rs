// SPDX-License-Identifier: MIT OR Apache-2.0

//! Hash trees in common use, over files and streams.
//!
//! All follow one scheme: a file is cut into parts, each part is hashed together with some fixed bytes, and the digests
//! are hashed together in groups until one is left. The parts are hashed many at once, on all threads.
//!
//! | tree | purpose |
//! |---|---|
//! | [`fsverity`] | the digest under which Linux seals a file (ext4, f2fs, btrfs; Android's packages) |
//! | [`dmverity`] | the root hash and hash file of a read-only block device (Android, ChromeOS, systemd images) |
//! | [`rfc6962`] | transparency logs: roots, proofs of inclusion and of consistency |
//! | [`glacier`] | the SHA-256 tree hash of Amazon S3 Glacier |
//! | [`s3`] | the composite SHA-1 and SHA-256 of a multipart upload to Amazon S3 |
//! | [`bep52`] | the `pieces root` of a file in a v2 torrent |
//!
//! Memory does not grow with the length of the input. A file that changes while it is read is an error: the result
//! would be the root of content that never existed.

pub mod bep52;
mod blocks;
pub mod dmverity;
mod error;
pub mod fsverity;
pub mod glacier;
pub mod rfc6962;
pub mod s3;

use std::fmt;
use std::fs::{File, Metadata};
use std::io::Read;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

use crate::merkle::leaves::{Effort, Leaves, Take};
use crate::read::stamp::Stamp;
use crate::read::stream::Patient;

pub use error::TreeError;

/// The options for hashing. The default is one thread for each CPU, no callback, no cancelling.
///
/// ```no_run
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// use hashloom_engine::tree::{Options, TreeError, glacier};
///
/// static STOP: AtomicBool = AtomicBool::new(false);
/// let show = |nbytes| {
///     eprint!("\r{nbytes} bytes");
///     if nbytes > 1 << 40 {
///         STOP.store(true, Ordering::Relaxed);
///     }
/// };
/// let file = std::fs::File::open("archive.tar")?;
/// match glacier::tree_hash(&file, &Options::default().progress(&show).cancel(&STOP)) {
///     Err(TreeError::Cancelled) => eprintln!("stopped"),
///     other => println!("{}", other?),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    threads: Option<NonZeroUsize>,
    progress: Option<&'a (dyn Fn(u64) + Sync)>,
    cancel: Option<&'a AtomicBool>,
    mapped: bool,
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl<'a> Options<'a> {
    /// Sets the number of threads for a file, at most 128; a stream has one. Each thread takes about 1 MiB of memory.
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Sets a function that any of the threads calls, about once every 256 KiB, with the total bytes hashed.
    pub fn progress(mut self, progress: &'a (dyn Fn(u64) + Sync)) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Sets a flag that ends the work with [`TreeError::Cancelled`] once it is true. A wait for a pipe, a terminal or
    /// another stream that is an [`Input::File`] ends within a tenth of a second. A read that hangs in the system, or
    /// in an [`Input::Stream`], does not end: the work stops after it.
    pub fn cancel(mut self, cancel: &'a AtomicBool) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Sets whether files that are in memory are mapped and hashed there, without a copy. The option works on 64-bit
    /// Linux with one thread or two, for parts of up to 16 KiB; elsewhere it changes nothing.
    ///
    /// The option installs a handler for SIGBUS, once and for the whole process: see
    /// [`torrent::Options::mapped_with_sigbus_handler`](crate::torrent::Options::mapped_with_sigbus_handler).
    pub fn mapped_with_sigbus_handler(mut self, mapped: bool) -> Self {
        self.mapped = mapped;
        self
    }

    fn effort(&self) -> Effort<'a> {
        let threads = self.threads.or_else(|| std::thread::available_parallelism().ok());
        Effort {
            nthreads: threads.map_or(1, NonZeroUsize::get),
            is_mapped: self.mapped,
            progress: self.progress,
            cancel: self.cancel,
        }
    }
}

/// The data to hash.
///
/// Several threads read a regular file or a block device from its beginning, whatever its position. One thread reads
/// the remaining bytes of anything else, such as a pipe.
///
/// ```
/// use hashloom_engine::tree::{Input, Options, glacier};
///
/// let mut stream = &b"abc"[..];
/// let root = glacier::tree_hash(Input::Stream(&mut stream), &Options::default())?;
/// assert_eq!(root, hashloom::hash(hashloom::Algorithm::Sha256, b"abc"));
/// # Ok::<(), hashloom_engine::tree::TreeError>(())
/// ```
pub enum Input<'a> {
    /// A file.
    File(&'a File),
    /// Any reader, read to its end.
    Stream(&'a mut dyn Read),
}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Input::File(_) => "Input::File",
            Input::Stream(_) => "Input::Stream",
        })
    }
}

impl<'a> From<&'a File> for Input<'a> {
    fn from(file: &'a File) -> Input<'a> {
        Input::File(file)
    }
}

impl<'a> From<&'a mut dyn Read> for Input<'a> {
    fn from(stream: &'a mut dyn Read) -> Input<'a> {
        Input::Stream(stream)
    }
}

impl Input<'_> {
    /// Hashes the whole input. Returns its length in bytes.
    fn hash(self, leaves: &Leaves, options: &Options<'_>, take: Take<'_>) -> Result<u64, TreeError> {
        match self {
            Input::Stream(stream) => Ok(leaves.hash_stream(stream, &options.effort(), take)?),
            Input::File(file) => match length(file)? {
                Some(nbytes) => hash_range(file, 0..nbytes, leaves, options, take),
                None => Ok(leaves.hash_stream(&mut Patient(file), &options.effort(), take)?),
            },
        }
    }
}

/// Hashes a part of a file that can be read anywhere. Returns its length.
fn hash_range(
    file: &File,
    range: Range<u64>,
    leaves: &Leaves,
    options: &Options<'_>,
    take: Take<'_>,
) -> Result<u64, TreeError> {
    let nbytes = range.end - range.start;
    let before = Stamp::before_reading(file).map_err(|error| TreeError::Read { offset: 0, error })?;
    // Block devices have no such stamp.
    let before = match before {
        Some(stamp) => stamp,
        None => Stamp::of(&metadata(file)?),
    };
    leaves.hash_file(file, range, &options.effort(), take)?;
    if Stamp::of(&metadata(file)?) != before {
        return Err(TreeError::Changed);
    }
    Ok(nbytes)
}

fn metadata(file: &File) -> Result<Metadata, TreeError> {
    file.metadata().map_err(|error| TreeError::Read { offset: 0, error })
}

/// The length of a file that can be read at any offset; `None` for a pipe and the like. A file of length 0 may be one
/// that the system makes while it is read, like those in /proc.
fn length(file: &File) -> Result<Option<u64>, TreeError> {
    let metadata = metadata(file)?;
    if metadata.is_file() {
        return Ok(Some(metadata.len()).filter(|&nbytes| nbytes > 0));
    }
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_block_device(&metadata.file_type()) {
        let end = std::io::Seek::seek(&mut &*file, std::io::SeekFrom::End(0));
        return end.map(Some).map_err(|error| TreeError::Read { offset: 0, error });
    }
    Ok(None)
}
