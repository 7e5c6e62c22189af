// SPDX-License-Identifier: MIT OR Apache-2.0

//! Hashes pieces: threads take pieces of one job after another, read a chunk of each in turn, and hash them side by
//! side: by SHA-1, as a hash tree, or both from one read.
//!
//! A job is the content of one torrent. Neighbouring pieces go to one thread, so that a disk sees few streams, each in
//! order. A lane that has read its piece takes the next one, of whatever job. A piece that is known without reading
//! takes no lane: its file is missing or too short, or all of it lies in holes and padding, and then digests that are
//! computed once serve all such pieces.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::ahead::{self, Small, read_ahead};
use super::files::{Absent, Files, Key, Last, OpenFile, open_max};
use super::holes::{Stretch, stretch_at};
use super::layout::Layout;
use super::merkle::{self, BLOCK_NBYTES, Node, Tree};
use super::rows::{Filled, LANES, Rows, THREADS_MAX, block_of_zeros, sha1_of_zeros};

/// How far a check or the making of a torrent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes of content that are done with, whatever the verdict.
    pub nbytes: u64,
    /// Of so many. Where several torrents are checked: of those begun so far.
    pub total_nbytes: u64,
}

/// Which digests the pieces of a job have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hashes {
    /// BEP 3: of the bytes that the piece covers, padding included.
    pub(crate) sha1: bool,
    /// BEP 52: of the piece's file alone. Pieces must then be a power of two of blocks, and each file that is no padding
    /// begin at one.
    pub(crate) merkle: bool,
}

/// What came of a piece.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    /// Its digests; a digest that the job has not is all zeros.
    Hashed { sha1: [u8; 20], root: Node },
    /// Its bytes cannot be had.
    Absent(Absent),
    /// The job does not want it.
    Unwanted,
}

/// What is read, and what the engine notes of it.
pub(crate) struct Content<'a> {
    pub(crate) layout: Arc<Layout>,
    pub(crate) files: Files<'a>,
    hashes: Hashes,
    nbytes_read: AtomicU64,
    /// Pieces that are not settled.
    nleft: AtomicU64,
    /// Up to here the content was asked for ahead of reading it.
    asked: AtomicU64,
    /// SHA-1 of a piece of zeros: of full length, and of the last one's if that is shorter.
    zeros: [OnceLock<[u8; 20]>; 2],
    /// The tree of a whole piece of zeros.
    zeros_root: OnceLock<Node>,
}

