// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads a folder: every entry that its manifest would have now, in order.

use std::cmp;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::Metadata;
use std::io::{self, BufRead};
use std::iter::Peekable;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hashloom::{Algorithm, Hash};
use hashloom_files::paths::{self, by_components, to_bytes};
use hashloom_files::run::{Cancel, Options, lock};
use hashloom_files::text::reason;
use hashloom_files::walk::{self, Entries, Filter, Walk, WalkError};
use hashloom_files::{Doubt, Event, FileError, Hashed, Method, Noted, Request, Stamp, Step, hash_steps};
use hashloom_state::{Folder, State};

use crate::{Entry, Error, Kind, Reader, Reason};

/// A folder to read, and how.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_files::run::Options;
/// use hashloom_manifest::{Evidence, Found, Reader, Scan, Scanned, Writer};
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// std::fs::write(folder.join("a"), "abc")?;
/// let algorithms = [Algorithm::Sha256];
/// let mut writer = Writer::new(Vec::new(), &algorithms)?;
/// let scan = Scan::new(folder).algorithms(&algorithms).leave_out("manifest");
/// let scanned: Scanned = scan.run(&Options::new(), |found: Found| writer.write(&found.entry))?;
/// assert_eq!((scanned.nread, scanned.nbytes), (1, 3));
/// let manifest = writer.finish()?;
///
/// // Later: an unchanged file is not read again.
/// let old = Reader::new(&manifest[..])?;
/// let mut writer = Writer::new(Vec::new(), &algorithms)?;
/// let scanned = Scan::new(folder).update(old).run(&Options::new(), |found| {
///     assert_eq!(found.evidence, Evidence::Old);
///     writer.write(&found.entry)
/// })?;
/// assert_eq!((scanned.nread, scanned.nold), (0, 1));
/// assert_eq!(writer.finish()?, manifest);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Scan<'a> {
    root: PathBuf,
    algorithms: Vec<Algorithm>,
    quick: bool,
    filter: Filter,
    without: Vec<PathBuf>,
    output: Option<Stamp>,
    state: Option<State>,
    update: Option<Update<'a>>,
    listed: Option<Update<'a>>,
}

/// An old manifest beside the walk.
struct Update<'a> {
    algorithms: Vec<Algorithm>,
    entries: Box<dyn Iterator<Item = Result<Entry, Error>> + Send + 'a>,
    /// The place of each algorithm's digests in the old entries.
    places: Vec<usize>,
    ahead: Option<Entry>,
}

impl fmt::Debug for Scan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan").field("root", &self.root).field("algorithms", &self.algorithms).finish_non_exhaustive()
    }
}

impl<'a> Scan<'a> {
    /// A scan of all files below `root`, by SHA-256. Links below it are not followed.
    pub fn new(root: &Path) -> Scan<'a> {
        Scan {
            root: root.to_owned(),
            algorithms: vec![Algorithm::Sha256],
            quick: false,
            filter: Filter::default(),
            without: Vec::new(),
            output: None,
            state: None,
            update: None,
            listed: None,
        }
    }

    /// Sets the algorithms.
    #[must_use]
    pub fn algorithms(mut self, algorithms: &[Algorithm]) -> Scan<'a> {
        self.algorithms = algorithms.to_vec();
        self
    }

    /// Sets whether files are only looked at, and not read: they have no digests then.
    #[must_use]
    pub fn quick(mut self, quick: bool) -> Scan<'a> {
        self.quick = quick;
        self
    }

    /// Leaves out a file, given by its path below the root: the manifest itself, for instance.
    #[must_use]
    pub fn leave_out(mut self, path: impl Into<PathBuf>) -> Scan<'a> {
        self.without.push(path.into());
        self
    }

    /// Leaves out the file with the identity in a stamp, whatever its path: the file that the manifest is written to,
    /// for instance, which changes during the scan. [`Scanned::left_out`] has its paths.
    #[must_use]
    pub fn leave_out_file(mut self, stamp: Stamp) -> Scan<'a> {
        // A file system without inode numbers gives 0 for every file: each would be taken for the output.
        self.output = Some(stamp).filter(|stamp| stamp.ino != 0);
        self
    }

    /// The subject of the [state](State) of scans with these algorithms.
    pub fn subject(algorithms: &[Algorithm]) -> String {
        let names: Vec<_> = algorithms.iter().map(|algorithm| algorithm.name()).collect();
        format!("digests of files: {}", names.join(", "))
    }

    /// Takes the digests of files from the state of an earlier run, where no change of the file can have escaped
    /// ([`Evidence::State`]), and adds new ones. The state is complete when the scan has ended or was cancelled.
    /// It must be of the [subject](Scan::subject) of the algorithms.
    #[must_use]
    pub fn state(mut self, state: State) -> Scan<'a> {
        self.state = Some(state);
        self
    }

    /// Takes the digests of a file with the length and time that an old manifest has for it from there. The manifest
    /// must have the algorithms of the scan.
    #[must_use]
    pub fn update(mut self, old: Reader<impl BufRead + Send + 'a>) -> Scan<'a> {
        self.update = Some(Update::new(old));
        self
    }

    /// Restricts the scan to the files that a filter wants. Folders that are not excluded, and links whose paths are
    /// wanted, are found too.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Scan<'a> {
        self.filter = filter;
        self
    }

    /// Finds the files that a manifest lists, whatever length they have now: they have changed, and are not gone.
    #[must_use]
    pub fn listed(mut self, manifest: Reader<impl BufRead + Send + 'a>) -> Scan<'a> {
        self.listed = Some(Update::new(manifest));
        self
    }
}

