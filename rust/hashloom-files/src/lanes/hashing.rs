// SPDX-License-Identifier: MIT OR Apache-2.0

//! Hashes the chunks of a round.

use hashloom::{Algorithm, Hash, Hasher, finalize_many, hash_many, update_many};

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

/// A message in a round.
pub(crate) trait Message {
    type Form: Form;

    /// The results to compute from the message.
    fn forms(&self) -> &[Self::Form];

    /// The bytes of this round.
    fn chunk(&self) -> &Chunk;

    /// Whether the chunk is to be hashed.
    fn is_hashed(&self) -> bool;

    /// Whether the message ends with this chunk.
    fn has_ended(&self) -> bool;

    /// Number of bytes up to the end of the chunk.
    fn nbytes(&self) -> u64;

    fn hashing(&self) -> &Hashing;

    fn hashing_mut(&mut self) -> &mut Hashing;
}

/// A message's hashers and digests.
#[derive(Default)]
pub(crate) struct Hashing {
    /// One hasher for each form; empty in the first round. A hasher is taken out while it is in use.
    hashers: Vec<Option<Hasher>>,
    /// Nothing, or a digest for each form: those that are not set yet have any value.
    pub(crate) digests: Vec<Hash>,
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

/// Moves the messages at their end, in order, to `ended`, which is empty. In most rounds all are at their end, or none is.
pub(crate) fn take_ended<M: Message>(messages: &mut Vec<M>, ended: &mut Vec<M>) {
    let nended = messages.iter().filter(|message| message.has_ended()).count();
    if nended == messages.len() {
        std::mem::swap(messages, ended);
    } else if nended > 0 {
        (*ended, *messages) = messages.drain(..).partition(M::has_ended);
    }
}

/// The place of a form: the number of the message, and that of the form.
type Place = (usize, usize);

/// Hashes the chunks of all messages, and ends those that are at their end.
pub(crate) fn hash_round<M: Message>(messages: &mut [M], places: &Places) {
    let mut algorithms = Vec::new();
    for form in messages.iter().filter(|message| message.is_hashed()).flat_map(Message::forms) {
        if !algorithms.contains(&form.algorithm()) {
            algorithms.push(form.algorithm());
        }
    }
    for algorithm in algorithms {
        // Messages that begin and end in this round need no hasher. Among the others, messages that end come first.
        let (mut whole, mut ending, mut going_on) = (Vec::new(), Vec::new(), Vec::new());
        for (index, message) in messages.iter().enumerate().filter(|(_, message)| message.is_hashed()) {
            for (slot, form) in message.forms().iter().enumerate().filter(|(_, form)| form.algorithm() == algorithm) {
                if !message.has_ended() {
                    going_on.push((index, slot));
                } else if message.hashing().is_new() && form.is_plain() {
                    whole.push((index, slot));
                } else {
                    ending.push((index, slot));
                }
            }
        }
        if !whole.is_empty() {
            hash_whole(messages, places, algorithm, &whole);
        }
        let nending = ending.len();
        ending.append(&mut going_on);
        if !ending.is_empty() {
            hash_parts(messages, places, algorithm, &ending, nending);
        }
    }
}

fn hash_whole<M: Message>(messages: &mut [M], places: &Places, algorithm: Algorithm, which: &[Place]) {
    let chunks: Vec<&[u8]> = which.iter().map(|&(index, _)| messages[index].chunk().bytes(places)).collect();
    let mut digests = vec![0; which.len() * algorithm.digest_nbytes()];
    hash_many(algorithm, &chunks, &mut digests);
    for (&(index, slot), bytes) in which.iter().zip(digests.chunks_exact(algorithm.digest_nbytes())) {
        let count = messages[index].forms().len();
        messages[index].hashing_mut().set(slot, count, Hash::new(algorithm, bytes));
    }
}

/// Hashes parts of messages; the first `nending` of `which` end their messages.
fn hash_parts<M: Message>(messages: &mut [M], places: &Places, algorithm: Algorithm, which: &[Place], nending: usize) {
    let mut hashers: Vec<Hasher> = which.iter().map(|&(index, slot)| take_hasher(&mut messages[index], slot)).collect();
    let chunks: Vec<&[u8]> = which.iter().map(|&(index, _)| messages[index].chunk().bytes(places)).collect();
    update_many(&mut hashers, &chunks);
    for (&(index, slot), hasher) in which.iter().zip(&mut hashers).take(nending) {
        messages[index].forms()[slot].append_end(hasher, messages[index].nbytes());
    }
    let mut digests = vec![0; nending * algorithm.digest_nbytes()];
    finalize_many(&mut hashers[..nending], &mut digests);
    for (&(index, slot), bytes) in which.iter().zip(digests.chunks_exact(algorithm.digest_nbytes())) {
        let message = &mut messages[index];
        let (count, digest) = (message.forms().len(), message.forms()[slot].finish(Hash::new(algorithm, bytes)));
        message.hashing_mut().set(slot, count, digest);
    }
    for (&(index, slot), hasher) in which.iter().zip(hashers).skip(nending) {
        messages[index].hashing_mut().hashers[slot] = Some(hasher);
    }
}

fn take_hasher<M: Message>(message: &mut M, slot: usize) -> Hasher {
    let count = message.forms().len();
    let hashers = &mut message.hashing_mut().hashers;
    hashers.resize_with(count, || None);
    hashers[slot].take().unwrap_or_else(|| message.forms()[slot].hasher())
}

/// Hashes the leaves in each of these chunks, the last of which may be short, and hands their digests to `append`, in
/// order for each chunk. `hashers` is kept for reuse.
pub(crate) fn hash_leaves(
    form: &Leaves,
    chunks: &[&[u8]],
    hashers: &mut Vec<Hasher>,
    mut append: impl FnMut(usize, &[u8]),
) {
    let leaf_nbytes = form.leaf_nbytes as usize;
    let (mut leaves, mut lanes): (Vec<&[u8]>, Vec<usize>) = (Vec::new(), Vec::new());
    // The first leaf of each chunk, then the second: the kernels over SHA instructions prefetch beyond the end of each
    // message, and find there a message that comes soon.
    let longest = chunks.iter().map(|chunk| chunk.len()).max().unwrap_or(0);
    for start in (0..longest).step_by(leaf_nbytes) {
        for (lane, chunk) in chunks.iter().enumerate().filter(|(_, chunk)| start < chunk.len()) {
            leaves.push(&chunk[start..chunk.len().min(start + leaf_nbytes)]);
            lanes.push(lane);
        }
    }
    let digest_nbytes = form.algorithm.digest_nbytes();
    let mut digests = vec![0; leaves.len() * digest_nbytes];
    form.hash_many(&leaves, hashers, &mut digests);
    for (&lane, digest) in lanes.iter().zip(digests.chunks_exact(digest_nbytes)) {
        append(lane, digest);
    }
}
