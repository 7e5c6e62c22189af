// SPDX-License-Identifier: MIT OR Apache-2.0
//! Digests of any length.

use core::fmt;

use crate::{Algorithm, Hasher, ffi};

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
/// `messages[i]` is written to the `i`-th `digest_nbytes` bytes of `digests`. The rules of
/// [`hash_many`](crate::hash_many) hold.
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
fn check_xof(caller: &str, algorithm: Algorithm) {
    let nbytes = algorithm.digest_nbytes();
    assert!(
        algorithm.is_xof(),
        "{caller}: digests of {algorithm} have {nbytes} bytes; those of an XOF have any number"
    );
}

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

/// `std::io::Read` by a function that fills a buffer.
macro_rules! reader {
    ($type:ident, $read:path) => {
        /// Reading never fails and always fills the buffer.
        #[cfg(feature = "std")]
        impl std::io::Read for $type {
            fn read(&mut self, digest: &mut [u8]) -> std::io::Result<usize> {
                $read(self, digest);
                Ok(digest.len())
            }
        }
    };
}

#[cfg(feature = "digest")]
pub(crate) use reader;

reader!(XofReader, Self::read);

#[cfg(feature = "zeroize")]
impl zeroize::ZeroizeOnDrop for XofReader {}

impl Hasher {
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
}
