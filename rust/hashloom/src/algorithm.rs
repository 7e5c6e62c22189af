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
/// assert_eq!(algorithm.digest_nbytes(), 32);
/// # Ok::<(), hashloom::ParseAlgorithmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// FIPS 180-4 section 6.1, 20-byte digest. Not collision resistant: for existing formats only, never for signatures.
    Sha1,
    /// FIPS 180-4 section 6.3, 28-byte digest.
    Sha224,
    /// FIPS 180-4 section 6.2, 32-byte digest.
    Sha256,
    /// FIPS 180-4 section 6.5, 48-byte digest.
    Sha384,
    /// FIPS 180-4 section 6.4, 64-byte digest.
    Sha512,
    /// SHA-512/224: FIPS 180-4 section 6.6, 28-byte digest.
    Sha512_224,
    /// SHA-512/256: FIPS 180-4 section 6.7, 32-byte digest.
    Sha512_256,
    /// RIPEMD-160: Dobbertin, Bosselaers, Preneel 1996; ISO/IEC 10118-3; 20-byte digest. For existing formats.
    Ripemd160,
    /// RFC 1321, 16-byte digest. Anybody can make collisions within seconds: for existing formats only, such as S3's
    /// ETags and old lists of checksums, and never where somebody might gain by a forged message.
    Md5,
}

impl Algorithm {
    /// All algorithms of this version.
    ///
    /// ```
    /// use hashloom::Algorithm;
    ///
    /// let names: Vec<_> = Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect();
    /// assert_eq!(names[..4], ["sha1", "sha224", "sha256", "sha384"]);
    /// assert_eq!(names[4..], ["sha512", "sha512-224", "sha512-256", "ripemd160", "md5"]);
    /// ```
    pub const ALL: &'static [Algorithm] = &[
        Algorithm::Sha1,
        Algorithm::Sha224,
        Algorithm::Sha256,
        Algorithm::Sha384,
        Algorithm::Sha512,
        Algorithm::Sha512_224,
        Algorithm::Sha512_256,
        Algorithm::Ripemd160,
        Algorithm::Md5,
    ];

    /// The name that [`FromStr`] reads and [`Display`](fmt::Display) writes: lower case, with `-` in place of the
    /// standard's `/`.
    ///
    /// ```
    /// assert_eq!(hashloom::Algorithm::Sha1.name(), "sha1");
    /// assert_eq!(hashloom::Algorithm::Sha512_256.name(), "sha512-256");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Sha1 => "sha1",
            Algorithm::Sha224 => "sha224",
            Algorithm::Sha256 => "sha256",
            Algorithm::Sha384 => "sha384",
            Algorithm::Sha512 => "sha512",
            Algorithm::Sha512_224 => "sha512-224",
            Algorithm::Sha512_256 => "sha512-256",
            Algorithm::Ripemd160 => "ripemd160",
            Algorithm::Md5 => "md5",
        }
    }

    /// Bytes in a digest.
    ///
    /// ```
    /// assert_eq!(hashloom::Algorithm::Sha1.digest_nbytes(), 20);
    /// ```
    pub const fn digest_nbytes(self) -> usize {
        match self {
            Algorithm::Sha1 => sys::HL_SHA1_DIGEST_NBYTES,
            Algorithm::Sha224 => sys::HL_SHA224_DIGEST_NBYTES,
            Algorithm::Sha256 => sys::HL_SHA256_DIGEST_NBYTES,
            Algorithm::Sha384 => sys::HL_SHA384_DIGEST_NBYTES,
            Algorithm::Sha512 => sys::HL_SHA512_DIGEST_NBYTES,
            Algorithm::Sha512_224 => sys::HL_SHA512_224_DIGEST_NBYTES,
            Algorithm::Sha512_256 => sys::HL_SHA512_256_DIGEST_NBYTES,
            Algorithm::Ripemd160 => sys::HL_RIPEMD160_DIGEST_NBYTES,
            Algorithm::Md5 => sys::HL_MD5_DIGEST_NBYTES,
        }
    }

    /// Bytes in a block, the unit that a message is hashed in. HMAC pads its key to one block.
    ///
    /// ```
    /// assert_eq!(hashloom::Algorithm::Sha256.block_nbytes(), 64);
    /// assert_eq!(hashloom::Algorithm::Sha512.block_nbytes(), 128);
    /// ```
    pub const fn block_nbytes(self) -> usize {
        match self {
            Algorithm::Sha1 | Algorithm::Sha224 | Algorithm::Sha256 | Algorithm::Ripemd160 | Algorithm::Md5 => 64,
            Algorithm::Sha384 | Algorithm::Sha512 | Algorithm::Sha512_224 | Algorithm::Sha512_256 => 128,
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

/// The error for a name that no [`Algorithm`] has.
///
/// ```
/// use hashloom::Algorithm;
///
/// let error = "SHA-256".parse::<Algorithm>().unwrap_err();
/// assert!(error.to_string().starts_with("unknown algorithm \"SHA-256\": expected one of sha1, sha224, sha256, "));
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