impl<'a> Content<'a> {
    pub(crate) fn new(layout: Arc<Layout>, files: Files<'a>, hashes: Hashes) -> Content<'a> {
        Content {
            nleft: AtomicU64::new(layout.piece_count()),
            layout,
            files,
            hashes,
            nbytes_read: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            zeros: Default::default(),
            zeros_root: OnceLock::new(),
        }
    }

    /// Bytes that were read from files.
    pub(crate) fn nbytes_read(&self) -> u64 {
        self.nbytes_read.load(Ordering::Relaxed)
    }

    #[cfg(feature = "create")]
    pub(crate) fn hashes(&self) -> Hashes {
        self.hashes
    }

    /// Whether all pieces are settled.
    pub(crate) fn is_done(&self) -> bool {
        self.nleft.load(Ordering::Acquire) == 0
    }

    /// The bytes of a piece that its hash tree covers, and the tree's levels.
    fn tree_of(&self, range: &Range<u64>, file: usize) -> (Range<u64>, u32) {
        let span = self.layout.span(file);
        if span.padding {
            return (range.start..range.start, 0);
        }
        let piece_nbytes = self.layout.piece_nbytes();
        (range.start..range.end.min(span.end()), merkle::height(span.nbytes.min(piece_nbytes)))
    }

    /// The digests of a piece that is all zeros.
    fn of_zeros(&self, range: &Range<u64>, file: usize) -> Outcome {
        let sha1 = match self.hashes.sha1 {
            true => {
                let nbytes = range.end - range.start;
                let is_short = nbytes < self.layout.piece_nbytes();
                *self.zeros[usize::from(is_short)].get_or_init(|| sha1_of_zeros(nbytes))
            }
            false => [0; 20],
        };
        let root = match self.hashes.merkle {
            true => {
                let (bytes, levels) = self.tree_of(range, file);
                let nbytes = bytes.end - bytes.start;
                match nbytes == self.layout.piece_nbytes() {
                    true => *self.zeros_root.get_or_init(|| tree_of_zeros(nbytes, levels)),
                    false => tree_of_zeros(nbytes, levels),
                }
            }
            false => merkle::NO_LEAF,
        };
        Outcome::Hashed { sha1, root }
    }
}

fn tree_of_zeros(nbytes: u64, levels: u32) -> Node {
    if nbytes == 0 {
        return merkle::NO_LEAF;
    }
    let mut tree = Tree::default();
    let whole = block_of_zeros(BLOCK_NBYTES);
    (0..nbytes / BLOCK_NBYTES).for_each(|_| tree.push(&whole));
    if nbytes % BLOCK_NBYTES > 0 {
        tree.push(&block_of_zeros(nbytes % BLOCK_NBYTES));
    }
    tree.finish(levels)
}

/// One torrent's content and what is done with its digests.
pub(crate) trait Job: Send + Sync {
    fn content(&self) -> &Content<'_>;

    /// Whether the piece is to be hashed.
    fn wants(&self, piece: usize) -> bool;

    /// Called once for each piece, by any thread, in any order. If the run is cancelled, pieces are left out.
    fn settle(&self, piece: usize, outcome: Outcome);

    /// Called once, after the last piece, or when the run was cancelled after the job was begun.
    fn finish(&self);
}

fn settle<J: Job>(job: &J, piece: usize, outcome: Outcome) {
    job.settle(piece, outcome);
    if job.content().nleft.fetch_sub(1, Ordering::AcqRel) == 1 {
        job.finish();
    }
}

/// How jobs are worked on.
#[derive(Clone, Copy)]
pub(crate) struct Effort<'a> {
    pub(crate) nthreads: usize,
    pub(crate) progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    pub(crate) cancel: Option<&'a AtomicBool>,
}

/// Hashes all pieces of all jobs. `jobs` is asked for the next one when the pieces of those before are taken, so that the
/// number of jobs does not matter. Returns when all is done or the run was cancelled.
pub(crate) fn run<J: Job, I: Iterator<Item = Arc<J>> + Send>(jobs: I, effort: Effort<'_>) {
    // Each has a file in use.
    let nthreads = effort.nthreads.clamp(1, THREADS_MAX.min(open_max()));
    let mut queue = Queue { jobs: jobs.fuse(), current: None, following: None, next: 0, nthreads, total_nbytes: 0 };
    queue.current = queue.begin();
    queue.following = queue.begin();
    // More threads than there are pieces have nothing to do.
    let nuseful = match (&queue.current, &queue.following) {
        (Some(only), None) => only.content().layout.piece_count().clamp(1, THREADS_MAX as u64) as usize,
        _ => nthreads,
    };
    let total_nbytes = AtomicU64::new(queue.total_nbytes);
    let run = Run {
        queue: Mutex::new(queue),
        nthreads,
        effort,
        nbytes_done: AtomicU64::new(0),
        total_nbytes,
        unfinished: Mutex::default(),
    };
    std::thread::scope(|scope| {
        for number in 1..nthreads.min(nuseful) {
            let builder = std::thread::Builder::new().name(format!("hashloom-{number}"));
            // Where no more threads can be had, fewer do the work.
            if builder.spawn_scoped(scope, || run.work()).is_err() {
                break;
            }
        }
        run.work();
    });
    // Of a cancelled run: jobs of which a piece is in some lane, or that still wait to be taken.
    let queue = run.queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut unfinished = run.unfinished.into_inner().unwrap_or_else(PoisonError::into_inner);
    unfinished.extend(queue.current.into_iter().chain(queue.following));
    unfinished.retain(|job| !job.content().is_done());
    unfinished.sort_unstable_by_key(Arc::as_ptr);
    unfinished.dedup_by(|a, b| Arc::ptr_eq(a, b));
    unfinished.iter().for_each(|job| job.finish());
}

