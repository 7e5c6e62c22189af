// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files that are not in memory are read by readers: on a disk that seeks all of them, in the order of their inodes,
//! and on other disks long ones.
//!
//! A hard disk moves its heads for each file that is read beside another one, and waits while a thread hashes. Once a
//! file on such a disk is found not to be in memory, requests are looked at before their files are opened. Those for
//! such a disk are parked, many at a time. [Readers] open them in the order of the inodes, which is about that of the
//! places on the disk, and read ahead of the threads that hash: short files whole, a long one in parts, which several
//! readers may read. Where it costs little, they open them in the order of the requests, in which results are handed
//! out. A thread takes the files whose bytes have come.
//!
//! What readers cannot read whole is left to the threads, which find out why: a file that fails or is no regular file
//! any more is begun again by a thread, and the rest of a long file is read by its lane.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::File;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::Lane;
use super::links::Links;
use super::whole::Input;
use crate::files::request::Request;
use crate::lanes::{ALL, Fetched, Part, Tasks, read_part};
use crate::read::ahead::read_ahead;
use crate::read::buffer::{Arena, Buffer};
use crate::read::device::{self, Device, LONG_NBYTES, SEEK_TIME};
use crate::read::direct::{ALIGNMENT, Direct, is_cold};
use crate::read::open::{is_in_memory, open_max};
use crate::read::readers::{Queue, Readers, SHORT_MAX, SHORT_NBYTES, nreaders};
use crate::read::stamp::Stamp;
use crate::run::pool::Pool;
use crate::run::{Options, lock};

/// After this many files in a row that were in memory, or on another disk, requests are no longer parked.
const ENOUGH: usize = 64;

/// Largest number of requests that are parked, or whose files are read and not taken.
const PARKED_MAX: usize = 1 << 14;

/// The time for which requests are gathered before the readers get them, so that many are sorted.
const GATHERING: Duration = Duration::from_millis(50);

/// Files this long are read out of inode order: the seek is less than a tenth of the read.
const FAR_NBYTES: u64 = 16 << 20;

/// After this time the earliest request comes next, wherever its file is: its result is waited for.
const TURN: Duration = Duration::from_secs(1);

/// Largest number of files that a reader opens at once on a device that hides what it is: see [`Device::part_nbytes`].
const FEW: usize = 8;

/// The disks, and the requests for them.
pub(super) struct Disks {
    readers: Readers<Parked>,
    /// The disk of a file of this length that readers should read from an offset on.
    device_of: fn(&File, u64, u64) -> Option<Device>,
    /// The disks that seek, by the system's number.
    known: Mutex<HashMap<u64, Device>>,
    /// Files with several names.
    pub(super) links: Arc<Links>,
    /// Files whose bytes have come, at least the first.
    fetched: Mutex<VecDeque<Lane>>,
    /// Requests that a thread opens alone, neither in a ring nor by readers: pipes, files that changed while they were
    /// read, other names of a file, and what readers could not read.
    alone: Mutex<VecDeque<Lane>>,
    /// Number of requests that are parked, being begun, or in one of these lists.
    nheld: AtomicUsize,
    /// Number of files for which requests are still parked; 0 until a file on such a disk is found.
    nwatched: AtomicUsize,
    /// Whether readers may read: there is room for them, and they have not ended.
    readers_run: AtomicBool,
}

/// A request that is to be parked.
pub(super) struct ToPark {
    pub(super) device: Device,
    pub(super) inode: u64,
    pub(super) nbytes: u64,
    pub(super) number: u64,
    pub(super) request: Request,
}

/// What is to be read from a disk.
pub(super) struct Parked {
    /// Requests, each with its file's length, by inode and number.
    requests: BTreeMap<(u64, u64), (u64, Request)>,
    /// The inode and number of the request that was taken last.
    last: (u64, u64),
    /// The time at which the earliest request was taken last.
    turned: Instant,
    /// Long files that were begun.
    long: VecDeque<Long>,
    /// Whether a reader opens a file that is probably long. The others wait, as they are to read on in it.
    is_opening: bool,
    /// Largest number of files that a reader opens at once: all readers together as many as all threads.
    open_max: usize,
    /// Whether the disk seeks. Otherwise requests are of long files, and stay parked whatever the threads find.
    seeks: bool,
    is_given_up: bool,
}

