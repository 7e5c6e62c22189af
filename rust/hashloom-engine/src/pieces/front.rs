// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads a disk that seeks front to back.
//!
//! Lanes read at up to 16 places for each thread. In memory and on an SSD that costs nothing; a hard disk moves its
//! heads for each place and loses most of its speed. If the content of a job lies on such a disk and not in memory, one
//! thread, the fetcher, brings it into the page cache in the order of its bytes. The others hash what it has fetched: a
//! thread takes a piece when the piece's first bytes are there, and a lane rests while its next bytes are not. A disk
//! slower than one lane keeps one lane busy, which is enough. Where hashing falls behind, more pieces are begun, and
//! hashed side by side.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::pieces::files::Last;
use crate::pieces::job::{Content, Job};
use crate::pieces::lock;
use crate::read::device;
use crate::read::holes::stretch_at;
use crate::read::open::is_in_memory;
use crate::run::pool::{LOOK, Pool};

/// Largest number of bytes that are fetched and not yet hashed.
const AHEAD_NBYTES: u64 = 64 << 20;

/// Bytes of one read. The fetcher copies them for nothing, so they should stay in a cache of the CPU.
const READ_NBYTES: usize = 256 << 10;

/// The time after which a fetcher that is far ahead looks again: a disk reads some hundred KiB in it.
const MOMENT: Duration = Duration::from_millis(1);

/// Number of places of a content that are looked at to see whether it is in memory.
const LOOKS: u64 = 4;

/// A job's content has this as its end of the fetched bytes unless the fetcher sets another.
pub(super) const ALL: u64 = u64::MAX;

/// The state that the fetcher shares with the threads that hash.
pub(super) struct Front<J> {
    /// Whether a content should be fetched.
    is_slow: fn(&Content<'_>) -> bool,
    /// Largest number of bytes that are fetched and not yet hashed.
    ahead_nbytes: u64,
    state: Mutex<State<J>>,
    changed: Condvar,
    /// Counts the changes that a thread may wait for. Changes only while `state` is locked.
    nchanges: AtomicU64,
    /// Bytes of contents that the fetcher has passed, and those that were hashed or settled since.
    passed: AtomicU64,
    hashed: AtomicU64,
}

struct State<J> {
    /// Jobs to fetch, the present one first.
    jobs: VecDeque<Arc<J>>,
    is_over: bool,
}

impl<J: Job> Front<J> {
    pub(super) fn new() -> Front<J> {
        Front::with(is_on_slow_disk, AHEAD_NBYTES)
    }

