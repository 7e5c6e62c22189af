// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checks pieces: threads take runs of pieces, read a chunk of each in turn, hash them side by side, compare.
//!
//! Neighbouring pieces go to one thread, so that a disk sees few streams, each in order. A piece that is known without
//! reading takes no lane: its file is missing or too short, or all of it lies in holes and padding, and then one
//! digest, computed once, serves all such pieces.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};

use super::ahead::{self, read_ahead};
use super::files::{Absent, Files, Last};
use super::holes::{Stretch, stretch_at};
use super::lanes::{Filled, LANES, Lanes, THREADS_MAX, digest_of_zeros};
use super::layout::Layout;
use crate::{Algorithm, Digest};

/// The verdict on a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PieceState {
    /// Not checked, because the check was cancelled.
    Unchecked = 0,
    /// Its bytes have the right digest.
    Have = 1,
    /// A file that it has bytes of is missing or too short.
    Missing = 2,
    /// All its bytes are there, with another digest.
    Bad = 3,
    /// A file that it has bytes of could not be opened or read.
    Unread = 4,
}

impl PieceState {
    fn from_byte(byte: u8) -> PieceState {
        match byte {
            1 => PieceState::Have,
            2 => PieceState::Missing,
            3 => PieceState::Bad,
            4 => PieceState::Unread,
            _ => PieceState::Unchecked,
        }
    }
}

impl From<Absent> for PieceState {
    fn from(absent: Absent) -> PieceState {
        match absent {
            Absent::Missing => PieceState::Missing,
            Absent::Failed => PieceState::Unread,
        }
    }
}

/// How far a check is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes of content that are done with, whatever the verdict.
    pub nbytes: u64,
    /// Of so many.
    pub total_nbytes: u64,
}

/// A check of all pieces, shared by its threads.
pub(crate) struct Check<'a> {
    pub(crate) algorithm: Algorithm,
    pub(crate) layout: &'a Layout,
    /// The digests that the pieces must have, one after the other.
    pub(crate) digests: &'a [u8],
    pub(crate) files: &'a Files<'a>,
    pub(crate) nthreads: usize,
    pub(crate) progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    pub(crate) cancel: Option<&'a AtomicBool>,
    pub(crate) shared: &'a Shared,
}

/// What the threads write.
pub(crate) struct Shared {
    states: Vec<AtomicU8>,
    /// The first piece that no thread has taken.
    next: AtomicUsize,
    nbytes_done: AtomicU64,
    nbytes_read: AtomicU64,
    /// Up to here the content was asked for ahead of reading it.
    asked: AtomicU64,
    /// Digests of a piece of zeros: of full length, and of the last one's.
    zeros: [OnceLock<Digest>; 2],
}

impl Shared {
    pub(crate) fn new(piece_count: usize) -> Shared {
        Shared {
            states: (0..piece_count).map(|_| AtomicU8::new(0)).collect(),
            next: AtomicUsize::new(0),
            nbytes_done: AtomicU64::new(0),
            nbytes_read: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            zeros: Default::default(),
        }
    }

    pub(crate) fn states(&self) -> Vec<PieceState> {
        self.states.iter().map(|state| PieceState::from_byte(state.load(Ordering::Relaxed))).collect()
    }

    /// Bytes that were read from files.
    pub(crate) fn nbytes_read(&self) -> u64 {
        self.nbytes_read.load(Ordering::Relaxed)
    }
}

/// A piece that is being read.
struct Lane {
    piece: usize,
    /// Where in the content its next byte is, and where it ends.
    pos: u64,
    end: u64,
    /// The file that has `pos`.
    file: usize,
    stretch: Stretch,
    /// Up to here it was asked for ahead of reading it.
    asked: u64,
    /// Set if it cannot be read to its end.
    verdict: Option<PieceState>,
}

struct Cancelled;

/// What a thread has of its own.
#[derive(Default)]
struct Own {
    last: Last,
    /// In `last`'s file, for the piece that is looked at next.
    stretch: Option<(usize, Stretch)>,
    nbytes_read: u64,
}

