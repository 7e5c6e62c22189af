// SPDX-License-Identifier: MIT OR Apache-2.0

//! Readers: threads that read what is not in memory, so that the threads that hash need not wait for a disk.
//!
//! Each disk has a queue of what is to be read from it, in the order that is best for it. A reader takes the next task
//! of a queue together with a buffer, reads, and notes in the queue what has come. How many readers a disk has depends
//! on its kind: see [`Device::nreaders`]. Some readers are kept for disks that have none, so that no disk waits for
//! another one. Threads that hash wait for a change, whatever it is, and then look what is there.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use crate::read::buffer::{Arena, Buffer};
use crate::read::device::Device;
use crate::read::open::open_max;
use crate::run::pool::{LOOK, Pool, room_for};
use crate::run::{Options, lock};

/// Largest number of bytes that are read at once.
pub(crate) const PART_NBYTES: u64 = Arena::BUFFER_NBYTES as u64;

/// A shorter file is read through the page cache: opening it once more costs more than its pages.
pub(crate) const SHORT_NBYTES: u64 = 256 << 10;

/// Largest number of short files that a reader asks for at once.
pub(crate) const SHORT_MAX: usize = 32;

/// Largest number of bytes that are read and not yet hashed.
const AHEAD_NBYTES: u64 = 64 << 20;

/// The same under a limit on the bytes read in a second: the least with which a lane reaches the next part.
const LEAST_AHEAD_NBYTES: u64 = 2 * PART_NBYTES;

/// Largest number of readers of all disks together.
const READERS: usize = 8;

/// Number of readers that only read from disks that have no other: a server that hangs keeps all the rest.
const SPARE_READERS: usize = 2;

/// A process that may have fewer threads, by a limit on its memory, has no memory for readers and parts: 1 GiB.
const WORTH_READING_NTHREADS: usize = 64;

/// The time after which a reader that found no free buffer looks again.
pub(crate) const MOMENT: Duration = Duration::from_millis(1);

/// The time after which readers without a free buffer give up, if nothing is read or hashed while a thread
/// waits: all buffers together have too few bytes for it to go on with.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is to be read from one disk.
pub(crate) trait Queue: Default + Send {
    type Task;

    /// Number of readers that a disk should have.
    fn nreaders(device: Device) -> usize {
        device.nreaders()
    }

    /// Whether a reader should come. Then [`Queue::next`] is called.
    fn is_waiting(&self) -> bool;

    /// The next task of a reader. `None` if something was at its end; a task may be there nevertheless.
    fn next(&mut self, device: Device, buffer: Buffer) -> Option<Self::Task>;

    /// Leaves all that is not read to the threads that hash.
    fn give_up(&mut self);
}

/// The number of readers that this process has room for.
pub(crate) fn nreaders() -> usize {
    if room_for() < WORTH_READING_NTHREADS { 0 } else { READERS.min(open_max() / 8) }
}

/// The state that readers share with the threads that hash.
pub(crate) struct Readers<Q> {
    buffers: Arc<Arena>,
    state: Mutex<State<Q>>,
    /// Readers wait for work.
    work: Condvar,
    /// Other threads wait for a change.
    changed: Condvar,
    /// Counts the changes that a thread may wait for. Changes only while `state` is locked.
    nchanges: AtomicU64,
    /// Whether there is something to read, or was.
    is_used: AtomicBool,
    /// Whether no buffer is free: lanes take what there is.
    is_full: AtomicBool,
    /// Number of bytes that were hashed, or need no hashing.
    nused: AtomicU64,
}

struct State<Q> {
    disks: Vec<Disk<Q>>,
    /// Number of threads that wait for a change.
    nwaiting: usize,
    /// Since when no buffer is free, and the number of used bytes then.
    full: Option<(Instant, u64)>,
    /// Whether a reader looks for a free buffer again and again.
    is_polled: bool,
    is_over: bool,
}

struct Disk<Q> {
    device: Device,
    /// Number of readers at work.
    nreading: usize,
    queue: Q,
}

impl<Q: Queue> Readers<Q> {
    /// Under a limit on the bytes read in a second, little is read ahead.
    pub(crate) fn new(options: &Options) -> Readers<Q> {
        Readers::with(if options.is_limited() { LEAST_AHEAD_NBYTES } else { AHEAD_NBYTES })
    }

    pub(crate) fn with(ahead_nbytes: u64) -> Readers<Q> {
        let state = State { disks: Vec::new(), nwaiting: 0, full: None, is_polled: false, is_over: false };
        Readers {
            buffers: Arena::new((ahead_nbytes / PART_NBYTES) as usize),
            state: Mutex::new(state),
            work: Condvar::new(),
            changed: Condvar::new(),
            nchanges: AtomicU64::new(0),
            is_used: AtomicBool::new(false),
            is_full: AtomicBool::new(false),
            nused: AtomicU64::new(0),
        }
    }

