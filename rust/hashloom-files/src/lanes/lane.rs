// SPDX-License-Identifier: MIT OR Apache-2.0

//! A message on its way from its source to its digests. In each round it has a chunk of its bytes, which the thread
//! hashes.

use std::ops::Range;

use hashloom::{Hash, Hasher};

use super::{Chunk, Form, Hashing, Leaves, Places};
use crate::read::stamp::Verdict;
use crate::run::pool::Pool;

/// A message: the source of its bytes, and the results to compute from them.
pub(crate) trait Message: Sized {
    type Form: Form;
    /// Why there is no digest.
    type Failure;
    /// A thread's memory from one message to the next, such as its open files.
    type Own: Default;

    /// The results to compute from the whole message.
    fn forms(&self) -> &[Self::Form];

    /// The form of the message's short leaves, and the number of bytes that they cover. All messages of a run that have
    /// leaves have them in one form.
    fn leaves(&self) -> Option<(&Leaves, u64)> {
        None
    }

    /// Takes the digests of leaves, in order.
    fn push_leaf(&mut self, _digest: &[u8]) {}

    /// Whether reading may wait for somebody, as for a pipe's writer. A thread reads one such message at a time, since
    /// the second writer may wait for the first.
    fn is_stream(&self) -> bool {
        false
    }

    /// The next chunk, from byte `at` of the message on, and what comes after it. A chunk is less than a whole one only
    /// if the message ends, is a stream that has no more bytes yet, or the pool stops.
    fn read(&mut self, at: u64, own: &mut Self::Own, places: &mut Places, pool: &Pool)
    -> (Chunk, State<Self::Failure>);

    /// Notes that the bytes of this round are hashed. Returns their number; for a message that has failed, with that of
    /// the bytes which will not be read.
    fn used(&mut self, range: Range<u64>, _has_failed: bool) -> u64 {
        range.end - range.start
    }
}

/// A message that is being hashed.
pub(crate) struct Lane<M: Message> {
    pub(crate) message: M,
    pub(crate) state: State<M::Failure>,
    /// Number of bytes before this round, and the bytes of this round.
    pub(crate) nbytes: u64,
    pub(crate) chunk: Chunk,
    pub(super) hashing: Hashing,
}

/// How far a message is.
pub(crate) enum State<F> {
    /// There is more to read, or may be.
    Reading,
    /// The next bytes are not there yet: readers are to bring them.
    Waiting,
    /// The digests are known without reading.
    Known,
    /// The chunk of this round is the last. The verdict is that on the bytes.
    Ended(Verdict),
    /// There will be no digest.
    Failed(F),
}

impl<M: Message> Lane<M> {
    /// A message of which nothing is read.
    pub(crate) fn new(message: M) -> Lane<M> {
        Lane { message, state: State::Reading, nbytes: 0, chunk: Chunk::NOTHING, hashing: Hashing::default() }
    }

    /// Ends with digests that are known, of a message of `nbytes` bytes.
    pub(crate) fn set_digests(&mut self, digests: Vec<Hash>, nbytes: u64) {
        self.hashing.digests = digests;
        (self.nbytes, self.state) = (nbytes, State::Known);
    }

    pub(crate) fn fail(&mut self, failure: M::Failure) {
        self.state = State::Failed(failure);
    }

    pub(crate) fn is_known(&self) -> bool {
        matches!(self.state, State::Known)
    }

    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.state, State::Waiting)
    }

    /// Whether the message is a pipe or the like, which is not at its end.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.state, State::Reading) && self.message.is_stream()
    }

    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.state, State::Known | State::Ended(_) | State::Failed(_))
    }

    /// Whether the chunk is to be hashed.
    pub(super) fn is_hashed(&self) -> bool {
        matches!(self.state, State::Reading | State::Ended(Verdict::Whole)) && !matches!(self.chunk, Chunk::Hashed(..))
    }

    /// Number of bytes up to the end of the chunk.
    pub(crate) fn end(&self) -> u64 {
        self.nbytes + self.chunk.nbytes()
    }

    /// The digests of the forms, in order, once the message is at its end.
    pub(crate) fn take_digests(&mut self) -> Vec<Hash> {
        std::mem::take(&mut self.hashing.digests)
    }

    /// The hashers of all forms, which another takes; `None` if nothing is hashed yet.
    pub(crate) fn take_hashers(&mut self) -> Option<Vec<Hasher>> {
        let hashers: Option<Vec<Hasher>> = self.hashing.hashers.drain(..).collect();
        hashers.filter(|hashers| !hashers.is_empty())
    }

    /// Reads the next chunk.
    pub(crate) fn read(&mut self, own: &mut M::Own, places: &mut Places, pool: &Pool) {
        match self.state {
            State::Known | State::Ended(_) => return,
            // A file that cannot be opened takes a place too: the number of files of a round is bounded.
            State::Failed(_) => {
                places.next();
                return;
            }
            State::Reading | State::Waiting => {}
        }
        (self.chunk, self.state) = self.message.read(self.nbytes, own, places, pool);
        if let Chunk::Hashed(_, hashers) = &mut self.chunk {
            self.hashing.hashers.extend(hashers.drain(..).map(Some));
        }
        // The buffers of readers are bounded by themselves.
        if !matches!(self.chunk, Chunk::Part(..)) {
            places.count(self.chunk.nbytes() as usize);
        }
        pool.pay(self.chunk.nbytes_read());
    }

    /// After hashing: the number of bytes of this round.
    pub(super) fn count(&mut self) -> u64 {
        if self.is_known() {
            return self.nbytes;
        }
        let start = self.nbytes;
        self.nbytes = self.end();
        // A reader's buffer is free from now on.
        self.chunk = Chunk::NOTHING;
        self.message.used(start..self.nbytes, matches!(self.state, State::Failed(_)))
    }
}
