// SPDX-License-Identifier: MIT OR Apache-2.0

//! The contents of a torrent as JSON.
//!
//! A string that is not UTF-8 is written with replacement characters; its bytes stand beside it in hexadecimal, in
//! `…_hex`. The list of files can be long, so each element is made when it is written.

use std::borrow::Cow;
use std::path::Path;

use hashloom_torrent::Torrent;
use serde::{Serialize, Serializer};

use super::identity::Identity;
use crate::json::{Hex, text};

#[derive(Serialize)]
pub struct Json<'a> {
    hashloom: &'static str,
    #[serde(flatten)]
    identity: Identity<'a>,
    magnet: String,
    single_file: bool,
    private: bool,
    #[serde(flatten)]
    source: Named<'a>,
    #[serde(flatten)]
    comment: Named<'a>,
    #[serde(flatten)]
    created_by: Named<'a>,
    /// Seconds since 1970, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    creation_date: Option<i64>,
    #[serde(flatten)]
    encoding: Named<'a>,
    #[serde(flatten)]
    publisher: Named<'a>,
    #[serde(flatten)]
    publisher_url: Named<'a>,
    #[serde(flatten)]
    update_url: Named<'a>,
    /// A list for each tier.
    trackers: Vec<Vec<Text<'a>>>,
    web_seeds: Vec<Text<'a>>,
    http_seeds: Vec<Text<'a>>,
    nodes: Vec<(Text<'a>, u16)>,
    /// Padding files included; these have `padding`.
    files: Files<'a>,
    /// Deviations from the standards.
    notes: Vec<String>,
    note_count: usize,
}

type Text<'a> = Cow<'a, str>;

/// A string and its bytes, each under its own name; neither is written if there is no string.
struct Named<'a>(&'static [&'static str; 2], Option<&'a [u8]>);

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Named([name, name_hex], bytes) = self;
        let (string, hex) = bytes.map(text).unzip();
        let string = string.map(|string| (*name, string.into_owned()));
        let hex = hex.flatten().map(|hex| (*name_hex, hex.to_string()));
        serializer.collect_map(string.into_iter().chain(hex))
    }
}

struct Files<'a>(&'a Torrent);

#[derive(Serialize)]
struct FileJson<'a> {
    path: Text<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<Hex<'a>>,
    length: u64,
    /// The file's pieces, first and last included; `None` if the file is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_piece: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_piece: Option<usize>,
    /// `pieces root` of version 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<Hex<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    padding: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    executable: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    symlink: bool,
    /// The target of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_hex: Option<Hex<'a>>,
}

impl Serialize for Files<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Files(torrent) = self;
        serializer.collect_seq(torrent.files().map(|file| {
            let (path, path_hex) = text(file.path);
            let (target, target_hex) = file.symlink.map(text).unzip();
            let pieces = torrent.pieces_of_file(file.index);
            FileJson {
                path,
                path_hex,
                length: file.nbytes,
                first_piece: (!pieces.is_empty()).then_some(pieces.start),
                last_piece: pieces.end.checked_sub(1).filter(|_| !pieces.is_empty()),
                root: file.root.map(Hex),
                padding: file.attributes.padding,
                executable: file.attributes.executable,
                hidden: file.attributes.hidden,
                symlink: file.attributes.symlink,
                target,
                target_hex: target_hex.flatten(),
            }
        }))
    }
}

impl<'a> Json<'a> {
    pub fn new(torrent_path: &'a Path, torrent: &'a Torrent) -> Json<'a> {
        let metadata = torrent.metadata();
        let strings = |list: &'a [Vec<u8>]| list.iter().map(|url| text(url).0).collect::<Vec<_>>();
        Json {
            hashloom: env!("CARGO_PKG_VERSION"),
            identity: Identity::new(torrent_path, torrent),
            magnet: torrent.magnet(),
            single_file: torrent.is_single_file(),
            private: metadata.private,
            source: Named(&["source", "source_hex"], metadata.source.as_deref()),
            comment: Named(&["comment", "comment_hex"], metadata.comment.as_deref()),
            created_by: Named(&["created_by", "created_by_hex"], metadata.created_by.as_deref()),
            creation_date: metadata.creation_date,
            encoding: Named(&["encoding", "encoding_hex"], metadata.encoding.as_deref()),
            publisher: Named(&["publisher", "publisher_hex"], metadata.publisher.as_deref()),
            publisher_url: Named(&["publisher_url", "publisher_url_hex"], metadata.publisher_url.as_deref()),
            update_url: Named(&["update_url", "update_url_hex"], metadata.update_url.as_deref()),
            trackers: metadata.trackers.iter().map(|tier| strings(tier)).collect(),
            web_seeds: strings(&metadata.web_seeds),
            http_seeds: strings(&metadata.http_seeds),
            nodes: metadata.nodes.iter().map(|(host, port)| (text(host).0, *port)).collect(),
            files: Files(torrent),
            notes: torrent.notes().iter().map(ToString::to_string).collect(),
            note_count: torrent.note_count(),
        }
    }
}
