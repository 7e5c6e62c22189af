// SPDX-License-Identifier: MIT OR Apache-2.0

//! The report of a check as JSON.
//!
//! Lists of files and of runs of pieces can be long, so each element is made when it is written.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use hashloom_files::run::HeldBack;
use hashloom_frame::json::{Hex, Named};
use hashloom_frame::units::tenths_of_percent;
use hashloom_torrent::command::identity::Identity;
use hashloom_torrent::{Bitfield, FileDifference, PieceState, Report, Torrent};
use serde::{Serialize, Serializer};

use super::resume_files::{Claim, Written};

/// JSON of `torrent verify`: one object for each torrent.
#[derive(Serialize)]
pub struct Json<'a> {
    /// Version of the program.
    hashloom: &'static str,
    /// The torrent.
    torrent: TorrentJson<'a>,
    /// Where the content was found.
    #[serde(flatten)]
    content: Named<'a>,
    /// True if all pieces of the torrent were asked for and are right, and all files exist.
    complete: bool,
    /// True if all is complete, and no file is too long.
    exact: bool,
    /// The pieces that were asked for, if not all; all others are `unchecked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Scope<'a>>,
    /// True if pieces are unchecked because of Ctrl-C.
    interrupted: bool,
    /// Bytes of right pieces in percent, rounded down to a tenth.
    percent: f64,
    /// Numbers of pieces, by state.
    pieces: Counts,
    /// Bytes of files in these pieces, without padding.
    bytes: Counts,
    /// Bytes read; holes of files are not.
    bytes_read: u64,
    /// Pieces of the scope that `--resume` took over.
    pieces_taken_over: u64,
    /// Duration of the check.
    seconds: f64,
    /// What held the work back, `disk`, `cpu` or `rate`, for all torrents so far; absent if not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_back_by: Option<&'static str>,
    /// Runs of pieces of one state.
    ranges: Ranges<'a>,
    /// A bit for each piece that is right, in the order of BEP 3, in hexadecimal.
    bitfield: Bits<'a>,
    /// The files in the order of the torrent, with padding.
    files: Files<'a>,
    /// Files that could not be read.
    errors: Errors<'a>,
    /// Files written for clients; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    written: Vec<WrittenJson<'a>>,
    /// The claims that `--claimed` checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed: Option<ClaimJson<'a>>,
}

/// The pieces that were asked for.
#[derive(Serialize)]
struct Scope<'a> {
    /// Number of the pieces.
    pieces: usize,
    /// True if all of them are right.
    right: bool,
    /// A bit for each of them, as in `bitfield` of the whole.
    bitfield: Bits<'a>,
}

/// The claims of a client's resume file.
#[derive(Serialize)]
struct ClaimJson<'a> {
    /// The file that claims pieces.
    #[serde(flatten)]
    path: Named<'a>,
    /// `bitfield`, `libtorrent resume file` or `Transmission resume file`.
    format: String,
    /// Number of pieces that the file claims.
    pieces: usize,
}

/// A file that was written.
#[derive(Serialize)]
pub struct WrittenJson<'a> {
    /// The file; of padding the content.
    #[serde(flatten)]
    path: Named<'a>,
    /// A format as in `claimed`, or the number of padding files.
    what: &'a str,
    /// Bytes.
    length: u64,
    /// Number of pieces that a client's file claims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pieces: Option<usize>,
    /// Actions of the client that its user may not expect.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

#[derive(Serialize)]
struct TorrentJson<'a> {
    #[serde(flatten)]
    identity: Identity<'a>,
    /// The first notes on what is accepted but not canonical.
    notes: Vec<String>,
    /// Number of all notes.
    note_count: usize,
}

/// Runs of pieces of one state, first and last piece included.
struct Ranges<'a>(&'a Report);

struct Bits<'a>(Cow<'a, Bitfield>);

struct Files<'a>(&'a Torrent, &'a Report);

struct Errors<'a>(&'a Report);

#[derive(Serialize)]
struct Counts {
    /// All.
    total: u64,
    /// Right.
    have: u64,
    /// A file of the piece does not exist or is too short.
    missing: u64,
    /// All bytes are there, but some are wrong.
    bad: u64,
    /// A file of the piece cannot be opened or read.
    unread: u64,
    /// Right by one half of a hybrid torrent, wrong by the other half.
    disputed: u64,
    /// A file of the piece changed during each of three reads.
    unstable: u64,
    /// Not asked for, or interrupted.
    unchecked: u64,
}

#[derive(Serialize)]
struct RangeJson {
    /// A state of `pieces`.
    state: &'static str,
    /// The first piece, from 0.
    first: usize,
    /// The last piece, included.
    last: usize,
}

