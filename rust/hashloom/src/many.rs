// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that are whole in memory: one, many slices, rows at a stride, an Arrow column.

use core::fmt;

use crate::{Algorithm, Hash, ffi};

/// The digest of one message (FIPS 180-4 section 6).
///
/// # Panics
///
/// If the message is longer than 2<sup>61</sup> − 1 bytes.
///
/// ```
/// use hashloom::{Algorithm, hash};
///
/// let digest = hash(Algorithm::Sha1, b"abc");
/// assert_eq!(digest.to_string(), "a9993e364706816aba3e25717850c26c9cd0d89d");
/// ```
#[must_use]
pub fn hash(algorithm: Algorithm, message: &[u8]) -> Hash {
    Hash::of(algorithm, |digest| ffi::hash(algorithm, message, digest))
}

/// The digests of many messages, hashed side by side in lanes: the digest of `messages[i]` is written to the `i`-th
/// `digest_nbytes` bytes of `digests`.
///
/// Any number of messages is allowed, of any mixture of lengths. Up to 1,024 messages nothing is allocated; for more,
/// the function allocates 16 bytes a message.
///
/// # Panics
///
/// If `digests` does not have exactly `messages.len() * digest_nbytes` bytes, or a message has more than 2<sup>61</sup> −
/// 1 bytes.
///
/// ```
/// use hashloom::{Algorithm, hash, hash_many};
///
/// let messages: [&[u8]; 3] = [b"abc", b"", b"abc"];
/// let mut digests = [0; 3 * 20];
/// hash_many(Algorithm::Sha1, &messages, &mut digests);
/// for (message, digest) in messages.iter().zip(digests.chunks_exact(20)) {
///     assert_eq!(hash(Algorithm::Sha1, message), *digest);
/// }
/// ```
pub fn hash_many<M: AsRef<[u8]>>(algorithm: Algorithm, messages: &[M], digests: &mut [u8]) {
    check_room(algorithm, messages.len(), digests);
    ffi::hash_many(algorithm, messages, digests);
}

/// The digest of one message of the length of `digest`, by an XOF: SHAKE128 or SHAKE256 (FIPS 202 section 6.2). To read
/// a digest in parts, use [`Hasher::finalize_xof`](crate::Hasher::finalize_xof).
///
/// # Panics
///
/// If the algorithm is no [XOF](Algorithm::is_xof).
///
/// ```
/// use hashloom::{Algorithm, hash, xof};
///
/// let mut digest = [0; 1000];
/// xof(Algorithm::Shake128, b"abc", &mut digest);
/// assert_eq!(hash(Algorithm::Shake128, b"abc"), digest[..32]);
/// ```
pub fn xof(algorithm: Algorithm, message: &[u8], digest: &mut [u8]) {
    let digest_nbytes = digest.len();
    xof_many(algorithm, &[message], digest_nbytes, digest);
}

/// The digests of many messages, `digest_nbytes` bytes each, by an XOF, side by side in lanes: the digest of
/// `messages[i]` is written to the `i`-th `digest_nbytes` bytes of `digests`. The rules of [`hash_many`] hold.
///
/// # Panics
///
/// If the algorithm is no [XOF](Algorithm::is_xof), or `digests` does not have exactly `messages.len() * digest_nbytes`
/// bytes.
///
/// ```
/// use hashloom::{Algorithm, xof, xof_many};
///
/// let mut digests = [0; 2 * 300];
/// xof_many(Algorithm::Shake256, &["abc", "another"], 300, &mut digests);
/// let mut digest = [0; 300];
/// xof(Algorithm::Shake256, b"another", &mut digest);
/// assert_eq!(digest, digests[300..]);
/// ```
pub fn xof_many<M: AsRef<[u8]>>(algorithm: Algorithm, messages: &[M], digest_nbytes: usize, digests: &mut [u8]) {
    check_xof("xof", algorithm);
    let count = messages.len();
    assert!(
        count.checked_mul(digest_nbytes) == Some(digests.len()),
        "digests has {} bytes, but {count} digests take {count} * {digest_nbytes}",
        digests.len()
    );
    ffi::xof_many(algorithm, messages, digest_nbytes, digests);
}

/// Panics, in the name of the function `caller`, unless the algorithm is an XOF.
#[track_caller]
pub(crate) fn check_xof(caller: &str, algorithm: Algorithm) {
    let nbytes = algorithm.digest_nbytes();
    assert!(
        algorithm.is_xof(),
        "{caller}: digests of {algorithm} have {nbytes} bytes; those of an XOF have any number"
    );
}

