// SPDX-License-Identifier: MIT OR Apache-2.0

//! Why a manifest cannot be read or written.

use std::fmt;
use std::io;

use hashloom::{Algorithm, ParseAlgorithmError};

use crate::text::quoted;

/// What is wrong, and where.
///
/// ```
/// use hashloom_engine::manifest::{Problem, Reader};
///
/// let error = Reader::new(&b"hello\n"[..]).unwrap_err();
/// assert_eq!(error.line, 1);
/// assert!(matches!(error.problem, Problem::NotAManifest));
/// assert!(error.to_string().starts_with("line 1: this is no manifest: "));
/// ```
#[derive(Debug)]
pub struct Error {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a line of a manifest.
///
/// ```
/// use hashloom_engine::manifest::Problem;
///
/// assert!(Problem::Cut.to_string().contains("cut off"));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// What the system says.
    Io(io::Error),
    /// The first line is not that of a manifest.
    NotAManifest,
    /// It is of a version that this one does not know.
    Version(u64),
    /// It names an algorithm that there is not.
    Algorithm(ParseAlgorithmError),
    /// It names no algorithm, or one twice.
    Algorithms,
    /// The line is longer than [`LINE_MAX_NBYTES`](super::LINE_MAX_NBYTES).
    TooLong,
    /// It is not JSON with the keys that it may have: what the parser says.
    Json(String),
    /// A key is missing, or has a value that it cannot have, or is not one of this type.
    Key(&'static str),
    /// The path is empty, absolute, or has a component `.`, `..`, an empty one, or a zero byte.
    Path(Vec<u8>),
    /// Paths are not in their order, or one is there twice.
    Order {
        /// The path of the line before.
        before: Vec<u8>,
        /// The one that must come after it.
        path: Vec<u8>,
    },
    /// What the path lies in is no folder of this manifest.
    NoFolder(Vec<u8>),
    /// The digests are not one for each algorithm.
    Digests(Algorithm),
    /// All files have more bytes than a number of 64 bits can say.
    TooManyBytes,
    /// There is no last line.
    Cut,
    /// There is something after the last line.
    After,
    /// The last line has another number than there is.
    Count {
        /// Of what.
        key: &'static str,
        /// What the line says.
        expected: u64,
        /// What there is.
        found: u64,
    },
    /// The last line has another digest than the lines before it.
    Damaged,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::Io(error) => error.fmt(f),
            problem => write!(f, "line {}: {problem}", self.line),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Io(error) => error.fmt(f),
            Problem::NotAManifest => {
                f.write_str("this is no manifest: expected {\"format\":\"hashloom manifest\",…} in the first line")
            }
            Problem::Version(found) => write!(f, "a manifest of version {found}, of which this program knows nothing"),
            Problem::Algorithm(error) => error.fmt(f),
            Problem::Algorithms => f.write_str("expected at least one algorithm, and none twice"),
            Problem::TooLong => write!(f, "longer than {} bytes", super::LINE_MAX_NBYTES),
            Problem::Json(message) => f.write_str(message),
            Problem::Key(key) => write!(f, "{key:?} is missing, not of this type, or has a value that it cannot have"),
            Problem::Path(path) => {
                write!(f, "path {}: expected a relative path without empty components, . and ..", quoted(path))
            }
            Problem::Order { before, path } if before == path => write!(f, "path {} is there twice", quoted(path)),
            Problem::Order { before, path } => {
                write!(f, "path {} comes after {}: not sorted", quoted(path), quoted(before))
            }
            Problem::NoFolder(path) => write!(f, "path {} is in no folder of the lines before it", quoted(path)),
            Problem::Digests(algorithm) => {
                let ndigits = 2 * algorithm.digest_len();
                write!(f, "expected one {algorithm} digest, {ndigits} hexadecimal digits in lower case")
            }
            Problem::TooManyBytes => f.write_str("the files have more than 2^64 bytes"),
            Problem::Cut => f.write_str("the manifest was cut off: there is no line of type \"end\""),
            Problem::After => f.write_str("there is something after the line of type \"end\""),
            Problem::Count { key, expected, found } => {
                write!(f, "the manifest is damaged: {key:?} is {expected}, but the lines before have {found}")
            }
            Problem::Damaged => {
                f.write_str("the manifest is damaged or was edited: the SHA-256 of the lines before is another one")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Io(error) => Some(error),
            Problem::Algorithm(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        match error.problem {
            Problem::Io(error) => error,
            _ => io::Error::new(io::ErrorKind::InvalidData, error),
        }
    }
}
