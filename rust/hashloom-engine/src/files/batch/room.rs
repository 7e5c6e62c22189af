// SPDX-License-Identifier: MIT OR Apache-2.0

//! A thread's buffer: what is read in a round.

use std::ops::Range;

use crate::read::buffer::zeros;
use crate::read::ring::Lost;

/// The most that is read of a message at once.
pub(super) const CHUNK_NBYTES: usize = 32 << 10;

/// So much is read in a round, and what the last files have beyond it: with what the kernels use it shall stay in the
/// second-level cache.
const ROUND_NBYTES: usize = 512 << 10;

/// Messages of a round. Each has a place for a chunk, of which it touches what it needs.
const ROUND_MAX: usize = 64;

/// A thread's buffer, with places for a chunk each.
pub(super) struct Room {
    pub(super) buffer: Vec<u8>,
    /// Places taken, and bytes read into them.
    ntaken: usize,
    pub(super) nbytes: usize,
}

/// From place to place. At a distance that is a power of two all chunks would fall into the same few sets of the
/// first-level cache.
const STRIDE: usize = CHUNK_NBYTES + 64;

impl Room {
    /// None if there is no memory for it.
    pub(super) fn new() -> Option<Room> {
        Some(Room { buffer: zeros(ROUND_MAX * STRIDE)?, ntaken: 0, nbytes: 0 })
    }

    pub(super) fn clear(&mut self) {
        (self.ntaken, self.nbytes) = (0, 0);
    }

    /// How many chunks more may be read in this round.
    pub(super) fn nchunks(&self) -> usize {
        if self.nbytes < ROUND_NBYTES { ROUND_MAX - self.ntaken } else { 0 }
    }

    /// The next place, for `read` to fill a part of.
    pub(super) fn next(&mut self, read: impl FnOnce(&mut [u8]) -> usize) -> Range<usize> {
        let start = self.ntaken * STRIDE;
        let nbytes = read(&mut self.buffer[start..][..CHUNK_NBYTES]);
        self.ntaken += 1;
        self.nbytes += nbytes;
        start..start + nbytes
    }

    /// The next `count` places, and what `read` says of each, with where it begins.
    pub(super) fn fill<B>(
        &mut self,
        count: usize,
        read: impl FnOnce(&mut [&mut [u8]]) -> Result<Vec<B>, Lost>,
    ) -> Result<Vec<(B, usize)>, Lost> {
        let start = self.ntaken * STRIDE;
        let places = self.buffer[start..].chunks_mut(STRIDE).take(count);
        let mut chunks: Vec<&mut [u8]> = places.map(|place| &mut place[..CHUNK_NBYTES]).collect();
        let read = read(&mut chunks).inspect_err(|_| {
            // The kernel may still write to the old buffer, from the first of these places on.
            let mut buffer = vec![0; self.buffer.len()];
            buffer[..start].copy_from_slice(&self.buffer[..start]);
            std::mem::forget(std::mem::replace(&mut self.buffer, buffer));
        })?;
        self.ntaken += count;
        Ok(read.into_iter().zip((start..).step_by(STRIDE)).collect())
    }
}
