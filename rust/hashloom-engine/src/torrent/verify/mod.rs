// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checks the files on disk against torrents.

mod checkpoint;
mod content;
mod links;
mod locate;
mod report;

use std::borrow::Borrow;
use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::merkle::NODE_NBYTES;
use crate::pieces::files::{Cache, Files, Known, Last};
use crate::pieces::job::{self, Hashes, Job, Outcome};
use crate::pieces::window::WINDOW_NBYTES;
use crate::pieces::{Effort, run};
use crate::text::{quoted, shown};
use crate::torrent::Torrent;
use crate::torrent::paths;
use locate::{Located, locate};

pub use crate::pieces::Progress;
pub use checkpoint::{Checkpoint, CheckpointError};
pub use content::Content;
pub use report::{FileDifference, FileReport, FileState, FileTrouble, PieceState, Ranges, Report, Trouble};

/// How to check. The default is one thread for each CPU, no callback, no cancelling.
///
/// ```no_run
/// use std::num::NonZeroUsize;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// use hashloom_engine::torrent::{Options, Progress, Torrent, verify};
///
/// static STOP: AtomicBool = AtomicBool::new(false);
/// let show = |progress: Progress| {
///     eprint!("\r{} of {} bytes", progress.nbytes, progress.total_nbytes);
///     if progress.nbytes > 1 << 40 {
///         STOP.store(true, Ordering::Relaxed);
///     }
/// };
/// let options = Options::default().threads(NonZeroUsize::MIN).progress(&show).cancel(&STOP);
/// let torrent = Torrent::parse(&std::fs::read("debian.torrent")?)?;
/// let report = verify(&torrent, "downloads".as_ref(), &options)?;
/// assert!(report.cancelled || report.is_complete());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    threads: Option<NonZeroUsize>,
    progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    pieces: Option<OnPiece<'a>>,
    cancel: Option<&'a AtomicBool>,
    mapped: bool,
}

type OnPiece<'a> = &'a (dyn Fn(&Torrent, usize, PieceState) + Sync);

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl<'a> Options<'a> {
    pub(super) fn cache(&self) -> Cache {
        // When a thread gives a part of a mapping back, all CPUs must forget it. Seconds for 1 GiB, mapped and read:
        // one thread, pieces of 16 KiB 0.23, 0.27, of 64 KiB 0.17, 0.26; two, of 16 KiB 0.49, 0.14, of 256 KiB 0.10,
        // 0.13.
        let least = match self.effort().nthreads {
            1 => Some(0),
            2 => Some(WINDOW_NBYTES),
            _ => None,
        };
        Cache::new(least.filter(|_| self.mapped))
    }

    pub(super) fn effort(&self) -> Effort<'a> {
        let threads = self.threads.or_else(|| std::thread::available_parallelism().ok());
        Effort { nthreads: threads.map_or(1, NonZeroUsize::get), progress: self.progress, cancel: self.cancel }
    }

    /// Sets the number of threads, at most 128. Memory in use does not grow with the threads beyond a fixed bound.
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Sets a function that any of the threads calls with the progress of the check: whenever the thread has hashed the
    /// next chunk of each of its pieces (up to 16 pieces, at most 512 KiB together), and for each piece whose verdict
    /// is known without reading the piece.
    pub fn progress(mut self, progress: &'a (dyn Fn(Progress) + Sync)) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Sets a function that any of the threads calls with each piece's verdict as soon as it is known, in any order.
    /// Verdicts that [were known before](Check::known) are not reported. If a file of a piece has changed since, any
    /// verdict on the piece is taken back: the function is called again with [`Unchecked`](PieceState::Unchecked), then
    /// with the new verdict or with [`Unstable`](PieceState::Unstable).
    pub fn pieces(mut self, pieces: &'a (dyn Fn(&Torrent, usize, PieceState) + Sync)) -> Self {
        self.pieces = Some(pieces);
        self
    }

    /// Sets whether long files that are in memory are mapped and hashed there, without a copy. The option works on
    /// 64-bit Linux with one thread, or with two threads and pieces of at least 256 KiB; elsewhere it changes nothing.
    ///
    /// Touching a part of a mapping that its file has lost raises SIGBUS. A handler is therefore installed, once and
    /// for the whole process, and stays: a file that becomes shorter while it is hashed, or whose disk fails, is read
    /// instead. Any other SIGBUS, a fault of the program or one that was sent, has its usual effect: the previous
    /// handler is called, or the process ends. If the program installs a handler later, it replaces this one, and files
    /// begun after that are read. A handler installed while files are hashed must call the handler that it replaces;
    /// otherwise a file that becomes shorter at that moment looks like a fault of the program.
    ///
    /// ```
    /// use hashloom_engine::torrent::Options;
    ///
    /// This program handles no signals elsewhere.
    /// let options = Options::default().mapped_with_sigbus_handler(true);
    /// ```
    pub fn mapped_with_sigbus_handler(mut self, mapped: bool) -> Self {
        self.mapped = mapped;
        self
    }

    /// Sets a flag that stops the check once it is true; the report then says [`Unchecked`](PieceState::Unchecked) for
    /// the remaining pieces. Nothing can end a read that hangs in the system, for instance on a network disk that does
    /// not answer: the check ends after that read.
    pub fn cancel(mut self, cancel: &'a AtomicBool) -> Self {
        self.cancel = Some(cancel);
        self
    }
}