/// The totals of a scan.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Scanned {
    /// Number of files read.
    pub nread: u64,
    /// Bytes read. A file with several names (hard links) is read once, if the file system tells.
    pub nbytes: u64,
    /// Number of files whose digests an earlier run had read: [`Evidence::State`].
    pub nresumed: u64,
    /// Number of files whose digests are those of the old manifest: [`Evidence::Old`].
    pub nold: u64,
    /// Files whose digests an earlier run had read, but that are no strong evidence any more, counted by the reason.
    pub doubts: BTreeMap<Doubt, u64>,
    /// Number of entries that are neither files, links nor folders.
    pub nothers: u64,
    /// The paths that were left out by [`Scan::leave_out_file`], below the root.
    pub left_out: Vec<Vec<u8>>,
    /// Whether the scan was cancelled: some entries are missing then, all of them after the last one found.
    pub cancelled: bool,
}

/// Where a result comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Evidence {
    /// The file was read in this run.
    Read,
    /// An earlier run read the file, as the [state](State) of that run says, and no change since can have escaped: the
    /// two [ties](hashloom_state::Tie) hold.
    State,
    /// An old manifest has the digests for a file of this path, length and modification time. A program can change a
    /// file and keep all three.
    Old,
}

/// An entry of the folder.
#[derive(Debug)]
#[non_exhaustive]
pub struct Found {
    /// The entry.
    pub entry: Entry,
    /// Where the digests of a file come from; of any other entry, [`Evidence::Read`]: the entry was looked at.
    pub evidence: Evidence,
    /// The reason if the entry is [`Kind::Unread`].
    pub error: Option<FileError>,
}

/// Why a scan has failed. An entry that cannot be read is no failure.
///
/// ```
/// use hashloom_manifest::{Found, Scan, ScanError};
/// use hashloom_files::run::Options;
///
/// let each = |_: Found| Ok::<(), std::fmt::Error>(());
/// let error = Scan::new("no/such/folder".as_ref()).run(&Options::new(), each).unwrap_err();
/// assert!(matches!(error, ScanError::Root { .. }));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ScanError<E> {
    /// The folder itself cannot be listed.
    Root {
        /// The folder.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The state cannot be written.
    State(io::Error),
    /// The old manifest cannot be read to its end.
    Update(Error),
    /// The manifest whose files are found cannot be read to its end.
    Listed(Error),
    /// The old manifest does not have all the algorithms.
    Algorithms {
        /// The algorithms that it has.
        found: Vec<Algorithm>,
    },
    /// The error of the function that gets the entries.
    Each(E),
}

