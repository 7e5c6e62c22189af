// SPDX-License-Identifier: MIT OR Apache-2.0

//! Hashes pieces. Threads take pieces of one job after another, read a chunk of each in turn, and hash them side by
//! side: whole, as the leaves of a hash tree, or both from one read.
//!
//! A job is the content of one torrent, or a file whose hash tree is wanted. Neighbouring pieces go to one thread, so
//! that a disk sees few streams, each in order. A lane that has read its piece takes the next one, of any job. A piece
//! whose result is known without reading takes no lane: its file is missing or too short, or the piece lies in holes
//! and padding. All pieces of zeros share digests that are computed once.

mod fetch;
pub mod files;
pub mod job;
pub mod layout;
mod piece;
mod queue;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::lanes::{self, CHUNK_MAX_NBYTES, Client, Lane, Places, State};
use crate::merkle::{BLOCK_NBYTES, NO_LEAF};
use crate::pieces::fetch::{Fetcher, Jobs};
use crate::pieces::files::Absent;
use crate::pieces::job::{Digests, Job, Outcome, Settled, break_off, settle};
use crate::pieces::piece::{LastUsed, Piece, Unread, without_reading};
use crate::pieces::queue::Queue;
use crate::read::buffer::out_of_memory;
use crate::read::open::open_max;
use crate::read::readers::Readers;
use crate::run::pool::Pool;
use crate::run::{LANES, Options, lock, unlocked};

/// Total bytes of the places of all threads: a few threads have the largest chunks, many threads share this.
const PLACES_MAX_NBYTES: usize = 32 << 20;

/// Largest number of threads: with more, a place would be shorter than a block.
const THREADS_MAX: usize = PLACES_MAX_NBYTES / LANES / BLOCK_NBYTES as usize;

/// Hashes all pieces of all jobs. `jobs` is asked for the next job when the pieces of the earlier ones are taken, so
/// the number of jobs does not matter. Returns when all is done or the run was cancelled.
pub fn run<J: Job, I: Iterator<Item = Arc<J>> + Send>(jobs: I, options: &Options) {
    run_with(jobs, options, &Fetcher::new(options));
}

fn run_with<J: Job, I: Iterator<Item = Arc<J>> + Send>(jobs: I, options: &Options, fetcher: &Fetcher<J>) {
    // Each thread has a file in use.
    let nthreads = options.nthreads().clamp(1, THREADS_MAX.min(open_max()));
    let queue = Queue::new(jobs, nthreads, fetcher);
    // More threads than pieces would have nothing to do, and more places would only be zeroed.
    let npieces = match queue.begun.len() {
        1 => queue.begun[0].job.content().layout.piece_count(),
        _ => u64::MAX,
    };
    let at_most = |most: usize| npieces.clamp(1, most as u64) as usize;
    let chunk_nbytes = CHUNK_MAX_NBYTES.min(1 << (PLACES_MAX_NBYTES / LANES / nthreads).ilog2());
    let pool = Pool::new(at_most(nthreads), options);
    let total_nbytes = AtomicU64::new(queue.total_nbytes);
    let queue = Mutex::new(queue);
    let run = Run { pool: &pool, queue, options, fetcher, nbytes_done: AtomicU64::new(0), total_nbytes };
    lanes::run(&run, &pool, at_most(LANES), chunk_nbytes);
    // In a cancelled run, jobs may have a piece in some lane, or wait to be taken.
    let queue = unlocked(run.queue);
    queue.unfinished.iter().filter(|job| !job.content().is_done()).for_each(|job| break_off(&**job));
}

/// The state that all threads share.
struct Run<'a, J: Job, I> {
    pool: &'a Pool,
    queue: Mutex<Queue<'a, J, I>>,
    options: &'a Options,
    fetcher: &'a Fetcher<J>,
    nbytes_done: AtomicU64,
    total_nbytes: AtomicU64,
}

