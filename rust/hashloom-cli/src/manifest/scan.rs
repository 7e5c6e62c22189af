// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads a folder: every entry that its manifest has now, in order.
//!
//! The walk feeds the files to the engine as it asks for them; everything else, and files whose digests are known, take
//! a slot in a queue, and so does each file that is being read. What has come to the front of the queue is handed out.
//!
//! A file that changes while it is read is read again. The stamps before and after tell, but file systems count time in
//! steps: a file that was changed a moment before it was read could be changed again without another stamp, so it is
//! read again too, after that moment.

use std::collections::VecDeque;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hashloom::files::{FileError, Hashed, Method, Options, Request, Stamp, hash_files};
use hashloom::manifest::{Entry, Error, Journal, Kind, Reason, compare_paths};
use hashloom::{Algorithm, Digest};

use super::walk::{Found, Walk, What};
use crate::progress::Bar;

/// A file is read so many times, if it changes meanwhile.
const TRIES: usize = 3;

/// Two changes in less than this may leave the same stamp: the clock of ext4 and others ticks every 1 to 10 ms.
const TICK: Duration = Duration::from_millis(50);

/// Entries that may wait for a file that is being read. If there are more, files are read though their digests are
/// known: then the engine asks for no more.
const QUEUE_MAX: usize = 1 << 16;

/// What is to be done.
pub struct Scan<'a, I> {
    pub root: &'a Path,
    pub algorithms: &'a [Algorithm],
    /// Do not read the files.
    pub quick: bool,
    /// Paths below the root that are not part of it.
    pub without: Vec<PathBuf>,
    /// Digests are taken from it and added to it.
    pub journal: Option<Journal>,
    /// The entries of a manifest, from which the digests of files that have the same length and time are taken; and
    /// where those of each algorithm are.
    pub update: Option<(I, Vec<usize>)>,
    pub stop: &'a AtomicBool,
    /// Shows the bytes that were read or need not be.
    pub bar: &'a Bar,
    pub is_bar_wanted: bool,
}

/// What was done.
#[derive(Debug, Default)]
pub struct Summary {
    /// Files read, and bytes of them.
    pub nread: u64,
    pub nbytes: u64,
    /// Files whose digests were known.
    pub nreused: u64,
    /// Neither files, links nor folders.
    pub nothers: u64,
    pub cancelled: bool,
}

/// An entry, and if it could not be read, why.
pub type Entered = (Entry, Option<String>);

/// What a file came to.
enum Settled {
    File(Stamp, Vec<Digest>),
    Unread(Reason, String),
    Vanished,
    Cancelled,
}

enum Slot {
    Waiting,
    Ready(Option<Entered>),
}

/// What the walk and the results share.
struct Shared<F> {
    queue: VecDeque<Slot>,
    /// The number of the first slot of the queue.
    first: u64,
    each: F,
    journal: Option<Journal>,
    failed: Option<String>,
    summary: Summary,
}

/// With each request.
struct Tag {
    slot: u64,
    path: Vec<u8>,
    drawn_ns: i64,
}

/// Hands every entry to `each`, until it fails.
pub fn scan<I>(
    scan: Scan<'_, I>,
    options: Options<'_>,
    each: impl FnMut(Entered) -> Result<(), String> + Send,
) -> Result<Summary, String>
where
    I: Iterator<Item = Result<Entry, Error>> + Send,
{
    let walk = Walk::new(scan.root).map_err(|error| format!("{}: {error}", crate::text::display(scan.root)))?;
    let stop = scan.stop;
    let reused = AtomicU64::new(0);
    let show = |nbytes: u64| scan.bar.set(nbytes + reused.load(Ordering::Relaxed));
    let mut options = options.stamps(true).cancel(stop);
    if scan.is_bar_wanted && scan.bar.is_wanted() {
        options = options.progress(&show);
    }
    let shared = Mutex::new(Shared {
        queue: VecDeque::new(),
        first: 0,
        each,
        journal: scan.journal,
        failed: None,
        summary: Summary::default(),
    });
    let draw = Draw {
        walk,
        root: scan.root,
        methods: scan.algorithms.iter().map(|&algorithm| Method::from(algorithm)).collect(),
        quick: scan.quick,
        without: scan.without,
        update: scan.update.map(|(entries, places)| Update { entries, places, ahead: None }),
        stop,
        reused: &reused,
        shared: &shared,
    };
    let done = hash_files(draw, &options, |request, result| {
        let settled = settle(&request, result, stop);
        lock(&shared).settle(request.tag, settled, stop);
    });
    scan.bar.finish();
    let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(message) = shared.failed {
        return Err(message);
    }
    if let Some(mut journal) = shared.journal {
        journal.flush().map_err(|error| format!("the journal cannot be written: {error}"))?;
    }
    let cancelled = done.cancelled || stop.load(Ordering::Relaxed);
    Ok(Summary { cancelled, ..shared.summary })
}

