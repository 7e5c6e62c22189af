// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads what is not in memory front to back, before lanes need it.
//!
//! Lanes read at up to 16 places for each thread. A hard disk moves its heads for each place and loses most of its
//! speed; an SSD gets a request at a time from each thread, far less than it could serve. If the content of a job is not
//! in memory, threads of their own, the readers, therefore read it in the order of its bytes, a part of
//! [`PART_NBYTES`](parts::PART_NBYTES) each. Parts are read past the page cache where the system permits that. Lanes
//! hash the bytes where they are. How many readers a disk has depends on its kind: see [`Device::nreaders`]. Some readers
//! are kept for disks that have none, so that no disk waits for another one.
//!
//! A thread begins pieces when enough of them are there for all lanes, or when no more can be read: hashing many pieces
//! side by side takes a fraction of the CPU time. Bytes that are in memory are left to the lanes, and so is a file that
//! cannot be read: its lane finds out why.

pub(super) mod parts;
mod plan;

use std::collections::VecDeque;
use std::fs::File;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::pieces::fetch::parts::{PART_NBYTES, Part};
use crate::pieces::fetch::plan::{Plan, Step};
use crate::pieces::files::{Key, Last};
use crate::pieces::job::{Content, Job};
use crate::pieces::lock;
use crate::read::ahead::read_ahead;
use crate::read::buffer::{Arena, Buffer};
use crate::read::device::{self, Device};
use crate::read::direct::{ALIGNMENT, open_direct, read_direct};
use crate::read::holes::stretch_at;
use crate::read::open::{Residence, is_in_memory, open_max, residence};
use crate::run::pool::{LOOK, Pool, room_for};
use crate::run::{LANES, Options};

/// Largest number of bytes that are read and not yet hashed.
const AHEAD_NBYTES: u64 = 64 << 20;

/// The same under a limit on the bytes read in a second: the least with which a lane reaches the next part.
const LEAST_AHEAD_NBYTES: u64 = 2 * PART_NBYTES;

/// Bytes that a thread waits for before it begins pieces, or enough for all lanes. Pieces longer than half of this are
/// begun when their first bytes are there.
const BATCH_NBYTES: u64 = 32 << 20;

/// Largest number of readers of all disks together.
const READERS: usize = 8;

/// Number of readers that only read from disks that have no other: a server that hangs keeps all the rest.
const SPARE_READERS: usize = 2;

/// A process that may have fewer threads, by a limit on its memory, has no memory for readers and parts: 1 GiB.
const WORTH_READING_NTHREADS: usize = 64;

/// A shorter file is read through the page cache: opening it once more costs more than its pages.
const SHORT_NBYTES: u64 = 256 << 10;

/// Largest number of short files that a reader asks for at once.
const SHORT_MAX: usize = 32;

/// Number of bytes after which waiting threads are told that more is there.
const TELL_NBYTES: u64 = 4 << 20;

/// The time after which a reader that found no free buffer looks again.
const MOMENT: Duration = Duration::from_millis(1);

/// The time after which readers without a free buffer give up, if nothing is read or hashed meanwhile: all buffers
/// together have too few bytes for a lane to go on with, as files are tiny.
const PATIENCE: Duration = Duration::from_secs(2);

/// Largest number of places of a content that are looked at to see whether it is in memory.
const LOOKS: u64 = 16;

/// Least number of bytes from look to look.
const LOOK_NBYTES: u64 = 64 << 10;

/// The end of the fetched bytes of a content that is not fetched, or wholly.
pub(super) const ALL: u64 = u64::MAX;

/// The state that readers share with the threads that hash.
pub(super) struct Fetcher<J> {
    /// The device of a content that should be fetched.
    device_of: fn(&J) -> Option<Device>,
    buffers: Arc<Arena>,
    state: Mutex<State<J>>,
    /// Readers wait for work.
    work: Condvar,
    /// Other threads wait for bytes.
    changed: Condvar,
    /// Counts the changes that a thread may wait for. Changes only while `state` is locked.
    nchanges: AtomicU64,
    /// Whether no buffer is free: lanes take what there is.
    is_full: AtomicBool,
    /// Number of bytes that were hashed, or need no hashing.
    nused: AtomicU64,
}

