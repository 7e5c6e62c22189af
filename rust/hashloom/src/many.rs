// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that are whole in memory: one, many slices, rows at a stride.

use hashloom_sys::HL_BODY_BLAKE3;

use crate::{Algorithm, Hash, Rows, ffi};

/// The digest of one message (FIPS 180-4 section 6).
///
/// # Panics
///
/// If the message is longer than 2<sup>61</sup> − 1 bytes.
///
/// ```
/// use hashloom::{Algorithm, hash};
///
/// let digest = hash(Algorithm::Sha256, b"abc");
/// assert_eq!(digest.to_string()[..16], *"ba7816bf8f01cfea");
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
/// If `digests` does not have exactly `messages.len() * digest_nbytes` bytes, or a message has more than 2<sup>61</sup>
/// − 1 bytes.
///
/// ```
/// use hashloom::{Algorithm, hash, hash_many};
///
/// let messages: [&[u8]; 3] = [b"abc", b"", b"abc"];
/// let mut digests = [0; 3 * 32];
/// hash_many(Algorithm::Sha256, &messages, &mut digests);
/// for (message, digest) in messages.iter().zip(digests.chunks_exact(32)) {
///     assert_eq!(hash(Algorithm::Sha256, message), *digest);
/// }
/// ```
pub fn hash_many<M: AsRef<[u8]>>(algorithm: Algorithm, messages: &[M], digests: &mut [u8]) {
    check_room(algorithm, messages.len(), digests);
    ffi::hash_many(algorithm, messages, digests);
}

/// The digests of messages of one length: that of row `i` is written to the `i`-th `digest_nbytes` bytes of `digests`.
/// Nothing is allocated.
///
/// # Panics
///
/// If `digests` does not have exactly `rows.len() * digest_nbytes` bytes.
///
/// ```
/// use hashloom::{Algorithm, Rows, hash, hash_rows};
///
/// // The pairs of a Merkle tree's leaves, each pair hashed to its parent.
/// let leaves = [[7; 32]; 4];
/// let mut parents = [[0; 32]; 2];
/// hash_rows(Algorithm::Sha256, Rows::chunks_exact(leaves.as_flattened(), 64), parents.as_flattened_mut());
/// assert_eq!(hash(Algorithm::Sha256, leaves[2..].as_flattened()), parents[1][..]);
/// ```
pub fn hash_rows<'a>(algorithm: Algorithm, rows: impl Into<Rows<'a>>, digests: &mut [u8]) {
    let rows = rows.into();
    check_room(algorithm, rows.len(), digests);
    ffi::hash_rows(algorithm, rows, digests);
}

/// Hashes a layer of a Merkle tree: `above[i]` is the digest of `prefix` and the nodes `2 * i` and `2 * i + 1` of
/// `layer`. RFC 6962 has a prefix of a byte 1, SSZ and BEP 52 none. An odd node at the end is left to the caller.
///
/// # Panics
///
/// If `N` is not the algorithm's `digest_nbytes`, `above` does not have half as many nodes as `layer`, or BLAKE3 is to
/// have a prefix.
///
/// ```
/// use hashloom::{Algorithm, hash, hash_pairs};
///
/// let layer = [[7; 32], [8; 32]];
/// let mut above = [[0; 32]];
/// hash_pairs(Algorithm::Sha256, &[1], &layer, &mut above);
/// assert_eq!(hash(Algorithm::Sha256, &[&[1], layer.as_flattened()].concat()), above[0][..]);
/// ```
pub fn hash_pairs<const N: usize>(algorithm: Algorithm, prefix: &[u8], layer: &[[u8; N]], above: &mut [[u8; N]]) {
    check_nodes::<N>(algorithm, prefix);
    assert!(
        above.len() == layer.len() / 2,
        "above has room for {} nodes, the layer has {}, of which half as many become",
        above.len(),
        layer.len()
    );
    ffi::hash_pairs(algorithm, prefix, layer, above);
}

/// [`hash_pairs`] in place: the nodes above are written over the first half of the layer, which is returned.
///
/// # Panics
///
/// As [`hash_pairs`].
///
/// ```
/// use hashloom::{Algorithm, hash_pairs_in_place};
///
/// let mut layer = &mut [[7; 32]; 8][..];
/// while layer.len() > 1 {
///     layer = hash_pairs_in_place(Algorithm::Sha256, &[], layer);
/// }
/// let root = layer[0];
/// # assert_ne!(root, [7; 32]);
/// ```
pub fn hash_pairs_in_place<'a, const N: usize>(
    algorithm: Algorithm,
    prefix: &[u8],
    layer: &'a mut [[u8; N]],
) -> &'a mut [[u8; N]] {
    check_nodes::<N>(algorithm, prefix);
    ffi::hash_pairs_in_place(algorithm, prefix, layer);
    let npairs = layer.len() / 2;
    &mut layer[..npairs]
}

/// Panics unless a layer's nodes are digests of the algorithm, and it can have the prefix.
#[track_caller]
fn check_nodes<const N: usize>(algorithm: Algorithm, prefix: &[u8]) {
    let nbytes = algorithm.digest_nbytes();
    assert!(N == nbytes, "nodes of {N} bytes, but digests of {algorithm} have {nbytes}");
    let is_tree = algorithm.body() == HL_BODY_BLAKE3;
    assert!(prefix.is_empty() || !is_tree, "nodes of BLAKE3 have no prefix here");
}

/// RIPEMD-160 of SHA-256 of rows, as Bitcoin hashes public keys and scripts ("hash160"): the digest of the `i`-th row
/// is written to the `i`-th 20 bytes of `digests`.
///
/// # Panics
///
/// If `digests` does not have exactly `rows.len() * 20` bytes.
///
/// ```
/// use hashloom::{Algorithm, hash, hash160_rows};
///
/// let keys = [[2; 33]; 3];
/// let mut digests = [0; 3 * 20];
/// hash160_rows(&keys, &mut digests);
/// let first = hash(Algorithm::Sha256, &keys[0]);
/// assert_eq!(hash(Algorithm::Ripemd160, first.as_ref()), digests[40..]);
/// ```
#[cfg(all(feature = "ripemd160", feature = "sha256"))]
pub fn hash160_rows<'a>(rows: impl Into<Rows<'a>>, digests: &mut [u8]) {
    let rows = rows.into();
    check_room(Algorithm::Ripemd160, rows.len(), digests);
    ffi::hash160_rows(rows, digests);
}

/// SHA-256 of SHA-256 of rows, as Bitcoin hashes block headers and the checksums of addresses: the digest of the `i`-th
/// row is written to the `i`-th 32 bytes of `digests`.
///
/// # Panics
///
/// If `digests` does not have exactly `rows.len() * 32` bytes.
///
/// ```
/// use hashloom::{Algorithm, hash, sha256d_rows};
///
/// let headers = [[7; 80]; 2];
/// let mut digests = [0; 2 * 32];
/// sha256d_rows(&headers, &mut digests);
/// let first = hash(Algorithm::Sha256, &headers[0]);
/// assert_eq!(hash(Algorithm::Sha256, first.as_ref()), digests[32..]);
/// ```
#[cfg(feature = "sha256")]
pub fn sha256d_rows<'a>(rows: impl Into<Rows<'a>>, digests: &mut [u8]) {
    let rows = rows.into();
    check_room(Algorithm::Sha256, rows.len(), digests);
    ffi::sha256d_rows(rows, digests);
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
