// SPDX-License-Identifier: MIT OR Apache-2.0

//! Hashes whole files: each thread has many of them open, reads a chunk of each, and hashes all chunks side by side.
//!
//! In each round of a thread, every open file that is not at its end gets a chunk of the thread's buffer; the rest of
//! the buffer is for new files. Most of the new files end in the same round, whole in the buffer, and are hashed as
//! whole messages. Then all bytes read are hashed at once, and files at their end are handed out, in the order of the
//! requests.
//!
//! When there are no more requests, a thread without work gets half of the open files of a thread that has several. A
//! few long files are thus shared out evenly, whichever thread opened them.

mod disks;
mod links;
mod several;
mod shared;
mod trees;
mod whole;

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use self::disks::{Disks, Parked, ToPark};
use self::shared::SharedFiles;
use self::whole::Whole;
pub(super) use self::whole::may_be_shared;
use super::request::{FileError, Hashed, Request, Summary};
use crate::lanes::{self, CHUNK_MAX_NBYTES, Chunk, Client, Places, State};
use crate::read::buffer::out_of_memory;
use crate::read::open::open_max;
use crate::read::origin::Origin;
use crate::read::readers::Readers;
use crate::read::ring::{FirstRead, Lost, Ring};
use crate::run::pool::Pool;
use crate::run::{LANES, Options, lock, unlocked};

/// A request on its way.
type Lane = lanes::Lane<Whole>;

/// Ends once.
type Requests<'a> = dyn Iterator<Item = Request> + Send + 'a;

/// Gets each request, with its number, and its result.
type Each<'a> = dyn FnMut(u64, Request, Result<Hashed, FileError>) + Send + 'a;

/// Largest number of results that wait for an earlier one.
const WAITING_MAX: u64 = 1 << 16;

pub(crate) fn run<T: Send>(
    requests: impl Iterator<Item = Request<T>> + Send,
    options: &Options,
    mut each: impl FnMut(Request<T>, Result<Hashed, FileError>) + Send,
) -> Summary {
    // The tags wait here, so that the engine is compiled once and not for each type of them.
    let tags = Mutex::new(VecDeque::new());
    let mut untagged = requests.fuse().map(|Request { source, methods, tag }| {
        lock(&tags).push_back(tag);
        Request { source, methods, tag: () }
    });
    let mut next = 0;
    let mut tagged = |number: u64, Request { source, methods, .. }: Request, result: Result<Hashed, FileError>| {
        // In a cancelled run, requests before this one may have no result.
        let ntags = (number - std::mem::replace(&mut next, number + 1)) as usize + 1;
        let tag = lock(&tags).drain(..ntags).next_back();
        if let Some(tag) = tag {
            each(Request { source, methods, tag }, result);
        }
    };
    run_with(&mut untagged, options, &mut tagged, &Disks::new(options))
}

fn run_with(requests: &mut Requests<'_>, options: &Options, each: &mut Each<'_>, disks: &Disks) -> Summary {
    let nrequests = requests.size_hint().1.unwrap_or(usize::MAX);
    let most = options.nthreads().min(open_max()).max(1);
    // More threads than messages have nothing to do, unless they hash parts of a long file.
    let first: Vec<Request> = if nrequests < most { requests.collect() } else { Vec::new() };
    let nthreads = if first.iter().any(may_be_shared) { most } else { most.min(nrequests).max(1) };
    let requests: &mut Requests<'_> = &mut first.into_iter().chain(requests);
    let pool = &Pool::new(nthreads, options);
    let run = Run {
        pool,
        options,
        lanes_max: (open_max() / nthreads).clamp(2, LANES + 1) - 1,
        supply: Mutex::new(Supply { requests, next: 0, exhausted: false, given: Vec::new(), idle: 0 }),
        is_slow: AtomicBool::new(false),
        disks,
        shared: SharedFiles::default(),
        nwaiting: AtomicUsize::new(0),
        nopen: Mutex::new(0),
        results: Mutex::new(Results {
            next: 0,
            waiting: BTreeMap::new(),
            each,
            summary: Summary::default(),
            origin: options.counted(),
        }),
        handed_out: AtomicU64::new(0),
        nbytes: AtomicU64::new(0),
    };
    // A file that a ring gives back takes a second place.
    let nplaces = if nrequests < WORTH_A_RING { nrequests.max(1) } else { nrequests.saturating_mul(2).min(ROUND_MAX) };
    lanes::run(&run, pool, nplaces, CHUNK_MAX_NBYTES);
    let mut results = unlocked(run.results);
    // In a cancelled run, results may still wait for a request that has no result.
    for (first, following) in std::mem::take(&mut results.waiting) {
        results.next = first;
        following.into_iter().for_each(|(request, result)| results.report_next(request, result));
    }
    let supply = unlocked(run.supply);
    let ndone = results.summary.nfiles + results.summary.nfailed;
    Summary { cancelled: !supply.exhausted || ndone < supply.next, ..results.summary }
}

