// SPDX-License-Identifier: MIT OR Apache-2.0

//! The identity of a torrent, with the same keys and meanings in the JSON of every command.

use std::io::{self, Write};
use std::path::Path;

use hashloom_frame::json::{Named, hex};
use serde::Serialize;

use crate::Torrent;

#[derive(Serialize)]
pub struct Identity<'a> {
    /// The torrent's path.
    #[serde(flatten)]
    path: Named<'a>,
    /// The name in the torrent, of the file or folder.
    #[serde(flatten)]
    name: Named<'a>,
    /// `v1`, `v2` or `hybrid`.
    version: String,
    /// SHA-1 of version 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    info_hash: Option<String>,
    /// SHA-256 of version 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    info_hash_v2: Option<String>,
    /// Bytes of all files, without padding.
    length: u64,
    /// Bytes of a piece.
    piece_length: u64,
    /// Number of pieces.
    piece_count: usize,
    /// Number of files, without padding.
    file_count: usize,
}

impl<'a> Identity<'a> {
    /// `path`: the path of the .torrent file.
    pub fn new(path: &'a Path, torrent: &'a Torrent) -> Identity<'a> {
        let (file_count, length) = size_of(torrent);
        Identity {
            path: Named::path("path", path),
            name: Named::new("name", torrent.name()),
            version: torrent.version().to_string(),
            info_hash: torrent.info_hash_v1().map(|hash| hex(&hash)),
            info_hash_v2: torrent.info_hash_v2().map(|hash| hex(&hash)),
            length,
            piece_length: torrent.piece_nbytes(),
            piece_count: torrent.piece_count(),
            file_count,
        }
    }
}

/// Returns the number of files without padding, and their total bytes.
pub fn size_of(torrent: &Torrent) -> (usize, u64) {
    (torrent.files_without_padding().count(), torrent.files_nbytes())
}

/// Writes a line for each info-hash; of two, each says of which version it is.
pub fn write_info_hashes(out: &mut impl Write, torrent: &Torrent) -> io::Result<()> {
    let (v1, v2) = (torrent.info_hash_v1().map(|hash| hex(&hash)), torrent.info_hash_v2().map(|hash| hex(&hash)));
    match (v1, v2) {
        (Some(v1), Some(v2)) => writeln!(out, "  info-hash  {v1} (version 1)\n  info-hash  {v2} (version 2)"),
        (v1, v2) => v1.into_iter().chain(v2).try_for_each(|hash| writeln!(out, "  info-hash  {hash}")),
    }
}
