// SPDX-License-Identifier: MIT OR Apache-2.0

//! A report as JSON.
//!
//! Names that are not UTF-8 come with replacement characters, and beside them, in `…_hex`, as they are.

use std::path::Path;

use hashloom::torrent::{FileState, PieceState, Report, Torrent};
use serde::Serialize;

use crate::units::tenths_of_percent;

#[derive(Serialize)]
pub struct Json {
    hashloom: &'static str,
    torrent: TorrentJson,
    content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_hex: Option<String>,
    complete: bool,
    /// Of the bytes, rounded down to a tenth.
    percent: f64,
    pieces: Counts,
    bytes: Counts,
    bytes_read: u64,
    seconds: f64,
    /// Runs of pieces of one state, first and last piece included.
    ranges: Vec<RangeJson>,
    /// BEP 3's order of bits, in hexadecimal.
    bitfield: String,
    files: Vec<FileJson>,
    errors: Vec<ErrorJson>,
}

#[derive(Serialize)]
struct TorrentJson {
    path: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_hex: Option<String>,
    version: &'static str,
    info_hash: String,
    length: u64,
    piece_length: u64,
    piece_count: usize,
    file_count: usize,
    /// What is not canonical.
    notes: Vec<String>,
    note_count: usize,
}

#[derive(Serialize)]
struct Counts {
    total: u64,
    have: u64,
    missing: u64,
    bad: u64,
    unread: u64,
}

#[derive(Serialize)]
struct RangeJson {
    state: &'static str,
    first: usize,
    last: usize,
}

#[derive(Serialize)]
struct FileJson {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<String>,
    state: &'static str,
    length: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    found_length: Option<u64>,
    /// Its pieces, first and last included; none if it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_piece: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_piece: Option<usize>,
}

#[derive(Serialize)]
struct ErrorJson {
    file: usize,
    message: String,
}

pub fn state_name(state: PieceState) -> &'static str {
    match state {
        PieceState::Have => "have",
        PieceState::Missing => "missing",
        PieceState::Bad => "bad",
        PieceState::Unread => "unread",
        PieceState::Unchecked => "unchecked",
    }
}

pub fn file_state_name(state: FileState) -> &'static str {
    match state {
        FileState::Complete => "complete",
        FileState::Incomplete => "incomplete",
        FileState::Short => "short",
        FileState::Missing => "missing",
        FileState::Failed => "failed",
        FileState::Skipped => "skipped",
        _ => "unchecked",
    }
}

fn text(bytes: &[u8]) -> (String, Option<String>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), None),
        Err(_) => (String::from_utf8_lossy(bytes).into_owned(), Some(hex(bytes))),
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn counts(total: u64, count: impl Fn(PieceState) -> u64) -> Counts {
    Counts {
        total,
        have: count(PieceState::Have),
        missing: count(PieceState::Missing),
        bad: count(PieceState::Bad),
        unread: count(PieceState::Unread),
    }
}

impl Json {
    pub fn new(torrent_path: &Path, torrent: &Torrent, report: &Report) -> Json {
        let (name, name_hex) = text(torrent.name());
        let (content, content_hex) = text(report.content.as_os_str().as_encoded_bytes());
        let bytes = counts(torrent.total_nbytes(), |state| report.nbytes(torrent, state));
        let file = |index: usize| {
            let file = torrent.file(index);
            let (path, path_hex) = text(file.path);
            let pieces = torrent.pieces_of_file(index);
            FileJson {
                path,
                path_hex,
                state: file_state_name(report.files[index].state),
                length: file.nbytes,
                found_length: report.files[index].found_nbytes,
                first_piece: (!pieces.is_empty()).then_some(pieces.start),
                last_piece: pieces.end.checked_sub(1).filter(|_| !pieces.is_empty()),
            }
        };
        Json {
            hashloom: env!("CARGO_PKG_VERSION"),
            torrent: TorrentJson {
                path: torrent_path.to_string_lossy().into_owned(),
                name,
                name_hex,
                version: "v1",
                info_hash: hex(&torrent.info_hash()),
                length: torrent.total_nbytes(),
                piece_length: torrent.piece_nbytes(),
                piece_count: torrent.piece_count(),
                file_count: torrent.file_count(),
                notes: torrent.notes().iter().map(ToString::to_string).collect(),
                note_count: torrent.note_count(),
            },
            content,
            content_hex,
            complete: report.is_complete(),
            percent: tenths_of_percent(bytes.have, bytes.total) as f64 / 10.0,
            pieces: counts(report.pieces.len() as u64, |state| report.count(state) as u64),
            bytes,
            bytes_read: report.nbytes_read,
            seconds: report.elapsed.as_secs_f64(),
            ranges: report
                .ranges()
                .map(|(state, range)| RangeJson { state: state_name(state), first: range.start, last: range.end - 1 })
                .collect(),
            bitfield: hex(&report.bitfield()),
            files: (0..torrent.file_count()).map(file).collect(),
            errors: report
                .troubles
                .iter()
                .map(|trouble| ErrorJson { file: trouble.file, message: trouble.to_string() })
                .collect(),
        }
    }
}
