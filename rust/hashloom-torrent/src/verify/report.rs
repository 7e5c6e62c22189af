// SPDX-License-Identifier: MIT OR Apache-2.0

//! The result of a check.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::locate::Paths;
use crate::{Bitfield, Torrent};

use hashloom_files::merkle::NODE_NBYTES;
pub use hashloom_files::pieces::files::Trouble;
use hashloom_files::pieces::files::{Absent, Look};
use hashloom_files::text::reason;

/// The result of a check. See [`verify`](super::verify).
///
/// ```
/// use hashloom_files::run::Options;
/// use hashloom_torrent::{FileReport, FileState, FileTrouble, PieceState, Ranges, Report, Torrent, verify};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("abc.txt"), "abc")?;
/// let bytes = b"d4:infod6:lengthi3e4:name7:abc.txt12:piece lengthi16384e6:pieces20:01234567890123456789ee";
/// let torrent = Torrent::parse(bytes)?;
/// let report: Report = verify(&torrent, folder.path(), &Options::new())?;
/// assert!(report.is_of_all() && !report.is_complete());
/// assert_eq!((report.count(PieceState::Bad), report.nbytes(&torrent, PieceState::Bad)), (1, 3));
/// assert_eq!((report.have(), report.bitfield().count()), (0, 0));
/// let mut ranges: Ranges = report.ranges();
/// assert_eq!(ranges.next(), Some((PieceState::Bad, 0..1)));
/// let wrong: Vec<_> = report.wrong_bytes(&torrent).collect();
/// assert_eq!(wrong, [(0, 0..3, PieceState::Bad)]); // of file 0 the bytes 0 to 2
/// let file: &FileReport = &report.files[0];
/// assert_eq!((file.state, file.found_nbytes, file.difference), (FileState::Incomplete, Some(3), None));
/// assert_eq!(report.path(&torrent, 0), folder.path().join("abc.txt"));
/// let troubles: &[FileTrouble] = &report.troubles;
/// assert!(troubles.is_empty() && report.moved().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
#[must_use]
pub struct Report {
    /// The place where the check looked for the content: a file or a folder, which need not exist.
    pub content: PathBuf,
    /// The paths of the files.
    pub(super) paths: Arc<Paths>,
    /// The pieces that were asked for: all, unless [`Check::pieces`](super::Check::pieces) named others.
    pub scope: Bitfield,
    /// The verdict on each piece; [`Unchecked`](PieceState::Unchecked) outside of the scope.
    pub pieces: Vec<PieceState>,
    /// The result for each file; [`Unchecked`](FileState::Unchecked) for a file without a piece of the scope.
    pub files: Vec<FileReport>,
    /// The first trouble of each file that is there but could not be opened or read.
    pub troubles: Vec<FileTrouble>,
    /// Number of pieces in the scope whose verdicts are those of an earlier run, [given](super::Check::known) to this
    /// one.
    pub ntaken_over: usize,
    /// Number of bytes read; less than the content has if files are missing or have holes.
    pub nbytes_read: u64,
    /// Duration of the check.
    pub elapsed: Duration,
    /// Whether the check was cancelled before all pieces were checked.
    pub cancelled: bool,
    /// A look at each file at the end of the check.
    #[doc(hidden)]
    pub looks: Vec<Look>,
}

impl Torrent {
    /// The verdict on a piece with these digests; empty are those that the torrent lacks, or that were not found. A
    /// piece of which the torrent has no digest stays unchecked.
    #[doc(hidden)]
    pub fn verdict(&self, piece: usize, sha1: &[u8], root: &[u8]) -> PieceState {
        let agrees = |all: &[u8], nbytes: usize, found: &[u8]| {
            (!all.is_empty()).then(|| all.get(piece * nbytes..(piece + 1) * nbytes) == Some(found))
        };
        let roots = if self.has_unknown_root(piece) { &[] } else { self.roots() };
        match (agrees(self.digests(), 20, sha1), agrees(roots, NODE_NBYTES, root)) {
            (None, None) => PieceState::Unchecked,
            (Some(true), Some(false)) | (Some(false), Some(true)) => PieceState::Disputed,
            (Some(false), _) | (_, Some(false)) => PieceState::Bad,
            _ => PieceState::Have,
        }
    }
}

/// The verdict on a piece.
///
/// ```
/// use hashloom_torrent::PieceState;
///
/// assert_eq!((PieceState::ALL[1], PieceState::Unchecked.name()), (PieceState::Have, "unchecked"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum PieceState {
    /// The piece was not checked: the check was cancelled, or the piece was not asked for.
    Unchecked = 0,
    /// The piece's bytes have the right digest; in a hybrid torrent, both digests are right.
    Have = 1,
    /// A file with bytes of the piece is missing or too short.
    Missing = 2,
    /// All bytes of the piece are there, with another digest.
    Bad = 3,
    /// A file with bytes of the piece could not be opened or read.
    Unread = 4,
    /// The halves of a hybrid torrent disagree: by one the piece's bytes are right, by the other they are wrong. No
    /// content can be right by both: the torrent itself is faulty.
    Disputed = 5,
    /// A file with bytes of the piece changed during each of three checks: nothing is known of the piece.
    Unstable = 6,
}