impl<E: fmt::Display> fmt::Display for ScanError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScanError::Root { path, error } => {
                write!(f, "{}: {}", paths::display(path), reason(error))
            }
            ScanError::State(error) => write!(f, "the progress cannot be saved: {}", reason(error)),
            ScanError::Update(error) => write!(f, "the old manifest: {error}"),
            ScanError::Listed(error) => write!(f, "the manifest: {error}"),
            ScanError::Algorithms { found } => {
                let names: Vec<_> = found.iter().map(|algorithm| algorithm.name()).collect();
                write!(f, "the old manifest has digests of {} only", names.join(", "))
            }
            ScanError::Each(error) => error.fmt(f),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for ScanError<E> {}

/// Goes with each file that is read.
struct Tag {
    number: u64,
    path: Vec<u8>,
}

/// A result that needs no reading, in its place between the files that are read.
enum Note {
    Entry { number: u64, found: Found },
    Failed(Failure),
}

/// A failure of what is drawn, which stops all.
enum Failure {
    Root(io::Error),
    Update(Error),
    Listed(Error),
}

/// State shared by the threads that draw steps and the threads that hash.
struct Shared {
    state: Option<State>,
    root: Folder,
    summary: Scanned,
    /// Bytes that need not be read.
    known: u64,
    /// The state's first failure.
    failed: Option<io::Error>,
}