/// Why a check could not begin. After the beginning, faults of files are in the report.
#[derive(Debug)]
#[non_exhaustive]
pub enum VerifyError {
    /// The path cannot be used.
    Path {
        /// The path.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The torrent has a folder, but the path is that of a file.
    NotAFolder {
        /// The path.
        path: PathBuf,
        /// The torrent's name.
        name: Vec<u8>,
    },
}

impl VerifyError {
    /// Turns an `error` of looking for the content at `path` into a `VerifyError`.
    fn locating(torrent: &Torrent, path: &Path, error: io::Error) -> VerifyError {
        match error.kind() {
            io::ErrorKind::NotADirectory if path.is_file() => {
                VerifyError::NotAFolder { path: path.to_owned(), name: torrent.name().to_owned() }
            }
            _ => VerifyError::Path { path: path.to_owned(), error },
        }
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |path: &PathBuf| shown(path.as_os_str().as_encoded_bytes()).to_string();
        match self {
            VerifyError::Path { path, error } => write!(f, "{}: {error}", show(path)),
            VerifyError::NotAFolder { path, name } => write!(
                f,
                "{}: expected a folder, as the torrent has several files, found a file. Give the folder {} or the one it is in",
                show(path),
                quoted(name)
            ),
        }
    }
}

impl std::error::Error for VerifyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            VerifyError::Path { error, .. } => Some(error),
            VerifyError::NotAFolder { .. } => None,
        }
    }
}

