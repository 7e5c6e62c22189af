// SPDX-License-Identifier: MIT OR Apache-2.0

//! The checksums that Amazon S3 shows for an upload. ("Checking object integrity" in the Amazon S3 User Guide.)
//!
//! `ChecksumSHA1`, `ChecksumSHA256` and, by MD5, the `ETag` of an upload in parts are [`composite`]: the digest of the
//! digests of all parts. [`crcs`] gives `ChecksumCRC64NVME`, `ChecksumCRC32` and `ChecksumCRC32C`, of the whole object
//! or composite.
//!
//! A composite checksum depends on how the object was cut, so the part size of the upload must be known: 8 MiB for `aws
//! s3 cp` unless `multipart_chunksize` says otherwise. [`part_size`] finds the one behind an ETag. An upload in one
//! request has the plain digest, without a `-N` behind it. CRCs and MD5 show damage by chance only: anybody can make
//! two objects with one CRC or one ETag.

use std::collections::BTreeSet;
use std::fmt;

use crc_fast::{CrcAlgorithm, checksum, checksum_combine};
use hashloom::{Algorithm, Hash, Hasher, hash};
use hashloom_files::Source;
use hashloom_files::lanes::Leaves;
use hashloom_files::run::Options;
use hashloom_files::text::base64;

use super::{Input, ParameterFault, TreeError, unchanged};

/// Least number of bytes in every part except the last: 5 MiB.
pub const PART_MIN_NBYTES: u64 = 5 << 20;
/// Largest number of bytes in every part: 5 GiB.
pub const PART_MAX_NBYTES: u64 = 5 << 30;
/// Largest number of parts in an upload.
pub const PARTS_MAX: u64 = 10_000;

/// The checksums of an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Composite {
    /// The checksum of the whole object.
    pub digest: Hash,
    /// The digest of each part, as `UploadPart` takes it.
    pub parts: Vec<Hash>,
}

/// The form that S3 shows: the digest as [`shown`] has it, `-`, the number of parts.
impl fmt::Display for Composite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", shown(&self.digest), self.parts.len())
    }
}

/// The checksums for an upload in parts of `part_nbytes` bytes. Empty input is one empty part.
///
/// # Errors
///
/// [`TreeError::Parameter`] if S3 has no such checksum with `algorithm` (only SHA-1, SHA-256 and MD5), if a part cannot
/// be that long, or if there are more than [`PARTS_MAX`] parts; [`TreeError::Read`], [`TreeError::Changed`],
/// [`TreeError::Cancelled`].
///
/// ```
/// use hashloom::{Algorithm, hash};
/// use hashloom_files::Source;
/// use hashloom_files::run::Options;
/// use hashloom_tree::s3::{Composite, composite};
///
/// let composite: Composite = composite(Source::memory("abc"), Algorithm::Sha256, 8 << 20, &Options::new())?;
/// assert_eq!(composite.parts, [hash(Algorithm::Sha256, b"abc")]);
/// assert_eq!(composite.to_string(), "T4tCwi3TcptRm6b2jS2nzFstYG0F2u1a1RKMwD5sY1g=-1");
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
    composite_of(Input::open(source.into())?, algorithm, part_nbytes, options)
}

/// Refuses parts that S3 does not have.
fn check_parts(nparts: u64, part_nbytes: u64) -> Result<(), ParameterFault> {
    if !(PART_MIN_NBYTES..=PART_MAX_NBYTES).contains(&part_nbytes) {
        return Err(ParameterFault::PartSize { nbytes: part_nbytes });
    }
    let too_many = ParameterFault::TooManyParts { part_nbytes, most: PARTS_MAX };
    if nparts > PARTS_MAX { Err(too_many) } else { Ok(()) }
}