/// A long file that readers read on in.
struct Long {
    /// The request's number, which no other file of the run has.
    number: u64,
    file: Arc<File>,
    fetched: Arc<Fetched>,
    nbytes: u64,
    /// End of the parts that readers have taken, the first at the beginning.
    next: u64,
    tasks: Tasks,
}

/// The work of a reader.
pub(super) enum Task {
    /// Files to begin: one, or several short ones that follow one another.
    Begin { device: Device, requests: Vec<(u64, Request)>, is_long: bool, buffer: Buffer },
    /// A part of a long file, with the number of its request and that of the task.
    GoOn { number: (u64, u64), file: Arc<File>, fetched: Arc<Fetched>, range: Range<u64>, buffer: Buffer },
}

/// A file that a reader has opened.
struct Opened {
    number: u64,
    lane: Lane,
    file: Arc<File>,
    stamp: Stamp,
    /// For a file of several parts.
    fetched: Option<Arc<Fetched>>,
}

impl Disks {
    pub(super) fn new(options: &Options) -> Disks {
        Disks::with(device_of_cold, Readers::new(options))
    }

    fn with(device_of: fn(&File, u64, u64) -> Option<Device>, readers: Readers<Parked>) -> Disks {
        Disks {
            readers,
            device_of,
            known: Mutex::default(),
            links: Links::new(),
            fetched: Mutex::default(),
            alone: Mutex::default(),
            nheld: AtomicUsize::new(0),
            nwatched: AtomicUsize::new(0),
            readers_run: AtomicBool::new(nreaders() > 0),
        }
    }

    pub(super) fn readers(&self) -> &Readers<Parked> {
        &self.readers
    }

    /// Whether the last files were on a disk that seeks: the next files are looked at one by one.
    pub(super) fn are_watched(&self) -> bool {
        self.nwatched.load(Ordering::Relaxed) > 0
    }

    /// Watches the next files one by one if a disk may have moved its heads for each of `count` short files, which were
    /// opened and read at once in this time, and no disk that seeks is known yet.
    pub(super) fn watch_if_slow(&self, count: usize, time: Duration) {
        if time >= SEEK_TIME * count as u32 && lock(&self.known).is_empty() {
            self.watch();
        }
    }

    fn watch(&self) {
        if self.readers_run.load(Ordering::Relaxed) {
            self.nwatched.store(ENOUGH, Ordering::Relaxed);
        }
    }

    /// The disk of a file that readers should read from `offset` on. A disk that seeks is known from then on.
    pub(super) fn device_for_readers(&self, file: &File, offset: u64, stamp: &Stamp) -> Option<Device> {
        let readers_run = self.readers_run.load(Ordering::Relaxed) && stamp.nbytes > 0;
        let device = if readers_run { (self.device_of)(file, offset, stamp.nbytes) } else { None };
        match device {
            Some(device) if device.seeks() => {
                lock(&self.known).insert(stamp.dev, device);
                self.watch();
            }
            _ => {
                let _ = self.nwatched.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            }
        }
        device
    }

    /// Gathers a request for a disk that seeks. Others come back.
    pub(super) fn gather(&self, number: u64, request: Request, gathered: &mut Vec<ToPark>) -> Option<(u64, Request)> {
        let metadata = request.source.path().and_then(|path| path.metadata().ok());
        let place = metadata.filter(|metadata| metadata.is_file()).and_then(|metadata| place(&metadata));
        let found = place.and_then(|(disk, inode, nbytes)| Some((*lock(&self.known).get(&disk)?, inode, nbytes)));
        let Some((device, inode, nbytes)) = found else { return Some((number, request)) };
        gathered.push(ToPark { device, inode, nbytes, number, request });
        None
    }

    /// Whether requests should be gathered on.
    pub(super) fn may_gather(&self, gathered: &[ToPark], since: Instant) -> bool {
        gathered.len() + self.nheld.load(Ordering::Relaxed) < PARKED_MAX
            && since.elapsed() < GATHERING
            && lock(&self.fetched).is_empty()
    }

    /// Whether there is room for another request.
    pub(super) fn has_room(&self) -> bool {
        self.nheld.load(Ordering::Relaxed) < PARKED_MAX
    }

