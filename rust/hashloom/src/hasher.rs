// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams: messages that arrive in parts, one stream or many side by side.

use core::fmt;

use crate::many::check_room;
use crate::{Algorithm, Hash, ffi};

/// A message that arrives in parts, hashed with an algorithm chosen at run time.
///
/// A hasher takes no heap, but for the tree of BLAKE3 (2 KiB), and holds no reference. A clone goes on independently:
/// the digest of a prefix is `hasher.clone().finalize()`. To hash many streams at once use [`update_many`] and
/// [`finalize_many`].
///
/// ```
/// use hashloom::{Algorithm, Hasher, hash};
///
/// let mut hasher = Hasher::new(Algorithm::Sha256);
/// hasher.update(b"a");
/// hasher.update(b"bc");
/// let mut digests = [0; 2 * 32];
/// hasher.hash_many(&["", "de"], &mut digests);
/// assert_eq!(hash(Algorithm::Sha256, b"abcde"), digests[32..]);
/// assert_eq!(hasher.finalize_reset(), digests[..32]);
/// assert_eq!(hasher.finalize(), hash(Algorithm::Sha256, b""));
/// ```
#[derive(Clone)]
pub struct Hasher {
    pub(crate) ctx: ffi::Ctx,
}

impl Hasher {
    /// Begins an empty message.
    pub fn new(algorithm: Algorithm) -> Self {
        Hasher { ctx: ffi::Ctx::new(algorithm) }
    }

    /// The digests of many messages, each after what this one has so far, side by side in lanes.
    ///
    /// # Panics
    ///
    /// If `digests` does not have exactly `messages.len() * digest_nbytes` bytes, or a message grows beyond
    /// 2<sup>61</sup> − 1 bytes. If the algorithm is BLAKE3 and this message is not empty: only a key is common.
    pub fn hash_many<M: AsRef<[u8]>>(&self, messages: &[M], digests: &mut [u8]) {
        assert!(
            !self.ctx.is_begun_tree(),
            "Hasher::hash_many: BLAKE3 has no message in common: hash before any update"
        );
        ffi::run_many(self.algorithm(), Some(&self.ctx), messages, self.digest_nbytes(), digests);
    }

    /// Bytes in a digest: those of the algorithm, unless `Hasher::blake2` was told another number.
    pub fn digest_nbytes(&self) -> usize {
        self.ctx.digest_nbytes()
    }

    /// Appends data to the message.
    ///
    /// # Panics
    ///
    /// If the message grows beyond 2<sup>61</sup> − 1 bytes (FIPS 180-4 section 1 allows 2<sup>64</sup> − 1 bits).
    pub fn update(&mut self, data: &[u8]) {
        self.ctx.update(data);
    }

    /// Ends the message and returns its digest.
    #[must_use]
    pub fn finalize(mut self) -> Hash {
        Hash::of_length(self.digest_nbytes(), |digest| self.ctx.finalize(digest))
    }

    /// Ends the message, returns its digest, and begins an empty message.
    ///
    /// # Panics
    ///
    /// If the hasher has parameters of BLAKE2, or is a keyed or deriving BLAKE3.
    pub fn finalize_reset(&mut self) -> Hash {
        let digest = Hash::of(self.algorithm(), |digest| self.ctx.finalize(digest));
        self.ctx.reset();
        digest
    }

    /// Discards the message and begins an empty one.
    ///
    /// # Panics
    ///
    /// If the hasher has parameters of BLAKE2, or is a keyed or deriving BLAKE3.
    pub fn reset(&mut self) {
        self.ctx.reset();
    }

    /// The algorithm that the hasher was made for.
    pub fn algorithm(&self) -> Algorithm {
        self.ctx.algorithm()
    }
}

/// `std::io::Write` by a function that takes data.
macro_rules! writer {
    ($type:ident, $update:path) => {
        /// Writing never fails and always takes all bytes.
        #[cfg(feature = "std")]
        impl std::io::Write for $type {
            fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
                $update(self, data);
                Ok(data.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
    };
}

pub(crate) use writer;

/// `Debug`, which leaves out the message, as it may be secret; `Write`, which hashes; and `ZeroizeOnDrop`.
macro_rules! stream {
    ($type:ident) => {
        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($type)).field("algorithm", &self.algorithm()).finish_non_exhaustive()
            }
        }

        crate::hasher::writer!($type, Self::update);

        #[cfg(feature = "zeroize")]
        impl zeroize::ZeroizeOnDrop for $type {}
    };
}

#[cfg(feature = "hmac")]
pub(crate) use stream;

stream!(Hasher);

/// Appends `chunks[i]` to the message of `hashers[i]`, all side by side in lanes: the way to hash many files that are
/// read in parts.
///
/// Chunks may have different lengths, zero included; similar lengths are fastest. The messages so far may have
/// different lengths, too. Nothing is allocated.
///
/// # Panics
///
/// If there are not as many chunks as hashers, or the hashers do not all have one algorithm; no hasher has changed
/// then. If a message grows beyond 2<sup>61</sup> − 1 bytes.
///
/// ```
/// use hashloom::{Algorithm, Hasher, finalize_many, hash, update_many};
///
/// let mut hashers = vec![Hasher::new(Algorithm::Sha256); 2];
/// update_many(&mut hashers, &["ab", "x"]);
/// update_many(&mut hashers, &["c", ""]);
/// let mut digests = [0; 2 * 32];
/// finalize_many(&mut hashers, &mut digests);
/// assert_eq!(hash(Algorithm::Sha256, b"abc"), digests[..32]);
/// assert_eq!(hash(Algorithm::Sha256, b"x"), digests[32..]);
/// ```
pub fn update_many<C: AsRef<[u8]>>(hashers: &mut [Hasher], chunks: &[C]) {
    assert!(
        hashers.len() == chunks.len(),
        "update_many: {} hashers but {} chunks; each hasher takes one",
        hashers.len(),
        chunks.len()
    );
    if common_algorithm(hashers).is_some() {
        ffi::update_many(hashers, chunks);
    }
}

/// Writes the digest of `hashers[i]` to the `i`-th `digest_nbytes` bytes of `digests` and begins an empty message in
/// each hasher, so that the hashers can be used again. The last blocks of all messages are hashed side by side. Nothing
/// is allocated.
///
/// # Panics
///
/// If `digests` does not have exactly `hashers.len() * digest_nbytes` bytes, the hashers do not all have one algorithm,
/// or one has a key or parameters; no hasher has changed then.
pub fn finalize_many(hashers: &mut [Hasher], digests: &mut [u8]) {
    match common_algorithm(hashers) {
        Some(algorithm) => {
            check_room(algorithm, hashers.len(), digests);
            let are_plain = !hashers.iter().any(|hasher| hasher.ctx.has_parameters());
            assert!(are_plain, "finalize_many: a hasher has a key or parameters: finalize each");
            ffi::finalize_many(algorithm, hashers, digests);
        }
        None => assert!(digests.is_empty(), "finalize_many: no hashers but room for {} bytes", digests.len()),
    }
}

/// The one algorithm of all the hashers; `None` if there are none.
fn common_algorithm(hashers: &[Hasher]) -> Option<Algorithm> {
    let algorithm = hashers.first()?.algorithm();
    if let Some(i) = hashers.iter().position(|hasher| hasher.algorithm() != algorithm) {
        panic!("hasher 0 is of {algorithm} but hasher {i} is of {}; they must be of one", hashers[i].algorithm());
    }
    Some(algorithm)
}
