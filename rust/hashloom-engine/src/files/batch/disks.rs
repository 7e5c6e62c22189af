// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files on a disk that seeks are read by readers, in the order of their inodes.
//!
//! A hard disk moves its heads for each file that is read beside another one, and waits while a thread hashes. Once a
//! file on such a disk is found not to be in memory, requests are looked at before their files are opened. Those for
//! such a disk are parked, many at a time. [Readers] open them in the order of the inodes, which is about that of the
//! places on the disk, and read ahead of the threads that hash: short files whole, a long one in parts, which several
//! readers may read. A thread takes the files whose bytes have come.
//!
//! What readers cannot read whole is left to the threads, which find out why: a file that fails or is no regular file
//! any more is begun again by a thread, and the rest of a long file is read by its lane.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::time::{Duration, Instant};

use super::fetched::{Fetched, Part};
use super::lane::Lane;
use super::links::Links;
use super::lock;
use crate::files::request::Request;
use crate::paths;
use crate::read::ahead::read_ahead;
use crate::read::buffer::Buffer;
use crate::read::device::{self, Device, SEEK_TIME};
use crate::read::direct::{ALIGNMENT, Direct};
use crate::read::open::{Residence, is_in_memory, open_max, residence};
use crate::read::readers::{PART_NBYTES, Queue, Readers, SHORT_MAX, SHORT_NBYTES, nreaders};
use crate::run::Options;
use crate::run::pool::Pool;

/// After this many files in a row that were in memory, or on another disk, requests are no longer parked.
const ENOUGH: usize = 64;

/// Largest number of requests that are parked, or whose files are read and not taken.
const PARKED_MAX: usize = 1 << 14;

/// The time for which requests are gathered before the readers get them, so that many are sorted.
const GATHERING: Duration = Duration::from_millis(50);

/// The disks that seek, and the requests for them.
pub(super) struct Disks<T> {
    readers: Readers<Parked<T>>,
    /// The disks, by their number.
    known: Mutex<HashMap<u64, Device>>,
    links: Arc<Links<T>>,
    /// Files whose bytes have come, at least the first.
    fetched: Mutex<VecDeque<Lane<T>>>,
    /// Requests that readers leave to the threads.
    left: Mutex<Vec<(u64, Request<T>)>>,
    /// Number of requests that are parked, being begun, or in one of these lists.
    nheld: AtomicUsize,
    /// Number of files for which requests are still parked; 0 until a file on such a disk is found.
    nwatched: AtomicUsize,
    /// Whether readers may read: there is room for them, and they have not ended.
    is_served: AtomicBool,
    started: Once,
}

/// A request that is to be parked.
pub(super) struct Found<T> {
    device: Device,
    inode: u64,
    nbytes: u64,
    number: u64,
    request: Request<T>,
}

/// What is to be read from a disk.
pub(super) struct Parked<T> {
    /// Requests, each with its file's length, by inode and number.
    requests: BTreeMap<(u64, u64), (u64, Request<T>)>,
    /// The inode and number of the request that was taken last.
    last: (u64, u64),
    /// Long files that were begun.
    long: VecDeque<Arc<Fetched>>,
    /// Whether a reader opens a file that is probably long. The others wait, as they are to read on in it.
    is_opening: bool,
    is_given_up: bool,
}

/// The work of a reader.
pub(super) enum Task<T> {
    /// Files to begin: one, or several short ones that follow one another.
    Begin { device: Device, requests: Vec<(u64, Request<T>)>, buffer: Buffer },
    /// The part of a long file that begins at this offset.
    GoOn { file: Arc<Fetched>, offset: u64, buffer: Buffer },
}

impl<T: Send> Disks<T> {
    pub(super) fn new(links: &Arc<Links<T>>, options: &Options) -> Disks<T> {
        Disks {
            readers: Readers::new(options),
            known: Mutex::default(),
            links: Arc::clone(links),
            fetched: Mutex::default(),
            left: Mutex::default(),
            nheld: AtomicUsize::new(0),
            nwatched: AtomicUsize::new(0),
            is_served: AtomicBool::new(nreaders() > 0),
            started: Once::new(),
        }
    }

    pub(super) fn readers(&self) -> &Readers<Parked<T>> {
        &self.readers
    }

    /// Whether the last files were on a disk that seeks: the next files are looked at one by one.
    pub(super) fn are_watched(&self) -> bool {
        self.nwatched.load(Ordering::Relaxed) > 0
    }

    /// Notes the time in which `count` short files were opened and read at once. While no slow disk is known, and a disk
    /// may have moved its heads for each file, the next files are looked at one by one.
    pub(super) fn note_time(&self, count: usize, time: Duration) {
        if time >= SEEK_TIME * count as u32 && lock(&self.known).is_empty() {
            self.watch();
        }
    }

    fn watch(&self) {
        if self.is_served.load(Ordering::Relaxed) {
            self.nwatched.store(ENOUGH, Ordering::Relaxed);
        }
    }