    /// Parks requests.
    pub(super) fn park(&self, gathered: &mut Vec<ToPark>) {
        let Some(first) = gathered.first() else { return };
        let mut device = first.device;
        self.nheld.fetch_add(gathered.len(), Ordering::Relaxed);
        let mut found = gathered.drain(..).peekable();
        while found.peek().is_some() {
            let parked = self.readers.change(device, |parked| {
                parked.seeks = device.seeks();
                while let Some(ToPark { inode, nbytes, number, request, .. }) = found.next_if(|it| it.device == device)
                {
                    // Where heads need not move, files come in the order of the requests.
                    let inode = if device.seeks() { inode } else { 0 };
                    parked.requests.insert((inode, number), (nbytes, request));
                }
            });
            if parked.is_none() {
                // The readers have ended.
                self.readers_run.store(false, Ordering::Relaxed);
                self.nwatched.store(0, Ordering::Relaxed);
                lock(&self.alone).extend(found.by_ref().map(|found| Lane::of(found.number, found.request)));
            }
            device = found.peek().map_or(device, |found| found.device);
        }
    }

    /// Whether a thread would get something from [`Disks::next_fetched`] or, if it may open more files, from
    /// [`Disks::next_alone`] or [`Disks::next_abandoned`].
    pub(super) fn has_next(&self, may_open: bool) -> bool {
        let is_watched = self.are_watched();
        self.is_busy()
            && (!lock(&self.fetched).is_empty()
                || may_open && (!lock(&self.alone).is_empty() || self.readers.any(|parked| parked.is_left(is_watched))))
    }

    /// Whether requests wait for their disks.
    pub(super) fn is_busy(&self) -> bool {
        self.nheld.load(Ordering::Relaxed) > 0
    }

    /// A file whose bytes have come.
    pub(super) fn next_fetched(&self) -> Option<Lane> {
        self.take_from(&self.fetched)
    }

    /// A request whose file a thread opens alone.
    pub(super) fn next_alone(&self) -> Option<Lane> {
        self.take_from(&self.alone)
    }

    fn take_from(&self, list: &Mutex<VecDeque<Lane>>) -> Option<Lane> {
        let lane = if self.is_busy() { lock(list).pop_front() } else { None };
        lane.inspect(|_| _ = self.nheld.fetch_sub(1, Ordering::Relaxed))
    }

    /// Adds requests whose files a thread opens alone.
    pub(super) fn add_alone(&self, lanes: impl Iterator<Item = Lane>) {
        let mut alone = lock(&self.alone);
        let nbefore = alone.len();
        alone.extend(lanes);
        let nadded = alone.len() - nbefore;
        if nadded > 0 {
            self.nheld.fetch_add(nadded, Ordering::Relaxed);
            drop(alone);
            self.readers.wake_all();
        }
    }

    /// At most `most` parked requests that readers will not read. While such disks are watched, their files are opened
    /// alone, so that they are not parked again.
    pub(super) fn next_abandoned(&self, most: usize) -> Vec<(u64, Request)> {
        let mut taken = Vec::new();
        if !self.is_busy() {
            return taken;
        }
        let is_watched = self.are_watched();
        self.readers.any(|parked| {
            if parked.is_left(is_watched) {
                let requests = std::iter::from_fn(|| parked.requests.pop_first());
                let requests = requests.map(|((_, number), (_, request))| (number, request));
                taken.extend(requests.take(most - taken.len()));
            }
            taken.len() == most
        });
        self.nheld.fetch_sub(taken.len(), Ordering::Relaxed);
        if is_watched {
            self.add_alone(taken.drain(..).map(|(number, request)| Lane::of(number, request)));
        }
        taken
    }

    /// Reads until the end. Each reader runs on a thread of its own.
    pub(super) fn read(&self, options: &Options, pool: &Pool) {
        let mut direct = Direct::default();
        self.readers.work(pool, |task| {
            let finished = match task {
                Task::Begin { device, requests, is_long, buffer } => {
                    let opened = requests.into_iter().filter_map(|request| self.open(options, device, request));
                    let opened: Vec<_> = opened.collect();
                    let long: Vec<_> = opened.iter().filter_map(|opened| Long::new(opened, device)).collect();
                    let finished = long.iter().map(|long| (long.number, 0)).collect();
                    if is_long || !long.is_empty() {
                        self.readers.change(device, |parked| {
                            parked.is_opening &= !is_long;
                            parked.long.extend(long);
                        });
                    }
                    self.begin(&mut direct, device, opened, buffer);
                    finished
                }
                Task::GoOn { number, file, fetched, range, mut buffer } => {
                    let start = read_part(&mut direct, number.0, &file, range.clone(), false, buffer.bytes_mut());
                    if let Some(start) = start {
                        fetched.add(Part::new(range, start, &Arc::new(buffer)), 0);
                    }
                    vec![number]
                }
            };
            move |parked| {
                finished.into_iter().for_each(|(number, task)| parked.finish(number, task));
                true
            }
        });
    }

