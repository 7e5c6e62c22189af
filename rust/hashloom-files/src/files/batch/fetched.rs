// SPDX-License-Identifier: MIT OR Apache-2.0

//! A file that readers read, in parts that wait to be hashed.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::lock;
use crate::lanes::{Chunk, Part};
use crate::read::direct::Direct;
use crate::read::stamp::{Stamp, Verdict};

/// A file that readers read.
pub(super) struct Fetched {
    /// The request's number, which no other file of the run has.
    number: u64,
    /// The stamp from before the first read.
    stamp: Stamp,
    /// Whether the file is read past the page cache.
    is_on_disk: bool,
    part_nbytes: u64,
    state: Mutex<State>,
}

struct State {
    /// `None` after the verdict.
    file: Option<Arc<File>>,
    /// End of the parts that readers have taken, the first at the beginning.
    taken: u64,
    /// Number of parts that are being read.
    nreading: usize,
    /// Parts that wait to be hashed, by their offset.
    parts: BTreeMap<u64, Part>,
    /// Whether the rest is left to the lane.
    is_left: bool,
    /// The verdict on the bytes of all parts, and no more.
    verdict: Option<Verdict>,
}

/// What a lane finds at an offset.
pub(super) enum Next {
    /// Bytes; with the last of them the verdict, if it is known.
    Bytes(Chunk, Option<Verdict>),
    /// The end.
    End(Verdict),
    /// The bytes are not read yet.
    Later,
    /// The lane reads from here on.
    Left(Arc<File>),
}

impl Fetched {
    /// A file whose first part is being read; a part has at most `part_nbytes` bytes.
    pub(super) fn new(number: u64, file: Arc<File>, stamp: Stamp, is_on_disk: bool, part_nbytes: u64) -> Fetched {
        let taken = stamp.nbytes.min(part_nbytes);
        let file = Some(file);
        let state = State { file, taken, nreading: 1, parts: BTreeMap::new(), is_left: false, verdict: None };
        Fetched { number, stamp, is_on_disk, part_nbytes, state: Mutex::new(state) }
    }

    /// The open file, if it still needs to be read or judged.
    pub(super) fn file(&self) -> Option<Arc<File>> {
        lock(&self.state).file.clone()
    }

    pub(super) fn nbytes(&self) -> u64 {
        self.stamp.nbytes
    }

    /// The part that begins at `offset`.
    pub(super) fn part(&self, offset: u64) -> Range<u64> {
        offset..self.nbytes().min(offset + self.part_nbytes)
    }

    /// Whether there is another part to read.
    pub(super) fn goes_on(&self) -> bool {
        let state = lock(&self.state);
        !state.is_left && state.taken < self.nbytes()
    }

    /// Takes the next part to read, if there is one.
    pub(super) fn next_part(&self) -> Option<u64> {
        let mut state = lock(&self.state);
        if state.is_left || state.taken == self.nbytes() {
            return None;
        }
        let Range { start, end } = self.part(state.taken);
        state.taken = end;
        state.nreading += 1;
        Some(start)
    }

    /// Reads a part to the beginning of `buffer`. Returns the offset of its first byte there; `None` if it cannot be read
    /// whole.
    pub(super) fn read(&self, offset: u64, direct: &mut Direct<u64>, buffer: &mut [u8]) -> Option<usize> {
        let range = self.part(offset);
        direct.read(self.number, &*self.file()?, buffer, range, self.is_on_disk)
    }

    /// Notes that a part was read, or could not be.
    pub(super) fn note(&self, offset: u64, part: Option<Part>) {
        let mut state = lock(&self.state);
        match part {
            Some(part) => drop(state.parts.insert(offset, part)),
            None => state.is_left = true,
        }
        if state.is_left || state.nreading > 1 || state.taken < self.nbytes() {
            state.nreading -= 1;
            return;
        }
        let Some(file) = state.file.take() else { return };
        drop(state);
        let verdict = self.stamp.judge(&file, self.nbytes());
        let mut state = lock(&self.state);
        state.nreading -= 1;
        state.verdict = Some(verdict);
    }

    /// Leaves what no reader has taken to the lane.
    pub(super) fn give_up(&self) {
        lock(&self.state).is_left = true;
    }

    /// The next bytes of a lane that has those before `offset`.
    pub(super) fn take(&self, offset: u64) -> Next {
        let mut state = lock(&self.state);
        if let Some(part) = state.parts.remove(&offset) {
            let range = part.range().clone();
            let verdict = if range.end == self.nbytes() { state.verdict.take() } else { None };
            return Next::Bytes(part.chunk(range), verdict);
        }
        if let Some(verdict) = state.verdict.take() {
            return Next::End(verdict);
        }
        if !state.is_left || state.nreading > 0 {
            return Next::Later;
        }
        state.parts.clear();
        state.file.take().map_or(Next::Later, Next::Left)
    }
}
