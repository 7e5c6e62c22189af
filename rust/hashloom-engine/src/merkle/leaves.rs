// SPDX-License-Identifier: MIT OR Apache-2.0

//! The leaves of a hash tree: one file or stream in parts of one length, hashed many at once.
//!
//! Short parts, up to [`SHORT_NBYTES`], are hashed in place: a window of them is read, or mapped, and hashed by one
//! call. Long parts advance side by side, [`LANES`] at a time, a chunk of each at a time. In both cases a thread works
//! on a batch of consecutive leaves. Threads take batches in turn, and hand the digests on in order, one thread at a
//! time. A thread that is too far ahead of the slowest waits, which bounds the memory.
//!
//! A file that is not in memory and on a disk that seeks is read in the order of its bytes: one thread at a time takes a
//! batch and reads it, while the others hash. A batch has one long leaf then.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use hashloom::{Algorithm, Hash, Hasher, finalize_many, hash_rows, update_many};

use crate::read::ahead::read_ahead;
use crate::read::behind::{self, BEHIND_NBYTES};
use crate::read::buffer::{out_of_memory, zeros};
use crate::read::device;
use crate::read::map::Mapping;
use crate::read::open::{is_in_memory, read_at};
use crate::run::pool::{LOOK, Pool};
use crate::run::{LANES, Options};

/// Longest short leaf. Short leaves are hashed in a window of [`WINDOW_NBYTES`], which has enough of them for all
/// lanes.
const SHORT_NBYTES: u64 = 16 << 10;

/// Bytes read or mapped at once. They stay in the second-level cache.
const WINDOW_NBYTES: usize = 256 << 10;

/// Bytes of a long leaf that are read at once.
const CHUNK_NBYTES: usize = WINDOW_NBYTES / LANES;

/// Distance from row to row: an odd number of cache lines, as in `rows.rs`.
const STRIDE_NBYTES: usize = CHUNK_NBYTES + 64;

/// Buffer of a stream, if that many bytes hold several long leaves.
const STREAM_NBYTES: u64 = 16 << 20;

/// How far ahead the disk is asked to fetch.
const AHEAD_NBYTES: u64 = 4 << 20;

/// Shorter files are read: mapping a file costs as much as copying this many bytes.
const WORTH_MAPPING_NBYTES: u64 = 256 << 10;

const ZEROS: [u8; 4096] = [0; 4096];

/// The form of the leaves.
#[derive(Debug, Clone)]
pub(crate) struct Leaves {
    pub(crate) algorithm: Algorithm,
    /// Bytes of data under a leaf, at least one.
    pub(crate) leaf_nbytes: u64,
    /// A hasher that has taken the bytes before the data, if there are any.
    pub(crate) head: Option<Hasher>,
    /// The bytes after the data.
    pub(crate) tail: Vec<u8>,
    /// Whether the last leaf's data is filled with zeros.
    pub(crate) is_filled: bool,
}

/// Why the leaves are not complete.
#[derive(Debug)]
pub(crate) enum Failure {
    Read {
        offset: u64,
        error: io::Error,
    },
    /// The file has become shorter.
    Short,
    /// The callback that takes the digests failed.
    Taker(io::Error),
    Cancelled,
}

