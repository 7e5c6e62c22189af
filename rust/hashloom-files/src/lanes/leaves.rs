// SPDX-License-Identifier: MIT OR Apache-2.0

//! The leaves of a hash tree: parts of one length, each hashed with the bytes around it.

use hashloom::{Algorithm, Hasher, finalize_many, hash_many, update_many};

use super::Form;

/// The form of the leaves.
#[derive(Debug, Clone)]
pub struct Leaves {
    /// The hash function.
    pub algorithm: Algorithm,
    /// Bytes of data under a leaf, at least one.
    pub leaf_nbytes: u64,
    /// A hasher that has taken the bytes before the data, if there are any.
    pub head: Option<Hasher>,
    /// The bytes after the data.
    pub tail: Vec<u8>,
    /// Whether the last leaf's data is filled with zeros.
    pub is_filled: bool,
}

impl Leaves {
    /// Leaves with nothing around the data.
    pub fn plain(algorithm: Algorithm, leaf_nbytes: u64) -> Leaves {
        Leaves { algorithm, leaf_nbytes, head: None, tail: Vec::new(), is_filled: false }
    }

    /// The digests of short leaves, one after the other, from the data of each. `hashers` is kept for reuse.
    pub fn hash_many(&self, leaves: &[&[u8]], hashers: &mut Vec<Hasher>, digests: &mut [u8]) {
        let is_whole = |leaf: &&[u8]| leaf.len() as u64 == self.leaf_nbytes;
        if self.is_plain() || self.head.is_none() && self.tail.is_empty() && leaves.iter().all(is_whole) {
            return hash_many(self.algorithm, leaves, digests);
        }
        hashers.clear();
        hashers.resize(leaves.len(), self.hasher());
        update_many(hashers, leaves);
        if self.is_filled {
            for (leaf, hasher) in leaves.iter().zip(&mut *hashers) {
                append_zeros(hasher, self.leaf_nbytes - leaf.len() as u64);
            }
        }
        if !self.tail.is_empty() {
            update_many(hashers, &vec![&self.tail[..]; leaves.len()]);
        }
        finalize_many(hashers, digests);
    }
}

/// A leaf, with the bytes around its data.
impl Form for Leaves {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    fn hasher(&self) -> Hasher {
        self.head.clone().unwrap_or_else(|| Hasher::new(self.algorithm))
    }

    fn append_end(&self, hasher: &mut Hasher, nbytes: u64) {
        if self.is_filled {
            append_zeros(hasher, self.leaf_nbytes - nbytes);
        }
        hasher.update(&self.tail);
    }

    /// Whether a leaf's digest is that of its data, which is not filled.
    fn is_plain(&self) -> bool {
        self.head.is_none() && self.tail.is_empty() && !self.is_filled
    }
}

/// Appends zeros to a message.
pub(crate) fn append_zeros(hasher: &mut Hasher, nbytes: u64) {
    const ZEROS: [u8; 4096] = [0; 4096];
    let mut left = nbytes;
    while left > 0 {
        let part = left.min(ZEROS.len() as u64);
        hasher.update(&ZEROS[..part as usize]);
        left -= part;
    }
}
