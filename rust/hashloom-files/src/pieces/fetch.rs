// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads what is not in memory front to back, before lanes need it.
//!
//! Lanes read at up to 16 places for each thread. A hard disk moves its heads for each place and loses most of its
//! speed; an SSD gets a request at a time from each thread, far less than it could serve. If the content of a job is
//! not in memory, [readers](Readers) therefore read it in the order of its bytes, a part of [`PART_NBYTES`] each. Parts
//! are read past the page cache where the system permits that. Lanes hash the bytes where they are.
//!
//! A thread begins pieces when enough of them are there for all lanes, or when no more can be read: hashing many pieces
//! side by side takes a fraction of the CPU time. Bytes that are in memory are left to the lanes, and so is a file that
//! cannot be read: its lane finds out why.

mod plan;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::lanes::{self, ALL, Part, Tasks};
use crate::pieces::fetch::plan::{Plan, Step};
use crate::pieces::files::{Key, Last};
use crate::pieces::job::{Content, Job};
use crate::read::ahead::read_ahead;
use crate::read::buffer::Buffer;
use crate::read::device::{self, Device};
use crate::read::direct::{ALIGNMENT, Direct};
use crate::read::holes::stretch_at;
use crate::read::open::is_in_memory;
use crate::read::readers::{PART_NBYTES, Queue, Readers, SHORT_MAX, SHORT_NBYTES};
use crate::run::pool::Pool;
use crate::run::{LANES, Options};

/// Bytes that a thread waits for before it begins pieces, or enough for all lanes. Pieces longer than half of this are
/// begun when their first bytes are there.
const BATCH_NBYTES: u64 = 32 << 20;

/// Number of bytes after which waiting threads are told that more is there.
const TELL_NBYTES: u64 = 4 << 20;

/// Largest number of places of a content that are looked at to see whether it is in memory.
const LOOKS: u64 = 16;

/// Bytes for each further look. A search has a job for each file: a look every 64 KiB took 12% of its CPU.
const LOOK_NBYTES: u64 = 1 << 20;

/// The readers, and what they share with the threads that hash.
pub(super) struct Fetcher<J: Job> {
    /// The device of a content that should be fetched.
    device_of: fn(&J) -> Option<Device>,
    readers: Readers<Jobs<J>>,
    /// Number of jobs so far.
    njobs: AtomicU64,
}

/// Jobs to fetch from a disk, in order.
pub(super) struct Jobs<J>(VecDeque<Fetching<J>>);

/// A job that is being fetched.
pub(super) struct Fetching<J> {
    number: u64,
    job: Arc<J>,
    plan: Plan,
    /// Whether the plan is at its end.
    is_planned: bool,
    tasks: Tasks,
    /// The end of the fetched bytes that waiting threads were told.
    told: u64,
}

/// The work of a reader: a part, or those of several short files that follow one another.
pub(super) struct Task<J> {
    job_number: u64,
    /// The task's number in its job.
    number: u64,
    job: Arc<J>,
    steps: Vec<Step>,
    /// Whether the disk gets the requests of several parts at once, and puts them in order.
    asks: bool,
    buffer: Buffer,
}

/// A reader's open files.
#[derive(Default)]
struct OpenFiles {
    last: Last,
    direct: Direct<Key>,
}

impl<J: Job> Fetcher<J> {
    pub(super) fn new(options: &Options) -> Fetcher<J> {
        Fetcher { device_of: device_of_cold, readers: Readers::new(options), njobs: AtomicU64::new(0) }
    }

    /// Looks whether a new job should be fetched. Called before any thread takes a piece of it.
    pub(super) fn begin(&self, job: &Arc<J>) {
        let content = job.content();
        let Some(device) = (self.device_of)(job) else { return };
        self.readers.change(device, |jobs| {
            content.fetched.pass(0);
            jobs.0.push_back(Fetching {
                number: self.njobs.fetch_add(1, Ordering::Relaxed),
                job: job.clone(),
                plan: Plan::new(),
                is_planned: false,
                tasks: Tasks::default(),
                told: 0,
            });
        });
    }

