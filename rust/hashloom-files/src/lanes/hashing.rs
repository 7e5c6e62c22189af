// SPDX-License-Identifier: MIT OR Apache-2.0

//! Hashes the chunks of a round.

use hashloom::{Algorithm, Hash, Hasher, finalize_many, hash_many, update_many};

use super::lane::{Lane, Message};
use super::{Chunk, Leaves, Places};

/// A result to compute from a message: a digest, or a MAC, with or without bytes around those of the message.
pub trait Form {
    /// The hash function.
    fn algorithm(&self) -> Algorithm;

    /// The hasher that a message starts with.
    fn hasher(&self) -> Hasher;

    /// Appends what comes after a message of `nbytes` bytes.
    fn append_end(&self, _hasher: &mut Hasher, _nbytes: u64) {}

    /// Turns the digest of all that went through the hasher into the result.
    fn finish(&self, digest: Hash) -> Hash {
        digest
    }

    /// Whether [`hash_many`] computes the result.
    fn is_plain(&self) -> bool;
}

/// A message's hashers and digests.
#[derive(Default)]
pub(crate) struct Hashing {
    /// One hasher for each form; empty in the first round. A hasher is taken out while it is in use.
    pub(super) hashers: Vec<Option<Hasher>>,
    /// Nothing, or a digest for each form: those that are not set yet have any value.
    pub(super) digests: Vec<Hash>,
}

impl Hashing {
    /// Whether nothing of the message was hashed before this round.
    fn is_new(&self) -> bool {
        self.hashers.is_empty()
    }

    fn set(&mut self, slot: usize, count: usize, digest: Hash) {
        if self.digests.is_empty() {
            self.digests = vec![digest; count];
        }
        self.digests[slot] = digest;
    }
}

/// The place of a form: the number of the lane, and that of the form.
type Place = (usize, usize);

/// Hashes the chunks of all lanes, and ends those that are at their end. `hashers` is kept for reuse.
pub(super) fn hash_round<M: Message>(lanes: &mut [Lane<M>], places: &Places, hashers: &mut Vec<Hasher>) {
    let mut algorithms = Vec::new();
    for form in lanes.iter().filter(|lane| lane.is_hashed()).flat_map(|lane| lane.message.forms()) {
        if !algorithms.contains(&form.algorithm()) {
            algorithms.push(form.algorithm());
        }
    }
    for algorithm in algorithms {
        // Messages that begin and end in this round need no hasher. Among the others, messages that end come first.
        let (mut whole, mut ending, mut going_on) = (Vec::new(), Vec::new(), Vec::new());
        for (index, lane) in lanes.iter().enumerate().filter(|(_, lane)| lane.is_hashed()) {
            for (slot, form) in
                lane.message.forms().iter().enumerate().filter(|(_, form)| form.algorithm() == algorithm)
            {
                if !lane.has_ended() {
                    going_on.push((index, slot));
                } else if lane.hashing.is_new() && form.is_plain() {
                    whole.push((index, slot));
                } else {
                    ending.push((index, slot));
                }
            }
        }
        if !whole.is_empty() {
            hash_whole(lanes, places, algorithm, &whole);
        }
        let nending = ending.len();
        ending.append(&mut going_on);
        if !ending.is_empty() {
            hash_parts(lanes, places, algorithm, &ending, nending);
        }
    }
    hash_leaves(lanes, places, hashers);
}

fn hash_whole<M: Message>(lanes: &mut [Lane<M>], places: &Places, algorithm: Algorithm, which: &[Place]) {
    let chunks: Vec<&[u8]> = which.iter().map(|&(index, _)| lanes[index].chunk.bytes(places)).collect();
    let mut digests = vec![0; which.len() * algorithm.digest_nbytes()];
    hash_many(algorithm, &chunks, &mut digests);
    for (&(index, slot), bytes) in which.iter().zip(digests.chunks_exact(algorithm.digest_nbytes())) {
        let count = lanes[index].message.forms().len();
        lanes[index].hashing.set(slot, count, Hash::new(algorithm, bytes));
    }
}

