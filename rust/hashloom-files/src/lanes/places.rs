// SPDX-License-Identifier: MIT OR Apache-2.0

//! A thread's buffer for the bytes that are read in a round, and the bytes of a message in a round.

use std::iter::StepBy;
use std::ops::{Range, RangeFrom};
use std::sync::{Arc, Mutex};

use hashloom::Hasher;

use crate::read::buffer::{Buffer, zeros};
use crate::read::ring::Lost;

/// Largest number of bytes read of a message at once. Seconds of CPU for 485 MiB, measured with 16 lanes on a core with
/// 2 MiB of second-level cache, data in the page cache: 4 KiB 0.167, 8 KiB 0.158, 16 KiB 0.151, 32 KiB 0.150, 64 KiB
/// 0.151, 128 KiB 0.158.
pub(crate) const CHUNK_MAX_NBYTES: usize = 32 << 10;

/// Bytes read at once of a message that is alone on its thread, for which a round costs as much as for many. CPU time
/// of hashlib.file_digest, SHA-256 of 128 MiB in the page cache, divided by that of files(): 32 KiB 0.957, 64 KiB
/// 0.970, 128 KiB 0.981, 256 KiB 1.004.
const ALONE_NBYTES: usize = 256 << 10;

/// The system copies whole pages to whole pages.
const PAGE_NBYTES: usize = 4 << 10;

/// Zeros that stand for holes and padding, so that no place must be filled with zeros.
static ZEROS: [u8; CHUNK_MAX_NBYTES] = [0; CHUNK_MAX_NBYTES];

/// A buffer of the last run, for the next one of few messages: new pages from the system cost a third of the CPU time
/// of a file of 128 KiB. Nobody waits for the lock, which a fork may leave locked.
static SPARE: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Largest number of bytes kept: a message that is alone takes fewer.
const SPARE_MAX_NBYTES: usize = 2 * ALONE_NBYTES;

/// Places for one chunk each. Together with the kernels' data, the bytes of a round shall stay in the second-level
/// cache.
pub(crate) struct Places {
    bytes: Vec<u8>,
    /// Offset of the first place in `bytes`, at a multiple of 64 in memory.
    start: usize,
    chunk_nbytes: usize,
    /// Number of places for chunks.
    count: usize,
    /// Number of places taken, and of bytes of this round, in places or elsewhere.
    ntaken: usize,
    nbytes: usize,
    /// Whether there is no other message: in this round, and in any.
    is_alone: bool,
    is_single: bool,
    /// Whether nothing can be hashed in this round until a stream has bytes.
    is_idle: bool,
}

impl Places {
    /// `None` if there is no memory. `chunk_nbytes`: at most [`CHUNK_MAX_NBYTES`].
    pub(crate) fn new(count: usize, chunk_nbytes: usize) -> Option<Places> {
        let nbytes = count * stride(chunk_nbytes);
        let spare = SPARE.try_lock().map_or_else(|_| Vec::new(), |mut spare| std::mem::take(&mut *spare));
        let bytes = if spare.len() < nbytes + PAGE_NBYTES { zeros(nbytes + 64)? } else { spare };
        let alignment = if bytes.len() < nbytes + PAGE_NBYTES { 64 } else { PAGE_NBYTES };
        let start = bytes.as_ptr().align_offset(alignment).min(alignment);
        Some(Places {
            bytes,
            start,
            chunk_nbytes,
            count,
            ntaken: 0,
            nbytes: 0,
            is_alone: false,
            is_single: count == 1,
            is_idle: false,
        })
    }

    /// Length of a place.
    pub(crate) fn chunk_nbytes(&self) -> usize {
        self.chunk_nbytes
    }

    /// Begins a round, of one message that is alone or of others.
    pub(crate) fn clear(&mut self, is_alone: bool) {
        (self.ntaken, self.nbytes, self.is_alone, self.is_idle) = (0, 0, is_alone, false);
    }

    /// From now on a stream may wait for its bytes: there is nothing else to do.
    pub(crate) fn idle(&mut self) {
        self.is_idle = true;
    }

    /// Whether a stream may wait for its bytes.
    pub(crate) fn is_idle(&self) -> bool {
        self.is_idle
    }

    /// Number of places taken in this round.
    pub(crate) fn ntaken(&self) -> usize {
        self.ntaken
    }

    /// Number of bytes of this round.
    pub(crate) fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// Counts bytes of this round.
    pub(crate) fn count(&mut self, nbytes: usize) {
        self.nbytes += nbytes;
    }

    /// Takes the next place. Returns its offset, for [`Chunk::Place`], and its bytes.
    pub(crate) fn next(&mut self) -> (usize, &mut [u8]) {
        let start = self.start + self.ntaken * stride(self.chunk_nbytes);
        self.ntaken += 1;
        (start, &mut self.bytes[start..][..self.chunk_nbytes])
    }

    /// Like [`Places::next`], but with up to `wanted` bytes if the message is alone.
    pub(crate) fn next_long(&mut self, wanted: u64) -> (usize, &mut [u8]) {
        let wanted = wanted.min(ALONE_NBYTES as u64) as usize;
        let stride = stride(self.chunk_nbytes);
        let count = wanted.div_ceil(stride);
        if count < 2 || self.ntaken > 0 || !(self.is_alone || self.is_single) {
            return self.next();
        }
        // Others that come in this round find as many places as without it.
        let nothers = if self.is_single { 0 } else { self.count };
        let nbytes = (count + nothers) * stride;
        if self.start + nbytes > self.bytes.len() {
            // Nothing is in any place.
            let Some(bytes) = zeros(nbytes + PAGE_NBYTES) else { return self.next() };
            (self.start, self.bytes) = (bytes.as_ptr().align_offset(PAGE_NBYTES).min(PAGE_NBYTES), bytes);
        }
        self.ntaken += count;
        (self.start, &mut self.bytes[self.start..][..wanted])
    }

