// SPDX-License-Identifier: MIT OR Apache-2.0
//! The algorithms, chosen at run time.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use hashloom_sys as sys;

/// A hash algorithm.
///
/// ```
/// use hashloom::Algorithm;
///
/// let algorithm: Algorithm = "sha256".parse()?;
/// assert_eq!(algorithm, Algorithm::Sha256);
/// assert_eq!(algorithm.digest_len(), 32);
/// # Ok::<(), hashloom::ParseAlgorithmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// FIPS 180-4 section 6.1, 20-byte digest. Not collision resistant: for existing formats only.
    Sha1,
    /// FIPS 180-4 section 6.2, 32-byte digest.
    Sha256,
}

impl Algorithm {
    /// All algorithms of this version.
    ///
    /// ```
    /// use hashloom::Algorithm;
    ///
    /// let names: Vec<_> = Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect();
    /// assert_eq!(names, ["sha1", "sha256"]);
    /// ```
    pub const ALL: &'static [Algorithm] = &[Algorithm::Sha1, Algorithm::Sha256];

    /// The name that [`FromStr`] takes and [`Display`](fmt::Display) writes: lower case, without punctuation.
    ///
    /// ```
    /// assert_eq!(hashloom::Algorithm::Sha1.name(), "sha1");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Sha1 => "sha1",
            Algorithm::Sha256 => "sha256",
        }
    }

    /// Bytes in a digest.
    ///
    /// ```
    /// assert_eq!(hashloom::Algorithm::Sha1.digest_len(), 20);
    /// ```
    pub const fn digest_len(self) -> usize {
        match self {
            Algorithm::Sha1 => sys::HL_SHA1_DIGEST_NBYTES,
            Algorithm::Sha256 => sys::HL_SHA256_DIGEST_NBYTES,
        }
    }

    /// Bytes in a block, the unit in which a message is hashed. HMAC pads its key to it.
    ///
    /// ```
    /// assert_eq!(hashloom::Algorithm::Sha256.block_len(), 64);
    /// ```
    pub const fn block_len(self) -> usize {
        match self {
            Algorithm::Sha1 | Algorithm::Sha256 => 64,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = ParseAlgorithmError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Algorithm::ALL.iter().find(|algorithm| algorithm.name() == name);
        found.copied().ok_or_else(|| ParseAlgorithmError { name: name.into() })
    }
}

/// A name that is none of an [`Algorithm`].
///
/// ```
/// use hashloom::Algorithm;
///
/// let error = "SHA-256".parse::<Algorithm>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown algorithm \"SHA-256\": expected one of sha1, sha256");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseAlgorithmError {
    name: String,
}

impl fmt::Display for ParseAlgorithmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown algorithm {:?}: expected one of ", self.name)?;
        for (i, algorithm) in Algorithm::ALL.iter().enumerate() {
            write!(f, "{}{algorithm}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl core::error::Error for ParseAlgorithmError {}