impl<J: Job, I: Iterator<Item = Arc<J>> + Send> Client for Run<'_, J, I> {
    type Message = Piece<J>;
    type Queue = Jobs<J>;

    fn readers(&self) -> &Readers<Jobs<J>> {
        self.fetcher.readers()
    }

    fn read(&self, pool: &Pool) {
        self.fetcher.read(pool);
    }

    fn take(&self, own: &mut LastUsed, places: &mut Places, lanes: &mut Vec<Lane<Piece<J>>>) {
        while lanes.len() < LANES && !self.pool.must_stop() {
            let Some((job, pieces)) = self.pieces(lanes.len(), places.chunk_nbytes()) else { return };
            for piece in pieces {
                if let Some(mut lane) = self.begin(&job, piece, own) {
                    lane.read(own, places, self.pool);
                    lanes.push(lane);
                }
            }
        }
    }

    fn wait(&self, nchanges: u64, _lanes: &mut Vec<Lane<Piece<J>>>) -> bool {
        let is_over = self.queue.lock().map_or(true, |queue| queue.begun.is_empty());
        if !is_over {
            self.readers().wait(nchanges);
        }
        !is_over
    }

    fn settle(&self, nbytes: u64, ended: &mut Vec<Lane<Piece<J>>>, _lanes: &mut Vec<Lane<Piece<J>>>) {
        self.done(nbytes);
        for mut lane in ended.drain(..) {
            let mut root = NO_LEAF;
            let whole = lane.take_digests().first().copied();
            let Piece { job, number, leaves, .. } = &mut lane.message;
            let outcome = match lane.state {
                State::Failed(absent) => Outcome::Absent(absent),
                _ => Outcome::Hashed(Digests::new(&whole, leaves.finish(&mut root))),
            };
            self.settle_piece(job, *number, outcome);
        }
    }

    fn fail(&self) {
        self.readers().end();
        while let Some((job, pieces)) = self.pieces(0, 0).filter(|_| !self.pool.must_stop()) {
            let content = job.content();
            for piece in pieces {
                let file = content.layout.file_at(content.layout.piece_range(piece as u64).start);
                content.files.read_failed(file, 0, out_of_memory());
                self.settle_piece(&job, piece, Outcome::Absent(Absent::Failed));
            }
        }
    }
}

impl<J: Job, I: Iterator<Item = Arc<J>> + Send> Run<'_, J, I> {
    /// Pieces for a thread that uses `busy` of its lanes.
    fn pieces(&self, busy: usize, chunk_nbytes: usize) -> Option<(Arc<J>, Range<usize>)> {
        // After a panic of the iterator no thread asks it for more.
        let mut queue = self.queue.lock().ok()?;
        let taken = queue.take(busy, chunk_nbytes as u64);
        self.total_nbytes.store(queue.total_nbytes, Ordering::Relaxed);
        taken
    }

    /// A lane for a piece. A piece that needs no reading is settled.
    fn begin(&self, job: &Arc<J>, piece: usize, own: &mut LastUsed) -> Option<Lane<Piece<J>>> {
        let content = job.content();
        let range = content.layout.piece_range(piece as u64);
        let file = content.layout.file_at(range.start);
        let is_wanted = job.wants(piece);
        let known = if is_wanted { without_reading(content, &range, file, own) } else { None };
        if is_wanted && known.is_none() {
            return Some(Lane::new(Piece::new(job.clone(), piece, range, file)));
        }
        self.readers().used(range.end - range.start);
        content.fetched.used(range.clone());
        // A piece that is hashed again counts again for the progress; a settled piece does not.
        if content.is_first_round() || is_wanted {
            self.done(range.end - range.start);
        }
        let outcome = match &known {
            None => Outcome::Unwanted,
            Some(Unread::Absent(absent)) => Outcome::Absent(*absent),
            Some(Unread::Zeros(whole, root)) => {
                Outcome::Hashed(Digests::new(whole, root.as_ref().map_or(&[], |root| root)))
            }
        };
        self.settle_piece(job, piece, outcome);
        None
    }

    fn done(&self, nbytes: u64) {
        if self.options.has_progress() {
            let done = self.nbytes_done.fetch_add(nbytes, Ordering::Relaxed) + nbytes;
            self.options.tell(done, Some(self.total_nbytes.load(Ordering::Relaxed)));
        }
    }

    fn settle_piece(&self, job: &Arc<J>, piece: usize, outcome: Outcome<'_>) {
        match settle(&**job, piece, outcome) {
            Settled::GoesOn => {}
            Settled::Again(nbytes) => lock(&self.queue).put_back(job.clone(), nbytes),
            Settled::Over => lock(&self.queue).forget(job),
        }
    }
}
