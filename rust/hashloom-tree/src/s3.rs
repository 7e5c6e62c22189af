// SPDX-License-Identifier: MIT OR Apache-2.0

//! The composite checksums of a multipart upload to Amazon S3, `ChecksumSHA1`, `ChecksumSHA256` and, by MD5, the `ETag`:
//! the digest of the digests of all parts. ("Checking object integrity" in the Amazon S3 User Guide.)
//!
//! The checksum depends on how the object was cut, so the part size of the upload must be known: 8 MiB for `aws s3 cp`
//! unless `multipart_chunksize` says otherwise. An upload in one request has the plain digest, without a `-N` behind
//! it. MD5 shows damage by chance only: anybody can make two objects with one ETag.
//!
//! ```
//! use hashloom_files::Source;
//! use hashloom_files::run::Options;
//! use hashloom_tree::s3::composite;
//!
//! let composite = composite(Source::memory("abc"), hashloom::Algorithm::Sha1, 8 << 20, &Options::new())?;
//! assert!(composite.to_string().ends_with("-1")); // one part
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

use hashloom::{Algorithm, Hash, Hasher, hash};
use hashloom_files::Source;
use hashloom_files::lanes::Leaves;
use hashloom_files::run::Options;
use hashloom_files::text::base64;

use super::{Input, ParameterFault, TreeError};

/// Least number of bytes in every part except the last: 5 MiB.
///
/// ```
/// assert_eq!(hashloom_tree::s3::PART_MIN_NBYTES, 5 << 20);
/// ```
pub const PART_MIN_NBYTES: u64 = 5 << 20;
/// Largest number of bytes in every part: 5 GiB.
///
/// ```
/// assert_eq!(hashloom_tree::s3::PART_MAX_NBYTES, 5 << 30);
/// ```
pub const PART_MAX_NBYTES: u64 = 5 << 30;
/// Largest number of parts in an upload.
///
/// ```
/// assert_eq!(hashloom_tree::s3::PARTS_MAX, 10_000);
/// ```
pub const PARTS_MAX: u64 = 10_000;

/// The checksums of an upload.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_files::Source;
/// use hashloom_files::run::Options;
/// use hashloom_tree::s3::composite;
///
/// let composite = composite(Source::memory("abc"), Algorithm::Sha1, 8 << 20, &Options::new())?;
/// assert_eq!(composite.parts, [hashloom::hash(Algorithm::Sha1, b"abc")]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Composite {
    /// The checksum of the whole object.
    pub digest: Hash,
    /// The digest of each part, as `UploadPart` takes it.
    pub parts: Vec<Hash>,
}

/// The form that S3 shows: the digest as [`shown`] has it, `-`, the number of parts.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_files::run::Options;
/// use hashloom_files::Source;
/// use hashloom_tree::s3;
///
/// let composite = s3::composite(Source::memory(b"abc"), Algorithm::Sha256, 8 << 20, &Options::new())?;
/// assert_eq!(composite.to_string(), "T4tCwi3TcptRm6b2jS2nzFstYG0F2u1a1RKMwD5sY1g=-1");
/// # Ok::<(), hashloom_tree::TreeError>(())
/// ```
impl fmt::Display for Composite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", shown(&self.digest), self.parts.len())
    }
}

/// The checksums for an upload in parts of `part_nbytes` bytes. Empty input is one empty part.
///
/// # Errors
///
/// [`TreeError::Parameter`] if S3 has no such checksum with `algorithm` (only SHA-1, SHA-256 and MD5), if a part cannot be
/// that long, or if there are more than [`PARTS_MAX`] parts; [`TreeError::Read`], [`TreeError::Changed`],
/// [`TreeError::Cancelled`].
///
/// ```
/// use hashloom_files::run::Options;
/// use hashloom_files::Source;
/// use hashloom_tree::s3;
/// use hashloom::{Algorithm, hash};
///
/// let data = vec![7; (5 << 20) + 1];
/// let composite = s3::composite(Source::memory(data.clone()), Algorithm::Sha1, 5 << 20, &Options::new())?;
/// assert_eq!(composite.parts, [hash(Algorithm::Sha1, &data[1..]), hash(Algorithm::Sha1, &[7])]);
/// # Ok::<(), hashloom_tree::TreeError>(())
/// ```
pub fn composite(
    source: impl Into<Source>,
    algorithm: Algorithm,
    part_nbytes: u64,
    options: &Options,
) -> Result<Composite, TreeError> {
    let allowed = &[Algorithm::Sha1, Algorithm::Sha256, Algorithm::Md5];
    if !allowed.contains(&algorithm) {
        return Err(ParameterFault::Algorithm { algorithm, allowed }.into());
    }
    if !(PART_MIN_NBYTES..=PART_MAX_NBYTES).contains(&part_nbytes) {
        return Err(ParameterFault::PartSize { nbytes: part_nbytes }.into());
    }
    let input = Input::open(source.into())?;
    let too_many = ParameterFault::TooManyParts { part_nbytes, most: PARTS_MAX };
    // This check comes before hours of reading.
    if input.nbytes().is_some_and(|nbytes| nbytes.div_ceil(part_nbytes) > PARTS_MAX) {
        return Err(too_many.into());
    }
    let mut parts = Vec::new();
    let leaves = Leaves::plain(algorithm, part_nbytes);
    let read = input.hash(&leaves, options, &mut |digests| {
        parts.extend(digests.chunks_exact(algorithm.digest_nbytes()).map(|digest| Hash::new(algorithm, digest)));
        if parts.len() as u64 > PARTS_MAX { Err(std::io::ErrorKind::InvalidInput.into()) } else { Ok(()) }
    });
    if parts.len() as u64 > PARTS_MAX {
        return Err(too_many.into());
    }
    read?;
    if parts.is_empty() {
        parts.push(hash(algorithm, &[]));
    }
    let mut hasher = Hasher::new(algorithm);
    parts.iter().for_each(|part| hasher.update(part.as_ref()));
    Ok(Composite { digest: hasher.finalize(), parts })
}

/// A digest as S3 writes it: an MD5 in hexadecimal, all others in base64.
///
/// ```
/// use hashloom::{Algorithm, hash};
/// use hashloom_tree::s3::shown;
///
/// assert_eq!(shown(&hash(Algorithm::Md5, b"abc")), "900150983cd24fb0d6963f7d28e17f72");
/// assert_eq!(shown(&hash(Algorithm::Sha1, b"abc")), "qZk+NkcGgWq6PiVxeFDCbJzQ2J0=");
/// ```
pub fn shown(digest: &Hash) -> String {
    match digest.as_ref().len() == Algorithm::Md5.digest_nbytes() {
        true => digest.to_string(),
        false => base64(digest.as_ref()),
    }
}
