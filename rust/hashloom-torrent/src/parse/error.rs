// SPDX-License-Identifier: MIT OR Apache-2.0

//! Why a torrent cannot be used.

use std::fmt;
use std::io;
use std::path::PathBuf;

use hashloom_files::paths::BadComponent;
use hashloom_files::text::{quoted, reason};

use super::MAX_PIECE_NBYTES;
use crate::bencode::{self, ErrorKind, Kind};

/// Why a file is not a torrent that can be verified: the fault, the key and the byte.
///
/// ```
/// use hashloom_torrent::{Problem, Torrent};
///
/// let error = Torrent::parse(b"d4:infod4:name1:a12:piece lengthi0e6:pieces0:6:lengthi0eee").unwrap_err();
/// assert_eq!(error.to_string(), "info.piece length, byte 32: must be at least 1, found 0");
/// assert!(matches!(error.problem, Problem::PieceLengthNotPositive { .. }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The fault.
    pub problem: Problem,
    /// The key concerned, such as `info.files[3].length` or `info.file tree["a/b"].length`; empty for the file as a
    /// whole. The key is safe to print.
    pub key: String,
    /// Offset of that key's value in the file; if the key is missing, offset of the dictionary that lacks it.
    pub offset: usize,
}

/// Why a `.torrent` file cannot be used: see [`Torrent::open`](super::Torrent::open).
///
/// ```
/// use hashloom_torrent::{OpenError, OpenProblem, Torrent};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.torrent");
/// let error: OpenError = Torrent::open(&path).unwrap_err();
/// assert!(error.path == path && matches!(error.problem, OpenProblem::Io(_)));
/// std::fs::write(&path, "<html>")?;
/// assert!(Torrent::open(&path).unwrap_err().to_string().contains("a.torrent: "));
/// std::fs::write(&path, "d4:infod6:lengthi0e4:name1:a12:piece lengthi16384e6:pieces0:ee")?;
/// assert_eq!(Torrent::open(&path)?.name(), b"a");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct OpenError {
    /// The path that was given.
    pub path: PathBuf,
    /// The fault.
    pub problem: OpenProblem,
}