    /// Takes the next `count` places. Returns the results of `read`, and the offsets of the places.
    pub(crate) fn fill<B>(
        &mut self,
        count: usize,
        read: impl FnOnce(&mut [&mut [u8]]) -> Result<Vec<B>, Lost>,
    ) -> Result<(Vec<B>, StepBy<RangeFrom<usize>>), Lost> {
        let stride = stride(self.chunk_nbytes);
        let start = self.start + self.ntaken * stride;
        let places = self.bytes[start..].chunks_mut(stride).take(count);
        let mut chunks: Vec<&mut [u8]> = places.map(|place| &mut place[..self.chunk_nbytes]).collect();
        let read = read(&mut chunks).inspect_err(|_| {
            // The kernel may still write to the old buffer, from the first of these places on.
            let mut bytes = vec![0; self.bytes.len()];
            bytes[..start].copy_from_slice(&self.bytes[..start]);
            std::mem::forget(std::mem::replace(&mut self.bytes, bytes));
        })?;
        self.ntaken += count;
        Ok((read, (start..).step_by(stride)))
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        if self.bytes.len() > SPARE_MAX_NBYTES {
            return;
        }
        if let Ok(mut spare) = SPARE.try_lock() {
            if spare.len() < self.bytes.len() {
                *spare = std::mem::take(&mut self.bytes);
            }
        }
    }
}

/// Distance from place to place: an odd number of cache lines. At a power of two all places would fall into the same
/// few sets of the first-level cache, and would evict each other while the kernel reads one block of each in turn.
fn stride(chunk_nbytes: usize) -> usize {
    chunk_nbytes + 64
}

/// The bytes of a message in a round.
#[derive(Clone)]
pub(crate) enum Chunk {
    /// A range of the thread's [`Places`].
    Place(Range<usize>),
    /// This many zeros, which are in no place.
    Zeros(usize),
    /// A range of the caller's memory.
    Memory(Arc<dyn AsRef<[u8]> + Send + Sync>, Range<usize>),
    /// A range of a buffer that a reader has filled.
    Part(Arc<Buffer>, Range<usize>),
    /// Subtrees that are hashed already: the length of each, and their values.
    Subtrees(u64, Vec<[u8; 32]>),
    /// This many bytes, which all hashers have taken elsewhere; at the end of these also the hashers.
    Hashed(u64, Vec<Hasher>),
}

impl Chunk {
    pub(crate) const NOTHING: Chunk = Chunk::Zeros(0);

    pub(crate) fn nbytes(&self) -> u64 {
        match self {
            Chunk::Place(range) | Chunk::Memory(_, range) | Chunk::Part(_, range) => range.len() as u64,
            Chunk::Zeros(nbytes) => *nbytes as u64,
            Chunk::Hashed(nbytes, _) => *nbytes,
            Chunk::Subtrees(nbytes, values) => nbytes * values.len() as u64,
        }
    }

    /// Number of bytes that were read from a file.
    pub(crate) fn nbytes_read(&self) -> u64 {
        match self {
            Chunk::Place(_) | Chunk::Part(..) | Chunk::Subtrees(..) | Chunk::Hashed(..) => self.nbytes(),
            Chunk::Zeros(_) | Chunk::Memory(..) => 0,
        }
    }

    pub(crate) fn bytes<'c>(&'c self, places: &'c Places) -> &'c [u8] {
        match self {
            Chunk::Place(range) => &places.bytes[range.clone()],
            Chunk::Zeros(nbytes) => &ZEROS[..*nbytes],
            Chunk::Memory(memory, range) => &(**memory).as_ref()[range.clone()],
            Chunk::Part(buffer, range) => &buffer.bytes()[range.clone()],
            Chunk::Subtrees(..) | Chunk::Hashed(..) => &[],
        }
    }
}

/// Bytes that a reader has read.
pub(crate) struct Part {
    /// The place in the file or the content.
    range: Range<u64>,
    /// The place of the first byte in the buffer, which short files share.
    start: usize,
    buffer: Arc<Buffer>,
}

impl Part {
    /// The bytes at `range` are in `buffer` from `start` on.
    pub(crate) fn new(range: Range<u64>, start: usize, buffer: &Arc<Buffer>) -> Part {
        Part { range, start, buffer: buffer.clone() }
    }

    /// The place in the file or the content.
    pub(crate) fn range(&self) -> &Range<u64> {
        &self.range
    }

    /// The bytes at a range, which must lie in this part.
    pub(crate) fn bytes(&self, range: Range<u64>) -> &[u8] {
        &self.buffer.bytes()[self.place(range)]
    }

    /// The same as a chunk.
    pub(crate) fn chunk(&self, range: Range<u64>) -> Chunk {
        Chunk::Part(self.buffer.clone(), self.place(range))
    }

    fn place(&self, range: Range<u64>) -> Range<usize> {
        let at = |pos| self.start + (pos - self.range.start) as usize;
        at(range.start)..at(range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_find_their_places_behind_a_long_one() {
        let mut places = Places::new(2, CHUNK_MAX_NBYTES).unwrap();
        for wanted in [40_000, 131_000, 200_000, 40_000] {
            places.clear(true);
            let (start, long) = places.next_long(wanted);
            let mut end = start + long.len();
            assert_eq!(long.len() as u64, wanted);
            for _ in 0..2 {
                let (start, place) = places.next();
                assert!(start >= end && place.len() == CHUNK_MAX_NBYTES);
                end = start + place.len();
            }
        }
    }
}
