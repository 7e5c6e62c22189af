// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names of files in messages.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use hashloom::torrent::shown;

/// A path in a message: nothing in it can steer a terminal.
pub fn display(path: &Path) -> impl Display {
    shown(path.as_os_str().as_encoded_bytes())
}

/// The path that a file of bytes names.
#[cfg(unix)]
pub fn os_path(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

/// The path that a file of bytes names, in UTF-8.
#[cfg(not(unix))]
pub fn os_path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(&*String::from_utf8_lossy(&bytes))
}