    /// Reads the beginnings of files, one after the other, and hands their lanes to the threads.
    fn begin(&self, direct: &mut Direct<u64>, device: Device, opened: Vec<Opened>, mut buffer: Buffer) {
        if device.takes_many() && opened.len() > 1 {
            opened.iter().for_each(|opened| _ = read_ahead(&opened.file, 0..opened.stamp.nbytes));
        }
        let (mut filled, mut places) = (0, Vec::with_capacity(opened.len()));
        for Opened { number, file, stamp, .. } in &opened {
            let (range, is_short) = (0..stamp.nbytes.min(device.part_nbytes()), stamp.nbytes < SHORT_NBYTES);
            let room = &mut buffer.bytes_mut()[filled..];
            let start = read_part(direct, *number, file, range.clone(), is_short, room).map(|skip| filled + skip);
            if let Some(start) = start {
                let end = start + range.end as usize;
                filled = end.next_multiple_of(ALIGNMENT).min(Arena::BUFFER_NBYTES);
            }
            places.push((range, start));
        }
        let buffer = Arc::new(buffer);
        for (Opened { mut lane, file, stamp, fetched, .. }, (range, start)) in opened.into_iter().zip(places) {
            let part = start.map(|start| Part::new(range, start, &buffer));
            match (fetched, part) {
                (Some(fetched), part) => {
                    part.into_iter().for_each(|part| fetched.add(part, 0));
                    lane.message.fetched = Some(fetched);
                }
                (None, Some(part)) => lane.message.input = Input::Read(part, stamp.judge(&file, stamp.nbytes)),
                (None, None) => {
                    self.leave_to_threads(lane);
                    continue;
                }
            }
            lock(&self.fetched).push_back(lane);
        }
    }

    /// Opens a file that is to be read. `None` if nothing is to be read, or a thread should do that.
    fn open(&self, options: &Options, device: Device, (number, request): (u64, Request)) -> Option<Opened> {
        let mut lane = Lane::of(number, request);
        lane.open(options);
        let Some((file, stamp)) = lane.message.regular_file() else {
            self.leave_to_threads(lane);
            return None;
        };
        // A long file in memory is read by the thread that hashes it.
        if self.device_for_readers(&file, 0, &stamp).is_none() && stamp.nbytes >= SHORT_NBYTES {
            self.leave_to_threads(lane);
            return None;
        }
        let Some(lane) = self.links.join(lane) else {
            self.nheld.fetch_sub(1, Ordering::Relaxed);
            return None;
        };
        if lane.is_known() {
            lock(&self.fetched).push_back(lane);
            return None;
        }
        let fetched = (stamp.nbytes > device.part_nbytes()).then(|| Arc::new(Fetched::new(0)));
        Some(Opened { number, lane, file, stamp, fetched })
    }

    /// Has a thread open the file of a request that readers cannot read.
    fn leave_to_threads(&self, lane: Lane) {
        let (number, request) = lane.message.into_request();
        lock(&self.alone).push_back(Lane::of(number, request));
    }
}

impl Default for Parked {
    fn default() -> Parked {
        let open_max = (open_max() / nreaders().max(1)).clamp(1, SHORT_MAX);
        Parked {
            requests: BTreeMap::new(),
            last: (0, 0),
            turned: Instant::now(),
            long: VecDeque::new(),
            is_opening: false,
            open_max,
            seeks: true,
            is_given_up: false,
        }
    }
}

impl Queue for Parked {
    type Task = Task;

    fn is_waiting(&self) -> bool {
        !self.is_given_up && !self.is_opening && (!self.requests.is_empty() || self.long.iter().any(Long::goes_on))
    }