/// The fault of a `.torrent` file.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenProblem {
    /// The file cannot be read.
    Io(io::Error),
    /// The path leads to a folder, a pipe or a device.
    NotAFile,
    /// The file is not a torrent that can be verified.
    Torrent(Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", hashloom_files::paths::display(&self.path))?;
        match &self.problem {
            OpenProblem::Io(error) => reason(error).fmt(f),
            OpenProblem::NotAFile => f.write_str("expected a .torrent file, found a folder, pipe or device"),
            OpenProblem::Torrent(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

/// A fault of a torrent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Not bencode.
    Bencode(bencode::Error),
    /// A required key is missing.
    Missing {
        /// The value that the key must have.
        expected: &'static str,
    },
    /// A value has another kind than its key requires.
    WrongKind {
        /// The required kind.
        expected: Kind,
        /// The kind found.
        found: Kind,
    },
    /// No standard describes this `meta version`.
    UnknownVersion {
        /// The version.
        found: String,
    },
    /// An integer does not fit 64 bits.
    IntegerOverflow {
        /// The integer's digits.
        found: String,
    },
    /// `piece length` is zero or negative.
    PieceLengthNotPositive {
        /// The key's value.
        found: i64,
    },
    /// `piece length` is more than 2^32.
    PieceLengthTooLarge {
        /// The key's value.
        found: i64,
    },
    /// `piece length` is not what BEP 52 requires in v2 and hybrid torrents: a power of two, at least 16 KiB.
    PieceLengthNotV2 {
        /// The key's value.
        found: i64,
    },
    /// The length of `pieces` is not a multiple of 20, the length of a SHA-1 digest.
    PiecesNotWhole {
        /// Number of bytes in the input.
        nbytes: usize,
    },
    /// The number of digests in `pieces` differs from the number of pieces of the files.
    PieceCount {
        /// Number of pieces of the files.
        expected: u64,
        /// Number of digests.
        found: u64,
        /// Total length of all files.
        total_nbytes: u64,
        /// Length of a piece.
        piece_nbytes: u64,
    },
    /// The length of a file is negative.
    NegativeLength {
        /// The key's value.
        found: i64,
    },
    /// The lengths of the files sum to more than 2^63 - 1.
    TotalOverflow,
    /// `files` is an empty list.
    NoFiles,
    /// `path` is an empty list.
    EmptyPath,
    /// A path has a component that must not be used.
    BadComponent {
        /// The component.
        component: Vec<u8>,
        /// The path, its components joined by `/`.
        path: Vec<u8>,
        /// The reason.
        why: BadComponent,
    },
    /// Two files have the same path.
    SamePath {
        /// The path.
        path: Vec<u8>,
        /// Index of the earlier file in `files`.
        other: usize,
    },
    /// A file lies inside another file.
    InsideFile {
        /// The path of the inner file.
        path: Vec<u8>,
        /// The path of the outer file.
        other_path: Vec<u8>,
        /// Index of the outer file in `files`.
        other: usize,
    },
    /// The file tree has a path twice.
    TwiceInTree {
        /// The path, of a file or folder.
        path: Vec<u8>,
    },
    /// The file tree has a path as a file and as a folder with files in it.
    FileAndFolder {
        /// The path.
        path: Vec<u8>,
    },
    /// The file tree has a padding file, which makes sense only in the list of v1, `files`.
    PaddingInTree,
    /// `pieces root` is not 32 bytes, the length of a SHA-256 digest.
    RootNotWhole {
        /// Number of bytes in the input.
        nbytes: usize,
    },
    /// The torrent is one of BEP 30: `root hash` in place of `pieces`.
    MerkleV1,
    /// `piece layers` has no layer for the root of a file that is longer than a piece.
    LayerMissing {
        /// The file's path.
        path: Vec<u8>,
    },
    /// The number of digests in a layer differs from the number of pieces of its file.
    LayerLength {
        /// The file's path.
        path: Vec<u8>,
        /// Length of the layer in bytes.
        nbytes: usize,
        /// Number of pieces of the file; each needs 32 bytes.
        pieces: u64,
    },
    /// The digests of a layer do not lead to the `pieces root` that the layer is given for.
    LayerRoot {
        /// The file's path.
        path: Vec<u8>,
    },
    /// The paths, or the roots of the pieces, would take far more memory than the torrent: many files can share the
    /// name of a folder or a layer. The limit is 16 MiB or 8 times the torrent's length, whichever is more.
    Expansion {
        /// The thing that takes the memory.
        what: &'static str,
        /// The limit in bytes.
        most_nbytes: u64,
    },
    /// The two halves of a hybrid torrent do not describe the same files.
    Hybrid(HybridDifference),
}

/// A difference between the two halves of a hybrid torrent: `files` or `length` of v1, `file tree` of v2.
///
/// ```
/// use hashloom_torrent::{HybridDifference, Problem};
///
/// let problem = Problem::Hybrid(HybridDifference::PieceCount { v1: 3, v2: 4 });
/// assert_eq!(problem.to_string(), "the v1 and v2 halves disagree: v1 has 3 pieces, v2 has 4");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HybridDifference {
    /// One half has a file, padding not counted, where the other half has another file or none.
    File {
        /// The path in v1.
        v1: Option<Vec<u8>>,
        /// The path in v2.
        v2: Option<Vec<u8>>,
    },
    /// The halves give a file different lengths.
    Length {
        /// The file's path.
        path: Vec<u8>,
        /// Its length in v1.
        v1: u64,
        /// Its length in v2.
        v2: u64,
    },
    /// A file is a symbolic link in one half only, or its targets differ.
    Symlink {
        /// The file's path.
        path: Vec<u8>,
    },
    /// A file begins at another byte in v1 than in v2.
    Offset {
        /// The file's path.
        path: Vec<u8>,
        /// Offset of the file's first byte in v1.
        v1: u64,
        /// Offset of the file's first byte in v2.
        v2: u64,
    },
    /// The halves have different numbers of pieces.
    PieceCount {
        /// Pieces of v1.
        v1: u64,
        /// Pieces of v2.
        v2: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::Bencode(error) => return not_bencode(f, error),
            Problem::WrongKind { .. } if self.key.is_empty() => f.write_str("not a torrent: ")?,
            _ => {}
        }
        match self.key.as_str() {
            "" => write!(f, "byte {}: {}", self.offset, self.problem),
            key => write!(f, "{key}, byte {}: {}", self.offset, self.problem),
        }
    }
}