/// Checks every piece of a torrent against the files on disk. Nothing is written, created or changed.
///
/// `path` is the folder that holds the content, as a client's download folder does, or the content itself: the file of
/// a single-file torrent, the folder of any other. `path` itself may be a symbolic link; links below it are followed if
/// they stay below it.
///
/// A file that is missing, too short or unreadable is in the report and does not stop the check. After all reading,
/// each file is looked at again. If a file has changed since it was opened (its length, times or place on disk, or it
/// is gone or new), its pieces are checked again; if it changes during each of three checks, the pieces are
/// [`Unstable`](PieceState::Unstable). The report on a file thus holds for its state at the end of the check, as far as
/// the file system tells of changes.
///
/// In version 1 (BEP 3) the SHA-1 of each piece is compared, in version 2 (BEP 52) the root of its hash tree, in a
/// hybrid torrent both, from one read.
///
/// # Errors
///
/// If `path` is missing, or is a file although the torrent has a folder. There are no errors once the check has begun.
///
/// ```
/// use hashloom_engine::torrent::{Options, PieceState, Torrent, verify};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("abc.txt"), "abc")?;
/// // SHA-1 of "ab", then of "c".
/// let mut torrent = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi2e6:pieces40:".to_vec();
/// torrent.extend_from_slice(hashloom::hash(hashloom::Algorithm::Sha1, b"ab").as_ref());
/// torrent.extend_from_slice(hashloom::hash(hashloom::Algorithm::Sha1, b"x").as_ref());
/// torrent.extend_from_slice(b"ee");
///
/// let torrent = Torrent::parse(&torrent)?;
/// let report = verify(&torrent, folder.path(), &Options::default())?;
/// assert_eq!(report.pieces, [PieceState::Have, PieceState::Bad]);
/// assert!(!report.is_complete());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify(torrent: &Torrent, path: &Path, options: &Options<'_>) -> Result<Report, VerifyError> {
    let mut found = None;
    verify_many([Check::new(torrent, path)], options, |_, report| found = Some(report));
    // A single check is always reported.
    found.unwrap_or_else(|| {
        Err(VerifyError::Path { path: path.to_owned(), error: io::Error::other("the check was lost") })
    })
}

/// A torrent to check, and its place. See [`verify_many`].
#[derive(Debug, Clone)]
pub struct Check<T> {
    torrent: T,
    path: PathBuf,
    only: Option<Vec<u8>>,
    known: Vec<PieceState>,
}

impl<T: Borrow<Torrent>> Check<T> {
    /// A check of all pieces of `torrent`. `path` is or holds the content, as for [`verify`].
    pub fn new(torrent: T, path: impl Into<PathBuf>) -> Check<T> {
        Check { torrent, path: path.into(), only: None, known: Vec::new() }
    }

    /// Restricts the check to the pieces whose bits are set, in the order of BEP 3's bitfield, as [`Report::bitfield`]
    /// gives it. Pieces beyond the end of the bitfield are not checked.
    pub fn only(mut self, bitfield: impl Into<Vec<u8>>) -> Check<T> {
        self.only = Some(bitfield.into());
        self
    }

    /// Gives the verdicts of an interrupted check: only pieces that are [`Unchecked`](PieceState::Unchecked) in
    /// `states`, or beyond its end, are checked.
    pub fn known(mut self, states: impl Into<Vec<PieceState>>) -> Check<T> {
        self.known = states.into();
        self
    }
}

/// Checks any number of torrents, which share lanes and threads: the pieces of one small torrent do not fill them.
///
/// `checks` is drawn from as threads become free, one ahead, so that only a few of a thousand torrents are in memory at
/// any time. Any of the threads calls `report`, one at a time, as soon as a torrent is finished, not always in the
/// order of `checks`. If the check is cancelled, `report` is called for the torrents that were begun.
///
/// ```
/// use hashloom_engine::torrent::{Check, Options, Torrent, verify_many};
///
/// let torrent = |name| {
///     let head = format!("d4:infod6:lengthi3e4:name1:{name}12:piece lengthi16384e6:pieces20:").into_bytes();
///     let digest = hashloom::hash(hashloom::Algorithm::Sha1, b"abc");
///     Torrent::parse(&[&head[..], digest.as_ref(), b"ee"].concat())
/// };
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("b"), "abc")?;
/// let checks = ["a", "b"].map(|name| Check::new(torrent(name).unwrap(), folder.path()));
/// let mut complete = Vec::new();
/// verify_many(checks, &Options::default(), |torrent, report| {
///     if report.is_ok_and(|report| report.is_complete()) {
///         complete.push(torrent.name().to_owned());
///     }
/// });
/// assert_eq!(complete, [b"b"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify_many<T, I>(
    checks: I,
    options: &Options<'_>,
    mut report: impl FnMut(&T, Result<Report, VerifyError>) + Send,
) where
    T: Borrow<Torrent> + Send + Sync,
    I: IntoIterator<Item = Check<T>>,
    I::IntoIter: Send,
{
    let cache = Arc::new(options.cache());
    let sink: Sink<'_, T> = Mutex::new(&mut report);
    let tasks = checks.into_iter().filter_map(|check| Task::begin(check, &cache, &sink, options.pieces));
    run(tasks, options.effort());
}

