// SPDX-License-Identifier: MIT OR Apache-2.0

//! The jobs that threads take pieces of, one after another: the next is asked for when the pieces of those before are
//! taken, so that of any number few are in memory.

use std::ops::Range;
use std::sync::Arc;

use crate::pieces::job::Job;
use crate::run::LANES;

/// The jobs, of which two are begun: the last one must be known as such.
pub(super) struct Queue<J, I> {
    jobs: std::iter::Fuse<I>,
    pub(super) current: Option<Arc<J>>,
    pub(super) following: Option<Arc<J>>,
    /// Jobs that are to be run over again.
    pub(super) again: Vec<Arc<J>>,
    /// The first piece of `current` that no thread has taken.
    next: usize,
    nthreads: usize,
    /// Of all jobs begun.
    pub(super) total_nbytes: u64,
}

impl<J: Job, I: Iterator<Item = Arc<J>>> Queue<J, I> {
    /// For so many threads. The first two jobs are begun.
    pub(super) fn new(jobs: I, nthreads: usize) -> Queue<J, I> {
        let jobs = jobs.fuse();
        let again = Vec::new();
        let mut queue = Queue { jobs, current: None, following: None, again, next: 0, nthreads, total_nbytes: 0 };
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
            return Some(job);
        }
    }

    /// Pieces for a thread that has `busy` of its lanes in use; none if it is to go on with these.
    pub(super) fn take(&mut self, busy: usize) -> Option<(Arc<J>, Range<usize>)> {
        loop {
            let Some(job) = &self.current else {
                self.current = Some(self.again.pop()?);
                continue;
            };
            let count = job.content().layout.piece_count() as usize;
            if self.next < count {
                let most = if self.following.is_some() { LANES } else { even_share(count, self.nthreads) };
                let start = self.next;
                self.next = (start + most.saturating_sub(busy)).min(count);
                return (self.next > start).then(|| (job.clone(), start..self.next));
            }
            self.next = 0;
            self.current = self.again.pop();
            if self.current.is_none() {
                self.current = self.following.take();
                self.following = self.begin();
            }
        }
    }

    /// Takes a job anew of which so many bytes are to be hashed again.
    pub(super) fn put_back(&mut self, job: Arc<J>, nbytes: u64) {
        self.again.push(job);
        self.total_nbytes = self.total_nbytes.saturating_add(nbytes);
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
