// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files on a disk that seeks are read one after the other, in the order of their inodes.
//!
//! A hard disk moves its heads for each file that is read beside another one. A thread that finds a file on such a disk,
//! and not in memory, takes the disk's turn, keeps the turn while it reads the file to its end, and starts no other file
//! meanwhile. Hashing goes on beside it, on the other threads and on the same one while the system reads ahead. Each
//! disk has a turn of its own.
//!
//! From then on, requests are looked at before their files are opened: those for such a disk are parked, many at a time,
//! and taken in the order of the inodes, which is about that of the places on the disk. If only short files show what
//! the disk is, three parked files far from each other are timed: many disks say that they seek and do not.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::files::request::Request;
use crate::paths;
use crate::read::device::{self, LONG_NBYTES, SEEK_TIME};
use crate::read::open::is_in_memory;
use crate::run::pool::{LOOK, Pool};

/// After this many files in a row that needed no turn, requests are no longer parked.
const ENOUGH: usize = 64;

/// Largest number of parked requests, and of those for a disk of which it is not known whether it seeks.
const PARKED_MAX: usize = 1 << 14;
const PROBED_MAX: usize = 1 << 10;

/// Least number of parked requests among which some are far from each other.
const PROBED_MIN: usize = 64;

/// The rights to read disks that seek, each of which one thread has at a time, and the requests that wait for them.
pub(super) struct Turns<T> {
    disks: Mutex<HashMap<u64, Disk<T>>>,
    free: Condvar,
    /// Number of files for which a turn is still to be taken; 0 until a file on such a disk is found.
    left: AtomicUsize,
    nparked: AtomicUsize,
}

struct Disk<T> {
    is_taken: bool,
    /// Whether the disk seeks; `None` if only its own word is known.
    seeks: Option<bool>,
    /// Times of reads at places far from each other.
    times: Vec<Duration>,
    /// Requests by inode and number.
    parked: BTreeMap<(u64, u64), Request<T>>,
    /// The inode and number of the request that was taken last.
    last: (u64, u64),
}

/// The right to read a disk, until dropped.
pub(super) struct Turn<T> {
    turns: Arc<Turns<T>>,
    disk: u64,
    /// Whether the place to read is far from the one before, and the disk is not known.
    pub(super) is_probe: bool,
}

/// A request that may be begun.
pub(super) enum Parked<T> {
    /// A request for a disk that seeks.
    Next(u64, Request<T>, Turn<T>),
    /// Requests for disks that do not seek after all.
    Free(Vec<(u64, Request<T>)>),
}

