// SPDX-License-Identifier: MIT OR Apache-2.0

//! The commands of `hashloom torrent` that know clients: `verify` and `link` read and write their resume files, `find`
//! finds what they renamed. The module of a command has its options, its help and its work. `show` is in
//! `hashloom-torrent`, `create` and `edit` are in `hashloom-maker`.

pub mod find;
pub mod link;
mod padding;
mod piece_map;
mod resume_files;
mod scope;
pub mod verify;
mod verify_json;
mod verify_summary;

use std::fs::File;
use std::path::Path;

use hashloom_torrent::Torrent;
use hashloom_torrent::command::read_bytes;

use crate::resume;

/// Reads a .torrent file, and the piece layers that it lacks from the client's resume file beside it.
fn read(path: &Path) -> Result<Torrent, String> {
    let mut torrent = hashloom_torrent::command::read(path)?;
    take_layers(&mut torrent, &path.with_extension("fastresume"));
    Ok(torrent)
}

/// Takes the piece layers that a client's copy of a torrent lacks from its resume file, if that has them.
fn take_layers(torrent: &mut Torrent, path: &Path) {
    if torrent.unlayered().is_empty() {
        return;
    }
    // A fault of this file is told by the option that names it.
    let Ok(file) = File::open(path) else { return };
    if let Ok(bytes) = read_bytes(path, file) {
        let _ = resume::take_layers(&bytes, torrent);
    }
}