impl Check<'_> {
    /// Checks all pieces. Returns when all are done or the check was cancelled.
    pub(crate) fn run(&self) {
        // More threads than there are pieces have nothing to do.
        let count = self.shared.states.len();
        let nthreads = self.nthreads.clamp(1, count.clamp(1, THREADS_MAX));
        // A torrent of few pieces is dealt out evenly: 20 pieces to two threads are twice 10, not 16 and 4.
        let ntakes = count.div_ceil(LANES).next_multiple_of(nthreads).max(1);
        let most = if nthreads == 1 { LANES } else { count.div_ceil(ntakes).clamp(1, LANES) };
        std::thread::scope(|scope| {
            for number in 1..nthreads {
                let builder = std::thread::Builder::new().name(format!("hashloom-{number}"));
                // Where no more threads can be had, fewer do the work.
                if builder.spawn_scoped(scope, move || self.work(nthreads, most)).is_err() {
                    break;
                }
            }
            self.work(nthreads, most);
        });
    }

    fn work(&self, nthreads: usize, most: usize) {
        let mut own = Own::default();
        let mut rows = Lanes::new(self.algorithm, nthreads);
        let mut lanes: Vec<Lane> = Vec::with_capacity(LANES);
        loop {
            lanes.clear();
            self.take_lanes(most, &mut own, &mut lanes);
            if lanes.is_empty() || self.hash(&mut own, &mut rows, &mut lanes).is_err() {
                break;
            }
        }
        self.shared.nbytes_read.fetch_add(own.nbytes_read, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    /// Takes pieces until `most` lanes are in use or no pieces are left, settling those that need no reading.
    fn take_lanes(&self, most: usize, own: &mut Own, lanes: &mut Vec<Lane>) {
        while lanes.len() < most && !self.cancelled() {
            let pieces = self.take(most - lanes.len());
            if pieces.is_empty() {
                break;
            }
            for piece in pieces {
                let range = self.layout.piece_range(piece as u64);
                let file = self.layout.file_at(range.start);
                match self.without_reading(piece, range.clone(), file, own) {
                    Some(state) => {
                        self.settle(piece, state);
                        self.advance(range.end - range.start);
                    }
                    None => {
                        let (pos, end) = (range.start, range.end);
                        lanes.push(Lane { piece, pos, end, file, stretch: Stretch::NONE, asked: pos, verdict: None });
                    }
                }
            }
        }
    }

    fn take(&self, most: usize) -> Range<usize> {
        let count = self.shared.states.len();
        let start = self.shared.next.fetch_add(most, Ordering::Relaxed).min(count);
        start..(start + most).min(count)
    }

    /// The verdict on a piece if it is known without reading. Only as many of its files are looked at as it takes to
    /// know that it must be read: usually one.
    fn without_reading(&self, piece: usize, range: Range<u64>, first: usize, own: &mut Own) -> Option<PieceState> {
        let mut pos = range.start;
        let mut index = first;
        while pos < range.end {
            let span = self.layout.span(index);
            let end = span.end().min(range.end);
            if !span.padding && pos < end {
                let file = match self.files.get(index, &mut own.last) {
                    Ok(file) => file,
                    Err(absent) => return Some(absent.into()),
                };
                if file.nbytes < end - span.offset {
                    return Some(PieceState::Missing);
                }
                if !file.holes {
                    return None;
                }
                let stretch = match own.stretch {
                    Some((of, stretch)) if of == index && stretch.contains(pos - span.offset) => stretch,
                    _ => stretch_at(&file.file, pos - span.offset),
                };
                own.stretch = Some((index, stretch));
                if !stretch.hole || stretch.end < end - span.offset {
                    return None;
                }
            }
            pos = end;
            index += 1;
        }
        let last = piece + 1 == self.shared.states.len();
        let nbytes = range.end - range.start;
        let zeros = self.shared.zeros[usize::from(last)].get_or_init(|| digest_of_zeros(self.algorithm, nbytes));
        Some(self.compare(piece, zeros.as_ref()))
    }

    /// Reads and hashes the pieces of all lanes. If it is cancelled, the hashers of `rows` are left with half a piece
    /// each.
    fn hash(&self, own: &mut Own, rows: &mut Lanes, lanes: &mut [Lane]) -> Result<(), Cancelled> {
        let chunk_nbytes = rows.chunk_nbytes() as u64;
        let by_lane = self.layout.piece_nbytes() > ahead::ALL_NBYTES / LANES as u64;
        if !by_lane {
            self.ask_for_all(own, lanes);
        }
        while lanes.iter().any(|lane| lane.pos < lane.end) {
            if self.cancelled() {
                return Err(Cancelled);
            }
            let before: u64 = lanes.iter().map(|lane| lane.end - lane.pos).sum();
            rows.advance(lanes.len(), |at, row| {
                let lane = &mut lanes[at];
                if by_lane {
                    self.ask_for_lane(own, lane);
                }
                let want = chunk_nbytes.min(lane.end - lane.pos) as usize;
                self.fill(own, lane, &mut row[..want]).unwrap_or_else(|state| {
                    lane.verdict = Some(state);
                    lane.pos = lane.end;
                    Filled::Zeros(0)
                })
            });
            let after: u64 = lanes.iter().map(|lane| lane.end - lane.pos).sum();
            self.advance(before - after);
        }
        let digest_nbytes = self.algorithm.digest_len();
        let mut digests = [0; LANES * 64];
        let digests = &mut digests[..lanes.len() * digest_nbytes];
        rows.finish(lanes.len(), digests);
        for (lane, digest) in lanes.iter().zip(digests.chunks_exact(digest_nbytes)) {
            self.settle(lane.piece, lane.verdict.unwrap_or_else(|| self.compare(lane.piece, digest)));
        }
        Ok(())
    }

    /// Short pieces: asks for all of these lanes', and for as much again, which the next lanes will read.
    fn ask_for_all(&self, own: &mut Own, lanes: &[Lane]) {
        let (Some(first), Some(last)) = (lanes.first(), lanes.last()) else { return };
        let end = last.end.saturating_add(LANES as u64 * self.layout.piece_nbytes()).min(self.layout.total_nbytes());
        let asked = self.shared.asked.fetch_max(end, Ordering::Relaxed);
        self.ask_for(own, first.pos.max(asked)..end);
    }

    /// Long pieces: asks for what the lane reads next when half of what was asked for is read.
    fn ask_for_lane(&self, own: &mut Own, lane: &mut Lane) {
        if lane.asked < lane.end && lane.pos + ahead::LANE_NBYTES / 2 >= lane.asked {
            let start = lane.asked;
            lane.asked = lane.end.min(start + ahead::LANE_NBYTES);
            self.ask_for(own, start..lane.asked);
        }
    }

    fn ask_for(&self, own: &mut Own, range: Range<u64>) {
        let mut pos = range.start;
        while pos < range.end {
            let index = self.layout.file_at(pos);
            let span = self.layout.span(index);
            let end = span.end().min(range.end);
            if !span.padding && span.nbytes >= ahead::WORTH_ASKING_NBYTES {
                if let Ok(file) = self.files.get(index, &mut own.last) {
                    let (start, end) = (pos - span.offset, end - span.offset);
                    // A hole would be filled with zeros, in memory. Of a file with holes the first data is asked for.
                    let hole = if file.holes { stretch_at(&file.file, start) } else { Stretch::NONE };
                    let start = if hole.hole { hole.end } else { start };
                    let data = if file.holes { stretch_at(&file.file, start).end } else { end };
                    read_ahead(&file.file, start..end.min(data));
                }
            }
            pos = end;
        }
    }

    /// Fills `row` with the next bytes of a lane's piece.
    fn fill(&self, own: &mut Own, lane: &mut Lane, row: &mut [u8]) -> Result<Filled, PieceState> {
        let mut filled = 0;
        // Whether all of it so far is zeros, which are only written into the row if something else follows.
        let mut zeros = true;
        while filled < row.len() {
            let span = self.layout.span(lane.file);
            let left = (span.end() - lane.pos).min((row.len() - filled) as u64) as usize;
            if left == 0 {
                lane.file += 1;
                lane.stretch = Stretch::NONE;
                continue;
            }
            let at = lane.pos - span.offset;
            let nbytes = match self.next_run(own, lane, span.padding, at, left)? {
                Filled::Zeros(nbytes) => {
                    if !zeros {
                        row[filled..filled + nbytes].fill(0);
                    }
                    nbytes
                }
                Filled::Read(nbytes) => {
                    if zeros {
                        row[..filled].fill(0);
                        zeros = false;
                    }
                    let file = self.files.get(lane.file, &mut own.last)?;
                    match file.read_at(&mut row[filled..filled + nbytes], at) {
                        Ok(found) if found == nbytes => own.nbytes_read += nbytes as u64,
                        Ok(_) => return Err(PieceState::Missing),
                        Err(error) => {
                            self.files.read_failed(lane.file, at, error);
                            return Err(PieceState::Unread);
                        }
                    }
                    nbytes
                }
            };
            filled += nbytes;
            lane.pos += nbytes as u64;
        }
        Ok(if zeros { Filled::Zeros(filled) } else { Filled::Read(filled) })
    }

    /// What the next bytes of a lane's file are, at most `nbytes`: zeros, or to be read.
    fn next_run(
        &self,
        own: &mut Own,
        lane: &mut Lane,
        padding: bool,
        at: u64,
        nbytes: usize,
    ) -> Result<Filled, PieceState> {
        if padding {
            return Ok(Filled::Zeros(nbytes));
        }
        let file = self.files.get(lane.file, &mut own.last)?;
        if !file.holes {
            return Ok(Filled::Read(nbytes));
        }
        if !lane.stretch.contains(at) {
            lane.stretch = stretch_at(&file.file, at);
        }
        let nbytes = (lane.stretch.end - at).min(nbytes as u64) as usize;
        Ok(if lane.stretch.hole { Filled::Zeros(nbytes) } else { Filled::Read(nbytes) })
    }

    fn compare(&self, piece: usize, digest: &[u8]) -> PieceState {
        let nbytes = self.algorithm.digest_len();
        if self.digests[piece * nbytes..][..nbytes] == *digest { PieceState::Have } else { PieceState::Bad }
    }

    fn settle(&self, piece: usize, state: PieceState) {
        self.shared.states[piece].store(state as u8, Ordering::Relaxed);
    }

    fn advance(&self, nbytes: u64) {
        if let Some(progress) = self.progress {
            let done = self.shared.nbytes_done.fetch_add(nbytes, Ordering::Relaxed) + nbytes;
            progress(Progress { nbytes: done, total_nbytes: self.layout.total_nbytes() });
        }
    }
}
