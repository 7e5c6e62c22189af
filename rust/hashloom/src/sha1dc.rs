// SPDX-License-Identifier: MIT OR Apache-2.0
//! SHA-1 that finds collision attacks, for Git and others that must go on with SHA-1, over many messages in lanes.
//!
//! ```
//! use hashloom::sha1dc::{self, Checked};
//!
//! let objects = ["blob 3\0abc", "blob 0\0"];
//! let mut checked = [Checked::default(); 2];
//! sha1dc::hash_many(&objects, &mut checked);
//! for (object, checked) in objects.iter().zip(&checked) {
//!     assert!(!checked.is_attack(), "half of a collision: {object}");
//! }
//! assert_eq!(checked[1].digest()[..4], [0xe6, 0x9d, 0xe2, 0x9b]);
//! let mut hasher = sha1dc::Hasher::new();
//! hasher.update(b"blob 0\0");
//! assert_eq!((sha1dc::hash(b"blob 0\0"), hasher.finalize()), (checked[1], checked[1]));
//! ```
//!
//! The digests are those of SHA-1. An attack gets another one, as from the crate `sha1-checked` and from Git's sha1dc:
//! its blocks are hashed twice more, so that the two messages differ even for callers that do not ask. An attack is
//! found if it uses one of 32 disturbance vectors, which are those of all published collisions and of any attack that
//! is known to be practical: M. Stevens, "Counter-cryptanalysis", 2013; M. Stevens and D. Shumow, "Speeding up
//! detection of SHA-1 collision attacks using unavoidable attack conditions", 2017. A false alarm has a chance of about
//! 2<sup>−160</sup> a block. How long a call takes depends on the messages: hash no secrets. A message longer than
//! 2<sup>61</sup> − 1 bytes is a panic.

use crate::ffi::sha1dc as ffi;

/// A digest of SHA-1, and whether the message is half of a collision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Checked(pub(crate) [u8; 24]);

impl Checked {
    /// The digest. Of an attack it is not that of SHA-1.
    #[must_use]
    pub fn digest(&self) -> &[u8; 20] {
        self.0.first_chunk().expect("24 bytes")
    }

    /// Whether the message holds blocks made by a collision attack: another message with the same digest was computed.
    #[must_use]
    pub fn is_attack(&self) -> bool {
        self.0[20] != 0
    }
}

/// Hashes one message.
#[must_use]
pub fn hash(message: &[u8]) -> Checked {
    let mut hasher = Hasher::new();
    hasher.update(message);
    hasher.finalize()
}

/// Hashes many messages side by side in lanes: what is found of `messages[i]` is written to `checked[i]`. Up to 1,024
/// messages nothing is allocated; for more, the function allocates 16 bytes a message.
///
/// # Panics
///
/// If `checked` is not as long as `messages`.
pub fn hash_many<M: AsRef<[u8]>>(messages: &[M], checked: &mut [Checked]) {
    let (count, room) = (messages.len(), checked.len());
    assert!(count == room, "checked has room for {room} digests, but there are {count} messages");
    ffi::hash_many(messages, checked);
}

/// A message that arrives in parts. It takes no heap; a clone goes on independently.
#[derive(Clone)]
pub struct Hasher(ffi::Ctx);

impl Hasher {
    /// Begins an empty message.
    #[must_use]
    pub fn new() -> Self {
        Hasher(ffi::Ctx::new())
    }

    /// Appends data.
    pub fn update(&mut self, data: impl AsRef<[u8]>) {
        self.0.update(data.as_ref());
    }

    /// The digest of the message, and the verdict on it.
    #[must_use]
    pub fn finalize(self) -> Checked {
        self.0.finalize()
    }
}

impl Default for Hasher {
    fn default() -> Self {
        Hasher::new()
    }
}

impl core::fmt::Debug for Hasher {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Hasher").finish_non_exhaustive()
    }
}
