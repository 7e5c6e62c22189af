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
use std::ops::Range;

use crate::merkle::leaves::{Leaves, Take};
use crate::read::stamp::Stamp;
use crate::read::stream::Patient;
use crate::run::Options;

pub use error::{Block, HashFileFault, ParameterFault, TreeError};

/// The input of a tree.
///
/// Several threads read a regular file or a block device from its beginning, whatever its position. One thread reads
/// the remaining bytes of anything else, such as a pipe.
///
/// ```
/// use hashloom_engine::run::Options;
/// use hashloom_engine::tree::{Input, glacier};
///
/// let mut stream = &b"abc"[..];
/// let root = glacier::tree_hash(Input::Stream(&mut stream), &Options::new())?;
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
    fn hash(self, leaves: &Leaves, options: &Options, take: Take<'_>) -> Result<u64, TreeError> {
        match self {
            Input::Stream(stream) => Ok(leaves.hash_stream(stream, options, take)?),
            Input::File(file) => match length(file)? {
                Some(nbytes) => hash_range(file, 0..nbytes, leaves, options, take),
                None => Ok(leaves.hash_stream(&mut Patient(file), options, take)?),
            },
        }
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
    let before = Stamp::before_reading(file).map_err(|error| TreeError::Read { offset: 0, error })?;
    // Block devices have no such stamp.
    let before = match before {
        Some(stamp) => stamp,
        None => Stamp::of(&metadata(file)?),
    };
    leaves.hash_file(file, range, options, take)?;
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
