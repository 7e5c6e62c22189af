// SPDX-License-Identifier: MIT OR Apache-2.0
//! The digest of an algorithm chosen at run time: up to 64 bytes, inline.

use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};

use hashloom_sys::HL_DIGEST_MAX_NBYTES;

use crate::Algorithm;

/// A digest, in the byte order of the standard.
///
/// It knows its length but not its algorithm, and takes no heap. [`Display`](fmt::Display) writes lower-case
/// hexadecimal. Comparisons are those of its bytes and stop at the first difference: the tag of a message is compared by [`Hmac::verify`](crate::Hmac::verify), in constant time.
///
/// ```
/// use hashloom::{Algorithm, hash};
///
/// let digest = hash(Algorithm::Sha1, b"abc");
/// assert_eq!(digest.to_string(), "a9993e364706816aba3e25717850c26c9cd0d89d");
/// assert_eq!(digest.as_ref()[0], 0xa9);
/// ```
#[derive(Clone, Copy)]
pub struct Digest {
    bytes: [u8; HL_DIGEST_MAX_NBYTES],
    len: u8,
}

impl Digest {
    /// Makes a digest of `algorithm` whose bytes `write` fills in.
    pub(crate) fn of(algorithm: Algorithm, write: impl FnOnce(&mut [u8])) -> Self {
        let mut bytes = [0; HL_DIGEST_MAX_NBYTES];
        let len = algorithm.digest_len();
        write(&mut bytes[..len]);
        Digest { bytes, len: len as u8 }
    }

    /// The digest of `algorithm` that has these bytes.
    ///
    /// # Panics
    ///
    /// If they are not [`digest_len`](Algorithm::digest_len) bytes.
    ///
    /// ```
    /// use hashloom::{Algorithm, Digest};
    ///
    /// assert_eq!(Digest::from_slice(Algorithm::Sha1, &[0xab; 20]).to_string(), "ab".repeat(20));
    /// ```
    pub fn from_slice(algorithm: Algorithm, digest: &[u8]) -> Self {
        Digest::of(algorithm, |bytes| bytes.copy_from_slice(digest))
    }
}

impl AsRef<[u8]> for Digest {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl Eq for Digest {}

impl PartialEq<[u8]> for Digest {
    fn eq(&self, other: &[u8]) -> bool {
        self.as_ref() == other
    }
}

impl PartialOrd for Digest {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Digest {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_ref().cmp(other.as_ref())
    }
}

impl Hash for Digest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_ref().hash(state);
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // All digits in one call: lists of checksums print digests, and a call for each byte takes as long as hashing a
        // small file.
        let mut text = [0; 2 * HL_DIGEST_MAX_NBYTES];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.as_ref()) {
            pair[0] = b"0123456789abcdef"[usize::from(byte >> 4)];
            pair[1] = b"0123456789abcdef"[usize::from(byte & 15)];
        }
        let text = &text[..2 * usize::from(self.len)];
        f.write_str(core::str::from_utf8(text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}
