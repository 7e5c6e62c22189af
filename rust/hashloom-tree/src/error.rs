// SPDX-License-Identifier: MIT OR Apache-2.0

//! Why there is no root.

use std::fmt;
use std::io;
use std::ops::RangeInclusive;

use hashloom::Algorithm;
use hashloom_files::text::reason;

use super::leaves::Failure;

/// Why there is no root. The error does not name the file: the caller knows it.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_tree::fsverity::FsVerity;
/// use hashloom_tree::{Block, HashFileFault, ParameterFault, TreeError};
///
/// let error = FsVerity::new(Algorithm::Sha256).block_size(1000).unwrap_err();
/// assert!(matches!(error, TreeError::Parameter(ParameterFault::BlockSize { nbytes: 1000, .. })));
/// assert_eq!(error.to_string(), "block size: expected a power of two from 1024 to 65536, found 1000");
/// let faults = [Block::Hash.to_string(), HashFileFault::Version(2).to_string()];
/// assert_eq!(faults, ["hash block", "version of the superblock: expected 1, found 2"]);
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum TreeError {
    /// The format does not allow a parameter.
    Parameter(ParameterFault),
    /// The data is shorter than the blocks that the tree shall cover.
    TooShort {
        /// The length of the data.
        nbytes: u64,
        /// Number of blocks to cover.
        nblocks: u64,
        /// The length of a block.
        block_nbytes: usize,
    },
    /// The file cannot be opened.
    Open(io::Error),
    /// The input cannot be read.
    Read {
        /// The failing byte is this one, or up to 256 KiB after it.
        offset: u64,
        /// The system's error.
        error: io::Error,
    },
    /// The file changed while it was read: its length, its content or its attributes.
    Changed,
    /// The output cannot be written.
    Write(io::Error),
    /// A hash file is damaged or of another kind.
    HashFile(HashFileFault),
    /// [`Cancel::cancel`](hashloom_files::run::Cancel::cancel) was called.
    Cancelled,
}

/// A parameter that the format of a tree does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterFault {
    /// The format has no trees of this algorithm.
    Algorithm {
        /// The algorithm given.
        algorithm: Algorithm,
        /// The algorithms that the format has.
        allowed: &'static [Algorithm],
    },
    /// Linux does not have this algorithm.
    NotInKernel(Algorithm),
    /// The length of a block is out of range, or not a power of two.
    BlockSize {
        /// The kind of block.
        block: Block,
        /// The length given.
        nbytes: usize,
        /// The least and the greatest length.
        allowed: RangeInclusive<usize>,
    },
    /// An entry would have no bytes.
    EmptyEntries,
    /// S3 has no parts of this length.
    PartSize {
        /// The length given.
        nbytes: u64,
    },
    /// The input has too many parts of this length.
    TooManyParts {
        /// The length of a part.
        part_nbytes: u64,
        /// The greatest number of parts.
        most: u64,
    },
    /// This is not the ETag of an upload in parts.
    Etag,
    /// The salt is too long.
    SaltTooLong {
        /// The length given.
        nbytes: usize,
        /// The greatest length.
        most: usize,
    },
    /// The hash file cannot begin here.
    HashOffset {
        /// The offset given.
        offset: u64,
        /// The offset must be a multiple of this number.
        multiple: u64,
    },
    /// The root hash has another length than a digest.
    RootHash {
        /// The length given.
        nbytes: usize,
        /// The algorithm of the tree.
        algorithm: Algorithm,
    },
    /// The blocks of a tree can only be written if the length of the input is known before the input is read.
    Stream,
}

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Block {
    /// A block of fs-verity, which has data and digests in blocks of one length.
    Any,
    /// A block of data.
    Data,
    /// A block of digests.
    Hash,
}

