// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads a folder: every entry that its manifest would have now, in order.

use std::cmp;
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashloom::{Algorithm, Hash};
use hashloom_engine::files::{Doubt, Event, FileError, Hashed, Method, Noted, Request, Stamp, Step, hash_steps};
use hashloom_engine::manifest::{Entry, Error, Journal, Kind, Reason};
use hashloom_engine::paths::{by_components, to_bytes};
use hashloom_engine::run::{Cancel, Options};
use hashloom_engine::walk::{self, Walk, WalkError};

use crate::progress::Bar;
use crate::text::display;

/// A folder to scan, and how.
pub struct Scan<'a, I> {
    pub root: &'a Path,
    pub algorithms: &'a [Algorithm],
    /// Do not read the files.
    pub quick: bool,
    /// Paths below the root that are not part of it.
    pub without: Vec<PathBuf>,
    /// Known digests are taken from the journal, and new ones added to it.
    pub journal: Option<Journal>,
    /// The entries of an old manifest, and the places of the digests of each algorithm in them. A file with the length
    /// and time of its entry takes its digests from there.
    pub update: Option<(I, Vec<usize>)>,
    pub stop: Cancel,
    /// Shows the bytes that were read or need not be read.
    pub bar: &'a Bar,
    pub is_bar_wanted: bool,
}

/// The totals of a run.
#[derive(Debug, Default)]
pub struct Summary {
    /// Number of files read; in the next line, their bytes.
    pub nread: u64,
    pub nbytes: u64,
    /// Files whose digests were known.
    pub nreused: u64,
    /// Files whose known digests were not trusted, counted by the reason.
    pub doubts: BTreeMap<Doubt, u64>,
    /// Entries that are neither files, links nor folders.
    pub nothers: u64,
    pub cancelled: bool,
}

/// An entry, and the reason if it could not be read.
pub type Entered = (Entry, Option<String>);

/// The outcome for a file.
enum Settled {
    File(Stamp, Vec<Hash>),
    Unread(Reason, String),
    Vanished,
}

/// Goes with each file that is read.
struct Tag {
    number: u64,
    path: Vec<u8>,
    /// The state of the file before it was read, if there is a journal to note it.
    noted: Option<Noted>,
}

/// A result that needs no reading, in its place between the files that are read.
enum Note {
    Entry { number: u64, entered: Entered },
    Failed(String),
}

/// State shared by the threads that draw steps and the threads that hash.
struct Shared {
    journal: Option<Journal>,
    summary: Summary,
    /// Bytes that need not be read; bytes that the engine read before it restarted its count; bytes since.
    reused: u64,
    before: u64,
    now: u64,
}

/// The first failure, which stops all.
#[derive(Clone)]
struct Failure {
    message: Arc<Mutex<Option<String>>>,
    stop: Cancel,
}

impl Failure {
    fn set(&self, message: String) {
        lock(&self.message).get_or_insert(message);
        self.stop.cancel();
    }

    fn journaled(&self, written: Option<io::Result<()>>) {
        if let Some(Err(error)) = written {
            self.set(not_journaled(&error));
        }
    }
}

/// Hands every entry to `each`, until `each` fails.
pub fn scan<I>(
    scan: Scan<'_, I>,
    options: Options,
    mut each: impl FnMut(Entered) -> Result<(), String> + Send,
) -> Result<Summary, String>
where
    I: Iterator<Item = Result<Entry, Error>> + Send,
{
    let Scan { root, stop, bar, .. } = scan;
    let is_bar_wanted = scan.is_bar_wanted && bar.is_wanted();
    let shared = Shared { journal: scan.journal, summary: Summary::default(), reused: 0, before: 0, now: 0 };
    let shared = Arc::new(Mutex::new(shared));
    let failure = Failure { message: Arc::default(), stop: stop.clone() };
    let (told, unflushed, shown) = (shared.clone(), failure.clone(), bar.clone());
    let options = options.cancel(&stop).progress(move |progress| {
        // The thread that has the lock shows the progress the next time.
        let Ok(mut shared) = told.try_lock() else { return };
        let position = shared.position(progress.nbytes);
        // Nothing else flushes the journal while a long file is read.
        let flushed = shared.journal.as_mut().map(Journal::flush_if_due);
        drop(shared);
        unflushed.journaled(flushed);
        if is_bar_wanted {
            shown.set(position);
        }
    });
    let mut steps = Steps {
        walk: Walk::new(root).entries().peekable(),
        root,
        methods: scan.algorithms.iter().map(|&algorithm| Method::from(algorithm)).collect(),
        quick: scan.quick,
        without: scan.without,
        update: scan.update.map(|(entries, places)| Update { entries, places, ahead: None }),
        shared: &shared,
        number: 0,
        unlisted: None,
    };
    let steps = std::iter::from_fn(|| if stop.is_cancelled() { None } else { steps.next() });
    // A cancelled run has no result for some files: entries after the first of these are not handed out.
    let mut next = 0;
    let is_done = hash_steps(steps, &options, |event| {
        let (number, entered) = match event {
            Event::Note(Note::Entry { number, entered }) => (number, Some(entered)),
            Event::Note(Note::Failed(message)) => return failure.set(message),
            Event::Hashed(request, result) => {
                let Tag { number, path, noted } = request.tag;
                match settle(result) {
                    Settled::Vanished => (number, None),
                    Settled::Unread(reason, message) => (number, Some(unread(path, reason, message))),
                    Settled::File(stamp, digests) => {
                        failure.journaled(lock(&shared).read(&path, &stamp, noted, &digests));
                        let kind = Kind::File { nbytes: stamp.nbytes, mtime_ns: stamp.mtime_ns, digests };
                        (number, Some((Entry { path, kind }, None)))
                    }
                }
            }
        };
        if number == next {
            next += 1;
            let has_failed = lock(&failure.message).is_some();
            if let Some(entered) = entered.filter(|_| !has_failed) {
                each(entered).unwrap_or_else(|message| failure.set(message));
            }
        }
    });
    bar.finish();
    if let Some(message) = lock(&failure.message).take() {
        return Err(message);
    }
    let (journal, summary) = {
        let mut shared = lock(&shared);
        (shared.journal.take(), std::mem::take(&mut shared.summary))
    };
    if let Some(mut journal) = journal {
        journal.flush().map_err(|error| not_journaled(&error))?;
    }
    Ok(Summary { cancelled: !is_done || stop.is_cancelled(), ..summary })
}