struct State<J> {
    disks: Vec<Disk<J>>,
    /// Number of jobs so far.
    njobs: u64,
    /// Since when no buffer is free, and the number of used bytes then.
    full: Option<(Instant, u64)>,
    /// Whether a reader looks for a free buffer again and again.
    is_polled: bool,
    is_over: bool,
}

struct Disk<J> {
    device: Device,
    /// Number of readers at work.
    nreading: usize,
    /// Jobs to fetch, in order.
    jobs: VecDeque<Fetching<J>>,
}

/// A job that is being fetched.
struct Fetching<J> {
    number: u64,
    job: Arc<J>,
    plan: Plan,
    /// Whether the plan is at its end.
    is_planned: bool,
    /// For each task, in order, from the first unfinished one on: the end of the content that needs no reading after it,
    /// and whether it is finished.
    tasks: VecDeque<(u64, bool)>,
    /// Number of tasks that have left the list.
    npassed: u64,
    /// The end of the fetched bytes that waiting threads were told.
    told: u64,
}

/// The work of a reader: a part, or those of several short files that follow one another.
struct Task<J> {
    disk: usize,
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
struct Own {
    last: Last,
    direct: Direct,
}

/// The last file, opened for direct reads if that is possible.
#[derive(Default)]
struct Direct(Option<(Key, Option<File>)>);

impl<J: Job> Fetcher<J> {
    /// Under a limit on the bytes read in a second, little is read ahead.
    pub(super) fn new(options: &Options) -> Fetcher<J> {
        Fetcher::with(device_of_cold, if options.is_limited() { LEAST_AHEAD_NBYTES } else { AHEAD_NBYTES })
    }

    fn with(device_of: fn(&J) -> Option<Device>, ahead_nbytes: u64) -> Fetcher<J> {
        Fetcher {
            device_of,
            buffers: Arena::new((ahead_nbytes / PART_NBYTES) as usize),
            state: Mutex::new(State { disks: Vec::new(), njobs: 0, full: None, is_polled: false, is_over: false }),
            work: Condvar::new(),
            changed: Condvar::new(),
            nchanges: AtomicU64::new(0),
            is_full: AtomicBool::new(false),
            nused: AtomicU64::new(0),
        }
    }

    /// Looks whether a new job should be fetched. Called before any thread takes a piece of it.
    pub(super) fn begin(&self, job: &Arc<J>) {
        let content = job.content();
        let Some(device) = (self.device_of)(job) else { return };
        let mut state = lock(&self.state);
        if state.is_over {
            return;
        }
        content.fetched.store(0, Ordering::Release);
        let number = state.njobs;
        state.njobs += 1;
        let fetching = Fetching {
            number,
            job: job.clone(),
            plan: Plan::new(),
            is_planned: false,
            tasks: VecDeque::new(),
            npassed: 0,
            told: 0,
        };
        match state.disks.iter_mut().find(|disk| disk.device == device) {
            Some(disk) => disk.jobs.push_back(fetching),
            None => state.disks.push(Disk { device, nreading: 0, jobs: [fetching].into() }),
        }
        self.work.notify_all();
    }

    /// Number of readers that this process has room for.
    pub(super) fn nreaders() -> usize {
        if room_for() < WORTH_READING_NTHREADS { 0 } else { READERS.min(open_max() / 8) }
    }

    /// Whether there is something to fetch.
    pub(super) fn is_used(&self) -> bool {
        !lock(&self.state).disks.is_empty()
    }

    /// Number of pieces, the next of them `start`, that a thread should begin now, at most `most`.
    pub(super) fn ready(&self, content: &Content<'_>, start: usize, most: usize, chunk_nbytes: u64) -> usize {
        let fetched = content.fetched.load(Ordering::Acquire);
        if fetched == ALL {
            return most;
        }
        let layout = &content.layout;
        let piece_nbytes = layout.piece_nbytes();
        let is_full = self.is_full.load(Ordering::Relaxed);
        // Without a free buffer the rest of a piece may never come until its beginning is hashed.
        let is_long = is_full || piece_nbytes > BATCH_NBYTES / 2;
        let is_there = |&piece: &usize| {
            let range = layout.piece_range(piece as u64);
            fetched >= if is_long { range.end.min(range.start + chunk_nbytes) } else { range.end }
        };
        let count = (start..start + most).take_while(is_there).count();
        let wanted = most.min(LANES).min((BATCH_NBYTES / piece_nbytes) as usize);
        let is_enough = is_long || count >= wanted || content.is_last_fetched.load(Ordering::Relaxed);
        if is_enough { count } else { 0 }
    }

