// SPDX-License-Identifier: MIT OR Apache-2.0
//! HMAC (FIPS 198-1, RFC 2104) with an algorithm chosen at run time: one message, many side by side, one in parts.
//!
//! A key is kept as the states of its two hashes after their first blocks, so that to use the key again costs nothing.
//! Keys and contexts are wiped when they are dropped. A move leaves a copy behind that nothing wipes: box a key that
//! matters.

use core::fmt;

use crate::many::check_room;
use crate::{Algorithm, Hash, Hasher, ffi};

/// A key, ready for use with one algorithm, any number of times.
///
/// A key takes no heap, holds no reference, does not show itself, and is wiped when dropped. The caller must wipe the
/// bytes that the key was made of. RFC 2104 section 3 advises random keys as long as a digest: longer ones are not
/// stronger.
#[derive(Clone)]
pub struct HmacKey {
    key: ffi::MacKey,
}

impl HmacKey {
    /// Prepares a key of any length, zero included; a key longer than a block is replaced by its digest (FIPS 198-1
    /// section 4).
    ///
    /// # Panics
    ///
    /// If HMAC is not defined with the algorithm ([`Algorithm::has_hmac`]), or the key is longer than
    /// 2<sup>61</sup> − 1 bytes.
    pub fn new(algorithm: Algorithm, key: &[u8]) -> Self {
        check_mac("HmacKey::new", algorithm);
        HmacKey { key: ffi::MacKey::new(algorithm, key) }
    }

    /// The algorithm that the key was made for: a tag has its [`digest_nbytes`](Algorithm::digest_nbytes) bytes.
    pub fn algorithm(&self) -> Algorithm {
        self.key.algorithm()
    }

    /// Begins a message that is hashed as a stream among many: [`update_many`](crate::update_many) and
    /// [`finalize_many`](crate::finalize_many) take the hasher, and [`finish`](Self::finish) makes the tag of the
    /// digest. The hasher is as secret as the key until it is final.
    pub fn hasher(&self) -> Hasher {
        Hasher { ctx: self.key.inner() }
    }

    /// The tag of the message whose [`hasher`](Self::hasher) ended in this digest.
    ///
    /// # Panics
    ///
    /// If the digest has not the length of the key's algorithm.
    #[must_use]
    pub fn finish(&self, digest: &Hash) -> Hash {
        let len = digest.as_ref().len();
        assert!(len == self.algorithm().digest_nbytes(), "finish: a digest of {len} bytes for {}", self.algorithm());
        let mut outer = self.key.outer();
        outer.update(digest.as_ref());
        Hash::of(self.algorithm(), |tag| outer.finalize(tag))
    }
}

/// The key is not shown.
impl fmt::Debug for HmacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HmacKey").field("algorithm", &self.algorithm()).finish_non_exhaustive()
    }
}

/// The tag of one message (FIPS 198-1 section 4). To check one that came with a message, use [`Hmac::verify`].
///
/// # Panics
///
/// If the message is longer than 2<sup>61</sup> − 1 bytes less a block.
///
/// ```
/// use hashloom::{Algorithm, HmacKey, hmac};
///
/// let key = HmacKey::new(Algorithm::Sha256, b"Jefe"); // RFC 4231, test case 2
/// let tag = hmac(&key, b"what do ya want for nothing?");
/// assert!(tag.to_string().starts_with("5bdcc146bf60754e6a042426089575c7"));
/// assert_eq!(format!("{key:?}"), "HmacKey { algorithm: Sha256, .. }");
/// let mut hasher = key.hasher(); // for update_many
/// hasher.update(b"what do ya want for nothing?");
/// assert_eq!(key.finish(&hasher.finalize()), tag);
/// ```
#[must_use]
pub fn hmac(key: &HmacKey, message: &[u8]) -> Hash {
    Hash::of(key.algorithm(), |tag| key.key.hmac(message, tag))
}

/// The tags of many messages under one key, both hashes side by side in lanes: the tag of `messages[i]` is written to
/// the `i`-th `digest_nbytes` bytes of `tags`.
///
/// The messages may be any number, of any mixture of lengths. Up to 1,024 messages nothing is allocated; for more, an
/// array of 16 bytes a message is.
///
/// # Panics
///
/// If `tags` does not have exactly `messages.len() * digest_nbytes` bytes, or a message is longer than 2<sup>61</sup> −
/// 1 bytes less a block.
///
/// ```
/// use hashloom::{Algorithm, HmacKey, hmac, hmac_many};
///
/// let key = HmacKey::new(Algorithm::Sha256, b"a key of any length");
/// let messages: [&[u8]; 3] = [b"abc", b"", b"another"];
/// let mut tags = [0; 3 * 32];
/// hmac_many(&key, &messages, &mut tags);
/// assert_eq!(hmac(&key, b"another"), tags[64..]);
/// ```
pub fn hmac_many<M: AsRef<[u8]>>(key: &HmacKey, messages: &[M], tags: &mut [u8]) {
    check_room(key.algorithm(), messages.len(), tags);
    key.key.hmac_many(messages, tags);
}

