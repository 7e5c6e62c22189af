// SPDX-License-Identifier: MIT OR Apache-2.0

//! The files of a job: the state of each, and a bounded number of open files, shared by all threads.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::read::beneath::{LastFolder, OpenError, Opened, Root, open_regular, stamp_at};
use crate::read::direct::uncached;
use crate::read::holes;
use crate::read::open::{OPEN_MAX, OpenFile, open_max};
use crate::read::stamp::{READINGS_MAX, Stamp};
use crate::run::{Options, lock};

/// Why the bytes of a file are not available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// The file is missing or too short.
    Missing,
    /// The file could not be opened or read; [`Files::take_troubles`] says why.
    Failed,
}

/// A fault of a file that is there.
#[derive(Debug)]
pub enum Trouble {
    /// A link leads out of the folder, to this path.
    Outside(PathBuf),
    /// Something other than a regular file: "a folder".
    NotRegular(&'static str),
    /// The file could not be opened.
    Open(io::Error),
    /// The file could not be read.
    Read {
        /// The failing byte is this one, or up to 32 KiB after it.
        offset: u64,
        /// The system's error.
        error: io::Error,
    },
}

/// The place of the files.
#[derive(Debug)]
pub enum Place {
    /// All files lie below a folder, those with an absolute path apart: the caller has named these, as for `Listed`.
    Folder(Arc<Root>),
    /// There is a single file, at this path.
    File(PathBuf),
    /// The caller gives the path of each file; the path is opened as it stands, links in it are followed.
    Listed,
    /// There is a single file, which the caller has opened and looks at for changes.
    Open(File, u64),
}

/// The state of a file in 8 bytes: its length, below 2^63, if it is present; otherwise one of these.
const UNKNOWN: u64 = u64::MAX;
const MISSING: u64 = u64::MAX - 1;
const FAILED: u64 = u64::MAX - 2;

/// A file's state when it was opened, in 8 bytes: the fingerprint of its stamp, or one of these.
const UNSEEN: u64 = 0;
/// The file was missing.
const GONE: u64 = 1;
/// The file could not be opened. It is not looked at again, as nothing of it is believed.
const CLOSED: u64 = 2;
/// The file was opened more than once and differed each time.
const CHANGED: u64 = 3;
/// The engine gave up on the file, as it changed during each read.
const UNSTABLE: u64 = 4;

/// The state of a file at the last look, to find out later whether the file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look(u64);

impl Look {
    /// Whether the file, whose stamp is `now`, or which is missing, has changed. False for a file of which nothing is
    /// believed.
    pub fn has_changed(&self, now: Option<u64>) -> bool {
        match self.0 {
            UNSEEN | CLOSED | UNSTABLE => false,
            CHANGED => true,
            GONE => now.is_some(),
            fingerprint => now != Some(fingerprint),
        }
    }
}

/// The state of a file at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The file has not been looked at.
    Unknown,
    /// The file is present with this length.
    Present(u64),
    /// No file is there.
    Missing,
    /// The file could not be opened or read.
    Failed,
}

/// The path of a file below the folder, by its index.
pub type PathOf<'a> = Box<dyn Fn(usize) -> PathBuf + Send + Sync + 'a>;

/// Whether a file that is not at its path has another, which [`PathOf`] gives from then on.
pub type IsElsewhere<'a> = Box<dyn Fn(usize) -> bool + Send + Sync + 'a>;

/// The files of one torrent.
pub struct Files<'a> {
    place: Place,
    path_of: PathOf<'a>,
    is_elsewhere: Option<IsElsewhere<'a>>,
    /// The state of each file.
    known: Vec<AtomicU64>,
    /// Each file's state when it was opened.
    looks: Vec<AtomicU64>,
    cache: Arc<Cache>,
    /// A number that tells these files from other jobs' files in the cache, and from their own earlier states.
    number: AtomicUsize,
    troubles: Mutex<BTreeMap<usize, Trouble>>,
    /// For each file that has changed, the number of changes.
    changes: Mutex<BTreeMap<usize, u8>>,
}

/// The open files of all torrents that are being read.
pub struct Cache {
    open: Mutex<HashMap<Key, Arc<OpenFile>>>,
    /// Largest number of open files.
    most: usize,
    /// Number of torrents that have used the cache.
    count: AtomicUsize,
    /// Whether this process may have so many descriptors that each thread can keep a folder open, too.
    has_room: bool,
    /// The folders in use. A hundred torrents usually share one folder.
    roots: Mutex<HashMap<PathBuf, Weak<Root>>>,
    /// Whether files are read from their disk alone.
    is_uncached: bool,
}