/// The bytes under the leaves, readable at any offset.
#[derive(Clone, Copy)]
pub(crate) enum Data<'d> {
    File(&'d File),
    Memory(&'d [u8]),
}

/// A callback that takes digests, one after the other, in the order of the leaves.
pub(crate) type Take<'t> = &'t mut (dyn FnMut(&[u8]) -> io::Result<()> + Send);

impl Leaves {
    /// Leaves with nothing around the data.
    pub(crate) fn plain(algorithm: Algorithm, leaf_nbytes: u64) -> Leaves {
        Leaves { algorithm, leaf_nbytes, head: None, tail: Vec::new(), is_filled: false }
    }

    fn hasher(&self) -> Hasher {
        self.head.clone().unwrap_or_else(|| Hasher::new(self.algorithm))
    }

    fn is_plain(&self) -> bool {
        self.head.is_none() && self.tail.is_empty()
    }

    fn is_short(&self) -> bool {
        self.leaf_nbytes <= SHORT_NBYTES
    }

    /// Number of leaves that are hashed together.
    fn batch(&self) -> u64 {
        if self.is_short() { WINDOW_NBYTES as u64 / self.leaf_nbytes } else { LANES as u64 }
    }

    /// Ends a leaf that has `nbytes` bytes of data: appends the bytes that come after the data.
    fn end(&self, mut hasher: Hasher, nbytes: u64) -> Hash {
        let mut missing = if self.is_filled { self.leaf_nbytes - nbytes } else { 0 };
        while missing > 0 {
            let part = missing.min(ZEROS.len() as u64);
            hasher.update(&ZEROS[..part as usize]);
            missing -= part;
        }
        hasher.update(&self.tail);
        hasher.finalize()
    }

    /// Appends the digests of whole short leaves, and of an incomplete leaf at the end.
    fn hash_window(&self, window: &[u8], hashers: &mut Vec<Hasher>, digests: &mut Vec<u8>) {
        let leaf_nbytes = self.leaf_nbytes as usize;
        let count = window.len() / leaf_nbytes;
        let (whole, rest) = window.split_at(count * leaf_nbytes);
        let start = digests.len();
        digests.resize(start + count * self.algorithm.digest_nbytes(), 0);
        let room = &mut digests[start..];
        if self.is_plain() {
            hash_rows(self.algorithm, whole, leaf_nbytes, leaf_nbytes, count, room);
        } else {
            let mut chunks: Vec<&[u8]> = whole.chunks_exact(leaf_nbytes).collect();
            self.update(hashers, &mut chunks, room);
        }
        if !rest.is_empty() {
            let mut hasher = self.hasher();
            hasher.update(rest);
            digests.extend_from_slice(self.end(hasher, rest.len() as u64).as_ref());
        }
    }

    /// Hashes whole leaves, given in `chunks`, with the bytes around them.
    fn update<'c>(&'c self, hashers: &mut Vec<Hasher>, chunks: &mut [&'c [u8]], digests: &mut [u8]) {
        hashers.clear();
        hashers.resize(chunks.len(), self.hasher());
        update_many(hashers, chunks);
        if !self.tail.is_empty() {
            chunks.fill(&self.tail);
            update_many(hashers, chunks);
        }
        finalize_many(hashers, digests);
    }

    /// Hashes a range of the data; a leaf begins at its first byte. `take` gets the digests.
    pub(crate) fn hash_range(
        &self,
        data: Data<'_>,
        range: Range<u64>,
        options: &Options,
        take: Take<'_>,
    ) -> Result<(), Failure> {
        let in_order = matches!(data, Data::File(file) if must_read_in_order(file, &range));
        let is_cold = matches!(data, Data::File(file) if behind::is_cold(file, &range));
        let batch = if in_order && !self.is_short() { 1 } else { self.batch() };
        let nleaves = range.end.saturating_sub(range.start).div_ceil(self.leaf_nbytes);
        let nbatches = nleaves.div_ceil(batch);
        let nthreads = options.nthreads().clamp(1, 128).min(nbatches.max(1) as usize);
        // When a thread gives a part of a mapping back, all CPUs must forget it: with many threads, reading is faster.
        let is_mapped =
            options.is_mapped() && !in_order && nthreads <= 2 && range.end - range.start >= WORTH_MAPPING_NBYTES;
        let mapping = match data {
            Data::File(file) if is_mapped => Mapping::new(file, range.end),
            _ => None,
        };
        let run = Run {
            leaves: self,
            data,
            range,
            mapping,
            options,
            pool: Pool::new(nthreads, options),
            turn: in_order.then(Mutex::default),
            is_cold,
            batch,
            nbatches,
            next: AtomicU64::new(0),
            nbytes_done: AtomicU64::new(0),
            order: Mutex::new(Order { next: 0, waiting: BTreeMap::new(), take, failure: None }),
            moved: Condvar::new(),
        };
        let offset = run.range.start;
        if !run.pool.work(|| run.scratch(), |scratch| run.work(scratch)) {
            return Err(Failure::Read { offset, error: out_of_memory() });
        }
        let order = run.order.into_inner().unwrap_or_else(PoisonError::into_inner);
        order.failure.map_or(Ok(()), Err)
    }

    /// Hashes all of a stream. Returns its length in bytes.
    pub(crate) fn hash_stream(&self, stream: &mut dyn Read, options: &Options, take: Take<'_>) -> Result<u64, Failure> {
        let lanes = if self.is_short() { self.batch() } else { (STREAM_NBYTES / self.leaf_nbytes).min(LANES as u64) };
        if lanes < 2 {
            return self.hash_stream_of_long_leaves(stream, options, take);
        }
        let (mut hashers, mut digests) = (Vec::new(), Vec::new());
        let mut offset = 0;
        let buffer = zeros((lanes * self.leaf_nbytes) as usize);
        let mut buffer = buffer.ok_or_else(|| Failure::Read { offset, error: out_of_memory() })?;
        loop {
            let nbytes = fill(stream, &mut buffer, offset, options)?;
            offset += nbytes as u64;
            digests.clear();
            self.hash_window(&buffer[..nbytes], &mut hashers, &mut digests);
            take(&digests).map_err(Failure::Taker)?;
            options.tell(offset, None);
            if nbytes < buffer.len() {
                return Ok(offset);
            }
        }
    }

    /// Hashes leaves so long that the buffer never holds a second one for another lane.
    fn hash_stream_of_long_leaves(
        &self,
        stream: &mut dyn Read,
        options: &Options,
        take: Take<'_>,
    ) -> Result<u64, Failure> {
        let mut buffer = vec![0; WINDOW_NBYTES];
        let (mut hasher, mut in_leaf, mut offset) = (self.hasher(), 0, 0);
        loop {
            let room = (self.leaf_nbytes - in_leaf).min(WINDOW_NBYTES as u64) as usize;
            let nbytes = fill(stream, &mut buffer[..room], offset, options)?;
            hasher.update(&buffer[..nbytes]);
            in_leaf += nbytes as u64;
            offset += nbytes as u64;
            if in_leaf == self.leaf_nbytes || (nbytes < room && in_leaf > 0) {
                let ended = std::mem::replace(&mut hasher, self.hasher());
                take(self.end(ended, in_leaf).as_ref()).map_err(Failure::Taker)?;
                in_leaf = 0;
            }
            options.tell(offset, None);
            if nbytes < room {
                return Ok(offset);
            }
        }
    }
}

/// Fills `buffer` from a stream. Fewer bytes are read only if the stream ends.
fn fill(stream: &mut dyn Read, buffer: &mut [u8], offset: u64, options: &Options) -> Result<usize, Failure> {
    let mut filled = 0;
    while filled < buffer.len() {
        if options.canceller().is_cancelled() {
            return Err(Failure::Cancelled);
        }
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(nbytes) => {
                filled += nbytes;
                options.pay(nbytes as u64, &|| options.canceller().is_cancelled());
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Failure::Read { offset: offset + filled as u64, error }),
        }
    }
    Ok(filled)
}