/// The fault of a hash file.
#[derive(Debug)]
#[non_exhaustive]
pub enum HashFileFault {
    /// The file ends before or inside of the superblock.
    NoSuperblock {
        /// The offset of the superblock.
        offset: u64,
        /// Number of bytes from the offset to the end of the file.
        nbytes: usize,
    },
    /// There is something else in place of a superblock.
    Signature {
        /// The offset of the superblock.
        offset: u64,
        /// The first bytes there.
        found: [u8; 8],
    },
    /// The superblock has this version, which is not 1.
    Version(u32),
    /// The superblock has this hash type, which is neither 0 nor 1.
    HashType(u32),
    /// The superblock names an algorithm that is not known.
    Algorithm(Vec<u8>),
    /// The superblock has a salt of this length, which is too long.
    SaltTooLong {
        /// The length of the salt.
        nbytes: usize,
        /// The greatest length.
        most: usize,
    },
    /// The superblock counts no blocks of data.
    NoBlocks,
    /// The file ends before the last block of the tree.
    TooShort {
        /// Number of blocks of the tree.
        nblocks: u64,
        /// The length of a block.
        block_nbytes: u64,
        /// The offset of the first block.
        offset: u64,
        /// The length of the file.
        nbytes: u64,
    },
    /// The digests could be read when the check began, but not later.
    Lost(io::Error),
    /// Somebody wrote to the file while it was read.
    Changed,
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TreeError::Parameter(fault) => fault.fmt(f),
            TreeError::TooShort { nbytes, nblocks, block_nbytes } => write!(
                f,
                "data: expected a file or device of {nblocks} blocks of {block_nbytes} bytes at least, \
                 found {nbytes} bytes"
            ),
            TreeError::Open(error) => reason(error).fmt(f),
            TreeError::Read { offset, error } => write!(f, "cannot be read from byte {offset} on: {}", reason(error)),
            TreeError::Changed => f.write_str("changed while it was read; run again when nothing writes to it"),
            TreeError::Write(error) => write!(f, "cannot be written: {}", reason(error)),
            TreeError::HashFile(fault) => fault.fmt(f),
            TreeError::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl fmt::Display for ParameterFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterFault::Algorithm { algorithm, allowed } => {
                let names: Vec<&str> = allowed.iter().map(|algorithm| algorithm.name()).collect();
                write!(f, "algorithm: expected {}, found {algorithm}", names.join(" or "))
            }
            ParameterFault::NotInKernel(algorithm) => {
                write!(f, "algorithm: expected one that the kernel has, such as sha256 or sha512, found {algorithm}")
            }
            ParameterFault::BlockSize { block, nbytes, allowed } => {
                let (least, most) = (allowed.start(), allowed.end());
                write!(f, "{block} size: expected a power of two from {least} to {most}, found {nbytes}")
            }
            ParameterFault::EmptyEntries => f.write_str("block size: expected at least 1, found 0"),
            ParameterFault::PartSize { nbytes } => {
                write!(f, "part size: expected 5 MiB to 5 GiB, found {nbytes} bytes")
            }
            ParameterFault::TooManyParts { part_nbytes, most } => {
                write!(f, "part size: expected parts so long that there are at most {most}, found {part_nbytes} bytes")
            }
            ParameterFault::Etag => f.write_str(
                "ETag: expected 32 hexadecimal digits, a minus sign and the number of parts, 1 to 10000; an ETag \
                without a minus sign is the MD5, or not of the content",
            ),
            ParameterFault::SaltTooLong { nbytes, most } => {
                write!(f, "salt: expected up to {most} bytes, found {nbytes} bytes")
            }
            ParameterFault::HashOffset { offset, multiple } => {
                write!(f, "hash offset: expected a multiple of {multiple}, found {offset}")
            }
            ParameterFault::RootHash { nbytes, algorithm } => {
                let expected = algorithm.digest_nbytes();
                write!(f, "root hash: expected {expected} bytes, the digest of {algorithm}, found {nbytes} bytes")
            }
            ParameterFault::Stream => {
                f.write_str("input: expected a file, whose length is known before it is read, found a stream")
            }
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Block::Any => "block",
            Block::Data => "data block",
            Block::Hash => "hash block",
        })
    }
}

impl fmt::Display for HashFileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HashFileFault::NoSuperblock { offset, nbytes } => {
                write!(f, "superblock: expected 512 bytes at byte {offset}, found {nbytes}")
            }
            HashFileFault::Signature { offset, found } => {
                let found = String::from_utf8_lossy(found);
                write!(f, "superblock: expected \"verity\" at byte {offset}, found \"{}\"", found.escape_debug())
            }
            HashFileFault::Version(found) => write!(f, "version of the superblock: expected 1, found {found}"),
            HashFileFault::HashType(found) => write!(f, "hash type of the superblock: expected 0 or 1, found {found}"),
            HashFileFault::Algorithm(found) => write!(
                f,
                "algorithm of the superblock: expected sha1, sha256, sha512 or another known one, found \"{}\"",
                String::from_utf8_lossy(found).escape_debug()
            ),
            HashFileFault::SaltTooLong { nbytes, most } => {
                write!(f, "salt of the superblock: expected up to {most} bytes, found {nbytes}")
            }
            HashFileFault::NoBlocks => f.write_str("data blocks of the superblock: expected one at least, found 0"),
            HashFileFault::TooShort { nblocks, block_nbytes, offset, nbytes } => write!(
                f,
                "hash file: expected {nblocks} blocks of {block_nbytes} bytes from byte {offset} on, \
                 found {nbytes} bytes"
            ),
            HashFileFault::Changed => TreeError::Changed.fmt(f),
            HashFileFault::Lost(error) => {
                write!(f, "hash file: expected what was there when the check began, found {}", reason(error))
            }
        }
    }
}

impl std::error::Error for TreeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TreeError::Open(error)
            | TreeError::Read { error, .. }
            | TreeError::Write(error)
            | TreeError::HashFile(HashFileFault::Lost(error)) => Some(error),
            _ => None,
        }
    }
}

impl From<ParameterFault> for TreeError {
    fn from(fault: ParameterFault) -> TreeError {
        TreeError::Parameter(fault)
    }
}

impl From<HashFileFault> for TreeError {
    fn from(fault: HashFileFault) -> TreeError {
        TreeError::HashFile(fault)
    }
}

impl From<Failure> for TreeError {
    fn from(failure: Failure) -> TreeError {
        match failure {
            Failure::Read { offset, error } => TreeError::Read { offset, error },
            Failure::Short => TreeError::Changed,
            Failure::Taker(error) => TreeError::Write(error),
            Failure::Cancelled => TreeError::Cancelled,
        }
    }
}
