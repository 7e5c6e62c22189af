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

mod lane;
mod links;
mod room;
mod turn;

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use self::lane::Lane;
use self::links::Links;
use self::room::Room;
use self::turn::{Parked, Turn, Turns};
use hashloom::{Algorithm, Hash, Hasher, finalize_many, hash_many, update_many};

use super::request::{FileError, Hashed, Request, Summary};
use crate::paths::long::is_long;
use crate::read::buffer::out_of_memory;
use crate::read::open::open_max;
use crate::read::ring::{Begun, Lost, Ring};
use crate::run::pool::{LOOK, Pool};
use crate::run::{LANES, Options};

/// Largest number of results that wait for an earlier one.
const WAITING_MAX: u64 = 1 << 16;

pub(crate) fn run<T: Send>(
    requests: impl Iterator<Item = Request<T>> + Send,
    options: &Options,
    each: impl FnMut(Request<T>, Result<Hashed, FileError>) + Send,
) -> Summary {
    // More threads than messages would have nothing to do, and each thread has a file open.
    let most = requests.size_hint().1.unwrap_or(usize::MAX).min(open_max());
    let nthreads = (options.nthreads() + usize::from(options.its_device().is_some())).min(most).max(1);
    let run = Run {
        pool: Pool::new(nthreads, options),
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
        changed: Condvar::new(),
        turns: Turns::new(),
        links: Links::new(),
        hungry: AtomicUsize::new(0),
        results: Mutex::new(Results { next: 0, waiting: BTreeMap::new(), each, summary: Summary::default() }),
        handed_out: AtomicU64::new(0),
        nbytes: AtomicU64::new(0),
    };
    // One thread has the device.
    let device = Mutex::new(options.its_device());
    let room = || lock(&device).take().and_then(Room::on).or_else(Room::new);
    if !run.pool.work(room, |room| run.work(room)) {
        run.fail();
    }
    let mut results = run.results.into_inner().unwrap_or_else(PoisonError::into_inner);
    // In a cancelled run, results may still wait for a request that has no result.
    for (request, result) in std::mem::take(&mut results.waiting).into_values().flatten() {
        results.hand_out(request, result);
    }
    let supply = run.supply.into_inner().unwrap_or_else(PoisonError::into_inner);
    let ndone = results.summary.nfiles + results.summary.nfailed;
    Summary { cancelled: !supply.exhausted || ndone < supply.next, ..results.summary }
}

/// The state that all threads share.
struct Run<'a, T, I, F> {
    pool: Pool,
    options: &'a Options,
    /// Largest number of files that a thread keeps open from one round to the next.
    lanes_max: usize,
    supply: Mutex<Supply<T, I>>,
    /// Signalled when a thread without work may find some.
    changed: Condvar,
    /// The rights to read disks that seek, and requests that wait for them.
    turns: Arc<Turns<T>>,
    /// Files with several names.
    links: Arc<Links<T>>,
    /// Number of threads without work.
    hungry: AtomicUsize,
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

/// The work that is done.
struct Results<T, F> {
    /// Number of the request whose result is handed out next.
    next: u64,
    /// Results of requests that follow each other, by the number of the first: a thread draws several at a time.
    waiting: BTreeMap<u64, Vec<(Request<T>, Result<Hashed, FileError>)>>,
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

    fn work(&self, room: Room<'_>) {
        let mut own = Own { room, ring: None, nbatches: 0, later: VecDeque::new(), has_begun_others: false };
        let (mut lanes, mut ended): (Vec<Lane<T>>, Vec<Lane<T>>) = (Vec::new(), Vec::new());
        while !self.pool.must_stop() {
            own.room.clear();
            // Only the first of several pipes is read: the writer of another pipe may wait until the first is read.
            let stream = lanes.iter().position(|lane| lane.is_stream);
            for (index, lane) in lanes.iter_mut().enumerate() {
                match lane.is_stream && stream != Some(index) {
                    true => lane.skip(),
                    false => lane.read(&mut own.room, self.options, &self.pool),
                }
            }
            self.take(&mut lanes, &mut own);
            if lanes.is_empty() {
                match self.wait() {
                    Some(given) => lanes = given,
                    None => break,
                }
                continue;
            }
            hash(&mut lanes, &own.room, &self.pool);
            let nbytes: u64 = lanes.iter_mut().map(Lane::count).sum();
            let nbytes = self.nbytes.fetch_add(nbytes, Ordering::Relaxed) + nbytes;
            self.options.tell(nbytes, None);
            take_out(&mut lanes, &mut ended, |lane| lane.has_ended);
            if ended.iter().any(Lane::has_changed) {
                let (changed, others): (Vec<_>, Vec<_>) = ended.drain(..).partition(Lane::has_changed);
                own.later.extend(changed.into_iter().map(Lane::anew));
                ended = others;
            }
            ended.iter_mut().for_each(Lane::judge);
            self.hand_out(&mut ended);
            for (number, request) in self.links.released() {
                self.give_back(number, request);
            }
            if lanes.len() > 1 && self.hungry.load(Ordering::Relaxed) > 0 {
                self.give(&mut lanes);
            }
        }
    }

