// SPDX-License-Identifier: MIT OR Apache-2.0

//! The jobs whose pieces the threads take, one job after another. The next job is asked for when all pieces of the
//! earlier ones are taken, so that only a few jobs are in memory, whatever their number.

use std::ops::Range;
use std::sync::Arc;

use crate::pieces::fetch::Fetcher;
use crate::pieces::job::Job;
use crate::run::LANES;

/// The jobs. Two are begun at a time: the queue must know whether a job is the last.
pub(super) struct Queue<'a, J, I> {
    jobs: std::iter::Fuse<I>,
    pub(super) current: Option<Arc<J>>,
    pub(super) following: Option<Arc<J>>,
    /// Jobs that need another round.
    pub(super) again: Vec<Arc<J>>,
    /// The first piece of `current` that no thread has taken.
    next: usize,
    nthreads: usize,
    fetcher: &'a Fetcher<J>,
    /// Total bytes of all jobs begun.
    pub(super) total_nbytes: u64,
}

/// The queue's answer to a thread that asks for pieces.
pub(super) enum Taken<J> {
    Pieces(Arc<J>, Range<usize>),
    /// The next pieces are not fetched yet.
    Later,
    Nothing,
}

impl<'a, J: Job, I: Iterator<Item = Arc<J>>> Queue<'a, J, I> {
    /// A queue for `nthreads` threads. The first two jobs are begun.
    pub(super) fn new(jobs: I, nthreads: usize, fetcher: &'a Fetcher<J>) -> Queue<'a, J, I> {
        let jobs = jobs.fuse();
        let again = Vec::new();
        let mut queue =
            Queue { jobs, current: None, following: None, again, next: 0, nthreads, fetcher, total_nbytes: 0 };
        queue.current = queue.begin();
        queue.following = queue.begin();
        queue
    }

    fn begin(&mut self) -> Option<Arc<J>> {
        loop {
            let job = self.jobs.next()?;
            if job.content().is_done() {
                job.finish();
                continue;
            }
            self.total_nbytes = self.total_nbytes.saturating_add(job.content().layout.files_nbytes());
            self.fetcher.begin(&job);
            return Some(job);
        }
    }

    /// Pieces for a thread that uses `busy` of its lanes and reads `chunk_nbytes` at once; otherwise the thread should go
    /// on with these.
    pub(super) fn take(&mut self, busy: usize, chunk_nbytes: u64) -> Taken<J> {
        loop {
            let Some(job) = &self.current else {
                self.current = self.again.pop();
                match self.current {
                    Some(_) => continue,
                    None => return Taken::Nothing,
                }
            };
            let count = job.content().layout.piece_count() as usize;
            if self.next < count {
                let most = if self.following.is_some() { LANES } else { even_share(count, self.nthreads) };
                let start = self.next;
                let end = (start + most.saturating_sub(busy)).min(count);
                if start == end {
                    return Taken::Nothing;
                }
                self.next = start + self.fetcher.ready(job.content(), start, end - start, chunk_nbytes);
                return match self.next > start {
                    true => Taken::Pieces(job.clone(), start..self.next),
                    false => Taken::Later,
                };
            }
            self.next = 0;
            self.current = self.again.pop();
            if self.current.is_none() {
                self.current = self.following.take();
                self.following = self.begin();
            }
        }
    }

    /// Puts back a job that needs another round, with the number of bytes to hash again.
    pub(super) fn put_back(&mut self, job: Arc<J>, nbytes: u64) {
        self.again.push(job);
        self.total_nbytes = self.total_nbytes.saturating_add(nbytes);
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
