// SPDX-License-Identifier: MIT OR Apache-2.0

//! Why a torrent was not made.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use hashloom_files::paths::BadComponent;
use hashloom_files::text::{quoted, reason};

use hashloom_torrent::Error;
use hashloom_torrent::bencode::Limits;

use super::{MAX_PIECE_LENGTH, MIN_PIECE_LENGTH};
use crate::urls;

/// Number of files that an error names; the others are counted.
pub(super) const NAMED_MAX: usize = 10;

/// Why a torrent was not made. The message names the place and the cure; it can have several lines, one for each file.
#[derive(Debug)]
#[non_exhaustive]
pub enum CreateError {
    /// The path of the content cannot be used.
    Path {
        /// The path.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The path has no name at its end, such as `/`, and no other name is given.
    NoName {
        /// The path.
        path: PathBuf,
    },
    /// The given name cannot be that of a file or folder.
    BadName {
        /// The name.
        name: String,
    },
    /// Clients do not accept this length of a piece.
    PieceLength {
        /// The length in bytes.
        found: u64,
        /// Whether only powers of two are allowed, as in v2 and hybrid torrents.
        power: bool,
    },
    /// A tracker or web seed is not a URL of a kind that clients use.
    Url {
        /// `"tracker"` or `"web seed"`.
        what: &'static str,
        /// The URL given.
        url: String,
    },
    /// Some files cannot be part of the torrent, or not in the way asked for.
    Files {
        /// The first ten, in the order of discovery.
        problems: Vec<FileProblem>,
        /// Number of further problems.
        more: usize,
    },
    /// There is no file, or every file is empty: no client accepts a torrent without pieces.
    Nothing {
        /// The path where files were looked for.
        path: PathBuf,
        /// Number of empty files there.
        empty: usize,
    },
    /// The lengths of the files sum to 2^63 or more.
    TotalOverflow,
    /// The torrent would be longer than parsers accept.
    TooManyPieces {
        /// Number of pieces, counted as the torrent's version counts them.
        pieces: u64,
        /// Number of files.
        files: usize,
        /// Length of a piece in bytes.
        piece_nbytes: u64,
    },
    /// The folder's only file has the folder's name: v2 cannot tell such a folder from the file alone.
    SameName {
        /// The name.
        name: Vec<u8>,
    },
    /// The content has a folder `.pad`, which is the place of padding files (BEP 47).
    PadFolder,
    /// The torrent that was made cannot be parsed: a defect of this library. Nothing was returned.
    Unreadable(Error),
    /// The torrent that was made can be parsed but differs from what was meant: a defect of this library. Nothing was
    /// returned.
    Different,
    /// A draft was to be finished without the digests of this piece, or with digests of more pieces than it has.
    Digests {
        /// The first such piece.
        piece: usize,
    },
    /// No torrent can be like the given one.
    Like {
        /// The reason, and the cure.
        what: &'static str,
    },
    /// The content differs from that of the torrent that the new one is to be like.
    Differs {
        /// The first file of the first piece that differs.
        path: PathBuf,
        /// The first piece that differs.
        piece: usize,
        /// Number of pieces that differ.
        pieces: usize,
    },
    /// The work was cancelled.
    Cancelled,
}

/// A file that cannot be part of a torrent.
///
/// ```
/// use hashloom_maker::{Builder, CreateError, FileProblem, FileProblemKind, Symlinks};
///
/// # #[cfg(unix)]
/// # {
/// let folder = tempfile::tempdir()?;
/// std::os::unix::fs::symlink("/", folder.path().join("link"))?;
/// let plan = Builder::new().symlinks(Symlinks::Refuse).plan(folder.path());
/// let Err(CreateError::Files { problems, .. }) = plan else { panic!() };
/// let FileProblem { path, kind, .. } = &problems[0];
/// assert!(*path == folder.path().join("link") && matches!(kind, FileProblemKind::Link));
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct FileProblem {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub kind: FileProblemKind,
}

/// Why a file cannot be part of a torrent.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileProblemKind {
    /// The file or folder cannot be examined, opened or read.
    Io(io::Error),
    /// Something other than a file, a folder or a link: `"a FIFO"`.
    NotRegular(&'static str),
    /// A symbolic link, while links are refused.
    Link,
    /// A link to a folder that the link lies in.
    LinkLoop,
    /// A link that leads nowhere.
    LinkDangling,
    /// The name is not UTF-8, which v2 requires.
    NotUtf8,
    /// The file lies deeper than parsers follow.
    TooDeep,
    /// The file was changed, replaced or removed while it was read.
    Changed,
    /// The file has fewer bytes than the file system says, like files of `/sys`.
    Short,
    /// A component of the path cannot be the name of a file.
    BadName(BadComponent),
    /// The file has another length than in the torrent that the new one is to be like.
    Length {
        /// Number of bytes there.
        expected: u64,
        /// Number of bytes of the file.
        found: u64,
    },
    /// The path is given twice, or is also that of a folder.
    Twice,
}

impl fmt::Display for CreateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CreateError::Path { path, error } => write!(f, "{}: {}", show(path), reason(error)),
            CreateError::NoName { path } => {
                write!(f, "{}: this path ends in no name that the torrent could have. Give one", show(path))
            }
            CreateError::BadName { name } => write!(
                f,
                "the name {} cannot be a file name: expected no \"/\" and neither \".\" nor \"..\"",
                quoted(name.as_bytes())
            ),
            CreateError::PieceLength { found, power } => {
                let kind = if *power { "a power of two" } else { "a multiple of 16 KiB" };
                let (least, most) = (MIN_PIECE_LENGTH >> 10, MAX_PIECE_LENGTH >> 20);
                write!(f, "a piece length of {found} bytes: expected {kind} from {least} KiB to {most} MiB")?;
                match power {
                    true if found % MIN_PIECE_LENGTH == 0 => write!(f, ". Only v1 torrents can have others"),
                    _ => Ok(()),
                }
            }
            CreateError::Url { what, url } => urls::refused(f, what, url.as_bytes()),
            CreateError::Files { problems, more } => {
                for (index, problem) in problems.iter().enumerate() {
                    write!(f, "{}{problem}", if index == 0 { "" } else { "\n" })?;
                }
                if *more > 0 { write!(f, "\nand {more} more") } else { Ok(()) }
            }
            CreateError::Nothing { path, empty: 0 } => {
                write!(f, "{}: there is no file here that would be part of the torrent", show(path))
            }
            CreateError::Nothing { path, empty } => {
                let files = if *empty == 1 { "the file has".into() } else { format!("all {empty} files have") };
                write!(f, "{}: {files} no bytes, and no client takes a torrent without pieces", show(path))
            }
            CreateError::TotalOverflow => write!(f, "the lengths of the files sum to 2^63 bytes or more"),
            CreateError::TooManyPieces { pieces, files, piece_nbytes } => write!(
                f,
                "{files} files in {pieces} pieces of {} KiB make a torrent of more than {} MiB, which parsers refuse. \
                 Take longer pieces or fewer files",
                piece_nbytes >> 10,
                Limits::default().nbytes >> 20
            ),
            CreateError::SameName { name } => write!(
                f,
                "{}: the folder's only file has the folder's name, which v2 cannot tell from a file without a folder. \
                 Give the torrent another name, or make a v1 torrent",
                quoted(name)
            ),
            CreateError::PadFolder => write!(
                f,
                "the content has a folder .pad, whose files would be taken for padding (BEP 47). Exclude it with the \
                 glob /.pad, or make a v2 torrent"
            ),
            CreateError::Unreadable(error) => write!(f, "a defect: what was made cannot be read: {error}"),
            CreateError::Different => write!(f, "a defect: what was made does not read back as what was meant"),
            CreateError::Digests { piece } => {
                write!(f, "the torrent is not made: the digests of piece {piece} are not those of its version")
            }
            CreateError::Like { what } => write!(f, "no torrent can be like the given one: {what}"),
            CreateError::Differs { path, piece, pieces } => write!(
                f,
                "{}: piece {piece} differs from that of the given torrent; {pieces} in all. Verify that torrent to see \
                 which bytes, or make a torrent without it",
                show(path)
            ),
            CreateError::Cancelled => write!(f, "cancelled"),
        }
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", show(&self.path))?;
        match &self.kind {
            FileProblemKind::Io(error) => reason(error).fmt(f),
            FileProblemKind::NotRegular(what) => write!(f, "expected a file or folder, found {what}. Exclude it"),
            FileProblemKind::Link => write!(f, "this is a symbolic link. Exclude it, or follow or skip links"),
            FileProblemKind::LinkLoop => {
                write!(f, "this symbolic link leads to a folder that it lies in. Exclude it, or skip links")
            }
            FileProblemKind::LinkDangling => write!(f, "this symbolic link leads nowhere. Exclude it, or skip links"),
            FileProblemKind::NotUtf8 => {
                write!(f, "this name is not UTF-8, as v2 wants it. Rename it, exclude it, or make a v1 torrent")
            }
            FileProblemKind::TooDeep => write!(
                f,
                "this lies in more than {} folders, more than parsers follow. Exclude it",
                super::scan::DEPTH_MAX - 1
            ),
            FileProblemKind::BadName(why) => write!(f, "a part of this path {why}. Rename it"),
            FileProblemKind::Twice => write!(f, "this path is given twice, or is also that of a folder. Rename one"),
            FileProblemKind::Length { expected, found } => {
                write!(
                    f,
                    "this has {found} bytes, and {expected} in the given torrent. Verify that torrent to see more"
                )
            }
            FileProblemKind::Short => write!(f, "this has fewer bytes than the file system says. Exclude it"),
            FileProblemKind::Changed => {
                write!(f, "this was changed, replaced or removed while it was read. Try again when it is at rest")
            }
        }
    }
}

fn show(path: &Path) -> String {
    hashloom_files::paths::display(path)
}

impl std::error::Error for CreateError {}

/// Collects the first [`NAMED_MAX`] problems.
#[derive(Default)]
pub(super) struct Problems {
    named: Vec<FileProblem>,
    count: usize,
}

impl Problems {
    pub(super) fn push(&mut self, path: PathBuf, kind: FileProblemKind) {
        self.count += 1;
        if self.named.len() < NAMED_MAX {
            self.named.push(FileProblem { path, kind });
        }
    }

    /// Returns an error if there are any problems.
    pub(super) fn check(self) -> Result<(), CreateError> {
        match self.count {
            0 => Ok(()),
            count => Err(CreateError::Files { more: count - self.named.len(), problems: self.named }),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.count >= NAMED_MAX
    }
}
