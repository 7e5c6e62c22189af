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

/// Tells by the first bytes what the user has in place of a .torrent file; `None` if it is nothing known.
fn mistaken(head: &[u8]) -> Option<&'static str> {
    let head = head.trim_ascii_start();
    if head.starts_with(b"magnet:") {
        Some("a magnet link, which names a torrent without its content; let a client fetch the .torrent file")
    } else if head.starts_with(b"<") {
        Some("an HTML page; the download may have asked for a login")
    } else {
        None
    }
}

/// Reads a .torrent file, at most as much of it as the parser accepts.
pub fn read(path: &Path) -> Result<Torrent, String> {
    let failed = |error: io::Error| format!("{}: {error}", display(path));
    let expected = |found: &str| format!("{}: expected a .torrent file, found {found}", display(path));
    if path.is_dir() {
        return Err(expected("a folder"));
    }
    if let Some(found) = mistaken(path.as_os_str().as_encoded_bytes()).filter(|_| !path.exists()) {
        return Err(expected(found));
    }
    let limits = Limits::default();
    let mut bytes = Vec::new();
    // One byte more than the limit, so that the parser sees that the file is too long.
    let most = limits.nbytes as u64 + 1;
    File::open(path).map_err(failed)?.take(most).read_to_end(&mut bytes).map_err(failed)?;
    let mistaken = mistaken(&bytes[..bytes.len().min(100)]);
    Torrent::from_vec(bytes, &limits).map_err(|error| match mistaken {
        Some(found) => expected(found),
        None => format!("{}: {error}", display(path)),
    })
}
