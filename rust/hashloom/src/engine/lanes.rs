// SPDX-License-Identifier: MIT OR Apache-2.0

//! A thread's rows and hashers: many messages advance side by side, a chunk of each at a time.

use crate::{Algorithm, Hasher, finalize_many, update_many};

/// Messages that a thread works on at once: the lanes of the widest kernel. Narrower kernels take them in turns.
pub(crate) const LANES: usize = 16;

/// Zeros that stand for holes and padding, so that no row is filled for them.
static ZEROS: [u8; CHUNK_MAX_NBYTES] = [0; CHUNK_MAX_NBYTES];

/// The most that is read of a message at once. Measured with 16 lanes on a core with 2 MiB of second-level cache, data
/// in the page cache, seconds of CPU for 485 MiB: 4 KiB 0.167, 8 KiB 0.158, 16 KiB 0.151, 32 KiB 0.150, 64 KiB 0.151,
/// 128 KiB 0.158.
const CHUNK_MAX_NBYTES: usize = 32 << 10;

/// Rows of all threads together: with few threads each has the largest chunks, with many they share this.
const ROWS_MAX_NBYTES: usize = 32 << 20;

/// More threads would read less than a page at once.
pub(crate) const THREADS_MAX: usize = ROWS_MAX_NBYTES / LANES / (4 << 10);

/// What a row holds after it was filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filled {
    /// So many bytes that were read.
    Read(usize),
    /// So many zeros, which are not in the row.
    Zeros(usize),
}

/// Rows for [`LANES`] messages.
pub(crate) struct Lanes {
    buffer: Vec<u8>,
    /// Where in `buffer` the first row begins, at a multiple of 64 in memory.
    start: usize,
    chunk_nbytes: usize,
    hashers: Vec<Hasher>,
    filled: [Filled; LANES],
}

impl Lanes {
    pub(crate) fn new(algorithm: Algorithm, nthreads: usize) -> Lanes {
        let share = ROWS_MAX_NBYTES / LANES / nthreads.clamp(1, THREADS_MAX);
        let chunk_nbytes = CHUNK_MAX_NBYTES.min(1 << share.ilog2());
        let buffer = vec![0; LANES * stride(chunk_nbytes) + 64];
        let start = buffer.as_ptr().align_offset(64).min(64);
        Lanes {
            buffer,
            start,
            chunk_nbytes,
            hashers: vec![Hasher::new(algorithm); LANES],
            filled: [Filled::Zeros(0); LANES],
        }
    }

    pub(crate) fn chunk_nbytes(&self) -> usize {
        self.chunk_nbytes
    }

    /// Fills the first `count` rows by `fill` and appends each to its message. A row of zero bytes leaves its message
    /// as it is. Returns the number of bytes appended.
    pub(crate) fn advance(&mut self, count: usize, mut fill: impl FnMut(usize, &mut [u8]) -> Filled) -> u64 {
        let stride = stride(self.chunk_nbytes);
        let rows = self.buffer[self.start..].chunks_mut(stride).take(count);
        for (lane, row) in rows.enumerate() {
            self.filled[lane] = fill(lane, &mut row[..self.chunk_nbytes]);
        }
        let mut chunks: [&[u8]; LANES] = [&[]; LANES];
        for (lane, chunk) in chunks.iter_mut().enumerate().take(count) {
            *chunk = match self.filled[lane] {
                Filled::Read(nbytes) => &self.buffer[self.start + lane * stride..][..nbytes],
                Filled::Zeros(nbytes) => &ZEROS[..nbytes],
            };
        }
        update_many(&mut self.hashers[..count], &chunks[..count]);
        chunks.iter().map(|chunk| chunk.len() as u64).sum()
    }

    /// Ends the first `count` messages, writes their digests, and begins empty ones.
    pub(crate) fn finish(&mut self, count: usize, digests: &mut [u8]) {
        finalize_many(&mut self.hashers[..count], digests);
    }
}

/// From row to row an odd number of cache lines: at a power of two all rows would fall into the same few sets of the
/// first-level cache, and evict each other while the kernel reads one block of each in turn.
fn stride(chunk_nbytes: usize) -> usize {
    chunk_nbytes + 64
}

/// The digest of `nbytes` zeros.
pub(crate) fn digest_of_zeros(algorithm: Algorithm, nbytes: u64) -> crate::Digest {
    let mut hasher = Hasher::new(algorithm);
    let mut left = nbytes;
    while left > 0 {
        let chunk = left.min(ZEROS.len() as u64);
        hasher.update(&ZEROS[..chunk as usize]);
        left -= chunk;
    }
    hasher.finalize()
}
