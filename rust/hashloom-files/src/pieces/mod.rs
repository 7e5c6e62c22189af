// SPDX-License-Identifier: MIT OR Apache-2.0

//! Hashes pieces. Threads take pieces of one job after another, read a chunk of each in turn, and hash them side by
//! side: whole, as the leaves of a hash tree, or both from one read.
//!
//! A job is the content of one torrent, or a file whose hash tree is wanted. Neighbouring pieces go to one thread, so that a disk sees few streams, each in
//! order. A lane that has read its piece takes the next one, of any job. A piece whose result is known without reading
//! takes no lane: its file is missing or too short, or the piece lies in holes and padding. All pieces of zeros share
//! digests that are computed once.

mod fetch;
pub mod files;
pub mod job;
mod lane;
pub mod layout;
mod queue;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashloom::Hash;

use crate::lanes::{CHUNK_MAX_NBYTES, Places, hash_leaves, hash_round, take_ended};
use crate::merkle::{BLOCK_NBYTES, NO_LEAF};
use crate::pieces::fetch::Fetcher;
use crate::pieces::files::Absent;
use crate::pieces::job::{Digests, Job, Outcome, break_off, settle};
use crate::pieces::lane::{Lane, LastUsed, Unread, without_reading};
use crate::pieces::queue::{Queue, Taken};
use crate::read::buffer::out_of_memory;
use crate::read::open::open_max;
use crate::run::pool::Pool;
use crate::run::{LANES, Options, join};

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
    let (nuseful, nlanes) = match queue.begun.len() {
        1 => {
            let npieces = queue.begun[0].job.content().layout.piece_count();
            (npieces.clamp(1, THREADS_MAX as u64) as usize, npieces.clamp(1, LANES as u64) as usize)
        }
        _ => (nthreads, LANES),
    };
    let total_nbytes = AtomicU64::new(queue.total_nbytes);
    // A single job that needs no fetching is the usual case, and no other follows.
    let needs_readers = fetcher.is_used() || queue.begun.len() > 1;
    let run = Run {
        pool: Pool::new(nthreads.min(nuseful), options),
        queue: Mutex::new(queue),
        nthreads,
        options,
        fetcher,
        nbytes_done: AtomicU64::new(0),
        total_nbytes,
        unfinished: Mutex::default(),
    };
    std::thread::scope(|scope| {
        let readers = if needs_readers { fetcher.start(scope, &run.pool) } else { Vec::new() };
        let share = PLACES_MAX_NBYTES / LANES / run.nthreads;
        let chunk_nbytes = CHUNK_MAX_NBYTES.min(1 << share.ilog2());
        if !run.pool.work(|| Places::new(nlanes, chunk_nbytes), |places| run.work(places)) {
            run.fail();
        }
        fetcher.end();
        join(readers);
    });
    // In a cancelled run, jobs may have a piece in some lane, or wait to be taken.
    let queue = run.queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut unfinished = run.unfinished.into_inner().unwrap_or_else(PoisonError::into_inner);
    unfinished.extend(queue.begun.into_iter().map(|begun| begun.job));
    unfinished.retain(|job| !job.content().is_done());
    unfinished.sort_unstable_by_key(Arc::as_ptr);
    unfinished.dedup_by(|a, b| Arc::ptr_eq(a, b));
    unfinished.iter().for_each(|job| break_off(&**job));
}

/// The state that all threads share.
struct Run<'a, J: Job, I> {
    pool: Pool,
    queue: Mutex<Queue<'a, J, I>>,
    nthreads: usize,
    options: &'a Options,
    fetcher: &'a Fetcher<J>,
    nbytes_done: AtomicU64,
    total_nbytes: AtomicU64,
    unfinished: Mutex<Vec<Arc<J>>>,
}