/// The digests of `count` messages of `row_nbytes` bytes each, `stride` bytes apart: message `i` is `data[i * stride
/// ..][.. row_nbytes]`, and its digest is written to the `i`-th `digest_nbytes` bytes of `digests`.
///
/// The function suits pieces of a buffer (`stride == row_nbytes`), columns of a table (`stride > row_nbytes`), overlapping
/// windows (`stride < row_nbytes`) and the nodes of a Merkle tree. Bytes of `data` between and after the rows are not
/// read. Nothing is allocated.
///
/// # Panics
///
/// If the last row ends beyond `data`, or `digests` does not have exactly `count * digest_nbytes` bytes.
///
/// ```
/// use hashloom::{Algorithm, hash, hash_rows};
///
/// // The pairs of a Merkle tree's leaves, each pair hashed to its parent.
/// let leaves = [7; 4 * 32];
/// let mut parents = [0; 2 * 32];
/// hash_rows(Algorithm::Sha256, &leaves, 64, 64, 2, &mut parents);
/// assert_eq!(hash(Algorithm::Sha256, &leaves[64..]), parents[32..]);
/// ```
pub fn hash_rows(
    algorithm: Algorithm,
    data: &[u8],
    stride: usize,
    row_nbytes: usize,
    count: usize,
    digests: &mut [u8],
) {
    check_room(algorithm, count, digests);
    ffi::hash_rows(algorithm, checked_rows("hash_rows", data, stride, row_nbytes, count), digests);
}

/// RIPEMD-160 of SHA-256 of rows, as Bitcoin hashes public keys and scripts ("hash160"): the digest of the `i`-th row is
/// written to the `i`-th 20 bytes of `digests`. The rows are those of [`hash_rows`].
///
/// # Panics
///
/// If the last row ends beyond `data`, or `digests` does not have exactly `count * 20` bytes.
///
/// ```
/// use hashloom::{Algorithm, hash, hash160_rows};
///
/// let keys = [2; 3 * 33];
/// let mut digests = [0; 3 * 20];
/// hash160_rows(&keys, 33, 33, 3, &mut digests);
/// let first = hash(Algorithm::Sha256, &keys[..33]);
/// assert_eq!(hash(Algorithm::Ripemd160, first.as_ref()), digests[40..]);
/// ```
pub fn hash160_rows(data: &[u8], stride: usize, row_nbytes: usize, count: usize, digests: &mut [u8]) {
    check_room(Algorithm::Ripemd160, count, digests);
    ffi::hash160_rows(checked_rows("hash160_rows", data, stride, row_nbytes, count), digests);
}

/// SHA-256 of SHA-256 of rows, as Bitcoin hashes block headers and the checksums of addresses: the digest of the `i`-th
/// row is written to the `i`-th 32 bytes of `digests`. The rows are those of [`hash_rows`].
///
/// # Panics
///
/// If the last row ends beyond `data`, or `digests` does not have exactly `count * 32` bytes.
///
/// ```
/// use hashloom::{Algorithm, hash, sha256d_rows};
///
/// let headers = [7; 2 * 80];
/// let mut digests = [0; 2 * 32];
/// sha256d_rows(&headers, 80, 80, 2, &mut digests);
/// let first = hash(Algorithm::Sha256, &headers[..80]);
/// assert_eq!(hash(Algorithm::Sha256, first.as_ref()), digests[32..]);
/// ```
pub fn sha256d_rows(data: &[u8], stride: usize, row_nbytes: usize, count: usize, digests: &mut [u8]) {
    check_room(Algorithm::Sha256, count, digests);
    ffi::sha256d_rows(checked_rows("sha256d_rows", data, stride, row_nbytes, count), digests);
}

/// Panics, in the name of the function `caller`, unless the last row ends within `data`.
#[track_caller]
fn checked_rows<'a>(caller: &str, data: &'a [u8], stride: usize, nbytes: usize, count: usize) -> ffi::MessageRows<'a> {
    let rows = ffi::MessageRows { data, stride, nbytes, count };
    assert!(
        rows.fit(),
        "{caller}: {count} rows of {nbytes} bytes at a stride of {stride} do not fit into {} bytes",
        data.len()
    );
    rows
}

/// The digests of a column of variable length in the layout of Apache Arrow's Binary and Utf8 arrays: message `i` is
/// `values[offsets[i] .. offsets[i + 1]]`, and its digest is written to the `i`-th `digest_nbytes` bytes of `digests`.
///
/// `offsets` has one entry more than there are messages; if `offsets` has no entry or one, there are no messages and
/// nothing is checked. The offsets need not begin at 0 or end at the end of `values` (those of a slice of an array do
/// neither). Nothing is allocated.
///
/// # Errors
///
/// [`OffsetsError`] if an offset is negative, less than the one before, or beyond `values`; nothing is written then.
///
/// # Panics
///
/// If `digests` does not have exactly `digest_nbytes` bytes for each message.
///
/// ```
/// use hashloom::{Algorithm, hash, hash_offsets32};
///
/// let mut digests = [0; 3 * 20];
/// hash_offsets32(Algorithm::Sha1, b"abcxyz", &[0, 3, 3, 6], &mut digests)?;
/// assert_eq!(hash(Algorithm::Sha1, b""), digests[20..40]);
/// assert_eq!(hash(Algorithm::Sha1, b"xyz"), digests[40..]);
/// # Ok::<(), hashloom::OffsetsError>(())
/// ```
pub fn hash_offsets32(
    algorithm: Algorithm,
    values: &[u8],
    offsets: &[i32],
    digests: &mut [u8],
) -> Result<(), OffsetsError> {
    hash_offsets(algorithm, values, offsets, digests)
}

