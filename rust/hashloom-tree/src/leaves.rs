// SPDX-License-Identifier: MIT OR Apache-2.0

//! The digests of all leaves of a file, a stream or memory, handed on in order.
//!
//! A file is hashed as a torrent is ([`pieces`](hashloom_files::pieces)): on all threads, and read front to back by
//! threads of its own if it is not in memory. A piece is one long leaf, or as many short leaves as fill it. Pieces end
//! in any order; the digests wait for those of earlier pieces, and a piece that is too far ahead is not begun, which
//! bounds the memory.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use hashloom::{Hasher, finalize_many, update_many};
use hashloom_files::lanes::{Form, Leaves};
use hashloom_files::pieces;
use hashloom_files::pieces::files::{Absent, Files, Place, Trouble};
use hashloom_files::pieces::job::{Content, Hashes, Job, Outcome};
use hashloom_files::pieces::layout::Layout;
use hashloom_files::read::buffer::{out_of_memory, zeros};
use hashloom_files::read::open::is_in_memory;
use hashloom_files::run::pool::Pool;
use hashloom_files::run::{InOrder, LANES, Options, lock, unlocked};

use super::ReadFrom;

/// Longest short leaf: a chunk of a piece has several of them.
const SHORT_NBYTES: u64 = 16 << 10;

/// Least and greatest length of a piece of short leaves: a chunk, and eight of them.
const PIECE_NBYTES: Range<u64> = 32 << 10..256 << 10;

/// Longest range of short leaves that is read if it is in memory: pieces and a second thread gain nothing.
const SHORT_FILE_NBYTES: u64 = 512 << 10;

/// Number of pieces for each lane that may be begun while an earlier one is not settled.
const AHEAD: u64 = 4;

/// Bytes of memory or of a stream that are hashed by one call.
const BATCH_NBYTES: u64 = 16 << 20;

/// Bytes of a long leaf that are hashed at once.
const STEP_NBYTES: usize = 256 << 10;

/// Why the leaves are not complete.
#[derive(Debug)]
pub(super) enum Failure {
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

/// A callback that takes digests, one after the other, in the order of the leaves.
pub(super) type Take<'t> = &'t mut (dyn FnMut(&[u8]) -> io::Result<()> + Send);

fn is_short(leaves: &Leaves) -> bool {
    leaves.leaf_nbytes <= SHORT_NBYTES
}

/// Hashes a range of a file; a leaf begins at its first byte.
pub(super) fn hash_file(
    leaves: &Leaves,
    file: &File,
    range: Range<u64>,
    options: &Options,
    take: Take<'_>,
) -> Result<(), Failure> {
    let nbytes = range.end - range.start;
    if is_short(leaves) && (nbytes <= PIECE_NBYTES.start || nbytes <= SHORT_FILE_NBYTES && is_hot(file, &range)) {
        return hash_short_file(leaves, file, range, options, take);
    }
    let options = options.for_lanes();
    let nthreads = options.nthreads() as u64;
    let form = Some(leaves.clone());
    let (piece_nbytes, whole, leaves) = if is_short(leaves) {
        // The leaves of so many chunks fill all lanes.
        let nchunks = (LANES as u64 * leaves.leaf_nbytes).div_ceil(PIECE_NBYTES.start);
        let share = (range.end - range.start).div_ceil(nthreads * nchunks);
        let share = share.clamp(PIECE_NBYTES.start, PIECE_NBYTES.end);
        (share.next_multiple_of(leaves.leaf_nbytes), None, form)
    } else {
        (leaves.leaf_nbytes, form, None)
    };
    let dup = file.try_clone().map_err(|error| Failure::Read { offset: range.start, error })?;
    let place = Place::Open(dup, range.end);
    let files = Files::new(place, 1, Box::new(|_| PathBuf::new()), &Arc::default());
    let layout = Arc::new(Layout::of_range(piece_nbytes, range));
    let job = Arc::new(Hashing {
        content: Content::new(layout, files, Hashes { whole, leaves, has_root: false }),
        most_ahead: AHEAD * nthreads * LANES as u64,
        next: AtomicU64::new(0),
        has_failed: AtomicBool::new(false),
        order: Mutex::new(Order { digests: InOrder::new(), take, failure: None }),
    });
    pieces::run(std::iter::once(job.clone()), &options);
    let failure = job.order().failure.take();
    match failure {
        Some(failure) => Err(failure),
        None if !job.content.is_done() => Err(Failure::Cancelled),
        None => Ok(()),
    }
}

/// Whether the range is probably in memory.
fn is_hot(file: &File, range: &Range<u64>) -> bool {
    is_in_memory(file, range.start) && is_in_memory(file, range.end - 1)
}

/// Hashes a short range on this thread.
fn hash_short_file(
    leaves: &Leaves,
    file: &File,
    range: Range<u64>,
    options: &Options,
    take: Take<'_>,
) -> Result<(), Failure> {
    let nbytes = range.end - range.start;
    let nleaves = nbytes.clamp(1, PIECE_NBYTES.end).div_ceil(leaves.leaf_nbytes);
    match hash_windows(leaves, &mut ReadFrom(file, range.start).take(nbytes), nleaves, options, take) {
        Ok(nread) if nread < nbytes => Err(Failure::Short),
        Ok(_) => Ok(()),
        Err(Failure::Read { offset, error }) => Err(Failure::Read { offset: range.start + offset, error }),
        Err(failure) => Err(failure),
    }
}

/// A file that is being hashed.
struct Hashing<'t> {
    content: Content<'static>,
    /// Largest distance from the piece to hand on next to the last one begun.
    most_ahead: u64,
    /// The piece to hand on next.
    next: AtomicU64,
    has_failed: AtomicBool,
    order: Mutex<Order<'t>>,
}

