// SPDX-License-Identifier: MIT OR Apache-2.0

//! The commands of `hashloom torrent`, a module each: its options, its help and what it does.

pub mod clients;
pub mod create;
pub mod show;
mod show_json;
pub mod verify;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hashloom::bencode::Limits;
use hashloom::torrent::{Torrent, shown};

/// Reads a .torrent file, of which no more is read than the parser takes.
pub fn read(path: &Path) -> Result<Torrent, String> {
    let failed = |error: io::Error| format!("{}: {error}", display(path));
    let limits = Limits::default();
    let mut bytes = Vec::new();
    // One byte more than the limit, so that the parser sees that it is too long.
    let most = limits.nbytes as u64 + 1;
    File::open(path).map_err(failed)?.take(most).read_to_end(&mut bytes).map_err(failed)?;
    Torrent::from_vec(bytes, &limits).map_err(|error| format!("{}: {error}", display(path)))
}

/// A path in a message.
pub fn display(path: &Path) -> impl std::fmt::Display {
    shown(path.as_os_str().as_encoded_bytes())
}

/// A path from components joined by `/`.
#[cfg(unix)]
pub fn os_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// A path from components joined by `/`.
#[cfg(not(unix))]
pub fn os_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(&*String::from_utf8_lossy(bytes))
}