fn composite_of(
    input: Input,
    algorithm: Algorithm,
    part_nbytes: u64,
    options: &Options,
) -> Result<Composite, TreeError> {
    // This check comes before hours of reading.
    check_parts(input.nbytes().map_or(0, |nbytes| nbytes.div_ceil(part_nbytes.max(1))), part_nbytes)?;
    let mut parts = Vec::new();
    let leaves = Leaves::plain(algorithm, part_nbytes);
    let read = input.hash(&leaves, options, &mut |digests| {
        parts.extend(digests.chunks_exact(algorithm.digest_nbytes()).map(|digest| Hash::new(algorithm, digest)));
        if parts.len() as u64 > PARTS_MAX { Err(std::io::ErrorKind::InvalidInput.into()) } else { Ok(()) }
    });
    check_parts(parts.len() as u64, part_nbytes)?;
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
    if digest.as_ref().len() == Algorithm::Md5.digest_nbytes() { digest.to_string() } else { base64(digest.as_ref()) }
}

/// A CRC of S3, which is no digest: anybody can change an object and keep its CRC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Crc {
    /// CRC-64/NVME, which S3 computes by itself for new objects.
    Crc64Nvme,
    /// The CRC-32 of zip and Ethernet.
    Crc32,
    /// CRC-32C, Castagnoli's.
    Crc32c,
}

/// The CRCs of an upload, in base64.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Crcs {
    /// The CRC-64/NVME of the whole object (S3's type `FULL_OBJECT`); for others the CRC of the CRCs of all parts, `-`,
    /// the number of parts (`COMPOSITE`).
    pub whole: String,
    /// The CRC of each part.
    pub parts: Vec<String>,
}

/// Bytes that a thread reads at once. Appending a CRC takes as long as computing the CRC of 1 MiB.
const WINDOW_NBYTES: usize = 4 << 20;

/// The CRCs for an upload in parts of `part_nbytes` bytes; for `None` the object is one part, of any length.
///
/// # Errors
///
/// As those of [`composite`].
///
/// ```
/// use hashloom_files::Source;
/// use hashloom_files::run::Options;
/// use hashloom_tree::s3::{Crc, Crcs, crcs};
///
/// let whole = crcs(Source::memory("123456789"), Crc::Crc64Nvme, None, &Options::new())?.whole;
/// assert_eq!(whole, "rosUhgp5mIg=");
/// let Crcs { whole, parts, .. } = crcs(Source::memory("123456789"), Crc::Crc32, Some(5 << 20), &Options::new())?;
/// assert_eq!((whole.as_str(), &parts[..]), ("7kxlUA==-1", &["y/Q5Jg==".to_owned()][..]));
/// # Ok::<(), hashloom_tree::TreeError>(())
/// ```
pub fn crcs(
    source: impl Into<Source>,
    crc: Crc,
    part_nbytes: Option<u64>,
    options: &Options,
) -> Result<Crcs, TreeError> {
    let (algorithm, nbytes) = match crc {
        Crc::Crc64Nvme => (CrcAlgorithm::Crc64Nvme, 8),
        Crc::Crc32 => (CrcAlgorithm::Crc32IsoHdlc, 4),
        Crc::Crc32c => (CrcAlgorithm::Crc32Iscsi, 4),
    };
    let input = Input::open(source.into())?;
    let part_max = part_nbytes.unwrap_or(u64::MAX);
    let check = |nparts| part_nbytes.map_or(Ok(()), |part_nbytes| check_parts(nparts, part_nbytes));
    check(input.nbytes().map_or(0, |nbytes| nbytes.div_ceil(part_max.max(1))))?;
    // A window may have the end of one part and the beginning of the next.
    let work = |offset: u64, window: &[u8]| {
        let left = usize::try_from(part_max - offset % part_max).unwrap_or(usize::MAX);
        let (this, next) = window.split_at(window.len().min(left));
        [this, next].map(|bytes| (checksum(algorithm, bytes), bytes.len() as u64))
    };
    // The CRC and the length of each part.
    let mut parts: Vec<(u64, u64)> = Vec::new();
    let append = |(crc, so_far), (next, nbytes)| (checksum_combine(algorithm, crc, next, nbytes), so_far + nbytes);
    let take = |crcs: [(u64, u64); 2]| {
        for next in crcs.into_iter().filter(|&(_, nbytes)| nbytes > 0) {
            match parts.last_mut() {
                Some(part) if part.1 < part_max => *part = append(*part, next),
                _ => parts.push(next),
            }
        }
    };
    input.windows(WINDOW_NBYTES, options, work, take)?;
    check(parts.len() as u64)?;
    if parts.is_empty() {
        parts.push((checksum(algorithm, &[]), 0));
    }
    let bytes = |crc: u64| crc.to_be_bytes()[8 - nbytes..].to_vec();
    let all: Vec<u8> = parts.iter().flat_map(|part| bytes(part.0)).collect();
    Ok(Crcs {
        whole: match crc {
            Crc::Crc64Nvme => base64(&bytes(parts.iter().copied().reduce(append).unwrap_or_default().0)),
            _ => format!("{}-{}", base64(&bytes(checksum(algorithm, &all))), parts.len()),
        },
        parts: all.chunks(nbytes).map(base64).collect(),
    })
}