/// The state that all threads share.
struct Run<'a> {
    pool: &'a Pool,
    options: &'a Options,
    /// Largest number of files that a thread keeps open from one round to the next.
    lanes_max: usize,
    supply: Mutex<Supply<'a>>,
    /// Whether the request drawn last was waited for.
    is_slow: AtomicBool,
    /// The disks that seek, and the requests for them. A thread without work waits for one of their changes.
    disks: &'a Disks,
    /// Files of which a thread without work hashes parts.
    shared: SharedFiles,
    /// Number of threads without work.
    nwaiting: AtomicUsize,
    /// Under a limit on the bytes read in a second, the number of files that the threads have open, or may open now.
    nopen: Mutex<usize>,
    results: Mutex<Results<'a>>,
    /// Number of results handed out.
    handed_out: AtomicU64,
    /// Total bytes hashed.
    nbytes: AtomicU64,
}

/// The work to be done.
struct Supply<'a> {
    requests: &'a mut Requests<'a>,
    /// Number of requests drawn.
    next: u64,
    /// Whether there are no more requests.
    exhausted: bool,
    /// Open files that a thread has given away to threads without work.
    given: Vec<Lane>,
    /// Number of threads that wait.
    idle: usize,
}

/// A request with its result.
type Done = (Request, Result<Hashed, FileError>);

/// The work that is done.
struct Results<'a> {
    /// Number of the request whose result is handed out next.
    next: u64,
    /// Results of requests that follow each other, by the number of the first: a thread draws several at a time.
    waiting: BTreeMap<u64, Vec<Done>>,
    each: &'a mut Each<'a>,
    summary: Summary,
    origin: Option<&'a Origin>,
}

impl Client for Run<'_> {
    type Message = Whole;
    type Queue = Parked;

    fn readers(&self) -> &Readers<Parked> {
        self.disks.readers()
    }

    fn read(&self, pool: &Pool) {
        self.disks.read(self.options, pool);
    }

    fn take(&self, own: &mut Worker, places: &mut Places, lanes: &mut Vec<Lane>) {
        // A thread that reads a pipe starts no other file until the pipe ends.
        while !lanes.iter().any(Lane::is_stream) {
            let nopen = lanes.iter().filter(|lane| !lane.has_ended()).count();
            match self.next(nopen, own, places, lanes) {
                Next::Fetched(mut lane) => {
                    lane.read(own, places, self.pool);
                    lanes.push(lane);
                }
                Next::Alone(lane) => self.open(lane, false, own, places, lanes),
                Next::Requests(requests) => {
                    self.begin(requests, own, places, lanes);
                    // Gathered requests are parked before this thread waits for the next one.
                    if self.is_slow.load(Ordering::Relaxed) {
                        break;
                    }
                }
                Next::Nothing => break,
            }
        }
        self.reserve(own, lanes, 0);
        self.disks.park(&mut own.gathered);
    }

    fn wait(&self, _nchanges: u64, lanes: &mut Vec<Lane>) -> bool {
        let mut buffer = Vec::new();
        let mut supply = lock(&self.supply);
        supply.idle += 1;
        self.nwaiting.fetch_add(1, Ordering::Relaxed);
        let is_over = loop {
            let nchanges = self.readers().nchanges();
            if !supply.given.is_empty() {
                *lanes = std::mem::take(&mut supply.given);
                break false;
            }
            let may_open = self.options.width().is_none_or(|width| *lock(&self.nopen) < width);
            let may_draw = supply.next < self.handed_out.load(Ordering::Acquire) + WAITING_MAX && may_open;
            if self.disks.has_next(may_open) || !supply.exhausted && may_draw && self.disks.has_room() {
                break false;
            }
            let is_busy = self.disks.is_busy();
            if self.pool.must_stop() || supply.exhausted && supply.idle == self.pool.count() && !is_busy {
                break true;
            }
            drop(supply);
            // A thread that waits for a disk is not idle. Whatever stops the pool notifies nobody.
            if self.shared.help(&mut buffer) {
                self.readers().wake_all();
            } else if is_busy {
                self.readers().wait(nchanges);
            } else {
                self.pool.idle(|| self.readers().wait(nchanges));
            }
            supply = lock(&self.supply);
        };
        self.nwaiting.fetch_sub(1, Ordering::Relaxed);
        if is_over {
            // This thread stays counted as idle, so that the others come to the same end.
            self.readers().wake_all();
        } else {
            supply.idle -= 1;
        }
        !is_over
    }

    fn settle(&self, nbytes: u64, ended: &mut Vec<Lane>, lanes: &mut Vec<Lane>) {
        let nbytes = self.nbytes.fetch_add(nbytes, Ordering::Relaxed) + nbytes;
        self.options.tell(nbytes, None);
        if ended.iter().any(Lane::has_changed) {
            let (changed, others): (Vec<_>, Vec<_>) = ended.drain(..).partition(Lane::has_changed);
            self.disks.add_alone(changed.into_iter().map(Lane::restarted));
            *ended = others;
        }
        if !ended.is_empty() {
            self.pool.idle(|| self.report(ended.drain(..)));
        }
        let released = self.disks.links.released();
        if !released.is_empty() {
            self.disks.add_alone(released.into_iter().map(|(number, request)| Lane::of(number, request)));
        }
        if self.nwaiting.load(Ordering::Relaxed) > 0 {
            match &mut lanes[..] {
                [] => {}
                [lane] => {
                    if !self.options.is_limited() && lane.share_digests(&self.shared) {
                        self.readers().wake_all();
                    }
                }
                _ => self.share_lanes(lanes),
            }
        }
    }

    fn fail(&self) {
        while !self.pool.must_stop() {
            let drawn = self.draw(1, true);
            if drawn.is_empty() {
                return;
            }
            self.report(drawn.into_iter().map(|(number, request)| {
                let mut lane = Lane::of(number, request);
                lane.fail(FileError::Open(out_of_memory()));
                lane
            }));
        }
    }
}