impl PieceState {
    /// All states.
    pub const ALL: &'static [PieceState] = &[
        PieceState::Unchecked,
        PieceState::Have,
        PieceState::Missing,
        PieceState::Bad,
        PieceState::Unread,
        PieceState::Disputed,
        PieceState::Unstable,
    ];

    /// The name, as the program prints it.
    pub fn name(self) -> &'static str {
        match self {
            PieceState::Unchecked => "unchecked",
            PieceState::Have => "have",
            PieceState::Missing => "missing",
            PieceState::Bad => "bad",
            PieceState::Unread => "unread",
            PieceState::Disputed => "disputed",
            PieceState::Unstable => "unstable",
        }
    }

    /// The state of this number; [`Unchecked`](PieceState::Unchecked) for an unknown number.
    #[doc(hidden)]
    pub fn from_byte(byte: u8) -> PieceState {
        PieceState::ALL.get(usize::from(byte)).copied().unwrap_or(PieceState::Unchecked)
    }
}

impl From<Absent> for PieceState {
    fn from(absent: Absent) -> PieceState {
        match absent {
            Absent::Missing => PieceState::Missing,
            Absent::Failed => PieceState::Unread,
        }
    }
}

/// The result for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileReport {
    /// The verdict on it.
    pub state: FileState,
    /// The file's length on disk, if the check found and looked at the file.
    pub found_nbytes: Option<u64>,
    /// Number of bytes that the file has after its end by the torrent.
    pub extra_nbytes: u64,
    /// A difference between the file's attributes and the disk. It does not count against completeness, as most clients
    /// create neither links nor executable files.
    pub difference: Option<FileDifference>,
}

/// A difference between a file's attributes (BEP 47) and the disk.
///
/// ```
/// assert_eq!(hashloom_torrent::FileDifference::LinkMissing.name(), "link missing");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileDifference {
    /// The file should be a symbolic link and is missing.
    LinkMissing,
    /// The symbolic link has another target.
    LinkElsewhere,
    /// The file should be a symbolic link, and something else is there.
    NotALink,
    /// The file should be executable, and nobody may execute it. Reported only where that permission exists.
    NotExecutable,
}

impl FileDifference {
    /// The name, as the program prints it.
    pub fn name(self) -> &'static str {
        match self {
            FileDifference::LinkMissing => "link missing",
            FileDifference::LinkElsewhere => "link elsewhere",
            FileDifference::NotALink => "not a link",
            FileDifference::NotExecutable => "not executable",
        }
    }
}

/// The verdict on a file.
///
/// ```
/// assert_eq!(hashloom_torrent::FileState::Complete.name(), "complete");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileState {
    /// All pieces of the file are right, and its length is.
    Complete,
    /// All pieces of the file are right, and bytes follow that the torrent does not have. Clients take such a file as
    /// complete, so [`Report::is_complete`] does too; [`Report::is_exact`] does not.
    Long,
    /// The file is long enough, but at least one of its pieces is not right. Pieces span files, so the fault can be a
    /// neighbour's.
    Incomplete,
    /// The file is too short.
    Short,
    /// The file is missing.
    Missing,
    /// The file is empty and missing. Some clients make no empty files and have the torrent complete, others make them
    /// at their start, so [`Report::is_complete`] does not mind; [`Report::is_exact`] does.
    NotMade,
    /// The file could not be opened; [`Report::troubles`] says why. A file that was opened but has unreadable parts is
    /// incomplete.
    Failed,
    /// The file has no content to check: it is a padding file or a symbolic link (see
    /// [`difference`](FileReport::difference)).
    Skipped,
    /// Not all pieces of the file were checked, because they were not asked for, or the check was cancelled. Those that
    /// were are right.
    Unchecked,
    /// The file changed during each of three checks. Check again when nothing writes to it any more.
    Unstable,
}

impl FileState {
    /// The name, as the program prints it.
    pub fn name(self) -> &'static str {
        match self {
            FileState::Complete => "complete",
            FileState::Long => "too long",
            FileState::Incomplete => "incomplete",
            FileState::Short => "short",
            FileState::Missing => "missing",
            FileState::NotMade => "not made",
            FileState::Failed => "failed",
            FileState::Skipped => "skipped",
            FileState::Unchecked => "unchecked",
            FileState::Unstable => "unstable",
        }
    }
}

/// Why a file that is there could not be checked.
#[derive(Debug)]
pub struct FileTrouble {
    /// The file's index in the torrent's list of files.
    pub file: usize,
    /// The file's path on disk.
    pub path: PathBuf,
    /// The first thing that went wrong.
    pub trouble: Trouble,
}

impl fmt::Display for FileTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |path: &PathBuf| hashloom_files::paths::display(path);
        write!(f, "{}: ", show(&self.path))?;
        match &self.trouble {
            Trouble::Outside(target) => write!(
                f,
                "not opened, as a symbolic link leads out of the folder, to {}. If that is where the content is, give \
                it as PATH",
                show(target)
            ),
            Trouble::NotRegular(what) => write!(f, "expected a regular file, found {what}"),
            Trouble::Open(error) => write!(f, "cannot be opened: {}", reason(error)),
            Trouble::Read { offset, error } => write!(f, "cannot be read at byte {offset}: {}", reason(error)),
        }
    }
}