impl Scan<'_> {
    /// Hands every entry to `each`, in the order of a manifest, until `each` fails. The progress counts the bytes that
    /// were read or need not be read.
    ///
    /// # Errors
    /// See [`ScanError`].
    pub fn run<E: Send>(
        self,
        options: &Options,
        mut each: impl FnMut(Found) -> Result<(), E> + Send,
    ) -> Result<Scanned, ScanError<E>> {
        let Scan { root, algorithms, quick, filter, without, output, state, mut update, listed } = self;
        if let Some(update) = &mut update {
            let place = |algorithm| update.algorithms.iter().position(|other| other == algorithm);
            update.places = match algorithms.iter().map(place).collect() {
                Some(places) => places,
                None => return Err(ScanError::Algorithms { found: update.algorithms.clone() }),
            };
        }
        let stop = options.canceller().child();
        let notes = state.is_some();
        let (summary, folder) = (Scanned::default(), Folder::new(&root));
        let shared = Arc::new(Mutex::new(Shared { state, root: folder, summary, known: 0, failed: None }));
        let (told, outer, unflushed) = (shared.clone(), options.clone(), stop.clone());
        let options = options.clone().cancel(&stop).noting(notes).progress(move |progress| {
            // The thread that has the lock shows the progress the next time.
            let Ok(mut shared) = told.try_lock() else { return };
            let nbytes = progress.nbytes + shared.known;
            // Nothing else flushes the state while a long file is read.
            shared.noted(&unflushed, |state, _| state.flush_if_due());
            drop(shared);
            outer.tell(nbytes, None);
        });
        let mut steps = Steps {
            walk: Walk::new(&root).filter(filter.clone()).entries().peekable(),
            root: &root,
            methods: algorithms.iter().map(|&algorithm| Method::from(algorithm)).collect(),
            quick,
            nbytes: filter.wanted_lengths(),
            without,
            output,
            update,
            listed,
            shared: &shared,
            number: 0,
            unlisted: None,
        };
        let steps = std::iter::from_fn(|| if stop.is_cancelled() { None } else { steps.next() });
        // A cancelled run has no result for some files: entries after the first of these are not handed out.
        let mut next = 0;
        let mut failed = None;
        let is_done = hash_steps(steps, &options, |event| {
            let (number, found) = match event {
                Event::Note(Note::Entry { number, found }) => (number, Some(found)),
                Event::Note(Note::Failed(failure)) => {
                    failed.get_or_insert(match failure {
                        Failure::Update(error) => ScanError::Update(error),
                        Failure::Listed(error) => ScanError::Listed(error),
                        Failure::Root(error) => ScanError::Root { path: root.clone(), error },
                    });
                    return stop.cancel();
                }
                Event::Hashed(request, result) => {
                    let Tag { number, path } = request.tag;
                    let found = match result {
                        Ok(Hashed { stamp: Some(stamp), doubt, digests, nread, .. }) => {
                            let place = request.source.path().unwrap_or(&root);
                            let noted = Noted { stamp, doubt };
                            lock(&shared).read(&stop, (&path, place), nread, &noted, &digests);
                            let kind = Kind::File { nbytes: stamp.nbytes, mtime_ns: stamp.mtime_ns, digests };
                            Some(Found { entry: Entry { path, kind }, evidence: Evidence::Read, error: None })
                        }
                        // The entry was a file when it was listed, and no longer is.
                        Ok(_) => None,
                        Err(error) if error.io().kind() == io::ErrorKind::NotFound => None,
                        Err(error @ FileError::Unstable(_)) => Some(unread(path, Reason::Unstable, error)),
                        Err(error) => Some(unread(path, Reason::Unreadable, error)),
                    };
                    (number, found)
                }
            };
            if number == next {
                next += 1;
                let has_failed = failed.is_some() || lock(&shared).failed.is_some();
                if let Some(Err(error)) = found.filter(|_| !has_failed).map(&mut each) {
                    failed = Some(ScanError::Each(error));
                    stop.cancel();
                }
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let mut shared = lock(&shared);
        shared.noted(&stop, |state, _| state.flush());
        match shared.failed.take() {
            Some(error) => Err(ScanError::State(error)),
            None => {
                let summary = std::mem::take(&mut shared.summary);
                Ok(Scanned { cancelled: !is_done || stop.is_cancelled(), ..summary })
            }
        }
    }
}

impl Shared {
    /// Counts a file that was read, and adds it to the state.
    fn read(&mut self, stop: &Cancel, (path, place): (&[u8], &Path), nread: u64, noted: &Noted, digests: &[Hash]) {
        self.summary.nread += 1;
        self.summary.nbytes += nread;
        self.noted(stop, |state, root| {
            state.add(path, &root.tie(place, noted), &digests.iter().map(Hash::to_string).collect::<String>())
        });
    }

    /// Writes to the state, if there is one. A failure stops all.
    fn noted(&mut self, stop: &Cancel, write: impl FnOnce(&mut State, &Folder) -> io::Result<()>) {
        if let Some(Err(error)) = self.state.as_mut().map(|state| write(state, &self.root)) {
            self.failed.get_or_insert(error);
            stop.cancel();
        }
    }

    /// Returns the digests that an earlier run has read of a file, if they are strong evidence.
    fn resumed(&mut self, path: &[u8], place: &Path, stamp: Stamp, algorithms: &[Method]) -> Option<Vec<Hash>> {
        let (tie, value) = self.state.as_mut()?.last(path)?;
        match tie.doubt_at(&self.root.tie(place, &Noted { stamp, doubt: None })) {
            None => digests_of(&value, algorithms),
            Some(doubt) => {
                *self.summary.doubts.entry(doubt).or_default() += 1;
                None
            }
        }
    }
}

/// Returns the digests that stand one behind the other.
fn digests_of(mut digits: &str, algorithms: &[Method]) -> Option<Vec<Hash>> {
    let digests = algorithms.iter().map(|method| {
        let (digest, rest) = digits.split_at_checked(2 * method.algorithm().digest_nbytes())?;
        digits = rest;
        digest.parse().ok()
    });
    let digests = digests.collect::<Option<_>>()?;
    digits.is_empty().then_some(digests)
}

/// Draws from the walk the files to read, and the entries that need no reading.
struct Steps<'a, 'u> {
    walk: Peekable<Entries>,
    root: &'a Path,
    methods: Arc<[Method]>,
    quick: bool,
    /// The lengths of the files that are wanted, beside those of listed files.
    nbytes: RangeInclusive<u64>,
    without: Vec<PathBuf>,
    output: Option<Stamp>,
    update: Option<Update<'u>>,
    listed: Option<Update<'u>>,
    shared: &'a Mutex<Shared>,
    /// The number of the next step.
    number: u64,
    /// A folder whose listing failed.
    unlisted: Option<PathBuf>,
}

enum Look {
    Entry(Found),
    Nothing,
    Read,
}

impl Steps<'_, '_> {
    fn next(&mut self) -> Option<Step<Tag, Note>> {
        loop {
            let Some(found) = self.walk.next() else {
                let failure = self.finish().err()?;
                return Some(Step::Note(Note::Failed(failure)));
            };
            let place = match &found {
                Ok(entry) => &entry.path,
                Err(error) => &error.path,
            };
            let path = place.strip_prefix(self.root).unwrap_or(place);
            let is_below = |folder: &PathBuf| place.starts_with(folder);
            if self.without.iter().any(|other| other == path) || self.unlisted.as_ref().is_some_and(is_below) {
                continue;
            }
            let path = to_bytes(path);
            let (looked, place) = match found {
                Ok(entry) => (self.look(&entry, &path), entry.path),
                // The error is of the root itself.
                Err(error) if path.is_empty() => (Err(Failure::Root(error.problem.into())), error.path),
                Err(error) => (Ok(trouble(&path, error.problem.into())), error.path),
            };
            let number = self.number;
            let step = match looked {
                Ok(Look::Nothing) => continue,
                Ok(Look::Entry(found)) => Step::Note(Note::Entry { number, found }),
                Err(failure) => Step::Note(Note::Failed(failure)),
                Ok(Look::Read) => {
                    let tag = Tag { number, path };
                    Step::Hash(Request { source: place.into(), methods: self.methods.clone(), tag })
                }
            };
            self.number += 1;
            return Some(step);
        }
    }

    /// Reads the manifests to their ends, which tell whether what was read of them is right.
    fn finish(&mut self) -> Result<(), Failure> {
        let rest = |manifest: Option<Update<'_>>| match manifest {
            Some(mut manifest) => manifest.entries.try_for_each(|entry| entry.map(drop)),
            None => Ok(()),
        };
        rest(self.update.take()).map_err(Failure::Update)?;
        rest(self.listed.take()).map_err(Failure::Listed)
    }

    fn look(&mut self, found: &walk::Entry, path: &[u8]) -> Result<Look, Failure> {
        let found_by =
            |kind, evidence| Look::Entry(Found { entry: Entry { path: path.to_vec(), kind }, evidence, error: None });
        let entry = |kind| found_by(kind, Evidence::Read);
        let (place, file_type) = (&found.path, found.file_type);
        let looked = if file_type.is_dir() {
            self.list(place).map(|()| entry(Kind::Folder))
        } else if file_type.is_symlink() {
            let target = place.read_link().map(|target| paths::portable(&target).into_owned());
            target.map(|target| entry(Kind::Link { target }))
        } else if !file_type.is_file() {
            lock(self.shared).summary.nothers += 1;
            Ok(Look::Nothing)
        } else if self.is_output(place) {
            lock(self.shared).summary.left_out.push(path.to_vec());
            Ok(Look::Nothing)
        } else if !self.has_wanted_length(path, place)? {
            Ok(Look::Nothing)
        } else if self.quick {
            match Stamp::of_entry(place) {
                Ok(Some(Stamp { nbytes, mtime_ns, .. })) => {
                    Ok(entry(Kind::File { nbytes, mtime_ns, digests: Vec::new() }))
                }
                // The entry was a file when it was listed, and no longer is.
                Ok(None) => Err(io::ErrorKind::NotFound.into()),
                Err(error) => Err(error),
            }
        } else {
            let known = self.known(path, place)?;
            return Ok(known.map_or(Look::Read, |(kind, evidence)| found_by(kind, evidence)));
        };
        Ok(looked.unwrap_or_else(|error| trouble(path, error)))
    }

    /// Whether the file is the one that is left out by its identity.
    fn is_output(&self, place: &Path) -> bool {
        let is_same = |output: Stamp| {
            let found = Stamp::of_entry(place).ok().flatten();
            found.is_some_and(|found| (found.dev, found.ino) == (output.dev, output.ino))
        };
        self.output.is_some_and(is_same)
    }

    /// Whether the file is listed, or has a length that is wanted. A file that cannot be looked at is wanted.
    fn has_wanted_length(&mut self, path: &[u8], place: &Path) -> Result<bool, Failure> {
        if self.nbytes == (0..=u64::MAX) {
            return Ok(true);
        }
        let is_listed = match &mut self.listed {
            Some(listed) => listed.entry(path).map_err(Failure::Listed)?.is_some(),
            None => false,
        };
        let is_wanted = |metadata: Metadata| self.nbytes.contains(&metadata.len());
        Ok(is_listed || place.symlink_metadata().map_or(true, is_wanted))
    }

    /// Checks that the folder can be listed: if not, its error is the walk's next item.
    fn list(&mut self, folder: &Path) -> io::Result<()> {
        let is_its = |next: &Result<_, WalkError>| next.as_ref().is_err_and(|error| error.path == folder);
        match self.walk.next_if(is_its) {
            Some(Err(error)) => {
                self.unlisted = Some(folder.to_owned());
                Err(error.problem.into())
            }
            _ => Ok(()),
        }
    }

    /// Returns what is known of a file, if it need not be read.
    fn known(&mut self, path: &[u8], place: &Path) -> Result<Option<(Kind, Evidence)>, Failure> {
        let old = match &mut self.update {
            Some(update) => update.find(path).map_err(Failure::Update)?,
            None => None,
        };
        let mut shared = lock(self.shared);
        if old.is_none() && shared.state.as_ref().is_none_or(State::is_empty) {
            return Ok(None);
        }
        let Ok(Some(stamp)) = Stamp::of_entry(place) else { return Ok(None) };
        let Stamp { nbytes, mtime_ns, .. } = stamp;
        let is_as_old = |old: &(u64, i128, Vec<Hash>)| (old.0, old.1) == (nbytes, mtime_ns);
        let known = match shared.resumed(path, place, stamp, &self.methods) {
            Some(digests) => Some((digests, Evidence::State)),
            None => old.filter(is_as_old).map(|(_, _, digests)| (digests, Evidence::Old)),
        };
        let Some((digests, evidence)) = known else { return Ok(None) };
        match evidence {
            Evidence::State => shared.summary.nresumed += 1,
            _ => shared.summary.nold += 1,
        }
        shared.known += nbytes;
        Ok(Some((Kind::File { nbytes, mtime_ns, digests }, evidence)))
    }
}

impl<'a> Update<'a> {
    fn new(manifest: Reader<impl BufRead + Send + 'a>) -> Update<'a> {
        let algorithms = manifest.algorithms().to_vec();
        Update { algorithms, entries: Box::new(manifest), places: Vec::new(), ahead: None }
    }

    /// Returns the length, time and digests that the manifest has for a file. Paths must come in order.
    fn find(&mut self, path: &[u8]) -> Result<Option<(u64, i128, Vec<Hash>)>, Error> {
        let Some(Entry { kind: Kind::File { nbytes, mtime_ns, digests }, .. }) = self.entry(path)? else {
            return Ok(None);
        };
        let digests = self.places.iter().map(|&place| digests.get(place).copied());
        Ok(digests.collect::<Option<_>>().map(|digests| (nbytes, mtime_ns, digests)))
    }

    /// Returns the manifest's entry of this path. Paths must come in order.
    fn entry(&mut self, path: &[u8]) -> Result<Option<Entry>, Error> {
        loop {
            let entry = match self.ahead.take() {
                Some(entry) => Some(entry),
                None => self.entries.next().transpose()?,
            };
            let Some(entry) = entry else { return Ok(None) };
            match by_components(&entry.path, path) {
                cmp::Ordering::Less => {}
                cmp::Ordering::Equal => return Ok(Some(entry)),
                cmp::Ordering::Greater => {
                    self.ahead = Some(entry);
                    return Ok(None);
                }
            }
        }
    }
}

/// An entry that has vanished since it was listed counts as never there.
fn trouble(path: &[u8], error: io::Error) -> Look {
    match error.kind() {
        io::ErrorKind::NotFound => Look::Nothing,
        _ => Look::Entry(unread(path.to_vec(), Reason::Unreadable, FileError::Open(error))),
    }
}

fn unread(path: Vec<u8>, reason: Reason, error: FileError) -> Found {
    Found { entry: Entry { path, kind: Kind::Unread(reason) }, evidence: Evidence::Read, error: Some(error) }
}