/// The tag of a message that arrives in parts.
///
/// The context takes no heap and holds no reference, not even to the key. A clone goes on independently. The context is
/// wiped when dropped.
///
/// ```
/// use hashloom::{Algorithm, Hmac, HmacKey, TagMismatch, hmac};
///
/// let key = HmacKey::new(Algorithm::Sha256, b"secret");
/// let mut mac = Hmac::new(&key);
/// mac.update(b"a");
/// mac.update(b"bc");
/// let tag = hmac(&key, b"abc");
/// assert!(mac.clone().verify(tag.as_ref()).is_ok());
/// assert_eq!(mac.clone().verify(&tag.as_ref()[..16]), Err(TagMismatch));
/// assert!(mac.clone().verify_truncated(&tag.as_ref()[..16], 16).is_ok()); // HMAC-SHA-256-128 of RFC 4868
/// assert_eq!((mac.finalize_reset(), mac.finalize()), (tag, hmac(&key, b"")));
/// ```
#[derive(Clone)]
pub struct Hmac {
    ctx: ffi::MacCtx,
    key: HmacKey,
}

impl Hmac {
    /// Begins an empty message.
    pub fn new(key: &HmacKey) -> Self {
        Hmac { ctx: ffi::MacCtx::new(&key.key), key: key.clone() }
    }

    /// Appends data to the message.
    ///
    /// # Panics
    ///
    /// If the message grows beyond 2<sup>61</sup> − 1 bytes less a block.
    pub fn update(&mut self, data: &[u8]) {
        self.ctx.update(data);
    }

    /// Ends the message and returns its tag. To check a tag that came with the message, use [`verify`](Self::verify).
    #[must_use]
    pub fn finalize(mut self) -> Hash {
        self.tag()
    }

    /// Ends the message, returns its tag, and begins an empty message with the same key.
    pub fn finalize_reset(&mut self) -> Hash {
        let tag = self.tag();
        self.reset();
        tag
    }

    /// Discards the message and begins an empty one with the same key.
    pub fn reset(&mut self) {
        self.ctx.reset(&self.key.key);
    }

    /// Ends the message and checks the tag that came with it. The time does not depend on where the two tags differ.
    ///
    /// # Errors
    ///
    /// [`TagMismatch`] if `tag` is not the whole tag of the message. A part of the tag is an error: see
    /// [`verify_truncated`](Self::verify_truncated).
    pub fn verify(self, tag: &[u8]) -> Result<(), TagMismatch> {
        let nbytes = self.algorithm().digest_nbytes();
        self.verify_truncated(tag, nbytes)
    }

    /// The same check for a protocol that sends only the first `nbytes` bytes of tags (FIPS 198-1 section 5).
    ///
    /// # Errors
    ///
    /// [`TagMismatch`] if `tag` does not have exactly `nbytes` bytes, or they are not the first bytes of the message's
    /// tag.
    ///
    /// # Panics
    ///
    /// If `nbytes` is less than 10, the least that RFC 2104 section 5 allows, or more than the length of a tag.
    pub fn verify_truncated(mut self, tag: &[u8], nbytes: usize) -> Result<(), TagMismatch> {
        let digest_nbytes = self.algorithm().digest_nbytes();
        assert!(
            (SHORTEST_TAG_NBYTES..=digest_nbytes).contains(&nbytes),
            "a truncated tag of {nbytes} bytes; it has {SHORTEST_TAG_NBYTES} to {digest_nbytes}"
        );
        if ffi::equal(&self.tag().as_ref()[..nbytes], tag) { Ok(()) } else { Err(TagMismatch) }
    }

    /// The algorithm of the key.
    pub fn algorithm(&self) -> Algorithm {
        self.key.algorithm()
    }

    /// Computes the tag and leaves the context final.
    fn tag(&mut self) -> Hash {
        Hash::of(self.algorithm(), |tag| self.ctx.finalize(&self.key.key, tag))
    }
}

/// A tag is not that of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagMismatch;

impl fmt::Display for TagMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the tag is not that of the message under this key")
    }
}

impl core::error::Error for TagMismatch {}

/// Panics, in the name of the function `caller`, if there is no HMAC with the algorithm.
#[track_caller]
pub(crate) fn check_mac(caller: &str, algorithm: Algorithm) {
    assert!(algorithm.has_hmac(), "{caller}: HMAC is not defined with {algorithm}");
}

/// Least length of a truncated tag: 80 bits (RFC 2104 section 5).
const SHORTEST_TAG_NBYTES: usize = 10;

crate::hasher::stream!(Hmac);

#[cfg(feature = "zeroize")]
impl zeroize::ZeroizeOnDrop for HmacKey {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hasher_and_finish() {
        for &algorithm in Algorithm::ALL.iter().filter(|algorithm| algorithm.has_hmac()) {
            let key = HmacKey::new(algorithm, b"secret");
            let mut hasher = key.hasher();
            hasher.update(b"message");
            assert_eq!(key.finish(&hasher.finalize()), hmac(&key, b"message"), "{algorithm}");
        }
    }
}