    fn next(&mut self, device: Device, buffer: Buffer) -> Option<Task> {
        if let Some(long) = self.long.iter_mut().filter(|long| long.goes_on()).min_by_key(|long| long.number) {
            let range = long.next..long.nbytes.min(long.next + device.part_nbytes());
            long.next = range.end;
            let number = (long.number, long.tasks.begin(range.end));
            return Some(Task::GoOn { number, file: long.file.clone(), fetched: long.fetched.clone(), range, buffer });
        }
        let mut room = device.part_nbytes();
        let most = if device.takes_many() { self.open_max } else { self.open_max.min(FEW) };
        let mut requests = Vec::new();
        self.take_turn(device);
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
            if nbytes >= SHORT_NBYTES.min(device.part_nbytes()) {
                self.is_opening = nbytes > device.part_nbytes();
                break;
            }
        }
        let is_long = self.is_opening;
        (!requests.is_empty()).then_some(Task::Begin { device, requests, is_long, buffer })
    }

    fn give_up(&mut self) {
        self.is_given_up = true;
        self.long.drain(..).for_each(|long| long.fetched.pass(ALL));
    }
}

impl Long {
    /// A file whose first part is being read, if there are others.
    fn new(Opened { number, file, stamp, fetched, .. }: &Opened, device: Device) -> Option<Long> {
        let (mut tasks, next) = (Tasks::default(), device.part_nbytes());
        tasks.begin(next);
        let (file, fetched) = (file.clone(), fetched.clone()?);
        Some(Long { number: *number, file, fetched, nbytes: stamp.nbytes, next, tasks })
    }

    /// Whether there is another part to read.
    fn goes_on(&self) -> bool {
        self.next < self.nbytes
    }
}

impl Parked {
    /// Has the earliest request come next if that costs little: its result is the one that is waited for.
    fn take_turn(&mut self, device: Device) {
        let earliest = if device.seeks() {
            self.requests.iter().min_by_key(|((_, number), _)| *number)
        } else {
            self.requests.iter().next()
        };
        let Some((&key, &(nbytes, _))) = earliest else { return };
        if !device.seeks() || nbytes >= FAR_NBYTES || self.turned.elapsed() >= TURN {
            (self.last, self.turned) = (key, Instant::now());
        }
    }

    /// Notes that a part of a long file was read, or is left to its lane.
    fn finish(&mut self, number: u64, task: u64) {
        // After the end nobody looks any more.
        let Some(at) = self.long.iter().position(|long| long.number == number) else { return };
        let long = &mut self.long[at];
        let passed = long.tasks.finish(task);
        if !long.goes_on() && long.tasks.are_done() {
            long.fetched.pass(ALL);
            self.long.remove(at);
        } else if let Some(end) = passed {
            long.fetched.pass(end);
        }
    }

    /// Whether the requests are left to the threads.
    fn is_left(&self, are_watched: bool) -> bool {
        !self.requests.is_empty() && (self.is_given_up || self.seeks && !are_watched)
    }
}