    /// Notes that a range of a content needs no more reading.
    pub(super) fn used(&self, content: &Content<'_>, range: Range<u64>) {
        self.nused.fetch_add(range.end.saturating_sub(range.start), Ordering::Relaxed);
        content.parts.used(range, content.fetched.load(Ordering::Acquire));
    }

    /// The number of changes so far, for [`Fetcher::wait`].
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

    /// Tells waiting threads of a change. `state` must be locked.
    fn tell(&self) {
        self.nchanges.fetch_add(1, Ordering::Release);
        self.changed.notify_all();
    }

    /// Ends all readers. What is not fetched is read by the lanes.
    pub(super) fn end(&self) {
        let mut state = lock(&self.state);
        state.is_over = true;
        let jobs = state.disks.drain(..).flat_map(|disk| disk.jobs);
        jobs.for_each(|fetching| fetching.job.content().fetched.store(ALL, Ordering::Release));
        self.work.notify_all();
        self.tell();
    }

    /// Reads until the end. Each reader runs on a thread of its own.
    pub(super) fn read(&self, pool: &Pool) {
        // After a panic the lanes read by themselves.
        let _end = End(self);
        let mut own = Own::default();
        while let Some(task) = self.next(pool) {
            let Task { disk, job_number, number, job, steps, asks, buffer } = task;
            // Before a file is opened: what is read of it must not be used after it has changed.
            let round = job.content().parts.round();
            if asks && steps.len() > 1 {
                ask(&mut own, job.content(), &steps);
            }
            let hole_end = read(&mut own, job.content(), &steps, buffer, round);
            self.finish(disk, job_number, number, hole_end);
        }
    }

    /// The next parts to read. Waits for it; `None` at the end.
    fn next(&self, pool: &Pool) -> Option<Task<J>> {
        let mut state = lock(&self.state);
        while !state.is_over && !pool.must_stop() {
            let nidle = READERS - state.disks.iter().map(|disk| disk.nreading).sum::<usize>();
            let is_free = |disk: &Disk<J>| {
                let most = if nidle > SPARE_READERS { disk.device.nreaders() } else { 1 };
                disk.nreading < most && disk.jobs.iter().any(|fetching| !fetching.is_planned)
            };
            let disks = state.disks.iter().enumerate().filter(|(_, disk)| is_free(disk));
            let next = disks.min_by_key(|(_, disk)| disk.nreading).map(|(index, _)| index);
            let time = match next {
                Some(disk) => match self.buffers.take() {
                    Some(buffer) => {
                        if self.is_full.swap(false, Ordering::Relaxed) {
                            self.work.notify_all();
                        }
                        state.full = None;
                        if let Some(task) = self.task(&mut state, disk, buffer) {
                            return Some(task);
                        }
                        continue;
                    }
                    // Without memory there is nothing to wait for.
                    None if !self.buffers.has_memory() => return None,
                    None => {
                        if !self.is_full.swap(true, Ordering::Relaxed) {
                            self.tell();
                        }
                        self.give_up_if_stuck(&mut state);
                        if state.is_polled { LOOK } else { MOMENT }
                    }
                },
                None => LOOK,
            };
            let polls = time == MOMENT;
            state.is_polled |= polls;
            state = self.work.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0;
            state.is_polled &= !polls;
        }
        None
    }

    /// Leaves the rest of all jobs to the lanes if no buffer becomes free.
    fn give_up_if_stuck(&self, state: &mut State<J>) {
        let nused = self.nused.load(Ordering::Relaxed);
        let (since, _) = *state.full.get_or_insert_with(|| (Instant::now(), nused));
        if state.full != Some((since, nused)) || state.disks.iter().any(|disk| disk.nreading > 0) {
            state.full = None;
        } else if since.elapsed() > PATIENCE {
            state.full = None;
            for disk in &mut state.disks {
                for at in (0..disk.jobs.len()).rev() {
                    disk.jobs[at].is_planned = true;
                    self.pass(disk, at);
                }
            }
            self.tell();
        }
    }