impl Report {
    /// The path where the check looked for a file.
    ///
    /// # Panics
    /// If the torrent has no such file.
    pub fn path(&self, torrent: &Torrent, file: usize) -> PathBuf {
        self.paths.path(torrent, file)
    }

    /// The files that were looked for at another path than the torrent's, and these paths: absolute, or relative to the
    /// folder that was named. They were [given](super::Location::paths), or have names that a client gave them, or
    /// names in another Unicode form.
    pub fn moved(&self) -> Vec<(usize, PathBuf)> {
        self.paths.moved().iter().map(|(&file, path)| (file, path.clone())).collect()
    }

    /// Number of pieces in a state.
    pub fn count(&self, state: PieceState) -> usize {
        self.pieces.iter().filter(|&&piece| piece == state).count()
    }

    /// Number of pieces that are right.
    pub fn have(&self) -> usize {
        self.count(PieceState::Have)
    }

    /// Total bytes of files in the pieces of a state. Padding files do not count.
    pub fn nbytes(&self, torrent: &Torrent, state: PieceState) -> u64 {
        let ranges = self.ranges().filter(|(of, _)| *of == state);
        ranges.flat_map(|(_, pieces)| torrent.bytes_of_pieces(pieces)).map(|(_, bytes)| bytes.end - bytes.start).sum()
    }

    /// Whether all that was asked for is there and right: every piece of the [scope](Report::scope), and, if that is
    /// all pieces, every file. A file may have more bytes than the torrent says, and empty files may be missing if
    /// others are there: see [`is_exact`](Report::is_exact). Of a smaller scope this says nothing about the rest of the
    /// torrent: see [`is_of_all`](Report::is_of_all). Nothing is right if nothing was asked for.
    pub fn is_complete(&self) -> bool {
        let is_whole = |file: &FileReport| {
            matches!(file.state, FileState::Complete | FileState::Long | FileState::Skipped | FileState::NotMade)
        };
        let nothing_is_there = || {
            self.nnot_made() > 0
                && self.files.iter().all(|file| matches!(file.state, FileState::NotMade | FileState::Skipped))
        };
        self.scope.ones().all(|piece| self.pieces[piece] == PieceState::Have)
            && if self.is_of_all() {
                self.files.iter().all(is_whole) && !nothing_is_there()
            } else {
                self.scope.count() > 0
            }
    }

    /// Number of empty files that are missing.
    fn nnot_made(&self) -> usize {
        self.files.iter().filter(|file| file.state == FileState::NotMade).count()
    }

    /// Whether all pieces were asked for. Only then does [`is_complete`](Report::is_complete) speak of the torrent.
    pub fn is_of_all(&self) -> bool {
        self.scope.is_complete()
    }

    /// Whether all is complete, no file has more bytes than the torrent says, and every empty file is there.
    pub fn is_exact(&self) -> bool {
        self.is_complete() && self.nlong() == 0 && self.nnot_made() == 0
    }

    /// Number of files none of whose checked pieces is wrong, and that have more bytes than the torrent says.
    pub fn nlong(&self) -> usize {
        let is_not_wrong = |file: &FileReport| matches!(file.state, FileState::Long | FileState::Unchecked);
        self.files.iter().filter(|file| file.extra_nbytes > 0 && is_not_wrong(file)).count()
    }

    /// Runs of pieces of equal state, in order.
    pub fn ranges(&self) -> Ranges<'_> {
        Ranges { pieces: &self.pieces, pos: 0 }
    }

    /// The bytes of files that are not right, file by file: a client would ask for them, or `curl --range` fetch them.
    ///
    /// Neighbouring pieces of one state form one range. Padding is left out.
    pub fn wrong_bytes<'a>(
        &'a self,
        torrent: &'a Torrent,
    ) -> impl Iterator<Item = (usize, Range<u64>, PieceState)> + 'a {
        let wrong = |state: PieceState| !matches!(state, PieceState::Have | PieceState::Unchecked);
        self.ranges().filter(move |&(state, _)| wrong(state)).flat_map(move |(state, pieces)| {
            torrent.bytes_of_pieces(pieces).map(move |(file, bytes)| (file, bytes, state))
        })
    }

    /// The pieces that are right.
    pub fn bitfield(&self) -> Bitfield {
        Bitfield::from(&self.pieces[..])
    }
}

/// Runs of pieces of equal state; see [`Report::ranges`].
#[derive(Debug, Clone)]
pub struct Ranges<'a> {
    pieces: &'a [PieceState],
    pos: usize,
}

impl Iterator for Ranges<'_> {
    type Item = (PieceState, Range<usize>);

    fn next(&mut self) -> Option<(PieceState, Range<usize>)> {
        let rest = &self.pieces[self.pos..];
        let &state = rest.first()?;
        let start = self.pos;
        self.pos += rest.iter().take_while(|&&piece| piece == state).count();
        Some((state, start..self.pos))
    }
}
