// SPDX-License-Identifier: MIT OR Apache-2.0

//! Long files whose digest is a tree, as BLAKE3's: threads without work of their own hash subtrees of them. One thread
//! alone gains too: many chunks fill the lanes.
//!
//! The thread that has the file in a lane hashes a subtree in each round, and appends the values of all, in order, to
//! the lane's hasher. The end of the file, after the last subtree, is read as that of any file. A subtree that cannot
//! be read whole ends the sharing: the lane goes on from there, and finds out why.

use std::fs::File;
use std::iter;
use std::sync::{Arc, Mutex};

use hashloom::{Algorithm, Hasher};

use super::shared::{Help, Shared, WORTH_SHARING_NBYTES};
use crate::files::request::Method;
use crate::lanes::Form;
use crate::read::ahead::{LANE_NBYTES, read_ahead};
use crate::read::buffer::zeros;
use crate::read::open::read_exact_at;
use crate::run::{InOrder, lock};

/// Bytes in a subtree: they stay in the second-level cache between the read and the hash.
pub(crate) const SUBTREE_NBYTES: u64 = 256 << 10;

/// A value of a subtree.
pub(crate) type Value = [u8; 32];

/// A file whose subtrees any thread may hash.
pub(super) struct Tree {
    file: Arc<File>,
    /// The hasher that has the key.
    hasher: Hasher,
    state: Mutex<State>,
}

/// Subtrees have numbers from 0 on.
struct State {
    /// The subtree to hash next, and the first that is not to be hashed.
    next: u64,
    end: u64,
    /// Number of subtrees that threads hash now.
    nunderway: usize,
    /// The values that the lane does not have yet.
    values: InOrder<Value>,
}

impl Tree {
    /// `None` if the file, of which nothing is read, is too short, or no digest of it is a tree.
    pub(super) fn new(file: &Arc<File>, nbytes: u64, method: &Method) -> Option<Arc<Tree>> {
        if method.algorithm() != Algorithm::Blake3 || nbytes < WORTH_SHARING_NBYTES {
            return None;
        }
        // A message does not end with a subtree.
        let end = nbytes.saturating_sub(1) / SUBTREE_NBYTES;
        let state = State { next: 0, end, nunderway: 0, values: InOrder::new() };
        Some(Arc::new(Tree { file: file.clone(), hasher: method.hasher(), state: Mutex::new(state) }))
    }

    /// The value of the subtree at `offset`; `None` if it cannot be read.
    fn value(&self, offset: u64, buffer: &mut [u8]) -> Option<Value> {
        if offset % LANE_NBYTES == 0 {
            let asked = if offset == 0 { SUBTREE_NBYTES } else { offset + LANE_NBYTES };
            read_ahead(&self.file, asked..offset + 2 * LANE_NBYTES);
        }
        read_exact_at(&self.file, buffer, offset).ok()?;
        Some(self.hasher.blake3_subtree(offset, buffer))
    }

    /// The values that follow those taken before; `None` if there will be no more.
    pub(super) fn take(&self) -> Option<Vec<Value>> {
        let mut state = lock(&self.state);
        let values: Vec<Value> = iter::from_fn(|| state.values.take()).collect();
        let is_over = state.next >= state.end && state.nunderway == 0;
        (!is_over || !values.is_empty()).then_some(values)
    }
}

impl Shared for Tree {
    /// Hashes the next subtree.
    fn help(&self, buffer: &mut Vec<u8>) -> Help {
        if buffer.is_empty() {
            *buffer = zeros(SUBTREE_NBYTES as usize).unwrap_or_default();
        }
        let mut state = lock(&self.state);
        if buffer.is_empty() {
            state.end = state.end.min(state.next);
        }
        if state.next >= state.end {
            return Help::Over;
        }
        let number = state.next;
        state.next += 1;
        state.nunderway += 1;
        drop(state);
        let value = self.value(number * SUBTREE_NBYTES, buffer);
        let mut state = lock(&self.state);
        state.nunderway -= 1;
        match value {
            Some(value) => state.values.put(number, value),
            None => state.end = state.end.min(number),
        }
        Help::Done
    }
}