    pub(super) fn readers(&self) -> &Readers<Jobs<J>> {
        &self.readers
    }

    /// Number of pieces, the next of them `start`, that a thread should begin now, at most `most`.
    pub(super) fn ready(&self, content: &Content<'_>, start: usize, most: usize, chunk_nbytes: u64) -> usize {
        let fetched = content.fetched.end();
        if fetched == ALL {
            return most;
        }
        let layout = &content.layout;
        let piece_nbytes = layout.piece_nbytes();
        // Without a free buffer the rest of a piece may never come until its beginning is hashed.
        let is_long = self.readers.is_full() || piece_nbytes > BATCH_NBYTES / 2;
        let is_there = |&piece: &usize| {
            let range = layout.piece_range(piece as u64);
            fetched >= if is_long { range.end.min(range.start + chunk_nbytes) } else { range.end }
        };
        let count = (start..start + most).take_while(is_there).count();
        let wanted = most.min(LANES).min((BATCH_NBYTES / piece_nbytes) as usize);
        let is_enough = is_long || count >= wanted || content.is_last_fetched.load(Ordering::Relaxed);
        if is_enough { count } else { 0 }
    }

    /// Reads until the end. Each reader runs on a thread of its own.
    pub(super) fn read(&self, pool: &Pool) {
        let mut own = OpenFiles::default();
        self.readers.work(pool, |task| {
            let Task { job_number, number, job, steps, asks, buffer } = task;
            // Before a file is opened: what is read of it must not be used after it has changed.
            let round = job.content().fetched.round();
            if asks && steps.len() > 1 {
                ask(&mut own, job.content(), &steps);
            }
            let hole_end = read(&mut own, job.content(), &steps, buffer, round);
            move |jobs| jobs.finish(job_number, number, hole_end)
        });
    }
}

impl<J> Default for Jobs<J> {
    fn default() -> Jobs<J> {
        Jobs(VecDeque::new())
    }
}

impl<J: Job> Queue for Jobs<J> {
    type Task = Task<J>;

    /// Parts of 1 MiB that are read side by side took a FUSE file system without a queue 3.1 s with 2 readers and 4.4 s
    /// with 4, for what one reads in 1.6.
    fn nreaders(device: Device) -> usize {
        if device.takes_many() { device.nreaders() } else { 1 }
    }

    fn is_waiting(&self) -> bool {
        self.0.iter().any(|fetching| !fetching.is_planned)
    }

    /// `None` if the job at hand has no more parts.
    fn next(&mut self, device: Device, buffer: Buffer) -> Option<Task<J>> {
        let at = self.0.iter().position(|fetching| !fetching.is_planned)?;
        let fetching = &mut self.0[at];
        let is_over = fetching.job.is_given_up() || fetching.job.content().is_done();
        let next = if is_over { None } else { fetching.plan.next(&*fetching.job) };
        let Some(step) = next else {
            fetching.is_planned = true;
            fetching.job.content().is_last_fetched.store(true, Ordering::Relaxed);
            self.pass(at, None);
            return None;
        };
        let mut room = PART_NBYTES;
        let mut steps = vec![step];
        let is_short = |nbytes: Option<u64>| nbytes.is_some_and(|nbytes| nbytes < SHORT_NBYTES);
        let layout = &fetching.job.content().layout;
        if is_short(Some(layout.span(steps[0].file).nbytes)) {
            let place = |step: &Step| (step.range.end - step.range.start).next_multiple_of(ALIGNMENT as u64);
            room = room.saturating_sub(place(&steps[0]));
            while steps.len() < SHORT_MAX
                && room >= SHORT_NBYTES
                && is_short(fetching.plan.next_file_nbytes(&*fetching.job))
            {
                let Some(step) = fetching.plan.next(&*fetching.job) else { break };
                room -= place(&step);
                steps.push(step);
            }
        }
        let number = fetching.tasks.begin(fetching.plan.passed());
        let (job_number, job) = (fetching.number, fetching.job.clone());
        Some(Task { job_number, number, job, steps, asks: device.takes_many(), buffer })
    }