    /// Notes whether readers should read a file from `offset` on, and returns its disk in that case.
    pub(super) fn note(&self, file: &File, offset: u64) -> Option<Device> {
        let is_slow = self.is_served.load(Ordering::Relaxed) && !is_in_memory(file, offset);
        let disk = is_slow.then(|| device::of(file)).filter(|device| device.seeks());
        match disk {
            Some(device) => {
                lock(&self.known).insert(device.number(), device);
                self.watch();
            }
            None => {
                let _ = self.nwatched.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            }
        }
        disk
    }

    /// Looks where the file of a request is. Returns the request if it is not to be parked.
    pub(super) fn look(&self, number: u64, request: Request<T>) -> Result<Found<T>, Request<T>> {
        let metadata = request.source.path().and_then(|path| paths::metadata(path).ok());
        let place = metadata.filter(|metadata| metadata.is_file()).and_then(|metadata| place(&metadata));
        let found = place.and_then(|(disk, inode, nbytes)| Some((*lock(&self.known).get(&disk)?, inode, nbytes)));
        match found {
            Some((device, inode, nbytes)) => Ok(Found { device, inode, nbytes, number, request }),
            None => Err(request),
        }
    }

    /// Whether requests should be gathered on.
    pub(super) fn may_gather(&self, gathered: &[Found<T>], since: Instant) -> bool {
        gathered.len() + self.nheld.load(Ordering::Relaxed) < PARKED_MAX
            && since.elapsed() < GATHERING
            && lock(&self.fetched).is_empty()
    }

    /// Whether there is room for another request.
    pub(super) fn has_room(&self) -> bool {
        self.nheld.load(Ordering::Relaxed) < PARKED_MAX
    }

    /// Parks requests. `start` starts the readers.
    pub(super) fn park(&self, gathered: &mut Vec<Found<T>>, start: impl FnOnce()) {
        let Some(first) = gathered.first() else { return };
        let mut device = first.device;
        self.started.call_once(start);
        self.nheld.fetch_add(gathered.len(), Ordering::Relaxed);
        let mut found = gathered.drain(..).peekable();
        while found.peek().is_some() {
            let parked = self.readers.change(device, |parked| {
                while let Some(Found { inode, nbytes, number, request, .. }) = found.next_if(|it| it.device == device) {
                    parked.requests.insert((inode, number), (nbytes, request));
                }
            });
            if parked.is_none() {
                // The readers have ended.
                self.is_served.store(false, Ordering::Relaxed);
                self.nwatched.store(0, Ordering::Relaxed);
                lock(&self.left).extend(found.by_ref().map(|found| (found.number, found.request)));
            }
            device = found.peek().map_or(device, |found| found.device);
        }
    }

    /// Whether a thread would get something from [`Disks::take`] or [`Disks::take_left`].
    pub(super) fn has_some(&self) -> bool {
        let is_watched = self.are_watched();
        self.is_busy()
            && (!lock(&self.fetched).is_empty()
                || !lock(&self.left).is_empty()
                || self.readers.any(|parked| parked.is_left(is_watched)))
    }

    /// Whether requests wait for their disks.
    pub(super) fn is_busy(&self) -> bool {
        self.nheld.load(Ordering::Relaxed) > 0
    }

    /// Takes a file whose bytes have come.
    pub(super) fn take(&self) -> Option<Lane<T>> {
        if !self.is_busy() {
            return None;
        }
        let lane = lock(&self.fetched).pop_front()?;
        self.nheld.fetch_sub(1, Ordering::Relaxed);
        Some(lane)
    }

    /// Takes at most `most` requests that the threads should begin.
    pub(super) fn take_left(&self, most: usize) -> Vec<(u64, Request<T>)> {
        if !self.is_busy() {
            return Vec::new();
        }
        let is_watched = self.are_watched();
        let mut left = lock(&self.left);
        let nleft = left.len().min(most);
        let mut taken: Vec<_> = left.drain(..nleft).collect();
        drop(left);
        self.readers.any(|parked| {
            if parked.is_left(is_watched) {
                let requests = std::iter::from_fn(|| parked.requests.pop_first());
                let requests = requests.map(|((_, number), (_, request))| (number, request));
                taken.extend(requests.take(most - taken.len()));
            }
            taken.len() == most
        });
        self.nheld.fetch_sub(taken.len(), Ordering::Relaxed);
        taken
    }

    /// Reads until the end. Each reader runs on a thread of its own.
    pub(super) fn read(&self, pool: &Pool) {
        let mut direct = Direct::default();
        self.readers.work(pool, |task| {
            match task {
                Task::Begin { device, requests, buffer } => self.begin(&mut direct, device, requests, buffer),
                Task::GoOn { file, offset, mut buffer } => {
                    let start = file.read(offset, &mut direct, buffer.bytes_mut());
                    file.note(offset, start.map(|start| Part::new(&Arc::new(buffer), start)));
                }
            }
            |_| true
        });
    }