/// A file or memory that is being hashed.
struct Run<'r, 't> {
    leaves: &'r Leaves,
    data: Data<'r>,
    range: Range<u64>,
    mapping: Option<Mapping>,
    options: &'r Options,
    pool: Pool,
    /// Held by the thread that reads, if the file is read in order.
    turn: Option<Mutex<()>>,
    /// Whether nothing of the file was in memory.
    is_cold: bool,
    /// Number of leaves in a batch.
    batch: u64,
    nbatches: u64,
    /// The first batch that no thread has taken.
    next: AtomicU64,
    nbytes_done: AtomicU64,
    order: Mutex<Order<'t>>,
    /// Signalled when `order.next` has grown, or something has failed.
    moved: Condvar,
}

/// Digests that are not handed on yet.
struct Order<'t> {
    /// The batch to hand on next.
    next: u64,
    waiting: BTreeMap<u64, Vec<u8>>,
    take: Take<'t>,
    failure: Option<Failure>,
}

/// The buffers of a thread.
struct Scratch {
    buffer: Vec<u8>,
    hashers: Vec<Hasher>,
    digests: Vec<u8>,
}

impl Run<'_, '_> {
    /// `None` if there is no memory for the buffer.
    fn scratch(&self) -> Option<Scratch> {
        let nbytes = if self.leaves.is_short() { WINDOW_NBYTES } else { LANES * STRIDE_NBYTES };
        Some(Scratch { buffer: zeros(nbytes)?, hashers: Vec::new(), digests: Vec::new() })
    }

