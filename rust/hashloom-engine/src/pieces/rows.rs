// SPDX-License-Identifier: MIT OR Apache-2.0

//! The rows and hashers of a thread: many messages advance side by side, a chunk of each at a time.

use std::ops::Range;
use std::sync::Arc;

use hashloom::{Algorithm, Hasher, finalize_many, hash_many, update_many};

use crate::merkle::{BLOCK_NBYTES, NODE_NBYTES};
use crate::pieces::fetch::parts::Part;
use crate::read::buffer::zeros;
use crate::read::open::OpenFile;
use crate::run::LANES;

/// Zeros that stand for holes and padding, so that no row must be filled with zeros.
static ZEROS: [u8; CHUNK_MAX_NBYTES] = [0; CHUNK_MAX_NBYTES];

/// Largest number of bytes read of a message at once. Seconds of CPU for 485 MiB, measured with 16 lanes on a core with
/// 2 MiB of second-level cache, data in the page cache: 4 KiB 0.167, 8 KiB 0.158, 16 KiB 0.151, 32 KiB 0.150, 64 KiB
/// 0.151, 128 KiB 0.158.
const CHUNK_MAX_NBYTES: usize = 32 << 10;

/// Largest number of blocks of a hash tree in a row.
const BLOCKS_MAX: usize = CHUNK_MAX_NBYTES / BLOCK_NBYTES as usize;

/// Total bytes of the rows of all threads: a few threads have the largest chunks, many threads share this.
const ROWS_MAX_NBYTES: usize = 32 << 20;

/// Largest number of threads: with more, rows would be shorter than a block.
pub(crate) const THREADS_MAX: usize = ROWS_MAX_NBYTES / LANES / BLOCK_NBYTES as usize;

/// The content of a row after it was filled.
#[derive(Clone)]
pub(crate) enum Filled {
    /// This many bytes that were read.
    Read(usize),
    /// This many zeros, which are not in the row.
    Zeros(usize),
    /// These bytes of a mapped file, which are not in the row either.
    Mapped(Arc<OpenFile>, Range<u64>),
    /// These bytes of the content, which are in a part.
    Fetched(Arc<Part>, Range<u64>),
}

impl Filled {
    /// Number of bytes that were read for this row. A limit on these leaves nothing mapped.
    pub(crate) fn nbytes_read(&self) -> u64 {
        match self {
            Filled::Read(nbytes) => *nbytes as u64,
            Filled::Fetched(_, range) => range.end - range.start,
            Filled::Zeros(_) | Filled::Mapped(..) => 0,
        }
    }
}

/// Rows for [`LANES`] messages.
pub(crate) struct Rows {
    buffer: Vec<u8>,
    /// Offset of the first row in `buffer`, at a multiple of 64 in memory.
    start: usize,
    chunk_nbytes: usize,
    filled: [Filled; LANES],
    /// The SHA-1 of each message.
    hashers: Vec<Hasher>,
}

impl Rows {
    /// `None` if there is no memory for the rows.
    pub(crate) fn new(nthreads: usize) -> Option<Rows> {
        let share = ROWS_MAX_NBYTES / LANES / nthreads.clamp(1, THREADS_MAX);
        let chunk_nbytes = CHUNK_MAX_NBYTES.min(1 << share.ilog2());
        let buffer = zeros(LANES * stride(chunk_nbytes) + 64)?;
        let start = buffer.as_ptr().align_offset(64).min(64);
        Some(Rows {
            buffer,
            start,
            chunk_nbytes,
            filled: [const { Filled::Zeros(0) }; LANES],
            hashers: vec![Hasher::new(Algorithm::Sha1); LANES],
        })
    }

    /// Length of a chunk, a multiple of a block.
    pub(crate) fn chunk_nbytes(&self) -> usize {
        self.chunk_nbytes
    }

    /// Fills the first `count` rows by `fill`.
    pub(crate) fn fill(&mut self, count: usize, mut fill: impl FnMut(usize, &mut [u8]) -> Filled) {
        let rows = self.buffer[self.start..].chunks_mut(stride(self.chunk_nbytes)).take(count);
        for (lane, row) in rows.enumerate() {
            self.filled[lane] = fill(lane, &mut row[..self.chunk_nbytes]);
        }
    }

    /// The bytes of a row.
    fn chunk(&self, lane: usize) -> &[u8] {
        match &self.filled[lane] {
            Filled::Read(nbytes) => &self.buffer[self.start + lane * stride(self.chunk_nbytes)..][..*nbytes],
            Filled::Zeros(nbytes) => &ZEROS[..*nbytes],
            Filled::Fetched(part, range) => part.bytes(range.clone()),
            Filled::Mapped(file, range) => file.mapping.as_ref().map_or(&[], |mapping| mapping.bytes(range.clone())),
        }
    }

