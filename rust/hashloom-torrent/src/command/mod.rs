// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom torrent show`, and how every command of the program reads a .torrent file. `create` and `edit` are in
//! `hashloom-maker`, the commands that know clients in `hashloom-clients`.

pub mod identity;
pub mod show;
mod show_json;

use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use hashloom_frame::text::{display, failed};

use crate::Torrent;
use crate::bencode::Limits;

/// Tells by the first bytes what the user has in place of a .torrent file; `None` if it is nothing known.
fn mistaken(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"\x1f\x8b") {
        return Some("gzip; unpack it first, with gzip -dc");
    }
    if head.starts_with(b"SQLite format 3\0") {
        return Some(DATABASE);
    }
    let head = head.trim_ascii_start();
    if head.starts_with(b"magnet:") {
        Some("a magnet link, which names a torrent without its content; let a client fetch the .torrent file")
    } else if head.starts_with(b"<") {
        Some("an HTML page; the download may have asked for a login")
    } else {
        None
    }
}

/// What a user has who names qBittorrent's `torrents.db`, and the cure.
pub const DATABASE: &str = "an SQLite database, which qBittorrent keeps its torrents in if told to. Choose fastresume \
    files in qBittorrent's settings (Advanced, resume data storage type), and start and end it: it then has .torrent \
    and \
    .fastresume files in BT_backup";

/// Reads a .torrent file.
pub fn read(path: &Path) -> Result<Torrent, String> {
    check_path(path)?;
    read_as(path, File::open(path).map_err(|error| failed(path, &error))?, Torrent::from_vec)
}

/// Reads an open .torrent file by `parse`, which gets its bytes.
pub fn read_as<T, E: Display>(
    path: &Path,
    file: File,
    parse: impl FnOnce(Vec<u8>) -> Result<T, E>,
) -> Result<T, String> {
    let bytes = read_bytes(path, file)?;
    let head = bytes[..bytes.len().min(HEAD_NBYTES)].to_vec();
    parse(bytes).map_err(|error| match mistaken(&head) {
        Some(found) => expected(path, found),
        None => format!("{}: {error}", display(path)),
    })
}

/// Number of bytes that [`mistaken`] looks at.
const HEAD_NBYTES: usize = 100;

/// Returns an error if the path is something else than a file.
pub fn check_path(path: &Path) -> Result<(), String> {
    if path.is_dir() {
        return Err(expected(path, "a folder"));
    }
    match mistaken(path.as_os_str().as_encoded_bytes()).filter(|_| !path.exists()) {
        Some(found) => Err(expected(path, found)),
        None => Ok(()),
    }
}

/// Reads an open .torrent file, at most as much of it as the parser accepts.
pub fn read_bytes(path: &Path, file: File) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    // One byte more than the limit, so that the parser sees that the file is too long.
    let most = Limits::default().nbytes as u64 + 1;
    file.take(most).read_to_end(&mut bytes).map_err(|error| failed(path, &error))?;
    Ok(bytes)
}

fn expected(path: &Path, found: &str) -> String {
    format!("{}: expected a .torrent file, found {found}", display(path))
}