    /// The next parts of a disk's jobs. `None` if the job at hand has no more.
    fn task(&self, state: &mut State<J>, index: usize, buffer: Buffer) -> Option<Task<J>> {
        let disk = &mut state.disks[index];
        let at = disk.jobs.iter().position(|fetching| !fetching.is_planned)?;
        let fetching = &mut disk.jobs[at];
        let is_over = fetching.job.is_given_up() || fetching.job.content().is_done();
        let next = if is_over { None } else { fetching.plan.next(&*fetching.job) };
        let Some(step) = next else {
            fetching.is_planned = true;
            fetching.job.content().is_last_fetched.store(true, Ordering::Relaxed);
            self.pass(disk, at);
            self.tell();
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
        let number = fetching.npassed + fetching.tasks.len() as u64;
        fetching.tasks.push_back((fetching.plan.passed(), false));
        let (job_number, job) = (fetching.number, fetching.job.clone());
        disk.nreading += 1;
        Some(Task { disk: index, job_number, number, job, steps, asks: disk.device.takes_many(), buffer })
    }

    /// Notes that a task's parts were read, or are left to the lanes.
    fn finish(&self, disk: usize, job_number: u64, number: u64, hole_end: Option<u64>) {
        let mut state = lock(&self.state);
        // At the end nobody looks any more.
        let Some(disk) = state.disks.get_mut(disk) else { return };
        disk.nreading -= 1;
        let Some(at) = disk.jobs.iter().position(|fetching| fetching.number == job_number) else { return };
        let fetching = &mut disk.jobs[at];
        let place = (number - fetching.npassed) as usize;
        if let Some(end) = hole_end {
            // Usually the next task is not begun; if it is, the hole is looked for there again.
            if place + 1 == fetching.tasks.len() {
                fetching.plan.pass_hole(&*fetching.job, end);
                fetching.tasks[place].0 = fetching.plan.passed();
            }
        }
        fetching.tasks[place].1 = true;
        if self.pass(disk, at) {
            self.tell();
        }
    }

    /// Lets lanes read what is there of a job. Returns true if waiting threads should be told.
    fn pass(&self, disk: &mut Disk<J>, at: usize) -> bool {
        let fetching = &mut disk.jobs[at];
        let content = fetching.job.content();
        let mut end = content.fetched.load(Ordering::Relaxed);
        while let Some(&(passed, true)) = fetching.tasks.front() {
            end = passed;
            fetching.tasks.pop_front();
            fetching.npassed += 1;
        }
        let is_over = fetching.is_planned && fetching.tasks.is_empty();
        content.fetched.store(if is_over { ALL } else { end }, Ordering::Release);
        let is_told = fetching.is_planned || end - fetching.told >= TELL_NBYTES;
        if is_told {
            fetching.told = end;
        }
        if is_over {
            disk.jobs.remove(at);
        }
        is_told
    }
}

/// Asks the disk for parts.
fn ask(own: &mut Own, content: &Content<'_>, steps: &[Step]) {
    for step in steps {
        if let Ok(file) = content.files.get(step.file, &mut own.last) {
            let offset = content.layout.span(step.file).offset;
            read_ahead(&file.file, step.range.start - offset..step.range.end - offset);
        }
    }
}

/// Reads parts and adds them to those of their content. If there is nothing but a hole, returns its end in the content.
/// Errors are left to the lane that reads the same bytes.
fn read(own: &mut Own, content: &Content<'_>, steps: &[Step], mut buffer: Buffer, round: u64) -> Option<u64> {
    let mut hole_end = None;
    let mut filled = 0;
    let mut found = Vec::with_capacity(steps.len());
    for step in steps {
        match read_part(own, content, step, &mut buffer.bytes_mut()[filled..]) {
            Some(Found::Read(skip)) => {
                found.push((step.range.clone(), filled + skip));
                filled += (skip + (step.range.end - step.range.start) as usize).next_multiple_of(ALIGNMENT);
            }
            Some(Found::Hole(end)) if steps.len() == 1 => hole_end = Some(end),
            Some(Found::Hole(_)) | None => {}
        }
    }
    let buffer = Arc::new(buffer);
    found.into_iter().for_each(|(range, start)| content.parts.add(Part::new(range, start, &buffer), round));
    hole_end
}

enum Found {
    /// The part is in the buffer, after this many bytes.
    Read(usize),
    /// The part lies in a hole, which ends here.
    Hole(u64),
}

/// Reads a part to the beginning of `buffer`. `None` if it is in memory, or cannot be read.
fn read_part(own: &mut Own, content: &Content<'_>, step: &Step, buffer: &mut [u8]) -> Option<Found> {
    // Before the file is opened: if it changes meanwhile, this is the key of the earlier file.
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
            return Some(Found::Hole(span.offset + stretch.end.min(span.nbytes)));
        }
    }
    // A short file costs little to read, wherever it is, and its lane then need not open it.
    let is_short = span.nbytes < SHORT_NBYTES;
    let residence = if is_short { Residence::Unknown } else { residence(&file.file, range.start) };
    if residence == Residence::InMemory && is_in_memory(&file.file, range.end - 1) {
        return None;
    }
    // A range of which the system cannot say where it is may be in memory: it is read through the page cache.
    if residence == Residence::OnDisk {
        let skip = own.direct.read(key, &file.file, buffer, range.clone());
        if skip.is_some() {
            return skip.map(Found::Read);
        }
    }
    let row = buffer.get_mut(..(range.end - range.start) as usize)?;
    file.read_at(row, range.start).is_ok_and(|nbytes| nbytes == row.len()).then_some(Found::Read(0))
}

