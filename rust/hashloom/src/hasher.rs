// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams: messages that arrive in parts, one stream or many side by side.

use core::fmt;

use crate::many::{check_room, check_xof};
use crate::{Algorithm, Blake2Parameters, Hash, ffi};

/// Bytes in a chunk, the least subtree (BLAKE3 section 2.1).
const BLAKE3_CHUNK_NBYTES: u64 = 1024;

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

    /// Begins an empty message of BLAKE3 with a key: the digest is a MAC (BLAKE3 section 2.3, keyed_hash). The hasher
    /// cannot be reset, as it does not keep the key: clone it.
    pub fn blake3_keyed(key: &[u8; 32]) -> Self {
        Hasher { ctx: ffi::Ctx::blake3_keyed(key) }
    }

    /// Begins the material of a key: the digest is the key that BLAKE3 derives from it in a context, a text which is
    /// globally unique and fixed in a program (BLAKE3 section 2.3, derive_key). The hasher cannot be reset: clone it.
    pub fn blake3_derive_key(context: &str) -> Self {
        Hasher { ctx: ffi::Ctx::blake3_derive_key(context) }
    }

    /// The value of a subtree of this message of BLAKE3, for threads that share a long message: `data` is the message's
    /// from byte `at` on. [`add_blake3_subtree`](Self::add_blake3_subtree) appends it. What the hasher has taken does
    /// not matter; its key does.
    ///
    /// # Panics
    ///
    /// If the algorithm is not BLAKE3, `data` does not have 1,024 * 2<sup>k</sup> bytes, or `at` is no multiple of
    /// their number.
    ///
    /// ```
    /// use hashloom::{Algorithm, Hasher, hash};
    ///
    /// const PART: usize = 1 << 16;
    /// let message = vec![7; 5 * PART];
    /// let mut hasher = Hasher::new(Algorithm::Blake3);
    /// // A message does not end with a subtree: the last part is appended as it is.
    /// let (parts, rest) = message.split_at(4 * PART);
    /// let values: Vec<_> = std::thread::scope(|scope| {
    ///     let hash = |(i, part)| hasher.blake3_subtree((i * PART) as u64, part);
    ///     let threads: Vec<_> = parts.chunks(PART).enumerate().map(|part| scope.spawn(move || hash(part))).collect();
    ///     threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    /// });
    /// values.iter().for_each(|value| hasher.add_blake3_subtree(PART as u64, value));
    /// hasher.update(rest);
    /// assert_eq!(hasher.finalize(), hash(Algorithm::Blake3, &message));
    /// ```
    #[must_use]
    pub fn blake3_subtree(&self, at: u64, data: &[u8]) -> [u8; 32] {
        self.check_subtree(at, data.len() as u64);
        self.ctx.subtree(at / BLAKE3_CHUNK_NBYTES, data)
    }

    /// Appends a subtree of `nbytes` bytes with that [value](Self::blake3_subtree) in place of its bytes. The message
    /// may not end with a subtree: more must follow before the digest.
    ///
    /// # Panics
    ///
    /// If the algorithm is not BLAKE3, `nbytes` is not 1,024 * 2<sup>k</sup>, or the message so far is not all of
    /// subtrees, each a multiple of `nbytes`. After the last subtree: a call for the digest.
    pub fn add_blake3_subtree(&mut self, nbytes: u64, value: &[u8; 32]) {
        self.check_subtree(0, nbytes);
        self.ctx.add_subtree(nbytes / BLAKE3_CHUNK_NBYTES, value);
    }

    #[track_caller]
    fn check_subtree(&self, at: u64, nbytes: u64) {
        assert!(self.algorithm() == Algorithm::Blake3, "{} is no tree: BLAKE3 has subtrees", self.algorithm());
        assert!(
            nbytes >= BLAKE3_CHUNK_NBYTES && nbytes.is_power_of_two() && at % nbytes == 0,
            "{nbytes} bytes at {at} are no subtree: their number must be 1,024 * 2^k, and divide their place"
        );
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

    /// Bytes in a digest: those of the algorithm, unless [`blake2`](Self::blake2) was told another number.
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

    /// Ends the message; its digest, of any length, is read from the result.
    ///
    /// # Panics
    ///
    /// If the algorithm is no [XOF](Algorithm::is_xof).
    #[must_use]
    pub fn finalize_xof(self) -> XofReader {
        check_xof("Hasher::finalize_xof", self.algorithm());
        XofReader { ctx: self.ctx }
    }

    /// Ends the message, returns its digest, and begins an empty message.
    ///
    /// # Panics
    ///
    /// If the hasher has [parameters of BLAKE2](Self::blake2) or is a [keyed](Self::blake3_keyed) or
    /// [deriving](Self::blake3_derive_key) BLAKE3.
    pub fn finalize_reset(&mut self) -> Hash {
        let digest = Hash::of(self.algorithm(), |digest| self.ctx.finalize(digest));
        self.ctx.reset();
        digest
    }

    /// Discards the message and begins an empty one.
    ///
    /// # Panics
    ///
    /// If the hasher has [parameters of BLAKE2](Self::blake2) or is a [keyed](Self::blake3_keyed) or
    /// [deriving](Self::blake3_derive_key) BLAKE3.
    pub fn reset(&mut self) {
        self.ctx.reset();
    }

    /// The algorithm that the hasher was made for.
    pub fn algorithm(&self) -> Algorithm {
        self.ctx.algorithm()
    }
}