    fn with(is_slow: fn(&Content<'_>) -> bool, ahead_nbytes: u64) -> Front<J> {
        Front {
            is_slow,
            ahead_nbytes,
            state: Mutex::new(State { jobs: VecDeque::new(), is_over: false }),
            changed: Condvar::new(),
            nchanges: AtomicU64::new(0),
            passed: AtomicU64::new(0),
            hashed: AtomicU64::new(0),
        }
    }

    /// Looks whether a new job should be fetched. Called before any thread takes a piece of it.
    pub(super) fn begin(&self, job: &Arc<J>) {
        let content = job.content();
        if (self.is_slow)(content) {
            let mut state = lock(&self.state);
            if !state.is_over {
                content.is_counted.store(true, Ordering::Relaxed);
                content.fetched.store(0, Ordering::Release);
                state.jobs.push_back(job.clone());
            }
            drop(state);
            self.tell();
        }
    }

    /// Whether there is something to fetch.
    pub(super) fn is_used(&self) -> bool {
        !lock(&self.state).jobs.is_empty()
    }

    /// Notes that bytes of a content's pieces were hashed, or need no hashing.
    pub(super) fn hashed(&self, content: &Content<'_>, nbytes: u64) {
        if content.is_counted.load(Ordering::Relaxed) {
            self.hashed.fetch_add(nbytes, Ordering::Relaxed);
        }
    }

    /// The number of changes so far, for [`Front::wait`].
    pub(super) fn nchanges(&self) -> u64 {
        self.nchanges.load(Ordering::Acquire)
    }

    /// Waits until something has changed since `nchanges`, or for a moment.
    pub(super) fn wait(&self, nchanges: u64) {
        let state = lock(&self.state);
        if self.nchanges() == nchanges {
            drop(self.changed.wait_timeout(state, LOOK).map_err(PoisonError::into_inner));
        }
    }

    fn tell(&self) {
        let _state = lock(&self.state);
        self.nchanges.fetch_add(1, Ordering::Release);
        self.changed.notify_all();
    }

    /// Ends the fetcher. What is not fetched is read by the lanes, wherever they are.
    pub(super) fn end(&self) {
        let mut state = lock(&self.state);
        state.is_over = true;
        state.jobs.drain(..).for_each(|job| job.content().fetched.store(ALL, Ordering::Release));
        drop(state);
        self.tell();
    }

    /// Fetches until the end. Runs on a thread of its own.
    pub(super) fn fetch(&self, pool: &Pool) {
        // After a panic the lanes read by themselves.
        let _end = End(self);
        let mut buffer = vec![0; READ_NBYTES];
        let mut last = Last::default();
        let must_stop = || pool.must_stop() || lock(&self.state).is_over;
        loop {
            let mut state = lock(&self.state);
            while state.jobs.is_empty() && !state.is_over && !pool.must_stop() {
                let waited = self.changed.wait_timeout(state, LOOK);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            let Some(job) = state.jobs.front().cloned().filter(|_| !state.is_over && !pool.must_stop()) else { return };
            drop(state);
            self.fetch_job(&*job, &mut last, &mut buffer, &must_stop);
            job.content().fetched.store(ALL, Ordering::Release);
            lock(&self.state).jobs.pop_front();
            self.tell();
        }
    }

    fn fetch_job(&self, job: &J, last: &mut Last, buffer: &mut [u8], must_stop: &dyn Fn() -> bool) {
        let content = job.content();
        let layout = &content.layout;
        let mut next = 0;
        while next < layout.piece_count() && !must_stop() && !job.is_given_up() {
            let mut range = layout.piece_range(next);
            let is_wanted = job.wants(next as usize);
            next += 1;
            // Short pieces are fetched together, unless there is a gap between them.
            while next < layout.piece_count() && job.wants(next as usize) == is_wanted {
                let following = layout.piece_range(next);
                if following.start > range.end || following.end - range.start > READ_NBYTES as u64 {
                    break;
                }
                range.end = following.end;
                next += 1;
            }
            // A gap belongs to no piece: no lane will count it as hashed.
            content.fetched.fetch_max(range.start, Ordering::Release);
            let mut pos = range.start;
            while pos < range.end && is_wanted {
                let index = layout.file_at(pos);
                let span = layout.span(index);
                // There can be a gap before the file.
                let start = pos.max(span.offset);
                let end = span.end().min(range.end);
                if !span.padding && start < end {
                    let within = start - span.offset..end - span.offset;
                    self.fetch_range(content, index, within, last, buffer, must_stop);
                }
                pos = end.max(start);
            }
            self.passed_to(content, range.end);
        }
    }

    /// Fetches a range of a file. Errors are left to the lane that reads the same bytes.
    fn fetch_range(
        &self,
        content: &Content<'_>,
        index: usize,
        range: Range<u64>,
        last: &mut Last,
        buffer: &mut [u8],
        must_stop: &dyn Fn() -> bool,
    ) {
        let Ok(file) = content.files.get(index, last) else { return };
        let offset = content.layout.span(index).offset;
        let mut pos = range.start;
        while pos < range.end.min(file.nbytes) {
            if file.holes {
                let stretch = stretch_at(&file.file, pos);
                if stretch.hole {
                    pos = stretch.end;
                    continue;
                }
            }
            let nbytes = (range.end - pos).min(buffer.len() as u64);
            self.wait_for_room(must_stop);
            let is_there = is_in_memory(&file.file, pos) && is_in_memory(&file.file, pos + nbytes - 1);
            let mut read = || file.read_at(&mut buffer[..nbytes as usize], pos);
            if !is_there && !read().is_ok_and(|found| found as u64 == nbytes) {
                return;
            }
            pos += nbytes;
            self.passed_to(content, offset + pos);
        }
    }

    /// Lets lanes read a content up to `end`.
    fn passed_to(&self, content: &Content<'_>, end: u64) {
        // Not a store: `end` may have set ALL meanwhile.
        let before = content.fetched.fetch_max(end, Ordering::Release);
        if end > before {
            self.passed.fetch_add(end - before, Ordering::Relaxed);
            self.tell();
        }
    }

    /// Waits while enough is fetched that is not yet hashed.
    fn wait_for_room(&self, must_stop: &dyn Fn() -> bool) {
        let ahead = || self.passed.load(Ordering::Relaxed).saturating_sub(self.hashed.load(Ordering::Relaxed));
        while ahead() > self.ahead_nbytes && !must_stop() {
            std::thread::sleep(MOMENT);
        }
    }
}

struct End<'a, J: Job>(&'a Front<J>);

impl<J: Job> Drop for End<'_, J> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Whether some of a content, in files that are long on average, is neither in memory nor on a device that takes reads
/// at many places.
fn is_on_slow_disk(content: &Content<'_>) -> bool {
    let layout = &content.layout;
    let nfiles = layout.files_of(0..layout.total_nbytes()).len() as u64;
    if layout.files_nbytes() / device::LONG_NBYTES < nfiles {
        return false;
    }
    let mut last = Last::default();
    (0..LOOKS).any(|look| {
        let pos = layout.total_nbytes() / LOOKS * look;
        let index = layout.file_at(pos);
        let span = layout.span(index);
        if span.padding || pos < span.offset {
            return false;
        }
        let Ok(file) = content.files.get(index, &mut last) else { return false };
        let at = pos - span.offset;
        at < file.nbytes && !is_in_memory(&file.file, at) && device::seeks(&file.file)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use hashloom::{Algorithm, hash};

    use super::*;
    use crate::pieces::files::{Cache, Files, Place};
    use crate::pieces::job::{Hashes, Outcome};
    use crate::pieces::layout::{Layout, Spans};
    use crate::pieces::run_with;
    use crate::run::{Cancel, Options};

    const PIECE_NBYTES: u64 = 64 << 10;
    /// Lengths of the files of a job: more than a piece, less, nothing, exactly one, more than a read.
    const LENGTHS: [u64; 5] = [100_000, 1, 0, PIECE_NBYTES, 700_000];

    struct Noted {
        content: Content<'static>,
        digests: Mutex<Vec<Option<[u8; 20]>>>,
    }

    impl Job for Noted {
        fn content(&self) -> &Content<'_> {
            // The files' lifetime is that of the job.
            &self.content
        }

        /// Every seventh piece is known already.
        fn wants(&self, piece: usize) -> bool {
            piece % 7 != 3
        }

        fn settle(&self, piece: usize, outcome: Outcome) {
            if let Outcome::Hashed { sha1, .. } = outcome {
                lock(&self.digests)[piece] = Some(sha1);
            }
        }

        fn finish(&self) {}
    }

    /// A job whose files each begin at a piece, so that there are gaps between files.
    fn job(folder: &Path, cache: &Arc<Cache>) -> Arc<Noted> {
        let mut spans = Spans::aligned(PIECE_NBYTES);
        LENGTHS.iter().for_each(|&nbytes| spans.push(nbytes, false));
        let layout = Layout::new(PIECE_NBYTES, spans);
        let folder = folder.to_owned();
        let path_of = Box::new(move |file: usize| folder.join(file.to_string()));
        let files = Files::new(Place::Listed, LENGTHS.len(), path_of, cache);
        let count = layout.piece_count() as usize;
        let content = Content::new(Arc::new(layout), files, Hashes { sha1: true, merkle: false });
        Arc::new(Noted { content, digests: Mutex::new(vec![None; count]) })
    }

    #[test]
    fn what_is_fetched_is_hashed_whatever_the_number_of_jobs() {
        let folder = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..800_000_u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
        for (file, &nbytes) in LENGTHS.iter().enumerate() {
            fs::write(folder.path().join(file.to_string()), &bytes[..nbytes as usize]).unwrap();
        }
        for nthreads in [1, 3] {
            let cache = Arc::new(Cache::new(None));
            let jobs: Vec<_> = (0..40).map(|_| job(folder.path(), &cache)).collect();
            // Far less ahead than one job has in gaps: counting gaps would stop the fetcher for ever.
            let front = Front::with(|_| true, 100_000);
            run_with(jobs.iter().cloned(), &Options::new().threads(nthreads), &front);
            assert!(front.passed.load(Ordering::Relaxed) >= 40 * 700_000);
            for job in jobs {
                assert!(job.content.is_done() && !job.content.is_being_fetched());
                for (piece, digest) in lock(&job.digests).iter().enumerate() {
                    let range = job.content.layout.piece_range(piece as u64);
                    let offset = job.content.layout.span(job.content.layout.file_at(range.start)).offset;
                    let bytes = &bytes[(range.start - offset) as usize..(range.end - offset) as usize];
                    let expected = job.wants(piece).then(|| hash(Algorithm::Sha1, bytes));
                    assert_eq!(digest.as_ref().map(|digest| &digest[..]), expected.as_ref().map(AsRef::as_ref));
                }
            }
        }
    }

    #[test]
    fn a_cancelled_run_ends() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Arc::new(Cache::new(None));
        let cancel = Cancel::new();
        cancel.cancel();
        let jobs = (0..3).map(|_| job(folder.path(), &cache));
        run_with(jobs, &Options::new().threads(2).cancel(&cancel), &Front::with(|_| true, 1));
    }
}
