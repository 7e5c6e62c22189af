// SPDX-License-Identifier: MIT OR Apache-2.0

//! Bytes that readers read before lanes need them, in parts that wait to be hashed.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::Part;
use crate::read::direct::Direct;
use crate::read::open::{Residence, residence};
use crate::run::lock;

/// The end of the fetched bytes if none are fetched, or no more: lanes read what is in no part.
pub(crate) const ALL: u64 = u64::MAX;

/// Parts of a file, or of a job's files laid end to end, by their place. Parts do not overlap.
pub(crate) struct Fetched {
    /// Lanes may read up to here: readers have read the bytes, or leave them to the lanes.
    end: AtomicU64,
    count: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    parts: BTreeMap<u64, Waiting>,
    /// Ranges that needed no more reading before they were read: their pieces lacked other bytes.
    early: Vec<Range<u64>>,
    /// Number of times that all parts were cleared.
    round: u64,
}

struct Waiting {
    part: Arc<Part>,
    /// Number of bytes that are not hashed yet.
    nleft: u64,
}

impl Fetched {
    /// Nothing is there yet, and lanes may read up to `end`.
    pub(crate) fn new(end: u64) -> Fetched {
        Fetched { end: AtomicU64::new(end), count: AtomicUsize::new(0), state: Mutex::default() }
    }

    /// Lanes may read up to here.
    pub(crate) fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// Lets lanes read up to `end`.
    pub(crate) fn pass(&self, end: u64) {
        self.end.store(end, Ordering::Release);
    }

    /// The number of this round. A reader asks for it before it opens a file.
    pub(crate) fn round(&self) -> u64 {
        lock(&self.state).round
    }

    /// Adds a part that was read in a round. A part of an earlier round is dropped: its file may have changed since.
    pub(crate) fn add(&self, part: Part, round: u64) {
        let mut state = lock(&self.state);
        let nearly = state.early.iter().map(|early| overlap(early, part.range())).sum();
        let nleft = (part.range().end - part.range().start).saturating_sub(nearly);
        if state.round == round && nleft > 0 {
            state.parts.insert(part.range().start, Waiting { part: Arc::new(part), nleft });
            self.count.store(state.parts.len(), Ordering::Release);
        }
    }

    /// The part that has the byte at `range.start`; otherwise the end of the bytes, up to `range.end`, that are in no
    /// part.
    pub(crate) fn find(&self, range: &Range<u64>) -> Result<Arc<Part>, u64> {
        if self.count.load(Ordering::Acquire) == 0 {
            return Err(range.end);
        }
        let State { parts, .. } = &*lock(&self.state);
        match parts.range(..=range.start).next_back() {
            Some((_, it)) if it.part.range().contains(&range.start) => Ok(it.part.clone()),
            _ => Err(parts.range(range.start..range.end).next().map_or(range.end, |(&start, _)| start)),
        }
    }

    /// Notes that a range needs no more reading. Parts that nobody needs are freed.
    pub(crate) fn used(&self, range: Range<u64>) {
        let is_early = range.end > self.end();
        if range.is_empty() || self.count.load(Ordering::Acquire) == 0 && !is_early {
            return;
        }
        let mut freed = Vec::new();
        let mut state = lock(&self.state);
        for (&start, waiting) in state.parts.range_mut(..range.end).rev() {
            if waiting.part.range().end <= range.start {
                break;
            }
            waiting.nleft = waiting.nleft.saturating_sub(overlap(waiting.part.range(), &range));
            if waiting.nleft == 0 {
                freed.push(start);
            }
        }
        let freed: Vec<_> = freed.iter().filter_map(|start| state.parts.remove(start)).collect();
        self.count.store(state.parts.len(), Ordering::Release);
        if is_early {
            state.early.push(range);
        }
        drop(state);
        drop(freed);
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.state).parts.is_empty()
    }

    /// Frees all parts, and those that are still being read.
    pub(crate) fn clear(&self) {
        let mut state = lock(&self.state);
        let before = std::mem::take(&mut *state);
        state.round = before.round + 1;
        self.count.store(0, Ordering::Release);
        drop(state);
        drop(before);
    }
}

/// Number of bytes that two ranges share.
fn overlap(a: &Range<u64>, b: &Range<u64>) -> u64 {
    a.end.min(b.end).saturating_sub(a.start.max(b.start))
}

/// The tasks of readers for one [`Fetched`], which end in any order.
#[derive(Default)]
pub(crate) struct Tasks {
    /// For each task, from the first unfinished one on: the end of the bytes that need no reading after it, and whether
    /// it is finished.
    list: VecDeque<(u64, bool)>,
    /// Number of tasks that have left the list.
    npassed: u64,
}

