// SPDX-License-Identifier: MIT OR Apache-2.0

//! The rows and hashers of a thread: many messages advance side by side, a chunk of each at a time.

use std::ops::Range;
use std::sync::Arc;

use hashloom::{Algorithm, Hash, Hasher, finalize_many, update_many};

use crate::merkle::BLOCK_NBYTES;
use crate::merkle::leaves::{Leaves, append_zeros};
use crate::pieces::fetch::parts::Part;
use crate::read::buffer::zeros;
use crate::run::LANES;

/// Zeros that stand for holes and padding, so that no row must be filled with zeros.
static ZEROS: [u8; CHUNK_MAX_NBYTES] = [0; CHUNK_MAX_NBYTES];

/// Largest number of bytes read of a message at once. Seconds of CPU for 485 MiB, measured with 16 lanes on a core with
/// 2 MiB of second-level cache, data in the page cache: 4 KiB 0.167, 8 KiB 0.158, 16 KiB 0.151, 32 KiB 0.150, 64 KiB
/// 0.151, 128 KiB 0.158.
const CHUNK_MAX_NBYTES: usize = 32 << 10;

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
    /// These bytes of the content, which are in a part.
    Fetched(Arc<Part>, Range<u64>),
}

impl Filled {
    /// Number of bytes that were read for this row.
    pub(crate) fn nbytes_read(&self) -> u64 {
        match self {
            Filled::Read(nbytes) => *nbytes as u64,
            Filled::Fetched(_, range) => range.end - range.start,
            Filled::Zeros(_) => 0,
        }
    }
}

/// Rows for [`LANES`] messages.
pub(crate) struct Rows {
    buffer: Vec<u8>,
    /// Offset of the first row in `buffer`, at a multiple of 64 in memory.
    start: usize,
    chunk_nbytes: usize,
    filled: Vec<Filled>,
    /// The hasher of each message, if whole messages are hashed.
    hashers: Vec<Hasher>,
    /// Hashers for leaves with bytes around them, kept for reuse.
    of_leaves: Vec<Hasher>,
}

impl Rows {
    /// `None` if there is no memory for the rows.
    pub(crate) fn new(nlanes: usize, nthreads: usize) -> Option<Rows> {
        let share = ROWS_MAX_NBYTES / LANES / nthreads.clamp(1, THREADS_MAX);
        let chunk_nbytes = CHUNK_MAX_NBYTES.min(1 << share.ilog2());
        let buffer = zeros(nlanes * stride(chunk_nbytes) + 64)?;
        let start = buffer.as_ptr().align_offset(64).min(64);
        Some(Rows {
            buffer,
            start,
            chunk_nbytes,
            filled: vec![Filled::Zeros(0); nlanes],
            hashers: vec![Hasher::new(Algorithm::Sha1); nlanes],
            of_leaves: Vec::new(),
        })
    }

    /// Begins a message, which is hashed whole by `hasher`.
    pub(crate) fn begin(&mut self, lane: usize, hasher: Hasher) {
        self.hashers[lane] = hasher;
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
        }
    }

    /// Appends the rows of the wanted lanes to their messages.
    pub(crate) fn update_whole(&mut self, count: usize, wanted: impl Fn(usize) -> bool) {
        let mut hashers = std::mem::take(&mut self.hashers);
        let chunks: Vec<&[u8]> = (0..count).map(|lane| if wanted(lane) { self.chunk(lane) } else { &[] }).collect();
        update_many(&mut hashers[..count], &chunks);
        self.hashers = hashers;
    }

    /// Hashes the leaves in the first `nbytes(lane)` bytes of each row, the last of which may be short, and hands their
    /// digests to `append`, in order for each lane.
    pub(crate) fn hash_leaves(
        &mut self,
        form: &Leaves,
        count: usize,
        nbytes: impl Fn(usize) -> usize,
        mut append: impl FnMut(usize, &[u8]),
    ) {
        let leaf_nbytes = form.leaf_nbytes as usize;
        let mut hashers = std::mem::take(&mut self.of_leaves);
        let (mut leaves, mut lanes): (Vec<&[u8]>, Vec<usize>) = (Vec::new(), Vec::new());
        // The first leaf of each row, then the second: the kernels over SHA instructions prefetch beyond the end of
        // each message, and find there a message that comes soon.
        for start in (0..self.chunk_nbytes).step_by(leaf_nbytes) {
            for lane in 0..count {
                let end = nbytes(lane).min(start + leaf_nbytes);
                if start < end {
                    leaves.push(&self.chunk(lane)[start..end]);
                    lanes.push(lane);
                }
            }
        }
        let digest_nbytes = form.algorithm.digest_nbytes();
        let mut digests = vec![0; leaves.len() * digest_nbytes];
        form.hash_many(&leaves, &mut hashers, &mut digests);
        self.of_leaves = hashers;
        for (&lane, digest) in lanes.iter().zip(digests.chunks_exact(digest_nbytes)) {
            append(lane, digest);
        }
    }

    /// Exchanges the hashers of two messages. The rows stay where they are.
    pub(crate) fn swap(&mut self, a: usize, b: usize) {
        self.hashers.swap(a, b);
    }

    /// The hasher of a message, to append what comes after the bytes of its rows.
    pub(crate) fn hasher(&mut self, lane: usize) -> &mut Hasher {
        &mut self.hashers[lane]
    }

    /// Ends messages. Returns the digests of those that are hashed whole, one after the other.
    pub(crate) fn finish_whole(&mut self, lanes: Range<usize>, has_whole: bool) -> Vec<u8> {
        let ended = if has_whole { &mut self.hashers[lanes] } else { &mut [] };
        let mut digests = vec![0; ended.iter().map(|hasher| hasher.algorithm().digest_nbytes()).sum()];
        finalize_many(ended, &mut digests);
        digests
    }
}

/// Distance from row to row: an odd number of cache lines. At a power of two all rows would fall into the same few sets
/// of the first-level cache, and would evict each other while the kernel reads one block of each in turn.
fn stride(chunk_nbytes: usize) -> usize {
    chunk_nbytes + 64
}

/// The digest of `nbytes` zeros.
pub(crate) fn digest_of_zeros(algorithm: Algorithm, nbytes: u64) -> Hash {
    let mut hasher = Hasher::new(algorithm);
    append_zeros(&mut hasher, nbytes);
    hasher.finalize()
}

/// The SHA-256 of a block of zeros; a file's last block may be shorter.
pub(crate) fn block_of_zeros(nbytes: u64) -> crate::merkle::Node {
    crate::merkle::node(hashloom::hash(Algorithm::Sha256, &ZEROS[..nbytes.min(BLOCK_NBYTES) as usize]).as_ref())
}
