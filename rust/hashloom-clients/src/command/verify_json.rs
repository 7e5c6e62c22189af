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

#[derive(Serialize)]
pub struct Json<'a> {
    hashloom: &'static str,
    torrent: TorrentJson<'a>,
    #[serde(flatten)]
    content: Named<'a>,
    /// True if all of the torrent was checked, and is right.
    complete: bool,
    /// True if all is complete, and no file has more bytes than the torrent says.
    exact: bool,
    /// Absent if all pieces were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Scope<'a>>,
    /// True if pieces are unchecked because the check was interrupted.
    interrupted: bool,
    /// Percentage of the bytes that are right, rounded down to a tenth.
    percent: f64,
    pieces: Counts,
    /// Bytes of files; padding does not count.
    bytes: Counts,
    bytes_read: u64,
    /// Pieces that an earlier run has checked.
    pieces_taken_over: u64,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    held_back_by: Option<&'static str>,
    ranges: Ranges<'a>,
    /// BEP 3's order of bits, in hexadecimal.
    bitfield: Bits<'a>,
    files: Files<'a>,
    errors: Errors<'a>,
    /// Absent if nothing was to be written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    written: Vec<WrittenJson<'a>>,
    /// Only with --claimed.
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed: Option<ClaimJson<'a>>,
}

/// The pieces that were asked for.
#[derive(Serialize)]
struct Scope<'a> {
    pieces: usize,
    /// True if all of them are right.
    right: bool,
    bitfield: Bits<'a>,
}

/// The claims of a client's resume file.
#[derive(Serialize)]
struct ClaimJson<'a> {
    #[serde(flatten)]
    path: Named<'a>,
    format: String,
    pieces: usize,
}

/// A file that was written.
#[derive(Serialize)]
pub struct WrittenJson<'a> {
    #[serde(flatten)]
    path: Named<'a>,
    what: &'a str,
    length: u64,
    /// Number of pieces that a client's file claims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pieces: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

#[derive(Serialize)]
struct TorrentJson<'a> {
    #[serde(flatten)]
    identity: Identity<'a>,
    /// The deviations of the torrent from the canonical form.
    notes: Vec<String>,
    note_count: usize,
}

/// Runs of pieces of one state, first and last piece included.
struct Ranges<'a>(&'a Report);

struct Bits<'a>(Cow<'a, Bitfield>);

struct Files<'a>(&'a Torrent, &'a Report);

struct Errors<'a>(&'a Report);

#[derive(Serialize)]
struct Counts {
    total: u64,
    have: u64,
    missing: u64,
    bad: u64,
    unread: u64,
    disputed: u64,
    unstable: u64,
    unchecked: u64,
}

#[derive(Serialize)]
struct RangeJson {
    state: &'static str,
    first: usize,
    last: usize,
}

#[derive(Serialize)]
struct FileJson<'a> {
    #[serde(flatten)]
    path: Named<'a>,
    /// The path where the file is, if it is another than the torrent's.
    #[serde(flatten)]
    found_path: Option<Named<'a>>,
    state: &'static str,
    /// The attributes of the file that the disk contradicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<&'static str>,
    length: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    found_length: Option<u64>,
    /// The file's pieces, first and last included; `None` if the file is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_piece: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_piece: Option<usize>,
    /// True for padding (BEP 47), which is not a file that a user sees.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    padding: bool,
}

#[derive(Serialize)]
struct ErrorJson {
    file: usize,
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
