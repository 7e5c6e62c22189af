// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checks the files on disk against a torrent.

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::locate::{Located, locate};
use super::paths::{self, shown};
use super::report::{FileReport, FileState, FileTrouble, Report};
use super::{PieceState, Torrent};
use crate::Algorithm;
use crate::engine::files::{Files, Known};
pub use crate::engine::pieces::Progress;
use crate::engine::pieces::{Check, Shared};

/// How to check. The default is one thread for each CPU, no callback, no cancelling.
///
/// ```no_run
/// use std::num::NonZeroUsize;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// use hashloom::torrent::{Options, Progress, Torrent, verify};
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
    cancel: Option<&'a AtomicBool>,
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl<'a> Options<'a> {
    /// So many threads, at most 512. Memory in use does not grow with them beyond a fixed bound.
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

    /// As soon as this is true the check stops, and its report says [`Unchecked`](PieceState::Unchecked) of what is
    /// left.
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
    pub(super) fn locating(torrent: &Torrent, path: &Path, error: io::Error) -> VerifyError {
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
                paths::quoted(name)
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
/// A file that is missing, too short, unreadable or changed meanwhile is in the report and does not stop the check.
///
/// # Errors
///
/// If `path` is not there, or is a file although the torrent is of a folder. Once the check has begun there are none.
///
/// ```
/// use hashloom::torrent::{Options, PieceState, Torrent, verify};
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
    let started = Instant::now();
    let located = locate(torrent, path).map_err(|error| VerifyError::locating(torrent, path, error));
    let Located { place, prefix, content } = located?;
    let path_of = |index: usize| prefix.join(paths::to_path(torrent.file(index).path));
    let files = Files::new(&place, torrent.file_count(), &path_of);
    let shared = Shared::new(torrent.piece_count());
    let threads = options.threads.or_else(|| std::thread::available_parallelism().ok());
    let check = Check {
        algorithm: Algorithm::Sha1,
        layout: &torrent.layout,
        digests: torrent.digests(),
        files: &files,
        nthreads: threads.map_or(1, NonZeroUsize::get),
        progress: options.progress,
        cancel: options.cancel,
        shared: &shared,
    };
    check.run();

    let pieces = shared.states();
    let cancelled = pieces.contains(&PieceState::Unchecked);
    let file_reports = (0..torrent.file_count()).map(|index| report_file(torrent, &files, index, &pieces, cancelled));
    let file_reports = file_reports.collect();
    let troubles = files.take_troubles();
    let troubles = troubles.into_iter().map(|(file, trouble)| FileTrouble { file, path: files.path(file), trouble });
    Ok(Report {
        content,
        pieces,
        files: file_reports,
        troubles: troubles.collect(),
        nbytes_read: shared.nbytes_read(),
        elapsed: started.elapsed(),
        cancelled,
    })
}

fn report_file(
    torrent: &Torrent,
    files: &Files<'_>,
    index: usize,
    pieces: &[PieceState],
    cancelled: bool,
) -> FileReport {
    let file = torrent.file(index);
    if file.attributes.padding || file.attributes.symlink {
        return FileReport { state: FileState::Skipped, found_nbytes: None };
    }
    if files.known(index) == Known::Unknown && !cancelled {
        // An empty file, or one whose only piece was given up before it was reached.
        let _ = files.get(index, &mut None);
    }
    let own = &pieces[torrent.pieces_of_file(index)];
    let (state, found_nbytes) = match files.known(index) {
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
    FileReport { state, found_nbytes }
}