type Sink<'s, T> = Mutex<&'s mut (dyn FnMut(&T, Result<Report, VerifyError>) + Send)>;

/// The check of one torrent.
struct Task<'a, T> {
    torrent: Arc<T>,
    /// The place where the check looked for the torrent's file or folder.
    place: PathBuf,
    content: job::Content<'a>,
    states: Vec<AtomicU8>,
    only: Option<Vec<u8>>,
    started: Instant,
    sink: &'a Sink<'a, T>,
    on_piece: Option<OnPiece<'a>>,
}

impl<'a, T: Borrow<Torrent> + Send + Sync> Task<'a, T> {
    fn begin(
        check: Check<T>,
        cache: &Arc<Cache>,
        sink: &'a Sink<'a, T>,
        on_piece: Option<OnPiece<'a>>,
    ) -> Option<Arc<Task<'a, T>>> {
        let started = Instant::now();
        let torrent = Arc::new(check.torrent);
        let this: &Torrent = (*torrent).borrow();
        let Located { place, prefix, content } = match locate(this, &check.path, cache) {
            Ok(located) => located,
            Err(error) => {
                let error = VerifyError::locating(this, &check.path, error);
                (sink.lock().unwrap_or_else(PoisonError::into_inner))(&torrent, Err(error));
                return None;
            }
        };
        let names = torrent.clone();
        let path_of = move |index| {
            let path = paths::to_path((*names).borrow().file(index).path);
            if prefix.as_os_str().is_empty() { path } else { prefix.join(path) }
        };
        let files = Files::new(place, this.file_count(), Box::new(path_of), cache);
        let hashes = Hashes { sha1: !this.digests().is_empty(), merkle: !this.roots().is_empty() };
        let known = |piece| check.known.get(piece).copied().unwrap_or(PieceState::Unchecked);
        // Known verdicts hold as long as the files do not change from now on, including files that are not read.
        for file in (0..this.file_count()).filter(|_| !check.known.is_empty()) {
            let attributes = this.file(file).attributes;
            let is_known = || this.pieces_of_file(file).any(|piece| known(piece) != PieceState::Unchecked);
            if !attributes.padding && !attributes.symlink && is_known() {
                files.look_at(file);
            }
        }
        Some(Arc::new(Task {
            place: content,
            content: job::Content::new(this.layout.clone(), files, hashes),
            states: (0..this.piece_count()).map(|piece| AtomicU8::new(known(piece) as u8)).collect(),
            only: check.only,
            started,
            sink,
            on_piece,
            torrent,
        }))
    }

    fn report(&self) -> Report {
        let torrent: &Torrent = (*self.torrent).borrow();
        let files = &self.content.files;
        let pieces: Vec<PieceState> =
            self.states.iter().map(|state| PieceState::from_byte(state.load(Ordering::Relaxed))).collect();
        let cancelled = !self.content.is_done();
        let file_reports =
            (0..torrent.file_count()).map(|index| report_file(torrent, &self.place, files, index, &pieces, cancelled));
        let file_reports = file_reports.collect();
        let troubles = files.take_troubles();
        let troubles =
            troubles.into_iter().map(|(file, trouble)| FileTrouble { file, path: files.path(file), trouble });
        Report {
            content: self.place.clone(),
            pieces,
            files: file_reports,
            troubles: troubles.collect(),
            nbytes_read: self.content.nbytes_read(),
            elapsed: self.started.elapsed(),
            cancelled,
            looks: files.looks(),
        }
    }
}