    /// Opens files and reads what the buffer has room for.
    fn begin(
        &self,
        direct: &mut Direct<u64>,
        device: Device,
        requests: Vec<(u64, Request<T>)>,
        mut buffer: Buffer,
    ) {
        let opened: Vec<_> = requests.into_iter().filter_map(|request| self.open(request)).collect();
        if device.takes_many() && opened.len() > 1 {
            for (_, fetched) in &opened {
                fetched.file().inspect(|file| _ = read_ahead(file, 0..fetched.nbytes()));
            }
        }
        let long = opened.first().map(|(_, file)| file).filter(|file| file.nbytes() > PART_NBYTES);
        self.readers.change(device, |parked| {
            parked.is_opening = false;
            parked.long.extend(long.map(Arc::clone));
        });
        let mut filled = 0;
        let mut read = Vec::with_capacity(opened.len());
        for (lane, file) in opened {
            match file.read(0, direct, &mut buffer.bytes_mut()[filled..]) {
                Some(skip) => {
                    let start = filled + skip;
                    let nbytes = file.nbytes().min(PART_NBYTES) as usize;
                    filled = (start + nbytes).next_multiple_of(ALIGNMENT).min(PART_NBYTES as usize);
                    read.push((lane, file, start));
                }
                None => {
                    file.note(0, None);
                    self.leave(lane);
                }
            }
        }
        let buffer = Arc::new(buffer);
        for (mut lane, file, start) in read {
            file.note(0, Some(Part::new(&buffer, start)));
            lane.fetch(file);
            lock(&self.fetched).push_back(lane);
        }
    }

    /// Opens a file that is to be read. `None` if nothing is to be read, or a thread should do that.
    fn open(&self, (number, request): (u64, Request<T>)) -> Option<(Lane<T>, Arc<Fetched>)> {
        let mut lane = Lane::new(number, request);
        lane.open();
        let fetched = lane.regular_file().map(|(file, stamp)| {
            let is_in_memory = self.note(&file, 0).is_none();
            let is_on_disk = stamp.nbytes >= SHORT_NBYTES && residence(&file, 0) == Residence::OnDisk;
            (is_in_memory, Fetched::new(number, file, stamp, is_on_disk))
        });
        let Some((is_in_memory, fetched)) = fetched else {
            self.leave(lane);
            return None;
        };
        // A long file in memory is mapped.
        if is_in_memory && fetched.nbytes() >= SHORT_NBYTES {
            self.leave(lane);
            return None;
        }
        let Some(lane) = self.links.join(lane) else {
            self.nheld.fetch_sub(1, Ordering::Relaxed);
            return None;
        };
        if lane.is_known {
            lock(&self.fetched).push_back(lane);
            return None;
        }
        Some((lane, Arc::new(fetched)))
    }

    /// Leaves a request to the threads.
    fn leave(&self, lane: Lane<T>) {
        lock(&self.left).push(lane.into_request());
    }
}

impl<T> Default for Parked<T> {
    fn default() -> Parked<T> {
        let (requests, long) = (BTreeMap::new(), VecDeque::new());
        Parked { requests, last: (0, 0), long, is_opening: false, is_given_up: false }
    }
}

impl<T: Send> Queue for Parked<T> {
    type Task = Task<T>;

    fn is_waiting(&self) -> bool {
        !self.is_given_up && !self.is_opening && (!self.requests.is_empty() || self.long.iter().any(|file| file.goes_on()))
    }

    fn next(&mut self, device: Device, buffer: Buffer) -> Option<Task<T>> {
        while let Some(file) = self.long.front() {
            if let Some(offset) = file.next_part() {
                return Some(Task::GoOn { file: file.clone(), offset, buffer });
            }
            self.long.pop_front();
        }
        let mut room = PART_NBYTES;
        let mut requests = Vec::new();
        // The readers together have no more files open than the threads.
        let most = (open_max() / nreaders().max(1)).clamp(1, SHORT_MAX);
        while requests.len() < most {
            let next = self.requests.range(self.last..).next().or_else(|| self.requests.first_key_value());
            let Some((&key, &(nbytes, _))) = next else { break };
            let place = nbytes.next_multiple_of(ALIGNMENT as u64);
            if !requests.is_empty() && (nbytes >= SHORT_NBYTES || place > room) {
                break;
            }
            let Some((_, request)) = self.requests.remove(&key) else { break };
            self.last = key;
            requests.push((key.1, request));
            room = room.saturating_sub(place);
            if nbytes >= SHORT_NBYTES {
                self.is_opening = nbytes > PART_NBYTES;
                break;
            }
        }
        (!requests.is_empty()).then_some(Task::Begin { device, requests, buffer })
    }

    fn give_up(&mut self) {
        self.is_given_up = true;
        self.long.drain(..).for_each(|file| file.give_up());
    }
}

impl<T> Parked<T> {
    /// Whether the requests are left to the threads.
    fn is_left(&self, are_watched: bool) -> bool {
        !self.requests.is_empty() && (self.is_given_up || !are_watched)
    }
}

/// The numbers of a file's disk and inode, and the file's length.
#[cfg(unix)]
fn place(metadata: &std::fs::Metadata) -> Option<(u64, u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino(), metadata.len()))
}

#[cfg(not(unix))]
fn place(_metadata: &std::fs::Metadata) -> Option<(u64, u64, u64)> {
    None
}
