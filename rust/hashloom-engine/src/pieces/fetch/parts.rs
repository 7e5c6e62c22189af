// SPDX-License-Identifier: MIT OR Apache-2.0

//! Parts of files that were read ahead and wait to be hashed.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::pieces::lock;
use crate::read::buffer::{Arena, Buffer};

/// Largest number of bytes in a part. A hard disk reads so much in 5 ms, an SSD in 0.2 to 2 ms.
pub(in crate::pieces) const PART_NBYTES: u64 = Arena::BUFFER_NBYTES as u64;

/// A part of a file that was read.
pub(in crate::pieces) struct Part {
    /// The part's place in the content.
    range: Range<u64>,
    /// The place of the part's first byte in the buffer, which short files share.
    start: usize,
    buffer: Arc<Buffer>,
}

impl Part {
    /// The bytes at `range` of the content are in `buffer` from `start` on.
    pub(super) fn new(range: Range<u64>, start: usize, buffer: &Arc<Buffer>) -> Part {
        Part { range, start, buffer: buffer.clone() }
    }

    /// The place in the content.
    pub(in crate::pieces) fn range(&self) -> &Range<u64> {
        &self.range
    }

    /// The bytes at a range of the content, which must lie in this part.
    pub(in crate::pieces) fn bytes(&self, range: Range<u64>) -> &[u8] {
        let at = |pos| self.start + (pos - self.range.start) as usize;
        &self.buffer.bytes()[at(range.start)..at(range.end)]
    }
}

/// The parts of a content that wait to be hashed, by their place. Parts do not overlap.
#[derive(Default)]
pub(in crate::pieces) struct Parts {
    count: AtomicUsize,
    parts: Mutex<BTreeMap<u64, Waiting>>,
}

struct Waiting {
    part: Arc<Part>,
    /// Number of bytes that are not hashed yet.
    nleft: u64,
}

impl Parts {
    pub(super) fn add(&self, part: Part) {
        let nleft = part.range.end - part.range.start;
        let mut parts = lock(&self.parts);
        parts.insert(part.range.start, Waiting { part: Arc::new(part), nleft });
        self.count.store(parts.len(), Ordering::Release);
    }

    /// The part that has the byte at `range.start`; otherwise the end of the bytes, up to `range.end`, that are in no
    /// part.
    pub(in crate::pieces) fn find(&self, range: &Range<u64>) -> Result<Arc<Part>, u64> {
        if self.count.load(Ordering::Acquire) == 0 {
            return Err(range.end);
        }
        let parts = lock(&self.parts);
        match parts.range(..=range.start).next_back() {
            Some((_, it)) if it.part.range.contains(&range.start) => Ok(it.part.clone()),
            _ => Err(parts.range(range.start..range.end).next().map_or(range.end, |(&start, _)| start)),
        }
    }

    /// Notes that a range of the content needs no more reading. Parts that nobody needs are freed. Returns the number of
    /// bytes that were in parts.
    pub(super) fn used(&self, range: Range<u64>) -> u64 {
        if self.count.load(Ordering::Acquire) == 0 {
            return 0;
        }
        let mut nused = 0;
        let mut freed = Vec::new();
        let mut parts = lock(&self.parts);
        for (&start, waiting) in parts.range_mut(..range.end).rev() {
            let end = waiting.part.range.end;
            if end <= range.start {
                break;
            }
            let nbytes = end.min(range.end) - start.max(range.start);
            waiting.nleft = waiting.nleft.saturating_sub(nbytes);
            nused += nbytes;
            if waiting.nleft == 0 {
                freed.push(start);
            }
        }
        let freed: Vec<_> = freed.iter().filter_map(|start| parts.remove(start)).collect();
        self.count.store(parts.len(), Ordering::Release);
        drop(parts);
        drop(freed);
        nused
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        lock(&self.parts).is_empty()
    }

    /// Frees all parts.
    pub(in crate::pieces) fn clear(&self) {
        let parts = std::mem::take(&mut *lock(&self.parts));
        self.count.store(0, Ordering::Release);
        drop(parts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_and_freed() {
        let buffers = Arena::new(2);
        let parts = Parts::default();
        let add = |range: Range<u64>| {
            let mut buffer = buffers.take().unwrap();
            buffer.bytes_mut()[7..].iter_mut().zip(range.clone()).for_each(|(byte, pos)| *byte = pos as u8);
            parts.add(Part::new(range, 7, &Arc::new(buffer)));
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
        assert_eq!(parts.used(0..15) + parts.used(15..31), 11);
        assert!(parts.find(&(15..16)).is_err(), "all bytes are hashed");
        let held = parts.find(&(31..32)).ok().unwrap();
        assert_eq!(parts.used(31..50), 19);
        assert!(parts.find(&(31..32)).is_err());
        assert_eq!(held.bytes(49..50), [49], "a lane still has the part");
        let free = buffers.take();
        assert!(free.is_some() && buffers.take().is_none());
        drop(held);
        assert!(buffers.take().is_some());
    }

    #[test]
    fn cleared_parts_give_back_their_buffers() {
        let buffers = Arena::new(1);
        let parts = Parts::default();
        parts.add(Part::new(0..1, 0, &Arc::new(buffers.take().unwrap())));
        parts.clear();
        assert!(parts.find(&(0..1)).is_err() && buffers.take().is_some());
    }
}