impl<T> Turns<T> {
    pub(super) fn new() -> Arc<Turns<T>> {
        Arc::new(Turns {
            disks: Mutex::default(),
            free: Condvar::new(),
            left: AtomicUsize::new(0),
            nparked: AtomicUsize::new(0),
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Disk<T>>> {
        self.disks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the last files were on a disk that seeks, or may have been: the next files are looked at one by one.
    pub(super) fn are_watched(&self) -> bool {
        self.left.load(Ordering::Relaxed) > 0
    }

    /// Notes the time in which `count` short files were opened and read at once. While no slow disk is known, and a disk
    /// may have moved its heads for each file, the next files are looked at one by one.
    pub(super) fn note_time(&self, count: usize, time: Duration) {
        if time >= SEEK_TIME * count as u32 && self.lock().is_empty() {
            self.left.store(ENOUGH, Ordering::Relaxed);
        }
    }

    /// Notes whether a file must be read in a turn from `offset` on, and returns its disk in that case.
    pub(super) fn note(&self, file: &File, offset: u64) -> Option<u64> {
        let disk = if is_in_memory(file, offset) { None } else { self.slow_disk(file) };
        match disk {
            Some(_) => self.left.store(ENOUGH, Ordering::Relaxed),
            None => {
                let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            }
        }
        disk
    }

    /// The disk of a file, if it seeks or may seek.
    fn slow_disk(&self, file: &File) -> Option<u64> {
        if !device::seeks(file) {
            return None;
        }
        let metadata = file.metadata().ok()?;
        let (disk, _) = place(&metadata)?;
        let known = self.lock().entry(disk).or_default().seeks;
        let seeks = match known {
            Some(true) => return Some(disk),
            // Short files may have been too near to each other.
            _ if metadata.len() >= LONG_NBYTES => Some(device::is_seen_to_seek(file, metadata.len())),
            known => known,
        };
        if seeks.is_some() {
            self.lock().entry(disk).or_default().seeks = seeks;
        }
        seeks.unwrap_or(true).then_some(disk)
    }

    /// Notes the time of a read at a place far from the one before.
    pub(super) fn note_probe(&self, disk: u64, time: Duration) {
        let mut disks = self.lock();
        let disk = disks.entry(disk).or_default();
        disk.times.push(time);
        if disk.times.len() >= PROBES.len() {
            // The quickest read counts: a busy disk makes any of them slow.
            let seeks = disk.times.iter().all(|&time| time >= SEEK_TIME);
            disk.seeks = Some(seeks);
            if !seeks {
                self.left.store(0, Ordering::Relaxed);
            }
        }
    }

    /// Number of parked requests.
    pub(super) fn nparked(&self) -> usize {
        self.nparked.load(Ordering::Relaxed)
    }

    /// Whether there is room for more parked requests.
    pub(super) fn has_room(&self) -> bool {
        let has_room = |disk: &Disk<T>| disk.seeks.is_some() || disk.parked.len() < PROBED_MAX;
        self.nparked() < PARKED_MAX && self.lock().values().all(has_room)
    }

    /// Parks a request if its file is on a disk that seeks or may seek. Otherwise the request comes back.
    pub(super) fn park(&self, number: u64, request: Request<T>) -> Option<Request<T>> {
        let look = |path: &Path| paths::metadata(path).ok().filter(|metadata| metadata.is_file());
        let Some((disk, inode)) = request.source.path().and_then(look).and_then(|metadata| place(&metadata)) else {
            return Some(request);
        };
        match self.lock().get_mut(&disk) {
            Some(disk) if disk.seeks != Some(false) => {
                disk.parked.insert((inode, number), request);
                self.nparked.fetch_add(1, Ordering::Relaxed);
                self.free.notify_one();
                None
            }
            _ => Some(request),
        }
    }

    /// Takes at most `most` parked requests. If all their disks are being read, waits for one if `may_wait`. `None` if
    /// nothing is parked, or can be begun now, or the pool must stop.
    pub(super) fn take_parked(self: &Arc<Turns<T>>, most: usize, may_wait: bool, pool: &Pool) -> Option<Parked<T>> {
        if self.nparked() == 0 {
            return None;
        }
        let mut disks = self.lock();
        while self.nparked() > 0 && !pool.must_stop() {
            let is_over = !self.are_watched();
            let mut waiting = disks.iter_mut().filter(|(_, disk)| !disk.parked.is_empty());
            let found = waiting.find(|(_, disk)| is_over || disk.seeks == Some(false) || !disk.is_taken);
            if let Some((&number, disk)) = found {
                if is_over || disk.seeks == Some(false) {
                    let taken = std::iter::from_fn(|| disk.parked.pop_first()).take(most);
                    let taken: Vec<_> = taken.map(|((_, number), request)| (number, request)).collect();
                    self.nparked.fetch_sub(taken.len(), Ordering::Relaxed);
                    return Some(Parked::Free(taken));
                }
                let (key, is_probe) = disk.next_key()?;
                let request = disk.parked.remove(&key)?;
                self.nparked.fetch_sub(1, Ordering::Relaxed);
                (disk.last, disk.is_taken) = (key, true);
                return Some(Parked::Next(key.1, request, Turn { turns: self.clone(), disk: number, is_probe }));
            }
            if !may_wait {
                return None;
            }
            disks = self.free.wait_timeout(disks, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        None
    }

    /// Takes the turn of a disk, and waits for it. `None` if the pool must stop.
    pub(super) fn take(self: &Arc<Turns<T>>, disk: u64, pool: &Pool) -> Option<Turn<T>> {
        let mut disks = self.lock();
        while disks.entry(disk).or_default().is_taken {
            if pool.must_stop() {
                return None;
            }
            disks = self.free.wait_timeout(disks, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        disks.entry(disk).or_default().is_taken = true;
        Some(Turn { turns: self.clone(), disk, is_probe: false })
    }
}

/// Places in the order of inodes, in sevenths, that are read to see whether a disk seeks: each is far from the one
/// before.
const PROBES: [usize; 3] = [5, 1, 3];

impl<T> Disk<T> {
    /// The request to take next, and whether its place is far from the one before and the disk is not known.
    fn next_key(&self) -> Option<((u64, u64), bool)> {
        if self.seeks.is_none() && self.parked.len() >= PROBED_MIN {
            let at = self.parked.len() * PROBES[self.times.len() % PROBES.len()] / 7;
            return self.parked.keys().nth(at).map(|&key| (key, true));
        }
        let next = self.parked.range(self.last..).next().or_else(|| self.parked.first_key_value());
        next.map(|(&key, _)| (key, false))
    }
}

impl<T> Default for Disk<T> {
    fn default() -> Disk<T> {
        Disk { is_taken: false, seeks: None, times: Vec::new(), parked: BTreeMap::new(), last: (0, 0) }
    }
}

impl<T> Turn<T> {
    pub(super) fn disk(&self) -> u64 {
        self.disk
    }
}

impl<T> Drop for Turn<T> {
    fn drop(&mut self) {
        self.turns.lock().entry(self.disk).or_default().is_taken = false;
        // A thread may wait for another disk.
        self.turns.free.notify_all();
    }
}

/// The numbers of a file's disk and inode.
#[cfg(unix)]
fn place(metadata: &std::fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn place(_metadata: &std::fs::Metadata) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use hashloom::Algorithm;

    use super::*;
    use crate::run::{Cancel, Options};

    const NEAR: Duration = Duration::from_micros(100);
    const FAR: Duration = Duration::from_millis(8);

    fn pool(cancel: &Cancel) -> Pool {
        Pool::new(1, &Options::new().cancel(cancel))
    }

    fn request(name: &str) -> Request {
        Request::digest(name, Algorithm::Sha1)
    }

    /// Turns for requests with these inodes, on disk 1.
    fn parked(inodes: &[u64]) -> Arc<Turns<()>> {
        let turns = Turns::new();
        let mut disks = turns.lock();
        for (number, &inode) in inodes.iter().enumerate() {
            disks.entry(1).or_default().parked.insert((inode, number as u64), request("a"));
        }
        drop(disks);
        turns.nparked.store(inodes.len(), Ordering::Relaxed);
        turns.left.store(ENOUGH, Ordering::Relaxed);
        turns
    }

    #[test]
    fn one_turn_at_a_time_for_each_disk() {
        let (turns, cancel) = (Turns::<()>::new(), Cancel::new());
        let pool = pool(&cancel);
        let first = turns.take(1, &pool).unwrap();
        let _other = turns.take(2, &pool).unwrap();
        let waiting = std::thread::scope(|scope| {
            let other = scope.spawn(|| turns.take(1, &pool).is_some());
            drop(first);
            other.join().unwrap()
        });
        assert!(waiting);
        let _second = turns.take(1, &pool).unwrap();
        cancel.cancel();
        assert!(turns.take(1, &pool).is_none(), "a stop ends the wait");
    }

    #[test]
    fn files_in_memory_need_no_turn() {
        let turns = Turns::<()>::new();
        let file = tempfile::tempfile().unwrap();
        assert!(turns.note(&file, 0).is_none() && !turns.are_watched());
        file.set_len(2 * LONG_NBYTES).unwrap();
        std::io::copy(&mut &file, &mut std::io::sink()).unwrap();
        assert!(turns.note(&file, 0).is_none() && !turns.are_watched());
    }

    #[test]
    fn parked_requests_come_in_the_order_of_inodes() {
        let (turns, pool) = (parked(&[30, 10, 20, 10]), pool(&Cancel::new()));
        turns.lock().get_mut(&1).unwrap().last = (15, 0);
        let next = || match turns.take_parked(9, true, &pool) {
            Some(Parked::Next(number, ..)) => number,
            _ => panic!("nothing to take"),
        };
        assert_eq!([next(), next(), next(), next()], [2, 0, 1, 3]);
        assert!(turns.take_parked(9, true, &pool).is_none());
        // A disk that is being read makes others wait, or go on with something else.
        let turns = parked(&[1, 2]);
        let _first = turns.take_parked(9, true, &pool);
        assert!(turns.take_parked(9, false, &pool).is_none());
    }

    #[test]
    fn a_disk_that_only_says_that_it_seeks_is_found_out() {
        for (times, seeks) in [([FAR, FAR, FAR], true), ([FAR, NEAR, FAR], false)] {
            let (turns, pool) = (parked(&(10..80).collect::<Vec<_>>()), pool(&Cancel::new()));
            let mut taken = Vec::new();
            for time in times {
                let Some(Parked::Next(number, _, turn)) = turns.take_parked(9, true, &pool) else { panic!("no turn") };
                assert!(turn.is_probe);
                taken.push(number);
                turns.note_probe(turn.disk(), time);
            }
            assert_eq!(taken, [50, 9, 30], "each far from the one before");
            match turns.take_parked(5, true, &pool) {
                Some(Parked::Next(31, _, turn)) => assert!(seeks && !turn.is_probe),
                Some(Parked::Free(requests)) => assert!(!seeks && requests.len() == 5),
                _ => panic!("nothing to take"),
            }
        }
    }

    #[test]
    fn requests_stay_parked_only_while_files_need_turns() {
        let (turns, pool) = (parked(&[1, 2, 3]), pool(&Cancel::new()));
        let file = tempfile::tempfile().unwrap();
        (0..ENOUGH).for_each(|_| assert!(turns.note(&file, 0).is_none()));
        assert!(matches!(turns.take_parked(2, true, &pool), Some(Parked::Free(requests)) if requests.len() == 2));
        assert_eq!(turns.nparked(), 1);
        assert!(matches!(turns.take_parked(2, true, &pool), Some(Parked::Free(requests)) if requests.len() == 1));
        assert_eq!(turns.nparked(), 0);
    }

    #[test]
    fn only_files_on_known_disks_are_parked() {
        let turns = Turns::<()>::new();
        let file = tempfile::NamedTempFile::new().unwrap();
        let name = file.path().to_str().unwrap();
        assert!(turns.park(0, request(name)).is_some(), "the disk is not known");
        if let Some((disk, _)) = place(&file.path().metadata().unwrap()) {
            turns.lock().entry(disk).or_default();
            assert!(turns.park(0, request(name)).is_none() && turns.nparked() == 1);
            assert!(turns.park(1, request("/no/such/file")).is_some());
            assert!(turns.park(2, request("/")).is_some());
            turns.lock().entry(disk).or_default().seeks = Some(false);
            assert!(turns.park(3, request(name)).is_some());
        }
    }
}