impl Shared {
    /// Counts a file that was read, and adds it to the journal.
    fn read(&mut self, path: &[u8], stamp: &Stamp, noted: Option<Noted>, digests: &[Hash]) -> Option<io::Result<()>> {
        self.summary.nread += 1;
        self.summary.nbytes += stamp.nbytes;
        // A file that has changed since it was noted is read again in the next run; it may be complete by then.
        let noted = noted.filter(|noted| noted.stamp == *stamp)?;
        self.journal.as_mut().map(|journal| journal.add(path, &noted, digests))
    }

    /// Returns the progress when the engine has hashed `nbytes`. The engine's count restarts at 0 now and then.
    fn position(&mut self, nbytes: u64) -> u64 {
        if nbytes < self.now {
            self.before += self.now;
        }
        self.now = nbytes;
        self.before + self.now + self.reused
    }
}

/// Draws from the walk the files to read, and the entries that need no reading.
struct Steps<'a, W: Iterator, I> {
    walk: Peekable<W>,
    root: &'a Path,
    methods: Arc<[Method]>,
    quick: bool,
    without: Vec<PathBuf>,
    update: Option<Update<I>>,
    shared: &'a Mutex<Shared>,
    /// The number of the next step.
    number: u64,
    /// A folder whose listing failed.
    unlisted: Option<PathBuf>,
}

/// An old manifest beside the walk.
struct Update<I> {
    entries: I,
    places: Vec<usize>,
    ahead: Option<Entry>,
}

enum Look {
    Entry(Entered),
    Nothing,
    Read,
}

