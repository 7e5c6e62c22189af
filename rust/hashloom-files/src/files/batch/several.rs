// SPDX-License-Identifier: MIT OR Apache-2.0

//! Long files of which several digests are wanted: threads without work of their own hash for some of these.
//!
//! The thread that has the file in a lane reads it into buffers. Each digest takes all buffers, in order, and one
//! thread at a time hashes for it. The end of the file is read as that of any file: the hashers come back to the lane
//! before. A buffer that cannot be filled ends the sharing too, and the lane finds out why.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use hashloom::Hasher;

use super::shared::{Help, Shared};
use crate::lanes::Part;
use crate::read::buffer::{Arena, Buffer};
use crate::run::lock;

/// Bytes that are read at once.
pub(super) const PART_NBYTES: usize = 256 << 10;

/// Number of buffers, and of parts that some digest lacks.
const COUNT: usize = 4;

/// The digests of a file.
pub(super) struct Several {
    buffers: Arc<Arena>,
    state: Mutex<State>,
}

struct State {
    /// Parts that some digest lacks, and the number of the first.
    parts: VecDeque<(Arc<Part>, Range<u64>)>,
    first: u64,
    digests: Vec<Digest>,
    /// Number of bytes read, and of those that all digests have.
    nread: u64,
    nhashed: u64,
    /// Whether no part comes any more.
    is_read: bool,
}

struct Digest {
    /// `None` while a thread has it.
    hasher: Option<Hasher>,
    /// The number of the part that comes next.
    next: u64,
}

impl Several {
    /// The hashers have taken the first `nbytes` bytes of the file.
    pub(super) fn new(hashers: Vec<Hasher>, nbytes: u64) -> Arc<Several> {
        let digests = hashers.into_iter().map(|hasher| Digest { hasher: Some(hasher), next: 0 }).collect();
        let state = State { parts: VecDeque::new(), first: 0, digests, nread: nbytes, nhashed: nbytes, is_read: false };
        Arc::new(Several { buffers: Arena::new(COUNT), state: Mutex::new(state) })
    }

    /// The place in the file of the part that is read next; `None` if digests lack many, or no part comes any more.
    pub(super) fn next_part(&self) -> Option<u64> {
        let state = lock(&self.state);
        (!state.is_read && state.parts.len() < COUNT).then_some(state.nread)
    }

    /// A buffer for the next part.
    pub(super) fn buffer(&self) -> Option<Buffer> {
        self.buffers.take()
    }

    /// Adds the bytes of a part from the next one on, up to `end`.
    pub(super) fn add(&self, part: Arc<Part>, end: u64) {
        let mut state = lock(&self.state);
        let range = state.nread..end;
        state.nread = end;
        state.parts.push_back((part, range));
    }

    /// No part comes any more.
    pub(super) fn end(&self) {
        lock(&self.state).is_read = true;
    }

    /// The end of the bytes that all digests have. At the end also the hashers.
    pub(super) fn take(&self) -> (u64, Option<Vec<Hasher>>) {
        let mut state = lock(&self.state);
        let is_over = state.is_read && state.parts.is_empty();
        let hashers = state.digests.iter_mut().filter(|_| is_over).filter_map(|digest| digest.hasher.take()).collect();
        (state.nhashed, is_over.then_some(hashers))
    }
}

impl Shared for Several {
    /// Hashes a part for a digest that has taken least.
    fn help(&self, _buffer: &mut Vec<u8>) -> Help {
        let mut state = lock(&self.state);
        let (first, end) = (state.first, state.first + state.parts.len() as u64);
        let is_free = |digest: &Digest| digest.hasher.is_some() && digest.next < end;
        let free = (0..state.digests.len()).filter(|&at| is_free(&state.digests[at]));
        let next = free.min_by_key(|&at| state.digests[at].next);
        let Some((at, mut hasher)) = next.and_then(|at| Some((at, state.digests[at].hasher.take()?))) else {
            return if state.is_read && first == end { Help::Over } else { Help::NotNow };
        };
        let (part, range) = state.parts[(state.digests[at].next - first) as usize].clone();
        drop(state);
        hasher.update(part.bytes(range));
        drop(part);
        let mut state = lock(&self.state);
        state.digests[at].hasher = Some(hasher);
        state.digests[at].next += 1;
        while state.digests.iter().all(|digest| digest.next > state.first) {
            let Some((_, range)) = state.parts.pop_front() else { break };
            state.first += 1;
            state.nhashed = range.end;
        }
        Help::Done
    }
}