    /// Opens new files while there is room, and reads the first chunk of each.
    fn take(&self, lanes: &mut Vec<Lane<T>>, own: &mut Own<'_, T>) {
        // A thread that reads a pipe, or has its turn, starts no other file until this one ends.
        while !lanes.iter().any(Lane::keeps_others_waiting) {
            let nopen = lanes.iter().filter(|lane| !lane.has_ended).count();
            let most = self.lanes_max.saturating_sub(nopen).min(own.room.nchunks());
            if most == 0 {
                return;
            }
            // Files that have kept others waiting, or might, or have changed, are opened one at a time.
            if let Some(lane) = own.later.pop_front() {
                own.open(lane, None, self, lanes);
                continue;
            }
            // Parked requests come last, so that many are sorted, but other requests do not keep them waiting for ever.
            let are_watched = self.turns.are_watched();
            let is_parked_next = std::mem::take(&mut own.has_begun_others) || !are_watched;
            let mut parked = if is_parked_next { self.turns.take_parked(most, false, &self.pool) } else { None };
            if parked.is_none() {
                let drawn = if are_watched { self.draw_and_park(most) } else { self.draw(most) };
                if !drawn.is_empty() {
                    own.has_begun_others = true;
                    own.begin(drawn, self, lanes);
                    continue;
                }
                // Other threads have their turn while this one hashes what it has.
                parked = self.turns.take_parked(most, lanes.is_empty(), &self.pool);
            }
            match parked {
                Some(Parked::Next(number, request, turn)) => {
                    own.open(Lane::new(number, request), Some(turn), self, lanes);
                }
                Some(Parked::Free(drawn)) => own.begin(drawn, self, lanes),
                None => return,
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
        self.changed.notify_one();
    }

    /// Draws requests and parks those for disks that seek, until enough are parked or others are drawn, at most `most`.
    fn draw_and_park(&self, most: usize) -> Vec<(u64, Request<T>)> {
        while self.turns.has_room() && !self.pool.must_stop() {
            let drawn = self.draw(most);
            if drawn.is_empty() {
                break;
            }
            let others =
                drawn.into_iter().filter_map(|(number, request)| Some((number, self.turns.park(number, request)?)));
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
        self.hungry.fetch_add(1, Ordering::Relaxed);
        let found = loop {
            if !supply.given.is_empty() {
                break Some(std::mem::take(&mut supply.given));
            }
            if !supply.returned.is_empty() || self.turns.nparked() > 0 {
                break Some(Vec::new());
            }
            if self.pool.must_stop() || supply.exhausted && supply.idle == self.pool.count() {
                break None;
            }
            if !supply.exhausted && supply.next < self.handed_out.load(Ordering::Acquire) + WAITING_MAX {
                break Some(Vec::new());
            }
            // The timeout is for whatever stops the pool: a stop notifies nobody.
            let waited = self.pool.idle(|| self.changed.wait_timeout(supply, LOOK));
            supply = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        self.hungry.fetch_sub(1, Ordering::Relaxed);
        match found {
            // This thread stays counted as idle, so that the others come to the same end.
            None => self.changed.notify_all(),
            Some(_) => supply.idle -= 1,
        }
        found
    }

    /// Gives half of the open files away, for a thread that has none.
    fn give(&self, lanes: &mut Vec<Lane<T>>) {
        let mut supply = lock(&self.supply);
        if supply.given.is_empty() {
            supply.given.extend(lanes.drain(lanes.len().div_ceil(2)..));
            self.changed.notify_one();
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
        if self.hungry.load(Ordering::Relaxed) > 0 {
            // A thread that holds this lock has not begun to wait, or looks at `handed_out` again.
            drop(lock(&self.supply));
            self.changed.notify_all();
        }
    }
}

impl<T, F: FnMut(Request<T>, Result<Hashed, FileError>)> Results<T, F> {
    /// Keeps results that follow each other, the first of them with this number.
    fn keep(&mut self, first: u64, following: Vec<(Request<T>, Result<Hashed, FileError>)>) {
        if !following.is_empty() {
            self.waiting.insert(first, following);
        }
    }

    fn take_next(&mut self) -> Option<Vec<(Request<T>, Result<Hashed, FileError>)>> {
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
struct Own<'d, T> {
    room: Room<'d>,
    /// `None` until a ring is wanted; `Some(None)` if the system has no rings.
    ring: Option<Option<Ring>>,
    nbatches: u64,
    /// Files that this thread has drawn and could not begin, or must begin again.
    later: VecDeque<Lane<T>>,
    /// Whether the last requests begun had not been parked.
    has_begun_others: bool,
}

/// Least number of messages for a device.
const WORTH_A_DEVICE: usize = 64;

/// Least number of files for a ring; fewer files are opened by separate calls.
const WORTH_A_RING: usize = 4;

impl<T: Send> Own<'_, T> {
    /// Opens files and reads the first chunk of each.
    fn begin<I, F>(&mut self, drawn: Vec<(u64, Request<T>)>, run: &Run<'_, T, I, F>, lanes: &mut Vec<Lane<T>>)
    where
        I: Iterator<Item = Request<T>> + Send,
        F: FnMut(Request<T>, Result<Hashed, FileError>) + Send,
    {
        // Making a ring takes longer than reading a few files. Under a limit, each file is paid for before the next.
        let is_single = run.options.is_limited() || run.turns.are_watched();
        let is_worth_it = self.nbatches > 0 && drawn.len() >= WORTH_A_RING && !is_single;
        self.nbatches += 1;
        let ring = if is_worth_it { self.ring.get_or_insert_with(Ring::new).as_mut() } else { None };
        // A ring opens a file by one call, which takes no long path.
        let is_for_ring = |request: &Request<T>| request.source.path().is_some_and(|path| !is_long(path));
        let (batch, others): (Vec<_>, Vec<_>) = match ring {
            Some(_) if drawn.iter().all(|(_, request)| is_for_ring(request)) => (drawn, Vec::new()),
            Some(_) => drawn.into_iter().partition(|(_, request)| is_for_ring(request)),
            None => (Vec::new(), drawn),
        };
        lanes.reserve(self.room.nchunks());
        if let Some(ring) = ring.filter(|_| !batch.is_empty()) {
            let paths: Vec<&Path> = batch.iter().filter_map(|(_, request)| request.source.path()).collect();
            let started = Instant::now();
            let begun = self.room.fill(batch.len(), |chunks| ring.begin(&paths, chunks, &run.pool));
            run.turns.note_time(paths.len(), started.elapsed());
            let (begun, places) = begun.unwrap_or_else(|lost| {
                // The lost ring is closed, and no other is made.
                self.ring = Some(None);
                (paths.iter().map(|path| begun_in_vain(path, lost)).collect(), (0..).step_by(1))
            });
            for (((number, request), begun), place) in batch.into_iter().zip(begun).zip(places) {
                let mut lane = Lane::new(number, request);
                if matches!(begun, Begun::Later) {
                    self.later.push_back(lane);
                    continue;
                }
                lane.begin(begun, place, &run.turns, run.options);
                let Some(lane) = run.links.join(lane) else { continue };
                self.room.nbytes += lane.chunk(&self.room).len();
                lanes.push(lane);
            }
        }
        for (number, request) in others {
            // The file before may have shown that its disk seeks.
            let request = match run.turns.are_watched() {
                true => run.turns.park(number, request),
                false => Some(request),
            };
            let Some(request) = request else { continue };
            // A disk that no thread reads is not left waiting.
            if lanes.iter().any(|lane| lane.turn.is_some()) {
                run.give_back(number, request);
                continue;
            }
            self.open(Lane::new(number, request), None, run, lanes);
        }
    }

    /// Opens a file by itself and reads its first chunk. `turn`: the thread's turn, if it has one.
    fn open<I, F>(
        &mut self,
        mut lane: Lane<T>,
        turn: Option<Turn<T>>,
        run: &Run<'_, T, I, F>,
        lanes: &mut Vec<Lane<T>>,
    ) {
        // Opening another pipe may wait for a process that waits for the first pipe to be read.
        if lanes.iter().any(Lane::keeps_others_waiting) {
            self.later.push_back(lane);
            return;
        }
        lane.open();
        let Some(mut lane) = run.links.join(lane) else { return };
        if lane.is_known {
            lanes.push(lane);
            return;
        }
        let mut probed = None;
        if let Some(disk) = lane.slow_disk(&run.turns, 0) {
            probed = turn.as_ref().filter(|turn| turn.is_probe).map(Turn::disk);
            lane.turn = turn.or_else(|| run.turns.take(disk, &run.pool));
        }
        let started = Instant::now();
        lane.read(&mut self.room, run.options, &run.pool);
        if let Some(disk) = probed {
            run.turns.note_probe(disk, started.elapsed());
        }
        lanes.push(lane);
    }
}

/// The result for a file that a lost ring has begun. A file that can be read again is read by plain calls. The bytes
/// read from a pipe are lost with the ring, so the digest of the rest would be wrong.
fn begun_in_vain(path: &Path, lost: Lost) -> Begun {
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => Begun::NotRead(0, lost.into()),
        _ => Begun::Later,
    }
}

/// Moves the lanes for which this is true, in order, to `taken`, which is empty. In most rounds all are, or none is.
fn take_out<T>(lanes: &mut Vec<Lane<T>>, taken: &mut Vec<Lane<T>>, is_taken: impl Fn(&Lane<T>) -> bool) {
    let ntaken = lanes.iter().filter(|lane| is_taken(lane)).count();
    if ntaken == lanes.len() {
        std::mem::swap(lanes, taken);
    } else if ntaken > 0 {
        let (those, others) = lanes.drain(..).partition(is_taken);
        (*taken, *lanes) = (those, others);
    }
}

/// Hashes the bytes that all lanes have in this round, and ends the messages that are at their end.
fn hash<T>(lanes: &mut [Lane<T>], room: &Room<'_>, pool: &Pool) {
    let is_hashed = |lane: &Lane<T>| lane.error.is_none() && !lane.is_known;
    let mut algorithms = Vec::new();
    for method in lanes.iter().filter(|lane| is_hashed(lane)).flat_map(|lane| lane.request.methods.iter()) {
        if !algorithms.contains(&method.algorithm()) {
            algorithms.push(method.algorithm());
        }
    }
    for algorithm in algorithms {
        // Messages that begin and end in this round need no hasher. Among the others, messages that end come first.
        let (mut whole, mut ending, mut going_on) = (Vec::new(), Vec::new(), Vec::new());
        for (index, lane) in lanes.iter().enumerate().filter(|(_, lane)| is_hashed(lane)) {
            for (slot, method) in lane.request.methods.iter().enumerate() {
                if method.algorithm() == algorithm {
                    match (lane.has_ended, lane.hashers.is_empty() && method.is_plain()) {
                        (true, true) => whole.push((index, slot)),
                        (true, false) => ending.push((index, slot)),
                        (false, _) => going_on.push((index, slot)),
                    }
                }
            }
        }
        if !whole.is_empty() {
            hash_whole(lanes, room, pool, algorithm, &whole);
        }
        let nending = ending.len();
        ending.append(&mut going_on);
        if !ending.is_empty() {
            hash_parts(lanes, room, algorithm, &ending, nending);
        }
    }
}

fn hash_whole<T>(lanes: &mut [Lane<T>], room: &Room<'_>, pool: &Pool, algorithm: Algorithm, places: &[(usize, usize)]) {
    let messages: Vec<&[u8]> = places.iter().map(|&(index, _)| lanes[index].chunk(room)).collect();
    let mut digests = vec![0; places.len() * algorithm.digest_nbytes()];
    // A device that has failed fails at once.
    let device = room.device.filter(|_| messages.len() >= WORTH_A_DEVICE);
    let hashed = device.map(|device| pool.idle(|| device.hash_many(algorithm, &messages, &mut digests)));
    if hashed != Some(Ok(())) {
        hash_many(algorithm, &messages, &mut digests);
    }
    for (&(index, slot), bytes) in places.iter().zip(digests.chunks_exact(algorithm.digest_nbytes())) {
        lanes[index].set_digest(slot, Hash::new(algorithm, bytes));
    }
}

/// Hashes parts of messages; the first `nending` of `places` end their messages.
fn hash_parts<T>(
    lanes: &mut [Lane<T>],
    room: &Room<'_>,
    algorithm: Algorithm,
    places: &[(usize, usize)],
    nending: usize,
) {
    let mut hashers: Vec<Hasher> = places.iter().map(|&(index, slot)| lanes[index].take_hasher(slot)).collect();
    let chunks: Vec<&[u8]> = places.iter().map(|&(index, _)| lanes[index].chunk(room)).collect();
    update_many(&mut hashers, &chunks);
    let mut digests = vec![0; nending * algorithm.digest_nbytes()];
    finalize_many(&mut hashers[..nending], &mut digests);
    for (&(index, slot), bytes) in places.iter().zip(digests.chunks_exact(algorithm.digest_nbytes())) {
        let digest = Hash::new(algorithm, bytes);
        let lane = &mut lanes[index];
        lane.set_digest(slot, lane.request.methods[slot].finish(digest));
    }
    for (&(index, slot), hasher) in places.iter().zip(hashers).skip(nending) {
        lanes[index].hashers[slot] = Some(hasher);
    }
}

/// A panic elsewhere leaves nothing half-done in the data behind these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