    /// Works until all batches are taken or something fails.
    fn work(&self, mut scratch: Scratch) {
        loop {
            let turn = self.turn.as_ref().map(|turn| turn.lock().unwrap_or_else(PoisonError::into_inner));
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.nbatches {
                return;
            }
            scratch.digests.clear();
            let failure = self.hash_batch(number, &mut scratch, turn).err();
            if !self.hand_on(number, &mut scratch.digests, failure) {
                return;
            }
        }
    }

    /// Hands on a batch when its turn comes. Returns whether to continue.
    fn hand_on(&self, number: u64, digests: &mut Vec<u8>, mut failure: Option<Failure>) -> bool {
        // After a panic of the callback no thread hands on more.
        let Ok(mut order) = self.order.lock() else { return false };
        // The thread with the next batch never waits here, so all threads get on.
        while order.failure.is_none() && failure.is_none() && number >= order.next + 4 * self.pool.count() as u64 {
            let Ok((again, _)) = self.pool.idle(|| self.moved.wait_timeout(order, LOOK)) else { return false };
            order = again;
            if self.pool.must_stop() {
                failure = Some(Failure::Cancelled);
            }
        }
        if order.failure.is_some() {
            return false;
        }
        order.failure = failure;
        if order.failure.is_none() && order.next == number {
            order.pass(digests);
            while let Some(digests) = {
                let next = order.next;
                order.waiting.remove(&next)
            } {
                order.pass(&digests);
            }
        } else if order.failure.is_none() {
            order.waiting.insert(number, std::mem::take(digests));
        }
        self.moved.notify_all();
        order.failure.is_none()
    }

    fn hash_batch(&self, number: u64, scratch: &mut Scratch, turn: Option<MutexGuard<'_, ()>>) -> Result<(), Failure> {
        if self.pool.must_stop() {
            return Err(Failure::Cancelled);
        }
        let batch_nbytes = self.batch.saturating_mul(self.leaves.leaf_nbytes);
        let start = self.range.start + number * batch_nbytes;
        let range = start..self.range.end.min(start.saturating_add(batch_nbytes));
        match self.leaves.is_short() {
            true => self.hash_short(range.clone(), scratch, turn),
            false => self.hash_long(range.clone(), scratch, turn),
        }?;
        self.give_up(&range);
        Ok(())
    }

    /// From time to time, gives up what came into memory before the end of a batch.
    fn give_up(&self, batch: &Range<u64>) {
        let step = |pos| pos / BEHIND_NBYTES;
        let is_time = step(batch.start) < step(batch.end) || batch.end == self.range.end;
        if let (Data::File(file), true) = (self.data, is_time && self.is_cold) {
            // Another thread may have read the step before later than this one was given up.
            let start = (step(batch.start) * BEHIND_NBYTES).saturating_sub(BEHIND_NBYTES);
            behind::give_up(file, start.max(self.range.start), Some(batch.end));
        }
    }

    fn note(&self, nbytes: u64) {
        let done = self.nbytes_done.fetch_add(nbytes, Ordering::Relaxed) + nbytes;
        self.options.tell(done, None);
    }

    fn hash_short(
        &self,
        range: Range<u64>,
        scratch: &mut Scratch,
        turn: Option<MutexGuard<'_, ()>>,
    ) -> Result<(), Failure> {
        let Scratch { buffer, hashers, digests } = scratch;
        let nbytes = range.end - range.start;
        if !self.hash_in_place(range.clone(), |window| self.leaves.hash_window(window, hashers, digests)) {
            let Data::File(file) = self.data else { return Err(Failure::Short) };
            digests.clear();
            self.ask(file, range.start, nbytes);
            let window = &mut buffer[..nbytes as usize];
            self.read(file, window, range.start)?;
            drop(turn);
            self.leaves.hash_window(window, hashers, digests);
        }
        self.note(nbytes);
        Ok(())
    }