#[derive(Serialize)]
struct FileJson<'a> {
    /// The path in the torrent's folder; the name if the torrent is a single file.
    #[serde(flatten)]
    path: Named<'a>,
    /// The path of the file, if the file has another name than in the torrent.
    #[serde(flatten)]
    found_path: Option<Named<'a>>,
    /// `complete`; `too long`: its pieces are right, and more bytes follow; `incomplete`; `short`; `missing`; `not
    /// made`: empty and missing, which does not count; `failed`: cannot be opened; `skipped`: padding, symbolic links;
    /// `unstable`; `unchecked`: some pieces were not checked, all others are right.
    state: &'static str,
    /// `link missing`, `link elsewhere`, `not a link`, `not executable`: noted, but not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<&'static str>,
    /// Bytes by the torrent.
    length: u64,
    /// Bytes on the disk; absent if the file is missing or was not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    found_length: Option<u64>,
    /// The first piece, from 0; absent if the file is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_piece: Option<usize>,
    /// The last piece, included.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_piece: Option<usize>,
    /// True for padding (BEP 47), which is not a file that a user sees.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    padding: bool,
}

#[derive(Serialize)]
struct ErrorJson {
    /// Index of the file in `files`.
    file: usize,
    /// Why it could not be read.
    message: String,
}

impl Serialize for Bits<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Hex(self.0.as_bytes()).serialize(serializer)
    }
}

impl From<(PieceState, Range<usize>)> for RangeJson {
    fn from((state, range): (PieceState, Range<usize>)) -> RangeJson {
        RangeJson { state: state.name(), first: range.start, last: range.end - 1 }
    }
}

impl Serialize for Ranges<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.ranges().map(RangeJson::from))
    }
}

impl Serialize for Files<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Files(torrent, report) = self;
        let moved: BTreeMap<usize, PathBuf> = report.moved().into_iter().collect();
        serializer.collect_seq(torrent.files().zip(&report.files).map(|(file, found)| {
            let pieces = torrent.pieces_of_file(file.index);
            FileJson {
                path: Named::new("path", file.path),
                found_path: moved.get(&file.index).map(|path| Named::path("found_path", path)),
                state: found.state.name(),
                difference: found.difference.map(FileDifference::name),
                length: file.nbytes,
                found_length: found.found_nbytes,
                first_piece: (!pieces.is_empty()).then_some(pieces.start),
                last_piece: pieces.end.checked_sub(1).filter(|_| !pieces.is_empty()),
                padding: file.attributes.padding,
            }
        }))
    }
}

impl Serialize for Errors<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let errors = self.0.troubles.iter();
        serializer.collect_seq(errors.map(|trouble| ErrorJson { file: trouble.file, message: trouble.to_string() }))
    }
}

fn counts(total: u64, count: impl Fn(PieceState) -> u64) -> Counts {
    Counts {
        total,
        have: count(PieceState::Have),
        missing: count(PieceState::Missing),
        bad: count(PieceState::Bad),
        unread: count(PieceState::Unread),
        disputed: count(PieceState::Disputed),
        unstable: count(PieceState::Unstable),
        unchecked: count(PieceState::Unchecked),
    }
}

impl<'a> From<&'a Written> for WrittenJson<'a> {
    fn from(Written { what, path, nbytes, pieces, note }: &'a Written) -> WrittenJson<'a> {
        WrittenJson { note: note.as_deref(), path: Named::path("path", path), what, length: *nbytes, pieces: *pieces }
    }
}

impl<'a> ClaimJson<'a> {
    fn new(claim: &'a Claim) -> ClaimJson<'a> {
        let path = Named::path("path", &claim.path);
        ClaimJson { path, format: claim.format.to_string(), pieces: claim.pieces.count() }
    }
}

impl<'a> Json<'a> {
    pub fn new(
        torrent_path: &'a Path,
        torrent: &'a Torrent,
        report: &'a Report,
        held_back: Option<HeldBack>,
        claim: Option<&'a Claim>,
        written: &'a [Written],
    ) -> Json<'a> {
        let bytes = counts(torrent.files_nbytes(), |state| report.nbytes(torrent, state));
        Json {
            hashloom: env!("CARGO_PKG_VERSION"),
            torrent: TorrentJson {
                identity: Identity::new(torrent_path, torrent),
                notes: torrent.notes().iter().map(ToString::to_string).collect(),
                note_count: torrent.note_count(),
            },
            content: Named::path("content", &report.content),
            complete: report.is_of_all() && report.is_complete(),
            exact: report.is_of_all() && report.is_exact(),
            scope: (!report.is_of_all()).then(|| Scope {
                pieces: report.scope.count(),
                right: report.is_complete(),
                bitfield: Bits(Cow::Borrowed(&report.scope)),
            }),
            interrupted: report.cancelled,
            percent: tenths_of_percent(bytes.have, bytes.total) as f64 / 10.0,
            pieces: counts(report.pieces.len() as u64, |state| report.count(state) as u64),
            bytes,
            bytes_read: report.nbytes_read,
            pieces_taken_over: report.ntaken_over as u64,
            seconds: report.elapsed.as_secs_f64(),
            held_back_by: held_back.map(HeldBack::name),
            ranges: Ranges(report),
            bitfield: Bits(Cow::Owned(report.bitfield())),
            files: Files(torrent, report),
            errors: Errors(report),
            written: written.iter().map(WrittenJson::from).collect(),
            claimed: claim.map(ClaimJson::new),
        }
    }
}