/// The number of a job's files, and a file's index among them.
pub(crate) type Key = (usize, usize);

/// The last file that a thread used, which is almost always the next one, too: using it takes no lock.
#[derive(Default)]
pub(crate) struct Last {
    file: Option<(Key, Arc<OpenFile>)>,
    folder: LastFolder,
}

impl Default for Cache {
    fn default() -> Cache {
        let most = open_max();
        Cache {
            open: Mutex::default(),
            most,
            count: AtomicUsize::new(0),
            has_room: most == OPEN_MAX,
            roots: Mutex::default(),
            is_uncached: false,
        }
    }
}

impl Cache {
    /// No file is open. Files are opened to be read as the options say.
    pub fn new(options: &Options) -> Cache {
        Cache { is_uncached: options.is_uncached(), ..Cache::default() }
    }

    /// The folder `path`, opened if no other torrent has it open.
    pub fn root(&self, path: &Path) -> io::Result<Arc<Root>> {
        let mut roots = lock(&self.roots);
        if let Some(root) = roots.get(path).and_then(Weak::upgrade) {
            return Ok(root);
        }
        roots.retain(|_, root| root.strong_count() > 0);
        let root = Arc::new(Root::open(path)?);
        roots.insert(path.to_owned(), Arc::downgrade(&root));
        Ok(root)
    }

    /// Adds an open file; another thread may have added it just before. If there is no room, all others are forgotten:
    /// a file that is read on is opened again, which is less work than to look each time which was not used for long.
    fn keep(&self, key: Key, file: Arc<OpenFile>) -> Arc<OpenFile> {
        let mut open = lock(&self.open);
        // They are closed after the lock is released.
        let old = if open.len() >= self.most { std::mem::take(&mut *open) } else { HashMap::new() };
        let kept = open.entry(key).or_insert(file).clone();
        drop(open);
        drop(old);
        kept
    }
}