/// Digests that are not handed on yet.
struct Order<'t> {
    digests: InOrder<Vec<u8>>,
    take: Take<'t>,
    failure: Option<Failure>,
}

impl<'t> Hashing<'t> {
    fn order(&self) -> MutexGuard<'_, Order<'t>> {
        lock(&self.order)
    }

    fn fail(&self, order: &mut Order<'t>, failure: Failure) {
        self.has_failed.store(true, Ordering::Relaxed);
        order.failure.get_or_insert(failure);
    }

    /// Hands digests on, and those of later pieces that have waited for them.
    fn hand_on(&self, piece: u64, digests: &[u8]) {
        // After a panic of the callback nothing more is handed on.
        let Ok(mut order) = self.order.lock() else { return };
        if order.failure.is_some() {
            return;
        }
        if !order.digests.pass(piece) {
            return order.digests.put(piece, digests.to_vec());
        }
        let mut taken = (order.take)(digests);
        while taken.is_ok() {
            let Some(digests) = order.digests.take() else { break };
            taken = (order.take)(&digests);
        }
        self.next.store(order.digests.next(), Ordering::Relaxed);
        if let Err(error) = taken {
            self.fail(&mut order, Failure::Taker(error));
        }
    }
}

impl Job for Hashing<'_> {
    fn content(&self) -> &Content<'_> {
        &self.content
    }

    fn wants(&self, _piece: usize) -> bool {
        !self.has_failed.load(Ordering::Relaxed)
    }

    fn may_begin(&self, piece: usize) -> bool {
        (piece as u64) < self.next.load(Ordering::Relaxed) + self.most_ahead || !self.wants(piece)
    }

    fn is_given_up(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    fn settle(&self, piece: usize, outcome: Outcome<'_>) {
        match outcome {
            Outcome::Hashed(digests) if digests.whole.is_empty() => self.hand_on(piece as u64, digests.leaves),
            Outcome::Hashed(digests) => self.hand_on(piece as u64, digests.whole),
            Outcome::Absent(absent) => {
                let trouble = self.content.files.take_troubles().into_values().next();
                let offset = self.content.layout.piece_range(piece as u64).start;
                let failure = match (absent, trouble) {
                    (Absent::Missing, _) => Failure::Short,
                    (_, Some(Trouble::Read { offset, error })) => Failure::Read { offset, error },
                    (_, Some(Trouble::Open(error))) => Failure::Read { offset, error },
                    (Absent::Failed, _) => Failure::Read { offset, error: io::ErrorKind::Other.into() },
                };
                self.fail(&mut self.order(), failure);
            }
            Outcome::Unwanted | Outcome::Changed | Outcome::Unstable => {}
        }
    }

    fn finish(&self) {}
}

/// Hashes memory.
pub(super) fn hash_memory(leaves: &Leaves, bytes: &[u8], options: &Options, take: Take<'_>) -> Result<(), Failure> {
    // A short message needs no second thread, and asking how many there are takes longer than hashing it.
    let nthreads = if bytes.len() as u64 <= PIECE_NBYTES.end { 1 } else { options.nthreads() };
    let pool = Pool::new(nthreads, options);
    let most = if is_short(leaves) { BATCH_NBYTES } else { leaves.leaf_nbytes.saturating_mul(LANES as u64) };
    let share = (bytes.len() as u64).div_ceil(pool.count() as u64).clamp(1, most);
    let batch_nbytes = share.div_ceil(leaves.leaf_nbytes).saturating_mul(leaves.leaf_nbytes);
    let mut done = 0;
    for window in bytes.chunks(saturated(batch_nbytes.saturating_mul(pool.count() as u64))) {
        let batches: Vec<(&[u8], Mutex<Vec<u8>>)> =
            window.chunks(saturated(batch_nbytes)).map(|batch| (batch, Mutex::default())).collect();
        let next = AtomicU64::new(0);
        let work = |()| {
            while let Some((batch, digests)) = batches.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                *lock(digests) = hash_batch(leaves, batch, &pool);
            }
        };
        match batches.len() {
            1 => work(()),
            _ => _ = pool.work(|| Some(()), work),
        }
        if pool.must_stop() {
            return Err(Failure::Cancelled);
        }
        for (_, digests) in batches {
            take(&unlocked(digests)).map_err(Failure::Taker)?;
        }
        done += window.len() as u64;
        options.tell(done, None);
    }
    Ok(())
}

