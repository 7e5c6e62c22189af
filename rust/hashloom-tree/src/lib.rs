// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]
//!
//! All trees follow one scheme: a file is cut into parts, each part is hashed together with some fixed bytes, and the
//! digests are hashed together in groups until one is left.
//!
//! | tree | purpose |
//! |---|---|
//! | [`fsverity`] | the digest under which Linux seals a file (ext4, f2fs, btrfs; Android's packages) |
//! | [`dmverity`] | the root hash and hash file of a read-only block device (Android, ChromeOS, systemd images) |
//! | [`rfc6962`] | transparency logs: roots, proofs of inclusion and of consistency |
//! | [`s3`] | the checksums and the ETag of an upload to Amazon S3 |
//! | [`cid`] | the CID of a file in IPFS |
//! | [`commp`] | the piece commitment of Filecoin |
//! | [`bep52`] | the `pieces root` of a file in a v2 torrent |
//!
//! A tree takes a [`Source`]: a path, an open file, a reader, memory, or standard input. Memory does not grow with the
//! length of the input. A file that changes while it is read is an error: the result would be the root of content that
//! never existed.
#![deny(missing_docs, unsafe_code)]

pub mod bep52;
mod blocks;
pub mod cid;
#[cfg(feature = "command")]
#[doc(hidden)]
pub mod command;
pub mod commp;
pub mod dmverity;
mod error;
pub mod fsverity;
mod leaves;
mod levels;
pub mod rfc6962;
pub mod s3;
mod windows;

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::leaves::{Failure, Take, hash_file, hash_memory, hash_stream};
use crate::windows::each_window;

pub use error::{Block, HashFileFault, ParameterFault, TreeError};
use hashloom_files::lanes::Leaves;
use hashloom_files::read::open::read_at_once;
use hashloom_files::read::stamp::Stamp;
use hashloom_files::read::stream;
use hashloom_files::run::Options;
use hashloom_files::{Source, read_from, stdin};

/// An opened [`Source`].
///
/// Several threads read memory, a regular file or a block device. One thread reads the remaining bytes of anything
/// else, such as a pipe.
enum Input {
    /// A file that can be read at any offset, its length, and whether the file is standard input.
    File(Arc<File>, u64, bool),
    Memory(Arc<dyn AsRef<[u8]> + Send + Sync>),
    Stream(Box<dyn Read + Send>),
}

impl Input {
    fn open(source: Source) -> Result<Input, TreeError> {
        match source {
            Source::Path(path) => Input::of_file(Arc::new(stream::open(&path).map_err(TreeError::Open)?.0)),
            Source::File(file) => Input::of_file(file),
            Source::Reader(reader) => Ok(Input::Stream(Box::new(Checked(reader)))),
            Source::Memory(bytes) => Ok(Input::Memory(bytes)),
            Source::Stdin => Input::of_stdin(stdin().map_err(|error| TreeError::Read { offset: 0, error })?),
        }
    }

    fn of_file(file: Arc<File>) -> Result<Input, TreeError> {
        Ok(match length(&file)? {
            Some(nbytes) => Input::File(file, nbytes, false),
            // The file may be one of /proc, which has another length than it says, and can be read at any offset.
            None if metadata(&file)?.is_file() => Input::Stream(Box::new(ReadFrom(file, 0))),
            None => Input::Stream(Box::new(Patient(file))),
        })
    }

    #[cfg(unix)]
    fn of_stdin(stdin: io::Stdin) -> Result<Input, TreeError> {
        use std::os::fd::AsFd;
        let Ok(file) = stdin.as_fd().try_clone_to_owned().map(File::from) else {
            return Ok(Input::Stream(Box::new(stdin)));
        };
        // A shell may have read a part of the file.
        let is_at_start = (&file).stream_position().is_ok_and(|position| position == 0);
        let nbytes = if is_at_start { length(&file)? } else { None };
        let file = Arc::new(file);
        Ok(match nbytes {
            Some(nbytes) => Input::File(file, nbytes, true),
            None => Input::Stream(Box::new(Patient(file))),
        })
    }

    #[cfg(not(unix))]
    fn of_stdin(stdin: io::Stdin) -> Result<Input, TreeError> {
        Ok(Input::Stream(Box::new(stdin)))
    }

    /// The length, if it is known before all is read.
    fn nbytes(&self) -> Option<u64> {
        match self {
            Input::File(_, nbytes, _) => Some(*nbytes),
            Input::Memory(bytes) => Some((**bytes).as_ref().len() as u64),
            Input::Stream(_) => None,
        }
    }