/// The files that a thread begins next, in the order in which they are looked for.
enum Next {
    /// Readers have its bytes. It takes no place in the buffer.
    Fetched(Lane),
    /// To be opened by a separate call.
    Alone(Lane),
    /// The next requests, or parked ones that readers will not read.
    Requests(Vec<(u64, Request)>),
    Nothing,
}

impl Run<'_> {
    /// The next files of a thread that has `nopen` files open.
    fn next(&self, nopen: usize, own: &mut Worker, places: &Places, lanes: &[Lane]) -> Next {
        if nopen < LANES && lanes.len() < FETCHED_MAX {
            if let Some(lane) = self.disks.next_fetched() {
                return Next::Fetched(lane);
            }
        }
        let most = self.reserve(own, lanes, self.lanes_max.saturating_sub(nopen).min(room(places)));
        // Files that are there do not wait for a request that is not.
        let is_slow = self.is_slow.load(Ordering::Relaxed);
        if most == 0 || is_slow && !lanes.is_empty() {
            return Next::Nothing;
        }
        if let Some(lane) = self.disks.next_alone() {
            return Next::Alone(lane);
        }
        let (most, may_wait) = (if is_slow { 1 } else { most }, lanes.is_empty());
        let requests =
            if self.disks.are_watched() { self.draw_and_park(own, most, may_wait) } else { self.draw(most, may_wait) };
        let requests = if requests.is_empty() { self.disks.next_abandoned(most) } else { requests };
        if requests.is_empty() { Next::Nothing } else { Next::Requests(requests) }
    }

    /// Draws at most `most` requests, fewer if they come slowly: a file whose name is piped in is hashed before the
    /// next name has come. A thread that has files to hash does not wait until another thread has drawn.
    fn draw(&self, most: usize, may_wait: bool) -> Vec<(u64, Request)> {
        // After a panic of the iterator no thread asks it for more.
        let supply = if may_wait { self.supply.lock().ok() } else { self.supply.try_lock().ok() };
        let Some(mut supply) = supply else { return Vec::new() };
        let nmore = (self.handed_out.load(Ordering::Acquire) + WAITING_MAX).saturating_sub(supply.next);
        let (mut drawn, mut is_slow) = (Vec::new(), false);
        let since = Instant::now();
        for _ in 0..most.min(nmore as usize) {
            let Some(request) = supply.requests.next() else {
                supply.exhausted = true;
                break;
            };
            drawn.push((supply.next, request));
            supply.next += 1;
            is_slow = since.elapsed() > PATIENCE;
            if is_slow {
                break;
            }
        }
        self.is_slow.store(is_slow, Ordering::Relaxed);
        drawn
    }

    /// Counts the files that this thread has open, and `most` that it is to open, or as many of these as a limit on the
    /// bytes read in a second leaves. Returns their number.
    fn reserve(&self, own: &mut Worker, lanes: &[Lane], most: usize) -> usize {
        let Some(width) = self.options.width() else { return most };
        let count = lanes.iter().filter(|lane| !lane.has_ended() && !lane.is_stream()).count();
        let mut nopen = lock(&self.nopen);
        *nopen -= own.nopen;
        let most = most.min(width.saturating_sub(*nopen + count));
        own.nopen = count + most;
        *nopen += own.nopen;
        most
    }

    /// Draws requests and gathers those for disks that seek, until enough are gathered or others are drawn, at most
    /// `most`.
    fn draw_and_park(&self, own: &mut Worker, most: usize, may_wait: bool) -> Vec<(u64, Request)> {
        let since = Instant::now();
        while self.disks.may_gather(&own.gathered, since) && !self.pool.must_stop() {
            let drawn = self.draw(most, may_wait);
            if drawn.is_empty() {
                break;
            }
            let gather = |(number, request)| self.disks.gather(number, request, &mut own.gathered);
            let others: Vec<_> = drawn.into_iter().filter_map(gather).collect();
            if !others.is_empty() {
                return others;
            }
        }
        Vec::new()
    }

    /// Leaves half of the open files to a thread that has none.
    fn share_lanes(&self, lanes: &mut Vec<Lane>) {
        // Another thread may wait for a request.
        let Ok(mut supply) = self.supply.try_lock() else { return };
        if supply.given.is_empty() {
            supply.given.extend(lanes.drain(lanes.len().div_ceil(2)..));
            drop(supply);
            self.readers().wake_all();
        }
    }

    /// Reports results when those of all earlier requests are there.
    fn report(&self, ended: impl Iterator<Item = Lane>) {
        // After a panic of the callback no thread hands out more.
        let Ok(mut results) = self.results.lock() else { return };
        let (mut first, mut following) = (0, Vec::new());
        for lane in ended {
            let (number, request, result) = lane.finish();
            if number == results.next {
                results.report_next(request, result);
                continue;
            }
            if number != first + following.len() as u64 {
                results.keep(first, std::mem::take(&mut following));
                first = number;
            }
            following.push((request, result));
        }
        results.keep(first, following);
        while let Some(following) = results.take_next() {
            following.into_iter().for_each(|(request, result)| results.report_next(request, result));
        }
        self.handed_out.store(results.next, Ordering::Release);
        drop(results);
        if self.nwaiting.load(Ordering::Relaxed) > 0 {
            self.readers().wake_all();
        }
    }

    /// Opens files and reads the first chunk of each.
    fn begin(&self, drawn: Vec<(u64, Request)>, own: &mut Worker, places: &mut Places, lanes: &mut Vec<Lane>) {
        // Making a ring takes longer than reading a few files. Under a limit, each file is paid for before the next.
        let is_single = self.options.is_limited() || self.options.is_uncached() || self.disks.are_watched();
        let is_worth_it = own.nbatches > 0 && drawn.len() >= WORTH_A_RING && !is_single;
        own.nbatches += 1;
        lanes.reserve(room(places));
        let ring = if is_worth_it { own.ring.get_or_insert_with(Ring::new).as_mut() } else { None };
        let is_for_ring = |request: &Request| request.source.path().is_some();
        let (batch, others): (Vec<_>, Vec<_>) = match ring {
            Some(_) if drawn.iter().all(|(_, request)| is_for_ring(request)) => (drawn, Vec::new()),
            Some(_) => drawn.into_iter().partition(|(_, request)| is_for_ring(request)),
            None => (Vec::new(), drawn),
        };
        if let Some(ring) = ring.filter(|_| !batch.is_empty()) {
            let paths: Vec<&Path> = batch.iter().filter_map(|(_, request)| request.source.path()).collect();
            let started = Instant::now();
            let notes = self.options.is_noting();
            let begun = places.fill(batch.len(), |chunks| ring.begin(&paths, chunks, notes, self.pool));
            self.disks.watch_if_slow(paths.len(), started.elapsed());
            let (begun, starts) = begun.unwrap_or_else(|lost| {
                // The lost ring is closed, and no other is made.
                own.ring = Some(None);
                (paths.iter().map(|path| begun_in_vain(path, lost)).collect(), (0..).step_by(1))
            });
            for (((number, request), begun), start) in batch.into_iter().zip(begun).zip(starts) {
                let mut lane = Lane::of(number, request);
                if matches!(begun, FirstRead::Later) {
                    self.disks.add_alone([lane].into_iter());
                    continue;
                }
                lane.begin(begun, start);
                lane = match lane.for_readers(self.disks) {
                    Ok(found) => {
                        own.gathered.push(found);
                        continue;
                    }
                    Err(lane) => lane,
                };
                let Some(mut lane) = self.disks.links.join(lane) else { continue };
                if self.share(&mut lane) {
                    // The chunk is a part of the first subtree.
                    lane.chunk = Chunk::NOTHING;
                } else {
                    lane.go_on(self.options.is_limited());
                }
                places.count(lane.chunk.nbytes() as usize);
                lanes.push(lane);
            }
        }
        for (number, request) in others {
            // The file before may have shown that its disk seeks.
            let other = if self.disks.are_watched() {
                self.disks.gather(number, request, &mut own.gathered)
            } else {
                Some((number, request))
            };
            if let Some((number, request)) = other {
                self.open(Lane::of(number, request), true, own, places, lanes);
            }
        }
    }

    /// Lets other threads hash parts of a file that has been opened, if they can.
    fn share(&self, lane: &mut Lane) -> bool {
        let may_share = matches!(lane.state, State::Reading) && !self.options.is_limited();
        let is_shared = may_share && lane.message.share(&self.shared);
        if is_shared && self.nwaiting.load(Ordering::Relaxed) > 0 {
            self.readers().wake_all();
        }
        is_shared
    }

    /// Opens a file by itself and reads its first chunk, unless it `may_be_parked` and readers should read it.
    fn open(&self, mut lane: Lane, may_be_parked: bool, own: &mut Worker, places: &mut Places, lanes: &mut Vec<Lane>) {
        // Opening another pipe may wait for a process that waits for the first pipe to be read.
        if lanes.iter().any(Lane::is_stream) {
            self.disks.add_alone([lane].into_iter());
            return;
        }
        lane.open(self.options);
        if may_be_parked {
            lane = match lane.for_readers(self.disks) {
                Ok(found) => return own.gathered.push(found),
                Err(lane) => lane,
            };
        }
        let Some(mut lane) = self.disks.links.join(lane) else { return };
        self.share(&mut lane);
        lane.read(own, places, self.pool);
        lanes.push(lane);
    }
}

