// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that are whole in memory: one, many slices, rows at a stride.

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
    ffi::run_many(algorithm, None, messages, digest_nbytes, digests);
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