    fn give_up(&mut self) {
        self.0.drain(..).for_each(|fetching| fetching.job.content().fetched.pass(ALL));
    }
}

impl<J: Job> Jobs<J> {
    /// Notes that a task's parts were read, or are left to the lanes. Returns true if waiting threads should be told.
    fn finish(&mut self, job_number: u64, number: u64, hole_end: Option<u64>) -> bool {
        // At the end nobody looks any more.
        let Some(at) = self.0.iter().position(|fetching| fetching.number == job_number) else { return false };
        let fetching = &mut self.0[at];
        if let Some(end) = hole_end {
            // Usually the next task is not begun; if it is, the hole is looked for there again.
            if let Some(passed) = fetching.tasks.last_mut(number) {
                fetching.plan.pass_hole(&*fetching.job, end);
                *passed = fetching.plan.passed();
            }
        }
        let passed = fetching.tasks.finish(number);
        self.pass(at, passed)
    }

    /// Lets lanes read what is there of a job. Returns true if waiting threads should be told.
    fn pass(&mut self, at: usize, passed: Option<u64>) -> bool {
        let fetching = &mut self.0[at];
        let fetched = &fetching.job.content().fetched;
        let end = passed.unwrap_or(fetched.end());
        let is_over = fetching.is_planned && fetching.tasks.are_done();
        fetched.pass(if is_over { ALL } else { end });
        let is_told = fetching.is_planned || end - fetching.told >= TELL_NBYTES;
        if is_told {
            fetching.told = end;
        }
        if is_over {
            self.0.remove(at);
        }
        is_told
    }
}

/// Asks the disk for parts.
fn ask(own: &mut OpenFiles, content: &Content<'_>, steps: &[Step]) {
    for step in steps {
        if let Ok(file) = content.files.get(step.file, &mut own.last) {
            let offset = content.layout.span(step.file).offset;
            read_ahead(&file.file, step.range.start - offset..step.range.end - offset);
        }
    }
}

/// Reads parts and adds them to those of their content. If there is nothing but a hole, returns its end in the content.
/// Errors are left to the lane that reads the same bytes.
fn read(own: &mut OpenFiles, content: &Content<'_>, steps: &[Step], mut buffer: Buffer, round: u64) -> Option<u64> {
    let mut hole_end = None;
    let mut filled = 0;
    let mut found = Vec::with_capacity(steps.len());
    for step in steps {
        match read_part(own, content, step, &mut buffer.bytes_mut()[filled..]) {
            Some(PartRead::Read(skip)) => {
                found.push((step.range.clone(), filled + skip));
                filled += (skip + (step.range.end - step.range.start) as usize).next_multiple_of(ALIGNMENT);
            }
            Some(PartRead::Hole(end)) if steps.len() == 1 => hole_end = Some(end),
            Some(PartRead::Hole(_)) | None => {}
        }
    }
    let buffer = Arc::new(buffer);
    found.into_iter().for_each(|(range, start)| content.fetched.add(Part::new(range, start, &buffer), round));
    hole_end
}

enum PartRead {
    /// The part is in the buffer, after this many bytes.
    Read(usize),
    /// The part lies in a hole, which ends here.
    Hole(u64),
}

/// Reads a part to the beginning of `buffer`. `None` if it is in memory, or cannot be read.
fn read_part(own: &mut OpenFiles, content: &Content<'_>, step: &Step, buffer: &mut [u8]) -> Option<PartRead> {
    // Before the file is opened: if it changes in between, this is the key of the earlier file.
    let key = content.files.key(step.file);
    let file = content.files.get(step.file, &mut own.last).ok()?;
    let span = content.layout.span(step.file);
    let range = step.range.start - span.offset..step.range.end - span.offset;
    if range.end > file.nbytes {
        return None;
    }
    if file.holes {
        let stretch = stretch_at(&file.file, range.start);
        if stretch.hole && stretch.end >= range.end {
            return Some(PartRead::Hole(span.offset + stretch.end.min(span.nbytes)));
        }
    }
    if file.is_uncached {
        return own.direct.read_past(key, &file.file, buffer, range).map(PartRead::Read);
    }
    let is_short = span.nbytes < SHORT_NBYTES;
    lanes::read_part(&mut own.direct, key, &file.file, range, is_short, buffer).map(PartRead::Read)
}

