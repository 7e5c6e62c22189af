// SPDX-License-Identifier: MIT OR Apache-2.0

//! A thread's buffer for the bytes that are read in a round.

use std::iter::StepBy;
use std::ops::{Range, RangeFrom};

use crate::read::buffer::zeros;
use crate::read::ring::Lost;

/// Largest number of bytes read of a message at once.
const CHUNK_NBYTES: usize = 32 << 10;

/// Number of bytes to read in a round; the last files may exceed it. Together with the kernels' data, the bytes of a
/// round shall stay in the second-level cache.
const ROUND_NBYTES: usize = 512 << 10;

/// Largest number of messages in a round. Each has a place for a chunk, and uses only as much of the place as it needs.
const ROUND_MAX: usize = 64;

/// Distance from place to place. At a power of two all chunks would fall into the same few sets of the first-level
/// cache.
const STRIDE: usize = CHUNK_NBYTES + 64;

/// A thread's buffer, with places for one chunk each.
pub(super) struct RoundBuffer {
    pub(super) bytes: Vec<u8>,
    /// Number of places taken, and of bytes read into them.
    ntaken: usize,
    pub(super) nbytes: usize,
}

impl RoundBuffer {
    /// `None` if there is no memory for the buffer.
    pub(super) fn new() -> Option<RoundBuffer> {
        Some(RoundBuffer { bytes: zeros(ROUND_MAX * STRIDE)?, ntaken: 0, nbytes: 0 })
    }

    pub(super) fn clear(&mut self) {
        (self.ntaken, self.nbytes) = (0, 0);
    }

    /// Number of chunks that may still be read in this round.
    pub(super) fn nchunks(&self) -> usize {
        if self.nbytes < ROUND_NBYTES { ROUND_MAX - self.ntaken } else { 0 }
    }

    /// Takes the next place; `read` fills a part of it.
    pub(super) fn next(&mut self, read: impl FnOnce(&mut [u8]) -> usize) -> Range<usize> {
        let start = self.ntaken * STRIDE;
        let nbytes = read(&mut self.bytes[start..][..CHUNK_NBYTES]);
        self.ntaken += 1;
        self.nbytes += nbytes;
        start..start + nbytes
    }

    /// Takes the next place for `nbytes` bytes that are elsewhere in memory.
    pub(super) fn pass(&mut self, nbytes: usize) {
        self.ntaken += 1;
        self.nbytes += nbytes;
    }

    /// Takes the next `count` places. Returns the results of `read`, and the offsets of the places.
    pub(super) fn fill<B>(
        &mut self,
        count: usize,
        read: impl FnOnce(&mut [&mut [u8]]) -> Result<Vec<B>, Lost>,
    ) -> Result<(Vec<B>, StepBy<RangeFrom<usize>>), Lost> {
        let start = self.ntaken * STRIDE;
        let places = self.bytes[start..].chunks_mut(STRIDE).take(count);
        let mut chunks: Vec<&mut [u8]> = places.map(|place| &mut place[..CHUNK_NBYTES]).collect();
        let read = read(&mut chunks).inspect_err(|_| {
            // The kernel may still write to the old buffer, from the first of these places on.
            let mut bytes = vec![0; self.bytes.len()];
            bytes[..start].copy_from_slice(&self.bytes[..start]);
            std::mem::forget(std::mem::replace(&mut self.bytes, bytes));
        })?;
        self.ntaken += count;
        Ok((read, (start..).step_by(STRIDE)))
    }
}
