// SPDX-License-Identifier: MIT OR Apache-2.0

//! The commands of `hashloom torrent`, and what they share. The module of a command has its options, its help and its
//! work.

pub mod clients;
pub mod create;
mod identity;
mod piece_map;
pub mod show;
mod show_json;
pub mod verify;
mod verify_json;
mod verify_summary;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use hashloom_engine::bencode::Limits;
use hashloom_engine::torrent::Torrent;

use crate::text::display;

/// Reads a .torrent file, at most as much of it as the parser accepts.
pub fn read(path: &Path) -> Result<Torrent, String> {
    let failed = |error: io::Error| format!("{}: {error}", display(path));
    if path.is_dir() {
        return Err(format!("{}: expected a .torrent file, found a folder", display(path)));
    }
    let limits = Limits::default();
    let mut bytes = Vec::new();
    // One byte more than the limit, so that the parser sees that the file is too long.
    let most = limits.nbytes as u64 + 1;
    File::open(path).map_err(failed)?.take(most).read_to_end(&mut bytes).map_err(failed)?;
    Torrent::from_vec(bytes, &limits).map_err(|error| format!("{}: {error}", display(path)))
}