impl<T: Borrow<Torrent> + Send + Sync> Job for Task<'_, T> {
    fn content(&self) -> &job::Content<'_> {
        &self.content
    }

    fn wants(&self, piece: usize) -> bool {
        let asked = |bits: &Vec<u8>| bits.get(piece / 8).is_some_and(|byte| byte & 0x80 >> (piece % 8) != 0);
        self.states[piece].load(Ordering::Relaxed) == PieceState::Unchecked as u8
            && self.only.as_ref().is_none_or(asked)
    }

    fn settle(&self, piece: usize, outcome: Outcome) {
        let torrent: &Torrent = (*self.torrent).borrow();
        let place = &self.states[piece];
        let state = match outcome {
            Outcome::Unwanted => return,
            Outcome::Changed | Outcome::Unstable => {
                let before = PieceState::from_byte(place.load(Ordering::Relaxed));
                if matches!(before, PieceState::Unchecked | PieceState::Unstable) {
                    return;
                }
                match outcome {
                    Outcome::Changed => PieceState::Unchecked,
                    _ => PieceState::Unstable,
                }
            }
            Outcome::Absent(absent) => absent.into(),
            Outcome::Hashed { sha1, root } => {
                let agrees = |all: &[u8], nbytes: usize, found: &[u8]| {
                    (!all.is_empty()).then(|| all.get(piece * nbytes..(piece + 1) * nbytes) == Some(found))
                };
                match (agrees(torrent.digests(), 20, &sha1), agrees(torrent.roots(), NODE_NBYTES, &root)) {
                    (Some(true), Some(false)) | (Some(false), Some(true)) => PieceState::Disputed,
                    (Some(true), _) | (_, Some(true)) => PieceState::Have,
                    _ => PieceState::Bad,
                }
            }
        };
        place.store(state as u8, Ordering::Relaxed);
        if let Some(on_piece) = self.on_piece {
            on_piece(torrent, piece, state);
        }
    }

    fn finish(&self) {
        let report = self.report();
        (self.sink.lock().unwrap_or_else(PoisonError::into_inner))(&self.torrent, Ok(report));
    }
}

fn report_file(
    torrent: &Torrent,
    content: &Path,
    files: &Files<'_>,
    index: usize,
    pieces: &[PieceState],
    cancelled: bool,
) -> FileReport {
    let file = torrent.file(index);
    if file.attributes.padding || file.attributes.symlink {
        let looked_at = file.attributes.symlink && !cancelled;
        let difference = looked_at.then(|| links::of_link(&file, content, &files.path(index))).flatten();
        return FileReport { state: FileState::Skipped, found_nbytes: None, difference };
    }
    if files.known(index) == Known::Unknown && !cancelled {
        // The file is empty, or the check gave up on its only piece before reading the file.
        let _ = files.get(index, &mut Last::default());
    }
    let own = &pieces[torrent.pieces_of_file(index)];
    let (state, found_nbytes) = match files.known(index) {
        Known::Present(found) if files.is_unstable(index) => (FileState::Unstable, Some(found)),
        _ if files.is_unstable(index) => (FileState::Unstable, None),
        Known::Unknown => (FileState::Unchecked, None),
        Known::Missing => (FileState::Missing, None),
        Known::Failed => (FileState::Failed, None),
        Known::Present(found) if found < file.nbytes => (FileState::Short, Some(found)),
        Known::Present(found) if own.iter().all(|&piece| piece == PieceState::Have) => {
            (FileState::Complete, Some(found))
        }
        Known::Present(found) if own.contains(&PieceState::Unchecked) => (FileState::Unchecked, Some(found)),
        Known::Present(found) => (FileState::Incomplete, Some(found)),
    };
    let is_there = file.attributes.executable && found_nbytes.is_some() && !cancelled;
    let difference = is_there.then(|| links::of_executable(&files.path(index))).flatten();
    FileReport { state, found_nbytes, difference }
}
