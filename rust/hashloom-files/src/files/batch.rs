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
mod fetched;
mod lane;
mod links;

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use self::disks::{Disks, ToPark};
use self::lane::Lane;
use super::request::{FileError, Hashed, Request, Summary};
use crate::lanes::{CHUNK_MAX_NBYTES, Message, Places, hash_round, take_ended};
use crate::read::buffer::out_of_memory;
use crate::read::open::open_max;
use crate::read::ring::{FirstRead, Lost, Ring};
use crate::run::pool::Pool;
use crate::run::{LANES, Options, join};

/// Largest number of results that wait for an earlier one.
const WAITING_MAX: u64 = 1 << 16;

pub(crate) fn run<T: Send>(
    requests: impl Iterator<Item = Request<T>> + Send,
    options: &Options,
    each: impl FnMut(Request<T>, Result<Hashed, FileError>) + Send,
) -> Summary {
    run_with(requests, options, each, &Disks::new(options))
}

fn run_with<T: Send>(
    requests: impl Iterator<Item = Request<T>> + Send,
    options: &Options,
    each: impl FnMut(Request<T>, Result<Hashed, FileError>) + Send,
    disks: &Disks<T>,
) -> Summary {
    // More threads than messages would have nothing to do, and each thread has a file open.
    let most = requests.size_hint().1.unwrap_or(usize::MAX).min(open_max());
    let nthreads = options.nthreads().min(most).max(1);
    let pool = &Pool::new(nthreads, options);
    std::thread::scope(|scope| {
        // The readers start when a file is found on a disk that seeks.
        let readers = Mutex::new(Vec::new());
        let start = || lock(&readers).extend(disks.readers().start(scope, || disks.read(options, pool)));
        let run = Run {
            pool,
            options,
            lanes_max: (open_max() / nthreads).clamp(2, LANES + 1) - 1,
            supply: Mutex::new(Supply {
                requests: requests.fuse(),
                next: 0,
                exhausted: false,
                given: Vec::new(),
                returned: VecDeque::new(),
                idle: 0,
            }),
            disks,
            start: &start,
            nwaiting: AtomicUsize::new(0),
            results: Mutex::new(Results { next: 0, waiting: BTreeMap::new(), each, summary: Summary::default() }),
            handed_out: AtomicU64::new(0),
            nbytes: AtomicU64::new(0),
        };
        if !pool.work(|| Places::new(ROUND_MAX, CHUNK_MAX_NBYTES), |places| run.work(places)) {
            run.fail();
        }
        disks.readers().end();
        join(std::mem::take(&mut *lock(&readers)));
        let mut results = run.results.into_inner().unwrap_or_else(PoisonError::into_inner);
        // In a cancelled run, results may still wait for a request that has no result.
        for (request, result) in std::mem::take(&mut results.waiting).into_values().flatten() {
            results.hand_out(request, result);
        }
        let supply = run.supply.into_inner().unwrap_or_else(PoisonError::into_inner);
        let ndone = results.summary.nfiles + results.summary.nfailed;
        Summary { cancelled: !supply.exhausted || ndone < supply.next, ..results.summary }
    })
}

/// The state that all threads share.
struct Run<'a, T, I, F> {
    pool: &'a Pool,
    options: &'a Options,
    /// Largest number of files that a thread keeps open from one round to the next.
    lanes_max: usize,
    supply: Mutex<Supply<T, I>>,
    /// The disks that seek, and the requests for them. A thread without work waits for one of their changes.
    disks: &'a Disks<T>,
    /// Starts the readers.
    start: &'a (dyn Fn() + Sync),
    /// Number of threads without work.
    nwaiting: AtomicUsize,
    results: Mutex<Results<T, F>>,
    /// Number of results handed out.
    handed_out: AtomicU64,
    /// Total bytes hashed.
    nbytes: AtomicU64,
}