/// A length in memory.
fn saturated(nbytes: u64) -> usize {
    usize::try_from(nbytes).unwrap_or(usize::MAX)
}

/// The digests of consecutive leaves, which mean nothing if the pool must stop.
fn hash_batch(leaves: &Leaves, batch: &[u8], pool: &Pool) -> Vec<u8> {
    let parts: Vec<&[u8]> = batch.chunks(saturated(leaves.leaf_nbytes)).collect();
    let mut digests = vec![0; parts.len() * leaves.algorithm.digest_nbytes()];
    if is_short(leaves) {
        leaves.hash_many(&parts, &mut Vec::new(), &mut digests);
        return digests;
    }
    let mut hashers = vec![leaves.hasher(); parts.len()];
    for start in (0..parts.first().map_or(0, |part| part.len())).step_by(STEP_NBYTES) {
        if pool.must_stop() {
            return digests;
        }
        let step = |part: &&[u8]| part.len().min(start)..part.len().min(start + STEP_NBYTES);
        let chunks: Vec<&[u8]> = parts.iter().map(|part| &part[step(part)]).collect();
        update_many(&mut hashers, &chunks);
    }
    for (part, hasher) in parts.iter().zip(&mut hashers) {
        leaves.append_end(hasher, part.len() as u64);
    }
    finalize_many(&mut hashers, &mut digests);
    digests
}

/// Hashes all of a stream. Returns its length in bytes.
pub(super) fn hash_stream(
    leaves: &Leaves,
    stream: &mut dyn Read,
    options: &Options,
    take: Take<'_>,
) -> Result<u64, Failure> {
    // Short leaves fill a window, which stays in the second-level cache.
    let nleaves = if is_short(leaves) {
        PIECE_NBYTES.end / leaves.leaf_nbytes
    } else {
        (BATCH_NBYTES / leaves.leaf_nbytes).min(LANES as u64)
    };
    if nleaves < 2 {
        return hash_stream_of_long_leaves(leaves, stream, options, take);
    }
    hash_windows(leaves, stream, nleaves, options, take)
}

/// Hashes all of a stream, `nleaves` leaves at once.
fn hash_windows(
    leaves: &Leaves,
    stream: &mut dyn Read,
    nleaves: u64,
    options: &Options,
    take: Take<'_>,
) -> Result<u64, Failure> {
    let (mut hashers, mut offset) = (Vec::new(), 0);
    let buffer = zeros((nleaves * leaves.leaf_nbytes) as usize);
    let mut buffer = buffer.ok_or_else(|| Failure::Read { offset, error: out_of_memory() })?;
    loop {
        let nbytes = fill(stream, &mut buffer, offset, options)?;
        offset += nbytes as u64;
        let parts: Vec<&[u8]> = buffer[..nbytes].chunks(leaves.leaf_nbytes as usize).collect();
        let mut digests = vec![0; parts.len() * leaves.algorithm.digest_nbytes()];
        leaves.hash_many(&parts, &mut hashers, &mut digests);
        take(&digests).map_err(Failure::Taker)?;
        options.tell(offset, None);
        if nbytes < buffer.len() {
            return Ok(offset);
        }
    }
}

/// Hashes leaves so long that no buffer has a second one for another lane.
fn hash_stream_of_long_leaves(
    leaves: &Leaves,
    stream: &mut dyn Read,
    options: &Options,
    take: Take<'_>,
) -> Result<u64, Failure> {
    let mut buffer = vec![0; STEP_NBYTES];
    let (mut hasher, mut in_leaf, mut offset): (Hasher, u64, u64) = (leaves.hasher(), 0, 0);
    loop {
        let room = (leaves.leaf_nbytes - in_leaf).min(STEP_NBYTES as u64) as usize;
        let nbytes = fill(stream, &mut buffer[..room], offset, options)?;
        hasher.update(&buffer[..nbytes]);
        in_leaf += nbytes as u64;
        offset += nbytes as u64;
        if in_leaf == leaves.leaf_nbytes || (nbytes < room && in_leaf > 0) {
            let mut ended = std::mem::replace(&mut hasher, leaves.hasher());
            leaves.append_end(&mut ended, in_leaf);
            take(ended.finalize().as_ref()).map_err(Failure::Taker)?;
            in_leaf = 0;
        }
        options.tell(offset, None);
        if nbytes < room {
            return Ok(offset);
        }
    }
}

/// Fills `buffer` from a stream. Fewer bytes are read only if the stream ends.
pub(super) fn fill(stream: &mut dyn Read, buffer: &mut [u8], offset: u64, options: &Options) -> Result<usize, Failure> {
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