    /// After hashing: finds messages whose mapped bytes were not the file's, begins their SHA-1 anew and calls `broken`
    /// for each.
    pub(crate) fn check_mapped(&mut self, count: usize, mut broken: impl FnMut(usize)) {
        for (lane, filled) in self.filled.iter_mut().enumerate().take(count) {
            let Filled::Mapped(file, _) = std::mem::replace(filled, Filled::Zeros(0)) else { continue };
            if !file.mapping.as_ref().is_some_and(|mapping| mapping.is_sound()) {
                self.hashers[lane] = Hasher::new(Algorithm::Sha1);
                broken(lane);
            }
        }
    }

    /// Appends the rows of the wanted lanes to their SHA-1.
    pub(crate) fn update_sha1(&mut self, count: usize, wanted: impl Fn(usize) -> bool) {
        let mut hashers = std::mem::take(&mut self.hashers);
        let mut chunks: [&[u8]; LANES] = [&[]; LANES];
        for lane in (0..count).filter(|&lane| wanted(lane)) {
            chunks[lane] = self.chunk(lane);
        }
        update_many(&mut hashers[..count], &chunks[..count]);
        self.hashers = hashers;
    }

    /// Hashes the blocks in the first `nbytes(lane)` bytes of each row, the last of which may be short, and hands their
    /// digests, [`NODE_NBYTES`] bytes each, to `append`, in order for each lane.
    pub(crate) fn hash_blocks(
        &self,
        count: usize,
        nbytes: impl Fn(usize) -> usize,
        mut append: impl FnMut(usize, &[u8]),
    ) {
        let mut blocks: [&[u8]; LANES * BLOCKS_MAX] = [&[]; LANES * BLOCKS_MAX];
        let mut lanes = [0; LANES * BLOCKS_MAX];
        let mut nblocks = 0;
        // The first block of each row, then the second: the kernels over SHA instructions prefetch beyond the end of
        // each message, and find there a message that comes soon (1 to 8% on mapped files).
        for start in (0..self.chunk_nbytes).step_by(BLOCK_NBYTES as usize) {
            for lane in 0..count {
                let end = nbytes(lane).min(start + BLOCK_NBYTES as usize);
                if start < end {
                    blocks[nblocks] = &self.chunk(lane)[start..end];
                    lanes[nblocks] = lane;
                    nblocks += 1;
                }
            }
        }
        let mut digests = [0; LANES * BLOCKS_MAX * NODE_NBYTES];
        let digests = &mut digests[..nblocks * NODE_NBYTES];
        hash_many(Algorithm::Sha256, &blocks[..nblocks], digests);
        for (&lane, digest) in lanes.iter().zip(digests.chunks_exact(NODE_NBYTES)) {
            append(lane, digest);
        }
    }

    /// Exchanges the SHA-1 states of two messages. The rows stay where they are.
    pub(crate) fn swap(&mut self, a: usize, b: usize) {
        self.hashers.swap(a, b);
    }

    /// Ends the SHA-1 of the messages from `first` to below `count`, and begins empty ones. Returns 20 bytes for each.
    pub(crate) fn finish_sha1<'o>(
        &mut self,
        first: usize,
        count: usize,
        digests: &'o mut [u8; LANES * 20],
    ) -> &'o [u8] {
        let digests = &mut digests[..(count - first) * 20];
        finalize_many(&mut self.hashers[first..count], digests);
        digests
    }
}

/// Distance from row to row: an odd number of cache lines. At a power of two all rows would fall into the same few sets
/// of the first-level cache, and would evict each other while the kernel reads one block of each in turn.
fn stride(chunk_nbytes: usize) -> usize {
    chunk_nbytes + 64
}

/// The SHA-1 of `nbytes` zeros.
pub(crate) fn sha1_of_zeros(nbytes: u64) -> [u8; 20] {
    let mut hasher = Hasher::new(Algorithm::Sha1);
    let mut left = nbytes;
    while left > 0 {
        let chunk = left.min(ZEROS.len() as u64);
        hasher.update(&ZEROS[..chunk as usize]);
        left -= chunk;
    }
    let mut digest = [0; 20];
    digest.copy_from_slice(hasher.finalize().as_ref());
    digest
}

/// The SHA-256 of a block of zeros; a file's last block may be shorter.
pub(crate) fn block_of_zeros(nbytes: u64) -> crate::merkle::Node {
    crate::merkle::node(hashloom::hash(Algorithm::Sha256, &ZEROS[..nbytes.min(BLOCK_NBYTES) as usize]).as_ref())
}