/// The device of a content of which some wanted piece is not in memory.
fn device_of_cold<J: Job>(job: &J) -> Option<Device> {
    let content = job.content();
    let layout = &content.layout;
    let mut last = Last::default();
    // More than one: programs that only tell what a file is read its beginning.
    let nbytes = layout.total_nbytes();
    let nlooks = LOOKS.min(1 + nbytes.div_ceil(LOOK_NBYTES)).min(nbytes);
    (0..nlooks).find_map(|look| {
        let pos = nbytes / nlooks * look;
        let index = layout.file_at(pos);
        let span = layout.span(index);
        if span.padding || pos < span.offset || !job.wants((pos / layout.piece_nbytes()) as usize) {
            return None;
        }
        let file = content.files.get(index, &mut last).ok()?;
        let at = pos - span.offset;
        (at < file.nbytes && (file.is_uncached || !is_in_memory(&file.file, at))).then(|| device::of(&file.file))
    })
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Seek, SeekFrom, Write};
    use std::path::Path;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use hashloom::{Algorithm, hash};

    use super::*;
    use crate::pieces::files::{Cache, Files, Place};
    use crate::pieces::job::{Hashes, Outcome};
    use crate::pieces::layout::{Layout, Spans};
    use crate::pieces::run_with;
    use crate::read::readers::MOMENT;
    use crate::run::Cancel;
    use crate::run::lock;

    const PIECE_NBYTES: u64 = 64 << 10;
    /// Lengths of the files of a job: more than a piece, less, nothing, exactly one, more than a part, and one with a
    /// hole.
    const LENGTHS: [u64; 6] = [100_000, 1, 0, PIECE_NBYTES, 2_700_000, 5_000_000];
    const HOLE: std::ops::Range<usize> = 1_000_000..4_500_000;

    /// Treats every job as cold, on the device that its first file is on.
    fn device<J: Job>(job: &J) -> Option<Device> {
        job.content().files.get(0, &mut Last::default()).ok().map(|file| device::of(&file.file))
    }

    /// A fetcher with this number of buffers.
    fn fetcher<J: Job>(device_of: fn(&J) -> Option<Device>, nbuffers: u64) -> Fetcher<J> {
        Fetcher { device_of, readers: Readers::with(nbuffers * PART_NBYTES), njobs: AtomicU64::new(0) }
    }

    /// The bytes of a file, which differ from those of all others.
    fn bytes_of(file: usize) -> Vec<u8> {
        let byte = |i: u64| ((i.wrapping_mul(i) >> 7) as u8).wrapping_add(file as u8);
        let mut bytes: Vec<u8> = (0..LENGTHS[file]).map(byte).collect();
        if file == 5 {
            bytes[HOLE].fill(0);
        }
        bytes
    }

    fn hidden<J: Job>(_job: &J) -> Option<Device> {
        Some(Device::HIDDEN)
    }

    /// A file of which nothing is in memory. Long stretches of zeros become holes.
    fn write_cold(path: &Path, bytes: &[u8]) {
        let mut file = File::create(path).unwrap();
        for part in bytes.chunks(4096) {
            if part.iter().all(|&byte| byte == 0) {
                file.seek(SeekFrom::Current(part.len() as i64)).unwrap();
            } else {
                file.write_all(part).unwrap()
            }
        }
        file.set_len(bytes.len() as u64).unwrap();
        file.sync_all().unwrap();
        #[cfg(target_os = "linux")]
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    }

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

        fn settle(&self, piece: usize, outcome: Outcome<'_>) {
            if let Outcome::Hashed(digests) = outcome {
                lock(&self.digests)[piece] = digests.whole.try_into().ok();
            }
        }

        fn finish(&self) {}
    }

    /// A job whose files follow one another, or each begin at a piece, so that there are gaps between files.
    fn job(folder: &Path, cache: &Arc<Cache>, is_aligned: bool) -> Arc<Noted> {
        let mut spans = if is_aligned { Spans::aligned(PIECE_NBYTES) } else { Spans::default() };
        LENGTHS.iter().for_each(|&nbytes| spans.push(nbytes, false));
        job_of(folder, cache, spans, LENGTHS.len())
    }

    fn job_of(folder: &Path, cache: &Arc<Cache>, spans: Spans, nfiles: usize) -> Arc<Noted> {
        let layout = Layout::new(PIECE_NBYTES, spans);
        let folder = folder.to_owned();
        let path_of = Box::new(move |file: usize| folder.join(file.to_string()));
        let files = Files::new(Place::Listed, nfiles, path_of, cache);
        let count = layout.piece_count() as usize;
        let content = Content::new(Arc::new(layout), files, Hashes::of_torrent(PIECE_NBYTES, true, false));
        Arc::new(Noted { content, digests: Mutex::new(vec![None; count]) })
    }

    #[test]
    fn what_is_fetched_is_hashed_whatever_the_number_of_jobs() {
        let folder = tempfile::tempdir().unwrap();
        for (nthreads, is_aligned, njobs) in [(1, true, 3), (3, true, 40), (1, false, 40), (3, false, 3)] {
            for file in 0..LENGTHS.len() {
                write_cold(&folder.path().join(file.to_string()), &bytes_of(file));
            }
            let cache = Arc::new(Cache::default());
            let jobs: Vec<_> = (0..njobs).map(|_| job(folder.path(), &cache, is_aligned)).collect();
            let fetcher = fetcher(device, 2);
            run_with(jobs.iter().cloned(), &Options::new().threads(nthreads), &fetcher);
            assert_eq!(fetcher.njobs.load(Ordering::Relaxed), njobs);
            let layout = &jobs[0].content.layout;
            let mut content = vec![0; layout.total_nbytes() as usize];
            for file in 0..LENGTHS.len() {
                let span = layout.span(file);
                content[span.offset as usize..span.end() as usize].copy_from_slice(&bytes_of(file));
            }
            for job in &jobs {
                assert!(job.content.is_done() && job.content.fetched.end() == ALL && job.content.fetched.is_empty());
                for (piece, digest) in lock(&job.digests).iter().enumerate() {
                    let range = layout.piece_range(piece as u64);
                    let bytes = &content[range.start as usize..range.end as usize];
                    let expected = job.wants(piece).then(|| hash(Algorithm::Sha1, bytes));
                    assert_eq!(digest.as_ref().map(|digest| &digest[..]), expected.as_ref().map(AsRef::as_ref));
                }
            }
        }
    }

    #[test]
    fn files_longer_than_their_spans_fit_into_a_buffer() {
        let folder = tempfile::tempdir().unwrap();
        // Most parts begin in the middle of a page.
        let mut spans = Spans::default();
        for file in 0..32 {
            write_cold(&folder.path().join(file.to_string()), &[1 + file as u8; 300_000]);
            spans.push(PIECE_NBYTES * 3 / 2 + 7, false);
        }
        let job = job_of(folder.path(), &Arc::new(Cache::default()), spans, 32);
        run_with([job.clone()].into_iter(), &Options::new().threads(1), &fetcher(hidden, 8));
        let file = vec![1; job.content.layout.piece_range(0).end as usize];
        assert_eq!(lock(&job.digests)[0].unwrap()[..], *hash(Algorithm::Sha1, &file).as_ref());
        assert!(job.content.is_done() && job.content.fetched.is_empty());
    }

    #[test]
    fn what_was_read_before_a_change_is_not_used_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let mut spans = Spans::default();
        spans.push(300_000, false);
        for file in 1..3_u8 {
            write_cold(&path.join(file.to_string()), &[file; 20_000]);
            spans.push(20_000, false);
        }
        let layout = Layout::new(32 << 20, spans);
        // A reader has read file 1 and is slow to open file 2. Then the piece is settled, as file 0 is missing.
        let nrounds = Arc::new(AtomicU64::new(0));
        let (counted, released) = (nrounds.clone(), AtomicBool::new(false));
        let folder = path.clone();
        let path_of = move |file: usize| {
            let is_reader = std::thread::current().name().is_some_and(|name| name.starts_with("hashloom-read"));
            while is_reader && file == 2 && !released.load(Ordering::SeqCst) {
                std::thread::sleep(MOMENT);
            }
            if !is_reader && file == 0 && counted.load(Ordering::SeqCst) == 1 {
                released.store(true, Ordering::SeqCst);
            }
            folder.join(file.to_string())
        };
        let files = Files::new(Place::Listed, 3, Box::new(path_of), &Arc::new(Cache::default()));
        let content = Content::new(Arc::new(layout), files, Hashes::of_torrent(PIECE_NBYTES, true, false));
        let job = Arc::new(Changing { content, path: path.clone(), nrounds, digest: Mutex::new(None) });
        run_with([job.clone()].into_iter(), &Options::new().threads(1), &fetcher(hidden, 8));
        let now: Vec<u8> = (0..3).flat_map(|file| std::fs::read(path.join(file.to_string())).unwrap()).collect();
        assert_eq!(lock(&job.digest).unwrap()[..], *hash(Algorithm::Sha1, &now).as_ref());
    }

    /// When its piece is absent, file 0 appears and file 1 is replaced.
    struct Changing {
        content: Content<'static>,
        path: std::path::PathBuf,
        nrounds: Arc<AtomicU64>,
        digest: Mutex<Option<[u8; 20]>>,
    }

    impl Job for Changing {
        fn content(&self) -> &Content<'_> {
            &self.content
        }

        fn wants(&self, _piece: usize) -> bool {
            true
        }

        fn settle(&self, _piece: usize, outcome: Outcome) {
            match outcome {
                Outcome::Absent(_) => {
                    // The reader reads file 1 at the same time.
                    std::thread::sleep(Duration::from_millis(200));
                    write_cold(&self.path.join("0"), &[7; 300_000]);
                    write_cold(&self.path.join("new"), &[9; 20_000]);
                    // Windows may keep the name of an open file from being replaced, not from being changed.
                    std::fs::rename(self.path.join("1"), self.path.join("old")).unwrap();
                    std::fs::rename(self.path.join("new"), self.path.join("1")).unwrap();
                }
                Outcome::Changed => drop(self.nrounds.fetch_add(1, Ordering::SeqCst)),
                Outcome::Hashed(digests) => *lock(&self.digest) = digests.whole.try_into().ok(),
                _ => {}
            }
        }

        fn finish(&self) {}
    }

    #[test]
    fn files_too_short_to_fetch_are_read_by_lanes() {
        let folder = tempfile::tempdir().unwrap();
        let mut spans = Spans::default();
        for file in 0..9000 {
            std::fs::write(folder.path().join(file.to_string()), [file as u8; 9]).unwrap();
            spans.push(9, false);
        }
        let cache = Arc::new(Cache::default());
        let job = job_of(folder.path(), &cache, spans, 9000);
        let fetcher = fetcher(device, 2);
        run_with([job.clone()].into_iter(), &Options::new().threads(2), &fetcher);
        let content: Vec<u8> = (0..9000).flat_map(|file| [file as u8; 9]).collect();
        for (digest, bytes) in lock(&job.digests).iter().zip(content.chunks(PIECE_NBYTES as usize)) {
            assert_eq!(digest.unwrap()[..], *hash(Algorithm::Sha1, bytes).as_ref());
        }
    }

    #[test]
    fn a_cancelled_run_ends() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Arc::new(Cache::default());
        let cancel = Cancel::new();
        cancel.cancel();
        let jobs = (0..3).map(|_| job(folder.path(), &cache, true));
        run_with(jobs, &Options::new().threads(2).cancel(&cancel), &fetcher(device, 1));
    }
}