impl Tasks {
    /// Begins a task, after which the bytes up to `end` need no reading. Returns the task's number.
    pub(crate) fn begin(&mut self, end: u64) -> u64 {
        self.list.push_back((end, false));
        self.npassed + self.list.len() as u64 - 1
    }

    /// The end of a task, if the task was begun last.
    pub(crate) fn last_mut(&mut self, number: u64) -> Option<&mut u64> {
        let is_last = number + 1 == self.npassed + self.list.len() as u64;
        self.list.back_mut().filter(|_| is_last).map(|(end, _)| end)
    }

    /// Notes that a task is finished. Returns the end of the bytes that need no more reading, if it has moved.
    pub(crate) fn finish(&mut self, number: u64) -> Option<u64> {
        self.list[(number - self.npassed) as usize].1 = true;
        let mut passed = None;
        while let Some(&(end, true)) = self.list.front() {
            passed = Some(end);
            self.list.pop_front();
            self.npassed += 1;
        }
        passed
    }

    /// Whether all tasks are finished.
    pub(crate) fn are_done(&self) -> bool {
        self.list.is_empty()
    }
}

/// Reads a range of a file for lanes, to the beginning of `buffer`. Returns the place of the first byte there. `None`
/// if the range is in memory, or cannot be read whole: then lanes read it, and find out why.
pub(crate) fn read_part<K: PartialEq>(
    direct: &mut Direct<K>,
    key: K,
    file: &File,
    range: Range<u64>,
    is_short: bool,
    buffer: &mut [u8],
) -> Option<usize> {
    // A short file costs little to read, wherever it is, and its lane then need not open it.
    if is_short {
        return direct.read(key, file, buffer, range, false);
    }
    // A range of which the system cannot say where it is may be in memory: it is read through the page cache.
    let places = [range.start, range.end - 1].map(|offset| residence(file, offset));
    if places == [Residence::InMemory; 2] {
        return None;
    }
    direct.read(key, file, buffer, range, places.contains(&Residence::OnDisk))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::buffer::Arena;

    #[test]
    fn parts_are_found_and_freed() {
        let buffers = Arena::new(2);
        let parts = Fetched::new(99);
        let add = |range: Range<u64>| {
            let mut buffer = buffers.take().unwrap();
            buffer.bytes_mut()[7..].iter_mut().zip(range.clone()).for_each(|(byte, pos)| *byte = pos as u8);
            parts.add(Part::new(range, 7, &Arc::new(buffer)), 0);
        };
        assert!(matches!(parts.find(&(0..9)), Err(9)));
        add(10..20);
        add(30..50);
        assert!(buffers.take().is_none(), "two buffers are in use");
        for (range, expected) in [(0..9, 9), (0..40, 10), (20..40, 30), (20..30, 30), (50..60, 60), (25..29, 29)] {
            assert_eq!(parts.find(&range).err(), Some(expected), "{range:?}");
        }
        for (range, expected) in [(10..11, 10..20), (19..60, 10..20), (10..99, 10..20), (35..36, 30..50)] {
            assert_eq!(parts.find(&range).ok().unwrap().range(), &expected, "{range:?}");
        }
        assert_eq!(parts.find(&(30..31)).ok().unwrap().bytes(33..36), [33, 34, 35]);
        parts.used(0..15);
        parts.used(15..31);
        assert!(parts.find(&(15..16)).is_err(), "all bytes are hashed");
        let held = parts.find(&(31..32)).ok().unwrap();
        parts.used(31..50);
        assert!(parts.find(&(31..32)).is_err());
        assert_eq!(held.bytes(49..50), [49], "a lane still has the part");
        parts.pass(55);
        parts.used(50..60);
        parts.pass(65);
        parts.used(60..70);
        let free = buffers.take();
        assert!(free.is_some() && buffers.take().is_none());
        drop(held);
        assert!(buffers.take().is_some());
        drop(free);
        add(52..68);
        assert!(parts.is_empty() && buffers.take().is_some(), "no byte of this part is needed");
    }

    #[test]
    fn cleared_parts_give_back_their_buffers() {
        let buffers = Arena::new(1);
        let parts = Fetched::new(99);
        let part = |buffers: &Arc<Arena>| Part::new(0..1, 0, &Arc::new(buffers.take().unwrap()));
        parts.add(part(&buffers), parts.round());
        parts.clear();
        assert!(parts.find(&(0..1)).is_err() && buffers.take().is_some());
        parts.add(part(&buffers), 0);
        assert!(parts.is_empty(), "a part of an earlier round");
    }
}
