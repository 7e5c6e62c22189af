// SPDX-License-Identifier: MIT OR Apache-2.0

//! Requests to hash files, and their results.

use std::fmt;
use std::io;
use std::sync::Arc;

use hashloom::{Algorithm, Hash, Hasher, HmacKey};

use super::{Source, Watched};
use crate::lanes::Form;
use crate::read::evidence::Doubt;
use crate::read::stamp::Stamp;
use crate::text::reason;

/// The digest or MAC to compute of a message.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "all requests share the methods; to move a key leaves copies")]
pub enum Method {
    /// The message's digest.
    Digest(Algorithm),
    /// The message's HMAC under a key.
    Mac(HmacKey),
    /// The digest of the bytes that a hasher has taken and the message after them.
    After(Hasher),
}

impl Method {
    /// The hash function; for a MAC, the hash it is built on.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Method::Digest(algorithm) => *algorithm,
            Method::Mac(key) => key.algorithm(),
            Method::After(hasher) => hasher.algorithm(),
        }
    }
}

impl Form for Method {
    fn algorithm(&self) -> Algorithm {
        Method::algorithm(self)
    }

    fn hasher(&self) -> Hasher {
        match self {
            Method::Digest(algorithm) => Hasher::new(*algorithm),
            Method::Mac(key) => key.hasher(),
            Method::After(hasher) => hasher.clone(),
        }
    }

    fn finish(&self, digest: Hash) -> Hash {
        match self {
            Method::Digest(_) | Method::After(_) => digest,
            Method::Mac(key) => key.finish(&digest),
        }
    }

    fn is_plain(&self) -> bool {
        matches!(self, Method::Digest(_))
    }
}

impl From<HmacKey> for Method {
    fn from(key: HmacKey) -> Method {
        Method::Mac(key)
    }
}

impl From<Algorithm> for Method {
    fn from(algorithm: Algorithm) -> Method {
        Method::Digest(algorithm)
    }
}

/// A message to hash.
///
/// ```
/// use std::sync::Arc;
///
/// use hashloom::Algorithm::{Sha1, Sha256};
/// use hashloom_files::{Method, Request, Source};
///
/// // Both from one read. The methods are shared by all requests.
/// let methods: Arc<[Method]> = [Sha1, Sha256].map(Method::from).into();
/// let request = Request { source: Source::Stdin, methods, tag: () };
/// assert_eq!(request.methods[1].algorithm(), Sha256);
/// ```
#[derive(Debug)]
#[must_use]
pub struct Request<T = ()> {
    /// The source to read.
    pub source: Source,
    /// The digests and MACs to compute.
    pub methods: Arc<[Method]>,
    /// Any value that the caller wants back with the result.
    pub tag: T,
}

impl Request {
    /// One digest of one source.
    pub fn digest(source: impl Into<Source>, algorithm: Algorithm) -> Request {
        Request { source: source.into(), methods: [Method::Digest(algorithm)].into(), tag: () }
    }
}

/// The result for a message.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Hashed {
    /// A digest or MAC for each of the request's methods, in their order.
    pub digests: Vec<Hash>,
    /// Number of bytes in the message.
    pub nbytes: u64,
    /// Number of bytes read for it: 0 if the digests are those of another name of the same file.
    pub nread: u64,
    /// The file's stamp, unchanged from the first byte read to the last. `None` for standard input and for a source
    /// that is not a regular file.
    pub stamp: Option<Stamp>,
    /// Why a later change might not show in the stamp, if the run takes notes.
    pub doubt: Option<Doubt>,
}

/// Why there is no digest.
///
/// ```
/// use std::io;
///
/// use hashloom_files::FileError;
///
/// let error = FileError::Read { offset: 8192, error: io::Error::other("bad sector") };
/// assert_eq!(error.to_string(), "bad sector, after 8192 bytes");
/// assert_eq!(error.io().to_string(), "bad sector");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// The file cannot be opened.
    Open(io::Error),
    /// The file cannot be read to its end.
    Read {
        /// Number of bytes read before the error.
        offset: u64,
        /// The error that ended the read.
        error: io::Error,
    },
    /// The file changed during each of three reads, so the bytes read may belong to no content that the file ever had;
    /// standard input is read only once. The error says so in words.
    Unstable(io::Error),
}

impl FileError {
    /// The error for a file that changed during each read.
    pub(crate) fn unstable() -> FileError {
        let message = "the file changes while it is read; try again when nothing writes to it";
        FileError::Unstable(io::Error::other(message))
    }

    /// Whether the file changed while it was read, also if its bytes came by a [`Watched`].
    pub fn is_unstable(&self) -> bool {
        matches!(self, FileError::Unstable(_)) || Watched::has_changed(self.io())
    }

    /// The system's error.
    pub fn io(&self) -> &io::Error {
        match self {
            FileError::Open(error) | FileError::Read { error, .. } | FileError::Unstable(error) => error,
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Open(error) | FileError::Read { offset: 0, error } | FileError::Unstable(error) => {
                reason(error).fmt(f)
            }
            FileError::Read { offset, error } => write!(f, "{}, after {offset} bytes", reason(error)),
        }
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.io())
    }
}

/// The totals of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Summary {
    /// Messages hashed.
    pub nfiles: u64,
    /// Messages that could not be opened or not read to their end.
    pub nfailed: u64,
    /// Bytes of the messages hashed.
    pub nbytes: u64,
    /// Whether it ended before the requests did, by [`Cancel`](crate::run::Cancel).
    pub cancelled: bool,
}