/// The jobs, of which two are begun: the last one must be known as such.
struct Queue<J, I> {
    jobs: std::iter::Fuse<I>,
    current: Option<Arc<J>>,
    following: Option<Arc<J>>,
    /// The first piece of `current` that no thread has taken.
    next: usize,
    nthreads: usize,
    /// Of all jobs begun.
    total_nbytes: u64,
}

impl<J: Job, I: Iterator<Item = Arc<J>>> Queue<J, I> {
    fn begin(&mut self) -> Option<Arc<J>> {
        loop {
            let job = self.jobs.next()?;
            if job.content().is_done() {
                job.finish();
                continue;
            }
            self.total_nbytes = self.total_nbytes.saturating_add(job.content().layout.files_nbytes());
            return Some(job);
        }
    }

    /// Pieces for a thread that has `busy` of its lanes in use; none if it is to go on with these.
    fn take(&mut self, busy: usize) -> Option<(Arc<J>, Range<usize>)> {
        loop {
            let job = self.current.as_ref()?;
            let count = job.content().layout.piece_count() as usize;
            if self.next < count {
                let most = if self.following.is_some() { LANES } else { even_share(count, self.nthreads) };
                let start = self.next;
                self.next = (start + most.saturating_sub(busy)).min(count);
                return (self.next > start).then(|| (job.clone(), start..self.next));
            }
            self.current = self.following.take();
            self.next = 0;
            self.following = self.begin();
        }
    }
}

/// How many lanes a thread uses for a job of `count` pieces: few are dealt out evenly, so that 20 pieces to two threads
/// are twice 10, not 16 and 4.
fn even_share(count: usize, nthreads: usize) -> usize {
    if nthreads == 1 {
        return LANES;
    }
    let ntakes = count.div_ceil(LANES).next_multiple_of(nthreads);
    count.div_ceil(ntakes).clamp(1, LANES)
}

/// What all threads share.
struct Run<'a, J, I> {
    queue: Mutex<Queue<J, I>>,
    nthreads: usize,
    effort: Effort<'a>,
    nbytes_done: AtomicU64,
    total_nbytes: AtomicU64,
    unfinished: Mutex<Vec<Arc<J>>>,
}

/// A piece that is being read.
struct Lane<J> {
    job: Arc<J>,
    piece: usize,
    /// Where in the content its next byte is, and where it ends.
    pos: u64,
    end: u64,
    /// Up to here it belongs to its hash tree, of so many levels.
    tree_end: u64,
    levels: u32,
    tree: Tree,
    /// The file that has `pos`.
    file: usize,
    stretch: Stretch,
    /// Up to here it was asked for ahead of reading it.
    asked: u64,
    /// Up to here its small files were asked for.
    looked_at: u64,
    /// What is mapped and present of its file.
    window: Window,
    /// Set if it cannot be read to its end.
    absent: Option<Absent>,
}

/// A part of a mapped file that is present in this process, and given back when it is no longer wanted.
#[derive(Default)]
struct Window(Option<(Key, Arc<OpenFile>, Range<u64>)>);

/// Bytes of a window. Measured with 16 lanes, seconds for 1 GiB: 32 KiB 0.263, 64 KiB 0.246, 128 KiB 0.239, 256 KiB 0.211;
/// copied instead, 0.309.
pub(crate) const WINDOW_NBYTES: u64 = 256 << 10;