/// Draws from the walk what is to be read.
struct Draw<'a, I, F> {
    walk: Walk,
    root: &'a Path,
    methods: Arc<[Method]>,
    quick: bool,
    without: Vec<PathBuf>,
    update: Option<Update<I>>,
    stop: &'a AtomicBool,
    reused: &'a AtomicU64,
    shared: &'a Mutex<Shared<F>>,
}

/// A manifest beside the walk.
struct Update<I> {
    entries: I,
    places: Vec<usize>,
    ahead: Option<Entry>,
}

impl<I, F> Iterator for Draw<'_, I, F>
where
    I: Iterator<Item = Result<Entry, Error>>,
    F: FnMut(Entered) -> Result<(), String>,
{
    type Item = Request<Tag>;

    fn next(&mut self) -> Option<Request<Tag>> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return None;
            }
            let found = self.walk.next()?;
            if self.without.contains(&found.path) {
                continue;
            }
            let path = below(&found.path);
            let place = self.root.join(&found.path);
            match self.look(&found, &path, &place) {
                Ok(Look::Entry(entered)) => lock(self.shared).put(Slot::Ready(Some(entered)), self.stop),
                Ok(Look::Nothing) => {}
                Ok(Look::Read) => {
                    let slot = lock(self.shared).wait();
                    let tag = Tag { slot, path, drawn_ns: now_ns() };
                    return Some(Request { source: place.into(), methods: self.methods.clone(), tag });
                }
                Err(message) => {
                    lock(self.shared).fail(message, self.stop);
                    return None;
                }
            }
        }
    }
}

enum Look {
    Entry(Entered),
    Nothing,
    Read,
}

impl<I, F> Draw<'_, I, F>
where
    I: Iterator<Item = Result<Entry, Error>>,
    F: FnMut(Entered) -> Result<(), String>,
{
    fn look(&mut self, found: &Found, path: &[u8], place: &Path) -> Result<Look, String> {
        let entry = |kind| Look::Entry((Entry { path: path.to_vec(), kind }, None));
        let looked = match &found.what {
            What::Folder => Ok(entry(Kind::Folder)),
            What::Link => fs::read_link(place)
                .map(|target| entry(Kind::Link { target: target.into_os_string().into_encoded_bytes() })),
            What::Other => {
                lock(self.shared).summary.nothers += 1;
                Ok(Look::Nothing)
            }
            What::Error(error) => Ok(Look::Entry(unread(path, Reason::Unreadable, error.to_string()))),
            What::File if self.quick => fs::symlink_metadata(place).map(|metadata| {
                let Stamp { nbytes, mtime_ns, .. } = Stamp::of(&metadata);
                entry(Kind::File { nbytes, mtime_ns, digests: Vec::new() })
            }),
            What::File => return self.known(path, place).map(|known| known.map_or(Look::Read, entry)),
        };
        Ok(match looked {
            Ok(looked) => looked,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Look::Nothing,
            Err(error) => Look::Entry(unread(path, Reason::Unreadable, error.to_string())),
        })
    }

    /// What is known of a file, so that it need not be read.
    fn known(&mut self, path: &[u8], place: &Path) -> Result<Option<Kind>, String> {
        let old = match &mut self.update {
            Some(update) => update.find(path)?,
            None => None,
        };
        let mut shared = lock(self.shared);
        if shared.queue.len() >= QUEUE_MAX || (old.is_none() && shared.journal.is_none()) {
            return Ok(None);
        }
        let Some(stamp) = fs::symlink_metadata(place).ok().filter(Metadata::is_file).map(|m| Stamp::of(&m)) else {
            return Ok(None);
        };
        let Stamp { nbytes, mtime_ns, .. } = stamp;
        let digests = match shared.journal.as_mut().and_then(|journal| journal.find(path, &stamp)) {
            Some(digests) => Some(digests),
            None => {
                old.filter(|&(old_nbytes, old_mtime, _)| (old_nbytes, old_mtime) == (nbytes, mtime_ns)).map(|old| old.2)
            }
        };
        let kind = digests.map(|digests| Kind::File { nbytes, mtime_ns, digests });
        if kind.is_some() {
            shared.summary.nreused += 1;
            self.reused.fetch_add(nbytes, Ordering::Relaxed);
        }
        Ok(kind)
    }
}

impl<I: Iterator<Item = Result<Entry, Error>>> Update<I> {
    /// Length, time and digests that the manifest has of a file. Paths must come in order.
    fn find(&mut self, path: &[u8]) -> Result<Option<(u64, i64, Vec<Digest>)>, String> {
        loop {
            let entry = match self.ahead.take() {
                Some(entry) => Some(entry),
                None => self.entries.next().transpose().map_err(|error| format!("--update: {error}"))?,
            };
            let Some(entry) = entry else { return Ok(None) };
            match compare_paths(&entry.path, path) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => {
                    return Ok(match entry.kind {
                        Kind::File { nbytes, mtime_ns, digests } => {
                            let digests = self.places.iter().map(|&place| digests.get(place).copied());
                            digests.collect::<Option<_>>().map(|digests| (nbytes, mtime_ns, digests))
                        }
                        _ => None,
                    });
                }
                std::cmp::Ordering::Greater => {
                    self.ahead = Some(entry);
                    return Ok(None);
                }
            }
        }
    }
}

