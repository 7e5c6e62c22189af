// SPDX-License-Identifier: MIT OR Apache-2.0

//! A thread's buffer for the bytes that are read in a round.

use std::iter::StepBy;
use std::ops::{Range, RangeFrom};

use crate::read::buffer::zeros;
use crate::read::ring::Lost;
use crate::run::Device;

/// The sizes of a buffer.
struct Sizes {
    /// Largest number of bytes read of a message at once.
    chunk_nbytes: usize,
    /// Number of bytes to read in a round; the last files may exceed it.
    round_nbytes: usize,
    /// Largest number of messages in a round. Each has a place for a chunk, and uses only as much of the place as it
    /// needs.
    round_max: usize,
}

/// For the CPU: together with the kernels' data, the bytes of a round shall stay in the second-level cache.
const FOR_CPU: Sizes = Sizes { chunk_nbytes: 32 << 10, round_nbytes: 512 << 10, round_max: 64 };

/// For a device: hundreds of files, each whole in its place, as a device takes only whole messages.
const FOR_DEVICE: Sizes = Sizes { chunk_nbytes: 64 << 10, round_nbytes: 64 << 20, round_max: 1024 };

impl Sizes {
    /// Distance from place to place. At a power of two all chunks would fall into the same few sets of the first-level
    /// cache.
    fn stride(&self) -> usize {
        self.chunk_nbytes + 64
    }
}

/// A thread's buffer, with places for one chunk each.
pub(super) struct RoundBuffer<'d> {
    sizes: &'static Sizes,
    /// The device that hashes whole messages.
    pub(super) device: Option<&'d dyn Device>,
    pub(super) bytes: Vec<u8>,
    /// Number of places taken, and of bytes read into them.
    ntaken: usize,
    pub(super) nbytes: usize,
}

impl<'d> RoundBuffer<'d> {
    /// `None` if there is no memory for the buffer.
    pub(super) fn new() -> Option<RoundBuffer<'d>> {
        RoundBuffer::with(&FOR_CPU, None)
    }

    /// A buffer for messages that `device` hashes.
    pub(super) fn on(device: &'d dyn Device) -> Option<RoundBuffer<'d>> {
        RoundBuffer::with(&FOR_DEVICE, Some(device))
    }

    fn with(sizes: &'static Sizes, device: Option<&'d dyn Device>) -> Option<RoundBuffer<'d>> {
        Some(RoundBuffer { sizes, device, bytes: zeros(sizes.round_max * sizes.stride())?, ntaken: 0, nbytes: 0 })
    }

    pub(super) fn clear(&mut self) {
        (self.ntaken, self.nbytes) = (0, 0);
    }

    /// Number of chunks that may still be read in this round.
    pub(super) fn nchunks(&self) -> usize {
        if self.nbytes < self.sizes.round_nbytes { self.sizes.round_max - self.ntaken } else { 0 }
    }

    /// Takes the next place; `read` fills a part of it.
    pub(super) fn next(&mut self, read: impl FnOnce(&mut [u8]) -> usize) -> Range<usize> {
        let start = self.ntaken * self.sizes.stride();
        let nbytes = read(&mut self.bytes[start..][..self.sizes.chunk_nbytes]);
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
        let (chunk_nbytes, stride) = (self.sizes.chunk_nbytes, self.sizes.stride());
        let start = self.ntaken * stride;
        let places = self.bytes[start..].chunks_mut(stride).take(count);
        let mut chunks: Vec<&mut [u8]> = places.map(|place| &mut place[..chunk_nbytes]).collect();
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
