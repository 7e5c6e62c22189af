// SPDX-License-Identifier: MIT OR Apache-2.0
//! BLAKE3 with a key, and subtrees of one long message.
#![cfg(feature = "blake3")]

use crate::{Algorithm, Hasher, ffi};

/// Bytes in a chunk, the least subtree (BLAKE3 section 2.1).
const BLAKE3_CHUNK_NBYTES: u64 = 1024;

impl Hasher {
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
}
