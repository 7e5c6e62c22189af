// SPDX-License-Identifier: MIT OR Apache-2.0

//! The jobs whose pieces the threads take, one job after another. Only a few jobs are in memory, whatever their number:
//! another is begun when the pieces of the earlier ones are taken, or are not there yet.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use crate::pieces::fetch::Fetcher;
use crate::pieces::job::Job;
use crate::run::LANES;

/// Least number of jobs with pieces left, if there are so many: the queue must know whether a job is the last.
const BEGUN_MIN: usize = 2;

/// Largest number of jobs with pieces left: while one waits for its disk, others may lie on another.
const BEGUN_MAX: usize = 16;

/// The jobs.
pub(super) struct Queue<'a, J: Job, I> {
    jobs: std::iter::Fuse<I>,
    /// Jobs with pieces that no thread has taken, in order.
    pub(super) begun: VecDeque<Underway<J>>,
    /// Jobs that are begun and not over.
    pub(super) unfinished: Vec<Arc<J>>,
    nthreads: usize,
    fetcher: &'a Fetcher<J>,
    /// Total bytes of all jobs begun.
    pub(super) total_nbytes: u64,
}

pub(super) struct Underway<J> {
    pub(super) job: Arc<J>,
    /// The first piece that no thread has taken.
    next: usize,
}

impl<'a, J: Job, I: Iterator<Item = Arc<J>>> Queue<'a, J, I> {
    /// A queue for `nthreads` threads. The first jobs are begun.
    pub(super) fn new(jobs: I, nthreads: usize, fetcher: &'a Fetcher<J>) -> Queue<'a, J, I> {
        let (begun, unfinished) = (VecDeque::new(), Vec::new());
        let mut queue = Queue { jobs: jobs.fuse(), begun, unfinished, nthreads, fetcher, total_nbytes: 0 };
        while queue.begun.len() < BEGUN_MIN && queue.begin() {}
        queue
    }

    /// Begins another job. False if there is none.
    fn begin(&mut self) -> bool {
        for job in self.jobs.by_ref() {
            if job.content().is_done() {
                job.finish();
                continue;
            }
            self.total_nbytes = self.total_nbytes.saturating_add(job.content().layout.files_nbytes());
            self.fetcher.begin(&job);
            self.unfinished.push(job.clone());
            self.begun.push_back(Underway { job, next: 0 });
            return true;
        }
        false
    }

    /// Pieces for a thread that uses `busy` of its lanes and reads `chunk_nbytes` at once. `None` if the thread should
    /// go on with these: the next pieces are not fetched yet, or there are none.
    pub(super) fn take(&mut self, busy: usize, chunk_nbytes: u64) -> Option<(Arc<J>, Range<usize>)> {
        while self.begun.len() < BEGUN_MIN && self.begin() {}
        let mut at = 0;
        while at < self.begun.len() || at < BEGUN_MAX && self.begin() {
            let is_only = self.begun.len() == 1;
            let Underway { job, next } = &mut self.begun[at];
            let job = job.clone();
            let count = job.content().layout.piece_count() as usize;
            let most = if is_only { even_share(count, self.nthreads) } else { LANES };
            let start = *next;
            let end = (start + most.saturating_sub(busy)).min(count);
            if start == end {
                return None;
            }
            let nallowed = (start..end).take_while(|&piece| job.may_begin(piece)).count();
            *next += self.fetcher.ready(job.content(), start, nallowed, chunk_nbytes);
            let pieces = start..*next;
            if pieces.end == count {
                self.begun.remove(at);
            }
            if !pieces.is_empty() {
                return Some((job, pieces));
            }
            at += 1;
        }
        None
    }

    /// Puts back a job that needs another round, with the number of bytes to hash again.
    pub(super) fn put_back(&mut self, job: Arc<J>, nbytes: u64) {
        self.begun.push_front(Underway { job, next: 0 });
        self.total_nbytes = self.total_nbytes.saturating_add(nbytes);
    }

    /// Forgets a job that is over.
    pub(super) fn forget(&mut self, job: &Arc<J>) {
        self.unfinished.retain(|other| !Arc::ptr_eq(other, job));
    }
}

/// Number of lanes that a thread uses for a job of `count` pieces: few pieces are shared out evenly, so that 20 pieces
/// for two threads become twice 10, not 16 and 4.
fn even_share(count: usize, nthreads: usize) -> usize {
    if nthreads == 1 {
        return LANES;
    }
    let ntakes = count.div_ceil(LANES).next_multiple_of(nthreads);
    count.div_ceil(ntakes).clamp(1, LANES)
}