    /// Hashes the whole input. Returns its length in bytes.
    fn hash(self, leaves: &Leaves, options: &Options, take: Take<'_>) -> Result<u64, TreeError> {
        match self {
            Input::Stream(mut stream) => Ok(hash_stream(leaves, &mut stream, options, take)?),
            Input::Memory(bytes) => {
                let bytes = (*bytes).as_ref();
                hash_memory(leaves, bytes, options, take)?;
                Ok(bytes.len() as u64)
            }
            Input::File(file, nbytes, is_stdin) => {
                let hashed = hash_range(&file, 0..nbytes, leaves, options, take);
                leave(&file, is_stdin);
                hashed
            }
        }
    }

    /// Calls `work` and `take` for all windows: see [`each_window`]. Returns the length in bytes.
    fn windows<R: Send>(
        self,
        window_nbytes: usize,
        options: &Options,
        work: impl Fn(u64, &[u8]) -> R + Sync,
        take: impl FnMut(R) + Send,
    ) -> Result<u64, TreeError> {
        let known_nbytes = self.nbytes();
        match self {
            Input::Stream(mut stream) => Ok(each_window(&mut stream, None, window_nbytes, options, work, take)?),
            Input::Memory(bytes) => {
                let mut bytes = (*bytes).as_ref();
                Ok(each_window(&mut bytes, known_nbytes, window_nbytes, options, work, take)?)
            }
            Input::File(file, nbytes, is_stdin) => {
                let read = unchanged(&file, || {
                    let mut bytes = ReadFrom(&*file, 0).take(nbytes);
                    match each_window(&mut bytes, known_nbytes, window_nbytes, options, work, take)? {
                        read if read < nbytes => Err(Failure::Short),
                        read => Ok(read),
                    }
                });
                leave(&file, is_stdin);
                read
            }
        }
    }
}

/// Leaves the position of standard input at the end, as reading does, for later readers: this program or another one.
fn leave(mut file: &File, is_stdin: bool) {
    if is_stdin {
        let _ = file.seek(SeekFrom::End(0));
    }
}

/// A reader of the caller, which need not keep the rules of [`Read`].
struct Checked(Box<dyn Read + Send>);

impl Read for Checked {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        read_from(&mut self.0, into)
    }
}

/// A reader that waits in short steps: after a short while without data, `read` returns `Interrupted`.
struct Patient(Arc<File>);

impl Read for Patient {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let interrupted = io::ErrorKind::Interrupted;
        if !stream::is_ready(&*self.0, true) {
            return Err(interrupted.into());
        }
        match (&*self.0).read(into) {
            // Another reader has taken the data.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(interrupted.into()),
            other => other,
        }
    }
}

/// Reads a file from an offset on, wherever its position is.
struct ReadFrom<F>(F, u64);

impl<F: Deref<Target = File>> Read for ReadFrom<F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let nbytes = read_at_once(&self.0, into, self.1)?;
        self.1 += nbytes as u64;
        Ok(nbytes)
    }
}

/// Hashes a part of a file that can be read anywhere. Returns its length.
fn hash_range(
    file: &File,
    range: Range<u64>,
    leaves: &Leaves,
    options: &Options,
    take: Take<'_>,
) -> Result<u64, TreeError> {
    let nbytes = range.end - range.start;
    unchanged(file, || hash_file(leaves, file, range, options, take))?;
    Ok(nbytes)
}

/// Calls `read`; it is an error if the file changes meanwhile.
fn unchanged<R, E: Into<TreeError>>(file: &File, read: impl FnOnce() -> Result<R, E>) -> Result<R, TreeError> {
    // Block devices have no stamp.
    let before = Stamp::before_reading(file).map_err(not_looked_at)?;
    let found = read().map_err(E::into)?;
    if Stamp::of_file(file).map_err(not_looked_at)? != before {
        return Err(TreeError::Changed);
    }
    Ok(found)
}

fn metadata(file: &File) -> Result<Metadata, TreeError> {
    file.metadata().map_err(not_looked_at)
}

fn not_looked_at(error: io::Error) -> TreeError {
    TreeError::Read { offset: 0, error }
}

/// The length of a file that can be read at any offset; `None` for a pipe and the like. A file of length 0 may be one
/// that the system makes while it is read, like those in /proc.
fn length(file: &File) -> Result<Option<u64>, TreeError> {
    let metadata = metadata(file)?;
    if metadata.is_file() {
        return Ok(Some(metadata.len()).filter(|&nbytes| nbytes > 0));
    }
    if metadata.is_dir() || stream::is_stream(&metadata) {
        return Ok(None);
    }
    // A block device.
    let end = (&*file).seek(SeekFrom::End(0));
    end.map(Some).map_err(|error| TreeError::Read { offset: 0, error })
}