impl Drop for Files<'_> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<'a> Files<'a> {
    /// Files at a place, numbered from 0, each opened when it is wanted.
    pub fn new(place: Place, count: usize, path_of: PathOf<'a>, cache: &Arc<Cache>) -> Files<'a> {
        Files {
            place,
            path_of,
            is_elsewhere: None,
            known: (0..count).map(|_| AtomicU64::new(UNKNOWN)).collect(),
            looks: (0..count).map(|_| AtomicU64::new(UNSEEN)).collect(),
            number: AtomicUsize::new(cache.count.fetch_add(1, Ordering::Relaxed)),
            cache: cache.clone(),
            troubles: Mutex::default(),
            changes: Mutex::default(),
        }
    }

    /// Asks for another path of a file that is missing at its own.
    #[must_use]
    pub fn or_elsewhere(mut self, is_elsewhere: IsElsewhere<'a>) -> Files<'a> {
        self.is_elsewhere = Some(is_elsewhere);
        self
    }

    /// The key of a file, unique in the cache.
    pub(crate) fn key(&self, index: usize) -> Key {
        (self.number.load(Ordering::Relaxed), index)
    }

    /// Opens a file if necessary, so that its state is [known](Files::known).
    pub fn visit(&self, index: usize) {
        let _ = self.get(index, &mut Last::default());
    }

    /// Reads bytes of a file, which is opened if necessary.
    ///
    /// # Errors
    ///
    /// If the file is missing or too short, or cannot be read.
    pub fn read_exact_at(&self, index: usize, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let mut last = Last::default();
        let file = self.get(index, &mut last).map_err(|_| io::ErrorKind::NotFound)?;
        if file.read_at(buffer, offset)? == buffer.len() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Whether a file is, by its path, as it was when it was opened.
    pub fn is_as_noted(&self, index: usize) -> bool {
        let noted = self.looks[index].load(Ordering::Relaxed);
        noted == self.look_now(index, &mut LastFolder::default())
    }

    /// The file; it is opened if necessary.
    pub(crate) fn get<'l>(&self, index: usize, last: &'l mut Last) -> Result<&'l OpenFile, Absent> {
        let key = self.key(index);
        if !matches!(&last.file, Some((of, _)) if *of == key) {
            last.file = Some((key, self.shared(index, &mut last.folder)?));
        }
        match &last.file {
            Some((_, file)) => Ok(file),
            None => Err(Absent::Missing),
        }
    }

    fn shared(&self, index: usize, last: &mut LastFolder) -> Result<Arc<OpenFile>, Absent> {
        match self.known[index].load(Ordering::Relaxed) {
            MISSING => return Err(Absent::Missing),
            FAILED => return Err(Absent::Failed),
            _ => {}
        }
        let key = self.key(index);
        if let Some(file) = lock(&self.cache.open).get(&key) {
            return Ok(file.clone());
        }
        // The lock is not held here: opening can take long on a network file system. Two threads may both open the
        // file; the second to finish uses the first one's.
        match self.open_file(index, last) {
            Ok((file, nbytes)) => {
                let holes = holes::has_holes(&file, nbytes);
                self.known[index].store(nbytes, Ordering::Relaxed);
                let file = Arc::new(OpenFile { file, nbytes, holes, is_uncached: self.cache.is_uncached });
                Ok(self.cache.keep(key, file))
            }
            Err(OpenError::Missing) => {
                self.note(index, GONE);
                self.known[index].store(MISSING, Ordering::Relaxed);
                Err(Absent::Missing)
            }
            Err(error) => {
                let trouble = match error {
                    OpenError::Outside(target) => Trouble::Outside(target),
                    OpenError::NotRegular(what) => Trouble::NotRegular(what),
                    OpenError::Io(error) => Trouble::Open(error),
                    OpenError::Missing => Trouble::Open(io::ErrorKind::NotFound.into()),
                };
                self.note(index, CLOSED);
                self.known[index].store(FAILED, Ordering::Relaxed);
                self.trouble(index, trouble);
                Err(Absent::Failed)
            }
        }
    }

    /// Opens a file. Returns its length, too.
    fn open_file(&self, index: usize, last: &mut LastFolder) -> Result<(File, u64), OpenError> {
        let number = self.number.load(Ordering::Relaxed);
        let last = if self.cache.has_room { last } else { &mut LastFolder::default() };
        if let Place::Open(file, nbytes) = &self.place {
            return Ok((file.try_clone()?, *nbytes));
        }
        let mut open = || match self.locate(index) {
            (Some(root), path) => root.open_file(&path, number, last),
            (None, path) => open_regular(&path),
        };
        let Opened { file, stamp } = match open() {
            // Something else in this process uses most of its file descriptors: make do with few.
            Err(OpenError::Io(error)) if too_many_open(&error) => {
                lock(&self.cache.open).clear();
                open()
            }
            Err(OpenError::Missing) if self.is_elsewhere.as_ref().is_some_and(|is_elsewhere| is_elsewhere(index)) => {
                open()
            }
            other => other,
        }?;
        let file = if self.cache.is_uncached { uncached(&file)? } else { file };
        self.note(index, stamp.fingerprint());
        Ok((file, stamp.nbytes))
    }

    /// The path of a file, and the folder that it is opened below, if there is one.
    fn locate(&self, index: usize) -> (Option<&Root>, PathBuf) {
        match &self.place {
            Place::Folder(root) => {
                let path = (self.path_of)(index);
                (Some(&**root).filter(|_| path.is_relative()), path)
            }
            Place::File(path) => (None, path.clone()),
            Place::Listed => (None, (self.path_of)(index)),
            Place::Open(..) => (None, PathBuf::new()),
        }
    }

    fn stamp(&self, index: usize, last: &mut LastFolder) -> io::Result<Stamp> {
        match self.locate(index) {
            _ if matches!(self.place, Place::Open(..)) => Err(io::ErrorKind::Unsupported.into()),
            (Some(root), path) => root.stamp(&path, last),
            (None, path) => stamp_at(&path),
        }
    }

    /// The look at a file that was there, or was not.
    pub fn look_of(stamp: Option<&Stamp>) -> u64 {
        stamp.map_or(GONE, Stamp::fingerprint)
    }

    /// The file's present state, looked up by its path.
    fn look_now(&self, index: usize, last: &mut LastFolder) -> u64 {
        match self.stamp(index, last).map_err(OpenError::from) {
            Ok(stamp) => Files::look_of(Some(&stamp)),
            Err(OpenError::Missing) => Files::look_of(None),
            Err(_) => CLOSED,
        }
    }

    /// Notes a look at a file. The first look counts; a later one that differs shows that the file has changed. A
    /// failure to open says nothing about changes: a file that was only looked at may be a link that leads out of the
    /// folder.
    pub fn note(&self, index: usize, look: u64) {
        let noted = self.looks[index].compare_exchange(UNSEEN, look, Ordering::Relaxed, Ordering::Relaxed);
        if noted.is_err_and(|first| ![look, UNSTABLE].contains(&first) && look != CLOSED) {
            self.looks[index].store(CHANGED, Ordering::Relaxed);
        }
    }

    /// Notes the state of a file that may never be opened because its content is known.
    pub fn look_at(&self, index: usize) {
        let mut look = self.look_now(index, &mut LastFolder::default());
        if look == GONE && self.is_elsewhere.as_ref().is_some_and(|is_elsewhere| is_elsewhere(index)) {
            look = self.look_now(index, &mut LastFolder::default());
        }
        self.note(index, look);
    }

    /// Looks at all files again, and forgets the state of those that have changed since they were first opened, so that
    /// they are opened anew. Gives up on files that change each time, or on all changed files if `all` is set. Returns
    /// the files given up and the other changed ones, each in order. No thread may be reading any file. Files that
    /// could not be opened are not looked at.
    pub(crate) fn forget_changed(&self, all: bool) -> (Vec<usize>, Vec<usize>) {
        let mut last = LastFolder::default();
        let is_changed = |&index: &usize| match self.looks[index].load(Ordering::Relaxed) {
            UNSEEN | CLOSED | UNSTABLE => false,
            CHANGED => true,
            look => look != self.look_now(index, &mut last),
        };
        let changed: Vec<usize> = (0..self.looks.len()).filter(is_changed).collect();
        if changed.is_empty() {
            return (Vec::new(), changed);
        }
        self.close();
        // A thread may still hold one of these files: under another number it is not found.
        self.number.store(self.cache.count.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let mut changes = lock(&self.changes);
        changed.into_iter().partition(|&index| {
            let count = changes.entry(index).or_default();
            *count += 1;
            let is_given_up = all || *count >= READINGS_MAX;
            self.looks[index].store(if is_given_up { UNSTABLE } else { UNSEEN }, Ordering::Relaxed);
            if !is_given_up {
                self.known[index].store(UNKNOWN, Ordering::Relaxed);
                lock(&self.troubles).remove(&index);
            }
            is_given_up
        })
    }

    /// The state of each file at the last look.
    pub fn looks(&self) -> Vec<Look> {
        self.looks.iter().map(|look| Look(look.load(Ordering::Relaxed))).collect()
    }

    /// Whether the engine has given up on a file.
    pub fn is_unstable(&self, index: usize) -> bool {
        self.looks[index].load(Ordering::Relaxed) == UNSTABLE
    }

    fn close(&self) {
        let own = self.number.load(Ordering::Relaxed);
        lock(&self.cache.open).retain(|&(number, _), _| number != own);
    }

    /// The path of a file, for messages.
    pub fn path(&self, index: usize) -> PathBuf {
        let (root, path) = self.locate(index);
        root.map_or_else(|| path.clone(), |root| root.path().join(&path))
    }

    /// Records that a file could not be read. Other parts of the file are still tried: often one sector is bad.
    pub(crate) fn read_failed(&self, index: usize, offset: u64, error: io::Error) {
        self.trouble(index, Trouble::Read { offset, error });
    }

    /// Keeps the first trouble of each file.
    fn trouble(&self, index: usize, trouble: Trouble) {
        lock(&self.troubles).entry(index).or_insert(trouble);
    }

    /// Notes that a file has become shorter while it was read.
    pub(crate) fn shrank(&self, index: usize, file: &OpenFile) {
        if let Ok(metadata) = file.file.metadata() {
            self.known[index].fetch_min(metadata.len(), Ordering::Relaxed);
        }
    }

    /// The state of a file.
    pub fn known(&self, index: usize) -> Presence {
        match self.known[index].load(Ordering::Relaxed) {
            MISSING => Presence::Missing,
            FAILED => Presence::Failed,
            UNKNOWN => Presence::Unknown,
            nbytes => Presence::Present(nbytes),
        }
    }

    /// The first fault of each file.
    pub fn take_troubles(&self) -> BTreeMap<usize, Trouble> {
        std::mem::take(&mut lock(&self.troubles))
    }
}

#[cfg(unix)]
fn too_many_open(error: &io::Error) -> bool {
    use rustix::io::Errno;
    [Errno::MFILE, Errno::NFILE].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

#[cfg(not(unix))]
fn too_many_open(_error: &io::Error) -> bool {
    false
}

/// Whether a file is there, as far as the file system tells without opening it. This is for finding the content, where
/// a wrong answer does no harm.
pub fn seems_present(folder: &Path, relative: &Path) -> bool {
    folder.join(relative).symlink_metadata().is_ok()
}
