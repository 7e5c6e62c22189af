// SPDX-License-Identifier: MIT OR Apache-2.0

//! Why a torrent cannot be used.

use std::fmt;

use super::MAX_PIECE_NBYTES;
use super::paths::{BadComponent, quoted};
use crate::bencode::{self, Kind};

/// Why a file is not a torrent that can be verified: what is wrong, at which key, at which byte.
///
/// ```
/// use hashloom::torrent::{Problem, Torrent};
///
/// let error = Torrent::parse(b"d4:infod4:name1:a12:piece lengthi0e6:pieces0:6:lengthi0eee").unwrap_err();
/// assert_eq!(error.to_string(), "info.piece length, byte 32: must be at least 1, found 0");
/// assert!(matches!(error.problem, Problem::PieceLengthNotPositive { .. }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub problem: Problem,
    /// The key that it concerns, such as `info.files[3].length`; empty for the file as a whole.
    pub key: String,
    /// Offset of that key's value in the file; of the dictionary that lacks it, if it is missing.
    pub offset: usize,
}

/// What is wrong with a torrent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Not bencode.
    Bencode(bencode::Error),
    /// A required key is not there.
    Missing,
    /// A value of another kind than the key has.
    WrongKind {
        /// The kind that the key has.
        expected: Kind,
        /// What stands there.
        found: Kind,
    },
    /// A torrent of a later version of the format, which this version of hashloom does not verify yet.
    NotYet {
        /// `"v2"` or `"hybrid (v1 and v2)"`.
        version: &'static str,
    },
    /// A `meta version` that no standard describes.
    UnknownVersion {
        /// The version.
        found: String,
    },
    /// An integer that does not fit 64 bits.
    IntegerOverflow {
        /// Its digits.
        found: String,
    },
    /// `piece length` is zero or negative.
    PieceLengthNotPositive {
        /// Its value.
        found: i64,
    },
    /// `piece length` is more than [`MAX_PIECE_NBYTES`].
    PieceLengthTooLarge {
        /// Its value.
        found: i64,
    },
    /// The length of `pieces` is not a multiple of 20, a SHA-1 digest's length.
    PiecesNotWhole {
        /// Its length.
        nbytes: usize,
    },
    /// `pieces` has another number of digests than the files have pieces.
    PieceCount {
        /// Pieces of the files.
        expected: u64,
        /// Digests.
        found: u64,
        /// Length of all files together.
        total_nbytes: u64,
        /// Length of a piece.
        piece_nbytes: u64,
    },
    /// A negative length of a file.
    NegativeLength {
        /// Its value.
        found: i64,
    },
    /// The lengths of the files sum to more than 2^63 - 1.
    TotalOverflow,
    /// `files` is an empty list.
    NoFiles,
    /// `path` is an empty list.
    EmptyPath,
    /// A component of a path that must not be used.
    BadComponent {
        /// The component.
        component: Vec<u8>,
        /// The path, its components joined by `/`.
        path: Vec<u8>,
        /// Why not.
        why: BadComponent,
    },
    /// Two files of the same path.
    SamePath {
        /// The path.
        path: Vec<u8>,
        /// Index in `files` of the earlier one.
        other: usize,
    },
    /// A file that lies in another file.
    InsideFile {
        /// The path of the inner one.
        path: Vec<u8>,
        /// The path of the other one.
        other_path: Vec<u8>,
        /// Index in `files` of the other one.
        other: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Problem::Bencode(error) = &self.problem {
            return write!(f, "not a torrent: {error}");
        }
        match self.key.as_str() {
            "" => write!(f, "byte {}: {}", self.offset, self.problem),
            key => write!(f, "{key}, byte {}: {}", self.offset, self.problem),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Bencode(error) => error.fmt(f),
            Problem::Missing => write!(f, "this key is missing"),
            Problem::WrongKind { expected, found } => write!(f, "expected {expected}, found {found}"),
            Problem::NotYet { version } => write!(
                f,
                "this is a {version} torrent (BEP 52). hashloom {} does not verify these yet, only v1",
                env!("CARGO_PKG_VERSION")
            ),
            Problem::UnknownVersion { found } => {
                write!(f, "version {found} of the torrent format is unknown, known are 1 and 2")
            }
            Problem::IntegerOverflow { found } => {
                write!(f, "the integer {} does not fit 64 bits", quoted(found.as_bytes()))
            }
            Problem::PieceLengthNotPositive { found } => write!(f, "must be at least 1, found {found}"),
            Problem::PieceLengthTooLarge { found } => {
                write!(f, "must be at most {MAX_PIECE_NBYTES} (no client can ask for more), found {found}")
            }
            Problem::PiecesNotWhole { nbytes } => {
                write!(f, "must be a whole number of 20-byte SHA-1 digests, found {nbytes} bytes")
            }
            Problem::PieceCount { expected, found, total_nbytes, piece_nbytes } => write!(
                f,
                "files of {total_nbytes} bytes in pieces of {piece_nbytes} need {expected} digests, found {found}"
            ),
            Problem::NegativeLength { found } => write!(f, "must be at least 0, found {found}"),
            Problem::TotalOverflow => write!(f, "with this file the lengths of all files sum to 2^63 or more"),
            Problem::NoFiles => write!(f, "the list of files is empty"),
            Problem::EmptyPath => write!(f, "the path names no file"),
            Problem::BadComponent { component, path, why } if component == path => {
                write!(f, "the name {} {why}", quoted(component))
            }
            Problem::BadComponent { component, path, why } => {
                write!(f, "in the path {} the component {} {why}", quoted(path), quoted(component))
            }
            Problem::SamePath { path, other } => {
                write!(f, "the path {} is also that of info.files[{other}]", quoted(path))
            }
            Problem::InsideFile { path, other_path, other } => {
                write!(
                    f,
                    "{} lies inside {}, which info.files[{other}] says is a file",
                    quoted(path),
                    quoted(other_path)
                )
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Bencode(error) => Some(error),
            _ => None,
        }
    }
}
