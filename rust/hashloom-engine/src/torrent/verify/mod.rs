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
        // What a thread gives back of a mapping, the CPUs of all must forget. Seconds for 1 GiB, mapped and read: one
        // thread, pieces of 16 KiB 0.23, 0.27, of 64 KiB 0.17, 0.26; two, of 16 KiB 0.49, 0.14, of 256 KiB 0.10, 0.13.
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

    /// So many threads, at most 128. Memory in use does not grow with them beyond a fixed bound.
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Called by any of the threads with how far the check is: whenever it has hashed the next chunk of each of its
    /// pieces (up to 16 pieces, at most 512 KiB of them all), and for each piece whose verdict is known without reading
    /// it.
    pub fn progress(mut self, progress: &'a (dyn Fn(Progress) + Sync)) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Called by any of the threads with each piece's verdict as soon as it is known, in any order. Not for verdicts that
    /// [were known before](Check::known). Called again with [`Unchecked`](PieceState::Unchecked) where a verdict, also
    /// one that was known, is taken back as a file of the piece has changed since; then once more with the new one, or
    /// with [`Unstable`](PieceState::Unstable).
    pub fn pieces(mut self, pieces: &'a (dyn Fn(&Torrent, usize, PieceState) + Sync)) -> Self {
        self.pieces = Some(pieces);
        self
    }

    /// Long files that are in memory are mapped and hashed where they are, instead of being copied first. On Linux with
    /// 64 bits, with one thread, or two and pieces of at least 256 KiB; elsewhere it changes nothing.
    ///
    /// To touch a part of a mapping that its file has lost raises SIGBUS. So a handler is installed, once and for the
    /// whole process, and stays: a file that becomes shorter while it is hashed, or whose disk fails, is read instead.
    /// Any other SIGBUS, a fault of the program's own or one that was sent, does what it would do without it: the handler
    /// that was there before is called, or the process ends. A handler that the program installs later takes the place of
    /// this one; files that are begun after that are read. One that is installed while files are hashed must call the
    /// handler that it has replaced, or a file that becomes shorter at that moment is taken for the program's own fault.
    ///
    /// ```
    /// use hashloom_engine::torrent::Options;
    ///
    /// // A program of whose signals nobody else takes care.
    /// let options = Options::default().mapped_with_sigbus_handler(true);
    /// ```
    pub fn mapped_with_sigbus_handler(mut self, mapped: bool) -> Self {
        self.mapped = mapped;
        self
    }

    /// As soon as this is true the check stops, and its report says [`Unchecked`](PieceState::Unchecked) of what is
    /// left. Nobody can end a read that hangs in the system, on a network disk that does not answer for instance: the check
    /// ends after it.
    pub fn cancel(mut self, cancel: &'a AtomicBool) -> Self {
        self.cancel = Some(cancel);
        self
    }
}

/// Why a check could not begin. Once it has begun, what goes wrong with a file is in the report.
#[derive(Debug)]
#[non_exhaustive]
pub enum VerifyError {
    /// The path cannot be used.
    Path {
        /// The path.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The torrent is of a folder, but the path is that of a file.
    NotAFolder {
        /// The path.
        path: PathBuf,
        /// The torrent's name.
        name: Vec<u8>,
    },
}

impl VerifyError {
    /// What `error` means that came of looking for the content at `path`.
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
/// a single-file torrent, the folder of another one. `path` itself may be a symbolic link; below it, links are followed
/// as long as they stay below it.
///
/// A file that is missing, too short or unreadable is in the report and does not stop the check. When all is read, each
/// file is looked at again: the pieces of one that has changed since it was opened (its length, times or place on disk;
/// it has gone or come) are checked again; if it changes each of the three times, they are
/// [`Unstable`](PieceState::Unstable). So what is said of a file holds for what it was at the end of the check, as far as
/// the file system tells of changes.
///
/// Of version 1 (BEP 3) the SHA-1 of each piece is compared, of version 2 (BEP 52) the root of its hash tree, of a
/// hybrid torrent both, from one read.
///
/// # Errors
///
/// If `path` is not there, or is a file although the torrent is of a folder. Once the check has begun there are none.
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

/// A torrent to check, and where. See [`verify_many`].
#[derive(Debug, Clone)]
pub struct Check<T> {
    torrent: T,
    path: PathBuf,
    only: Option<Vec<u8>>,
    known: Vec<PieceState>,
}

impl<T: Borrow<Torrent>> Check<T> {
    /// All pieces of `torrent`, whose content `path` is or holds, as for [`verify`].
    pub fn new(torrent: T, path: impl Into<PathBuf>) -> Check<T> {
        Check { torrent, path: path.into(), only: None, known: Vec::new() }
    }

    /// Only the pieces whose bits are set, in the order of BEP 3's bitfield, as [`Report::bitfield`] gives it. Pieces
    /// beyond its end are not checked.
    pub fn only(mut self, bitfield: impl Into<Vec<u8>>) -> Check<T> {
        self.only = Some(bitfield.into());
        self
    }

    /// The verdicts of a check that was interrupted: only pieces that are [`Unchecked`](PieceState::Unchecked) in it,
    /// or beyond its end, are checked.
    pub fn known(mut self, states: impl Into<Vec<PieceState>>) -> Check<T> {
        self.known = states.into();
        self
    }
}

/// Checks any number of torrents, sharing lanes and threads: the pieces of a small one do not fill them.
///
/// `checks` is drawn from as threads get free, one ahead, so that of a thousand torrents only a few are in memory at
/// any time. `report` is called by any of the threads, one at a time, as soon as a torrent is done with, which is not
/// always the order in which they came. If the check is cancelled it is called for those that were begun.
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
    /// Where the torrent's file or folder was looked for.
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
        // What is known holds as long as the files do not change from now on, also those that are not read.
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
        // An empty file, or one whose only piece was given up before it was reached.
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