/// `Debug`, which leaves out the message, as it may be secret; `Write`, which hashes; and `ZeroizeOnDrop`.
macro_rules! stream {
    ($type:ident) => {
        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($type)).field("algorithm", &self.algorithm()).finish_non_exhaustive()
            }
        }

        /// Writing never fails and always takes all bytes.
        #[cfg(feature = "std")]
        impl std::io::Write for $type {
            fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
                self.update(data);
                Ok(data.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }

        #[cfg(feature = "zeroize")]
        impl zeroize::ZeroizeOnDrop for $type {}
    };
}

pub(crate) use stream;

stream!(Hasher);

/// The digest of a message by an XOF, which is read in parts of any length, without end.
///
/// A clone goes on independently. With the feature `digest`, it is a `digest::XofReader`.
///
/// ```
/// use hashloom::{Algorithm, Hasher, XofReader, xof};
///
/// let mut hasher = Hasher::new(Algorithm::Shake256);
/// hasher.update(b"abc");
/// let mut reader: XofReader = hasher.finalize_xof();
/// let (mut first, mut next, mut digest) = ([0; 100], [0; 100], [0; 200]);
/// reader.read(&mut first);
/// reader.read(&mut next);
/// xof(Algorithm::Shake256, b"abc", &mut digest);
/// assert_eq!([first, next].concat(), digest);
/// ```
#[derive(Clone)]
pub struct XofReader {
    ctx: ffi::Ctx,
}

impl XofReader {
    /// Writes the next bytes of the digest, as many as `digest` has room for.
    pub fn read(&mut self, digest: &mut [u8]) {
        self.ctx.squeeze(digest);
    }
}

/// The digest is not shown: it may be secret.
impl fmt::Debug for XofReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("XofReader").field("algorithm", &self.ctx.algorithm()).finish_non_exhaustive()
    }
}

#[cfg(feature = "digest")]
impl digest::XofReader for XofReader {
    fn read(&mut self, digest: &mut [u8]) {
        self.read(digest);
    }
}

/// Reading never fails and always fills the buffer.
#[cfg(feature = "std")]
impl std::io::Read for XofReader {
    fn read(&mut self, digest: &mut [u8]) -> std::io::Result<usize> {
        self.read(digest);
        Ok(digest.len())
    }
}

#[cfg(feature = "zeroize")]
impl zeroize::ZeroizeOnDrop for XofReader {}

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
/// let mut hashers = vec![Hasher::new(Algorithm::Sha1); 2];
/// update_many(&mut hashers, &["ab", "x"]);
/// update_many(&mut hashers, &["c", ""]);
/// let mut digests = [0; 2 * 20];
/// finalize_many(&mut hashers, &mut digests);
/// assert_eq!(hash(Algorithm::Sha1, b"abc"), digests[..20]);
/// assert_eq!(hash(Algorithm::Sha1, b"x"), digests[20..]);
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