impl Results<'_> {
    /// Keeps results that follow each other, the first of them with this number.
    fn keep(&mut self, first: u64, following: Vec<Done>) {
        if !following.is_empty() {
            self.waiting.insert(first, following);
        }
    }

    fn take_next(&mut self) -> Option<Vec<Done>> {
        self.waiting.remove(&self.next)
    }

    fn report_next(&mut self, request: Request, result: Result<Hashed, FileError>) {
        let number = self.next;
        self.next += 1;
        match &result {
            Ok(hashed) => {
                self.summary.nfiles += 1;
                self.summary.nbytes += hashed.nbytes;
                if let (Some(origin), Some(stamp)) = (self.origin, &hashed.stamp) {
                    origin.count(stamp.dev, hashed.nread);
                }
            }
            Err(_) => self.summary.nfailed += 1,
        }
        (self.each)(number, request, result);
    }
}

/// The state that each thread has for itself.
#[derive(Default)]
struct Worker {
    /// `None` until a ring is wanted; `Some(None)` if the system has no rings.
    ring: Option<Option<Ring>>,
    nbatches: u64,
    /// Number of this thread's files among those that [`Run::nopen`] counts.
    nopen: usize,
    /// Requests to park.
    gathered: Vec<ToPark>,
    /// Empty until a part of a shared file is read.
    subtree: Vec<u8>,
}

/// Longest time to wait for requests once there is one.
const PATIENCE: Duration = Duration::from_millis(100);

/// Number of bytes to read in a round; the last files may exceed it.
const ROUND_NBYTES: usize = 512 << 10;

/// Largest number of messages in a round that take a place. Each uses only as much of its place as it needs.
const ROUND_MAX: usize = 64;

/// Largest number of files in a round with which a thread takes another that readers have read.
const FETCHED_MAX: usize = 256;

/// Least number of files for a ring; fewer files are opened by separate calls.
const WORTH_A_RING: usize = 4;

/// Number of chunks that may still be read in this round.
fn room(places: &Places) -> usize {
    if places.nbytes() < ROUND_NBYTES { ROUND_MAX.saturating_sub(places.ntaken()) } else { 0 }
}

/// The result for a file that a lost ring has begun. A file that can be read again is read by plain calls. The bytes
/// read from a pipe are lost with the ring, so the digest of the rest would be wrong.
fn begun_in_vain(path: &Path, lost: Lost) -> FirstRead {
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => FirstRead::NotRead(0, lost.into()),
        _ => FirstRead::Later,
    }
}