impl<F: FnMut(Entered) -> Result<(), String>> Shared<F> {
    /// A slot at the end of the queue, for a file that is going to be read.
    fn wait(&mut self) -> u64 {
        self.queue.push_back(Slot::Waiting);
        self.first + self.queue.len() as u64 - 1
    }

    fn put(&mut self, slot: Slot, stop: &AtomicBool) {
        self.queue.push_back(slot);
        self.hand_out(stop);
    }

    fn settle(&mut self, tag: Tag, settled: Settled, stop: &AtomicBool) {
        let entered = match settled {
            // What comes after it is not handed out.
            Settled::Cancelled => return,
            Settled::Vanished => None,
            Settled::Unread(reason, message) => Some(unread(&tag.path, reason, message)),
            Settled::File(stamp, digests) => {
                self.summary.nread += 1;
                self.summary.nbytes += stamp.nbytes;
                if let Some(Err(error)) = self.journal.as_mut().map(|journal| journal.add(&tag.path, &stamp, &digests))
                {
                    self.fail(format!("the journal cannot be written: {error}"), stop);
                }
                let kind = Kind::File { nbytes: stamp.nbytes, mtime_ns: stamp.mtime_ns, digests };
                Some((Entry { path: tag.path, kind }, None))
            }
        };
        if let Some(slot) = self.queue.get_mut((tag.slot - self.first) as usize) {
            *slot = Slot::Ready(entered);
        }
        self.hand_out(stop);
    }

    fn hand_out(&mut self, stop: &AtomicBool) {
        while let Some(Slot::Ready(entered)) = self.queue.front_mut() {
            let entered = entered.take();
            self.queue.pop_front();
            self.first += 1;
            if let (Some(entered), None) = (entered, &self.failed) {
                if let Err(message) = (self.each)(entered) {
                    self.fail(message, stop);
                }
            }
        }
    }

    fn fail(&mut self, message: String, stop: &AtomicBool) {
        self.failed.get_or_insert(message);
        stop.store(true, Ordering::Relaxed);
    }
}

/// Reads a file again if it has to be.
fn settle(request: &Request<Tag>, result: Result<Hashed, FileError>, stop: &AtomicBool) -> Settled {
    let (mut result, mut drawn_ns) = (result, request.tag.drawn_ns);
    for tries_left in (0..TRIES).rev() {
        let wait = match result {
            Err(error) if error.io().kind() == io::ErrorKind::NotFound => return Settled::Vanished,
            Err(error) => return Settled::Unread(Reason::Unreadable, error.to_string()),
            Ok(Hashed { stamps: None, .. }) => Duration::ZERO,
            Ok(Hashed { stamps: Some([before, after]), digests, nbytes, .. }) => {
                let is_fresh = is_fresh(&after, drawn_ns);
                if before == after && after.nbytes == nbytes && !is_fresh {
                    return Settled::File(after, digests);
                }
                if is_fresh { TICK } else { Duration::ZERO }
            }
        };
        if tries_left == 0 {
            break;
        }
        std::thread::sleep(wait);
        drawn_ns = now_ns();
        let mut again = None;
        let options = Options::new().threads(1).stamps(true).cancel(stop);
        let request = Request { source: request.source.clone(), methods: request.methods.clone(), tag: () };
        hash_files(std::iter::once(request), &options, |_, result| again = Some(result));
        result = match again {
            Some(result) => result,
            None => return Settled::Cancelled,
        };
    }
    Settled::Unread(Reason::Unstable, format!("it changed while it was read, {TRIES} times"))
}

/// Whether it was changed so short a time before it was read, or since, that its stamp may not tell of another change.
fn is_fresh(stamp: &Stamp, drawn_ns: i64) -> bool {
    let changed = stamp.ctime_ns.max(stamp.mtime_ns);
    // A clock elsewhere may be ahead by days: what it says is of no moment here.
    (drawn_ns.saturating_sub(TICK.as_nanos() as i64)..=now_ns()).contains(&changed)
}

fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

fn unread(path: &[u8], reason: Reason, message: String) -> Entered {
    (Entry { path: path.to_vec(), kind: Kind::Unread(reason) }, Some(message))
}

/// The bytes of a relative path, components joined by `/`.
fn below(path: &Path) -> Vec<u8> {
    let components: Vec<&[u8]> = path.iter().map(|component| component.as_encoded_bytes()).collect();
    components.join(&b'/')
}

/// A panic elsewhere leaves nothing half-done in what the lock guards.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