/// [`hash_offsets32`] for 64-bit offsets: the layout of Apache Arrow's LargeBinary and LargeUtf8 arrays.
///
/// # Errors
///
/// The errors of [`hash_offsets32`].
///
/// # Panics
///
/// In the same cases as [`hash_offsets32`].
///
/// ```
/// use hashloom::{Algorithm, OffsetsError, hash_offsets64};
///
/// let error = hash_offsets64(Algorithm::Sha1, b"abc", &[0, 2, 5], &mut [0; 40]).unwrap_err();
/// assert_eq!(error, OffsetsError::Beyond { index: 2, offset: 5, nbytes: 3 });
/// assert_eq!(error.to_string(), "offset 2 is 5, beyond the 3 bytes of values");
/// ```
pub fn hash_offsets64(
    algorithm: Algorithm,
    values: &[u8],
    offsets: &[i64],
    digests: &mut [u8],
) -> Result<(), OffsetsError> {
    hash_offsets(algorithm, values, offsets, digests)
}

fn hash_offsets<O: ffi::Offset>(
    algorithm: Algorithm,
    values: &[u8],
    offsets: &[O],
    digests: &mut [u8],
) -> Result<(), OffsetsError> {
    check_room(algorithm, offsets.len().saturating_sub(1), digests);
    ffi::hash_offsets(algorithm, values, offsets, digests).map_err(|ffi::BadOffsets| first_bad(values.len(), offsets))
}

/// Finds the first bad offset: the C library reports no position.
#[cold]
fn first_bad<O: ffi::Offset>(nbytes: usize, offsets: &[O]) -> OffsetsError {
    let mut previous = 0;
    for (index, &offset) in offsets.iter().enumerate() {
        let offset: i64 = offset.into();
        match u64::try_from(offset) {
            Err(_) => return OffsetsError::Negative { index, offset },
            Ok(_) if offset < previous => return OffsetsError::Decreasing { index, offset, previous },
            Ok(end) if end > nbytes as u64 => return OffsetsError::Beyond { index, offset, nbytes },
            Ok(_) => previous = offset,
        }
    }
    unreachable!("the offsets are in order, but were refused")
}

/// Why the offsets of a column do not describe messages. `index` is the position in `offsets` of the first wrong
/// offset.
///
/// ```
/// use hashloom::{Algorithm, OffsetsError, hash_offsets32};
///
/// let error = hash_offsets32(Algorithm::Sha1, b"abc", &[0, 2, 1], &mut [0; 40]).unwrap_err();
/// assert_eq!(error, OffsetsError::Decreasing { index: 2, offset: 1, previous: 2 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OffsetsError {
    /// An offset is below zero.
    Negative {
        /// Position of the offset in `offsets`.
        index: usize,
        /// The offset.
        offset: i64,
    },
    /// An offset is less than the one before it.
    Decreasing {
        /// Position of the offset in `offsets`.
        index: usize,
        /// The offset.
        offset: i64,
        /// The offset before it.
        previous: i64,
    },
    /// An offset points beyond the end of the values.
    Beyond {
        /// Position of the offset in `offsets`.
        index: usize,
        /// The offset.
        offset: i64,
        /// Bytes in the values.
        nbytes: usize,
    },
}

impl fmt::Display for OffsetsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            OffsetsError::Negative { index, offset } => write!(f, "offset {index} is {offset}, below zero"),
            OffsetsError::Decreasing { index, offset, previous } => {
                write!(f, "offset {index} is {offset}, less than the one before it, {previous}")
            }
            OffsetsError::Beyond { index, offset, nbytes } => {
                write!(f, "offset {index} is {offset}, beyond the {nbytes} bytes of values")
            }
        }
    }
}

impl core::error::Error for OffsetsError {}

/// Panics unless `digests` has room for exactly `count` digests.
#[track_caller]
pub(crate) fn check_room(algorithm: Algorithm, count: usize, digests: &[u8]) {
    assert!(
        count.checked_mul(algorithm.digest_nbytes()) == Some(digests.len()),
        "digests has {} bytes, but {count} digests of {algorithm} take {count} * {}",
        digests.len(),
        algorithm.digest_nbytes()
    );
}