/// The work to be done.
struct Supply<T, I> {
    requests: std::iter::Fuse<I>,
    /// Number of requests drawn.
    next: u64,
    /// Whether there are no more requests.
    exhausted: bool,
    /// Open files that a thread has given away to threads without work.
    given: Vec<Lane<T>>,
    /// Requests that a thread has drawn and could not begin.
    returned: VecDeque<(u64, Request<T>)>,
    /// Number of threads that wait.
    idle: usize,
}

/// A request with its result.
type Done<T> = (Request<T>, Result<Hashed, FileError>);

/// The work that is done.
struct Results<T, F> {
    /// Number of the request whose result is handed out next.
    next: u64,
    /// Results of requests that follow each other, by the number of the first: a thread draws several at a time.
    waiting: BTreeMap<u64, Vec<Done<T>>>,
    each: F,
    summary: Summary,
}

impl<T: Send, I: Iterator<Item = Request<T>> + Send, F: FnMut(Request<T>, Result<Hashed, FileError>) + Send>
    Run<'_, T, I, F>
{
    /// Fails all requests: without memory for buffers no file can be read.
    fn fail(&self) {
        while !self.pool.must_stop() {
            let drawn = self.draw(1);
            if drawn.is_empty() {
                return;
            }
            let mut lanes: Vec<Lane<T>> =
                drawn.into_iter().map(|(number, request)| Lane::new(number, request)).collect();
            lanes.iter_mut().for_each(|lane| lane.fail(FileError::Open(out_of_memory())));
            self.hand_out(&mut lanes);
        }
    }

    fn work(&self, places: Places) {
        let mut own = Worker { places, ring: None, nbatches: 0, later: VecDeque::new(), gathered: Vec::new() };
        let (mut lanes, mut ended): (Vec<Lane<T>>, Vec<Lane<T>>) = (Vec::new(), Vec::new());
        while !self.pool.must_stop() {
            own.places.clear();
            let nchanges = self.disks.readers().nchanges();
            // Only the first of several pipes is read: the writer of another pipe may wait until the first is read.
            let stream = lanes.iter().position(Lane::is_stream);
            for (index, lane) in lanes.iter_mut().enumerate() {
                match lane.is_stream() && stream != Some(index) {
                    true => lane.skip(),
                    false => lane.read(&mut own.places, self.options, self.pool),
                }
            }
            self.take(&mut lanes, &mut own);
            self.disks.park(&mut own.gathered, self.start);
            if lanes.is_empty() {
                match self.wait() {
                    Some(given) => lanes = given,
                    None => break,
                }
                continue;
            }
            if lanes.iter().all(Lane::is_waiting) {
                self.disks.readers().wait(nchanges);
                continue;
            }
            hash_round(&mut lanes, &own.places);
            let nbytes: u64 = lanes.iter_mut().map(Lane::count).sum();
            self.disks.readers().used(nbytes);
            let nbytes = self.nbytes.fetch_add(nbytes, Ordering::Relaxed) + nbytes;
            self.options.tell(nbytes, None);
            take_ended(&mut lanes, &mut ended);
            if ended.iter().any(Lane::has_changed) {
                let (changed, others): (Vec<_>, Vec<_>) = ended.drain(..).partition(Lane::has_changed);
                own.later.extend(changed.into_iter().map(Lane::anew));
                ended = others;
            }
            self.hand_out(&mut ended);
            for (number, request) in self.disks.links.released() {
                self.give_back(number, request);
            }
            if lanes.len() > 1 && self.nwaiting.load(Ordering::Relaxed) > 0 {
                self.give(&mut lanes);
            }
        }
    }

    /// Opens new files while there is room, and reads the first chunk of each.
    fn take(&self, lanes: &mut Vec<Lane<T>>, own: &mut Worker<T>) {
        // A thread that reads a pipe starts no other file until the pipe ends.
        while !lanes.iter().any(Lane::is_stream) {
            let nopen = lanes.iter().filter(|lane| !lane.has_ended()).count();
            // Files that readers have begun take no place in the buffer.
            if nopen < LANES && lanes.len() < FETCHED_MAX {
                if let Some(mut lane) = self.disks.take() {
                    if !lane.is_known() {
                        lane.read(&mut own.places, self.options, self.pool);
                    }
                    lanes.push(lane);
                    continue;
                }
            }
            let most = self.lanes_max.saturating_sub(nopen).min(own.room());
            if most == 0 {
                return;
            }
            // Files that have kept others waiting, or might, or have changed, are opened one at a time.
            if let Some(lane) = own.later.pop_front() {
                own.open(lane, false, self, lanes);
                continue;
            }
            let drawn = if self.disks.are_watched() { self.draw_and_park(own, most) } else { self.draw(most) };
            if !drawn.is_empty() {
                own.begin(drawn, self, lanes);
                continue;
            }
            let (left, one_by_one) = self.disks.take_left(most);
            if left.is_empty() {
                return;
            }
            match one_by_one {
                true => own.later.extend(left.into_iter().map(|(number, request)| Lane::new(number, request))),
                false => own.begin(left, self, lanes),
            }
        }
    }

    fn draw(&self, most: usize) -> Vec<(u64, Request<T>)> {
        // After a panic of the iterator no thread asks it for more.
        let Ok(mut supply) = self.supply.lock() else { return Vec::new() };
        if !supply.returned.is_empty() {
            let nreturned = supply.returned.len().min(most);
            return supply.returned.drain(..nreturned).collect();
        }
        let nmore = (self.handed_out.load(Ordering::Acquire) + WAITING_MAX).saturating_sub(supply.next);
        let most = most.min(nmore as usize);
        let first = supply.next;
        let drawn: Vec<_> = (first..).zip(supply.requests.by_ref().take(most)).collect();
        supply.next += drawn.len() as u64;
        supply.exhausted = drawn.len() < most;
        drawn
    }

    /// Gives a request back that another thread may begin.
    fn give_back(&self, number: u64, request: Request<T>) {
        lock(&self.supply).returned.push_back((number, request));
        self.disks.readers().tell_all();
    }

    /// Draws requests and gathers those for disks that seek, until enough are gathered or others are drawn, at most
    /// `most`.
    fn draw_and_park(&self, own: &mut Worker<T>, most: usize) -> Vec<(u64, Request<T>)> {
        let since = Instant::now();
        while self.disks.may_gather(&own.gathered, since) && !self.pool.must_stop() {
            let drawn = self.draw(most);
            if drawn.is_empty() {
                break;
            }
            let others = drawn.into_iter().filter_map(|(number, request)| own.gather(number, request, self.disks));
            let others: Vec<_> = others.collect();
            if !others.is_empty() {
                return others;
            }
        }
        Vec::new()
    }

    /// Waits for work. `None` if there will be none.
    fn wait(&self) -> Option<Vec<Lane<T>>> {
        let mut supply = lock(&self.supply);
        supply.idle += 1;
        self.nwaiting.fetch_add(1, Ordering::Relaxed);
        let found = loop {
            let nchanges = self.disks.readers().nchanges();
            if !supply.given.is_empty() {
                break Some(std::mem::take(&mut supply.given));
            }
            if !supply.returned.is_empty() || self.disks.has_some() {
                break Some(Vec::new());
            }
            let is_busy = self.disks.is_busy();
            if self.pool.must_stop() || supply.exhausted && supply.idle == self.pool.count() && !is_busy {
                break None;
            }
            let may_draw = supply.next < self.handed_out.load(Ordering::Acquire) + WAITING_MAX;
            if !supply.exhausted && may_draw && self.disks.has_room() {
                break Some(Vec::new());
            }
            drop(supply);
            // A thread that waits for a disk is not idle. Whatever stops the pool notifies nobody.
            match is_busy {
                true => self.disks.readers().wait(nchanges),
                false => self.pool.idle(|| self.disks.readers().wait(nchanges)),
            }
            supply = lock(&self.supply);
        };
        self.nwaiting.fetch_sub(1, Ordering::Relaxed);
        match found {
            // This thread stays counted as idle, so that the others come to the same end.
            None => self.disks.readers().tell_all(),
            Some(_) => supply.idle -= 1,
        }
        found
    }

    /// Gives half of the open files away, for a thread that has none.
    fn give(&self, lanes: &mut Vec<Lane<T>>) {
        let mut supply = lock(&self.supply);
        if supply.given.is_empty() {
            supply.given.extend(lanes.drain(lanes.len().div_ceil(2)..));
            drop(supply);
            self.disks.readers().tell_all();
        }
    }

    /// Hands out the results of all these lanes.
    fn hand_out(&self, ended: &mut Vec<Lane<T>>) {
        if !ended.is_empty() {
            self.pool.idle(|| self.pass_on(ended.drain(..)));
        }
    }

    /// Hands out results when those of all earlier requests are there.
    fn pass_on(&self, ended: impl Iterator<Item = Lane<T>>) {
        // After a panic of the callback no thread hands out more.
        let Ok(mut results) = self.results.lock() else { return };
        let (mut first, mut following) = (0, Vec::new());
        for lane in ended {
            let (number, request, result) = lane.finish();
            if number == results.next {
                results.hand_out(request, result);
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
            following.into_iter().for_each(|(request, result)| results.hand_out(request, result));
        }
        self.handed_out.store(results.next, Ordering::Release);
        drop(results);
        if self.nwaiting.load(Ordering::Relaxed) > 0 {
            self.disks.readers().tell_all();
        }
    }
}

impl<T, F: FnMut(Request<T>, Result<Hashed, FileError>)> Results<T, F> {
    /// Keeps results that follow each other, the first of them with this number.
    fn keep(&mut self, first: u64, following: Vec<Done<T>>) {
        if !following.is_empty() {
            self.waiting.insert(first, following);
        }
    }

    fn take_next(&mut self) -> Option<Vec<Done<T>>> {
        self.waiting.remove(&self.next)
    }

    fn hand_out(&mut self, request: Request<T>, result: Result<Hashed, FileError>) {
        self.next += 1;
        match &result {
            Ok(hashed) => {
                self.summary.nfiles += 1;
                self.summary.nbytes += hashed.nbytes;
            }
            Err(_) => self.summary.nfailed += 1,
        }
        (self.each)(request, result);
    }
}

/// The state that each thread has for itself.
struct Worker<T> {
    places: Places,
    /// `None` until a ring is wanted; `Some(None)` if the system has no rings.
    ring: Option<Option<Ring>>,
    nbatches: u64,
    /// Files that this thread has drawn and could not begin, or must begin again.
    later: VecDeque<Lane<T>>,
    /// Requests to park.
    gathered: Vec<ToPark<T>>,
}

/// Number of bytes to read in a round; the last files may exceed it.
const ROUND_NBYTES: usize = 512 << 10;

/// Largest number of messages in a round that take a place. Each uses only as much of its place as it needs.
const ROUND_MAX: usize = 64;

/// Largest number of files in a round with which a thread takes another that readers have read.
const FETCHED_MAX: usize = 256;

/// Least number of files for a ring; fewer files are opened by separate calls.
const WORTH_A_RING: usize = 4;

impl<T: Send> Worker<T> {
    /// Number of chunks that may still be read in this round.
    fn room(&self) -> usize {
        if self.places.nbytes() < ROUND_NBYTES { ROUND_MAX.saturating_sub(self.places.ntaken()) } else { 0 }
    }

    /// Opens files and reads the first chunk of each.
    fn begin<I, F>(&mut self, drawn: Vec<(u64, Request<T>)>, run: &Run<'_, T, I, F>, lanes: &mut Vec<Lane<T>>)
    where
        I: Iterator<Item = Request<T>> + Send,
        F: FnMut(Request<T>, Result<Hashed, FileError>) + Send,
    {
        // Making a ring takes longer than reading a few files. Under a limit, each file is paid for before the next.
        let is_single = run.options.is_limited() || run.disks.are_watched();
        let is_worth_it = self.nbatches > 0 && drawn.len() >= WORTH_A_RING && !is_single;
        self.nbatches += 1;
        lanes.reserve(self.room());
        let ring = if is_worth_it { self.ring.get_or_insert_with(Ring::new).as_mut() } else { None };
        let is_for_ring = |request: &Request<T>| request.source.path().is_some();
        let (batch, others): (Vec<_>, Vec<_>) = match ring {
            Some(_) if drawn.iter().all(|(_, request)| is_for_ring(request)) => (drawn, Vec::new()),
            Some(_) => drawn.into_iter().partition(|(_, request)| is_for_ring(request)),
            None => (Vec::new(), drawn),
        };
        if let Some(ring) = ring.filter(|_| !batch.is_empty()) {
            let paths: Vec<&Path> = batch.iter().filter_map(|(_, request)| request.source.path()).collect();
            let started = Instant::now();
            let notes = run.options.is_noting();
            let begun = self.places.fill(batch.len(), |chunks| ring.begin(&paths, chunks, notes, run.pool));
            run.disks.note_time(paths.len(), started.elapsed());
            let (begun, places) = begun.unwrap_or_else(|lost| {
                // The lost ring is closed, and no other is made.
                self.ring = Some(None);
                (paths.iter().map(|path| begun_in_vain(path, lost)).collect(), (0..).step_by(1))
            });
            for (((number, request), begun), place) in batch.into_iter().zip(begun).zip(places) {
                let mut lane = Lane::new(number, request);
                if matches!(begun, FirstRead::Later) {
                    self.later.push_back(lane);
                    continue;
                }
                lane.begin(begun, place);
                let nbytes = lane.chunk().nbytes();
                lane = match lane.for_readers(run.disks, nbytes) {
                    Ok(found) => {
                        self.gathered.push(found);
                        continue;
                    }
                    Err(lane) => lane,
                };
                lane.go_on(run.options);
                let Some(lane) = run.disks.links.join(lane) else { continue };
                self.places.count(lane.chunk().nbytes() as usize);
                lanes.push(lane);
            }
        }
        for (number, request) in others {
            // The file before may have shown that its disk seeks.
            let other = match run.disks.are_watched() {
                true => self.gather(number, request, run.disks),
                false => Some((number, request)),
            };
            if let Some((number, request)) = other {
                self.open(Lane::new(number, request), true, run, lanes);
            }
        }
    }

    /// Gathers a request for a disk that seeks. Others come back.
    fn gather(&mut self, number: u64, request: Request<T>, disks: &Disks<T>) -> Option<(u64, Request<T>)> {
        match disks.look(number, request) {
            Ok(found) => self.gathered.push(found),
            Err(request) => return Some((number, request)),
        }
        None
    }

    /// Opens a file by itself and reads its first chunk, unless it `may_be_parked` and readers should read it.
    fn open<I, F>(&mut self, mut lane: Lane<T>, may_be_parked: bool, run: &Run<'_, T, I, F>, lanes: &mut Vec<Lane<T>>) {
        // Opening another pipe may wait for a process that waits for the first pipe to be read.
        if lanes.iter().any(Lane::is_stream) {
            self.later.push_back(lane);
            return;
        }
        lane.open(run.options);
        if may_be_parked {
            lane = match lane.for_readers(run.disks, 0) {
                Ok(found) => return self.gathered.push(found),
                Err(lane) => lane,
            };
        }
        let Some(mut lane) = run.disks.links.join(lane) else { return };
        if !lane.is_known() {
            lane.read(&mut self.places, run.options, run.pool);
        }
        lanes.push(lane);
    }
}

/// The result for a file that a lost ring has begun. A file that can be read again is read by plain calls. The bytes
/// read from a pipe are lost with the ring, so the digest of the rest would be wrong.
fn begun_in_vain(path: &Path, lost: Lost) -> FirstRead {
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => FirstRead::NotRead(0, lost.into()),
        _ => FirstRead::Later,
    }
}

/// A panic elsewhere leaves nothing half-done in the data behind these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