    /// `turn` is kept to the end: one leaf is hashed faster than such a disk reads it.
    fn hash_long(
        &self,
        range: Range<u64>,
        scratch: &mut Scratch,
        _turn: Option<MutexGuard<'_, ()>>,
    ) -> Result<(), Failure> {
        let Scratch { buffer, hashers, digests } = scratch;
        let leaf_nbytes = self.leaves.leaf_nbytes;
        let count = (range.end - range.start).div_ceil(leaf_nbytes) as usize;
        let leaf = |lane: usize| {
            let start = range.start + lane as u64 * leaf_nbytes;
            start..range.end.min(start.saturating_add(leaf_nbytes))
        };
        hashers.clear();
        hashers.resize(count, self.leaves.hasher());
        let mut in_leaf = 0;
        while in_leaf < leaf_nbytes.min(range.end - range.start) {
            if self.pool.must_stop() {
                return Err(Failure::Cancelled);
            }
            let mut chunks: [&[u8]; LANES] = [&[]; LANES];
            let mut step = 0;
            for (lane, row) in buffer.chunks_exact_mut(STRIDE_NBYTES).enumerate().take(count) {
                let Range { start, end } = leaf(lane);
                let start = end.min(start + in_leaf);
                let nbytes = (end - start).min(CHUNK_NBYTES as u64) as usize;
                chunks[lane] = match self.data {
                    Data::Memory(bytes) => &bytes[start as usize..][..nbytes],
                    Data::File(file) => {
                        if in_leaf % (AHEAD_NBYTES / 8) == 0 {
                            self.ask(file, start, AHEAD_NBYTES / 8);
                        }
                        self.read(file, &mut row[..nbytes], start)?;
                        &row[..nbytes]
                    }
                };
                step += nbytes as u64;
            }
            update_many(hashers, &chunks[..count]);
            self.note(step);
            in_leaf += CHUNK_NBYTES as u64;
        }
        for (lane, hasher) in hashers.drain(..).enumerate() {
            let Range { start, end } = leaf(lane);
            digests.extend_from_slice(self.leaves.end(hasher, end - start).as_ref());
        }
        Ok(())
    }

    /// Calls `hash` with the bytes of memory, or with the file's bytes in the page cache. Returns false if that fails:
    /// the bytes of the file must then be read, and the output of `hash` is wrong.
    fn hash_in_place(&self, range: Range<u64>, hash: impl FnOnce(&[u8])) -> bool {
        let file = match self.data {
            Data::Memory(bytes) => {
                hash(&bytes[range.start as usize..range.end as usize]);
                return true;
            }
            Data::File(file) => file,
        };
        let Some(mapping) = &self.mapping else { return false };
        // Data that is not in memory is read: the system reads ahead for reads.
        if !mapping.is_sound() || !is_in_memory(file, range.end - 1) || !mapping.fetch(range.clone()) {
            return false;
        }
        hash(mapping.bytes(range.clone()));
        mapping.give_back(range);
        mapping.is_sound()
    }

    fn read(&self, file: &File, buffer: &mut [u8], offset: u64) -> Result<(), Failure> {
        let read = read_at(file, buffer, offset);
        self.pool.pay(*read.as_ref().unwrap_or(&0) as u64);
        match read {
            Ok(nbytes) if nbytes < buffer.len() => Err(Failure::Short),
            Ok(_) => Ok(()),
            Err(error) => Err(Failure::Read { offset, error }),
        }
    }

    /// Asks the disk to fetch the bytes that come `AHEAD_NBYTES` later. The system itself reads ahead of a file that is
    /// read in order.
    fn ask(&self, file: &File, offset: u64, nbytes: u64) {
        if self.turn.is_some() || self.options.is_limited() {
            return;
        }
        let start = self.range.end.min(offset.saturating_add(AHEAD_NBYTES));
        read_ahead(file, start..self.range.end.min(start.saturating_add(nbytes)));
    }
}

/// Whether a range of a file is long, not in memory, and on a disk that seeks.
fn must_read_in_order(file: &File, range: &Range<u64>) -> bool {
    const LOOKS: u64 = 4;
    let nbytes = range.end.saturating_sub(range.start);
    let is_cold = || (0..LOOKS).any(|look| !is_in_memory(file, range.start + nbytes / LOOKS * look));
    nbytes >= device::LONG_NBYTES && is_cold() && device::is_seen_to_seek(file, range.end)
}

impl Order<'_> {
    fn pass(&mut self, digests: &[u8]) {
        self.next += 1;
        if self.failure.is_none() {
            self.failure = (self.take)(digests).err().map(Failure::Taker);
        }
    }
}