/// The part size with which an upload of this file gets this ETag, or `None` if no size tried gives it: sizes that
/// clients use, all whole MiB, all whole millions of bytes, and equal parts.
///
/// # Errors
///
/// [`TreeError::Parameter`] if this is no ETag of an upload in parts, or if the length of the input is not known before
/// it is read; [`TreeError::Read`], [`TreeError::Changed`], [`TreeError::Cancelled`].
///
/// ```
/// use hashloom_files::run::Options;
/// use hashloom_files::Source;
/// use hashloom_tree::s3;
///
/// let source = || Source::memory(vec![7; 100_000_000]);
/// let etag = s3::composite(source(), hashloom::Algorithm::Md5, 15_000_000, &Options::new())?.to_string();
/// assert_eq!(s3::part_size(source(), &etag, &Options::new())?, Some(15_000_000));
/// # Ok::<(), hashloom_tree::TreeError>(())
/// ```
pub fn part_size(source: impl Into<Source>, etag: &str, options: &Options) -> Result<Option<u64>, TreeError> {
    // The protocol puts an ETag in quotation marks.
    let etag = etag.trim_matches('"').to_ascii_lowercase();
    let count = |(md5, count): (&str, &str)| {
        let is_md5 = md5.len() == 32 && md5.bytes().all(|digit| digit.is_ascii_hexdigit());
        count.parse().ok().filter(|count| is_md5 && (1..=PARTS_MAX).contains(count))
    };
    let nparts = etag.split_once('-').and_then(count).ok_or(ParameterFault::Etag)?;
    let find = |nbytes, again: &dyn Fn() -> Input| {
        for part_nbytes in part_sizes(nbytes, nparts) {
            if composite_of(again(), Algorithm::Md5, part_nbytes, options)?.to_string() == etag {
                return Ok(Some(part_nbytes));
            }
        }
        Ok(None)
    };
    match Input::open(source.into())? {
        Input::Stream(_) => Err(ParameterFault::Stream.into()),
        Input::Memory(bytes) => find((*bytes).as_ref().len() as u64, &|| Input::Memory(bytes.clone())),
        Input::File(file, nbytes, is_stdin) => {
            unchanged(&file, || find(nbytes, &|| Input::File(file.clone(), nbytes, is_stdin)))
        }
    }
}

/// The part sizes to try for `nparts` parts, the most common first.
fn part_sizes(nbytes: u64, nparts: u64) -> Vec<u64> {
    const MIB: u64 = 1 << 20;
    let least = nbytes.div_ceil(nparts).max(PART_MIN_NBYTES);
    let most = nbytes.saturating_sub(1).checked_div(nparts - 1).unwrap_or(least).min(PART_MAX_NBYTES);
    // Those of programs, and of the console in a browser.
    let common = [8, 5, 16, 15, 64, 10, 32, 128, 100, 50, 25, 20].map(|mib| mib * MIB).into_iter().chain([17_179_870]);
    let whole = |unit: u64| (least.div_ceil(unit)..=most / unit).map(move |count| count * unit);
    let sizes = common.chain(whole(MIB)).chain(whole(1_000_000)).chain([least]);
    let mut tried = BTreeSet::new();
    sizes.filter(|size| (least..=most).contains(size) && tried.insert(*size)).collect()
}