impl<J: Job, I: Iterator<Item = Arc<J>> + Send> Run<'_, J, I> {
    /// Fails all requests: without memory for buffers no file can be read.
    fn fail(&self) {
        self.fetcher.end();
        while let Taken::Pieces(job, pieces) = self.take(0, 0) {
            if self.pool.must_stop() {
                break;
            }
            let content = job.content();
            for piece in pieces {
                let file = content.layout.file_at(content.layout.piece_range(piece as u64).start);
                content.files.read_failed(file, 0, out_of_memory());
                settle(&*job, piece, Outcome::Absent(Absent::Failed));
            }
        }
    }

    fn work(&self, mut places: Places) {
        let mut own = LastUsed::new();
        let mut lanes: Vec<Lane<J>> = Vec::with_capacity(LANES);
        let chunk_nbytes = places.chunk_nbytes() as u64;
        loop {
            let nchanges = self.fetcher.nchanges();
            let is_later = self.take_lanes(&mut own, &mut lanes, chunk_nbytes);
            if lanes.is_empty() && !is_later || self.pool.must_stop() {
                break;
            }
            match ready_first(&mut lanes, chunk_nbytes) {
                0 => self.fetcher.wait(nchanges),
                nready => {
                    self.advance(&mut own, &mut places, &mut lanes[..nready]);
                    self.settle_finished(&mut lanes);
                }
            }
        }
        let mut unfinished = lock(&self.unfinished);
        unfinished.extend(lanes.into_iter().map(|lane| lane.job));
    }

    /// Takes pieces for the free lanes, and settles those that need no reading. Returns true if pieces wait to be
    /// fetched.
    fn take_lanes(&self, own: &mut LastUsed, lanes: &mut Vec<Lane<J>>, chunk_nbytes: u64) -> bool {
        while lanes.len() < LANES && !self.pool.must_stop() {
            let (job, pieces) = match self.take(lanes.len(), chunk_nbytes) {
                Taken::Pieces(job, pieces) => (job, pieces),
                Taken::Later => return true,
                Taken::Nothing => break,
            };
            let content = job.content();
            for piece in pieces {
                let range = content.layout.piece_range(piece as u64);
                let file = content.layout.file_at(range.start);
                let is_wanted = job.wants(piece);
                let known = if is_wanted { without_reading(content, &range, file, own) } else { None };
                if is_wanted && known.is_none() {
                    lanes.push(Lane::new(job.clone(), piece, range, file));
                    continue;
                }
                self.fetcher.used(content, range.clone());
                // A piece that is hashed again counts again for the progress; a settled piece does not.
                if content.is_first_round() || is_wanted {
                    self.done(range.end - range.start);
                }
                match known {
                    None => self.settle(&job, piece, Outcome::Unwanted),
                    Some(Unread::Absent(absent)) => self.settle(&job, piece, Outcome::Absent(absent)),
                    Some(Unread::Zeros(whole, root)) => {
                        let whole = whole.as_ref().map_or(&[][..], Hash::as_ref);
                        let leaves = root.as_ref().map_or(&[][..], |root| root);
                        self.settle(&job, piece, Outcome::Hashed(Digests { whole, leaves }));
                    }
                }
            }
        }
        false
    }

    fn take(&self, busy: usize, chunk_nbytes: u64) -> Taken<J> {
        // After a panic of the iterator no thread asks it for more.
        let Ok(mut queue) = self.queue.lock() else { return Taken::Nothing };
        let taken = queue.take(busy, chunk_nbytes);
        self.total_nbytes.store(queue.total_nbytes, Ordering::Relaxed);
        taken
    }

    /// Reads and hashes the next chunk of each lane.
    fn advance(&self, own: &mut LastUsed, places: &mut Places, lanes: &mut [Lane<J>]) {
        let starts: Vec<u64> = lanes.iter().map(|lane| lane.pos).collect();
        places.clear();
        for lane in &mut *lanes {
            lane.read(own, places);
            self.pool.pay(lane.chunk.nbytes_read());
        }
        hash_round(lanes, places);
        // All jobs of a run have leaves of one form.
        let job = lanes.iter().find(|lane| lane.covered > 0).map(|lane| lane.job.clone());
        if let Some(form) = job.as_ref().and_then(|job| job.content().hashes.leaves.as_ref()) {
            let (chunks, mut above): (Vec<_>, Vec<_>) = lanes.iter_mut().map(Lane::leaves).unzip();
            let chunks: Vec<&[u8]> = chunks.iter().map(|(chunk, covered)| &chunk.bytes(places)[..*covered]).collect();
            hash_leaves(form, &chunks, &mut own.hashers, |at, digest| above[at].push(digest));
        }
        let mut nbytes = 0;
        for (lane, start) in lanes.iter().zip(starts) {
            nbytes += lane.pos - start;
            self.fetcher.used(lane.job.content(), start..lane.pos);
        }
        self.done(nbytes);
    }

    fn done(&self, nbytes: u64) {
        if self.options.has_progress() {
            let done = self.nbytes_done.fetch_add(nbytes, Ordering::Relaxed) + nbytes;
            self.options.tell(done, Some(self.total_nbytes.load(Ordering::Relaxed)));
        }
    }

    fn settle(&self, job: &Arc<J>, piece: usize, outcome: Outcome<'_>) {
        if let Some(nbytes) = settle(&**job, piece, outcome) {
            lock(&self.queue).put_back(job.clone(), nbytes);
        }
    }

    /// Settles the pieces that were read to their end, and frees their lanes.
    fn settle_finished(&self, lanes: &mut Vec<Lane<J>>) {
        let mut ended = Vec::new();
        take_ended(lanes, &mut ended);
        for Lane { job, piece, absent, hashing, mut leaves, .. } in ended {
            let mut root = NO_LEAF;
            let whole = hashing.digests.first().map_or(&[][..], Hash::as_ref);
            let outcome = match absent {
                Some(absent) => Outcome::Absent(absent),
                None => Outcome::Hashed(Digests { whole, leaves: leaves.finish(&mut root) }),
            };
            self.settle(&job, piece, outcome);
        }
    }
}

/// Moves the lanes whose next bytes may be read to the front, and returns their number.
fn ready_first<J: Job>(lanes: &mut [Lane<J>], chunk_nbytes: u64) -> usize {
    let mut nready = 0;
    for at in 0..lanes.len() {
        if lanes[at].is_ready(chunk_nbytes) {
            lanes.swap(at, nready);
            nready += 1;
        }
    }
    nready
}

/// A panic elsewhere leaves nothing half-done in the data behind these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