impl Window {
    /// A range of a file, out of its mapping; none if it is to be read. What follows, up to `end`, will be asked for next.
    fn get(
        &mut self,
        files: &Files<'_>,
        index: usize,
        own: &mut Own,
        range: Range<u64>,
        end: u64,
    ) -> Result<Option<Filled>, Absent> {
        let has = |(key, _, window): &(Key, Arc<OpenFile>, Range<u64>)| {
            *key == files.key(index) && window.start <= range.start && range.end <= window.end
        };
        if !self.0.as_ref().is_some_and(has) {
            self.give_back();
            let window = range.start..end.min(range.start + WINDOW_NBYTES).max(range.end);
            let file = files.fetch_mapped(index, &mut own.last, window.clone())?;
            self.0 = file.map(|file| (files.key(index), file, window));
        }
        Ok(self.0.as_ref().map(|(_, file, _)| Filled::Mapped(file.clone(), range)))
    }

    fn give_back(&mut self) {
        if let Some((_, file, range)) = self.0.take() {
            if let Some(mapping) = &file.mapping {
                mapping.give_back(range);
            }
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// What a thread has of its own.
struct Own {
    last: Last,
    /// In which file, and for the piece that is looked at next.
    stretch: Option<(Key, Stretch)>,
    small: Small,
}

impl<J: Job, I: Iterator<Item = Arc<J>> + Send> Run<'_, J, I> {
    fn cancelled(&self) -> bool {
        self.effort.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    fn work(&self) {
        let mut own = Own { last: None, stretch: None, small: Small::new(self.nthreads) };
        let mut rows = Rows::new(self.nthreads);
        let mut lanes: Vec<Lane<J>> = Vec::with_capacity(LANES);
        loop {
            self.take_lanes(&mut own, &mut lanes);
            if lanes.is_empty() || self.cancelled() {
                break;
            }
            self.advance(&mut own, &mut rows, &mut lanes);
            settle_finished(&mut rows, &mut lanes);
        }
        let mut unfinished = lock(&self.unfinished);
        unfinished.extend(lanes.into_iter().map(|lane| lane.job));
    }

    /// Takes pieces for the lanes that are free, settling those that need no reading.
    fn take_lanes(&self, own: &mut Own, lanes: &mut Vec<Lane<J>>) {
        while lanes.len() < LANES && !self.cancelled() {
            let Some((job, pieces)) = self.take(lanes.len()) else { break };
            let content = job.content();
            let first = lanes.len();
            for piece in pieces {
                let range = content.layout.piece_range(piece as u64);
                let file = content.layout.file_at(range.start);
                let settled = match job.wants(piece) {
                    true => without_reading(content, &range, file, own),
                    false => Some(Outcome::Unwanted),
                };
                match settled {
                    Some(outcome) => {
                        settle(&*job, piece, outcome);
                        self.done(range.end - range.start);
                    }
                    None => {
                        let (tree, levels) = match content.hashes.merkle {
                            true => content.tree_of(&range, file),
                            false => (range.start..range.start, 0),
                        };
                        lanes.push(Lane {
                            job: job.clone(),
                            piece,
                            pos: range.start,
                            end: range.end,
                            tree_end: tree.end,
                            levels,
                            tree: Tree::default(),
                            file,
                            stretch: Stretch::NONE,
                            asked: range.start,
                            looked_at: range.start,
                            window: Window::default(),
                            absent: None,
                        });
                    }
                }
            }
            ask_for_all(content, own, &lanes[first..]);
        }
    }

    fn take(&self, busy: usize) -> Option<(Arc<J>, Range<usize>)> {
        let mut queue = lock(&self.queue);
        let taken = queue.take(busy);
        self.total_nbytes.store(queue.total_nbytes, Ordering::Relaxed);
        taken
    }

    /// Reads and hashes the next chunk of each lane.
    fn advance(&self, own: &mut Own, rows: &mut Rows, lanes: &mut [Lane<J>]) {
        let chunk_nbytes = rows.chunk_nbytes() as u64;
        let before: u64 = lanes.iter().map(|lane| lane.end - lane.pos).sum();
        // All lanes' small files are asked for before the first of them is waited for: those of this row and the next.
        lanes.iter_mut().for_each(|lane| ask_for_small(own, lane, 2 * chunk_nbytes));
        // How many bytes of each row its tree covers.
        let mut covered = [0; LANES];
        rows.fill(lanes.len(), |at, row| {
            let lane = &mut lanes[at];
            ask_for_lane(own, lane);
            let want = chunk_nbytes.min(lane.end - lane.pos);
            covered[at] = lane.tree_end.saturating_sub(lane.pos).min(want) as usize;
            lane.fill(own, &mut row[..want as usize]).unwrap_or_else(|absent| {
                lane.absent = Some(absent);
                lane.pos = lane.end;
                covered[at] = 0;
                Filled::Zeros(0)
            })
        });
        if lanes.iter().any(|lane| lane.job.content().hashes.sha1) {
            rows.update_sha1(lanes.len(), |at| lanes[at].job.content().hashes.sha1);
        }
        if covered.iter().any(|&nbytes| nbytes > 0) {
            rows.hash_blocks(lanes.len(), |at| covered[at], |at, leaves| lanes[at].tree.push(leaves));
        }
        rows.check_mapped(lanes.len(), |at| lanes[at].begin_again());
        let after: u64 = lanes.iter().map(|lane| lane.end - lane.pos).sum();
        self.done(before.saturating_sub(after));
    }

    fn done(&self, nbytes: u64) {
        if let Some(progress) = self.effort.progress {
            let done = self.nbytes_done.fetch_add(nbytes, Ordering::Relaxed) + nbytes;
            progress(Progress { nbytes: done, total_nbytes: self.total_nbytes.load(Ordering::Relaxed) });
        }
    }
}

/// Settles the pieces that are read, and frees their lanes.
fn settle_finished<J: Job>(rows: &mut Rows, lanes: &mut Vec<Lane<J>>) {
    // Those that go on come first.
    let mut busy = 0;
    for at in 0..lanes.len() {
        if lanes[at].pos < lanes[at].end {
            if at != busy {
                lanes.swap(at, busy);
                rows.swap(at, busy);
            }
            busy += 1;
        }
    }
    let mut sha1 = [0; LANES * 20];
    let sha1 = rows.finish_sha1(busy, lanes.len(), &mut sha1);
    for (mut lane, digest) in lanes.drain(busy..).zip(sha1.chunks_exact(20)) {
        let outcome = match lane.absent {
            Some(absent) => Outcome::Absent(absent),
            None => {
                let mut sha1 = [0; 20];
                sha1.copy_from_slice(digest);
                let root = if lane.tree.is_empty() { merkle::NO_LEAF } else { lane.tree.finish(lane.levels) };
                Outcome::Hashed { sha1, root }
            }
        };
        settle(&*lane.job, lane.piece, outcome);
    }
}

/// What comes of a piece if that is known without reading. Only as many of its files are looked at as it takes to know
/// that it must be read: usually one.
fn without_reading(content: &Content<'_>, range: &Range<u64>, first: usize, own: &mut Own) -> Option<Outcome> {
    let mut pos = range.start;
    let mut index = first;
    while pos < range.end {
        let span = content.layout.span(index);
        let end = span.end().min(range.end);
        if !span.padding && pos < end {
            let file = match content.files.get(index, &mut own.last) {
                Ok(file) => file,
                Err(absent) => return Some(Outcome::Absent(absent)),
            };
            if file.nbytes < end - span.offset {
                return Some(Outcome::Absent(Absent::Missing));
            }
            if !file.holes {
                return None;
            }
            let stretch = match own.stretch {
                Some((of, stretch)) if of == content.files.key(index) && stretch.contains(pos - span.offset) => stretch,
                _ => stretch_at(&file.file, pos - span.offset),
            };
            own.stretch = Some((content.files.key(index), stretch));
            if !stretch.hole || stretch.end < end - span.offset {
                return None;
            }
        }
        pos = end;
        index += 1;
    }
    Some(content.of_zeros(range, first))
}

/// Pieces so long that each lane asks for its own next bytes, instead of all for the next pieces.
fn asks_by_lane(content: &Content<'_>) -> bool {
    content.layout.piece_nbytes() > ahead::ALL_NBYTES / LANES as u64
}

/// Short pieces: asks for all of these lanes', which are of one job, and for as much again, which the next lanes will
/// read.
fn ask_for_all<J: Job>(content: &Content<'_>, own: &mut Own, lanes: &[Lane<J>]) {
    let (Some(first), Some(last)) = (lanes.first(), lanes.last()) else { return };
    if asks_by_lane(content) {
        return;
    }
    let layout = &content.layout;
    let end = last.end.saturating_add(LANES as u64 * layout.piece_nbytes()).min(layout.total_nbytes());
    let asked = content.asked.fetch_max(end, Ordering::Relaxed);
    ask_for(content, own, first.pos.max(asked)..end);
}

/// Small files: asks for the first of those that the lane's next `nbytes` bytes are in and that were not looked at
/// before, each as far as the piece goes.
fn ask_for_small<J: Job>(own: &mut Own, lane: &mut Lane<J>, nbytes: u64) {
    let content = lane.job.content();
    let until = lane.end.min(lane.pos.saturating_add(nbytes));
    let mut left = if lane.looked_at < until { own.small.next() } else { 0 };
    while lane.looked_at < until && left > 0 {
        let pos = lane.looked_at;
        let index = content.layout.file_at(pos);
        let span = content.layout.span(index);
        // Before the file there can be a gap.
        lane.looked_at = if pos < span.offset { span.offset } else { span.end() };
        if !span.padding && span.nbytes < ahead::WORTH_ASKING_NBYTES && pos >= span.offset {
            left -= 1;
            match content.files.get(index, &mut own.last) {
                // A hole would be filled with zeros, in memory.
                Ok(file) if !file.holes => {
                    let range = pos - span.offset..span.end().min(lane.end) - span.offset;
                    own.small.note(read_ahead(&file.file, range));
                }
                _ => {}
            }
        }
    }
    lane.looked_at = lane.looked_at.max(until);
}

/// Long pieces: asks for what the lane reads next when half of what was asked for is read.
fn ask_for_lane<J: Job>(own: &mut Own, lane: &mut Lane<J>) {
    let content = lane.job.content();
    if asks_by_lane(content) && lane.asked < lane.end && lane.pos + ahead::LANE_NBYTES / 2 >= lane.asked {
        let start = lane.asked;
        lane.asked = lane.end.min(start + ahead::LANE_NBYTES);
        ask_for(content, own, start..lane.asked);
    }
}

fn ask_for(content: &Content<'_>, own: &mut Own, range: Range<u64>) {
    let mut pos = range.start;
    while pos < range.end {
        let index = content.layout.file_at(pos);
        let span = content.layout.span(index);
        let end = span.end().min(range.end);
        if !span.padding && span.nbytes >= ahead::WORTH_ASKING_NBYTES && pos >= span.offset {
            if let Ok(file) = content.files.get(index, &mut own.last) {
                let (start, end) = (pos - span.offset, end - span.offset);
                // A hole would be filled with zeros, in memory. Of a file with holes the first data is asked for.
                let hole = if file.holes { stretch_at(&file.file, start) } else { Stretch::NONE };
                let start = if hole.hole { hole.end } else { start };
                let data = if file.holes { stretch_at(&file.file, start).end } else { end };
                read_ahead(&file.file, start..end.min(data));
            }
        }
        // Beyond the file there can be a gap, whose bytes are the next file's in `file_at`.
        pos = if pos < span.offset { span.offset } else { end };
    }
}

impl<J: Job> Lane<J> {
    /// What was hashed were not the file's bytes: from now on the file is read, which tells what is wrong with it.
    fn begin_again(&mut self) {
        let layout = &self.job.content().layout;
        self.pos = layout.piece_range(self.piece as u64).start;
        self.file = layout.file_at(self.pos);
        self.stretch = Stretch::NONE;
        self.tree.clear();
        self.window.give_back();
        self.absent = None;
    }

    /// Fills `row` with the next bytes of the piece.
    fn fill(&mut self, own: &mut Own, row: &mut [u8]) -> Result<Filled, Absent> {
        let content = self.job.content();
        let mut filled = 0;
        // Whether all of it so far is zeros, which are only written into the row if something else follows.
        let mut zeros = true;
        while filled < row.len() {
            let span = content.layout.span(self.file);
            let left = (span.end() - self.pos).min((row.len() - filled) as u64) as usize;
            if left == 0 {
                self.file += 1;
                self.stretch = Stretch::NONE;
                continue;
            }
            let at = self.pos - span.offset;
            let run = match span.padding {
                true => Bytes::Zeros(left),
                false => next_run(content, own, self.file, &mut self.stretch, at, left)?,
            };
            let nbytes = match run {
                Bytes::Zeros(nbytes) => {
                    if !zeros {
                        row[filled..filled + nbytes].fill(0);
                    }
                    nbytes
                }
                Bytes::Data(nbytes) => {
                    if nbytes == row.len() {
                        let end = span.end().min(self.end) - span.offset;
                        let end = if self.stretch.contains(at) { end.min(self.stretch.end) } else { end };
                        if let Some(mapped) =
                            self.window.get(&content.files, self.file, own, at..at + nbytes as u64, end)?
                        {
                            self.pos += nbytes as u64;
                            content.nbytes_read.fetch_add(nbytes as u64, Ordering::Relaxed);
                            return Ok(mapped);
                        }
                    }
                    if zeros {
                        row[..filled].fill(0);
                        zeros = false;
                    }
                    let file = content.files.get(self.file, &mut own.last)?;
                    match file.read_at(&mut row[filled..filled + nbytes], at) {
                        Ok(found) if found == nbytes => {
                            content.nbytes_read.fetch_add(nbytes as u64, Ordering::Relaxed);
                        }
                        Ok(_) => {
                            content.files.shrank(self.file, file);
                            return Err(Absent::Missing);
                        }
                        Err(error) => {
                            content.files.read_failed(self.file, at, error);
                            return Err(Absent::Failed);
                        }
                    }
                    nbytes
                }
            };
            filled += nbytes;
            self.pos += nbytes as u64;
        }
        Ok(if zeros { Filled::Zeros(filled) } else { Filled::Read(filled) })
    }
}

/// So many bytes that need not be read, or must.
enum Bytes {
    Zeros(usize),
    Data(usize),
}

/// What the next bytes of a file are, at most `nbytes` from `at` on: zeros, or to be read.
fn next_run(
    content: &Content<'_>,
    own: &mut Own,
    file: usize,
    stretch: &mut Stretch,
    at: u64,
    nbytes: usize,
) -> Result<Bytes, Absent> {
    let file = content.files.get(file, &mut own.last)?;
    if !file.holes {
        return Ok(Bytes::Data(nbytes));
    }
    if !stretch.contains(at) {
        *stretch = stretch_at(&file.file, at);
    }
    let nbytes = (stretch.end - at).min(nbytes as u64) as usize;
    Ok(if stretch.hole { Bytes::Zeros(nbytes) } else { Bytes::Data(nbytes) })
}

/// A panic elsewhere leaves nothing half-done in what these locks guard.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