/// The device of a file of `nbytes` bytes that is not in memory from `offset` on, if the disk seeks or the file is
/// long.
fn device_of_cold(file: &File, offset: u64, nbytes: u64) -> Option<Device> {
    let is_long = nbytes >= LONG_NBYTES;
    // What was read before may have brought some more.
    let is_cold = !is_in_memory(file, offset) || is_long && is_cold(file, &(0..nbytes));
    is_cold.then(|| device::of(file)).filter(|device| is_long || device.seeks())
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

#[cfg(all(test, unix))]
mod tests {
    use hashloom::{Algorithm, hash};

    use super::*;
    use crate::files::batch::run_with;
    use crate::read::readers::PART_NBYTES;
    use crate::run::Cancel;

    fn request(name: &str) -> Request {
        Request::digest(name, Algorithm::Sha1)
    }

    /// All files are read by readers.
    fn device(_file: &File, _offset: u64, _nbytes: u64) -> Option<Device> {
        Some(Device::DISK)
    }

    fn hidden(_file: &File, _offset: u64, _nbytes: u64) -> Option<Device> {
        Some(Device::HIDDEN)
    }

    fn disks(device_of: fn(&File, u64, u64) -> Option<Device>, nbuffers: u64) -> Disks {
        Disks::with(device_of, Readers::with(nbuffers * PART_NBYTES))
    }

    /// Requests with these inodes and lengths.
    fn parked(files: &[(u64, u64)]) -> Parked {
        let mut parked = Parked::default();
        for (number, &(inode, nbytes)) in files.iter().enumerate() {
            parked.requests.insert((inode, number as u64), (nbytes, request("a")));
        }
        parked
    }

    /// The numbers of the requests that a reader begins next.
    fn begun(parked: &mut Parked) -> Vec<u64> {
        match parked.next(Device::DISK, Arena::new(1).take().unwrap()) {
            Some(Task::Begin { requests, .. }) => requests.into_iter().map(|(number, _)| number).collect(),
            Some(Task::GoOn { .. }) => panic!("no long file is begun"),
            None => Vec::new(),
        }
    }

    #[test]
    fn parked_requests_come_in_the_order_of_inodes() {
        let mut files = parked(&[(30, 9), (10, 9), (20, 9), (10, 9)]);
        files.last = (15, 0);
        assert!(files.is_waiting());
        assert_eq!((begun(&mut files), begun(&mut files)), (vec![2, 0, 1, 3], vec![]));
        assert!(!files.is_waiting());
        // Once in a while, or if its file is very long, the earliest comes first.
        let mut files = parked(&[(30, 9), (10, SHORT_NBYTES), (40, SHORT_NBYTES)]);
        files.turned -= TURN;
        assert_eq!([begun(&mut files), begun(&mut files), begun(&mut files)], [[0], [2], [1]]);
        let mut files = parked(&[(30, FAR_NBYTES), (20, FAR_NBYTES), (10, SHORT_NBYTES)]);
        assert_eq!([begun(&mut files), begun(&mut files), begun(&mut files)], [[0], [1], [2]]);
        let mut files = parked(&[(1, 9), (2, SHORT_NBYTES), (3, 9), (4, PART_NBYTES + 1), (5, 9)]);
        assert_eq!([begun(&mut files), begun(&mut files), begun(&mut files), begun(&mut files)], [[0], [1], [2], [3]]);
        assert!(!files.is_waiting(), "others are to read on in a long file");
        let mut files = parked(&[(1, SHORT_NBYTES - 1); 5]);
        assert_eq!(
            (begun(&mut files), begun(&mut files)),
            (vec![0, 1, 2, 3], vec![4]),
            "as many as a buffer has room for"
        );
    }

    #[test]
    fn requests_stay_parked_only_while_files_are_not_in_memory() {
        let disks = Disks::new(&Options::new());
        let file = tempfile::tempfile().unwrap();
        file.set_len(PART_NBYTES).unwrap();
        std::io::copy(&mut &file, &mut std::io::sink()).unwrap();
        let stamp = Stamp::of_file(&file).unwrap().unwrap();
        assert!(disks.device_for_readers(&file, 0, &stamp).is_none() && !disks.are_watched());
        disks.watch();
        (0..ENOUGH).for_each(|_| assert!(disks.are_watched() && disks.device_for_readers(&file, 0, &stamp).is_none()));
        assert!(!disks.are_watched());
        disks.readers.change(Device::DISK, |files| *files = parked(&[(2, 9), (1, 9), (3, 9)]));
        disks.nheld.store(3, Ordering::Relaxed);
        let numbers = |most| disks.next_abandoned(most).into_iter().map(|(number, _)| number).collect::<Vec<_>>();
        assert!(disks.has_next(true));
        assert_eq!((numbers(2), numbers(2), numbers(2)), (vec![1, 0], vec![2], vec![]));
        assert!(!disks.is_busy() && !disks.has_next(true));
    }

    #[test]
    fn a_long_file_stays_parked_where_nothing_seeks() {
        let disks = disks(device, 1);
        let (device, request) = (Device::FLASH, request("a"));
        disks.park(&mut vec![ToPark { device, inode: 1, nbytes: LONG_NBYTES, number: 0, request }]);
        assert!(!disks.are_watched() && disks.is_busy() && !disks.has_next(true));
        assert!(disks.next_abandoned(9).is_empty());
    }

    #[test]
    fn only_files_on_known_disks_are_parked() {
        let disks = disks(device, 1);
        let file = tempfile::NamedTempFile::new().unwrap();
        let name = file.path().to_str().unwrap();
        let mut gathered = Vec::new();
        assert!(disks.gather(0, request(name), &mut gathered).is_some(), "the disk is not known");
        file.as_file().set_len(9).unwrap();
        let stamp = Stamp::of_file(file.as_file()).unwrap().unwrap();
        assert!(disks.device_for_readers(file.as_file(), 0, &stamp).is_some());
        assert!(disks.gather(1, request("/no/such/file"), &mut gathered).is_some());
        assert!(disks.gather(2, request("/"), &mut gathered).is_some() && gathered.is_empty());
        assert!(disks.gather(3, request(name), &mut gathered).is_none() && gathered.len() == 1);
        disks.park(&mut gathered);
        assert!(disks.is_busy() && gathered.is_empty() && !disks.has_next(true));
        // Where no heads move, the order is that of the requests.
        let to_park = |number, inode| {
            let (device, request) = (Device::FLASH, request(name));
            ToPark { device, inode, nbytes: 9, number, request }
        };
        disks.park(&mut vec![to_park(7, 1), to_park(6, 2)]);
        let mut keys = Vec::new();
        disks.readers.any(|parked| {
            keys.extend(parked.requests.keys().copied());
            false
        });
        assert_eq!(keys[1..], [(0, 6), (0, 7)]);
        disks.readers.end();
        assert!(disks.has_next(true), "without readers the threads read");
        assert!(disks.gather(4, request(name), &mut gathered).is_none() && gathered.len() == 1);
        disks.park(&mut gathered);
        assert!(!disks.are_watched());
        // A request that no reader had is taken apart from a request that a reader has left.
        assert!(disks.next_alone().is_some() && disks.next_alone().is_none());
        assert_eq!(disks.next_abandoned(9).len(), 3);
        assert!(!disks.is_busy());
    }

    /// Lengths of files: nothing, short ones, one that fills a part, and long ones.
    const LENGTHS: [u64; 9] = [1, 0, 4096, 100_000, PART_NBYTES, 3 * PART_NBYTES + 5, 300_000, 7 * PART_NBYTES, 40_000];

    fn bytes_of(file: usize) -> Vec<u8> {
        let byte = |i: u64| ((i.wrapping_mul(i) >> 7) as u8).wrapping_add(file as u8);
        (0..LENGTHS[file % LENGTHS.len()]).map(byte).collect()
    }

    #[test]
    fn what_readers_read_is_hashed() {
        let folder = tempfile::tempdir().unwrap();
        let mut names: Vec<_> = (0..40).map(|file| folder.path().join(file.to_string())).collect();
        let expected: Vec<_> = (0..40).map(|file| hash(Algorithm::Sha1, &bytes_of(file))).collect();
        names.iter().enumerate().for_each(|(file, name)| std::fs::write(name, bytes_of(file)).unwrap());
        // A missing file, a folder, and another name of a file.
        names.extend([folder.path().join("missing"), folder.path().into(), folder.path().join("link")]);
        std::fs::hard_link(&names[5], &names[42]).unwrap();
        for (device_of, nbuffers) in [(device as fn(&File, u64, u64) -> _, 2), (hidden, 1), (hidden, 64)] {
            for nthreads in [1, 3] {
                let disks = disks(device_of, nbuffers);
                let options = Options::new().threads(nthreads);
                let mut requests = names.iter().map(|name| Request::digest(name, Algorithm::Sha1));
                let mut found = Vec::new();
                let summary = run_with(&mut requests, &options, &mut |_, _, result| found.push(result), &disks);
                assert!(summary.nfiles == 41 && summary.nfailed == 2 && !disks.is_busy());
                for (file, result) in found.into_iter().enumerate() {
                    match file {
                        40 | 41 => assert!(result.is_err(), "{file}"),
                        42 => assert_eq!(result.unwrap().digests[0], expected[5]),
                        _ => assert_eq!(result.unwrap().digests[0], expected[file], "{file}"),
                    }
                }
            }
        }
    }

    #[test]
    fn a_cancelled_run_ends_whatever_the_readers_do() {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<_> = (0..4).map(|file| folder.path().join(file.to_string())).collect();
        names.iter().enumerate().for_each(|(file, name)| std::fs::write(name, bytes_of(file)).unwrap());
        let cancel = Cancel::new();
        let options = Options::new().threads(2).cancel(&cancel);
        let mut requests = names.iter().cycle().enumerate().map(|(number, name)| {
            if number == 3000 {
                cancel.cancel();
            }
            Request::digest(name, Algorithm::Sha1)
        });
        assert!(run_with(&mut requests, &options, &mut |_, _, _| {}, &disks(device, 3)).cancelled);
    }
}