impl<W, I> Steps<'_, W, I>
where
    W: Iterator<Item = Result<walk::Entry, WalkError>>,
    I: Iterator<Item = Result<Entry, Error>>,
{
    fn next(&mut self) -> Option<Step<Tag, Note>> {
        loop {
            let found = self.walk.next()?;
            let place = match &found {
                Ok(entry) => &entry.path,
                Err(error) => &error.path,
            };
            let path = place.strip_prefix(self.root).unwrap_or(place);
            let is_below = |folder: &PathBuf| place.starts_with(folder);
            if self.without.iter().any(|other| other == path) || self.unlisted.as_ref().is_some_and(is_below) {
                continue;
            }
            let (path, place) = (to_bytes(path), place.clone());
            let looked = match found {
                Ok(entry) => self.look(&entry, &path),
                // The error is of the root itself.
                Err(error) if path.is_empty() => Err(format!("{}: {}", display(self.root), error.problem)),
                Err(error) => Ok(trouble(&path, &error.problem.into())),
            };
            let number = self.number;
            let step = match looked {
                Ok(Look::Nothing) => continue,
                Ok(Look::Entry(entered)) => Step::Note(Note::Entry { number, entered }),
                Err(message) => Step::Note(Note::Failed(message)),
                Ok(Look::Read) => {
                    let is_kept = lock(self.shared).journal.is_some();
                    let noted = if is_kept { Noted::of(&place).ok() } else { None };
                    let tag = Tag { number, path, noted };
                    Step::Hash(Request { source: place.into(), methods: self.methods.clone(), tag })
                }
            };
            self.number += 1;
            return Some(step);
        }
    }

    fn look(&mut self, found: &walk::Entry, path: &[u8]) -> Result<Look, String> {
        let entry = |kind| Look::Entry((Entry { path: path.to_vec(), kind }, None));
        let (place, file_type) = (&found.path, found.file_type);
        let looked = if file_type.is_dir() {
            self.list(place).map(|()| entry(Kind::Folder))
        } else if file_type.is_symlink() {
            let target = fs::read_link(place).map(|target| target.into_os_string().into_encoded_bytes());
            target.map(|target| entry(Kind::Link { target }))
        } else if !file_type.is_file() {
            lock(self.shared).summary.nothers += 1;
            Ok(Look::Nothing)
        } else if self.quick {
            fs::symlink_metadata(place).map(|metadata| {
                let Stamp { nbytes, mtime_ns, .. } = Stamp::of(&metadata);
                entry(Kind::File { nbytes, mtime_ns, digests: Vec::new() })
            })
        } else {
            return self.known(path, place).map(|known| known.map_or(Look::Read, entry));
        };
        Ok(looked.unwrap_or_else(|error| trouble(path, &error)))
    }

    /// Checks that the folder can be listed: if not, its error is the walk's next item. The error has no path if the
    /// listing broke off.
    fn list(&mut self, folder: &Path) -> io::Result<()> {
        let is_its = |next: &Result<_, WalkError>| {
            next.as_ref().is_err_and(|error| error.path == folder || error.path == self.root)
        };
        match self.walk.next_if(is_its) {
            Some(Err(error)) => {
                self.unlisted = Some(folder.to_owned());
                Err(error.problem.into())
            }
            _ => Ok(()),
        }
    }

    /// Returns what is known of a file, if it need not be read.
    fn known(&mut self, path: &[u8], place: &Path) -> Result<Option<Kind>, String> {
        let old = match &mut self.update {
            Some(update) => update.find(path)?,
            None => None,
        };
        let mut shared = lock(self.shared);
        if old.is_none() && shared.journal.as_ref().is_none_or(Journal::is_empty) {
            return Ok(None);
        }
        let Some(stamp) = fs::symlink_metadata(place).ok().filter(Metadata::is_file).map(|m| Stamp::of(&m)) else {
            return Ok(None);
        };
        let Stamp { nbytes, mtime_ns, .. } = stamp;
        let is_as_old = |old: &(u64, i64, Vec<Hash>)| (old.0, old.1) == (nbytes, mtime_ns);
        let found = shared.journal.as_mut().and_then(|journal| journal.find(path, &stamp));
        if let Some(Err(doubt)) = found {
            *shared.summary.doubts.entry(doubt).or_default() += 1;
        }
        let digests = match found {
            Some(Ok(digests)) => Some(digests),
            _ => old.filter(is_as_old).map(|(_, _, digests)| digests),
        };
        let kind = digests.map(|digests| Kind::File { nbytes, mtime_ns, digests });
        if kind.is_some() {
            shared.summary.nreused += 1;
            shared.reused += nbytes;
        }
        Ok(kind)
    }
}

impl<I: Iterator<Item = Result<Entry, Error>>> Update<I> {
    /// Returns the length, time and digests that the manifest has for a file. Paths must come in order.
    fn find(&mut self, path: &[u8]) -> Result<Option<(u64, i64, Vec<Hash>)>, String> {
        loop {
            let entry = match self.ahead.take() {
                Some(entry) => Some(entry),
                None => self.entries.next().transpose().map_err(|error| format!("--update: {error}"))?,
            };
            let Some(entry) = entry else { return Ok(None) };
            match by_components(&entry.path, path) {
                cmp::Ordering::Less => {}
                cmp::Ordering::Equal => {
                    return Ok(match entry.kind {
                        Kind::File { nbytes, mtime_ns, digests } => {
                            let digests = self.places.iter().map(|&place| digests.get(place).copied());
                            digests.collect::<Option<_>>().map(|digests| (nbytes, mtime_ns, digests))
                        }
                        _ => None,
                    });
                }
                cmp::Ordering::Greater => {
                    self.ahead = Some(entry);
                    return Ok(None);
                }
            }
        }
    }
}

fn settle(result: Result<Hashed, FileError>) -> Settled {
    match result {
        Ok(Hashed { stamp: Some(stamp), digests, .. }) => Settled::File(stamp, digests),
        // The entry was a file when it was listed, and no longer is.
        Ok(_) => Settled::Vanished,
        Err(error) if error.io().kind() == io::ErrorKind::NotFound => Settled::Vanished,
        Err(error @ FileError::Unstable(_)) => Settled::Unread(Reason::Unstable, error.to_string()),
        Err(error) => Settled::Unread(Reason::Unreadable, error.to_string()),
    }
}

fn not_journaled(error: &io::Error) -> String {
    format!("the progress cannot be saved: {error}")
}

/// An entry that has vanished since it was listed counts as never there.
fn trouble(path: &[u8], error: &io::Error) -> Look {
    match error.kind() {
        io::ErrorKind::NotFound => Look::Nothing,
        _ => Look::Entry(unread(path.to_vec(), Reason::Unreadable, error.to_string())),
    }
}

fn unread(path: Vec<u8>, reason: Reason, message: String) -> Entered {
    (Entry { path, kind: Kind::Unread(reason) }, Some(message))
}

/// A panic elsewhere leaves nothing half-done in the data under the lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
