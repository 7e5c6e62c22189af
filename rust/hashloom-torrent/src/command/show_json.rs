// SPDX-License-Identifier: MIT OR Apache-2.0

//! The contents of a torrent as JSON.
//!
//! A string that is not UTF-8 is written with replacement characters; its bytes stand beside it in hexadecimal, in
//! `…_hex`. The list of files can be long, so each element is made when it is written.

use std::borrow::Cow;
use std::path::Path;

use hashloom_frame::json::{Hex, Named};
use serde::{Serialize, Serializer};

use super::identity::Identity;
use crate::Torrent;

/// JSON of `torrent show`: one object for each torrent.
#[derive(Serialize)]
pub struct Json<'a> {
    /// Version of the program.
    hashloom: &'static str,
    #[serde(flatten)]
    identity: Identity<'a>,
    /// The magnet link.
    magnet: String,
    /// True: of one file; false: of a folder.
    single_file: bool,
    /// Peers only from the trackers (BEP 27).
    private: bool,
    /// The key `source`, as trackers ask for it.
    #[serde(flatten)]
    source: Option<Named<'a>>,
    /// The comment.
    #[serde(flatten)]
    comment: Option<Named<'a>>,
    /// The program that made the torrent.
    #[serde(flatten)]
    created_by: Option<Named<'a>>,
    /// Seconds since 1970, UTC, as the torrent says (some programs write milliseconds).
    #[serde(skip_serializing_if = "Option::is_none")]
    creation_date: Option<i64>,
    /// The encoding of names that the torrent tells.
    #[serde(flatten)]
    encoding: Option<Named<'a>>,
    /// The publisher.
    #[serde(flatten)]
    publisher: Option<Named<'a>>,
    /// The publisher's address.
    #[serde(flatten)]
    publisher_url: Option<Named<'a>>,
    /// Where a newer torrent is (BEP 39).
    #[serde(flatten)]
    update_url: Option<Named<'a>>,
    /// A list of URLs for each tier.
    trackers: Vec<Vec<Text<'a>>>,
    /// URLs of web seeds (BEP 19).
    web_seeds: Vec<Text<'a>>,
    /// URLs of HTTP seeds (BEP 17).
    http_seeds: Vec<Text<'a>>,
    /// Hosts and ports of the DHT (BEP 5).
    nodes: Vec<(Text<'a>, u16)>,
    /// The files in the order of the torrent, with padding.
    files: Files<'a>,
    /// The first notes on what is accepted but not canonical.
    notes: Vec<String>,
    /// Number of all notes.
    note_count: usize,
}

type Text<'a> = Cow<'a, str>;

struct Files<'a>(&'a Torrent);

#[derive(Serialize)]
struct FileJson<'a> {
    /// The path in the torrent's folder; the name if the torrent is a single file.
    #[serde(flatten)]
    path: Named<'a>,
    /// Bytes.
    length: u64,
    /// The first piece, from 0; absent if the file is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_piece: Option<usize>,
    /// The last piece, included.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_piece: Option<usize>,
    /// The pieces root of version 2; absent for empty files.
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<Hex<'a>>,
    /// True for padding (BEP 47).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    padding: bool,
    /// True for an executable file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    executable: bool,
    /// True for a hidden file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
    /// True for a symbolic link.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    symlink: bool,
    /// The target of the link.
    #[serde(flatten)]
    target: Option<Named<'a>>,
}

impl Serialize for Files<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Files(torrent) = self;
        serializer.collect_seq(torrent.files().map(|file| {
            let pieces = torrent.pieces_of_file(file.index);
            FileJson {
                path: Named::new("path", file.path),
                length: file.nbytes,
                first_piece: (!pieces.is_empty()).then_some(pieces.start),
                last_piece: pieces.end.checked_sub(1).filter(|_| !pieces.is_empty()),
                root: file.root.map(Hex),
                padding: file.attributes.padding,
                executable: file.attributes.executable,
                hidden: file.attributes.hidden,
                symlink: file.attributes.symlink,
                target: file.symlink.map(|target| Named::new("target", target)),
            }
        }))
    }
}

impl<'a> Json<'a> {
    pub fn new(torrent_path: &'a Path, torrent: &'a Torrent) -> Json<'a> {
        let metadata = torrent.metadata();
        let strings = |list: &'a [Vec<u8>]| list.iter().map(|url| String::from_utf8_lossy(url)).collect::<Vec<_>>();
        let named = |key, bytes: &'a Option<Vec<u8>>| bytes.as_ref().map(|bytes| Named::new(key, bytes));
        Json {
            hashloom: env!("CARGO_PKG_VERSION"),
            identity: Identity::new(torrent_path, torrent),
            magnet: torrent.magnet(),
            single_file: torrent.is_single_file(),
            private: metadata.private,
            source: named("source", &metadata.source),
            comment: named("comment", &metadata.comment),
            created_by: named("created_by", &metadata.created_by),
            creation_date: metadata.creation_date,
            encoding: named("encoding", &metadata.encoding),
            publisher: named("publisher", &metadata.publisher),
            publisher_url: named("publisher_url", &metadata.publisher_url),
            update_url: named("update_url", &metadata.update_url),
            trackers: metadata.trackers.iter().map(|tier| strings(tier)).collect(),
            web_seeds: strings(&metadata.web_seeds),
            http_seeds: strings(&metadata.http_seeds),
            nodes: metadata.nodes.iter().map(|(host, port)| (String::from_utf8_lossy(host), *port)).collect(),
            files: Files(torrent),
            notes: torrent.notes().iter().map(ToString::to_string).collect(),
            note_count: torrent.note_count(),
        }
    }
}
