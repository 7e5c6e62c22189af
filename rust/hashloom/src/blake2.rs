// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parameters of BLAKE2.
#![cfg(any(feature = "blake2b", feature = "blake2s"))]

use core::fmt;

use crate::{Algorithm, Hasher, ffi};

/// The parameters of a BLAKE2 ([`Hasher::blake2`](crate::Hasher::blake2); RFC 7693 section 2.5). All may be empty.
///
/// ```
/// use hashloom::{Algorithm, Blake2Parameters, Hasher};
///
/// let parameters = Blake2Parameters { key: b"secret", ..Default::default() };
/// let keyed = Hasher::blake2(Algorithm::Blake2b, 16, parameters);
/// let mut tag = keyed.clone();
/// tag.update(b"message");
/// let mut tags = [0; 2 * 16];
/// keyed.hash_many(&["message", "another"], &mut tags);
/// assert_eq!(tag.finalize(), tags[..16]);
/// ```
#[derive(Clone, Copy, Default)]
pub struct Blake2Parameters<'a> {
    /// Up to 64 bytes for BLAKE2b, 32 for BLAKE2s. The digest is then a MAC.
    pub key: &'a [u8],
    /// Up to 16 bytes for BLAKE2b, 8 for BLAKE2s; zeros follow.
    pub salt: &'a [u8],
    /// Likewise.
    pub personal: &'a [u8],
}

/// The parameters are not shown: they may be secret.
impl fmt::Debug for Blake2Parameters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blake2Parameters").finish_non_exhaustive()
    }
}

impl Blake2Parameters<'_> {
    /// Panics if there is no such BLAKE2.
    fn check(&self, algorithm: Algorithm, digest_nbytes: usize) {
        let most = algorithm.digest_nbytes();
        assert!(matches!(algorithm.name(), "blake2b" | "blake2s"), "Hasher::blake2: {algorithm} is no BLAKE2");
        assert!(
            (1..=most).contains(&digest_nbytes) && self.key.len() <= most,
            "Hasher::blake2: a digest of {digest_nbytes} bytes and a key of {}, where {algorithm} has up to {most}",
            self.key.len()
        );
        assert!(
            self.salt.len().max(self.personal.len()) <= most / 4,
            "Hasher::blake2: salt and personal string have up to {} bytes",
            most / 4
        );
    }
}

impl Hasher {
    /// Begins an empty message of BLAKE2 with parameters, and a digest of that length (RFC 7693). The hasher cannot be
    /// reset, as it does not keep the key: clone it.
    ///
    /// # Panics
    ///
    /// If the algorithm is neither BLAKE2b nor BLAKE2s, the digest has no byte or more than the
    /// [algorithm's](Algorithm::digest_nbytes), or a parameter is too long.
    pub fn blake2(algorithm: Algorithm, digest_nbytes: usize, parameters: Blake2Parameters<'_>) -> Self {
        parameters.check(algorithm, digest_nbytes);
        Hasher { ctx: ffi::Ctx::blake2(algorithm, digest_nbytes, parameters) }
    }
}
