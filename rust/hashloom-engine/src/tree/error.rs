// SPDX-License-Identifier: MIT OR Apache-2.0

//! Why there is no root.

use std::fmt;
use std::io;

use crate::merkle::leaves::Failure;

/// Why there is no root. The error does not name the file: the caller knows it.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_engine::tree::fsverity::FsVerity;
///
/// let error = FsVerity::new(Algorithm::Sha256).block_size(1000).unwrap_err();
/// assert_eq!(error.to_string(), "block size: expected a power of two from 1024 to 65536, found 1000");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum TreeError {
    /// The format does not allow this parameter.
    Parameter {
        /// The parameter: "block size".
        what: &'static str,
        /// The allowed values.
        expected: String,
        /// The URL given.
        found: String,
    },
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
    HashFile {
        /// The fault.
        what: &'static str,
        /// The value it should have.
        expected: String,
        /// The deviation.
        found: String,
    },
    /// [`cancel`](super::Options::cancel) became true.
    Cancelled,
}

impl TreeError {
    pub(super) fn parameter(what: &'static str, expected: impl Into<String>, found: impl fmt::Display) -> TreeError {
        TreeError::Parameter { what, expected: expected.into(), found: found.to_string() }
    }
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TreeError::Parameter { what, expected, found } | TreeError::HashFile { what, expected, found } => {
                write!(f, "{what}: expected {expected}, found {found}")
            }
            TreeError::Read { offset, error } => write!(f, "cannot be read from byte {offset} on: {error}"),
            TreeError::Changed => f.write_str("changed while it was read; run again when nothing writes to it"),
            TreeError::Write(error) => write!(f, "cannot be written: {error}"),
            TreeError::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl std::error::Error for TreeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TreeError::Read { error, .. } | TreeError::Write(error) => Some(error),
            _ => None,
        }
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
