// SPDX-License-Identifier: MIT OR Apache-2.0

//! Why a manifest cannot be read or written.

use std::fmt;
use std::io;

use hashloom::{Algorithm, ParseAlgorithmError};
use hashloom_files::text::{quoted, reason};
use hashloom_files::walk::FilterError;

/// A fault of a manifest, and its line.
#[derive(Debug)]
pub struct Error {
    /// The line, from 1.
    pub line: u64,
    /// The fault.
    pub problem: Problem,
}

/// A fault in a line of a manifest.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The system's error.
    Io(io::Error),
    /// The first line is not that of a manifest.
    NotAManifest,
    /// This version of the program does not know the manifest's version.
    Version(u64),
    /// The first line names an unknown algorithm.
    Algorithm(ParseAlgorithmError),
    /// The first line names no algorithm, or one twice.
    Algorithms,
    /// The first line has a filter that cannot be used.
    Filter(FilterError),
    /// The line is longer than [`LINE_MAX_NBYTES`](crate::LINE_MAX_NBYTES).
    TooLong,
    /// The line is not JSON with the allowed keys; the text is the parser's message.
    Json(String),
    /// A key is missing, has an impossible value, or does not belong to this type of line.
    Key(&'static str),
    /// The path is empty, absolute, or has a component `.`, `..`, an empty one, or a zero byte.
    Path(Vec<u8>),
    /// Paths are not sorted, or one is there twice.
    Order {
        /// The path of the previous line.
        before: Vec<u8>,
        /// The path of this line, which must come after it.
        path: Vec<u8>,
    },
    /// The path lies in something that is not a folder of this manifest.
    NoFolder(Vec<u8>),
    /// There is not one digest for each algorithm.
    Digests(Algorithm),
    /// All files together have more bytes than 64 bits can count.
    TooManyBytes,
    /// The last line is missing.
    Cut,
    /// There is something after the last line.
    After,
    /// A count in the last line is wrong.
    Count {
        /// The key of the count.
        key: &'static str,
        /// The value in the last line.
        expected: u64,
        /// The value counted.
        found: u64,
    },
    /// The digest in the last line is not that of the lines before it.
    Damaged,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::Io(error) => reason(error).fmt(f),
            problem => write!(f, "line {}: {problem}", self.line),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Io(error) => reason(error).fmt(f),
            Problem::NotAManifest => {
                f.write_str("this is not a manifest: expected {\"format\":\"hashloom manifest\",…} in the first line")
            }
            Problem::Version(found) => write!(f, "a manifest of version {found}, which this program does not know"),
            Problem::Algorithm(error) => error.fmt(f),
            Problem::Algorithms => f.write_str("expected at least one algorithm, and none twice"),
            Problem::Filter(error) => error.fmt(f),
            Problem::TooLong => write!(f, "longer than {} bytes", crate::LINE_MAX_NBYTES),
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
                let ndigits = 2 * algorithm.digest_nbytes();
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

impl std::error::Error for Error {}

impl std::error::Error for Problem {}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        match error.problem {
            Problem::Io(error) => error,
            _ => io::Error::new(io::ErrorKind::InvalidData, error),
        }
    }
}