    /// Starts the readers, each of which calls `work`. Without any, the threads that hash read.
    pub(crate) fn start<'scope>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        work: impl Fn() + Send + Copy + 'scope,
    ) -> Vec<ScopedJoinHandle<'scope, ()>> {
        let start = |number| {
            let builder = Builder::new().name(format!("hashloom-read-{number}"));
            builder.spawn_scoped(scope, work).ok()
        };
        let readers: Vec<_> = (0..nreaders()).map_while(start).collect();
        if readers.is_empty() {
            self.end();
        }
        readers
    }

    /// Changes the queue of a disk. `None` if nothing is read any more.
    pub(crate) fn change<R>(&self, device: Device, change: impl FnOnce(&mut Q) -> R) -> Option<R> {
        let mut state = lock(&self.state);
        if state.is_over {
            return None;
        }
        let at = state.disks.iter().position(|disk| disk.device == device).unwrap_or_else(|| {
            state.disks.push(Disk { device, nreading: 0, queue: Q::default() });
            state.disks.len() - 1
        });
        let result = change(&mut state.disks[at].queue);
        self.is_used.store(true, Ordering::Release);
        self.work.notify_all();
        Some(result)
    }

    /// Whether `is` holds for the queue of a disk; the others are not asked.
    pub(crate) fn any(&self, is: impl FnMut(&mut Q) -> bool) -> bool {
        lock(&self.state).disks.iter_mut().map(|disk| &mut disk.queue).any(is)
    }

    /// Tells waiting threads of a change.
    pub(crate) fn wake_all(&self) {
        let state = lock(&self.state);
        self.tell(&state);
    }

    /// Whether there is something to read, or was.
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    /// Whether no buffer is free.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Notes that bytes need no more reading.
    pub(crate) fn used(&self, nbytes: u64) {
        self.nused.fetch_add(nbytes, Ordering::Relaxed);
    }

    /// The number of changes so far, for [`Readers::wait`].
    pub(crate) fn nchanges(&self) -> u64 {
        self.nchanges.load(Ordering::Acquire)
    }

    /// Waits until something has changed since `nchanges`, or for a moment.
    pub(crate) fn wait(&self, nchanges: u64) {
        let mut state = lock(&self.state);
        if self.nchanges() == nchanges {
            state.nwaiting += 1;
            state = self.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            state.nwaiting -= 1;
        }
    }

    /// Tells waiting threads of a change. The system is only called if there are some.
    fn tell(&self, state: &State<Q>) {
        self.nchanges.fetch_add(1, Ordering::Release);
        if state.nwaiting > 0 {
            self.changed.notify_all();
        }
    }

    /// Ends all readers. What is not read is left to the threads that hash.
    pub(crate) fn end(&self) {
        let mut state = lock(&self.state);
        state.is_over = true;
        state.disks.iter_mut().for_each(|disk| disk.queue.give_up());
        // Readers start when there is something to read.
        if self.is_used() {
            self.work.notify_all();
        }
        self.tell(&state);
    }

    /// Works off tasks until the end. `read` returns what is then noted in the disk's queue, and that returns true if
    /// waiting threads should be told.
    pub(crate) fn work<F: FnOnce(&mut Q) -> bool>(&self, pool: &Pool, mut read: impl FnMut(Q::Task) -> F) {
        pool.catch(|| {
            while let Some((disk, task)) = self.next(pool) {
                let note = read(task);
                let mut state = lock(&self.state);
                let disk = &mut state.disks[disk];
                disk.nreading -= 1;
                if note(&mut disk.queue) {
                    self.tell(&state);
                }
            }
        });
        self.end();
    }

    /// The next task and its disk. Waits for it; `None` at the end.
    fn next(&self, pool: &Pool) -> Option<(usize, Q::Task)> {
        let mut state = lock(&self.state);
        while !state.is_over && !pool.must_stop() {
            let nidle = READERS - state.disks.iter().map(|disk| disk.nreading).sum::<usize>();
            let is_free = |disk: &Disk<Q>| {
                let most = if nidle > SPARE_READERS { Q::nreaders(disk.device) } else { 1 };
                disk.nreading < most && disk.queue.is_waiting()
            };
            let disks = state.disks.iter().enumerate().filter(|(_, disk)| is_free(disk));
            let next = disks.min_by_key(|(_, disk)| disk.nreading).map(|(index, _)| index);
            let time = match next {
                Some(index) => match self.buffers.take() {
                    Some(buffer) => {
                        if self.is_full.swap(false, Ordering::Relaxed) {
                            self.work.notify_all();
                        }
                        state.full = None;
                        let disk = &mut state.disks[index];
                        if let Some(task) = disk.queue.next(disk.device, buffer) {
                            disk.nreading += 1;
                            return Some((index, task));
                        }
                        self.tell(&state);
                        continue;
                    }
                    // Without memory there is nothing to wait for.
                    None if !self.buffers.has_memory() => return None,
                    None => {
                        if !self.is_full.swap(true, Ordering::Relaxed) {
                            self.tell(&state);
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

    /// Leaves everything to the threads that hash if no buffer becomes free.
    fn give_up_if_stuck(&self, state: &mut State<Q>) {
        let nused = self.nused.load(Ordering::Relaxed);
        let (since, _) = *state.full.get_or_insert_with(|| (Instant::now(), nused));
        let is_busy = state.disks.iter().any(|disk| disk.nreading > 0);
        if state.full != Some((since, nused)) || is_busy {
            state.full = None;
        } else if since.elapsed() > PATIENCE && state.nwaiting > 0 {
            state.full = None;
            state.disks.iter_mut().for_each(|disk| disk.queue.give_up());
            self.tell(state);
        }
    }
}