fn not_bencode(f: &mut fmt::Formatter<'_>, error: &bencode::Error) -> fmt::Result {
    f.write_str("not a torrent: ")?;
    let expected = "a dictionary, which begins with 'd'";
    match error.kind {
        ErrorKind::Truncated { .. } if error.offset == 0 => write!(f, "the file is empty; expected {expected}"),
        ErrorKind::Unexpected { found, .. } if error.offset == 0 => {
            write!(f, "{}", bencode::Error::new(0, ErrorKind::Unexpected { expected, found }))
        }
        ErrorKind::Truncated { .. } | ErrorKind::StringTooLong { .. } => {
            write!(f, "{error}; the file is cut short or damaged: get it again")
        }
        _ => write!(f, "{error}"),
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Bencode(error) => error.fmt(f),
            Problem::Missing { expected } => write!(f, "this key is missing; expected {expected}"),
            Problem::WrongKind { expected, found } => write!(f, "expected {expected}, found {found}"),
            Problem::UnknownVersion { found } => {
                write!(f, "version {found} of the torrent format is unknown; versions 1 and 2 are known")
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
            Problem::NoFiles => write!(f, "the list of files is empty; expected at least one"),
            Problem::EmptyPath => write!(f, "the path is empty; expected the names of folders, and of the file"),
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
            Problem::PieceLengthNotV2 { found } => {
                write!(f, "must be a power of two and at least 16384 in a v2 or hybrid torrent, found {found}")
            }
            Problem::TwiceInTree { path } => write!(f, "{} is there twice", quoted(path)),
            Problem::FileAndFolder { path } => write!(f, "{} is both a file and a folder", quoted(path)),
            Problem::PaddingInTree => write!(f, "a padding file, which a v2 file tree cannot have"),
            Problem::RootNotWhole { nbytes } => write!(f, "must be a 32-byte SHA-256 digest, found {nbytes} bytes"),
            Problem::MerkleV1 => write!(
                f,
                "a Merkle torrent of BEP 30, which has no digests of pieces and which clients no longer read; a \
                torrent of version 2 (BEP 52) took its place"
            ),
            Problem::LayerMissing { path } => {
                write!(
                    f,
                    "no layer for the pieces root of {}, which is longer than a piece; a client that has the content \
                    can save the torrent with its layers",
                    quoted(path)
                )
            }
            Problem::LayerLength { path, nbytes, pieces } => write!(
                f,
                "the layer of {} must be a 32-byte digest for each of its {pieces} pieces, found {nbytes} bytes",
                quoted(path)
            ),
            Problem::LayerRoot { path } => {
                write!(
                    f,
                    "the layer of {} does not lead to the file's pieces root: the torrent is damaged; get it again",
                    quoted(path)
                )
            }
            Problem::Expansion { what, most_nbytes } => {
                write!(f, "{what} need more than {most_nbytes} bytes of memory, far more than the torrent has")
            }
            Problem::Hybrid(difference) => write!(f, "the v1 and v2 halves disagree: {difference}"),
        }
    }
}

impl fmt::Display for HybridDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HybridDifference::File { v1: Some(v1), v2: Some(v2) } => {
                write!(f, "where v1 has {}, v2 has {}", quoted(v1), quoted(v2))
            }
            HybridDifference::File { v1: Some(path), .. } => write!(f, "v2 has no {}", quoted(path)),
            HybridDifference::File { v2, .. } => write!(f, "v1 has no {}", quoted(v2.as_deref().unwrap_or_default())),
            HybridDifference::Length { path, v1, v2 } => {
                write!(f, "{} has {v1} bytes in v1 and {v2} bytes in v2", quoted(path))
            }
            HybridDifference::Symlink { path } => write!(f, "{} is not the same symbolic link in both", quoted(path)),
            HybridDifference::Offset { path, v1, v2 } => {
                write!(f, "{} begins at byte {v1} in v1 and at byte {v2}, a piece's first, in v2", quoted(path))
            }
            HybridDifference::PieceCount { v1, v2 } => write!(f, "v1 has {v1} pieces, v2 has {v2}"),
        }
    }
}

impl std::error::Error for Error {}