/// Hashes parts of messages; the first `nending` of `which` end their messages.
fn hash_parts<M: Message>(
    lanes: &mut [Lane<M>],
    places: &Places,
    algorithm: Algorithm,
    which: &[Place],
    nending: usize,
) {
    let mut hashers: Vec<Hasher> = which.iter().map(|&(index, slot)| take_hasher(&mut lanes[index], slot)).collect();
    let chunks: Vec<&[u8]> = which.iter().map(|&(index, _)| lanes[index].chunk.bytes(places)).collect();
    update_many(&mut hashers, &chunks);
    for (&(index, _), hasher) in which.iter().zip(&mut hashers) {
        if let Chunk::Subtrees(nbytes, values) = &lanes[index].chunk {
            values.iter().for_each(|value| hasher.add_blake3_subtree(*nbytes, value));
        }
    }
    for (&(index, slot), hasher) in which.iter().zip(&mut hashers).take(nending) {
        lanes[index].message.forms()[slot].append_end(hasher, lanes[index].end());
    }
    let mut digests = vec![0; nending * algorithm.digest_nbytes()];
    if algorithm == Algorithm::Blake3 {
        // Each has its own tree, and may have a key, with which no hasher begins anew.
        for (hasher, digest) in hashers.iter().zip(digests.chunks_exact_mut(algorithm.digest_nbytes())) {
            digest.copy_from_slice(hasher.clone().finalize().as_ref());
        }
    } else {
        finalize_many(&mut hashers[..nending], &mut digests);
    }
    for (&(index, slot), bytes) in which.iter().zip(digests.chunks_exact(algorithm.digest_nbytes())) {
        let Lane { message, hashing, .. } = &mut lanes[index];
        hashing.set(slot, message.forms().len(), message.forms()[slot].finish(Hash::new(algorithm, bytes)));
    }
    for (&(index, slot), hasher) in which.iter().zip(hashers).skip(nending) {
        lanes[index].hashing.hashers[slot] = Some(hasher);
    }
}

fn take_hasher<M: Message>(Lane { message, hashing, .. }: &mut Lane<M>, slot: usize) -> Hasher {
    hashing.hashers.resize_with(message.forms().len(), || None);
    hashing.hashers[slot].take().unwrap_or_else(|| message.forms()[slot].hasher())
}

/// Hashes the leaves in the chunks, the last of which may be short.
fn hash_leaves<M: Message>(lanes: &mut [Lane<M>], places: &Places, hashers: &mut Vec<Hasher>) {
    let Some((form, _)) = lanes.iter().find_map(|lane| lane.message.leaves()) else { return };
    let leaf_nbytes = form.leaf_nbytes as usize;
    let covered = |lane: &Lane<M>| {
        let end = lane.message.leaves().map_or(0, |(_, end)| end);
        end.saturating_sub(lane.nbytes).min(lane.chunk.nbytes()) as usize
    };
    let longest = lanes.iter().map(covered).max().unwrap_or(0);
    let (mut leaves, mut whose): (Vec<&[u8]>, Vec<usize>) = (Vec::new(), Vec::new());
    // The first leaf of each chunk, then the second: the kernels over SHA instructions prefetch beyond the end of each
    // message, and find there a message that comes soon.
    for start in (0..longest).step_by(leaf_nbytes) {
        for (index, lane) in lanes.iter().enumerate() {
            let covered = covered(lane);
            if start < covered {
                leaves.push(&lane.chunk.bytes(places)[start..covered.min(start + leaf_nbytes)]);
                whose.push(index);
            }
        }
    }
    let digest_nbytes = form.algorithm.digest_nbytes();
    let mut digests = vec![0; leaves.len() * digest_nbytes];
    Leaves::hash_many(form, &leaves, hashers, &mut digests);
    for (&index, digest) in whose.iter().zip(digests.chunks_exact(digest_nbytes)) {
        lanes[index].message.push_leaf(digest);
    }
}