impl Direct {
    /// Fills the beginning of `buffer` with a range of a file, past the page cache. Returns the offset in `buffer` of the
    /// range's first byte; `None` if the file cannot be read so.
    fn read(&mut self, key: Key, file: &File, buffer: &mut [u8], range: Range<u64>) -> Option<usize> {
        if !matches!(&self.0, Some((of, _)) if *of == key) {
            self.0 = Some((key, open_direct(file)));
        }
        let Some((_, way)) = &mut self.0 else { return None };
        let skip = range.start as usize % ALIGNMENT;
        let nbytes = (range.end - range.start) as usize + skip;
        let buffer = buffer.get_mut(..nbytes.next_multiple_of(ALIGNMENT))?;
        let found = read_direct(way.as_ref()?, buffer, range.start - skip as u64);
        if !found.is_ok_and(|found| found >= nbytes) {
            // Some file systems let a file be opened so, and then refuse to read.
            *way = None;
            return None;
        }
        Some(skip)
    }
}

struct End<'a, J: Job>(&'a Fetcher<J>);

impl<J: Job> Drop for End<'_, J> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The device of a content of which some wanted piece is not in memory.
fn device_of_cold<J: Job>(job: &J) -> Option<Device> {
    let content = job.content();
    let layout = &content.layout;
    let mut last = Last::default();
    let nlooks = LOOKS.min(layout.total_nbytes().div_ceil(LOOK_NBYTES));
    (0..nlooks).find_map(|look| {
        let pos = layout.total_nbytes() / nlooks * look;
        let index = layout.file_at(pos);
        let span = layout.span(index);
        if span.padding || pos < span.offset || !job.wants((pos / layout.piece_nbytes()) as usize) {
            return None;
        }
        let file = content.files.get(index, &mut last).ok()?;
        let at = pos - span.offset;
        (at < file.nbytes && !is_in_memory(&file.file, at)).then(|| device::of(&file.file))
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom, Write};
    use std::path::Path;

    use hashloom::{Algorithm, hash};

    use super::*;
    use crate::pieces::files::{Cache, Files, Place};
    use crate::pieces::job::{Hashes, Outcome};
    use crate::pieces::layout::{Layout, Spans};
    use crate::pieces::run_with;
    use crate::run::Cancel;

    const PIECE_NBYTES: u64 = 64 << 10;
    /// Lengths of the files of a job: more than a piece, less, nothing, exactly one, more than a part, and one with a
    /// hole.
    const LENGTHS: [u64; 6] = [100_000, 1, 0, PIECE_NBYTES, 2_700_000, 5_000_000];
    const HOLE: std::ops::Range<usize> = 1_000_000..4_500_000;

    /// All contents are fetched, from the device of this system's files for a while.
    fn device<J: Job>(job: &J) -> Option<Device> {
        job.content().files.get(0, &mut Last::default()).ok().map(|file| device::of(&file.file))
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

    /// A device that hides what it is: one reader.
    fn hidden<J: Job>(_job: &J) -> Option<Device> {
        File::open("/proc/self/status").ok().map(|file| device::of(&file))
    }

    /// A file of which nothing is in memory. Long stretches of zeros become holes.
    fn write_cold(path: &Path, bytes: &[u8]) {
        let mut file = File::create(path).unwrap();
        for part in bytes.chunks(4096) {
            match part.iter().all(|&byte| byte == 0) {
                true => drop(file.seek(SeekFrom::Current(part.len() as i64)).unwrap()),
                false => file.write_all(part).unwrap(),
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

        fn settle(&self, piece: usize, outcome: Outcome) {
            if let Outcome::Hashed { sha1, .. } = outcome {
                lock(&self.digests)[piece] = Some(sha1);
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
        let content = Content::new(Arc::new(layout), files, Hashes { sha1: true, merkle: false });
        Arc::new(Noted { content, digests: Mutex::new(vec![None; count]) })
    }

    #[test]
    fn what_is_fetched_is_hashed_whatever_the_number_of_jobs() {
        let folder = tempfile::tempdir().unwrap();
        for (nthreads, is_aligned, njobs) in [(1, true, 3), (3, true, 40), (1, false, 40), (3, false, 3)] {
            for file in 0..LENGTHS.len() {
                write_cold(&folder.path().join(file.to_string()), &bytes_of(file));
            }
            let cache = Arc::new(Cache::new(None));
            let jobs: Vec<_> = (0..njobs).map(|_| job(folder.path(), &cache, is_aligned)).collect();
            let fetcher = Fetcher::with(device, 2 * PART_NBYTES);
            run_with(jobs.iter().cloned(), &Options::new().threads(nthreads), &fetcher);
            assert_eq!(lock(&fetcher.state).njobs, njobs);
            let layout = &jobs[0].content.layout;
            let mut content = vec![0; layout.total_nbytes() as usize];
            for file in 0..LENGTHS.len() {
                let span = layout.span(file);
                content[span.offset as usize..span.end() as usize].copy_from_slice(&bytes_of(file));
            }
            for job in &jobs {
                assert!(job.content.is_done() && job.content.is_fetched(ALL) && job.content.parts.is_empty());
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
        let job = job_of(folder.path(), &Arc::new(Cache::new(None)), spans, 32);
        run_with([job.clone()].into_iter(), &Options::new().threads(1), &Fetcher::with(hidden, 8 * PART_NBYTES));
        let file = vec![1; job.content.layout.piece_range(0).end as usize];
        assert_eq!(lock(&job.digests)[0].unwrap()[..], *hash(Algorithm::Sha1, &file).as_ref());
        assert!(job.content.is_done() && job.content.parts.is_empty());
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
        let files = Files::new(Place::Listed, 3, Box::new(path_of), &Arc::new(Cache::new(None)));
        let content = Content::new(Arc::new(layout), files, Hashes { sha1: true, merkle: false });
        let job = Arc::new(Changing { content, path: path.clone(), nrounds, digest: Mutex::new(None) });
        run_with([job.clone()].into_iter(), &Options::new().threads(1), &Fetcher::with(hidden, 8 * PART_NBYTES));
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
                    // The reader reads file 1 meanwhile.
                    std::thread::sleep(Duration::from_millis(200));
                    write_cold(&self.path.join("0"), &[7; 300_000]);
                    write_cold(&self.path.join("new"), &[9; 20_000]);
                    std::fs::rename(self.path.join("new"), self.path.join("1")).unwrap();
                }
                Outcome::Changed => drop(self.nrounds.fetch_add(1, Ordering::SeqCst)),
                Outcome::Hashed { sha1, .. } => *lock(&self.digest) = Some(sha1),
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
        let cache = Arc::new(Cache::new(None));
        let job = job_of(folder.path(), &cache, spans, 9000);
        let fetcher = Fetcher::with(device, 2 * PART_NBYTES);
        run_with([job.clone()].into_iter(), &Options::new().threads(2), &fetcher);
        let content: Vec<u8> = (0..9000).flat_map(|file| [file as u8; 9]).collect();
        for (digest, bytes) in lock(&job.digests).iter().zip(content.chunks(PIECE_NBYTES as usize)) {
            assert_eq!(digest.unwrap()[..], *hash(Algorithm::Sha1, bytes).as_ref());
        }
    }

    #[test]
    fn a_cancelled_run_ends() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Arc::new(Cache::new(None));
        let cancel = Cancel::new();
        cancel.cancel();
        let jobs = (0..3).map(|_| job(folder.path(), &cache, true));
        run_with(jobs, &Options::new().threads(2).cancel(&cancel), &Fetcher::with(device, PART_NBYTES));
    }
}
